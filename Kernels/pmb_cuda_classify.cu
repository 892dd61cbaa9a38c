/* SPDX-License-Identifier: BSD-3-Clause
 * Passes classify and scan: the row words of every active brick, its points and triangles, and those before it. A warp
 * has a brick. */
#include "pmb_cuda.cuh"

enum { WARPS = 32 }; /* of a block of classify */

/* What a warp finds out about its brick. */
typedef struct brick_result {
  uint32_t points, triangles;
} brick_result;

/* Room of a warp for the full rules. */
typedef struct exact_scratch {
  pmb_rows rows;
  pmb_content content;
  uint64_t cells[5][5];
} exact_scratch;

/* Triangles of a row of cells, from words of 32 columns: crossed edges - 2 x loops, summed over the cells, since every
 * crossed edge of a cell is a corner of exactly one loop and a loop of n edges gives n - 2 triangles. x1: the word
 * one column further. */
static __device__ __forceinline__ int row_triangles(
  uint32_t a, uint32_t a1, uint32_t b, uint32_t b1, uint32_t c, uint32_t c1, uint32_t d, uint32_t d1, uint32_t cells)
{
  const uint32_t any = a | b | c | d | a1 | b1 | c1 | d1, all = a & b & c & d & a1 & b1 & c1 & d1;
  cells &= any & ~all;
  if (cells == 0) {
    return 0;
  }
  int n = __popc((a ^ a1) & cells) + __popc((b ^ b1) & cells) + __popc((c ^ c1) & cells) + __popc((d ^ d1) & cells);
  n += __popc((a ^ b) & cells) + __popc((a1 ^ b1) & cells) + __popc((c ^ d) & cells) + __popc((c1 ^ d1) & cells);
  n += __popc((a ^ c) & cells) + __popc((a1 ^ c1) & cells) + __popc((b ^ d) & cells) + __popc((b1 ^ d1) & cells);
  n -= 2 * __popc(cells);
  /* More than one loop takes a face with equal diagonals, or opposite corners that are alike all four. */
#define PMB_FACE(p, q, r, s) (((p) ^ (q)) & ((p) ^ (r)) & ~((p) ^ (s)))
  uint32_t several = PMB_FACE(a, a1, b, b1) | PMB_FACE(c, c1, d, d1) | PMB_FACE(a, a1, c, c1) |
    PMB_FACE(b, b1, d, d1) | PMB_FACE(a, b, c, d) | PMB_FACE(a1, b1, c1, d1) |
    ~((a ^ d1) | (a1 ^ d) | (b ^ c1) | (b1 ^ c));
#undef PMB_FACE
  for (several &= cells; several; several &= several - 1) {
    const int x = __ffs((int)several) - 1;
    const unsigned k = (a >> x & 1) | (a1 >> x & 1) << 1 | (b >> x & 1) << 2 | (b1 >> x & 1) << 3 |
      (c >> x & 1) << 4 | (c1 >> x & 1) << 5 | (d >> x & 1) << 6 | (d1 >> x & 1) << 7;
    const int edges = __popc((k ^ k >> 1) & 0x55) + __popc((k ^ k >> 2) & 0x33) + __popc((k ^ k >> 4) & 0x0f);
    n += pmb_triangle_count[k] - (edges - 2);
  }
  return n;
}

/* Whether a brick needs the full rules because of non-finite samples: the flags of the brick and of those below cover
 * samples -1 to 32. */
static __device__ __forceinline__ int is_clean(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  int found = 0;
  const int d = threadIdx.x & 31;
  const int x = box.origin[0] / PMB_BRICK_X - (d & 1);
  const int y = box.origin[1] / PMB_BRICK_Y - (d >> 1 & 1);
  const int z = box.origin[2] / PMB_BRICK_Z - (d >> 2);
  if (d < 8 && x >= 0 && y >= 0 && z >= 0) {
    found = job.d_nonfinite[x + (int64_t)job.bricks[0] * (y + (int64_t)job.bricks[1] * z)];
  }
  return !__any_sync(UINT32_MAX, found);
}

