/* SPDX-License-Identifier: BSD-3-Clause
 * The table from which pass triangles looks up the ids of points, and the codes that say where in it: what a step needs lies
 * where the next instruction takes it without masking. */
#ifndef PMB_CUDA_IDS_CUH
#define PMB_CUDA_IDS_CUH

#include "pmb_cuda.cuh"

/* Whether the copy engine stores what lies in shared memory. compute-sanitizer's initcheck does not see what it stores. */
#if defined(__CUDA_ARCH__) && !defined(PMB_CUDA_PLAIN_STORES) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
#define BULK_STORE 1
#else
#define BULK_STORE 0
#endif

enum {
  BLOCKS = 2,                  /* of a multiprocessor */
  MAX_WARPS = 16,              /* of a block; fewer where shared memory is small */
  CELLS = 8 * 32,              /* listed at once: of all rows, or of the lower or the upper half of them */
  LISTED = 224,                /* triangles that are listed and stored at once; a multiple of 32 */
  JOINED_LISTED = LISTED - 64, /* in bricks with joined points */
  CODES = 256 * PMB_MAX_TRIANGLES,
  CASE_ROWS = 19 /* rows of 25 up to the last that has cells */
};

/* Runs of PMB_CUDA_ROWS slots in the table of ids: x, y, z edges at column x, y and z edges at column x + 1, and the last
 * two again for x = 31, where the edge is in the next brick. The starts modulo 16 are those with the fewest bank conflicts
 * found on a smooth surface. */
enum {
  SLOT_X = 0,
  SLOT_Y1 = 25,
  SLOT_Z = 50,
  SLOT_Z1_LAST = 80,
  SLOT_Y1_LAST = 111,
  SLOT_Y = 136,
  SLOT_Z1 = 170,
  SLOTS = SLOT_Z1 + PMB_CUDA_ROWS
};

/* id of the point at column x: first + number of set bits among bits 0 to x of the mask. */
template <class ID> struct id_slot {
  alignas(2 * sizeof(ID)) uint32_t mask; /* the slot is read at once */
  ID first;
};

/* Room of a warp. A cell is row of 25 << 5 | x. */
template <class ID> struct triangle_scratch {
  ID out[3 * LISTED + 16 / sizeof(ID)]; /* placed as in the output, to 16 bytes; 16-byte aligned */
  uint4 corners[CASE_ROWS][2];          /* inside bits of the cells of a row, see find_cells */
  id_slot<ID> slots[SLOTS];
  union {
    uint2 words[PMB_CUDA_ROWS]; /* see pair_words */
    uint32_t triangles[LISTED]; /* see list_triangles */
  };
  uint16_t cells[CELLS];
};

/* What only bricks with joined points need, at the end of `out`. */
template <class ID> struct joined_scratch {
  uint2 equal[PMB_CUDA_ROWS]; /* equal bits: columns 0-31, column 32 */
  uint32_t sample_mask[PMB_CUDA_ROWS];
  ID sample_first[PMB_CUDA_ROWS], next_sample[PMB_CUDA_ROWS];
};

template <class ID> static __device__ __forceinline__ joined_scratch<ID> *joined_of(triangle_scratch<ID> *scratch)
{
  return (joined_scratch<ID> *)(scratch->out + (3 * JOINED_LISTED + 16 / sizeof(ID)));
}

/* Room of a block before those of its warps, with constant content. */
typedef struct triangle_codes {
  alignas(16) uint32_t code[2 * CODES]; /* of triangle n of a case; from CODES on for cells with x = 31 */
  uint8_t count[256];                   /* triangles of a case, and above 3 bits as many bits set */
} triangle_codes;

