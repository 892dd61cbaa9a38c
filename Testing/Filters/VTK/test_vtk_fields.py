# SPDX-License-Identifier: BSD-3-Clause
"""VTK's tests that contour what its own sources and modellers make, with our filter in their filter's place."""
import unittest

import numpy
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkFloatArray, vtkPoints
from vtkmodules.vtkCommonDataModel import (vtkBox, vtkCone, vtkImageData, vtkImplicitBoolean, vtkImplicitSum,
                                           vtkPerlinNoise, vtkPlane, vtkPolyData, vtkSphere)
from vtkmodules.vtkFiltersCore import (vtkAppendPolyData, vtkContourFilter, vtkFlyingEdges3D, vtkMarchingCubes,
                                       vtkResampleToImage, vtkReverseSense)
from vtkmodules.vtkFiltersExtraction import vtkExtractTensorComponents
from vtkmodules.vtkFiltersGeneral import (vtkClipDataSet, vtkInterpolateDataSetAttributes, vtkMarchingContourFilter)
from vtkmodules.vtkFiltersHybrid import vtkImplicitModeller
from vtkmodules.vtkFiltersModeling import vtkLoopSubdivisionFilter
from vtkmodules.vtkFiltersPoints import (vtkEllipsoidalGaussianKernel, vtkPointInterpolator, vtkSignedDistance,
                                         vtkUnsignedDistance)
from vtkmodules.vtkFiltersSources import vtkLineSource, vtkPlaneSource, vtkSphereSource
from vtkmodules.vtkImagingCore import vtkExtractVOI, vtkRTAnalyticSource
from vtkmodules.vtkImagingHybrid import (vtkCheckerboardSplatter, vtkGaussianSplatter, vtkPointLoad, vtkSampleFunction,
                                         vtkSurfaceReconstructionFilter, vtkVoxelModeller)
from vtkmodules.vtkIOLegacy import vtkDataSetReader, vtkDataSetWriter

from vtk_testing import (VTKTest, area, array, flat, image, ours, output, points, theirs, triangles, used, volume)


def sampled(function, dimensions, bounds=None, normals=True):
    sample = vtkSampleFunction()
    sample.SetImplicitFunction(function)
    if bounds:
        sample.SetModelBounds(*bounds)
    sample.SetSampleDimensions(*dimensions)
    sample.SetComputeNormals(normals)
    sample.Update()
    return sample


def cloud(seed, count, low=-1.0, high=1.0):
    """Points with values from 0 to 1."""
    random = numpy.random.default_rng(seed)
    places = vtkPoints()
    places.SetData(numpy_to_vtk(random.uniform(low, high, (count, 3)), deep=True))
    values = numpy_to_vtk(random.uniform(0.0, 1.0, count), deep=True)
    values.SetName("value")
    data = vtkPolyData()
    data.SetPoints(places)
    data.GetPointData().SetScalars(values)
    return data


def segment(start, end):
    line = vtkLineSource()
    line.SetPoint1(*start)
    line.SetPoint2(*end)
    line.Update()
    return line.GetOutput()