/* Reads the 33 x 5 x 5 samples. *word: lane r has row r's bits; *column: those of column 32. Returns whether one of the
 * samples equals the isovalue and is to be joined. */
template <class T>
static __device__ __forceinline__ int read_words(
  const pmb_cuda_job &job, const pmb_cuda_box &box, uint32_t *word, uint32_t *column)
{
  const T *d_samples = (const T *)job.d_samples;
  const int lane = threadIdx.x & 31;
  const int i = min(box.origin[0] + lane, job.dims[0] - 1);
  const int row = min(lane, PMB_CUDA_ROWS - 1);
  const T edge = d_samples[pmb_cuda_index(
    job, min(box.origin[0] + PMB_BRICK_X, job.dims[0] - 1), box.origin[1] + row % 5, box.origin[2] + row / 5)];
  T s[PMB_CUDA_ROWS];
  int64_t y_offset[5];
#pragma unroll
  for (int y = 0; y < 5; ++y) {
    y_offset[y] = i + job.pitch * min(box.origin[1] + y, job.dims[1] - 1);
  }
#pragma unroll
  for (int z = 0; z < 5; ++z) {
    const T *d_slice = d_samples + job.slice * min(box.origin[2] + z, job.dims[2] - 1);
#pragma unroll
    for (int y = 0; y < 5; ++y) {
      s[z * 5 + y] = d_slice[y_offset[y]];
    }
  }
  const pmb_isovalue &isovalue = job.isovalues[box.isovalue];
  int equal = pmb_cuda_equal(isovalue, edge);
#pragma unroll
  for (int r = 0; r < PMB_CUDA_ROWS; ++r) {
    const uint32_t ballot = __ballot_sync(UINT32_MAX, pmb_cuda_inside(isovalue, s[r]));
    *word = lane == r ? ballot : *word;
    equal |= pmb_cuda_equal(isovalue, s[r]);
  }
  *column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && pmb_cuda_inside(isovalue, edge));
  return isovalue.join && __any_sync(UINT32_MAX, equal);
}

/* Writes a plain brick's record, given its words. */
static __device__ __forceinline__ brick_result plain_brick(
  const pmb_cuda_job &job, const pmb_cuda_box &box, uint32_t word, uint32_t column, pmb_cuda_record *record)
{
  const int lane = threadIdx.x & 31, row = lane & 15, y = row & 3, z = row >> 2, r = z * 5 + y;
  const uint32_t next = pmb_cuda_next(word, column >> lane & 1);
  const uint32_t a = __shfl_sync(UINT32_MAX, word, r), a1 = __shfl_sync(UINT32_MAX, next, r);
  const uint32_t b = __shfl_sync(UINT32_MAX, word, r + 1), b1 = __shfl_sync(UINT32_MAX, next, r + 1);
  const uint32_t c = __shfl_sync(UINT32_MAX, word, r + 5), c1 = __shfl_sync(UINT32_MAX, next, r + 5);
  const uint32_t d = __shfl_sync(UINT32_MAX, word, r + 6), d1 = __shfl_sync(UINT32_MAX, next, r + 6);
  const uint32_t columns = lane < 16 ? pmb_cuda_row_columns(job, box, y, z) : 0;
  const uint32_t cells = lane < 16 ? pmb_cuda_row_cells(job, box, y, z) : 0;
  const uint32_t in_x = __popc((a ^ a1) & columns), in_y = __popc((a ^ b) & columns);
  const uint32_t in_z = __popc((a ^ c) & columns), points = in_x + in_y + in_z;
  const uint32_t triangles = row_triangles(a, a1, b, b1, c, c1, d, d1, cells);
  const uint32_t sum = pmb_cuda_inclusive_sum(points | triangles << 16);
  if (lane < 16) {
    record->first[row] = pmb_cuda_pack_first((sum & 0xffff) - points, in_x, in_y, in_z);
  }
  if (lane < PMB_CUDA_ROWS) {
    record->word[lane] = word;
  }
  const uint32_t total = __shfl_sync(UINT32_MAX, sum, 31);
  const brick_result result = { total & 0xffff, total >> 16 };
  return result;
}

