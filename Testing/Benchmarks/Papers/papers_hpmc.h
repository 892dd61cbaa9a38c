/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_hpmc.h - marching cubes by 2D HistoPyramids: C. Dyken, G. Ziegler, C. Theobalt, H.-P. Seidel, High-speed Marching
 * Cubes using HistoPyramids. The steps, for papers_hpmc.c and papers_hpmc.cu.
 *
 * Base level (4.2): the slices of cells, tiled into a square whose side is a power of two (flat 3D); an entry of 32 bits per
 * cell holds how many vertices the cell gives and its case. Four entries, of 2 x 2 x 1 cells, are a texel. Each entry of
 * the level above is the sum of a texel below (3.1), until one texel is left; its sum is read back. Then each vertex of the
 * output goes down from there by its number (3.2), to its cell and its edge.
 * Texels are in Morton order (4.3), a level's all in a row. Below a sum of 0 no traversal comes: nothing is written there.
 *
 * hpmc_indexed: the paper (6) names indexed output as future work, "without the two passes and scattering" of the obvious
 * solution. Here one pass over the volume makes two pyramids on one base: one counts triangles, one points, each with the
 * sample at the lower end of its edge. A triangle goes down the first, and from each of its edges up the second, which sums up
 * the points before: that is the id, nothing is scattered. Its base has an entry per sample, not per cell. */
#ifndef PAPERS_HPMC_H
#define PAPERS_HPMC_H

#include "papers_pyramid.h"

#define HPMC_NAME "hpmc"
#define HPMC_SOURCE "Dyken et al., High-speed Marching Cubes using HistoPyramids, 4"
#define HPMC_INDEXED_NAME "hpmc_indexed"
#define HPMC_INDEXED_SOURCE "Dyken et al., High-speed Marching Cubes using HistoPyramids, 6: indexed output"

enum {
  HPMC_SIDE = 65536, /* texels along an axis of the base at most: they are numbered in 32 bits */
  HPMC_LEVELS = 17,
  HPMC_TILE = 64,      /* a slice's tile is padded to a multiple of this many entries along each axis */
  HPMC_BLOCK_LEVEL = 6 /* an entry of this level is a square of that size */
};

/* What a pyramid counts. */
typedef enum hpmc_kind { HPMC_VERTICES, HPMC_TRIANGLES, HPMC_POINTS } hpmc_kind;

/* Four entries. */
#if defined(__CUDACC__)
typedef uint4 hpmc_texel;
#else
typedef struct hpmc_texel {
  uint32_t x, y, z, w;
} hpmc_texel;
#endif

/* Level 0 is the base; level `top` is one texel. */
typedef struct hpmc_pyramid {
  hpmc_texel *level[HPMC_LEVELS];
} hpmc_pyramid;

/* Where the entries of a volume are in the base. */
typedef struct hpmc_layout {
  int32_t extent[3];     /* entries in use: cells, or samples */
  uint32_t tile[2];      /* entries of a slice's tile, with its padding */
  float tile_inverse[2]; /* 1 / tile */
  uint32_t tiles_across; /* of the square */
  int top;
} hpmc_layout;

/* All that a step needs. pyramid[0] counts vertices, or triangles; pyramid[1] points, its level 0 is the same. */
typedef struct hpmc_job {
  papers_field field;
  hpmc_layout layout;
  hpmc_pyramid pyramid[2];
} hpmc_job;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the pyramid, or of both, of a volume of so many samples: 16 (M^2 + M^2 / 4 + ... + 1), where M is the side of
 * the base in texels (equation 2 of papers_hp3d.h's paper). 0: more than 64 bits can count. */
uint64_t papers_hpmc_bytes(const int64_t dims[3], int indexed);

/* The least M for a volume. */
uint64_t papers_hpmc_side(const int64_t dims[3], int indexed);

/* Sets layout and, from the block of papers_hpmc_bytes at `block`, the pyramids' levels. The tops are the block's last
 * one or two texels. */
void papers_hpmc_layout(hpmc_job *job, const int64_t dims[3], int indexed, void *block);

/* Whether a system takes a volume; *bytes: of its pyramids, 0 where it has no cell. */
papers_status papers_hpmc_check(const papers_volume *volume, int indexed, uint64_t *bytes);

/* The count that a top stands for; PAPERS_TOO_LARGE if more than `most`. */
papers_status papers_hpmc_total(const hpmc_texel *top, int64_t most, int64_t *count);

#ifdef __cplusplus
}
#endif

/* ---- entries ---- */

