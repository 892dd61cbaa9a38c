# SPDX-License-Identifier: BSD-3-Clause
"""Times the Python package beside scikit-image, PyMCubes and pysplashsurf, in milliseconds, fastest of the runs.

All use the same threads: scikit-image and PyMCubes have one, pmb and pysplashsurf --threads. `again` is an isovalue change
of a pmb.Volume. `call` is a call for a small volume of 16^3, in microseconds."""
import argparse
import os
import sys
import time
from functools import partial

import numpy as np

# Not beside this file: the package there has no module in C.
sys.path[0] = os.path.join(sys.path[0], os.pardir, "Testing", "Benchmarks")
import pmb  # noqa: E402
from bench_common import ISOVALUES, cayley  # noqa: E402


def fastest(function, runs, seconds=0):
    """ms of the fastest of so many runs, or more if they take fewer seconds."""
    best, start = np.inf, time.perf_counter()
    while runs > 0 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
        runs -= 1
    return 1e3 * best


def volumes(side):
    """A gyroid of many triangles and a ball of few, as float32."""
    x, y, z = (axis.astype(np.float32) for axis in np.ogrid[tuple(slice(-1, 1, side * 1j) for _ in range(3))])
    s = np.float32(3 * np.pi * side / 64)
    yield "gyroid", np.sin(s * x) * np.cos(s * y) + np.sin(s * y) * np.cos(s * z) + np.sin(s * z) * np.cos(s * x), 0.1
    yield "ball", 1 - np.sqrt(x * x + y * y + z * z), 0.4


# cupmb's field, and its test of a box: skips those whose middle is farther from 0 than half their size times bounds of the
# derivatives.
CUPMB_FIELD = """
namespace cupmb {
template <typename T, typename I, I dim>
__device__ __forceinline__ T scalar(const trove::array<T, dim>& p, const trove::array<I, dim>& i, %s, const float level)
{
  const T x = trove::get<0>(p), y = trove::get<1>(p), z = trove::get<2>(p);
  return %s - level;
}
}
"""
CUPMB_BOXES = """
namespace cupmb {
template <typename T, typename I, I dim, typename... F>
__device__ __forceinline__ bool may_contain_zeros(const BoundingBox<T, dim>& box, const float k, const float level)
{
  const T x = (box.a[0] + box.b[0]) / 2, y = (box.a[1] + box.b[1]) / 2, z = (box.a[2] + box.b[2]) / 2;
  const T u = box.b[0] - x, v = box.b[1] - y, w = box.b[2] - z;
  const T X = fabsf(x) + u, Y = fabsf(y) + v, Z = fabsf(z) + w;
  return fabsf(%s - level) <= T(1.00001) * (%s);
}
}
"""
EVALUATED = {
    "cayley": ("1 - 16 * x * y * z - 4 * (x * x + y * y + z * z)",
               "8 * (u * (2 * Y * Z + X) + v * (2 * X * Z + Y) + w * (2 * X * Y + Z))"),
    "gyroid": ("(sinf(k * x) * cosf(k * y) + sinf(k * y) * cosf(k * z) + sinf(k * z) * cosf(k * x))",
               "T(1.415) * k * (u + v + w)"),
}
STORED = "S[trove::get<0>(i) + (long long)side * (trove::get<1>(i) + (long long)side * trove::get<2>(i))]"


def make_cupmb(tensor, name, k, how):
    import cupy
    from cupmb import ParallelMarchingBlocks
    side = len(tensor)
    if how == "stored":
        known, value = {"S": cupy.from_dlpack(tensor), "side": side}, STORED
        types = [("S", "const float*"), ("side", "const int")]
    else:
        known, types, value = {"k": k}, [("k", "const float")], EVALUATED[name][0]
    field = CUPMB_FIELD % (", ".join(f"{kind} {word}" for word, kind in types), value)
    boxes = CUPMB_BOXES % EVALUATED[name] if how == "evaluated, boxes" else ""
    blocks = ParallelMarchingBlocks(3, field, boxes, side - 1, 2.0, -1.0, extra_params=[*types, ("level", "const float")])
    return lambda level: len(blocks(**known, level=level)[1])


def make_isoext(tensor, name, k, how):
    """Its default tables are vega, those of 1987 lorensen."""
    import isoext
    grid = isoext.UniformGrid([len(tensor)] * 3)
    return lambda level: (grid.set_values(tensor), len(isoext.marching_cubes(grid, level=level, method=how)[1]))[1]


