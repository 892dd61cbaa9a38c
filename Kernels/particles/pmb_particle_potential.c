/* SPDX-License-Identifier: BSD-3-Clause
 * Passes densities and potential: sums of kernels at particles and at the samples of bricks. */
#include "particles/pmb_particle_near.h"

/* ---- densities ---- */

/* Particles of one row of cubes, whose densities are computed together. */
typedef struct density_block {
  const pmb_particle_near *near;
  float whole[3][PMB_LANES], part[3][PMB_LANES], scale[PMB_LANES], sum[PMB_LANES];
} density_block;

static void add_densities(void *arg)
{
  density_block *b = arg;
  const pmb_particle_near *near = b->near;
  for (int j = 0; j < near->n; ++j) {
    PMB_EACH_LANE (l) {
      const float x = pmb_particle_offset(b->whole[0][l], b->part[0][l], near->cell[0][j], near->fraction[0][j]);
      const float y = pmb_particle_offset(b->whole[1][l], b->part[1][l], near->cell[1][j], near->fraction[1][j]);
      const float z = pmb_particle_offset(b->whole[2][l], b->part[2][l], near->cell[2][j], near->fraction[2][j]);
      b->sum[l] = pmb_kernel_add(PMB_KERNEL_SPLINE, b->sum[l], x * x + (y * y + z * z), b->scale[l], near->amount[j]);
    }
  }
}

/* The end of a block that begins with particle i. Its particles are near one another, so that they have neighbours in common. */
static int64_t end_of_block(const pmb_particles *p, int64_t i, int64_t end)
{
  const int32_t *x = p->cells[0].data, *y = p->cells[1].data, *z = p->cells[2].data;
  const int s = p->shift;
  int64_t j = i + 1;
  while (j < end && j < i + PMB_LANES && y[j] >> s == y[i] >> s && z[j] >> s == z[i] >> s &&
    (x[j] >> s) - (x[i] >> s) <= 16) {
    ++j;
  }
  return j;
}

static void density_of_block(pmb_particles *p, pmb_particle_near *near, int64_t begin, int64_t end)
{
  const float *masses = p->request.masses.values ? p->masses.data : NULL;
  density_block b = { .near = near };
  near_search search = { p, masses, { 0 }, { 0 }, near, add_densities, &b, NULL };
  for (int a = 0; a < 3; ++a) {
    const int32_t *cells = p->cells[a].data;
    int32_t low = cells[begin], high = cells[begin];
    for (int64_t i = begin; i < end; ++i) {
      low = cells[i] < low ? cells[i] : low;
      high = cells[i] > high ? cells[i] : high;
    }
    search.first[a] = low;
    search.last[a] = high + 1;
    for (int l = 0; l < PMB_LANES; ++l) {
      const int64_t i = begin + l < end ? begin + l : end - 1;
      b.whole[a][l] = (float)(cells[i] - low);
      b.part[a][l] = ((const float *)p->fractions[a].data)[i];
      b.scale[l] = p->request.radii.values ? ((const float *)p->scales.data)[i] : p->scale;
    }
  }
  search_near(&search, 0);
  for (int64_t i = begin; i < end; ++i) {
    ((float *)p->amounts.data)[i] = (masses ? masses[i] : 1) / b.sum[i - begin];
  }
}

void PMB_PATH_NAME(pmb_particle_densities)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  pmb_particle_near *near = &pmb_particle_scratch_of(p, worker)->near;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_DENSITIES;
  const int64_t last = pmb_cpu_smaller(first + PMB_PARTICLE_DENSITIES, p->count);
  begin_near(p, p->request.masses.values ? p->masses.data : NULL, near);
  for (int64_t begin = first, end; begin < last; begin = end) {
    end = end_of_block(p, begin, last);
    density_of_block(p, near, begin, end);
  }
}

/* ---- potential ---- */

typedef struct brick_sum {
  const pmb_particles *p;
  pmb_particle_scratch *scratch;
  float *samples; /* [z * 4 + y][x] */
  pmb_particle_sides *sides;
  uint32_t wanted; /* half rows to compute; others keep their samples */
} brick_sum;

/* Adds n particles, by their places in the list, to 16 samples of a row from column `first` on. Not inlined, so that gcc keeps the
 * sums in registers. */
