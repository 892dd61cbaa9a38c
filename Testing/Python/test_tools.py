# SPDX-License-Identifier: BSD-3-Clause
"""Particles, pictures, files, VTK, PyVista and the command line."""
import resource
import sys

import numpy as np
import pytest
from conftest import enclosed

import pmb
from pmb.__main__ import main


@pytest.fixture
def mesh(ball):
    return pmb.contour(ball, -0.5, spacing=(1, 2, 3), arrays={"a&b": ball.astype("i8") + 7, "v": np.stack([ball] * 3, -1)})


@pytest.mark.parametrize("kernel", ["spline", "gaussian", "polynomial", "spheres"])
def test_particles(kernel):
    points = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), -1).reshape(-1, 3)
    mesh = pmb.particles(points, 0.5, kernel, arrays={"x": points[:, 0], "points": points})
    assert mesh.measure().closed and mesh.measure().volume > 0
    assert np.allclose(mesh.points.min(axis=0) + mesh.points.max(axis=0), 4, atol=0.05)
    assert mesh.arrays["points"].shape == mesh.points.shape and np.allclose(mesh.arrays["points"][:, 0], mesh.arrays["x"])
    other = pmb.particles(np.asfortranarray(points.astype("f4")), np.full(len(points), 0.5), kernel, normals=False)
    assert other.normals is None and np.allclose(other.points, mesh.points, atol=1e-4)
    hidden = np.ma.masked_array(points, np.repeat(np.arange(len(points)) > 0, 3))
    assert np.array_equal(pmb.particles(points[:1][::-1], 0.5, kernel).points, pmb.particles(hidden, 0.5, kernel).points)


def test_places_on_a_map(ball):
    """Far from 0 points are float64, so that meshes are those near 0."""
    far, drops = np.array([5e5, 5.4e6, 300]), np.random.default_rng(1).random((500, 3)) * 4
    for near, there in ((pmb.particles(drops, 0.25), pmb.particles(drops + far, 0.25)),
                        (pmb.contour(ball, -0.5), pmb.contour(ball, -0.5, origin=far))):
        assert near.points.dtype == np.float32 and there.points.dtype == np.float64
        assert np.allclose(there.points - far, near.points, atol=1e-5)
        assert np.isclose(there.measure().volume, near.measure().volume, rtol=1e-6)
    assert pmb.contour(ball, -0.5, dtype="float64").points.dtype == np.float64


@pytest.mark.parametrize("options, error, words", [
    (dict(dtype=int), ValueError, "float32 or float64"),
    (dict(points=np.zeros((3, 2))), ValueError, r"\(3, 2\)"),
    (dict(points=np.zeros((3, 3), complex)), TypeError, "complex"),
    (dict(radius=-1), ValueError, "radius"),
    (dict(radius=np.ones(4)), ValueError, r"\(4,\)"),
    (dict(kernel="cube"), ValueError, "cube"),
    (dict(normals="best"), ValueError, "best"),
    (dict(arrays={"a": np.ones(2)}), ValueError, "'a'"),
    (dict(radius="1"), TypeError, "radius is a number"),
    (dict(radius=[1, np.nan, 1]), ValueError, "radius of particle 1 is nan"),
    (dict(points=np.zeros((3, 5))), ValueError, "pass points.T"),
    (dict(kernel="gaussian", masses=np.ones(3)), ValueError, "kernel is 'gaussian'; only 'spline' uses them"),
    (dict(cell_size=1e-12), OverflowError, "cells of edge 1e-12, cell_size times radius"),
])
def test_wrong_particles(options, error, words):
    with pytest.raises(error, match=words):
        pmb.particles(**{"points": np.zeros((3, 3)), "radius": 1, **options})


