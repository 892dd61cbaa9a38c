/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_measures.c - pmb_measure against a slow count of all edges; several isovalues, threads, flags, wrong requests. */
#include <math.h>

#include "test_util.h"

static pmb_measure_request request_of(const test_mesh *m)
{
  return (pmb_measure_request){
    .struct_size = sizeof(pmb_measure_request), .mesh = &m->view, .parts = &m->sizes, .part_count = 1
  };
}

/* Measures a mesh of one part. */
static pmb_measures measure(pmb_context *context, const test_mesh *m)
{
  pmb_measures got = { .struct_size = sizeof got };
  pmb_measure_request request = request_of(m);
  CHECK_STATUS(context, pmb_measure(context, &request, &got), PMB_OK);
  return got;
}

/* Checks that all members are equal. */
static void check_equal(const pmb_measures *a, const pmb_measures *b)
{
  const int64_t *p = &a->points, *q = &b->points;
  CHECK(a->area == b->area && a->volume == b->volume, "area %.17g and %.17g, volume %.17g and %.17g", a->area,
    b->area, a->volume, b->volume);
  CHECK(a->closed == b->closed, "closed %d, %d", a->closed, b->closed);
  for (int n = 0; n < 7; n++) /* points, edges, triangles, boundary_edges, nonmanifold_edges, euler, components */
    CHECK(p[n] == q[n], "integer %d: %lld, %lld", n, (long long)p[n], (long long)q[n]);
}

/* A surface so large that its points are cut into several ranges even on one thread. */
static void big_mesh(test_volume *v, pmb_type real_type, pmb_type id_type, test_mesh *m)
{
  double isovalue = 0.1;
  OWNED_CONTEXT context = context_new(0, NULL);
  volume_sampled(v, PMB_FLOAT32, TEST_SLOW ? 60 : 110, gyroid);
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, real_type, id_type, m), PMB_OK);
}

/* ---- reference ---- */

typedef struct side {
  int64_t low, high;
  int forward;
} side;

static int compare_sides(const void *a, const void *b)
{
  const side *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  return p->high < q->high ? -1 : p->high > q->high;
}

static int64_t root_of(int64_t *parents, int64_t p)
{
  while (parents[p] != p) p = parents[p] = parents[parents[p]];
  return p;
}

/* Collects all sides of the triangles that count, sorted; counts points and components. */
static side *collect_sides(const test_mesh *m, const uint8_t *flags, uint8_t left_out, pmb_measures *s)
{
  side *sides = test_allocate(3 * m->sizes.triangles, sizeof *sides);
  OWNED int64_t *parents = test_allocate(m->sizes.points, sizeof *parents);
  for (int64_t p = 0; p < m->sizes.points; p++) parents[p] = p;
  OWNED char *used = test_allocate(m->sizes.points, 1);
  for (int64_t t = 0; t < m->sizes.triangles; t++) {
    if (flags && flags[t] & left_out) continue;
    for (int c = 0; c < 3; c++) {
      int64_t a = mesh_id(m, 3 * t + c), b = mesh_id(m, 3 * t + (c + 1) % 3);
      sides[3 * s->triangles + c] = a < b ? (side){ a, b, 1 } : (side){ b, a, 0 };
      s->components -= root_of(parents, a) != root_of(parents, b);
      parents[root_of(parents, a)] = root_of(parents, b);
      s->points += !used[a];
      used[a] = 1;
    }
    s->triangles++;
  }
  s->components += s->points;
  qsort(sides, (size_t)(3 * s->triangles), sizeof *sides, compare_sides);
  return sides;
}

/* Measures by a plain count of all edges; leaves area and volume at 0. */
static pmb_measures measure_slowly(const test_mesh *m, const uint8_t *flags, uint8_t left_out)
{
  pmb_measures s = { .struct_size = sizeof s, .closed = 1 };
  OWNED side *sides = collect_sides(m, flags, left_out, &s);
  for (int64_t n = 0; n < 3 * s.triangles;) {
    int64_t uses = 0, forward = 0, first = n;
    for (; n < 3 * s.triangles && !compare_sides(sides + first, sides + n); n++) {
      uses++;
      forward += sides[n].forward;
    }
    s.edges++;
    s.boundary_edges += uses == 1;
    s.nonmanifold_edges += uses > 2;
    s.closed &= 2 * forward == uses;
  }
  s.euler = s.points - s.edges + s.triangles;
  return s;
}

