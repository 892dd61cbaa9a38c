/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic of a point: its place on an edge, its gradient and its normal.
 *
 * Uses only + - * / and sqrt of IEEE, compiled without contraction to fused multiply-add, so that every compiler and device
 * gives the same bits. Samples are handled as REAL: float for 8- and 16-bit integers and float32, else double. Normals come
 * from central differences, as in vtkFlyingEdges3D and the PMB paper, section 4.3, or from another estimator. */
#ifndef PMB_POINT_H
#define PMB_POINT_H

#include <math.h>
#include <stdint.h>

#include "shared/pmb_portability.h"

/* False for NaN and both infinities. */
#define PMB_IS_FINITE(x) ((x) - (x) == 0)

/* From sample space to the world, and the samples' magnitude. */
typedef struct pmb_frame {
  double to_world[12];   /* the volume's index_to_world */
  int64_t first[3];      /* the volume's */
  double normal[9];      /* inverse transpose of its 3 x 3 part, times 2^-e so that the largest entry is about 1 */
  double gradient_scale; /* 2^e: gradient = normal matrix * index gradient * gradient_scale */
  int diagonal;          /* pmb_world_diagonal may be used */
  int mirrored;          /* determinant < 0: triangles are wound the other way round */
  /* The normal matrix times 2^-r, r from the samples' range, so that squares of usual gradients neither underflow nor overflow;
   * range_scale = 2^r. */
  float matrix_f32[9];
  double matrix_f64[9];
  double range_scale;
} pmb_frame;

/* Swaps the frame's first row with its last: coordinates and components of gradients come in reverse order. */
PMB_INLINE void pmb_reverse_frame(pmb_frame *frame)
{
  const pmb_frame old = *frame;
  for (int c = 0; c < 4; ++c) {
    frame->to_world[c] = old.to_world[8 + c];
    frame->to_world[8 + c] = old.to_world[c];
  }
  for (int c = 0; c < 3; ++c) {
    frame->normal[c] = old.normal[6 + c];
    frame->normal[6 + c] = old.normal[c];
    frame->matrix_f32[c] = old.matrix_f32[6 + c];
    frame->matrix_f32[6 + c] = old.matrix_f32[c];
    frame->matrix_f64[c] = old.matrix_f64[6 + c];
    frame->matrix_f64[6 + c] = old.matrix_f64[c];
  }
}

PMB_INLINE double pmb_world(const pmb_frame *frame, int axis, double x, double y, double z)
{
  const double *m = frame->to_world + 4 * axis;
  return ((m[0] * x + m[1] * y) + m[2] * z) + m[3];
}

/* The same bits where to_world has zeros beside its diagonal and an origin without -0: it leaves out products that are zeros,
 * which could only change the sign of a zero. */
PMB_INLINE double pmb_world_diagonal(double spacing, double origin, double index)
{
  return spacing * index + origin;
}

/* A component of a gradient in physical units, from the product of the normal matrix with the gradient of samples divided by
 * `range`, a power of two. Multiplies in two steps, so that only results beyond float overflow; these are clamped. */
PMB_INLINE float pmb_physical_gradient(const pmb_frame *frame, double product, double range)
{
  const double gradient = product * range * frame->gradient_scale;
  return (float)(gradient > 3e38 ? 3e38 : gradient < -3e38 ? -3e38 : gradient);
}

/* A sample and its neighbours. Those outside the volume repeat the center; factor[a] is then 1, else 0.5. */
typedef struct pmb_stencil {
  double center, below[3], above[3], factor[3];
} pmb_stencil;

PMB_INLINE double pmb_larger(double a, double b)
{
  b = b < 0 ? -b : b;
  return PMB_IS_FINITE(b) && b > a ? b : a;
}

/* The largest power of two up to a positive number. Scaling by it is exact. */
PMB_INLINE double pmb_power_of_two(double x)
{
  int exponent;
  (void)frexp(x, &exponent);
  return ldexp(1.0, exponent - 1);
}

