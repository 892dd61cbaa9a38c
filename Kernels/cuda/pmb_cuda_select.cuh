/* SPDX-License-Identifier: BSD-3-Clause
 * Pass select, in classify's launch or before it: lists the active bricks, in order (PMB paper, section 4.2, without its atomics). */
#ifndef PMB_CUDA_SELECT_CUH
#define PMB_CUDA_SELECT_CUH

#include "cuda/pmb_cuda_classify_words.cuh"
#include "cuda/pmb_cuda_scan.cuh"

/* Whether a brick is active: min < isovalue <= max, or a sample may equal the isovalue. */
template <class T> static __device__ __forceinline__ int is_active(const pmb_isovalue &isovalue, T low, T high)
{
  typedef typename pmb_cuda_real<T>::type real;
  if (isovalue.join) {
    const real value = sizeof(real) == 4 ? (real)isovalue.f32 : (real)isovalue.value;
    return !isovalue.none && (real)low <= value && (real)high >= value;
  }
  /* low > high: the brick has no finite sample, and is not active. */
  return !(low > high) && !pmb_cuda_inside(isovalue, low) && pmb_cuda_inside(isovalue, high);
}

/* Writes a warp's words, a lane each, to the map from first_word on, and their active bricks to the list. before: active
 * bricks before the lane's word. */
