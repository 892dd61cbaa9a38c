# SPDX-License-Identifier: BSD-3-Clause
"""Filters for VTK's pipeline: Contour. Samples and meshes are shared with VTK, not copied. Needs vtk 9.3 or newer."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkDataArray, vtkPoints, vtkTypeInt32Array, vtkTypeInt64Array
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkDataObject, vtkImageData, vtkPolyData

from ._mesh import Mesh
from ._volume import Volume

_HIDDEN_POINT, _HIDDEN_CELL = 2, 32  # vtkDataSetAttributes'


def polydata(mesh: Mesh, output: Any = None) -> Any:
    """Make a vtkPolyData that shares the arrays of a mesh.

    Parameters
    ----------
    mesh : Mesh
    output : vtkPolyData, optional
        Filled in place of a new one.
    """
    output = vtkPolyData() if output is None else output
    points = vtkPoints()
    points.SetData(numpy_to_vtk(mesh.points))
    ids: Any = vtkTypeInt32Array() if mesh.triangles.dtype == np.int32 else vtkTypeInt64Array()
    flat = mesh.triangles.reshape(-1)
    ids.SetVoidArray(flat, flat.size, 1)
    cells = vtkCellArray()
    cells.SetData(3, ids)
    cells.GetConnectivityArray()._samples = flat  # keeps the memory; before 9.6 this is not `ids`, but a shallow copy
    output.SetPoints(points)
    output.SetPolys(cells)
    named = dict(mesh.arrays) if mesh.gradients is None else {**mesh.arrays, "Gradients": mesh.gradients}
    for name, values in named.items():
        array = numpy_to_vtk(values)
        array.SetName(name)
        output.GetPointData().AddArray(array)
    if mesh.normals is not None:
        array = numpy_to_vtk(mesh.normals)
        array.SetName("Normals")
        output.GetPointData().SetNormals(array)
    return output


def _shaped(image: Any, array: Any, cells: bool = False) -> Any:
    """Samples of an image as an array whose axes are x, y and z."""
    dims = [max(n - 1, 1) if cells else n for n in image.GetDimensions()]
    values = vtk_to_numpy(array)
    return values.reshape(dims[::-1] + list(values.shape[1:])).transpose(2, 1, 0, *range(3, values.ndim + 2))


def _mask(image: Any) -> Any:
    """VTK's hidden points and cells as a mask of samples, or of cells if one is hidden."""
    points, cells = image.GetPointGhostArray(), image.GetCellGhostArray()
    visible = None if points is None else (_shaped(image, points) & _HIDDEN_POINT) == 0
    if cells is not None and min(image.GetDimensions()) > 1:
        of_cells = (_shaped(image, cells, True) & _HIDDEN_CELL) == 0
        if visible is not None:
            for corner in np.ndindex(2, 2, 2):
                of_cells &= visible[tuple(slice(first, n - 1 + first) for first, n in zip(corner, visible.shape))]
        return of_cells
    return visible


def volume(image: Any, array: str | None = None, device: Any = None) -> Volume:
    """Make a `pmb.Volume` that shares the samples of a vtkImageData.

    Parameters
    ----------
    image : vtkImageData
    array : str, optional
        Name of a point array with one component. Default: the scalars.
    device
        See `pmb.Volume`.
    """
    data = image.GetPointData()
    samples = data.GetScalars() if array is None else data.GetArray(array)
    if samples is None or samples.GetNumberOfComponents() != 1:
        points, cells = ([part.GetArrayName(i) for i in range(part.GetNumberOfArrays())]
                         for part in (data, image.GetCellData()))
        raise ValueError(f"the image has no point array {array or 'of scalars'} with one component, but point arrays"
                         f" {points} and cell arrays {cells}")
    extent = image.GetExtent()
    origin = [0.0, 0.0, 0.0]
    image.TransformIndexToPhysicalPoint(extent[0], extent[2], extent[4], origin)
    matrix = image.GetDirectionMatrix()
    direction = [[matrix.GetElement(row, column) for column in range(3)] for row in range(3)]
    return Volume(_shaped(image, samples), image.GetSpacing(), origin, direction, _mask(image), device)


def contour(bound: Volume, image: Any, isovalues: Sequence[float], array: str | None = None, arrays: bool = True,
            output: Any = None, scalars: bool = True, **options: Any) -> Any:
    """Extract isosurfaces of `volume(image, array)` as vtkPolyData.

    Parameters
    ----------
    arrays : bool
        Interpolate the image's other numeric point arrays.
    scalars : bool
        Add the isovalues, as scalars.
    options
        Of `Volume.contour`.
    """
    data = image.GetPointData()
    name = array or data.GetScalars().GetName() or "Scalars"
    others = {}
    for i in range(data.GetNumberOfArrays() if arrays else 0):
        other = data.GetArray(i)
        if isinstance(other, vtkDataArray) and other.GetName() not in (None, name, "vtkGhostType", "Normals"):
            others[other.GetName()] = _shaped(image, other)
    mesh = bound.contour(isovalues, arrays=others, **options)
    if scalars:
        mesh.arrays[name] = np.repeat(np.asarray(mesh.isovalues, np.float32), [size[0] for size in mesh.sizes])
    output = polydata(mesh, output)
    if scalars:
        output.GetPointData().SetActiveScalars(name)
    return output


