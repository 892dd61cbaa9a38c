# SPDX-License-Identifier: BSD-3-Clause
"""VTK's tests of contours in pieces and blocks, here in one process (Testing/Plugin has those with MPI), and of
contours of plane images."""
import os
import tempfile
import unittest

import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet
from vtkmodules.vtkCommonExecutionModel import (vtkExtentTranslator, vtkStreamingDemandDrivenPipeline,
                                                vtkThreadedCompositeDataPipeline)
from vtkmodules.vtkFiltersAMR import vtkAMRGaussianPulseSource
from vtkmodules.vtkFiltersCore import (vtkAppendPolyData, vtkCellDataToPointData, vtkCleanPolyData,
                                       vtkConnectivityFilter, vtkContourFilter, vtkElevationFilter, vtkFlyingEdges2D,
                                       vtkFlyingEdges3D, vtkStripper, vtkSynchronizedTemplates2D,
                                       vtkSynchronizedTemplates3D)
from vtkmodules.vtkFiltersExtraction import vtkExtractLevel
from vtkmodules.vtkFiltersGeneral import vtkContourTriangulator
from vtkmodules.vtkFiltersParallel import vtkTransmitStructuredDataPiece
from vtkmodules.vtkImagingCore import vtkImageCast, vtkImageClip, vtkRTAnalyticSource
from vtkmodules.vtkImagingSources import vtkImageMandelbrotSource
from vtkmodules.vtkIOParallel import vtkPDataSetReader, vtkPDataSetWriter
from vtkmodules.vtkIOParallelXML import vtkXMLPImageDataWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLImageDataWriter, vtkXMLPImageDataReader
from vtkmodules.vtkParallelCore import vtkDummyController

from pmb import vtkPMBContourFilter
from vtk_testing import (VTKTest, area, array, connect, head, length, ours, output, protein, terrain, theirs, triangles,
                         used)

TYPES = ("UnsignedChar", "Char", "Short", "UnsignedShort", "Int", "UnsignedInt", "Long", "UnsignedLong", "Float",
         "Double")


def own(mesh):
    """What is left of a piece without its ghost cells."""
    mesh.RemoveGhostCells()
    return used(mesh)


def in_pieces(algorithm, count, ghost_levels=0):
    """Copies of the outputs for each of several pieces, without ghost cells."""
    meshes = []
    for piece in range(count):
        algorithm.UpdatePiece(piece, count, ghost_levels)
        mesh = algorithm.GetOutput().NewInstance()
        mesh.DeepCopy(algorithm.GetOutput())
        meshes.append(own(mesh))
    return meshes


def joined(meshes):
    append = vtkAppendPolyData()
    for mesh in meshes:
        append.AddInputData(mesh)
    clean = vtkCleanPolyData()
    clean.SetInputConnection(append.GetOutputPort())
    clean.SetTolerance(0.0)
    clean.PointMergingOn()
    return output(clean)


def wavelet(half=10):
    source = vtkRTAnalyticSource()
    source.SetWholeExtent(-half, half, -half, half, -half, half)
    return source


def named(algorithm, name="RTData"):
    algorithm.SetInputArrayToProcess(0, 0, 0, 0, name)
    return algorithm


