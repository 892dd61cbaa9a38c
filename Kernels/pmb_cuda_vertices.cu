/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: place, gradient and normal of every point. A warp has a brick; each lane finds its point in the
 * brick's masks, so that all lanes have one to work on, and stores what it makes through shared memory. */
#include "pmb_cuda.cuh"

enum { PLACES = PMB_KINDS * PMB_BRICK_ROWS };

/* The arithmetic of pmb_point_template.h by type. */
static __device__ __forceinline__ float edge_parameter(const pmb_isovalue &iso, float lower, float upper)
{
  return pmb_edge_parameter_f32(lower, upper, iso.f32, iso.f32_low);
}
static __device__ __forceinline__ double edge_parameter(const pmb_isovalue &iso, double lower, double upper)
{
  return pmb_edge_parameter_f64(lower, upper, iso.f64, 0);
}
static __device__ __forceinline__ float difference(float a, float b, float factor)
{
  return pmb_difference_f32(a, b, factor);
}
static __device__ __forceinline__ double difference(double a, double b, double factor)
{
  return pmb_difference_f64(a, b, factor);
}
static __device__ __forceinline__ float lerp(float a, float b, float t)
{
  return pmb_lerp_f32(a, b, t);
}
static __device__ __forceinline__ double lerp(double a, double b, double t)
{
  return pmb_lerp_f64(a, b, t);
}
static __device__ __forceinline__ float world_gradient(const pmb_frame &f, int r, float x, float y, float z)
{
  return pmb_world_gradient_f32(f.matrix_f32, r, x, y, z);
}
static __device__ __forceinline__ double world_gradient(const pmb_frame &f, int r, double x, double y, double z)
{
  return pmb_world_gradient_f64(f.matrix_f64, r, x, y, z);
}
static __device__ __forceinline__ int normal_factor(float x, float y, float z, float *factor)
{
  const float length2 = pmb_length2_f32(x, y, z);
  *factor = pmb_normal_factor_f32(length2);
  return pmb_length2_good_f32(length2);
}
static __device__ __forceinline__ int normal_factor(double x, double y, double z, double *factor)
{
  const double length2 = pmb_length2_f64(x, y, z);
  *factor = pmb_normal_factor_f64(length2);
  return pmb_length2_good_f64(length2);
}

/* Room of a warp. */
typedef struct vertex_scratch {
  uint32_t masks[PLACES]; /* [row][kind] */
  uint16_t first[PLACES]; /* points before */
  double triples[96];
} vertex_scratch;

/* A point on its way to the output. */
template <class T> struct point_of {
  typename pmb_cuda_real<T>::type t;
  int low[3], kind; /* its lower sample */
  float gradient[3], normal[3];
};

/* The neighbourhood of a sample; neighbours outside the volume repeat it. */
template <class T> static __device__ pmb_stencil stencil_of(const pmb_cuda_job &job, const int *place)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int64_t step[3] = { 1, job.pitch, job.slice };
  const T *d_center = (const T *)job.d_samples + (place[0] + job.pitch * place[1] + job.slice * place[2]);
  pmb_stencil stencil;
  stencil.center = (double)(real)*d_center;
  for (int a = 0; a < 3; ++a) {
    const int first = place[a] <= 0, last = place[a] >= job.dims[a] - 1;
    stencil.below[a] = (double)(real)d_center[first ? 0 : -step[a]];
    stencil.above[a] = (double)(real)d_center[last ? 0 : step[a]];
    stencil.factor[a] = first || last ? 1 : 0.5;
  }
  return stencil;
}

/* The way of pmb_careful_point; rare. */
template <class T> static __device__ __noinline__ void careful_point(const pmb_cuda_job &job, point_of<T> *p)
{
  const int high[3] = { p->low[0] + (p->kind == 0), p->low[1] + (p->kind == 1), p->low[2] + (p->kind == 2) };
  const pmb_stencil lower = stencil_of<T>(job, p->low), upper = stencil_of<T>(job, high);
  pmb_careful_point(&job.frame, &lower, &upper, p->kind, (double)p->t, p->gradient, p->normal);
}

/* Gradient between the two ends of a point's edge, along one axis of the samples. ends: the samples
 * there; up: from the lower to the upper.
 * Neighbours outside the volume repeat the border; INTERIOR: there are none. */
template <class T, class OFFSET, bool INTERIOR>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type gradient_between(const T *d_low,
  const typename pmb_cuda_real<T>::type *ends, OFFSET up, OFFSET step, int along, int place, int dim,
  typename pmb_cuda_real<T>::type t)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int high = place + along;
  const OFFSET below = INTERIOR || place > 0 ? step : 0, above = INTERIOR || place < dim - 1 ? step : 0;
  const OFFSET high_above = INTERIOR || high < dim - 1 ? step : 0;
  const real a = (real)d_low[-below], b = along ? ends[1] : (real)d_low[above];
  const real c = along ? ends[0] : (real)d_low[up - below], d = (real)d_low[up + high_above];
  const real low_factor = !INTERIOR && (place <= 0 || place >= dim - 1) ? (real)1 : (real)0.5;
  const real high_factor = !INTERIOR && (high <= 0 || high >= dim - 1) ? (real)1 : (real)0.5;
  return lerp(difference(a, b, low_factor), difference(c, d, high_factor), t);
}

