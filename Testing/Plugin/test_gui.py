# SPDX-License-Identifier: BSD-3-Clause
"""The filter in ParaView's window, by clicks and keys: menu, panel, Apply, undo, each property, help, settings.

Usage: ./pmb pvpython Testing/Plugin/test_gui.py [FOLDER [FUNCTION...]]

Also makes the user's guide's pictures, FOLDER/panel.png, session.png and histogram.png (FOLDER: out/ in the current folder).
"""
import hashlib
import os
import re
import sys

import gui_testing
from plugin_testing import equal

SCAN = os.path.join(gui_testing.HERE, os.pardir, os.pardir, "Data", "ch2.vti")
PLACE = ("Filters", "Accelerated Algorithms", "PMB Contour")
PROPERTIES = {"SelectInputScalars", "ComputeNormals", "NormalEstimator", "ComputeGradients", "ComputeScalars",
              "OutputPointsPrecision", "InterpolateAttributes", "ChooseArrays", "PointArrays", "CellArrays",
              "RemoveDegenerateTriangles", "Use64BitIds", "ComputeMeasures", "ContourValues", "Device", "DeviceIndex",
              "DeviceMemoryLimit", "ReleaseDeviceMemory", "NumberOfThreads", "MemoryLimit"}
PAGES = "qthelp://parallelmarchingblocks.org/ParallelMarchingBlocks/"  # Qt writes host names in lower case


def mesh_of(proxy):
    """The output of the last execution, without another one."""
    return proxy.GetClientSideObject().GetOutputDataObject(0)


def signature(mesh):
    """A digest of all bytes of a mesh."""
    from paraview.vtk.util.numpy_support import vtk_to_numpy
    digest = hashlib.sha256()
    arrays = [mesh.GetPolys().GetConnectivityArray(), *([mesh.GetPoints().GetData()] if mesh.GetPoints() else [])]
    for attributes in (mesh.GetPointData(), mesh.GetCellData(), mesh.GetFieldData()):
        digest.update(str(attributes.GetNumberOfArrays()).encode())
        arrays += [attributes.GetArray(index) for index in range(attributes.GetNumberOfArrays())]
    for array in arrays:
        digest.update(f"{array.GetName()} {array.GetDataTypeAsString()} {array.GetNumberOfTuples()}".encode())
        digest.update(vtk_to_numpy(array).tobytes())
    return digest.hexdigest()


def check_sound(window, what):
    """There is a surface, Last Run has its number of triangles, and ParaView printed no message."""
    messages = window.take_messages()
    if messages:
        raise AssertionError(f"{what}: ParaView said: {messages}")
    proxy = window.active()
    triangles = mesh_of(proxy).GetNumberOfPolys()
    if not triangles:
        raise AssertionError(f"{what}: no triangles; Last Run: {window.last_run()}")
    window.wait(lambda: f" {triangles} triangles" in window.last_run(), f"{what}: Last Run to tell {triangles} "
                f"triangles; it says {window.last_run()}")


def contoured(window):
    """The scan and its surface, by File > Open, the menu and Apply. Returns the filter's proxy."""
    window.open(SCAN)
    proxy = window.add_filter(*PLACE)
    window.apply()
    check_sound(window, "after the first Apply")
    return proxy


def contoured_part(window):
    """A part of the scan with more arrays, and its surface at 100, with the advanced properties shown."""
    from paraview import simple
    window.open(SCAN)
    part = simple.ExtractSubset(Input=window.active(), VOI=[60, 110, 60, 110, 60, 110])
    height = simple.Elevation(Input=part, LowPoint=[0.0, 0.0, -12.0], HighPoint=[0.0, 0.0, 39.0], ScalarRange=[0.0, 200.0])
    simple.PointDatatoCellData(Input=height, ProcessAllArrays=1, PassPointData=1).UpdatePipeline()
    window.settle()
    proxy = window.add_filter(*PLACE)
    window.advanced(True)
    window.set_value("SelectInputScalars", "MRI")
    window.set_isovalue(0, "100")
    window.apply()
    check_sound(window, "after the first Apply")
    return proxy


# --- tests: each starts with an empty pipeline -----------------------------------------------------------------------

