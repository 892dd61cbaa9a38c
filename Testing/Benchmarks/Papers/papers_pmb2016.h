/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_pmb2016.h - Parallel Marching Blocks as published: Liu, Clapworthy, Dong, Wu, EuroVis 2016, section 4. The steps,
 * for both devices; papers_pmb2016.c loops over them, papers_pmb2016.cu launches them.
 *
 * A block is 8 x 4 x 4 samples, a thread each, and the 7 x 3 x 3 cells between them: a block shares a layer of samples with
 * each of its neighbours, and what lies on it is made by both, so that every block is a patch of its own.
 *   once per volume: least and greatest sample of each block (4.1);
 *   per isovalue: the list of the blocks that it crosses (4.2); of each the points on the up to 3 edges of each sample, where
 *     they go in the block by a prefix sum, in the mesh by one atomic addition, and the triangles (4.3).
 * The paper does not say how its output got its size. Here a block that does not fit counts and writes nothing; then memory
 * of the exact size is taken and the blocks run again. So the first mesh, and one larger than all before, runs them twice.
 *
 * A layer of a block, 8 x 4 samples, is a word: bit 8 * y + x. The threads of a layer are a warp. */
#ifndef PAPERS_PMB2016_H
#define PAPERS_PMB2016_H

#include "papers.h"

#include "shared/pmb_cell.h"
#include "shared/pmb_point.h"

enum {
  PMB2016_X = 8,
  PMB2016_Y = 4,
  PMB2016_Z = 4,
  PMB2016_LAYER = PMB2016_X * PMB2016_Y,
  PMB2016_SAMPLES = PMB2016_LAYER * PMB2016_Z,
  PMB2016_MOST_POINTS = 7 * 4 * 4 + 8 * 3 * 4 + 8 * 4 * 3,
  PMB2016_MOST_TRIANGLES = 7 * 3 * 3 * PMB_MAX_TRIANGLES
};

#define PMB2016_SOURCE "Liu, Clapworthy, Dong, Wu: Parallel Marching Blocks, EuroVis 2016, section 4"

/* How a volume is cut into blocks. */
typedef struct pmb2016_grid {
  int dims[3];
  uint32_t blocks[3]; /* all 0 where the volume has no cell */
  int64_t total;
} pmb2016_grid;

static inline papers_status pmb2016_grid_make(const papers_volume *volume, pmb2016_grid *grid)
{
  /* Steps in the volume are 32-bit integers. */
  if (volume->dims[0] > INT32_MAX / 2 || volume->dims[1] > INT32_MAX / volume->dims[0]) {
    return PAPERS_TOO_LARGE;
  }
  const int64_t cells[3] = { PMB2016_X - 1, PMB2016_Y - 1, PMB2016_Z - 1 };
  int64_t blocks[3];
  for (int a = 0; a < 3; ++a) {
    if (volume->dims[a] > INT32_MAX - PMB2016_X) {
      return PAPERS_TOO_LARGE;
    }
    grid->dims[a] = (int)volume->dims[a];
    blocks[a] = (volume->dims[a] - 1 + cells[a] - 1) / cells[a];
  }
  /* The third factor can no longer overflow where the first two are below 2^31. */
  const int64_t layer = blocks[0] * blocks[1];
  grid->total = layer <= INT32_MAX ? layer * blocks[2] : INT64_MAX;
  for (int a = 0; a < 3; ++a) {
    grid->blocks[a] = grid->total ? (uint32_t)blocks[a] : 0;
  }
  return grid->total <= INT32_MAX ? PAPERS_OK : PAPERS_TOO_LARGE;
}

static inline int pmb2016_is_type(pmb_type type)
{
  return type == PMB_UINT8 || type == PMB_INT16 || type == PMB_UINT16 || type == PMB_FLOAT32;
}

/* Whether an isovalue crosses a block; threshold: the least value that is inside. */
PMB_INLINE int pmb2016_is_active(float low, float high, float threshold)
{
  return low < threshold && high >= threshold;
}

/* A block: its first sample, and how many it has along each axis. */
typedef struct pmb2016_box {
  int origin[3], n[3];
} pmb2016_box;

