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


@pytest.mark.parametrize("name", VOLUMES)
@pytest.mark.parametrize("options", [{}, dict(step_size=2), dict(spacing=(1, 2, 3)), dict(gradient_direction="ascent"),
                                     dict(mask=True)])
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
