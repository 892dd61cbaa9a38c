# SPDX-License-Identifier: BSD-3-Clause
"""Runs in pvbatch --symmetric on several ranks: the triangles that are no ghosts, over all ranks, are the serial ones.

The wavelet hands a piece to each rank. Each rank prints one line; rank 0 sums up.
"""
import os
import sys

import numpy
from mpi4py import MPI
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy

from plugin_testing import equal, load_plugin, true

# 101^3 samples at 157: vtkFlyingEdges3D and Contour agree.
EXTENT, ISOVALUE, EXPECTED = [-50, 50, -50, 50, -50, 50], 157.0, 168292
DUPLICATE = 1  # vtkDataSetAttributes::DUPLICATECELL


def own_triangles(mesh):
    """Triangles of this rank, without ghosts, and the centers of these."""
    connectivity = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    flags = mesh.GetCellData().GetArray("vtkGhostType")
    own = numpy.ones(len(connectivity), bool) if flags is None else vtk_to_numpy(flags) & DUPLICATE == 0
    coordinates = vtk_to_numpy(mesh.GetPoints().GetData()) if mesh.GetNumberOfPoints() else numpy.zeros((0, 3))
    return len(connectivity), coordinates[connectivity[own]].mean(axis=1)


def check(world, pass_arrays):
    """One filter, with or without other arrays: the ghost flags come along either way."""
    wavelet = simple.Wavelet(WholeExtent=EXTENT)
    proxy = simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[ISOVALUE],
                              RemoveDegenerateTriangles=0, PassArrays=pass_arrays)
    proxy.UpdatePipeline()
    total, centers = own_triangles(proxy.GetClientSideObject().GetOutput())
    print(f"rank {world.rank} of {world.size}: {len(centers)} triangles and {total - len(centers)} ghosts", flush=True)
    everything = world.gather(centers)
    if world.rank == 0:
        true(f" {total} triangles" in proxy.LastRun, f"{total} triangles, but the last run is {proxy.LastRun!r}")
        true(min(map(len, everything)) > 0, "a rank has no triangles of its own")
        joined = numpy.concatenate(everything)
        equal(len(joined), EXPECTED, f"triangles that are no ghosts, PassArrays {pass_arrays}")
        # The same triangle on two ranks would lie at the same place.
        true(len(numpy.unique(joined.round(3), axis=0)) > EXPECTED - 100, "triangles at the same place")
        print(f"{world.size} ranks: {len(joined)} triangles that are no ghosts", flush=True)


def main():
    world = MPI.COMM_WORLD
    load_plugin(remote=True)
    equal(world.size, int(os.environ["PMB_RANKS"]), "ranks")
    for pass_arrays in (1, 0):
        check(world, pass_arrays)
    if world.rank == 0:
        print("1 passed, 0 failed", flush=True)


try:
    main()
except BaseException as error:  # a rank that stops alone would leave the others waiting
    print(f"FAILED: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    MPI.COMM_WORLD.Abort(1)
