/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify of particles: counts the points and triangles of each brick from the inside bits, scans the counts, and writes
 * the records of the active bricks and the map in which pass triangles finds their neighbours.
 *
 * For pass triangles active brick n has number n * PMB_CUDA_BRICK_STEP in a volume of 32 x 2 bricks. The bricks above along y, z
 * and both have numbers 32, 64 and 96 higher, so each of the four has its own word of the map. */
#include <cub/device/device_scan.cuh>

#include "cuda/pmb_cuda_classify_plain.cuh"
#include "particles/cuda/pmb_cuda_particle_near.cuh"

enum { WARPS = 8, THREADS = 32 * WARPS };

/* The key of a brick's upper neighbour along y (bit 0 of d) and z (bit 1). */
static __device__ __forceinline__ uint64_t key_above(const pmb_cuda_cloud &c, uint64_t key, int d)
{
  const uint64_t along_y = (uint64_t)c.bricks[0], along_z = along_y * (uint64_t)c.bricks[1];
  return key + (d & 1 ? along_y : 0) + (d & 2 ? along_z : 0);
}

/* The place of the first brick with that key or a higher one, up to the end of the key's row. */
static __device__ __forceinline__ uint32_t find_brick(const pmb_cuda_cloud &c, uint64_t key)
{
  const uint64_t along_y = (uint64_t)c.bricks[1], row = key / (uint64_t)c.bricks[0], y = row % along_y,
                 z = row / along_y;
  const int there = y + 1 < along_y && z + 1 < (uint64_t)c.bricks[2]; /* the last rows have no bricks */
  const int64_t *d_row = c.d_brick_rows + (there ? y + (along_y - 1) * z : 0);
  return pmb_cuda_lower_bound(c.d_bricks, (uint32_t)d_row[0], (uint32_t)d_row[there], key);
}

/* The inside bits of row `lane` of the 25 rows with halo. *column: those of the samples at column 32 of all rows. */
static __device__ __forceinline__ uint32_t read_row(const pmb_cuda_cloud &c, uint64_t key, uint32_t *column)
{
  const int lane = threadIdx.x & 31, r = min(lane, PMB_CUDA_ROWS - 1), y = r % 5, z = r / 5;
  const uint64_t above = key_above(c, key, lane & 3); /* lanes 0 to 3 search the bricks */
  const uint32_t place = find_brick(c, above);
  const uint32_t there = place < c.brick_count && c.d_bricks[place] == above, next = place + there;
  const uint32_t next_there = next < c.brick_count && c.d_bricks[next] == above + 1;
  const int d = (y >> 2) | (z >> 2) << 1, row = (z & 3) * PMB_BRICK_Y + (y & 3);
  const int64_t own = __shfl_sync(UINT32_MAX, place, d), beside = __shfl_sync(UINT32_MAX, next, d);
  const int own_there = (int)__shfl_sync(UINT32_MAX, there, d);
  const int beside_there = (int)__shfl_sync(UINT32_MAX, next_there, d);
  const uint32_t word = own_there ? c.d_words[own * PMB_BRICK_ROWS + row] : 0;
  const uint32_t last = beside_there ? c.d_words[beside * PMB_BRICK_ROWS + row] & 1 : 0;
  *column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && last);
  return word;
}

/* Counts only the points in a brick's first plane: repeats its samples along z, so that no others have points. */
static __device__ __forceinline__ uint32_t count_plane(
  row_part part, uint32_t word, uint32_t next, pmb_cuda_record *record)
{
  const uint32_t lane = threadIdx.x & 31, above_y = part.around & 31;
  const row_limits limits = { lane < 5 ? UINT32_MAX : 0, 0, 0, 0 };
  part.around = (part.around & 0xffff0000u) | above_y | lane << 5 | above_y << 10;
  return count_words(part, limits, 0, word, next, record);
}

/* A warp per brick. Writes the brick's sizes. RECORDS, after the scan: writes the record of an active brick. */
template <bool RECORDS> static __global__ void classify_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  __shared__ pmb_cuda_record records[WARPS];
  const int lane = threadIdx.x & 31;
  const int64_t i = (int64_t)blockIdx.x * WARPS + (threadIdx.x >> 5);
  if (i >= c.brick_count) {
    return;
  }
  pmb_cuda_particle_sizes sizes = { 0, 0, 0 };
  if (RECORDS) {
    sizes = c.d_sizes[i];
    if (c.d_sizes[i + 1].active == sizes.active) {
      return;
    }
  }
  pmb_cuda_record *record = RECORDS ? c.d_records + sizes.active : records + (threadIdx.x >> 5);
  const uint64_t key = c.d_bricks[i];
  uint32_t column;
  const uint32_t word = read_row(c, key, &column);
  const row_part part = part_of_lane();
  const row_limits limits = { UINT32_MAX, UINT32_MAX, UINT32_MAX, part.weights };
  const uint32_t same = 0 - (column & 1); /* most bricks are all outside or all inside */
  const int flat = !RECORDS && __all_sync(UINT32_MAX, word == same && column == same >> (32 - PMB_CUDA_ROWS));
  const uint32_t sum = flat ? 0
    : i < c.below           ? count_words(part, limits, 0, word, column >> lane, record)
                            : count_plane(part, word, column >> lane, record);
  const uint32_t counts = __shfl_sync(UINT32_MAX, sum, 31);
  if (!RECORDS && lane == 0) {
    c.d_sizes[i] = { counts != 0, counts & 0xffff, counts >> 16 };
  }
  if (RECORDS && lane < PMB_CUDA_ROWS + 2) { /* column and special follow the words */
    ((uint32_t *)record)[lane] = lane < PMB_CUDA_ROWS ? word : lane == PMB_CUDA_ROWS ? column : PMB_CUDA_PLAIN;
  }
  if (RECORDS && lane == 0) {
    c.d_active[sizes.active] = key;
    c.d_brick[sizes.active] = (uint32_t)sizes.active * PMB_CUDA_BRICK_STEP;
    c.d_before[sizes.active] = { sizes.points, sizes.triangles };
  }
}

