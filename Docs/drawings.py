#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the drawings of ALGORITHM.md: python3 Docs/drawings.py writes brick.svg, ownership.svg, ids.svg and
cuts.svg here."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "Kernels", "shared"))
from generate_tables import all_triangles, cuts_of, edge_corners, loops_of  # noqa: E402

BLUE, GREEN, RED, GOLD, GREY, DARK = "#1f77b4", "#2a9d4a", "#d1495b", "#e0a526", "#9aa3ad", "#222831"


class Drawing:
    """Collects SVG elements and writes them to a file."""

    def __init__(self, width, height):
        self.size = width, height
        self.parts = []

    def line(self, start, end, color=DARK, width=1.5, dash=None, arrow=False):
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += ' marker-end="url(#arrow)"' if arrow else ""
        self.parts.append(f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
                          f'stroke="{color}" stroke-width="{width}"{extra}/>')

    def dot(self, place, radius=4.0, fill=DARK, stroke="none"):
        self.parts.append(f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius}" fill="{fill}" '
                          f'stroke="{stroke}" stroke-width="1.3"/>')

    def box(self, corner, size, fill="none", stroke=DARK, width=1.2, dash=None):
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<rect x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{size[0]:.1f}" '
                          f'height="{size[1]:.1f}" fill="{fill}" stroke="{stroke}" stroke-width="{width}"{extra}/>')

    def area(self, places, fill, opacity=1.0, stroke="none"):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        self.parts.append(f'<polygon points="{text}" fill="{fill}" fill-opacity="{opacity}" stroke="{stroke}"/>')

    def text(self, place, words, size=14, color=DARK, anchor="start", weight="normal", family="sans-serif"):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" font-size="{size}" fill="{color}" '
                          f'text-anchor="{anchor}" font-weight="{weight}" font-family="{family}" '
                          f'xml:space="preserve">{words}</text>')

    def code(self, place, words, size=14, color=DARK, anchor="start"):
        self.text(place, words, size, color, anchor, family="DejaVu Sans Mono, monospace")

    def save(self, name, maker="drawings.py"):
        width, height = self.size
        with open(os.path.join(HERE, name), "w", encoding="utf-8") as stream:
            stream.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                         f'width="{width}" height="{height}">\n'
                         f'<!-- SPDX-License-Identifier: BSD-3-Clause; made by {maker} -->\n'
                         '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
                         'markerHeight="7" orient="auto-start-reverse"><path d="M0,0 L10,5 L0,10 z" '
                         f'fill="{DARK}"/></marker></defs>\n'
                         f'<rect width="{width}" height="{height}" fill="white"/>\n')
            stream.write("\n".join(self.parts))
            stream.write("\n</svg>\n")


def oblique(origin, step, depth):
    """A projection of sample indices: x to the right, z up, y to the back."""
    return lambda x, y, z: (origin[0] + step * x + depth[0] * y, origin[1] - step * z - depth[1] * y)


def draw_solid(d, at, size, color):
    """The three visible faces of a box: front (y = 0), right and top."""
    x, y, z = size
    faces = [([(0, 0, 0), (x, 0, 0), (x, 0, z), (0, 0, z)], 1.0), ([(x, 0, 0), (x, y, 0), (x, y, z), (x, 0, z)], 0.7),
             ([(0, 0, z), (x, 0, z), (x, y, z), (0, y, z)], 0.5)]
    for corners, shade in faces:
        places = [at(*corner) for corner in corners]
        d.area(places, "white")
        d.area(places, color, shade, DARK)


