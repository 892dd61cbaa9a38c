/* SPDX-License-Identifier: BSD-3-Clause
 * Passes classify and scan: the row words of every active brick, its points and triangles, and those before it. A warp
 * has a brick. One launch of blocks that are on the device together; where it is not too much for them, they do select
 * first. */
#include "pmb_cuda_exact.cuh"
#include "pmb_cuda_scan.cuh"
#include "pmb_cuda_select.cuh"
#include "pmb_cuda_words.cuh"

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

/* Whether nothing not finite or hidden asks for the full rules: the flags of the brick and of those below cover
 * samples and cells -1 to 32. */
static __device__ __forceinline__ int is_clean(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  int found = 0;
  const int d = threadIdx.x & 31;
  const int x = box.origin[0] / PMB_BRICK_X - (d & 1);
  const int y = box.origin[1] / PMB_BRICK_Y - (d >> 1 & 1);
  const int z = box.origin[2] / PMB_BRICK_Z - (d >> 2);
  if (d < 8 && x >= 0 && y >= 0 && z >= 0) {
    found = job.d_flags[x + (int64_t)job.bricks[0] * (y + (int64_t)job.bricks[1] * z)];
  }
  return !__any_sync(UINT32_MAX, found);
}

/* Counts a plain brick, given its words: points, triangles << 16. Two lanes have a row. */
static __device__ __forceinline__ uint32_t plain_brick(const pmb_cuda_job &job, const pmb_cuda_box &box, int inner,
  uint32_t word, uint32_t column, pmb_cuda_record *record)
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
  if (!inner) {
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

/* One brick: its record; returns its counts. */
template <class T>
static __device__ __forceinline__ uint32_t classify_brick(
  const pmb_cuda_job &job, exact_scratch *scratch, uint32_t row, uint32_t index, const pmb_cuda_box &box)
{
  pmb_cuda_record *record = job.d_records + index;
  const int lane = threadIdx.x & 31;
  uint32_t borders = pmb_cuda_borders(job, box);
  uint32_t word, column, counts, exact = PMB_CUDA_PLAIN;
  const int equal = read_words<T>(job, box, row, &word, &column);
  if (equal || (job.any_flags && !is_clean(job, box))) {
    const exact_result result = exact_brick<T>(job, box, scratch, record);
    counts = result.counts;
    word = result.word;
    exact = result.index;
    borders |= PMB_CUDA_HAS_EXACT;
  } else {
    counts = plain_brick(job, box, borders == 0, word, column, record);
  }
  column |= borders << PMB_CUDA_ROWS;
  if (lane < PMB_CUDA_ROWS + 2) { /* column and exact follow the words */
    ((uint32_t *)record)[lane] = lane < PMB_CUDA_ROWS ? word : lane == PMB_CUDA_ROWS ? column : exact;
  }
  return counts;
}

/* ---- the kernel ---- */

/* Room of a block. */
typedef struct block_scratch {
  scan_scratch scan;
  union {
    select_scratch select;
    exact_scratch exact[PMB_CUDA_SCAN_WARPS];
  } of;
} block_scratch;

/* The number of an active brick, with this index and place in the block's tiles. IN_ALL: the block has noted it; else
 * other blocks of the launch may have written it. */
template <bool IN_ALL>
static __device__ __forceinline__ uint32_t brick_at(const pmb_cuda_job &job, const scan_tiles &tiles,
  const scan_scratch *scratch, uint32_t turn, uint32_t n, uint32_t index)
{
  if (index >= tiles.active) {
    return 0;
  }
  return IN_ALL ? scratch->counts[turn][n] : __ldcg(job.d_brick + index);
}

/* A block's tiles are those of scan: neighbours find each other's halos in the block's cache, and layers of bricks those
 * of the next in the device's. The next brick's number is on its way while a brick is worked on. */
template <class T, bool IN_ALL>
static __device__ __forceinline__ void classify_bricks(
  const pmb_cuda_job &job, const scan_tiles &tiles, block_scratch *scratch)
{
  enum { PACKED = sizeof(T) < 4 }; /* where the registers do not suffice otherwise */
  const uint32_t row = row_of_lane<T>();
  tile_place<PACKED> place;
  place.set(0, threadIdx.x >> 5);
  uint32_t index = index_of(tiles, 0, place.n());
  uint32_t brick = brick_at<IN_ALL>(job, tiles, &scratch->scan, 0, place.n(), index);
  while (index < tiles.active) {
    uint32_t turn = place.turn(), n = place.n();
    tile_place<PACKED> next_place;
    go_on(tiles, &scratch->scan.taken, &turn, &n);
    next_place.set(turn, n);
    const uint32_t next = index_of(tiles, turn, n);
    const uint32_t next_brick = brick_at<IN_ALL>(job, tiles, &scratch->scan, turn, n, next);
    const uint32_t counts =
      classify_brick<T>(job, &scratch->of.exact[threadIdx.x >> 5], row, index, pmb_cuda_box_of(job, brick));
    turn = place.turn();
    n = place.n();
    if (IN_ALL) { /* all lanes have read what the counts take the place of */
      __syncwarp();
    }
    put_counts(job, &scratch->scan, turn, n, PACKED ? index_of(tiles, turn, n) : index, counts);
    place = next_place;
    index = PACKED ? index_of(tiles, place.turn(), place.n()) : next;
    brick = next_brick;
  }
}

/* IN_ALL: each block looks at all bricks, to select. */
template <class T, bool IN_ALL>
static __global__ void __launch_bounds__(32 * PMB_CUDA_SCAN_WARPS, 1)
  classify_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ int in_parts)
{
  __shared__ block_scratch scratch;
  if (threadIdx.x == 0) {
    scratch.scan.taken = 0;
  }
  __syncthreads();
  pmb_cuda_await_passes();
  const uint32_t active = IN_ALL ? select_in_all<T>(job, &scratch.of.select, &scratch.scan)
    : in_parts                   ? select_in_parts<T>(job, &scratch.of.select)
                                 : job.d_counters->active;
  const scan_tiles tiles = tiles_of(min(active, job.record_capacity));
  classify_bricks<T, IN_ALL>(job, tiles, &scratch);
  pmb_cuda_let_next_begin();
  scan_bricks(job, tiles, &scratch.scan);
}

template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  config.gridDim = dim3((unsigned)cuda->processors);
  config.blockDim = dim3(32 * PMB_CUDA_SCAN_WARPS);
  config.stream = cuda->compute;
  config.attrs = attributes;
  config.numAttrs = 1;
  pmb_cuda_begin_early(cuda, &config);
  const pmb_cuda_select_way way = pmb_cuda_select_way_of(cuda);
  return way == PMB_CUDA_SELECT_IN_ALL
    ? cudaLaunchKernelEx(&config, classify_kernel<T, true>, cuda->job, 0)
    : cudaLaunchKernelEx(&config, classify_kernel<T, false>, cuda->job, (int)(way == PMB_CUDA_SELECT_IN_PARTS));
}

pmb_status pmb_cuda_classify(pmb_cuda *cuda)
{
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, error = launch<T>(cuda));
  return pmb_cuda_check(cuda->context, error, "launch of classify");
}
