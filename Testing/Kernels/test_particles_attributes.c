/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles_attributes.c - attributes on the surface against means over all particles; the same bytes on all paths. */
#include "particles_mesh.h"
#include "particles_reference.h"

enum { WIDE = 9 }; /* components; more than are interpolated at once */

typedef struct attribute_arrays {
  double wide[WIDE * MOST], *wide_out, *points;
  int16_t whole[MOST], *whole_out;
  float gap[MOST], *gap_out; /* NaN for one particle */
  pmb_particle_sizes sizes;
} attribute_arrays;

static void emit_attributes(pmb_context *context, const pmb_particle_request *r, attribute_arrays *a)
{
  a->sizes = (pmb_particle_sizes){ .struct_size = sizeof a->sizes };
  OWNED_PARTICLES particles = particles_new(context);
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
}

static void free_attributes(attribute_arrays *a)
{
  free(a->wide_out);
  free(a->whole_out);
  free(a->gap_out);
  free(a->points);
}

/* Compares with weighted means over all particles; for spheres with the deepest particle's values, where that is unambiguous. */
static void judge_attributes(const scene *s, const attribute_arrays *a, int64_t gap)
{
  int64_t wrong[3] = { 0, 0, 0 };
  for (int64_t n = 0; n < a->sizes.points; n++) {
    double mean[WIDE] = { 0 }, total = 0, whole = 0, deepest = -1e30, second = -1e30, reach = 0;
    for (int64_t i = 0; i < s->request.positions.count; i++) {
      const double distance = scene_distance(s, i, a->points + 3 * n), depth = s->radius[i] - distance;
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

/* Attributes equal the weighted means, with the same bytes for any number of threads and any path. */
static void attributes(void)
{
  test_rng rng = { 2207 };
  for (int round = 0; round < (TEST_SLOW ? 8 : 80); round++) {
    attribute_arrays first, other;
    double position[3 * MOST], number[2][MOST];
    const int64_t n = MOST - 1;
    pmb_particle_request r = request_of(position, n, round % KERNELS);
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
    OWNED_CONTEXT one = context_new(1, NULL);
    scene s;
    scene_make(&s, &r);
    emit_attributes(one, &r, &first);
    judge_attributes(&s, &first, 3);
    for (int i = 0; i < TEST_PATHS; i++) {
      OWNED_CONTEXT context = context_on_path(i);
      if (!context) continue;
      emit_attributes(context, &r, &other);
      const size_t points = (size_t)first.sizes.points;
      CHECK(other.sizes.points == first.sizes.points &&
          !memcmp(first.wide_out, other.wide_out, points * WIDE * sizeof(double)) &&
          !memcmp(first.whole_out, other.whole_out, points * sizeof(int16_t)) &&
          !memcmp(first.gap_out, other.gap_out, points * sizeof(float)),
        "other bytes on path %d", i);
      free_attributes(&other);
    }
    free_attributes(&first);
  }
}

/* Points out of reach of all kernels, because cells are larger than these, have the values of the particle beside them. */
static void attributes_out_of_reach(void)
{
  const double position[6] = { 0.01, 0.02, 0, 5.01, 5, 5.02 };
  OWNED_CONTEXT context = context_new(1, NULL);
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    OWNED_BY(free_attributes) attribute_arrays a = { .whole = { 11, 22 }, .gap = { 1, 2 } };
    pmb_particle_request r = request_of(position, 2, kernel);
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
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(attributes)
  CASE(attributes_out_of_reach)
)
