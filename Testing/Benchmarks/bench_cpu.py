# SPDX-License-Identifier: BSD-3-Clause
"""Times vtkPMBContourFilter on the CPU against vtkFlyingEdges3D, vtkContourFilter and, where VTK 9.5 or later has it,
vtkmContour (Viskores), through VTK's pipeline, in one run.

Every filter makes normals and no scalars. "first": a new filter on a volume it has not seen, with everything that
this costs. "iso": the isovalue changes a little and back, the filter stays. Medians. Ours runs with
RemoveDegenerateTriangles off, so that the three filters make the same mesh and the counts can be compared; the
time with it on, the default, has a column of its own ("iso rd")."""
import os
import statistics
import sys
import time

from bench_common import cayley, contour_of, gyroid, milliseconds, parser_of

REPEATS = 6
CONTOUR_REPEATS = 4  # it takes seconds per volume; even, as the isovalue goes to and fro
TYPES = {"f32": "float32", "u8": "uint8", "i16": "int16", "f64": "float64"}
SYNTHETIC = (("cayley", 256, -0.012), ("cayley", 512, -0.012), ("gyroid", 256, 0.1), ("wavelet", 256, 157.0))
SCAN_TYPES = {"ch2": "u8", "cranium": "i16", "1jzv": "f32"}

parser = parser_of(__doc__, "./pmb bench")
parser.add_argument("--quick", action="store_true", help="float32 only, no 512^3")
parser.add_argument("--volume", choices=("cayley", "gyroid", "wavelet", *SCAN_TYPES))
parser.add_argument("--threads", type=int, help="instead of 1 thread, then all")
OPTIONS = parser.parse_args()
if OPTIONS.threads is not None and not 1 <= OPTIONS.threads <= 1024:
    parser.error(f"--threads takes a number from 1 to 1024, not {OPTIONS.threads}")
if OPTIONS.threads:
    os.environ["VISKORES_NUM_THREADS"] = str(OPTIONS.threads)  # read once; without it, all threads

import numpy  # noqa: E402
from pmb import vtkPMBContourFilter  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonCore import vtkSMPTools, vtkVersion  # noqa: E402
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkFlyingEdges3D  # noqa: E402
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource  # noqa: E402

try:
    from vtkmodules.vtkAcceleratorsVTKmFilters import vtkmContour
    HAS_VISKORES = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) >= (9, 5)  # before: VTK-m
except ImportError:
    HAS_VISKORES = False

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Data"))
from scans import SCANS, make_image  # noqa: E402


def chosen():
    """(name, samples per side or 0 for a scan, type, isovalue) of the volumes chosen by the options."""
    volumes = [(name, size, kind, isovalue) for kind in (("f32",) if OPTIONS.quick else TYPES)
               for name, size, isovalue in SYNTHETIC if size == 256 or not OPTIONS.quick]
    volumes += [(name, 0, SCAN_TYPES[name], isovalue) for name, (_, path, _, isovalue) in SCANS.items()
                if os.path.exists(path)]
    return [volume for volume in volumes if OPTIONS.volume in (None, volume[0])] or \
        parser.error("nothing to time: no volume here fits these options")


# Function on [-1,1]^3 with its exact range there. Cayley: the extremes are at corners; gyroid: 1.5 by calculus.
FIELDS = {"cayley": (cayley, -27.0, 5.0), "gyroid": (lambda x, y, z: gyroid(x, y, z, 12.0 * numpy.pi), -1.5, 1.5)}


def mapping(low, high, kind):
    """A function from a field's values to samples of a type, of its whole range if it is an integer."""
    if kind in ("f32", "f64"):
        return lambda values: values
    limits = numpy.iinfo(TYPES[kind])
    scale = (limits.max - limits.min) / (high - low)
    return lambda values: scale * values + (limits.min - scale * low)


