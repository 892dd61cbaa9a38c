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
 * hpmc_chunks: the chunks and layers of 4.3: no square, hence no padding but that of a chunk, here 64 x 64 cells of a slice; 8 bits
 * for an entry and for the sum of 4, 16 bits up to 1024, then 32: 1.42 bytes a cell. The 8 bits are the cell's case, which gives the
 * count.
 *
 * hpmc_indexed: section 6 names indexed output as future work, without the two passes and the scattering of the
 * straightforward way. Here one pass over the volume makes two pyramids on one base: one counts triangles, one points, each with
 * the sample at the lower end of its edge. A triangle descends the first, and from each of its edges ascends the second, which
 * sums the points before: that is the id, without scattering. Its base has an entry per sample, not per cell.
 *
 * One kernel reads the volume and writes the base and the six levels above it: a block has a square of 64 x 64 entries and
 * walks through the slices, reading each sample once, as bits: the paper has no such thing. The levels above are small. hpmc_fetch
 * is hpmc without it: each texel fetches its samples, and all levels are written. A thread of the output's kernels descends
 * the pyramid for one vertex, point or triangle. */
#include "papers_hpmc.cuh"
#include "papers_webgl.cuh"

/* ---- base ---- */

/* Further arguments of the kernels. */
struct base_parameters {
  int across, down, slices; /* blocks along x and y; slices of a block */
};

/* The four entries of a texel. x, y, z: place of the first. */
template <int KIND>
static __device__ __forceinline__ uint4 texel_of_bits(
  const hpmc_job &job, const uint8_t *counts, const papers_group<2> &bits, int x, int y, int z)
{
  uint32_t entry[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const int i = c & 1, j = c >> 1;
    const unsigned cell_case =
      pmb_cell_bits(bits.row[0][j], bits.row[0][j + 1], bits.row[1][j], bits.row[1][j + 1], i);
    entry[c] = make_entry<KIND>(job.field, x + i, y + j, z, cell_case, counts[cell_case]);
  }
  return make_uint4(entry[0], entry[1], entry[2], entry[3]);
}

/* The sum of a texel's entries: points in the low half, triangles in the high half; or vertices. */
template <int KIND> static __device__ __forceinline__ uint32_t both_counts(uint4 t)
{
  if (KIND != INDEXED) return texel_sum(texel_counts(t, VERTICES));
  return texel_sum(texel_counts(t, POINTS)) | texel_sum(texel_counts(t, TRIANGLES)) << 16;
}

/* Writes such a count to an element of a level; chunks have 8 bits below WORD_LEVEL, 16 below BLOCK_LEVEL. */
template <int KIND>
static __device__ __forceinline__ void store_count(const hpmc_job &job, int level, uint64_t element, uint32_t count)
{
  uint4 *d_level = job.pyramid[0].level[level];
  if (KIND == CHUNKS && level < WORD_LEVEL) {
    ((uint8_t *)d_level)[element] = (uint8_t)count;
  } else if (KIND == CHUNKS && level < BLOCK_LEVEL) {
    ((uint16_t *)d_level)[element] = (uint16_t)count;
  } else {
    ((uint32_t *)d_level)[element] = KIND == INDEXED ? count >> 16 : count;
  }
  if (KIND == INDEXED) ((uint32_t *)job.pyramid[1].level[level])[element] = count & 0xffff;
}

template <int KIND> static __device__ __forceinline__ void store_texel(const hpmc_job &job, uint64_t element, uint4 t)
{
  if (KIND == CHUNKS) {
    ((uint32_t *)job.pyramid[0].level[0])[element] =
      (t.x & 0xff) | (t.y & 0xff) << 8 | (t.z & 0xff) << 16 | t.w << 24;
  } else {
    job.pyramid[0].level[0][element] = t;
  }
}

