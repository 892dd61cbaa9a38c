# SPDX-License-Identifier: BSD-3-Clause
"""Drop-in for skimage.measure.marching_cubes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import address_of, copied
from .._core import local_ranges
from .._volume import Volume


def marching_cubes(volume: Any, level: float | None = None, *, spacing: Sequence[float] = (1.0, 1.0, 1.0),
                   gradient_direction: str = "descent", step_size: int = 1, allow_degenerate: bool = True,
                   method: str = "lewiner", mask: Any = None) -> tuple[Any, Any, Any, Any]:
    """Extract an isosurface, with the parameters and results of `skimage.measure.marching_cubes`.

    Points lie at the same places, and triangles have the same orientation. Differences:

    - The order of points and triangles is another.
    - Ambiguous cells are triangulated as by ``method="lorensen"``, with the same numbers of points and triangles. The
      parameter is checked, but changes nothing. The mesh has no seams.
    - Normals come from central differences in world coordinates.
    - With ``allow_degenerate=False``, points without triangles are left out.

    Returns
    -------
    verts : (V, 3) float32 array (float64 with a spacing)
    faces : (F, 3) int32 array
    normals : (V, 3) float32 array
    values : (V,) float32 array
        Greatest difference of two samples of a cell whose triangles use the point, as the original has it.

    Examples
    --------
    >>> import numpy
    >>> from pmb.compat.skimage import marching_cubes
    >>> verts, faces, normals, values = marching_cubes(numpy.pad(numpy.ones((2, 2, 2)), 1), 0.5)
    >>> verts.shape, faces.shape, float(values.min())
    ((24, 3), (44, 3), 1.0)
    """
    if method not in ("lewiner", "lorensen"):
        raise ValueError("method should be either 'lewiner' or 'lorensen'")
    if not isinstance(volume, np.ndarray) or volume.ndim != 3:
        raise ValueError("Input volume should be a 3D numpy array.")
    if min(volume.shape) < 2:
        raise ValueError("Input array must be at least 2x2x2.")
    if len(spacing) != 3:
        raise ValueError("`spacing` must consist of three floats.")
    step = int(step_size)
    if step < 1:
        raise ValueError("step_size must be at least one.")
    if gradient_direction not in ("descent", "ascent"):
        raise ValueError(f"Incorrect input {gradient_direction} in `gradient_direction`, see docstring.")
    if mask is not None and mask.shape != volume.shape:
        raise ValueError("volume and mask must have the same shape.")
    volume = np.asarray(volume)  # the original takes no notice of a masked array's mask
    samples = (volume if volume.dtype == np.float32 else copied(volume, np.float32))[::step, ::step, ::step]
    if min(samples.shape) < 2:
        raise RuntimeError("No surface found at the given iso value.")
    # The original's mask of a cell is that of its last sample.
    cells = None if mask is None else mask[step::step, step::step, step::step]
    with Volume(samples, [step * float(length) for length in spacing], mask=cells) as bound:
        low, high = _range(samples, volume, bound, mask, step)
        at = 0.5 * (low + high) if level is None else float(level)
        if not low <= high or np.isnan(at):  # no finite sample
            raise RuntimeError("No surface found at the given iso value.")
        if not low <= at <= high:
            raise ValueError("Surface level must be within volume data range.")
        # The original counts a sample as inside if it is greater than the level.
        mesh = bound.contour(float(np.nextafter(at, np.inf)), degenerate=allow_degenerate,
                             dtype=np.float32, _cells=True)
        if not len(mesh.points):
            raise RuntimeError("No surface found at the given iso value.")
        values = np.zeros(len(mesh.points), np.float32)
        for first in range(0, len(mesh.triangles), 1 << 20):  # in pieces, between which Python answers Ctrl-C
            owners, triangles = mesh.arrays[""][first:first + (1 << 20)], mesh.triangles[first:first + (1 << 20)]
            local_ranges(address_of(bound._array), bound._place.dims, bound._place.steps, len(triangles), address_of(owners),
                         address_of(triangles), address_of(values))
    faces = mesh.triangles[:, ::-1] if gradient_direction == "descent" else mesh.triangles
    points = mesh.points if np.array_equal(spacing, (1, 1, 1)) else copied(mesh.points, np.float64)
    return points, faces, mesh.normals, values


def _range(samples: Any, volume: Any, bound: Volume, mask: Any, step: int) -> tuple[float, float]:
    """Least and greatest sample of the whole volume: from the summary, if it knows all samples."""
    if mask is not None or step > 1:
        return float(volume.min()), float(volume.max())
    info = bound.info()
    return float(info["minimum"] or 0), float(info["maximum"] or 0)
