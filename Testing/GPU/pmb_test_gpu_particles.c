/* SPDX-License-Identifier: BSD-3-Clause
 * Surfaces of particles: what only a GPU has; ../Kernels compares the surfaces with the CPU's. Skipped without a GPU. */
#include <math.h>

#include "particles_cloud.h"
#include "pmb_test_gpu_memory.h"

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
  OWNED_CONTEXT gpu = gpu_new(400000), cpu = cpu_new();
  pmb_particles *particles[2];
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  test_mesh ours, theirs;
  fill_cloud(&c, &rng, 3, 0);
  pmb_particle_request request = request_for(&c, PMB_KERNEL_GAUSSIAN, 1);
  request.spacing = 0.05;
  CHECK_STATUS(gpu, pmb_particles_create(gpu, &particles[0]), PMB_OK);
  CHECK_STATUS(gpu, pmb_particles_count(particles[0], &request, &sizes), PMB_OUT_OF_MEMORY);
  CHECK(
    sizes.points == 0 && strstr(pmb_error(gpu), "GPU"), "%lld points: %s", (long long)sizes.points, pmb_error(gpu));
  request.spacing = 0.5;
  CHECK_STATUS(gpu, extract(gpu, particles[0], &request, PMB_FLOAT64, PMB_INT32, &ours), PMB_OK);
  pmb_particles_destroy(particles[0]);
  pmb_destroy(gpu);
  closed_mesh(cpu, &request, &theirs);
  CHECK(ours.sizes.points > 100 && mesh_equal(&ours, &theirs, "mesh"), "%lld points", (long long)ours.sizes.points);
  mesh_free(&ours);
  mesh_free(&theirs);
  gpu = gpu_new(0);
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(gpu, pmb_particles_create(gpu, &particles[i]), PMB_OK);
    CHECK_STATUS(gpu, pmb_particles_count(particles[i], &request, &sizes), PMB_OK);
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

/* Copies an array of particles to device memory. */
static pmb_particle_array array_to_device(pmb_particle_array array, int components)
{
  const int64_t stride = array.stride ? array.stride : components;
  const size_t bytes = (size_t)((array.count - 1) * stride + components) * pmb_type_size(array.type);
  if (array.values) array.values = to_device(array.values, bytes, 0);
  return array;
}

