# SPDX-License-Identifier: BSD-3-Clause
"""Times the Python package beside scikit-image, PyMCubes and pysplashsurf, in milliseconds, fastest of the runs.

All use the same threads: scikit-image and PyMCubes have one, pmb and pysplashsurf --threads. `again` is an isovalue change
of a pmb.Volume. `call` is a call for a small volume of 16^3, in microseconds."""
import argparse
import os
import time

import numpy as np

import pmb


def fastest(function, runs):
    best = np.inf
    for _ in range(runs):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return 1e3 * best


def volumes(side):
    """A gyroid of many triangles and a ball of few, as float32."""
    x, y, z = (axis.astype(np.float32) for axis in np.ogrid[tuple(slice(-1, 1, side * 1j) for _ in range(3))])
    s = np.float32(3 * np.pi * side / 64)
    yield "gyroid", np.sin(s * x) * np.cos(s * y) + np.sin(s * y) * np.cos(s * z) + np.sin(s * z) * np.cos(s * x), 0.1
    yield "ball", 1 - np.sqrt(x * x + y * y + z * z), 0.4


CUPMB_SAMPLE = """
namespace cupmb {
template <typename T, typename I, I dim>
__device__ __forceinline__ T scalar(const trove::array<T, dim>& p, const trove::array<I, dim>& i, const float* S,
                                    const float level)
{
  return S[trove::get<0>(i) + %d * (trove::get<1>(i) + %dll * trove::get<2>(i))] - level;
}
}
"""


def make_cupmb(side):
    import cupy
    from cupmb import ExtraParameter, ParallelMarchingBlocks
    samples = {"S": ExtraParameter("const float*"), "level": ExtraParameter("const float")}
    blocks = ParallelMarchingBlocks(3, CUPMB_SAMPLE % (side, side), N=side - 1, extra_params=list(samples.items()))
    return lambda tensor, level: blocks(S=cupy.from_dlpack(tensor), level=level)


def make_isoext(side):
    import isoext
    grid = isoext.UniformGrid([side] * 3)
    return lambda tensor, level: (grid.set_values(tensor), isoext.marching_cubes(grid, level=level))


def make_warp(side):
    import warp.geometry
    cubes = warp.geometry.IsoSurfaceMarchingCubes(side, side, side)
    return lambda tensor, level: cubes.surface(warp.from_torch(tensor), level)


def gpu(side, runs):
    """From a tensor on the GPU to a mesh there, without normals, as the peers make it. `again`: another isovalue."""
    import torch
    peers = {}
    for name, make in {"cupmb": make_cupmb, "isoext": make_isoext, "warp-lang": make_warp}.items():
        try:
            peers[name] = make(side)
        except ImportError:
            print(f"without {name}: pip install {name}")

    def waiting(function, *arguments):
        function(*arguments)
        torch.cuda.synchronize()

    print(f"volume    triangles      pmb    again   {'   '.join(peers)}   on {torch.cuda.get_device_name()}")
    for name, volume, level in volumes(side):
        tensor = torch.as_tensor(volume, device="cuda")
        bound = pmb.Volume(tensor)
        times = [fastest(lambda: pmb.contour(tensor, level, normals=False), runs),
                 fastest(lambda: bound.contour(level, normals=False), runs)]
        for peer in peers.values():
            waiting(peer, tensor, level)
            times.append(fastest(lambda: waiting(peer, tensor, level), runs))
        print(f"{name:8} {len(bound.contour(level).triangles):10} " + " ".join(f"{time:8.3f}" for time in times), flush=True)
        bound.close()


def main():
    parser = argparse.ArgumentParser(prog="./pmb bench --python", description=__doc__)
    parser.add_argument("--side", type=int, default=256, help="samples along each axis")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="of pmb and pysplashsurf; 0: all cores")
    parser.add_argument("--particles", type=int, default=100000)
    parser.add_argument("--gpu", action="store_true", help="from tensors on a GPU, beside cupmb, isoext and warp-lang")
    options = parser.parse_args()
    if options.gpu:
        gpu(options.side, options.runs)
        return
    pmb.set_threads(options.threads)
    if options.threads:
        os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # pysplashsurf's
    import mcubes
    from skimage.measure import marching_cubes
    peers = marching_cubes, mcubes.marching_cubes
    print("volume    triangles      pmb    again  skimage   mcubes   skimage / pmb, mcubes / pmb")
    for name, volume, level in volumes(options.side):
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
