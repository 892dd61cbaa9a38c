# SPDX-License-Identifier: BSD-3-Clause
"""pmb.contour and pmb.Volume: where points lie, orders of axes, options, and what a volume tells."""
import doctest
import importlib
import resource
import subprocess
import sys

import numpy as np
import pytest
from conftest import enclosed, make_ball, profile

import pmb

LAYOUTS = {
    "c": lambda a: a,
    "fortran": np.asfortranarray,
    "middle first": lambda a: np.ascontiguousarray(a.transpose(1, 0, 2)).transpose(1, 0, 2),
    "rotated": lambda a: np.ascontiguousarray(a.transpose(1, 2, 0)).transpose(2, 0, 1),
    "reversed": lambda a: np.ascontiguousarray(a[::-1, :, ::-1])[::-1, :, ::-1],
    "every second": lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
    "broadcast": lambda a: np.broadcast_to(a[:, :, 13:14], a.shape),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "field": lambda a: np.rec.fromarrays([a, a.astype("i1")])["f0"],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_layouts_give_the_same_mesh(layout, dtype):
    plain = np.ascontiguousarray(make_ball() * 1000).astype(dtype)
    if layout == "broadcast":
        plain = np.ascontiguousarray(np.broadcast_to(plain[:, :, 13:14], plain.shape))
    array = LAYOUTS[layout](plain)
    assert np.array_equal(array, plain)
    if layout not in ("swapped bytes", "field"):
        assert np.shares_memory(pmb.Volume(array, device="cpu")._array, array)
    one, two = (pmb.contour(a, -500.5, (1, 2, 3), (4, 5, 6)) for a in (plain, array))
    assert np.allclose(profile(one.points), profile(two.points), atol=2e-4)
    assert len(one.triangles) == len(two.triangles)
    assert np.isclose(enclosed(one.points, one.triangles), enclosed(two.points, two.triangles),
                      rtol=1e-3)  # diagonals of quads


def test_axis_and_orientation(ball):
    """Coordinate a belongs to axis a; triangles are counter-clockwise seen from lower values; normals point there."""
    mesh = pmb.contour(ball, -0.5, spacing=(1, 2, 3), origin=(10, 20, 30))
    middle = np.array([10 + 10, 20 + 23, 30 + 39])
    reach = np.array([5, 11.5, 19.5])  # half of a ball of radius 1 spans (n - 1) / 2 samples
    assert np.allclose(mesh.points.max(axis=0), middle + reach, atol=0.15)
    assert np.isclose(enclosed(mesh.points, mesh.triangles), 4 / 3 * np.pi * reach.prod(), rtol=0.02)
    assert ((mesh.points - middle) * mesh.normals).sum(axis=1).min() > 0
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)
    assert mesh.points.dtype == mesh.normals.dtype == np.float32 and mesh.triangles.dtype == np.int32


def test_direction_mirrors_and_turns(ball):
    plain = pmb.contour(ball, -0.5)
    turn = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    turned = pmb.contour(ball, -0.5, direction=turn.ravel())  # a row, as SimpleITK's
    assert np.allclose(turned.points, plain.points @ turn.T)
    assert np.isclose(turned.measure().volume, plain.measure().volume) and turned.measure().volume > 0


def test_several_isovalues(ball):
    both, first, second = (pmb.contour(ball, level) for level in ([-0.5, -0.3], -0.5, -0.3))
    assert both.sizes == first.sizes + second.sizes and both.isovalues == (-0.5, -0.3)
    assert np.array_equal(both.points, np.concatenate([first.points, second.points]))
    assert np.array_equal(both.triangles, np.concatenate([first.triangles, second.triangles + len(first.points)]))
    assert len(pmb.contour(ball, []).points) == 0 and len(pmb.contour(ball, 5).triangles) == 0


def test_arrays_follow_the_points(ball):
    index = np.stack(np.broadcast_arrays(*np.ogrid[:21, :24, :27]), axis=-1).astype(np.float32)
    for volume in (ball, np.asfortranarray(ball)):
        mesh = pmb.contour(volume, -0.5, arrays={"index": index, "x": np.asfortranarray(index[..., 0]),
                                                 "half": ball.astype("f2"), "": ball})
        assert np.allclose(mesh.arrays["index"], mesh.points, atol=1e-5)
        assert np.allclose(mesh.arrays["x"], mesh.points[:, 0], atol=1e-5)
        assert mesh.arrays["half"].dtype == np.float32


def test_mask_of_samples_and_cells(ball):
    cells = np.ones([n - 1 for n in ball.shape], bool)
    cells[:, :12] = False
    samples = np.ones(ball.shape, bool)
    samples[:, :12] = False
    assert np.isclose(pmb.contour(ball, -0.5, mask=cells).points[:, 1].min(), 12)
    assert np.isclose(pmb.contour(ball, -0.5, mask=samples).points[:, 1].min(), 12)
    assert len(pmb.contour(ball, -0.5, mask=np.zeros(ball.shape, bool)).points) == 0