def make_volume(name, size, kind, isovalue):
    """A vtkImageData, and the isovalue in its samples."""
    if size == 0:
        return SCANS[name][0](), isovalue
    samples = numpy.empty((size, size, size), TYPES[kind])
    if name == "wavelet":
        source = vtkRTAnalyticSource()
        source.SetWholeExtent(*(-size // 2, size // 2 - 1) * 3)
        source.Update()
        slices = vtk_to_numpy(source.GetOutput().GetPointData().GetScalars()).reshape(samples.shape)
        mapped = mapping(float(slices.min()), float(slices.max()), kind)
    else:
        function, low, high = FIELDS[name]
        mapped = mapping(low, high, kind)
        x = numpy.arange(size) * (2.0 / (size - 1)) - 1.0
        slices = (function(x[None, :], x[:, None], z) for z in x)
    for samples_of_slice, values in zip(samples, slices):
        samples_of_slice[...] = mapped(values) if kind in ("f32", "f64") else numpy.rint(mapped(values))
    spacing = (2.0 / (size - 1),) * 3
    return make_image(samples.ravel(), (0, size - 1) * 3, spacing, (-1, -1, -1), name), mapped(isovalue)


def contour(kind, image, isovalue, threads=None):
    """A filter of a class; threads: for this project's."""
    new = contour_of(kind, image, isovalue, vtkPMBContourFilter.CPU if threads else None, threads)
    if threads:
        new.RemoveDegenerateTrianglesOff()
    return new


def triangles(algorithm):
    return algorithm.GetOutput().GetNumberOfPolys()


def changes(algorithm, image, isovalue, repeats=REPEATS):
    """The median time of small isovalue changes of an executed filter; the last restores the first isovalue."""
    low, high = image.GetPointData().GetScalars().GetRange()
    algorithm.Update()
    times = []
    for n in range(repeats):
        algorithm.SetValue(0, isovalue + (1e-6 * (high - low) if n % 2 == 0 else 0))
        times.append(milliseconds(algorithm.Update))
    return statistics.median(times)


def bench_ours(image, isovalue, threads):
    """Times first, iso, iso rd; triangles without and with RemoveDegenerateTriangles; bytes per sample."""
    firsts = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        ours = contour(vtkPMBContourFilter, image, isovalue, threads)
        ours.Update()
        firsts.append(1e3 * (time.perf_counter() - begin))
        del ours  # its mesh is freed outside the time
    ours = contour(vtkPMBContourFilter, image, isovalue, threads)
    iso, count = changes(ours, image, isovalue), triangles(ours)
    peak = ours.GetPeakExtraBytes() / image.GetNumberOfPoints()
    ours.RemoveDegenerateTrianglesOn()
    removing = changes(ours, image, isovalue)
    return statistics.median(firsts), iso, removing, count, triangles(ours), peak


def bench(volume, all_threads):
    """Prints the rows of a volume; False if a count is wrong. vtkFlyingEdges3D keeps triangles without area, as ours with
    RemoveDegenerateTriangles off: the same number. vtkContourFilter leaves them out, but by a tolerance and from other
    tables: within a hundredth of ours with it on."""
    name, size, kind, isovalue = volume
    vtkSMPTools.Initialize(0)
    image, isovalue = make_volume(*volume)
    slow = contour(vtkContourFilter, image, isovalue)
    slow_ms, good = changes(slow, image, isovalue, CONTOUR_REPEATS), True
    viskores = contour(vtkmContour, image, isovalue) if HAS_VISKORES else None
    viskores_ms = f"{changes(viskores, image, isovalue):8.1f}" if viskores else f"{'-':>8}"
    for threads in all_threads:
        vtkSMPTools.Initialize(threads)
        edges = contour(vtkFlyingEdges3D, image, isovalue)
        edges_ms = changes(edges, image, isovalue)
        first, iso, removing, count, rd_count, peak = bench_ours(image, isovalue, threads)
        others = triangles(edges), triangles(viskores or edges)
        right = 0 < count == others[0] == others[1] and abs(triangles(slow) - rd_count) <= count / 100
        verdict = "agree" if right else (f"WRONG: {count} and FE, Viskores {others}, rd {rd_count} and "
                                         f"Contour {triangles(slow)}")
        print(f"{f'{name} {size or str()}':<12} {kind:<4} {threads:3} {count:10} | {first:8.1f} {iso:8.1f} "
              f"{removing:8.1f} | {edges_ms:8.1f} {viskores_ms} {slow_ms:8.1f} | {edges_ms / first:6.2f} "
              f"{edges_ms / iso:6.2f} {slow_ms / iso:7.1f} | {peak:7.3f} {verdict}", flush=True)
        good = good and right
    return good


def fits(volume):
    """Samples with the doubles of a slice, and the meshes of two filters at once; dense fields have about one pair of
    triangles per sample."""
    name, size, kind, _ = volume
    with open("/proc/meminfo", encoding="ascii") as stream:
        available = next(1024.0 * int(line.split()[1]) for line in stream if line.startswith("MemAvailable"))
    needed = size ** 3 * (2 * numpy.dtype(TYPES[kind]).itemsize) + 60.0 * min(size ** 3, 3e7)
    if needed > available:
        print(f"{name} {size} {kind} skipped: needs {needed / 2**30:.1f} GiB, {available / 2**30:.1f} GiB are free")
    return needed <= available


def main():
    volumes = chosen()
    if not vtkSMPTools.SetBackend("STDThread"):
        parser.error("this VTK has no STDThread backend, so vtkFlyingEdges3D would run on one thread")
    vtkSMPTools.Initialize(0)
    most = vtkSMPTools.GetEstimatedNumberOfThreads()
    threads = [OPTIONS.threads] if OPTIONS.threads else [1, most] if most > 1 else [1]
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        names = [line.split(": ")[1].strip() for line in stream if line.startswith("model name")]
    print(f"{(names or ['unnamed processor'])[0]}, {most} threads; milliseconds, medians of {REPEATS} (vtkContourFilter: "
          f"1 thread, {CONTOUR_REPEATS})\n"
          "first, iso: vtkPMBContourFilter on the CPU, a new volume, a changed isovalue (rd: RemoveDegenerateTriangles on); "
          "FE: vtkFlyingEdges3D, STDThread; Viskores: all threads, or --threads\n"
          "B/voxel: most memory in use beside input and output; counts: triangles of all filters\n\n"
          f"{'volume':<12} type thr  triangles |    first      iso   iso rd |       FE Viskores  Contour | FE/1st FE/iso "
          "Con/iso | B/voxel counts", flush=True)
    good = [bench(volume, threads) for volume in volumes if fits(volume)]
    sys.exit(0 if all(good) else 1)


main()
