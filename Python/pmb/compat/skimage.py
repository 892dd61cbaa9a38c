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

    Points lie at the same places, and triangles have the same orientation, also with negative spacings. Differences:

    - The order of points and triangles is another.
    - Ambiguous cells are triangulated as by ``method="lorensen"``, with the same numbers of points and triangles. The
      parameter is checked, but changes nothing. The mesh has no seams.
    - Normals come from central differences in world coordinates. Beside infinite samples the original's are NaN.
    - Cells with a NaN give no triangle. The original gives points of NaN there, and between -inf and inf.
    - Points are exact for tiny samples, too. The original moves them to the middles of edges for samples of about 1e-16.
    - With ``allow_degenerate=False``, points without triangles are left out, and ``faces`` are int32, the original's int64.
      If samples equal the level, the number of triangles may be another. Beside infinite samples, triangles without area
      stay.

    Returns
    -------
    verts : (V, 3) float32 array (float64 with a spacing, if that is not of float32 and ``allow_degenerate`` is true)
    faces : (F, 3) int32 array
    normals : (V, 3) float32 array
    values : (V,) float32 array
        Greatest difference of two samples of a cell whose triangles use the point, as the original has it.

    Raises
    ------
    ValueError
        A shape or a parameter is wrong, or the level is outside the range of the samples.
    RuntimeError
        There is no surface.

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
    every = volume if volume.dtype == np.float32 else copied(volume, np.float32)
    samples = every[::step, ::step, ::step]
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(samples.sum()))  # False also if the sum is beyond float32
    if not finite and np.isinf(samples).any():  # finite ones so great that in float32 points lie where the original's do
        samples = np.clip(samples, -1e300, 1e300, dtype=np.float64)
    # The original's mask of a cell is that of its last sample.
    cells = None if mask is None else mask[step::step, step::step, step::step]
    lengths = np.asarray(spacing)
    steps = [step * (float(length) or 1.0) for length in spacing]
    with Volume(samples, steps, mask=cells) as bound:
        low, high = _range(every, bound, finite and mask is None and step == 1)
        at = float(0.5 * (low + high) if level is None else level)
        if level is not None and (at < low or at > high):
            raise ValueError("Surface level must be within volume data range.")
        if not np.isfinite(at):
            raise RuntimeError("No surface found at the given iso value.")
        # The original counts a sample as inside if it is greater than the level.
        single = (lengths == 1).all() or lengths.dtype == np.float32 or not allow_degenerate
        mesh = bound.contour(float(np.nextafter(at, np.inf)), degenerate=allow_degenerate,
                             dtype=np.float32 if single else np.float64, _cells=True)
        if not len(mesh.points):
            raise RuntimeError("No surface found at the given iso value.")
        values = np.zeros(len(mesh.points), np.float32)
        with np.errstate(over="ignore"):
            floats = bound._array.astype(np.float32, copy=False)  # infinite samples are infinite again
        for first in range(0, len(mesh.triangles), 1 << 20):  # in pieces, between which Python answers Ctrl-C
            owners, triangles = mesh.arrays[""][first:first + (1 << 20)], mesh.triangles[first:first + (1 << 20)]
            local_ranges(address_of(floats), bound._place.dims, bound._place.steps, len(triangles), address_of(owners),
                         address_of(triangles), address_of(values))
    mesh.points[:, lengths == 0] = 0
    # The original knows no spacing when it orients triangles.
    faces = mesh.triangles[:, ::-1] if (gradient_direction == "descent") == (np.prod(steps) > 0) else mesh.triangles
    return mesh.points, faces, mesh.normals, values


def _range(every: Any, bound: Volume, known: bool) -> tuple[Any, Any]:
    """Find the least and greatest sample as the original does, of float32 or NaN: from the summary, if that knows all."""
    if not known:
        return every.min(), every.max()
    info = bound.info()
    return np.float32(info["minimum"] or 0), np.float32(info["maximum"] or 0)
