# SPDX-License-Identifier: BSD-3-Clause
"""Every source and filter of ParaView that gives image data, in front of this filter and of stock Contour.

Compared are, block by block, the numbers of points and triangles, the names, types, means and ranges of the arrays, and the
number of messages. The sources are those without files, and readers of the volumes that ParaView writes; the filters are all
that take image data, with their defaults. Where there are only cell arrays, Cell Data to Point Data is put between.
"""
import os
import tempfile

import numpy
from paraview import servermanager, simple

from plugin_testing import Messages, image, load_plugin, producer, run, true
from sweep_testing import (WITHOUT_TIME, arrays_of, inputs_for, is_near, leaves, make, numbers, output_of, proxy_names,
                           report, said, sizes, sweep)

FILES = ("vti", "pvti", "vtk", "mhd", "pvd", "xmf")
SKIPPED = {
    "filters StreamTracer": "takes a minute, with a seed at each point of the image, and gives no image",
    "filters ArbitrarySourceStreamTracer": "likewise",
}
SKIPPED.update({f"filters {name}": "crashes without time steps" for name in WITHOUT_TIME})
DIFFERENT = {
    "filters AngularPeriodicFilter": "all blocks but one are structured grids: they stay empty, with a warning",
    "filters DeflectNormals": "Contour leaves out an array that is active as normals, as with some of that filter's inputs",
    "filters ImageDataToUniformGrid": "Contour keeps a point that no triangle uses, at a blanked sample",
}
if simple.GetParaViewVersion() >= (6, 0):
    SKIPPED["filters QuadratureSchemeDictionaryGenerator"] = "Contour behind it crashes, without this plugin too"
    DIFFERENT["filters AxisAlignedReflect"] = "Contour ignores the direction matrix of the image's mirror image"
    DIFFERENT["filters PointAndCellIds"] = "Contour leaves out arrays of ids"
    DIFFERENT["sources AMRGaussianPulseSource"] = "Contour leaves out a block's vtkGhostType without ghosts"
FACETS = ("sources AMRGaussianPulseSource",)  # Contour's normals there are of triangles, not of samples
TOLERANCE = 1e-4  # of the largest absolute value of an array


def small_volume():
    """Samples of different kinds, active: real."""
    dims = (15, 14, 13)
    z, y, x = numpy.mgrid[0:dims[2], 0:dims[1], 0:dims[0]]
    real = 100 * numpy.sin(0.5 * x + 0.1) * numpy.cos(0.4 * y) + 7 * z
    vector = numpy.stack([x - 7.1, y - 6.2, z - 5.3], axis=-1)
    data = image({"real": real.astype(numpy.float32), "count": (real + 128).astype(numpy.int16), "vector": vector}, dims,
                 origin=(1, 2, 3), spacing=(0.5, 0.25, 2), first=(3, -4, 5))
    return producer(data)


def image_blocks(data):
    return [block for block in leaves(data) if block.IsA("vtkImageData") and block.GetNumberOfCells() > 0]


def choose_array(blocks):
    """The first point array of one component that is not constant, and an isovalue in its range that no sample has."""
    for block in blocks:
        for kind, name, array in arrays_of(block):
            if kind == 0 and array.IsNumeric() and array.GetNumberOfComponents() == 1 and name != "vtkGhostType":
                low, high = array.GetFiniteRange()
                if low < high:
                    return name, low + 0.4567 * (high - low)
    return None, 0.0


def describe(data, contoured):
    """Blocks without points: only their number. Omits vtkGhostType of points, which Contour interpolates and this filter
    does not pass, and the type of the contoured array, double here and always float there."""
    blocks, values = [], []
    for block in leaves(data):
        arrays = []
        for kind, name, array in arrays_of(block) if block.GetNumberOfPoints() else ():
            if (kind, name) != (0, "vtkGhostType"):
                form = "" if name == contoured else f"{array.GetDataTypeAsString()} {array.GetNumberOfComponents()}"
                finite = numbers(array).astype(float)
                arrays.append((f"{kind} {name}, {form}",
                               [finite.mean(), finite.min(), finite.max()] if len(finite) else []))
        arrays.sort()
        blocks.append([block.GetClassName(), sizes(block), [name for name, _ in arrays]])
        values.append([value for _, value in arrays])
    return blocks, values


def difference(case, ours, stock):
    if (ours["blocks"], ours["messages"]) != (stock["blocks"], stock["messages"]):
        return f"{ours}; stock: {stock}"
    for (_, _, names), values, others in zip(ours["blocks"], ours["values"], stock["values"]):
        for name, value, other in zip(names, values, others):
            if not is_near(value, other, TOLERANCE) and not (case in FACETS and name.startswith("0 Normals")):
                return f"mean and range of {name}: {value}; stock: {other}"
    return ""


def contour(function, source, array, isovalue):
    with Messages() as log:
        proxy = function(Input=source, ContourBy=["POINTS", array], Isosurfaces=[isovalue], ComputeNormals=1,
                         ComputeGradients=0, ComputeScalars=1)
        proxy.UpdatePipeline()
    blocks, values = describe(output_of(proxy), array)
    simple.Delete(proxy)
    return {"blocks": blocks, "values": values, "messages": said(log)}


def compare(source):
    """The outputs of both filters; empty if the proxy gives no image with cells."""
    source.UpdatePipeline()
    on_points = source
    blocks = image_blocks(output_of(source))
    if blocks and not choose_array(blocks)[0]:
        on_points = simple.CellDatatoPointData(Input=source)
        on_points.UpdatePipeline()
        blocks = image_blocks(output_of(on_points))
    array, isovalue = choose_array(blocks)
    if not array:
        return {}
    return {"stock": contour(simple.Contour, on_points, array, isovalue),
            "ours": contour(simple.PMBContour, on_points, array, isovalue)}


def is_source(name):
    """Not a reader, nor a selection."""
    prototype = servermanager.ProxyManager().SMProxyManager.GetPrototypeProxy("sources", name)
    every = prototype.NewPropertyIterator()
    every.Begin()
    while not every.IsAtEnd():
        domains = every.GetProperty().NewDomainIterator()
        domains.Begin()
        while not domains.IsAtEnd():
            if domains.GetDomain().IsA("vtkSMFileListDomain"):
                return False
            domains.Next()
        every.Next()
    return prototype.IsA("vtkSMSourceProxy") and "Selection" not in name


def read_back(extension):
    """A source that reads a file of this format."""
    name = os.path.join(tempfile.mkdtemp(), "volume." + extension)
    simple.SaveData(name, proxy=work.volume)
    return simple.OpenDataFile(name)


def make_source(kind, name):
    if kind == "files":
        return read_back(name)
    if kind == "sources":
        return make("sources", name)
    inputs = inputs_for(name, work.volume)
    return make("filters", name, work.volume, inputs) if inputs else None


def work(case):
    if not hasattr(work, "volume"):
        work.volume = small_volume()
    source = make_source(*case.split(" ", 1))
    return compare(source) if source else {}


def all_sources():
    cases = [f"files {name}" for name in FILES] + [f"filters {name}" for name in proxy_names("filters")]
    cases += [f"sources {name}" for name in proxy_names("sources") if is_source(name)]
    true(set(cases).issuperset((*SKIPPED, *DIFFERENT, *FACETS)), "exceptions that are not filters")
    results = sweep([case for case in cases if case not in SKIPPED], work)
    compared = report(results, lambda case, result: "" if case in DIFFERENT else difference(case, **result), 75)
    true(set(compared).issuperset(f"files {name}" for name in FILES), f"only {compared}")


load_plugin()
run(all_sources)
