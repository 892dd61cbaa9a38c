# SPDX-License-Identifier: BSD-3-Clause
"""Python threads that take turns, faults of the GPU at each call, and processes that end or have no GPU."""
import os
import subprocess
import tempfile
import threading

from gpu_testing import CPU, GPU, HERE, REHEARSE, contour, copies, mesh_of, same, volume
from plugin_testing import Messages, equal, true
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPolyData

OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700  # of cudaError_t


def threads_in_turn():
    """Two filters of one array, and two of arrays of their own, each in a thread; a filter that changes its thread.

    VTK's wrappers hold Python's lock during Update(): these never execute at the same time. That is tested in C and C++:
    pmb_test_gpu_threads.c, and FuzzPMBContourFilter --device gpu, whose rounds share arrays between threads."""
    shared = volume(64)
    isovalues = [0.25 * step for step in range(20)]
    for own in (False, True):
        inputs = [volume(64, seed=number) if own else shared for number in range(2)]
        expected = [[copies(mesh_of(contour(data, CPU, (isovalue,)))) for isovalue in isovalues] for data in inputs]
        filters = [contour(data, GPU) for data in inputs]
        failures = []

        def work(number):
            try:
                for isovalue, reference in zip(isovalues, expected[number]):
                    filters[number].SetValue(0, isovalue)
                    same(mesh_of(filters[number]), reference, f"thread {number}, {isovalue}")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failures, [], "failures")
        filters[0].SetValue(0, 3.0)
        same(mesh_of(filters[0]), mesh_of(contour(inputs[0], CPU, (3.0,))), "in the main thread after that")


def faulty_run(data, fault):
    """A filter whose first execution meets a fault, and the messages; of a build with -DPMB_TEST_FAULTS=ON."""
    os.environ["PMB_TEST_FAULT"] = fault
    try:
        with Messages() as log:
            ours = contour(data, GPU, (3.0,))
            ours.Update()
    finally:
        del os.environ["PMB_TEST_FAULT"]
    return ours, log.text()


def no_more_faults(data):
    """A fault that was not met waits on; a new one takes its place, and 0 is none."""
    ours, text = faulty_run(data, "0")
    true(text == "" and "GPU 0" in ours.GetLastRunSummary(), f"without a fault: {text!r} {ours.GetLastRunSummary()!r}")


def faults():
    """Each of the driver's answers in turn is an error: it is told or mended, and the next execution is right."""
    if REHEARSE:
        return
    data = volume(48)
    reference = copies(mesh_of(contour(data, CPU, (3.0,))))
    after = copies(mesh_of(contour(data, CPU, (5.0,))))
    for code in (ILLEGAL_ADDRESS, OUT_OF_MEMORY):
        met = {"error": 0, "fallback": 0, "none": 0}
        position = quiet = 0
        while quiet < 20:  # a call may be one that can fail without harm; so many in a row: there is none left
            position += 1
            what = f"fault {position}:{code}"
            ours, text = faulty_run(data, f"{position}:{code}")
            summary, mesh = ours.GetLastRunSummary(), ours.GetOutput()
            true(position < 2000, f"{what}: there is no end")
            if not text and "GPU 0" in summary:
                met["none"] += 1
                quiet += 1
                same(mesh, reference, what)
                continue
            quiet = 0
            if "ERROR" in text:
                met["error"] += 1
                true(summary.startswith("Failed: ") and mesh.GetNumberOfPolys() == 0, f"{what}: {summary!r}")
                true("CUDA" in text or "GPU" in text, f"{what}: the message does not say what failed: {text!r}")
            else:
                met["fallback"] += 1
                equal(text.count("Warning:"), 1, f"{what}: warnings in {text!r}")
                true("because" in summary, f"{what}: the last run is {summary!r}")
                same(mesh, reference, what)
            with Messages() as log:
                ours.SetValue(0, 5.0)
                ours.SetDeviceMemoryLimit(64.0)  # another question, so that the GPU is asked again
                same(mesh_of(ours), after, f"after {what}")
            equal(log.text(), "", f"messages after {what}")
            true("GPU 0" in ours.GetLastRunSummary(), f"after {what} the last run is {ours.GetLastRunSummary()!r}")
        print(f"  code {code}: {met}")
        no_more_faults(data)
        true(met["error" if code == ILLEGAL_ADDRESS else "fallback"] > 5, f"code {code} gave {met}")


