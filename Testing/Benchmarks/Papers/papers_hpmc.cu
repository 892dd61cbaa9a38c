/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hpmc: marching cubes by 2D HistoPyramids (C. Dyken, G. Ziegler, C. Theobalt, H.-P. Seidel, High-speed Marching Cubes using
 * HistoPyramids, section 4).
 *
 * Base level (4.2): the slices of cells, tiled into a square whose side is a power of two (flat 3D); an entry of 32 bits per
 * cell holds the cell's case and number of vertices. Four entries, of 2 x 2 x 1 cells, are a texel. Each entry of
 * the level above is the sum of a texel below (3.1), until one texel is left; its sum is read back. Then each vertex of the
 * output descends by its number (3.2), to its cell and its edge. Texels are in Morton order (4.3). Below a sum of 0 nothing
 * is written: no traversal goes there.
 *
 * hpmc_indexed: section 6 names indexed output as future work, "without the two passes and scattering" of the obvious
 * solution. Here one pass over the volume makes two pyramids on one base: one counts triangles, one points, each with the
 * sample at the lower end of its edge. A triangle descends the first, and from each of its edges ascends the second, which sums
 * the points before: that is the id, without scattering. Its base has an entry per sample, not per cell.
 *
 * One kernel reads the volume and writes the base and the six levels above it: a block has a square of 64 x 64 entries and
 * walks through the slices, reading each sample once. The levels above are small. A thread of the output's kernels descends
 * the pyramid for one vertex, point or triangle. */
#include "papers_pyramid.cuh"

enum {
  SIDE_MOST = 65536, /* texels along an axis of the base: they have 32-bit numbers */
  LEVELS = 17,
  TILE = 64,       /* a slice's tile is padded to a multiple of this many entries along each axis */
  BLOCK_LEVEL = 6, /* an entry of this level is a square of that size */
  TEXELS = TILE * TILE / 4
};

/* Kinds of a pyramid's counts. */
enum counted { VERTICES, TRIANGLES, POINTS };

/* Level 0 is the base; level `top` is one texel of four entries. */
struct hpmc_pyramid {
  uint4 *level[LEVELS];
};

/* The layout of a volume's entries in the base. */
struct hpmc_layout {
  int32_t extent[3];     /* entries in use: cells, or samples */
  uint32_t tile[2];      /* entries of a slice's tile, with its padding */
  float tile_inverse[2]; /* 1 / tile */
  uint32_t tiles_across; /* of the square */
  int top;
};

/* The arguments of a kernel. pyramid[0] counts vertices or triangles; pyramid[1] counts points and has the same level 0. */
struct hpmc_job {
  papers_field field;
  hpmc_layout layout;
  hpmc_pyramid pyramid[2];
};

typedef papers_slice<TILE> hpmc_slice;

/* ---- entries ---- */

/* Bits 0 to 7: case, 8 to 10: triangles, 11 to 13: edges from the lower corner that have a point, by axis. */
static __device__ __forceinline__ uint32_t count_of(uint32_t entry, counted kind)
{
  const uint32_t triangles = entry >> 8 & 7;
  return kind == POINTS ? (uint32_t)pmb_popcount(entry >> 11) : kind == VERTICES ? 3 * triangles : triangles;
}

/* The entry of the cell at (x,y,z), in the padding 0. finite: as papers_cell_case gives it; triangles: of its case. */
template <int INDEXED>
static __device__ __forceinline__ uint32_t make_entry(
  const papers_field &field, int32_t x, int32_t y, int32_t z, unsigned cell_case, unsigned finite, int triangles)
{
  const int32_t *dims = field.dims;
  uint32_t entry = 0;
  if (x < dims[0] - 1 && y < dims[1] - 1 && z < dims[2] - 1 && finite == 0xff) {
    entry = cell_case | (uint32_t)triangles << 8;
  }
  if (INDEXED && x < dims[0] && y < dims[1] && finite & 1) {
    for (int a = 0; a < 3; ++a) entry |= ((cell_case ^ cell_case >> (1 << a)) & finite >> (1 << a) & 1) << (11 + a);
  }
  return entry;
}

