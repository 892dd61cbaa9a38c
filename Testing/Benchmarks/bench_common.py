# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks share: options, fields, volumes, times. Import it before VTK, which reads the environment once."""
import argparse
import os
import time

os.environ.setdefault("VTK_SMP_BACKEND_IN_USE", "STDThread")  # otherwise Debian's VTK has one thread
ISOVALUES = {"cayley": -0.012, "gyroid": 0.1}


def parser_of(doc, command=None):
    return argparse.ArgumentParser(command, None, doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def cayley(x, y, z):
    return 1 - 16 * x * y * z - 4 * (x * x + y * y + z * z)


def gyroid(x, y, z, k):
    import numpy
    s, c = numpy.sin, numpy.cos
    return s(k * x) * c(k * y) + s(k * y) * c(k * z) + s(k * z) * c(k * x)


def image_of(samples, name="s"):
    """Image data with a copy of the samples, z first, in newly written memory."""
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData
    array, image = numpy_to_vtk(samples.reshape(-1), deep=True), vtkImageData()
    array.SetName(name)
    image.SetDimensions(*samples.shape[::-1])
    image.GetPointData().SetScalars(array)
    return image


def sampled(name, size):
    """float32 samples of a field on [-1,1]^3; the gyroid has a period of 64 samples."""
    import numpy
    axis = numpy.linspace(-1, 1, size, dtype=numpy.float32)
    samples, k = numpy.empty((size, size, size), numpy.float32), numpy.float32(numpy.pi * size / 32)
    for slice_of, z in zip(samples, axis):  # slice by slice: the temporaries stay in the cache
        place = axis[None, :], axis[:, None], z
        slice_of[...] = cayley(*place) if name == "cayley" else gyroid(*place, k)
    return samples


def volume(name, size):
    return image_of(sampled(name, size))


def milliseconds(call):
    begin = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begin)


def contour_of(kind, image, isovalue, device=None, threads=None):
    """A contour filter of a class, with normals and no scalars; device, threads: for this project's."""
    new = kind()
    new.SetInputData(image)
    new.ComputeNormalsOn()
    new.ComputeGradientsOff()
    new.ComputeScalarsOff()
    new.SetValue(0, isovalue)
    if device is not None:
        new.SetDevice(device)
        new.SetNumberOfThreads(threads)
    return new
