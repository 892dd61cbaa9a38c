/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices with any estimator of gradients, and where samples are hidden: as pmb_cuda_vertices_list.cuh, more slowly, and with
 * central differences the same bytes. */
#include "cuda/pmb_cuda_vertices_brick.cuh"

/* ---- gradients in the samples' axes ---- */

template <class T>
static __device__ __forceinline__ void central_gradient(
  const pmb_cuda_job &job, const int *place, typename pmb_cuda_real<T>::type *g)
{
  typedef typename pmb_cuda_real<T>::type real;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = pmb_difference(
      read_beside<T>(job, place, a, -1), read_beside<T>(job, place, a, 1), factor_at<real>(job, place, a));
  }
}

template <class T>
static __device__ __forceinline__ void forward_gradient(
  const pmb_cuda_job &job, const int *place, typename pmb_cuda_real<T>::type *g)
{
  typedef typename pmb_cuda_real<T>::type real;
  const real here = read_sample<T>(job, place[0], place[1], place[2]);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = pmb_forward(
      read_beside<T>(job, place, a, -1), here, read_beside<T>(job, place, a, 1), place[a] >= job.dims[a] - 1);
  }
}

template <class T>
static __device__ __forceinline__ void sobel_gradient(
  const pmb_cuda_job &job, const int *place, typename pmb_cuda_real<T>::type *g)
{
  typedef typename pmb_cuda_real<T>::type real;
  real s[3][3][3];
#pragma unroll
  for (int n = 0; n < 27; ++n) {
    s[n / 9][n / 3 % 3][n % 3] =
      read_sample<T>(job, place[0] + n % 3 - 1, place[1] + n / 3 % 3 - 1, place[2] + n / 9 - 1);
  }
  real d[3][9];
#pragma unroll
  for (int n = 0; n < 9; ++n) {
    const int i = n % 3, j = n / 3;
    d[0][n] = pmb_difference(s[j][i][0], s[j][i][2], factor_at<real>(job, place, 0));
    d[1][n] = pmb_difference(s[j][0][i], s[j][2][i], factor_at<real>(job, place, 1));
    d[2][n] = pmb_difference(s[0][j][i], s[2][j][i], factor_at<real>(job, place, 2));
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = pmb_sobel(d[a]);
  }
}

/* The gradient at a sample. */
template <class T>
static __device__ __forceinline__ void gradient_at(
  const vertex_setting &setting, const int *place, typename pmb_cuda_real<T>::type *g)
{
  if (setting.output.estimator == PMB_SOBEL) {
    sobel_gradient<T>(setting.job, place, g);
  } else if (setting.output.estimator == PMB_FORWARD) {
    forward_gradient<T>(setting.job, place, g);
  } else {
    central_gradient<T>(setting.job, place, g);
  }
}

/* Samples read one by one, hidden ones as NaN: what follows from them is then left out everywhere. */
template <class T> struct general_samples {
  enum { BY_EDGE = 0, ONE_ISOVALUE = 0 };
};

template <class T>
static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting, const general_samples<T> &,
  int, int, const point_of<T> &p, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int gradient = setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS);
#pragma unroll 1
  for (int end = 0; end < 2; ++end) {
    real at_end[3] = {};
    const int place[3] = { p.low[0] + (end && p.kind == 0), p.low[1] + (end && p.kind == 1),
      p.low[2] + (end && p.kind == 2) };
    const real sample =
      lifted(((const T *)setting.job.d_samples)[pmb_cuda_index(setting.job, place[0], place[1], place[2])]);
    if (gradient) {
      gradient_at<T>(setting, place, at_end);
    }
    s->ends[0] = end ? s->ends[0] : sample;
    s->ends[1] = sample;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      s->low[a] = end ? s->low[a] : at_end[a];
      s->high[a] = at_end[a];
    }
  }
}

enum { GENERAL_WARPS = 8 };

template <class T>
static __global__ void __launch_bounds__(32 * GENERAL_WARPS)
  general_vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ int flags)
{
  __shared__ vertex_scratch shared_scratch[GENERAL_WARPS];
  const vertex_setting setting = { job, output, flags };
  const uint32_t active = min(job.d_counters->active, job.record_capacity), warp = threadIdx.x >> 5;
  const head_source source = source_of_lane(job);
  for (uint32_t i = blockIdx.x * GENERAL_WARPS + warp; i < active; i += gridDim.x * GENERAL_WARPS) {
    const brick_head head = read_head(job, source, i, active);
    brick_work work;
    if (begin_brick(setting, head, &work)) {
      put_box(job, pmb_cuda_box_of(job, head_at(head, BRICK_LANE)), &work);
      emit_portions<T, REPAIR>(setting, general_samples<T>(), head, work, &shared_scratch[warp]);
    }
  }
}

int pmb_cuda_needs_general(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return (output->estimator != PMB_CENTRAL || cuda->job.d_sample_flags) && (output->d_normals || output->d_gradients);
}

template <class T> static cudaError_t launch(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  return pmb_cuda_launch(cuda, 0, general_vertices_kernel<T>,
    pmb_cuda_all_blocks(cuda, general_vertices_kernel<T>, 32 * GENERAL_WARPS), 32 * GENERAL_WARPS, 0, cuda->job,
    *output, flags);
}

cudaError_t pmb_cuda_vertices_general(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, error = launch<T>(cuda, output, flags));
  return error;
}
