/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_progress.c - the progress hook: its fractions, its thread, and stopping at each of its calls. */
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "test_util.h"

/* What a hook saw in one call of the core. */
typedef struct watch {
  int64_t calls, stop_at; /* stop_at: the call that asks to stop, 0: none */
  double last;
  pthread_t caller;
} watch;

static int look(void *user, double fraction)
{
  watch *w = user;
  CHECK(fraction >= 0 && fraction <= 1, "fraction %g", fraction);
  CHECK(fraction >= w->last, "fraction %g after %g", fraction, w->last);
  CHECK(pthread_equal(w->caller, pthread_self()), "called on another thread");
  w->last = fraction;
  w->calls++;
  return w->stop_at && w->calls >= w->stop_at;
}

static void rewind_watch(watch *w, int64_t stop_at)
{
  *w = (watch){ .stop_at = stop_at, .caller = pthread_self() };
}

static void finished(watch *w, const char *step, int64_t least_calls)
{
  CHECK(w->calls >= least_calls, "%s: %lld calls of the hook", step, (long long)w->calls);
  CHECK(w->last <= 1, "%s ends at %g", step, w->last);
}

static void fractions_rise_on_the_callers_thread(void)
{
  double isovalues[3] = { 0.5, 0, -0.5 };
  pmb_request request = { sizeof request, isovalues, 3, 1 };
  test_volume v;
  volume_sampled(&v, PMB_FLOAT32, TEST_SLOW ? 60 : 160, gyroid);
  for (int threads = 1; threads <= 5; threads += 2) {
    watch w;
    pmb_sizes sizes;
    test_mesh m;
    pmb_context *context = context_new(threads, NULL);
    test_about("%d threads", threads);
    pmb_set_progress(context, look, &w);
    rewind_watch(&w, 0);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    finished(&w, "bind", 1);
    rewind_watch(&w, 0);
    CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
    finished(&w, "count", 1);
    mesh_make(&m, sizes, PMB_FLOAT32, PMB_INT32);
    rewind_watch(&w, 0);
    CHECK_STATUS(context, pmb_emit(context, &m.view), PMB_OK);
    finished(&w, "emit", 1);
    rewind_watch(&w, 0);
    pmb_set_progress(context, NULL, NULL);
    CHECK_STATUS(context, pmb_emit(context, &m.view), PMB_OK);
    CHECK(w.calls == 0, "%lld calls of a hook that was taken away", (long long)w.calls);
    mesh_free(&m);
    pmb_destroy(context);
  }
  volume_free(&v);
}

/* The promise is 20 calls in a second; half of that, in processor time, leaves room for a busy machine. */
static double often_enough(const watch *w, clock_t start, const char *step)
{
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  CHECK((double)w->calls >= floor(10 * seconds), "%s: %lld calls in %.3f s", step, (long long)w->calls, seconds);
  return seconds;
}

/* One thread, noise; returns how long emit took. */
static double calls_come_often_for(int64_t size)
{
  double isovalue = 0.1;
  pmb_request request = { sizeof request, &isovalue, 1, 1 };
  test_rng rng = { 72 };
  test_volume v;
  watch w;
  pmb_sizes sizes;
  test_mesh m;
  volume_make(&v, PMB_FLOAT64, size, size, size, LAYOUT_PACKED);
  volume_fill(&v, DATA_NOISE, &rng);
  pmb_context *context = context_new(1, "portable");
  pmb_set_progress(context, look, &w);
  clock_t start = clock();
  rewind_watch(&w, 0);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  often_enough(&w, start, "bind");
  start = clock();
  rewind_watch(&w, 0);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  often_enough(&w, start, "count");
  mesh_make(&m, sizes, PMB_FLOAT32, PMB_INT32);
  start = clock();
  rewind_watch(&w, 0);
  CHECK_STATUS(context, pmb_emit(context, &m.view), PMB_OK);
  double seconds = often_enough(&w, start, "emit");
  mesh_free(&m);
  pmb_destroy(context);
  volume_free(&v);
  return seconds;
}

/* Larger and larger volumes, until one takes long enough to tell. */
static void calls_come_often(void)
{
  for (int64_t size = 60; size < 400 && calls_come_often_for(size) < 0.25; size = size * 5 / 4) continue;
}

