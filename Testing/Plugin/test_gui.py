# SPDX-License-Identifier: BSD-3-Clause
"""The filter in ParaView's window, by clicks and keys: menu, panel, Apply, undo, state files, each property.

Usage: ./pmb pvpython Testing/Plugin/test_gui.py [FOLDER [FUNCTION...]]

Also makes the user's guide's pictures, FOLDER/panel.png, session.png and histogram.png (FOLDER: out/ in the current folder).
"""
import hashlib
import os
import re
import sys

import gui_testing

SCAN = os.path.join(gui_testing.HERE, os.pardir, os.pardir, "Data", "ch2.vti")
PLACE = ("Filters", "Accelerated Algorithms", "PMB Contour")
# What a property does to the mesh when it is changed, where that is known. Others only have to leave a sound one.
CHANGE_IT = {"SelectInputScalars", "ComputeNormals", "NormalEstimator", "ComputeGradients", "ComputeScalars",
             "OutputPointsPrecision", "InterpolateAttributes", "PointArrays", "CellArrays",
             "RemoveDegenerateTriangles", "Use64BitIds", "ComputeMeasures", "ContourValues"}
KEEP_IT = {"Device", "DeviceIndex", "DeviceMemoryLimit", "ReleaseDeviceMemory", "NumberOfThreads"}


def mesh_of(proxy):
    """What the last execution left, without another one."""
    return proxy.GetClientSideObject().GetOutputDataObject(0)


def signature(mesh):
    """Of all bytes of a mesh."""
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
    """There is a surface, Last Run tells its triangles, and ParaView said nothing."""
    messages = window.take_messages()
    if messages:
        raise AssertionError(f"{what}: ParaView said: {messages}")
    proxy = window.active()
    triangles = mesh_of(proxy).GetNumberOfPolys()
    if not triangles:
        raise AssertionError(f"{what}: no triangles; Last Run: {window.last_run()}")
    window.wait(lambda: f" {triangles} triangles" in window.last_run(), f"{what}: Last Run to tell {triangles} "
                f"triangles; it says {window.last_run()}")


def equal(value, expected, what):
    if value != expected:
        raise AssertionError(f"{what}: {value!r}, not {expected!r}")


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
    height = simple.Elevation(Input=part, ScalarRange=[0.0, 200.0])
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
    """The panel's own widgets: what they say before Apply; a click in the histogram and on a suggestion is a new isovalue,
    which waits for Apply, or, with Live, is shown at once; Last Run is a plain text."""
    from gui_testing import QtCore, QtTest, QtWidgets
    if not window.has_panel():
        gui_testing.say("  not looked at: the plugin was built without its panel")
        return
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
    """The live slider is as wide as the list of isovalues; an arrow key is one sample's value, or 1/1000 of the range."""
    from gui_testing import QtCore, QtTest, QtWidgets
    from paraview import simple
    from plugin_testing import ball, image, producer
    if not window.has_panel():
        gui_testing.say("  not looked at: the plugin was built without its panel")
        return
    proxy = contoured(window)
    window.set_value("Live", 1)
    widgets = window.widgets()
    slider = widgets["LiveIsovalue"].findChild(QtWidgets.QSlider)
    equal(slider.width() > 0.95 * widgets["ContourValues"].width(), True, f"the slider is {slider.width()} pixels wide")
    for key, isovalue in ((QtCore.Qt.Key.Key_Right, 128.0), (QtCore.Qt.Key.Key_Left, 127.0)):
        QtTest.QTest.keyClick(slider, key)
        window.wait(lambda isovalue=isovalue: list(proxy.Isosurfaces) == [isovalue], f"the key to give {isovalue}")
    window.apply()
    samples = ball((30, 30, 30))
    simple.SetActiveSource(producer(image({"distance": samples}, (30, 30, 30))))
    window.settle()
    proxy = window.add_filter(*PLACE)
    window.apply()
    window.set_value("Live", 1)
    slider = window.widgets()["LiveIsovalue"].findChild(QtWidgets.QSlider)
    step, start = float(samples.max() - samples.min()) / 1000, proxy.LiveIsovalue
    QtTest.QTest.keyClick(slider, QtCore.Qt.Key.Key_Right)
    window.wait(lambda: abs(proxy.Isosurfaces[0] - start - step) < 0.6 * step, f"a step of {step} from {start} on")


