# SPDX-License-Identifier: BSD-3-Clause
"""Surfaces of particles."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _context
from ._arrays import address_of, as_samples, code_of, copied, number, one_of, text_of, type_of_points
from ._device import View, as_view, beside, device_for, host_copy, is_on_device, packed_strides
from ._mesh import Mesh, emit
from ._messages import KERNELS

_NORMALS = {"kernel": 0, "central": 1, "forward": 2, "sobel": 3}
_NONE = 0, 0, 0, 0


def _beside(value: Any, name: str, points: Any) -> Any:
    """An array where the points are: in host memory, or on their GPU."""
    if not isinstance(points, View):
        return as_samples(value, name)[0]
    return beside(value, name, points.device, "the points are")


def _contiguous(array: Any, name: str) -> Any:
    if not isinstance(array, View):
        return array if array.flags.c_contiguous else copied(array, order="C")
    if not array.is_packed(packed_strides(array.shape, array.itemsize)):
        raise ValueError(f"{name} with {text_of(array)} is on a GPU with gaps or reversed: make it contiguous there")
    return array


def _stride(array: Any, least: int) -> int:
    """Items from particle to particle. NumPy's stride of a single one may be any."""
    return array.strides[0] // array.itemsize if len(array) > 1 else least


def _per_particle(value: Any, name: str, points: Any) -> tuple[Any, tuple[int, int, int, int]]:
    """The array, to keep it alive, and the core's description of it."""
    if value is None:
        return None, _NONE
    array, count = _beside(value, name, points), len(points)
    if array.shape != (count,):
        raise ValueError(f"{name} with {text_of(array)} has not one value for each of {count} particles")
    if _stride(array, 1) <= 0:
        array = _contiguous(array, name)
    return array, (address_of(array), code_of(array.dtype), count, _stride(array, 1))


def _reach(positions: Any) -> float:
    """The greatest coordinate, of those that are finite."""
    if isinstance(positions, View) or not len(positions):
        return 0.0
    ends = float(np.fmin.reduce(positions, axis=None)), float(np.fmax.reduce(positions, axis=None))
    if not all(map(np.isfinite, ends)):
        finite = positions[np.isfinite(positions)]
        ends = float(finite.min(initial=0)), float(finite.max(initial=0))
    return max(map(abs, ends))


def _mean(radii: Any) -> float:
    """Of the radii that can be used: the core names others, unless their particles are left out."""
    host = host_copy(radii)
    mean = float(np.mean(host))
    if not 0 < mean < np.inf:
        usable = host[(host > 0) & (host < np.inf)]
        mean = float(usable.mean()) if len(usable) else 1.0
    return mean


