/* SPDX-License-Identifier: BSD-3-Clause
 * A point of pass vertices: where it lies, its gradient and normal, and its way to the output. The arithmetic is that of
 * pmb_point_template.h, by type. */
#ifndef PMB_CUDA_POINT_CUH
#define PMB_CUDA_POINT_CUH

#include "pmb_cuda.cuh"

enum {
  PLACES = PMB_KINDS * PMB_BRICK_ROWS, /* runs of points of one kind in one row: two per lane */
  CAREFUL = 32
};

/* ---- the arithmetic of pmb_point_template.h by type ---- */

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
static __device__ __forceinline__ float length2_of(const float *w)
{
  return pmb_length2_f32(w[0], w[1], w[2]);
}
static __device__ __forceinline__ double length2_of(const double *w)
{
  return pmb_length2_f64(w[0], w[1], w[2]);
}
static __device__ __forceinline__ int is_good(float length2)
{
  return pmb_length2_good_f32(length2);
}
static __device__ __forceinline__ int is_good(double length2)
{
  return pmb_length2_good_f64(length2);
}
static __device__ __forceinline__ double normal_factor(double length2)
{
  return pmb_normal_factor_f64(length2);
}
/* pmb_normal_factor_f32, correctly rounded as that is, without the range checks of sqrtf and of the division: good
 * lengths are far from where they are needed, others are not used. Newton's steps from the hardware's estimates. */
static __device__ __forceinline__ float normal_factor(float length2)
{
#if defined(__CUDA_ARCH__)
  float inverse, reciprocal;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(length2));
  float root = length2 * inverse;
  root = __fmaf_rn(__fmaf_rn(-root, root, length2), 0.5f * inverse, root);
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(root));
  reciprocal = __fmaf_rn(reciprocal, __fmaf_rn(-root, reciprocal, 1.0f), reciprocal);
  return __fmaf_rn(reciprocal, __fmaf_rn(root, reciprocal, -1.0f), -reciprocal);
#else
  return pmb_normal_factor_f32(length2);
#endif
}

/* The normal matrix by type. */
static __device__ __forceinline__ const float *matrix_of(const pmb_frame &frame, float)
{
  return frame.matrix_f32;
}
static __device__ __forceinline__ const double *matrix_of(const pmb_frame &frame, double)
{
  return frame.matrix_f64;
}
static __device__ __forceinline__ float world_gradient(const float *m, int r, const float *g)
{
  return pmb_world_gradient_f32(m, r, g[0], g[1], g[2]);
}
static __device__ __forceinline__ double world_gradient(const double *m, int r, const double *g)
{
  return pmb_world_gradient_f64(m, r, g[0], g[1], g[2]);
}

/* Adds two products with zero, which are exact, to a third: the same bits as world_gradient's, the sign of a zero and
 * NaN from an infinity included. */
static __device__ __forceinline__ float add_zeros(float m0, float g0, float m1, float g1, float sum)
{
  return __fmaf_rn(m1, g1, __fmaf_rn(m0, g0, sum));
}
static __device__ __forceinline__ double add_zeros(double m0, double g0, double m1, double g1, double sum)
{
  return __fma_rn(m1, g1, __fma_rn(m0, g0, sum));
}

/* Samples as they are subtracted: small integers as 1.5 * 2^23 + s, which costs no conversion and cancels exactly. */
template <class T> static __device__ __forceinline__ typename pmb_cuda_real<T>::type lifted(T s)
{
  return (typename pmb_cuda_real<T>::type)s;
}
static __device__ __forceinline__ float lift(int s)
{
  return __int_as_float(0x4b400000 + s);
}
template <> __device__ __forceinline__ float lifted<int8_t>(int8_t s)
{
  return lift(s);
}
template <> __device__ __forceinline__ float lifted<uint8_t>(uint8_t s)
{
  return lift(s);
}
template <> __device__ __forceinline__ float lifted<int16_t>(int16_t s)
{
  return lift(s);
}
template <> __device__ __forceinline__ float lifted<uint16_t>(uint16_t s)
{
  return lift(s);
}

/* The sample itself. */
template <class T>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type settled(typename pmb_cuda_real<T>::type sample)
{
  return sizeof(T) <= 2 ? sample - 12582912 : sample;
}

