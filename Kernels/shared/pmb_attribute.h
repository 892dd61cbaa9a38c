/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic that decides the values of other point arrays at a point: between both ends of its edge, in double, then in
 * the array's own type. Integers are rounded to the nearest, halves away from zero, as VTK does it. */
#ifndef PMB_ATTRIBUTE_H
#define PMB_ATTRIBUTE_H

#include <math.h>
#include <stdint.h>

#include "shared/pmb_portability.h"
#include "shared/pmb_types.h"

/* lower and upper: at the edge's samples; t: pmb_edge_parameter_f64, for contoured samples of every type, because what is half
 * in double need not be so in float. In VTK's order of operations, so that halves are rounded the same way; equal values stay. */
PMB_INLINE double pmb_attribute_value(double lower, double upper, double t)
{
  return lower == upper ? lower : lower * (1 - t) + upper * t;
}

/* What is added is the largest number below a half: whole numbers beyond 2^52 stay what they are, and halves still get there,
 * because the sum is rounded. The limits as doubles are those of the type or the next number beyond. */
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

/* NaN gets the same bits everywhere: which of two NaN a processor keeps, and the sign of a new one, differ. */
PMB_INLINE float pmb_nearest_float32(double value)
{
  return value == value ? (float)value : NAN;
}
PMB_INLINE double pmb_nearest_float64(double value)
{
  return value == value ? value : (double)NAN;
}

#endif
