/* SPDX-License-Identifier: BSD-3-Clause
 * Pass select: the active bricks, in order (PMB paper, section 4.2, without its atomics). Smaller volumes' are selected in
 * classify's launch. */
#include "cuda/pmb_cuda_classify_words.cuh"
#include "cuda/pmb_cuda_select.cuh"

/* The active bricks before a tile; publishes the tile's own. The whole first warp calls it. */
static __device__ __forceinline__ uint32_t tiles_before(const pmb_cuda_job &job, uint32_t tile, uint32_t total)
{
  volatile uint64_t *d_status = job.d_select_status;
  if (threadIdx.x == 0) {
    d_status[tile] = pmb_cuda_status(total, tile == 0 ? PMB_CUDA_INCLUSIVE : PMB_CUDA_PARTIAL, job.epoch);
  }
  const uint32_t before = (uint32_t)pmb_cuda_look_back(d_status, tile, job.epoch);
  if (threadIdx.x == 0 && tile > 0) {
    d_status[tile] = pmb_cuda_status(before + total, PMB_CUDA_INCLUSIVE, job.epoch);
  }
  return before;
}

/* Lane l: which of the 32 bricks l * 32 and after from `begin` on are active. It reads 16 bytes at a time; the bits change lanes
 * as those of samples do in classify. */
template <class T>
static __device__ __forceinline__ uint32_t active_word(
  const pmb_cuda_job &job, const pmb_isovalue &isovalue, uint32_t begin)
{
  typedef row_shape<T> shape;
  const int lane = threadIdx.x & 31;
  uint32_t bits = 0;
#pragma unroll 2
  for (int i = shape::LANES - 1; i >= 0; --i) {
    const uint32_t b = begin + (i * 32 + lane) * shape::SAMPLES;
    uint32_t field = 0;
    if (b < job.brick_count) { /* both halves of the summary end at 16 bytes */
      row_vector<T> low, high;
      low.raw = __ldg((const uint4 *)((const T *)job.d_low + b));
      high.raw = __ldg((const uint4 *)((const T *)job.d_high + b));
#pragma unroll
      for (int n = 0; n < shape::SAMPLES; ++n) {
        field |= (uint32_t)is_active<T>(isovalue, low.sample[n], high.sample[n]) << n;
      }
      field &= pmb_cuda_low_bits((int)min(job.brick_count - b, 32u));
    }
    bits = bits << shape::SAMPLES | field;
  }
  const uint32_t word = exchange_fields<shape::LANES>(bits);
  return __shfl_sync(UINT32_MAX, word, lane % shape::ROWS * shape::LANES + lane / shape::ROWS);
}

template <class T>
static __global__ void __launch_bounds__(32 * PMB_CUDA_SELECT_WARPS)
  select_kernel(const __grid_constant__ pmb_cuda_job job)
{
  __shared__ uint32_t shared_before, warp_sums[PMB_CUDA_SELECT_WARPS];
  const uint32_t tile = blockIdx.x, tile_begin = tile * PMB_CUDA_SELECT_TILE;
  const uint32_t isovalue = job.isovalue_count > 1 ? pmb_cuda_divide(tile_begin, job.by_stride) : 0;
  const uint32_t copy = isovalue * job.stride; /* where the isovalue's bricks begin */
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  /* A warp has the bricks of 32 words of the map; lane l keeps word l. */
  const uint32_t begin = tile_begin - copy + warp * 32 * 32;
  const uint32_t word = active_word<T>(job, job.isovalues[isovalue], begin);
  uint32_t total;
  const uint32_t in_tile = block_sum_before(__popc(word), warp_sums, &total);
  if (warp == 0) {
    const uint32_t before = tiles_before(job, tile, total);
    if (lane == 0) {
      shared_before = before;
    }
  }
  __syncthreads();
  const uint32_t before = shared_before + in_tile;
  /* The words also where a tile ends beyond the volume: triangles may look there. */
  list_bricks(job, word, before, tile_begin / 32 + warp * 32, 32);
  if (threadIdx.x == 0 && tile_begin == copy) {
    job.d_counters->first[isovalue] = job.totals->first[isovalue] = shared_before;
  }
  if (threadIdx.x == 0 && tile + 1 == gridDim.x) {
    job.d_counters->active = shared_before + total;
    job.totals->active = shared_before + total;
  }
}

template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  const int64_t tiles = (int64_t)cuda->job.stride * cuda->job.isovalue_count / PMB_CUDA_SELECT_TILE;
  return pmb_cuda_launch(cuda, 0, select_kernel<T>, tiles, 32 * PMB_CUDA_SELECT_WARPS, 0, cuda->job);
}

pmb_status pmb_cuda_select(pmb_cuda *cuda)
{
  if (pmb_cuda_selects_in_classify(cuda)) {
    return PMB_OK;
  }
  return pmb_cuda_check(
    cuda->context, PMB_CUDA_BY_TYPE(cuda->context->volume.type, launch<T>(cuda)), "launch of select");
}
