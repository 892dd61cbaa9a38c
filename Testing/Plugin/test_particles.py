# SPDX-License-Identifier: BSD-3-Clause
"""PMB Particle Surface: its surfaces, normals and arrays, the radius that it finds, ghosts, blocks, bad input, aborting."""
import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPolyData, vtkUnstructuredGrid

from plugin_testing import (Messages, check_mesh, counts, equal, load_plugin, near, output, point_array, points, producer,
                            run, true)


def cloud(places, kind=vtkPolyData, **arrays):
    """A data set of points without cells."""
    data, holder = kind(), vtkPoints()
    holder.SetData(numpy_to_vtk(numpy.ascontiguousarray(places), deep=True))
    data.SetPoints(holder)
    for name, values in arrays.items():
        array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    return data


def surface(data, **options):
    return simple.PMBParticleSurface(Input=producer(data), **options)


def lattice(count=8, dtype=numpy.float32):
    z, y, x = numpy.mgrid[0:count, 0:count, 0:count]
    return numpy.stack([x, y, z], axis=-1).reshape(-1, 3).astype(dtype)


def closed(mesh):
    check_mesh(mesh, [numpy.nan] * 3, [numpy.nan] * 3, strict=True)
    return mesh


def apply_gives_a_surface():
    """Without a setting: the radius comes from the data, whatever the unit of length."""
    for scale, kind, dtype in ((1.0, vtkPolyData, numpy.float32), (1e-6, vtkUnstructuredGrid, numpy.float64)):
        proxy = surface(cloud(lattice(dtype=dtype) * scale, kind))
        mesh = closed(output(proxy))
        proxy.UpdatePropertyInformation()
        near(proxy.GetPropertyValue("UsedRadius"), 0.5 * scale, 1e-6 * scale, "the radius")
        true(5000 < mesh.GetNumberOfPolys() < 50000, f"{mesh.GetNumberOfPolys()} triangles")
        low, high = points(mesh).min(axis=0) / scale, points(mesh).max(axis=0) / scale
        true((low > -1).all() and (low < 0).all() and (high > 7).all() and (high < 8).all(), f"from {low} to {high}")


def spheres():
    """Of two radii: points are on them, and normals point away from their centres."""
    centers, radii = numpy.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]]), numpy.array([1.0, 3.0])
    proxy = surface(cloud(centers, size=radii), Kernel="Spheres", RadiusArray=["POINTS", "size"], CellSize=0.1, Offset=0.5)
    mesh = closed(output(proxy))
    away = points(mesh)[:, None, :] - centers[None]
    distance = numpy.linalg.norm(away, axis=2)
    nearest = (distance - radii).argmin(axis=1)
    index = numpy.arange(len(nearest))
    true(numpy.abs(distance[index, nearest] - radii[nearest] - 0.5).max() < 0.01, "the points are on the spheres")
    outward = away[index, nearest] / distance[index, nearest][:, None]
    true(numpy.abs(point_array(mesh, "Normals") - outward).max() < 1e-3, "the normals point outward")
    equal(set(nearest), {0, 1}, "spheres with a surface")
    proxy.ComputeNormals = 0
    equal(point_array(output(proxy), "Normals"), None, "normals that are not wanted")


def arrays():
    """Point arrays come along: smooth ones keep their values at the surface, integers are rounded, ghosts leave no trace."""
    places = lattice(10, numpy.float64)
    velocity = numpy.stack([places[:, 0], 2 * places[:, 1], numpy.ones(len(places))], axis=1).astype(numpy.float32)
    data = cloud(places, velocity=velocity, constant=numpy.full(len(places), 7, numpy.int16),
                 side=(places[:, 2] > 4.5).astype(numpy.uint8), Normals=velocity)
    data.GetPointData().SetActiveVectors("velocity")
    for kernel in ("SPH Spline", "Gaussian", "Metaballs", "Spheres"):
        proxy = surface(data, Kernel=kernel)
        mesh = closed(output(proxy))
        at, found = points(mesh), point_array(mesh, "velocity")
        inside = numpy.clip(at, 0, 9)
        true(numpy.abs(found - inside * [1, 2, 0] - [0, 0, 1]).max() < 2.1, "velocities near those of the particles")
        true(numpy.abs(found[:, 2] - 1).max() < 1e-6, "a component that is constant")
        true((point_array(mesh, "constant") == 7).all(), "integers that are constant")
        equal(set(point_array(mesh, "side")[numpy.abs(at[:, 2] - 4.5) > 2]), {0, 1}, "sides")
        true(((point_array(mesh, "side") == 1) == (at[:, 2] > 4.5))[numpy.abs(at[:, 2] - 4.5) > 2].all(), "sides")
        equal(mesh.GetPointData().GetVectors().GetName(), "velocity", "active vectors")
        near(numpy.linalg.norm(point_array(mesh, "Normals"), axis=1).max(), 1, 1e-3, "the filter's own normals")
    proxy.PassPointArrays = 0
    equal(output(proxy).GetPointData().GetNumberOfArrays(), 1, "arrays that are not wanted")
    ghosts = numpy.where(places[:, 0] > 4.5, 1, 0).astype(numpy.uint8)
    half = places[:, 0] < 4.5
    with_ghosts = output(surface(cloud(places, vtkGhostType=ghosts, a=velocity), Radius=0.5))
    without = output(surface(cloud(places[half], a=velocity[half]), Radius=0.5))
    true(numpy.array_equal(point_array(with_ghosts, "a"), point_array(without, "a")), "values without the ghosts")
    equal(point_array(with_ghosts, "vtkGhostType"), None, "ghost types")


