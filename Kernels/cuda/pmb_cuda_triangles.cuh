/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles. It reads no sample: the id of the point on an edge is the first id of its row and kind plus the number of
 * points before it there. A warp lists a brick's cells with triangles, then their triangles, so that each lane has an id to make.
 *
 * Shared memory and issue limit the pass, hence the packed words below: instructions use their fields in place, without
 * masking. */
#ifndef PMB_CUDA_TRIANGLES_CUH
#define PMB_CUDA_TRIANGLES_CUH

#include "cuda/pmb_cuda_triangles_ids.cuh"

/* ---- cells ---- */

/* The sum of a value of BITS bits over the lanes `below` (as bits); *all: over all lanes. Uses votes, because shuffles occupy the
 * pipe of shared memory. */
template <int BITS> static __device__ __forceinline__ int sum_below(uint32_t value, uint32_t below, int *all)
{
  int sum = 0, total = 0;
#pragma unroll
  for (int bit = 0; bit < BITS; ++bit) {
    uint32_t mask = 1u << bit;
#if defined(__CUDA_ARCH__)
    /* a constant for ptxas alone: the compiler makes three instructions of value >> bit & 1 */
    asm("mov.u32 %0, %1;" : "=r"(mask) : "r"(1u << bit));
#endif
    const uint32_t vote = __ballot_sync(UINT32_MAX, (value & mask) != 0);
    sum += __popc(vote & below) << bit;
    total += __popc(vote) << bit;
  }
  *all = total;
  return sum;
}

/* A row of samples as two words of 16 columns: one half has the samples, the other those one column further. A rotation to the
 * right by x, 0 to 31, brings columns x and x + 1 to bits 0 and 16. */
static __device__ __forceinline__ uint2 pair_words(uint32_t word, uint32_t word1)
{
  return make_uint2(__byte_perm(word, word1, 0x5410), __byte_perm(word1, word, 0x7632));
}

static __device__ __forceinline__ uint32_t rotate_left(uint32_t word, uint32_t by)
{
  return __funnelshift_l(word, word, by);
}

/* The cells of a lane's half row that may have triangles, as bits; stores their corners. */
static __device__ __forceinline__ uint32_t find_cells(const pmb_cuda_job &job, const triangle_head &head,
  uint32_t column, int special, const row_bricks &rows, triangle_scratch *scratch)
{
  const uint32_t *words = (const uint32_t *)((const char *)scratch->words + (rows.places & 0xffff));
  const uint32_t a = words[0], b = words[2], c = words[2 * WORD_LAYER], d = words[2 * WORD_LAYER + 2];
  const uint32_t any = a | b | c | d, all = a & b & c & d;
  uint32_t cells = UINT32_MAX;
  if (column >> PMB_CUDA_ROWS) {
    __syncwarp();
    const uint32_t borders = column >> PMB_CUDA_ROWS; /* see pmb_cuda_borders */
    const int row = (threadIdx.x & 31) >> 1;
    const int in_y = borders & 2 ? job.last_cells[1] : PMB_BRICK_Y,
              in_z = borders & 4 ? job.last_cells[2] : PMB_BRICK_Z;
    cells = borders & 1 ? pmb_cuda_low_bits(job.last_cells[0]) : cells;
    cells = (row & 3) < in_y && row >> 2 < in_z ? cells : 0;
  }
  if (special) {
    __syncwarp();
    cells &= head_special(job, head)->cells[(threadIdx.x & 31) >> 1];
  }
  /* after a rotation to the left by 31 - x corner i of four is at bits 2 + i and 18 + i, see case_offset */
  *(uint4 *)((char *)scratch->corners + (rows.places >> 16)) =
    make_uint4(rotate_left(a, 3), rotate_left(b, 4), rotate_left(c, 5), rotate_left(d, 6));
  return (any | any >> 16) & ~(all & all >> 16) & cells >> (~rows.first_part & 16) & 0xffff;
}

/* Lists the cells of half a row from `begin` to `end`. */
static __device__ __forceinline__ void list_cells(uint32_t cells, uint32_t first_part, uint16_t *begin, uint16_t *end)
{
  while (cells) { /* from both ends, which meet in one place or pass each other */
    const uint32_t rest = cells & (cells - 1);
    const int high = 31 - __clz((int)cells), low = 31 - __clz((int)(cells ^ rest));
    end[-1] = (uint16_t)(first_part - (uint32_t)high);
    begin[0] = (uint16_t)(first_part - (uint32_t)low);
    cells = rest & ~(1u << high);
    --end;
    ++begin;
  }
}

