# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on a machine with a GPU, in pvpython: plugin_run.sh PACKED ROOT gpu_plugin_tests.py [TEST...]

--rehearse, where there is no GPU: the same steps with the processor in the GPU's place, without what is said of the
GPU. It shows that the tests themselves run, and plugin_pack.sh takes from it what has to be packed."""
import ctypes
import gc
import itertools
import os
import re
import subprocess
import sys
import tempfile
import threading

import numpy
from paraview import simple
from pmb import vtkPMBContourFilter
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkIdList, vtkLogger, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPolyData

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "Plugin"))  # where it is not packed
from plugin_testing import SKIPPED, Messages, equal, image, load_plugin, output, run, true  # noqa: E402

REHEARSE = "--rehearse" in sys.argv
CPU = vtkPMBContourFilter.CPU
GPU = CPU if REHEARSE else vtkPMBContourFilter.GPU
PANEL_GPU = "CPU" if REHEARSE else "GPU (CUDA)"
TYPES = (numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, numpy.int64, numpy.uint64,
         numpy.float32, numpy.float64)
OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700  # of cudaError_t


def on_gpu(value, what):
    true(value or REHEARSE, what)


class Driver:
    """The GPU's driver, asked without the plugin."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        true(code == 0, f"the driver's {name} gives error {code}")

    def name(self):
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()

    def free_bytes(self):
        if not self.context:
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        free, total, popped = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
        self.call("cuCtxPushCurrent_v2", self.context)
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        self.call("cuCtxPopCurrent_v2", ctypes.byref(popped))
        return free.value


try:
    driver = None if REHEARSE else Driver()
except OSError as missing:
    print(f"skipped: {missing}: there is no NVIDIA driver here")
    sys.exit(SKIPPED)


# --- volumes and meshes -----------------------------------------------------------------------------------------------

def waves(dims, dtype, seed=1):
    """Samples of a smooth surface with some noise, over the whole range of a small type; many are equal."""
    nx, ny, nz = dims
    z, y, x = numpy.ogrid[0:nz, 0:ny, 0:nx]
    noise = numpy.random.default_rng(seed).integers(-6, 7, (nz, ny, nx))
    values = numpy.rint(45 * (numpy.sin(0.21 * x) + numpy.cos(0.17 * y) * numpy.sin(0.13 * z + 0.3)) + noise)
    if numpy.issubdtype(dtype, numpy.unsignedinteger):
        values += 100
    return values.clip(-128, 255).astype(dtype)


def isovalues_of(dtype):
    base = 100 if numpy.issubdtype(dtype, numpy.unsignedinteger) else 0
    return base + 3.0, base + 17.25


def contour(data, device, isovalues=(0.0,), **settings):
    """A new filter for a data object, not executed."""
    new = vtkPMBContourFilter()
    new.SetInputData(data)
    new.SetDevice(device)
    for number, isovalue in enumerate(isovalues):
        new.SetValue(number, isovalue)
    for name, value in settings.items():
        getattr(new, f"Set{name}")(value)
    return new


def content(mesh):
    """Everything that a mesh consists of, as {name: numpy array} that share the mesh's memory."""
    cells = mesh.GetPolys()
    parts = {"connectivity": cells.GetConnectivityArray()}
    if cells.GetOffsetsArray().HasStandardMemoryLayout():
        parts["offsets"] = cells.GetOffsetsArray()
    if mesh.GetPoints():
        parts["points"] = mesh.GetPoints().GetData()
    for kind, attributes in (("point", mesh.GetPointData()), ("cell", mesh.GetCellData())):
        for number in range(attributes.GetNumberOfArrays()):
            parts[f"{kind} array {attributes.GetArrayName(number)}"] = attributes.GetArray(number)
    return {name: vtk_to_numpy(array) for name, array in parts.items()}


def copies(mesh):
    return {name: values.copy() for name, values in content(mesh).items()}


def same(ours, reference, what):
    """Two meshes, or their contents, agree in every byte."""
    ours, reference = (part if isinstance(part, dict) else content(part) for part in (ours, reference))
    equal(sorted(ours), sorted(reference), f"{what}: arrays")
    for name, values in reference.items():
        equal((ours[name].dtype, ours[name].shape), (values.dtype, values.shape), f"{what}: {name}: type and size")
        true(numpy.array_equal(ours[name].view(numpy.uint8), values.view(numpy.uint8)), f"{what}: {name}: other bytes")


