/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify, with select before it and scan after it in one launch: makes the row words of each active brick and counts its
 * points and triangles, and those before it. A warp takes a brick. All blocks are on the device at the same time. */
#include "cuda/pmb_cuda_classify_plain.cuh"
#include "cuda/pmb_cuda_classify_words.cuh"
#include "cuda/pmb_cuda_scan.cuh"
#include "cuda/pmb_cuda_select.cuh"

/* ---- bricks by the full rules of pmb_brick.h, a row per lane ---- */

/* Shared memory of a warp for the full rules. */
typedef struct special_scratch {
  pmb_rows rows;
  pmb_content content;
} special_scratch;

/* Valid cells overwrite hidden cells, since a block has at most 48 KB. */
static __device__ __forceinline__ uint64_t (*cells_of(special_scratch *scratch))[5]
{
  return scratch->rows.hidden;
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
      const T s = d_samples[pmb_cuda_place(job, pmb_cuda_clamp(i, job.dims[0]), j, k)];
      const int exists = row_exists && i >= 0 && i < job.dims[0] && (part == 0 || lane < 3) && PMB_IS_FINITE(s) &&
        !pmb_cuda_hides_sample(job, i, j, k);
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
  for (int r = 0; r < 25; ++r) {
    const int i = box.origin[0] - 1 + lane, j = box.origin[1] + r % 5 - 1, k = box.origin[2] + r / 5 - 1;
    const uint32_t lower = __ballot_sync(UINT32_MAX, pmb_cuda_hides_cell(job, i, j, k));
    if (lane == 0) {
      rows->hidden[r / 5][r % 5] = lower | (uint64_t)pmb_cuda_hides_cell(job, i + 32, j, k) << 32;
    }
  }
  __syncwarp();
}

/* Fills a new special record, a row per lane. Returns its index, or PMB_CUDA_PLAIN - 1 if there is no room. */
static __device__ uint32_t store_special(const pmb_cuda_job &job, special_scratch *scratch)
{
  const int lane = threadIdx.x & 31;
  uint32_t index = 0;
  if (lane == 0) {
    index = atomicAdd(&job.d_counters->special, 1);
  }
  index = __shfl_sync(UINT32_MAX, index, 0);
  const int r = min(lane, PMB_CUDA_ROWS - 1);
  const uint64_t equal = scratch->rows.equal[r / 5 + 1][r % 5 + 1];
  const uint32_t equal_column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && (equal >> 33 & 1));
  if (index >= job.special_capacity) {
    return PMB_CUDA_PLAIN - 1;
  }
  pmb_cuda_special *special = job.d_special + index;
  for (int i = lane; i < PMB_KINDS * PMB_BRICK_ROWS; i += 32) {
    special->mask[i / PMB_BRICK_ROWS][i % PMB_BRICK_ROWS] =
      scratch->content.mask[i / PMB_BRICK_ROWS][i % PMB_BRICK_ROWS];
  }
  if (lane < PMB_CUDA_ROWS) {
    special->equal[lane] = pmb_own_columns(equal);
  }
  if (lane < PMB_BRICK_ROWS) {
    special->cells[lane] = pmb_own_columns(cells_of(scratch)[(lane >> 2) + 1][(lane & 3) + 1]);
  }
  if (lane == 0) {
    special->equal_column = equal_column;
  }
  return index;
}

/* The result of the full rules, by value: a variable with an address would be in local memory, where writing it for each brick
 * costs more than the brick's record. */
typedef struct special_result {
  uint32_t counts, word, column, index;
} special_result;

/* Classifies any brick by the full rules of pmb_brick.h, a row per lane. */
template <class T>
static __device__ __noinline__ special_result special_brick(
  const pmb_cuda_job &job, const pmb_cuda_box box, special_scratch *scratch, pmb_cuda_record *record)
{
  const int lane = threadIdx.x & 31;
  read_rows<T>(job, box, &scratch->rows);
  if (lane < 25) {
    cells_of(scratch)[lane / 5][lane % 5] = pmb_valid_cells(&scratch->rows, lane % 5, lane / 5);
  }
  __syncwarp();
  if (lane < PMB_BRICK_ROWS) {
    pmb_special_edges(&scratch->rows, cells_of(scratch), lane, &scratch->content);
  }
  __syncwarp();
  uint32_t triangles = 0, points = 0, in[PMB_KINDS] = {};
  if (lane < 25) {
    triangles =
      pmb_special_cells(&scratch->rows, cells_of(scratch)[lane / 5][lane % 5], lane % 5, lane / 5, &scratch->content);
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
  special_result result;
  const int row = min(lane, PMB_CUDA_ROWS - 1);
  result.index = store_special(job, scratch);
  const uint64_t inside = scratch->rows.inside[row / 5 + 1][row % 5 + 1];
  result.word = pmb_own_columns(inside);
  result.column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && (inside >> 33 & 1));
  result.counts = __shfl_sync(UINT32_MAX, sum, 31);
  return result;
}

