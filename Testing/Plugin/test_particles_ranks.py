# SPDX-License-Identifier: BSD-3-Clause
"""Particles on several ranks (as many as the argument says): their surface is that of one rank that has all points in the
order of the ranks, bit for bit. What goes wrong on one rank ends all. Starts itself in pvbatch. Exits with 77 (skipped)
without mpirun or pvbatch."""
import os
import subprocess
import sys
import tempfile

import numpy
from paraview.vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet
from vtkmodules.vtkFiltersCore import vtkContourFilter

from plugin_testing import (Messages, check_mesh, cloud, compare_triangles, counts, equal, load_plugin, run, triangle_rows,
                            true)
from server_testing import ENVIRONMENT, mpirun, skip_without

KERNELS = {"spline": 0, "gaussian": 1, "metaballs": 2, "spheres": 3}


def make_cloud(places, **arrays):
    data = cloud(places, **arrays)
    if arrays:
        data.GetPointData().SetActiveScalars("mark")
    return data


def fluid(count=1500):
    """Random positions, some of them twice, in a box that is long in z; with arrays of several types."""
    random = numpy.random.default_rng(7)
    places = random.random((count, 3)) * [4, 3, 9]
    places[::11] = places[5]
    return {"places": places.astype(numpy.float32), "mark": random.integers(-99, 99, count).astype(numpy.int16),
            "velocity": random.random((count, 3)), "size": random.uniform(0.2, 0.4, count),
            "amount": random.uniform(0.5, 2, count).astype(numpy.float32)}


def part(data, chosen):
    arrays = {name: values[chosen] for name, values in data.items()}
    return make_cloud(arrays.pop("places"), **arrays)


def spreads(count, ranks):
    """Distributions of the particles to ranks: the indices of each."""
    everything, random = numpy.arange(count), numpy.random.default_rng(8)
    yield "in order", numpy.array_split(everything, ranks)
    of = random.integers(0, ranks, count)
    yield "at random", [everything[of == rank] for rank in range(ranks)]
    yield "on the last rank", [everything[:0]] * (ranks - 1) + [everything]
    yield "not on the last rank", [everything[of == rank] for rank in range(ranks - 1)] + [everything[of == ranks - 1][:0]]


def surface_filter(data, settings):
    """Without a proxy: from ParaView 6.1 on, UpdatePipeline() of one waits for all ranks."""
    from pmb import vtkPMBParticleSurface  # found once the plugin is loaded
    filter_ = vtkPMBParticleSurface()
    filter_.SetInputDataObject(data)
    for name, value in settings.items():
        if name == "arrays":
            for index, array in value.items():
                filter_.SetInputArrayToProcess(index, 0, 0, 0, array)
        else:
            getattr(filter_, "Set" + name)(value)
    return filter_


def cases():
    for kernel in KERNELS.values():
        yield {"Kernel": kernel}
    yield {"Kernel": 0, "arrays": {0: "size", 1: "amount"}, "CellSize": 0.8}
    yield {"Kernel": 0, "arrays": {2: "amount"}, "SmoothingLength": 1.5}
    yield {"Kernel": 1, "arrays": {0: "size", 3: "amount"}, "CellSize": 0.7}
    yield {"Kernel": 3, "arrays": {0: "size"}, "Offset": 0.1, "NumberOfThreads": 2}
    yield {"Kernel": 2, "Radius": 0.02, "CellSize": 2.0, "ComputeNormals": 0, "PassPointArrays": 0}  # separate surfaces
    yield {"Kernel": 0, "Anisotropic": True}
    yield {"Kernel": 0, "Radius": 3.0}  # a reach that is as large as the box
    yield {"Kernel": 1, "arrays": {0: "size"}, "OutputPointsPrecision": 1, "far": 1e8}
    yield {"Kernel": 0, "OutputPointsPrecision": 1, "far": 3e12}


