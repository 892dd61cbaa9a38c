/* SPDX-License-Identifier: BSD-3-Clause
 * The pool of host memory that GPUs reach directly: for the caller's output arrays and for the rings of transfers.
 *
 * The memory is the process's own and only registered with CUDA, so that it outlives a GPU whose state is lost. To pin a
 * block takes about as long as to write it; a caller's block is therefore pinned when it is used for the second time. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "pmb_cuda.cuh"

/* Blocks that are registered; smaller ones are not worth it. */
static const size_t WORTH_PINNING = 256 * 1024;
static const size_t PAGE = 4096, HUGE = 2 << 20;
/* A free block that was not taken in so many allocations is given back. */
enum { AGE = 64 };

typedef struct host_block {
  struct host_block *next;
  char *memory;
  size_t capacity;
  int taken, uses;
  uint64_t last_used;
  uint32_t pinned; /* the generation of CUDA's state in which it was registered; 0: not */
} host_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static host_block *blocks;
static uint64_t clock_of_allocations;
static int contexts, device_in_use = -1; /* of the last context, -1: there was none */

static int is_pinned(const host_block *block)
{
  return block->pinned != 0 && block->pinned == pmb_cuda_generation_of_all();
}

/* Frees a list of blocks that are in the pool no more; takes long, so without the lock. */
static void free_blocks(host_block *list)
{
  while (list) {
    host_block *next = list->next;
    if (list->pinned) { /* in an older generation too: on a GPU that was not lost it still is */
      cudaHostUnregister(list->memory);
      cudaGetLastError();
    }
    free(list->memory);
    free(list);
    list = next;
  }
}

/* Takes the free blocks out of the pool that were last used before `since`. Called with the lock. */
static host_block *take_out(uint64_t since)
{
  host_block *list = NULL;
  for (host_block **at = &blocks; *at;) {
    host_block *block = *at;
    if (!block->taken && block->last_used < since) {
      *at = block->next;
      block->next = list;
      list = block;
    } else {
      at = &block->next;
    }
  }
  return list;
}

/* What is allocated for `bytes`: at most an eighth more, so that meshes of about the same size use the same blocks. */
static size_t capacity_for(size_t bytes)
{
  size_t step = PAGE;
  while (step < bytes / 16) {
    step *= 2;
  }
  step = bytes >= HUGE && step < HUGE ? HUGE : step;
  return (bytes + step - 1) / step * step;
}

/* The smallest free block that is not much too large. Called with the lock. */
static host_block *find_free(size_t bytes)
{
  const size_t fresh = capacity_for(bytes);
  host_block *best = NULL;
  for (host_block *block = blocks; block; block = block->next) {
    if (!block->taken && block->capacity >= bytes && block->capacity / 2 <= fresh &&
      (!best || block->capacity < best->capacity)) {
      best = block;
    }
  }
  return best;
}

static host_block *new_block(size_t bytes)
{
  host_block *block = (host_block *)calloc(1, sizeof(*block));
  const size_t capacity = capacity_for(bytes), alignment = capacity >= HUGE ? HUGE : PAGE;
  if (block && posix_memalign((void **)&block->memory, alignment, capacity) != 0) {
    free(block);
    return NULL;
  }
  if (block) {
    block->capacity = capacity;
    if (alignment == HUGE) {
      madvise(block->memory, capacity, MADV_HUGEPAGE); /* a hint; pinned ten times as fast */
    }
  }
  return block;
}

/* Registers a taken block; without success it stays ordinary memory. */
static void pin(host_block *block)
{
  if (!is_pinned(block) && block->capacity >= WORTH_PINNING) {
    const uint32_t generation = pmb_cuda_generation_of_all();
    const cudaError_t error = cudaHostRegister(block->memory, block->capacity, cudaHostRegisterPortable);
    cudaGetLastError();
    block->pinned = error == cudaSuccess || error == cudaErrorHostMemoryAlreadyRegistered ? generation : 0;
  }
}

