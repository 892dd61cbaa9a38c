# SPDX-License-Identifier: BSD-3-Clause
"""The examples of Docs/Examples, each in a separate process and folder: their output and files are
compared with vtkFlyingEdges3D, surfaces of particles with those of the filter. What they say without their data, and of
wrong arguments.

The first argument is the folder of the Python package pmb. The example in C++ is built and run by test_install.sh."""
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy
from paraview import simple
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter, vtkXMLPolyDataReader

from plugin_testing import (HERE, ball, counts, equal, flying_edges, image, load_plugin, near, output, pixels, plugin_list,
                            point_array, producer, run, true)
import scans

TOP = os.path.abspath(os.path.join(HERE, os.pardir, os.pardir))
EXAMPLES = os.path.join(TOP, "Docs", "Examples")
SCAN = os.path.join(TOP, "Data", "ch2.vti")
PACKAGES = sys.argv[1]
PYTHON = "/usr/bin/python3"  # the Python of Debian's VTK
ISOVALUE = 45.5  # equals no sample: the numbers of triangles are those of vtkFlyingEdges3D


def start(script, *arguments, folder, plugin=True):
    """Runs an example in the folder. Returns the finished process."""
    environment = {**os.environ, "PV_PLUGIN_CONFIG_FILE": plugin_list(folder) if plugin else ""}
    program = "pvpython"
    if script.startswith("VTK"):
        program, environment["PYTHONPATH"] = PYTHON, PACKAGES if plugin else folder
    return subprocess.run([program, os.path.join(EXAMPLES, script), *map(str, arguments)], cwd=folder, env=environment,
                          capture_output=True, text=True, check=False)


def succeed(script, *arguments, folder):
    result = start(script, *arguments, folder=folder)
    equal(result.returncode, 0, f"exit code of {script}; it said {result.stdout} {result.stderr}")
    equal(result.stderr, "", f"errors of {script}")
    return result.stdout


def number(pattern, text):
    found = re.search(pattern, text)
    true(found, f"'{pattern}' in {text!r}")
    return float(found.group(1).replace(",", ""))


