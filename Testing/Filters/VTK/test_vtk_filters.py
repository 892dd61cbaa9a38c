# SPDX-License-Identifier: BSD-3-Clause
"""VTK's tests of its own isosurface filters on images, with ours in their place."""
import math
import unittest

import numpy
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCylinder, vtkImageData, vtkPlane, vtkSphere
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkFiltersCore import (vtkContourFilter, vtkDelaunay3D, vtkElevationFilter, vtkFlyingEdges2D, vtkFlyingEdges3D,
                                       vtkMarchingCubes, vtkResampleWithDataSet, vtkSynchronizedTemplates3D)
from vtkmodules.vtkFiltersGeneral import (vtkImageMarchingCubes, vtkMarchingContourFilter,
                                          vtkSampleImplicitFunctionFilter)
from vtkmodules.vtkFiltersSources import vtkCylinderSource
from vtkmodules.vtkImagingCore import (vtkImageAppendComponents, vtkImageCast, vtkImageClip, vtkImageReslice,
                                       vtkRTAnalyticSource)
from vtkmodules.vtkImagingHybrid import vtkSampleFunction
from vtkmodules.vtkImagingSources import vtkImageGaussianSource

from vtk_testing import (Quiet, VTKTest, array, difference, facets, head, image, nearest, ours, output, picture, points,
                         protein, theirs, triangles, used)

TYPES = ("UnsignedChar", "Char", "Short", "UnsignedShort", "Int", "UnsignedInt", "Long", "UnsignedLong", "Float",
         "Double")
BONE = 800.5  # in head(): a surface of about the size that VTK's tests get from their scan at 1150


def wavelet(extent):
    source = vtkRTAnalyticSource()
    source.SetWholeExtent(*(extent if len(extent) == 6 else extent * 3))
    source.SetCenter(0.0, 0.0, 0.0)
    source.Update()
    source.GetOutput().GetPointData().SetActiveScalars("RTData")
    return source


def sphere(resolution):
    function = vtkSphere()
    function.SetRadius(0.25)
    sample = vtkSampleFunction()
    sample.SetImplicitFunction(function)
    sample.SetModelBounds(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5)
    sample.SetSampleDimensions(resolution, resolution, resolution)
    sample.Update()
    return sample


