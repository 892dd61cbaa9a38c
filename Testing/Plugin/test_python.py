# SPDX-License-Identifier: BSD-3-Clause
"""The plugin imports the Python package pmb by itself, however it is loaded, so that a filter's object has its own class; it
says nothing where the package is missing."""
import os
import subprocess
import sys
import tempfile

from plugin_testing import HERE, equal, run, true

sys.path.append(os.path.join(HERE, os.pardir, "Package"))
from test_loading import copy_tree  # noqa: E402

PLUGIN = os.environ["PMB_PLUGIN"]
SCRIPT = """import os, sys
print("names:", sorted(name for name in globals() if not name.startswith("__")))
from paraview.simple import *
if len(sys.argv) > 1:
    LoadPlugin(sys.argv[1], remote=False, ns=globals())
surface = PMBContour(Input=Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
print("class:", type(surface.GetClientSideObject()).__name__)
import pmb
print("from:", os.path.dirname(pmb.__file__))
print("all:", sorted(pmb.__all__))
"""


def start(*arguments, **variables):
    """{word: rest} of the lines that the script prints, and its standard error."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(["pvpython", "/dev/stdin", *arguments], input=SCRIPT, env={**environment, **variables},
                            capture_output=True, text=True, check=False)
    return dict(line.split(": ", 1) for line in result.stdout.splitlines() if ": " in line), result.stderr


def same_package(said, errors, what):
    equal(said.get("class"), "vtkPMBContourFilter", f"{what}: class of the filter's object")
    equal(errors, "", f"{what}: errors")
    equal(said.get("names"), "['os', 'sys']", f"{what}: names that a script begins with")
    prefix = os.path.realpath(os.path.join(said["from"], *[os.pardir] * 4))
    true(os.path.realpath(PLUGIN).startswith(prefix), f"{what}: the package comes from {said['from']}")
    true("'accelerate_contour', 'vtkPMBContourAcceleration'" in said["all"], f"{what}: the package has {said['all']}")


def loaded():
    same_package(*start(PLUGIN), "LoadPlugin")
    same_package(*start(PV_PLUGIN_PATH=os.path.dirname(PLUGIN)), "PV_PLUGIN_PATH")


def without_the_package():
    with tempfile.TemporaryDirectory() as folder:
        said, errors = start(copy_tree(folder))
    equal(said.get("class"), "vtkPolyDataAlgorithm", "class of the filter's object")
    true("from" not in said and errors.strip().endswith("No module named 'pmb'"), f"it said {said} {errors}")
    equal(errors.count("rror"), 1, f"errors in {errors}")


run(loaded, without_the_package)
