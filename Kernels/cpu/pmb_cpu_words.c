/* SPDX-License-Identifier: BSD-3-Clause
 * Compares a brick's samples with the isovalue, to words of bits, for classify and triangles. */
#include <string.h>

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"

enum { COPY_PITCH = PMB_BRICK_X + 1 };

#define PMB_EACH_TYPE "cpu/pmb_cpu_words_template.h"
#include "shared/pmb_each_type.h"

typedef struct word_functions {
  int (*words)(const void *first, int begins, const int64_t *strides, const int *n, const pmb_isovalue *isovalue,
    pmb_cpu_words *words, pmb_cpu_words *equal);
  void (*row)(const void *source, int64_t stride, int n, const pmb_isovalue *isovalue, uint64_t *inside,
    uint64_t *equal, uint64_t *finite);
} word_functions;

#define PMB_WORDS(NAME, type, name, real) [PMB_##NAME] = { words_##name, row_##name },
static const word_functions by_type[] = { PMB_SAMPLE_TYPES(PMB_WORDS) };

/* Sample (x,y,z) of a brick. */
static const void *sample_of(const pmb_volume *v, const box *b, int x, int y, int z)
{
  const int64_t *o = b->origin, *s = v->strides;
  const int64_t element = (o[0] + x) * s[0] + (o[1] + y) * s[1] + (o[2] + z) * s[2];
  return (const char *)v->samples + element * (int64_t)pmb_type_size(v->type);
}

int pmb_cpu_compare_brick(const pmb_cpu_surface *surface, const box *b, pmb_cpu_words *words, pmb_cpu_words *equal)
{
  const pmb_volume *v = surface->volume;
  const void *first = sample_of(v, b, 0, 0, 0);
  return by_type[v->type].words(first, b->origin[0] == 0, v->strides, b->n, surface->isovalue, words, equal);
}

void pmb_cpu_compare_around(const pmb_cpu_surface *surface, const box *b, const int place[3], const int *low,
  const int *high, uint32_t *inside, uint32_t *equal)
{
  const pmb_volume *v = surface->volume;
  for (int z = low[2]; z <= high[2]; ++z) {
    for (int y = low[1]; y <= high[1]; ++y) {
      const void *first = sample_of(v, b, place[0] + low[0], place[1] + y, place[2] + z);
      const int bit = low[0] + 1 + 3 * (y + 1) + 9 * (z + 1);
      uint64_t in, same, finite;
      by_type[v->type].row(first, v->strides[0], high[0] - low[0] + 1, surface->isovalue, &in, &same, &finite);
      *inside |= (uint32_t)(in << bit);
      *equal |= (uint32_t)(same << bit);
    }
  }
}

/* Bits x + 1 of the hidden samples or cells x = first to last of row (y,z). */
PMB_INLINE uint64_t hidden_bits(const box *b, int first, int last, int y, int z, const pmb_volume *volume,
  int (*hides)(const pmb_volume *, int64_t, int64_t, int64_t))
{
  uint64_t bits = 0;
  for (int x = first; x <= last; ++x) {
    bits |= (uint64_t)hides(volume, b->origin[0] + x, b->origin[1] + y, b->origin[2] + z) << (x + 1);
  }
  return bits;
}

/* Row (y,z), which is in the volume. */
static void read_row(const pmb_cpu_surface *surface, const box *b, int y, int z, pmb_rows *rows)
{
  const pmb_volume *v = surface->volume;
  const int64_t left = v->dims[0] - 1 - b->origin[0];
  const int first = b->origin[0] > 0 ? -1 : 0, last = left > PMB_BRICK_X + 1 ? PMB_BRICK_X + 1 : (int)left;
  uint64_t inside, equal, valid;
  by_type[v->type].row(
    sample_of(v, b, first, y, z), v->strides[0], last - first + 1, surface->isovalue, &inside, &equal, &valid);
  valid <<= first + 1;
  if (b->hides) {
    valid &= ~hidden_bits(b, first, last, y, z, v, pmb_hides_sample);
  }
  rows->inside[z + 1][y + 1] = inside << (first + 1);
  rows->equal[z + 1][y + 1] = equal << (first + 1) & valid;
  rows->valid[z + 1][y + 1] = valid;
}

void pmb_cpu_read_rows(const pmb_cpu_surface *surface, const box *b, int from, pmb_rows *rows)
{
  const int64_t *dims = surface->volume->dims;
  for (int z = from; z <= PMB_BRICK_Z; ++z) {
    for (int y = from; y <= PMB_BRICK_Y; ++y) {
      const int64_t j = b->origin[1] + y, k = b->origin[2] + z;
      if (j >= 0 && j < dims[1] && k >= 0 && k < dims[2]) {
        read_row(surface, b, y, z, rows);
      } else {
        rows->inside[z + 1][y + 1] = rows->equal[z + 1][y + 1] = rows->valid[z + 1][y + 1] = 0;
      }
      if (y < PMB_BRICK_Y && z < PMB_BRICK_Z) {
        rows->hidden[z + 1][y + 1] = surface->any_flags & PMB_BRICK_HIDES_CELLS
          ? hidden_bits(b, -1, PMB_BRICK_X - 1, y, z, surface->volume, pmb_hides_cell)
          : 0;
      }
    }
  }
}
