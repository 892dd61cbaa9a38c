/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_hp3d.h - marching cubes by 3D HistoPyramids: E. Smistad, A. C. Elster, F. Lindseth, Real-Time Surface Extraction and
 * Visualization of Medical Images using OpenCL and GPUs, section 3. The steps, for papers_hp3d.c and papers_hp3d.cu.
 *
 * The base level is a cube of N^3 cells, N the power of two that the volume fits into, with the number of triangles of each
 * cell in 8 bits; an element of the next level is the sum of 2 x 2 x 2 of the one below. The sums fit into 8 bits in level 1,
 * into 16 in levels 2 to 4; the others have 32. The only element of the top is read back. Then each triangle goes down
 * from there by its number to its cell, whose case is found again from its samples. Levels are in Morton order.
 * Below a sum of 0 no traversal comes: nothing is written there. */
#ifndef PAPERS_HP3D_H
#define PAPERS_HP3D_H

#include "papers_pyramid.h"

#define HP3D_NAME "hp3d"
#define HP3D_SOURCE \
  "Smistad et al., Real-Time Surface Extraction and Visualization of Medical Images using OpenCL and GPUs, 3"

enum {
  HP3D_LEVELS = 13,
  HP3D_SIDE_LEAST = 64,  /* N is at least that, */
  HP3D_SIDE_MOST = 4096, /* and at most that: the elements of level 2 are numbered in 32 bits */
  HP3D_BLOCK = 32,       /* an element of this level is a cube of HP3D_BLOCK cells along each axis: */
  HP3D_BLOCK_LEVEL = 5
};

/* Level 0 is the base, 1^3 is level `top`. */
typedef struct hp3d_pyramid {
  void *level[HP3D_LEVELS];
  int top;
} hp3d_pyramid;

/* All that a step needs. */
typedef struct hp3d_job {
  papers_field field;
  hp3d_pyramid pyramid;
} hp3d_job;

#ifdef __cplusplus
extern "C" {
#endif

/* N for a volume of so many samples; 0: more than Morton codes of 60 bits can count. */
uint64_t papers_hp3d_side(const int64_t dims[3]);

/* Bytes of an element of a level: 1, 1, 2, 2, 2, then 4. */
int papers_hp3d_width(int level);

/* Bytes of the pyramid: the paper's equation 1 and the last column of its table 3. 0: as for N. */
uint64_t papers_hp3d_bytes(const int64_t dims[3]);

/* Sets the levels from the block of papers_hp3d_bytes at `block`; the top is its last element. */
void papers_hp3d_layout(hp3d_pyramid *pyramid, const int64_t dims[3], void *block);

/* Whether a system takes a volume; *bytes: of its pyramid, 0 where it has no cell. */
papers_status papers_hp3d_check(const papers_volume *volume, uint64_t *bytes);

#ifdef __cplusplus
}
#endif

/* Where the cell (x,y,z) is in the base. */
PMB_INLINE uint64_t hp3d_place(int32_t x, int32_t y, int32_t z)
{
  return papers_spread_3((uint32_t)x) | papers_spread_3((uint32_t)y) << 1 | papers_spread_3((uint32_t)z) << 2;
}

/* Triangles of the cell (x,y,z). */
PMB_INLINE uint32_t hp3d_cell_triangles(const papers_field *field, pmb_type type, int32_t x, int32_t y, int32_t z)
{
  unsigned finite;
  const unsigned cell_case = papers_cell_case(field, type, x, y, z, &finite);
  return finite == 0xff ? pmb_triangle_count[cell_case] : 0;
}

/* ---- traversal ---- */

