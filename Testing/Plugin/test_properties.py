# SPDX-License-Identifier: BSD-3-Clause
"""The panel: names, labels, defaults, visibility, hints; and that every property reaches the filter."""

import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

from plugin_testing import (Messages, ball, counts, equal, flying_edges, image, load_plugin, near, output, point_array,
                            points, producer, run, true)

DIMS = (40, 37, 35)
# name, label, default, panel visibility
PANEL = [
    ("SelectInputScalars", "Contour By", None, "default"),
    ("ComputeNormals", "Compute Normals", 1, "default"),
    ("NormalEstimator", "Normals By", "Central Differences", "default"),
    ("ComputeGradients", "Compute Gradients", 0, "default"),
    ("ComputeScalars", "Compute Scalars", 1, "advanced"),
    ("OutputPointsPrecision", "Output Points Precision", "Same as input", "advanced"),
    ("InterpolateAttributes", "Pass Arrays", 1, "advanced"),
    ("ChooseArrays", "Choose Arrays", 0, "advanced"),
    ("PointArrays", "Point Arrays", None, "advanced"),
    ("CellArrays", "Cell Arrays", None, "advanced"),
    ("RemoveDegenerateTriangles", "Remove Degenerate Triangles", "On", "advanced"),
    ("Use64BitIds", "Use 64-bit Ids", 1, "advanced"),
    ("ComputeMeasures", "Compute Surface Measures", 0, "advanced"),
    ("ContourValues", "Isosurfaces", None, "default"),
    ("Device", "Run On", "Automatic", "default"),
    ("DeviceIndex", "GPU Index", -1, "advanced"),
    ("DeviceMemoryLimit", "GPU Memory Limit", 0.0, "advanced"),
    ("ReleaseDeviceMemory", "Release GPU Memory", None, "advanced"),
    ("NumberOfThreads", "CPU Threads", 0, "advanced"),
    ("MemoryLimit", "Memory Limit", 0, "advanced"),
    ("PiecesFileName", "Write Pieces", "", "advanced"),
]


def two_arrays():
    other = numpy.arange(DIMS[0] * DIMS[1] * DIMS[2], dtype=numpy.float32).reshape(DIMS[2], DIMS[1], DIMS[0])
    return image({"distance": ball(DIMS), "ramp": other}, DIMS, spacing=(0.5, 1.0, 2.0))


def contour(data=None, **options):
    """A filter with properties set by their internal names."""
    settings = {"SelectInputScalars": ["POINTS", "distance"], "ContourValues": [90.25], **options}
    proxy = simple.PMBContour(Input=producer(data or two_arrays()))
    for name, value in settings.items():
        proxy.SetPropertyWithName(name, value)
    return proxy


def panel():
    proxy = contour()
    for name, label, default, visibility in PANEL:
        prop = proxy.SMProxy.GetProperty(name)
        true(prop is not None, f"there is no property {name}")
        equal(prop.GetXMLLabel(), label, f"label of {name}")
        equal(prop.GetPanelVisibility(), visibility, f"visibility of {name}")
        true(prop.GetDocumentation() and prop.GetDocumentation().GetDescription(), f"{name} has no documentation")
        if default is not None:
            equal(proxy.GetProperty(name).GetData(), default, f"default of {name}")
    equal(proxy.SMProxy.GetXMLName(), "PMBContour", "name of the proxy")
    equal(proxy.SMProxy.GetXMLLabel(), "PMB Contour", "label of the proxy")
    equal(proxy.SMProxy.GetProperty("ContourValues").GetAnimateable(), 1, "isovalues can be animated")
    equal(proxy.SMProxy.GetProperty("LastRunSummary").GetInformationOnly(), 1, "the summary is for information only")


def hints():
    tags = contour().SMProxy.GetHints()
    menu = tags.FindNestedElementByName("ShowInMenu")
    true(menu is not None, "there is no menu entry")
    equal(menu.GetAttribute("category"), "Accelerated Algorithms", "category in the menu")
    equal(tags.FindNestedElementByName("Visibility").GetAttribute("replace_input"), "2", "replace_input")


def default_isovalue():
    proxy = simple.PMBContour(Input=producer(image({"distance": ball(DIMS)}, DIMS)))
    values = list(proxy.Isosurfaces)
    low, high = float(ball(DIMS).min()), float(ball(DIMS).max())
    equal(len(values), 1, "initial isovalues")
    near(values[0], 0.5 * (low + high), 1e-4 * (high - low), "default isovalue: the middle of the array's range")
    true(output(proxy).GetNumberOfPolys() > 0, "the defaults give no surface")
    samples = ball(DIMS)
    samples[0, 0, 0] = numpy.inf  # so is the middle of the range: the suggested isovalue is drawn
    proxy = simple.PMBContour(Input=producer(image({"distance": samples}, DIMS)))
    with Messages() as log:
        true(list(proxy.Isosurfaces) == [numpy.inf] and output(proxy).GetNumberOfPolys() > 1000, "a surface")
    true(log.text().count("arning:") == 1 and "suggested" in log.text(), f"one warning says which; got {log.text()!r}")


