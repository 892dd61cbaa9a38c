/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles_parts.c - slabs of a cloud's surface and potential, each from the particles near it, equal those of the whole. */
#include "particles_cloud.h"

enum { CORNER = 3 * 8 + 3 * 4 + 3 * 4 + COMPONENTS * 4 };

/* Copies the particles whose cell along z is from low to high. */
static void take_cells(const cloud *from, double spacing, double low, double high, cloud *to)
{
  to->count = 0;
  for (int64_t i = 0; i < from->count; i++) {
    const double cell = floor(from->position[3 * i + 2] / spacing);
    if (cell < low || cell > high) continue;
    memcpy(to->position + 3 * to->count, from->position + 3 * i, 3 * sizeof(double));
    memcpy(to->attribute + COMPONENTS * to->count, from->attribute + COMPONENTS * i, COMPONENTS * sizeof(float));
    to->radius[to->count] = from->radius[i];
    to->mass[to->count] = from->mass[i];
    to->density[to->count] = from->density[i];
    to->weight[to->count++] = from->weight[i];
  }
}

/* Bytes of the corners of all triangles, in order. */
typedef struct corners {
  char *bytes;
  int64_t count, points;
} corners;

/* Appends the mesh of a request, with the cloud's attributes. */
static void append_mesh(
  pmb_context *context, pmb_particles *particles, const pmb_particle_request *r, const cloud *c, corners *out)
{
  OWNED_CLOUD_MESH m;
  cloud_extract(context, particles, r, c, PMB_FLOAT64, PMB_INT32, &m);
  const pmb_sizes sizes = m.mesh.sizes;
  OWNED char *used = test_allocate(sizes.points + 1, 1);
  out->bytes = realloc(out->bytes, (size_t)(out->count + 3 * sizes.triangles + 1) * CORNER);
  for (int64_t n = 0; n < 3 * sizes.triangles; n++) {
    const int64_t id = mesh_id(&m.mesh, n);
    char *to = out->bytes + CORNER * out->count++;
    if (!CHECK(id >= 0 && id < sizes.points, "id %lld of %lld points", (long long)id, (long long)sizes.points)) break;
    used[id] = 1;
    memcpy(to, (double *)m.mesh.view.points + 3 * id, 24);
    memcpy(to + 24, m.mesh.view.normals + 3 * id, 12);
    memcpy(to + 36, m.mesh.view.gradients + 3 * id, 12);
    memcpy(to + 48, m.values + COMPONENTS * id, COMPONENTS * 4);
  }
  for (int64_t i = 0; i < sizes.points; i++)
    if (!CHECK(used[i], "point %lld of %lld has no triangle", (long long)i, (long long)sizes.points)) break;
  out->points += sizes.points;
}

/* Joins the bounds of two halves of a cloud. */
static pmb_particle_bounds bounds_of(
  pmb_context *context, pmb_particles *particles, const cloud *c, int kernel, int with, double spacing)
{
  pmb_particle_bounds whole = { .struct_size = sizeof whole }, half = whole;
  OWNED cloud *part = test_allocate(1, sizeof *part);
  for (int i = 0; i < 2; i++) {
    take_cells(c, spacing, i ? 0 : -INFINITY, i ? INFINITY : -1, part);
    pmb_particle_request r = request_for(part, kernel, with);
    r.spacing = spacing;
    CHECK_STATUS(context, pmb_particles_find_bounds(particles, &r, i ? &half : &whole), PMB_OK);
  }
  for (int a = 0; a < 3; a++) {
    whole.low[a] = fmin(whole.low[a], half.low[a]);
    whole.high[a] = fmax(whole.high[a], half.high[a]);
  }
  whole.radius = fmax(whole.radius, half.radius);
  whole.reach = fmax(whole.reach, half.reach);
  whole.halo = fmax(whole.halo, half.halo);
  return whole;
}

/* The triangles of all parts, one after another, equal those of the whole byte by byte. The whole is made by plain C. */
static void parts_and_whole(void)
{
  static cloud c, part;
  test_rng rng = { 3301 };
  for (int round = 0; round < (TEST_SLOW ? 16 : 64); round++) {
    const int kernel = round % KERNELS;
    const int with = round / 4 % 8, count = 1 + round % 4;
    fill_cloud(&c, &rng, rng_real(&rng, 1, 8), round >= 32);
    pmb_particle_request r = request_for(&c, kernel, with);
    r.spacing = rng_real(&rng, 0.2, 0.6);
    OWNED_CONTEXT context = context_new(1 + round % 3, NULL), plain = context_new(1, "portable");
    corners expected = { 0 }, got = { 0 };
    test_about("round %d: kernel %d, with %d, %d parts", round, kernel, with, count);
    OWNED_PARTICLES particles = particles_new(context), by_plain = particles_new(plain);
    append_mesh(plain, by_plain, &r, &c, &expected);
    const pmb_particle_bounds whole = bounds_of(context, particles, &c, kernel, with, r.spacing);
    int64_t end = INT64_MIN;
    for (int i = 0; i < count; i++) {
      const int64_t begin = end;
      const double cut = whole.low[2] + (whole.high[2] - whole.low[2]) * (i + 1) / count;
      end = i + 1 == count ? INT64_MAX : (int64_t)fmax(cut + (double)rng_int(&rng, -9, 9), (double)begin);
      take_cells(&c, r.spacing, (double)begin - whole.halo, (double)end + whole.halo, &part);
      pmb_particle_request of_part = request_for(&part, kernel, with);
      of_part.spacing = r.spacing;
      of_part.whole = &whole;
      of_part.z_begin = begin;
      of_part.z_end = end;
      append_mesh(context, particles, &of_part, &part, &got);
    }
    CHECK(expected.count > 1000, "%lld corners", (long long)expected.count);
    CHECK(got.count == expected.count && !memcmp(got.bytes, expected.bytes, (size_t)got.count * CORNER),
      "%lld corners against %lld, or other bytes", (long long)got.count, (long long)expected.count);
    CHECK(count > 1 || got.points == expected.points, "%lld points against %lld", (long long)got.points,
      (long long)expected.points);
    free(expected.bytes);
    free(got.bytes);
  }
}

