# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of 3-d arrays, surfaces of particles and pictures by rays, on all cores or a CUDA GPU.

>>> import numpy, pmb
>>> x, y, z = numpy.ogrid[-1:1:32j, -1:1:32j, -1:1:32j]
>>> mesh = pmb.contour(x * x + y * y + z * z, 0.5)
>>> mesh.points.shape[1], mesh.triangles.shape[1]
(3, 3)

Start with `help(pmb.contour)`, `help(pmb.Volume)`, `help(pmb.particles)` and `help(pmb.render)`.
"""
from __future__ import annotations

import os as _os
import sys as _sys


def _paraview_package() -> str | None:
    """The folder of the ParaView plugin's package of this name, if this process runs ParaView and has it."""
    if "paraview" in _sys.modules or _os.path.basename(_sys.executable or "").startswith(("pv", "paraview")):
        for folder in _sys.path:
            if _os.path.exists(_os.path.join(folder, "pmb", "vtkPMBContour.so")):
                return _os.path.join(folder, "pmb")
    return None


_plugin = _paraview_package()
if _plugin:  # stands aside: the plugin needs its own package under this name
    __path__ = [_plugin]
    with open(_os.path.join(_plugin, "__init__.py"), encoding="utf-8") as _file:
        exec(compile(_file.read(), _file.name, "exec"))
else:
    from ._core import version as __version__  # first: it refuses subinterpreters before NumPy is loaded
    from ._context import Device, empty_cache, find_device, set_threads
    from ._device import DeviceArray
    from ._mesh import Measures, Mesh
    from ._particles import particles
    from ._render import Camera, render
    from ._volume import Histogram, Volume, contour

    __all__ = ["Camera", "Device", "DeviceArray", "Histogram", "Measures", "Mesh", "Volume", "__version__", "contour",
               "empty_cache", "find_device", "particles", "render", "set_threads"]