@_context.with_kept_memory
def particles(points: Any, radius: Any, kernel: str = "spline", *, cell_size: float = 0.5, smoothing: float = 2.0,
              isovalue: float | None = None, masses: Any = None, densities: Any = None, weights: Any = None,
              anisotropic: bool = False, normals: bool | str = True, arrays: Mapping[str, Any] | None = None,
              dtype: Any = None, device: Any = None, progress: Callable[[float], object] | None = None) -> Mesh:
    """Make a closed surface around particles: a fluid, a molecule, a scan.

    A kernel around each particle gives a potential. The surface is where the sum equals the isovalue. Particles at positions
    that are masked, not finite, or beyond cell 2**51 are left out.

    Parameters
    ----------
    points : (n, 3) array
        Positions, of any real type. With points in a GPU's memory the other arrays must be there, too, and the mesh stays
        there.
    radius : float or (n,) array
        Of the particles: about half the distance between neighbours.
    kernel : {"spline", "gaussian", "polynomial", "spheres"}
        "spline": the cubic spline of SPH, divided by density, so that the sum is about 1 within the fluid. "gaussian":
        exp(-q**2). "polynomial" (metaballs): (1 - q**2 / 4)**3. q is the distance in smoothing lengths. "spheres": the union
        of spheres.
    cell_size : float
        Edge of a cell in radii (of the mean radius, if `radius` is an array).
    smoothing : float
        Smoothing length in radii. Spheres ignore it.
    isovalue : float, optional
        Above 0; default 0.6. For spheres: depth of the surface below theirs; default 0, negative values lie outside.
    masses, densities : (n,) arrays, optional
        For "spline". Without densities the kernel computes them; without masses they are 1, or (2 radius)**3
        if radius is an array.
    weights : (n,) array, optional
        For "gaussian" and "polynomial".
    anisotropic : bool
        For "spline": kernels follow the shape of a particle's neighbourhood, so that surfaces of fluids are flat (Yu and
        Turk 2013).
    normals : bool, or {"kernel", "central", "forward", "sobel"}
        True: by the kernels' gradient. The others are differences of the potential.
    arrays : dict of (n,) or (n, k) arrays
        Interpolated to the surface.
    dtype : float32 or float64, optional
        Of the surface's points. Default: float32, but float64 if a particle in host memory is beyond 2**18 cells from 0, as
        on a map.
    device, progress
        See `pmb.Volume`.

    Returns
    -------
    Mesh

    Examples
    --------
    >>> import pmb
    >>> drop = pmb.particles([[0.0, 0, 0], [0.9, 0, 0]], radius=0.5, kernel="spheres")
    >>> drop.measure().closed
    True
    """
    positions: Any = as_view(points, "points") if is_on_device(points) else as_samples(points, "points")[0]
    gpu = positions.device if isinstance(positions, View) else None
    if positions.shape == (0,):  # of an empty list
        positions = positions.reshape(0, 3)
    if positions.ndim != 2 or positions.shape[1] != 3:
        advice = ": pass points.T" if positions.ndim == 2 and positions.shape[0] == 3 else ""
        raise ValueError(f"points have shape (n, 3), but these have {text_of(positions)}{advice}")
    if positions.strides[1] != positions.itemsize or _stride(positions, 3) <= 0:
        positions = _contiguous(positions, "points")
    n = len(positions)
    one_of(kernel, "kernel", KERNELS)
    way = "kernel" if isinstance(normals, (bool, np.bool_)) else normals
    if way not in _NORMALS:
        raise ValueError(f"normals is True, False or one of {', '.join(_NORMALS)}, not {normals!r}")
    is_number = np.ndim(radius) == 0
    radii, radii_array = _per_particle(None if is_number else radius, "radius", positions)
    if is_number and not hasattr(type(radius), "__float__"):
        raise TypeError(f"radius is a number, or an array with one for each particle, not {radius!r}")
    length = float(radius) if radii is None else _mean(radii) if n else 1.0
    if not length > 0:
        raise ValueError(f"radius is above 0, not {length}")
    cell_size, smoothing = number(cell_size, "cell_size"), number(smoothing, "smoothing")
    if not cell_size > 0:
        raise ValueError(f"cell_size is above 0, in radii, not {cell_size}")
    kind = type_of_points(dtype, _reach(positions), cell_size * length)
    if isovalue is None:
        isovalue = 0.0 if kernel == "spheres" else 0.6
    isovalue = number(isovalue, "isovalue")
    named = (masses, "masses"), (densities, "densities"), (weights, "weights")
    others = [_per_particle(value, name, positions) for value, name in named]
    ready = {}
    if not isinstance(arrays, (Mapping, type(None))):
        raise TypeError(f"arrays is a dict of names and arrays, not {text_of(arrays)}")
    for name, value in (arrays or {}).items():
        array = _beside(value, f"array {name!r}", positions)
        if array.ndim not in (1, 2) or len(array) != n or 0 in array.shape[1:]:
            raise ValueError(f"array {name!r} with {text_of(array)} has not one row for each of {n} particles")
        ready[name] = _contiguous(array, f"array {name!r}"), array.shape[1] if array.ndim == 2 else 0
    context, key = _context.take(device if gpu is None else device_for(positions, device, "the points"))
    try:
        with _context.reporting(context, progress, 0.0, 0.8):
            size = context.count_particles((address_of(positions), code_of(positions.dtype), n, _stride(positions, 3)),
                                           cell_size * length, isovalue, length, KERNELS.index(kernel), smoothing,
                                           radii_array, others[0][1], others[1][1], others[2][1], _NORMALS[way],
                                           bool(anisotropic), gpu is not None)
        with _context.reporting(context, progress, 0.8):
            return emit(context, [size[:2]], (isovalue,), bool(normals), False, ready, 0, 1, device=gpu,
                        dtype=kind)
    finally:
        context.forget_particles()
        _context.give_back(context, key)
