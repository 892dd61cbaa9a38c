/* SPDX-License-Identifier: BSD-3-Clause
 * Common code of the emulated CUB functions. */
#ifndef EMULATED_TEMP_STORAGE_H
#define EMULATED_TEMP_STORAGE_H

#include <cuda_runtime.h>

/* If d_storage is NULL, only sets the number of bytes that it needs. Else runs work() after earlier work in the stream. Fills the
 * storage first, so that too small a storage shows. */
template <class WORK>
static cudaError_t emulated_with_storage(
  void *d_storage, size_t &bytes, size_t needed, cudaStream_t stream, const WORK &work)
{
  if (!d_storage) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = cudaStreamSynchronize(stream);
  if (error == cudaSuccess) {
    memset(d_storage, 0x5a, needed);
    work();
  }
  return error;
}

#endif
