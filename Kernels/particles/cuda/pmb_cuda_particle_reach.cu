/* SPDX-License-Identifier: BSD-3-Clause
 * Pass reach: lists the bricks that a kernel may reach, in order, as pmb_particle_reach.c does. A warp has a row of bricks. It
 * keeps a bit in shared memory for each of 1024 bricks at a time. */
#include <cub/device/device_scan.cuh>

#include "particles/cuda/pmb_cuda_particle_near.cuh"

/* AT_ONCE: particles that a lane loads together. */
enum { WARPS = 8, THREADS = 32 * WARPS, AT_ONCE = 4 };

/* Calls `take` with the first and last brick along x that a particle reaches, for each one near row (y,z) of bricks; lanes take
 * turns. */
template <class TAKE>
static __device__ __forceinline__ void each_near(const pmb_cuda_cloud &c, int64_t y, int64_t z, TAKE take)
{
  for (int g = 0; g < c.grade_count; ++g) {
    const pmb_particle_grade &grade = c.grades[g];
    const int reach = grade.reach;
    const int64_t y0 = pmb_first_cube(&grade, reach, y * PMB_BRICK_Y), count = c.pieces[g].count;
    const int64_t y1 = pmb_end_cube(&grade, reach, 1, y * PMB_BRICK_Y + PMB_BRICK_Y - 1);
    const int64_t z1 = pmb_end_cube(&grade, reach, 2, z * PMB_BRICK_Z + PMB_BRICK_Z - 1);
    int64_t k = pmb_first_cube(&grade, reach, z * PMB_BRICK_Z);
    for (; k < z1; ++k) { /* rows of equal k are contiguous */
      const uint32_t *d_pieces = c.d_pieces + c.pieces[g].first + count * grade.cubes[1] * k;
      const uint32_t end = d_pieces[count * y1];
      for (uint32_t i = d_pieces[count * y0] + (threadIdx.x & 31); i < end; i += 32 * AT_ONCE) {
        int32_t cell[AT_ONCE];
#pragma unroll
        for (int n = 0; n < AT_ONCE; ++n) { /* past the end the last one again */
          cell[n] = c.d_particles[min(i + 32 * n, end - 1)].cell[0];
        }
#pragma unroll
        for (int n = 0; n < AT_ONCE; ++n) {
          take((cell[n] - reach) / PMB_BRICK_X, (cell[n] + reach) / PMB_BRICK_X);
        }
      }
    }
  }
}

/* Counts (FILLS: writes) the bricks of each row. d_rows: their number per row; FILLS: the number before each row. */
template <bool FILLS>
static __global__ void bricks_kernel(const __grid_constant__ pmb_cuda_cloud c, int64_t rows, int64_t *d_rows)
{
  __shared__ uint32_t all_bits[WARPS][32];
  uint32_t *bits = all_bits[threadIdx.x >> 5];
  const int lane = threadIdx.x & 31;
  const int64_t row = (int64_t)blockIdx.x * WARPS + (threadIdx.x >> 5);
  if (row >= rows) {
    return;
  }
  const int64_t y = row % (c.bricks[1] - 1), z = row / (c.bricks[1] - 1), before = d_rows[row];
  if (z < c.layer_begin || z > c.layer_end || c.layer_begin == c.layer_end) {
    if (!FILLS && lane == 0) {
      d_rows[row] = 0;
    }
    return;
  }
  int least = c.bricks[0] > 1024 ? INT32_MAX : 0, most = c.bricks[0] > 1024 ? -1 : 1023;
  uint32_t count = 0;
  if (c.bricks[0] > 1024) {
    each_near(c, y, z, [&](int low, int high) {
      least = min(least, low);
      most = max(most, high);
    });
    pmb_cuda_reduce(32, &least, &most);
  }
  for (int first = least; first <= most; first += 1024) {
    bits[lane] = 0;
    __syncwarp();
    each_near(c, y, z, [&](int low, int high) {
      for (int i = max(low, first); i <= min(high, first + 1023); ++i) {
        uint32_t *word = bits + (i - first) / 32;
        const uint32_t bit = 1u << (i - first) % 32;
        if (!(*(volatile uint32_t *)word & bit)) { /* most are set already, and atomics on one word take turns */
          atomicOr(word, bit);
        }
      }
    });
    __syncwarp();
    const uint32_t word = bits[lane], here = __popc(word), sum = pmb_cuda_inclusive_sum(here);
    if (FILLS) {
      uint64_t *d_to = c.d_bricks + before + count + (sum - here);
      for (uint32_t rest = word; rest; rest &= rest - 1) {
        const uint64_t x = (uint64_t)(first + 32 * lane + __ffs((int)rest) - 1);
        *d_to++ = x + (uint64_t)c.bricks[0] * (uint64_t)(y + c.bricks[1] * z);
      }
    }
    count += __shfl_sync(UINT32_MAX, sum, 31);
    __syncwarp();
  }
  if (!FILLS && lane == 0) {
    d_rows[row] = count;
  }
}

pmb_status pmb_cuda_reach_bricks(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_memory *b = pmb_cuda_memory_of_particles(cuda);
  const int64_t rows = (c->bricks[1] - 1) * (c->bricks[2] - 1); /* without the last ones, which have no samples */
  const unsigned blocks = pmb_cuda_blocks(rows, WARPS);
  const int64_t below = c->layer_end * (c->bricks[1] - 1); /* rows of bricks */
  int64_t *d_rows = NULL, bricks = 0, bricks_below = 0;
  size_t bytes = 0;
  PMB_STEP(pmb_cuda_take(cuda, &b->brick_rows, rows + 1, "rows of bricks", &d_rows));
  PMB_CUDA_TRY(cuda->context, cub::DeviceScan::ExclusiveSum(NULL, bytes, d_rows, d_rows, rows + 1, cuda->compute));
  PMB_STEP(pmb_cuda_reserve(cuda, &b->workspace, (int64_t)bytes, 1, "the scan"));
  PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(d_rows + rows, 0, sizeof(*d_rows), cuda->compute));
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, bricks_kernel<false>, blocks, THREADS, 0, *c, rows, d_rows));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceScan::ExclusiveSum(b->workspace.d_data, bytes, d_rows, d_rows, rows + 1, cuda->compute));
  PMB_CUDA_TRY(
    cuda->context, cudaMemcpyAsync(&bricks, d_rows + rows, sizeof(bricks), cudaMemcpyDeviceToHost, cuda->compute));
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(&bricks_below, d_rows + (below < rows ? below : rows), sizeof(bricks_below),
      cudaMemcpyDeviceToHost, cuda->compute));
  PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "reach of particles"));
  p->brick_count = bricks;
  PMB_STEP(pmb_particles_check_bricks(p, (double)bricks));
  c->brick_count = (uint32_t)bricks;
  c->below = (uint32_t)bricks_below;
  c->d_brick_rows = d_rows;
  PMB_STEP(pmb_cuda_take(cuda, &b->bricks, bricks, "bricks", &c->d_bricks));
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, bricks_kernel<true>, blocks, THREADS, 0, *c, rows, d_rows), "reach of particles");
}
