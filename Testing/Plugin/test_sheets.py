# SPDX-License-Identifier: BSD-3-Clause
"""One point per sheet: on scans at isovalues that samples have the mesh is a manifold, and VTK's filters take it."""
import os

import numpy
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersModeling import (vtkButterflySubdivisionFilter, vtkLinearSubdivisionFilter,
                                           vtkLoopSubdivisionFilter)
from vtkmodules.vtkImagingCore import vtkExtractVOI

from plugin_testing import DATA, Messages, equal, load_plugin, near, output, points, producer, run, triangles, true
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
    """Where samples equal the isovalue. A scan that is not here is left out."""
    for path, read, isovalues, touches in ((os.path.join(DATA, "ch2.vti"), scans.read_ch2, (40.0, 45.0, 70.0), True),
                                           (scans.CRANIUM, scans.read_cranium, (226.0, 400.0), True),
                                           (scans.DENSITY, scans.read_density, (1.0,), False)):  # no whole numbers
        print(path, os.path.exists(path))
        if os.path.exists(path):
            split_at(read(), isovalues, touches)


def split_at(whole, isovalues, touches=True):
    for isovalue in isovalues:
        joined, split = contour(whole, [isovalue], 1), contour(whole, [isovalue])
        equal(measure(joined, "NonManifoldEdges")[0] > 0, touches, f"{isovalue}: whether there is something to split")
        equal(measure(split, "NonManifoldEdges"), [0], f"{isovalue}: edges of more than two triangles")
        equal(unpaired(split), unpaired(joined), f"{isovalue}: open edges")
        near(measure(split, "Area")[0] / measure(joined, "Area")[0], 1.0, 1e-9, f"{isovalue}: area")
        true(numpy.array_equal(points(split)[triangles(split)], points(joined)[triangles(joined)]), "other triangles")
        print(f"{isovalue}: {measure(joined, 'NonManifoldEdges')[0]} edges, {joined.GetNumberOfPoints()} points and "
              f"{split.GetNumberOfPoints() - joined.GetNumberOfPoints()} more")


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


load_plugin()
run(manifold_on_scans, subdivision, )
