/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_progress.c - the progress hook in each call of the core: its fractions, its thread, and a stop at each of its
 * calls. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "test_util.h"

enum { BINS = 64, PARTS = 3 };

/* What a hook sees during one call of the core. */
typedef struct watch {
  int64_t calls, stop_at; /* stop_at: the call that asks to stop, 0: none */
  double last, last_time;
  int is_timed; /* of one thread. The time of the emulator, whose threads are no GPU, is not checked */
  pthread_t caller;
} watch;

/* The core's clock, by the linker; it advances by `tick` at each look, 0: it is the real one. */
static double fake_now, tick;
static int64_t looks;

int clock_gettime(clockid_t id, struct timespec *now)
{
  (void)id;
  if (tick == 0) return timespec_get(now, TIME_UTC) ? 0 : -1;
  fake_now += tick;
  looks++;
  *now = (struct timespec){ (time_t)fake_now, (long)(1e9 * (fake_now - floor(fake_now))) };
  return 0;
}

static double seconds_now(void)
{
  return (double)clock() / CLOCKS_PER_SEC; /* CPU time, so that a busy machine does not matter */
}

/* The hook is due every 50 ms. ThreadSanitizer makes everything many times slower. */
#ifdef __SANITIZE_THREAD__
static const double SILENCE = 2;
#else
static const double SILENCE = 0.05;
#endif

static int check_progress(void *user, double fraction)
{
  watch *w = user;
  const double now = seconds_now();
  CHECK(fraction >= w->last && fraction <= 1, "fraction %.17g after %.17g", fraction, w->last);
  CHECK(!w->is_timed || now - w->last_time < SILENCE || fraction - w->last < 0.05,
    "%g s without a call, from %g to %g", now - w->last_time, w->last, fraction);
  CHECK(pthread_equal(w->caller, pthread_self()), "called on another thread");
  w->last = fraction;
  w->last_time = now;
  w->calls++;
  return w->stop_at && w->calls >= w->stop_at;
}

typedef struct scene {
  pmb_context *context;
  test_volume volume;
  ref_mesh *reference; /* or NULL */
  double isovalue;
  test_mesh mesh;
  watch watch;
} scene;

/* ---- the calls; each checks its output after a stop ---- */

static pmb_status do_bind(scene *s)
{
  const pmb_status status = pmb_bind(s->context, &s->volume.view);
  pmb_sizes sizes;
  pmb_request request = { sizeof request, &s->isovalue, 1, 1 };
  pmb_info info = { .struct_size = sizeof info };
  if (status == PMB_OK) return status;
  CHECK_STATUS(s->context, pmb_count(s->context, &request, &sizes, NULL), PMB_INVALID);
  CHECK_STATUS(s->context, pmb_get_info(s->context, &info), PMB_OK);
  CHECK(info.device_bytes < 4 * ref_samples(&s->volume.view), "%lld bytes on the GPU after a stopped upload",
    (long long)info.device_bytes);
  return status;
}

static pmb_status do_histogram(scene *s)
{
  int64_t crossed[BINS], sum = 0;
  memset(crossed, 0x55, sizeof crossed);
  const pmb_histogram_request request = {
    .struct_size = sizeof request, .low = s->isovalue - 1, .high = s->isovalue + 1, .bins = BINS, .crossed = crossed
  };
  const pmb_status status = pmb_histogram(s->context, &request);
  for (int n = 0; n < BINS; n++) sum += crossed[n];
  CHECK((sum > 0) == (status == PMB_OK), "%lld bricks crossed", (long long)sum);
  return status;
}

static pmb_status do_suggest(scene *s)
{
  double isovalues[PARTS];
  int64_t count = 7;
  const pmb_status status = pmb_suggest(s->context, PARTS, isovalues, &count);
  CHECK(status == PMB_OK || count == 0, "%lld suggestions after a stop", (long long)count);
  return status;
}

static pmb_status do_count(scene *s)
{
  pmb_sizes sizes = { 7, 7 };
  pmb_request request = { sizeof request, &s->isovalue, 1, 1 };
  const pmb_status status = pmb_count(s->context, &request, &sizes, NULL);
  CHECK((sizes.points > 0 && sizes.triangles > 0) == (status == PMB_OK), "sizes %lld, %lld", (long long)sizes.points,
    (long long)sizes.triangles);
  mesh_free(&s->mesh);
  mesh_make(&s->mesh, sizes, PMB_FLOAT32, PMB_INT32);
  return status;
}

static pmb_status do_emit(scene *s)
{
  const pmb_status status = pmb_emit(s->context, &s->mesh.view);
  mesh_canaries_alive(&s->mesh);
  if (status == PMB_OK && s->reference) judge_reference(&s->mesh, s->reference);
  return status;
}

static pmb_status do_measure(scene *s)
{
  const pmb_sizes parts[PARTS] = { s->mesh.sizes, { 0, 0 }, { 0, 0 } };
  const pmb_measure_request request = {
    .struct_size = sizeof request, .mesh = &s->mesh.view, .parts = parts, .part_count = PARTS
  };
  pmb_measures got[PARTS];
  for (int n = 0; n < PARTS; n++) got[n] = (pmb_measures){ .struct_size = sizeof *got, .area = 3 };
  const pmb_status status = pmb_measure(s->context, &request, got);
  CHECK((got[0].area > 0) == (status == PMB_OK) && got[1].area == 0, "areas %g, %g", got[0].area, got[1].area);
  return status;
}

