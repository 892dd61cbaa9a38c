/* SPDX-License-Identifier: BSD-3-Clause
 * What pass select does with its bricks, in a kernel of its own and in that of classify. */
#ifndef PMB_CUDA_SELECT_CUH
#define PMB_CUDA_SELECT_CUH

#include "cuda/pmb_cuda_scan.cuh"

/* See the CPU's `active`: min < isovalue <= max, or a sample may equal the isovalue. */
template <class T> static __device__ __forceinline__ int is_active(const pmb_isovalue &isovalue, T low, T high)
{
  typedef typename pmb_cuda_real<T>::type real;
  if (isovalue.join) {
    const real value = sizeof(real) == 4 ? (real)isovalue.f32 : (real)isovalue.f64;
    return !isovalue.none && (real)low <= value && (real)high >= value;
  }
  /* low > high where no sample is finite: such a brick is not active. */
  return !(low > high) && !pmb_cuda_inside(isovalue, low) && pmb_cuda_inside(isovalue, high);
}

/* Sum over the lanes before this one and over the warps before; *total: of the block. */
static __device__ __forceinline__ uint32_t block_sum_before(uint32_t value, uint32_t *warp_sums, uint32_t *total)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint32_t inclusive = pmb_cuda_inclusive_sum(value);
  if (lane == 31) {
    warp_sums[warp] = inclusive;
  }
  __syncthreads();
  uint32_t before = inclusive - value;
  const uint32_t sums = pmb_cuda_inclusive_sum(warp_sums[lane]);
  *total = __shfl_sync(UINT32_MAX, sums, 31);
  before += __shfl_sync(UINT32_MAX, sums, warp) - warp_sums[warp];
  return before;
}

/* A warp's words of the map, from first_word on, a lane each: to the map and, brick by brick, to the list. before: active
 * bricks before the lane's. */
static __device__ __forceinline__ void list_bricks(
  const pmb_cuda_job &job, uint32_t word, uint32_t before, uint32_t first_word, int words)
{
  const int lane = threadIdx.x & 31;
  if (lane < words) {
    job.d_map[first_word + lane] = make_uint2(word, before);
  }
  for (uint32_t rest = __ballot_sync(UINT32_MAX, word != 0); rest; rest &= rest - 1) {
    const int i = __ffs((int)rest) - 1;
    const uint32_t bits = __shfl_sync(UINT32_MAX, word, i);
    const uint32_t index = __shfl_sync(UINT32_MAX, before, i) + __popc(bits & ((1u << lane) - 1));
    if (bits >> lane & 1 && index < job.record_capacity) {
      job.d_brick[index] = (first_word + i) * 32 + lane;
    }
  }
}

/* ---- in classify's launch, for one isovalue ---- */

/* Room of a block. */
typedef struct select_scratch {
  uint32_t warp_sums[PMB_CUDA_SELECT_WARPS];
  uint2 block_sums[PMB_CUDA_SELECT_WARPS]; /* of the blocks that a warp looks at: before this one; all */
} select_scratch;

/* Lane l, below `words`: which of the 32 bricks from begin + l * 32 on are active. */
template <class T>
static __device__ __forceinline__ uint32_t active_words(
  const pmb_cuda_job &job, const pmb_isovalue &isovalue, uint32_t begin, int words)
{
  enum { AT_ONCE = 4 };
  const int lane = threadIdx.x & 31;
  uint32_t word = 0;
#pragma unroll 1
  for (int first = 0; first < words; first += AT_ONCE) {
    T low[AT_ONCE], high[AT_ONCE];
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      const uint32_t b = min(begin + (first + n) * 32 + lane, job.brick_count - 1);
      low[n] = ((const T *)job.d_low)[b];
      high[n] = ((const T *)job.d_high)[b];
    }
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      const uint32_t b = begin + (first + n) * 32 + lane;
      const int active = first + n < words && b < job.brick_count && is_active<T>(isovalue, low[n], high[n]);
      const uint32_t ballot = __ballot_sync(UINT32_MAX, active);
      word = lane == first + n ? ballot : word;
    }
  }
  return word;
}

