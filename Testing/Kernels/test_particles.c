/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles.c - surfaces of particles against the potential summed over all particles in double, and splashsurf's mesh; closed
 * meshes; the same bytes on all paths. */
#include <stdio.h>

#include "particles_mesh.h"
#include "particles_reference.h"
#include "splashsurf_mesh.h"

/* The gradient by differences. Returns its length, or 0 if it is ambiguous. */
static double slope_of(const scene *s, const double at[3], double slope[3])
{
  const double step = 1e-5 * s->request.spacing;
  double length = 0, other = 0;
  for (int a = 0; a < 3; a++) {
    double low[3], high[3];
    memcpy(low, at, sizeof low);
    memcpy(high, at, sizeof high);
    low[a] -= step;
    high[a] += step;
    slope[a] = (potential(s, high) - potential(s, low)) / (2 * step);
    const double forward = (potential(s, high) - potential(s, at)) / step;
    other += (forward - slope[a]) * (forward - slope[a]);
    length += slope[a] * slope[a];
  }
  return other < 1e-4 * length && length > 1e-4 ? sqrt(length) : 0;
}

/* The potential, clamped as the core samples it. */
static double sample_of(const scene *s, const double at[3])
{
  const pmb_particle_request *r = &s->request;
  const double v = potential(s, at);
  return r->kernel == PMB_KERNEL_SPHERES ? fmax(v, r->isovalue - 1.75 * r->spacing) : v;
}

/* The derivative along an axis at `at`, by the kind of differences that the request names. */
static double difference_of(const scene *s, const double at[3], int axis)
{
  const double h = s->request.spacing, here = sample_of(s, at);
  double sum = 0;
  for (int k = 0; k < 9; k++) {
    const int across[2] = { k % 3 - 1, k / 3 - 1 };
    double low[3] = { at[0], at[1], at[2] };
    for (int a = 0; a < 2; a++) low[(axis + 1 + a) % 3] += across[a] * h;
    double high[3] = { low[0], low[1], low[2] };
    low[axis] -= h;
    high[axis] += h;
    if (s->request.normals == PMB_NORMALS_BY_SOBEL)
      sum += (2 - abs(across[0])) * (2 - abs(across[1])) / 16.0 * (sample_of(s, high) - sample_of(s, low)) / 2;
    else if (k == 4 && s->request.normals == PMB_NORMALS_BY_CENTRAL)
      sum = (sample_of(s, high) - sample_of(s, low)) / 2;
    else if (k == 4)
      sum = sample_of(s, high) - here;
  }
  return sum / h;
}

/* The gradient by differences at a fraction of an edge. Returns its length, or 0 if it is ambiguous. */
static double differences_of(const scene *s, const double low[3], const double high[3], double part, double slope[3])
{
  double length = 0;
  for (int a = 0; a < 3; a++) {
    slope[a] = (1 - part) * difference_of(s, low, a) + part * difference_of(s, high, a);
    length += slope[a] * slope[a];
  }
  return sqrt(length) * s->request.spacing > 0.01 ? sqrt(length) : 0;
}

/* Checks that each point lies on a grid edge where the linear potential is the isovalue, but at least 1/512 of a cell from its ends,
 * and has the gradient's normal. */
