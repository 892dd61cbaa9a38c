/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_pyramid.cuh - common code of the two HistoPyramids: the cell's case, points with normals by forward differences, Morton
 * codes, bits of samples, upper levels, output.
 *
 * Levels lie in Morton order, as in the CUDA version of the first paper and in the second's for buffers: the children of
 * element e of a level are elements RADIX e to RADIX e + RADIX - 1 of the level below, RADIX being 4 or 8.
 *
 * A block of 8 warps reads slices of 65 columns and ROWS + 1 rows, a warp 32 samples of a row at a time, and keeps a bit per
 * sample, whether it is inside, in shared memory. The 65th column and the last row are those of the next blocks. */
#ifndef PAPERS_PYRAMID_CUH
#define PAPERS_PYRAMID_CUH

#include "papers_gpu.cuh"

enum {
  PAPERS_WARPS = 8,
  PAPERS_THREADS = 32 * PAPERS_WARPS, /* of a block */
  PAPERS_COLUMNS = 64,                /* cells of a block along x */
  PAPERS_RING = 8,                    /* slices in shared memory; a power of two */
  PAPERS_UPPER_THREADS = 512          /* 8^3; or the 4^4 of PAPERS_THREADS */
};

/* ---- cells and points ---- */

/* The case of the cell whose lower corner is the sample (x,y,z); where that is the volume's last along an axis the upper
 * corners repeat it. */
template <class T>
static __device__ __forceinline__ unsigned papers_cell_case(
  const papers_field &field, int32_t x, int32_t y, int32_t z)
{
  const int64_t at = x + field.row * y + field.slice * z;
  const int64_t right = x < field.dims[0] - 1, up = y < field.dims[1] - 1 ? field.row : 0;
  const int64_t back = z < field.dims[2] - 1 ? field.slice : 0;
  unsigned cell_case = 0;
  for (int c = 0; c < 8; ++c) {
    const float s = papers_sample<T>(field, at + (c & 1 ? right : 0) + (c & 2 ? up : 0) + (c & 4 ? back : 0));
    cell_case |= (unsigned)(s >= field.threshold) << c;
  }
  return cell_case;
}

/* The point on the edge from the sample `lower` along an axis; its gradient by forward differences at both ends,
 * interpolated between them. */
template <class T>
static __device__ __forceinline__ void papers_edge_point(
  const papers_field &field, const int32_t lower[3], int axis, float position[3], float normal[3])
{
  const int64_t edge = axis == 0 ? 1 : axis == 1 ? field.row : field.slice;
  const int64_t at = papers_index(field, lower);
  const float low = papers_sample<T>(field, at), high = papers_sample<T>(field, at + edge);
  const float t = pmb_edge_parameter(low, high, field.value, field.value_low);
  float gradient[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const int64_t step = a == 0 ? 1 : a == 1 ? field.row : field.slice;
    const int along = a == axis, last = field.dims[a] - 1;
    const int low_last = lower[a] == last, high_last = lower[a] + along == last;
    const float beside_low = along ? high : papers_sample<T>(field, at + (low_last ? -step : step));
    const float beside_high = papers_sample<T>(field, at + edge + (high_last ? -step : step));
    gradient[a] = pmb_lerp(
      pmb_forward(beside_low, low, beside_low, low_last), pmb_forward(beside_high, high, beside_high, high_last), t);
  }
  papers_position(lower, axis, t, position);
  papers_normal(gradient, normal);
}

/* The same for an edge of a cell. */
template <class T>
static __device__ __forceinline__ void papers_cell_point(
  const papers_field &field, const int32_t cell[3], int edge, float position[3], float normal[3])
{
  int32_t lower[3];
  papers_lower_of(cell, edge, lower);
  papers_edge_point<T>(field, lower, pmb_edge_axis(edge), position, normal);
}

/* ---- Morton codes ---- */

