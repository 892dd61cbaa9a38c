/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles. No sample is read: the id of the point on an edge is the first id of its row and kind plus the number
 * of points before it there. A warp has a brick; it lists the cells with triangles, then their triangles, so that every
 * lane has a triangle to work on, and stores what it makes through shared memory in pieces of 16 bytes.
 *
 * The pass is bound by shared memory and by issue, hence the packed words below: what a step needs lies where the next
 * instruction takes it without masking. */
#include "pmb_cuda.cuh"

/* Whether the copy engine stores what lies in shared memory. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
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

/* ---- cells ---- */

/* Sum over the lanes below of a value of so many bits; all: over all lanes. By votes, because shuffles take the pipe of
 * shared memory. */
template <int BITS> static __device__ __forceinline__ int sum_below(uint32_t value, int *all)
{
  const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
  int sum = 0;
#pragma unroll
  for (int bit = 0; bit < BITS; ++bit) {
    uint32_t mask = 1u << bit;
#if defined(__CUDA_ARCH__)
    /* a constant that only ptxas knows: the compiler makes three instructions of value >> bit & 1 */
    asm("mov.u32 %0, %1;" : "=r"(mask) : "r"(1u << bit));
#endif
    const uint32_t vote = __ballot_sync(UINT32_MAX, (value & mask) != 0);
    sum += __popc(vote & below) << bit;
  }
  *all = __shfl_sync(UINT32_MAX, sum + (int)value, 31);
  return sum;
}

/* Both words of a row of samples, 16 columns each: the samples in one half, those at the next column in the other. A
 * rotation to the right by x, 0-31, brings columns x and x + 1 to bits 0 and 16. */
static __device__ __forceinline__ uint2 pair_words(uint32_t word, uint32_t word1)
{
  return make_uint2(__byte_perm(word, word1, 0x5410), __byte_perm(word1, word, 0x7632));
}

static __device__ __forceinline__ uint32_t rotate_right(uint32_t word, uint32_t by)
{
  return __funnelshift_r(word, word, by);
}

/* The cells of half a row that may have triangles, as bits; keeps their corners. Two lanes share a row. */
template <class ID>
static __device__ __forceinline__ uint32_t find_cells(
  const pmb_cuda_job &job, const brick_head &head, triangle_scratch<ID> *scratch)
{
  const int lane = threadIdx.x & 31, row = lane >> 1, half = lane & 1, r = (row >> 2) * 5 + (row & 3);
  const uint32_t *words = (const uint32_t *)(scratch->words + r) + half;
  const uint32_t a = words[0], b = words[2], c = words[10], d = words[12];
  const uint32_t any = a | b | c | d, all = a & b & c & d;
  uint32_t cells = UINT32_MAX;
  if (head.column >> PMB_CUDA_ROWS) {
    __syncwarp();
    const uint32_t borders = head.column >> PMB_CUDA_ROWS; /* see pmb_cuda_borders */
    const int in_y = borders & 2 ? job.last_cells[1] : PMB_BRICK_Y,
              in_z = borders & 4 ? job.last_cells[2] : PMB_BRICK_Z;
    cells = borders & 1 ? pmb_cuda_low_bits(job.last_cells[0]) : cells;
    cells = (row & 3) < in_y && row >> 2 < in_z ? cells : 0;
  }
  if (head.exact != PMB_CUDA_PLAIN) {
    __syncwarp();
    const pmb_cuda_exact *exact = job.d_exact + head.exact;
    const uint32_t valid = exact->valid[r] & exact->valid[r + 1] & exact->valid[r + 5] & exact->valid[r + 6];
    const uint32_t column = exact->valid_column >> r;
    cells &= valid & pmb_cuda_next(valid, column & column >> 1 & column >> 5 & column >> 6 & 1);
  }
  /* corner i of four is at bits i and 16 + i after the rotation */
  scratch->corners[r][half] = make_uint4(a, rotate_right(b, 31), rotate_right(c, 30), rotate_right(d, 29));
  return (any | any >> 16) & ~(all & all >> 16) & cells >> 16 * half & 0xffff;
}

/* Lists the cells of half a row; end: behind the place of its last. */
static __device__ __forceinline__ void list_cells(uint32_t cells, uint32_t first_cell, uint16_t *end)
{
  for (; cells; --end) {
    const int x = 31 - __clz((int)cells);
    end[-1] = (uint16_t)(first_cell | (uint32_t)x);
    cells ^= 1u << x;
  }
}

