# SPDX-License-Identifier: BSD-3-Clause
"""What the re-statements of VTK's own tests share: stand-ins for VTK's data files, and the comparison of a mesh with
that of VTK's class on the same input. Docs/VTK_TESTS.md lists the tests; a method is named as VTK names its test."""
import os
import unittest

import numpy
from pmb import vtkPMBContourAcceleration, vtkPMBContourFilter
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkCommand, vtkUnsignedShortArray
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkStaticPointLocator
from vtkmodules.vtkFiltersModeling import vtkHausdorffDistancePointSetFilter
from vtkmodules.vtkImagingCore import vtkImageCast, vtkImageDifference, vtkImageResize, vtkImageShiftScale
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir, "Data")

if os.environ.get("PMB_ACCELERATE"):  # VTK's filters by ours, in the tests that hold of both
    vtkPMBContourAcceleration.Enable()


# --- data -----------------------------------------------------------------------------------------------------------


def image(values, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0), first=(0, 0, 0), name="scalars"):
    """A vtkImageData of a numpy array of shape (z, y, x) or (z, y, x, components)."""
    data = vtkImageData()
    counts = values.shape[2::-1]
    data.SetExtent(*(bound for low, count in zip(first, counts) for bound in (low, low + count - 1)))
    data.SetOrigin(*origin)
    data.SetSpacing(*spacing)
    flat = values.reshape(values.shape[0] * values.shape[1] * values.shape[2], -1)
    array = numpy_to_vtk(numpy.ascontiguousarray(flat), deep=True)
    array.SetName(name)
    data.GetPointData().SetScalars(array)
    return data


def head(first_slice=1, last_slice=93):
    """In place of VTK's CT of a head in 93 slices of 64 x 64: the MRI in Data/ at that size, times 16, 16 bits."""
    reader = vtkXMLImageDataReader()
    reader.SetFileName(os.path.join(DATA, "ch2.vti"))
    cast = vtkImageCast()
    cast.SetInputConnection(reader.GetOutputPort())
    cast.SetOutputScalarTypeToUnsignedShort()
    scale = vtkImageShiftScale()
    scale.SetInputConnection(cast.GetOutputPort())
    scale.SetScale(16.0)
    resize = vtkImageResize()
    resize.SetInputConnection(scale.GetOutputPort())
    resize.SetOutputDimensions(64, 64, 93)
    resize.Update()
    values = vtk_to_numpy(resize.GetOutput().GetPointData().GetScalars()).reshape(93, 64, 64)
    return image(values[first_slice - 1:last_slice], spacing=(3.2, 3.2, 1.5), first=(0, 0, first_slice))


