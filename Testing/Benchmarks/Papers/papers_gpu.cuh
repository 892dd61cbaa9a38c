/* SPDX-License-Identifier: BSD-3-Clause
 * What the kernels of several systems need of CUDA's runtime. All is enqueued in the stream that is always there. */
#ifndef PAPERS_GPU_CUH
#define PAPERS_GPU_CUH

#include <cuda_runtime.h>
#include <stdio.h>

#include "papers.h"

/* A CUDA call's result, with its text in memory->message. */
static inline papers_status papers_check(papers_memory *memory, cudaError_t error, const char *what)
{
  if (error == cudaSuccess) {
    return PAPERS_OK;
  }
  cudaGetLastError();
  snprintf(memory->message, sizeof(memory->message), "%.60s: %.90s", what, cudaGetErrorString(error));
  return PAPERS_DEVICE;
}

/* Returns from the calling function if a CUDA call fails. */
#define PAPERS_TRY(memory, call)                                       \
  do {                                                                 \
    const papers_status tried = papers_check((memory), (call), #call); \
    if (tried != PAPERS_OK) {                                          \
      return tried;                                                    \
    }                                                                  \
  } while (0)

/* Launches a kernel with a row of blocks; like <<<>>>, but returns what went wrong. */
template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t papers_launch(
  void (*kernel)(PARAMETERS...), int64_t blocks, int threads, ARGUMENTS... arguments)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  return cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

static inline int64_t papers_blocks(int64_t threads, int64_t block)
{
  return (threads + block - 1) / block;
}

#endif
