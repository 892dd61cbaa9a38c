/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles. No sample is read: the id of the point on an edge is its row's first id plus the number of points
 * before it in the row's mask. A warp has a brick; it lists the cells with triangles, then the triangles of 32 cells,
 * so that every lane has a triangle to write. */
#include "pmb_cuda.cuh"

enum {
  CELLS = 16 * 32,
  FULL = 256, /* listed triangles that are written before more are listed */
  LISTED = FULL + 32 * PMB_MAX_TRIANGLES,
  CELL_BITS = 10, /* of a cell: row of 25 << 5 | x */
  EDGE_KINDS = 3  /* kinds of points on edges */
};

static const uint32_t NONE = UINT32_MAX;

/* The points of one kind in a row: which samples have one, and the id of the first. */
template <class ID> struct row_ids {
  uint32_t mask;
  ID first;
};

/* Room of a warp. */
template <class ID> struct triangle_scratch {
  row_ids<ID> ids[EDGE_KINDS * PMB_CUDA_ROWS]; /* [row of 25][kind], columns 0-31 */
  ID next[EDGE_KINDS * PMB_CUDA_ROWS];         /* the same at column 32: the id there, if there is a point */
  row_ids<ID> sample_ids[PMB_CUDA_ROWS];       /* likewise the sample points; only where points are joined */
  ID next_sample[PMB_CUDA_ROWS];
  uint2 words[PMB_CUDA_ROWS]; /* inside bits: columns 0-31, column 32 */
  uint2 equal[PMB_CUDA_ROWS]; /* equal bits likewise; only where points are joined */
  uint32_t triangles[LISTED]; /* index in codes << CELL_BITS | cell */
  ID out[96];
  uint16_t cells[CELLS];
};

/* Edges of triangle n of a case: three codes of 8 bits, place << 1 | dx; place: of the edge's row and axis in the table
 * of ids, from the cell's row. Above them the number of the case's triangles. */
static __device__ __forceinline__ uint32_t triangle_code(int cell_case, int n)
{
  uint32_t code = 0;
  for (int i = 0; i < 3; ++i) {
    const int edge = pmb_triangle_edges[cell_case][3 * n + i], corner = pmb_edge_lower(edge);
    const int row = (corner >> 2) * 5 + (corner >> 1 & 1);
    code |= (uint32_t)((row * EDGE_KINDS + pmb_edge_axis(edge)) << 1 | (corner & 1)) << 8 * i;
  }
  return code | (uint32_t)pmb_triangle_count[cell_case] << 24;
}

/* Index of an active brick; NONE: outside the volume or not active. */
static __device__ __forceinline__ uint32_t index_of(
  const pmb_cuda_job &job, uint32_t brick, int dx, int dy, int dz, const pmb_cuda_box &box)
{
  if ((dx && box.origin[0] + PMB_BRICK_X >= job.dims[0]) || (dy && box.origin[1] + PMB_BRICK_Y >= job.dims[1]) ||
    (dz && box.origin[2] + PMB_BRICK_Z >= job.dims[2])) {
    return NONE;
  }
  const uint32_t b = brick + dx + job.bricks[0] * (dy + job.bricks[1] * dz);
  const uint2 map = job.d_map[b >> 5];
  return map.x >> (b & 31) & 1 ? map.y + __popc(map.x & ((1u << (b & 31)) - 1)) : NONE;
}

/* Fills a lane's row of the table of ids: lane r < 25 has row r, which may lie in a brick above. */
template <class ID>
static __device__ __forceinline__ void fill_row(const pmb_cuda_job &job, uint32_t index, uint32_t brick,
  const pmb_cuda_box &box, int64_t base, triangle_scratch<ID> *scratch)
{
  const int r = threadIdx.x & 31, y = r % 5, z = r / 5, row = (z & 3) * 4 + (y & 3);
  const int dy = y >> 2, dz = z >> 2;
  const int rows_exist = box.origin[1] + y < job.dims[1] && box.origin[2] + z < job.dims[2];
  const uint32_t here = dy | dz ? index_of(job, brick, 0, dy, dz, box) : index;
  const uint32_t next = index_of(job, brick, 1, dy, dz, box);
  if (here != NONE) {
    const pmb_cuda_record *record = job.d_records + here;
    const pmb_cuda_masks masks = pmb_cuda_row_masks(job, record, row, rows_exist ? box.columns : 0);
    int64_t id = base + job.d_before[here].points + record->first[row];
    for (int kind = 0; kind < EDGE_KINDS; ++kind) {
      scratch->ids[r * EDGE_KINDS + kind].mask = masks.kind[kind];
      scratch->ids[r * EDGE_KINDS + kind].first = (ID)id;
      id += __popc(masks.kind[kind]);
    }
    scratch->sample_ids[r].mask = masks.kind[PMB_SAMPLE];
    scratch->sample_ids[r].first = (ID)id;
  }
  if (next != NONE) {
    const pmb_cuda_record *record = job.d_records + next;
    const uint32_t columns = rows_exist ? pmb_cuda_low_bits(job.dims[0] - box.origin[0] - PMB_BRICK_X) : 0;
    const pmb_cuda_masks masks = pmb_cuda_row_masks(job, record, row, columns);
    int64_t id = base + job.d_before[next].points + record->first[row];
    for (int kind = 0; kind < EDGE_KINDS; ++kind) {
      scratch->next[r * EDGE_KINDS + kind] = (ID)id;
      id += __popc(masks.kind[kind]);
    }
    scratch->next_sample[r] = (ID)id;
  }
}

