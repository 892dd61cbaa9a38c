# SPDX-License-Identifier: BSD-3-Clause
"""A table of what users put in a view, from ParaView's defaults. The plugin's pictures are compared with VTK's own of the
same surface as a mesh, or of Volume.

usage: test_scenes.py [--all] [--gpu] [--ranks N] [--pictures FOLDER] [WORD...]
  --all       all rows; without it those named in QUICK
  --gpu       a GPU computes, and if its own OpenGL draws, nothing passes through the host
  --ranks     drawn by a pvserver of N ranks
  --pictures  writes both pictures of each row, and their difference
  WORD        only rows whose name contains one of the words
Prints for each row the pixels that differ too much inside and at rims, the greatest difference inside, and the PSNR. Needs
no data: a machine with a GPU runs it with the GPU's own OpenGL."""
import argparse
import os
import re
import tempfile

import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from plugin_testing import Messages, cloud, equal, image, load_plugin, pixels, run, skip_without_driver, true, window_pixels
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter, vtkXMLPolyDataWriter

SIZE = (320, 240)
NEAR, FAR = (0, 0, 0), (5e5, 4.5e6, 100)
TURN = numpy.array([[.8, -.6, 0], [.6, .8, 0], [0, 0, 1]]) @ [[1, 0, 0], [0, .96, -.28], [0, .28, .96]]  # a direction
# VTK 9.6 says so of an earlier view when a server has drawn many, also where VTK's own mapper draws (PMB_WITHOUT=mapper).
LEAKED = re.compile(r"Generic Warning: In vtkOpenGLState.cxx, line \d+\n(There are still active|Leaked for) texture.*\n+")
INSIDE = 2       # of 255: difference of a pixel inside
EDGE = 16        # of 255: an edge is where colors in 3 x 3 pixels differ by more; rims are within a pixel of one
# Of rays: how much of 255 may differ inside; in which share of what is drawn more, and how much there (creases, which
# triangles cut off); which share of the rims' pixels may be outside the range of the other picture's 3 x 3 pixels.
# Of meshes: no pixel.
LIMITS = {"inside": INSIDE, "share": .008, "most": 8, "rims": .003}
# In rows whose names contain the words.
LESS_EXACT = {
    "Isosurface, translucent": {"inside": 4, "rims": .02},  # two layers, each rounded; FXAA smooths translucent meshes alone
    "Isosurface, translucent: no light": {"rims": .05},
    "Isosurface, translucent: spots": {"rims": .04},  # the cone's edge, of two layers
    "Isosurface, translucent: stereo Red-Blue": {"most": 16, "rims": .03},  # rims of both eyes
    "Isosurface: no light": {"share": .01},  # colors in full, in the 256 steps of a mesh's table, at its corners
    "Anaglyph": {"inside": 6},  # a mixture of both eyes' colors, which multiplies differences
    "Grid": {"rims": .01},  # labels
    "several samples": {"rims": .012},  # at other places
    "Isosurface, translucent: several samples": {"rims": .05},  # VTK's peeling takes one
    "SSAO": {"inside": 10, "most": 10},  # its noise takes or leaves a sample by a tiny difference of depth
    "4k": {"inside": 4, "most": 16},  # steps of a ray at edges of colors
    "PMB Volume: from inside": {"inside": 3},  # a GPU interpolates the texture of Volume's samples by 256ths
    "PMB Volume: far": {"inside": 8},  # Volume's own picture differs by this from the one near the origin
    "PMB Volume, lit: spots": {"inside": 4},  # steps at edges of the cone
    "PMB Volume: translucent plane": {"rims": .01}, "PMB Volume: stereo Dresden": {"rims": .01},
    "PMB Volume: transparent background": {"rims": .03},
}


# --- subjects ----------------------------------------------------------------------------------------------------------

def write(folder, name, writer, data):
    path = os.path.join(folder, name)
    writer.SetFileName(path)
    writer.SetInputData(data)
    writer.Write()
    return [path]


