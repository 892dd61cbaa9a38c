/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMB as published, on the GPU: memory and launches. The kernels are in papers_pmb2016_ranges.cuh and _blocks.cuh. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "core/pmb_isovalue.h"
#include "papers_pmb2016.h"
}
#include "papers_pmb2016_blocks.cuh"

enum { POSITIONS, NORMALS, IDS, OUTPUTS };

typedef struct pmb2016 {
  papers_memory *memory;
  papers_volume volume;
  pmb2016_job job;
  unsigned generate_blocks; /* that the device has room for at a time */
  void *d_ranges, *d_list, *d_counters;
  void *output[OUTPUTS];
  size_t capacity[OUTPUTS];
} pmb2016;

/* What came back of the counters: pinned, which takes long, so once for the process. */
static counters *counted;

static papers_status device_status(pmb2016 *state, cudaError_t error)
{
  if (error == cudaSuccess) {
    return PAPERS_OK;
  }
  (void)cudaGetLastError();
  snprintf(state->memory->message, sizeof(state->memory->message), "pmb2016: %s", cudaGetErrorString(error));
  return PAPERS_DEVICE;
}

static divider divider_of(uint32_t d)
{
  uint32_t bits = 0;
  while (((uint64_t)1 << bits) < d) {
    ++bits;
  }
  const divider by = { (uint32_t)((((uint64_t)1 << (31 + bits)) + d - 1) / d), 31 + bits };
  return by;
}

/* What one type has. */
typedef struct type_calls {
  cudaError_t (*find_ranges)(const papers_volume *volume, const pmb2016_grid *grid, void *d_ranges);
  cudaError_t (*compact)(const cudaLaunchConfig_t *config, const pmb2016_job *job);
  cudaError_t (*generate)(const cudaLaunchConfig_t *config, const pmb2016_job *job);
  cudaError_t (*mend)(const cudaLaunchConfig_t *config, const pmb2016_job *job, int64_t points);
  cudaError_t (*generate_blocks)(int *blocks);
} type_calls;

template <class T> static cudaError_t launch_compact(const cudaLaunchConfig_t *config, const pmb2016_job *job)
{
  return cudaLaunchKernelEx(config, compact_kernel<T>, *job);
}
template <class T> static cudaError_t launch_generate(const cudaLaunchConfig_t *config, const pmb2016_job *job)
{
  return cudaLaunchKernelEx(config, generate_kernel<T>, *job);
}
template <class T>
static cudaError_t launch_mend(const cudaLaunchConfig_t *config, const pmb2016_job *job, int64_t points)
{
  return cudaLaunchKernelEx(config, mend_kernel<T>, *job, points);
}
template <class T> static cudaError_t generate_blocks(int *blocks)
{
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, generate_kernel<T>, THREADS, 0);
}
template <class T> static type_calls calls_of_type()
{
  const type_calls calls = { pmb2016_find_ranges<T>, launch_compact<T>, launch_generate<T>, launch_mend<T>,
    generate_blocks<T> };
  return calls;
}

static type_calls calls_of(pmb_type type)
{
  switch (type) {
    case PMB_UINT8:
      return calls_of_type<uint8_t>();
    case PMB_INT16:
      return calls_of_type<int16_t>();
    case PMB_UINT16:
      return calls_of_type<uint16_t>();
    default:
      return calls_of_type<float>();
  }
}

static cudaLaunchConfig_t launch_of(unsigned blocks)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(THREADS);
  return config;
}

/* Runs step 3, with step 2 before if `all`; counted has what was counted. */
static papers_status run(pmb2016 *state, int all)
{
  const type_calls calls = calls_of(state->volume.type);
  cudaLaunchConfig_t config = launch_of((unsigned)((state->job.grid.total + COMPACT - 1) / COMPACT));
  cudaError_t error = cudaMemsetAsync(state->d_counters, 0, all ? sizeof(counters) : offsetof(counters, active), 0);
  if (error == cudaSuccess && all) {
    error = calls.compact(&config, &state->job);
  }
  if (error == cudaSuccess) {
    config = launch_of(state->generate_blocks);
    error = calls.generate(&config, &state->job);
  }
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(counted, state->d_counters, sizeof(counters), cudaMemcpyDeviceToHost, 0);
  }
  if (error == cudaSuccess) {
    error = cudaStreamSynchronize(0);
  }
  return device_status(state, error);
}

/* The normals that are left, after `run`. */
static papers_status mend(pmb2016 *state, int64_t points)
{
  const cudaLaunchConfig_t config = launch_of(state->generate_blocks);
  cudaError_t error = calls_of(state->volume.type).mend(&config, &state->job, points);
  if (error == cudaSuccess) {
    error = cudaStreamSynchronize(0);
  }
  return device_status(state, error);
}

/* Tells the kernels what room there is. */
static void set_output(pmb2016 *state)
{
  const size_t less =
    state->capacity[POSITIONS] < state->capacity[NORMALS] ? state->capacity[POSITIONS] : state->capacity[NORMALS];
  state->job.points_room = (uint32_t)(less / (3 * sizeof(float)));
  state->job.triangles_room = (uint32_t)(state->capacity[IDS] / (3 * sizeof(int32_t)));
  state->job.d_positions = (float *)state->output[POSITIONS];
  state->job.d_normals = (float *)state->output[NORMALS];
  state->job.d_ids = (int32_t *)state->output[IDS];
}

