/* SPDX-License-Identifier: BSD-3-Clause
 * Rays with one thread each: the "standard" sampling of Wang, Yang, Cao, LDAV 2014, section 3.2. In mode composite four threads
 * share a ray and look at four successive samples: a 3D bundle of their section 5, of 4 x 2 pixels and 4 samples. */
#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "rays/pmb_ray_tile.h"
}

#define PMB_EACH_TYPE "shared/pmb_ray_template.h"
#include "shared/pmb_each_type.h"

/* SHARE: threads per ray in mode composite. Of 1, 2, 4 and 8 the fastest from most directions (Docs/RAYS.md). */
enum { THREADS = 128, SHARE = 4 };

/* pmb_ray_cast for a sample type. */
#define PMB_CAST(NAME, type, name, real)                                                                  \
  static __device__ __forceinline__ pmb_pixel cast(const pmb_ray_job *job, int mode, int x, int y, int i, \
    float start, float limit, int lane, int lanes, const type *)                                          \
  {                                                                                                       \
    return pmb_ray_cast_##name(job, mode, x, y, i, start, limit, lane, lanes);                            \
  }
PMB_SAMPLE_TYPES(PMB_CAST)

/* pmb_ray_mark for a sample type. */
#define PMB_MARK(NAME, type, name, real)                                                  \
  static __device__ __forceinline__ uint32_t mark(                                        \
    const pmb_ray_job *job, int mode, int32_t x, int32_t cube_y, int32_t z, const type *) \
  {                                                                                       \
    return pmb_ray_mark_##name(job, mode, x, cube_y, z);                                  \
  }
PMB_SAMPLE_TYPES(PMB_MARK)

/* Finds the bricks that show something. A thread finds those along y of a cube, the bits of a byte. */
template <class T, int MODE>
static __global__ void __launch_bounds__(THREADS)
  mark_kernel(const __grid_constant__ pmb_ray_job job, uint8_t *d_shown)
{
  const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, rest = at / job.cubes[0];
  const int32_t x = (int32_t)(at % job.cubes[0]), cube_y = (int32_t)(rest % job.cubes[1]),
                z = (int32_t)(rest / job.cubes[1]);
  if (z < job.cubes[2] * PMB_RAY_CUBE_BRICKS) {
    const int32_t first[3] = { x, cube_y * PMB_RAY_CUBE_BRICKS, z };
    d_shown[pmb_ray_cube_number(&job, first) * PMB_RAY_CUBE_BRICKS + z % PMB_RAY_CUBE_BRICKS] =
      (uint8_t)mark(&job, MODE, x, cube_y, z, (const T *)NULL);
  }
}

/* The pixels of a warp and of a block. LANES threads share a ray. */
template <int LANES> struct tile {
  enum { X = LANES == 1 ? 8 : 4, Y = 32 / LANES / X, BLOCK_X = 2 * X, BLOCK_Y = 2 * Y };
};

/* A pixel whose other rays count. */
typedef struct edge {
  uint32_t pixel;
  float weight; /* see pmb_ray_find_edge */
} edge;

/* Device memory of a picture. */
typedef struct picture {
  float *d_colors, *d_depth; /* d_depth, d_limits, d_starts: may be NULL */
  const float *d_limits, *d_starts;
  size_t pixels;
  int rays;       /* per pixel at an edge */
  edge *d_edges;  /* NULL: casts the first ray of all pixels; else the other rays of these */
  uint32_t edges; /* their number */
} picture;

/* Casts a ray of a pixel. */
template <class T, int MODE, int LANES>
static __device__ __forceinline__ pmb_pixel cast_one(
  const pmb_ray_job *job, const picture *p, size_t at, int i, int lane)
{
  const int mode = PMB_RAY_DOES(MODE, PMB_RAY_SKIPS) ? MODE
    : job->mode == PMB_RAY_AVERAGE                   ? PMB_RAY_AVERAGE
    : job->mode == PMB_RAY_MINIMUM                   ? PMB_RAY_MINIMUM
                                                     : PMB_RAY_MAXIMUM;
  return cast(job, mode, (int)(at % job->width), (int)(at / job->width), i, p->d_starts ? p->d_starts[at] : 0,
    p->d_limits ? p->d_limits[at] : 1, lane, LANES, (const T *)NULL);
}

