/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_pmb2016.cuh - blocks of pmb2016, and step 1: least and greatest sample of each (section 4.1).
 *
 * A block is 8 x 4 x 4 samples, a thread each, and the 7 x 3 x 3 cells between them: a block shares a layer of samples with
 * each neighbour. Both make the points on it, so that each block is a separate patch.
 *
 * For step 1 the paper has a thread block per block, a thread per sample. Here a thread block has a row of blocks and goes
 * along z, a thread 4 bytes of each row of samples: common samples are read once along x and z, and loads are whole
 * lines. */
#ifndef PAPERS_PMB2016_CUH
#define PAPERS_PMB2016_CUH

#include "papers_gpu.cuh"

enum {
  BLOCK_X = 8,
  BLOCK_Y = 4,
  BLOCK_Z = 4,
  LAYER = BLOCK_X * BLOCK_Y,
  SAMPLES = LAYER * BLOCK_Z,
  RANGE_THREADS = 128,
  RANGE_BLOCKS = 18, /* along x for each sample of a thread: 18 * 7 + 1 columns have room */
  RANGE_LAYERS = 8   /* of blocks, along z */
};

/* The division of a volume into blocks. */
struct block_grid {
  int dims[3];
  uint32_t blocks[3];
  int64_t total;
};

/* ---- blocks ---- */

/* A block: its first sample, and how many it has along each axis. */
struct block_box {
  int origin[3], n[3];
};

static __device__ __forceinline__ block_box make_box(const int *dims, uint32_t x, uint32_t y, uint32_t z)
{
  block_box box;
  box.origin[0] = (int)x * (BLOCK_X - 1);
  box.origin[1] = (int)y * (BLOCK_Y - 1);
  box.origin[2] = (int)z * (BLOCK_Z - 1);
  box.n[0] = dims[0] - box.origin[0] < BLOCK_X ? dims[0] - box.origin[0] : BLOCK_X;
  box.n[1] = dims[1] - box.origin[1] < BLOCK_Y ? dims[1] - box.origin[1] : BLOCK_Y;
  box.n[2] = dims[2] - box.origin[2] < BLOCK_Z ? dims[2] - box.origin[2] : BLOCK_Z;
  return box;
}

/* The place of a block's sample in the volume; beyond its end that of the block's last sample. */
static __device__ __forceinline__ void sample_place(const block_box *box, int sample, int place[3])
{
  const int x = sample & 7, y = sample >> 3 & 3, z = sample >> 5;
  place[0] = box->origin[0] + (x < box->n[0] ? x : box->n[0] - 1);
  place[1] = box->origin[1] + (y < box->n[1] ? y : box->n[1] - 1);
  place[2] = box->origin[2] + (z < box->n[2] ? z : box->n[2] - 1);
}

/* Edges and cells of a layer's samples. */
struct block_layer {
  uint32_t edges[3]; /* bit: the edge from this sample along x, y, z is crossed */
  uint32_t cells;    /* bit: there is a cell with this lowest corner */
};

static __device__ __forceinline__ uint32_t columns_below(int n)
{
  return 0x01010101u * ((1u << n) - 1);
}
static __device__ __forceinline__ uint32_t rows_below(int n)
{
  return n >= BLOCK_Y ? UINT32_MAX : (1u << BLOCK_X * n) - 1;
}

/* n: of the box; here, above: the words of inside bits of layer z and of the one after it, if there is one. */
static __device__ __forceinline__ block_layer make_layer(const int n[3], int z, uint32_t here, uint32_t above)
{
  const uint32_t columns = columns_below(n[0]), rows = z < n[2] ? rows_below(n[1]) : 0;
  const uint32_t before_last_x = columns_below(n[0] - 1), before_last_y = rows_below(n[1] - 1);
  const uint32_t before_last_z = z + 1 < n[2] ? UINT32_MAX : 0;
  block_layer layer;
  layer.edges[0] = (here ^ here >> 1) & before_last_x & rows;
  layer.edges[1] = (here ^ here >> BLOCK_X) & columns & rows & before_last_y;
  layer.edges[2] = (here ^ above) & columns & rows & before_last_z;
  layer.cells = before_last_x & rows & before_last_y & before_last_z;
  return layer;
}

/* The case of the cell whose lowest corner is this bit of a layer. */
static __device__ __forceinline__ unsigned cell_case_of(uint32_t here, uint32_t above, int bit)
{
  const uint32_t low = here >> bit, high = above >> bit;
  return (low & 3) | (low >> (BLOCK_X - 2) & 0xc) | (high & 3) << 4 | (high >> (BLOCK_X - 6) & 0xc0);
}

