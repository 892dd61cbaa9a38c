/* SPDX-License-Identifier: BSD-3-Clause
 * Interpolates other point arrays at the points of the mesh. */
#include "cpu/pmb_cpu.h"
#include "shared/pmb_attribute.h"

/* One array at n points. sample: index of each lower sample; step: distance to the upper one, in tuples. */
#define PMB_ATTRIBUTE(NAME, type, name, real)                                                                  \
  static void interpolate_##name(                                                                              \
    const pmb_attribute *a, const int64_t *sample, const int64_t *step, const double *t, int n, int64_t first) \
  {                                                                                                            \
    const type *in = a->samples;                                                                               \
    type *out = (type *)a->output + first * a->components;                                                     \
    for (int i = 0; i < n; ++i) {                                                                              \
      for (int c = 0; c < a->components; ++c) {                                                                \
        const double lower = (double)in[sample[i] * a->components + c];                                        \
        const double upper = (double)in[(sample[i] + step[i]) * a->components + c];                            \
        *out++ = pmb_nearest_##name(step[i] ? pmb_attribute_value(lower, upper, t[i]) : lower);                \
      }                                                                                                        \
    }                                                                                                          \
  }

PMB_SAMPLE_TYPES(PMB_ATTRIBUTE)

#define PMB_INTERPOLATE(NAME, type, name, real) [PMB_##NAME] = interpolate_##name,
static void (*const by_type[])(const pmb_attribute *a, const int64_t *sample, const int64_t *step, const double *t,
  int n, int64_t first) = { PMB_SAMPLE_TYPES(PMB_INTERPOLATE) };

void pmb_cpu_interpolate_attributes(const pmb_cpu_surface *surface, const pmb_cpu_record *record,
  const uint16_t *list, const double *parameter, int n, int64_t first)
{
  const int64_t *dims = surface->volume->dims;
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
  for (int64_t a = 0; a < surface->mesh->attribute_count; ++a) {
    const pmb_attribute *attribute = &surface->mesh->attributes[a];
    by_type[attribute->type](attribute, sample, step, parameter, n, first);
  }
}
