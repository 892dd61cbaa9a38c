# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of volumes by rays."""
from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _context
from ._arrays import address_of, floats, isovalues_of, number, numbers, one_of, text_of, whole
from ._core import finish_picture
from ._device import DeviceArray
from ._volume import Volume, refuse, widened

_MODES = {"isosurface": 0, "composite": 1, "maximum": 2, "minimum": 3, "average": 4}
_COLORS = ((0.85, 0.65, 0.45, 1), (0.35, 0.55, 0.85, 1), (0.45, 0.75, 0.4, 1), (0.8, 0.4, 0.55, 1))
_PART = 1 << 20  # pixels that become bytes between two looks at signals


@dataclass
class Camera:
    """A camera, in the coordinates of the volume.

    Parameters
    ----------
    direction : 3 floats
        From the camera into the scene. Used where `position` is None: the camera then sees the whole volume.
    up : 3 floats
        What is upward in the picture.
    angle : float
        Vertical field of view in degrees. 0: parallel projection.
    zoom : float
        Greater than 1: things are that much larger.
    position, focus : 3 floats, optional
        Place of the camera, and the point in the middle of the picture.
    """

    direction: Sequence[float] = (-0.6, -0.7, -0.4)
    up: Sequence[float] = (0.0, 0.0, 1.0)
    angle: float = 30.0
    zoom: float = 1.0
    position: Sequence[float] | None = None
    focus: Sequence[float] | None = None

    def matrix(self, corners: Any, aspect: float) -> Any:
        """The 4 x 4 matrix from the world to OpenGL's clip space. corners: (8, 3), those of the volume."""
        middle = corners.mean(axis=0)
        if not 0 <= number(self.angle, "the camera's angle") < 180:
            raise ValueError(f"the camera's angle is from 0 to below 180 degrees, not {self.angle}")
        if not 0 < number(self.zoom, "the camera's zoom") < np.inf:
            raise ValueError(f"the camera's zoom is above 0, not {self.zoom}")
        reach = float(np.linalg.norm(corners - middle, axis=1).max()) or 1.0
        focus = middle if self.focus is None else np.asarray(numbers(self.focus, "the camera's focus"))
        half = np.radians(self.angle) / 2
        if self.position is None:
            back = _unit(-np.asarray(numbers(self.direction, "the camera's direction")))
            eye = focus + back * (reach / np.sin(half) if half > 0 else 2 * reach)
        else:
            eye = np.asarray(numbers(self.position, "the camera's position"))
            back = _unit(eye - focus)
        right = np.cross(numbers(self.up, "the camera's up"), back)
        if not np.linalg.norm(right) > 1e-9:
            raise ValueError(f"the camera's direction {(-back).tolist()} and up {list(self.up)} are parallel or zero")
        right /= np.linalg.norm(right)
        view = np.identity(4)
        view[:3, :3] = right, np.cross(back, right), back
        view[:3, 3] = -view[:3, :3] @ eye
        depths = -(view[2, :3] @ corners.T + view[2, 3])
        far = float(depths.max()) * 1.001 + 1e-6 * reach
        near = float(depths.min()) * 0.999 - 1e-6 * reach
        near = max(near, far * 1e-4) if half > 0 else near
        lens = np.zeros((4, 4))
        size = self.zoom * min(aspect, 1) / (np.tan(half) if half > 0 else reach)
        lens[0, 0], lens[1, 1] = size / aspect, size
        if half > 0:
            lens[3, 2] = -1
            lens[2, 2], lens[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
        else:
            lens[3, 3] = 1
            lens[2, 2], lens[2, 3] = -2 / (far - near), -(far + near) / (far - near)
        return lens @ view


def _unit(vector: Any) -> Any:
    """The vector with length 1, or 0 as it is."""
    return vector / (float(np.linalg.norm(vector)) or 1.0)


def _table(colormap: Any, composite: bool) -> Any:
    """n x 4 colors of values."""
    if isinstance(colormap, str):
        raise TypeError(f"colormap is a function or colors, not a name: matplotlib.colormaps[{colormap!r}] is one")
    if colormap is None:
        ramp = np.linspace(0, 1, 256)
        return np.stack([ramp, ramp, ramp, ramp if composite else np.ones(256)], axis=1)
    table = floats(colormap(np.linspace(0, 1, 256)) if callable(colormap) else colormap, "colormap")
    if table.ndim != 2 or table.shape[1] not in (3, 4) or not 2 <= len(table) <= 4096:
        raise ValueError(f"colormap is a function or 2 to 4096 colors of 3 or 4 numbers, but has {text_of(table)}")
    return table if table.shape[1] == 4 else np.hstack([table, np.ones((len(table), 1))])


def render(volume: Any, isovalue: float | Sequence[float] | None = None, camera: Camera | None = None,
           size: tuple[int, int] = (800, 600), *, mode: str | None = None, colors: Any = None, colormap: Any = None,
           opacity: Any = None, range: tuple[float, float] | None = None, unit: float | None = None,
           background: Sequence[float] | None = (1.0, 1.0, 1.0), shade: bool = True, step: float = 0.0,
           spacing: Sequence[float] = (1.0, 1.0, 1.0), origin: Sequence[float] = (0.0, 0.0, 0.0), direction: Any = None,
           mask: Any = None, device: Any = None, progress: Callable[[float], object] | None = None) -> Any:
    """Draw a volume by rays, without a mesh and without a window.

    Parameters
    ----------
    volume : (a, b, c) array or Volume
        With spacing, origin, direction, mask and device as in `Volume`.
    isovalue : float or list of floats, optional
        Isosurfaces to draw, at most 16.
    camera : Camera, optional
        Default: sees the whole volume.
    size : (width, height)
        Of the picture in pixels.
    mode : {"isosurface", "composite", "maximum", "minimum", "average"}
        Default: "isosurface" with an isovalue, else "composite".
    colors : (n, 3) or (n, 4) floats, for each isovalue
        Red, green, blue and, with four, opacity, from 0 to 1.
    colormap : function or (n, 3 or 4) array
        Colors of values over `range`, for the other modes. Matplotlib's colormaps work.
    opacity : list of floats, optional
        Opacities over `range`, in place of the colormap's.
    range : (low, high), optional
        Default: that of the samples.
    unit : float, optional
        World length that an opacity stands for, in mode "composite". Default: a 50th of the volume's diagonal.
    background : 3 floats, or None
        None: the picture gets a fourth channel, its opacity.
    shade : bool
        Light surfaces, and colors of mode "composite".
    step : float
        World length between samples of a ray. 0: half the shortest edge of a cell.
    progress : callable, optional
        See `Volume`.

    Returns
    -------
    (height, width, 3 or 4) uint8 array
        The first row is the upper one. Of an array in a GPU's memory the picture is there, too, as `pmb.DeviceArray`.

    Examples
    --------
    >>> import numpy, pmb
    >>> x, y, z = numpy.ogrid[-1:1:32j, -1:1:32j, -1:1:32j]
    >>> pmb.render(-x * x - y * y - z * z, -0.5, size=(80, 60)).shape
    (60, 80, 3)
    """
    if not isinstance(volume, Volume):
        first, second = _context.halves(progress)
        with Volume(volume, spacing, origin, direction, mask, device, first) as made:
            return render(made, isovalue, camera, size, mode=mode, colors=colors, colormap=colormap, opacity=opacity,
                          range=range, unit=unit, background=background, shade=shade, step=step, progress=second)
    refuse(spacing, origin, direction, mask, device)
    mode = mode or ("composite" if isovalue is None else "isosurface")
    one_of(mode, "mode", _MODES)
    values = isovalues_of([] if isovalue is None else isovalue)
    if not (mode == "isosurface") <= len(values) <= 16:
        raise ValueError(f"a picture shows 1 to 16 isovalues, not {len(values)}")
    try:
        given = np.atleast_2d(np.asarray(_COLORS if colors is None else colors, float))
    except ValueError:
        raise TypeError(f"colors are 3 numbers from 0 to 1 for each isovalue, or 4 for each, not {colors!r}") from None
    if given.ndim != 2 or given.shape[1] not in (3, 4) or len(given) == 0:
        raise ValueError(f"colors have 3 or 4 numbers each, but these have {text_of(given)}")
    levels = [number for i, value in enumerate(values) for number in (value, *(*given[i % len(given)], 1.0)[:4])]
    matrix = np.asarray(volume._place.matrix).reshape(3, 4)
    ends = [(0, n - 1) for n in (volume.shape[axis] for axis in volume._place.order)]
    corners = np.array([[i, j, k, 1] for i in ends[0] for j in ends[1] for k in ends[2]]) @ matrix.T
    if isinstance(size, str) or np.shape(size) != (2,):
        raise ValueError(f"size is (width, height), not {size!r}")
    width, height = (whole(length, "a side of size") for length in size)
    if width < 1 or height < 1:
        raise ValueError(f"a picture has at least one pixel each way, not {width} x {height}")
    info = volume.info()
    all_values = widened(float(info["minimum"] or 0), float(info["maximum"] or 0))
    low, high = all_values if range is None else numbers(range, "range", 2)
    table = _table(colormap, mode == "composite")
    if opacity is not None:
        curve = floats(opacity, "opacity").ravel()
        if len(curve) == 0:
            raise ValueError("opacity is an empty list: give at least one number, or leave it out")
        table[:, 3] = np.interp(np.linspace(0, 1, len(table)), np.linspace(0, 1, len(curve)), curve)
    table = np.ascontiguousarray(table, np.float32)
    behind = None if background is None else numbers(background, "background")
    if behind and not 0 <= min(behind) <= max(behind) <= 1:
        raise ValueError(f"background has numbers from 0 to 1, but is {background!r}")
    gpu = int(info["device_number"] or 0) if info["device"] == "cuda" else None  # pictures are made where the rays are

    def new(channels: int, dtype: Any) -> Any:
        shape = height, width, channels
        return np.empty(shape, dtype) if gpu is None else DeviceArray(shape, dtype, gpu)

    pixels, picture = new(4, np.float32), new(4 if behind is None else 3, np.uint8)
    if not isinstance(camera, (Camera, type(None))):
        raise TypeError(f"camera is a pmb.Camera, not {camera!r}")
    clip = (camera or Camera()).matrix(corners, width / height)
    diagonal = float(np.linalg.norm(corners.max(axis=0) - corners.min(axis=0)))
    unit, step = number(unit or diagonal / 50 or 1.0, "unit"), number(step, "step")
    light = (0.15, 0.75, 0.2) if shade else (1.0, 0.0, 0.0)  # ambient, diffuse, specular
    with volume._lock, _context.reporting(volume._used(), progress):
        volume._used().cast_rays(_MODES[mode], width, height, clip.ravel().tolist(), step, 0, levels, address_of(table),
                                 len(table), low, high if high != low else low + 1, unit, 0, 0, 0.0, 1,
                                 bool(shade), *light, 20.0, address_of(pixels), 0, gpu is not None)
    rows = height if gpu is not None else max(1, _PART // width)
    for top in builtins.range(0, height, rows):  # Ctrl-C is heard between parts
        count = min(rows, height - top)
        finish_picture(address_of(pixels) + 16 * width * (height - top - count),  # whose first row is the lowest
                       address_of(picture) + picture.shape[2] * width * top, width, count, behind,
                       -1 if gpu is None else gpu)
    return picture if gpu is None or volume._gpu is not None else picture.numpy()
