# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures scenes_*.png of RAYS.md from those of two versions of the plugin.

usage: pvpython Docs/scenes.py BEFORE NOW OUT
  BEFORE, NOW  folders written by Testing/Plugin/test_scenes.py --pictures FOLDER with each version's plugin in $PMB_PLUGIN
"""
import os
import sys

import numpy
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter

WIDTH = 320  # of a picture of the table of scenes
# name: row of the table, part that is shown (left, bottom, width, height), magnification
PICTURES = {
    "axes_grid": ("Isosurface: Axes Grid", (60, 20, 220, 200), 1),
    "stereo": ("PMB Contour, many: after stereo", (100, 60, 80, 60), 3),
    "silhouette": ("Isosurface: several samples", (88, 130, 40, 30), 6),
}


def read(folder, row):
    reader = vtkPNGReader()
    reader.SetFileName(os.path.join(folder, row.replace(" ", "_") + ".png"))
    reader.Update()
    width, height, _ = reader.GetOutput().GetDimensions()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).reshape(height, width, 3)


def shown(picture, part, magnification):
    left, bottom, width, height = part
    cut = picture[bottom:bottom + height, left:left + width]
    return cut.repeat(magnification, axis=0).repeat(magnification, axis=1)


def main():
    before, now, out = sys.argv[1:]
    for name, (row, *how) in PICTURES.items():
        newer = read(now, row)  # beside VTK's own
        columns = [read(before, row)[:, :WIDTH], newer[:, :WIDTH], newer[:, WIDTH:2 * WIDTH]]
        joined = numpy.ascontiguousarray(numpy.concatenate([shown(column, *how) for column in columns], axis=1))
        image = vtkImageData()
        image.SetDimensions(joined.shape[1], joined.shape[0], 1)
        image.GetPointData().SetScalars(numpy_to_vtk(joined.reshape(-1, 3), deep=True))
        writer = vtkPNGWriter()
        writer.SetFileName(os.path.join(out, f"scenes_{name}.png"))
        writer.SetCompressionLevel(9)
        writer.SetInputData(image)
        writer.Write()


main()