/* d_origin: the brick's first sample. OFFSET: a type that holds distances in a brick. INTERIOR: all neighbours are in the volume. */
template <class T, class OFFSET, bool INTERIOR>
static __device__ __forceinline__ void make_point(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const pmb_cuda_box &box, const T *d_origin, int code, point_of<T> *p)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int row = code >> 5 & 15;
  const OFFSET pitch = (OFFSET)job.pitch, slice = (OFFSET)job.slice;
  p->kind = code >> 9;
  p->low[0] = box.origin[0] + (code & 31);
  p->low[1] = box.origin[1] + (row & 3);
  p->low[2] = box.origin[2] + (row >> 2);
  const T *d_low = d_origin + ((code & 31) + pitch * (row & 3) + slice * (row >> 2));
  const OFFSET up = p->kind == 0 ? 1 : p->kind == 1 ? pitch : p->kind == 2 ? slice : 0;
  const real ends[2] = { (real)d_low[0], (real)d_low[up] };
  p->t = edge_parameter(job.isovalues[box.isovalue], ends[0], ends[1]);
  if (!output.d_normals && !output.d_gradients) {
    return;
  }
  real w[3], factor;
  const real gx =
    gradient_between<T, OFFSET, INTERIOR>(d_low, ends, up, 1, p->kind == 0, p->low[0], job.dims[0], p->t);
  const real gy =
    gradient_between<T, OFFSET, INTERIOR>(d_low, ends, up, pitch, p->kind == 1, p->low[1], job.dims[1], p->t);
  const real gz =
    gradient_between<T, OFFSET, INTERIOR>(d_low, ends, up, slice, p->kind == 2, p->low[2], job.dims[2], p->t);
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    w[r] = world_gradient(job.frame, r, gx, gy, gz);
  }
  const int good = normal_factor(w[0], w[1], w[2], &factor);
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    p->normal[r] = (float)(w[r] * factor);
  }
  if (output.d_gradients) {
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      p->gradient[r] = pmb_physical_gradient(&job.frame, (double)w[r], job.frame.range_scale);
    }
  }
  if (!good) {
    point_of<T> careful = *p;
    careful_point<T>(job, &careful);
    *p = careful;
  }
}

/* Stores n triples of a warp, one a lane, as whole rows of memory. */
template <class V>
static __device__ __forceinline__ void store_triples(vertex_scratch *scratch, V *d_out, int n, V x, V y, V z)
{
  const int lane = threadIdx.x & 31;
  V *mine = (V *)scratch->triples + 3 * lane;
  __syncwarp();
  mine[0] = x;
  mine[1] = y;
  mine[2] = z;
  __syncwarp();
  const V *row = (const V *)scratch->triples + lane;
  d_out += lane;
  if (n == 32) {
    d_out[0] = row[0];
    d_out[32] = row[32];
    d_out[64] = row[64];
    return;
  }
  for (int i = 0; i + lane < 3 * n; i += 32) {
    d_out[i] = row[i];
  }
}

/* Writes n points, one a lane; first: the output's place of the first. */
template <class T>
static __device__ __forceinline__ void store_points(const pmb_cuda_job &job, const pmb_cuda_output &output,
  vertex_scratch *scratch, int64_t first, int n, const point_of<T> &p)
{
  if (output.d_points) {
    double x[3], w[3];
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      x[a] = (double)p.low[a] + (p.kind == a ? (double)p.t : 0.0);
    }
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      w[r] = pmb_world(&job.frame, r, x[0], x[1], x[2]);
    }
    if (output.point_type == PMB_FLOAT32) {
      store_triples(scratch, (float *)output.d_points + 3 * first, n, (float)w[0], (float)w[1], (float)w[2]);
    } else {
      store_triples(scratch, (double *)output.d_points + 3 * first, n, w[0], w[1], w[2]);
    }
  }
  if (output.d_normals) {
    store_triples(scratch, output.d_normals + 3 * first, n, p.normal[0], p.normal[1], p.normal[2]);
  }
  if (output.d_gradients) {
    store_triples(scratch, output.d_gradients + 3 * first, n, p.gradient[0], p.gradient[1], p.gradient[2]);
  }
  if (output.d_parameter && (int)(threadIdx.x & 31) < n) {
    output.d_parameter[first + (threadIdx.x & 31)] = (double)p.t;
    output.d_sample[first + (threadIdx.x & 31)] =
      (p.low[0] + job.dims[0] * (p.low[1] + (int64_t)job.dims[1] * p.low[2])) << 2 | p.kind;
  }
}