/* C names functions *_f32 and *_f64; CUDA overloads them. */
#if defined(__cplusplus)
extern "C++" {
#define PMB_NAME_F32(name) name
#define PMB_NAME_F64(name) name
#else
#define PMB_NAME_F32(name) name##_f32
#define PMB_NAME_F64(name) name##_f64
#endif

#define PMB_REAL float
#define PMB_REAL_NAME PMB_NAME_F32
#define PMB_LENGTH2_MIN 1e-24f
#define PMB_LENGTH2_MAX 1e24f
#define PMB_SQRT sqrtf
#include "shared/pmb_point_template.h"

#define PMB_REAL double
#define PMB_REAL_NAME PMB_NAME_F64
#define PMB_LENGTH2_MIN 1e-200
#define PMB_LENGTH2_MAX 1e200
#define PMB_SQRT sqrt
#include "shared/pmb_point_template.h"

#if defined(__cplusplus)
}
#endif

/* Largest finite magnitude in a stencil, at least `least`. */
PMB_INLINE double pmb_stencil_magnitude(const pmb_stencil *s, double least)
{
  double m = pmb_larger(least, s->center);
  for (int a = 0; a < 3; ++a) {
    m = pmb_larger(pmb_larger(m, s->below[a]), s->above[a]);
  }
  return m;
}

/* A component of the index gradient of samples / magnitude, from finite neighbours only. */
PMB_INLINE double pmb_careful_difference(const pmb_stencil *s, int axis, double magnitude)
{
  const int has_below = PMB_IS_FINITE(s->below[axis]);
  const int has_above = PMB_IS_FINITE(s->above[axis]);
  const double center = s->center / magnitude;
  const double below = has_below ? s->below[axis] / magnitude : center;
  const double above = has_above ? s->above[axis] / magnitude : center;
  return (above - below) * (has_below && has_above ? s->factor[axis] : 1.0);
}

/* The direction to the first neighbour with another value, for samples whose differences cancel. */
PMB_INLINE void pmb_fallback_gradient(const pmb_stencil *s, double gradient[3])
{
  gradient[0] = gradient[1] = gradient[2] = 0;
  for (int i = 0; i < 6; ++i) { /* above, then below */
    const double beside = i < 3 ? s->above[i] : s->below[i - 3];
    if (PMB_IS_FINITE(beside) && beside != s->center) {
      gradient[i % 3] = (beside > s->center) == (i < 3) ? 1 : -1;
      return;
    }
  }
  gradient[0] = 1;
}

/* Gradient and normal of a point whose index gradient is zero or not finite. axis: of the point's edge; 3 for a point on a
 * sample, where upper is lower. */
PMB_INLINE void pmb_careful_point(const pmb_frame *frame, const pmb_stencil *lower, const pmb_stencil *upper,
  int axis, double t, float gradient[3], float normal[3])
{
  const double magnitude = pmb_power_of_two(pmb_stencil_magnitude(upper, pmb_stencil_magnitude(lower, 1e-300)));
  double g[3], world[3], largest = 0, length = 0;
  for (int a = 0; a < 3; ++a) {
    const double low = pmb_careful_difference(lower, a, magnitude);
    const double high = pmb_careful_difference(upper, a, magnitude);
    g[a] = low + t * (high - low);
  }
  for (int r = 0; r < 3; ++r) {
    const double w = PMB_NAME_F64(pmb_world_gradient)(frame->normal, r, g[0], g[1], g[2]);
    gradient[r] = pmb_physical_gradient(frame, w, magnitude);
  }
  if (g[0] == 0 && g[1] == 0 && g[2] == 0) {
    pmb_fallback_gradient(lower, g);
    if (axis < 3) {
      g[0] = g[1] = g[2] = 0;
      g[axis] = upper->center >= lower->center ? 1 : -1;
    }
  }
  for (int r = 0; r < 3; ++r) {
    world[r] = PMB_NAME_F64(pmb_world_gradient)(frame->normal, r, g[0], g[1], g[2]);
    largest = pmb_larger(largest, world[r]);
  }
  for (int r = 0; r < 3; ++r) {
    world[r] = largest > 0 ? world[r] / largest : r == 0;
    length = length + world[r] * world[r];
  }
  for (int r = 0; r < 3; ++r) {
    normal[r] = (float)(-world[r] / sqrt(length));
  }
}

#endif
