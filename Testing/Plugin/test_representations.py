# SPDX-License-Identifier: BSD-3-Clause
"""The representations Isosurface and PMB Volume of image data: their properties, state files, selection, and what they
cannot draw. (Their pictures beside VTK's: test_scenes.py, and of all blend modes: test_volume_mapper.py.)"""
import itertools
import os
import re
import tempfile

import numpy
from paraview import servermanager, simple, smstate
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from plugin_testing import (Messages, add_array, equal, image, load_plugin, producer, run, share_shown, true,
                            window_pixels)
from vtkmodules.vtkCommonCore import reference
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkRectilinearGrid
from vtkmodules.vtkRenderingVolume import vtkVolumeMapper

load_plugin()
import pmb.vtkPMBRendering  # noqa: E402, F401, makes the mapper's own methods known to Python

SIZE = (220, 180)
BLENDS = {"Composite": vtkVolumeMapper.COMPOSITE_BLEND, "Maximum Intensity": vtkVolumeMapper.MAXIMUM_INTENSITY_BLEND,
          "Minimum Intensity": vtkVolumeMapper.MINIMUM_INTENSITY_BLEND,
          "Average Intensity": vtkVolumeMapper.AVERAGE_INTENSITY_BLEND, "Isosurface": vtkVolumeMapper.ISOSURFACE_BLEND}


def new_view():
    view = simple.CreateView("RenderView")
    view.ViewSize, view.OrientationAxesVisibility, view.UseFXAA = SIZE, 0, 0
    view.UseColorPaletteForBackground, view.Background = 0, [.1, .2, .3]
    return view


def show(source, view, kind, color=("POINTS", "RTData")):
    """Shows a proxy by a representation, from one side, colored by an array if it has one."""
    display = simple.Show(source, view)
    if color != "":
        simple.ColorBy(display, color)
    true(display.SetRepresentationType(kind), f"{kind} is not in the list")
    if color:
        display.SetScalarBarVisibility(view, False)
    simple.ResetCamera(view)
    view.GetActiveCamera().Azimuth(30)
    view.GetActiveCamera().Elevation(20)
    return display


def pixels(view):
    simple.Render(view)
    return window_pixels(view.SMProxy.GetRenderWindow())


def same(ours, theirs, what, most=1):
    true(abs(ours - theirs).max() <= most, f"{what}: pixels differ by up to {abs(ours - theirs).max()}")
    true(share_shown(ours) > .05, f"{what}: {share_shown(ours):.2f} of the pixels show something")


def test_blend_modes():
    """Each is the mapper's, with or without light; what the mapper does not draw is VTK's, with one warning."""
    view = new_view()
    display = show(simple.Wavelet(), view, "PMB Volume")
    display.IsosurfaceValues = [130, 200]
    seen = []
    for name, mode in BLENDS.items():
        for shade in (0, 1) if name in ("Composite", "Isosurface") else (0,):
            display.BlendMode, display.Shade = name, shade
            seen.append(pixels(view))
            mapper = display.GetClientSideObject().GetActiveRepresentation().GetActor().GetMapper()
            equal((mapper.GetBlendMode(), bool(mapper.GetLastDevice())), (mode, True), f"{name}: its mode, and that it drew")
    equal(len({picture.tobytes() for picture in seen}), 7, "pictures that differ")
    with Messages() as log:
        display.BlendMode, display.SliceFunction.Normal = "Slice", [1, 1, 1]
        true(share_shown(pixels(view)) > .1, "the slice")
    equal(log.text().count("because the blend mode is additive or slice"), 1, log.text())


