# SPDX-License-Identifier: BSD-3-Clause
"""ParaView's own tests that use Contour on images, with PMB Contour in its place and Contour beside it for comparison.
A function is named as ParaView names its test; Docs/VTK_TESTS.md lists them."""
import os
import tempfile

import numpy
from paraview import servermanager, simple, smstate, smtrace
from paraview.modules.vtkRemotingServerManager import vtkSMSettings
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet
from vtkmodules.vtkImagingCore import vtkImageDifference
from vtkmodules.vtkIOImage import vtkPNGReader

from plugin_testing import ball, counts, equal, image, load_plugin, output, point_array, producer, run, true

DEFAULT = 157.0909652709961  # the middle of the wavelet's range, which the panel sets


def both(source, array=("POINTS", "RTData"), isovalues=(DEFAULT,), **options):
    """Our filter and ParaView's, of the same input."""
    return [kind(Input=source, ContourBy=list(array), Isosurfaces=list(isovalues), **options)
            for kind in (simple.PMBContour, simple.Contour)]


def same(proxies, what=""):
    mesh, reference = (output(proxy) for proxy in proxies)
    true(reference.GetNumberOfCells() > 0, f"{what}: the reference is empty")
    equal(counts(mesh), counts(reference), f"{what}: points and triangles")
    return mesh, reference


def picture(folder, name, proxies, color=None):
    view = simple.CreateView("RenderView")
    view.ViewSize, view.OrientationAxesVisibility = [300, 300], 0
    view.UseColorPaletteForBackground, view.Background = 0, [1.0, 1.0, 1.0]
    for proxy in proxies:
        display = simple.Show(proxy, view)
        if proxy.SMProxy.GetXMLGroup() == "sources":
            display.SetRepresentationType("Outline")
        simple.ColorBy(display, color)
        display.SetScalarBarVisibility(view, False)
    view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [30.0, 40.0, 25.0], [0.0] * 3, [0.0, 0.0, 1.0]
    path = os.path.join(folder, name + ".png")
    simple.SaveScreenshot(path, view, ImageResolution=[300, 300])
    simple.Delete(view)
    return path


def difference(paths):
    """Sum over the picture of each pixel's difference over 255, where that is more than 16 of 255."""
    compare = vtkImageDifference()
    compare.SetThreshold(16)
    compare.AveragingOff()
    compare.AllowShiftOff()
    readers = []
    for path, connect in zip(paths, (compare.SetInputConnection, compare.SetImageConnection)):
        reader = vtkPNGReader()
        reader.SetFileName(path)
        connect(reader.GetOutputPort())
        readers.append(reader)
    compare.Update()
    return compare.GetThresholdedError()


def Contour():
    """The default isovalue, then several coloured by it; pictures as ParaView's filter gives them."""
    wavelet = simple.Wavelet()
    with tempfile.TemporaryDirectory() as folder:
        equal(list(simple.PMBContour(Input=wavelet).Isosurfaces), list(simple.Contour(Input=wavelet).Isosurfaces),
              "the isovalue to begin with")
        previous = None
        for isovalues, color in (([DEFAULT], None), ([100.0, 110.0, 120.0, 130.0, 140.0], ("POINTS", "RTData"))):
            proxies = both(wavelet, isovalues=isovalues)
            same(proxies, f"{isovalues}")
            paths = [picture(folder, f"{len(isovalues)}{index}", [proxy], color) for index, proxy in enumerate(proxies)]
            error = difference(paths)
            true(error < 20.0, f"the pictures of {isovalues} differ by {error}")
            if previous:
                error = difference((previous, paths[0]))
                true(error > 500.0, f"a control: other isovalues differ by {error} only")
            previous = paths[0]


def VolumeRenderingWithContour():
    """The surface within the volume, which is drawn as an outline and a volume by the same view."""
    wavelet = simple.Wavelet()
    with tempfile.TemporaryDirectory() as folder:
        paths = [picture(folder, str(index), [wavelet, proxy]) for index, proxy in enumerate(both(wavelet))]
        true(difference(paths) < 20.0, f"the pictures differ by {difference(paths)}")


def RandomAttributes():
    proxies = both(simple.Wavelet())
    same(proxies)
    for proxy in proxies:
        generator = simple.RandomAttributes(Input=proxy, GeneratePointScalars=1, GenerateCellVectors=1)
        mesh = output(generator)
        equal(counts(mesh), counts(output(proxy)), "points and triangles with random attributes")
        for data, name, expected in ((mesh.GetPointData(), "RandomPointScalars", mesh.GetNumberOfPoints()),
                                     (mesh.GetCellData(), "RandomCellVectors", mesh.GetNumberOfCells())):
            true(data.GetArray(name) is not None, f"no array {name}")
            equal(data.GetArray(name).GetNumberOfTuples(), expected, f"values of {name}")


