# SPDX-License-Identifier: BSD-3-Clause
"""Long runs in ParaView's window: the window shows the filter's progress, and a cancelled run stops.

Usage: ./pmb pvpython Testing/Plugin/test_gui_progress.py [FOLDER [FUNCTION...]]

ParaView shows progress ten times in a second, so a run has to take some seconds.
"""
import sys
import time

import gui_testing
from plugin_testing import equal, true


def contour(window):
    """A filter on a nearly constant volume with a ball of a higher value and a sample of a lower one; not yet executed. Most
    samples equal the many isovalues, so that every brick has to be looked at for each, and few have a triangle."""
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
    return proxy


def particles(window):
    """A surface of many particles; not yet executed."""
    import numpy
    from paraview import simple
    from plugin_testing import cloud, producer
    simple.SetActiveSource(producer(cloud(numpy.random.default_rng(7).random((400000, 3)) * 60)))
    window.settle()
    return window.add_filter("Filters", "Accelerated Algorithms", "PMB Particle Surface")


class Watch:
    """Records the progress of a filter in ParaView; cancels at a percentage, by the abort button where it works."""

    def __init__(self, window, proxy, cancel_at):
        from paraview import servermanager, simple
        works = simple.GetParaViewVersion() >= (6, 1)
        self.button = window.child(gui_testing.QtWidgets.QToolButton, "AbortButton") if works else None
        self.name, self.algorithm = proxy.SMProxy.GetXMLName(), proxy.GetClientSideObject()
        self.handler = servermanager.ActiveConnection.Session.GetProgressHandler()
        self.told, self.after_cancel, self.cancel_at, self.cancelled = [], [], cancel_at, None
        self.tag = self.handler.AddObserver("ProgressEvent", self.hear)

    def hear(self, _handler, _event):
        if self.name not in (self.handler.GetLastProgressText() or ""):
            return
        progress = self.handler.GetLastProgress()
        (self.after_cancel if self.after_cancel or progress >= self.cancel_at else self.told).append(progress)
        if len(self.after_cancel) == 1:
            self.cancelled = time.process_time()
            if self.button:
                gui_testing.QtTest.QTest.mousePress(self.button, gui_testing.QtCore.Qt.MouseButton.LeftButton)
            else:
                self.algorithm.SetAbortExecuteAndUpdateTime()

    def stop(self):
        """The processor's seconds since the cancel. Before it progress must not fall."""
        seconds = time.process_time() - (self.cancelled or 0)
        self.handler.RemoveObserver(self.tag)
        gui_testing.say(f"  {len(self.told)} updates, then {self.after_cancel}; {seconds:.3f} s after the cancel")
        true(self.told and self.told == sorted(self.told), f"progress falls, or there is none: {self.told}")
        return seconds


def cancelled_run(window, proxy):
    """Stops at a third, within 100 ms; returns the algorithm, ready to run again."""
    proxy.SetPropertyWithName("NumberOfThreads", 1)
    watch = Watch(window, proxy, cancel_at=33)
    proxy.UpdatePipeline()
    true(watch.stop() < 0.1, "it stopped late")
    # VTK reports 100 at the end, from 9.6 on after an abort too.
    true(0 < len(watch.after_cancel) <= 3, f"it did not stop: progress after the cancel is {watch.after_cancel}")
    output = watch.algorithm.GetOutput()
    equal((output.GetNumberOfPoints(), output.GetNumberOfCells()), (0, 0), "points and cells after a cancel")
    window.check_quiet()
    watch.algorithm.SetAbortExecute(0)
    return watch.algorithm


def cancelled_contour(window):
    """Then a shorter run is complete."""
    proxy = contour(window)
    algorithm = cancelled_run(window, proxy)
    proxy.UpdatePropertyInformation()
    equal(proxy.LastRun, "Aborted", "the last run after a cancel")
    proxy.Isosurfaces = proxy.Isosurfaces[:2]
    proxy.UpdatePipeline()
    true(algorithm.GetOutput().GetNumberOfPolys(), "nothing after a cancelled run")


def cancelled_particles(window):
    cancelled_run(window, particles(window))


if __name__ == "__main__":
    gui_testing.launch(__file__, ["cancelled_contour", "cancelled_particles"], sys.argv[1:])