/* Whether one of the cells around an edge, from the sample (x,y,z) along an axis, has eight finite corners. */
template <class T>
static __device__ __forceinline__ int edge_is_used(
  const papers_field &field, int32_t x, int32_t y, int32_t z, int axis)
{
  for (int i = 0; i < 8; ++i) {
    const int32_t cell[3] = { x - (i & 1), y - (i >> 1 & 1), z - (i >> 2) };
    unsigned finite = 0;
    if (!(i >> axis & 1) && cell[0] >= 0 && cell[1] >= 0 && cell[2] >= 0 && cell[0] < field.dims[0] - 1 &&
      cell[1] < field.dims[1] - 1 && cell[2] < field.dims[2] - 1) {
      (void)papers_cell_case<T>(field, cell[0], cell[1], cell[2], &finite);
    }
    if (finite == 0xff) return 1;
  }
  return 0;
}

/* The entry from samples that need not be finite. */
template <class T, int INDEXED>
static __device__ __forceinline__ uint32_t entry_of_samples(const hpmc_job &job, int32_t x, int32_t y, int32_t z)
{
  unsigned finite;
  if (x >= job.layout.extent[0] || y >= job.layout.extent[1]) return 0;
  const unsigned cell_case = papers_cell_case<T>(job.field, x, y, z, &finite);
  uint32_t entry = make_entry<INDEXED>(job.field, x, y, z, cell_case, finite, pmb_triangle_count[cell_case]);
  for (int a = 0; INDEXED && PAPERS_IS_FLOAT<T> && a < 3; ++a) {
    if (entry >> (11 + a) & 1 && !edge_is_used<T>(job.field, x, y, z, a)) entry &= ~(1u << (11 + a));
  }
  return entry;
}

/* The texel of the base with the entry of (x,y,z); *entry: which of its four. */
static __device__ __forceinline__ uint32_t texel_of(
  const hpmc_layout &layout, int32_t x, int32_t y, int32_t z, uint32_t *entry)
{
  const uint32_t row = (uint32_t)z / layout.tiles_across, column = (uint32_t)z - row * layout.tiles_across;
  const uint32_t u = column * layout.tile[0] + (uint32_t)x, v = row * layout.tile[1] + (uint32_t)y;
  *entry = (u & 1) | (v & 1) << 1;
  return papers_spread_2(u >> 1) | papers_spread_2(v >> 1) << 1;
}

/* The reverse of texel_of. */
static __device__ __forceinline__ void cell_of(
  const hpmc_layout &layout, uint32_t texel, uint32_t entry, int32_t cell[3])
{
  const uint32_t u = 2 * papers_gather_2(texel) + (entry & 1), v = 2 * papers_gather_2(texel >> 1) + (entry >> 1);
  /* Rounded down, this is exact: u < 2^17 and, with the half, at least 0.5 / tile away from where it would not be. */
  const uint32_t column = (uint32_t)(((float)u + 0.5f) * layout.tile_inverse[0]);
  const uint32_t row = (uint32_t)(((float)v + 0.5f) * layout.tile_inverse[1]);
  cell[0] = (int32_t)(u - column * layout.tile[0]);
  cell[1] = (int32_t)(v - row * layout.tile[1]);
  cell[2] = (int32_t)(row * layout.tiles_across + column);
}

/* ---- traversal ---- */

static __device__ __forceinline__ uint32_t texel_sum(uint4 t)
{
  return papers_sum(papers_sum(t.x, t.y), papers_sum(t.z, t.w));
}

/* The counts of a base texel's entries. */
static __device__ __forceinline__ uint4 texel_counts(uint4 t, counted kind)
{
  return make_uint4(count_of(t.x, kind), count_of(t.y, kind), count_of(t.z, kind), count_of(t.w, kind));
}

/* Finds the entry of a texel, 0 to 3, whose range has *key; makes *key relative to that range (3.2). */
static __device__ __forceinline__ uint32_t choose(uint4 t, uint32_t *key)
{
  const uint32_t b = t.x, c = b + t.y, d = c + t.z, k = *key;
  *key = k >= d ? k - d : k >= c ? k - c : k >= b ? k - b : k;
  return k >= d ? 3 : k >= c ? 2 : k >= b ? 1 : 0;
}

