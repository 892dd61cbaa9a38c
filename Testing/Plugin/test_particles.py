# SPDX-License-Identifier: BSD-3-Clause
"""PMB Particle Surface: its surfaces, normals and arrays, the radius that it finds, ghosts, blocks, images, bad input,
aborting."""
import tempfile

import numpy
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkSOADataArrayTemplate, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPolyData, vtkStructuredGrid, vtkUnstructuredGrid
from vtkmodules.vtkFiltersCore import vtkMultiObjectMassProperties
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

from plugin_testing import (Messages, check_mesh, cloud, counts, equal, load_plugin, near, output, point_array, points,
                            producer, run, triangles, true)


def surface(data, **options):
    return simple.PMBParticleSurface(Input=producer(data), **options)


def lattice(count=8, dtype=numpy.float32):
    z, y, x = numpy.mgrid[0:count, 0:count, 0:count]
    return numpy.stack([x, y, z], axis=-1).reshape(-1, 3).astype(dtype)


def closed(mesh):
    check_mesh(mesh, [numpy.nan] * 3, [numpy.nan] * 3, strict=True)
    return mesh


def apply_gives_a_surface():
    """Default radius: computed from the data, in any unit of length. Active scalars are neither radius nor mass."""
    for scale, kind, dtype in ((1.0, vtkPolyData, numpy.float32), (1e-6, vtkUnstructuredGrid, numpy.float64)):
        data = cloud(lattice(dtype=dtype) * scale, kind, pressure=numpy.arange(512.0))
        data.GetPointData().SetActiveScalars("pressure")
        proxy = surface(data)
        mesh = closed(output(proxy))
        proxy.UpdatePropertyInformation()
        near(proxy.GetPropertyValue("UsedRadius"), 0.5 * scale, 1e-6 * scale, "the radius")
        true(5000 < mesh.GetNumberOfPolys() < 50000, f"{mesh.GetNumberOfPolys()} triangles")
        low, high = points(mesh).min(axis=0) / scale, points(mesh).max(axis=0) / scale
        true((low > -1).all() and (low < 0).all() and (high > 7).all() and (high < 8).all(), f"from {low} to {high}")


def used_radius(proxy):
    proxy.UpdatePropertyInformation()
    return proxy.GetPropertyValue("UsedRadius")


def field(mesh, name):
    return mesh.GetFieldData().GetArray(name).GetValue(0)


