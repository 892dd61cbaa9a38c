/* SPDX-License-Identifier: BSD-3-Clause
 * Quick sums of kernels at the samples of a tile, by approximate roots and fused multiply-add, with bounds of their difference
 * from the sums of pmb_particle.h. They decide whether a sample is inside only where the bounds make it certain. */
#ifndef PMB_CUDA_PARTICLE_QUICK_CUH
#define PMB_CUDA_PARTICLE_QUICK_CUH

#include "particles/cuda/pmb_cuda_particle_near.cuh"

enum {
  QUICK_LISTED = 64, /* particles in a list */
  QUICK_STOP = 16    /* particles between tests whether all samples are inside */
};

/* A box of samples. Coordinates count from the brick's first sample. */
typedef struct quick_box {
  float center[3], half[3]; /* half: half of the length along each axis, from first to last sample */
} quick_box;

/* Particles that reach a tile: the offset from each to the tile's center, times shape and quick_factor, and its amount. */
template <int KERNEL> struct quick_list {
  float4 particle[QUICK_LISTED];
  float factor[QUICK_LISTED];
  pmb_cuda_shape shape[near_room<KERNEL, QUICK_LISTED>]; /* of PMB_KERNEL_SHAPED */
};

/* A lane's sum, with bounds of its error. */
typedef struct quick_sum {
  float sum;
  float error; /* the lane's share of the terms' errors, in units of 2^-24 */
  int count;   /* number of terms */
} quick_sum;

/* The sum over all lanes; for spheres the maximum. */
template <int KERNEL> static __device__ __forceinline__ float quick_of_lanes(float value)
{
  for (int step = 16; step > 0; step >>= 1) {
    const float other = __shfl_xor_sync(UINT32_MAX, value, step);
    value = KERNEL == PMB_KERNEL_SPHERES ? fmaxf(value, other) : value + other;
  }
  return value;
}

/* ---- approximations ---- */

static __device__ __forceinline__ float quick_root(float x)
{
#if defined(__CUDA_ARCH__)
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#else
  return sqrtf(x);
#endif
}

static __device__ __forceinline__ float quick_exp(float x)
{
#if defined(__CUDA_ARCH__)
  return __expf(x);
#else
  return expf(x);
#endif
}

/* Clamps to [0, 1]. */
static __device__ __forceinline__ float quick_clamp(float x)
{
#if defined(__CUDA_ARCH__)
  return __saturatef(x);
#else
  return x > 0 ? x < 1 ? x : 1 : 0;
#endif
}

/* The factor of lengths in a kernel: its scale or the root of that. */
template <int KERNEL> static __device__ __forceinline__ float quick_factor(float scale)
{
  return KERNEL == PMB_KERNEL_SPHERES ? 1 : pmb_is_spline(KERNEL) ? scale : quick_root(scale);
}

/* Approximates pmb_kernel_add. q2: the squared length times the squared factor. */
template <int KERNEL> static __device__ __forceinline__ float quick_add(float sum, float q2, float amount)
{
  if (KERNEL == PMB_KERNEL_SPHERES) {
    return fmaxf(sum, amount - quick_root(q2));
  }
  if (KERNEL == PMB_KERNEL_GAUSSIAN) {
    return __fmaf_rn(amount, fmaxf(quick_exp(-q2) - 1.2340980e-4f /* exp(-9) */, 0), sum);
  }
  if (pmb_is_spline(KERNEL)) {
    const float q = quick_root(q2), outer = quick_clamp(__fmaf_rn(q, -0.5f, 1)), inner = quick_clamp(1 - q);
    return __fmaf_rn(amount, __fmaf_rn(outer * outer, outer + outer, -(inner * inner) * inner), sum);
  }
  const float s = quick_clamp(__fmaf_rn(q2, -0.25f, 1));
  return __fmaf_rn(amount, s * s * s, sum);
}

/* ---- errors ---- */

/* Error of a term, in units of 2^-24, with lengths up to the reach plus a tile. */
template <int KERNEL>
static __device__ __forceinline__ float quick_error_of_term(const pmb_cuda_cloud &c, float factor, float amount)
{
  const float of_length = pmb_kernel_roundings_of_length(KERNEL) * factor * ((float)c.reach + 8);
  return fabsf(amount) * (pmb_kernel_roundings(KERNEL) + of_length);
}