/* Checks the measures against the slow count, area and volume against plain sums up to rounding. Returns them. */
static pmb_measures judge_measures(pmb_context *context, const test_mesh *m)
{
  pmb_measures got = measure(context, m), numbers = got, expected = measure_slowly(m, NULL, 0);
  double area, volume;
  mesh_sums(m, &area, &volume);
  numbers.area = numbers.volume = 0;
  check_equal(&numbers, &expected);
  CHECK(fabs(got.area - area) <= 1e-12 * area, "area %.17g, the plain sum is %.17g", got.area, area);
  double p[3], reach = 0;
  for (int64_t n = 0; n < m->sizes.points; n++) {
    mesh_point(m, n, p);
    for (int c = 0; c < 3; c++) reach = fmax(reach, fabs(p[c]));
  }
  CHECK(
    fabs(got.volume - volume) <= 1e-12 * area * reach, "volume %.17g, the plain sum is %.17g", got.volume, volume);
  return got;
}

/* ---- surfaces ---- */

/* Each edge has two triangles, but some run in the same direction: the mesh encloses nothing. */
static void one_reversed_triangle(void)
{
  OWNED_MESH m;
  OWNED_CONTEXT context = context_new(1, NULL);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 20, ball);
  mesh_of_volume(&v.view, 0, 1, &m);
  int64_t *ids = m.view.triangles, first = ids[300];
  ids[300] = ids[301];
  ids[301] = first;
  pmb_measures got = judge_measures(context, &m);
  CHECK(!got.closed && got.boundary_edges == 0 && got.euler == 2, "closed %d, %lld boundary edges", got.closed,
    (long long)got.boundary_edges);
}

/* Gives each triangle a random bit and measures with each set of bits left out. */
static void judge_left_out(pmb_context *context, const test_mesh *m, test_rng *rng)
{
  OWNED uint8_t *flags = test_allocate(m->sizes.triangles, 1);
  pmb_measures got = { .struct_size = sizeof got };
  pmb_measure_request request = request_of(m);
  request.flags = flags;
  for (int64_t t = 0; t < m->sizes.triangles; t++) flags[t] = (uint8_t)(1 << rng_int(rng, 0, 2));
  for (int bits = 0; bits < 8; bits++) {
    request.left_out = (uint8_t)bits;
    CHECK_STATUS(context, pmb_measure(context, &request, &got), PMB_OK);
    pmb_measures expected = measure_slowly(m, flags, (uint8_t)bits);
    CHECK(bits < 7 || (got.area == 0 && got.volume == 0), "area %g of no triangle", got.area);
    got.area = got.volume = 0;
    check_equal(&got, &expected);
  }
}

/* Volumes of all kinds, with and without joined points, all types of points and ids. */
static void random_volumes(void)
{
  test_rng rng = { 2024 };
  OWNED_CONTEXT context = context_new(3, NULL);
  int64_t open = 0, joined = 0, several = 0;
  for (int n = 0; n < (TEST_SLOW ? 40 : 250); n++) {
    OWNED_VOLUME v;
    OWNED_MESH m;
    volume_random(&v, rng_int(&rng, 1, 50), rng_int(&rng, 2, 20), rng_int(&rng, 2, 20), &rng);
    double isovalue = volume_isovalue(&v, &rng);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context,
      mesh_extract(
        context, &isovalue, 1, n & 1, n & 2 ? PMB_FLOAT32 : PMB_FLOAT64, n & 4 ? PMB_INT32 : PMB_INT64, &m),
      PMB_OK);
    pmb_measures got = judge_measures(context, &m);
    CHECK(n & 1 || got.nonmanifold_edges == 0, "non-manifold edges though no points are joined");
    judge_left_out(context, &m, &rng);
    open += got.boundary_edges > 0;
    joined += got.nonmanifold_edges > 0;
    several += got.components > 1;
  }
  CHECK(open > 9 && joined > 2 && several > 9, "%lld open, %lld joined, %lld of several components", (long long)open,
    (long long)joined, (long long)several);
}

/* ---- parts, flags, threads ---- */

