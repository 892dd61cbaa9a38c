# SPDX-License-Identifier: BSD-3-Clause
"""An animation over the isovalue: the pictures show the surface moving through a scan.

    ./pmb pvpython Docs/Examples/animate_isovalues.py [SCAN] [--array NAME] [--from VALUE] [--to VALUE] [--frames N]
                                                      [--output FOLDER]

The track is what View > Animation View makes in ParaView's window with the property Isosurfaces. Each frame is one change
of the isovalue: the volume is read once.
"""
import argparse
import os
import sys

from paraview.simple import *

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)


def read_arguments():
    parser = argparse.ArgumentParser(description="Pictures of an isosurface while its isovalue moves.")
    parser.add_argument("scan", nargs="?", default=os.path.join(TOP, "Data", "ch2.vti"), help="a .vti file")
    parser.add_argument("--array", default="MRI", help="the point array to contour (MRI)")
    parser.add_argument("--from", dest="first", type=float, default=30.0, help="the isovalue of the first frame (30)")
    parser.add_argument("--to", dest="last", type=float, default=110.0, help="the isovalue of the last frame (110)")
    parser.add_argument("--frames", type=int, default=9, help="how many frames (9)")
    parser.add_argument("--output", default="frames", help="the folder to write into (frames)")
    arguments = parser.parse_args()
    if "PMBContour" not in globals():
        sys.exit("The plugin ParallelMarchingBlocks is not loaded: run this with ./pmb pvpython, or set PV_PLUGIN_PATH.")
    if not os.path.isfile(arguments.scan):
        sys.exit(f"There is no file {arguments.scan}: give the name of a .vti file.")
    if arguments.frames < 2:
        sys.exit(f"--frames is {arguments.frames}: an animation needs at least 2.")
    try:
        os.makedirs(arguments.output, exist_ok=True)
    except OSError as error:
        sys.exit(f"Cannot make the folder {arguments.output}: {error.strerror}.")
    return arguments


def read_scan(path, array):
    scan = XMLImageDataReader(FileName=[path])
    scan.UpdatePipeline()
    if array not in scan.PointData.keys():
        sys.exit(f"{path} has no point array {array}; it has: {', '.join(scan.PointData.keys()) or 'none'}.")
    return scan


def make_scene(surface, first, last, frames):
    """A scene of so many frames in which the isovalue goes evenly from the first to the last."""
    scene = GetAnimationScene()
    scene.PlayMode, scene.NumberOfFrames, scene.StartTime, scene.EndTime = "Sequence", frames, 0.0, 1.0
    track = GetAnimationTrack("ContourValues", 0, surface)  # the property's name, not its label
    track.KeyFrames = [CompositeKeyFrame(KeyTime=0.0, KeyValues=[first]),
                       CompositeKeyFrame(KeyTime=1.0, KeyValues=[last])]
    return scene


def make_view(surface):
    view = CreateView("RenderView")
    view.ViewSize = [600, 500]
    display = Show(surface, view)
    display.ColorArrayName = ["POINTS", ""]
    view.ResetActiveCameraToNegativeY()
    view.ResetCamera(True)
    return view


def main():
    arguments = read_arguments()
    scan = read_scan(arguments.scan, arguments.array)
    surface = PMBContour(Input=scan, ContourBy=["POINTS", arguments.array], Isosurfaces=[arguments.first],
                         ComputeScalars=0)
    view = make_view(surface)
    scene = make_scene(surface, arguments.first, arguments.last, arguments.frames)
    print(f"{'frame':>5} {'isovalue':>9} {'triangles':>11}")
    for frame in range(arguments.frames):
        scene.AnimationTime = frame / (arguments.frames - 1)
        surface.UpdatePipeline()
        triangles = surface.GetDataInformation().GetNumberOfCells()
        print(f"{frame:>5} {surface.Isosurfaces[0]:>9.4g} {triangles:>11,}")
        SaveScreenshot(os.path.join(arguments.output, f"frame{frame:03d}.png"), view)
    # A film of the same in one line: SaveAnimation("film.ogv", view), where ParaView can write films.
    print(f"wrote {arguments.frames} pictures into {arguments.output}")
    Delete(view)


main()
Disconnect()
