/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hp3d: marching cubes by 3D HistoPyramids (E. Smistad, A. C. Elster, F. Lindseth, Real-Time Surface Extraction and
 * Visualization of Medical Images using OpenCL and GPUs, section 3).
 *
 * The base level is a cube of N^3 cells, N a power of two not less than the volume, with the number of triangles of each
 * cell in 8 bits; an element of the next level is the sum of 2 x 2 x 2 of the one below. The sums fit into 8 bits in level 1,
 * into 16 in levels 2 to 4; the others have 32. The single element of the top is read back. Then each triangle descends by
 * its number to its cell, whose case is computed again from its samples. Levels are in Morton order. Below a sum of 0
 * nothing is written: no traversal goes there.
 *
 * One kernel reads the volume and writes the base and the five levels above it: a block has two cubes of 32^3 cells, side by
 * side along x, and walks through the slices, reading each sample once. The levels above are small. A thread of the output's
 * kernel descends the pyramid for one triangle. */
#include "papers_pyramid.cuh"

enum {
  LEVELS = 13,
  SIDE_LEAST = 64,  /* least N */
  SIDE_MOST = 4096, /* largest N: the elements of level 2 have 32-bit numbers */
  BLOCK = 32,       /* an element of this level is a cube of BLOCK cells along each axis: */
  BLOCK_LEVEL = 5,
  CUBES = PAPERS_COLUMNS / BLOCK,
  PAIRS = BLOCK / 2,             /* of slices; and elements of level 1 along an axis of a cube */
  GROUPS = PAIRS * PAIRS * PAIRS /* elements of level 1 in a cube */
};

/* Level 0 is the base, 1^3 is level `top`. */
struct hp3d_pyramid {
  void *level[LEVELS];
  int top;
};

struct hp3d_job {
  papers_field field;
  hp3d_pyramid pyramid;
};

typedef papers_slice<BLOCK> hp3d_slice;

/* Moves bit b, of 21, to bit 3 b. */
static __device__ __forceinline__ uint64_t spread(uint32_t x)
{
  uint64_t v = x & 0x1fffff;
  v = (v | v << 32) & 0x001f00000000ffffull;
  v = (v | v << 16) & 0x001f0000ff0000ffull;
  v = (v | v << 8) & 0x100f00f00f00f00full;
  v = (v | v << 4) & 0x10c30c30c30c30c3ull;
  return (v | v << 2) & 0x1249249249249249ull;
}

static __device__ __forceinline__ uint32_t gather(uint64_t v)
{
  v &= 0x1249249249249249ull;
  v = (v | v >> 2) & 0x10c30c30c30c30c3ull;
  v = (v | v >> 4) & 0x100f00f00f00f00full;
  v = (v | v >> 8) & 0x001f0000ff0000ffull;
  v = (v | v >> 16) & 0x001f00000000ffffull;
  return (uint32_t)((v | v >> 32) & 0x1fffff);
}

/* The index of the cell (x,y,z) in the base. */
static __device__ __forceinline__ uint64_t place_of(int32_t x, int32_t y, int32_t z)
{
  return spread((uint32_t)x) | spread((uint32_t)y) << 1 | spread((uint32_t)z) << 2;
}

/* ---- base ---- */

/* The place of a block. */
struct block_place {
  int x, y, z;          /* first cell */
  uint64_t cube[CUBES]; /* the elements of level BLOCK_LEVEL */
};

/* across, down: blocks along x and y. */
static __device__ __forceinline__ block_place place_of_block(int across, int down)
{
  const int block = (int)blockIdx.x;
  const int i = block % across, j = block / across % down, k = block / across / down;
  block_place place;
  place.x = i * PAPERS_COLUMNS;
  place.y = j * BLOCK;
  place.z = k * BLOCK;
  for (int c = 0; c < CUBES; ++c) place.cube[c] = place_of(CUBES * i + c, j, k);
  return place;
}

/* The triangles of 2 x 2 x 2 cells, a byte each. */
static __device__ __forceinline__ uint2 group_of_bits(
  const papers_field &field, const uint8_t *counts, const papers_group<3> &bits, int x, int y, int z)
{
  uint32_t words[2] = { 0, 0 };
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
    const unsigned cell_case =
      pmb_cell_bits(bits.row[k][j], bits.row[k][j + 1], bits.row[k + 1][j], bits.row[k + 1][j + 1], i);
    if (x + i < field.dims[0] - 1 && y + j < field.dims[1] - 1 && z + k < field.dims[2] - 1) {
      words[k] |= (uint32_t)counts[cell_case] << 8 * (c & 3);
    }
  }
  return make_uint2(words[0], words[1]);
}

