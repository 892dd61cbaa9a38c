#!/usr/bin/env pvpython
# SPDX-License-Identifier: BSD-3-Clause
"""Which way to cut the polygons of a cell into triangles: measures fixed choices side by side.

Usage: pvpython Testing/Benchmarks/cuts.py [--cells N] [--mesh N]
  --cells  cells of each volume that are looked at one by one (2000)
  --mesh   samples per side of the analytic volumes (40)

The points of a cell, and which of them make a polygon, are given; a polygon of n points can be cut in several ways. The
tables compared: `ours` (Kernels/shared/generate_tables.py, whose CUTS this program prints again, from vtkFlyingEdges3D);
`middles`, the largest smallest angle with points at the middles of the edges; and for each criterion the best choice per
polygon that a search over all cuts finds on these very volumes. None has a diagonal inside a face of the cell.

Per volume and table: mean of the smallest angle of a triangle and the share under 10 degrees; mean edge; mean angle
between the normals of neighbours in the whole mesh; area against that of the trilinear surface of the same cells (from
8 x 8 x 8 parts of each); mean distance from the trilinear surface, in cells.
"""
import argparse
import gzip
import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
sys.path[:0] = [os.path.join(ROOT, "Kernels"), os.path.join(ROOT, "Data")]
import generate_tables as tables  # noqa: E402
import scans  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonDataModel import vtkImageData  # noqa: E402
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D  # noqa: E402

INIA19 = "/usr/share/mricron/templates/inia19-t1-brain.nii.gz"
ENDS = numpy.array([tables.edge_corners(e) for e in range(12)])
CORNERS = numpy.array([[c & 1, c >> 1 & 1, c >> 2] for c in range(8)], float)
PARTS = 8


def analytic(name, size):
    """Samples, spacing and isovalue of a function on [-1, 1]^3."""
    z, y, x = numpy.meshgrid(*[numpy.linspace(-1.0, 1.0, size)] * 3, indexing="ij")
    p = 4.0 * numpy.pi
    values = {"sphere": lambda: 0.81 - x * x - y * y - z * z,
              "torus": lambda: 0.09 - (numpy.sqrt(x * x + y * y) - 0.6)**2 - z * z,
              "gyroid": lambda: numpy.sin(p * x) * numpy.cos(p * y) + numpy.sin(p * y) * numpy.cos(p * z)
              + numpy.sin(p * z) * numpy.cos(p * x),
              "cayley": lambda: 1.0 - 16.0 * x * y * z - 4.0 * (x * x + y * y + z * z)}[name]()
    return values, (2.0 / (size - 1),) * 3, {"gyroid": 0.1, "cayley": -0.012}.get(name, 0.003)


def from_image(image, isovalue):
    scalars = vtk_to_numpy(image.GetPointData().GetScalars())
    return scalars.reshape(image.GetDimensions()[::-1]).astype(float), image.GetSpacing(), isovalue


def read_nifti(path, isovalue):
    with gzip.open(path) as stream:
        content = stream.read()
    dims = numpy.frombuffer(content, "<i2", 8, 40)[1:4]
    kind = {2: "<u1", 4: "<i2", 16: "<f4"}[int(numpy.frombuffer(content, "<i2", 1, 70)[0])]
    spacing = tuple(float(s) for s in numpy.frombuffer(content, "<f4", 8, 76)[1:4])
    first = int(numpy.frombuffer(content, "<f4", 1, 108)[0])
    samples = numpy.frombuffer(content, kind, int(numpy.prod(dims)), first)
    return samples.reshape(dims[::-1]).astype(float), spacing, isovalue


def volumes(size):
    """(name, samples, spacing, isovalue) of each volume that is here; no isovalue is a sample's value."""
    for name in ("sphere", "torus", "gyroid", "cayley"):
        yield (name, *analytic(name, size))
    generator = numpy.random.default_rng(1)
    yield "random", generator.random((48, 48, 48)), (1.0, 1.0, 1.0), 0.5
    for name, isovalue in (("ch2", 45.5), ("cranium", 300.5)):
        if os.path.exists(scans.SCANS[name][1]):
            yield (name, *from_image(scans.SCANS[name][0](), isovalue))
    if os.path.exists(INIA19):
        yield ("inia19", *read_nifti(INIA19, 40.5))