def names_of(data):
    return sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))


# Whether a property's value changes the output; the filter's own tests check the output.
EFFECTS = [
    ({"ComputeNormals": 0}, lambda mesh: names_of(mesh.GetPointData()), ["distance", "ramp"]),
    ({"ComputeGradients": 1}, lambda mesh: names_of(mesh.GetPointData()), ["Gradients", "Normals", "distance", "ramp"]),
    ({"ComputeScalars": 0}, lambda mesh: names_of(mesh.GetPointData()), ["Normals", "ramp"]),
    ({"InterpolateAttributes": 0}, lambda mesh: names_of(mesh.GetPointData()), ["Normals", "distance"]),
    ({"OutputPointsPrecision": "Single"}, lambda mesh: str(points(mesh).dtype), "float32"),
    ({"OutputPointsPrecision": "Double"}, lambda mesh: str(points(mesh).dtype), "float64"),
    ({"OutputPointsPrecision": "Same as input"}, lambda mesh: str(points(mesh).dtype), "float32"),
    ({"Use64BitIds": 0}, lambda mesh: mesh.GetPolys().GetConnectivityArray().GetDataTypeSize(), 4),
    ({"Use64BitIds": 1}, lambda mesh: mesh.GetPolys().GetConnectivityArray().GetDataTypeSize(), 8),
    ({}, lambda mesh: bool(mesh.GetPolys().GetOffsetsArray().HasStandardMemoryLayout()),
     simple.GetParaViewVersion() < (6, 1)),
    ({"ContourValues": []}, counts, (0, 0)),
]


def effects():
    for options, look, expected in EFFECTS:
        equal(look(output(contour(**options))), expected, f"{options}")
    values = [90.25, 95.0, 90.25]
    parts = [counts(output(contour(ContourValues=[value]))) for value in values]
    equal(counts(output(contour(ContourValues=values))), tuple(map(sum, zip(*parts))), "sizes of three isovalues")


def normal_estimators():
    """Each gives different normals, also by its name in Python; the panel shows the choice if it has an effect."""
    seen = []
    for name in ("Central Differences", "Forward Differences", "Sobel 3x3x3"):
        proxy = contour(NormalEstimator=name)
        seen.append(point_array(output(proxy), "Normals").tobytes())
        equal(proxy.NormalsBy, name, "the property read back")
    equal(len(set(seen)), 3, "different normals")
    tags = contour().SMProxy.GetProperty("NormalEstimator").GetHints()
    expression = tags.FindNestedElementByName("PropertyWidgetDecorator").FindNestedElementByName("Expression")
    shown_with = {expression.GetNestedElement(n).GetAttribute("property")
                  for n in range(expression.GetNumberOfNestedElements())}
    equal(shown_with, {"ComputeNormals", "ComputeGradients"}, "what shows the property")


def remove_degenerate():
    """Each choice by its name, and by the number or boolean of older scripts."""
    z, y, x = numpy.mgrid[0:20, 0:20, 0:20]
    data = image({"steps": numpy.abs(x - 10) - numpy.abs(y - 10) + 0 * z}, (20, 20, 20))
    sizes = []
    for word, values in (("Off", (0, False)), ("On", (1, True)), ("On, one point per sheet", (2,))):
        for value in (word, *values):
            proxy = contour(data, RemoveDegenerateTriangles=value, SelectInputScalars=["POINTS", "steps"],
                            ContourValues=[0.0])
            sizes.append(counts(output(proxy)))
            equal(proxy.RemoveDegenerateTriangles, word, f"{value!r} read back")
    off, on, split = sizes[0], sizes[3], sizes[6]
    equal(sizes, [off] * 3 + [on] * 3 + [split] * 2, "sizes by word, number and truth value")
    equal(off, counts(flying_edges(data, 0.0)), "points and triangles, against vtkFlyingEdges3D")
    true(on[0] < split[0] and on[1] == split[1] < off[1], f"points and triangles: {sizes}")


