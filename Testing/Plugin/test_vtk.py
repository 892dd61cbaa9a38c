# SPDX-License-Identifier: BSD-3-Clause
"""ParaView's own tests that use Contour on images, with PMB Contour in its place and Contour beside it for comparison.
A function is named as ParaView names its test; Docs/VTK_TESTS.md lists them."""
import os
import tempfile

from paraview import servermanager, simple, smstate, smtrace
from paraview.modules.vtkRemotingServerManager import vtkSMSettings

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


def StateWithHiddenRepresentations():
    """A hidden surface is not computed."""
    wavelet = simple.Wavelet(registrationName="wavelet")
    proxy = simple.PMBContour(registrationName="surface", Input=wavelet, ContourBy=["POINTS", "RTData"],
                              Isosurfaces=[DEFAULT])
    view = simple.CreateView("RenderView")
    simple.Show(proxy, view)
    simple.Hide(proxy, view)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hidden.pvsm")
        simple.SaveState(path)
        simple.ResetSession()
        simple.LoadState(path)
    proxy, view = simple.FindSource("surface"), simple.GetActiveViewOrCreate("RenderView")
    view.StillRender()
    equal(proxy.GetDataInformation().GetNumberOfPoints(), 0, "points while nothing is shown")
    simple.GetRepresentation(proxy, view).Visibility = 1
    view.StillRender()
    true(proxy.GetDataInformation().GetNumberOfPoints() > 1000, "points when it is shown")


def PLYWriter():
    proxies = both(simple.Wavelet(), isovalues=[97.222075, 157.09105, 216.96002500000003, 276.82])
    mesh, _ = same(proxies)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "surface.ply")
        simple.SaveData(path, proxy=proxies[0], EnableColoring=1)
        read = output(simple.PLYReader(FileNames=[path]))
    equal(counts(read), counts(mesh), "points and triangles of the file")


def WaveletPhiThetaExtracts():
    """An extractor writes the surface to a file, as in Catalyst."""
    proxy, reference = both(simple.Wavelet())
    expected = counts(output(reference))
    extractor = simple.CreateExtractor("VTP", proxy, registrationName="VTP1")
    extractor.Writer.FileName = "surface_{timestep:06d}.vtp"
    extractor.Writer.DataMode = "Binary"  # not appended: see Docs/VERSIONS.md, "What differs"
    with tempfile.TemporaryDirectory() as folder:
        simple.SaveExtracts(ExtractsOutputDirectory=folder)
        files = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".vtp")]
        true(files, f"no file: {os.listdir(folder)}")
        for path in files:  # one for each time step
            reader = simple.XMLPartitionedPolydataReader(FileName=[path])
            equal(counts(output(reader)), expected, f"points, triangles of {path}")


def TestSettings():
    """The next filter has the values that a user saved as default, except isovalues, as for Contour."""
    wavelet = simple.Wavelet()
    settings = vtkSMSettings.GetInstance()
    settings.ClearAllSettings()
    settings.AddCollectionFromString("{}", 1.0)
    try:
        for threads, normals in ((2, 0), (3, 1)):
            proxy = simple.PMBContour(Input=wavelet, ComputeNormals=normals)
            proxy.SetPropertyWithName("NumberOfThreads", threads)
            settings.SetProxySettings(proxy.SMProxy, None)
            other = simple.PMBContour(Input=wavelet, ComputeNormals=1 - normals)
            settings.GetProxySettings(other.SMProxy)
            equal(other.GetProperty("NumberOfThreads").GetData(), threads, "threads from the settings")
        settings.SetProxySettings(proxy.SMProxy, None)
        equal(settings.GetSettingAsInt(".filters.PMBContour.NumberOfThreads", 0, -1), 3, "the setting")
    finally:
        settings.ClearAllSettings()


load_plugin()
run(Contour, PropertyConversion2, AutoConvertSingleProperty,
    SavePythonState, StateWithHiddenRepresentations, PLYWriter, WaveletPhiThetaExtracts, TestSettings,
    )
