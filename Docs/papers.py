#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of ./pmb bench --papers: time and memory against size and against density.

usage: papers.py [--check | --markdown] [CSV [SVG]]
  CSV: what bench --papers --out wrote (papers.csv here); SVG: papers.svg here
  --check      writes nothing: does the SVG follow from the CSV? Exit code 77 if there is no CSV.
  --markdown   prints the tables of PAPERS.md instead
"""
import csv
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from drawings import BLUE, DARK, GOLD, GREEN, GREY, RED, Drawing  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# In the order of the legend: name in the file, color, name for people.
SYSTEMS = (("pmb", BLUE, "PMB, this library"), ("pmb2016", "#7fb3dd", "PMB as published"), ("scan", RED, "scan (CUDA SDK)"),
           ("welded", "#8c564b", "scan, welded"), ("hpmc", GREEN, "HistoPyramid 2D"),
           ("hpmc_indexed", "#8fce9f", "HistoPyramid 2D, indexed"), ("hp3d", GOLD, "HistoPyramid 3D"))
FAILED = "fail", "too large"  # outcomes that say how much memory they would have needed
WIDTH, HEIGHT = 1080, 860
PANEL = 410, 270  # the plot itself


def number(text):
    return float(text) if text else 0.0


def read(path):
    """The measured and failed lines, with what is drawn of them."""
    with open(path, encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    for line in lines:
        if None in line.values() or None in line:
            raise SystemExit(f"{path}: a line has not as many columns as the first")
        line["voxels"] = number(line["nx"]) * number(line["ny"]) * number(line["nz"])
        line["ms"], line["ms_first"] = number(line["change_ms"]), number(line["first_ms"])
        line["bytes"] = number(line["acceleration_bytes"]) + number(line["output_bytes"])
    return lines


def ticks(low, high, base):
    """Powers of the base from low to high."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    return [base ** exponent for exponent in range(first, last + 1)]


def short(value):
    for scale, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale * 0.9999:
            return f"{value / scale:g}{unit}"
    return f"{value:g}"


class Panel:
    """A plot with logarithmic axes; points are (x, y, failed)."""

    def __init__(self, drawing, corner, title, x_name, y_name, x_base):
        self.drawing, self.corner, self.x_base = drawing, corner, x_base
        drawing.text((corner[0], corner[1] - 14), title, 16, weight="bold")
        drawing.text((corner[0] + PANEL[0] / 2, corner[1] + PANEL[1] + 40), x_name, 13, anchor="middle")
        drawing.text((corner[0] + 8, corner[1] + 18), y_name, 13)

    def set_range(self, points):
        xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
        self.x = min(xs) / 1.15, max(xs) * 1.15
        self.y = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys) * 1.5))

    def at(self, x, y):
        across = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        up = math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])
        return self.corner[0] + across * PANEL[0], self.corner[1] + (1 - up) * PANEL[1]

    def frame(self, x_ticks):
        d = self.drawing
        for value in ticks(*self.y, 10):
            start = self.at(self.x[0], value)
            d.line(start, (start[0] + PANEL[0], start[1]), "#e3e7ec", 1)
            d.text((start[0] - 6, start[1] + 4), short(value), 12, GREY, "end")
        for value, words in x_ticks:
            start = self.at(value, self.y[0])
            d.line(start, (start[0], start[1] - PANEL[1]), "#e3e7ec", 1)
            d.text((start[0], start[1] + 18), words, 12, GREY, "middle")
        d.box(self.corner, PANEL, stroke=GREY)

    def curve(self, points, color, width):
        """Failed points are crosses, which no line joins."""
        d = self.drawing
        before = None
        for x, y, failed in sorted(points):
            place = self.at(x, y)
            if failed:
                for side in (-1, 1):
                    d.line((place[0] - 4, place[1] - 4 * side), (place[0] + 4, place[1] + 4 * side), color, 2)
                before = None
                continue
            if before:
                d.line(before, place, color, width)
            d.dot(place, 3.2, color)
            before = place


def points_of(lines, table, system, x, y):
    """Of a failed system the bytes that it asked for."""
    points = []
    for line in lines:
        if line["table"] != table or line["system"] != system:
            continue
        if line["outcome"] == "ok" and line[y] > 0:
            points.append((number(line[x]) if isinstance(line[x], str) else line[x], line[y], False))
        elif line["outcome"] in FAILED and y == "bytes" and number(line["asked_bytes"]) > 0:
            points.append((number(line[x]) if isinstance(line[x], str) else line[x], number(line["asked_bytes"]), True))
    return points


def draw_panel(drawing, lines, place, title, axes, table, x, y):
    all_points = {name: points_of(lines, table, name, x, y) for name, _, _ in SYSTEMS}
    flat = [point for points in all_points.values() for point in points]
    if not flat:
        raise SystemExit(f"papers.py: the file has nothing of the table '{table}'")
    panel = Panel(drawing, place, title, axes[0], axes[1], 2)
    panel.set_range(flat)
    if x == "voxels":
        marks = [(value, f"{value / 2 ** 20:g}") for value in ticks(*panel.x, 2) if round(math.log2(value)) % 2 == 1]
    else:
        marks = [(value, f"{value:g}") for value in ticks(*panel.x, 2)]
    panel.frame(marks)
    for name, color, _ in reversed(SYSTEMS):
        panel.curve(all_points[name], color, 2.5 if name == "pmb" else 1.6)


