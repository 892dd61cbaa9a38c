# SPDX-License-Identifier: BSD-3-Clause
"""The panel: names, labels, defaults, visibility, hints; and that every property reaches the filter."""

import numpy
from paraview import simple

from plugin_testing import (Messages, add_array, arrays_of, ball, counts, equal, image, load_plugin, near, output, producer,
                            run, true)

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


# Properties, and values that have to reach the filter; its own tests check what it makes of them.
NUMBERS = {**dict.fromkeys(("ComputeNormals", "ComputeGradients", "ComputeScalars", "InterpolateAttributes", "Use64BitIds",
                            "ComputeMeasures", "ChooseArrays"), (0, 1, 0)),
           "DeviceIndex": (3, -1), "DeviceMemoryLimit": (0.25, 0.0), "NumberOfThreads": (2, 0), "MemoryLimit": (7, 0),
           "PiecesFileName": ("of.pvtp", "")}
# Words, which the panel and scripts have, for the filter's 0, 1, 2.
WORDS = {"NormalEstimator": ("Central Differences", "Forward Differences", "Sobel 3x3x3"),
         "OutputPointsPrecision": ("Single", "Double", "Same as input"),
         "RemoveDegenerateTriangles": ("Off", "On", "On, one point per sheet"),
         "Device": ("Automatic", "CPU", "GPU (CUDA)")}


def reach_the_filter():
    """Also the numbers and booleans of older scripts in place of words."""
    proxy = contour()
    client = filter_of(proxy)

    def check(name, value, expected):
        proxy.SetPropertyWithName(name, value)
        proxy.UpdateVTKObjects()
        equal(getattr(client, f"Get{name}")(), expected, f"{name} of the filter, set to {value!r}")

    for name, values in NUMBERS.items():
        for value in values:
            check(name, value, value)
    for name, words in WORDS.items():
        for number, word in enumerate(words):
            for value in (word, number, *([bool(number)] if number < 2 else [])):
                check(name, value, number)
                equal(proxy.GetProperty(name).GetData(), word, f"{name}, set to {value!r} and read back")
    values = [90.25, 95.0, 90.25]
    proxy.Isosurfaces = values
    proxy.UpdateVTKObjects()
    equal([client.GetValue(i) for i in range(client.GetNumberOfContours())], values, "isovalues")
    equal(counts(output(contour(ContourValues=[]))), (0, 0), "sizes without isovalues")
    equal(bool(output(contour()).GetPolys().GetOffsetsArray().HasStandardMemoryLayout()),
          simple.GetParaViewVersion() < (6, 1), "offsets in memory")


def normals_by_is_shown():
    tags = contour().SMProxy.GetProperty("NormalEstimator").GetHints()
    expression = tags.FindNestedElementByName("PropertyWidgetDecorator").FindNestedElementByName("Expression")
    shown_with = {expression.GetNestedElement(n).GetAttribute("property")
                  for n in range(expression.GetNumberOfNestedElements())}
    equal(shown_with, {"ComputeNormals", "ComputeGradients"}, "what shows the property")


def choose_arrays():
    data = two_arrays()
    add_array(data.GetCellData(), "cell", numpy.arange(data.GetNumberOfCells()))
    proxy = contour(data)
    equal((list(proxy.PointArrays), list(proxy.CellArrays)), (["distance", "ramp"], ["cell"]), "to choose from, all ticked")
    for choose, chosen, expected in ((0, ([], []), ["Normals", "cell", "distance", "ramp"]),
                                     (1, (["ramp"], []), ["Normals", "distance", "ramp"]),
                                     (1, (["unknown"], ["cell"]), ["Normals", "cell", "distance"])):
        proxy.ChooseArrays, (proxy.PointArrays, proxy.CellArrays) = choose, chosen
        mesh = output(proxy)
        equal(sorted([*arrays_of(mesh.GetPointData()), *arrays_of(mesh.GetCellData())]), expected, f"arrays with {chosen}")


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


def filter_of(proxy):
    """The VTK object behind the proxy, as vtkPMBContourFilter."""
    import pmb  # once the plugin is loaded
    true(isinstance(proxy.GetClientSideObject(), pmb.vtkPMBContourFilter), "the filter has another class")
    return proxy.GetClientSideObject()


def release():
    """The button: nothing runs, and the surface stays. (The next run: Testing/Filters.)"""
    proxy = contour()
    before = counts(output(proxy)), proxy.LastRun
    button = proxy.SMProxy.GetProperty("ReleaseDeviceMemory")
    equal(button.GetPanelWidget(), "command_button", "widget")
    proxy.InvokeCommand("ReleaseDeviceMemory")
    equal(filter_of(proxy).GetDeviceBytes(), 0, "bytes on the GPU after the release")
    equal((counts(output(proxy)), proxy.LastRun), before, "points and triangles, and the last run, after the release")


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


load_plugin()
run(panel, hints, default_isovalue, reach_the_filter, normals_by_is_shown, choose_arrays, release, names_by_label,
    last_run)
