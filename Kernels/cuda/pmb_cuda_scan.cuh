/* SPDX-License-Identifier: BSD-3-Clause
 * Pass scan, at the end of classify's launch: the points and triangles before each active brick.
 *
 * Classify goes through the list in turns. In each turn a block has a tile of the list, at most a brick per warp. A block publishes
 * the sums of its tiles, waits for those of all blocks, and reads them. */
#ifndef PMB_CUDA_SCAN_CUH
#define PMB_CUDA_SCAN_CUH

#include "cuda/pmb_cuda_common.cuh"

enum {
  PMB_CUDA_SCAN_WARPS = 32, /* of a block of classify; there is one on each multiprocessor */
  OPEN_SHARE = 8,           /* see open_turn */
  KEPT_TURNS = 32,          /* turns with counts in shared memory */
  SUM_READS = 5,            /* reads of a lane in flight */
  KEPT_SUMS = 2048          /* turns whose sums stay in shared memory for the second time */
};

/* Shared memory of a block. */
typedef struct scan_scratch {
  uint32_t counts[KEPT_TURNS][PMB_CUDA_SCAN_WARPS + 1]; /* points | triangles << 16; + 1: fewer bank conflicts */
  pmb_sizes sums[PMB_CUDA_SCAN_WARPS];                  /* of the turns that a warp scans */
  uint32_t taken;                                       /* see go_to_next */
} scan_scratch;

/* ---- tiles ---- */

/* The division of the list into turns and tiles. In the last turn, which may be short, blocks have equal shares. */
typedef struct scan_tiles {
  uint32_t active, turns, last; /* last: the first brick of the last turn */
  uint32_t width;               /* of a tile in the last turn */
} scan_tiles;

static __device__ __forceinline__ scan_tiles tiles_of(uint32_t active)
{
  const uint32_t in_turn = gridDim.x * PMB_CUDA_SCAN_WARPS;
  scan_tiles tiles;
  tiles.active = active;
  tiles.turns = active / in_turn + (active % in_turn != 0);
  tiles.last = tiles.turns > 0 ? (tiles.turns - 1) * in_turn : 0;
  tiles.width = (active - tiles.last + gridDim.x - 1) / gridDim.x;
  return tiles;
}

/* The index of brick n of the block's tile; `active` or more if there is no such brick. */
static __device__ __forceinline__ uint32_t index_of(const scan_tiles &tiles, uint32_t turn, uint32_t n)
{
  if (turn + 1 < tiles.turns) {
    return (turn * gridDim.x + blockIdx.x) * PMB_CUDA_SCAN_WARPS + n;
  }
  return turn < tiles.turns && n < tiles.width ? tiles.last + blockIdx.x * tiles.width + n : UINT32_MAX;
}

/* The turn from which on the first idle warp takes the block's next brick: for the last two turns, and for more in long lists,
 * where warps drift farther apart. */
static __device__ __forceinline__ uint32_t open_turn(const scan_tiles &tiles)
{
  return max(tiles.turns, 3u) - 2 - tiles.turns / OPEN_SHARE;
}

/* Moves a warp from brick n of the turn to its next. taken: number of bricks taken from open_turn on. */
static __device__ __forceinline__ void go_to_next(
  const scan_tiles &tiles, uint32_t *taken, uint32_t *turn, uint32_t *n)
{
  const uint32_t open = open_turn(tiles);
  if (*turn + 1 < open) {
    ++*turn;
    return;
  }
  uint32_t number = 0;
  if (pmb_cuda_lane_again() == 0) {
    number = atomicAdd(taken, 1);
  }
  number = __shfl_sync(UINT32_MAX, number, 0);
  *turn = open + number / PMB_CUDA_SCAN_WARPS;
  *n = number % PMB_CUDA_SCAN_WARPS;
}

/* ---- counts ---- */

/* The place of a brick's counts beyond KEPT_TURNS, which later gets the sums before the brick. */
static __device__ __forceinline__ uint32_t *counts_of(const pmb_cuda_job &job, uint32_t index)
{
  return (uint32_t *)(job.d_before + index);
}

/* The slot of a brick's counts in shared memory. */
static __device__ __forceinline__ uint32_t slot_of(uint32_t turn, uint32_t n)
{
  return turn * (PMB_CUDA_SCAN_WARPS + 1) + n;
}

