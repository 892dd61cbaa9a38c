# SPDX-License-Identifier: BSD-3-Clause
"""The setting "Accelerate stock Contour" and the settings' file. (Surfaces of Contour: test_server.py, Testing/Filters.)"""
import json
import os
import subprocess
import tempfile

from plugin_testing import equal, plugin_list, run, true


STATE_OF_SWITCH = """import sys
from paraview.simple import *
from pmb import accelerate_contour, vtkPMBContourAcceleration as acceleration
for value, keep in zip(sys.argv[1::2], sys.argv[2::2]):
    accelerate_contour(int(value), **({"keep": True} if int(keep) else {}))
contour = Contour(Input=Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
contour.UpdatePipeline()
print("runs:", acceleration.GetNumberOfRuns())
"""


def accelerated_runs(home, *switches):
    """Counts accelerated surfaces of one Contour in a pvpython with its own home folder; switches: list of (on, keep)."""
    script = os.path.join(home, "script.py")
    with open(script, "w", encoding="utf-8") as text:
        text.write(STATE_OF_SWITCH)
    result = subprocess.run(["pvpython", script, *(str(int(value)) for pair in switches for value in pair)],
                            capture_output=True, text=True, check=False,
                            env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": os.path.join(home, "config"),
                                 "PV_PLUGIN_CONFIG_FILE": plugin_list(home)})
    found = [line for line in result.stdout.splitlines() if line.startswith("runs: ")]
    true(len(found) == 1, f"with {switches} it said {result.stdout} {result.stderr}")
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
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, "config", "ParaView")
        os.makedirs(folder)
        for name in ("pvpython", "ParaView"):  # each program has its own file
            with open(os.path.join(folder, f"{name}-UserSettings.json"), "w", encoding="utf-8") as text:
                text.write('{"settings":   {"PMBContourSettings": {"AccelerateContour": 0}, "other": {"one": 2}}}')
        before = settings_of(home)
        # Sessions, one after another: [(on, keep), ...], the accelerated executions, whether the files are as before.
        for switches, expected, same in (([(1, 0)], 1, True), ([], 0, True), ([(1, 1)], 1, False), ([], 1, False),
                                         ([(0, 0)], 0, False), ([], 1, False), ([(0, 1)], 0, None), ([], 0, None)):
            equal(accelerated_runs(home, *switches), expected, f"{switches}: accelerated executions")
            if same is not None:
                equal(settings_of(home) == before, same, f"{switches}: the settings are as before")


run(settings_file)
