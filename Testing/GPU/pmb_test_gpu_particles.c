/* SPDX-License-Identifier: BSD-3-Clause
 * Surfaces of particles on the GPU have the CPU's bytes. Skipped without a GPU. */
#include <math.h>

#include "particles_mesh.h"
#include "pmb_test_gpu_memory.h"

enum { MOST = 600, WIDE = 6 };

/* A cloud with all arrays that a request may have. */
typedef struct cloud {
  pmb_particle_request request;
  double position[3 * MOST], wide[WIDE * MOST];
  float radius[MOST], number[2][MOST];
  int16_t whole[MOST];
} cloud;

static void cloud_random(cloud *c, test_rng *rng, int kernel)
{
  const int64_t n = rng_int(rng, 1, rng_int(rng, 0, 3) ? 40 : MOST);
  const double size = rng_real(rng, 0, 3), middle = rng_real(rng, -100, 100);
  c->request = request_of(c->position, n, kernel);
  pmb_particle_request *r = &c->request;
  for (int64_t i = 0; i < 3 * n; i++) c->position[i] = middle + rng_real(rng, -size, size);
  if (n > 2 && rng_int(rng, 0, 2) == 0) {
    c->position[4] = NAN;
    memcpy(c->position + 6, c->position, 3 * sizeof *c->position);
  }
  for (int64_t i = 3; i < 3 * n / 2 && size < 1; i++) /* almost in one place */
    c->position[i] = c->position[i % 3] + rng_real(rng, -2e-3, 2e-3);
  const double least = rng_int(rng, 0, 2) ? 0.3 : 0.02; /* radii differ by up to 2 or 35 */
  for (int64_t i = 0; i < n; i++) {
    c->radius[i] = (float)(rng_int(rng, 0, 1) ? rng_real(rng, 0.3, 0.7) : rng_real(rng, least, 2 * least));
    c->number[0][i] = (float)rng_real(rng, 0.5, 2);
    c->number[1][i] = (float)rng_real(rng, -0.5, 2);
    c->whole[i] = (int16_t)rng_int(rng, -99, 99);
    for (int k = 0; k < WIDE; k++) c->wide[WIDE * i + k] = rng_real(rng, -1, 1);
  }
  r->spacing = rng_real(rng, 0.1, 0.6);
  r->isovalue = kernel == PMB_KERNEL_SPHERES ? rng_real(rng, -0.3, 0.3) : rng_real(rng, 0.05, 0.9);
  if (rng_int(rng, 0, 1)) r->radii = (pmb_particle_array){ c->radius, PMB_FLOAT32, n, 0 };
  if (rng_int(rng, 0, 1)) r->smoothing = rng_real(rng, 0.9, 2.2);
  r->normals = (pmb_particle_normals)rng_int(rng, 0, 3);
  if (r->kernel == PMB_KERNEL_SPLINE) {
    if (rng_int(rng, 0, 1)) r->masses = (pmb_particle_array){ c->number[0], PMB_FLOAT32, n, 0 };
    if (rng_int(rng, 0, 1)) r->densities = (pmb_particle_array){ c->wide, PMB_FLOAT64, n, WIDE };
    for (int64_t i = 0; r->densities.values && i < n; i++) c->wide[WIDE * i] = rng_real(rng, 0.5, 2);
  } else if (kernel != PMB_KERNEL_SPHERES && rng_int(rng, 0, 1)) {
    r->weights = (pmb_particle_array){ c->number[1], PMB_FLOAT32, n, 0 };
  }
}

/* A mesh with attributes. */
typedef struct result {
  test_mesh mesh;
  pmb_particle_sizes sizes;
  double *wide;
  int16_t *whole;
} result;

static void result_free(result *r)
{
  mesh_free(&r->mesh);
  free(r->wide);
  free(r->whole);
}