static papers_status reserve_output(pmb2016 *state, int64_t points, int64_t triangles)
{
  const size_t bytes[OUTPUTS] = { (size_t)points * 3 * sizeof(float), (size_t)points * 3 * sizeof(float),
    (size_t)triangles * 3 * sizeof(int32_t) };
  papers_status status = PAPERS_OK;
  for (int i = 0; i < OUTPUTS && status == PAPERS_OK; ++i) {
    status = papers_reserve(state->memory, PAPERS_OUTPUT, &state->output[i], &state->capacity[i], bytes[i]);
  }
  set_output(state);
  return status;
}

static papers_status extract(void *data, double isovalue, papers_mesh *mesh)
{
  pmb2016 *state = (pmb2016 *)data;
  const pmb_isovalue iso = pmb_isovalue_make(isovalue, state->volume.type, 0);
  memset(mesh, 0, sizeof(*mesh));
  if (state->job.grid.total == 0) {
    return PAPERS_OK;
  }
  state->job.threshold = iso.threshold_f32;
  state->job.iso = iso.f32;
  state->job.iso_low = iso.f32_low;
  papers_status status = run(state, 1);
  if (status != PAPERS_OK) {
    return status;
  }
  if (counted->too_many) {
    return PAPERS_TOO_LARGE;
  }
  const int64_t points = (int64_t)(counted->made & UINT32_MAX), triangles = (int64_t)(counted->made >> 32);
  if (points > state->job.points_room || triangles > state->job.triangles_room) {
    status = reserve_output(state, points, triangles);
    status = status == PAPERS_OK ? run(state, 0) : status;
  }
  if (status == PAPERS_OK && counted->careful > 0) {
    status = mend(state, points);
  }
  if (status != PAPERS_OK) {
    return status;
  }
  mesh->points = points;
  mesh->triangles = triangles;
  mesh->positions = state->job.d_positions;
  mesh->normals = state->job.d_normals;
  mesh->ids = state->job.d_ids;
  return PAPERS_OK;
}

static void destroy(void *data)
{
  pmb2016 *state = (pmb2016 *)data;
  if (state) {
    for (int i = 0; i < OUTPUTS; ++i) {
      papers_give(state->memory, state->output[i]);
    }
    papers_give(state->memory, state->d_ranges);
    papers_give(state->memory, state->d_list);
    papers_give(state->memory, state->d_counters);
    free(state);
  }
}

/* Memory, and what the kernels are told once. */
static papers_status prepare(pmb2016 *state)
{
  const pmb2016_grid *grid = &state->job.grid;
  const size_t blocks = (size_t)grid->total;
  int device = 0, processors = 0, each = 0;
  state->d_ranges = papers_take(state->memory, PAPERS_ACCELERATION, 2 * pmb_type_size(state->volume.type) * blocks);
  state->d_list = state->d_ranges ? papers_take(state->memory, PAPERS_ACCELERATION, sizeof(uint32_t) * blocks) : NULL;
  state->d_counters = state->d_list ? papers_take(state->memory, PAPERS_ACCELERATION, sizeof(counters)) : NULL;
  if (!state->d_counters) {
    return PAPERS_NO_MEMORY;
  }
  cudaError_t error = counted ? cudaSuccess : cudaMallocHost((void **)&counted, sizeof(counters));
  if (error == cudaSuccess) {
    error = cudaGetDevice(&device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = calls_of(state->volume.type).generate_blocks(&each);
  }
  state->generate_blocks = (unsigned)(processors * each);
  state->job.d_samples = state->volume.samples;
  state->job.d_ranges = state->d_ranges;
  state->job.d_list = (uint32_t *)state->d_list;
  state->job.d_counters = (counters *)state->d_counters;
  for (int a = 0; a < 2; ++a) {
    state->job.by[a] = divider_of(grid->blocks[a] ? grid->blocks[a] : 1);
  }
  return device_status(state, error);
}

static papers_status create(papers_memory *memory, const papers_volume *volume, void **result)
{
  pmb2016_grid grid;
  *result = NULL;
  papers_status status = pmb2016_is_type(volume->type) ? pmb2016_grid_make(volume, &grid) : PAPERS_BAD_TYPE;
  if (status != PAPERS_OK) {
    return status;
  }
  pmb2016 *state = (pmb2016 *)calloc(1, sizeof(*state));
  if (!state) {
    return PAPERS_NO_MEMORY;
  }
  state->memory = memory;
  state->volume = *volume;
  state->job.grid = grid;
  status = prepare(state);
  if (status == PAPERS_OK && grid.total > 0) {
    status = device_status(state, calls_of(volume->type).find_ranges(volume, &grid, state->d_ranges));
  }
  if (status != PAPERS_OK) {
    destroy(state);
    return status;
  }
  *result = state;
  return PAPERS_OK;
}

extern "C" const papers_system papers_pmb2016_gpu = { "pmb2016", PMB2016_SOURCE, create, extract, destroy };