/* Keeps a brick's counts, from lane 31. */
static __device__ __forceinline__ void put_counts(
  const pmb_cuda_job &job, scan_scratch *scratch, uint32_t slot, uint32_t index, uint32_t counts)
{
  if (pmb_cuda_lane_again() == 31) {
    if (slot < slot_of(KEPT_TURNS, 0)) {
      (&scratch->counts[0][0])[slot] = counts;
    } else {
      *counts_of(job, index) = counts;
    }
  }
}

/* Lane n: the counts of brick n of the block's tile. */
static __device__ __forceinline__ uint32_t take_counts(
  const pmb_cuda_job &job, const scan_tiles &tiles, const scan_scratch *scratch, uint32_t turn)
{
  const uint32_t lane = threadIdx.x & 31, index = index_of(tiles, turn, lane);
  if (index >= tiles.active) {
    return 0;
  }
  return turn < KEPT_TURNS ? scratch->counts[turn][lane] : __ldcg(counts_of(job, index));
}

/* ---- sums ---- */

/* Publishes the sums of the block's tiles in turns begin..end. */
static __device__ __forceinline__ void publish_tiles(
  const pmb_cuda_job &job, const scan_tiles &tiles, const scan_scratch *scratch, uint32_t begin, uint32_t end)
{
  volatile uint64_t *d_sums = job.d_scan_sums;
#pragma unroll 1
  for (uint32_t turn = begin; turn < end; ++turn) {
    const uint32_t counts = take_counts(job, tiles, scratch, turn);
    const uint32_t points = pmb_cuda_word_sum(counts & 0xffff), triangles = pmb_cuda_word_sum(counts >> 16);
    if ((threadIdx.x & 31) == 0) {
      d_sums[(uint64_t)turn * gridDim.x + blockIdx.x] =
        pmb_cuda_marked_sum(points | (uint64_t)triangles << 24, job.epoch);
    }
  }
}

/* Sums of a turn's tiles, and of those before the block's. */
typedef struct turn_sums {
  uint32_t points, triangles, points_before, triangles_before;
} turn_sums;

/* A lane's part of the sums of all blocks' words, and of those before this block's. */
typedef struct lane_sums {
  uint64_t all, before;
} lane_sums;

/* Waits for the words. Reads all again until none is missing: one latency, not several. */
static __device__ __forceinline__ lane_sums read_sums(const pmb_cuda_job &job, const volatile uint64_t *d_sums)
{
  lane_sums sums = { 0, 0 };
#pragma unroll 1
  for (uint32_t first = 0; first < gridDim.x; first += 32 * SUM_READS) {
    uint64_t words[SUM_READS];
    int missing;
    do {
      missing = 0;
#pragma unroll
      for (int n = 0; n < SUM_READS; ++n) {
        words[n] = d_sums[min(first + 32 * n + (threadIdx.x & 31), gridDim.x - 1)];
      }
#pragma unroll
      for (int n = 0; n < SUM_READS; ++n) {
        missing |= words[n] >> 50 != job.epoch;
      }
    } while (missing);
#pragma unroll
    for (int n = 0; n < SUM_READS; ++n) {
      const uint32_t block = first + 32 * n + (threadIdx.x & 31);
      const uint64_t value = words[n] & ((1ull << 48) - 1);
      sums.all += block < gridDim.x ? value : 0;
      sums.before += block < blockIdx.x ? value : 0;
    }
  }
  __syncwarp();
  return sums;
}

/* Waits for the sums. 24 bits are enough for the points, or triangles, of a lane's tiles. */
static __device__ __forceinline__ turn_sums sums_of_turn(const pmb_cuda_job &job, uint32_t turn)
{
  const lane_sums lane = read_sums(job, job.d_scan_sums + (uint64_t)turn * gridDim.x);
  turn_sums sums;
  sums.points = pmb_cuda_word_sum((uint32_t)lane.all & 0xffffff);
  sums.triangles = pmb_cuda_word_sum((uint32_t)(lane.all >> 24));
  sums.points_before = pmb_cuda_word_sum((uint32_t)lane.before & 0xffffff);
  sums.triangles_before = pmb_cuda_word_sum((uint32_t)(lane.before >> 24));
  return sums;
}

