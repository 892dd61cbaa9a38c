# SPDX-License-Identifier: BSD-3-Clause
"""Times a ParaView user's wait from a new isovalue to the drawn picture: PMB Contour beside ParaView's Contour and
vtkFlyingEdges3D. Runs in pvpython with a display. float32, the filters' defaults, 1024 x 1024 pixels, milliseconds.

The first rows are of 8^3 samples, with next to no triangles: the time that ParaView itself takes.

Columns: `first`, update and picture after Apply; `filter`, the filter's own execution; `update`, UpdatePipeline, with the
filter; `render`, Render after it until OpenGL is done; `picture`, update and render together; `again`, the same picture
drawn once more; `turn`, a picture of a drag with the mouse."""
import ctypes
import glob
import os
import re
import time

from bench_common import ISOVALUES, milliseconds, parser_of, volume

parser = parser_of(__doc__)
parser.add_argument("--size", type=int, help="samples per side (512 with a GPU, else 256)")
parser.add_argument("--changes", type=int, default=7, help="isovalue changes of PMB Contour, of which the median counts (7)")
parser.add_argument("--peers", type=int, default=2, help="the same of the other filters (2; 0: leave them out)")
parser.add_argument("--limit", type=float, default=0,
                    help="GiB that PMB Contour may hold on a GPU: larger volumes go to several GPUs (0: no limit)")
options = parser.parse_args()

import numpy  # noqa: E402
from paraview import simple  # noqa: E402
from vtkmodules.vtkCommonCore import vtkCommand  # noqa: E402


def source_of(name, size):
    source = simple.TrivialProducer()
    source.GetClientSideObject().SetOutput(volume(name, size))
    source.UpdatePipeline()
    return source


class Stopwatch:
    """The time of an algorithm's executions."""

    def __init__(self, algorithm):
        self.begin = self.last = 0.0
        algorithm.AddObserver(vtkCommand.StartEvent, self.start)
        algorithm.AddObserver(vtkCommand.EndEvent, self.end)

    def start(self, *_):
        self.begin = time.perf_counter()

    def end(self, *_):
        self.last = 1e3 * (time.perf_counter() - self.begin)


last_run = []  # of each row


def measure(make, source, isovalue, changes, view, name):
    contour, window = make(source), view.GetRenderWindow()
    contour.SetPropertyWithName(name_of_values(contour), [isovalue])
    filter_time = Stopwatch(contour.GetClientSideObject())
    update = milliseconds(contour.UpdatePipeline)
    shown = []
    first = update + milliseconds(lambda: (shown.append(simple.Show(contour, view)), simple.Render(view)))
    simple.ResetCamera(view)
    simple.Render(view)

    def turn():
        for _ in range(20):
            view.GetActiveCamera().Azimuth(3)
            view.InteractiveRender()
            window.WaitForCompletion()

    turning = milliseconds(turn) / 20
    rows = []
    for i in range(changes):
        contour.SetPropertyWithName(name_of_values(contour), [isovalue + 1e-4 * (i + 1)])
        update = milliseconds(contour.UpdatePipeline)
        render = milliseconds(lambda: (simple.Render(view), window.WaitForCompletion()))
        again = milliseconds(lambda: (view.StillRender(), window.WaitForCompletion()))
        rows.append((filter_time.last, update, render, update + render, again))
    median = numpy.median(rows, axis=0)
    triangles = contour.GetDataInformation().GetNumberOfCells()
    print(f"| {name} | {triangles:,} | {first:.1f} | " + " | ".join(f"{value:.1f}" for value in median) +
          f" | {turning:.1f} |", flush=True)
    if getattr(contour, "LastRun", ""):
        mapper = shown[0].GetClientSideObject().GetActiveRepresentation().GetActor().GetMapper()
        of_gpu = re.search(r"NumberOfTrianglesFromGPU: (\d+)", str(mapper))
        last_run.append(f"{contour.LastRun}; triangles that the GPU gave to OpenGL: {of_gpu.group(1) if of_gpu else 0}")
    simple.Hide(contour, view)
    simple.Delete(shown[0])
    simple.Delete(contour)


def name_of_values(contour):
    return "Isosurfaces" if "Isosurfaces" in contour.ListProperties() else "ContourValues"


def main():
    if not hasattr(simple, "PMBContour"):
        simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False, ns=vars(simple))
    array = ["POINTS", "s"]
    ways = [("PMB Contour", lambda source: simple.PMBContour(Input=source, ContourBy=array, GPUMemoryLimit=options.limit))]
    if options.peers:
        ways.append(("Contour", lambda source: simple.Contour(Input=source, ContourBy=array)))
        for file in glob.glob("/usr/lib/*/paraview-*/plugins/AcceleratedAlgorithms/AcceleratedAlgorithms.so"):
            simple.LoadPlugin(file, remote=False, ns=vars(simple))
        if hasattr(simple, "FlyingEdges3D"):
            ways.append(("Flying Edges 3D",
                         lambda source: simple.FlyingEdges3D(Input=source, ContourBy=array)))
    probe = simple.PMBContour(Input=simple.Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[150])
    probe.UpdatePipeline()
    on_gpu = "GPU" in probe.LastRun and "CPU" not in probe.LastRun.split(":")[0]
    print("Last Run of a first contour:", probe.LastRun)
    size = options.size or (512 if on_gpu else 256)
    view = simple.CreateView("RenderView")
    view.ViewSize = [1024, 1024]
    simple.SetActiveView(view)
    simple.Render(view)
    print("OpenGL:", view.GetRenderWindow().ReportCapabilities().split("OpenGL renderer string:")[1].split("\n")[0].strip())
    print("| volume, filter | triangles | first | filter | update | render | picture | again | turn |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, isovalue, size in [("cayley", ISOVALUES["cayley"], 8)] + [(*item, size) for item in ISOVALUES.items()]:
        source = source_of(name, size)
        for way, make in ways:
            measure(make, source, isovalue, options.changes if make is ways[0][1] else options.peers, view,
                    f"{name} {size}^3, {way}")
        simple.Delete(source)
    print("\n".join(last_run))


main()
ctypes.CDLL(None).fflush(None)  # from ParaView 5.13 on Python's output goes through C's
os._exit(0)  # a live view can make the exit code of a success 1
