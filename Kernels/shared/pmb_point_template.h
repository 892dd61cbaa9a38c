/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic of a point, for float and for double; included by pmb_point.h, which sets PMB_REAL. */

/* The place of the isovalue, iso + iso_low, on an edge: 0 at its lower, 1 at its upper sample; NaN (0 / 0) becomes 1. Halves keep
 * the differences of huge samples finite. Other samples are not halved, since denormals would lose a bit. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_edge_parameter)(PMB_REAL lower, PMB_REAL upper, PMB_REAL iso, PMB_REAL iso_low)
{
  const PMB_REAL half = PMB_IS_FINITE(upper - lower) ? (PMB_REAL)1 : (PMB_REAL)0.5;
  const PMB_REAL t = ((iso * half - lower * half) + iso_low * half) / (upper * half - lower * half);
  return t < 1 ? (t > 0 ? t : 0) : 1;
}

/* A component of the gradient at a sample, in sample space; factor: 0.5, or 1 at the volume's border. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_difference)(PMB_REAL below, PMB_REAL above, PMB_REAL factor)
{
  return (above - below) * factor;
}

/* The same by forward differences. upper_border: the sample is the volume's last along the axis. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_forward)(PMB_REAL below, PMB_REAL here, PMB_REAL above, int upper_border)
{
  return upper_border ? here - below : above - here;
}

/* The average of three neighbours with weights 1, 2, 1. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_smooth)(PMB_REAL below, PMB_REAL here, PMB_REAL above)
{
  return (below + above) * (PMB_REAL)0.25 + here * (PMB_REAL)0.5;
}

/* The same by the Sobel operator, from pmb_difference of the 3 x 3 samples across the axis; samples outside the volume repeat
 * its border. d[3 * j + i]: i along the first of the two other axes in the order x, y, z. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_sobel)(const PMB_REAL *d)
{
  return PMB_REAL_NAME(pmb_smooth)(PMB_REAL_NAME(pmb_smooth)(d[0], d[1], d[2]),
    PMB_REAL_NAME(pmb_smooth)(d[3], d[4], d[5]), PMB_REAL_NAME(pmb_smooth)(d[6], d[7], d[8]));
}

PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_lerp)(PMB_REAL a, PMB_REAL b, PMB_REAL t)
{
  return a + t * (b - a);
}

/* Row r of the normal matrix (as REAL) times the index gradient. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_world_gradient)(
  const PMB_REAL *matrix, int r, PMB_REAL gx, PMB_REAL gy, PMB_REAL gz)
{
  return (matrix[3 * r] * gx + matrix[3 * r + 1] * gy) + matrix[3 * r + 2] * gz;
}

PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_length2)(PMB_REAL x, PMB_REAL y, PMB_REAL z)
{
  return (x * x + y * y) + z * z;
}

/* Whether a gradient of this squared length gives an accurate normal; 0 for NaN. */
PMB_INLINE int PMB_REAL_NAME(pmb_length2_good)(PMB_REAL length2)
{
  return length2 > PMB_LENGTH2_MIN && length2 < PMB_LENGTH2_MAX;
}

/* The factor from a gradient to its normal. */
PMB_INLINE PMB_REAL PMB_REAL_NAME(pmb_normal_factor)(PMB_REAL length2)
{
  return (PMB_REAL)-1 / PMB_SQRT(length2);
}

/* Gradient and normal from an index gradient that is very small or large beside the samples' range: the same operations, scaled
 * by powers of two. Scaling does not change bits, so pieces of a volume agree, though their ranges differ. Returns 0 if the
 * gradient is zero or not finite. */
PMB_INLINE int PMB_REAL_NAME(pmb_scaled_point)(
  const pmb_frame *frame, const PMB_REAL g[3], float gradient[3], float normal[3])
{
  PMB_REAL matrix[9], h[3], w[3];
  double scale = 0, length = 0;
  for (int a = 0; a < 3; ++a) {
    if (!PMB_IS_FINITE(g[a])) {
      return 0;
    }
    scale = pmb_larger(scale, (double)g[a]);
  }
  scale = scale > 0 ? pmb_power_of_two(scale) : 1;
  for (int i = 0; i < 9; ++i) {
    matrix[i] = (PMB_REAL)frame->normal[i];
  }
  for (int a = 0; a < 3; ++a) {
    h[a] = (PMB_REAL)((double)g[a] / scale);
  }
  for (int r = 0; r < 3; ++r) {
    w[r] = PMB_REAL_NAME(pmb_world_gradient)(matrix, r, h[0], h[1], h[2]);
    length = pmb_larger(length, (double)w[r]);
  }
  if (!(length > 0)) {
    return 0;
  }
  length = pmb_power_of_two(length);
  for (int r = 0; r < 3; ++r) {
    gradient[r] = pmb_physical_gradient(frame, (double)w[r], scale);
    w[r] = (PMB_REAL)((double)w[r] / length);
  }
  const PMB_REAL factor = PMB_REAL_NAME(pmb_normal_factor)(PMB_REAL_NAME(pmb_length2)(w[0], w[1], w[2]));
  for (int r = 0; r < 3; ++r) {
    normal[r] = (float)(w[r] * factor);
  }
  return 1;
}

#undef PMB_REAL
#undef PMB_REAL_NAME
#undef PMB_LENGTH2_MIN
#undef PMB_LENGTH2_MAX
#undef PMB_SQRT