def test_left_to_volume():
    """Opacities of another array, and two-dimensional transfer functions: Volume's picture, and one warning.
    Isosurface has its own opacities."""
    source = simple.Calculator(Input=simple.Wavelet(), Function="157+9*coordsX", ResultArrayName="x")
    settings = {"separate": {"UseSeparateOpacityArray": 1, "OpacityArrayName": ["POINTS", "x"]},
                "second": {"UseTransfer2D": 1, "UseGradientForTransfer2D": 0, "ColorArray2Name": ["POINTS", "x"]},
                "gradient": {"UseTransfer2D": 1}}
    for name, properties in settings.items():
        pictures = {}
        for kind in ("Isosurface", "plain", "PMB Volume", "Volume"):
            view = new_view()
            display = show(source, view, "Isosurface" if kind == "plain" else kind)
            display.ContourBy, display.IsosurfaceValues = "RTData", [150]
            for what, value in properties.items() if kind != "plain" else ():
                setattr(display, what, value)
            if name != "separate":
                display.TransferFunction2D = simple.GetTransferFunction2D("RTData")
                display.TransferFunction2D.Range = [37, 277, 0, 250]
                display.TransferFunction2D.Boxes = [40, 0, 200, 250, 1, .2, .1, .8]
            with Messages() as log:
                pictures[kind] = (pixels(view), pixels(view))[1]
            equal(log.text().count("vtkSmartVolumeMapper draws"), int(kind == "PMB Volume"), f"{name}, {kind}: {log.text()}")
        apart = abs(pictures["PMB Volume"] - pictures["Volume"]).mean()  # Volume moves its samples by noise
        true(apart < 1, f"{name}: differs by {apart:.2f} from Volume")
        true(abs(pictures["Volume"] - pixels(view)[0, 0]).mean() > 3, f"{name}: the picture is empty")
        same(pictures["Isosurface"], pictures["plain"], f"{name}, Isosurface")


def test_vectors_of_cells():
    """Their magnitude, or a component, is drawn as VTK's Volume draws an array of that alone."""
    vectors = numpy.mgrid[0:8, 0:8, 0:8].reshape(3, -1).T.astype(numpy.float32)
    data = image({}, (9, 9, 9))
    for name, values in (("v", vectors), ("Magnitude", numpy.linalg.norm(vectors, axis=1)), ("Component", vectors[:, 2])):
        array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
        array.SetName(name)
        data.GetCellData().AddArray(array)
    for mode in ("Magnitude", "Component"):
        colors = simple.GetColorTransferFunction("v")
        colors.VectorMode, colors.VectorComponent = mode, 2
        pictures = []
        for kind, name in (("PMB Volume", "v"), ("Volume", mode)):
            view = new_view()
            show(producer(data), view, kind, ("CELLS", name)).RescaleTransferFunctionToDataRange()
            pictures.append((pixels(view), pixels(view))[1])
        apart = abs(pictures[0] - pictures[1]).mean()
        true(apart < 1, f"{mode}: differs by {apart:.2f} from Volume")
        true(share_shown(pictures[1]) > .05, f"{mode}: the picture is empty")


def test_array_is_chosen():
    """PMB Volume chooses an array if none is set; Isosurface uses the first point array."""
    view = new_view()
    display = show(simple.Wavelet(), view, "PMB Volume", None)
    equal(list(display.ColorArrayName), ["POINTS", "RTData"], "the array")
    true(share_shown(pixels(view)) > .1, "the picture is empty")
    simple.ColorBy(display, None)
    display.Representation = "Isosurface"
    true(share_shown(pixels(view)) > .1, "the picture without an array is empty")


def balls():
    """An image whose first and active array is "radius", with its coordinate "x" and with "v", three components."""
    z, y, x = numpy.mgrid[0:24, 0:24, 0:24].astype(numpy.float32) - 11.6
    radius = numpy.sqrt(x * x + y * y + z * z)
    return image({"radius": radius, "x": x, "v": numpy.stack([x, y, z], axis=-1)}, (24, 24, 24))


def range_of(display):
    """The list of isovalues in ParaView's panel."""
    domain = display.SMProxy.GetProperty("IsosurfaceValues").GetDomain("scalar_range")
    return domain.GetMinimum(0, reference(0)), domain.GetMaximum(0, reference(0))


def test_contour_by():
    """One array is contoured, another one or the solid color colors."""
    view, data = new_view(), balls()
    display = show(producer(data), view, "Isosurface", ("POINTS", "x"))
    equal(list(display.ContourBy), ["POINTS", "radius"], "the array at first")
    display.IsosurfaceValues, display.IsosurfaceOpacities = [4, 9], [.4]  # of the second: 1
    domain = display.SMProxy.GetProperty("ContourBy").GetDomain("array_list")
    equal({domain.GetString(index) for index in range(domain.GetNumberOfStrings())}, {"radius", "v", "x"}, "the choices")

    pictures = []
    for contoured, color, isovalues in (("radius", ("POINTS", "x"), [4, 9]), ("x", ("POINTS", "radius"), [-3, 5]),
                                        ("radius", ("POINTS", "radius"), [4, 9]), ("radius", None, [4, 9])):
        simple.ColorBy(display, color)
        display.ContourBy, display.IsosurfaceValues, display.DiffuseColor = contoured, isovalues, [1, .5, .2]
        with Messages() as log:
            pictures.append(pixels(view))
        equal(log.text(), "", f"messages, {contoured} by {color}")
    for first, second in itertools.combinations(pictures, 2):
        true(abs(first - second).max() > 20, "two pictures are the same")
    equal(range_of(display), data.GetPointData().GetArray("radius").GetRange(), "the range of isovalues")
    display.ContourBy = "x"
    equal(range_of(display), data.GetPointData().GetArray("x").GetRange(), "the range of isovalues of another array")
    display.Representation, display.ColorArrayName = "Volume", ["POINTS", "radius"]
    equal(range_of(display), data.GetPointData().GetArray("radius").GetRange(), "the range of isovalues of Volume")


