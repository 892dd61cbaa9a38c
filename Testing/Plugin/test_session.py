# SPDX-License-Identifier: BSD-3-Clause
"""The filter in a session: composite input, state files, undo, animation of the isovalue, copies from a Contour."""
import os
import tempfile

from paraview import simple
from paraview.modules.vtkRemotingServerManager import vtkSMProxyManager, vtkSMUndoStack, vtkSMUndoStackBuilder
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet

from plugin_testing import ball, counts, equal, flying_edges, image, load_plugin, output, producer, run, true

DIMS = (30, 29, 28)


def composite():
    """A multi-block of volumes gives a multi-block of surfaces, each as from its volume alone."""
    blocks = [image({"samples": ball(DIMS)}, DIMS),
              image({"samples": ball(DIMS, center=(4.0, 5.0, 6.0))}, DIMS, first=(29, 0, 0))]
    data = vtkMultiBlockDataSet()
    for number, block in enumerate(blocks):
        data.SetBlock(number, block)
    proxy = simple.PMBContour(Input=producer(data), ContourBy=["POINTS", "samples"], Isosurfaces=[91.0],
                              RemoveDegenerateTriangles=0)
    result = output(proxy)
    equal(result.GetClassName(), "vtkMultiBlockDataSet", "class of the output")
    equal(result.GetNumberOfBlocks(), 2, "blocks")
    for number, block in enumerate(blocks):
        equal(counts(result.GetBlock(number)), counts(flying_edges(block, 91.0)), f"block {number}")
    proxy.Isosurfaces = [92.5]
    result = output(proxy)
    for number, block in enumerate(blocks):
        equal(counts(result.GetBlock(number)), counts(flying_edges(block, 92.5)), f"block {number}, new isovalue")


def state_file():
    """Saved, the session cleared, loaded: the same properties and the same mesh."""
    wavelet = simple.Wavelet(WholeExtent=[-20, 20, -20, 20, -20, 20])
    settings = {"ContourBy": ["POINTS", "RTData"], "Isosurfaces": [157.0, 200.0], "ComputeNormals": 0,
                "ComputeGradients": 1, "ComputeScalars": 0, "PassArrays": 0, "RemoveDegenerateTriangles": "Off",
                "OutputPointsPrecision": "Double", "RunOn": "GPU (CUDA)"}
    proxy = simple.PMBContour(Input=wavelet, registrationName="surface", **settings)
    advanced = {"NumberOfThreads": 2, "DeviceIndex": 0, "DeviceMemoryLimit": 1.5}
    for name, value in advanced.items():
        proxy.SetPropertyWithName(name, value)
    before = counts(output(proxy))
    true(before[1] > 0, "a surface to save")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.pvsm")
        simple.SaveState(path)
        simple.ResetSession()
        equal(simple.GetSources(), {}, "sources after the reset")
        simple.LoadState(path)
    loaded = simple.FindSource("surface")
    true(loaded is not None, "the filter is not in the state file")
    for name, value in settings.items():
        data = loaded.GetPropertyValue(name)
        equal(list(data) if isinstance(value, list) else data, value, name)
    for name, value in advanced.items():
        equal(loaded.GetProperty(name).GetData(), value, name)
    equal(counts(output(loaded)), before, "points and triangles")
    true(f" {before[1]} triangles" in loaded.LastRun, f"{before[1]} triangles, but the last run is {loaded.LastRun!r}")


def undo():
    manager = vtkSMProxyManager.GetProxyManager()
    stack, builder = vtkSMUndoStack(), vtkSMUndoStackBuilder()
    builder.SetUndoStack(stack)
    manager.SetUndoStackBuilder(builder)

    def step(name, change):
        builder.Begin(name)
        result = change()
        builder.End()
        builder.PushToStack()
        return result

    try:
        wavelet = simple.Wavelet(WholeExtent=[-10, 10, -10, 10, -10, 10])
        proxy = step("create", lambda: simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"],
                                                         Isosurfaces=[157.0], registrationName="undone"))
        first = counts(output(proxy))
        step("move", lambda: setattr(proxy, "Isosurfaces", [200.0]))
        second = counts(output(proxy))
        true(first != second, "the isovalue makes no difference")
        for action, value, expected in ((stack.Undo, 157.0, first), (stack.Redo, 200.0, second)):
            action()
            proxy.UpdateVTKObjects()
            equal(list(proxy.Isosurfaces), [value], "isovalue")
            equal(counts(output(proxy)), expected, f"points and triangles at {value}")
        stack.Undo()
        stack.Undo()
        equal(simple.FindSource("undone"), None, "the filter after its creation was undone")
        stack.Redo()
        true(simple.FindSource("undone") is not None, "the filter is not there after redo")
    finally:
        manager.SetUndoStackBuilder(None)


def animation():
    """The isovalue as an animation track: the mesh of each time step."""
    wavelet = simple.Wavelet(WholeExtent=[-10, 10, -10, 10, -10, 10])
    proxy = simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0],
                              RemoveDegenerateTriangles=0)
    volume = output(wavelet)
    scene = simple.GetAnimationScene()
    scene.PlayMode, scene.NumberOfFrames, scene.StartTime, scene.EndTime = "Sequence", 5, 0.0, 1.0
    track = simple.GetAnimationTrack("ContourValues", 0, proxy)
    track.KeyFrames = [simple.CompositeKeyFrame(KeyTime=time, KeyValues=[value])
                       for time, value in ((0.0, 100.0), (1.0, 200.0))]
    for time, value in ((0.0, 100.0), (0.5, 150.0), (1.0, 200.0)):
        scene.AnimationTime = time
        equal(list(proxy.Isosurfaces), [value], f"isovalue at {time}")
        equal(counts(output(proxy)), counts(flying_edges(volume, value)), f"points and triangles at {time}")


def copied_from_contour():
    """The property names are Contour's: what a user copies from one arrives in the other."""
    wavelet = simple.Wavelet()
    wavelet.UpdatePipeline()
    stock = simple.Contour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[111.0, 222.0],
                           ComputeNormals=0, ComputeGradients=1)
    proxy = simple.PMBContour(Input=wavelet)
    proxy.SMProxy.Copy(stock.SMProxy)
    proxy.UpdateVTKObjects()
    equal(list(proxy.Isosurfaces), [111.0, 222.0], "isovalues")
    equal(list(proxy.ContourBy), ["POINTS", "RTData"], "array")
    equal((proxy.ComputeNormals, proxy.ComputeGradients), (0, 1), "normals and gradients")


load_plugin()
run(composite, state_file, undo, animation, copied_from_contour)