/* Base to level 3 of a block's square. A warp whose samples are all alike writes nothing to levels 0 to 2. */
template <int KIND>
static __device__ __forceinline__ void build_square(const hpmc_job &job, const uint8_t *counts,
  const hpmc_slice *ring, unsigned slot, uint64_t square, int x, int y, int z, uint32_t *sums)
{
#pragma unroll 1
  for (unsigned t = threadIdx.x; t < TEXELS; t += PAPERS_THREADS) {
    const int column = (int)papers_gather_2(t), row = (int)papers_gather_2(t >> 1);
    const int i = x + 2 * column, j = y + 2 * row;
    const uint64_t element = square * TEXELS + t;
    const papers_group<2> bits = papers_group_of<2>(ring, slot, column, row);
    uint32_t count = 0;
    if (__any_sync(UINT32_MAX, papers_is_mixed(bits))) {
      const uint4 texel = texel_of_bits<KIND>(job, counts, bits, i, j, z);
      count = both_counts<KIND>(texel);
      store_texel<KIND>(job, element, texel);
      store_count<KIND>(job, 1, element, count);
      count += __shfl_xor_sync(UINT32_MAX, count, 1);
      count += __shfl_xor_sync(UINT32_MAX, count, 2);
      if (t % 4 == 0) store_count<KIND>(job, 2, element / 4, count);
      count += __shfl_xor_sync(UINT32_MAX, count, 4);
      count += __shfl_xor_sync(UINT32_MAX, count, 8);
    }
    if (t % 16 == 0) {
      sums[t / 16] = count;
      store_count<KIND>(job, 3, element / 16, count);
    }
  }
}

/* Levels 4 to 6, by a warp. sums: level 3. */
template <int KIND>
static __device__ __forceinline__ void build_square_above(const hpmc_job &job, uint64_t square, const uint32_t *sums)
{
  const unsigned lane = threadIdx.x;
  uint32_t count = sums[2 * lane] + sums[2 * lane + 1];
  count += __shfl_xor_sync(UINT32_MAX, count, 1);
  if (lane % 2 == 0) store_count<KIND>(job, 4, square * 16 + lane / 2, count);
  count += __shfl_xor_sync(UINT32_MAX, count, 2);
  count += __shfl_xor_sync(UINT32_MAX, count, 4);
  if (lane % 8 == 0) store_count<KIND>(job, 5, square * 4 + lane / 8, count);
  count += __shfl_xor_sync(UINT32_MAX, count, 8);
  count += __shfl_xor_sync(UINT32_MAX, count, 16);
  if (lane == 0) store_count<KIND>(job, BLOCK_LEVEL, square, count);
}

/* The number of the square in level BLOCK_LEVEL. */
template <int KIND>
static __device__ __forceinline__ uint64_t square_of(const hpmc_layout &layout, int across, int down, int z)
{
  const uint32_t row = (uint32_t)z / layout.tiles_across, column = (uint32_t)z % layout.tiles_across;
  const uint32_t u = column * (layout.tile[0] / TILE) + (uint32_t)across;
  const uint32_t v = row * (layout.tile[1] / TILE) + (uint32_t)down;
  return KIND == CHUNKS ? u + v * (uint64_t)layout.wide : papers_spread_2(u) | papers_spread_2(v) << 1;
}

template <class T, int KIND>
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
      const uint64_t square = square_of<KIND>(job.layout, across, down, z);
      build_square<KIND>(job, counts, ring, slot, square, x, y, z, sums);
      __syncthreads();
      if (threadIdx.x < 32) build_square_above<KIND>(job, square, sums);
    } else if (threadIdx.x == 0) {
      store_count<KIND>(job, BLOCK_LEVEL, square_of<KIND>(job.layout, across, down, z), 0);
    }
  }
}

/* Gives blocks fewer slices if there would be too few blocks; each reads one slice more than it has. */
template <class T, int KIND> static cudaError_t launch_base(const hpmc_job &job)
{
  base_parameters parameters;
  const int enough = 4000;
  const int32_t *extent = job.layout.extent;
  parameters.across = (int)papers_blocks(extent[0], TILE);
  parameters.down = (int)papers_blocks(extent[1], TILE);
  int64_t blocks = 0;
  for (parameters.slices = 32; parameters.slices >= 4 && blocks < enough; parameters.slices /= 2) {
    blocks = (int64_t)parameters.across * parameters.down * papers_blocks(extent[2], parameters.slices);
  }
  parameters.slices *= 2;
  return papers_launch(base_kernel<T, KIND>, blocks, PAPERS_THREADS, job, parameters);
}