/* Bits 0 to 7: case, 8 to 10: triangles, 11 to 13: edges from the lower corner that have a point, by axis. */
PMB_INLINE uint32_t hpmc_count(uint32_t entry, hpmc_kind kind)
{
  const uint32_t triangles = entry >> 8 & 7;
  return kind == HPMC_POINTS ? (uint32_t)pmb_popcount(entry >> 11)
    : kind == HPMC_VERTICES  ? 3 * triangles
                             : triangles;
}

/* The entry of the cell at (x,y,z), in the padding 0. finite: as papers_cell_case gives it; triangles: of its case. */
PMB_INLINE uint32_t hpmc_entry(const hpmc_job *job, int indexed, int32_t x, int32_t y, int32_t z, unsigned cell_case,
  unsigned finite, int triangles)
{
  const int32_t *dims = job->field.dims;
  uint32_t entry = 0;
  if (x < dims[0] - 1 && y < dims[1] - 1 && z < dims[2] - 1 && finite == 0xff) {
    entry = cell_case | (uint32_t)triangles << 8;
  }
  if (indexed && x < dims[0] && y < dims[1] && finite & 1) {
    for (int a = 0; a < 3; ++a) {
      entry |= ((cell_case ^ cell_case >> (1 << a)) & finite >> (1 << a) & 1) << (11 + a);
    }
  }
  return entry;
}

/* Whether one of the cells around an edge, from the sample (x,y,z) along an axis, has eight finite corners. */
PMB_INLINE int hpmc_edge_is_used(const papers_field *field, pmb_type type, int32_t x, int32_t y, int32_t z, int axis)
{
  for (int i = 0; i < 8; ++i) {
    const int32_t cell[3] = { x - (i & 1), y - (i >> 1 & 1), z - (i >> 2) };
    unsigned finite = 0;
    if (!(i >> axis & 1) && cell[0] >= 0 && cell[1] >= 0 && cell[2] >= 0 && cell[0] < field->dims[0] - 1 &&
      cell[1] < field->dims[1] - 1 && cell[2] < field->dims[2] - 1) {
      (void)papers_cell_case(field, type, cell[0], cell[1], cell[2], &finite);
    }
    if (finite == 0xff) {
      return 1;
    }
  }
  return 0;
}

/* The same from the samples, which need not be finite. */
PMB_INLINE uint32_t hpmc_entry_of_samples(
  const hpmc_job *job, pmb_type type, int indexed, int32_t x, int32_t y, int32_t z)
{
  unsigned finite;
  if (x >= job->layout.extent[0] || y >= job->layout.extent[1]) {
    return 0;
  }
  const unsigned cell_case = papers_cell_case(&job->field, type, x, y, z, &finite);
  uint32_t entry = hpmc_entry(job, indexed, x, y, z, cell_case, finite, pmb_triangle_count[cell_case]);
  for (int a = 0; indexed && type == PMB_FLOAT32 && a < 3; ++a) {
    if (entry >> (11 + a) & 1 && !hpmc_edge_is_used(&job->field, type, x, y, z, a)) {
      entry &= ~(1u << (11 + a));
    }
  }
  return entry;
}

/* The texel of the base with the entry of (x,y,z); *entry: which of its four. */
PMB_INLINE uint32_t hpmc_place(const hpmc_layout *layout, int32_t x, int32_t y, int32_t z, uint32_t *entry)
{
  const uint32_t row = (uint32_t)z / layout->tiles_across, column = (uint32_t)z - row * layout->tiles_across;
  const uint32_t u = column * layout->tile[0] + (uint32_t)x, v = row * layout->tile[1] + (uint32_t)y;
  *entry = (u & 1) | (v & 1) << 1;
  return papers_spread_2(u >> 1) | papers_spread_2(v >> 1) << 1;
}

/* The other way round. */
PMB_INLINE void hpmc_cell(const hpmc_layout *layout, uint32_t texel, uint32_t entry, int32_t cell[3])
{
  const uint32_t u = 2 * papers_gather_2(texel) + (entry & 1), v = 2 * papers_gather_2(texel >> 1) + (entry >> 1);
  /* Rounded down, this is exact: u < 2^17 and, with the half, at least 0.5 / tile away from where it would not be. */
  const uint32_t column = (uint32_t)(((float)u + 0.5f) * layout->tile_inverse[0]);
  const uint32_t row = (uint32_t)(((float)v + 0.5f) * layout->tile_inverse[1]);
  cell[0] = (int32_t)(u - column * layout->tile[0]);
  cell[1] = (int32_t)(v - row * layout->tile[1]);
  cell[2] = (int32_t)(row * layout->tiles_across + column);
}

/* ---- the pyramid ---- */

PMB_INLINE uint32_t hpmc_texel_sum(hpmc_texel t)
{
  return papers_sum(papers_sum(t.x, t.y), papers_sum(t.z, t.w));
}

