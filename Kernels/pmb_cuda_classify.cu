/* SPDX-License-Identifier: BSD-3-Clause
 * Passes classify and scan: the row words of every active brick, its points and triangles, and those before it. A warp
 * has a brick. */
#include "pmb_cuda_words.cuh"

enum { WARPS = 32 }; /* of a block of classify; there is one on each multiprocessor */

/* Room of a warp for the full rules. */
typedef struct exact_scratch {
  pmb_rows rows;
  pmb_content content;
  uint64_t cells[5][5];
} exact_scratch;

/* Triangles of a row of cells, from words of 32 columns: crossed edges - 2 x loops, summed over the cells, since every
 * crossed edge of a cell is a corner of exactly one loop and a loop of n edges gives n - 2 triangles. x1: the word
 * one column further. Two lanes share a row; the second has the rows in the opposite order, so that its six edges are
 * the other six, and leaves cells of several loops to the first. */
static __device__ __forceinline__ int row_triangles(uint32_t a, uint32_t a1, uint32_t b, uint32_t b1, uint32_t c,
  uint32_t c1, uint32_t d, uint32_t d1, uint32_t cells, int second)
{
  const uint32_t any = a | b | c | d | a1 | b1 | c1 | d1, all = a & b & c & d & a1 & b1 & c1 & d1;
  cells &= any & ~all;
  if (cells == 0) {
    return 0;
  }
  int n = __popc((a ^ a1) & cells) + __popc((b ^ b1) & cells) + __popc((a ^ b) & cells) + __popc((a1 ^ b1) & cells);
  n += __popc((a ^ c) & cells) + __popc((a1 ^ c1) & cells) - __popc(cells);
  if (second) {
    return n;
  }
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

/* Whether the brick and its halo are in the volume. */
static __device__ __forceinline__ int is_inner(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  return box.origin[0] + PMB_BRICK_X < job.dims[0] && box.origin[1] + PMB_BRICK_Y < job.dims[1] &&
    box.origin[2] + PMB_BRICK_Z < job.dims[2];
}

/* Counts a plain brick, given its words: points, triangles << 16. Two lanes have a row. */
static __device__ __forceinline__ uint32_t plain_brick(
  const pmb_cuda_job &job, const pmb_cuda_box &box, uint32_t word, uint32_t column, pmb_cuda_record *record)
{
  const int lane = threadIdx.x & 31, row = lane & 15, y = row & 3, z = row >> 2, second = lane >> 4;
  const int r = z * 5 + y + (second ? 6 : 0), to_b = second ? -1 : 1, to_c = second ? -5 : 5;
  const uint32_t next = pmb_cuda_next(word, column >> lane & 1);
  const uint32_t a = __shfl_sync(UINT32_MAX, word, r), a1 = __shfl_sync(UINT32_MAX, next, r);
  const uint32_t b = __shfl_sync(UINT32_MAX, word, r + to_b), b1 = __shfl_sync(UINT32_MAX, next, r + to_b);
  const uint32_t c = __shfl_sync(UINT32_MAX, word, r + to_c), c1 = __shfl_sync(UINT32_MAX, next, r + to_c);
  const uint32_t d = __shfl_sync(UINT32_MAX, word, r + to_b + to_c);
  const uint32_t d1 = __shfl_sync(UINT32_MAX, next, r + to_b + to_c);
  uint32_t columns = UINT32_MAX, cells = UINT32_MAX;
  if (!is_inner(job, box)) {
    columns = pmb_cuda_row_columns(job, box, y, z);
    cells = pmb_cuda_row_cells(job, box, y, z);
  }
  columns = second ? 0 : columns;
  const uint32_t in_x = __popc((a ^ a1) & columns), in_y = __popc((a ^ b) & columns);
  const uint32_t in_z = __popc((a ^ c) & columns), points = in_x + in_y + in_z;
  const uint32_t triangles = (uint32_t)row_triangles(a, a1, b, b1, c, c1, d, d1, cells, second);
  const uint32_t sum = pmb_cuda_inclusive_sum(points | triangles << 16);
  if (lane < 16) {
    record->first[row] = pmb_cuda_pack_first((sum & 0xffff) - points, in_x, in_y, in_z);
  }
  return __shfl_sync(UINT32_MAX, sum, 31);
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

/* What becomes of a brick by the full rules; handed over by value, as all that is not in memory anyway: what has an
 * address lies in local memory, and writing that for each brick costs more than the brick's record. */
typedef struct exact_result {
  uint32_t counts, word, index;
} exact_result;

/* Any brick, by the full rules of pmb_brick.h, its rows spread over the lanes. */
template <class T>
static __device__ __noinline__ exact_result exact_brick(
  const pmb_cuda_job &job, const pmb_cuda_box box, exact_scratch *scratch, pmb_cuda_record *record)
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
  exact_result result;
  const int row = min(lane, PMB_CUDA_ROWS - 1);
  result.index = store_exact(job, scratch);
  result.word = pmb_own_columns(scratch->rows.inside[row / 5 + 1][row % 5 + 1]);
  result.counts = __shfl_sync(UINT32_MAX, sum, 31);
  return result;
}

/* Where a brick's counts are until scan puts what is before the brick in their place. */
static __device__ __forceinline__ uint32_t *counts_of(const pmb_cuda_job &job, uint32_t index)
{
  return (uint32_t *)(job.d_before + index);
}

/* One brick; the rest of its record. */
template <class T>
static __device__ __forceinline__ void classify_brick(
  const pmb_cuda_job &job, exact_scratch *scratch, int row_lane, uint32_t index, const pmb_cuda_box &box)
{
  pmb_cuda_record *record = job.d_records + index;
  const int lane = threadIdx.x & 31;
  uint32_t word, column, counts, exact = PMB_CUDA_PLAIN;
  const int equal = read_words<T>(job, box, row_lane, &word, &column);
  if (equal || (job.any_nonfinite && !is_clean(job, box))) {
    const exact_result result = exact_brick<T>(job, box, scratch, record);
    counts = result.counts;
    word = result.word;
    exact = result.index;
  } else {
    counts = plain_brick(job, box, word, column, record);
  }
  column |= pmb_cuda_borders(job, box) << PMB_CUDA_ROWS;
  if (lane < PMB_CUDA_ROWS + 2) { /* column and exact follow the words */
    ((uint32_t *)record)[lane] = lane < PMB_CUDA_ROWS ? word : lane == PMB_CUDA_ROWS ? column : exact;
  }
  if (lane == 0) {
    *counts_of(job, index) = counts;
  }
}

/* ---- scan ---- */

/* A block's part of the active bricks, a run; a warp has a part of it. */
typedef struct block_run {
  uint32_t begin, end, warp_begin, warp_end;
} block_run;

static __device__ __forceinline__ block_run run_of(uint32_t active)
{
  block_run run;
  const uint32_t length = (active + gridDim.x - 1) / gridDim.x, part = (length + WARPS - 1) / WARPS;
  run.begin = (uint32_t)min((uint64_t)active, (uint64_t)blockIdx.x * length);
  run.end = min(active, run.begin + length);
  run.warp_begin = min(run.end, run.begin + (threadIdx.x >> 5) * part);
  run.warp_end = min(run.end, run.warp_begin + part);
  return run;
}

/* Room of a block. */
typedef struct scan_scratch {
  uint64_t sums[2][WARPS]; /* of the warps' parts: points, triangles; then those of the parts before */
  uint64_t before[2];      /* of the blocks before */
} scan_scratch;

/* From the sums of the warps to those before them, and of the blocks before: warp 0 does the points, 1 the triangles. */
static __device__ __forceinline__ void scan_blocks(const pmb_cuda_job &job, uint32_t active, scan_scratch *scratch)
{
  const int which = threadIdx.x >> 5, lane = threadIdx.x & 31;
  volatile uint64_t *d_status = job.d_scan_status + which;
  const uint64_t own = lane < WARPS ? scratch->sums[which][lane] : 0;
  uint64_t sum = own, before = 0;
  for (int step = 1; step < 32; step <<= 1) {
    const uint64_t below = __shfl_up_sync(UINT32_MAX, sum, step);
    sum += lane >= step ? below : 0;
  }
  const uint64_t total = __shfl_sync(UINT32_MAX, sum, 31);
  if (lane == 0) {
    d_status[2 * blockIdx.x] = pmb_cuda_status(total, PMB_CUDA_PARTIAL, job.epoch);
  }
  if (lane < WARPS) {
    scratch->sums[which][lane] = sum - own;
  }
  for (uint32_t block = lane; block < blockIdx.x; block += 32) {
    uint64_t word;
    do {
      word = d_status[2 * block];
    } while (word >> 50 != job.epoch);
    before += word & ((1ull << 48) - 1);
  }
  before = pmb_cuda_sum_of_warp(before);
  if (lane == 0) {
    scratch->before[which] = before;
    if (blockIdx.x + 1 == gridDim.x) {
      *(which ? &job.totals->triangles : &job.totals->points) = (int64_t)(before + total);
      *(which ? &job.d_before[active].triangles : &job.d_before[active].points) = (int64_t)(before + total);
    }
  }
}

/* Tells the host what is before an isovalue that begins with this brick. */
static __device__ __forceinline__ void tell_isovalues(
  const pmb_cuda_job &job, uint32_t index, const pmb_cuda_before &before)
{
#pragma unroll 1
  for (int n = 1; n < job.isovalue_count; ++n) {
    if (index == job.d_counters->first[n]) {
      job.totals->before[n] = before;
    }
  }
}

/* Points and triangles before each brick of the block's run. */
static __device__ __forceinline__ void scan_run(
  const pmb_cuda_job &job, uint32_t active, const block_run &run, scan_scratch *scratch)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint64_t points = 0, triangles = 0;
#pragma unroll 1
  for (uint32_t i = run.warp_begin + lane; i < run.warp_end; i += 32) {
    const uint32_t counts = __ldcg(counts_of(job, i));
    points += counts & 0xffff;
    triangles += counts >> 16;
  }
  points = pmb_cuda_sum_of_warp(points);
  triangles = pmb_cuda_sum_of_warp(triangles);
  if (lane == 0) {
    scratch->sums[0][warp] = points;
    scratch->sums[1][warp] = triangles;
  }
  __syncthreads();
  if (warp < 2) {
    scan_blocks(job, active, scratch);
  }
  __syncthreads();
  pmb_cuda_before before = { (int64_t)(scratch->before[0] + scratch->sums[0][warp]),
    (int64_t)(scratch->before[1] + scratch->sums[1][warp]) };
#pragma unroll 1
  for (uint32_t i = run.warp_begin + lane; i - lane < run.warp_end; i += 32) {
    const uint32_t counts = i < run.warp_end ? __ldcg(counts_of(job, i)) : 0;
    const uint32_t p = pmb_cuda_inclusive_sum(counts & 0xffff), t = pmb_cuda_inclusive_sum(counts >> 16);
    if (i < run.warp_end) {
      const pmb_cuda_before own = { before.points + p - (counts & 0xffff), before.triangles + t - (counts >> 16) };
      job.d_before[i] = own;
      tell_isovalues(job, i, own);
    }
    before.points += __shfl_sync(UINT32_MAX, p, 31);
    before.triangles += __shfl_sync(UINT32_MAX, t, 31);
  }
}