class Pieces(VTKTest):
    """The pieces' triangles, ghosts dropped, are those of the whole."""

    def test_TransmitImageData(self):
        """One process has the volume, each gets a piece of it."""
        data = protein()
        whole = output(theirs(vtkFlyingEdges3D, data, 10.5, ComputeNormals=0))
        for count in (1, 2, 4):
            send = connect(vtkTransmitStructuredDataPiece(), data)
            send.SetController(vtkDummyController())
            mine = ours(send, 10.5, ComputeNormals=0)
            elevation = vtkElevationFilter()
            elevation.SetInputConnection(mine.GetOutputPort())
            meshes = in_pieces(elevation, count)
            self.assertGreater(min(mesh.GetNumberOfPolys() for mesh in meshes), 0, "an empty piece")
            self.assertEqual(sum(mesh.GetNumberOfPolys() for mesh in meshes), whole.GetNumberOfPolys(),
                             f"triangles of {count} pieces")
            self.same_surface(joined(meshes), whole, f"{count} pieces")

    def test_ParallelIso(self):
        """The isovalue moves three times, and pieces are asked for each time; then they are put together."""
        folder = tempfile.TemporaryDirectory(prefix="pmb-vtk-")
        self.addCleanup(folder.cleanup)
        writer = connect(vtkXMLImageDataWriter(), head())
        writer.SetFileName(os.path.join(folder.name, "head.vti"))
        writer.SetDataModeToBinary()  # not appended: see Docs/VERSIONS.md, "What differs"
        writer.Write()
        reader = vtkXMLImageDataReader()
        reader.SetFileName(writer.GetFileName())
        mine = ours(reader, 3000.5, ComputeScalars=0, ComputeGradients=0)
        for isovalue in (2000.5, 1400.5, 800.5):
            mine.SetValue(0, isovalue)
            whole = output(theirs(vtkFlyingEdges3D, head(), isovalue))
            for count in (1, 2, 5):
                meshes = in_pieces(mine, count)
                self.assertEqual(meshes[0].GetNumberOfPolys() == whole.GetNumberOfPolys(), count == 1, "one of them")
                self.same_surface(joined(meshes), whole, f"{count} pieces at {isovalue}")

    def test_ParallelConnectivity(self):
        """Parts that hang together, counted over pieces: as many, and as large, as in the whole."""
        def regions(mesh):
            connectivity = vtkConnectivityFilter()
            connectivity.SetInputData(mesh)
            connectivity.SetExtractionModeToAllRegions()
            connectivity.ColorRegionsOn()
            ids = vtk_to_numpy(output(connectivity).GetCellData().GetArray("RegionId"))
            return sorted(numpy.bincount(ids))
        for precision in (0, 1):
            send = connect(vtkTransmitStructuredDataPiece(), protein())
            send.SetController(vtkDummyController())
            mine = ours(send, 100.5, OutputPointsPrecision=precision)
            whole = regions(output(theirs(vtkContourFilter, protein(), 100.5)))
            self.assertGreater(len(whole), 2, "parts")
            self.assertEqual(regions(joined(in_pieces(mine, 3))), whole, f"cells of each part, precision {precision}")

    def test_TestPDataSetReaderGrid(self):
        """Mandelbrot's set, written in four pieces; of three pieces of it the first."""
        fractal = vtkImageMandelbrotSource()
        fractal.SetWholeExtent(0, 9, 0, 9, 0, 9)
        fractal.SetSampleCX(0.1, 0.1, 0.1, 0.1)
        fractal.SetMaximumNumberOfIterations(10)
        with tempfile.TemporaryDirectory() as folder:
            writer = vtkPDataSetWriter()
            writer.SetFileName(os.path.join(folder, "fractal.pvtk"))
            writer.SetInputConnection(fractal.GetOutputPort())
            writer.SetNumberOfPieces(4)
            writer.SetStartPiece(0)
            writer.SetEndPiece(3)
            writer.Write()
            reader = vtkPDataSetReader()
            reader.SetFileName(os.path.join(folder, "fractal.pvtk"))
            mine, other = ours(reader, 4.0), theirs(vtkContourFilter, reader, 4.0)
            meshes = in_pieces(mine, 3)
            self.same_surface(meshes[0], own(in_pieces(other, 3)[0]), "the first piece")
            self.assertEqual(sum(mesh.GetNumberOfPolys() for mesh in meshes),
                             output(theirs(vtkFlyingEdges3D, fractal, 4.0)).GetNumberOfPolys(), "all pieces")

    def test_testParallelXMLWriters(self):
        """Sixteen files, read by one, two or five: VTK's test expects this number of triangles in all."""
        with tempfile.TemporaryDirectory() as folder:
            for subfolder in (False, True):
                source = wavelet()
                writer = vtkXMLPImageDataWriter()
                writer.SetInputConnection(source.GetOutputPort())
                writer.SetNumberOfPieces(16)
                writer.SetStartPiece(0)
                writer.SetEndPiece(15)
                writer.SetUseSubdirectory(subfolder)
                writer.SetDataModeToBinary()
                writer.SetFileName(os.path.join(folder, f"image{subfolder}.pvti"))
                writer.Write()
                reader = vtkXMLPImageDataReader()
                reader.SetFileName(writer.GetFileName())
                for count in (1, 2, 5):
                    mine = ours(reader, 130.0, ComputeNormals=0, RemoveDegenerateTriangles=1)
                    mine.UpdateInformation()
                    total = sum(mesh.GetNumberOfPolys() for mesh in in_pieces(named(mine), count))
                    self.assertEqual(total, 4924, f"triangles of {count} pieces")


