/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_normals.c - the estimators of normals and gradients: against their definition, on known fields, at borders, beside
 * samples that are not finite, and the same bytes however they are computed. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test_util.h"

enum { ESTIMATORS = 3 };
static const char *const names[ESTIMATORS] = { "central", "forward", "Sobel" };

/* ---- the definition, once more ---- */

/* What an estimator says, the size of what it adds up, and whether all that it reads is finite. */
typedef struct estimate {
  long double g[3], size[3];
  int finite;
} estimate;

static double at(const pmb_volume *v, const int64_t s[3], int a, int64_t i, int b, int64_t j, int c, int64_t k)
{
  int64_t p[3] = { s[0], s[1], s[2] };
  p[a] += i;
  p[b] += j;
  p[c] += k;
  for (int x = 0; x < 3; x++) p[x] = p[x] < 0 ? 0 : p[x] >= v->dims[x] ? v->dims[x] - 1 : p[x];
  return ref_sample(v, p[0], p[1], p[2]);
}

/* Adds weight * (high - low) / steps along axis a. */
static void add(estimate *e, int a, double low, double high, int steps, double weight)
{
  e->finite &= isfinite(low) && isfinite(high);
  e->g[a] += weight * ((long double)high - low) / steps;
  e->size[a] += weight * (fabs(low) + fabs(high));
}

static estimate estimate_at(const pmb_volume *v, pmb_gradient_estimator estimator, const int64_t s[3])
{
  estimate e = { .finite = 1 };
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3, first = s[a] == 0, last = s[a] == v->dims[a] - 1;
    if (estimator == PMB_FORWARD) {
      add(&e, a, at(v, s, a, -last, b, 0, c, 0), at(v, s, a, !last, b, 0, c, 0), 1, 1);
      continue;
    }
    const int reach = estimator == PMB_SOBEL;
    for (int j = -reach; j <= reach; j++)
      for (int k = -reach; k <= reach; k++)
        add(&e, a, at(v, s, a, -!first, b, j, c, k), at(v, s, a, !last, b, j, c, k), 2 - first - last,
          reach ? (2 - abs(j)) * (2 - abs(k)) / 16.0 : 1);
  }
  return e;
}

/* Between the ends of a point's edge. */
static estimate estimate_of(const ref_mesh *r, pmb_gradient_estimator estimator, int64_t point)
{
  int64_t a[3], b[3];
  ref_ends(r, point, a, b);
  estimate low = estimate_at(&r->volume, estimator, a), high = estimate_at(&r->volume, estimator, b);
  for (int c = 0; c < 3; c++) {
    low.g[c] += r->t[point] * (high.g[c] - low.g[c]);
    low.size[c] += high.size[c];
  }
  low.finite &= high.finite;
  return low;
}

/* Solves transpose(3 x 3 part of w) * x = y. */
static void to_world(const double *w, const long double y[3], double x[3])
{
  long double m[3][4];
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) m[r][c] = w[4 * c + r];
    m[r][3] = y[r];
  }
  for (int n = 0; n < 3; n++) /* Gauss and Jordan; the diagonal is the largest */
    for (int r = 0; r < 3; r++) {
      long double factor = m[r][n] / m[n][n];
      for (int c = 0; r != n && c < 4; c++) m[r][c] -= factor * m[n][c];
    }
  for (int n = 0; n < 3; n++) x[n] = (double)(m[n][3] / m[n][n]);
}

static double norm(const double v[3])
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static int is_near(const float *got, const double *want, double tolerance)
{
  return fabs(got[0] - want[0]) <= tolerance && fabs(got[1] - want[1]) <= tolerance &&
    fabs(got[2] - want[2]) <= tolerance;
}

