/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles_sample.c - images of the potential against sums over all particles; the same bytes on all paths; wrong images. */
#include "particles_mesh.h"
#include "particles_reference.h"

/* Each sample has the potential summed over all particles, with the same bytes for any number of threads and any path. */
static void images(void)
{
  test_rng rng = { 2210 };
  for (int round = 0; round < (TEST_SLOW ? 12 : 60); round++) {
    double position[3 * MOST], number[3][MOST];
    const int64_t count = round == 5 ? 0 : rng_int(&rng, 1, MOST);
    pmb_particle_request r = request_of(position, count, round % KERNELS);
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
    OWNED float *values = test_allocate(2 * n, sizeof *values);
    test_about("round %d", round);
    for (int i = 0; i < TEST_PATHS; i++) {
      OWNED_CONTEXT context = context_on_path(i);
      if (!context) continue;
      OWNED_PARTICLES particles = particles_new(context);
      image.values = values + (i > 0) * n;
      CHECK_STATUS(context, pmb_particles_sample(particles, &r, &image), PMB_OK);
      CHECK(!memcmp(values, image.values, (size_t)n * sizeof *values), "other bytes on path %d", i);
      CHECK_REFUSED(context, pmb_particles_emit(particles, &(pmb_mesh){ .struct_size = sizeof(pmb_mesh) }),
        PMB_INVALID, "nothing is counted");
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
  }
}

/* Wide particles have the densities of all pairs among many narrow ones, which the samples avoid. */
static void wide_among_narrow(void)
{
  enum { WIDE = 200, X = 10, Y = 24, NARROW = X * Y * Y, SIDE = 5 };
  static double position[WIDE + NARROW][3], radius[WIDE + NARROW], mass[WIDE + NARROW], amount[WIDE];
  test_rng rng = { 2211 };
  for (int i = 0; i < WIDE + NARROW; i++) {
    const int k = i - WIDE, place[3] = { k % X - X / 2, k / X % Y - Y / 2, k / X / Y - Y / 2 };
    radius[i] = i < WIDE ? 2 : 0.06;
    mass[i] = 1;
    for (int a = 0; a < 3; a++) position[i][a] = i < WIDE ? rng_real(&rng, -3, 3) : place[a] + 0.5;
  }
  for (int i = 0; i < WIDE; i++) {
    double density = 0;
    for (int j = 0; j < WIDE + NARROW; j++)
      density += kernel_of(PMB_KERNEL_SPLINE, distance_of(position[i], position[j]) / 4);
    amount[i] = 1 / density;
  }
  pmb_particle_request r = request_of(position[0], WIDE + NARROW, PMB_KERNEL_SPLINE);
  r.radii = (pmb_particle_array){ radius, PMB_FLOAT64, WIDE + NARROW, 0 };
  r.masses = (pmb_particle_array){ mass, PMB_FLOAT64, WIDE + NARROW, 0 };
  float values[SIDE * SIDE * SIDE];
  const pmb_particle_image image = { sizeof image, { 0 }, { 1, 1, 1 }, { SIDE, SIDE, SIDE }, { 0 }, values };
  OWNED_CONTEXT context = context_new(2, NULL);
  double worst = 0;
  OWNED_PARTICLES particles = particles_new(context);
  CHECK_STATUS(context, pmb_particles_sample(particles, &r, &image), PMB_OK);
  for (int n = 0; n < SIDE * SIDE * SIDE; n++) {
    const double at[3] = { n % SIDE, n / SIDE % SIDE, n / SIDE / SIDE };
    double sum = 0;
    for (int i = 0; i < WIDE; i++) sum += amount[i] * kernel_of(PMB_KERNEL_SPLINE, distance_of(at, position[i]) / 4);
    worst = fmax(worst, fabs((double)values[n] / sum - 1));
  }
  CHECK(worst < 1e-4, "a sample is off by %g", worst);
}

static void bad_images(void)
{
  const double position[3] = { 0 };
  float value;
  OWNED_CONTEXT context = context_new(1, NULL);
  OWNED_PARTICLES particles = particles_new(context);
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
}

/* clang-format off */
TEST_MAIN(
  CASE(images)
  CASE(wide_among_narrow)
  CASE(bad_images)
)
