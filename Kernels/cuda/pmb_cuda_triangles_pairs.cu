/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles for two bricks at a time, which follow each other in the list: half of a warp's lanes have the rows of one,
 * half those of the other, and all that comes after the list of cells is done for both together. So what a brick costs whatever
 * it holds is shared. Only for 32-bit ids and where most bricks hold something; a pair with a brick that goes by the
 * full rules is left to the code of pmb_cuda_triangles.cuh. */
#include <stdlib.h>

#include "cuda/pmb_cuda_triangles.cuh"

/* ---- the table of ids ---- */

/* Rows are numbered z * ROW_LAYER + y, so that the 16 rows of a brick lie in different banks, and runs of slots lie between
 * each other: those of y edges, of x and z edges, of z edges at column x + 1. Where each begins: the fewest bank conflicts
 * found on a smooth surface. */
enum {
  ROW_LAYER = 12,
  RUN_Y = 0, /* edges at column x; NEXT: at x + 1; LAST: those again for x = 31, where they are in the next brick */
  RUN_Y_LAST = 4,
  RUN_Y_NEXT = 8,
  RUN_X = 69,
  RUN_Z = 74,
  RUN_Z_NEXT = 125,
  RUN_Z_LAST = 130,
  RUN_END = 170,
  SECOND = 196, /* from a slot of the first brick to the second's */
  UPPER = 9,    /* rows of 25 that are of bricks above */
  FIELD = 9,    /* bits of a field of an entry */
  PAIR_STEP = 1 << 5 | 1 << (5 + FIELD) | 1 << (5 + 2 * FIELD),
  PAIR_LIST = LISTED + 196,                        /* room of the list */
  PAIR_CELLS = PAIR_LIST - 32 * PMB_MAX_TRIANGLES, /* listed at once */
  ID_STEPS = 3 * 32                                /* ids that are made without a look at how many are left */
};

/* Cases are found by the lower six bits of a cell's row, which for the two bricks are different. */
enum { SECOND_CASES = SECOND & 63, PAIR_CASES = 2 * (3 * ROW_LAYER + 4 + SECOND_CASES) };

static_assert(SECOND_CASES == 4 && SECOND + RUN_END <= 1 << FIELD, "places of both bricks");

/* Room of a warp. */
typedef struct pair_scratch {
  uint4 cases[PAIR_CASES]; /* a byte a cell, x = 31 first: see keep_cases */
  id_slot slots[SECOND + RUN_END + 2];
  uint32_t list[PAIR_LIST]; /* triangles from the beginning on, then the cells that are still to be looked at */
} pair_scratch;

/* As triangle_codes; the number of triangles is in the lowest bits. */
typedef triangle_codes pair_codes;

/* Else bricks would go to the kernel for one without a word. 1 KB a block is CUDA's. */
static_assert(BLOCKS * (sizeof(pair_codes) + MAX_WARPS * sizeof(pair_scratch) + 1024) <= 228 * 1024,
  "shared memory of a multiprocessor of 9.0");

static constexpr uint32_t pair_slot(int edge, int last_column)
{
  const int corner = pmb_edge_lower(edge), axis = pmb_edge_axis(edge);
  const int y = corner & 1 ? last_column ? RUN_Y_LAST : RUN_Y_NEXT : RUN_Y;
  const int z = corner & 1 ? last_column ? RUN_Z_LAST : RUN_Z_NEXT : RUN_Z;
  return (uint32_t)((axis == 0 ? RUN_X : axis == 1 ? y : z) + (corner >> 2) * ROW_LAYER + (corner >> 1 & 1));
}

static constexpr pair_codes make_pair_codes(int mirrored)
{
  pair_codes codes = {};
  for (uint32_t cell_case = 0; cell_case < 256; ++cell_case) {
    const uint32_t place = case_place(cell_case);
    for (int last = 0; last < 2; ++last) {
      for (int n = 0; n < pmb_triangle_count[cell_case]; ++n) {
        const uint8_t *edges = pmb_triangle_edges[cell_case] + 3 * n;
        const uint32_t a = pair_slot(edges[0], last), b = pair_slot(edges[mirrored ? 2 : 1], last);
        const uint32_t c = pair_slot(edges[mirrored ? 1 : 2], last);
        codes.code[last][n][place] = a << 5 | b << (5 + FIELD) | c << (5 + 2 * FIELD);
      }
      codes.code[last][0][place] |= pmb_triangle_count[cell_case];
    }
  }
  return codes;
}

