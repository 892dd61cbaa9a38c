/* SPDX-License-Identifier: BSD-3-Clause
 * An isovalue prepared for comparison with samples of a type: exact for inside(), rounded for "equal". */
#ifndef PMB_ISOVALUE_H
#define PMB_ISOVALUE_H

#include "pmb.h"
#include "shared/pmb_types.h"

typedef struct pmb_isovalue {
  double value;       /* also the threshold of 32-bit integers and float64 */
  float f32, f32_low; /* value = f32 + f32_low, as near as float gets */
  /* Smallest value of the sample's type that is >= value; inside(s) = s >= threshold. */
  float threshold_f32; /* 8- and 16-bit integers and float32 */
  int64_t threshold_i64;
  uint64_t threshold_u64;
  int small_threshold, small_equal; /* of 8- and 16-bit integers: inside and "equal" as comparisons of int */
  int none; /* no brick is active: the value is beyond the type's range, or beyond the volume's */
  int join; /* points on samples equal to the isovalue are joined */
} pmb_isovalue;

/* value: finite. */
pmb_isovalue pmb_isovalue_make(double value, pmb_type type, int remove_degenerate);

/* pmb_threshold_TYPE: the threshold in the samples' own type, of an isovalue that is not `none`.
 * pmb_equal_TYPE: the isovalue in the type in which samples are handled, to compare for equality. */
#define PMB_ISOVALUE_OF(NAME, type, name, real)                                             \
  static inline real pmb_equal_##name(const pmb_isovalue *isovalue)                         \
  {                                                                                         \
    return (real)(sizeof(real) == sizeof(float) ? (double)isovalue->f32 : isovalue->value); \
  }
#define PMB_INTEGER_THRESHOLD(NAME, type, name, real)                   \
  static inline type pmb_threshold_##name(const pmb_isovalue *isovalue) \
  {                                                                     \
    const double up = ceil(isovalue->value);                            \
    return up <= (double)PMB_LOWEST(type) ? PMB_LOWEST(type)            \
      : up >= (double)PMB_HIGHEST(type)   ? PMB_HIGHEST(type)           \
                                          : (type)up;                     \
  }
PMB_SAMPLE_TYPES(PMB_ISOVALUE_OF)
PMB_INTEGER_TYPES(PMB_INTEGER_THRESHOLD)
#undef PMB_ISOVALUE_OF
#undef PMB_INTEGER_THRESHOLD
static inline float pmb_threshold_float32(const pmb_isovalue *isovalue)
{
  return isovalue->threshold_f32;
}
static inline double pmb_threshold_float64(const pmb_isovalue *isovalue)
{
  return isovalue->value;
}

/* 1 if the core handles samples of this type as double, 0 for float. */
static inline int pmb_type_is_wide(pmb_type type)
{
  return type >= PMB_INT32 && type != PMB_FLOAT32;
}

/* 1 for float32 and float64. */
static inline int pmb_type_is_float(pmb_type type)
{
  return type == PMB_FLOAT32 || type == PMB_FLOAT64;
}

#endif
