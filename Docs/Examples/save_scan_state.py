# SPDX-License-Identifier: BSD-3-Clause
"""Makes scan.pvsm, the state file beside this script: the scan of Data/, its surface, and an animation of the isovalue.

    ./pmb pvpython Docs/Examples/save_scan_state.py [FILE]
"""
import os
import sys

from paraview import servermanager
from paraview.simple import *

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def make_session():
    scan = XMLImageDataReader(registrationName="ch2.vti", FileName=[os.path.join(TOP, "Data", "ch2.vti")])
    surface = PMBContour(registrationName="head", Input=scan, ContourBy=["POINTS", "MRI"], Isosurfaces=[45.0],
                         ComputeScalars=0)
    view = CreateView("RenderView")
    AssignViewToLayout(view, CreateLayout("Layout #1"))  # ParaView's window shows views in a layout only
    display = Show(surface, view)
    display.ColorArrayName = ["POINTS", ""]
    display.DiffuseColor = [0.90, 0.74, 0.62]
    view.ResetActiveCameraToNegativeY()
    view.ResetCamera(True)
    scene = GetAnimationScene()
    scene.PlayMode, scene.NumberOfFrames, scene.StartTime, scene.EndTime = "Sequence", 17, 0.0, 1.0
    track = GetAnimationTrack("ContourValues", 0, surface)
    track.KeyFrames = [CompositeKeyFrame(KeyTime=0.0, KeyValues=[30.0]),
                       CompositeKeyFrame(KeyTime=1.0, KeyValues=[110.0])]
    for number, frame in enumerate(track.KeyFrames):  # what has no name is not saved
        servermanager.ProxyManager().RegisterProxy("animation", f"isovalue{number}", frame.SMProxy)
    scene.AnimationTime = 3.0 / 16.0  # 45


def save(path):
    """A state file names its data by absolute paths: here one that is below the top of the checkout, wherever that is."""
    SaveState(path)
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text.replace(os.path.join(TOP, ""), ""))


def main():
    if "PMBContour" not in globals():
        sys.exit("The plugin ParallelMarchingBlocks is not loaded: run this with ./pmb pvpython, or set PV_PLUGIN_PATH.")
    path = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "scan.pvsm"))
    make_session()
    save(path)
    print(f"{path}: {os.path.getsize(path):,} bytes")
    for view in GetViews():
        Delete(view)


main()
Disconnect()