class Functions(VTKTest):
    """vtkSampleFunction hands out its own normals, which are not the surface's."""

    def test_ImplicitSum(self):
        ball = vtkSphere()
        ball.SetRadius(0.5)
        ball.SetCenter(0.5, 0, 0)
        total = vtkImplicitSum()
        total.SetNormalizeByWeight(1)
        total.AddFunction(vtkCone(), 2)
        total.AddFunction(ball, 1)
        sample = sampled(total, (60, 60, 60))
        mesh = output(ours(sample, 0.0, RemoveDegenerateTriangles=1))
        reference = used(output(theirs(vtkContourFilter, sample, 0.0)))
        self.same_surface(mesh, reference)
        self.sound(mesh, like=reference)
        values = [total.FunctionValue(place) for place in points(mesh)[::20]]
        self.near(float(numpy.abs(values).max()), 0.0, 0.005, "the function on the surface")

    def test_PerlinNoise(self):
        noise = vtkPerlinNoise()
        noise.SetFrequency(2, 1.25, 1.5)
        sample = sampled(noise, (65, 65, 20), normals=False)
        mesh = output(ours(sample, 0.0, RemoveDegenerateTriangles=1))
        self.same_surface(mesh, used(output(theirs(vtkMarchingCubes, sample, 0.0))))
        self.sound(mesh, share=0.02)

    def test_TestBoxFunction(self):
        box = vtkBox()
        box.SetXMin(0, 2, 4)
        box.SetXMax(2, 4, 6)
        sample = sampled(box, (30, 30, 30), (0, 1.5, 1, 5, 2, 8))
        meshes = []
        for algorithm in (ours(sample), theirs(vtkFlyingEdges3D, sample)):
            algorithm.GenerateValues(5, -0.5, 1.5)
            meshes.append(output(algorithm))
        self.same_surface(*meshes)
        self.assertEqual(sorted(set(array(meshes[0], "scalars"))), [-0.5, 0.0, 0.5, 1.0, 1.5], "isovalues")

    def test_iceCream(self):
        """A cone cut by planes and a ball with a bite: two volumes with creases."""
        def plane(origin, normal):
            each = vtkPlane()
            each.SetOrigin(*origin)
            each.SetNormal(*normal)
            return each

        def ball(center, radius):
            each = vtkSphere()
            each.SetCenter(*center)
            each.SetRadius(radius)
            return each

        wafer = vtkCone()
        wafer.SetAngle(20)
        cone, cream = vtkImplicitBoolean(), vtkImplicitBoolean()
        cone.SetOperationTypeToIntersection()
        for part in (wafer, plane((0.1, 0, 0), (-1, 0, 0)), plane((1.2, 0, 0), (1, 0, 0))):
            cone.AddFunction(part)
        cream.SetOperationTypeToDifference()
        for part in (ball((1.333, 0, 0), 0.5), ball((1.5, 0, 0.5), 0.25)):
            cream.AddFunction(part)
        for function, low in ((cone, -1), (cream, 0)):
            sample = sampled(function, (60, 60, 60), (low, low + 2.5, -1.25, 1.25, -1.25, 1.25), normals=False)
            mesh = output(ours(sample, 0.0, RemoveDegenerateTriangles=1))
            self.same_surface(mesh, used(output(theirs(vtkMarchingContourFilter, sample, 0.0))), f"from {low}")
            self.assertGreater(volume(mesh, numpy.zeros(3)) * -1.0, 0.0, "facets face the lower values, here inward")


