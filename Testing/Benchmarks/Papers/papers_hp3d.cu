/* SPDX-License-Identifier: BSD-3-Clause
 * 3D HistoPyramid marching cubes on a GPU.
 *
 * One kernel reads the volume and writes the base and the five levels above it: a block has two cubes of 32^3 cells, side by
 * side along x, and walks through the slices, each sample being read once. The levels above are small. A thread of the
 * output's kernel goes down the pyramid for one triangle. */
#include "papers_hp3d.h"
#include "papers_pyramid.cuh"

#include <stdlib.h>
#include <string.h>

namespace
{

typedef papers_slice<HP3D_BLOCK> hp3d_slice;

enum {
  CUBES = PAPERS_COLUMNS / HP3D_BLOCK,
  PAIRS = HP3D_BLOCK / 2,        /* of slices; and elements of level 1 along an axis of a cube */
  GROUPS = PAIRS * PAIRS * PAIRS /* elements of level 1 in a cube */
};

/* ---- base ---- */

/* Where a block is. */
struct block_place {
  int x, y, z;          /* first cell */
  uint64_t cube[CUBES]; /* the elements of level HP3D_BLOCK_LEVEL */
};

/* across, down: blocks along x and y. */
__device__ __forceinline__ block_place place_of_block(int across, int down)
{
  const int block = (int)blockIdx.x;
  const int i = block % across, j = block / across % down, k = block / across / down;
  block_place place;
  place.x = i * PAPERS_COLUMNS;
  place.y = j * HP3D_BLOCK;
  place.z = k * HP3D_BLOCK;
  for (int c = 0; c < CUBES; ++c) {
    place.cube[c] = hp3d_place(CUBES * i + c, j, k);
  }
  return place;
}

/* Bits of the 3 x 3 x 3 samples of a group: three of a row, [slice][row]. */
struct group_bits {
  uint32_t row[3][3];
};

/* Of a pair of slices and the next one. */
__device__ __forceinline__ group_bits bits_of(const hp3d_slice *ring, int pair, int column, int row)
{
  group_bits bits;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      bits.row[k][j] = papers_three(ring[(2 * (unsigned)pair + k) % PAPERS_RING], 2 * row + j, column);
    }
  }
  return bits;
}

/* Whether they are not all alike. */
__device__ __forceinline__ int is_mixed(const group_bits &bits)
{
  uint32_t some = 0, all = 7;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    some |= bits.row[i / 3][i % 3];
    all &= bits.row[i / 3][i % 3];
  }
  return some != 0 && all != 7;
}

/* The triangles of 2 x 2 x 2 cells, a byte each. */
__device__ __forceinline__ uint2 group_of_bits(
  const papers_field &field, const uint8_t *counts, const group_bits &bits, int x, int y, int z)
{
  uint32_t words[2] = { 0, 0 };
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
    const unsigned cell_case =
      pmb_cell_bits(bits.row[k][j], bits.row[k][j + 1], bits.row[k + 1][j], bits.row[k + 1][j + 1], i);
    if (x + i < field.dims[0] - 1 && y + j < field.dims[1] - 1 && z + k < field.dims[2] - 1) {
      words[k] |= (uint32_t)counts[cell_case] << 8 * (c & 3);
    }
  }
  return make_uint2(words[0], words[1]);
}

/* The same from samples, which need not be finite; rare. */
template <class T> __device__ __noinline__ uint2 group_of_samples(const papers_field &field, int x, int y, int z)
{
  uint32_t words[2] = { 0, 0 };
  for (int c = 0; c < 8; ++c) {
    const int i = x + (c & 1), j = y + (c >> 1 & 1), k = z + (c >> 2);
    if (i < field.dims[0] - 1 && j < field.dims[1] - 1 && k < field.dims[2] - 1) {
      words[c >> 2] |= hp3d_cell_triangles(&field, papers_type_of<T>::type, i, j, k) << 8 * (c & 3);
    }
  }
  return make_uint2(words[0], words[1]);
}

/* Sum of four bytes. */
__device__ __forceinline__ uint32_t sum_of_bytes(uint32_t word)
{
  return __dp4a(word, 0x01010101u, 0u);
}

