# SPDX-License-Identifier: BSD-3-Clause
"""Times a user's waits, through VTK's pipeline, in pvpython on a machine with a GPU: this filter on the GPU and on the
processor, vtkFlyingEdges3D with threads, and vtkContourFilter. float32, normals on, scalars off, milliseconds.

Isovalue change: from the new isovalue to the new vtkPolyData; each isovalue is another one. "old kept": the surface
before is still held, as a view holds it. First extraction: the filter and the array are new. The first of the process
includes CUDA's own start. "memory of earlier output is there": surfaces were made and given up before, as in a session
in which the user has worked."""
import os
import statistics
import sys

from bench_common import ISOVALUES, contour_of, image_of, milliseconds, parser_of, sampled

parser = parser_of(__doc__)
parser.add_argument("--size", type=int, default=512, help="samples per side (512)")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                    help="of this filter on the processor and of Flying Edges (all cores)")
parser.add_argument("--repeats", type=int, default=20, help="isovalue changes of which the median is printed (20)")
options = parser.parse_args()
os.environ["VTK_SMP_MAX_THREADS"] = str(options.threads)

import numpy  # noqa: E402
from pmb import vtkPMBContourFilter  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonDataModel import vtkPolyData  # noqa: E402
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkFlyingEdges3D  # noqa: E402

CPU, GPU = vtkPMBContourFilter.CPU, vtkPMBContourFilter.GPU
WARM_UP = 5


def algorithm(kind, data, isovalue, device=None):
    return contour_of(kind, data, isovalue, device, options.threads)


def extract(contour, isovalue):
    """Milliseconds from the isovalue to the surface, and the surface."""
    surface = vtkPolyData()

    def run():
        contour.SetValue(0, isovalue)
        contour.Update()
        surface.ShallowCopy(contour.GetOutput())

    return milliseconds(run), surface


def changes(contour, isovalue, repeats, keep):
    """The median of isovalue changes, after a few that do not count."""
    times, held = [], None
    for number in range(repeats + (WARM_UP if repeats > 1 else 0)):
        if not keep:
            held = None
        ms, new = extract(contour, isovalue * (1 + 1e-4 * (number + 1)))
        held, new = new, None  # deletes the earlier surface, if it was kept, only now
        times.append(ms)
    del held
    return statistics.median(times[-repeats:])


def first(samples, isovalue, device, repeats, warm):
    """The median of first extractions, each with a new array and a new filter. warm: the memory of earlier outputs
    can be reused; else it is released before."""
    times, held, contour = [], None, None
    for _ in range(repeats + (WARM_UP if warm else 0)):
        if contour and not warm:
            held = None
            contour.ReleaseDeviceMemory()
        contour = algorithm(vtkPMBContourFilter, image_of(samples), isovalue, device)
        ms, new = extract(contour, isovalue)
        held, new = new, None
        times.append(ms)
    del held
    return statistics.median(times[-repeats:])


def same_bytes(one, other):
    def words(mesh):
        ids = mesh.GetPolys().GetConnectivityArray()
        for part in mesh.GetPoints().GetData(), mesh.GetPointData().GetNormals(), ids:
            yield vtk_to_numpy(part).view(numpy.int32)

    return all(numpy.array_equal(a, b) for a, b in zip(words(one), words(other)))


def row(what, ms):
    print(f"  {what:<58} {ms:10.2f} ms", flush=True)


def bench_gpu(samples, data, isovalue):
    """Returns the filter that has the volume on the GPU."""
    ours = algorithm(vtkPMBContourFilter, data, isovalue, GPU)
    ms, surface = extract(ours, isovalue)
    print(f"  {surface.GetNumberOfPolys()} triangles, {surface.GetNumberOfPoints()} points; {ours.GetLastRunSummary()}")
    del surface
    if GPU != CPU and "GPU" not in ours.GetLastRunSummary():
        sys.exit("bench_gpu: no GPU is in use; the line above says why")
    row("GPU: first extraction of the process or of this volume", ms)
    for warm, memory in ((False, "memory for the output is new"), (True, "memory of earlier output is there")):
        row(f"GPU: first extraction, {memory}", first(samples, isovalue, GPU, 5, warm))
    before = ours.GetNumberOfUploads()
    for bits in 64, 32:
        ours.SetUse64BitIds(bits == 64)
        for keep, what in ((True, "old kept"), (False, "old not kept")):
            row(f"GPU: isovalue change, {bits}-bit ids, {what}", changes(ours, isovalue, options.repeats, keep))
    ours.Use64BitIdsOn()
    print(f"  uploads during the isovalue changes: {ours.GetNumberOfUploads() - before}; "
          f"on the GPU: {ours.GetDeviceBytes() / 2 ** 20:.0f} MiB")
    return ours


def bench(name, isovalue):
    print(f"{name} {options.size}^3 f32 at {isovalue}")
    samples = sampled(name, options.size)
    data = image_of(samples)
    ours = bench_gpu(samples, data, isovalue)
    processor = algorithm(vtkPMBContourFilter, data, isovalue, CPU)
    threads = f"{options.threads} threads"
    row(f"CPU, {threads}: first extraction", first(samples, isovalue, CPU, 3, False))
    for bits in 32, 64:
        processor.SetUse64BitIds(bits == 64)
        ms = changes(processor, isovalue, options.repeats, True)
        row(f"CPU, {threads}: isovalue change, {bits}-bit ids, old kept", ms)
    same = same_bytes(extract(ours, isovalue)[1], extract(processor, isovalue)[1])
    edges = algorithm(vtkFlyingEdges3D, data, isovalue)
    row(f"vtkFlyingEdges3D, {threads}", changes(edges, isovalue, 5, True))
    row("vtkContourFilter, once", changes(algorithm(vtkContourFilter, data, isovalue), isovalue, 1, True))
    ours.RemoveDegenerateTrianglesOff()
    counts = [extract(one, isovalue)[1].GetNumberOfPolys() for one in (ours, edges)]
    print(f"  GPU and CPU: {'the same bytes' if same else 'OTHER BYTES'}; without RemoveDegenerateTriangles "
          f"{counts[0]} triangles, vtkFlyingEdges3D {counts[1]}{'' if counts[0] == counts[1] else ': NOT THE SAME'}",
          flush=True)
    return same and counts[0] == counts[1]


def main():
    good = [bench(*volume) for volume in ISOVALUES.items()]
    sys.exit(0 if all(good) else 1)


main()
