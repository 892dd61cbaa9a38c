/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices for the list of active bricks, a warp each; see sources.cmake. */
#ifndef PMB_CUDA_VERTICES_LIST_CUH
#define PMB_CUDA_VERTICES_LIST_CUH

#include "cuda/pmb_cuda_triangles.cuh"
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

/* ---- short lists ---- */

/* Vertices and triangles in one launch, for short lists of active bricks, where a launch takes longer than its work. Neither
 * pass reads what the other writes. The first blocks have the points, several warps a brick, because the points of a brick take
 * a warp longer than its triangles; the other blocks have the triangles, a warp a brick. */
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

template <class T> static cudaError_t launch_in_one(pmb_cuda *cuda, const pmb_cuda_output *output, int parts, float)
{
  const uint32_t of_points = blocks_of((int64_t)cuda->active * parts), of_triangles = blocks_of(cuda->active);
  return pmb_cuda_launch(cuda, PMB_CUDA_EARLY, together_kernel<T>, of_points + of_triangles, 32 * TOGETHER_WARPS,
    sizeof(together_scratch), cuda->job, *output, of_points, parts);
}
template <class T> static cudaError_t launch_in_one(pmb_cuda *, const pmb_cuda_output *, int, double)
{
  return cudaErrorInvalidValue; /* not called */
}

template <class T>
cudaError_t pmb_cuda_emit_list_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, int parts)
{
  return launch_in_one<T>(cuda, output, parts, typename pmb_cuda_real<T>::type());
}

#endif