static __device__ constexpr pair_codes constant_pair_codes[2] = { make_pair_codes(0), make_pair_codes(1) };

/* ---- what is read of a pair ---- */

/* What does not change for a lane: a row of one of the bricks, and, in the first lanes of each half, one of UPPER. */
typedef struct pair_lane {
  uint32_t half;                                /* 1: of the second brick */
  uint32_t row;                                 /* its own row, of 16 */
  uint32_t place;                               /* likewise, of the record's 25 */
  uint32_t slot;                                /* likewise, with the second brick's behind */
  uint32_t below;                               /* the lanes below, as bits */
  uint32_t upper_brick, upper_place, upper_row; /* the brick of the upper row, relative; the row there and here */
  uint32_t upper_edges;                         /* which of its edges cells use beside x edges; PMB_SAMPLE: none */
  uint32_t upper_other;                         /* the record's row at their other end, upper_place if none */
  uint32_t below_upper;                         /* a lane whose row is below it, along y, z or both */
  uint32_t upper_slot;                          /* of its x edges */
  uint32_t half_row, cases;                     /* see keep_cases: what is picked first, and its place, in bytes */
} pair_lane;

static __device__ __forceinline__ pair_lane lane_of_pair(const pmb_cuda_job &job)
{
  pair_lane lane;
  const uint32_t number = threadIdx.x & 31, row = number & 15, half = number >> 4;
  const uint32_t u = min(row, (uint32_t)UPPER - 1), in_y = u < 5 ? 4 : u - 5, in_z = u < 5 ? u : 4;
  lane.half = keep(half);
  lane.row = keep(row);
  lane.place = keep((row >> 2) * 5 + (row & 3));
  lane.below = keep((1u << number) - 1);
  lane.slot = keep((row >> 2) * ROW_LAYER + (row & 3) + SECOND * half);
  lane.upper_brick = keep(job.bricks[0] * ((in_y >> 2) + job.bricks[1] * (in_z >> 2)));
  lane.upper_place = keep(in_z * 5 + in_y);
  lane.upper_row = keep((in_z & 3) * 4 + (in_y & 3));
  lane.upper_edges = keep(u < 4 ? PMB_EDGE_Z : u == 4 ? PMB_SAMPLE : PMB_EDGE_Y);
  lane.upper_other = keep(lane.upper_place + (row >= UPPER ? 0 : u < 4 ? 5 : u == 4 ? 0 : 1));
  lane.below_upper = keep(16 * half + 4 * min(in_z, 3u) + min(in_y, 3u));
  lane.upper_slot = keep(in_z * ROW_LAYER + in_y + SECOND * half);
  lane.half_row = keep(number & 4 ? 0x7362 : 0x5140);
  lane.cases = keep((lane.slot & 63) * 2 * (uint32_t)sizeof(uint4) + (number & 4 ? 0 : 16));
  return lane;
}

/* What ids of a row are made of: before the brick, before the row; the same of the next brick along x, only if cells use that
 * one's points: of 20 rows of a smooth surface one or two. */
typedef struct row_ids {
  uint32_t before, first, next_before, next_first;
  int uses_next;
} row_ids;

static __device__ __forceinline__ row_ids read_ids(
  const pmb_cuda_job &job, uint32_t index, uint32_t next, uint32_t row, int uses_next)
{
  row_ids ids = {};
  ids.uses_next = uses_next;
  if (uses_next) {
    ids.next_before = (uint32_t)job.d_before[next].points;
    ids.next_first = job.d_records[next].first[row];
  }
  ids.before = (uint32_t)job.d_before[index].points;
  ids.first = job.d_records[index].first[row];
  return ids;
}

/* What is on its way while a warp works on the pair before: the words of a lane's row and of those above it, the record's
 * `column`; the brick of its upper row and its word of the map. */
typedef struct pair_head {
  uint32_t a, b, c, d, column, upper;
  uint2 map;
} pair_head;