/* Sum of four bytes. */
static __device__ __forceinline__ uint32_t sum_of_bytes(uint32_t word)
{
  return __dp4a(word, 0x01010101u, 0u);
}

/* Base level and, in shared memory, level 1 of a pair of slices. */
static __device__ __forceinline__ void build_pair(const hp3d_job &job, const uint8_t *counts, const hp3d_slice *ring,
  const block_place &place, int pair, uint8_t (*sums)[GROUPS])
{
  const int column = (int)papers_gather_2(threadIdx.x), row = (int)papers_gather_2(threadIdx.x >> 1);
  const int group = (int)place_of(column, row, pair);
#pragma unroll 1
  for (int c = 0; c < CUBES; ++c) {
    const int x = place.x + 2 * (PAIRS * c + column), y = place.y + 2 * row, z = place.z + 2 * pair;
    const papers_group<3> bits = papers_group_of<3>(ring, 2 * (unsigned)pair, PAIRS * c + column, row);
    if (papers_is_mixed(bits)) {
      const uint2 words = group_of_bits(job.field, counts, bits, x, y, z);
      sums[c][group] = (uint8_t)(sum_of_bytes(words.x) + sum_of_bytes(words.y));
      ((uint2 *)job.pyramid.level[0])[(c == 0 ? place.cube[0] : place.cube[1]) * GROUPS + (unsigned)group] = words;
    }
  }
}

/* Levels 1 to 5 of a cube, from level 1 in shared memory: 16 elements of it for each thread. */
static __device__ __forceinline__ void build_cube(
  const hp3d_pyramid &pyramid, uint64_t cube, const uint8_t *level_1, uint32_t *of_warps)
{
  const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const uint4 v = ((const uint4 *)level_1)[t];
  const uint32_t low = sum_of_bytes(v.x) + sum_of_bytes(v.y), high = sum_of_bytes(v.z) + sum_of_bytes(v.w);
  uint32_t sum = low + high;
  ((uint4 *)pyramid.level[1])[cube * PAPERS_THREADS + t] = v;
  ((uint32_t *)pyramid.level[2])[cube * PAPERS_THREADS + t] = low | high << 16;
  sum += __shfl_xor_sync(UINT32_MAX, sum, 1);
  sum += __shfl_xor_sync(UINT32_MAX, sum, 2);
  if (lane % 4 == 0) ((uint16_t *)pyramid.level[3])[cube * 64 + t / 4] = (uint16_t)sum;
  sum += __shfl_xor_sync(UINT32_MAX, sum, 4);
  sum += __shfl_xor_sync(UINT32_MAX, sum, 8);
  sum += __shfl_xor_sync(UINT32_MAX, sum, 16);
  if (lane == 0) {
    ((uint16_t *)pyramid.level[4])[cube * PAPERS_WARPS + warp] = (uint16_t)sum;
    of_warps[warp] = sum;
  }
  __syncthreads();
  if (t == 0) {
    sum = 0;
    for (int w = 0; w < PAPERS_WARPS; ++w) sum += of_warps[w];
    ((uint32_t *)pyramid.level[BLOCK_LEVEL])[cube] = sum;
  }
}

template <class T>
static __global__ __launch_bounds__(PAPERS_THREADS, 4) void base_kernel(
  const __grid_constant__ hp3d_job job, int across, int down)
{
  __shared__ hp3d_slice ring[PAPERS_RING];
  __shared__ __align__(16) uint8_t sums[CUBES][GROUPS];
  __shared__ uint32_t of_warps[CUBES][PAPERS_WARPS];
  __shared__ uint8_t counts[256];
  const block_place place = place_of_block(across, down);
  const int pairs = min((int)PAIRS, (job.field.dims[2] - place.z) / 2); /* (cells + 1) / 2 */
  papers_readings<T, BLOCK> near, far;
  int crossed = 0;
  counts[threadIdx.x] = pmb_triangle_count[threadIdx.x];
  for (int i = threadIdx.x; i < CUBES * GROUPS / 16; i += PAPERS_THREADS) ((uint4 *)sums)[i] = make_uint4(0, 0, 0, 0);
  const papers_window<T> window = papers_window_of<T, BLOCK>(job.field, place.x, place.y);
  papers_read(window, place.z, &near);
  papers_store_bits(job.field, near, &ring[0]);
  papers_read(window, place.z + 1, &near);
  papers_read(window, place.z + 2, &far);
#pragma unroll 1
  for (int pair = 0; pair < pairs; ++pair) {
    papers_store_bits(job.field, near, &ring[(2 * (unsigned)pair + 1) % PAPERS_RING]);
    papers_store_bits(job.field, far, &ring[(2 * (unsigned)pair + 2) % PAPERS_RING]);
    if (pair + 1 < pairs) {
      papers_read(window, place.z + 2 * pair + 3, &near);
      papers_read(window, place.z + 2 * pair + 4, &far);
    }
    __syncthreads();
    uint32_t holds = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k) holds |= papers_holds(ring[(2 * (unsigned)pair + k) % PAPERS_RING]);
    if (papers_is_crossed(holds)) {
      crossed = 1;
      build_pair(job, counts, ring, place, pair, sums);
    }
  }
  if (crossed) {
    __syncthreads();
#pragma unroll
    for (int c = 0; c < CUBES; ++c) build_cube(job.pyramid, place.cube[c], sums[c], of_warps[c]);
  } else if (threadIdx.x == 0) {
    for (int c = 0; c < CUBES; ++c) ((uint32_t *)job.pyramid.level[BLOCK_LEVEL])[place.cube[c]] = 0;
  }
}

