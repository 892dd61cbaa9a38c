/* SPDX-License-Identifier: BSD-3-Clause
 * The table of point ids for pass triangles, and the codes of places in it. */
#ifndef PMB_CUDA_TRIANGLES_IDS_CUH
#define PMB_CUDA_TRIANGLES_IDS_CUH

#include "cuda/pmb_cuda_common.cuh"

enum {
  TRIANGLE_BLOCKS = 2,                    /* of a multiprocessor */
  TRIANGLE_WARPS = 16,                    /* of a block; fewer where shared memory is small */
  MAX_CELLS = 16 * 32,                    /* of a brick */
  TRIANGLES_LISTED = 352,                 /* triangles that are listed at once */
  JOINED_LISTED = TRIANGLES_LISTED - 176, /* in bricks with joined points */
  CASES = 16 * 17,                        /* places of cases in the table of codes, see case_place */
  CASE_ROWS = 19,                         /* rows of 25 up to the last that has cells */
  WORD_LAYER = 20,                        /* places of words from one z to the next: least bank conflicts */
  ROW_STEP = 1 | 1 << 8 | 1 << 16         /* from row to row in the slots of an entry */
};

/* Runs of PMB_CUDA_ROWS slots in the table of ids: x, y, z edges at column x, y and z edges at column x + 1, and the last
 * two again for x = 31, where the edge is in the next brick. The starts modulo 16 are those with the fewest bank conflicts
 * found on a smooth surface. */
enum {
  SLOT_X = 0,
  SLOT_Y1 = 25,
  SLOT_Z = 51,
  SLOT_Y1_LAST = 82,
  SLOT_Z1_LAST = 111,
  SLOT_Y = 136,
  SLOT_Z1 = 170,
  SLOTS = SLOT_Z1 + PMB_CUDA_ROWS
};

/* The id of the point at column x is first + the number of set bits among bits 0 to x of the mask. */
struct id_slot {
  alignas(2 * sizeof(uint32_t)) uint32_t mask; /* the slot is read at once */
  uint32_t first;
};

/* Shared memory of a warp. Entries of the lists have 31 - x, the distance to shift, in the lowest 5 bits. Above them a cell has its
 * row of 25; a triangle has three slots of 8 bits. */
struct triangle_scratch {
  uint4 corners[CASE_ROWS][2]; /* inside bits of the cells of a row, see find_cells; the upper half row first */
  union {
    uint2 words[4 * WORD_LAYER + 5]; /* see pair_words; row (y,z) at z * WORD_LAYER + y */
    uint32_t triangle_list[TRIANGLES_LISTED];
  };
  id_slot slots[SLOTS];
  uint16_t cell_list[MAX_CELLS];
};

/* More for bricks with joined points, at the end of `triangle_list`. */
struct joined_scratch {
  uint2 equal[PMB_CUDA_ROWS]; /* equal bits: columns 0-31, column 32 */
  uint32_t sample_first[PMB_CUDA_ROWS], next_sample[PMB_CUDA_ROWS];
  uint32_t sample_mask[PMB_CUDA_ROWS];
};

static __device__ __forceinline__ joined_scratch *joined_of(triangle_scratch *scratch)
{
  static_assert(
    sizeof(joined_scratch) <= (TRIANGLES_LISTED - JOINED_LISTED) * sizeof(uint32_t), "room for joined points");
  return (joined_scratch *)(scratch->triangle_list + JOINED_LISTED);
}

/* Constants of a block, before its warps' memory. The code of triangle n of a case has three slots relative to the cell's row, as in
 * an entry, and above them, for n = 0, the number of the case's triangles. [1]: for cells with x = 31. */
typedef struct triangle_codes {
  alignas(16) uint32_t code[2][PMB_MAX_TRIANGLES][CASES];
} triangle_codes;

enum { CODE_COUNT = 29 };

/* The place of a case in the table: the bits of the four corners at x, in the order (y,z), (y+1,z), (y,z+1), (y+1,z+1), plus 17
 * times those at x + 1. 16 times would give more bank conflicts. */
static __host__ __device__ __forceinline__ constexpr uint32_t case_place(uint32_t cell_case)
{
  uint32_t place = 0;
  for (int i = 0; i < 4; ++i) {
    place += (cell_case >> 2 * i & 1) << i;
    place += (cell_case >> (2 * i + 1) & 1) * (17u << i);
  }
  return place;
}

