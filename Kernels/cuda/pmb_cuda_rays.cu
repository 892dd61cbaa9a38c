/* SPDX-License-Identifier: BSD-3-Clause
 * Rays, a thread each: the "standard" way of sampling of Wang, Yang, Cao, LDAV 2014, section 3.2. A warp has 8 x 4 pixels. */
#include "cuda/pmb_cuda.cuh"
#include "shared/pmb_ray.h"

#define PMB_EACH_TYPE "shared/pmb_ray_template.h"
#include "shared/pmb_each_type.h"

enum { TILE = 16, THREADS = TILE * TILE }; /* pixels of a block along each side */

/* pmb_ray_cast of a sample type. */
#define PMB_CAST(NAME, type, name, real)                                                                            \
  static __device__ __forceinline__ pmb_pixel cast(const pmb_ray_job *job, int x, int y, float limit, const type *) \
  {                                                                                                                 \
    return pmb_ray_cast_##name(job, x, y, limit);                                                                   \
  }
PMB_SAMPLE_TYPES(PMB_CAST)

typedef struct alignas(4 * sizeof(float)) color {
  float c[4];
} color;

/* d_limits, d_depth: NULL where they are not wanted. */
template <class T>
static __global__ void __launch_bounds__(THREADS)
  rays_kernel(const __grid_constant__ pmb_ray_job job, const float *d_limits, color *d_colors, float *d_depth)
{
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, tiles = (job.width + TILE - 1) / TILE;
  const int x = (int)(blockIdx.x % tiles * TILE + warp % 2 * 8 + lane % 8);
  const int y = (int)(blockIdx.x / tiles * TILE + warp / 2 * 4 + lane / 8);
  if (x < job.width && y < job.height) {
    const size_t at = (size_t)y * job.width + x;
    const pmb_pixel pixel = cast(&job, x, y, d_limits ? d_limits[at] : 1, (const T *)NULL);
    d_colors[at] = { { pixel.color[0], pixel.color[1], pixel.color[2], pixel.color[3] } };
    if (d_depth) {
      d_depth[at] = pixel.depth;
    }
  }
}

/* Device memory of a picture. */
typedef struct picture {
  float *d_colors, *d_depth, *d_limits;
  size_t pixels;
} picture;

/* Makes room for the picture and the table, and copies what the request brings. */
static pmb_status prepare(pmb_cuda *cuda, const pmb_ray_request *request, pmb_ray_job *job, picture *p)
{
  const size_t pixels = (size_t)request->width * request->height;
  const size_t entries = job->table ? (size_t)job->table_size : 0;
  PMB_CUDA_STEP(pmb_cuda_reserve(cuda, &cuda->picture, (int64_t)pixels * 6, sizeof(float), "the picture"));
  p->pixels = pixels;
  p->d_colors = (float *)cuda->picture.d_data;
  p->d_depth = request->depth ? p->d_colors + 4 * pixels : NULL;
  p->d_limits = request->depth_limit ? p->d_colors + 5 * pixels : NULL;
  if (p->d_limits) {
    PMB_CUDA_TRY(cuda->context,
      cudaMemcpyAsync(
        p->d_limits, request->depth_limit, pixels * sizeof(float), cudaMemcpyHostToDevice, cuda->compute));
  }
  if (entries) {
    const size_t bytes = (5 * entries + 1) * sizeof(float);
    PMB_CUDA_STEP(pmb_cuda_reserve(cuda, &cuda->table, (int64_t)bytes, 1, "the color table"));
    PMB_CUDA_TRY(
      cuda->context, cudaMemcpyAsync(cuda->table.d_data, job->table, bytes, cudaMemcpyHostToDevice, cuda->compute));
    job->table = (const float *)cuda->table.d_data;
    job->table_shown = (const int32_t *)(job->table + 4 * entries);
  }
  return PMB_OK;
}

template <class T> static cudaError_t launch(pmb_cuda *cuda, const pmb_ray_job *job, const picture *p)
{
  const unsigned across = (unsigned)(job->width + TILE - 1) / TILE, down = (unsigned)(job->height + TILE - 1) / TILE;
  return pmb_cuda_launch(cuda, 0, rays_kernel<T>, across * down, THREADS, 0, *job, (const float *)p->d_limits,
    (color *)p->d_colors, p->d_depth);
}

static pmb_status cast_all(pmb_cuda *cuda, const pmb_ray_request *request, pmb_ray_job *job)
{
  picture p = {};
  PMB_CUDA_STEP(prepare(cuda, request, job, &p));
  PMB_CUDA_STEP(pmb_cuda_check(
    cuda->context, PMB_CUDA_BY_TYPE(cuda->context->volume.type, launch<T>(cuda, job, &p)), "launch of rays"));
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(
      request->colors, p.d_colors, p.pixels * 4 * sizeof(float), cudaMemcpyDeviceToHost, cuda->compute));
  if (p.d_depth) {
    PMB_CUDA_TRY(cuda->context,
      cudaMemcpyAsync(request->depth, p.d_depth, p.pixels * sizeof(float), cudaMemcpyDeviceToHost, cuda->compute));
  }
  PMB_CUDA_STEP(pmb_cuda_check(cuda->context, cudaStreamSynchronize(cuda->compute), "rays"));
  return pmb_cuda_report(cuda);
}

pmb_status pmb_cuda_cast_rays(pmb_context *context, const pmb_ray_request *request, const pmb_ray_job *wanted)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  pmb_ray_job job = *wanted;
  PMB_CUDA_STEP(pmb_cuda_begin(cuda, 0.5));
  job.samples = cuda->job.d_samples;
  job.strides[0] = 1;
  job.strides[1] = cuda->job.pitch;
  job.strides[2] = cuda->job.slice;
  job.low = cuda->job.d_low;
  job.high = cuda->job.d_high;
  job.sample_flags = cuda->job.d_sample_flags;
  job.cell_flags = cuda->job.d_cell_flags;
  const pmb_status status = cast_all(cuda, request, &job);
  pmb_cuda_end(cuda);
  return status;
}
