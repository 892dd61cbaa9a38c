/* SPDX-License-Identifier: BSD-3-Clause
 * Passes densities and shapes: sums over the neighbours of particles. Pass potential: whether the sums of kernels at the samples of
 * bricks reach the isovalue. */
#include "particles/cuda/pmb_cuda_particle_quick.cuh"

/* ---- densities and shapes ---- */

enum {
  NEIGHBOURS = 48,   /* room of a lane's list; a block is a warp */
  NEIGHBOUR_STEP = 8 /* candidates between tests whether lists are full */
};

/* The offset from particle i to a place, and the squared distance that counts for the particle's kernel. p: particle i. */
template <int KERNEL>
static __device__ __forceinline__ float distance2_from(
  const pmb_cuda_cloud &c, uint32_t i, const pmb_cuda_particle &p, const pmb_cuda_particle &place, float offset[3])
{
  for (int a = 0; a < 3; ++a) {
    offset[a] = pmb_particle_offset((float)(place.cell[a] - p.cell[a]), place.fraction[a], 0, p.fraction[a]);
  }
  if (KERNEL == PMB_KERNEL_SHAPED) {
    pmb_shape_apply(c.d_shapes[i].element, offset);
  }
  return offset[0] * offset[0] + (offset[1] * offset[1] + offset[2] * offset[2]);
}

/* The first twin of a particle in its cube, or itself. */
static __device__ uint32_t first_twin(const pmb_cuda_cloud &c, const pmb_cuda_particle &own, uint32_t index)
{
  const uint64_t key = c.d_keys[index], part = pmb_twin_part(own.scale, own.cell, own.fraction);
  uint32_t i = index;
  if (index > 0 && c.d_keys[index - 1] == key) {
    for (i = pmb_cuda_lower_bound(c.d_keys, 0, index, key); i < index; ++i) {
      const pmb_cuda_particle p = read_particle(c, i);
      if (p.scale == own.scale && pmb_twin_part(p.scale, p.cell, p.fraction) == part) {
        break;
      }
    }
  }
  return i;
}

/* Calls `take` with the offset from each particle within reach of the lane's, its square and the particle's mass, in order. own:
 * particle number `index`; its grade's reach counts. wanted: 0 for none. Lists neighbours first: then the lanes have about as many
 * to take. */
template <class TAKE>
static __device__ __forceinline__ void each_neighbour(const pmb_cuda_cloud &c, const pmb_cuda_particle &own,
  int64_t index, int wanted, uint32_t list[NEIGHBOURS][32], TAKE take)
{
  const int reach = pmb_grade_at(c.grades, c.grade_count, index)->reach;
  const float reach2 = pmb_particle_reach2((float)reach);
  int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0, y = 0, z = 0, z1 = 0;
  uint32_t i = 0, end = 0;
  int count = 0, more, grade = wanted ? -1 : c.grade_count - 1; /* whose rows are searched */
  float offset[3];
  do {
    while (i >= end && (z < z1 || grade + 1 < c.grade_count)) {
      if (z >= z1) {
        const pmb_particle_grade *next = c.grades + ++grade;
        x0 = pmb_first_cube(next, reach, own.cell[0]);
        x1 = pmb_end_cube(next, reach, 0, own.cell[0]);
        y = y0 = pmb_first_cube(next, reach, own.cell[1]);
        y1 = pmb_end_cube(next, reach, 1, own.cell[1]);
        z = pmb_first_cube(next, reach, own.cell[2]);
        z1 = pmb_end_cube(next, reach, 2, own.cell[2]);
      }
      const int64_t row = y + c.grades[grade].cubes[1] * z;
      i = find_in_row(c, grade, row, x0);
      end = find_in_row(c, grade, row, x1);
      if (++y == y1) {
        y = y0;
        ++z;
      }
    }
    for (const uint32_t stop = min(end, i + NEIGHBOUR_STEP); i < stop; ++i) {
      list[count][threadIdx.x] = i;
      count += distance2_from<PMB_KERNEL_SPLINE>(c, i, read_particle(c, i), own, offset) <= reach2;
    }
    more = __any_sync(UINT32_MAX, i < end || z < z1 || grade + 1 < c.grade_count);
    if (!more || __any_sync(UINT32_MAX, count >= NEIGHBOURS - NEIGHBOUR_STEP)) {
      for (int k = 0; k < count; ++k) {
        const uint32_t at = list[k][threadIdx.x];
        const pmb_cuda_particle p = read_particle(c, at);
        const float d2 = distance2_from<PMB_KERNEL_SPLINE>(c, at, p, own, offset);
        take(offset, d2, p.mass);
      }
      count = 0;
    }
  } while (more);
}

