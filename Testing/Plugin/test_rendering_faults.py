# SPDX-License-Identifier: BSD-3-Clause
"""Faults around vtkPMBPolyDataMapper: unusual meshes, windows made and deleted, meshes deleted between renders, OpenGL
without memory. Each picture equals that of VTK's mapper after the same steps."""
import ctypes
import re

import numpy
from paraview.vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_INT, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkMultiBlockDataSet, vtkPolyData
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkRenderingCore import vtkActor, vtkRenderer, vtkRenderWindow

from plugin_testing import Messages, equal, load_plugin, run, true, window_pixels

load_plugin()
from pmb.vtkPMBRendering import vtkPMBPolyDataMapper  # noqa: E402
try:
    from vtkmodules.vtkRenderingOpenGL2 import vtkCompositePolyDataMapper2 as StockMapper
except ImportError:  # VTK 9.3
    from vtkmodules.vtkRenderingCore import vtkCompositePolyDataMapper as StockMapper

CORNERS = numpy.array([(0, 0, 0), (1, 0, 0), (1, 1, .2), (0, 1, .3), (2, 0, .1), (2, 1, 0)], numpy.float32)
TRIANGLES = [(0, 1, 2), (0, 2, 3), (1, 4, 5), (1, 5, 2)]


def named(values, name):
    array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
    array.SetName(name)
    return array


def mesh(cells=TRIANGLES, points=CORNERS, normals=None, wide=True, cell_normals=False, ghosts=None, **others):
    """A mesh of polygons, or None; others: Strips, Lines, Verts."""
    data = vtkPolyData()
    data.SetPoints(vtkPoints())
    data.GetPoints().SetData(named(points, "Points"))
    for kind, each in {"Polys": cells, **others}.items():
        array = vtkCellArray()
        if not wide:
            array.Use32BitStorage()
        for ids in each:
            array.InsertNextCell(len(ids), ids)
        getattr(data, f"Set{kind}")(array)
    if normals:
        data.GetPointData().SetNormals(named(numpy.tile(numpy.array([.1, .2, 1], normals), (len(points), 1)), "normals"))
    if cell_normals:
        data.GetCellData().SetNormals(named(numpy.tile(numpy.float32([0, 1, 1]), (len(cells), 1)), "normals"))
    if ghosts:
        data.GetCellData().AddArray(named(numpy.uint8(ghosts), "vtkGhostType"))
    return data


def sphere(x=0.0):
    source = vtkSphereSource()
    source.SetThetaResolution(30)
    source.SetPhiResolution(30)
    source.SetCenter(x, 0, 0)
    source.Update()
    return source.GetOutput()


def tree(*blocks):
    data = vtkMultiBlockDataSet()
    for i, block in enumerate(blocks):
        data.SetBlock(i, block)
    return data


def mapper_of(kind, *blocks):
    vtkPMBPolyDataMapper.SetAllTriangles(True)  # a new session has the setting's default
    mapper = kind()
    mapper.ScalarVisibilityOff()
    mapper.SetInputDataObject(tree(*blocks))
    return mapper


def window_of(mapper, offscreen=True):
    window, renderer, actor = vtkRenderWindow(), vtkRenderer(), vtkActor()
    window.SetOffScreenRendering(offscreen)
    window.SetMultiSamples(0)
    window.SetSize(120, 90)
    actor.SetMapper(mapper)
    renderer.AddActor(actor)
    window.AddRenderer(renderer)
    return window


def picture(window):
    window.Render()
    return window_pixels(window)


def compare(steps, what):
    """steps(kind of mapper) gives pictures."""
    ours, stock = list(steps(vtkPMBPolyDataMapper)), list(steps(StockMapper))
    equal(len(ours), len(stock), f"{what}: pictures")
    for i, (one, other) in enumerate(zip(ours, stock)):
        true(abs(one - other).max() <= 1, f"{what}: picture {i} differs by {abs(one - other).max()}")
    return ours