/* Writes the map of each active brick and its upper neighbours: whether it is active, and the number of active bricks before it. */
static __global__ void map_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i < 4 * (int64_t)c.active) {
    const uint64_t above = key_above(c, c.d_active[i / 4], (int)(i % 4));
    const uint32_t place = pmb_cuda_lower_bound(c.d_active, 0, c.active, above);
    c.d_map[i] = make_uint2(place < c.active && c.d_active[place] == above, place);
  }
}

struct add_sizes {
  __host__ __device__ pmb_cuda_particle_sizes operator()(
    const pmb_cuda_particle_sizes &a, const pmb_cuda_particle_sizes &b) const
  {
    return { a.active + b.active, a.points + b.points, a.triangles + b.triangles };
  }
};

/* Scans the sizes of the bricks. below: the sum of those below layer_end; total: of all. */
static pmb_status scan_sizes(
  pmb_cuda *cuda, const pmb_cuda_cloud *c, pmb_cuda_particle_sizes *below, pmb_cuda_particle_sizes *total)
{
  pmb_cuda_buffer *workspace = &pmb_cuda_memory_of_particles(cuda)->workspace;
  const pmb_cuda_particle_sizes none = { 0, 0, 0 };
  const int64_t n = (int64_t)c->brick_count + 1;
  size_t bytes = 0;
  PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(c->d_sizes + n - 1, 0, sizeof(none), cuda->compute));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceScan::ExclusiveScan(NULL, bytes, c->d_sizes, c->d_sizes, add_sizes(), none, n, cuda->compute));
  PMB_STEP(pmb_cuda_reserve(cuda, workspace, (int64_t)bytes, 1, "the scan"));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceScan::ExclusiveScan(
      workspace->d_data, bytes, c->d_sizes, c->d_sizes, add_sizes(), none, n, cuda->compute));
  PMB_CUDA_TRY(
    cuda->context, cudaMemcpyAsync(total, c->d_sizes + n - 1, sizeof(*total), cudaMemcpyDeviceToHost, cuda->compute));
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(below, c->d_sizes + c->below, sizeof(*below), cudaMemcpyDeviceToHost, cuda->compute));
  return pmb_cuda_wait(cuda, PMB_OK, "potential of particles");
}

pmb_status pmb_cuda_classify_particles(pmb_cuda *cuda, pmb_cuda_cloud *c, pmb_cuda_particle_sizes *total)
{
  pmb_cuda_particle_memory *b = pmb_cuda_memory_of_particles(cuda);
  const unsigned blocks = pmb_cuda_blocks(c->brick_count, WARPS);
  const char *what = "the active bricks";
  pmb_cuda_particle_sizes below = { 0, 0, 0 };
  PMB_STEP(pmb_cuda_take(cuda, &b->sizes, (int64_t)c->brick_count + 1, "bricks", &c->d_sizes));
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, classify_kernel<false>, blocks, THREADS, 0, *c));
  PMB_STEP(scan_sizes(cuda, c, &below, total));
  PMB_FAIL_IF(total->active > UINT32_MAX / PMB_CUDA_BRICK_STEP, cuda->context, PMB_TOO_LARGE,
    "pmb_particles_count: the surface crosses %lld bricks, and the limit of a GPU is %lld; use the CPU, or a larger spacing",
    (long long)total->active, (long long)(UINT32_MAX / PMB_CUDA_BRICK_STEP));
  c->active = (uint32_t)total->active;
  c->active_below = (uint32_t)below.active;
  PMB_STEP(pmb_cuda_take(cuda, &b->records, c->active, what, &c->d_records));
  PMB_STEP(pmb_cuda_take(cuda, &b->active, c->active, what, &c->d_active));
  PMB_STEP(pmb_cuda_take(cuda, &b->brick, c->active, what, &c->d_brick));
  PMB_STEP(pmb_cuda_take(cuda, &b->before, (int64_t)c->active + 1, what, &c->d_before));
  PMB_STEP(pmb_cuda_take(cuda, &b->map, 4 * (int64_t)c->active, what, &c->d_map));
  const pmb_sizes end = { total->points, total->triangles };
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(c->d_before + c->active, &end, sizeof(end), cudaMemcpyHostToDevice, cuda->compute));
  if (c->active == 0) {
    return PMB_OK;
  }
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, classify_kernel<true>, blocks, THREADS, 0, *c));
  PMB_CUDA_TRY(cuda->context,
    pmb_cuda_launch(cuda, 0, map_kernel, pmb_cuda_blocks(4 * (int64_t)c->active, THREADS), THREADS, 0, *c));
  return pmb_cuda_wait(cuda, PMB_OK, "classify of particles");
}
