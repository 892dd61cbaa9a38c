# SPDX-License-Identifier: BSD-3-Clause
"""The drop-ins beside the originals: counts, places, orientation, values, masks, errors."""
import numpy as np
import pytest
from conftest import enclosed, make_ball, profile

from pmb.compat import mcubes as our_mcubes
from pmb.compat import skimage as our_skimage

RANDOM = np.random.default_rng(1)
VOLUMES = {
    "ball": (make_ball(np.float32), -0.5),
    "noise": (RANDOM.random((14, 15, 16)).astype(np.float32), 0.5),
    "on samples": (RANDOM.integers(0, 4, (12, 13, 14)).astype(np.float32), 1.0),
    "negative": (RANDOM.random((12, 13, 14)) - 9, -8.5),
}


def outcome(function, *args, **options):
    """The shapes of what a function returns, or the error that it raises."""
    try:
        return [array.shape for array in function(*args, **options)]
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", VOLUMES)
@pytest.mark.parametrize("options", [
    {}, dict(step_size=2), dict(spacing=(1, 2, 3)), dict(gradient_direction="ascent"), dict(mask=True),
    dict(spacing=(1, 2, -3)), dict(spacing=(-1, -2, -3), gradient_direction="ascent"), dict(spacing=(-1, -2, 3)),
    dict(spacing=(0, 2, 3)), dict(spacing=(0, 2, -3)), dict(spacing=np.float32([1, 2, 3])),
])
def test_skimage(name, options):
    measure = pytest.importorskip("skimage.measure")
    volume, level = VOLUMES[name]
    if "mask" in options:
        options = dict(mask=np.random.default_rng(2).random(volume.shape) > 0.3)
    theirs = measure.marching_cubes(volume, level, method="lorensen", **options)
    ours = our_skimage.marching_cubes(volume, level, **options)
    for their, our in zip(theirs, ours):
        assert their.shape == our.shape and their.dtype == our.dtype
    assert np.allclose(profile(theirs[0]), profile(ours[0]), atol=1e-3)
    assert np.allclose(np.sort(theirs[3]), np.sort(ours[3]))
    if name == "ball" and "mask" not in options:
        assert np.isclose(enclosed(*theirs[:2]), enclosed(*ours[:2]), rtol=1e-3)  # orientation


def test_skimage_degenerate():
    measure = pytest.importorskip("skimage.measure")
    volume, level = VOLUMES["noise"]
    options = dict(spacing=(1, 2, 3), allow_degenerate=False)
    theirs = measure.marching_cubes(volume, level, method="lorensen", **options)
    ours = our_skimage.marching_cubes(volume, level, **options)
    for their, our in zip(theirs, ours):
        assert their.shape == our.shape
    assert theirs[0].dtype == ours[0].dtype


def infinite(kind):
    """A volume with infinite samples, and a level."""
    some, ball = np.random.default_rng(3).random((9, 10, 11)), make_ball() + 0.5
    return {"inf": (np.where(some > 0.8, np.inf, some), 0.4), "-inf": (np.where(some < 0.2, -np.inf, some), 0.4),
            "truncated": (np.where(ball < -0.08, -np.inf, ball), 0),
            "beyond float32": (some * 1e39, 2e38)}[kind]


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("kind", ["inf", "-inf", "truncated", "beyond float32"])
@pytest.mark.parametrize("options", [{}, dict(step_size=2), dict(mask=True)])
@pytest.mark.parametrize("turn", [np.asarray, np.transpose, np.float32])
def test_skimage_infinite(kind, options, turn):
    measure = pytest.importorskip("skimage.measure")
    volume, level = infinite(kind)
    volume = turn(volume)
    if "mask" in options:
        options = dict(mask=np.random.default_rng(2).random(volume.shape) > 0.3)
    theirs = measure.marching_cubes(volume, level, method="lorensen", **options)
    points, faces, normals, values = our_skimage.marching_cubes(volume, level, **options)
    assert np.array_equal(profile(theirs[0]), profile(points)) and theirs[1].shape == faces.shape
    assert np.array_equal(np.sort(theirs[3]), np.sort(values)) and np.isinf(values).any()
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_skimage_infinite_both():
    measure = pytest.importorskip("skimage.measure")
    volume, level = np.copysign(np.inf, np.random.default_rng(4).random((5, 6, 7)) - 0.5), 0.0
    theirs, ours = measure.marching_cubes(volume, level, method="lorensen"), our_skimage.marching_cubes(volume, level)
    assert [array.shape for array in theirs] == [array.shape for array in ours]
    assert np.isnan(theirs[0]).all() and np.isin(ours[0] % 1, (0, 0.5)).all()  # documented: middles of edges
    for level in (None, np.inf, np.nan):
        assert outcome(measure.marching_cubes, volume, level) == outcome(our_skimage.marching_cubes, volume, level)