/* Waits for the word that a block writes in this count. */
static __device__ __forceinline__ uint64_t word_of_block(const pmb_cuda_job &job, const volatile uint64_t *d_word)
{
  uint64_t word;
  do {
    word = *d_word;
  } while (word >> 50 != job.epoch);
  return word & ((1ull << 48) - 1);
}

/* The active bricks of all blocks; *before: of those before this one, which has `total`. */
static __device__ __forceinline__ uint32_t sum_of_blocks(
  const pmb_cuda_job &job, uint32_t total, select_scratch *scratch, uint32_t *before)
{
  const int warp = threadIdx.x >> 5, warps = (int)min((gridDim.x + 31) / 32, (unsigned)PMB_CUDA_SELECT_WARPS);
  volatile uint64_t *d_status = job.d_select_status;
  uint2 sums = make_uint2(0, 0);
  if (threadIdx.x == 0) {
    d_status[blockIdx.x] = pmb_cuda_status(total, PMB_CUDA_PARTIAL, job.epoch);
  }
  __syncthreads(); /* nobody waits before the block has told */
  if (warp < warps) {
    for (uint32_t block = threadIdx.x; block < gridDim.x; block += 32 * PMB_CUDA_SELECT_WARPS) {
      const uint32_t value = (uint32_t)word_of_block(job, d_status + block);
      sums.x += block < blockIdx.x ? value : 0;
      sums.y += value;
    }
    __syncwarp();
    sums = make_uint2(pmb_cuda_word_sum(sums.x), pmb_cuda_word_sum(sums.y));
    if ((threadIdx.x & 31) == 0) {
      scratch->block_sums[warp] = sums;
    }
  }
  __syncthreads();
  sums = make_uint2(0, 0);
#pragma unroll 1
  for (int i = 0; i < warps; ++i) {
    sums.x += scratch->block_sums[i].x;
    sums.y += scratch->block_sums[i].y;
  }
  *before = sums.x;
  return sums.y;
}

/* Waits until all blocks are here, with what they wrote. */
static __device__ __forceinline__ void wait_for_blocks(const pmb_cuda_job &job)
{
  volatile uint64_t *d_here = job.d_select_status + gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    pmb_cuda_store_release(d_here + blockIdx.x, pmb_cuda_status(0, PMB_CUDA_PARTIAL, job.epoch));
  }
  __syncthreads();
  for (uint32_t block = threadIdx.x; block < gridDim.x; block += 32 * PMB_CUDA_SELECT_WARPS) {
    while (pmb_cuda_load_acquire(d_here + block) >> 50 != job.epoch) {
    }
  }
  __syncthreads();
}

/* Pass select, each block a part of the bricks; returns how many are active. A warp has at most 32 words of the map. */
template <class T>
static __device__ __forceinline__ uint32_t select_in_parts(const pmb_cuda_job &job, select_scratch *scratch)
{
  const uint32_t words = job.stride / 32, per_block = (words + gridDim.x - 1) / gridDim.x;
  const uint32_t per_warp = (per_block + PMB_CUDA_SELECT_WARPS - 1) / PMB_CUDA_SELECT_WARPS;
  const uint32_t block_end = min(words, (blockIdx.x + 1) * per_block);
  const uint32_t begin = min(block_end, blockIdx.x * per_block + (threadIdx.x >> 5) * per_warp);
  const int own = (int)min(per_warp, block_end - begin);
  const uint32_t word = active_words<T>(job, job.isovalues[0], begin * 32, own);
  uint32_t total, before;
  const uint32_t in_block = block_sum_before(__popc(word), scratch->warp_sums, &total);
  const uint32_t all = sum_of_blocks(job, total, scratch, &before);
  list_bricks(job, word, before + in_block, begin, own);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    job.d_counters->active = all;
    job.d_counters->first[0] = 0;
  }
  wait_for_blocks(job);
  if (blockIdx.x == 0 && threadIdx.x == 0) { /* what goes to the host is not to be waited for */
    job.totals->active = all;
  }
  return all;
}

#endif
