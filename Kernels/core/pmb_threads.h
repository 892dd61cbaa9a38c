/* SPDX-License-Identifier: BSD-3-Clause
 * Parallel loops over chunks of work, on the core's own threads or on those that the host lends. */
#ifndef PMB_THREADS_H
#define PMB_THREADS_H

#include "pmb.h"

enum { PMB_MAX_THREADS = 1024 };

/* The work for one i of a loop. */
typedef void pmb_body(void *arg, int worker, size_t i);

/* Threads for loops, and where loops report progress. */
typedef struct pmb_crew {
  int workers;
  int spins;             /* each worker has a core, so it may poll briefly before it sleeps */
  pmb_executor executor; /* run == NULL: the core's threads, which all contexts share */
  pmb_progress progress;
  void *progress_user;
  double fraction_begin, fraction_end; /* part of the running call that the next loop covers */
  double highest;                      /* highest fraction reported in this call: repeated work does not lower it */
  double last_report;                  /* seconds, monotonic clock */
} pmb_crew;

/* Sets workers (threads == 0: one per core that this process may use), spins and executor. */
void pmb_crew_make(pmb_crew *crew, int threads, pmb_executor executor);

/* Ends the core's idle threads. Crews that run loops later start threads again. */
void pmb_end_idle_threads(void);

/* Runs body(arg, worker, i) for every i in [0, count). A worker takes the lowest i that is left. Returns 0 if the progress
 * hook asked to stop (some i may then be missing), else 1. A thread that cannot be started only makes the loop slower. */
int pmb_crew_loop(pmb_crew *crew, size_t count, pmb_body *body, void *arg);

/* The same with at most `most` workers (at least 1). Each begins in its own part of the loop, and helps the others when that
 * part is done. Workers that write fresh memory then do not fault in the same large page: each would clear a page, and all but
 * one would be thrown away. */
int pmb_crew_loop_apart(pmb_crew *crew, int most, size_t count, pmb_body *body, void *arg);

/* Reports a fraction of the call to the hook, whatever the clock says. Returns 0 if the hook asks to stop. */
int pmb_crew_report(pmb_crew *crew, double fraction);

#endif
