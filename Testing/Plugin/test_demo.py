# SPDX-License-Identifier: BSD-3-Clause
"""./pmb demo: its output, and its files."""
import os
import re
import tempfile

import numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from plugin_testing import check_mesh, counts, equal, near, pixels, run, run_script, true
import scans


def table(text):
    """{label: (ours, theirs)} of the printed lines; columns are two or more blanks apart."""
    rows = [re.split(r" {2,}", line.rstrip()) for line in text.splitlines()]
    return {row[0]: tuple(row[1:]) for row in rows if len(row) == 3 and row[0]}


def number(text):
    return float(text.replace(",", "").replace(" mm2", ""))


def demo():
    with tempfile.TemporaryDirectory() as folder:
        text = run_script("demo.py", folder)
        facts = table(text)
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(os.path.join(folder, "demo.vtp"))
        reader.Update()
        mesh = reader.GetOutput()
        picture = pixels(os.path.join(folder, "demo.png"))
        pair = pixels(os.path.join(folder, "rays.png"))[:, :, :3].astype(float)
    equal((number(facts["points"][0]), number(facts["triangles"][0])), counts(mesh), "points and triangles")
    near(number(facts["triangles"][0]) / number(facts["triangles"][1]), 1.0, 0.001, "triangles, ours over Contour's")
    near(number(facts["area"][0]) / number(facts["area"][1]), 1.0, 1e-6, "area, ours over Contour's")
    for label in ("milliseconds, first", "milliseconds, next"):
        true(min(map(number, facts[label])) > 0.0, label)
    true(re.fullmatch(r"CPU \(.*\)|GPU .*", facts["device"][0]), f"device {facts['device'][0]!r}")
    true(facts["device"][0].startswith("GPU") or "\nthe GPU is not used: " in text, "the reason why not the GPU")
    bounds = scans.read_ch2().GetBounds()
    check_mesh(mesh, bounds[0::2], bounds[1::2], strict=False)
    equal(picture.shape[:2], (1000, 1200), "size of the picture")
    true(len(numpy.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 1000, "the picture is plain")
    mesh_side, ray_side = pair[:, 10:780], pair[:, 810:1580]
    true(numpy.abs(mesh_side.mean((0, 1)) - ray_side.mean((0, 1))).max() < 2, "the picture by rays has other colors")
    true(mesh_side.std() > 20 and ray_side.std() > 20, "a half of the pair is plain")


run(demo)