/* The case of a listed cell. */
template <class ID>
static __device__ __forceinline__ uint32_t case_of(const triangle_scratch<ID> *scratch, uint32_t cell)
{
  const uint4 corners = *(const uint4 *)((const char *)scratch->corners + (cell >> 4) * sizeof(uint4));
  const uint32_t a = rotate_right(corners.x, cell), b = rotate_right(corners.y, cell);
  const uint32_t c = rotate_right(corners.z, cell), d = rotate_right(corners.w, cell);
  const uint32_t ab = (a & 0x55555555) | (b & 0xaaaaaaaa), cd = (c & 0x55555555) | (d & 0xaaaaaaaa);
  const uint32_t bits = ((ab & 0x33333333) | (cd & 0xcccccccc)) & 0x000f000f;
  return (bits | bits >> 12) & 0xff;
}

/* ---- triangles ---- */

/* Eight equal bits of cell (row r, x), by corner. */
template <class ID>
static __device__ __forceinline__ uint32_t equal_corners(triangle_scratch<ID> *scratch, int r, int x)
{
  const uint2 *words = joined_of(scratch)->equal + r;
  return (__funnelshift_r(words[0].x, words[0].y, x) & 3) | (__funnelshift_r(words[1].x, words[1].y, x) & 3) << 2 |
    (__funnelshift_r(words[5].x, words[5].y, x) & 3) << 4 | (__funnelshift_r(words[6].x, words[6].y, x) & 3) << 6;
}

/* Whether triangle n of a case keeps three different points. */
static __device__ __forceinline__ int is_kept(uint32_t cell_case, int n, uint32_t equal)
{
  const uint8_t *edges = pmb_triangle_edges[cell_case] + 3 * n;
  const int a = pmb_edge_point(edges[0], equal), b = pmb_edge_point(edges[1], equal);
  const int c = pmb_edge_point(edges[2], equal);
  return a != b && b != c && c != a;
}

/* Which triangles of a cell exist, as bits. */
template <class ID, bool JOINED>
static __device__ __forceinline__ uint32_t kept_triangles(
  triangle_scratch<ID> *scratch, uint32_t cell, uint32_t halves, uint32_t count)
{
  uint32_t kept = count >> 3;
  if (JOINED) {
    const uint32_t equal = equal_corners(scratch, cell >> 5, cell & 31);
    for (int n = 0; equal && kept >> n; ++n) {
      kept &= ~((uint32_t)!is_kept(usual_case(halves), n, equal) << n);
    }
  }
  return kept;
}

/* A lane's cell: its first entry of the list, which of its triangles exist, how many those of the lanes below and of all
 * lanes have. An entry: place of the triangle's code in bytes << 17, the cell's row << 5, 31 - x. */
typedef struct lane_cell {
  uint32_t entry, kept;
  int below, all;
} lane_cell;

enum { ENTRY_STEP = (int)sizeof(uint32_t) << 17 }; /* to the entry of the cell's next triangle */

template <class ID, bool JOINED>
static __device__ __forceinline__ lane_cell read_cell(
  const triangle_codes *codes, triangle_scratch<ID> *scratch, int at, int cells)
{
  lane_cell c;
  const uint32_t cell = scratch->cells[min(at, cells - 1)];
  const uint32_t halves = case_of(scratch, cell);
  const uint32_t count = at < cells ? codes->count[halves] : 0;
  c.kept = kept_triangles<ID, JOINED>(scratch, cell, halves, count);
  c.entry = halves * (PMB_MAX_TRIANGLES * ENTRY_STEP) + (cell ^ 31);
  if ((cell & 31) == 31) {
    c.entry += CODES * ENTRY_STEP;
  }
  const uint32_t n = JOINED ? __popc(c.kept) : count & 7;
  c.below = sum_below<3>(n, &c.all);
  return c;
}

/* Lists the triangles of the lanes' cells from `list` on. */
template <bool JOINED> static __device__ __forceinline__ void list_triangles(const lane_cell &c, uint32_t *list)
{
  uint32_t *place = list + c.below;
#pragma unroll
  for (int n = 0; n < PMB_MAX_TRIANGLES; ++n) {
    if (c.kept >> n & 1) {
      (JOINED ? place++ : place + n)[0] = c.entry + n * ENTRY_STEP;
    }
  }
}

