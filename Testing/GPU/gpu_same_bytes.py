# SPDX-License-Identifier: BSD-3-Clause
"""The GPU's meshes are the CPU's in every byte: types, sizes, options, blocks, the panel. Geometry, hidden samples and much
else: FuzzPMBContourFilter --device gpu."""
import itertools

import numpy
from gpu_testing import (CPU, GPU, PANEL_GPU, REHEARSE, check_against_cpu, contour, driver, isovalues_of, same,
                         volume, waves)
from paraview import simple
from plugin_testing import image, output, true
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet

TYPES = (numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, numpy.int64, numpy.uint64,
         numpy.float32, numpy.float64)


def types_and_sizes():
    total = 0
    for dtype, dims in itertools.product(TYPES, ((2, 2, 2), (3, 70, 9), (33, 34, 35), (129, 5, 6), (67, 66, 65))):
        for isovalues in (isovalues_of(dtype)[:1], isovalues_of(dtype)[1:], isovalues_of(dtype)):
            total += check_against_cpu(image({"samples": waves(dims, dtype)}, dims), isovalues,
                                       f"{numpy.dtype(dtype).name} {dims} {isovalues}")
    true(total > 100000, f"only {total} triangles in all")


def options():
    dims = (50, 41, 37)
    switches = ("ComputeNormals", "ComputeGradients", "ComputeScalars", "InterpolateAttributes",
                "RemoveDegenerateTriangles", "Use64BitIds")
    data = image({"samples": waves(dims, numpy.int16), "other": waves(dims, numpy.float64, 2),
                  "vectors": numpy.stack([waves(dims, numpy.float32, seed) for seed in (3, 4, 5)], axis=-1),
                  "bytes": waves(dims, numpy.uint8, 6)}, dims)
    cells = numpy_to_vtk(numpy.arange(data.GetNumberOfCells(), dtype=numpy.int32), deep=True)
    cells.SetName("cell numbers")
    data.GetCellData().AddArray(cells)
    for on in itertools.product((0, 1), repeat=len(switches)):
        settings = dict(zip(switches, on))
        triangles = check_against_cpu(data, (3.0, 8.5), str(settings), **settings)
        true(triangles > 1000, f"{settings}: {triangles} triangles")
    for precision, dtype in itertools.product((0, 1, 2), (numpy.float32, numpy.float64)):
        check_against_cpu(image({"samples": waves(dims, dtype)}, dims), (3.0,), f"precision {precision} {dtype}",
                          OutputPointsPrecision=precision, ComputeGradients=1)
    for estimator, dtype in itertools.product((1, 2), TYPES):
        check_against_cpu(image({"samples": waves(dims, dtype)}, dims), isovalues_of(dtype),
                          f"estimator {estimator} {dtype}", NormalEstimator=estimator, ComputeGradients=1)
    check_against_cpu(data, (0.0, 3.0, 3.0, 500.0, -3.5), "five isovalues")
    check_against_cpu(data, (500.0,), "no surface")


def blocks():
    """A multi-block: the same bytes in every block, before and after a change of the isovalue."""
    data = vtkMultiBlockDataSet()
    for number in range(3):
        data.SetBlock(number, volume(40 + 7 * number, seed=number))
    ours, reference = contour(data, GPU, (3.0,)), contour(data, CPU, (3.0,))
    for isovalue in (3.0, 7.5):
        for each in (ours, reference):
            each.SetValue(0, isovalue)
            each.Update()
        for number in range(3):
            same(ours.GetOutputDataObject(0).GetBlock(number), reference.GetOutputDataObject(0).GetBlock(number),
                 f"block {number} at {isovalue}")


def the_panel():
    """Through proxies: Last Run names the GPU as the driver does; Automatic takes it; DeviceIndex 0 is the same one."""
    wavelet = simple.Wavelet(WholeExtent=[-30, 30, -30, 30, -30, 30])
    settings = {"Input": wavelet, "ContourBy": ["POINTS", "RTData"], "Isosurfaces": [157.0, 200.0]}
    reference = output(simple.PMBContour(RunOn="CPU", **settings))
    for choice in (PANEL_GPU, "Automatic"):
        proxy = simple.PMBContour(RunOn=choice, **settings)
        same(output(proxy), reference, choice)
        if not REHEARSE:
            true(f"GPU 0 ({driver.name()})" in proxy.LastRun, f"{choice}: the last run is {proxy.LastRun!r}")
        proxy.SetPropertyWithName("DeviceIndex", 0)
        proxy.Isosurfaces = [150.0]
        same(output(proxy), output(simple.PMBContour(**dict(settings, RunOn="CPU", Isosurfaces=[150.0]))), choice)
        proxy.RunOn = "CPU"
        proxy.Isosurfaces = [157.0, 200.0]
        same(output(proxy), reference, f"{choice}, then CPU")
        true("GPU" not in proxy.LastRun, f"on the CPU the last run is {proxy.LastRun!r}")


TESTS = (types_and_sizes, options, blocks, the_panel)