PMB_INLINE pmb2016_box pmb2016_box_of(const int *dims, uint32_t x, uint32_t y, uint32_t z)
{
  pmb2016_box box;
  box.origin[0] = (int)x * (PMB2016_X - 1);
  box.origin[1] = (int)y * (PMB2016_Y - 1);
  box.origin[2] = (int)z * (PMB2016_Z - 1);
  box.n[0] = dims[0] - box.origin[0] < PMB2016_X ? dims[0] - box.origin[0] : PMB2016_X;
  box.n[1] = dims[1] - box.origin[1] < PMB2016_Y ? dims[1] - box.origin[1] : PMB2016_Y;
  box.n[2] = dims[2] - box.origin[2] < PMB2016_Z ? dims[2] - box.origin[2] : PMB2016_Z;
  return box;
}

/* Where a sample of a block is in the volume; for those beyond its end: the last of the block. */
PMB_INLINE void pmb2016_place(const pmb2016_box *box, int sample, int place[3])
{
  const int x = sample & 7, y = sample >> 3 & 3, z = sample >> 5;
  place[0] = box->origin[0] + (x < box->n[0] ? x : box->n[0] - 1);
  place[1] = box->origin[1] + (y < box->n[1] ? y : box->n[1] - 1);
  place[2] = box->origin[2] + (z < box->n[2] ? z : box->n[2] - 1);
}

/* What belongs to the samples of a layer. */
typedef struct pmb2016_layer {
  uint32_t edges[3]; /* bit: the edge from this sample along x, y, z is crossed */
  uint32_t cells;    /* bit: there is a cell with this lowest corner */
} pmb2016_layer;

PMB_INLINE uint32_t pmb2016_columns(int n)
{
  return 0x01010101u * ((1u << n) - 1);
}
PMB_INLINE uint32_t pmb2016_rows(int n)
{
  return n >= PMB2016_Y ? UINT32_MAX : (1u << PMB2016_X * n) - 1;
}

/* n: of the box; here, above: the words of inside bits of layer z and of the one after it, if there is one. */
PMB_INLINE pmb2016_layer pmb2016_layer_of(const int n[3], int z, uint32_t here, uint32_t above)
{
  const uint32_t columns = pmb2016_columns(n[0]), rows = z < n[2] ? pmb2016_rows(n[1]) : 0;
  const uint32_t before_last_x = pmb2016_columns(n[0] - 1), before_last_y = pmb2016_rows(n[1] - 1);
  const uint32_t before_last_z = z + 1 < n[2] ? UINT32_MAX : 0;
  pmb2016_layer layer;
  layer.edges[0] = (here ^ here >> 1) & before_last_x & rows;
  layer.edges[1] = (here ^ here >> PMB2016_X) & columns & rows & before_last_y;
  layer.edges[2] = (here ^ above) & columns & rows & before_last_z;
  layer.cells = before_last_x & rows & before_last_y & before_last_z;
  return layer;
}

/* The case of the cell whose lowest corner is this bit of a layer. */
PMB_INLINE unsigned pmb2016_case(uint32_t here, uint32_t above, int bit)
{
  const uint32_t low = here >> bit, high = above >> bit;
  return (low & 3) | (low >> (PMB2016_X - 2) & 0xc) | (high & 3) << 4 | (high >> (PMB2016_X - 6) & 0xc0);
}

/* What a sample leaves for its neighbours (4.3.2): which of its edges have points, bits 0 to 2, and the number in the block
 * of the first. */
PMB_INLINE uint16_t pmb2016_sample_word(int first, unsigned edges)
{
  return (uint16_t)(first << 3 | (int)edges);
}

/* The paper's table 1, a cell's edge as an edge of a neighbour: bits 0 to 5 how many samples further that neighbour is in
 * the block, bits 6 and 7 the axis. */
PMB_CONSTEXPR unsigned pmb2016_neighbour(int edge)
{
  const int corner = pmb_edge_lower(edge);
  return (unsigned)((corner & 1) + (corner >> 1 & 1) * PMB2016_X + (corner >> 2) * PMB2016_LAYER +
    pmb_edge_axis(edge) * 64);
}

/* The number in the block of a point of the cell at a sample (4.3.3). words: of the block's samples. */
PMB_INLINE int pmb2016_point_number(const uint16_t *words, int sample, unsigned neighbour)
{
  const unsigned word = words[sample + (int)(neighbour & 63)];
  const unsigned before = word & ((1u << (neighbour >> 6)) - 1); /* edges of that sample; at most 2 */
  return (int)((word >> 3) + ((before + 1) >> 1));
}