static void judge_points(const scene *s, const test_mesh *m)
{
  const double h = s->request.spacing, iso = s->request.isovalue, slack = 2e-5 * fmax(1, fabs(iso));
  int wrong = 0, turned = 0, off = 0;
  for (int64_t n = 0; n < m->sizes.points; n++) {
    double p[3], low[3], high[3], slope[3], dot = 0;
    int axis = 0;
    mesh_point(m, n, p);
    for (int a = 0; a < 3; a++) {
      const double here = fabs(p[a] / h - round(p[a] / h)), there = fabs(p[axis] / h - round(p[axis] / h));
      axis = here > there ? a : axis;
    }
    for (int a = 0; a < 3; a++) {
      off += a != axis && p[a] != round(p[a] / h) * h;
      low[a] = high[a] = round(p[a] / h) * h;
    }
    low[axis] = floor(p[axis] / h - 1e-9) * h;
    high[axis] = low[axis] + h;
    const double v[2] = { sample_of(s, low), sample_of(s, high) }, part = (p[axis] - low[axis]) / h;
    const double crossing = fmin(fmax((iso - v[0]) / (v[1] - v[0]), 1 / 512.0), 511 / 512.0);
    const double error = slack * fmax(1, fmax(v[0], v[1])); /* of the samples */
    wrong += !(fabs((part - crossing) * (v[1] - v[0])) < error);
    const double length =
      s->request.normals == PMB_NORMALS_BY_KERNEL ? slope_of(s, p, slope) : differences_of(s, low, high, part, slope);
    if (length == 0) continue;
    for (int a = 0; a < 3; a++) {
      dot -= slope[a] / length * (double)m->view.normals[3 * n + a];
      turned += !(fabs((double)m->view.gradients[3 * n + a] - slope[a]) < 0.01 * length);
    }
    turned += !(dot > 0.999);
  }
  CHECK(wrong == 0 && off == 0, "%d of %lld points are not where the potential crosses, %d are off the grid", wrong,
    (long long)m->sizes.points, off);
  CHECK(turned == 0, "%d of %lld normals or gradients are wrong", turned, (long long)m->sizes.points);
}

/* Checks that there is a point per crossed edge, except at samples so close to the isovalue that rounding decides. */
static void judge_count(const scene *s, const test_mesh *m)
{
  const double h = s->request.spacing, iso = s->request.isovalue, slack = 2e-5 * fmax(1, fabs(iso));
  int64_t low[3], n[3], crossed = 0, unclear = 0;
  for (int a = 0; a < 3; a++) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < s->request.positions.count; i++) {
      const double reach = 3 * s->length[i] + s->radius[i] + fabs(iso);
      least = fmin(least, s->position[i][a] - reach);
      most = fmax(most, s->position[i][a] + reach);
    }
    low[a] = (int64_t)floor(least / h) - 1;
    n[a] = (int64_t)ceil(most / h) + 2 - low[a];
  }
  signed char *side = test_allocate(n[0] * n[1] * n[2], 1);
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    const double at[3] = { (double)(low[0] + i % n[0]) * h, (double)(low[1] + i / n[0] % n[1]) * h,
      (double)(low[2] + i / n[0] / n[1]) * h };
    const double v = potential(s, at) - iso;
    side[i] = (signed char)(fabs(v) < slack ? 0 : v > 0 ? 1 : -1);
  }
  const int64_t step[3] = { 1, n[0], n[0] * n[1] };
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
    for (int a = 0; a < 3; a++) {
      if (i / step[a] % n[a] == n[a] - 1) continue;
      crossed += side[i] * side[i + step[a]] < 0;
      unclear += side[i] * side[i + step[a]] == 0;
    }
  CHECK(m->sizes.points >= crossed && m->sizes.points <= crossed + unclear,
    "%lld points, %lld edges are crossed and %lld unclear", (long long)m->sizes.points, (long long)crossed,
    (long long)unclear);
  free(side);
}