def test_pictures(ball):
    red = pmb.render(ball, -0.5, size=(64, 48), colors=(1, 0, 0), shade=False)
    assert red.shape == (48, 64, 3) and red.dtype == np.uint8
    assert tuple(red[24, 32]) == (255, 0, 0) and tuple(red[0, 0]) == (255, 255, 255)
    # A camera from below axis 0, with axis 2 upward, sees the sample of highest index in axis 2 at the top.
    spot = np.zeros((9, 9, 9))
    spot[4, 4, 7] = 1
    tall = pmb.render(ball, -0.5, pmb.Camera(direction=(1, 0, 0), angle=0), (1000, 1200), shade=False)  # in two parts
    assert (tall == tall[::-1]).mean() > 0.999 and (tall < 255).mean() > 0.01
    dark = pmb.render(spot, 0.5, pmb.Camera(direction=(1, 0, 0), angle=0), (40, 40)).sum(axis=2) < 700
    assert dark.any() and np.nonzero(dark)[0].max() < 20
    for mode in ("composite", "maximum", "minimum", "average"):
        assert pmb.render(ball, mode=mode, size=(16, 16), background=None, opacity=[0, 1]).shape == (16, 16, 4)
    for wrong in (dict(mode="x"), dict(size=(0, 1)), dict(colormap=[[1]]), dict(mode="isosurface"),
                  dict(camera=pmb.Camera(direction=(0, 0, 1))), dict(colors=(1, 0)), dict(camera=pmb.Camera(angle=180)),
                  dict(range=(3, 2)), dict(background=(255, 255, 255)), dict(mode="maximum", isovalue=range(17))):
        with pytest.raises(ValueError):
            pmb.render(ball, **wrong)


