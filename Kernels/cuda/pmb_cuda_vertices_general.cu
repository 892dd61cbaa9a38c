/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices, the general way: any estimator of gradients, hidden samples; a warp for each active brick and a lane for each
 * of its points.
 * It is for what the tuned ways (pmb_cuda_vertices.cuh, pmb_cuda_vertices_tiles.cu, pmb_cuda_vertices_columns.cu) do not know: with central
 * differences it gives the same bytes, more slowly. */
#include "cuda/pmb_cuda_vertices_point.cuh"

enum { GENERAL_LISTED = 128 /* points listed at once */ };

typedef struct general_setting {
  const pmb_cuda_job &job;
  const pmb_cuda_output &output;
  int flags;
} general_setting;

/* ---- samples ---- */

/* The sample at a place; outside the volume its border is repeated. Here alone are samples read: hidden ones become NaN, and
 * what follows from them is then left out everywhere. */
template <class T>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type read_sample(
  const pmb_cuda_job &job, int i, int j, int k)
{
  typedef typename pmb_cuda_real<T>::type real;
  const T *d_samples = (const T *)job.d_samples;
  i = pmb_cuda_clamp(i, job.dims[0]);
  j = pmb_cuda_clamp(j, job.dims[1]);
  k = pmb_cuda_clamp(k, job.dims[2]);
  return pmb_cuda_hides_sample(job, i, j, k) ? (real)NAN : (real)d_samples[pmb_cuda_index(job, i, j, k)];
}

/* The sample some steps from a place along an axis. */
template <class T>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type read_beside(
  const pmb_cuda_job &job, const int *place, int axis, int steps)
{
  return read_sample<T>(
    job, place[0] + (axis == 0 ? steps : 0), place[1] + (axis == 1 ? steps : 0), place[2] + (axis == 2 ? steps : 0));
}

/* ---- gradients in the samples' axes ---- */

static __device__ __forceinline__ float forward_difference(float below, float here, float above, int upper_border)
{
  return pmb_forward_f32(below, here, above, upper_border);
}
static __device__ __forceinline__ double forward_difference(double below, double here, double above, int upper_border)
{
  return pmb_forward_f64(below, here, above, upper_border);
}
static __device__ __forceinline__ float sobel(const float *d)
{
  return pmb_sobel_f32(d);
}
static __device__ __forceinline__ double sobel(const double *d)
{
  return pmb_sobel_f64(d);
}

/* 0.5, or 1 at the volume's border. */
template <class R> static __device__ __forceinline__ R factor_at(const pmb_cuda_job &job, const int *place, int axis)
{
  return place[axis] <= 0 || place[axis] >= job.dims[axis] - 1 ? (R)1 : (R)0.5;
}

template <class T>
static __device__ __forceinline__ void central_gradient(
  const pmb_cuda_job &job, const int *place, typename pmb_cuda_real<T>::type *g)
{
  typedef typename pmb_cuda_real<T>::type real;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] =
      difference(read_beside<T>(job, place, a, -1), read_beside<T>(job, place, a, 1), factor_at<real>(job, place, a));
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
    g[a] = forward_difference(
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
    d[0][n] = difference(s[j][i][0], s[j][i][2], factor_at<real>(job, place, 0));
    d[1][n] = difference(s[j][0][i], s[j][2][i], factor_at<real>(job, place, 1));
    d[2][n] = difference(s[0][j][i], s[2][j][i], factor_at<real>(job, place, 2));
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = sobel(d[a]);
  }
}

/* The gradient at a sample. */
template <class T>
static __device__ __forceinline__ void gradient_at(
  const general_setting &setting, const int *place, typename pmb_cuda_real<T>::type *g)
{
  if (setting.output.estimator == PMB_SOBEL) {
    sobel_gradient<T>(setting.job, place, g);
  } else if (setting.output.estimator == PMB_FORWARD) {
    forward_gradient<T>(setting.job, place, g);
  } else {
    central_gradient<T>(setting.job, place, g);
  }
}