def draw(path, svg):
    lines = read(path)
    sides = [int(line["nx"]) for line in lines if line["table"] == "densities"]
    largest = max(sides, default=0)
    dense = [line for line in lines if line["table"] != "densities" or int(line["nx"]) == largest]
    d = Drawing(WIDTH, HEIGHT)
    devices = sorted({line["device"] for line in lines if line["device"]})
    d.text((60, 30), "A new isovalue, and the memory for it, on " + ", ".join(devices), 18, weight="bold")
    for index, (name, color, words) in enumerate(SYSTEMS):
        x, y = 60 + 250 * (index % 4), 56 + 22 * (index // 4)
        d.line((x, y - 4), (x + 26, y - 4), color, 3)
        d.text((x + 34, y), words, 13, DARK if any(line["system"] == name for line in lines) else GREY)
    d.text((60 + 250 * 3, 78), "x: no memory; what it asked for", 13)
    draw_panel(d, lines, (60, 130), "Cayley's surface: time", ("million (2^20) samples", "ms"), "cayley", "voxels", "ms")
    draw_panel(d, lines, (620, 130), "Cayley's surface: memory", ("million (2^20) samples", "bytes, with the mesh"),
               "cayley", "voxels", "bytes")
    at_side = f"percent of the cells are active, {largest} samples a side"
    draw_panel(d, dense, (60, 510), "Density: time", (at_side, "ms"), "densities", "density", "ms")
    draw_panel(d, dense, (620, 510), "Density: memory", (at_side, "bytes, with the mesh"), "densities", "density", "bytes")
    d.save(os.path.abspath(svg), "papers.py")


TITLES = (("cayley", "PMB (2016), table 2"), ("scans", "PMB (2016), table 3"),
          ("densities", "HistoPyramids (2008), table 1"), ("sizes", "OpenCL (2012), table 1"))


def cell(line, pmb):
    """A baseline's times and memory in PMB's, or why there are none."""
    if line is None:
        return ""
    if line["outcome"] in FAILED and number(line["asked_bytes"]) > 0:
        return f"{line['outcome']}, {number(line['asked_bytes']) / 1e9:.3g} GB"
    if line["outcome"] != "ok" or pmb["outcome"] != "ok":
        return line["outcome"]
    return " / ".join(f"{number(line[name]):.3g}" for name in ("first_ratio", "change_ratio", "memory_ratio"))


def print_table(lines, table, title):
    """A row for each volume: PMB's milliseconds and megabytes, then how many times as much each other system takes."""
    volumes = {}
    for line in lines:
        if line["table"] == table:
            key = tuple(line[name] for name in ("data", "kind", "type", "nx", "ny", "nz", "isovalue", "density"))
            volumes.setdefault(key, {})[line["system"]] = line
    systems = [name for name, _, _ in SYSTEMS[1:] if any(name in systems for systems in volumes.values())]
    if not volumes:
        return
    print(f"#### {title}")
    print("| volume | triangles | PMB: first, change, ms; MB | " + " | ".join(systems) + " |")
    print("|---" * (3 + len(systems)) + "|")
    for (data, kind, kind_of_sample, nx, ny, nz, _, density), of in volumes.items():
        if "pmb" not in of:
            continue
        pmb, active = of["pmb"], f", {number(density):.3g}%" if number(density) > 0 else ""
        own = pmb["outcome"]
        if own == "ok":
            own = f"{pmb['ms_first']:.3g}, {pmb['ms']:.3g}; {pmb['bytes'] / 1e6:.3g}"
        cells = [f"{data} ({kind}) {nx} x {ny} x {nz} {kind_of_sample}{active}", f"{int(number(pmb['triangles'])):,}", own]
        print("|", " | ".join(cells + [cell(of.get(name), pmb) for name in systems]), "|")
    print()
    for ratio in ("first_ratio", "change_ratio", "memory_ratio"):
        others = [line for line in lines if line["table"] == table and line["system"] != "pmb" and number(line[ratio]) > 0]
        for least in sorted(others, key=lambda line: number(line[ratio]))[:1]:
            print(f"Nearest, {ratio}: {number(least[ratio]):.3g}, {least['system']} on {least['data']} ({least['kind']}) "
                  f"{least['nx']} x {least['ny']} x {least['nz']}\n")


def print_markdown(path):
    lines = read(path)
    print("Others: how many times PMB's first extraction / isovalue change / memory with the mesh.\n")
    for table, title in TITLES:
        print_table(lines, table, title)


def main(arguments):
    check, markdown = "--check" in arguments, "--markdown" in arguments
    names = [argument for argument in arguments if argument not in ("--check", "--markdown")]
    if len(names) > 2 or any(name.startswith("-") for name in names) or check and markdown:
        raise SystemExit("usage: papers.py [--check | --markdown] [CSV [SVG]]")
    path = names[0] if names else os.path.join(HERE, "papers.csv")
    svg = names[1] if len(names) > 1 else os.path.join(HERE, "papers.svg")
    if markdown:
        print_markdown(path)
        return
    if not check:
        draw(path, svg)
        return
    if not os.path.exists(path):
        print(f"skipped: there is no {path}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        fresh = os.path.join(folder, "fresh.svg")
        draw(path, fresh)
        with open(fresh, encoding="utf-8") as new, open(svg, encoding="utf-8") as old:
            if new.read() != old.read():
                raise SystemExit(f"{svg} does not follow from {path}; fix: python3 Docs/papers.py")


if __name__ == "__main__":
    main(sys.argv[1:])
