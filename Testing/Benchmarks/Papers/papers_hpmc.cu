/* SPDX-License-Identifier: BSD-3-Clause
 * 2D HistoPyramid marching cubes on a GPU.
 *
 * One kernel reads the volume and writes the base and the six levels above it: a block has a square of 64 x 64 entries and
 * walks through the slices, each sample being read once. The levels above are small. A thread of the output's kernels goes
 * down the pyramid for one vertex, point or triangle. */
#include "papers_hpmc.h"
#include "papers_pyramid.cuh"

#include <stdlib.h>
#include <string.h>

namespace
{

typedef papers_slice<HPMC_TILE> hpmc_slice;

enum { TEXELS = HPMC_TILE * HPMC_TILE / 4 /* of a block's square */ };

/* What the kernels need beside the job. */
struct base_parameters {
  int across, down, slices; /* blocks along x and y; slices of a block */
  int careful;              /* samples may be non-finite: points are counted by the full rule */
  int *odd;                 /* set if there are such and careful is not; of the host */
};

/* ---- base ---- */

/* Bits of the 3 x 3 x 2 samples of a texel: three of a row, [slice][row]. */
struct texel_bits {
  uint32_t row[2][3];
};

__device__ __forceinline__ texel_bits bits_of(const hpmc_slice &here, const hpmc_slice &next, int column, int row)
{
  texel_bits bits;
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    bits.row[0][r] = papers_three(here, 2 * row + r, column);
    bits.row[1][r] = papers_three(next, 2 * row + r, column);
  }
  return bits;
}

/* Whether they are not all alike. */
__device__ __forceinline__ int is_mixed(const texel_bits &bits)
{
  const uint32_t some =
    (bits.row[0][0] | bits.row[0][1] | bits.row[0][2]) | (bits.row[1][0] | bits.row[1][1] | bits.row[1][2]);
  const uint32_t all =
    (bits.row[0][0] & bits.row[0][1] & bits.row[0][2]) & (bits.row[1][0] & bits.row[1][1] & bits.row[1][2]);
  return some != 0 && all != 7;
}

/* The four entries of a texel. x, y, z: of its first. */
template <int INDEXED>
__device__ __forceinline__ uint4 texel_of_bits(
  const hpmc_job &job, const uint8_t *counts, const texel_bits &bits, int x, int y, int z)
{
  uint32_t entry[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const int i = c & 1, j = c >> 1;
    const unsigned cell_case =
      pmb_cell_bits(bits.row[0][j], bits.row[0][j + 1], bits.row[1][j], bits.row[1][j + 1], i);
    entry[c] = hpmc_entry(&job, INDEXED, x + i, y + j, z, cell_case, 0xff, counts[cell_case]);
  }
  return make_uint4(entry[0], entry[1], entry[2], entry[3]);
}

/* The same from samples, which need not be finite; rare. */
template <class T, int INDEXED>
__device__ __noinline__ uint4 texel_of_samples(const hpmc_job &job, int x, int y, int z)
{
  const pmb_type type = papers_type_of<T>::type;
  return make_uint4(hpmc_entry_of_samples(&job, type, INDEXED, x, y, z),
    hpmc_entry_of_samples(&job, type, INDEXED, x + 1, y, z), hpmc_entry_of_samples(&job, type, INDEXED, x, y + 1, z),
    hpmc_entry_of_samples(&job, type, INDEXED, x + 1, y + 1, z));
}

/* What a texel's entries count: points in the low half, triangles in the high one; or vertices. */
template <int INDEXED> __device__ __forceinline__ uint32_t texel_counts(uint4 t)
{
  if (!INDEXED) {
    return hpmc_texel_sum(hpmc_counts(t, HPMC_VERTICES));
  }
  return hpmc_texel_sum(hpmc_counts(t, HPMC_POINTS)) | hpmc_texel_sum(hpmc_counts(t, HPMC_TRIANGLES)) << 16;
}

/* Writes such a count to an element of a level. */
template <int INDEXED>
__device__ __forceinline__ void store_count(const hpmc_job &job, int level, uint64_t element, uint32_t count)
{
  ((uint32_t *)job.pyramid[0].level[level])[element] = INDEXED ? count >> 16 : count;
  if (INDEXED) {
    ((uint32_t *)job.pyramid[1].level[level])[element] = count & 0xffff;
  }
}