/* An image from the particles near it has the same bytes as one from the whole cloud. */
static void images_of_parts(void)
{
  enum { SIDE = 24 };
  static cloud c, part;
  static float values[2][SIDE * SIDE * SIDE];
  test_rng rng = { 3303 };
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED_PARTICLES particles = particles_new(context);
  for (int round = 0; round < 16; round++) {
    const int kernel = round % KERNELS;
    int shown = 0;
    fill_cloud(&c, &rng, 6, round > 7);
    pmb_particle_request r = request_for(&c, kernel, round / 4);
    const pmb_particle_bounds whole = bounds_of(context, particles, &c, kernel, round / 4, r.spacing);
    pmb_particle_image image = { sizeof image, { -3, -3, rng_real(&rng, -12, 6) }, { 0.25, 0.25, 0.2 },
      { SIDE, SIDE, SIDE }, { 0 }, values[0] };
    const double low = floor(image.origin[2] / r.spacing), high = low + SIDE * 0.2 / r.spacing;
    take_cells(&c, r.spacing, low - whole.halo, high + whole.halo, &part);
    pmb_particle_request of_part = request_for(&part, kernel, round / 4);
    of_part.whole = &whole;
    test_about("round %d, %lld of %lld particles", round, (long long)part.count, (long long)c.count);
    CHECK_STATUS(context, pmb_particles_sample(particles, &r, &image), PMB_OK);
    image.values = values[1];
    CHECK_STATUS(context, pmb_particles_sample(particles, &of_part, &image), PMB_OK);
    CHECK(!memcmp(values[0], values[1], sizeof values[0]), "other bytes");
    for (int n = 1; n < SIDE * SIDE * SIDE; n++) shown += values[0][n] != values[0][n - 1];
    CHECK(shown > 1000, "only %d samples near particles", shown);
  }
}

/* Parts without particles, without layers, and far from the surface are empty; wrong bounds are refused. */
static void unusual_parts(void)
{
  static cloud c;
  test_rng rng = { 3302 };
  OWNED_CONTEXT context = context_new(1, NULL);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  OWNED_PARTICLES particles = particles_new(context);
  fill_cloud(&c, &rng, 3, 0);
  pmb_particle_request r = request_for(&c, PMB_KERNEL_SPLINE, 0);
  pmb_particle_bounds whole = bounds_of(context, particles, &c, PMB_KERNEL_SPLINE, 0, r.spacing);
  const struct {
    int64_t count, begin, end;
  } empty[] = { { 0, INT64_MIN, INT64_MAX }, { c.count, 3, 3 }, { c.count, 1000, INT64_MAX },
    { c.count, INT64_MIN, -1000 } };
  r.whole = &whole;
  for (int i = 0; i < 4; i++) {
    test_about("empty part %d", i);
    r.positions.count = empty[i].count;
    r.z_begin = empty[i].begin;
    r.z_end = empty[i].end;
    CHECK_STATUS(context, pmb_particles_count(particles, &r, &sizes), PMB_OK);
    CHECK(sizes.points == 0 && sizes.triangles == 0, "%lld points", (long long)sizes.points);
  }
  r.positions.count = c.count;
  r.z_begin = 1;
  r.z_end = 0;
  CHECK_REFUSED(context, pmb_particles_count(particles, &r, &sizes), PMB_INVALID, "z_begin");
  r.z_end = r.z_begin;
  for (int i = 0; i < 4; i++) {
    pmb_particle_bounds wrong = whole;
    *(i == 0 ? &wrong.low[1] : i == 1 ? &wrong.high[2] : &wrong.radius) += i == 0 ? 1 : -0.25;
    wrong.struct_size -= i == 3;
    r.whole = &wrong;
    test_about("wrong bounds %d", i);
    CHECK_REFUSED(context, pmb_particles_count(particles, &r, &sizes), PMB_INVALID, i == 3 ? "struct_size" : "whole");
  }
  CHECK_REFUSED(context, pmb_particles_find_bounds(particles, &r, NULL), PMB_INVALID, "pmb_particle_bounds");
  CHECK(pmb_particles_find_bounds(NULL, &r, &whole) == PMB_INVALID, "no object");
}

/* clang-format off */
TEST_MAIN(
  CASE(parts_and_whole)
  CASE(images_of_parts)
  CASE(unusual_parts)
)