/* ---- a point ---- */

/* Room of a warp. */
typedef struct vertex_scratch {
  uint2 runs[PLACES];        /* those with points, in order: mask; points before | row << 18 | kind << 16 */
  uint32_t careful[CAREFUL]; /* active bricks with points that go the careful way */
  double triples[144];       /* points in the first 96 places, floats behind them */
} vertex_scratch;

enum { FLOATS_BEHIND = 2 * 96 };

/* What is wanted of all bricks. */
enum {
  AS_FLOAT = 1, /* points */
  AS_DOUBLE = 2,
  NORMALS = 4,
  GRADIENTS = 8,
  PARAMETERS = 16,
  DIAGONAL = 32,                         /* the frame's matrices are */
  USUAL = AS_FLOAT | NORMALS | DIAGONAL, /* has code of its own */
  ANY = -1
};

typedef struct vertex_setting {
  const pmb_cuda_job &job;
  const pmb_cuda_output &output;
  int flags;
} vertex_setting;

/* A point: its edge's lower sample and kind, where on it, and its gradient in the world with its squared length. */
template <class T> struct point_of {
  int low[3], kind;
  typename pmb_cuda_real<T>::type t, world[3], length2;
};

/* ---- the careful way ---- */

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

/* Gradient and normal of point `at` of the output by the way of pmb_careful_point; rare. */
template <class T>
static __device__ __noinline__ void careful_point(const vertex_setting &setting, const point_of<T> &p, int64_t at)
{
  const pmb_cuda_output &output = setting.output;
  const int *low = p.low, high[3] = { low[0] + (p.kind == 0), low[1] + (p.kind == 1), low[2] + (p.kind == 2) };
  const pmb_stencil lower = stencil_of<T>(setting.job, low), upper = stencil_of<T>(setting.job, high);
  float gradient[3], normal[3];
  pmb_careful_point(&setting.job.frame, &lower, &upper, p.kind, (double)p.t, gradient, normal);
  for (int a = 0; a < 3; ++a) {
    if (output.d_normals) {
      output.d_normals[3 * at + a] = normal[a];
    }
    if (output.d_gradients) {
      output.d_gradients[3 * at + a] = gradient[a];
    }
  }
}

/* ---- gradients ---- */

/* The samples at the ends of an edge and the differences there along three axes: along the edge, then the two others
 * by number; so that all kinds of edges read alike. */
template <class R> struct surrounding {
  R ends[2], low[3], high[3];
};

/* Where a brick's samples are read: here in the volume; see also pmb_cuda_tiles.cu. */
template <class T, class OFFSET> struct volume_samples {
  enum { BY_EDGE = 1 /* the order of axes in a surrounding */, ONE_ISOVALUE = 0 };
  const T *d_origin; /* the brick's first */
  int inner;
};
/* In the volume, in a brick whose neighbours are all there. OFFSET: a type that holds distances in a brick. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_inner(
  const T *d_low, int kind, OFFSET pitch, OFFSET slice, int gradient, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const real half = (real)0.5;
  const OFFSET along = kind == 0 ? 1 : kind == 1 ? pitch : slice;
  const OFFSET second = kind == 0 ? pitch : 1, third = kind == 2 ? pitch : slice;
  const T *d_high = d_low + along;
  s->ends[0] = lifted(d_low[0]);
  s->ends[1] = lifted(d_high[0]);
  if (gradient) {
    s->low[0] = difference(lifted(d_low[-along]), s->ends[1], half);
    s->high[0] = difference(s->ends[0], lifted(d_high[along]), half);
    s->low[1] = difference(lifted(d_low[-second]), lifted(d_low[second]), half);
    s->high[1] = difference(lifted(d_high[-second]), lifted(d_high[second]), half);
    s->low[2] = difference(lifted(d_low[-third]), lifted(d_low[third]), half);
    s->high[2] = difference(lifted(d_high[-third]), lifted(d_high[third]), half);
  }
}

/* From that order to x, y, z, and back. */
template <class R> static __device__ __forceinline__ void order_by_axis(int kind, R *g)
{
  const R along = g[0], second = g[1], third = g[2];
  g[0] = kind == 0 ? along : second;
  g[1] = kind == 1 ? along : kind == 0 ? second : third;
  g[2] = kind >= 2 ? along : third;
}
template <class R> static __device__ __forceinline__ void order_by_edge(int kind, R *g)
{
  const R x = g[0], y = g[1], z = g[2];
  g[0] = kind == 0 ? x : kind == 1 ? y : z;
  g[1] = kind == 0 ? y : x;
  g[2] = kind >= 2 ? y : z;
}