def make_warp(tensor, *_):
    import warp.geometry
    warp.init()
    cubes = warp.geometry.IsoSurfaceMarchingCubes(*tensor.shape)
    return lambda level: (cubes.surface(warp.from_torch(tensor), level), len(cubes.indices) // 3)[1]


def make_conquer3d(tensor, name, k, how):
    """Its cells are lists of 8 corners, whose places it takes as 32-bit numbers: less than 2^29 cells."""
    import torch
    from conquer3d.ops import dual_marching_cubes, marching_cubes
    side = len(tensor)
    axis = torch.arange(side, device="cuda", dtype=torch.int32)
    ids = axis + side * (axis[:, None] + side * axis[:, None, None])
    corners = [ids[z:side - 1 + z, y:side - 1 + y, x:side - 1 + x] for z, y, x in
               ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0))]
    cells = torch.stack(corners, -1).reshape(-1, 8)
    places = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij")[::-1], -1).reshape(-1, 3).float()
    function = dual_marching_cubes if how == "dual" else marching_cubes
    return lambda level: len(function(places, cells, tensor.reshape(-1), iso=level)[1])


PEERS = (("cupmb", make_cupmb, ("stored", "evaluated", "evaluated, boxes")), ("isoext", make_isoext, ("vega", "lorensen")),
         ("warp-lang", make_warp, ("",)), ("conquer3d", make_conquer3d, ("", "dual")))


def kernels(call, runs):
    """The sum of a call's kernels on the GPU, ms."""
    from torch import cuda, profiler
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(runs):
            call()
        cuda.synchronize()
    return sum(kernel.device_time_total for kernel in seen.key_averages() if "kernel" in kernel.key) / runs / 1e3


def gpu(side, runs):
    """From samples on the GPU, or a function, to a mesh there without normals, as peers do. `again`: another isovalue. Each
    row waits for the GPU, since peers return before their mesh is complete."""
    import torch
    print(f"on {torch.cuda.get_device_name()}\n\n| volume | system | ms | times pmb | triangles |\n|---|---|---|---|---|")

    def row(system, call, level):
        def waiting():
            waiting.triangles = call(level)
            torch.cuda.synchronize()
        waiting()
        time = fastest(waiting, runs, 0.3)  # clocks rise with the load
        if system == "pmb":
            row.ours = time
        print(f"| {name} {side}^3 | {system} | {time:.3f} | {time / row.ours:.2f} | {waiting.triangles:,} |", flush=True)

    k = np.pi * side / 32  # bench_common.sampled's
    axis = torch.linspace(-1, 1, side, device="cuda")
    s, c = torch.sin(k * axis), torch.cos(k * axis)
    for name in ISOVALUES:
        level, y, z = ISOVALUES[name], axis[:, None], axis[:, None, None]
        xy, yz, zx = s * c[:, None], s[:, None] * c[:, None, None], s[:, None, None] * c
        tensor = cayley(axis, y, z) if name == "cayley" else xy + yz + zx
        bound = pmb.Volume(tensor)
        extract = partial(pmb.contour, tensor, level, normals=False)
        row("pmb", lambda level: len(extract().triangles), level)
        print(f"| {name} {side}^3 | pmb without this program's wait | {fastest(extract, runs, 0.3):.3f} | | |\n"
              f"| {name} {side}^3 | its kernels | {kernels(extract, runs):.3f} | | |")
        row("pmb again", lambda level: len(bound.contour(level, normals=False).triangles), level)
        row("pmb again, with normals", lambda level: len(bound.contour(level).triangles), level)
        bound.close()
        for peer, make, ways in PEERS:
            for how in ways if peer != "conquer3d" or side**3 < 1 << 29 else ():
                try:
                    row(" ".join(filter(None, (peer, how))), make(tensor, name, k, how), level)
                except ImportError as error:  # of the peer, or of what it needs
                    print(f"without {peer}: {error}; pip install {peer}")
                    break
                except Exception as error:  # of any kind, by the peer
                    print(f"| {name} {side}^3 | {peer} {how} | fails: {error!r:.60} | | |", flush=True)
                torch.cuda.empty_cache()