class FlyingEdges(VTKTest):
    def test_TestFlyingEdges(self):
        source = wavelet((-63, 64))
        ranges = numpy.linspace(128.0, 225.0, 6)
        filters = []
        for algorithm in (ours(source), theirs(vtkFlyingEdges3D, source)):
            algorithm.GenerateValues(6, 128.0, 225.0)
            algorithm.SetArrayComponent(0)
            algorithm.ComputeNormalsOn()
            algorithm.ComputeGradientsOn()
            algorithm.ComputeScalarsOn()
            filters.append(output(algorithm))
        mesh, reference = filters
        self.same_surface(mesh, reference)
        self.assertEqual(sorted(set(array(mesh, "RTData"))), sorted(set(ranges.astype(numpy.float32))), "scalars")
        lengths = numpy.linalg.norm(array(mesh, "Gradients"), axis=1, keepdims=True)
        self.near(float(numpy.abs(array(mesh, "Gradients") / -lengths - array(mesh, "Normals")).max()), 0.0, 1e-4,
                  "normals against gradients")
        images = [picture(each, scalars="RTData") for each in filters]
        self.assertLess(difference(*images), 20.0, "the two pictures")
        other = picture(output(ours(source, *(ranges + 3.0))), scalars="RTData")
        self.assertGreater(difference(images[0], other), 100.0, "a control: other isovalues")

    def test_TestFlyingEdges3D(self):
        # The outermost samples are 0.6875 above the innermost; 0.25 cuts all six edges at the middle sample.
        settings = dict(ComputeNormals=1, ComputeGradients=1, ComputeScalars=1, InterpolateAttributes=0)
        mesh = output(ours(sphere(3), 0.1, **settings))
        reference = output(theirs(vtkFlyingEdges3D, sphere(3), 0.1, **settings))
        self.same_surface(mesh, reference)
        self.assertEqual((mesh.GetNumberOfPoints(), mesh.GetNumberOfPolys()), (6, 8), "an octahedron")
        for name, components in (("Normals", 3), ("Gradients", 3), ("scalars", 1)):
            self.assertEqual(mesh.GetPointData().GetArray(name).GetNumberOfComponents(), components, name)
        self.same_array(mesh, reference, "Gradients", 1e-5)

    def test_TestFlyingEdges3D_at_samples(self):
        """VTK's isovalue equals samples there, and all its points coincide with them."""
        settings = dict(ComputeNormals=1, ComputeGradients=1, ComputeScalars=1, InterpolateAttributes=0)
        reference = output(theirs(vtkFlyingEdges3D, sphere(3), 0.25, **settings))
        kept = output(ours(sphere(3), 0.25, **settings))
        self.same_counts(kept, reference)
        clean = output(ours(sphere(3), 0.25, RemoveDegenerateTriangles=1))
        for mesh in (clean, kept):
            self.assertTrue(numpy.isfinite(array(mesh, "Normals")).all(), "normals")
        if clean.GetNumberOfPoints():
            self.sound(clean, share=1.0)

    def test_TestFlyingEdges3DThinSlice(self):
        data = image(numpy.repeat([-1.0, 1.0], 4).astype(numpy.float32).reshape(2, 2, 2))
        settings = dict(ComputeNormals=0, ComputeGradients=0, ComputeScalars=1, InterpolateAttributes=0)
        mesh = output(ours(data, 0.0, **settings))
        self.same_surface(mesh, output(theirs(vtkFlyingEdges3D, data, 0.0, **settings)))
        self.assertEqual((mesh.GetNumberOfPoints(), mesh.GetNumberOfPolys()), (4, 2), "a square in two triangles")
        self.assertTrue((points(mesh)[:, 2] == 0.5).all(), "half-way between the slices")
        self.assertEqual(mesh.GetPointData().GetNumberOfArrays(), 1, "arrays: the scalars alone")

    def test_TestFlyingEdges3DWithInterpolation(self):
        cylinder = vtkCylinder()
        cylinder.SetRadius(0.1)
        cylinder.SetAxis(1, 1, 1)
        sample = sphere(100)
        attributes = vtkSampleImplicitFunctionFilter()
        attributes.SetInputConnection(sample.GetOutputPort())
        attributes.SetImplicitFunction(cylinder)
        attributes.ComputeGradientsOn()
        meshes = []
        for algorithm in (ours(attributes), theirs(vtkFlyingEdges3D, attributes)):
            algorithm.SetInputArrayToProcess(0, 0, 0, 0, "scalars")
            algorithm.SetValue(0, 0.1)
            algorithm.ComputeGradientsOn()
            algorithm.InterpolateAttributesOn()
            meshes.append(output(algorithm))
        mesh, reference = meshes
        self.same_surface(mesh, reference)
        for name in ("Implicit scalars", "Implicit gradients", "Gradients", "Normals"):
            self.same_array(mesh, reference, name, 1e-4)
        # Between samples 0.01 apart a quadric is linear to 2.5e-5.
        expected = [cylinder.FunctionValue(place) for place in points(mesh)[::50]]
        self.near(float(numpy.abs(array(mesh, "Implicit scalars")[::50] - expected).max()), 0.0, 5e-5, "on the surface")

    def test_TestFlyingEdgesExtents(self):
        source = vtkRTAnalyticSource()  # from -10 to 10
        source.Update()
        source.GetOutput().GetPointData().SetActiveScalars("RTData")
        self.same_surface(output(ours(source, 150.0)), output(theirs(vtkFlyingEdges3D, source, 150.0)), "wavelet")
        function = vtkPlane()
        function.SetNormal(0, 1, 0)
        sample = vtkSampleFunction()
        sample.SetImplicitFunction(function)
        sample.SetModelBounds(-10, 10, -10, 10, -10, 10)
        sample.SetSampleDimensions(100, 100, 100)
        sample.SetOutputScalarTypeToFloat()
        sample.Update()
        mesh = output(ours(sample, 0.0))
        self.same_surface(mesh, output(theirs(vtkFlyingEdges3D, sample, 0.0)), "plane")
        self.assertEqual(mesh.GetNumberOfPolys(), 2 * 99 * 99, "triangles of the plane")
        reslice = vtkImageReslice()
        reslice.SetInputConnection(sample.GetOutputPort())
        reslice.SetOutputDimensionality(2)
        reslice.SetResliceAxes(vtkMatrix4x4())
        reslice.SetInterpolationModeToLinear()
        self.same_lines(output(ours(reslice, 0.0)), output(theirs(vtkFlyingEdges2D, reslice, 0.0)), "slice of it")


