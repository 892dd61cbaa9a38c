/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_hpmc.cuh - the pyramids of papers_hpmc.cu: layout, entries, and the ways down and up. */
#ifndef PAPERS_HPMC_CUH
#define PAPERS_HPMC_CUH

#include "papers_pyramid.cuh"

enum : uint64_t { TEXELS_MOST = (uint64_t)1 << 32 }; /* of the base: they have 32-bit numbers */
enum {
  LEVELS = 17,
  TILE = 64,       /* a slice's tile is padded to a multiple of this many entries along each axis */
  WORD_LEVEL = 2,  /* chunks: the first level of 16 bits */
  BLOCK_LEVEL = 6, /* an entry of this level is a square of that size */
  TEXELS = TILE * TILE / 4
};

/* Kinds of a pyramid's counts, and of systems. */
enum counted { VERTICES, TRIANGLES, POINTS };
enum kind { SOUP, INDEXED, CHUNKS, WEBGL, WEBGL_SOBEL }; /* the last two: for points alone */

/* Level 0 is the base; level `top` is one texel of four entries. */
struct hpmc_pyramid {
  uint4 *level[LEVELS];
};

/* The layout of a volume's entries in the base. */
struct hpmc_layout {
  int32_t extent[3];     /* entries in use: cells, or samples */
  uint32_t tile[2];      /* entries of a slice's tile, with its padding */
  float tile_inverse[2]; /* 1 / tile */
  uint32_t tiles_across; /* of the square; CHUNKS: 1 */
  uint32_t wide;         /* CHUNKS: chunks across a slice */
  int top;
  int64_t upper; /* texels of level BLOCK_LEVEL */
};

/* The arguments of a kernel. pyramid[0] counts vertices or triangles; pyramid[1] counts points and has the same level 0. */
struct hpmc_job {
  papers_field field;
  hpmc_layout layout;
  hpmc_pyramid pyramid[2];
};

typedef papers_slice<TILE> hpmc_slice;

/* ---- entries ---- */

/* Bits 0 to 7: case, 8 to 10: triangles, 11 to 13: edges from the lower corner that have a point, by axis. */
static __device__ __forceinline__ uint32_t count_of(uint32_t entry, counted kind)
{
  const uint32_t triangles = entry >> 8 & 7;
  return kind == POINTS ? (uint32_t)pmb_popcount(entry >> 11) : kind == VERTICES ? 3 * triangles : triangles;
}

/* The entry of the cell at (x,y,z), in the padding 0. triangles: of its case. */
template <int KIND>
static __device__ __forceinline__ uint32_t make_entry(
  const papers_field &field, int32_t x, int32_t y, int32_t z, unsigned cell_case, int triangles)
{
  const int32_t *dims = field.dims;
  uint32_t entry = 0;
  if (x < dims[0] - 1 && y < dims[1] - 1 && z < dims[2] - 1) {
    entry = cell_case | (uint32_t)triangles << 8;
  }
  if (KIND == INDEXED && x < dims[0] && y < dims[1]) {
    for (int a = 0; a < 3; ++a) entry |= ((cell_case ^ cell_case >> (1 << a)) & 1) << (11 + a);
  }
  return entry;
}

/* The texel of the base with the entry of (x,y,z); *entry: which of its four. */
static __device__ __forceinline__ uint32_t texel_of(
  const hpmc_layout &layout, int32_t x, int32_t y, int32_t z, uint32_t *entry)
{
  const uint32_t row = (uint32_t)z / layout.tiles_across, column = (uint32_t)z - row * layout.tiles_across;
  const uint32_t u = column * layout.tile[0] + (uint32_t)x, v = row * layout.tile[1] + (uint32_t)y;
  *entry = (u & 1) | (v & 1) << 1;
  return papers_spread_2(u >> 1) | papers_spread_2(v >> 1) << 1;
}

/* The reverse of texel_of. */
template <int KIND>
static __device__ __forceinline__ void cell_of(
  const hpmc_layout &layout, uint32_t texel, uint32_t entry, int32_t cell[3])
{
  const uint32_t chunk = texel / TEXELS, part = KIND == CHUNKS ? texel % TEXELS : texel;
  uint32_t u = 2 * papers_gather_2(part) + (entry & 1), v = 2 * papers_gather_2(part >> 1) + (entry >> 1);
  uint32_t column = 0, row;
  if (KIND == CHUNKS) {
    v += chunk / layout.wide * TILE;
    u += chunk % layout.wide * TILE;
    row = v / layout.tile[1];
  } else { /* Rounded down, exact: u < 2^17 and, with the half, at least 0.5 / tile away from where it would not be. */
    column = (uint32_t)(((float)u + 0.5f) * layout.tile_inverse[0]);
    row = (uint32_t)(((float)v + 0.5f) * layout.tile_inverse[1]);
  }
  cell[0] = (int32_t)(u - column * layout.tile[0]);
  cell[1] = (int32_t)(v - row * layout.tile[1]);
  cell[2] = (int32_t)(row * layout.tiles_across + column);
}