/* Base to level 3 of a block's square. A warp whose samples are all alike writes nothing to levels 0 to 2. */
template <class T, int INDEXED>
__device__ __forceinline__ void build_square(const hpmc_job &job, const uint8_t *counts, const hpmc_slice &here,
  const hpmc_slice &next, int odd, uint64_t square, int x, int y, int z, uint32_t *sums)
{
#pragma unroll 1
  for (unsigned t = threadIdx.x; t < TEXELS; t += PAPERS_THREADS) {
    const int column = (int)papers_gather_2(t), row = (int)papers_gather_2(t >> 1);
    const int i = x + 2 * column, j = y + 2 * row;
    const uint64_t element = square * TEXELS + t;
    const texel_bits bits = bits_of(here, next, column, row);
    uint32_t count = 0;
    if (__any_sync(UINT32_MAX, is_mixed(bits))) {
      const uint4 texel = papers_type_of<T>::IS_FLOAT && odd ? texel_of_samples<T, INDEXED>(job, i, j, z)
                                                             : texel_of_bits<INDEXED>(job, counts, bits, i, j, z);
      count = texel_counts<INDEXED>(texel);
      job.pyramid[0].level[0][element] = texel;
      store_count<INDEXED>(job, 1, element, count);
      count += __shfl_xor_sync(UINT32_MAX, count, 1);
      count += __shfl_xor_sync(UINT32_MAX, count, 2);
      if (t % 4 == 0) {
        store_count<INDEXED>(job, 2, element / 4, count);
      }
      count += __shfl_xor_sync(UINT32_MAX, count, 4);
      count += __shfl_xor_sync(UINT32_MAX, count, 8);
    }
    if (t % 16 == 0) {
      sums[t / 16] = count;
      store_count<INDEXED>(job, 3, element / 16, count);
    }
  }
}

/* Levels 4 to 6, by a warp. sums: level 3. */
template <int INDEXED>
__device__ __forceinline__ void build_square_above(const hpmc_job &job, uint64_t square, const uint32_t *sums)
{
  const unsigned lane = threadIdx.x;
  uint32_t count = sums[2 * lane] + sums[2 * lane + 1];
  count += __shfl_xor_sync(UINT32_MAX, count, 1);
  if (lane % 2 == 0) {
    store_count<INDEXED>(job, 4, square * 16 + lane / 2, count);
  }
  count += __shfl_xor_sync(UINT32_MAX, count, 2);
  count += __shfl_xor_sync(UINT32_MAX, count, 4);
  if (lane % 8 == 0) {
    store_count<INDEXED>(job, 5, square * 4 + lane / 8, count);
  }
  count += __shfl_xor_sync(UINT32_MAX, count, 8);
  count += __shfl_xor_sync(UINT32_MAX, count, 16);
  if (lane == 0) {
    store_count<INDEXED>(job, HPMC_BLOCK_LEVEL, square, count);
  }
}

/* The number of the square in level HPMC_BLOCK_LEVEL. */
__device__ __forceinline__ uint64_t square_of(const hpmc_layout &layout, int across, int down, int z)
{
  const uint32_t row = (uint32_t)z / layout.tiles_across, column = (uint32_t)z % layout.tiles_across;
  const uint32_t u = column * (layout.tile[0] / HPMC_TILE) + (uint32_t)across;
  const uint32_t v = row * (layout.tile[1] / HPMC_TILE) + (uint32_t)down;
  return papers_spread_2(u) | papers_spread_2(v) << 1;
}

