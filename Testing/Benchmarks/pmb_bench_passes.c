/* SPDX-License-Identifier: BSD-3-Clause
 * Times each pass of the CPU backend, without VTK: the least of several runs; beside pass summarize the rate at which the
 * same threads only read the volume. PATH is pmb_options.cpu_path; see main for the others. */
#define _GNU_SOURCE
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/pmb_cpu.h"

enum { SUMMARIZE, SELECT_COUNT, SELECT_WRITE, CLASSIFY, EMIT, EMIT_64, READ, PASSES };
static const char *const pass_names[PASSES] = { "summarize", "select, counting", "select, writing", "classify",
  "points, 32-bit triangles", "points, 64-bit triangles", "reading alone" };

static pmb_cpu_loops real_loops;
static atomic_llong nanoseconds[PASSES]; /* of one run, all threads together */
static double least[PASSES];
static int emitting = EMIT; /* EMIT or EMIT_64 */

/* Processor time of this thread, which other programs disturb less. */
static long long now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* timed_LOOP: a loop of the backend, timed. */
#define TIMED(loop, pass)                                      \
  static void timed_##loop(void *cpu, int worker, size_t item) \
  {                                                            \
    const long long start = now();                             \
    real_loops.loop(cpu, worker, item);                        \
    atomic_fetch_add(&nanoseconds[pass], now() - start);       \
  }
TIMED(summarize, SUMMARIZE)
TIMED(select_count, SELECT_COUNT)
TIMED(select_write, SELECT_WRITE)
TIMED(classify, CLASSIFY)
TIMED(emit, emitting)

static void end_of_run(int first, int last)
{
  for (int pass = first; pass <= last; ++pass) {
    const double time = (double)atomic_exchange(&nanoseconds[pass], 0);
    least[pass] = least[pass] == 0 || time < least[pass] ? time : least[pass];
  }
}

/* ---- the volume ---- */

static double value_at(char name, double x, double y, double z)
{
  const double k = 12 * 3.14159265358979323846;
  if (name == 'c') return (1 - 16 * x * y * z - 4 * (x * x + y * y + z * z) + 27) / 32;
  if (name == 'g') return (sin(k * x) * cos(k * y) + sin(k * y) * cos(k * z) + sin(k * z) * cos(k * x) + 1.5) / 3;
  return (x * x + y * y + z * z) / 3;
}

/* The isovalues of Docs/PERFORMANCE.md, scaled to [0,1] like these fields. */
static double isovalue_of(char name)
{
  return name == 'c' ? (-0.012 + 27) / 32 : name == 'g' ? (0.1 + 1.5) / 3 : 0.2;
}

typedef struct sampled {
  void *samples;
  size_t bytes;
  pmb_type type;
  int64_t n;
  double scale;
} sampled;

static int sample(sampled *s, char name, int64_t n, const char *type)
{
  static const struct {
    const char *name;
    pmb_type type;
    double scale;
  } types[4] = { { "u8", PMB_UINT8, 255 }, { "i16", PMB_INT16, 32767 }, { "f32", PMB_FLOAT32, 1 },
    { "f64", PMB_FLOAT64, 1 } };
  const double h = 2.0 / (double)(n - 1);
  int t = 0;
  while (t < 4 && strcmp(type, types[t].name) != 0) ++t;
  if (t == 4) return 0;
  *s = (sampled){ NULL, (size_t)(n * n * n) * pmb_type_size(types[t].type), types[t].type, n, types[t].scale };
  s->samples = aligned_alloc(64, (s->bytes + 63) / 64 * 64);
  for (int64_t i = 0; s->samples && i < n * n * n; ++i) {
    const double x = (double)(i % n) * h - 1, y = (double)(i / n % n) * h - 1, z = (double)(i / n / n) * h - 1;
    const double v = s->scale * value_at(name, x, y, z);
    if (t == 0) ((uint8_t *)s->samples)[i] = (uint8_t)lround(v);
    if (t == 1) ((int16_t *)s->samples)[i] = (int16_t)lround(v);
    if (t == 2) ((float *)s->samples)[i] = (float)v;
    if (t == 3) ((double *)s->samples)[i] = v;
  }
  return s->samples != NULL;
}

/* ---- reading alone ---- */

enum { PORTION = 1 << 20, MOST_STREAMS = 4 };
static _Atomic uint64_t sink;

typedef struct reading {
  const sampled *from;
  size_t streams; /* parts of a portion that are read in turn: some machines are faster with several */
} reading;

static void read_portion(void *data, int worker, size_t i)
{
  const reading *r = data;
  const size_t left = r->from->bytes - i * PORTION;
  const size_t part = (left < PORTION ? left : PORTION) / r->streams / 64 * 8;
  const uint64_t *in = (const uint64_t *)r->from->samples + i * PORTION / 8;
  uint64_t sums[8] = { 0 };
  const long long start = now();
  (void)worker;
  for (size_t j = 0; j < part; j += 8) {
    for (size_t s = 0; s < r->streams; ++s) {
      for (size_t l = 0; l < 8; ++l) sums[l] |= in[s * part + j + l];
    }
  }
  atomic_fetch_add(&nanoseconds[READ], now() - start);
  for (int l = 0; l < 8; ++l) atomic_fetch_xor(&sink, sums[l]);
}

/* ---- runs ---- */

static int fail(pmb_context *context)
{
  fprintf(stderr, "pmb_bench_passes: %s\n", context ? pmb_error(context) : "no context");
  return 0;
}