template <class T> static cudaError_t build_base(const hp3d_job &job)
{
  const int32_t *dims = job.field.dims;
  const int64_t across = papers_blocks(dims[0] - 1, PAPERS_COLUMNS), down = papers_blocks(dims[1] - 1, BLOCK);
  return papers_launch(
    base_kernel<T>, across * down * papers_blocks(dims[2] - 1, BLOCK), PAPERS_THREADS, job, (int)across, (int)down);
}

/* ---- traversal ---- */

/* The eight elements of a level below an element of the next, as words: 2 of 8 bits each, 4 of 16 or 8 of 32. */
static __device__ __forceinline__ void read_group(
  const hp3d_pyramid &pyramid, int level, uint64_t parent, uint32_t words[8])
{
  if (level < 2) {
    *(uint2 *)words = ((const uint2 *)pyramid.level[level])[parent];
  } else if (level < BLOCK_LEVEL) {
    *(uint4 *)words = ((const uint4 *)pyramid.level[level])[parent];
  } else {
    ((uint4 *)words)[0] = ((const uint4 *)pyramid.level[level])[2 * parent];
    ((uint4 *)words)[1] = ((const uint4 *)pyramid.level[level])[2 * parent + 1];
  }
}

/* Element i of a group. */
static __device__ __forceinline__ uint32_t element(const uint32_t words[8], int level, int i)
{
  return level < 2        ? words[i / 4] >> i % 4 * 8 & 0xff
    : level < BLOCK_LEVEL ? words[i / 2] >> i % 2 * 16 & 0xffff
                          : words[i];
}

/* Finds the element of a group whose range has *key; makes *key relative to that range. */
static __device__ __forceinline__ uint32_t choose(const uint32_t words[8], int level, uint32_t *key)
{
  uint32_t begin = 0, end = 0, chosen = 0;
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    end += element(words, level, i);
    begin = *key >= end ? end : begin;
    chosen += *key >= end;
  }
  *key -= begin;
  return chosen;
}

/* Descends from an element to one of `level`. */
static __device__ __forceinline__ uint64_t step_down(
  const hp3d_pyramid &pyramid, int level, uint64_t parent, uint32_t *key)
{
  __align__(16) uint32_t words[8];
  read_group(pyramid, level, parent, words);
  return 8 * parent + choose(words, level, key);
}

/* Finds the cell of triangle *key; *key becomes the triangle's number in the cell. */
static __device__ __forceinline__ void descend(const hp3d_pyramid &pyramid, uint32_t *key, int32_t cell[3])
{
  uint32_t upper = 0;
  for (int l = pyramid.top - 1; l >= BLOCK_LEVEL; --l) upper = (uint32_t)step_down(pyramid, l, upper, key);
  upper = (uint32_t)step_down(pyramid, 4, upper, key);
  upper = (uint32_t)step_down(pyramid, 3, upper, key);
  upper = (uint32_t)step_down(pyramid, 2, upper, key);
  const uint64_t place = step_down(pyramid, 0, step_down(pyramid, 1, upper, key), key);
  for (int a = 0; a < 3; ++a) cell[a] = (int32_t)gather(place >> a);
}

/* ---- output ---- */

