# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of vtkPMBVolumeMapper beside those of VTK's own volume mapper: blend modes, matrices, croppings, colors, and what
it leaves to VTK; a picture that is stopped, windows that end, odd input. (Several windows and viewports: test_scenes.py.)"""
import time

import numpy
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from plugin_testing import Messages, add_array, equal, image, load_plugin, psnr, run, share_shown, true, window_pixels
from vtkmodules.vtkCommonCore import VTK_DOUBLE, vtkSOADataArrayTemplate
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPiecewiseFunction, vtkPlane
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkRenderingCore import (vtkColorTransferFunction, vtkLight, vtkRenderer, vtkRenderWindow, vtkVolume,
                                         vtkVolumeProperty)
from vtkmodules.vtkRenderingVolume import vtkVolumeMapper
from vtkmodules.vtkRenderingVolumeOpenGL2 import vtkOpenGLGPUVolumeRayCastMapper

load_plugin()
from pmb.vtkPMBRendering import vtkPMBVolumeMapper  # noqa: E402

SIZE = (200, 160)
ISOVALUE = 0.1


def gyroid(dims=(40, 36, 32), spacing=(1, 1, 1), dtype=numpy.float32):
    z, y, x = numpy.ogrid[0:dims[2], 0:dims[1], 0:dims[0]]
    x, y, z = (2 * numpy.pi / 24 * each for each in (x, y, z))
    values = numpy.sin(x) * numpy.cos(y) + numpy.sin(y) * numpy.cos(z) + numpy.sin(z) * numpy.cos(x)
    if dtype == numpy.uint8:
        values = values * 60 + 100
    return image({"s": values.astype(dtype)}, dims, (-3, 5, 20), spacing)


def property_of(isovalue, scale=1, shade=True, opacities=None):
    """opacities: of values below -1, and above 1."""
    made = vtkVolumeProperty()
    colors, opacity = vtkColorTransferFunction(), vtkPiecewiseFunction()
    for value, color in ((-1.5, (0, 0, 1)), (0, (.2, .8, .1)), (1.5, (1, .5, 0))):
        colors.AddRGBPoint(value * scale, *color)
    low, high = opacities or ((0, .1) if isovalue is None else (1, 1))
    opacity.AddPoint(-scale, low)
    opacity.AddPoint(scale, high)
    made.SetColor(colors)
    made.SetScalarOpacity(opacity)
    made.SetInterpolationTypeToLinear()
    made.SetShade(shade)
    if isovalue is not None:
        made.GetIsoSurfaceValues().SetValue(0, isovalue)
    return made


class Scene:
    def __init__(self, *props):
        self.window, self.renderer = vtkRenderWindow(), vtkRenderer()
        self.window.SetOffScreenRendering(1)
        self.window.SetSize(*SIZE)
        self.window.SetMultiSamples(0)
        self.window.AddRenderer(self.renderer)
        self.renderer.SetBackground(.1, .2, .3)
        for prop in props:
            self.renderer.AddViewProp(prop)
        self.renderer.ResetCamera()
        self.camera = self.renderer.GetActiveCamera()
        self.camera.Azimuth(28)
        self.camera.Elevation(17)
        self.renderer.ResetCameraClippingRange()

    def pixels(self):
        self.window.Render()
        return window_pixels(self.window)


def volume_of(mapper, image, mode, properties, matrix=None):
    mapper.SetInputData(image)
    mapper.SetBlendMode(mode)
    mapper.SetSampleDistance(.5)
    if hasattr(mapper, "SetAutoAdjustSampleDistances"):
        mapper.SetAutoAdjustSampleDistances(0)
        mapper.SetUseJittering(0)
    volume = vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(properties)
    if matrix:
        volume.SetScale(1, 2, .7)
        volume.RotateZ(30)
        volume.SetPosition(5, -8, 2)
    return volume


def compare(what, mode, least=40, step=.5, **given):
    """PSNR against VTK's mapper with steps of this length, ours are .5, and that the picture is not the background alone."""
    scale, opacities, gradients = given.pop("scale", 1), given.pop("opacities", None), given.pop("gradients", None)
    image, matrix, shade = given.pop("image", None) or gyroid(), given.pop("matrix", None), given.pop("shade", False)
    unit, pictures = given.pop("unit", 1), []
    for mapper in (vtkPMBVolumeMapper(), vtkOpenGLGPUVolumeRayCastMapper()):
        for name, value in given.items():
            (getattr(mapper, name))(value)
        look = property_of(None, scale, shade, opacities)
        look.SetScalarOpacityUnitDistance(unit)
        if gradients:
            look.SetGradientOpacity(gradients)
        scene = Scene(volume_of(mapper, image, mode, look, matrix))
        if not hasattr(mapper, "GetLastDevice"):
            mapper.SetSampleDistance(step)
        pictures.append(scene.pixels())
        if hasattr(mapper, "GetLastDevice"):
            true(mapper.GetLastDevice(), f"{what}: VTK drew it")
    found = psnr(*pictures)
    true(found >= least, f"{what}: PSNR {found:.1f} dB")
    shown = share_shown(pictures[0], 5)
    true(shown > .1, f"{what}: {shown:.2f} of the pixels show something")


