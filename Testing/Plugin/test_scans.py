# SPDX-License-Identifier: BSD-3-Clause
"""A real scan, given by name: counts against vtkFlyingEdges3D, and a closed mesh.

Without a name: the files in Data/ are those whose source and licence are written there. With "source": the scan in Data/
has the samples of the Debian package mricron-data; exits with 77 (skipped) where the package is not installed.
"""
import hashlib
import os
import sys

import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy

from plugin_testing import DATA, SKIPPED, check_mesh, counts, equal, flying_edges, load_plugin, output, producer, run, true
import make_ch2
import scans


def checksum():
    with open(os.path.join(DATA, "SHA256SUMS"), encoding="ascii") as stream:
        lines = [line.split() for line in stream.read().splitlines()]
    true(lines, "no checksums")
    for expected, name in lines:
        with open(os.path.join(DATA, name), "rb") as stream:
            content = stream.read()
        equal(hashlib.sha256(content).hexdigest(), expected, name)
        true(len(content) <= 5 << 20, f"{name} has {len(content)} bytes")


def samples_of_the_source():
    samples, dims, spacing, origin = make_ch2.read_nifti(make_ch2.SOURCE)
    scan = scans.read_ch2()
    equal(scan.GetDimensions(), tuple(dims), "dims")
    equal(scan.GetSpacing(), tuple(spacing), "spacing")
    equal(scan.GetOrigin(), tuple(origin), "origin")
    shipped = vtk_to_numpy(scan.GetPointData().GetScalars())
    true(numpy.array_equal(shipped, samples), "samples differ")


def skip_without(path, package):
    if not os.path.exists(path):
        print(f"skipped: {path} is not here; it comes with the Debian package {package}")
        sys.exit(SKIPPED)


if not sys.argv[1:]:
    run(checksum)
NAME = sys.argv[1]
if NAME == "source":
    skip_without(make_ch2.SOURCE, "mricron-data")
    run(samples_of_the_source)
reader, path, package, isovalue = scans.SCANS[NAME]
skip_without(path, package)
load_plugin()
scan = reader()
# The numbers of vtkFlyingEdges3D at this isovalue, to detect changes of the input and of VTK.
EXPECTED = {"ch2": (968853, 1932166), "cranium": (332154, 662406), "1jzv": (10641, 19262)}[NAME]


def contour(**options):
    array = scan.GetPointData().GetScalars().GetName()
    return output(simple.PMBContour(Input=producer(scan), ContourBy=["POINTS", array], Isosurfaces=[isovalue],
                                    **options))


def flying_edges_counts():
    reference = flying_edges(scan, isovalue)
    equal(counts(reference), EXPECTED, "points and triangles of the reference")
    mesh = contour(RemoveDegenerateTriangles=0)
    equal(counts(mesh), EXPECTED, "points and triangles")
    bounds = scan.GetBounds()
    check_mesh(mesh, bounds[0::2], bounds[1::2], strict=True)


def without_degenerate_triangles():
    mesh = contour(RemoveDegenerateTriangles=1)
    true(0.9 * EXPECTED[1] < mesh.GetNumberOfPolys() <= EXPECTED[1], f"{mesh.GetNumberOfPolys()} triangles")
    true(mesh.GetNumberOfPoints() <= EXPECTED[0], f"{mesh.GetNumberOfPoints()} points")
    bounds = scan.GetBounds()
    check_mesh(mesh, bounds[0::2], bounds[1::2], strict=False)


# Suggestions lie at the surface of the head, the skin or the molecule, below the middle of the range.
START = {"ch2": (0.0, 60.0), "cranium": (-900.0, -100.0), "1jzv": (1.0, 3.0)}[NAME]


def suggestion():
    array = scan.GetPointData().GetScalars()
    proxy = simple.PMBContour(Input=producer(scan), ContourBy=["POINTS", array.GetName()], UseSuggestedIsovalue=1)
    mesh = output(proxy)
    suggested = proxy.GetPropertyValue("SuggestedIsovalues")[0]
    true(START[0] < suggested < START[1] < sum(array.GetRange()) / 2, f"suggested: {suggested}")
    true(mesh.GetNumberOfPolys() > 1000, f"{mesh.GetNumberOfPolys()} triangles")


run(flying_edges_counts, without_degenerate_triangles, suggestion)
