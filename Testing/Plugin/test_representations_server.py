# SPDX-License-Identifier: BSD-3-Clause
"""Isosurface and PMB Volume drawn by a pvserver of one process, or of as many ranks as the argument says: the pictures are
those of the built-in server. Exits with 77 (skipped) without pvserver or mpirun."""
import os
import sys
import tempfile

import numpy
from paraview import servermanager, simple
from plugin_testing import Messages, equal, load_plugin, plugin_list, run, true, window_pixels
from server_testing import Server, finish, skip_without

SIZE = (220, 180)
# A name, the representation, its properties, and the share of pixels that may differ by more than 3 of 255 on ranks
SCENES = (("opaque", "Isosurface", {"IsosurfaceValues": [157]}, .001),
          ("translucent", "Isosurface", {"IsosurfaceValues": [100, 200], "IsosurfaceOpacities": [.3, .6]}, .001),
          ("box", "Isosurface", {"IsosurfaceValues": [157], "UseCropping": 1, "CroppingScale": [1, .5, 1]}, .001),
          ("volume", "PMB Volume", {}, .001),
          ("maximum", "PMB Volume", {"BlendMode": "Maximum Intensity"}, None))


def draw(threshold=0):
    """Pictures of the scenes with a ball in front, by name."""
    wavelet = simple.Elevation(Input=simple.Wavelet(WholeExtent=[-20, 20] * 3), LowPoint=[-20.0] * 3, HighPoint=[20.0] * 3)
    ball, pictures = simple.Sphere(Radius=6, Center=[15, 0, 10]), {}
    for name, kind, properties, _ in SCENES:
        view = simple.CreateView("RenderView")
        view.ViewSize, view.OrientationAxesVisibility, view.UseFXAA = SIZE, 0, 0
        view.UseColorPaletteForBackground, view.Background = 0, [.1, .2, .3]
        view.RemoteRenderThreshold = threshold
        display = simple.Show(wavelet, view)
        simple.ColorBy(display, ("POINTS", "Elevation" if name == "translucent" else "RTData"))
        display.ContourBy = "RTData"
        display.SetScalarBarVisibility(view, False)
        true(display.SetRepresentationType(kind), f"{kind} is not in the list")
        simple.Render(view)
        for what, value in properties.items():
            setattr(display, what, value)
        simple.Show(ball, view)
        simple.ResetCamera(view)
        view.GetActiveCamera().Azimuth(30)
        view.GetActiveCamera().Elevation(20)
        simple.Render(view)
        pictures[name] = window_pixels(view.SMProxy.GetRenderWindow())
        if name == "opaque":
            for what in ("SuggestedIsovalues", "IsovalueCurve"):
                display.SMProxy.UpdatePropertyInformation(display.SMProxy.GetProperty(what))
                pictures[what] = numpy.array(display.GetPropertyValue(what) or [])
            middle = [SIZE[0] // 2, SIZE[1] // 2]
            simple.SelectSurfacePoints(Rectangle=middle * 2, View=view)
            pictures["selected"] = numpy.array([bool(wavelet.SMProxy.GetSelectionInput(0))])
            simple.ClearSelection(wavelet)
        simple.Delete(view)
    return pictures


def client():
    """The client's steps: pictures drawn by the server and, if ParaView can, by the client."""
    ranks, folder, port = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    simple.Connect("127.0.0.1", port)
    true(servermanager.ActiveConnection.IsRemote(), "the connection is not remote")
    simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False)
    load_plugin(remote=True)
    expected = numpy.load(os.path.join(folder, "pictures.npz"))
    for threshold in (0, 1e6):
        pictures = draw(threshold)
        equal(bool(pictures["selected"][0]), ranks < 2, "a point of the isosurface was selected")
        for what in ("SuggestedIsovalues", "IsovalueCurve"):
            true(len(expected[what]) > 0, f"the built-in server's {what}")
            equal(list(pictures[what]), list(expected[what]) if ranks < 2 else [], what)
        for name, _, _, most in SCENES:
            ours = pictures[name]
            apart = abs(ours - expected[name]).max(axis=2)
            if ranks < 2:
                equal(apart.max(), 0, f"{name}, threshold {threshold}: greatest difference of a pixel")
            elif most is not None:
                share = (apart > 3).mean()
                true(share <= most, f"{name}, threshold {threshold}: {share:.4f} of the pixels differ")


def session():
    """The built-in server's pictures, then the client's."""
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    load_plugin()
    with tempfile.TemporaryDirectory() as folder:
        with Messages() as log:
            numpy.savez(os.path.join(folder, "pictures.npz"), **draw())
        equal(log.text(), "", "messages")
        with Server(ranks) as server:
            finish(server, __file__, "client", str(ranks), folder, str(server.port()))
            refused = "PMB Volume draws nothing, because the image is distributed over several ranks" in server.text()
            equal(refused, ranks > 1, f"the blend mode is refused; the server said {server.text()}")


def alone():
    """A client of which one side alone has the plugin: surfaces and images are drawn by ParaView's own classes."""
    if sys.argv[2] == "client":
        simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False)
    simple.Connect("127.0.0.1", int(sys.argv[3]))
    view = simple.CreateView("RenderView")
    for source in (simple.Sphere(), simple.Wavelet()):
        display = simple.Show(source, view)
        true(display.SetRepresentationType("Surface"), "Surface is not in the list")
        equal(display.SetRepresentationType("Isosurface"), False, "Isosurface is in the list")
        simple.Render(view)


def one_sided():
    """A process that lacks the plugin's classes would end when it is to create one."""
    with tempfile.TemporaryDirectory() as folder:
        for side, plugins in (("client", ""), ("server", plugin_list(folder))):
            with Server(plugins=plugins) as server:
                finish(server, __file__, "alone", side, str(server.port()))


skip_without("pvserver", *(["mpirun"] if len(sys.argv) == 2 else []))
if len(sys.argv) > 2:
    run({"client": client, "alone": alone}[sys.argv[1]])
run(session, *([] if len(sys.argv) > 1 else [one_sided]))