static __device__ __forceinline__ uint32_t entry_at(uint4 t, uint32_t n)
{
  return n == 0 ? t.x : n == 1 ? t.y : n == 2 ? t.z : t.w;
}

/* Descends to the entry of output element *key; *key becomes the element's number in it. Returns the entry; cell: its place in
 * the volume. */
static __device__ __forceinline__ uint32_t descend(
  const hpmc_job &job, const hpmc_pyramid &pyramid, counted kind, uint32_t *key, int32_t cell[3])
{
  uint32_t texel = 0;
  for (int l = job.layout.top; l > 0; --l) texel = 4 * texel + choose(pyramid.level[l][texel], key);
  const uint4 t = pyramid.level[0][texel];
  const uint32_t n = choose(texel_counts(t, kind), key);
  cell_of(job.layout, texel, n, cell);
  return entry_at(t, n);
}

/* The sum of a texel's entries before entry n. */
static __device__ __forceinline__ uint32_t sum_before(uint4 t, uint32_t n)
{
  return (n > 0 ? t.x : 0) + (n > 1 ? t.y : 0) + (n > 2 ? t.z : 0);
}

/* Ascends: the id of the point on the edge of a cell. */
static __device__ __forceinline__ uint32_t point_id(const hpmc_job &job, const int32_t cell[3], int edge)
{
  const hpmc_pyramid &points = job.pyramid[1];
  int32_t lower[3];
  uint32_t n;
  papers_lower_of(cell, edge, lower);
  uint32_t texel = texel_of(job.layout, lower[0], lower[1], lower[2], &n);
  const uint4 t = points.level[0][texel];
  uint32_t id = sum_before(texel_counts(t, POINTS), n);
  id += (uint32_t)pmb_popcount(entry_at(t, n) >> 11 & ((1u << pmb_edge_axis(edge)) - 1));
  for (int l = 1; l <= job.layout.top; ++l) {
    n = texel & 3;
    texel >>= 2;
    id += sum_before(points.level[l][texel], n);
  }
  return id;
}

/* ---- base ---- */

/* Further arguments of the kernels. */
struct base_parameters {
  int across, down, slices; /* blocks along x and y; slices of a block */
  int careful;              /* samples may be non-finite: points are counted by the full rule */
  int *odd;                 /* set if there are such samples and careful is 0; on the host */
};

/* The four entries of a texel. x, y, z: place of the first. */
template <int INDEXED>
static __device__ __forceinline__ uint4 texel_of_bits(
  const hpmc_job &job, const uint8_t *counts, const papers_group<2> &bits, int x, int y, int z)
{
  uint32_t entry[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const int i = c & 1, j = c >> 1;
    const unsigned cell_case =
      pmb_cell_bits(bits.row[0][j], bits.row[0][j + 1], bits.row[1][j], bits.row[1][j + 1], i);
    entry[c] = make_entry<INDEXED>(job.field, x + i, y + j, z, cell_case, 0xff, counts[cell_case]);
  }
  return make_uint4(entry[0], entry[1], entry[2], entry[3]);
}

/* The same from samples that may not be finite. */
template <class T, int INDEXED> PAPERS_RARE uint4 texel_of_samples(const hpmc_job &job, int x, int y, int z)
{
  return make_uint4(entry_of_samples<T, INDEXED>(job, x, y, z), entry_of_samples<T, INDEXED>(job, x + 1, y, z),
    entry_of_samples<T, INDEXED>(job, x, y + 1, z), entry_of_samples<T, INDEXED>(job, x + 1, y + 1, z));
}

/* The sum of a texel's entries: points in the low half, triangles in the high half; or vertices. */
template <int INDEXED> static __device__ __forceinline__ uint32_t both_counts(uint4 t)
{
  if (!INDEXED) return texel_sum(texel_counts(t, VERTICES));
  return texel_sum(texel_counts(t, POINTS)) | texel_sum(texel_counts(t, TRIANGLES)) << 16;
}

