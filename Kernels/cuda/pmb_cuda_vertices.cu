/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: place, gradient and normal of every point. A warp has a brick, from the list of the active ones
 * (pmb_cuda_vertices_list.cuh); where most are active, from shared memory (pmb_cuda_vertices_columns.cu). Here: which of these,
 * and the kernel for any estimator of gradients and hidden samples; it is slower, with central differences the same bytes. */
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

template <class T> static cudaError_t launch(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  return pmb_cuda_launch(cuda, 0, general_vertices_kernel<T>,
    pmb_cuda_all_blocks(cuda, general_vertices_kernel<T>, 32 * GENERAL_WARPS), 32 * GENERAL_WARPS, 0, cuda->job,
    *output, flags);
}

/* ---- which kernel ---- */

/* Whether the tuned kernels do not know what is asked for. */
static int needs_general(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return (output->estimator != PMB_CENTRAL || cuda->job.d_sample_flags) && (output->d_normals || output->d_gradients);
}

/* Whether products with what is not on the diagonals change nothing: 0 + x is x unless both are -0. */
static int is_diagonal(const pmb_frame *frame)
{
  for (int i = 0; i < 9; ++i) {
    if (i % 4 != 0 && (frame->matrix_f32[i] != 0 || frame->matrix_f64[i] != 0)) {
      return 0;
    }
  }
  return frame->diagonal;
}

static int flags_of(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int points = output->point_type == PMB_FLOAT32 ? PMB_CUDA_AS_FLOAT : PMB_CUDA_AS_DOUBLE;
  return (output->d_points ? points : 0) | (output->d_normals ? PMB_CUDA_NORMALS : 0) |
    (output->d_gradients ? PMB_CUDA_GRADIENTS : 0) | (output->d_parameter ? PMB_CUDA_PARAMETERS : 0) |
    (is_diagonal(&cuda->job.frame) ? PMB_CUDA_DIAGONAL : 0);
}

/* Vertices and triangles together: active bricks of a multiprocessor, at most; warps that share a brick's points where there
 * are fewer bricks than that. */
enum { FEW = 32, FEWER = 8, FEWEST = 5 };

int pmb_cuda_test_parts;

/* Warps that share a brick's points; 0: the passes have launches of their own. */
static int parts_of(const pmb_cuda *cuda)
{
  const int64_t bricks = cuda->active, processors = cuda->processors;
  if (pmb_cuda_test_parts) {
    return max(pmb_cuda_test_parts, 0);
  }
  return bricks > FEW * processors ? 0 : bricks > FEWER * processors ? 1 : bricks > FEWEST * processors ? 2 : 4;
}

int pmb_cuda_emit_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, cudaError_t *error)
{
  const int parts = parts_of(cuda);
  const pmb_type type = cuda->context->volume.type;
  if (parts == 0 || pmb_type_is_wide(type) || flags_of(cuda, output) != PMB_CUDA_USUAL ||
    needs_general(cuda, output) || !output->d_triangles || output->d_cells || !fits_int(cuda->job)) {
    return 0;
  }
  *error = PMB_CUDA_BY_TYPE(type, pmb_cuda_emit_list_in_one_launch<T>(cuda, output, parts));
  return 1;
}

pmb_status pmb_cuda_vertices(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int flags = flags_of(cuda, output);
  cudaError_t error = cudaSuccess;
  if (needs_general(cuda, output)) {
    error = PMB_CUDA_BY_TYPE(cuda->context->volume.type, launch<T>(cuda, output, flags));
  } else if (!pmb_cuda_vertices_columns(cuda, output, flags, &error)) {
    error = PMB_CUDA_BY_TYPE(cuda->context->volume.type, pmb_cuda_vertices_list<T>(cuda, output, flags));
  }
  return pmb_cuda_check(cuda->context, error, "launch of vertices");
}
