#!/usr/bin/env pvpython
# SPDX-License-Identifier: BSD-3-Clause
"""Makes Data/ch2.vti from ch2.nii.gz of Debian's package mricron-data.

Usage: pvpython Data/make_ch2.py [ch2.nii.gz [ch2.vti]]

The samples are copied as they are (8 bit, unsigned). Spacing and origin come from the NIfTI header's sform, which
puts the scan into the Montreal Neurological Institute's space in millimetres: x to the right, y to the front, z up.
"""
import gzip
import os
import struct
import sys

from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter
import numpy

SOURCE = "/usr/share/mricron/templates/ch2.nii.gz"
UINT8 = 2  # NIfTI's code


def read_nifti(path):
    """The samples, flat with x fastest, and the dims, spacing and origin of a plain axis-aligned 8-bit NIfTI file."""
    with gzip.open(path) as stream:
        content = stream.read()
    if struct.unpack_from("<i", content, 0)[0] != 348 or content[344:347] != b"n+1":
        raise SystemExit(f"{path}: not a little-endian single-file NIfTI-1 volume")
    rank, *dims = struct.unpack_from("<4h", content, 40)
    datatype = struct.unpack_from("<h", content, 70)[0]
    slope, intercept = struct.unpack_from("<2f", content, 112)
    sform_code = struct.unpack_from("<h", content, 254)[0]
    sform = numpy.array(struct.unpack_from("<12f", content, 280)).reshape(3, 4)
    axes = sform[:, :3]
    if rank != 3 or datatype != UINT8 or (slope, intercept) not in ((1.0, 0.0), (0.0, 0.0)) or sform_code <= 0:
        raise SystemExit(f"{path}: not an unscaled 8-bit volume with an sform")
    if numpy.any(axes != numpy.diag(numpy.diag(axes))) or numpy.any(numpy.diag(axes) <= 0):
        raise SystemExit(f"{path}: the axes are turned or mirrored: {axes.tolist()}")
    offset = int(struct.unpack_from("<f", content, 108)[0])
    samples = numpy.frombuffer(content, numpy.uint8, dims[0] * dims[1] * dims[2], offset)
    return samples, dims, numpy.diag(axes), sform[:, 3]


def make_image(samples, dims, spacing, origin):
    """A vtkImageData with the samples as its active point scalars, named MRI."""
    image = vtkImageData()
    image.SetDimensions(*map(int, dims))
    image.SetSpacing(*map(float, spacing))
    image.SetOrigin(*map(float, origin))
    scalars = numpy_to_vtk(samples, deep=True)
    scalars.SetName("MRI")
    image.GetPointData().SetScalars(scalars)
    return image


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    source = arguments[0] if arguments else SOURCE
    target = arguments[1] if len(arguments) > 1 else os.path.join(here, "ch2.vti")
    writer = vtkXMLImageDataWriter()
    writer.SetInputData(make_image(*read_nifti(source)))
    writer.SetFileName(target)
    writer.SetDataModeToBinary()  # in place: appended data cannot be read by VTK 9.2 with newer versions of expat
    writer.SetCompressorTypeToZLib()
    writer.SetCompressionLevel(9)
    writer.SetBlockSize(1 << 20)
    if not writer.Write():
        raise SystemExit(f"{target}: cannot be written")
    print(f"{target}: {os.path.getsize(target)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
