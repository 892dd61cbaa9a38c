/* SPDX-License-Identifier: BSD-3-Clause
 * Step 1 of PMB as published on the GPU: least and greatest sample of each block (section 4.1).
 *
 * The paper has a thread block per voxel block, a thread per sample. Here a thread block has a row of voxel blocks and goes
 * along z, a thread 4 bytes of each row of samples: what blocks share is read once along x and z, and loads are whole lines. */
#ifndef PAPERS_PMB2016_RANGES_CUH
#define PAPERS_PMB2016_RANGES_CUH

#include <cuda_runtime.h>

#include "papers_pmb2016.h"

/* Least and greatest sample of a block; MinMaxArray has one for each. */
template <class T> struct alignas(2 * sizeof(T)) pmb2016_range {
  T low, high;
};

enum {
  PMB2016_RANGE_THREADS = 128,
  PMB2016_RANGE_BLOCKS = 18, /* along x for each sample of a thread: 18 * 7 + 1 columns have room */
  PMB2016_RANGE_LAYERS = 8   /* of voxel blocks, along z */
};

/* Running minimum and maximum of V columns of samples, which lie in a word. */
template <class T, int V> struct pmb2016_columns_range { /* V = 1 */
  typedef T word;
  T low, high;
  __device__ __forceinline__ void reset(word w)
  {
    low = high = w;
  }
  __device__ __forceinline__ void add(word w)
  {
    low = w < low ? w : low;
    high = w > high ? w : high;
  }
  __device__ __forceinline__ void merge(const pmb2016_columns_range &o)
  {
    low = o.low < low ? o.low : low;
    high = o.high > high ? o.high : high;
  }
  __device__ __forceinline__ void store(T *lows, T *highs) const
  {
    *lows = low, *highs = high;
  }
};

template <class T> struct pmb2016_columns_range<T, 2> { /* 16 bits each */
  typedef uint32_t word;
  uint32_t low, high;
  static __device__ __forceinline__ uint32_t smaller(uint32_t a, uint32_t b)
  {
    return (T)-1 < 0 ? __vmins2(a, b) : __vminu2(a, b);
  }
  static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
  {
    return (T)-1 < 0 ? __vmaxs2(a, b) : __vmaxu2(a, b);
  }
  __device__ __forceinline__ void reset(word w)
  {
    low = high = w;
  }
  __device__ __forceinline__ void add(word w)
  {
    low = smaller(low, w);
    high = larger(high, w);
  }
  __device__ __forceinline__ void merge(const pmb2016_columns_range &o)
  {
    low = smaller(low, o.low);
    high = larger(high, o.high);
  }
  __device__ __forceinline__ void store(T *lows, T *highs) const
  {
    *(uint32_t *)lows = low;
    *(uint32_t *)highs = high;
  }
};

template <> struct pmb2016_columns_range<uint8_t, 4> { /* as 16 bits, samples 0 and 2, 1 and 3 */
  typedef uint32_t word;
  pmb2016_columns_range<uint16_t, 2> even, odd;
  __device__ __forceinline__ void reset(word w)
  {
    even.reset(w & 0x00ff00ff);
    odd.reset(w >> 8 & 0x00ff00ff);
  }
  __device__ __forceinline__ void add(word w)
  {
    even.add(w & 0x00ff00ff);
    odd.add(w >> 8 & 0x00ff00ff);
  }
  __device__ __forceinline__ void merge(const pmb2016_columns_range &o)
  {
    even.merge(o.even);
    odd.merge(o.odd);
  }
  __device__ __forceinline__ void store(uint8_t *lows, uint8_t *highs) const
  {
    *(uint32_t *)lows = even.low | odd.low << 8;
    *(uint32_t *)highs = even.high | odd.high << 8;
  }
};

/* The four rows of a thread's word in one slice. */
template <class T, int V>
static __device__ __forceinline__ pmb2016_columns_range<T, V> pmb2016_slice_range(
  const typename pmb2016_columns_range<T, V>::word *d_words, const int64_t row[PMB2016_Y], int64_t slice)
{
  typedef typename pmb2016_columns_range<T, V>::word word;
  word w[PMB2016_Y];
#pragma unroll
  for (int y = 0; y < PMB2016_Y; ++y) {
    w[y] = __ldg(d_words + slice + row[y]);
  }
  pmb2016_columns_range<T, V> range;
  range.reset(w[0]);
#pragma unroll
  for (int y = 1; y < PMB2016_Y; ++y) {
    range.add(w[y]);
  }
  return range;
}

