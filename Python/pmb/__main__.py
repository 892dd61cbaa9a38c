# SPDX-License-Identifier: BSD-3-Clause
"""The command line: pmb contour, pmb particles, pmb render."""
from __future__ import annotations

import argparse
import glob
import os
import re
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pmb

from ._readers import read_points, read_volume


def _bar(label: str) -> Callable[[float], object] | None:
    """Draws the progress on a terminal."""
    if not sys.stderr.isatty():
        return None

    def draw(fraction: float) -> None:
        done = int(30 * fraction)
        end = "\n" if fraction >= 1 else ""
        sys.stderr.write(f"\r{label} [{'#' * done}{' ' * (30 - done)}] {100 * fraction:3.0f}%{end}")
        sys.stderr.flush()

    return draw


def _volume(options: argparse.Namespace, progress: Callable[[float], object] | None) -> pmb.Volume:
    scan = read_volume(options.volume, options.array, options.shape, options.dtype)
    return pmb.Volume(scan.array, options.spacing or scan.spacing, scan.origin, scan.direction, device=options.device,
                      progress=progress)


def _contour(options: argparse.Namespace) -> None:
    with _volume(options, _bar("read ")) as volume:
        isovalues = options.isovalues or volume.suggest(1)
        if not isovalues:
            raise ValueError(f"{options.volume} has no isosurface: all samples are equal or none is finite")
        mesh = volume.contour(isovalues, normals=not options.no_normals, progress=_bar("write"))
    mesh.save(options.output)
    print(f"{options.output}: {len(mesh.triangles)} triangles, isovalue {' '.join(f'{value:g}' for value in isovalues)}")
    if options.measure:
        for name, value in mesh.measure()._asdict().items():
            print(f"{name} {value:g}")


def _files(pattern: str, output: str) -> list[tuple[str, str]]:
    """Pairs of an input and its output. A * in the output stands for what the first * or run of ? of the input matches."""
    if not {"*", "?"} & set(pattern):
        if "*" in output:
            raise ValueError(f"* of the output {output} is what * of the input matches, but {pattern} has none")
        return [(pattern, output)]
    found = sorted(glob.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no file matches {pattern}")
    if "*" not in output:
        raise ValueError(f"{len(found)} files match {pattern}: the output {output} needs a * too")
    place = re.compile(re.sub(r"(\\\?)+", lambda run: f"({'.' * (len(run[0]) // 2)})",
                              re.escape(pattern).replace(r"\*", "(.*)")))
    pairs = []
    for path in found:
        match = place.fullmatch(path)
        pairs.append((path, output.replace("*", match[1] if match else os.path.splitext(os.path.basename(path))[0])))
    outputs = [name for _, name in pairs]
    twice = sorted({name for name in outputs if outputs.count(name) > 1})
    if twice:
        raise ValueError(f"several files that match {pattern} would become {twice[0]}: only its first * counts")
    return pairs


def _particles(options: argparse.Namespace) -> None:
    for path, output in _files(options.points, options.output):
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise ValueError(f"the output {output} is the input: choose another name")
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

    with open(path, "wb") as file:
        head = struct.pack(">2I5B", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def _render(options: argparse.Namespace) -> None:
    if not options.output.lower().endswith(".png"):
        raise ValueError(f"pictures are written as .png, not as {options.output}")
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
    particles.add_argument("points", help='.vtp .vtu .ply .xyz .csv .npy, or a sequence such as "step_*.vtp"')
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