template <class T, int INDEXED>
__global__ __launch_bounds__(PAPERS_THREADS, 4) void base_kernel(
  const __grid_constant__ hpmc_job job, base_parameters parameters)
{
  __shared__ hpmc_slice ring[PAPERS_RING];
  __shared__ uint32_t sums[TEXELS / 16];
  __shared__ uint8_t counts[256];
  const int across = (int)(blockIdx.x % (unsigned)parameters.across),
            rest = (int)(blockIdx.x / (unsigned)parameters.across);
  const int down = rest % parameters.down, first = rest / parameters.down * parameters.slices;
  const int end = min(first + parameters.slices, job.layout.extent[2]), x = across * HPMC_TILE, y = down * HPMC_TILE;
  papers_readings<T, HPMC_TILE> readings;
  counts[threadIdx.x] = pmb_triangle_count[threadIdx.x];
  const papers_window<T> window = papers_window_of<T, HPMC_TILE>(job.field, x, y);
  papers_read(window, first, &readings);
  papers_store_bits(job.field.isovalue, readings, &ring[0]);
  papers_read(window, first + 1, &readings);
#pragma unroll 1
  for (int z = first; z < end; ++z) {
    const unsigned slot = (unsigned)(z - first);
    const hpmc_slice &here = ring[slot % PAPERS_RING], &next = ring[(slot + 1) % PAPERS_RING];
    papers_store_bits(job.field.isovalue, readings, &ring[(slot + 1) % PAPERS_RING]);
    if (z + 1 < end) {
      papers_read(window, z + 2, &readings);
    }
    __syncthreads();
    const uint32_t holds = papers_holds(here) | papers_holds(next);
    if (papers_is_crossed(holds)) {
      const uint64_t square = square_of(job.layout, across, down, z);
      const int odd = papers_type_of<T>::IS_FLOAT && papers_holds_any(holds, PAPERS_HAS_ODD);
      build_square<T, INDEXED>(job, counts, here, next, odd || parameters.careful, square, x, y, z, sums);
      if (INDEXED && odd && !parameters.careful && threadIdx.x == 0) {
        *parameters.odd = 1;
      }
      __syncthreads();
      if (threadIdx.x < 32) {
        build_square_above<INDEXED>(job, square, sums);
      }
    } else if (threadIdx.x == 0) {
      store_count<INDEXED>(job, HPMC_BLOCK_LEVEL, square_of(job.layout, across, down, z), 0);
    }
  }
}

/* Fewer slices for a block where there would be too few blocks; each reads one slice more than it has. */
template <class T, int INDEXED> cudaError_t build_base(const hpmc_job &job, base_parameters parameters)
{
  const int enough = 4000;
  parameters.across = (int)(papers_blocks((uint64_t)job.layout.extent[0], HPMC_TILE));
  parameters.down = (int)(papers_blocks((uint64_t)job.layout.extent[1], HPMC_TILE));
  const uint64_t squares = (uint64_t)parameters.across * (uint64_t)parameters.down;
  uint64_t blocks = 0;
  for (parameters.slices = 32; parameters.slices >= 4 && blocks < enough; parameters.slices /= 2) {
    blocks = squares * papers_blocks((uint64_t)job.layout.extent[2], (uint64_t)parameters.slices);
  }
  parameters.slices *= 2;
  return papers_launch(base_kernel<T, INDEXED>, blocks, PAPERS_THREADS, job, parameters);
}

template <class T> cudaError_t build_base_soup(const hpmc_job &job, const base_parameters &parameters)
{
  return build_base<T, 0>(job, parameters);
}

template <class T> cudaError_t build_base_indexed(const hpmc_job &job, const base_parameters &parameters)
{
  return build_base<T, 1>(job, parameters);
}

/* ---- output ---- */

template <class T, int INDEXED>
__global__ __launch_bounds__(PAPERS_THREADS) void points_kernel(
  const __grid_constant__ hpmc_job job, uint32_t count, float *d_positions, float *d_normals)
{
  __shared__ float stage[PAPERS_WARPS][32 * 3];
  const uint32_t key = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = key & ~31u;
  float position[3], normal[3];
  if (INDEXED) {
    hpmc_point(&job, papers_type_of<T>::type, min(key, count - 1), position, normal);
  } else {
    hpmc_vertex(&job, papers_type_of<T>::type, min(key, count - 1), position, normal);
  }
  papers_store<3>(d_positions, (uint64_t)first * 3, (uint64_t)count * 3, position, stage[threadIdx.x >> 5]);
  papers_store<3>(d_normals, (uint64_t)first * 3, (uint64_t)count * 3, normal, stage[threadIdx.x >> 5]);
}

__global__ __launch_bounds__(PAPERS_THREADS) void triangles_kernel(
  const __grid_constant__ hpmc_job job, uint32_t count, int32_t *d_ids)
{
  __shared__ int32_t stage[PAPERS_WARPS][32 * 3];
  const uint32_t key = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = key & ~31u;
  int32_t ids[3];
  hpmc_triangle(&job, min(key, count - 1), ids);
  papers_store<3>(d_ids, (uint64_t)first * 3, (uint64_t)count * 3, ids, stage[threadIdx.x >> 5]);
}

template <class T> cudaError_t emit_soup(const hpmc_job &job, int64_t count, float *d_positions, float *d_normals)
{
  return papers_launch(points_kernel<T, 0>, papers_blocks((uint64_t)count, PAPERS_THREADS), PAPERS_THREADS, job,
    (uint32_t)count, d_positions, d_normals);
}