def _switch(option: str) -> tuple[Any, Any, Any]:
    """Set..., ...On and ...Off of VTK's filters for an option of Contour."""
    def switch(self: Contour, on: bool) -> None:
        if self._options[option] != bool(on):
            self._options[option] = bool(on)
            self.Modified()

    return switch, lambda self: switch(self, True), lambda self: switch(self, False)


class Contour(VTKPythonAlgorithmBase):
    """Isosurfaces of vtkImageData, in place of vtkFlyingEdges3D or vtkContourFilter.

    The filter keeps the summary of its input, so that a change of the isovalue is fast. It has the methods of
    vtkFlyingEdges3D to set isovalues, the array, and what is computed.

    Parameters
    ----------
    isovalues : list of floats
    array : str, optional
        Name of a point array. Default: the scalars.
    normals, gradients, arrays, scalars : bool
        What to compute; `arrays`: interpolate the other point arrays; `scalars`: add the isovalues.
    device
        See `pmb.Volume`.

    Examples
    --------
    >>> from vtkmodules.vtkImagingCore import vtkRTAnalyticSource
    >>> import pmb.vtk
    >>> source, surface = vtkRTAnalyticSource(), pmb.vtk.Contour([150.0])
    >>> surface.SetInputConnection(source.GetOutputPort())
    >>> _ = surface.Update()
    >>> surface.GetOutput().GetNumberOfCells() > 1000
    True
    """

    def __init__(self, isovalues: Sequence[float] = (), array: str | None = None, normals: bool = True,
                 gradients: bool = False, arrays: bool = True, device: Any = None, scalars: bool = True) -> None:
        super().__init__(nInputPorts=1, inputType="vtkImageData", nOutputPorts=1, outputType="vtkPolyData")
        self._isovalues = [float(value) for value in isovalues]
        self._array, self._device = array, device
        self._options = {"normals": normals, "gradients": gradients, "arrays": arrays, "scalars": scalars}
        self._bound: tuple[Any, ...] = ()  # volume and what it was made of

    def SetValue(self, index: int, value: float) -> None:
        """Set one isovalue."""
        self._isovalues += [0.0] * (index + 1 - len(self._isovalues))
        self.SetIsovalues([float(value) if i == index else old for i, old in enumerate(self._isovalues)])

    def GetValue(self, index: int) -> float:
        """Return one isovalue."""
        return self._isovalues[index]

    def SetNumberOfContours(self, number: int) -> None:
        """Set the number of isovalues; new ones are 0."""
        self.SetIsovalues((self._isovalues + [0.0] * number)[:number])

    def GetNumberOfContours(self) -> int:
        """Return the number of isovalues."""
        return len(self._isovalues)

    def GenerateValues(self, number: int, *ends: Any) -> None:
        """Set isovalues evenly spaced from the first to the last of a range, given as two numbers or a pair."""
        low, high = ends if len(ends) == 2 else ends[0]
        self.SetIsovalues([float(value) for value in np.linspace(low, high, number)])

    SetComputeNormals, ComputeNormalsOn, ComputeNormalsOff = _switch("normals")
    SetComputeGradients, ComputeGradientsOn, ComputeGradientsOff = _switch("gradients")
    SetComputeScalars, ComputeScalarsOn, ComputeScalarsOff = _switch("scalars")
    SetInterpolateAttributes, InterpolateAttributesOn, InterpolateAttributesOff = _switch("arrays")

    def SetIsovalues(self, isovalues: Sequence[float]) -> None:
        """Set all isovalues."""
        if list(isovalues) != self._isovalues:
            self._isovalues = [float(value) for value in isovalues]
            self.Modified()

    def SetArrayName(self, array: str | None) -> None:
        """Choose a point array; None: that of SetInputArrayToProcess, else the scalars."""
        if array != self._array:
            self._array = array
            self.Modified()

    def SetInputData(self, image: Any) -> None:
        """Set an image that no filter updates."""
        self.SetInputDataObject(0, image)

    def GetOutput(self, port: int = 0) -> Any:
        """Return the surface, a vtkPolyData."""
        return self.GetOutputDataObject(port)

    def RequestData(self, request: Any, inInfo: Any, outInfo: Any) -> int:
        """Called by VTK's pipeline."""
        image = vtkImageData.GetData(inInfo[0])
        output = vtkPolyData.GetData(outInfo)
        name = self._array or self.GetInputArrayInformation(0).Get(vtkDataObject.FIELD_NAME())
        made_of = image, image.GetMTime(), name
        if self._bound[1:] != made_of:
            self._bound = volume(image, name, self._device), *made_of
        contour(self._bound[0], image, self._isovalues, name, output=output, **self._options)
        return 1
