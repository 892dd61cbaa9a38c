/* SPDX-License-Identifier: BSD-3-Clause
 * OpenGL buffers as CUDA's resources. Without OpenGL a buffer is a piece of device memory; with emulator_use_gl a real buffer,
 * in the host's memory while it is mapped. See runtime.h. */
#include "emulator.h"

#include <map>

struct cudaGraphicsResource {
  void *memory;
  size_t bytes;
  int mapped;
  unsigned name; /* of a real buffer; else 0 */
};

static std::map<unsigned, cudaGraphicsResource> &buffers = *new std::map<unsigned, cudaGraphicsResource>();
static int device;
static const emulator_gl *gl;

void emulator_use_gl(const emulator_gl *real)
{
  gl = real;
}

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
  return buffers.empty() && !gl ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, unsigned name, unsigned)
{
  const auto found = buffers.find(name);
  *resource = gl             ? new cudaGraphicsResource{ NULL, 0, 0, name }
    : found == buffers.end() ? NULL
                             : new cudaGraphicsResource(found->second);
  return *resource ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t)
{
  for (int i = 0; i < count; ++i) {
    cudaGraphicsResource *one = resources[i];
    if (one->name) {
      one->memory = gl ? gl->map(one->name, &one->bytes) : NULL;
      if (!one->memory) {
        return cudaErrorUnknown;
      }
      emulator_map(one->memory, one->bytes);
    }
    one->mapped = 1;
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
  const cudaError_t error = cudaStreamSynchronize(stream);
  for (int i = 0; i < count; ++i) {
    if (resources[i]->mapped && resources[i]->name) {
      emulator_unmap(resources[i]->memory);
      gl->unmap(resources[i]->name);
    }
    resources[i]->mapped = 0;
  }
  return error;
}

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource)
{
  const int mapped = resource->mapped;
  delete resource;
  return mapped ? cudaErrorInvalidValue : cudaSuccess;
}