def test_contour_components():
    """The array that colors has the component of its color map; another one is contoured by its magnitude."""
    view = new_view()
    display = show(producer(balls()), view, "Isosurface", None)
    for ours, theirs, isovalues in (((("POINTS", "v", "X"), "radius"), (("POINTS", "x"), "radius"), [8]),
                                    ((("POINTS", "x"), "v"), (("POINTS", "x"), "radius"), [8]),
                                    ((("POINTS", "v", "X"), "v"), (("POINTS", "x"), "x"), [-3]),
                                    ((("POINTS", "v", "Magnitude"), "v"), (("POINTS", "radius"), "radius"), [8]),
                                    ((None, "v"), (None, "radius"), [8])):
        pictures = []
        for color, contoured in (ours, theirs):
            simple.ColorBy(display, color)
            display.ContourBy, display.IsosurfaceValues = contoured, isovalues
            if color:
                display.LookupTable.RescaleTransferFunction(-12, 12)
            with Messages() as log:
                pictures.append(pixels(view))
                same(pixels(view), pictures[-1], "drawn again")
            equal(log.text(), "", f"messages of {color}, {contoured}")
        same(*pictures, f"{ours}")


def suggested(proxy):
    """The suggested isovalues and the curve."""
    names = ("SuggestedIsovalues", "IsovalueCurve")
    for name in names:
        proxy.SMProxy.UpdatePropertyInformation(proxy.SMProxy.GetProperty(name))
    return [list(proxy.GetPropertyValue(name)) for name in names]


def test_first_isovalue():
    """Isosurface starts at the first suggestion, but not where an isovalue was set before or after, nor as a property."""
    view = new_view()
    for before, after, expected in ((None, None, None), ([100], None, [100]), (None, [157], [157]),
                                    (None, "middle", "middle")):
        display = simple.Show(simple.Wavelet(), view)
        middle = list(display.IsosurfaceValues)
        equal([round(value, 3) for value in middle], [157.091], "ParaView's own isovalue")
        display.IsosurfaceValues = before or middle
        display.SetRepresentationType("Isosurface")
        if after:
            display.IsosurfaceValues = middle if after == "middle" else after
        pixels(view)
        expected = middle if expected == "middle" else expected or suggested(display)[0][:1]
        equal(list(display.IsosurfaceValues), expected, f"the isovalue, with {before} before and {after} after")
        display.SetRepresentationType("Surface")
        display.SetRepresentationType("Isosurface")
        simple.Hide(simple.GetActiveSource(), view)
    display = simple.Show(simple.Wavelet(), view)
    display.Representation = "Isosurface"  # as state files do
    pixels(view)
    equal(list(display.IsosurfaceValues), middle, "the isovalue of a state")
    # Without the panel's widgets ParaView would show a list without a title.
    equal(display.SMProxy.GetProperty("SuggestedIsovalues").GetPanelVisibility(), "never", "suggestions in ParaView's panel")


def test_suggestions():
    """Suggested isovalues and the curve are the filter's, of the array at Contour By; Surface has none."""
    view, source = new_view(), producer(balls())
    display = show(source, view, "Isosurface", ("POINTS", "x"))
    for name in ("radius", "x", "v"):
        display.ContourBy = name
        pixels(view)
        contour = simple.PMBContour(Input=source, ContourBy=["POINTS", "radius" if name == "v" else name], Isosurfaces=[5])
        contour.UpdatePipeline()
        expected, ours = suggested(contour), suggested(display)
        if name == "v":  # the magnitude is rounded otherwise
            equal([len(numbers) for numbers in ours], [len(numbers) for numbers in expected], "sizes for a magnitude")
            true(numpy.allclose(ours[0], expected[0], rtol=1e-5), f"suggestions for a magnitude: {ours[0]}, {expected[0]}")
        else:
            equal(ours, expected, f"suggestions and curve of {name}")
            true(len(ours[0]) > 0, f"{name} has no suggestions")
    for name, kind in (("nowhere", "Isosurface"), ("radius", "Surface"), ("radius", "PMB Volume")):
        display.ContourBy = name
        display.Representation = kind
        with Messages():
            pixels(view)
        equal(suggested(display), [[], []], f"suggestions of {name} for {kind}")