def blob(folder, origin, how=""):
    """A smooth body with bulges: its "depth" below the surface, and its "height". The "core" is transparent at the image's
    faces, where VTK's gradients of volumes are halved."""
    z, y, x = numpy.mgrid[0:89, 0:89, 0:89].astype(numpy.float32) / 2 - 22
    depth = 14 + 2 * numpy.sin(x / 5) * numpy.cos(y / 6) + 2 * numpy.sin(z / 5) - numpy.sqrt(x * x + y * y + z * z)
    depth = depth[:, :, ::-1] if how == "mirrored" else depth
    arrays = {"depth": depth, "height": z, "core": numpy.maximum(depth, -6)}
    turn = TURN if how == "direction" else numpy.eye(3)
    data = image(arrays, (89,) * 3, origin - turn @ (22, 22, 22), (.5, .5, .5))
    data.SetDirectionMatrix(turn.ravel())
    return write(folder, f"blob{origin[0]}{how}.vti", vtkXMLImageDataWriter(), data)


def gyroid(folder, origin):
    """More triangles than vtkPMBPolyDataMapper draws without a look at which are visible."""
    s, c = (f(numpy.arange(84) * (20 * numpy.pi / 84)) for f in (numpy.sin, numpy.cos))
    depth = s[None, None, :] * c[None, :, None] + s[None, :, None] * c[:, None, None] + s[:, None, None] * c[None, None, :]
    height = numpy.broadcast_to(numpy.arange(84.)[:, None, None], (84,) * 3)
    data = image({"depth": depth.astype(numpy.float32) - .1, "height": height}, (84,) * 3, origin)
    return write(folder, f"gyroid{origin[0]}.vti", vtkXMLImageDataWriter(), data)


def drop(folder, origin):
    """Particles of a drop, with their "height"."""
    places = numpy.stack(numpy.mgrid[-7:8, -7:8, -7:8], axis=-1).reshape(-1, 3).astype(float)
    places = places[numpy.linalg.norm(places, axis=1) < 7]
    data = cloud(places + origin, height=places[:, 2].copy())
    return write(folder, f"drop{origin[0]}.vtp", vtkXMLPolyDataWriter(), data)


class Subject:
    """What the plugin draws, and what VTK draws of the same: a source, a representation, what colors it, its properties."""

    def __init__(self, name, folder, origin, how):
        self.translucent = "translucent" in name
        opacity, surface = {"Opacity": .5 if self.translucent else 1}, ("Surface", "height")
        if "Particle" in name:
            mesh = simple.PMBParticleSurface(Input=simple.XMLPolyDataReader(FileName=drop(folder, origin)))
        else:
            # VTK errs in mirrors: it lights meshes from behind and draws no volumes. What rays draw in one is compared with
            # mirrored data.
            of_theirs = "" if how == "mirrored" and "Contour" in name else how
            files = gyroid(folder, origin) if "many" in name else blob(folder, origin, of_theirs)
            self.source = simple.XMLImageDataReader(FileName=files)
            mesh = simple.PMBContour(Input=self.source, ContourBy=["POINTS", "depth"], Isosurfaces=[0],
                                     OutputPointsPrecision="Same as input" if origin == NEAR else "Double")
        # Triangulate makes a mesh without the filter's mark, which VTK's mapper draws.
        self.both = [(mesh, *surface, opacity), (simple.Triangulate(Input=mesh), *surface, opacity)]
        self.rays = "Isosurface" in name or "Volume" in name
        if self.rays:
            # a source has one display in a view
            source = simple.XMLImageDataReader(FileName=blob(folder, origin, "" if how == "mirrored" else how))
            array, shade = ("core", {"Shade": 1}) if "lit" in name else ("depth", {})
            values = {"ContourBy": ["POINTS", "depth"], "IsosurfaceValues": [0], **opacity}
            self.both[0] = (source, "Isosurface", "height", values) if "Isosurface" in name else (
                source, "PMB Volume", array, shade)
            self.both[1] = self.both[1] if "Isosurface" in name else (self.source, "Volume", array, shade)

    def show(self, view):
        shown = []
        for source, kind, color, properties in self.both:
            display = simple.Show(source, view)
            display.Visibility = 0
            simple.ColorBy(display, ("POINTS", color))
            # As before ParaView 6: steep colors double the differences of volumes, with each version.
            simple.GetColorTransferFunction(color).ApplyPreset("Cool to Warm", True)
            display.SetRepresentationType(kind)
            display.SetScalarBarVisibility(view, False)
            assign(display, **properties)
            shown.append(display)
        return shown


