# SPDX-License-Identifier: BSD-3-Clause
"""A GPU that fails, and processes that end. Failing calls: EmulatedGPU.cxx, and for the core pmb_test_gpu_faults.c."""
import os
import subprocess
import tempfile

from gpu_testing import CPU, GPU, HERE, REHEARSE, contour, copies, mesh_of, same, volume
from plugin_testing import Messages, true
from vtkmodules.vtkCommonDataModel import vtkPolyData


def faulty_run(data, fault):
    """A filter whose first execution has a fault, and its messages. Needs a build with -DPMB_TEST_FAULTS=ON."""
    os.environ["PMB_TEST_FAULT"] = fault
    try:
        with Messages() as log:
            ours = contour(data, GPU, (3.0,))
            ours.Update()
    finally:
        del os.environ["PMB_TEST_FAULT"]
    return ours, log.text()


CHILD = """
import sys
sys.path.append({here!r})
from paraview import simple
from gpu_testing import GPU, PANEL_GPU, contour, content, volume
from plugin_testing import load_plugin
{code}
sys.stdout.flush()
"""


def child(code, **environment):
    """Runs code in a separate process; returns its exit code and output."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(CHILD.format(code=code, here=HERE))
        script.flush()
        command = ["pvpython", "--no-mpi", script.name] + (["--rehearse"] if REHEARSE else [])
        result = subprocess.run(command, env=dict(os.environ, **environment), capture_output=True, text=True,
                                check=False, timeout=1200)
    return result.returncode, result.stdout + result.stderr


def real_fault():
    """A kernel that really fails, in a separate process. CUDA may stay unusable in that process (with driver 580 it does):
    then the CPU computes, and the message says what to do."""
    for position in () if REHEARSE else (1, 5, 40):
        status, text = child(f"from gpu_faults import after_a_real_fault\nafter_a_real_fault({position})")
        true(status == 0 and "survived" in text, f"position {position}: ends with {status} and says {text!r}")


def after_a_real_fault(position):
    datas = volume(128), volume(100, seed=2)
    bystander = contour(datas[0], GPU, (3.0,))
    kept = vtkPolyData()
    kept.ShallowCopy(mesh_of(bystander))
    reference = copies(kept)
    ours, text = faulty_run(datas[1], f"{position}:trap")
    true("ERROR" in text or "Warning" in text, "a fault without a message")
    same(kept, reference, "the output of the other filter")
    for each, data in ((bystander, datas[0]), (ours, datas[1])):
        with Messages() as log:
            for isovalue in (5.0, 6.0):
                each.SetValue(0, isovalue)
                same(mesh_of(each), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue} after the fault")
        summary = each.GetLastRunSummary()
        if "GPU 0" not in summary:
            true("because" in summary and "restart" in summary, f"after the fault the last run is {summary!r}")
            true(log.text().count("Warning:") <= 1, f"warnings in {log.text()!r}")
    print("survived")


def exit_with_arrays_alive():
    """A process exits cleanly while outputs, filters and proxies exist."""
    for code in ("keep = contour(volume(96), GPU, (3.0,)); keep.Update(); sys.keep = content(keep.GetOutput())",
                 "import builtins; builtins.keep = contour(volume(96), GPU, (3.0,)); builtins.keep.Update()",
                 "load_plugin(); proxy = simple.PMBContour(Input=simple.Wavelet(), ContourBy=['POINTS', 'RTData'], "
                 "Isosurfaces=[157.0], RunOn=PANEL_GPU); proxy.UpdatePipeline(); print(proxy.LastRun)"):
        status, text = child(code)
        true(status == 0 and "rror" not in text, f"{code!r} ends with {status} and says {text!r}")


TESTS = (real_fault, exit_with_arrays_alive)