class MarchingCubes(VTKTest):
    def test_TestMarchingCubes(self):
        """A direction matrix that mirrors and turns, an origin, unequal spacings."""
        data = head()
        data.SetOrigin(0.1, 10, 1000)
        cos, sin = math.cos(math.pi / 2), math.sin(math.pi / 2)
        data.SetDirectionMatrix(-1, 0, 0, 0, cos, -sin, 0, -sin, -cos)
        mesh = output(ours(data, BONE))
        reference = output(theirs(vtkMarchingCubes, data, BONE, ComputeNormals=1))
        mirrors = data.GetDirectionMatrix().Determinant() < 0
        self.same_surface(mesh, reference, turned=mirrors)
        # Where the determinant is negative VTK's facets face against their normals; ours are turned round.
        self.sound(mesh, share=0.02)

    def test_TestMarchingCubes_picture(self):
        data = head()
        images = [picture(output(ours(data, BONE))), picture(output(theirs(vtkMarchingCubes, data, BONE)))]
        self.assertLess(difference(*images), 30.0, "the two pictures")
        self.assertGreater(difference(images[0], picture(output(ours(data, BONE + 100.0)))), 100.0, "a control")

    def test_mcubes(self):
        data = head()
        self.same_surface(output(ours(data, 700.5)), output(theirs(vtkMarchingContourFilter, data, 700.5)))

    def test_headBone(self):
        """Gradients and no scalars; the length of the gradient is what the picture shows."""
        settings = dict(ComputeGradients=1, ComputeScalars=0)
        mesh = output(ours(head(), BONE, **settings))
        reference = output(theirs(vtkMarchingCubes, head(), BONE, **settings))
        self.same_surface(mesh, reference)
        self.assertIsNone(array(mesh, "scalars"), "scalars though switched off")
        # VTK's are per unit of length here, too, and point to lower values.
        others = vtk_to_numpy(reference.GetPointData().GetVectors())
        scale = numpy.abs(others).max()
        lengths = numpy.linalg.norm(array(mesh, "Gradients")[::30], axis=1)
        match = others[nearest(reference, points(mesh)[::30])]
        self.near(float(numpy.abs(lengths - numpy.linalg.norm(match, axis=1)).max()) / scale, 0.0, 1e-4, "lengths")

    def test_TestImageMarchingCubes(self):
        cast = vtkImageCast()  # vtkImageMarchingCubes asks its input for parts
        cast.SetInputData(head())
        cast.SetOutputScalarTypeToUnsignedShort()
        self.same_surface(output(ours(cast, BONE)), output(theirs(vtkImageMarchingCubes, cast, BONE)))

    def test_TestContourCases(self):
        """All 256 cases of a cell, samples 0 and 1: no facet faces against the gradient."""
        wrong = []
        for case in range(1, 255):
            data = image(numpy.array([case >> bit & 1 for bit in range(8)], numpy.float64).reshape(2, 2, 2))
            mesh = output(ours(data, 0.5, ComputeGradients=1))
            gradients = array(mesh, "Gradients")[triangles(mesh)].mean(axis=1)
            if (numpy.einsum("ij,ij->i", facets(mesh), gradients) > 1e-6).any():
                wrong.append(case)
        self.assertEqual(wrong, [], "cases with a facet against the gradient")


