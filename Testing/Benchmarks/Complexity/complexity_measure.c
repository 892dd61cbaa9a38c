/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "complexity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmb_measure_gpu.h"

const char *const quantity_names[QUANTITIES] = { "bind", "select", "count", "emit", "change" };

enum {
  REPEATS = 40,
  LEAST_REPEATS = 5,
  GPU_REPEATS = 20,
  TOGETHER = 16 /* isovalues that a GPU takes as one group */
};
static const double enough_ms = 400; /* for one figure */

/* What a row is measured with. */
typedef struct bench {
  pmb_context *context;
  const cube *c;
  pmb_volume volume;
  pmb_mesh mesh;
  pmb_attribute attributes[MOST_ARRAYS];
  float *arrays; /* that the attributes are of, one after another */
} bench;

static clockid_t used_clock = CLOCK_MONOTONIC;

static double now(void)
{
  struct timespec t;
  clock_gettime(used_clock, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int fail(const bench *b, const char *what)
{
  fprintf(stderr, "pmb_bench_complexity: %s\n", what ? what : pmb_error(b->context));
  return 0;
}

static pmb_options options_of(const settings *s)
{
  return (pmb_options){ .struct_size = sizeof(pmb_options), .device = s->device, .threads = s->threads };
}

int describe_device(const settings *s, char *text, size_t size)
{
  const pmb_options options = options_of(s);
  pmb_info info = { .struct_size = sizeof info };
  bench b = { 0 };
  if (pmb_create(&options, &b.context) != PMB_OK) return fail(&b, NULL);
  pmb_get_info(b.context, &info);
  if (info.device == PMB_DEVICE_GPU)
    snprintf(text, size, "%s", info.device_name);
  else
    snprintf(text, size, "cpu %s, %d thread%s", info.path, info.threads, info.threads == 1 ? "" : "s");
  pmb_destroy(b.context);
  return 1;
}

static void bench_free(bench *b)
{
  free(b->mesh.points);
  free(b->mesh.normals);
  free(b->mesh.triangles);
  for (int n = 0; n < MOST_ARRAYS; n++) free(b->attributes[n].output);
  free(b->arrays);
  pmb_destroy(b->context);
}

/* Arrays with values of their own, which no other pass has in a cache. */
static int make_arrays(bench *b, int count)
{
  const size_t samples = (size_t)(b->c->side * b->c->side * b->c->side);
  if (count == 0) return 1;
  if (!memory_is_free(4.0 * (double)samples * count, "the arrays")) return 0;
  b->arrays = malloc(samples * (size_t)count * sizeof *b->arrays);
  if (!b->arrays) return fail(b, "no memory for the arrays");
  for (size_t i = 0; i < samples * (size_t)count; i++) b->arrays[i] = (float)(i % 1021);
  for (int n = 0; n < count; n++)
    b->attributes[n] = (pmb_attribute){
      .samples = b->arrays + samples * (size_t)n, .type = PMB_FLOAT32, .components = 1, .version = (uint64_t)n + 1
    };
  return 1;
}

static int make_mesh(bench *b, const pmb_sizes *sizes, int arrays)
{
  const size_t points = (size_t)sizes->points, triangles = (size_t)sizes->triangles;
  if (!memory_is_free((24.0 + 4.0 * arrays) * (double)points + 12.0 * (double)triangles, "the mesh")) return 0;
  b->mesh = (pmb_mesh){ .struct_size = sizeof b->mesh,
    .point_capacity = sizes->points,
    .triangle_capacity = sizes->triangles,
    .points = malloc(12 * points + 1),
    .normals = malloc(12 * points + 1),
    .triangles = malloc(12 * triangles + 1),
    .point_type = PMB_FLOAT32,
    .id_type = PMB_INT32,
    .attributes = b->attributes,
    .attribute_count = arrays };
  int made = b->mesh.points && b->mesh.normals && b->mesh.triangles;
  for (int n = 0; n < arrays; n++) {
    b->attributes[n].output = malloc(4 * points + 1);
    made = made && b->attributes[n].output;
  }
  return made ? 1 : fail(b, "no memory for the mesh");
}

static int bench_new(bench *b, const settings *s, const cube *c)
{
  const pmb_options options = options_of(s);
  memset(b, 0, sizeof *b);
  b->c = c;
  b->volume = (pmb_volume){
    .struct_size = sizeof b->volume, .samples = c->samples, .type = PMB_FLOAT32, .dims = { c->side, c->side, c->side }
  };
  if (pmb_create(&options, &b->context) != PMB_OK) return fail(b, NULL);
  return pmb_bind(b->context, &b->volume) == PMB_OK || fail(b, NULL);
}

/* The least time, and of its parts, of up to REPEATS calls of `once`, which fills ms[0..parts-1] and adds up to ms[parts]. */
static int least_of(const settings *s, int (*once)(bench *b, const pmb_request *request, double *ms), bench *b,
  const pmb_request *request, int parts, double *least)
{
  const double begin = now();
  double ms[QUANTITIES];
  for (int n = 0; n < (s->quick ? 1 : REPEATS) && (n < LEAST_REPEATS || now() - begin < enough_ms); n++) {
    if (!once(b, request, ms)) return 0;
    for (int p = 0; p <= parts; p++) least[p] = n == 0 || ms[p] < least[p] ? ms[p] : least[p];
  }
  return 1;
}

static int bind_once(bench *b, const pmb_request *request, double *ms)
{
  (void)request;
  const double begin = now();
  if (pmb_bind(b->context, &b->volume) != PMB_OK) return fail(b, NULL);
  ms[0] = now() - begin;
  return 1;
}

static int change_once(bench *b, const pmb_request *request, double *ms)
{
  pmb_sizes sizes;
  const double begin = now();
  if (pmb_count(b->context, request, &sizes, NULL) != PMB_OK) return fail(b, NULL);
  const double middle = now();
  if (pmb_emit(b->context, &b->mesh) != PMB_OK) return fail(b, NULL);
  const double end = now();
  ms[0] = middle - begin;
  ms[1] = end - middle;
  ms[2] = end - begin;
  return 1;
}

static int measure_cpu(const settings *s, bench *b, const pmb_request *request, row *r)
{
  const double least = LEAST;
  const pmb_request smallest = { sizeof smallest, &least, 1, 0 };
  double ms[QUANTITIES];
  if (!least_of(s, bind_once, b, NULL, 0, &r->ms[BIND])) return 0;
  b->mesh.attribute_count = 0;
  if (!least_of(s, change_once, b, &smallest, 2, ms)) return 0;
  r->ms[SELECT] = ms[2];
  b->mesh.attribute_count = r->arrays;
  if (!least_of(s, change_once, b, request, 2, ms)) return 0;
  r->ms[COUNT] = ms[0];
  r->ms[EMIT] = ms[1];
  r->ms[CHANGE] = ms[2];
  return 1;
}

/* Kernel times; by_calls: of pmb_count and pmb_emit, transfers included, since pmb_measure_gpu knows no arrays. */
static int measure_gpu(const settings *s, bench *b, int by_calls, const pmb_request *request, row *r)
{
  const int repeats = s->quick ? 1 : GPU_REPEATS;
  const double least = LEAST;
  pmb_gpu_times times;
  double ms[QUANTITIES];
  if (by_calls) {
    if (!least_of(s, change_once, b, request, 2, ms)) return 0;
    memcpy(&r->ms[COUNT], ms, 3 * sizeof *ms);
    return 1;
  }
  if (pmb_measure_gpu(b->context, &least, 1, 0, repeats, &times) != PMB_OK) return fail(b, NULL);
  r->ms[SELECT] = times.isovalues;
  memset(&r->ms[COUNT], 0, 3 * sizeof *r->ms);
  for (int64_t first = 0; first < request->isovalue_count; first += TOGETHER) {
    const int64_t left = request->isovalue_count - first;
    if (pmb_measure_gpu(
          b->context, request->isovalues + first, left < TOGETHER ? left : TOGETHER, 0, repeats, &times) != PMB_OK)
      return fail(b, NULL);
    r->ms[BIND] = times.summarize;
    r->ms[COUNT] += times.select + times.classify;
    r->ms[EMIT] += times.vertices + times.triangles;
    r->ms[CHANGE] += times.isovalues;
  }
  return 1;
}

static void judge(const cube *c, const double *isovalues, const pmb_sizes *each, row *r)
{
  r->agrees = 1;
  for (int n = 0; n < r->isovalues; n++) {
    const pmb_sizes right = cube_count(c, isovalues[n]);
    r->agrees = r->agrees && right.points == each[n].points && right.triangles == each[n].triangles;
  }
}

int measure(const settings *s, const cube *c, const double *isovalues, row *r)
{
  const pmb_request request = { sizeof request, isovalues, r->isovalues, 0 };
  pmb_sizes each[MOST_ISOVALUES];
  pmb_info info = { .struct_size = sizeof info };
  bench b;
  used_clock = s->cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  int done = bench_new(&b, s, c);
  for (int q = 0; q < QUANTITIES; q++) r->ms[q] = -1;
  if (done && pmb_count(b.context, &request, &r->sizes, each) != PMB_OK) done = fail(&b, NULL);
  if (done) {
    pmb_get_info(b.context, &info);
    r->side = c->side;
    r->samples = c->side * c->side * c->side;
    r->bricks = info.bricks;
    r->active = info.active_bricks;
    judge(c, isovalues, each, r);
    const int on_gpu = info.device == PMB_DEVICE_GPU, by_calls = !on_gpu || !strcmp(r->sweep, "arrays");
    done = !by_calls || (make_arrays(&b, r->arrays) && make_mesh(&b, &r->sizes, r->arrays));
    done = done && (on_gpu ? measure_gpu(s, &b, by_calls, &request, r) : measure_cpu(s, &b, &request, r));
  }
  bench_free(&b);
  return done;
}
