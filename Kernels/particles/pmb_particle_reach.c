/* SPDX-License-Identifier: BSD-3-Clause
 * Pass reach: lists the bricks that a kernel may reach, in order. A brick counts if it has a sample within reach of a particle
 * along each axis. So does a brick just below such a sample, since it owns the edges to it. Works layer by layer, with a bit per
 * row of a layer and a bit per brick of a row. */
#include <stdatomic.h>

#include "particles/pmb_particle_job.h"

/* Counting stops early beyond this multiple of the brick limit. */
enum { FAR_TOO_MANY = 4 };

typedef struct layer_job {
  pmb_particles *p;
  int fills;
  atomic_llong bricks, layers; /* counted so far */
  size_t words_y, words_x;     /* sizes of a worker's bits */
} layer_job;

/* Bits that are set, and their bounds. */
typedef struct bit_row {
  uint64_t *bits;
  int64_t least, most;
} bit_row;

static void set_bits(bit_row *row, int64_t low, int64_t high)
{
  for (int64_t i = low; i <= high; ++i) {
    row->bits[i >> 6] |= (uint64_t)1 << (i & 63);
  }
  row->least = low < row->least ? low : row->least;
  row->most = high > row->most ? high : row->most;
}

/* Marks the bricks of row (y,z) that a grade reaches. row: the grade's first row of cubes near the layer. */
static void reach_row(
  const pmb_particles *p, const pmb_particle_grade *grade, int64_t y, int64_t z, int64_t row, bit_row *marked)
{
  const uint64_t *row_keys = p->row_keys.data;
  const uint32_t *begins = p->row_begins.data;
  const int32_t *cells = p->cells[0].data, reach = grade->reach;
  const int64_t y0 = pmb_first_cube(grade, reach, y * PMB_BRICK_Y);
  const int64_t z0 = pmb_first_cube(grade, reach, z * PMB_BRICK_Z);
  const int64_t y1 = pmb_end_cube(grade, reach, 1, y * PMB_BRICK_Y + PMB_BRICK_Y - 1);
  const int64_t z1 = pmb_end_cube(grade, reach, 2, z * PMB_BRICK_Z + PMB_BRICK_Z - 1);
  int64_t last_low = -1, last_high = -1;
  for (int64_t k = z0; k < z1; ++k) {
    const int64_t along = grade->row + grade->cubes[1] * k;
    row = pmb_find_key(row_keys, p->row_count, (uint64_t)(along + y0), row);
    for (; row < p->row_count && row_keys[row] < (uint64_t)(along + y1); ++row) {
      for (uint32_t i = begins[row]; i < begins[row + 1]; ++i) {
        const int64_t low = (cells[i] - reach) / PMB_BRICK_X, high = (cells[i] + reach) / PMB_BRICK_X;
        if (low != last_low || high != last_high) {
          set_bits(marked, low, high);
          last_low = low;
          last_high = high;
        }
      }
    }
  }
}

/* Counts the bricks of row (y,z) that a kernel reaches and writes them to `out` if set. rows: see reach_row, for each grade. */
static int64_t list_row(
  const pmb_particles *p, int64_t y, int64_t z, const int64_t *rows, uint64_t *bits, uint64_t *out)
{
  bit_row marked = { bits, INT64_MAX, -1 };
  int64_t count = 0;
  for (int g = 0; g < p->grade_count; ++g) {
    reach_row(p, p->grades + g, y, z, rows[g], &marked);
  }
  for (int64_t word = marked.least >> 6; word <= marked.most >> 6; ++word) {
    for (uint64_t rest = bits[word]; rest; rest &= rest - 1) {
      if (out) {
        out[count] = (uint64_t)(word * 64 + pmb_lowest_bit(rest) + p->bricks[0] * (y + p->bricks[1] * z));
      }
      ++count;
    }
    bits[word] = 0;
  }
  return count;
}

/* Marks the rows of bricks of layer z that a grade reaches. Returns its first row of cubes near the layer. */
static int64_t mark_rows(const pmb_particles *p, const pmb_particle_grade *grade, int64_t z, bit_row *marked)
{
  const uint64_t *row_keys = p->row_keys.data;
  const int64_t reach = grade->reach, along = grade->cubes[1], edge = (int64_t)1 << grade->shift;
  const int64_t z0 = pmb_first_cube(grade, reach, z * PMB_BRICK_Z);
  const int64_t z1 = pmb_end_cube(grade, reach, 2, z * PMB_BRICK_Z + PMB_BRICK_Z - 1);
  const int64_t first = pmb_find_key(row_keys, p->row_count, (uint64_t)(grade->row + along * z0), 0);
  for (int64_t i = first; i < p->row_count && row_keys[i] < (uint64_t)(grade->row + along * z1); ++i) {
    const int64_t y = ((int64_t)row_keys[i] - grade->row) % along << grade->shift;
    const int64_t low = y < reach ? 0 : (y - reach) / PMB_BRICK_Y, high = (y + edge - 1 + reach) / PMB_BRICK_Y;
    set_bits(marked, low, high < p->bricks[1] - 1 ? high : p->bricks[1] - 2);
  }
  return first;
}