def array_without_name(window):
    """Arrays named "" beside the contoured one: the panel lists the others. (ParaView itself cannot show the input.)"""
    from paraview import simple
    from paraview.vtk.util.numpy_support import numpy_to_vtk
    from plugin_testing import ball, image, producer
    data = image({"samples": ball((20, 20, 20))}, (20, 20, 20))
    for attributes, count in ((data.GetPointData(), 20 ** 3), (data.GetCellData(), 19 ** 3)):
        array = numpy_to_vtk(ball((count, 1, 1)).ravel(), deep=True)
        array.SetName("")
        attributes.AddArray(array)
    simple.SetActiveSource(producer(data))
    window.settle()
    window.add_filter(*PLACE)
    window.advanced(True)
    window.set_value("ChooseArrays", 1)
    equal([window.widgets()[name].findChild(gui_testing.QtWidgets.QTreeView).model().rowCount()
           for name in ("PointArrays", "CellArrays")], [1, 0], "arrays in the lists")
    window.set_isovalue(0, "95")
    window.apply()
    check_sound(window, "beside arrays named \"\"")
    window.advanced(False)


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


def state_file(window):
    """Save State, Reset Session, Load State: the same properties and the same mesh."""
    from paraview import simple
    proxy = contoured_part(window)
    chosen = {"ComputeGradients": 1, "NormalEstimator": 2, "Use64BitIds": 0, "Device": 1, "NumberOfThreads": 3}
    for name, value in chosen.items():
        window.set_value(name, value)
    window.set_isovalue(0, "60.25")
    window.apply()
    before = signature(mesh_of(proxy))
    path = os.path.join(window.folder, "gui_session.pvsm")
    window.trigger("actionFileSaveServerState", window.choose_file(path))
    window.new_session()
    window.trigger("actionFileLoadServerState", window.choose_file(path), window.press("OK"))
    os.remove(path)
    window.select("PMBContour1")
    proxy = simple.FindSource("PMBContour1")
    window.wait_for_output()
    check_sound(window, "after Load State")
    for name, value in {**chosen, "ContourValues": 60.25}.items():
        equal(proxy.SMProxy.GetProperty(name).GetElement(0), value, f"{name} after Load State")
    equal(window.widgets()["ComputeGradients"].findChild(gui_testing.QtWidgets.QCheckBox).isChecked(), True,
          "Compute Gradients in the panel after Load State")
    equal(signature(mesh_of(proxy)), before, "the mesh after Load State")


def devices(window):
    """Run On: the same mesh on each; where the GPU cannot be used, one warning and the reason in Last Run."""
    proxy = contoured_part(window)
    before = signature(mesh_of(proxy))
    for choice, warnings in (("CPU", 0), ("GPU (CUDA)", 1), ("Automatic", 0), ("CPU", 0)):
        window.set_value("Device", choice)
        window.apply()
        messages = window.take_messages()
        equal(len(messages), warnings, f"warnings with {choice}: {messages}")
        check_sound(window, choice)
        equal(signature(mesh_of(proxy)), before, f"the mesh on {choice}")
        equal(window.last_run().startswith("CPU ("), True, f"Last Run on {choice} begins with the CPU")
        equal(" because " in window.last_run(), choice != "CPU", f"Last Run on {choice} says why: {window.last_run()}")
    window.set_value("Device", "GPU (CUDA)")
    window.apply()
    window.take_messages()
    window.set_isovalue(0, "90")
    window.apply()
    window.check_quiet()  # it was said once


def every_property(window):
    """Each property that the panel shows or can be made to show is changed and changed back."""
    proxy = contoured_part(window)
    start = signature(mesh_of(proxy))
    tried = []
    for name in window.widgets():
        if not proxy.SMProxy.GetProperty(name).GetInformationOnly():
            tried.append(f"{name}: {try_property(window, proxy, name)}")
            equal(signature(mesh_of(proxy)), start, f"the mesh after {name} was changed and changed back")
    gui_testing.say("  " + "; ".join(tried))
    missing = (CHANGE_IT | KEEP_IT) - {text.split(":")[0] for text in tried}
    equal(missing, set(), "properties that the panel lacks")


