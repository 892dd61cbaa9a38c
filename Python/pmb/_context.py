# SPDX-License-Identifier: BSD-3-Clause
"""Contexts of the core. They keep their threads and memory for the next caller."""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, wraps
from traceback import clear_frames
from typing import NamedTuple, ParamSpec, TypeVar

from ._arrays import whole
from ._core import Context, free_memory, memory_of

_KEPT = 4  # idle contexts of a kind
_idle: dict[tuple[int, int, int], list[Context]] = {}
_threads = 0


def set_threads(number: int = 0) -> None:
    """Set the number of CPU threads of later calls.

    Parameters
    ----------
    number : int
        0: as many as cores that this process may use.
    """
    global _threads
    number = whole(number, "the number of threads")
    if not 0 <= number <= 1024:
        raise ValueError(f"the number of threads is 0 to 1024, not {number}")
    _threads = number


def parse_device(device: object) -> tuple[int, int]:
    """The core's device and its number, counted from 1, of None, "cpu", "cuda" or "cuda:1". Torch's devices read so, too."""
    return (0, 0) if device is None else _parse(str(device))


@cache
def _parse(device: str) -> tuple[int, int]:
    found = re.fullmatch(r"(cpu)|cuda(?::(\d{1,4}))?", device)
    if not found:
        raise ValueError(f"device is None, 'cpu', 'cuda' or 'cuda:N', not {device!r}")
    return (1, 0) if found[1] else (2, int(found[2]) + 1 if found[2] else 0)


def take(device: object) -> tuple[Context, tuple[int, int, int]]:
    """A context that nobody uses, and the key by which to give it back."""
    kind, number = parse_device(device)
    key = kind, number, _threads
    try:
        return _idle[key].pop(), key
    except (KeyError, IndexError):
        return Context(kind, _threads, number, None), key


@cache
def kept_bytes(gpu: int) -> int:
    """What an idle context keeps on a GPU, at most: enough for 1024^3 samples on one with 80 GB."""
    return max(64 << 20, memory_of(gpu) // 128)


def give_back(context: Context, key: tuple[int, int, int]) -> None:
    kept = _idle.setdefault(key, [])
    if len(kept) < _KEPT:
        kept.append(context)


def empty_cache() -> int:
    """Give the memory that is kept for later calls back to the system and the GPUs.

    Meshes and volumes stay, and what an open volume keeps in host memory for its meshes. A call that finds too little memory
    on a GPU does it by itself.

    Returns
    -------
    int
        Bytes given back by pools of meshes on GPUs.

    Examples
    --------
    >>> import pmb
    >>> pmb.empty_cache() >= 0
    True
    """
    _idle.clear()
    return free_memory()


_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_kept_memory(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function that is called again if memory ran out while some was kept."""
    @wraps(call)
    def tried(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
        try:
            return call(*arguments, **keywords)
        except MemoryError as error:
            clear_frames(error.__traceback__)  # which have a part of the result
            if not empty_cache():
                raise
        return call(*arguments, **keywords)

    return tried


class Device(NamedTuple):
    """What `find_device` finds."""

    #: "cuda" or "cpu"
    kind: str
    #: of the GPU, or the CPU's instruction set and threads
    name: str
    #: why no GPU is used; "": one is, or the CPU was asked for
    note: str


def find_device(device: object = None) -> Device:
    """Find out where calls with this `device` compute.

    Parameters
    ----------
    device : None, "cpu", "cuda" or "cuda:N"
        None: a GPU if there is one, else the CPU.

    Raises
    ------
    RuntimeError
        The GPU that was asked for cannot be used. The message says why.

    Examples
    --------
    >>> import pmb
    >>> pmb.find_device("cpu").kind
    'cpu'
    """
    context, key = take(device)
    info = context.info()
    give_back(context, key)
    name = info["device_name"] or f"{info['path']}, {info['threads']} threads"
    return Device(str(info["device"]), str(name), str(info["device_note"] or ""))


_SILENT: AbstractContextManager[None] = nullcontext()


def reporting(context: Context, progress: Callable[[float], object] | None, begin: float = 0.0,
              end: float = 1.0) -> AbstractContextManager[None]:
    """Calls progress(fraction) while the context works, from `begin` to `end`."""
    check_progress(progress)
    return _SILENT if progress is None else _reporting(context, progress, begin, end)


def halves(progress: Callable[[float], object] | None) -> tuple[Callable[[float], object] | None, ...]:
    """The hooks of two calls that are one for the user."""
    check_progress(progress)
    if progress is None:
        return None, None
    call = progress
    return lambda fraction: call(fraction / 2), lambda fraction: call(0.5 + fraction / 2)


def check_progress(progress: object) -> None:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is a function that takes the done fraction, not {progress!r}")


@contextmanager
def _reporting(context: Context, call: Callable[[float], object], begin: float, end: float) -> Iterator[None]:
    context.set_progress(lambda fraction: call(begin + fraction * (end - begin)))
    try:
        yield
        call(end)
    finally:
        context.set_progress(None)


def terminal_bar(label: str) -> Callable[[float], object] | None:
    """For progress=: draws a bar, or is None if there is no terminal."""
    if not sys.stderr.isatty():
        return None

    def draw(fraction: float) -> None:
        done = int(30 * fraction)
        end = "\n" if fraction >= 1 else ""
        sys.stderr.write(f"\r{label} [{'#' * done}{' ' * (30 - done)}] {100 * fraction:3.0f}%{end}")
        sys.stderr.flush()

    return draw
