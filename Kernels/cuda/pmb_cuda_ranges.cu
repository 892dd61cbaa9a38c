/* SPDX-License-Identifier: BSD-3-Clause
 * The ranges of points and normals on the device: of their components, and of the sums of their squares. Uses the arithmetic of
 * pmb_find_ranges. */
#include "cuda/pmb_cuda.cuh"

enum { VALUES = 4, BLOCKS_OF_PROCESSOR = 4 }; /* VALUES: three components and the sum of squares */

typedef pmb_cuda_extent extent;

static __device__ __forceinline__ void extend(extent *e, int i, double least, double greatest)
{
  e->least[i] = least < e->least[i] ? least : e->least[i];
  e->greatest[i] = greatest > e->greatest[i] ? greatest : e->greatest[i];
}

static __device__ __forceinline__ extent nothing(void)
{
  extent e;
#pragma unroll
  for (int i = 0; i < VALUES; ++i) {
    e.least[i] = INFINITY;
    e.greatest[i] = -INFINITY;
  }
  return e;
}

/* Merges the extents of a block's threads into that of thread 0. */
static __device__ __forceinline__ extent merge_block(extent mine, extent *scratch)
{
  scratch[threadIdx.x] = mine;
  for (unsigned half = PMB_CUDA_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
#pragma unroll
      for (int i = 0; i < VALUES; ++i) {
        extend(&mine, i, scratch[threadIdx.x + half].least[i], scratch[threadIdx.x + half].greatest[i]);
      }
      scratch[threadIdx.x] = mine;
    }
  }
  return mine;
}

template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS)
  ranges_kernel(const T *d_vectors, int64_t count, extent *pinned)
{
  __shared__ extent scratch[PMB_CUDA_THREADS];
  extent mine = nothing();
  const int64_t step = gridDim.x * (int64_t)PMB_CUDA_THREADS;
  for (int64_t i = blockIdx.x * (int64_t)PMB_CUDA_THREADS + threadIdx.x; i < count; i += step) {
    double squares = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const double value = (double)d_vectors[3 * i + c];
      extend(&mine, c, value, value);
      squares += value * value;
    }
    extend(&mine, 3, squares, squares);
  }
  mine = merge_block(mine, scratch);
  if (threadIdx.x == 0) {
    pinned[blockIdx.x] = mine;
  }
}

/* The number of blocks, which find an extent each. */
static int blocks_of(const pmb_cuda *cuda)
{
  const int blocks = cuda->processors * BLOCKS_OF_PROCESSOR;
  return blocks < PMB_CUDA_EXTENTS ? blocks : PMB_CUDA_EXTENTS;
}

template <class T> static pmb_status find(pmb_cuda *cuda, const void *d_vectors, int64_t count, extent *pinned)
{
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(
      cuda, 0, ranges_kernel<T>, (unsigned)blocks_of(cuda), PMB_CUDA_THREADS, 0, (const T *)d_vectors, count, pinned),
    "launch of ranges");
}

pmb_status pmb_cuda_enqueue_ranges(pmb_cuda *cuda, const pmb_cuda_surface *surface)
{
  const pmb_cuda_output *output = &surface->out;
  const int64_t n = surface->sizes.points;
  extent *points = cuda->totals->extents[0], *normals = cuda->totals->extents[1];
  if (surface->mesh->point_ranges && output->d_points) {
    PMB_STEP(output->point_type == PMB_FLOAT32 ? find<float>(cuda, output->d_points, n, points)
                                               : find<double>(cuda, output->d_points, n, points));
  }
  return surface->mesh->normal_ranges && output->d_normals ? find<float>(cuda, output->d_normals, n, normals)
                                                           : PMB_OK;
}

/* Extends ranges that pmb_emit begins and ends; see pmb_backend. */
static void take(const pmb_cuda *cuda, double *ranges, const extent *found)
{
  for (const extent *e = found; ranges && e < found + blocks_of(cuda); ++e) {
    for (int i = 0; i < VALUES; ++i) {
      ranges[2 * i] = e->least[i] < ranges[2 * i] ? e->least[i] : ranges[2 * i];
      ranges[2 * i + 1] = e->greatest[i] > ranges[2 * i + 1] ? e->greatest[i] : ranges[2 * i + 1];
    }
  }
}

void pmb_cuda_take_ranges(pmb_cuda *cuda, const pmb_mesh *mesh)
{
  take(cuda, mesh->points ? mesh->point_ranges : NULL, cuda->totals->extents[0]);
  take(cuda, mesh->normals ? mesh->normal_ranges : NULL, cuda->totals->extents[1]);
}
