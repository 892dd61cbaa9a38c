# SPDX-License-Identifier: BSD-3-Clause
"""Host memory of meshes that are gone, for the next meshes of the same volume. New pages of a dense mesh take as long as its
triangles do on the CPU, and as long as the way from the GPU."""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ._core import host_allocate, host_release, host_trim

_WORTH_KEEPING = 256 << 10  # bytes
_open_on_gpus: set[int] = set()


class _Loan:
    """Memory of one array, which refers to it. Goes back when the last view of the array is gone, in any thread."""

    def __init__(self, owner: HostMemory, address: int, block: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self._owner, self._address, self._block = owner, address, block
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": shape,
                                    "typestr": np.dtype(dtype).str}

    def __del__(self) -> None:
        self._owner._take_back(self._address, self._block)


class HostMemory:
    """Makes arrays. `on_gpu`: of memory that a GPU reaches directly (`pmb_host_allocate`), which the core keeps itself; else
    of ordinary memory. Without a lock, since a garbage collection may call `_take_back` at any place."""

    def __init__(self, on_gpu: bool) -> None:
        self._on_gpu, self._is_open = on_gpu, True
        self._kept: dict[int, Any] = {}  # by address, the first released first
        if on_gpu:
            _open_on_gpus.add(id(self))

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        size = prod(shape) * np.dtype(dtype).itemsize
        if size < _WORTH_KEEPING:
            return np.empty(shape, dtype)
        address, block = host_allocate(size) if self._on_gpu else 0, None
        if not address:
            block = self._take(size)
            address = block.__array_interface__["data"][0]
        return np.asarray(_Loan(self, address, block, shape, dtype))

    def _take(self, size: int) -> Any:
        """The smallest block that fits and is not much too large, or a new one in place of the oldest ones."""
        fitting = [(block.nbytes, address) for address, block in list(self._kept.items())
                   if size <= block.nbytes <= size + size // 3]
        if fitting:
            return self._kept.pop(min(fitting)[1])
        spare = size // 16 if self._kept else 0  # for a surface that grows; nothing touches it until then
        removed = 0
        for address in list(self._kept):  # a copy: memory may come back meanwhile
            removed += self._kept.pop(address).nbytes if removed < size else 0
        return np.empty(size + spare, np.uint8)

    def _take_back(self, address: int, block: Any) -> None:
        if block is None:
            host_release(address)
            if not _open_on_gpus:
                host_trim()
        elif self._is_open:
            self._kept[address] = block

    def close(self) -> None:
        """Gives kept memory free. Arrays that are in use stay valid."""
        self._is_open = False
        self._kept.clear()
        if self._on_gpu:
            _open_on_gpus.discard(id(self))
            if not _open_on_gpus:
                host_trim()