/* Base level and, in shared memory, level 1 of a pair of slices. */
template <class T>
__device__ __forceinline__ void build_pair(const hp3d_job &job, const uint8_t *counts, const hp3d_slice *ring,
  int odd, const block_place &place, int pair, uint8_t (*sums)[GROUPS])
{
  const int column = (int)papers_gather_2(threadIdx.x), row = (int)papers_gather_2(threadIdx.x >> 1);
  const int group = (int)hp3d_place(column, row, pair);
#pragma unroll 1
  for (int c = 0; c < CUBES; ++c) {
    const int x = place.x + 2 * (PAIRS * c + column), y = place.y + 2 * row, z = place.z + 2 * pair;
    const group_bits bits = bits_of(ring, pair, PAIRS * c + column, row);
    if (is_mixed(bits)) {
      const uint2 words = papers_type_of<T>::IS_FLOAT && odd ? group_of_samples<T>(job.field, x, y, z)
                                                             : group_of_bits(job.field, counts, bits, x, y, z);
      sums[c][group] = (uint8_t)(sum_of_bytes(words.x) + sum_of_bytes(words.y));
      ((uint2 *)job.pyramid.level[0])[(c == 0 ? place.cube[0] : place.cube[1]) * GROUPS + (unsigned)group] = words;
    }
  }
}

/* Levels 1 to 5 of a cube, from level 1 in shared memory: 16 elements of it for each thread. */
__device__ __forceinline__ void build_cube(
  const hp3d_pyramid &pyramid, uint64_t cube, const uint8_t *level_1, uint32_t *of_warps)
{
  const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const uint4 v = ((const uint4 *)level_1)[t];
  const uint32_t low = sum_of_bytes(v.x) + sum_of_bytes(v.y), high = sum_of_bytes(v.z) + sum_of_bytes(v.w);
  uint32_t sum = low + high;
  ((uint4 *)pyramid.level[1])[cube * PAPERS_THREADS + t] = v;
  ((uint32_t *)pyramid.level[2])[cube * PAPERS_THREADS + t] = low | high << 16;
  sum += __shfl_xor_sync(UINT32_MAX, sum, 1);
  sum += __shfl_xor_sync(UINT32_MAX, sum, 2);
  if (lane % 4 == 0) {
    ((uint16_t *)pyramid.level[3])[cube * 64 + t / 4] = (uint16_t)sum;
  }
  sum += __shfl_xor_sync(UINT32_MAX, sum, 4);
  sum += __shfl_xor_sync(UINT32_MAX, sum, 8);
  sum += __shfl_xor_sync(UINT32_MAX, sum, 16);
  if (lane == 0) {
    ((uint16_t *)pyramid.level[4])[cube * PAPERS_WARPS + warp] = (uint16_t)sum;
    of_warps[warp] = sum;
  }
  __syncthreads();
  if (t == 0) {
    sum = 0;
    for (int w = 0; w < PAPERS_WARPS; ++w) {
      sum += of_warps[w];
    }
    ((uint32_t *)pyramid.level[HP3D_BLOCK_LEVEL])[cube] = sum;
  }
}