/* Writes such a count to an element of a level. */
template <int INDEXED>
static __device__ __forceinline__ void store_count(const hpmc_job &job, int level, uint64_t element, uint32_t count)
{
  ((uint32_t *)job.pyramid[0].level[level])[element] = INDEXED ? count >> 16 : count;
  if (INDEXED) ((uint32_t *)job.pyramid[1].level[level])[element] = count & 0xffff;
}

/* Base to level 3 of a block's square. A warp whose samples are all alike writes nothing to levels 0 to 2. */
template <class T, int INDEXED>
static __device__ __forceinline__ void build_square(const hpmc_job &job, const uint8_t *counts,
  const hpmc_slice *ring, unsigned slot, int odd, uint64_t square, int x, int y, int z, uint32_t *sums)
{
#pragma unroll 1
  for (unsigned t = threadIdx.x; t < TEXELS; t += PAPERS_THREADS) {
    const int column = (int)papers_gather_2(t), row = (int)papers_gather_2(t >> 1);
    const int i = x + 2 * column, j = y + 2 * row;
    const uint64_t element = square * TEXELS + t;
    const papers_group<2> bits = papers_group_of<2>(ring, slot, column, row);
    uint32_t count = 0;
    if (__any_sync(UINT32_MAX, papers_is_mixed(bits))) {
      const uint4 texel = PAPERS_IS_FLOAT<T> && odd ? texel_of_samples<T, INDEXED>(job, i, j, z)
                                                    : texel_of_bits<INDEXED>(job, counts, bits, i, j, z);
      count = both_counts<INDEXED>(texel);
      job.pyramid[0].level[0][element] = texel;
      store_count<INDEXED>(job, 1, element, count);
      count += __shfl_xor_sync(UINT32_MAX, count, 1);
      count += __shfl_xor_sync(UINT32_MAX, count, 2);
      if (t % 4 == 0) store_count<INDEXED>(job, 2, element / 4, count);
      count += __shfl_xor_sync(UINT32_MAX, count, 4);
      count += __shfl_xor_sync(UINT32_MAX, count, 8);
    }
    if (t % 16 == 0) {
      sums[t / 16] = count;
      store_count<INDEXED>(job, 3, element / 16, count);
    }
  }
}

/* Levels 4 to 6, by a warp. sums: level 3. */
template <int INDEXED>
static __device__ __forceinline__ void build_square_above(const hpmc_job &job, uint64_t square, const uint32_t *sums)
{
  const unsigned lane = threadIdx.x;
  uint32_t count = sums[2 * lane] + sums[2 * lane + 1];
  count += __shfl_xor_sync(UINT32_MAX, count, 1);
  if (lane % 2 == 0) store_count<INDEXED>(job, 4, square * 16 + lane / 2, count);
  count += __shfl_xor_sync(UINT32_MAX, count, 2);
  count += __shfl_xor_sync(UINT32_MAX, count, 4);
  if (lane % 8 == 0) store_count<INDEXED>(job, 5, square * 4 + lane / 8, count);
  count += __shfl_xor_sync(UINT32_MAX, count, 8);
  count += __shfl_xor_sync(UINT32_MAX, count, 16);
  if (lane == 0) store_count<INDEXED>(job, BLOCK_LEVEL, square, count);
}

/* The number of the square in level BLOCK_LEVEL. */
static __device__ __forceinline__ uint64_t square_of(const hpmc_layout &layout, int across, int down, int z)
{
  const uint32_t row = (uint32_t)z / layout.tiles_across, column = (uint32_t)z % layout.tiles_across;
  const uint32_t u = column * (layout.tile[0] / TILE) + (uint32_t)across;
  const uint32_t v = row * (layout.tile[1] / TILE) + (uint32_t)down;
  return papers_spread_2(u) | papers_spread_2(v) << 1;
}