def surface_of(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def write_image(path, data):
    writer = vtkXMLImageDataWriter()
    writer.SetFileName(path)
    writer.SetInputData(data)
    writer.SetDataModeToBinary()
    writer.Write()


def colored_by_second_array():
    volume = scans.read_ch2()
    with tempfile.TemporaryDirectory() as folder:
        text = succeed("color_by_second_array.py", "--isovalue", ISOVALUE, "--output", "out.png", folder=folder)
        colors = pixels(os.path.join(folder, "out.png"))
    equal(number(r"([\d,]+) triangles", text), counts(flying_edges(volume, ISOVALUE))[1], "triangles")
    true(number(r"from ([\d.]+) to", text) < number(r"to ([\d.]+)", text), f"range of the sharpness in {text!r}")
    equal(colors.shape[:2], (800, 1000), "size of the picture")
    middle = colors[200:600, 300:700].reshape(-1, colors.shape[2]).astype(int)
    for name, one, other in (("blue", 2, 0), ("red", 0, 2)):  # low and high sharpness
        true((middle[:, one] > middle[:, other] + 40).any(), f"nothing of the surface is {name}")


def animated():
    volume = scans.read_ch2()
    with tempfile.TemporaryDirectory() as folder:
        text = succeed("animate_isovalues.py", "--from", 40.5, "--to", 80.5, "--frames", 3, "--output", "film",
                       folder=folder)
        names = sorted(os.listdir(os.path.join(folder, "film")))
        pictures = [pixels(os.path.join(folder, "film", name)).tobytes() for name in names]
    rows = [line.replace(",", "").split() for line in text.splitlines()[1:4]]
    expected = [[frame, value, counts(flying_edges(volume, value))[1]]
                for frame, value in enumerate((40.5, 60.5, 80.5))]
    equal([[int(row[0]), float(row[1]), int(row[2])] for row in rows], expected, "frames, isovalues and triangles")
    equal(names, ["frame000.png", "frame001.png", "frame002.png"], "files")
    equal(len(set(pictures)), 3, "pictures that differ")


def fluid():
    """Particles fall and spread; each picture shows the surface of its file."""
    with tempfile.TemporaryDirectory() as folder:
        text = succeed("animate_fluid.py", "--distance", 0.1, "--frames", 3, "--output", "film", folder=folder)
        names = sorted(os.listdir(os.path.join(folder, "film")))
        pictures = [pixels(os.path.join(folder, "film", name)).tobytes() for name in names[3:]]
        clouds = [surface_of(os.path.join(folder, "film", name)) for name in names[:3]]
    equal(names, ["fluid000.vtp", "fluid001.vtp", "fluid002.vtp", "frame000.png", "frame001.png", "frame002.png"], "files")
    equal(len(set(pictures)), 3, "pictures that differ")
    heights = [point_array(cloud, "Velocity")[:, 2].mean() for cloud in clouds]
    true(heights[0] == 0 > heights[1] > heights[2], f"the mean velocities upward are {heights}")
    for line, cloud in zip(text.splitlines()[1:], clouds):
        mesh = output(simple.PMBParticleSurface(Input=producer(cloud), Radius=0.05, SmoothingLength=2.4, CellSize=0.5))
        equal(int(line.split()[1].replace(",", "")), counts(mesh)[1], "triangles")
        near(float(line.split()[2]), numpy.linalg.norm(point_array(mesh, "Velocity"), axis=1).max(), 0.006, "fastest")


def batch():
    dims, radius = (40, 41, 42), 15.25
    volumes = {"one.vti": image({"samples": ball(dims)}, dims),
               "two.vti": image({"samples": ball(dims)}, dims, spacing=(2.0, 2.0, 2.0))}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in volumes.items():
            write_image(os.path.join(folder, name), data)
        with open(os.path.join(folder, "one.vti"), "rb") as whole, open(os.path.join(folder, "cut.vti"), "wb") as part:
            part.write(whole.read()[:5000])
        for name in ("junk.vti", "words.txt2"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write("no image\n")
        os.mkdir(os.path.join(folder, "more"))
        write_image(os.path.join(folder, "more", "one.vti"), volumes["one.vti"])
        bad = ["cut.vti", "junk.vti", "words.txt2", "gone.vti", "more/one.vti"]
        mixed = start("batch.py", 100.0 - radius, "one.vti", *bad, "two.vti", folder=folder)
        meshes = {name: surface_of(os.path.join(folder, "surfaces", name)) for name in ("one.vtp", "two.vtp")}
        others = start("batch.py", 1e6, "one.vti", folder=folder)
        good = succeed("batch.py", 100.0 - radius, "two.vti", "--array", "samples", "--output", "again", folder=folder)
    equal(mixed.returncode, 1, "exit code with bad files")
    equal(mixed.stderr, "", "errors with bad files")
    lines = mixed.stdout.splitlines()
    for line, name, scale in zip(lines[1:3], ("one", "two"), (1.0, 2.0)):
        triangles, area, _, path = line.split()
        equal(path, os.path.join("surfaces", name + ".vtp"), "file")
        expected = counts(flying_edges(volumes[name + ".vti"], 100.0 - radius))
        equal(int(triangles.replace(",", "")), expected[1], f"triangles in the table, {name}")
        equal(counts(meshes[name + ".vtp"]), expected, f"points and triangles of the file, {name}")
        near(float(area.replace(",", "")) / (4 * math.pi * (scale * radius) ** 2), 1.0, 0.01, f"area, {name}")
    equal(lines[3], "2 surfaces, 5 files skipped", "summary")
    equal([line.split(":")[0].strip() for line in lines[4:]], bad, "skipped files")
    equal((others.returncode, others.stderr), (1, ""), "exit code and errors with an isovalue out of range")
    true("one.vti: no surface at 1e+06: samples goes from" in others.stdout, f"the range in {others.stdout!r}")
    true(good.endswith("1 surfaces, 0 files skipped\n"), f"summary in {good!r}")


def plain_vtk():
    with tempfile.TemporaryDirectory() as folder:
        text = succeed("VTK/contour.py", SCAN, ISOVALUE, "out.vtp", folder=folder)
        mesh = surface_of(os.path.join(folder, "out.vtp"))
    expected = counts(flying_edges(scans.read_ch2(), ISOVALUE))
    equal(counts(mesh), expected, "points and triangles")
    equal(number(r"([\d,]+) triangles", text), expected[1], "triangles in the text")


def check_state(path, frames):
    simple.LoadState(path, data_directory=os.path.join(TOP, "Data"))
    surface = simple.FindSource("head")
    true(surface, "the state has a filter 'head'")
    equal(list(surface.Isosurfaces), [45.0], "isovalue")
    true(simple.GetLayout(simple.GetViews()[0]), "the view is in a layout: else ParaView's window does not show it")
    scene = simple.GetAnimationScene()
    volume = scans.read_ch2()
    for time, isovalue in frames:
        scene.AnimationTime = time
        surface.RemoveDegenerateTriangles = 0
        equal(list(surface.Isosurfaces), [isovalue], f"isovalue at {time}")
        equal(counts(output(surface)), counts(flying_edges(volume, isovalue)), f"points and triangles at {time}")


def state():
    """The state file in Docs/Examples, and a new one."""
    path = os.path.join(EXAMPLES, "scan.pvsm")
    with open(path, encoding="utf-8") as stream:
        true('value="Data/ch2.vti"' in stream.read(), "the state names its data by a relative path")
    check_state(path, ((0.0, 30.0), (0.5, 70.0), (1.0, 110.0)))
    simple.ResetSession()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "new.pvsm")
        succeed("save_scan_state.py", path, folder=folder)
        with open(path, encoding="utf-8") as stream:
            true(TOP not in stream.read(), "the new state has the path of this checkout in it")
        check_state(path, ((0.25, 50.0),))


NO_PLUGIN = "plugin ParallelMarchingBlocks is not loaded"
# Exit code, words of the error, the example and its arguments; whether the plugin is there.
REFUSED = [
    (1, "There is no file gone.vti", ["color_by_second_array.py", "gone.vti"], True),
    (1, "There is no file gone.vti", ["animate_isovalues.py", "gone.vti"], True),
    (1, "There is no file gone.vti", ["VTK/contour.py", "gone.vti", 1, "out.vtp"], True),
    (1, NO_PLUGIN, ["color_by_second_array.py"], False),
    (1, NO_PLUGIN, ["animate_isovalues.py"], False),
    (1, NO_PLUGIN, ["animate_fluid.py"], False),
    (1, NO_PLUGIN, ["save_scan_state.py"], False),
    (1, NO_PLUGIN, ["batch.py", 1, SCAN], False),
    (1, "package pmb cannot be imported", ["VTK/contour.py", SCAN, 1, "a.vtp"], False),
    (2, "invalid float value: 'high'", ["color_by_second_array.py", "--isovalue", "high"], True),
    (1, "has no point array CT; it has: MRI", ["color_by_second_array.py", "--array", "CT"], True),
    (1, "there is no such folder", ["color_by_second_array.py", "--output", "no/a.png"], True),
    (1, "needs at least 2", ["animate_isovalues.py", "--frames", 1], True),
    (1, "needs at least 2", ["animate_fluid.py", "--frames", 1], True),
    (1, "use 0.005 to 0.1", ["animate_fluid.py", "--distance", 1], True),
    (1, "Cannot make the folder plugins.xml/a", ["animate_isovalues.py", "--output", "plugins.xml/a"], True),
    (2, "arguments are required: FILE", ["batch.py", 1], True),
    (2, "arguments are required: output", ["VTK/contour.py", SCAN, 1], True),
]


def refused():
    """The last line of the errors has the words; with exit code 1 it is the only one."""
    for code, words, command, plugin in REFUSED:
        with tempfile.TemporaryDirectory() as folder:
            result = start(*command, folder=folder, plugin=plugin)
        equal(result.returncode, code, f"exit code of {command}; it said {result.stdout} {result.stderr}")
        lines = result.stderr.strip().splitlines()
        true(lines and words in lines[-1] and "Traceback" not in result.stderr and (code == 2 or len(lines) == 1),
             f"{command}: {words!r} in {result.stderr!r}")


load_plugin()
run(colored_by_second_array, animated, fluid, batch, plain_vtk, state, refused)
