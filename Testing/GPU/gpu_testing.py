# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the plugin's tests on a machine with a GPU: volumes, filters, and the arrays of a mesh.

--rehearse: the CPU replaces the GPU, and messages about the GPU are not checked. Without a driver: skipped."""
import ctypes
import os
import sys

import numpy
from pmb import vtkPMBContourFilter
from vtkmodules.util.numpy_support import vtk_to_numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "Plugin"))  # where it is not packed
from plugin_testing import SKIPPED, equal, image, true  # noqa: E402

REHEARSE = "--rehearse" in sys.argv
CPU = vtkPMBContourFilter.CPU
GPU = CPU if REHEARSE else vtkPMBContourFilter.GPU
PANEL_GPU = "CPU" if REHEARSE else "GPU (CUDA)"


def on_gpu(value, what):
    true(value or REHEARSE, what)


try:
    if not REHEARSE:
        ctypes.CDLL("libcuda.so.1")
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
    """All arrays of a mesh, as {name: numpy array} that share the mesh's memory."""
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


def volume(side=64, dtype=numpy.float32, seed=1):
    side = side // 4 if REHEARSE else side
    return image({"samples": waves((side, side, side), dtype, seed)}, (side, side, side))
