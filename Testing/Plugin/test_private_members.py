# SPDX-License-Identifier: BSD-3-Clause
"""What vtkPMBPrivateMembers.h reaches of VTK and ParaView, taken away one by one ($PMB_WITHOUT), as in a version that lacks
it: the feature is off, the picture of a surface and its bounds stay. (The panel: test_gui.py.)"""
import os
import subprocess
import sys

import numpy
from paraview import simple
from plugin_testing import equal, image, load_plugin, near, output, producer, run, true, window_pixels
from vtkmodules.vtkCommonCore import reference

SIZE = (200, 150)


def picture_of(view):
    simple.Render(view)
    return window_pixels(view.SMProxy.GetRenderWindow())


def draw():
    """The pictures of two surfaces, and what is on: also how many triangles the mapper takes past VTK's own."""
    z, y, x = numpy.mgrid[0:20, 0:20, 0:20].astype(numpy.float32)
    source = producer(image({"x": x, "bowl": (x - 9) ** 2 + (y - 9) ** 2 + (z - 9) ** 2}, (20, 20, 20)))
    view = simple.CreateView("RenderView")
    view.ViewSize, view.OrientationAxesVisibility, view.UseFXAA = SIZE, 0, 0
    surface = simple.PMBContour(Input=source, ContourBy=["POINTS", "bowl"], Isosurfaces=[30.0])
    shown = simple.Show(surface, view)
    simple.ResetCamera(view)
    pictures = [picture_of(view)]
    surface.Isosurfaces = [50.0]  # in the buffers of the mesh before
    pictures.append(picture_of(view))
    mesh = output(surface)
    mapper = shown.GetClientSideObject().GetActiveRepresentation().GetActor().GetMapper()
    direct = getattr(mapper, "GetNumberOfDirectTriangles", lambda: None)()  # VTK's own has none
    simple.Hide(surface, view)
    display = simple.Show(source, view)
    simple.ColorBy(display, ("POINTS", "x"))
    isovalues = None
    if "Isosurface" in display.GetProperty("Representation").GetAvailable():
        display.SetRepresentationType("Isosurface")
        display.ContourBy = "bowl"
        isovalues = display.SMProxy.GetProperty("IsosurfaceValues").GetDomain("scalar_range").GetMaximum(0, reference(0))
    simple.ResetSession()
    return {"pictures": pictures, "bounds": mesh.GetBounds(), "direct": direct, "isovalues": isovalues}


def test_each_can_be_missing():
    whole = draw()
    true(whole["direct"] > 0 and whole["isovalues"] > 200, f"all is there: {whole['direct']}, {whole['isovalues']}")
    for feature in ("point-bounds", "cell-bounds", "array-ranges", "vertex-buffers", "mapper", "domains"):
        os.environ["PMB_WITHOUT"] = feature
        what = draw()
        for ours, theirs in zip(what["pictures"], whole["pictures"]):
            true(abs(ours - theirs).max() <= 1, f"without {feature}: pixels differ by {abs(ours - theirs).max()}")
        for ours, theirs in zip(what["bounds"], whole["bounds"]):
            near(ours, theirs, 1e-5, f"without {feature}: a bound")
        equal(what["direct"], 0 if feature == "mapper" else whole["direct"], f"without {feature}: triangles")
        equal(what["isovalues"], 19 if feature == "domains" else whole["isovalues"], f"without {feature}: greatest isovalue")


def isosurface_is_missing():
    equal(draw()["isovalues"], None, "without definitions: greatest isovalue")


def test_definitions_can_be_missing():
    """In a process of its own: they change when the plugin is loaded."""
    child = subprocess.run(["pvpython", __file__, "without"], env={**os.environ, "PMB_WITHOUT": "definitions"},
                           capture_output=True, text=True, check=False)
    equal(child.returncode, 0, f"it said {child.stdout} {child.stderr}")


load_plugin()
import pmb.vtkPMBRendering  # noqa: E402, F401, makes the mapper's own methods known to Python
run(*([isosurface_is_missing] if sys.argv[1:] else [test_each_can_be_missing, test_definitions_can_be_missing]))