/* Cases here have the four corners at x in the low half, in the order (y,z), (y+1,z), (y,z+1), (y+1,z+1). */
static __host__ __device__ __forceinline__ constexpr uint32_t usual_case(uint32_t halves)
{
  uint32_t cell_case = 0;
  for (int i = 0; i < 4; ++i) {
    cell_case |= (halves >> i & 1) << 2 * i | (halves >> (4 + i) & 1) << (2 * i + 1);
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

#pragma nv_diag_suppress 20091 /* the tables of cases are the device's; here only the compiler reads them */

/* A code is three slots at bits 3, 11 and 24, so that a shift or a mask gives each of them times 8. */
static constexpr triangle_codes make_codes(int mirrored)
{
  triangle_codes codes = {};
  for (uint32_t halves = 0; halves < 256; ++halves) {
    const uint32_t cell_case = usual_case(halves);
    codes.count[halves] = (uint8_t)(pmb_triangle_count[cell_case] | ((1 << pmb_triangle_count[cell_case]) - 1) << 3);
    for (int n = 0; n < PMB_MAX_TRIANGLES; ++n) {
      const uint8_t *edges = pmb_triangle_edges[cell_case] + 3 * n;
      for (int last = 0; last < 2; ++last) {
        const uint32_t a = edge_slot(edges[0], last), b = edge_slot(edges[mirrored ? 2 : 1], last);
        const uint32_t c = edge_slot(edges[mirrored ? 1 : 2], last);
        codes.code[last * CODES + halves * PMB_MAX_TRIANGLES + n] = a << 3 | b << 11 | c << 24;
      }
    }
  }
  return codes;
}

static __device__ constexpr triangle_codes constant_codes[2] = { make_codes(0), make_codes(1) }; /* [mirrored] */

static __device__ __forceinline__ void copy_codes(triangle_codes *codes, int mirrored)
{
  const uint4 *from = (const uint4 *)&constant_codes[mirrored != 0];
  for (int i = threadIdx.x; i < (int)(sizeof(triangle_codes) / sizeof(uint4)); i += blockDim.x) {
    ((uint4 *)codes)[i] = from[i];
  }
}

/* ---- the table of ids ---- */

/* What a warp reads of a brick before it works on it. A lane's row may lie in a brick above: `here`, with its
 * continuation at column 32 in `next`: words of the map. */
typedef struct brick_head {
  uint32_t brick, word, column, exact;
  uint2 here, next;
} brick_head;

/* A lane's row of 25, whose brick it is relative to the warp's, and the row in that brick. */
typedef struct row_bricks {
  int r, row;
  uint32_t here, next;
  uint32_t first_cell; /* of the half row that a lane lists; 16 bits */
  uint32_t zero;
} row_bricks;

static __device__ __forceinline__ row_bricks row_bricks_of(const pmb_cuda_job &job)
{
  row_bricks rows;
  const int lane = threadIdx.x & 31, r = min(lane, PMB_CUDA_ROWS - 1), y = r % 5, z = r / 5;
  const uint32_t cell = (uint32_t)(((lane >> 3) * 5 + (lane >> 1 & 3)) << 5 | (lane & 1) << 4);
  /* through a shuffle, else the compiler saves registers by making these anew for every brick and cell */
  const uint32_t kept = __shfl_sync(UINT32_MAX, cell | (uint32_t)((z & 3) * 4 + (y & 3)) << 16, lane);
  rows.r = r;
  rows.row = (int)(kept >> 16);
  rows.here = job.bricks[0] * ((y >> 2) + job.bricks[1] * (z >> 2));
  rows.next = rows.here + 1;
  rows.first_cell = kept;
  rows.zero = kept >> 20;
  return rows;
}

/* Outside the volume some brick: no cell asks for what is there. */
static __device__ __forceinline__ uint32_t brick_at(const pmb_cuda_job &job, uint32_t brick, uint32_t step)
{
  return min(brick + step, job.group_bricks - 1);
}

/* Index of an active brick, from its word of the map; some index if the brick is not active. */
static __device__ __forceinline__ uint32_t index_of(uint32_t brick, uint2 map, uint32_t active)
{
  return min(map.y + __popc(map.x & ~(UINT32_MAX << (brick & 31))), active - 1);
}

/* brick: the one with this index. */
static __device__ __forceinline__ brick_head read_head(
  const pmb_cuda_job &job, const row_bricks &rows, uint32_t index, uint32_t brick)
{
  brick_head head;
  const pmb_cuda_record *record = job.d_records + index;
  head.brick = brick;
  head.word = record->word[rows.r];
  head.column = record->column;
  head.exact = record->exact;
  head.here = job.d_map[brick_at(job, brick, rows.here) >> 5];
  head.next = job.d_map[brick_at(job, brick, rows.next) >> 5];
  return head;
}

/* First ids of a lane's row. */
template <class ID> struct row_start {
  uint32_t index, first, next_first;
  ID before, next_before;           /* points before the bricks */
  int64_t triangles, triangles_end; /* before the warp's brick, and with its own */
};

template <class ID>
static __device__ __forceinline__ row_start<ID> read_start(
  const pmb_cuda_job &job, const row_bricks &rows, const brick_head &head, uint32_t index, uint32_t active)
{
  row_start<ID> start;
  start.index = index_of(brick_at(job, head.brick, rows.here), head.here, active);
  const uint32_t next = index_of(brick_at(job, head.brick, rows.next), head.next, active);
  start.first = job.d_records[start.index].first[rows.row];
  start.next_first = job.d_records[next].first[rows.row];
  start.before = (ID)job.d_before[start.index].points;
  start.next_before = (ID)job.d_before[next].points;
  /* lane by lane, though all have the same: in uniform registers they would be waited for too early */
  start.triangles = job.d_before[index + rows.zero].triangles;
  start.triangles_end = job.d_before[index + 1 + rows.zero].triangles;
  return start;
}

/* Masks of the row's points by kind. What a plain brick's cells use of a row above it follows from its own words. */
static __device__ __forceinline__ pmb_cuda_masks row_masks(
  const pmb_cuda_job &job, const brick_head &head, const row_bricks &rows, uint32_t word1, uint32_t index)
{
  pmb_cuda_masks masks;
  masks.kind[PMB_EDGE_X] = head.word ^ word1;
  masks.kind[PMB_EDGE_Y] = head.word ^ __shfl_down_sync(UINT32_MAX, head.word, 1);
  masks.kind[PMB_EDGE_Z] = head.word ^ __shfl_down_sync(UINT32_MAX, head.word, 5);
  masks.kind[PMB_SAMPLE] = 0;
  if (head.exact != PMB_CUDA_PLAIN) {
    __syncwarp(); /* a branch, not predicates: rare */
    const uint32_t exact = job.d_records[index].exact;
    for (int kind = 0; kind < PMB_KINDS && exact != PMB_CUDA_PLAIN; ++kind) {
      masks.kind[kind] = job.d_exact[exact].mask[kind][rows.row];
    }
  }
  return masks;
}

/* Fills a lane's row of the table of ids. */
template <class ID>
static __device__ __forceinline__ void fill_slots(
  const row_start<ID> &start, const pmb_cuda_masks &masks, ID base, int r, triangle_scratch<ID> *scratch)
{
  id_slot<ID> *slots = scratch->slots + r;
  const ID id = base + start.before - 1, next = base + start.next_before;
  const uint32_t y = masks.kind[PMB_EDGE_Y], z = masks.kind[PMB_EDGE_Z];
  const ID id_y = id + (ID)pmb_cuda_row_first(start.first, PMB_EDGE_Y);
  const ID id_z = id + (ID)pmb_cuda_row_first(start.first, PMB_EDGE_Z);
  slots[SLOT_X] = { masks.kind[PMB_EDGE_X], id + (ID)pmb_cuda_row_first(start.first, PMB_EDGE_X) };
  slots[SLOT_Y] = { y, id_y };
  slots[SLOT_Z] = { z, id_z };
  slots[SLOT_Y1] = { y >> 1, id_y + (ID)(y & 1) };
  slots[SLOT_Z1] = { z >> 1, id_z + (ID)(z & 1) };
  slots[SLOT_Y1_LAST] = { 0, next + (ID)pmb_cuda_row_first(start.next_first, PMB_EDGE_Y) };
  slots[SLOT_Z1_LAST] = { 0, next + (ID)pmb_cuda_row_first(start.next_first, PMB_EDGE_Z) };
}

/* Waits until what was stored last has been read from shared memory. */
static __device__ __forceinline__ void wait_for_store(void)
{
#if BULK_STORE
  if ((threadIdx.x & 31) == 0) {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
#endif
  __syncwarp();
}

/* What only bricks with joined points need: equal bits and the ids of the sample points. */
template <class ID>
static __device__ __forceinline__ void fill_joined(const pmb_cuda_job &job, const brick_head &head,
  const row_start<ID> &start, uint32_t mask, ID base, int r, triangle_scratch<ID> *scratch)
{
  const pmb_cuda_exact *exact = job.d_exact + head.exact;
  joined_scratch<ID> *joined = joined_of(scratch);
  joined->equal[r] = make_uint2(exact->equal[r], exact->equal_column >> r & 1);
  joined->sample_mask[r] = mask;
  joined->sample_first[r] = base + start.before + (ID)pmb_cuda_row_first(start.first, PMB_SAMPLE) - 1;
  joined->next_sample[r] = base + start.next_before + (ID)pmb_cuda_row_first(start.next_first, PMB_SAMPLE);
}

#endif