/* The id in a slot; left: 31 - x, more bits above. */
template <class ID>
static __device__ __forceinline__ ID id_at(const char *row_slots, uint32_t slot_by_8, uint32_t left)
{
  const id_slot<ID> slot = *(const id_slot<ID> *)(row_slots + slot_by_8 * (sizeof(id_slot<ID>) / 8));
  return slot.first + (ID)__popc(__funnelshift_l(0, slot.mask, left));
}

/* Ids of a triangle's points that are joined to samples. */
template <class ID>
static __device__ __forceinline__ void join_ids(
  triangle_scratch<ID> *scratch, uint32_t entry, int mirrored, ID ids[3])
{
  const joined_scratch<ID> *joined = joined_of(scratch);
  const int x = ~entry & 31, r = entry >> 5 & 31;
  const uint32_t equal = equal_corners(scratch, r, x), n = (entry >> 17) / sizeof(uint32_t) % CODES;
  const uint8_t *edges = pmb_triangle_edges[usual_case(n / PMB_MAX_TRIANGLES)] + 3 * (n % PMB_MAX_TRIANGLES);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int point = equal ? pmb_edge_point(edges[mirrored && i ? 3 - i : i], equal) : PMB_CELL_EDGES + 8;
    if (point < 8) {
      const int column = x + (point & 1), row = r + (point >> 2) * 5 + (point >> 1 & 1);
      ids[i] = column == 32 ? joined->next_sample[row]
                            : joined->sample_first[row] + (ID)__popc(joined->sample_mask[row] << (31 - column));
    }
  }
}

/* ---- the output ---- */

/* Stores n triangles, whose ids lie in scratch->out from `skip` on, as pieces of 16 bytes; what does not fill a piece one
 * by one. d_out: where the first piece begins. */
template <class ID>
static __device__ __forceinline__ void store_staged(triangle_scratch<ID> *scratch, ID *d_out, int skip, int n)
{
  const int lane = threadIdx.x & 31, piece = 16 / sizeof(ID), end = skip + 3 * n;
  const int full_begin = skip ? piece : 0, full_end = max(end & -piece, full_begin);
#if BULK_STORE
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (lane == 0 && full_begin < full_end) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(d_out + full_begin),
                 "r"((uint32_t)__cvta_generic_to_shared(scratch->out + full_begin)),
                 "r"((full_end - full_begin) * (int)sizeof(ID))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
#else
  __syncwarp();
#pragma unroll 1
  for (int i = full_begin / piece + lane; i < full_end / piece; i += 32) {
    ((uint4 *)d_out)[i] = ((const uint4 *)scratch->out)[i];
  }
#endif
  const int head = lane < piece, i = head ? lane : full_end + lane - piece;
  if (lane < 2 * piece && i >= (head ? skip : 0) && i < (head ? min(full_begin, end) : end)) {
    d_out[i] = scratch->out[i];
  }
}

/* Makes the ids of triangles begin to begin + 31 of the list and puts them at `out`; beyond the list's end copies of the
 * last. */
template <class ID, bool JOINED>
static __device__ __forceinline__ void make_ids(
  const triangle_codes *codes, triangle_scratch<ID> *scratch, int at, int mirrored, ID *out)
{
  const uint32_t entry = scratch->triangles[at];
  const uint32_t code = *(const uint32_t *)((const char *)codes->code + (entry >> 17));
  const char *row_slots = (const char *)scratch->slots + (entry >> 5 & 31) * sizeof(id_slot<ID>);
  ID ids[3] = { id_at<ID>(row_slots, code & 0x7f8, entry), id_at<ID>(row_slots, code >> 8 & 0x7f8, entry),
    id_at<ID>(row_slots, code >> 21, entry) };
  if (JOINED) {
    join_ids(scratch, entry, mirrored, ids);
  }
  out[0] = ids[0];
  out[1] = ids[1];
  out[2] = ids[2];
}

