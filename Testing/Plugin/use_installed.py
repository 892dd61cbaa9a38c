# SPDX-License-Identifier: BSD-3-Clause
"""Uses an installed plugin ("plugin") or the installed Python module ("module") and counts triangles; or compares those
of a file with vtkFlyingEdges3D's ("surface" IMAGE ISOVALUE FILE)."""
import sys

from plugin_testing import counts, equal, flying_edges, load_plugin, output, run, true
from paraview import simple

EXTENT = [-20, 20, -20, 20, -20, 20]


def wavelet():
    return output(simple.Wavelet(WholeExtent=EXTENT))


def plugin():
    load_plugin()
    proxy = simple.PMBContour(Input=simple.Wavelet(WholeExtent=EXTENT), ContourBy=["POINTS", "RTData"],
                              Isosurfaces=[157.0], RemoveDegenerateTriangles=0)
    equal(counts(output(proxy)), counts(flying_edges(wavelet(), 157.0)), "points and triangles")
    true("triangles" in proxy.LastRun, f"the last run is {proxy.LastRun!r}")


def module():
    from pmb import vtkPMBContourFilter
    contour = vtkPMBContourFilter()
    contour.SetInputData(wavelet())
    contour.SetValue(0, 157.0)
    contour.RemoveDegenerateTrianglesOff()
    contour.Update()
    equal(counts(contour.GetOutput()), counts(flying_edges(wavelet(), 157.0)), "points and triangles")


def surface():
    volume, isovalue, path = sys.argv[2:5]
    written = output(simple.XMLPolyDataReader(FileName=[path]))
    expected = counts(flying_edges(output(simple.XMLImageDataReader(FileName=[volume])), float(isovalue)))
    equal(counts(written), expected, "points and triangles of the file")
    true(expected[1] > 0, "there is a surface")


run({"plugin": plugin, "module": module, "surface": surface}[sys.argv[1]])