static __global__ void densities_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ uint32_t list[NEIGHBOURS][32];
  const int64_t first = (int64_t)blockIdx.x * 32, index = min(first + (int)threadIdx.x, c.count - 1);
  const pmb_cuda_particle own = read_particle(c, (uint32_t)index);
  const int wanted = first_twin(c, own, (uint32_t)index) == index;
  float density = 0;
  each_neighbour(c, own, index, wanted, list, [&](const float *, float d2, float mass) {
    density = pmb_kernel_add(PMB_KERNEL_SPLINE, density, d2, own.scale, mass);
  });
  if (wanted && first + (int)threadIdx.x < c.count) {
    c.d_amounts[index] = own.mass / density;
  }
}

/* Gives twins what the first ones have: amounts, or with MOVED shapes and places. */
template <bool MOVED> static __global__ void twins_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i < c.count) {
    const pmb_cuda_particle own = read_particle(c, (uint32_t)i);
    const uint32_t first = first_twin(c, own, (uint32_t)i);
    if (first < i && MOVED) {
      pmb_particle_moved to = c.d_moved[first];
      to.amount = pmb_twin_amount(to.amount, c.d_amounts[i], c.d_amounts[first]);
      to.index = c.d_sorted[i];
      for (int a = 0; a < 3; ++a) {
        to.fraction[a] = pmb_twin_move(to.fraction[a], read_particle(c, first).fraction[a], own.fraction[a]);
      }
      c.d_moved[i] = to;
    } else if (first < i) {
      c.d_amounts[i] = pmb_twin_amount(c.d_amounts[first], own.mass, read_particle(c, first).mass);
    }
  }
}

template <bool MOVED> static pmb_status copy_twins(pmb_cuda *cuda, const pmb_cuda_cloud *c)
{
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, twins_kernel<MOVED>, pmb_cuda_blocks(c->count, 256), 256, 0, *c), "twins");
}

pmb_status pmb_cuda_find_densities(pmb_cuda *cuda, const pmb_cuda_cloud *c)
{
  PMB_STEP(pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, densities_kernel, pmb_cuda_blocks(c->count, 32), 32, 0, *c), "densities"));
  return copy_twins<false>(cuda, c);
}

static __global__ void shapes_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ uint32_t list[NEIGHBOURS][32];
  const int64_t first = (int64_t)blockIdx.x * 32, index = min(first + (int)threadIdx.x, c.count - 1);
  const pmb_cuda_particle own = read_particle(c, (uint32_t)index);
  float sum[PMB_SHAPE_SUMS] = { 0 };
  const int wanted = first_twin(c, own, (uint32_t)index) == index;
  each_neighbour(
    c, own, index, wanted, list, [&](const float *offset, float, float) { pmb_shape_add(offset, own.scale, sum); });
  if (wanted && first + (int)threadIdx.x < c.count) {
    pmb_particle_moved to;
    const float determinant = pmb_shape_find(sum, to.shape);
    to.amount = c.d_amounts[index] * determinant;
    to.scale = own.scale;
    to.reach = c.varied ? c.d_reach2[index] : 0;
    to.index = c.d_sorted[index];
    for (int a = 0; a < 3; ++a) {
      to.cell[a] = own.cell[a];
      to.fraction[a] = own.fraction[a];
      pmb_shape_move(sum[1 + a], sum[0], determinant, own.scale, &to.cell[a], &to.fraction[a]);
    }
    c.d_moved[index] = to;
  }
}

pmb_status pmb_cuda_find_shapes(pmb_cuda *cuda, pmb_cuda_cloud *c)
{
  PMB_STEP(
    pmb_cuda_take(cuda, &pmb_cuda_memory_of_particles(cuda)->moved, c->count, "the particles' shapes", &c->d_moved));
  PMB_STEP(pmb_cuda_check(
    cuda->context, pmb_cuda_launch(cuda, 0, shapes_kernel, pmb_cuda_blocks(c->count, 32), 32, 0, *c), "shapes"));
  return copy_twins<true>(cuda, c);
}

/* ---- potential ---- */

/* Each warp of a block finds the particles near a brick. If they are few, it decides the brick's regions one after another; otherwise
 * all warps load them together, and each decides a region. */
enum { WARPS = 4, THREADS = 32 * WARPS, NEAR = 320, FEW = NEAR / WARPS };
enum { TILES = 4, ALL_TILES = (1 << TILES) - 1 }; /* of a region */