def kernels_and_settings():
    data = cloud(lattice())
    seen = set()
    for kernel in ("SPH Spline", "Gaussian", "Metaballs", "Spheres"):
        for options in ({}, {"CellSize": 0.4}, {"SmoothingLength": 1.5}, {"Isovalue": 0.3}, {"Offset": 0.1}):
            mesh = closed(output(surface(data, Kernel=kernel, **options)))
            seen.add((kernel, counts(mesh), round(float(numpy.abs(points(mesh)).sum()), 2)))
    equal(len(seen), 3 * 4 + 3, "different surfaces")  # Offset is of spheres; smoothing length and isovalue of the others


def threads_and_steps():
    """The same mesh for any number of threads, and when a filter has had other points before."""
    data, other = cloud(lattice(12)), cloud(lattice(5) * 3.0)
    first = output(surface(data, NumberOfThreads=1))
    proxy = surface(other, NumberOfThreads=3)
    output(proxy)
    proxy.Input = producer(data)
    again = output(proxy)
    true(numpy.array_equal(points(first), points(again)), "points")
    true(numpy.array_equal(point_array(first, "Normals"), point_array(again, "Normals")), "normals")


def left_out():
    """Ghost points silently, points at no finite position with a warning."""
    places = lattice()
    expected = output(surface(cloud(places), Radius=0.5))
    ghosts = numpy.concatenate([numpy.zeros(len(places), numpy.uint8), numpy.array([1, 2], numpy.uint8)])
    more = numpy.concatenate([places, numpy.array([[3.0, 3.0, 20.0], [3.0, 3.0, 30.0]], numpy.float32)])
    with Messages() as log:
        equal(counts(output(surface(cloud(more, vtkGhostType=ghosts), Radius=0.5))), counts(expected), "without ghosts")
    equal(log.text(), "", "messages")
    more[-2:] = [[numpy.nan, 0, 0], [0, numpy.inf, 0]]
    with Messages() as log:
        equal(counts(output(surface(cloud(more)))), counts(expected), "with places that are not finite")
    true("2 of 514 points are at a position that is not a finite number" in log.text(), f"got {log.text()!r}")


def blocks():
    data = vtkMultiBlockDataSet()
    data.SetBlock(0, cloud(lattice()))
    data.SetBlock(1, cloud(lattice(4) + 100))
    mesh = output(surface(data))
    equal([mesh.GetBlock(i).GetNumberOfPolys() > 100 for i in range(2)], [True, True], "a surface per block")


def bad_input():
    """One message each, which says what to do; then the filter works."""
    one, many = cloud(numpy.zeros((1, 3), numpy.float32)), cloud(numpy.zeros((50, 3), numpy.float32))
    sizes = cloud(lattice(), zeros=numpy.zeros(512), vectors=numpy.ones((512, 3)))
    for data, options, text in (
            (one, {}, "set Radius"),
            (many, {}, "set Radius"),
            (cloud(lattice()), {"CellSize": 0.001, "SampleLimit": 1}, "raise CellSize or SampleLimit"),
            (cloud(lattice()), {"CellSize": 0.0}, "CellSize 0"),
            (cloud(lattice()), {"Isovalue": 0.0}, "Isovalue 0"),
            (cloud(lattice()), {"Radius": -1.0}, "Radius is -1"),
            (sizes, {"RadiusArray": ["POINTS", "vectors"]}, "one component"),
            (sizes, {"RadiusArray": ["POINTS", "zeros"], "Radius": 0.5}, "radius of particle 0 is 0")):
        with Messages() as log:
            proxy = surface(data, **options)
            proxy.UpdatePipeline()
        equal(log.text().count("ERROR"), 1, f"errors for {options}: {log.text()!r}")
        true(text in log.text(), f"what to do; got {log.text()!r}")
        equal(output(proxy).GetNumberOfPoints(), 0, "points")
    for data in (one, many):
        closed(output(surface(data, Radius=0.5)))
    with Messages() as log:
        equal(output(surface(cloud(numpy.zeros((0, 3), numpy.float32)))).GetNumberOfPoints(), 0, "points of nothing")
    equal(log.text(), "", "messages")


def abort():
    """The abort flag ends a long execution with an empty output; progress never falls."""
    proxy = surface(cloud(lattice(60)))
    filter_ = proxy.GetClientSideObject()
    seen = []

    def look(*_):
        seen.append(filter_.GetProgress())
        if seen[-1] > 0.2:
            filter_.SetAbortExecute(1)

    tag = filter_.AddObserver("ProgressEvent", look)
    proxy.UpdatePipeline()
    filter_.RemoveObserver(tag)
    equal(filter_.GetOutput().GetNumberOfPoints(), 0, "points after an abort")
    true(len(seen) > 2 and seen == sorted(seen), f"progress {seen}")
    filter_.SetAbortExecute(0)
    filter_.Modified()
    filter_.Update()
    true(filter_.GetOutput().GetNumberOfPolys() > 10000, "a surface afterwards")


load_plugin()
run(apply_gives_a_surface, spheres, arrays, kernels_and_settings, threads_and_steps, left_out, blocks, bad_input, abort)