def test_meshes():
    """Which meshes are drawn directly, and that all have VTK's picture. VTK's bounds allow an id one too large, not more."""
    double, short, integer, bare = mesh(normals="f8"), sphere(), mesh(), vtkPolyData()
    double.GetPoints().SetData(named(CORNERS.astype(float), "Points"))
    short.GetPointData().SetNormals(named(numpy.tile(numpy.float32([0, 0, 1]), (7, 1)), "normals"))
    integer.GetPoints().SetData(named((3 * CORNERS).astype(numpy.int32), "Points"))
    equal(integer.GetPoints().GetDataType(), VTK_INT, "type of the points")
    unusual = CORNERS.copy()
    unusual[3] = numpy.nan
    round_one = sphere()
    stored = []
    if hasattr(vtkCellArray, "IsStorageGeneric"):  # from VTK 9.6 on: without offsets, and ids of 16 bits
        bare_ids, short_ids = mesh(), mesh()
        bare_ids.GetPolys().ConvertToFixedSize32BitStorage()
        ids = vtk_to_numpy(short_ids.GetPolys().GetConnectivityArray()).astype(numpy.uint16)
        short_ids.GetPolys().SetData(named(numpy.arange(0, len(ids) + 1, 3, numpy.int16), "o"), named(ids, "ids"))
        stored = [("no offsets", [bare_ids], 4), ("ids of 16 bits", [short_ids], 0)]
    cases = (
        *stored,
        ("64-bit ids", [mesh()], 4), ("32-bit ids", [mesh(wide=False)], 4), ("both", [mesh(), mesh(wide=False)], 8),
        ("float normals", [mesh(normals="f4")], 4), ("double normals", [mesh(normals="f8")], 4), ("all double", [double], 4),
        ("some with normals", [mesh(normals="f4"), mesh()], 4), ("normals of a few points", [short], 0),
        ("normals of cells", [mesh(cell_normals=True)], 0), ("integer points", [integer], 0),
        ("a NaN", [mesh(points=unusual)], 4),
        ("quads", [mesh([(0, 1, 2, 3), (1, 4, 5, 2)])], 0), ("4 and 2 ids", [mesh([(0, 1, 2, 3), (4, 5)])], 0),
        ("strips alone", [mesh([], Strips=[(0, 1, 3, 2)])], 0), ("strips", [mesh(Strips=[(0, 1, 3, 2)])], 0),
        ("lines", [mesh(Lines=[(0, 5)])], 0), ("vertices", [mesh(Verts=[(4,), (5,)])], 0),
        ("one block of quads", [mesh(), mesh([(0, 1, 2, 3)])], 0), ("ghosts", [mesh(ghosts=[0, 1, 0, 32])], 4),
        ("empty blocks", [None, vtkPolyData(), sphere(), mesh([]), sphere(1), None], None), ("nothing", [vtkPolyData()], 0),
        ("no points", [bare, mesh()], 4), ("one mesh twice", [round_one, round_one], 1680),
        ("blocks in blocks", [sphere(), tree(sphere(1), tree(mesh()))], None),
        ("no area", [mesh([(1, 1, 2), (0, 1, 2)])], 2),
        ("unused points", [mesh(TRIANGLES[:1])], 1), ("an id out of range", [mesh([*TRIANGLES, (4, 5, 6)])], 0),
    )
    for name, blocks, expected in cases:
        def steps(kind, blocks=blocks, name=name, expected=expected):
            mapper = mapper_of(kind, *blocks)
            window = window_of(mapper)
            yield picture(window)
            yield picture(window)
            if kind is vtkPMBPolyDataMapper and expected is not None:
                equal(mapper.GetNumberOfDirectTriangles(), expected, f"{name}: triangles drawn directly")

        shown = compare(steps, name)[0]
        equal(shown.max() > shown.min(), name != "nothing", f"{name}: something is drawn")


def test_windows():
    """One mapper in several windows, which are finalized and deleted; the mapper goes last, or first."""
    def steps(kind):
        mapper = mapper_of(kind, sphere(), sphere(1))
        one, two = window_of(mapper), window_of(mapper, offscreen=False)
        for window in (one, two, one, two, two):
            yield picture(window)
        with Messages():  # VTK complains of a mapper whose buffers went with another window, and draws it the next time
            one.Finalize()
            yield from (picture(two), picture(two), picture(one), picture(one))
            del one
            yield from (picture(two), picture(two))
        two.SetOffScreenRendering(1)
        yield picture(two)
        two.Finalize()
        yield picture(two)
        two.Finalize()
        del window, two
        three = window_of(mapper)
        yield picture(three)
        mapper.ReleaseGraphicsResources(three)
        yield picture(three)
        three.GetRenderers().GetFirstRenderer().RemoveAllViewProps()
        del mapper
        yield picture(three)

    shown = compare(steps, "windows")
    true(abs(shown[0] - shown[-2]).max() <= 1 and shown[-1].max() == shown[-1].min(), "the last pictures")