template <class T> cudaError_t emit_points(const hpmc_job &job, int64_t count, float *d_positions, float *d_normals)
{
  return papers_launch(points_kernel<T, 1>, papers_blocks((uint64_t)count, PAPERS_THREADS), PAPERS_THREADS, job,
    (uint32_t)count, d_positions, d_normals);
}

/* ---- the systems ---- */

/* What the GPU writes to the host. */
struct readback {
  uint4 top[2];
  int odd;
};

struct hpmc_gpu {
  papers_memory *memory;
  papers_volume volume;
  int indexed, careful;
  hpmc_job job;
  void *d_block;  /* the pyramids; NULL: there is no cell */
  readback *host; /* pinned */
  float *d_positions, *d_normals;
  int32_t *d_ids;
  size_t positions_bytes, normals_bytes, ids_bytes;
};

void destroy(void *state)
{
  hpmc_gpu *gpu = (hpmc_gpu *)state;
  if (gpu) {
    papers_give(gpu->memory, gpu->d_positions);
    papers_give(gpu->memory, gpu->d_normals);
    papers_give(gpu->memory, gpu->d_ids);
    papers_give(gpu->memory, gpu->d_block);
    free(gpu);
  }
}

/* Squares in the padding stay 0: from level HPMC_BLOCK_LEVEL on all is set to 0 once. */
papers_status prepare(hpmc_gpu *gpu, uint64_t bytes)
{
  static readback *pinned; /* taken once per program: that takes longer than an extraction */
  const papers_status status =
    pinned ? PAPERS_OK : papers_cuda_status(gpu->memory, cudaMallocHost((void **)&pinned, sizeof(*pinned)));
  if (status != PAPERS_OK) {
    return status;
  }
  gpu->host = pinned;
  gpu->d_block = papers_take(gpu->memory, PAPERS_ACCELERATION, bytes);
  if (!gpu->d_block) {
    return PAPERS_NO_MEMORY;
  }
  papers_hpmc_layout(&gpu->job, gpu->volume.dims, gpu->indexed, gpu->d_block);
  char *d_begin = (char *)gpu->job.pyramid[0].level[HPMC_BLOCK_LEVEL];
  return papers_cuda_status(
    gpu->memory, cudaMemsetAsync(d_begin, 0, (size_t)((char *)gpu->d_block + bytes - d_begin), NULL));
}

papers_status create(papers_memory *memory, const papers_volume *volume, int indexed, void **state)
{
  uint64_t bytes;
  *state = NULL;
  papers_status status = papers_hpmc_check(volume, indexed, &bytes);
  if (status != PAPERS_OK) {
    return status;
  }
  hpmc_gpu *gpu = (hpmc_gpu *)calloc(1, sizeof(*gpu));
  if (!gpu) {
    return PAPERS_NO_MEMORY;
  }
  gpu->memory = memory;
  gpu->volume = *volume;
  gpu->indexed = indexed;
  status = bytes ? prepare(gpu, bytes) : PAPERS_OK;
  if (status != PAPERS_OK) {
    destroy(gpu);
    return status;
  }
  *state = gpu;
  return PAPERS_OK;
}

papers_status create_soup(papers_memory *memory, const papers_volume *volume, void **state)
{
  return create(memory, volume, 0, state);
}

papers_status create_indexed(papers_memory *memory, const papers_volume *volume, void **state)
{
  return create(memory, volume, 1, state);
}

/* The pyramids, and their tops to the host. */
cudaError_t build(hpmc_gpu *gpu)
{
  const hpmc_job &job = gpu->job;
  const int top = job.layout.top, last = gpu->indexed ? 1 : 0;
  base_parameters parameters = {};
  parameters.careful = gpu->careful;
  parameters.odd = &gpu->host->odd;
  gpu->host->odd = 0;
  cudaError_t error = gpu->indexed ? PAPERS_BY_TYPE(gpu->volume.type, build_base_indexed, job, parameters)
                                   : PAPERS_BY_TYPE(gpu->volume.type, build_base_soup, job, parameters);
  for (int p = 0; p <= last && error == cudaSuccess; ++p) {
    papers_levels levels = {};
    for (int l = HPMC_BLOCK_LEVEL; l <= top; ++l) {
      levels.level[l] = (uint32_t *)job.pyramid[p].level[l];
    }
    levels.top = top;
    error = papers_build_upper<4, 5>(levels, HPMC_BLOCK_LEVEL, (uint64_t)1 << 2 * (top - HPMC_BLOCK_LEVEL));
  }
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(
      gpu->host->top, job.pyramid[0].level[top], sizeof(uint4) * (size_t)(last + 1), cudaMemcpyDeviceToHost, NULL);
  }
  return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

