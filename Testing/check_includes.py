#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_includes.py [--draw]: checks the rules for includes, which keep the core free of VTK and the layers separate.
--draw prints the folders of Kernels from the top down, with those that each includes.

  Kernels           libc, POSIX threads, the compiler's intrinsics, the core's own headers, of lower layers;
                    CUDA files: and the CUDA runtime and CUB's functions for a device, which come with it
  Filters           VTK, the C++ library, libc, pmb.h, pmb_rays.h, pmb_particles.h and
                    pmb_visible.h of the core
  Rendering         as Filters, but of the core only the structs of pmb_rays.h and pmb_visible.h; and OpenGL through VTK; the
                    representation: ParaView
  Plugin            VTK and ParaView (vtk*.h, vtksys), dlfcn.h and the C++ library; Plugin/Panel: also Qt, ParaView's pq*.h
  Testing/Kernels   as Kernels, and the tests' own headers; no VTK
  Testing/GPU       as Testing/Kernels, and its headers

Where there is a compiler, each header of Kernels, but for templates, also has to compile alone.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LIBC = set("""assert ctype errno fenv float inttypes limits locale malloc math setjmp signal stdalign stdarg stdatomic
stdbool stddef stdint stdio stdlib stdnoreturn string time wchar pthread sched semaphore unistd sys/mman sys/resource
sys/stat sys/time sys/types sys/wait arm_neon immintrin cpuid""".split())
STRUCTS = ("rays/pmb_rays.h", "visible/pmb_visible.h")
PUBLIC = ("pmb.h", "particles/pmb_particles.h", *STRUCTS)  # every file may include them
# The folders of Kernels from the top down: one may include those of the rows below it.
LAYERS = [["backends"], ["gl"], ["particles", "rays", "visible"], ["cpu", "cuda", "explore", "measures"], ["core"],
          ["shared"]]
LEVEL = {folder: -row for row, layer in enumerate(LAYERS) for folder in layer}
EACH_TYPE = "pmb_each_type.h"  # includes the template that a macro names
INCLUDE = re.compile(r'^\s*#\s*(?:include|define\s+PMB_EACH_TYPE)\s*(?:([<"])([^>"]+)[>"]|(\S+))')


def includes(path):
    """(line number, "<" or '"' or "macro", what) of every #include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) or "macro", found.group(2) or found.group(3)


def is_libc(name):
    return name.endswith(".h") and name[:-2] in LIBC


def fault(path, bracket, name):
    """Why this include is not allowed, or None."""
    folder = path.relative_to(TOP).parts[:2]
    own = (path.parent / name).is_file() or (TOP / "Testing" / "Kernels" / name).is_file()
    if path.name == EACH_TYPE and bracket == "macro":
        return None
    if folder[0] == "Kernels" or folder in (("Testing", "Kernels"), ("Testing", "GPU")):
        if bracket == "macro" and path.name == "pmb_each_type.h":
            return None
        core = (TOP / "Kernels" / name).is_file() and re.fullmatch(r"([a-z]+/)*pmb\w*\.(h|c|inc|cuh)", name)
        if path.suffix in (".cu", ".cuh") and bracket == "<" and name in ("cuda.h", "cuda_runtime.h"):
            return None
        if path.suffix == ".cu" and bracket == "<" and name.startswith("cub/device/"):
            return None
        if bracket == "<" and is_libc(name) or bracket == '"' and (core or own and folder[0] == "Testing"):
            return None
        return "only libc and the core's own headers (pmb*.h) may be included here"
    if folder[0] == "Rendering":
        own = name.startswith("vtk") or name in STRUCTS
        allowed = own if bracket == '"' else re.fullmatch(r"[a-z_]+", name)
        return None if allowed else "only VTK, ParaView, pmb_rays.h, pmb_visible.h and the C++ library"
    if folder[0] == "Filters":
        standard = bracket == "<" and re.fullmatch(r"[a-z_]+", name)
        own = name in PUBLIC or name.startswith("vtk")
        if standard or bracket == "<" and is_libc(name) or bracket == '"' and own:
            return None
        return "only VTK, the C++ library, libc and pmb.h may be included here"
    if folder[0] == "Plugin":
        standard = bracket == "<" and re.fullmatch(r"[a-z_]+", name) or name == "dlfcn.h"
        if standard or bracket == '"' and re.fullmatch(r"vtk\w+\.h|vtksys/\w+\.hxx", name):
            return None
        if folder == ("Plugin", "Panel") and re.fullmatch(r"Q[A-Z]\w+|pq\w+\.h", name):
            return None
        return "only VTK, ParaView and the C++ library may be included here: the plugin computes nothing"
    return None


def upward(path, bracket, name):
    """Why this include between folders of Kernels is not allowed, or None."""
    place, to = path.relative_to(TOP).parts, name.split("/")[0]
    if place[0] != "Kernels" or len(place) < 3 or bracket != '"' or name in PUBLIC or to == place[1]:
        return None
    if not {place[1], to} <= LEVEL.keys():
        return "add the folder to LAYERS in Testing/check_includes.py"
    return f"{place[1]}/ must not include {to}/" if LEVEL[to] >= LEVEL[place[1]] else None


def compile_alone(path):
    """The compiler's errors for a header alone, CUDA's compiled like the emulator's; None: there are none."""
    if path.suffix == ".cuh":
        command = ["c++", "-std=c++17", "-x", "c++", "-D__CUDACC__", f"-I{TOP / 'Testing/Emulator/include'}"]
    else:
        command = ["cc", "-std=c11", "-x", "c", "-DPMB_CPU_PATH=portable"]
    command += ["-fsyntax-only", "-w", f"-I{TOP / 'Kernels'}", str(path)]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return run.stderr.strip().splitlines()[0] if run.returncode else None


def headers_alone():
    """The faults of Kernels' headers, compiled alone."""
    if not shutil.which("cc") or not shutil.which("c++"):
        print("check_includes: there is no compiler, so headers are not compiled alone")
        return 0
    headers = [path for path in sorted((TOP / "Kernels").rglob("*"))
               if path.suffix in (".h", ".cuh") and not path.name.endswith(("_template.h", EACH_TYPE))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(compile_alone, headers))
    for path, text in zip(headers, said):
        if text:
            print(f"{path.relative_to(TOP)} does not compile alone: {text}")
    return sum(text is not None for text in said)


def main():
    faults = files = 0
    arrows = {folder: set() for folder in LEVEL}
    for folder in ("Kernels", "Filters", "Rendering", "Plugin", "Testing"):
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cxx", ".cu", ".cuh", ".in"):
                continue
            files += 1
            for number, bracket, name in includes(path):
                why = fault(path, bracket, name) or upward(path, bracket, name)
                place, to = path.relative_to(TOP).parts[1], name.split("/")[0]
                if folder == "Kernels" and name not in PUBLIC and place in LEVEL and to in LEVEL.keys() - {place}:
                    arrows[place].add(to)
                if why:
                    faults += 1
                    print(f"{path.relative_to(TOP)}:{number}: {name}: {why}")
    if "--draw" in sys.argv[1:]:
        for place, found in arrows.items():
            print(f"{place}: {', '.join(sorted(found)) or '-'}")
        return 1 if faults else 0
    faults += headers_alone()
    print(f"check_includes: {files} files looked at, {faults} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