template <class T>
__global__ __launch_bounds__(PAPERS_THREADS, 4) void base_kernel(
  const __grid_constant__ hp3d_job job, int across, int down)
{
  __shared__ hp3d_slice ring[PAPERS_RING];
  __shared__ __align__(16) uint8_t sums[CUBES][GROUPS];
  __shared__ uint32_t of_warps[CUBES][PAPERS_WARPS];
  __shared__ uint8_t counts[256];
  const block_place place = place_of_block(across, down);
  const int pairs = min((int)PAIRS, (job.field.dims[2] - place.z) / 2); /* (cells + 1) / 2 */
  papers_readings<T, HP3D_BLOCK> near, far;
  int crossed = 0;
  counts[threadIdx.x] = pmb_triangle_count[threadIdx.x];
  for (int i = threadIdx.x; i < CUBES * GROUPS / 16; i += PAPERS_THREADS) {
    ((uint4 *)sums)[i] = make_uint4(0, 0, 0, 0);
  }
  const papers_window<T> window = papers_window_of<T, HP3D_BLOCK>(job.field, place.x, place.y);
  papers_read(window, place.z, &near);
  papers_store_bits(job.field.isovalue, near, &ring[0]);
  papers_read(window, place.z + 1, &near);
  papers_read(window, place.z + 2, &far);
#pragma unroll 1
  for (int pair = 0; pair < pairs; ++pair) {
    papers_store_bits(job.field.isovalue, near, &ring[(2 * (unsigned)pair + 1) % PAPERS_RING]);
    papers_store_bits(job.field.isovalue, far, &ring[(2 * (unsigned)pair + 2) % PAPERS_RING]);
    if (pair + 1 < pairs) {
      papers_read(window, place.z + 2 * pair + 3, &near);
      papers_read(window, place.z + 2 * pair + 4, &far);
    }
    __syncthreads();
    uint32_t holds = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      holds |= papers_holds(ring[(2 * (unsigned)pair + k) % PAPERS_RING]);
    }
    if (papers_is_crossed(holds)) {
      crossed = 1;
      build_pair<T>(job, counts, ring, papers_holds_any(holds, PAPERS_HAS_ODD), place, pair, sums);
    }
  }
  if (crossed) {
    __syncthreads();
#pragma unroll
    for (int c = 0; c < CUBES; ++c) {
      build_cube(job.pyramid, place.cube[c], sums[c], of_warps[c]);
    }
  } else if (threadIdx.x == 0) {
    for (int c = 0; c < CUBES; ++c) {
      ((uint32_t *)job.pyramid.level[HP3D_BLOCK_LEVEL])[place.cube[c]] = 0;
    }
  }
}

template <class T> cudaError_t build_base(const hp3d_job &job)
{
  const int32_t *dims = job.field.dims;
  const uint64_t across = papers_blocks((uint64_t)dims[0] - 1, PAPERS_COLUMNS);
  const uint64_t down = papers_blocks((uint64_t)dims[1] - 1, HP3D_BLOCK);
  return papers_launch(base_kernel<T>, across * down * papers_blocks((uint64_t)dims[2] - 1, HP3D_BLOCK),
    PAPERS_THREADS, job, (int)across, (int)down);
}

/* ---- output ---- */

template <class T>
__global__ __launch_bounds__(PAPERS_THREADS) void triangles_kernel(
  const __grid_constant__ hp3d_job job, uint32_t count, float *d_positions, float *d_normals)
{
  __shared__ float stage[PAPERS_WARPS][32 * 9];
  const uint32_t key = blockIdx.x * PAPERS_THREADS + threadIdx.x, first = key & ~31u;
  float positions[9], normals[9];
  hp3d_triangle(&job, papers_type_of<T>::type, min(key, count - 1), positions, normals);
  papers_store<9>(d_positions, (uint64_t)first * 9, (uint64_t)count * 9, positions, stage[threadIdx.x >> 5]);
  papers_store<9>(d_normals, (uint64_t)first * 9, (uint64_t)count * 9, normals, stage[threadIdx.x >> 5]);
}

template <class T> cudaError_t emit(const hp3d_job &job, uint32_t count, float *d_positions, float *d_normals)
{
  return papers_launch(
    triangles_kernel<T>, papers_blocks(count, PAPERS_THREADS), PAPERS_THREADS, job, count, d_positions, d_normals);
}

/* ---- the system ---- */

struct hp3d_gpu {
  papers_memory *memory;
  papers_volume volume;
  hp3d_job job;
  void *d_block;       /* the pyramid; NULL: there is no cell */
  uint32_t *triangles; /* the top, of the host, pinned */
  float *d_positions, *d_normals;
  size_t positions_bytes, normals_bytes;
};

void destroy(void *state)
{
  hp3d_gpu *gpu = (hp3d_gpu *)state;
  if (gpu) {
    papers_give(gpu->memory, gpu->d_positions);
    papers_give(gpu->memory, gpu->d_normals);
    papers_give(gpu->memory, gpu->d_block);
    free(gpu);
  }
}