/* Fills the table of rows and kinds that find_point searches; lane r < 16 has row r. */
static __device__ __forceinline__ void fill_places(const pmb_cuda_masks &masks, int first, vertex_scratch *scratch)
{
  const int row = threadIdx.x & 31;
#pragma unroll
  for (int kind = 0; kind < PMB_KINDS; ++kind) {
    scratch->masks[row * PMB_KINDS + kind] = masks.kind[kind];
    scratch->first[row * PMB_KINDS + kind] = (uint16_t)first;
    first += __popc(masks.kind[kind]);
  }
}

/* Place of the n-th set bit of a word, counted from 0. */
static __device__ __forceinline__ int select_bit(uint32_t word, int n)
{
  int place = 0;
#pragma unroll
  for (int width = 16; width > 0; width >>= 1) {
    const int below = __popc(word & ((1u << width) - 1));
    if (n >= below) {
      n -= below;
      word >>= width;
      place += width;
    }
  }
  return place;
}

/* Point n of a brick, as kind << 9 | row << 5 | x: the last row and kind that begins at or before it. */
static __device__ __forceinline__ int find_point(const vertex_scratch *scratch, int n)
{
  int place = 0;
#pragma unroll
  for (int step = PLACES / 2; step > 0; step >>= 1) {
    place += scratch->first[place + step] <= n ? step : 0;
  }
  const int x = select_bit(scratch->masks[place], n - scratch->first[place]);
  return (place & 3) << 9 | (place >> 2) << 5 | x;
}

template <class T, class OFFSET>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS, sizeof(typename pmb_cuda_real<T>::type) == 8 ? 2 : 4)
  vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output)
{
  __shared__ vertex_scratch shared_scratch[PMB_CUDA_WARPS];
  vertex_scratch *scratch = &shared_scratch[threadIdx.x >> 5];
  const int lane = threadIdx.x & 31, row = lane & 15;
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  for (uint32_t i = blockIdx.x * PMB_CUDA_WARPS + (threadIdx.x >> 5); i < active; i += gridDim.x * PMB_CUDA_WARPS) {
    const pmb_cuda_record *record = job.d_records + i;
    const int64_t first = job.d_before[i].points;
    const int points = (int)(job.d_before[i + 1].points - first);
    if (points == 0 || first + points > output.point_room) {
      continue;
    }
    const pmb_cuda_box box = pmb_cuda_box_of(job, job.d_brick[i]);
    const T *d_origin =
      (const T *)job.d_samples + (box.origin[0] + job.pitch * box.origin[1] + job.slice * box.origin[2]);
    const int interior = box.origin[0] > 0 && box.origin[1] > 0 && box.origin[2] > 0 &&
      box.origin[0] + PMB_BRICK_X + 1 < job.dims[0] && box.origin[1] + PMB_BRICK_Y + 1 < job.dims[1] &&
      box.origin[2] + PMB_BRICK_Z + 1 < job.dims[2];
    const pmb_cuda_masks masks =
      pmb_cuda_row_masks(job, record, row, pmb_cuda_row_columns(job, box, row & 3, row >> 2));
    __syncwarp();
    if (lane < PMB_BRICK_ROWS) {
      fill_places(masks, (int)pmb_cuda_row_first(record->first[row], PMB_EDGE_X), scratch);
    }
    __syncwarp();
    for (int n = 0; n < points; n += 32) {
      point_of<T> p;
      const int code = find_point(scratch, min(n + lane, points - 1));
      if (interior) {
        make_point<T, OFFSET, true>(job, output, box, d_origin, code, &p);
      } else {
        make_point<T, OFFSET, false>(job, output, box, d_origin, code, &p);
      }
      store_points<T>(job, output, scratch, first + n, min(points - n, 32), p);
    }
  }
}

template <class T, class OFFSET> static cudaError_t launch(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, vertices_kernel<T, OFFSET>, PMB_CUDA_THREADS, 0);
  return pmb_cuda_launch(cuda, vertices_kernel<T, OFFSET>, cuda->processors * (blocks > 0 ? blocks : 1),
    PMB_CUDA_THREADS, 0, cuda->job, *output);
}

pmb_status pmb_cuda_vertices(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  cudaError_t error = cudaSuccess;
  if (cuda->job.slice < INT32_MAX / 8) {
    PMB_CUDA_BY_TYPE(cuda->context->volume.type, (error = launch<T, int32_t>(cuda, output)));
  } else {
    PMB_CUDA_BY_TYPE(cuda->context->volume.type, (error = launch<T, int64_t>(cuda, output)));
  }
  return pmb_cuda_check(cuda->context, error, "launch of vertices");
}