template <class T, int INDEXED>
static __global__ __launch_bounds__(PAPERS_THREADS, 4) void base_kernel(
  const __grid_constant__ hpmc_job job, base_parameters parameters)
{
  __shared__ hpmc_slice ring[PAPERS_RING];
  __shared__ uint32_t sums[TEXELS / 16];
  __shared__ uint8_t counts[256];
  const int across = (int)(blockIdx.x % (unsigned)parameters.across),
            rest = (int)(blockIdx.x / (unsigned)parameters.across);
  const int down = rest % parameters.down, first = rest / parameters.down * parameters.slices;
  const int end = min(first + parameters.slices, job.layout.extent[2]), x = across * TILE, y = down * TILE;
  papers_readings<T, TILE> readings;
  counts[threadIdx.x] = pmb_triangle_count[threadIdx.x];
  const papers_window<T> window = papers_window_of<T, TILE>(job.field, x, y);
  papers_read(window, first, &readings);
  papers_store_bits(job.field, readings, &ring[0]);
  papers_read(window, first + 1, &readings);
#pragma unroll 1
  for (int z = first; z < end; ++z) {
    const unsigned slot = (unsigned)(z - first);
    papers_store_bits(job.field, readings, &ring[(slot + 1) % PAPERS_RING]);
    if (z + 1 < end) papers_read(window, z + 2, &readings);
    __syncthreads();
    const uint32_t holds = papers_holds(ring[slot % PAPERS_RING]) | papers_holds(ring[(slot + 1) % PAPERS_RING]);
    if (papers_is_crossed(holds)) {
      const uint64_t square = square_of(job.layout, across, down, z);
      const int odd = PAPERS_IS_FLOAT<T> && papers_holds_any(holds, PAPERS_HAS_ODD);
      build_square<T, INDEXED>(job, counts, ring, slot, odd || parameters.careful, square, x, y, z, sums);
      if (INDEXED && odd && !parameters.careful && threadIdx.x == 0) *parameters.odd = 1;
      __syncthreads();
      if (threadIdx.x < 32) build_square_above<INDEXED>(job, square, sums);
    } else if (threadIdx.x == 0) {
      store_count<INDEXED>(job, BLOCK_LEVEL, square_of(job.layout, across, down, z), 0);
    }
  }
}

/* Gives blocks fewer slices if there would be too few blocks; each reads one slice more than it has. */
template <class T, int INDEXED> static cudaError_t launch_base(const hpmc_job &job, base_parameters parameters)
{
  const int enough = 4000;
  const int32_t *extent = job.layout.extent;
  parameters.across = (int)papers_blocks(extent[0], TILE);
  parameters.down = (int)papers_blocks(extent[1], TILE);
  int64_t blocks = 0;
  for (parameters.slices = 32; parameters.slices >= 4 && blocks < enough; parameters.slices /= 2) {
    blocks = (int64_t)parameters.across * parameters.down * papers_blocks(extent[2], parameters.slices);
  }
  parameters.slices *= 2;
  return papers_launch(base_kernel<T, INDEXED>, blocks, PAPERS_THREADS, job, parameters);
}

/* ---- output ---- */

/* Vertex `key` of the soup, or point `key` of the indexed mesh. */
template <class T, int INDEXED>
static __device__ __forceinline__ void make_point(
  const hpmc_job &job, uint32_t key, float position[3], float normal[3])
{
  int32_t cell[3];
  if (!INDEXED) {
    const uint32_t entry = descend(job, job.pyramid[0], VERTICES, &key, cell);
    papers_cell_point<T>(job.field, cell, pmb_triangle_edges[entry & 0xff][key], position, normal);
    return;
  }
  uint32_t edges = descend(job, job.pyramid[1], POINTS, &key, cell) >> 11;
  for (; key > 0; --key) edges &= edges - 1;
  papers_edge_point<T>(job.field, cell, pmb_lowest_bit(edges), position, normal);
}

template <class T, int INDEXED>
static __global__ __launch_bounds__(PAPERS_THREADS) void points_kernel(
  const __grid_constant__ hpmc_job job, uint32_t count, float *d_positions, float *d_normals)
{
  __shared__ float stage[PAPERS_WARPS][32 * 3];
  const uint32_t key = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = key & ~31u;
  float position[3], normal[3];
  make_point<T, INDEXED>(job, min(key, count - 1), position, normal);
  papers_store<3>(d_positions, (uint64_t)first * 3, (uint64_t)count * 3, position, stage[threadIdx.x >> 5]);
  papers_store<3>(d_normals, (uint64_t)first * 3, (uint64_t)count * 3, normal, stage[threadIdx.x >> 5]);
}