/* Moves bit b, of 16, to bit 2 b. */
PMB_INLINE uint32_t papers_spread_2(uint32_t x)
{
  x = (x | x << 8) & 0x00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f;
  x = (x | x << 2) & 0x33333333;
  return (x | x << 1) & 0x55555555;
}

/* The reverse; ignores other bits. */
PMB_INLINE uint32_t papers_gather_2(uint32_t x)
{
  x &= 0x55555555;
  x = (x | x >> 1) & 0x33333333;
  x = (x | x >> 2) & 0x0f0f0f0f;
  x = (x | x >> 4) & 0x00ff00ff;
  return (x | x >> 8) & 0xffff;
}

/* ---- slices of bits ---- */

/* The type of a sample in a register. */
template <class T> struct papers_wide {
  typedef int type;
};
template <> struct papers_wide<float> {
  typedef float type;
};
template <> struct papers_wide<papers_cayley> {
  typedef float type;
};

static __device__ __forceinline__ int papers_inside(const papers_field &field, float sample)
{
  return sample >= field.threshold;
}
static __device__ __forceinline__ int papers_inside(const papers_field &field, int sample)
{
  return sample >= field.small_threshold;
}
enum { PAPERS_HAS_INSIDE = 1, PAPERS_HAS_OUTSIDE = 2 };

template <int ROWS> struct papers_slice {
  uint2 row[ROWS + 1];            /* columns 0 to 63 */
  uint32_t beside[ROWS / 32 + 1]; /* column 64: of row r bit r & 31 of word r >> 5 */
  union {
    uint8_t of_warp[PAPERS_WARPS]; /* results of each warp */
    uint2 all;
  } holds;
};

/* The samples of a slice that a thread reads. */
template <class T, int ROWS> struct papers_readings {
  typename papers_wide<T>::type left[ROWS / PAPERS_WARPS], right[ROWS / PAPERS_WARPS], last;
};

/* The place where a block reads. */
template <class T> struct papers_window {
  typename papers_values<T>::at
    d_first; /* in slice 0: of the thread, in the first row of its warp; may be outside if not `inside` */
  typename papers_values<T>::at d_last; /* in slice 0: the readings' `last` */
  int64_t slice, step;                  /* samples to the next slice, to the warp's next row */
  int x, y, end_x, end_y, end_z;
  int inside; /* all but `last` is in the volume, along x and y */
};

/* x, y: of the block. Warps 0 and 1 have the block's last row as `last`, the next ones its 65th column. */
template <class T, int ROWS>
static __device__ __forceinline__ papers_window<T> papers_window_of(const papers_field &field, int x, int y)
{
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int column = x + (warp < 2 ? 32 * warp + lane : PAPERS_COLUMNS);
  const int row = y + (warp < 2 ? ROWS : min(32 * (warp - 2) + lane, ROWS));
  papers_window<T> window;
  window.x = x + lane;
  window.y = y + warp;
  window.end_x = field.dims[0] - 1;
  window.end_y = field.dims[1] - 1;
  window.end_z = field.dims[2] - 1;
  window.slice = field.slice;
  window.step = (int64_t)PAPERS_WARPS * field.dims[0];
  window.inside = x + PAPERS_COLUMNS <= field.dims[0] && y + ROWS <= field.dims[1];
  window.d_first = papers_begin<T>(field) + window.x + (int64_t)field.dims[0] * window.y;
  window.d_last =
    papers_begin<T>(field) + min(column, window.end_x) + (int64_t)field.dims[0] * min(row, window.end_y);
  return window;
}

