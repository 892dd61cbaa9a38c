/* SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "papers_place.h"

/* An error is told once: the next call must not find it again. */
static const char *text_of(cudaError_t error)
{
  if (error == cudaSuccess) {
    return NULL;
  }
  cudaGetLastError();
  return cudaGetErrorString(error);
}

static const char *device_missing(void)
{
  int count = 0;
  const char *text = text_of(cudaGetDeviceCount(&count));
  return text ? text : count > 0 ? NULL : "there is no NVIDIA GPU";
}

static void *device_allocate(size_t bytes)
{
  void *block = NULL;
  return text_of(cudaMalloc(&block, bytes)) ? NULL : block;
}

static void device_release(void *block)
{
  text_of(cudaFree(block));
}

static const char *device_upload(void *to, const void *from, size_t bytes)
{
  return text_of(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}

static const char *device_download(void *to, const void *from, size_t bytes)
{
  return text_of(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static const char *device_wait(void)
{
  return text_of(cudaDeviceSynchronize());
}

/* Between events of the default stream, as PMB's own times are: what a stream of another kind does is waited for by what is
 * timed itself. */
static cudaEvent_t marks[2];

static void device_begin(void)
{
  for (int i = 0; i < 2 && !marks[i]; ++i) {
    text_of(cudaEventCreate(&marks[i]));
  }
  text_of(cudaEventRecord(marks[0], NULL));
}

static double device_end(void)
{
  float ms = -1;
  const cudaError_t error = cudaEventRecord(marks[1], NULL);
  const int failed = error != cudaSuccess || text_of(cudaEventSynchronize(marks[1])) ||
    text_of(cudaEventElapsedTime(&ms, marks[0], marks[1]));
  return failed ? -1 : (double)ms;
}

static size_t device_available(void)
{
  size_t available = 0, total = 0;
  return text_of(cudaMemGetInfo(&available, &total)) ? 0 : available;
}

extern "C" const papers_place papers_device = { "gpu", device_missing, device_allocate, device_release, device_upload,
  device_download, device_wait, device_begin, device_end, device_available };