def reveal(window, proxy, name):
    """Sets what hides or greys out a property, as its hints have it, so that it can be used. Returns what was set:
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


def try_property(window, proxy, name):
    """Returns how many changes were tried."""
    helpers = reveal(window, proxy, name)
    window.apply()
    widget = window.widgets()[name]
    equal((widget.isVisible(), widget.isEnabled()), (True, True), f"{name} can be seen and used")
    equal(bool(widget.toolTip()), True, f"{name} explains itself in a tool tip")
    before = signature(mesh_of(proxy))
    changes, different = changes_of(window, name, widget), 0
    for change, back in changes:
        for step in (change, back):
            step()
            window.apply()
            if name == "Device":
                window.take_messages()  # a warning where there is no GPU: the test `devices` looks at it
            check_sound(window, name)
            if step == change:
                different += signature(mesh_of(proxy)) != before
        equal(signature(mesh_of(proxy)) == before, True, f"the mesh is as before {name} was changed")
    if name in CHANGE_IT | KEEP_IT:
        equal(different > 0, name in CHANGE_IT, f"the mesh is another after {name} was changed")
    for other, value in reversed(helpers):
        window.set_value(other, value)
    window.apply()
    return len(changes)


def changes_of(window, name, widget):
    """What a user can do with the widget of a property: [(function that changes it, function that undoes that)]."""
    widgets = gui_testing.QtWidgets
    box, choices, line = (widget.findChild(kind) for kind in (widgets.QCheckBox, widgets.QComboBox, widgets.QLineEdit))
    table, tree = (widget.findChild(kind) for kind in (widgets.QTableView, widgets.QTreeView))
    if table is not None:
        text = table.model().index(0, 0).data()
        return [(lambda: window.type_cell(table, 0, "90.5"), lambda: window.type_cell(table, 0, text))]
    if tree is not None:
        return tree_changes(tree)
    if box is not None:
        return [(box.click, box.click)]
    if choices is not None:
        now = choices.currentIndex()
        return [(lambda index=index: choices.setCurrentIndex(index), lambda: choices.setCurrentIndex(now))
                for index in range(choices.count()) if index != now]
    if line is not None:
        text, paste = line.text(), widget.findChild(widgets.QSlider) is not None  # a slider may act at each key
        return [(lambda: window.type_text(line, float(text) + 1 if "." in text else int(text) + 1, paste),
                 lambda: window.type_text(line, text, paste))]
    button = widget.findChild(widgets.QPushButton)
    if button is not None:
        return [(button.click, lambda: None)]
    raise AssertionError(f"{name} has no editor of a kind that this test knows")


def tree_changes(tree):
    """A list of arrays with check boxes: each is ticked, or unticked."""
    role, checked = gui_testing.QtCore.Qt.ItemDataRole.CheckStateRole, gui_testing.QtCore.Qt.CheckState
    model, changes = tree.model(), []
    for row in range(model.rowCount()):
        def set_state(state, row=row):
            model.setData(model.index(row, 0), state, role)
        now = checked(model.index(row, 0).data(role))
        other = checked.Unchecked if now == checked.Checked else checked.Checked
        changes.append((lambda set_state=set_state, other=other: set_state(other),
                        lambda set_state=set_state, now=now: set_state(now)))
    return changes


def panel_buttons(window):
    """Reset, Restore Defaults, and Copy in a Contour with Paste in the filter."""
    proxy = contoured_part(window)
    window.set_value("ComputeGradients", 1)
    window.click("Reset")
    equal((proxy.ComputeGradients, window.button("Accept").isEnabled()), (0, False), "after the button Reset")
    changed = {"ComputeGradients": 1, "NormalEstimator": 2, "NumberOfThreads": 1, "Device": 1}
    for name, value in changed.items():
        window.set_value(name, value)
    window.apply()
    window.click("PropertiesRestoreDefaults")
    window.set_value("SelectInputScalars", "MRI")
    window.apply()
    check_sound(window, "after Restore Defaults")
    equal([proxy.SMProxy.GetProperty(name).GetElement(0) for name in changed], [0, 0, 0, 0], f"{list(changed)}")

    window.select("PointDatatoCellData1")
    window.add_filter("Filters", "Common", "Contour")
    for name, value in (("ComputeNormals", 0), ("ComputeGradients", 1), ("SelectInputScalars", "MRI")):
        window.set_value(name, value)
    window.set_isovalue(0, "70.5")
    window.apply()
    window.click("PropertiesCopy")
    window.select("PMBContour1")
    window.click("PropertiesPaste")
    window.apply()
    check_sound(window, "after Paste")
    equal((list(proxy.Isosurfaces), list(proxy.ContourBy), proxy.ComputeNormals, proxy.ComputeGradients),
          ([70.5], ["POINTS", "MRI"], 0, 1), "what was copied from a Contour")


def find_and_delete(window):
    """Ctrl+Space, a part of the name, Enter: the filter is there. The surface has the array's colors. Delete."""
    from gui_testing import QtCore, QtTest
    from paraview import simple
    window.open(SCAN)

    def search(dialog):
        QtTest.QTest.keyClicks(dialog, "pmb")
        window.pump(0.1)
        QtTest.QTest.keyClick(dialog, QtCore.Qt.Key.Key_Return)

    window.press_keys(QtCore.Qt.Key.Key_Space, QtCore.Qt.KeyboardModifier.ControlModifier, search)
    proxy = window.active()
    equal(proxy.SMProxy.GetXMLName(), "PMBContour", "the filter that the search made")
    window.apply()
    check_sound(window, "after the search and Apply")
    equal(list(simple.GetDisplayProperties(proxy, simple.GetActiveView()).ColorArrayName), ["POINTS", "MRI"],
          "the array that colors the surface")
    window.click("Delete")
    equal([name for name, _ in simple.GetSources()], ["ch2.vti"], "the pipeline after Delete")


