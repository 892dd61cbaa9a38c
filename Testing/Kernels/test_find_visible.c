/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_find_visible.c - the visible triangles of a mesh against a search of all triangles at each sample, in double. */
#include <stdio.h>

#include "test_ledger.h"
#include "visible_scene.h"

/* Depth of a triangle at a place of the picture (x and y from -1 to 1); INFINITY if it does not cover the place. Intersects the
 * triangle with the ray through the place: exact up to rounding. */
static double depth_at(const visible_scene *s, int64_t triangle, double x, double y)
{
  double corner[3][4], row[3][3];
  for (int c = 0; c < 3; c++) {
    const float *p = s->points + 3 * (size_t)s->triangles[3 * triangle + c];
    for (int r = 0; r < 4; r++) {
      const double *m = s->request.to_clip + 4 * r;
      corner[c][r] = m[0] * (double)p[0] + m[1] * (double)p[1] + m[2] * (double)p[2] + m[3];
    }
    /* corner weights b with sum b (X - x W) = 0 and sum b (Y - y W) = 0 */
    row[0][c] = corner[c][0] - x * corner[c][3];
    row[1][c] = corner[c][1] - y * corner[c][3];
  }
  double b[3], sum = 0, z = 0, w = 0;
  for (int c = 0; c < 3; c++) {
    const int i = (c + 1) % 3, j = (c + 2) % 3;
    b[c] = row[0][i] * row[1][j] - row[0][j] * row[1][i];
    sum += b[c];
  }
  for (int c = 0; c < 3; c++) {
    if (!(b[c] / sum >= 0)) return INFINITY;
    z += b[c] / sum * corner[c][2];
    w += b[c] / sum * corner[c][3];
  }
  return w > 0 && fabs(z) <= w ? z / w : INFINITY;
}

/* Flags the triangles that were found. They must be triangles of the mesh, in its order. */
static void flag_found(const visible_scene *s, int64_t count, char *found)
{
  int64_t next = 0;
  memset(found, 0, VS_TRIANGLES);
  for (int64_t t = 0; t < s->request.triangle_count && next < count; t++) {
    found[t] = !memcmp(s->triangles + 3 * t, s->visible + 3 * next, 3 * sizeof(uint32_t));
    next += found[t];
  }
  CHECK(next == count, "%lld of %lld are triangles of the mesh, in its order", (long long)next, (long long)count);
}

/* Checks that the nearest triangle at each sample is found. */
static void check_nearest(const visible_scene *s, int64_t count)
{
  static char found[VS_TRIANGLES];
  const pmb_visible_request *r = &s->request;
  int missing = 0;
  flag_found(s, count, found);
  for (int n = 0; n < r->width * r->height * r->samples; n++) {
    const int pixel = n / r->samples, i = n % r->samples;
    const double x = 2 * (pixel % r->width + (double)r->places[2 * i]) / r->width - 1;
    const double y = 2 * (pixel / r->width + (double)r->places[2 * i + 1]) / r->height - 1;
    double nearest = INFINITY;
    int64_t which = -1;
    for (int64_t t = 0; t < r->triangle_count; t++) {
      const double z = depth_at(s, t, x, y);
      which = z < nearest ? t : which;
      nearest = fmin(nearest, z);
    }
    missing += which >= 0 && !found[which];
  }
  CHECK(missing == 0, "%d samples show a triangle that is missing", missing);
}

static void nearest_are_found(void)
{
  static visible_scene s;
  test_rng rng = { 4711 };
  OWNED_CONTEXT context = context_new(2, NULL);
  int64_t all = 0, visible = 0;
  for (int round = 0; round < (TEST_SLOW ? 6 : 40); round++) {
    int64_t count = 0;
    test_about("round %d", round);
    vs_random(&s, &rng);
    s.request.triangle_count = s.request.triangle_count < 700 ? s.request.triangle_count : 700;
    CHECK_STATUS(context, pmb_find_visible(context, &s.request, &count), PMB_OK);
    check_nearest(&s, count);
    all += s.request.triangle_count;
    visible += count;
  }
  CHECK(visible < all * 3 / 4, "%lld of %lld are left", (long long)visible, (long long)all);
}