/* ---- a brick ---- */

/* Whether all samples and cells from -1 to 32 are finite and visible, by the flags of the brick and of those below it. */
static __device__ __forceinline__ int is_clean(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  int found = 0, origin[3] = { box.origin[0], box.origin[1], box.origin[2] };
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(origin[0]), "+r"(origin[1]), "+r"(origin[2])); /* or the compiler keeps their sources in registers */
#endif
  const int d = (int)pmb_cuda_lane_again();
  const int x = origin[0] / PMB_BRICK_X - (d & 1);
  const int y = origin[1] / PMB_BRICK_Y - (d >> 1 & 1);
  const int z = origin[2] / PMB_BRICK_Z - (d >> 2);
  if (d < 8 && x >= 0 && y >= 0 && z >= 0) {
    found = job.d_flags[x + (int64_t)job.bricks[0] * (y + (int64_t)job.bricks[1] * z)];
  }
  return !__any_sync(UINT32_MAX, found);
}

static __device__ __forceinline__ row_limits limits_of_row(
  const pmb_cuda_job &job, const pmb_cuda_box &box, uint32_t borders, uint32_t all)
{
  const int lane = (int)pmb_cuda_lane_again(), last = (int)(borders & 1);
  const int r = min(lane, PMB_CUDA_ROWS - 1), y = r % 5, z = r / 5;
  const int ny = min(PMB_BRICK_Y, job.dims[1] - 1 - box.origin[1]);
  const int nz = min(PMB_BRICK_Z, job.dims[2] - 1 - box.origin[2]);
  row_limits limits;
  limits.columns = pmb_cuda_row_columns(job, box, y, z);
  limits.upper = last ? all >> 2 : UINT32_MAX;
  limits.cells = all >> last;
  limits.weights = limits.cells != 0 && lane < PMB_CUDA_ROWS ? row_weights(y, z, ny, nz) : 0;
  return limits;
}

/* Counts a brick without special samples, in lane 31. */
static __device__ __forceinline__ uint32_t plain_brick(const pmb_cuda_job &job, const pmb_cuda_box &box,
  uint32_t borders, const row_part *parts, uint32_t *word, uint32_t column, pmb_cuda_record *record)
{
  const uint32_t lane = pmb_cuda_lane_again(), next = column >> lane;
  const row_part part = parts[lane];
  row_limits limits = { UINT32_MAX, UINT32_MAX, UINT32_MAX, part.weights };
  if (borders) {
    const uint32_t all = pmb_cuda_columns(job, box);
    *word = (*word & all) | (next & 1 ? ~all : 0); /* repeats the volume's last column, as column 32 does */
    limits = limits_of_row(job, box, borders, all);
  }
  return count_words(part, limits, borders != 0, *word, next, record);
}

/* Writes the record of a brick; returns its counts, in lane 31. */
template <class T>
static __device__ __forceinline__ uint32_t classify_brick(const pmb_cuda_job &job, special_scratch *scratch,
  uint32_t row, const row_part *parts, uint32_t index, const pmb_cuda_box &box)
{
  pmb_cuda_record *record = job.d_records + index;
  uint32_t borders = pmb_cuda_borders(job, box);
  uint32_t word, column, counts, special = PMB_CUDA_PLAIN;
  const int equal = read_words<T>(job, box, row, &word, &column);
  if (equal || (job.any_flags && (job.d_slots || !is_clean(job, box)))) {
    const special_result result = special_brick<T>(job, box, scratch, record);
    counts = result.counts;
    word = result.word;
    column = result.column;
    special = result.index;
    borders |= PMB_CUDA_HAS_SPECIAL;
  } else {
    counts = plain_brick(job, box, borders, parts, &word, column, record);
  }
  column |= borders << PMB_CUDA_ROWS;
  const uint32_t lane = pmb_cuda_lane_again();
  if (lane < PMB_CUDA_ROWS + 2) { /* column and special follow the words */
    ((uint32_t *)record)[lane] = lane < PMB_CUDA_ROWS ? word : lane == PMB_CUDA_ROWS ? column : special;
  }
  return counts;
}

/* ---- the kernel ---- */

/* Shared memory of a block. */
typedef struct block_scratch {
  scan_scratch scan;
  row_part parts[32]; /* by lane; registers are scarce */
  union {
    select_scratch select;
    special_scratch special[PMB_CUDA_SCAN_WARPS];
    turn_sums sums[KEPT_SUMS];
  } of;
} block_scratch;