def apply_and_change(window):
    """Load, apply, type another isovalue; the numbers are those of vtkFlyingEdges3D."""
    from plugin_testing import flying_edges
    proxy = contoured(window)
    equal(window.apply(), False, "Apply can be pressed again")
    first = mesh_of(proxy).GetNumberOfPolys()
    window.set_isovalue(0, "45.5")
    equal(window.button("Accept").isEnabled(), True, "Apply can be pressed after a new isovalue")
    equal(mesh_of(proxy).GetNumberOfPolys(), first, "triangles before Apply")
    window.apply()
    equal(list(proxy.Isosurfaces), [45.5], "isovalue")
    reference = flying_edges(proxy.Input.GetClientSideObject().GetOutputDataObject(0), 45.5)
    equal(mesh_of(proxy).GetNumberOfPolys(), reference.GetNumberOfPolys(), "triangles at 45.5")
    check_sound(window, "at 45.5")
    run = re.fullmatch(r"(CPU|GPU).*: .*?(\d+) triangles and (\d+) points in (\S+) s", window.last_run())
    equal(bool(run), True, f"Last Run tells device, triangles, points and seconds, but it says {window.last_run()!r}")
    equal(int(run[3]), mesh_of(proxy).GetNumberOfPoints(), "points in Last Run")
    equal(0.0 < float(run[4]) < 60.0, True, f"{run[4]} seconds are sound")


