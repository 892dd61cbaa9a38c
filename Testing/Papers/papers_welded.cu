/* SPDX-License-Identifier: BSD-3-Clause
 *
 * welded: turns scan's triangle soup into a mesh like PMB's (PMB paper, section 2): the vertices at one position become one point,
 * triangles become ids, and points get normals by central differences.
 *
 * Passes, after those of scan: insert (finds or makes the slot of each vertex's position in a hash table; a slot keeps
 * its least vertex), first (the vertices to keep), a prefix sum, number (ids, and a list of the vertices kept),
 * points (positions and normals of those). A hash table, not a sort: sorting 96-bit keys takes a dozen passes over
 * all vertices, each with several times the traffic of one insertion; and the slots that a warp looks up are near each
 * other, since the soup follows the rows of the volume.
 *
 * Points are in the order of their first vertices in the soup, in every run. Vertices that coincide for another reason
 * than a common edge, at a sample equal to the isovalue, become one point too; triangles keep their positions, and the
 * point has the normal of the first of them.
 *
 * The soup has no flat normals here, but says where each triangle comes from, since central differences need the edge.
 * Memory besides scan's, per triangle: 36 bytes of positions and 8 for the source, 16 of the table (4 slots for 3 vertices:
 * all may differ), 12 of the prefix sum, and CUB's. */
#include "papers_scan.cuh"

#define EMPTY UINT32_MAX /* no vertex: scan refuses so many */

enum { THREADS = 256 };

struct welded_state : papers_scan_state {
  papers_buffer soup, sources, table, before, scratch; /* scratch: CUB's */
  int64_t vertices, slots;                             /* 3 per triangle; of the table */
};

/* The first slot for a position. Equal positions have equal bits: none is -0 or NaN. */
static __device__ __forceinline__ uint32_t slot_of(const uint32_t bits[3], uint64_t slots)
{
  uint64_t hash = (bits[0] | (uint64_t)bits[1] << 32) * 0x9e3779b97f4a7c15u;
  hash = ((hash ^ hash >> 32) + bits[2]) * 0xd6e8feb86659fd93u;
  return (uint32_t)((hash >> 32) * slots >> 32);
}

/* Inserts a vertex of the soup; returns its slot. A slot changes only to another vertex at the same position. */
static __device__ __forceinline__ uint32_t insert(
  const uint32_t *d_soup, uint32_t vertex, uint32_t *d_table, uint64_t slots)
{
  const uint32_t bits[3] = { d_soup[3 * (uint64_t)vertex], d_soup[3 * (uint64_t)vertex + 1],
    d_soup[3 * (uint64_t)vertex + 2] };
  uint64_t slot = slot_of(bits, slots);
  for (;;) {
    uint32_t other = __ldcg(d_table + slot);
    if (other == EMPTY) {
      other = atomicCAS(d_table + slot, EMPTY, vertex);
      if (other == EMPTY) return (uint32_t)slot;
    }
    const uint32_t *d_there = d_soup + 3 * (uint64_t)other;
    if (d_there[0] == bits[0] && d_there[1] == bits[1] && d_there[2] == bits[2]) {
      if (vertex < other) atomicMin(d_table + slot, vertex);
      return (uint32_t)slot;
    }
    slot = slot + 1 < slots ? slot + 1 : 0;
  }
}

/* d_ids holds the slot of each vertex after this pass, */
static __global__ void __launch_bounds__(THREADS)
  insert_kernel(const uint32_t *d_soup, int64_t vertices, uint32_t *d_table, uint64_t slots, uint32_t *d_ids)
{
  const int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (v < vertices) d_ids[v] = insert(d_soup, (uint32_t)v, d_table, slots);
}

/* the first vertex at its position after this one, whose sum gets one value more to end with the total, */
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

/* and its point after this one. The table becomes the list of the vertices that are points. */
static __global__ void __launch_bounds__(THREADS) number_kernel(
  int64_t vertices, const uint32_t *d_before, uint32_t *d_ids, uint32_t *d_list, papers_scan_totals *d_totals)
{
  const int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (v < vertices) {
    const uint32_t first = d_ids[v], point = d_before[first];
    d_ids[v] = point;
    if (first == v) d_list[point] = first;
  } else if (v == vertices) {
    d_totals->vertices = d_before[v];
  }
}

/* ---- points ---- */

template <class T>
static __device__ __forceinline__ void read_end(const papers_field &field, const int32_t place[3], papers_end *end)
{
  const int64_t index = papers_index(field, place);
  end->center = papers_sample<T>(field, index);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const int64_t step = a == 0 ? 1 : a == 1 ? field.row : field.slice;
    const int first = place[a] <= 0, last = place[a] >= field.dims[a] - 1;
    end->below[a] = papers_sample<T>(field, index - (first ? 0 : step));
    end->above[a] = papers_sample<T>(field, index + (last ? 0 : step));
    end->factor[a] = first || last ? 1.0f : 0.5f;
  }
}

template <class T>
static __device__ __forceinline__ void make_point(
  const papers_field &field, uint32_t voxel, int edge, float position[3], float normal[3])
{
  const int axis = pmb_edge_axis(edge);
  int32_t place[3], low[3];
  papers_end lower, upper;
  papers_scan_place(field, voxel, place);
  papers_lower_of(place, edge, low);
  const int32_t high[3] = { low[0] + (axis == 0), low[1] + (axis == 1), low[2] + (axis == 2) };
  read_end<T>(field, low, &lower);
  read_end<T>(field, high, &upper);
  const float t = pmb_edge_parameter(lower.center, upper.center, field.value, field.value_low);
  papers_position(low, axis, t, position);
  papers_central_normal(lower, upper, t, normal);
}

