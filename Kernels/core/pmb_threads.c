/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All contexts share one list of idle threads. A loop lives on its caller's stack. The caller takes threads from the list, starts
 * missing ones, gives each the loop, works itself, and puts the threads back.
 *
 * No thread uses a loop after its caller has returned. A thread's `loop` is exchanged for NULL, either by the thread, which then
 * works and posts `done`, or by the caller, which takes the loop back. The exchange tells the caller which came first. If the
 * thread was first, the caller waits for `done`. So a thread that wakes up slowly delays nobody.
 *
 * No wake-up is lost, because semaphores count. A thread that wakes up late finds a later loop, or NULL, and waits again. Both
 * semaphores live as long as the thread, so a post never touches memory of a finished loop.
 *
 * A forked child is safe. The fork waits for the list's mutex, so the child's copy of the list is consistent. The child frees it
 * and starts its own threads. A progress hook must not fork. */
#define _GNU_SOURCE
#include "core/pmb_threads.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Seconds between calls of the progress hook; REPORT_SOONEST is enough once REPORT_STEP of the call was done in between. */
static const double REPORT_INTERVAL = 0.01, REPORT_SOONEST = 0.0005, REPORT_STEP = 0.005;

/* Seconds that a thread polls before it sleeps: a call's loops follow one another closely. */
static const double SPIN = 2e-5;

enum { MOST_RANGES = 64, CACHE_LINE = 64 };

/* Part of a loop. */
typedef struct pmb_range {
  _Alignas(CACHE_LINE) atomic_size_t next;
  size_t end;
} pmb_range;

typedef struct pmb_loop {
  pmb_range ranges[MOST_RANGES];
  int range_count;
  pmb_crew *crew;
  pthread_t caller;
  size_t count;
  atomic_size_t finished;
  atomic_int over; /* a worker has found nothing left, or the hook asked to stop */
  int stopped;     /* the hook asked to stop; only the caller's thread writes it */
  pmb_body *body;
  void *arg;
} pmb_loop;

/* A thread: in the list of idle ones, or taken by one loop. */
typedef struct pmb_thread {
  _Alignas(CACHE_LINE) _Atomic(pmb_loop *) loop; /* NULL: none, or already begun */
  sem_t called;
  sem_t done;
  int worker;
  atomic_int ends;
  pthread_t id;
  struct pmb_thread *next;
} pmb_thread;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards `idle` */
static pmb_thread *idle;

static atomic_uint forks;

static void lock_list(void)
{
  pthread_mutex_lock(&mutex);
}

static void unlock_list(void)
{
  pthread_mutex_unlock(&mutex);
}

static void free_threads(pmb_thread *threads)
{
  while (threads) {
    pmb_thread *thread = threads;
    threads = thread->next;
    free(thread);
  }
}

/* In the child of a fork, which has none of the threads. */
static void note_fork(void)
{
  atomic_fetch_add(&forks, 1);
  free_threads(idle);
  idle = NULL;
  unlock_list();
}

static void watch_forks(void)
{
  pthread_atfork(lock_list, unlock_list, note_fork);
}

unsigned pmb_forks(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return atomic_load(&forks);
}

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Cores that this process may use, at least 1. */
static int available_cores(void)
{
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
    return CPU_COUNT(&set);
  }
#endif
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? (int)cores : 1;
}

int pmb_crew_report(pmb_crew *crew, double fraction)
{
  if (!crew->progress) {
    return 1;
  }
  crew->last_report = seconds_now();
  crew->highest = fraction > crew->highest ? fraction : crew->highest;
  return !crew->progress(crew->progress_user, crew->highest);
}

static int report_loop(pmb_loop *loop)
{
  pmb_crew *crew = loop->crew;
  const double silent = crew->progress ? seconds_now() - crew->last_report : 0;
  if (silent < REPORT_SOONEST) {
    return 1;
  }
  const double part = (double)atomic_load(&loop->finished) / (double)loop->count;
  const double place = crew->fraction_begin + (crew->fraction_end - crew->fraction_begin) * part;
  return (silent < REPORT_INTERVAL && place < crew->highest + REPORT_STEP) || pmb_crew_report(crew, place);
}

/* Takes the next i from range *at, or from the first range after it that has one. Returns 0 if all are taken. */
static int take_next(pmb_loop *loop, int *at, size_t *i)
{
  for (int tried = 0; tried < loop->range_count; ++tried) {
    pmb_range *range = &loop->ranges[*at];
    if (atomic_load_explicit(&range->next, memory_order_relaxed) < range->end) {
      *i = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed);
      if (*i < range->end) {
        return 1;
      }
    }
    *at = *at + 1 < loop->range_count ? *at + 1 : 0;
  }
  return 0;
}

static void loop_task(void *data, int worker)
{
  pmb_loop *loop = data;
  const int is_caller = pthread_equal(pthread_self(), loop->caller);
  int at = worker % loop->range_count;
  size_t i;
  while (!atomic_load_explicit(&loop->over, memory_order_relaxed) && take_next(loop, &at, &i)) {
    loop->body(loop->arg, worker, i);
    atomic_fetch_add(&loop->finished, 1);
    if (is_caller && !report_loop(loop)) {
      loop->stopped = 1;
      break;
    }
  }
  atomic_store(&loop->over, 1);
}