def isovalue_histogram(window):
    """The panel's own widgets: their texts before Apply; a click in the histogram or on a suggestion sets an isovalue, which
    waits for Apply, or, with Live, is shown at once; Last Run is plain text."""
    from gui_testing import QtCore, QtTest, QtWidgets
    window.open(SCAN)
    proxy = window.add_filter(*PLACE)
    widget = window.widgets()["SuggestionSummary"]
    button = window.child(QtWidgets.QPushButton, "Suggestion0", widget)
    graph = next(child for child in widget.findChildren(QtWidgets.QWidget)
                 if child.metaObject().className() == "pqPMBHistogram")
    texts = [label.text() for label in widget.findChildren(QtWidgets.QLabel)]
    equal((texts, button.isVisible(), graph.isVisible()), (["Press Apply to see suggested isovalues."], False, False),
          "before Apply")
    equal(window.last_run(), "Not run yet", "Last Run before Apply")
    window.apply()
    equal((button.isVisible(), button.text(), graph.isVisible()), (True, proxy.Suggestions.split(", ")[0], True),
          "the first suggestion's button")
    equal([child for child in window.widgets()["LastRunSummary"].findChildren(QtWidgets.QWidget)
           if not isinstance(child, QtWidgets.QLabel)], [], "widgets of Last Run beside its text")
    before = signature(mesh_of(proxy))
    button.click()
    suggested = proxy.GetPropertyValue("SuggestedIsovalues")[0]
    equal((signature(mesh_of(proxy)) == before, window.apply(), list(proxy.Isosurfaces)), (True, True, [suggested]),
          "the same mesh before Apply, whether Apply can be pressed, and the isovalue then")
    check_sound(window, "at the suggestion")
    QtTest.QTest.mouseClick(graph, QtCore.Qt.MouseButton.LeftButton, QtCore.Qt.KeyboardModifier.NoModifier,
                            QtCore.QPoint(graph.width() // 4, 10))
    equal(window.apply(), True, "Apply can be pressed after a click in the histogram")
    equal(abs(proxy.Isosurfaces[0] - 254.0 / 4.0) < 2.0, True, f"the isovalue {proxy.Isosurfaces[0]} is a quarter of 254")
    check_sound(window, "at the click")
    window.set_value("Live", 1)
    button.click()
    window.wait(lambda: list(proxy.Isosurfaces) == [suggested], "the click to count at once")


def fine_slider(window):
    """The live slider is as wide as the list of isovalues; an arrow key is one sample's value."""
    from gui_testing import QtCore, QtTest, QtWidgets
    proxy = contoured(window)
    window.set_value("Live", 1)
    widgets = window.widgets()
    slider = widgets["LiveIsovalue"].findChild(QtWidgets.QSlider)
    equal(slider.width() > 0.95 * widgets["ContourValues"].width(), True, f"the slider is {slider.width()} pixels wide")
    for key, isovalue in ((QtCore.Qt.Key.Key_Right, 128.0), (QtCore.Qt.Key.Key_Left, 127.0)):
        QtTest.QTest.keyClick(slider, key)
        window.wait(lambda isovalue=isovalue: list(proxy.Isosurfaces) == [isovalue], f"the key to give {isovalue}")


def undo_and_redo(window):
    """Edit > Undo takes the isovalue back, and the mesh with it; the next one the filter."""
    from paraview import simple
    proxy = contoured_part(window)
    states = [(100.0, signature(mesh_of(proxy)))]
    for value in ("60", "45.5"):
        window.set_isovalue(0, value)
        window.apply()
        states.append((float(value), signature(mesh_of(proxy))))
    undo = window.child(gui_testing.QAction, "actionEditUndo")
    equal(undo.shortcut().toString(), "Ctrl+Z", "the keys of Undo")
    for action, place in (("Undo", 1), ("Undo", 0), ("Redo", 1), ("Redo", 2), ("Undo", 1), ("Undo", 0)):
        window.trigger(f"actionEdit{action}")
        window.wait_for_output()
        check_sound(window, f"after {action}")
        equal((list(proxy.Isosurfaces), signature(mesh_of(proxy)) == states[place][1]), ([states[place][0]], True),
              f"isovalue, and whether the mesh is that of it, after {action}")
        cell = window.widgets()["ContourValues"].findChild(gui_testing.QtWidgets.QTableView).model().index(0, 0)
        equal(float(cell.data()), states[place][0], f"the isovalue that the panel shows after {action}")
    window.trigger("actionEditUndo")  # the first Apply
    window.trigger("actionEditUndo")  # the filter
    equal(simple.FindSource("PMBContour1"), None, "the filter after its creation was undone")


def every_property(window):
    """Each property can be seen and used, some after another one was changed, and has a tool tip. (What each does:
    test_properties.py.)"""
    proxy = contoured_part(window)
    found = set()
    for name in window.widgets():
        if proxy.SMProxy.GetProperty(name).GetInformationOnly():
            continue
        found.add(name)
        helpers = reveal(window, proxy, name)
        widget = window.widgets()[name]
        equal((widget.isVisible(), widget.isEnabled()), (True, True), f"{name} can be seen and used")
        equal(bool(widget.toolTip()), True, f"{name} explains itself in a tool tip")
        for other, value in reversed(helpers):
            window.set_value(other, value)
    equal(PROPERTIES - found, set(), "properties that the panel lacks")


def reveal(window, proxy, name):
    """Sets the properties that hide or grey out a property by its hints. Returns the old values:
    [(name, value before)]."""
    def conditions(element):
        for index in range(element.GetNumberOfNestedElements() if element else 0):
            nested = element.GetNestedElement(index)
            if nested.GetAttribute("property"):
                yield (nested.GetAttribute("property"), int(nested.GetAttribute("value") or 1),
                       nested.GetAttribute("inverse") == "1")
            yield from conditions(nested)

    done = []
    for other, value, inverse in conditions(proxy.SMProxy.GetProperty(name).GetHints()):
        widget = window.widgets()[name]
        if widget.isVisible() and widget.isEnabled():
            break
        done.append((other, proxy.SMProxy.GetProperty(other).GetElement(0)))
        window.set_value(other, (0 if value else 1) if inverse else value)
    return done


def greyed_out(window):
    """With an input that the filter does not support, its menu entry is grey, and the status bar says why."""
    window.add_filter("Sources", "Geometric Shapes", "Sphere")
    window.apply()
    action = window.menu(*PLACE[:-1])[PLACE[-1]]
    equal(action.isEnabled(), False, "the menu's entry with a sphere as input can be chosen")
    reasons = "point attribute array with 1 component", "Input must be vtkImageData"  # before ParaView 6, since
    equal(any(reason in action.statusTip() for reason in reasons), True, f"its reason: {action.statusTip()}")


def show_head(proxy):
    """One color, from the front, in full detail."""
    from paraview import simple
    view = simple.GetActiveView()
    display = simple.GetDisplayProperties(proxy, view)
    display.SetScalarBarVisibility(view, False)
    simple.ColorBy(display, None)
    display.DiffuseColor, display.Specular = [0.90, 0.74, 0.62], 0.2
    simple.Hide(proxy.Input, view)
    view.CameraFocalPoint, view.CameraPosition = [0.0, -18.0, 8.0], [-300.0, 430.0, 130.0]
    view.CameraViewUp, view.CameraViewAngle = [0.0, 0.0, 1.0], 29.0
    view.StillRender()


def end_of_panel(window, dock):
    """The lower end of Last Run, the last property, which must be visible: a row of the dock's pixels."""
    from gui_testing import QtCore, QtWidgets
    window.pump(0.5)  # the lines of Last Run get their height one after another
    last = window.widgets()["LastRunSummary"]
    area = next(area for area in dock.findChildren(QtWidgets.QScrollArea) if area.isAncestorOf(last))
    bottom, end = (widget.mapTo(dock, QtCore.QPoint(0, widget.height())).y() for widget in (last, area.viewport()))
    equal(bottom <= end, True, f"Last Run ends at row {bottom} of the panel, which shows {end}: it is in the picture")
    return bottom


def pictures(window):
    """Pictures of the user's guide: the panel with the advanced properties, and the whole window."""
    from gui_testing import QtCore, QtWidgets
    from paraview import simple
    simple.LoadPalette("WhiteBackground")
    window.main.resize(1400, 1020)
    proxy = contoured(window)
    window.advanced(False)
    window.set_isovalue(0, "45")
    window.apply()
    dock, browser = (window.child(QtWidgets.QDockWidget, name) for name in ("propertiesDock", "pipelineBrowserDock"))
    window.main.resizeDocks([dock], [400], QtCore.Qt.Orientation.Horizontal)
    window.main.resizeDocks([browser, dock], [80, 620], QtCore.Qt.Orientation.Vertical)
    window.widgets()["ContourValues"].findChild(QtWidgets.QTableView).clearSelection()
    window.settle()
    show_head(proxy)
    end_of_panel(window, dock)
    window.picture("session.png")

    window.advanced(True)
    dock.setFloating(True)
    dock.resize(440, 1150)
    window.settle()
    bottom = end_of_panel(window, dock)
    window.picture("panel.png", dock, QtCore.QRect(0, 0, dock.width(), bottom + 6))
    dock.setFloating(False)
    image = gui_testing.QtGui.QImage(os.path.join(window.folder, "session.png"))
    head = image.pixelColor(int(0.65 * image.width()), int(0.6 * image.height()))
    equal(head.red() > head.blue() + 20, True, f"the head is in the picture, and not {head.name()}")


def histogram(window):
    """The menu's PMB Isovalue Histogram and Apply: a chart with a peak at each suggestion. The guide's picture of it."""
    from paraview import simple
    simple.LoadPalette("WhiteBackground")
    window.main.resize(1540, 600)
    window.open(SCAN)
    window.add_filter(*PLACE[:-1], "PMB Isovalue Histogram")
    window.apply()
    view = simple.GetActiveView()
    equal(view.SMProxy.GetXMLName(), "XYChartView", "the view that Apply opened")
    window.settle()
    path = os.path.join(window.folder, "histogram.png")
    simple.SaveScreenshot(path, view)
    image = gui_testing.QtGui.QImage(path)
    colored = [x for x in range(image.width()) for color in [image.pixelColor(x, int(0.85 * image.height()))]
               if max(color.green(), color.blue()) > color.red() + 40]  # green; from ParaView 6 on blue
    peaks = [sum(low * image.width() < x < high * image.width() for x in colored) > 1
             for low, high in ((0.0, 0.15), (0.25, 0.4), (0.6, 0.85))]
    equal(peaks, [True] * 3, f"the peaks at 5.46, 69.0 and 182 of 254 are colored, at {colored} of {image.width()}")


def help_window():
    found = [widget for widget in gui_testing.QtWidgets.QApplication.topLevelWidgets()
             if widget.metaObject().className() == "pqHelpWindow"]
    return found[0] if found else None


def shown_page():
    browsers = help_window().findChildren(gui_testing.QtWidgets.QTextBrowser)
    return next((browser for browser in browsers if browser.source().toString().startswith(PAGES)), None)


def question_mark(window):
    """The page of the filter, then the guide behind its link, with pictures."""
    contoured(window)
    window.click("Help")
    window.wait(help_window, "the help window")
    window.wait(shown_page, "a page of the plugin")
    browser = shown_page()
    assert browser.source().toString() == PAGES + "filters.PMBContour.html", browser.source().toString()
    for text in ("NumberOfThreads", "Compute Surface Measures", "The device that computes the surface"):
        assert text in browser.toPlainText(), f"'{text}' is not on the page"
    window.picture("help.png", help_window())
    browser.setSource(browser.source().resolved(type(browser.source())("index.html")))
    window.settle()
    window.picture("help_guide.png", help_window())
    assert "When something is wrong" in browser.toPlainText(), browser.toPlainText()[:200]
    for name in ("session.png", "panel.png", "normals.png", "histogram.png"):
        assert browser.loadResource(2, browser.source().resolved(type(browser.source())(name))), f"{name} is not there"
    help_window().close()


def press_in_settings(window, wanted):
    """Edit > Settings, the page, its check box, OK."""
    QtWidgets = gui_testing.QtWidgets
    window.trigger("actionEditSettings")
    dialog = next(widget for widget in window.app.topLevelWidgets()
                  if isinstance(widget, QtWidgets.QDialog) and widget.isVisible() and widget.findChildren(QtWidgets.QTabBar))
    for bar in dialog.findChildren(QtWidgets.QTabBar):
        pages = [bar.tabText(page) for page in range(bar.count())]
        if "PMB Contour" in pages:
            bar.setCurrentIndex(pages.index("PMB Contour"))
    window.settle()
    boxes = [box for box in dialog.findChildren(QtWidgets.QCheckBox)
             if box.isVisible() and box.text() == "Accelerate stock Contour"]
    if len(boxes) != 1 or boxes[0].isChecked() == wanted:
        raise AssertionError(f"{len(boxes)} boxes 'Accelerate stock Contour', ticked: {[box.isChecked() for box in boxes]}")
    boxes[0].click()
    window.press("OK")(dialog)
    window.settle()


def settings_page(window):
    """The page PMB Contour in ParaView's settings: ticked and unticked as a user does it, while a Contour exists."""
    from paraview import simple
    from pmb import vtkPMBContourAcceleration
    contour = simple.Contour(Input=simple.Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
    simple.Show(contour)
    simple.SetActiveSource(contour)
    window.settle()
    before = vtkPMBContourAcceleration.GetNumberOfRuns()
    if before or vtkPMBContourAcceleration.IsEnabled():
        raise AssertionError("accelerated to begin with")
    for on, isovalue in ((True, 150.0), (False, 140.0)):
        press_in_settings(window, on)
        window.set_isovalue(0, str(isovalue))
        window.apply()
        runs, before = vtkPMBContourAcceleration.GetNumberOfRuns() - before, vtkPMBContourAcceleration.GetNumberOfRuns()
        if runs != int(on) or not contour.GetDataInformation().GetNumberOfCells():
            raise AssertionError(f"{runs} accelerated executions, switched {on}")
    window.check_quiet()


def panel_can_be_missing(window):
    """With PMB_WITHOUT=panel: ParaView's own widgets, with which the filter works."""
    from gui_testing import QtWidgets
    equal(os.environ.get("PMB_WITHOUT"), "panel", "PMB_WITHOUT")
    contoured(window)
    window.set_isovalue(0, "45.5")
    window.apply()
    check_sound(window, "without the panel")
    names = {widget.metaObject().className() for widget in window.main.findChildren(QtWidgets.QWidget)}
    equal([name for name in names if "PMB" in name], [], "the plugin's own widgets")


if __name__ == "__main__":
    gui_testing.launch(__file__, ["apply_and_change", "isovalue_histogram", "fine_slider", "undo_and_redo", "every_property",
                                  "greyed_out", "question_mark", "settings_page", "histogram", "pictures"], sys.argv[1:])
