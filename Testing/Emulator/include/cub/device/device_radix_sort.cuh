/* SPDX-License-Identifier: BSD-3-Clause
 * Replaces CUB's header of this name: the same order, on the host, after earlier work in the stream. */
#ifndef EMULATED_CUB_DEVICE_RADIX_SORT_CUH
#define EMULATED_CUB_DEVICE_RADIX_SORT_CUH

#include "emulated/temp_storage.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub
{

struct DeviceRadixSort {
  /* By the bits from begin_bit to end_bit; equal keys stay in order. */
  template <class KEY, class VALUE, class COUNT>
  static cudaError_t SortPairs(void *d_temp_storage, size_t &temp_storage_bytes, const KEY *d_keys_in,
    KEY *d_keys_out, const VALUE *d_values_in, VALUE *d_values_out, COUNT num_items, int begin_bit, int end_bit,
    cudaStream_t stream = 0)
  {
    return emulated_with_storage(d_temp_storage, temp_storage_bytes, 1024 + (size_t)num_items, stream, [&] {
      const KEY mask = end_bit - begin_bit == 8 * sizeof(KEY) ? ~(KEY)0 : ((KEY)1 << (end_bit - begin_bit)) - 1;
      std::vector<size_t> order((size_t)num_items);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
        [&](size_t a, size_t b) { return (d_keys_in[a] >> begin_bit & mask) < (d_keys_in[b] >> begin_bit & mask); });
      for (size_t i = 0; i < order.size(); ++i) {
        d_keys_out[i] = d_keys_in[order[i]];
        d_values_out[i] = d_values_in[order[i]];
      }
    });
  }
};

} // namespace cub

#endif
