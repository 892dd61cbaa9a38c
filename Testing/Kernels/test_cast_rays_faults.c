/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_cast_rays_faults.c - casts that the progress hook stops, and casts whose allocations fail. */
#include <pthread.h>
#include <stdio.h>

#include "rays_shots.h"
#include "test_ledger.h"

typedef struct watch {
  int calls, stop_at, wrong;
  double last;
  pthread_t caller;
} watch;

static int hook(void *user, double fraction)
{
  watch *w = user;
  w->wrong += !(fraction >= w->last && fraction <= 1) || !pthread_equal(w->caller, pthread_self());
  w->last = fraction;
  return ++w->calls == w->stop_at;
}

/* The hook stops a picture at its first, second and middle call. The next picture is complete. Many pixels, or long rays. */
static void stops(void)
{
  enum { WIDTH = TEST_SLOW ? 200 : 400, HEIGHT = TEST_SLOW ? 150 : 300 };
  for (int round = 0; round < 4; round++) {
    const int threads = round % 2 ? 3 : 1, is_long = round / 2;
    static shot s;
    OWNED_VOLUME v;
    watch w = { 0, 0, 0, 0, pthread_self() };
    OWNED_CONTEXT context = good_shot(&s, &v, PMB_RAY_COMPOSITE, threads);
    const size_t numbers = 4 * (size_t)(is_long ? 41 * 30 : WIDTH * HEIGHT);
    OWNED float *pictures = test_allocate(2 * (int64_t)numbers, sizeof *pictures);
    s.r.width = is_long ? 41 : WIDTH;
    s.r.height = is_long ? 30 : HEIGHT;
    s.r.depth = NULL;
    s.r.step = is_long ? 0.001 : 0.05;
    s.r.colors = pictures;
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    pmb_set_progress(context, hook, &w);
    s.r.colors = pictures + numbers;
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    const int calls = w.calls;
    CHECK(calls > 1 && w.wrong == 0, "%d calls, %d of them wrong", calls, w.wrong);
    for (int at = 1; at < 4; at++) {
      w = (watch){ 0, at == 3 ? calls / 2 : at, 0, 0, pthread_self() };
      const pmb_status status = pmb_cast_rays(context, &s.r);
      CHECK(status == (w.calls >= w.stop_at ? PMB_ABORTED : PMB_OK), "stop at %d of %d: %s", w.stop_at, calls,
        pmb_status_text(status));
    }
    pmb_set_progress(context, NULL, NULL);
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    CHECK(!memcmp(pictures, pictures + numbers, numbers * sizeof *pictures), "another picture after a stop");
  }
}

enum { SIDE = 32, STOP_AT = 3 };

typedef struct painted {
  const float *colors;
  int calls, pixels[STOP_AT];
} painted;

static int count_painted(const float *colors)
{
  int count = 0;
  for (int n = 0; n < SIDE * SIDE; n++) count += colors[4 * n] >= 0;
  return count;
}

static int count_hook(void *user, double fraction)
{
  painted *p = user;
  (void)fraction;
  p->pixels[p->calls] = count_painted(p->colors);
  return ++p->calls == STOP_AT;
}

/* With rays of 100,000 samples the hook is called after every 16 rays, and none begins after it asked to stop. */
static void stops_between_tiles(void)
{
  static shot s;
  OWNED_VOLUME v;
  test_rng rng = { 7 };
  OWNED_CONTEXT context = NULL;
  const pmb_options options = { .struct_size = sizeof options, .threads = 1 };
  const double eye[3] = { -10, 10, 11 }, forward[3] = { 1, 0.01, 0.02 };
  painted p = { s.colors, 0, { 0 } };
  make_plain(&v, FIELD_GYROID, &rng);
  shot_make(&s, PMB_RAY_AVERAGE);
  s.r.width = s.r.height = SIDE;
  s.r.depth = NULL;
  s.r.step = (40 + 20 + 22) / 200000.0;
  set_table(&s, TABLE, -1, 1, 1, 0.5, &rng);
  rr_look(s.r.world_to_clip, eye, forward, 1, 3, 1, 1, 80);
  for (int n = 0; n < 4 * SIDE * SIDE; n++) s.colors[n] = -1;
  CHECK(pmb_create(&options, &context) == PMB_OK, "%s", pmb_error(NULL));
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  pmb_set_progress(context, count_hook, &p);
  CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_ABORTED);
  for (int n = 0; n < p.calls; n++) CHECK(p.pixels[n] == 16 * (n + 1), "%d pixels at call %d", p.pixels[n], n);
  CHECK(count_painted(s.colors) == 16 * STOP_AT, "%d pixels after a stop", count_painted(s.colors));
}

typedef struct subject {
  test_volume volume;
  shot good, made;
} subject;

static pmb_status cast(pmb_context *context, ledger *l, void *user)
{
  subject *of = user;
  pmb_status status = pmb_bind(context, &of->volume.view);
  const int64_t held = l->held;
  if (status == PMB_OK) {
    memset(of->made.colors, 0x55, sizeof of->made.colors);
    status = pmb_cast_rays(context, &of->made.r);
    CHECK(status == PMB_OK || l->held == held, "%d blocks are not released", (int)(l->held - held));
    CHECK(status != PMB_OK || !memcmp(of->made.colors, of->good.colors, sizeof of->good.colors), "another picture");
  }
  return status;
}

/* Each allocation fails once: nothing leaks, and the next cast gives the picture. */
static void allocations_fail(void)
{
  static subject of;
  for (int mode = 0; mode < 5; mode++) {
    pmb_destroy(good_shot(&of.good, &of.volume, (pmb_ray_mode)mode, 1));
    shot_copy(&of.made, &of.good);
    CHECK(fail_each_allocation(1 + mode % 2, 1, cast, &of) > 0, "mode %d: no allocation failed", mode);
    volume_free(&of.volume);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(stops)
  CASE(stops_between_tiles)
  CASE(allocations_fail)
)