/* Error of a sum. error: of the terms, over all lanes. Each addition rounds relative to the sum so far. */
static __device__ __forceinline__ float quick_error_of_sum(const pmb_cuda_cloud &c, float sum, float error, int count)
{
  const float of_spheres = 16 * ((float)c.reach + fabsf((float)c.depth) + 16);
  const float of_sums = error + (float)(2 * count) * (c.only_grows ? sum : error);
  return 0x1p-24f * (c.kernel == PMB_KERNEL_SPHERES ? of_spheres : of_sums);
}

/* ---- tiles ---- */

/* A warp takes a region of 8 x 4 x 4 samples and its tiles of 4 x 4 x 2 one after another. Of all shapes of 32 samples this
 * one is reached by the fewest particles. */
static __device__ __forceinline__ quick_box quick_region(int region)
{
  const quick_box box = { { (float)(8 * region) + 3.5f, 1.5f, 1.5f }, { 3.5f, 1.5f, 1.5f } };
  return box;
}
static __device__ __forceinline__ quick_box quick_tile(int region, int tile)
{
  const quick_box box = { { (float)(8 * region + (tile & 1) * 4) + 1.5f, 1.5f, (float)(tile & 2) + 0.5f },
    { 1.5f, 1.5f, 0.5f } };
  return box;
}

/* The offset of the lane's sample from a tile's center. */
static __device__ __forceinline__ float3 quick_own(void)
{
  const int lane = threadIdx.x & 31;
  return make_float3((float)(lane & 3) - 1.5f, (float)(lane >> 2 & 3) - 1.5f, (float)(lane >> 4) - 0.5f);
}

/* The squared distance of a particle from a box. *way: the offset from the particle to the box's center. */
static __device__ __forceinline__ float quick_gap2(
  const quick_box &box, const float4 &cell, const float4 &fraction, float3 *way)
{
  way->x = (box.center[0] - cell.x) - fraction.x;
  way->y = (box.center[1] - cell.y) - fraction.y;
  way->z = (box.center[2] - cell.z) - fraction.z;
  const float x = pmb_positive(fabsf(way->x) - box.half[0]), y = pmb_positive(fabsf(way->y) - box.half[1]);
  const float z = pmb_positive(fabsf(way->z) - box.half[2]);
  return x * x + (y * y + z * z);
}

/* Whether all sums are surely below the isovalue, given an upper bound. */
static __device__ __forceinline__ int quick_is_empty(const pmb_cuda_cloud &c, float most)
{
  const float threshold = c.isovalue.threshold_f32;
  return most + 0.001f * (fabsf(most) + fabsf(threshold)) + quick_error_of_sum(c, 0, 0, 0) < threshold;
}

/* Whether all samples of the tile are surely inside, whatever is added later. */
static __device__ __forceinline__ int quick_is_full(const pmb_cuda_cloud &c, const quick_sum &s, float error)
{
  const float threshold = c.isovalue.threshold_f32;
  const float enough = threshold + 2 * quick_error_of_sum(c, threshold, error, s.count);
  return c.only_grows && __all_sync(UINT32_MAX, s.sum >= enough);
}

/* Numbers of listed particles. deep: 1 if the region is likely inside. */
typedef struct quick_region_list {
  int close, far, deep;
} quick_region_list;

/* Lists those of n loaded particles, from `first` on, that reach a region: close ones from `list` on, others before it. Returns none
 * if the sum stays below the isovalue even with each particle at its nearest place. is_all: 1 if there are no other particles. */