#define PMB_ADD_KERNEL(name, kernel)                                                                     \
  static __attribute__((noinline)) void add_##name(                                                      \
    const pmb_particle_scratch *restrict s, int n, int first, float *restrict samples)                   \
  {                                                                                                      \
    const pmb_particle_near *near = &s->near;                                                            \
    float sum[PMB_LANES], column[PMB_LANES];                                                             \
    PMB_EACH_LANE (l) {                                                                                  \
      sum[l] = samples[first + l];                                                                       \
      column[l] = (float)(first + l);                                                                    \
    }                                                                                                    \
    for (int i = 0; i < n; ++i) {                                                                        \
      const int j = s->list[i];                                                                          \
      const float cell = near->cell[0][j], fraction = near->fraction[0][j], distance2 = s->distance2[j]; \
      const float scale = near->scale[j], amount = near->amount[j];                                      \
      PMB_EACH_LANE (l) {                                                                                \
        const float x = pmb_particle_offset(column[l], 0, cell, fraction);                               \
        sum[l] = pmb_kernel_add(kernel, sum[l], x * x + distance2, scale, amount);                       \
      }                                                                                                  \
    }                                                                                                    \
    PMB_EACH_LANE (l) {                                                                                  \
      samples[first + l] = sum[l];                                                                       \
    }                                                                                                    \
  }
PMB_ADD_KERNEL(spline, PMB_KERNEL_SPLINE)
PMB_ADD_KERNEL(gaussian, PMB_KERNEL_GAUSSIAN)
PMB_ADD_KERNEL(polynomial, PMB_KERNEL_POLYNOMIAL)
PMB_ADD_KERNEL(spheres, PMB_KERNEL_SPHERES)

typedef void add_function(const pmb_particle_scratch *, int, int, float *);
static add_function *const add_kernel[] = { add_spline, add_gaussian, add_polynomial, add_spheres };

/* Kernels are great near the particle: this part of the reach has some 80% of the sum within a fluid. */
static const float NEAREST2 = 0.30f;

/* Particles near a brick: so many are listed without vectors, and their sum is hardly great throughout half a row. */
enum { FEW = 24 };

/* Lists the particles that reach half a row, or with a smaller `part` those whose squared distance is so much less. */
static int list_half(pmb_particle_scratch *s, const pmb_particles *p, int half, float part)
{
  const pmb_particle_near *near = &s->near;
  const float *gap2 = s->gap2[half];
  if (near->n <= FEW) {
    int n = 0;
    for (int j = 0; j < near->n; ++j) {
      s->list[n] = (uint16_t)j;
      n += gap2[j] + s->distance2[j] <= near->reach2[j] * part;
    }
    return n;
  }
  for (int j = 0; j < near->n; ++j) {
    s->margin[j] = near->reach2[j] * part - (gap2[j] + s->distance2[j]);
  }
  return list_margins(s, p->cpu.tables->places);
}

static void find_gaps(pmb_particle_scratch *s)
{
  const pmb_particle_near *near = &s->near;
  for (int half = 0; half < 2; ++half) {
    const float first = (float)(half * PMB_LANES), last = first + (float)(PMB_LANES - 1);
    for (int j = 0; j < near->n; ++j) {
      const float x = near->cell[0][j] + near->fraction[0][j];
      const float below = first - x, above = x - last;
      const float gap = pmb_positive(below > above ? below : above);
      s->gap2[half][j] = gap * gap;
    }
  }
}

static void find_distances(pmb_particle_scratch *s, int row)
{
  const pmb_particle_near *near = &s->near;
  const float row_y = (float)(row % PMB_BRICK_Y), row_z = (float)(row / PMB_BRICK_Y);
  for (int j = 0; j < near->n; ++j) {
    const float y = pmb_particle_offset(row_y, 0, near->cell[1][j], near->fraction[1][j]);
    const float z = pmb_particle_offset(row_z, 0, near->cell[2][j], near->fraction[2][j]);
    s->distance2[j] = y * y + z * z;
  }
}

/* Whether all samples of half a row are inside by the nearest particles alone. What the others add is not negative, but the sum
 * is rounded in another order. */
static int is_sure(const brick_sum *b, int half)
{
  const pmb_particles *p = b->p;
  const float enough = p->isovalue.threshold_f32 * 1.0001f;
  float sum[PMB_BRICK_X];
  int sure = 1;
  memset(sum, 0, sizeof(sum));
  add_kernel[p->request.kernel](b->scratch, list_half(b->scratch, p, half, NEAREST2), half * PMB_LANES, sum);
  for (int l = 0; l < PMB_LANES; ++l) {
    sure &= sum[half * PMB_LANES + l] >= enough;
  }
  return sure;
}

/* Adds the particles of the list to the half rows of a brick that are wanted: to each those that reach it. */
static void add_to_brick(void *arg)
{
  brick_sum *b = arg;
  pmb_particle_scratch *s = b->scratch;
  const pmb_particles *p = b->p;
  const int whole = s->near.batch == 0 && s->near.ends; /* the list has all particles */
  const int may_be_sure = whole && s->near.n > FEW && p->all_add && !b->sides->sure;
  find_gaps(s);
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    if (b->wanted >> 2 * row & 3) {
      find_distances(s, row);
    }
    for (int half = 0; half < 2; ++half) {
      const uint32_t bit = 1u << (2 * row + half);
      if (!(b->wanted & bit)) {
        continue;
      }
      if (may_be_sure && is_sure(b, half)) {
        b->sides->sure |= bit;
      } else {
        const int n = list_half(s, p, half, 1);
        if (n > 0) {
          add_kernel[p->request.kernel](s, n, half * PMB_LANES, b->samples + row * PMB_BRICK_X);
        }
      }
    }
  }
}