/* The id of the point at column x, 0-32, of a row. */
template <class ID> static __device__ __forceinline__ ID id_at(const row_ids<ID> *row, const ID *next, int x)
{
  const row_ids<ID> ids = *row;
  ID id = ids.first + (ID)__popc(ids.mask & ((1u << (x & 31)) - 1));
  if (x == 32) {
    id = *next;
  }
  return id;
}

static __device__ __forceinline__ uint32_t bit_at(uint2 word, int x)
{
  return __funnelshift_rc(word.x, word.y, x) & 1;
}

/* The id of the point that an edge uses where points are joined; place: row * EDGE_KINDS + axis. */
template <class ID>
static __device__ __forceinline__ ID joined_id(const triangle_scratch<ID> *scratch, int place, int x)
{
  const int r = place / EDGE_KINDS, axis = place % EDGE_KINDS;
  const int upper = r + (axis == 1 ? 1 : axis == 2 ? 5 : 0), upper_x = x + (axis == 0);
  if (bit_at(scratch->equal[r], x)) {
    return id_at(&scratch->sample_ids[r], &scratch->next_sample[r], x);
  }
  if (bit_at(scratch->equal[upper], upper_x)) {
    return id_at(&scratch->sample_ids[upper], &scratch->next_sample[upper], upper_x);
  }
  return id_at(&scratch->ids[place], &scratch->next[place], x);
}

/* Eight bits of cell (row r, x). */
static __device__ __forceinline__ uint32_t cell_bits(const uint2 *words, int r, int x)
{
  return (__funnelshift_r(words[r].x, words[r].y, x) & 3) |
    (__funnelshift_r(words[r + 1].x, words[r + 1].y, x) & 3) << 2 |
    (__funnelshift_r(words[r + 5].x, words[r + 5].y, x) & 3) << 4 |
    (__funnelshift_r(words[r + 6].x, words[r + 6].y, x) & 3) << 6;
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
  const triangle_scratch<ID> *scratch, const uint32_t *codes, int r, int x, uint32_t cell_case)
{
  const int count = (int)(codes[cell_case * PMB_MAX_TRIANGLES] >> 24);
  uint32_t kept = (1u << count) - 1;
  if (JOINED) {
    const uint32_t equal = cell_bits(scratch->equal, r, x);
    for (int n = 0; equal && n < count; ++n) {
      kept &= ~((uint32_t)!is_kept(cell_case, n, equal) << n);
    }
  }
  return kept;
}

/* Lists the cells that may have triangles, in order; returns how many. Two lanes share a row. */
template <class ID>
static __device__ __forceinline__ int list_cells(
  const pmb_cuda_job &job, uint32_t exact_index, const pmb_cuda_box &box, triangle_scratch<ID> *scratch)
{
  const int lane = threadIdx.x & 31, row = lane >> 1, r = (row >> 2) * 5 + (row & 3);
  const uint2 a = scratch->words[r], b = scratch->words[r + 1], c = scratch->words[r + 5], d = scratch->words[r + 6];
  const uint32_t any = a.x | b.x | c.x | d.x, all = a.x & b.x & c.x & d.x;
  const uint32_t any1 = pmb_cuda_next(any, a.y | b.y | c.y | d.y), all1 = pmb_cuda_next(all, a.y & b.y & c.y & d.y);
  uint32_t cells = (any | any1) & ~(all & all1) & pmb_cuda_row_cells(job, box, row & 3, row >> 2);
  if (exact_index != PMB_CUDA_PLAIN) {
    const pmb_cuda_exact *exact = job.d_exact + exact_index;
    const uint32_t valid = exact->valid[r] & exact->valid[r + 1] & exact->valid[r + 5] & exact->valid[r + 6];
    const uint32_t column = exact->valid_column >> r;
    cells &= valid & pmb_cuda_next(valid, column & column >> 1 & column >> 5 & column >> 6 & 1);
  }
  cells &= lane & 1 ? 0xffff0000 : 0xffff;
  const int sum = (int)pmb_cuda_inclusive_sum(__popc(cells));
  int place = sum - __popc(cells);
  for (; cells; cells &= cells - 1) {
    scratch->cells[place++] = (uint16_t)(r << 5 | (__ffs((int)cells) - 1));
  }
  return __shfl_sync(UINT32_MAX, sum, 31);
}

