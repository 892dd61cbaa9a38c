/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_scan.cuh - the passes of papers_scan.cu, for systems that begin with them. */
#ifndef PAPERS_SCAN_CUH
#define PAPERS_SCAN_CUH

#include <cub/device/device_scan.cuh>

#include "papers_gpu.cuh"

/* The origin of a triangle of the soup. */
struct papers_scan_source {
  uint32_t voxel, edges; /* of corner c: edges >> 4 * c & 15 */
};

struct papers_scan_totals {
  unsigned long long vertices;
  uint32_t occupied, vertices_32; /* the latter modulo 2^32, as the prefix sum has it */
};

/* The state; each array has a value per voxel. */
struct papers_scan_state : papers_state {
  int64_t voxels;
  uint32_t *d_vertices, *d_vertices_before, *d_occupied, *d_occupied_before, *d_list;
  void *d_sums; /* CUB's, for a prefix sum */
  size_t sums_bytes;
  papers_scan_totals *d_totals;
  int64_t occupied, triangles; /* of the last isovalue */
};

papers_status papers_scan_create(papers_state *state);

/* Passes classify to compact; sets occupied and triangles. */
papers_status papers_scan_count(papers_scan_state *scan);

/* Pass triangles; d_normals and d_sources may be NULL. */
papers_status papers_scan_soup(
  papers_scan_state *scan, float *d_positions, float *d_normals, papers_scan_source *d_sources);

/* Most values of a sum: older versions of CUB take their number as an int, and do not report one that is too large. */
#if CUB_VERSION >= 200700
#define PAPERS_SUM_MOST INT64_MAX
#else
#define PAPERS_SUM_MOST INT32_MAX
#endif

/* Exclusive prefix sum. d_scratch NULL: *bytes becomes what CUB needs there. The two arrays may be one. */
static inline cudaError_t papers_prefix_sum(
  void *d_scratch, size_t *bytes, const uint32_t *d_values, uint32_t *d_before, int64_t count)
{
  return cub::DeviceScan::ExclusiveSum(d_scratch, *bytes, d_values, d_before, count);
}

static __device__ __forceinline__ void papers_scan_place(const papers_field &field, uint32_t voxel, int32_t place[3])
{
  const uint32_t nx = (uint32_t)field.dims[0], ny = (uint32_t)field.dims[1];
  const uint32_t row = voxel / nx;
  place[0] = (int32_t)(voxel - row * nx);
  place[1] = (int32_t)(row % ny);
  place[2] = (int32_t)(row / ny);
}

#endif
