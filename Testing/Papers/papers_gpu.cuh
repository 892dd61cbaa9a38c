/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_gpu.cuh - common CUDA code of the systems: the state, launches, samples, the point on an edge, normals by central
 * differences. All work is enqueued in the default stream. */
#ifndef PAPERS_GPU_CUH
#define PAPERS_GPU_CUH

#include <cuda_runtime.h>
#include <stdio.h>

#include "papers.h"
#include "shared/pmb_cell.h"
#include "shared/pmb_point.h"

/* ---- host ---- */

/* The volume and the isovalue, as kernels need them. */
struct papers_field {
  const void *d_samples;
  int32_t dims[3];
  int64_t row, slice;                /* samples from one row, or slice, to the next */
  float threshold, value, value_low; /* as in pmb_isovalue */
  int small_threshold;
  int shift[2]; /* evaluated: log2 of row and slice */
  float step[3];
};

struct papers_buffer {
  void *d_data;
  size_t bytes;
};

/* The first member of each system's state, which is initialized with zeros. */
struct papers_state {
  const papers_system *system;
  papers_memory *memory;
  int type; /* a pmb_type, or PAPERS_EVALUATED */
  papers_field field;
  papers_buffer positions, normals, ids;
  papers_mesh mesh;
  void *pinned; /* 64 bytes of pinned host memory, one block for all: pinning takes longer than an extraction */
};

static inline papers_status papers_check(papers_memory *, papers_status status, const char *)
{
  return status;
}

static inline papers_status papers_check(papers_memory *memory, cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return PAPERS_OK;
  (void)cudaGetLastError();
  snprintf(memory->message, sizeof(memory->message), "%.60s: %.90s", what, cudaGetErrorString(error));
  return PAPERS_DEVICE;
}

/* Returns from the calling function if a call fails, one of CUDA or one that returns a papers_status. */
#define PAPERS_TRY(memory, ...)                                                      \
  do {                                                                               \
    const papers_status tried = papers_check((memory), (__VA_ARGS__), #__VA_ARGS__); \
    if (tried != PAPERS_OK) return tried;                                            \
  } while (0)

/* Grows a buffer to at least `bytes`; discards its content. */
papers_status papers_reserve(papers_memory *memory, papers_use use, papers_buffer *buffer, size_t bytes);

/* Grows the mesh's buffers and sets state->mesh. ids: 1 if the mesh has ids. */
papers_status papers_reserve_mesh(papers_state *state, int64_t points, int64_t triangles, int ids);

/* Launches a kernel with a row of blocks; does nothing for 0 blocks. */
template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t papers_launch(
  void (*kernel)(PARAMETERS...), int64_t blocks, int threads, ARGUMENTS... arguments)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  return blocks == 0     ? cudaSuccess
    : blocks > INT32_MAX ? cudaErrorInvalidConfiguration
                         : cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

static inline int64_t papers_blocks(int64_t count, int64_t of_block)
{
  return (count + of_block - 1) / of_block;
}

/* T of samples that are evaluated: floats. */
enum { PAPERS_EVALUATED = 64 };
struct papers_cayley {
  float value;
};

/* Calls FUNCTION<T>(...) with the type of the samples. */
#define PAPERS_BY_TYPE(type, FUNCTION, ...)                          \
  ((type) == PAPERS_EVALUATED ? FUNCTION<papers_cayley>(__VA_ARGS__) \
      : (type) == PMB_UINT8   ? FUNCTION<uint8_t>(__VA_ARGS__)       \
      : (type) == PMB_INT16   ? FUNCTION<int16_t>(__VA_ARGS__)       \
      : (type) == PMB_UINT16  ? FUNCTION<uint16_t>(__VA_ARGS__)      \
                              : FUNCTION<float>(__VA_ARGS__))

/* ---- samples and points ---- */

template <class T> inline constexpr int PAPERS_IS_EVALUATED = 0;
template <> inline constexpr int PAPERS_IS_EVALUATED<papers_cayley> = 1;

/* In place of a pointer to samples that are evaluated. */
struct papers_cayley_at {
  const papers_field *field;
  int64_t index;
  __device__ __forceinline__ papers_cayley_at operator+(int64_t n) const
  {
    return { field, index + n };
  }
  __device__ __forceinline__ void operator+=(int64_t n)
  {
    index += n;
  }
  __device__ __forceinline__ float operator[](int64_t n) const
  {
    const int64_t at = index + n, rest = at & (field->slice - 1);
    return papers_cayley_value(field->step, (int32_t)(rest & (field->row - 1)), (int32_t)(rest >> field->shift[0]),
      (int32_t)(at >> field->shift[1]));
  }
};

/* The value of a sample, and a pointer to samples, for kernels' T. */
template <class T> struct papers_values {
  typedef T type;
  typedef const T *at;
};
template <> struct papers_values<papers_cayley> {
  typedef float type;
  typedef papers_cayley_at at;
};

template <class T>
static __device__ __forceinline__ typename papers_values<T>::at papers_begin(const papers_field &field)
{
  if constexpr (PAPERS_IS_EVALUATED<T>)
    return { &field, 0 };
  else
    return (const T *)field.d_samples;
}

template <class T> static __device__ __forceinline__ T papers_load(const T *d_sample)
{
  return __ldg(d_sample);
}
static __device__ __forceinline__ float papers_load(papers_cayley_at sample)
{
  return sample[0];
}

template <class T> static __device__ __forceinline__ float papers_sample(const papers_field &field, int64_t index)
{
  return (float)papers_begin<T>(field)[index];
}

static __device__ __forceinline__ int64_t papers_index(const papers_field &field, const int32_t place[3])
{
  return place[0] + field.row * place[1] + field.slice * place[2];
}

/* The lower sample of an edge of the cell at `cell`. */
static __device__ __forceinline__ void papers_lower_of(const int32_t cell[3], int edge, int32_t lower[3])
{
  const int corner = pmb_edge_lower(edge);
  for (int a = 0; a < 3; ++a) lower[a] = cell[a] + (corner >> a & 1);
}

/* The point on the edge from the sample at `lower` along an axis. PMB adds the two as doubles and rounds; the sum of floats
 * has the same bits, as indices below 2^24 are floats and 53 >= 2 * 24 + 2. */
static __device__ __forceinline__ void papers_position(const int32_t lower[3], int axis, float t, float position[3])
{
  for (int a = 0; a < 3; ++a) position[a] = a == axis ? (float)lower[a] + t : (float)lower[a];
}

/* ---- normals ---- */

/* Toward lower values, of unit length. None, zeros, where the gradient is zero, or its squared length underflows or overflows. */
PMB_INLINE void papers_normal(const float gradient[3], float normal[3])
{
  const float length2 = pmb_length2(gradient[0], gradient[1], gradient[2]);
  const float factor = pmb_length2_good(length2) ? pmb_normal_factor(length2) : 0;
  for (int a = 0; a < 3; ++a) normal[a] = factor != 0 ? gradient[a] * factor : 0;
}

/* The sample at an end of an edge and its neighbours; at the volume's border the sample replaces a neighbour, with factor 1. */
struct papers_end {
  float center, below[3], above[3], factor[3];
};

static __device__ __forceinline__ void papers_central_normal(
  const papers_end &lower, const papers_end &upper, float t, float normal[3])
{
  float g[3];
  for (int a = 0; a < 3; ++a) {
    g[a] = pmb_lerp(pmb_difference(lower.below[a], lower.above[a], lower.factor[a]),
      pmb_difference(upper.below[a], upper.above[a], upper.factor[a]), t);
  }
  papers_normal(g, normal);
}

#endif
