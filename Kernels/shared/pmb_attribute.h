/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic of other point arrays at a point: interpolates along its edge in double, then rounds to the array's type.
 * Integers are rounded to the nearest, halves away from zero, as in VTK. */
#ifndef PMB_ATTRIBUTE_H
#define PMB_ATTRIBUTE_H

#include <math.h>

#include "shared/pmb_portability.h"
#include "shared/pmb_types.h"

/* lower, upper: at the edge's samples; t: pmb_edge_parameter_f64 for contoured samples of all types, because float would round
 * halves. Uses VTK's order of operations, so that halves are rounded alike. */
PMB_INLINE double pmb_attribute_value(double lower, double upper, double t)
{
  return lower == upper ? lower : lower * (1 - t) + upper * t;
}

/* Adds the largest number below a half: it keeps whole numbers beyond 2^52, and halves are still rounded away from zero, because
 * the sum is rounded. The limits as doubles are the type's or the next number beyond. */
#define PMB_NEAREST(NAME, type, name, real)                                                 \
  PMB_INLINE type pmb_nearest_##name(double value)                                          \
  {                                                                                         \
    const double beside = value + (value < 0 ? -0.49999999999999994 : 0.49999999999999994); \
    return beside <= (double)PMB_LOWEST(type) ? PMB_LOWEST(type)                            \
      : beside >= (double)PMB_HIGHEST(type)   ? PMB_HIGHEST(type)                           \
                                              : (type)beside;                                 \
  }
PMB_INTEGER_TYPES(PMB_NEAREST)
#undef PMB_NEAREST

/* Gives NaN the same bits everywhere: processors differ in which of two NaN they keep, and in the sign of a new one. */
PMB_INLINE float pmb_nearest_float32(double value)
{
  return value == value ? (float)value : NAN;
}
PMB_INLINE double pmb_nearest_float64(double value)
{
  return value == value ? value : (double)NAN;
}

#endif