/* Particles in device memory give the same mesh as in host memory, also in device memory. Pointers that contradict on_device are refused. */
static void particles_on_device(void)
{
  pmb_context *contexts[2] = { gpu_new(0), cpu_new() };
  pmb_particles *particles[2];
  test_rng rng = { 99 };
  for (int i = 0; i < 2; i++) CHECK_STATUS(contexts[i], pmb_particles_create(contexts[i], &particles[i]), PMB_OK);
  for (int round = 0; round < 15; round++) {
    static cloud c;
    OWNED_CLOUD_MESH host, device;
    OWNED_MESH emitted;
    pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
    fill_cloud(&c, &rng, 3, 0);
    pmb_particle_request request = request_for(&c, round % KERNELS, round / 2), *r = &request;
    test_about("round %d", round);
    cloud_extract(contexts[0], particles[0], r, &c, PMB_FLOAT32, PMB_INT32, &host);
    pmb_particle_array *arrays[] = { &r->positions, &r->radii, &r->masses, &r->densities, &r->weights };
    for (int a = 0; a < 5; a++) *arrays[a] = array_to_device(*arrays[a], a == 0 ? 3 : 1);
    r->on_device = 1;
    cloud_extract(contexts[0], particles[0], r, &c, PMB_FLOAT32, PMB_INT32, &device);
    cloud_mesh_equal(&host, &device, "from device memory");
    mesh_make(&emitted, host.mesh.sizes, PMB_FLOAT32, PMB_INT32);
    const pmb_mesh there = mesh_to_device(&emitted);
    pmb_mesh view = there;
    view.scalars = NULL;
    view.cells = NULL;
    CHECK_STATUS(contexts[0], pmb_particles_emit(particles[0], &view), PMB_OK);
    mesh_from_device(&there, &emitted);
    CHECK(emitted.sizes.points > 0 && mesh_equal(&host.mesh, &emitted, "in device memory"), "%lld points",
      (long long)emitted.sizes.points);
    r->on_device = 0;
    CHECK_STATUS(contexts[0], pmb_particles_count(particles[0], r, &sizes), PMB_INVALID);
    r->on_device = 1;
    CHECK_STATUS(contexts[1], pmb_particles_count(particles[1], r, &sizes), PMB_INVALID);
    for (int a = 0; a < 5; a++) cudaFree((void *)(uintptr_t)arrays[a]->values);
    r->positions.values = c.position;
    CHECK_STATUS(contexts[0], pmb_particles_count(particles[0], r, &sizes), PMB_INVALID);
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
  OWNED_CLOUD_MESH host;
  pmb_gl_buffers *buffers = NULL;
  OWNED_CONTEXT gpu = gpu_new(0);
  const double shift[3] = { 20.1, -3, 4.5e6 }, scale[3] = { 1 / 39.0, 2, 1e-3 };
  const pmb_gl_mesh gl = { sizeof gl, PMB_CENTRAL, NULL, NULL }, moved = { sizeof moved, PMB_CENTRAL, shift, scale };
  fill_cloud(&c, &rng, 3, 0);
  for (int64_t i = 0; i < c.count; i++) c.position[3 * i + 2] += shift[2]; /* beyond a float's digits */
  const pmb_particle_request request = request_for(&c, PMB_KERNEL_SPLINE, 7);
  OWNED_PARTICLES particles = particles_new(gpu);
  CHECK_REFUSED(
    gpu, pmb_particles_emit_gl(particles, NULL, &gl), PMB_INVALID, "pmb_particles_emit_gl: nothing is counted");
  cloud_extract(gpu, particles, &request, &c, PMB_FLOAT32, PMB_INT32, &host);
  CHECK_REFUSED(gpu, pmb_particles_emit_gl(particles, NULL, &gl), PMB_INVALID, "pmb_register_gl");
  CHECK(pmb_particles_emit_gl(NULL, NULL, &gl) == PMB_INVALID, "no particles");
  if (emulator_gl_buffer) {
    const size_t points = 12 * (size_t)host.mesh.sizes.points, triangles = 12 * (size_t)host.mesh.sizes.triangles;
    const void *p = emulator_gl_buffer(POINTS, points), *n = emulator_gl_buffer(NORMALS, points),
               *t = emulator_gl_buffer(TRIANGLES, triangles);
    const float *expected = host.mesh.view.points;
    CHECK(triangles > 1000, "%zu bytes of triangles", triangles);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, POINTS, NORMALS, TRIANGLES, &buffers), PMB_OK);
    CHECK_STATUS(gpu, pmb_particles_emit_gl(particles, buffers, &gl), PMB_OK);
    CHECK(!memcmp(p, expected, points) && !memcmp(n, host.mesh.view.normals, points) &&
        !memcmp(t, host.mesh.view.triangles, triangles),
      "the buffers differ from the arrays");
    OWNED_CLOUD_MESH wide;
    cloud_extract(gpu, particles, &request, &c, PMB_FLOAT64, PMB_INT32, &wide);
    CHECK_STATUS(gpu, pmb_particles_emit_gl(particles, buffers, &moved), PMB_OK);
    for (int64_t i = 0; i < 3 * host.mesh.sizes.points; i++) {
      const float there = (float)((((const double *)wide.mesh.view.points)[i] - shift[i % 3]) * scale[i % 3]);
      CHECK(!memcmp(&there, (const float *)p + i, sizeof there), "coordinate %lld", (long long)i);
    }
    pmb_unregister_gl(buffers);
    emulator_gl_buffer(SMALL, triangles - 12);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, 0, 0, SMALL, &buffers), PMB_OK);
    CHECK_REFUSED(gpu, pmb_particles_emit_gl(particles, buffers, &gl), PMB_INVALID, "bytes");
    pmb_unregister_gl(buffers);
    const unsigned names[] = { POINTS, NORMALS, TRIANGLES, SMALL };
    for (int i = 0; i < 4; i++) emulator_gl_buffer(names[i], 0);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(fluid)
  CASE(too_many_rows_or_no_particles)
  CASE(device_memory)
  CASE(particles_on_device)
  CASE(opengl)
)
