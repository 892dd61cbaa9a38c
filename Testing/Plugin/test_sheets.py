# SPDX-License-Identifier: BSD-3-Clause
"""One point per sheet: on scans at isovalues that samples have the mesh is a manifold, and VTK's filters take it."""
import numpy
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import (vtkDecimatePro, vtkFeatureEdges, vtkPolyDataConnectivityFilter,
                                       vtkQuadricDecimation, vtkWindowedSincPolyDataFilter)
from vtkmodules.vtkFiltersModeling import (vtkButterflySubdivisionFilter, vtkFillHolesFilter,
                                           vtkLinearSubdivisionFilter, vtkLoopSubdivisionFilter)
from vtkmodules.vtkImagingCore import vtkExtractVOI

from plugin_testing import Messages, equal, load_plugin, near, output, points, producer, run, triangles, true
import scans


def scan():
    """The upper half of the head, at every second sample: as real, and soon done."""
    half = vtkExtractVOI()
    half.SetInputData(scans.read_ch2())
    half.SetVOI(0, 180, 0, 216, 90, 180)
    half.SetSampleRate(2, 2, 2)
    half.Update()
    return half.GetOutput()


def contour(data, isovalues, remove=2, **options):
    name = data.GetPointData().GetScalars().GetName()
    proxy = simple.PMBContour(Input=producer(data), ContourBy=["POINTS", name], Isosurfaces=isovalues,
                               RemoveDegenerateTriangles=remove, **options)
    for switch in ("Use64BitIds", "ComputeMeasures"):
        proxy.SetPropertyWithName(switch, 1)
    return output(proxy)


def measure(mesh, name):
    return vtk_to_numpy(mesh.GetFieldData().GetArray(name)).tolist()


def unpaired(mesh):
    """By how much edges are used more often in one direction than in the other, in all."""
    ids, n = triangles(mesh).astype(numpy.int64), mesh.GetNumberOfPoints()
    begin, end = ids.ravel(), numpy.roll(ids, -1, 1).ravel()
    _, edge = numpy.unique(numpy.minimum(begin, end) * n + numpy.maximum(begin, end), return_inverse=True)
    return int(numpy.abs(numpy.bincount(edge, numpy.where(begin < end, 1.0, -1.0))).sum())


def after(filter_type, mesh, **settings):
    """What a filter makes of a mesh, without a word of complaint."""
    algorithm = filter_type()
    for name, value in settings.items():
        getattr(algorithm, "Set" + name)(value)
    algorithm.SetInputData(mesh)
    with Messages() as log:
        algorithm.Update()
    equal(log.text(), "", f"what {algorithm.GetClassName()} says")
    return algorithm.GetOutput()


def manifold_on_scans():
    whole = scans.read_ch2()
    for isovalue in (40.0, 45.0, 70.0):
        joined, split = contour(whole, [isovalue], 1), contour(whole, [isovalue])
        true(measure(joined, "NonManifoldEdges")[0] > 0, f"{isovalue}: nothing to split")
        equal(measure(split, "NonManifoldEdges"), [0], f"{isovalue}: edges of more than two triangles")
        equal(unpaired(split), unpaired(joined), f"{isovalue}: open edges")
        near(measure(split, "Area")[0] / measure(joined, "Area")[0], 1.0, 1e-9, f"{isovalue}: area")
        true(numpy.array_equal(points(split)[triangles(split)], points(joined)[triangles(joined)]), "other triangles")
        print(f"{isovalue}: {measure(joined, 'NonManifoldEdges')[0]} edges, {joined.GetNumberOfPoints()} points and "
              f"{split.GetNumberOfPoints() - joined.GetNumberOfPoints()} more")


def arrays_and_isovalues():
    data, isovalues = scan(), [40.0, 45.0, 45.5, 70.0]
    options = {"ComputeNormals": 1, "ComputeGradients": 1, "ComputeScalars": 1}
    together = contour(data, isovalues, **options)
    equal(measure(together, "NonManifoldEdges"), [0] * 4, "edges of more than two triangles")
    begin = first = 0
    for isovalue in isovalues:
        one = contour(data, [isovalue], **options)
        n, m = one.GetNumberOfPoints(), one.GetNumberOfPolys()
        true(numpy.array_equal(triangles(together)[begin:begin + m] - first, triangles(one)), f"{isovalue}: ids")
        for name in ("Normals", "Gradients", data.GetPointData().GetScalars().GetName()):
            here, there = (vtk_to_numpy(mesh.GetPointData().GetArray(name)) for mesh in (together, one))
            true(numpy.array_equal(here[first:first + n], there), f"{isovalue}: {name}")
        true(numpy.array_equal(points(together)[first:first + n], points(one)), f"{isovalue}: points")
        begin, first = begin + m, first + n
    equal((begin, first), (together.GetNumberOfPolys(), together.GetNumberOfPoints()), "triangles and points in all")


def subdivision():
    mesh = contour(scan(), [45.0], ComputeNormals=0)
    joined = contour(scan(), [45.0], 1, ComputeNormals=0)
    for kind in (vtkLoopSubdivisionFilter, vtkButterflySubdivisionFilter, vtkLinearSubdivisionFilter):
        fine = after(kind, mesh, NumberOfSubdivisions=1)
        equal(fine.GetNumberOfPolys(), 4 * mesh.GetNumberOfPolys(), f"triangles of {kind.__name__}")
    loop = vtkLoopSubdivisionFilter()
    loop.SetInputData(joined)
    with Messages() as log:
        loop.Update()
    true("non-manifold" in log.text(), "Loop takes the joined mesh too: the test says nothing")


def other_filters():
    mesh = contour(scan(), [45.0], ComputeNormals=0)
    m = mesh.GetNumberOfPolys()
    for kind in (vtkDecimatePro, vtkQuadricDecimation):
        near(after(kind, mesh, TargetReduction=0.5).GetNumberOfPolys() / m, 0.5, 0.1, kind.__name__)
    smooth = after(vtkWindowedSincPolyDataFilter, mesh, NumberOfIterations=10)
    equal((smooth.GetNumberOfPolys(), smooth.GetNumberOfPoints()), (m, mesh.GetNumberOfPoints()), "smoothed")
    regions = vtkPolyDataConnectivityFilter()
    regions.SetInputData(mesh)
    regions.SetExtractionModeToAllRegions()
    regions.Update()
    equal(regions.GetNumberOfExtractedRegions(), measure(mesh, "Components")[0], "regions")
    filled = after(vtkFillHolesFilter, mesh, HoleSize=1e6)
    true(filled.GetNumberOfPolys() > m, "no hole was filled")
    edges = after(vtkFeatureEdges, mesh, BoundaryEdges=0, FeatureEdges=0, ManifoldEdges=0, NonManifoldEdges=1)
    equal(edges.GetNumberOfLines(), 0, "edges of more than two triangles, by VTK")


if __name__ == "__main__":
    load_plugin()
    run(manifold_on_scans, arrays_and_isovalues, subdivision, other_filters)