void *pmb_cuda_host_take(size_t bytes)
{
  if (bytes == 0 || bytes > SIZE_MAX / 4) {
    return NULL;
  }
  pthread_mutex_lock(&lock);
  if (contexts == 0) {
    pthread_mutex_unlock(&lock);
    return NULL;
  }
  host_block *block = find_free(bytes);
  const int found = block != NULL;
  ++clock_of_allocations;
  if (found) {
    block->taken = 1;
  }
  host_block *old = take_out(clock_of_allocations > AGE ? clock_of_allocations - AGE : 0);
  pthread_mutex_unlock(&lock);
  free_blocks(old);
  if (!found) {
    block = new_block(bytes);
    if (!block) {
      return NULL;
    }
    block->taken = 1;
  } else if (block->uses > 0) {
    pin(block);
  }
  pthread_mutex_lock(&lock);
  ++block->uses;
  block->last_used = clock_of_allocations;
  if (!found) {
    block->next = blocks;
    blocks = block;
  }
  pthread_mutex_unlock(&lock);
  return block->memory;
}

void pmb_cuda_host_give(void *memory)
{
  host_block *list = NULL;
  pthread_mutex_lock(&lock);
  for (host_block *block = blocks; memory && block; block = block->next) {
    if (block->memory == memory) {
      block->taken = 0;
      block->last_used = clock_of_allocations;
      break;
    }
  }
  if (contexts == 0) {
    list = take_out(UINT64_MAX);
  }
  pthread_mutex_unlock(&lock);
  free_blocks(list);
}

static void trim(void)
{
  pthread_mutex_lock(&lock);
  host_block *list = take_out(UINT64_MAX);
  pthread_mutex_unlock(&lock);
  free_blocks(list);
}

/* A thread that has not called CUDA yet would wake the first GPU, where this process may not be at home. */
static void enter_device_in_use(void)
{
  const int device = __atomic_load_n(&device_in_use, __ATOMIC_RELAXED);
  if (!pmb_cuda_return_to_call() && device >= 0) { /* in a call the thread has a device, which stays */
    cudaSetDevice(device);
    cudaGetLastError();
  }
}

/* In a forked process the pool is the parent's: its lock may be held for ever, and its memory, which both share until one of them
 * writes to it, stays. */
extern "C" void *pmb_host_allocate(size_t bytes)
{
  if (pmb_cuda_is_forked()) {
    return NULL;
  }
  enter_device_in_use();
  return pmb_cuda_host_take(bytes);
}

extern "C" void pmb_host_release(void *memory)
{
  if (!pmb_cuda_is_forked()) {
    enter_device_in_use();
    pmb_cuda_host_give(memory);
  }
}

extern "C" void pmb_host_trim(void)
{
  if (!pmb_cuda_is_forked()) {
    enter_device_in_use();
    trim();
  }
}

void pmb_cuda_host_contexts(int change, int device)
{
  pthread_mutex_lock(&lock);
  contexts += change;
  if (change > 0) {
    __atomic_store_n(&device_in_use, device, __ATOMIC_RELAXED);
  }
  const int none = contexts == 0;
  pthread_mutex_unlock(&lock);
  if (none) {
    trim();
  }
}

/* The taken block that has all of these bytes, or NULL. */
static host_block *block_of(const void *memory, size_t bytes)
{
  const char *at = (const char *)memory;
  host_block *found = NULL;
  pthread_mutex_lock(&lock);
  for (host_block *block = blocks; block && !found; block = block->next) {
    if (block->taken && at >= block->memory && at + bytes <= block->memory + block->capacity) {
      found = block;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

int pmb_cuda_host_is_pinned(const void *memory, size_t bytes)
{
  const host_block *block = block_of(memory, bytes);
  return block && is_pinned(block);
}

cudaError_t pmb_cuda_host_pin(void *memory, size_t bytes)
{
  host_block *block = block_of(memory, bytes);
  if (block) {
    pin(block);
  }
  return block && is_pinned(block) ? cudaSuccess : cudaErrorMemoryAllocation;
}