static __device__ __forceinline__ pair_head read_pair(
  const pmb_cuda_job &job, const pair_lane &lane, uint32_t index, uint32_t brick)
{
  const pmb_cuda_record *record = job.d_records + index;
  const uint32_t *word = record->word + lane.place;
  pair_head head;
  head.a = word[0];
  head.b = word[1];
  head.c = word[5];
  head.d = word[6];
  head.column = record->column;
  head.upper = brick_at(job, brick, lane.upper_brick);
  head.map = job.d_map[head.upper >> 5];
  return head;
}

/* Of a lane's own row. */
static __device__ __forceinline__ row_ids read_own_ids(
  const pmb_cuda_job &job, const pair_lane &lane, const pair_head &head, uint32_t index, uint32_t last)
{
  const uint32_t mine = min(index + lane.half, last), column = head.column >> lane.place;
  const int uses_next = ((column ^ column >> 1) | (column ^ column >> 5)) & 1; /* a y or z edge there is crossed */
  return read_ids(job, mine, min(mine + 1, last), lane.row, uses_next);
}

/* Those of a lane's upper row. */
static __device__ __forceinline__ row_ids read_upper_ids(
  const pmb_cuda_job &job, const pair_lane &lane, const pair_head &head, uint32_t last)
{
  const uint32_t place = head.upper & 31;
  const uint32_t before = head.map.y + __popc(head.map.x & ~(UINT32_MAX << place));
  const int uses_next = (head.column >> lane.upper_place ^ head.column >> lane.upper_other) & 1;
  return read_ids(job, min(before, last), min(before + (head.map.x >> place & 1), last), lane.upper_row, uses_next);
}

/* ---- slots ---- */

/* The slots of a row's y or z edges. */
static __device__ __forceinline__ void fill_run(id_slot *slots, uint32_t at, uint32_t at_next, uint32_t at_last,
  uint32_t mask, uint32_t id, uint32_t next_id, int uses_next)
{
  slots[at] = { mask, id };
  slots[at_next] = { mask >> 1, (id + (mask & 1)) };
  if (uses_next) {
    slots[at_last] = { 0, next_id };
  }
}

static __device__ __forceinline__ void fill_own(
  const pair_lane &lane, const row_ids &ids, const uint32_t *masks, uint32_t base, pair_scratch *scratch)
{
  id_slot *slots = scratch->slots + lane.slot;
  const uint32_t id = base + ids.before - 1, next = base + ids.next_before;
  slots[RUN_X] = { masks[0], (id + pmb_cuda_row_first(ids.first, PMB_EDGE_X)) };
  fill_run(slots, RUN_Y, RUN_Y_NEXT, RUN_Y_LAST, masks[1], id + pmb_cuda_row_first(ids.first, PMB_EDGE_Y),
    next + pmb_cuda_row_first(ids.next_first, PMB_EDGE_Y), ids.uses_next);
  fill_run(slots, RUN_Z, RUN_Z_NEXT, RUN_Z_LAST, masks[2], id + pmb_cuda_row_first(ids.first, PMB_EDGE_Z),
    next + pmb_cuda_row_first(ids.next_first, PMB_EDGE_Z), ids.uses_next);
}

/* An upper row has y or z edges that cells use, not both; the topmost has none. Its words are those above the row of another
 * lane. */
static __device__ __forceinline__ void fill_upper(
  const pair_lane &lane, const row_ids &ids, const pair_head &head, uint32_t base, pair_scratch *scratch)
{
  const uint32_t above_y = __shfl_sync(UINT32_MAX, head.b, lane.below_upper);
  const uint32_t above_z = __shfl_sync(UINT32_MAX, head.c, lane.below_upper);
  const uint32_t other = __shfl_sync(UINT32_MAX, head.d, lane.below_upper); /* at the other end of those edges */
  if (lane.row < UPPER) {
    const int in_y = lane.upper_edges == PMB_EDGE_Z, in_z = lane.upper_edges == PMB_EDGE_Y;
    const uint32_t word = in_y ? above_y : in_z ? above_z : other;
    const uint32_t id = base + ids.before - 1 + (ids.first & 0x7ff);
    const uint32_t next = base + ids.next_before + (ids.next_first & 0x7ff);
    const uint32_t kept = in_y ? 0x7f : 0x3f, shift = in_y ? 17 : 11; /* see pmb_cuda_row_first */
    id_slot *slots = scratch->slots + lane.upper_slot;
    slots[RUN_X] = { word ^ pmb_cuda_next(word, head.column >> lane.upper_place), id };
    if (in_y || in_z) {
      fill_run(slots, in_y ? RUN_Z : RUN_Y, in_y ? RUN_Z_NEXT : RUN_Y_NEXT, in_y ? RUN_Z_LAST : RUN_Y_LAST,
        word ^ other, id + (ids.first >> shift & kept), next + (ids.next_first >> shift & kept), ids.uses_next);
    }
  }
}

