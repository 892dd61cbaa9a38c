# SPDX-License-Identifier: BSD-3-Clause
"""Isosurface and PMB Volume in the scenes that users make, with the settings of a fresh home: beside the mesh of the same
surface and beside Volume, in the same view."""
import os
import tempfile

import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from plugin_testing import Messages, ball, equal, image, load_plugin, producer, run, true
from plugin_testing import pixels as png_pixels
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray

load_plugin()

SIZE = (220, 180)
DIMS, ISOVALUE = (30, 28, 26), 90.0
MIDDLE = (14.6, 13.7, 12.2)  # of the ball
GOLD, BLUE = [.8, .6, .2], [.2, .3, .9]


def pixels(view):
    simple.Render(view)
    array = vtkUnsignedCharArray()
    view.SMProxy.GetRenderWindow().GetPixelData(0, 0, SIZE[0] - 1, SIZE[1] - 1, 0, array, 0)
    return vtk_to_numpy(array).astype(int).reshape(SIZE[1], SIZE[0], 3)


def new_view(kind="RenderView"):
    view = simple.CreateView(kind)
    view.ViewSize, view.OrientationAxesVisibility = SIZE, 0
    view.UseColorPaletteForBackground, view.Background = 0, [.1, .2, .3]
    return view


def show(source, view, kind, color=GOLD):
    display = simple.Show(source, view)
    display.SetRepresentationType(kind)
    display.ColorArrayName = ["POINTS", ""]
    display.DiffuseColor = display.AmbientColor = color
    return display


def add_ball(view, center, radius=5, opacity=.4):
    sphere = simple.Sphere(Center=center, Radius=radius, ThetaResolution=60, PhiResolution=60)
    show(sphere, view, "Surface", BLUE).Opacity = opacity


class Scene:
    """A view with a ball in a box, drawn as a mesh or by rays."""

    def __init__(self, change=lambda _: None, kind="RenderView", shift=(0, 0, 0)):
        self.view = new_view(kind)
        source = producer(image({"s": ball(DIMS, numpy.float64)}, DIMS, origin=shift))
        contour = simple.PMBContour(Input=source, ContourBy=["POINTS", "s"], Isosurfaces=[ISOVALUE])
        self.box = show(producer(source.GetClientSideObject().GetOutputDataObject(0)), self.view, "Outline", [1, 1, 1])
        self.rays = show(source, self.view, "Isosurface")
        self.rays.IsosurfaceValues = [ISOVALUE]
        self.mesh = show(contour, self.view, "Surface")
        self.displays = (self.rays, self.mesh, self.box)
        change(self)
        simple.ResetCamera(self.view)
        camera = self.view.GetActiveCamera()
        camera.Azimuth(30)
        camera.Elevation(20)
        if self.view.StereoRender:  # before the plane that both eyes see at the same place
            camera.SetFocalPoint(numpy.multiply(camera.GetDirectionOfProjection(), 500) + camera.GetPosition())

    def set(self, **properties):
        for display in self.displays:
            for name, value in properties.items():
                setattr(display, name, value)

    def pictures(self, take=pixels):
        """By rays, and from the mesh. take: makes a picture of a view."""
        taken = []
        for on, off in ((self.rays, self.mesh), (self.mesh, self.rays)):
            on.Visibility, off.Visibility = 1, 0
            taken.append(take(self.view))
        return taken


def beside(ours, theirs, what, noise=2e-4):
    """Where the other picture is smooth, pixels differ by at most 2 of 255; elsewhere they are between those around.
    noise: a share of pixels that may do otherwise."""
    height, width = theirs.shape[:2]
    edged = numpy.pad(theirs, ((1, 1), (1, 1), (0, 0)), mode="edge")
    around = numpy.stack([edged[y:y + height, x:x + width] for y in range(3) for x in range(3)])
    low, high = around.min(axis=0), around.max(axis=0)
    smooth = (high - low).max(axis=2) <= 12
    apart = abs(ours - theirs).max(axis=2)[smooth] > 2
    most = abs(ours - theirs)[smooth].max()
    true(apart.mean() <= noise, f"{what}: {apart.sum()} of {smooth.sum()} smooth pixels differ, by {most}")
    outside = numpy.maximum(low - ours, ours - high).max(axis=2) > 2
    true(outside.mean() <= noise, f"{what}: {outside.sum()} pixels are not between those around")
    true((abs(theirs - theirs[0, 0]).max(axis=2) > 5).mean() > .08, f"{what}: the picture is empty")