/* Replaces a pixel's color and depth as put_means of the CPU does. */
static __device__ void put_mean(const picture *p, const edge *of, const pmb_pixel *rays)
{
  float *color = p->d_colors + 4 * (size_t)of->pixel, *depth = p->d_depth ? p->d_depth + of->pixel : NULL;
  for (int c = 0; c < 4; ++c) {
    float sum = color[c];
    for (int i = 0; i < p->rays - 1; ++i) {
      sum += rays[i].color[c];
    }
    color[c] = pmb_ray_mean(color[c], sum, p->rays, of->weight);
  }
  const int is_hit = depth && *depth < 1;
  for (int i = 0; i < p->rays - 1 && depth && !is_hit; ++i) {
    *depth = rays[i].depth < *depth ? rays[i].depth : *depth;
  }
}

template <class T, int MODE, int LANES>
static __global__ void __launch_bounds__(THREADS, PMB_RAY_DOES(MODE, PMB_RAY_BLENDS) ? 5 : 4)
  rays_kernel(const __grid_constant__ pmb_ray_job job, const __grid_constant__ picture p)
{
  typedef tile<LANES> tile;
  __shared__ pmb_pixel rays[THREADS / LANES];
  const int thread = threadIdx.x & 31, warp = threadIdx.x >> 5, ray = thread / LANES, lane = thread % LANES;
  const int across = (job.width + tile::BLOCK_X - 1) / tile::BLOCK_X;
  const int x = blockIdx.x % across * tile::BLOCK_X + warp % 2 * tile::X + ray % tile::X;
  const int y = blockIdx.x / across * tile::BLOCK_Y + warp / 2 * tile::Y + ray / tile::X;
  const int others = p.d_edges ? p.rays - 1 : 1, some = THREADS / LANES / others, mine = threadIdx.x / LANES;
  const uint32_t number = blockIdx.x * some + mine / others;
  const int is_mine = p.d_edges ? mine < some * others && number < p.edges : x < job.width && y < job.height;
  if (is_mine) {
    const size_t at = p.d_edges ? p.d_edges[number].pixel : (size_t)y * job.width + x;
    const pmb_pixel pixel = cast_one<T, MODE, LANES>(&job, &p, at, p.d_edges ? 1 + mine % others : 0, lane);
    if (lane == 0 && p.d_edges) {
      rays[mine] = pixel;
    } else if (lane == 0) {
      ((pmb_ray_entry *)p.d_colors)[at] = { { pixel.color[0], pixel.color[1], pixel.color[2], pixel.color[3] } };
      if (p.d_depth) {
        p.d_depth[at] = pixel.depth;
      }
    }
  }
  if (p.d_edges) {
    __syncthreads();
    if (is_mine && lane == 0 && mine % others == 0) {
      put_mean(&p, p.d_edges + number, rays + mine);
    }
  }
}

