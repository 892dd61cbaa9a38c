# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in a GPU's memory: those of other libraries, and ours."""
from __future__ import annotations

import sys
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ._arrays import code_of, text_of
from ._core import Memory, copy_memory, read_dlpack, wait_for, write_dlpack
from ._core import device_of as gpu_of

_CUDA, _MANAGED = 2, 13  # DLPack's device types
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}  # DLPack's type codes
LEGACY = 1  # the legacy default stream, as CUDA, DLPack and __cuda_array_interface__ count


class View:
    """An array of another library in a GPU's memory. `strides` are in bytes, as NumPy's."""

    def __init__(self, source: Any, owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None,
                 dtype: Any) -> None:
        self.source, self.owner, self.address, self.shape = source, owner, address, shape
        self.device = max(gpu_of(address), 0)  # an empty array has no address
        self.dtype = np.dtype(np.uint8) if dtype == np.dtype(bool) else dtype
        self.ndim, self.itemsize = len(shape), self.dtype.itemsize
        self.strides = packed_strides(shape, self.itemsize) if strides is None else strides

    def __len__(self) -> int:
        return self.shape[0]

    def wait(self, stream: int | None = None) -> None:
        """Until the work that its library has enqueued is done, or is ordered before the legacy default stream, for which
        the core waits. `stream`: the library's, if it is known."""
        stream = _stream_of(self.source) if stream is None else stream
        if not stream:
            self.source.__dlpack__(stream=LEGACY)
        elif stream != LEGACY:
            wait_for(self.device, stream)

    def is_packed(self, strides: tuple[int, ...]) -> bool:
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.strides, strides))


def packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes where the last axis is the fastest."""
    strides, step = [0] * len(shape), itemsize
    for axis in reversed(range(len(shape))):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def _torch_of(value: Any) -> Any:
    """PyTorch, if the array is its tensor."""
    torch: Any = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") and isinstance(value, torch.Tensor) else None


def is_on_device(value: Any) -> bool:
    if isinstance(value, (np.ndarray, View)):
        return isinstance(value, View)
    if _torch_of(value):
        return bool(value.is_cuda)
    if hasattr(value, "__dlpack_device__"):
        return value.__dlpack_device__()[0] in (_CUDA, _MANAGED)
    return hasattr(value, "__cuda_array_interface__")


def _stream_of(value: Any) -> int:
    """In which the array's library works now. 0: its DLPack alone knows."""
    torch = _torch_of(value)
    if torch:
        raw, device = getattr(torch._C, "_cuda_getCurrentRawStream", None), value.get_device()  # raw takes 3 us less
        return int(raw(device) if raw else torch.cuda.current_stream(device).cuda_stream) or LEGACY
    seen = getattr(value, "__cuda_array_interface__", {})
    return int(seen.get("stream") or LEGACY) if "stream" in seen or not hasattr(value, "__dlpack__") else 0


@cache
def _type_of(torch_type: Any) -> np.dtype[Any]:
    """NumPy's type for one of PyTorch; void: there is none."""
    try:
        return np.dtype(str(torch_type).removeprefix("torch."))
    except TypeError:
        return np.dtype(np.void)


def _view_of_tensor(tensor: Any) -> View:
    """Of PyTorch, whose array interface takes 10 us longer, and DLPack 25."""
    if tensor.requires_grad:
        raise TypeError("it requires grad: call .detach()")
    if tensor.is_neg():
        raise TypeError("its samples await a change of sign: call .resolve_neg()")
    dtype = _type_of(tensor.dtype)
    strides = tuple([stride * dtype.itemsize for stride in tensor.stride()])
    return View(tensor, tensor, tensor.data_ptr(), tuple(tensor.shape), strides, dtype)


def _view_of_interface(value: Any) -> View:
    """Of __cuda_array_interface__: CuPy's DLPack has wrong negative strides."""
    seen = value.__cuda_array_interface__
    if seen.get("mask") is not None:
        raise TypeError("it has a mask: pass mask= in place of it")
    strides = seen.get("strides")
    return View(value, value, seen["data"][0], tuple(seen["shape"]), None if strides is None else tuple(strides),
                np.dtype(seen["typestr"]))


