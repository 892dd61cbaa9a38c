# SPDX-License-Identifier: BSD-3-Clause
"""The Python package pmb with VTK, without ParaView: as many triangles as vtkFlyingEdges3D, from a scan beside this file."""
import os

from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

from pmb import vtkPMBContourFilter

reader = vtkXMLImageDataReader()
reader.SetFileName(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ch2.vti"))
counts = []
for contour in (vtkPMBContourFilter(), vtkFlyingEdges3D()):
    contour.SetInputConnection(reader.GetOutputPort())
    contour.SetInputArrayToProcess(0, 0, 0, 0, "MRI")
    contour.SetValue(0, 44.5)
    contour.Update()
    counts.append(contour.GetOutput().GetNumberOfPolys())
if counts[0] != counts[1] or counts[0] < 1000:
    raise SystemExit(f"FAILED: {counts[0]} triangles, and {counts[1]} of vtkFlyingEdges3D")
print(f"{counts[0]} triangles")