static void judge_clouds(int is_anisotropic)
{
  test_rng rng = { 2201 };
  OWNED_CONTEXT context = context_new(2, NULL);
  int64_t points = 0;
  const int rounds = TEST_SLOW ? 60 : 1000;
  for (int round = 0; round < rounds; round++) {
    double position[3 * MOST], array[4][MOST];
    const int64_t n = rng_int(&rng, 1, round % 50 && !is_anisotropic ? 6 : MOST);
    const double size = rng_real(&rng, 0, 2), middle = rng_real(&rng, -100, 100);
    pmb_particle_request r = request_of(position, n, is_anisotropic ? ANISOTROPIC : round % 4);
    for (int64_t i = 0; i < 3 * n; i++) position[i] = middle + rng_real(&rng, -size, size);
    if (n > 1 && rng_int(&rng, 0, 5) == 0) memcpy(position + 3, position, 3 * sizeof *position);
    for (int64_t i = 0; i < n && round % 8 == 1; i++) position[3 * i] = middle; /* in a plane */
    const double least = rng_int(&rng, 0, 3) ? 0.3 : 0.02;                      /* radii differ by up to 2 or 35 */
    for (int64_t i = 0; i < n; i++) {
      array[0][i] = rng_int(&rng, 0, 1) ? rng_real(&rng, 0.3, 0.7) : rng_real(&rng, least, 2 * least);
      array[1][i] = rng_real(&rng, 0.5, 2);
      array[2][i] = rng_real(&rng, 0.5, 2);
      array[3][i] = rng_real(&rng, -0.5, 2);
    }
    r.spacing = rng_real(&rng, is_anisotropic ? 0.4 : 0.17, 0.6);
    r.isovalue = r.kernel == PMB_KERNEL_SPHERES ? rng_real(&rng, -0.3, 0.45) : rng_real(&rng, 0.1, 0.9);
    if (rng_int(&rng, 0, 1)) r.radii = (pmb_particle_array){ array[0], PMB_FLOAT64, n, 0 };
    if (rng_int(&rng, 0, 1)) r.smoothing = rng_real(&rng, 0.9, 2.2);
    if (rng_int(&rng, 0, 1)) r.normals = (pmb_particle_normals)rng_int(&rng, 1, 3);
    if (r.kernel == PMB_KERNEL_SPLINE) {
      if (rng_int(&rng, 0, 1)) r.masses = (pmb_particle_array){ array[1], PMB_FLOAT64, n, 0 };
      if (rng_int(&rng, 0, 1)) r.densities = (pmb_particle_array){ array[2], PMB_FLOAT64, n, 0 };
    } else if (r.kernel != PMB_KERNEL_SPHERES && rng_int(&rng, 0, 1)) {
      r.weights = (pmb_particle_array){ array[3], PMB_FLOAT64, n, 0 };
    }
    test_about("round %d: kernel %d, %lld particles", round, (int)r.kernel, (long long)n);
    scene s;
    OWNED_MESH m;
    scene_make(&s, &r);
    CHECK(closed_mesh(context, &r, &m).volume >= 0, "the normals point into the fluid");
    judge_points(&s, &m);
    judge_count(&s, &m);
    points += m.sizes.points;
  }
  CHECK(points > (is_anisotropic ? 70 : 166) * rounds, "%lld points in all", (long long)points);
}

static void random_clouds(void)
{
  judge_clouds(0);
}

static void anisotropic_clouds(void)
{
  judge_clouds(1);
}

/* ---- other surfaces ---- */

/* The distance from a point to the nearest of n points. */
static double nearest(const double at[3], const double (*places)[3], int64_t n)
{
  double least = INFINITY;
  for (int64_t i = 0; i < n; i++) least = fmin(least, distance_of(at, places[i]));
  return least;
}

/* Each point is near a point of splashsurf's mesh, and vice versa. This bounds the distance between the meshes. */
static void beside_splashsurf(void)
{
  enum {
    PARTICLES = sizeof splashsurf_particles / sizeof *splashsurf_particles,
    POINTS = sizeof splashsurf_points / sizeof *splashsurf_points
  };
  double position[PARTICLES][3], want[POINTS][3], worst = 0;
  for (int i = 0; i < 3 * PARTICLES; i++) position[i / 3][i % 3] = splashsurf_particles[i / 3][i % 3] * 1e-6;
  for (int i = 0; i < 3 * POINTS; i++) want[i / 3][i % 3] = splashsurf_points[i / 3][i % 3] * 0.5e-3;
  OWNED_CONTEXT context = context_new(1, NULL);
  pmb_particle_request r = request_of(position[0], PARTICLES, PMB_KERNEL_SPLINE);
  OWNED_MESH m;
  r.spacing = 0.5;
  r.isovalue = 0.6;
  closed_mesh(context, &r, &m);
  const double(*points)[3] = m.view.points;
  CHECK(m.sizes.points == POINTS, "%lld points, %d wanted", (long long)m.sizes.points, POINTS);
  for (int64_t i = 0; i < m.sizes.points; i++)
    worst = fmax(worst, nearest(points[i], (const double(*)[3])want, POINTS));
  for (int i = 0; i < POINTS; i++) worst = fmax(worst, nearest(want[i], points, m.sizes.points));
  CHECK(worst < 0.002 * r.spacing, "a point is %g cells from the other mesh", worst / r.spacing);
}