@pytest.mark.parametrize("ending", [".ply", ".stl", ".obj", ".vtp"])
def test_files_read_by_vtk(mesh, ending, tmp_path):
    pytest.importorskip("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOGeometry import vtkOBJReader, vtkSTLReader
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
    path = tmp_path / ("mesh" + ending)
    mesh.save(path)
    reader = {".ply": vtkPLYReader, ".stl": vtkSTLReader, ".obj": vtkOBJReader, ".vtp": vtkXMLPolyDataReader}[ending]()
    reader.SetFileName(str(path))
    reader.Update()
    read = reader.GetOutput()
    points = vtk_to_numpy(read.GetPoints().GetData())
    ids = vtk_to_numpy(read.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    assert len(ids) == len(mesh.triangles)
    assert np.isclose(enclosed(points, ids), enclosed(mesh.points, mesh.triangles))
    if ending == ".vtp":
        for name, values in (("a&b", mesh.arrays["a&b"]), ("v", mesh.arrays["v"]), ("Normals", mesh.normals)):
            assert np.array_equal(vtk_to_numpy(read.GetPointData().GetArray(name)), values)


def test_npz_and_unknown_ending(mesh, tmp_path):
    mesh.save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as read:
        assert np.array_equal(read["triangles"], mesh.triangles) and np.array_equal(read["array_v"], mesh.arrays["v"])
    with pytest.raises(ValueError, match=r"\(n, 3\)"):
        pmb.Mesh(mesh.points[:, :2], mesh.triangles).measure()
    with pytest.raises(ValueError, match="the mesh has 3 points$"):
        pmb.Mesh(mesh.points[:3], mesh.triangles).save(tmp_path / "m.ply")
    with pytest.raises(ValueError, match="'a'"):
        pmb.Mesh(mesh.points, mesh.triangles, arrays={"a": [1]}).save(tmp_path / "m.vtp")


@pytest.mark.parametrize("ending", [".ply", ".stl", ".obj", ".vtp", ".npz", ".png"])
def test_failed_writes_leave_no_part(ending, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("noise.npy", np.random.default_rng(1).random((20, 20, 20)))
    path = tmp_path / ("m" + ending)
    command = ["render" if ending == ".png" else "contour", "noise.npy", "0.5", "-o", path.name]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for old in (None, b"old"):
        if old:
            path.write_bytes(old)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
        status = main(command)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert status == 1 and f"File too large: '{path.name}'" in capsys.readouterr().err
        assert (path.read_bytes() if path.exists() else None) == old
    path.chmod(0o640)
    assert main(command) == 0 and path.stat().st_size > 5000 and path.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "noise.npy"]


def test_pyvista(ball):
    pyvista = pytest.importorskip("pyvista")
    import pmb.pyvista  # noqa: F401
    grid = pyvista.ImageData(dimensions=ball.shape, spacing=(1, 2, 3), origin=(5, 6, 7))
    grid["d"] = ball.ravel(order="F")
    grid["points"] = grid.points
    grid.set_active_scalars("d")
    ours, theirs = grid.pmb.contour([-0.5, -0.3], compute_normals=True), grid.contour([-0.5, -0.3], compute_normals=True)
    assert sorted(ours.array_names) == sorted(theirs.array_names) and ours.active_scalars_name == "d"
    assert np.allclose(ours.bounds, theirs.bounds, atol=1e-4) and np.isclose(ours.volume, theirs.volume, rtol=1e-3)
    assert np.allclose(ours["points"], ours.points, atol=1e-3)
    assert set(np.unique(ours["d"])) == {-0.5, -0.3}
    assert ours.n_open_edges == 0
    given = grid.pmb.contour(2, ball.ravel(order="F") - 1, rng=(-1.5, -1.3), method="flying_edges", compute_scalars=False)
    assert np.array_equal(given.points, ours.points) and "Contour Data" not in given.array_names
    cloud = pyvista.PolyData(np.array([[0.0, 0, 0], [1, 0, 0]]))
    cloud["t"] = [1.0, 2.0]
    assert cloud.pmb.surface(0.6).n_open_edges == 0 and "t" in cloud.pmb.surface(0.6).array_names
    with pytest.raises(TypeError, match="PolyData"):
        cloud.pmb.contour()


def test_pyvista_takes_what_pyvista_takes(ball):
    pyvista = pytest.importorskip("pyvista")
    import pmb.pyvista  # noqa: F401
    grid = pyvista.ImageData(dimensions=ball.shape)
    grid["d"], grid["two"] = ball.ravel(order="F"), np.stack([ball.ravel(order="F"), grid.points[:, 0]], -1)
    grid.cell_data["c"] = grid.cell_data["d"] = np.arange(grid.n_cells) + 50.0
    grid.set_active_scalars("c", preference="cell")
    for scalars in (None, "c"):
        with pytest.raises(TypeError, match="'c' is one of cells"):
            grid.pmb.contour([-0.5], scalars)
    assert grid.pmb.contour(3, "d").n_points > 0  # in the range of points
    grid.set_active_scalars("two")
    first = grid.pmb.contour([-0.5])  # of two components; the name is that of vtk 9.7
    assert first.active_scalars_name == "two_0" and first["two"].shape == (first.n_points, 2)
    assert np.array_equal(first.points, grid.pmb.contour([-0.5], "d").points)
    for dtype, kind in (("f4", "f4"), ("f8", "f8"), ("u1", "f4"), ("i2", "f4"), ("i8", "f8")):  # VTK cuts those of integers
        grid["n"] = ((ball + 2) * 100).astype(dtype).ravel(order="F")
        ours, theirs = (call([150.001, 150.002, 170.7, 1e300], "n", method="flying_edges")
                        for call in (grid.pmb.contour, grid.contour))
        expected = np.unique(theirs["n"] if dtype[0] == "f" else np.array([150.001, 150.002, 170.7], kind))
        assert ours["n"].dtype == kind and np.array_equal(np.unique(ours["n"]), expected)


def test_pyvista_leaves_hidden_points_out():
    """Copies of another piece's points stay: they are real neighbours."""
    pyvista = pytest.importorskip("pyvista")
    import pmb.pyvista  # noqa: F401
    cloud = pyvista.PolyData(np.random.default_rng(0).random((50, 3)))
    hidden = np.arange(50) < 25
    cloud["r"], cloud["t"] = np.where(hidden, 7.0, 0.1), cloud.points[:, 0]
    cloud["vtkGhostType"] = np.where(hidden, 2, np.arange(50) % 2).astype("u1")
    masses = np.where(hidden, np.nan, 1.0)
    for radius in (0.1, "r"):
        surface = cloud.pmb.surface(radius, masses=masses, dtype=np.float32)
        alone = pmb.particles(cloud.points[25:], 0.1 if radius == 0.1 else cloud["r"][25:], masses=masses[25:],
                              arrays={"t": cloud["t"][25:]})
        assert np.array_equal(surface.points, alone.points) and np.array_equal(surface["t"], alone.arrays["t"])
        assert "vtkGhostType" not in surface.array_names
    assert list(cloud.pmb.surface(0.1, arrays={"twice": 2 * cloud["t"]}).point_data) == ["twice", "Normals"]
    cloud["vtkGhostType"] = np.full(50, 2, "u1")
    assert cloud.pmb.surface("r").n_points == 0


@pytest.mark.parametrize("triangles", [*(np.array([[0, 1, 2], [0, 2, 3]], dtype) for dtype in
                                         ("u1", "i2", ">i4", "i4", "u4", ">i8", "i8", "u8")),
                                       [[0, 1, 2], [0, 2, 3]], np.array([[0, 0], [1, 2], [2, 3]]).T])
def test_vtk_takes_meshes_of_users(triangles):
    pytest.importorskip("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    import pmb.vtk
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], ">f4")
    arrays = {"b": np.arange(4) > 1, "s": np.arange(4, dtype=">i4"), "h": np.arange(4, dtype="f2")}
    made = pmb.vtk.polydata(pmb.Mesh(points, triangles, np.tile(np.array([0, 0, 1], ">f8"), (4, 1)), arrays=arrays))
    ids = [[made.GetCell(i).GetPointId(k) for k in range(3)] for i in range(2)]
    assert made.GetNumberOfCells() == 2 and np.array_equal(ids, triangles) and made.GetBounds() == (0, 1, 0, 1, 0, 0)
    for name, values in (*arrays.items(), ("Normals", [[0, 0, 1]] * 4)):
        assert np.array_equal(vtk_to_numpy(made.GetPointData().GetArray(name)), values)
    for wrong in (np.array(triangles) % 4 + 1, np.array(triangles, "i8") - 1):
        with pytest.raises(ValueError, match="a triangle uses point"):
            pmb.vtk.polydata(pmb.Mesh(points, wrong))
    with pytest.raises(TypeError, match="indices"):
        pmb.vtk.polydata(pmb.Mesh(points, np.array(triangles, float)))


def test_vtk_filter_has_the_methods_of_vtk(ball):
    pytest.importorskip("vtk")
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkImageData
    from vtkmodules.vtkCommonExecutionModel import vtkPolyDataAlgorithm
    from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D

    import pmb.vtk
    image = vtkImageData()
    image.SetDimensions(ball.shape)
    samples = numpy_to_vtk(np.stack([ball.ravel(order="F"), ball.ravel(order="F") * 2], -1), deep=1)
    samples.SetName("d")
    image.GetPointData().SetScalars(samples)
    ours, theirs = pmb.vtk.Contour(), vtkFlyingEdges3D()
    own = set(dir(vtkFlyingEdges3D)) - set(dir(vtkPolyDataAlgorithm))
    assert not [name for name in own - set(dir(ours)) if name[0].isupper()]
    assert ours.GetArrayComponent() == theirs.GetArrayComponent() == 0
    for surface in (ours, theirs):
        surface.SetInputData(image)
        surface.GenerateValues(2, -0.9, -0.8)
        surface.InterpolateAttributesOff()
        surface.ComputeNormalsOff()
        assert not surface.GetInterpolateAttributes() and surface.GetComputeScalars()
        assert not surface.GetComputeNormals() and not surface.GetComputeGradients()
        values = [0.0, 0.0]
        surface.GetValues(values)
        assert values == [-0.9, -0.8]
    assert ours.GetValues() == values
    for component in (0, 1, 0):  # vtk 9.3 takes component 0 for all
        ours.SetArrayComponent(component)
        ours.Update()
        alone = pmb.contour(np.asfortranarray(ball) * (component + 1), values)
        assert np.array_equal(vtk_to_numpy(ours.GetOutput().GetPoints().GetData()), alone.points)
        assert ours.GetOutput().GetPointData().GetScalars().GetName() == f"d_{component}"
        assert ours.GetOutput().GetPointData().GetArray("d") is None
    with pytest.raises(ValueError, match="component 2"):
        pmb.vtk.volume(image, component=2)
    before = ours.GetMTime()
    ours.SetValue(2, 0.0)
    assert ours.GetMTime() > before and ours.GetNumberOfContours() == 3


def test_vtk_filter_follows_its_input():
    pytest.importorskip("vtk")
    from vtkmodules.vtkCommonDataModel import vtkImageData
    from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D
    from vtkmodules.vtkImagingCore import vtkRTAnalyticSource

    import pmb.vtk
    source, ours, theirs = vtkRTAnalyticSource(), pmb.vtk.Contour([150.0]), vtkFlyingEdges3D()
    source.SetWholeExtent(-5, 10, -8, 8, 0, 12)
    for surface in (ours, theirs):
        surface.SetInputConnection(source.GetOutputPort())
        surface.SetNumberOfContours(1)
        surface.SetValue(0, 150.0)
        surface.ComputeScalarsOff()
    for change in (lambda: None, lambda: [surface.GenerateValues(2, 120, 140) for surface in (ours, theirs)],
                   lambda: (ours.SetValue(0, 130.0), theirs.SetValue(0, 130.0)),
                   lambda: source.SetMaximum(300)):
        change()
        ours.Update()
        theirs.Update()
        assert np.allclose(ours.GetOutput().GetBounds(), theirs.GetOutput().GetBounds(), atol=1e-4)
        assert abs(ours.GetOutput().GetNumberOfCells() - theirs.GetOutput().GetNumberOfCells()) < 10
        assert ours.GetOutput().GetPointData().GetScalars() is None
    image = vtkImageData()
    image.DeepCopy(source.GetOutput())
    image.AllocateCellGhostArray()
    for cell in range(image.GetNumberOfCells() // 2):
        image.GetCellGhostArray().SetValue(cell, 32)
    half = pmb.vtk.contour(pmb.vtk.volume(image), image, [130.0])
    assert 0 < half.GetNumberOfCells() < ours.GetOutput().GetNumberOfCells() * 0.7


def test_commands(ball, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("ball.npy", ball.astype(np.float32))
    ball.astype(">f4").tofile("ball.raw")
    assert main(["contour", "ball.npy", "-0.5", "-o", "a.ply", "--measure"]) == 0
    assert "closed 1" in capsys.readouterr().out
    shape = [str(n) for n in ball.shape]
    assert main(["contour", "ball.raw", "-0.5", "-o", "b.ply", "--dtype", ">f4", "--shape", *shape]) == 0
    assert (tmp_path / "a.ply").read_bytes() == (tmp_path / "b.ply").read_bytes()
    assert main(["render", "ball.npy", "-0.5", "-o", "a.png", "--size", "32", "24"]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    for step in ("1", "2"):
        (tmp_path / f"step_{step}.csv").write_text("x,y,z,t\n0,0,0,1\n1,0,0,2\n")
    assert main(["particles", "step_*.csv", "--radius", "0.6", "--arrays", "-o", "surface_*.npz"]) == 0
    assert np.load("surface_2.npz")["array_t"].max() <= 2
    assert main(["particles", "step_?.csv", "--radius", "0.6", "-o", "again_*.ply"]) == 0
    assert main(["particles", "step_1.csv", "step_2.csv", "--radius", "0.6", "-o", "each_{}.ply"]) == 0
    assert (tmp_path / "again_2.ply").read_bytes() == (tmp_path / "each_2.ply").read_bytes()
    np.array([[0, 0, 0], [1, 0, 0]], "<f4").tofile("binary.xyz")
    for name, text in (("p.xyz", "0 0 0\n1 0 0\n"), ("binary.xyz", ""), ("molecule.xyz", "2\nwater\nO 0 0 0\nH 1 0 0\n"),
                       ("units.csv", "# X [m]; Y [m]; Z [m]; name\n0;0;0;a\n1;0;0;b\n"), ("bare.csv", "0 0 0\n1 0 0\n"),
                       ("pandas.csv", ',x,y,z,t\n0,0,0,0,"a,b"\n1,1,0,0,c\n'), ("decimal.tsv", "x;y;z\n0,0;0;0\n1,0;0;0\n"),
                       ("head.txt", "# in meters\nx y z\n0 0 0\n1 0 0\n"),
                       ("paraview.csv", '"Points:0","Points:1","Points:2","nx"\n0,0,0,1\n1,0,0,2\n')):
        if text:
            (tmp_path / name).write_text(text)
        assert main(["particles", name, "--radius", "0.6", "--arrays", "-o", "p.ply"]) == 0
        assert "2 particles, 312 triangles" in capsys.readouterr().out
    assert main(["contour", "ball.npy", "-5e-1", "-o", "b.ply"]) == 0
    assert main(["contour", "ball.npy", "5", "-o", "b.ply"]) == 0
    assert "to -0.0" in capsys.readouterr().err
    (tmp_path / "empty.csv").write_text("")
    np.save("flat.npy", ball[:1])
    np.save("turned.npy", ball[0, :3])
    for wrong, words in ((["contour", "none.npy", "-o", "a.ply"], "none.npy"),
                         (["contour", "none.npy", "-o", "none/a.ply"], "no folder none"),
                         (["contour", "flat.npy", "-o", "a.ply"], "1 x 24 x 27 samples"),
                         (["contour", "ball.npy", "-o", "a.xyz"], "a.xyz"),
                         (["contour", "ball.raw", "-o", "a.ply", "--dtype", "f8", "--shape", *shape], "has 54432 bytes"),
                         (["render", "ball.npy", "--zoom", "0", "-o", "a.png"], "zoom"),
                         (["particles", "empty.csv", "--radius", "1", "-o", "s.ply"], "empty.csv cannot be read"),
                         (["particles", "turned.npy", "--radius", "1", "-o", "s.ply"], "(3, 27)"),
                         (["contour", "empty.csv", "--array", "a", "-o", "s.ply"], "--array"),
                         (["particles", "p.ply", "--radius", "1", "-o", "./p.ply"], "is the input"),
                         (["particles", "p.ply", "--radius", "1", "-o", "s_*.ply"], "p.ply has none"),
                         (["particles", "*_?.csv", "--radius", "1", "-o", "s_*.ply"], "s_step.ply"),
                         (["particles", "x_*.csv", "--radius", "1", "-o", "s_*.ply"], "x_*.csv"),
                         (["particles", "step_*.csv", "--radius", "1", "-o", "s.ply"], "s.ply")):
        capsys.readouterr()
        assert main(wrong) == 1 and words in capsys.readouterr().err


@pytest.mark.parametrize("ending", [".nrrd", ".nii", ".mha", "dicom"])
def test_scans_lie_where_their_files_say(ball, ending, tmp_path):
    """Oblique axes, as of a scanner's table: the ball is where SimpleITK has its middle."""
    itk = pytest.importorskip("SimpleITK")
    image = itk.GetImageFromArray((1000 * (ball + 2)).astype(np.int16).T)  # SimpleITK's arrays have axes z, y, x
    turn = np.array([[0.8, 0, 0.6], [0.6, 0, -0.8], [0, 1, 0]])
    image.SetSpacing((1, 2, 3))
    image.SetOrigin((-40, 50, 60))
    image.SetDirection(turn.ravel().tolist())
    path = tmp_path / "scan"
    if ending == "dicom":
        path.mkdir()
        for k in reversed(range(-1, image.GetDepth())):  # names are in another order than places; -1: another series
            piece = image[:, :, max(k, 0)]
            row = dict(zip(("0020|0032", "0020|0037"), (image.TransformIndexToPhysicalPoint((0, 0, k)), turn.T[:2].ravel())))
            for tag, numbers in row.items():
                piece.SetMetaData(tag, "\\".join(f"{number:g}" for number in numbers))
            series = "1.2.3.4" if k >= 0 else "1.2.3.0"
            for tag, value in {"0008|0060": "CT", "0020|000e": series, "0020|000d": "1.2.3", "0020|0013": str(k),
                               "0018|0050": "3"}.items():
                piece.SetMetaData(tag, value)
            writer = itk.ImageFileWriter()
            writer.KeepOriginalImageUIDOn()
            writer.SetFileName(str(path / f"{99 - k}.dcm"))
            writer.Execute(piece)
    else:
        path = path.with_suffix(ending)
        itk.WriteImage(image, str(path))
    assert main(["contour", str(path), "1500", "-o", str(tmp_path / "a.npz")]) == 0
    points = np.load(tmp_path / "a.npz")["points"]
    middle = image.TransformContinuousIndexToPhysicalPoint([(n - 1) / 2 for n in image.GetSize()])
    assert np.allclose((points.min(axis=0) + points.max(axis=0)) / 2, middle, atol=0.1)
    local = (points - middle) @ turn  # along the scan's axes
    assert np.allclose(local.max(axis=0), [5, 11.5, 19.5], atol=0.15)


def test_missing_reader_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "SimpleITK", None)
    (tmp_path / "scan.nrrd").write_bytes(b"")
    assert main(["contour", str(tmp_path / "scan.nrrd"), "1", "-o", "a.ply"]) == 1
    assert "pip install SimpleITK" in capsys.readouterr().err


def test_stands_aside_for_the_plugin(tmp_path):
    """Inside ParaView the plugin's package of the same name comes first, wherever this one is on the path."""
    import subprocess
    other = tmp_path / "pmb"
    other.mkdir()
    (other / "vtkPMBContour.so").write_bytes(b"")
    (other / "__init__.py").write_text("from .inner import here\n")
    (other / "inner.py").write_text("here = 'plugin'\n")
    ours = pmb.__path__[0].rsplit("/", 1)[0]
    for paraview, expected in ((True, "plugin"), (False, "wheel")):
        code = (f"import sys, types\nsys.path[:0] = [{ours!r}, {str(tmp_path)!r}]\n"
                + ("sys.modules['paraview'] = types.ModuleType('paraview')\n" if paraview else "")
                + "import pmb\nprint(getattr(pmb, 'here', 'wheel'))")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.stdout.strip() == expected, run.stderr