def test_blend_modes():
    compare("composite", vtkVolumeMapper.COMPOSITE_BLEND)
    compare("composite, VTK in short steps", vtkVolumeMapper.COMPOSITE_BLEND, step=.05, least=60)
    compare("opaque at once, VTK in short steps", vtkVolumeMapper.COMPOSITE_BLEND, unit=0, step=.05, least=38)
    compare("maximum", vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND, opacities=(.1, .8), least=35)
    compare("minimum", vtkVolumeMapper.MINIMUM_INTENSITY_BLEND, opacities=(.8, .1), least=35)
    compare("shaded", vtkVolumeMapper.COMPOSITE_BLEND, shade=True, least=36)
    compare("moved", vtkVolumeMapper.COMPOSITE_BLEND, matrix=True)
    compare("spacing", vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND, image=gyroid(spacing=(1, .6, 2)))
    compare("bytes", vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND, image=gyroid(dtype=numpy.uint8), scale=150)


def test_pre_integration():
    """A narrow peak of the opacity: with long steps the picture is near that of short ones."""
    peak = vtkPiecewiseFunction()
    for value, opacity in ((-2, 0), (.08, 0), (.1, .9), (.12, 0), (2, 0)):
        peak.AddPoint(value, opacity)
    look, mapper = property_of(None), vtkPMBVolumeMapper()
    look.SetScalarOpacity(peak)
    equal(mapper.GetUsePreIntegration(), 0, "the default")
    scene = Scene(volume_of(mapper, gyroid(), vtkVolumeMapper.COMPOSITE_BLEND, look))
    mapper.SetSampleDistance(1 / 32)
    wanted = scene.pixels()
    mapper.SetSampleDistance(1)
    plain = psnr(scene.pixels(), wanted)
    mapper.UsePreIntegrationOn()
    found = psnr(scene.pixels(), wanted)
    true(mapper.GetLastDevice(), "VTK drew it")
    true(found > plain + 12, f"PSNR {found:.1f} dB pre-integrated, {plain:.1f} dB without")


def test_one_component():
    """The one independent component of weight 1, with its own functions, as VTK draws it. The rest is VTK's, told once."""
    image, other = gyroid(), gyroid()
    values = vtk_to_numpy(image.GetPointData().GetScalars())
    both = numpy.stack([values[::-1] * 3, values], axis=1).copy()
    other.GetPointData().SetScalars(numpy_to_vtk(both, deep=True))
    shown, look = property_of(None, shade=True), property_of(None, scale=.2, opacities=(.9, .9))
    look.SetColor(1, shown.GetRGBTransferFunction())
    look.SetScalarOpacity(1, shown.GetScalarOpacity())
    look.SetShade(1, 1)
    for mode in (vtkVolumeMapper.COMPOSITE_BLEND, vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND):
        mapper = vtkPMBVolumeMapper()
        expected = Scene(volume_of(mapper, image, mode, shown)).pixels()
        look.SetComponentWeight(0, 0)
        look.SetComponentWeight(1, 1)
        scene = Scene(volume_of(mapper, other, mode, look))
        if mode == vtkVolumeMapper.COMPOSITE_BLEND:
            vtks = Scene(volume_of(vtkOpenGLGPUVolumeRayCastMapper(), other, mode, look)).pixels()
            true(psnr(vtks, expected) > 36, f"PSNR {psnr(vtks, expected):.1f} dB beside VTK's")
        with Messages() as log:
            true(abs(scene.pixels() - expected).max() <= 1, f"mode {mode}: another picture than of the component alone")
            true(mapper.GetLastDevice(), f"mode {mode}: VTK drew it")
            equal(log.text(), "", "messages")
            for weight in (.5, 1):
                look.SetComponentWeight(0, weight)
                scene.pixels()
                equal(mapper.GetLastDevice(), "", f"weights {weight} and 1")
            look.SetComponentWeight(0, 0)
            look.IndependentComponentsOff()
            scene.pixels()
            equal(mapper.GetLastDevice(), "", "dependent components")
            look.IndependentComponentsOn()
        equal(log.text().count("the array has several components"), 1, f"warnings in {log.text()}")


