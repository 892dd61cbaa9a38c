# SPDX-License-Identifier: BSD-3-Clause
"""Volumes and their isosurfaces."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import hypot
from os import getpid
from threading import Lock, get_ident
from typing import Any, NamedTuple

import numpy as np

from . import _context
from ._arrays import (address_of, as_numpy, as_samples, code_of, floats, isovalues_of, numbers, one_of, packed, text_of,
                      type_of_points, whole)
from ._core import Context
from ._device import View, as_view, beside, device_for, is_on_device
from ._memory import HostMemory
from ._mesh import Mesh, emit

_IDENTITY = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
_STRAIGHT = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ESTIMATORS = {"central": 0, "forward": 1, "sobel": 2}


class Histogram(NamedTuple):
    """What `Volume.histogram` finds, for each bin."""

    #: bricks of 32 x 4 x 4 samples that the isosurface of the bin's middle crosses
    crossed: np.ndarray[Any, Any]
    #: bricks with samples in the range of the bin
    touched: np.ndarray[Any, Any]
    #: borders of the bins, one more than bins
    edges: np.ndarray[Any, Any]


def widened(low: float, high: float) -> tuple[float, float]:
    """The range itself, a wider one of equal samples, or 0 to 1 if none is finite."""
    if not low <= high:
        return 0.0, 1.0
    pad = 0.0 if low < high else max(0.5, 1e-6 * abs(low))
    return low - pad, high + pad


def _turn(direction: Any) -> tuple[tuple[float, ...], ...]:
    """The rows of a direction."""
    if direction is None:
        return _STRAIGHT
    given = floats(direction, "direction")
    if given.shape not in ((3, 3), (9,)):
        raise ValueError(f"direction is a 3 x 3 matrix, but has shape {given.shape}")
    return tuple(map(tuple, given.reshape(3, 3).tolist()))


def _matrix(order: tuple[int, ...], steps: tuple[float, ...], first: tuple[float, ...],
            turn: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """The core's 3 x 4 matrix. Its axis i is axis order[i] of the array."""
    a, b, c = order
    matrix: list[float] = []
    for row, place in zip(turn, first):
        matrix += row[a] * steps[a], row[b] * steps[b], row[c] * steps[c], place
    if not any(matrix):  # which the core takes for the identity
        raise ValueError(f"spacing {steps} and direction {[*map(list, turn)]} put all samples in one place")
    return tuple(matrix)


def _extremes(m: tuple[float, ...], dims: tuple[int, ...]) -> tuple[float, float]:
    """The greatest coordinate, and the shortest edge of a cell."""
    i, j, k = dims
    x, y, z = (abs(m[r]) * i + abs(m[r + 1]) * j + abs(m[r + 2]) * k + abs(m[r + 3]) for r in (0, 4, 8))
    return max(x, y, z), min(hypot(m[0], m[4], m[8]), hypot(m[1], m[5], m[9]), hypot(m[2], m[6], m[10]))


class _Place(NamedTuple):
    """How an array lies in memory and in space, in the order of the core's axes."""

    order: tuple[int, ...]  # axes of the array
    steps: tuple[int, ...]  # samples to the next one
    dims: tuple[int, ...]
    matrix: tuple[float, ...]
    reach: float  # the greatest coordinate
    cell: float  # the shortest edge of a cell


