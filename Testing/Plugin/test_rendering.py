# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of surfaces drawn by vtkPMBPolyDataMapper beside pictures of the same meshes drawn by VTK's mapper alone, in
ParaView's views: equal to 1 in 255, whatever the representation shows. And which of them are drawn without a walk over
the cells."""
import numpy
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from plugin_testing import (add_array, ball, copy_of, equal, image, load_plugin, output, producer, run, true,
                            window_pixels)
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet

load_plugin()
import pmb.vtkPMBRendering  # noqa: E402, F401, makes the mapper's own methods known to Python

SIZE = (300, 200)
MOVED = "Position" if simple.GetParaViewVersion() < (5, 13) else "Translation"


def volume():
    dims = (24, 20, 22)
    return producer(image({"s": ball(dims), "t": ball(dims, center=(3, 4, 5))}, dims))


def surface(source, **properties):
    properties = {"Isosurfaces": [92.5], **properties}
    return simple.PMBContour(Input=source, ContourBy=["POINTS", "s"], **properties)


def new_view():
    view = simple.CreateView("RenderView")
    view.ViewSize = SIZE
    view.OrientationAxesVisibility = 0
    view.UseColorPaletteForBackground = 0
    return view


def direct(representation):
    """The number of triangles drawn without a loop over the cells."""
    actor = representation.GetClientSideObject().GetActiveRepresentation().GetActor()
    return actor.GetMapper().GetNumberOfDirectTriangles()


def picture(view):
    data = view.CaptureWindow(1)
    return vtk_to_numpy(data.GetPointData().GetScalars()).astype(int)


def show(proxy, settings, view=None):
    """A picture of a proxy's output, and its representation, after settings(proxy, representation, view)."""
    view = view or new_view()
    representation = simple.Show(proxy, view)
    settings(proxy, representation, view)
    simple.Render(view)
    simple.ResetCamera(view)
    camera = view.GetActiveCamera()
    camera.Azimuth(25)
    camera.Elevation(15)
    simple.Render(view)
    return picture(view), representation, view


def compare(contour, settings, expect_direct, what):
    """The surface, and its copy drawn by VTK alone."""
    mesh = output(contour)
    true(mesh.GetNumberOfCells() > 100, "triangles")
    ours, representation, view = show(contour, settings)
    equal(direct(representation), mesh.GetNumberOfCells() if expect_direct else 0, f"{what}: triangles drawn directly")
    theirs, other, other_view = show(producer(copy_of(mesh)), settings)
    equal(direct(other), 0, f"{what}: triangles of the copy drawn directly")
    true(ours.max() - ours.min() > 40, f"{what}: the picture shows something")
    equal(abs(ours - theirs).max() <= 1, True, f"{what}: pictures differ by {abs(ours - theirs).max()}")
    for proxy in (view, other_view):
        simple.Delete(proxy)
    return ours


def test_representations():
    """Each way to show a mesh. (Its colors: test_colors.)"""
    contour = surface(volume())

    def with_properties(**properties):
        def change(_, representation, __):
            for name, value in properties.items():
                setattr(representation, name, value)
        return change

    def peeled(_, representation, view):
        view.GetClientSideObject().GetRenderer().SetUseDepthPeeling(True)
        representation.Opacity = 0.3

    cases = (
        ("specular", with_properties(Specular=0.8, SpecularPower=30), True),
        ("flat", with_properties(Interpolation="Flat"), True),
        ("translucent", with_properties(Opacity=0.4), True),
        ("backface", with_properties(BackfaceRepresentation="Surface", BackfaceDiffuseColor=[0, 1, 0], Opacity=0.9), True),
        ("moved", with_properties(Orientation=[10, 20, 30], **{MOVED: [5, 0, 1]}), True),
        ("edges", with_properties(Representation="Surface With Edges"), False),
        ("wireframe", with_properties(Representation="Wireframe"), False),
        ("points", with_properties(Representation="Points", PointSize=3), False),
        ("depth peeling", peeled, True),
    )
    for name, settings, expect_direct in cases:
        compare(contour, settings, expect_direct, name)