static void await(sem_t *semaphore, int spins)
{
  for (const double until = seconds_now() + SPIN; spins && seconds_now() < until;) {
    if (sem_trywait(semaphore) == 0) {
      return;
    }
  }
  while (sem_wait(semaphore) != 0) { /* a signal was handled meanwhile */
  }
}

static void *thread_main(void *data)
{
  pmb_thread *thread = data;
  int spins = 0;
  for (;;) {
    await(&thread->called, spins);
    if (atomic_load(&thread->ends)) {
      return NULL;
    }
    pmb_loop *loop = atomic_exchange(&thread->loop, NULL);
    if (loop) {
      loop_task(loop, thread->worker);
      spins = loop->crew->spins;
      sem_post(&thread->done);
    }
  }
}

/* NULL on failure. */
static pmb_thread *start_thread(void)
{
  pmb_thread *thread = aligned_alloc(CACHE_LINE, sizeof(*thread));
  if (!thread) {
    return NULL;
  }
  atomic_init(&thread->loop, NULL);
  atomic_init(&thread->ends, 0);
  thread->next = NULL;
  if (sem_init(&thread->called, 0, 0) != 0 || sem_init(&thread->done, 0, 0) != 0 ||
    pthread_create(&thread->id, NULL, thread_main, thread) != 0) {
    free(thread);
    return NULL;
  }
  return thread;
}

/* Takes up to `most` threads from the list. */
static pmb_thread *take_threads(int most)
{
  lock_list();
  pmb_thread *first = idle, **end = &first;
  for (int i = 0; i < most && *end; ++i) {
    end = &(*end)->next;
  }
  idle = *end;
  *end = NULL;
  unlock_list();
  return first;
}

/* Runs the loop on the caller's thread and on others. Starts missing threads only while work is left. */
static void run_on_threads(pmb_loop *loop, int workers)
{
  pmb_thread *threads = take_threads(workers - 1), **end = &threads;
  for (int worker = 1; worker < workers; ++worker, end = &(*end)->next) {
    if (!*end && (atomic_load(&loop->over) || !(*end = start_thread()))) {
      break;
    }
    (*end)->worker = worker;
    atomic_store(&(*end)->loop, loop);
    sem_post(&(*end)->called);
  }
  loop_task(loop, 0);
  for (pmb_thread *thread = threads; thread; thread = thread->next) {
    if (!atomic_exchange(&thread->loop, NULL)) {
      await(&thread->done, loop->crew->spins);
    }
  }
  lock_list();
  *end = idle;
  idle = threads;
  unlock_list();
}

/* Cuts [0, count) into ranges of about equal length and runs the loop. */
static int run_loop(pmb_crew *crew, int most, int ranges, size_t count, pmb_body *body, void *arg)
{
  const int workers = (size_t)most < count ? most : (int)count;
  pmb_loop loop = {
    .range_count = ranges, .crew = crew, .caller = pthread_self(), .count = count, .body = body, .arg = arg
  };
  const size_t each = count / (size_t)ranges, more = count % (size_t)ranges;
  for (size_t r = 0, begin = 0; r < (size_t)ranges; ++r) {
    atomic_init(&loop.ranges[r].next, begin);
    begin += each + (r < more);
    loop.ranges[r].end = begin;
  }
  if (crew->executor.run && workers > 0) {
    crew->executor.run(crew->executor.user, workers, loop_task, &loop);
  } else if (workers > 1) {
    run_on_threads(&loop, workers);
  } else {
    loop_task(&loop, 0);
  }
  return !loop.stopped && pmb_crew_report(crew, crew->fraction_end);
}

int pmb_crew_loop(pmb_crew *crew, size_t count, pmb_body *body, void *arg)
{
  return run_loop(crew, crew->workers, 1, count, body, arg);
}

int pmb_crew_loop_apart(pmb_crew *crew, int most, size_t count, pmb_body *body, void *arg)
{
  const int workers = most < crew->workers ? most : crew->workers;
  return run_loop(crew, workers, workers < MOST_RANGES ? workers : MOST_RANGES, count, body, arg);
}

void pmb_crew_make(pmb_crew *crew, int threads, pmb_executor executor)
{
  const int cores = available_cores();
  pmb_forks(); /* forks are noted from now on */
  crew->executor = executor;
  crew->workers = threads ? threads : cores < PMB_MAX_THREADS ? cores : PMB_MAX_THREADS;
  crew->spins = crew->workers <= cores;
}

void pmb_end_idle_threads(void)
{
  lock_list();
  pmb_thread *threads = idle;
  idle = NULL;
  unlock_list();
  for (pmb_thread *thread = threads; thread; thread = thread->next) {
    atomic_store(&thread->ends, 1);
    sem_post(&thread->called);
  }
  for (pmb_thread *thread = threads; thread; thread = thread->next) {
    pthread_join(thread->id, NULL);
    sem_destroy(&thread->called);
    sem_destroy(&thread->done);
  }
  free_threads(threads);
}