class SynchronizedTemplates(VTKTest):
    def test_TestSynchronizedTemplates3D(self):
        mesh = output(ours(head(), BONE))
        reference = output(theirs(vtkSynchronizedTemplates3D, head(), BONE))
        self.same_places(mesh, reference)
        self.assertEqual(mesh.GetNumberOfPoints(), reference.GetNumberOfPoints(), "points")
        # Its table cuts cells with two inside corners across a face otherwise: by few triangles more or less.
        self.near(mesh.GetNumberOfPolys() / reference.GetNumberOfPolys(), 1.0, 0.002, "triangles")

    def check_slabs(self, kind, isovalue=30, **options):
        """Six slices each of bytes cast to each of ten types; an isovalue of 30 equals many samples. Without triangles
        of no area, which VTK leaves out, too."""
        data = protein()
        for index, name in enumerate(TYPES):
            clip = vtkImageClip()
            clip.SetInputData(data)
            clip.SetOutputWholeExtent(-1000, 1000, -1000, 1000, 5 * index + 9, 5 * index + 14)
            cast = vtkImageCast()
            getattr(cast, f"SetOutputScalarTypeTo{name}")()
            cast.SetInputConnection(clip.GetOutputPort())
            cast.ClampOverflowOn()
            mine = ours(cast, **options)
            mine.GenerateValues(1, isovalue, isovalue)
            mine.RemoveDegenerateTrianglesOn()
            mesh = output(mine)
            self.sound(mesh, name, share=0.02)
            self.assertGreater(mesh.GetNumberOfPolys(), 100, f"{name}: triangles")
            if name in ("UnsignedInt", "UnsignedLong"):
                cast.SetOutputScalarTypeToDouble()  # VTK's differences of unsigned samples wrap around
            other = theirs(kind, cast, **options)
            other.GenerateValues(1, isovalue, isovalue)
            self.same_surface(mesh, used(output(other)), name)

    def test_contour3DAll(self):
        self.check_slabs(vtkContourFilter, ComputeScalars=0, ComputeGradients=0)

    def test_sync3dAll(self):
        self.check_slabs(vtkSynchronizedTemplates3D)

    def test_imageMCAll(self):
        # vtkMarchingContourFilter cuts images by vtkImageMarchingCubes, where a sample that equals the isovalue counts
        # as outside: compared with it where none does, and with vtkMarchingCubes where many do.
        self.check_slabs(vtkMarchingContourFilter, 30.5)
        self.check_slabs(vtkMarchingCubes)