def choose_arrays():
    data = two_arrays()
    for name, attributes in (("ramp2", data.GetPointData()), ("cell", data.GetCellData()), ("cell2", data.GetCellData())):
        count = data.GetNumberOfPoints() if name == "ramp2" else data.GetNumberOfCells()
        array = numpy_to_vtk(numpy.arange(count), deep=True)
        array.SetName(name)
        attributes.AddArray(array)
    everything = (["Normals", "distance", "ramp", "ramp2"], ["cell", "cell2"])
    proxy = contour(data)

    def result():
        mesh = output(proxy)
        return names_of(mesh.GetPointData()), names_of(mesh.GetCellData())

    equal(result(), everything, "arrays by default")
    equal(list(proxy.PointArrays), ["distance", "ramp", "ramp2"], "point arrays to choose from, all ticked")
    equal(list(proxy.CellArrays), ["cell", "cell2"], "cell arrays to choose from, all ticked")
    proxy.PointArrays, proxy.CellArrays = ["ramp"], ["cell2"]
    equal(result(), everything, "arrays without Choose Arrays")
    proxy.ChooseArrays = 1
    equal(result(), (["Normals", "distance", "ramp"], ["cell2"]), "arrays that were chosen")
    proxy.PointArrays, proxy.CellArrays = ["ramp2", "unknown"], []
    equal(result(), (["Normals", "distance", "ramp2"], []), "other arrays")
    proxy.PassArrays = 0
    equal(result(), (["Normals", "distance"], []), "arrays without Pass Arrays")


def measures():
    """Compute Surface Measures: field data of each isovalue, also on the client."""
    names = ["Isovalue", "Area", "Volume", "Closed", "EulerNumber", "Components", "BoundaryEdges", "NonManifoldEdges"]
    data = image({"distance": ball(DIMS)}, DIMS)
    fields = output(contour(data)).GetFieldData()
    equal([name for name in names if fields.HasArray(name)], [], "measures though switched off")
    proxy = contour(data, ContourValues=[90.25, 87.5], ComputeMeasures=1)
    fields = output(proxy).GetFieldData()
    values = {name: list(vtk_to_numpy(fields.GetArray(name))) for name in names}
    equal([values[name] for name in ("Isovalue", *names[3:])], [[90.25, 87.5], [1, 1], [2, 2], [1, 1], [0, 0], [0, 0]],
          "the numbers")
    near(proxy.GetFieldDataInformation()["Area"].GetRange()[1], max(values["Area"]), 0.0, "the area that the client knows")


# Names of the properties in scripts, which ParaView makes from the labels. A changed label breaks users' scripts.
NAMES = {"CPUThreads", "CellArrays", "ChooseArrays", "ComputeGradients", "ComputeNormals", "ComputeScalars",
         "ComputeSurfaceMeasures", "ContourBy", "GPUIndex", "GPUMemoryLimit", "Input", "Isosurfaces", "LastRun",
         "Live", "LiveIsovalue", "MemoryLimit", "NormalsBy", "OutputPointsPrecision", "PassArrays", "PointArrays",
         "ReleaseGPUMemory", "RemoveDegenerateTriangles", "RunOn", "Suggestions", "Use64bitIds",
         "UseSuggestedIsovalue", "WritePieces"}


def names_by_label():
    """dir() of the filter and of its histogram, without what dir() lists of any filter."""
    source = producer(two_arrays())
    every = set(dir(simple.Calculator(Input=source))) & set(dir(simple.Slice(Input=source)))
    for make, names in ((simple.PMBContour, NAMES), (simple.PMBIsovalueHistogram, {"Bins", "ContourBy", "Input"})):
        equal(set(dir(make(Input=source))) - (every - {"Input"}), names, "names in scripts")
    settings = {"Use64bitIds": 1, "CPUThreads": 2, "GPUIndex": 0, "GPUMemoryLimit": 1.5}
    proxy = simple.PMBContour(Input=source, ContourBy=["POINTS", "distance"], **settings)
    internal = ("Use64BitIds", "NumberOfThreads", "DeviceIndex", "DeviceMemoryLimit")
    equal([proxy.SMProxy.GetProperty(name).GetElement(0) for name in internal], list(settings.values()), "their values")


def filter_of(proxy):
    """The VTK object behind the proxy, as vtkPMBContourFilter."""
    import pmb  # once the plugin is loaded
    true(isinstance(proxy.GetClientSideObject(), pmb.vtkPMBContourFilter), "the filter has another class")
    return proxy.GetClientSideObject()


