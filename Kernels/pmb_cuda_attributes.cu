/* SPDX-License-Identifier: BSD-3-Clause
 * Interpolation of other point arrays to the points of the mesh; the arithmetic of pmb_cpu_attributes.c. */
#include "pmb_cuda.cuh"

/* value to type T, toward zero, limited to what T holds. */
template <class T> static __device__ __forceinline__ T limited(double value, double lowest, double highest)
{
  return value <= lowest ? (T)lowest : value >= highest ? (T)highest : (T)value;
}
template <class T> static __device__ __forceinline__ T to_type(double value);
template <> __device__ __forceinline__ int8_t to_type<int8_t>(double v)
{
  return limited<int8_t>(v, -128, 127);
}
template <> __device__ __forceinline__ uint8_t to_type<uint8_t>(double v)
{
  return limited<uint8_t>(v, 0, 255);
}
template <> __device__ __forceinline__ int16_t to_type<int16_t>(double v)
{
  return limited<int16_t>(v, -32768, 32767);
}
template <> __device__ __forceinline__ uint16_t to_type<uint16_t>(double v)
{
  return limited<uint16_t>(v, 0, 65535);
}
template <> __device__ __forceinline__ int32_t to_type<int32_t>(double v)
{
  return limited<int32_t>(v, INT32_MIN, INT32_MAX);
}
template <> __device__ __forceinline__ uint32_t to_type<uint32_t>(double v)
{
  return limited<uint32_t>(v, 0, UINT32_MAX);
}
template <> __device__ __forceinline__ int64_t to_type<int64_t>(double v)
{
  return limited<int64_t>(v, -9223372036854775808.0, 9223372036854774784.0);
}
template <> __device__ __forceinline__ uint64_t to_type<uint64_t>(double v)
{
  return limited<uint64_t>(v, 0, 18446744073709549568.0);
}
template <> __device__ __forceinline__ float to_type<float>(double v)
{
  return (float)v;
}
template <> __device__ __forceinline__ double to_type<double>(double v)
{
  return v;
}

/* step: from the lower to the upper sample, in tuples, by kind. */
typedef struct attribute_steps {
  int64_t step[PMB_KINDS];
} attribute_steps;

template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS) attribute_kernel(const T *d_in, T *d_out,
  const double *d_parameter, const int64_t *d_sample, int64_t values, int components, const attribute_steps steps)
{
  for (int64_t n = (int64_t)blockIdx.x * PMB_CUDA_THREADS + threadIdx.x; n < values;
       n += (int64_t)gridDim.x * PMB_CUDA_THREADS) {
    const int64_t point = n / components, c = n - point * components;
    const int64_t sample = d_sample[point] >> 2, step = steps.step[d_sample[point] & 3];
    const double lower = (double)d_in[sample * components + c];
    const double upper = (double)d_in[(sample + step) * components + c];
    d_out[n] = to_type<T>(step ? lower + d_parameter[point] * (upper - lower) : lower);
  }
}

pmb_status pmb_cuda_attribute(pmb_cuda *cuda, const pmb_attribute *attribute, int64_t points, const void *d_in,
  void *d_out, const pmb_cuda_output *output)
{
  const int64_t *dims = cuda->context->volume.dims;
  const attribute_steps steps = { { 1, dims[0], dims[0] * dims[1], 0 } };
  const int64_t values = points * attribute->components;
  const int64_t blocks = (values + PMB_CUDA_THREADS - 1) / PMB_CUDA_THREADS;
  cudaError_t error = cudaSuccess;
  PMB_CUDA_BY_TYPE(attribute->type,
    (error = pmb_cuda_launch(cuda, attribute_kernel<T>, blocks < 65536 ? blocks : 65536, PMB_CUDA_THREADS, 0,
       (const T *)d_in, (T *)d_out, output->d_parameter, output->d_sample, values, attribute->components, steps)));
  return pmb_cuda_check(cuda->context, error, "launch of attribute");
}
