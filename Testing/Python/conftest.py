# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest


def make_ball(dtype=np.float64, shape=(21, 24, 27)):
    """Distance to the middle, negative, so that the ball's inside is above an isovalue."""
    axes = np.ogrid[tuple(slice(-1, 1, n * 1j) for n in shape)]
    return (-np.sqrt(sum(axis * axis for axis in axes))).astype(dtype)


@pytest.fixture
def ball():
    return make_ball()


def profile(points):
    """Places of points along seven directions, sorted: nearly equal for the same points in any order."""
    return np.sort(np.asarray(points, float) @ np.random.default_rng(7).random((3, 7)), axis=0)


def enclosed(points, triangles):
    corners = np.asarray(points, float)[np.asarray(triangles, np.int64)]
    return np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