/* The eight elements of a level below an element of the next, as words: 2 of 8 bits each, 4 of 16 or 8 of 32. */
PMB_INLINE void hp3d_group(const hp3d_pyramid *pyramid, int level, uint64_t parent, uint32_t words[8])
{
#if defined(__CUDACC__)
  const char *d_level = (const char *)pyramid->level[level];
  if (level < 2) {
    const uint2 v = *(const uint2 *)(d_level + 8 * parent);
    words[0] = v.x;
    words[1] = v.y;
  } else if (level < HP3D_BLOCK_LEVEL) {
    const uint4 v = *(const uint4 *)(d_level + 16 * parent);
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
  } else {
    const uint4 v = *(const uint4 *)(d_level + 32 * parent), w = *(const uint4 *)(d_level + 32 * parent + 16);
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
    words[4] = w.x;
    words[5] = w.y;
    words[6] = w.z;
    words[7] = w.w;
  }
#else
  for (uint64_t i = 0; i < 8; ++i) {
    const uint64_t e = 8 * parent + i;
    if (level < 2) {
      words[i / 4] = (i % 4 ? words[i / 4] : 0) | (uint32_t)((const uint8_t *)pyramid->level[level])[e] << i % 4 * 8;
    } else if (level < HP3D_BLOCK_LEVEL) {
      words[i / 2] =
        (i % 2 ? words[i / 2] : 0) | (uint32_t)((const uint16_t *)pyramid->level[level])[e] << i % 2 * 16;
    } else {
      words[i] = ((const uint32_t *)pyramid->level[level])[e];
    }
  }
#endif
}

/* Element i of a group. */
PMB_INLINE uint32_t hp3d_element(const uint32_t words[8], int level, int i)
{
  return level < 2             ? words[i / 4] >> i % 4 * 8 & 0xff
    : level < HP3D_BLOCK_LEVEL ? words[i / 2] >> i % 2 * 16 & 0xffff
                               : words[i];
}

/* The element of a group whose range has *key, which is counted from the range's begin afterwards. */
PMB_INLINE uint32_t hp3d_choose(const uint32_t words[8], int level, uint32_t *key)
{
  uint32_t begin = 0, end = 0, chosen = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < 7; ++i) {
    end += hp3d_element(words, level, i);
    begin = *key >= end ? end : begin;
    chosen += *key >= end;
  }
  *key -= begin;
  return chosen;
}

/* From an element of the level above `level` to one of it. */
PMB_INLINE uint64_t hp3d_step(const hp3d_pyramid *pyramid, int level, uint64_t parent, uint32_t *key)
{
  uint32_t words[8];
  hp3d_group(pyramid, level, parent, words);
  return 8 * parent + hp3d_choose(words, level, key);
}

/* The cell that has triangle *key; *key becomes the number among its own. */
PMB_INLINE void hp3d_descend(const hp3d_pyramid *pyramid, uint32_t *key, int32_t cell[3])
{
  uint32_t upper = 0;
  for (int l = pyramid->top - 1; l >= HP3D_BLOCK_LEVEL; --l) {
    upper = (uint32_t)hp3d_step(pyramid, l, upper, key);
  }
  upper = (uint32_t)hp3d_step(pyramid, 4, upper, key);
  upper = (uint32_t)hp3d_step(pyramid, 3, upper, key);
  upper = (uint32_t)hp3d_step(pyramid, 2, upper, key);
  const uint64_t place = hp3d_step(pyramid, 0, hp3d_step(pyramid, 1, upper, key), key);
  for (int a = 0; a < 3; ++a) {
    cell[a] = (int32_t)papers_gather_3(place >> a);
  }
}

/* Triangle `key`: three points. */
PMB_INLINE void hp3d_triangle(const hp3d_job *job, pmb_type type, uint32_t key, float positions[9], float normals[9])
{
  int32_t cell[3];
  unsigned finite;
  hp3d_descend(&job->pyramid, &key, cell);
  const unsigned cell_case = papers_cell_case(&job->field, type, cell[0], cell[1], cell[2], &finite);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < 3; ++i) {
    const int edge = pmb_triangle_edges[cell_case][3 * key + (uint32_t)i];
    papers_cell_point(&job->field, type, cell, edge, positions + 3 * i, normals + 3 * i);
  }
}

#endif
