# SPDX-License-Identifier: BSD-3-Clause
"""The representations Isosurface and PMB Volume in ParaView's window: the list in the toolbar, the panel, undo.

Usage: ./pmb pvpython Testing/Plugin/test_gui_representations.py [FOLDER [FUNCTION...]]

Also makes the user's guide's picture FOLDER/rays.png (FOLDER: out/ in the current folder).
"""
import os
import re
import sys

import gui_testing
from plugin_testing import equal, true

SCAN = os.path.join(gui_testing.HERE, os.pardir, os.pardir, "Data", "ch2.vti")
# Properties of Volume and of rays in the panel, with advanced ones
OF_VOLUMES = {"ScalarOpacityUnitDistance", "Shade", "BlendMode", "UseCropping"}
OF_ISOSURFACES = {"ContourBy", "LiveIsovalue", "SuggestedIsovalues", "IsosurfaceValues", "IsosurfaceOpacities"}
OF_RAYS = {"SampleDistance", "Device", "NumberOfThreads"}
SHOWN = {"Surface": set(),
         "Isosurface": {*OF_ISOSURFACES, "UseCropping", *OF_RAYS},
         "PMB Volume": {*OF_VOLUMES, *OF_RAYS, "UsePreIntegration"},
         "Volume": OF_VOLUMES}
ALL = {*OF_ISOSURFACES, *OF_VOLUMES, *OF_RAYS, "UsePreIntegration", "VolumeRenderingMode", "VolumeAnisotropy",
       "UseTransfer2D"}


def display_widgets(window):
    """The visible widgets of the panel's Display part, by name."""
    frame = window.child(gui_testing.QtWidgets.QWidget, "DisplayFrame", window.panel())
    return {widget.objectName(): widget for widget in frame.findChildren(gui_testing.QtWidgets.QWidget)
            if gui_testing.inherits(widget, "pqPropertyWidget") and widget.isVisible()}


def choose(window, kind, *answers):
    """Chooses from the list in the toolbar."""
    bar = window.child(gui_testing.QtWidgets.QToolBar, "representationToolbar")
    choices = bar.findChild(gui_testing.QtWidgets.QComboBox)
    window.answers = list(answers)
    place = choices.findText(kind)
    true(place >= 0, f"{kind} is not in the list: {[choices.itemText(index) for index in range(choices.count())]}")
    choices.setCurrentIndex(place)
    window.settle()


def look_at_isosurface(window, display):
    """What governs others stands above them, lists have titles, and the isovalue is the first suggestion."""
    widgets = display_widgets(window)
    order = ["ContourBy", "IsosurfaceValues", "LiveIsovalue", "SuggestedIsovalues", "UseCropping", "IsosurfaceOpacities"]
    equal(sorted(order, key=lambda name: widgets[name].pos().y()), order, "the order in the panel")
    labels = window.panel().findChildren(gui_testing.QtWidgets.QLabel)
    titles = {re.sub("<[^>]*>", "", label.text()) for label in labels if label.isVisible()}
    equal({"Isosurfaces", "Isovalues", "Isosurface Opacities"} - titles, set(), "titles that are missing")
    suggested = list(display.GetPropertyValue("SuggestedIsovalues"))
    true(suggested and list(display.IsosurfaceValues) == suggested[:1], f"{display.IsosurfaceValues} of {suggested}")


def panel_and_undo(window):
    from paraview import simple
    window.open(SCAN)
    window.advanced(True)
    display = simple.GetDisplayProperties()
    for kind, expected in SHOWN.items():
        choose(window, kind, *([window.press("Yes")] if kind == "Volume" else []))
        equal(display.Representation, kind, "the representation")
        shown = {name for name, widget in display_widgets(window).items() if name in ALL}
        if kind == "Volume":
            shown -= {"VolumeRenderingMode", "VolumeAnisotropy", "UseTransfer2D"}
        equal(shown, expected, f"properties in the panel of {kind}")
        if kind == "Isosurface":
            look_at_isosurface(window, display)
        window.check_quiet()
    for kind in ("PMB Volume", "Isosurface", "Surface"):
        window.trigger("actionEditUndo")
        equal(display.Representation, kind, "the representation after Undo")
    window.trigger("actionEditRedo")
    equal(display.Representation, "Isosurface", "the representation after Redo")