SUBJECTS = ("PMB Contour", "PMB Contour, many", "PMB Particle Surface", "Isosurface", "Isosurface, translucent",
            "PMB Volume", "PMB Volume, lit")


# --- scenes ------------------------------------------------------------------------------------------------------------

def assign(*proxies, **properties):
    for proxy in proxies:
        for name, value in properties.items():
            setattr(proxy, name, value)


def peeling(surfaces, volumes):
    assign(simple.GetSettingsProxy("RenderViewSettings"), DepthPeeling=surfaces, DepthPeelingForVolumes=volumes)


class Scene:
    """A view with both displays of a subject, one at a time."""
    remote = False
    twice = False  # VTK's own first picture of an axes grid, both eyes or another scale differs from its later ones

    def __init__(self, subject, kind="RenderView"):
        peeling(1, 1)
        self.subject, self.views, self.take = subject, [], self.read
        self.before = [lambda: None] * 2  # what to do before a picture of ours, of theirs
        self.add_view(kind)
        self.view, self.shown = self.views[0]
        camera = self.view.GetActiveCamera()
        self.middle = numpy.array(camera.GetFocalPoint())
        self.toward = numpy.array(camera.GetPosition()) - self.middle
        self.radius = numpy.linalg.norm(self.toward) * .25

    def add_view(self, kind="RenderView"):
        view = simple.CreateView(kind)
        # One background for all versions, so that one rule finds the rims; the row "defaults" has the version's own.
        assign(view, ViewSize=SIZE, UseColorPaletteForBackground=0, Background=[.32, .34, .43])
        if self.remote:
            view.RemoteRenderThreshold = 0
        shown = self.subject.show(view)
        shown[1].Visibility = 1
        simple.Render(view)
        simple.ResetCamera(view)
        view.GetActiveCamera().Azimuth(30)
        view.GetActiveCamera().Elevation(20)
        self.views.append((view, shown))

    def plane(self, place, opacity, size=1.2):
        """A plane of a size in radii across the picture's middle, so many radii before the subject's middle."""
        ahead = self.toward / numpy.linalg.norm(self.toward)
        side = numpy.cross([0, 1, 0], ahead) * self.radius * size
        up = numpy.cross(ahead, side) * .6
        corner = self.middle + ahead * place * self.radius - (side + up) / 2
        plane = simple.Plane(Origin=list(corner), Point1=list(corner + side), Point2=list(corner + up))
        assign(simple.Show(plane, self.view), ColorArrayName=[None, ''], Opacity=opacity, DiffuseColor=[.9, .4, .1])

    def light(self, place=(1, 0, 1), **properties):
        light = simple.AddLight(self.view)
        at = list(self.middle + self.toward * .6 + numpy.array(place) * self.radius)
        assign(light, Position=at, FocalPoint=list(self.middle), **properties)

    def read(self):
        for view, _ in self.views[::-1]:
            simple.Render(view)
        return window_pixels(self.view.SMProxy.GetRenderWindow()).astype(numpy.int16)

    def save(self, **options):
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            simple.SaveScreenshot(file.name, self.view, CompressionLevel="0", **{"ImageResolution": SIZE, **options})
            return pixels(file.name).astype(numpy.int16)

    def tiles(self):
        picture = self.view.SMProxy.CaptureWindow(3)
        width, height, _ = picture.GetDimensions()
        return vtk_to_numpy(picture.GetPointData().GetScalars()).astype(numpy.int16).reshape(height, width, 3)

    def pictures(self):
        both = []
        for which in (0, 1, 0, 1) if self.twice else (0, 1):
            for _, shown in self.views:
                assign(shown[1 - which], Visibility=0)
                assign(shown[which], Visibility=1)
            self.before[which]()
            both.append(self.take())
        return both[-2:]


def of_view(**properties):
    return lambda s: assign(s.view, **properties)


