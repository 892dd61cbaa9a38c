/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles, a warp for a brick. */
#include "cuda/pmb_cuda_triangles.cuh"

/* Writes the ids of the triangles' points, or the cells of the triangles. */
template <bool OF_CELLS>
static __global__ void __launch_bounds__(32 * TRIANGLE_WARPS, TRIANGLE_BLOCKS)
  triangles_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output)
{
  extern __shared__ uint4 shared_memory[];
  triangle_codes *codes = (triangle_codes *)shared_memory;
  /* a shuffle, so that the compiler knows that all lanes have the same: no branch below then needs a check */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0), warps = blockDim.x >> 5;
  copy_codes(codes, constant_codes + (job.frame.mirrored != 0));
  pmb_cuda_await_passes();
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  triangle_scratch *scratch = (triangle_scratch *)(codes + 1) + warp;
  if (active == 0) {
    return;
  }
  const uint32_t step = gridDim.x * warps, last = __shfl_sync(UINT32_MAX, active - 1, 0);
  const warp_turns turns = { step, active / step, blockIdx.x * warps + warp, warp * gridDim.x + blockIdx.x };
  const row_bricks rows = row_bricks_of(job);
  uint32_t i = index_at(turns, 0), then = index_at(turns, 1);
  uint32_t brick = job.d_brick[min(then, last)];
  triangle_head next = read_triangle_head(job, rows, min(i, last), job.d_brick[min(i, last)]);
  /* relative to what is in a register anyway */
  const int from = __shfl_sync(UINT32_MAX, (int)((const char *)codes - (const char *)scratch), 0);
  codes = (triangle_codes *)((char *)scratch + from);
  __syncthreads();
  for (uint32_t turn = 2; i < active; ++turn) {
    const triangle_head head = next;
    const uint32_t here = i;
    i = then;
    then = index_at(turns, turn);
    /* on their way while this brick is worked on */
    next = read_triangle_head(job, rows, min(i, last), brick);
    brick = job.d_brick[min(then, last)];
    emit_triangles<OF_CELLS>(job, output, codes, rows, head, here, last, scratch);
  }
}

static size_t shared_bytes(int warps, size_t scratch)
{
  return sizeof(triangle_codes) + (size_t)warps * scratch;
}

/* As many warps as fit, in blocks as large as they may be, because each block has the codes. */
template <bool OF_CELLS> static pmb_status launch(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const size_t scratch = sizeof(triangle_scratch);
  int best_blocks = 0, best_warps = 0, most = 0;
  PMB_CUDA_TRY(cuda->context, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->device));
  PMB_CUDA_TRY(cuda->context,
    cudaFuncSetAttribute(triangles_kernel<OF_CELLS>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  for (int warps = TRIANGLE_WARPS; warps > 0 && best_blocks * best_warps < TRIANGLE_BLOCKS * TRIANGLE_WARPS;
       warps -= 4) {
    int blocks = 0;
    if (shared_bytes(warps, scratch) <= (size_t)most) {
      PMB_CUDA_TRY(cuda->context,
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, triangles_kernel<OF_CELLS>, 32 * warps, shared_bytes(warps, scratch)));
    }
    if (blocks * warps > best_blocks * best_warps) {
      best_blocks = blocks;
      best_warps = warps;
    }
  }
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, PMB_CUDA_EARLY, triangles_kernel<OF_CELLS>, cuda->processors * best_blocks, 32 * best_warps,
      shared_bytes(best_warps, scratch), cuda->job, *output),
    "launch of triangles");
}

pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  if (output->d_triangles) {
    const pmb_status status = launch<false>(cuda, output);
    if (status != PMB_OK) {
      return status;
    }
  }
  return output->d_cells ? launch<true>(cuda, output) : PMB_OK;
}
