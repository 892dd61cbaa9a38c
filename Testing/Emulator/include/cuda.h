/* SPDX-License-Identifier: BSD-3-Clause
 * Replaces CUDA's header of this name: asynchronous copies of boxes of volumes, on the CPU. */
#ifndef EMULATED_CUDA_H
#define EMULATED_CUDA_H

#include <cuda_runtime.h>

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 } CUresult;
typedef enum { CU_TENSOR_MAP_DATA_TYPE_FLOAT32 } CUtensorMapDataType;
typedef enum { CU_TENSOR_MAP_INTERLEAVE_NONE } CUtensorMapInterleave;
typedef enum { CU_TENSOR_MAP_SWIZZLE_NONE } CUtensorMapSwizzle;
typedef enum { CU_TENSOR_MAP_L2_PROMOTION_L2_128B } CUtensorMapL2promotion;
typedef enum { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE } CUtensorMapFloatOOBfill;

typedef struct CUtensorMap {
  const float *d_data;
  int64_t dims[3], strides[3], box[3]; /* strides in samples */
} CUtensorMap;

/* For three dimensions. Refuses what the driver refuses. */
static inline CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType, cuuint32_t rank, void *d_data,
  const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
  CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)
{
  map->d_data = (const float *)d_data;
  for (int a = 0; a < 3; ++a) {
    map->dims[a] = (int64_t)dims[a];
    map->strides[a] = a == 0 ? 1 : (int64_t)(strides[a - 1] / sizeof(float));
    map->box[a] = box[a];
    if (rank != 3 || steps[a] != 1 || dims[a] == 0 || dims[a] > (uint64_t)1 << 32 || box[a] == 0 || box[a] > 256 ||
      (a > 0 && strides[a - 1] % 16 != 0)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return (uintptr_t)d_data % 16 || box[0] * sizeof(float) % 16 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0 };
enum { cudaEnableDefault = 0 };

static inline cudaError_t cudaGetDriverEntryPointByVersion(
  const char *, void **function, unsigned, unsigned long long, cudaDriverEntryPointQueryResult *found)
{
  *function = (void *)cuTensorMapEncodeTiled;
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

/* A barrier in shared memory: arrivals per phase, those left in this phase, and the phase's parity. */
struct emulated_barrier {
  uint16_t count, left;
  uint32_t parity;
};

static inline void make_barriers(uint64_t *barriers, int n, uint32_t count)
{
  for (int i = 0; i < n; ++i) {
    ((emulated_barrier *)barriers)[i] = { (uint16_t)count, (uint16_t)count, 0 };
  }
}
static inline void arrive(uint64_t *barrier)
{
  emulated_barrier *b = (emulated_barrier *)barrier;
  if (--b->left == 0) {
    b->left = b->count;
    b->parity ^= 1;
  }
}
static inline uint32_t is_over(uint64_t *barrier, uint32_t parity)
{
  return ((volatile emulated_barrier *)barrier)->parity != parity;
}

/* Copies a box, with 0 outside the volume, and arrives. Traps if `bytes` is not the box's or `to` not a multiple of 128. */
static inline void copy_box(
  const CUtensorMap *map, int64_t x, int64_t y, int64_t z, size_t bytes, void *to, uint64_t *barrier)
{
  float *out = (float *)to;
  if (bytes != (size_t)(map->box[0] * map->box[1] * map->box[2]) * sizeof(float) || (uintptr_t)to % 128 != 0) {
    __trap();
  }
  for (int64_t k = z; k < z + map->box[2]; ++k) {
    for (int64_t j = y; j < y + map->box[1]; ++j) {
      for (int64_t i = x; i < x + map->box[0]; ++i) {
        const int inside = i >= 0 && i < map->dims[0] && j >= 0 && j < map->dims[1] && k >= 0 && k < map->dims[2];
        *out++ = inside ? map->d_data[i + j * map->strides[1] + k * map->strides[2]] : 0;
      }
    }
  }
  arrive(barrier);
}

#endif