/* ---- a brick ---- */

/* Finds which half rows have samples inside and outside. */
static void find_sides(const pmb_particles *p, const float *samples, pmb_particle_sides *sides)
{
  const float threshold = p->isovalue.threshold_f32;
  sides->inside = sides->outside = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const uint32_t in = at_least_float32(samples + row * PMB_BRICK_X, threshold);
    sides->inside |= (uint32_t)((in & 0xffff) != 0) << 2 * row | (uint32_t)(in >> 16 != 0) << (2 * row + 1);
    sides->outside |= (uint32_t)((~in & 0xffff) != 0) << 2 * row | (uint32_t)(~in >> 16 != 0) << (2 * row + 1);
  }
}

/* Sets samples of some half rows. */
static void set_half_rows(float *samples, uint32_t halves, float value)
{
  for (; halves; halves &= halves - 1) {
    float *half = samples + PMB_LANES * pmb_lowest_bit(halves);
    PMB_EACH_LANE (l) {
      half[l] = value;
    }
  }
}

/* The half rows that are beside some within a brick. */
static uint32_t beside(uint32_t halves)
{
  const uint32_t along_x = (halves & 0x55555555) << 1 | (halves >> 1 & 0x55555555);
  const uint32_t along_y = (halves & ~0xc0c0c0c0) << 2 | (halves & ~0x03030303u) >> 2;
  return along_x | along_y | halves << 8 | halves >> 8;
}

/* Begins with brick i of those that are reached. */
static near_search begin_brick(pmb_particles *p, pmb_particle_scratch *scratch, int64_t i, brick_sum *b)
{
  const uint64_t key = ((const uint64_t *)p->bricks_reached.data)[i];
  const uint64_t row = key / (uint64_t)p->bricks[0];
  const int32_t x = (int32_t)(key % (uint64_t)p->bricks[0]) * PMB_BRICK_X;
  const int32_t y = (int32_t)(row % (uint64_t)p->bricks[1]) * PMB_BRICK_Y;
  const int32_t z = (int32_t)(row / (uint64_t)p->bricks[1]) * PMB_BRICK_Z;
  const int64_t at = i - p->window_begin;
  *b = (brick_sum){ p, scratch, (float *)p->samples.data + at * PMB_BRICK_SAMPLES,
    (pmb_particle_sides *)p->sides.data + at, UINT32_MAX };
  return (near_search){ p, p->amounts.data, { x, y, z },
    { x + PMB_BRICK_X - 1, y + PMB_BRICK_Y - 1, z + PMB_BRICK_Z - 1 }, &scratch->near, add_to_brick, b, NULL };
}

void PMB_PATH_NAME(pmb_particle_potential)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t begin = p->potential_begin + (int64_t)chunk * PMB_PARTICLE_BRICKS;
  const int64_t end = pmb_cpu_smaller(begin + PMB_PARTICLE_BRICKS, p->window_end);
  near_search before = { .first = { -1, -1, -1 } };
  begin_near(p, p->amounts.data, &pmb_particle_scratch_of(p, worker)->near);
  for (int64_t i = begin; i < end; ++i) {
    brick_sum b;
    const near_search search = begin_brick(p, pmb_particle_scratch_of(p, worker), i, &b);
    *b.sides = (pmb_particle_sides){ 0, 0, 0, 0 };
    set_half_rows(b.samples, UINT32_MAX, p->background);
    search_near(&search, before.first[1] == search.first[1] && before.first[2] == search.first[2]);
    set_half_rows(b.samples, b.sides->sure, p->isovalue.threshold_f32);
    find_sides(p, b.samples, b.sides);
    b.sides->wanted = beside(b.sides->outside) & b.sides->sure;
    before = search;
  }
}

/* Computes the half rows that are sure, but wanted for the surface beside them. */
void PMB_PATH_NAME(pmb_particle_refine)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t begin = (int64_t)chunk * PMB_PARTICLE_BRICKS;
  const int64_t end = pmb_cpu_smaller(begin + PMB_PARTICLE_BRICKS, p->unsure_count);
  begin_near(p, p->amounts.data, &pmb_particle_scratch_of(p, worker)->near);
  for (int64_t n = begin; n < end; ++n) {
    brick_sum b;
    const near_search search =
      begin_brick(p, pmb_particle_scratch_of(p, worker), ((const int64_t *)p->unsure.data)[n], &b);
    b.wanted = b.sides->wanted;
    set_half_rows(b.samples, b.wanted, p->background);
    search_near(&search, 0);
    b.sides->sure &= ~b.wanted;
    b.sides->wanted = 0;
  }
}
