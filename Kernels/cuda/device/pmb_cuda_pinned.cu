/* SPDX-License-Identifier: BSD-3-Clause
 * The pool of host memory that GPUs can access, for the caller's output arrays and for the rings of transfers.
 *
 * The memory belongs to the process and is only registered with CUDA, so it outlives a GPU that fails. Pinning a block takes
 * about as long as writing it, so a caller's block is pinned at its second use. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda/pmb_cuda.cuh"

/* Smaller blocks are not worth registering. */
static const size_t WORTH_PINNING = 256 * 1024;
static const size_t PAGE = 4096, HUGE = PMB_CUDA_HUGE;
/* Allocations over which the peak of taken memory decays. */
enum { FADING = 64 };

/* Bytes of the rings of two transfers, up and down, which stay in the pool: pinning them again takes long. */
static const size_t RINGS = (size_t)2 * PMB_CUDA_PARTS * PMB_CUDA_HUGE;

typedef struct pinned_block {
  struct pinned_block *next;
  char *memory;
  size_t capacity;
  int taken, pinned;
} pinned_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pinned_block *blocks;             /* all; free ones in the order of their release */
static size_t recent_peak;               /* bytes taken */
static int contexts, device_in_use = -1; /* device of the newest context; -1: no context yet; atomic */

/* Frees a list of blocks that have left the pool. It takes long: call it without the lock. */
static void free_blocks(pinned_block *list)
{
  while (list) {
    pinned_block *next = list->next;
    if (list->pinned) {
      cudaHostUnregister(list->memory);
      cudaGetLastError();
    }
    free(list->memory);
    free(list);
    list = next;
  }
}

/* Bytes to allocate for `bytes`: up to an eighth more, so that meshes of about the same size use the same blocks. */
static size_t capacity_for(size_t bytes)
{
  size_t step = PAGE;
  while (step < bytes / 16) {
    step *= 2;
  }
  step = bytes >= HUGE && step < HUGE ? HUGE : step;
  return (bytes + step - 1) / step * step;
}

/* Takes the smallest free block that is not much too large. Call this and the next two with the lock. */
static pinned_block *take_free(size_t bytes)
{
  const size_t fresh = capacity_for(bytes);
  pinned_block *best = NULL;
  for (pinned_block *block = blocks; block; block = block->next) {
    if (!block->taken && block->capacity >= bytes && block->capacity / 2 <= fresh &&
      (!best || block->capacity < best->capacity)) {
      best = block;
    }
  }
  if (best) {
    best->taken = 1;
  }
  return best;
}

/* Removes free blocks, the first released first, until they have `bytes`. Returns them as a list. */
static pinned_block *remove_oldest(size_t bytes)
{
  pinned_block *list = NULL, **at = &blocks;
  for (size_t removed = 0; *at && removed < bytes;) {
    pinned_block *block = *at;
    if (block->taken) {
      at = &block->next;
      continue;
    }
    *at = block->next;
    block->next = list;
    list = block;
    removed += block->capacity;
  }
  return list;
}

/* Removes blocks before a block of `fresh` bytes is made (0: a free one was taken), so that the pool, apart from rings, is at most
 * half larger than the memory in use lately. Else it would keep a mesh of each size that a growing surface had. */
static pinned_block *make_room(size_t fresh)
{
  size_t held = fresh, taken = fresh;
  for (const pinned_block *block = blocks; block; block = block->next) {
    held += block->capacity;
    taken += block->taken ? block->capacity : 0;
  }
  recent_peak = taken > recent_peak ? taken : recent_peak - (recent_peak - taken) / FADING;
  const size_t most = recent_peak + recent_peak / 2 + RINGS;
  return fresh > 0 && held > most ? remove_oldest(held - most) : NULL;
}

/* Adds a taken block to the pool. NULL if there is no memory. */
static pinned_block *new_block(size_t bytes)
{
  pinned_block *block = (pinned_block *)calloc(1, sizeof(*block));
  const size_t capacity = capacity_for(bytes), alignment = capacity >= HUGE ? HUGE : PAGE;
  if (!block || posix_memalign((void **)&block->memory, alignment, capacity) != 0) {
    free(block);
    return NULL;
  }
  block->capacity = capacity;
  block->taken = 1;
  if (alignment == HUGE) {
    madvise(block->memory, capacity, MADV_HUGEPAGE); /* a hint; pinned ten times as fast */
  }
  pthread_mutex_lock(&lock);
  block->next = blocks;
  blocks = block;
  pthread_mutex_unlock(&lock);
  return block;
}

