# SPDX-License-Identifier: BSD-3-Clause
"""Help in ParaView's window: what the "?" of the panel opens. $PMB_PLUGIN_HELP says whether the plugin was built with
help pages, as it is wherever ParaView has a window; without them nothing is said to be wrong."""
import os
import sys

import gui_testing

PAGES = "qthelp://parallelmarchingblocks.org/ParallelMarchingBlocks/"  # Qt writes names of hosts small


def help_window():
    found = [widget for widget in gui_testing.QtWidgets.QApplication.topLevelWidgets()
             if widget.metaObject().className() == "pqHelpWindow"]
    return found[0] if found else None


def shown_page():
    browsers = help_window().findChildren(gui_testing.QtWidgets.QTextBrowser)
    return next((browser for browser in browsers if browser.source().toString().startswith(PAGES)), None)


def question_mark(window):
    """The page of the filter, then the guide behind the link on it, with its pictures."""
    window.open(os.path.join(gui_testing.HERE, os.pardir, os.pardir, "Data", "ch2.vti"))
    window.add_filter("Filters", "Accelerated Algorithms", "PMB Contour")
    window.apply()
    window.click("Help")
    window.wait(help_window, "the help window")
    if os.environ["PMB_PLUGIN_HELP"] != "ON":
        assert shown_page() is None, "there is a page, but the plugin was built without"
        return
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


if __name__ == "__main__":
    gui_testing.launch(__file__, ["question_mark"], sys.argv[1:])
