/* SPDX-License-Identifier: BSD-3-Clause
 * Passes vertices and triangles in one launch, for short lists of active bricks, where a launch takes longer than its work.
 * Neither pass reads what the other writes. The first blocks have the points, several warps a brick, because the points of a
 * brick take a warp longer than its triangles; the other blocks have the triangles, a warp a brick. */
#ifndef PMB_CUDA_EMIT_TOGETHER_CUH
#define PMB_CUDA_EMIT_TOGETHER_CUH

#include "cuda/pmb_cuda_triangles.cuh"
#include "cuda/pmb_cuda_vertices_list.cuh"

enum {
  TOGETHER_WARPS = 8, /* of a block: their room is less than 48 KB, which needs no leave */
  TOGETHER_BLOCKS = 3
};

/* Room of a block. */
typedef union together_scratch {
  vertex_scratch points[TOGETHER_WARPS];
  struct {
    triangle_codes codes;
    triangle_scratch warps[TOGETHER_WARPS];
  } of_triangles;
} together_scratch;

static_assert(sizeof(together_scratch) <= 48 * 1024, "room of a block");

/* The points of the bricks whose parts a warp has: from the `begin`-th of all parts on, in steps. */
template <class T>
static __device__ __forceinline__ void emit_parts(
  const vertex_setting &setting, uint32_t begin, uint32_t step, int parts, vertex_scratch *scratch)
{
  const head_source source = source_of_lane(setting.job);
  pmb_cuda_await_passes();
  const uint32_t active = min(setting.job.d_counters->active, setting.job.record_capacity);
  for (uint32_t i = begin; i < active * parts; i += step) {
    const uint32_t index = active - 1 - i / parts;
    const brick_head head = read_head(setting.job, source, index, active);
    if (emit_brick<T, int32_t>(setting, head, index, scratch, (int)(i % parts), parts)) {
      /* All of the brick; another warp that does the same writes the same, and the careful points last. */
      call_any<T, REPAIR>(setting, index, scratch);
    }
  }
}

/* The triangles of a warp's bricks. */
static __device__ __forceinline__ void emit_triangles_of_warp(const pmb_cuda_job &job, const pmb_cuda_output &output,
  uint32_t begin, uint32_t step, triangle_codes *codes, triangle_scratch *scratch)
{
  const row_bricks rows = row_bricks_of(job);
  copy_codes(codes, constant_codes + (job.frame.mirrored != 0));
  pmb_cuda_await_passes();
  __syncthreads();
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  for (uint32_t i = begin; i < active; i += step) {
    const triangle_head head = read_triangle_head(job, rows, i, job.d_brick[i]);
    emit_triangles<false>(job, output, codes, rows, head, i, active - 1, scratch);
  }
}

/* vertex_blocks: the blocks that have points. */
template <class T>
static __global__ void __launch_bounds__(32 * TOGETHER_WARPS, TOGETHER_BLOCKS)
  together_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ uint32_t vertex_blocks, const __grid_constant__ int parts)
{
  extern __shared__ uint4 shared_memory[];
  together_scratch *scratch = (together_scratch *)shared_memory;
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0);
  if (blockIdx.x < vertex_blocks) {
    const vertex_setting setting = { job, output, PMB_CUDA_USUAL };
    emit_parts<T>(
      setting, blockIdx.x * TOGETHER_WARPS + warp, vertex_blocks * TOGETHER_WARPS, parts, &scratch->points[warp]);
  } else {
    emit_triangles_of_warp(job, output, (blockIdx.x - vertex_blocks) * TOGETHER_WARPS + warp,
      (gridDim.x - vertex_blocks) * TOGETHER_WARPS, &scratch->of_triangles.codes, &scratch->of_triangles.warps[warp]);
  }
}

static uint32_t blocks_of(int64_t warps)
{
  return (uint32_t)(warps < 1 ? 1 : (warps + TOGETHER_WARPS - 1) / TOGETHER_WARPS);
}

template <class T> static cudaError_t launch_together(pmb_cuda *cuda, const pmb_cuda_output *output, int parts, float)
{
  const uint32_t of_points = blocks_of((int64_t)cuda->active * parts), of_triangles = blocks_of(cuda->active);
  return pmb_cuda_launch(cuda, PMB_CUDA_EARLY, together_kernel<T>, of_points + of_triangles, 32 * TOGETHER_WARPS,
    sizeof(together_scratch), cuda->job, *output, of_points, parts);
}
template <class T> static cudaError_t launch_together(pmb_cuda *, const pmb_cuda_output *, int, double)
{
  return cudaErrorInvalidValue; /* not called */
}

template <class T> cudaError_t pmb_cuda_emit_list_together(pmb_cuda *cuda, const pmb_cuda_output *output, int parts)
{
  return launch_together<T>(cuda, output, parts, typename pmb_cuda_real<T>::type());
}

#endif