/* Fills the row words of a brick and its surroundings. */
template <class T> static __device__ void read_rows(const pmb_cuda_job &job, const pmb_cuda_box &box, pmb_rows *rows)
{
  const T *d_samples = (const T *)job.d_samples;
  const pmb_isovalue &isovalue = job.isovalues[box.isovalue];
  const int lane = threadIdx.x & 31;
  for (int r = 0; r < 36; ++r) {
    const int j = box.origin[1] + r % 6 - 1, k = box.origin[2] + r / 6 - 1;
    const int row_exists = j >= 0 && j < job.dims[1] && k >= 0 && k < job.dims[2];
    uint64_t inside = 0, equal = 0, valid = 0;
    for (int part = 0; part < 2; ++part) {
      const int i = box.origin[0] - 1 + part * 32 + lane;
      const T s = d_samples[pmb_cuda_index(job, pmb_cuda_clamp(i, job.dims[0]), j, k)];
      const int exists = row_exists && i >= 0 && i < job.dims[0] && (part == 0 || lane < 3) && pmb_cuda_finite<T>(s);
      inside |= (uint64_t)__ballot_sync(UINT32_MAX, pmb_cuda_inside(isovalue, s) && (part == 0 || lane < 3))
        << part * 32;
      equal |= (uint64_t)__ballot_sync(UINT32_MAX, exists && pmb_cuda_equal(isovalue, s)) << part * 32;
      valid |= (uint64_t)__ballot_sync(UINT32_MAX, exists) << part * 32;
    }
    if (lane == 0) {
      rows->inside[r / 6][r % 6] = inside;
      rows->equal[r / 6][r % 6] = isovalue.join ? equal : 0;
      rows->valid[r / 6][r % 6] = valid;
    }
  }
  __syncwarp();
}

/* Takes an exact record and fills it; the lane's row is lane. Returns its index, PMB_CUDA_PLAIN - 1 if there is no room. */
static __device__ uint32_t store_exact(const pmb_cuda_job &job, const exact_scratch *scratch)
{
  const int lane = threadIdx.x & 31;
  uint32_t index = 0;
  if (lane == 0) {
    index = atomicAdd(&job.d_counters->exact, 1);
  }
  index = __shfl_sync(UINT32_MAX, index, 0);
  const int r = min(lane, PMB_CUDA_ROWS - 1);
  const uint64_t equal = scratch->rows.equal[r / 5 + 1][r % 5 + 1], valid = scratch->rows.valid[r / 5 + 1][r % 5 + 1];
  const uint32_t equal_column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && (equal >> 33 & 1));
  const uint32_t valid_column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && (valid >> 33 & 1));
  if (index >= job.exact_capacity) {
    job.totals->exact = 1;
    return PMB_CUDA_PLAIN - 1;
  }
  pmb_cuda_exact *exact = job.d_exact + index;
  for (int i = lane; i < PMB_KINDS * PMB_BRICK_ROWS; i += 32) {
    exact->mask[i / PMB_BRICK_ROWS][i % PMB_BRICK_ROWS] =
      scratch->content.mask[i / PMB_BRICK_ROWS][i % PMB_BRICK_ROWS];
  }
  if (lane < PMB_CUDA_ROWS) {
    exact->equal[lane] = pmb_own_columns(equal);
    exact->valid[lane] = pmb_own_columns(valid);
  }
  if (lane == 0) {
    exact->equal_column = equal_column;
    exact->valid_column = valid_column;
  }
  return index;
}

