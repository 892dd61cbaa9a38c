/* SPDX-License-Identifier: BSD-3-Clause
 * The process's memory on its GPUs: volumes, which contexts may share, and the contexts' own buffers. If memory runs short, idle
 * memory is freed, the least recently used first. A volume is uploaded again when its context needs it.
 *
 * One lock guards the lists. A context in a call is busy: no other thread frees its buffers or its volume then. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/pmb_cuda.cuh"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pmb_cuda *contexts;
static pmb_cuda_volume *volumes;
static uint64_t last_use;              /* counts calls */
static int64_t held[PMB_CUDA_DEVICES]; /* bytes */

/* ---- calls ---- */

/* The device of this thread's call. A progress hook may call with other contexts, on other devices. */
static thread_local int device_of_call = -1;

int pmb_cuda_return_to_call(void)
{
  if (device_of_call >= 0) {
    cudaSetDevice(device_of_call);
    cudaGetLastError();
  }
  return device_of_call >= 0;
}

pmb_status pmb_cuda_begin_call(pmb_cuda *cuda)
{
  PMB_STEP(pmb_cuda_check_process(cuda->context));
  PMB_STEP(pmb_cuda_check_device(cuda->context, cuda->device));
  pthread_mutex_lock(&lock);
  cuda->busy = 1;
  pthread_mutex_unlock(&lock);
  cuda->outer_device = device_of_call;
  device_of_call = cuda->device;
  const pmb_status status = pmb_cuda_check(cuda->context, cudaSetDevice(cuda->device), "cudaSetDevice");
  return status == PMB_OK ? PMB_OK : pmb_cuda_end(cuda, status);
}

pmb_status pmb_cuda_end(pmb_cuda *cuda, pmb_status status)
{
  pmb_cuda_account(cuda);
  pthread_mutex_lock(&lock);
  cuda->busy = 0;
  cuda->own.last_used = ++last_use;
  if (cuda->volume) {
    cuda->volume->own.last_used = last_use;
  }
  pthread_mutex_unlock(&lock);
  device_of_call = cuda->outer_device;
  pmb_cuda_return_to_call();
  return status;
}

void pmb_cuda_register(pmb_cuda *cuda)
{
  pthread_mutex_lock(&lock);
  cuda->own.device = cuda->device;
  cuda->own.life = 1;
  cuda->next = contexts;
  contexts = cuda;
  pthread_mutex_unlock(&lock);
  pmb_cuda_pinned_contexts(1, cuda->device);
}

void pmb_cuda_unregister(pmb_cuda *cuda)
{
  pthread_mutex_lock(&lock);
  pmb_cuda **at = &contexts;
  while (*at != cuda) {
    at = &(*at)->next;
  }
  *at = cuda->next;
  pthread_mutex_unlock(&lock);
  pmb_cuda_pinned_contexts(-1, cuda->device);
}

/* ---- memory ---- */

/* Frees a buffer. Call this and the next two with the lock. */
static void free_buffer(pmb_cuda_buffer *buffer)
{
  pmb_cuda_owner *owner = buffer->owner;
  pmb_cuda_buffer **at = &owner->first;
  while (*at != buffer) {
    at = &(*at)->next;
  }
  *at = buffer->next;
  cudaFree(buffer->d_data);
  cudaGetLastError(); /* of a GPU that failed */
  owner->bytes -= (int64_t)buffer->capacity;
  held[owner->device] -= (int64_t)buffer->capacity;
  buffer->d_data = NULL;
  buffer->capacity = 0;
}

static void free_all(pmb_cuda_owner *owner)
{
  while (owner->first) {
    free_buffer(owner->first);
  }
  ++owner->life;
}

static void free_volume(pmb_cuda_volume *volume)
{
  free_all(&volume->own);
  volume->state = PMB_CUDA_ON_HOST;
}

/* The number of contexts with this volume; in_call: only those in a call. */
static int sharers_of(const pmb_cuda_volume *volume, int in_call)
{
  int sharers = 0;
  for (const pmb_cuda *c = contexts; c; c = c->next) {
    sharers += c->volume == volume && (c->busy || !in_call);
  }
  return sharers;
}

void pmb_cuda_free_buffers(pmb_cuda *cuda)
{
  pthread_mutex_lock(&lock);
  free_all(&cuda->own);
  pthread_mutex_unlock(&lock);
}

/* Frees the least recently used idle memory on this context's GPU. Returns 0 if all is in use. */
static int free_least_recently_used(const pmb_cuda *cuda)
{
  pmb_cuda_volume *volume = NULL;
  pmb_cuda *context = NULL;
  uint64_t oldest = UINT64_MAX;
  pthread_mutex_lock(&lock);
  for (pmb_cuda_volume *v = volumes; v; v = v->next) {
    if (v->own.device == cuda->device && v->state == PMB_CUDA_ON_DEVICE && v->own.last_used < oldest &&
      !sharers_of(v, 1)) {
      volume = v;
      oldest = v->own.last_used;
    }
  }
  for (pmb_cuda *c = contexts; c; c = c->next) {
    if (c->device == cuda->device && !c->busy && c->own.bytes > 0 && c->own.last_used < oldest) {
      context = c;
      oldest = c->own.last_used;
    }
  }
  if (context) {
    free_all(&context->own);
  } else if (volume) {
    free_volume(volume);
  }
  pthread_mutex_unlock(&lock);
  return context || volume;
}

