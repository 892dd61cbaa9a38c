/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scan: marching cubes by prefix sums over all voxels, the sample of NVIDIA's CUDA SDK that the PMB paper (EuroVis 2016,
 * sections 2 and 5: "nvsdk") compares itself with.
 *
 * A voxel is a sample with the cell above it; those at the upper borders have no cell. Passes: classify (the number of
 * vertices of each voxel, and whether there are any), two exclusive prefix sums over all voxels, compact (a list of occupied
 * voxels),
 * triangles (of those, three vertices each, none shared, with the normal of their plane).
 *
 * Memory, as the paper counts it: five arrays of 32 bits per voxel, 20 bytes; and CUB's, some bytes for each of its tiles
 * of a few thousand voxels.
 *
 * As in the sample: voxels and vertices are counted in 32 bits; one flat normal per triangle, which the paper names as the
 * reason for the faceted look. Unlike there: sizes need not be powers of two; sums that overflow are refused; normals have
 * length 1 (0 without an area); the counts come back once per isovalue; a block writes its triangles as one piece. */
#include "papers_scan.cuh"

#define MOST_VERTICES ((int64_t)UINT32_MAX - 1) /* UINT32_MAX is "none" in the table of papers_welded.cu */

enum {
  THREADS = 256,
  ROWS = 8,    /* of voxels that a warp classifies together */
  LAYERS = 16, /* that it walks through */
  MOST_TRIANGLES = THREADS * PMB_MAX_TRIANGLES
};

/* ---- classify ---- */

/* The state of a warp on its way through voxels; a lane's x is `x`. */
typedef struct walk {
  int lane, x, y, z;
} walk;

/* Sets a warp's first voxel; returns 0 if it has none. Neighbours along x are adjacent. */
static __device__ __forceinline__ int begin_walk(const papers_field &field, walk *w)
{
  const uint32_t warp = (uint32_t)(((uint64_t)blockIdx.x * THREADS + threadIdx.x) >> 5);
  const uint32_t nx = (uint32_t)(field.dims[0] + 31) / 32, ny = (uint32_t)(field.dims[1] + ROWS - 1) / ROWS;
  const uint32_t row = warp / nx;
  w->lane = threadIdx.x & 31;
  w->x = (int)((warp - row * nx) * 32) + w->lane;
  w->y = (int)(row % ny * ROWS);
  w->z = (int)(row / ny * LAYERS);
  return w->z < field.dims[2];
}

/* The inside bits of a lane's samples x and x + 1 in the rows y to y + ROWS of a layer. */
template <class T>
static __device__ __forceinline__ void judge_rows(
  const papers_field &field, const walk &w, int z, unsigned pairs[ROWS + 1])
{
  const int64_t nx = field.dims[0];
  const int64_t first = w.x + nx * (w.y + (int64_t)field.dims[1] * z);
  const int rows = min(field.dims[1] - w.y, ROWS + 1);
  float samples[ROWS + 1];
  int inside = 0; /* of the column right of the warp's: row `lane` */
  if (w.lane < rows && w.x - w.lane + 32 < nx) {
    inside = papers_sample<T>(field, first + 32 + (nx - 1) * w.lane) >= field.threshold;
  }
  const unsigned right = __ballot_sync(UINT32_MAX, inside);
#pragma unroll
  for (int r = 0; r <= ROWS; ++r) samples[r] = r < rows && w.x < nx ? papers_sample<T>(field, first + nx * r) : 0;
#pragma unroll
  for (int r = 0; r <= ROWS; ++r) {
    const unsigned row = __ballot_sync(UINT32_MAX, samples[r] >= field.threshold);
    pairs[r] = __funnelshift_r(row, right >> r & 1, w.lane) & 3;
  }
}

/* A warp has 32 x ROWS voxels of LAYERS layers; a layer's bits serve the cells above it and below. */
template <class T>
static __global__ void __launch_bounds__(THREADS, 4)
  classify_kernel(const __grid_constant__ papers_field field, uint32_t *d_vertices, uint32_t *d_occupied)
{
  walk w;
  if (!begin_walk(field, &w)) return;
  const int64_t nx = field.dims[0], ny = field.dims[1];
  const int end = min(w.z + LAYERS, field.dims[2]);
  unsigned below[ROWS], pairs[ROWS + 1];
  judge_rows<T>(field, w, w.z, pairs);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) below[r] = pairs[r] | pairs[r + 1] << 2;
  for (int z = w.z; z < end; ++z) {
    const int has_cells = z + 1 < field.dims[2];
    int64_t voxel = w.x + nx * (w.y + ny * z);
    if (has_cells) judge_rows<T>(field, w, z + 1, pairs);
#pragma unroll
    for (int r = 0; r < ROWS; ++r, voxel += nx) {
      const unsigned above = pairs[r] | pairs[r + 1] << 2, cell_case = below[r] | above << 4;
      const int is_cell = has_cells && w.x + 1 < nx && w.y + r + 1 < ny;
      const uint32_t vertices =
        is_cell && cell_case != 0 && cell_case != 255 ? 3u * pmb_triangle_count[cell_case] : 0;
      if (w.x < nx && w.y + r < ny) {
        d_vertices[voxel] = vertices;
        d_occupied[voxel] = vertices > 0;
      }
      below[r] = above;
    }
  }
}

