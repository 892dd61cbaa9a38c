# SPDX-License-Identifier: BSD-3-Clause
"""usage: ./pmb bench [--KIND] [OPTION...]: runs a benchmark; ./pmb bench --KIND --help prints its options.

Without a kind: the filter on the CPU against vtkFlyingEdges3D and vtkContourFilter.
  --gpu        the same on the GPU, after a table of the passes
  --picture    time from a changed isovalue to the picture in ParaView
  --rays       ray casting against VTK's volume mappers; on a GPU the figures of a paper too
  --particles  surfaces of particles against splashsurf
  --scale      volumes divided among 1, 2, 4 GPUs and so on; with --cpu among 1, 2, 4 and 8 processes on the CPU
  --papers     the tables of the papers with their systems on the GPU
  --python     the Python package against scikit-image, PyMCubes and pysplashsurf

With --needs it prints what the benchmark needs: gpu, or_cpu (a GPU, or the option --cpu), display, rays_of_gpu (a program,
where there is a GPU), wheel, and names of targets. The script pmb makes that and calls this again, with the build folder in
PMB_BUILD_DIR and in PMB_RAYS whether that program was made."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
PLUGIN = "ParallelMarchingBlocks"
# The script, and what it needs; None: a program.
KINDS = {
    "cpu": ("bench_cpu.py", [PLUGIN]),
    "gpu": ("bench_gpu.py", ["gpu", PLUGIN, "pmb_bench_gpu"]),
    "picture": ("bench_picture.py", ["display"]),
    "rays": ("bench_rays.py", ["display", "rays_of_gpu"]),
    "particles": ("bench_particles.py", [PLUGIN]),
    "scale": (None, ["gpu", "pmb_bench_gpu"]),
    "papers": (None, ["or_cpu", "pmb_bench_papers"]),
    "python": ("../../Python/bench.py", ["wheel"]),
}


def needs(kind, options):
    """What the script pmb makes before the benchmark runs."""
    wanted = KINDS[kind][1]
    if {"--help", "-h"} & set(options):
        wanted = ["pmb_bench_papers"] if kind == "papers" else []
    elif kind == "papers" and "--cpu" in options:
        wanted = wanted[1:]
    elif kind == "scale" and "--cpu" in options:
        wanted = ["wheel"]
    return wanted


def built(folder, what, pattern):
    build = pathlib.Path(os.environ["PMB_BUILD_DIR"])
    for path in sorted(path for place in build.glob(f"{folder}*") for path in place.rglob(pattern)):
        if path.is_file():
            return path
    return sys.exit(f"pmb: the build made no {what} in {build}; fix: remove that folder and run this again")


def run(*command):
    code = subprocess.run([str(word) for word in command], check=False).returncode
    if code:
        sys.exit(code)


def main():
    words = sys.argv[1:]
    asks = words[:1] == ["--needs"]
    words = words[asks:]
    kind = words.pop(0)[2:] if words and words[0][:2] == "--" and words[0][2:] in KINDS else "cpu"
    wanted = needs(kind, words)
    if asks:
        print(*wanted)
        return
    script = HERE / (KINDS[kind][0] or "")
    pvpython = ["pvpython", "--no-mpi", script]
    if not wanted and not KINDS[kind][0]:
        print(__doc__)
    elif not wanted:
        run(sys.executable, script, *words)
    elif kind == "papers":
        scans = pathlib.Path(os.environ["PMB_BUILD_DIR"], "papers_scans")
        if "--help" not in words:
            run("pvpython", TOP / "Data" / "scans.py", scans)
            words = ["--scans", scans, *words]
        run(built("bin", "pmb_bench_papers", "pmb_bench_papers"), *words)
    elif kind == "scale" and "--cpu" not in words:
        gpus = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.count("UUID")
        for count in (1 << n for n in range(gpus.bit_length())):
            run(built("bin", "pmb_bench_gpu", "pmb_bench_gpu"), "1", "3", (1 << count) - 1)  # 512^3 and 1024^3
    elif wanted == ["wheel"]:
        words = [word for word in words if kind == "python" or word != "--cpu"]
        run(pathlib.Path(os.environ["PMB_BUILD_DIR"], "python", "bin", "python"),
            script if kind == "python" else HERE / "bench_ranks.py", *words)
    elif "display" in wanted:  # ParaView loads the plugin, which knows where the package is
        run(*pvpython, *words)
        if os.environ.get("PMB_RAYS"):
            run(built("bin", "pmb_bench_papers_rays", "pmb_bench_papers_rays"))
    else:
        for number in "01" if kind == "gpu" else "":  # the volumes of bench_gpu.py
            run(built("bin", "pmb_bench_gpu", "pmb_bench_gpu"), number, number)
        package = built("lib", "Python package pmb", "*-packages/pmb/vtkPMBContour.so").parent.parent
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
        run(*pvpython, *words)


main()