class Modellers(VTKTest):
    def modelled(self, data, dimensions, distance, bounds=None):
        model = vtkImplicitModeller()
        model.SetInputData(data)
        model.SetSampleDimensions(*dimensions)
        model.SetMaximumDistance(distance)
        if bounds:
            model.SetModelBounds(*bounds)
        model.Update()
        return model

    def test_3DMorph(self):
        """Halfway between two modelled shapes; the interpolated image comes from a filter for any data set."""
        shapes = (segment((0, 0, 0), (1, 1, 0)), segment((0, 1, 0), (1, 0, 0)), segment((0, 0.5, 0), (1, 0.5, 0)))
        interpolate = vtkInterpolateDataSetAttributes()
        self.kept = [self.modelled(shape, (50, 50, 12), 0.5, (-0.5, 1.5, -0.5, 1.5, -0.5, 0.5)) for shape in shapes]
        for model in self.kept:
            interpolate.AddInputConnection(model.GetOutputPort())
        for moment in (0.0, 0.6, 1.5):
            interpolate.SetT(moment)
            mesh = output(ours(interpolate, 0.1, RemoveDegenerateTriangles=1))
            self.same_surface(mesh, used(output(theirs(vtkContourFilter, interpolate, 0.1))), f"at {moment}")
            self.sound(mesh, f"at {moment}", share=0.01)

    def cross(self):
        append = vtkAppendPolyData()
        for start, end in (((-2, 0, 0), (2, 0, 0)), ((0, -2, 0), (0, 2, 0)), ((0, 0, -2), (0, 0, 2))):
            append.AddInputData(segment(start, end))
        append.Update()
        return append.GetOutput()

    def test_appendImplicitModel(self):
        """Shapes added one by one to one model; the next contour sees each."""
        model = vtkImplicitModeller()
        model.SetSampleDimensions(60, 60, 60)
        model.SetMaximumDistance(0.25)
        model.SetModelBounds(-2.5, 2.5, -2.5, 2.5, -2.5, 2.5)
        mine, other = ours(model, 0.1), theirs(vtkContourFilter, model, 0.1)
        model.StartAppend()
        for start, end in (((-2, 0, 0), (2, 0, 0)), ((0, -2, 0), (0, 2, 0))):
            model.Append(segment(start, end))
        plane = vtkPlaneSource()
        plane.Update()
        model.Append(plane.GetOutput())
        model.EndAppend()
        self.same_surface(output(mine), output(other), "three shapes")
        before = area(output(mine))
        model.StartAppend()
        model.Append(segment((0, 0, -2), (0, 0, 2)))
        model.EndAppend()
        model.Modified()
        self.same_surface(output(mine), output(other), "after the next")
        self.assertNotEqual(area(output(mine)), before, "the area after another shape")

    def test_appendImplicitModelNoBounds(self):
        model = self.modelled(self.cross(), (60, 60, 60), 0.25)
        mesh = output(ours(model, 0.1))
        self.same_surface(mesh, output(theirs(vtkContourFilter, model, 0.1)))
        self.sound(mesh, share=0.01)

    def test_camera(self):
        """A drawn arrow, given thickness by a flat volume of 50 x 20 x 8."""
        places = vtkPoints()
        for place in ((0, 1, 0), (8, 1, 0), (8, 2, 0), (10, 0.01, 0), (0, 0.01, 0)):
            places.InsertNextPoint(*place)
        arrow = vtkPolyData()
        arrow.SetPoints(places)
        arrow.Allocate(1, 1)
        arrow.InsertNextCell(4, 5, range(5))  # a polyline
        model = self.modelled(arrow, (50, 20, 8), 0.1)
        mesh = output(ours(model, 0.2))
        self.same_surface(mesh, output(theirs(vtkContourFilter, model, 0.2)))

    def test_voxelModel(self):
        """Bits, written to a file and read again."""
        import os
        import tempfile
        ball = vtkSphereSource()
        ball.SetThetaResolution(10)
        ball.SetPhiResolution(10)
        model = vtkVoxelModeller()
        model.SetInputConnection(ball.GetOutputPort())
        model.SetSampleDimensions(21, 21, 21)
        model.SetModelBounds(-1.5, 1.5, -1.5, 1.5, -1.5, 1.5)
        model.SetScalarTypeToBit()
        model.SetForegroundValue(1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "voxels.vtk")
            writer = vtkDataSetWriter()
            writer.SetInputConnection(model.GetOutputPort())
            writer.SetFileName(path)
            writer.Write()
            reader = vtkDataSetReader()
            reader.SetFileName(path)
            reader.Update()
        data = reader.GetOutput()
        self.assertEqual(data.GetPointData().GetScalars().GetClassName(), "vtkBitArray", "the array")
        mesh = output(ours(data, 0.999))
        # VTK's own filter takes the bits from the array one by one.
        self.same_surface(mesh, output(theirs(vtkContourFilter, data, 0.999)))
        self.assertGreater(mesh.GetNumberOfPolys(), 100, "triangles")


