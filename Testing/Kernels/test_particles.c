/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles.c - surfaces of particles against spheres and against the potential of all pairs in double, closed meshes, the
 * same bytes. */
#include <stdio.h>

#include "particles_mesh.h"

enum { MOST = 32 };
static const double PI = 3.14159265358979323846;

/* ---- the potential of all pairs, in double ---- */

typedef struct scene {
  pmb_particle_request request;
  double position[MOST][3], radius[MOST], length[MOST], amount[MOST];
} scene;

static double kernel_of(pmb_particle_kernel kernel, double q)
{
  switch (kernel) {
    case PMB_KERNEL_SPLINE:
      return 2 * pow(fmax(1 - q / 2, 0), 3) - pow(fmax(1 - q, 0), 3);
    case PMB_KERNEL_GAUSSIAN:
      return fmax(exp(-q * q) - exp(-9), 0);
    default:
      return pow(fmax(1 - q * q / 4, 0), 3);
  }
}

static double distance_of(const double a[3], const double b[3])
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static double value_or(const pmb_particle_array *array, int64_t i, double other)
{
  return array->values ? ((const double *)array->values)[i] : other;
}

static void scene_make(scene *s, const pmb_particle_request *r)
{
  s->request = *r;
  for (int64_t i = 0; i < r->positions.count; i++) {
    memcpy(s->position[i], (const double *)r->positions.values + 3 * i, sizeof s->position[i]);
    s->radius[i] = value_or(&r->radii, i, r->radius);
    s->length[i] = (r->smoothing ? r->smoothing : 2) * s->radius[i];
    s->amount[i] = value_or(&r->weights, i, 1);
  }
  for (int64_t i = 0; r->kernel == PMB_KERNEL_SPLINE && i < r->positions.count; i++) {
    double density = 0;
    for (int64_t j = 0; j < r->positions.count; j++)
      density +=
        value_or(&r->masses, j, 1) * kernel_of(r->kernel, distance_of(s->position[i], s->position[j]) / s->length[i]);
    if (r->densities.values) density = value_or(&r->densities, i, 0) * PI * pow(s->length[i], 3);
    s->amount[i] = value_or(&r->masses, i, 1) / density;
  }
}

static double potential(const scene *s, const double at[3])
{
  const pmb_particle_request *r = &s->request;
  double sum = r->kernel == PMB_KERNEL_SPHERES ? -1e30 : 0;
  for (int64_t i = 0; i < r->positions.count; i++) {
    const double distance = distance_of(s->position[i], at);
    if (r->kernel == PMB_KERNEL_SPHERES)
      sum = fmax(sum, s->radius[i] - distance);
    else
      sum += s->amount[i] * kernel_of(r->kernel, distance / s->length[i]);
  }
  return sum;
}

/* The gradient by differences. Returns its length, or 0 where it is not clear. */
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

/* Each point is on an edge that the potential crosses, where its line crosses the isovalue; its normal is the gradient's. */
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
    double v[2] = { potential(s, low), potential(s, high) };
    if (s->request.kernel == PMB_KERNEL_SPHERES) v[0] = fmax(v[0], iso - 1.75 * h), v[1] = fmax(v[1], iso - 1.75 * h);
    const double on_line = v[0] + (v[1] - v[0]) * (p[axis] - low[axis]) / h;
    /* A point at a sample belongs to any edge there. */
    wrong += !(fabs(on_line - iso) < slack || fabs(potential(s, p) - iso) < slack);
    const double length = slope_of(s, p, slope);
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

/* The number of points is that of crossed edges, but for samples so near the isovalue that rounding decides. */
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

