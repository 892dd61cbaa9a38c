# SPDX-License-Identifier: BSD-3-Clause
"""The setting "Accelerate stock Contour": a state file of a ParaView without the plugin, the summary of the last
execution, and the settings' file.

With `make FOLDER` the script is that ParaView: it saves session.pvsm and the bytes of its surfaces, without the plugin.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy
from paraview import simple
from vtkmodules.vtkFiltersCore import vtkMassProperties

from plugin_testing import ball, equal, image, load_plugin, near, output, plugin_list, points, producer, run, triangles, true

SIZE = 60


def acceleration():
    from pmb import vtkPMBContourAcceleration
    return vtkPMBContourAcceleration


def switch(on):
    from pmb import accelerate_contour
    accelerate_contour(on)
    equal(acceleration().IsEnabled(), bool(on), "the switch of this process")


def runs():
    return acceleration().GetNumberOfRuns()


def surface_of(mesh):
    """Properties of a mesh that do not depend on the order of its triangles."""
    measures = vtkMassProperties()
    measures.SetInputData(mesh)
    data = mesh.GetPointData()
    arrays = [(data.GetArrayName(i), data.GetArray(i).GetDataType(), data.IsArrayAnAttribute(i))
              for i in range(data.GetNumberOfArrays())]
    return mesh.GetNumberOfPolys(), arrays, measures.GetSurfaceArea(), measures.GetVolume()


def same_surface(mesh, other, what):
    ours, theirs = surface_of(mesh), surface_of(other)
    true(ours[0] > 0, f"{what}: a surface")
    equal(ours[0], theirs[0], f"{what}: triangles")
    equal(ours[1], theirs[1], f"{what}: arrays")
    equal(mesh.GetNumberOfPoints(), len(numpy.unique(triangles(other))), f"{what}: points that a triangle uses")
    near(ours[2], theirs[2], 1e-4 * theirs[2], f"{what}: area")
    near(ours[3], theirs[3], 1e-4 * abs(theirs[3]), f"{what}: volume")


def stock(**settings):
    """A pipeline with the stock Contour."""
    wavelet = simple.Wavelet(WholeExtent=[-SIZE, SIZE, -SIZE, SIZE, -SIZE, SIZE])
    return simple.Contour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0], **settings)


# --- the state file -------------------------------------------------------------------------------------------------

def make(folder):
    true(not hasattr(simple, "PMBContour"), "the plugin is loaded here")
    contour = stock(ComputeGradients=1, registrationName="surface")
    simple.Clip(Input=contour, registrationName="half")
    view = simple.CreateView("RenderView")
    simple.Show(contour, view)
    mesh = output(contour)
    numpy.save(os.path.join(folder, "points.npy"), points(mesh))
    numpy.save(os.path.join(folder, "triangles.npy"), triangles(mesh))
    simple.SaveState(os.path.join(folder, "session.pvsm"))


def load(path):
    simple.LoadState(path)
    return simple.FindSource("surface")


def state_file():
    """Loaded with the setting off and on: the same surface; the same bytes as without the plugin when off."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["pvpython", __file__, "make", folder], check=True)
        path = os.path.join(folder, "session.pvsm")
        with open(path, encoding="utf-8") as state:
            true("PMB" not in state.read(), "the state file knows the plugin")
        switch(False)
        before = runs()
        contour = load(path)
        off, half = output(contour), output(simple.FindSource("half")).GetNumberOfCells()
        equal(runs(), before, "accelerated executions while it is off")
        equal(points(off).tobytes(), numpy.load(os.path.join(folder, "points.npy")).tobytes(), "points, off")
        equal(triangles(off).tobytes(), numpy.load(os.path.join(folder, "triangles.npy")).tobytes(), "triangles, off")
        simple.ResetSession()
        switch(True)
        contour = load(path)
        on = output(contour)
        half_on = output(simple.FindSource("half")).GetNumberOfCells()
        binds = acceleration().GetNumberOfBinds()
        contour.Isosurfaces = [150.0]
        contour.UpdatePipeline()
    equal(runs(), before + 2, "accelerated executions, with a change of the isovalue")
    equal(acceleration().GetNumberOfBinds(), binds, "volumes read for it")
    same_surface(on, off, "state file")
    equal(half_on, half, "cells downstream")


