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

static void set_bits(uint64_t *bits, int64_t low, int64_t high)
{
  for (int64_t i = low; i <= high; ++i) {
    bits[i >> 6] |= (uint64_t)1 << (i & 63);
  }
}

/* Counts the reached bricks of row (y,z) and writes them to `out` if set. row: the layer's first row of cubes. Returns how many. */
static int64_t reach_row(const pmb_particles *p, int64_t y, int64_t z, int64_t row, uint64_t *bits, uint64_t *out)
{
  const uint64_t *row_keys = p->row_keys.data;
  const uint32_t *begins = p->row_begins.data;
  const int32_t *cells = p->cells[0].data, reach = (int32_t)ceil(p->reach);
  const int64_t y0 = pmb_first_cube(p, y * PMB_BRICK_Y), y1 = pmb_end_cube(p, 1, y * PMB_BRICK_Y + PMB_BRICK_Y - 1);
  const int64_t z0 = pmb_first_cube(p, z * PMB_BRICK_Z), z1 = pmb_end_cube(p, 2, z * PMB_BRICK_Z + PMB_BRICK_Z - 1);
  int64_t least = p->bricks[0], most = -1, count = 0, last_low = -1, last_high = -1;
  for (int64_t k = z0; k < z1; ++k) {
    row = pmb_find_key(row_keys, p->row_count, (uint64_t)(y0 + p->cubes[1] * k), row);
    for (; row < p->row_count && row_keys[row] < (uint64_t)(y1 + p->cubes[1] * k); ++row) {
      for (uint32_t i = begins[row]; i < begins[row + 1]; ++i) {
        const int64_t low = (cells[i] - reach) / PMB_BRICK_X, high = (cells[i] + reach) / PMB_BRICK_X;
        if (low != last_low || high != last_high) {
          set_bits(bits, low, high);
          least = low < least ? low : least;
          most = high > most ? high : most;
          last_low = low;
          last_high = high;
        }
      }
    }
  }
  for (int64_t word = least >> 6; word <= most >> 6; ++word) {
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

/* Counts or writes the bricks of layer i. */
static void reach_layer(void *data, int worker, size_t i)
{
  layer_job *job = data;
  const pmb_particles *p = job->p;
  const uint64_t *row_keys = p->row_keys.data;
  uint64_t *bits_y = (uint64_t *)p->bits.data + (size_t)worker * (job->words_y + job->words_x);
  int64_t *begin = (int64_t *)p->layer_begins.data + i, count = 0;
  uint64_t *out = job->fills ? (uint64_t *)p->bricks_reached.data + *begin : NULL;
  const int64_t z = ((const int64_t *)p->layers.data)[i], reach = (int64_t)ceil(p->reach), along = p->cubes[1];
  const int64_t z0 = pmb_first_cube(p, z * PMB_BRICK_Z), z1 = pmb_end_cube(p, 2, z * PMB_BRICK_Z + PMB_BRICK_Z - 1);
  const int64_t first_row = pmb_find_key(row_keys, p->row_count, (uint64_t)(along * z0), 0);
  int64_t least = p->bricks[1], most = -1;
  if (!job->fills && atomic_load(&job->bricks) / FAR_TOO_MANY > p->request.brick_limit) {
    *begin = 0;
    return;
  }
  for (int64_t row = first_row; row < p->row_count && row_keys[row] < (uint64_t)(along * z1); ++row) {
    const int64_t y = ((int64_t)row_keys[row] % along) << p->shift;
    const int64_t low = (y - reach) / PMB_BRICK_Y, high = (y + ((int64_t)1 << p->shift) - 1 + reach) / PMB_BRICK_Y;
    const int64_t first = y < reach ? 0 : low, last = high < p->bricks[1] - 1 ? high : p->bricks[1] - 2;
    set_bits(bits_y, first, last);
    least = first < least ? first : least;
    most = last > most ? last : most;
  }
  for (int64_t word = least >> 6; word <= most >> 6; ++word) {
    for (uint64_t rest = bits_y[word]; rest; rest &= rest - 1) {
      count +=
        reach_row(p, word * 64 + pmb_lowest_bit(rest), z, first_row, bits_y + job->words_y, out ? out + count : NULL);
    }
    bits_y[word] = 0;
  }
  if (!job->fills) {
    *begin = count;
    atomic_fetch_add(&job->bricks, count);
    atomic_fetch_add(&job->layers, 1);
  }
}

/* Finds the layers of bricks within reach of the rows of cubes. */
static pmb_status find_layers(pmb_particles *p)
{
  const uint64_t *row_keys = p->row_keys.data;
  const int64_t reach = (int64_t)ceil(p->reach), edge = (int64_t)1 << p->shift, highest = p->bricks[2] - 2;
  const int64_t last_layer = p->layer_begin == p->layer_end ? -1 : p->layer_end < highest ? p->layer_end : highest;
  pmb_status status = PMB_OK;
  for (int fill = 0; fill < 2 && status == PMB_OK; ++fill) {
    int64_t next = p->layer_begin, count = 0; /* the least layer that is not in the list */
    for (int64_t row = 0; row < p->row_count;) {
      const int64_t k = (int64_t)(row_keys[row] / (uint64_t)p->cubes[1]), z = k << p->shift;
      int64_t low = z < reach ? 0 : (z - reach) / PMB_BRICK_Z, high = (z + edge - 1 + reach) / PMB_BRICK_Z;
      high = high < last_layer ? high : last_layer;
      for (low = low < next ? next : low; low <= high; ++low) {
        if (fill) {
          ((int64_t *)p->layers.data)[count] = low;
        }
        ++count;
        next = low + 1;
      }
      row = pmb_find_key(row_keys, p->row_count, (uint64_t)(k + 1) * (uint64_t)p->cubes[1], row);
    }
    p->layer_count = count;
    if (!fill) {
      status = pmb_particles_reserve(p, &p->layers, count, sizeof(int64_t), "layers");
      status = status ? status : pmb_particles_reserve(p, &p->layer_begins, count + 1, sizeof(int64_t), "layers");
    }
  }
  return status;
}

static pmb_status run_layers(pmb_particles *p, layer_job *job)
{
  return pmb_crew_loop(&p->context->crew, (size_t)p->layer_count, reach_layer, job)
    ? PMB_OK
    : pmb_fail(p->context, PMB_ABORTED, "aborted by the progress hook");
}

pmb_status pmb_particles_check_bricks(pmb_particles *p, double bricks)
{
  const double limit = (double)p->request.brick_limit;
  return bricks <= limit
    ? PMB_OK
    : pmb_fail(p->context, PMB_TOO_LARGE,
        "pmb_particles_count: spacing %g gives about %g bricks of 32 x 4 x 4 cells, and the limit is %lld; try a spacing of %.3g",
        p->request.spacing, bricks, (long long)p->request.brick_limit,
        p->request.spacing * sqrt(bricks / limit) * 1.1);
}

pmb_status pmb_particles_reach(pmb_particles *p)
{
  layer_job job = { .p = p, .words_y = (size_t)p->bricks[1] / 64 + 1, .words_x = (size_t)p->bricks[0] / 64 + 1 };
  const size_t words = (job.words_y + job.words_x) * (size_t)p->context->crew.workers;
  pmb_status status = find_layers(p);
  status = status ? status : pmb_particles_reserve(p, &p->bits, (int64_t)words, sizeof(uint64_t), "rows of bricks");
  p->brick_count = 0;
  if (status != PMB_OK || p->layer_count == 0) {
    return status;
  }
  memset(p->bits.data, 0, words * sizeof(uint64_t));
  status = run_layers(p, &job);
  int64_t *begins = p->layer_begins.data, before = 0;
  for (int64_t i = 0; status == PMB_OK && i < p->layer_count; ++i) {
    const int64_t here = begins[i];
    begins[i] = before;
    before += here;
  }
  if (status != PMB_OK) {
    return status;
  }
  begins[p->layer_count] = p->brick_count = before;
  status = pmb_particles_check_bricks(p, (double)before * (double)p->layer_count / (double)atomic_load(&job.layers));
  status = status ? status : pmb_particles_reserve(p, &p->bricks_reached, before, sizeof(uint64_t), "bricks");
  job.fills = 1;
  return status ? status : run_layers(p, &job);
}
