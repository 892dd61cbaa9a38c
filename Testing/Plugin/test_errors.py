# SPDX-License-Identifier: BSD-3-Clause
"""Wrong input gives one clear message and an empty output; afterwards the same filter works."""
import os
import tempfile

from paraview import servermanager, simple
from vtkmodules.vtkCommonDataModel import vtkRectilinearGrid
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

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


# Properties, words of the message, and whether there is still a surface.
BAD = [
    ({"ContourBy": ["POINTS", "no such array"]}, "array", False),
    ({"ContourBy": ["CELLS", "samples"]}, "oint", False),
    ({"Isosurfaces": [float("nan"), 90.25]}, "number 0 is nan", True),
    ({"Isosurfaces": [1e6]}, "range", False),
    ({"CPUThreads": -3}, "cannot be -3", True),
    ({"GPUMemoryLimit": -0.5}, "GPU Memory Limit) cannot be -0.5", True),
]


def bad_properties():
    """One message, also for two executions; then good values work."""
    for settings, words, surface in BAD:
        proxy = contour(good())
        with Messages() as log:
            for name, value in settings.items():
                setattr(proxy, name, value)
            proxy.UpdatePipeline()
            mesh = output(proxy)
        equal(log.text().count(words) > 0, True, f"{settings}: {words!r} in {log.text()!r}")
        equal(sum(log.text().count(kind) for kind in ("rror:", "arning:", "ERROR:")), 1, f"messages {log.text()!r}")
        equal(bool(mesh) and mesh.GetNumberOfPolys() > 100, surface, f"{settings}: a surface")
        proxy.CPUThreads = proxy.GPUMemoryLimit = 0
        check_good(proxy)


def default_isovalue_is_infinite():
    """ParaView sets the middle of the range, which one infinite sample makes infinite: the suggested isovalue is drawn."""
    samples = ball(DIMS).copy()
    samples.ravel()[0] = float("inf")
    proxy = simple.PMBContour(Input=producer(image({"samples": samples}, DIMS)))
    equal(list(proxy.Isosurfaces), [float("inf")], "ParaView's default")
    with Messages() as log:
        true(output(proxy).GetNumberOfPolys() > 1000, "a surface at the default isovalue")
    true("suggested" in log.text(), f"a warning says which; got {log.text()!r}")


def other_input():
    """The histogram refuses what is not image data. (The filter: Testing/Filters.)"""
    histogram = simple.PMBIsovalueHistogram(Input=producer(vtkRectilinearGrid()))
    with Messages() as log:
        histogram.UpdatePipeline()
    equal(log.text().count("ERROR"), 1, f"errors of the histogram: {log.text()!r}")
    true("Resample To Image" in log.text(), f"what to do; got {log.text()!r}")


def damaged_step():
    """A step whose file is cut off or gone: the reader's message and no surface; the other steps have theirs."""
    with tempfile.TemporaryDirectory() as folder:
        steps = [os.path.join(folder, f"{n}.vti") for n in range(4)]
        data = [image({"samples": ball(DIMS) + n}, DIMS) for n in range(4)]
        for path, volume in zip(steps, data):
            writer = vtkXMLImageDataWriter()
            writer.SetFileName(path)
            writer.SetInputData(volume)
            writer.Write()
        os.truncate(steps[1], 5000)
        os.remove(steps[2])
        for limit in (0, 1):
            reader = simple.XMLImageDataReader(FileName=steps)
            proxy = simple.PMBContour(Input=reader, ContourBy=["POINTS", "samples"], Isosurfaces=[90.25], MemoryLimit=limit,
                                      RemoveDegenerateTriangles=0)
            for step in (0, 1, 3, 2, 0):
                with Messages() as log:
                    proxy.UpdatePipeline(time=step)
                fails = step in (1, 2)
                expected = (0, 0) if fails else counts(flying_edges(data[step], 90.25))
                equal("rror" in log.text(), fails, f"step {step}, limit {limit}: an error in {log.text()!r}")
                equal(counts(servermanager.Fetch(proxy)), expected, f"step {step}, limit {limit}: points and triangles")


load_plugin()
run(bad_properties, default_isovalue_is_infinite, other_input, damaged_step)
