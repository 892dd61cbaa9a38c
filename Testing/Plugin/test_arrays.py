# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and data sets to choose from: any name, any number of components, changed samples; blocks; damaged steps."""
import os
import tempfile

import numpy
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import (vtkMultiBlockDataSet, vtkNonOverlappingAMR, vtkPartitionedDataSet,
                                           vtkPartitionedDataSetCollection, vtkUniformGrid)
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

from plugin_testing import (Messages, ball, counts, equal, flying_edges, image, load_plugin, output, producer, run,
                            true)

NAMES = (None, "x" * 5000, "Normals", "Gradients", "a/b", "it's \"quoted\"", "<&>", " ", "%s", "\u6570\u636e",
         "d\u00e9j\u00e0", *[""] * (simple.GetParaViewVersion() < (6, 0)))  # which ends ParaView 6.1 with stock Contour, too


def array_names():
    """Arrays of any name beside the contoured one are passed, from point data, cell data or both; those of one component
    can be contoured. ParaView cannot select an array without a name, and its filters do not support such cell arrays."""
    for name in NAMES:
        for components in (1, 3):
            for where in ("points", "cells", "both"):
                if not (name is None and where != "points"):
                    check_name(name, components, where)


def check_name(name, components, where):
    dims, what = (12, 12, 12), f"{components} components named {str(name)[:20]!r} in {where}"
    data, added = image({"samples": ball(dims)}, dims), []
    for attributes, count in ((data.GetPointData(), 12 ** 3), (data.GetCellData(), 11 ** 3)):
        if where == "both" or (where == "points") == (attributes is data.GetPointData()):
            array = numpy_to_vtk(numpy.ones((count, components), numpy.float32), deep=True)
            if name is not None:
                array.SetName(name)
            attributes.AddArray(array)
            added.append(attributes.GetClassName())
    source = producer(data)
    proxy = simple.PMBContour(Input=source, Isosurfaces=[95.0])
    lists = {key: domain_of(proxy, key) for key in ("SelectInputScalars", "PointArrays", "CellArrays")}
    converts = simple.GetParaViewVersion() >= (6, 0)  # cell arrays and components, by a setting that is on from then on
    parts = [""] if components == 1 else ["_X", "_Y", "_Z", "_Magnitude"] if converts else []
    choices = {name + part for part in parts if name and (converts or where != "cells")}
    equal(set(lists["SelectInputScalars"]), {"samples", *choices}, f"choices, {what}")
    for key, kind in (("PointArrays", "vtkPointData"), ("CellArrays", "vtkCellData")):
        equal(bool(name) and name in lists[key], bool(name) and kind in added, f"{key}, {what}")
    proxy.ContourBy = ["POINTS", "samples"]
    proxy.UpdatePipeline()
    mesh = proxy.GetClientSideObject().GetOutputDataObject(0)
    true(mesh.GetNumberOfPolys() > 100, f"a surface, {what}")
    for attributes in (mesh.GetPointData(), mesh.GetCellData()):
        names = [attributes.GetArrayName(index) for index in range(attributes.GetNumberOfArrays())]
        equal(name in names, attributes.GetClassName() in added or (name == "Normals" and "samples" in names),
              f"the name among {attributes.GetClassName()}, {what}")
    histogram = simple.PMBIsovalueHistogram(Input=source, ContourBy=["POINTS", "samples"])
    true(output(histogram).GetNumberOfRows() == 256, f"a histogram, {what}")


def domain_of(proxy, key):
    domain = proxy.SMProxy.GetProperty(key).FindDomain("vtkSMArrayListDomain")
    return [domain.GetString(index) for index in range(domain.GetNumberOfStrings())]


def blocks():
    """The panel accepts composite data sets and AMR. (Their surfaces: Testing/Filters.)"""
    data, grid = image({"samples": ball((9, 9, 9))}, (9, 9, 9)), vtkUniformGrid()
    grid.DeepCopy(data)
    parts, collection, tree = vtkPartitionedDataSet(), vtkPartitionedDataSetCollection(), vtkMultiBlockDataSet()
    levels = vtkNonOverlappingAMR()
    parts.SetPartition(0, data)
    collection.SetPartition(0, 0, data)
    tree.SetBlock(0, data)
    levels.Initialize(1, [1])
    levels.SetDataSet(0, 0, grid)
    for composite in (parts, collection, tree, levels):
        prop = simple.PMBContour(Input=producer(composite)).SMProxy.GetProperty("Input")
        equal(prop.FindDomain("vtkSMDataTypeDomain").IsInDomain(prop), 1, f"{composite.GetClassName()} as input")


def damaged_step():
    """A step whose file is cut off or gone: the reader's message and no surface; the other steps have theirs."""
    dims = (40, 37, 35)
    with tempfile.TemporaryDirectory() as folder:
        steps = [os.path.join(folder, f"{n}.vti") for n in range(4)]
        data = [image({"samples": ball(dims) + n}, dims) for n in range(4)]
        for path, volume in zip(steps, data):
            writer = vtkXMLImageDataWriter()
            writer.SetFileName(path)
            writer.SetInputData(volume)
            writer.Write()
        os.truncate(steps[1], 5000)
        os.remove(steps[2])
        for limit in (0, 1):
            reader = simple.XMLImageDataReader(FileName=steps)
            proxy = simple.PMBContour(Input=reader, ContourBy=["POINTS", "samples"], Isosurfaces=[90.25], MemoryLimit=limit,
                                      RemoveDegenerateTriangles=0)
            for step in (0, 1, 3, 2, 0):
                with Messages() as log:
                    proxy.UpdatePipeline(time=step)
                fails = step in (1, 2)
                expected = (0, 0) if fails else counts(flying_edges(data[step], 90.25))
                equal("rror" in log.text(), fails, f"step {step}, limit {limit}: an error in {log.text()!r}")
                equal(counts(servermanager.Fetch(proxy)), expected, f"step {step}, limit {limit}: points and triangles")


load_plugin()
run(array_names, blocks, damaged_step)
