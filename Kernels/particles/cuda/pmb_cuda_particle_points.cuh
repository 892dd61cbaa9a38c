/* SPDX-License-Identifier: BSD-3-Clause
 * The points of an active brick and the particles near them, for passes vertices and attributes. */
#ifndef PMB_CUDA_PARTICLE_POINTS_CUH
#define PMB_CUDA_PARTICLE_POINTS_CUH

#include "particles/cuda/pmb_cuda_particle_near.cuh"

enum {
  POINT_WARPS = 2,
  POINT_THREADS = 32 * POINT_WARPS,
  POINT_NEAR = 256,                                   /* particles that are loaded together */
  POINT_KINDS = PMB_SAMPLE,                           /* all points are on edges */
  POINTS = POINT_KINDS * PMB_BRICK_ROWS * PMB_BRICK_X /* most points of a brick */
};
static const float TO_END = 0.5f; /* from the middle of an edge to its end */

/* Shared memory of a block. A point is column | row << 5 | axis << 9. */
typedef struct point_block {
  near_rows rows[POINT_WARPS];
  near_particles<POINT_NEAR> near;
  uint32_t index[POINT_NEAR]; /* indices in the input, for attributes */
  uint16_t point[POINTS];
  uint32_t reach[POINT_NEAR / 32][POINT_THREADS]; /* bits of the particles that reach each thread's point */
} point_block;

/* A point: the ends of its edge, counted from the brick's first sample, and its offset from the lower end. wanted: 0 for a lane
 * without a point, which has some other point. */
typedef struct edge_point {
  float lower[3], upper[3], part[3];
  int axis, wanted;
} edge_point;

/* Lists the points of an active brick in order, a thread per row and kind. Returns how many. */
static __device__ __forceinline__ int list_points(const pmb_cuda_cloud &c, uint32_t active, point_block *block)
{
  const pmb_cuda_record *record = c.d_records + active;
  const int all = active < c.active_below; /* 0: only the first plane */
  for (int i = threadIdx.x; i < POINT_KINDS * PMB_BRICK_ROWS; i += POINT_THREADS) {
    const int row = i % PMB_BRICK_ROWS, kind = i / PMB_BRICK_ROWS;
    if (!all && (kind == 2 || row >= PMB_BRICK_Y)) {
      continue;
    }
    const int at = row / PMB_BRICK_Y * 5 + row % PMB_BRICK_Y, above = kind == 1 ? at + 1 : at + 5;
    const uint32_t word = record->word[at];
    const uint32_t other = kind == 0 ? pmb_cuda_next(word, record->column >> at & 1) : record->word[above];
    uint16_t *to = block->point + pmb_cuda_row_first(record->first[row], kind);
    for (uint32_t left = word ^ other; left; left &= left - 1) {
      *to++ = (uint16_t)((__ffs((int)left) - 1) | row << 5 | kind << 9);
    }
  }
  __syncthreads();
  return (int)(c.d_before[active + 1].points - c.d_before[active].points);
}

/* Point number `at` of `points`. */
static __device__ __forceinline__ edge_point point_at(const point_block *block, int at, int points)
{
  const int code = block->point[min(at, points - 1)];
  const int sample[3] = { code & 31, (code >> 5) % PMB_BRICK_Y, (code >> 5 & (PMB_BRICK_ROWS - 1)) / PMB_BRICK_Y };
  edge_point point;
  point.axis = code >> 9;
  point.wanted = at < points;
  for (int a = 0; a < 3; ++a) {
    point.lower[a] = (float)sample[a];
    point.upper[a] = (float)(sample[a] + (a == point.axis));
    point.part[a] = 0;
  }
  return point;
}

/* Moves a point to a fraction of its edge. */
static __device__ __forceinline__ void move_point(edge_point *point, float part)
{
  for (int a = 0; a < 3; ++a) { /* part[point->axis] would force the point out of registers */
    point->part[a] = a == point->axis ? part : 0;
  }
}

/* Calls `take` with the index in block->near of each particle that reaches a place up to `more` from the middle of the lane's
 * edge, in order. index: block->index to get indices in the input, else NULL. again: 1 if the last call had the same point. *taken:
 * number of the first particle in block->near, at first UINT32_MAX. All threads of a block call it together. */
template <class TAKE>
static __device__ __forceinline__ void each_near_point(const pmb_cuda_cloud &c, const near_box &box, uint32_t all,
  point_block *block, const edge_point &point, float more, int again, uint32_t *taken, uint32_t *index, TAKE take)
{
  const float middle[3] = { (point.lower[0] + point.upper[0]) / 2, (point.lower[1] + point.upper[1]) / 2,
    (point.lower[2] + point.upper[2]) / 2 };
  for (uint32_t from = 0; from < all; from += POINT_NEAR) {
    const int n = (int)min(all - from, (uint32_t)POINT_NEAR);
    if (*taken != from) { /* usually all fit at once */
      take_near<POINT_THREADS>(c, box, &block->rows[threadIdx.x / 32], from, n, 0, more, &block->near, index);
      __syncthreads();
      *taken = from;
    }
    for (int first = 0; first < n && point.wanted; first += 32) {
      uint32_t *reach = &block->reach[first / 32][threadIdx.x];
      if (!again || all > POINT_NEAR) {
        *reach = find_reaching(&block->near, first, n, middle);
      }
      for (uint32_t left = *reach; left; left &= left - 1) {
        take(first + __ffs((int)left) - 1);
      }
    }
    if (all > POINT_NEAR) {
      __syncthreads(); /* before others are loaded */
    }
  }
}

#endif
