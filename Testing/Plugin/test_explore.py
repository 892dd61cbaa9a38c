# SPDX-License-Identifier: BSD-3-Clause
"""Finding an isovalue: suggestions, the histogram, the live slider."""
import numpy
from paraview import simple, smtrace
from paraview.modules.vtkRemotingServerManager import vtkSMProxyManager, vtkSMUndoStack, vtkSMUndoStackBuilder
from paraview.vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkRectilinearGrid

from plugin_testing import (Messages, ball, equal, flying_edges, image, load_plugin, near, output, producer, run,
                            true)

DIMS = (70, 66, 62)


def ball_in_noise(dtype=numpy.float32, deviation=6.0):
    """A ball of 100 and radius 20 in air of 0."""
    noise = numpy.random.default_rng(7).normal(0.0, deviation, DIMS[::-1])
    inside = numpy.clip((ball(DIMS) - 80.0) / 2.0, 0.0, 1.0)
    return (100.0 * inside + noise).astype(dtype)


def contour(samples, **options):
    scan = producer(image({"CT": samples}, DIMS))
    return simple.PMBContour(Input=scan, ContourBy=["POINTS", "CT"], **options)


def suggestions(proxy):
    return list(proxy.GetPropertyValue("SuggestedIsovalues"))


def live_slider():
    """Unchecked values of the property, without Apply, as from the panel's slider."""
    proxy = contour(ball_in_noise(), Isosurfaces=[50.0])
    output(proxy)
    equal(proxy.Suggestions, ", ".join(f"{value:.4g}" for value in suggestions(proxy)), "suggestions as a text")
    volume = image({"CT": ball_in_noise()}, DIMS)
    view = simple.CreateRenderView()
    simple.Show(proxy, view)
    simple.Render(view)
    drawn = []
    observer = view.SMProxy.AddObserver("EndEvent", lambda *_: drawn.append(1))
    client, slider = proxy.GetClientSideObject(), proxy.SMProxy.GetProperty("LiveIsovalue")
    slider.SetUncheckedElement(0, 60.0)
    equal((list(proxy.Isosurfaces), len(drawn)), ([50.0], 0), "while Live is off")
    proxy.SMProxy.GetProperty("Live").SetUncheckedElement(0, 1)  # ticked, not applied
    proxy.UseSuggestedIsovalue = 1
    simple.Render(view)
    drawn.clear()
    for number, value in enumerate((45.0, 55.5, 40.25), 1):
        slider.SetUncheckedElement(0, value)
        equal(list(proxy.Isosurfaces), [value], "the isovalue")
        equal(proxy.LiveIsovalue, value, "the slider's value")
        equal(len(drawn), number, "pictures of the view")
        mesh = client.GetOutputDataObject(0)
        expected = flying_edges(volume, value)
        equal(mesh.GetNumberOfPolys(), expected.GetNumberOfPolys(), f"triangles at {value}, before anything is applied")
        true(f" {mesh.GetNumberOfPolys()} triangles" in proxy.LastRun, f"last run: {proxy.LastRun}")
        equal(proxy.UseSuggestedIsovalue, 0, "the slider has taken over")
    equal(client.GetNumberOfBinds(), 1, "volumes read")
    with Messages() as log:
        for outside in (-1000.0, 1000.0, float("nan")):  # incomplete numbers typed beside the slider
            slider.SetUncheckedElement(0, outside)
            equal((list(proxy.Isosurfaces), len(drawn)), ([40.25], 3), f"outside the range: {outside}")
        equal(log.text(), "", "messages")
    slider.SetUncheckedElement(0, 40.25)
    equal(len(drawn), 3, "the same value again draws nothing")
    proxy.Isosurfaces = [70.0, 30.0]
    equal(proxy.LiveIsovalue, 70.0, "the slider follows the list")
    equal(list(proxy.Isosurfaces), [70.0, 30.0], "the list")
    simple.Hide(proxy, view)
    slider.SetUncheckedElement(0, 41.0)
    equal(list(proxy.Isosurfaces), [41.0], "the isovalue of a hidden surface")
    moved = simple.Transform(Input=proxy)
    simple.Show(moved, view)
    simple.Render(view)
    drawn.clear()
    slider.SetUncheckedElement(0, 43.0)
    equal(len(drawn), 1, "how often the view was drawn that shows another filter's output")
    equal(moved.GetClientSideObject().GetOutputDataObject(0).GetNumberOfPolys(),
          flying_edges(volume, 43.0).GetNumberOfPolys(), "triangles behind another filter")
    true(f" {client.GetOutputDataObject(0).GetNumberOfPolys()} triangles" in proxy.LastRun, f"last run: {proxy.LastRun}")
    view.SMProxy.RemoveObserver(observer)
    simple.Delete(moved)
    simple.Delete(view)


