#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints Kernels/shared/pmb_tables.h: the triangles of a cell for each of the 256 cases.

Usage: python3 Kernels/shared/generate_tables.py > Kernels/shared/pmb_tables.h

Points and loops follow from one rule for a face of a cell:

  Face rule. Walk around the face. Where an edge is crossed, the surface meets the face. With two crossings, one
  segment joins them. With four (the ambiguous face) the two INSIDE corners are cut off, each by a segment of its
  own, so the outside stays connected across the face.

A face's segments depend on its four corners alone, so two cells that share a face draw the same segments: the
mesh has no holes. The segments of the six faces join to closed loops, one point per crossed edge. A loop of n points
is cut into n - 2 triangles, never with a diagonal inside a face of the cell (the neighbour could have the same one, and
an edge would have four triangles). Of the cuts that are left each loop gets the one of VTK's contour filters, so that
the triangles are theirs; CUTS has their numbers, read off vtkFlyingEdges3D. Docs/ALGORITHM.md compares other cuts.

Corner c has the coordinates (c & 1, c >> 1 & 1, c >> 2). Edge e runs along axis e >> 2 from its lower corner:
  x edges 0-3: lower corner (0, e & 1, e >> 1 & 1)
  y edges 4-7: lower corner (e & 1, 0, e >> 1 & 1)
  z edges 8-11: lower corner (e & 1, e >> 1 & 1, 0)
Triangles are counter-clockwise seen from the outside (lower values).
"""
import itertools
import textwrap


def edge_corners(edge):
    """The lower and the upper corner of an edge."""
    axis, first, second = edge >> 2, edge & 1, edge >> 1 & 1
    others = [a for a in range(3) if a != axis]
    lower = first << others[0] | second << others[1]
    return lower, lower | 1 << axis


EDGES = {frozenset(edge_corners(e)): e for e in range(12)}


def face_corners(axis, side):
    """The four corners of a face, counter-clockwise seen from outside the cell."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    ring = [side << axis | a << u | b << v for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return ring if side else ring[::-1]


FACES = [face_corners(axis, side) for axis in range(3) for side in (0, 1)]
FACE_EDGES = [{EDGES[frozenset((f[i], f[(i + 1) % 4]))] for i in range(4)} for f in FACES]
# A hexadecimal digit for each loop of more than three points, in the order of cases and loops: which of cuts_of(loop).
CUTS = ("0140114010218004122213114041171130115331292109300101204396400081000010199151111110f1424f3206171f0435"
        "2310120017160203080010f3f001116101090101550046a313a22f013200001263530851031174540b24f3311202343f8c12"
        "22010411004010")


def face_segments(case, face):
    """Directed segments (from edge, to edge) on a face, one around each run of inside corners."""
    inside = [case >> c & 1 for c in face]
    segments = []
    for i in range(4):
        if inside[i] and not inside[i - 1]:  # a run of inside corners starts here
            j = i
            while inside[(j + 1) % 4]:
                j += 1
            enter = EDGES[frozenset((face[i - 1], face[i]))]
            leave = EDGES[frozenset((face[j % 4], face[(j + 1) % 4]))]
            segments.append((enter, leave))
    return segments


def loops_of(case):
    """The closed loops of a case, each starting at its lowest edge, in order of that edge."""
    follow = dict(s for face in FACES for s in face_segments(case, face))
    loops, seen = [], set()
    for start in sorted(follow):
        if start in seen:
            continue
        loop, edge = [], start
        while edge not in seen:
            seen.add(edge)
            loop.append(edge)
            edge = follow[edge]
        loops.append(loop)
    return loops


def triangulations(loop):
    """All ways to cut a polygon into triangles."""
    if len(loop) < 3:
        yield []
        return
    for k in range(1, len(loop) - 1):
        for left, right in itertools.product(triangulations(loop[:k + 1]), list(triangulations(loop[k:]))):
            yield [(loop[0], loop[k], loop[-1])] + left + right


def cuts_of(loop):
    """The cuts without a diagonal inside a face, in lexicographic order; a triangle begins at its lowest edge."""
    sides = {frozenset((loop[i - 1], loop[i])) for i in range(len(loop))}
    cuts = []
    for triangles in triangulations(loop):
        pairs = {frozenset(p) for t in triangles for p in itertools.combinations(t, 2)}
        if not any(p <= edges for p in pairs - sides for edges in FACE_EDGES):
            cuts.append(sorted(t[t.index(min(t)):] + t[:t.index(min(t))] for t in triangles))
    return sorted(cuts)


def all_triangles(digits=CUTS):
    """The triangles of each case, cut as the digits say."""
    rest = iter(digits)
    cut = lambda loop: cuts_of(loop)[int(next(rest), 16) if len(loop) > 3 else 0]
    return [[t for loop in loops_of(case) for t in cut(loop)] for case in range(256)]


def main():
    cases = all_triangles()
    print("/* SPDX-License-Identifier: BSD-3-Clause")
    print(" * Generated by generate_tables.py, which also states the rules: do not edit. */")
    print("#ifndef PMB_TABLES_H\n#define PMB_TABLES_H\n")
    print('#include "shared/pmb_portability.h"\n')
    print("/* Triangles of a cell, by case: bit c of the case is inside(corner c). */")
    print("PMB_TABLE uint8_t pmb_triangle_count[256] = {")
    for row in range(0, 256, 32):
        print("  " + ", ".join(str(len(t)) for t in cases[row:row + 32]) + ",")
    print("};\n")
    print("/* Three edges per triangle; the unused rest is 0. */")
    print("PMB_TABLE uint8_t pmb_triangle_edges[256][16] = {")
    rows = ["{%s}," % (",~".join(str(e) for t in case for e in t) or "0") for case in cases]
    print(textwrap.indent(textwrap.fill(" ".join(rows), 120), "  ").replace("~", " "))
    print("};\n")
    print("#endif")


if __name__ == "__main__":
    main()
