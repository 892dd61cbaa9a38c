/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "core/pmb_threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two calls of the progress hook: at most, and at least where much of the call was done in between. */
static const double REPORT_INTERVAL = 0.01, REPORT_SOONEST = 0.0005;
static const double REPORT_STEP = 0.005; /* "much" */

/* What a thread does not sleep for, as the next loop of a call follows soon: seconds. */
static const double SPIN = 2e-5;

/* A job: its number << 32 | its workers << 16 | OPEN | threads that are in it. It is open until the caller finds nothing left to
 * do in it; a thread that comes later is not waited for. */
typedef uint_least64_t job_word;
enum { JOB_OPEN = 1 << 15, JOB_RUNNING = JOB_OPEN - 1, JOB_WORKERS_SHIFT = 16, JOB_NUMBER_SHIFT = 32 };

typedef struct pmb_pool pmb_pool;

/* A thread; worker 1, 2, ... */
typedef struct pmb_member {
  _Alignas(64) pmb_pool *pool;
  int worker;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  atomic_int asleep;
} pmb_member;

struct pmb_pool {
  _Alignas(64) _Atomic job_word job;
  _Alignas(64) atomic_int exhausted; /* a thread has found nothing left in the job */
  atomic_int stop;
  atomic_int caller_asleep;
  pthread_mutex_t mutex;
  pthread_cond_t done;
  void (*task)(void *arg, int worker);
  void *arg;
  int workers;    /* the caller included */
  int started;    /* threads that run */
  int spins;      /* there are cores for all threads */
  unsigned forks; /* of the process that they run in */
  pmb_pool *next; /* of the idle ones */
  pmb_member members[];
};

enum { MOST_RANGES = 64 };

/* A part of a loop, in a line of the cache of its own. */
typedef struct pmb_range {
  _Alignas(64) atomic_size_t next;
  size_t end;
} pmb_range;

typedef struct pmb_loop {
  pmb_range ranges[MOST_RANGES];
  int range_count;
  pmb_crew *crew;
  pthread_t caller;
  size_t count;
  atomic_size_t finished;
  atomic_int stopped;
  void (*body)(void *arg, int worker, size_t i);
  void *arg;
} pmb_loop;

/* Pools that no loop uses now: all contexts of the process use them in turn. The last context ends their threads. */
static pthread_mutex_t pools_mutex = PTHREAD_MUTEX_INITIALIZER;
static pmb_pool *idle_pools;
static int pool_users; /* contexts that have used a pool */

#if !defined(_WIN32)
static atomic_uint forks;

static void lock_pools(void)
{
  pthread_mutex_lock(&pools_mutex);
}

static void unlock_pools(void)
{
  pthread_mutex_unlock(&pools_mutex);
}

/* In the child, which has none of the threads. */
static void note_fork(void)
{
  atomic_fetch_add(&forks, 1);
  while (idle_pools) {
    pmb_pool *pool = idle_pools;
    idle_pools = pool->next;
    free(pool);
  }
  pool_users = 0;
  unlock_pools();
}

static void watch_forks(void)
{
  pthread_atfork(lock_pools, unlock_pools, note_fork);
}

unsigned pmb_forks(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return atomic_load(&forks);
}
#else
unsigned pmb_forks(void)
{
  return 0;
}
#endif

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

static inline void relax(void)
{
#if defined(PMB_X86)
  __builtin_ia32_pause();
#endif
}

/* Whether there is something new for a thread: a job it may take part in, or the end. */
static int is_called(const pmb_member *member, unsigned seen, job_word *job)
{
  *job = atomic_load(&member->pool->job);
  const int is_new = (unsigned)(*job >> JOB_NUMBER_SHIFT) != seen && (*job & JOB_OPEN);
  return (is_new && member->worker < (int)(*job >> JOB_WORKERS_SHIFT & 0xffff)) || atomic_load(&member->pool->stop);
}

/* Waits until there is something new, awake at first. */
static job_word await_call(pmb_member *member, unsigned seen)
{
  job_word job;
  for (const double until = seconds_now() + SPIN; member->pool->spins && seconds_now() < until; relax()) {
    if (is_called(member, seen, &job)) {
      return job;
    }
  }
  pthread_mutex_lock(&member->mutex);
  atomic_store(&member->asleep, 1);
  while (!is_called(member, seen, &job)) {
    pthread_cond_wait(&member->wake, &member->mutex);
  }
  atomic_store(&member->asleep, 0);
  pthread_mutex_unlock(&member->mutex);
  return job;
}

static void call_member(pmb_member *member)
{
  if (atomic_load(&member->asleep)) {
    pthread_mutex_lock(&member->mutex);
    pthread_cond_signal(&member->wake);
    pthread_mutex_unlock(&member->mutex);
  }
}

