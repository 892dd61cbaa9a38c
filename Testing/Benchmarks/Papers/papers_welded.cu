/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels of papers_welded.h. */
#include "papers_gpu.cuh"
#include "papers_sum.cuh"
extern "C" {
#include "papers_welded.h"
}

enum { THREADS = 256 };

/* An array of ids holds each vertex's slot first. */
static __global__ void __launch_bounds__(THREADS)
  insert_kernel(const uint32_t *d_soup, int64_t vertices, uint32_t *d_table, uint64_t slots, uint32_t *d_ids)
{
  const int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (v < vertices) {
    d_ids[v] = papers_welded_insert(d_soup, (uint32_t)v, d_table, slots);
  }
}

/* Then the first vertex at its place. The sum gets one value more, so that it ends with the total. */
static __global__ void __launch_bounds__(THREADS)
  first_kernel(int64_t vertices, const uint32_t *d_table, uint32_t *d_ids, uint32_t *d_before)
{
  const int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (v < vertices) {
    const uint32_t first = d_table[d_ids[v]];
    d_ids[v] = first;
    d_before[v] = first == v;
  } else if (v == vertices) {
    d_before[v] = 0;
  }
}

/* Then its point. The table becomes the list of the vertices that are points. */
static __global__ void __launch_bounds__(THREADS) number_kernel(
  int64_t vertices, const uint32_t *d_before, uint32_t *d_ids, uint32_t *d_list, papers_scan_totals *d_totals)
{
  const int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (v < vertices) {
    const uint32_t first = d_ids[v], point = d_before[first];
    d_ids[v] = point;
    if (first == v) {
      d_list[point] = first;
    }
  } else if (v == vertices) {
    d_totals->vertices = d_before[v];
  }
}

static papers_status sum_bytes(papers_welded *w, int64_t count, size_t *bytes)
{
  if (count > PAPERS_SUM_MOST) {
    return PAPERS_TOO_LARGE;
  }
  PAPERS_TRY(w->scan.memory, papers_sum(NULL, bytes, NULL, NULL, count));
  return PAPERS_OK;
}

static papers_status weld(papers_welded *w)
{
  papers_memory *memory = w->scan.memory;
  papers_scan_totals *d_totals = w->scan.d_totals, *totals = w->scan.totals;
  uint32_t *d_table = (uint32_t *)w->table.data, *d_ids = (uint32_t *)w->ids.data;
  uint32_t *d_before = (uint32_t *)w->before.data;
  const int64_t blocks = papers_blocks(w->vertices + 1, THREADS);
  PAPERS_TRY(memory, cudaMemsetAsync(d_table, 0xff, (size_t)w->slots * sizeof(*d_table), NULL));
  PAPERS_TRY(memory,
    papers_launch(insert_kernel, blocks, THREADS, (const uint32_t *)w->soup.data, w->vertices, d_table,
      (uint64_t)w->slots, d_ids));
  PAPERS_TRY(memory, papers_launch(first_kernel, blocks, THREADS, w->vertices, d_table, d_ids, d_before));
  PAPERS_TRY(memory, papers_sum(w->sums.data, &w->sums.bytes, d_before, d_before, w->vertices + 1));
  PAPERS_TRY(memory, papers_launch(number_kernel, blocks, THREADS, w->vertices, d_before, d_ids, d_table, d_totals));
  PAPERS_TRY(memory, cudaMemcpyAsync(totals, d_totals, sizeof(*totals), cudaMemcpyDeviceToHost, NULL));
  PAPERS_TRY(memory, cudaStreamSynchronize(NULL));
  w->points = (int64_t)totals->vertices;
  return PAPERS_OK;
}

/* ---- points ---- */

template <int TYPE>
static __global__ void __launch_bounds__(THREADS)
  points_kernel(const __grid_constant__ papers_scan_field field, const __grid_constant__ pmb_frame frame,
    const uint32_t *d_list, int64_t points, const papers_scan_source *d_sources, float *d_positions, float *d_normals)
{
  __shared__ float out[2][THREADS / 32][32 * 3];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int64_t first = (int64_t)blockIdx.x * THREADS + 32 * warp;
  float *positions = out[0][warp], *normals = out[1][warp];
  const int count = (int)min(max(points - first, (int64_t)0), (int64_t)32);
  if (lane < count) {
    const uint32_t vertex = d_list[first + lane], triangle = vertex / 3;
    const papers_scan_source source = d_sources[triangle];
    const int edge = (int)(source.edges >> 4 * (vertex - 3 * triangle) & 15);
    float point[3], normal[3];
    papers_welded_point(&field, (pmb_type)TYPE, &frame, source.voxel, edge, point, normal);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      positions[3 * lane + a] = point[a];
      normals[3 * lane + a] = normal[a];
    }
  }
  __syncwarp();
  for (int i = lane; i < 3 * count; i += 32) {
    d_positions[3 * first + i] = positions[i];
    d_normals[3 * first + i] = normals[i];
  }
}

template <int TYPE> static cudaError_t launch_points(const papers_welded *w)
{
  return papers_launch(points_kernel<TYPE>, papers_blocks(w->points, THREADS), THREADS, w->scan.field, w->frame,
    (const uint32_t *)w->table.data, w->points, (const papers_scan_source *)w->sources.data,
    (float *)w->positions.data, (float *)w->normals.data);
}

static papers_status points(papers_welded *w)
{
  papers_memory *memory = w->scan.memory;
  const pmb_type type = w->scan.type;
  PAPERS_TRY(memory,
    type == PMB_UINT8      ? launch_points<PMB_UINT8>(w)
      : type == PMB_INT16  ? launch_points<PMB_INT16>(w)
      : type == PMB_UINT16 ? launch_points<PMB_UINT16>(w)
                           : launch_points<PMB_FLOAT32>(w));
  PAPERS_TRY(memory, cudaStreamSynchronize(NULL));
  return PAPERS_OK;
}

/* ---- the system ---- */

static const papers_welded_passes passes_gpu = { &papers_scan_passes_gpu, sum_bytes, weld, points };

static papers_status create_on_gpu(papers_memory *memory, const papers_volume *volume, void **state)
{
  return papers_welded_create(&passes_gpu, memory, volume, state);
}

extern "C" const papers_system papers_welded_gpu = { "welded", PAPERS_WELDED_SOURCE, create_on_gpu,
  papers_welded_extract, papers_welded_destroy };
