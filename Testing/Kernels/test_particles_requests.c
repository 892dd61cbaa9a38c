/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles_requests.c - unusual clouds, wrong requests, failing allocations, stops, huge boxes. */
#include <stdio.h>

#include "particles_mesh.h"
#include "test_ledger.h"

/* ---- unusual input ---- */

/* Particles at one place, on a line or far away have closed meshes. Integer positions give the mesh of equal doubles. */
static void unusual_clouds(void)
{
  enum { N = 3000 };
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED double *position = test_allocate(3 * N, sizeof *position);
  int16_t whole[3 * 40];
  test_mesh m, other;
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    pmb_particle_request r = request_of(position, N, kernel);
    test_about("kernel %d", kernel);
    for (int i = 0; i < 3 * N; i++) position[i] = 0.3;
    pmb_measures got = closed_mesh(context, &r, &m); /* all in one place */
    CHECK(got.components == 1 && got.euler == 2, "one place: %lld components", (long long)got.components);
    mesh_free(&m);
    for (int i = 0; i < 3 * N; i++) position[i] = i % 3 ? 0.3 : i / 3 * 0.01; /* on a line */
    got = closed_mesh(context, &r, &m);
    CHECK(got.components == 1, "a line: %lld components", (long long)got.components);
    mesh_free(&m);
    for (int i = 0; i < 3 * 40; i++) position[i] = whole[i] = (int16_t)(i * 37 % 11 - 5);
    r.positions.count = 40;
    closed_mesh(context, &r, &other);
    r.positions = (pmb_particle_array){ whole, PMB_INT16, 40, 0 };
    closed_mesh(context, &r, &m);
    mesh_equal(&other, &m, "16-bit integers");
    mesh_free(&m);
    mesh_free(&other);
    r.positions = (pmb_particle_array){ position, PMB_FLOAT64, 2, 0 };
    r.spacing = 1e-3;
    r.radius = 2e-3;
    for (int i = 0; i < 6; i++) position[i] = 1e8 + (i > 2) * 0.001;
    closed_mesh(context, &r, &m);
    CHECK(m.sizes.triangles > 0, "no triangles");
    mesh_free(&m);
  }
}