def vtk_digits():
    """What CUTS has to be: the cuts of vtkFlyingEdges3D in each case, from 256 volumes of one cell."""
    places = {tuple(p): e for e, p in enumerate(CORNERS[ENDS].mean(1).tolist())}
    digits = ""
    for case in range(256):
        image = vtkImageData()
        image.SetDimensions(2, 2, 2)
        image.GetPointData().SetScalars(numpy_to_vtk(numpy.array([float(case >> c & 1) for c in range(8)]), deep=True))
        contour = vtkFlyingEdges3D()
        contour.SetInputData(image)
        contour.SetValue(0, 0.5)
        contour.Update()
        mesh = contour.GetOutput()
        triangles = []
        if mesh.GetNumberOfPolys():
            edges = [places[tuple(float(v) for v in p)] for p in vtk_to_numpy(mesh.GetPoints().GetData())]
            ids = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
            triangles = [tuple(edges[i] for i in t) for t in ids]
        triangles = {t[t.index(min(t)):] + t[:t.index(min(t))] for t in triangles}
        for loop in tables.loops_of(case):
            if len(loop) > 3:
                digits += f"{[set(cut) <= triangles for cut in tables.cuts_of(loop)].index(True):x}"
    return digits


def by_middles():
    """Each polygon by the largest smallest angle, points at the middles of the edges."""
    points = CORNERS[ENDS].mean(1)

    def worst(cut):
        return round(-min(facets(*points[list(t)])[1] for t in cut), 9), cut

    return [[t for loop in tables.loops_of(case) for t in min(tables.cuts_of(loop), key=worst)] for case in range(256)]


def cases_of(samples, isovalue):
    """The case of each cell; samples of one volume (z, y, x) or of several (volume, z, y, x)."""
    inside = samples >= isovalue
    nz, ny, nx = [s - 1 for s in samples.shape[-3:]]
    case = numpy.zeros((*samples.shape[:-3], nz, ny, nx), numpy.uint8)
    for c in range(8):
        x, y, z = c & 1, c >> 1 & 1, c >> 2
        case |= inside[..., z:z + nz, y:y + ny, x:x + nx].astype(numpy.uint8) << c
    return case


def corner_values(samples, where):
    *volume, k, j, i = where
    return numpy.stack([samples[(*volume, k + (c >> 2), j + (c >> 1 & 1), i + (c & 1))] for c in range(8)], 1)


def weights(u):
    """Weights of the corners at u (..., 3)."""
    return numpy.prod(numpy.where(CORNERS.astype(bool), u[..., None, :], 1.0 - u[..., None, :]), -1)


def trilinear(values, u):
    """Value and gradient of the cells (n, 8) at u (n, m, 3), in units of a cell."""
    value = numpy.einsum("nmc,nc->nm", weights(u), values)
    gradient = []
    for axis in range(3):
        low, high = u.copy(), u.copy()
        low[..., axis], high[..., axis] = 0.0, 1.0
        gradient.append(numpy.einsum("nmc,nc->nm", weights(high) - weights(low), values))
    return value, numpy.stack(gradient, -1)


def edge_points(values, isovalue):
    low, high = values[:, ENDS[:, 0]], values[:, ENDS[:, 1]]
    crossed = (low >= isovalue) != (high >= isovalue)
    t = numpy.where(crossed, (isovalue - low) / numpy.where(crossed, high - low, 1.0), 0.5)
    return CORNERS[ENDS[:, 0]] + t[..., None] * (CORNERS[ENDS[:, 1]] - CORNERS[ENDS[:, 0]])


def facets(a, b, c):
    """Normal of length area, and the smallest angle in degrees."""
    normal = 0.5 * numpy.cross(b - a, c - a)
    sides = numpy.sort(numpy.stack([numpy.linalg.norm(p - q, axis=-1) for p, q in ((a, b), (b, c), (c, a))], -1), -1)
    s, m, l = sides[..., 0], sides[..., 1], sides[..., 2]
    cosine = (m * m + l * l - s * s) / numpy.maximum(2.0 * m * l, 1e-300)
    return normal, numpy.degrees(numpy.arccos(numpy.clip(cosine, -1.0, 1.0)))


BARYCENTRIC = numpy.array([[2, 2, 2], [4, 1, 1], [1, 4, 1], [1, 1, 4]]) / 6.0


def measure_triangle(values, points, triangle, spacing, isovalue):
    """Per cell: area, smallest angle, distance from the trilinear surface in cells, normal."""
    corners = points[:, triangle, :]
    normal, angle = facets(*(corners[:, i] * spacing for i in range(3)))
    value, gradient = trilinear(values, numpy.einsum("qk,nkd->nqd", BARYCENTRIC, corners))
    distance = numpy.abs(value - isovalue) / numpy.maximum(numpy.linalg.norm(gradient, axis=-1), 1e-300)
    return numpy.linalg.norm(normal, axis=-1), angle, numpy.minimum(distance, 1.0).mean(1), normal


