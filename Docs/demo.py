# SPDX-License-Identifier: BSD-3-Clause
"""Contours the head of Data/ch2.vti with PMB Contour, and with ParaView's own Contour beside it.

Usage: ./pmb demo, or ./pmb pvpython Docs/demo.py [FOLDER]

Writes FOLDER/demo.png, FOLDER/demo.vtp and FOLDER/rays.png (FOLDER: out/ in the current folder) and prints a table. Both
filters make normals and no scalars, on the volume already in memory. "first" is the first extraction; "next" the median
of 5 changes of the isovalue. rays.png has the mesh on the left, and the same surface by rays, without a mesh, on the right.
"""
import os
import sys
import time

from paraview import servermanager
from paraview.simple import *

HERE = os.path.dirname(os.path.abspath(__file__))
SCAN = os.path.join(HERE, os.pardir, "Data", "ch2.vti")
ISOVALUE = 45.0
CORNER = (-4.0, -12.0, 24.0)  # the picture has the head cut open from here to the left, the front and the top


def milliseconds(proxy):
    start = time.perf_counter()
    proxy.UpdatePipeline()
    return 1e3 * (time.perf_counter() - start)


def measure(contour):
    """First extraction, then isovalue changes; leaves the contour at ISOVALUE."""
    first = milliseconds(contour)
    changes = []
    for change in range(5):
        contour.Isosurfaces = [ISOVALUE + (0.5 if change % 2 == 0 else 0.0)]
        changes.append(milliseconds(contour))
    contour.Isosurfaces = [ISOVALUE]
    contour.UpdatePipeline()
    return first, sorted(changes)[2]


def area(contour):
    """The mesh's area, by ParaView's Integrate Variables."""
    total = IntegrateVariables(Input=contour)
    total.UpdatePipeline()
    result = servermanager.Fetch(total).GetCellData().GetArray("Area").GetValue(0)
    Delete(total)
    return result


def facts(contour, device):
    first, change = measure(contour)
    information = contour.GetDataInformation()
    return [f"{information.GetNumberOfPoints():,}", f"{information.GetNumberOfCells():,}", f"{area(contour):,.1f} mm2",
            f"{first:.1f}", f"{change:.1f}", device(contour)]


def last_run(contour):
    """The device, and the reason why it is not the GPU or "": the beginning of Last Run."""
    device, _, reason = contour.LastRun.split(": ")[0].partition(" because ")
    return device, reason


def print_table(scan, ours, theirs):
    information = scan.GetDataInformation()
    extent = information.GetExtent()
    dims = " x ".join(str(extent[2 * axis + 1] - extent[2 * axis] + 1) for axis in range(3))
    kind = scan.PointData["MRI"].GetRange()
    volume = f"ch2.vti, {dims}, uint8, {kind[0]:g}..{kind[1]:g}"
    labels = ["points", "triangles", "area", "milliseconds, first", "milliseconds, next", "device"]
    rows = [["", "PMB Contour", "ParaView's Contour"], ["volume", volume, "the same"],
            ["isovalue", f"{ISOVALUE:g}", f"{ISOVALUE:g}"], *zip(labels, ours, theirs)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for row in rows:
        print(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}")


def show_surface(contour, view):
    """The surface, without the corner."""
    opened = Clip(Input=contour, ClipType="Box", Invert=0)
    opened.ClipType.Position = [CORNER[0] - 200.0, CORNER[1], CORNER[2]]
    opened.ClipType.Length = [200.0, 200.0, 200.0]
    opened.Exact = 1
    display = Show(opened, view)
    display.ColorArrayName = ["POINTS", ""]
    display.DiffuseColor = [0.90, 0.74, 0.62]
    display.Specular = 0.2
    display.SpecularPower = 30.0


def show_slices(scan, view):
    """The scan on the three faces of the corner, where it is at least the isovalue: the edges of these slices
    and of the surface meet."""
    colors = GetColorTransferFunction("MRI")
    colors.ColorSpace = "RGB"
    colors.RGBPoints = [ISOVALUE, 0.16, 0.14, 0.16, 150.0, 0.97, 0.96, 0.94]
    origin, (right, front, top) = (-90.0, -125.0, -71.0), (180, 216, 180)
    i, j, k = (int(c - o) for c, o in zip(CORNER, origin))
    for box in ([i, i, j, front, k, top], [0, i, j, j, k, top], [0, i, j, front, k, k]):
        face = ExtractSubset(Input=scan, VOI=box)
        inside = Clip(Input=face, ClipType="Scalar", Scalars=["POINTS", "MRI"], Value=ISOVALUE, Invert=0)
        display = Show(inside, view)
        ColorBy(display, ("POINTS", "MRI"))
        display.LookupTable = colors
        display.Ambient, display.Diffuse = 0.6, 0.5
        display.SetScalarBarVisibility(view, False)


def make_view():
    view = CreateView("RenderView")
    view.OrientationAxesVisibility = 0
    view.UseColorPaletteForBackground = 0
    view.BackgroundColorMode = "Gradient"
    view.Background, view.Background2 = [0.84, 0.88, 0.93], [1.0, 1.0, 1.0]
    view.CameraFocalPoint, view.CameraPosition = [-2.0, -14.0, 16.0], [-330.0, 400.0, 190.0]
    view.CameraViewUp, view.CameraViewAngle = [0.0, 0.0, 1.0], 23.0
    return view


def save_picture(scan, contour, path):
    view = make_view()
    show_surface(contour, view)
    show_slices(scan, view)
    SaveScreenshot(path, view, ImageResolution=[1200, 1000])
    Delete(view)


def save_pair(scan, contour, path):
    """The mesh beside the isosurface by rays."""
    layout, views = CreateLayout(), [make_view(), make_view()]
    layout.SplitHorizontal(0, 0.5)
    for view, shown, kind in zip(views, (contour, scan), ("Surface", "Isosurface")):
        AssignViewToLayout(view=view, layout=layout)
        display = Show(shown, view)
        display.ColorArrayName = ["POINTS", ""]
        display.AmbientColor = display.DiffuseColor = [0.90, 0.74, 0.62]
        display.SetRepresentationType(kind)
        if kind == "Isosurface":
            display.IsosurfaceValues = [ISOVALUE]
    SaveScreenshot(path, layout, ImageResolution=[1600, 800])
    for view in views:
        Delete(view)


def main(arguments):
    folder = os.path.abspath(arguments[0] if arguments else "out")
    os.makedirs(folder, exist_ok=True)
    scan = XMLImageDataReader(FileName=[SCAN])
    scan.UpdatePipeline()
    options = {"Input": scan, "ContourBy": ["POINTS", "MRI"], "Isosurfaces": [ISOVALUE], "ComputeNormals": 1,
               "ComputeGradients": 0, "ComputeScalars": 0}
    ours = PMBContour(**options)
    theirs = Contour(**options)
    print_table(scan, facts(ours, lambda contour: last_run(contour)[0]), facts(theirs, lambda contour: "CPU, 1 thread"))
    reason = last_run(ours)[1]
    if reason:
        print(f"the GPU is not used: {reason}")
    save_picture(scan, ours, os.path.join(folder, "demo.png"))
    save_pair(scan, ours, os.path.join(folder, "rays.png"))
    # Not "Appended", the default: VTK 9.2 cannot read that with newer versions of expat.
    SaveData(os.path.join(folder, "demo.vtp"), proxy=ours, DataMode="Binary", CompressorType="ZLib")
    for name in ("demo.png", "demo.vtp", "rays.png"):
        print(f"{os.path.join(folder, name)}: {os.path.getsize(os.path.join(folder, name)):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
    Disconnect()