def test_cell_arrays_and_normals():
    """Colors by cell, no normals, other types. (Far from the origin: test_scenes.py.)"""
    source = volume()
    cells = source.GetClientSideObject().GetOutputDataObject(0).GetCellData()
    add_array(cells, "c", numpy.arange(23 * 19 * 21, dtype=numpy.float32) % 97)

    def by_cell(_, representation, view):
        simple.ColorBy(representation, ("CELLS", "c"))
        representation.RescaleTransferFunctionToDataRange(False, True)
        representation.SetScalarBarVisibility(view, False)

    compare(surface(source), by_cell, False, "by cells")
    none = lambda *_: None  # noqa: E731
    compare(surface(volume(), ComputeNormals=0), none, True, "without normals")
    compare(surface(volume(), RemoveDegenerateTriangles=0, Isosurfaces=[90, 92, 95], OutputPointsPrecision="Double",
                    Use64bitIds=0), none, True, "degenerate triangles of several isovalues, double points, 32-bit ids")


def test_blocks():
    """Blocks, their visibility and colors."""
    blocks = vtkMultiBlockDataSet()
    dims = (24, 20, 22)
    for i in range(3):
        blocks.SetBlock(i, image({"s": ball(dims)}, dims, origin=(26.0 * i, 0, 0)))
    contour = surface(producer(blocks))
    mesh, copies = output(contour), vtkMultiBlockDataSet()
    for i in range(3):
        copies.SetBlock(i, copy_of(mesh.GetBlock(i)))
    for shown in (range(3), (0, 2)):
        def choose(_, each, __, shown=shown):
            each.BlockSelectors = [f"/Root/Block{i}" for i in shown]

        ours, representation, _ = show(contour, choose)
        theirs, *_ = show(producer(copies), choose)
        all_triangles = sum(mesh.GetBlock(i).GetNumberOfCells() for i in range(3))
        equal(direct(representation), all_triangles, "triangles of three blocks")
        equal(abs(ours - theirs).max() <= 1, True, f"blocks {shown}")


def selected(view, area, points):
    chooser = simple.SelectSurfacePoints if points else simple.SelectSurfaceCells
    chooser(Rectangle=area, View=view)
    source = simple.GetActiveSource()
    chosen = servermanager.Fetch(simple.ExtractSelection(Input=source))
    name = "vtkOriginalPointIds" if points else "vtkOriginalCellIds"
    data = chosen.GetPointData() if points else chosen.GetCellData()
    ids = sorted(vtk_to_numpy(data.GetArray(name)).tolist()) if data.GetArray(name) else []
    simple.ClearSelection(source)
    return ids