static __global__ __launch_bounds__(PAPERS_THREADS) void triangles_kernel(
  const __grid_constant__ hpmc_job job, uint32_t count, int32_t *d_ids)
{
  __shared__ int32_t stage[PAPERS_WARPS][32 * 3];
  const uint32_t number = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = number & ~31u;
  uint32_t key = min(number, count - 1);
  int32_t cell[3], ids[3];
  const uint32_t entry = descend(job, job.pyramid[0], TRIANGLES, &key, cell);
  for (int i = 0; i < 3; ++i) {
    ids[i] = (int32_t)point_id(job, cell, pmb_triangle_edges[entry & 0xff][3 * key + (uint32_t)i]);
  }
  papers_store<3>(d_ids, (uint64_t)first * 3, (uint64_t)count * 3, ids, stage[threadIdx.x >> 5]);
}

/* ---- the systems ---- */

/* Results that the GPU writes to the host. */
struct readback {
  uint4 top[2];
  int odd;
};

struct hpmc_state : papers_state {
  int careful;
  hpmc_job job;
};

static int is_indexed(const papers_state *state)
{
  return state->system->sharing == PAPERS_EDGES;
}

static uint64_t padded(int64_t entries)
{
  return (uint64_t)papers_blocks(entries, TILE) * TILE;
}

/* The side M of the base, in texels. */
static uint64_t side_of(const int64_t dims[3], int indexed)
{
  const int64_t fewer = indexed ? 0 : 1;
  const uint64_t width = padded(dims[0] - fewer), height = padded(dims[1] - fewer);
  uint64_t side = TILE;
  while ((2 * side / width) * (2 * side / height) < (uint64_t)(dims[2] - fewer)) side *= 2;
  return side;
}

/* 16 (M^2 + M^2 / 4 + ... + 1), equation 2 of the paper of hp3d; all but the base twice if indexed. */
uint64_t papers_hpmc_bytes(const int64_t dims[3], int indexed)
{
  const uint64_t side = side_of(dims, indexed), base = side * side;
  return sizeof(uint4) * (base + (base - 1) / 3 * (indexed ? 2 : 1));
}

/* Lays the pyramids out in the block at d_next, the tops at its end. */
static void set_layout(hpmc_job *job, uint64_t side, int indexed, uint4 *d_next)
{
  hpmc_layout *layout = &job->layout;
  for (int a = 0; a < 3; ++a) layout->extent[a] = job->field.dims[a] - (indexed ? 0 : 1);
  for (int a = 0; a < 2; ++a) {
    layout->tile[a] = (uint32_t)padded(layout->extent[a]);
    layout->tile_inverse[a] = 1 / (float)layout->tile[a];
  }
  layout->tiles_across = (uint32_t)(2 * side / layout->tile[0]);
  layout->top = -1;
  for (uint64_t texels = side * side; texels > 0; texels /= 4) {
    ++layout->top;
    for (int p = 0; p <= indexed; ++p) {
      job->pyramid[p].level[layout->top] = d_next;
      d_next += layout->top == 0 && p < indexed ? 0 : texels;
    }
  }
}

/* Sets all levels from BLOCK_LEVEL on to 0 once: squares in the padding stay 0. */
static papers_status create(papers_state *state)
{
  hpmc_state *s = (hpmc_state *)state;
  const int indexed = is_indexed(s);
  const int64_t dims[3] = { s->field.dims[0], s->field.dims[1], s->field.dims[2] };
  const uint64_t bytes = papers_hpmc_bytes(dims, indexed), side = side_of(dims, indexed);
  if (side > SIDE_MOST) return PAPERS_TOO_LARGE;
  char *d_block = (char *)papers_take(s->memory, PAPERS_ACCELERATION, bytes);
  if (!d_block) return PAPERS_NO_MEMORY;
  s->job.field = s->field;
  set_layout(&s->job, side, indexed, (uint4 *)d_block);
  char *d_begin = (char *)s->job.pyramid[0].level[BLOCK_LEVEL];
  PAPERS_TRY(s->memory, cudaMemsetAsync(d_begin, 0, (size_t)(d_block + bytes - d_begin), NULL));
  return PAPERS_OK;
}

