# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of vtkPMBVolumeMapper beside those of VTK's own volume mapper: blend modes, matrices, croppings, colors, and what
it leaves to VTK."""
import numpy
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from plugin_testing import Messages, equal, load_plugin, psnr, run, share_shown, true
from volume_testing import ISOVALUE, Scene, gyroid, property_of, volume_of
from vtkmodules.vtkCommonCore import vtkSOADataArrayTemplate
from vtkmodules.vtkCommonDataModel import vtkPiecewiseFunction, vtkPlane
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkRenderingCore import vtkLight
from vtkmodules.vtkRenderingVolume import vtkVolumeMapper
from vtkmodules.vtkRenderingVolumeOpenGL2 import vtkOpenGLGPUVolumeRayCastMapper

load_plugin()
from pmb.vtkPMBRendering import vtkPMBVolumeMapper  # noqa: E402


def compare(what, mode, least=40, **given):
    """PSNR against VTK's mapper, and that the picture is not the background alone."""
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
        pictures.append(scene.pixels())
        if hasattr(mapper, "GetLastDevice"):
            true(mapper.GetLastDevice(), f"{what}: VTK drew it")
    found = psnr(*pictures)
    true(found >= least, f"{what}: PSNR {found:.1f} dB")
    shown = share_shown(pictures[0], 5)
    true(shown > .1, f"{what}: {shown:.2f} of the pixels show something")


def test_blend_modes():
    compare("composite", vtkVolumeMapper.COMPOSITE_BLEND)
    compare("opaque from the first sample", vtkVolumeMapper.COMPOSITE_BLEND, unit=0, least=35)
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


def add_array(image, name, values):
    array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
    array.SetName(name)
    image.GetPointData().AddArray(array)
    return array


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
    ramp = add_array(image, "ramp", ramp)
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
    add_array(image, "vectors", numpy.zeros((count, 3)))
    add_array(image, "short", numpy.zeros(count - 1))
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
    add_array(image, "nan", numpy.full(count, numpy.nan))
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


run(test_blend_modes, test_pre_integration, test_one_component, test_gradient_opacity, test_cut,
    test_many_lights, test_colored_by_another_array, test_bad_colors,
    test_left_to_vtk, test_ranges, test_places, test_bad_settings)
