/* SPDX-License-Identifier: BSD-3-Clause
 * Animated clouds of particles: PMB's surface of particles beside the pipeline of the WebGL page (papers_webgl.cuh). */
#include <math.h>
#include <stdlib.h>

#include "papers_bench.h"
#include "pmb_measure_gpu.h"

enum { MARGIN = 5, PARTICLE_DISTANCE = 13 }; /* cells to the border of the box; fifths of a cell between particles */
static const float smoothing = 2;            /* cells; kernels reach twice as far */

int64_t papers_cloud(int side, int step, float *places)
{
  const int across = 5 * (side - 2 * MARGIN) / PARTICLE_DISTANCE;
  uint32_t seed = 1;
  int64_t count = 0;
  for (int n = 0; n < across * across * across; n++) {
    const int at[3] = { n % across, n / across % across, n / across / across };
    const double x = 6.28 * at[0] / across, y = 6.28 * at[1] / across;
    if (at[2] > across * (0.5 + 0.2 * sin(x + 0.3 * step) * cos(y - 0.2 * step))) continue;
    for (int a = 0; a < 3; a++) {
      seed = seed * 1664525 + 1013904223;
      const float place = (float)at[a] + 0.3f + 0.3f * (float)(seed >> 8) / (1 << 24);
      if (places) places[3 * count + a] = MARGIN + PARTICLE_DISTANCE / 5.0f * place;
    }
    count++;
  }
  return count;
}

pmb_particle_request papers_cloud_request(const float *places, int64_t count, int on_device)
{
  const pmb_particle_request request = { .struct_size = sizeof request,
    .positions = { places, PMB_FLOAT32, count, 0 },
    .spacing = 1,
    .isovalue = PAPERS_CLOUD_ISOVALUE,
    .kernel = PMB_KERNEL_POLYNOMIAL,
    .radius = 1,
    .smoothing = smoothing,
    .on_device = on_device };
  return request;
}

/* What an animation needs on the GPU. */
typedef struct cloud {
  papers_memory memory, of_system[2];
  papers_volume volume;
  float *d_places;
  int64_t count;
  papers_state *state[2];
  pmb_context *context;
  pmb_particles *particles;
  pmb_mesh mesh;
} cloud;

/* Steps; `whole`: with the potential. They return 0 on failure. */
static int step_pmb(cloud *c, pmb_particle_normals normals, double *whole, double *mesh, papers_result *r)
{
  pmb_particle_request request = papers_cloud_request(c->d_places, c->count, 1);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  request.normals = normals;
  papers_start_clock();
  pmb_status status = pmb_particles_count(c->particles, &request, &sizes);
  *whole = papers_stop_clock();
  papers_start_clock();
  if (status == PMB_OK) status = pmb_particles_emit(c->particles, &c->mesh);
  *whole += *mesh = papers_stop_clock();
  r->points = sizes.points;
  r->triangles = sizes.triangles;
  if (status != PMB_OK) snprintf(r->message, sizeof r->message, "%s", pmb_error(c->context));
  return status == PMB_OK;
}

static int step_webgl(cloud *c, int sobel, double *whole, double *mesh, papers_result *r)
{
  papers_mesh made = { 0 };
  papers_start_clock();
  const char *error = papers_splat(c->d_places, c->count, smoothing, &c->volume);
  *whole = papers_stop_clock();
  papers_start_clock();
  const int good = !error && papers_extract(c->state[sobel], PAPERS_CLOUD_ISOVALUE, &made) == PAPERS_OK;
  *whole += *mesh = papers_stop_clock();
  r->points = made.points;
  r->triangles = made.triangles;
  return good;
}