/* Lists the pixels at edges, in any order. */
static __global__ void __launch_bounds__(THREADS) edges_kernel(picture p, int width, int height, uint32_t *d_count)
{
  __shared__ uint32_t count, first;
  const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
  uint32_t mine = 0;
  const float weight =
    at < p.pixels ? pmb_ray_find_edge(p.d_colors, width, height, (int)(at % width), (int)(at / width)) : 0;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  if (weight > 0) {
    mine = atomicAdd(&count, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    first = atomicAdd(d_count, count);
  }
  __syncthreads();
  if (weight > 0) {
    p.d_edges[first + mine] = { (uint32_t)at, weight };
  }
}

/* The context's part. */
typedef struct ray_memory {
  pmb_cuda_buffer picture, table, shown, edges;
  uint64_t table_version; /* of the job that it was copied from */
} ray_memory;

static const pmb_part_kind part_kind = { sizeof(ray_memory), 0, 0 };

/* Reserves memory for a picture that goes to the host; copies the depths of the rays' ends. */
static pmb_status make_room(pmb_cuda *cuda, ray_memory *memory, const pmb_ray_request *request, picture *p)
{
  PMB_STEP(pmb_cuda_reserve(cuda, &memory->picture, (int64_t)p->pixels * 7, sizeof(float), "the picture"));
  float *d_limits = (float *)memory->picture.d_data + 5 * p->pixels, *d_starts = d_limits + p->pixels;
  p->d_colors = (float *)memory->picture.d_data;
  p->d_depth = request->depth ? p->d_colors + 4 * p->pixels : NULL;
  p->d_limits = request->depth_limit ? d_limits : NULL;
  p->d_starts = request->depth_start ? d_starts : NULL;
  const float *depths[2] = { request->depth_limit, request->depth_start };
  for (int i = 0; i < 2; ++i) {
    if (depths[i]) {
      PMB_CUDA_TRY(cuda->context,
        cudaMemcpyAsync(
          d_limits + i * p->pixels, depths[i], p->pixels * sizeof(float), cudaMemcpyHostToDevice, cuda->compute));
    }
  }
  return PMB_OK;
}

/* Sets the job's tables to copies in device memory, which are kept. On the host the tables are contiguous. */
static pmb_status copy_tables(pmb_cuda *cuda, ray_memory *memory, pmb_ray_job *job)
{
  const size_t entries = (size_t)job->table_size, factors = (size_t)job->gradient_size;
  const size_t sums = job->sums ? entries : 0;
  const size_t bytes = sizeof(pmb_ray_entry) * entries + sizeof(pmb_ray_sum) * sums +
    sizeof(int32_t) * (entries + 1) + sizeof(float) * factors;
  if (!memory->table.d_data || memory->table_version != job->table_version) {
    PMB_STEP(pmb_cuda_reserve(cuda, &memory->table, (int64_t)bytes, 1, "the color table"));
    PMB_CUDA_TRY(
      cuda->context, cudaMemcpyAsync(memory->table.d_data, job->table, bytes, cudaMemcpyHostToDevice, cuda->compute));
    memory->table_version = job->table_version;
  }
  job->table = (const pmb_ray_entry *)memory->table.d_data;
  job->sums = (const pmb_ray_sum *)(job->table + entries);
  job->table_shown = (const int32_t *)(job->sums + sums);
  job->gradient_table = factors ? (const float *)(job->table_shown + entries + 1) : NULL;
  return PMB_OK;
}

template <class T, int MODE, int LANES>
static cudaError_t launch_mode(pmb_cuda *cuda, const pmb_ray_job *job, const picture *p)
{
  typedef tile<LANES> tile;
  if (PMB_RAY_DOES(MODE, PMB_RAY_SKIPS) && !p->d_edges) {
    const int64_t bytes = PMB_RAY_CUBE_BRICKS * (int64_t)job->cubes[0] * job->cubes[1] * job->cubes[2];
    const cudaError_t error = pmb_cuda_launch(cuda, 0, mark_kernel<T, MODE>,
      (unsigned)((bytes + THREADS - 1) / THREADS), THREADS, 0, *job, (uint8_t *)job->shown);
    if (error != cudaSuccess) {
      return error;
    }
  }
  const int across = (job->width + tile::BLOCK_X - 1) / tile::BLOCK_X;
  const int down = (job->height + tile::BLOCK_Y - 1) / tile::BLOCK_Y;
  const uint32_t some = p->d_edges ? THREADS / LANES / (uint32_t)(p->rays - 1) : 1;
  const unsigned blocks = p->d_edges ? (p->edges + some - 1) / some : (unsigned)(across * down);
  return pmb_cuda_launch(cuda, 0, rays_kernel<T, MODE, LANES>, blocks, THREADS, 0, *job, *p);
}

template <class T> static cudaError_t launch(pmb_cuda *cuda, const pmb_ray_job *job, const picture *p)
{
  return job->mode == PMB_RAY_ISOSURFACE ? launch_mode<T, PMB_RAY_ISOSURFACE, 1>(cuda, job, p)
    : job->mode == PMB_RAY_COMPOSITE     ? launch_mode<T, PMB_RAY_COMPOSITE, SHARE>(cuda, job, p)
    : job->mode == PMB_RAY_SEGMENTS      ? launch_mode<T, PMB_RAY_SEGMENTS, SHARE>(cuda, job, p)
                                         : launch_mode<T, PMB_RAY_MAXIMUM, 1>(cuda, job, p);
}

static pmb_status cast_pixels(pmb_cuda *cuda, const pmb_ray_job *job, const picture *p)
{
  return pmb_cuda_check(
    cuda->context, PMB_CUDA_BY_TYPE(cuda->context->volume.type, launch<T>(cuda, job, p)), "launch of rays");
}

/* Casts the other rays of pixels at edges. */
static pmb_status refine(pmb_cuda *cuda, ray_memory *memory, const pmb_ray_job *job, picture *p)
{
  PMB_STEP(pmb_cuda_reserve(cuda, &memory->edges, (int64_t)p->pixels + 1, sizeof(edge), "the picture's edges"));
  uint32_t *d_count = (uint32_t *)memory->edges.d_data;
  p->d_edges = (edge *)memory->edges.d_data + 1;
  PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(d_count, 0, sizeof(*d_count), cuda->compute));
  PMB_STEP(pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, edges_kernel, (unsigned)((p->pixels + THREADS - 1) / THREADS), THREADS, 0, *p,
      job->width, job->height, d_count),
    "launch of edges"));
  PMB_CUDA_TRY(
    cuda->context, cudaMemcpyAsync(&p->edges, d_count, sizeof(p->edges), cudaMemcpyDeviceToHost, cuda->compute));
  PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "rays"));
  return p->edges > 0 ? cast_pixels(cuda, job, p) : PMB_OK;
}

