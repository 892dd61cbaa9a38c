# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the plugin's tests, which run in pvpython or pvbatch with the plugin's path in $PMB_PLUGIN."""
import ctypes
import os
import subprocess
import sys

import numpy
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import (vtkIdTypeArray, vtkOutputWindow, vtkPoints, vtkStringOutputWindow,
                                      vtkUnsignedCharArray)
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkImageData, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D
from vtkmodules.vtkIOImage import vtkPNGReader

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, os.pardir, os.pardir, "Data")
SKIPPED = 77  # the exit code that ctest shows as "Skipped"

sys.path.insert(0, DATA)


def load_plugin(remote=False):
    """Loads the plugin; simple.PMBContour exists afterwards."""
    simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=remote, ns=vars(simple))
    if not hasattr(simple, "PMBContour"):
        raise AssertionError("the plugin defines no PMBContour")


def plugin_list(folder, plugin=None):
    """Writes a list of plugins with this one, or the one given, for $PV_PLUGIN_CONFIG_FILE; returns its path."""
    path = os.path.join(folder, "plugins.xml")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f'<Plugins><Plugin name="ParallelMarchingBlocks" filename="{plugin or os.environ["PMB_PLUGIN"]}" '
                     'auto_load="1"/></Plugins>')
    return path


def run_script(script, folder):
    """Runs a script of Docs/ in a separate pvpython with the plugin; folder: for its output files. Returns its standard
    output."""
    result = subprocess.run(["pvpython", os.path.join(HERE, os.pardir, os.pardir, "Docs", script), folder],
                            env={**os.environ, "PV_PLUGIN_CONFIG_FILE": plugin_list(folder)}, capture_output=True, text=True,
                            check=False)
    equal(result.returncode, 0, f"exit code; it said {result.stderr}")
    print(result.stdout)
    return result.stdout


def run(*tests):
    """Runs test functions one after another, names those that failed, and exits with 0, 1 or 77."""
    failed = []
    for test in tests:
        try:
            if servermanager.ActiveConnection and (simple.GetSources() or simple.GetViews()):
                simple.ResetSession()  # removes what the last test has left; takes half a second
            test()
            print(f"passed: {test.__name__}")
        except Exception as error:  # one failure must not hide the next
            failed.append(test.__name__)
            print(f"FAILED: {test.__name__}: {type(error).__name__}: {error}")
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)  # from ParaView 5.13 on Python's output goes through C's
    os._exit(1 if failed or not tests else 0)  # a live render window can turn sys.exit(0) into 1


def skip_without_driver():
    """Ends this process as skipped where there is no NVIDIA driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as missing:
        print(f"skipped: {missing}: there is no NVIDIA driver here")
        sys.exit(SKIPPED)


def equal(value, expected, what):
    if value != expected:
        raise AssertionError(f"{what}: {value!r}, not {expected!r}")


def near(value, expected, tolerance, what):
    if not abs(value - expected) <= tolerance:
        raise AssertionError(f"{what}: {value!r}, not {expected!r} within {tolerance}")


def true(value, what):
    if not value:
        raise AssertionError(what)


class Messages:
    """Collects VTK's errors and warnings: with Messages() as log: ...; log.text() has them."""

    def __enter__(self):
        self.previous = vtkOutputWindow.GetInstance()
        self.window = vtkStringOutputWindow()
        vtkOutputWindow.SetInstance(self.window)
        return self

    def text(self):
        return self.window.GetOutput()

    def __exit__(self, *_):
        vtkOutputWindow.SetInstance(self.previous)


def output(proxy):
    """The data of an updated source or filter."""
    proxy.UpdatePipeline()
    return servermanager.Fetch(proxy)


def producer(data):
    """A source in the pipeline for a data object (built-in server only)."""
    source = simple.TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    source.UpdatePipeline()
    return source


def add_array(attributes, name, values):
    """Adds a copy of a numpy array to point or cell data. Returns it."""
    array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
    array.SetName(name)
    attributes.AddArray(array)
    return array


def image(arrays, dims, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0), first=(0, 0, 0)):
    """A vtkImageData with point arrays from {name: numpy array of shape (z, y, x) or (z, y, x, components)}."""
    data = vtkImageData()
    data.SetExtent(*(bound for low, count in zip(first, dims) for bound in (low, low + count - 1)))
    data.SetOrigin(*origin)
    data.SetSpacing(*spacing)
    for name, values in arrays.items():
        add_array(data.GetPointData(), name, values.reshape(values.shape[0] * values.shape[1] * values.shape[2], -1))
    if arrays:
        data.GetPointData().SetActiveScalars(next(iter(arrays)))
    return data