static void random_clouds(void)
{
  test_rng rng = { 2201 };
  pmb_context *context = context_new(2, NULL);
  int64_t points = 0;
  for (int round = 0; round < (TEST_SLOW ? 60 : 1000); round++) {
    double position[3 * MOST], array[4][MOST];
    const int64_t n = rng_int(&rng, 1, round % 50 ? 6 : MOST);
    const double size = rng_real(&rng, 0, 2), middle = rng_real(&rng, -100, 100);
    pmb_particle_request r = request_of(position, n, (pmb_particle_kernel)(round % 4));
    for (int64_t i = 0; i < 3 * n; i++) position[i] = middle + rng_real(&rng, -size, size);
    if (n > 1 && rng_int(&rng, 0, 5) == 0) memcpy(position + 3, position, 3 * sizeof *position);
    for (int64_t i = 0; i < n; i++) {
      array[0][i] = rng_real(&rng, 0.3, 0.7);
      array[1][i] = rng_real(&rng, 0.5, 2);
      array[2][i] = rng_real(&rng, 0.5, 2);
      array[3][i] = rng_real(&rng, -0.5, 2);
    }
    r.spacing = rng_real(&rng, 0.17, 0.6);
    r.isovalue = r.kernel == PMB_KERNEL_SPHERES ? rng_real(&rng, -0.3, 0.3) : rng_real(&rng, 0.1, 0.9);
    if (rng_int(&rng, 0, 1)) r.radii = (pmb_particle_array){ array[0], PMB_FLOAT64, n, 0 };
    if (rng_int(&rng, 0, 1)) r.smoothing = rng_real(&rng, 0.9, 2.2);
    if (r.kernel == PMB_KERNEL_SPLINE) {
      if (rng_int(&rng, 0, 1)) r.masses = (pmb_particle_array){ array[1], PMB_FLOAT64, n, 0 };
      if (rng_int(&rng, 0, 1)) r.densities = (pmb_particle_array){ array[2], PMB_FLOAT64, n, 0 };
    } else if (r.kernel != PMB_KERNEL_SPHERES && rng_int(&rng, 0, 1)) {
      r.weights = (pmb_particle_array){ array[3], PMB_FLOAT64, n, 0 };
    }
    test_about("round %d: kernel %d, %lld particles", round, (int)r.kernel, (long long)n);
    scene s;
    test_mesh m;
    scene_make(&s, &r);
    closed_mesh(context, &r, &m);
    judge_points(&s, &m);
    judge_count(&s, &m);
    points += m.sizes.points;
    mesh_free(&m);
  }
  CHECK(points > 10000, "%lld points in all", (long long)points);
  pmb_destroy(context);
}

/* ---- attributes ---- */

enum { WIDE = 9 }; /* components: more than are interpolated together */

typedef struct attribute_arrays {
  double wide[WIDE * MOST], *wide_out, *points;
  int16_t whole[MOST], *whole_out;
  float gap[MOST], *gap_out; /* NaN of one particle */
  pmb_particle_sizes sizes;
} attribute_arrays;

static void emit_attributes(pmb_context *context, const pmb_particle_request *r, attribute_arrays *a)
{
  pmb_particles *particles;
  a->sizes = (pmb_particle_sizes){ .struct_size = sizeof a->sizes };
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  CHECK_STATUS(context, pmb_particles_count(particles, r, &a->sizes), PMB_OK);
  const int64_t n = a->sizes.points;
  a->wide_out = test_allocate(WIDE * n, sizeof *a->wide_out);
  a->whole_out = test_allocate(n, sizeof *a->whole_out);
  a->gap_out = test_allocate(n, sizeof *a->gap_out);
  a->points = test_allocate(3 * n, sizeof *a->points);
  const pmb_attribute attributes[] = { { a->whole, PMB_INT16, 1, a->whole_out, 0 },
    { a->wide, PMB_FLOAT64, WIDE, a->wide_out, 0 }, { a->gap, PMB_FLOAT32, 1, a->gap_out, 0 } };
  const pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = n,
    .triangle_capacity = a->sizes.triangles,
    .points = a->points,
    .point_type = PMB_FLOAT64,
    .attributes = attributes,
    .attribute_count = 3 };
  CHECK_STATUS(context, pmb_particles_emit(particles, &mesh), PMB_OK);
  pmb_particles_destroy(particles);
}

static void free_attributes(attribute_arrays *a)
{
  free(a->wide_out);
  free(a->whole_out);
  free(a->gap_out);
  free(a->points);
}