/* Cubes outside the volume stay 0: from level HP3D_BLOCK_LEVEL on all is set to 0 once. */
papers_status prepare(hp3d_gpu *gpu, uint64_t bytes)
{
  static uint32_t *pinned; /* taken once per program: that takes longer than an extraction */
  const papers_status status =
    pinned ? PAPERS_OK : papers_cuda_status(gpu->memory, cudaMallocHost((void **)&pinned, sizeof(*pinned)));
  if (status != PAPERS_OK) {
    return status;
  }
  gpu->triangles = pinned;
  gpu->d_block = papers_take(gpu->memory, PAPERS_ACCELERATION, bytes);
  if (!gpu->d_block) {
    return PAPERS_NO_MEMORY;
  }
  papers_hp3d_layout(&gpu->job.pyramid, gpu->volume.dims, gpu->d_block);
  char *d_begin = (char *)gpu->job.pyramid.level[HP3D_BLOCK_LEVEL];
  return papers_cuda_status(
    gpu->memory, cudaMemsetAsync(d_begin, 0, (size_t)((char *)gpu->d_block + bytes - d_begin), NULL));
}

papers_status create(papers_memory *memory, const papers_volume *volume, void **state)
{
  uint64_t bytes;
  *state = NULL;
  papers_status status = papers_hp3d_check(volume, &bytes);
  if (status != PAPERS_OK) {
    return status;
  }
  hp3d_gpu *gpu = (hp3d_gpu *)calloc(1, sizeof(*gpu));
  if (!gpu) {
    return PAPERS_NO_MEMORY;
  }
  gpu->memory = memory;
  gpu->volume = *volume;
  status = bytes ? prepare(gpu, bytes) : PAPERS_OK;
  if (status != PAPERS_OK) {
    destroy(gpu);
    return status;
  }
  *state = gpu;
  return PAPERS_OK;
}

/* The pyramid, and its top to the host. */
cudaError_t build(hp3d_gpu *gpu)
{
  const hp3d_pyramid &pyramid = gpu->job.pyramid;
  papers_levels levels = {};
  for (int l = HP3D_BLOCK_LEVEL; l <= pyramid.top; ++l) {
    levels.level[l] = (uint32_t *)pyramid.level[l];
  }
  levels.top = pyramid.top;
  cudaError_t error = PAPERS_BY_TYPE(gpu->volume.type, build_base, gpu->job);
  if (error == cudaSuccess) {
    error =
      papers_build_upper<8, 4>(levels, HP3D_BLOCK_LEVEL, (uint64_t)1 << 3 * (pyramid.top - HP3D_BLOCK_LEVEL - 1));
  }
  if (error == cudaSuccess) {
    error =
      cudaMemcpyAsync(gpu->triangles, pyramid.level[pyramid.top], sizeof(uint32_t), cudaMemcpyDeviceToHost, NULL);
  }
  return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

papers_status extract(void *state, double isovalue, papers_mesh *mesh)
{
  hp3d_gpu *gpu = (hp3d_gpu *)state;
  memset(mesh, 0, sizeof(*mesh));
  if (!gpu->d_block) {
    return PAPERS_OK;
  }
  gpu->job.field = papers_field_make(&gpu->volume, isovalue);
  papers_status status = papers_cuda_status(gpu->memory, build(gpu));
  if (status != PAPERS_OK) {
    return status;
  }
  const uint32_t triangles = *gpu->triangles;
  const size_t bytes = (size_t)triangles * 9 * sizeof(float);
  status = triangles < UINT32_MAX ? PAPERS_OK : PAPERS_TOO_LARGE;
  status = status == PAPERS_OK
    ? papers_reserve(gpu->memory, PAPERS_OUTPUT, (void **)&gpu->d_positions, &gpu->positions_bytes, bytes)
    : status;
  status = status == PAPERS_OK
    ? papers_reserve(gpu->memory, PAPERS_OUTPUT, (void **)&gpu->d_normals, &gpu->normals_bytes, bytes)
    : status;
  if (status != PAPERS_OK) {
    return status;
  }
  cudaError_t error = PAPERS_BY_TYPE(gpu->volume.type, emit, gpu->job, triangles, gpu->d_positions, gpu->d_normals);
  error = error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
  mesh->points = 3 * (int64_t)triangles;
  mesh->triangles = triangles;
  mesh->positions = gpu->d_positions;
  mesh->normals = gpu->d_normals;
  return papers_cuda_status(gpu->memory, error);
}

} // namespace

const papers_system papers_hp3d_gpu = { HP3D_NAME, HP3D_SOURCE, create, extract, destroy };
