# SPDX-License-Identifier: BSD-3-Clause
"""Repeats tables 2 and 3 of the PMB paper with drawing: frames per second, a new isovalue for each frame, in a plain VTK
window of 1024 x 1024 pixels. vtkPMBContourFilter with vtkPMBPolyDataMapper, and with VTK's own mapper.

Table 2 has Cayley's surface, here stored in floats; table 3 gyroids with about as many triangles as the paper's scans.
The first row has 8^3 samples: the time that the window takes without a surface. bench_picture.py has ParaView's views."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Benchmarks"))
from bench_common import cayley, gyroid, image_of, parser_of  # noqa: E402

parser = parser_of(__doc__)
parser.add_argument("--rows", type=int, default=100, help="the first so many of each table (all)")
parser.add_argument("--frames", type=int, default=20, help="per row (20); a row ends early after 10 s")
parser.add_argument("--reduce", type=int, default=0, help="sides divided by 2^N (0)")
parser.add_argument("--table", choices=("2", "3"))
options = parser.parse_args()

import numpy  # noqa: E402
from pmb import vtkPMBContourFilter  # noqa: E402
from pmb.vtkPMBRendering import vtkPMBPolyDataMapper  # noqa: E402
from vtkmodules.vtkRenderingCore import vtkActor, vtkRenderer, vtkRenderWindow  # noqa: E402
from vtkmodules.vtkRenderingOpenGL2 import vtkOpenGLPolyDataMapper  # noqa: E402

# Sides, then nvsdk's, hpmc's and PMB's frames per second in the paper; 0: "fail".
TABLE_2 = (((512, 512, 512), 25.6, 69.3, 193.1), ((512, 512, 1024), 13.3, 58.3, 138.7), ((1024, 1024, 512), 0, 0, 87.5),
           ((1024, 1024, 1024), 0, 0, 55.2), ((1024, 1024, 2048), 0, 0, 32.5), ((2048, 2048, 1024), 0, 0, 21.3))
# The data set's name, sides and million triangles before the same.
CUBE, LONG = (512, 512, 512), (512, 512, 1024)
TABLE_3 = (("visMale", CUBE, 2.8, 23.8, 56.5, 135.2), ("backpack", CUBE, 3.8, 23.0, 49.5, 136.8),
           ("hazelnut", CUBE, 3.4, 23.2, 53.6, 123.2), ("Xmastree", CUBE, 1.5, 25.3, 67.2, 218.9),
           ("ncat", CUBE, 2.5, 23.9, 58.5, 145.8), ("aneurism", CUBE, 0.7, 26.3, 75.3, 360.1),
           ("trabecula", CUBE, 1.6, 25.0, 66.1, 194.7), ("macoessix", CUBE, 3.8, 22.8, 48.6, 99.8),
           ("abdomen", CUBE, 3.3, 23.2, 52.3, 120.5), ("manix", CUBE, 3.3, 23.3, 53.6, 122.2),
           ("melanix", LONG, 2.5, 0, 55.9, 163.3), ("visFemale", LONG, 3.4, 0, 50.6, 126.8),
           ("stagBeetle", (1024, 1024, 512), 6.5, 0, 0, 61.3), ("flower", (1024, 1024, 1024), 22.1, 0, 0, 18.5),
           ("rm", (1024, 1024, 1024), 49.4, 0, 0, 8.3), ("beechnut", (1024, 1024, 1546), 64.2, 0, 0, 6.2))
ISOVALUES = {False: -0.012, True: 0.1}  # of Cayley's surface, of the gyroid


def image(dims, period=0.0):
    """Cayley's surface, or gyroids of a period in samples."""
    samples = numpy.empty(dims[::-1], numpy.float32)
    axes = [numpy.arange(n) * (2 * numpy.pi / period) + 1 if period else numpy.linspace(-1, 1, n) for n in dims]
    x, y, zs = (axis.astype(numpy.float32) for axis in axes)
    for k, z in enumerate(zs):
        place = x[None, :], y[:, None], z
        samples[k] = gyroid(*place, 1) if period else cayley(*place)
    return image_of(samples)


def period_for(dims, triangles):
    """The period that gives so many triangles, found with an eighth of the samples along each axis."""
    period = 9.5 * dims[0] * dims[1] * dims[2] / triangles
    contour = vtkPMBContourFilter()
    contour.SetValue(0, ISOVALUES[True])
    for _ in range(12):
        contour.SetInputData(image([max(n // 8, 4) for n in dims], period / 8))
        contour.Update()
        period *= (64 * max(contour.GetOutput().GetNumberOfCells(), 1) / triangles) ** 0.5
    return period


def frames_per_second(data, isovalue, direct):
    """Frames per second, triangles, and how many of them the GPU gave to OpenGL."""
    contour, window, renderer, actor = vtkPMBContourFilter(), vtkRenderWindow(), vtkRenderer(), vtkActor()
    contour.SetInputData(data)
    contour.ComputeScalarsOff()
    mapper = vtkPMBPolyDataMapper() if direct else vtkOpenGLPolyDataMapper()
    mapper.SetInputConnection(contour.GetOutputPort())
    actor.SetMapper(mapper)
    renderer.AddActor(actor)
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(1024, 1024)
    window.AddRenderer(renderer)
    contour.SetValue(0, isovalue)
    for frame in range(-3, options.frames):
        if frame == 0:
            begin = time.perf_counter()
        contour.SetValue(0, isovalue + 1e-5 * frame)
        window.Render()
        window.WaitForCompletion()
        if frame >= 0 and time.perf_counter() - begin > 10:
            break
    rate = (frame + 1) / (time.perf_counter() - begin)
    triangles = contour.GetOutput().GetNumberOfCells()
    return rate, triangles, mapper.GetNumberOfTrianglesFromGPU() if direct else 0, window


def row(name, dims, triangles, paper):
    """Measures and prints a row. triangles: to be reached by gyroids; 0: Cayley's surface."""
    small = [max(n >> options.reduce, 8) for n in dims]
    triangles *= 1e6 / 4 ** options.reduce
    data = image(small, period_for(small, triangles) if triangles else 0)
    isovalue = ISOVALUES[triangles > 0]
    rate, made, of_gpu, window = frames_per_second(data, isovalue, True)
    of_vtk = frames_per_second(data, isovalue, False)[0]
    if name == "window":
        print("OpenGL:", window.ReportCapabilities().split("OpenGL renderer string:")[1].split("\n")[0].strip())
        print("| volume | triangles | of them from the GPU | PMB, frames/s | VTK's mapper | paper: PMB | hpmc | nvsdk |")
        print("|---" * 8 + "|")
    published = " | ".join(f"{value:g}" if value else "fail" for value in paper) if any(paper) else " | | "
    sides = " x ".join(str(n) for n in small)
    print(f"| {name} {sides} | {made:,} | {of_gpu:,} | {rate:.1f} | {of_vtk:.1f} | {published} |", flush=True)


row("window", (8, 8, 8), 0, (0, 0, 0))
for dims, *paper in TABLE_2[:options.rows] if options.table != "3" else ():
    row("Cayley", dims, 0, paper[::-1])
for name, dims, triangles, *paper in TABLE_3[:options.rows] if options.table != "2" else ():
    row(name, dims, triangles, paper[::-1])