def live_undo():
    """Moves of the slider are one step of Undo, until the isovalues change in another way."""
    manager, stack, builder = vtkSMProxyManager.GetProxyManager(), vtkSMUndoStack(), vtkSMUndoStackBuilder()
    builder.SetUndoStack(stack)
    manager.SetUndoStackBuilder(builder)
    proxy = contour(ball_in_noise(), Isosurfaces=[50.0])
    proxy.Live = 1
    proxy.UpdatePipeline()
    slider = proxy.SMProxy.GetProperty("LiveIsovalue")

    def step(change, value):
        builder.Begin("step")
        change(value)
        builder.EndAndPushToStack()

    move = lambda value: slider.SetUncheckedElement(0, value)  # noqa: E731
    try:
        for value in (51.0, 52.0, 53.0, 54.0):
            step(move, value)
            equal((list(proxy.Isosurfaces), stack.GetNumberOfUndoSets()), ([value], 1), "isovalue and steps to undo")
        equal(builder.GetIgnoreAllChanges(), False, "changes are recorded again")
        step(lambda value: setattr(proxy, "Isosurfaces", [value]), 60.0)
        equal(stack.GetNumberOfUndoSets(), 2, "steps to undo after another kind of change")
        for value in (61.0, 62.0):
            step(move, value)
        equal(stack.GetNumberOfUndoSets(), 3, "steps to undo after the second drag")
        for value in (60.0, 54.0, 50.0):
            stack.Undo()
            proxy.UpdateVTKObjects()
            equal(list(proxy.Isosurfaces), [value], "the isovalue after Undo")
    finally:
        manager.SetUndoStackBuilder(None)


def live_trace():
    """A trace that is played again moves the slider."""
    proxy = contour(ball_in_noise(), Isosurfaces=[50.0])
    proxy.Live = 1
    proxy.UpdatePipeline()
    smtrace.start_trace()
    proxy.SMProxy.GetProperty("LiveIsovalue").SetUncheckedElement(0, 51.0)
    text = smtrace.stop_trace()
    proxy.Isosurfaces = [50.0]
    simple.SetActiveSource(proxy)
    exec(text, {})
    equal(list(proxy.Isosurfaces), [51.0], f"the isovalue after {text}")


def histogram():
    samples = ball_in_noise()
    scan = producer(image({"CT": samples}, DIMS))
    proxy = simple.PMBIsovalueHistogram(Input=scan, ContourBy=["POINTS", "CT"])
    table = output(proxy)
    columns = {table.GetColumn(n).GetName(): vtk_to_numpy(table.GetColumn(n)) for n in range(table.GetNumberOfColumns())}
    equal(list(columns), ["bin_extents", "Bricks", "Bricks In Range", "Suggested"], "columns")
    equal(table.GetNumberOfRows(), 256, "rows")
    rows = numpy.flatnonzero(columns["Suggested"])
    equal(list(columns["Suggested"][rows]), list(columns["Bricks"][rows]), "the height of the suggestion")
    equal(len(rows), 2, "bins of suggestions")
    proxy.Bins = 10
    equal(output(proxy).GetNumberOfRows(), 10, "rows")
    view = simple.CreateView("XYChartView")
    display = simple.Show(proxy, view)
    equal((display.XArrayName, display.UseIndexForXAxis), ("bin_extents", 0), "what is along x in a chart")
    simple.Render(view)
    equal((view.BottomAxisTitle, view.LeftAxisTitle),
          ("Isovalue (CT)", "Bricks crossed"), "titles of the axes")
    later = ["Bricks In Range"] if simple.GetParaViewVersion() > (5, 11) else []  # a user's setting there
    equal(sorted(display.SeriesVisibility), ["Bricks", *later, "Suggested"], "columns that are drawn")
    view.BottomAxisTitle, view.LeftAxisTitle = "density", "size"
    proxy.Bins = 20
    simple.Render(view)
    equal((view.BottomAxisTitle, view.LeftAxisTitle), ("density", "size"), "titles that somebody typed")
    simple.Delete(view)
    with Messages() as log:  # not image data
        simple.PMBIsovalueHistogram(Input=producer(vtkRectilinearGrid())).UpdatePipeline()
    equal((log.text().count("ERROR"), log.text().count("Resample To Image")), (1, 1), log.text())


def curve_of_the_panel():
    """64 bins of the histogram, over the range of the samples; another volume, another curve."""
    samples = ball_in_noise()
    proxy = contour(samples)
    output(proxy)
    curve = numpy.array(list(proxy.GetPropertyValue("IsovalueCurve")))
    equal(len(curve), 66, "numbers")
    near(curve[0], samples.min(), 1e-3, "the least sample")
    near(curve[1], samples.max(), 1e-3, "the greatest sample")
    table = output(simple.PMBIsovalueHistogram(Input=proxy.Input, ContourBy=["POINTS", "CT"], Bins=64))
    equal(list(curve[2:]), list(vtk_to_numpy(table.GetColumnByName("Bricks In Range"))), "heights")
    proxy.Input = producer(image({"CT": samples * 2}, DIMS))
    output(proxy)
    near(proxy.GetPropertyValue("IsovalueCurve")[1], 2 * samples.max(), 1e-3, "the greatest sample of another volume")


def no_qt():
    """pvpython loads no Qt: the panel's library is for ParaView's window."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        text = maps.read()
    loaded = [name in text for name in ("ParallelMarchingBlocks.so", "ParallelMarchingBlocksPanel", "libQt5Widgets",
                                        "libQt6Widgets")]
    equal(loaded, [True, False, False, False], "the plugin, its panel and Qt's widgets in this process")


load_plugin()
import pmb  # noqa: E402, F401, makes the filter's own methods known to Python
run(live_slider, live_undo, live_trace, histogram, curve_of_the_panel, no_qt)
