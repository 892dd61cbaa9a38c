/* SPDX-License-Identifier: BSD-3-Clause
 * OpenGL buffers as CUDA's resources, without OpenGL: a buffer is a piece of device memory. See runtime.h. */
#include <cuda_runtime.h>

#include <map>

struct cudaGraphicsResource {
  void *memory;
  size_t bytes;
  int mapped;
};

static std::map<unsigned, cudaGraphicsResource> &buffers = *new std::map<unsigned, cudaGraphicsResource>();
static int device;

void *emulator_gl_buffer(unsigned name, size_t bytes)
{
  if (bytes == 0) {
    cudaFree(buffers[name].memory);
    buffers.erase(name);
    return NULL;
  }
  cudaGetDevice(&device);
  buffers[name].bytes = bytes;
  return cudaMalloc(&buffers[name].memory, bytes) == cudaSuccess ? buffers[name].memory : NULL;
}

cudaError_t cudaGLGetDevices(unsigned *count, int *devices, unsigned, cudaGLDeviceList)
{
  *count = 1;
  devices[0] = device;
  return buffers.empty() ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, unsigned name, unsigned)
{
  const auto found = buffers.find(name);
  *resource = found == buffers.end() ? NULL : new cudaGraphicsResource(found->second);
  return *resource ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t)
{
  for (int i = 0; i < count; ++i) {
    resources[i]->mapped = 1;
  }
  return cudaSuccess;
}

cudaError_t cudaGraphicsResourceGetMappedPointer(void **memory, size_t *bytes, cudaGraphicsResource_t resource)
{
  *memory = resource->memory;
  *bytes = resource->bytes;
  return resource->mapped ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t stream)
{
  for (int i = 0; i < count; ++i) {
    resources[i]->mapped = 0;
  }
  return cudaStreamSynchronize(stream);
}

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource)
{
  const int mapped = resource->mapped;
  delete resource;
  return mapped ? cudaErrorInvalidValue : cudaSuccess;
}
