#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of ./pmb bench --papers, time and memory against size and density, and writes the tables of PAPERS.md.

usage: papers.py [--check] [CSV SVG [PAGE]]
  CSV: what bench --papers --out wrote (papers.csv here); SVG: papers.svg here; PAGE: PAPERS.md here
  --check  writes nothing: do the SVG and the page's tables follow from the CSV? Exit code 77 if there is no CSV.
"""
import csv
import math
import os
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from drawings import BLUE, DARK, GOLD, GREEN, GREY, RED, Drawing  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# In the order of the legend: name in the file, color, name for people.
SYSTEMS = (("pmb", BLUE, "PMB, this library"), ("pmb2016", "#7fb3dd", "PMB as published"), ("scan", RED, "scan (CUDA SDK)"),
           ("welded", "#8c564b", "scan, welded"), ("hpmc", GREEN, "HistoPyramid 2D"),
           ("hpmc_indexed", "#8fce9f", "HistoPyramid 2D, indexed"), ("hp3d", GOLD, "HistoPyramid 3D"),
           ("hpmc_chunks", "#0b5d2a", "HistoPyramid, chunks"))
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
    d.text((60, 100), "x: no memory; what it asked for", 13)
    draw_panel(d, lines, (60, 130), "Cayley's surface: time", ("million (2^20) samples", "ms"), "cayley", "voxels", "ms")
    draw_panel(d, lines, (620, 130), "Cayley's surface: memory", ("million (2^20) samples", "bytes, with the mesh"),
               "cayley", "voxels", "bytes")
    at_side = f"percent of the cells are active, {largest} samples a side"
    draw_panel(d, dense, (60, 510), "Density: time", (at_side, "ms"), "densities", "density", "ms")
    draw_panel(d, dense, (620, 510), "Density: memory", (at_side, "bytes, with the mesh"), "densities", "density", "bytes")
    d.save(os.path.abspath(svg), "papers.py")


TITLES = ("cayley", "PMB (2016), table 2"), ("scans", "PMB (2016), table 3")
MARKS = "<!-- from here on by python3 Docs/papers.py -->", "<!-- to here -->"


def cell(line, pmb):
    """A baseline's times and memory in PMB's, or why there are none."""
    if line is None:
        return ""
    if line["outcome"] in FAILED and number(line["asked_bytes"]) > 0:
        return f"{line['outcome']}, {number(line['asked_bytes']) / 1e9:.3g} GB"
    if line["outcome"] != "ok" or pmb["outcome"] != "ok":
        return line["outcome"]
    return " / ".join(f"{number(line[name]):.3g}" for name in ("first_ratio", "change_ratio", "memory_ratio"))


def volumes_of(lines):
    """The lines of each volume, by system; with the ratios of all volumes that have a time of PMB."""
    volumes = {}
    for line in lines:
        if line["table"] not in ("memory", "limits", "clouds"):
            key = tuple(line[name] for name in ("table", "data", "kind", "type", "nx", "ny", "nz", "isovalue", "density"))
            volumes.setdefault(key, {})[line["system"]] = line
    return {key: systems for key, systems in volumes.items() if "pmb" in systems}


def table_text(volumes, table, title):
    """A row for each volume: PMB's milliseconds and megabytes, then how many times as much each other system takes."""
    of_table = {key[1:]: systems for key, systems in volumes.items() if key[0] == table}
    names = [name for name, _, _ in SYSTEMS[1:] if name != "welded" and any(name in of for of in of_table.values())]
    yield f"#### {title}"
    yield "| volume | triangles | PMB: first, change, ms; MB | " + " | ".join(names) + " |"
    yield "|---" * (3 + len(names)) + "|"
    for (data, kind, kind_of_sample, nx, ny, nz, _, density), of in of_table.items():
        pmb, active = of["pmb"], f", {number(density):.3g}%" if number(density) > 0 else ""
        own = pmb["outcome"]
        if own == "ok":
            own = f"{pmb['ms_first']:.3g}, {pmb['ms']:.3g}; {pmb['bytes'] / 1e6:.3g}"
        cells = [f"{data} ({kind}) {nx} x {ny} x {nz} {kind_of_sample}{active}", f"{int(number(pmb['triangles'])):,}", own]
        yield f"| {' | '.join(cells + [cell(of.get(name), pmb) for name in names])} |"
    yield ""


def span(values):
    return f"{min(values):.2f} to {max(values):.2f}"


def nearest_text(volumes):
    """The nearest of the other systems, by groups of rows."""
    groups = (("`cayley`", lambda key: key[0] == "cayley"),
              ("others of 4 million samples or more", lambda key: key[0] != "cayley" and samples_of(key) >= 4e6),
              ("others, smaller", lambda key: key[0] != "cayley" and samples_of(key) < 4e6))
    yield "| the nearest system, of PMB's | rows | first extraction | isovalue change | memory |"
    yield "|---|---|---|---|---|"
    for words, holds in groups:
        rows = [systems for key, systems in volumes.items() if holds(key) and len(systems) > 1]
        if not rows:
            continue
        cells = []
        for ratio in ("first_ratio", "change_ratio", "memory_ratio"):
            best = [min((number(line[ratio]), line["system"]) for name, line in of.items()
                        if name != "pmb" and number(line[ratio]) > 0) for of in rows]
            names = sorted({name for _, name in best}, key=lambda name: (-sum(other == name for _, other in best), name))
            cells.append(f"{span([value for value, _ in best])} ({', '.join(names)})")
        yield f"| {words} | {len(rows)} | {' | '.join(cells)} |"
    yield ""