/* Particles at positions that are not finite are left out and counted. If no others are left, the mesh is empty. */
static void not_finite(void)
{
  const double bad[] = { NAN, INFINITY, -INFINITY };
  double position[3 * 9] = { 0 };
  OWNED_CONTEXT context = context_new(1, NULL);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  OWNED_PARTICLES particles = particles_new(context);
  for (int i = 0; i < 9; i++) position[3 * i + i % 3] = i < 8 ? bad[i / 3] : 0;
  pmb_particle_request r = request_of(position, 9, PMB_KERNEL_SPLINE);
  CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
  CHECK(sizes.left_out == 8 && sizes.triangles > 0, "%lld left out, %lld triangles", (long long)sizes.left_out,
    (long long)sizes.triangles);
  const int64_t triangles = sizes.triangles;
  double numbers[9]; /* of which those of particles that are left out do not count */
  for (int i = 0; i < 9; i++) numbers[i] = i < 8 ? bad[i / 3] : r.radius;
  r.radii = r.masses = r.densities = (pmb_particle_array){ numbers, PMB_FLOAT64, 9, 0 };
  CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
  numbers[8] = NAN;
  CHECK_REFUSED(context, pmb_particles_count(particles, &r, &sizes), PMB_INVALID, "particle 8 is nan");
  r = request_of(position, 9, PMB_KERNEL_SPLINE);
  CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
  CHECK(sizes.triangles == triangles, "%lld triangles", (long long)sizes.triangles);
  for (int64_t count = 8; count >= 0; count -= 8) {
    OWNED_MESH m;
    r.positions.count = count;
    CHECK_STATUS(context, extract(context, particles, &r, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
    CHECK(m.sizes.points == 0 && m.sizes.triangles == 0, "%lld points", (long long)m.sizes.points);
  }
}

#define BAD(member, value, word)                                                                          \
  do {                                                                                                    \
    pmb_particle_request bad = good;                                                                      \
    bad.member = value;                                                                                   \
    test_about(#member " = " #value);                                                                     \
    CHECK_REFUSED(context, pmb_particles_count(particles, &bad, &sizes), PMB_INVALID, word);              \
    CHECK(sizes.triangles == 0, "%lld triangles", (long long)sizes.triangles);                            \
    CHECK_REFUSED(context, pmb_particles_emit(particles, &(pmb_mesh){ .struct_size = sizeof(pmb_mesh) }), \
      PMB_INVALID, "nothing is counted");                                                                 \
  } while (0)

static void bad_requests(void)
{
  const double position[9] = { 0, 0, 0, 1, 0, 0, 2, 0, 0 }, number[3] = { 1, 0, -1 };
  OWNED_CONTEXT context = context_new(1, NULL);
  OWNED_PARTICLES particles;
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  CHECK(pmb_particles_create(NULL, &particles) == PMB_INVALID && !particles, "no context");
  CHECK_REFUSED(context, pmb_particles_create(context, NULL), PMB_INVALID, "NULL");
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  const pmb_particle_request good = request_of(position, 3, PMB_KERNEL_SPLINE);
  BAD(struct_size, 3, "struct_size");
  BAD(spacing, 0, "spacing is 0");
  BAD(spacing, -1, "spacing is -1");
  BAD(spacing, NAN, "spacing is");
  BAD(isovalue, 0, "isovalue is 0");
  BAD(isovalue, -2, "isovalue is -2");
  BAD(isovalue, INFINITY, "isovalue is inf");
  BAD(kernel, (pmb_particle_kernel)4, "kernel is 4");
  BAD(normals, (pmb_particle_normals)4, "normals is 4");
  BAD(radius, 0, "radius is 0");
  BAD(radius, -3, "radius is -3");
  BAD(smoothing, -1, "smoothing is -1");
  BAD(brick_limit, -1, "brick_limit is -1");
  BAD(positions.count, -1, "-1 particles");
  BAD(positions.values, NULL, "NULL");
  BAD(positions.type, (pmb_type)11, "type 11");
  BAD(positions.stride, 2, "stride 2");
  BAD(positions.values, (const char *)position + 1, "aligned");
  BAD(radii, ((pmb_particle_array){ number, PMB_FLOAT64, 2, 0 }), "radii has 2 particles");
  BAD(masses, ((pmb_particle_array){ number, PMB_FLOAT64, 4, 0 }), "masses has 4 particles");
  BAD(weights, ((pmb_particle_array){ number, PMB_FLOAT64, 3, 0 }), "weights are set");
  BAD(radii, ((pmb_particle_array){ number, PMB_FLOAT64, 3, 0 }), "radius of particle 1 is 0");
  BAD(masses, ((pmb_particle_array){ number, PMB_FLOAT64, 3, 0 }), "mass of particle 1 is 0");
  BAD(densities, ((pmb_particle_array){ number, PMB_FLOAT64, 3, 0 }), "density of particle 1 is 0");
  pmb_particle_request round = request_of(position, 3, PMB_KERNEL_GAUSSIAN);
  round.anisotropic = 1;
  CHECK_REFUSED(context, pmb_particles_count(particles, &round, &sizes), PMB_INVALID, "anisotropic is 1");
  CHECK_REFUSED(context, pmb_particles_count(particles, NULL, &sizes), PMB_INVALID, "struct_size");
  CHECK_REFUSED(context, pmb_particles_count(particles, &good, NULL), PMB_INVALID, "struct_size");
  pmb_particle_request large = good;
  large.spacing = 1e-6;
  CHECK_REFUSED(context, pmb_particles_count(particles, &large, &sizes), PMB_TOO_LARGE, "try a spacing of");
  large = good;
  large.brick_limit = 3;
  CHECK_REFUSED(context, pmb_particles_count(particles, &large, &sizes), PMB_TOO_LARGE, "the limit is 3");
  pmb_particle_request wide = good;
  wide.radius = wide.spacing = 1e39;
  CHECK_STATUS(context, pmb_particles_count(particles, &wide, &sizes), PMB_OK);
  float few[300];
  const pmb_mesh narrow = { .struct_size = sizeof narrow,
    .points = few,
    .point_type = PMB_FLOAT32,
    .point_capacity = 100,
    .triangle_capacity = 300 };
  CHECK_REFUSED(context, pmb_particles_emit(particles, &narrow), PMB_INVALID, "use double precision");
  CHECK_STATUS(context, pmb_particles_count(particles, &good, &sizes), PMB_OK);
  pmb_mesh mesh = { .struct_size = sizeof mesh, .point_capacity = 1 };
  CHECK_REFUSED(context, pmb_particles_emit(particles, &mesh), PMB_INVALID, "room for 1 points");
  mesh.point_capacity = mesh.triangle_capacity = sizes.points + sizes.triangles;
  mesh.cells = test_allocate(mesh.triangle_capacity, sizeof *mesh.cells);
  CHECK_REFUSED(context, pmb_particles_emit(particles, &mesh), PMB_INVALID, "leave them NULL");
  free(mesh.cells);
  const pmb_attribute attribute = { position, PMB_FLOAT64, 1, NULL, 0 };
  mesh.cells = NULL;
  mesh.attributes = &attribute;
  mesh.attribute_count = 1;
  CHECK_REFUSED(context, pmb_particles_emit(particles, &mesh), PMB_INVALID, "pmb_particles_emit: attribute 0");
  pmb_particles_destroy(NULL);
}

/* Particles far from the others add their own surfaces, with the same bytes for parts of the cloud; those beyond any index are left
 * out. So are the cells between: bricks and memory stay as few. */
static void far_particles(void)
{
  enum { NEAR = 400, FAR = 6, N = NEAR + FAR + 2 };
  static const double away[FAR][3] = { { 1e8, 1e8, 1e8 }, { -1e8, 3, 1e12 }, { 0, 0, -1e8 }, { 1e8, 1e8, 1e8 + 1 },
    { 2e14, -1e14, 0 }, { 4e6, 4e6, 4e6 } };
  OWNED double *position = make_cloud(N, 6, 2210);
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED_PARTICLES particles = particles_new(context);
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    pmb_particle_request r = request_of(position, NEAR, kernel), one = request_of(away[0], 1, kernel);
    pmb_particle_bounds whole = { .struct_size = sizeof whole }, found = { .struct_size = sizeof found };
    pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
    OWNED_MESH near, single, all;
    test_about("kernel %d", kernel);
    const pmb_measures few = closed_mesh(context, &r, &near);
    closed_mesh(context, &one, &single);
    memcpy(position + 3 * NEAR, away, sizeof away);
    for (int a = 0; a < 6; a++) position[3 * (NEAR + FAR) + a] = a == 1 ? 1e300 : a == 4 ? NAN : 0;
    r.positions.count = N;
    const pmb_measures got = closed_mesh(context, &r, &all);
    CHECK(got.components == few.components + FAR - 1, "%lld components, %lld without", (long long)got.components,
      (long long)few.components);
    CHECK(all.sizes.triangles > near.sizes.triangles + 4 * single.sizes.triangles, "%lld triangles",
      (long long)all.sizes.triangles);
    CHECK_STATUS(context, pmb_particles_find_bounds(particles, &r, &whole), PMB_OK);
    CHECK(pmb_particles_are_far(&whole) && !whole.spans[0], "far %d", pmb_particles_are_far(&whole));
    r.whole = &whole;
    CHECK_STATUS(context, pmb_particles_find_bounds(particles, &r, &found), PMB_OK);
    pmb_particle_span spans[3][2 * N];
    for (int a = 0; a < 3; a++) { /* twice and in another order, as from several parts */
      for (int64_t i = 0; i < 2 * found.span_count[a]; i++)
        spans[a][i] = found.spans[a][found.span_count[a] - 1 - i % found.span_count[a]];
      whole.spans[a] = spans[a];
      whole.span_count[a] = 2 * found.span_count[a];
    }
    int64_t triangles = 0;
    const int64_t cuts[] = { INT64_MIN, -4000000, 7, 1000000000, INT64_MAX };
    for (int part = 0; part < 4; part++) {
      r.z_begin = cuts[part];
      r.z_end = cuts[part + 1];
      CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
      CHECK(sizes.left_out == 2 && sizes.triangles > 0, "%lld left out", (long long)sizes.left_out);
      triangles += sizes.triangles;
    }
    CHECK(triangles == all.sizes.triangles, "%lld triangles in parts", (long long)triangles);
    float value[2];
    const pmb_particle_image image = { sizeof image, { 1e8, 1e8, 1e8 }, { 5e7, 1, 1 }, { 2, 1, 1 }, { 0 }, value };
    CHECK_STATUS(context, pmb_particles_sample(particles, &r, &image), PMB_OK);
    CHECK(value[0] > value[1] && value[0] > 0.4f, "%g and %g", (double)value[0], (double)value[1]);
  }
}

/* Too many bricks are refused before they are counted. Following the suggested spacings leads to one that works. So are too many
 * particles for each sample. */
static void too_many_bricks(void)
{
  OWNED double *position = make_cloud(8000, 20, 2208);
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  pmb_particle_request r = request_of(position, 8000, PMB_KERNEL_SPLINE);
  int tries = 0;
  OWNED_PARTICLES particles = particles_new(context);
  r.spacing = 0.002;
  r.brick_limit = 20000;
  for (r.radius = 0.1; pmb_particles_count(particles, &r, &sizes) == PMB_TOO_LARGE && ++tries < 5;) {
    CHECK(tries > 2 || strstr(pmb_error(context), "gives at least"), "%s", pmb_error(context));
    r.spacing = atof(strstr(pmb_error(context), "spacing of") + 10);
  }
  CHECK(tries > 0 && tries < 5 && r.spacing < 0.5 && sizes.bricks > 1000, "%d tries, spacing %g, %lld bricks", tries,
    r.spacing, (long long)sizes.bricks);
  r.radius = 0.5;
  r.spacing = 0.25;
  r.smoothing = 25;
  r.brick_limit = 100000;
  CHECK_REFUSED(context, pmb_particles_count(particles, &r, &sizes), PMB_TOO_LARGE,
    "8000 particles reach 4.19e+06 samples each, 3.352e+10 together, and the limit is 3.2768e+09");
}

/* ---- memory and stops ---- */

typedef struct stopper {
  int stop_at, calls;
} stopper;

static int stop(void *user, double fraction)
{
  stopper *s = user;
  CHECK(fraction >= 0 && fraction <= 1, "fraction %g", fraction);
  return ++s->calls == s->stop_at;
}

typedef struct subject {
  pmb_particle_request request;
  test_mesh right;
  int samples; /* 1: an image first */
  pmb_particles *particles;
} subject;

static pmb_status count_or_sample(pmb_particles *particles, const subject *of)
{
  static float values[20 * 20 * 20];
  const pmb_particle_image image = { sizeof image, { -1, -1, -1 }, { 0.3, 0.3, 0.3 }, { 20, 20, 20 }, { 0 }, values };
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  return of->samples ? pmb_particles_sample(particles, &of->request, &image)
                     : pmb_particles_count(particles, &of->request, &sizes);
}

static void gives_right_mesh(pmb_context *context, pmb_particles *particles, const subject *of)
{
  OWNED_MESH m;
  CHECK_STATUS(context, extract(context, particles, &of->request, PMB_FLOAT64, PMB_INT32, &m), PMB_OK);
  mesh_equal(&of->right, &m, "mesh");
}

/* After a failure the next call goes on with the same object. */
static pmb_status with_one_object(pmb_context *context, ledger *l, void *user)
{
  subject *of = user;
  pmb_status status = of->particles ? PMB_OK : pmb_particles_create(context, &of->particles);
  CHECK((status == PMB_OK) == (of->particles != NULL), "%s", pmb_error(context));
  if (status == PMB_OK) status = count_or_sample(of->particles, of);
  if (status != PMB_OK) return status;
  l->fails = 0;
  gives_right_mesh(context, of->particles, of);
  pmb_particles_destroy(of->particles);
  of->particles = NULL;
  return status;
}

/* Each allocation fails once, and each call of the hook stops once, during a count and a sample. Afterwards the same object gives
 * the right mesh. */
static void failures_and_stops(void)
{
  const int64_t n = TEST_SLOW ? 100 : 400;
  OWNED double *position = make_cloud(n, 5, 2204);
  double radius[400];
  for (int i = 0; i < n; i++) radius[i] = 0.4 + 0.0005 * i;
  pmb_particle_request r = request_of(position, n, PMB_KERNEL_SPLINE);
  r.radii = r.masses = (pmb_particle_array){ radius, PMB_FLOAT64, n, 0 };
  r.anisotropic = 1; /* uses every buffer */
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED_MESH right;
  closed_mesh(context, &r, &right);
  for (int samples = 0; samples < 2; samples++) {
    subject of = { r, right, samples, NULL };
    CHECK(fail_each_allocation(2, 1, with_one_object, &of) > 15, "few failures");
    for (int at = 1, more = 1; more && CHECK(at < 1000, "no end"); at++) {
      OWNED_PARTICLES particles = particles_new(context);
      stopper stopper = { at, 0 };
      test_about("stop %d", at);
      pmb_set_progress(context, stop, &stopper);
      const pmb_status status = count_or_sample(particles, &of);
      pmb_set_progress(context, NULL, NULL);
      more = status != PMB_OK;
      CHECK(status == PMB_OK || status == PMB_ABORTED, "%s", pmb_error(context));
      CHECK(more || at > 10, "only %d", at - 1);
      gives_right_mesh(context, particles, &of);
    }
  }
}

/* From the second step on, an animation with equally many bricks allocates nothing. */
static void memory_is_used_again(void)
{
  OWNED double *position = make_cloud(3000, 12, 2206);
  ledger l;
  pmb_options options = ledger_options(&l, 2);
  options.device = PMB_DEVICE_CPU;
  pmb_particle_request r = request_of(position, 3000, PMB_KERNEL_SPLINE);
  pmb_context *context;
  pmb_particles *particles;
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_OK);
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  int64_t before = 0;
  for (int step = 0; step < 4; step++) {
    test_mesh m;
    for (int i = 0; i < 9000; i++) position[i] += 8 * r.spacing * 4;
    CHECK_STATUS(context, extract(context, particles, &r, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
    mesh_free(&m);
    before = step == 0 ? l.allocations : before;
  }
  CHECK(l.allocations == before && before > 10, "%lld allocations, %lld at first", (long long)l.allocations,
    (long long)before);
  pmb_particles_destroy(particles);
  pmb_destroy(context);
  CHECK(l.held == 0, "%lld blocks are left", (long long)l.held);
}

/* Particles far apart in 16384^3 cells: memory depends only on their bricks. */
static void huge_box(void)
{
  const int64_t n = TEST_SLOW ? 2000 : 20000;
  OWNED double *position = make_cloud(n, 16384, 2205);
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_particle_request r = request_of(position, n, PMB_KERNEL_SPHERES);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  pmb_info info = { .struct_size = sizeof info };
  r.spacing = 1;
  r.radius = 1.5;
  OWNED_PARTICLES particles = particles_new(context);
  CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
  CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
  CHECK(sizes.triangles > 20 * n && sizes.active_bricks >= n, "%lld triangles", (long long)sizes.triangles);
  CHECK(info.peak_bytes < 6000 * n + (1 << 24), "%lld bytes", (long long)info.peak_bytes);
}

/* clang-format off */
TEST_MAIN(
  CASE(unusual_clouds)
  CASE(not_finite)
  CASE(bad_requests)
  CASE(far_particles)
  CASE(too_many_bricks)
  CASE(failures_and_stops)
  CASE(memory_is_used_again)
  CASE(huge_box)
)
