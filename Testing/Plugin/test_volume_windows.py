# SPDX-License-Identifier: BSD-3-Clause
"""vtkPMBVolumeMapper in windows: a picture that is stopped, several windows and viewports, windows that end, odd input."""
import time

import numpy
from paraview.vtk.util.numpy_support import numpy_to_vtk
from plugin_testing import Messages, equal, load_plugin, psnr, run, true
from volume_testing import ISOVALUE, Scene, ball, gyroid, property_of, volume_of
from vtkmodules.vtkCommonCore import VTK_DOUBLE
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkRenderingCore import vtkRenderer
from vtkmodules.vtkRenderingVolume import vtkVolumeMapper
from vtkmodules.vtkRenderingVolumeOpenGL2 import vtkOpenGLGPUVolumeRayCastMapper

load_plugin()
from pmb.vtkPMBRendering import vtkPMBVolumeMapper  # noqa: E402


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


def test_windows():
    """One mapper in two windows by turns, beside a viewport of another renderer, and with several samples a pixel."""
    mapper, image = vtkPMBVolumeMapper(), gyroid()
    volume = volume_of(mapper, image, vtkVolumeMapper.ISOSURFACE_BLEND, property_of(ISOVALUE))
    alone = Scene(volume).pixels()
    scenes = [Scene(volume), Scene(volume), Scene(volume)]
    scenes[2].window.SetMultiSamples(4)
    for scene in scenes + scenes:
        shown = scene.pixels()
        true(psnr(shown, alone) > (30 if scene is scenes[2] else 60), f"PSNR {psnr(shown, alone):.1f} dB")
    pictures = []
    for made in (vtkPMBVolumeMapper(), vtkOpenGLGPUVolumeRayCastMapper()):
        volume = volume_of(made, image, vtkVolumeMapper.COMPOSITE_BLEND, property_of(None))
        scene, right = Scene(volume, ball((18, 22, 50), 10)), vtkRenderer()
        right.AddViewProp(volume)
        scene.renderer.SetViewport(0, .2, .4, 1)
        right.SetViewport(.4, 0, 1, .8)
        scene.window.AddRenderer(right)
        right.ResetCamera()
        pictures.append(scene.pixels())
    true(psnr(*pictures) > 34, f"two viewports: PSNR {psnr(*pictures):.1f} dB")


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


run(test_questions, test_windows, test_windows_end, test_odd_input)