class Blocks(VTKTest):
    def test_TestSMPPipelineContour(self):
        """Fifty blocks, worked off by VTK's threads all at once by one filter: as many cells as the whole gives."""
        half, count = 40, 50
        translator = vtkExtentTranslator()
        blocks = vtkMultiBlockDataSet()
        source = wavelet(half)
        for piece in range(count):
            extent = [0] * 6
            translator.PieceToExtentThreadSafe(piece, count, 0, (-half, half) * 3, extent,
                                               translator.BLOCK_MODE, 0)
            source.UpdateExtent(extent)
            block = vtkImageData()
            block.DeepCopy(source.GetOutput())
            block.Crop(extent)
            blocks.SetBlock(piece, block)
        source.UpdateWholeExtent()
        whole = output(named(theirs(vtkSynchronizedTemplates3D, source, 200.0)))
        for executive in (None, vtkThreadedCompositeDataPipeline()):
            mine = vtkPMBContourFilter()
            if executive:
                mine.SetExecutive(executive)
            mine.SetInputData(blocks)
            named(mine)
            mine.SetValue(0, 200.0)
            for isovalue in (200.0, 150.0, 200.0):
                mine.SetValue(0, isovalue)
                result = output(mine)
            total = sum(result.GetBlock(piece).GetNumberOfCells() for piece in range(count))
            self.assertEqual(total, whole.GetNumberOfCells(), f"cells, {executive and executive.GetClassName()}")

    def check_level(self, level):
        """A level of an AMR data set, its cell data taken to the points."""
        source = vtkAMRGaussianPulseSource()
        source.SetDimension(3)
        source.Update()
        name = "Gaussian-Pulse"
        data = source.GetOutput()
        tops = [data.GetDataSet(level, index).GetCellData().GetArray(name).GetRange()[1]
                for index in range(data.GetNumberOfDataSets(level))]
        extract = vtkExtractLevel()
        extract.SetInputConnection(source.GetOutputPort())
        extract.AddLevel(level)
        points = vtkCellDataToPointData()
        points.SetInputConnection(extract.GetOutputPort())
        sums = []
        for algorithm in (ours(points, 0.2 * max(tops)), theirs(vtkContourFilter, points, 0.2 * max(tops))):
            result = output(named(algorithm, name))
            iterator = result.NewIterator()
            iterator.UnRegister(None)
            cells, parts = 0, 0
            while not iterator.IsDoneWithTraversal():
                cells += iterator.GetCurrentDataObject().GetNumberOfCells()
                parts += 1
                iterator.GoToNextItem()
            sums.append((parts, cells))
        self.assertGreater(sums[1][1], 0, "the reference is empty")
        self.assertEqual(*sums, "blocks, cells")

    def test_TestHierarchicalBoxPipeline(self):
        self.check_level(1)

    def test_TestHierarchicalBoxPipeline_refined(self):
        """A level with cells that a finer one replaces: they are hidden."""
        self.check_level(0)


