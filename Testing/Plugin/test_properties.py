# SPDX-License-Identifier: BSD-3-Clause
"""The panel: names, labels, defaults, visibility, hints; and that every property does what it says."""
import os

import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkConnectivityFilter, vtkFeatureEdges, vtkMassProperties

from plugin_testing import (DATA, Messages, ball, check_mesh, counts, equal, flying_edges, image, load_plugin, near,
                            output, point_array, points, producer, run, triangles, true)

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
    equal(len(values), 1, "isovalues to begin with")
    near(values[0], 0.5 * (low + high), 1e-4 * (high - low), "default isovalue: the middle of the array's range")
    true(output(proxy).GetNumberOfPolys() > 0, "the defaults give no surface")


def check_orientation(mesh):
    """Facets, normals and the way to lower values agree."""
    values = point_array(mesh, "Normals")
    near(float(numpy.abs(numpy.linalg.norm(values, axis=1) - 1.0).max()), 0.0, 1e-5, "length of a normal")
    corners = points(mesh)[triangles(mesh)]
    facets = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    agreement = numpy.einsum("ij,ij->i", facets, values[triangles(mesh)].mean(axis=1))
    true((agreement > 0).all(), f"{(agreement <= 0).sum()} facets disagree with their normals")
    outward = points(mesh) - points(mesh).mean(axis=0)
    true((numpy.einsum("ij,ij->i", outward, values) > 0).all(), "a normal does not point to lower values")


def normals():
    check_orientation(output(contour(ComputeNormals=1)))
    equal(point_array(output(contour(ComputeNormals=0)), "Normals"), None, "normals though switched off")


def normal_estimators():
    """Each estimator on a known field: i^2 + i j^2 with a spacing of (0.5, 1, 2), along x."""
    k, j, i = numpy.mgrid[0:DIMS[2], 0:DIMS[1], 0:DIMS[0]]
    data = image({"distance": (i * i + i * j * j).astype(numpy.float32)}, DIMS, spacing=(0.5, 1.0, 2.0))
    seen = {}
    for name, more in (("Central Differences", 0.0), ("Forward Differences", 1.0), ("Sobel 3x3x3", 0.5)):
        proxy = contour(data, NormalEstimator=name, ComputeGradients=1, ContourValues=[1500.3])
        mesh = output(proxy)
        x, y = points(mesh)[:, 0] * 2.0, points(mesh)[:, 1]
        on_x_edges = (y == numpy.round(y)) & (y > 0) & (y < DIMS[1] - 1) & (x >= 1) & (x <= DIMS[0] - 2)
        true(on_x_edges.sum() > 100, f"only {on_x_edges.sum()} points to judge")
        expected = 2.0 * (2.0 * x + y * y + more)[on_x_edges]
        off = numpy.abs(point_array(mesh, "Gradients")[on_x_edges, 0] / expected - 1.0).max()
        near(float(off), 0.0, 1e-4, f"gradients by {name}")
        check_normals = point_array(mesh, "Normals") * point_array(mesh, "Gradients")
        true((check_normals.sum(axis=1) < 0).all(), f"a normal by {name} does not oppose its gradient")
        seen[name] = (counts(mesh), point_array(mesh, "Normals"))
        equal(proxy.NormalsBy, name, "the property read back, by its name in Python")
    equal(len({shape for shape, _ in seen.values()}), 1, "numbers of points and triangles")
    for name in ("Forward Differences", "Sobel 3x3x3"):
        true((seen[name][1] != seen["Central Differences"][1]).any(), f"{name} gives the normals of central differences")
    tags = contour().SMProxy.GetProperty("NormalEstimator").GetHints()
    expression = tags.FindNestedElementByName("PropertyWidgetDecorator").FindNestedElementByName("Expression")
    shown_with = {expression.GetNestedElement(n).GetAttribute("property")
                  for n in range(expression.GetNumberOfNestedElements())}
    equal(shown_with, {"ComputeNormals", "ComputeGradients"}, "what shows the property")