/* The paper's table 1, a cell's edge as an edge of a neighbour: bits 0 to 5 how many samples further that neighbour is in
 * the block, bits 6 and 7 the axis. */
PMB_CONSTEXPR unsigned neighbour_of(int edge)
{
  const int corner = pmb_edge_lower(edge);
  return (unsigned)((corner & 1) + (corner >> 1 & 1) * BLOCK_X + (corner >> 2) * LAYER + pmb_edge_axis(edge) * 64);
}

/* The number in the block of a point of the cell at a sample (4.3.3). words: a word of each sample for its neighbours
 * (4.3.2): bits 0 to 2 are its edges with points, the rest is the number in the block of the first. */
static __device__ __forceinline__ int point_number(const uint16_t *words, int sample, unsigned neighbour)
{
  const unsigned word = words[sample + (int)(neighbour & 63)];
  const unsigned before = word & ((1u << (neighbour >> 6)) - 1); /* edges of that sample; at most 2 */
  return (int)((word >> 3) + ((before + 1) >> 1));
}

/* Central differences at a sample: steps to its neighbours, 0 at the border, where the sample replaces them, and the factor of
 * the difference. */
struct edge_star {
  int below[3], above[3];
  float factor[3];
};

static __device__ __forceinline__ void make_star(const int place[3], const int *dims, edge_star *star)
{
  const int step[3] = { 1, dims[0], dims[0] * dims[1] };
  for (int a = 0; a < 3; ++a) {
    star->below[a] = place[a] > 0 ? -step[a] : 0;
    star->above[a] = place[a] < dims[a] - 1 ? step[a] : 0;
    star->factor[a] = place[a] > 0 && place[a] < dims[a] - 1 ? 0.5f : 1.0f;
  }
}

/* Turns the star of an edge's lower sample, which is at `place`, into its upper one's. */
static __device__ __forceinline__ void move_star_up(const int place[3], const int *dims, int axis, edge_star *star)
{
  for (int a = 0; a < 3; ++a) {
    const int along = a == axis, last = place[a] + 2 >= dims[a];
    star->below[a] = along ? -star->above[a] : star->below[a];
    star->factor[a] = along ? (last ? 1.0f : 0.5f) : star->factor[a];
    star->above[a] = along && last ? 0 : star->above[a];
  }
}

/* ---- step 1: least and greatest sample of each block ---- */

/* Least and greatest sample of a block; MinMaxArray has one for each. */
template <class T> struct alignas(2 * sizeof(T)) block_range {
  T low, high;
};

/* A word of V samples; here 2 of 16 bits. */
template <class T, int V> struct column_word {
  typedef uint32_t type;
  static __device__ __forceinline__ uint32_t smaller(uint32_t a, uint32_t b)
  {
    return (T)-1 < 0 ? __vmins2(a, b) : __vminu2(a, b);
  }
  static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
  {
    return (T)-1 < 0 ? __vmaxs2(a, b) : __vmaxu2(a, b);
  }
};
template <class T> struct column_word<T, 1> {
  typedef T type;
  static __device__ __forceinline__ T smaller(T a, T b)
  {
    return b < a ? b : a;
  }
  static __device__ __forceinline__ T larger(T a, T b)
  {
    return b > a ? b : a;
  }
};

/* Minimum and maximum of V columns of samples; begins with those of a word. */
template <class T, int V> struct columns_range {
  typedef column_word<T, V> op;
  typedef typename op::type word;
  word low, high;
  __device__ __forceinline__ columns_range(word w) : low(w), high(w)
  {
  }
  __device__ __forceinline__ void merge(const columns_range &o)
  {
    low = op::smaller(low, o.low);
    high = op::larger(high, o.high);
  }
  __device__ __forceinline__ void store(T *lows, T *highs) const
  {
    *(word *)lows = low;
    *(word *)highs = high;
  }
};

template <> struct columns_range<uint8_t, 4> { /* as 16 bits, samples 0 and 2, 1 and 3 */
  typedef uint32_t word;
  columns_range<uint16_t, 2> even, odd;
  __device__ __forceinline__ columns_range(word w) : even(w & 0x00ff00ff), odd(w >> 8 & 0x00ff00ff)
  {
  }
  __device__ __forceinline__ void merge(const columns_range &o)
  {
    even.merge(o.even);
    odd.merge(o.odd);
  }
  __device__ __forceinline__ void store(uint8_t *lows, uint8_t *highs) const
  {
    *(word *)lows = even.low | odd.low << 8;
    *(word *)highs = even.high | odd.high << 8;
  }
};

