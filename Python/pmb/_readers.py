# SPDX-License-Identifier: BSD-3-Clause
"""Readers for the command line. Formats other than NumPy's and text need SimpleITK or vtk."""
from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import numpy as np


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


def _by_simpleitk(path: str) -> Scan:
    itk = _package("SimpleITK", path)
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
        image = itk.ReadImage(path)
    if image.GetDimension() != 3:
        raise ValueError(f"{path} has {image.GetDimension()} dimensions, not 3")
    direction = np.reshape(image.GetDirection(), (3, 3))
    return Scan(itk.GetArrayFromImage(image).T, image.GetSpacing(), image.GetOrigin(), direction)


def _by_vtk(path: str, array: str | None) -> Scan:
    _package("vtk", path)
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    from . import vtk
    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    data = image.GetPointData()
    if array is None and data.GetScalars() is None and data.GetNumberOfArrays() > 0:
        array = data.GetArrayName(0)
    bound = vtk.volume(image, array, "cpu")
    matrix = np.reshape(bound._matrix, (3, 4))[:, [bound._order.index(axis) for axis in range(3)] + [3]]
    return Scan(bound._array, (1.0, 1.0, 1.0), tuple(matrix[:, 3]), matrix[:, :3])


def read_volume(path: str, array: str | None = None, shape: Any = None, dtype: str | None = None) -> Scan:
    """Reads .npy, .vti, raw samples with a shape and dtype, and by SimpleITK .nrrd .nii .mha .dcm or DICOM folders."""
    ending = os.path.splitext(path)[1].lower()
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file or folder {path}")
    if shape is not None:
        return Scan(np.memmap(path, dtype or "uint8", "r", shape=tuple(shape)))
    if ending == ".npy":
        return Scan(np.load(path, mmap_mode="r"))
    return _by_vtk(path, array) if ending == ".vti" else _by_simpleitk(path)


def _points_by_vtk(path: str, ending: str) -> tuple[Any, dict[str, Any]]:
    _package("vtk", path)
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLUnstructuredGridReader
    reader: Any = {".vtp": vtkXMLPolyDataReader, ".vtu": vtkXMLUnstructuredGridReader, ".ply": vtkPLYReader}[ending]()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput()
    if data.GetPoints() is None:
        raise ValueError(f"{path} has no points")
    arrays = [data.GetPointData().GetArray(i) for i in range(data.GetPointData().GetNumberOfArrays())]
    named = {array.GetName(): vtk_to_numpy(array) for array in arrays if array is not None and array.GetName()}
    return vtk_to_numpy(data.GetPoints().GetData()), named


def read_points(path: str) -> tuple[Any, dict[str, Any]]:
    """Reads positions and their arrays from .vtp .vtu .ply .npy, .xyz (columns x y z) or .csv (columns named x, y, z)."""
    ending = os.path.splitext(path)[1].lower()
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    if ending in (".vtp", ".vtu", ".ply"):
        return _points_by_vtk(path, ending)
    if ending == ".npy":
        return np.load(path)[:, :3], {}
    if ending == ".xyz":
        return np.loadtxt(path, usecols=(0, 1, 2), ndmin=2), {}
    if ending == ".csv":
        table = np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True))
        names = {name.lower(): name for name in table.dtype.names or ()}
        if not {"x", "y", "z"} <= set(names):
            raise ValueError(f"{path} has no columns named x, y and z, but {', '.join(names)}")
        return (np.stack([table[names[axis]] for axis in "xyz"], axis=1),
                {name: table[name].copy() for low, name in names.items() if low not in "xyz"})
    raise ValueError(f"particles are read from .vtp .vtu .ply .xyz .csv .npy, not from {path}")
