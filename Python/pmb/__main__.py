# SPDX-License-Identifier: BSD-3-Clause
"""The command line: pmb contour, pmb particles, pmb render."""
from __future__ import annotations

import argparse
import glob
import os
import re
import signal
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pmb

from ._context import terminal_bar as _bar
from ._files import check_output, writing
from ._readers import read_points, read_volume


def _volume(options: argparse.Namespace, progress: Callable[[float], object] | None) -> pmb.Volume:
    scan = read_volume(options.volume, options.array, options.shape, options.dtype)
    return pmb.Volume(scan.array, options.spacing or scan.spacing, scan.origin, scan.direction, device=options.device,
                      progress=progress)


def _contour(options: argparse.Namespace) -> None:
    check_output(options.output)
    with _volume(options, _bar("read ")) as volume:
        if min(volume.shape) < 2:
            raise ValueError(f"{options.volume} has {' x '.join(map(str, volume.shape))} samples, but a surface needs"
                             " two along each axis; of DICOM files give the folder")
        isovalues = options.isovalues or volume.suggest(1)
        if not isovalues:
            raise ValueError(f"{options.volume} has no isosurface: all samples are equal or none is finite")
        mesh = volume.contour(isovalues, normals=not options.no_normals, progress=_bar("write"))
        info = volume.info()
    mesh.save(options.output)
    print(f"{options.output}: {len(mesh.triangles)} triangles, isovalue {' '.join(f'{value:g}' for value in isovalues)}")
    if not len(mesh.triangles):
        low, high = float(info["minimum"] or 0), float(info["maximum"] or 0)
        found = f"the samples are from {low:g} to {high:g}" if low <= high else "no sample is finite"
        print(f"pmb: {found}", file=sys.stderr)
    if options.measure:
        for name, value in mesh.measure()._asdict().items():
            print(f"{name} {value:.9g}" if isinstance(value, float) else f"{name} {int(value)}")


def _differing(paths: Sequence[str]) -> list[str]:
    """The part in which names differ, with all of its digits."""
    first = os.path.commonprefix(paths).rstrip("0123456789")
    rest = [path[len(first):] for path in paths]
    last = os.path.commonprefix([path[::-1] for path in rest])[::-1].lstrip("0123456789")
    return [path[:len(path) - len(last)] for path in rest]


def _files(given: Sequence[str], output: str) -> list[tuple[str, str]]:
    """Pairs of an input and its output. A * in the output stands for what the first * or run of ? of the input matches, or
    for the part in which several inputs differ. {} means *."""
    names, output = [name.replace("{}", "*") for name in given], output.replace("{}", "*")
    pattern = names[0]
    if len(names) > 1:  # the shell has replaced a *
        found, places = names, _differing(names)
    elif not glob.has_magic(pattern) or os.path.exists(pattern):
        if "*" in output:
            raise ValueError(f"* of the output {output} is what * of the input matches, but {pattern} has none")
        return [(pattern, output)]
    else:
        found = sorted(glob.glob(pattern))
        if not found:
            raise FileNotFoundError(f"no file matches {pattern}")
        words = re.split(r"(\*|\?+|\[[^]]+\])", pattern)  # the odd ones match something
        place = re.compile("".join(re.escape(word) if i % 2 == 0 else "(.*)" if word == "*" else
                                   f"({'.' * word.count('?') or '.'})" for i, word in enumerate(words)))
        matches = [place.fullmatch(path) for path in found]
        places = [match[1] if match else os.path.splitext(os.path.basename(path))[0] for path, match in zip(found, matches)]
    if "*" not in output:
        raise ValueError(f"{pattern} may be several input files: the output {output} needs a * too")
    pairs = [(path, output.replace("*", place)) for path, place in zip(found, places)]
    outputs = [name for _, name in pairs]
    twice = sorted({name for name in outputs if outputs.count(name) > 1})
    if twice:
        raise ValueError(f"several input files would become {twice[0]}: only the first * of {pattern} counts")
    return pairs


def _particles(options: argparse.Namespace) -> None:
    for path, output in _files(options.points, options.output):
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise ValueError(f"the output {output} is the input: choose another name")
        check_output(output)
        points, arrays = read_points(path)
        mesh = pmb.particles(points, options.radius, options.kernel, cell_size=options.cell_size,
                             smoothing=options.smoothing,
                             isovalue=options.isovalue, anisotropic=options.anisotropic,
                             arrays=arrays if options.arrays else None,
                             device=options.device, progress=_bar(os.path.basename(path)))
        mesh.save(output)
        print(f"{output}: {len(points)} particles, {len(mesh.triangles)} triangles")