static __device__ __forceinline__ void list_bricks(
  const pmb_cuda_job &job, uint32_t word, uint32_t before, uint32_t first_word, int words)
{
  const int lane = threadIdx.x & 31;
  if (lane < words) {
    job.d_map[first_word + lane] = make_uint2(word, before);
    const uint32_t brick = (first_word + lane) * 32;
    const uint32_t isovalue = job.isovalue_count > 1 ? pmb_cuda_divide(brick, job.by_stride) : 0;
    if (isovalue > 0 && brick == isovalue * job.stride) {
      job.d_counters->first[isovalue] = before;
    }
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

/* Shared memory of a block. */
typedef struct select_scratch {
  uint32_t warp_sums[PMB_CUDA_SCAN_WARPS];
  uint32_t all, before; /* active bricks of all blocks, of those before this one */
} select_scratch;

/* Lane l: the active bricks among the 32 of word first + l. words: at most 32; like `first`, a multiple of SAMPLES. The warp reads
 * 16 bytes per lane, and exchanges bits as classify does for samples. */
template <class T>
static __device__ __forceinline__ uint32_t active_word(const pmb_cuda_job &job, uint32_t first, uint32_t words)
{
  typedef row_shape<T> shape;
  const int lane = threadIdx.x & 31;
  uint32_t bits = 0;
#pragma unroll 1
  for (int i = (int)words / shape::SAMPLES - 1; i >= 0; --i) {
    uint32_t b = (first + i * shape::SAMPLES) * 32, isovalue = 0, field = 0;
    if (job.isovalue_count > 1) {
      isovalue = pmb_cuda_divide(b, job.by_stride);
      b -= isovalue * job.stride;
    }
    b += lane * shape::SAMPLES;
    if (b < job.brick_count) { /* both halves of the summary end at 16 bytes */
      row_vector<T> low, high;
      low.raw = __ldg((const uint4 *)((const T *)job.d_low + b));
      high.raw = __ldg((const uint4 *)((const T *)job.d_high + b));
#pragma unroll
      for (int n = 0; n < shape::SAMPLES; ++n) {
        field |= (uint32_t)is_active<T>(job.isovalues[isovalue], low.sample[n], high.sample[n]) << n;
      }
      field &= pmb_cuda_low_bits((int)min(job.brick_count - b, 32u));
      field &= ~pmb_cuda_low_bits(job.first_brick > b ? (int)min(job.first_brick - b, 32u) : 0);
    }
    bits = bits << shape::SAMPLES | field;
  }
  const uint32_t word = exchange_fields<shape::LANES>(bits);
  return __shfl_sync(UINT32_MAX, word, lane % shape::ROWS * shape::LANES + lane / shape::ROWS);
}

/* The number of active bricks of all blocks; *before: of the blocks before this one, which has `total`. */
static __device__ __forceinline__ uint32_t sum_of_blocks(
  const pmb_cuda_job &job, uint32_t total, select_scratch *scratch, uint32_t *before)
{
  volatile uint64_t *d_sums = job.d_select_sums;
  if (threadIdx.x == 0) {
    d_sums[blockIdx.x] = pmb_cuda_marked_sum(total, job.epoch);
  }
  __syncthreads(); /* publish before waiting: all blocks wait for each other */
  if (threadIdx.x < 32) {
    const lane_sums sums = read_sums(job, d_sums);
    scratch->all = pmb_cuda_word_sum((uint32_t)sums.all); /* all lanes write the same */
    scratch->before = pmb_cuda_word_sum((uint32_t)sums.before);
  }
  __syncthreads();
  *before = scratch->before;
  return scratch->all;
}

/* Waits until all blocks have called this. Their earlier writes are then visible. */
static __device__ __forceinline__ void wait_for_blocks(const pmb_cuda_job &job)
{
  volatile uint64_t *d_here = job.d_select_sums + gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    pmb_cuda_store_release(d_here + blockIdx.x, pmb_cuda_marked_sum(0, job.epoch));
  }
  __syncthreads();
  for (uint32_t block = threadIdx.x; block < gridDim.x; block += 32 * PMB_CUDA_SCAN_WARPS) {
    while (pmb_cuda_load_acquire(d_here + block) >> 50 != job.epoch) {
    }
  }
  __syncthreads();
}

/* Pass select. A warp goes through its part of the bricks in steps of 32 words of the map: backwards to count, then forwards to
 * list. */
template <class T>
static __device__ __forceinline__ void select_bricks(const pmb_cuda_job &job, select_scratch *scratch)
{
  enum { UNIT = row_shape<T>::SAMPLES };
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = job.group_bricks / 32;
  const uint32_t per_block = (words + gridDim.x * UNIT - 1) / (gridDim.x * UNIT) * UNIT;
  const uint32_t per_warp = (per_block + PMB_CUDA_SCAN_WARPS * UNIT - 1) / (PMB_CUDA_SCAN_WARPS * UNIT) * UNIT;
  const uint32_t block_end = min(words, (blockIdx.x + 1) * per_block);
  const uint32_t begin = min(block_end, blockIdx.x * per_block + warp * per_warp),
                 end = min(block_end, begin + per_warp);
  const uint32_t last = begin + (end - begin + 31) / 32 * 32;
  uint32_t word = 0, count = 0, before;
#pragma unroll 1
  for (uint32_t first = last; first != begin;) {
    first -= 32;
    word = active_word<T>(job, first, min(32u, end - first));
    count += __popc(word);
    if (first + lane < end && last - begin > 32) {
      job.d_map[first + lane].x = word;
    }
  }
  count = pmb_cuda_word_sum(count);
  if (lane == 0) {
    scratch->warp_sums[warp] = count;
  }
  __syncthreads();
  const uint32_t sums = pmb_cuda_inclusive_sum(scratch->warp_sums[lane]);
  const uint32_t all = sum_of_blocks(job, __shfl_sync(UINT32_MAX, sums, 31), scratch, &before);
  before += __shfl_sync(UINT32_MAX, sums, (int)warp) - count;
#pragma unroll 1
  for (uint32_t first = begin; first < end; first += 32) {
    if (first != begin) {
      word = first + lane < end ? job.d_map[first + lane].x : 0;
    }
    const uint32_t inclusive = pmb_cuda_inclusive_sum(__popc(word));
    list_bricks(job, word, before + inclusive - __popc(word), first, (int)min(32u, end - first));
    before += __shfl_sync(UINT32_MAX, inclusive, 31);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    job.d_counters->active = all;
  }
  wait_for_blocks(job);
  if (blockIdx.x == 0 && threadIdx.x == 0) { /* after the wait, which would include this write to the host */
    job.totals->active = all;
  }
  if (blockIdx.x == 0 && (int)threadIdx.x < job.isovalue_count && threadIdx.x > 0) {
    job.totals->first[threadIdx.x] = __ldcg(&job.d_counters->first[threadIdx.x]);
  }
}

#endif