@lru_cache
def _place(shape: tuple[int, ...], strides: tuple[int, ...], size: int, steps: tuple[float, ...], first: tuple[float, ...],
           turn: tuple[tuple[float, ...], ...]) -> _Place:
    """Kept, since to find it takes a sixth of a call for a small volume."""
    # The axis with the smallest stride is the core's first: lines of samples are read as they lie in memory.
    order = tuple(sorted((2, 1, 0), key=lambda axis: abs(strides[axis]) or 1 << 62))
    dims, matrix = tuple(shape[axis] for axis in order), _matrix(order, steps, first, turn)
    return _Place(order, tuple(strides[axis] // size for axis in order), dims, matrix, *_extremes(matrix, dims))


class _OneCall:
    """Calls of other threads wait for each other. A call from progress= gets an error."""

    def __init__(self) -> None:
        self._lock, self._thread, self._process = Lock(), 0, getpid()

    def __enter__(self) -> None:
        if self._process != getpid():
            if self._thread:
                raise RuntimeError("another thread worked on the volume when this process was forked: make another one of"
                                   " the same array")
            self._lock, self._process = Lock(), getpid()
        if self._thread == get_ident():
            raise RuntimeError("the volume is in use: the call that reports this progress works on it")
        self._lock.acquire()
        self._thread = get_ident()

    def __exit__(self, *unused: object) -> None:
        self._thread = 0
        self._lock.release()


class _Closed(NamedTuple):
    """What a closed volume knows of its array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Volume:
    """A 3-d array with the summary that makes its isosurfaces fast.

    The samples stay where they are: any strides and order of axes are read in place. The first isovalue costs one pass over
    the samples, later ones read only the bricks of samples that the isosurface crosses. Several threads may use a volume,
    one after another. A volume keeps the memory of its meshes that are gone for its next ones, until it is closed.

    Parameters
    ----------
    array : (a, b, c) array
        NumPy's, or any object with the buffer protocol, ``__array_interface__``, ``__cuda_array_interface__`` or DLPack.
        Integers and floats of 8 to 64 bits. bool counts as uint8. float16, swapped bytes and unaligned strides are copied
        (see `converted`). Of an array in a GPU's memory (PyTorch, CuPy, JAX, Numba, Warp) meshes stay there, too, as
        `pmb.DeviceArray`.
    spacing : 3 floats
        Distance between samples along each axis of the array.
    origin : 3 floats
        Position of sample (0, 0, 0).
    direction : (3, 3) array, optional
        Sample (i, j, k) lies at ``origin + direction @ (spacing * (i, j, k))``. Or its 9 numbers row by row, as SimpleITK's.
    mask : bool array, optional
        Of the array's shape: only cells between True samples count. One shorter along each axis: only True cells count.
        A NumPy masked array's own mask hides samples, too.
    device : None, "cpu", "cuda" or "cuda:N"
        None: where the array is; for an array in host memory a GPU if there is one, else the CPU.
    progress : callable, optional
        Called with the done fraction of the work from time to time. An exception stops the work.

    Examples
    --------
    >>> import numpy, pmb
    >>> x, y, z = numpy.ogrid[-1:1:32j, -1:1:32j, -1:1:32j]
    >>> volume = pmb.Volume(x * x + y * y + z * z, spacing=(2 / 31, 2 / 31, 2 / 31), origin=(-1, -1, -1))
    >>> [len(volume.contour(level).triangles) > 0 for level in (0.2, 0.5, 5)]
    [True, True, False]
    """

    def __init__(self, array: Any, spacing: Sequence[float] = (1.0, 1.0, 1.0), origin: Sequence[float] = (0.0, 0.0, 0.0),
                 direction: Any = None, mask: Any = None, device: Any = None,
                 progress: Callable[[float], object] | None = None) -> None:
        self._take(array, spacing, origin, direction, mask, device)
        self._bind(progress)

    def _take(self, array: Any, spacing: Any, origin: Any, direction: Any, mask: Any, device: Any) -> None:
        self._context: Context | None = None
        self._array: Any
        self._array, self.converted = (as_view(array, "the volume"), "") if is_on_device(array) else as_samples(
            array, "the volume", False)
        self._gpu = None
        if isinstance(self._array, View):
            self._gpu = self._array.device
            device = device_for(self._array, device, "the volume")
        self._given = None if isinstance(array, np.ndarray) and not self.converted else array
        self._lock = _OneCall()
        if self._array.ndim != 3 or 0 in self._array.shape:
            raise ValueError(f"a volume has three axes and at least one sample, but this has {text_of(self._array)}")
        self._place = _place(self._array.shape, self._array.strides, self._array.itemsize, numbers(spacing, "spacing"),
                             numbers(origin, "origin"), _turn(direction))
        self._flags = self._flags_of(mask, array.mask if isinstance(array, np.ma.MaskedArray) else None)
        self._context, self._key = _context.take(device)
        self._memory = HostMemory(self._gpu is None and self._context.info()["device"] == "cuda")

    def _flags_of(self, mask: Any, own: Any) -> tuple[np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None]:
        """Bytes per sample and per cell, 1 where hidden. own: the mask of a NumPy masked array, True where hidden."""
        hidden = packed(own, self._place.order).view(np.uint8) if own is not None and own.any() else None
        if mask is None:
            return hidden, None
        visible = as_numpy(mask, "the mask")
        if visible.dtype.kind not in "bui":
            raise TypeError(f"a mask is of bool, but this has {text_of(visible)}")
        shapes = self._array.shape, tuple(n - 1 for n in self._array.shape)
        if visible.shape not in shapes:
            raise ValueError(f"a mask has shape {shapes[0]} (samples) or {shapes[1]} (cells),"
                             f" but this has {text_of(visible)}")
        flags = packed(visible == 0, self._place.order).view(np.uint8)
        if visible.shape == shapes[1]:
            return hidden, flags
        return (flags if hidden is None else flags | hidden), None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    def __repr__(self) -> str:
        return f"<pmb.Volume: {text_of(self._array)}{'' if self._context else ', closed'}>"

    def update(self, progress: Callable[[float], object] | None = None) -> None:
        """Read the samples again, after they have changed. A mask stays as it was."""
        if isinstance(self._array, View):
            self._array.wait()
        elif self._given is not None:
            again = as_samples(self._given, "the volume", False)[0]
            if (again.shape, again.dtype, again.strides) != (self._array.shape, self._array.dtype, self._array.strides):
                raise ValueError(f"the array had {text_of(self._array)}, but now has {text_of(again)}: make another volume")
            self._array = again
        self._bind(progress)

    @_context.with_kept_memory
    def _bind(self, progress: Callable[[float], object] | None) -> None:
        with self._lock, _context.reporting(self._used(), progress):
            self._bind_to(self._used(), None, False)

    def _bind_to(self, context: Context, isovalues: tuple[float, ...] | None, degenerate: bool) -> list[tuple[int, int]]:
        """The sizes of the isovalues, if there are some to count in the same call."""
        array, place = self._array, self._place
        samples, cells = map(address_of, self._flags)
        return context.bind(address_of(array), code_of(array.dtype), place.dims, place.steps, place.matrix, samples, cells,
                            self._gpu is not None, isovalues, not degenerate)

    def _used(self) -> Context:
        if self._context is None:
            raise ValueError("this volume is closed")
        return self._context

    def close(self) -> None:
        """Give the array and the summary free. Garbage collection does it too."""
        if self._context is None:
            return
        with self._lock:
            context = self._used()
            # The next tensor of this shape takes over what little the context has on the GPU beside it.
            context.unbind(-1 if self._gpu is None else _context.kept_bytes(self._gpu))
            self._context = self._given = None
            self._array, self._flags = _Closed(self._array.shape, self._array.dtype), (None, None)
            self._memory.close()
            _context.give_back(context, self._key)

    def __reduce__(self) -> Any:
        raise TypeError("a Volume cannot be copied or pickled: make another one of the same array")

    def __enter__(self) -> Volume:
        self._used()
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at exit of the interpreter
            pass

    def info(self) -> dict[str, int | float | str | None]:
        """Return facts: the least and greatest sample, bricks, bytes, threads, device (number -1: CPU), instruction set."""
        with self._lock:
            return self._used().info()

    def suggest(self, most: int = 3) -> list[float]:
        """Suggest isovalues to start with, the best first.

        Parameters
        ----------
        most : int
            The most isovalues to return.
        """
        if whole(most, "most") < 0:
            raise ValueError(f"most is the number of isovalues to return, 0 or more, not {most}")
        with self._lock:
            return self._used().suggest(min(most, 4096))

    def histogram(self, bins: int = 256, range: tuple[float, float] | None = None) -> Histogram:
        """Count the bricks of samples that the isosurface crosses, for many isovalues at once. Reads no sample.

        Parameters
        ----------
        bins : int
            1 to 4096.
        range : (low, high), optional
            Default: that of the finite samples.
        """
        bins = whole(bins, "bins")
        with self._lock:
            if range is None:
                info = self._used().info()
                low, high = widened(float(info["minimum"] or 0), float(info["maximum"] or 0))
            else:
                low, high = numbers(range, "range", 2)
            crossed, touched = np.zeros(max(bins, 0), np.int64), np.zeros(max(bins, 0), np.int64)
            self._used().histogram(low, high, bins, address_of(crossed), address_of(touched))
        return Histogram(crossed, touched, 2 * np.linspace(low / 2, high / 2, bins + 1))

    def _packed_arrays(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(arrays, Mapping):
            raise TypeError(f"arrays is a dict of names and arrays, not {text_of(arrays)}")
        ready = {}
        for name, value in arrays.items():
            array = self._beside_samples(value, f"array {name!r}")
            if array.shape[:3] != self._array.shape or array.ndim > 4 or 0 in array.shape:
                raise ValueError(f"array {name!r} has {text_of(array)}; its first axes must be those of the volume,"
                                 f" {self._array.shape}, and one of components may follow")
            ready[name] = self._packed(array, f"array {name!r}"), array.shape[3] if array.ndim == 4 else 0
        return ready

    def _beside_samples(self, value: Any, what: str) -> Any:
        """An array where the samples are: in host memory, or on their GPU."""
        if self._gpu is None:
            return as_samples(value, what)[0]
        return beside(value, what, self._gpu, "the volume is")

    def _packed(self, array: Any, what: str) -> Any:
        if not isinstance(array, View):
            return packed(array, self._place.order)
        strides, step = [0] * 3, array.itemsize * (array.shape[3] if array.ndim == 4 else 1)
        for axis in self._place.order:
            strides[axis] = step
            step *= array.shape[axis]
        if not array.is_packed((*strides, array.itemsize)[:array.ndim]):
            raise ValueError(f"{what} with {text_of(array)} is on a GPU and does not lie there as the volume does, without"
                             " gaps: make it contiguous")
        return array

    @_context.with_kept_memory
    def contour(self, isovalue: float | Sequence[float], *, normals: bool = True, gradients: bool = False,
                arrays: Mapping[str, Any] | None = None, degenerate: bool = False, estimator: str = "central",
                dtype: Any = None, progress: Callable[[float], object] | None = None, _cells: bool = False,
                _bound: bool = True) -> Mesh:
        """Extract the isosurfaces of one or several isovalues. See `pmb.contour` for the parameters."""
        isovalues = isovalues_of(isovalue)
        kind = type_of_points(dtype, self._place.reach, self._place.cell)
        way = ESTIMATORS[one_of(estimator, "estimator", ESTIMATORS)]
        ready = self._packed_arrays(arrays) if arrays else {}
        with self._lock:
            context = self._used()
            with _context.reporting(context, progress, 0.0, 0.5):
                sizes = context.count(isovalues, not degenerate) if _bound else self._bind_to(context, isovalues, degenerate)
            with _context.reporting(context, progress, 0.5):
                return emit(context, sizes, isovalues, normals, gradients, ready,
                            way, 0, _cells, self._gpu, self._memory, kind)


def refuse(spacing: Any, origin: Any, *others: Any) -> None:
    """Raises an error if options are set that a Volume has itself."""
    moved = not np.array_equal(spacing, _IDENTITY[0]) or not np.array_equal(origin, _IDENTITY[1])
    if moved or not all(option is None for option in others):
        raise ValueError("a Volume has its own spacing, origin, direction, mask and device: set them there")


def contour(volume: Any, isovalue: float | Sequence[float], spacing: Sequence[float] = (1.0, 1.0, 1.0),
            origin: Sequence[float] = (0.0, 0.0, 0.0), direction: Any = None, normals: bool = True,
            arrays: Mapping[str, Any] | None = None, mask: Any = None, degenerate: bool = False, device: Any = None, *,
            gradients: bool = False, estimator: str = "central", dtype: Any = None,
            progress: Callable[[float], object] | None = None) -> Mesh:
    """Extract the isosurface of a 3-d array.

    Coordinate a of a point belongs to axis a of the array. Each crossed grid edge has one point, so neighbouring triangles
    share points. The mesh is the same for any number of threads, any instruction set and the GPU. Cells with a sample that
    is not finite give no triangle.

    Parameters
    ----------
    volume : (a, b, c) array or Volume
        See `Volume`. A `Volume` has its own spacing, origin, direction, mask and device.
    isovalue : float or list of floats
        With several, the mesh holds their surfaces one after another (`Mesh.sizes`).
    spacing, origin, direction, mask, device
        See `Volume`.
    normals : bool
        Compute unit normals toward lower values.
    arrays : dict of arrays
        Arrays to interpolate to the points: of the volume's shape, or with a fourth axis of components. Masked elements of
        NumPy masked arrays count as NaN; integers with such elements become float64.
    degenerate : bool
        True: one point per crossed edge, always. False: edges that meet at a sample equal to the isovalue share one point,
        and triangles without area are left out.
    gradients : bool
        Compute gradients, per world length.
    estimator : {"central", "forward", "sobel"}
        Differences for normals and gradients.
    dtype : float32 or float64, optional
        Of the points. Default: float32, but float64 if a coordinate is beyond 2**18 cells from 0, as on a map.
    progress : callable, optional
        Called with the done fraction of the work.

    Returns
    -------
    Mesh
        Triangles are counter-clockwise seen from lower values.

    Raises
    ------
    TypeError
        An array has no real numbers of 8 to 64 bits, or is not in host memory.
    ValueError
        A shape, an isovalue or a parameter is wrong.
    MemoryError
        The mesh needs more memory than there is.

    Examples
    --------
    >>> import numpy, pmb
    >>> x, y, z = numpy.ogrid[-1:1:32j, -1:1:32j, -1:1:32j]
    >>> mesh = pmb.contour(x * x + y * y + z * z, [0.2, 0.5], arrays={"z": z + 0 * x + 0 * y})
    >>> len(mesh.sizes), mesh.arrays["z"].dtype
    (2, dtype('float64'))
    """
    options: dict[str, Any] = dict(normals=normals, gradients=gradients, arrays=arrays, degenerate=degenerate,
                                   estimator=estimator, dtype=dtype)
    if isinstance(volume, Volume):
        refuse(spacing, origin, direction, mask, device)
        return volume.contour(isovalue, progress=progress, **options)
    made = Volume.__new__(Volume)
    made._take(volume, spacing, origin, direction, mask, device)
    with made:
        return made.contour(isovalue, progress=progress, **options, _bound=False)