def device():
    """Run On and its advanced settings reach the filter, and Last Run names the device."""
    proxy = contour(Device="GPU (CUDA)", DeviceIndex=3, DeviceMemoryLimit=0.25)
    proxy.UpdateVTKObjects()
    filter_ = filter_of(proxy)
    equal((filter_.GetDevice(), filter_.GetDeviceIndex(), filter_.GetDeviceMemoryLimit()), (2, 3, 0.25), "settings")
    entries = proxy.GetProperty("Device").SMProperty.GetDomain("enum")
    equal([entries.GetEntryText(i) for i in range(entries.GetNumberOfEntries())], ["Automatic", "CPU", "GPU (CUDA)"],
          "devices to choose from")
    proxy.SetPropertyWithName("DeviceIndex", -1)
    proxy.SetPropertyWithName("DeviceMemoryLimit", 0.0)
    with Messages() as log:
        mesh = output(proxy)
        proxy.Isosurfaces = [95.0]
        output(proxy)
    text = proxy.LastRun
    if text.startswith("GPU "):
        equal(log.text(), "", "messages with a GPU")
    else:
        true(" because " in text, f"the last run does not say why no GPU was used: {text!r}")
        equal(log.text().count("The GPU cannot be used"), 1, f"warnings in {log.text()!r}")
        true(text.split(" because ")[1].split(":")[0] in log.text(), f"{text!r} has another reason than {log.text()!r}")
    true((points(mesh) == points(output(contour(Device="CPU")))).all(), "points differ from the CPU's")
    with Messages() as log:
        automatic = contour(Device="Automatic", DeviceIndex=900)
        equal(counts(output(automatic)), counts(mesh), "points and triangles with a GPU that does not exist")
    equal(log.text(), "", "messages of Automatic")
    true("CPU" in automatic.LastRun and " because " in automatic.LastRun, f"Automatic says {automatic.LastRun!r}")


def release():
    """The button: nothing runs, the surface stays, and the next change of the isovalue works."""
    proxy = contour()
    before = counts(output(proxy))
    text = proxy.LastRun
    button = proxy.SMProxy.GetProperty("ReleaseDeviceMemory")
    equal(button.GetPanelWidget(), "command_button", "widget")
    proxy.InvokeCommand("ReleaseDeviceMemory")
    equal(filter_of(proxy).GetDeviceBytes(), 0, "bytes on the GPU after the release")
    equal(counts(output(proxy)), before, "points and triangles after the release")
    equal(proxy.LastRun, text, "last run: the release is none")
    proxy.Isosurfaces = [95.0]
    equal(counts(output(proxy)), counts(output(contour(ContourValues=[95.0]))), "points and triangles of the next run")


def says_last_run(proxy, when):
    """LastRun describes the proxy's current surface after only an update."""
    text = proxy.LastRun
    cells = proxy.GetDataInformation().GetNumberOfCells()
    true(cells > 0 and text[:4] in ("CPU ", "GPU ") and f" {cells} triangles" in text,
         f"{when}: the last run of {cells} triangles is {text!r}")
    return text


def last_run():
    proxy = contour()
    equal(proxy.LastRun, "Not run yet", "last run of a new filter")
    texts = set()
    for isovalue in (90.25, 95.0, 88.5):
        proxy.Isosurfaces = [isovalue]
        proxy.UpdatePipeline()
        texts.add(says_last_run(proxy, f"isovalue {isovalue}"))
    proxy.Isosurfaces = [93.0]
    simple.Shrink(Input=proxy).UpdatePipeline()
    texts.add(says_last_run(proxy, "updated through a filter behind it"))
    proxy.Isosurfaces = [91.0]
    simple.Show(proxy)
    simple.Render()
    texts.add(says_last_run(proxy, "updated by a view"))
    proxy.Isosurfaces = [94.0]
    proxy.UpdatePipeline(1.0)
    texts.add(says_last_run(proxy, "updated for a time"))
    equal(len(texts), 6, "different texts of six runs")
    proxy.Isosurfaces = []
    proxy.UpdatePipeline()
    true(proxy.LastRun.startswith("No surface"), f"without isovalues the last run is {proxy.LastRun!r}")


def copied_from_contour():
    """The property names are Contour's, so values can be copied from one filter to the other."""
    source = producer(two_arrays())
    stock = simple.Contour(Input=source, ContourBy=["POINTS", "ramp"], Isosurfaces=[111.0, 222.0], ComputeNormals=0,
                           ComputeGradients=1)
    proxy = simple.PMBContour(Input=source)
    proxy.SMProxy.Copy(stock.SMProxy)
    proxy.UpdateVTKObjects()
    equal((list(proxy.Isosurfaces), list(proxy.ContourBy), proxy.ComputeNormals, proxy.ComputeGradients),
          ([111.0, 222.0], ["POINTS", "ramp"], 0, 1), "properties")


load_plugin()
run(panel, hints, default_isovalue, effects, normal_estimators, remove_degenerate, choose_arrays, measures,
    device, release, names_by_label, copied_from_contour, last_run)