def with_conversion(test):
    domain = servermanager.vtkSMInputArrayDomain
    before = domain.GetAutomaticPropertyConversion()
    domain.SetAutomaticPropertyConversion(True)
    try:
        test()
    finally:
        domain.SetAutomaticPropertyConversion(before)


def PropertyConversion2():
    """Cell data are taken to the points on the way, where the setting for that is on."""
    def test():
        cells = simple.PointDatatoCellData(Input=simple.Wavelet())
        proxies = both(cells, array=("POINTS", "RTData"))
        same(proxies, "cell data")
    with_conversion(test)


def AutoConvertSingleProperty():
    """Of point and cell arrays, one of which is passed on."""
    def test():
        random = simple.RandomAttributes(Input=simple.Wavelet(), GenerateCellScalars=1)
        passed = simple.PassArrays(Input=random, PointDataArrays=["RTData"], CellDataArrays=["RandomCellScalars"])
        mesh, reference = same(both(passed), "passed arrays")
        names = [mesh.GetCellData().GetArrayName(index) for index in range(mesh.GetCellData().GetNumberOfArrays())]
        equal(names, ["RandomCellScalars"], "arrays of the cells")
        true(reference.GetPointData().GetArray("RTData") is not None, "the array of the reference")
    with_conversion(test)


def ScalarBarRange():
    """The range of another array on the surface, which colours it."""
    other = simple.Calculator(Input=simple.Wavelet(), ResultArrayName="Result", Function="coordsX * RTData")
    mesh, reference = same(both(other, isovalues=[150.0]), "behind a calculator")
    ranges = [each.GetPointData().GetArray("Result").GetRange() for each in (mesh, reference)]
    true(numpy.allclose(*ranges, rtol=1e-5), f"ranges: {ranges}")
    true(ranges[0][1] - ranges[0][0] > 1000.0, f"a range: {ranges}")


def SavePythonState():
    """A state as Python: run, it makes the same pipeline. So does a trace."""
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
    """What is not shown is not computed."""
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
    """Extracts: the surface is written to a file by an extractor, as Catalyst does."""
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
            equal(counts(output(simple.XMLPartitionedPolydataReader(FileName=[path]))), expected, f"points, triangles of {path}")


def TestSettings():
    """What a user saves as default is what the next filter has. (Isovalues are not among it, for Contour neither.)"""
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


def AMRContour():
    """A block of triangles for each of an AMR data set's grids."""
    source = simple.AMRGaussianPulseSource()
    source.UpdatePipeline()
    low, high = source.CellData["Gaussian-Pulse"].GetRange()
    points = simple.CellDatatoPointData(Input=source)
    sizes = []
    for proxy in both(points, array=("POINTS", "Gaussian-Pulse"), isovalues=[low + 0.2 * (high - low)]):
        proxy.UpdatePipeline()
        sizes.append(proxy.GetDataInformation().GetNumberOfCells())
    true(sizes[1] > 0, "the reference is empty")
    equal(*sizes, "cells (of 2D grids: lines)")


def ExtractBlock():
    """One of the images of a collection, and all of them."""
    blocks = vtkMultiBlockDataSet()
    dims = (30, 29, 28)
    for index, center in enumerate(((14.0, 14.0, 14.0), (4.0, 5.0, 6.0))):
        blocks.SetBlock(index, image({"samples": ball(dims, center=center)}, dims))
        blocks.GetMetaData(index).Set(blocks.NAME(), f"part{index}")
    source = producer(blocks)
    one = simple.ExtractBlock(Input=source, Selectors=["/Root/part1"])
    for each, what in ((one, "one block"), (source, "all blocks")):
        sizes = []
        for proxy in both(each, array=("POINTS", "samples"), isovalues=[91.03]):
            proxy.UpdatePipeline()
            information = proxy.GetDataInformation()
            sizes.append((information.GetNumberOfPoints(), information.GetNumberOfCells()))
        true(sizes[1][1] > 100, f"{what}: the reference is empty")
        equal(*sizes, f"{what}: points and triangles")
    true(point_array(output(simple.MergeBlocks(Input=one)), "samples") is not None, "the block's array")


load_plugin()
run(Contour, VolumeRenderingWithContour, RandomAttributes, PropertyConversion2, AutoConvertSingleProperty,
    ScalarBarRange, SavePythonState, StateWithHiddenRepresentations, PLYWriter, WaveletPhiThetaExtracts, TestSettings,
    AMRContour, ExtractBlock)
