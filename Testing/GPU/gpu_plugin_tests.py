# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on a machine with a GPU: ./pmb pvpython Testing/GPU/gpu_plugin_tests.py [TEST...]
Memory of the GPU and of outputs. FuzzPMBContourFilter --device gpu tests all else of the filter on a GPU.

--rehearse, where there is no GPU: the same steps with the processor in the GPU's place, without what is said of the
GPU. This tests the tests."""
import os
import subprocess
import sys

from gpu_testing import CPU, GPU, HERE, PANEL_GPU, REHEARSE, contour, mesh_of, on_gpu, same, volume
from paraview import simple
from plugin_testing import equal, load_plugin, output, run, true
from vtkmodules.vtkCommonCore import vtkLogger
from vtkmodules.vtkCommonDataModel import vtkPolyData

CHILD = f"""
import builtins, sys
sys.path.append({HERE!r})
from paraview import simple
from gpu_testing import GPU, PANEL_GPU, contour, content, volume
from plugin_testing import load_plugin
"""


def shared_by_proxies():
    """Two panels on one source, as users have them: one upload; both see a change of the source."""
    side = 15 if REHEARSE else 40
    wavelet = simple.Wavelet(WholeExtent=[-side, side] * 3)
    settings = {"Input": wavelet, "ContourBy": ["POINTS", "RTData"]}
    proxies = [simple.PMBContour(RunOn=PANEL_GPU, Isosurfaces=[value], **settings) for value in (157.0, 200.0)]
    reference = simple.PMBContour(RunOn="CPU", Isosurfaces=[157.0], **settings)
    for expected, frequency in ((1, 60.0), (2, 30.0)):
        wavelet.XFreq = frequency
        for proxy in proxies:
            reference.Isosurfaces = proxy.Isosurfaces
            same(output(proxy), output(reference), f"XFreq {frequency}")
        uploads = sum(proxy.GetClientSideObject().GetNumberOfUploads() for proxy in proxies)
        on_gpu(uploads == expected, f"{uploads} uploads, not {expected}")


def many_isovalue_changes():
    """1,000 changes, each output held until the next one: memory does not grow after the largest mesh, in the middle."""
    steps = 50 if REHEARSE else 1000
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    ours, held, seen = contour(volume(96), GPU, ComputeScalars=0), vtkPolyData(), []
    size = 0
    for number in range(steps):
        ours.SetValue(0, -20.0 + 40.0 * number / steps)
        ours.Update()
        mesh = ours.GetOutput()
        size = max(size, 24 * mesh.GetNumberOfPoints() + 12 * mesh.GetNumberOfPolys())
        held.ShallowCopy(mesh)
        if number % (steps // 10) == 0:
            seen.append((resident(), ours.GetDeviceBytes()))
    same(held, mesh_of(contour(ours.GetInput(), CPU, (ours.GetValue(0),), ComputeScalars=0)), "the last mesh")
    true(seen[-1][0] - seen[5][0] < 4 * size, f"resident bytes grew: {[entry[0] for entry in seen]}; a mesh has {size}")
    true(seen[-1][1] <= 1.2 * seen[2][1], f"bytes on the GPU grew: {[entry[1] for entry in seen]}")
    on_gpu(ours.GetNumberOfUploads() == 1, f"{ours.GetNumberOfUploads()} uploads, not 1")


def exit_with_arrays_alive():
    """A process exits cleanly while outputs, filters and proxies exist."""
    for code in ("keep = contour(volume(96), GPU, (3.0,)); keep.Update(); sys.keep = content(keep.GetOutput())",
                 "builtins.keep = contour(volume(96), GPU, (3.0,)); builtins.keep.Update()",
                 "load_plugin(); proxy = simple.PMBContour(Input=simple.Wavelet(), ContourBy=['POINTS', 'RTData'], "
                 "Isosurfaces=[157.0], RunOn=PANEL_GPU); proxy.UpdatePipeline()"):
        result = subprocess.run(["pvpython", "--no-mpi", "/dev/stdin", *(["--rehearse"] if REHEARSE else [])],
                                input=CHILD + code + "\n", capture_output=True, text=True, check=False)
        said = result.stdout + result.stderr
        equal((result.returncode, "rror" in said), (0, False), f"exit code, and an error in {said!r}, of {code}")


TESTS = (shared_by_proxies, many_isovalue_changes, exit_with_arrays_alive)

if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if not name.startswith("--")]
    unknown = set(chosen) - {test.__name__ for test in TESTS}
    if unknown:
        sys.exit(f"there is no test {sorted(unknown)}; there are {[test.__name__ for test in TESTS]}")
    load_plugin()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # the tests read the messages themselves
    run(*(test for test in TESTS if not chosen or test.__name__ in chosen))
