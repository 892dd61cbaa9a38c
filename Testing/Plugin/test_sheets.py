# SPDX-License-Identifier: BSD-3-Clause
"""One point per sheet: on a scan at an isovalue that samples have the mesh is a manifold, and VTK's filters take it."""
from paraview import simple
from vtkmodules.vtkFiltersModeling import (vtkButterflySubdivisionFilter, vtkLinearSubdivisionFilter,
                                           vtkLoopSubdivisionFilter)
from vtkmodules.vtkImagingCore import vtkExtractVOI

from plugin_testing import Messages, equal, load_plugin, output, producer, run, true
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


def non_manifold_edges(mesh):
    return mesh.GetFieldData().GetArray("NonManifoldEdges").GetValue(0)


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


def subdivision():
    mesh = contour(scan(), [45.0], ComputeNormals=0)
    joined = contour(scan(), [45.0], 1, ComputeNormals=0)
    edges = [non_manifold_edges(each) for each in (mesh, joined)]
    true(edges[0] == 0 < edges[1], f"edges of more than two triangles, split and joined: {edges}")
    for kind in (vtkLoopSubdivisionFilter, vtkButterflySubdivisionFilter, vtkLinearSubdivisionFilter):
        fine = after(kind, mesh, NumberOfSubdivisions=1)
        equal(fine.GetNumberOfPolys(), 4 * mesh.GetNumberOfPolys(), f"triangles of {kind.__name__}")
    loop = vtkLoopSubdivisionFilter()
    loop.SetInputData(joined)
    with Messages() as log:
        loop.Update()
    true("non-manifold" in log.text(), "Loop takes the joined mesh too: the test says nothing")


load_plugin()
run(subdivision)