def draw_brick():
    """Bricks in a volume; and the samples of one, layer by layer, with the halo above it in x, y and z."""
    d = Drawing(1080, 440)
    d.text((40, 28), "A volume of bricks", 17, weight="bold")
    at = oblique((50, 250), 6.0, (4.0, 3.4))
    for z in range(3):
        for y in range(2, -1, -1):
            for x in range(2):
                chosen = (x, y, z) == (1, 0, 1)
                draw_solid(d, lambda i, j, k, o=(32 * x, 4 * y, 4 * z): at(o[0] + i, o[1] + j, o[2] + k), (32, 4, 4),
                           BLUE if chosen else "#dfe5ec")
                if y == 0:
                    d.text(at(32 * x + 16, 0, 4 * z + 1.3), str(x + 6 * z), 14, "white" if chosen else DARK, "middle")
    d.line(at(0, 0, -1.6), at(20, 0, -1.6), DARK, 1.2, arrow=True)
    d.text(at(21.5, 0, -2.4), "x", 14)
    d.line(at(65.5, 0, 0), at(65.5, 9, 0), DARK, 1.2, arrow=True)
    d.text(at(66.5, 9.5, 0), "y", 14)
    d.line(at(-2, 0, 0), at(-2, 0, 10), DARK, 1.2, arrow=True)
    d.text(at(-4, 0, 11), "z", 14)
    for number, words in enumerate((
            "Bricks are numbered with x fastest, then y, then z; the numbers",
            "of those at the front are shown. The mesh has their parts in this",
            "order, so a volume that is cut into slabs of whole layers of bricks",
            "gives the same mesh piece by piece.")):
        d.text((40, 320 + 22 * number), words, 14)

    left, step = 590, 13.2
    d.text((left, 28), "One brick, layer by layer, with its halo", 17, weight="bold")
    for z in range(5):
        top = 60 + (4 - z) * 70
        for y in range(5):
            for x in range(33):
                own = x < 32 and y < 4 and z < 4
                d.dot((left + x * step, top + (4 - y) * step), 3.6, BLUE if own else "white", BLUE if own else GREY)
        d.text((left - 14, top + 2 * step + 5), f"z = {z}", 14, DARK if z < 4 else GREY, "end")
    d.dot((left + 4, 418), 4.2, BLUE)
    d.text((left + 16, 423), "owned sample")
    d.dot((left + 134, 418), 4.2, "white", GREY)
    d.text((left + 146, 423), "halo: read, owned by a brick above in x, y or z")
    d.save("brick.svg")


