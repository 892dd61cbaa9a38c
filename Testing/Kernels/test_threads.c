/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_threads.c - several contexts at once on the same samples; most useful under ThreadSanitizer. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "test_util.h"

enum { CALLERS = 4, ROUNDS = TEST_SLOW ? 4 : 12 };

typedef struct caller {
  const test_volume *volume;
  const ref_mesh *references[2];
  const double *isovalues;
  pmb_context *context; /* NULL: the caller makes one and leaves it */
  int index, wrong;     /* CHECK is not thread-safe: callers only count */
} caller;

static int same(const test_mesh *m, const ref_mesh *r)
{
  if (m->sizes.points != r->points || m->sizes.triangles != r->triangles) return 0;
  for (int64_t n = 0; n < 3 * r->triangles; n++)
    if (mesh_id(m, n) != r->ids[n]) return 0;
  for (int64_t n = 0; n < r->points; n++) {
    double p[3], q[3];
    mesh_point(m, n, p);
    ref_position(r, n, q);
    if (memcmp(p, q, sizeof p)) return 0;
  }
  return 1;
}

static void extract_once(caller *c, int which)
{
  OWNED_MESH m;
  c->wrong += pmb_bind(c->context, &c->volume->view) != PMB_OK;
  c->wrong += mesh_extract(c->context, c->isovalues + which, 1, which, PMB_FLOAT64, PMB_INT64, &m) != PMB_OK ||
    !same(&m, c->references[which]);
}

static void *run_caller(void *p)
{
  caller *c = p;
  pmb_options options = { .struct_size = sizeof options, .threads = 1 + c->index % 3 };
  for (int n = 0; n < ROUNDS; n++) {
    if (!c->context && pmb_create(&options, &c->context) != PMB_OK) return c->wrong++, NULL;
    extract_once(c, (n + c->index) % 2);
    if (n % 3 == 2 && n + 1 < ROUNDS) { /* new workers every now and then */
      pmb_destroy(c->context);
      c->context = NULL;
    }
    /* Errors are kept per context; those of create per thread. */
    options.threads = -1 - c->index;
    pmb_context *none;
    c->wrong += pmb_create(&options, &none) != PMB_INVALID;
    char word[3] = { '-', (char)('1' + c->index), 0 };
    c->wrong += !strstr(pmb_error(NULL), word);
    options.threads = 1 + c->index % 3;
  }
  return NULL;
}

/* In the second wave each thread uses a context of another thread. The main thread destroys the contexts. */
static void contexts_at_once(void)
{
  test_rng rng = { 81 };
  double isovalues[2] = { 1.5, 2 };
  caller callers[CALLERS];
  pthread_t threads[CALLERS];
  pmb_context *contexts[CALLERS] = { NULL };
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, 67, 22, 19, LAYOUT_PACKED);
  volume_fill(&v, DATA_PLATEAU, &rng);
  volume_sprinkle(&v, 200, &rng);
  ref_mesh *r[2] = { ref_extract(&v.view, isovalues[0], 0), ref_extract(&v.view, isovalues[1], 1) };
  for (int wave = 0; wave < 2; wave++) {
    for (int n = 0; n < CALLERS; n++) {
      callers[n] = (caller){ &v, { r[0], r[1] }, isovalues, contexts[(n + 1) % CALLERS], n, 0 };
      if (pthread_create(threads + n, NULL, run_caller, callers + n)) abort();
    }
    for (int n = 0; n < CALLERS; n++) {
      pthread_join(threads[n], NULL);
      contexts[n] = callers[n].context;
      CHECK(callers[n].wrong == 0, "wave %d, caller %d: %d failures", wave, n, callers[n].wrong);
    }
  }
  for (int n = 0; n < CALLERS; n++) pmb_destroy(contexts[n]);
  ref_free(r[0]);
  ref_free(r[1]);
}

/* Calls so short that threads start late, while others end, find no work, or sleep. */
static void many_short_calls(void)
{
  test_rng rng = { 83 };
  double isovalue = 0.1;
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, 70, 30, 40, LAYOUT_PACKED);
  volume_fill(&v, DATA_NOISE, &rng);
  OWNED_REFERENCE r = ref_extract(&v.view, isovalue, 0);
  OWNED_CONTEXT context = NULL;
  for (int n = 0; n < (TEST_SLOW ? 60 : 300); n++) {
    if (n % 5 == 0) {
      pmb_destroy(context);
      context = context_new(2 + n % 14, NULL);
    }
    caller c = { &v, { r, r }, &isovalue, context, 0, 0 };
    extract_once(&c, 0);
    CHECK(c.wrong == 0, "round %d: %d failures", n, c.wrong);
    const struct timespec pause = { 0, n % 3 * 40000 };
    nanosleep(&pause, NULL);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(contexts_at_once)
  CASE(many_short_calls)
)
