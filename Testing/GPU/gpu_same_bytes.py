# SPDX-License-Identifier: BSD-3-Clause
"""The GPU's meshes are the CPU's in every byte: types, sizes, options, hidden samples, blocks, the panel."""
import itertools

import numpy
from gpu_testing import (CPU, GPU, PANEL_GPU, REHEARSE, check_against_cpu, contour, driver, isovalues_of, mesh_of, same,
                         volume, waves)
from paraview import simple
from plugin_testing import image, output, true
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
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


def geometry_and_flags():
    """Extents, spacing, direction; components of vectors; NaN; ghost cells."""
    dims = (40, 33, 35)
    samples = waves(dims, numpy.float32)
    data = image({"samples": samples}, dims, origin=(3.0, -2.0, 1e3), spacing=(0.5, -1.5, 1e-3), first=(-7, 90, 3))
    check_against_cpu(data, (3.0,), "negative spacing", ComputeGradients=1)
    data.SetDirectionMatrix(0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    check_against_cpu(data, (3.0,), "direction", ComputeGradients=1)
    vectors = image({"samples": numpy.stack([samples, 2 * samples, -samples], axis=-1)}, dims)
    for component in (0, 1, 2):
        check_against_cpu(vectors, (3.0,), f"component {component}", ArrayComponent=component)
    holes = samples.copy()
    holes[10, 11:13, ::5], holes[20:, 7, 9] = numpy.nan, numpy.inf
    check_against_cpu(image({"samples": holes}, dims), (3.0,), "NaN")
    ghosts = image({"samples": samples}, dims)
    flags = numpy.zeros((dims[2] - 1, dims[1] - 1, dims[0] - 1), numpy.uint8)
    flags[:3] = 1
    array = numpy_to_vtk(flags.ravel(), deep=True)
    array.SetName("vtkGhostType")
    true(isinstance(array, vtkUnsignedCharArray), "the ghost flags' class")
    ghosts.GetCellData().AddArray(array)
    check_against_cpu(ghosts, (3.0,), "ghost cells")


def hidden_and_estimators():
    """Blanked points and cells, of several types; the three ways to normals; measures; arrays that stay on the GPU."""
    dims = (45, 34, 33)
    rng = numpy.random.default_rng(9)
    for dtype, estimator in itertools.product((numpy.uint8, numpy.int64, numpy.float32, numpy.float64), (0, 1, 2)):
        data = image({"samples": waves(dims, dtype), "other": waves(dims, numpy.float32, 2)}, dims)
        settings = {"NormalEstimator": estimator, "ComputeGradients": 1, "ComputeMeasures": 1}
        what = f"{numpy.dtype(dtype).name}, estimator {estimator}"
        all_triangles = check_against_cpu(data, (103.0, 8.5), what, **settings)
        for target, count, bit in ((data.GetPointData(), data.GetNumberOfPoints(), 2),
                                   (data.GetCellData(), data.GetNumberOfCells(), 32)):
            flags = numpy_to_vtk((rng.integers(0, 200, count) == 0).astype(numpy.uint8) * bit, deep=True)
            flags.SetName("vtkGhostType")
            target.AddArray(flags)
            triangles = check_against_cpu(data, (103.0, 8.5), f"{what}, hidden {bit}", **settings)
            true(triangles < all_triangles, f"{what}: {triangles} of {all_triangles} triangles")
    data = image({"samples": waves(dims, numpy.float32), "other": waves(dims, numpy.float32, 2)}, dims)
    ours, theirs = (contour(data, device, (3.0,)) for device in (GPU, CPU))
    for isovalue in (3.0, 4.0, 5.5):
        ours.SetValue(0, isovalue)
        theirs.SetValue(0, isovalue)
        same(mesh_of(ours), mesh_of(theirs), f"isovalue {isovalue}")
    other = vtk_to_numpy(data.GetPointData().GetArray("other"))
    other += 1.0
    data.GetPointData().GetArray("other").Modified()
    same(mesh_of(ours), mesh_of(theirs), "another array changed")


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


TESTS = (types_and_sizes, options, geometry_and_flags, hidden_and_estimators, blocks, the_panel)