/* Adds a sheet of 50 x 50 squares of two triangles at a depth. */
static void add_sheet(visible_scene *s, float z)
{
  for (int n = 0; n < 2500; n++) {
    const int64_t t = s->request.triangle_count;
    const float x = (float)(n % 50) / 25 - 1, y = (float)(n / 50) / 25 - 1, e = 1 / 25.0f;
    const float corners[6][2] = { { x, y }, { x + e, y }, { x + e, y + e }, { x, y }, { x + e, y + e },
      { x, y + e } };
    for (int c = 0; c < 6; c++) {
      float *p = s->points + 9 * t + 3 * c;
      p[0] = corners[c][0], p[1] = corners[c][1], p[2] = z;
      s->triangles[3 * t + c] = (uint32_t)(3 * t + c);
    }
    s->request.triangle_count += 2;
  }
}

/* All triangles of a sheet are found, less than 30% of those of an equal sheet behind it, and none outside the view. */
static void hidden_are_left_out(void)
{
  static visible_scene s;
  static char found[VS_TRIANGLES];
  OWNED_CONTEXT context = context_new(1, NULL);
  for (int samples = 1; samples <= 4; samples += 3) {
    int64_t one = 0, two = 0, behind = 0;
    vs_begin(&s, 160, 160, samples);
    add_sheet(&s, 0);
    s.request.triangle_count = 3000; /* of 5,000: the lower 30 rows */
    vs_set_bounds(&s, 9000);
    vs_look(0, 0, 3, 1, 5, 0, s.request.to_clip);
    CHECK_STATUS(context, pmb_find_visible(context, &s.request, &one), PMB_OK);
    CHECK(one == 3000, "%lld of a sheet", (long long)one);
    for (int t = 0; t < 3000; t++) { /* an equal sheet behind */
      for (int c = 0; c < 9; c++) s.points[9 * (3000 + t) + c] = s.points[9 * t + c] - (c % 3 == 2 ? 0.5f : 0);
      for (int c = 0; c < 3; c++) s.triangles[3 * (3000 + t) + c] = (uint32_t)(3 * (3000 + t) + c);
    }
    s.request.triangle_count = 6000;
    vs_set_bounds(&s, 18000);
    CHECK_STATUS(context, pmb_find_visible(context, &s.request, &two), PMB_OK);
    flag_found(&s, two, found);
    for (int t = 3000; t < 6000; t++) behind += found[t];
    /* near edges of the front triangles those behind are not surely hidden */
    CHECK(two - behind == 3000 && behind < 900, "%lld, of which %lld are behind", (long long)two, (long long)behind);
    s.request.to_clip[3] += 5; /* beside the picture */
    CHECK_STATUS(context, pmb_find_visible(context, &s.request, &two), PMB_OK);
    CHECK(two == 0, "%lld beside the picture", (long long)two);
  }
}

static void same_for_any_threads_and_path(void)
{
  static visible_scene s;
  static uint32_t first[3 * VS_TRIANGLES];
  test_rng rng = { 77 };
  pmb_context *contexts[2] = { context_new(1, "portable"), context_new(5, NULL) };
  for (int round = 0; round < 30; round++) {
    int64_t counts[2] = { 0, 0 };
    test_about("round %d", round);
    vs_random(&s, &rng);
    CHECK_STATUS(contexts[0], pmb_find_visible(contexts[0], &s.request, &counts[0]), PMB_OK);
    memcpy(first, s.visible, sizeof first);
    CHECK_STATUS(contexts[1], pmb_find_visible(contexts[1], &s.request, &counts[1]), PMB_OK);
    CHECK(counts[0] == counts[1] && !memcmp(first, s.visible, (size_t)counts[0] * 12), "%lld and %lld",
      (long long)counts[0], (long long)counts[1]);
    if (counts[0] > 0) { /* too little room: only the number is written */
      memset(s.visible, 0xab, sizeof s.visible);
      s.request.visible_capacity = counts[0] - 1;
      CHECK_STATUS(contexts[0], pmb_find_visible(contexts[0], &s.request, &counts[1]), PMB_OK);
      CHECK(counts[0] == counts[1] && s.visible[0] == 0xabababab, "%lld without capacity", (long long)counts[1]);
    }
  }
  pmb_destroy(contexts[0]);
  pmb_destroy(contexts[1]);
}