/* ---- cells ---- */

/* The corners at columns n, n + 4, n + 8 and so on of a row of cells, 4 bits each: one of each word, in their order. */
static __device__ __forceinline__ void corners_by_column(const uint32_t *words, uint32_t *columns)
{
  const uint32_t even = 0x55555555, low = 0x33333333;
  const uint32_t a0 = (words[0] & even) | (words[1] << 1 & ~even), a1 = (words[0] >> 1 & even) | (words[1] & ~even);
  const uint32_t c0 = (words[2] & even) | (words[3] << 1 & ~even), c1 = (words[2] >> 1 & even) | (words[3] & ~even);
  columns[0] = (a0 & low) | (c0 << 2 & ~low);
  columns[1] = (a1 & low) | (c1 << 2 & ~low);
  columns[2] = (a0 >> 2 & low) | (c0 & ~low);
  columns[3] = (a1 >> 2 & low) | (c1 & ~low);
}

/* Keeps the cases of a row of cells for case_of_pair, the corners at x in the lower half of a byte, those at x + 1 in the
 * upper: each lane the half of the row that it has the place for in banks of its own, then the other. column: from the row's bit
 * on. */
static __device__ __forceinline__ void keep_cases(
  const pair_lane &lane, const uint32_t *words, uint32_t column, pair_scratch *scratch)
{
  const uint32_t low = 0x0f0f0f0f;
  uint32_t columns[4];
  corners_by_column(words, columns);
  const uint32_t end =
    __funnelshift_r(columns[0], (column & 3) | (column >> 3 & ~3u), 4); /* columns 4, 8 and so on */
  char *row = (char *)scratch->cases;
#pragma unroll
  for (uint32_t n = 0; n < 2; ++n) {
    const uint32_t pick = n ? lane.half_row ^ 0x2222 : lane.half_row, pick_end = 0x2104 | (pick & 2);
    const uint32_t upper = __byte_perm(columns[3], columns[2], pick),
                   lower = __byte_perm(columns[1], columns[0], pick);
    uint32_t cases[4];
#pragma unroll
    for (int i = 0; i < 2; ++i) { /* 8 columns: the later ones first */
      const uint32_t here = __byte_perm(upper, lower, i ? 0x5410 : 0x7632);
      const uint32_t next = __byte_perm(here, end, i ? pick_end : pick_end | 1);
      cases[2 * i] = (here >> 4 & low) | (next & ~low);
      cases[2 * i + 1] = (here & low) | (next << 4 & ~low);
    }
    *(uint4 *)(row + (n ? lane.cases ^ 16 : lane.cases)) = make_uint4(cases[0], cases[1], cases[2], cases[3]);
  }
}

/* As case_offset: the place of a listed cell's case in the table of codes. */
static __device__ __forceinline__ uint32_t case_of_pair(const pair_scratch *scratch, uint32_t cell)
{
  const uint32_t cell_case = ((const uint8_t *)scratch->cases)[cell & 0x7ff];
  return cell_case + (cell_case >> 4); /* see case_place */
}

/* Cells of a lane's row that are in the volume. */
static __device__ __forceinline__ uint32_t cells_in_volume(
  const pmb_cuda_job &job, const pair_lane &lane, uint32_t column)
{
  const uint32_t borders = column >> PMB_CUDA_ROWS;
  const uint32_t in_y = borders & 2 ? job.last_cells[1] : PMB_BRICK_Y,
                 in_z = borders & 4 ? job.last_cells[2] : PMB_BRICK_Z;
  const uint32_t cells = borders & 1 ? pmb_cuda_low_bits(job.last_cells[0]) : UINT32_MAX;
  return (lane.row & 3) < in_y && lane.row >> 2 < in_z ? cells : 0;
}

/* ---- triangles ---- */

