/* SPDX-License-Identifier: BSD-3-Clause
 * What calls of CUB have in common. */
#ifndef EMULATED_TEMP_STORAGE_H
#define EMULATED_TEMP_STORAGE_H

#include <cuda_runtime.h>

/* With d_storage NULL it only says how many bytes of it are needed. Else it does work() when what is in the stream before is done,
 * and fills the storage first, so that too little of it shows. */
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