template <int KERNEL> struct potential_scratch {
  near_box box[WARPS]; /* of each warp's brick */
  near_rows rows[WARPS];
  near_particles<NEAR> near;
  pmb_cuda_shape shape[near_room<KERNEL, NEAR>];
  quick_list<KERNEL> quick[WARPS];
  uint16_t list[WARPS][2 * NEAR];
};

/* Particles near a brick: their number, the number of the first that is loaded, where it is in `near`, and how many are loaded. */
typedef struct loaded_range {
  uint32_t all, begin;
  int first, count;
} loaded_range;

/* Adds the loaded particles to the sums of a region's tiles. Returns bits of tiles that need no sums; *full: of those that are inside. */
template <int KERNEL>
static __device__ __forceinline__ uint32_t add_to_tiles(const pmb_cuda_cloud &c, int region,
  const loaded_range &range, potential_scratch<KERNEL> *scratch, quick_sum sums[TILES], uint32_t *full)
{
  const int warp = threadIdx.x >> 5, is_all = range.all == (uint32_t)range.count;
  uint16_t *list = scratch->list[warp] + NEAR;
  const quick_box box = quick_region(region);
  const quick_region_list listed =
    quick_list_region<KERNEL>(c, &scratch->near, range.first, range.count, is_all, box, list);
  *full = listed.deep ? quick_full_tiles<KERNEL>(c, &scratch->near, list, listed.close, box) : 0;
  if (is_all && listed.close + listed.far == 0) {
    return ALL_TILES;
  }
#pragma unroll 1
  for (uint32_t left = ALL_TILES & ~*full; left; left &= left - 1) {
    const int tile = __ffs((int)left) - 1;
    quick_sum sum = range.begin == 0 ? quick_sum{ c.background, 0, 0 } : sums[tile];
    float from = -1, to = listed.deep ? PMB_CORE2 : 1; /* where all is inside, the closest particles often suffice */
    int far = listed.deep ? 0 : listed.far;
#pragma unroll 1
    for (;;) {
      quick_add_near<KERNEL>(c, &scratch->near, list - far, far + listed.close, from, to, quick_tile(region, tile),
        &scratch->quick[warp], &sum);
      if (to == 1 || quick_is_full(c, sum, quick_of_lanes<PMB_KERNEL_SPLINE>(sum.error))) {
        break;
      }
      from = to;
      to = 1;
      far = listed.far;
    }
    sums[tile] = sum;
  }
  return *full;
}

/* Finds by the sums of pmb_particle.h which samples of a tile are inside. Reads the particles again, because few tiles need it. */
template <int KERNEL>
static __device__ __noinline__ uint32_t decide(
  const pmb_cuda_cloud &c, const near_box &box, const near_rows *rows, const quick_box &tile)
{
  const uint32_t lane = threadIdx.x & 31;
  const float3 own = quick_own();
  const int way[3] = { (int)(tile.center[0] + own.x), (int)(tile.center[1] + own.y), (int)(tile.center[2] + own.z) };
  pmb_cuda_particle middle, sample;
  float sum = c.background, offset[3];
  for (int a = 0; a < 3; ++a) {
    middle.cell[a] = box.first[a] + (int)tile.center[a];
    middle.fraction[a] = 0.5f;
    sample.cell[a] = box.first[a] + way[a];
    sample.fraction[a] = 0;
  }
  for (int r = 0; r < rows->count; ++r) {
    const uint32_t end = rows->begin[r] + (rows->before[r + 1] - rows->before[r]);
    for (uint32_t begin = rows->begin[r]; begin < end; begin += 32) { /* lanes have particles, then samples */
      const uint32_t i = min(begin + lane, end - 1);
      const float reach = sqrtf(c.varied ? c.d_reach2[i] : c.reach2) + 2.2f; /* from the middle to the samples */
      const float d2 = distance2_from<PMB_KERNEL_SPLINE>(c, i, read_particle(c, i), middle, offset);
      const uint32_t reaches = __ballot_sync(UINT32_MAX, begin + lane < end && d2 <= reach * reach);
      for (uint32_t left = reaches; left; left &= left - 1) {
        const uint32_t at = begin + __ffs((int)left) - 1;
        const pmb_cuda_particle p = read_particle(c, at);
        sum = pmb_kernel_add(KERNEL, sum, distance2_from<KERNEL>(c, at, p, sample, offset), p.scale, c.d_amounts[at]);
      }
    }
  }
  return __ballot_sync(UINT32_MAX, pmb_cuda_inside(c.isovalue, sum));
}

