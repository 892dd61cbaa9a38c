/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels of papers_scan.h. */
#include "papers_gpu.cuh"
#include "papers_sum.cuh"
extern "C" {
#include "papers_scan.h"
}

enum {
  THREADS = 256,
  ROWS = 8,    /* of voxels that a warp classifies at a time */
  LAYERS = 16, /* that it walks through */
  MOST_TRIANGLES = THREADS * PMB_MAX_TRIANGLES
};

/* Runs `call` with TYPE defined as the constant. */
#define BY_TYPE(type, call)        \
  switch (type) {                  \
    case PMB_UINT8: {              \
      enum { TYPE = PMB_UINT8 };   \
      call;                        \
      break;                       \
    }                              \
    case PMB_INT16: {              \
      enum { TYPE = PMB_INT16 };   \
      call;                        \
      break;                       \
    }                              \
    case PMB_UINT16: {             \
      enum { TYPE = PMB_UINT16 };  \
      call;                        \
      break;                       \
    }                              \
    default: {                     \
      enum { TYPE = PMB_FLOAT32 }; \
      call;                        \
      break;                       \
    }                              \
  }

/* ---- classify ---- */

/* What a warp knows of the voxels that it walks through; a lane's x is `x`. */
typedef struct walk {
  int lane, x, y, z;
} walk;

/* Where a warp begins; 0: nowhere. Neighbours along x are next to each other. */
static __device__ __forceinline__ int begin_walk(const papers_scan_field &field, walk *w)
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

/* The inside bits, and above them the odd bits, of a lane's samples x and x + 1 in the rows y to y + ROWS of a layer: as
 * of the lower two corners of a cell each, 2 bits and 2 bits from bit 8 on. */
template <int TYPE>
static __device__ __forceinline__ void judge_rows(
  const papers_scan_field &field, const walk &w, int z, unsigned pairs[ROWS + 1])
{
  const int64_t nx = field.dims[0];
  const int64_t first = w.x + nx * (w.y + (int64_t)field.dims[1] * z);
  const int rows = min(field.dims[1] - w.y, ROWS + 1);
  float samples[ROWS + 1];
  unsigned judged = 0; /* of the column right of the warp's: row `lane` */
  if (w.lane < rows && w.x - w.lane + 32 < nx) {
    judged = papers_scan_judge(
      &field, (pmb_type)TYPE, papers_scan_sample(field.samples, (pmb_type)TYPE, first + 32 + (nx - 1) * w.lane));
  }
  const unsigned right = __ballot_sync(UINT32_MAX, judged & 1), right_odd = __ballot_sync(UINT32_MAX, judged & 2);
#pragma unroll
  for (int r = 0; r <= ROWS; ++r) {
    samples[r] = r < rows && w.x < nx ? papers_scan_sample(field.samples, (pmb_type)TYPE, first + nx * r) : 0;
  }
#pragma unroll
  for (int r = 0; r <= ROWS; ++r) {
    const unsigned own = papers_scan_judge(&field, (pmb_type)TYPE, samples[r]);
    const unsigned row = __ballot_sync(UINT32_MAX, own & 1);
    pairs[r] = __funnelshift_r(row, right >> r & 1, w.lane) & 3;
    if (TYPE == PMB_FLOAT32) {
      const unsigned odd = __ballot_sync(UINT32_MAX, own & 2);
      pairs[r] |= (__funnelshift_r(odd, right_odd >> r & 1, w.lane) & 3) << 8;
    }
  }
}

