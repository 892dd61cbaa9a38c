/* SPDX-License-Identifier: BSD-3-Clause
 * What the two ways of pass vertices share that have the samples in shared memory: boxes of the volume, which devices from
 * 9.0 on copy on their own. */
#ifndef PMB_CUDA_VERTICES_TILES_CUH
#define PMB_CUDA_VERTICES_TILES_CUH

#include "cuda/pmb_cuda_vertices_brick.cuh"

#if CUDART_VERSION >= 12000

#include <cuda.h>

/* Whether the code is for a device that can. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PMB_CUDA_BOXES 1
#else
#define PMB_CUDA_BOXES 0
#endif

static __host__ __device__ constexpr size_t scratch_bytes(int flags)
{
  return flags == PMB_CUDA_USUAL ? offsetof(vertex_scratch, others) : sizeof(vertex_scratch);
}

#if PMB_CUDA_BOXES

/* Barriers in shared memory that copies arrive at. */
#if defined(__CUDA_ARCH__)

static __device__ __forceinline__ uint32_t address_of(const void *shared)
{
  return (uint32_t)__cvta_generic_to_shared(shared);
}

static __device__ __forceinline__ void make_barrier(uint64_t *barrier, uint32_t count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(count) : "memory");
}

/* Whether the phase of this parity is over; waits for it, but not for long. */
static __device__ __forceinline__ uint32_t is_over(uint64_t *barrier, uint32_t parity)
{
  uint32_t over;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(address_of(barrier)), "r"(parity)
               : "memory");
  return over;
}

#endif

/* Copies a box; coordinates of its first sample. One thread calls it. */
static __device__ __forceinline__ void copy_box(
  const CUtensorMap *map, int x, int y, int z, uint32_t bytes, void *to, uint64_t *arrived)
{
#if defined(__CUDA_ARCH__)
  const uint32_t barrier = address_of(arrived);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4}], [%5];" ::"r"(address_of(to)),
               "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
               : "memory");
#elif !defined(__NVCC__)
  (void)arrived;
  emulator_copy_box(map, x, y, z, bytes, to);
#endif
}

/* Where a lane finds its word of a head, and its points before the row: so many bytes behind for each brick. */
typedef struct tile_source {
  const char *d_word, *d_first;
  uint32_t step;
} tile_source;

static __device__ __forceinline__ tile_source source_of_tile(const pmb_cuda_job &job)
{
  const uint32_t lane = threadIdx.x & 31, before = lane >= BEFORE_LANE;
  /* column and exact follow the words; the next brick's points follow the triangles */
  const uint32_t word = (before ? lane - BEFORE_LANE : lane) + 2 * (lane == AFTER_LANE);
  const char *d_from = before ? (const char *)job.d_before : (const char *)job.d_records;
  const tile_source source = { opaque(d_from + word * sizeof(uint32_t)),
    opaque((const char *)(job.d_records->first + (lane & 15))),
    (uint32_t)opaque((uint32_t)(before ? sizeof(pmb_cuda_before) : sizeof(pmb_cuda_record))) };
  return source;
}

/* As read_head, but without the brick's number, and without branches between the lanes. */
static __device__ __forceinline__ brick_head read_head_of_tile(
  const tile_source &source, uint32_t index, uint32_t active)
{
  brick_head head = {};
  if (index < active) {
    head.word = *(const uint32_t *)(source.d_word + (uint64_t)source.step * index);
    head.first = *(const uint32_t *)(source.d_first + (uint64_t)sizeof(pmb_cuda_record) * index);
  }
  return head;
}

#endif

typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
  const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
  CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* Describes the volume to the copy engine, for boxes of so many samples; 0 if it cannot be. */
template <class T>
static int describe_volume(
  const pmb_cuda_job *job, cuuint32_t width, cuuint32_t rows, cuuint32_t slices, CUtensorMap *map)
{
  const cuuint64_t dims[3] = { (cuuint64_t)job->pitch, (cuuint64_t)job->dims[1], (cuuint64_t)job->dims[2] };
  const cuuint64_t strides[2] = { job->pitch * sizeof(T), job->slice * sizeof(T) };
  const cuuint32_t box[3] = { width, rows, slices }, steps[3] = { 1, 1, 1 };
  const CUtensorMapDataType type = sizeof(T) == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8
    : sizeof(T) == 2                              ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  void *encode = NULL;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
#else
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
#endif
  return found == cudaDriverEntryPointSuccess && encode &&
    ((encode_function)encode)(map, type, 3, (void *)job->d_samples, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

/* Whether the volume and what is asked for are such that most samples are needed, and as floats. */
static inline int are_boxes_worth_it(const pmb_cuda *cuda)
{
  const pmb_cuda_job *job = &cuda->job;
  return cuda->context->volume.type == PMB_FLOAT32 && job->isovalue_count == 1 &&
    cuda->context->active_bricks >= job->brick_count / 2;
}

#endif

#endif
