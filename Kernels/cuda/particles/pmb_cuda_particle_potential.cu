/* SPDX-License-Identifier: BSD-3-Clause
 * Passes densities and shapes: sums over the neighbours of particles. Pass potential: whether the sums of kernels at the samples of
 * bricks reach the isovalue. */
#include "cuda/particles/pmb_cuda_particle_quick.cuh"

/* ---- densities and shapes ---- */

enum { DENSITY_NEAR = 128, DENSITY_SPAN = 16 }; /* particles loaded together; most cubes of a box along x */

typedef struct density_scratch {
  near_rows rows;
  near_particles<DENSITY_NEAR> near;
} density_scratch;

/* Calls `take` with the offset from each near particle to the lane's, its square and the particle's mass, in order. wanted: 1 if
 * the lane's particle is in the box. */
template <class TAKE>
static __device__ __forceinline__ void each_in_box(const pmb_cuda_cloud &c, const near_box &box,
  const pmb_cuda_particle &own, int wanted, density_scratch *scratch, TAKE take)
{
  float whole[3], place[3];
  for (int a = 0; a < 3; ++a) {
    whole[a] = (float)(own.cell[a] - box.first[a]);
    place[a] = whole[a] + own.fraction[a];
  }
  const uint32_t all = find_rows<32>(c, box, &scratch->rows);
  for (uint32_t from = 0; from < all; from += DENSITY_NEAR) {
    const int n = (int)min(all - from, (uint32_t)DENSITY_NEAR);
    take_near<32>(c, box, &scratch->rows, NULL, from, n, 0, &scratch->near, NULL);
    each_reaching(&scratch->near, wanted ? n : 0, place, [&](int i) {
      float offset[3];
      const float d2 = near_distance2<PMB_KERNEL_SPLINE>(&scratch->near, i, whole, own.fraction, offset);
      take(offset, d2, scratch->near.cell[i].w);
    });
  }
}

/* The same for a warp's 32 successive particles, of which there are `count`. Takes those that are close together at the same time. */
template <class TAKE>
static __device__ __forceinline__ void each_neighbour(
  const pmb_cuda_cloud &c, const pmb_cuda_particle &own, int64_t count, density_scratch *scratch, TAKE take)
{
  uint32_t left = __ballot_sync(UINT32_MAX, (int)threadIdx.x < count);
  while (left) {
    const int leader = __ffs((int)left) - 1;
    int same = left >> threadIdx.x & 1;
    near_box box;
    for (int a = 0; a < 3; ++a) {
      const int cube = own.cell[a] >> c.shift, lead = __shfl_sync(UINT32_MAX, cube, leader);
      same &= cube >= lead && cube - lead <= (a == 0 ? DENSITY_SPAN : 0);
    }
    for (int a = 0; a < 3; ++a) {
      int low = same ? own.cell[a] : INT32_MAX, high = same ? own.cell[a] : INT32_MIN;
      pmb_cuda_reduce(32, &low, &high);
      box.first[a] = low;
      box.last[a] = high + 1;
    }
    each_in_box(c, box, own, same, scratch, take);
    left &= ~__ballot_sync(UINT32_MAX, same);
  }
}

static __global__ void densities_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ density_scratch scratch;
  const int64_t first = (int64_t)blockIdx.x * 32, index = min(first + (int)threadIdx.x, c.count - 1);
  const pmb_cuda_particle own = c.d_particles[index];
  float density = 0;
  each_neighbour(c, own, c.count - first, &scratch, [&](const float *, float d2, float mass) {
    density = pmb_kernel_add(PMB_KERNEL_SPLINE, density, d2, own.scale, mass);
  });
  if (first + (int)threadIdx.x < c.count) {
    c.d_amounts[index] = own.mass / density;
  }
}

pmb_status pmb_cuda_find_densities(pmb_cuda *cuda, const pmb_cuda_cloud *c)
{
  return pmb_cuda_check(
    cuda->context, pmb_cuda_launch(cuda, 0, densities_kernel, pmb_cuda_blocks(c->count, 32), 32, 0, *c), "densities");
}