/* Base and level 1 of the system hpmc_fetch, as the paper has them (4.2): a thread fetches the 3 x 3 x 2 samples of its texel and
 * writes the texel, crossed or not. */
template <class T>
static __global__ __launch_bounds__(PAPERS_THREADS) void fetch_kernel(const __grid_constant__ hpmc_job job)
{
  const uint32_t texel = blockIdx.x * PAPERS_THREADS + threadIdx.x;
  const int32_t *dims = job.field.dims, *extent = job.layout.extent;
  int32_t cell[3];
  uint32_t entry = 1;
  uint4 t = make_uint4(0, 0, 0, 0);
  cell_of<SOUP>(job.layout, texel, 0, cell);
  const int used = cell[0] < extent[0] && cell[1] < extent[1] && cell[2] < extent[2];
  if (used && texel_of(job.layout, cell[0], cell[1], cell[2], &entry) == texel) {
    papers_group<2> bits = {};
#pragma unroll
    for (int n = 0; n < 18; ++n) {
      const int32_t place[3] = { min(cell[0] + n % 3, dims[0] - 1), min(cell[1] + n / 3 % 3, dims[1] - 1),
        cell[2] + n / 9 };
      const float sample = papers_sample<T>(job.field, papers_index(job.field, place));
      bits.row[n / 9][n / 3 % 3] |= (uint32_t)(sample >= job.field.threshold) << n % 3;
    }
    t = texel_of_bits<SOUP>(job, pmb_triangle_count, bits, cell[0], cell[1], cell[2]);
  }
  store_texel<SOUP>(job, texel, t);
  store_count<SOUP>(job, 1, texel, both_counts<SOUP>(t));
}

/* ---- output ---- */

/* Vertex `key` of the soup, or point `key` of the indexed mesh. */
template <class T, int KIND>
static __device__ __forceinline__ void make_point(
  const hpmc_job &job, uint32_t key, float position[3], float normal[3])
{
  int32_t cell[3];
  if (KIND != INDEXED) {
    const uint32_t entry = descend<KIND>(job, job.pyramid[0], VERTICES, &key, cell);
    const int edge = pmb_triangle_edges[entry & 0xff][key];
    if (KIND >= WEBGL)
      webgl_point<T, KIND == WEBGL_SOBEL>(job.field, cell, edge, position, normal);
    else
      papers_cell_point<T>(job.field, cell, edge, position, normal);
    return;
  }
  uint32_t edges = descend<KIND>(job, job.pyramid[1], POINTS, &key, cell) >> 11;
  for (; key > 0; --key) edges &= edges - 1;
  papers_edge_point<T>(job.field, cell, pmb_lowest_bit(edges), position, normal);
}

template <class T, int KIND>
static __global__ __launch_bounds__(PAPERS_THREADS) void points_kernel(
  const __grid_constant__ hpmc_job job, uint32_t count, float *d_positions, float *d_normals)
{
  __shared__ float stage[PAPERS_WARPS][32 * 3];
  const uint32_t key = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = key & ~31u;
  float position[3], normal[3];
  make_point<T, KIND>(job, min(key, count - 1), position, normal);
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
  const uint32_t entry = descend<INDEXED>(job, job.pyramid[0], TRIANGLES, &key, cell);
  for (int i = 0; i < 3; ++i) {
    ids[i] = (int32_t)point_id(job, cell, pmb_triangle_edges[entry & 0xff][3 * key + (uint32_t)i]);
  }
  papers_store<3>(d_ids, (uint64_t)first * 3, (uint64_t)count * 3, ids, stage[threadIdx.x >> 5]);
}

