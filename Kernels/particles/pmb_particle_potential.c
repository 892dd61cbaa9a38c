/* SPDX-License-Identifier: BSD-3-Clause
 * Passes potential and refine: sums of kernels at the samples of bricks.
 *
 * A brick has regions of 8 x 4 x 4 samples, a region has tiles of 4 x 2 x 2. If bounds of the sum show that a tile lies on one
 * side of the isovalue, its samples are not computed at first. Where the surface passes between such a tile and a neighbour, they
 * are computed afterwards: within the brick at once, beside the next bricks by pass refine. */
#include "particles/pmb_particle_near.h"

enum {
  REGIONS = PMB_BRICK_X / 8,
  TILE_BITS = 0x03030303 /* of the first region */
};

typedef struct brick_sum {
  const pmb_particles *p;
  pmb_particle_scratch *scratch;
  pmb_particle_sides *sides;
  uint32_t wanted; /* tiles to compute */
  uint32_t begun;  /* tiles whose sums have begun */
  int refines;     /* 1: computes all wanted tiles, without bounds */
} brick_sum;

/* A box of samples, in cells from the brick's first sample. */
typedef struct tile_box {
  float low[3], high[3];
} tile_box;

static tile_box box_of_tile(int tile)
{
  const float x = (float)(tile % 8 * 4), y = (float)(tile / 8 % 2 * 2), z = (float)(tile / 16 * 2);
  return (tile_box){ { x, y, z }, { x + 3, y + 1, z + 1 } };
}

/* ---- sums at the samples of a tile ---- */

/* Lane l is sample (l % 4, l / 4 % 2, l / 8) of a tile. */
static const float lane_x[PMB_LANES] = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 };
static const float lane_y[PMB_LANES] = { 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1 };
static const float lane_z[PMB_LANES] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 };

