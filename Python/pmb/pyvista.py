# SPDX-License-Identifier: BSD-3-Clause
"""PyVista's accessor ``.pmb``. PyVista 0.48 and newer find it by themselves; before, import this module."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyvista
from vtkmodules.util.numpy_support import vtk_to_numpy

from . import vtk as _vtk
from ._context import terminal_bar
from ._particles import particles

_PER_POINT = "radius", "masses", "densities", "weights"


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
            active scalars, or the only point array. Of an array with several components the first.
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
            With the isovalue as active scalars, and the other point arrays interpolated.

        Raises
        ------
        TypeError
            The data set is no ImageData, or the scalars belong to cells.
        """
        grid = self._dataset
        if not isinstance(grid, pyvista.ImageData):
            raise TypeError(f"pmb contours ImageData, not {type(grid).__name__}: use its own contour, or sample it first")
        name, of_cells = scalars, False
        if scalars is None:
            field, name = grid.active_scalars_info
            of_cells = name is not None and field == pyvista.FieldAssociation.CELL
            if name is None and len(grid.point_data) == 1:
                name = grid.point_data.keys()[0]
        elif isinstance(scalars, str):
            of_cells = name not in grid.point_data and name in grid.cell_data
        else:
            grid, name = grid.copy(deep=False), "Contour Data"
            grid.point_data[name] = np.asarray(scalars)
        if of_cells:
            raise TypeError(f"pmb contours arrays of points, but {name!r} is one of cells: name another one in scalars=, or"
                            " call ctp(), which makes arrays of points")
        made_of = grid.GetMTime(), name, device
        if self._bound[1:] != made_of:
            self._bound = _vtk.volume(grid, name, device), *made_of
        values: Any = isosurfaces
        if isinstance(isosurfaces, int):
            low, high = grid.get_data_range(name, "point") if rng is None else rng
            values = np.linspace(low, high, isosurfaces)
        progress = terminal_bar("contour") if progress_bar else None
        return pyvista.wrap(_vtk.contour(self._bound[0], grid, values, name, normals=compute_normals,
                                         gradients=compute_gradients, scalars=compute_scalars, progress=progress))

    def surface(self, radius: Any, kernel: str = "spline", **options: Any) -> Any:
        """Make a surface around the points of a data set, without hidden ones. Parameters are those of `pmb.particles`;
        `radius` may name an array.

        Returns
        -------
        pyvista.PolyData
            With the numeric point arrays interpolated, if `arrays` is not given.
        """
        cloud = self._dataset
        numeric = {name: values for name, values in cloud.point_data.items()
                   if values.dtype.kind in "iuf" and name != "vtkGhostType"}
        options.setdefault("arrays", numeric)
        options["radius"] = cloud.point_data[radius] if isinstance(radius, str) else radius
        points, ghosts = cloud.points, cloud.GetPointGhostArray()
        if ghosts is not None:
            visible = (vtk_to_numpy(ghosts) & _vtk._HIDDEN_POINT) == 0

            def shown(value: Any) -> Any:
                return np.asarray(value)[visible] if np.shape(value)[:1] == visible.shape else value

            points = shown(points)
            options.update({name: shown(options[name]) for name in _PER_POINT if name in options})
            if isinstance(options["arrays"], Mapping):
                options["arrays"] = {name: shown(value) for name, value in options["arrays"].items()}
        return pyvista.wrap(_vtk._polydata(particles(points, kernel=kernel, **options)))


if hasattr(pyvista, "register_dataset_accessor"):
    pyvista.register_dataset_accessor("pmb", pyvista.DataSet)(Accessor)
else:
    setattr(pyvista.DataSet, "pmb", property(Accessor))
