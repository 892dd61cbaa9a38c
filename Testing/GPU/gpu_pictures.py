# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of surfaces and by rays: the same from data passed to OpenGL by the GPU directly and through the host."""
import os

import numpy
from gpu_testing import CPU, GPU, PANEL_GPU, REHEARSE, on_gpu, volume
from paraview import simple
from plugin_testing import equal, output, true
from pmb.vtkPMBRendering import vtkPMBVolumeMapper
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkPiecewiseFunction
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkRenderingCore import (vtkActor, vtkColorTransferFunction, vtkPolyDataMapper, vtkRenderer,
                                         vtkRenderWindow, vtkVolume, vtkVolumeProperty)
from vtkmodules.vtkRenderingVolume import vtkVolumeMapper


def producer_of(data):
    source = simple.TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    source.UpdatePipeline()
    return source


def draw(view, proxy, color):
    """The picture of a proxy, and how many of its triangles came from the GPU."""
    shown = simple.Show(proxy, view)
    simple.ColorBy(shown, color)
    simple.Render(view)
    pixels = vtk_to_numpy(view.CaptureWindow(1).GetPointData().GetScalars()).astype(int)
    mapper = shown.GetClientSideObject().GetActiveRepresentation().GetActor().GetMapper()
    simple.Hide(proxy, view)
    return pixels, mapper.GetNumberOfTrianglesFromGPU()


def from_the_gpu():
    """ParaView's default settings; isovalues, colours, a volume far from the origin, one that is replaced, two views."""
    if not os.environ.get("DISPLAY"):
        print("no display: no picture")
        return
    views = [simple.CreateView("RenderView") for _ in range(2)]
    for view in views:
        view.ViewSize = [400, 300]
        simple.Render(view)
    nvidia = "NVIDIA" in views[0].GetRenderWindow().ReportCapabilities()
    for far in (False, True):
        data = volume(70)
        if far:
            data.SetOrigin(3e5, -2e5, 1e6)
        contour = simple.PMBContour(Input=producer_of(data), RunOn=PANEL_GPU, ContourBy=["POINTS", "samples"],
                                    ComputeGradients=1)
        for number, isovalue in enumerate((-20.0, 3.5, 11.0, 11.25)):
            contour.Isosurfaces = [isovalue]
            mesh = output(contour)
            copy = mesh.NewInstance()
            copy.DeepCopy(mesh)
            color = None if number % 2 == 0 else ("POINTS", "Gradients", "X")
            for view in views:
                if number == 0:
                    simple.Show(contour, view)
                    simple.ResetCamera(view)
                ours, from_gpu = draw(view, contour, color)
                theirs, none = draw(view, producer_of(copy), color)
                where = f"isovalue {isovalue}, far {far}"
                equal(none, 0, f"{where}: triangles of the copy from the GPU")
                on_gpu(from_gpu == (mesh.GetNumberOfPolys() if nvidia else 0), f"{where}: {from_gpu} triangles from the GPU")
                true(numpy.abs(ours - theirs).max() <= 1, f"{where}: pictures differ by {numpy.abs(ours - theirs).max()}")
                true(numpy.ptp(ours) > 100, f"{where}: the picture is empty")
        simple.Delete(contour)
    if REHEARSE:
        print("rehearsed")


class RayScene:
    """A volume by rays behind and in front of a ball, in its own window."""

    def __init__(self, device, data, samples):
        self.mapper, self.look = vtkPMBVolumeMapper(), vtkVolumeProperty()
        self.opacity, colors = vtkPiecewiseFunction(), vtkColorTransferFunction()
        colors.AddRGBPoint(-20, 0, .2, .9)
        colors.AddRGBPoint(20, .9, .5, 0)
        self.look.SetColor(colors)
        self.look.SetScalarOpacity(self.opacity)
        self.look.SetInterpolationTypeToLinear()
        self.look.ShadeOn()
        self.mapper.SetInputData(data)
        self.mapper.SetDevice(device)
        shown, ball, actor, balls = vtkVolume(), vtkSphereSource(), vtkActor(), vtkPolyDataMapper()
        shown.SetMapper(self.mapper)
        shown.SetProperty(self.look)
        ball.SetCenter(data.GetCenter())
        ball.SetRadius(data.GetLength() / 6)
        ball.SetThetaResolution(30)
        balls.SetInputConnection(ball.GetOutputPort())
        actor.SetMapper(balls)
        self.window, self.renderer = vtkRenderWindow(), vtkRenderer()
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(samples)
        self.window.AddRenderer(self.renderer)
        self.renderer.SetBackground(.1, .2, .3)
        self.renderer.AddActor(actor)
        self.renderer.AddVolume(shown)

    def draw(self, mode, level, size, turn):
        width, height = size
        self.window.SetSize(width, height)
        self.mapper.SetBlendMode(mode)
        self.opacity.RemoveAllPoints()
        isosurface = mode == vtkVolumeMapper.ISOSURFACE_BLEND
        for value, alpha in ((-20, .6), (20, .6)) if isosurface else ((-20, 0), (level, 0), (20, .3)):
            self.opacity.AddPoint(value, alpha)
        self.look.GetIsoSurfaceValues().SetValue(0, level)
        self.renderer.ResetCamera()
        self.renderer.GetActiveCamera().Azimuth(turn)
        self.renderer.ResetCameraClippingRange()
        self.window.Render()
        pixels = vtkUnsignedCharArray()
        self.window.GetPixelData(0, 0, width - 1, height - 1, 0, pixels, 0)
        return vtk_to_numpy(pixels).astype(int)


def rays_from_the_gpu():
    """Blend modes, sizes of the window, with and without multisampling, a replaced volume."""
    if not os.environ.get("DISPLAY"):
        print("no display: no picture")
        return
    for samples in (0, 4):
        for seed, dtype in enumerate((numpy.float32, numpy.int16, numpy.float64)):
            data = volume(60, dtype, seed)
            scenes = [RayScene(device, data, samples) for device in (GPU, CPU)]
            rounds = [(vtkVolumeMapper.ISOSURFACE_BLEND, 3.5, (300, 200)), (vtkVolumeMapper.COMPOSITE_BLEND, 2, (300, 200)),
                      (vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND, 0, (200, 301)),
                      (vtkVolumeMapper.ISOSURFACE_BLEND, -2, (401, 301))]
            for number, (mode, level, size) in enumerate(rounds):
                ours, theirs = (scene.draw(mode, level, size, 20 * number) for scene in scenes)
                where = f"{samples} samples, {dtype.__name__}, round {number}"
                differ = (abs(ours - theirs) > 1).mean()  # a ray that grazes a surface may miss it on one device
                true(differ < 1e-3, f"{where}: {differ:.5f} of the pictures differ")
                true(numpy.ptp(ours) > 100, f"{where}: the picture is empty")
                nvidia = "NVIDIA" in scenes[0].window.ReportCapabilities()
                device, stayed = scenes[0].mapper.GetLastDevice(), scenes[0].mapper.GetStayedOnGPU()
                on_gpu(device.startswith("GPU") and stayed == nvidia, f"{where}: on {device}, stayed there: {stayed}")


TESTS = (from_the_gpu, rays_from_the_gpu)
