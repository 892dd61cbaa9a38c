/* SPDX-License-Identifier: BSD-3-Clause
 * Memory and states of the systems, and CUDA functions for benchmark and tests. */
#include <stdlib.h>
#include <string.h>

#include "papers_gpu.cuh"
extern "C" {
#include "core/pmb_isovalue.h"
}

extern "C" const papers_system papers_scan, papers_welded, papers_hpmc, papers_hpmc_indexed, papers_hp3d,
  papers_pmb2016, papers_hpmc_chunks, papers_hpmc_fetch, papers_pmb2016_forward;
extern "C" const papers_system *const papers_systems[PAPERS_SYSTEMS] = { &papers_scan, &papers_hpmc,
  &papers_hpmc_indexed, &papers_hp3d, &papers_pmb2016, &papers_welded, &papers_hpmc_chunks, &papers_hpmc_fetch,
  &papers_pmb2016_forward };

/* Reports an error once: clears it for the next call. */
static const char *text_of(cudaError_t error)
{
  if (error == cudaSuccess) return NULL;
  (void)cudaGetLastError();
  return cudaGetErrorString(error);
}

/* ---- memory ---- */

struct papers_block {
  void *d_data;
  size_t bytes;
  papers_use use;
  int used;
  papers_block *next;
};

static papers_block *new_block(papers_memory *memory, size_t bytes)
{
  papers_block *block = (papers_block *)calloc(1, sizeof(*block));
  if (!block || text_of(cudaMalloc(&block->d_data, bytes ? bytes : 1))) {
    free(block);
    return NULL;
  }
  block->bytes = bytes;
  block->next = memory->first;
  memory->first = block;
  return block;
}

/* Waits for work that a failed state left in the stream: the emulator's cudaFree does not. */
static void free_unused(papers_memory *memory)
{
  text_of(cudaStreamSynchronize(NULL));
  for (papers_block **link = &memory->first; *link;) {
    papers_block *block = *link;
    if (block->used) {
      link = &block->next;
      continue;
    }
    *link = block->next;
    text_of(cudaFree(block->d_data));
    free(block);
  }
}

void *papers_take(papers_memory *memory, papers_use use, size_t bytes)
{
  const size_t used = memory->used[PAPERS_ACCELERATION] + memory->used[PAPERS_OUTPUT];
  papers_block *block = NULL;
  if (bytes <= SIZE_MAX - used && used + bytes <= memory->limit) {
    block = memory->first;
    while (block && (block->used || block->bytes != bytes)) block = block->next;
    if (!block) block = new_block(memory, bytes);
    if (!block) {
      free_unused(memory);
      block = new_block(memory, bytes);
    }
  }
  if (!block) {
    memory->asked = bytes <= SIZE_MAX - used ? used + bytes : SIZE_MAX;
    return NULL;
  }
  block->use = use;
  block->used = 1;
  memory->used[use] += bytes;
  if (memory->used[use] > memory->most[use]) memory->most[use] = memory->used[use];
  return block->d_data;
}

/* Releases one block, or all. */
static void give(papers_memory *memory, const void *d_data, int all)
{
  for (papers_block *block = memory->first; block; block = block->next) {
    if (!block->used || (!all && block->d_data != d_data)) continue;
    memory->used[block->use] -= block->bytes;
    block->used = 0;
  }
}

void papers_free_memory(papers_memory *memory)
{
  give(memory, NULL, 1);
  free_unused(memory);
}

papers_status papers_reserve(papers_memory *memory, papers_use use, papers_buffer *buffer, size_t bytes)
{
  if (buffer->d_data && buffer->bytes >= bytes) return PAPERS_OK;
  give(memory, buffer->d_data, 0);
  buffer->bytes = 0;
  buffer->d_data = papers_take(memory, use, bytes);
  if (!buffer->d_data) return PAPERS_NO_MEMORY;
  buffer->bytes = bytes;
  return PAPERS_OK;
}

