# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of regular grids by Parallel Marching Blocks: vtkPMBContourFilter, for use with VTK's Python modules."""
from .vtkPMBContour import vtkPMBContourFilter

__all__ = ["vtkPMBContourFilter"]