/* Takes part in a job. Returns 0 if it is over. */
static int join_job(pmb_pool *pool, job_word job)
{
  const job_word number = job >> JOB_NUMBER_SHIFT;
  while (job >> JOB_NUMBER_SHIFT == number && (job & JOB_OPEN)) {
    if (atomic_compare_exchange_weak(&pool->job, &job, job + 1)) {
      return 1;
    }
  }
  return 0;
}

static void leave_job(pmb_pool *pool)
{
  atomic_store(&pool->exhausted, 1);
  const job_word job = atomic_fetch_sub(&pool->job, 1) - 1;
  if (!(job & (JOB_OPEN | JOB_RUNNING)) && atomic_load(&pool->caller_asleep)) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void *pool_thread_main(void *data)
{
  pmb_member *member = data;
  pmb_pool *pool = member->pool;
  unsigned seen = 0;
  for (;;) {
    const job_word job = await_call(member, seen);
    if (atomic_load(&pool->stop)) {
      return NULL;
    }
    seen = (unsigned)(job >> JOB_NUMBER_SHIFT);
    if (join_job(pool, job)) {
      pool->task(pool->arg, member->worker);
      leave_job(pool);
    }
  }
}

/* Whether the threads are those of a process that this one was forked from. Nobody answers for them here: what they hold or wait
 * for, mutexes as well, stays so for ever. */
static int is_left_behind(const pmb_pool *pool)
{
  return pool->forks != pmb_forks();
}

static void end_threads(pmb_pool *pool)
{
  atomic_store(&pool->stop, 1);
  for (int i = 0; i < pool->started; ++i) {
    call_member(&pool->members[i]);
  }
  for (int i = 0; i < pool->started; ++i) {
    pthread_join(pool->members[i].thread, NULL);
    pthread_cond_destroy(&pool->members[i].wake);
    pthread_mutex_destroy(&pool->members[i].mutex);
  }
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->mutex);
}

/* Without threads. NULL if memory fails. */
static pmb_pool *pool_create(int workers)
{
  const size_t size = sizeof(pmb_pool) + (size_t)(workers - 1) * sizeof(pmb_member);
  pmb_pool *pool = aligned_alloc(_Alignof(pmb_pool), size); /* the size of both is a multiple of their alignment */
  if (pool) {
    memset(pool, 0, size);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = workers;
    pool->spins = workers <= pmb_available_cores();
    pool->forks = pmb_forks();
  }
  return pool;
}

/* An idle pool of the crew's size, or a new one. NULL if memory fails. */
static pmb_pool *take_pool(pmb_crew *crew)
{
  const unsigned here = pmb_forks();
  pthread_mutex_lock(&pools_mutex);
  if (!crew->uses_pools || crew->forks != here) {
    crew->uses_pools = 1;
    crew->forks = here;
    ++pool_users;
  }
  pmb_pool **link = &idle_pools;
  while (*link && (*link)->workers != crew->workers) {
    link = &(*link)->next;
  }
  pmb_pool *pool = *link;
  if (pool) {
    *link = pool->next;
  }
  pthread_mutex_unlock(&pools_mutex);
  return pool ? pool : pool_create(crew->workers);
}

static void give_pool_back(pmb_pool *pool)
{
  if (is_left_behind(pool)) {
    free(pool);
    return;
  }
  pthread_mutex_lock(&pools_mutex);
  pool->next = idle_pools;
  idle_pools = pool;
  pthread_mutex_unlock(&pools_mutex);
}

/* Returns 0 if the system gives none. */
static int start_thread(pmb_pool *pool)
{
  pmb_member *member = &pool->members[pool->started];
  member->pool = pool;
  member->worker = pool->started + 1;
  pthread_mutex_init(&member->mutex, NULL);
  pthread_cond_init(&member->wake, NULL);
  if (pthread_create(&member->thread, NULL, pool_thread_main, member) != 0) {
    pthread_cond_destroy(&member->wake);
    pthread_mutex_destroy(&member->mutex);
    return 0;
  }
  ++pool->started;
  return 1;
}

/* Until no thread is in the job. */
static void await_threads(pmb_pool *pool)
{
  for (const double until = seconds_now() + SPIN; pool->spins && seconds_now() < until; relax()) {
    if (!(atomic_load(&pool->job) & JOB_RUNNING)) {
      return;
    }
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->caller_asleep, 1);
  while (atomic_load(&pool->job) & JOB_RUNNING) {
    pthread_cond_wait(&pool->done, &pool->mutex);
  }
  atomic_store(&pool->caller_asleep, 0);
  pthread_mutex_unlock(&pool->mutex);
}

