/* SPDX-License-Identifier: BSD-3-Clause
 * Device functions that the passes share: samples, bricks, sums. */
#ifndef PMB_CUDA_COMMON_CUH
#define PMB_CUDA_COMMON_CUH

#include "cuda/pmb_cuda.cuh"

/* The lane, from its special register, so that it takes no register of the kernel. */
__device__ __forceinline__ uint32_t pmb_cuda_lane_again(void)
{
#if defined(__CUDA_ARCH__)
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  __builtin_assume(lane < 32);
  return lane;
#else
  return threadIdx.x & 31;
#endif
}

/* ---- samples ---- */

__device__ __forceinline__ int pmb_cuda_clamp(int i, int n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Index of a sample; j and k are clamped to the volume, i must lie in it. */
__device__ __forceinline__ int64_t pmb_cuda_index(const pmb_cuda_job &job, int i, int j, int k)
{
  return i + job.pitch * pmb_cuda_clamp(j, job.dims[1]) + job.slice * pmb_cuda_clamp(k, job.dims[2]);
}

/* The same where bricks may be brought as they are needed. */
__device__ __forceinline__ int64_t pmb_cuda_place(const pmb_cuda_job &job, int i, int j, int k)
{
  if (!job.d_slots) {
    return pmb_cuda_index(job, i, j, k);
  }
  const uint32_t x = (uint32_t)i, y = (uint32_t)pmb_cuda_clamp(j, job.dims[1]),
                 z = (uint32_t)pmb_cuda_clamp(k, job.dims[2]);
  const uint32_t slot =
    job.d_slots[x / PMB_BRICK_X + job.bricks[0] * (y / PMB_BRICK_Y + job.bricks[1] * (z / PMB_BRICK_Z))];
  return (int64_t)slot * PMB_BRICK_SAMPLES +
    (x % PMB_BRICK_X + PMB_BRICK_X * (y % PMB_BRICK_Y + PMB_BRICK_Y * (z % PMB_BRICK_Z)));
}

/* Whether a sample is inside. The template is for integers of 8 and 16 bits. */
template <class T> __device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, T s)
{
  return (int)s >= isovalue.small_threshold;
}
#define PMB_CUDA_INSIDE(type, condition)                                               \
  __device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, type s) \
  {                                                                                    \
    return condition;                                                                  \
  }
PMB_CUDA_INSIDE(float, s >= isovalue.threshold_f32)
PMB_CUDA_INSIDE(double, s >= isovalue.value)
PMB_CUDA_INSIDE(int32_t, (double)s >= isovalue.value)
PMB_CUDA_INSIDE(uint32_t, (double)s >= isovalue.value)
PMB_CUDA_INSIDE(int64_t, !isovalue.none && s >= isovalue.threshold_i64)
PMB_CUDA_INSIDE(uint64_t, !isovalue.none && s >= isovalue.threshold_u64)
#undef PMB_CUDA_INSIDE

/* Whether a sample equals the isovalue; only used if such points are joined. */
template <class T> __device__ __forceinline__ int pmb_cuda_equal(const pmb_isovalue &isovalue, T s)
{
  if (sizeof(T) <= 2) {
    return (int)s == isovalue.small_equal;
  }
  if (sizeof(typename pmb_cuda_real<T>::type) == 4) {
    return (float)s == isovalue.f32;
  }
  return (double)s == isovalue.value;
}

/* As in pmb_hidden.h. */
__device__ __forceinline__ int pmb_cuda_hides_sample(const pmb_cuda_job &job, int i, int j, int k)
{
  return pmb_is_flagged(job.d_sample_flags, job.hidden_sample_bits, job.dims[0], job.dims[1], i, j, k);
}
__device__ __forceinline__ int pmb_cuda_hides_cell(const pmb_cuda_job &job, int i, int j, int k)
{
  const int nx = job.dims[0] - 1, ny = job.dims[1] - 1, nz = job.dims[2] - 1;
  return job.d_cell_flags && i >= 0 && j >= 0 && k >= 0 && i < nx && j < ny && k < nz &&
    pmb_is_flagged(job.d_cell_flags, job.hidden_cell_bits, nx, ny, i, j, k);
}

