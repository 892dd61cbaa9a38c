/* SPDX-License-Identifier: BSD-3-Clause
 * What the rest of the core and the GPU benchmark know of the CUDA backend. */
#ifndef PMB_CUDA_H
#define PMB_CUDA_H

#include "pmb.h"

/* Whether a GPU can be used: NULL if so, else what is missing; valid until the next call on this thread. */
const char *pmb_cuda_missing(void);

/* Kernel times in milliseconds, volume and output on the device. */
typedef struct pmb_cuda_times {
  double summarize;                             /* with the range of the volume */
  double select, classify, vertices, triangles; /* each on its own; select 0: it is part of classify's launch */
  double isovalues;                             /* the four together in one run, counts back on the host */
  double first;                                 /* the same with summarize */
  double copy_rate; /* bytes read and written in a second by a copy from device to device */
  int64_t points, triangle_count;
  int64_t bytes_read;         /* by summarize */
  int64_t acceleration_bytes; /* kept for the volume and isovalue beside samples and mesh */
} pmb_cuda_times;

/* Measures the passes on the bound volume (medians of `repeats`). Only for contexts on the GPU, and as many isovalues as
 * go together. */
pmb_status pmb_cuda_measure(pmb_context *context, const double *isovalues, int64_t isovalue_count,
  int remove_degenerate, int repeats, pmb_cuda_times *times);

#endif