/* Registers a taken block. If that fails, it stays ordinary memory. */
static cudaError_t pin(pinned_block *block)
{
  cudaError_t error = cudaSuccess;
  if (!block->pinned && block->capacity >= WORTH_PINNING) {
    error = cudaHostRegister(block->memory, block->capacity, cudaHostRegisterPortable);
    cudaGetLastError();
    error = error == cudaErrorHostMemoryAlreadyRegistered ? cudaSuccess : error;
    block->pinned = error == cudaSuccess;
  }
  return error;
}

static void trim(void)
{
  pthread_mutex_lock(&lock);
  pinned_block *list = remove_oldest(SIZE_MAX);
  pthread_mutex_unlock(&lock);
  free_blocks(list);
}

/* A thread's first CUDA call would otherwise initialize GPU 0, which this process may not use. */
static void set_device_in_use(void)
{
  const int device = __atomic_load_n(&device_in_use, __ATOMIC_RELAXED);
  if (!pmb_cuda_return_to_call() && device >= 0) { /* in a call the thread has a device, which stays */
    cudaSetDevice(device);
    cudaGetLastError();
  }
}

/* In a forked process the pool is the parent's, and nobody may release its lock: the child leaks the pool. */
extern "C" void *pmb_host_allocate(size_t bytes)
{
  if (pmb_cuda_is_forked() || bytes == 0 || bytes > SIZE_MAX / 4) {
    return NULL;
  }
  set_device_in_use();
  pthread_mutex_lock(&lock);
  const int is_used = contexts > 0;
  pinned_block *block = is_used ? take_free(bytes) : NULL;
  pinned_block *surplus = is_used ? make_room(block ? 0 : capacity_for(bytes)) : NULL;
  pthread_mutex_unlock(&lock);
  free_blocks(surplus);
  if (block) {
    pin(block); /* at its second use, or a later one */
  } else if (is_used && !(block = new_block(bytes))) {
    trim(); /* try again without the free blocks */
    block = new_block(bytes);
  }
  return block ? block->memory : NULL;
}

extern "C" void pmb_host_release(void *memory)
{
  if (!memory || pmb_cuda_is_forked()) {
    return;
  }
  set_device_in_use();
  pthread_mutex_lock(&lock);
  pinned_block **at = &blocks;
  while (*at && !((*at)->memory == memory && (*at)->taken)) {
    at = &(*at)->next;
  }
  if (pinned_block *block = *at) { /* it becomes the last one */
    *at = block->next;
    while (*at) {
      at = &(*at)->next;
    }
    *at = block;
    block->next = NULL;
    block->taken = 0;
  }
  const int is_used = contexts > 0;
  pthread_mutex_unlock(&lock);
  if (!is_used) {
    trim();
  }
}

extern "C" void pmb_host_trim(void)
{
  if (!pmb_cuda_is_forked()) {
    set_device_in_use();
    trim();
  }
}

void pmb_cuda_pinned_contexts(int change, int device)
{
  pthread_mutex_lock(&lock);
  contexts += change;
  if (change > 0) {
    __atomic_store_n(&device_in_use, device, __ATOMIC_RELAXED);
  }
  const int is_used = contexts > 0;
  pthread_mutex_unlock(&lock);
  if (!is_used) {
    trim();
  }
}

/* Arrays are of one block, so their ends tell. */
int pmb_cuda_is_pinned(const void *memory, size_t bytes)
{
  cudaPointerAttributes first = {}, last = {};
  const int known = memory && bytes > 0 && cudaPointerGetAttributes(&first, memory) == cudaSuccess &&
    cudaPointerGetAttributes(&last, (const char *)memory + bytes - 1) == cudaSuccess;
  cudaGetLastError();
  return known && first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;
}

cudaError_t pmb_cuda_pin(void *memory, size_t bytes)
{
  const char *at = (const char *)memory;
  pinned_block *found = NULL;
  pthread_mutex_lock(&lock);
  for (pinned_block *block = blocks; block && !found; block = block->next) {
    if (block->taken && at >= block->memory && at + bytes <= block->memory + block->capacity) {
      found = block;
    }
  }
  pthread_mutex_unlock(&lock);
  return found ? pin(found) : cudaErrorInvalidValue;
}