def _png(path: str, picture: Any) -> None:
    """Writes a picture with 3 or 4 channels."""
    height, width, channels = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with writing(path) as file:
        head = struct.pack(">2I5B", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def _render(options: argparse.Namespace) -> None:
    check_output(options.output, [".png"])
    camera = pmb.Camera(direction=options.direction, up=options.up, zoom=options.zoom)
    with _volume(options, _bar("read ")) as volume:
        mode = options.mode or ("isosurface" if options.isovalues else "composite")
        _png(options.output, pmb.render(volume, options.isovalues or None, camera, tuple(options.size), mode=mode,
                                        progress=_bar("draw ")))
    print(options.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pmb", description="Isosurfaces, surfaces of particles and pictures of volumes.")
    parser.add_argument("--version", action="version", version=pmb.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], None], about: str, what: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        made.set_defaults(run=run)
        made._negative_number_matcher = re.compile(r"-\.?\d")  # before Python 3.14 it knows no -1e3
        made.add_argument("-o", "--output", required=True, metavar="FILE", help=what)
        made.add_argument("--device", help="cpu, cuda or cuda:N; default: a GPU if there is one")
        return made

    meshes = "the mesh: .ply .stl .obj .vtp .npz"
    contour = command("contour", _contour, "extract the isosurface of a volume", meshes)
    contour.add_argument("--no-normals", action="store_true", help="compute no normals")
    contour.add_argument("--measure", action="store_true", help="print area, enclosed volume and topology")
    render = command("render", _render, "draw a volume by rays", "the picture: .png")
    render.add_argument("--mode", choices=("isosurface", "composite", "maximum", "minimum", "average"))
    render.add_argument("--size", nargs=2, type=int, default=(800, 600), metavar=("WIDTH", "HEIGHT"))
    render.add_argument("--direction", nargs=3, type=float, default=pmb.Camera.direction, metavar=("X", "Y", "Z"),
                        help="from the camera into the scene")
    render.add_argument("--up", nargs=3, type=float, default=pmb.Camera.up, metavar=("X", "Y", "Z"))
    render.add_argument("--zoom", type=float, default=1.0)
    for made in (contour, render):
        made.add_argument("volume", help=".npy .vti .nrrd .nii .mha .dcm, a folder of DICOM files, or raw samples")
        made.add_argument("isovalues", nargs="*", type=float, metavar="ISOVALUE", help="default: the best suggestion"
                          if made is contour else "default: no isosurface, but all samples")
        made.add_argument("--array", help="the point array of a .vti file")
        made.add_argument("--shape", nargs=3, type=int, metavar="N", help="of raw samples, slowest axis first")
        made.add_argument("--dtype", help="of raw samples, such as uint8 or >i2; default uint8")
        made.add_argument("--spacing", nargs=3, type=float, metavar="D", help="in place of the file's")
    particles = command("particles", _particles, "make a surface around particles", meshes + "; with * for a sequence")
    particles.add_argument("points", nargs="+", help='.vtp .vtu .vtk .ply .xyz .txt .csv .tsv .npy; '
                           'for a sequence "step_*.vtp"')
    particles.add_argument("--radius", type=float, required=True, help="about half the distance between neighbours")
    particles.add_argument("--kernel", choices=("spline", "gaussian", "polynomial", "spheres"), default="spline")
    particles.add_argument("--cell-size", type=float, default=0.5, help="in radii; default 0.5")
    particles.add_argument("--smoothing", type=float, default=2.0, help="smoothing length in radii; default 2")
    particles.add_argument("--isovalue", type=float, help="default 0.6; for spheres 0")
    particles.add_argument("--anisotropic", action="store_true", help="flat surfaces of fluids")
    particles.add_argument("--arrays", action="store_true", help="interpolate the arrays of the particles")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit status."""
    options = _parser().parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names of files in another encoding
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # not at once: a file may be half written
    try:
        options.run(options)
    except KeyboardInterrupt:
        return 130
    except (ArithmeticError, ImportError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"pmb: {error or type(error).__name__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
