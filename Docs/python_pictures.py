# SPDX-License-Identifier: BSD-3-Clause
"""Makes the five pictures of Docs/PYTHON.md, without a window. Needs pmb and vtk. usage: python Docs/python_pictures.py"""
import pathlib

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

import pmb
import pmb.vtk

DOCS = pathlib.Path(__file__).resolve().parent
SIZE = 400, 400


def save(name, picture):
    image = vtkImageData()
    image.SetDimensions(picture.shape[1], picture.shape[0], 1)
    image.GetPointData().SetScalars(numpy_to_vtk(picture[::-1].reshape(-1, 3).copy()))
    writer = vtkPNGWriter()
    writer.SetFileName(str(DOCS / f"python_{name}.png"))
    writer.SetInputData(image)
    writer.Write()


def fire(values):
    """A colormap from black over red and yellow to white; opacity grows with the value."""
    parts = [np.clip(3 * values - i, 0, 1) for i in range(3)]
    return np.stack([*parts, values ** 2], axis=1)


def main():
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(DOCS.parent / "Data" / "ch2.vti"))
    reader.Update()
    head = pmb.vtk.volume(reader.GetOutput(), "MRI")
    front = pmb.Camera(direction=(-0.6, -0.7, -0.25), zoom=1.3)
    save("isosurface", pmb.render(head, 45, front, SIZE))
    save("isosurfaces", pmb.render(head, [45, 100], front, SIZE, colors=[(0.9, 0.75, 0.65, 0.35), (0.9, 0.9, 0.95, 1)]))
    save("composite", pmb.render(head, camera=front, size=SIZE, mode="composite", colormap=fire))
    save("maximum", pmb.render(head, camera=pmb.Camera(direction=(-1, 0, 0), zoom=1.3), size=SIZE, mode="maximum"))
    x, y, z = (3 * np.pi * axis for axis in np.ogrid[-1:1:128j, -1:1:128j, -1:1:128j])
    gyroid = np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)
    ball = x * x + y * y + z * z < 80  # outside nothing is drawn
    save("mask", pmb.render(gyroid, [-0.4, 0.4], pmb.Camera(zoom=1.6), SIZE, mask=ball))


if __name__ == "__main__":
    main()
