/* SPDX-License-Identifier: BSD-3-Clause
 * Interpolation of other point arrays to the points of the mesh: a + t (b - a) in double, then the array's own type,
 * rounded toward zero as vtkPointData does it. */
#include "pmb_cpu.h"

/* One array for n points of a brick; sample: index of the lower sample, step: to the upper one, in tuples. */
#define PMB_ATTRIBUTE(name, type, lowest, highest)                                                             \
  static void name(                                                                                            \
    const pmb_attribute *a, const int64_t *sample, const int64_t *step, const double *t, int n, int64_t first) \
  {                                                                                                            \
    const type *in = a->samples;                                                                               \
    type *out = (type *)a->output + first * a->components;                                                     \
    for (int i = 0; i < n; ++i) {                                                                              \
      for (int c = 0; c < a->components; ++c) {                                                                \
        const double lower = (double)in[sample[i] * a->components + c];                                        \
        const double upper = (double)in[(sample[i] + step[i]) * a->components + c];                            \
        const double value = step[i] ? lower + t[i] * (upper - lower) : lower;                                 \
        *out++ = value <= (lowest) ? (type)(lowest) : value >= (highest) ? (type)(highest) : (type)value;      \
      }                                                                                                        \
    }                                                                                                          \
  }

/* The largest doubles below 2^63 and 2^64 bound the 64-bit types, so that no conversion overflows. */
PMB_ATTRIBUTE(interpolate_int8, int8_t, INT8_MIN, INT8_MAX)
PMB_ATTRIBUTE(interpolate_uint8, uint8_t, 0, UINT8_MAX)
PMB_ATTRIBUTE(interpolate_int16, int16_t, INT16_MIN, INT16_MAX)
PMB_ATTRIBUTE(interpolate_uint16, uint16_t, 0, UINT16_MAX)
PMB_ATTRIBUTE(interpolate_int32, int32_t, INT32_MIN, INT32_MAX)
PMB_ATTRIBUTE(interpolate_uint32, uint32_t, 0, UINT32_MAX)
PMB_ATTRIBUTE(interpolate_int64, int64_t, -0x1p63, 0x1.fffffffffffffp62)
PMB_ATTRIBUTE(interpolate_uint64, uint64_t, 0, 0x1.fffffffffffffp63)
PMB_ATTRIBUTE(interpolate_float32, float, -INFINITY, INFINITY)
PMB_ATTRIBUTE(interpolate_float64, double, -(double)INFINITY, (double)INFINITY)

typedef void (*interpolate)(
  const pmb_attribute *a, const int64_t *sample, const int64_t *step, const double *t, int n, int64_t first);

void pmb_cpu_interpolate_attributes(const pmb_cpu *cpu, const pmb_cpu_record *record, const uint16_t *list,
  const double *parameter, int n, int64_t first)
{
  static const interpolate by_type[] = { interpolate_int8, interpolate_uint8, interpolate_int16, interpolate_uint16,
    interpolate_int32, interpolate_uint32, interpolate_int64, interpolate_uint64, interpolate_float32,
    interpolate_float64 };
  const int64_t *dims = cpu->volume->dims;
  const int64_t steps[PMB_KINDS] = { 1, dims[0], dims[0] * dims[1], 0 };
  int64_t sample[16], step[16];
  for (int l = 0; l < n; ++l) {
    const int code = list[l], row = code >> 7;
    const int64_t i = (int64_t)record->position[0] * PMB_BRICK_X + (code & 31);
    const int64_t j = (int64_t)record->position[1] * PMB_BRICK_Y + (row & 3);
    const int64_t k = (int64_t)record->position[2] * PMB_BRICK_Z + (row >> 2);
    sample[l] = i + dims[0] * (j + dims[1] * k);
    step[l] = steps[code >> 5 & 3];
  }
  for (int64_t a = 0; a < cpu->mesh->attribute_count; ++a) {
    const pmb_attribute *attribute = &cpu->mesh->attributes[a];
    by_type[attribute->type - 1](attribute, sample, step, parameter, n, first);
  }
}