def samples_of(key):
    return float(key[4]) * float(key[5]) * float(key[6])


def ranking_text(volumes):
    """How many times as fast the published PMB is as the HistoPyramid, each with and without what it has here alone."""
    yield "| how many times as fast | rows | isovalue change: range, median | slower in | first extraction: range, median |"
    yield "|---|---|---|---|---|"
    for fast, slow in (("pmb2016", "hpmc"), ("pmb2016_forward", "hpmc"), ("pmb2016", "hpmc_fetch"),
                       ("pmb2016_forward", "hpmc_fetch")):
        pairs = [(of[slow], of[fast]) for of in volumes.values() if slow in of and fast in of]
        pairs = [(a, b) for a, b in pairs if a["outcome"] == b["outcome"] == "ok"]
        if pairs:
            change = [number(a["change_ms"]) / number(b["change_ms"]) for a, b in pairs]
            first = [number(a["first_ms"]) / number(b["first_ms"]) for a, b in pairs]
            yield (f"| {fast} against {slow} | {len(pairs)} | {span(change)}, {statistics.median(change):.2f} | "
                   f"{sum(value < 1 for value in change)} | {span(first)}, {statistics.median(first):.2f} |")
    yield ""


def limits_text(lines):
    """The largest volume of each system in little memory."""
    largest = {}
    for line in lines:
        if line["table"] == "limits" and line["outcome"] == "ok":
            largest.setdefault((line["data"].split(" in ")[1], line["kind"]), {})[line["system"]] = line
    names = [name for name, _, _ in SYSTEMS if any(name in of for of in largest.values())]
    if not names:
        return
    yield "| memory, samples | " + " | ".join(names) + " |"
    yield "|---" * (1 + len(names)) + "|"
    for (memory, kind), of in largest.items():
        cells = [f"{of[name]['nx']} x {of[name]['ny']} x {of[name]['nz']}; {of[name]['ms']:.3g}" if name in of else ""
                 for name in names]
        yield f"| {memory}, {kind} | {' | '.join(cells)} |"
    yield ""
    for (memory, kind), of in largest.items():
        if "pmb2016" in of:
            times = [f"{of['pmb2016']['voxels'] / of[name]['voxels']:.3g} times as many as {name}" for name in names
                     if name in of and not name.startswith("pmb")]
            yield f"- {memory}, {kind}: pmb2016 has {', '.join(times)}."
    yield ""


def clouds_text(lines):
    """Animated particles: milliseconds of a step, of its mesh without the potential, and megabytes."""
    clouds = {}
    for line in lines:
        if line["table"] == "clouds" and line["outcome"] == "ok":
            cell_text = f"{line['ms_first']:.3g}, {line['ms']:.3g}; {line['bytes'] / 1e6:.3g}"
            counts, of = clouds.setdefault((line["data"], line["nx"]), ({}, {}))
            counts[f"{int(number(line['triangles'])):,}"] = of[line["system"]] = cell_text
    for n, ((data, side), (counts, of)) in enumerate(clouds.items()):
        if n == 0:
            yield "| cloud | triangles | " + " | ".join(of) + " |"
            yield "|---" * (2 + len(of)) + "|"
        yield f"| {data}, {side}^3 cells | {' and '.join(counts)} | {' | '.join(of.values())} |"
    if clouds:
        yield ""


def page_text(lines):
    volumes = volumes_of(lines)
    parts = [nearest_text(volumes), ranking_text(volumes), limits_text(lines), clouds_text(lines)]
    parts += [table_text(volumes, table, title) for table, title in TITLES]
    return "\n".join(line for part in parts for line in part)


def write_page(lines, old, new):
    """Writes a page with the tables of the file."""
    with open(old, encoding="utf-8") as stream:
        page = stream.read()
    begin, end = page.index(MARKS[0]) + len(MARKS[0]), page.index(MARKS[1])
    with open(new, "w", encoding="utf-8") as stream:
        stream.write(f"{page[:begin]}\n{page_text(lines)}{page[end:]}")


def main(arguments):
    check = arguments[:1] == ["--check"]
    names = arguments[1:] if check else arguments
    if len(names) not in (0, 2, 3) or any(name.startswith("-") for name in names):
        raise SystemExit("usage: papers.py [--check] [CSV SVG [PAGE]]")
    path, *written = names or [os.path.join(HERE, name) for name in ("papers.csv", "papers.svg", "PAPERS.md")]
    if check and not os.path.exists(path):
        print(f"skipped: there is no {path}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name in written:
            fresh = os.path.join(folder, "fresh") if check else name
            if name == written[0]:
                draw(path, fresh)
            else:
                write_page(read(path), name, fresh)
            with open(fresh, encoding="utf-8") as new, open(name, encoding="utf-8") as old:
                if new.read() != old.read():
                    raise SystemExit(f"{name} does not follow from {path}; fix: python3 Docs/papers.py")


if __name__ == "__main__":
    main(sys.argv[1:])