static void run(
  pmb_context *context, pmb_particles *particles, const cloud *c, pmb_type real, pmb_type id, result *to)
{
  to->sizes = (pmb_particle_sizes){ .struct_size = sizeof to->sizes };
  CHECK_STATUS(context, pmb_particles_count(particles, &c->request, &to->sizes), PMB_OK);
  mesh_make(&to->mesh, (pmb_sizes){ to->sizes.points, to->sizes.triangles }, real, id);
  to->wide = test_allocate(WIDE * (to->sizes.points + 1), sizeof *to->wide);
  to->whole = test_allocate(to->sizes.points + 1, sizeof *to->whole);
  const pmb_attribute attributes[] = { { c->wide, PMB_FLOAT64, WIDE, to->wide, 0 },
    { c->whole, PMB_INT16, 1, to->whole, 0 } };
  double ranges[2][8];
  pmb_mesh view = to->mesh.view;
  view.point_ranges = ranges[0];
  view.normal_ranges = ranges[1];
  view.scalars = NULL;
  view.cells = NULL;
  view.attributes = attributes;
  view.attribute_count = 2;
  CHECK_STATUS(context, pmb_particles_emit(particles, &view), PMB_OK);
  check_ranges(context, &view, to->sizes.points);
  CHECK(mesh_canaries_alive(&to->mesh), "written past the end");
}

static int same(const result *a, const result *b)
{
  const size_t points = (size_t)a->sizes.points;
  pmb_particle_sizes sizes = b->sizes;
  sizes.on_device = a->sizes.on_device;
  return !memcmp(&a->sizes, &sizes, sizeof sizes) && mesh_equal(&a->mesh, &b->mesh, "mesh") &&
    !memcmp(a->wide, b->wide, points * WIDE * sizeof *a->wide) &&
    !memcmp(a->whole, b->whole, points * sizeof *a->whole);
}

/* Restricts the request to some layers of bricks, with all particles. */
static void take_layers(pmb_particle_request *r, test_rng *rng, const pmb_particle_bounds *bounds)
{
  const int64_t low = (int64_t)bounds->low[2] - 20, high = (int64_t)bounds->high[2] + 20;
  r->whole = bounds;
  r->z_begin = rng_int(rng, 0, 4) ? rng_int(rng, low, high) : INT64_MIN;
  r->z_end = rng_int(rng, 0, 4) ? rng_int(rng, low, high) : INT64_MAX;
  r->z_end = r->z_end < r->z_begin ? r->z_begin : r->z_end;
}

/* Random clouds, and parts of them, by the same two objects. */
static void random_clouds(void)
{
  pmb_context *contexts[2] = { gpu_new(0), cpu_new() };
  pmb_particles *particles[2];
  test_rng rng = { 2222 };
  int64_t points = 0;
  const int rounds = is_short() ? 200 : 1000;
  for (int i = 0; i < 2; i++) CHECK_STATUS(contexts[i], pmb_particles_create(contexts[i], &particles[i]), PMB_OK);
  for (int round = 0; round < rounds; round++) {
    static cloud c;
    result results[2];
    const pmb_type real = round & 4 ? PMB_FLOAT32 : PMB_FLOAT64, id = round & 8 ? PMB_INT32 : PMB_INT64;
    cloud_random(&c, &rng, round % KERNELS);
    for (int a = 0; a < 3 && round % 7 == 0; a++) c.position[a] = rng_real(&rng, -1e9, 1e9); /* far from the others */
    test_about("round %d: %lld particles", round, (long long)c.request.positions.count);
    pmb_particle_bounds bounds = { .struct_size = sizeof bounds };
    CHECK_STATUS(contexts[0], pmb_particles_find_bounds(particles[0], &c.request, &bounds), PMB_OK);
    if (round % 7 && rng_int(&rng, 0, 1) && bounds.low[2] <= bounds.high[2]) take_layers(&c.request, &rng, &bounds);
    for (int i = 0; i < 2; i++) run(contexts[i], particles[i], &c, real, id, &results[i]);
    CHECK(same(&results[0], &results[1]), "other bytes: %lld and %lld points, %lld and %lld triangles",
      (long long)results[0].sizes.points, (long long)results[1].sizes.points, (long long)results[0].sizes.triangles,
      (long long)results[1].sizes.triangles);
    CHECK(results[0].sizes.points == 0 || results[0].sizes.on_device, "not counted on the GPU");
    CHECK(!results[1].sizes.on_device, "counted on the GPU by a context on the CPU");
    points += results[0].sizes.points;
    for (int i = 0; i < 2; i++) result_free(&results[i]);
  }
  CHECK(points > 100 * rounds, "%lld points in all", (long long)points);
  for (int i = 0; i < 2; i++) {
    pmb_particles_destroy(particles[i]);
    pmb_destroy(contexts[i]);
  }
}

