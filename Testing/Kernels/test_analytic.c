/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_analytic.c - errors of a sphere's area, volume and normals fall with the square of the sample distance; points between
 * denormal samples; vanishing differences. */
#include <math.h>

#include "test_util.h"

/* The greatest angle between a normal of a sphere around the origin and the exact one. */
static double normal_error(const test_mesh *m)
{
  double worst = 0;
  for (int64_t n = 0; n < m->sizes.points; n++) {
    double p[3], off = 0;
    mesh_point(m, n, p);
    const double r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (int c = 0; c < 3; c++) off += pow(m->view.normals[3 * n + c] - p[c] / r, 2);
    worst = fmax(worst, 2 * asin(fmin(1, sqrt(off) / 2)));
  }
  return worst;
}

static pmb_measures measures(const test_mesh *m)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_measures got = { .struct_size = sizeof got };
  const pmb_measure_request request = {
    .struct_size = sizeof request, .mesh = &m->view, .parts = &m->sizes, .part_count = 1
  };
  CHECK_STATUS(context, pmb_measure(context, &request, &got), PMB_OK);
  return got;
}

static void converge(pmb_type type)
{
  enum { LEVELS = 4 };
  static const char *const names[3] = { "area", "volume", "normal" };
  const double pi = 3.14159265358979323846;
  double error[3][LEVELS];
  for (int level = 0; level < LEVELS; level++) {
    OWNED_MESH m;
    int64_t n = ((int64_t)16 << level) + 1;
    test_about("%s, %d samples a side", type_name(type), (int)n);
    OWNED_VOLUME v = volume_of_field(type, n, ball);
    mesh_of_volume(&v.view, 0, 1, &m);
    judge_topology(&m, NULL, 1);
    const pmb_measures got = measures(&m);
    CHECK(got.euler == 2 && got.components == 1 && got.closed, "Euler number %lld, %lld components",
      (long long)got.euler, (long long)got.components);
    error[0][level] = fabs(got.area / (4 * pi * 0.49) - 1);
    error[1][level] = fabs(got.volume / (4 * pi / 3 * 0.343) - 1); /* positive: facets face outward */
    error[2][level] = normal_error(&m);
  }
  for (int e = 0; e < 3; e++) {
    double order = log2(error[e][0] / error[e][LEVELS - 1]) / (LEVELS - 1);
    CHECK(order > 1.75 && order < 2.4, "%s converges with order %.3f; errors %g %g %g %g", names[e], order,
      error[e][0], error[e][1], error[e][2], error[e][3]);
    CHECK(error[e][LEVELS - 1] < 2e-3, "%s: error %g at the finest level", names[e], error[e][LEVELS - 1]);
  }
}

static void sphere_converges(void)
{
  converge(PMB_FLOAT32);
  converge(PMB_FLOAT64);
}

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
  CASE(sphere_converges)
  CASE(planes_of_denormals)
  CASE(central_differences_take_over)
)