template <class T> static cudaError_t classify(const papers_scan_state *scan)
{
  const int32_t *dims = scan->field.dims;
  const int64_t warps = papers_blocks(dims[0], 32) * papers_blocks(dims[1], ROWS) * papers_blocks(dims[2], LAYERS);
  return papers_launch(
    classify_kernel<T>, papers_blocks(warps, THREADS / 32), THREADS, scan->field, scan->d_vertices, scan->d_occupied);
}

/* ---- compact ---- */

/* Lists the occupied voxels, four per thread: those after which the sum grows. The last voxel is never occupied, so its sum is
 * the total. */
static __global__ void __launch_bounds__(THREADS) compact_kernel(const uint32_t *d_before,
  const uint32_t *d_vertices_before, int64_t voxels, uint32_t *d_list, papers_scan_totals *d_totals)
{
  const int64_t first = 4 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
  uint32_t before[5];
  if (first + 4 < voxels) {
    const uint4 four = *(const uint4 *)(d_before + first);
    before[0] = four.x;
    before[1] = four.y;
    before[2] = four.z;
    before[3] = four.w;
    before[4] = d_before[first + 4];
  } else {
    for (int i = 0; i < 5; ++i) before[i] = first < voxels ? d_before[min(first + i, voxels - 1)] : 0;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (before[i + 1] != before[i]) d_list[before[i]] = (uint32_t)(first + i);
  if (first < voxels && first + 4 >= voxels) {
    d_totals->occupied = before[4];
    d_totals->vertices_32 = d_vertices_before[voxels - 1];
  }
}

/* The sum of the occupied voxels' vertices in 64 bits. */
static __global__ void __launch_bounds__(THREADS)
  check_kernel(const uint32_t *d_list, int64_t occupied, const uint32_t *d_vertices, papers_scan_totals *d_totals)
{
  uint32_t vertices = 0; /* of a thread's 16 voxels */
  for (int64_t i = (int64_t)blockIdx.x * THREADS * 16 + threadIdx.x, n = 0; n < 16; ++n, i += THREADS) {
    vertices += i < occupied ? d_vertices[d_list[i]] : 0;
  }
  for (int step = 16; step; step >>= 1) vertices += __shfl_xor_sync(UINT32_MAX, vertices, step);
  if ((threadIdx.x & 31) == 0) atomicAdd(&d_totals->vertices, (unsigned long long)vertices);
}

static papers_status read_back(const papers_scan_state *scan, papers_scan_totals *totals)
{
  PAPERS_TRY(
    scan->memory, cudaMemcpyAsync(scan->pinned, scan->d_totals, sizeof(*totals), cudaMemcpyDeviceToHost, NULL));
  PAPERS_TRY(scan->memory, cudaStreamSynchronize(NULL));
  *totals = *(const papers_scan_totals *)scan->pinned;
  return PAPERS_OK;
}

/* Counts vertices again in 64 bits only if 32 bits may not hold the number for so many occupied voxels. */
papers_status papers_scan_count(papers_scan_state *scan)
{
  papers_memory *memory = scan->memory;
  const int64_t voxels = scan->voxels;
  papers_scan_totals totals;
  PAPERS_TRY(memory, PAPERS_BY_TYPE(scan->type, classify, scan));
  PAPERS_TRY(
    memory, papers_prefix_sum(scan->d_sums, &scan->sums_bytes, scan->d_occupied, scan->d_occupied_before, voxels));
  PAPERS_TRY(
    memory, papers_prefix_sum(scan->d_sums, &scan->sums_bytes, scan->d_vertices, scan->d_vertices_before, voxels));
  PAPERS_TRY(memory,
    papers_launch(compact_kernel, papers_blocks(voxels, 4 * THREADS), THREADS, scan->d_occupied_before,
      scan->d_vertices_before, voxels, scan->d_list, scan->d_totals));
  PAPERS_TRY(memory, read_back(scan, &totals));
  scan->occupied = totals.occupied;
  scan->triangles = totals.vertices_32 / 3;
  if (scan->occupied * (3 * PMB_MAX_TRIANGLES) > MOST_VERTICES) {
    PAPERS_TRY(memory, cudaMemsetAsync(scan->d_totals, 0, sizeof(*scan->d_totals), NULL));
    PAPERS_TRY(memory,
      papers_launch(check_kernel, papers_blocks(scan->occupied, 16 * THREADS), THREADS, scan->d_list, scan->occupied,
        scan->d_vertices, scan->d_totals));
    PAPERS_TRY(memory, read_back(scan, &totals));
    if (totals.vertices > (uint64_t)MOST_VERTICES) return PAPERS_TOO_LARGE;
  }
  return PAPERS_OK;
}

/* ---- triangles ---- */

/* Shared memory of a block: a thread classifies a voxel, then makes triangles of any voxel. */
typedef struct soup_shared {
  uint32_t voxel[THREADS];
  float samples[8][THREADS];
  uint16_t cell_case[THREADS];
  uint16_t list[MOST_TRIANGLES]; /* triangle: thread << 3 | which of its voxel's */
  float out[THREADS / 32][32 * 9];
  float normals[THREADS / 32][32 * 3];
  uint32_t first, triangles; /* of the block */
} soup_shared;

/* A thread's voxel, with its triangles in the list. */
template <class T>
static __device__ __forceinline__ void list_voxel(const papers_field &field, const uint32_t *d_list, int64_t occupied,
  const uint32_t *d_vertices_before, soup_shared *shared)
{
  const int64_t begin = (int64_t)blockIdx.x * THREADS, i = begin + threadIdx.x;
  const uint32_t first = d_vertices_before[d_list[begin]] / 3;
  if (i >= occupied) return;
  const uint32_t voxel = d_list[i];
  const uint32_t before = d_vertices_before[voxel] / 3 - first;
  unsigned cell_case = 0;
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const int64_t step = (c & 1) + field.dims[0] * ((c >> 1 & 1) + (int64_t)field.dims[1] * (c >> 2));
    const float sample = papers_sample<T>(field, voxel + step);
    cell_case |= (unsigned)(sample >= field.threshold) << c;
    shared->samples[c][threadIdx.x] = sample;
  }
  const uint32_t count = pmb_triangle_count[cell_case];
  shared->voxel[threadIdx.x] = voxel;
  shared->cell_case[threadIdx.x] = (uint16_t)cell_case;
  for (uint32_t t = 0; t < count; ++t) shared->list[before + t] = (uint16_t)(threadIdx.x << 3 | t);
  if (i == occupied - 1 || threadIdx.x == THREADS - 1) {
    shared->first = first;
    shared->triangles = before + count;
  }
}