/* A warp has 32 x ROWS voxels of LAYERS layers; a layer's bits serve the cells above it and below. */
template <int TYPE>
static __global__ void __launch_bounds__(THREADS, 4)
  classify_kernel(const __grid_constant__ papers_scan_field field, uint32_t *d_vertices, uint32_t *d_occupied)
{
  walk w;
  if (!begin_walk(field, &w)) {
    return;
  }
  const int64_t nx = field.dims[0], ny = field.dims[1];
  const int end = min(w.z + LAYERS, field.dims[2]);
  unsigned below[ROWS], pairs[ROWS + 1];
  judge_rows<TYPE>(field, w, w.z, pairs);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    below[r] = pairs[r] | pairs[r + 1] << 2;
  }
  for (int z = w.z; z < end; ++z) {
    const int has_cells = z + 1 < field.dims[2];
    int64_t voxel = w.x + nx * (w.y + ny * z);
    if (has_cells) {
      judge_rows<TYPE>(field, w, z + 1, pairs);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r, voxel += nx) {
      const unsigned above = pairs[r] | pairs[r + 1] << 2, both = below[r] | above << 4;
      const int is_cell = has_cells && w.x + 1 < nx && w.y + r + 1 < ny;
      const unsigned cell_case = papers_scan_case(both & 255, both >> 8);
      const uint32_t vertices = is_cell && cell_case != 0 && cell_case != 255 ? papers_scan_vertices(cell_case) : 0;
      if (w.x < nx && w.y + r < ny) {
        d_vertices[voxel] = vertices;
        d_occupied[voxel] = vertices > 0;
      }
      below[r] = above;
    }
  }
}

static cudaError_t classify(const papers_scan *scan)
{
  const int32_t *dims = scan->field.dims;
  const int64_t warps = papers_blocks(dims[0], 32) * papers_blocks(dims[1], ROWS) * papers_blocks(dims[2], LAYERS);
  cudaError_t error = cudaSuccess;
  BY_TYPE(scan->type,
    error = papers_launch(classify_kernel<TYPE>, papers_blocks(warps, THREADS / 32), THREADS, scan->field,
      scan->array[PAPERS_SCAN_VERTICES], scan->array[PAPERS_SCAN_OCCUPIED]));
  return error;
}

/* ---- compact ---- */

/* Lists the occupied voxels, four to a thread: those behind which the sum has grown. The last voxel is none of them, so
 * that what is before it is the total. */
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
    for (int i = 0; i < 5; ++i) {
      before[i] = first < voxels ? d_before[min(first + i, voxels - 1)] : 0;
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (before[i + 1] != before[i]) {
      d_list[before[i]] = (uint32_t)(first + i);
    }
  }
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
  for (int step = 16; step; step >>= 1) {
    vertices += __shfl_xor_sync(UINT32_MAX, vertices, step);
  }
  if ((threadIdx.x & 31) == 0) {
    atomicAdd((unsigned long long *)&d_totals->vertices, (unsigned long long)vertices);
  }
}

