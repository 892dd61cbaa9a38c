# SPDX-License-Identifier: BSD-3-Clause
"""The core's messages in the words of this package: core.c passes each of them through `in_python`."""
from __future__ import annotations

import re
from collections.abc import Callable

KERNELS = ("spline", "gaussian", "polynomial", "spheres")  # in the core's order

# Texts of the core, as regular expressions, and what they are here.
_WORDS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"^pmb_\w+: ", ""),
    # Volumes.
    (r"index_to_world has no finite inverse; check spacing and direction:",
     "spacing, origin and direction must be finite and keep samples apart, but are"),
    (r"dims (?:are )?(?=\S+ x)", "an array of "),
    (r"times dim (\S+) overflows", r"times \1 samples is too large"),
    (r"no volume is bound; call pmb_bind first", "the last update() did not finish: call it again"),
    (r"on_device is set, but (.+) at (\S+) is host memory; .*",
     r"\1 at \2 is host memory, though its library says that it is on a GPU"),
    (r"; set on_device, or pass host memory", ""),
    (r"the context uses GPU (\S+) \(both from 0\)", r"this works on GPU \1"),
    # Meshes.
    (r"its part has (\S+) points from \S+ on; .*", r"the mesh has \1 points"),
    # Particles.
    (r"PMB_KERNEL_(\w+)(?: \(\S+\))?", lambda found: repr(found[1].lower())),
    (r"\bkernel is (\d)", lambda found: f"kernel is {KERNELS[int(found[1])]!r}"),
    (r"anisotropic is \S+, and", "anisotropic is True, and"),
    (r", or set radii", ""),
    (r"\bspacing is", "the edge of a cell, cell_size times radius, is"),
    (r"\bspacing (\S+) gives", r"cells of edge \1, cell_size times radius, give"),
    (r"with spacing (\S+) need", r"with cells of edge \1, cell_size times radius, need"),
    (r"a spacing of", "an edge of"),
    (r"larger spacing", "larger cell_size"),
    (r"use the CPU,", 'use device="cpu",'),
    (r", and on_device is set; pass host memory,", "; pass points in host memory,"),
    (r"use double precision, or smaller radii", "use smaller coordinates and radii"),
    (r"; count them again", "; call it again"),
    # Pictures.
    (r"world_to_clip has no inverse; ", ""),
    (r"^table has", "colormap or opacity has"),
    (r"the table goes from (\S+) to (\S+) with unit", r"range is \1 to \2 and unit"),
    (r"pixels, colors \w+;", "pixels;"),
]


def in_python(text: str) -> str:
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text
