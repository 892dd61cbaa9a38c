# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of regular grids by Parallel Marching Blocks, for use with VTK's Python modules: vtkPMBContourFilter, and
vtkPMBContourAcceleration, which lets VTK's own contour filters do their work by it."""
from .vtkPMBContour import vtkPMBContourAcceleration, vtkPMBContourFilter

__all__ = ["vtkPMBContourAcceleration", "vtkPMBContourFilter"]