/* A particle that is far away and 40 times as wide adds its own surface, and does not widen the reach of others. */
static void one_wide_particle(void)
{
  const int64_t n = 300;
  double *position = make_cloud(n + 1, 5, 2206), radius[301];
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int64_t i = 0; i < n; i++) radius[i] = 0.2;
  radius[n] = TEST_SLOW ? 4 : 8;
  for (int a = 0; a < 3; a++) position[3 * n + a] += 50;
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    const int64_t first[3] = { 0, n, 0 }, count[3] = { n, 1, n + 1 };
    test_mesh m[3];
    int64_t bricks[3];
    test_about("kernel %d", kernel);
    for (int i = 0; i < 3; i++) {
      pmb_particle_request r = request_of(position + 3 * first[i], count[i], kernel);
      pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
      pmb_particles *particles;
      r.radii = (pmb_particle_array){ radius + first[i], PMB_FLOAT64, count[i], 0 };
      CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
      CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
      pmb_particles_destroy(particles);
      bricks[i] = sizes.bricks;
      closed_mesh(context, &r, &m[i]);
    }
    CHECK(m[2].sizes.points == m[0].sizes.points + m[1].sizes.points &&
        m[2].sizes.triangles == m[0].sizes.triangles + m[1].sizes.triangles,
      "%lld points, %lld without it, %lld alone", (long long)m[2].sizes.points, (long long)m[0].sizes.points,
      (long long)m[1].sizes.points);
    CHECK(bricks[2] < 2 * (bricks[0] + bricks[1]), "%lld bricks, %lld without it, %lld alone", (long long)bricks[2],
      (long long)bricks[0], (long long)bricks[1]);
    for (int i = 0; i < 3; i++) mesh_free(&m[i]);
  }
  free(position);
}

/* ---- the same bytes ---- */

/* Threads, instruction sets and reused memory do not change the bytes. */
static void threads_and_paths(void)
{
  const int64_t n = TEST_SLOW ? 500 : 2000;
  OWNED double *position = make_cloud(n, TEST_SLOW ? 7 : 11, 2202);
  double radius[2000];
  for (int64_t i = 0; i < n; i++) radius[i] = i % 100 == 0 ? 2 : i % 10 == 0 ? 0.1 : 0.5;
  for (int run = 0; run < 2 * KERNELS; run++) {
    const int kernel = run % KERNELS;
    OWNED_MESH first;
    pmb_particle_request r = request_of(position, n, kernel);
    if (run >= KERNELS) r.radii = (pmb_particle_array){ radius, PMB_FLOAT64, n, 0 };
    OWNED_CONTEXT one = context_new(1, NULL);
    closed_mesh(one, &r, &first);
    CHECK(first.sizes.triangles > 5000, "%lld triangles", (long long)first.sizes.triangles);
    for (int i = TEST_SLOW ? 1 : 0; i < TEST_PATHS; i += TEST_SLOW ? 4 : 1) { /* slow: 7 threads */
      const pmb_particle_request other = request_of(position, n / 2, i % KERNELS);
      OWNED_CONTEXT context = context_on_path(i);
      test_mesh m;
      if (!context) continue;
      test_about("run %d, path %d", run, i);
      OWNED_PARTICLES particles = particles_new(context);
      CHECK_STATUS(context, extract(context, particles, &other, PMB_FLOAT32, PMB_INT64, &m), PMB_OK);
      mesh_free(&m);
      CHECK_STATUS(context, extract(context, particles, &r, PMB_FLOAT64, PMB_INT32, &m), PMB_OK);
      mesh_equal(&first, &m, "mesh");
      mesh_free(&m);
      CHECK_STATUS(context, extract(context, particles, &r, PMB_FLOAT32, PMB_INT64, &m), PMB_OK);
      int different = m.sizes.triangles != first.sizes.triangles;
      for (int64_t k = 0; !different && k < 3 * m.sizes.triangles; k++)
        different = mesh_id(&m, k) != mesh_id(&first, k);
      CHECK(!different, "64-bit ids differ");
      mesh_free(&m);
    }
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(random_clouds)
  CASE(anisotropic_clouds)
  CASE(beside_splashsurf)
  CASE(one_wide_particle)
  CASE(threads_and_paths)
)
