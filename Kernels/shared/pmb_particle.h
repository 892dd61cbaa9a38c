/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic of particles' kernels. Lengths are in cells. Only + - * / and sqrt of IEEE, see pmb_point.h.
 *
 * A particle is at a whole number of cells and a fraction. A sum goes over the particles in their sorted order. A particle that
 * does not reach a place adds an exact 0 there, so sums do not depend on which further particles take part. */
#ifndef PMB_PARTICLE_H
#define PMB_PARTICLE_H

#include <math.h>
#include <stdint.h>

#include "particles/pmb_particles.h"
#include "shared/pmb_portability.h"

/* Samples of the potential of spheres are at least isovalue - PMB_SPHERES_DEPTH: further away than the diagonal of a cell only
 * the sign matters. */
#define PMB_SPHERES_DEPTH 1.75f

/* How far kernels reach, as a multiple of the smoothing length. */
#define PMB_GAUSSIAN_REACH 3.0f
#define PMB_COMPACT_REACH 2.0f

/* From a particle to a place along an axis. Whole numbers are below 2^24, so that their difference is exact. */
PMB_INLINE float pmb_particle_offset(float whole, float part, float cell, float fraction)
{
  return (whole - cell) + (part - fraction);
}

/* exp(-t) for 0 <= t <= 9, to 4e-6 of it: the power series of exp(-t / 32), squared five times. */
PMB_INLINE float pmb_exp_of_minus(float t)
{
  const float x = t * (-1 / 32.0f);
  const float e1 = 1 + x * (1 + x * (0.5f + x * (1 / 6.0f + x * (1 / 24.0f + x * (1 / 120.0f + x * (1 / 720.0f))))));
  const float e2 = e1 * e1, e4 = e2 * e2, e8 = e4 * e4, e16 = e8 * e8;
  return e16 * e16;
}

PMB_INLINE float pmb_positive(float x)
{
  return x > 0 ? x : 0;
}

/* What pmb_kernel_value takes for a smoothing length in cells. */
PMB_INLINE double pmb_kernel_scale(int kernel, double smoothing_length)
{
  return kernel == PMB_KERNEL_SPLINE ? 1 / smoothing_length : 1 / (smoothing_length * smoothing_length);
}

/* The kernel at a squared distance. */
PMB_INLINE float pmb_kernel_value(const int kernel, float distance2, float scale)
{
  if (kernel == PMB_KERNEL_SPLINE) {
    const float q = sqrtf(distance2) * scale;
    const float outer = pmb_positive(2 - q), inner = pmb_positive(1 - q);
    return outer * outer * outer * 0.25f - inner * inner * inner;
  }
  if (kernel == PMB_KERNEL_GAUSSIAN) {
    const float t = distance2 * scale;
    return pmb_positive(pmb_exp_of_minus(t < 9 ? t : 9) - pmb_exp_of_minus(9));
  }
  const float s = pmb_positive(1 - distance2 * scale * 0.25f);
  return s * s * s;
}

/* The kernel's derivative by distance, divided by distance: times the offset from the particle it is the gradient. */
PMB_INLINE float pmb_kernel_slope(const int kernel, float distance2, float scale)
{
  if (kernel == PMB_KERNEL_SPLINE) {
    const float q = sqrtf(distance2) * scale;
    const float outer = pmb_positive(2 - q), inner = pmb_positive(1 - q);
    return (inner * inner * 3 - outer * outer * 0.75f) * (scale * scale) / (q > 1e-12f ? q : 1e-12f);
  }
  if (kernel == PMB_KERNEL_GAUSSIAN) {
    const float t = distance2 * scale;
    return t < 9 ? pmb_exp_of_minus(t < 9 ? t : 9) * scale * -2 : 0;
  }
  const float s = pmb_positive(1 - distance2 * scale * 0.25f);
  return s * s * scale * -1.5f;
}

/* The sum, or of spheres the greatest, with one more particle. amount: weight, or radius in cells. */
PMB_INLINE float pmb_kernel_add(const int kernel, float sum, float distance2, float scale, float amount)
{
  if (kernel == PMB_KERNEL_SPHERES) {
    const float depth = amount - sqrtf(distance2);
    return depth > sum ? depth : sum;
  }
  return sum + amount * pmb_kernel_value(kernel, distance2, scale);
}

#endif
