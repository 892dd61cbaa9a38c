/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_find_ranges: least and greatest values of an array of tuples, as VTK defines them. */
#include <math.h>
#include <stdatomic.h>

#include "core/pmb_backend.h"

enum { CHUNK = 16384, MOST_COMPONENTS = 9 };

typedef struct range_search {
  const void *values;
  int components;
  int64_t tuples;
  /* Of the components, then of the sum of squares. They settle after a few chunks, and then are only read. */
  _Atomic double least[MOST_COMPONENTS + 1], greatest[MOST_COMPONENTS + 1];
} range_search;

static void extend(range_search *search, int c, double least, double greatest)
{
  double old = atomic_load_explicit(&search->least[c], memory_order_relaxed);
  while (least < old && !atomic_compare_exchange_weak(&search->least[c], &old, least)) {
  }
  old = atomic_load_explicit(&search->greatest[c], memory_order_relaxed);
  while (greatest > old && !atomic_compare_exchange_weak(&search->greatest[c], &old, greatest)) {
  }
}

/* Sums squares in double and in the order of components, as VTK does. */
#define DEFINE_SEARCH(name, type)                                                                                 \
  static inline void name##_in(range_search *search, const type *value, int64_t tuples, const int components)     \
  {                                                                                                               \
    type least[MOST_COMPONENTS], greatest[MOST_COMPONENTS];                                                       \
    double shortest = INFINITY, longest = -INFINITY;                                                              \
    for (int c = 0; c < components; ++c) {                                                                        \
      least[c] = INFINITY;                                                                                        \
      greatest[c] = -INFINITY;                                                                                    \
    }                                                                                                             \
    for (int64_t i = 0; i < tuples; ++i, value += components) {                                                   \
      double squares = 0;                                                                                         \
      for (int c = 0; c < components; ++c) {                                                                      \
        least[c] = value[c] < least[c] ? value[c] : least[c];                                                     \
        greatest[c] = value[c] > greatest[c] ? value[c] : greatest[c];                                            \
        squares += (double)value[c] * value[c];                                                                   \
      }                                                                                                           \
      shortest = squares < shortest ? squares : shortest;                                                         \
      longest = squares > longest ? squares : longest;                                                            \
    }                                                                                                             \
    for (int c = 0; c <= components; ++c) {                                                                       \
      extend(                                                                                                     \
        search, c, c < components ? (double)least[c] : shortest, c < components ? (double)greatest[c] : longest); \
    }                                                                                                             \
  }                                                                                                               \
  static void name(void *arg, int worker, size_t chunk)                                                           \
  {                                                                                                               \
    range_search *search = arg;                                                                                   \
    const int64_t begin = (int64_t)chunk * CHUNK, left = search->tuples - begin;                                  \
    const type *value = (const type *)search->values + begin * search->components;                                \
    (void)worker;                                                                                                 \
    if (search->components == 3) { /* a constant for the compiler, which then keeps all in registers */           \
      name##_in(search, value, left < CHUNK ? left : CHUNK, 3);                                                   \
    } else {                                                                                                      \
      name##_in(search, value, left < CHUNK ? left : CHUNK, search->components);                                  \
    }                                                                                                             \
  }
DEFINE_SEARCH(search_f32, float)
DEFINE_SEARCH(search_f64, double)

pmb_status pmb_find_ranges(
  pmb_context *context, const void *values, pmb_type type, int components, int64_t tuples, double *ranges)
{
  PMB_STEP(pmb_begin(context));
  PMB_FAIL_IF(
    !values || !ranges || !pmb_type_is_float(type) || components < 1 || components > MOST_COMPONENTS || tuples < 1,
    context, PMB_INVALID,
    "pmb_find_ranges: values is %s, ranges %s, type %d, components %d, tuples %lld; set both pointers, PMB_FLOAT32 (%d) "
    "or PMB_FLOAT64 (%d), 1 to %d components and at least one tuple",
    values ? "set" : "NULL", ranges ? "set" : "NULL", (int)type, components, (long long)tuples, (int)PMB_FLOAT32,
    (int)PMB_FLOAT64, (int)MOST_COMPONENTS);
  range_search search = { .values = values, .components = components, .tuples = tuples };
  for (int c = 0; c <= components; ++c) {
    atomic_init(&search.least[c], INFINITY);
    atomic_init(&search.greatest[c], -INFINITY);
  }
  context->crew.fraction_begin = 1; /* too short for a progress of its own */
  PMB_STEP(pmb_loop(context, (tuples + CHUNK - 1) / CHUNK, type == PMB_FLOAT32 ? search_f32 : search_f64, &search));
  for (int c = 0; c <= components; ++c) {
    ranges[2 * c] = c < components ? search.least[c] : sqrt(search.least[c]);
    ranges[2 * c + 1] = c < components ? search.greatest[c] : sqrt(search.greatest[c]);
  }
  return PMB_OK;
}