class Flat(VTKTest):
    """Plane images: isolines, by VTK's own vtkSynchronizedTemplates2D inside."""

    def test_TestLabeledContourMapper(self):
        """Twenty-one heights of a terrain, joined to polylines: TestContextArea and TestPropItem draw them, too."""
        data = terrain()
        low, high = data.GetScalarRange()
        lines = []
        for algorithm in (ours(data), theirs(vtkContourFilter, data)):
            algorithm.GenerateValues(21, low, high)
            strip = vtkStripper()
            strip.SetInputConnection(algorithm.GetOutputPort())
            lines.append((output(algorithm), output(strip)))
        (mine, mine_joined), (other, other_joined) = lines
        # The coordinates are single precision, and about 5 million: half a unit is their last digit.
        self.same_lines(used(mine), used(other), rounding=0.5)
        self.assertEqual(mine_joined.GetNumberOfLines(), other_joined.GetNumberOfLines(), "polylines")
        self.assertLess(mine_joined.GetNumberOfLines(), 100, "polylines")
        self.same_array(mine, other, "scalars", 1e-3)

    def test_TestContourTriangulator(self):
        """The area inside of the isolines of a slice, cut into triangles."""
        areas = []
        for algorithm in (ours(head(45, 45), 500.5), theirs(vtkContourFilter, head(45, 45), 500.5)):
            fill = vtkContourTriangulator()
            fill.SetInputConnection(algorithm.GetOutputPort())
            result = output(fill)
            self.assertEqual(fill.GetTriangulationError(), 0, "the triangulation failed")
            areas.append((result.GetNumberOfPolys(), area(result)))
        self.assertGreater(areas[1][0], 100, "triangles")
        self.assertEqual(areas[0][0], areas[1][0], "triangles")
        self.near(areas[0][1] / areas[1][1], 1.0, 1e-4, "area")

    def test_labeledContours(self):
        """Six isovalues in a slice, coloured by them."""
        meshes = []
        for algorithm in (ours(head(45, 45)), theirs(vtkContourFilter, head(45, 45))):
            algorithm.GenerateValues(6, 500, 1150)
            meshes.append(output(algorithm))
        self.same_lines(*meshes)
        self.assertEqual(meshes[0].GetPointData().GetScalars().GetRange(),
                         meshes[1].GetPointData().GetScalars().GetRange(), "range of the scalars")

    def test_contour2DAll(self):
        """Slices of bytes, cast to each of ten types; the isovalue equals samples."""
        for index, name in enumerate(TYPES):
            clip = connect(vtkImageClip(), protein())
            clip.SetOutputWholeExtent(-1000, 1000, -1000, 1000, 20 + 3 * index, 20 + 3 * index)
            cast = vtkImageCast()
            getattr(cast, f"SetOutputScalarTypeTo{name}")()
            cast.SetInputConnection(clip.GetOutputPort())
            mine, other = ours(cast), theirs(vtkContourFilter, cast)
            for algorithm in (mine, other):
                algorithm.GenerateValues(1, 30, 30)
            lines, reference = output(mine), output(other)
            if name in ("UnsignedInt", "UnsignedLong", "Long"):
                reference = output(theirs(vtkContourFilter, self.double(cast), 30.0))
            self.same_lines(lines, reference, name)

    @staticmethod
    def double(cast):
        cast.SetOutputScalarTypeToDouble()
        return cast

    def test_TestSynchronizedTemplates2D(self):
        source = vtkRTAnalyticSource()
        source.SetWholeExtent(-10, 10, -10, 10, 0, 0)
        source.SetCenter(0.0, 0.0, 0.0)
        source.Update()
        meshes = []
        for algorithm in (ours(source), theirs(vtkSynchronizedTemplates2D, source), theirs(vtkFlyingEdges2D, source)):
            algorithm.GenerateValues(3, 100, 250)
            meshes.append(output(named(algorithm)))
        self.same_lines(meshes[0], meshes[1])
        self.near(length(meshes[0]), length(meshes[2]), 1e-3 * length(meshes[2]), "length, flying edges")


if __name__ == "__main__":
    unittest.main(verbosity=2)
