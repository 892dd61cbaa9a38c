# SPDX-License-Identifier: BSD-3-Clause
"""The triangles of VTK's filters. And tests of VTK's source with this filter in place of VTK's: those that check something
that no other test here does.
Docs/VTK_TESTS.md lists all; a method is named as VTK names its test. A mesh is compared with that of VTK's class on the same
input."""
import os
import re
import sys
import unittest

import numpy
from pmb import vtkPMBContourAcceleration, vtkPMBContourFilter
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet, vtkStaticPointLocator
from vtkmodules.vtkCommonExecutionModel import vtkExtentTranslator, vtkThreadedCompositeDataPipeline
from vtkmodules.vtkFiltersCore import (vtkCleanPolyData, vtkContourFilter, vtkFlyingEdges3D, vtkMarchingCubes,
                                       vtkSynchronizedTemplates3D)
from vtkmodules.vtkFiltersModeling import vtkHausdorffDistancePointSetFilter
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)


def make(kind, source, *isovalues, **options):
    """An algorithm with another one, or data, as input."""
    algorithm = kind()
    if hasattr(source, "GetOutputPort"):
        algorithm.SetInputConnection(source.GetOutputPort())
    else:
        algorithm.SetInputData(source)
    for index, isovalue in enumerate(isovalues):
        algorithm.SetValue(index, isovalue)
    for name, value in options.items():
        getattr(algorithm, "Set" + name)(value)
    return algorithm


def ours(source, *isovalues, **options):
    """This filter; by default it keeps the triangles that vtkFlyingEdges3D keeps."""
    return make(vtkPMBContourFilter, source, *isovalues, **{"RemoveDegenerateTriangles": 0, **options})


def output(algorithm):
    algorithm.Update()
    return algorithm.GetOutputDataObject(0)


def points(mesh):
    return vtk_to_numpy(mesh.GetPoints().GetData()).astype(numpy.float64)


def triangles(mesh):
    return vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)


