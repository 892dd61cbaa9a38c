# SPDX-License-Identifier: BSD-3-Clause
"""Times pieces of a volume on 1, 2, 4 and 8 processes of this machine, each with its samples, a layer of ghost cells and
threads of its own, as a rank of MPI has them: ranks exchange nothing while they contour. float32, normals, on the CPU.

strong: a volume of --side^3 samples is cut. weak: each process has half the side. bind: a volume that was not seen before;
change: another isovalue. A time is that of the slowest process, the median of --repeats. by work: the time of one process,
times the part of its work (samples, triangles) that the fullest piece has. equal: whether those without ghosts
are as many as one process makes."""
import os
import statistics
import subprocess
import sys

import numpy
import pmb

from bench_common import ISOVALUES, cayley, gyroid, milliseconds, parser_of

parser = parser_of(__doc__)
parser.add_argument("--side", type=int, default=512, help="samples per side of the volume that is cut (512)")
parser.add_argument("--threads", type=int, default=max(1, len(os.sched_getaffinity(0)) // 8),
                    help="of each process (an eighth of the cores)")
parser.add_argument("--most", type=int, default=8, help="processes at most (8)")
parser.add_argument("--repeats", type=int, default=7, help="binds and changes of which the median is printed (7)")
parser.add_argument("--piece", nargs=4, help="for this program itself: a field, and the range of cells along z, y and x")
options = parser.parse_args()


def pieces(cells, count):
    """Boxes of cells: the halves of halves, along z, y and x in turn."""
    boxes = [[(0, n) for n in cells]]
    for axis in range(count.bit_length() - 1):
        cut = []
        for box in boxes:
            begin, end = box[axis % 3]
            for part in (begin, (begin + end) // 2), ((begin + end) // 2, end):
                cut.append(box[:axis % 3] + [part] + box[axis % 3 + 1:])
        boxes = cut
    return boxes


def contour_piece(name, ranges, whole):
    """Is a process: makes its samples, then binds or contours at each word that comes, and answers with milliseconds."""
    boxes = [tuple(map(int, text.split(":"))) for text in ranges]
    read = [(max(begin - 1, 0), min(end + 1, n)) for (begin, end), n in zip(boxes, whole)]
    step = 2 / (options.side - 1)
    z, y, x = (numpy.arange(begin, end + 1, dtype=numpy.float32) * numpy.float32(step) - 1 for begin, end in read)
    place = x[None, None, :], y[None, :, None], z[:, None, None]
    k = numpy.float32(numpy.pi * options.side / 32)
    samples = numpy.ascontiguousarray(cayley(*place) if name == "cayley" else gyroid(*place, k), numpy.float32)
    pmb.set_threads(options.threads)
    volume, isovalue = pmb.Volume(samples, device="cpu"), ISOVALUES[name]
    mesh = volume.contour(isovalue, _cells=True)
    cells = numpy.unravel_index(mesh.arrays[""], [n - 1 for n in samples.shape])
    own = numpy.ones(len(mesh.triangles), bool)
    for cell, (first, _), (begin, end) in zip(cells, read, boxes):
        own &= (cell + first >= begin) & (cell + first < end)
    print(samples.size, len(mesh.triangles), numpy.count_nonzero(own), flush=True)
    del mesh, cells, own
    for number, word in enumerate(sys.stdin):
        level = isovalue * (1 + 1e-4 * number)
        print(milliseconds(volume.update if word == "bind\n" else lambda at=level: volume.contour(at)), flush=True)


def run(name, cells, count):
    """Returns medians of bind and change, the fullest piece (samples, triangles), and the triangles that are no ghosts."""
    whole = ":".join(map(str, cells))
    own = ["--side", options.side, "--threads", options.threads]
    processes = [subprocess.Popen([sys.executable, __file__, *map(str, own), "--piece", name, *(f"{b}:{e}" for b, e in box)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "PMB_BENCH_CELLS": whole, "PMB_GPU": "off"})
                 for box in pieces(cells, count)]
    made = [[int(word) for word in process.stdout.readline().split()] for process in processes]
    medians = []
    for word in "bind", "change":
        times = []
        for _ in range(options.repeats):
            for process in processes:
                process.stdin.write(word + "\n")
                process.stdin.flush()
            times.append(max(float(process.stdout.readline()) for process in processes))
        medians.append(statistics.median(times))
    for process in processes:
        process.stdin.close()
        process.wait()
    samples, triangles, kept = zip(*made)
    return medians, (max(samples), max(triangles)), sum(kept)


def main():
    print(f"threads of a process: {options.threads}; cores: {len(os.sched_getaffinity(0))}")
    for name, kind in ("cayley", "strong"), ("gyroid", "strong"), ("gyroid", "weak"):
        print(f"{name}, {kind}\n| processes | bind ms | by work | change ms | by work | triangles | equal |", flush=True)
        for count in (n for n in (1, 2, 4, 8) if n <= options.most):
            cells, halves = [options.side - 1] * 3, count.bit_length() - 1
            if kind == "weak":
                cells = [(options.side // 2 << (axis < halves)) - 1 for axis in range(3)]
            medians, work, triangles = run(name, cells, count)
            first = (medians, work, triangles) if count == 1 else first
            model = [ms * now / then for ms, now, then in zip(first[0], work, first[1])]
            same = kind == "weak" or triangles == first[2]
            print(f"| {count} | {medians[0]:.1f} | {model[0]:.1f} | {medians[1]:.1f} | {model[1]:.1f} | {triangles:,} | "
                  f"{'-' if kind == 'weak' else 'yes' if same else 'NO'} |", flush=True)


if options.piece:
    contour_piece(options.piece[0], options.piece[1:], [int(n) for n in os.environ["PMB_BENCH_CELLS"].split(":")])
else:
    main()
