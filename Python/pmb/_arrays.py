# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of any library as NumPy's, without a copy where the core can read them."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from math import isfinite
from operator import index
from typing import Any

import numpy as np

# pmb_type of the core, by kind and size.
CODES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "i8": 7, "u8": 8, "f4": 9, "f8": 10}
INT32, INT64 = CODES["i4"], CODES["i8"]
_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_PIECE = 4 << 20


@cache
def code_of(dtype: np.dtype[Any]) -> int:
    return CODES.get(dtype.kind + str(dtype.itemsize), 0)


def address_of(array: Any) -> int:
    """Of NumPy's arrays, and of those on a GPU."""
    if array is None:
        return 0
    return array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.address


def text_of(value: object) -> str:
    """Shape and type of an array, for messages."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return type(value).__name__ if shape is None else f"shape {tuple(shape)} and dtype {dtype}"


def _is_foreign(value: Any) -> bool:
    """Whether NumPy would read it item by item, although it is no sequence: slowly, an image of SimpleITK as one row."""
    protocols = "__array__", "__array_interface__", "__array_struct__"
    if isinstance(value, Sequence) or not hasattr(value, "__getitem__") or any(hasattr(value, name) for name in protocols):
        return False
    try:
        memoryview(value)
    except TypeError:
        return True
    return False


def as_numpy(value: Any, what: str) -> np.ndarray[Any, Any]:
    """A view of an array in host memory: by the buffer protocol, __array_interface__, __array__ or DLPack."""
    if isinstance(value, np.ndarray):
        return value
    kind = value.__dlpack_device__()[0] if hasattr(value, "__dlpack_device__") else 1
    if kind not in (1, 3) or (not hasattr(value, "__dlpack_device__") and hasattr(value, "__cuda_array_interface__")):
        raise TypeError(f"{what} with {text_of(value)} is not in host memory: copy it there, for example by .cpu()"
                        " or .get()")
    try:
        if hasattr(value, "__dlpack__") and not (hasattr(value, "__array__") or hasattr(value, "__array_interface__")):
            return np.from_dlpack(value)
        array = np.asarray(None if _is_foreign(value) else value)
    except Exception as error:
        raise TypeError(f"{what} with {text_of(value)} is no array that NumPy can read: {error}") from error
    if array.ndim == 0 and array.dtype.kind in "OSU":
        text = " ".join(repr(value).split())
        raise TypeError(f"{what} is an array of numbers, not {text if len(text) < 80 else text[:80] + ' ...'}")
    return array


def copied(array: np.ndarray[Any, Any], dtype: Any = None, order: Any = "K") -> np.ndarray[Any, Any]:
    """A copy, made in pieces of about 4 MiB, between which Python answers Ctrl-C."""
    made = np.empty_like(array, dtype or array.dtype, order=order, subok=False)
    if made.ndim == 0 or made.nbytes <= _PIECE:
        made[...] = array
        return made
    axis = max(range(made.ndim), key=lambda i: abs(made.strides[i]) if made.shape[i] > 1 else -1)
    step = max(1, _PIECE * made.shape[axis] // made.nbytes)
    for first in range(0, made.shape[axis], step):
        piece = (*[slice(None)] * axis, slice(first, first + step))
        made[piece] = array[piece]
    return made


def as_samples(value: Any, what: str, fill: bool = True) -> tuple[np.ndarray[Any, Any], str]:
    """An array that the core can read, and what was converted ("": nothing, the memory is shared). fill: masked elements of
    a NumPy masked array become NaN."""
    array = as_numpy(value, what)
    if fill and isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "biuf" and np.ma.is_masked(array):
        kind = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
        return as_samples(np.ma.filled(array.astype(kind), np.nan), what)[0], "masked elements to NaN"
    dtype = array.dtype
    if dtype.kind == "b":
        array, dtype = array.view(np.uint8), np.dtype(np.uint8)
    if dtype.kind == "f" and dtype.itemsize == 2:
        return copied(array, np.float32), "float16 to float32"
    if not code_of(dtype):
        raise TypeError(f"{what} with {text_of(array)} has no real numbers of 8 to 64 bits: convert it, for example by"
                        " .astype('float32')")
    if not dtype.isnative:
        return copied(array, dtype.newbyteorder("=")), "bytes swapped"
    if array.ndim == 3 and not any(array.strides):  # which the core takes for packed samples
        return copied(array), "copied: all strides are 0"
    if not array.flags.aligned or any(stride % dtype.itemsize for stride in array.strides):
        return copied(array), "copied: strides are no multiples of the item's size"
    return array, ""


def number(value: Any, name: str) -> float:
    """A float; text is no number."""
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"{name} is a number, not {value!r}")
    return float(value)


def whole(value: Any, name: str) -> int:
    if not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    return index(value)


def numbers(value: Any, name: str, count: int = 3) -> tuple[float, ...]:
    """So many finite floats."""
    try:
        found = tuple([one if type(one) is float else number(one, name) for one in value])
    except (TypeError, ValueError):
        raise TypeError(f"{name} has {count} numbers, but is {value!r}") from None
    if len(found) != count:
        raise ValueError(f"{name} has {count} numbers, not {len(found)}")
    if not all(map(isfinite, found)):
        raise ValueError(f"{name} has a number that is not finite: {value!r}")
    return found


def floats(value: Any, name: str) -> np.ndarray[Any, Any]:
    """A new array of float64."""
    try:
        return np.array(value, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} has numbers, but is {value!r}") from None


def type_of_points(dtype: Any, reach: float, cell: float) -> np.dtype[Any]:
    """Of a mesh with a greatest coordinate `reach`: where a 32nd of a cell is below the steps of float32, float64."""
    if dtype is None:
        return _FLOAT64 if reach > cell * 2**18 else _FLOAT32
    try:
        given = np.dtype(dtype)
    except TypeError:
        given = None
    if given not in (np.float32, np.float64):
        raise ValueError(f"dtype of the points is float32 or float64, not {dtype!r}")
    return given


def one_of(value: Any, name: str, choices: Collection[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is one of {', '.join(choices)}, not {value!r}")
    return value


def isovalues_of(given: Any) -> tuple[float, ...]:
    """The isovalues of a number or a list of numbers."""
    if isinstance(given, (float, int)):
        try:
            return (float(given),)
        except OverflowError:
            raise ValueError("an isovalue is beyond the range of a float") from None
    values = np.asarray(given)
    if values.ndim > 1:
        raise ValueError(f"an isovalue is a number or a list of numbers, but this has {text_of(values)}")
    try:
        if values.dtype.kind not in "biufO":  # float() reads text and times, too
            raise TypeError
        return tuple(float(value) for value in values.ravel())
    except TypeError:
        raise TypeError(f"an isovalue is a number or a list of numbers, not {given!r}") from None


def packed(array: np.ndarray[Any, Any], order: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The array with the first axis of `order` fastest in memory, as the core wants arrays without strides."""
    turned = array.transpose(*order[::-1], *range(3, array.ndim))
    return turned if turned.flags.c_contiguous else copied(turned, order="C")
