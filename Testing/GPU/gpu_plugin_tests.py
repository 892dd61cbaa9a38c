# SPDX-License-Identifier: BSD-3-Clause
"""A process exits cleanly while outputs, filters and proxies on the GPU exist. (What a filter does on a GPU:
FuzzPMBContourFilter --device gpu.)

--rehearse, where there is no GPU: the same with the processor in the GPU's place."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "Plugin"))  # where it is not packed
from plugin_testing import equal, run, skip_without_driver  # noqa: E402

REHEARSE = "--rehearse" in sys.argv

CHILD = f"""
import builtins, sys
sys.path += {sys.path!r}
from paraview import simple
from pmb import vtkPMBContourFilter
from plugin_testing import ball, image, load_plugin
from vtkmodules.util.numpy_support import vtk_to_numpy
load_plugin()
volume = image({{"samples": ball((96, 96, 96))}}, (96, 96, 96))
keep = vtkPMBContourFilter()
keep.SetInputData(volume)
keep.SetDevice(vtkPMBContourFilter.{"CPU" if REHEARSE else "GPU"})
keep.SetValue(0, 90.25)
"""
UPDATE = ".Update(); assert keep.GetOutput().GetNumberOfPolys() > 1000"


def exit_with_arrays_alive():
    for code in (f"keep{UPDATE}; mesh = keep.GetOutput(); sys.keep = [vtk_to_numpy(array) for array in "
                 "(mesh.GetPoints().GetData(), mesh.GetPolys().GetConnectivityArray())]",
                 f"builtins.keep = keep; keep{UPDATE}",
                 "proxy = simple.PMBContour(Input=simple.Wavelet(), ContourBy=['POINTS', 'RTData'], Isosurfaces=[157.0], "
                 f"RunOn={'CPU' if REHEARSE else 'GPU (CUDA)'!r}); proxy.UpdatePipeline()"):
        result = subprocess.run(["pvpython", "--no-mpi", "/dev/stdin"], input=CHILD + code + "\n", capture_output=True,
                                text=True, check=False)
        said = result.stdout + result.stderr
        equal((result.returncode, "rror" in said), (0, False), f"exit code, and an error in {said!r}, of {code}")


if not REHEARSE:
    skip_without_driver()
run(exit_with_arrays_alive)
