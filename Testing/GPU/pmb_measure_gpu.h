/* SPDX-License-Identifier: BSD-3-Clause
 * Kernel times of the GPU's passes, for benchmarks; see inside.cmake. */
#ifndef PMB_MEASURE_GPU_H
#define PMB_MEASURE_GPU_H

#include "pmb.h"

/* Kernel times in milliseconds, with volume and output on the device. */
typedef struct pmb_gpu_times {
  double summarize;                     /* with the range of the volume */
  double classify, vertices, triangles; /* each alone; classify includes select and scan */
  double isovalues;                     /* these in one run, with the counts copied to the host */
  double first;                         /* the same with summarize */
  double copy_rate;                     /* bytes per second, read and written, of a copy from device to device */
  int64_t points, triangle_count;
  int64_t bytes_read;         /* by summarize */
  int64_t acceleration_bytes; /* memory besides samples and mesh */
} pmb_gpu_times;

/* Sorts n values and returns the median. */
static inline double pmb_median(double *values, int n)
{
  for (int i = 1; i < n; i++) {
    const double value = values[i];
    int at = i;
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
  }
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* Times the passes on the bound volume: medians of `repeats`. Works only for contexts on a GPU, and for at most as many isovalues
 * as one launch takes. */
#if defined(PMB_MEASURE_GPU)
pmb_status pmb_measure_gpu(pmb_context *context, const double *isovalues, int64_t isovalue_count,
  int remove_degenerate, int repeats, pmb_gpu_times *times);
#else
static inline pmb_status pmb_measure_gpu(pmb_context *context, const double *isovalues, int64_t isovalue_count,
  int remove_degenerate, int repeats, pmb_gpu_times *times)
{
  (void)context, (void)isovalues, (void)isovalue_count, (void)remove_degenerate, (void)repeats, (void)times;
  return PMB_UNAVAILABLE;
}
#endif

#endif
