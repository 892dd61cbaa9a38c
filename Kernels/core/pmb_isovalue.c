/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_isovalue.h"

#include <float.h>
#include <math.h>

pmb_isovalue pmb_isovalue_make(double value, pmb_type type, int remove_degenerate)
{
  pmb_isovalue iso = { .value = value, .join = remove_degenerate != 0 };
  iso.f32 = value > FLT_MAX ? INFINITY : value < -FLT_MAX ? -INFINITY : (float)value;
  iso.f32_low = isinf(iso.f32) ? 0 : (float)(value - (double)iso.f32);
  iso.threshold_f32 = (double)iso.f32 < value ? nextafterf(iso.f32, INFINITY) : iso.f32;
  const float up = ceilf(iso.threshold_f32), beyond = 100000; /* outside the range of 16-bit integers */
  iso.small_threshold = (int)(up > beyond ? beyond : up < -beyond ? -beyond : up);
  iso.small_equal = (int)(iso.f32 > -beyond && iso.f32 < beyond ? iso.f32 : beyond);
  if (type == PMB_INT64 || type == PMB_UINT64) {
    iso.none = ceil(value) >= (type == PMB_INT64 ? 0x1p63 : 0x1p64);
    iso.threshold_i64 = pmb_threshold_int64(&iso);
    iso.threshold_u64 = pmb_threshold_uint64(&iso);
  }
  /* Integers never equal a fraction. */
  const double compared = pmb_type_is_wide(type) ? value : (double)iso.f32;
  if (!pmb_type_is_float(type) && compared != floor(compared)) {
    iso.join = 0;
  }
  return iso;
}