def normals_of_turned_volumes():
    for spacing in ((-0.5, 1.0, 2.0), (0.5, -1.0, 2.0), (-0.5, -1.0, 2.0), (-0.5, -1.0, -2.0)):
        check_orientation(output(contour(image({"distance": ball(DIMS)}, DIMS, spacing=spacing))))
    data = image({"distance": ball(DIMS)}, DIMS, spacing=(0.5, 1.0, 2.0))
    for direction in ((0, 1, 0, 1, 0, 0, 0, 0, 1), (0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1)):
        data.SetDirectionMatrix(direction)
        check_orientation(output(contour(data)))


def gradients():
    equal(point_array(output(contour(ComputeGradients=0)), "Gradients"), None, "gradients though switched off")
    mesh = output(contour(ComputeGradients=1, ComputeNormals=1))
    values = point_array(mesh, "Gradients").astype(numpy.float64)
    lengths = numpy.linalg.norm(values, axis=1)
    # The samples fall by 1 per index, with a spacing of (0.5, 1, 2): the gradient's length is between 1/2 and 2.
    true(lengths.min() > 0.45 and lengths.max() < 2.1, f"gradients from {lengths.min()} to {lengths.max()}")
    normal = -values / lengths[:, None]
    near(float(numpy.abs(normal - point_array(mesh, "Normals")).max()), 0.0, 1e-5, "normal from gradient")


def scalars():
    mesh = output(contour(ComputeScalars=1))
    values = point_array(mesh, "distance")
    true(values is not None and (values == numpy.float32(90.25)).all(), "scalars are not the isovalue")
    equal(point_array(output(contour(ComputeScalars=0)), "distance"), None, "scalars though switched off")


def precision():
    for setting, dtype in (("Single", "float32"), ("Double", "float64"), ("Same as input", "float32")):
        equal(str(points(output(contour(OutputPointsPrecision=setting))).dtype), dtype, f"points, {setting}")
    wide = image({"distance": ball(DIMS, numpy.float64)}, DIMS)
    equal(str(points(output(contour(wide))).dtype), "float64", "points, same as a double input")


def pass_arrays():
    mesh = output(contour(InterpolateAttributes=1))
    ramp = point_array(mesh, "ramp")
    place = points(mesh) / (0.5, 1.0, 2.0)
    expected = place[:, 0] + DIMS[0] * (place[:, 1] + DIMS[1] * place[:, 2])
    near(float(numpy.abs(ramp - expected).max()), 0.0, 0.05, "an array that is linear in the index, on the surface")
    equal(point_array(output(contour(InterpolateAttributes=0)), "ramp"), None, "array though switched off")


def names_of(data):
    return sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))


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


def wide_ids():
    mesh = contour()
    count = mesh_cells(mesh)
    narrow = contour(Use64BitIds=0)
    equal(mesh_cells(narrow), count, "triangles with 32-bit ids")
    bits = [output(proxy).GetPolys().IsStorage64Bit() for proxy in (mesh, narrow)]
    equal([bool(b) for b in bits], [True, False], "ids of 64 bits, by default and without Use 64-bit Ids")
    finer = simple.LoopSubdivision(Input=mesh, NumberofSubdivisions=1)
    equal(mesh_cells(finer), 4 * count, "triangles after Loop Subdivision, which needs 64-bit ids")


def mesh_cells(proxy):
    proxy.UpdatePipeline()
    return proxy.GetDataInformation().GetNumberOfCells()