/* Reads slice z; beyond the volume its border is repeated. */
template <class T, int ROWS>
static __device__ __forceinline__ void papers_read(
  const papers_window<T> &window, int z, papers_readings<T, ROWS> *readings)
{
  const int64_t slice = window.slice * min(z, window.end_z);
  auto d_row = window.d_first + slice;
  if (window.inside) {
#pragma unroll
    for (int i = 0; i < ROWS / PAPERS_WARPS; ++i) {
      readings->left[i] = papers_load(d_row);
      readings->right[i] = papers_load(d_row + 32);
      d_row += window.step;
    }
  } else {
    const int left = min(window.x, window.end_x) - window.x, right = min(window.x + 32, window.end_x) - window.x;
#pragma unroll
    for (int i = 0; i < ROWS / PAPERS_WARPS; ++i) {
      const int over = max(window.y + PAPERS_WARPS * i - window.end_y, 0);
      const auto d_here = d_row + window.step / PAPERS_WARPS * (PAPERS_WARPS * i - over);
      readings->left[i] = papers_load(d_here + left);
      readings->right[i] = papers_load(d_here + right);
    }
  }
  readings->last = readings->left[0]; /* not used */
  if (threadIdx.x >> 5 < ROWS / 32 + 3) readings->last = papers_load(window.d_last + slice);
}

/* A warp's readings: whether some or all samples are inside. */
struct papers_found {
  uint32_t some, all;
};

/* The bits of 32 samples, one of each lane. */
template <class T>
static __device__ __forceinline__ uint32_t papers_bits(const papers_field &field, T sample, papers_found *found)
{
  const uint32_t bits = __ballot_sync(UINT32_MAX, papers_inside(field, sample));
  found->some |= bits;
  found->all &= bits;
  return bits;
}

template <class T, int ROWS>
static __device__ __forceinline__ void papers_store_bits(
  const papers_field &field, const papers_readings<T, ROWS> &readings, papers_slice<ROWS> *slice)
{
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  papers_found found = { 0, UINT32_MAX };
#pragma unroll
  for (int i = 0; i < ROWS / PAPERS_WARPS; ++i) {
    const uint32_t left = papers_bits(field, readings.left[i], &found);
    const uint32_t right = papers_bits(field, readings.right[i], &found);
    if (lane == 0) slice->row[warp + PAPERS_WARPS * i] = make_uint2(left, right);
  }
  if (warp < ROWS / 32 + 3) {
    const uint32_t bits = papers_bits(field, readings.last, &found);
    if (lane == 0) {
      *(warp == 0 ? &slice->row[ROWS].x : warp == 1 ? &slice->row[ROWS].y : &slice->beside[warp - 2]) = bits;
    }
  }
  if (lane == 0) {
    slice->holds.of_warp[warp] =
      (uint8_t)((found.some != 0 ? PAPERS_HAS_INSIDE : 0) | (found.all != UINT32_MAX ? PAPERS_HAS_OUTSIDE : 0));
  }
}

/* A block's results for a slice, a bit per warp for each kind; the same for all threads. */
template <int ROWS> static __device__ __forceinline__ uint32_t papers_holds(const papers_slice<ROWS> &slice)
{
  const uint2 all = slice.holds.all;
  return all.x | all.y;
}

static __device__ __forceinline__ int papers_holds_any(uint32_t holds, int kind)
{
  return (holds & 0x01010101u * (unsigned)kind) != 0;
}

/* Whether samples are on both sides of the isovalue. */
static __device__ __forceinline__ int papers_is_crossed(uint32_t holds)
{
  return papers_holds_any(holds, PAPERS_HAS_INSIDE) && papers_holds_any(holds, PAPERS_HAS_OUTSIDE);
}

/* Columns 2 pair to 2 pair + 2 of a row. */
template <int ROWS>
static __device__ __forceinline__ uint32_t papers_three(const papers_slice<ROWS> &slice, int row, int pair)
{
  const uint2 bits = slice.row[row];
  const uint32_t beside = slice.beside[row >> 5] >> (row & 31);
  return __funnelshift_r(pair < 16 ? bits.x : bits.y, pair < 16 ? bits.y : beside, 2 * pair & 31) & 7;
}

/* Bits of the samples of 2 x 2 cells in SLICES slices of the ring: three of a row. */
template <int SLICES> struct papers_group {
  uint32_t row[SLICES][3];
};