/* Returns whether the point's gradient is large enough to be judged, and the estimator's own. */
static int judge_point(const test_mesh *m, const ref_mesh *r, pmb_gradient_estimator estimator, int64_t n)
{
  const float *got = m->view.gradients + 3 * n, *normal = m->view.normals + 3 * n;
  const estimate e = estimate_of(r, estimator, n);
  double want[3], spread[3], central[3], slack[3];
  double unit[3] = { normal[0], normal[1], normal[2] };
  CHECK(fabs(norm(unit) - 1) < 1e-5, "normal %lld: (%g, %g, %g)", (long long)n, unit[0], unit[1], unit[2]);
  if (r->t_slack[n] > 0) return 0;
  ref_gradient(r, n, central, slack);
  to_world(r->volume.index_to_world, e.g, want);
  to_world(r->volume.index_to_world, e.size, spread);
  if (!e.finite) memcpy(want, central, sizeof want);
  double rounding = 2e-6 * (e.finite ? norm(spread) : 0) + 2e-6 * norm(slack) + FLT_MIN, size = norm(want);
  if (!(size > 100 * rounding)) { /* may be zero: then central differences take over */
    CHECK(is_near(got, want, rounding) || is_near(got, central, rounding), "gradient %lld: (%g, %g, %g)",
      (long long)n, (double)got[0], (double)got[1], (double)got[2]);
    return 0;
  }
  CHECK(is_near(got, want, rounding), "gradient %lld: (%.9g, %.9g, %.9g), not (%.9g, %.9g, %.9g)", (long long)n,
    (double)got[0], (double)got[1], (double)got[2], want[0], want[1], want[2]);
  for (int c = 0; c < 3; c++) want[c] /= -size;
  CHECK(is_near(normal, want, 1e-5 + 4 * rounding / size), "normal %lld: (%g, %g, %g), not (%g, %g, %g)",
    (long long)n, unit[0], unit[1], unit[2], want[0], want[1], want[2]);
  return e.finite;
}

/* Meshes of a volume by all estimators, both settings of remove_degenerate. Returns the points judged in full. */
static int64_t judge_volume(const test_volume *v, double isovalue)
{
  pmb_context *context = context_new(2, NULL);
  int64_t judged = 0;
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  for (int n = 0; n < 2 * ESTIMATORS && test_failures() < 50; n++) {
    const pmb_gradient_estimator estimator = (pmb_gradient_estimator)(n / 2);
    test_mesh m;
    ref_mesh *r = ref_extract(&v->view, isovalue, n % 2);
    CHECK_STATUS(
      context, mesh_extract_by(context, estimator, &isovalue, 1, n % 2, PMB_FLOAT64, PMB_INT32, &m), PMB_OK);
    if (CHECK(m.sizes.points == r->points, "%lld points, not %lld", (long long)m.sizes.points, (long long)r->points))
      for (int64_t p = 0; p < r->points; p++) judged += judge_point(&m, r, estimator, p);
    ref_free(r);
    mesh_free(&m);
  }
  pmb_destroy(context);
  return judged;
}

/* Sizes around those of bricks, and the least that there are. */
static const int64_t sizes[][3] = { { 2, 2, 2 }, { 33, 5, 5 }, { 34, 6, 6 }, { 32, 4, 4 }, { 2, 9, 13 }, { 70, 2, 9 },
  { 9, 10, 2 }, { 66, 9, 9 } };
enum { SIZES = sizeof sizes / sizeof *sizes };

static void every_type_by_the_definition(void)
{
  test_rng rng = { 81 };
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++) {
    int64_t judged = 0;
    for (int n = 0; n < 3 * SIZES; n += TEST_SLOW ? 5 : 1) {
      static const int data[] = { DATA_NOISE, DATA_SMOOTH, DATA_PLATEAU };
      test_volume v;
      volume_make(&v, (pmb_type)type, sizes[n % SIZES][0], sizes[n % SIZES][1], sizes[n % SIZES][2], n % LAYOUTS);
      volume_fill(&v, data[n / SIZES], &rng);
      volume_world(&v, (n + type) % (WORLD_SHEARED + 1), &rng);
      test_about("%s, size %d, data %d", type_name((pmb_type)type), n % SIZES, data[n / SIZES]);
      judged += judge_volume(&v, volume_isovalue(&v, &rng));
      volume_free(&v);
    }
    CHECK(judged > 1000, "%s: only %lld points judged", type_name((pmb_type)type), (long long)judged);
  }
}

/* Beside NaN and infinities: the estimator where it reads none, central differences of the finite samples elsewhere. */
static void beside_samples_that_are_not_finite(void)
{
  test_rng rng = { 82 };
  int64_t judged = 0;
  for (int n = 0; n < 16; n += TEST_SLOW ? 3 : 1) {
    test_volume v;
    volume_make(&v, n % 2 ? PMB_FLOAT32 : PMB_FLOAT64, 67, 10, 11, LAYOUT_PACKED);
    volume_fill(&v, n / 2 % 2 ? DATA_NOISE : DATA_SMOOTH, &rng);
    volume_sprinkle(&v, 20 + 30 * (n % 3), &rng);
    volume_world(&v, n % (WORLD_SHEARED + 1), &rng);
    test_about("%s, volume %d", type_name(v.view.type), n);
    judged += judge_volume(&v, volume_isovalue(&v, &rng));
    volume_free(&v);
  }
  CHECK(judged > 1000, "only %lld points judged", (long long)judged);
}

