# SPDX-License-Identifier: BSD-3-Clause
"""ParaView's own tests that use Contour on images, with PMB Contour in its place and Contour beside it for comparison.
A function is named as ParaView names its test; Docs/VTK_TESTS.md lists them."""
from paraview import servermanager, simple, smstate, smtrace

from plugin_testing import counts, equal, load_plugin, output, run, true

DEFAULT = 157.0909652709961  # the middle of the wavelet's range, which the panel sets


def both(source, array=("POINTS", "RTData"), isovalues=(DEFAULT,), **options):
    """PMB Contour and ParaView's Contour, of the same input."""
    return [kind(Input=source, ContourBy=list(array), Isosurfaces=list(isovalues), **options)
            for kind in (simple.PMBContour, simple.Contour)]


def same(proxies, what=""):
    mesh, reference = (output(proxy) for proxy in proxies)
    true(reference.GetNumberOfCells() > 0, f"{what}: the reference is empty")
    equal(counts(mesh), counts(reference), f"{what}: points and triangles")
    return mesh, reference


def Contour():
    """The default isovalue, then several; other isovalues give another surface."""
    wavelet = simple.Wavelet()
    equal(list(simple.PMBContour(Input=wavelet).Isosurfaces), list(simple.Contour(Input=wavelet).Isosurfaces),
          "the isovalue to begin with")
    sizes = [counts(same(both(wavelet, isovalues=isovalues), f"{isovalues}")[0])
             for isovalues in ([DEFAULT], [100.0, 110.0, 120.0, 130.0, 140.0])]
    true(sizes[0] != sizes[1], f"a control: {sizes}")


def with_conversion(test):
    domain = servermanager.vtkSMInputArrayDomain
    before = domain.GetAutomaticPropertyConversion()
    domain.SetAutomaticPropertyConversion(True)
    try:
        test()
    finally:
        domain.SetAutomaticPropertyConversion(before)


def PropertyConversion2():
    """Converts cell data to point data if the setting for that is on."""
    def test():
        cells = simple.PointDatatoCellData(Input=simple.Wavelet())
        proxies = both(cells, array=("POINTS", "RTData"))
        same(proxies, "cell data")
    with_conversion(test)


def AutoConvertSingleProperty():
    """Passes one of the point arrays and one of the cell arrays."""
    def test():
        random = simple.RandomAttributes(Input=simple.Wavelet(), GenerateCellScalars=1)
        passed = simple.PassArrays(Input=random, PointDataArrays=["RTData"], CellDataArrays=["RandomCellScalars"])
        mesh, reference = same(both(passed), "passed arrays")
        names = [mesh.GetCellData().GetArrayName(index) for index in range(mesh.GetCellData().GetNumberOfArrays())]
        equal(names, ["RandomCellScalars"], "arrays of the cells")
        true(reference.GetPointData().GetArray("RTData") is not None, "the array of the reference")
    with_conversion(test)


def SavePythonState():
    """A Python state and a trace make the same pipeline again."""
    def make():
        wavelet = simple.Wavelet(registrationName="wavelet")
        proxy = simple.PMBContour(registrationName="surface", Input=wavelet, ContourBy=["POINTS", "RTData"],
                                  Isosurfaces=[100.0, 150.0, 200.0], ComputeScalars=1)
        clip = simple.Clip(registrationName="clip", Input=proxy, ClipType="Plane")
        return counts_of("surface"), output(clip).GetNumberOfCells()

    def counts_of(name):
        return counts(output(simple.FindSource(name)))

    expected = make()
    text = smstate.get_state()
    true("PMBContour(" in text, f"the state does not make the filter: {text[-500:]}")
    simple.ResetSession()
    exec(text, {"__name__": "state"})
    equal((counts_of("surface"), output(simple.FindSource("clip")).GetNumberOfCells()), expected, "after the state")
    equal(list(simple.FindSource("surface").Isosurfaces), [100.0, 150.0, 200.0], "isovalues of the state")
    simple.ResetSession()
    smtrace.start_trace()
    expected = make()
    text = smtrace.stop_trace()
    simple.ResetSession()
    exec(text, {"__name__": "trace"})
    equal((counts_of("surface"), output(simple.FindSource("clip")).GetNumberOfCells()), expected, "after the trace")


load_plugin()
run(Contour, PropertyConversion2, AutoConvertSingleProperty, SavePythonState)
