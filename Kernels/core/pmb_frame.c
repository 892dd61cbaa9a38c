/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_backend.h"

#include <math.h>
#include <string.h>

/* The largest power of two up to the largest magnitude of n values. Scaling by it is exact. */
static double binary_scale(const double *values, int n)
{
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    largest = fabs(values[i]) > largest ? fabs(values[i]) : largest;
  }
  return largest > 0 ? pmb_power_of_two(largest) : 0;
}

/* Cofactor (row, column) of a 3 x 3 matrix; divided by the determinant it is the inverse transpose. */
static double cofactor(double m[3][3], int row, int column)
{
  const int r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
  return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
}

/* Whether pmb_world_diagonal may be used. */
static int is_diagonal(const pmb_frame *frame)
{
  const double *w = frame->to_world;
  int is = w[1] == 0 && w[2] == 0 && w[4] == 0 && w[6] == 0 && w[8] == 0 && w[9] == 0;
  for (int r = 0; r < 3; ++r) {
    is = is && (w[4 * r + 3] != 0 || !signbit(w[4 * r + 3]));
  }
  return is;
}

int pmb_frame_make(const double index_to_world[12], pmb_frame *frame)
{
  static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
  static const double zero[12] = { 0 };
  const double *w = memcmp(index_to_world, zero, sizeof(zero)) == 0 ? identity : index_to_world;
  double m[3][3], column_scale[3];
  if (!pmb_all_finite(w, 12)) {
    return 0;
  }
  memcpy(frame->to_world, w, sizeof(frame->to_world));
  /* Scale columns to about 1, so that spacings of 1e-30 or 1e30 neither underflow nor overflow below. */
  for (int c = 0; c < 3; ++c) {
    const double column[3] = { w[c], w[4 + c], w[8 + c] };
    column_scale[c] = binary_scale(column, 3);
    if (!(column_scale[c] > 1e-150 && column_scale[c] < 1e150)) {
      return 0;
    }
    for (int r = 0; r < 3; ++r) {
      m[r][c] = column[r] / column_scale[c];
    }
  }
  const double determinant = m[0][0] * cofactor(m, 0, 0) + m[0][1] * cofactor(m, 0, 1) + m[0][2] * cofactor(m, 0, 2);
  if (!(fabs(determinant) > 1e-9)) {
    return 0;
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      frame->normal[3 * r + c] = cofactor(m, r, c) / determinant / column_scale[c];
    }
  }
  frame->gradient_scale = binary_scale(frame->normal, 9);
  for (int i = 0; i < 9; ++i) {
    frame->normal[i] = frame->normal[i] / frame->gradient_scale;
  }
  frame->mirrored = determinant < 0;
  frame->diagonal = is_diagonal(frame);
  return 1;
}

int pmb_frame_reverse(pmb_frame *frame)
{
  pmb_frame reversed = *frame;
  pmb_reverse_frame(&reversed);
  reversed.diagonal = is_diagonal(&reversed);
  if (reversed.diagonal) {
    *frame = reversed;
  }
  return reversed.diagonal;
}

void pmb_frame_fit(pmb_frame *frame, pmb_type type, double minimum, double maximum)
{
  const double largest = -minimum > maximum ? -minimum : maximum;
  int exponent = 0;
  if (pmb_type_is_float(type) && largest > 0 && PMB_IS_FINITE(largest)) {
    (void)frexp(largest, &exponent);
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  }
  for (int i = 0; i < 9; ++i) {
    const double scaled = ldexp(frame->normal[i], -exponent);
    frame->matrix_f64[i] = scaled;
    frame->matrix_f32[i] = (float)(scaled > 1e38 ? 1e38 : scaled < -1e38 ? -1e38 : scaled);
  }
  frame->range_scale = ldexp(1.0, exponent);
}