static void bad_requests(void)
{
  static const test_wrong wrongs[] = { WRONG(pmb_visible_request, struct_size, 8, "struct_size"),
    WRONG(pmb_visible_request, triangle_count, -1, "triangle_count"),
    WRONG(pmb_visible_request, triangle_count, (int64_t)1 << 31, "triangle_count"),
    WRONG(pmb_visible_request, width, 0, "pixels"), WRONG(pmb_visible_request, height, 16385, "pixels"),
    WRONG(pmb_visible_request, samples, 17, "samples"), WRONG(pmb_visible_request, points, 0, "points"),
    WRONG(pmb_visible_request, visible, 0, "visible"), WRONG(pmb_visible_request, visible_capacity, -1, "visible"),
    WRONG(pmb_visible_request, on_device, 1, "host memory"),
    WRONG(pmb_visible_request, to_clip, 0x7ff0000000000000, "finite"),
    WRONG(pmb_visible_request, bounds, 0x7ff8000000000000, "finite") };
  static visible_scene s;
  OWNED_CONTEXT context = context_new(1, NULL);
  test_rng rng = { 3 };
  int64_t count = 0;
  vs_random(&s, &rng);
  for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
    pmb_visible_request request = s.request;
    const test_wrong *w = &wrongs[i];
    if (w->size == 16 * sizeof(double) || w->size == 6 * sizeof(double)) {
      memcpy((char *)&request + w->offset, &w->value, sizeof w->value);
    } else {
      test_set_wrong(&request, w);
    }
    test_about("wrong %zu", i);
    CHECK_REFUSED(context, pmb_find_visible(context, &request, &count), PMB_INVALID, w->word);
  }
  s.request.places[1] = 1.5f;
  CHECK_REFUSED(context, pmb_find_visible(context, &s.request, &count), PMB_INVALID, "places[1]");
  CHECK_REFUSED(context, pmb_find_visible(context, NULL, &count), PMB_INVALID, "struct_size");
  CHECK_REFUSED(context, pmb_find_visible(context, &s.request, NULL), PMB_INVALID, "count");
}

/* Points that are NaN, huge or equal; views that are 0 or huge. */
static void degenerate_scenes(void)
{
  static visible_scene s;
  OWNED_CONTEXT context = context_new(2, NULL);
  test_rng rng = { 12 };
  for (int round = 0; round < 40; round++) {
    int64_t count = -1;
    test_about("round %d", round);
    vs_random(&s, &rng);
    for (int n = 0; n < VS_POINTS * 3; n += 1 + round) s.points[n] = round % 2 ? NAN : round % 4 ? 3e38f : 0;
    if (round % 5 == 0) memset(s.request.to_clip, 0, sizeof s.request.to_clip);
    if (round % 7 == 0) s.request.to_clip[0] = 1e300;
    CHECK_STATUS(context, pmb_find_visible(context, &s.request, &count), PMB_OK);
    CHECK(count >= 0 && count <= s.request.triangle_count, "%lld", (long long)count);
  }
}

/* The first allocations of a search fail; then the same context finds the triangles, and the next picture allocates nothing. */
static pmb_status find(pmb_context *context, ledger *l, void *user)
{
  visible_scene *s = user;
  int64_t count = 0;
  const pmb_status status = pmb_find_visible(context, &s->request, &count);
  const int64_t before = l->allocations;
  if (status != PMB_OK) return status;
  CHECK_STATUS(context, pmb_find_visible(context, &s->request, &count), PMB_OK);
  CHECK(l->allocations == before, "the next picture allocates");
  return status;
}

static void allocations_fail(void)
{
  static visible_scene s;
  test_rng rng = { 5 };
  vs_random(&s, &rng);
  CHECK(fail_each_allocation(0, 1, find, &s) >= 3, "too few failures");
}

/* clang-format off */
TEST_MAIN(
  CASE(nearest_are_found)
  CASE(hidden_are_left_out)
  CASE(same_for_any_threads_and_path)
  CASE(bad_requests)
  CASE(degenerate_scenes)
  CASE(allocations_fail)
)
