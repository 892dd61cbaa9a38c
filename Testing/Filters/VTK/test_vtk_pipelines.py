# SPDX-License-Identifier: BSD-3-Clause
"""VTK's tests in which a contour is one step: what comes before it (files, smoothing) and what works on its mesh."""
import os
import tempfile
import unittest

import numpy
from vtkmodules.vtkCommonCore import mutable, vtkIdList, vtkVersion
from vtkmodules.vtkCommonDataModel import (vtkCellLocator, vtkMultiBlockDataSet, vtkPlane, vtkPlaneCollection,
                                           vtkStaticCellLocator, vtkUniformGrid)
from vtkmodules.vtkFiltersCore import (vtkAppendPolyData, vtkContourFilter, vtkFeatureEdges, vtkFlyingEdges3D,
                                       vtkMarchingCubes, vtkPolyDataNormals, vtkProbeFilter, vtkQuadricClustering,
                                       vtkStripper, vtkTriangleFilter)
try:
    from vtkmodules.vtkFiltersCore import vtkExtractCells
except ImportError:  # VTK 9.1
    from vtkmodules.vtkFiltersExtraction import vtkExtractCells
from vtkmodules.vtkFiltersGeneral import vtkClipClosedSurface, vtkImageMarchingCubes
from vtkmodules.vtkImagingCore import vtkExtractVOI, vtkImageConstantPad, vtkRTAnalyticSource
from vtkmodules.vtkImagingGeneral import vtkImageGaussianSmooth, vtkImageGradientMagnitude
from vtkmodules.vtkIOImage import vtkMetaImageReader, vtkMetaImageWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLImageDataWriter

from vtk_testing import (VTKTest, area, array, difference, head, ours, output, picture, points, protein, theirs,
                         triangles, used)

BONE, SKIN = 800.5, 300.5


def wavelet(low=-10, high=10):
    source = vtkRTAnalyticSource()
    source.SetWholeExtent(low, high, low, high, low, high)
    source.Update()
    source.GetOutput().GetPointData().SetActiveScalars("RTData")
    return source


def after(algorithm, kind, **options):
    """Another algorithm behind one."""
    next_one = kind()
    next_one.SetInputConnection(algorithm.GetOutputPort())
    for name, value in options.items():
        getattr(next_one, "Set" + name)(value)
    return next_one


@unittest.skipIf(vtkVersion.GetVTKVersion().startswith("9.1"),
                 "vtkClipClosedSurface of VTK 9.1 leaves edges open, of VTK's own surfaces too")
class Clipping(VTKTest):
    def check(self, kind):
        """A closed surface, cut by planes and closed again: no open edge, the same caps."""
        pad = vtkImageConstantPad()
        pad.SetInputData(head())
        pad.SetOutputWholeExtent(-8, 71, -8, 71, -7, 101)  # so that the surface is closed
        smooth = after(pad, vtkImageGaussianSmooth, Dimensionality=3, RadiusFactor=3)
        smooth.SetStandardDeviations(1.75, 1.75, 0)
        plane = vtkPlane()
        plane.SetNormal(0.88, 0.47, -0.1)
        plane.SetOrigin(105, 105, 70)
        planes = vtkPlaneCollection()
        planes.AddItem(plane)
        results = []
        for algorithm in (ours(smooth, BONE), theirs(kind, smooth, BONE)):
            clip = after(algorithm, vtkClipClosedSurface, ClippingPlanes=planes)
            clip.GenerateFacesOn() if hasattr(clip, "GenerateFacesOn") else clip.SetGenerateFaces(1)
            faces = output(after(clip, vtkTriangleFilter))
            edges = output(after(clip, vtkFeatureEdges, FeatureEdges=0, ManifoldEdges=0, BoundaryEdges=1,
                                 NonManifoldEdges=0))
            results.append((faces, edges.GetNumberOfLines(), area(output(algorithm))))
        (mine, open_edges, whole), (other, others_open, _) = results
        self.assertEqual(open_edges, 0, "open edges of the clipped surface")
        self.assertEqual(others_open, 0, "open edges of VTK's: the test would say nothing")
        self.near(area(mine) / area(other), 1.0, 0.002, "area with the caps")
        self.assertNotAlmostEqual(area(mine) / whole, 1.0, 2, "nothing was clipped")

    def test_TestClipClosedSurface1(self):
        self.check(vtkFlyingEdges3D)

    def test_TestClipClosedSurface(self):
        self.check(vtkImageMarchingCubes)