def mesh_of(algorithm):
    algorithm.Update()
    return algorithm.GetOutput()


def check_against_cpu(data, isovalues, what, **settings):
    """The GPU's mesh is the CPU's, and so are its messages; returns the number of triangles."""
    filters, messages = [contour(data, device, isovalues, **settings) for device in (GPU, CPU)], []
    for each in filters:
        with Messages() as log:
            each.Update()
        messages.append(re.sub(r"0x[0-9a-f]+", "", log.text()))
    ours, reference = (each.GetOutput() for each in filters)
    same(ours, reference, what)
    equal(*messages, f"{what}: messages")
    summary = filters[0].GetLastRunSummary()
    on_gpu("GPU 0" in summary or not ours.GetNumberOfPolys(), f"{what}: last run is {summary!r}")
    return ours.GetNumberOfPolys()


def volume(side=64, dtype=numpy.float32, seed=1):
    side = side // 4 if REHEARSE else side
    return image({"samples": waves((side, side, side), dtype, seed)}, (side, side, side))


# --- the same bytes ---------------------------------------------------------------------------------------------------

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


# --- what is on the GPU -----------------------------------------------------------------------------------------------

def no_second_upload():
    data = volume(96)
    ours = contour(data, GPU)
    for isovalue in (0.0, 3.0, 3.5, 60.0, 0.0):
        ours.SetValue(0, isovalue)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue}")
    ours.SetComputeGradients(1)
    ours.SetRemoveDegenerateTriangles(0)
    ours.Update()
    on_gpu(ours.GetNumberOfUploads() == 1, f"{ours.GetNumberOfUploads()} uploads, not 1")
    equal(ours.GetNumberOfBinds(), 1, "volumes read")
    on_gpu(ours.GetDeviceBytes() >= 4 * 96 ** 3, f"only {ours.GetDeviceBytes()} bytes on the GPU")


def shared_upload():
    """Two filters on one array: one upload, also after one of them is gone."""
    data = volume(96)
    first, second = contour(data, GPU, (3.0,)), contour(data, GPU, (9.0,))
    same(mesh_of(first), mesh_of(contour(data, CPU, (3.0,))), "first filter")
    same(mesh_of(second), mesh_of(contour(data, CPU, (9.0,))), "second filter")
    uploads = first.GetNumberOfUploads() + second.GetNumberOfUploads()
    on_gpu(uploads == 1, f"{uploads} uploads, not 1")
    del first
    second.SetValue(0, 4.0)
    same(mesh_of(second), mesh_of(contour(data, CPU, (4.0,))), "second filter alone")
    uploads = second.GetNumberOfUploads()
    on_gpu(uploads <= 1, f"{uploads} uploads of the second filter")


def shared_by_proxies():
    """Two panels on one source, as a user has it: one upload; a change of the source is seen by both."""
    side = 15 if REHEARSE else 40
    wavelet = simple.Wavelet(WholeExtent=[-side, side] * 3)
    settings = {"Input": wavelet, "ContourBy": ["POINTS", "RTData"]}
    proxies = [simple.PMBContour(RunOn=PANEL_GPU, Isosurfaces=[value], **settings) for value in (157.0, 200.0)]
    reference = simple.PMBContour(RunOn="CPU", Isosurfaces=[157.0], **settings)
    for expected, frequency in ((1, 60.0), (2, 30.0)):
        wavelet.XFreq = frequency
        for proxy in proxies:
            reference.Isosurfaces = proxy.Isosurfaces
            same(output(proxy), output(reference), f"XFreq {frequency}")
        uploads = sum(proxy.GetClientSideObject().GetNumberOfUploads() for proxy in proxies)
        on_gpu(uploads == expected, f"{uploads} uploads, not {expected}")


def modified_array():
    """Samples written in place and marked as modified are uploaded again, for both filters once together."""
    data = volume(64)
    dims = data.GetDimensions()
    array = data.GetPointData().GetArray("samples")
    filters = contour(data, GPU, (3.0,)), contour(data, GPU, (3.0,))
    for each in filters:
        each.Update()
    before = copies(filters[0].GetOutput())
    vtk_to_numpy(array)[:] = waves(dims, numpy.float32, seed=2).ravel()
    array.Modified()
    reference = mesh_of(contour(data, CPU, (3.0,)))
    true(before["points"].shape != content(reference)["points"].shape, "the new samples give the old mesh")
    for each in filters:
        same(mesh_of(each), reference, "after the change")
    uploads = sum(each.GetNumberOfUploads() for each in filters)
    on_gpu(uploads == 2, f"{uploads} uploads, not 2")


