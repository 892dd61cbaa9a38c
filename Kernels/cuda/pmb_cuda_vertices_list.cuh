/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices for the list of active bricks, one warp per brick; see sources.cmake. */
#ifndef PMB_CUDA_VERTICES_LIST_CUH
#define PMB_CUDA_VERTICES_LIST_CUH

#include "cuda/pmb_cuda_triangles.cuh"
#include "cuda/pmb_cuda_vertices_brick.cuh"

enum { WARPS = 7 }; /* of a block; with more than 4 x 7 on a multiprocessor their bricks do not fit the cache */

/* A warp goes from the last brick to the first, because classify has just read the samples there. */
template <class SAMPLES, int FLAGS>
static __global__ void __launch_bounds__(32 * WARPS, SAMPLES::BLOCKS)
  vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ int flags)
{
  __shared__ vertex_scratch shared_scratch[WARPS];
  const vertex_setting setting = { job, output, FLAGS == ANY ? flags : FLAGS };
  const uint32_t warp = threadIdx.x >> 5, step = gridDim.x * WARPS;
  pmb_cuda_await_passes();
  pmb_cuda_let_next_begin();
  const uint32_t active = min(job.d_counters->active, job.record_capacity), last = active - 1;
  const head_source source = source_of_lane(job);
  uint32_t i = blockIdx.x * WARPS + warp;
  brick_head next = read_head(job, source, last - i, active);
  for (; i < active; i += step) {
    const brick_head head = next;
    next = read_head(job, source, last - (i + step), active); /* loads overlap the work on this brick */
    emit_brick<FLAGS>(setting, SAMPLES(), head, last - i, &shared_scratch[warp]);
  }
}

template <class SAMPLES, int FLAGS>
static cudaError_t launch_vertices(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  return pmb_cuda_launch(cuda, PMB_CUDA_EARLY, vertices_kernel<SAMPLES, FLAGS>,
    pmb_cuda_all_blocks(cuda, vertices_kernel<SAMPLES, FLAGS>, 32 * WARPS), 32 * WARPS, 0, cuda->job, *output, flags);
}

template <class T> cudaError_t pmb_cuda_vertices_list(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  return flags == PMB_CUDA_USUAL && fits_int(cuda->job)
    ? launch_vertices<volume_samples<T, int32_t>, PMB_CUDA_USUAL>(cuda, output, flags)
    : launch_vertices<volume_samples<T, int64_t>, ANY>(cuda, output, flags);
}

/* ---- short lists ---- */

/* Vertices and triangles in one launch, for short lists of active bricks, whose work takes less time than a launch. Neither pass
 * reads the other's output. The first blocks make the points, with `parts` warps per brick, since points take longer than
 * triangles. The other blocks make the triangles, with one warp per brick. */
enum {
  EMIT_WARPS = 8, /* of a block */
  EMIT_BLOCKS = 3
};

/* Shared memory of a block. */
typedef union emit_scratch {
  vertex_scratch vertices[EMIT_WARPS];
  struct {
    triangle_codes codes;
    triangle_scratch warps[EMIT_WARPS];
  } triangles;
} emit_scratch;

static_assert(sizeof(emit_scratch) <= 48 * 1024, "more needs cudaFuncSetAttribute");

/* vertex_blocks: number of blocks that make points. */
template <class T>
static __global__ void __launch_bounds__(32 * EMIT_WARPS, EMIT_BLOCKS)
  emit_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ uint32_t vertex_blocks, const __grid_constant__ int parts)
{
  extern __shared__ uint4 shared_memory[];
  emit_scratch *scratch = (emit_scratch *)shared_memory;
  const int makes_points = blockIdx.x < vertex_blocks;
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0);
  const uint32_t begin = (makes_points ? blockIdx.x : blockIdx.x - vertex_blocks) * EMIT_WARPS + warp;
  const uint32_t step = (makes_points ? vertex_blocks : gridDim.x - vertex_blocks) * EMIT_WARPS;
  if (!makes_points) {
    copy_codes(&scratch->triangles.codes, constant_codes + (job.frame.mirrored != 0));
  }
  pmb_cuda_await_passes();
  __syncthreads();
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  if (makes_points) {
    const vertex_setting setting = { job, output, PMB_CUDA_USUAL };
    const head_source source = source_of_lane(job);
    for (uint32_t i = begin; i < active * parts; i += step) {
      const uint32_t index = active - 1 - i / parts;
      const brick_head head = read_head(job, source, index, active);
      emit_brick<PMB_CUDA_USUAL>(
        setting, volume_samples<T, int32_t>(), head, index, &scratch->vertices[warp], (int)(i % parts), parts);
    }
  } else {
    const row_bricks rows = row_bricks_of(job);
    for (uint32_t i = begin; i < active; i += step) {
      const triangle_head head = read_triangle_head(job, rows, i, job.d_brick[i]);
      emit_triangles<false>(
        job, output, &scratch->triangles.codes, rows, head, i, active - 1, &scratch->triangles.warps[warp]);
    }
  }
}

template <class T>
cudaError_t pmb_cuda_emit_list_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, int parts)
{
  const uint32_t of_points = cuda->active * parts / EMIT_WARPS + 1, of_triangles = cuda->active / EMIT_WARPS + 1;
  return pmb_cuda_launch(cuda, PMB_CUDA_EARLY, emit_kernel<T>, of_points + of_triangles, 32 * EMIT_WARPS,
    sizeof(emit_scratch), cuda->job, *output, of_points, parts);
}

#endif