def expected_radius(places):
    """By brute force: the medians over 1000 points of the distances to the 1st, 2nd, 3rd and 12th nearest other place."""
    count = min(len(places), 1000)
    samples = places[numpy.arange(count) * len(places) // count].astype(float)
    others = numpy.unique(places[numpy.isfinite(places).all(axis=1)].astype(float), axis=0)
    distances = []
    for sample in samples[numpy.isfinite(samples).all(axis=1)]:
        away = numpy.sort(numpy.linalg.norm(others - sample, axis=1))
        distances.append(away[away > 0][[0, 1, 2, 11]] if len(away) > 12 else away[[1] * 4])
    first, second, third, last = numpy.sort(distances, axis=0)[(len(distances) - 1) // 2]
    if len(others) <= 12:
        return first / 2
    ratio = last / third
    even = max(second, last * (0.5 ** 0.5 if ratio < 1.75 else 1 / 2 if ratio < 2.5 else 1 / 6))
    return (even + 0.3 * (even - first)) / 2


def radius_of_unusual_clouds():
    random = numpy.random.default_rng(3)
    flat = random.random((3000, 3)) * [50, 20, 0]
    far = 1e7 + random.random((2000, 3))
    holes = random.random((2500, 3))
    holes[::3] = numpy.nan
    speck = numpy.concatenate([random.random((900, 3)) * 1e-6, random.random((1600, 3)) * 100])
    most_in_a_speck = numpy.concatenate([random.random((900, 3)) * 1e-6, random.random((800, 3)) * 100])
    twice = numpy.repeat(random.random((700, 3)).astype(numpy.float32), 3, axis=0)
    two = random.integers(0, 2, (5000, 1)) * numpy.ones((1, 3))
    for places in (flat, far, holes, speck, most_in_a_speck, twice, two, far[:2], flat[:1500, ::-1] * -1e-9,
                   random.integers(-99, 99, (4000, 3)).astype(numpy.int16), random.standard_cauchy((3000, 3))):
        expected = expected_radius(places)
        proxy = surface(cloud(places), Kernel="Metaballs", CellSize=50.0)
        with Messages():  # points that are not finite
            output(proxy)
            near(used_radius(proxy), expected, 1e-9 * expected, f"the radius of {len(places)} points")


def radius_of_usual_clouds():
    """About half the spacing, and one body: of lattices, points in disorder, a dam, scans. Bonds of water do not count."""
    random = numpy.random.default_rng(4)
    block, sheet = lattice(20, float), lattice(40, float)[:1600]
    ball = random.normal(size=(6000, 3))
    ball *= (6000 / 4 / numpy.pi) ** 0.5 / numpy.linalg.norm(ball, axis=1)[:, None]
    x, y, _ = block.T
    dam = block[block[:, 2] < 10 + 4 * numpy.sin(x / 4) + 3 * numpy.cos(y / 3)]
    bodies = {f"jitter {most}": block + random.uniform(-most, most, block.shape) for most in (0, 0.1, 0.2, 0.3)}
    bodies.update({"dam": dam + random.uniform(-0.3, 0.3, dam.shape), "sheet": sheet, "scan of a ball": ball,
                   "sheet, jitter 0.2": sheet + random.uniform(-0.2, 0.2, sheet.shape) * [1, 1, 0],
                   "noisy scan": ball + 0.2 * random.normal(size=ball.shape),
                   "body-centred": numpy.concatenate([lattice(12, float), lattice(12, float) + 0.5]) * 2 ** (1 / 3)})
    for name, places in bodies.items():
        proxy = surface(cloud(places), ComputeSurfaceMeasures=1)
        mesh = closed(output(proxy))
        near(used_radius(proxy), 0.53, 0.06, f"{name}: the radius")
        true(field(mesh, "Components") <= (2 if "scan" in name else 1), f"{name}: {field(mesh, 'Components')} bodies")
    oxygen = lattice(12, float) * 3.1 + random.uniform(-0.3, 0.3, (1728, 3))
    bond = random.normal(size=(2, 1728, 3))
    bond *= 0.96 / numpy.linalg.norm(bond, axis=2)[:, :, None]
    water = numpy.concatenate([oxygen, oxygen + bond[0], oxygen + bond[1]])
    proxy = surface(cloud(water), ComputeSurfaceMeasures=1)
    equal(field(output(proxy), "Components"), 1, "bodies of water")
    near(used_radius(proxy), 1.4, 0.3, "the radius of water")


def radius_over_time():
    """A radius stays when only the time changes, also if a setting changes then. Other data, or Keep Radius Off: anew."""
    with tempfile.TemporaryDirectory() as folder:
        def series(scale):
            names = [f"{folder}/{scale}_{step}.vtp" for step in range(4)]
            for step, name in enumerate(names):
                writer = vtkXMLPolyDataWriter()
                writer.SetFileName(name)
                writer.SetInputData(cloud(lattice(8 if step else 2, float)[:512 if step else 2] * (1 + 0.05 * step) * scale))
                writer.Write()
            return names

        judge_radii(series)


def judge_radii(series):
    source = simple.XMLPolyDataReader(FileName=series(1))
    proxy = simple.PMBParticleSurface(Input=source)

    def at(time_step):
        proxy.UpdatePipeline(time_step)
        return used_radius(proxy)

    near(at(0.0), 0.5, 1e-6, "of two points")
    near(at(1.0), 0.525, 1e-6, "of the first step with points enough")
    near(at(3.0), 0.525, 1e-6, "a later step")
    proxy.CellSize = 0.6
    near(at(3.0), 0.525, 1e-6, "after another setting")
    proxy.KeepRadius = 0
    near(at(3.0), 0.575, 1e-6, "found anew")
    proxy.KeepRadius = 1
    near(at(2.0), 0.575, 1e-6, "kept again")
    source.FileName = series(10)
    near(at(2.0), 5.5, 1e-6, "of other data at the same time")


def two_resolutions():
    """Particles of two sizes make one body: without masses these are in proportion to the cubes of the radii."""
    fine = lattice(16, float) * 0.5
    fine = fine[fine[:, 0] < 4]
    coarse = lattice(8, float) + 0.25
    coarse = coarse[coarse[:, 0] > 4]
    places, radius = numpy.concatenate([fine, coarse]), numpy.repeat([0.25, 0.5], [len(fine), len(coarse)])
    data = cloud(places, size=radius, mass=8 * radius ** 3, weight=radius, zero=0 * radius)
    proxy = surface(data, RadiusArray=["POINTS", "size"], ComputeSurfaceMeasures=1)
    alone = closed(output(proxy))
    equal((field(alone, "Components"), field(alone, "EulerNumber")), (1, 2), "bodies and Euler number")
    near(field(alone, "Volume"), 8 * 8 * 8, 40, "volume")
    equal([field(alone, name) for name in ("Isovalue", "Closed", "BoundaryEdges", "NonManifoldEdges")], [0.6, 1, 0, 0],
          "the other measures")
    proxy.MassArray = ["POINTS", "mass"]
    near(numpy.abs(points(output(proxy)) - points(alone)).max(), 0, 1e-3, "points with these masses")
    proxy.MassArray = ["POINTS", "None"]
    proxy.DensityArray = ["POINTS", "size"]
    true(counts(output(proxy)) != counts(alone), "another surface with densities")
    blobs = surface(data, Kernel="Metaballs", Radius=0.5)
    before = counts(output(blobs))
    blobs.MassArray = blobs.DensityArray = ["POINTS", "zero"]  # of the spline
    equal(counts(output(blobs)), before, "metaballs with masses")
    blobs.WeightArray = ["POINTS", "weight"]
    true(counts(output(blobs)) != before, "another surface with weights")


def far_from_the_origin():
    """UTM coordinates: the surface of the same points at the origin, in double; single on request."""
    random = numpy.random.default_rng(5)
    places = numpy.round((lattice(9, float) + random.uniform(-0.2, 0.2, (729, 3))) * 4096) / 4096
    shift = numpy.array([5e5, 4.5e6, -1024])
    here = closed(output(surface(cloud(places), Radius=0.5, ComputeSurfaceMeasures=1)))
    proxy = surface(cloud(places + shift), Radius=0.5, ComputeSurfaceMeasures=1)
    there = closed(output(proxy))
    equal(points(there).dtype, numpy.float64, "the type of points")
    true(numpy.array_equal(triangles(there), triangles(here)), "the same triangles")
    true(numpy.array_equal(point_array(there, "Normals"), point_array(here, "Normals")), "the same normals")
    near(numpy.abs(points(there) - shift - points(here)).max(), 0, 2e-9, "the points")
    near(field(there, "Area") / field(here, "Area"), 1, 1e-6, "the area")
    near(field(there, "Volume") / field(here, "Volume"), 1, 1e-6, "the volume")
    for data, precision, dtype in ((places, "Single", numpy.float32), (places.astype("f"), "Same as input", numpy.float32),
                                   (places.astype("f"), "Double", numpy.float64)):
        proxy = surface(cloud(data), Radius=0.5, OutputPointsPrecision=precision)
        equal(points(output(proxy)).dtype, dtype, f"{precision} of {data.dtype}")
    with Messages() as log:
        output(surface(cloud((places + shift).astype("f")), Radius=0.5))
    text = "In single precision, points at 4.5e+06 from the origin are about 0.536442 apart, and cells have a size of 0.25"
    equal((log.text().count(text), log.text().count("Warning:")), (1, 1), log.text())


def strays():
    """A particle far away adds its surface; what lies beyond any index is left out, with one warning."""
    places = numpy.concatenate([lattice(6, float), [[1e8, -1e8, 3e8], [1e300, 0, 0], [numpy.nan, 0, 0]]])
    for settings in ({"Radius": 0.5}, {}, {"Radius": 0.5, "ComputeImage": 1}):
        proxy = surface(cloud(places, mark=numpy.arange(len(places))), ComputeSurfaceMeasures=1, **settings)
        with Messages() as log:
            mesh = closed(output(proxy))
        equal(field(mesh, "Components"), 2, "bodies")
        stray = points(mesh)[:, 0] > 1e7
        true(numpy.abs(points(mesh)[stray] - places[-3]).max() < 1, "around the stray")
        near(point_array(mesh, "mark")[stray].min(), len(places) - 3, 0, "its mark")
        text = ("2 of 219 points have a position that is not finite or too far away, and are ignored: "
                "point 217 at (1e+300, 0, 0) is the first.")
        equal((log.text().count(text), log.text().count("Warning:"), log.text().count("ERROR")), (1, 1, 0), log.text())


def ids():
    """VTK's filters read ids of 64 bits, which are the default; of 32 bits on request."""
    proxy = surface(cloud(numpy.zeros((1, 3))), Kernel="Spheres", Radius=1.0, CellSize=0.2)
    wide = output(proxy)
    mass = vtkMultiObjectMassProperties()
    mass.SetInputData(wide)
    mass.Update()
    near(mass.GetTotalVolume(), 4 / 3 * numpy.pi, 0.15, "volume of a sphere")
    proxy.Use64bitIds = proxy.ComputeNormals = 0
    narrow = output(proxy)
    equal(point_array(narrow, "Normals"), None, "normals that are not wanted")
    arrays = [mesh.GetPolys().GetConnectivityArray() for mesh in (wide, narrow)]
    equal([array.GetDataTypeSize() for array in arrays], [8, 4], "bytes of an id")
    true(numpy.array_equal(*map(vtk_to_numpy, arrays)), "the same ids")


def arrays():
    """Passes point arrays: smooth ones keep their values at the surface, integers are rounded, ghosts have no effect."""
    places = lattice(10, numpy.float64)
    velocity = numpy.stack([places[:, 0], 2 * places[:, 1], numpy.ones(len(places))], axis=1).astype(numpy.float32)
    data = cloud(places, velocity=velocity, constant=numpy.full(len(places), 7, numpy.int16),
                 side=(places[:, 2] > 4.5).astype(numpy.uint8), Normals=velocity)
    data.GetPointData().SetActiveVectors("velocity")
    for kernel in ("SPH Spline", "Gaussian", "Metaballs", "Spheres"):
        proxy = surface(data, Kernel=kernel)
        mesh = closed(output(proxy))
        at, found = points(mesh), point_array(mesh, "velocity")
        inside = numpy.clip(at, 0, 9)
        true(numpy.abs(found - inside * [1, 2, 0] - [0, 0, 1]).max() < 2.1, "velocities near those of the particles")
        true(numpy.abs(found[:, 2] - 1).max() < 1e-6, "a component that is constant")
        true((point_array(mesh, "constant") == 7).all(), "integers that are constant")
        equal(set(point_array(mesh, "side")[numpy.abs(at[:, 2] - 4.5) > 2]), {0, 1}, "sides")
        true(((point_array(mesh, "side") == 1) == (at[:, 2] > 4.5))[numpy.abs(at[:, 2] - 4.5) > 2].all(), "sides")
        equal(mesh.GetPointData().GetVectors().GetName(), "velocity", "active vectors")
        near(numpy.linalg.norm(point_array(mesh, "Normals"), axis=1).max(), 1, 1e-3, "the filter's own normals")
    proxy.PassPointArrays = 0
    equal(output(proxy).GetPointData().GetNumberOfArrays(), 1, "arrays that are not wanted")
    ghosts = numpy.where(places[:, 0] > 4.5, numpy.where(places[:, 1] > 4.5, 1, 2), 0).astype(numpy.uint8)
    half = places[:, 0] < 4.5
    with Messages() as log:
        with_ghosts = output(surface(cloud(places, vtkGhostType=ghosts, a=velocity), Radius=0.5))
    equal(log.text(), "", "messages")
    without = output(surface(cloud(places[half], a=velocity[half]), Radius=0.5))
    true(numpy.array_equal(point_array(with_ghosts, "a"), point_array(without, "a")), "values without the ghosts")
    equal(point_array(with_ghosts, "vtkGhostType"), None, "ghost types")


def kernels_and_settings():
    """Each setting has an effect. NormalsBy changes the normals alone."""
    data = cloud(lattice())
    seen, by_normals = set(), set()
    for kernel in ("SPH Spline", "Gaussian", "Metaballs", "Spheres"):
        for options in ({}, {"CellSize": 0.4}, {"SmoothingLength": 1.5}, {"Isovalue": 0.3}, {"Offset": 0.1}):
            mesh = closed(output(surface(data, Kernel=kernel, **options)))
            seen.add((kernel, counts(mesh), round(float(numpy.abs(points(mesh)).sum()), 2)))
        for estimator in ("Kernel Gradient", "Central Differences", "Forward Differences", "Sobel 3x3x3"):
            mesh = closed(output(surface(data, Kernel=kernel, NormalsBy=estimator)))
            true(numpy.array_equal(points(mesh), points(output(surface(data, Kernel=kernel)))), f"{estimator}: points")
            by_normals.add((kernel, round(float(numpy.abs(point_array(mesh, "Normals")).sum()), 2)))
    equal(len(seen), 3 * 4 + 3, "different surfaces")  # Offset is for spheres; smoothing length and isovalue for the others
    equal(len(by_normals), 4 * 4, "different normals")


def anisotropic():
    """A layer of particles is thinner, with its arrays, normals and image; kernels other than the spline stay."""
    random = numpy.random.default_rng(9)
    layer = numpy.stack(numpy.meshgrid(numpy.arange(20.0), numpy.arange(20.0), [0.0]), axis=-1).reshape(-1, 3)
    data = cloud(layer + random.uniform(-0.1, 0.1, layer.shape), height=numpy.full(len(layer), 3.5))
    thick, thin = (closed(output(surface(data, Radius=0.5, Anisotropic=flag, CellSize=0.25))) for flag in (0, 1))
    near(point_array(thin, "height").min(), 3.5, 1e-6, "the array")
    height = [numpy.median(numpy.abs(points(mesh)[:, 2])) for mesh in (thick, thin)]
    true(0.2 < height[1] < 0.6 * height[0], f"half as thick: {height}")
    proxy = surface(data, Radius=0.5, Anisotropic=1, CellSize=0.25, ComputeImage=1, ImageDimensions=[141, 141, 41])
    contour = closed(output(simple.Contour(Input=simple.OutputPort(proxy, 1), ContourBy=["POINTS", "Potential"],
                                           Isosurfaces=[0.6])))
    near(numpy.abs(numpy.array(contour.GetBounds()) - thin.GetBounds()).max(), 0, 0.1, "the image's bounds")
    flat = [output(surface(data, Kernel="Gaussian", Anisotropic=flag)) for flag in (0, 1)]
    true(numpy.array_equal(points(flat[0]), points(flat[1])), "Gaussians stay")


def blocks():
    data = vtkMultiBlockDataSet()
    data.SetBlock(0, cloud(lattice()))
    data.SetBlock(1, cloud(lattice(4) + 100))
    mesh = output(surface(data))
    equal([mesh.GetBlock(i).GetNumberOfPolys() > 100 for i in range(2)], [True, True], "a surface per block")
    for block, half in enumerate(numpy.array_split(lattice(), 2)):
        data.SetBlock(block, cloud(half))
    merged = simple.MergeBlocks(Input=producer(data), MergePoints=0)
    together = closed(output(simple.PMBParticleSurface(Input=merged, Radius=0.5)))
    equal(counts(together), counts(output(surface(cloud(lattice()), Radius=0.5))), "merged blocks: the surface of all")


def values_of(image):
    return vtk_to_numpy(image.GetPointData().GetArray("Potential"))


def image():
    """The second output: off by default; the potential at the image's samples; its contours are the surface."""
    places = lattice(5, numpy.float64) + 0.25
    for kernel, isovalue in (("SPH Spline", 0.6), ("Gaussian", 0.6), ("Metaballs", 0.6), ("Spheres", -0.1)):
        proxy = surface(cloud(places), Kernel=kernel, Offset=0.1)
        mesh = closed(output(proxy))
        client = proxy.GetClientSideObject()
        equal(client.GetOutputDataObject(1).GetNumberOfPoints(), 0, "samples of an image that is not wanted")
        proxy.ComputeImage, proxy.ImageDimensions = 1, [61, 59, 57]
        contour = closed(output(simple.Contour(Input=simple.OutputPort(proxy, 1), ContourBy=["POINTS", "Potential"],
                                               Isosurfaces=[isovalue])))
        near(numpy.abs(numpy.array(contour.GetBounds()) - mesh.GetBounds()).max(), 0, 0.05, f"{kernel}: bounds")
        equal(client.GetOutputDataObject(1).GetExtent(), (0, 60, 0, 58, 0, 56), "extent")
    proxy.ComputeImage = 0
    proxy.UpdatePipeline()
    equal(client.GetOutputDataObject(1).GetNumberOfPoints(), 0, "samples of an image that is no longer wanted")


def image_of_no_particles():
    """Zeros, also where a block or a time step before had particles."""
    data = vtkMultiBlockDataSet()
    data.SetBlock(0, cloud(lattice(5)))
    data.SetBlock(1, vtkPolyData())
    proxy = surface(data, Radius=0.5, ComputeImage=1, ImageDimensions=[5, 5, 5])
    proxy.UpdatePipeline()
    images = proxy.GetClientSideObject().GetOutputDataObject(1)
    equal([len(values_of(images.GetBlock(i))) for i in range(2)], [125, 125], "samples")
    true(values_of(images.GetBlock(0)).max() > 0.6 and not values_of(images.GetBlock(1)).any(), "the empty block")


def arrays_of_other_layouts():
    """They keep their names. Ghosts of another number than the points are ignored, with a warning."""
    data, radii, flags = cloud(lattice()), vtkSOADataArrayTemplate["float64"](), vtkUnsignedCharArray()
    expected = counts(output(surface(data, Radius=0.5)))
    radii.SetName("R")
    radii.SetNumberOfTuples(512)
    radii.FillComponent(0, 0.5)
    data.GetPointData().AddArray(radii)
    flags.SetName("vtkGhostType")
    flags.SetNumberOfTuples(10)
    flags.FillComponent(0, 1)
    data.GetPointData().AddArray(flags)
    with Messages() as log:
        mesh = output(surface(data, RadiusArray=["POINTS", "R"]))
    equal(counts(mesh), expected, "triangles")
    near(point_array(mesh, "R").min(), 0.5, 1e-6, "radii")
    true("has 10 values, but there are 512 points: it is ignored" in log.text(), log.text())


def image_box():
    """A stated box, a plane, blocks, structured grids; refuses an image that is too large, with its size."""
    proxy = surface(cloud(lattice(5)), ComputeImage=1, ImageDimensions=[5, 3, 1], ImageBounds=[0, 4, 1, 2, 2, 2])
    proxy.UpdatePipeline()
    potential = proxy.GetClientSideObject().GetOutputDataObject(1)
    equal(potential.GetBounds(), (0, 4, 1, 2, 2, 2), "the plane")
    true(values_of(potential).min() > 0.9, "potential within")
    data = vtkMultiBlockDataSet()
    data.SetBlock(0, cloud(lattice(4)))
    data.SetBlock(1, cloud(lattice(5) + 100))
    blocks_of = surface(data, ComputeImage=1, ImageDimensions=[9, 9, 9])
    blocks_of.UpdatePipeline()
    image_of = blocks_of.GetClientSideObject().GetOutputDataObject(1)
    equal([image_of.GetBlock(i).GetExtent() for i in range(2)], [(0, 8) * 3] * 2, "images of blocks")
    true(image_of.GetBlock(1).GetBounds()[0] > 90, "the second block's place")
    grid = vtkStructuredGrid()
    grid.SetDimensions(5, 5, 5)
    grid.SetPoints(cloud(lattice(5)).GetPoints())
    of_grid = surface(grid, ComputeImage=1, ImageDimensions=[9, 9, 9])
    mesh = output(simple.Contour(Input=simple.OutputPort(of_grid, 1), ContourBy=["POINTS", "Potential"], Isosurfaces=[0.6]))
    true(mesh.GetNumberOfPolys() > 50, f"{mesh.GetNumberOfPolys()} triangles of a structured grid's image")
    proxy.ImageDimensions, proxy.SampleLimit = [200, 200, 200], 1
    with Messages() as log:
        proxy.UpdatePipeline()
    equal(log.text().count("ERROR"), 1, "errors")
    true("The image has 8e+06 samples, and SampleLimit allows 1 million" in log.text(), f"said {log.text()!r}")
    equal(potential.GetNumberOfPoints(), 0, "samples of an image that is refused")


def bad_input():
    """One message each, with advice; then the filter works."""
    sizes = cloud(lattice(), zeros=numpy.zeros(512), vectors=numpy.ones((512, 3)))
    for data, options, text in (
            (cloud(lattice()), {"CellSize": 0.001, "SampleLimit": 1}, "raise CellSize or SampleLimit"),
            (cloud(lattice(10)), {"SmoothingLength": 200.0},
             "1000 particles reach 2.14528e+09 samples each, 2.14528e+12 together, and the limit is"),
            (cloud(lattice(2)), {"Radius": 1e39}, "coordinates of this precision to 3.4"),
            (cloud(lattice()), {"CellSize": 0.0}, "CellSize 0"),
            (cloud(lattice()), {"Isovalue": 0.0}, "Isovalue 0"),
            (cloud(lattice()), {"Radius": -1.0}, "Radius is -1"),
            (sizes, {"RadiusArray": ["POINTS", "vectors"]}, "one component"),
            (sizes, {"RadiusArray": ["POINTS", "zeros"]}, "radius of particle 0 is 0"),
            (sizes, {"RadiusArray": ["POINTS", "zeros"], "Radius": 0.5}, "radius of particle 0 is 0")):
        with Messages() as log:
            proxy = surface(data, **options)
            proxy.UpdatePipeline()
        equal(log.text().count("ERROR"), 1, f"errors for {options}: {log.text()!r}")
        true(text in log.text(), f"what to do; got {log.text()!r}")
        equal(output(proxy).GetNumberOfPoints(), 0, "points")
    closed(output(surface(cloud(lattice(2, float)), Radius=1e39)))
    with Messages() as log:
        mesh = output(surface(sizes, RadiusArray=["POINTS", "nothing"], Kernel="Spheres"))
    closed(mesh)
    text = "There is no numeric array 'nothing' for the radius: choose another array, or None."
    equal((log.text().count(text), log.text().count("Warning:"), log.text().count("ERROR")), (1, 1, 0), log.text())


def empty_surfaces():
    """An emitter's first steps, an isovalue above the potential, and spheres between the samples give one warning."""
    place = "No radius can be found from the points, because all of them are at the same place: set Radius."
    for places, text in ((numpy.zeros((1, 3)), place), (numpy.zeros((50, 3)), place),
                         (numpy.full((2, 3), numpy.nan), "2 of 2 points have a position that is not finite")):
        for radius in (0, 0.5):
            with Messages() as log:
                mesh = output(surface(cloud(places), Radius=radius))
            warns = radius == 0 or numpy.isnan(places).any()
            said = log.text()
            equal((said.count(text), said.count("Warning:"), said.count("ERROR")), (warns, warns, 0), said)
            equal(mesh.GetNumberOfPolys() > 0, not warns, "a surface")
    for options, text in (({"Isovalue": 9.0}, "is below Isovalue 9 at all samples"),
                          ({"Kernel": "Spheres", "Offset": -1.0}, "no sample is in a sphere")):
        with Messages() as log:
            equal(output(surface(cloud(lattice()), Radius=0.5, **options)).GetNumberOfPolys(), 0, "triangles")
        equal((log.text().count(text), log.text().count("Warning:"), log.text().count("ERROR")), (1, 1, 0), log.text())
    with Messages() as log:
        equal(output(surface(cloud(numpy.zeros((0, 3), numpy.float32)))).GetNumberOfPoints(), 0, "points of nothing")
    equal(log.text(), "", "messages")


def abort():
    """The abort flag ends a long execution with an empty output; progress never falls."""
    proxy = surface(cloud(lattice(60)))
    filter_ = proxy.GetClientSideObject()
    seen = []

    def look(*_):
        seen.append(filter_.GetProgress())
        if seen[-1] > 0.2:
            filter_.SetAbortExecute(1)

    tag = filter_.AddObserver("ProgressEvent", look)
    filter_.Update()
    filter_.RemoveObserver(tag)
    equal(filter_.GetOutput().GetNumberOfPoints(), 0, "points after an abort")
    true(len(seen) > 2 and seen == sorted(seen), f"progress {seen}")
    filter_.SetAbortExecute(0)
    filter_.Modified()
    filter_.Update()
    true(filter_.GetOutput().GetNumberOfPolys() > 10000, "a surface afterwards")


load_plugin()
run(apply_gives_a_surface, radius_of_unusual_clouds, radius_of_usual_clouds, radius_over_time, two_resolutions,
    far_from_the_origin, strays, empty_surfaces, ids, arrays, kernels_and_settings, anisotropic, blocks, image,
    image_of_no_particles, arrays_of_other_layouts, image_box,
    bad_input, abort)
