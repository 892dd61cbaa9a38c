/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices of particles: points on crossed edges, with gradients of the kernels or by differences. A block has an active
 * brick, a warp 32 of its points at a time. */
#include "particles/cuda/pmb_cuda_particle_points.cuh"

/* Distance from the middle of an edge to the samples around its ends, with a margin for rounding. */
static const float AROUND_ENDS = 2.1f;

/* Adds loaded particle i to the sums at both ends of the lane's edge. */
template <int KERNEL>
static __device__ __forceinline__ void add_to_ends(
  const point_block *block, const edge_point &point, int i, float ends[2])
{
  const float scale = block->near.fraction[i].w, amount = block->near.cell[i].w, none[3] = { 0, 0, 0 };
  float offset[3];
  const float lower2 = near_distance2<KERNEL>(&block->near, i, point.lower, none, offset);
  const float upper2 = near_distance2<KERNEL>(&block->near, i, point.upper, none, offset);
  ends[0] = pmb_kernel_add(KERNEL, ends[0], lower2, scale, amount);
  ends[1] = pmb_kernel_add(KERNEL, ends[1], upper2, scale, amount);
}

/* Adds loaded particle i to the gradient at the lane's point. deepest: see pmb_kernel_add_gradient. */
template <int KERNEL>
static __device__ __forceinline__ void add_to_gradient(
  const point_block *block, const edge_point &point, int i, float sum[3], float *deepest)
{
  float offset[3];
  const float d2 = near_distance2<KERNEL>(&block->near, i, point.lower, point.part, offset);
  const float scale = block->near.fraction[i].w;
  if (pmb_is_spline(KERNEL) && d2 * scale * scale > 4.01f) { /* adds 0; a division of 0 is slow */
    return;
  }
  near_apply_shape<KERNEL>(&block->near, i, offset); /* see add_gradient of the CPU */
  pmb_kernel_add_gradient(KERNEL, offset, d2, scale, block->near.cell[i].w, sum, deepest);
}

/* Sets the sum of the lane's point to the differences of the potential around the ends of its edge. */
template <int KERNEL>
static __device__ __forceinline__ void find_differences(const pmb_cuda_cloud &c, const near_box &box, uint32_t all,
  point_block *block, const edge_point &point, uint32_t *taken, float part, float sum[3])
{
  float at_end[2][3] = { { 0, 0, 0 }, { 0, 0, 0 } };
#pragma unroll
  for (int end = 0; end < 2; ++end) {
#pragma unroll 1
    for (int k = 0; k < 27; ++k) {
      const int offset[3] = { k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1 };
      const float *from = end ? point.upper : point.lower, none[3] = { 0, 0, 0 };
      const float whole[3] = { from[0] + (float)offset[0], from[1] + (float)offset[1], from[2] + (float)offset[2] };
      float weight[3], value = c.background;
      if (!pmb_difference_weights(c.normals, offset, weight)) {
        continue;
      }
      each_near_point(c, box, all, block, point, AROUND_ENDS, 1, taken, NULL, [&](int i) {
        float way[3];
        const float d2 = near_distance2<KERNEL>(&block->near, i, whole, none, way);
        value = pmb_kernel_add(KERNEL, value, d2, block->near.fraction[i].w, block->near.cell[i].w);
      });
      for (int a = 0; a < 3; ++a) {
        at_end[end][a] += weight[a] * value;
      }
    }
  }
  for (int a = 0; a < 3; ++a) {
    sum[a] = pmb_difference_between(at_end[0][a], at_end[1][a], part);
  }
}

/* wider: samples of the box before the brick's. */
static __device__ __forceinline__ void write_point(const pmb_cuda_cloud &c, const pmb_cuda_output &output,
  const near_box &box, int wider, const edge_point &point, int64_t to)
{
  for (int a = 0; a < 3; ++a) {
    const int64_t first = pmb_span_world(c.d_spans[a], c.span_count[a], c.before, box.first[a] + wider) - wider;
    const double world = pmb_particle_world(c.spacing, first, point.lower[a], point.part[a]);
    const double moved = (world - c.shift[a]) * c.scale[a];
    if (output.point_type == PMB_FLOAT32) {
      ((float *)output.d_points)[3 * to + a] = (float)moved;
    } else {
      ((double *)output.d_points)[3 * to + a] = moved;
    }
  }
}

template <int KERNEL>
static __global__ void __launch_bounds__(POINT_THREADS)
  vertices_kernel(const __grid_constant__ pmb_cuda_cloud c, const __grid_constant__ pmb_cuda_output output)
{
  __shared__ point_block block;
  __shared__ pmb_cuda_shape shapes[near_room<KERNEL, POINT_NEAR>];
  block.near.shape = shapes;
  near_box box = box_of_brick(c, c.d_active[blockIdx.x], 1);
  const int points = list_points(c, blockIdx.x, &block);
  const int64_t first = c.d_before[blockIdx.x].points;
  const int directions = output.d_normals || output.d_gradients;
  const int differences = directions && c.normals != PMB_NORMALS_BY_KERNEL;
  const float more = differences ? AROUND_ENDS : TO_END;
  for (int a = 0; a < 3; ++a) { /* coordinates count from the box's first sample */
    box.first[a] -= differences;
    box.last[a] += differences;
  }
  const uint32_t all = find_rows(c, box, &block.rows[threadIdx.x / 32]);
  uint32_t taken = UINT32_MAX;
  for (int begin = 0; begin < points; begin += POINT_THREADS) {
    const int at = begin + (int)threadIdx.x;
    edge_point point = point_at(&block, at, points);
    for (int a = 0; a < 3; ++a) {
      point.lower[a] += (float)differences;
      point.upper[a] += (float)differences;
    }
    float ends[2] = { c.background, c.background }, sum[3] = { 0, 0, 0 }, deepest = -INFINITY;
    each_near_point(
      c, box, all, &block, point, more, 0, &taken, NULL, [&](int i) { add_to_ends<KERNEL>(&block, point, i, ends); });
    const float part = pmb_particle_parameter(ends[0], ends[1], c.isovalue.f32, c.isovalue.f32_low);
    if (differences) {
      find_differences<KERNEL>(c, box, all, &block, point, &taken, part, sum);
    }
    move_point(&point, part);
    if (directions && !differences) {
      each_near_point(c, box, all, &block, point, more, 1, &taken, NULL,
        [&](int i) { add_to_gradient<KERNEL>(&block, point, i, sum, &deepest); });
    }
    const int64_t to = first + at;
    if (point.wanted && output.d_points) {
      write_point(c, output, box, differences, point, to);
    }
    if (point.wanted && directions) {
      pmb_particle_normal(KERNEL, !differences, sum, point.axis, ends[0] < ends[1], c.spacing,
        output.d_normals ? output.d_normals + 3 * to : NULL, output.d_gradients ? output.d_gradients + 3 * to : NULL);
    }
    if (point.wanted && output.d_parameter) { /* for attributes */
      output.d_parameter[to] = ends[0] < ends[1] ? -(double)part : (double)part;
    }
  }
}

pmb_status pmb_cuda_particle_vertices(pmb_cuda *cuda, const pmb_cuda_cloud *c, const pmb_cuda_output *output)
{
  return pmb_cuda_check(cuda->context,
    PMB_CUDA_BY_KERNEL(
      c->kernel, pmb_cuda_launch(cuda, 0, vertices_kernel<KERNEL>, c->active, POINT_THREADS, 0, *c, *output)),
    "vertices of particles");
}