papers_status papers_reserve_mesh(papers_state *s, int64_t points, int64_t triangles, int ids)
{
  const size_t point_bytes = (size_t)points * 3 * sizeof(float);
  PAPERS_TRY(s->memory, papers_reserve(s->memory, PAPERS_OUTPUT, &s->positions, point_bytes));
  PAPERS_TRY(s->memory, papers_reserve(s->memory, PAPERS_OUTPUT, &s->normals, point_bytes));
  if (ids) {
    PAPERS_TRY(s->memory, papers_reserve(s->memory, PAPERS_OUTPUT, &s->ids, (size_t)triangles * 3 * sizeof(int32_t)));
  }
  s->mesh = { points, triangles, (const float *)s->positions.d_data, (const float *)s->normals.d_data,
    (const int32_t *)s->ids.d_data };
  return PAPERS_OK;
}

/* ---- states ---- */

static papers_field field_of(const papers_volume *volume)
{
  const int64_t *n = volume->dims;
  papers_field field = {};
  field.d_samples = volume->samples;
  field.row = n[0];
  field.slice = n[0] * n[1];
  while (field.shift[0] < 24 && n[0] >> field.shift[0] > 1) ++field.shift[0];
  while (field.shift[1] < 48 && field.slice >> field.shift[1] > 1) ++field.shift[1];
  for (int a = 0; a < 3; ++a) {
    field.dims[a] = (int32_t)n[a];
    field.step[a] = 2 / (float)(n[a] - 1);
  }
  return field;
}

static papers_status begin(papers_state *s, const papers_volume *volume)
{
  static void *pinned;
  const int64_t *n = volume->dims, most = (int64_t)1 << 24; /* papers_position */
  if (n[0] > most || n[1] > most || n[2] > most || n[0] * n[1] > INT64_MAX / 64 / n[2]) return PAPERS_TOO_LARGE;
  if (!pinned) PAPERS_TRY(s->memory, cudaMallocHost(&pinned, 64));
  s->pinned = pinned;
  s->type = volume->samples ? (int)volume->type : PAPERS_EVALUATED;
  s->field = field_of(volume);
  return n[0] > 1 && n[1] > 1 && n[2] > 1 ? s->system->create(s) : PAPERS_OK;
}

papers_status papers_create(
  const papers_system *system, papers_memory *memory, const papers_volume *volume, papers_state **state)
{
  const pmb_type type = volume->type;
  *state = NULL;
  const int64_t *n = volume->dims;
  if (!volume->samples && (type != PMB_FLOAT32 || (n[0] & (n[0] - 1)) || (n[1] & (n[1] - 1)) || n[0] < 2))
    return PAPERS_BAD_TYPE;
  if (type != PMB_UINT8 && type != PMB_INT16 && type != PMB_UINT16 && type != PMB_FLOAT32) return PAPERS_BAD_TYPE;
  papers_state *s = (papers_state *)calloc(1, system->state_bytes);
  if (!s) return PAPERS_NO_MEMORY;
  s->system = system;
  s->memory = memory;
  const papers_status status = begin(s, volume);
  if (status == PAPERS_OK)
    *state = s;
  else
    papers_destroy(s);
  return status;
}

papers_status papers_extract(papers_state *s, double isovalue, papers_mesh *mesh)
{
  const pmb_isovalue made =
    pmb_isovalue_make(isovalue, s->type == PAPERS_EVALUATED ? PMB_FLOAT32 : (pmb_type)s->type, 0);
  const int32_t *dims = s->field.dims;
  s->field.threshold = made.threshold_f32;
  s->field.value = made.f32;
  s->field.value_low = made.f32_low;
  s->field.small_threshold = made.small_threshold;
  *mesh = s->mesh = {};
  if (dims[0] < 2 || dims[1] < 2 || dims[2] < 2) return PAPERS_OK;
  PAPERS_TRY(s->memory, s->system->extract(s));
  PAPERS_TRY(s->memory, cudaStreamSynchronize(NULL));
  *mesh = s->mesh;
  return PAPERS_OK;
}

void papers_destroy(papers_state *s)
{
  if (!s) return;
  give(s->memory, NULL, 1);
  free(s);
}

/* ---- the device ---- */

