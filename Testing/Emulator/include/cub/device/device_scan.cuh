/* SPDX-License-Identifier: BSD-3-Clause
 * Stands in for CUB's header of this name: the same sums, on the host, when what is in the stream before them is done. What
 * it needs of memory it fills, so that too little of it shows. */
#ifndef EMULATED_CUB_DEVICE_SCAN_CUH
#define EMULATED_CUB_DEVICE_SCAN_CUH

#include <cuda_runtime.h>

#define CUB_VERSION 300000

namespace cub
{

struct DeviceScan {
  /* d_temp_storage NULL: only says how much of it is needed. The two arrays may be one. */
  template <class INPUT, class OUTPUT, class OPERATION, class VALUE, class COUNT>
  static cudaError_t ExclusiveScan(void *d_temp_storage, size_t &temp_storage_bytes, INPUT d_in, OUTPUT d_out,
    OPERATION add, VALUE first, COUNT num_items, cudaStream_t stream = 0)
  {
    const size_t needed = 1024 + 8 * (size_t)num_items / 2048;
    if (!d_temp_storage) {
      temp_storage_bytes = needed;
      return cudaSuccess;
    }
    if (temp_storage_bytes < needed) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) {
      return error;
    }
    VALUE sum = first;
    memset(d_temp_storage, 0x5a, needed);
    for (COUNT i = 0; i < num_items; ++i) {
      const auto value = d_in[i];
      d_out[i] = sum;
      sum = add(sum, value);
    }
    return cudaSuccess;
  }

  template <class INPUT, class OUTPUT, class COUNT>
  static cudaError_t ExclusiveSum(void *d_temp_storage, size_t &temp_storage_bytes, INPUT d_in, OUTPUT d_out,
    COUNT num_items, cudaStream_t stream = 0)
  {
    auto none = *d_out;
    none = 0;
    const auto add = [](decltype(none) a, decltype(none) b) { return a + b; };
    return ExclusiveScan(d_temp_storage, temp_storage_bytes, d_in, d_out, add, none, num_items, stream);
  }
};

} // namespace cub

#endif