def test_colors_of_nan_and_categories():
    """Where colors come from no number, and from whole numbers alone, Isosurface has those of a mesh."""
    z, y, x = numpy.mgrid[0:30, 0:30, 0:30].astype(numpy.float32) - 14.5
    parts = numpy.floor(y / 10 + 1.5).astype(numpy.int32)  # 0, 1 and 2: 1 is between two colors of a table of even size
    source = producer(image({"radius": numpy.sqrt(x * x + y * y + z * z), "gap": numpy.where(x > 3, numpy.nan, y),
                             "part": parts}, (30,) * 3))
    contour = simple.PMBContour(Input=source, ContourBy=["POINTS", "radius"], Isosurfaces=[12])
    simple.GetColorTransferFunction("gap").NanColor = [0, 1, 0]
    categories = simple.GetColorTransferFunction("part")
    categories.Annotations, categories.IndexedColors = ["0", "a", "1", "b", "2", "c"], [1, 0, 0, 0, 1, 0, 0, 0, 1]
    categories.InterpretValuesAsCategories = 1
    for name in ("gap", "part"):
        view, pictures = new_view(), []
        display = show(source, view, "Isosurface", ("POINTS", name))
        display.ContourBy, display.IsosurfaceValues = ["POINTS", "radius"], [12]
        for proxy in (source, contour):
            simple.ColorBy(simple.Show(proxy, view), ("POINTS", name))
            simple.GetColorTransferFunction("gap").RescaleTransferFunction(-12, 12)
            pictures.append(pixels(view).astype(int))
            simple.Hide(proxy, view)
        different = (abs(pictures[0] - pictures[1]).max(axis=2) > 16).mean() / share_shown(pictures[1])
        true(different < .1, f"{name}: {different:.3f} of what is drawn has another color")  # at borders, a cell wide


def test_wrong_arrays():
    """One warning for a name, and no picture or the colors of isovalues."""
    view = new_view()
    display = show(producer(balls()), view, "Isosurface", ("POINTS", "x"))
    display.IsosurfaceValues = [8]
    for name, value, said in (("ContourBy", "nowhere", "'nowhere' to contour. Choose another array at Contour By"),
                              ("ColorArrayName", ["POINTS", "nowhere"], "'nowhere' to color by"),
                              ("ColorArrayName", ["CELLS", "cells"], "'cells' to color by")):
        before = list(getattr(display, name))
        with Messages() as log:
            setattr(display, name, value)
            pictures = [pixels(view), pixels(view)]
        equal(log.text().count("Warning:"), 1, f"messages of {name} {value}: {log.text()}")
        true(said in log.text(), f"{name} {value}: {log.text()}")
        if name == "ContourBy":
            equal(share_shown(pictures[1]), 0, "shown without an array")
        else:
            same(*pictures, f"{name} {value}")
        setattr(display, name, before)
    true(share_shown(pixels(view)) > .05, "nothing is shown with the right names")


def reloaded(change=None):
    """Saves the session. Yields its display and view from the state file, which change(text) may change, and else from a
    Python state."""
    with tempfile.TemporaryDirectory() as folder:
        path, script = os.path.join(folder, "state.pvsm"), smstate.get_state()
        simple.SaveState(path)
        if change:
            with open(path, encoding="utf-8") as text:
                state = change(text.read())
            with open(path, "w", encoding="utf-8") as text:
                text.write(state)
        loads = lambda: simple.LoadState(path), lambda: exec(compile(script, "state.py", "exec"), {})
        for load in loads[:1] if change else loads:
            simple.ResetSession()
            load()
            view = simple.GetActiveViewOrCreate("RenderView")
            view.ViewSize, view.UseFXAA = SIZE, 0
            yield simple.GetDisplayProperties(simple.FindSource("Calculator1") or simple.FindSource("Wavelet1"), view), view