template <int KERNEL, int CAPACITY>
static __device__ __forceinline__ quick_region_list quick_list_region(const pmb_cuda_cloud &c,
  const near_particles<CAPACITY> *near, int first, int n, int is_all, const quick_box &region, uint16_t *list)
{
  const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
  float most = KERNEL == PMB_KERNEL_SPHERES ? c.background : 0;
  quick_region_list listed = { 0, 0, 0 };
  __syncwarp();
  for (int begin = 0; begin < n; begin += 32) {
    const int i = first + min(begin + (int)lane, n - 1);
    const float4 cell = near->cell[i], fraction = near->fraction[i];
    float3 way;
    const float gap2 = quick_gap2(region, cell, fraction, &way), reach2 = near->place[i].w;
    const uint32_t reach = __ballot_sync(UINT32_MAX, begin + (int)lane < n && gap2 <= reach2);
    /* all that are close to a tile, see add_to_tiles */
    const uint32_t close = reach & __ballot_sync(UINT32_MAX, gap2 <= 1.01f * PMB_CORE2 * reach2),
                   far = reach & ~close;
    if (reach >> lane & 1) {
      const float factor = quick_factor<KERNEL>(fraction.w);
      list[close >> lane & 1 ? listed.close + __popc(close & below) : -1 - listed.far - __popc(far & below)] =
        (uint16_t)i;
      most = quick_add<KERNEL>(most, gap2 * (factor * factor), pmb_positive(cell.w));
    }
    listed.close += __popc(close);
    listed.far += __popc(far);
  }
  __syncwarp();
  const float all = quick_of_lanes<KERNEL>(most);
  listed.deep = is_all && c.only_grows && all > PMB_DEEP * c.isovalue.threshold_f32;
  return is_all && quick_is_empty(c, all) ? quick_region_list{ 0, 0, 0 } : listed;
}

/* Approximates pmb_kernel_value and pmb_kernel_slope. */
template <int KERNEL>
static __device__ __forceinline__ void quick_tangent(float distance2, float scale, float *value, float *slope)
{
  if (pmb_is_spline(KERNEL)) {
    const float inverse = rsqrtf(distance2), q = distance2 * inverse * scale;
    const float outer = quick_clamp(__fmaf_rn(q, -0.5f, 1)), inner = quick_clamp(1 - q);
    const float outer2 = outer * outer, inner2 = inner * inner;
    *value = __fmaf_rn(outer2, outer + outer, -inner2 * inner);
    *slope = 3 * scale * inverse * (inner2 - outer2);
  } else {
    *value = pmb_kernel_value(KERNEL, distance2, scale);
    *slope = pmb_kernel_slope(KERNEL, distance2, scale);
  }
}

/* Bits of the tiles of a region that are surely inside, by lower bounds for blocks of 2 x 2 x 2 samples. Kernels are convex in
 * the squared distance, so tangents at the samples' mean squared distance bound them from below. Half of the lanes have every second
 * particle. The tangents' rounding errors are below twice those of a sum. */
template <int KERNEL, int CAPACITY>
static __device__ __forceinline__ uint32_t quick_full_tiles(
  const pmb_cuda_cloud &c, const near_particles<CAPACITY> *near, const uint16_t *list, int n, const quick_box &region)
{
  const int lane = threadIdx.x & 31;
  if (KERNEL == PMB_KERNEL_SPHERES || KERNEL == PMB_KERNEL_SHAPED) { /* no sum; longer ways within a block */
    return 0;
  }
  const float center[3] = { region.center[0] + (float)((lane & 1) * 2 + (lane & 4)) - 3,
    region.center[1] + (float)(lane & 2) - 1, region.center[2] + (float)(lane >> 3 & 1) * 2 - 1 };
  float sum[5] = { 0, 0, 0, 0, 0 }; /* gradient, potential, error */
  for (int i = lane >> 4; i < n; i += 2) {
    const float4 cell = near->cell[list[i]], fraction = near->fraction[list[i]];
    const float x = (center[0] - cell.x) - fraction.x, y = (center[1] - cell.y) - fraction.y;
    const float z = (center[2] - cell.z) - fraction.z;
    float value, slope;
    quick_tangent<KERNEL>(__fmaf_rn(x, x, __fmaf_rn(y, y, __fmaf_rn(z, z, 0.75f))), fraction.w, &value, &slope);
    slope *= cell.w;
    sum[0] = __fmaf_rn(slope, x, sum[0]);
    sum[1] = __fmaf_rn(slope, y, sum[1]);
    sum[2] = __fmaf_rn(slope, z, sum[2]);
    sum[3] = __fmaf_rn(cell.w, value, sum[3]);
    sum[4] += quick_error_of_term<KERNEL>(c, quick_factor<KERNEL>(fraction.w), cell.w);
  }
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    sum[k] += __shfl_xor_sync(UINT32_MAX, sum[k], 16);
  }
  const float least = sum[3] - 0.5f * (fabsf(sum[0]) + fabsf(sum[1]) + fabsf(sum[2]));
  const float enough = c.isovalue.threshold_f32 + 4 * quick_error_of_sum(c, c.isovalue.threshold_f32, sum[4], n);
  uint32_t full = __ballot_sync(UINT32_MAX, least >= enough); /* tile 0 has bits 0 to 3, and so on */
  full &= full >> 1;
  full &= full >> 2;
  return (full & 1) | (full >> 3 & 2) | (full >> 6 & 4) | (full >> 9 & 8);
}

