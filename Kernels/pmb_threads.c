/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "pmb_threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two calls of the progress hook: at most, and at least where much of the call was done in between. */
static const double REPORT_INTERVAL = 0.01, REPORT_SOONEST = 0.0005;
static const double REPORT_STEP = 0.005; /* "much" */

struct pmb_pool {
  pthread_mutex_t mutex;
  pthread_cond_t start, done;
  pthread_t *threads;
  int started;         /* threads that run, workers 1..started */
  unsigned generation; /* counts the tasks handed out */
  int workers;         /* of the current task */
  int running;         /* pool threads still in the current task */
  int stop;
  void (*task)(void *arg, int worker);
  void *arg;
};

typedef struct pmb_pool_thread {
  pmb_pool *pool;
  int worker;
} pmb_pool_thread;

typedef struct pmb_loop {
  pmb_crew *crew;
  pthread_t caller;
  size_t count;
  atomic_size_t next;
  atomic_size_t finished;
  atomic_int stopped;
  void (*body)(void *arg, int worker, size_t i);
  void *arg;
} pmb_loop;

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int pmb_available_cores(void)
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

static void *pool_thread_main(void *data)
{
  pmb_pool *pool = ((pmb_pool_thread *)data)->pool;
  const int worker = ((pmb_pool_thread *)data)->worker;
  unsigned seen = 0;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (!pool->stop && pool->generation == seen) {
      pthread_cond_wait(&pool->start, &pool->mutex);
    }
    if (pool->stop) {
      break;
    }
    seen = pool->generation;
    if (worker < pool->workers) {
      pthread_mutex_unlock(&pool->mutex);
      pool->task(pool->arg, worker);
      pthread_mutex_lock(&pool->mutex);
    }
    if (--pool->running == 0) {
      pthread_cond_signal(&pool->done);
    }
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

static void pool_free(pmb_pool *pool, pmb_memory *memory)
{
  pthread_mutex_lock(&pool->mutex);
  pool->stop = 1;
  pthread_cond_broadcast(&pool->start);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->started; ++i) {
    pthread_join(pool->threads[i], NULL);
  }
  pthread_cond_destroy(&pool->start);
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->mutex);
  pmb_memory_give(memory, pool);
}

/* One block: the pool, its thread handles, and what each thread is told. NULL if memory fails. */
static pmb_pool *pool_create(int workers, pmb_memory *memory)
{
  const size_t extra = (size_t)(workers - 1) * (sizeof(pthread_t) + sizeof(pmb_pool_thread));
  pmb_pool *pool = pmb_memory_take(memory, sizeof(pmb_pool) + extra, 1);
  if (!pool) {
    return NULL;
  }
  *pool = (pmb_pool){ 0 };
  pool->threads = (pthread_t *)(pool + 1);
  pmb_pool_thread *told = (pmb_pool_thread *)(pool->threads + (workers - 1));
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->start, NULL);
  pthread_cond_init(&pool->done, NULL);
  for (int i = 0; i < workers - 1; ++i) {
    told[i] = (pmb_pool_thread){ pool, i + 1 };
    if (pthread_create(&pool->threads[i], NULL, pool_thread_main, &told[i]) != 0) {
      break;
    }
    pool->started = i + 1;
  }
  return pool;
}

/* Runs the task on the pool's threads and the caller's; workers without a thread of their own are left out. */
static void pool_run(pmb_pool *pool, int workers, void (*task)(void *arg, int worker), void *arg)
{
  pthread_mutex_lock(&pool->mutex);
  pool->task = task;
  pool->arg = arg;
  pool->workers = workers;
  pool->running = pool->started;
  ++pool->generation;
  pthread_cond_broadcast(&pool->start);
  pthread_mutex_unlock(&pool->mutex);
  task(arg, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->running > 0) {
    pthread_cond_wait(&pool->done, &pool->mutex);
  }
  pthread_mutex_unlock(&pool->mutex);
}

int pmb_crew_report(pmb_crew *crew, double fraction)
{
  if (!crew->progress) {
    return 1;
  }
  crew->last_report = seconds_now();
  crew->highest = fraction > crew->highest ? fraction : crew->highest;
  return crew->progress(crew->progress_user, crew->highest) == 0;
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

static void loop_task(void *data, int worker)
{
  pmb_loop *loop = data;
  const int is_caller = pthread_equal(pthread_self(), loop->caller);
  while (!atomic_load_explicit(&loop->stopped, memory_order_relaxed)) {
    const size_t i = atomic_fetch_add(&loop->next, 1);
    if (i >= loop->count) {
      return;
    }
    loop->body(loop->arg, worker, i);
    atomic_fetch_add(&loop->finished, 1);
    if (is_caller && !report_loop(loop)) {
      atomic_store(&loop->stopped, 1);
    }
  }
}

int pmb_crew_loop(
  pmb_crew *crew, pmb_memory *memory, size_t count, void (*body)(void *arg, int worker, size_t i), void *arg)
{
  pmb_loop loop = { .crew = crew, .caller = pthread_self(), .count = count, .body = body, .arg = arg };
  const int workers = (size_t)crew->workers < count ? crew->workers : (int)count;
  if (crew->executor.run && workers > 0) {
    crew->executor.run(crew->executor.user, workers, loop_task, &loop);
  } else {
    if (workers > 1 && !crew->pool) {
      crew->pool = pool_create(crew->workers, memory);
    }
    if (workers > 1 && crew->pool) {
      pool_run(crew->pool, workers, loop_task, &loop);
    } else {
      loop_task(&loop, 0);
    }
  }
  return !atomic_load(&loop.stopped) && pmb_crew_report(crew, crew->fraction_end);
}

void pmb_crew_free(pmb_crew *crew, pmb_memory *memory)
{
  if (crew->pool) {
    pool_free(crew->pool, memory);
    crew->pool = NULL;
  }
}
