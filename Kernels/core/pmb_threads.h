/* SPDX-License-Identifier: BSD-3-Clause
 * Parallel loops over chunks of work, on the core's own threads or on those that the host lends. */
#ifndef PMB_THREADS_H
#define PMB_THREADS_H

#include "core/pmb_memory.h"

enum { PMB_MAX_THREADS = 1024 };

typedef struct pmb_pool pmb_pool;

/* How loops run, and who hears of their progress. */
typedef struct pmb_crew {
  int workers;
  pmb_executor executor; /* run == NULL: own pool */
  pmb_pool *pool;        /* started at the first loop that needs it */
  pmb_progress progress;
  void *progress_user;
  double fraction_begin, fraction_end; /* of the running call, what the next loop covers */
  double highest;                      /* fraction reported in the running call: what is done again does not show */
  double last_report;                  /* seconds, monotonic clock */
} pmb_crew;

/* Cores that this process may use, at least 1. */
int pmb_available_cores(void);

/* Runs body(arg, worker, i) for every i in [0, count), in any order, workers pulling one i at a time. Returns 0 when
 * the progress hook asked to stop (some i may then be missing), 1 otherwise. A thread that cannot be started only
 * makes the loop slower. */
int pmb_crew_loop(
  pmb_crew *crew, pmb_memory *memory, size_t count, void (*body)(void *arg, int worker, size_t i), void *arg);

/* The same with at most so many workers (at least 1), of which each begins in a part of the loop of its own and takes over from
 * the others at its end. So those that write new memory do not ask the system for the same large page: each would clear one,
 * and only the first be used. */
int pmb_crew_loop_apart(pmb_crew *crew, pmb_memory *memory, int most, size_t count,
  void (*body)(void *arg, int worker, size_t i), void *arg);

/* Reports the crew's current place to the hook, whatever the clock says. Returns 0 if it asks to stop, and in a process that
 * it forked. */
int pmb_crew_report(pmb_crew *crew, double fraction);

/* Ends the threads. Those of a process that this one was forked from are not here: they are forgotten. */
void pmb_crew_free(pmb_crew *crew, pmb_memory *memory);

#endif
