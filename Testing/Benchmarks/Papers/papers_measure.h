/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_measure.h - one system on one volume: milliseconds, bytes and counts. */
#ifndef PAPERS_MEASURE_H
#define PAPERS_MEASURE_H

#include "papers_list.h"

typedef enum papers_outcome {
  PAPERS_MEASURED,
  PAPERS_FAILED,  /* no memory; `asked` says for how many bytes it would have needed */
  PAPERS_REFUSED, /* more than it can count */
  PAPERS_WRONG,   /* another number of triangles than PMB: not timed */
  PAPERS_BROKEN   /* the device reports an error: nothing can be measured any more */
} papers_outcome;

typedef struct papers_result {
  const char *system;
  papers_outcome outcome;
  double first,
    change; /* of the volume: all that is done once as well; of a new isovalue. Medians, memory already there */
  size_t acceleration, output; /* the most bytes at a time */
  size_t asked;
  int64_t points, triangles;
  char message[160];
} papers_result;

typedef struct papers_task {
  const papers_place *place;
  const papers_volume *volume; /* at the place */
  double isovalue;
  int64_t triangles; /* what there must be; < 0: not known */
  int repeats;
  size_t limit; /* bytes for acceleration and output together */
} papers_task;

/* "ok", "fail", "too large", "WRONG", "error". */
const char *papers_outcome_text(papers_outcome outcome);

papers_result papers_measure(const papers_task *task, const papers_system *system);

/* PMB itself on the GPU, by pmb_measure_gpu, on samples in this machine's memory, points on samples not joined. */
papers_result papers_measure_pmb(const papers_volume *host_volume, double isovalue, int repeats);

#endif
