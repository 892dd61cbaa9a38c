# SPDX-License-Identifier: BSD-3-Clause
"""A long run in ParaView's window: its progress bar shows what the filter tells, and a cancelled run stops.

Usage: ./pmb pvpython Testing/Plugin/test_gui_progress.py [FOLDER [FUNCTION...]]

ParaView shows progress ten times in a second, so a run has to take some seconds. This one is long by its many isovalues, and
small: most samples equal them, so that every brick has to be looked at for each, and nearly none has a triangle.
"""
import sys
import time

import gui_testing


def plateau(n):
    """One value nearly everywhere, around a ball of a higher and a sample of a lower one. Returns also isovalues."""
    import numpy
    samples = numpy.full((n, n, n), 100, numpy.uint8)
    axis = numpy.arange(-8, 9)
    x, y, z = numpy.meshgrid(axis, axis, axis)
    samples[8:25, 8:25, 8:25] += (numpy.maximum(0, 64 - x * x - y * y - z * z)).astype(numpy.uint8)
    samples[-1, -1, -1] = 0
    return samples, [100.0] * 120


def prepared(window):
    """A filter on the volume, not yet executed. Returns its proxy, and what must stay alive."""
    from paraview import simple
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData
    samples, isovalues = plateau(256)
    array = numpy_to_vtk(samples.reshape(-1))
    array.SetName("samples")
    image = vtkImageData()
    image.SetDimensions(*samples.shape)
    image.GetPointData().SetScalars(array)
    source = simple.TrivialProducer(registrationName="volume")
    source.GetClientSideObject().SetOutput(image)
    source.UpdatePipeline()
    window.settle()
    window.select("volume")
    proxy = window.add_filter("Filters", "Accelerated Algorithms", "PMB Contour")
    proxy.ContourBy = ["POINTS", "samples"]
    proxy.Isosurfaces = isovalues
    proxy.SetPropertyWithName("NumberOfThreads", 1)
    return proxy, samples


class Watch:
    """What ParaView does with the progress of a filter: what its handler tells, and what the status bar shows."""

    def __init__(self, window, proxy):
        from paraview import servermanager
        self.algorithm = proxy.GetClientSideObject()
        self.handler = servermanager.ActiveConnection.Session.GetProgressHandler()
        self.bar = window.main.findChild(gui_testing.QtWidgets.QLabel, "ProgressBar")
        self.button = window.main.findChild(gui_testing.QtWidgets.QAbstractButton, "AbortButton")
        self.told, self.shown, self.faults = [], [], []
        self.can_abort = False
        self.cancel_at = self.cancelled = self.started = self.ended = None
        self.tags = [(self.handler, self.handler.AddObserver("ProgressEvent", self.hear))]
        for event, function in (("StartEvent", self.start), ("ProgressEvent", self.watch), ("EndEvent", self.end)):
            self.tags.append((self.algorithm, self.algorithm.AddObserver(event, function)))

    def stop(self):
        for target, tag in self.tags:
            target.RemoveObserver(tag)
        if self.faults:
            raise AssertionError(self.faults[0])

    def start(self, _algorithm, _event):
        self.started = time.monotonic()

    def end(self, _algorithm, _event):
        self.ended = time.monotonic()

    def hear(self, _handler, _event):
        if "PMBContour" in (self.handler.GetLastProgressText() or ""):
            self.told.append((self.handler.GetLastProgress(), time.monotonic()))

    def watch(self, _algorithm, _event):
        """After ParaView has heard of the same event. An exception here would end ParaView."""
        try:
            if len(self.told) > len(self.shown):
                self.shown.append(filled(self.bar))
                self.can_abort = self.can_abort or self.button.isEnabled()
            if self.cancel_at is not None and self.told and self.told[-1][0] >= self.cancel_at:
                self.cancel_at = None
                self.cancelled = time.monotonic()
                # What the button of ParaView 6.1 does, and when.
                self.algorithm.SetAbortExecuteAndUpdateTime()
        except Exception as error:
            self.faults.append(f"{type(error).__name__}: {error}")


def filled(bar):
    """How much of the bar is filled, in percent, from its pixels."""
    image = bar.grab().toImage()
    if gui_testing.QT == "PyQt5":
        row = [image.pixelColor(x, 3).getRgb()[:3] for x in range(2, image.width() - 2)]
        empty = row[-1]
    else:  # ParaView 5.13 leaves Qt 6 to take the bar for an upright one
        row = [image.pixelColor(3, y).getRgb()[:3] for y in reversed(range(2, image.height() - 2))]
        empty = bar.palette().color(bar.backgroundRole()).getRgb()[:3]
    count = sum(1 for color in row if max(abs(a - b) for a, b in zip(color, empty)) > 12)
    return 100.0 * count / len(row)


def check_rising(watch):
    values = [value for value, _time in watch.told]
    if values != sorted(values) or not 0 <= values[0] <= values[-1] <= 100:
        raise AssertionError(f"progress falls: {values}")
    seconds, steps = watch.ended - watch.started, [after - before for before, after in zip([0, *values], values)]
    gui_testing.say(f"  {seconds:.2f} s, {len(values)} updates, largest step {max(steps)} points")


def last_run(proxy):
    proxy.UpdatePropertyInformation()
    return proxy.LastRun


def long_run(window):
    """Apply, with a look at the bar at each of its updates."""
    proxy, _alive = prepared(window)
    watch = Watch(window, proxy)
    proxy.UpdatePipeline()
    watch.stop()
    check_rising(watch)
    pairs = [(shown, told) for shown, (told, _time) in zip(watch.shown, watch.told) if told < 100]  # then the bar is cleared
    off = [abs(shown - told) for shown, told in pairs]
    gui_testing.say(f"  the bar's pixels are off by at most {max(off):.1f} points; abort button "
                    f"{'enabled' if watch.can_abort else 'greyed out'}")
    exact = gui_testing.QT == "PyQt5"  # the upright bar has few pixels and a border
    if len(off) < 5 or (max(off) > 4 if exact else sorted(pairs) != pairs or pairs[-1][0] < 80):
        raise AssertionError(f"the bar shows {watch.shown}, but {watch.told} was told")
    if not proxy.GetClientSideObject().GetOutput().GetNumberOfPolys():
        raise AssertionError("no surface")


def cancelled_run(window):
    """Stopped at a third; then the same run to its end."""
    proxy, _alive = prepared(window)
    watch = Watch(window, proxy)
    watch.cancel_at = 33
    proxy.UpdatePipeline()
    watch.stop()
    output = watch.algorithm.GetOutput()
    after = [value for value, when in watch.told if when > watch.cancelled]
    gui_testing.say(f"  stopped {1000 * (watch.ended - watch.cancelled):.1f} ms after the cancel, told {after} of it")
    if max(after, default=0) > 90:
        raise AssertionError(f"it did not stop: progress after the cancel is {after}")
    if output.GetNumberOfPoints() or output.GetNumberOfCells() or last_run(proxy) != "Aborted":
        raise AssertionError(f"after a cancel: {output.GetNumberOfCells()} cells, {last_run(proxy)}")
    window.check_quiet()
    watch.algorithm.SetAbortExecute(0)
    proxy.Isosurfaces = proxy.Isosurfaces[:2]
    proxy.UpdatePipeline()
    if not output.GetNumberOfPolys():
        raise AssertionError(f"nothing after a cancelled run: {last_run(proxy)}")


if __name__ == "__main__":
    gui_testing.launch(__file__, ["long_run", "cancelled_run"], sys.argv[1:])