/* A round of up to 32 listed cells, the lane's at place `at`: lists their triangles behind those that are listed. If they have
 * no room in front of place `room`, none is listed, and 0 returned. */
static __device__ __forceinline__ int list_round(
  const pair_codes *codes, pair_scratch *scratch, int at, uint32_t below, int listed, int room, int *all)
{
  const uint32_t cell = scratch->list[min(at, PAIR_LIST - 1)];
  const char *place = (const char *)(codes->code[0][0] + case_of_pair(scratch, cell));
  if ((cell & 31) == 0) {
    place += sizeof(codes->code[0]);
  }
  uint32_t code[PMB_MAX_TRIANGLES]; /* all under way before the first is stored */
  code[0] = at < PAIR_LIST ? *(const uint32_t *)place : 0;
  const uint32_t count = code[0] & 7;
#pragma unroll
  for (uint32_t n = 1; n < PMB_MAX_TRIANGLES; ++n) {
    code[n] = count > n ? *(const uint32_t *)(place + n * (CASES * sizeof(uint32_t))) : 0;
  }
  uint32_t *list = scratch->list + listed + sum_below<3>(count, below, all);
  if (listed + *all > room) {
    return 0;
  }
  code[0] -= count;
#pragma unroll
  for (uint32_t n = 0; n < PMB_MAX_TRIANGLES; ++n) {
    if (count > n) {
      list[n] = code[n] + cell;
    }
  }
  return 1;
}

/* The id that entry `at` of a lane's list says, in one of its slots; see id_places. */
static __device__ __forceinline__ uint32_t id_of_pair(const pair_scratch *scratch, const id_places &places, int at)
{
  const uint32_t entry = places.list[at];
  const char *slots = (const char *)scratch->slots;
  const id_slot slot = *(const id_slot *)(slots + (entry >> places.shift & ((1 << FIELD) - 1) << 3));
  return slot.first + (uint32_t)__popc(__funnelshift_l(0, slot.mask, entry));
}

/* As write_ids. Nothing on the device reads the ids again: they need not stay in its cache. */
static __device__ __forceinline__ void write_pair_ids(pair_scratch *scratch, int listed, uint32_t *d_out)
{
  const int lane = threadIdx.x & 31;
  const uint32_t t = lane * 43u >> 7, k = lane - 3 * t; /* t = lane / 3 */
  const uint32_t *list = scratch->list + t;
  const id_places places[3] = { { list, 2 + FIELD * k },
    { list + (k ? 11 : 10), k ? 2 + FIELD * (k - 1) : 2 + 2 * FIELD },
    { list + (k == 2 ? 22 : 21), k == 2 ? 2 : 2 + FIELD * (k + 1) } };
  uint32_t *to = d_out + lane;
  int left = 3 * listed, done = 0;
#pragma unroll 4
  for (; left >= ID_STEPS; left -= ID_STEPS, done += 32, to += ID_STEPS) {
    uint32_t id[3];
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      id[j] = id_of_pair(scratch, places[j], done);
    }
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      __stcs(to + 32 * j, id[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    if (lane + 32 * j < left) {
      __stcs(to + 32 * j, id_of_pair(scratch, places[j], done));
    }
  }
}

static __device__ __forceinline__ void write_pair_list(
  const pmb_cuda_output &output, pair_scratch *scratch, int listed, int64_t first)
{
  __syncwarp();
  if (!__any_sync(UINT32_MAX, first + listed > output.triangle_room)) {
    write_pair_ids(scratch, listed, output.d_triangles + 3 * first);
  }
  __syncwarp();
}

/* The triangles of the listed cells; returns where the next ones go. */
static __device__ __forceinline__ int64_t emit_pair_cells(const pmb_cuda_output &output, const pair_codes *codes,
  pair_scratch *scratch, int cells, uint32_t below, int64_t first)
{
  int listed = 0;
  for (int begin = PAIR_LIST - cells; begin < PAIR_LIST;) {
    int all;
    if (list_round(codes, scratch, begin + (int)(threadIdx.x & 31), below, listed, begin, &all)) {
      listed += all;
      begin += 32;
      __syncwarp(); /* triangles may take these cells' places now */
      continue;
    }
    write_pair_list(output, scratch, listed, first);
    first += listed;
    listed = 0;
  }
  write_pair_list(output, scratch, listed, first);
  return first + listed;
}

/* ---- bricks ---- */

/* One brick of any kind, by the code for one. */
static __device__ __noinline__ void emit_one(
  const pmb_cuda_job &job, const pmb_cuda_output &output, uint32_t index, uint32_t last, void *scratch)
{
  const row_bricks rows = row_bricks_of(job);
  const brick_head head = read_head(job, rows, index, job.d_brick[index]);
  emit_brick<false>(
    job, output, &constant_codes[job.frame.mirrored != 0], rows, head, index, last, (triangle_scratch *)scratch);
}

static_assert(sizeof(triangle_scratch) <= sizeof(pair_scratch), "room for the code for one");

/* Both of a pair; called by address, so that the compiler keeps no registers for what is rare. */
static __device__ __forceinline__ void emit_by_one(
  const pmb_cuda_job &job, const pmb_cuda_output &output, uint32_t index, uint32_t last, pair_scratch *scratch)
{
  void (*call)(const pmb_cuda_job &, const pmb_cuda_output &, uint32_t, uint32_t, void *) = emit_one;
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(call));
#endif
#pragma unroll 1
  for (uint32_t i = index; i < min(index + 2, last + 1); ++i) {
    __syncwarp();
    call(job, output, i, last, scratch);
  }
  __syncwarp();
}

