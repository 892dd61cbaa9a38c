# SPDX-License-Identifier: BSD-3-Clause
"""What ParaView does with each step of simulation.py: it contours the wave, prints a row, and saves every 20th surface."""
import sys

from mpi4py import MPI
from paraview import catalyst
from paraview.simple import *

if "PMBContour" not in globals():
    sys.exit("The plugin ParallelMarchingBlocks is not loaded: set PV_PLUGIN_PATH, see simulation.py.")
options = catalyst.Options()
grid = TrivialProducer(registrationName="grid")  # Catalyst puts the data of the simulation here
surface = PMBContour(Input=grid, ContourBy=["POINTS", "wave"], Isosurfaces=[1.5], ComputeSurfaceMeasures=1)


def catalyst_execute(info):
    surface.UpdatePipeline(info.time)
    mesh = surface.GetClientSideObject().GetOutput()  # of this rank
    triangles = MPI.COMM_WORLD.allreduce(mesh.GetNumberOfPolys())  # with those in ghost cells
    area = MPI.COMM_WORLD.allreduce(mesh.GetFieldData().GetArray("Area").GetValue(0))  # without
    if MPI.COMM_WORLD.rank == 0:
        print(f"{info.timestep:>4} {triangles:>10,} triangles, area {area:,.1f}", flush=True)
    if info.timestep % 20 == 0 and triangles > 0:
        SaveData(f"wave{info.timestep:04}.pvtp", proxy=surface)