/* Writes n triangles of the list from `begin` on, one a lane. */
template <class ID, bool JOINED>
static __device__ __forceinline__ void write_triangles(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const uint32_t *codes, const pmb_cuda_box &box, triangle_scratch<ID> *scratch, int begin, int n, int64_t first)
{
  const int lane = threadIdx.x & 31;
  const uint32_t triangle = scratch->triangles[min(begin + lane, begin + n - 1)];
  const int x = triangle & 31, r = triangle >> 5 & 31;
  if (output.d_triangles) {
    const uint32_t code = codes[triangle >> CELL_BITS];
    ID ids[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const int edge = code >> 8 * i & 255;
      const int place = r * EDGE_KINDS + (edge >> 1), column = x + (edge & 1);
      ids[i] =
        JOINED ? joined_id(scratch, place, column) : id_at(&scratch->ids[place], &scratch->next[place], column);
    }
    __syncwarp();
    scratch->out[3 * lane] = ids[0];
    scratch->out[3 * lane + 1] = job.frame.mirrored ? ids[2] : ids[1];
    scratch->out[3 * lane + 2] = job.frame.mirrored ? ids[1] : ids[2];
    __syncwarp();
    ID *d_out = (ID *)output.d_triangles + 3 * first;
#pragma unroll
    for (int i = 0; i < 96; i += 32) {
      if (i + lane < 3 * n) {
        d_out[i + lane] = scratch->out[i + lane];
      }
    }
  }
  if (output.d_cells && lane < n) {
    const int64_t i = box.origin[0] + x, j = box.origin[1] + r % 5, k = box.origin[2] + r / 5;
    output.d_cells[first + lane] = i + (job.dims[0] - 1) * (j + (job.dims[1] - 1) * k);
  }
}

/* Lists the triangles of 32 cells from `begin` on behind the `listed` there are; returns how many there are then. */
template <class ID, bool JOINED>
static __device__ __forceinline__ int list_triangles(
  const uint32_t *codes, triangle_scratch<ID> *scratch, int begin, int cells, int listed)
{
  const int lane = threadIdx.x & 31;
  uint32_t kept = 0, entry = 0;
  if (begin + lane < cells) {
    const uint32_t cell = scratch->cells[begin + lane];
    const uint32_t cell_case = cell_bits(scratch->words, cell >> 5, cell & 31);
    kept = kept_triangles<ID, JOINED>(scratch, codes, cell >> 5, cell & 31, cell_case);
    entry = cell_case * PMB_MAX_TRIANGLES << CELL_BITS | cell;
  }
  const int sum = (int)pmb_cuda_inclusive_sum(__popc(kept));
  int place = listed + sum - __popc(kept);
#pragma unroll
  for (int n = 0; n < PMB_MAX_TRIANGLES; ++n, entry += 1u << CELL_BITS) {
    if (kept >> n & 1) {
      scratch->triangles[place++] = entry;
    }
  }
  return listed + __shfl_sync(UINT32_MAX, sum, 31);
}

/* The triangles of a brick's listed cells. */
template <class ID, bool JOINED>
static __device__ __forceinline__ void write_cells(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const uint32_t *codes, const pmb_cuda_box &box, triangle_scratch<ID> *scratch, int cells, int64_t first)
{
  int listed = 0;
  for (int begin = 0; begin < cells; begin += 32) {
    listed = list_triangles<ID, JOINED>(codes, scratch, begin, cells, listed);
    if (listed < FULL && begin + 32 < cells) {
      continue;
    }
    __syncwarp();
    for (int n = 0; n < listed; n += 32) {
      write_triangles<ID, JOINED>(job, output, codes, box, scratch, n, min(listed - n, 32), first + n);
    }
    __syncwarp();
    first += listed;
    listed = 0;
  }
}