def test_degenerate_counts():
    steps = np.zeros((4, 4, 4))
    steps[1:3, 1:3, 1:3] = 1
    assert len(pmb.contour(steps, 1.0, degenerate=True).points) == 24
    few = pmb.contour(steps, 1.0)
    assert len(few.points) == 8 and few.measure().closed


def test_volume_keeps_the_summary(ball):
    with pmb.Volume(ball, spacing=(1, 2, 3)) as volume:
        for level in (-0.8, -0.2):
            assert np.array_equal(volume.contour(level).points, pmb.contour(ball, level, spacing=(1, 2, 3)).points)
        info = volume.info()
        assert (info["minimum"], info["maximum"]) == (ball.min(), ball.max()) and info["device"] in ("cpu", "cuda")
        assert volume.suggest(2) and all(ball.min() <= level <= ball.max() for level in volume.suggest(2))
        histogram = volume.histogram(bins=16)
        assert pmb.Volume(np.ones((4, 4, 4))).histogram(2).touched.sum() == 1
        assert len(histogram.crossed) == 16 and len(histogram.edges) == 17 and histogram.crossed.max() > 0
        ball[...] = 0
        volume.update()
        assert len(volume.contour(-0.5).points) == 0
    with pytest.raises(ValueError, match="closed"):
        volume.contour(0)


def test_time_steps_allocate_nothing():
    x, y, z = np.ogrid[-3:3:96j, -3:3:96j, -3:3:96j]
    fields = [np.asarray(np.sin(x + at) + np.sin(y - at) + np.sin(z), np.float32) for at in (0, 0.7, 1.4)]
    meshes, used = [pmb.contour(field, 0.5) for field in fields], []
    samples = fields[0].copy()
    with pmb.Volume(samples) as volume:
        for step in range(60):
            np.copyto(samples, fields[step % 3])
            volume.update()
            mesh = volume.contour(0.5)
            assert np.array_equal(mesh.points, meshes[step % 3].points)
            assert np.array_equal(mesh.triangles, meshes[step % 3].triangles)
            with open("/proc/self/statm", encoding="ascii") as pages:
                used.append(int(pages.read().split()[1]) * resource.getpagesize())
    assert used[-1] - used[19] < samples.nbytes / 4


def test_gradients_and_estimators():
    x, y, z = (axis.astype(np.float32) for axis in np.ogrid[:8, :9, :10])
    plane = 2 * x - 3 * y + z
    for estimator in ("central", "forward", "sobel"):
        mesh = pmb.contour(plane, 1.5, spacing=(2, 1, 0.5), gradients=True, estimator=estimator)
        assert np.allclose(mesh.gradients, [1, -3, 2], atol=1e-4)
    with pytest.raises(ValueError, match="estimator"):
        pmb.contour(plane, 1.5, estimator="best")


def test_progress_rises_and_stops(ball):
    large = np.random.default_rng(1).random((160, 160, 160), dtype=np.float32)
    seen = []
    pmb.contour(large, 0.5, progress=seen.append)
    assert seen[-1] == 1 and seen == sorted(seen)

    def stop(fraction):
        raise InterruptedError(f"at {fraction}")

    with pytest.raises(InterruptedError):
        pmb.contour(large, 0.5, progress=stop)
    assert len(pmb.contour(ball, -0.5).points) > 0


def test_memory_of_meshes():
    """A volume takes the memory of its meshes that are gone again. Views keep theirs, also of a closed volume."""
    def places(mesh):
        return {array.ctypes.data for array in (mesh.points, mesh.triangles, mesh.normals)}

    volume = pmb.Volume(np.random.default_rng(1).random((64, 64, 64), dtype=np.float32))
    mesh = volume.contour(0.5)
    before = places(mesh)
    del mesh
    mesh = volume.contour(0.5)
    assert places(mesh) == before
    view, ids = mesh.triangles[::2], mesh.triangles[::2].copy()
    del mesh
    mesh = volume.contour(0.5)
    volume.close()
    assert not np.shares_memory(mesh.triangles, view)
    assert np.array_equal(mesh.triangles[::2], ids) and np.array_equal(view, ids)


@pytest.mark.parametrize("name", ["pmb", "pmb._volume", "pmb._mesh", "pmb._particles", "pmb._render", "pmb.compat.skimage",
                                  "pmb.compat.mcubes", "pmb.vtk", "pmb.pyvista"])
def test_examples_of_docstrings(name):
    if name.endswith(("vtk", "pyvista")):
        pytest.importorskip(name[4:])
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0 and result.attempted > 0


@pytest.mark.full
def test_types():
    pytest.importorskip("mypy")
    folder = pmb.__path__[0]
    check = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir=/dev/null", "--ignore-missing-imports", folder],
                           capture_output=True, text=True)
    assert check.returncode == 0, check.stdout