def peeled(surfaces, volumes):
    def change(s):
        peeling(surfaces, volumes)
        if s.subject.translucent:  # without peeling VTK draws the triangles of a mesh in any order
            s.before = [lambda: peeling(surfaces, volumes), lambda: peeling(1, 1)]
    return change


def taken(take):
    return lambda s: setattr(s, "take", lambda: take(s))


def sheared(s):
    """ParaView has no property for it: by the props."""
    matrix = vtkMatrix4x4()
    for row, column, value in ((0, 1, .4), (2, 1, .3)):
        matrix.SetElement(row, column, value)
    for display in s.shown:
        display.GetClientSideObject().GetActiveRepresentation().GetActor().SetUserMatrix(matrix)


def grid(view, which):
    """Around the same box: rays have the image's bounds, a mesh its own."""
    return lambda s: assign(*which(s), **{view: 1}, UseCustomBounds=1, CustomBounds=[-24, 24] * 3)


def with_outline(**properties):
    """The effects depend on the bounds of all that is shown."""
    def change(s):
        assign(s.view, **properties)
        if s.subject.rays:
            simple.Show(simple.Outline(Input=s.subject.source), s.view)
    return change


def several_samples(s):
    """4 of a pixel, as desktops have; FXAA would smooth rims again."""
    assign(s.view, UseFXAA=0)
    s.view.SMProxy.GetRenderWindow().SetMultiSamples(4)


def after_stereo(s):
    assign(s.view, StereoType="Red-Blue", StereoRender=1)
    s.take = lambda: (setattr(s.view, "StereoRender", 1), s.read(), setattr(s.view, "StereoRender", 0), s.save())[-1]


# Together brighter than 1 on a translucent surface, whose colors are limited after the opacity.
def spots(s):
    assign(s.view, UseLight=0)
    for place, cone in (((1, 0, 1), 8), ((-1, 1, 0), 14)):
        s.light(place, Type="Positional", ConeAngle=cone, Intensity=1 if s.subject.translucent else .5)


def lights(count):
    def change(s):
        for number in range(count):
            angle = 2.4 * number
            color = [.5 + .5 * numpy.cos(angle), .5, .5 + .5 * numpy.sin(angle)]
            s.light((3 * numpy.cos(angle), 3 * numpy.sin(angle), number % 3), DiffuseColor=color, Intensity=.5 / count)
    return change


SCENES = {
    "defaults": of_view(UseColorPaletteForBackground=1),
    "Axes Grid": grid("Visibility", lambda s: [s.view.AxesGrid]),
    "Data Axes Grid": grid("GridAxesVisibility", lambda s: [display.DataAxesGrid for display in s.shown]),
    "legend": lambda s: s.shown[1].SetScalarBarVisibility(s.view, True),
    "translucent plane before": lambda s: s.plane(1.2, .4),
    "translucent plane through": lambda s: s.plane(0, .4),
    "translucent plane behind": lambda s: s.plane(-1.2, .4),
    "opaque plane before": lambda s: s.plane(1.2, 1),
    "opaque plane through": lambda s: s.plane(0, 1),
    **{f"stereo {kind}": of_view(StereoType=kind, StereoRender=1) for kind in (
        "Left", "Right", "Red-Blue", "Interlaced", "Dresden", "Anaglyph", "Checkerboard", "SplitViewportHorizontal")},
    "stereo Left, parallel": of_view(StereoType="Left", StereoRender=1, CameraParallelProjection=1),
    "after stereo": after_stereo,
    "no light": of_view(UseLight=0),
    "no light kit, a light": lambda s: (assign(s.view, UseLight=0), s.light()),
    "spots": spots,
    "lights": lights(3),
    "lights, ten": lights(10),
    "SSAO": with_outline(UseAmbientOcclusion=1),
    "EDL": with_outline(),  # in a view of its own
    "ambient light": lambda s: assign(*s.shown, Ambient=.4, Diffuse=.5),
    "FXAA off": of_view(UseFXAA=0),
    "several samples": several_samples,
    "several samples, opaque plane behind": lambda s: (several_samples(s), s.plane(-1.2, 1, 2)),
    "peeling off": peeled(0, 0),
    "peeling not for volumes": peeled(1, 0),
    "peeling not for volumes, translucent plane before": lambda s: (peeling(1, 0), s.plane(1.2, .4)),
    "peeling not for volumes, translucent plane through": lambda s: (peeling(1, 0), s.plane(0, .4)),
    "parallel": of_view(CameraParallelProjection=1),
    "from inside": lambda s: s.view.GetActiveCamera().Dolly(4),
    "two views": lambda s: s.add_view(),
    "4k": taken(lambda s: s.save(ImageResolution=(3840, 2160))),
    "tiles": taken(Scene.tiles),
    "transparent background": taken(lambda s: s.save(TransparentBackground=1)),
    "scaled": lambda s: assign(*s.shown, Scale=[1, 1.6, .6], Orientation=[10, 20, 30]),
    "sheared": sheared,
    "direction": lambda s: None,  # data of its own
    "mirrored": lambda s: assign(*s.shown[:1 if s.subject.rays else 2], Scale=[-1, 1, 1]),
    "far": lambda s: None,  # data of its own
    "far, stereo Left": of_view(StereoType="Left", StereoRender=1),
}
QUICK = ("defaults", "Axes Grid", "translucent plane through", "stereo Right", "spots", "scaled", "SSAO",
         "several samples, opaque plane behind", "transparent background", "far")