def area(mesh):
    corners = points(mesh)[triangles(mesh)]
    return 0.5 * numpy.linalg.norm(numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()


def used(mesh):
    """The mesh without unused points: VTK's filters leave some when they remove triangles without area."""
    return output(make(vtkCleanPolyData, mesh, PointMerging=0, ConvertPolysToLines=0, ConvertLinesToPoints=0))


def wavelet(high, low=None):
    source = vtkRTAnalyticSource()
    source.SetWholeExtent(*(-high if low is None else low, high) * 3)
    source.SetCenter(0.0, 0.0, 0.0)
    source.Update()
    source.GetOutput().GetPointData().SetActiveScalars("RTData")
    return source


class Comparison(unittest.TestCase):
    def same_surface(self, mesh, reference, what=""):
        self.assertGreater(reference.GetNumberOfCells(), 0, f"{what}: the reference is empty, the test says nothing")
        self.assertEqual(mesh.GetNumberOfPolys(), reference.GetNumberOfPolys(), f"{what}: triangles")
        self.assertEqual(mesh.GetNumberOfPoints(), reference.GetNumberOfPoints(), f"{what}: points")
        apart = vtkHausdorffDistancePointSetFilter()
        apart.SetInputData(0, mesh)
        apart.SetInputData(1, reference)
        apart.Update()
        self.assertLess(apart.GetHausdorffDistance(), 1e-5 * reference.GetLength(), f"{what}: distance of the points")
        self.assertAlmostEqual(area(mesh) / area(reference), 1.0, 2, f"{what}: area, as a part of the reference's")


class Parity(Comparison):
    """Triangles cut and turned as VTK's: each case of a cell, and volumes. (A closed mesh: Testing/Kernels.)"""
    def same_triangles(self, samples, isovalue, what, kind=vtkMarchingCubes):
        data = vtkImageData()
        data.SetDimensions(samples.shape[::-1])
        data.GetPointData().SetScalars(numpy_to_vtk(samples.ravel(), deep=True))
        mesh, reference = output(ours(data, isovalue)), output(make(kind, data, isovalue))
        self.same_surface(mesh, reference, what)
        locator = vtkStaticPointLocator()
        locator.SetDataSet(reference)
        locator.BuildLocator()
        theirs = numpy.array([locator.FindClosestPoint(place) for place in points(mesh)])
        self.assertEqual(len(set(theirs)), len(theirs), f"{what}: points of the reference, one each")

        def turned(rows):
            """With the lowest id first."""
            columns = (rows.argmin(axis=1)[:, None] + [0, 1, 2]) % 3
            return sorted(map(tuple, numpy.take_along_axis(rows, columns, axis=1)))

        self.assertEqual(turned(theirs[triangles(mesh)]), turned(triangles(reference)), f"{what}: triangles")
        return mesh.GetNumberOfPolys()

    def test_cases(self):
        """Samples at unequal distances from the isovalue, so that no two points coincide."""
        corner = numpy.arange(8, dtype=numpy.float32).reshape(2, 2, 2)
        above, below = 1 + 0.1 * corner, -1 - 0.07 * corner
        seen = {self.same_triangles(numpy.where(bits >> corner.astype(int) & 1, above, below), 0.0, f"case {bits}")
                for bits in range(1, 255)}
        self.assertTrue({1, 5} <= seen, "cases of one and of five triangles")

    def test_volumes(self):
        z, y, x = numpy.mgrid[0:30, 0:27, 0:40] * 0.69
        gyroid = numpy.sin(x) * numpy.cos(y) + numpy.sin(y) * numpy.cos(z) + numpy.sin(z) * numpy.cos(x)
        random = numpy.random.default_rng(1)
        for name, samples, isovalue in (("gyroid", gyroid.astype(numpy.float32), 0.1),
                                        ("noise of bytes", random.integers(0, 256, (25, 26, 27), numpy.uint8), 127.5),
                                        ("noise of shorts", random.integers(0, 30000, (10, 9, 66), numpy.int16), 12000.5)):
            self.same_triangles(samples, isovalue, name, vtkFlyingEdges3D)


class VTKTest(Comparison):
    def test_TestContourImplicitArrays(self):
        """An array with more tuples than the image has points."""
        z, y, x = numpy.mgrid[-14:15, -14:15, -14:15] / 30
        level = numpy.sqrt(x * x + y * y + z * z) - 0.6
        data = vtkImageData()
        data.SetExtent(-14, 14, -14, 14, -14, 14)
        data.SetSpacing(1 / 30, 1 / 30, 1 / 30)
        data.GetPointData().SetScalars(numpy_to_vtk(numpy.append(level.ravel(), numpy.zeros(2611)), deep=True))
        mesh = output(ours(data, 0.0, RemoveDegenerateTriangles=1))
        self.same_surface(mesh, used(output(make(vtkContourFilter, data, 0.0))))
        self.assertLess(numpy.abs(numpy.linalg.norm(points(mesh), axis=1) - 0.6).max(), 1e-3, "distance from the sphere")

    def test_TestSMPPipelineContour(self):
        """Fifty blocks, executed by VTK's threads with one filter: as many cells as from the whole."""
        blocks = vtkMultiBlockDataSet()
        source = wavelet(40)
        for piece in range(50):
            extent = [0] * 6
            vtkExtentTranslator().PieceToExtentThreadSafe(piece, 50, 0, (-40, 40) * 3, extent,
                                                          vtkExtentTranslator.BLOCK_MODE, 0)
            source.UpdateExtent(extent)
            block = vtkImageData()
            block.DeepCopy(source.GetOutput())
            block.Crop(extent)
            blocks.SetBlock(piece, block)
        source.UpdateWholeExtent()
        whole = output(make(vtkSynchronizedTemplates3D, source, 200.0)).GetNumberOfCells()
        for executive in (None, vtkThreadedCompositeDataPipeline()):
            contour = vtkPMBContourFilter()
            if executive:
                contour.SetExecutive(executive)
            contour.SetInputData(blocks)
            contour.SetInputArrayToProcess(0, 0, 0, 0, "RTData")
            for isovalue in (200.0, 150.0, 200.0):
                contour.SetValue(0, isovalue)
                result = output(contour)
            self.assertEqual(sum(result.GetBlock(piece).GetNumberOfCells() for piece in range(50)), whole, "cells")

class Python(unittest.TestCase):
    def test_package(self):
        """The package with VTK's modules alone: lists of isovalues, constants, VTK's own filter accelerated and not."""
        contour, values = ours(wavelet(10)), [0.0] * 3
        for arguments in ((100.0, 200.0), ((100.0, 200.0),)):
            contour.SetNumberOfContours(0)
            contour.GenerateValues(3, *arguments)
            contour.GetValues(values)
            self.assertEqual((tuple(contour.GetValues()), values), ((100.0, 150.0, 200.0), [100.0, 150.0, 200.0]))
        contour.SetValue(3, 7.5)
        self.assertEqual((contour.GetNumberOfContours(), contour.GetValue(3)), (4, 7.5), "a longer list")
        self.assertEqual(vtkPMBContourFilter.CPU, 1, "a constant of the class")
        vtkPMBContourAcceleration.Enable()  # for filters made from now on
        stock = make(vtkContourFilter, wavelet(10), 157.5)
        for on in (True, False):
            (vtkPMBContourAcceleration.Enable if on else vtkPMBContourAcceleration.Disable)()
            before = vtkPMBContourAcceleration.GetNumberOfRuns()
            self.assertGreater(output(stock).GetNumberOfPolys(), 100, "triangles")
            self.assertEqual(vtkPMBContourAcceleration.GetNumberOfRuns() - before, int(on), f"accelerated executions, {on}")
        self.assertFalse([name for name in sys.modules if "paraview" in name], "modules of ParaView")


class List(unittest.TestCase):
    def test_list(self):
        """Docs/VTK_TESTS.md names these tests, those of Testing/Plugin/test_vtk.py, and no others."""
        def read(*path):
            with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
                return file.read()

        page = read("Docs", "VTK_TESTS.md")
        plugin = re.search(r"^run\((.*?)\)", read("Testing", "Plugin", "test_vtk.py"), re.M | re.S).group(1)
        for part, names in (("vtk", [name[5:] for name in dir(VTKTest) if name.startswith("test_")]),
                            ("plugin", re.findall(r"\w+", plugin))):
            self.assertEqual(sorted(set(re.findall(rf"`{part}\.(\w+)`", page))), sorted(names), f"tests `{part}.`")


if __name__ == "__main__":
    unittest.main(verbosity=2)