/* A fluid: thousands of particles close together in a long box. */
static void fluid(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  const int64_t n = is_short() ? 3000 : 200000;
  OWNED double *position = make_cloud(n, 1, 5);
  for (int64_t i = 0; i < n; i++) {
    position[3 * i] *= 0.4 * cbrt((double)n) * (i % 100 ? 1 : 40);
    position[3 * i + 1] *= 0.25 * cbrt((double)n);
    position[3 * i + 2] *= 0.25 * cbrt((double)n);
  }
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    pmb_particle_request r = request_of(position, n, kernel);
    OWNED_MESH ours, theirs;
    r.radius = 0.25;
    r.spacing = 0.125;
    test_about("kernel %d", kernel);
    closed_mesh(gpu, &r, &ours);
    closed_mesh(cpu, &r, &theirs);
    CHECK(ours.sizes.points > n / 10 && mesh_equal(&ours, &theirs, "mesh"), "%lld and %lld points",
      (long long)ours.sizes.points, (long long)theirs.sizes.points);
  }
}

/* Grids with too many rows for a GPU, which the CPU computes in a context on the GPU; no particles. */
static void too_many_rows_or_no_particles(void)
{
  static const double far[9] = { 0, 0, 0, 0.5, 90000, 90000, 1e8, -1e8,
    1e12 }; /* with the last: in spans, which a GPU takes */
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  pmb_particle_request r = request_of(far, 0, PMB_KERNEL_SPHERES);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  pmb_particles *particles;
  test_mesh ours, theirs;
  for (r.positions.count = 2; r.positions.count <= 3; r.positions.count++) {
    closed_mesh(gpu, &r, &ours);
    closed_mesh(cpu, &r, &theirs);
    CHECK(ours.sizes.points > 0 && mesh_equal(&ours, &theirs, "mesh"), "%lld points", (long long)ours.sizes.points);
    CHECK_STATUS(gpu, pmb_particles_create(gpu, &particles), PMB_OK);
    CHECK_STATUS(gpu, pmb_particles_count(particles, &r, &sizes), PMB_OK);
    CHECK(sizes.points == theirs.sizes.points && sizes.on_device == (r.positions.count == 3),
      "counted on the GPU: %d", sizes.on_device);
    mesh_free(&ours);
    mesh_free(&theirs);
    pmb_particles_destroy(particles);
  }
  r.positions.count = 0;
  CHECK(closed_mesh(gpu, &r, &ours).points == 0, "points without particles");
  mesh_free(&ours);
}

/* Too little device memory is an error, after which the same object works. A count of other particles replaces the last one. */
static void device_memory(void)
{
  static cloud c;
  test_rng rng = { 9 };
  OWNED_CONTEXT gpu = gpu_new(300000), cpu = cpu_new();
  pmb_particles *particles[2];
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  test_mesh ours, theirs;
  cloud_random(&c, &rng, PMB_KERNEL_GAUSSIAN);
  c.request.spacing = 0.05;
  CHECK_STATUS(gpu, pmb_particles_create(gpu, &particles[0]), PMB_OK);
  CHECK_STATUS(gpu, pmb_particles_count(particles[0], &c.request, &sizes), PMB_OUT_OF_MEMORY);
  CHECK(
    sizes.points == 0 && strstr(pmb_error(gpu), "GPU"), "%lld points: %s", (long long)sizes.points, pmb_error(gpu));
  c.request.spacing = 0.5;
  CHECK_STATUS(gpu, extract(gpu, particles[0], &c.request, PMB_FLOAT64, PMB_INT32, &ours), PMB_OK);
  pmb_particles_destroy(particles[0]);
  pmb_destroy(gpu);
  closed_mesh(cpu, &c.request, &theirs);
  CHECK(ours.sizes.points > 100 && mesh_equal(&ours, &theirs, "mesh"), "%lld points", (long long)ours.sizes.points);
  mesh_free(&ours);
  mesh_free(&theirs);
  gpu = gpu_new(0);
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(gpu, pmb_particles_create(gpu, &particles[i]), PMB_OK);
    CHECK_STATUS(gpu, pmb_particles_count(particles[i], &c.request, &sizes), PMB_OK);
  }
  const pmb_mesh mesh = {
    .struct_size = sizeof mesh, .point_capacity = sizes.points, .triangle_capacity = sizes.triangles
  };
  CHECK_STATUS(gpu, pmb_particles_emit(particles[0], &mesh), PMB_OUT_OF_MEMORY);
  CHECK(strstr(pmb_error(gpu), "count them again") != NULL, "%s", pmb_error(gpu));
  CHECK_STATUS(gpu, pmb_particles_emit(particles[1], &mesh), PMB_OK);
  pmb_particles_destroy(particles[1]);
  pmb_particles_destroy(particles[0]);
  CHECK(info_of(gpu).device_bytes == 0, "%lld bytes are left", (long long)info_of(gpu).device_bytes);
}