def as_view(value: Any, what: str) -> View:
    """A view of an array on a GPU. Its library's work is ordered before ours."""
    if isinstance(value, View):
        return value
    try:
        stream = _stream_of(value)
        if stream:
            view = _view_of_tensor(value) if _torch_of(value) else _view_of_interface(value)
            view.wait(stream)
        else:
            owner, address, _, _, code, bits, lanes, shape, strides = read_dlpack(value.__dlpack__(stream=LEGACY))
            if code not in _KINDS or lanes != 1:
                raise TypeError(f"its DLPack type is code {code} with {bits} bits and {lanes} lanes")
            dtype = np.dtype(_KINDS[code] + str(bits // 8))
            view = View(value, owner, address, shape, None if strides is None else tuple(s * dtype.itemsize
                                                                                         for s in strides), dtype)
    except Exception as error:
        raise TypeError(f"{what} with {text_of(value)} cannot be read on its GPU: {error}") from error
    if not code_of(view.dtype) or not view.dtype.isnative or any(stride % view.itemsize for stride in view.strides):
        raise TypeError(f"{what} with {text_of(value)} is on a GPU, where integers and floats of 8 to 64 bits are read, with"
                        " strides that are multiples of their size: convert it there, for example by .float()")
    if view.ndim == 3 and not any(view.strides):  # which the core takes for packed samples
        raise TypeError(f"{what} with {text_of(value)} is one number, repeated: make it contiguous")
    return view


def beside(value: Any, what: str, device: int, of: str) -> View:
    """A view of an array that must be on the GPU of another one."""
    view = as_view(value, what) if is_on_device(value) else None
    if view is None or view.device != device:
        raise TypeError(f"{what} with {text_of(value)} is not on cuda:{device}, where {of}: move it there")
    return view


def host_copy(array: Any) -> np.ndarray[Any, Any]:
    """An array of one axis in host memory."""
    if not isinstance(array, View):
        return array
    step, count = array.strides[0] // array.itemsize, len(array)
    host = np.empty(step * (count - 1) + 1 if count else 0, array.dtype)
    copy_memory(host.ctypes.data, array.address, host.nbytes)
    return host[::step]


def device_for(view: View, device: Any, what: str) -> str:
    """The device to compute on: where the array is."""
    where = f"cuda:{view.device}"
    if device is not None and str(device) not in ("cuda", where):
        raise ValueError(f"{what} is on {where}, but device is {str(device)!r}: leave it out, or move the array")
    return where


class DeviceArray:
    """An array in a GPU's memory.

    Other libraries take it without a copy, by DLPack (``torch.from_dlpack(a)``, ``cupy.from_dlpack(a)``) or by
    ``__cuda_array_interface__`` (``numba.cuda.as_cuda_array(a)``). It is complete: readers need not wait. Its memory lasts
    as long as a reader keeps it, and goes back when the readers' work has ended.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, device: int, wait: bool = True) -> None:
        self.shape, self.dtype, self.device = shape, np.dtype(dtype), device
        self._memory = Memory(device, self.nbytes, wait)

    @classmethod
    def from_host(cls, array: Any, device: int = 0) -> DeviceArray:
        """Copy an array from the host to a GPU."""
        host = np.ascontiguousarray(array)
        made = cls(host.shape, host.dtype, device)
        copy_memory(made.address, host.ctypes.data, host.nbytes)
        return made

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def address(self) -> int:
        return self._memory.address

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<pmb.DeviceArray: {text_of(self)} on cuda:{self.device}>"

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy in host memory."""
        host = np.empty(self.shape, self.dtype)
        copy_memory(host.ctypes.data, self.address, self.nbytes)
        return host

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self._memory.read_by(None)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3, "strides": None,
                "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.device

    def __dlpack__(self, *, stream: int | None = None, max_version: Any = None, dl_device: Any = None,
                   copy: bool | None = None) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError(f"an array on cuda:{self.device} is offered there alone, without a copy: .numpy() copies it")
        self._memory.read_by(None if stream == -1 else LEGACY if stream is None else stream)
        code = {kind: code for code, kind in _KINDS.items()}[self.dtype.kind]
        return write_dlpack(self._memory, code, 8 * self.dtype.itemsize, self.shape)
