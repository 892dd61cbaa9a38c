/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_hidden.h"

#include <stdatomic.h>

enum { PORTION = 1 << 20 }; /* bytes of a unit of work */

static int any_bit(const uint8_t *flags, int64_t n, uint8_t bits)
{
  uint8_t all = 0;
  for (int64_t i = 0; i < n; ++i) {
    all |= flags[i];
  }
  return (all & bits) != 0;
}

/* Whether one of n[0] x n[1] x n[2] of nx x ny x ... flags, from `first` on, has one of the bits. */
static int any_flag(
  const uint8_t *flags, uint8_t bits, int64_t nx, int64_t ny, const int64_t *first, int n0, int n1, int n2)
{
  int any = 0;
  for (int r = 0; flags && r < n1 * n2; ++r) {
    any |= any_bit(flags + first[0] + nx * (first[1] + r % n1 + ny * (first[2] + r / n1)), n0, bits);
  }
  return any;
}

int pmb_hides_any_sample(const pmb_volume *v, const int64_t first[3], const int n[3])
{
  return any_flag(v->sample_flags, v->hidden_sample_bits, v->dims[0], v->dims[1], first, n[0], n[1], n[2]);
}

int pmb_hides_any_cell(const pmb_volume *v, const int64_t first[3], const int n[3])
{
  return any_flag(
    v->cell_flags, v->hidden_cell_bits, v->dims[0] - 1, v->dims[1] - 1, first, n[0] - 1, n[1] - 1, n[2] - 1);
}

typedef struct search {
  const uint8_t *flags;
  int64_t n;
  uint8_t bits;
  atomic_int found;
} search;

static void search_portion(void *data, int worker, size_t i)
{
  search *s = data;
  const int64_t begin = (int64_t)i * PORTION, left = s->n - begin;
  (void)worker;
  if (!atomic_load_explicit(&s->found, memory_order_relaxed) &&
    any_bit(s->flags + begin, left < PORTION ? left : PORTION, s->bits)) {
    atomic_store_explicit(&s->found, 1, memory_order_relaxed);
  }
}

/* Sets *flags to NULL if none of n has one of the bits. */
static pmb_status keep_if_any(pmb_context *context, const uint8_t **flags, int64_t n, uint8_t bits)
{
  search s = { *flags, n, bits, 0 };
  const size_t portions = *flags && bits ? (size_t)((n + PORTION - 1) / PORTION) : 0;
  PMB_STEP(portions > 0 ? pmb_loop(context, (int64_t)portions, search_portion, &s) : PMB_OK);
  *flags = atomic_load(&s.found) ? *flags : NULL;
  return PMB_OK;
}

pmb_status pmb_hidden_find(pmb_context *context)
{
  pmb_volume *v = &context->volume;
  const int64_t *dims = v->dims;
  const double end = context->crew.fraction_end;
  context->crew.fraction_end = context->crew.fraction_begin; /* far less work than what follows */
  PMB_STEP(keep_if_any(context, &v->sample_flags, dims[0] * dims[1] * dims[2], v->hidden_sample_bits));
  PMB_STEP(keep_if_any(context, &v->cell_flags, (dims[0] - 1) * (dims[1] - 1) * (dims[2] - 1), v->hidden_cell_bits));
  context->crew.fraction_end = end;
  return PMB_OK;
}