def remove_degenerate():
    dims = (20, 20, 20)
    z, y, x = numpy.mgrid[0:20, 0:20, 0:20]
    data = image({"steps": (x + y + z).astype(numpy.float32)}, dims)  # an oblique plane through samples
    settings = {"SelectInputScalars": ["POINTS", "steps"], "ContourValues": [25.0]}
    kept = output(contour(data, RemoveDegenerateTriangles=0, **settings))
    equal(counts(kept), counts(flying_edges(data, 25.0)), "points and triangles, against vtkFlyingEdges3D")
    removed = output(contour(data, RemoveDegenerateTriangles=1, **settings))
    true(removed.GetNumberOfPolys() < kept.GetNumberOfPolys(), "no triangle was removed")
    check_mesh(removed, (0, 0, 0), (19, 19, 19), strict=False)
    corners = points(removed)[triangles(removed)].astype(numpy.float64)
    areas = numpy.linalg.norm(numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    true(areas.min() > 0.1, f"the smallest triangle has an area of {areas.min()}")
    equal(len(numpy.unique(points(removed), axis=0)), removed.GetNumberOfPoints(), "different points")


def measures():
    """Compute Surface Measures: field data of each isovalue, on the scan as well as on a ball whose values are known."""
    names = ["Isovalue", "Area", "Volume", "Closed", "EulerNumber", "Components", "BoundaryEdges", "NonManifoldEdges"]

    def fields(mesh):
        return {name: list(vtk_to_numpy(mesh.GetFieldData().GetArray(name))) for name in names
                if mesh.GetFieldData().HasArray(name)}

    equal(fields(output(contour())), {}, "measures though switched off")
    values = fields(output(contour(image({"distance": ball(DIMS)}, DIMS), ContourValues=[90.25, 87.5],
                                   ComputeMeasures=1)))
    equal(sorted(values), sorted(names), "field arrays")
    equal(values["Isovalue"], [90.25, 87.5], "isovalues")
    for n, radius in enumerate((9.75, 12.5)):
        near(values["Area"][n], 4 * numpy.pi * radius ** 2, 4 * radius, f"area of the ball of radius {radius}")
        near(values["Volume"][n], 4 / 3 * numpy.pi * radius ** 3, 4 * radius ** 2, f"volume, radius {radius}")
    equal([values[name] for name in names[3:]], [[1, 1], [2, 2], [1, 1], [0, 0], [0, 0]], "the numbers")
    scan = simple.XMLImageDataReader(FileName=[os.path.join(DATA, "ch2.vti")])
    proxy = simple.PMBContour(Input=scan, ContourBy=["POINTS", "MRI"], Isosurfaces=[45.0], ComputeSurfaceMeasures=1)
    mesh = output(proxy)
    values = {name: value[0] for name, value in fields(mesh).items()}
    mass, regions, edges = vtkMassProperties(), vtkConnectivityFilter(), vtkFeatureEdges()
    for other in (mass, regions, edges):
        other.SetInputData(mesh)
    regions.SetExtractionModeToAllRegions()
    edges.FeatureEdgesOff()
    edges.NonManifoldEdgesOff()
    for other in (mass, regions, edges):
        other.Update()
    near(values["Area"] / mass.GetSurfaceArea(), 1.0, 1e-6, "area of the head, against vtkMassProperties")
    equal(values["Components"], regions.GetNumberOfExtractedRegions(), "components, against vtkConnectivityFilter")
    equal(values["BoundaryEdges"], edges.GetOutput().GetNumberOfLines(), "boundary edges, against vtkFeatureEdges")
    true(values["Components"] > 100 and values["BoundaryEdges"] > 100, f"too simple a surface: {values}")
    info = proxy.GetFieldDataInformation()
    near(info["Area"].GetRange()[0], values["Area"], 0.0, "what the client knows of the area")


def several_isovalues():
    values = [90.25, 95.0, 90.25, 88.5]
    mesh = output(contour(ContourValues=values))
    parts = [output(contour(ContourValues=[value])) for value in values]
    equal(counts(mesh), tuple(map(sum, zip(*map(counts, parts)))), "points and triangles of four isovalues")
    first = 0
    for part in parts:  # one after another, in the order asked for, duplicates kept
        last = first + part.GetNumberOfPoints()
        true((points(mesh)[first:last] == points(part)).all(), "the points of an isovalue are not contiguous")
        first = last
    equal(counts(output(contour(ContourValues=[]))), (0, 0), "without isovalues")


def threads_and_device():
    reference = output(contour())
    for options in ({"NumberOfThreads": 1}, {"NumberOfThreads": 3}, {"Device": "CPU"}, {"Device": "Automatic"},
                    {"Device": "GPU (CUDA)"}, {"Device": "GPU (CUDA)", "DeviceMemoryLimit": 1e-6}):
        with Messages():  # a machine without a GPU says so
            mesh = output(contour(**options))
        true((points(mesh) == points(reference)).all(), f"points differ with {options}")
        true((triangles(mesh) == triangles(reference)).all(), f"triangles differ with {options}")


# What scripts call the properties: made by ParaView from the labels. A new one changes what users write: think twice.
NAMES = {"CPUThreads", "CellArrays", "ChooseArrays", "ComputeGradients", "ComputeNormals", "ComputeScalars",
         "ComputeSurfaceMeasures", "ContourBy", "GPUIndex", "GPUMemoryLimit", "Input", "Isosurfaces", "LastRun", "Live",
         "LiveIsovalue", "NormalsBy", "OutputPointsPrecision", "PassArrays", "PointArrays", "ReleaseGPUMemory",
         "RemoveDegenerateTriangles", "RunOn", "Suggestions", "Use64bitIds", "UseSuggestedIsovalue"}


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


def names_in_python():
    """The properties under the names that scripts use."""
    proxy = simple.PMBContour(Input=producer(two_arrays()), ContourBy=["POINTS", "distance"], Isosurfaces=[90.25],
                              ComputeNormals=0, ComputeScalars=0, PassArrays=0, RemoveDegenerateTriangles=1,
                              OutputPointsPrecision="Single", RunOn="CPU")
    mesh = output(proxy)
    true((points(mesh) == points(output(contour()))).all(), "points differ")
    equal(mesh.GetPointData().GetNumberOfArrays(), 0, "point arrays")


def filter_of(proxy):
    """The VTK object behind the proxy, as vtkPMBContourFilter."""
    import pmb  # once the plugin is loaded
    true(isinstance(proxy.GetClientSideObject(), pmb.vtkPMBContourFilter), "the filter has another class")
    return proxy.GetClientSideObject()


def device():
    """Run On and its advanced settings reach the filter, and Last Run says what became of them."""
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
        equal(log.text().count("no GPU can be used"), 1, f"warnings in {log.text()!r}")
        true(text.split(" because ")[1].split(":")[0] in log.text(), f"{text!r} has another reason than {log.text()!r}")
    true((points(mesh) == points(output(contour(Device="CPU")))).all(), "points differ from the CPU's")
    with Messages() as log:
        automatic = contour(Device="Automatic", DeviceIndex=900)
        equal(counts(output(automatic)), counts(mesh), "points and triangles with a GPU that cannot be there")
    equal(log.text(), "", "messages of Automatic")
    true("CPU" in automatic.LastRun and " because " in automatic.LastRun, f"Automatic says {automatic.LastRun!r}")


def switched_off():
    """PMB_GPU=off: no GPU, on any machine."""
    before = os.environ.get("PMB_GPU")
    os.environ["PMB_GPU"] = "off"
    try:
        with Messages() as log:
            proxy = contour(Device="GPU (CUDA)")
            output(proxy)
        true("PMB_GPU" in proxy.LastRun or "no CUDA" in proxy.LastRun, f"the last run is {proxy.LastRun!r}")
        equal(log.text().count("no GPU can be used"), 1, f"warnings in {log.text()!r}")
    finally:
        del os.environ["PMB_GPU"]
        if before is not None:
            os.environ["PMB_GPU"] = before


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
    """LastRun speaks of the surface that the proxy has now. Nothing but an update may be needed for that."""
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
run(panel, hints, default_isovalue, normals, normal_estimators, normals_of_turned_volumes, gradients, scalars, precision,
    pass_arrays, choose_arrays,
    remove_degenerate, wide_ids, measures, several_isovalues, threads_and_device, device, switched_off, release,
    names_by_label, names_in_python, last_run)
