# SPDX-License-Identifier: BSD-3-Clause
"""An isosurface of one array, colored by another one: here by how fast the samples change across the surface, so that
sharp boundaries and blurred ones are told apart.

    ./pmb pvpython Docs/Examples/color_by_second_array.py [SCAN] [--array NAME] [--isovalue VALUE] [--output PNG]

Any array of the input can take the place of the one that is computed here: the filter brings all of them to the surface
(Pass Arrays), or only those that are chosen.
"""
import argparse
import os
import sys

from paraview.simple import *

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)


def read_arguments():
    parser = argparse.ArgumentParser(description="An isosurface colored by how fast the samples change across it.")
    parser.add_argument("scan", nargs="?", default=os.path.join(TOP, "Data", "ch2.vti"), help="a .vti file")
    parser.add_argument("--array", default="MRI", help="the point array to contour (MRI)")
    parser.add_argument("--isovalue", type=float, default=45.0, help="(45)")
    parser.add_argument("--output", default="colored.png", help="the picture to write (colored.png)")
    arguments = parser.parse_args()
    if "PMBContour" not in globals():
        sys.exit("The plugin ParallelMarchingBlocks is not loaded: run this with ./pmb pvpython, or set PV_PLUGIN_PATH.")
    if not os.path.isfile(arguments.scan):
        sys.exit(f"There is no file {arguments.scan}: give the name of a .vti file.")
    if not os.path.isdir(os.path.dirname(os.path.abspath(arguments.output))):
        sys.exit(f"Cannot write {arguments.output}: there is no such folder.")
    return arguments


def read_scan(path, array):
    scan = XMLImageDataReader(FileName=[path])
    scan.UpdatePipeline()
    if array not in scan.PointData.keys():
        sys.exit(f"{path} has no point array {array}; it has: {', '.join(scan.PointData.keys()) or 'none'}.")
    return scan


def add_sharpness(scan, array):
    """The scan with a second array: the length of the gradient of the first."""
    gradient = Gradient(Input=scan, ScalarArray=["POINTS", array], ResultArrayName="Gradient")
    return Calculator(Input=gradient, ResultArrayName="Sharpness", Function="mag(Gradient)",
                      ResultArrayType="Float")


def save_picture(surface, path):
    view = CreateView("RenderView")
    view.ViewSize = [1000, 800]
    display = Show(surface, view)
    ColorBy(display, ("POINTS", "Sharpness"))
    display.RescaleTransferFunctionToDataRange(False)
    display.SetScalarBarVisibility(view, True)
    view.ResetActiveCameraToNegativeY()
    view.ResetCamera(True)
    SaveScreenshot(path, view)
    Delete(view)


def main():
    arguments = read_arguments()
    scan = read_scan(arguments.scan, arguments.array)
    # Only the array that colors the surface is brought along: memory is taken for it alone.
    surface = PMBContour(Input=add_sharpness(scan, arguments.array), ContourBy=["POINTS", arguments.array],
                         Isosurfaces=[arguments.isovalue], ChooseArrays=1, PointArrays=["Sharpness"])
    surface.UpdatePipeline()
    triangles = surface.GetDataInformation().GetNumberOfCells()
    if triangles == 0:
        low, high = scan.PointData[arguments.array].GetRange()
        sys.exit(f"No surface at {arguments.isovalue:g}: {arguments.array} goes from {low:g} to {high:g}.")
    low, high = surface.PointData["Sharpness"].GetRange()
    print(f"{triangles:,} triangles; Sharpness from {low:.3g} to {high:.3g}")
    save_picture(surface, arguments.output)
    print(f"wrote {arguments.output}")


main()
Disconnect()