/* Frees the context's buffers that yield to this one. Returns 0 if there were none, or if it yields itself. */
static int free_yielding(pmb_cuda *cuda, const pmb_cuda_buffer *wanted)
{
  int any = 0;
  pthread_mutex_lock(&lock);
  for (pmb_cuda_buffer *buffer = wanted->yields ? NULL : cuda->own.first, *next; buffer; buffer = next) {
    next = buffer->next;
    if (buffer->yields) {
      free_buffer(buffer);
      any = 1;
    }
  }
  pthread_mutex_unlock(&lock);
  return any;
}

void pmb_cuda_release(pmb_cuda_buffer *buffer)
{
  pthread_mutex_lock(&lock);
  if (buffer->d_data) {
    free_buffer(buffer);
  }
  pthread_mutex_unlock(&lock);
}

/* Allocates an empty buffer, within the context's limit on the memory of the process, and registers it with its owner. */
static cudaError_t allocate(pmb_cuda *cuda, pmb_cuda_buffer *buffer, size_t bytes)
{
  pmb_cuda_owner *owner = buffer->owner ? buffer->owner : &cuda->own;
  pthread_mutex_lock(&lock);
  const int allowed = !cuda->device_limit || held[cuda->device] + (int64_t)bytes <= cuda->device_limit;
  if (allowed) {
    held[cuda->device] += (int64_t)bytes;
    owner->bytes += (int64_t)bytes;
    buffer->capacity = bytes;
    buffer->owner = owner;
    buffer->next = owner->first;
    owner->first = buffer;
  }
  pthread_mutex_unlock(&lock);
  const cudaError_t error = allowed ? pmb_cuda_result(cudaMalloc(&buffer->d_data, bytes)) : cudaErrorMemoryAllocation;
  if (allowed && error != cudaSuccess) {
    cudaGetLastError();
    pthread_mutex_lock(&lock);
    free_buffer(buffer);
    pthread_mutex_unlock(&lock);
  }
  return error;
}

/* Counts the bytes of a context with its volume, and updates the peak. Call it with the lock. */
static int64_t count_bytes(pmb_cuda *cuda)
{
  const int64_t bytes = cuda->own.bytes + (cuda->volume ? cuda->volume->own.bytes : 0);
  cuda->device_peak = bytes > cuda->device_peak ? bytes : cuda->device_peak;
  return bytes;
}

/* Bytes to allocate for an array: kernels read 16 bytes at a time, also from empty arrays. */
static size_t bytes_of(int64_t count, size_t size)
{
  return ((size_t)count * size + 255) / 256 * 256 + 256;
}

static int has_room(const pmb_cuda_buffer *buffer, int64_t count, size_t size)
{
  return buffer->d_data && bytes_of(count, size) <= buffer->capacity;
}

pmb_status pmb_cuda_reserve(pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, size_t size, const char *what)
{
  if (has_room(buffer, count, size)) {
    return PMB_OK;
  }
  pmb_cuda_release(buffer);
  cudaError_t error = cudaErrorMemoryAllocation;
  if (count <= (int64_t)(SIZE_MAX / 4 / size)) {
    do {
      error = allocate(cuda, buffer, bytes_of(count, size));
    } while (error == cudaErrorMemoryAllocation && (free_least_recently_used(cuda) || free_yielding(cuda, buffer)));
  }
  pthread_mutex_lock(&lock);
  const int64_t here = count_bytes(cuda), all = held[cuda->device];
  pthread_mutex_unlock(&lock);
  PMB_FAIL_IF(error == cudaErrorMemoryAllocation, cuda->context, PMB_OUT_OF_MEMORY,
    "no memory on the GPU for %s: %lld of %zu bytes (this context holds %lld bytes there, the process %lld, limit %lld)",
    what, (long long)count, size, (long long)here, (long long)all, (long long)cuda->device_limit);
  return error == cudaSuccess ? PMB_OK : pmb_cuda_failed(cuda->context, error, what);
}

pmb_status pmb_cuda_reserve_output(
  pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, int spare, size_t size, const char *what)
{
  if (!spare) {
    pmb_cuda_release(buffer);
  }
  return pmb_cuda_reserve(
    cuda, buffer, count + (spare && !has_room(buffer, count, size) ? count / 8 : 0), size, what);
}

