/* SPDX-License-Identifier: BSD-3-Clause
 * The caller's samples and mesh arrays in device memory. The passes write to most arrays directly. The kernels here replace
 * upload and download: they pack samples, widen ids, and fill scalars and offsets. */
#include "cuda/pmb_cuda.cuh"

enum { THREADS = 256 };

/* ---- checks ---- */

pmb_status pmb_cuda_check_array(pmb_cuda *cuda, int on_device, const void *array, const char *call, const char *what)
{
  cudaPointerAttributes found = {};
  if (!array) {
    return PMB_OK;
  }
  PMB_CUDA_TRY(cuda->context, cudaPointerGetAttributes(&found, array));
  const int of_gpu = found.type == cudaMemoryTypeDevice, managed = found.type == cudaMemoryTypeManaged;
  PMB_FAIL_IF(!on_device && of_gpu, cuda->context, PMB_INVALID,
    "%s: %s at %p is device memory; set on_device, or pass host memory", call, what, array);
  PMB_FAIL_IF(on_device && !of_gpu && !managed, cuda->context, PMB_INVALID,
    "%s: on_device is set, but %s at %p is host memory; pass memory from cudaMalloc, or clear on_device", call, what,
    array);
  PMB_FAIL_IF(on_device && of_gpu && found.device != cuda->device, cuda->context, PMB_INVALID,
    "%s: %s at %p is memory of GPU %d, but the context uses GPU %d (both from 0)", call, what, array, found.device,
    cuda->device);
  return PMB_OK;
}

pmb_status pmb_cuda_await_caller(pmb_cuda *cuda, int on_device, void *stream, const char *call)
{
  const cudaError_t error = on_device ? cudaStreamSynchronize((cudaStream_t)stream) : cudaSuccess;
  if (error == cudaErrorInvalidResourceHandle) {
    cudaGetLastError();
    return pmb_fail(cuda->context, PMB_INVALID,
      "%s: stream %p is not a CUDA stream; pass one of the context's GPU, or NULL", call, stream);
  }
  return pmb_cuda_check(cuda->context, error, "the caller's stream");
}

pmb_status pmb_cuda_check_mesh(pmb_cuda *cuda, const pmb_mesh *mesh)
{
  const auto check = [&](const void *array, const char *what) {
    return pmb_cuda_check_array(cuda, mesh->on_device, array, "pmb_emit", what);
  };
  PMB_STEP(check(mesh->points, "points"));
  PMB_STEP(check(mesh->normals, "normals"));
  PMB_STEP(check(mesh->gradients, "gradients"));
  PMB_STEP(check(mesh->scalars, "scalars"));
  PMB_STEP(check(mesh->triangles, "triangles"));
  PMB_STEP(check(mesh->offsets, "offsets"));
  PMB_STEP(check(mesh->cells, "cells"));
  for (int64_t i = 0; i < mesh->attribute_count; ++i) {
    PMB_STEP(check(mesh->attributes[i].samples, "an attribute's samples"));
    PMB_STEP(check(mesh->attributes[i].output, "an attribute's output"));
  }
  return pmb_cuda_await_caller(cuda, mesh->on_device, mesh->stream, "pmb_emit");
}

/* ---- samples ---- */

/* A block copies rows, and repeats the last sample of a row up to `pitch`. */
template <class T>
static __global__ void pack_kernel(
  const __grid_constant__ pmb_volume v, T *d_to, const __grid_constant__ int64_t pitch)
{
  for (int64_t row = blockIdx.x; row < v.dims[1] * v.dims[2]; row += gridDim.x) {
    const T *d_row = (const T *)v.samples + row % v.dims[1] * v.strides[1] + row / v.dims[1] * v.strides[2];
    for (int64_t i = threadIdx.x; i < pitch; i += THREADS) {
      d_to[row * pitch + i] = d_row[(i < v.dims[0] ? i : v.dims[0] - 1) * v.strides[0]];
    }
  }
}

/* Blocks for so many items of a block each. */
static unsigned blocks_for(const pmb_cuda *cuda, int64_t items)
{
  const int64_t most = 16 * (int64_t)cuda->processors;
  return (unsigned)(items < 1 ? 1 : items < most ? items : most);
}

pmb_status pmb_cuda_pack(pmb_cuda *cuda, const pmb_volume *volume, void *d_to)
{
  const unsigned blocks = blocks_for(cuda, volume->dims[1] * volume->dims[2]);
  return pmb_cuda_check(cuda->context,
    PMB_CUDA_BY_TYPE(volume->type,
      (pmb_cuda_launch(cuda, 0, pack_kernel<T>, blocks, THREADS, 0, *volume, (T *)d_to, cuda->job.pitch))),
    "launch of pack");
}

/* ---- mesh arrays ---- */

static __global__ void widen_kernel(const uint32_t *d_ids, int64_t *d_to, int64_t n, int64_t base)
{
  for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < n; i += gridDim.x * (int64_t)THREADS) {
    d_to[i] = base + d_ids[i];
  }
}

/* Writes value, value + step, ... Step 0 keeps the sign of a zero. */
template <class T> static __global__ void series_kernel(T *d_to, int64_t n, T value, T step)
{
  for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < n; i += gridDim.x * (int64_t)THREADS) {
    d_to[i] = step == 0 ? value : value + (T)i * step;
  }
}

template <class T> static pmb_status fill(pmb_cuda *cuda, void *d_to, int64_t n, T value, T step)
{
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, series_kernel<T>, blocks_for(cuda, n / THREADS), THREADS, 0, (T *)d_to, n, value, step),
    "launch of fill");
}

pmb_status pmb_cuda_widen_caller(pmb_cuda *cuda, const pmb_cuda_surface *surface)
{
  const pmb_mesh *mesh = surface->mesh;
  const pmb_group *group = surface->group;
  const int64_t ids = 3 * surface->sizes.triangles;
  if (!mesh->triangles || mesh->id_type != PMB_INT64) {
    return PMB_OK;
  }
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, widen_kernel, blocks_for(cuda, ids / THREADS), THREADS, 0, surface->out.d_triangles,
      (int64_t *)mesh->triangles + 3 * group->base.triangles, ids, group->base.points),
    "launch of widen");
}

pmb_status pmb_cuda_fill_scalars(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh)
{
  int64_t first = group->base.points;
  for (int64_t n = 0; mesh->scalars && n < group->count; first += group->sizes[n++].points) {
    const pmb_isovalue *isovalue = &group->isovalues[n];
    const int64_t points = group->sizes[n].points;
    PMB_STEP(mesh->scalar_type == PMB_FLOAT32
        ? fill<float>(cuda, (float *)mesh->scalars + first, points, isovalue->f32, 0)
        : fill<double>(cuda, (double *)mesh->scalars + first, points, isovalue->value, 0));
  }
  return PMB_OK;
}

pmb_status pmb_cuda_fill_offsets(pmb_context *context, const pmb_mesh *mesh, int64_t triangles)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  PMB_STEP(pmb_cuda_begin_call(cuda));
  pmb_status status = pmb_cuda_check_mesh(cuda, mesh);
  if (status == PMB_OK) {
    status = mesh->id_type == PMB_INT32 ? fill<int32_t>(cuda, mesh->offsets, triangles + 1, 0, 3)
                                        : fill<int64_t>(cuda, mesh->offsets, triangles + 1, 0, 3);
  }
  return pmb_cuda_end(cuda, pmb_cuda_wait(cuda, status, "offsets"));
}