static __host__ __device__ __forceinline__ constexpr uint32_t case_at(uint32_t place)
{
  uint32_t cell_case = 0;
  for (int i = 0; i < 4; ++i) {
    cell_case |= (place % 17 >> i & 1) << 2 * i | (place / 17 >> i & 1) << (2 * i + 1);
  }
  return cell_case;
}

/* The slot of an edge, relative to its cell's row. */
static constexpr uint32_t edge_slot(int edge, int last_column)
{
  const int corner = pmb_edge_lower(edge), axis = pmb_edge_axis(edge);
  const int y = last_column ? SLOT_Y1_LAST : SLOT_Y1, z = last_column ? SLOT_Z1_LAST : SLOT_Z1;
  const int run = axis == 0 ? SLOT_X : axis == 1 ? (corner & 1 ? y : SLOT_Y) : corner & 1 ? z : SLOT_Z;
  return (uint32_t)(run + (corner >> 2) * 5 + (corner >> 1 & 1));
}

/* The edge of a slot: its axis, the row of its lower end, and whether that end is one column beyond the cell's. */
typedef struct edge_place {
  int axis, row, next;
} edge_place;

static __device__ __forceinline__ edge_place edge_of_slot(int slot)
{
  const int upper = slot >= SLOT_Z1 ? SLOT_Z1 : slot >= SLOT_Y ? SLOT_Y : SLOT_Z1_LAST;
  const int lower = slot >= SLOT_Y1_LAST ? SLOT_Y1_LAST
    : slot >= SLOT_Z                     ? SLOT_Z
    : slot >= SLOT_Y1                    ? SLOT_Y1
                                         : SLOT_X;
  const int run = slot >= SLOT_Z1_LAST ? upper : lower;
  const int axis = run == SLOT_X ? 0 : run == SLOT_Y || run == SLOT_Y1 || run == SLOT_Y1_LAST ? 1 : 2;
  return { axis, slot - run, run != SLOT_X && run != SLOT_Y && run != SLOT_Z };
}

#pragma nv_diag_suppress 20091 /* the tables of cases are the device's; only the compiler reads them here */

static constexpr triangle_codes make_codes(int mirrored)
{
  triangle_codes codes = {};
  for (uint32_t cell_case = 0; cell_case < 256; ++cell_case) {
    const uint32_t place = case_place(cell_case);
    for (int last = 0; last < 2; ++last) {
      for (int n = 0; n < pmb_triangle_count[cell_case]; ++n) {
        const uint8_t *edges = pmb_triangle_edges[cell_case] + 3 * n;
        const uint32_t a = edge_slot(edges[0], last), b = edge_slot(edges[mirrored ? 2 : 1], last);
        const uint32_t c = edge_slot(edges[mirrored ? 1 : 2], last);
        codes.code[last][n][place] = a << 5 | b << 13 | c << 21;
      }
      codes.code[last][0][place] |= (uint32_t)pmb_triangle_count[cell_case] << CODE_COUNT;
    }
  }
  return codes;
}

static __device__ constexpr triangle_codes constant_codes[2] = { make_codes(0), make_codes(1) }; /* [mirrored] */

static __device__ __forceinline__ void copy_codes(triangle_codes *codes, const triangle_codes *d_codes)
{
  const uint4 *from = (const uint4 *)d_codes;
  for (int i = threadIdx.x; i < (int)(sizeof(triangle_codes) / sizeof(uint4)); i += blockDim.x) {
    ((uint4 *)codes)[i] = from[i];
  }
}

/* ---- the table of ids ---- */

/* A brick's data that a warp reads ahead: in each lane a word of its record (rows first, see head_column), and the word of the map
 * for the brick of the lane's row, which may be a brick above. */
typedef struct triangle_head {
  uint32_t word, brick;
  uint2 map;
} triangle_head;

/* Constants of a lane, which has a row of 25, in the warp's brick or one above, and half a row of cells. */
typedef struct row_bricks {
  uint32_t brick;      /* the row's brick, relative */
  uint32_t below;      /* the lanes below, as bits */
  uint32_t first_part; /* entry of the half row's first cell */
  uint32_t places;     /* in bytes, in `words`: of the half row's words; above 16 bits, in `corners` */
  uint32_t word;       /* place of the row in `words`, in bytes */
  uint64_t first;      /* address in the first record: points before the row */
} row_bricks;