def parts(side, runs):
    """Where the time of a changed isovalue goes on a GPU: medians."""
    from pmb._arrays import address_of
    from pmb._core import free_memory
    from pmb._mesh import INT32, code_of
    axis = np.linspace(-1, 1, side, dtype=np.float32)
    s, c = np.sin(np.pi * side / 32 * axis), np.cos(np.pi * side / 32 * axis)
    gyroid = (s * c[:, None])[None] + (s[:, None] * c[:, None, None]) + (s[:, None, None] * c)
    tensor = pmb.DeviceArray.from_host(gyroid)
    word = pmb.DeviceArray.from_host(np.zeros(1))  # its copy waits for the default stream
    times = {}

    def timed(part, call):
        word.numpy()
        begin = time.perf_counter()
        result = call()
        times.setdefault(part, []).append(1e3 * (time.perf_counter() - begin))
        return result

    def arrays(n, m, wait=False):
        made = pmb.DeviceArray((n, 3), np.float32, 0, wait), pmb.DeviceArray((m, 3), np.int32, 0, wait)
        word.numpy()
        return made

    with pmb.Volume(tensor) as bound:
        context = bound._context
        for run in range(runs + 2):
            if run == 2:  # the first take their memory
                times.clear()
            (n, m), = timed("count", lambda: context.count((0.1,), 1))
            points, triangles = timed("arrays from the pool", lambda: arrays(n, m))
            addresses = address_of(points), code_of(points.dtype), 0, 0, address_of(triangles)
            timed("emit", lambda: context.emit(0, n, m, *addresses, INT32, 0, 0, [], 1, 1))
            del points, triangles
            timed("memory back to the GPU", free_memory)
            points, triangles = timed("new arrays", lambda: arrays(n, m))
            del points, triangles
            timed("isovalue change", lambda: len(bound.contour(0.1, normals=False).points))
            timed("isovalue change with normals", lambda: len(bound.contour(0.1).points))
            timed("from the tensor on", lambda: len(pmb.contour(tensor, 0.1, normals=False).points))
        print(f"gyroid {side}^3: {m:,} triangles, {12e-9 * (n + m):.2f} GB, {pmb.find_device().name}")
        for part, found in times.items():
            print(f"  {part:30} {np.median(found):8.3f} ms, least {min(found):.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./pmb bench --python", description=__doc__)
    parser.add_argument("--side", type=int, nargs="+", default=[256], help="samples along each axis")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="of pmb and pysplashsurf; 0: all cores")
    parser.add_argument("--particles", type=int, default=100000)
    parser.add_argument("--gpu", action="store_true", help="on a GPU, beside cupmb, isoext, warp-lang and conquer3d")
    parser.add_argument("--parts", action="store_true", help="on a GPU: where the time goes")
    options = parser.parse_args()
    if options.gpu or options.parts:
        for side in options.side:
            (parts if options.parts else gpu)(side, options.runs)
        return
    pmb.set_threads(options.threads)
    if options.threads:
        os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # pysplashsurf's
    import mcubes
    from skimage.measure import marching_cubes
    peers = marching_cubes, mcubes.marching_cubes
    print("volume    triangles      pmb    again  skimage   mcubes   skimage / pmb, mcubes / pmb")
    for name, volume, level in (row for side in options.side for row in volumes(side)):
        bound = pmb.Volume(volume)
        triangles = len(bound.contour(level).triangles)
        ours = fastest(lambda: pmb.contour(volume, level), options.runs)
        again = fastest(lambda: bound.contour(level), options.runs)
        theirs = [fastest(lambda: peer(volume, level), min(options.runs, 2)) for peer in peers]
        print(f"{name:8} {triangles:10} {ours:8.1f} {again:8.1f} {theirs[0]:8.0f} {theirs[1]:8.0f}  "
              f" {theirs[0] / ours:.0f} {theirs[1] / ours:.0f}", flush=True)
    small = volume[:16, :16, :16] * np.float32(1)
    print(f"call {1e3 * fastest(lambda: [pmb.contour(small, 0.1) for _ in range(100)], 10) / 100:.0f} us")
    try:
        import pysplashsurf
    except ImportError:
        print("without pysplashsurf: pip install pysplashsurf")
        return
    cloud = np.random.default_rng(1).random((options.particles, 3)) * (options.particles ** (1 / 3))
    ours = fastest(lambda: pmb.particles(cloud, 0.5, smoothing=2, cell_size=0.5, isovalue=0.6, normals=False), options.runs)
    keywords = dict(particle_radius=0.5, smoothing_length=1.0, cube_size=0.25, iso_surface_threshold=0.6)  # world lengths
    theirs = fastest(lambda: pysplashsurf.reconstruct_surface(cloud, **keywords), min(options.runs, 2))
    print(f"particles {options.particles}: pmb {ours:.0f}, pysplashsurf {theirs:.0f}, {theirs / ours:.1f} times")


if __name__ == "__main__":
    main()
