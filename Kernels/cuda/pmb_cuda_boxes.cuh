/* SPDX-License-Identifier: BSD-3-Clause
 * Copies boxes of a float32 volume to shared memory by the copy engine of devices from 9.0 on. */
#ifndef PMB_CUDA_BOXES_CUH
#define PMB_CUDA_BOXES_CUH

#include "cuda/pmb_cuda_common.cuh"

#if CUDART_VERSION >= 12000

#include <cuda.h>

/* Whether the code is for such a device, or the emulator's. */
#if defined(__CUDA_ARCH__) ? __CUDA_ARCH__ >= 900 : !defined(__NVCC__)
#define PMB_CUDA_BOXES 1
#else
#define PMB_CUDA_BOXES 0
#endif

#if defined(__CUDA_ARCH__) && PMB_CUDA_BOXES

static __device__ __forceinline__ uint32_t address_of(const void *shared)
{
  return (uint32_t)__cvta_generic_to_shared(shared);
}

/* Makes n barriers in shared memory. A phase ends after `count` arrivals, and when its copies have arrived. */
static __device__ __forceinline__ void make_barriers(uint64_t *barriers, int n, uint32_t count)
{
  for (int i = 0; i < n; ++i) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barriers + i)), "r"(count) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void arrive(uint64_t *barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

/* Whether the phase of this parity has ended; waits for that a limited time. */
static __device__ __forceinline__ uint32_t is_over(uint64_t *barrier, uint32_t parity)
{
  uint32_t over;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(address_of(barrier)), "r"(parity)
               : "memory");
  return over;
}

/* Copies the box that begins at (x,y,z), and arrives. Call it in one thread. */
static __device__ __forceinline__ void copy_box(
  const CUtensorMap *map, int x, int y, int z, uint32_t bytes, void *to, uint64_t *barrier)
{
  const uint32_t address = address_of(barrier);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4}], [%5];" ::"r"(address_of(to)),
               "l"(map), "r"(x), "r"(y), "r"(z), "r"(address)
               : "memory");
}

#endif /* the emulator has its own */

typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
  const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
  CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* Describes the volume to the copy engine, for boxes of this size. Returns 0 on failure. */
static int describe_volume(
  const pmb_cuda_job *job, cuuint32_t width, cuuint32_t rows, cuuint32_t slices, CUtensorMap *map)
{
  const cuuint64_t dims[3] = { (cuuint64_t)job->pitch, (cuuint64_t)job->dims[1], (cuuint64_t)job->dims[2] };
  const cuuint64_t strides[2] = { job->pitch * sizeof(float), job->slice * sizeof(float) };
  const cuuint32_t box[3] = { width, rows, slices }, steps[3] = { 1, 1, 1 };
  void *encode = NULL;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
#else
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
#endif
  return found == cudaDriverEntryPointSuccess && encode &&
    ((encode_function)encode)(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)job->d_samples, dims, strides, box,
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

#endif

#endif