static __global__ void shapes_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ density_scratch scratch;
  const int64_t first = (int64_t)blockIdx.x * 32, index = min(first + (int)threadIdx.x, c.count - 1);
  const pmb_cuda_particle own = c.d_particles[index];
  float sum[PMB_SHAPE_SUMS] = { 0 };
  each_neighbour(c, own, c.count - first, &scratch,
    [&](const float *offset, float, float) { pmb_shape_add(offset, own.scale, sum); });
  if (first + (int)threadIdx.x < c.count) {
    pmb_particle_moved to;
    to.amount = c.d_amounts[index] * pmb_shape_find(sum, to.shape);
    to.scale = own.scale;
    to.reach = c.varied ? c.d_reach2[index] : 0;
    to.index = c.d_sorted[index];
    for (int a = 0; a < 3; ++a) {
      to.cell[a] = own.cell[a];
      to.fraction[a] = own.fraction[a];
      pmb_shape_move(sum[1 + a], sum[0], own.scale, &to.cell[a], &to.fraction[a]);
    }
    c.d_moved[index] = to;
  }
}

pmb_status pmb_cuda_find_shapes(pmb_cuda *cuda, pmb_cuda_cloud *c)
{
  PMB_STEP(pmb_cuda_take(cuda, &cuda->particles.moved, c->count, "the particles' shapes", &c->d_moved));
  return pmb_cuda_check(
    cuda->context, pmb_cuda_launch(cuda, 0, shapes_kernel, pmb_cuda_blocks(c->count, 32), 32, 0, *c), "shapes");
}

/* ---- potential ---- */

enum { WARPS = 4, THREADS = 32 * WARPS, NEAR = 320, TILES = 4 }; /* of a warp */

/* Shared memory of a block. A block has one brick. */
template <int KERNEL> struct potential_scratch {
  near_rows rows;
  near_particles<NEAR> near;
  pmb_cuda_shape shape[near_room<KERNEL, NEAR>];
  quick_list<KERNEL> quick[WARPS];
  uint16_t list[WARPS][NEAR];
  uint32_t inside[WARPS * TILES]; /* inside bits of each tile's samples */
  uint32_t unclear;               /* bits of the tiles that quick sums do not decide */
};

/* Finds by quick sums which samples of a warp's tiles are inside. */
template <int KERNEL>
static __device__ __forceinline__ void decide_quickly(
  const pmb_cuda_cloud &c, const near_box &box, uint32_t all, potential_scratch<KERNEL> *scratch)
{
  const int warp = threadIdx.x >> 5;
  uint16_t *list = scratch->list[warp];
  quick_sum sums[TILES];
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    sums[tile] = { c.background, 0, 0 };
  }
  for (uint32_t from = 0; from < all; from += NEAR) {
    const int n = (int)min(all - from, (uint32_t)NEAR);
    take_near<THREADS>(c, box, &scratch->rows, c.d_amounts, from, n, 0, &scratch->near, NULL);
    int deep;
    const int listed = quick_list_region<KERNEL>(c, &scratch->near, n, all <= NEAR, quick_region(warp), list, &deep);
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
      const quick_box box_of_tile = quick_tile(warp, tile);
      quick_list<KERNEL> *room = &scratch->quick[warp];
      float from = -1, to = deep ? PMB_CORE2 : 1; /* where all is inside, the closest particles often suffice */
#pragma unroll 1
      for (;;) {
        quick_add_near<KERNEL>(c, &scratch->near, list, listed, from, to, box_of_tile, room, &sums[tile]);
        if (to == 1 || quick_is_full(c, sums[tile], quick_of_lanes<PMB_KERNEL_SPLINE>(sums[tile].error))) {
          break;
        }
        from = to;
        to = 1;
      }
    }
  }
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    const float terms = quick_of_lanes<PMB_KERNEL_SPLINE>(sums[tile].error), sum = sums[tile].sum;
    const int clear = fabsf(sum - c.isovalue.threshold_f32) > quick_error_of_sum(c, sum, terms, sums[tile].count);
    const uint32_t inside = __ballot_sync(UINT32_MAX, pmb_cuda_inside(c.isovalue, sum));
    scratch->inside[TILES * warp + tile] = inside; /* all lanes write the same */
    if (!__all_sync(UINT32_MAX, clear) && !quick_is_full(c, sums[tile], terms)) {
      atomicOr(&scratch->unclear, 1u << (TILES * warp + tile));
    }
  }
}