/* Counts or writes the bricks of layer i. */
static void reach_layer(void *data, int worker, size_t i)
{
  layer_job *job = data;
  const pmb_particles *p = job->p;
  uint64_t *bits_y = (uint64_t *)p->bits.data + (size_t)worker * (job->words_y + job->words_x);
  bit_row marked = { bits_y, INT64_MAX, -1 };
  int64_t *begin = (int64_t *)p->layer_begins.data + i, count = 0, rows[PMB_PARTICLE_GRADES];
  uint64_t *out = job->fills ? (uint64_t *)p->bricks_reached.data + *begin : NULL;
  const int64_t z = ((const int64_t *)p->layers.data)[i];
  if (!job->fills && atomic_load(&job->bricks) / FAR_TOO_MANY > p->request.brick_limit) {
    *begin = 0;
    return;
  }
  for (int g = 0; g < p->grade_count; ++g) {
    rows[g] = mark_rows(p, p->grades + g, z, &marked);
  }
  for (int64_t word = marked.least >> 6; word <= marked.most >> 6; ++word) {
    for (uint64_t rest = bits_y[word]; rest; rest &= rest - 1) {
      const int64_t y = word * 64 + pmb_lowest_bit(rest);
      count += list_row(p, y, z, rows, bits_y + job->words_y, out ? out + count : NULL);
    }
    bits_y[word] = 0;
  }
  if (!job->fills) {
    *begin = count;
    atomic_fetch_add(&job->bricks, count);
    atomic_fetch_add(&job->layers, 1);
  }
}

/* The first layer of bricks from `next` on that a grade reaches, or INT64_MAX. *row: a row of cubes at or before those near it. */
static int64_t layer_from(const pmb_particles *p, const pmb_particle_grade *grade, int64_t next, int64_t *row)
{
  const uint64_t *row_keys = p->row_keys.data;
  const int64_t k = pmb_first_cube(grade, grade->reach, next * PMB_BRICK_Z), along = grade->cubes[1];
  *row = pmb_find_key(row_keys, p->row_count, (uint64_t)(grade->row + along * k), *row);
  if (*row == p->row_count || (int64_t)row_keys[*row] >= grade->row + along * grade->cubes[2]) {
    return INT64_MAX;
  }
  const int64_t z = ((int64_t)row_keys[*row] - grade->row) / along << grade->shift;
  const int64_t low = z < grade->reach ? 0 : (z - grade->reach) / PMB_BRICK_Z;
  return low < next ? next : low;
}

/* Finds the layers of bricks within reach of the rows of cubes. */
static pmb_status find_layers(pmb_particles *p)
{
  const int64_t highest = p->bricks[2] - 2;
  const int64_t last_layer = p->layer_begin == p->layer_end ? -1 : p->layer_end < highest ? p->layer_end : highest;
  for (int fill = 0; fill < 2; ++fill) {
    int64_t layer = p->layer_begin, count = 0, rows[PMB_PARTICLE_GRADES] = { 0 };
    for (;; ++layer, ++count) {
      int64_t next = INT64_MAX;
      for (int g = 0; g < p->grade_count; ++g) {
        next = pmb_smaller(next, layer_from(p, p->grades + g, layer, rows + g));
      }
      if (next > last_layer) {
        break;
      }
      layer = next;
      if (fill) {
        ((int64_t *)p->layers.data)[count] = layer;
      }
    }
    p->layer_count = count;
    if (!fill) {
      PMB_STEP(pmb_reserve(p->context, &p->layers, count, sizeof(int64_t), "layers"));
      PMB_STEP(pmb_reserve(p->context, &p->layer_begins, count + 1, sizeof(int64_t), "layers"));
    }
  }
  return PMB_OK;
}

pmb_status pmb_particles_check_bricks(pmb_particles *p, double bricks)
{
  const double limit = (double)p->request.brick_limit, spacing = p->request.spacing;
  PMB_FAIL_IF(bricks > limit, p->context, PMB_TOO_LARGE,
    "pmb_particles_count: spacing %g gives about %g bricks of 32 x 4 x 4 cells, and the limit is %lld; try a spacing of %.3g",
    spacing, bricks, (long long)p->request.brick_limit, spacing * sqrt(bricks / limit) * 1.1);
  const double most = limit * PMB_BRICK_SAMPLES * PMB_PARTICLE_TERMS;
  const double terms = p->request.radii.values ? p->reached : (double)p->count * pmb_samples_reached(p->reach);
  return terms <= most
    ? PMB_OK
    : pmb_fail(p->context, PMB_TOO_LARGE,
        "pmb_particles_count: %lld particles reach %g samples each, %g together, and the limit is %g; use a "
        "smaller smoothing length, or try a spacing of %.3g",
        (long long)p->count, terms / (double)p->count, terms, most, spacing * cbrt(terms / most) * 1.1);
}

pmb_status pmb_particles_reach(pmb_particles *p)
{
  layer_job job = { .p = p, .words_y = (size_t)p->bricks[1] / 64 + 1, .words_x = (size_t)p->bricks[0] / 64 + 1 };
  const size_t words = (job.words_y + job.words_x) * (size_t)p->context->crew.workers;
  p->brick_count = 0;
  PMB_STEP(find_layers(p));
  PMB_STEP(pmb_reserve(p->context, &p->bits, (int64_t)words, sizeof(uint64_t), "rows of bricks"));
  if (p->layer_count == 0) {
    return PMB_OK;
  }
  memset(p->bits.data, 0, words * sizeof(uint64_t));
  PMB_STEP(pmb_loop(p->context, p->layer_count, reach_layer, &job));
  int64_t *begins = p->layer_begins.data;
  const int64_t before = pmb_sum_before(begins, p->layer_count);
  begins[p->layer_count] = p->brick_count = before;
  PMB_STEP(pmb_particles_check_bricks(p, (double)before * (double)p->layer_count / (double)atomic_load(&job.layers)));
  PMB_STEP(pmb_reserve(p->context, &p->bricks_reached, before, sizeof(uint64_t), "bricks"));
  job.fills = 1;
  return pmb_loop(p->context, p->layer_count, reach_layer, &job);
}