static pmb_status do_split(scene *s)
{
  const int64_t *copied = NULL;
  pmb_sizes part = s->mesh.sizes;
  return pmb_split_sheets(s->context, &s->mesh.view, &part, 1, &copied);
}

enum { BIND, HISTOGRAM, SUGGEST, COUNT, EMIT, MEASURE, SPLIT, CALLS };
static const struct {
  const char *name;
  pmb_status (*run)(scene *s);
} calls[CALLS] = { { "bind", do_bind }, { "histogram", do_histogram }, { "suggest", do_suggest },
  { "count", do_count }, { "emit", do_emit }, { "measure", do_measure }, { "split_sheets", do_split } };

/* Makes a call of the core and stops it at the k-th call of the hook (0: never). Returns whether it was stopped. */
static int make_call(scene *s, int call, int64_t k)
{
  s->watch =
    (watch){ .stop_at = k, .caller = pthread_self(), .is_timed = s->watch.is_timed, .last_time = seconds_now() };
  const pmb_status status = calls[call].run(s);
  const int stopped = k > 0 && s->watch.calls >= k;
  CHECK(status == (stopped ? PMB_ABORTED : PMB_OK), "%s, stop %lld: %s", calls[call].name, (long long)k,
    pmb_status_text(status));
  return stopped;
}

/* ---- cases ---- */

/* Noise, so that calls take long enough to show a hook that is called too rarely. */
static void fractions_rise_on_the_callers_thread(void)
{
  for (int threads = 1; threads <= 5; threads += 2) {
    const int64_t n = TEST_SLOW == 2 ? 32 : TEST_SLOW ? 60 : 160;
    test_rng rng = { 72 };
    scene s = { .isovalue = 0.1, .watch = { .is_timed = threads == 1 && TEST_SLOW != 2 } };
    test_about("%d threads", threads);
    volume_make(&s.volume, PMB_FLOAT64, n, n, n, LAYOUT_PACKED);
    volume_fill(&s.volume, DATA_NOISE, &rng);
    s.context = context_new(threads, threads == 1 ? "portable" : NULL);
    pmb_set_progress(s.context, check_progress, &s.watch);
    for (int call = 0; call < CALLS; call++) {
      make_call(&s, call, 0);
      CHECK(s.watch.calls > 0, "the hook of %s was not called", calls[call].name);
    }
    pmb_set_progress(s.context, NULL, NULL);
    make_call(&s, BIND, 0);
    CHECK(s.watch.calls == 0, "%lld calls of a removed hook", (long long)s.watch.calls);
    mesh_free(&s.mesh);
    pmb_destroy(s.context);
    volume_free(&s.volume);
  }
}

typedef struct pace {
  double last, longest;
  int64_t calls;
} pace;

static int note_pace(void *user, double fraction)
{
  pace *p = user;
  (void)fraction;
  if (p->calls++) p->longest = fmax(p->longest, fake_now - p->last);
  p->last = fake_now;
  return 0;
}

/* By a clock that advances 5 ms with each part of the work, far less than half a percent of it, the hook is called after 50 ms. */
static void called_20_times_per_second(void)
{
  enum { BRICKS = 2000000 };
  pace p = { 0 };
  OWNED_VOLUME v = volume_of(PMB_UINT8, 2, 2, 4 * BRICKS, LAYOUT_PACKED);
  memset(v.memory, 1, 16 * BRICKS);
  OWNED_CONTEXT context = context_new(1, "portable");
  pmb_set_progress(context, note_pace, &p);
  tick = 0.005;
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  const double seconds = (double)looks * tick;
  tick = 0;
  CHECK(seconds > 20 && (double)p.calls >= 20 * seconds, "%lld calls in %g s", (long long)p.calls, seconds);
  CHECK(p.longest <= 0.05, "%g s without a call", p.longest);
}

/* Stops each call of the core at each call of its hook. Then the core must work, from that call on or from an earlier one. */
static void stop_everywhere(void)
{
  for (int n = 0; n < 2 * CALLS; n++) {
    const int call = n / 2, threads = n % 2 ? 4 : 1;
    test_rng rng = { 71 };
    scene s = { .isovalue = 1.5 };
    int64_t k = 1;
    volume_make(&s.volume, PMB_INT32, 66, 20, TEST_SLOW ? 12 : 20, LAYOUT_PACKED);
    volume_fill(&s.volume, DATA_PLATEAU, &rng);
    volume_hide(&s.volume, 5000, 0, &rng); /* bind searches the flags, too */
    s.reference = ref_extract(&s.volume.view, s.isovalue, 1);
    s.context = context_new(threads, NULL);
    pmb_set_progress(s.context, check_progress, &s.watch);
    for (int before = 0; before < call; before++) make_call(&s, before, 0);
    while (make_call(&s, call, k)) {
      test_about("%s stopped at call %lld of the hook, %d threads", calls[call].name, (long long)k, threads);
      const int judged = k < 10 || k % 16 == 0, last = judged ? CALLS : call;
      for (int next = call > EMIT ? EMIT : call; next < last; next++) make_call(&s, next, 0);
      for (int again = BIND; judged && again < call; again++) make_call(&s, again, 0);
      k++;
    }
    CHECK(k > 1, "the hook of %s was never called", calls[call].name);
    mesh_free(&s.mesh);
    pmb_destroy(s.context);
    ref_free(s.reference);
    volume_free(&s.volume);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(fractions_rise_on_the_callers_thread)
  CASE(called_20_times_per_second)
  CASE(stop_everywhere)
)