/* Each isovalue is measured as if it were alone. All together are measured as one part, too. */
static void several_isovalues(void)
{
  enum { COUNT = 4 };
  double isovalues[COUNT] = { 0.3, 9, 0.3, -0.6 };
  pmb_sizes parts[COUNT], total;
  pmb_measures got[COUNT];
  pmb_request request = { sizeof request, isovalues, COUNT, 1 };
  OWNED_MESH m;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 40, gyroid);
  OWNED_CONTEXT context = bound_context(2, &v.view);
  CHECK_STATUS(context, pmb_count(context, &request, &total, parts), PMB_OK);
  mesh_make(&m, total, PMB_FLOAT32, PMB_INT32);
  CHECK_STATUS(context, pmb_emit(context, &m.view), PMB_OK);
  judge_measures(context, &m);
  pmb_measure_request measuring = request_of(&m);
  measuring.parts = parts;
  measuring.part_count = COUNT;
  for (int n = 0; n < COUNT; n++) got[n].struct_size = sizeof got[n];
  CHECK_STATUS(context, pmb_measure(context, &measuring, got), PMB_OK);
  for (int n = 0; n < COUNT; n++) {
    OWNED_MESH alone;
    test_about("isovalue %d", n);
    CHECK_STATUS(context, mesh_extract(context, isovalues + n, 1, 1, PMB_FLOAT32, PMB_INT32, &alone), PMB_OK);
    pmb_measures expected = judge_measures(context, &alone);
    check_equal(&got[n], &expected);
  }
  CHECK(
    got[1].area == 0 && got[1].points == 0 && got[1].closed, "an isovalue without a surface: area %g", got[1].area);
}

static void threads_and_ids_change_nothing(void)
{
  OWNED_VOLUME v;
  test_mesh m[2];
  big_mesh(&v, PMB_FLOAT32, PMB_INT32, &m[0]);
  volume_free(&v);
  big_mesh(&v, PMB_FLOAT32, PMB_INT64, &m[1]);
  pmb_context *context = context_new(1, NULL);
  pmb_measures expected = judge_measures(context, &m[0]);
  pmb_destroy(context);
  CHECK(TEST_SLOW || expected.points > 200000, "%lld points are not enough", (long long)expected.points);
  for (int threads = 1; threads <= 64; threads += threads < 4 ? 1 : 20)
    for (int n = 0; n < 6; n++) {
      test_about("%d threads, %d bits, turn %d", threads, n % 2 ? 64 : 32, n / 2);
      context = context_new(threads, NULL);
      pmb_measures got = measure(context, &m[n % 2]);
      check_equal(&got, &expected);
      pmb_destroy(context);
    }
  for (int n = 0; n < 2; n++) mesh_free(&m[n]);
}

/* Points in random order, the worst for ranges and buckets: only rounding may differ. */
static void ids_need_not_be_in_order(void)
{
  test_rng rng = { 5 };
  OWNED_VOLUME v;
  OWNED_MESH m;
  big_mesh(&v, PMB_FLOAT64, PMB_INT32, &m);
  OWNED_CONTEXT context = context_new(4, NULL);
  pmb_measures before = measure(context, &m);
  int32_t *ids = m.view.triangles, *place = test_allocate(m.sizes.points, sizeof *place);
  double *points = m.view.points;
  for (int32_t p = 0; p < m.sizes.points; p++) place[p] = p;
  for (int64_t p = m.sizes.points - 1; p > 0; p--) {
    int64_t o = rng_int(&rng, 0, p);
    int32_t id = place[p];
    place[p] = place[o];
    place[o] = id;
  }
  OWNED double *moved = test_allocate(3 * m.sizes.points, sizeof *moved);
  for (int64_t p = 0; p < m.sizes.points; p++) memcpy(moved + 3 * place[p], points + 3 * p, 3 * sizeof *moved);
  memcpy(points, moved, (size_t)(3 * m.sizes.points) * sizeof *moved);
  for (int64_t n = 0; n < 3 * m.sizes.triangles; n++) ids[n] = place[ids[n]];
  pmb_measures after = measure(context, &m);
  CHECK(fabs(after.area - before.area) < 1e-12 * before.area, "area %.17g, %.17g", after.area, before.area);
  CHECK(fabs(after.volume - before.volume) < 1e-12 * before.area, "volume %.17g, %.17g", after.volume, before.volume);
  after.area = before.area;
  after.volume = before.volume;
  check_equal(&after, &before);
  free(place);
}

/* ---- errors ---- */

static void refuses(pmb_context *context, const pmb_measure_request *request, const char *part)
{
  pmb_measures got = { .struct_size = sizeof got };
  CHECK_REFUSED(context, pmb_measure(context, request, &got), PMB_INVALID, part);
}

