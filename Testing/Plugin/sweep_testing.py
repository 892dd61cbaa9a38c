# SPDX-License-Identifier: BSD-3-Clause
"""Shared by tests with all of ParaView's filters: their list, work in processes that may crash, and results.

A test calls sweep(names, work): in the process that ctest started it gives the names to two processes at a time, which run
this same script with the names as arguments and call work(name) for each. work() returns what can be written as JSON. A name
with which a process crashes or stays silent has CRASHED as its result, and another process goes on with the next.
"""
import json
import os
import select
import subprocess
import sys
import threading

import numpy
import paraview
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray

from plugin_testing import true

CRASHED = "it crashed or hung"
SILENT = 60  # seconds after which a process is ended
RESULT = "result of the sweep: "
# Filters that crash with data without time steps, before or behind stock Contour as well.
WITHOUT_TIME = ("CriticalTime",) if simple.GetParaViewVersion() > (5, 11) else ()
if simple.GetParaViewVersion() >= (6, 0):
    WITHOUT_TIME += ("LegacyParticlePath", "LegacyStreakLine", "ParticlePath", "ParticlePathLines", "ParticleTracer",
                     "StreakLine", "TemporalSmoothing")


# --- proxies --------------------------------------------------------------------------------------------------------

def proxy_names(group):
    definitions = servermanager.ProxyManager().SMProxyManager.GetProxyDefinitionManager()
    every = definitions.NewSingleGroupIterator(group)
    every.InitTraversal()
    while not every.IsDoneWithTraversal():
        yield every.GetProxyName()
        every.GoToNextItem()


def inputs_for(name, source):
    """The input properties of a filter that take this source; empty if the one named Input does not."""
    prototype = servermanager.ProxyManager().SMProxyManager.GetPrototypeProxy("filters", name)
    every, found = prototype.NewPropertyIterator(), []
    every.Begin()
    while not every.IsAtEnd():
        prop = every.GetProperty()
        if prop.IsA("vtkSMInputProperty"):
            prop.AddUncheckedInputConnection(source.SMProxy, 0)
            if prop.IsInDomains():
                found.append(every.GetKey())
            prop.ClearUncheckedElements()
        every.Next()
    has_input = prototype.GetProperty("Input") is not None
    return found if "Input" in found or not has_input else []


def make(group, name, source=None, inputs=()):
    """A proxy with ParaView's defaults, as simple's functions make it, with the source at each of the inputs."""
    label = servermanager.ProxyManager().SMProxyManager.GetPrototypeProxy(group, name).GetXMLLabel()
    if source:
        simple.SetActiveSource(source)
    arguments = {"Input": source} if "Input" in inputs else {}
    proxy = getattr(simple, paraview.make_name_valid(label), lambda **_: None)(**arguments)
    if proxy is None or proxy.GetXMLName() != name:  # simple has no function, or another proxy has the same label
        classes = servermanager.filters if group == "filters" else servermanager.sources
        proxy = getattr(classes, paraview.make_name_valid(label))(**arguments)
    if proxy.GetXMLName() != name:
        raise RuntimeError(f"made a {proxy.GetXMLName()}")
    for prop in inputs:
        if prop != "Input":
            proxy.SetPropertyWithName(prop, source)
    return proxy


# --- work in processes ----------------------------------------------------------------------------------------------

def tell(name, result):
    """Writes a line to the waiting process. Not by print(): MPI's helper may make the pipe non-blocking, and text that does
    not fit would be lost."""
    left = f"\n{RESULT}{json.dumps([name, result])}\n".encode()
    while left:
        select.select([], [1], [])
        try:
            left = left[os.write(1, left):]
        except BlockingIOError:
            pass


def work_here(names, work):
    for name in names:
        tell(name, None)
        try:
            result = work(name)
        except Exception as error:  # whatever a filter raises
            result = f"{type(error).__name__}: {error}"
        tell(name, result)
    os._exit(0)


class Process:
    """Runs a process for names until they are done or it ends; returns those left."""

    def __init__(self, names, results):
        self.left, self.under_way = list(names), None
        self.child = subprocess.Popen(["pvpython", "--no-mpi", os.path.abspath(sys.argv[0]), *names], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True)
        timer = self.restart(None)
        for line in self.child.stdout:
            if line.startswith(RESULT):
                timer = self.restart(timer)
                name, result = json.loads(line[len(RESULT):])
                self.under_way = name
                if result is not None:
                    results[name], self.under_way = result, None
                    self.left.remove(name)
        timer.cancel()
        self.child.wait()
        if self.left:
            name = self.under_way or self.left[0]
            results[name] = CRASHED
            self.left.remove(name)

    def restart(self, timer):
        if timer:
            timer.cancel()
        timer = threading.Timer(SILENT, self.child.kill)
        timer.start()
        return timer


def sweep(names, work):
    """{name: what work(name) returned}; does not return in a process that does the work."""
    if len(sys.argv) > 1:
        work_here(sys.argv[1:], work)
    results = {}

    def go(part):
        while part:
            part = Process(part, results).left
    threads = [threading.Thread(target=go, args=(sorted(names)[n::2],)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


# --- results --------------------------------------------------------------------------------------------------------

def output_of(proxy):
    """The data at the first port. A compound proxy has no VTK object of its own."""
    made = proxy.GetClientSideObject()
    return made.GetOutputDataObject(0) if made else servermanager.Fetch(proxy)


def leaves(data):
    """The data objects of a composite one, or it alone."""
    if data is None or not data.IsA("vtkCompositeDataSet"):
        return [data] if data is not None else []
    every, found = data.NewIterator(), []
    every.InitTraversal()
    while not every.IsDoneWithTraversal():
        found.append(every.GetCurrentDataObject())
        every.GoToNextItem()
    return found


def arrays_of(data):
    """(kind, name, array) of all arrays of a data object."""
    for kind in range(7):
        attributes = data.GetAttributesAsFieldData(kind)
        for n in range(attributes.GetNumberOfArrays() if attributes else 0):
            array = attributes.GetAbstractArray(n)
            yield kind, array.GetName() or "", array


def values_of(array):
    if isinstance(array, vtkDataArray):
        return vtk_to_numpy(array)
    return numpy.array([str(array.GetVariantValue(n)) for n in range(array.GetNumberOfValues())])


def sizes(data):
    return [data.GetNumberOfElements(kind) for kind in (0, 1, 6)]  # points, cells, rows


def numbers(array):
    """The finite values of an array; none of text."""
    values = values_of(array) if array.IsNumeric() else numpy.empty(0)
    return values[numpy.isfinite(values)]


def said(log):
    """How many errors and warnings."""
    return sum(log.text().count(word) for word in ("Error:", "Warning:", "ERROR:"))


def report(results, judge, least):
    """Fails if judge(name, result) returns a fault, if a result is text, and if too few were compared."""
    wrong, compared = [], [name for name, result in results.items() if result and not isinstance(result, str)]
    for name, result in sorted(results.items()):
        why = judge(name, result) if name in compared else result
        if why:
            wrong.append(f"{name}: {why}")
    print(f"{len(compared)} compared, {len(results) - len(compared)} do not apply")
    true(len(compared) > least, f"only {compared}")
    true(not wrong, "\n".join(wrong))
    return compared


def is_near(a, b, tolerance):
    """Whether two lists of numbers are equal within a fraction of the largest absolute value."""
    return len(a) == len(b) and all(abs(x - y) <= tolerance * max(map(abs, a + b)) for x, y in zip(a, b))