def same_surface(world):
    data = fluid()
    for number, settings in enumerate(cases()):
        far = settings.pop("far", None)
        if far:
            data["places"] = fluid()["places"].astype(float)
            data["places"][::500] += far * numpy.array([[1, -1, 0.5], [0, 1, 2], [-1, 1, -1]])
        of_case = list(spreads(len(data["places"]), world.size))
        for name, spread in of_case if number == 0 else [of_case[number % 4]]:
            what = f"{settings}, {name}"
            filter_ = surface_filter(part(data, spread[world.rank]), settings)
            filter_.UpdatePiece(world.rank, world.size, 0)
            mesh = filter_.GetOutput()
            parts = world.gather((triangle_rows(mesh)[0], counts(mesh), filter_.GetUsedRadius()))
            if world.rank == 0:
                whole = surface_filter(part(data, numpy.concatenate(spread)), settings)
                whole.UpdatePiece(0, 1, 0)
                expected, _ = triangle_rows(whole.GetOutput())
                check_mesh(whole.GetOutput(), [numpy.nan] * 3, [numpy.nan] * 3, strict=True)
                true(len(expected) > 300, f"{what}: {len(expected)} triangles")
                compare_triangles(what, numpy.concatenate([rows for rows, *_ in parts if rows is not None]), expected)
                equal({radius for *_, radius in parts}, {whole.GetUsedRadius()}, f"{what}: radii")
                most = max(triangles for _, (_, triangles), _ in parts)
                true((number > 3 and not far) or most < 2 * len(expected) / world.size, f"{what}: {most} triangles")
            if "PassPointArrays" not in settings:
                equal(mesh.GetPointData().GetScalars().GetName(), "mark", f"{what}: active scalars")


def images(world):
    """Parts of the image are those of one rank, byte by byte, whichever output is asked for first."""
    data = fluid()
    for settings, image_first in (({"Kernel": 0, "ImageDimensions": (30, 20, 41)}, False),
                                  ({"Kernel": 3, "ImageDimensions": (20, 20, 21), "CellSize": 1.0}, True),
                                  ({"Kernel": 1, "ImageDimensions": (9, 9, 2)}, True)):
        settings = {**settings, "ComputeImage": 1}
        spread = list(spreads(len(data["places"]), world.size))[1][1]
        filter_, runs = surface_filter(part(data, spread[world.rank]), settings), []
        filter_.AddObserver("StartEvent", lambda *_: runs.append(1))
        contour = vtkContourFilter()
        contour.SetInputConnection(filter_.GetOutputPort(1))
        for step in (contour, filter_) if image_first else (filter_, contour):
            step.UpdatePiece(world.rank, world.size, 0)
        equal(len(runs), 1 if image_first else 2, f"{settings}: executions")  # the contour requests a layer of ghost cells
        image = filter_.GetOutputDataObject(1)
        values = vtk_to_numpy(image.GetPointData().GetScalars()) if image.GetNumberOfPoints() else numpy.zeros(0, "f")
        parts = world.gather((image.GetExtent(), image.GetOrigin(), image.GetSpacing(), values,
                              filter_.GetOutput().GetNumberOfPolys()))
        if world.rank == 0:
            whole = surface_filter(part(data, numpy.concatenate(spread)), settings)
            whole.UpdatePiece(0, 1, 0)
            one = whole.GetOutputDataObject(1)
            x, y, z = settings["ImageDimensions"]
            expected = vtk_to_numpy(one.GetPointData().GetScalars()).reshape(z, y, x)
            seen = numpy.zeros((z, y, x), bool)
            for extent, origin, spacing, values, _ in parts:
                if len(values):
                    x0, x1, y0, y1, z0, z1 = extent
                    here = numpy.s_[z0:z1 + 1, y0:y1 + 1, x0:x1 + 1]
                    equal((origin, spacing), (one.GetOrigin(), one.GetSpacing()), "place")
                    true(numpy.array_equal(values.reshape(expected[here].shape), expected[here]), f"{settings}: {extent}")
                    seen[here] = True
            true(seen.all(), f"{settings}: {seen.sum()} samples")
            equal(sum(triangles for *_, triangles in parts), whole.GetOutput().GetNumberOfPolys(), "triangles of surfaces")


def unusual(world):
    """Nothing on all ranks; points without a finite position on one."""
    filter_ = surface_filter(make_cloud(numpy.zeros((0, 3))), {})
    for places, radius, triangles in ((numpy.zeros((0, 3)), 0.0, False), (numpy.full((2, 3), numpy.nan), 1.0, False),
                                      ([[world.rank * 5.0, 0, 0], [numpy.inf, 0, 0]], 1.0, True)):
        filter_.SetInputDataObject(make_cloud(numpy.array(places)))
        filter_.SetRadius(radius)
        with Messages() as log:
            filter_.UpdatePiece(world.rank, world.size, 0)
        equal(world.allreduce(filter_.GetOutput().GetNumberOfPolys()) > 0, triangles, "triangles")
        text = f"of {len(places)} points have a position that is not finite"
        equal(log.text().count(text), int(len(places) > 0), f"said {log.text()!r}")
    filter_.SetInputDataObject(make_cloud(numpy.zeros((1, 3))))
    filter_.SetRadius(0.0)
    with Messages() as log:
        filter_.UpdatePiece(world.rank, world.size, 0)
    equal((log.text().count("Warning:"), log.text().count("set Radius"), log.text().count("ERROR")), (1, 1, 0), log.text())


