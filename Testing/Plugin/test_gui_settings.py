# SPDX-License-Identifier: BSD-3-Clause
"""The page PMB Contour in ParaView's settings: ticked and unticked as a user does it, while a Contour exists.

Usage: ./pmb pvpython Testing/Plugin/test_gui_settings.py [FOLDER]   (for the picture of a failure; default: out/)
"""
import sys

import gui_testing


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


def check_line(window, beginning):
    """What the panel of the stock Contour says of its last run; where that is nothing, there is no line."""
    window.settle()
    label = window.widgets()["LastRunSummary"].findChild(gui_testing.QtWidgets.QLabel)
    shown = label.text() if label.isVisible() else ""
    if not (shown.startswith(f"Last Run: {beginning}") if beginning else shown == ""):
        raise AssertionError(f"the panel says {shown!r} instead of {beginning!r}")


def settings_page(window):
    from paraview import simple
    from pmb import vtkPMBContourAcceleration
    contour = simple.Contour(Input=simple.Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
    simple.Show(contour)
    simple.SetActiveSource(contour)
    window.settle()
    before = vtkPMBContourAcceleration.GetNumberOfRuns()
    if before or vtkPMBContourAcceleration.IsEnabled(vtkPMBContourAcceleration.CONTOUR_FILTER):
        raise AssertionError("accelerated to begin with")
    for on, isovalue in ((True, 150.0), (False, 140.0)):
        press_in_settings(window, on)
        window.set_isovalue(0, str(isovalue))
        window.apply()
        runs, before = vtkPMBContourAcceleration.GetNumberOfRuns() - before, vtkPMBContourAcceleration.GetNumberOfRuns()
        if runs != int(on) or not contour.GetDataInformation().GetNumberOfCells():
            raise AssertionError(f"{runs} accelerated executions, switched {on}")
        if window.has_panel():
            check_line(window, "vtkContourFilter, accelerated: " if on else "")
    window.check_quiet()


if __name__ == "__main__":
    gui_testing.launch(__file__, ["settings_page"], sys.argv[1:])
