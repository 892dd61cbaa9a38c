# SPDX-License-Identifier: BSD-3-Clause
"""A real scan, given by name: counts against vtkFlyingEdges3D, and a closed mesh.

Exits with 77, which ctest shows as skipped, where the Debian package with the scan is not installed.
"""
import os
import sys

from paraview import simple

from plugin_testing import SKIPPED, check_mesh, counts, equal, flying_edges, load_plugin, output, producer, run, true
import scans

NAME = sys.argv[1]
reader, path, package, isovalue = scans.SCANS[NAME]
if not os.path.exists(path):
    print(f"skipped: {path} is not here; it comes with the Debian package {package}")
    sys.exit(SKIPPED)
load_plugin()
scan = reader()
# The numbers of vtkFlyingEdges3D at this isovalue, so that a change of the input or of VTK shows, too.
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


# Where the surface of the head, the skin, the molecule begins, and the middle of the range lies beyond.
START = {"ch2": (0.0, 60.0), "cranium": (-900.0, -100.0), "1jzv": (1.0, 3.0)}[NAME]


def suggestion():
    array = scan.GetPointData().GetScalars()
    proxy = simple.PMBContour(Input=producer(scan), ContourBy=["POINTS", array.GetName()], UseSuggestedIsovalue=1)
    mesh = output(proxy)
    suggested = proxy.GetPropertyValue("SuggestedIsovalues")[0]
    true(START[0] < suggested < START[1] < sum(array.GetRange()) / 2, f"suggested: {suggested}")
    true(mesh.GetNumberOfPolys() > 1000, f"{mesh.GetNumberOfPolys()} triangles")


run(flying_edges_counts, without_degenerate_triangles, suggestion)
