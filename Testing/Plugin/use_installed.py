# SPDX-License-Identifier: BSD-3-Clause
"""Uses an installed plugin ("plugin") or the installed Python module ("module") and counts triangles."""
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


run({"plugin": plugin, "module": module}[sys.argv[1]])
