#!/usr/bin/env pvpython
# SPDX-License-Identifier: BSD-3-Clause
"""The real volumes of the tests and benchmarks, as vtkImageData.

Usage as a script: pvpython Data/scans.py FOLDER   writes FOLDER/<name>.raw and scans.txt of those that are here, for
pmb_bench_papers

ch2 is in this folder. The others are read from the files of their Debian packages, as they are.
"""
import os
import plistlib
import struct
import sys
import tarfile

import numpy
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

HERE = os.path.dirname(os.path.abspath(__file__))
CRANIUM = "/usr/share/doc/invesalius-examples/examples/Cranium.inv3"
DENSITY = "/usr/lib/python3/dist-packages/gridData/tests/datafiles/1jzv.ccp4"


def make_image(samples, extent, spacing, origin, name):
    """A vtkImageData with flat samples (x fastest) as its active point scalars."""
    image = vtkImageData()
    image.SetExtent(*extent)
    image.SetSpacing(*spacing)
    image.SetOrigin(*origin)
    scalars = numpy_to_vtk(samples, deep=True)
    scalars.SetName(name)
    image.GetPointData().SetScalars(scalars)
    return image


def read_vti(path):
    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def read_ch2():
    """MRI of a head, uint8, 181 x 217 x 181."""
    return read_vti(os.path.join(HERE, "ch2.vti"))


def read_cranium(path=CRANIUM):
    """CT of a skull, int16, 256 x 256 x 108: a project file of InVesalius, a tar.gz with a property list."""
    with tarfile.open(path) as archive:
        members = {os.path.basename(member.name): member for member in archive.getmembers()}
        project = plistlib.load(archive.extractfile(members["main.plist"]))
        matrix = project["matrix"]
        content = archive.extractfile(members[matrix["filename"]]).read()
    samples = numpy.frombuffer(content, matrix["dtype"])
    nz, ny, nx = matrix["shape"]
    if samples.size != nx * ny * nz:
        raise RuntimeError(f"{path}: {samples.size} samples, not {nx} x {ny} x {nz}")
    return make_image(samples, (0, nx - 1, 0, ny - 1, 0, nz - 1), project["spacing"], (0, 0, 0), "CT")


def read_density(path=DENSITY):
    """Electron density of a crystal, float32, 96 x 76 x 70 with an extent that starts at -4, -23, 102: a CCP4 map
    with right angles. The axes stay in the file's order (its columns run along the cell's y)."""
    with open(path, "rb") as stream:
        content = stream.read()
    header = struct.unpack_from("<10i6f3i", content, 0)
    dims, mode, first, intervals = header[0:3], header[3], header[4:7], header[7:10]
    lengths, angles, order = header[10:13], header[13:16], header[16:19]
    extra = struct.unpack_from("<i", content, 92)[0]
    if content[208:212] != b"MAP " or mode != 2 or angles != (90.0, 90.0, 90.0):
        raise RuntimeError(f"{path}: not a float32 CCP4 map with right angles")
    samples = numpy.frombuffer(content, "<f4", dims[0] * dims[1] * dims[2], 1024 + extra)
    extent = [bound for low, count in zip(first, dims) for bound in (low, low + count - 1)]
    spacing = [lengths[axis - 1] / intervals[axis - 1] for axis in order]
    return make_image(samples, extent, spacing, (0, 0, 0), "density")


# name: (reader, file, Debian package, isovalue of the tests and benchmarks)
SCANS = {
    "ch2": (read_ch2, os.path.join(HERE, "ch2.vti"), None, 70.0),
    "cranium": (read_cranium, CRANIUM, "invesalius-examples", 300.0),
    "1jzv": (read_density, DENSITY, "python3-griddataformats", 1.5),
}


def main(arguments):
    if len(arguments) != 1:
        raise SystemExit("usage: pvpython Data/scans.py FOLDER")
    os.makedirs(arguments[0], exist_ok=True)
    kinds = {"uint8": "u8", "int16": "i16", "uint16": "u16", "float32": "f32"}
    with open(os.path.join(arguments[0], "scans.txt"), "w", encoding="utf-8") as stream:
        for name, (reader, path, package, isovalue) in SCANS.items():
            if not os.path.exists(path):
                print(f"{name}: not here; it comes with the Debian package {package}")
                continue
            image = reader()
            samples = vtk_to_numpy(image.GetPointData().GetScalars())
            samples.tofile(os.path.join(arguments[0], name + ".raw"))
            dims = " ".join(str(n) for n in image.GetDimensions())
            stream.write(f"{name} {dims} {kinds[samples.dtype.name]} {isovalue:g} {name}.raw\n")


if __name__ == "__main__":
    main(sys.argv[1:])
