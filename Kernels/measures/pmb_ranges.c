/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_find_ranges: least and greatest values of an array of tuples, as VTK defines them. */
#include <math.h>

#include "core/pmb_backend.h"

enum { CHUNK = 16384, MOST_COMPONENTS = 9 };

/* Of components, and of the sum of squares behind them. A worker's own, so that none writes to another's cache line. */
typedef struct worker_range {
  _Alignas(64) double least[MOST_COMPONENTS + 1];
  double greatest[MOST_COMPONENTS + 1];
} worker_range;

typedef struct range_search {
  const void *values;
  int components;
  int64_t tuples;
  worker_range *workers;
} range_search;

/* The sum of squares is in double and in the order of components: so is VTK's. */
#define DEFINE_LOOP(name, type)                                                                              \
  static inline void name##_in(const type *value, int64_t tuples, const int components, worker_range *range) \
  {                                                                                                          \
    type least[MOST_COMPONENTS], greatest[MOST_COMPONENTS];                                                  \
    double shortest = range->least[components], longest = range->greatest[components];                       \
    for (int c = 0; c < components; ++c) {                                                                   \
      least[c] = (type)range->least[c];                                                                      \
      greatest[c] = (type)range->greatest[c];                                                                \
    }                                                                                                        \
    for (int64_t i = 0; i < tuples; ++i, value += components) {                                              \
      double squares = 0;                                                                                    \
      for (int c = 0; c < components; ++c) {                                                                 \
        least[c] = value[c] < least[c] ? value[c] : least[c];                                                \
        greatest[c] = value[c] > greatest[c] ? value[c] : greatest[c];                                       \
        squares += (double)value[c] * value[c];                                                              \
      }                                                                                                      \
      shortest = squares < shortest ? squares : shortest;                                                    \
      longest = squares > longest ? squares : longest;                                                       \
    }                                                                                                        \
    for (int c = 0; c < components; ++c) {                                                                   \
      range->least[c] = least[c];                                                                            \
      range->greatest[c] = greatest[c];                                                                      \
    }                                                                                                        \
    range->least[components] = shortest;                                                                     \
    range->greatest[components] = longest;                                                                   \
  }                                                                                                          \
  static void name(void *arg, int worker, size_t chunk)                                                      \
  {                                                                                                          \
    const range_search *search = arg;                                                                        \
    const int64_t begin = (int64_t)chunk * CHUNK, left = search->tuples - begin;                             \
    const type *value = (const type *)search->values + begin * search->components;                           \
    const int64_t tuples = left < CHUNK ? left : CHUNK;                                                      \
    if (search->components == 3) { /* points and normals: the compiler keeps all in registers */             \
      name##_in(value, tuples, 3, &search->workers[worker]);                                                 \
    } else {                                                                                                 \
      name##_in(value, tuples, search->components, &search->workers[worker]);                                \
    }                                                                                                        \
  }
DEFINE_LOOP(search_f32, float)
DEFINE_LOOP(search_f64, double)

static void join_workers(const range_search *search, int count, double *ranges)
{
  for (int c = 0; c <= search->components; ++c) {
    double least = INFINITY, greatest = -INFINITY;
    for (int w = 0; w < count; ++w) {
      least = fmin(least, search->workers[w].least[c]);
      greatest = fmax(greatest, search->workers[w].greatest[c]);
    }
    ranges[2 * c] = c < search->components ? least : sqrt(least);
    ranges[2 * c + 1] = c < search->components ? greatest : sqrt(greatest);
  }
}

pmb_status pmb_find_ranges(
  pmb_context *context, const void *values, pmb_type type, int components, int64_t tuples, double *ranges)
{
  if (!context) {
    return PMB_INVALID;
  }
  context->error[0] = '\0';
  if (!values || !ranges || (type != PMB_FLOAT32 && type != PMB_FLOAT64) || components < 1 ||
    components > MOST_COMPONENTS || tuples < 1) {
    return pmb_fail(context, PMB_INVALID,
      "pmb_find_ranges: values is %s, ranges %s, type %d, components %d, tuples %lld; set both pointers, PMB_FLOAT32 (%d) "
      "or PMB_FLOAT64 (%d), 1 to %d components and at least one tuple",
      values ? "set" : "NULL", ranges ? "set" : "NULL", (int)type, components, (long long)tuples, (int)PMB_FLOAT32,
      (int)PMB_FLOAT64, (int)MOST_COMPONENTS);
  }
  const int count = context->crew.workers;
  range_search search = { values, components, tuples,
    pmb_memory_take(&context->memory, (size_t)count, sizeof(worker_range)) };
  if (!search.workers) {
    return pmb_fail(
      context, PMB_OUT_OF_MEMORY, "pmb_find_ranges: no memory for %d times %zu bytes", count, sizeof(worker_range));
  }
  for (int w = 0; w < count; ++w) {
    for (int c = 0; c <= components; ++c) {
      search.workers[w].least[c] = INFINITY;
      search.workers[w].greatest[c] = -INFINITY;
    }
  }
  context->crew.highest = 0;
  context->crew.fraction_begin = context->crew.fraction_end = 1; /* too short for a progress of its own */
  const int done = pmb_crew_loop(
    &context->crew, (size_t)((tuples + CHUNK - 1) / CHUNK), type == PMB_FLOAT32 ? search_f32 : search_f64, &search);
  if (done) {
    join_workers(&search, count, ranges);
  }
  pmb_memory_give(&context->memory, search.workers);
  return done ? PMB_OK : pmb_fail(context, PMB_ABORTED, "aborted by the progress hook");
}