/* Hides from the compiler how a value was computed, and that lanes may share it. Else the compiler recomputes it for each brick and
 * cell, and waits for loads from a common address, to put them into a uniform register. */
static __device__ __forceinline__ uint32_t keep(uint32_t value)
{
  return __shfl_sync(UINT32_MAX, value, threadIdx.x & 31);
}

static __device__ __forceinline__ row_bricks row_bricks_of(const pmb_cuda_job &job)
{
  row_bricks rows;
  const uint32_t lane = threadIdx.x & 31, r = min(lane, (uint32_t)PMB_CUDA_ROWS - 1), y = r % 5, z = r / 5;
  const uint32_t cell_y = lane >> 1 & 3, cell_z = lane >> 3, half = lane & 1, cell_row = cell_z * 5 + cell_y;
  const uint32_t words = (cell_z * WORD_LAYER + cell_y) * (uint32_t)sizeof(uint2) + half * (uint32_t)sizeof(uint32_t);
  const uint32_t corners = (cell_row * 2 + 1 - half) * (uint32_t)sizeof(uint4);
  rows.brick = keep(job.bricks[0] * ((y >> 2) + job.bricks[1] * (z >> 2)));
  rows.first_part = keep(cell_row << 5 | (31 - 16 * half));
  rows.places = keep(words | corners << 16);
  rows.below = keep((1u << lane) - 1);
  rows.word = keep((z * WORD_LAYER + y) * (uint32_t)sizeof(uint2));
  rows.first =
    __shfl_sync(UINT32_MAX, (unsigned long long)(uintptr_t)(job.d_records->first + (z & 3) * 4 + (y & 3)), (int)lane);
  return rows;
}

/* Outside the volume an arbitrary brick, in which no cell has points. */
static __device__ __forceinline__ uint32_t brick_at(const pmb_cuda_job &job, uint32_t brick, uint32_t step)
{
  return min(brick + step, job.group_bricks - 1);
}

/* brick: the number of the brick at this index. */
static __device__ __forceinline__ triangle_head read_triangle_head(
  const pmb_cuda_job &job, const row_bricks &rows, uint32_t index, uint32_t brick)
{
  triangle_head head;
  head.brick = brick_at(job, brick, rows.brick);
  head.word = ((const uint32_t *)(job.d_records + index))[threadIdx.x & 31];
  head.map = job.d_map[head.brick >> 5];
  return head;
}

enum {
  LANE_COLUMN = offsetof(pmb_cuda_record, column) / sizeof(uint32_t),
  LANE_SPECIAL = offsetof(pmb_cuda_record, special) / sizeof(uint32_t)
};

static_assert(LANE_COLUMN < 32 && LANE_SPECIAL < 32 && sizeof(pmb_cuda_record) >= 32 * sizeof(uint32_t) &&
    offsetof(pmb_cuda_record, word) == 0,
  "a lane reads a word of a record");

/* The record's `column`; whether there is a special record, and which. */
static __device__ __forceinline__ uint32_t head_column(const triangle_head &head)
{
  return __shfl_sync(UINT32_MAX, head.word, LANE_COLUMN);
}

static __device__ __forceinline__ int head_is_special(const triangle_head &head)
{
  return __any_sync(UINT32_MAX, (threadIdx.x & 31) == LANE_SPECIAL && head.word != PMB_CUDA_PLAIN);
}

static __device__ __forceinline__ const pmb_cuda_special *head_special(
  const pmb_cuda_job &job, const triangle_head &head)
{
  return job.d_special + __shfl_sync(UINT32_MAX, head.word, LANE_SPECIAL);
}

/* For the first ids of a lane's row. */
struct row_start {
  uint32_t index, first, next_first;
  uint32_t before, next_before; /* points before the bricks */
  int64_t triangles;            /* before the warp's brick */
};

/* The points before the lane's row, from a record. */
static __device__ __forceinline__ uint32_t read_first(const row_bricks &rows, uint32_t index)
{
  const uint64_t address = rows.first + index * (uint64_t)sizeof(pmb_cuda_record);
#if defined(__CUDA_ARCH__) /* tells the compiler that it is global memory */
  return *(const uint32_t *)__cvta_global_to_generic(address);
#else
  return *(const uint32_t *)(uintptr_t)address;
#endif
}