/* Means over all particles in double. Of spheres the deepest one's numbers, where it is clear. */
static void judge_attributes(const scene *s, const attribute_arrays *a, int64_t gap)
{
  int64_t wrong[3] = { 0, 0, 0 };
  for (int64_t n = 0; n < a->sizes.points; n++) {
    double mean[WIDE] = { 0 }, total = 0, whole = 0, deepest = -1e30, second = -1e30, reach = 0;
    for (int64_t i = 0; i < s->request.positions.count; i++) {
      const double distance = distance_of(s->position[i], a->points + 3 * n), depth = s->radius[i] - distance;
      const int spheres = s->request.kernel == PMB_KERNEL_SPHERES, deeper = depth > deepest;
      const double weight =
        spheres ? deeper : fabs(s->amount[i]) * kernel_of(s->request.kernel, distance / s->length[i]);
      const double keep = spheres && deeper ? 0 : 1;
      second = fmax(second, fmin(depth, deepest));
      deepest = fmax(deepest, depth);
      for (int c = 0; c < WIDE; c++) mean[c] = keep * mean[c] + weight * a->wide[WIDE * i + c];
      whole = keep * whole + weight * a->whole[i];
      total = keep * total + weight;
      reach = i == gap ? weight : keep * reach;
    }
    if (s->request.kernel == PMB_KERNEL_SPHERES && deepest - second < 1e-4) continue;
    for (int c = 0; c < WIDE; c++) wrong[0] += !(fabs(a->wide_out[WIDE * n + c] - mean[c] / total) < 1e-3);
    wrong[1] += !(fabs(a->whole_out[n] - whole / total) < 0.501);
    if (reach == 0 || reach > 1e-4) wrong[2] += reach > 0 ? !isnan(a->gap_out[n]) : a->gap_out[n] != 7;
  }
  CHECK(wrong[0] + wrong[1] + wrong[2] == 0, "%lld, %lld and %lld of %lld numbers are wrong", (long long)wrong[0],
    (long long)wrong[1], (long long)wrong[2], (long long)a->sizes.points);
}

/* Attributes against all pairs, and their bytes for any number of threads and path. */
static void attributes(void)
{
  static const char *const paths[] = { NULL, "portable", "avx2", "reference" };
  test_rng rng = { 2207 };
  for (int round = 0; round < (TEST_SLOW ? 8 : 80); round++) {
    attribute_arrays first, other;
    double position[3 * MOST], number[2][MOST];
    const int64_t n = MOST - 1;
    pmb_particle_request r = request_of(position, n, (pmb_particle_kernel)(round % 4));
    for (int64_t i = 0; i < 3 * n; i++) position[i] = rng_real(&rng, -2, 2);
    for (int64_t i = 0; i < n; i++) {
      for (int c = 0; c < WIDE; c++) first.wide[WIDE * i + c] = c < 3 ? position[3 * i + c] : rng_real(&rng, -1, 1);
      first.whole[i] = (int16_t)rng_int(&rng, -99, 99);
      first.gap[i] = i == 3 ? NAN : 7;
      number[0][i] = rng_real(&rng, 0.3, 0.7);
      number[1][i] = rng_real(&rng, -0.5, 2);
    }
    if (round % 8 > 3) r.radii = (pmb_particle_array){ number[0], PMB_FLOAT64, n, 0 };
    if (r.kernel == PMB_KERNEL_GAUSSIAN) r.weights = (pmb_particle_array){ number[1], PMB_FLOAT64, n, 0 };
    other = first;
    test_about("round %d", round);
    pmb_context *context = context_new(1, NULL);
    scene s;
    scene_make(&s, &r);
    emit_attributes(context, &r, &first);
    judge_attributes(&s, &first, 3);
    pmb_destroy(context);
    for (int i = 0; i < 4; i++) {
      const pmb_options options = {
        .struct_size = sizeof options, .device = PMB_DEVICE_CPU, .threads = 1 + i, .cpu_path = paths[i]
      };
      if (pmb_create(&options, &context) == PMB_UNAVAILABLE) continue;
      emit_attributes(context, &r, &other);
      const size_t points = (size_t)first.sizes.points;
      CHECK(other.sizes.points == first.sizes.points &&
          !memcmp(first.wide_out, other.wide_out, points * WIDE * sizeof(double)) &&
          !memcmp(first.whole_out, other.whole_out, points * sizeof(int16_t)) &&
          !memcmp(first.gap_out, other.gap_out, points * sizeof(float)),
        "other bytes on path %s", paths[i] ? paths[i] : "default");
      free_attributes(&other);
      pmb_destroy(context);
    }
    free_attributes(&first);
  }
}