template <class T> static cudaError_t build_base(const hpmc_state *s)
{
  base_parameters parameters = {};
  parameters.careful = s->careful;
  parameters.odd = &((readback *)s->pinned)->odd;
  return is_indexed(s) ? launch_base<T, 1>(s->job, parameters) : launch_base<T, 0>(s->job, parameters);
}

/* Builds the pyramids and copies their tops to the host. */
static papers_status build(hpmc_state *s)
{
  const hpmc_job &job = s->job;
  const int top = job.layout.top, last = is_indexed(s);
  readback *host = (readback *)s->pinned;
  host->odd = 0;
  PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, build_base, s));
  for (int p = 0; p <= last; ++p) {
    papers_levels levels = {};
    for (int l = BLOCK_LEVEL; l <= top; ++l) levels.level[l] = (uint32_t *)job.pyramid[p].level[l];
    levels.top = top;
    PAPERS_TRY(s->memory, papers_build_upper<4, 5>(levels, BLOCK_LEVEL, (int64_t)1 << 2 * (top - BLOCK_LEVEL)));
  }
  PAPERS_TRY(s->memory,
    cudaMemcpyAsync(
      host->top, job.pyramid[0].level[top], sizeof(uint4) * (size_t)(last + 1), cudaMemcpyDeviceToHost, NULL));
  PAPERS_TRY(s->memory, cudaStreamSynchronize(NULL));
  return PAPERS_OK;
}

/* The count in a top. */
static papers_status total(uint4 top, int64_t most, int64_t *count)
{
  *count = (int64_t)top.x + (int64_t)top.y + (int64_t)top.z + (int64_t)top.w;
  return *count <= most ? PAPERS_OK : PAPERS_TOO_LARGE;
}

template <class T> static cudaError_t make_points(const hpmc_state *s)
{
  const int64_t count = s->mesh.points;
  return papers_launch(is_indexed(s) ? points_kernel<T, 1> : points_kernel<T, 0>,
    papers_blocks(count, PAPERS_THREADS), PAPERS_THREADS, s->job, (uint32_t)count, (float *)s->positions.d_data,
    (float *)s->normals.d_data);
}

/* If the first attempt of hpmc_indexed finds samples that are not finite, it and all later ones count points by the full
 * rule. */
static papers_status extract(papers_state *state)
{
  hpmc_state *s = (hpmc_state *)state;
  const readback *host = (const readback *)s->pinned;
  const int indexed = is_indexed(s);
  int64_t points, triangles;
  s->job.field = s->field;
  PAPERS_TRY(s->memory, build(s));
  if (host->odd) {
    s->careful = 1;
    PAPERS_TRY(s->memory, build(s));
  }
  PAPERS_TRY(s->memory, total(host->top[0], UINT32_MAX - 1, indexed ? &triangles : &points));
  if (indexed) PAPERS_TRY(s->memory, total(host->top[1], INT32_MAX, &points));
  if (!indexed) triangles = points / 3;
  PAPERS_TRY(s->memory, papers_reserve_mesh(s, points, triangles, indexed));
  PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, make_points, s));
  if (indexed) {
    PAPERS_TRY(s->memory,
      papers_launch(triangles_kernel, papers_blocks(triangles, PAPERS_THREADS), PAPERS_THREADS, s->job,
        (uint32_t)triangles, (int32_t *)s->ids.d_data));
  }
  return PAPERS_OK;
}

extern "C" const papers_system papers_hpmc = { "hpmc", PAPERS_SOUP, PAPERS_FORWARD, sizeof(hpmc_state), create,
  extract };
extern "C" const papers_system papers_hpmc_indexed = { "hpmc_indexed", PAPERS_EDGES, PAPERS_FORWARD,
  sizeof(hpmc_state), create, extract };
