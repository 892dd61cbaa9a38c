# SPDX-License-Identifier: BSD-3-Clause
"""One point per sheet: on scans at isovalues that samples have the mesh is a manifold, and VTK's filters take it."""
import gzip
import os

import numpy
from paraview import simple, smstate
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonTransforms import vtkTransform
from vtkmodules.vtkFiltersCore import (vtkCleanPolyData, vtkDecimatePro, vtkFeatureEdges, vtkPolyDataConnectivityFilter,
                                       vtkQuadricDecimation, vtkWindowedSincPolyDataFilter)
from vtkmodules.vtkFiltersGeneral import vtkBooleanOperationPolyDataFilter, vtkTransformPolyDataFilter
from vtkmodules.vtkFiltersModeling import (vtkButterflySubdivisionFilter, vtkFillHolesFilter,
                                           vtkLinearSubdivisionFilter, vtkLoopSubdivisionFilter)
from vtkmodules.vtkImagingCore import vtkExtractVOI

from plugin_testing import Messages, equal, image, load_plugin, near, output, points, producer, run, triangles, true
import scans

TEMPLATES = "/usr/share/mricron/templates"  # of the Debian package mricron-data


def read_nifti(name):
    """Samples of a NIfTI file, on a grid of spacing 1."""
    with gzip.open(os.path.join(TEMPLATES, name)) as stream:
        content = stream.read()
    dims = numpy.frombuffer(content, "<i2", 8, 40)[1:4].tolist()
    kind = {2: "<u1", 4: "<i2", 16: "<f4"}[int(numpy.frombuffer(content, "<i2", 1, 70)[0])]
    first = int(numpy.frombuffer(content, "<f4", 1, 108)[0])
    return image({"samples": numpy.frombuffer(content, kind, dims[0] * dims[1] * dims[2], first).reshape(dims[::-1])},
                 dims)


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
    split_at(scans.read_ch2(), (40.0, 45.0, 70.0))


def manifold_on_other_scans():
    others = {"cranium": (scans.CRANIUM, scans.read_cranium, (226.0, 400.0)),
              "1jzv": (scans.DENSITY, scans.read_density, (1.0,))}
    for name, isovalues in (("ch2better", (100.0,)), ("inia19-NeuroMaps", (300.0,)), ("inia19-t1-brain", (40.0,))):
        file = name + ".nii.gz"
        others[name] = (os.path.join(TEMPLATES, file), lambda file=file: read_nifti(file), isovalues)
    for name, (path, read, isovalues) in others.items():
        if os.path.exists(path):
            print(name)
            split_at(read(), isovalues, touches=name not in ("1jzv", "inia19-t1-brain"))  # these are no whole numbers
        else:
            print(f"{name} is not here")


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


def octahedra():
    """Two octahedra that share an edge where samples equal 9."""
    z, y, x = numpy.mgrid[0:16, 0:16, 0:16]
    away = [abs(x - i) + abs(y - j) + abs(z - 7) for i, j in ((5, 6), (10, 7))]
    return image({"samples": numpy.clip(12 - numpy.minimum(*away), 0, 12).astype("u1")}, (16, 16, 16))


def volume(mesh):
    a, b, c = numpy.moveaxis(points(mesh).astype(float)[triangles(mesh)], 1, 0)
    return float((a * numpy.cross(b, c)).sum() / 6)


def boolean():
    """Shifted so that no corner and no edge of one is on the other: there VTK's filter leaves holes, with any mesh."""
    mesh = contour(octahedra(), [9.0], ComputeNormals=0)
    true(measure(contour(octahedra(), [9.0], 1), "NonManifoldEdges")[0] > 0, "nothing touches")
    equal((measure(mesh, "NonManifoldEdges"), measure(mesh, "Closed")), ([0], [1]), "edges, whether it is closed")
    shift = vtkTransform()
    shift.Translate(-0.63, 0.17, -1.21)
    shifted = after(vtkTransformPolyDataFilter, mesh, Transform=shift)
    volumes = []
    for operation in range(3):  # union, intersection, difference
        algorithm = vtkBooleanOperationPolyDataFilter()
        algorithm.SetOperation(operation)
        algorithm.SetInputData(0, mesh)
        algorithm.SetInputData(1, shifted)
        with Messages() as log:
            algorithm.Update()
        equal(log.text(), "", f"what operation {operation} says")
        result = algorithm.GetOutput()
        # The two sides of the cut have points of their own.
        joined = after(vtkCleanPolyData, result, ToleranceIsAbsolute=1, AbsoluteTolerance=1e-5)
        true(joined.GetNumberOfPolys() > 0, f"operation {operation}: nothing")
        equal(unpaired(joined), 0, f"operation {operation}: open edges")
        volumes.append(volume(result))
    alone = volume(mesh)
    true(0 < volumes[1] < alone < volumes[0] < 2 * alone, f"volumes {volumes} of {alone}")
    near(volumes[0] + volumes[1], 2 * alone, 1e-4 * alone, "union and intersection")
    near(volumes[2] + volumes[1], alone, 1e-4 * alone, "difference and intersection")


def scripts_of_before():
    """It was a switch once: scripts and states have 0 and 1, True and False."""
    inputs = {"Input": simple.Wavelet(), "ContourBy": ["POINTS", "RTData"]}
    for value, expected in ((0, 0), (1, 1), (2, 2), (False, 0), (True, 1)):
        proxy = simple.PMBContour(**inputs, RemoveDegenerateTriangles=value)
        proxy.UpdatePipeline()
        equal(proxy.GetClientSideObject().GetRemoveDegenerateTriangles(), expected, f"{value} in the filter")
        other = simple.PMBContour(**inputs)
        other.RemoveDegenerateTriangles = proxy.RemoveDegenerateTriangles  # a word
        other.UpdatePipeline()
        equal(other.GetClientSideObject().GetRemoveDegenerateTriangles(), expected, f"{value}, copied")
        state = smstate.get_state()
        true(f"RemoveDegenerateTriangles={proxy.RemoveDegenerateTriangles!r}".replace(" ", "") in state.replace(" ", "")
             or expected == 1, f"{value} in a Python state")


if __name__ == "__main__":
    load_plugin()
    run(manifold_on_scans, manifold_on_other_scans, arrays_and_isovalues, subdivision, other_filters, boolean,
        scripts_of_before)
