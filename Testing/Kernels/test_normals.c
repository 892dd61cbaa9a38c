/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_normals.c - the estimators of normals and gradients on known fields. (Against their definition: test_reference.c.) */
#include <math.h>
#include <stdio.h>

#include "test_util.h"

enum { ESTIMATORS = 3 };
static const char *const names[ESTIMATORS] = { "central", "forward", "Sobel" };

/* Forward differences and Sobel can vanish where central differences do not, which then take over. */
static void central_differences_take_over(void)
{
  static const float row[] = { 0, 0, 1, 1, 1 };
  const double isovalue = 1;
  test_volume v;
  test_mesh m;
  volume_make(&v, PMB_FLOAT32, 5, 3, 3, LAYOUT_PACKED);
  for (int n = 0; n < 45; n++) volume_put(&v, n, row[n % 5]);
  pmb_context *context = context_new(1, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
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
  pmb_destroy(context);
  volume_free(&v);
}

/* A linear field of small integers: no rounding at all, at borders and corners as well. */
static void linear_field_is_exact(void)
{
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int estimator = 0; estimator < ESTIMATORS; estimator++) {
      const double isovalue = 31.25;
      test_volume v;
      test_mesh m;
      pmb_context *context = context_new(2, NULL);
      volume_make(&v, (pmb_type)type, 34, 6, 9, LAYOUT_PACKED);
      for (int64_t s = 0; s < 34 * 6 * 9; s++)
        volume_put(&v, s, (double)(2 * (s % 34) + 3 * (s / 34 % 6) - s / (34 * 6) + 8));
      test_about("%s, %s", type_name((pmb_type)type), names[estimator]);
      CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
      CHECK_STATUS(context,
        mesh_extract_by(context, (pmb_gradient_estimator)estimator, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m),
        PMB_OK);
      CHECK(m.sizes.points > 100, "%lld points", (long long)m.sizes.points);
      for (int64_t n = 0; n < m.sizes.points && test_failures() < 9; n++) {
        const float *g = m.view.gradients + 3 * n;
        CHECK(g[0] == 2 && g[1] == 3 && g[2] == -1, "gradient %lld: (%.9g, %.9g, %.9g)", (long long)n, (double)g[0],
          (double)g[1], (double)g[2]);
      }
      mesh_free(&m);
      volume_free(&v);
      pmb_destroy(context);
    }
}

/* Mean angle in degrees between the normals of a sampled sphere and the exact ones; noise: of a sample, in samples. */
static void sphere_errors(int64_t n, double noise, double error[ESTIMATORS])
{
  test_volume v;
  test_rng rng = { 84 };
  volume_sampled(&v, PMB_FLOAT32, n, ball);
  float *samples = v.memory;
  for (int64_t s = 0; s < n * n * n; s++) samples[s] += (float)(noise * rng_real(&rng, -1, 1) * 2 / (double)(n - 1));
  pmb_context *context = context_new(2, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  for (int e = 0; e < ESTIMATORS; e++) {
    const double isovalue = 0;
    test_mesh m;
    CHECK_STATUS(context,
      mesh_extract_by(context, (pmb_gradient_estimator)e, &isovalue, 1, 1, PMB_FLOAT64, PMB_INT32, &m), PMB_OK);
    error[e] = 0;
    for (int64_t p = 0; p < m.sizes.points; p++) {
      double x[3], off = 0;
      mesh_point(&m, p, x);
      for (int c = 0; c < 3; c++)
        off += pow(m.view.normals[3 * p + c] - x[c] / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 2);
      error[e] += 2 * asin(fmin(1, sqrt(off) / 2)) * 57.29577951308232 / (double)m.sizes.points;
    }
    mesh_free(&m);
  }
  pmb_destroy(context);
  volume_free(&v);
}

/* Without noise forward differences are of first order, the others of second and about as exact; with noise Sobel is best. */
static void sphere_tells_them_apart(void)
{
  double coarse[ESTIMATORS], fine[ESTIMATORS], noisy[ESTIMATORS];
  sphere_errors(17, 0, coarse);
  sphere_errors(65, 0, fine);
  sphere_errors(65, 0.3, noisy);
  for (int e = 0; e < ESTIMATORS; e++) {
    const double order = log2(coarse[e] / fine[e]) / 2;
    printf("  %s: %.3f degrees at 17 samples a side, %.3f at 65, %.2f at 65 with noise\n", names[e], coarse[e],
      fine[e], noisy[e]);
    CHECK(
      e == PMB_FORWARD ? order > 0.8 && order < 1.2 : order > 1.8 && order < 2.3, "%s: order %.2f", names[e], order);
  }
  CHECK(fabs(fine[PMB_SOBEL] / fine[PMB_CENTRAL] - 1) < 0.3 && 50 * fine[PMB_CENTRAL] < fine[PMB_FORWARD],
    "without noise");
  CHECK(noisy[PMB_SOBEL] < 0.7 * noisy[PMB_CENTRAL] && noisy[PMB_CENTRAL] < 0.7 * noisy[PMB_FORWARD], "with noise");
}

/* clang-format off */
TEST_MAIN(
  CASE(central_differences_take_over)
  CASE(linear_field_is_exact)
  CASE(sphere_tells_them_apart)
)