/* per_row: voxel blocks along x of a thread block, a multiple of V; rows: how many of those there are along x. */
template <class T, int V>
static __global__ void __launch_bounds__(PMB2016_RANGE_THREADS) pmb2016_ranges_kernel(
  const T *d_samples, pmb2016_grid grid, uint32_t per_row, uint32_t rows, pmb2016_range<T> *d_ranges)
{
  typedef pmb2016_columns_range<T, V> columns;
  __shared__ __align__(4) T lows[2][PMB2016_RANGE_THREADS * V], highs[2][PMB2016_RANGE_THREADS * V];
  const uint32_t block_x = blockIdx.x % rows * per_row, block_y = blockIdx.x / rows % grid.blocks[1];
  const uint32_t begin = blockIdx.x / rows / grid.blocks[1] * PMB2016_RANGE_LAYERS;
  const uint32_t end = min(begin + PMB2016_RANGE_LAYERS, grid.blocks[2]);
  const int first = (int)block_x * (PMB2016_X - 1), last = grid.dims[0] - 1 - first, own = threadIdx.x * V;
  const int64_t row_words = grid.dims[0] / V;
  const typename columns::word *d_words =
    (const typename columns::word *)d_samples + (first + (own <= last ? own : 0)) / V;
  int64_t row[PMB2016_Y];
  for (int y = 0; y < PMB2016_Y; ++y) {
    row[y] = row_words * min((int)block_y * (PMB2016_Y - 1) + y, grid.dims[1] - 1);
  }
  const int64_t slice = row_words * grid.dims[1];
  columns shared_slice = pmb2016_slice_range<T, V>(d_words, row, slice * ((int64_t)begin * (PMB2016_Z - 1)));
  for (uint32_t z = begin; z < end; ++z) {
    const int k = (int)z * (PMB2016_Z - 1), top = grid.dims[2] - 1;
    columns range = shared_slice;
    range.merge(pmb2016_slice_range<T, V>(d_words, row, slice * min(k + 1, top)));
    range.merge(pmb2016_slice_range<T, V>(d_words, row, slice * min(k + 2, top)));
    shared_slice = pmb2016_slice_range<T, V>(d_words, row, slice * min(k + 3, top));
    range.merge(shared_slice);
    T *low_row = lows[z & 1], *high_row = highs[z & 1];
    range.store(low_row + own, high_row + own);
    __syncthreads(); /* the other half is written only after all have read it */
    if (threadIdx.x < per_row && block_x + threadIdx.x < grid.blocks[0]) {
      const int column = (int)threadIdx.x * (PMB2016_X - 1);
      pmb2016_range<T> of = { low_row[column], high_row[column] };
#pragma unroll
      for (int x = 1; x < PMB2016_X; ++x) {
        const T l = low_row[min(column + x, last)], h = high_row[min(column + x, last)];
        of.low = l < of.low ? l : of.low;
        of.high = h > of.high ? h : of.high;
      }
      d_ranges[block_x + threadIdx.x + (int64_t)grid.blocks[0] * (block_y + (int64_t)grid.blocks[1] * z)] = of;
    }
  }
}

template <class T, int V>
static cudaError_t pmb2016_launch_ranges(const papers_volume *volume, const pmb2016_grid *grid, void *d_ranges)
{
  const uint32_t most = PMB2016_RANGE_BLOCKS * V, rows = (grid->blocks[0] + most - 1) / most;
  const uint32_t per_row = ((grid->blocks[0] + rows - 1) / rows + V - 1) / V * V;
  const int64_t chunks = (grid->blocks[2] + PMB2016_RANGE_LAYERS - 1) / PMB2016_RANGE_LAYERS;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)(rows * grid->blocks[1] * chunks));
  config.blockDim = dim3(PMB2016_RANGE_THREADS);
  return cudaLaunchKernelEx(&config, pmb2016_ranges_kernel<T, V>, (const T *)volume->samples, *grid, per_row, rows,
    (pmb2016_range<T> *)d_ranges);
}

/* Enqueues step 1. */
template <class T>
static cudaError_t pmb2016_find_ranges(const papers_volume *volume, const pmb2016_grid *grid, void *d_ranges)
{
  enum { V = 4 / sizeof(T) };
  const int whole = grid->dims[0] % V == 0 && (uintptr_t)volume->samples % 4 == 0;
  return whole ? pmb2016_launch_ranges<T, V>(volume, grid, d_ranges)
               : pmb2016_launch_ranges<T, 1>(volume, grid, d_ranges);
}

#endif
