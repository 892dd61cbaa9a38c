# SPDX-License-Identifier: BSD-3-Clause
"""A breaking dam: particles that move, and pictures of their surface, colored by speed.

    ./pmb pvpython Docs/Examples/animate_fluid.py [--distance METRES] [--frames N] [--output FOLDER]

The particles are written as fluid000.vtp, fluid001.vtp and so on, which ParaView opens as one animated data set; those of a
simulation of one's own come the same way. They move by double density relaxation (Clavet, Beaudoin, Poulin, "Particle-based
Viscoelastic Fluid Simulation", 2005).
"""
import argparse
import os
import sys

import numpy
from paraview.simple import *
from paraview.vtk.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

TANK = numpy.array([1.6, 0.5, 1.2])  # metres
DAM = numpy.array([0.5, 0.5, 0.8])  # the water at its left end
STEP, STEPS = 1 / 240, 8  # seconds, steps per frame
SEED = 7


def read_arguments():
    parser = argparse.ArgumentParser(description="Pictures of a breaking dam of particles.")
    parser.add_argument("--distance", type=float, default=0.03, help="metres between particles (0.03)")
    parser.add_argument("--frames", type=int, default=30, help="how many frames, 30 for each second (30)")
    parser.add_argument("--output", default="fluid", help="the folder to write into (fluid)")
    arguments = parser.parse_args()
    if "PMBParticleSurface" not in globals():
        sys.exit("The plugin ParallelMarchingBlocks is not loaded: run this with ./pmb pvpython, or set PV_PLUGIN_PATH.")
    if not 0.005 <= arguments.distance <= 0.1:
        sys.exit(f"--distance is {arguments.distance:g}: use 0.005 to 0.1.")
    if arguments.frames < 2:
        sys.exit(f"--frames is {arguments.frames}: an animation needs at least 2.")
    try:
        os.makedirs(arguments.output, exist_ok=True)
    except OSError as error:
        sys.exit(f"Cannot make the folder {arguments.output}: {error.strerror}.")
    return arguments


def find_pairs(places, reach):
    """Pairs of particles nearer than the reach: first and second, by a sort into cubes."""
    cubes = numpy.floor(places / reach).astype(int) + 1
    along = cubes.max(axis=0) + 2
    keys = cubes[:, 0] + along[0] * (cubes[:, 1] + along[1] * cubes[:, 2])
    order = numpy.argsort(keys, kind="stable")
    found = []
    for row in (y + along[1] * z for y in (-1, 0, 1) for z in (-1, 0, 1)):  # three cubes along x are one run
        begin = numpy.searchsorted(keys[order], keys + along[0] * row - 1)
        count = numpy.searchsorted(keys[order], keys + along[0] * row + 1, side="right") - begin
        first = numpy.repeat(numpy.arange(len(keys)), count)
        second = order[numpy.arange(count.sum()) + numpy.repeat(begin - numpy.cumsum(count) + count, count)]
        near = (first < second) & (((places[first] - places[second]) ** 2).sum(axis=1) < reach ** 2)
        found.append((first[near], second[near]))
    return [numpy.concatenate(ends) for ends in zip(*found)]


def closeness(places, first, second, reach):
    """For each pair 1 - distance / reach, and the direction from first to second."""
    offset = places[second] - places[first]
    distance = numpy.maximum(numpy.sqrt((offset ** 2).sum(axis=1)), 1e-9)
    return 1 - distance / reach, offset / distance[:, None]


def sum_pairs(values, first, second, count):
    return numpy.bincount(first, values, count) + numpy.bincount(second, values, count)


def relax(places, reach, rest):
    """Moves particles apart where they are too dense."""
    first, second = find_pairs(places, reach)
    q, direction = closeness(places, first, second, reach)
    density, near = (sum_pairs(q ** power, first, second, len(places)) for power in (2, 3))
    pressure = 0.3 * numpy.maximum(density - rest, 0)
    push = (pressure[first] + pressure[second]) * q + 0.3 * (near[first] + near[second]) * q ** 2
    for axis in range(3):
        move = 0.02 * reach * numpy.minimum(push, 3) * direction[:, axis]
        places[:, axis] += numpy.bincount(second, move, len(places)) - numpy.bincount(first, move, len(places))