static pmb_status copy_to_host(pmb_cuda *cuda, const pmb_ray_request *request, const picture *p)
{
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(
      request->colors, p->d_colors, p->pixels * 4 * sizeof(float), cudaMemcpyDeviceToHost, cuda->compute));
  if (p->d_depth) {
    PMB_CUDA_TRY(cuda->context,
      cudaMemcpyAsync(request->depth, p->d_depth, p->pixels * sizeof(float), cudaMemcpyDeviceToHost, cuda->compute));
  }
  return PMB_OK;
}

static pmb_status cast_all(pmb_cuda *cuda, ray_memory *memory, const pmb_ray_request *request, pmb_ray_job *job)
{
  const int64_t *dims = cuda->context->volume.dims;
  picture p = { request->colors, request->depth, request->depth_limit, request->depth_start,
    (size_t)request->width * (size_t)request->height, job->rays, NULL, 0 };
  if (!request->on_device) {
    PMB_STEP(make_room(cuda, memory, request, &p));
  }
  if (job->color_by) {
    PMB_STEP(pmb_cuda_bring_attribute(cuda, request->color_by, dims[0] * dims[1] * dims[2], &job->color_by));
  }
  if (job->table) {
    PMB_STEP(copy_tables(cuda, memory, job));
  }
  if (PMB_RAY_DOES(job->mode, PMB_RAY_SKIPS)) {
    const int64_t cubes = (int64_t)job->cubes[0] * job->cubes[1] * job->cubes[2];
    PMB_STEP(pmb_cuda_reserve(cuda, &memory->shown, cubes, sizeof(uint64_t), "the picture"));
    job->shown = (const uint64_t *)memory->shown.d_data;
  }
  PMB_STEP(cast_pixels(cuda, job, &p));
  if (p.rays > 1) {
    PMB_STEP(refine(cuda, memory, job, &p));
  }
  if (!request->on_device) {
    PMB_STEP(copy_to_host(cuda, request, &p));
  }
  PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "rays"));
  return pmb_report(cuda->context, cuda->context->crew.fraction_end);
}

static pmb_status cast_rays(pmb_context *context, const pmb_ray_request *request, const pmb_ray_job *wanted)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  pmb_ray_job job = *wanted;
  ray_memory *memory = (ray_memory *)pmb_part_of(context, &part_kind, "pmb_cast_rays");
  if (!memory) {
    return PMB_OUT_OF_MEMORY;
  }
  PMB_STEP(pmb_cuda_begin(cuda, 0.5));
  if (cuda->job.d_slots) {
    const int64_t *dims = context->volume.dims;
    return pmb_cuda_end(cuda,
      pmb_fail(context, PMB_OUT_OF_MEMORY,
        "pmb_cast_rays: no memory on the GPU for the volume, %lld x %lld x %lld samples; rays need all of it there",
        (long long)dims[0], (long long)dims[1], (long long)dims[2]));
  }
  job.samples = cuda->job.d_samples;
  job.strides[0] = 1;
  job.strides[1] = cuda->job.pitch;
  job.strides[2] = cuda->job.slice;
  job.low = cuda->job.d_low;
  job.high = cuda->job.d_high;
  job.sample_flags = cuda->job.d_sample_flags;
  job.cell_flags = cuda->job.d_cell_flags;
  return pmb_cuda_end(cuda, cast_all(cuda, memory, request, &job));
}

extern "C" const pmb_ray_functions pmb_cuda_rays = { cast_rays };