/* Forward differences and Sobel can vanish where central differences do not, which then take over. */
static void central_differences_take_over(void)
{
  static const float row[] = { 0, 0, 1, 1, 1 };
  const double isovalue = 1;
  test_volume v;
  test_mesh m;
  volume_make(&v, PMB_FLOAT32, 5, 3, 3, LAYOUT_PACKED);
  for (int n = 0; n < 45; n++) volume_set(&v, n % 5, n / 5 % 3, n / 15, row[n % 5]);
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

/* Data at the limits of their type, any transform: normals are finite and of unit length, gradients not NaN. */
static void limits_of_every_type(void)
{
  test_rng rng = { 83 };
  for (int n = 0; n < (TEST_SLOW ? 20 : 120); n++) {
    const pmb_type type = (pmb_type)(PMB_INT8 + n % 10);
    const double isovalue = n % 3 ? 0.5 : 1;
    test_volume v;
    test_mesh m;
    pmb_context *context = context_new(1, NULL);
    volume_make(&v, type, 35, 6, 7, LAYOUT_PACKED);
    volume_fill(&v, DATA_LIMITS, &rng);
    volume_world(&v, n / 10 % WORLDS, &rng);
    if (n % 4 == 3) volume_sprinkle(&v, 10, &rng);
    test_about("%s, volume %d", type_name(type), n);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context,
      mesh_extract_by(context, n % 2 ? PMB_SOBEL : PMB_FORWARD, &isovalue, 1, n / 2 % 2, PMB_FLOAT32, PMB_INT32, &m),
      PMB_OK);
    for (int64_t p = 0; p < m.sizes.points; p++) {
      const float *g = m.view.gradients + 3 * p, *normal = m.view.normals + 3 * p;
      const double unit[3] = { normal[0], normal[1], normal[2] };
      CHECK(fabs(norm(unit) - 1) < 1e-5, "normal %lld: (%g, %g, %g)", (long long)p, unit[0], unit[1], unit[2]);
      CHECK(!isnan(g[0] + g[1] + g[2]), "gradient %lld", (long long)p);
    }
    mesh_free(&m);
    volume_free(&v);
    pmb_destroy(context);
  }
}

/* ---- known fields ---- */

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
      for (int64_t k = 0; k < 9; k++)
        for (int64_t j = 0; j < 6; j++)
          for (int64_t i = 0; i < 34; i++) volume_set(&v, i, j, k, (double)(2 * i + 3 * j - k + 8));
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

static double sphere(double x, double y, double z)
{
  return 0.7 - sqrt(x * x + y * y + z * z);
}