/* A texel's entries to what they count; level 0. */
PMB_INLINE hpmc_texel hpmc_counts(hpmc_texel t, hpmc_kind kind)
{
  t.x = hpmc_count(t.x, kind);
  t.y = hpmc_count(t.y, kind);
  t.z = hpmc_count(t.z, kind);
  t.w = hpmc_count(t.w, kind);
  return t;
}

/* The entry of a texel, 0 to 3, whose range has *key, which is counted from the range's begin afterwards (3.2). */
PMB_INLINE uint32_t hpmc_choose(hpmc_texel t, uint32_t *key)
{
  const uint32_t b = t.x, c = b + t.y, d = c + t.z, k = *key;
  uint32_t begin = 0, chosen = 0;
  if (k >= b) {
    begin = b;
    chosen = 1;
  }
  if (k >= c) {
    begin = c;
    chosen = 2;
  }
  if (k >= d) {
    begin = d;
    chosen = 3;
  }
  *key = k - begin;
  return chosen;
}

PMB_INLINE uint32_t hpmc_entry_at(hpmc_texel t, uint32_t n)
{
  return n == 0 ? t.x : n == 1 ? t.y : n == 2 ? t.z : t.w;
}

/* Down to the entry that has element *key of the output; *key becomes the number among its own. Returns what is there;
 * cell: where that is in the volume. */
PMB_INLINE uint32_t hpmc_descend(
  const hpmc_pyramid *pyramid, const hpmc_layout *layout, hpmc_kind kind, uint32_t *key, int32_t cell[3])
{
  uint32_t texel = 0;
  for (int l = layout->top; l > 0; --l) {
    texel = 4 * texel + hpmc_choose(pyramid->level[l][texel], key);
  }
  const hpmc_texel t = pyramid->level[0][texel];
  const uint32_t n = hpmc_choose(hpmc_counts(t, kind), key);
  hpmc_cell(layout, texel, n, cell);
  return hpmc_entry_at(t, n);
}

/* The sum of a texel's entries before entry n. */
PMB_INLINE uint32_t hpmc_before(hpmc_texel t, uint32_t n)
{
  return (n > 0 ? t.x : 0) + (n > 1 ? t.y : 0) + (n > 2 ? t.z : 0);
}

/* Up again: the id of the point on the edge along an axis from the sample (x,y,z). */
PMB_INLINE uint32_t hpmc_point_id(
  const hpmc_pyramid *pyramid, const hpmc_layout *layout, int32_t x, int32_t y, int32_t z, int axis)
{
  uint32_t n, texel = hpmc_place(layout, x, y, z, &n);
  const hpmc_texel t = pyramid->level[0][texel];
  uint32_t id = hpmc_before(hpmc_counts(t, HPMC_POINTS), n);
  id += (uint32_t)pmb_popcount(hpmc_entry_at(t, n) >> 11 & ((1u << axis) - 1));
  for (int l = 1; l <= layout->top; ++l) {
    n = texel & 3;
    texel >>= 2;
    id += hpmc_before(pyramid->level[l][texel], n);
  }
  return id;
}

/* ---- the output ---- */

/* Vertex `key` of the soup. */
PMB_INLINE void hpmc_vertex(const hpmc_job *job, pmb_type type, uint32_t key, float position[3], float normal[3])
{
  int32_t cell[3];
  const uint32_t entry = hpmc_descend(&job->pyramid[0], &job->layout, HPMC_VERTICES, &key, cell);
  papers_cell_point(&job->field, type, cell, pmb_triangle_edges[entry & 0xff][key], position, normal);
}

/* Point `key` of the indexed mesh. */
PMB_INLINE void hpmc_point(const hpmc_job *job, pmb_type type, uint32_t key, float position[3], float normal[3])
{
  int32_t lower[3];
  uint32_t edges = hpmc_descend(&job->pyramid[1], &job->layout, HPMC_POINTS, &key, lower) >> 11;
  for (; key > 0; --key) {
    edges &= edges - 1;
  }
  papers_edge_point(&job->field, type, lower, pmb_lowest_bit(edges), position, normal);
}

/* The ids of triangle `key`. */
PMB_INLINE void hpmc_triangle(const hpmc_job *job, uint32_t key, int32_t ids[3])
{
  int32_t cell[3];
  const uint32_t entry = hpmc_descend(&job->pyramid[0], &job->layout, HPMC_TRIANGLES, &key, cell);
  for (int i = 0; i < 3; ++i) {
    const int edge = pmb_triangle_edges[entry & 0xff][3 * key + (uint32_t)i], corner = pmb_edge_lower(edge);
    ids[i] = (int32_t)hpmc_point_id(&job->pyramid[1], &job->layout, cell[0] + (corner & 1),
      cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2), pmb_edge_axis(edge));
  }
}

#endif