/* Fills the equal words of a brick whose points may be joined. */
template <class ID>
static __device__ __forceinline__ void fill_equal(
  const pmb_cuda_job &job, uint32_t exact_index, triangle_scratch<ID> *scratch)
{
  const int lane = threadIdx.x & 31;
  const pmb_cuda_exact *exact = job.d_exact + exact_index;
  if (lane < PMB_CUDA_ROWS) {
    scratch->equal[lane] = make_uint2(exact->equal[lane], exact->equal_column >> lane & 1);
  }
  __syncwarp();
}

/* What a warp reads of a brick before it works on it. */
typedef struct brick_head {
  uint32_t brick, counts, word, column, exact;
  int64_t before;
} brick_head;

static __device__ __forceinline__ brick_head read_head(const pmb_cuda_job &job, uint32_t index, uint32_t active)
{
  brick_head head = {};
  if (index < active) {
    const pmb_cuda_record *record = job.d_records + index;
    const int lane = min((int)(threadIdx.x & 31), PMB_CUDA_ROWS - 1);
    head.brick = job.d_brick[index];
    head.counts = job.d_counts[index];
    head.word = record->word[lane];
    head.column = record->column;
    head.exact = record->exact;
    head.before = job.d_before[index].triangles;
  }
  return head;
}

template <class ID>
static __device__ __forceinline__ void emit_brick(const pmb_cuda_job &job, const pmb_cuda_output &output,
  const uint32_t *codes, uint32_t index, const brick_head &head, triangle_scratch<ID> *scratch)
{
  const int lane = threadIdx.x & 31;
  const int triangles = (int)(head.counts >> 16);
  if (triangles == 0 || head.before + triangles > output.triangle_room) {
    return;
  }
  const pmb_cuda_box box = pmb_cuda_box_of(job, head.brick);
  __syncwarp();
  if (lane < PMB_CUDA_ROWS) {
    scratch->words[lane] = make_uint2(head.word, head.column >> lane & 1);
    fill_row<ID>(job, index, head.brick, box, output.point_base, scratch);
  }
  __syncwarp();
  const int cells = list_cells<ID>(job, head.exact, box, scratch);
  __syncwarp();
  if (head.exact != PMB_CUDA_PLAIN && job.any_join) {
    fill_equal<ID>(job, head.exact, scratch);
    write_cells<ID, true>(job, output, codes, box, scratch, cells, head.before);
  } else {
    write_cells<ID, false>(job, output, codes, box, scratch, cells, head.before);
  }
}

template <class ID>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS)
  triangles_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output)
{
  extern __shared__ uint64_t shared_memory[];
  __shared__ uint32_t codes[256 * PMB_MAX_TRIANGLES];
  triangle_scratch<ID> *scratch = (triangle_scratch<ID> *)shared_memory + (threadIdx.x >> 5);
  for (int i = threadIdx.x; i < 256 * PMB_MAX_TRIANGLES; i += PMB_CUDA_THREADS) {
    codes[i] = triangle_code(i / PMB_MAX_TRIANGLES, i % PMB_MAX_TRIANGLES);
  }
  __syncthreads();
  const uint32_t active = min(job.d_counters->active, job.record_capacity), step = gridDim.x * PMB_CUDA_WARPS;
  uint32_t i = blockIdx.x * PMB_CUDA_WARPS + (threadIdx.x >> 5);
  brick_head next = read_head(job, i, active);
  for (; i < active; i += step) {
    const brick_head head = next;
    next = read_head(job, i + step, active); /* on its way while this brick is worked on */
    emit_brick<ID>(job, output, codes, i, head, scratch);
  }
}

template <class ID> static pmb_status launch(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  int blocks = 0;
  const size_t shared = PMB_CUDA_WARPS * sizeof(triangle_scratch<ID>);
  PMB_CUDA_TRY(cuda->context,
    cudaFuncSetAttribute(triangles_kernel<ID>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  PMB_CUDA_TRY(cuda->context,
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, triangles_kernel<ID>, PMB_CUDA_THREADS, shared));
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, triangles_kernel<ID>, cuda->processors * (blocks > 0 ? blocks : 1), PMB_CUDA_THREADS,
      shared, cuda->job, *output),
    "launch of triangles");
}

pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return output->id_type == PMB_INT64 ? launch<int64_t>(cuda, output) : launch<int32_t>(cuda, output);
}