def bend(normals, areas, cut):
    """Sum of the angles between neighbours inside a cut, in degrees."""
    total = 0.0
    for i, a in enumerate(cut):
        for b in cut[:i]:
            if len(set(a) & set(b)) == 2:
                cosine = (normals[a] * normals[b]).sum(-1) / numpy.maximum(areas[a] * areas[b], 1e-300)
                total = total + numpy.degrees(numpy.arccos(numpy.clip(cosine, -1.0, 1.0)))
    return total


# Sums over cells, of each cut of each polygon.
SUMS = ("triangles", "angle", "under10", "diagonal", "bend", "area", "distance")


def measure_loop(values, points, loop, spacing, isovalue):
    """{cut: sums in the order of SUMS}; distance is weighted with the area."""
    cuts = [tuple(cut) for cut in tables.cuts_of(list(loop))]
    triangles = {t for cut in cuts for t in cut}
    facts = {t: measure_triangle(values, points, t, spacing, isovalue) for t in triangles}
    areas, normals = {t: f[0] for t, f in facts.items()}, {t: f[3] for t, f in facts.items()}
    sides = {frozenset((loop[i - 1], loop[i])) for i in range(len(loop))}
    result = {}
    for cut in cuts:
        diagonals = {frozenset((t[i], t[(i + 1) % 3])) for t in cut for i in range(3)} - sides
        lengths = sum(numpy.linalg.norm((points[:, a] - points[:, b]) * spacing, axis=-1).sum()
                      for a, b in (tuple(d) for d in diagonals))
        result[cut] = numpy.array([
            len(cut) * len(values), sum(facts[t][1].sum() for t in cut), sum((facts[t][1] < 10.0).sum() for t in cut),
            lengths, numpy.sum(bend(normals, areas, cut)), sum(areas[t].sum() for t in cut),
            sum((facts[t][2] * areas[t]).sum() for t in cut)])
    return result


def parts_area(values, spacing, isovalue, table):
    """Area of the trilinear surface of the cells (n, 8), each in parts."""
    axis = numpy.linspace(0.0, 1.0, PARTS + 1)
    z, y, x = numpy.meshgrid(axis, axis, axis, indexing="ij")
    grid = weights(numpy.stack([x, y, z], -1).reshape(-1, 3))
    fine = (values @ grid.T).reshape(len(values), *x.shape)
    return mesh_area(fine, spacing, isovalue, table)


def mesh_area(samples, spacing, isovalue, table):
    case = cases_of(samples, isovalue)
    where = numpy.nonzero((case != 0) & (case != 255))
    if not where[0].size:
        return 0.0
    points = edge_points(corner_values(samples, where), isovalue) * (numpy.array(spacing) / PARTS)
    total, numbers = 0.0, case[where]
    for number in numpy.unique(numbers):
        chosen = points[numbers == number]
        for t in table[number]:
            total += numpy.linalg.norm(facets(*(chosen[:, i] for i in t))[0], axis=-1).sum()
    return total


def mesh_of(samples, isovalue, table):
    """Points in units of a cell, and triangles, of the whole volume."""
    case = cases_of(samples, isovalue)
    where = numpy.nonzero((case != 0) & (case != 255))
    numbers, keys, places = case[where], [], []
    lower = CORNERS[ENDS[:, 0]].astype(int)
    base = numpy.stack(where[::-1], 1)
    points = edge_points(corner_values(samples, where), isovalue)
    for number in numpy.unique(numbers):
        chosen = numbers == number
        for t in table[number]:
            at = [base[chosen] + lower[e] for e in t]
            keys.append(numpy.stack([((p[:, 2] * samples.shape[1] + p[:, 1]) * samples.shape[2] + p[:, 0]) * 3 + (e >> 2)
                                     for p, e in zip(at, t)], 1))
            places.append(numpy.stack([base[chosen] + points[chosen, e] for e in t], 1))
    keys, places = numpy.concatenate(keys), numpy.concatenate(places)
    _, first, ids = numpy.unique(keys, return_index=True, return_inverse=True)
    return places.reshape(-1, 3)[first], ids.reshape(-1, 3)