/* Points beyond the reach of all kernels, because cells are larger: they have the particle's numbers. */
static void attributes_out_of_reach(void)
{
  const double position[6] = { 0.01, 0.02, 0, 5.01, 5, 5.02 };
  pmb_context *context = context_new(1, NULL);
  for (int kernel = 0; kernel < 4; kernel++) {
    attribute_arrays a = { .whole = { 11, 22 }, .gap = { 1, 2 } };
    pmb_particle_request r = request_of(position, 2, (pmb_particle_kernel)kernel);
    r.spacing = 1;
    r.radius = 0.05;
    if (kernel != PMB_KERNEL_SPHERES) r.isovalue = 1e-20;
    test_about("kernel %d", kernel);
    emit_attributes(context, &r, &a);
    CHECK(a.sizes.points == 12, "%lld points", (long long)a.sizes.points);
    for (int64_t n = 0; n < a.sizes.points; n++) {
      const int far = a.points[3 * n] > 2.5;
      CHECK(a.whole_out[n] == (far ? 22 : 11) && (double)a.gap_out[n] == 1 + far, "%d and %g", a.whole_out[n],
        (double)a.gap_out[n]);
    }
    free_attributes(&a);
  }
  pmb_destroy(context);
}

/* ---- known surfaces ---- */

/* Where the potential of one particle is the isovalue. */
static double radius_of(const pmb_particle_request *r)
{
  double low = 0, high = 10;
  for (int i = 0; i < 100; i++) {
    const double middle = (low + high) / 2;
    *(kernel_of(r->kernel, middle / (2 * r->radius)) >= r->isovalue ? &low : &high) = middle;
  }
  return r->kernel == PMB_KERNEL_SPHERES ? r->radius - r->isovalue : low;
}

/* Area and volume of a sphere come nearer with the square of the spacing. */
static void one_particle(void)
{
  const double position[3] = { 7.123, -3.456, 0.789 };
  pmb_context *context = context_new(1, NULL);
  for (int kernel = 0; kernel < 4; kernel++) {
    double error[2][2];
    for (int fine = 0; fine < 2; fine++) {
      pmb_particle_request r = request_of(position, 1, (pmb_particle_kernel)kernel);
      r.spacing = fine ? 0.03 : 0.06;
      const double radius = radius_of(&r);
      test_mesh m;
      test_about("kernel %d, spacing %g", kernel, r.spacing);
      const pmb_measures got = closed_mesh(context, &r, &m);
      CHECK(got.components == 1 && got.euler == 2, "%lld components, Euler number %lld", (long long)got.components,
        (long long)got.euler);
      error[fine][0] = fabs(got.area / (4 * PI * radius * radius) - 1);
      error[fine][1] = fabs(got.volume / (4 * PI / 3 * pow(radius, 3)) - 1);
      double worst = 0, turned = 0;
      for (int64_t n = 0; n < m.sizes.points; n++) {
        double p[3];
        mesh_point(&m, n, p);
        const double distance = distance_of(p, position);
        worst = fmax(worst, fabs(distance / radius - 1));
        for (int a = 0; a < 3; a++)
          turned = fmax(turned, fabs((double)m.view.normals[3 * n + a] - (p[a] - position[a]) / distance));
      }
      CHECK(worst < r.spacing * r.spacing / 4 / radius / radius + 1e-5, "a point is off by %g of the radius", worst);
      CHECK(turned < 1e-5, "a normal is off by %g", turned);
      mesh_free(&m);
    }
    for (int i = 0; i < 2; i++)
      CHECK(error[1][i] < error[0][i] / 3 && error[1][i] < 0.01, "%s: errors %g and %g", i ? "volume" : "area",
        error[0][i], error[1][i]);
  }
  pmb_destroy(context);
}

