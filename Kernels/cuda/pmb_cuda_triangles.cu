/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles, one warp per brick. */
#include "cuda/pmb_cuda_triangles.cuh"

/* Writes the triangles' ids, or OF_CELLS their cells. */
template <bool OF_CELLS>
static __global__ void __launch_bounds__(32 * TRIANGLE_WARPS, TRIANGLE_BLOCKS)
  triangles_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output)
{
  extern __shared__ uint4 shared_memory[];
  triangle_codes *codes = (triangle_codes *)shared_memory;
  /* a shuffle tells the compiler that all lanes have the same value */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0), warps = blockDim.x >> 5;
  copy_codes(codes, constant_codes + (job.frame.mirrored != 0));
  pmb_cuda_await_passes();
  const uint32_t all = min(job.d_counters->active, job.record_capacity), active = min(all, job.with_triangles);
  triangle_scratch *scratch = (triangle_scratch *)(codes + 1) + warp;
  if (active == 0) {
    return;
  }
  const uint32_t step = gridDim.x * warps, last = __shfl_sync(UINT32_MAX, all - 1, 0);
  const warp_turns turns = { step, active / step, blockIdx.x * warps + warp, warp * gridDim.x + blockIdx.x };
  const row_bricks rows = row_bricks_of(job);
  uint32_t i = index_at(turns, 0), then = index_at(turns, 1);
  uint32_t brick = job.d_brick[min(then, last)];
  triangle_head next = read_triangle_head(job, rows, min(i, last), job.d_brick[min(i, last)]);
  /* makes `codes` an offset from `scratch`, which is in a register anyway */
  const int from = __shfl_sync(UINT32_MAX, (int)((const char *)codes - (const char *)scratch), 0);
  codes = (triangle_codes *)((char *)scratch + from);
  __syncthreads();
  for (uint32_t turn = 2; i < active; ++turn) {
    const triangle_head head = next;
    const uint32_t here = i;
    i = then;
    then = index_at(turns, turn);
    /* loads overlap the work on this brick */
    next = read_triangle_head(job, rows, min(i, last), brick);
    brick = job.d_brick[min(then, last)];
    emit_triangles<OF_CELLS>(job, output, codes, rows, head, here, last, scratch);
  }
}

/* Launches as many warps as fit a multiprocessor's shared memory, in large blocks, because each block has a copy of the codes. */
template <bool OF_CELLS>
static pmb_status launch(pmb_cuda *cuda, const pmb_cuda_job *job, const pmb_cuda_output *output)
{
  int room = 0;
  PMB_CUDA_TRY(
    cuda->context, cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerMultiprocessor, cuda->device));
  room = room / TRIANGLE_BLOCKS - 1024 /* CUDA's own */ - (int)sizeof(triangle_codes);
  const int warps = min(room / (int)sizeof(triangle_scratch), (int)TRIANGLE_WARPS);
  const size_t bytes = sizeof(triangle_codes) + warps * sizeof(triangle_scratch);
  PMB_CUDA_TRY(cuda->context,
    cudaFuncSetAttribute(triangles_kernel<OF_CELLS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, PMB_CUDA_EARLY, triangles_kernel<OF_CELLS>, cuda->processors * TRIANGLE_BLOCKS, 32 * warps,
      bytes, *job, *output),
    "launch of triangles");
}

pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_job *job, const pmb_cuda_output *output)
{
  if (output->d_triangles) {
    PMB_STEP(launch<false>(cuda, job, output));
  }
  return output->d_cells ? launch<true>(cuda, job, output) : PMB_OK;
}