def stereo(kind):
    def change(scene):
        scene.view.StereoRender, scene.view.StereoType = 1, kind
    return change


def views(**properties):
    def change(scene):
        for name, value in properties.items():
            setattr(scene.view, name, value)
    return change


def both(*changes):
    def change(scene):
        for each in changes:
            each(scene)
    return change


BEFORE = (20, 20, 30)
SAMPLES = both(views(UseFXAA=0), lambda scene: scene.view.SMProxy.GetRenderWindow().SetMultiSamples(4))
TRANSLUCENT = both(views(UseFXAA=0), lambda scene: scene.set(Opacity=.5))  # FXAA leaves volumes out
SCENES = {
    "alone": lambda _: None,
    "axes grid": lambda scene: setattr(scene.view.AxesGrid, "Visibility", 1),
    "data axes grid": lambda scene: setattr(scene.box.DataAxesGrid, "GridAxesVisibility", 1),
    "ball before": lambda scene: add_ball(scene.view, BEFORE),
    "ball through": lambda scene: add_ball(scene.view, MIDDLE, 10.5),
    "ball behind": lambda scene: add_ball(scene.view, (5, 5, -10)),
    "ball beside": lambda scene: add_ball(scene.view, (35, 14, 12)),
    "ball before, not peeled": both(views(DepthPeeling=0), lambda scene: add_ball(scene.view, BEFORE)),
    "ball through, volumes not peeled": both(views(DepthPeelingForVolumes=0),
                                             lambda scene: add_ball(scene.view, MIDDLE, 10.5)),
    "translucent": TRANSLUCENT,
    "translucent, axes grid": both(TRANSLUCENT, lambda scene: setattr(scene.view.AxesGrid, "Visibility", 1)),
    "translucent, ball before": both(TRANSLUCENT, lambda scene: add_ball(scene.view, BEFORE)),
    "translucent, ball through": both(TRANSLUCENT, lambda scene: add_ball(scene.view, MIDDLE, 10.5)),
    "without FXAA": views(UseFXAA=0),
    "parallel": views(CameraParallelProjection=1),
    "without light": views(UseLight=0),
    "several samples": SAMPLES,
    "several samples, opaque ball behind": both(SAMPLES, lambda scene: add_ball(scene.view, (8, 8, -3), 12, 1)),
    "scaled": lambda scene: scene.set(Scale=[1, 2, .5]),
    "scaled and turned": lambda scene: scene.set(Scale=[1, 2, .5], Orientation=[30, 40, 20]),
    **{name: stereo(name) for name in ("Left", "Right", "Red-Blue", "Anaglyph", "Checkerboard", "Interlaced")},
}


def test_scenes():
    failed = []
    for name, change in SCENES.items():
        simple.ResetSession()
        try:
            with Messages() as log:
                beside(*Scene(change).pictures(), name)
            equal(log.text(), "", f"{name}: messages")
        except AssertionError as error:
            failed.append(str(error))
    true(not failed, "; ".join(failed))


def test_passes():
    """Ambient occlusion and eye-dome lighting find opaque isosurfaces, and what touches them."""
    def add(scene):
        add_ball(scene.view, (20, 20, 18), 6, 1)
    found = psnr(*Scene(both(views(UseAmbientOcclusion=1), add)).pictures())
    true(found > 50, f"ambient occlusion: PSNR {found:.1f} dB")
    beside(*Scene(add, kind="RenderViewWithEDL").pictures(), "eye-dome lighting")


