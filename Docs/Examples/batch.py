# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of many files, without a window: each becomes a .vtp file, and a table says what came out.

    ./pmb pvpython Docs/Examples/batch.py ISOVALUE FILE... [--array NAME] [--output FOLDER]

Files that cannot be used are skipped and named at the end; the exit code is then 1. Any format of image data works that
ParaView reads by its name (.vti, .mha, .nrrd, .pvti ...).
"""
import argparse
import contextlib
import os
import sys
import time

from paraview.simple import *
from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow, vtkStringOutputWindow


class Skipped(Exception):
    """A file of which there is no surface; the text says why."""


def read_arguments():
    parser = argparse.ArgumentParser(description="Isosurfaces of many files.")
    parser.add_argument("isovalue", type=float)
    parser.add_argument("files", nargs="+", metavar="FILE", help="image data: .vti, .mha, .nrrd ...")
    parser.add_argument("--array", help="the point array to contour; without this the first one of each file")
    parser.add_argument("--output", default="surfaces", help="the folder to write into (surfaces)")
    arguments = parser.parse_args()
    if "PMBContour" not in globals():
        sys.exit("The plugin ParallelMarchingBlocks is not loaded: run this with ./pmb pvpython, or set PV_PLUGIN_PATH.")
    try:
        os.makedirs(arguments.output, exist_ok=True)
    except OSError as error:
        sys.exit(f"Cannot make the folder {arguments.output}: {error.strerror}.")
    return arguments


@contextlib.contextmanager
def without_messages():
    """Readers say many lines of a damaged file: one in the table is enough."""
    window, verbosity = vtkOutputWindow.GetInstance(), vtkLogger.GetCurrentVerbosityCutoff()
    vtkOutputWindow.SetInstance(vtkStringOutputWindow())
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        yield
    finally:
        vtkLogger.SetStderrVerbosity(verbosity)
        vtkOutputWindow.SetInstance(window)


def read_image(path, array):
    """The reader of a file, and the array to contour."""
    if not os.path.isfile(path):
        raise Skipped("there is no such file")
    try:
        image = OpenDataFile(path)
    except RuntimeError:
        image = None
    if image is None:
        raise Skipped("ParaView has no reader for it")
    image.UpdatePipeline()
    if image.GetDataInformation().GetDataSetTypeAsString() != "vtkImageData" or not image.PointData.keys():
        raise Skipped("it holds no image data with point arrays, or is damaged")
    if array and array not in image.PointData.keys():
        raise Skipped(f"it has no point array {array}, only: {', '.join(image.PointData.keys())}")
    return image, array or image.PointData.keys()[0]


def contour(path, isovalue, array, target):
    """Writes the surface of one file; returns the table's row."""
    start = time.perf_counter()
    image, array = read_image(path, array)
    surface = PMBContour(Input=image, ContourBy=["POINTS", array], Isosurfaces=[isovalue], ComputeScalars=0,
                         ComputeSurfaceMeasures=1)
    surface.UpdatePipeline()
    triangles = surface.GetDataInformation().GetNumberOfCells()
    if surface.LastRun.startswith("Failed"):
        raise Skipped(surface.LastRun)
    if triangles == 0:
        low, high = image.PointData[array].GetRange()
        raise Skipped(f"no surface at {isovalue:g}: {array} goes from {low:g} to {high:g}")
    area = surface.FieldData["Area"].GetRange()[0]
    SaveData(target, proxy=surface, DataMode="Binary", CompressorType="ZLib")
    return f"{triangles:>12,} {area:>14,.1f} {time.perf_counter() - start:>8.2f}  {target}"


def main():
    arguments = read_arguments()
    written, skipped = [], []
    print(f"{'triangles':>12} {'area':>14} {'seconds':>8}  file")
    for path in arguments.files:
        name = os.path.splitext(os.path.basename(path))[0]
        target = os.path.join(arguments.output, name + ".vtp")
        try:
            if target in written:
                raise Skipped(f"{target} is the surface of another file already")
            with without_messages():
                row = contour(path, arguments.isovalue, arguments.array, target)
            written.append(target)
            print(row, flush=True)
        except Skipped as reason:
            skipped.append(f"{path}: {reason}")
        for source in GetSources().values():  # the memory of this file, before the next one
            Delete(source)
    print(f"{len(written)} surfaces, {len(skipped)} files skipped", *skipped, sep="\n  ")
    return 1 if skipped else 0


code = main()
Disconnect()
sys.exit(code)