def ball(dims, dtype=numpy.float32, center=None):
    """Distances to a point, negated: larger inside."""
    nx, ny, nz = dims
    cx, cy, cz = center or ((nx - 1) / 2 + 0.1, (ny - 1) / 2 + 0.2, (nz - 1) / 2 - 0.3)
    z, y, x = numpy.mgrid[0:nz, 0:ny, 0:nx]
    return (100.0 - numpy.sqrt((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2)).astype(dtype)


def cloud(places, kind=vtkPolyData, **arrays):
    """A data set of points without cells."""
    data, holder = kind(), vtkPoints()
    holder.SetData(numpy_to_vtk(numpy.ascontiguousarray(places), deep=True))
    data.SetPoints(holder)
    for name, values in arrays.items():
        add_array(data.GetPointData(), name, values)
    return data


def points(mesh):
    return vtk_to_numpy(mesh.GetPoints().GetData())


def triangles(mesh):
    """Ids, one row per triangle."""
    cells = mesh.GetPolys()
    offsets = vtkIdTypeArray()
    offsets.DeepCopy(cells.GetOffsetsArray())  # it may not be in memory
    equal(bool(numpy.all(numpy.diff(vtk_to_numpy(offsets)) == 3)), True, "all cells are triangles")
    return vtk_to_numpy(cells.GetConnectivityArray()).reshape(-1, 3)


def point_array(mesh, name):
    array = mesh.GetPointData().GetArray(name)
    return None if array is None else vtk_to_numpy(array)


def triangle_rows(mesh):
    """A row of bytes per non-ghost triangle, with all arrays of its corners and its cell arrays; number of ghosts."""
    if mesh.GetNumberOfPolys() == 0:
        return None, 0
    ids = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    flags = mesh.GetCellData().GetArray("vtkGhostType")
    own = numpy.ones(len(ids), bool) if flags is None else vtk_to_numpy(flags) & 1 == 0  # not DUPLICATECELL
    of_points = {"": vtk_to_numpy(mesh.GetPoints().GetData()), **arrays_of(mesh.GetPointData())}
    columns = [of_points[name][ids[own]] for name in sorted(of_points)]
    of_cells = arrays_of(mesh.GetCellData())
    columns += [of_cells[name][own] for name in sorted(of_cells) if name != "vtkGhostType"]
    columns = [numpy.ascontiguousarray(column).reshape(own.sum(), -1).view(numpy.uint8) for column in columns]
    return numpy.concatenate(columns, axis=1), int((~own).sum())


def copy_of(mesh):
    """A mesh of triangles with points and ids in new arrays, without the filter's keys."""
    points, cells, copy = vtkPoints(), vtkCellArray(), vtkPolyData()
    points.SetDataType(mesh.GetPoints().GetDataType())
    points.DeepCopy(mesh.GetPoints())
    ids = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).astype(numpy.int64)
    cells.SetData(3, numpy_to_vtkIdTypeArray(ids, deep=True))
    copy.SetPoints(points)
    copy.SetPolys(cells)
    copy.GetPointData().ShallowCopy(mesh.GetPointData())
    copy.GetCellData().ShallowCopy(mesh.GetCellData())
    return copy


def arrays_of(data):
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}


def in_order(rows):
    return numpy.sort(rows.view(numpy.dtype((numpy.void, rows.shape[1]))).ravel())


def compare_triangles(name, rows, reference):
    equal(rows.shape, reference.shape, f"{name}: triangles that are no ghosts, and bytes of each")
    different = int((in_order(rows) != in_order(reference)).sum())
    equal(different, 0, f"{name}: triangles that are not the serial ones, of {len(rows)}")


def check_mesh(mesh, first, last, strict):
    """No unused points; no open edges except on the border of the box from sample `first` to `last` (world); each edge
    used as often in one direction as in the other (strict: at most once)."""
    ids = triangles(mesh)
    equal(len(numpy.unique(ids)), mesh.GetNumberOfPoints(), "points that a triangle uses")
    ends = numpy.concatenate([ids[:, [0, 1]], ids[:, [1, 2]], ids[:, [2, 0]]]).astype(numpy.int64)
    size = mesh.GetNumberOfPoints()
    key = ends[:, 0] * size + ends[:, 1]
    directed, uses = numpy.unique(key, return_counts=True)
    if strict:
        true(uses.max() == 1, "a directed edge is used twice")
    back = directed % size * size + directed // size
    place = numpy.searchsorted(directed, back).clip(max=len(directed) - 1)
    paired = (directed[place] == back) & (uses[place] == uses)
    where = points(mesh)[numpy.stack([directed[~paired] // size, directed[~paired] % size])]
    on_border = numpy.zeros(where.shape[1], bool)
    for axis in range(3):
        for bound in (first[axis], last[axis]):
            on_border |= numpy.all(numpy.isclose(where[:, :, axis], bound, atol=1e-4), axis=0)
    true(on_border.all(), f"{(~on_border).sum()} open edges inside the volume")


def pixels(path):
    """Colors or shades of a PNG file, the lowest row first: shape (height, width, components)."""
    reader = vtkPNGReader()
    reader.SetFileName(path)
    reader.Update()
    width, height, _ = reader.GetOutput().GetDimensions()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).reshape(height, width, -1)


def window_pixels(window):
    """The colors that a render window shows, the lowest row first: shape (height, width, 3)."""
    width, height = window.GetSize()
    values = vtkUnsignedCharArray()
    window.GetPixelData(0, 0, width - 1, height - 1, 0, values, 0)
    return vtk_to_numpy(values).astype(int).reshape(height, width, 3)


def share_shown(picture, most=2):
    """The share of pixels that differ by more than `most` from the background."""
    return (abs(picture - picture[0, 0]).max(axis=2) > most).mean()


def psnr(ours, theirs):
    return 10 * numpy.log10(255 ** 2 / max(((ours - theirs) ** 2).mean(), 1e-5))


def flying_edges(data, isovalue, array=None):
    """The mesh of vtkFlyingEdges3D: one point per crossed edge, zero-area triangles kept."""
    reference = vtkFlyingEdges3D()
    reference.SetInputData(data)
    if array:
        reference.SetInputArrayToProcess(0, 0, 0, 0, array)
    reference.SetValue(0, isovalue)
    reference.ComputeNormalsOn()
    reference.ComputeScalarsOff()
    reference.Update()
    return reference.GetOutput()


def counts(mesh):
    return mesh.GetNumberOfPoints(), mesh.GetNumberOfPolys()