def test_screenshots():
    """In tiles, and with a transparent background."""
    scene = Scene()
    with tempfile.TemporaryDirectory() as folder:
        def save(view, **options):
            simple.SaveScreenshot(os.path.join(folder, "picture.png"), view, **options)
            return png_pixels(os.path.join(folder, "picture.png")).astype(int)
        for options in ({"ImageResolution": [900, 740]}, {"ImageResolution": [300, 250], "TransparentBackground": 1}):
            pictures = scene.pictures(lambda view, options=options: save(view, **options))
            equal(pictures[0].shape[1::-1], tuple(options["ImageResolution"]), "the size")
            beside(*pictures, f"a screenshot of {options}")


def test_far_from_origin():
    """As in map projections."""
    near, far = Scene(), Scene(shift=(5e5, 4.5e6, 0))
    beside(*far.pictures(), "far from the origin")
    apart = abs(near.pictures()[0] - far.pictures()[0]).max()
    true(apart <= 1, f"differs by {apart} from the picture at the origin")


def volume_with(add, kind, view_kind="RenderView", **settings):
    """A picture with other things in the view."""
    view = new_view(view_kind)
    display = simple.Show(simple.Wavelet(), view)
    simple.ColorBy(display, ("POINTS", "RTData"))
    display.SetRepresentationType(kind)
    display.SetScalarBarVisibility(view, False)
    for name, value in settings.items():
        setattr(display, name, value)
    add(view)
    simple.Render(view)  # the first one of a session moves the camera
    view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [40, 30, 50], [0, 0, 0], [0, 1, 0]
    return pixels(view)


def psnr(ours, theirs):
    return 10 * numpy.log10(255 ** 2 / max(((ours - theirs) ** 2).mean(), 1e-9))


def test_volumes():
    """PMB Volume draws what Volume draws, also between layers of translucent geometry."""
    def plane(view, depth):
        source = simple.Plane(Origin=[-12, -12, depth], Point1=[12, -12, depth], Point2=[-12, 12, depth])
        show(source, view, "Surface", BLUE).Opacity = .4

    scenes = {"alone": lambda _: None, "axes grid": lambda view: setattr(view.AxesGrid, "Visibility", 1),
              "plane before": lambda view: plane(view, 14), "plane through": lambda view: plane(view, 0),
              "plane behind": lambda view: plane(view, -14), "ball through": lambda view: add_ball(view, (0, 0, 0), 9),
              "opaque ball, plane": lambda view: (add_ball(view, (8, 8, 8), 4, 1), plane(view, 0))}
    failed = []
    scenes = {name: (add, {}, 43) for name, add in scenes.items()}
    scenes["shaded"] = (lambda _: None, {"Shade": 1}, 39)
    scenes["shaded, no light"] = (lambda view: setattr(view, "UseLight", 0), {"Shade": 1}, 43)
    for name, (add, settings, least) in scenes.items():
        found = psnr(*(volume_with(add, kind, **settings) for kind in ("PMB Volume", "Volume")))
        if found < least:
            failed.append(f"{name}: PSNR {found:.1f} dB")
    true(not failed, "; ".join(failed))


def test_volume_in_other_framebuffer():
    """Rays end at what the framebuffer of eye-dome lighting shows, as in a plain view. (VTK draws no volumes there.)"""
    def add(view):
        add_ball(view, (8, 8, 8), 4, 1)
    shaded, plain = (volume_with(add, "PMB Volume", kind) for kind in ("RenderViewWithEDL", "RenderView"))
    brighter, apart = ((each.max(axis=2) > 20).mean() for each in (shaded - plain, abs(shaded - plain)))
    true(brighter < .005, f"{brighter:.3f} of the pixels are brighter: the volume covers the ball")
    true(apart < .06, f"{apart:.3f} of the pixels differ, more than the ball's")


run(test_scenes, test_passes, test_screenshots, test_far_from_origin, test_volumes, test_volume_in_other_framebuffer)