static cudaError_t read_back(const papers_scan *scan)
{
  const cudaError_t error =
    cudaMemcpyAsync(scan->totals, scan->d_totals, sizeof(*scan->totals), cudaMemcpyDeviceToHost, NULL);
  return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

/* Passes classify to compact, with one copy back. Only where so many voxels are occupied that their vertices may be too many
 * for 32 bits are they counted again. */
static papers_status count(papers_scan *scan)
{
  papers_memory *memory = scan->memory;
  uint32_t *const *array = scan->array;
  const int64_t voxels = scan->voxels;
  PAPERS_TRY(memory, classify(scan));
  PAPERS_TRY(memory,
    papers_sum(
      scan->d_sums, &scan->sums_bytes, array[PAPERS_SCAN_OCCUPIED], array[PAPERS_SCAN_OCCUPIED_BEFORE], voxels));
  PAPERS_TRY(memory,
    papers_sum(
      scan->d_sums, &scan->sums_bytes, array[PAPERS_SCAN_VERTICES], array[PAPERS_SCAN_VERTICES_BEFORE], voxels));
  PAPERS_TRY(memory,
    papers_launch(compact_kernel, papers_blocks(voxels, 4 * THREADS), THREADS, array[PAPERS_SCAN_OCCUPIED_BEFORE],
      array[PAPERS_SCAN_VERTICES_BEFORE], voxels, array[PAPERS_SCAN_LIST], scan->d_totals));
  PAPERS_TRY(memory, read_back(scan));
  scan->occupied = scan->totals->occupied;
  scan->triangles = scan->totals->vertices_32 / 3;
  if (scan->occupied * (3 * PMB_MAX_TRIANGLES) > PAPERS_SCAN_MOST_VERTICES) {
    PAPERS_TRY(memory, cudaMemsetAsync(scan->d_totals, 0, sizeof(*scan->d_totals), NULL));
    PAPERS_TRY(memory,
      papers_launch(check_kernel, papers_blocks(scan->occupied, 16 * THREADS), THREADS, array[PAPERS_SCAN_LIST],
        scan->occupied, array[PAPERS_SCAN_VERTICES], scan->d_totals));
    PAPERS_TRY(memory, read_back(scan));
    if (scan->totals->vertices > (uint64_t)PAPERS_SCAN_MOST_VERTICES) {
      scan->occupied = scan->triangles = 0;
      return PAPERS_TOO_LARGE;
    }
  }
  return PAPERS_OK;
}

/* ---- triangles ---- */

/* What the threads of a block hand to each other: a thread classifies a voxel, then makes triangles of any. */
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
template <int TYPE>
static __device__ __forceinline__ void list_voxel(const papers_scan_field &field, const uint32_t *d_list,
  int64_t occupied, const uint32_t *d_vertices_before, soup_shared *shared)
{
  const int64_t begin = (int64_t)blockIdx.x * THREADS, i = begin + threadIdx.x;
  const uint32_t first = d_vertices_before[d_list[begin]] / 3;
  if (i >= occupied) {
    return;
  }
  const uint32_t voxel = d_list[i];
  const uint32_t before = d_vertices_before[voxel] / 3 - first;
  unsigned inside = 0, odd = 0;
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const float sample = papers_scan_sample(field.samples, (pmb_type)TYPE, voxel + papers_scan_step(&field, c));
    const unsigned judged = papers_scan_judge(&field, (pmb_type)TYPE, sample);
    inside |= (judged & 1) << c;
    odd |= (judged >> 1) << c;
    shared->samples[c][threadIdx.x] = sample;
  }
  const unsigned cell_case = papers_scan_case(inside, odd);
  const uint32_t count = pmb_triangle_count[cell_case];
  shared->voxel[threadIdx.x] = voxel;
  shared->cell_case[threadIdx.x] = (uint16_t)cell_case;
  for (uint32_t t = 0; t < count; ++t) {
    shared->list[before + t] = (uint16_t)(threadIdx.x << 3 | t);
  }
  if (i == occupied - 1 || threadIdx.x == THREADS - 1) {
    shared->first = first;
    shared->triangles = before + count;
  }
}

/* A triangle of the list: its points go to out, its normal to `normal`. */
static __device__ __forceinline__ papers_scan_source make_triangle(
  const papers_scan_field &field, const soup_shared *shared, uint32_t entry, float *out, float *normal)
{
  const uint32_t thread = entry >> 3;
  const uint8_t *edges = pmb_triangle_edges[shared->cell_case[thread]] + 3 * (entry & 7);
  int32_t place[3];
  float points[9];
  papers_scan_source source;
  source.voxel = shared->voxel[thread];
  source.edges = papers_scan_edges(edges);
  papers_scan_place(&field, source.voxel, place);
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const int edge = edges[c];
    papers_scan_point(&field, place, edge, shared->samples[pmb_edge_lower(edge)][thread],
      shared->samples[pmb_edge_upper(edge)][thread], points + 3 * c);
  }
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    out[i] = points[i];
  }
  papers_scan_normal(points, normal);
  return source;
}

/* A block has THREADS occupied voxels, whose triangles follow each other in the output. A warp makes 32 of them at a time,
 * and writes them from shared memory as the 288 floats in a row that they are. */
