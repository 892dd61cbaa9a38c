# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of regular grids by Parallel Marching Blocks, for use with VTK's Python modules: vtkPMBContourFilter;
vtkPMBIsovalueHistogram, which shows what isovalues are worth a look; and vtkPMBContourAcceleration, which lets VTK's own
contour filters do their work by vtkPMBContourFilter."""
from .vtkPMBContour import vtkPMBContourAcceleration, vtkPMBContourFilter, vtkPMBIsovalueHistogram

__all__ = ["vtkPMBContourAcceleration", "vtkPMBContourFilter", "vtkPMBIsovalueHistogram"]
