# SPDX-License-Identifier: BSD-3-Clause
"""Every filter of ParaView that takes a surface, behind this filter and behind stock Contour.

Two comparisons for each filter, with ParaView's defaults. With a copy of the mesh in VTK's own memory: all arrays of the
output are the same, to the bit. With stock Contour's mesh, which has the same
points and triangles in another order: counts, names, types and ranges of arrays, and bounds. The
messages are the same in number, too.
"""
import hashlib

import numpy
from paraview import simple
from vtkmodules.vtkCommonDataModel import vtkPolyData

from plugin_testing import Messages, ball, image, load_plugin, producer, run, true
from sweep_testing import (WITHOUT_TIME, arrays_of, inputs_for, is_near, leaves, make, numbers, output_of, proxy_names,
                           report, said, sizes, sweep, values_of)

SKIPPED = {
    "AngularPeriodicFilter": "gives places that are no numbers and what is in memory, behind stock Contour as well",
    "SliceAlongPolyLine": "crashes with stock Contour's as well: a surface is no polyline",
}
SKIPPED.update(dict.fromkeys(WITHOUT_TIME, "crashes without time steps"))
if simple.GetParaViewVersion() >= (6, 0):
    SKIPPED["AppendReductionFilter"] = "says once more, the first time, that it has a deprecated property"
# Results vary between executions: compares only sizes.
RANDOM = ("BrownianPoints", "RandomAttributeGenerator")
# Values depend on the order of points and triangles: compares only array names and types with stock Contour's.
ORDER = (
    "ArbitrarySourceStreamTracer", "ContingencyStatistics", "Delaunay3D", "ExtractEnclosedPoints", "KMeans", "MaskPoints",
    "MulticorrelativeStatistics", "OverlappingCellsDetector", "PCAStatistics", "StreamTracer", "Stripper")
TOLERANCE = 1e-3  # of the largest absolute value of an array: points differ only by rounding


class Inputs:
    """A closed surface by each of the three, made once in a process."""
    names = ("stock", "ours", "copy")

    def __init__(self):
        dims = (14, 13, 12)
        z, y, x = numpy.mgrid[0:dims[2], 0:dims[1], 0:dims[0]]
        wave = numpy.sin(0.7 * x + 0.3 * y + 0.2 * z).astype(numpy.float32)
        volume = producer(image({"samples": ball(dims), "wave": wave}, dims))
        settings = {"Input": volume, "ContourBy": ["POINTS", "samples"], "Isosurfaces": [95.3], "ComputeNormals": 1,
                    "ComputeScalars": 1}
        self.stock, self.ours = simple.Contour(**settings), simple.PMBContour(**settings)
        for proxy in (self.stock, self.ours):
            proxy.UpdatePipeline()
        copy = vtkPolyData()
        copy.DeepCopy(self.ours.GetClientSideObject().GetOutput())
        self.copy = producer(copy)


def describe(data):
    """Class, sizes, arrays, bounds; of each array its type and components, a digest, and the range of its finite values."""
    arrays = {}
    for kind, name, array in arrays_of(data):
        values, finite = values_of(array), numbers(array)
        arrays[f"{kind} {name}"] = [
            f"{array.GetDataTypeAsString()} {array.GetNumberOfComponents()}", hashlib.md5(values.tobytes()).hexdigest(),
            [float(finite.min()), float(finite.max())] if len(finite) else []]
    points = getattr(data, "GetPoints", lambda: None)()
    if points and points.GetNumberOfPoints() > 0:
        place = values_of(points.GetData())
        bounds = numpy.nan_to_num(numpy.concatenate([place.min(axis=0), place.max(axis=0)]))
        arrays["place"] = ["", hashlib.md5(place.tobytes()).hexdigest(), [float(bound) for bound in bounds]]
    return [data.GetClassName(), sizes(data), arrays]


def apply(name, source, inputs):
    with Messages() as log:
        proxy = make("filters", name, source, inputs)
        proxy.UpdatePipeline()
    found = [describe(data) for data in leaves(output_of(proxy))]
    simple.Delete(proxy)
    return {"data": found, "messages": said(log)}


def work(name):
    if not hasattr(Inputs, "made"):
        Inputs.made = Inputs()
    inputs = inputs_for(name, Inputs.made.stock)
    return {which: apply(name, getattr(Inputs.made, which), inputs) for which in (Inputs.names if inputs else ())}


def form_of(result):
    """Results that do not depend on the order."""
    return [result["messages"], [(kind, {name: form for name, (form, _, _) in arrays.items()})
                                 for kind, _, arrays in result["data"]]]


def compare_with_stock(name, ours, stock):
    if form_of(ours) != form_of(stock):
        return f"{form_of(ours)}; stock: {form_of(stock)}"
    if name in ORDER:
        return ""
    for (_, size, arrays), (_, its_size, its_arrays) in zip(ours["data"], stock["data"]):
        if size != its_size:
            return f"points, cells and rows {size}; stock: {its_size}"
        for array, (_, _, values) in arrays.items():
            if name not in RANDOM and not is_near(values, its_arrays[array][2], TOLERANCE):
                return f"{array}: {values}; stock: {its_arrays[array][2]}"
    return ""


def judge(name, result):
    if name not in RANDOM and result["ours"] != result["copy"]:
        return f"not what it gives for a copy of the mesh: {result['ours']}; {result['copy']}"
    return compare_with_stock(name, result["ours"], result["stock"])


def all_filters():
    known = list(proxy_names("filters"))
    true(set(known).issuperset((*SKIPPED, *RANDOM, *ORDER)), "exceptions that are not filters")
    results = sweep([name for name in known if name not in SKIPPED], work)
    report(results, judge, 150)


load_plugin()
run(all_filters)
