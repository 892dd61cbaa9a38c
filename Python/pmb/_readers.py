# SPDX-License-Identifier: BSD-3-Clause
"""Readers for the command line. Formats other than NumPy's and text need SimpleITK or vtk."""
from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ._arrays import text_of


class Scan(NamedTuple):
    """A volume and where it lies, as `pmb.Volume` takes it."""

    array: Any
    spacing: tuple[float, ...] = (1.0, 1.0, 1.0)
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    direction: Any = None


def _package(name: str, what: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise ImportError(f"to read {what}, install {name}: pip install {name}") from None


@contextmanager
def _reading(path: str, advice: str = "") -> Iterator[None]:
    """Errors of other packages name the file, on one line."""
    try:
        yield
    except (EOFError, LookupError, RuntimeError, TypeError, ValueError) as error:
        text = " ".join(str(error).rsplit("ERROR:", 1)[-1].split())
        text = text if len(text) < 300 else text[:300] + " ..."
        raise ValueError(f"{path} cannot be read: {text or type(error).__name__}{advice}") from error


def _raw(path: str, shape: Any, dtype: str | None) -> Any:
    with _reading(path):
        kind, size = np.dtype(dtype or "uint8"), os.path.getsize(path)
    needed = prod(shape) * kind.itemsize
    if min(shape) < 1:
        raise ValueError(f"--shape has at least one sample along each axis, not {' '.join(map(str, shape))}")
    if size != needed:
        raise ValueError(f"{path} has {size} bytes, but {' x '.join(map(str, shape))} samples of {kind} have {needed}:"
                         " give another --shape or --dtype")
    return np.memmap(path, kind, "r", shape=tuple(shape))


def _by_simpleitk(path: str) -> Scan:
    itk = _package("SimpleITK", path)
    itk.ProcessObject.SetGlobalWarningDisplay(False)  # the errors say it
    if os.path.isdir(path):
        reader = itk.ImageSeriesReader()
        series = [reader.GetGDCMSeriesFileNames(path, name) for name in reader.GetGDCMSeriesIDs(path)]
        if not series:
            raise ValueError(f"there is no DICOM series in {path}; folders within it are not searched")
        files = max(series, key=len)
        if len(series) > 1:
            print(f"pmb: {path} has {len(series)} DICOM series; the largest, of {len(files)} files, is read",
                  file=sys.stderr)
        reader.SetFileNames(files)
        image = reader.Execute()
    else:
        with _reading(path, "; raw samples need --shape and --dtype; .npy, .vti, .nrrd, .nii, .mha and"
                            " DICOM are read without"):
            image = itk.ReadImage(path)
    if image.GetDimension() != 3:
        raise ValueError(f"{path} has {image.GetDimension()} dimensions, not 3")
    return Scan(itk.GetArrayFromImage(image).T, image.GetSpacing(), image.GetOrigin(), image.GetDirection())


def _read_by_vtk(reader: Any, path: str) -> Any:
    if hasattr(reader, "CanReadFile") and not reader.CanReadFile(path):
        raise ValueError(f"{path} cannot be read: it is no {os.path.splitext(path)[1]} file of VTK")
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def _by_vtk(path: str, array: str | None) -> Scan:
    _package("vtk", path)
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    from . import vtk
    image = _read_by_vtk(vtkXMLImageDataReader(), path)
    data = image.GetPointData()
    if not data.GetNumberOfArrays():
        raise ValueError(f"{path} has no point arrays, or is cut off")
    if array is None and (data.GetScalars() is None or data.GetScalars().GetNumberOfComponents() != 1):
        arrays = [data.GetArray(i) for i in range(data.GetNumberOfArrays())]  # None: of texts
        array = next((one.GetName() for one in arrays if one is not None and one.GetNumberOfComponents() == 1), None)
    bound = vtk.volume(image, array, "cpu")
    matrix = np.reshape(bound._place.matrix, (3, 4))[:, [bound._place.order.index(axis) for axis in range(3)] + [3]]
    steps = np.linalg.norm(matrix[:, :3], axis=0)
    return Scan(bound._array, tuple(steps), tuple(matrix[:, 3]), matrix[:, :3] / steps)


def read_volume(path: str, array: str | None = None, shape: Any = None, dtype: str | None = None) -> Scan:
    """Reads .npy, .vti, raw samples with a shape and dtype, and by SimpleITK .nrrd .nii .mha .dcm or DICOM folders."""
    ending = os.path.splitext(path)[1].lower()
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file or folder {path}")
    if shape is not None:
        return Scan(_raw(path, shape, dtype))
    if array is not None and ending != ".vti":
        raise ValueError(f"{path} has no named arrays: leave out --array, which is for .vti files")
    if ending == ".npy":
        return Scan(_npy(path))
    return _by_vtk(path, array) if ending == ".vti" else _by_simpleitk(path)


def _points_by_vtk(path: str, ending: str) -> tuple[Any, dict[str, Any]]:
    _package("vtk", path)
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOLegacy import vtkGenericDataObjectReader
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLUnstructuredGridReader
    readers: Any = {".vtp": vtkXMLPolyDataReader, ".vtu": vtkXMLUnstructuredGridReader, ".ply": vtkPLYReader,
                    ".vtk": vtkGenericDataObjectReader}
    data = _read_by_vtk(readers[ending](), path)
    if not hasattr(data, "GetPoints") or data.GetPoints() is None:
        raise ValueError(f"{path} has no points")
    arrays = [data.GetPointData().GetArray(i) for i in range(data.GetPointData().GetNumberOfArrays())]
    named = {array.GetName(): vtk_to_numpy(array) for array in arrays if array is not None and array.GetName()}
    return vtk_to_numpy(data.GetPoints().GetData()), named


def _npy(path: str) -> Any:
    """An array that stays in its file."""
    with _reading(path):
        return np.lib.format.open_memmap(path, mode="r")  # np.load takes what is no such file for a pickle


def _rows(path: str) -> Any:
    array = _npy(path)
    if array.ndim != 2 or array.shape[1] < 3 or (array.shape[0] == 3 and array.shape[1] > 3):
        raise ValueError(f"{path} has no row of three numbers for each particle, but {text_of(array)}")
    return array[:, :3]


def _floats(fields: list[str], mark: str | None) -> list[float | None]:
    """None for texts. With another mark than a comma, a comma is a decimal one."""
    found: list[float | None] = []
    for field in fields:
        try:
            found.append(float(field if mark == "," else field.replace(",", ".")))
        except ValueError:
            found.append(None)
    return found


def _split(line: str, mark: str | None) -> list[str]:
    return [field.strip() for field in next(csv.reader([line], delimiter=mark), [])] if mark else line.split()


def _table(path: str, skipped: int, mark: str | None, columns: int) -> Any:
    """The rows of numbers in a text after its first lines."""
    try:
        return np.loadtxt(path, delimiter=mark, skiprows=skipped, quotechar='"', ndmin=2, encoding="utf-8-sig",
                          comments=None)
    except (TypeError, ValueError):  # it has texts, gaps, decimal commas or comments, or NumPy is older than 1.23
        pass
    rows = []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for i, line in enumerate(file, 1):
            fields = [] if i <= skipped or line.startswith("#") else _split(line.strip(), mark)
            if fields and len(fields) != columns:
                raise ValueError(f"line {i} has {len(fields)} values, but the first row of numbers has {columns}")
            if fields:
                rows.append(_floats(fields, mark))
    return np.array(rows, float).reshape(-1, columns)  # None becomes NaN


def _molecule(path: str, count: int) -> Any:
    """The places of so many atoms."""
    with open(path, "rb") as file:
        lines = file.read().rstrip().count(b"\n") + 1
    if lines > count + 2 or (count and lines < count + 2):
        raise ValueError(f"its first line promises {count} atoms, but it has {max(lines - 2, 0)} lines for them; of several"
                         " frames, save each as a file")
    return np.loadtxt(path, skiprows=2, usecols=(1, 2, 3), ndmin=2) if count else np.empty((0, 3))


def _is_packed(head: bytes) -> bool:
    """Whether a file begins with numbers of float32, and not with text."""
    if head.translate(None, bytes(range(9, 14)) + bytes(range(32, 256))):  # without what texts have
        return True
    try:
        head.decode()
    except UnicodeDecodeError:
        return b"\n" not in head
    return False


def _text(path: str, needs_names: bool) -> tuple[Any, dict[str, Any]]:
    """Positions and other columns of a text, separated by semicolons, tabs, commas or spaces. Names stand in the line before
    the first numbers; without names the first columns are x, y and z. ParaView writes Points:0, Points:1 and Points:2, or _
    in place of the colon. In packed float32, or of a molecule (number of atoms, a comment, lines of a name and a place):
    without other columns."""
    with open(path, "rb") as file:
        head = file.read(4096)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") and not (any(head[2::2]) and any(head[3::2])):
        raise ValueError("it is a text in UTF-16: save it in UTF-8")
    if _is_packed(head):
        if os.path.getsize(path) % 12 or needs_names:
            raise ValueError(f"its {os.path.getsize(path)} bytes are no text"
                             + ("" if needs_names else ", nor 3 numbers of float32 for each particle"))
        return np.fromfile(path, "<f4").reshape(-1, 3), {}
    if head.split(b"\n", 1)[0].strip().isdigit():
        return _molecule(path, int(head.split(b"\n", 1)[0])), {}
    names: list[str] = []
    skipped, mark, values = 0, None, []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            line = line.lstrip("# ").strip()
            marks = [mark, *";\t,"] if mark else [*";\t,"]  # that of the names comes first
            mark = next((one for one in marks if line.count(one) > 1), mark if mark and mark in line else None)
            fields = _split(line, mark)
            values = _floats(fields, mark)
            if any(value is not None for value in values):
                break
            skipped, names, values = skipped + 1, fields or names, []
    if 0 < len(values) < 3:
        raise ValueError(f"its first row of numbers has {len(values)} of them, not three coordinates")
    table = _table(path, skipped, mark, len(values)) if values else np.empty((0, max(len(names), 3)))
    plain = [re.sub(r"\s*[\[(].*", "", name).lower() for name in names]  # without units
    columns = {name: i for i, name in enumerate(plain) if i < table.shape[1]}
    places = [0, 1, 2]
    for axes in (("x", "y", "z"), ("points:0", "points:1", "points:2"), ("points_0", "points_1", "points_2")):
        if set(axes) <= set(columns):
            places = [columns[axis] for axis in axes]
            break
    else:
        if names and needs_names:
            raise ValueError(f"it has no columns named x, y and z, but {', '.join(names)}")
    if not len(table) and not needs_names:
        raise ValueError("it has no row of numbers")
    others = {name: table[:, i].copy() for i, name in enumerate(names)
              if name and i < table.shape[1] and i not in places and not np.isnan(table[:, i]).all()}
    return table[:, places], others


def read_points(path: str) -> tuple[Any, dict[str, Any]]:
    """Reads positions and their arrays from .vtp .vtu .vtk .ply .npy, .xyz, .txt, .csv or .tsv."""
    ending = os.path.splitext(path)[1].lower()
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    if ending in (".vtp", ".vtu", ".vtk", ".ply"):
        return _points_by_vtk(path, ending)
    if ending not in (".npy", ".xyz", ".txt", ".csv", ".tsv"):
        raise ValueError(f"particles are read from .vtp .vtu .vtk .ply .xyz .txt .csv .tsv .npy, not from {path}")
    with _reading(path):
        if os.path.getsize(path) == 0:
            raise EOFError("it is empty")
        if ending != ".npy":
            return _text(path, ending in (".csv", ".tsv"))
    return _rows(path), {}
