/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles. No sample is read: the id of the point on an edge is the first id of its row and kind plus the number
 * of points before it there. A warp has a brick; it lists the cells with triangles, then their triangles, so that every
 * lane has a triangle to work on, and stores what it makes through shared memory in pieces of 16 bytes.
 *
 * The pass is bound by shared memory and by issue, hence the packed words below: what a step needs lies where the next
 * instruction takes it without masking. */
#include "pmb_cuda_ids.cuh"

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
    cells &= job.d_exact[head.exact].cells[row];
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
  const uint32_t lane = threadIdx.x & 31;
  copy_codes(codes, job.frame.mirrored);
  __threadfence(); /* nothing that the cache kept of earlier counts: classify may be over since a moment ago */
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  triangle_scratch<ID> *scratch = (triangle_scratch<ID> *)(codes + 1) + warp;
  if (active == 0) {
    pmb_cuda_await_passes();
    return;
  }
  const uint32_t step = gridDim.x * warps;
  const warp_turns turns = { step, active / step, blockIdx.x * warps + warp, warp * gridDim.x + blockIdx.x };
  const row_bricks rows = row_bricks_of(job);
  uint32_t i = index_at(turns, 0), at = 1;                               /* at: lane that has the next brick */
  uint32_t bricks = job.d_brick[min(index_at(turns, lane), active - 1)]; /* of 32 turns, a lane each */
  brick_head next = read_head(job, rows, min(i, active - 1), __shfl_sync(UINT32_MAX, bricks, 0));
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
  pmb_cuda_await_passes();
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
  /* Where vertices runs before it, triangles does not wait for that, only for classify. */
  const int early = output->d_points || output->d_normals || output->d_gradients || output->d_parameter;
  const int64_t blocks = cuda->processors * best_blocks;
  const int threads = 32 * best_warps;
  const size_t shared = shared_bytes(best_warps, scratch);
  return pmb_cuda_check(cuda->context,
    early ? pmb_cuda_launch_early(cuda, triangles_kernel<ID>, blocks, threads, shared, cuda->job, *output)
          : pmb_cuda_launch(cuda, triangles_kernel<ID>, blocks, threads, shared, cuda->job, *output),
    "launch of triangles");
}

pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return output->id_type == PMB_INT64 ? launch<int64_t>(cuda, output) : launch<int32_t>(cuda, output);
}
