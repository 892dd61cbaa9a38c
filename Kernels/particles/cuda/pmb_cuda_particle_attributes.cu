/* SPDX-License-Identifier: BSD-3-Clause
 * Pass attributes of particles: interpolates an array to the points of the mesh with the kernels' weights, as
 * pmb_particle_attributes.c does. */
#include "particles/cuda/pmb_cuda_particle_points.cuh"
#include "shared/pmb_attribute.h"

enum { COLUMNS = 4 }; /* components that are interpolated together */

/* Up to COLUMNS components of an attribute. */
typedef struct columns {
  pmb_cuda_numbers from;
  void *d_output;
  int first, count;
} columns;

static __device__ __forceinline__ void write_value(const columns &to, int64_t point, int column, double value)
{
  const int64_t at = point * to.from.stride + to.first + column;
  switch (to.from.type) {
#define PMB_WRITE(NAME, sample, name, real)                  \
  case PMB_##NAME:                                           \
    ((sample *)to.d_output)[at] = pmb_nearest_##name(value); \
    break;
    PMB_SAMPLE_TYPES(PMB_WRITE)
#undef PMB_WRITE
  }
}

/* Adds loaded particle i to the totals at the lane's point. total[COLUMNS]: the sum of the weights. */
template <int KERNEL>
static __device__ __forceinline__ void add_to_totals(const point_block *block, const columns &of,
  const edge_point &point, int i, double total[COLUMNS + 1], float *deepest)
{
  float offset[3];
  const float d2 = near_distance2<KERNEL>(&block->near, i, point.lower, point.part, offset);
  const float scale = block->near.fraction[i].w, amount = block->near.cell[i].w;
  const double weight = (double)pmb_kernel_weight(KERNEL, d2, scale, amount, deepest);
#pragma unroll
  for (int column = 0; column <= COLUMNS; ++column) {
    if (column < of.count || column == COLUMNS) {
      const double value = column == COLUMNS ? 1 : pmb_cuda_number(of.from, block->index[i], of.first + column);
      total[column] = pmb_kernel_add_weighted(KERNEL, total[column], weight, value);
    }
  }
}

/* Computes the totals at the lane's point. */
template <int KERNEL>
static __device__ __forceinline__ void find_totals(const pmb_cuda_cloud &c, const near_box &box, uint32_t all,
  point_block *block, const columns &of, const edge_point &point, int again, uint32_t *taken,
  double total[COLUMNS + 1])
{
  float deepest = -INFINITY;
#pragma unroll
  for (int column = 0; column <= COLUMNS; ++column) {
    total[column] = 0;
  }
  each_near_point(c, box, all, block, point, TO_END, again, taken, block->index,
    [&](int i) { add_to_totals<KERNEL>(block, of, point, i, total, &deepest); });
}

template <int KERNEL>
static __global__ void __launch_bounds__(POINT_THREADS)
  attribute_kernel(const __grid_constant__ pmb_cuda_cloud c, const columns of, const double *d_parameter)
{
  __shared__ point_block block;
  __shared__ pmb_cuda_shape shapes[near_room<KERNEL, POINT_NEAR>];
  __shared__ int any_moved;
  block.near.shape = shapes;
  const near_box box = box_of_brick(c, c.d_active[blockIdx.x], 1);
  const int points = list_points(c, blockIdx.x, &block);
  const uint32_t all = find_rows(c, box, &block.rows[threadIdx.x / 32]);
  uint32_t taken = UINT32_MAX;
  const int64_t first = c.d_before[blockIdx.x].points;
  for (int begin = 0; begin < points; begin += POINT_THREADS) {
    const int at = min(begin + (int)threadIdx.x, points - 1);
    const double parameter = d_parameter[first + at];
    edge_point point = point_at(&block, begin + (int)threadIdx.x, points);
    double total[COLUMNS + 1];
    move_point(&point, (float)fabs(parameter));
    any_moved = 0;
    find_totals<KERNEL>(c, box, all, &block, of, point, 0, &taken, total);
    __syncthreads();
    if (point.wanted && !(total[COLUMNS] > 0)) { /* beyond all kernels: take the sample inside, see move_inside */
      move_point(&point, signbit(parameter) ? 1 : 0);
      any_moved = 1;
    }
    __syncthreads();
    if (any_moved) {
      find_totals<KERNEL>(c, box, all, &block, of, point, 1, &taken, total);
    }
    for (int column = 0; point.wanted && column < of.count; ++column) {
      write_value(of, first + at, column, total[COLUMNS] > 0 ? total[column] / total[COLUMNS] : 0);
    }
    __syncthreads();
  }
}

pmb_status pmb_cuda_particle_attribute(
  pmb_cuda *cuda, const pmb_cuda_surface *surface, const pmb_attribute *attribute, const void *d_in, void *d_out)
{
  const pmb_cuda_cloud *c = (const pmb_cuda_cloud *)surface->source;
  for (int first = 0; first < attribute->components; first += COLUMNS) {
    const int left = attribute->components - first;
    const columns of = { { d_in, attribute->type, attribute->components }, d_out, first,
      left < COLUMNS ? left : COLUMNS };
    PMB_STEP(pmb_cuda_check(cuda->context,
      PMB_CUDA_BY_KERNEL(c->kernel,
        pmb_cuda_launch(
          cuda, 0, attribute_kernel<KERNEL>, c->active, POINT_THREADS, 0, *c, of, surface->out.d_parameter)),
      "attributes of particles"));
  }
  return PMB_OK;
}
