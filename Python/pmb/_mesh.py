# SPDX-License-Identifier: BSD-3-Clause
"""The result of contour() and particles()."""
from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import _context, _files
from ._arrays import INT32, INT64, address_of, as_samples, code_of, text_of
from ._core import Context
from ._device import DeviceArray
from ._memory import HostMemory


class Measures(NamedTuple):
    """What `Mesh.measure` finds."""

    area: float
    #: enclosed volume: positive around samples above the isovalue, negative around a hollow
    volume: float
    points: int
    edges: int
    triangles: int
    boundary_edges: int
    nonmanifold_edges: int
    #: points - edges + triangles
    euler: int
    components: int
    closed: bool


class Mesh:
    """A triangle mesh.

    Attributes
    ----------
    points : (n, 3) float32 or float64 array
    triangles : (m, 3) int32 array
        Indices of points, counter-clockwise seen from lower values. int64 from 2**31 points on.
    normals : (n, 3) float32 array, or None
        Of unit length, toward lower values.
    gradients : (n, 3) float32 array, or None
    arrays : dict
        Arrays interpolated to the points, by name.
    isovalues : tuple of float
        Points and triangles of the first isovalue come first, then those of the second, and so on.
    sizes : list of (points, triangles)
        One pair per isovalue.
    """

    __slots__ = ("points", "triangles", "normals", "gradients", "arrays", "isovalues", "sizes")

    def __init__(self, points: Any, triangles: Any, normals: Any = None, gradients: Any = None,
                 arrays: dict[str, Any] | None = None, isovalues: tuple[float, ...] = (),
                 sizes: list[tuple[int, int]] | None = None) -> None:
        self.points, self.triangles, self.normals, self.gradients = points, triangles, normals, gradients
        self.arrays = {} if arrays is None else arrays
        self.isovalues = isovalues
        self.sizes = [(len(points), len(triangles))] if sizes is None else sizes

    def to_host(self) -> Mesh:
        """Return the mesh with NumPy's arrays: itself, or a copy of one on a GPU."""
        if not isinstance(self.points, DeviceArray):
            return self

        def copied(array: Any) -> Any:
            return None if array is None else array.numpy()

        return Mesh(copied(self.points), copied(self.triangles), copied(self.normals), copied(self.gradients),
                    {name: copied(array) for name, array in self.arrays.items()}, self.isovalues, self.sizes)

    def _checked(self) -> Mesh:
        """In host memory, with arrays of the right shape: a user may have made the mesh."""
        mesh = self.to_host()
        points, triangles = as_samples(mesh.points, "points")[0], as_samples(mesh.triangles, "triangles")[0]
        if points.ndim != 2 or triangles.ndim != 2 or points.shape[1] != 3 or triangles.shape[1] != 3:
            raise ValueError("points and triangles of a mesh have shapes (n, 3) and (m, 3), but these have"
                             f" {text_of(points)}, and {text_of(triangles)}")
        if triangles.dtype.kind == "f":
            raise TypeError(f"triangles of a mesh are indices, but these have {text_of(triangles)}")
        for used in (triangles.min(), triangles.max()) if len(triangles) else ():
            if not 0 <= used < len(points):
                raise ValueError(f"a triangle uses point {used}, but the mesh has {len(points)} points")

        def of_points(array: Any, name: str) -> Any:
            if array.shape[:1] != points.shape[:1]:
                raise ValueError(f"the mesh has {len(points)} points, but {name} has {text_of(array)}")
            return array

        def vectors(array: Any, name: str) -> Any:
            found = None if array is None else of_points(as_samples(array, name)[0], name)
            if found is not None and found.shape != points.shape:
                raise ValueError(f"{name} of a mesh have shape {points.shape}, but these have {text_of(found)}")
            return found

        return Mesh(points, triangles, vectors(mesh.normals, "normals"), vectors(mesh.gradients, "gradients"),
                    {name: of_points(np.asarray(array), f"array {name!r}") for name, array in mesh.arrays.items()},
                    mesh.isovalues, mesh.sizes)

    def __repr__(self) -> str:
        return f"<pmb.Mesh: {len(self.points)} points, {len(self.triangles)} triangles>"

    def measure(self) -> Measures:
        """Measure area, enclosed volume and topology.

        >>> import numpy, pmb
        >>> x, y, z = numpy.ogrid[-2:2:41j, -2:2:41j, -2:2:41j]
        >>> ball = pmb.contour(-numpy.sqrt(x * x + y * y + z * z), -1.5, spacing=(0.1, 0.1, 0.1)).measure()
        >>> ball.closed, ball.components, ball.euler, round(ball.volume, 1)
        (True, 1, 2, 14.1)
        """
        mesh = self._checked()
        kind = np.float64 if mesh.points.dtype.itemsize == 8 else np.float32
        points, triangles = np.ascontiguousarray(mesh.points, kind), np.ascontiguousarray(mesh.triangles)
        if code_of(triangles.dtype) not in (INT32, INT64):
            triangles = triangles.astype(np.int64)
        context, key = _context.take("cpu")
        found = context.measure(len(points), len(triangles), address_of(points), code_of(points.dtype),
                                address_of(triangles), code_of(triangles.dtype))
        _context.give_back(context, key)
        return Measures(*found)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mesh to a file; its ending chooses the format.

        Parameters
        ----------
        path : str or path
            .ply (binary; normals and arrays too), .stl (binary; the triangles alone), .obj (text; normals too),
            .vtp (binary, for VTK and ParaView; normals and arrays too) or .npz (NumPy; everything).
        """
        _files.save(self._checked(), os.fsdecode(path))


def emit(context: Context, sizes: list[tuple[int, int]], isovalues: tuple[float, ...], normals: bool, gradients: bool,
         arrays: dict[str, tuple[Any, int]], estimator: int, of_particles: int, cells: bool = False,
         device: int | None = None, memory: HostMemory | None = None, dtype: Any = np.float32) -> Mesh:
    """Fills new arrays for the context's last count. `arrays` has packed arrays and their components, 0
    for none. `cells`: adds the cell of each triangle, counted along the core's axes, as an array of no name. `device`: of
    the GPU in whose memory all arrays are; `memory`: else, of the
    host (NumPy's own). `dtype`: of the points."""
    def new(shape: Any, dtype: Any) -> Any:
        if device is not None:
            return DeviceArray(shape, dtype, device, False)
        return memory.empty(shape, dtype) if memory else np.empty(shape, dtype)

    n, m = sum(size[0] for size in sizes), sum(size[1] for size in sizes)
    ids = np.int32 if n < 1 << 31 else np.int64
    mesh = Mesh(new((n, 3), dtype), new((m, 3), ids), new((n, 3), np.float32) if normals else None,
                new((n, 3), np.float32) if gradients else None, {}, isovalues, sizes)
    attributes = []
    for name, (array, components) in arrays.items():
        output = new((n, components) if components else (n,), array.dtype)
        mesh.arrays[name] = output
        attributes.append((address_of(array), code_of(array.dtype), components or 1, address_of(output)))
    owners = new((m,), np.int64) if cells else None
    context.emit(of_particles, n, m, address_of(mesh.points), code_of(mesh.points.dtype), address_of(mesh.normals),
                 address_of(mesh.gradients), address_of(mesh.triangles), INT32 if ids is np.int32 else INT64,
                 address_of(owners), estimator,
                 attributes, device is not None)
    if cells:
        mesh.arrays[""] = owners
    return mesh