def time_steps():
    """A new array per step, as from a reader: what is on the GPU does not grow."""
    data, sizes = volume(64), []
    ours = contour(data, GPU, (3.0,))
    for step in range(20):
        data.DeepCopy(volume(64, seed=step))
        same(mesh_of(ours), mesh_of(contour(data, CPU, (3.0,))), f"step {step}")
        sizes.append(ours.GetDeviceBytes())
    on_gpu(0 < max(sizes) <= 1.2 * sizes[0], f"bytes on the GPU: {sizes}")
    on_gpu(ours.GetNumberOfUploads() == 20, f"{ours.GetNumberOfUploads()} uploads for 20 steps")


def memory_limit():
    """Too little for the volume: the CPU's mesh, one warning, and no further try until something changes."""
    data = volume(128)
    ours = contour(data, GPU, DeviceMemoryLimit=0.001)
    with Messages() as log:
        for isovalue in (0.0, 3.0, 5.0, 7.0):
            ours.SetValue(0, isovalue)
            same(mesh_of(ours), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue}")
            summary = ours.GetLastRunSummary()
            on_gpu("CPU" in summary and "because" in summary and "memory" in summary, f"the last run is {summary!r}")
    on_gpu(log.text().count("Warning:") == 1 and "memory" in log.text(), f"not one warning but {log.text()!r}")
    true("ERROR" not in log.text(), log.text())
    with Messages() as log:
        ours.SetDeviceMemoryLimit(0.0)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (7.0,))), "without a limit")
    equal(log.text(), "", "messages without a limit")
    on_gpu("GPU 0" in ours.GetLastRunSummary(), f"without a limit the last run is {ours.GetLastRunSummary()!r}")


def limit_across_filters():
    """A limit with room for one volume: two filters that take turns both work on the GPU."""
    limit = 0.03  # GiB: 8.4 MB of samples each, and the mesh
    volumes = volume(128, seed=1), volume(128, seed=2)
    contour(volumes[0], GPU).Update()  # what the driver takes for itself at the first use
    free = driver.free_bytes() if driver else 0
    filters = [contour(data, GPU, DeviceMemoryLimit=limit) for data in volumes]
    with Messages() as log:
        for isovalue in (0.0, 3.0, 5.0):
            for data, each in zip(volumes, filters):
                each.SetValue(0, isovalue)
                same(mesh_of(each), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue}")
                on_gpu("GPU 0" in each.GetLastRunSummary(), f"the last run is {each.GetLastRunSummary()!r}")
    equal(log.text(), "", "messages")
    taken = free - driver.free_bytes() if driver else 0
    true(taken < 1.2 * limit * 2 ** 30, f"the driver has given out {taken} bytes")
    total = sum(each.GetDeviceBytes() for each in filters)
    on_gpu(total <= limit * 2 ** 30, f"{total} bytes on the GPU")


def release():
    data = volume(96)
    ours = contour(data, GPU, (3.0,))
    kept = vtkPolyData()
    kept.ShallowCopy(mesh_of(ours))
    reference = copies(kept)
    ours.ReleaseDeviceMemory()
    equal(ours.GetDeviceBytes(), 0, "bytes on the GPU after the release")
    same(kept, reference, "the output after the release")
    ours.SetValue(0, 5.0)
    same(mesh_of(ours), mesh_of(contour(data, CPU, (5.0,))), "after the release")
    on_gpu(ours.GetNumberOfUploads() == 2, f"{ours.GetNumberOfUploads()} uploads, not 2")


def array_deleted():
    data = volume(96)
    ours = contour(data, GPU, (3.0,), ComputeScalars=0)
    ours.Update()
    before = ours.GetDeviceBytes()
    free = driver.free_bytes() if driver else 0
    data.GetPointData().RemoveArray("samples")
    gc.collect()
    after = ours.GetDeviceBytes()
    on_gpu(after <= before - 4 * 96 ** 3, f"{before} bytes on the GPU with the array, {after} without")
    on_gpu(not driver or driver.free_bytes() > free, "the driver has no more memory free than before")
    data.DeepCopy(volume(50))
    same(mesh_of(ours), mesh_of(contour(data, CPU, (3.0,), ComputeScalars=0)), "a new array")