def test_selection():
    """Selects the same cells and points, also of a mesh with ghosts; the pictures do not change."""
    area = [SIZE[0] // 3, SIZE[1] // 3, 2 * SIZE[0] // 3, 2 * SIZE[1] // 3]
    for ghosts, properties in ((0, {}), (0, {"RemoveDegenerateTriangles": 0, "Isosurfaces": [92]}), (9, {})):
        source = volume()
        if ghosts:
            flags = numpy.zeros((21, 19, 23), numpy.uint8)
            flags[:, :, :ghosts] = 1  # vtkDataSetAttributes::DUPLICATECELL
            add_array(source.GetClientSideObject().GetOutputDataObject(0).GetCellData(), "vtkGhostType", flags.ravel())
        contour = surface(source, **properties)
        copy = producer(copy_of(output(contour)))
        before, representation, view = show(contour, lambda *_: None)
        _, __, other_view = show(copy, lambda *_: None)
        for points in (False, True):
            simple.SetActiveSource(contour)
            ours = selected(view, area, points)
            simple.SetActiveSource(copy)
            theirs = selected(other_view, area, points)
            true(len(ours) > 20, f"something is selected: {len(ours)}")
            equal(ours, theirs, "selected points" if points else "selected cells")
        simple.Render(view)
        equal(abs(picture(view) - before).max() <= 1, True, "the picture after a selection")
        cells = output(contour).GetNumberOfCells()
        if ghosts:
            cells -= numpy.count_nonzero(vtk_to_numpy(output(contour).GetCellData().GetArray("vtkGhostType")))
        equal(direct(representation), cells, "triangles drawn directly after a selection")
        for proxy in (view, other_view):
            simple.Delete(proxy)


def test_colors():
    """Every way to color by a point array, one after the other in one view; and a moved isovalue after each."""
    dims = (24, 20, 22)
    random = numpy.random.default_rng(5)
    shape = (*dims[::-1], 3)
    vectors = random.random(shape) + numpy.linspace(0, 2, dims[0])[:, None]
    with_gaps = (vectors[..., 0] * 9).astype(numpy.float32)
    with_gaps[::5, ::5, ::5] = numpy.nan
    contour = surface(producer(image({"s": ball(dims), "v": vectors, "gaps": with_gaps,
                                      "bytes": random.integers(0, 255, shape).astype(numpy.uint8),
                                      "ints": random.integers(-9, 9, shape[:3]).astype(numpy.int64)}, dims)))
    _, ours, view = show(contour, lambda *_: None)
    mesh_producer = producer(copy_of(output(contour)))
    _, theirs, other_view = show(mesh_producer, lambda *_: None)

    def compare_pictures(what):
        for one in (view, other_view):
            simple.Render(one)
        there, expected = picture(view), picture(other_view)
        equal(direct(ours), output(contour).GetNumberOfCells(), f"{what}: triangles drawn directly")
        equal(direct(theirs), 0, f"{what}: triangles of the copy drawn directly")
        true(abs(there - expected).max() <= 1, f"{what}: pictures differ by {abs(there - expected).max()}")
        return there

    def look(array, table=None, **properties):
        for representation in (ours, theirs):
            simple.ColorBy(representation, array)
            for name, value in properties.items():
                setattr(representation, name, value)
        ours.RescaleTransferFunctionToDataRange(False, True)
        function = simple.GetColorTransferFunction(array[1]) if array else None
        for name, value in (table or {}).items():
            setattr(function, name, value)
        for one in (view, other_view):
            simple.HideUnusedScalarBars(one)
        for representation, one in ((ours, view), (theirs, other_view)):
            representation.SetScalarBarVisibility(one, False)

    whole, parts = {"InterpolateScalarsBeforeMapping": 1}, {"InterpolateScalarsBeforeMapping": 0}
    looks = (("magnitude", ("POINTS", "v"), {}, whole), ("component", ("POINTS", "v", "Y"), {}, whole),
             ("colors of points", ("POINTS", "v", "Magnitude"), {}, parts), ("gaps", ("POINTS", "gaps"), {}, parts),
             ("gaps by texture", ("POINTS", "gaps"), {}, whole), ("bytes", ("POINTS", "bytes"), {}, whole),
             ("direct", ("POINTS", "bytes"), {}, {"MapScalars": 0}), ("one color", None, {}, {"MapScalars": 1}),
             ("logarithm", ("POINTS", "v", "X"), {"UseLogScale": 1}, whole), ("ints", ("POINTS", "ints"), {}, parts),
             ("few", ("POINTS", "ints"), {"NumberOfTableValues": 5, "UseAboveRangeColor": 1}, whole),
             ("smooth", ("POINTS", "ints"), {"Discretize": 0}, parts),
             ("categories", ("POINTS", "ints"), {"InterpretValuesAsCategories": 1, "Annotations": ["1", "a", "-3", "b"],
                                                 "IndexedColors": [1, 0, 0, 0, 1, 0]}, whole),
             ("once more", ("POINTS", "gaps"), {}, whole))
    pictures = []
    for n, (what, array, table, properties) in enumerate(looks):
        look(array, table, **properties)
        pictures.append(compare_pictures(what))
        contour.Isosurfaces = [92.5 - 0.1 * n]
        contour.UpdatePipeline()
        mesh_producer.GetClientSideObject().SetOutput(copy_of(output(contour)))
        mesh_producer.MarkModified(None)
        mesh_producer.UpdatePipeline()
        compare_pictures(f"{what}, at another isovalue")
    true(len({image.tobytes() for image in pictures}) > len(pictures) - 3, "the colors differ")
    for one in (view, other_view):
        simple.Delete(one)


def test_level_of_detail():
    """While it is turned a surface is drawn in full, others decimated; then all in full. An empty surface, and its end."""
    contour = surface(volume())
    _, representation, view = show(contour, lambda *_: None)
    view.LODThreshold = 0
    for kind, opacity, outline, full in (("Surface", 1, 0, True), ("Surface", 1, 1, False), ("Surface", .5, 0, False),
                                         ("Wireframe", 1, 0, False), ("Surface With Edges", 1, 0, False),
                                         ("Surface", 1, 0, True)):
        representation.Representation, representation.Opacity, view.UseOutlineForLODRendering = kind, opacity, outline
        simple.Render(view)
        before = window_pixels(view.GetRenderWindow())
        view.InteractiveRender()
        apart = abs(window_pixels(view.GetRenderWindow()) - before).max()
        equal(apart <= 1, full, f"whether the picture of an interaction is in full: {kind}, opacity {opacity}, {outline}")
        view.StillRender()
        equal(abs(window_pixels(view.GetRenderWindow()) - before).max() <= 1, True, "the picture after an interaction")
    for isovalue, empty in ((500, True), (92.5, False)):
        contour.Isosurfaces = [isovalue]
        simple.Render(view)
        simple.ResetCamera(view)  # the clipping planes, as with VTK's mapper
        equal(numpy.ptp(picture(view), axis=0).max() < 40, empty, f"whether nothing is drawn at {isovalue}")


def same_ranges(mesh, copy):
    """Compares the ranges that the fields of point data report, as ParaView 6.1 asks for them. Returns the arrays."""
    names = [mesh.GetPointData().GetArrayName(i) for i in range(mesh.GetPointData().GetNumberOfArrays())]
    pairs = [(mesh.GetPointData().GetArray(name), copy.GetPointData().GetArray(name)) for name in names]
    for name, (array, _) in zip(names, pairs):
        for component in range(-1, array.GetNumberOfComponents()):
            for ask in ("GetRange", "GetFiniteRange"):
                found = [[0, 0], [0, 0]]
                for fields, one in zip((mesh, copy), found):
                    getattr(fields.GetPointData(), ask)(name, one, component)
                equal(repr(found[0]), repr(found[1]), f"{ask} of fields: {name}, {component}")
    return pairs


def test_information():
    """Ranges and bounds stored in the filter's output, and in what is shown of it, equal VTK's own."""
    _, representation, _ = show(surface(volume(), ComputeGradients=1), lambda *_: None)
    shown = representation.GetClientSideObject().GetRenderedDataObject(0)
    equal(shown.GetClassName(), "vtkPolyData", "what is shown, whose copy ParaView would pass over")
    true(len(same_ranges(shown, copy_of(shown))) > 2, "arrays")
    for properties in ({}, {"OutputPointsPrecision": "Double"}, {"ComputeGradients": 1, "Isosurfaces": [90, 93]}):
        source = volume()
        image_data = source.GetClientSideObject().GetOutputDataObject(0)
        integers = numpy.arange(2 * image_data.GetNumberOfPoints()).reshape(-1, 2)
        integers = add_array(image_data.GetPointData(), "integers", integers)
        integers.GetFiniteRange(-1)  # the image's, which the surface does not inherit
        for value in (numpy.nan, numpy.inf, -numpy.inf):
            for every in (1, 9):
                values = numpy.random.default_rng(every).random((image_data.GetNumberOfPoints(), 2))
                values[::every, 0] = value
                add_array(image_data.GetPointData(), f"{value}, {every}", values)
        contour = surface(source, **properties)
        contour.UpdatePipeline()
        mesh = contour.GetClientSideObject().GetOutputDataObject(0)
        copy = copy_of(mesh)
        equal(mesh.GetBounds(), copy.GetBounds(), "bounds")
        of_cells = [[0] * 6, [0] * 6]
        mesh.GetCellsBounds(of_cells[0]), copy.GetCellsBounds(of_cells[1])
        equal(*of_cells, "bounds of cells")
        pairs = [(mesh.GetPoints().GetData(), copy.GetPoints().GetData()), *same_ranges(mesh, copy)]
        true(len(pairs) > 2, "arrays")
        for kept, plain in pairs:
            fresh = plain.NewInstance()
            fresh.DeepCopy(plain)
            fresh.GetInformation().Clear()
            for component in range(-1, kept.GetNumberOfComponents()):
                equal(repr(kept.GetRange(component)), repr(fresh.GetRange(component)), f"range of {kept.GetName()}")
                equal(repr(kept.GetFiniteRange(component)), repr(fresh.GetFiniteRange(component)),
                      f"finite range of {kept.GetName()}, {component}")


run(test_representations, test_cell_arrays_and_normals, test_blocks, test_selection, test_colors,
    test_level_of_detail, test_information)