def measure_mesh(samples, spacing, isovalue, table):
    """Area, mean edge, mean angle between neighbours, share of these over 30 degrees."""
    points, triangles = mesh_of(samples, isovalue, table)
    points = points * spacing
    normal = facets(*(points[triangles[:, i]] for i in range(3)))[0]
    area = numpy.linalg.norm(normal, axis=1)
    normal /= numpy.maximum(area, 1e-300)[:, None]
    pairs = numpy.sort(numpy.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), 1)
    owner = numpy.tile(numpy.arange(len(triangles)), 3)
    key = pairs[:, 0] * len(points) + pairs[:, 1]
    order = numpy.argsort(key, kind="stable")
    key, owner, pairs = key[order], owner[order], pairs[order]
    both = numpy.nonzero(key[1:] == key[:-1])[0]
    cosine = (normal[owner[both]] * normal[owner[both + 1]]).sum(1)
    angle = numpy.degrees(numpy.arccos(numpy.clip(cosine, -1.0, 1.0)))
    length = numpy.linalg.norm(points[pairs[both, 0]] - points[pairs[both, 1]], axis=1)
    return area.sum(), length.mean(), angle.mean(), (angle > 30.0).mean()


def measure_cells(samples, spacing, isovalue, cells):
    """{loop: {cut: sums}} of a random choice of cells, and the area of their trilinear surface."""
    case = cases_of(samples, isovalue)
    where = numpy.nonzero((case != 0) & (case != 255))
    count = where[0].size
    chosen = numpy.random.default_rng(2).permutation(count)[:cells]
    where = tuple(w[chosen] for w in where)
    values, numbers = corner_values(samples, where), case[where]
    points = edge_points(values, isovalue)
    found = {}
    for number in numpy.unique(numbers):
        pick = numbers == number
        for loop in tables.loops_of(int(number)):
            found[int(number), tuple(loop)] = measure_loop(values[pick], points[pick], loop, numpy.array(spacing), isovalue)
    return found, values


CRITERIA = {"angle": lambda s: -s[1], "diagonal": lambda s: s[3], "bend": lambda s: s[4],
            "distance": lambda s: s[6], "area": lambda s: s[5]}


def search(measured):
    """For each criterion a table: per polygon the best cut, every volume with the same weight."""
    found = {name: [[] for _ in range(256)] for name in CRITERIA}
    for case in range(256):
        for loop in map(tuple, tables.loops_of(case)):
            total = {}
            for sums in measured.values():
                scale = sum(next(iter(cuts.values())) for cuts in sums.values())
                for cut, values in sums.get((case, loop), {}).items():
                    total[cut] = total.get(cut, 0.0) + values / scale
            for name, cost in CRITERIA.items():
                best = min(total, key=lambda cut: (cost(total[cut]), cut)) if total else tables.cuts_of(list(loop))[0]
                found[name][case].extend(best)
    return found


def sums_of(measured, table):
    """The sums of a table over the measured cells."""
    total = numpy.zeros(len(SUMS))
    for (case, _), cuts in measured.items():
        total += next(sums for cut, sums in cuts.items() if set(cut) <= set(table[case]))
    return total


def print_volume(name, volume, measured, reference, choices):
    samples, spacing, isovalue = volume
    for title, table in choices.items():
        sums = sums_of(measured, table)
        area, edge, angle, steep = measure_mesh(samples, spacing, isovalue, table)
        print(f"{name:8} {title:9} angle {sums[1] / sums[0]:6.2f}  <10 {100 * sums[2] / sums[0]:5.2f}%  "
              f"edge {edge / spacing[0]:6.4f}  neighbours {angle:6.3f}  >30 {100 * steep:5.2f}%  mesh {area:.6g}  "
              f"area {100 * (sums[5] / reference - 1):+7.3f}%  distance {sums[6] / sums[5]:.6f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--mesh", type=int, default=40)
    options = parser.parse_args()
    digits = vtk_digits()
    print(f"CUTS: {digits}, {'as' if digits == tables.CUTS else 'NOT as'} in generate_tables.py")
    ours = tables.all_triangles()
    kept, measured, references = {}, {}, {}
    for name, *volume in volumes(options.mesh):
        kept[name] = volume
        measured[name], values = measure_cells(*volume, options.cells)
        references[name] = parts_area(values, volume[1], volume[2], ours)
    choices = {"ours": ours, "middles": by_middles(), **search(measured)}
    for name, volume in kept.items():
        print_volume(name, volume, measured[name], references[name], choices)


if __name__ == "__main__":
    main()