def greyed_out(window):
    """With an input that the filter cannot take its entry in the menu is grey, and says why in the status bar."""
    window.add_filter("Sources", "Geometric Shapes", "Sphere")
    window.apply()
    action = window.menu(*PLACE[:-1])[PLACE[-1]]
    equal(action.isEnabled(), False, "the menu's entry with a sphere as input can be chosen")
    equal("point attribute array with 1 component" in action.statusTip(), True, f"its reason: {action.statusTip()}")


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
    """Where the filter's last property ends, Last Run, which has to be in sight: a row of the dock's pixels."""
    from gui_testing import QtCore, QtWidgets
    window.pump(0.5)  # the lines of Last Run take their height one after another
    last = window.widgets()["LastRunSummary"]
    area = next(area for area in dock.findChildren(QtWidgets.QScrollArea) if area.isAncestorOf(last))
    bottom, end = (widget.mapTo(dock, QtCore.QPoint(0, widget.height())).y() for widget in (last, area.viewport()))
    equal(bottom <= end, True, f"Last Run ends at row {bottom} of the panel, which shows {end}: it is in the picture")
    return bottom


def pictures(window):
    """What the user's guide shows: the panel with the advanced properties, and the whole window."""
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
    green = [x for x in range(image.width()) for color in [image.pixelColor(x, int(0.85 * image.height()))]
             if color.green() > max(color.red(), color.blue()) + 40]
    peaks = [sum(low * image.width() < x < high * image.width() for x in green) > 1
             for low, high in ((0.0, 0.15), (0.25, 0.4), (0.6, 0.85))]
    equal(peaks, [True] * 3, f"the peaks at 5.46, 69.0 and 182 of 254 are green, at {green} of {image.width()}")


if __name__ == "__main__":
    gui_testing.launch(__file__, ["apply_and_change", "isovalue_histogram", "fine_slider", "array_without_name",
                                  "undo_and_redo", "state_file", "devices", "every_property", "panel_buttons",
                                  "find_and_delete", "greyed_out", "histogram", "pictures"], sys.argv[1:])