/* ---- the systems ---- */

struct hpmc_state : papers_state {
  hpmc_job job;
};

extern "C" const papers_system papers_hpmc, papers_hpmc_indexed, papers_hpmc_chunks, papers_hpmc_fetch;

static int kind_of(const papers_state *state)
{
  return state->system == &papers_hpmc_indexed ? INDEXED : state->system == &papers_hpmc_chunks ? CHUNKS : SOUP;
}

/* Whether each texel of the base fetches its samples. */
static int fetches(const papers_state *state)
{
  return state->system == &papers_hpmc_fetch || state->system == &papers_webgl ||
    state->system == &papers_webgl_sobel;
}

static uint64_t padded(int64_t entries)
{
  return (uint64_t)papers_blocks(entries, TILE) * TILE;
}

/* The texels of the base: M^2, M being the side of a square of tiles; or those of the chunks, for the padding of a tile alone. */
static uint64_t base_of(const int64_t dims[3], int kind)
{
  const int64_t fewer = kind == INDEXED ? 0 : 1;
  const uint64_t width = padded(dims[0] - fewer), height = padded(dims[1] - fewer);
  uint64_t side = TILE;
  if (kind == CHUNKS) return width / 2 * (height / 2) * (uint64_t)(dims[2] - fewer);
  while ((2 * side / width) * (2 * side / height) < (uint64_t)(dims[2] - fewer)) side *= 2;
  return side * side;
}

/* Lays the pyramids out in a block, the tops at its end. Returns their bytes: 16 (M^2 + M^2 / 4 + ... + 1), equation 2 of the
 * paper of hp3d, all but the base twice if indexed; chunks have 4 texels of 8 bits, of 16, or of 32. */
static uint64_t set_levels(uint64_t texels, int kind, hpmc_job *job, void *d_block)
{
  uint64_t bytes = 0;
  for (int level = 0;; ++level) {
    const uint64_t texel = kind != CHUNKS || level >= BLOCK_LEVEL ? 16 : level < WORD_LEVEL ? 4 : 8;
    if (level == BLOCK_LEVEL) job->layout.upper = (int64_t)texels;
    for (int p = 0; p <= (kind == INDEXED); ++p) {
      job->pyramid[p].level[level] = (uint4 *)((uintptr_t)d_block + bytes);
      bytes += level == 0 && p == 0 && kind == INDEXED ? 0 : (texels * texel + 15) / 16 * 16;
    }
    job->layout.top = level;
    if (texels == 1 && level >= BLOCK_LEVEL) return bytes;
    texels = (texels + 3) / 4;
  }
}

uint64_t papers_hpmc_bytes(const int64_t dims[3], int indexed, int chunks)
{
  const int kind = chunks ? CHUNKS : indexed ? INDEXED : SOUP;
  hpmc_job job = {};
  return set_levels(base_of(dims, kind), kind, &job, NULL);
}

/* Sets all levels from BLOCK_LEVEL on to 0 once: squares in the padding stay 0. */
static papers_status create(papers_state *state)
{
  hpmc_state *s = (hpmc_state *)state;
  hpmc_layout *layout = &s->job.layout;
  const int kind = kind_of(s);
  const int64_t dims[3] = { s->field.dims[0], s->field.dims[1], s->field.dims[2] };
  const uint64_t base = base_of(dims, kind), bytes = set_levels(base, kind, &s->job, NULL);
  if (base > TEXELS_MOST) return PAPERS_TOO_LARGE;
  char *d_block = (char *)papers_take(s->memory, PAPERS_ACCELERATION, bytes);
  if (!d_block) return PAPERS_NO_MEMORY;
  s->job.field = s->field;
  for (int a = 0; a < 3; ++a) layout->extent[a] = s->job.field.dims[a] - (kind == INDEXED ? 0 : 1);
  for (int a = 0; a < 2; ++a) {
    layout->tile[a] = (uint32_t)padded(layout->extent[a]);
    layout->tile_inverse[a] = 1 / (float)layout->tile[a];
  }
  layout->wide = layout->tile[0] / TILE;
  layout->tiles_across = kind == CHUNKS ? 1 : (uint32_t)(2 * sqrt((double)base) / layout->tile[0]);
  set_levels(base, kind, &s->job, d_block);
  char *d_begin = (char *)s->job.pyramid[0].level[BLOCK_LEVEL];
  PAPERS_TRY(s->memory, cudaMemsetAsync(d_begin, 0, (size_t)(d_block + bytes - d_begin), NULL));
  return PAPERS_OK;
}