def test_contour_by_states():
    """Contour By in states; older states contour the array of the colors, or the first array."""
    def older(text):
        state, count = re.subn(r'<Property name="ContourBy".*?</Property>', "", text, flags=re.DOTALL)
        true(count > 0, "the state lacks Contour By")
        return state

    for color, contoured, isovalue in ((("POINTS", "RTData"), "z", 3), (("POINTS", "RTData"), "", 157), (None, "", 3)):
        simple.ResetSession()
        view = new_view()
        source = simple.Calculator(Input=simple.Wavelet(), Function="coordsZ", ResultArrayName="z")
        display = show(source, view, "Isosurface", color)
        equal(list(display.ContourBy), ["POINTS", "z"], "the active array")
        display.ContourBy = contoured or ("RTData" if color else "z")
        display.IsosurfaceValues, display.IsosurfaceOpacities = [isovalue], []
        before, numbers = pixels(view), suggested(display)
        true(numbers[0], "nothing is suggested")
        for display, view in reloaded(None if contoured else older):
            equal(display.ContourBy[1], contoured, "Contour By")
            same(pixels(view), before, f"color {color}, contoured {contoured!r}")
            equal(suggested(display), numbers, f"suggestions with color {color}, contoured {contoured!r}")


def test_states():
    """The picture and the properties of a state file, in XML and in Python."""
    average = "Average Intensity"
    for kind, blend in (("Isosurface", average), ("PMB Volume", average), ("PMB Volume", "Composite")):
        simple.ResetSession()
        view = new_view()
        display = show(simple.Wavelet(), view, kind)
        wanted = {"IsosurfaceValues": [120, 220], "IsosurfaceOpacities": [.25, .5], "SampleDistance": .7, "Device": "CPU",
                  "BlendMode": blend, "Shade": 1, "UsePreIntegration": 1}
        for name, value in wanted.items():
            setattr(display, name, value)
        before = pixels(view)
        for display, view in reloaded():
            equal(display.Representation, kind, "the representation")
            for name, value in wanted.items():
                found = getattr(display, name)
                equal(list(found) if isinstance(value, list) else found, value, f"{name} of {kind}")
            same(pixels(view), before, f"{kind} from a state")


def test_views():
    """Other representations, hidden, several views, an interactive picture, deleted."""
    wavelet, view, other = simple.Wavelet(), new_view(), new_view()
    display = show(wavelet, view, "Isosurface")
    second = show(wavelet, other, "PMB Volume")
    pictures = [pixels(view), pixels(other)]
    view.SMProxy.InteractiveRender()
    same(window_pixels(view.SMProxy.GetRenderWindow()), pictures[0], "while the camera moves")
    for kind in ("Volume", "Surface", "Outline", "PMB Volume"):
        display.SetRepresentationType(kind)
        true(abs(pixels(view) - pictures[0]).max() > 5, f"{kind} looks like Isosurface")
    display.SetRepresentationType("Isosurface")
    same(pixels(view), pictures[0], "Isosurface again")
    display.Visibility = 0
    equal(share_shown(pixels(view)), 0, "shown when hidden")
    display.Visibility = 1
    same(pixels(view), pictures[0], "visible again")
    same(pixels(other), pictures[1], "the other view")
    simple.Delete(second)
    equal(share_shown(pixels(other)), 0, "shown when deleted")
    wavelet.WholeExtent = [-10, 5, -10, 10, -10, 10]
    true(abs(pixels(view) - pictures[0]).max() > 5, "other data")