/* Two spheres at any distance: the volume of their union. */
static void two_particles(void)
{
  pmb_context *context = context_new(2, NULL);
  for (int kernel = 0; kernel < 4; kernel++)
    for (int i = 0; i <= 40; i++) {
      const double d = 0.05 * i, x = 0.11, touching = 2 * 0.5;
      const double position[6] = { x, 0.2, 0.3, x + d, 0.2, 0.3 };
      pmb_particle_request r = request_of(position, 2, (pmb_particle_kernel)kernel);
      scene s;
      test_mesh m;
      r.spacing = 0.05;
      test_about("kernel %d, distance %g", kernel, d);
      const pmb_measures got = closed_mesh(context, &r, &m);
      scene_make(&s, &r);
      judge_points(&s, &m);
      CHECK(got.components <= 2, "%lld components", (long long)got.components);
      if (kernel == PMB_KERNEL_SPHERES && fabs(d - touching) > 0.1) {
        const double ball = 4 * PI / 3 * 0.125,
                     lens = d < 1 ? PI * (1 - d) * (1 - d) * (d * d + 2 * d) / (12 * d) : 0;
        const double volume = d == 0 ? ball : 2 * ball - lens;
        CHECK(fabs(got.volume / volume - 1) < 0.01, "volume %g, the union has %g", got.volume, volume);
        CHECK(got.components == (d > 1 ? 2 : 1), "%lld components", (long long)got.components);
      }
      mesh_free(&m);
    }
  pmb_destroy(context);
}

/* Away from the edge of a block of particles its surface is flat, and half the space above is empty. */
static void lattice(void)
{
  enum { SIDE = 16 };
  double *position = test_allocate(3 * SIDE * SIDE * SIDE, sizeof *position);
  for (int64_t i = 0; i < SIDE * SIDE * SIDE; i++) {
    position[3 * i] = (double)(i % SIDE);
    position[3 * i + 1] = (double)(i / SIDE % SIDE);
    position[3 * i + 2] = (double)(i / SIDE / SIDE);
  }
  pmb_context *context = context_new(2, NULL);
  pmb_particle_request r = request_of(position, SIDE * SIDE * SIDE, PMB_KERNEL_SPLINE);
  test_mesh m;
  double low = INFINITY, high = -INFINITY;
  const pmb_measures got = closed_mesh(context, &r, &m);
  CHECK(got.components == 1 && got.euler == 2, "%lld components, Euler number %lld", (long long)got.components,
    (long long)got.euler);
  for (int64_t n = 0; n < m.sizes.points; n++) {
    double p[3];
    mesh_point(&m, n, p);
    if (p[2] > SIDE / 2 && fabs(p[0] - 7.5) < 4 && fabs(p[1] - 7.5) < 4) {
      low = fmin(low, p[2]);
      high = fmax(high, p[2]);
      CHECK(m.view.normals[3 * n + 2] > 0.95f, "normal %g", (double)m.view.normals[3 * n + 2]);
    }
  }
  CHECK(low > SIDE - 1 && high < SIDE && high - low < 0.05, "from %g to %g", low, high);
  mesh_free(&m);
  pmb_destroy(context);
  free(position);
}

/* ---- the same bytes ---- */