def test_gradient_opacity():
    steep = vtkPiecewiseFunction()
    for gradient, factor in ((0, 0), (.1, 0), (.3, 1)):
        steep.AddPoint(gradient, factor)
    for shade, spacing in ((False, (1, 1, 1)), (True, (1, 1, 1)), (False, (1, .6, 2))):
        compare(f"gradient opacity, shade {shade}, {spacing}", vtkVolumeMapper.COMPOSITE_BLEND, gradients=steep, shade=shade,
                image=gyroid(spacing=spacing))


def test_cut():
    box, plane = (5, 25, 8, 30, 22, 48), vtkPlane()
    plane.SetOrigin(16, 20, 36)
    plane.SetNormal(1, .5, .3)
    compare("cropped", vtkVolumeMapper.COMPOSITE_BLEND, SetCropping=1, SetCroppingRegionPlanes=box, least=34)
    compare("clipped", vtkVolumeMapper.COMPOSITE_BLEND, AddClippingPlane=plane, least=34)


def test_many_lights():
    """The first 16 lights, and one warning. (Fewer lights, of all kinds: test_scenes.py.)"""
    mapper, pictures = vtkPMBVolumeMapper(), []
    volume = volume_of(mapper, gyroid(), vtkVolumeMapper.ISOSURFACE_BLEND, property_of(ISOVALUE))
    with Messages() as log:
        for count in (16, 18, 18):
            scene = Scene(volume)
            scene.renderer.AutomaticLightCreationOff()
            for _ in range(count):
                light = vtkLight()
                light.SetPosition(1, 2, 3)
                light.SetIntensity(.05)
                scene.renderer.AddLight(light)
            pictures.append(scene.pixels())
            true(abs(pictures[-1] - pictures[0]).max() <= 1, f"another picture with {count} lights")
    true(share_shown(pictures[0], 5) > .1, "nothing is lit")
    equal(log.text().count("The first 16 lights of 18 light this volume. Switch off others."), 1, log.text())


def colored_picture(image, name, look):
    """The scene of isosurfaces without light, and its mapper."""
    mapper = vtkPMBVolumeMapper()
    mapper.SetColorArrayName(name)
    return Scene(volume_of(mapper, image, vtkVolumeMapper.ISOSURFACE_BLEND, look)), mapper


def test_colored_by_another_array():
    """An array in pieces of memory colors as one in one piece does, also after a change. (As meshes: test_scenes.py.)"""
    image, look = gyroid(), property_of(ISOVALUE, shade=False)
    ramp, apart = numpy.tile(numpy.linspace(-1.4, 1.4, 40), 36 * 32), vtkSOADataArrayTemplate["float64"]()
    apart.SetName("apart")
    apart.SetNumberOfTuples(len(ramp))
    image.GetPointData().AddArray(apart)
    ramp = add_array(image.GetPointData(), "ramp", ramp)
    scenes, pictures = [colored_picture(image, name, look)[0] for name in ("ramp", "apart")], []
    for sign in (1, -1):
        for i in range(apart.GetNumberOfTuples()):
            ramp.SetValue(i, sign * ramp.GetValue(i))
            apart.SetValue(i, ramp.GetValue(i))
        for changed in (ramp, apart, image):
            changed.Modified()
        pictures += [scene.pixels() for scene in scenes]
        true(abs(pictures[-1] - pictures[-2]).max() <= 1, f"change {sign}: another picture of the array in pieces")
    true(abs(pictures[0] - pictures[2]).max() > 50, "the picture did not change")


