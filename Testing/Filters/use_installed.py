# SPDX-License-Identifier: BSD-3-Clause
"""Counts triangles with an installed plugin, or compares those of a file with vtkFlyingEdges3D's (IMAGE ISOVALUE FILE)."""
import sys

from plugin_testing import counts, equal, flying_edges, load_plugin, output, run, true
from paraview import simple

EXTENT = [-20, 20, -20, 20, -20, 20]


def plugin():
    load_plugin()
    proxy = simple.PMBContour(Input=simple.Wavelet(WholeExtent=EXTENT), ContourBy=["POINTS", "RTData"],
                              Isosurfaces=[157.0], RemoveDegenerateTriangles=0)
    expected = counts(flying_edges(output(simple.Wavelet(WholeExtent=EXTENT)), 157.0))
    equal(counts(output(proxy)), expected, "points and triangles")
    true("triangles" in proxy.LastRun, f"the last run is {proxy.LastRun!r}")


def surface():
    volume, isovalue, path = sys.argv[1:]
    written = output(simple.XMLPolyDataReader(FileName=[path]))
    expected = counts(flying_edges(output(simple.XMLImageDataReader(FileName=[volume])), float(isovalue)))
    equal(counts(written), expected, "points and triangles of the file")
    true(expected[1] > 0, "there is a surface")


run(surface if len(sys.argv) > 1 else plugin)