class Points(VTKTest):
    """Volumes from points: splats, kernels, distances."""

    def both_splatters(self, kind, **options):
        """The population as it is, and part of it by value: two volumes, contoured at the same isovalue."""
        for warp, scale in ((0, 1.0), (1, 0.05)):
            splatter = kind()
            splatter.SetInputData(cloud(11, 300))
            splatter.SetSampleDimensions(50, 50, 50)
            splatter.SetScalarWarping(warp)
            splatter.SetScaleFactor(scale)
            for name, value in options.items():
                getattr(splatter, "Set" + name)(value)
            splatter.Update()
            yield splatter

    def check_splats(self, kind, reference, **options):
        sizes = []
        for splatter in self.both_splatters(kind, **options):
            mesh = output(ours(splatter, 0.01, RemoveDegenerateTriangles=1))
            self.same_surface(mesh, used(output(theirs(reference, splatter, 0.01))))
            self.sound(mesh, share=0.05)
            sizes.append(mesh.GetNumberOfPolys())
        self.assertNotEqual(*sizes, "both volumes give the same mesh")

    def test_financialField(self):
        self.check_splats(vtkGaussianSplatter, vtkMarchingContourFilter, Radius=0.05)

    def test_financialField3(self):
        self.check_splats(vtkGaussianSplatter, vtkContourFilter, Radius=0.05)

    def test_TestCheckerboardSplatter(self):
        self.check_splats(vtkCheckerboardSplatter, vtkMarchingContourFilter, Footprint=2, ParallelSplatCrossover=2)

    def test_TestEllipsoidalGaussianKernel(self):
        size = 60
        volume_of = vtkImageData()
        volume_of.SetDimensions(size, size, size)
        scalars = vtkFloatArray()
        scalars.SetName("scalars")
        volume_of.GetPointData().SetScalars(scalars)  # empty, as there
        places = vtkPoints()
        places.InsertNextPoint(volume_of.GetCenter())
        one = vtkPolyData()
        one.SetPoints(places)
        for name, values in (("value", [5.0]), ("axis", [[1.0, 1.0, 1.0]])):
            each = numpy_to_vtk(numpy.array(values, numpy.float32), deep=True)
            each.SetName(name)
            one.GetPointData().AddArray(each)
        one.GetPointData().SetActiveScalars("value")
        one.GetPointData().SetActiveNormals("axis")
        kernel = vtkEllipsoidalGaussianKernel()
        kernel.SetKernelFootprintToRadius()
        kernel.SetRadius(24.0)
        kernel.UseScalarsOn()
        kernel.UseNormalsOn()
        kernel.SetScaleFactor(0.5)
        kernel.SetEccentricity(3)
        kernel.NormalizeWeightsOff()
        interpolator = vtkPointInterpolator()
        interpolator.SetInputData(volume_of)
        interpolator.SetSourceData(one)
        interpolator.SetKernel(kernel)
        data = output(interpolator)
        name = data.GetPointData().GetScalars().GetName()
        top = data.GetPointData().GetScalars().GetRange()[1]
        mesh = output(ours(data, 0.8 * top))
        self.same_surface(mesh, output(theirs(vtkFlyingEdges3D, data, 0.8 * top)), name)
        # An ellipsoid about the axis (1, 1, 1), flat or long along it.
        spread = numpy.linalg.eigvalsh(numpy.cov((points(mesh) - points(mesh).mean(axis=0)).T))
        self.assertGreater(spread.max() / spread.min(), 3.0, "the ellipsoid is a ball")

    def test_TestSignedDistanceFilter(self):
        random = numpy.random.default_rng(5)
        directions = random.normal(size=(4000, 3))
        directions /= numpy.linalg.norm(directions, axis=1, keepdims=True)
        shell = vtkPolyData()
        places = vtkPoints()
        places.SetData(numpy_to_vtk(0.75 * directions, deep=True))
        shell.SetPoints(places)
        shell.GetPointData().SetNormals(numpy_to_vtk(directions.astype(numpy.float32), deep=True))
        distance = vtkSignedDistance()
        distance.SetInputData(shell)
        distance.SetRadius(0.15)
        distance.SetBounds(-1, 1, -1, 1, -1, 1)
        distance.SetDimensions(50, 50, 50)
        data = output(distance)
        # VTK's vtkExtractSurface is a Flying Edges that knows which samples are empty; the others count as far inside.
        mesh = output(ours(data, 0.0))
        self.same_surface(mesh, output(theirs(vtkFlyingEdges3D, data, 0.0)))
        radius = numpy.linalg.norm(points(mesh), axis=1)
        self.assertGreater((numpy.abs(radius - 0.75) < 0.03).mean(), 0.4, "share of points on the sphere")

    def test_TestUnsignedDistanceFilter(self):
        distance = vtkUnsignedDistance()
        distance.SetInputData(cloud(31415, 100))
        distance.SetRadius(0.25)
        distance.SetDimensions(50, 50, 50)
        distance.CappingOn()
        distance.AdjustBoundsOn()
        distance.SetAdjustDistance(0.01)
        mesh = output(ours(distance, 0.075, ComputeNormals=0))
        reference = output(theirs(vtkFlyingEdges3D, distance, 0.075, ComputeNormals=0))
        self.same_surface(mesh, reference)
        self.assertIsNone(array(mesh, "Normals"), "normals though switched off")
        # What no point is near to holds 1e38. A surface beside it is within rounding of a sample, so that points
        # coincide; and VTK's normals there are NaN, ours are not.
        self.assertLessEqual(flat(mesh), flat(reference), "triangles without area")
        self.assertTrue(numpy.isfinite(array(output(ours(distance, 0.075)), "Normals")).all(), "normals")

    def test_reconstructSurface(self):
        """A surface from unordered points, turned round afterwards."""
        ball = vtkSphereSource()
        ball.SetThetaResolution(30)
        ball.SetPhiResolution(30)
        reconstruction = vtkSurfaceReconstructionFilter()
        reconstruction.SetInputConnection(ball.GetOutputPort())
        reconstruction.Update()
        mine = ours(reconstruction, 0.0)
        mesh = output(mine)
        self.same_surface(mesh, output(theirs(vtkContourFilter, reconstruction, 0.0)))
        reverse = vtkReverseSense()
        reverse.SetInputConnection(mine.GetOutputPort())
        reverse.ReverseCellsOn()
        reverse.ReverseNormalsOn()
        turned = output(reverse)
        self.assertTrue((array(turned, "Normals") == -array(mesh, "Normals")).all(), "normals turned round")
        center = points(mesh).mean(axis=0)
        self.near(volume(turned, center) / volume(mesh, center), -1.0, 1e-6, "volume turned round")