/* Threads, instruction sets and memory that is used again do not matter. */
static void threads_and_paths(void)
{
  static const char *const paths[] = { NULL, "portable", "avx2", "reference" };
  static const int threads[] = { 1, 2, 7 };
  const int64_t n = TEST_SLOW ? 500 : 2000;
  double *position = make_cloud(n, TEST_SLOW ? 7 : 11, 2202);
  for (int kernel = 0; kernel < 4; kernel++) {
    test_mesh first, m;
    pmb_particle_request r = request_of(position, n, (pmb_particle_kernel)kernel);
    pmb_context *context = context_new(1, NULL);
    closed_mesh(context, &r, &first);
    pmb_destroy(context);
    CHECK(first.sizes.triangles > 5000, "%lld triangles", (long long)first.sizes.triangles);
    for (int i = 0; i < 12; i++) {
      pmb_particle_request other = request_of(position, n / 2, (pmb_particle_kernel)(i % 4));
      pmb_particles *particles;
      const pmb_options options = {
        .struct_size = sizeof options, .device = PMB_DEVICE_CPU, .threads = threads[i % 3], .cpu_path = paths[i / 3]
      };
      test_about("kernel %d, %d threads, path %s", kernel, threads[i % 3], paths[i / 3] ? paths[i / 3] : "default");
      if (pmb_create(&options, &context) == PMB_UNAVAILABLE) continue;
      CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
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
      pmb_particles_destroy(particles);
      pmb_destroy(context);
    }
    mesh_free(&first);
  }
  free(position);
}

/* ---- images ---- */

/* Each sample of an image has the potential of all pairs, with the same bytes for any threads and path. */
static void images(void)
{
  static const char *const paths[] = { NULL, "portable", "avx2" };
  test_rng rng = { 2210 };
  for (int round = 0; round < (TEST_SLOW ? 12 : 60); round++) {
    double position[3 * MOST], number[3][MOST];
    const int64_t count = round == 5 ? 0 : rng_int(&rng, 1, MOST);
    pmb_particle_request r = request_of(position, count, (pmb_particle_kernel)(round % 4));
    pmb_particle_image image = { .struct_size = sizeof image };
    scene s;
    r.spacing = rng_real(&rng, 0.1, 0.9);
    for (int64_t i = 0; i < 3 * count; i++) position[i] = rng_real(&rng, -2, 2);
    for (int64_t i = 0; i < 3 * count; i++) number[i % 3][i / 3] = rng_real(&rng, 0.3, 1.2);
    if (round % 8 > 3) r.radii = (pmb_particle_array){ number[0], PMB_FLOAT64, count, 0 };
    if (r.kernel == PMB_KERNEL_SPLINE && round % 3)
      r.masses = (pmb_particle_array){ number[1], PMB_FLOAT64, count, 0 };
    if (r.kernel == PMB_KERNEL_SPLINE && round % 5 > 2)
      r.densities = (pmb_particle_array){ number[2], PMB_FLOAT64, count, 0 };
    scene_make(&s, &r);
    for (int a = 0; a < 3; a++) {
      image.dims[a] = a ? rng_int(&rng, 1, 9) : rng_int(&rng, 1, 40);
      image.origin[a] = rng_real(&rng, -5, 2) - (round % 20 == 7 ? 1e6 : 0);
      image.first[a] = rng_int(&rng, -2, 2);
      image.spacing[a] = round % 20 == 7 ? 1e6 : rng_real(&rng, 0.05, 1.5);
    }
    const int64_t n = image.dims[0] * image.dims[1] * image.dims[2];
    float *values = test_allocate(2 * n, sizeof *values);
    test_about("round %d", round);
    for (int i = 0; i < 3; i++) {
      const pmb_options options = {
        .struct_size = sizeof options, .device = PMB_DEVICE_CPU, .threads = 1 + i, .cpu_path = paths[i]
      };
      pmb_context *context;
      pmb_particles *particles;
      if (pmb_create(&options, &context) == PMB_UNAVAILABLE) continue;
      image.values = values + (i > 0) * n;
      CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
      CHECK_STATUS(context, pmb_particles_sample(particles, &r, &image), PMB_OK);
      CHECK(!memcmp(values, image.values, (size_t)n * sizeof *values), "other bytes on path %d", i);
      CHECK_REFUSED(context, pmb_particles_emit(particles, &(pmb_mesh){ .struct_size = sizeof(pmb_mesh) }),
        PMB_INVALID, "nothing is counted");
      pmb_particles_destroy(particles);
      pmb_destroy(context);
    }
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
      const int64_t place[3] = { i % image.dims[0], i / image.dims[0] % image.dims[1],
        i / image.dims[0] / image.dims[1] };
      double at[3];
      for (int a = 0; a < 3; a++) at[a] = image.origin[a] + (double)(image.first[a] + place[a]) * image.spacing[a];
      double expected = potential(&s, at);
      if (r.kernel == PMB_KERNEL_SPHERES) expected = fmax(expected, r.isovalue - 1.75 * r.spacing);
      worst = fmax(worst, fabs((double)values[i] - expected) / fmax(1, fabs(expected)));
    }
    CHECK(worst < 2e-5, "a sample is off by %g", worst);
    free(values);
  }
}

