# SPDX-License-Identifier: BSD-3-Clause
"""Files that users bring, and meshes that they made themselves."""
import numpy as np
import pytest

import pmb
from pmb.__main__ import main
from pmb._readers import read_points

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "f4")


@pytest.mark.parametrize("length", [1e-18, 2e-11, 1, 1e10, 1e20])
def test_normals_of_stl(ball, length, tmp_path):
    pmb.contour(ball, -0.5, spacing=(length,) * 3).save(tmp_path / "m.stl")
    facets = np.frombuffer((tmp_path / "m.stl").read_bytes()[84:], "<3f4,<9f4,<u2")
    assert np.allclose(np.linalg.norm(facets["f0"], axis=1), 1, atol=1e-5)


def test_vtp_of_any_mesh(tmp_path):
    reading = pytest.importorskip("vtkmodules.vtkIOXML")
    arrays = {"": [1.0, 2, 3], "Normals": [4.0, 5, 6], "a\tb": [7, 8, 9], "none": np.ones((3, 0))}
    pmb.Mesh(CORNERS, [[0, 1, 2]], np.full((3, 3), 2, ">f4"), arrays=arrays).save(tmp_path / "m.vtp")
    reader = reading.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "m.vtp"))
    reader.Update()
    data = reader.GetOutput().GetPointData()
    found = {data.GetArrayName(i): data.GetArray(i).GetTuple(2) for i in range(data.GetNumberOfArrays())}
    assert found == {"Normals": (2.0,) * 3, "_": (3.0,), "Normals_": (6.0,), "a_b": (9.0,)}
    pmb.Mesh((9 * CORNERS).astype("i4"), [[0, 1, 2]]).save(tmp_path / "m.stl")
    for wrong in (np.ones((3, 2), "f4"), np.ones(3)):
        with pytest.raises(ValueError, match=r"normals of a mesh have shape \(3, 3\)"):
            pmb.Mesh(CORNERS, [[0, 1, 2]], wrong).save(tmp_path / "m.obj")


def test_measure_of_equal_triangles():
    """As many as in a list of faces that is padded with the first."""
    for ids in (np.int32, np.int64):
        found = pmb.Mesh(CORNERS, np.tile(np.array([[0, 1, 2], [2, 1, 0]], ids), (50_000, 1))).measure()
        assert (found.points, found.edges, found.nonmanifold_edges, found.components) == (3, 3, 3, 1)


def test_spacing_in_place_of_a_vti_file(ball, tmp_path, capsys, monkeypatch):
    vtk, io = pytest.importorskip("vtkmodules.vtkCommonDataModel"), pytest.importorskip("vtkmodules.vtkIOXML")
    numpy_to_vtk = pytest.importorskip("vtkmodules.util.numpy_support").numpy_to_vtk
    monkeypatch.chdir(tmp_path)
    image, samples = vtk.vtkImageData(), numpy_to_vtk(ball.ravel(order="F"))
    image.SetDimensions(ball.shape)
    image.SetSpacing(3, 0.1, 7)
    image.SetDirectionMatrix(0, -1, 0, 1, 0, 0, 0, 0, 1)
    samples.SetName("a")
    image.GetPointData().SetScalars(samples)
    writer = io.vtkXMLImageDataWriter()
    writer.SetFileName("a.vti")
    writer.SetInputData(image)
    writer.Write()
    for spacing in ((3, 0.1, 7), (1, 2, 0.5)):
        assert main(["contour", "a.vti", "-0.5", "-o", "a.npz", "--spacing", *map(str, spacing)]) == 0
        expected = pmb.contour(np.asfortranarray(ball), -0.5, spacing=spacing, direction=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
        assert np.allclose(np.load("a.npz")["points"], expected.points, atol=1e-5)
    (tmp_path / "a.vti").write_bytes((tmp_path / "a.vti").read_bytes()[:300])
    assert main(["contour", "a.vti", "-0.5", "-o", "a.npz"]) == 1 and "a.vti" in capsys.readouterr().err


def test_packed_particles_and_texts(tmp_path):
    path = tmp_path / "p.xyz"
    for count in range(1, 40):
        points = np.random.default_rng(count).random((count, 3)).astype("<f4")
        points.tofile(path)
        assert np.array_equal(read_points(str(path))[0], points)
    path.write_bytes("1 2 3 M\xfcller\n4 5 6 x\n".encode("latin-1"))
    assert read_points(str(path))[0].tolist() == [[1, 2, 3], [4, 5, 6]]
    path.write_text("0\n\n")
    assert read_points(str(path))[0].shape == (0, 3)
    for name, data, words in (("u.csv", "x,y,z\n1.0,2.0,3.0".encode("utf-16"), "UTF-16"), ("b.csv", b"\0" * 24, "no text"),
                              ("m.xyz", b"3\nwater\nO 0 0 0\n", "3 atoms, but it has 1"),
                              ("m.xyz", b"1\na\nO 0 0 0\n1\nb\nO 0 0 1\n", "of several frames"),
                              ("c.xyz", b"\0" * 10, "10 bytes")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=words):
            read_points(str(tmp_path / name))


def test_particles_left_out_need_no_radius():
    points = np.ma.masked_array(np.random.default_rng(1).random((20, 3)), False)
    radii = np.ma.masked_array(np.linspace(0.1, 0.2, 20), False)
    points[3] = radii[3] = np.ma.masked
    rest = np.arange(20) != 3
    mesh = pmb.particles(points, radii, masses=radii)
    expected = pmb.particles(points.data[rest], radii.data[rest], masses=radii.data[rest])
    assert np.allclose(mesh.points, expected.points, atol=1e-6) and len(mesh.triangles) == len(expected.triangles)
    radii[4] = np.inf
    with pytest.raises(ValueError, match="radius of particle 4 is inf"):
        pmb.particles(points, radii)


def test_counts_are_printed_whole(tmp_path, capsys):
    np.save(tmp_path / "noise.npy", np.random.default_rng(1).random((64, 64, 64), "f4"))
    assert main(["contour", str(tmp_path / "noise.npy"), "0.5", "-o", str(tmp_path / "m.ply"), "--measure"]) == 0
    found = dict(line.split() for line in capsys.readouterr().out.splitlines()[1:])
    assert int(found["points"]) - int(found["edges"]) + int(found["triangles"]) == int(found["euler"])