def move(places, velocity, distance, rest):
    """One step."""
    velocity[:, 2] -= 9.81 * STEP
    moved = places + velocity * STEP
    numpy.clip(moved, distance / 2, TANK - distance / 2, out=moved)
    relax(moved, 2 * distance, rest)
    numpy.clip(moved, distance / 2, TANK - distance / 2, out=moved)
    return moved, (moved - places) / STEP


def write_particles(path, places, velocity):
    cloud, points = vtkPolyData(), vtkPoints()
    points.SetData(numpy_to_vtk(places.astype(numpy.float32), deep=True))
    cloud.SetPoints(points)
    array = numpy_to_vtk(velocity.astype(numpy.float32), deep=True)
    array.SetName("Velocity")
    cloud.GetPointData().AddArray(array)
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(path)
    writer.SetInputData(cloud)
    writer.Write()


def simulate(distance, frames, folder):
    """Writes a file for each frame; returns their names."""
    axes = [numpy.arange(distance / 2, side, distance) for side in DAM]
    places = numpy.stack(numpy.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    lattice = numpy.mgrid[-2:3, -2:3, -2:3].reshape(3, -1)
    rest = (numpy.maximum(1 - numpy.linalg.norm(lattice, axis=0) / 2, 0) ** 2).sum() - 1
    places += numpy.random.default_rng(SEED).uniform(-0.05, 0.05, places.shape) * distance
    velocity, names = numpy.zeros_like(places), []
    for frame in range(frames):
        names.append(os.path.join(folder, f"fluid{frame:03d}.vtp"))
        write_particles(names[-1], places, velocity)
        for _ in range(STEPS):
            places, velocity = move(places, velocity, distance, rest)
    return names


def make_view(surface):
    view = CreateView("RenderView")
    view.ViewSize = [800, 500]
    view.OrientationAxesVisibility, view.UseColorPaletteForBackground, view.Background = 0, 0, [1, 1, 1]
    display = Show(surface, view)
    ColorBy(display, ("POINTS", "Velocity", "Magnitude"))
    GetColorTransferFunction("Velocity").RescaleTransferFunction(0.0, 4.0)
    display.Specular = 0.4
    tank = Show(Box(XLength=TANK[0], YLength=TANK[1], ZLength=TANK[2], Center=list(TANK / 2)), view)
    tank.Representation, tank.AmbientColor, tank.DiffuseColor = "Outline", [0, 0, 0], [0, 0, 0]
    view.CameraPosition, view.CameraFocalPoint = [1.9, -2.9, 1.7], [0.8, 0.25, 0.48]
    view.CameraViewUp, view.CameraViewAngle = [0, 0, 1], 26
    return view


def main():
    arguments = read_arguments()
    fluid = XMLPolyDataReader(FileName=simulate(arguments.distance, arguments.frames, arguments.output))
    surface = PMBParticleSurface(Input=fluid, Radius=arguments.distance / 2, SmoothingLength=2.4, CellSize=0.5)
    view, scene = make_view(surface), GetAnimationScene()
    scene.UpdateAnimationUsingDataTimeSteps()
    print(f"{'frame':>5} {'triangles':>11} {'fastest':>8}")
    for frame, moment in enumerate(fluid.TimestepValues):
        scene.AnimationTime = moment
        surface.UpdatePipeline(moment)
        fastest = surface.PointData["Velocity"].GetRange(-1)[1]
        print(f"{frame:>5} {surface.GetDataInformation().GetNumberOfCells():>11,} {fastest:>8.2f}", flush=True)
        SaveScreenshot(os.path.join(arguments.output, f"frame{frame:03d}.png"), view)
    print(f"wrote {arguments.frames} pictures into {arguments.output}")
    Delete(view)


main()
Disconnect()