static void bad_images(void)
{
  const double position[3] = { 0 };
  float value;
  pmb_context *context = context_new(1, NULL);
  pmb_particles *particles;
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  const pmb_particle_request r = request_of(position, 1, PMB_KERNEL_SPLINE);
  const pmb_particle_image good = { sizeof good, { 0 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0 }, &value };
  CHECK_STATUS(context, pmb_particles_sample(particles, &r, &good), PMB_OK);
  CHECK(fabsf(value - 1) < 1e-5f, "%g at the particle", (double)value);
  for (int i = 0; i < 6; i++) {
    pmb_particle_image bad = good;
    test_about("fault %d", i);
    switch (i) {
      case 0:
        bad.struct_size = 1;
        break;
      case 1:
        bad.dims[1] = 0;
        break;
      case 2:
        bad.spacing[2] = 0;
        break;
      case 3:
        bad.origin[0] = NAN;
        break;
      case 4:
        bad.values = NULL;
        break;
      default:
        bad.dims[0] = bad.dims[1] = (int64_t)1 << 32;
    }
    CHECK_REFUSED(context, pmb_particles_sample(particles, &r, &bad), PMB_INVALID, i ? "the image" : "struct_size");
  }
  CHECK(pmb_particles_sample(NULL, &r, &good) == PMB_INVALID, "no object");
  pmb_particles_destroy(particles);
  pmb_destroy(context);
}

/* Moved by whole cells, the mesh has the same ids and normals, and its points move along. */
static void translation(void)
{
  static const double shift[] = { 0.25, -17, 4096.75, 1e6 };
  const int64_t n = 500;
  double *position = make_cloud(n, 6, 2203), *moved = test_allocate(3 * n, sizeof *moved);
  pmb_context *context = context_new(2, NULL);
  test_mesh a, b;
  pmb_particle_request r = request_of(position, n, PMB_KERNEL_SPLINE);
  closed_mesh(context, &r, &a);
  for (int i = 0; i < 4; i++) {
    for (int64_t k = 0; k < 3 * n; k++) moved[k] = position[k] + shift[i];
    r.positions.values = moved;
    closed_mesh(context, &r, &b);
    int64_t wrong = 0;
    test_about("moved by %g", shift[i]);
    if (CHECK(a.sizes.points == b.sizes.points && a.sizes.triangles == b.sizes.triangles, "other sizes")) {
      CHECK(!memcmp(a.view.triangles, b.view.triangles, (size_t)a.sizes.triangles * 12), "other ids");
      CHECK(!memcmp(a.view.normals, b.view.normals, (size_t)a.sizes.points * 12), "other normals");
      for (int64_t k = 0; k < 3 * a.sizes.points; k++)
        wrong += !(fabs(((double *)a.view.points)[k] + shift[i] - ((double *)b.view.points)[k]) < 1e-9);
    }
    CHECK(wrong == 0, "%lld coordinates are wrong", (long long)wrong);
    mesh_free(&b);
  }
  mesh_free(&a);
  pmb_destroy(context);
  free(position);
  free(moved);
}

/* clang-format off */
TEST_MAIN(
  CASE(random_clouds)
  CASE(attributes)
  CASE(attributes_out_of_reach)
  CASE(one_particle)
  CASE(two_particles)
  CASE(lattice)
  CASE(threads_and_paths)
  CASE(images)
  CASE(bad_images)
  CASE(translation)
)