template <int TYPE>
static __global__ void __launch_bounds__(THREADS)
  triangles_kernel(const __grid_constant__ papers_scan_field field, const uint32_t *d_list, int64_t occupied,
    const uint32_t *d_vertices_before, float *d_positions, float *d_normals, papers_scan_source *d_sources)
{
  __shared__ soup_shared shared;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float *out = shared.out[warp], *normals = shared.normals[warp];
  list_voxel<TYPE>(field, d_list, occupied, d_vertices_before, &shared);
  __syncthreads();
  const uint32_t triangles = shared.triangles;
  for (uint32_t t = 32 * warp; t < triangles; t += THREADS) {
    const uint64_t at = (uint64_t)shared.first + t;
    const int count = (int)min(triangles - t, 32u);
    if (lane < count) {
      const papers_scan_source source =
        make_triangle(field, &shared, shared.list[t + lane], out + 9 * lane, normals + 3 * lane);
      if (d_sources) {
        d_sources[at + lane] = source;
      }
    }
    __syncwarp();
    for (int i = lane; i < 9 * count; i += 32) {
      d_positions[9 * at + i] = out[i];
    }
    for (int i = lane; d_normals && i < 9 * count; i += 32) {
      d_normals[9 * at + i] = normals[i / 9 * 3 + i % 3];
    }
    __syncwarp();
  }
}

static papers_status soup(papers_scan *scan, float *d_positions, float *d_normals, papers_scan_source *d_sources)
{
  if (scan->occupied) {
    cudaError_t error = cudaSuccess;
    BY_TYPE(scan->type,
      error = papers_launch(triangles_kernel<TYPE>, papers_blocks(scan->occupied, THREADS), THREADS, scan->field,
        scan->array[PAPERS_SCAN_LIST], scan->occupied, scan->array[PAPERS_SCAN_VERTICES_BEFORE], d_positions,
        d_normals, d_sources));
    PAPERS_TRY(scan->memory, error);
  }
  return PAPERS_OK;
}

/* ---- the system ---- */

/* Pinned memory for what is read back, the same for every volume: to get it takes longer than many an extraction. It stays
 * until the program ends. */
static papers_status take_totals(papers_scan *scan)
{
  static papers_scan_totals *pinned;
  if (!pinned) {
    PAPERS_TRY(scan->memory, cudaMallocHost(&pinned, sizeof(*pinned)));
  }
  scan->totals = pinned;
  return PAPERS_OK;
}

static papers_status create(papers_scan *scan)
{
  papers_memory *memory = scan->memory;
  if (scan->voxels > PAPERS_SUM_MOST) {
    return PAPERS_TOO_LARGE;
  }
  const papers_status status = take_totals(scan);
  if (status != PAPERS_OK) {
    return status;
  }
  PAPERS_TRY(memory,
    papers_sum(NULL, &scan->sums_bytes, scan->array[PAPERS_SCAN_VERTICES], scan->array[PAPERS_SCAN_VERTICES_BEFORE],
      scan->voxels));
  scan->d_totals = (papers_scan_totals *)papers_take(memory, PAPERS_ACCELERATION, sizeof(*scan->d_totals));
  scan->d_sums = scan->d_totals ? papers_take(memory, PAPERS_ACCELERATION, scan->sums_bytes) : NULL;
  return scan->d_sums ? PAPERS_OK : PAPERS_NO_MEMORY;
}

static papers_status finish(papers_scan *scan)
{
  PAPERS_TRY(scan->memory, cudaStreamSynchronize(NULL));
  return PAPERS_OK;
}

static void destroy(papers_scan *scan)
{
  papers_give(scan->memory, scan->d_totals);
  papers_give(scan->memory, scan->d_sums);
}

extern "C" const papers_scan_passes papers_scan_passes_gpu = { create, count, soup, finish, destroy };

static papers_status create_on_gpu(papers_memory *memory, const papers_volume *volume, void **state)
{
  return papers_scan_create(&papers_scan_passes_gpu, memory, volume, state);
}

extern "C" const papers_system papers_scan_gpu = { "scan", PAPERS_SCAN_SOURCE, create_on_gpu, papers_scan_extract,
  papers_scan_destroy };