/* Any brick, by the full rules of pmb_brick.h, its rows spread over the lanes. */
template <class T>
static __device__ __noinline__ brick_result exact_brick(
  const pmb_cuda_job &job, const pmb_cuda_box &box, exact_scratch *scratch, pmb_cuda_record *record, uint32_t *index)
{
  const int lane = threadIdx.x & 31;
  read_rows<T>(job, box, &scratch->rows);
  if (lane < 25) {
    scratch->cells[lane / 5][lane % 5] = pmb_valid_cells(&scratch->rows, lane % 5, lane / 5);
  }
  __syncwarp();
  if (lane < PMB_BRICK_ROWS) {
    pmb_exact_edges(&scratch->rows, scratch->cells, lane, &scratch->content);
  }
  __syncwarp();
  uint32_t triangles = 0, points = 0, in[PMB_KINDS] = {};
  if (lane < 25) {
    triangles =
      pmb_exact_cells(&scratch->rows, scratch->cells[lane / 5][lane % 5], lane % 5, lane / 5, &scratch->content);
  }
  __syncwarp();
  if (lane < PMB_BRICK_ROWS) {
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      in[kind] = __popc(scratch->content.mask[kind][lane]);
      points += in[kind];
    }
  }
  const uint32_t sum = pmb_cuda_inclusive_sum(points | triangles << 16);
  if (lane < PMB_BRICK_ROWS) {
    record->first[lane] = pmb_cuda_pack_first((sum & 0xffff) - points, in[0], in[1], in[2]);
  }
  *index = store_exact(job, scratch);
  if (lane < PMB_CUDA_ROWS) {
    record->word[lane] = pmb_own_columns(scratch->rows.inside[lane / 5 + 1][lane % 5 + 1]);
  }
  const uint32_t total = __shfl_sync(UINT32_MAX, sum, 31);
  const brick_result result = { total & 0xffff, total >> 16 };
  return result;
}

/* One brick; the rest of its record. */
template <class T>
static __device__ __forceinline__ void classify_brick(
  const pmb_cuda_job &job, exact_scratch *scratch, uint32_t index, uint32_t brick)
{
  pmb_cuda_record *record = job.d_records + index;
  const pmb_cuda_box box = pmb_cuda_box_of(job, brick);
  uint32_t word = 0, column, exact = PMB_CUDA_PLAIN;
  brick_result result;
  const int equal = read_words<T>(job, box, &word, &column);
  if (equal || (job.any_nonfinite && !is_clean(job, box))) {
    result = exact_brick<T>(job, box, scratch, record, &exact);
  } else {
    result = plain_brick(job, box, word, column, record);
  }
  if ((threadIdx.x & 31) == 0) {
    record->column = column;
    record->exact = exact;
    record->cells = pmb_cuda_pack_cells(job, box);
    job.d_counts[index] = result.points | result.triangles << 16;
  }
}

/* A block takes a run of bricks that lie next to each other, so that they find each other's halos in its cache. */
template <class T>
static __global__ void __launch_bounds__(32 * WARPS, 1) classify_kernel(const __grid_constant__ pmb_cuda_job job)
{
  __shared__ exact_scratch scratch[WARPS];
  const int warp = threadIdx.x >> 5;
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  const uint32_t run = (active + gridDim.x - 1) / gridDim.x;
  const uint32_t end = (uint32_t)min((uint64_t)active, ((uint64_t)blockIdx.x + 1) * run);
  uint32_t index = blockIdx.x * run + warp;
  uint32_t next = index < end ? job.d_brick[index] : 0;
  while (index < end) {
    const uint32_t brick = next;
    next = index + WARPS < end ? job.d_brick[index + WARPS] : 0; /* on its way while this brick is worked on */
    classify_brick<T>(job, &scratch[warp], index, brick);
    index += WARPS;
  }
}

template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, classify_kernel<T>, 32 * WARPS, 0);
  return pmb_cuda_launch(
    cuda, classify_kernel<T>, cuda->processors * (blocks > 0 ? blocks : 1), 32 * WARPS, 0, cuda->job);
}

pmb_status pmb_cuda_classify(pmb_cuda *cuda)
{
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, error = launch<T>(cuda));
  return pmb_cuda_check(cuda->context, error, "launch of classify");
}

/* ---- scan ---- */

