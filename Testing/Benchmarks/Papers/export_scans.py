#!/usr/bin/env pvpython
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the real scans of Data/scans.py as raw files, for pmb_bench_papers on machines without VTK.

usage: pvpython export_scans.py FOLDER   writes FOLDER/scans.txt and FOLDER/<name>.raw of those that are here
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Data"))

from scans import SCANS  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402

TYPES = {"uint8": "u8", "int16": "i16", "uint16": "u16", "float32": "f32"}


def main(arguments):
    if len(arguments) != 1:
        raise SystemExit("usage: pvpython export_scans.py FOLDER")
    folder = arguments[0]
    os.makedirs(folder, exist_ok=True)
    lines = []
    for name, (reader, path, package, isovalue) in SCANS.items():
        if not os.path.exists(path):
            print(f"{name}: not here; it comes with the Debian package {package}")
            continue
        image = reader()
        samples = vtk_to_numpy(image.GetPointData().GetScalars())
        samples.tofile(os.path.join(folder, name + ".raw"))
        dims = " ".join(str(n) for n in image.GetDimensions())
        lines.append(f"{name} {dims} {TYPES[samples.dtype.name]} {isovalue:g} {name}.raw\n")
    with open(os.path.join(folder, "scans.txt"), "w", encoding="utf-8") as stream:
        stream.writelines(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