/* The place of a listed cell's case in the table of codes, in bytes. */
static __device__ __forceinline__ uint32_t case_offset(const triangle_scratch *scratch, uint32_t cell)
{
  const uint4 corners = *(const uint4 *)((const char *)scratch->corners + (cell & 0x3f0));
  const uint32_t a = rotate_left(corners.x, cell), b = rotate_left(corners.y, cell);
  const uint32_t c = rotate_left(corners.z, cell), d = rotate_left(corners.w, cell);
  const uint32_t bits = (a & 0x00040004) | (b & 0x00080008) | (c & 0x00100010) | (d & 0x00200020);
  return bits * 0x10011 >> 16; /* lower half + 17 * upper half */
}

/* ---- triangles ---- */

/* The equal bits of cell x of row r, by corner. */
static __device__ __forceinline__ uint32_t equal_corners(triangle_scratch *scratch, int r, int x)
{
  const uint2 *words = joined_of(scratch)->equal + r;
  return (__funnelshift_r(words[0].x, words[0].y, x) & 3) | (__funnelshift_r(words[1].x, words[1].y, x) & 3) << 2 |
    (__funnelshift_r(words[5].x, words[5].y, x) & 3) << 4 | (__funnelshift_r(words[6].x, words[6].y, x) & 3) << 6;
}

/* A lane's cell: its entry, its triangles' codes, and the number of triangles of the lanes below and of all lanes. kept: the
 * triangles that exist, as bits; only where points are joined. */
typedef struct lane_cell {
  uint32_t cell, code[PMB_MAX_TRIANGLES], kept;
  int below, all;
} lane_cell;

template <bool JOINED>
static __device__ __forceinline__ lane_cell read_cell(
  const triangle_codes *codes, triangle_scratch *scratch, int at, int cell_count, uint32_t below)
{
  lane_cell c;
  c.cell = scratch->cell_list[min(at, cell_count - 1)];
  c.cell += (c.cell >> 5) * ((ROW_STEP - 1) << 5);
  const uint32_t offset = case_offset(scratch, c.cell);
  const char *place = (const char *)codes + offset;
  if ((c.cell & 31) == 0) {
    place += sizeof(codes->code[0]);
  }
  c.code[0] = at < cell_count ? *(const uint32_t *)place : 0;
  uint32_t count = c.code[0] >> CODE_COUNT;
#pragma unroll
  for (uint32_t n = 1; n < PMB_MAX_TRIANGLES; ++n) { /* all in flight before the first is stored */
    c.code[n] = count > n ? *(const uint32_t *)(place + n * (CASES * sizeof(uint32_t))) : 0;
  }
  if (JOINED) {
    const uint32_t equal = equal_corners(scratch, c.cell >> 5 & 31, ~c.cell & 31);
    c.kept = count && equal ? pmb_cell_kept(case_at(offset / sizeof(uint32_t)), equal).triangles : (1u << count) - 1;
    count = __popc(c.kept);
  }
  c.below = sum_below<3>(count, below, &c.all);
  return c;
}

/* Lists the triangles of the lanes' cells from `list` on. */
template <bool JOINED> static __device__ __forceinline__ void list_triangles(const lane_cell &c, uint32_t *list)
{
  uint32_t *place = list + c.below;
#pragma unroll
  for (uint32_t n = 0; n < PMB_MAX_TRIANGLES; ++n) {
    if (JOINED ? c.kept >> n & 1 : c.code[0] >= (n + 1) << CODE_COUNT) {
      (JOINED ? place++ : place + n)[0] = c.code[n] + c.cell;
    }
  }
}

/* ---- ids ---- */

/* 8 times the k-th slot of an entry; shift: 2 + 8 k. */
static __device__ __forceinline__ uint32_t slot_of(uint32_t entry, uint32_t shift)
{
  return entry >> shift & 0x7f8;
}

