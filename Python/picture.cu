/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures as bytes, in a GPU's memory. */
#include "picture.h"

#include <cuda_runtime.h>

enum
{
  THREADS = 256
};

static __global__ void finish_kernel(const pmb_picture picture)
{
  const int64_t pixel = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (pixel < picture.width * picture.height)
  {
    pmb_finish_pixel(&picture, pixel / picture.width, pixel % picture.width);
  }
}

int pmb_finish_on_gpu(const pmb_picture* picture)
{
  const int64_t pixels = picture->width * picture->height;
  finish_kernel<<<(unsigned)((pixels + THREADS - 1) / THREADS), THREADS, 0, cudaStreamLegacy>>>(*picture);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}