def nothing_is_left():
    """After the last filter the GPU has as much free memory as before the first."""
    def use():
        filters = [contour(volume(128, seed=seed), GPU, (3.0,)) for seed in range(4)]
        for each in filters:
            each.Update()

    use()  # what the driver keeps of the first use is not ours
    gc.collect()
    before = driver.free_bytes() if driver else 0
    for _ in range(3):
        use()
        gc.collect()
    after = driver.free_bytes() if driver else 0
    true(after >= before, f"{before - after} bytes of the GPU are lost")


# --- the output's memory ----------------------------------------------------------------------------------------------

def output_outlives_the_filter():
    ours = contour(volume(128), GPU, (3.0,), ComputeGradients=1)
    mesh = mesh_of(ours)
    views, reference = content(mesh), copies(mesh)
    mesh = None
    ours = None
    gc.collect()
    other = contour(volume(128, seed=2), GPU, (3.0,))  # may take memory that was given back too early
    other.Update()
    same(views, reference, "the output without its filter")


def output_can_be_edited():
    """What VTK's filters do with arrays in place: enlarge, cut, append, copy."""
    ours = contour(volume(96), GPU, (3.0,))
    mesh = mesh_of(ours)
    reference = copies(mesh)
    array = mesh.GetPoints().GetData()
    count = array.GetNumberOfTuples()
    array.InsertNextTuple3(1.0, 2.0, 3.0)
    equal(array.GetNumberOfTuples(), count + 1, "points after one more")
    true(numpy.array_equal(vtk_to_numpy(array)[:count], reference["points"]), "the points that were there")
    equal(array.GetTuple3(count), (1.0, 2.0, 3.0), "the new point")
    array.Resize(100)
    true(numpy.array_equal(vtk_to_numpy(array)[:100], reference["points"][:100]), "the first points")
    ids = vtkIdList()
    mesh.GetPolys().GetCellAtId(5, ids)
    equal([ids.GetId(i) for i in range(3)], list(reference["connectivity"][15:18]), "a triangle")
    copy = vtkPolyData()
    copy.DeepCopy(mesh)
    mesh.GetPolys().InsertNextCell(ids)
    mesh.Squeeze()
    ours.SetValue(0, 4.0)
    ours.Update()
    true(numpy.array_equal(content(copy)["connectivity"], reference["connectivity"]), "the copy's triangles")


def many_isovalue_changes():
    """1,000 changes, each output held until the next one: no memory grows."""
    steps = 50 if REHEARSE else 1000
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    ours, held, seen = contour(volume(96), GPU, ComputeScalars=0), vtkPolyData(), []
    size = 0
    for number in range(steps):
        ours.SetValue(0, -20.0 + 40.0 * number / steps)
        ours.Update()
        mesh = ours.GetOutput()
        size = max(size, 24 * mesh.GetNumberOfPoints() + 12 * mesh.GetNumberOfPolys())
        held.ShallowCopy(mesh)
        if number % (steps // 10) == 0:
            seen.append((resident(), ours.GetDeviceBytes(), driver.free_bytes() if driver else 0))
    same(held, mesh_of(contour(ours.GetInput(), CPU, (ours.GetValue(0),), ComputeScalars=0)), "the last mesh")
    true(seen[-1][0] - seen[2][0] < 4 * size, f"resident bytes grew: {[entry[0] for entry in seen]}; a mesh has {size}")
    true(seen[-1][1] <= 1.2 * seen[2][1], f"bytes on the GPU grew: {[entry[1] for entry in seen]}")
    true(seen[2][2] - seen[-1][2] < 4 * size, f"free memory of the GPU shrank: {[entry[2] for entry in seen]}")
    on_gpu(ours.GetNumberOfUploads() == 1, f"{ours.GetNumberOfUploads()} uploads, not 1")


# --- threads, faults, processes ---------------------------------------------------------------------------------------

def two_threads():
    """Two filters of one array, and two of arrays of their own, each in a thread; a filter that changes its thread."""
    shared = volume(64)
    isovalues = [0.25 * step for step in range(20)]
    for own in (False, True):
        inputs = [volume(64, seed=number) if own else shared for number in range(2)]
        expected = [[copies(mesh_of(contour(data, CPU, (isovalue,)))) for isovalue in isovalues] for data in inputs]
        filters = [contour(data, GPU) for data in inputs]
        failures = []

        def work(number):
            try:
                for isovalue, reference in zip(isovalues, expected[number]):
                    filters[number].SetValue(0, isovalue)
                    same(mesh_of(filters[number]), reference, f"thread {number}, {isovalue}")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failures, [], "failures")
        filters[0].SetValue(0, 3.0)
        same(mesh_of(filters[0]), mesh_of(contour(inputs[0], CPU, (3.0,))), "in the main thread after that")