/* Mean angle in degrees between the normals of a sampled sphere and the exact ones; noise: of a sample, in samples. */
static void sphere_errors(int64_t n, double noise, double error[ESTIMATORS])
{
  test_volume v;
  test_rng rng = { 84 };
  volume_sampled(&v, PMB_FLOAT32, n, sphere);
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
      for (int c = 0; c < 3; c++) off += pow(m.view.normals[3 * p + c] - x[c] / norm(x), 2);
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

/* ---- the same bytes ---- */

static void same_bytes(int threads, const char *path)
{
  test_rng rng = { 85 };
  pmb_context *plain = context_new(1, "portable"), *context = context_new(threads, path);
  int64_t points = 0;
  for (int n = 0; n < 20; n += TEST_SLOW ? 7 : 1) {
    const pmb_type type = (pmb_type)(PMB_INT8 + n % 10);
    test_volume v;
    volume_make(&v, type, 70 + n, 30, 21, LAYOUT_PACKED);
    volume_fill(&v, n % DATA_KINDS, &rng);
    volume_world(&v, n % WORLDS, &rng);
    if (n % 3 == 0) volume_sprinkle(&v, 80, &rng);
    CHECK_STATUS(plain, pmb_bind(plain, &v.view), PMB_OK);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    const double isovalues[2] = { volume_isovalue(&v, &rng), volume_isovalue(&v, &rng) };
    for (int e = 0; e < ESTIMATORS; e++) {
      test_mesh a, b;
      const pmb_gradient_estimator estimator = (pmb_gradient_estimator)e;
      test_about("%d threads, %s, %s, %s, volume %d", threads, path ? path : "best", type_name(type), names[e], n);
      CHECK_STATUS(plain, mesh_extract_by(plain, estimator, isovalues, 2, 1, PMB_FLOAT32, PMB_INT32, &a), PMB_OK);
      CHECK_STATUS(context, mesh_extract_by(context, estimator, isovalues, 2, 1, PMB_FLOAT32, PMB_INT32, &b), PMB_OK);
      mesh_equal(&a, &b, "with other threads or instructions");
      points += a.sizes.points;
      mesh_free(&a);
      mesh_free(&b);
    }
    volume_free(&v);
  }
  CHECK(points > 20000, "only %lld points compared", (long long)points);
  pmb_destroy(plain);
  pmb_destroy(context);
}

static void same_bytes_with_any_threads(void)
{
  same_bytes(2, NULL);
  same_bytes(3, "portable");
  same_bytes(7, NULL);
}

static void same_bytes_by_the_full_rules(void)
{
  same_bytes(2, "reference");
}

static void same_bytes_with_avx2(void)
{
  same_bytes(1, "avx2");
}

static void same_bytes_with_avx512(void)
{
  same_bytes(1, "avx512");
}

/* A row of bricks of small noise, then, if it is long, a sample that makes the range large. */
static void fill_faint(test_volume *v, pmb_type type, int64_t length, int world)
{
  test_rng rng = { 86 };
  const double faint = type == PMB_FLOAT32 ? 1e-13 : 1e-110;
  volume_make(v, type, length, 4, 4, LAYOUT_PACKED);
  for (int n = 0; n < 40 * 16; n++) volume_set(v, n / 16, n % 4, n / 4 % 4, faint * rng_real(&rng, 0.3, 1.7));
  if (length > 100) volume_set(v, 100, 1, 1, 1);
  volume_world(v, world, &rng);
}

/* Samples far away, which pieces of a volume do not know, do not decide how a point is computed. */
static void range_changes_nothing(void)
{
  for (int n = 0; n < 2 * ESTIMATORS * WORLDS; n++) {
    const pmb_type type = n % 2 ? PMB_FLOAT32 : PMB_FLOAT64;
    const pmb_gradient_estimator estimator = (pmb_gradient_estimator)(n / 2 % ESTIMATORS);
    const double isovalue = type == PMB_FLOAT32 ? 1e-13 : 1e-110;
    test_mesh m[2];
    int64_t points = 0;
    test_about("%s, %s, world %d", type_name(type), names[estimator], n / 2 / ESTIMATORS);
    for (int i = 0; i < 2; i++) {
      test_volume v;
      pmb_context *context = context_new(1, NULL);
      fill_faint(&v, type, i ? 130 : 40, n / 2 / ESTIMATORS);
      CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
      CHECK_STATUS(
        context, mesh_extract_by(context, estimator, &isovalue, 1, 0, PMB_FLOAT64, PMB_INT32, &m[i]), PMB_OK);
      pmb_destroy(context);
      volume_free(&v);
    }
    /* The first brick's points, which come first. */
    while (points < m[0].sizes.points && points < m[1].sizes.points &&
      memcmp((double *)m[0].view.points + 3 * points, (double *)m[1].view.points + 3 * points, 3 * sizeof(double)) ==
        0)
      points++;
    CHECK(points > 300, "%lld points in common", (long long)points);
    const size_t bytes = (size_t)(points < 300 ? 0 : 300) * 3 * sizeof(float);
    CHECK(memcmp(m[0].view.normals, m[1].view.normals, bytes) == 0, "normals");
    CHECK(memcmp(m[0].view.gradients, m[1].view.gradients, bytes) == 0, "gradients");
    mesh_free(&m[0]);
    mesh_free(&m[1]);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(every_type_by_the_definition)
  CASE(beside_samples_that_are_not_finite)
  CASE(central_differences_take_over)
  CASE(limits_of_every_type)
  CASE(linear_field_is_exact)
  CASE(sphere_tells_them_apart)
  CASE(range_changes_nothing)
  CASE(same_bytes_with_any_threads)
  CASE(same_bytes_by_the_full_rules)
  CASE(same_bytes_with_avx2)
  CASE(same_bytes_with_avx512)
)