def meshes_of(algorithm):
    """Of one image, or of each block."""
    algorithm.Update()
    output = algorithm.GetOutputDataObject(0)
    if output.IsA("vtkMultiBlockDataSet"):
        return [output.GetBlock(number) for number in range(output.GetNumberOfBlocks())]
    return [output]


def others_after_a_fault():
    """A fault takes what all filters have on the GPU. Their next meshes are right, from the GPU, and nothing is said, though
    nothing but the isovalue is set: every third of the driver's answers is an error."""
    if REHEARSE:
        return
    data = volume(48)
    blocks = vtkMultiBlockDataSet()
    for number in range(4):
        blocks.SetBlock(number, volume(44, seed=number + 2))
    inputs = data, volume(40, seed=9), blocks  # the first has the same array as the filter that fails
    isovalues = 3.0, 5.0
    references = [[[copies(mesh) for mesh in meshes_of(contour(each, CPU, (isovalue,)))] for each in inputs]
                  for isovalue in isovalues]
    others = [contour(each, GPU, (4.0,)) for each in inputs]
    for other in others:
        meshes_of(other)
    errors = position = rounds = quiet = 0
    while quiet < 8:  # as in faults()
        true(position < 2000, "there is no end")
        position += 3
        what = f"after fault {position} of another filter"
        ours, text = faulty_run(data, f"{position}:{ILLEGAL_ADDRESS}")
        quiet = 0 if text else quiet + 1
        if not text:
            no_more_faults(data)
        rounds += 1
        now = rounds % 2
        with Messages() as log:
            for number, other in enumerate(others):
                other.SetValue(0, isovalues[now])
                meshes, summary = meshes_of(other), other.GetLastRunSummary()
                equal(len(meshes), len(references[now][number]), f"{what}: meshes of filter {number}")
                for mesh, reference in zip(meshes, references[now][number]):
                    same(mesh, reference, f"{what}: filter {number}")
                true("GPU 0" in summary and "CPU" not in summary, f"{what}: filter {number}'s last run is {summary!r}")
            if "ERROR" in text:  # then the one that failed has not given the GPU up
                errors += 1
                ours.SetValue(0, isovalues[1])
                same(mesh_of(ours), references[1][0][0], f"{what}: that one")
                true("GPU 0" in ours.GetLastRunSummary(), f"{what}: its last run is {ours.GetLastRunSummary()!r}")
        equal(log.text(), "", f"messages {what}")
    true(errors > 3, f"only {errors} of the faults were errors")


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
    """Runs code in a process of its own; returns its exit code and what it said."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(CHILD.format(code=code, here=HERE))
        script.flush()
        command = ["pvpython", "--no-mpi", script.name] + (["--rehearse"] if REHEARSE else [])
        result = subprocess.run(command, env=dict(os.environ, **environment), capture_output=True, text=True,
                                check=False, timeout=1200)
    return result.returncode, result.stdout + result.stderr


def real_fault():
    """A kernel that really fails, in a process of its own. CUDA may not come back in that process (with driver 580 it
    does not): then the processor computes, and the text says what to do."""
    if REHEARSE:
        return
    for position in (1, 5, 40):
        status, text = child(f"""