/* Adds the n listed particles of the region to the samples of a tile. Not inlined, so that gcc keeps the sums in registers. */
#define PMB_ADD_KERNEL(name, prefix)                                                                     \
  static __attribute__((noinline)) void prefix##name(                                                    \
    const pmb_particle_scratch *restrict s, int n, const tile_box *restrict at, float *restrict lanes)   \
  {                                                                                                      \
    enum { kernel = PMB_KERNEL_##name };                                                                 \
    const pmb_particle_near *near = &s->near;                                                            \
    float sum[PMB_LANES], x[PMB_LANES], y[PMB_LANES], z[PMB_LANES];                                      \
    PMB_EACH_LANE (l) {                                                                                  \
      sum[l] = lanes[l];                                                                                 \
      x[l] = at->low[0] + lane_x[l];                                                                     \
      y[l] = at->low[1] + lane_y[l];                                                                     \
      z[l] = at->low[2] + lane_z[l];                                                                     \
    }                                                                                                    \
    for (int i = 0; i < n; ++i) {                                                                        \
      const int j = s->region.from[s->list[i]];                                                          \
      PMB_EACH_LANE (l) {                                                                                \
        const float dx = pmb_particle_offset(x[l], 0, near->cell[0][j], near->fraction[0][j]);           \
        const float dy = pmb_particle_offset(y[l], 0, near->cell[1][j], near->fraction[1][j]);           \
        const float dz = pmb_particle_offset(z[l], 0, near->cell[2][j], near->fraction[2][j]);           \
        sum[l] = pmb_kernel_add(                                                                         \
          kernel, sum[l], near_distance2(near, j, kernel, dx, dy, dz), near->scale[j], near->amount[j]); \
      }                                                                                                  \
    }                                                                                                    \
    PMB_EACH_LANE (l) {                                                                                  \
      lanes[l] = sum[l];                                                                                 \
    }                                                                                                    \
  }
PMB_EACH_KERNEL(PMB_ADD_KERNEL, add_)

typedef void add_function(const pmb_particle_scratch *, int, const tile_box *, float *);
static add_function *const add_kernel[] = { PMB_EACH_KERNEL(PMB_AT_KERNEL, add_) };

/* ---- bounds ---- */

/* Upper bound of the sum at any sample of a box: each particle of the region counts with its distance from the box. Adds the
 * rounding errors of this sum and of the sum at a sample, in units of 2^-24, with lengths up to the reach plus a brick. */
PMB_INLINE float most_by(
  const int kernel, const pmb_particle_region *region, const tile_box *at, float background, float reach)
{
  const float roundings = pmb_kernel_roundings(kernel) + 2 * (float)region->n,
              far = pmb_kernel_roundings_of_length(kernel) * (reach + 64);
  float sum[PMB_LANES], error[PMB_LANES];
  PMB_EACH_LANE (l) {
    sum[l] = kernel == PMB_KERNEL_SPHERES ? background : 0;
    error[l] = 0;
  }
  for (int i = 0; i < region->n; i += PMB_LANES) {
    PMB_EACH_LANE (l) {
      float gap2 = 0;
      for (int a = 0; a < 3; ++a) {
        const float below = at->low[a] - region->place[a][i + l], above = region->place[a][i + l] - at->high[a];
        const float gap = pmb_positive(below > above ? below : above);
        gap2 += gap * gap;
      }
      const float amount = region->amount[i + l], scale = region->scale[i + l];
      sum[l] =
        pmb_kernel_add(kernel, sum[l], gap2, scale, kernel == PMB_KERNEL_SPHERES ? amount : pmb_positive(amount));
      error[l] += fabsf(amount) * (roundings + far * (pmb_is_spline(kernel) ? scale : 1 + scale));
    }
  }
  float most = sum[0], errors = error[0];
  for (int l = 1; l < PMB_LANES; ++l) {
    most = kernel != PMB_KERNEL_SPHERES ? most + sum[l] : sum[l] > most ? sum[l] : most;
    errors += error[l];
  }
  return most + 0x1p-24f * (kernel == PMB_KERNEL_SPHERES ? 4 * far + 16 * fabsf(background) : errors);
}

/* Sums 16 numbers and overwrites them. */
PMB_INLINE float sum_lanes(float *lanes)
{
  for (int l = 0; l < 8; ++l) {
    lanes[l] += lanes[l + 8];
  }
  for (int l = 0; l < 4; ++l) {
    lanes[l] += lanes[l + 4];
  }
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* The greatest |S d|^2 / 2 at a tile's corners, with d the offset from its center and S a particle's shape. */
PMB_INLINE float bend_of(const int kernel, const float shape[6])
{
  float sum = 0;
  for (int a = 0; a < 3 && kernel == PMB_KERNEL_SHAPED; ++a) {
    static const int row[3][3] = { { 0, 3, 4 }, { 3, 1, 5 }, { 4, 5, 2 } };
    const float along =
      1.5f * fabsf(shape[row[a][0]]) + 0.5f * fabsf(shape[row[a][1]]) + 0.5f * fabsf(shape[row[a][2]]);
    sum += along * along;
  }
  return kernel == PMB_KERNEL_SHAPED ? 0.5f * sum : 1.375f;
}

/* Lower bound of the sum at any sample of a tile, if all amounts are positive. Kernels are convex functions of the squared
 * distance, so they are not below a tangent. Sums the tangents at the tile's center, with the terms of the offset from the center
 * combined first. Errors are as above; `nearest` limits the slope's rounding error close to a particle. A shape increases
 * errors of slopes by the square of its greatest eigenvalue, which is at most the trace minus 2. */
PMB_INLINE float least_by(const int kernel, const pmb_particle_region *region, const tile_box *at, float reach)
{
  const float roundings = pmb_kernel_roundings(kernel) + 2 * (float)region->core,
              far = pmb_kernel_roundings_of_length(kernel) * (reach + 64);
  float sum[PMB_LANES], slopes[PMB_LANES], ways[3][PMB_LANES], error[PMB_LANES];
  PMB_EACH_LANE (l) {
    sum[l] = slopes[l] = ways[0][l] = ways[1][l] = ways[2][l] = error[l] = 0;
  }
  for (int i = 0; i < region->core; i += PMB_LANES) {
    PMB_EACH_LANE (l) {
      float way[3] = { (at->low[0] + 1.5f) - region->core_place[0][i + l],
        (at->low[1] + 0.5f) - region->core_place[1][i + l], (at->low[2] + 0.5f) - region->core_place[2][i + l] };
      const float longest = kernel == PMB_KERNEL_SHAPED
        ? region->core_shape[0][i + l] + region->core_shape[1][i + l] + region->core_shape[2][i + l] - 2
        : 1;
      const float shape[6] = { region->core_shape[0][i + l], region->core_shape[1][i + l],
        region->core_shape[2][i + l], region->core_shape[3][i + l], region->core_shape[4][i + l],
        region->core_shape[5][i + l] };
      if (kernel == PMB_KERNEL_SHAPED) {
        pmb_shape_apply(shape, way);
      }
      const float scale = region->core_scale[i + l], amount = region->core_amount[i + l];
      const float square = pmb_is_spline(kernel) ? scale * scale : scale;
      const float distance2 = way[0] * way[0] + (way[1] * way[1] + way[2] * way[2]), nearest = 1e-4f / square;
      const float safe2 = distance2 > nearest ? distance2 : nearest;
      const float slope = amount * pmb_kernel_slope(kernel, safe2, scale);
      sum[l] += amount * pmb_kernel_value(kernel, safe2, scale);
      if (kernel == PMB_KERNEL_SHAPED) {
        pmb_shape_apply(shape, way);
      }
      slopes[l] += slope * bend_of(kernel, shape);
      ways[0][l] += slope * way[0];
      ways[1][l] += slope * way[1];
      ways[2][l] += slope * way[2];
      error[l] += amount *
        (roundings + far * (pmb_is_spline(kernel) ? scale : 1 + scale) +
          square * longest * longest * (4000 + 12000 * reach));
    }
  }
  PMB_EACH_LANE (l) {
    sum[l] = sum[l] + slopes[l] - 0x1p-24f * error[l];
  }
  const float by_way =
    1.5f * fabsf(sum_lanes(ways[0])) + 0.5f * fabsf(sum_lanes(ways[1])) + 0.5f * fabsf(sum_lanes(ways[2]));
  return sum_lanes(sum) - by_way;
}

/* Arguments and result of find_bound. */
typedef struct bound {
  const pmb_particles *p;
  const pmb_particle_region *region;
  const tile_box *at;
  int is_least;
  float value;
} bound;

PMB_INLINE void find_bound(void *arg, const int kernel)
{
  bound *b = arg;
  const float reach = (float)b->p->reach;
  if (b->is_least) {
    b->value = kernel == PMB_KERNEL_SPHERES ? 0 : least_by(kernel, b->region, b->at, reach);
  } else {
    b->value = most_by(kernel, b->region, b->at, b->p->background, reach);
  }
}
PMB_BY_KERNEL(find_bound)

/* The lower bound of the sum at the samples of a box, or the upper one. */
static float bound_in(const brick_sum *b, const tile_box *at, int is_least)
{
  bound found = { b->p, &b->scratch->region, at, is_least, 0 };
  by_kernel[b->p->kernel](&found);
  return found.value;
}

/* ---- regions and tiles ---- */

/* Pads n numbers to a multiple of 16. */
static void fill_up(float *numbers, int n, float value)
{
  for (int i = n; i % PMB_LANES; ++i) {
    numbers[i] = value;
  }
}

/* Copies the particles of the region that are close to its box: the core. */
static void take_core(const pmb_particles *p, pmb_particle_scratch *s, const tile_box *at)
{
  pmb_particle_region *region = &s->region;
  find_margins(
    s, region->n, (const float(*)[PMB_PARTICLE_ROOM])region->place, region->reach2, PMB_CORE2, at->low, at->high);
  const int n = list_margins(s, region->n, p->surface.tables->places);
  region->core = n;
  for (int a = 0; a < 3; ++a) {
    copy_listed(s, region->n, region->place[a], region->core_place[a]);
    fill_up(region->core_place[a], n, 0);
  }
  copy_listed(s, region->n, region->scale, region->core_scale);
  copy_listed(s, region->n, region->amount, region->core_amount);
  fill_up(region->core_scale, n, 1);
  fill_up(region->core_amount, n, 0);
  for (int k = 0; k < 6 && p->kernel == PMB_KERNEL_SHAPED; ++k) {
    for (int i = 0; i < n; ++i) {
      region->core_shape[k][i] = s->near.shape[region->from[s->list[i]]][k];
    }
    fill_up(region->core_shape[k], n, 1);
  }
}

/* Copies the n particles near that list_margins listed. */
static void take_region(const pmb_particles *p, pmb_particle_scratch *s, int n)
{
  const pmb_particle_near *near = &s->near;
  pmb_particle_region *region = &s->region;
  const int varied = p->request.radii.values != NULL;
  region->n = n;
  region->scale = varied ? region->own_scale : near->scale;
  region->reach2 = varied ? region->own_reach2 : near->reach2;
  memcpy(region->from, s->list, (size_t)n * sizeof(region->from[0]));
  for (int a = 0; a < 3; ++a) {
    copy_listed(s, near->n, near->place[a], region->place[a]);
    fill_up(region->place[a], n, 0);
  }
  copy_listed(s, near->n, near->amount, region->amount);
  fill_up(region->amount, n, p->request.kernel == PMB_KERNEL_SPHERES ? -1e30f : 0);
  if (varied) {
    copy_listed(s, near->n, near->scale, region->own_scale);
    copy_listed(s, near->n, near->reach2, region->own_reach2);
    fill_up(region->own_scale, n, 1);
  }
}

/* Lists the particles of the region within `part` of their squared reach from a tile. Returns how many. */
static int list_tile(const brick_sum *b, const tile_box *at, float part)
{
  pmb_particle_scratch *s = b->scratch;
  const pmb_particle_region *region = &s->region;
  find_margins(
    s, region->n, (const float(*)[PMB_PARTICLE_ROOM])region->place, region->reach2, part, at->low, at->high);
  return list_margins(s, region->n, b->p->surface.tables->places);
}

/* Adds the particles of the region to a tile unless bounds decide. whole: the region has all particles. most: its upper bound. */
static void add_to_tile(brick_sum *b, int tile, int whole, float most)
{
  const tile_box at = box_of_tile(tile);
  const float threshold = b->p->isovalue.threshold_f32;
  const uint32_t bit = 1u << tile;
  const int decides = whole && !b->refines, deep = most > PMB_DEEP * threshold && b->p->all_add;
  float *samples = b->scratch->samples + tile * PMB_LANES, lanes[PMB_LANES];
  if (decides && deep && bound_in(b, &at, 1) >= threshold) {
    b->sides->inside |= bit;
    return;
  }
  const int n = list_tile(b, &at, 1);
  if (decides && (n == 0 || (!deep && bound_in(b, &at, 0) < threshold))) {
    b->sides->outside |= bit;
    return;
  }
  PMB_EACH_LANE (l) {
    lanes[l] = b->p->background;
  }
  if (b->begun & bit) {
    memcpy(lanes, samples, sizeof(lanes));
  }
  b->begun |= bit;
  add_kernel[b->p->kernel](b->scratch, n, &at, lanes);
  memcpy(samples, lanes, sizeof(lanes));
  b->sides->exact |= bit;
}

/* Adds the particles near to the wanted tiles of a brick. */
static void add_to_brick(void *arg)
{
  brick_sum *b = arg;
  pmb_particle_scratch *s = b->scratch;
  const int whole = s->near.batch == 0 && s->near.ends; /* the list has all particles */
  for (int r = 0; r < REGIONS; ++r) {
    const uint32_t bits = b->wanted & (uint32_t)TILE_BITS << 2 * r;
    const tile_box at = { { (float)(8 * r), 0, 0 }, { (float)(8 * r + 7), 3, 3 } };
    if (!bits) {
      continue;
    }
    find_margins(s, s->near.n, (const float(*)[PMB_PARTICLE_ROOM])s->near.place, s->near.reach2, 1, at.low, at.high);
    take_region(b->p, s, list_margins(s, s->near.n, b->p->surface.tables->places));
    const float most = whole && !b->refines ? bound_in(b, &at, 0) : 0;
    if (whole && !b->refines && most < b->p->isovalue.threshold_f32) {
      b->sides->outside |= bits;
      continue;
    }
    if (most > PMB_DEEP * b->p->isovalue.threshold_f32 && b->p->all_add) {
      take_core(b->p, s, &at);
    }
    for (uint32_t rest = bits; rest; rest &= rest - 1) {
      add_to_tile(b, pmb_lowest_bit(rest), whole, most);
    }
  }
}

/* ---- a brick ---- */

/* Finds which exact tiles have samples inside and outside. */
static void find_sides(const pmb_particles *p, const float *samples, pmb_particle_sides *sides)
{
  const float threshold = p->isovalue.threshold_f32;
  for (uint32_t rest = sides->exact; rest; rest &= rest - 1) {
    const float *tile = samples + pmb_lowest_bit(rest) * PMB_LANES;
    int inside = 0;
    PMB_EACH_LANE (l) {
      inside += tile[l] >= threshold;
    }
    sides->inside |= inside > 0 ? rest & -rest : 0;
    sides->outside |= inside < PMB_LANES ? rest & -rest : 0;
  }
}

/* The tiles of a brick that adjoin one of these. */
static uint32_t beside(uint32_t tiles)
{
  const uint32_t along_x = (tiles & 0x7f7f7f7f) << 1 | (tiles & 0xfefefefe) >> 1;
  const uint32_t along_y = (tiles & 0x00ff00ff) << 8 | (tiles >> 8 & 0x00ff00ff);
  return along_x | along_y | tiles << 16 | tiles >> 16;
}

/* Prepares the sum of the i-th reached brick. */
static near_search begin_brick(pmb_particles *p, pmb_particle_scratch *scratch, int64_t i, brick_sum *b)
{
  const uint64_t key = ((const uint64_t *)p->bricks_reached.data)[i];
  const uint64_t row = key / (uint64_t)p->bricks[0];
  const int32_t x = (int32_t)(key % (uint64_t)p->bricks[0]) * PMB_BRICK_X;
  const int32_t y = (int32_t)(row % (uint64_t)p->bricks[1]) * PMB_BRICK_Y;
  const int32_t z = (int32_t)(row / (uint64_t)p->bricks[1]) * PMB_BRICK_Z;
  *b = (brick_sum){ p, scratch, (pmb_particle_sides *)p->sides.data + (i - p->window_begin), UINT32_MAX, 0, 0 };
  return (near_search){ p, p->amounts.data, { x, y, z },
    { x + PMB_BRICK_X - 1, y + PMB_BRICK_Y - 1, z + PMB_BRICK_Z - 1 }, &scratch->near, add_to_brick, b, NULL,
    shapes_of(p), 0 };
}

/* Prepares the sum of tiles that the surface needs, though bounds have decided them. */
static void begin_wanted(brick_sum *b)
{
  b->wanted = b->begun = b->sides->wanted;
  b->refines = 1;
  for (uint32_t rest = b->wanted; rest; rest &= rest - 1) { /* in case no particle is near */
    float *tile = b->scratch->samples + pmb_lowest_bit(rest) * PMB_LANES;
    PMB_EACH_LANE (l) {
      tile[l] = b->p->background;
    }
  }
  b->sides->exact |= b->wanted;
  b->sides->wanted = 0;
}

/* Copies the exact tiles of a brick to p->samples (packs: 1) or back. Packed without gaps they take fewer cache lines. */
static void move_tiles(const brick_sum *b, int64_t i, int packs)
{
  float *packed = (float *)b->p->samples.data + (i - b->p->window_begin) * PMB_BRICK_SAMPLES;
  for (uint32_t rest = b->sides->exact; rest; rest &= rest - 1, packed += PMB_LANES) {
    float *tile = b->scratch->samples + pmb_lowest_bit(rest) * PMB_LANES;
    memcpy(packs ? packed : tile, packs ? tile : packed, PMB_LANES * sizeof(float));
  }
}

void PMB_PATH_NAME(pmb_particle_potential)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t begin = p->potential_begin + (int64_t)chunk * PMB_PARTICLE_BRICKS;
  const int64_t end = pmb_smaller(begin + PMB_PARTICLE_BRICKS, p->window_end);
  near_search before = { .first = { -1, -1, -1 } };
  pmb_particle_scratch *scratch = pmb_particle_scratch_of(p, worker);
  for (int64_t i = begin; i < end; ++i) {
    brick_sum b;
    const near_search search = begin_brick(p, scratch, i, &b);
    *b.sides = (pmb_particle_sides){ 0, 0, 0, 0, 0 };
    search_near(&search, before.first[1] == search.first[1] && before.first[2] == search.first[2]);
    b.sides->outside |= ~(b.sides->inside | b.sides->exact);
    find_sides(p, scratch->samples, b.sides);
    b.sides->wanted = pmb_particle_wanted(b.sides, beside(b.sides->inside), beside(b.sides->outside));
    if (b.sides->wanted && scratch->near.batch == 0) { /* `near` still has all particles */
      begin_wanted(&b);
      add_to_brick(&b);
    }
    move_tiles(&b, i, 1);
    before = search;
  }
}

void PMB_PATH_NAME(pmb_particle_refine)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t begin = (int64_t)chunk * PMB_PARTICLE_BRICKS;
  const int64_t end = pmb_smaller(begin + PMB_PARTICLE_BRICKS, p->unsure_count);
  for (int64_t n = begin; n < end; ++n) {
    const int64_t i = ((const int64_t *)p->unsure.data)[n];
    brick_sum b;
    const near_search search = begin_brick(p, pmb_particle_scratch_of(p, worker), i, &b);
    move_tiles(&b, i, 0);
    begin_wanted(&b);
    search_near(&search, 0);
    move_tiles(&b, i, 1);
  }
}