/* ---- traversal ---- */

static __device__ __forceinline__ uint32_t texel_sum(uint4 t)
{
  return papers_sum(papers_sum(t.x, t.y), papers_sum(t.z, t.w));
}

/* The counts of a base texel's entries. */
static __device__ __forceinline__ uint4 texel_counts(uint4 t, counted kind)
{
  return make_uint4(count_of(t.x, kind), count_of(t.y, kind), count_of(t.z, kind), count_of(t.w, kind));
}

/* A texel of a level, widened; the case of a chunk's cell gives its count. */
template <int KIND>
static __device__ __forceinline__ uint4 texel_at(const hpmc_pyramid &pyramid, int level, uint32_t texel)
{
  if (KIND != CHUNKS || level >= BLOCK_LEVEL) return pyramid.level[level][texel];
  if (level >= WORD_LEVEL) {
    const uint2 t = ((const uint2 *)pyramid.level[level])[texel];
    return make_uint4(t.x & 0xffff, t.x >> 16, t.y & 0xffff, t.y >> 16);
  }
  const uint32_t t = ((const uint32_t *)pyramid.level[level])[texel];
  uint32_t of[4];
  for (int c = 0; c < 4; ++c) {
    of[c] = t >> 8 * c & 0xff;
    if (level == 0) of[c] |= (uint32_t)pmb_triangle_count[of[c]] << 8;
  }
  return make_uint4(of[0], of[1], of[2], of[3]);
}

/* Finds the entry of a texel, 0 to 3, whose range has *key; makes *key relative to that range (3.2). */
static __device__ __forceinline__ uint32_t choose(uint4 t, uint32_t *key)
{
  const uint32_t b = t.x, c = b + t.y, d = c + t.z, k = *key;
  *key = k >= d ? k - d : k >= c ? k - c : k >= b ? k - b : k;
  return k >= d ? 3 : k >= c ? 2 : k >= b ? 1 : 0;
}

static __device__ __forceinline__ uint32_t entry_at(uint4 t, uint32_t n)
{
  return n == 0 ? t.x : n == 1 ? t.y : n == 2 ? t.z : t.w;
}

/* Descends to the entry of output element *key; *key becomes the element's number in it. Returns the entry; cell: its place in
 * the volume. */
template <int KIND>
static __device__ __forceinline__ uint32_t descend(
  const hpmc_job &job, const hpmc_pyramid &pyramid, counted kind, uint32_t *key, int32_t cell[3])
{
  uint32_t texel = 0;
  for (int l = job.layout.top; l > 0; --l) texel = 4 * texel + choose(texel_at<KIND>(pyramid, l, texel), key);
  const uint4 t = texel_at<KIND>(pyramid, 0, texel);
  const uint32_t n = choose(texel_counts(t, kind), key);
  cell_of<KIND>(job.layout, texel, n, cell);
  return entry_at(t, n);
}

/* The sum of a texel's entries before entry n. */
static __device__ __forceinline__ uint32_t sum_before(uint4 t, uint32_t n)
{
  return (n > 0 ? t.x : 0) + (n > 1 ? t.y : 0) + (n > 2 ? t.z : 0);
}

/* Ascends: the id of the point on the edge of a cell. */
static __device__ __forceinline__ uint32_t point_id(const hpmc_job &job, const int32_t cell[3], int edge)
{
  const hpmc_pyramid &points = job.pyramid[1];
  int32_t lower[3];
  uint32_t n;
  papers_lower_of(cell, edge, lower);
  uint32_t texel = texel_of(job.layout, lower[0], lower[1], lower[2], &n);
  const uint4 t = points.level[0][texel];
  uint32_t id = sum_before(texel_counts(t, POINTS), n);
  id += (uint32_t)pmb_popcount(entry_at(t, n) >> 11 & ((1u << pmb_edge_axis(edge)) - 1));
  for (int l = 1; l <= job.layout.top; ++l) {
    n = texel & 3;
    texel >>= 2;
    id += sum_before(points.level[l][texel], n);
  }
  return id;
}

#endif
