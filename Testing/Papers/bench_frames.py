# SPDX-License-Identifier: BSD-3-Clause
"""Frames per second with drawing, as tables 2 and 3 of the PMB paper count them: a plain VTK window, Cayley's surface, a new
isovalue for each frame, and the same while it turns. This filter with vtkPMBPolyDataMapper, and with VTK's own mapper. The
first row has 8^3 samples: what the window itself takes. The last line: what ParaView takes for next to nothing."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Benchmarks"))
from bench_common import ISOVALUES, milliseconds, parser_of, volume  # noqa: E402

parser = parser_of(__doc__, "./pmb pvpython Testing/Papers/bench_frames.py")
parser.add_argument("--sides", type=int, nargs="+", default=[8, 256, 512], help="samples along each axis")
parser.add_argument("--pixels", type=int, default=1024, help="the window's width and height")
parser.add_argument("--seconds", type=float, default=4, help="of each row and mapper")
options = parser.parse_args()

from pmb import vtkPMBContourFilter  # noqa: E402
from pmb.vtkPMBRendering import vtkPMBPolyDataMapper  # noqa: E402
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow  # noqa: E402
from vtkmodules import vtkRenderingOpenGL2  # noqa: E402, F401

PAPER = {512: ("193", "69", "26")}  # table 2: PMB, hpmc, nvsdk


class Scene:
    """A filter, a mapper and a window of their own."""
    def __init__(self, image, mapper):
        self.contour, self.window, self.renderer, actor = vtkPMBContourFilter(), vtkRenderWindow(), vtkRenderer(), vtkActor()
        self.contour.SetInputData(image)
        self.contour.ComputeScalarsOff()
        self.contour.SetValue(0, ISOVALUES["cayley"])
        mapper.SetInputConnection(self.contour.GetOutputPort())
        actor.SetMapper(mapper)
        self.renderer.AddActor(actor)
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(0)
        self.window.SetSize(options.pixels, options.pixels)
        self.window.AddRenderer(self.renderer)

    def frames_per_second(self, turns):
        frame, spent = -3, 0.0  # the first allocate
        while spent < 1e3 * options.seconds:
            self.contour.SetValue(0, ISOVALUES["cayley"] + 1e-5 * (frame % 16))
            if turns:
                self.renderer.GetActiveCamera().Azimuth(3)
            took = milliseconds(lambda: (self.window.Render(), self.window.WaitForCompletion()))
            spent += took if frame >= 0 else 0
            frame += 1
        return frame * 1e3 / spent


def row(side):
    image, rates = volume("cayley", side), []
    for mapper in vtkPMBPolyDataMapper(), vtkPolyDataMapper():
        scene = Scene(image, mapper)
        rates += [f"{scene.frames_per_second(turns):.1f}" for turns in (False, True)]
        if mapper.IsA("vtkPMBPolyDataMapper"):
            made, drawn, of_gpu = (scene.contour.GetOutput().GetNumberOfPolys(), mapper.GetNumberOfDrawnTriangles(),
                                   mapper.GetNumberOfTrianglesFromGPU())
            said = scene.contour.GetLastRunSummary()
            opengl = scene.window.ReportCapabilities().split("OpenGL renderer string:")[1].split("\n")[0].strip()
        scene.window.Finalize()
    cells = [f"Cayley {side}^3", f"{made:,}", f"{drawn:,}", f"{of_gpu:,}", *rates, *PAPER.get(side, ("",) * 3)]
    print("| " + " | ".join(cells) + " |", flush=True)
    return f"{opengl}; last run: {said}"


def paraview_floor():
    """Frames per second of a ParaView view with a sphere of 96 triangles whose radius changes."""
    from paraview import simple
    sphere, view = simple.Sphere(), simple.CreateView("RenderView")
    view.ViewSize = [options.pixels, options.pixels]
    simple.Show(sphere, view)
    times = []
    while sum(times[3:]) < 1e3 * options.seconds:
        sphere.Radius = 1 + len(times) % 16 / 100
        times.append(milliseconds(lambda: simple.Render(view)))
    return 1e3 * len(times[3:]) / sum(times[3:])


HEADS = ("volume", "triangles", "drawn", "of the GPU", "PMB, frames/s", "turning", "VTK's mapper", "turning", "paper: PMB",
         "hpmc", "nvsdk")
print("|", " | ".join(HEADS), "|\n" + "|---" * len(HEADS) + "|")
print("OpenGL by", [row(side) for side in options.sides][-1])
print(f"ParaView's own floor: {paraview_floor():.1f} frames/s")
