# SPDX-License-Identifier: BSD-3-Clause
"""Drop-in for mcubes.marching_cubes (PyMCubes)."""
from __future__ import annotations

import math
from ctypes import c_float
from typing import Any

import numpy as np

from .._arrays import copied
from .._volume import contour


def marching_cubes(volume: Any, isovalue: float) -> tuple[Any, Any]:
    """Extract an isosurface, with the results of `mcubes.marching_cubes`.

    Points lie at the same places, and triangles have the same orientation. Their order is another, and ambiguous cells may
    be triangulated differently, without seams. Points are as exact as float32. The isovalue is rounded to float32, as the
    original does. Cells with a sample that is not finite give no triangle: the original may give points of NaN there.

    Returns
    -------
    vertices : (V, 3) float64 array
    triangles : (F, 3) uint64 array

    Raises
    ------
    TypeError
        The volume is no NumPy array, or the isovalue no number.
    RuntimeError
        The volume is not 3-d, or has no real numbers.

    Examples
    --------
    >>> import numpy
    >>> from pmb.compat.mcubes import marching_cubes
    >>> vertices, triangles = marching_cubes(numpy.pad(numpy.ones((2, 2, 2)), 1), 0.5)
    >>> vertices.shape, triangles.dtype
    ((24, 3), dtype('uint64'))
    """
    if not isinstance(volume, np.ndarray):
        raise TypeError(f"Argument 'volume' has incorrect type (expected numpy.ndarray, got {type(volume).__name__})")
    if volume.ndim != 3:
        raise RuntimeError("Only three-dimensional arrays are supported.")
    if volume.dtype.kind not in "biuf":
        raise RuntimeError("data type not supported")
    level = c_float(isovalue).value
    if not volume.size or not math.isfinite(level):
        return np.empty((0, 3)), np.empty((0, 3), np.uint64)
    samples = copied(volume, np.float64) if volume.dtype.itemsize > 8 else np.asarray(volume)
    # The original counts a sample as inside if it is greater than the isovalue.
    mesh = contour(samples, math.nextafter(level, math.inf), normals=False, degenerate=True)
    return copied(mesh.points, np.float64), copied(mesh.triangles, np.uint64)