/* Writes the cells of the listed triangles. */
template <class ID>
static __device__ __forceinline__ void write_cells(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const pmb_cuda_box &box, const triangle_scratch<ID> *scratch, int listed, int64_t first)
{
  for (int n = threadIdx.x & 31; n < listed; n += 32) {
    const uint32_t entry = scratch->triangles[n];
    const int r = entry >> 5 & 31;
    const int64_t i = box.origin[0] + (int)(~entry & 31), j = box.origin[1] + r % 5, k = box.origin[2] + r / 5;
    output.d_cells[first + n] = i + (job.dims[0] - 1) * (j + (job.dims[1] - 1) * k);
  }
}

/* Writes the listed triangles. */
template <class ID, bool JOINED>
static __device__ __forceinline__ void write_triangles(const pmb_cuda_output &output, const triangle_codes *codes,
  triangle_scratch<ID> *scratch, int listed, int mirrored, int64_t first)
{
  const int lane = threadIdx.x & 31;
  ID *d_out = (ID *)output.d_triangles + 3 * first;
  const int skip = (int)((uintptr_t)d_out & 15) / (int)sizeof(ID);
  ID *out = scratch->out + skip + 3 * lane;
  wait_for_store();
  for (int n = lane; n < listed + lane; n += 32, out += 96) {
    make_ids<ID, JOINED>(codes, scratch, min(n, listed - 1), mirrored, out);
  }
  store_staged(scratch, d_out - skip, skip, listed);
}

template <class ID, bool JOINED>
static __device__ __forceinline__ void write_list(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const triangle_codes *codes, uint32_t brick, triangle_scratch<ID> *scratch, int listed, int64_t first)
{
  __syncwarp();
  if (output.d_triangles) {
    write_triangles<ID, JOINED>(output, codes, scratch, listed, job.frame.mirrored, first);
  }
  if (output.d_cells) {
    write_cells(job, output, pmb_cuda_box_of(job, brick), scratch, listed, first);
  }
  __syncwarp();
}

/* The triangles of a brick's listed cells; returns where the next ones go. */
template <class ID, bool JOINED>
static __device__ __forceinline__ int64_t emit_cells(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const triangle_codes *codes, uint32_t brick, triangle_scratch<ID> *scratch, int cells, int64_t first)
{
  int listed = 0;
  for (int begin = 0; begin < cells; begin += 32) {
    const lane_cell c = read_cell<ID, JOINED>(codes, scratch, begin + (int)(threadIdx.x & 31), cells);
    if (listed + c.all > (JOINED ? JOINED_LISTED : LISTED)) {
      write_list<ID, JOINED>(job, output, codes, brick, scratch, listed, first);
      first += listed;
      listed = 0;
    }
    list_triangles<JOINED>(c, scratch->triangles + listed);
    listed += c.all;
  }
  write_list<ID, JOINED>(job, output, codes, brick, scratch, listed, first);
  return first + listed;
}

template <class ID>
static __device__ __forceinline__ void emit_brick(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const triangle_codes *codes, const row_bricks &rows, const brick_head &head, uint32_t index, uint32_t active,
  triangle_scratch<ID> *scratch)
{
  const int lane = threadIdx.x & 31;
  const row_start<ID> start =
    read_start<ID>(job, rows, head, index, active); /* on its way while cells are looked for */
  const uint32_t word1 = pmb_cuda_next(head.word, head.column >> rows.r & 1);
  const int joined = head.exact != PMB_CUDA_PLAIN && job.any_join;
  const ID base = (ID)output.point_base;
  __syncwarp();
  if (lane < PMB_CUDA_ROWS) {
    scratch->words[lane] = pair_words(head.word, word1);
  }
  __syncwarp();
  const uint32_t bits = find_cells<ID>(job, head, scratch);
  const pmb_cuda_masks masks = row_masks(job, head, rows, word1, start.index);
  int cells, below = sum_below<5>(__popc(bits), &cells);
  const int several = cells > CELLS;
  uint32_t part = bits;
  if (several) { /* the lower half of the rows first */
    cells = __shfl_sync(UINT32_MAX, below, 16);
    part = lane < 16 ? bits : 0;
  }
  list_cells(part, rows.first_cell, scratch->cells + below + __popc(part));
  if (lane < PMB_CUDA_ROWS) {
    fill_slots<ID>(start, masks, base, lane, scratch);
  }
  if (joined) {
    wait_for_store();
    if (lane < PMB_CUDA_ROWS) {
      fill_joined<ID>(job, head, start, masks.kind[PMB_SAMPLE], base, lane, scratch);
    }
  }
  int64_t first = start.triangles;
  if (__any_sync(UINT32_MAX, start.triangles_end > output.triangle_room)) {
    return;
  }
  for (int left = several;; --left) {
    __syncwarp();
    first = joined ? emit_cells<ID, true>(job, output, codes, head.brick, scratch, cells, first)
                   : emit_cells<ID, false>(job, output, codes, head.brick, scratch, cells, first);
    if (left == 0) {
      return;
    }
    part = bits ^ part;
    below = sum_below<5>(__popc(part), &cells);
    list_cells(part, rows.first_cell, scratch->cells + below + __popc(part));
  }
}