class ContourFilter(VTKTest):
    def test_multipleComponentContour(self):
        append = vtkImageAppendComponents()
        for center in (10, 22):
            gauss = vtkImageGaussianSource()
            gauss.SetWholeExtent(0, 31, 0, 31, 0, 31)
            gauss.SetCenter(center, 16, 16)
            gauss.SetMaximum(1000)
            gauss.SetStandardDeviation(7)
            append.AddInputConnection(gauss.GetOutputPort())
        for component, center in ((0, 10.0), (1, 22.0)):
            mesh = output(ours(append, 500.0, ArrayComponent=component))
            self.same_surface(mesh, output(theirs(vtkContourFilter, append, 500.0, ArrayComponent=component)))
            bounds = mesh.GetBounds()
            self.near((bounds[0] + bounds[1]) / 2, center, 0.01, f"center of component {component}")

    def test_TestContourImplicitArrays(self):
        """VTK's array computes its values when asked, which no array of VTK 9.2 does; and it is longer than the image
        has points, as this one is. (Arrays that are not in one piece of memory: TestPMBContourFilterArrays.)"""
        half, step = 14, 1.0 / 30
        z, y, x = (step * numpy.mgrid[-half:half + 1, -half:half + 1, -half:half + 1])
        level = numpy.sqrt(x * x + y * y + z * z) - 0.6
        data = vtkImageData()
        data.SetExtent(-half, half, -half, half, -half, half)
        data.SetSpacing(step, step, step)
        values = numpy_to_vtk(numpy.concatenate([level.ravel(), numpy.zeros(27000 - level.size)]), deep=True)
        values.SetName("LevelSet")
        data.GetPointData().SetScalars(values)
        mine = ours(data, 0.0)
        with Quiet(mine) as log:
            mesh = output(mine)
        self.assertEqual(log.count, 0, f"messages: {log.texts}")
        mine.RemoveDegenerateTrianglesOn()
        self.same_surface(output(mine), used(output(theirs(vtkContourFilter, data, 0.0))))
        radius = numpy.linalg.norm(points(mesh), axis=1)
        self.near(float(numpy.abs(radius - 0.6).max()), 0.0, 1e-3, "distance from the sphere")

    def test_TestResampleWithDataSet2(self):
        """A mask of bytes that is 1 where a mesh was; its surface carries the mesh's arrays."""
        tube = vtkCylinderSource()
        tube.SetResolution(40)
        tube.SetHeight(1.6)
        elevation = vtkElevationFilter()
        elevation.SetInputConnection(tube.GetOutputPort())
        elevation.SetLowPoint(0.0, -0.8, 0.0)
        elevation.SetHighPoint(0.0, 0.8, 0.0)
        solid = vtkDelaunay3D()
        solid.SetInputConnection(elevation.GetOutputPort())
        data = vtkImageData()
        data.SetDimensions(64, 64, 64)
        data.SetOrigin(-1.0, -1.0, -1.0)
        data.SetSpacing(2 / 63, 2 / 63, 2 / 63)
        resample = vtkResampleWithDataSet()
        resample.SetInputData(data)
        resample.SetSourceConnection(solid.GetOutputPort())
        result = output(resample)
        for attributes in (result.GetPointData(), result.GetCellData()):
            attributes.RemoveArray("vtkGhostType")
        meshes = []
        for algorithm in (ours(result, 0.5), theirs(vtkContourFilter, result, 0.5)):
            algorithm.SetInputArrayToProcess(0, 0, 0, 0, "vtkValidPointMask")
            meshes.append(output(algorithm))
        self.assertEqual(meshes[0].GetNumberOfPoints(), meshes[1].GetNumberOfPoints(), "points")
        self.same_places(*meshes)
        self.same_array(*meshes, "Elevation", 1e-5)
        low, high = array(meshes[0], "Elevation").min(), array(meshes[0], "Elevation").max()
        # Half-way between a sample of the mesh and one beside it, which holds 0.
        self.assertTrue(0.0 <= low < 0.1 and 0.4 < high <= 0.5, f"range of the array: {low} to {high}")

    def test_TestSMPContour(self):
        """Serial and threaded runs, behind a filter that adds an array, two isovalues: the same cells."""
        source = wavelet((-50, 50))
        elevation = vtkElevationFilter()
        elevation.SetInputConnection(source.GetOutputPort())
        elevation.SetLowPoint(-50.0, -50.0, 0.0)
        elevation.SetHighPoint(50.0, 50.0, 0.0)
        elevation.SetScalarRange(-50.0, 50.0)
        reference = None
        for threads in (1, 2, 3, 8):
            mine = ours(elevation, 200.0, 220.0, NumberOfThreads=threads)
            mine.SetInputArrayToProcess(0, 0, 0, 0, "RTData")
            mesh = output(mine)
            reference = reference or mesh
            self.assertTrue((triangles(mesh) == triangles(reference)).all(), f"triangles of {threads} threads")
            self.assertTrue((points(mesh) == points(reference)).all(), f"points of {threads} threads")
            self.near(float(numpy.abs(array(mesh, "Elevation") - points(mesh)[:, :2].sum(axis=1) / 2).max()), 0.0,
                      1e-3, "the array that the filter before adds")
        other = theirs(vtkFlyingEdges3D, elevation, 200.0, 220.0)
        other.SetInputArrayToProcess(0, 0, 0, 0, "RTData")
        self.same_surface(reference, output(other))


if __name__ == "__main__":
    unittest.main(verbosity=2)
