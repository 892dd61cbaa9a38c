# SPDX-License-Identifier: BSD-3-Clause
"""Wrong input gives one clear message and an empty output, and the session goes on: the same filter works next."""
import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkStringArray
from vtkmodules.vtkCommonDataModel import (vtkMultiBlockDataSet, vtkRectilinearGrid, vtkTable,
                                           vtkUnstructuredGrid)

from plugin_testing import (Messages, ball, counts, equal, flying_edges, image, load_plugin, output, producer, run,
                            true)

DIMS = (24, 23, 22)


def good():
    return image({"samples": ball(DIMS)}, DIMS)


def contour(data, isovalues=(90.25,), array="samples"):
    return simple.PMBContour(Input=producer(data), ContourBy=["POINTS", array], Isosurfaces=list(isovalues))


def check_good(proxy):
    proxy.ContourBy, proxy.Isosurfaces, proxy.RemoveDegenerateTriangles = ["POINTS", "samples"], [90.25], 0
    with Messages() as log:
        equal(counts(output(proxy)), counts(flying_edges(good(), 90.25)), "points and triangles afterwards")
    equal(log.text(), "", "messages afterwards")


def check_bad(proxy, words, expected=(0, 0)):
    """The output is empty, and a message has one of the words."""
    with Messages() as log:
        mesh = output(proxy)
        equal(counts(mesh) if mesh else (0, 0), expected, "points and triangles")
    text = log.text()
    true(any(word in text for word in words), f"a message with one of {words}; got {text!r}")


def unknown_array():
    proxy = contour(good(), array="no such array")
    check_bad(proxy, ("array",))
    check_good(proxy)


def no_array():
    proxy = contour(image({}, DIMS))
    check_bad(proxy, ("array",))
    proxy.Input = producer(good())
    check_good(proxy)


def cell_array():
    data = good()
    values = numpy_to_vtk(numpy.zeros((DIMS[0] - 1) * (DIMS[1] - 1) * (DIMS[2] - 1), numpy.float32), deep=True)
    values.SetName("per cell")
    data.GetCellData().AddArray(values)
    proxy = contour(data)
    proxy.SetPropertyWithName("SelectInputScalars", ["CELLS", "per cell"])
    check_bad(proxy, ("point", "Point"))
    check_good(proxy)


def string_array():
    data = good()
    words = vtkStringArray()
    words.SetName("words")
    words.SetNumberOfValues(data.GetNumberOfPoints())
    data.GetPointData().AddArray(words)
    proxy = contour(data, array="words")
    check_bad(proxy, ("array", "words"))
    check_good(proxy)


def isovalue_not_a_number():
    """The other one is drawn."""
    proxy = contour(good(), isovalues=(float("nan"), 90.25))
    proxy.RemoveDegenerateTriangles = 0
    check_bad(proxy, ("number 0 is nan",), counts(flying_edges(good(), 90.25)))
    check_good(proxy)


def default_isovalue_is_infinite():
    """ParaView takes the middle of the range, which one infinite sample makes infinite: the suggested one is drawn."""
    samples = ball(DIMS).copy()
    samples.ravel()[0] = float("inf")
    proxy = simple.PMBContour(Input=producer(image({"samples": samples}, DIMS)))
    equal(list(proxy.Isosurfaces), [float("inf")], "ParaView's default")
    with Messages() as log:
        true(output(proxy).GetNumberOfPolys() > 1000, "a surface at the default isovalue")
    true("suggested" in log.text(), f"a warning says which; got {log.text()!r}")


def isovalue_out_of_range():
    proxy = contour(good(), isovalues=(1e6,))
    check_bad(proxy, ("range",))
    check_good(proxy)


def many_isovalues():
    """10,000 of them, of which most are out of range."""
    values = numpy.linspace(0.0, 1000.0, 10000)
    inside = [value for value in values if 80.0 < value < 100.0]
    proxy = contour(good(), isovalues=values)
    proxy.RemoveDegenerateTriangles = 0
    expected = [counts(flying_edges(good(), value)) for value in inside]
    equal(counts(output(proxy)), tuple(map(sum, zip(*expected))), "points and triangles of 10,000 isovalues")
    check_good(proxy)


