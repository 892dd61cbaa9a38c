# SPDX-License-Identifier: BSD-3-Clause
"""Docs/Examples/InSitu: the filter reads the simulation's own samples in each step, its surface is that of the step, and
40 steps allocate nothing but what a larger surface needs. On three ranks the surface is that of one.

In the simulation's process ParaView imports this file in place of the example's pipeline.py.
"""
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, os.pardir, os.pardir, "Docs", "Examples", "InSitu")
SIDE, STEPS, BEGINNING = 160, 60, 20
sys.path[:0] = [HERE, EXAMPLE]

if __name__ != "__main__":
    import pipeline
    from paraview.vtk.util.numpy_support import vtk_to_numpy
    from plugin_testing import counts, equal, flying_edges, true

    options = pipeline.options
    pipeline.surface.RemoveDegenerateTriangles = 0  # as vtkFlyingEdges3D
    used = []

    def resident():
        with open("/proc/self/statm", encoding="ascii") as pages:
            return int(pages.read().split()[1]) * resource.getpagesize()

    def check(step):
        samples = sys.modules["__main__"].wave.now
        contour = pipeline.surface.GetClientSideObject()
        image, mesh = contour.GetInputDataObject(0, 0), contour.GetOutput()
        array = vtk_to_numpy(image.GetPointData().GetArray("wave"))
        equal(array.ctypes.data, samples.ctypes.data, f"step {step}: address of the samples")
        beside = contour.GetPeakExtraBytes()
        true(beside < samples.nbytes / 2, f"step {step}: {beside} bytes beside the mesh")
        if step <= BEGINNING:
            equal(counts(mesh), counts(flying_edges(image, 1.5, "wave")), f"step {step}: points and triangles")
        else:
            used.append(resident() - 1024 * mesh.GetActualMemorySize())
            true(used[-1] - used[0] < samples.nbytes / 4, f"step {step}: bytes of the process without the mesh: {used}")

    def catalyst_execute(info):
        pipeline.catalyst_execute(info)
        try:
            check(info.timestep)
        except Exception as error:  # ParaView would go on
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
else:
    from plugin_testing import compare_triangles, equal, plugin_list, run, triangle_rows, true
    from server_testing import ENVIRONMENT, mpirun, skip_without
    from vtkmodules.vtkIOXML import vtkXMLPPolyDataReader

    PROGRAM = ["/usr/bin/python3", os.path.join(EXAMPLE, "simulation.py")]

    def simulate(steps, *options, launcher=()):
        """Returns the triangles that the pipeline has saved last."""
        reader = vtkXMLPPolyDataReader()
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([*launcher, *PROGRAM, "--steps", str(steps), *options], cwd=folder, check=False,
                                    env={**ENVIRONMENT, "PV_PLUGIN_CONFIG_FILE": plugin_list(folder)},
                                    capture_output=True, text=True)
            equal(result.returncode, 0, f"exit code; it said {result.stdout} {result.stderr}")
            rows = [line.split() for line in result.stdout.splitlines() if " triangles, area " in line]
            equal([int(row[0]) for row in rows], list(range(1, steps + 1)), f"steps; it said {result.stdout}")
            reader.SetFileName(os.path.join(folder, f"wave{steps:04}.pvtp"))
            reader.Update()
        return triangle_rows(reader.GetOutput())

    def steps():
        simulate(STEPS, "--side", str(SIDE), "--pipeline", __file__)

    def ranks():
        whole, _ = simulate(20, "--side", "48")
        pieces, ghosts = simulate(20, "--side", "48", launcher=mpirun(3))
        true(ghosts > 0, "no ghost triangles")
        compare_triangles("three ranks", pieces, whole)

    skip_without("mpirun")
    run(steps, ranks)