def test_selection():
    """The cell and the sample at a pixel of an isosurface: the cell has the isovalue, and the sample is near it."""
    wavelet, view = simple.Wavelet(), new_view()
    display = show(wavelet, view, "Isosurface")
    shown = pixels(view)
    hits = numpy.argwhere(abs(shown - shown[0, 0]).max(axis=2) > 5)[200::900]
    data = servermanager.Fetch(wavelet)
    values, isovalue = vtk_to_numpy(data.GetPointData().GetScalars()), display.IsosurfaceValues[0]

    def selected(select, x, y):
        select(Rectangle=[x, y, x, y], View=view)
        found = wavelet.SMProxy.GetSelectionInput(0)
        if not found:
            return None
        ids = found.GetProperty("Input").GetProxy(0).GetProperty("IDs")
        return int(ids.GetElement(1))

    for y, x in (hits.tolist()):
        cell, point = (selected(select, x, y) for select in (simple.SelectSurfaceCells, simple.SelectSurfacePoints))
        corners = [data.GetCell(cell).GetPointId(corner) for corner in range(8)]
        true(values[corners].min() < isovalue <= values[corners].max(), f"cell {cell} at {x}, {y} is not crossed")
        true(point in corners, f"point {point} at {x}, {y} is no corner of cell {cell}: {corners}")
        equal(view.SMProxy.Pick(x, y), display.SMProxy, f"what is picked at {x}, {y}")
    equal(len(hits) > 5, True, "pixels with a surface")
    simple.ClearSelection(wavelet)
    equal(selected(simple.SelectSurfacePoints, 2, 2), None, "selected beside the surface")
    same(pixels(view), shown, "after selections")
    display.SetRepresentationType("PMB Volume")
    equal(selected(simple.SelectSurfacePoints, SIZE[0] // 2, SIZE[1] // 2), None, "selected in a volume")


def test_cropping():
    wavelet, view = simple.Wavelet(), new_view()
    display = show(wavelet, view, "Isosurface")
    whole = share_shown(pixels(view))
    display.UseCropping, display.CroppingScale = 1, [1, .5, 1]
    true(.05 < share_shown(pixels(view)) < .9 * whole, "a box cuts")
    display.UseCropping = 0
    equal(share_shown(pixels(view)), whole, "no box")


def test_odd_input():
    """One warning for each thing that is not drawn; nothing crashes."""
    flat = image({"s": numpy.arange(400.).reshape(1, 20, 20)}, (20, 20, 1))
    cells = image({}, (9, 9, 9))
    cells.GetCellData().SetScalars(add_array(cells.GetCellData(), "c", numpy.arange(512.)))
    version = simple.GetParaViewVersion()  # from 6.0 on rectilinear grids have a representation without ours
    grid, blocks = vtkRectilinearGrid(), vtkMultiBlockDataSet()
    blocks.SetBlock(0, image({"s": numpy.arange(729.).reshape(9, 9, 9)}, (9, 9, 9)))
    axis = numpy_to_vtk(numpy.arange(9.), deep=True)
    grid.SetDimensions(9, 9, 9)
    for name in "XYZ":
        getattr(grid, f"Set{name}Coordinates")(axis)
    grid.GetPointData().SetScalars(add_array(grid.GetPointData(), "s", numpy.arange(729.)))
    for data, color, said in ((flat, ("POINTS", "s"), "but the input is flat (20 x 20 x 1"),
                              (cells, ("CELLS", "c"), "because the array belongs to cells"),
                              *[(grid, ("POINTS", "s"), "but the input is a vtkRectilinearGrid")] * (version < (6, 0)),
                              (blocks, ("POINTS", "s"), "but the input is a vtkMultiBlockDataSet"),
                              (image({}, (9, 9, 9)), "", "")):  # without an array ParaView colors by none
        for kind in ("Isosurface", "PMB Volume"):
            view = new_view()
            with Messages() as log:
                display = show(producer(data), view, kind, color)
                pixels(view)
                pixels(view)
            text = log.text()
            equal(text.count("Warning:") + text.count("ERROR"), 1 if said else 0, f"messages of {kind}: {text}")
            true(said in text, f"{kind}: {said!r} is not in {text!r}")
            display.SetRepresentationType("Surface")
            true(share_shown(pixels(view)) > .1, "the surface")
            simple.Delete(view)
    view = new_view()
    display = show(simple.Wavelet(), view, "Isosurface")
    odd = (([], ""), ([numpy.nan, numpy.inf], ""), ([1000.], ""), (range(100, 200, 5), "first 16 isovalues of 20"))
    for values, said in odd:
        with Messages() as log:
            display.IsosurfaceValues = list(values)
            pixels(view)
            pixels(view)
        equal(log.text().count("Warning:"), 1 if said else 0, f"messages of isovalues {values}: {log.text()}")
        true(said in log.text(), f"isovalues {values}: {log.text()}")


run(test_blend_modes, test_left_to_volume, test_vectors_of_cells, test_array_is_chosen,
    test_contour_by, test_contour_components, test_first_isovalue, test_suggestions, test_colors_of_nan_and_categories,
    test_wrong_arrays, test_states, test_contour_by_states, test_views, test_selection, test_cropping, test_odd_input)