template <int SLICES, int ROWS>
static __device__ __forceinline__ papers_group<SLICES> papers_group_of(
  const papers_slice<ROWS> *ring, unsigned slot, int column, int row)
{
  papers_group<SLICES> group;
#pragma unroll
  for (unsigned k = 0; k < SLICES; ++k) {
#pragma unroll
    for (int j = 0; j < 3; ++j) group.row[k][j] = papers_three(ring[(slot + k) % PAPERS_RING], 2 * row + j, column);
  }
  return group;
}

/* Whether they differ. */
template <int SLICES> static __device__ __forceinline__ int papers_is_mixed(const papers_group<SLICES> &group)
{
  uint32_t some = 0, all = 7;
#pragma unroll
  for (int i = 0; i < 3 * SLICES; ++i) {
    some |= group.row[i / 3][i % 3];
    all &= group.row[i / 3][i % 3];
  }
  return some != 0 && all != 7;
}

/* ---- upper levels ---- */

struct papers_levels {
  uint32_t *level[32];
  int top; /* the last one that is written */
};

/* The levels from + 1 to from + LEVELS, as far as there are; level from + 1 has `parents` elements, each the sum of RADIX. A
 * thread has one of them; a block has RADIX^(LEVELS - 1). */
template <int RADIX, int LEVELS> __global__ void papers_upper_kernel(papers_levels levels, int from, uint64_t parents)
{
  __shared__ uint32_t sums[PAPERS_UPPER_THREADS];
  uint64_t begin = (uint64_t)blockIdx.x * blockDim.x;
  unsigned count = blockDim.x;
  uint32_t sum = 0;
  if (begin + threadIdx.x < parents) {
    const uint4 *d_group = (const uint4 *)levels.level[from] + (begin + threadIdx.x) * (RADIX / 4);
#pragma unroll
    for (int i = 0; i < RADIX / 4; ++i) {
      const uint4 v = d_group[i];
      sum = papers_sum(sum, papers_sum(papers_sum(v.x, v.y), papers_sum(v.z, v.w)));
    }
    levels.level[from + 1][begin + threadIdx.x] = sum;
  }
  for (int l = from + 2; l <= from + LEVELS && l <= levels.top; ++l) {
    count /= RADIX;
    begin /= RADIX;
    parents = (parents + RADIX - 1) / RADIX;
    sums[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    if (threadIdx.x < count) {
      for (int i = 0; i < RADIX; ++i) sum = papers_sum(sum, sums[RADIX * threadIdx.x + i]);
      if (begin + threadIdx.x < parents) levels.level[l][begin + threadIdx.x] = sum;
    }
    __syncthreads();
  }
}

/* All levels above `from`; level from + 1 has `parents` elements. */
template <int RADIX, int LEVELS>
static inline cudaError_t papers_build_upper(const papers_levels &levels, int from, int64_t parents)
{
  const int threads = RADIX == 4 ? PAPERS_THREADS : PAPERS_UPPER_THREADS;
  cudaError_t error = cudaSuccess;
  while (error == cudaSuccess && from < levels.top) {
    error = papers_launch(
      papers_upper_kernel<RADIX, LEVELS>, papers_blocks(parents, threads), threads, levels, from, parents);
    parents = papers_blocks(parents, RADIX == 4 ? 1 << 2 * LEVELS : 1 << 3 * LEVELS);
    from += LEVELS;
  }
  return error;
}

/* ---- output ---- */

/* Writes N words of each lane of a warp to consecutive places, whole lines at a time. first: the warp's; end: of the
 * array; stage: 32 N words of the warp's own. N is odd, so that no two lanes use one bank. */
template <int N, class WORD>
static __device__ __forceinline__ void papers_store(
  WORD *d_out, uint64_t first, uint64_t end, const WORD *words, WORD *stage)
{
  const int lane = threadIdx.x & 31;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < N; ++i) stage[N * lane + i] = words[i];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const uint64_t at = first + (unsigned)(32 * i + lane);
    if (at < end) __stcs(d_out + at, stage[32 * i + lane]);
  }
}

#endif