def faulty_run(data, fault):
    """A filter whose first execution meets a fault, and the messages."""
    os.environ["PMB_TEST_FAULT"] = fault
    try:
        with Messages() as log:
            ours = contour(data, GPU, (3.0,))
            ours.Update()
    finally:
        del os.environ["PMB_TEST_FAULT"]
    return ours, log.text()


def no_more_faults(data):
    """A fault that was not met waits on; a new one takes its place, and 0 is none."""
    ours, text = faulty_run(data, "0")
    true(text == "" and "GPU 0" in ours.GetLastRunSummary(), f"without a fault: {text!r} {ours.GetLastRunSummary()!r}")


def faults():
    """Each of the driver's answers in turn is an error: it is told or mended, and the next execution is right."""
    if REHEARSE:
        return
    data = volume(48)
    reference = copies(mesh_of(contour(data, CPU, (3.0,))))
    after = copies(mesh_of(contour(data, CPU, (5.0,))))
    for code in (ILLEGAL_ADDRESS, OUT_OF_MEMORY):
        met = {"error": 0, "fallback": 0, "none": 0}
        position = quiet = 0
        while quiet < 20:  # a call may be one that can fail without harm; so many in a row: there is none left
            position += 1
            what = f"fault {position}:{code}"
            ours, text = faulty_run(data, f"{position}:{code}")
            summary, mesh = ours.GetLastRunSummary(), ours.GetOutput()
            true(position < 2000, f"{what}: there is no end")
            if not text and "GPU 0" in summary:
                met["none"] += 1
                quiet += 1
                same(mesh, reference, what)
                continue
            quiet = 0
            if "ERROR" in text:
                met["error"] += 1
                true(summary.startswith("Failed: ") and mesh.GetNumberOfPolys() == 0, f"{what}: {summary!r}")
                true("CUDA" in text or "GPU" in text, f"{what}: the message does not say what failed: {text!r}")
            else:
                met["fallback"] += 1
                equal(text.count("Warning:"), 1, f"{what}: warnings in {text!r}")
                true("because" in summary, f"{what}: the last run is {summary!r}")
                same(mesh, reference, what)
            with Messages() as log:
                ours.SetValue(0, 5.0)
                ours.SetDeviceMemoryLimit(64.0)  # another question, so that the GPU is asked again
                same(mesh_of(ours), after, f"after {what}")
            equal(log.text(), "", f"messages after {what}")
            true("GPU 0" in ours.GetLastRunSummary(), f"after {what} the last run is {ours.GetLastRunSummary()!r}")
        print(f"  code {code}: {met}")
        no_more_faults(data)
        true(met["error" if code == ILLEGAL_ADDRESS else "fallback"] > 5, f"code {code} gave {met}")


CHILD = """
import sys
sys.path.append({here!r})
from paraview import simple
from gpu_plugin_tests import GPU, PANEL_GPU, contour, content, load_plugin, volume
{code}
sys.stdout.flush()
"""


def child(code, **environment):
    """Runs code in a process of its own; returns its exit code and what it said."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(CHILD.format(code=code, here=HERE))
        script.flush()
        command = ["pvpython", "--no-mpi", script.name] + (["--rehearse"] if REHEARSE else [])
        result = subprocess.run(command, env=dict(os.environ, **environment), capture_output=True, text=True,
                                check=False, timeout=120)
    return result.returncode, result.stdout + result.stderr


def real_fault():
    """A kernel that really fails, in a process of its own. CUDA may not come back in that process (with driver 580 it
    does not): then the processor computes, and the text says what to do."""
    if REHEARSE:
        return
    for position in (1, 5, 40):
        status, text = child(f"""
