/* SPDX-License-Identifier: BSD-3-Clause
 * What the volume hides, in the summary: a part of pass summarize. A warp has a brick. */
#include "cuda/pmb_cuda_common.cuh"

/* Sample n of the 33 x 5 x 5 of a brick; 0: it is not in the volume. */
static __device__ __forceinline__ int locate(const pmb_cuda_job &job, const pmb_cuda_box &box, int n, int at[3])
{
  const int row = n / (PMB_BRICK_X + 1);
  at[0] = box.origin[0] + n - row * (PMB_BRICK_X + 1);
  at[1] = box.origin[1] + row % 5;
  at[2] = box.origin[2] + row / 5;
  return at[0] < job.dims[0] && at[1] < job.dims[1] && at[2] < job.dims[2];
}

/* Flags of what a brick hides. */
static __device__ __forceinline__ int find_hidden(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  const int lane = threadIdx.x & 31;
  int samples = 0, cells = 0, at[3];
  for (int n = lane; job.d_sample_flags && n < (PMB_BRICK_X + 1) * PMB_CUDA_ROWS; n += 32) {
    samples |= locate(job, box, n, at) && pmb_cuda_hides_sample(job, at[0], at[1], at[2]);
  }
  for (int row = 0; job.d_cell_flags && row < PMB_BRICK_ROWS; ++row) {
    cells |= pmb_cuda_hides_cell(job, box.origin[0] + lane, box.origin[1] + (row & 3), box.origin[2] + (row >> 2));
  }
  return (__any_sync(UINT32_MAX, samples) ? PMB_BRICK_HIDES_SAMPLES : 0) |
    (__any_sync(UINT32_MAX, cells) ? PMB_BRICK_HIDES_CELLS : 0);
}

/* The range of the finite, visible samples of a brick; low > high if there is none. */
template <class T>
static __device__ __forceinline__ void find_range(
  const pmb_cuda_job &job, const pmb_cuda_box &box, T *low_out, T *high_out)
{
  T low = pmb_cuda_limits<T>::highest(), high = pmb_cuda_limits<T>::lowest();
  int at[3];
  for (int n = threadIdx.x & 31; n < (PMB_BRICK_X + 1) * PMB_CUDA_ROWS; n += 32) {
    if (locate(job, box, n, at) && !pmb_cuda_hides_sample(job, at[0], at[1], at[2])) {
      const T s = ((const T *)job.d_samples)[pmb_cuda_index(job, at[0], at[1], at[2])];
      if (pmb_cuda_finite<T>(s)) {
        low = s < low ? s : low;
        high = s > high ? s : high;
      }
    }
  }
  pmb_cuda_reduce(32, &low, &high);
  *low_out = low;
  *high_out = high;
}

template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS) hide_kernel(const __grid_constant__ pmb_cuda_job job)
{
  const uint32_t step = gridDim.x * PMB_CUDA_WARPS;
  for (uint32_t b = blockIdx.x * PMB_CUDA_WARPS + (threadIdx.x >> 5); b < job.brick_count; b += step) {
    const pmb_cuda_box box = pmb_cuda_box_of(job, b);
    const int hidden = find_hidden(job, box);
    if (hidden & PMB_BRICK_HIDES_SAMPLES) {
      T low, high;
      find_range<T>(job, box, &low, &high);
      if ((threadIdx.x & 31) == 0) {
        ((T *)job.d_low)[b] = low;
        ((T *)job.d_high)[b] = high;
      }
    }
    if (hidden && (threadIdx.x & 31) == 0) {
      job.d_flags[b] = (uint8_t)(job.d_flags[b] | hidden);
    }
  }
}

template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  pmb_cuda_job job = cuda->job;
  job.isovalue_count = 1; /* the volume's own bricks */
  return pmb_cuda_launch(
    cuda, 0, hide_kernel<T>, pmb_cuda_all_blocks(cuda, hide_kernel<T>, PMB_CUDA_THREADS), PMB_CUDA_THREADS, 0, job);
}

pmb_status pmb_cuda_hide(pmb_cuda *cuda)
{
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, error = launch<T>(cuda));
  return pmb_cuda_check(cuda->context, error, "launch of hide");
}