template <class T>
static __global__ __launch_bounds__(PAPERS_THREADS) void triangles_kernel(
  const __grid_constant__ hp3d_job job, uint32_t count, float *d_positions, float *d_normals)
{
  __shared__ float stage[PAPERS_WARPS][32 * 9];
  const uint32_t number = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = number & ~31u;
  uint32_t key = min(number, count - 1);
  float positions[9], normals[9];
  int32_t cell[3];
  descend(job.pyramid, &key, cell);
  const unsigned cell_case = papers_cell_case<T>(job.field, cell[0], cell[1], cell[2]);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int edge = pmb_triangle_edges[cell_case][3 * key + (uint32_t)i];
    papers_cell_point<T>(job.field, cell, edge, positions + 3 * i, normals + 3 * i);
  }
  papers_store<9>(d_positions, (uint64_t)first * 9, (uint64_t)count * 9, positions, stage[threadIdx.x >> 5]);
  papers_store<9>(d_normals, (uint64_t)first * 9, (uint64_t)count * 9, normals, stage[threadIdx.x >> 5]);
}

/* ---- the system ---- */

struct hp3d_state : papers_state {
  hp3d_job job;
};

static uint64_t side_of(const int64_t dims[3])
{
  uint64_t side = SIDE_LEAST;
  for (int a = 0; a < 3; ++a)
    while ((int64_t)side < dims[a]) side *= 2;
  return side;
}

/* Bytes of the elements of a level. */
static uint64_t level_bytes(uint64_t side, int level)
{
  return side * side * side * (level < 2 ? 1 : level < BLOCK_LEVEL ? 2 : 4);
}

/* The paper's equation 1 and the last column of its table 3. */
uint64_t papers_hp3d_bytes(const int64_t dims[3])
{
  uint64_t bytes = 0;
  int level = 0;
  for (uint64_t side = side_of(dims); side > 0; side /= 2) bytes += level_bytes(side, level++);
  return bytes;
}

/* Sets all levels from BLOCK_LEVEL on to 0 once: cubes outside the volume stay 0. */
static papers_status create(papers_state *state)
{
  hp3d_state *s = (hp3d_state *)state;
  hp3d_pyramid *pyramid = &s->job.pyramid;
  const int64_t dims[3] = { s->field.dims[0], s->field.dims[1], s->field.dims[2] };
  const uint64_t bytes = papers_hp3d_bytes(dims);
  if (side_of(dims) > SIDE_MOST) return PAPERS_TOO_LARGE;
  char *d_block = (char *)papers_take(s->memory, PAPERS_ACCELERATION, bytes), *d_next = d_block;
  if (!d_block) return PAPERS_NO_MEMORY;
  pyramid->top = -1;
  for (uint64_t side = side_of(dims); side > 0; side /= 2) {
    pyramid->level[++pyramid->top] = d_next;
    d_next += level_bytes(side, pyramid->top);
  }
  char *d_begin = (char *)pyramid->level[BLOCK_LEVEL];
  PAPERS_TRY(s->memory, cudaMemsetAsync(d_begin, 0, (size_t)(d_next - d_begin), NULL));
  return PAPERS_OK;
}

/* Builds the pyramid and copies its top to the host. */
static papers_status build(hp3d_state *s)
{
  const hp3d_pyramid &pyramid = s->job.pyramid;
  papers_levels levels = {};
  for (int l = BLOCK_LEVEL; l <= pyramid.top; ++l) levels.level[l] = (uint32_t *)pyramid.level[l];
  levels.top = pyramid.top;
  PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, build_base, s->job));
  PAPERS_TRY(
    s->memory, papers_build_upper<8, 4>(levels, BLOCK_LEVEL, (int64_t)1 << 3 * (pyramid.top - BLOCK_LEVEL - 1)));
  PAPERS_TRY(s->memory,
    cudaMemcpyAsync(s->pinned, pyramid.level[pyramid.top], sizeof(uint32_t), cudaMemcpyDeviceToHost, NULL));
  PAPERS_TRY(s->memory, cudaStreamSynchronize(NULL));
  return PAPERS_OK;
}

template <class T> static cudaError_t make_triangles(const hp3d_state *s)
{
  const uint32_t count = (uint32_t)s->mesh.triangles;
  return papers_launch(triangles_kernel<T>, papers_blocks(count, PAPERS_THREADS), PAPERS_THREADS, s->job, count,
    (float *)s->positions.d_data, (float *)s->normals.d_data);
}

static papers_status extract(papers_state *state)
{
  hp3d_state *s = (hp3d_state *)state;
  s->job.field = s->field;
  PAPERS_TRY(s->memory, build(s));
  const uint32_t triangles = *(const uint32_t *)s->pinned;
  if (triangles == UINT32_MAX) return PAPERS_TOO_LARGE;
  PAPERS_TRY(s->memory, papers_reserve_mesh(s, 3 * (int64_t)triangles, triangles, 0));
  PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, make_triangles, s));
  return PAPERS_OK;
}

extern "C" const papers_system papers_hp3d = { "hp3d", PAPERS_SOUP, PAPERS_FORWARD, sizeof(hp3d_state), create,
  extract };