papers_status reserve(hpmc_gpu *gpu, void **block, size_t *capacity, int64_t triples)
{
  return papers_reserve(gpu->memory, PAPERS_OUTPUT, block, capacity, (size_t)triples * 3 * sizeof(float));
}

papers_status extract(void *state, double isovalue, papers_mesh *mesh)
{
  hpmc_gpu *gpu = (hpmc_gpu *)state;
  int64_t vertices;
  memset(mesh, 0, sizeof(*mesh));
  if (!gpu->d_block) {
    return PAPERS_OK;
  }
  gpu->job.field = papers_field_make(&gpu->volume, isovalue);
  papers_status status = papers_cuda_status(gpu->memory, build(gpu));
  status = status == PAPERS_OK ? papers_hpmc_total(&gpu->host->top[0], UINT32_MAX - 1, &vertices) : status;
  status = status == PAPERS_OK ? reserve(gpu, (void **)&gpu->d_positions, &gpu->positions_bytes, vertices) : status;
  status = status == PAPERS_OK ? reserve(gpu, (void **)&gpu->d_normals, &gpu->normals_bytes, vertices) : status;
  if (status != PAPERS_OK) {
    return status;
  }
  cudaError_t error =
    PAPERS_BY_TYPE(gpu->volume.type, emit_soup, gpu->job, vertices, gpu->d_positions, gpu->d_normals);
  error = error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
  mesh->points = vertices;
  mesh->triangles = vertices / 3;
  mesh->positions = gpu->d_positions;
  mesh->normals = gpu->d_normals;
  return papers_cuda_status(gpu->memory, error);
}

/* Counts of the indexed mesh. Where the first attempt meets samples that are not finite, a second one counts by the full
 * rule; that stays so. */
papers_status count_indexed(hpmc_gpu *gpu, int64_t *triangles, int64_t *points)
{
  papers_status status = papers_cuda_status(gpu->memory, build(gpu));
  if (status == PAPERS_OK && gpu->host->odd) {
    gpu->careful = 1;
    status = papers_cuda_status(gpu->memory, build(gpu));
  }
  status = status == PAPERS_OK ? papers_hpmc_total(&gpu->host->top[0], UINT32_MAX - 1, triangles) : status;
  return status == PAPERS_OK ? papers_hpmc_total(&gpu->host->top[1], INT32_MAX, points) : status;
}

papers_status extract_indexed(void *state, double isovalue, papers_mesh *mesh)
{
  hpmc_gpu *gpu = (hpmc_gpu *)state;
  int64_t triangles, points;
  memset(mesh, 0, sizeof(*mesh));
  if (!gpu->d_block) {
    return PAPERS_OK;
  }
  gpu->job.field = papers_field_make(&gpu->volume, isovalue);
  papers_status status = count_indexed(gpu, &triangles, &points);
  status = status == PAPERS_OK ? reserve(gpu, (void **)&gpu->d_positions, &gpu->positions_bytes, points) : status;
  status = status == PAPERS_OK ? reserve(gpu, (void **)&gpu->d_normals, &gpu->normals_bytes, points) : status;
  status = status == PAPERS_OK ? reserve(gpu, (void **)&gpu->d_ids, &gpu->ids_bytes, triangles) : status;
  if (status != PAPERS_OK) {
    return status;
  }
  cudaError_t error =
    PAPERS_BY_TYPE(gpu->volume.type, emit_points, gpu->job, points, gpu->d_positions, gpu->d_normals);
  if (error == cudaSuccess) {
    error = papers_launch(triangles_kernel, papers_blocks((uint64_t)triangles, PAPERS_THREADS), PAPERS_THREADS,
      gpu->job, (uint32_t)triangles, gpu->d_ids);
  }
  error = error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
  mesh->points = points;
  mesh->triangles = triangles;
  mesh->positions = gpu->d_positions;
  mesh->normals = gpu->d_normals;
  mesh->ids = gpu->d_ids;
  return papers_cuda_status(gpu->memory, error);
}

} // namespace

const papers_system papers_hpmc_gpu = { HPMC_NAME, HPMC_SOURCE, create_soup, extract, destroy };
const papers_system papers_hpmc_indexed_gpu = { HPMC_INDEXED_NAME, HPMC_INDEXED_SOURCE, create_indexed,
  extract_indexed, destroy };