/* Which bricks a warp works on, turn by turn: neighbouring warps have neighbouring bricks, but in the last turn, which
 * is not full, the blocks share what is left. */
typedef struct warp_turns {
  uint32_t step, full, first, last_first;
} warp_turns;

static __device__ __forceinline__ uint32_t index_at(const warp_turns &turns, uint32_t turn)
{
  return turn * turns.step + (turn < turns.full ? turns.first : turns.last_first);
}

template <class ID>
static __global__ void __launch_bounds__(32 * MAX_WARPS, BLOCKS)
  triangles_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output)
{
  extern __shared__ uint4 shared_memory[];
  triangle_codes *codes = (triangle_codes *)shared_memory;
  /* a shuffle, so that the compiler knows that all lanes have the same: no branch below then needs a check */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0), warps = blockDim.x >> 5;
  const uint32_t lane = threadIdx.x & 31, active = min(job.d_counters->active, job.record_capacity);
  triangle_scratch<ID> *scratch = (triangle_scratch<ID> *)(codes + 1) + warp;
  if (active == 0) {
    return;
  }
  const uint32_t step = gridDim.x * warps;
  const warp_turns turns = { step, active / step, blockIdx.x * warps + warp, warp * gridDim.x + blockIdx.x };
  const row_bricks rows = row_bricks_of(job);
  uint32_t i = index_at(turns, 0), at = 1;                               /* at: lane that has the next brick */
  uint32_t bricks = job.d_brick[min(index_at(turns, lane), active - 1)]; /* of 32 turns, a lane each */
  brick_head next = read_head(job, rows, min(i, active - 1), __shfl_sync(UINT32_MAX, bricks, 0));
  copy_codes(codes, job.frame.mirrored);
  __syncthreads();
  for (uint32_t turn = 1; i < active; ++turn, ++at) {
    const brick_head head = next;
    const uint32_t here = i;
    if (at == 32) {
      bricks = job.d_brick[min(index_at(turns, turn + lane), active - 1)];
      at = 0;
    }
    i = index_at(turns, turn);
    /* on its way while this brick is worked on */
    next = read_head(job, rows, min(i, active - 1), __shfl_sync(UINT32_MAX, bricks, at));
    emit_brick<ID>(job, output, codes, rows, head, here, active, scratch);
  }
#if BULK_STORE
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

static size_t shared_bytes(int warps, size_t scratch)
{
  return sizeof(triangle_codes) + (size_t)warps * scratch;
}

/* As many warps as fit, in blocks as large as they may be, because each block has the codes. */
template <class ID> static pmb_status launch(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const size_t scratch = sizeof(triangle_scratch<ID>);
  int best_blocks = 0, best_warps = 0, most = 0;
  PMB_CUDA_TRY(cuda->context, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->device));
  PMB_CUDA_TRY(
    cuda->context, cudaFuncSetAttribute(triangles_kernel<ID>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  for (int warps = MAX_WARPS; warps > 0 && best_blocks * best_warps < BLOCKS * MAX_WARPS; warps -= 4) {
    int blocks = 0;
    if (shared_bytes(warps, scratch) <= (size_t)most) {
      PMB_CUDA_TRY(cuda->context,
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, triangles_kernel<ID>, 32 * warps, shared_bytes(warps, scratch)));
    }
    if (blocks * warps > best_blocks * best_warps) {
      best_blocks = blocks;
      best_warps = warps;
    }
  }
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, triangles_kernel<ID>, cuda->processors * best_blocks, 32 * best_warps,
      shared_bytes(best_warps, scratch), cuda->job, *output),
    "launch of triangles");
}

pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return output->id_type == PMB_INT64 ? launch<int64_t>(cuda, output) : launch<int32_t>(cuda, output);
}