typedef struct scene {
  pmb_context *context;
  test_volume volume;
  ref_mesh *reference;
  double isovalue;
  watch watch;
} scene;

/* The next steps without a stop: the mesh must be the right one. */
static void works(scene *s, int bound)
{
  test_mesh m;
  rewind_watch(&s->watch, 0);
  if (!bound) CHECK_STATUS(s->context, pmb_bind(s->context, &s->volume.view), PMB_OK);
  rewind_watch(&s->watch, 0);
  pmb_sizes sizes = { 0, 0 };
  pmb_request request = { sizeof request, &s->isovalue, 1, 1 };
  CHECK_STATUS(s->context, pmb_count(s->context, &request, &sizes, NULL), PMB_OK);
  mesh_make(&m, sizes, PMB_FLOAT32, PMB_INT32);
  rewind_watch(&s->watch, 0);
  CHECK_STATUS(s->context, pmb_emit(s->context, &m.view), PMB_OK);
  judge_reference(&m, s->reference);
  mesh_free(&m);
}

enum { STOP_BIND, STOP_COUNT, STOP_EMIT };

/* Stops one step at the hook's k-th call. Returns 0 once there is no k-th call. */
static int stop(scene *s, int step, int64_t k)
{
  test_mesh m;
  pmb_sizes sizes = { 7, 7 };
  pmb_request request = { sizeof request, &s->isovalue, 1, 1 };
  pmb_status status;
  rewind_watch(&s->watch, step == STOP_BIND ? k : 0);
  status = pmb_bind(s->context, &s->volume.view);
  if (step != STOP_BIND) {
    rewind_watch(&s->watch, step == STOP_COUNT ? k : 0);
    status = pmb_count(s->context, &request, &sizes, NULL);
  }
  if (step == STOP_EMIT) {
    mesh_make(&m, sizes, PMB_FLOAT32, PMB_INT32);
    rewind_watch(&s->watch, k);
    status = pmb_emit(s->context, &m.view);
    mesh_canaries_alive(&m);
    mesh_free(&m);
  }
  int stopped = s->watch.calls >= k;
  CHECK(status == (stopped ? PMB_ABORTED : PMB_OK), "step %d, call %lld of the hook: %s", step, (long long)k,
    pmb_status_text(status));
  if (stopped && step == STOP_COUNT)
    CHECK(sizes.points == 0 && sizes.triangles == 0, "sizes %lld, %lld after a stop", (long long)sizes.points,
      (long long)sizes.triangles);
  if (stopped && step == STOP_BIND) {
    rewind_watch(&s->watch, 0);
    CHECK_STATUS(s->context, pmb_count(s->context, &request, &sizes, NULL), PMB_INVALID);
  }
  return stopped;
}

static void stop_everywhere(int step)
{
  test_rng rng = { 71 };
  for (int threads = 1; threads <= 4; threads += 3) {
    scene s = { .isovalue = 1.5 };
    int64_t k = 1;
    volume_make(&s.volume, PMB_INT32, 66, 40, TEST_SLOW ? 12 : 30, LAYOUT_PACKED);
    volume_fill(&s.volume, DATA_PLATEAU, &rng);
    s.reference = ref_extract(&s.volume.view, s.isovalue, 1);
    s.context = context_new(threads, NULL);
    pmb_set_progress(s.context, look, &s.watch);
    for (; stop(&s, step, k); k++) {
      test_about("step %d stopped at call %lld of the hook, %d threads", step, (long long)k, threads);
      if (k < 10 || k % 16 == 0) works(&s, step != STOP_BIND);
    }
    CHECK(k > 1, "the hook of step %d was never called", step);
    works(&s, 0);
    pmb_destroy(s.context);
    ref_free(s.reference);
    volume_free(&s.volume);
  }
}

static void stop_bind(void)
{
  stop_everywhere(STOP_BIND);
}

static void stop_count(void)
{
  stop_everywhere(STOP_COUNT);
}

static void stop_emit(void)
{
  stop_everywhere(STOP_EMIT);
}

/* clang-format off */
TEST_MAIN(
  CASE(fractions_rise_on_the_callers_thread)
  CASE(calls_come_often)
  CASE(stop_bind)
  CASE(stop_count)
  CASE(stop_emit)
)