/* The four rows of a thread's word in one slice. */
template <class T, int V, class WORDS>
static __device__ __forceinline__ columns_range<T, V> slice_range(
  WORDS d_words, const int64_t row[BLOCK_Y], int64_t slice)
{
  typedef typename columns_range<T, V>::word word;
  word w[BLOCK_Y];
#pragma unroll
  for (int y = 0; y < BLOCK_Y; ++y) w[y] = papers_load(d_words + slice + row[y]);
  columns_range<T, V> range(w[0]);
#pragma unroll
  for (int y = 1; y < BLOCK_Y; ++y) range.merge(w[y]);
  return range;
}

template <class T, int V> static __device__ __forceinline__ auto words_of(const papers_field &field)
{
  if constexpr (V == 1)
    return papers_begin<T>(field);
  else
    return (const typename columns_range<T, V>::word *)field.d_samples;
}

/* per_row: blocks along x of a thread block, a multiple of V; rows: how many of those there are along x. */
template <class T, int V>
static __global__ void __launch_bounds__(RANGE_THREADS) ranges_kernel(const __grid_constant__ papers_field field,
  block_grid grid, uint32_t per_row, uint32_t rows, block_range<typename papers_values<T>::type> *d_ranges)
{
  typedef typename papers_values<T>::type value;
  typedef columns_range<value, V> columns;
  __shared__ __align__(4) value lows[2][RANGE_THREADS * V], highs[2][RANGE_THREADS * V];
  const uint32_t block_x = blockIdx.x % rows * per_row, block_y = blockIdx.x / rows % grid.blocks[1];
  const uint32_t begin = blockIdx.x / rows / grid.blocks[1] * RANGE_LAYERS;
  const uint32_t end = min(begin + RANGE_LAYERS, grid.blocks[2]);
  const int first = (int)block_x * (BLOCK_X - 1), last = grid.dims[0] - 1 - first, own = threadIdx.x * V;
  const int64_t row_words = grid.dims[0] / V;
  const auto d_words = words_of<T, V>(field) + (first + (own <= last ? own : 0)) / V;
  int64_t row[BLOCK_Y];
  for (int y = 0; y < BLOCK_Y; ++y) row[y] = row_words * min((int)block_y * (BLOCK_Y - 1) + y, grid.dims[1] - 1);
  const int64_t slice = row_words * grid.dims[1];
  columns shared_slice = slice_range<value, V>(d_words, row, slice * ((int64_t)begin * (BLOCK_Z - 1)));
  for (uint32_t z = begin; z < end; ++z) {
    const int k = (int)z * (BLOCK_Z - 1), top = grid.dims[2] - 1;
    columns range = shared_slice;
    range.merge(slice_range<value, V>(d_words, row, slice * min(k + 1, top)));
    range.merge(slice_range<value, V>(d_words, row, slice * min(k + 2, top)));
    shared_slice = slice_range<value, V>(d_words, row, slice * min(k + 3, top));
    range.merge(shared_slice);
    value *low_row = lows[z & 1], *high_row = highs[z & 1];
    range.store(low_row + own, high_row + own);
    __syncthreads(); /* the other half is written only after all have read it */
    if (threadIdx.x < per_row && block_x + threadIdx.x < grid.blocks[0]) {
      const int column = (int)threadIdx.x * (BLOCK_X - 1);
      block_range<value> of = { low_row[column], high_row[column] };
#pragma unroll
      for (int x = 1; x < BLOCK_X; ++x) {
        const value l = low_row[min(column + x, last)], h = high_row[min(column + x, last)];
        of.low = l < of.low ? l : of.low;
        of.high = h > of.high ? h : of.high;
      }
      d_ranges[block_x + threadIdx.x + (int64_t)grid.blocks[0] * (block_y + (int64_t)grid.blocks[1] * z)] = of;
    }
  }
}

template <class T, int V>
static cudaError_t launch_ranges(const papers_field &field, const block_grid &grid, void *d_ranges)
{
  const uint32_t most = RANGE_BLOCKS * V, rows = (grid.blocks[0] + most - 1) / most;
  const uint32_t per_row = ((grid.blocks[0] + rows - 1) / rows + V - 1) / V * V;
  return papers_launch(ranges_kernel<T, V>, rows * grid.blocks[1] * papers_blocks(grid.blocks[2], RANGE_LAYERS),
    RANGE_THREADS, field, grid, per_row, rows, (block_range<typename papers_values<T>::type> *)d_ranges);
}

/* Enqueues step 1. */
template <class T> static cudaError_t find_ranges(const papers_field &field, const block_grid &grid, void *d_ranges)
{
  enum { V = 4 / sizeof(T) };
  const int whole = grid.dims[0] % V == 0 && (uintptr_t)field.d_samples % 4 == 0;
  return whole ? launch_ranges<T, V>(field, grid, d_ranges) : launch_ranges<T, 1>(field, grid, d_ranges);
}

#endif