/* Particles do not disturb contours of the same context. */
static void beside_contours(void)
{
  static cloud c;
  OWNED_VOLUME v;
  test_rng rng = { 31 };
  OWNED_MESH before, after;
  OWNED_BY(result_free) result of_particles;
  OWNED_CONTEXT gpu = gpu_new(0);
  volume_random(&v, 60, 30, 20, &rng);
  const double isovalue = volume_isovalue(&v, &rng);
  const pmb_request request = { .struct_size = sizeof request, .isovalues = &isovalue, .isovalue_count = 1 };
  pmb_sizes sizes;
  cloud_random(&c, &rng, PMB_KERNEL_SPLINE);
  OWNED_PARTICLES particles = particles_new(gpu);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, pmb_count(gpu, &request, &sizes, NULL), PMB_OK);
  mesh_make(&before, sizes, PMB_FLOAT32, PMB_INT32);
  mesh_make(&after, sizes, PMB_FLOAT32, PMB_INT32);
  CHECK_STATUS(gpu, pmb_emit(gpu, &before.view), PMB_OK);
  run(gpu, particles, &c, PMB_FLOAT32, PMB_INT64, &of_particles);
  CHECK_STATUS(gpu, pmb_emit(gpu, &after.view), PMB_OK);
  CHECK(mesh_equal(&before, &after, "mesh"), "the volume's mesh differs");
}

/* Copies an array of particles to device memory. */
static pmb_particle_array array_to_device(pmb_particle_array array, int components)
{
  const int64_t stride = array.stride ? array.stride : components;
  const size_t bytes = (size_t)((array.count - 1) * stride + components) * pmb_type_size(array.type);
  if (array.values) array.values = to_device(array.values, bytes, 0);
  return array;
}

/* Particles in device memory give the same mesh as in host memory. Pointers that contradict on_device are refused. */
static void particles_on_device(void)
{
  pmb_context *contexts[2] = { gpu_new(0), cpu_new() };
  pmb_particles *particles[2];
  test_rng rng = { 99 };
  for (int i = 0; i < 2; i++) CHECK_STATUS(contexts[i], pmb_particles_create(contexts[i], &particles[i]), PMB_OK);
  for (int round = 0; round < 15; round++) {
    static cloud c;
    OWNED_BY(result_free) result host, device;
    cloud_random(&c, &rng, round % KERNELS);
    test_about("round %d", round);
    run(contexts[0], particles[0], &c, PMB_FLOAT32, PMB_INT32, &host);
    pmb_particle_request *r = &c.request;
    pmb_particle_array *arrays[] = { &r->positions, &r->radii, &r->masses, &r->densities, &r->weights };
    for (int a = 0; a < 5; a++) *arrays[a] = array_to_device(*arrays[a], a == 0 ? 3 : 1);
    r->on_device = 1;
    run(contexts[0], particles[0], &c, PMB_FLOAT32, PMB_INT32, &device);
    CHECK(same(&host, &device), "other bytes");
    r->on_device = 0;
    CHECK_STATUS(contexts[0], pmb_particles_count(particles[0], r, &device.sizes), PMB_INVALID);
    r->on_device = 1;
    CHECK_STATUS(contexts[1], pmb_particles_count(particles[1], r, &device.sizes), PMB_INVALID);
    for (int a = 0; a < 5; a++) cudaFree((void *)(uintptr_t)arrays[a]->values);
    r->positions.values = c.position;
    CHECK_STATUS(contexts[0], pmb_particles_count(particles[0], r, &device.sizes), PMB_INVALID);
  }
  for (int i = 0; i < 2; i++) {
    pmb_particles_destroy(particles[i]);
    pmb_destroy(contexts[i]);
  }
}