/* The normal of a triangle's plane, on the side of the samples below the isovalue; 0 without an area. */
static __device__ __forceinline__ void flat_normal(const float points[9], float normal[3])
{
  const float *p = points, *q = points + 3, *r = points + 6;
  const float a[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] };
  const float b[3] = { r[0] - p[0], r[1] - p[1], r[2] - p[2] };
  const float n[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
  const float length2 = pmb_length2(n[0], n[1], n[2]);
  const float factor = length2 > 0 ? 1 / sqrtf(length2) : 0;
  for (int i = 0; i < 3; ++i) normal[i] = n[i] * factor;
}

/* Writes the points of a triangle of the list to out, and its normal to `normal`. */
static __device__ __forceinline__ papers_scan_source make_triangle(
  const papers_field &field, const soup_shared *shared, uint32_t entry, float *out, float *normal)
{
  const uint32_t thread = entry >> 3;
  const uint8_t *edges = pmb_triangle_edges[shared->cell_case[thread]] + 3 * (entry & 7);
  int32_t place[3], lower[3];
  float points[9];
  papers_scan_source source;
  source.voxel = shared->voxel[thread];
  source.edges = edges[0] | (uint32_t)edges[1] << 4 | (uint32_t)edges[2] << 8;
  papers_scan_place(field, source.voxel, place);
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const int edge = edges[c];
    const float t = pmb_edge_parameter(shared->samples[pmb_edge_lower(edge)][thread],
      shared->samples[pmb_edge_upper(edge)][thread], field.value, field.value_low);
    papers_lower_of(place, edge, lower);
    papers_position(lower, pmb_edge_axis(edge), t, points + 3 * c);
  }
#pragma unroll
  for (int i = 0; i < 9; ++i) out[i] = points[i];
  flat_normal(points, normal);
  return source;
}

