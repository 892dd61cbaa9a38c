# SPDX-License-Identifier: BSD-3-Clause
"""Writers of meshes, without other packages."""
from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ._arrays import as_samples

if TYPE_CHECKING:
    from ._mesh import Mesh

_ORDER = "little" if sys.byteorder == "little" else "big"
_PLY = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint", "f4": "float", "f8": "double"}
_VTK = {"i": "Int", "u": "UInt", "f": "Float"}
_PIECE = 64 << 20


def check_output(path: str, endings: Any = None) -> None:
    """Raises an error for a file that cannot be written, before the work is done."""
    if os.path.splitext(path)[1].lower() not in (endings or WRITERS):
        raise ValueError(f"the file's name ends in none of {' '.join(endings or WRITERS)}: {path}")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder} for {path}")
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """A file that gets its name when all is written. After an error there is the old one, or none."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    in_place = (os.path.exists(target) and not os.path.isfile(target)) or not os.access(folder, os.W_OK)
    part = target if in_place else os.path.join(folder, f".pmb-{os.getpid()}-{get_ident()}")
    try:
        with open(part, "wb") as file:
            yield file
        if part != target:
            if os.path.exists(target):
                shutil.copymode(target, part)
            os.replace(part, target)
    except BaseException as error:
        if part != target:
            with suppress(OSError):
                os.unlink(part)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _write(file: BinaryIO, array: Any) -> None:
    """Writes in pieces, between which Python answers Ctrl-C. (tofile does not say why it fails.)"""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for first in range(0, len(data), _PIECE):
        file.write(data[first:first + _PIECE].data)


def _real(mesh: Mesh) -> Iterator[tuple[Any, Any]]:
    """Names and arrays, of one or two axes and types that files have. Those without components are left out."""
    for name, given in mesh.arrays.items():
        array = as_samples(given, f"array {name!r}")[0]
        if 0 not in array.shape[1:]:
            yield name, array if array.ndim < 3 else array.reshape(len(array), -1)


def save(mesh: Mesh, path: str) -> None:
    check_output(path)
    with writing(path) as file:
        WRITERS[os.path.splitext(path)[1].lower()](mesh, file)


def _ply(mesh: Mesh, file: BinaryIO) -> None:
    columns: list[tuple[str, Any]] = [(axis, mesh.points[:, i]) for i, axis in enumerate("xyz")]
    if mesh.normals is not None:
        columns += [("n" + axis, mesh.normals[:, i]) for i, axis in enumerate("xyz")]
    for name, array in _real(mesh):
        word, used = re.sub(r"\W+", "_", str(name)) or "_", {column for column, _ in columns}
        while {word, word + "_0"} & used:
            word += "_"
        columns += [(word, array)] if array.ndim == 1 else [(f"{word}_{i}", array[:, i]) for i in range(array.shape[1])]
    # PLY has no 64-bit integers.
    kinds = [c.dtype.str[1:] if c.dtype.str[1:] in _PLY else "f8" for _, c in columns]
    points = np.empty(len(mesh.points), [(name, kind) for (name, _), kind in zip(columns, kinds)])
    for name, column in columns:
        points[name] = column
    if len(mesh.points) >= 1 << 31:
        raise ValueError("PLY has 32-bit indices: save so many points as .vtp or .npz")
    faces = np.empty(len(mesh.triangles), [("n", "u1"), ("ids", "i4", 3)])
    faces["n"], faces["ids"] = 3, mesh.triangles
    file.write("\n".join(["ply", f"format binary_{_ORDER}_endian 1.0", f"element vertex {len(points)}"]
                         + [f"property {_PLY[kind]} {name}" for (name, _), kind in zip(columns, kinds)]
                         + [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header",
                            ""]).encode())
    _write(file, points)
    _write(file, faces)


def _stl(mesh: Mesh, file: BinaryIO) -> None:
    file.write(b"PMB Contour".ljust(80) + np.uint32(len(mesh.triangles)).astype("<u4").tobytes())
    for first in range(0, len(mesh.triangles), 1 << 16):
        corners = mesh.points[mesh.triangles[first:first + (1 << 16)]].astype(np.float64)
        facets = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        facets["normal"] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
        facets["corners"] = corners
        file.write(facets.tobytes())


def _lines(file: BinaryIO, line: bytes, rows: Any) -> None:
    """Formats many rows at once: numpy.savetxt, a row at a time, takes three to five times as long."""
    for first in range(0, len(rows), 1 << 12):
        piece = rows[first:first + (1 << 12)]
        file.write(line * len(piece) % tuple(piece.ravel().tolist()))


def _obj(mesh: Mesh, file: BinaryIO) -> None:
    _lines(file, b"v %.9g %.9g %.9g\n" if mesh.points.dtype == np.float32 else b"v %.17g %.17g %.17g\n", mesh.points)
    ids = mesh.triangles.astype(np.int64) + 1
    if mesh.normals is None:
        _lines(file, b"f %d %d %d\n", ids)
    else:
        _lines(file, b"vn %.9g %.9g %.9g\n", mesh.normals)
        _lines(file, b"f %d//%d %d//%d %d//%d\n", np.repeat(ids, 2, axis=1))


def _vtp(mesh: Mesh, file: BinaryIO) -> None:
    blocks: list[Any] = []
    names: set[str] = set()
    offset = 0

    def array(name: str, values: Any) -> str:
        nonlocal offset
        values = np.ascontiguousarray(values)
        name = re.sub(r"[\0-\x1f]", "_", str(name)) or "_"
        while name in names:
            name += "_"
        names.add(name)
        components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim > 1 else ""
        quoted = name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        text = (f'<DataArray type="{_VTK[values.dtype.kind]}{8 * values.itemsize}" Name="{quoted}"{components}'
                f' format="appended" offset="{offset}"/>')
        blocks.append(values)
        offset += 8 + values.nbytes
        return text

    m = len(mesh.triangles)
    ids = np.int32 if 3 * m < 1 << 31 else np.int64
    head = [f'<VTKFile type="PolyData" version="1.0" byte_order="{_ORDER.title()}Endian" header_type="UInt64"><PolyData>'
            f'<Piece NumberOfPoints="{len(mesh.points)}" NumberOfPolys="{m}"><PointData'
            + (' Normals="Normals">' if mesh.normals is not None else ">")]
    if mesh.normals is not None:
        head.append(array("Normals", mesh.normals))
    if mesh.gradients is not None:
        head.append(array("Gradients", mesh.gradients))
    head += [array(name, values) for name, values in _real(mesh)]
    head += ["</PointData><Points>", array("Points", mesh.points), "</Points><Polys>",
             array("connectivity", mesh.triangles.astype(ids, copy=False).ravel()),
             array("offsets", np.arange(3, 3 * m + 3, 3).astype(ids)),
             '</Polys></Piece></PolyData><AppendedData encoding="raw">_']
    file.write("\n".join(head).encode())
    for block in blocks:
        file.write(np.uint64(block.nbytes).tobytes())
        _write(file, block)
    file.write(b"</AppendedData></VTKFile>\n")


def _npz(mesh: Mesh, file: BinaryIO) -> None:
    parts = {"points": mesh.points, "triangles": mesh.triangles, "normals": mesh.normals, "gradients": mesh.gradients}
    np.savez(file, **{name: part for name, part in parts.items() if part is not None},
             **{f"array_{name}": array for name, array in mesh.arrays.items()})


WRITERS = {".ply": _ply, ".stl": _stl, ".obj": _obj, ".vtp": _vtp, ".npz": _npz}