/* The neighbourhood of a sample for the careful way. */
template <class T>
static __device__ __forceinline__ pmb_stencil general_stencil(const pmb_cuda_job &job, const int *place)
{
  pmb_stencil stencil;
  stencil.center = (double)read_sample<T>(job, place[0], place[1], place[2]);
  for (int a = 0; a < 3; ++a) {
    stencil.below[a] = (double)read_beside<T>(job, place, a, -1);
    stencil.above[a] = (double)read_beside<T>(job, place, a, 1);
    stencil.factor[a] = factor_at<double>(job, place, a);
  }
  return stencil;
}

/* ---- points ---- */

/* A point: its edge's lower and upper sample, its kind, where on the edge. */
template <class T> struct general_point {
  int low[3], high[3], kind;
  typename pmb_cuda_real<T>::type t;
};

/* Three numbers of a point. */
template <class V, class U>
static __device__ __forceinline__ void store_triple(void *d_out, int64_t at, const U *values)
{
  V *d_triple = (V *)d_out + 3 * at;
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    d_triple[r] = (V)values[r];
  }
}

/* g: the index gradient. */
template <class T>
static __device__ __noinline__ void careful_orientation(const pmb_cuda_job &job, const general_point<T> &p,
  const typename pmb_cuda_real<T>::type *g, float *gradient, float *normal)
{
  if (scaled_point(job.frame, g, gradient, normal)) {
    return;
  }
  const pmb_stencil lower = general_stencil<T>(job, p.low), upper = general_stencil<T>(job, p.high);
  pmb_careful_point(&job.frame, &lower, &upper, p.kind, (double)p.t, gradient, normal);
}

/* Gradient and normal. */
template <class T>
static __device__ __forceinline__ void orient_point(
  const general_setting &setting, const general_point<T> &p, float *gradient, float *normal)
{
  typedef typename pmb_cuda_real<T>::type real;
  real ends[2][3] = {}, g[3], world[3];
#pragma unroll 1
  for (int end = 0; end < 2; ++end) {
    real at_end[3];
    gradient_at<T>(setting, end ? p.high : p.low, at_end);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      ends[0][a] = end ? ends[0][a] : at_end[a];
      ends[1][a] = at_end[a];
    }
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = lerp(ends[0][a], ends[1][a], p.t);
  }
  turn_gradient(setting.job.frame, 0, g, world);
  const real length2 = length2_of(world);
  if (!is_good(length2)) {
    careful_orientation<T>(setting.job, p, g, gradient, normal);
    return;
  }
  const real factor = normal_factor(length2);
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    gradient[r] = pmb_physical_gradient(&setting.job.frame, (double)world[r], setting.job.frame.range_scale);
    normal[r] = (float)(world[r] * factor);
  }
}

/* Writes point `at` of the output. */
template <class T>
static __device__ __forceinline__ void emit_point(
  const general_setting &setting, const pmb_isovalue &iso, const general_point<T> &edge, int64_t at)
{
  const pmb_cuda_job &job = setting.job;
  const pmb_cuda_output &output = setting.output;
  general_point<T> p = edge;
  const typename pmb_cuda_real<T>::type lower = read_sample<T>(job, p.low[0], p.low[1], p.low[2]),
                                        upper = read_sample<T>(job, p.high[0], p.high[1], p.high[2]);
  p.t = edge_parameter(iso, lower, upper);
  if (setting.flags & (PMB_CUDA_AS_FLOAT | PMB_CUDA_AS_DOUBLE)) {
    const int place[3] = { p.low[0] + (int)job.frame.first[0], p.low[1] + (int)job.frame.first[1],
      p.low[2] + (int)job.frame.first[2] };
    double world[3];
    place_point(job.frame, 0, place, p.kind, (double)p.t, world);
    if (setting.flags & PMB_CUDA_AS_FLOAT) {
      store_triple<float>(output.d_points, at, world);
    } else {
      store_triple<double>(output.d_points, at, world);
    }
  }
  if (setting.flags & PMB_CUDA_PARAMETERS) {
    output.d_parameter[at] = pmb_edge_parameter_f64((double)lower, (double)upper, iso.f64, 0);
    output.d_sample[at] = (p.low[0] + job.dims[0] * (p.low[1] + (int64_t)job.dims[1] * p.low[2])) << 2 | p.kind;
  }
  if (setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS)) {
    float gradient[3], normal[3];
    orient_point<T>(setting, p, gradient, normal);
    if (setting.flags & PMB_CUDA_NORMALS) {
      store_triple<float>(output.d_normals, at, normal);
    }
    if (setting.flags & PMB_CUDA_GRADIENTS) {
      store_triple<float>(output.d_gradients, at, gradient);
    }
  }
}

