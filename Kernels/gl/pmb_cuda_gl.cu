/* SPDX-License-Identifier: BSD-3-Clause
 * OpenGL's buffer objects as device memory. Registering them takes 10 ms per GB, mapping them next to nothing. */
#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "gl/pmb_gl_job.h"
}

#if !defined(PMB_EMULATED_GL) /* declared here because cuda_gl_interop.h needs OpenGL's headers */
extern "C" {
enum cudaGLDeviceList { cudaGLDeviceListAll = 1 };
cudaError_t CUDARTAPI cudaGLGetDevices(unsigned *count, int *devices, unsigned most, cudaGLDeviceList which);
cudaError_t CUDARTAPI cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, unsigned name, unsigned flags);
}
#endif

/* Not pmb_cuda_check: a failure of the interoperation leaves the GPU usable. */
static pmb_status unavailable(pmb_context *context, cudaError_t error, const char *what)
{
  cudaGetLastError();
  return pmb_fail(context, PMB_UNAVAILABLE,
    "pmb_register_gl: OpenGL cannot share memory with the GPU: %s at %s; use host memory", cudaGetErrorName(error),
    what);
}

static pmb_status check_gpu(pmb_cuda *cuda)
{
  int devices[PMB_CUDA_DEVICES];
  unsigned count = 0;
  const cudaError_t error = cudaGLGetDevices(&count, devices, PMB_CUDA_DEVICES, cudaGLDeviceListAll);
  if (error != cudaSuccess) {
    return unavailable(cuda->context, error, "cudaGLGetDevices");
  }
  for (unsigned i = 0; i < count; ++i) {
    if (devices[i] == cuda->device) {
      return PMB_OK;
    }
  }
  return pmb_fail(cuda->context, PMB_UNAVAILABLE,
    "pmb_register_gl: OpenGL draws on another GPU than the context's, %d from 0; use host memory", cuda->device);
}

static cudaGraphicsResource_t *resources_of(pmb_gl_buffers *buffers)
{
  return (cudaGraphicsResource_t *)buffers->resources;
}

static void unregister(pmb_gl_buffers *buffers)
{
  while (buffers->count > 0) {
    cudaGraphicsUnregisterResource(resources_of(buffers)[--buffers->count]);
  }
  cudaGetLastError();
}

static pmb_status register_all(pmb_cuda *cuda, pmb_gl_buffers *buffers)
{
  enum { READ_AND_WRITE = 0 }; /* cudaGraphicsRegisterFlagsNone */
  PMB_STEP(check_gpu(cuda));
  for (int i = 0; i < PMB_GL_BUFFERS; ++i) {
    if (buffers->names[i]) {
      const cudaError_t error =
        cudaGraphicsGLRegisterBuffer(&resources_of(buffers)[buffers->count], buffers->names[i], READ_AND_WRITE);
      if (error != cudaSuccess) {
        return unavailable(cuda->context, error, "cudaGraphicsGLRegisterBuffer");
      }
      ++buffers->count;
    }
  }
  return PMB_OK;
}

static pmb_status register_buffers(pmb_context *context, pmb_gl_buffers *buffers)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  PMB_STEP(pmb_cuda_begin_call(cuda));
  buffers->device = cuda->device;
  const pmb_status status = register_all(cuda, buffers);
  if (status != PMB_OK) {
    unregister(buffers);
  }
  return pmb_cuda_end(cuda, status);
}

static void unregister_buffers(pmb_gl_buffers *buffers)
{
  int before = 0;
  if (!pmb_cuda_is_forked()) {
    cudaGetDevice(&before);
    cudaSetDevice(buffers->device);
    unregister(buffers);
    cudaSetDevice(before);
  }
}

static pmb_status map(
  pmb_cuda *cuda, pmb_gl_buffers *buffers, void *memory[PMB_GL_BUFFERS], size_t bytes[PMB_GL_BUFFERS])
{
  cudaError_t error =
    buffers->count > 0 ? cudaGraphicsMapResources(buffers->count, resources_of(buffers), cuda->compute) : cudaSuccess;
  for (int i = 0, n = 0; i < PMB_GL_BUFFERS && error == cudaSuccess; ++i) {
    if (buffers->names[i]) {
      error = cudaGraphicsResourceGetMappedPointer(&memory[i], &bytes[i], resources_of(buffers)[n++]);
    }
  }
  return error == cudaSuccess ? PMB_OK : unavailable(cuda->context, error, "cudaGraphicsMapResources");
}

static pmb_status map_buffers(
  pmb_context *context, pmb_gl_buffers *buffers, void *memory[PMB_GL_BUFFERS], size_t bytes[PMB_GL_BUFFERS])
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  PMB_FAIL_IF(buffers->device != cuda->device, context, PMB_UNAVAILABLE,
    "pmb_emit_gl: the buffers are registered for GPU %d, and the context has GPU %d; call pmb_register_gl again",
    buffers->device, cuda->device);
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const pmb_status status = map(cuda, buffers, memory, bytes);
  if (status != PMB_OK) {
    cudaGraphicsUnmapResources(buffers->count, resources_of(buffers), cuda->compute);
    cudaGetLastError();
  }
  return pmb_cuda_end(cuda, status);
}

typedef struct movement {
  double shift[3], scale[3];
} movement;

/* The arithmetic of VTK's vertex buffers. */
static __global__ void move_kernel(float *points, int64_t n, const __grid_constant__ movement by)
{
  const int64_t threads = gridDim.x * (int64_t)PMB_CUDA_THREADS;
  for (int64_t i = blockIdx.x * (int64_t)PMB_CUDA_THREADS + threadIdx.x; i < n; i += threads) {
    for (int axis = 0; axis < 3; ++axis) {
      points[3 * i + axis] = (float)((points[3 * i + axis] - by.shift[axis]) * by.scale[axis]);
    }
  }
}

static pmb_status move_points(
  pmb_context *context, float *points, int64_t count, const double *shift, const double *scale)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  const movement by = { { shift[0], shift[1], shift[2] }, { scale[0], scale[1], scale[2] } };
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const cudaError_t error =
    pmb_cuda_launch(cuda, 0, move_kernel, 16 * (unsigned)cuda->processors, PMB_CUDA_THREADS, 0, points, count, by);
  return pmb_cuda_end(cuda, pmb_cuda_check(context, error, "launch of move"));
}

static pmb_status unmap_buffers(pmb_context *context, pmb_gl_buffers *buffers)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  cudaSetDevice(cuda->device);
  const cudaError_t error = buffers->count > 0
    ? cudaGraphicsUnmapResources(buffers->count, resources_of(buffers), cuda->compute)
    : cudaSuccess;
  pmb_cuda_return_to_call();
  return error == cudaSuccess ? PMB_OK : unavailable(context, error, "cudaGraphicsUnmapResources");
}

extern "C" const pmb_gl_functions pmb_cuda_gl = { register_buffers, unregister_buffers, map_buffers, move_points,
  unmap_buffers };
