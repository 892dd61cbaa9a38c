/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices for the list of active bricks, a warp each; see sources.cmake. */
#ifndef PMB_CUDA_VERTICES_LIST_CUH
#define PMB_CUDA_VERTICES_LIST_CUH

#include "cuda/pmb_cuda_vertices_brick.cuh"

enum {
  WARPS = 7, /* of a block; 4 such blocks: with more warps their bricks do not fit the cache */
  BLOCKS = 4
};

/* The points of a brick, or a warp's part of them; returns whether any need to be made again. */
template <class T, class OFFSET>
static __device__ __forceinline__ int emit_brick(const vertex_setting &setting, const brick_head &head,
  uint32_t index, vertex_scratch *scratch, int part = 0, int parts = 1)
{
  brick_work work;
  if (!begin_brick(setting, head, &work)) {
    return 0;
  }
  if (is_rare(head, work)) {
    return part == 0 ? call_any<T, EXACT_DIVIDE>(setting, index, scratch) : 0;
  }
  put_box(setting.job, pmb_cuda_box_of(setting.job, head_at(head, BRICK_LANE)), &work);
  return emit_plain<T>(setting, samples_of<T, OFFSET>(setting.job, work.box, 1), head, work, scratch, part, parts);
}

/* Emits a warp's bricks from the i-th last on, until enough of them need the careful way; returns where it stopped.
 * From the end, because classify has just read the samples there. */
template <class T, class OFFSET>
static __device__ __forceinline__ uint32_t emit_bricks(const vertex_setting &setting, const head_source &source,
  uint32_t i, uint32_t active, vertex_scratch *scratch, int *careful)
{
  const uint32_t step = gridDim.x * WARPS, last = active - 1;
  brick_head next = read_head(setting.job, source, last - i, active);
  for (*careful = 0; i < active && *careful < CAREFUL; i += step) {
    const brick_head head = next;
    next = read_head(setting.job, source, last - (i + step), active); /* on its way while this brick is worked on */
    if (emit_brick<T, OFFSET>(setting, head, last - i, scratch)) {
      if ((threadIdx.x & 31) == 0) {
        scratch->careful[*careful] = last - i;
      }
      ++*careful;
    }
  }
  return i;
}

template <class T, class OFFSET, int FLAGS>
static __global__ void __launch_bounds__(
  32 * WARPS, sizeof(typename pmb_cuda_real<T>::type) == 8 ? BLOCKS / 2 : BLOCKS)
  vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ int flags)
{
  __shared__ vertex_scratch shared_scratch[WARPS];
  const vertex_setting setting = { job, output, FLAGS == ANY ? flags : FLAGS };
  vertex_scratch *scratch = &shared_scratch[threadIdx.x >> 5];
  pmb_cuda_await_passes();
  pmb_cuda_let_next_begin();
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  const head_source source = source_of_lane(job);
  uint32_t i = blockIdx.x * WARPS + (threadIdx.x >> 5);
  while (i < active) {
    int careful;
    i = emit_bricks<T, OFFSET>(setting, source, i, active, scratch, &careful);
    __syncwarp();
#pragma unroll 1
    for (int n = 0; n < careful; ++n) {
      call_any<T, REPAIR>(setting, scratch->careful[n], scratch);
    }
  }
}

template <class T, class OFFSET, int FLAGS>
static cudaError_t launch(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  return pmb_cuda_launch(cuda, PMB_CUDA_EARLY, vertices_kernel<T, OFFSET, FLAGS>,
    pmb_cuda_all_blocks(cuda, vertices_kernel<T, OFFSET, FLAGS>, 32 * WARPS), 32 * WARPS, 0, cuda->job, *output,
    flags);
}

template <class T> cudaError_t pmb_cuda_vertices_list(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  return flags == PMB_CUDA_USUAL && fits_int(cuda->job) ? launch<T, int32_t, PMB_CUDA_USUAL>(cuda, output, flags)
                                                        : launch<T, int64_t, ANY>(cuda, output, flags);
}

#endif