class Locators(VTKTest):
    def test_TestStaticCellLocatorPlaneIntersection(self):
        source = wavelet(-15, 15)
        counts, meshes = [], []
        for algorithm in (ours(source, 100.0, 200.0), theirs(vtkFlyingEdges3D, source, 100.0, 200.0)):
            mesh = output(algorithm)
            meshes.append(mesh)
            locator = vtkStaticCellLocator()
            locator.SetDataSet(mesh)
            locator.AutomaticOn()
            locator.SetNumberOfCellsPerNode(20)
            locator.CacheCellBoundsOn()
            locator.BuildLocator()
            cells = vtkIdList()
            locator.FindCellsAlongPlane([0, 0, 0], [1, 1, 1], 0.0, cells)
            side = points(mesh)[triangles(mesh)].sum(axis=2)
            crossed = (side.min(axis=1) <= 0) & (side.max(axis=1) >= 0)
            found = {cells.GetId(index) for index in range(cells.GetNumberOfIds())}
            self.assertLessEqual(set(numpy.flatnonzero(crossed)), found, "cells on the plane that were not found")
            extract = after(algorithm, vtkExtractCells)
            extract.SetCellList(cells)
            self.assertEqual(output(extract).GetNumberOfCells(), len(found), "cells taken out")
            counts.append(int(crossed.sum()))
        self.same_surface(*meshes)
        self.near(counts[0] / counts[1], 1.0, 0.06, "cells on the plane")

    def check_picks(self, kind):
        """Rays from outside, through locators, find the bone at the same place, with the same normal there."""
        smooth = vtkImageGaussianSmooth()  # where a quad is cut along the other diagonal, it stays nearly the same
        smooth.SetInputData(head())
        smooth.SetStandardDeviations(1.75, 1.75, 1.75)
        hits = []
        for algorithm in (ours(smooth, BONE), theirs(kind, smooth, BONE)):
            normals = after(algorithm, vtkPolyDataNormals, FeatureAngle=60.0)
            strips = output(after(normals, vtkStripper, MaximumLength=5))
            locator = vtkCellLocator()
            locator.SetDataSet(strips)
            locator.BuildLocator()
            found = []
            for x in range(50, 160, 5):
                t, sub, cell = mutable(0.0), mutable(0), mutable(0)
                place, where = [0.0] * 3, [0.0] * 3
                hit = locator.IntersectWithLine((x, -10.0, 70.0), (x, 300.0, 70.0), 1e-6, t, place, where, sub, cell)
                found.append(place + [hit])
            hits.append(numpy.array(found))
        self.assertGreater(hits[1][:, 3].sum(), 5, "rays that meet the bone")
        apart = numpy.abs(hits[0] - hits[1]).max(axis=1)
        self.assertLess(apart.max(), 0.32, f"a tenth of the spacing; distances of the hits in mm: {apart}")
        self.assertLess(numpy.median(apart), 0.05, f"distances of the hits in mm: {apart}")

    def test_PickerWithLocator(self):
        self.check_picks(vtkMarchingCubes)

    test_VolumePicker = test_PickerWithLocator


class Meshes(VTKTest):
    def test_Medical3(self):
        """Skin and bone, as strips: Medical1 to Medical3 draw these."""
        for isovalue in (SKIN, BONE):
            source = head()
            filters = ours(source, isovalue), theirs(vtkMarchingCubes, source, isovalue)
            self.same_surface(*(output(each) for each in filters))
            strips = [output(after(each, vtkStripper)) for each in filters]
            self.assertGreater(strips[0].GetNumberOfStrips(), 100, "strips")
            self.near(strips[0].GetNumberOfStrips() / strips[1].GetNumberOfStrips(), 1.0, 0.1, "number of strips")
            self.assertLess(difference(*(picture(each) for each in strips)), 40.0, f"pictures at {isovalue}")

    def test_task1(self):
        """Smoothed, its gradient's length taken, and that probed on the surface of the smoothed volume."""
        source = wavelet(-16, 16)
        smooth = after(source, vtkImageGaussianSmooth)
        smooth.SetStandardDeviations(1, 1, 1)
        smooth.Update()
        smooth.GetOutput().GetPointData().SetActiveScalars("RTData")
        slope = after(smooth, vtkImageGradientMagnitude, Dimensionality=3)
        meshes = []
        for algorithm in (ours(smooth, 220.0), theirs(vtkContourFilter, smooth, 220.0)):
            probe = after(algorithm, vtkProbeFilter)
            probe.SetSourceConnection(slope.GetOutputPort())
            meshes.append(output(probe))
        self.same_surface(*meshes)
        name = slope.GetOutput().GetPointData().GetScalars().GetName()
        self.same_array(*meshes, name, 1e-3)
        self.assertGreater(float(array(meshes[0], name).std()), 0.1, "the probed values vary")

    def test_TestVTKMLevelOfDetail(self):
        """A level of detail: the mesh reduced by clustering."""
        source = wavelet(-40, 40)
        sizes, meshes = [], []
        for algorithm in (ours(source, 157.0), theirs(vtkFlyingEdges3D, source, 157.0)):
            cluster = after(algorithm, vtkQuadricClustering, NumberOfXDivisions=32, NumberOfYDivisions=32,
                            NumberOfZDivisions=32, AutoAdjustNumberOfDivisions=0, UseInputPoints=1)
            coarse = output(cluster)
            meshes.append(output(algorithm))
            self.assertLess(coarse.GetNumberOfPolys(), 0.5 * output(algorithm).GetNumberOfPolys(), "triangles left")
            sizes.append((coarse.GetNumberOfPolys(), area(coarse)))
        self.same_surface(*meshes)
        self.near(sizes[0][0] / sizes[1][0], 1.0, 0.02, "triangles")
        self.near(sizes[0][1] / sizes[1][1], 1.0, 0.02, "area")

    def test_TestUpdateAndCall(self):
        source = wavelet(0, 10)
        mine = ours(source, RemoveDegenerateTriangles=1)
        mine.SetNumberOfContours(1)
        mine.SetValue(0, 100)
        mesh = output(mine)
        self.assertEqual(mesh.GetNumberOfCells(), 255, "cells: VTK's test expects this number")
        append = vtkAppendPolyData()
        for _ in range(2):
            append.AddInputData(mesh)
        self.assertEqual(output(append).GetNumberOfCells(), 2 * 255, "cells of it and itself")

    def test_TestSession(self):
        """Fifteen isovalues, of which some have no surface."""
        source = wavelet()
        meshes = []
        for algorithm in (ours(source, RemoveDegenerateTriangles=1), theirs(vtkContourFilter, source)):
            algorithm.GenerateValues(15, 0, 255)
            meshes.append(used(output(algorithm)))
        self.same_surface(*meshes)
        self.assertLess(len(set(array(meshes[0], "RTData"))), 15, "isovalues with a surface")

    def test_EnSightIronProt(self):
        """A reader of EnSight's files hands out blocks, one of them a uniform grid, with names."""
        grid = vtkUniformGrid()
        grid.DeepCopy(protein())
        blocks = vtkMultiBlockDataSet()
        blocks.SetBlock(0, grid)
        blocks.GetMetaData(0).Set(blocks.NAME(), "protein")
        mine = ours(blocks, 100.0, ComputeScalars=1, RemoveDegenerateTriangles=1)
        result = output(mine)
        self.assertEqual(result.GetNumberOfBlocks(), 1, "blocks")
        self.assertEqual(result.GetMetaData(0).Get(result.NAME()), "protein", "name of the block")
        self.same_surface(result.GetBlock(0), used(output(theirs(vtkContourFilter, protein(), 100.0))))
        self.assertTrue((array(result.GetBlock(0), "scalars") == 100.0).all(), "scalars")


