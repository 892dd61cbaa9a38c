/* SPDX-License-Identifier: BSD-3-Clause
 * Passes densities and shapes: sums over the neighbours of particles. Pass potential: whether the sums of kernels at the samples of
 * bricks reach the isovalue. */
#include "cuda/particles/pmb_cuda_particle_quick.cuh"

/* ---- densities and shapes ---- */

enum {
  NEIGHBOURS = 48,
  NEIGHBOUR_STEP = 8
}; /* room of a lane's list; candidates between tests whether lists are full */

/* The indices of each lane's neighbours. A block is a warp. */
typedef struct neighbour_list {
  uint32_t index[NEIGHBOURS][32];
} neighbour_list;

/* The offset from a particle to another, and its square. */
static __device__ __forceinline__ float neighbour_distance2(
  const pmb_cuda_particle &own, const pmb_cuda_particle &p, float offset[3])
{
  for (int a = 0; a < 3; ++a) {
    offset[a] = pmb_particle_offset((float)(own.cell[a] - p.cell[a]), own.fraction[a], 0, p.fraction[a]);
  }
  return offset[0] * offset[0] + (offset[1] * offset[1] + offset[2] * offset[2]);
}

/* Calls `take` with the offset from each particle within reach2 to the lane's, its square and the particle's mass, in order. Lists
 * neighbours first: then the lanes have about as many to take. */
template <class TAKE>
static __device__ __forceinline__ void each_neighbour(
  const pmb_cuda_cloud &c, const pmb_cuda_particle &own, neighbour_list *list, TAKE take)
{
  const int64_t x0 = first_cube(c, own.cell[0]), x1 = end_cube(c, 0, own.cell[0]);
  const int64_t y0 = first_cube(c, own.cell[1]), y1 = end_cube(c, 1, own.cell[1]), z1 = end_cube(c, 2, own.cell[2]);
  int64_t y = y0, z = first_cube(c, own.cell[2]);
  uint32_t i = 0, end = 0;
  int count = 0, more;
  float offset[3];
  do {
    while (i >= end && z < z1) {
      i = find_in_row(c, y + c.cubes[1] * z, x0);
      end = find_in_row(c, y + c.cubes[1] * z, x1);
      if (++y == y1) {
        y = y0;
        ++z;
      }
    }
    for (const uint32_t stop = min(end, i + NEIGHBOUR_STEP); i < stop; ++i) {
      list->index[count][threadIdx.x] = i;
      count += neighbour_distance2(own, c.d_particles[i], offset) <= c.reach2;
    }
    more = __any_sync(UINT32_MAX, i < end || z < z1);
    if (!more || __any_sync(UINT32_MAX, count >= NEIGHBOURS - NEIGHBOUR_STEP)) {
      for (int k = 0; k < count; ++k) {
        const pmb_cuda_particle p = c.d_particles[list->index[k][threadIdx.x]];
        const float d2 = neighbour_distance2(own, p, offset);
        take(offset, d2, p.mass);
      }
      count = 0;
    }
  } while (more);
}

