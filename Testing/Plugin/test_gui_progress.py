# SPDX-License-Identifier: BSD-3-Clause
"""A long run in ParaView's window: the window shows the filter's progress, and a cancelled run stops.

Usage: ./pmb pvpython Testing/Plugin/test_gui_progress.py [FOLDER [FUNCTION...]]

ParaView shows progress ten times in a second, so a run has to take some seconds. This one is long by its many isovalues, and
small: most samples equal them, so that every brick has to be looked at for each, and nearly none has a triangle.
"""
import sys

import gui_testing


def prepared(window):
    """A filter on a nearly constant volume with a ball of a higher value and a sample of a lower one; not yet executed."""
    import numpy
    from paraview import simple
    from plugin_testing import image, producer
    samples = numpy.full((256, 256, 256), 100, numpy.uint8)
    x, y, z = numpy.mgrid[-8:9, -8:9, -8:9]
    samples[8:25, 8:25, 8:25] += numpy.maximum(0, 64 - x * x - y * y - z * z).astype(numpy.uint8)
    samples[-1, -1, -1] = 0
    simple.SetActiveSource(producer(image({"samples": samples}, samples.shape)))
    window.settle()
    proxy = window.add_filter("Filters", "Accelerated Algorithms", "PMB Contour")
    proxy.ContourBy, proxy.Isosurfaces = ["POINTS", "samples"], [100.0] * 40
    proxy.SetPropertyWithName("NumberOfThreads", 1)
    return proxy


class Watch:
    """Records the progress of a filter in ParaView; cancels at a percentage, by the abort button where it works."""

    def __init__(self, window, proxy, cancel_at):
        from paraview import servermanager, simple
        works = simple.GetParaViewVersion() >= (6, 1)
        self.button = window.child(gui_testing.QtWidgets.QToolButton, "AbortButton") if works else None
        self.algorithm = proxy.GetClientSideObject()
        self.handler = servermanager.ActiveConnection.Session.GetProgressHandler()
        self.told, self.after_cancel, self.cancel_at = [], [], cancel_at
        self.tag = self.handler.AddObserver("ProgressEvent", self.hear)

    def hear(self, _handler, _event):
        if "PMBContour" in (self.handler.GetLastProgressText() or ""):
            self.told.append(self.handler.GetLastProgress())
            if self.told[-1] >= self.cancel_at:
                if not self.after_cancel:
                    if self.button:
                        gui_testing.QtTest.QTest.mousePress(self.button, gui_testing.QtCore.Qt.MouseButton.LeftButton)
                    else:
                        self.algorithm.SetAbortExecuteAndUpdateTime()
                self.after_cancel.append(self.told[-1])

    def stop(self):
        """The recorded progress, which must not fall."""
        self.handler.RemoveObserver(self.tag)
        if not self.told or self.told != sorted(self.told) or not 0 <= self.told[0] <= self.told[-1] <= 100:
            raise AssertionError(f"progress falls, or there is none: {self.told}")
        gui_testing.say(f"  {len(self.told)} updates, from {self.told[0]} to {self.told[-1]}")


def cancelled_run(window):
    """Stops at a third; then a shorter run is complete."""
    proxy = prepared(window)
    watch = Watch(window, proxy, cancel_at=33)
    proxy.UpdatePipeline()
    watch.stop()
    if not watch.after_cancel or watch.after_cancel[-1] > 90:
        raise AssertionError(f"it did not stop: progress after the cancel is {watch.after_cancel}")
    output = watch.algorithm.GetOutput()
    proxy.UpdatePropertyInformation()
    if output.GetNumberOfPoints() or output.GetNumberOfCells() or proxy.LastRun != "Aborted":
        raise AssertionError(f"after a cancel: {output.GetNumberOfCells()} cells, {proxy.LastRun}")
    window.check_quiet()
    watch.algorithm.SetAbortExecute(0)
    proxy.Isosurfaces = proxy.Isosurfaces[:2]
    proxy.UpdatePipeline()
    if not output.GetNumberOfPolys():
        raise AssertionError("nothing after a cancelled run")


if __name__ == "__main__":
    gui_testing.launch(__file__, ["cancelled_run"], sys.argv[1:])
