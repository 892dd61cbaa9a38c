# SPDX-License-Identifier: BSD-3-Clause
"""What is on the GPU and when it goes: uploads, what filters share, the limit, releases; and the memory of outputs."""
import gc
import os

import numpy
from gpu_testing import (CPU, GPU, PANEL_GPU, REHEARSE, content, contour, copies, driver, mesh_of, on_gpu, same, volume,
                         waves)
from paraview import simple
from plugin_testing import Messages, equal, output, true
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData


# --- on the GPU -------------------------------------------------------------------------------------------------------

def uploads():
    """One for any number of isovalues and other properties, one more for samples that are modified in place, and one for
    each new array; what is on the GPU does not grow."""
    data = volume(96)
    ours = contour(data, GPU)
    for isovalue in (0.0, 3.0, 3.5, 60.0, 0.0):
        ours.SetValue(0, isovalue)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue}")
    ours.SetRemoveDegenerateTriangles(0)
    ours.Update()
    on_gpu(ours.GetNumberOfUploads() == 1, f"{ours.GetNumberOfUploads()} uploads, not 1")
    equal(ours.GetNumberOfBinds(), 1, "volumes read")
    on_gpu(ours.GetDeviceBytes() >= 4 * 96 ** 3, f"only {ours.GetDeviceBytes()} bytes on the GPU")
    array = data.GetPointData().GetArray("samples")
    vtk_to_numpy(array)[:] = waves(data.GetDimensions(), numpy.float32, seed=2).ravel()
    array.Modified()
    ours.Update()
    ours.SetRemoveDegenerateTriangles(1)
    sizes = []
    for step in range(10):
        same(mesh_of(ours), mesh_of(contour(data, CPU, (0.0,))), f"step {step}")
        sizes.append(ours.GetDeviceBytes())
        data.DeepCopy(volume(96, seed=step))
    on_gpu(0 < max(sizes) <= 1.2 * sizes[0], f"bytes on the GPU: {sizes}")
    on_gpu(ours.GetNumberOfUploads() == 11, f"{ours.GetNumberOfUploads()} uploads, not 11")


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
    """What is on the GPU goes when the filter is told so, or its array is deleted; the output stays."""
    data = volume(96)
    ours = contour(data, GPU, (3.0,), ComputeScalars=0)
    kept = vtkPolyData()
    kept.ShallowCopy(mesh_of(ours))
    reference = copies(kept)
    ours.ReleaseDeviceMemory()
    equal(ours.GetDeviceBytes(), 0, "bytes on the GPU after the release")
    same(kept, reference, "the output after the release")
    ours.SetValue(0, 5.0)
    same(mesh_of(ours), mesh_of(contour(data, CPU, (5.0,), ComputeScalars=0)), "after the release")
    on_gpu(ours.GetNumberOfUploads() == 2, f"{ours.GetNumberOfUploads()} uploads, not 2")
    before = ours.GetDeviceBytes()
    data.GetPointData().RemoveArray("samples")
    gc.collect()
    after = ours.GetDeviceBytes()
    on_gpu(after <= before - 4 * 96 ** 3, f"{before} bytes on the GPU with the array, {after} without")
    data.DeepCopy(volume(50))
    same(mesh_of(ours), mesh_of(contour(data, CPU, (5.0,), ComputeScalars=0)), "a new array")


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


TESTS = (uploads, shared_by_proxies, memory_limit, limit_across_filters, release, nothing_is_left,
         output_outlives_the_filter, many_isovalue_changes)