class Files(VTKTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="pmb-vtk-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def written(self, writer_class, name, data, **options):
        writer = writer_class()
        writer.SetInputData(data)
        writer.SetFileName(self.path(name))
        for option, value in options.items():
            getattr(writer, "Set" + option)(value)
        writer.Write()
        return self.path(name)

    def test_TestMHD(self):
        reader = vtkMetaImageReader()
        reader.SetFileName(self.written(vtkMetaImageWriter, "head.mhd", head()))
        settings = dict(ComputeNormals=1, ComputeGradients=0, ComputeScalars=0)
        mesh = output(ours(reader, BONE, **settings))
        self.same_places(mesh, output(theirs(vtkContourFilter, reader, BONE, **settings)))
        self.same_counts(mesh, output(theirs(vtkMarchingCubes, reader, BONE, **settings)))
        self.assertEqual(mesh.GetPointData().GetNumberOfArrays(), 1, "arrays: the normals alone")

    def test_TestXMLImageDataIO(self):
        """Files of text, in pieces and of a part of the extent; with a direction matrix that turns y and z round."""
        data = head()
        data.SetDirectionMatrix(1, 0, 0, 0, -1, 0, 0, 0, -1)
        part = vtkExtractVOI()
        part.SetInputData(data)
        part.SetVOI(0, 63, 0, 63, 1, 45)
        # none with appended data: see Docs/VERSIONS.md, "What differs"
        paths = [self.written(vtkXMLImageDataWriter, "0.vti", output(part), DataMode=0),
                 self.written(vtkXMLImageDataWriter, "1.vti", data, NumberOfPieces=2, DataMode=1),
                 self.written(vtkXMLImageDataWriter, "2.vti", data, DataMode=1, WriteExtent=(1, 31, 4, 63, 12, 92))]
        sizes = []
        for path in paths:
            reader = vtkXMLImageDataReader()
            reader.SetFileName(path)
            mesh = output(ours(reader, SKIN))
            reference = output(theirs(vtkFlyingEdges3D, reader, SKIN))
            self.same_surface(mesh, reference, path)
            self.sound(mesh, path, like=reference)
            # The directions lead to y and z of at most 0; ParaView 5.11's Contour leaves them out.
            bounds = mesh.GetBounds()
            self.assertTrue(bounds[3] <= 0 and bounds[5] <= 0 and bounds[0] >= 0, f"{path}: bounds {bounds}")
            sizes.append(mesh.GetNumberOfPolys())
        whole = output(ours(data, SKIN)).GetNumberOfPolys()
        self.assertEqual(sizes[1], whole, "the volume in two pieces")
        self.assertTrue(0 < sizes[0] < whole and 0 < sizes[2] < whole, f"parts: {sizes} of {whole}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