/* Emits into OpenGL buffers, which only the emulator has here. */
static void opengl(void)
{
  enum { POINTS = 3, NORMALS = 5, TRIANGLES = 8, SMALL = 9 };
  static cloud c;
  test_rng rng = { 55 };
  OWNED_BY(result_free) result host;
  pmb_gl_buffers *buffers = NULL;
  OWNED_CONTEXT gpu = gpu_new(0);
  const double shift[3] = { 20.1, -3, 4.5e6 }, scale[3] = { 1 / 39.0, 2, 1e-3 };
  const pmb_gl_mesh gl = { sizeof gl, PMB_CENTRAL, NULL, NULL }, moved = { sizeof moved, PMB_CENTRAL, shift, scale };
  cloud_random(&c, &rng, PMB_KERNEL_SPLINE);
  for (int64_t i = 0; i < c.request.positions.count; i++)
    c.position[3 * i + 2] += shift[2]; /* beyond a float's digits */
  OWNED_PARTICLES particles = particles_new(gpu);
  CHECK_REFUSED(
    gpu, pmb_particles_emit_gl(particles, NULL, &gl), PMB_INVALID, "pmb_particles_emit_gl: nothing is counted");
  run(gpu, particles, &c, PMB_FLOAT32, PMB_INT32, &host);
  CHECK_REFUSED(gpu, pmb_particles_emit_gl(particles, NULL, &gl), PMB_INVALID, "pmb_register_gl");
  CHECK(pmb_particles_emit_gl(NULL, NULL, &gl) == PMB_INVALID, "no particles");
  if (emulator_gl_buffer) {
    const size_t points = 12 * (size_t)host.sizes.points, triangles = 12 * (size_t)host.sizes.triangles;
    const void *p = emulator_gl_buffer(POINTS, points), *n = emulator_gl_buffer(NORMALS, points),
               *t = emulator_gl_buffer(TRIANGLES, triangles);
    const float *expected = host.mesh.view.points;
    CHECK(triangles > 1000, "%zu bytes of triangles", triangles);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, POINTS, NORMALS, TRIANGLES, &buffers), PMB_OK);
    CHECK_STATUS(gpu, pmb_particles_emit_gl(particles, buffers, &gl), PMB_OK);
    CHECK(!memcmp(p, expected, points) && !memcmp(n, host.mesh.view.normals, points) &&
        !memcmp(t, host.mesh.view.triangles, triangles),
      "the buffers differ from the arrays");
    result wide;
    run(gpu, particles, &c, PMB_FLOAT64, PMB_INT32, &wide);
    CHECK_STATUS(gpu, pmb_particles_emit_gl(particles, buffers, &moved), PMB_OK);
    for (int64_t i = 0; i < 3 * host.sizes.points; i++) {
      const float there = (float)((((const double *)wide.mesh.view.points)[i] - shift[i % 3]) * scale[i % 3]);
      CHECK(!memcmp(&there, (const float *)p + i, sizeof there), "coordinate %lld", (long long)i);
    }
    result_free(&wide);
    pmb_unregister_gl(buffers);
    emulator_gl_buffer(SMALL, triangles - 12);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, 0, 0, SMALL, &buffers), PMB_OK);
    CHECK_REFUSED(gpu, pmb_particles_emit_gl(particles, buffers, &gl), PMB_INVALID, "bytes");
    pmb_unregister_gl(buffers);
    const unsigned names[] = { POINTS, NORMALS, TRIANGLES, SMALL };
    for (int i = 0; i < 4; i++) emulator_gl_buffer(names[i], 0);
  }
}

/* Emits into device memory. */
static void on_device(void)
{
  static cloud c;
  test_rng rng = { 77 };
  OWNED_BY(result_free) result host;
  OWNED_MESH m;
  OWNED_CONTEXT gpu = gpu_new(0);
  cloud_random(&c, &rng, PMB_KERNEL_POLYNOMIAL);
  OWNED_PARTICLES particles = particles_new(gpu);
  run(gpu, particles, &c, PMB_FLOAT32, PMB_INT64, &host);
  mesh_make(&m, host.mesh.sizes, PMB_FLOAT32, PMB_INT64);
  const pmb_mesh arrays = mesh_to_device(&m);
  pmb_mesh view = arrays;
  view.scalars = NULL;
  view.cells = NULL;
  CHECK_STATUS(gpu, pmb_particles_emit(particles, &view), PMB_OK);
  mesh_from_device(&arrays, &m);
  CHECK(
    m.sizes.points > 0 && mesh_equal(&host.mesh, &m, "in device memory"), "%lld points", (long long)m.sizes.points);
}

/* clang-format off */
TEST_MAIN(
  CASE(random_clouds)
  CASE(fluid)
  CASE(too_many_rows_or_no_particles)
  CASE(device_memory)
  CASE(beside_contours)
  CASE(on_device)
  CASE(particles_on_device)
  CASE(opengl)
)