def test_bad_colors():
    """Isovalues have the colors, and one warning says why."""
    image, look = gyroid(), property_of(ISOVALUE, shade=False)
    count = image.GetNumberOfPoints()
    add_array(image.GetPointData(), "vectors", numpy.zeros((count, 3)))
    add_array(image.GetPointData(), "short", numpy.zeros(count - 1))
    expected = colored_picture(image, None, look)[0].pixels()
    for name, why in (("none", "there is no numeric point array 'none' to color by"),
                      ("vectors", "the array 'vectors' to color by has 3 components; use one of them"),
                      ("short", f"the array 'short' to color by has {count - 1} values for {count} samples")):
        scene, mapper = colored_picture(image, name, look)
        with Messages() as log:
            for _ in range(2):
                found = scene.pixels()
        equal(log.text().count(why), 1, f"warnings that {why}")
        true(mapper.GetLastDevice(), f"{name}: VTK drew it")
        true(abs(found - expected).max() <= 1, f"{name}: the picture differs from that of the isovalues' colors")
    add_array(image.GetPointData(), "nan", numpy.full(count, numpy.nan))
    with Messages() as log:
        found = colored_picture(image, "nan", look)[0].pixels()
    equal(log.text(), "", "messages of an array that is not finite")
    shown = abs(expected.astype(int) - expected[0, 0]).max(axis=2) > 1
    true(abs(found[shown] - numpy.array([127.5, 0, 0])).max() <= 1, "not finite: not all in the color of NaN")


def test_left_to_vtk():
    """One warning each, and VTK's picture."""
    nearest, gradient = property_of(None), property_of(ISOVALUE)
    nearest.SetInterpolationTypeToNearest()
    opacity = vtkPiecewiseFunction()
    opacity.AddPoint(0, 0)
    opacity.AddPoint(1, 1)
    gradient.SetGradientOpacity(opacity)
    for what, made, mode in (("interpolation", nearest, vtkVolumeMapper.COMPOSITE_BLEND),
                             ("gradient", gradient, vtkVolumeMapper.ISOSURFACE_BLEND),
                             ("blend mode", property_of(None), vtkVolumeMapper.ADDITIVE_BLEND)):
        mapper = vtkPMBVolumeMapper()
        with Messages() as log:
            scene = Scene(volume_of(mapper, gyroid(), mode, made))
            scene.pixels()
            shown = scene.pixels()
        equal(log.text().count("vtkSmartVolumeMapper draws"), 1, f"{what}: warnings in {log.text()}")
        equal(mapper.GetLastDevice(), "", what)
        true(share_shown(shown, 5) > .1, f"{what}: the picture is empty")


def test_ranges():
    """Values of any size give the picture of the same values around 1, without a message."""
    for mode in (vtkVolumeMapper.COMPOSITE_BLEND, vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND, vtkVolumeMapper.ISOSURFACE_BLEND):
        for dtype, powers in ((numpy.float32, (0, -123, 127)), (numpy.float64, (0, -1000, 1022))):
            for power in powers:
                scale, image, gradients = 2. ** power, gyroid(dtype=dtype), vtkPiecewiseFunction()
                values = vtk_to_numpy(image.GetPointData().GetScalars())
                values *= dtype(scale)
                look = property_of(ISOVALUE * scale if mode == vtkVolumeMapper.ISOSURFACE_BLEND else None, scale)
                if mode == vtkVolumeMapper.COMPOSITE_BLEND and dtype == numpy.float64:
                    gradients.AddPoint(0, 0)
                    gradients.AddPoint(.3 * scale, 1)
                    look.SetGradientOpacity(gradients)
                mapper = vtkPMBVolumeMapper()
                with Messages() as log:
                    shown = Scene(volume_of(mapper, image, mode, look)).pixels()
                equal(log.text(), "", f"mode {mode}, {dtype.__name__}, 2 to the {power}: messages")
                true(mapper.GetLastDevice(), f"mode {mode}, {dtype.__name__}, 2 to the {power}: VTK drew it")
                expected = shown if power == 0 else expected
                apart = abs(shown - expected).max()
                true(apart <= 2, f"mode {mode}, {dtype.__name__}, 2 to the {power}: differs by {apart}")