def protein():
    """In place of VTK's 68^3 bytes of a protein: blobs, as whole numbers, many of which equal an isovalue of 30."""
    z, y, x = numpy.mgrid[0:68, 0:68, 0:68]
    total = numpy.zeros((68, 68, 68))
    centers = numpy.random.default_rng(4).uniform(14, 54, (24, 3))
    for cx, cy, cz in centers:
        total += 90.0 * numpy.exp(-((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2) / 22.0)
    return image(numpy.minimum(total, 255.0).astype(numpy.uint8))


def terrain():
    """In place of VTK's elevation model of a mountain: a plane image of heights."""
    y, x = numpy.mgrid[0:120, 0:100]
    height = 700.0 + 1500.0 * numpy.exp(-((x - 47.3) ** 2 + (y - 61.1) ** 2) / 900.0)
    height += 90.0 * numpy.sin(0.21 * x) * numpy.cos(0.17 * y)
    return image(height.astype(numpy.float32)[None], origin=(557945.0, 5107795.0, 0.0), spacing=(30.0, 30.0, 1.0))


# --- runs -----------------------------------------------------------------------------------------------------------


def connect(algorithm, source):
    """Input by connection where the source is an algorithm, else as data."""
    if hasattr(source, "GetOutputPort"):
        algorithm.SetInputConnection(source.GetOutputPort())
    else:
        algorithm.SetInputData(source)
    return algorithm


def set_up(algorithm, source, isovalues, **options):
    connect(algorithm, source)
    for index, isovalue in enumerate(isovalues):
        algorithm.SetValue(index, isovalue)
    for name, value in options.items():
        getattr(algorithm, "Set" + name)(value)
    return algorithm


def ours(source, *isovalues, **options):
    """Our filter. To compare counts it keeps what vtkFlyingEdges3D keeps, unless told otherwise."""
    return set_up(vtkPMBContourFilter(), source, isovalues, **{"RemoveDegenerateTriangles": 0, **options})


def theirs(kind, source, *isovalues, **options):
    """One of VTK's filters; the array is named, since sources differ in whether they have active scalars."""
    return set_up(kind(), source, isovalues, **options)


def output(algorithm):
    algorithm.Update()
    return algorithm.GetOutputDataObject(0)


# --- meshes ---------------------------------------------------------------------------------------------------------


def points(mesh):
    return vtk_to_numpy(mesh.GetPoints().GetData()).astype(numpy.float64)


def triangles(mesh):
    cells = mesh.GetPolys()
    if not numpy.all(numpy.diff(vtk_to_numpy(cells.GetOffsetsArray())) == 3):
        raise AssertionError("cells that are no triangles")
    return vtk_to_numpy(cells.GetConnectivityArray()).reshape(-1, 3)


def array(mesh, name):
    values = mesh.GetPointData().GetArray(name)
    return None if values is None else vtk_to_numpy(values)


def facets(mesh):
    """Twice the area of each triangle as a vector, right-handed."""
    corners = points(mesh)[triangles(mesh)]
    return numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def flat(mesh):
    """How many triangles have no area."""
    return int((numpy.linalg.norm(facets(mesh), axis=1) == 0).sum())


def against(mesh):
    """The share of facets that face against their points' normals."""
    normals = vtk_to_numpy(mesh.GetPointData().GetNormals())
    return (numpy.einsum("ij,ij->i", facets(mesh), normals[triangles(mesh)].sum(axis=1)) < 0).mean()


def area(mesh):
    return 0.5 * numpy.linalg.norm(facets(mesh), axis=1).sum()


def volume(mesh, center):
    """Enclosed volume, seen from a point; negative if the triangles face inward."""
    corners = points(mesh)[triangles(mesh)] - center
    return numpy.einsum("ij,ij->i", corners[:, 0], numpy.cross(corners[:, 1], corners[:, 2])).sum() / 6.0


def length(lines):
    """Of all two-point lines."""
    ends = vtk_to_numpy(lines.GetLines().GetConnectivityArray()).reshape(-1, 2)
    where = points(lines)[ends]
    return numpy.linalg.norm(where[:, 1] - where[:, 0], axis=1).sum()


def used(mesh):
    """The mesh without points that nothing uses: VTK's filters leave some where they drop triangles without area."""
    from vtkmodules.vtkFiltersCore import vtkCleanPolyData
    clean = vtkCleanPolyData()
    clean.SetInputData(mesh)
    clean.PointMergingOff()
    clean.ConvertPolysToLinesOff()
    clean.ConvertLinesToPointsOff()
    clean.Update()
    return clean.GetOutput()


def apart(one, other):
    """Hausdorff distance of the two sets of points."""
    compare = vtkHausdorffDistancePointSetFilter()
    compare.SetInputData(0, one)
    compare.SetInputData(1, other)
    compare.Update()
    return compare.GetHausdorffDistance()


def nearest(mesh, where):
    """Numbers of the points of the mesh that are nearest to the given ones."""
    locator = vtkStaticPointLocator()
    locator.SetDataSet(mesh)
    locator.BuildLocator()
    return numpy.array([locator.FindClosestPoint(*place) for place in where], dtype=int)


class VTKTest(unittest.TestCase):
    """Checks that fail with the numbers."""

    def near(self, value, expected, tolerance, what):
        if not abs(value - expected) <= tolerance:
            self.fail(f"{what}: {value!r}, not {expected!r} within {tolerance!r}")

    def same_counts(self, mesh, reference, what=""):
        self.assertGreater(reference.GetNumberOfCells(), 0, f"{what}: the reference is empty, the test says nothing")
        self.assertEqual(mesh.GetNumberOfPolys(), reference.GetNumberOfPolys(), f"{what}: triangles")
        self.assertEqual(mesh.GetNumberOfPoints(), reference.GetNumberOfPoints(), f"{what}: points")

    def same_places(self, mesh, reference, what="", turned=False):
        """Points in the same places, the same area and, with its sign, volume: facets face the same way."""
        size = reference.GetLength()
        self.near(apart(mesh, reference), 0.0, 1e-5 * size, f"{what}: distance of the points")
        self.near(area(mesh) / area(reference), 1.0, 0.01, f"{what}: area, as a part of the reference's")
        # A corner of the bounds: open meshes count as cones from there, of one sign nearly everywhere.
        corner = numpy.array(reference.GetBounds()[0::2]) - 0.1 * size
        expected = volume(reference, corner) * (-1.0 if turned else 1.0)
        scale = area(reference) * size / 6.0
        self.near(volume(mesh, corner) / scale, expected / scale, 0.004, f"{what}: volume with its sign")

    def same_surface(self, mesh, reference, what="", turned=False):
        self.same_counts(mesh, reference, what)
        self.same_places(mesh, reference, what, turned)

    def sound(self, mesh, what="", share=0.002, like=None):
        """Every point is used, facets agree with normals but for a share, and no triangle is without area. With a mesh
        of VTK's: no more of both than in that. (Rough samples have facets steeper than their gradients; where samples
        nearly equal the isovalue, points coincide.)"""
        ids = triangles(mesh)
        self.assertEqual(len(numpy.unique(ids)), mesh.GetNumberOfPoints(), f"{what}: points that a triangle uses")
        self.assertLessEqual(flat(mesh), flat(like) if like else 0, f"{what}: triangles without area")
        if array(mesh, "Normals") is not None:
            allowed = against(like) + 0.003 if like else share
            self.assertLessEqual(against(mesh), allowed, f"{what}: share of facets against their normals")

    def same_array(self, mesh, reference, name, tolerance, what=""):
        """An array at (a sample of) the points equals that at the reference's nearest points."""
        mine, others = array(mesh, name), array(reference, name)
        self.assertIsNotNone(mine, f"{what}: no array {name}")
        step = max(1, mesh.GetNumberOfPoints() // 3000)
        expected = others[nearest(reference, points(mesh)[::step])]
        self.assertEqual(mine[::step].shape, expected.shape, f"{what}: components of {name}")
        self.near(float(numpy.abs(mine[::step] - expected).max()), 0.0, tolerance, f"{what}: {name} at the points")

    def same_lines(self, lines, reference, what="", rounding=0.0):
        self.assertGreater(reference.GetNumberOfLines(), 20, f"{what}: the reference says nothing")
        self.assertEqual(lines.GetNumberOfLines(), reference.GetNumberOfLines(), f"{what}: lines")
        self.assertEqual(lines.GetNumberOfPoints(), reference.GetNumberOfPoints(), f"{what}: points")
        allowed = max(rounding, 1e-5 * reference.GetLength())
        self.near(apart(lines, reference), 0.0, allowed, f"{what}: distance of the points")
        self.near(length(lines), length(reference), 1e-4 * length(reference), f"{what}: length")


class Quiet:
    """Counts an algorithm's errors and warnings: with Quiet(filter) as log: ...; log.count"""

    def __init__(self, algorithm):
        self.algorithm, self.count, self.texts = algorithm, 0, []

    def __enter__(self):
        def note(_caller, _event, text=""):
            self.count += 1
            self.texts.append(text)
        note.CallDataType = "string0"
        self.tags = [self.algorithm.AddObserver(event, note) for event in ("ErrorEvent", "WarningEvent")]
        return self

    def __exit__(self, *_):
        for tag in self.tags:
            self.algorithm.RemoveObserver(tag)


# --- pictures -------------------------------------------------------------------------------------------------------


def picture(mesh, direction=(1.0, 1.4, 0.8), up=(0.0, 0.0, 1.0), scalars=None):
    """A rendering of a mesh, lit from the camera, as a vtkImageData."""
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 (the classes' factories)
    from vtkmodules.vtkRenderingCore import (vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow,
                                             vtkWindowToImageFilter)
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(mesh)
    mapper.SetScalarVisibility(scalars is not None)
    if scalars:
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SelectColorArray(scalars)
        mapper.SetScalarRange(mesh.GetPointData().GetArray(scalars).GetRange())
    actor = vtkActor()
    actor.SetMapper(mapper)
    renderer = vtkRenderer()
    renderer.AddActor(actor)
    camera = renderer.GetActiveCamera()
    camera.SetPosition(*direction)
    camera.SetFocalPoint(0.0, 0.0, 0.0)
    camera.SetViewUp(*up)
    renderer.ResetCamera()
    window = vtkRenderWindow()
    window.SetMultiSamples(0)
    window.SetOffScreenRendering(1)
    window.SetSize(300, 300)
    window.AddRenderer(renderer)
    window.Render()
    grab = vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    grab.Update()
    result = vtkImageData()
    result.DeepCopy(grab.GetOutput())
    window.Finalize()
    return result


def difference(one, other):
    """Of two pictures: the sum over the pixels of the difference over 255, where it is more than 16 of 255."""
    compare = vtkImageDifference()
    compare.SetThreshold(16)
    compare.AveragingOff()
    compare.AllowShiftOff()
    compare.SetInputData(one)
    compare.SetImageData(other)
    compare.Update()
    return compare.GetThresholdedError()
