# SPDX-License-Identifier: BSD-3-Clause
"""Large meshes, of which vtkPMBPolyDataMapper draws only the visible triangles: pictures equal to those of VTK's
mapper, which draws all. And when all are drawn. The GPU finds them if it made the mesh and draws, else the CPU."""
import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from plugin_testing import copy_of, equal, image, load_plugin, output, producer, run, true
from vtkmodules.vtkCommonDataModel import vtkPlane

load_plugin()
from pmb.vtkPMBRendering import vtkPMBPolyDataMapper  # noqa: E402


def gyroid(samples=84, periods=10):
    angle = numpy.arange(samples) * (2 * numpy.pi * periods / samples)
    s, c = numpy.sin(angle), numpy.cos(angle)
    values = s[None, None, :] * c[None, :, None] + s[None, :, None] * c[:, None, None] + s[:, None, None] * c[None, None, :]
    return producer(image({"s": values.astype(numpy.float32)}, (samples,) * 3))


class Shown:
    """A proxy's output in a view of its own."""

    def __init__(self, proxy):
        self.view = simple.CreateView("RenderView")
        self.view.ViewSize = (301, 223)
        self.view.OrientationAxesVisibility = 0
        self.view.GetRenderWindow().SetMultiSamples(0)
        self.representation = simple.Show(proxy, self.view)
        simple.Render(self.view)
        simple.ResetCamera(self.view)

    def mapper(self):
        return self.representation.GetClientSideObject().GetActiveRepresentation().GetActor().GetMapper()

    def picture(self):
        simple.Render(self.view)
        return vtk_to_numpy(self.view.CaptureWindow(1).GetPointData().GetScalars()).astype(int)


CONTOUR = simple.PMBContour(Input=gyroid(), ContourBy=["POINTS", "s"], Isosurfaces=[0.1], ComputeGradients=1)
CONTOUR.UpdatePipeline()
MESH = output(CONTOUR)
COPY = producer(copy_of(MESH))


def compare(change, sides=2):
    """Pictures from some sides. Returns the least and the greatest number of triangles drawn."""
    ours, theirs = (Shown(proxy) for proxy in (CONTOUR, COPY))
    drawn = []
    for side in range(sides):
        for shown in (ours, theirs):
            camera = shown.view.GetActiveCamera()
            camera.Azimuth(31)
            camera.Elevation(11)
            if side == sides - 1:
                camera.Dolly(3)  # among the triangles
            change(shown)
            shown.view.GetRenderer().ResetCameraClippingRange()
        pictures = [shown.picture() for shown in (ours, theirs)]
        drawn.append(ours.mapper().GetNumberOfDrawnTriangles())
        equal(theirs.mapper().GetNumberOfDirectTriangles(), 0, "triangles of the copy drawn directly")
        true(numpy.ptp(pictures[0]) > 40, "the picture shows something")
        difference = abs(pictures[0] - pictures[1]).max()
        true(difference <= 1, f"side {side}: pictures differ by {difference}")
    for shown in (ours, theirs):
        simple.Delete(shown.view)
    return min(drawn), max(drawn)


def test_few_are_drawn():
    """From inside and outside, colored. (For each eye, far from the origin: test_scenes.py.)"""
    def colored(shown):
        simple.ColorBy(shown.representation, ("POINTS", "Gradients", "X"))
        shown.representation.SetScalarBarVisibility(shown.view, False)
        shown.representation.Specular = 0.7

    total = MESH.GetNumberOfCells()
    true(total > 1 << 18, "enough triangles")
    least, most = compare(colored, 4)
    true(0 < least and most < total // 2, f"{least} to {most} of {total} triangles were drawn")


def test_all_are_drawn():
    """Triangles that do not hide others, or only parts of them."""
    total = MESH.GetNumberOfCells()

    def translucent(shown):
        shown.representation.Opacity = 0.4

    def culled(shown):
        shown.representation.BackfaceRepresentation = "Cull Backface"

    def clipped(shown):
        plane = vtkPlane()
        plane.SetOrigin(40, 40, 40)
        plane.SetNormal(1, 1, 0)
        shown.mapper().RemoveAllClippingPlanes()
        shown.mapper().AddClippingPlane(plane)

    for change in (translucent, culled, clipped):
        equal(compare(change), (total, total), f"triangles drawn, {change.__name__}")

    def by_normals(shown):
        simple.ColorBy(shown.representation, ("POINTS", "Normals", "X"))
        shown.representation.SetScalarBarVisibility(shown.view, False)

    equal(compare(by_normals), (0, 0), "VTK draws what its normals color")


def test_what_changes():
    """The same view again, another isovalue, another size of the window, a hidden surface."""
    shown = Shown(CONTOUR)
    first, drawn = shown.picture(), shown.mapper().GetNumberOfDrawnTriangles()
    equal(abs(shown.picture() - first).max(), 0, "the same view again")
    CONTOUR.Isosurfaces = [0.4]
    other = shown.picture()
    true(abs(other - first).max() > 40, "another isovalue shows")
    CONTOUR.Isosurfaces = [0.1]
    equal(abs(shown.picture() - first).max(), 0, "the earlier isovalue")
    equal(shown.mapper().GetNumberOfDrawnTriangles(), drawn, "its triangles")
    shown.view.ViewSize = (150, 111)
    shown.picture()
    true(shown.mapper().GetNumberOfDrawnTriangles() < drawn, "a smaller window shows fewer triangles")
    shown.view.ViewSize = (301, 223)
    shown.representation.Visibility = 0
    true(numpy.ptp(shown.picture()) < 80, "hidden")
    shown.representation.Visibility = 1
    equal(abs(shown.picture() - first).max(), 0, "shown again")
    simple.Delete(shown.view)


run(test_few_are_drawn, test_all_are_drawn, test_what_changes)
