/* SPDX-License-Identifier: BSD-3-Clause
 * Replaces CUB's header of this name: the same sums, on the host, after earlier work in the stream. */
#ifndef EMULATED_CUB_DEVICE_SCAN_CUH
#define EMULATED_CUB_DEVICE_SCAN_CUH

#include "emulated/temp_storage.h"

#define CUB_VERSION 300000

namespace cub
{

struct DeviceScan {
  /* The two arrays may be one. */
  template <class INPUT, class OUTPUT, class OPERATION, class VALUE, class COUNT>
  static cudaError_t ExclusiveScan(void *d_temp_storage, size_t &temp_storage_bytes, INPUT d_in, OUTPUT d_out,
    OPERATION add, VALUE first, COUNT num_items, cudaStream_t stream = 0)
  {
    const size_t needed = 1024 + 8 * (size_t)num_items / 2048;
    return emulated_with_storage(d_temp_storage, temp_storage_bytes, needed, stream, [&] {
      VALUE sum = first;
      for (COUNT i = 0; i < num_items; ++i) {
        const auto value = d_in[i];
        d_out[i] = sum;
        sum = add(sum, value);
      }
    });
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