/* Adds the listed particles to the lanes' sums; stops once quick_is_full. */
template <int KERNEL>
static __device__ __forceinline__ void quick_add_list(
  const pmb_cuda_cloud &c, const quick_list<KERNEL> *list, int count, quick_sum *s)
{
  const float error = quick_of_lanes<PMB_KERNEL_SPLINE>(s->error);
  const float3 own = quick_own();
  s->count += count;
  for (int begin = 0; begin < count && !quick_is_full(c, *s, error); begin += QUICK_STOP) {
    const int end = min(begin + QUICK_STOP, count);
    for (int i = begin; i < end; ++i) {
      const float4 p = list->particle[i];
      const float factor = list->factor[i];
      float way[3] = { own.x, own.y, own.z };
      if (KERNEL == PMB_KERNEL_SHAPED) {
        pmb_shape_apply(list->shape[i].element, way);
      }
      const float x = __fmaf_rn(way[0], factor, p.x), y = __fmaf_rn(way[1], factor, p.y);
      const float z = __fmaf_rn(way[2], factor, p.z);
      s->sum = quick_add<KERNEL>(s->sum, __fmaf_rn(x, x, __fmaf_rn(y, y, z * z)), p.w);
    }
  }
}

/* Of the n particles listed for the region, adds those whose squared distance from the tile is above `from` and up to `to` times
 * their squared reach. */
template <int KERNEL, int CAPACITY>
static __device__ __forceinline__ void quick_add_near(const pmb_cuda_cloud &c, const near_particles<CAPACITY> *near,
  const uint16_t *of_region, int n, float from, float to, const quick_box &tile, quick_list<KERNEL> *list,
  quick_sum *s)
{
  const int lane = threadIdx.x & 31;
  int count = 0;
  for (int begin = 0; begin < n; begin += 32) {
    const int i = of_region[min(begin + lane, n - 1)];
    const float4 cell = near->cell[i], fraction = near->fraction[i];
    float3 way;
    const float gap2 = quick_gap2(tile, cell, fraction, &way), reach2 = near->place[i].w;
    const uint32_t reach = __ballot_sync(UINT32_MAX, begin + lane < n && gap2 > from * reach2 && gap2 <= to * reach2);
    if (reach >> lane & 1) {
      const int at = count + __popc(reach & ((1u << lane) - 1));
      const float factor = quick_factor<KERNEL>(fraction.w);
      float shaped[3] = { way.x, way.y, way.z };
      if (KERNEL == PMB_KERNEL_SHAPED) {
        list->shape[at] = near->shape[i];
        pmb_shape_apply(near->shape[i].element, shaped);
      }
      list->particle[at] = make_float4(shaped[0] * factor, shaped[1] * factor, shaped[2] * factor, cell.w);
      list->factor[at] = factor;
      s->error += quick_error_of_term<KERNEL>(c, factor, cell.w);
    }
    count += __popc(reach);
    if (count > QUICK_LISTED - 32 || begin + 32 >= n) {
      __syncwarp();
      quick_add_list<KERNEL>(c, list, count, s);
      __syncwarp();
      count = 0;
    }
  }
}

#endif