const char *papers_upload(void *d_to, const void *from, size_t bytes)
{
  return text_of(cudaMemcpy(d_to, from, bytes, cudaMemcpyHostToDevice));
}

const char *papers_download(void *to, const void *d_from, size_t bytes)
{
  return text_of(cudaMemcpy(to, d_from, bytes, cudaMemcpyDeviceToHost));
}

static __global__ void evaluate_kernel(const __grid_constant__ papers_field field, int64_t samples, float *d_to)
{
  const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (n < samples) d_to[n] = papers_sample<papers_cayley>(field, n);
}

const char *papers_evaluate(const papers_volume *volume, void *d_to)
{
  const int64_t samples = volume->dims[0] * volume->dims[1] * volume->dims[2];
  const cudaError_t error =
    papers_launch(evaluate_kernel, papers_blocks(samples, 256), 256, field_of(volume), samples, (float *)d_to);
  return text_of(error == cudaSuccess ? cudaStreamSynchronize(NULL) : error);
}

/* A warp adds a particle's kernel to the samples in its reach, in units of 2^-22: the sum does not depend on the order. */
static __global__ void splat_kernel(
  const float *d_positions, int64_t count, float smoothing, const __grid_constant__ papers_field field, int32_t *d_to)
{
  const int64_t n = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (n >= count) return;
  int32_t first[3], size[3];
  for (int a = 0; a < 3; ++a) {
    first[a] = max((int32_t)ceilf(d_positions[3 * n + a] - 2 * smoothing), 0);
    size[a] = max(min((int32_t)floorf(d_positions[3 * n + a] + 2 * smoothing), field.dims[a] - 1) + 1 - first[a], 0);
  }
  for (int32_t i = threadIdx.x % 32; i < size[0] * size[1] * size[2]; i += 32) {
    const int32_t place[3] = { first[0] + i % size[0], first[1] + i / size[0] % size[1],
      first[2] + i / (size[0] * size[1]) };
    float rest = 1;
    for (int a = 0; a < 3; ++a) {
      const float q = ((float)place[a] - d_positions[3 * n + a]) / (2 * smoothing);
      rest -= q * q;
    }
    if (rest > 0) atomicAdd(d_to + papers_index(field, place), (int32_t)(rest * rest * rest * 0x1p22f + 0.5f));
  }
}

static __global__ void unit_kernel(int64_t samples, int32_t *d_to)
{
  const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (n < samples) ((float *)d_to)[n] = (float)d_to[n] * 0x1p-22f;
}

const char *papers_splat(const float *d_positions, int64_t count, float smoothing, const papers_volume *volume)
{
  const int64_t samples = volume->dims[0] * volume->dims[1] * volume->dims[2];
  int32_t *d_to = (int32_t *)(uintptr_t)volume->samples;
  cudaError_t error = cudaMemsetAsync(d_to, 0, 4 * (size_t)samples, NULL);
  if (error == cudaSuccess)
    error = papers_launch(
      splat_kernel, papers_blocks(count, 8), 256, d_positions, count, smoothing, field_of(volume), d_to);
  if (error == cudaSuccess) error = papers_launch(unit_kernel, papers_blocks(samples, 256), 256, samples, d_to);
  return text_of(error == cudaSuccess ? cudaStreamSynchronize(NULL) : error);
}

static cudaEvent_t marks[2]; /* of the default stream, in which all is enqueued */

void papers_start_clock(void)
{
  for (int i = 0; i < 2 && !marks[i]; ++i) text_of(cudaEventCreate(&marks[i]));
  text_of(cudaEventRecord(marks[0], NULL));
}

double papers_stop_clock(void)
{
  float ms = -1;
  const int failed = text_of(cudaEventRecord(marks[1], NULL)) || text_of(cudaEventSynchronize(marks[1])) ||
    text_of(cudaEventElapsedTime(&ms, marks[0], marks[1]));
  return failed ? -1 : (double)ms;
}

size_t papers_available(void)
{
  size_t available = 0, total = 0;
  return text_of(cudaMemGetInfo(&available, &total)) ? 0 : available;
}