/* Reports the sums before this brick to the host, if it is an isovalue's first. */
static __device__ __forceinline__ void report_isovalues(
  const pmb_cuda_job &job, uint32_t index, const pmb_sizes &before)
{
#pragma unroll 1
  for (int n = 1; n < job.isovalue_count; ++n) {
    if (index == __ldcg(&job.d_counters->first[n])) {
      job.totals->before[n] = before;
    }
  }
}

/* Writes the sums before each brick of the block's tile, given those before the tile. */
static __device__ __forceinline__ void write_tile(
  const pmb_cuda_job &job, const scan_tiles &tiles, const scan_scratch *scratch, uint32_t turn, pmb_sizes before)
{
  const uint32_t index = index_of(tiles, turn, threadIdx.x & 31), counts = take_counts(job, tiles, scratch, turn);
  const uint32_t p = pmb_cuda_inclusive_sum(counts & 0xffff), t = pmb_cuda_inclusive_sum(counts >> 16);
  if (index < tiles.active) {
    before.points += p - (counts & 0xffff);
    before.triangles += t - (counts >> 16);
    job.d_before[index] = before;
    report_isovalues(job, index, before);
  }
}

/* When all blocks have published, and so take no more special records: reports to the host if there was no room for all. */
static __device__ __forceinline__ void end_special(const pmb_cuda_job &job)
{
  const uint32_t special = __ldcg(&job.d_counters->special);
  if (special > job.special_capacity) {
    job.totals->special = special;
  }
  job.d_counters->special = 0;
}

/* From the sums of a warp's turns to those of all warps before it. with_turns: number of warps that have turns. */
static __device__ __forceinline__ pmb_sizes sums_before(
  const pmb_cuda_job &job, uint32_t active, const pmb_sizes &own, int with_turns, scan_scratch *scratch)
{
  const int warp = min((int)(threadIdx.x >> 5), with_turns);
  pmb_sizes before = { 0, 0 };
  if ((int)(threadIdx.x >> 5) < with_turns) {
    scratch->sums[warp] = own; /* all lanes write the same */
  }
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < warp; ++i) {
    before.points += scratch->sums[i].points;
    before.triangles += scratch->sums[i].triangles;
  }
  if (blockIdx.x == 0 && (int)threadIdx.x == 32 * max(with_turns - 1, 0)) {
    job.d_before[active] = job.totals->sizes = { before.points + own.points, before.triangles + own.triangles };
  }
  if (blockIdx.x == 0 && threadIdx.x == blockDim.x - 1 && (job.any_join || job.any_flags)) {
    end_special(job);
  }
  return before;
}

/* Pass scan. A warp goes through a run of turns twice, by the same code, because code that runs once per launch has to be fetched
 * from memory. kept: room for KEPT_SUMS. */
static __device__ __forceinline__ void scan_bricks(
  const pmb_cuda_job &job, const scan_tiles &tiles, scan_scratch *scratch, turn_sums *kept)
{
  const uint32_t run = (tiles.turns + PMB_CUDA_SCAN_WARPS - 1) / PMB_CUDA_SCAN_WARPS;
  const uint32_t begin = min(tiles.turns, (threadIdx.x >> 5) * run), end = min(tiles.turns, begin + run);
  turn_sums sums = { 0, 0, 0, 0 };
  pmb_sizes before = { 0, 0 };
  __syncthreads();
  publish_tiles(job, tiles, scratch, begin, end);
  __syncthreads(); /* publish before waiting: all blocks wait for each other */
#pragma unroll 1
  for (int again = 0; again < 2; ++again) {
#pragma unroll 1
    for (uint32_t turn = begin; turn < end; ++turn) {
      if (!again || turn >= KEPT_SUMS) {
        sums = sums_of_turn(job, turn);
      } else if (run > 1) {
        sums = kept[turn];
      }
      if (!again && turn < KEPT_SUMS && (threadIdx.x & 31) == 0) {
        kept[turn] = sums;
      }
      if (again) {
        const pmb_sizes tile = { before.points + sums.points_before, before.triangles + sums.triangles_before };
        write_tile(job, tiles, scratch, turn, tile);
      }
      before.points += sums.points;
      before.triangles += sums.triangles;
    }
    if (!again) {
      before = sums_before(job, tiles.active, before, (int)(run > 0 ? (tiles.turns + run - 1) / run : 0), scratch);
    }
  }
}

#endif
