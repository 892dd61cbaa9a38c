# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of surfaces that the GPU gives to OpenGL itself, beside those of copies that the host gives to it."""
import os

import numpy
from gpu_testing import PANEL_GPU, REHEARSE, on_gpu, volume
from paraview import simple
from pmb import vtkPMBRendering  # noqa: F401: Python knows the mapper's class by it
from plugin_testing import equal, output, true
from vtkmodules.util.numpy_support import vtk_to_numpy


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
        contour = simple.PMBContour(Input=producer_of(data), RunOn=PANEL_GPU, ContourBy=["POINTS", "samples"])
        for number, isovalue in enumerate((-20.0, 3.5, 11.0, 11.25)):
            contour.Isosurfaces = [isovalue]
            mesh = output(contour)
            copy = mesh.NewInstance()
            copy.DeepCopy(mesh)
            color = None if number % 2 == 0 else ("POINTS", "Normals", "X")
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


TESTS = (from_the_gpu,)