/* ---- bricks ---- */

/* The points of active brick `index`; a warp's work, with room for a list. */
template <class T>
static __device__ __forceinline__ void emit_general_brick(
  const general_setting &setting, uint32_t index, uint16_t *list)
{
  const pmb_cuda_job &job = setting.job;
  const pmb_cuda_record &record = job.d_records[index];
  const int lane = threadIdx.x & 31, r = word_of_lane();
  const int64_t first = job.d_before[index].points;
  const int points = (int)(job.d_before[index + 1].points - first);
  if (points == 0 || first + points > setting.output.point_room) {
    return;
  }
  const pmb_cuda_box box = pmb_cuda_box_of(job, job.d_brick[index]);
  const uint32_t words[3] = { record.word[r], record.word[r + 1], record.word[r + 5] };
  const lane_runs runs = runs_of(job, box, words, record.column, record.exact, record.first[lane & 15]);
  for (int begin = 0; begin < points; begin += GENERAL_LISTED) {
    __syncwarp();
    list_part<PMB_KINDS>(
      runs, begin, GENERAL_LISTED, list, 1, (uint32_t)(lane & 15) << 7, 1 << 2); /* row << 7 | x << 2 | kind */
    __syncwarp();
    for (int n = lane; n < min(points - begin, (int)GENERAL_LISTED); n += 32) {
      const int entry = list[n];
      general_point<T> p = {};
      p.kind = entry & 3;
      p.low[0] = box.origin[0] + (entry >> 2 & 31);
      p.low[1] = box.origin[1] + (entry >> 7 & 3);
      p.low[2] = box.origin[2] + (entry >> 9);
      for (int a = 0; a < 3; ++a) {
        p.high[a] = p.low[a] + (p.kind == a);
      }
      emit_point(setting, job.isovalues[box.isovalue], p, first + begin + n);
    }
  }
}

template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS)
  general_vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ int flags)
{
  __shared__ uint16_t lists[PMB_CUDA_WARPS][GENERAL_LISTED];
  const general_setting setting = { job, output, flags };
  const uint32_t active = min(job.d_counters->active, job.record_capacity), warp = threadIdx.x >> 5;
  for (uint32_t i = blockIdx.x * PMB_CUDA_WARPS + warp; i < active; i += gridDim.x * PMB_CUDA_WARPS) {
    emit_general_brick<T>(setting, i, lists[warp]);
  }
}

int pmb_cuda_needs_general(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return (output->estimator != PMB_CENTRAL || cuda->job.d_sample_flags) && (output->d_normals || output->d_gradients);
}

template <class T> static cudaError_t launch(pmb_cuda *cuda, const pmb_cuda_output *output, int flags)
{
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, general_vertices_kernel<T>, PMB_CUDA_THREADS, 0);
  return pmb_cuda_launch(cuda, general_vertices_kernel<T>, cuda->processors * (blocks > 0 ? blocks : 1),
    PMB_CUDA_THREADS, 0, cuda->job, *output, flags);
}

pmb_status pmb_cuda_general_vertices(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int points = output->point_type == PMB_FLOAT32 ? PMB_CUDA_AS_FLOAT : PMB_CUDA_AS_DOUBLE;
  const int flags = (output->d_points ? points : 0) | (output->d_normals ? PMB_CUDA_NORMALS : 0) |
    (output->d_gradients ? PMB_CUDA_GRADIENTS : 0) | (output->d_parameter ? PMB_CUDA_PARAMETERS : 0);
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, (error = launch<T>(cuda, output, flags)));
  return pmb_cuda_check(cuda->context, error, "launch of vertices");
}