static int begin(cloud *c, int side)
{
  const size_t cells = (size_t)side * (size_t)side * (size_t)side;
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU };
  *c = (cloud){ .memory.limit = SIZE_MAX, .of_system = { { .limit = SIZE_MAX }, { .limit = SIZE_MAX } } };
  /* A particle has more than 12 cells, a point more than 2, a triangle more than 1. */
  c->d_places = papers_take(&c->memory, PAPERS_ACCELERATION, cells);
  void *d_samples = papers_take(&c->memory, PAPERS_ACCELERATION, 4 * cells);
  c->volume = (papers_volume){ d_samples, PMB_FLOAT32, { side, side, side } };
  c->mesh = (pmb_mesh){ .struct_size = sizeof c->mesh,
    .point_capacity = (int64_t)cells / 2,
    .triangle_capacity = (int64_t)cells,
    .points = papers_take(&c->memory, PAPERS_OUTPUT, 6 * cells),
    .normals = papers_take(&c->memory, PAPERS_OUTPUT, 6 * cells),
    .triangles = papers_take(&c->memory, PAPERS_OUTPUT, 12 * cells),
    .point_type = PMB_FLOAT32,
    .id_type = PMB_INT32,
    .on_device = 1 };
  return c->d_places && d_samples && c->mesh.points && c->mesh.normals && c->mesh.triangles &&
    pmb_create(&options, &c->context) == PMB_OK && pmb_particles_create(c->context, &c->particles) == PMB_OK &&
    papers_create(&papers_webgl, &c->of_system[0], &c->volume, &c->state[0]) == PAPERS_OK &&
    papers_create(&papers_webgl_sobel, &c->of_system[1], &c->volume, &c->state[1]) == PAPERS_OK;
}

int papers_measure_cloud(int side, int repeats, papers_result results[PAPERS_CLOUDS])
{
  enum { WARM_UP = 3 };
  static const char *const names[] = { "pmb", "pmb_forward", "pmb_sobel", "webgl", "webgl_sobel" };
  static const pmb_particle_normals normals[] = { PMB_NORMALS_BY_KERNEL, PMB_NORMALS_BY_FORWARD,
    PMB_NORMALS_BY_SOBEL };
  double whole[PAPERS_CLOUDS][PAPERS_REPEATS_MOST], mesh[PAPERS_CLOUDS][PAPERS_REPEATS_MOST];
  cloud c;
  pmb_info info = { .struct_size = sizeof info };
  const size_t cells = (size_t)side * (size_t)side * (size_t)side;
  float *places = malloc(cells);
  int good = begin(&c, side) && places;
  for (int step = -WARM_UP; good && step < repeats; step++) {
    const int n = step < 0 ? 0 : step;
    c.count = papers_cloud(side, step, places);
    good = !papers_upload(c.d_places, places, 12 * (size_t)c.count);
    for (int s = 0; good && s < PAPERS_CLOUDS; s++) {
      results[s] = (papers_result){ .system = names[s] };
      good = s < 3 ? step_pmb(&c, normals[s], &whole[s][n], &mesh[s][n], &results[s])
                   : step_webgl(&c, s == 4, &whole[s][n], &mesh[s][n], &results[s]);
    }
  }
  for (int s = 0; s < PAPERS_CLOUDS; s++) {
    papers_result *r = &results[s];
    r->outcome = good ? PAPERS_MEASURED : PAPERS_BROKEN;
    if (!good) continue;
    r->first = pmb_median(whole[s], repeats);
    r->change = pmb_median(mesh[s], repeats);
    pmb_get_info(c.context, &info);
    r->acceleration = (size_t)info.device_bytes;
    r->output = 24 * (size_t)r->points + (s < 3 ? 12 * (size_t)r->triangles : 0);
    if (s >= 3) r->acceleration = c.of_system[s - 3].most[PAPERS_ACCELERATION] + 4 * cells; /* with the potential */
  }
  for (int s = 0; s < 2; s++) papers_destroy(c.state[s]), papers_free_memory(&c.of_system[s]);
  pmb_particles_destroy(c.particles);
  pmb_destroy(c.context);
  papers_free_memory(&c.memory);
  free(places);
  return good;
}