void pmb_cuda_account(pmb_cuda *cuda)
{
  pmb_context *context = cuda->context;
  pthread_mutex_lock(&lock);
  context->info.device_bytes = count_bytes(cuda);
  context->info.device_peak_bytes = cuda->device_peak;
  context->info.device_sharers = cuda->volume ? sharers_of(cuda->volume, 0) : 0;
  context->info.device_lost = pmb_cuda_has_failed(cuda->device);
  pthread_mutex_unlock(&lock);
}

/* ---- volumes ---- */

static int is_same(const pmb_cuda_volume *v, const pmb_cuda *cuda)
{
  const pmb_volume *a = &v->key, *b = &cuda->context->volume;
  return a->version != 0 && a->version == b->version && a->samples == b->samples && a->type == b->type &&
    memcmp(a->dims, b->dims, sizeof(a->dims)) == 0 && memcmp(a->strides, b->strides, sizeof(a->strides)) == 0 &&
    a->sample_flags == b->sample_flags && a->cell_flags == b->cell_flags &&
    a->hidden_sample_bits == b->hidden_sample_bits && a->hidden_cell_bits == b->hidden_cell_bits &&
    a->first_layer == b->first_layer && a->layer_count == b->layer_count && v->own.device == cuda->device;
}

/* Takes a volume off a context, and out of the list if it was the last context's. Call it with the lock. Returns the volume
 * then, with its memory; else NULL. */
static pmb_cuda_volume *take_volume(pmb_cuda *cuda)
{
  pmb_cuda_volume *volume = cuda->volume;
  cuda->volume = NULL;
  if (!volume || sharers_of(volume, 0) > 0) {
    return NULL;
  }
  pmb_cuda_volume **at = &volumes;
  while (*at != volume) {
    at = &(*at)->next;
  }
  *at = volume->next;
  volume->state = PMB_CUDA_ON_HOST;
  return volume;
}

/* Frees a volume that is in no list. */
static void end_volume(pmb_cuda_volume *volume)
{
  if (volume) {
    free_all(&volume->own);
    free(volume);
  }
}

/* The context's volume before gives its memory to a new one, unless other contexts have it. */
pmb_status pmb_cuda_find_volume(pmb_cuda *cuda)
{
  pthread_mutex_lock(&lock);
  pmb_cuda_volume *volume = volumes;
  while (volume && !is_same(volume, cuda)) {
    volume = volume->next;
  }
  if (!volume || volume != cuda->volume) {
    pmb_cuda_volume *before = take_volume(cuda);
    if (!volume && !before) {
      before = (pmb_cuda_volume *)calloc(1, sizeof(*before));
    }
    if (!volume && before) {
      volume = before;
      before = NULL;
      volume->key = cuda->context->volume;
      volume->own.device = cuda->device;
      volume->next = volumes;
      volumes = volume;
    }
    end_volume(before);
    cuda->volume = volume;
  }
  pthread_mutex_unlock(&lock);
  return volume
    ? PMB_OK
    : pmb_fail(cuda->context, PMB_OUT_OF_MEMORY, "no memory for a volume's record (%zu bytes)", sizeof(*volume));
}

void pmb_cuda_drop_volume(pmb_cuda *cuda)
{
  pthread_mutex_lock(&lock);
  end_volume(take_volume(cuda));
  pthread_mutex_unlock(&lock);
}

/* Uploads the volume. Call it with the lock, which it releases meanwhile. */
static pmb_status upload_volume(
  pmb_cuda *cuda, pmb_cuda_volume *volume, pmb_status (*upload)(pmb_cuda *cuda, pmb_cuda_volume *volume))
{
  volume->state = PMB_CUDA_UPLOADING;
  volume->uploader = (uintptr_t)pthread_self();
  pthread_mutex_unlock(&lock);
  const pmb_status status = upload(cuda, volume);
  pthread_mutex_lock(&lock);
  if (status == PMB_OK) {
    volume->state = PMB_CUDA_ON_DEVICE;
    ++cuda->context->info.uploads;
  } else {
    free_volume(volume);
  }
  return status;
}

pmb_status pmb_cuda_bring_volume(pmb_cuda *cuda, pmb_status (*upload)(pmb_cuda *cuda, pmb_cuda_volume *volume))
{
  pmb_cuda_volume *volume = cuda->volume;
  pmb_status status = PMB_OK;
  pthread_mutex_lock(&lock);
  while (status == PMB_OK && volume->state != PMB_CUDA_ON_DEVICE) {
    if (volume->state == PMB_CUDA_ON_HOST) {
      status = upload_volume(cuda, volume, upload);
    } else if (volume->uploader == (uintptr_t)pthread_self()) {
      status = pmb_fail(cuda->context, PMB_UNAVAILABLE,
        "no GPU can be used: another context is uploading the same volume and calls this one from its progress hook");
    } else { /* another thread uploads it */
      const struct timespec moment = { 0, 1000 * 1000 };
      pthread_mutex_unlock(&lock);
      nanosleep(&moment, NULL);
      status = pmb_report(cuda->context, cuda->context->crew.fraction_begin);
      pthread_mutex_lock(&lock);
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}