template <class T>
static __global__ void __launch_bounds__(THREADS) points_kernel(const __grid_constant__ papers_field field,
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
    float position[3], normal[3];
    make_point<T>(field, source.voxel, edge, position, normal);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      positions[3 * lane + a] = position[a];
      normals[3 * lane + a] = normal[a];
    }
  }
  __syncwarp();
  for (int i = lane; i < 3 * count; i += 32) {
    d_positions[3 * first + i] = positions[i];
    d_normals[3 * first + i] = normals[i];
  }
}

template <class T> static cudaError_t make_points(const welded_state *w)
{
  return papers_launch(points_kernel<T>, papers_blocks(w->mesh.points, THREADS), THREADS, w->field,
    (const uint32_t *)w->table.d_data, w->mesh.points, (const papers_scan_source *)w->sources.d_data,
    (float *)w->positions.d_data, (float *)w->normals.d_data);
}

/* ---- the system ---- */

static papers_status reserve(
  welded_state *w, papers_buffer *buffer, int64_t count, size_t size, papers_use use = PAPERS_ACCELERATION)
{
  return papers_reserve(w->memory, use, buffer, (size_t)count * size);
}

/* Reserves buffers whose size depends on the number of triangles. */
static papers_status reserve_for_soup(welded_state *w)
{
  const int64_t most = INT64_C(1) << 32; /* slots have 32 bits; that is still more than vertices */
  size_t scratch_bytes = 0;
  w->vertices = 3 * w->triangles;
  w->slots = 4 * w->triangles < most ? 4 * w->triangles : most;
  if (w->vertices + 1 > PAPERS_SUM_MOST) return PAPERS_TOO_LARGE;
  PAPERS_TRY(w->memory, papers_prefix_sum(NULL, &scratch_bytes, NULL, NULL, w->vertices + 1));
  PAPERS_TRY(w->memory, reserve(w, &w->scratch, (int64_t)scratch_bytes, 1));
  PAPERS_TRY(w->memory, reserve(w, &w->soup, w->vertices, 3 * sizeof(float)));
  PAPERS_TRY(w->memory, reserve(w, &w->sources, w->triangles, sizeof(papers_scan_source)));
  PAPERS_TRY(w->memory, reserve(w, &w->table, w->slots, sizeof(uint32_t)));
  PAPERS_TRY(w->memory, reserve(w, &w->before, w->vertices + 1, sizeof(uint32_t)));
  return reserve(w, &w->ids, w->vertices, sizeof(int32_t), PAPERS_OUTPUT);
}

/* Passes insert to number. */
static papers_status weld(welded_state *w, int64_t *points)
{
  papers_memory *memory = w->memory;
  papers_scan_totals *totals = (papers_scan_totals *)w->pinned;
  uint32_t *d_table = (uint32_t *)w->table.d_data, *d_ids = (uint32_t *)w->ids.d_data;
  uint32_t *d_before = (uint32_t *)w->before.d_data;
  const int64_t blocks = papers_blocks(w->vertices + 1, THREADS);
  PAPERS_TRY(memory, cudaMemsetAsync(d_table, 0xff, (size_t)w->slots * sizeof(*d_table), NULL));
  PAPERS_TRY(memory,
    papers_launch(insert_kernel, blocks, THREADS, (const uint32_t *)w->soup.d_data, w->vertices, d_table,
      (uint64_t)w->slots, d_ids));
  PAPERS_TRY(memory, papers_launch(first_kernel, blocks, THREADS, w->vertices, d_table, d_ids, d_before));
  PAPERS_TRY(memory, papers_prefix_sum(w->scratch.d_data, &w->scratch.bytes, d_before, d_before, w->vertices + 1));
  PAPERS_TRY(
    memory, papers_launch(number_kernel, blocks, THREADS, w->vertices, d_before, d_ids, d_table, w->d_totals));
  PAPERS_TRY(memory, cudaMemcpyAsync(totals, w->d_totals, sizeof(*totals), cudaMemcpyDeviceToHost, NULL));
  PAPERS_TRY(memory, cudaStreamSynchronize(NULL));
  *points = (int64_t)totals->vertices;
  return *points <= INT32_MAX ? PAPERS_OK : PAPERS_TOO_LARGE;
}

static papers_status extract(papers_state *state)
{
  welded_state *w = (welded_state *)state;
  papers_memory *memory = w->memory;
  int64_t points;
  PAPERS_TRY(memory, papers_scan_count(w));
  if (w->triangles == 0) return PAPERS_OK;
  PAPERS_TRY(memory, reserve_for_soup(w));
  PAPERS_TRY(memory, papers_scan_soup(w, (float *)w->soup.d_data, NULL, (papers_scan_source *)w->sources.d_data));
  PAPERS_TRY(memory, weld(w, &points));
  PAPERS_TRY(memory, papers_reserve_mesh(w, points, w->triangles, 1));
  PAPERS_TRY(memory, PAPERS_BY_TYPE(w->type, make_points, w));
  return PAPERS_OK;
}

extern "C" const papers_system papers_welded = { "welded", PAPERS_WELDED, PAPERS_CENTRAL, sizeof(welded_state),
  papers_scan_create, extract };
