/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_isovalue.h"

#include <float.h>
#include <math.h>

static void set_integer_thresholds(pmb_isovalue *iso, pmb_type type)
{
  const double up = ceil(iso->value);
  const double end = type == PMB_INT64 ? 0x1p63 : 0x1p64;
  iso->none = up >= end;
  if (!iso->none) {
    iso->threshold_i64 = up <= -0x1p63 ? INT64_MIN : up >= 0x1p63 ? INT64_MAX : (int64_t)up;
    iso->threshold_u64 = up <= 0 ? 0 : (uint64_t)up;
  }
}

/* Thresholds of 8- and 16-bit samples as integers: beyond the types' range where the isovalue is. */
static void set_small_thresholds(pmb_isovalue *iso)
{
  const int beyond = 100000;
  const float up = ceilf(iso->threshold_f32);
  iso->small_threshold = up > (float)beyond ? beyond : up < (float)-beyond ? -beyond : (int)up;
  iso->small_equal = iso->f32 > (float)-beyond && iso->f32 < (float)beyond ? (int)iso->f32 : beyond;
}

pmb_isovalue pmb_isovalue_make(double value, pmb_type type, int remove_degenerate)
{
  pmb_isovalue iso = { .value = value, .f64 = value, .threshold_f64 = value, .join = remove_degenerate != 0 };
  iso.f32 = value > FLT_MAX ? INFINITY : value < -FLT_MAX ? -INFINITY : (float)value;
  iso.f32_low = isinf(iso.f32) ? 0 : (float)(value - (double)iso.f32);
  iso.threshold_f32 = (double)iso.f32 < value ? nextafterf(iso.f32, INFINITY) : iso.f32;
  set_small_thresholds(&iso);
  if (type == PMB_INT64 || type == PMB_UINT64) {
    set_integer_thresholds(&iso, type);
  }
  /* Integers of up to 32 bits never equal a fraction: no need to look. */
  if (!pmb_type_is_float(type) && !pmb_type_is_wide(type) && iso.f32 != floorf(iso.f32)) {
    iso.join = 0;
  }
  if ((type == PMB_INT32 || type == PMB_UINT32) && value != floor(value)) {
    iso.join = 0;
  }
  return iso;
}