QUICK_OF_MESHES = ("defaults", "stereo Checkerboard", "far")
LIGHTS = ("no light", "no light kit, a light", "spots", "lights", "lights, ten")
OF_LIT = ("defaults", "mirrored", "ambient light", *LIGHTS)  # under the others that turn it VTK lights volumes wrongly
NOT_COMPARED = {
    "PMB Contour, many: direction", "PMB Particle Surface: direction",  # they have none
    "PMB Volume: EDL",  # VTK's Volume calls OpenGL wrongly there and draws nothing
    # Volumes are drawn after translucent geometry then, and so are translucent isosurfaces.
    "Isosurface, translucent: peeling not for volumes, translucent plane before",
    "Isosurface, translucent: peeling not for volumes, translucent plane through",
    *(["PMB Volume: SSAO"] if simple.GetParaViewVersion() > (5, 11) else []),  # VTK's error: it wants light
}
SERVER = ("defaults", "Axes Grid", "translucent plane before", "stereo Left", "lights", "SSAO", "parallel", "tiles",
          "scaled")


# --- the comparison ----------------------------------------------------------------------------------------------------

def around(picture, extreme):
    """The extreme of the 3 x 3 pixels around each."""
    padded = numpy.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = extreme.reduce([padded[:-2], padded[1:-1], padded[2:]])
    return extreme.reduce([rows[:, :-2], rows[:, 1:-1], rows[:, 2:]])


def outside(picture, other):
    """How far each pixel is from the colors of the 3 x 3 pixels of another picture."""
    low, high = around(other, numpy.minimum), around(other, numpy.maximum)
    return numpy.maximum(low - picture, picture - high).max(axis=2)


def limits_of(row):
    if "Isosurface" not in row and "Volume" not in row:
        return {"inside": INSIDE, "share": 0, "most": INSIDE, "rims": 0}
    found = dict(LIMITS)
    for changes in (LESS_EXACT[words] for words in LESS_EXACT if words in row):
        found.update({name: max(found[name], limit) for name, limit in changes.items()})
    return found


def compare(ours, theirs, limits):
    """What the table says, and whether the row holds."""
    true(ours.shape == theirs.shape, f"sizes {ours.shape}, {theirs.shape}")
    contrast = [around(picture, numpy.maximum) - around(picture, numpy.minimum) for picture in (ours, theirs)]
    rims = around((numpy.maximum(*contrast).max(axis=2) > EDGE)[..., None], numpy.maximum)[..., 0]
    apart = abs(ours - theirs).max(axis=2)
    inside = apart[~rims]
    beyond = numpy.maximum(outside(ours, theirs), outside(theirs, ours))[rims]
    wrong, wrong_rims = (inside > limits["inside"]).sum(), (beyond > limits["inside"]).sum()
    error = (apart.astype(float) ** 2).mean()
    text = (f"{wrong:6d} of {len(inside):6d} inside, worst {inside.max(initial=0):3d}; {wrong_rims:5d} of {len(beyond):5d} "
            f"at rims; {10 * numpy.log10(255 ** 2 / error) if error else 99:5.1f} dB")
    drawn = (abs(theirs - theirs[0, 0]).max(axis=2) > INSIDE).sum()
    return text, (drawn > 1000 and wrong <= limits["share"] * drawn and inside.max(initial=0) <= limits["most"] and
                  wrong_rims <= limits["rims"] * len(beyond))


