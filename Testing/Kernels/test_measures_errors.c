/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_measures_errors.c - pmb_measure: wrong requests, meshes that are not what they say, memory that runs out, stops. */
#include <string.h>

#include "test_measures.h"

/* ---- errors ---- */

static void expect(pmb_context *context, const pmb_measure_request *request, const char *part)
{
  pmb_measures got = { .struct_size = sizeof got };
  CHECK_STATUS(context, pmb_measure(context, request, &got), PMB_INVALID);
  CHECK(strstr(pmb_error(context), part) != NULL, "\"%s\" does not say \"%s\"", pmb_error(context), part);
}

/* A mesh that cannot be, also where no triangle of it is asked for. */
static void bad_meshes(pmb_context *context, test_mesh *m, const pmb_measure_request *good)
{
  const pmb_mesh whole = m->view;
  const pmb_sizes none = { m->sizes.points, 0 };
  pmb_measure_request r = *good;
  m->view.points = NULL;
  expect(context, good, "points are NULL");
  m->view = whole;
  m->view.triangles = NULL;
  expect(context, good, "triangles are NULL");
  m->view = whole;
  m->view.point_type = PMB_INT8;
  expect(context, good, "point_type is 1");
  m->view = whole;
  m->view.id_type = PMB_FLOAT32;
  expect(context, good, "id_type is 9");
  r.parts = &none;
  expect(context, &r, "id_type is 9");
  m->view = whole;
}

static void bad_requests(void)
{
  test_volume v;
  test_mesh m;
  pmb_context *context = context_new(1, NULL);
  pmb_measures got = { .struct_size = sizeof got }, without_size = { 0 };
  volume_sampled(&v, PMB_FLOAT32, 20, ball);
  mesh_of_volume(&v.view, 0, 1, &m);
  const pmb_measure_request good = request_of(&m);
  pmb_measure_request r = good;
  pmb_sizes parts[2] = { { -1, 5 }, { 0, 0 } };
  CHECK_STATUS(NULL, pmb_measure(NULL, &good, &got), PMB_INVALID);
  CHECK_STATUS(context, pmb_measure(context, &good, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_measure(context, &good, &without_size), PMB_INVALID);
  expect(context, NULL, "pmb_measure_request.struct_size is 0");
  r.struct_size = 3;
  expect(context, &r, "pmb_measure_request.struct_size is 3");
  r = good;
  r.mesh = NULL;
  expect(context, &r, "pmb_mesh.struct_size is 0");
  r = good;
  r.part_count = -1;
  expect(context, &r, "part_count is -1");
  r.part_count = 1;
  r.parts = NULL;
  expect(context, &r, "parts is NULL");
  r.parts = parts;
  expect(context, &r, "part 0 has -1 points");
  parts[0].points = m.sizes.points;
  parts[0].triangles = m.view.triangle_capacity + 1;
  expect(context, &r, "room for");
  bad_meshes(context, &m, &good);
  parts[0] = (pmb_sizes){ m.sizes.points, 0 };
  r = good;
  r.parts = parts;
  got = (pmb_measures){ .struct_size = sizeof got };
  CHECK_STATUS(context, pmb_measure(context, &r, &got), PMB_OK);
  CHECK(got.points == 0 && got.euler == 0, "%lld points are used by no triangle", (long long)got.points);
  got = measure(context, &m);
  CHECK(got.triangles == m.sizes.triangles, "%lld triangles after errors", (long long)got.triangles);
  r = good;
  r.part_count = 0;
  CHECK_STATUS(context, pmb_measure(context, &r, NULL), PMB_OK);
  mesh_free(&m);
  volume_free(&v);
  pmb_destroy(context);
}

/* Parts that are not the mesh's, and an id that is no point's, must not be believed. */
static void ids_outside_their_part(void)
{
  test_volume v;
  test_mesh m;
  pmb_context *context = context_new(2, NULL);
  volume_sampled(&v, PMB_FLOAT32, 20, ball);
  mesh_of_volume(&v.view, 0, 1, &m);
  pmb_measure_request r = request_of(&m);
  pmb_sizes part = m.sizes;
  r.parts = &part;
  part.points -= 1;
  expect(context, &r, "a triangle uses point");
  part.points = 0;
  expect(context, &r, "has 0 points");
  part = m.sizes;
  int64_t *ids = m.view.triangles, kept = ids[1000];
  for (int n = 0; n < 4; n++) {
    ids[1000] = n == 0 ? -1 : n == 1 ? m.sizes.points : n == 2 ? INT64_MAX : INT64_MIN;
    expect(context, &r, "a triangle uses point");
  }
  ids[1000] = kept;
  CHECK(measure(context, &m).closed, "not closed after errors");
  pmb_sizes parts[2] = { { 0, 0 }, m.sizes }; /* begins behind the first point */
  parts[0].points = 1;
  parts[1].points -= 1;
  r.parts = parts;
  r.part_count = 2;
  pmb_measures got[2] = { { .struct_size = sizeof *got }, { .struct_size = sizeof *got, .area = 5 } };
  CHECK_STATUS(context, pmb_measure(context, &r, got), PMB_INVALID);
  CHECK(got[1].area == 0, "area %g after an error", got[1].area);
  mesh_free(&m);
  volume_free(&v);
  pmb_destroy(context);
}

/* ---- memory and progress ---- */

typedef struct ledger {
  int64_t allocations, fails, held;
} ledger;

static void *ledger_allocate(void *user, size_t bytes)
{
  ledger *l = user;
  if (++l->allocations == l->fails) return NULL;
  l->held++;
  void *memory = malloc(bytes);
  if (memory) memset(memory, 0x5a, bytes); /* nothing may rely on zeroes */
  return memory;
}

static void ledger_release(void *user, void *memory)
{
  ((ledger *)user)->held--;
  free(memory);
}

static void every_allocation_fails(void)
{
  test_volume v;
  test_mesh m;
  big_mesh(&v, PMB_FLOAT32, PMB_INT32, &m);
  ledger l = { 0, 0, 0 };
  pmb_options options = { .struct_size = sizeof options,
    .device = PMB_DEVICE_CPU,
    .threads = 3,
    .allocator = { ledger_allocate, ledger_release, &l } };
  pmb_context *context = NULL;
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_OK);
  pmb_measures expected = measure(context, &m); /* the threads are there now */
  const int64_t held = l.held;
  pmb_measure_request request = request_of(&m);
  int failures = 0;
  for (int64_t n = 1; n < 100; n++) {
    pmb_measures got = { .struct_size = sizeof got, .area = 5, .edges = 7 };
    l.fails = l.allocations + n;
    pmb_status status = pmb_measure(context, &request, &got);
    CHECK(l.held == held, "%lld blocks are left", (long long)(l.held - held));
    if (status == PMB_OK) {
      same(&got, &expected);
      break;
    }
    failures++;
    CHECK_STATUS(context, status, PMB_OUT_OF_MEMORY);
    CHECK(strstr(pmb_error(context), "memory") != NULL, "\"%s\" does not speak of memory", pmb_error(context));
    CHECK(got.area == 0 && got.edges == 0, "area %g, %lld edges after an error", got.area, (long long)got.edges);
  }
  CHECK(failures == 5, "%d allocations", failures);
  pmb_destroy(context);
  CHECK(l.held == 0, "%lld blocks left behind", (long long)l.held);
  mesh_free(&m);
  volume_free(&v);
}