class Derived(VTKTest):
    def test_ExtractTensors(self):
        """The effective stress under a point load at 0; then subdivision, which looks at two cells at a time."""
        load = vtkPointLoad()
        load.SetLoadValue(100.0)
        load.SetSampleDimensions(30, 30, 30)
        load.ComputeEffectiveStressOn()
        load.SetModelBounds(-10, 10, -10, 10, -10, 10)
        extract = vtkExtractTensorComponents()
        extract.SetInputConnection(load.GetOutputPort())
        extract.ScalarIsEffectiveStress()
        extract.ScalarIsComponent()
        extract.ExtractScalarsOn()
        extract.ExtractVectorsOn()
        extract.ExtractNormalsOff()
        extract.ExtractTCoordsOn()
        extract.Update()
        mesh = output(ours(extract, 0.0, RemoveDegenerateTriangles=1))
        reference = used(output(theirs(vtkContourFilter, extract, 0.0)))
        self.same_places(mesh, reference)
        self.same_counts(mesh, reference)
        wide = ours(extract, 0.0, RemoveDegenerateTriangles=1)
        subdivision = vtkLoopSubdivisionFilter()
        subdivision.SetInputConnection(wide.GetOutputPort())
        subdivision.SetNumberOfSubdivisions(1)
        finer = output(subdivision)
        self.assertEqual(finer.GetNumberOfPolys(), 4 * mesh.GetNumberOfPolys(), "triangles after subdivision")
        self.near(area(finer) / area(mesh), 1.0, 0.05, "area after subdivision")

    def test_TestPResampleToImage(self):
        """A clipped wavelet sampled again on 64^3, a box of it contoured: masks and ghosts come with the samples."""
        source = vtkRTAnalyticSource()
        source.SetWholeExtent(0, 31, 0, 31, 0, 31)
        source.SetCenter(16, 16, 16)
        clip = vtkClipDataSet()
        clip.SetInputConnection(source.GetOutputPort())
        clip.SetInputArrayToProcess(0, 0, 0, 0, "RTData")
        clip.SetValue(157)
        resample = vtkResampleToImage()
        resample.SetInputDataObject(output(clip))
        resample.SetSamplingDimensions(64, 64, 64)
        box = vtkExtractVOI()
        box.SetInputConnection(resample.GetOutputPort())
        box.SetVOI(4, 59, 4, 59, 4, 59)
        meshes = []
        for algorithm in (ours(box, 200.0), theirs(vtkFlyingEdges3D, box, 200.0)):
            algorithm.SetInputArrayToProcess(0, 0, 0, 0, "RTData")
            meshes.append(output(algorithm))
        self.same_surface(*meshes)

    def test_gaussian(self):
        """Five densities from 0 to 0.05: the lowest is the lowest sample, where nothing is outside."""
        z, y, x = numpy.mgrid[-3:3:50j, -3:3:50j, -3:3:50j]
        density = numpy.exp(-3 * ((x - 0.8) ** 2 + y * y + z * z)) + numpy.exp(-4 * ((x + 0.9) ** 2 + y * y + z * z))
        density[density < 1e-6] = 0.0
        data = image(density.astype(numpy.float32), spacing=(0.12, 0.12, 0.12))
        meshes = []
        for algorithm in (ours(data), theirs(vtkContourFilter, data)):
            algorithm.GenerateValues(5, 0, 0.05)
            meshes.append(output(algorithm))
        self.same_surface(meshes[0], used(meshes[1]))
        self.assertEqual(len(set(array(meshes[0], "scalars"))), 4, "isovalues with a surface")


if __name__ == "__main__":
    unittest.main(verbosity=2)
