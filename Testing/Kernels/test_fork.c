/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_fork.c - contexts can be used and destroyed in a forked process, which has none of their threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_util.h"

enum { THREADS = 4, PATIENCE = TEST_SLOW ? 60 : 20 /* seconds */ };

/* ThreadSanitizer does not support threads that start in a child. */
#if defined(__SANITIZE_THREAD__)
enum { CHILD_STARTS_THREADS = 0 };
#else
enum { CHILD_STARTS_THREADS = 1 };
#endif

/* gcc 12's AddressSanitizer lets a process fork while another thread holds its allocator's locks: the child's malloc hangs. */
#if defined(__SANITIZE_ADDRESS__)
enum { WORKERS = 0 };
#else
enum { WORKERS = 2 };
#endif

typedef struct subject {
  test_volume volume;
  double isovalue;
  test_mesh want;
  pmb_context *context; /* bound, with threads that wait */
} subject;

static void check_mesh(subject *s, pmb_context *context, const char *what)
{
  OWNED_MESH got;
  const pmb_status status = mesh_extract(context, &s->isovalue, 1, 1, PMB_FLOAT64, PMB_INT64, &got);
  if (CHECK_STATUS(context, status, PMB_OK)) mesh_equal(&s->want, &got, what);
}

static void subject_make(subject *s, int64_t side)
{
  volume_sampled(&s->volume, PMB_FLOAT32, side, gyroid);
  s->isovalue = 0.1;
  mesh_of_volume(&s->volume.view, s->isovalue, 1, &s->want);
  s->context = context_new(THREADS, NULL);
  CHECK_STATUS(s->context, pmb_bind(s->context, &s->volume.view), PMB_OK);
  /* Threads start while work is left: on a busy machine not all start in the first call. */
  for (int n = 0; n < 10; n++) check_mesh(s, s->context, "in the parent");
}

static void subject_free(subject *s)
{
  pmb_destroy(s->context);
  mesh_free(&s->want);
  volume_free(&s->volume);
}

/* Runs the function in a child, which then exits normally. An alarm ends a child that hangs. */
static void in_child(void (*function)(subject *s), subject *s)
{
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE);
    function(s);
    exit(test_failures() != 0);
  }
  if (!CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child")) return;
  CHECK(!WIFSIGNALED(status), "the child was ended by signal %d (%d: it hung)", WTERMSIG(status), SIGALRM);
  CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0, "the child exited with %d", WEXITSTATUS(status));
}

static void destroys(subject *s)
{
  pmb_destroy(s->context);
}

static void does_nothing(subject *s)
{
  (void)s;
}

static void uses_contexts(subject *s)
{
  if (!CHILD_STARTS_THREADS) return;
  check_mesh(s, s->context, "with the volume that the parent bound");
  CHECK_STATUS(s->context, pmb_bind(s->context, &s->volume.view), PMB_OK);
  check_mesh(s, s->context, "bound again");
  OWNED_CONTEXT fresh = context_new(THREADS, NULL);
  CHECK_STATUS(fresh, pmb_bind(fresh, &s->volume.view), PMB_OK);
  check_mesh(s, fresh, "with a context of the child's");
}

static void forks_again(subject *s)
{
  uses_contexts(s);
  in_child(uses_contexts, s);
  in_child(destroys, s);
  uses_contexts(s);
  pmb_destroy(s->context);
}

static void child_uses_contexts(void)
{
  OWNED_BY(subject_free) subject s;
  subject_make(&s, 64);
  const unsigned forks = pmb_forks();
  in_child(uses_contexts, &s);
  in_child(forks_again, &s);
  check_mesh(&s, s.context, "in the parent, after that");
  CHECK(pmb_forks() == forks, "the parent was forked %u times", pmb_forks() - forks);
}

/* A thread that extracts, so that others run thread pools and allocate memory during the fork. */
typedef struct worker {
  pthread_t thread;
  subject s;
  const atomic_int *stop;
  int right, wrong; /* CHECK is not thread-safe */
} worker;

static void *extract_on(void *argument)
{
  worker *w = argument;
  while (!atomic_load(w->stop)) {
    test_mesh got;
    int same = mesh_extract(w->s.context, &w->s.isovalue, 1, 1, PMB_FLOAT64, PMB_INT64, &got) == PMB_OK;
    same = same && !memcmp(got.view.points, w->s.want.view.points, (size_t)got.sizes.points * 24);
    mesh_free(&got);
    *(same ? &w->right : &w->wrong) += 1;
  }
  return NULL;
}

static void fork_while_others_work(void)
{
  worker workers[WORKERS + 1];
  OWNED_BY(subject_free) subject s;
  atomic_int stop = 0;
  subject_make(&s, 64);
  for (int i = 0; i < WORKERS; i++) {
    subject_make(&workers[i].s, 64);
    workers[i].stop = &stop;
    workers[i].right = workers[i].wrong = 0;
    if (pthread_create(&workers[i].thread, NULL, extract_on, &workers[i])) abort();
  }
  for (int n = 0; n < (TEST_SLOW ? 6 : 30) && !test_failures(); n++) {
    in_child(n % 3 == 2 ? uses_contexts : n % 3 == 1 ? destroys : does_nothing, &s);
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(workers[i].thread, NULL);
    CHECK(
      workers[i].right > 0 && workers[i].wrong == 0, "%d right meshes, %d wrong", workers[i].right, workers[i].wrong);
    subject_free(&workers[i].s);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(child_uses_contexts)
  CASE(fork_while_others_work)
)