/* Runs the task on the pool's threads and the caller's. Threads that are missing are started as long as those before them find
 * something to do. */
static void pool_run(pmb_pool *pool, int workers, void (*task)(void *arg, int worker), void *arg)
{
  const job_word number = (atomic_load(&pool->job) >> JOB_NUMBER_SHIFT) + 1;
  pool->task = task;
  pool->arg = arg;
  atomic_store(&pool->exhausted, 0);
  atomic_store(&pool->job, number << JOB_NUMBER_SHIFT | (job_word)workers << JOB_WORKERS_SHIFT | JOB_OPEN);
  for (int i = 0; i < pool->started && i < workers - 1; ++i) {
    call_member(&pool->members[i]);
  }
  while (pool->started < workers - 1 && !atomic_load(&pool->exhausted) && start_thread(pool)) {
    continue;
  }
  task(arg, 0);
  if ((atomic_fetch_and(&pool->job, ~(job_word)JOB_OPEN) & JOB_RUNNING) && !is_left_behind(pool)) {
    await_threads(pool);
  }
}

int pmb_crew_report(pmb_crew *crew, double fraction)
{
  if (!crew->progress) {
    return 1;
  }
  crew->last_report = seconds_now();
  crew->highest = fraction > crew->highest ? fraction : crew->highest;
  const unsigned before = pmb_forks();
  const int stop = crew->progress(crew->progress_user, crew->highest);
  return !stop && pmb_forks() == before; /* what other threads were at is done in the parent only */
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

/* The next i for a worker: of the range it is at, or of the first after it where there is one. Returns 0 if all are taken. */
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
  while (!atomic_load_explicit(&loop->stopped, memory_order_relaxed) && take_next(loop, &at, &i)) {
    loop->body(loop->arg, worker, i);
    atomic_fetch_add(&loop->finished, 1);
    if (is_caller && !report_loop(loop)) {
      atomic_store(&loop->stopped, 1);
    }
  }
}

/* Cuts the loop into ranges of about equal length. */
static void cut(pmb_loop *loop, int ranges)
{
  const size_t each = loop->count / (size_t)ranges, more = loop->count % (size_t)ranges;
  size_t begin = 0;
  for (int r = 0; r < ranges; ++r) {
    const size_t end = begin + each + ((size_t)r < more);
    atomic_init(&loop->ranges[r].next, begin);
    loop->ranges[r].end = end;
    begin = end;
  }
  loop->range_count = ranges;
}

static int run_loop(pmb_crew *crew, int most, pmb_loop *loop)
{
  const int wanted = most < crew->workers ? most : crew->workers;
  const int workers = (size_t)wanted < loop->count ? wanted : (int)loop->count;
  loop->crew = crew;
  loop->caller = pthread_self();
  atomic_init(&loop->finished, 0);
  atomic_init(&loop->stopped, 0);
  pmb_pool *pool = workers > 1 && !crew->executor.run ? take_pool(crew) : NULL;
  if (crew->executor.run && workers > 0) {
    crew->executor.run(crew->executor.user, workers, loop_task, loop);
  } else if (pool) {
    pool_run(pool, workers, loop_task, loop);
    give_pool_back(pool);
  } else {
    loop_task(loop, 0);
  }
  return !atomic_load(&loop->stopped) && pmb_crew_report(crew, crew->fraction_end);
}

int pmb_crew_loop(pmb_crew *crew, size_t count, void (*body)(void *arg, int worker, size_t i), void *arg)
{
  pmb_loop loop;
  loop.count = count;
  loop.body = body;
  loop.arg = arg;
  cut(&loop, 1);
  return run_loop(crew, crew->workers, &loop);
}

int pmb_crew_loop_apart(
  pmb_crew *crew, int most, size_t count, void (*body)(void *arg, int worker, size_t i), void *arg)
{
  const int workers = most < crew->workers ? most : crew->workers;
  pmb_loop loop;
  loop.count = count;
  loop.body = body;
  loop.arg = arg;
  cut(&loop, workers < MOST_RANGES ? workers : MOST_RANGES);
  return run_loop(crew, workers, &loop);
}

void pmb_crew_free(pmb_crew *crew)
{
  pmb_pool *unused = NULL;
  if (crew->uses_pools && crew->forks == pmb_forks()) {
    pthread_mutex_lock(&pools_mutex);
    if (--pool_users == 0) {
      unused = idle_pools;
      idle_pools = NULL;
    }
    pthread_mutex_unlock(&pools_mutex);
  }
  crew->uses_pools = 0;
  while (unused) {
    pmb_pool *pool = unused;
    unused = pool->next;
    end_threads(pool);
    free(pool);
  }
}