/* The id of a slot for an entry. */
static __device__ __forceinline__ uint32_t id_at(const triangle_scratch *scratch, uint32_t slot_by_8, uint32_t entry)
{
  const char *place = (const char *)scratch->slots + slot_by_8 * (sizeof(id_slot) / 8);
  const id_slot slot = *(const id_slot *)place;
  return slot.first + (uint32_t)__popc(__funnelshift_l(0, slot.mask, entry));
}

/* The id, or that of the point on a sample at an end of the edge to which the point is joined. */
static __device__ __forceinline__ uint32_t join_id(
  triangle_scratch *scratch, uint32_t slot, uint32_t entry, uint32_t id)
{
  const joined_scratch *joined = joined_of(scratch);
  const edge_place edge = edge_of_slot((int)slot);
  const int column = (int)(~entry & 31) + edge.next, upper_column = column + (edge.axis == 0);
  const int upper_row = edge.row + (edge.axis == 0 ? 0 : edge.axis == 1 ? 1 : 5);
  const uint2 lower = joined->equal[edge.row], upper = joined->equal[upper_row];
  const uint32_t at_lower = column == 32 ? lower.y : lower.x >> column & 1;
  const uint32_t at_upper = upper_column == 32 ? upper.y : upper.x >> upper_column & 1;
  const int number = 4 * edge.axis; /* the axis' edge at corner 0 */
  const int point = pmb_edge_point(number, at_lower | at_upper << pmb_edge_upper(number));
  if (point >= 8) {
    return id;
  }
  const int row = point ? upper_row : edge.row, x = point ? upper_column : column;
  return x == 32 ? joined->next_sample[row]
                 : joined->sample_first[row] + (uint32_t)__popc(joined->sample_mask[row] << (31 - x));
}

/* A lane's place in the list for ids in steps of 32: the entry, and the slot of it. */
typedef struct id_places {
  const uint32_t *list;
  uint32_t shift;
} id_places;

template <bool JOINED>
static __device__ __forceinline__ uint32_t make_id(triangle_scratch *scratch, const id_places &places, int at)
{
  const uint32_t entry = places.list[at], slot = slot_of(entry, places.shift);
  const uint32_t id = id_at(scratch, slot, entry);
  return JOINED ? join_id(scratch, slot / 8, entry, id) : id;
}

/* Writes the ids of the listed triangles. Each lane makes an id per step, so that a warp writes 32 adjacent ones. Three steps make
 * 32 triangles. */
template <bool JOINED>
static __device__ __forceinline__ void write_ids(
  const pmb_cuda_output &output, triangle_scratch *scratch, int listed, int64_t first)
{
  enum { LIMIT = 3 * (JOINED ? JOINED_LISTED : TRIANGLES_LISTED), STEPS = 3 * 32 };
  const int lane = threadIdx.x & 31, n = 3 * listed;
  const uint32_t t = lane * 43u >> 7, k = lane - 3 * t; /* t = lane / 3 */
  const uint32_t *list = scratch->triangle_list + t;
  const id_places places[3] = { { list, 2 + 8 * k }, { list + (k ? 11 : 10), k ? 8 * k - 6 : 18 },
    { list + (k == 2 ? 22 : 21), k == 2 ? 2 : 8 * k + 10 } };
  uint32_t *to = output.d_triangles + 3 * first + lane;
  __syncwarp();
  if (__any_sync(UINT32_MAX, first + listed > output.triangle_room)) {
    return;
  }
#pragma unroll
  for (int i = 0; i < LIMIT; i += STEPS) {
    if (n < i + STEPS) {
      break;
    }
    uint32_t id[3];
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      id[j] = make_id<JOINED>(scratch, places[j], i / 3);
    }
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      to[i + 32 * j] = id[j];
    }
  }
  const int done = (int)((uint32_t)n * 683u >> 16), rest = n - STEPS * done; /* done = n / STEPS, for n below 1,500 */
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    if (lane + 32 * j < rest) {
      to[STEPS * done + 32 * j] = make_id<JOINED>(scratch, places[j], 32 * done);
    }
  }
  __syncwarp();
}

