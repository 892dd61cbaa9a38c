/* SPDX-License-Identifier: BSD-3-Clause
 * An isovalue made ready for comparison with samples of a type: exact for inside(), rounded for "equal". */
#ifndef PMB_ISOVALUE_H
#define PMB_ISOVALUE_H

#include "pmb.h"

typedef struct pmb_isovalue {
  double value;
  /* Smallest value of the sample's type that is >= value; inside(s) = s >= threshold. */
  float threshold_f32;  /* 8- and 16-bit integers and float32 */
  double threshold_f64; /* 32-bit integers and float64 */
  int64_t threshold_i64;
  uint64_t threshold_u64;
  int none;           /* no brick is active: the value is beyond the type's range, or beyond the volume's */
  float f32, f32_low; /* value = f32 + f32_low, as near as float gets */
  double f64;
  int small_threshold, small_equal; /* for 8- and 16-bit samples as they are: inside is s >= , equal is s == */
  int join;                         /* points on samples equal to the isovalue are joined */
} pmb_isovalue;

/* value: finite. */
pmb_isovalue pmb_isovalue_make(double value, pmb_type type, int remove_degenerate);

/* 1 if the core handles samples of this type as double, 0 for float. */
int pmb_type_is_wide(pmb_type type);

/* 1 for float32 and float64. */
int pmb_type_is_float(pmb_type type);

#endif
