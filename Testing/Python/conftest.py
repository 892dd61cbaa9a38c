# SPDX-License-Identifier: BSD-3-Clause
import threading

import numpy as np
import pytest

import pmb


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


def contour_at_once(array, expected):
    """Threads contour an array, and a volume of it that they share."""
    shared, wrong = pmb.Volume(array), []

    def work():
        for _ in range(20):
            for mesh in (pmb.contour(array, -0.5), shared.contour(-0.5)):
                if not np.array_equal(mesh.to_host().points, expected):
                    wrong.append(mesh)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