/* The triangles of the pair that begins with brick `index` of the list; returns 0, with nothing done, if the pair is left to
 * the code for one. */
static __device__ __forceinline__ int emit_pair(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const pair_codes *codes, const pair_lane &lane, const pair_head &head, uint32_t index, uint32_t last,
  pair_scratch *scratch)
{
  const uint32_t base = (uint32_t)output.point_base;
  const row_ids own = read_own_ids(job, lane, head, index, last);
  const row_ids upper = read_upper_ids(job, lane, head, last);
  int64_t first = job.d_before[index].triangles;
  uint32_t cells = UINT32_MAX;
  if (__any_sync(UINT32_MAX, head.column >> PMB_CUDA_ROWS) || index == last) {
    if (__any_sync(UINT32_MAX, head.column >> PMB_CUDA_ROWS & PMB_CUDA_HAS_EXACT)) {
      return 0;
    }
    cells = index + lane.half > last ? 0 : cells_in_volume(job, lane, head.column);
  }
  const uint32_t column = head.column >> lane.place;
  const uint32_t words[4] = { head.a, head.b, head.c, head.d };
  const uint32_t next[4] = { pmb_cuda_next(head.a, column), pmb_cuda_next(head.b, column >> 1),
    pmb_cuda_next(head.c, column >> 5), pmb_cuda_next(head.d, column >> 6) };
  const uint32_t any = head.a | head.b | head.c | head.d | next[0] | next[1] | next[2] | next[3];
  const uint32_t all = head.a & head.b & head.c & head.d & next[0] & next[1] & next[2] & next[3];
  cells &= any & ~all;
  __syncwarp();
  keep_cases(lane, words, column, scratch);
  int count, below = sum_below<6>(__popc(cells), lane.below, &count);
  int parts = 1;
  if (count > PAIR_CELLS) {
    const int half = __shfl_sync(UINT32_MAX, below, 16);
    parts = max(half, count - half) > PAIR_CELLS ? 8 : 2;
  }
  const uint32_t masks[3] = { head.a ^ next[0], head.a ^ head.b, head.a ^ head.c };
  fill_own(lane, own, masks, base, scratch);
  fill_upper(lane, upper, head, base, scratch);
#pragma unroll 1
  for (int part = 0; part < parts; ++part) {
    uint32_t listed = cells;
    if (parts > 1) { /* the lists have no room for all */
      listed = (int)((threadIdx.x & 31) * parts) >> 5 == part ? cells : 0;
      below = sum_below<6>(__popc(listed), lane.below, &count);
    }
    uint32_t *list = scratch->list + PAIR_LIST - count + below;
    list_cells(listed, lane.slot * PAIR_STEP + 31, list, list + __popc(listed));
    __syncwarp();
    first = emit_pair_cells(output, codes, scratch, count, lane.below, first);
  }
  return 1;
}

/* The pairs that emit_pair has left; after the others, so that the compiler keeps no registers for them, and knows in the loop
 * over those that all lanes go on together. */