typedef struct watch {
  int64_t calls, stop_at;
  double last;
} watch;

static int look(void *user, double fraction)
{
  watch *w = user;
  CHECK(fraction >= w->last && fraction <= 1, "fraction %.17g after %.17g", fraction, w->last);
  w->last = fraction;
  return ++w->calls == w->stop_at;
}

static void progress_and_stop(void)
{
  test_volume v;
  test_mesh m;
  big_mesh(&v, PMB_FLOAT32, PMB_INT32, &m);
  pmb_sizes half[3] = { m.sizes, { 0, 0 }, { 0, 0 } };
  pmb_measure_request request = request_of(&m);
  request.parts = half;
  request.part_count = 3;
  for (int threads = 1; threads <= 3; threads += 2) {
    pmb_context *context = context_new(threads, NULL);
    pmb_measures expected = measure(context, &m);
    int64_t k = 1, stopped = 0;
    for (; k < 1000; k++) {
      watch w = { 0, k, 0 };
      pmb_measures got[3];
      for (int n = 0; n < 3; n++) got[n] = (pmb_measures){ .struct_size = sizeof *got, .volume = 3 };
      pmb_set_progress(context, look, &w);
      test_about("%d threads, stop at call %lld", threads, (long long)k);
      pmb_status status = pmb_measure(context, &request, got);
      if (w.calls < k) {
        CHECK_STATUS(context, status, PMB_OK);
        same(&got[0], &expected);
        CHECK(w.last > 0.999999, "ends at %.17g", w.last);
        break;
      }
      stopped++;
      CHECK_STATUS(context, status, PMB_ABORTED);
      CHECK(got[0].volume == 0 && got[2].volume == 0, "volume %g after a stop", got[0].volume);
    }
    CHECK(stopped >= 12 && k < 1000, "the hook was called %lld times", (long long)stopped);
    pmb_destroy(context);
  }
  mesh_free(&m);
  volume_free(&v);
}

/* clang-format off */
TEST_MAIN(
  CASE(bad_requests)
  CASE(ids_outside_their_part)
  CASE(every_allocation_fails)
  CASE(progress_and_stop)
)