def test_skimage_nan():
    measure = pytest.importorskip("skimage.measure")
    volume = np.random.default_rng(5).random((9, 10, 11))
    volume[volume > 0.97] = np.nan
    theirs, ours = measure.marching_cubes(volume, 0.5), our_skimage.marching_cubes(volume, 0.5)
    assert np.isnan(theirs[0]).any() and np.isfinite(ours[0]).all()
    assert {*map(tuple, ours[0].round(3))} <= {*map(tuple, theirs[0].round(3))}
    for level in (None, 2, np.inf, np.nan):
        assert outcome(measure.marching_cubes, volume, level) == outcome(our_skimage.marching_cubes, volume, level)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
@pytest.mark.parametrize("options", [{}, dict(step_size=2), dict(mask=np.ones((7, 7, 7), bool)), dict(step_size=7)])
def test_skimage_levels(dtype, options):
    """Levels at the ends of the range, and beside them by less than a step of float32."""
    measure = pytest.importorskip("skimage.measure")
    for least, most in ((0.3, 0.7), (0.7, 1.3), (-0.7, -0.3), (0.1, 0.4), (0, 3)):
        volume = np.full((7, 7, 7), least).astype(dtype)
        volume[2:4, 2:5, 2:5] = most
        volume[4, 4, 4] = 0.5 * (np.float32(least) + np.float32(most))
        near = [end * (1 + shift) for end in (least, most) for shift in (1e-9, -1e-9)]
        for level in (None, least, most, *near, most + 1, least - 1, 1e300):
            theirs = outcome(measure.marching_cubes, volume, level, method="lorensen", **options)
            assert theirs == outcome(our_skimage.marching_cubes, volume, level, **options)


@pytest.mark.parametrize("args, options", [
    ((np.zeros((3, 3)), 0), {}), (([[[0]]], 0), {}), ((np.zeros((1, 3, 3)), 0), {}), ((np.zeros((3, 3, 3)), 1), {}),
    ((np.zeros((3, 3, 3)), 0), {}), ((np.zeros((3, 3, 3)), 0), dict(spacing=(1, 1))),
    ((np.zeros((3, 3, 3)), 0), dict(step_size=0)),
    ((np.zeros((3, 3, 3)), 0), dict(method="x")), ((np.zeros((3, 3, 3)), 0), dict(mask=np.zeros((2, 2, 2)))),
])
def test_skimage_errors(args, options):
    measure = pytest.importorskip("skimage.measure")
    with pytest.raises(Exception) as theirs:
        measure.marching_cubes(*args, **options)
    with pytest.raises(type(theirs.value)) as ours:
        our_skimage.marching_cubes(*args, **options)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("name", VOLUMES)
def test_mcubes(name):
    original = pytest.importorskip("mcubes")
    volume, level = VOLUMES[name]
    theirs, ours = original.marching_cubes(volume, level), our_mcubes.marching_cubes(volume, level)
    assert theirs[0].shape == ours[0].shape and theirs[0].dtype == ours[0].dtype and theirs[1].dtype == ours[1].dtype
    assert np.allclose(profile(theirs[0]), profile(ours[0]), atol=1e-3)
    if name == "ball":
        assert np.isclose(enclosed(*theirs), enclosed(*ours), rtol=1e-3)
    for bad in (np.zeros((3, 3)), [[[0]]], np.zeros((3, 3, 3), complex)):
        with pytest.raises(Exception) as raised:
            original.marching_cubes(bad, 0.5)
        with pytest.raises(type(raised.value)):
            our_mcubes.marching_cubes(bad, 0.5)


@pytest.mark.parametrize("dtype", ["f4", "f8", "g", "u1", "i2", "i8", "?"])
def test_mcubes_levels(dtype):
    """Isovalues equal to samples, which the original rounds to float32."""
    original = pytest.importorskip("mcubes")
    volume = np.round(np.random.default_rng(6).random((9, 10, 11)) * 10).astype(dtype)
    if volume.dtype.kind == "f":
        volume = volume / volume.dtype.type(10) - volume.dtype.type(0.2)
    for level in (-0.1, -1e-50, 0, 1e-50, 0.1, 0.3, np.float32(0.4), 0.6, 1 + 1e-9, 3, 1e300, np.inf, -np.inf, np.nan, True):
        theirs, ours = original.marching_cubes(volume, level), our_mcubes.marching_cubes(volume, level)
        assert theirs[0].shape == ours[0].shape and (len(theirs[1]) > 0) == (len(ours[1]) > 0)
        assert theirs[0].dtype == ours[0].dtype and theirs[1].dtype == ours[1].dtype and ours[1].shape[1:] == (3,)
        assert np.allclose(profile(theirs[0]), profile(ours[0]), atol=1e-3)
    for level in (None, "0.5", 1j, 10 ** 400):
        assert outcome(original.marching_cubes, volume, level) == outcome(our_mcubes.marching_cubes, volume, level)


def test_mcubes_not_finite():
    original = pytest.importorskip("mcubes")
    volume = np.random.default_rng(5).random((9, 10, 11))
    volume[4, 5, 6], volume[2, 2, 2] = np.inf, np.nan
    theirs, ours = original.marching_cubes(volume, 0.5), our_mcubes.marching_cubes(volume, 0.5)
    assert np.isfinite(ours[0]).all() and not np.isfinite(theirs[0]).all() and len(ours[1]) < len(theirs[1])
