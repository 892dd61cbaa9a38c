# SPDX-License-Identifier: BSD-3-Clause
"""The surface in pieces: its triangles on all ranks, without ghosts, are those of one process. (Pictures by ranks:
test_scenes.py.)

Compared are places, normals, gradients and all arrays, bit for bit. The steps, as test_server.py takes them:
  write FOLDER        one process: the input files, and the surfaces of every case
  ranks FOLDER        pvbatch --symmetric on several ranks: compares each case with that
  client FOLDER PORT  pvpython, with a server of several ranks: likewise, by what the client fetches
"""
import os
import re
import sys

import numpy
from paraview import servermanager, simple
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter, vtkXMLPPolyDataReader

from plugin_testing import (DATA, add_array, arrays_of, compare_triangles, equal, image, load_plugin, points, triangle_rows,
                            true)

SKEW = (0.6, -0.8, 0.0, 0.8, 0.6, 0.0, 0.0, 0.0, 1.0)


# --- input ----------------------------------------------------------------------------------------------------------

def turned(dtype):
    """Noise, so that most cells have triangles, with an extent and a frame in which all values round; other arrays."""
    dims, random = (31, 26, 29), numpy.random.default_rng(5)
    shape = dims[::-1]
    smooth = numpy.add.outer(numpy.add.outer(numpy.arange(29) % 11, numpy.arange(26) % 7), numpy.arange(31) % 13)
    arrays = {"noise": (4 * smooth + random.integers(0, 9, shape)).astype(dtype),
              "real": random.random(shape),
              "vector": random.integers(-9999, 9999, shape + (3,)).astype(numpy.int16)}
    data = image(arrays, dims, origin=(0.3, -17.1, 1e3 / 7), spacing=(-0.1, 0.37, 1.3), first=(-7, 1003, 5))
    data.SetDirectionMatrix(SKEW)
    for name, values in (("cell", numpy.arange(data.GetNumberOfCells())),
                         ("material", random.random((data.GetNumberOfCells(), 2)).astype(numpy.float32))):
        add_array(data.GetCellData(), name, values)
    return data


def write_inputs(folder):
    for dtype in ("float64", "float32", "uint8"):
        writer = vtkXMLImageDataWriter()
        writer.SetFileName(os.path.join(folder, dtype + ".vti"))
        writer.SetInputData(turned(dtype))
        writer.SetDataModeToBinary()  # not appended: see Docs/VERSIONS.md, "What differs"
        true(writer.Write(), "the input could not be written")


def part_of_scan():
    reader = simple.XMLImageDataReader(FileName=[os.path.join(DATA, "ch2.vti")])
    return simple.ExtractSubset(Input=reader, VOI=[60, 130, 100, 170, 60, 119])


def cases(folder):
    """Name, source, array, isovalues, further settings. Integer isovalues equal samples."""
    file = {dtype: (simple.XMLImageDataReader, {"FileName": [os.path.join(folder, dtype + ".vti")]})
            for dtype in ("float64", "float32", "uint8")}
    wavelet = (simple.Wavelet, {"WholeExtent": [-20, 21, -15, 17, -18, 20]})
    scan = (part_of_scan, {})
    for remove in (0, 1):
        yield f"wavelet {remove}", wavelet, "RTData", [157.0, 120.25], {"RemoveDegenerateTriangles": remove}
        for dtype in file:
            yield f"{dtype} {remove}", file[dtype], "noise", [60.0, 47.5], {"RemoveDegenerateTriangles": remove}
        yield f"scan {remove}", scan, "MRI", [45.0], {"RemoveDegenerateTriangles": remove}
    yield "double points", file["uint8"], "noise", [52.0], {"OutputPointsPrecision": "Double"}
    yield "bare", file["float32"], "noise", [47.5], {"PassArrays": 0}
    yield "one cell", (simple.Wavelet, {"WholeExtent": [0, 1] * 3}), "RTData", [100.0], {}  # all other ranks have no data
    yield "stock Contour, accelerated", wavelet, "RTData", [157.0, 120.25], {}


def contour(name, source, array, isovalues, settings):
    from pmb import accelerate_contour
    accelerate_contour(name.startswith("stock"))
    make, arguments = source
    filter_of = simple.Contour if name.startswith("stock") else simple.PMBContour
    return filter_of(Input=make(**arguments), ContourBy=["POINTS", array], Isosurfaces=isovalues, ComputeGradients=1,
                     **settings)