/* ---- bricks ---- */

typedef struct pmb_cuda_box {
  uint32_t isovalue; /* index */
  int origin[3];
} pmb_cuda_box;

__device__ __forceinline__ uint32_t pmb_cuda_low_bits(int n)
{
  return n <= 0 ? 0 : n >= 32 ? UINT32_MAX : (1u << n) - 1;
}

__device__ __forceinline__ uint32_t pmb_cuda_divide(uint32_t n, pmb_cuda_divisor by)
{
  return (uint32_t)((uint64_t)n * by.factor >> by.shift);
}

/* The box of the brick at a place counted in bricks. */
__device__ __forceinline__ pmb_cuda_box pmb_cuda_box_at(uint32_t isovalue, uint32_t x, uint32_t y, uint32_t z)
{
  pmb_cuda_box box;
  box.isovalue = isovalue;
  box.origin[0] = (int)x * PMB_BRICK_X;
  box.origin[1] = (int)y * PMB_BRICK_Y;
  box.origin[2] = (int)z * PMB_BRICK_Z;
  return box;
}

/* The brick's columns in the volume, for bricks at its border. */
__device__ __forceinline__ uint32_t pmb_cuda_columns(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  int columns = job.dims[0] - box.origin[0];
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(columns)); /* or the compiler computes it for all bricks */
#endif
  return pmb_cuda_low_bits(columns);
}

__device__ __forceinline__ pmb_cuda_box pmb_cuda_box_of(const pmb_cuda_job &job, uint32_t brick)
{
  uint32_t isovalue = 0;
  if (job.isovalue_count > 1) {
    isovalue = pmb_cuda_divide(brick, job.by_stride);
    brick -= isovalue * job.stride;
  }
  const uint32_t row = pmb_cuda_divide(brick, job.by_bricks[0]);
  const uint32_t z = pmb_cuda_divide(row, job.by_bricks[1]);
  return pmb_cuda_box_at(isovalue, brick - row * job.bricks[0], row - z * job.bricks[1], z);
}

/* The brick's columns in row (y,z) that are in the volume. */
__device__ __forceinline__ uint32_t pmb_cuda_row_columns(
  const pmb_cuda_job &job, const pmb_cuda_box &box, int y, int z)
{
  return box.origin[1] + y < job.dims[1] && box.origin[2] + z < job.dims[2] ? pmb_cuda_columns(job, box) : 0;
}

/* Whether the brick and the samples around it, one below and two above, are all in the volume. */
__device__ __forceinline__ int pmb_cuda_is_surrounded(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  return box.origin[0] > 0 && box.origin[1] > 0 && box.origin[2] > 0 &&
    box.origin[0] + PMB_BRICK_X + 1 < job.dims[0] && box.origin[1] + PMB_BRICK_Y + 1 < job.dims[1] &&
    box.origin[2] + PMB_BRICK_Z + 1 < job.dims[2];
}

/* Bit a: the brick is the last along axis a. */
__device__ __forceinline__ uint32_t pmb_cuda_borders(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  return (uint32_t)(box.origin[0] + PMB_BRICK_X >= job.dims[0]) |
    (uint32_t)(box.origin[1] + PMB_BRICK_Y >= job.dims[1]) << 1 |
    (uint32_t)(box.origin[2] + PMB_BRICK_Z >= job.dims[2]) << 2;
}

/* The word of columns 1 to 32. */
__device__ __forceinline__ uint32_t pmb_cuda_next(uint32_t word, uint32_t next_bit)
{
  return __funnelshift_r(word, next_bit, 1);
}

/* The masks of a row's points. */
typedef struct pmb_cuda_masks {
  uint32_t kind[PMB_KINDS];
} pmb_cuda_masks;

/* Packs into a word the points of the brick before a row (11 bits), and of the row before its y edges (6), z edges (7) and sample
 * points (7). x, y, z: points of the row by kind. */
