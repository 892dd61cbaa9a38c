# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on a machine with a GPU: ./pmb pvpython Testing/GPU/gpu_plugin_tests.py [TEST...]

--rehearse, where there is no GPU: the same steps with the processor in the GPU's place, without what is said of the
GPU. This tests the tests."""
import subprocess
import sys

import gpu_memory
from gpu_testing import HERE, REHEARSE
from plugin_testing import equal, load_plugin, run
from vtkmodules.vtkCommonCore import vtkLogger

CHILD = f"""
import builtins, sys
sys.path.append({HERE!r})
from paraview import simple
from gpu_testing import GPU, PANEL_GPU, contour, content, volume
from plugin_testing import load_plugin
"""


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


TESTS = gpu_memory.TESTS + (exit_with_arrays_alive,)

if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if not name.startswith("--")]
    unknown = set(chosen) - {test.__name__ for test in TESTS}
    if unknown:
        sys.exit(f"there is no test {sorted(unknown)}; there are {[test.__name__ for test in TESTS]}")
    load_plugin()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # the tests read the messages themselves
    run(*(test for test in TESTS if not chosen or test.__name__ in chosen))
