/* SPDX-License-Identifier: BSD-3-Clause
 * One sample inside a 3 x 3 x 3 volume: an octahedron. */
#include <pmb.h>
#include <stdio.h>

int main(void)
{
  float samples[27] = { 0 };
  const double isovalue = 0.5;
  pmb_volume volume = { .struct_size = sizeof volume, .samples = samples, .type = PMB_FLOAT32, .dims = { 3, 3, 3 } };
  pmb_request request = { .struct_size = sizeof request, .isovalues = &isovalue, .isovalue_count = 1 };
  pmb_context* context = NULL;
  pmb_sizes sizes = { 0, 0 };
  samples[13] = 1.0f;
  if (pmb_create(NULL, &context) != PMB_OK || pmb_bind(context, &volume) != PMB_OK ||
    pmb_count(context, &request, &sizes, NULL) != PMB_OK)
  {
    printf("core: %s\n", pmb_error(context));
    return 1;
  }
  pmb_destroy(context);
  printf("core: %d points, %d triangles\n", (int)sizes.points, (int)sizes.triangles);
  return sizes.points == 6 && sizes.triangles == 8 ? 0 : 1;
}