def test_changes():
    """Meshes that are replaced, emptied, changed in place or deleted between renders; a source that executes again."""
    def steps(kind):
        source = vtkSphereSource()
        mapper = mapper_of(kind, mesh(), sphere(1), mesh(normals="f4", points=CORNERS + numpy.float32([0, 2, 0])))
        blocks = mapper.GetInputDataObject(0, 0)
        window = window_of(mapper)
        yield picture(window)
        blocks.SetBlock(0, None)
        yield picture(window)
        blocks.SetBlock(1, mesh(TRIANGLES[:3]))
        yield picture(window)
        points = blocks.GetBlock(1).GetPoints()
        vtk_to_numpy(points.GetData())[:] += numpy.float32(.25)
        for changed in (points.GetData(), points, blocks.GetBlock(1), blocks):
            changed.Modified()
        yield picture(window)
        for resolution in (8, 40, 3):
            source.SetThetaResolution(resolution)
            source.Update()
            blocks.SetBlock(2, source.GetOutput())
            blocks.Modified()
            yield picture(window)
        blocks.GetBlock(2).Initialize()
        blocks.Modified()
        yield picture(window)
        mapper.SetInputDataObject(tree())
        del source, blocks, points, changed
        yield picture(window)
        mapper.SetInputDataObject(tree(mesh()))
        yield picture(window)

    compare(steps, "changes")


class Failing:
    """While it lasts, a call of OpenGL's function fails: the mapper's call number `which` of it."""

    def __init__(self, function, result, arguments, which):
        with open("/proc/self/maps", encoding="ascii") as maps:
            library = re.search(r"/\S*(libGLEW|libvtkglew|libvtkglad)\S*", maps.read())
        true(library, "GLEW or glad, through which VTK calls OpenGL, is loaded")
        loader = ctypes.CDLL(library.group())
        names = f"__glew{function}", f"vtkglew___glew{function}", f"vtk_glad_gl{function}"
        self.pointer = ctypes.c_void_p.in_dll(loader, next(name for name in names if hasattr(loader, name)))
        self.before = self.pointer.value
        kind = ctypes.CFUNCTYPE(result, *arguments)
        real, self.calls = kind(self.before), 0

        def call(*given):
            # VTK itself gives data to BufferData, except to small buffers from VTK 9.3 on, and maps nothing.
            counts = (function != "BufferData" or given[2] is None and given[1] > 1000) and self.calls <= which
            self.calls += counts
            if not counts or self.calls <= which:
                return real(*given)
            if function == "BufferData":
                return real(given[0], 1 << 62, None, given[3])  # GL_OUT_OF_MEMORY
            return real(*given) and 0 if function == "UnmapBuffer" else None

        self.call = kind(call)

    def __enter__(self):
        self.pointer.value = ctypes.cast(self.call, ctypes.c_void_p).value
        return self

    def __exit__(self, *_):
        self.pointer.value = self.before


def test_no_memory():
    """OpenGL fails to allocate, map or keep a buffer, each in turn: VTK draws, with one warning."""
    size, pointer, word = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint
    stock = picture(window_of(mapper_of(StockMapper, sphere(), sphere(1))))
    for function, result, *arguments in (("BufferData", None, word, size, pointer, word),
                                         ("MapBufferRange", pointer, word, size, size, word),
                                         ("UnmapBuffer", ctypes.c_ubyte, word)):
        for which in range(4):  # points, normals, ids, and no failure
            mapper = mapper_of(vtkPMBPolyDataMapper, sphere(), sphere(1))
            window = window_of(mapper)
            picture(window)  # a new window looks for OpenGL's functions
            with Messages() as log:
                for _ in range(2):
                    mapper.SetInputDataObject(tree(mesh(cells=[(0, 1, 2, 3)])))
                    picture(window)  # VTK draws a quad: the mapper's own buffers are deleted
                    with Failing(function, result, arguments, which) as failing:
                        mapper.SetInputDataObject(tree(sphere(), sphere(1)))
                        shown = picture(window)
                    equal(failing.calls, min(which + 1, 3), f"calls of {function} with a failure in {which}")
                    equal(mapper.GetNumberOfDirectTriangles(), 3360 if which == 3 else 0, f"direct after {function} {which}")
                    true(abs(shown - stock).max() <= 1, f"{function} {which}: the picture")
            equal(log.text().count("OpenGL has no memory for a buffer of"), which < 3, f"{function} {which}: warnings")
            equal(log.text().count("Warning") + log.text().count("ERR"), which < 3, f"messages: {log.text()}")
            mapper.SetInputDataObject(tree(sphere(), sphere(1)))
            true(abs(picture(window) - stock).max() <= 1, "the picture with memory again")
            equal(mapper.GetNumberOfDirectTriangles(), 3360, "triangles drawn directly with memory again")


run(test_meshes, test_windows, test_changes, test_no_memory)