def all_not_a_number():
    nothing = numpy.full((DIMS[2], DIMS[1], DIMS[0]), numpy.nan, numpy.float32)
    proxy = contour(image({"samples": nothing}, DIMS))
    equal(counts(output(proxy)), (0, 0), "points and triangles")
    proxy.Input = producer(good())
    check_good(proxy)


def other_input():
    """What is no image data: one message, which Last Run has too."""
    for proxy in (contour(vtkUnstructuredGrid()), contour(vtkRectilinearGrid()), contour(vtkTable())):
        with Messages() as log:
            proxy.UpdatePipeline()
            proxy.UpdatePipelineInformation()
        equal(log.text().count("ERROR"), 1, f"errors: {log.text()!r}")
        for text in (log.text(), proxy.LastRun):
            true("in ParaView: Contour" in text and "Resample To Image" in text, f"what to do; got {text!r}")
        proxy.Input = producer(good())
        check_good(proxy)
    histogram = simple.PMBIsovalueHistogram(Input=producer(vtkRectilinearGrid()))
    with Messages() as log:
        histogram.UpdatePipeline()
    equal(log.text().count("ERROR"), 1, f"errors of the histogram: {log.text()!r}")
    true("Resample To Image" in log.text(), f"what to do; got {log.text()!r}")
    blocks = vtkMultiBlockDataSet()
    blocks.SetBlock(0, vtkUnstructuredGrid())
    blocks.SetBlock(1, good())
    proxy = contour(blocks)
    with Messages() as log:
        proxy.UpdatePipeline()
    equal(log.text(), "", "messages of a block that is empty")


def thread_count():
    proxy = contour(good())
    with Messages() as log:
        proxy.SetPropertyWithName("NumberOfThreads", -3)
        proxy.UpdatePipeline()
        proxy.UpdatePipeline()
    equal(log.text().count("Warning:"), 1, f"warnings: {log.text()!r}")
    true("cannot be -3" in log.text() and "0 is used" in log.text(), log.text())
    true(proxy.GetClientSideObject().GetOutput().GetNumberOfPolys() > 100, "a surface with all threads")


def negative_memory_limit():
    proxy = contour(good())
    with Messages() as log:
        proxy.SetPropertyWithName("DeviceMemoryLimit", -0.5)
        proxy.UpdatePipeline()
    equal(log.text().count("ERROR"), 1, f"errors: {log.text()!r}")
    true("GPU Memory Limit) cannot be -0.5" in log.text(), log.text())
    true(proxy.GetClientSideObject().GetOutput().GetNumberOfPolys() > 100, "a surface without a limit")


def flags_that_do_not_fit():
    """A cell array vtkGhostType of another length, as Extract Subset hands it on: the surface, and one warning."""
    data = good()
    flags = numpy_to_vtk(numpy.zeros(90, numpy.uint8), deep=True)
    flags.SetName("vtkGhostType")
    data.GetCellData().AddArray(flags)
    proxy = contour(data)
    proxy.RemoveDegenerateTriangles = 0
    with Messages() as log:
        for isovalue in (90.25, 90.5, 90.25):
            proxy.Isosurfaces = [isovalue]
            proxy.UpdatePipeline()
    equal(log.text().count("'vtkGhostType'"), 1, f"warnings: {log.text()!r}")
    mesh = output(proxy)
    equal(counts(mesh), counts(flying_edges(good(), 90.25)), "points and triangles")
    equal(mesh.GetCellData().HasArray("vtkGhostType"), 0, "flags on the surface")


load_plugin()
run(unknown_array, no_array, cell_array, string_array, isovalue_not_a_number, default_isovalue_is_infinite,
    isovalue_out_of_range, many_isovalues, all_not_a_number, other_input, thread_count, negative_memory_limit,
    flags_that_do_not_fit)