from gpu_faults import after_a_real_fault
after_a_real_fault({position})
""")
        true(status == 0 and "survived" in text, f"position {position}: ends with {status} and says {text!r}")


def after_a_real_fault(position):
    datas = volume(128), volume(100, seed=2)
    bystander, untouched = (contour(datas[0], GPU, (3.0,)) for _ in range(2))
    mesh_of(untouched)
    kept = vtkPolyData()
    kept.ShallowCopy(mesh_of(bystander))
    reference = copies(kept)
    ours, text = faulty_run(datas[1], f"{position}:trap")
    true("ERROR" in text or "Warning" in text, "a fault without a message")
    same(kept, reference, "the output of the other filter")
    for each, data in ((untouched, datas[0]), (ours, datas[1]), (bystander, datas[0])):
        if each is not untouched:
            each.SetDeviceMemoryLimit(64.0)  # another question, so that the GPU is asked again
        with Messages() as log:
            for isovalue in (5.0, 6.0):
                each.SetValue(0, isovalue)
                same(mesh_of(each), mesh_of(contour(data, CPU, (isovalue,))), f"isovalue {isovalue} after the fault")
        summary = each.GetLastRunSummary()
        if "GPU 0" not in summary:
            true("because" in summary and "restart" in summary, f"after the fault the last run is {summary!r}")
            equal(log.text().count("Warning:"), 1, f"warnings in {log.text()!r}")
    print("survived")


def exit_with_arrays_alive():
    """A process that ends while output, filters and proxies are alive ends well."""
    for code in ("keep = contour(volume(96), GPU, (3.0,)); keep.Update(); sys.keep = content(keep.GetOutput())",
                 "keep = contour(volume(96), GPU, (3.0,)); keep.Update(); mesh = keep.GetOutput(); del keep",
                 "import builtins; builtins.keep = contour(volume(96), GPU, (3.0,)); builtins.keep.Update()",
                 "load_plugin(); proxy = simple.PMBContour(Input=simple.Wavelet(), ContourBy=['POINTS', 'RTData'], "
                 "Isosurfaces=[157.0], RunOn=PANEL_GPU); proxy.UpdatePipeline(); print(proxy.LastRun)"):
        status, text = child(code)
        true(status == 0 and "rror" not in text, f"{code!r} ends with {status} and says {text!r}")


def gpu_switched_off():
    """PMB_GPU: off, a number, nonsense; a GPU that is not there."""
    if REHEARSE:
        return
    show = """
ours = contour(volume(48), GPU, (3.0,))
ours.Update()
ours.SetValue(0, 4.0)
ours.Update()
print(ours.GetLastRunSummary())
"""
    status, text = child(show, PMB_GPU="off")
    equal(status, 0, "exit code")
    true("because" in text and "PMB_GPU" in text, f"PMB_GPU=off: {text!r}")
    equal(text.count("WARN|"), 1, f"warnings in {text!r}")
    status, text = child(show, PMB_GPU="0")
    true(status == 0 and "GPU 0 (" in text and "WARN|" not in text, f"PMB_GPU=0: {status} {text!r}")
    status, text = child(show, PMB_GPU="nonsense")
    true(status == 0 and "nonsense" in text, f"PMB_GPU=nonsense: {status} {text!r}")
    data = volume(48)
    with Messages() as log:
        ours = contour(data, GPU, (3.0,), DeviceIndex=99)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (3.0,))), "GPU 99")
        ours.SetValue(0, 4.0)
        same(mesh_of(ours), mesh_of(contour(data, CPU, (4.0,))), "GPU 99, another isovalue")
    equal(log.text().count("Warning:"), 1, f"warnings in {log.text()!r}")
    summary = ours.GetLastRunSummary()
    true("99" in log.text() and "because" in summary, f"{log.text()!r} {summary!r}")
    with Messages() as log:
        ours.SetDeviceIndex(0)
        ours.Update()
    summary = ours.GetLastRunSummary()
    true(log.text() == "" and "GPU 0 (" in summary, f"{log.text()!r} {summary!r}")


TESTS = (threads_in_turn, faults, others_after_a_fault, real_fault, exit_with_arrays_alive, gpu_switched_off)