def draw_ownership():
    """A sample with its three edges and its cell; and the edges at the border of two bricks."""
    d = Drawing(1000, 400)
    d.text((40, 28), "What a sample owns", 17, weight="bold")
    at = oblique((110, 320), 150, (80, 68))
    cube = [at(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    for a in range(8):
        for bit in (1, 2, 4):
            if not a & bit:
                d.line(cube[a], cube[a | bit], GREY, 1.3, dash="5 4")
    ends = {"x": ((1, 0, 0), BLUE), "y": ((0, 1, 0), GREEN), "z": ((0, 0, 1), RED)}
    for name, (end, color) in ends.items():
        d.line(at(0, 0, 0), at(*end), color, 5)
        middle = at(*(0.5 * value for value in end))
        offset = {"x": (-20, 26), "y": (14, 14), "z": (-62, 4)}[name]
        d.text((middle[0] + offset[0], middle[1] + offset[1]), f"{name} edge", 14, color, weight="bold")
    for place in cube[1:]:
        d.dot(place, 5, "white", GREY)
    d.dot(cube[0], 8, GOLD, DARK)
    d.text((cube[0][0] - 80, cube[0][1] + 30), "sample (i, j, k)", 14)
    d.text((at(0.62, 0.5, 0.62)[0], at(0.62, 0.5, 0.62)[1]), "its cell", 14, anchor="middle")

    d.text((480, 28), "A layer of two bricks: who owns which edge", 17, weight="bold")
    left, top, step = 500, 80, 46
    columns, rows, border = 10, 5, 5
    for row in range(rows):
        for column in range(columns):
            x, y = left + column * step, top + (rows - 1 - row) * step
            color = BLUE if column < border else RED
            if column < columns - 1:
                d.line((x, y), (x + step, y), color, 4)
            if row < rows - 1:
                d.line((x, y), (x, y - step), color, 4)
    for row in range(rows):
        for column in range(columns):
            x, y = left + column * step, top + (rows - 1 - row) * step
            d.dot((x, y), 5.5, BLUE if column < border else RED, "white")
    x = left + (border - 0.5) * step
    d.line((x, top - 22), (x, top + (rows - 1) * step + 22), DARK, 1.5, dash="6 4")
    d.text((x - 12, top - 26), "brick 0", 14, BLUE, "end", "bold")
    d.text((x + 12, top - 26), "brick 1", 14, RED, "start", "bold")
    bottom = top + rows * step
    d.text((left, bottom + 10), "An edge belongs to the sample at its lower end, also where it crosses", 14)
    d.text((left, bottom + 30), "from one brick to the next. So every crossed edge has one point, and", 14)
    d.text((left, bottom + 50), "both bricks use it: no seam. (z edges, out of the drawing, likewise.)", 14)
    d.save("ownership.svg")


def draw_ids():
    """From an edge to the id of its point."""
    d = Drawing(1060, 470)
    d.text((40, 28), "The id of a point: base of the brick + base of the row + points before it in the row", 17,
           weight="bold")
    inside = [1 if 5 <= c <= 11 or 15 <= c <= 16 or c >= 26 else 0 for c in range(33)]
    above = [1 if 4 <= c <= 12 or 26 <= c <= 30 else 0 for c in range(33)]
    left, step, top = 190, 22, 70

    def bits(y, values, label, color, marked=None, count=32):
        d.code((left - 14, y + 16), label, 13, anchor="end")
        for c, value in enumerate(values):
            halo = c >= count
            d.box((left + c * step, y), (step, step), color if value and not halo else "#eef1f4" if halo else "white",
                  GREY, dash="3 2" if halo else None)
            d.code((left + (c + 0.5) * step, y + 16), str(value), 12,
                   "white" if value and not halo else DARK, "middle")
        if marked is not None:
            d.box((left + marked * step, y), (step, step), "none", DARK, 3)

    bits(top, inside, "inside, row y", "#55606e")
    bits(top + 34, above, "inside, row y+1", "#55606e")
    x_mask = [inside[c] ^ inside[c + 1] for c in range(32)]
    y_mask = [inside[c] ^ above[c] for c in range(32)]
    d.text((left + 33.4 * step, top + 16), "halo", 12, GREY)
    bits(top + 84, x_mask, "x edges", BLUE)
    bits(top + 118, y_mask, "y edges", GREEN, marked=15)
    bits(top + 152, [0] * 32, "z edges", RED)
    marked = 15
    before = sum(y_mask[:marked])
    crossed_x = sum(x_mask)
    d.code((left, top + 206), "x: inside ^ (inside >> 1)    y: inside(y) ^ inside(y+1)    "
           "z: inside(z) ^ inside(z+1)", 13)
    y = top + 250
    boxes = [("base[brick]", "points of all active", "bricks before: scan"),
             ("first[row]", "points of the brick's", "rows before: 16 bits"),
             (f"popcount(x mask) = {crossed_x}", "the row's x edges", "come before its y edges"),
             (f"popcount(y mask & below) = {before}", f"y edges of this row at x < {marked}", "")]
    x = 40
    for number, (code, first, second) in enumerate(boxes):
        width = (150, 150, 220, 300)[number]
        d.box((x, y), (width, 70), "#f4f6f8", GREY)
        d.code((x + width / 2, y + 22), code, 13, anchor="middle")
        d.text((x + width / 2, y + 43), first, 12, anchor="middle")
        d.text((x + width / 2, y + 59), second, 12, anchor="middle")
        if number < 3:
            d.text((x + width + 17, y + 42), "+", 20, anchor="middle")
        x += width + 34
    d.text((left + 33.4 * step, top + 134), "< looked up: x = 15", 12)
    y += 100
    d.text((40, y), "A cell at the upper side of a brick has edges that a neighbour owns. Their masks are in the "
           "neighbour's record, found through the", 14)
    d.text((40, y + 20), "map brick -> record; a neighbour with a crossed edge is always active. So the pass "
           "triangles reads masks and sums, never a sample.", 14)
    d.save("ids.svg")


def draw_cut_cell(d, origin, loop, case, triangles):
    """A cell, and the polygon of a case, cut into triangles."""
    at = oblique(origin, 190, (88, 62))
    corners = [at(c & 1, c >> 1 & 1, c >> 2) for c in range(8)]
    for a in range(8):
        for bit in (1, 2, 4):
            if not a & bit:
                d.line(corners[a], corners[a | bit], GREY, 1.3, dash="5 4")
    # Points at unequal heights, so that the ways to cut differ.
    share = {edge: 0.3 + 0.4 * (number % 2) for number, edge in enumerate(loop)}
    places = {}
    for edge in loop:
        low, high = edge_corners(edge)
        t = share[edge]
        places[edge] = tuple((1 - t) * a + t * b for a, b in zip(corners[low], corners[high]))
    for color, triangle in zip((BLUE, GREEN, GOLD), triangles):
        d.area([places[edge] for edge in triangle], color, 0.55, DARK)
    for c in range(8):
        d.dot(corners[c], 6, DARK if case >> c & 1 else "white", DARK)
    for edge in loop:
        d.dot(places[edge], 5, RED)


def draw_cuts():
    """One polygon of five points, cut as VTK does and in another way."""
    d = Drawing(900, 430)
    case = 7
    loop = loops_of(case)[0]
    taken = [t for t in all_triangles()[case]]
    other = next(cut for cut in cuts_of(loop) if set(cut).isdisjoint(taken) and cut != taken)
    for left, words, triangles in ((60, "As VTK cuts it, and this filter", taken), (500, "Another way", other)):
        d.text((left, 30), words, 17, weight="bold")
        draw_cut_cell(d, (left + 20, 330), loop, case, triangles)
    d.dot((66, 402), 6, DARK)
    d.text((80, 407), "inside (sample >= isovalue)")
    d.dot((306, 402), 5, RED)
    d.text((318, 407), "points and polygon are the same; only the diagonals inside the cell differ")
    d.save("cuts.svg")


if __name__ == "__main__":
    draw_cuts()
    draw_brick()
    draw_ownership()
    draw_ids()