def last_run():
    """The summary describes the last execution, also where VTK's own code ran."""
    turned = image({"samples": ball((20, 20, 20))}, (20, 20, 20))
    turned.SetDirectionMatrix(0, -1, 0, 1, 0, 0, 0, 0, 1)
    switch(True)
    contour = stock()
    for isovalue in (150.0, 151.0):
        contour.Isosurfaces = [isovalue]
        contour.UpdatePipeline()
        cells = contour.GetDataInformation().GetNumberOfCells()
        said = acceleration().GetLastRunSummary(contour.GetClientSideObject())
        true(said.startswith("vtkContourFilter, accelerated: ") and f" {cells} triangles" in said,
             f"{cells} triangles, but the last run is {said!r}")
    other = simple.Contour(Input=producer(turned), ContourBy=["POINTS", "samples"], Isosurfaces=[91.0])
    other.UpdatePipeline()
    left = acceleration().GetLastRunSummary()
    true(left.startswith("vtkContourFilter, by VTK's own code, because ") and "direction" in left,
         f"with a direction matrix the last run is {left!r}")
    equal(acceleration().GetLastRunSummary(contour.GetClientSideObject()), said, "the last run of the other Contour")
    switch(False)


# --- storage of the setting -----------------------------------------------------------------------------------------

STATE_OF_SWITCH = """import sys
from paraview.simple import *
from pmb import accelerate_contour, vtkPMBContourAcceleration as acceleration
for value, keep in zip(sys.argv[1::2], sys.argv[2::2]):
    accelerate_contour(int(value), **({"keep": True} if int(keep) else {}))
contour = Contour(Input=Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
contour.UpdatePipeline()
print("runs:", acceleration.GetNumberOfRuns())
"""


def accelerated_runs(program, home, *switches):
    """Counts accelerated surfaces of one Contour in a program with its own home folder; switches: list of (on, keep)."""
    script = os.path.join(home, "script.py")
    with open(script, "w", encoding="utf-8") as text:
        text.write(STATE_OF_SWITCH)
    result = subprocess.run([program, script, *(str(int(value)) for pair in switches for value in pair)],
                            capture_output=True, text=True, check=False,
                            env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": os.path.join(home, "config"),
                                 "PV_PLUGIN_CONFIG_FILE": plugin_list(home)})
    found = [line for line in result.stdout.splitlines() if line.startswith("runs: ")]
    true(len(found) == 1, f"{program} with {switches} said {result.stdout} {result.stderr}")
    return int(found[0].split()[1])


def settings_of(home):
    """{name: content} of the settings' files, which ParaView 6.1 may write anew."""
    folder, result = os.path.join(home, "config", "ParaView"), {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as stream:
            result[name] = json.load(stream)
    return result


def settings_file():
    """Without keep, a script's switch ends with its ParaView, and the user's files do not change. With keep, the file stores
    it for the next session."""
    for program in ("pvpython", "pvbatch"):
        with tempfile.TemporaryDirectory() as home:
            folder = os.path.join(home, "config", "ParaView")
            os.makedirs(folder)
            for name in (program, "ParaView"):  # each program has its own file
                with open(os.path.join(folder, f"{name}-UserSettings.json"), "w", encoding="utf-8") as text:
                    text.write('{"settings":   {"PMBContourSettings": {"AccelerateContour": 0}, "other": {"one": 2}}}')
            before = settings_of(home)
            unkept = [(((True, False),), 1), ((), 0)]
            if program == "pvpython":
                unkept += [(((True, False), (False, False)), 0)]
            for switches, expected in unkept:
                equal(accelerated_runs(program, home, *switches), expected, f"{program}, {switches}: accelerated executions")
                true(settings_of(home) == before, f"{program}, {switches}: settings have changed: {settings_of(home)}")
            kept = [(((True, True),), 1), ((), 1)]
            if program == "pvpython":
                kept += [(((False, False),), 0), ((), 1), (((False, True),), 0), ((), 0)]
            for switches, expected in kept:
                equal(accelerated_runs(program, home, *switches), expected,
                      f"{program}, {switches} kept: accelerated executions")
            true(settings_of(home) != before, f"{program}: what is kept is in no file")


if sys.argv[1:2] == ["make"]:
    make(sys.argv[2])
    sys.stdout.flush()
    os._exit(0)  # a live render window can turn 0 into 1
load_plugin()
run(state_file, last_run, settings_file)