def faults(world):
    """One message on each rank, an empty output, no rank that waits; then the filter works."""
    last = world.rank == world.size - 1
    data = fluid(500)
    mine = part(data, numpy.arange(500))
    zero = part({**data, "size": data["size"] * 0}, numpy.arange(500))
    lacks = part({name: data[name] for name in ("places", "mark")}, numpy.arange(500))
    radii = {"arrays": {0: "size"}}
    for given, settings, text in ((zero if last else mine, radii, "radius of particle 0 is 0"),
                                  (lacks if last else mine, radii, "The array of radius is missing on some of the ranks"),
                                  (mine, {"arrays": {0: "velocity"}}, "one component"),
                                  (mine, {"CellSize": 0.001, "SampleLimit": 1}, "raise CellSize or SampleLimit"),
                                  (mine, {"Isovalue": 0.0}, "Isovalue 0")):
        filter_ = surface_filter(given, settings)
        with Messages() as log:
            filter_.UpdatePiece(world.rank, world.size, 0)
        true(log.text().count("ERROR") == 1 and text in log.text(), f"{settings}: said {log.text()!r}")
        equal(filter_.GetOutput().GetNumberOfPoints(), 0, f"{settings}: points")
        filter_ = surface_filter(mine, {})
        filter_.UpdatePiece(world.rank, world.size, 0)
        true(world.allreduce(filter_.GetOutput().GetNumberOfPolys()) > 100, "a surface afterwards")


def stop(world):
    """An abort on one rank ends all, silently."""
    filter_ = surface_filter(part(fluid(), numpy.arange(1500)), {"CellSize": 0.2})
    if world.rank == 0:
        filter_.AddObserver("ProgressEvent", lambda *_: filter_.SetAbortExecute(1))
    with Messages() as log:
        filter_.UpdatePiece(world.rank, world.size, 0)
    equal((filter_.GetOutput().GetNumberOfPoints(), log.text()), (0, ""), "points and messages after an abort")


def blocks(world):
    """Ranks may have different blocks: each block on each rank has a closed surface of its own."""
    data = vtkMultiBlockDataSet()
    data.SetNumberOfBlocks(world.size)
    data.SetBlock(world.rank, part(fluid(500), numpy.arange(500)))
    filter_, runs = surface_filter(data, {}), []
    filter_.AddObserver("StartEvent", lambda *_: runs.append(1))
    for _ in range(2):
        filter_.UpdatePiece(world.rank, world.size, 0)
    equal(len(runs), 2, "executions, of all blocks and of one")
    mesh = filter_.GetOutputDataObject(0).GetBlock(world.rank)
    check_mesh(mesh, [numpy.nan] * 3, [numpy.nan] * 3, strict=True)
    equal(set(world.allgather(counts(mesh))), {counts(mesh)}, "the same surface on all ranks")


def on_ranks(folder):
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    try:
        equal(world.size, int(os.environ["PMB_RANKS"]), "ranks")
        load_plugin()
        for test in (same_surface, images, unusual, faults, stop, blocks):
            test(world)
            world.Barrier()
            if world.rank == 0:
                print(f"passed: {test.__name__}", flush=True)
        with open(os.path.join(folder, f"passed.{world.rank}"), "x", encoding="utf-8"):
            pass
    except BaseException as error:  # a rank that stops alone would leave the others waiting
        print(f"FAILED on rank {world.rank}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


def ranks():
    count = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([*mpirun(count), "pvbatch", "--symmetric", __file__, "ranks", folder], capture_output=True,
                                text=True, env={**ENVIRONMENT, "PMB_RANKS": str(count)}, check=False)
        said = result.stdout + result.stderr
        # mpirun's exit code may differ from the script's.
        equal((result.returncode, len(os.listdir(folder))), (0, count), f"exit code and ranks that passed; they said {said}")


if sys.argv[1] == "ranks":
    on_ranks(sys.argv[2])
else:
    skip_without("mpirun", "pvbatch")
    run(ranks)
