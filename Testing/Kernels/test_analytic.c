/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_analytic.c - points between denormal samples; vanishing differences. */
#include <math.h>

#include "test_util.h"

/* A plane across x in denormal numbers, which lose bits when halved. */
static void plane_of_denormals(pmb_type type, const char *path, double sign)
{
  const double least = type == PMB_FLOAT32 ? 0x1p-149 : 0x1p-1074, step = 7 * least, isovalue = sign * 101 * least;
  OWNED_CONTEXT context = context_new(1, path);
  OWNED_MESH m;
  OWNED_VOLUME v = volume_of(type, 40, 6, 6, LAYOUT_PACKED);
  for (int i = 0; i < 40 * 6 * 6; i++) volume_put(&v, i, sign * step * (i % 40));
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 0, PMB_FLOAT64, PMB_INT64, &m), PMB_OK);
  CHECK(m.sizes.points == 36, "%lld points", (long long)m.sizes.points);
  for (int64_t n = 0; n < m.sizes.points; n++) {
    const double x = ((const double *)m.view.points)[3 * n];
    CHECK(fabs(x - 101. / 7) < 1e-6, "%s, %s: at %.9g, not %.9g", type_name(type), path, x, 101. / 7);
  }
}

static void planes_of_denormals(void)
{
  static const char *const paths[] = { "reference", "portable", NULL };
  for (int n = 0; n < 3; n++)
    for (double sign = -1; sign < 2; sign += 2) {
      plane_of_denormals(PMB_FLOAT32, paths[n], sign);
      plane_of_denormals(PMB_FLOAT64, paths[n], sign);
    }
}

/* Central differences replace forward differences that vanish. */
static void central_differences_take_over(void)
{
  static const float row[] = { 0, 0, 1, 1, 1 };
  const double isovalue = 1;
  test_mesh m;
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, 5, 3, 3, LAYOUT_PACKED);
  for (int n = 0; n < 45; n++) volume_put(&v, n, row[n % 5]);
  OWNED_CONTEXT context = bound_context(1, &v.view);
  for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++) {
    CHECK_STATUS(context,
      mesh_extract_by(context, PMB_FORWARD, &isovalue, 1, remove_degenerate, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
    CHECK(m.sizes.points == 9, "%lld points", (long long)m.sizes.points);
    for (int64_t n = 0; n < m.sizes.points; n++) {
      const float *g = m.view.gradients + 3 * n, *normal = m.view.normals + 3 * n;
      CHECK(
        g[0] == 0.5f && g[1] == 0 && g[2] == 0, "gradient (%g, %g, %g)", (double)g[0], (double)g[1], (double)g[2]);
      CHECK(normal[0] == -1 && normal[1] == 0 && normal[2] == 0, "normal (%g, %g, %g)", (double)normal[0],
        (double)normal[1], (double)normal[2]);
    }
    mesh_free(&m);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(planes_of_denormals)
  CASE(central_differences_take_over)
)
