# SPDX-License-Identifier: BSD-3-Clause
"""What the choices of Normals By look like on a scan, and how exact they are on a ball.

Usage: ./pmb pvpython Docs/normals.py [FOLDER]

Writes FOLDER/normals.png (FOLDER: out/ in the current folder): a part of Data/ch2.vti without normals and by each
choice. Prints the mean angle between the normals and those of a ball with a radius of 30 samples, whose samples fall from
200 to 50 over 6 of them, as bytes like those of a scan: without noise, and with noise of a standard deviation of 10.
"""
import os
import sys

import numpy
from paraview import servermanager
from paraview.simple import *
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter
from vtkmodules.vtkImagingColor import vtkImageLuminance

HERE = os.path.dirname(os.path.abspath(__file__))
SCAN = os.path.join(HERE, os.pardir, "Data", "ch2.vti")
ISOVALUE = 45.0
CHOICES = ("Central Differences", "Forward Differences", "Sobel 3x3x3")
RADIUS, SLOPE, MIDDLE, SIZE = 30.0, 25.0, 125.0, 73


def make_ball(noise):
    """A ball as a scan would show it, in bytes; its surface is at MIDDLE."""
    center = (SIZE - 1) / 2 + 0.3
    z, y, x = numpy.mgrid[0:SIZE, 0:SIZE, 0:SIZE] - center
    samples = MIDDLE + numpy.clip(SLOPE * (RADIUS - numpy.sqrt(x * x + y * y + z * z)), -75.0, 75.0)
    samples += noise * numpy.random.default_rng(1).standard_normal(samples.shape)
    data = vtkImageData()
    data.SetDimensions(SIZE, SIZE, SIZE)
    data.SetOrigin(-center, -center, -center)
    array = numpy_to_vtk(numpy.clip(numpy.rint(samples), 0, 255).astype(numpy.uint8).ravel(), deep=True)
    array.SetName("ball")
    data.GetPointData().SetScalars(array)
    source = TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    source.UpdatePipeline()
    return source


def mean_angle(contour):
    """Degrees between the normals and the directions from the center, of the points within a sample of the surface."""
    contour.UpdatePipeline()
    mesh = servermanager.Fetch(contour)
    points = vtk_to_numpy(mesh.GetPoints().GetData()).astype(float)
    normals = vtk_to_numpy(mesh.GetPointData().GetNormals()).astype(float)
    distances = numpy.linalg.norm(points, axis=1)
    near = abs(distances - RADIUS) < 1.0
    cosines = numpy.einsum("ij,ij->i", points, normals)[near] / distances[near]
    return numpy.degrees(numpy.arccos(numpy.clip(cosines, -1.0, 1.0))).mean()


def print_angles():
    balls = [PMBContour(Input=make_ball(noise), ContourBy=["POINTS", "ball"], Isosurfaces=[MIDDLE])
             for noise in (0.0, 10.0)]
    print(f"{'mean angle to the exact normal':<32}{'no noise':<12}noise")
    for choice in CHOICES:
        for ball in balls:
            ball.NormalsBy = choice
        clean, noisy = (f"{mean_angle(ball):.1f}" for ball in balls)
        print(f"{choice:<32}{clean:<12}{noisy}")


def show(contour, title, layout, place):
    """A view of the surface, with its title."""
    view = CreateView("RenderView")
    AssignViewToLayout(view, layout, place)
    view.OrientationAxesVisibility = 0
    view.UseColorPaletteForBackground = 0
    view.Background = [1.0, 1.0, 1.0]
    view.CameraFocalPoint, view.CameraPosition = [-16.0, 84.0, -28.0], [-108.0, 280.0, 2.0]
    view.CameraViewUp, view.CameraViewAngle = [0.0, 0.0, 1.0], 21.0
    display = Show(contour, view)
    display.ColorArrayName = ["POINTS", ""]
    display.DiffuseColor = [0.8, 0.8, 0.8]
    display.Specular, display.SpecularPower = 0.25, 30.0
    text = Show(Text(Text=title), view)
    text.FontSize, text.Bold, text.Color = 11, 1, [0.1, 0.1, 0.1]
    text.WindowLocation = "Upper Left Corner"
    return view


def save_picture(path):
    scan = XMLImageDataReader(FileName=[SCAN])
    layout = CreateLayout("normals")
    layout.SplitHorizontal(0, 0.5)
    layout.SplitVertical(1, 0.5)
    layout.SplitVertical(2, 0.5)
    titles = ["No normals", "Forward Differences", "Central Differences", "Sobel 3x3x3"]
    for title, place in zip(titles, (3, 5, 4, 6)):
        contour = PMBContour(Input=scan, ContourBy=["POINTS", "MRI"], Isosurfaces=[ISOVALUE], ComputeScalars=0,
                             ComputeNormals=int(title in CHOICES))
        if title in CHOICES:
            contour.NormalsBy = title
        show(contour, title, layout, place)
    SaveScreenshot(path, layout, ImageResolution=[960, 740], SeparatorWidth=4, SeparatorColor=[1.0, 1.0, 1.0])
    take_colors_out(path)


def take_colors_out(path):
    """Rewrites a picture in shades of gray: the file is a third as large."""
    reader, gray, writer = vtkPNGReader(), vtkImageLuminance(), vtkPNGWriter()
    reader.SetFileName(path)
    gray.SetInputConnection(reader.GetOutputPort())
    writer.SetInputConnection(gray.GetOutputPort())
    writer.SetFileName(path)
    writer.SetCompressionLevel(9)
    gray.Update()
    writer.Write()


def main(arguments):
    folder = os.path.abspath(arguments[0] if arguments else "out")
    os.makedirs(folder, exist_ok=True)
    print_angles()
    path = os.path.join(folder, "normals.png")
    save_picture(path)
    print(f"{path}: {os.path.getsize(path):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
    Disconnect()