def write_pictures(folder, name, pictures):
    """Beside each other, with their difference."""
    both = [picture[:, :, :3] for picture in pictures]
    row = numpy.concatenate([*both, (abs(both[0] - both[1]) * 8).clip(0, 255)], axis=1).astype(numpy.uint8)
    write(folder, name.replace(" ", "_") + ".png", vtkPNGWriter(), image({"colors": row[None]}, (*row.shape[1::-1], 1)))


def rows(options):
    for name in SUBJECTS:
        quick = QUICK_OF_MESHES if "Isosurface" not in name and "Volume" not in name else QUICK
        for scene in SERVER if options.port else SCENES if options.all or options.words else quick:
            row = f"{name}: {scene}"
            # VTK lights the pieces of a volume, on ranks, in another way than the whole.
            lit = scene in OF_LIT and not options.port if "lit" in name else name != "PMB Volume" or scene not in LIGHTS
            if lit and row not in NOT_COMPARED and (not options.words or any(word in row for word in options.words)):
                yield row, name, scene


def check_on_gpu(scene):
    """After pictures from the plugin's defaults."""
    mapper = scene.shown[0].GetClientSideObject().GetActiveRepresentation().GetActor().GetMapper()
    if scene.subject.rays:
        true(mapper.GetLastDevice().startswith("GPU"), f"rays on {mapper.GetLastDevice()}")
    if "NVIDIA" in scene.view.GetRenderWindow().ReportCapabilities():
        true(mapper.GetStayedOnGPU() if scene.subject.rays else mapper.GetNumberOfTrianglesFromGPU(), "through the host")


def table(options):
    failed, subjects = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for row, name, scene in rows(options):
            key = name, FAR if "far" in scene else NEAR, scene if scene in ("mirrored", "direction") else ""
            if key not in subjects:
                subjects[key] = Subject(key[0], folder, *key[1:])
            made = Scene(subjects[key], "RenderViewWithEDL" if scene == "EDL" else "RenderView")
            made.twice = any(word in scene for word in ("Grid", "stereo", "scaled", "sheared", "mirrored"))
            text, holds, pictures = "", False, []
            try:
                with Messages() as log:
                    SCENES[scene](made)
                    pictures = made.pictures()
                if options.gpu and scene == "defaults" and "Particle" not in name:  # points in double precision
                    check_on_gpu(made)
                text, holds = compare(*pictures, limits_of(row))
                equal(LEAKED.sub("", log.text()), "", "messages")
            except Exception as error:  # one row must not hide the next
                text, holds = f"{type(error).__name__}: {error}", False
            print(f"{row:62} {text} {'' if holds else '  FAILED'}", flush=True)
            failed += [] if holds else [row]
            if pictures and options.pictures:
                write_pictures(options.pictures, row, pictures)
            for view, _ in made.views:
                simple.Delete(view)
    true(not failed, f"{len(failed)} of the rows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--port", type=int)  # of the server, for the client that --ranks starts
    parser.add_argument("--pictures")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if options.ranks:
        from server_testing import Server, finish, skip_without
        skip_without("pvserver", "mpirun")
        with Server(options.ranks if options.ranks > 1 else 0) as server:
            pictures = ["--pictures", options.pictures] if options.pictures else []
            print(finish(server, __file__, "--port", str(server.port()), *pictures, *options.words))
        return
    if options.port:
        simple.Connect("127.0.0.1", options.port)
        simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False)
        Scene.remote = True
    load_plugin(remote=Scene.remote)
    if options.gpu:
        skip_without_driver()
        import pmb.vtkPMBRendering  # noqa: F401, makes the mappers' own methods known to Python
    run(lambda: table(options))


main()
