/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic of a point on the device, by the sample's type, for pass vertices. */
#ifndef PMB_CUDA_VERTICES_POINT_CUH
#define PMB_CUDA_VERTICES_POINT_CUH

#include "cuda/pmb_cuda_common.cuh"

/* Flags of the output. */
enum {
  PMB_CUDA_AS_FLOAT = 1, /* places */
  PMB_CUDA_AS_DOUBLE = 2,
  PMB_CUDA_NORMALS = 4,
  PMB_CUDA_GRADIENTS = 8,
  PMB_CUDA_PARAMETERS = 16,
  PMB_CUDA_DIAGONAL = 32,                                                   /* the frame is diagonal */
  PMB_CUDA_USUAL = PMB_CUDA_AS_FLOAT | PMB_CUDA_NORMALS | PMB_CUDA_DIAGONAL /* has its own kernels */
};

/* ---- the arithmetic of pmb_point_template.h by type ---- */

static __device__ __forceinline__ float edge_parameter(const pmb_isovalue &iso, float lower, float upper)
{
  return pmb_edge_parameter(lower, upper, iso.f32, iso.f32_low);
}
static __device__ __forceinline__ double edge_parameter(const pmb_isovalue &iso, double lower, double upper)
{
  return pmb_edge_parameter(lower, upper, iso.value, 0.0);
}

/* pmb_edge_parameter_f32 without halves, and without the slow path of the division, which is a call. *good: no step is near the
 * limits of float, so the result is the same, and correctly rounded. */
static __device__ __forceinline__ float fast_parameter(const pmb_isovalue &iso, float lower, float upper, int *good)
{
  const float over = (iso.f32 - lower) + iso.f32_low, under = upper - lower;
  const float size = fabsf(under), part = fabsf(over);
  float t;
  *good = size > 2e-18f && size < 2e18f && (part > 2e-18f || part == 0);
#if defined(__CUDA_ARCH__)
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(under));
  reciprocal = __fmaf_rn(reciprocal, __fmaf_rn(-under, reciprocal, 1.0f), reciprocal);
  t = over * reciprocal;
  t = __fmaf_rn(reciprocal, __fmaf_rn(-under, t, over), t);
  /* rounds correctly, and clamps to [+0, 1] */
  asm("fma.rn.sat.f32 %0, %1, %2, %0;" : "+f"(t) : "f"(reciprocal), "f"(__fmaf_rn(-under, t, over)));
  return t;
#else
  t = over / under;
  return t < 1 ? (t > 0 ? t : 0) : 1;
#endif
}
static __device__ __forceinline__ double fast_parameter(
  const pmb_isovalue &iso, double lower, double upper, int *good)
{
  *good = 1;
  return edge_parameter(iso, lower, upper);
}

static __device__ __forceinline__ double normal_factor(double length2)
{
  return pmb_normal_factor(length2);
}
/* pmb_normal_factor_f32, also correctly rounded, by Newton steps from the hardware's estimates. It lacks the range checks of sqrtf
 * and of the division, which good lengths do not need; others are not used. Compared for all good floats. */
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
  return pmb_normal_factor(length2);
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
/* Adds two exact products with zero to a third: the bits of pmb_world_gradient, also for the sign of a zero and for NaN from an
 * infinity. */
template <class R> static __device__ __forceinline__ R add_zeros(R m0, R g0, R m1, R g1, R sum)
{
  return fma(m1, g1, fma(m0, g0, sum));
}

/* From the index gradient to the gradient in the world. */
template <class R>
static __device__ __forceinline__ void turn_gradient(const pmb_frame &frame, int flags, const R *g, R *world)
{
  const R *m = matrix_of(frame, R());
  if (flags & PMB_CUDA_DIAGONAL) {
    world[0] = add_zeros(m[1], g[1], m[2], g[2], m[0] * g[0]);
    world[1] = add_zeros(m[3], g[0], m[5], g[2], m[4] * g[1]);
    world[2] = add_zeros(m[6], g[0], m[7], g[1], m[8] * g[2]);
  } else {
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      world[r] = pmb_world_gradient(m, r, g[0], g[1], g[2]);
    }
  }
}

/* Adds t to a place if the edge is along this axis. In assembler, since the compiler would always add and then select. */
static __device__ __forceinline__ double add_along(double place, double t, int kind, int axis)
{
#if defined(__CUDA_ARCH__)
  if (kind == axis) {
    asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(place) : "d"(t));
  }
  return place;
#else
  return kind == axis ? place + t : place;
#endif
}

/* The world coordinates of a point; low: its edge's lower sample. */
static __device__ __forceinline__ void place_point(
  const pmb_frame &frame, int flags, const int *low, int kind, double t, double *w)
{
  double x[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    x[a] = add_along((double)(low[a] + (int)frame.first[a]), t, kind, a);
  }
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    w[r] = flags & PMB_CUDA_DIAGONAL ? pmb_world_diagonal(frame.to_world[5 * r], frame.to_world[4 * r + 3], x[r])
                                     : pmb_world(&frame, r, x[0], x[1], x[2]);
  }
}

/* ---- the careful way ---- */

/* The sample at a place, NaN if it is hidden. Places outside the volume repeat its border. */
template <class T>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type read_sample(
  const pmb_cuda_job &job, int i, int j, int k)
{
  typedef typename pmb_cuda_real<T>::type real;
  const T *d_samples = (const T *)job.d_samples;
  i = pmb_cuda_clamp(i, job.dims[0]);
  j = pmb_cuda_clamp(j, job.dims[1]);
  k = pmb_cuda_clamp(k, job.dims[2]);
  return pmb_cuda_hides_sample(job, i, j, k) ? (real)NAN : (real)d_samples[pmb_cuda_place(job, i, j, k)];
}

/* The factor of pmb_difference. */
template <class R> static __device__ __forceinline__ R factor_at(const pmb_cuda_job &job, const int *place, int axis)
{
  return place[axis] <= 0 || place[axis] >= job.dims[axis] - 1 ? (R)1 : (R)0.5;
}

/* The neighbourhood of a sample; neighbours outside the volume repeat it. */
template <class T> static __device__ pmb_stencil stencil_of(const pmb_cuda_job &job, const int *place)
{
  pmb_stencil stencil;
  stencil.center = (double)read_sample<T>(job, place[0], place[1], place[2]);
  for (int a = 0; a < 3; ++a) {
    const int x = a == 0, y = a == 1, z = a == 2;
    stencil.below[a] = (double)read_sample<T>(job, place[0] - x, place[1] - y, place[2] - z);
    stencil.above[a] = (double)read_sample<T>(job, place[0] + x, place[1] + y, place[2] + z);
    stencil.factor[a] = factor_at<double>(job, place, a);
  }
  return stencil;
}

/* Gradient and normal by pmb_scaled_point, or else by pmb_careful_point, in the order of the volume's own frame; rare. low, kind: the
 * edge's lower sample and axis; g: the index gradient. */
template <class T, class R>
static __device__ __noinline__ void careful_point(
  const pmb_cuda_job &job, const int *low, int kind, double t, const R *g, float *gradient, float *normal)
{
  pmb_frame frame = job.frame;
  if (job.reversed) {
    pmb_reverse_frame(&frame);
  }
  if (pmb_scaled_point(&frame, g, gradient, normal)) {
    return;
  }
  const int high[3] = { low[0] + (kind == 0), low[1] + (kind == 1), low[2] + (kind == 2) };
  const pmb_stencil lower = stencil_of<T>(job, low), upper = stencil_of<T>(job, high);
  pmb_careful_point(&frame, &lower, &upper, kind, t, gradient, normal);
}

#endif
