# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of Docs/PYTHON.md. Needs pmb, vtk and PyVista. usage: xvfb-run -a python Docs/python_pictures.py

That of particles is drawn by PyVista, which needs a display; the others need no window."""
import pathlib

import numpy as np
import pyvista
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

import pmb
import pmb.pyvista
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


def particles():
    """A drop falls into a pool and has raised a ring of waves."""
    x, y, z = (axis.ravel() for axis in np.mgrid[-20:20.0, -20:20.0, -8:14.0])
    distance = np.hypot(x, y)
    waves = 3 * np.exp(-((distance - 10) / 4) ** 2) - 3 * np.exp(-(distance / 5) ** 2)
    drop = distance ** 2 + (z - 8) ** 2 < 16
    inside = (z < waves) | drop
    places = np.stack([x, y, z], axis=1)[inside]
    cloud = pyvista.PolyData(places + np.random.default_rng(1).uniform(-0.2, 0.2, places.shape))
    cloud["speed"] = np.where(drop, 4.0, np.exp(-((distance - 10) / 6) ** 2))[inside]
    plotter = pyvista.Plotter(off_screen=True, window_size=SIZE)
    plotter.add_mesh(cloud.pmb.surface(radius=0.5, anisotropic=True), scalars="speed", clim=(0, 1.3), specular=0.4,
                     cmap=["#1b4f8f", "#79b8e8", "#e8f6ff"], show_scalar_bar=False)
    plotter.camera_position = [(60, -50, 45), (0, 0, -2), (0, 0, 1)]
    plotter.camera.zoom(1.25)
    save("particles", plotter.screenshot(return_img=True)[..., :3])


def main():
    particles()
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