/* ---- the kernel ---- */

/* The blocks go through the list side by side, 32 bricks each: neighbours find each other's halos in the block's cache,
 * and layers of bricks those of the next in the device's. The next brick's number is on its way while a brick is worked
 * on. */
template <class T>
static __device__ __forceinline__ void classify_bricks(
  const pmb_cuda_job &job, uint32_t active, exact_scratch *scratch)
{
  const int row_lane = lane_of_row<T>(min((int)(threadIdx.x & 31), PMB_CUDA_ROWS - 1));
  const uint32_t step = gridDim.x * WARPS;
  uint32_t index = blockIdx.x * WARPS + (threadIdx.x >> 5);
  uint32_t next = index < active ? job.d_brick[index] : 0;
  for (; index < active; index += step) {
    const uint32_t brick = next;
    next = index + step < active ? job.d_brick[index + step] : 0;
    classify_brick<T>(job, scratch, row_lane, index, pmb_cuda_box_of(job, brick));
  }
}

/* Waits until all blocks are here; they are on the device together, since the launch is a cooperative one. */
static __device__ __forceinline__ void wait_for_blocks(const pmb_cuda_job &job)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile uint32_t *d_arrived = &job.d_counters->arrived;
    __threadfence();
    atomicAdd(&job.d_counters->arrived, 1);
    while (*d_arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}

template <class T>
static __global__ void __launch_bounds__(32 * WARPS, 1) classify_kernel(const __grid_constant__ pmb_cuda_job job)
{
  __shared__ union {
    exact_scratch exact[WARPS];
    scan_scratch scan;
  } scratch;
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  classify_bricks<T>(job, active, &scratch.exact[threadIdx.x >> 5]);
  wait_for_blocks(job);
  scan_run(job, active, run_of(active), &scratch.scan);
}

template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  cudaLaunchAttribute together = {};
  cudaLaunchConfig_t config = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  config.gridDim = dim3((unsigned)cuda->processors);
  config.blockDim = dim3(32 * WARPS);
  config.stream = cuda->compute;
  config.attrs = &together;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, classify_kernel<T>, cuda->job);
}

pmb_status pmb_cuda_classify(pmb_cuda *cuda)
{
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, error = launch<T>(cuda));
  return pmb_cuda_check(cuda->context, error, "launch of classify");
}