__device__ __forceinline__ uint32_t pmb_cuda_pack_first(uint32_t before, uint32_t x, uint32_t y, uint32_t z)
{
  return before | x << 11 | (x + y) << 17 | (x + y + z) << 24;
}

/* Points of the brick before the first of a kind in a row, from such a word. */
__device__ __forceinline__ uint32_t pmb_cuda_row_first(uint32_t word, int kind)
{
  return (word & 0x7ff) +
    (kind == PMB_EDGE_X      ? 0
        : kind == PMB_EDGE_Y ? word >> 11 & 0x3f
        : kind == PMB_EDGE_Z ? word >> 17 & 0x7f
                             : word >> 24);
}

/* ---- passes one after another ---- */

/* A pass launched with PMB_CUDA_EARLY begins while its predecessor ends. Here it waits for that end, before it reads results. Each
 * block must call this, before pmb_cuda_let_next_begin. */
__device__ __forceinline__ void pmb_cuda_await_passes(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* When all blocks have called this or ended, blocks of the next pass may start where there is room. Passes with long blocks call it
 * late: at their beginning it costs 1 to 2%. */
__device__ __forceinline__ void pmb_cuda_let_next_begin(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* ---- ordered scans ---- */

/* Release store and acquire load; cheaper than __threadfence. */
__device__ __forceinline__ void pmb_cuda_store_release(volatile uint64_t *d_word, uint64_t value)
{
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(d_word), "l"(value) : "memory");
#else
  __threadfence();
  *d_word = value;
#endif
}

__device__ __forceinline__ uint64_t pmb_cuda_load_acquire(const volatile uint64_t *d_word)
{
  uint64_t value;
#if defined(__CUDA_ARCH__)
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(d_word) : "memory");
#else
  value = *d_word;
  __threadfence();
#endif
  return value;
}

/* A block's sum, below 2^48, marked with the count, so that sums of earlier counts need no clearing. */
__device__ __forceinline__ uint64_t pmb_cuda_marked_sum(uint64_t sum, uint32_t epoch)
{
  return sum | (uint64_t)epoch << 50;
}

/* The sum over a warp. */
__device__ __forceinline__ uint32_t pmb_cuda_word_sum(uint32_t value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(UINT32_MAX, value);
#else
  for (int step = 16; step > 0; step >>= 1) {
    value += __shfl_xor_sync(UINT32_MAX, value, step);
  }
  return value;
#endif
}

/* The smallest and the largest over groups of `lanes` lanes. */
template <class T> __device__ __forceinline__ void pmb_cuda_reduce(int lanes, T *low, T *high)
{
  for (int step = lanes / 2; step > 0; step >>= 1) {
    const T l = __shfl_xor_sync(UINT32_MAX, *low, step), h = __shfl_xor_sync(UINT32_MAX, *high, step);
    *low = l < *low ? l : *low;
    *high = h > *high ? h : *high;
  }
}

/* A lane's value plus that of the lane `step` lower, if that exists. */
__device__ __forceinline__ uint32_t pmb_cuda_add_below(uint32_t value, int step)
{
#if defined(__CUDA_ARCH__)
  uint32_t sum; /* the shuffle's predicate says whether it exists */
  asm volatile("{ .reg .pred there; .reg .u32 below; shfl.sync.up.b32 below|there, %1, %2, 0, 0xffffffff; "
               "@there add.u32 below, below, %1; mov.u32 %0, below; }"
               : "=r"(sum)
               : "r"(value), "r"(step));
  return sum;
#else
  const uint32_t below = __shfl_up_sync(UINT32_MAX, value, step);
  return value + ((threadIdx.x & 31) >= step ? below : 0);
#endif
}

/* The sum over the lanes up to this one, included. */
__device__ __forceinline__ uint32_t pmb_cuda_inclusive_sum(uint32_t value)
{
#pragma unroll
  for (int step = 1; step < 32; step <<= 1) {
    value = pmb_cuda_add_below(value, step);
  }
  return value;
}

#endif