static void *output(void **array, size_t *capacity, size_t bytes)
{
  if (bytes > *capacity) {
    free(*array);
    *array = malloc(bytes);
    *capacity = *array ? bytes : 0;
    if (*array) {
      memset(*array, 0, bytes); /* keeps page faults out of the times */
    }
  }
  return *array;
}

static int extract(pmb_context *context, double isovalue, pmb_sizes *sizes)
{
  static void *arrays[3];
  static size_t capacities[3];
  const pmb_request request = { .struct_size = sizeof(request), .isovalues = &isovalue, .isovalue_count = 1 };
  if (pmb_count(context, &request, sizes, NULL) != PMB_OK) return fail(context);
  const size_t n = (size_t)sizes->points, ids = 3 * (size_t)sizes->triangles;
  const int wide = emitting == EMIT_64;
  const pmb_mesh mesh = { .struct_size = sizeof(mesh),
    .point_capacity = sizes->points,
    .triangle_capacity = sizes->triangles,
    .points = output(&arrays[0], &capacities[0], 12 * n + 1),
    .point_type = PMB_FLOAT32,
    .normals = output(&arrays[1], &capacities[1], 12 * n + 1),
    .triangles = output(&arrays[2], &capacities[2], (wide ? 8 : 4) * ids + 1),
    .id_type = wide ? PMB_INT64 : PMB_INT32 };
  return pmb_emit(context, &mesh) == PMB_OK || fail(context);
}

static int run(pmb_context *context, sampled *s, double isovalue, int runs, pmb_sizes *sizes)
{
  const pmb_volume volume = {
    .struct_size = sizeof(volume), .samples = s->samples, .type = s->type, .dims = { s->n, s->n, s->n }
  };
  pmb_cpu *cpu = context->state;
  real_loops = cpu->loops;
  cpu->loops = (pmb_cpu_loops){ .summarize = timed_summarize,
    .select_count = timed_select_count,
    .select_write = timed_select_write,
    .classify = timed_classify,
    .emit = timed_emit };
  int good = 1;
  for (int i = 0; good && i < runs; ++i) {
    good = pmb_bind(context, &volume) == PMB_OK || fail(context);
    end_of_run(SUMMARIZE, SUMMARIZE);
    for (int j = 0; good && j < 4; ++j) {
      emitting = j & 1 ? EMIT_64 : EMIT;
      good = extract(context, isovalue, sizes);
      end_of_run(SELECT_COUNT, CLASSIFY);
      end_of_run(emitting, emitting);
    }
    for (size_t streams = 1; streams <= MOST_STREAMS; streams *= 2) {
      reading r = { s, streams };
      pmb_crew_loop(&context->crew, (s->bytes + PORTION - 1) / PORTION, read_portion, &r);
      end_of_run(READ, READ);
    }
  }
  cpu->loops = real_loops;
  return good;
}

static void print(const pmb_context *context, const sampled *s, pmb_sizes sizes)
{
  const double active = (double)context->info.active_bricks, all = (double)context->info.bricks;
  const double units[PASSES] = { all, all, all, active, active, active, all };
  printf("%s, %d threads: %lld of %lld bricks active, %lld points, %lld triangles; %lld bytes at most\n",
    context->info.path, context->crew.workers, (long long)context->info.active_bricks,
    (long long)context->info.bricks, (long long)sizes.points, (long long)sizes.triangles,
    (long long)context->memory.peak);
  for (int pass = 0; pass < PASSES; ++pass) {
    const double time = least[pass];
    printf(
      "  %-24s %9.3f ms %9.1f ns/brick", pass_names[pass], time / 1e6 / context->crew.workers, time / units[pass]);
    if (pass == SUMMARIZE || pass == READ) printf(" %6.1f GB/s", (double)s->bytes * context->crew.workers / time);
    if (pass == SUMMARIZE) printf(" (%.0f%% of reading alone)", 100 * least[READ] / time);
    printf("\n");
  }
}

int main(int argc, char **argv)
{
  const char *volume = argc > 1 ? argv[1] : "cayley", *type = argc > 3 ? argv[3] : "f32";
  const long n = argc > 2 ? atol(argv[2]) : 256, threads = argc > 4 ? atol(argv[4]) : 1,
             runs = argc > 5 ? atol(argv[5]) : 7;
  sampled s;
  if (argc > 7 || !strchr("cgs", volume[0]) || n < 2 || n > 2048 || threads < 1 || threads > PMB_MAX_THREADS ||
    runs < 1 || !sample(&s, volume[0], n, type)) {
    fprintf(stderr,
      "pmb_bench_passes [cayley|gyroid|sphere [SIZE, 2 to 2048 [u8|i16|f32|f64 [THREADS [RUNS [PATH]]]]]]; or no "
      "memory\n");
    return 2;
  }
  const pmb_options options = { .struct_size = sizeof(options),
    .device = PMB_DEVICE_CPU,
    .threads = (int)threads,
    .cpu_path = argc > 6 ? argv[6] : NULL };
  pmb_context *context = NULL;
  pmb_sizes sizes;
  int good = pmb_create(&options, &context) == PMB_OK || fail(context);
  good = good && run(context, &s, isovalue_of(volume[0]) * s.scale, (int)runs, &sizes);
  if (good) print(context, &s, sizes);
  pmb_destroy(context);
  free(s.samples);
  return !good;
}