def slider(window):
    """Slider, suggestions and histogram change the isovalue and the picture at once; all moves are a step of Undo."""
    from gui_testing import QtCore, QtTest, QtWidgets
    from paraview import simple
    wavelet = simple.Elevation(Input=simple.Wavelet(), LowPoint=[-10] * 3, HighPoint=[10] * 3)
    contour = simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157])
    contour.UpdatePipeline()
    suggested = list(contour.GetPropertyValue("SuggestedIsovalues"))
    simple.SetActiveSource(wavelet)
    display = simple.Show(wavelet)
    window.settle()
    choose(window, "Isosurface")
    drawn, low, high = [], *wavelet.PointData["RTData"].GetRange()
    view = simple.GetActiveView().GetRenderWindow()
    observer = view.AddObserver("EndEvent", lambda *_: drawn.append(list(display.IsosurfaceValues)))

    def wait_for_picture(act, what):
        drawn.clear()
        act()
        window.wait(lambda: drawn and drawn[-1] == list(display.IsosurfaceValues), f"a picture after {what}")

    widgets = display_widgets(window)
    array = widgets["ContourBy"].findChild(QtWidgets.QComboBox)
    wait_for_picture(lambda: array.setCurrentIndex(array.findText("RTData")), "another array")
    buttons = [widgets["SuggestedIsovalues"].findChild(QtWidgets.QPushButton, f"Suggestion{index}") for index in range(3)]
    texts = [f"{value:.4g}" for value in suggested]
    window.wait(lambda: [button.text() for button in buttons if button.isVisible()] == texts, "the filter's suggestions")
    before = list(display.IsosurfaceValues)
    wait_for_picture(buttons[0].click, "a suggestion")
    equal(list(display.IsosurfaceValues), suggested[:1], "the isovalue of the suggestion")
    slide = widgets["LiveIsovalue"].findChild(QtWidgets.QSlider)
    start = slide.value()
    for step in range(1, 16):
        wait_for_picture(lambda: QtTest.QTest.keyClick(slide, QtCore.Qt.Key.Key_Right), f"move {step}")
        value = low + (start + step) * (high - low) / 1000
        true(abs(display.IsosurfaceValues[0] - value) < 1e-6 * value, f"the isovalue of move {step}")
    table = widgets["IsosurfaceValues"].findChild(QtWidgets.QTableView)
    true(abs(float(table.model().index(0, 0).data()) - display.IsosurfaceValues[0]) < 1e-4, "the list in the panel differs")
    window.trigger("actionEditUndo")
    equal(list(display.IsosurfaceValues), before, "the isovalue after Undo of all moves")
    graph = next(child for child in widgets["SuggestedIsovalues"].findChildren(QtWidgets.QWidget)
                 if child.metaObject().className() == "pqPMBHistogram")
    wait_for_picture(lambda: QtTest.QTest.mouseClick(graph, QtCore.Qt.MouseButton.LeftButton,
                                                     QtCore.Qt.KeyboardModifier.NoModifier,
                                                     QtCore.QPoint(graph.width() // 2, 10)), "a click in the histogram")
    true(abs(display.IsosurfaceValues[0] - (low + high) / 2) < (high - low) / 50, "the isovalue of the click")
    view.RemoveObserver(observer)
    choose(window, "Surface")
    equal([name for name in ("LiveIsovalue", "SuggestedIsovalues") if name in display_widgets(window)], [], "for Surface")


def picture(window):
    """The scan's head as two isosurfaces, and its values as a volume, for the guide."""
    from paraview import simple
    simple.LoadPalette("WhiteBackground")
    window.open(SCAN)
    scan, left = window.active(), simple.GetActiveViewOrCreate("RenderView")
    layout = simple.GetLayout(left)
    layout.SplitHorizontal(0, .5)
    right = simple.CreateView("RenderView")
    layout.AssignView(2, right)
    colors, opacities = simple.GetColorTransferFunction("MRI"), simple.GetOpacityTransferFunction("MRI")
    colors.RGBPoints = [0, .3, .1, .1, 45, .90, .74, .62, 110, .75, .35, .3, 254, 1, 1, .9]
    opacities.Points = [0, 0, .5, 0, 50, 0, .5, 0, 254, .4, .5, 0]
    for view, kind in ((right, "PMB Volume"), (left, "Isosurface")):
        simple.SetActiveView(view)
        display = simple.Show(scan, view)
        simple.ColorBy(display, ("POINTS", "MRI"))
        display.SetScalarBarVisibility(view, False)
        window.settle()
        choose(window, kind)
        simple.Render(view)  # the first picture moves the camera
        view.OrientationAxesVisibility = 0
        view.CameraFocalPoint, view.CameraPosition = [0, -18, 8], [-300, 430, 130]
        view.CameraViewUp, view.CameraViewAngle = [0, 0, 1], 26
        display.IsosurfaceValues, display.IsosurfaceOpacities, display.Shade = [45, 100], [.4, 1], 1
        simple.Render(view)
    path = os.path.join(window.folder, "rays.png")
    simple.SaveScreenshot(path, layout, ImageResolution=[800, 400])
    image = gui_testing.QtGui.QImage(path)
    for x in (200, 600):
        equal(image.pixelColor(x, 200).lightness() < 240, True, f"the head at column {x}")


if __name__ == "__main__":
    gui_testing.launch(__file__, ["panel_and_undo", "slider", "picture"], sys.argv[1:])
