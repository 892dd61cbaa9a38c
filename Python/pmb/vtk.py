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

from ._arrays import as_samples
from ._mesh import Mesh
from ._volume import Volume

_HIDDEN_POINT, _HIDDEN_CELL = 2, 32  # vtkDataSetAttributes'


def polydata(mesh: Mesh, output: Any = None) -> Any:
    """Make a vtkPolyData that shares the arrays of a mesh. Those that VTK cannot read, and those on a GPU, are copied.

    Parameters
    ----------
    mesh : Mesh
    output : vtkPolyData, optional
        Filled in place of a new one.
    """
    return _polydata(mesh._checked(), output)


def _array(values: Any, name: str) -> Any:
    array = numpy_to_vtk(as_samples(values, f"array {name!r}")[0])
    array.SetName(name)
    return array


def _polydata(mesh: Mesh, output: Any = None) -> Any:
    """Without a look at each index: of a mesh that the package has made."""
    output = vtkPolyData() if output is None else output
    points = vtkPoints()
    points.SetData(numpy_to_vtk(mesh.points))
    narrow = mesh.triangles.dtype == np.int32
    ids: Any = vtkTypeInt32Array() if narrow else vtkTypeInt64Array()
    flat = np.ascontiguousarray(mesh.triangles, np.int32 if narrow else np.int64).reshape(-1)
    ids.SetVoidArray(flat, flat.size, 1)
    cells = vtkCellArray()
    cells.SetData(3, ids)
    cells.GetConnectivityArray()._samples = flat  # keeps the memory; before 9.6 this is not `ids`, but a shallow copy
    output.SetPoints(points)
    output.SetPolys(cells)
    named = dict(mesh.arrays) if mesh.gradients is None else {**mesh.arrays, "Gradients": mesh.gradients}
    for name, values in named.items():
        output.GetPointData().AddArray(_array(values, name))
    if mesh.normals is not None:
        output.GetPointData().SetNormals(_array(mesh.normals, "Normals"))
    return output


def _scalars(image: Any, array: str | None) -> Any:
    data = image.GetPointData()
    return data.GetScalars() if array is None else data.GetArray(array)


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


def volume(image: Any, array: str | None = None, device: Any = None, component: int = 0) -> Volume:
    """Make a `pmb.Volume` that shares the samples of a vtkImageData.

    Parameters
    ----------
    image : vtkImageData
    array : str, optional
        Name of a point array. Default: the scalars.
    device
        See `pmb.Volume`.
    component : int
        Of an array with several.
    """
    found = _scalars(image, array)
    if found is None or not 0 <= component < found.GetNumberOfComponents():
        points, cells = ([part.GetArrayName(i) for i in range(part.GetNumberOfArrays())]
                         for part in (image.GetPointData(), image.GetCellData()))
        raise ValueError(f"the image has no point array {array or 'of scalars'} with component {component}, but point"
                         f" arrays {points} and cell arrays {cells}")
    samples = _shaped(image, found)
    extent = image.GetExtent()
    origin = [0.0, 0.0, 0.0]
    image.TransformIndexToPhysicalPoint(extent[0], extent[2], extent[4], origin)
    matrix = image.GetDirectionMatrix()
    direction = [[matrix.GetElement(row, column) for column in range(3)] for row in range(3)]
    return Volume(samples if samples.ndim == 3 else samples[..., component], image.GetSpacing(), origin, direction,
                  _mask(image), device)