/* The number of the active brick with this index, which another block may have written. */
static __device__ __forceinline__ uint32_t brick_at(const pmb_cuda_job &job, const scan_tiles &tiles, uint32_t index)
{
  return index < tiles.active ? __ldcg(job.d_brick + index) : 0;
}

/* Classifies the bricks of a block's tiles (see scan). Neighbours share halos in the multiprocessor's cache, layers of bricks in
 * the device's. A warp reads its next brick's number while it classifies a brick. */
template <class T>
static __device__ __forceinline__ void classify_bricks(
  const pmb_cuda_job &job, const scan_tiles &tiles, block_scratch *scratch)
{
  enum { SMALL = sizeof(T) < 4 }; /* registers are scarce: one word for turn and n */
  const uint32_t row = row_of_lane<T>();
  uint32_t turn = 0, n = threadIdx.x >> 5, place = n;
  uint32_t index = index_of(tiles, turn, n), brick = brick_at(job, tiles, index);
  while (__any_sync(UINT32_MAX, index < tiles.active)) { /* tells the compiler that lanes agree */
    if (SMALL) {
      turn = place / PMB_CUDA_SCAN_WARPS;
      n = place % PMB_CUDA_SCAN_WARPS;
    }
    const uint32_t slot = slot_of(turn, n);
    go_to_next(tiles, &scratch->scan.taken, &turn, &n);
    place = turn * PMB_CUDA_SCAN_WARPS + n;
    const uint32_t next = index_of(tiles, turn, n), next_brick = brick_at(job, tiles, next);
    const uint32_t counts = classify_brick<T>(
      job, &scratch->of.special[threadIdx.x >> 5], row, scratch->parts, index, pmb_cuda_box_of(job, brick));
    put_counts(job, &scratch->scan, slot, index, counts);
    index = SMALL ? index_of(tiles, place / PMB_CUDA_SCAN_WARPS, place % PMB_CUDA_SCAN_WARPS) : next;
    brick = next_brick;
  }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
#define ROOM 1 /* blocks: a multiprocessor takes fewer than 2048 threads */
#else
#define ROOM PMB_CUDA_SELECT_BLOCKS
#endif

template <class T>
static __global__ void __launch_bounds__(32 * PMB_CUDA_SCAN_WARPS, ROOM)
  select_kernel(const __grid_constant__ pmb_cuda_job job)
{
  __shared__ select_scratch scratch;
  select_bricks<T>(job, &scratch);
}

/* selected: by select_kernel. */
template <class T>
static __global__ void __launch_bounds__(32 * PMB_CUDA_SCAN_WARPS, 1)
  classify_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ int selected)
{
  __shared__ block_scratch scratch;
  if (threadIdx.x == 0) {
    scratch.scan.taken = 0;
  }
  if (threadIdx.x < 32) {
    scratch.parts[threadIdx.x] = part_of_lane();
  }
  __syncthreads();
  pmb_cuda_await_passes();
  if (!selected) {
    select_bricks<T>(job, &scratch.of.select);
  }
  const uint32_t active = __ldcg(&job.d_counters->active);
  const scan_tiles tiles = tiles_of(min(active, job.record_capacity));
  classify_bricks<T>(job, tiles, &scratch);
  pmb_cuda_let_next_begin();
  scan_bricks(job, tiles, &scratch.scan, scratch.of.sums);
}

/* Where a warp of classify would select more than 32 words of the map, select has a launch of its own. */
template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  const unsigned one = (unsigned)cuda->processors;
  const int apart = cuda->job.group_bricks / 32 > 32 * PMB_CUDA_SCAN_WARPS * one;
  cudaError_t error = cudaSuccess;
  if (apart) {
    const unsigned blocks = pmb_cuda_all_blocks(cuda, select_kernel<T>, 32 * PMB_CUDA_SCAN_WARPS);
    error = pmb_cuda_launch(cuda, PMB_CUDA_COOPERATIVE, select_kernel<T>, min(blocks, PMB_CUDA_SELECT_BLOCKS * one),
      32 * PMB_CUDA_SCAN_WARPS, 0, cuda->job);
  }
  return error ? error
               : pmb_cuda_launch(cuda, PMB_CUDA_COOPERATIVE | PMB_CUDA_EARLY, classify_kernel<T>, one,
                   32 * PMB_CUDA_SCAN_WARPS, 0, cuda->job, apart);
}

pmb_status pmb_cuda_classify(pmb_cuda *cuda)
{
  memset(cuda->totals, 0, offsetof(pmb_cuda_totals, ranges));
  return pmb_cuda_check(
    cuda->context, PMB_CUDA_BY_TYPE(cuda->context->volume.type, launch<T>(cuda)), "launch of classify");
}