template <class T> static cudaError_t build_base(const hpmc_state *s)
{
  if (fetches(s)) {
    const int64_t texels = s->job.layout.upper << 2 * BLOCK_LEVEL;
    return papers_launch(fetch_kernel<T>, texels / PAPERS_THREADS, PAPERS_THREADS, s->job);
  }
  return kind_of(s) == INDEXED ? launch_base<T, INDEXED>(s->job)
    : kind_of(s) == CHUNKS     ? launch_base<T, CHUNKS>(s->job)
                               : launch_base<T, SOUP>(s->job);
}

/* Builds the pyramids and copies their tops to the host. */
static papers_status build(hpmc_state *s)
{
  const hpmc_job &job = s->job;
  const int top = job.layout.top, last = kind_of(s) == INDEXED;
  const int from = fetches(s) ? 1 : BLOCK_LEVEL;
  PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, build_base, s));
  for (int p = 0; p <= last; ++p) {
    papers_levels levels = {};
    for (int l = from; l <= top; ++l) levels.level[l] = (uint32_t *)job.pyramid[p].level[l];
    levels.top = top;
    PAPERS_TRY(s->memory, papers_build_upper<4, 5>(levels, from, job.layout.upper << 2 * (BLOCK_LEVEL - from)));
  }
  PAPERS_TRY(s->memory,
    cudaMemcpyAsync(
      s->pinned, job.pyramid[0].level[top], sizeof(uint4) * (size_t)(last + 1), cudaMemcpyDeviceToHost, NULL));
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
  return papers_launch(kind_of(s) == INDEXED ? points_kernel<T, INDEXED>
      : kind_of(s) == CHUNKS                 ? points_kernel<T, CHUNKS>
      : s->system == &papers_webgl           ? points_kernel<T, WEBGL>
      : s->system == &papers_webgl_sobel     ? points_kernel<T, WEBGL_SOBEL>
                                             : points_kernel<T, SOUP>,
    papers_blocks(count, PAPERS_THREADS), PAPERS_THREADS, s->job, (uint32_t)count, (float *)s->positions.d_data,
    (float *)s->normals.d_data);
}

static papers_status extract(papers_state *state)
{
  hpmc_state *s = (hpmc_state *)state;
  const uint4 *top = (const uint4 *)s->pinned; /* of each pyramid */
  const int indexed = kind_of(s) == INDEXED;
  int64_t points, triangles;
  s->job.field = s->field;
  PAPERS_TRY(s->memory, build(s));
  PAPERS_TRY(s->memory, total(top[0], UINT32_MAX - 1, indexed ? &triangles : &points));
  if (indexed) PAPERS_TRY(s->memory, total(top[1], INT32_MAX, &points));
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
extern "C" const papers_system papers_hpmc_chunks = { "hpmc_chunks", PAPERS_SOUP, PAPERS_FORWARD, sizeof(hpmc_state),
  create, extract };
extern "C" const papers_system papers_hpmc_fetch = { "hpmc_fetch", PAPERS_SOUP, PAPERS_FORWARD, sizeof(hpmc_state),
  create, extract };
extern "C" const papers_system papers_webgl = { "webgl", PAPERS_SOUP, PAPERS_WEBGL, sizeof(hpmc_state), create,
  extract };
extern "C" const papers_system papers_webgl_sobel = { "webgl_sobel", PAPERS_SOUP, PAPERS_WEBGL, sizeof(hpmc_state),
  create, extract };