/* Along one axis, where neighbours outside the volume repeat the border. up: from the lower to the upper end; along:
 * whether this is the edge's axis. */
template <class T, class OFFSET>
static __device__ __forceinline__ void border_differences(const T *d_low, OFFSET up, OFFSET step, int along,
  int place, int dim, int axis, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int upper = place + along;
  const OFFSET below = place > 0 ? step : 0, above = place < dim - 1 ? step : 0;
  const OFFSET upper_above = upper < dim - 1 ? step : 0;
  const real b = along ? s->ends[1] : lifted(d_low[above]), c = along ? s->ends[0] : lifted(d_low[up - below]);
  s->low[axis] = difference(lifted(d_low[-below]), b, place <= 0 || place >= dim - 1 ? (real)1 : (real)0.5);
  s->high[axis] =
    difference(c, lifted(d_low[up + upper_above]), upper <= 0 || upper >= dim - 1 ? (real)1 : (real)0.5);
}

/* Anywhere, and for points on samples. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_border(const T *d_low, const int *low, int kind, const pmb_cuda_job &job,
  int gradient, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  const OFFSET pitch = (OFFSET)job.pitch, slice = (OFFSET)job.slice;
  const OFFSET up = kind == 0 ? 1 : kind == 1 ? pitch : kind == 2 ? slice : 0;
  s->ends[0] = lifted(d_low[0]);
  s->ends[1] = lifted(d_low[up]);
  if (gradient) {
    border_differences<T, OFFSET>(d_low, up, 1, kind == 0, low[0], job.dims[0], 0, s);
    border_differences<T, OFFSET>(d_low, up, pitch, kind == 1, low[1], job.dims[1], 1, s);
    border_differences<T, OFFSET>(d_low, up, slice, kind == 2, low[2], job.dims[2], 2, s);
    order_by_edge(kind, s->low);
    order_by_edge(kind, s->high);
  }
}

/* Both ways. x, row: of the sample in its brick. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting,
  const volume_samples<T, OFFSET> &samples, int x, int row, const point_of<T> &p,
  surrounding<typename pmb_cuda_real<T>::type> *s)
{
  const pmb_cuda_job &job = setting.job;
  const OFFSET pitch = (OFFSET)job.pitch, slice = (OFFSET)job.slice;
  const T *d_low = samples.d_origin + (x + pitch * (row & 3) + slice * (row >> 2));
  const int gradient = setting.flags & (NORMALS | GRADIENTS);
  if (samples.inner) {
    read_inner<T, OFFSET>(d_low, p.kind, pitch, slice, gradient, s);
  } else {
    read_border<T, OFFSET>(d_low, p.low, p.kind, job, gradient, s);
  }
}

/* The gradient between the ends, turned into the world. BY_EDGE: the order of axes. */
template <class T, int BY_EDGE>
static __device__ __forceinline__ void turn_gradient(
  const vertex_setting &setting, const surrounding<typename pmb_cuda_real<T>::type> &s, point_of<T> *p)
{
  typedef typename pmb_cuda_real<T>::type real;
  const real *m = matrix_of(setting.job.frame, real());
  real g[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = lerp(s.low[a], s.high[a], p->t);
  }
  if (BY_EDGE) {
    order_by_axis(p->kind, g);
  }
  if (setting.flags & DIAGONAL) {
    p->world[0] = add_zeros(m[1], g[1], m[2], g[2], m[0] * g[0]);
    p->world[1] = add_zeros(m[3], g[0], m[5], g[2], m[4] * g[1]);
    p->world[2] = add_zeros(m[6], g[0], m[7], g[1], m[8] * g[2]);
  } else {
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      p->world[r] = world_gradient(m, r, g);
    }
  }
  p->length2 = length2_of(p->world);
}

/* ---- places ---- */