/* Decides a region of a brick. Returns the inside bits of its eight samples of row `lane` of the brick. together: 1 if the block's
 * warps have a region each; 0 if the brick's particles are loaded. */
template <int KERNEL>
static __device__ __forceinline__ uint32_t decide_region(const pmb_cuda_cloud &c, const near_box &box,
  const near_rows *rows, int region, int together, loaded_range range, potential_scratch<KERNEL> *scratch)
{
  const int lane = threadIdx.x & 31, y = lane % PMB_BRICK_Y, z = lane / PMB_BRICK_Y;
  uint32_t known = ALL_TILES, full = 0;
  quick_sum sums[TILES];
#pragma unroll 1
  for (; range.begin < range.all; range.begin += NEAR) {
    if (together) {
      range.count = (int)min(range.all - range.begin, (uint32_t)NEAR);
      __syncthreads(); /* before others are loaded */
      take_near<THREADS>(c, box, rows, range.begin, range.count, 0, 0, &scratch->near, NULL);
      __syncthreads();
    }
    known = add_to_tiles<KERNEL>(c, region, range, scratch, sums, &full);
  }
  const uint32_t of_row = full >> z / 2 * 2;
  uint32_t bits = (of_row & 1 ? 15 : 0) | (of_row & 2 ? 15 << 4 : 0);
#pragma unroll 1
  for (uint32_t left = ALL_TILES & ~known; left; left &= left - 1) {
    const int tile = __ffs((int)left) - 1;
    const quick_sum s = sums[tile];
    const float terms = quick_of_lanes<PMB_KERNEL_SPLINE>(s.error);
    const int clear = fabsf(s.sum - c.isovalue.threshold_f32) > quick_error_of_sum(c, s.sum, terms, s.count);
    const uint32_t inside = __all_sync(UINT32_MAX, clear) || quick_is_full(c, s, terms)
      ? __ballot_sync(UINT32_MAX, pmb_cuda_inside(c.isovalue, s.sum))
      : decide<KERNEL>(c, box, rows, quick_tile(region, tile));
    bits |= z / 2 == tile / 2 ? (inside >> (z % 2 * 16 + y * 4) & 15) << tile % 2 * 4 : 0;
  }
  return bits;
}

template <int KERNEL>
static __global__ void __launch_bounds__(THREADS) potential_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ potential_scratch<KERNEL> scratch;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  /* Neighbours in x take equally long. So in a small grid a block's bricks are far apart; in others they share particles. */
  const uint32_t step = gridDim.x > 2048 ? 1 : gridDim.x, first = blockIdx.x * (gridDim.x > 2048 ? WARPS : 1);
  scratch.near.shape = scratch.shape;
  if (first + warp * step < c.brick_count) {
    scratch.box[warp] = box_of_brick(c, c.d_bricks[first + warp * step], 0);
    find_rows(c, scratch.box[warp], &scratch.rows[warp]);
  }
#pragma unroll 1
  for (int i = 0; i < 2 * WARPS; ++i) { /* regions of the warp's brick, then bricks */
    const int together = i >= WARPS, own = together ? i - WARPS : warp, region = together ? warp : i;
    if (i == WARPS) {
      __syncthreads();
    }
    const near_rows *rows = &scratch.rows[own];
    const uint32_t brick = first + own * step, all = brick < c.brick_count ? rows->before[rows->count] : 0;
    if (brick >= c.brick_count || together != (all > FEW)) {
      continue;
    }
    if (i == 0) {
      take_near<32>(c, scratch.box[own], rows, 0, (int)all, FEW * warp, 0, &scratch.near, NULL);
      __syncwarp();
    }
    const loaded_range range = { all, 0, together ? 0 : FEW * warp, (int)all };
    const uint32_t bits = decide_region<KERNEL>(c, scratch.box[own], rows, region, together, range, &scratch);
    if (lane < PMB_BRICK_ROWS) {
      ((uint8_t *)c.d_words)[4 * ((int64_t)brick * PMB_BRICK_ROWS + lane) + region] = (uint8_t)bits;
    }
  }
}

pmb_status pmb_cuda_find_potential(pmb_cuda *cuda, const pmb_cuda_cloud *c)
{
  return pmb_cuda_check(cuda->context,
    PMB_CUDA_BY_KERNEL(c->kernel,
      pmb_cuda_launch(cuda, 0, potential_kernel<KERNEL>, pmb_cuda_blocks(c->brick_count, WARPS), THREADS, 0, *c)),
    "potential of particles");
}
