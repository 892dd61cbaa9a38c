# SPDX-License-Identifier: BSD-3-Clause
"""PyVista's accessor ``.pmb``. PyVista 0.48 and newer find it by themselves; before, import this module."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyvista

from . import vtk as _vtk
from ._context import terminal_bar
from ._particles import particles


class Accessor:
    """Isosurfaces of a grid and surfaces of points.

    Examples
    --------
    >>> import numpy, pyvista, pmb.pyvista
    >>> grid = pyvista.ImageData(dimensions=(20, 20, 20))
    >>> grid["distance"] = numpy.linalg.norm(grid.points - 9.5, axis=1)
    >>> grid.pmb.contour([5.0]).n_open_edges
    0
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._bound: tuple[Any, ...] = ()

    def contour(self, isosurfaces: int | float | Sequence[float] = 10, scalars: Any = None, compute_normals: bool = False,
                compute_gradients: bool = False, compute_scalars: bool = True, rng: Sequence[float] | None = None,
                preference: str = "point", method: str = "flying_edges", progress_bar: bool = False, *,
                device: Any = None) -> Any:
        """Extract isosurfaces of an ImageData, with the parameters and results of PyVista's ``contour``.

        Parameters
        ----------
        isosurfaces : int, float or list of floats
            Number of isosurfaces evenly spaced over `rng`, or the isovalues.
        scalars : str or array, optional
            Name of a point array, or an array with a value for each point, named "Contour Data" in the result. Default: the
            active scalars, or the only point array.
        compute_normals, compute_gradients, compute_scalars : bool
            Add the arrays.
        rng : (low, high), optional
            Default: that of the scalars.
        preference, method
            Of PyVista's ``contour``; they change nothing.
        progress_bar : bool
            Show the progress on a terminal.
        device
            See `pmb.Volume`.

        Returns
        -------
        pyvista.PolyData
            With the isovalue as active scalars and the other point arrays interpolated.
        """
        grid = self._dataset
        if not isinstance(grid, pyvista.ImageData):
            raise TypeError(f"pmb contours ImageData, not {type(grid).__name__}: use its own contour, or sample it first")
        name = scalars if isinstance(scalars, str) else None
        if scalars is None:
            point_data = grid.point_data
            name = point_data.active_scalars_name or (point_data.keys()[0] if len(point_data) == 1 else None)
        elif name is None:
            grid, name = grid.copy(deep=False), "Contour Data"
            grid.point_data[name] = np.asarray(scalars)
        made_of = grid.GetMTime(), name, device
        if self._bound[1:] != made_of:
            self._bound = _vtk.volume(grid, name, device), *made_of
        values: Any = isosurfaces
        if isinstance(isosurfaces, int):
            low, high = grid.get_data_range(name) if rng is None else rng
            values = np.linspace(low, high, isosurfaces)
        progress = terminal_bar("contour") if progress_bar else None
        return pyvista.wrap(_vtk.contour(self._bound[0], grid, values, name, normals=compute_normals,
                                         gradients=compute_gradients, scalars=compute_scalars, progress=progress))

    def surface(self, radius: Any, kernel: str = "spline", **options: Any) -> Any:
        """Make a surface around the points of a data set. Parameters are those of `pmb.particles`; `radius` may name an
        array.

        Returns
        -------
        pyvista.PolyData
            With the numeric point arrays interpolated, if `arrays` is not given.
        """
        cloud = self._dataset
        numeric = {name: values for name, values in cloud.point_data.items() if values.dtype.kind in "iuf"}
        options.setdefault("arrays", numeric)
        radius = cloud.point_data[radius] if isinstance(radius, str) else radius
        return pyvista.wrap(_vtk.polydata(particles(cloud.points, radius, kernel, **options)))


if hasattr(pyvista, "register_dataset_accessor"):
    pyvista.register_dataset_accessor("pmb", pyvista.DataSet)(Accessor)
else:
    setattr(pyvista.DataSet, "pmb", property(Accessor))