/* Where a point lies. A diagonal frame leaves out products with 0 that change nothing. */
template <class T>
static __device__ __forceinline__ void place_point(const vertex_setting &setting, const point_of<T> &p, double *w)
{
  const pmb_frame &frame = setting.job.frame;
  double x[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    x[a] =
      __fma_rn((double)p.t, __hiloint2double(p.kind == a ? 0x3ff00000 : 0, 0), (double)p.low[a]); /* + t or + 0 */
  }
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    w[r] = setting.flags & DIAGONAL ? frame.to_world[5 * r] * x[r] + frame.to_world[4 * r + 3]
                                    : pmb_world(&frame, r, x[0], x[1], x[2]);
  }
}

/* ---- output ---- */

/* A lane's triple into the warp's room. */
template <class V> static __device__ __forceinline__ void put(V *room, V x, V y, V z)
{
  V *mine = room + 3 * (threadIdx.x & 31);
  mine[0] = x;
  mine[1] = y;
  mine[2] = z;
}

/* n triples of the warp's room as whole rows of memory; at: the output's place of the first, times 3, plus the lane. */
template <class V> static __device__ __forceinline__ void store(V *d_out, int64_t at, const V *room, int n)
{
  const int lane = threadIdx.x & 31, rest = 3 * n - lane;
  d_out += at;
  room += lane;
  if (rest > 0) {
    d_out[0] = room[0];
  }
  if (rest > 32) {
    d_out[32] = room[32];
  }
  if (rest > 64) {
    d_out[64] = room[64];
  }
}

template <class T> static __device__ __forceinline__ void put_normal(const point_of<T> &p, float *room)
{
  const typename pmb_cuda_real<T>::type factor = normal_factor(p.length2);
  put(room, (float)(p.world[0] * factor), (float)(p.world[1] * factor), (float)(p.world[2] * factor));
}

template <class T>
static __device__ __forceinline__ void put_gradient(const pmb_frame &frame, const point_of<T> &p, float *room)
{
  put(room, pmb_physical_gradient(&frame, (double)p.world[0], frame.range_scale),
    pmb_physical_gradient(&frame, (double)p.world[1], frame.range_scale),
    pmb_physical_gradient(&frame, (double)p.world[2], frame.range_scale));
}

/* Writes n points, one a lane; first: the output's place of the first. */
template <class T, int BY_EDGE>
static __device__ __forceinline__ void store_points(const vertex_setting &setting, vertex_scratch *scratch,
  int64_t first, int n, const surrounding<typename pmb_cuda_real<T>::type> &s, point_of<T> *p)
{
  const pmb_cuda_output &output = setting.output;
  const int lane = threadIdx.x & 31;
  const int64_t at = 3 * first + lane;
  float *floats = (float *)scratch->triples, *behind = floats + FLOATS_BEHIND;
  __syncwarp();
  if (setting.flags & (AS_FLOAT | AS_DOUBLE)) {
    double w[3];
    place_point<T>(setting, *p, w);
    if (setting.flags & AS_FLOAT) {
      put(floats, (float)w[0], (float)w[1], (float)w[2]);
    } else {
      put(scratch->triples, w[0], w[1], w[2]);
    }
  }
  if ((setting.flags & PARAMETERS) && lane < n) {
    output.d_parameter[first + lane] = (double)p->t;
    output.d_sample[first + lane] =
      (p->low[0] + setting.job.dims[0] * (p->low[1] + (int64_t)setting.job.dims[1] * p->low[2])) << 2 | p->kind;
  }
  if (setting.flags & (NORMALS | GRADIENTS)) {
    turn_gradient<T, BY_EDGE>(setting, s, p);
  }
  if (setting.flags & NORMALS) {
    put_normal<T>(*p, behind);
  }
  __syncwarp();
  if (setting.flags & AS_FLOAT) {
    store((float *)output.d_points, at, floats, n);
  } else if (setting.flags & AS_DOUBLE) {
    store((double *)output.d_points, at, scratch->triples, n);
  }
  if (setting.flags & NORMALS) {
    store(output.d_normals, at, behind, n);
  }
  if (setting.flags & GRADIENTS) {
    __syncwarp();
    put_gradient<T>(setting.job.frame, *p, behind);
    __syncwarp();
    store(output.d_gradients, at, behind, n);
  }
}

#endif
