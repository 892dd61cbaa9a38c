/* SPDX-License-Identifier: BSD-3-Clause
 * Times surfaces of particles on a GPU and on all cores: a dam with waves and spray, of particles at a distance of 1. Settings
 * are those of Testing/Benchmarks/bench_particles.py: radius 0.5, smoothing length 1, isovalue 0.6, normals, cells of 0.25
 * unless the scene sets them.
 * usage: pmb_bench_particles */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "particles/pmb_particles.h"
#include "pmb_test_gpu_util.h"

enum { ROUNDS = 7 };

static double milliseconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* A dam with waves. One in `spray` particles flies above it. cells: along the longest side of the box; 0: of 0.25. */
typedef struct scene {
  const char *name;
  double thousands, spray, cells;
  pmb_particle_kernel kernel;
  int anisotropic;
} scene;

static const scene scenes[] = {
  { "dam with spray", 200, 28, 0, PMB_KERNEL_SPLINE, 0 },
  { "dam with spray, anisotropic", 200, 28, 0, PMB_KERNEL_SPLINE, 1 },
  { "dam with spray", 2000, 28, 0, PMB_KERNEL_SPLINE, 0 },
  { "dam with spray, anisotropic", 2000, 28, 0, PMB_KERNEL_SPLINE, 1 },
  { "dam with little spray", 2000, 120, 0, PMB_KERNEL_SPLINE, 0 },
  { "dam with spray", 20000, 28, 0, PMB_KERNEL_SPLINE, 0 },
  { "dam with little spray", 20000, 120, 0, PMB_KERNEL_SPLINE, 0 },
  { "box of 128^3 cells", 125, 120, 128, PMB_KERNEL_POLYNOMIAL, 0 },
  { "box of 256^3 cells", 1000, 120, 256, PMB_KERNEL_POLYNOMIAL, 0 },
};

/* Makes the positions; sets their number and the longest side. */
static float *make_places(const scene *s, int64_t *count, double *longest)
{
  const double side = cbrt(1e3 * s->thousands / 0.335);
  const int64_t n[3] = { (int64_t)side, (int64_t)(side * 2 / 3), (int64_t)(side * 0.75) };
  float *places = test_allocate((int64_t)(6e3 * s->thousands), sizeof *places), *at = places;
  test_rng rng = { 5 };
  for (int64_t x = 0; x < n[0]; x++)
    for (int64_t y = 0; y < n[1]; y++) {
      const double top = (double)n[2] * (0.6 + 0.25 * sin((double)x * 0.11) + 0.15 * cos((double)y * 0.17));
      for (int64_t z = 0; z < n[2] && (double)z < top; z++) {
        const int64_t place[3] = { x, y, z };
        for (int a = 0; a < 3; a++) *at++ = (float)((double)place[a] + rng_real(&rng, -0.15, 0.15));
      }
    }
  for (int64_t i = (int64_t)((double)(at - places) / 3 / s->spray); i > 0; i--)
    for (int a = 0; a < 3; a++) *at++ = (float)(rng_real(&rng, 0, (double)n[a]) + (a == 2 ? 0.7 * (double)n[2] : 0));
  *count = (at - places) / 3;
  *longest = fmax(side, 1.7 * (double)n[2]);
  return places;
}

/* The fastest time of several emits into a new mesh in host memory that the GPU writes directly. */
static double emit(pmb_context *context, pmb_particles *particles, const pmb_particle_sizes *sizes)
{
  const size_t points = (size_t)sizes->points * 12, ids = (size_t)sizes->triangles * 12;
  const pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = sizes->points,
    .triangle_capacity = sizes->triangles,
    .points = pmb_host_allocate(points),
    .point_type = PMB_FLOAT32,
    .normals = pmb_host_allocate(points),
    .triangles = pmb_host_allocate(ids),
    .offsets = pmb_host_allocate(ids / 3 + 4),
    .id_type = PMB_INT32 };
  void *const arrays[] = { mesh.points, mesh.normals, mesh.triangles, mesh.offsets };
  double best = INFINITY;
  for (int i = 0; i < ROUNDS; i++) {
    const double begin = milliseconds();
    CHECK_STATUS(context, pmb_particles_emit(particles, &mesh), PMB_OK);
    best = fmin(best, milliseconds() - begin);
  }
  for (int i = 0; i < 4; i++) pmb_host_release(arrays[i]);
  return best;
}

/* Counts and emits; prints a row of the table. */
static void row(pmb_context *context, const char *on, const char *name, const pmb_particle_request *request)
{
  const int gpu = info_of(context).device == PMB_DEVICE_GPU;
  pmb_particles *particles;
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  double best = INFINITY;
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  for (int i = 0; i < ROUNDS; i++) {
    const double begin = milliseconds();
    CHECK_STATUS(context, pmb_particles_count(particles, request, &sizes), PMB_OK);
    best = fmin(best, milliseconds() - begin);
  }
  printf("| %s | %lld | %lld | %s | %.2f | %.2f | %.2f |\n", name, (long long)request->positions.count,
    (long long)sizes.triangles, on, best, emit(context, particles, &sizes),
    1e-9 * (double)(gpu ? info_of(context).device_bytes : info_of(context).bytes));
  fflush(stdout);
  pmb_particles_destroy(particles);
}

static void rows(pmb_context *gpu, pmb_context *cpu, const scene *s)
{
  int64_t count;
  double longest;
  OWNED float *places = make_places(s, &count, &longest);
  const pmb_particle_request request = { .struct_size = sizeof request,
    .positions = { places, PMB_FLOAT32, count, 0 },
    .spacing = s->cells ? longest / s->cells : 0.25,
    .isovalue = 0.6,
    .kernel = s->kernel,
    .radius = 0.5,
    .anisotropic = s->anisotropic };
  row(gpu, "GPU", s->name, &request);
  if (s->thousands < 10000) row(cpu, "CPU", s->name, &request);
}

int main(void)
{
  pmb_context *gpu = gpu_new(0), *cpu = cpu_new();
  printf(
    "%s, and %d threads of the CPU; ms, fastest of %d\n\n", info_of(gpu).device_name, info_of(cpu).threads, ROUNDS);
  printf("| scene | particles | triangles | on | count | emit | GB |\n|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) rows(gpu, cpu, &scenes[i]);
  pmb_destroy(gpu);
  pmb_destroy(cpu);
  return test_failures() > 0;
}