static __global__ void densities_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ neighbour_list list;
  const int64_t first = (int64_t)blockIdx.x * 32, index = min(first + (int)threadIdx.x, c.count - 1);
  const pmb_cuda_particle own = c.d_particles[index];
  float density = 0;
  each_neighbour(c, own, &list, [&](const float *, float d2, float mass) {
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
  __shared__ neighbour_list list;
  const int64_t first = (int64_t)blockIdx.x * 32, index = min(first + (int)threadIdx.x, c.count - 1);
  const pmb_cuda_particle own = c.d_particles[index];
  float sum[PMB_SHAPE_SUMS] = { 0 };
  each_neighbour(c, own, &list, [&](const float *offset, float, float) { pmb_shape_add(offset, own.scale, sum); });
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
  near_rows rows[WARPS];
  near_particles<NEAR> near;
  pmb_cuda_shape shape[near_room<KERNEL, NEAR>];
  quick_list<KERNEL> quick[WARPS];
  uint16_t list[WARPS][2 * NEAR];
  uint32_t inside[WARPS * TILES]; /* inside bits of each tile's samples */
  uint32_t unclear;               /* bits of the tiles that quick sums do not decide */
};

/* Adds the n loaded particles to the sums of a warp's tiles. Returns bits of tiles that need no sums, if no other particles follow
 * (is_all); *full: bits of those that are inside. */
template <int KERNEL>
static __device__ __forceinline__ uint32_t add_to_tiles(const pmb_cuda_cloud &c, int n, int is_all,
  potential_scratch<KERNEL> *scratch, quick_sum sums[TILES], uint32_t *full)
{
  const int warp = threadIdx.x >> 5;
  uint16_t *list = scratch->list[warp] + NEAR;
  const quick_box region = quick_region(warp);
  const quick_region_list listed = quick_list_region<KERNEL>(c, &scratch->near, n, is_all, region, list);
  *full = listed.deep ? quick_full_tiles<KERNEL>(c, &scratch->near, list, listed.close, region) : 0;
  if (is_all && listed.close + listed.far == 0) {
    return (1 << TILES) - 1;
  }
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    float from = -1, to = listed.deep ? PMB_CORE2 : 1; /* where all is inside, the closest particles often suffice */
    int far = listed.deep ? 0 : listed.far;
#pragma unroll 1
    while (!(*full >> tile & 1)) {
      quick_add_near<KERNEL>(c, &scratch->near, list - far, far + listed.close, from, to, quick_tile(warp, tile),
        &scratch->quick[warp], &sums[tile]);
      if (to == 1 || quick_is_full(c, sums[tile], quick_of_lanes<PMB_KERNEL_SPLINE>(sums[tile].error))) {
        break;
      }
      from = to;
      to = 1;
      far = listed.far;
    }
  }
  return *full;
}

/* Finds by quick sums which samples of a warp's tiles are inside. */
template <int KERNEL>
static __device__ __forceinline__ void decide_quickly(
  const pmb_cuda_cloud &c, const near_box &box, uint32_t all, potential_scratch<KERNEL> *scratch)
{
  const int warp = threadIdx.x >> 5;
  uint32_t known = 0, full = 0;
  quick_sum sums[TILES];
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    sums[tile] = { c.background, 0, 0 };
  }
  for (uint32_t from = 0; from < all; from += NEAR) {
    const int n = (int)min(all - from, (uint32_t)NEAR);
    take_near<THREADS>(c, box, &scratch->rows[warp], from, n, 0, &scratch->near, NULL);
    known = add_to_tiles<KERNEL>(c, n, all <= NEAR, scratch, sums, &full);
    if (all > NEAR) {
      __syncthreads(); /* before others are loaded */
    }
  }
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    uint32_t inside = full >> tile & 1 ? UINT32_MAX : 0;
    if (!(known >> tile & 1)) {
      const float terms = quick_of_lanes<PMB_KERNEL_SPLINE>(sums[tile].error), sum = sums[tile].sum;
      const int clear = fabsf(sum - c.isovalue.threshold_f32) > quick_error_of_sum(c, sum, terms, sums[tile].count);
      inside = __ballot_sync(UINT32_MAX, pmb_cuda_inside(c.isovalue, sum));
      if (!__all_sync(UINT32_MAX, clear) && !quick_is_full(c, sums[tile], terms)) {
        atomicOr(&scratch->unclear, 1u << (TILES * warp + tile));
      }
    }
    scratch->inside[TILES * warp + tile] = inside; /* all lanes write the same */
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
      __syncthreads();
      take_near<THREADS>(c, box, &scratch->rows[warp], from, n, 0, &scratch->near, NULL);
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
  const uint32_t all = find_rows(c, box, &scratch.rows[threadIdx.x >> 5]);
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
