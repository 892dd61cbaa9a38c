# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of regular grids by Parallel Marching Blocks: vtkPMBContourFilter and vtkPMBIsovalueHistogram, for use with VTK's Python modules."""
from .vtkPMBContour import vtkPMBContourFilter, vtkPMBIsovalueHistogram

__all__ = ["vtkPMBContourFilter", "vtkPMBIsovalueHistogram"]