static __device__ __forceinline__ row_start read_start(
  const pmb_cuda_job &job, const row_bricks &rows, const triangle_head &head, uint32_t index, uint32_t last)
{
  row_start start;
  /* indices of active bricks, else arbitrary ones; the next brick along x follows, if both are active */
  const uint32_t place = head.brick & 31;
  const uint32_t before = head.map.y + __popc(head.map.x & ~(UINT32_MAX << place));
  const uint32_t next = min(before + (head.map.x >> place & 1), last);
  start.index = min(before, last);
  start.first = read_first(rows, start.index);
  start.next_first = read_first(rows, next);
  start.before = (uint32_t)job.d_before[start.index].points;
  start.next_before = (uint32_t)job.d_before[next].points;
  start.triangles = job.d_before[index].triangles;
  return start;
}

/* The masks of the row's points by kind. In plain bricks they follow from the words, also for rows above the brick. */
static __device__ __forceinline__ pmb_cuda_masks row_masks(
  const pmb_cuda_job &job, const triangle_head &head, int special, uint32_t word1, uint32_t index)
{
  pmb_cuda_masks masks;
  masks.kind[PMB_EDGE_X] = head.word ^ word1;
  masks.kind[PMB_EDGE_Y] = head.word ^ __shfl_down_sync(UINT32_MAX, head.word, 1);
  masks.kind[PMB_EDGE_Z] = head.word ^ __shfl_down_sync(UINT32_MAX, head.word, 5);
  masks.kind[PMB_SAMPLE] = 0;
  if (special) {
    __syncwarp(); /* a branch, not predicates: rare */
    const uint32_t r = min(threadIdx.x & 31, (uint32_t)PMB_CUDA_ROWS - 1), row = (r / 5 & 3) * 4 + (r % 5 & 3);
    const uint32_t row_special = job.d_records[index].special;
    for (int kind = 0; kind < PMB_KINDS && row_special != PMB_CUDA_PLAIN; ++kind) {
      masks.kind[kind] = job.d_special[row_special].mask[kind][row];
    }
  }
  return masks;
}

/* Fills a lane's row of the table of ids. */
static __device__ __forceinline__ void fill_slots(
  const row_start &start, const pmb_cuda_masks &masks, uint32_t base, int r, triangle_scratch *scratch)
{
  id_slot *slots = scratch->slots + r;
  const uint32_t id = base + start.before - 1, next = base + start.next_before;
  const uint32_t y = masks.kind[PMB_EDGE_Y], z = masks.kind[PMB_EDGE_Z];
  const uint32_t id_y = id + (uint32_t)pmb_cuda_row_first(start.first, PMB_EDGE_Y);
  const uint32_t id_z = id + (uint32_t)pmb_cuda_row_first(start.first, PMB_EDGE_Z);
  slots[SLOT_X] = { masks.kind[PMB_EDGE_X], id + (uint32_t)pmb_cuda_row_first(start.first, PMB_EDGE_X) };
  slots[SLOT_Y] = { y, id_y };
  slots[SLOT_Z] = { z, id_z };
  slots[SLOT_Y1] = { y >> 1, id_y + (uint32_t)(y & 1) };
  slots[SLOT_Z1] = { z >> 1, id_z + (uint32_t)(z & 1) };
  slots[SLOT_Y1_LAST] = { 0, next + (uint32_t)pmb_cuda_row_first(start.next_first, PMB_EDGE_Y) };
  slots[SLOT_Z1_LAST] = { 0, next + (uint32_t)pmb_cuda_row_first(start.next_first, PMB_EDGE_Z) };
}

/* Fills the joined_scratch: equal bits, and the ids of points on samples. */
static __device__ __forceinline__ void fill_joined(const pmb_cuda_special *special, const row_start &start,
  uint32_t mask, uint32_t base, int r, triangle_scratch *scratch)
{
  joined_scratch *joined = joined_of(scratch);
  joined->equal[r] = make_uint2(special->equal[r], special->equal_column >> r & 1);
  joined->sample_mask[r] = mask;
  joined->sample_first[r] = base + start.before + (uint32_t)pmb_cuda_row_first(start.first, PMB_SAMPLE) - 1;
  joined->next_sample[r] = base + start.next_before + (uint32_t)pmb_cuda_row_first(start.next_first, PMB_SAMPLE);
}

#endif