/* Finds by the sums of pmb_particle.h which samples of a warp's tile are inside. */
template <int KERNEL>
static __device__ __forceinline__ void decide(
  const pmb_cuda_cloud &c, const near_box &box, uint32_t all, int tile, potential_scratch<KERNEL> *scratch)
{
  const int warp = threadIdx.x >> 5;
  const quick_box box_of_tile = quick_tile(warp, tile);
  const float3 own = quick_own();
  const float whole[3] = { box_of_tile.center[0] + own.x, box_of_tile.center[1] + own.y,
    box_of_tile.center[2] + own.z };
  const float none[3] = { 0, 0, 0 };
  float sum = c.background;
  for (uint32_t from = 0; from < all; from += NEAR) {
    const int n = (int)min(all - from, (uint32_t)NEAR);
    if (all > NEAR) { /* otherwise they are still loaded */
      take_near<THREADS>(c, box, &scratch->rows, c.d_amounts, from, n, 0, &scratch->near, NULL);
    }
    each_reaching(&scratch->near, n, whole, [&](int i) {
      float offset[3];
      const float d2 = near_distance2<KERNEL>(&scratch->near, i, whole, none, offset);
      sum = pmb_kernel_add(KERNEL, sum, d2, scratch->near.fraction[i].w, scratch->near.cell[i].w);
    });
  }
  __syncwarp();
  scratch->inside[TILES * warp + tile] = __ballot_sync(UINT32_MAX, pmb_cuda_inside(c.isovalue, sum));
}

/* Gathers the inside bits of a row from those of the tiles. */
static __device__ __forceinline__ uint32_t row_of_tiles(const uint32_t *inside, int row)
{
  const int y = row % PMB_BRICK_Y, z = row / PMB_BRICK_Y;
  uint32_t word = 0;
  for (int x = 0; x < 8; ++x) {
    word |= (inside[x / 2 * TILES + z / 2 * 2 + x % 2] >> (z % 2 * 16 + y * 4) & 15) << 4 * x;
  }
  return word;
}

template <int KERNEL>
static __global__ void __launch_bounds__(THREADS) potential_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ potential_scratch<KERNEL> scratch;
  scratch.near.shape = scratch.shape;
  const near_box box = box_of_brick(c, c.d_bricks[blockIdx.x], 0);
  scratch.unclear = 0;
  const uint32_t all = find_rows<THREADS>(c, box, &scratch.rows);
  decide_quickly<KERNEL>(c, box, all, &scratch);
  __syncthreads();
  for (int tile = 0; tile < TILES; ++tile) {
    if (scratch.unclear & 0x1111u << tile) { /* of any warp, since the block loads particles together */
      decide<KERNEL>(c, box, all, tile, &scratch);
    }
  }
  __syncthreads();
  if (threadIdx.x < PMB_BRICK_ROWS) {
    c.d_words[(int64_t)blockIdx.x * PMB_BRICK_ROWS + threadIdx.x] = row_of_tiles(scratch.inside, threadIdx.x);
  }
}

pmb_status pmb_cuda_find_potential(pmb_cuda *cuda, const pmb_cuda_cloud *c)
{
  return pmb_cuda_check(cuda->context,
    PMB_CUDA_BY_KERNEL(c->kernel, pmb_cuda_launch(cuda, 0, potential_kernel<KERNEL>, c->brick_count, THREADS, 0, *c)),
    "potential of particles");
}
