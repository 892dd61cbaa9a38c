/* SPDX-License-Identifier: BSD-3-Clause
 * The points of an active brick and the particles near them, for passes vertices and attributes. */
#ifndef PMB_CUDA_PARTICLE_POINTS_CUH
#define PMB_CUDA_PARTICLE_POINTS_CUH

#include "cuda/particles/pmb_cuda_particle_near.cuh"

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
  near_rows rows;
  near_particles<POINT_NEAR> near;
  uint32_t index[POINT_NEAR]; /* indices in the input, for attributes */
  uint32_t taken;             /* number of the first particle in `near`; UINT32_MAX: none */
  uint16_t point[POINTS];
  uint32_t reach[POINT_NEAR / 32][POINT_THREADS]; /* bits of the particles that reach each thread's point */
} point_block;

/* A point: the ends of its edge, counted from the brick's first sample, and its offset from the lower end. */
typedef struct edge_point {
  float lower[3], upper[3], part[3];
  int axis;
} edge_point;

/* Lists the points of an active brick in order. Returns how many. */
static __device__ __forceinline__ int list_points(const pmb_cuda_cloud &c, uint32_t active, point_block *block)
{
  const pmb_cuda_record *record = c.d_records + active;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const uint32_t word = record->word[min(lane, PMB_CUDA_ROWS - 1)];
  const uint32_t next = pmb_cuda_next(word, record->column >> lane & 1);
  const uint32_t mask[POINT_KINDS] = { word ^ next, word ^ __shfl_down_sync(UINT32_MAX, word, 1),
    word ^ __shfl_down_sync(UINT32_MAX, word, 5) };
  const int all = active < c.active_below; /* 0: only the first plane */
  for (int row = warp; row < (all ? PMB_BRICK_ROWS : PMB_BRICK_Y); row += POINT_WARPS) {
    for (int kind = 0; kind < (all ? POINT_KINDS : 2); ++kind) {
      const uint32_t bits = __shfl_sync(UINT32_MAX, mask[kind], row / PMB_BRICK_Y * 5 + row % PMB_BRICK_Y);
      if (bits >> lane & 1) {
        const int at = pmb_cuda_row_first(record->first[row], kind) + __popc(bits & ((1u << lane) - 1));
        block->point[at] = (uint16_t)(lane | row << 5 | kind << 9);
      }
    }
  }
  block->taken = UINT32_MAX;
  __syncthreads();
  return (int)(c.d_before[active + 1].points - c.d_before[active].points);
}

static __device__ __forceinline__ edge_point point_at(const point_block *block, int at)
{
  const int code = block->point[at];
  const int sample[3] = { code & 31, (code >> 5) % PMB_BRICK_Y, (code >> 5 & (PMB_BRICK_ROWS - 1)) / PMB_BRICK_Y };
  edge_point point;
  point.axis = code >> 9;
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
 * edge, in order. index: block->index to get indices in the input, else NULL. again: 1 if the last call had the same point. All
 * threads of a block call it together. */
template <class TAKE>
static __device__ __forceinline__ void each_near_point(const pmb_cuda_cloud &c, const near_box &box, uint32_t all,
  point_block *block, const edge_point &point, float more, int again, uint32_t *index, TAKE take)
{
  const float middle[3] = { (point.lower[0] + point.upper[0]) / 2, (point.lower[1] + point.upper[1]) / 2,
    (point.lower[2] + point.upper[2]) / 2 };
  for (uint32_t from = 0; from < all; from += POINT_NEAR) {
    const int n = (int)min(all - from, (uint32_t)POINT_NEAR);
    if (block->taken != from) { /* usually all fit at once */
      take_near<POINT_THREADS>(c, box, &block->rows, c.d_amounts, from, n, more, &block->near, index);
      if (threadIdx.x == 0) {
        block->taken = from;
      }
      __syncthreads();
    }
    for (int first = 0; first < n; first += 32) {
      uint32_t *reach = &block->reach[first / 32][threadIdx.x];
      if (!again || all > POINT_NEAR) {
        *reach = find_reaching(&block->near, first, n, middle);
      }
      for (uint32_t left = *reach; left; left &= left - 1) {
        take(first + __ffs((int)left) - 1);
      }
    }
  }
}

#endif