def test_places():
    """Direction matrix, negative spacing and extents not at 0: the picture of the plain image that a matrix moves there."""
    cosine, sine = numpy.cos(.5), numpy.sin(.5)
    mirror = (-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
    places = (("direction", {"SetDirectionMatrix": (cosine, -sine, 0, sine, cosine, 0, 0, 0, 1)},
               (cosine, -sine, 0, 0, sine, cosine, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)),
              ("mirrored", {"SetDirectionMatrix": (-1, 0, 0, 0, 1, 0, 0, 0, 1)}, mirror),
              ("spacing", {"SetSpacing": (-1, 1, 1)}, mirror),
              ("extent", {"SetOrigin": (1, 2, 3), "SetExtent": (-7, 32, 100, 135, 4, 35)},
               (1, 0, 0, -6, 0, 1, 0, 102, 0, 0, 1, 7, 0, 0, 0, 1)))
    for what, settings, elements in places:
        for mode in (vtkVolumeMapper.COMPOSITE_BLEND, vtkVolumeMapper.ISOSURFACE_BLEND,
                     vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND):
            pictures, matrix = [], vtkMatrix4x4()
            matrix.DeepCopy(elements)
            for is_placed in (True, False):
                image = gyroid()
                image.SetOrigin(0, 0, 0)
                for name, value in settings.items() if is_placed else ():
                    getattr(image, name)(*value)
                look = property_of(ISOVALUE if mode == vtkVolumeMapper.ISOSURFACE_BLEND else None)
                volume = volume_of(vtkPMBVolumeMapper(), image, mode, look)
                if not is_placed:
                    volume.SetUserMatrix(matrix)
                pictures.append(Scene(volume).pixels())
            true(abs(pictures[0] - pictures[1]).max() <= 1, f"{what}, mode {mode}: another picture")
            shown = share_shown(pictures[0], 5)
            true(shown > .1, f"{what}, mode {mode}: {shown:.2f} of the pixels show something")


def test_bad_settings():
    """Cameras and functions that no picture can be made of: an error that says what, and the picture again after them."""
    def spoil(scene, look):
        camera, opacity, colors = scene.camera, look.GetScalarOpacity(), look.GetRGBTransferFunction()
        position, normal = camera.GetPosition(), camera.GetViewUp()
        yield "view angle", lambda: camera.SetPosition(camera.GetFocalPoint()), lambda: camera.SetPosition(position)
        yield "view angle", lambda: camera.SetViewUp(camera.GetDirectionOfProjection()), lambda: camera.SetViewUp(normal)
        yield "view angle", lambda: camera.SetClippingRange(5, 5), scene.renderer.ResetCameraClippingRange
        yield "not finite", lambda: camera.SetPosition(numpy.nan, 0, 0), lambda: camera.SetPosition(position)
        yield "0 to 1", lambda: opacity.AddPoint(.1, numpy.nan), lambda: opacity.RemovePoint(.1)
        yield "0 to 1", lambda: colors.AddRGBPoint(.1, numpy.nan, 0, 0), lambda: colors.RemovePoint(.1)
        yield "unit", lambda: look.SetScalarOpacityUnitDistance(numpy.inf), lambda: look.SetScalarOpacityUnitDistance(1)
        yield "step", lambda: mapper.SetSampleDistance(1e-9), lambda: mapper.SetSampleDistance(.5)

    mapper, look = vtkPMBVolumeMapper(), property_of(None)
    scene = Scene(volume_of(mapper, gyroid(), vtkVolumeMapper.COMPOSITE_BLEND, look))
    first = scene.pixels()
    for said, change, back in spoil(scene, look):
        with Messages() as log:
            change()
            shown = scene.pixels()
        true("ERROR" in log.text() and said in log.text(), f"{said}: {log.text()}")
        equal((abs(shown - shown[0, 0]).max(), mapper.GetLastDevice()), (0, ""), f"{said}: the picture and the device")
        with Messages() as log:
            back()
            scene.renderer.ResetCameraClippingRange()
            true(abs(scene.pixels() - first).max() <= 1, f"{said}: another picture after it")
        equal(log.text(), "", f"{said}: messages after it")
    with Messages() as log:
        scene.renderer.SetViewport(.5, .5, .5, .5)
        scene.window.Render()
        scene.renderer.SetViewport(0, 0, 1, 1)
        true(abs(scene.pixels() - first).max() <= 1, "another picture after an empty viewport")
    equal(log.text(), "", "messages of an empty viewport")


def test_questions():
    """Observers are asked at most every 50 ms, in a long picture more than once, and not again when one has said stop."""
    mapper, times, answer = vtkPMBVolumeMapper(), [], [False]
    scene = Scene(volume_of(mapper, gyroid(), vtkVolumeMapper.COMPOSITE_BLEND, property_of(None)))
    mapper.SetSampleDistance(.003)
    mapper.SetDevice(1)
    mapper.SetNumberOfThreads(1)

    def ask(window, _event):
        times.append(time.monotonic())
        window.SetAbortRender(1 if answer[0] and len(times) == 3 else 0)

    scene.window.Render()
    scene.renderer.AddObserver("StartEvent", lambda *_: times.clear())
    scene.window.AddObserver("AbortCheckEvent", ask)
    scene.window.Render()
    true(len(times) > 3, f"{len(times)} questions")
    true(numpy.diff(times).min() > .045, f"questions {numpy.diff(times).min():.3f} s apart")
    whole, answer[0] = scene.pixels(), True
    with Messages() as log:
        scene.window.Render()
    equal((len(times), mapper.GetLastDevice(), log.text()), (3, "", ""), "questions until a stop, the device, messages")
    answer[0] = False
    true(abs(scene.pixels() - whole).max() <= 1, "the picture after a stop")


def test_windows_end():
    """A volume leaves its window while another window's context is current, and a window is deleted: the others draw on."""
    image = gyroid()

    def scene():
        look = property_of(ISOVALUE)
        return Scene(volume_of(vtkPMBVolumeMapper(), image, vtkVolumeMapper.ISOSURFACE_BLEND, look)), look

    expected, look = scene()
    look.GetIsoSurfaceValues().SetValue(0, -.4)
    picture = expected.pixels()
    for end in (lambda old: old.renderer.RemoveAllViewProps(), lambda old: old.window.Finalize()):
        old, _ = scene()
        old.pixels()
        new, look = scene()
        before = new.pixels()
        end(old)
        del old
        look.GetIsoSurfaceValues().SetValue(0, -.4)
        after = new.pixels()
        true(abs(after - picture).max() <= 1, f"differs by {abs(after - picture).max()}")
        true(abs(after - before).max() > 50, "the picture did not change")


def test_odd_input():
    """No data, flat data, samples that are not finite, changes between pictures: no crash, and no message but of errors."""
    flat, empty, other = gyroid(dims=(20, 20, 1)), vtkImageData(), gyroid()
    bad = numpy_to_vtk(numpy.full(40 * 36 * 32, numpy.nan), deep=True, array_type=VTK_DOUBLE)
    other.GetPointData().SetScalars(bad)
    for mode in (vtkVolumeMapper.ISOSURFACE_BLEND, vtkVolumeMapper.COMPOSITE_BLEND):
        mapper = vtkPMBVolumeMapper()
        scene = Scene(volume_of(mapper, gyroid(), mode, property_of(ISOVALUE)))
        first = scene.pixels()
        for image in (flat, empty, other):
            mapper.SetInputData(image)
            scene.pixels()
        mapper.SetInputData(gyroid())
        scene.renderer.ResetCameraClippingRange()
        true(abs(scene.pixels() - first).max() <= 1, f"mode {mode}: the picture after odd input")
        scene.window.SetSize(1, 1)
        scene.window.Render()
        scene.window.Finalize()


run(test_blend_modes, test_pre_integration, test_one_component, test_gradient_opacity, test_cut, test_many_lights,
    test_colored_by_another_array, test_bad_colors, test_left_to_vtk, test_ranges, test_places, test_bad_settings,
    test_questions, test_windows_end, test_odd_input)