/* A point in a block's list: its sample and its axis. */
PMB_INLINE uint16_t pmb2016_entry(int sample, int axis)
{
  return (uint16_t)(sample | axis * PMB2016_SAMPLES);
}

/* From a sample of a block to the next one along an axis. */
PMB_INLINE int pmb2016_step(int axis)
{
  return axis == 0 ? 1 : axis == 1 ? PMB2016_X : PMB2016_LAYER;
}

/* Where a point is; place: of its lower sample. As pmb_emit: the sum in double, then the nearest float. */
PMB_INLINE void pmb2016_position(const int place[3], int axis, float t, float position[3])
{
  for (int a = 0; a < 3; ++a) {
    position[a] = a == axis ? (float)((double)place[a] + (double)t) : (float)place[a];
  }
}

/* What central differences at a sample use: steps to its neighbours, 0 where there is none, so that the sample itself
 * stands in, and what the difference is multiplied by. */
typedef struct pmb2016_star {
  int below[3], above[3];
  float factor[3];
} pmb2016_star;

PMB_INLINE void pmb2016_star_of(const int place[3], const int *dims, pmb2016_star *star)
{
  const int step[3] = { 1, dims[0], dims[0] * dims[1] };
  for (int a = 0; a < 3; ++a) {
    star->below[a] = place[a] > 0 ? -step[a] : 0;
    star->above[a] = place[a] < dims[a] - 1 ? step[a] : 0;
    star->factor[a] = place[a] > 0 && place[a] < dims[a] - 1 ? 0.5f : 1.0f;
  }
}

/* Turns the star of an edge's lower sample, which is at `place`, into its upper one's. */
PMB_INLINE void pmb2016_star_up(const int place[3], const int *dims, int axis, pmb2016_star *star)
{
  for (int a = 0; a < 3; ++a) {
    const int along = a == axis, last = place[a] + 2 >= dims[a];
    star->below[a] = along ? -star->above[a] : star->below[a];
    star->factor[a] = along ? (last ? 1.0f : 0.5f) : star->factor[a];
    star->above[a] = along && last ? 0 : star->above[a];
  }
}

/* The values around a sample, and its own. */
typedef struct pmb2016_end {
  float center, below[3], above[3], factor[3];
} pmb2016_end;

/* The normal of a point (4.3.1: central differences of 6 samples around it; the paper's texture unit interpolates them
 * between the ends of the edge). Returns 0 where the gradient is zero, or its square is no good float. */
PMB_INLINE int pmb2016_normal(const pmb2016_end *lower, const pmb2016_end *upper, float t, float normal[3])
{
  float g[3];
  for (int a = 0; a < 3; ++a) {
    g[a] = pmb_lerp_f32(pmb_difference_f32(lower->below[a], lower->above[a], lower->factor[a]),
      pmb_difference_f32(upper->below[a], upper->above[a], upper->factor[a]), t);
  }
  const float length2 = pmb_length2_f32(g[0], g[1], g[2]);
  const float factor = pmb_normal_factor_f32(length2);
  for (int a = 0; a < 3; ++a) {
    normal[a] = g[a] * factor;
  }
  return pmb_length2_good_f32(length2);
}

PMB_INLINE pmb_stencil pmb2016_stencil(const pmb2016_end *end)
{
  pmb_stencil stencil;
  stencil.center = (double)end->center;
  for (int a = 0; a < 3; ++a) {
    stencil.below[a] = (double)end->below[a];
    stencil.above[a] = (double)end->above[a];
    stencil.factor[a] = (double)end->factor[a];
  }
  return stencil;
}

/* The normal there; not the paper's, but then normals are the same as pmb_emit's everywhere. Rare. */
PMB_INLINE void pmb2016_careful_normal(
  const pmb2016_end *lower, const pmb2016_end *upper, float t, int axis, float normal[3])
{
  const pmb_stencil low = pmb2016_stencil(lower), high = pmb2016_stencil(upper);
  float g[3], gradient[3];
  pmb_frame frame;
  for (int i = 0; i < 9; ++i) {
    frame.normal[i] = i % 4 == 0;
  }
  frame.gradient_scale = 1;
  pmb_central_gradient_f32(&low, &high, t, g);
  if (!pmb_scaled_point_f32(&frame, g, gradient, normal)) {
    pmb_careful_point(&frame, &low, &high, axis, (double)t, gradient, normal);
  }
}

#endif