from gpu_plugin_tests import after_a_real_fault
after_a_real_fault({position})
""")
        true(status == 0 and "survived" in text, f"position {position}: ends with {status} and says {text!r}")


def after_a_real_fault(position):
    datas = volume(128), volume(100, seed=2)
    bystander = contour(datas[0], GPU, (3.0,))
    kept = vtkPolyData()
    kept.ShallowCopy(mesh_of(bystander))
    reference = copies(kept)
    ours, text = faulty_run(datas[1], f"{position}:trap")
    true("ERROR" in text or "Warning" in text, "a fault without a message")
    same(kept, reference, "the output of the other filter")
    for each, data in ((ours, datas[1]), (bystander, datas[0])):
        each.SetDeviceMemoryLimit(64.0)  # another question, so that the GPU is asked again
        with Messages() as log:
            for isovalue in (5.0, 6.0):
                each.SetValue(0, isovalue)
                same(mesh_of(each), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue} after the fault")
        summary = each.GetLastRunSummary()
        if "GPU 0" not in summary:
            true("because" in summary and "restart" in summary, f"after the fault the last run is {summary!r}")
            equal(log.text().count("Warning:"), 1, f"warnings in {log.text()!r}")
    print("survived")


def exit_with_arrays_alive():
    """A process that ends while output, filters and proxies are alive ends well."""
    for code in ("keep = contour(volume(96), GPU, (3.0,)); keep.Update(); sys.keep = content(keep.GetOutput())",
                 "keep = contour(volume(96), GPU, (3.0,)); keep.Update(); mesh = keep.GetOutput(); del keep",
                 "import builtins; builtins.keep = contour(volume(96), GPU, (3.0,)); builtins.keep.Update()",
                 "load_plugin(); proxy = simple.PMBContour(Input=simple.Wavelet(), ContourBy=['POINTS', 'RTData'], "
                 "Isosurfaces=[157.0], RunOn=PANEL_GPU); proxy.UpdatePipeline(); print(proxy.LastRun)"):
        status, text = child(code)
        true(status == 0 and "rror" not in text, f"{code!r} ends with {status} and says {text!r}")


def gpu_switched_off():
    """PMB_GPU: off, a number, nonsense; a GPU that is not there."""
    if REHEARSE:
        return
    show = """
ours = contour(volume(48), GPU, (3.0,))
ours.Update()
ours.SetValue(0, 4.0)
ours.Update()
print(ours.GetLastRunSummary())
"""
    status, text = child(show, PMB_GPU="off")
    equal(status, 0, "exit code")
    true("because" in text and "PMB_GPU" in text, f"PMB_GPU=off: {text!r}")
    equal(text.count("WARN|"), 1, f"warnings in {text!r}")
    status, text = child(show, PMB_GPU="0")
    true(status == 0 and "GPU 0 (" in text and "WARN|" not in text, f"PMB_GPU=0: {status} {text!r}")
    status, text = child(show, PMB_GPU="nonsense")
    true(status == 0 and "nonsense" in text, f"PMB_GPU=nonsense: {status} {text!r}")
    data = volume(48)
    with Messages() as log:
        ours = contour(data, GPU, (3.0,), DeviceIndex=99)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (3.0,))), "GPU 99")
        ours.SetValue(0, 4.0)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (4.0,))), "GPU 99, another isovalue")
    equal(log.text().count("Warning:"), 1, f"warnings in {log.text()!r}")
    summary = ours.GetLastRunSummary()
    true("99" in log.text() and "because" in summary, f"{log.text()!r} {summary!r}")
    with Messages() as log:
        ours.SetDeviceIndex(0)
        ours.Update()
    summary = ours.GetLastRunSummary()
    true(log.text() == "" and "GPU 0 (" in summary, f"{log.text()!r} {summary!r}")


TESTS = (types_and_sizes, options, geometry_and_flags, hidden_and_estimators, blocks, the_panel,
         no_second_upload, shared_upload, shared_by_proxies, modified_array, time_steps, memory_limit,
         limit_across_filters, release, array_deleted, nothing_is_left,
         output_outlives_the_filter, output_can_be_edited, many_isovalue_changes,
         two_threads, faults, real_fault, exit_with_arrays_alive, gpu_switched_off)

if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if not name.startswith("--")]
    unknown = set(chosen) - {test.__name__ for test in TESTS}
    if unknown:
        sys.exit(f"there is no test {sorted(unknown)}; there are {[test.__name__ for test in TESTS]}")
    load_plugin()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # the tests read the messages themselves
    run(*(test for test in TESTS if not chosen or test.__name__ in chosen))
