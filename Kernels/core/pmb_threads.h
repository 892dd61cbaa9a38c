/* SPDX-License-Identifier: BSD-3-Clause
 * Parallel loops over chunks of work, on the core's own threads or on those that the host lends. */
#ifndef PMB_THREADS_H
#define PMB_THREADS_H

#include "pmb.h"

enum { PMB_MAX_THREADS = 1024 };

/* How loops run, and who hears of their progress. */
typedef struct pmb_crew {
  int workers;
  int spins;             /* there is a core for each worker: one may poll for a moment before it sleeps */
  pmb_executor executor; /* run == NULL: the core's threads, which all contexts share */
  pmb_progress progress;
  void *progress_user;
  double fraction_begin, fraction_end; /* of the running call, what the next loop covers */
  double highest;                      /* fraction reported in the running call: work done again does not show */
  double last_report;                  /* seconds, monotonic clock */
} pmb_crew;

/* Sets workers (threads == 0: one per core that this process may use), spins and executor; the rest is the caller's. */
void pmb_crew_make(pmb_crew *crew, int threads, pmb_executor executor);

/* Ends a crew, which runs no more loops, and the core's idle threads: other crews start theirs again. */
void pmb_crew_free(void);

/* Runs body(arg, worker, i) for every i in [0, count), in any order, workers pulling one i at a time. Returns 0 when
 * the progress hook asked to stop (some i may then be missing), 1 otherwise. A thread that cannot be started only
 * makes the loop slower. */
int pmb_crew_loop(pmb_crew *crew, size_t count, void (*body)(void *arg, int worker, size_t i), void *arg);

/* The same with at most so many workers (at least 1), of which each begins in a part of the loop of its own and takes over from
 * the others at its end. So those that write new memory do not ask the system for the same large page: each would clear one,
 * and only the first be used. */
int pmb_crew_loop_apart(
  pmb_crew *crew, int most, size_t count, void (*body)(void *arg, int worker, size_t i), void *arg);

/* Reports the crew's current place to the hook, whatever the clock says. Returns 0 if it asks to stop, and in a process that
 * it forked. */
int pmb_crew_report(pmb_crew *crew, double fraction);

#endif