static __device__ __forceinline__ void emit_left(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const warp_turns &turns, uint32_t pairs, uint32_t last, pair_scratch *scratch)
{
#pragma unroll 1
  for (uint32_t turn = 0, i; (i = index_at(turns, turn)) < pairs; ++turn) {
    const uint32_t index = min(2 * i + (threadIdx.x >> 4 & 1), last);
    if (__any_sync(UINT32_MAX, job.d_records[index].column >> PMB_CUDA_ROWS & PMB_CUDA_HAS_EXACT)) {
      emit_by_one(job, output, 2 * i, last, scratch);
    }
  }
}

static __global__ void __launch_bounds__(32 * MAX_WARPS, BLOCKS)
  pairs_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output)
{
  extern __shared__ uint4 shared_memory[];
  pair_codes *codes = (pair_codes *)shared_memory;
  /* a shuffle, so that the compiler knows that all lanes have the same: no branch below then needs a check */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0), warps = blockDim.x >> 5;
  copy_codes(codes, constant_pair_codes + (job.frame.mirrored != 0));
  pmb_cuda_await_passes();
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  pair_scratch *scratch = (pair_scratch *)(codes + 1) + warp;
  if (active == 0) {
    return;
  }
  const uint32_t pairs = (active + 1) / 2, last = __shfl_sync(UINT32_MAX, active - 1, 0), step = gridDim.x * warps;
  const warp_turns turns = { step, pairs / step, blockIdx.x * warps + warp, warp * gridDim.x + blockIdx.x };
  const pair_lane lane = lane_of_pair(job);
  uint32_t i = index_at(turns, 0), then = index_at(turns, 1);
  uint32_t brick = job.d_brick[min(2 * then + lane.half, last)];
  const uint32_t at = min(2 * i + lane.half, last);
  pair_head next = read_pair(job, lane, at, job.d_brick[at]);
  const int from = __shfl_sync(UINT32_MAX, (int)((const char *)codes - (const char *)scratch), 0);
  codes = (pair_codes *)((char *)scratch + from); /* relative to what is in a register anyway */
  int left = 0;
  __syncthreads();
  for (uint32_t turn = 2; i < pairs; ++turn) {
    const pair_head head = next;
    const uint32_t here = i;
    i = then;
    then = index_at(turns, turn);
    /* on their way while this pair is worked on */
    next = read_pair(job, lane, min(2 * i + lane.half, last), brick);
    brick = job.d_brick[min(2 * then + lane.half, last)];
    left |= !emit_pair(job, output, codes, lane, head, 2 * here, last, scratch);
  }
  if (left) {
    emit_left(job, output, turns, pairs, last, scratch);
  }
}

/* Where it pays: bricks for a warp, at least, and triangles of an active brick, at most. For tests: with 1 in the environment
 * variable PMB_TEST_PAIRS it serves whenever it can, with 0 never. */
enum { LEAST_BRICKS = 32, MOST_TRIANGLES = 192 };

int pmb_cuda_triangles_of_pairs(pmb_cuda *cuda, const pmb_cuda_output *output, cudaError_t *error)
{
  const int threads = 32 * MAX_WARPS;
  const size_t bytes = sizeof(pair_codes) + MAX_WARPS * sizeof(pair_scratch);
  int most = 0, blocks = 0;
  const char *text = getenv("PMB_TEST_PAIRS");
  const int always = text && *text == '1', never = text && *text == '0';
  const int64_t bricks = cuda->context->active_bricks * cuda->job.isovalue_count;
  const int pays = bricks >= (int64_t)LEAST_BRICKS * BLOCKS * MAX_WARPS * cuda->processors &&
    cuda->sizes.triangles <= MOST_TRIANGLES * bricks;
  if (never || !(pays || always) ||
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->device) != cudaSuccess ||
    bytes > (size_t)most ||
    cudaFuncSetAttribute(pairs_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes) != cudaSuccess ||
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, pairs_kernel, threads, bytes) != cudaSuccess ||
    blocks < (always ? 1 : (int)BLOCKS)) {
    cudaGetLastError();
    return 0;
  }
  *error = pmb_cuda_launch_early(cuda, pairs_kernel, cuda->processors * blocks, threads, bytes, cuda->job, *output);
  return 1;
}