/* A tile's sums of points and triangles to those of all tiles before: warp 0 does the points, warp 1 the triangles. */
static __device__ __forceinline__ void scan_tiles(
  const pmb_cuda_job &job, uint32_t tile, uint64_t total, uint64_t *before)
{
  const int which = threadIdx.x >> 5;
  volatile uint64_t *d_status = job.d_scan_status + which;
  if ((threadIdx.x & 31) == 0) {
    d_status[2 * tile] = pmb_cuda_status(total, tile == 0 ? PMB_CUDA_INCLUSIVE : PMB_CUDA_PARTIAL, job.epoch);
  }
  const uint64_t sum = pmb_cuda_look_back(d_status, 2, tile, job.epoch);
  if ((threadIdx.x & 31) == 0) {
    if (tile > 0) {
      d_status[2 * tile] = pmb_cuda_status(sum + total, PMB_CUDA_INCLUSIVE, job.epoch);
    }
    before[which] = sum;
    if ((uint64_t)(tile + 1) * PMB_CUDA_SCAN_TILE >= min(job.d_counters->active, job.record_capacity)) {
      int64_t *last = which ? &job.totals->triangles : &job.totals->points;
      *last = (int64_t)(sum + total);
    }
  }
}

/* Tells the host what is before the isovalues that begin among 4 bricks. */
static __device__ __forceinline__ void tell_isovalues(const pmb_cuda_job &job, uint32_t first, uint32_t active)
{
  for (int n = 1; n < job.isovalue_count; ++n) {
    const uint32_t index = job.d_counters->first[n];
    if (index - first < 4 && index < active) {
      job.totals->before[n] = job.d_before[index];
    }
  }
}

/* A tile: 4 bricks a thread. */
static __device__ __forceinline__ void scan_one_tile(
  const pmb_cuda_job &job, uint32_t tile, uint32_t active, uint32_t (*warp_sums)[2], uint64_t *before)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint32_t first = tile * PMB_CUDA_SCAN_TILE + 4 * threadIdx.x;
  uint32_t counts[4], points = 0, triangles = 0;
  for (int i = 0; i < 4; ++i) {
    counts[i] = first + i < active ? job.d_counts[first + i] : 0;
    points += counts[i] & 0xffff;
    triangles += counts[i] >> 16;
  }
  const uint32_t p = pmb_cuda_inclusive_sum(points), t = pmb_cuda_inclusive_sum(triangles);
  if (lane == 31) {
    warp_sums[warp][0] = p;
    warp_sums[warp][1] = t;
  }
  __syncthreads();
  uint64_t p_before = p - points, t_before = t - triangles, total = 0;
  for (int w = 0; w < PMB_CUDA_WARPS; ++w) {
    p_before += w < warp ? warp_sums[w][0] : 0;
    t_before += w < warp ? warp_sums[w][1] : 0;
    total += warp_sums[w][warp & 1];
  }
  if (warp < 2) {
    scan_tiles(job, tile, total, before);
  }
  __syncthreads();
  p_before += before[0];
  t_before += before[1];
  for (int i = 0; i < 4 && first + i < active; ++i) {
    const pmb_cuda_before value = { (int64_t)p_before, (int64_t)t_before };
    job.d_before[first + i] = value;
    p_before += counts[i] & 0xffff;
    t_before += counts[i] >> 16;
  }
  if (job.isovalue_count > 1) {
    tell_isovalues(job, first, active);
  }
}

/* Tiles go to the blocks in order, so that a tile that is waited for is always being worked on. */
static __global__ void __launch_bounds__(PMB_CUDA_THREADS) scan_kernel(const __grid_constant__ pmb_cuda_job job)
{
  __shared__ uint32_t warp_sums[PMB_CUDA_WARPS][2], tile;
  __shared__ uint64_t before[2];
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      tile = atomicAdd(&job.d_counters->scan_tile, 1);
    }
    __syncthreads();
    if ((uint64_t)tile * PMB_CUDA_SCAN_TILE >= active) {
      return;
    }
    scan_one_tile(job, tile, active, warp_sums, before);
  }
}

pmb_status pmb_cuda_scan(pmb_cuda *cuda)
{
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, scan_kernel, 2 * cuda->processors, PMB_CUDA_THREADS, 0, cuda->job), "launch of scan");
}