def contour(bound: Volume, image: Any, isovalues: Sequence[float], array: str | None = None, arrays: bool = True,
            output: Any = None, scalars: bool = True, component: int = 0, **options: Any) -> Any:
    """Extract isosurfaces of `volume(image, array, component=component)` as vtkPolyData.

    Parameters
    ----------
    arrays : bool
        Interpolate the image's other numeric point arrays.
    scalars : bool
        Add the isovalues as scalars, of the samples' type if that is a float. (vtkFlyingEdges3D cuts those of integers.)
    options
        Of `Volume.contour`.
    """
    data, contoured = image.GetPointData(), _scalars(image, array)
    name = array or contoured.GetName() or "Scalars"
    if contoured.GetNumberOfComponents() > 1:
        name += f"_{component}"  # as VTK's filters do, which interpolate the array itself, too
    others = {}
    for i in range(data.GetNumberOfArrays() if arrays else 0):
        other = data.GetArray(i)
        if isinstance(other, vtkDataArray) and other.GetName() not in (None, name, "vtkGhostType", "Normals"):
            others[other.GetName()] = _shaped(image, other)
    mesh = bound.contour(isovalues, arrays=others, **options)
    if scalars:
        with np.errstate(all="ignore"):  # those beyond the type have no points
            values = np.asarray(mesh.isovalues).astype(np.result_type(bound.dtype, np.float32))
        mesh.arrays[name] = np.repeat(values, [size[0] for size in mesh.sizes])
    output = _polydata(mesh, output)
    if scalars:
        output.GetPointData().SetActiveScalars(name)
    return output


def _switch(option: str) -> tuple[Any, Any, Any, Any]:
    """Get..., Set..., ...On and ...Off of VTK's filters for an option of Contour."""
    def switch(self: Contour, on: bool) -> None:
        if self._options[option] != bool(on):
            self._options[option] = bool(on)
            self.Modified()

    return (lambda self: self._options[option], switch, lambda self: switch(self, True),
            lambda self: switch(self, False))


class Contour(VTKPythonAlgorithmBase):
    """Isosurfaces of vtkImageData, in place of vtkFlyingEdges3D or vtkContourFilter.

    The filter keeps the summary of its input, so that a change of the isovalue is fast. It has the methods of
    vtkFlyingEdges3D to set and get isovalues, the array, its component, and what is computed.

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
        self._array, self._component, self._device = array, 0, device
        self._options = {"normals": normals, "gradients": gradients, "arrays": arrays, "scalars": scalars}
        self._bound: tuple[Any, ...] = ()  # volume and what it was made of

    def SetValue(self, index: int, value: float) -> None:
        """Set one isovalue."""
        values = self._isovalues + [0.0] * (index + 1 - len(self._isovalues))
        self.SetIsovalues([float(value) if i == index else old for i, old in enumerate(values)])

    def GetValue(self, index: int) -> float:
        """Return one isovalue."""
        return self._isovalues[index]

    def GetValues(self, values: list[float] | None = None) -> list[float]:
        """Return all isovalues, in the list if one is given."""
        values = [] if values is None else values
        values[:] = self._isovalues
        return values

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

    GetComputeNormals, SetComputeNormals, ComputeNormalsOn, ComputeNormalsOff = _switch("normals")
    GetComputeGradients, SetComputeGradients, ComputeGradientsOn, ComputeGradientsOff = _switch("gradients")
    GetComputeScalars, SetComputeScalars, ComputeScalarsOn, ComputeScalarsOff = _switch("scalars")
    GetInterpolateAttributes, SetInterpolateAttributes, InterpolateAttributesOn, InterpolateAttributesOff = _switch("arrays")

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

    def SetArrayComponent(self, component: int) -> None:
        """Choose a component of an array with several; at first 0."""
        if component != self._component:
            self._component = component
            self.Modified()

    def GetArrayComponent(self) -> int:
        """Return the component that is contoured."""
        return self._component

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
        asked = self.GetInputArrayInformation(0)
        name = self._array or asked.Get(vtkDataObject.FIELD_NAME())
        if not self._array and asked.Get(vtkDataObject.FIELD_ASSOCIATION()) == vtkDataObject.FIELD_ASSOCIATION_CELLS:
            raise TypeError(f"SetInputArrayToProcess asks for the array {name or 'of scalars'} of cells: Contour takes those"
                            " of points, as vtkCellDataToPointData makes them")
        made_of = image, image.GetMTime(), name, self._component
        if self._bound[1:] != made_of:
            self._bound = volume(image, name, self._device, self._component), *made_of
        contour(self._bound[0], image, self._isovalues, name, output=output, component=self._component, **self._options)
        return 1
