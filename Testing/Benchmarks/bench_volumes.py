# SPDX-License-Identifier: BSD-3-Clause
"""The volumes of bench_picture.py and bench_rays.py: float32 on [-1, 1]^3, the gyroid with a period of 64 samples."""
import numpy
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData

ISOVALUES = {"cayley": -0.012, "gyroid": 0.1}


def cayley(x, y, z):
    return 1 - 16 * x * y * z - 4 * (x * x + y * y + z * z)


def gyroid(x, y, z, size):
    k = numpy.float32(numpy.pi * size / 32)
    s, c = numpy.sin, numpy.cos
    return s(k * x) * c(k * y) + s(k * y) * c(k * z) + s(k * z) * c(k * x)


def volume(name, size):
    """Image data of size samples a side, with the array s."""
    axis = numpy.linspace(-1, 1, size, dtype=numpy.float32)
    samples = numpy.empty((size, size, size), numpy.float32)
    y, x = axis[:, None], axis[None, :]
    for k, z in enumerate(axis):
        samples[k] = cayley(x, y, z) if name == "cayley" else gyroid(x, y, z, size)
    array = numpy_to_vtk(samples.reshape(-1), deep=True)
    array.SetName("s")
    image = vtkImageData()
    image.SetDimensions(size, size, size)
    image.GetPointData().SetScalars(array)
    return image
