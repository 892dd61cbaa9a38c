/* SPDX-License-Identifier: BSD-3-Clause
 * Exclusive prefix sums by CUB. */
#ifndef PAPERS_SUM_CUH
#define PAPERS_SUM_CUH

#include <cub/device/device_scan.cuh>

/* Most values of a sum: older versions of CUB take their number as an int, and would not tell. */
#if CUB_VERSION >= 200700
#define PAPERS_SUM_MOST INT64_MAX
#else
#define PAPERS_SUM_MOST INT32_MAX
#endif

/* d_scratch NULL: *bytes becomes what CUB needs there. The two arrays may be one. */
static inline cudaError_t papers_sum(
  void *d_scratch, size_t *bytes, const uint32_t *d_values, uint32_t *d_before, int64_t count)
{
  return cub::DeviceScan::ExclusiveSum(d_scratch, *bytes, d_values, d_before, count);
}

#endif
