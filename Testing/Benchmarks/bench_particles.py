# SPDX-License-Identifier: BSD-3-Clause
"""The surface of particles: vtkPMBParticleSurface beside splashsurf where Python finds pysplashsurf (the same kernel, cell
size and isovalue). Radius 0.5, smoothing length 1, cells of 0.25. Runs in pvpython.

Column MB: the most memory that a run takes beside what the process had before."""
import os
import time

from bench_common import parser_of

parser = parser_of(__doc__)
parser.add_argument("--scene", choices=("dam", "galaxy", "molecules", "box"), default="dam",
                    help="dam: water with waves and spray, spacing 1 (default); galaxy: two arms, dense at the center, "
                    "mostly empty; molecules: chains of 1000 spheres, radii from 0.2 to 2, which the others do not have; "
                    "box: the dam with the polynomial kernel in a box of 128^3 cells, with 500000 particles or more 256^3")
parser.add_argument("--particles", type=int, default=200000, help="about so many (200000)")
parser.add_argument("--threads", type=int, default=1, help="of each (1)")
parser.add_argument("--runs", type=int, default=3, help="of which the fastest counts (3)")
options = parser.parse_args()
os.environ["RAYON_NUM_THREADS"] = os.environ["VTK_SMP_MAX_THREADS"] = str(options.threads)

import numpy  # noqa: E402
from paraview import simple  # noqa: E402, F401: loads the plugin, which knows where pmb is
from pmb import vtkPMBParticleSurface  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk  # noqa: E402
from vtkmodules.vtkCommonCore import vtkPoints  # noqa: E402
from vtkmodules.vtkCommonDataModel import vtkPolyData  # noqa: E402

RADIUS, CELL, ISOVALUE = 0.5, 0.25, 0.6


def dam(count):
    """Particles on a jittered lattice below waves, and 4% of spray."""
    random = numpy.random.default_rng(5)
    side = (count / 0.335) ** (1 / 3)
    x, y, z = int(side), int(side * 2 / 3), int(side * 0.75)
    places = numpy.stack(numpy.meshgrid(*(numpy.arange(n) for n in (x, y, z)), indexing="ij"), -1).reshape(-1, 3)
    top = z * (0.6 + 0.25 * numpy.sin(places[:, 0] * 0.11) + 0.15 * numpy.cos(places[:, 1] * 0.17))
    water = places[places[:, 2] < top] + random.uniform(-0.15, 0.15, (int((places[:, 2] < top).sum()), 3))
    spray = random.uniform(0, 1, (len(water) // 28, 3)) * [x, y, z] + [0, 0, 0.7 * z]
    return numpy.concatenate([water, spray]).astype(numpy.float32)


def galaxy(count):
    """Particles in a flat disk, most of them in two arms."""
    random = numpy.random.default_rng(5)
    size = 60 * (count / 200000) ** (1 / 3)
    away = random.exponential(1, count)
    angle = 3 * numpy.log1p(3 * away) + numpy.pi * random.integers(0, 2, count) + random.normal(0, 0.35, count) / (1 + away)
    places = [away * numpy.cos(angle), away * numpy.sin(angle), random.normal(0, 0.05, count)]
    return (size * numpy.stack(places, 1)).astype(numpy.float32)


def molecules(count):
    """Places and radii of spheres in chains."""
    random = numpy.random.default_rng(5)
    steps = random.normal(0, 1, (count // 1000 + 1, 1000, 3))
    steps *= 1.5 / numpy.linalg.norm(steps, axis=2, keepdims=True)
    begins = random.uniform(0, (20 * count) ** (1 / 3), (len(steps), 1, 3))
    places = (begins + steps.cumsum(axis=1)).reshape(-1, 3)
    return places.astype(numpy.float32), random.uniform(0.2, 2, len(places))


def memory(field):
    """MB of this process: VmRSS now, or VmHWM, the most since reset_memory."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def reset_memory():
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")
    return memory("VmRSS")


def row(name, make, places):
    """Prints the fastest of the runs; make returns points and triangles."""
    times, sizes, before = [], None, reset_memory()
    for _ in range(options.runs):
        begin = time.perf_counter()
        sizes = make()
        times.append(time.perf_counter() - begin)
    best = min(times)
    print(f"| {name} | {1e3 * best:,.0f} | {sizes[0]:,} | {sizes[1]:,} | {len(places) / best / 1e6:.2f} | "
          f"{sizes[1] / best / 1e6:.1f} | {memory('VmHWM') - before:,.0f} |", flush=True)


def run_ours(name, cloud, places, radii, normals):
    ours = vtkPMBParticleSurface()
    ours.SetInputData(cloud)
    ours.SetRadius(RADIUS)
    ours.SetCellSize(CELL / RADIUS)
    ours.SetIsovalue(ISOVALUE)
    ours.SetNumberOfThreads(options.threads)
    ours.SetComputeNormals(normals)
    if options.scene == "box":
        cells = 128 if options.particles < 500000 else 256
        ours.SetKernel(vtkPMBParticleSurface.POLYNOMIAL)
        ours.SetCellSize(numpy.ptp(places, axis=0).max() / cells / RADIUS)
    if radii is not None:
        ours.SetInputArrayToProcess(0, 0, 0, 0, "radius")
        ours.SetKernel(vtkPMBParticleSurface.SPHERES)
        ours.PassPointArraysOff()

    def run():
        ours.Modified()
        ours.Update()
        return ours.GetOutput().GetNumberOfPoints(), ours.GetOutput().GetNumberOfPolys()

    row(name, run, places)


def main():
    radii = None
    if options.scene == "molecules":
        places, radii = molecules(options.particles)
    else:
        places = galaxy(options.particles) if options.scene == "galaxy" else dam(options.particles)
    holder, cloud = vtkPoints(), vtkPolyData()
    holder.SetData(numpy_to_vtk(places))
    cloud.SetPoints(holder)
    print(f"{options.scene}: {len(places):,} particles, {options.threads} threads\n")
    print("| filter | ms | points | triangles | million particles/s | million triangles/s | MB |")
    print("|---|---|---|---|---|---|---|")
    if radii is not None:
        array = numpy_to_vtk(radii)
        array.SetName("radius")
        cloud.GetPointData().AddArray(array)
    run_ours("PMB Particle Surface", cloud, places, radii, True)
    run_ours("PMB Particle Surface, without normals", cloud, places, radii, False)
    if radii is not None or options.scene == "box":
        return
    try:
        import pysplashsurf
    except ImportError:
        print("| splashsurf: pysplashsurf is not installed | | | | | | |")
    else:
        def run_splashsurf():
            mesh = pysplashsurf.reconstruct_surface(
                places, particle_radius=RADIUS, smoothing_length=2.0, cube_size=CELL / RADIUS,
                iso_surface_threshold=ISOVALUE).mesh
            return len(mesh.vertices), len(mesh.triangles)
        row("splashsurf, without normals", run_splashsurf, places)


main()