/* Writes the number of a lane's cell once for each of its triangles. */
template <bool JOINED>
static __device__ __forceinline__ void write_cells(
  const pmb_cuda_job &job, const pmb_cuda_output &output, uint32_t brick, const lane_cell &c, int64_t first)
{
  const pmb_cuda_box box = pmb_cuda_box_of(job, brick);
  const int r = c.cell >> 5 & 31, count = JOINED ? __popc(c.kept) : (int)(c.code[0] >> CODE_COUNT);
  const int64_t i = box.origin[0] + (int)(~c.cell & 31), j = box.origin[1] + r % 5, k = box.origin[2] + r / 5;
  for (int n = 0; n < count && first + c.all <= output.triangle_room; ++n) {
    output.d_cells[first + c.below + n] = output.first_cell + i + (job.dims[0] - 1) * (j + (job.dims[1] - 1) * k);
  }
}

/* Writes the triangles of a brick's listed cells, or OF_CELLS their cells. first: triangle in the output. */
template <bool OF_CELLS, bool JOINED>
static __device__ __forceinline__ void emit_cells(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const triangle_codes *codes, uint32_t brick, triangle_scratch *scratch, int cell_count, uint32_t below,
  int64_t first)
{
  int listed = 0;
  for (int begin = 0; begin < cell_count; begin += 32) {
    const lane_cell c = read_cell<JOINED>(codes, scratch, begin + (int)(threadIdx.x & 31), cell_count, below);
    if (OF_CELLS) {
      write_cells<JOINED>(job, output, brick, c, first);
      first += c.all;
      continue;
    }
    if (listed + c.all > (JOINED ? JOINED_LISTED : TRIANGLES_LISTED)) {
      write_ids<JOINED>(output, scratch, listed, first);
      first += listed;
      listed = 0;
    }
    list_triangles<JOINED>(c, scratch->triangle_list + listed);
    listed += c.all;
  }
  if (!OF_CELLS) {
    write_ids<JOINED>(output, scratch, listed, first);
  }
}

template <bool OF_CELLS>
static __device__ __forceinline__ void emit_triangles(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const triangle_codes *codes, const row_bricks &rows, const triangle_head &head, uint32_t index, uint32_t last,
  triangle_scratch *scratch)
{
  const int lane = threadIdx.x & 31;
  const row_start start = read_start(job, rows, head, index, last); /* loads overlap the search for cells */
  const uint32_t column = head_column(head), word1 = pmb_cuda_next(head.word, column >> lane & 1);
  const int special = head_is_special(head);
  const uint32_t base = (uint32_t)output.point_base;
  __syncwarp();
  if (lane < PMB_CUDA_ROWS) {
    *(uint2 *)((char *)scratch->words + rows.word) = pair_words(head.word, word1);
  }
  __syncwarp();
  const uint32_t bits = find_cells(job, head, column, special, rows, scratch);
  const pmb_cuda_masks masks = row_masks(job, head, special, word1, start.index);
  int cell_count, below = sum_below<5>(__popc(bits), rows.below, &cell_count);
  list_cells(bits, rows.first_part, scratch->cell_list + below, scratch->cell_list + below + __popc(bits));
  if (!OF_CELLS && lane < PMB_CUDA_ROWS) {
    fill_slots(start, masks, base, lane, scratch);
  }
  const int joined = special && job.any_join;
  if (joined) {
    const pmb_cuda_special *d_special = head_special(job, head);
    if (lane < PMB_CUDA_ROWS) {
      fill_joined(d_special, start, masks.kind[PMB_SAMPLE], base, lane, scratch);
    }
  }
  const uint32_t brick = __shfl_sync(UINT32_MAX, head.brick, 0); /* lane 0 has a row of the warp's brick */
  __syncwarp();
  if (joined) {
    emit_cells<OF_CELLS, true>(job, output, codes, brick, scratch, cell_count, rows.below, start.triangles);
  } else {
    emit_cells<OF_CELLS, false>(job, output, codes, brick, scratch, cell_count, rows.below, start.triangles);
  }
}

/* A warp's brick in each turn. Neighbouring warps have neighbouring bricks. In the last turn, which is not full, all blocks share
 * the rest. */
typedef struct warp_turns {
  uint32_t step, full, first, last_first;
} warp_turns;

static __device__ __forceinline__ uint32_t index_at(const warp_turns &turns, uint32_t turn)
{
  return turn * turns.step + (turn < turns.full ? turns.first : turns.last_first);
}

#endif