def last_run(proxy):
    from pmb import vtkPMBContourAcceleration
    return getattr(proxy, "LastRun", None) or vtkPMBContourAcceleration.GetLastRunSummary()


# --- steps ----------------------------------------------------------------------------------------------------------

def write(folder):
    write_inputs(folder)
    for name, *how in cases(folder):
        proxy = contour(name, *how)
        proxy.UpdatePipeline()
        rows, ghosts = triangle_rows(servermanager.Fetch(proxy))
        least = 0 if name == "one cell" else 1000
        true(len(rows) > least and ghosts == 0, f"{name}: {len(rows)} triangles, {ghosts} ghosts")
        numpy.save(os.path.join(folder, name + ".npy"), rows)


def check_written(name, proxy, folder, rank, reference):
    """The ranks write one .pvtp file, with ids of ParaView's Generate Global Ids: one for each place, without gaps."""
    path, reader = os.path.join(folder, "written.pvtp"), vtkXMLPPolyDataReader()
    number = getattr(simple, "GlobalPointAndCellIds", None) or simple.GenerateGlobalIds  # its name in 5.11
    numbered = number(Input=proxy)
    simple.SaveData(path, proxy=numbered)
    simple.Delete(numbered)
    if rank == 0:
        reader.SetFileName(path)
        reader.Update()
        mesh = reader.GetOutput()
        ids = arrays_of(mesh.GetPointData())["GlobalPointIds"]
        pairs = numpy.unique(numpy.column_stack([ids, points(mesh).astype(numpy.float64)]), axis=0)
        true(numpy.array_equal(pairs[:, 0], numpy.arange(len(pairs))), f"{name}: ids from 0 on, each at one place")
        equal(len(numpy.unique(pairs[:, 1:], axis=0)), len(pairs), f"{name}: places, each with one id")
        for data, array in ((mesh.GetPointData(), "GlobalPointIds"), (mesh.GetPointData(), "vtkGhostType"),
                            (mesh.GetCellData(), "GlobalCellIds")):
            data.RemoveArray(array)
        compare_triangles(f"{name}, written", triangle_rows(mesh)[0], reference)


def ranks(folder):
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    equal(world.size, int(os.environ["PMB_RANKS"]), "ranks")
    for name, *how in cases(folder):
        proxy = contour(name, *how)
        proxy.UpdatePipeline()
        mesh = proxy.GetClientSideObject().GetOutput()
        parts, reference = world.gather(triangle_rows(mesh)), numpy.load(os.path.join(folder, name + ".npy"))
        if world.rank == 0:
            total = mesh.GetNumberOfPolys()
            said = last_run(proxy)
            # From VTK 9.3 on, stock Contour removes the triangles of ghost cells afterwards.
            removes = name.startswith("stock") and vtkVersion.GetVTKMinorVersion() > 2
            made = int(re.search(r" (\d+) triangles", said).group(1))
            true(made > total if removes else made == total, f"{total} triangles, but the last run is {said!r}")
            pieces = [rows for rows, _ in parts if rows is not None]
            equal(len(pieces), 1 if name == "one cell" else world.size, f"{name}: ranks with triangles")
            equal(min(ghosts for _, ghosts in parts) > 0, len(pieces) > 1 and not removes, f"{name}: all ranks have ghosts")
            compare_triangles(name, numpy.concatenate(pieces), reference)
        if name == "double points" or name.startswith("wavelet"):
            check_written(name, proxy, folder, world.rank, reference)


def client(folder):
    for name, *how in cases(folder):
        proxy = contour(name, *how)
        proxy.UpdatePipeline()
        rows, _ = triangle_rows(servermanager.Fetch(proxy))
        compare_triangles(name, rows, numpy.load(os.path.join(folder, name + ".npy")))


def main(step, folder, port=None):
    if port:
        simple.Connect("127.0.0.1", int(port))
        simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False)  # the class of the proxy
    load_plugin(remote=step != "write")
    {"write": write, "ranks": ranks, "client": client}[step](folder)
    print(f"passed: {step}", flush=True)
    if step == "ranks":  # lines of several ranks may mix
        with open(os.path.join(folder, f"passed.{os.getpid()}"), "x", encoding="utf-8"):
            pass


try:
    main(*sys.argv[1:])
except BaseException as error:  # a rank that stops alone would leave the others waiting
    print(f"FAILED: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    if sys.argv[1] == "ranks":
        from mpi4py import MPI
        MPI.COMM_WORLD.Abort(1)
    os._exit(1)