/* A block has THREADS occupied voxels, whose triangles follow each other in the output. A warp makes 32 of them at a time,
 * and writes them from shared memory as the 288 floats in a row that they are. */
template <class T>
static __global__ void __launch_bounds__(THREADS)
  triangles_kernel(const __grid_constant__ papers_field field, const uint32_t *d_list, int64_t occupied,
    const uint32_t *d_vertices_before, float *d_positions, float *d_normals, papers_scan_source *d_sources)
{
  __shared__ soup_shared shared;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float *out = shared.out[warp], *normals = shared.normals[warp];
  list_voxel<T>(field, d_list, occupied, d_vertices_before, &shared);
  __syncthreads();
  const uint32_t triangles = shared.triangles;
  for (uint32_t t = 32 * warp; t < triangles; t += THREADS) {
    const uint64_t at = (uint64_t)shared.first + t;
    const int count = (int)min(triangles - t, 32u);
    if (lane < count) {
      const papers_scan_source source =
        make_triangle(field, &shared, shared.list[t + lane], out + 9 * lane, normals + 3 * lane);
      if (d_sources) d_sources[at + lane] = source;
    }
    __syncwarp();
    for (int i = lane; i < 9 * count; i += 32) d_positions[9 * at + i] = out[i];
    for (int i = lane; d_normals && i < 9 * count; i += 32) d_normals[9 * at + i] = normals[i / 9 * 3 + i % 3];
    __syncwarp();
  }
}

template <class T>
static cudaError_t make_soup(
  const papers_scan_state *scan, float *d_positions, float *d_normals, papers_scan_source *d_sources)
{
  return papers_launch(triangles_kernel<T>, papers_blocks(scan->occupied, THREADS), THREADS, scan->field,
    scan->d_list, scan->occupied, scan->d_vertices_before, d_positions, d_normals, d_sources);
}

papers_status papers_scan_soup(
  papers_scan_state *scan, float *d_positions, float *d_normals, papers_scan_source *d_sources)
{
  PAPERS_TRY(scan->memory, PAPERS_BY_TYPE(scan->type, make_soup, scan, d_positions, d_normals, d_sources));
  return PAPERS_OK;
}

/* ---- the system ---- */

/* The five arrays are one block, so that a failure reports the size of all. */
papers_status papers_scan_create(papers_state *state)
{
  papers_scan_state *scan = (papers_scan_state *)state;
  papers_memory *memory = scan->memory;
  scan->voxels = scan->field.slice * scan->field.dims[2];
  const size_t bytes = ((size_t)scan->voxels * sizeof(uint32_t) + 255) / 256 * 256;
  if (scan->voxels > INT64_C(1) << 32 || scan->voxels > PAPERS_SUM_MOST) { /* a voxel's number has 32 bits */
    memory->asked = 5 * bytes;
    return PAPERS_TOO_LARGE;
  }
  char *d_arrays = (char *)papers_take(memory, PAPERS_ACCELERATION, 5 * bytes);
  if (!d_arrays) return PAPERS_NO_MEMORY;
  uint32_t **const arrays[5] = { &scan->d_vertices, &scan->d_vertices_before, &scan->d_occupied,
    &scan->d_occupied_before, &scan->d_list };
  for (int i = 0; i < 5; ++i) *arrays[i] = (uint32_t *)(d_arrays + (size_t)i * bytes);
  PAPERS_TRY(
    memory, papers_prefix_sum(NULL, &scan->sums_bytes, scan->d_vertices, scan->d_vertices_before, scan->voxels));
  scan->d_totals = (papers_scan_totals *)papers_take(memory, PAPERS_ACCELERATION, sizeof(*scan->d_totals));
  scan->d_sums = scan->d_totals ? papers_take(memory, PAPERS_ACCELERATION, scan->sums_bytes) : NULL;
  return scan->d_sums ? PAPERS_OK : PAPERS_NO_MEMORY;
}

static papers_status extract(papers_state *state)
{
  papers_scan_state *scan = (papers_scan_state *)state;
  PAPERS_TRY(scan->memory, papers_scan_count(scan));
  PAPERS_TRY(scan->memory, papers_reserve_mesh(scan, 3 * scan->triangles, scan->triangles, 0));
  return papers_scan_soup(scan, (float *)scan->positions.d_data, (float *)scan->normals.d_data, NULL);
}

extern "C" const papers_system papers_scan = { "scan", PAPERS_SOUP, PAPERS_FLAT, sizeof(papers_scan_state),
  papers_scan_create, extract };