static void bad_requests(void)
{
  static const test_wrong requests[] = {
    WRONG(pmb_measure_request, struct_size, 3, "pmb_measure_request.struct_size is 3"),
    WRONG(pmb_measure_request, mesh, 0, "pmb_mesh.struct_size is 0"),
    WRONG(pmb_measure_request, part_count, -1, "part_count is -1"),
    WRONG(pmb_measure_request, parts, 0, "parts is NULL"),
  };
  static const test_wrong meshes[] = {
    WRONG(pmb_mesh, points, 0, "points are NULL"),
    WRONG(pmb_mesh, triangles, 0, "triangles are NULL"),
    WRONG(pmb_mesh, point_type, PMB_INT8, "point_type is 1"),
    WRONG(pmb_mesh, id_type, PMB_FLOAT32, "id_type is 9"),
  };
  OWNED_MESH m;
  OWNED_CONTEXT context = context_new(1, NULL);
  pmb_measures got = { .struct_size = sizeof got }, without_size = { 0 };
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 20, ball);
  mesh_of_volume(&v.view, 0, 1, &m);
  const pmb_measure_request good = request_of(&m);
  const pmb_mesh whole = m.view;
  pmb_sizes part = { -1, 5 };
  CHECK_STATUS(NULL, pmb_measure(NULL, &good, &got), PMB_INVALID);
  CHECK_STATUS(context, pmb_measure(context, &good, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_measure(context, &good, &without_size), PMB_INVALID);
  refuses(context, NULL, "pmb_measure_request.struct_size is 0");
  pmb_measure_request r = good;
  for (size_t n = 0; n < sizeof requests / sizeof *requests; n++) {
    r = good;
    test_set_wrong(&r, requests + n);
    refuses(context, &r, requests[n].word);
  }
  r = good;
  r.parts = &part;
  refuses(context, &r, "part 0 has -1 points");
  part = (pmb_sizes){ m.sizes.points, m.view.triangle_capacity + 1 };
  refuses(context, &r, "room for");
  part.triangles = 0;
  for (size_t n = 0; n < sizeof meshes / sizeof *meshes; n++) {
    test_set_wrong(&m.view, meshes + n);
    refuses(context, &good, meshes[n].word);
    if (n == 3) refuses(context, &r, meshes[n].word); /* even if no triangles are requested */
    m.view = whole;
  }
  CHECK_STATUS(context, pmb_measure(context, &r, &got), PMB_OK);
  CHECK(got.points == 0 && got.euler == 0, "%lld points are used by no triangle", (long long)got.points);
  got = measure(context, &m);
  CHECK(got.triangles == m.sizes.triangles, "%lld triangles after errors", (long long)got.triangles);
  r.part_count = 0;
  CHECK_STATUS(context, pmb_measure(context, &r, NULL), PMB_OK);
}

/* Wrong parts, and ids beyond the points, must be refused. */
static void ids_outside_their_part(void)
{
  OWNED_MESH m;
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 20, ball);
  mesh_of_volume(&v.view, 0, 1, &m);
  pmb_measure_request r = request_of(&m);
  pmb_sizes part = m.sizes;
  r.parts = &part;
  part.points -= 1;
  refuses(context, &r, "a triangle uses point");
  part.points = 0;
  refuses(context, &r, "has 0 points");
  part = m.sizes;
  int64_t *ids = m.view.triangles, kept = ids[1000];
  for (int n = 0; n < 4; n++) {
    ids[1000] = n == 0 ? -1 : n == 1 ? m.sizes.points : n == 2 ? INT64_MAX : INT64_MIN;
    refuses(context, &r, "a triangle uses point");
  }
  ids[1000] = kept;
  CHECK(measure(context, &m).closed, "not closed after errors");
  pmb_sizes parts[2] = { { 0, 0 }, m.sizes }; /* begins after the first point */
  parts[0].points = 1;
  parts[1].points -= 1;
  r.parts = parts;
  r.part_count = 2;
  pmb_measures got[2] = { { .struct_size = sizeof *got }, { .struct_size = sizeof *got, .area = 5 } };
  CHECK_STATUS(context, pmb_measure(context, &r, got), PMB_INVALID);
  CHECK(got[1].area == 0, "area %g after an error", got[1].area);
}

/* clang-format off */
TEST_MAIN(
  CASE(one_reversed_triangle)
  CASE(random_volumes)
  CASE(several_isovalues)
  CASE(threads_and_ids_change_nothing)
  CASE(ids_need_not_be_in_order)
  CASE(bad_requests)
  CASE(ids_outside_their_part)
)
