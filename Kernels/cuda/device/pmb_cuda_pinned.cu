/* SPDX-License-Identifier: BSD-3-Clause
 * The pool of host memory that GPUs reach directly: for the caller's output arrays and for the rings of transfers.
 *
 * The memory is the process's own and only registered with CUDA, so that it outlives a GPU whose state is lost. To pin a
 * block takes about as long as to write it; a caller's block is therefore pinned when it is used for the second time. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda/pmb_cuda.cuh"

/* Blocks that are registered; smaller ones are not worth it. */
static const size_t WORTH_PINNING = 256 * 1024;
static const size_t PAGE = 4096, HUGE = 2 << 20;
/* Allocations in which the peak in use fades. */
enum { FADING = 64 };

/* The rings of two transfers, there and back, which have to be pinned anew when they go. */
static const size_t RINGS = (size_t)2 * PMB_CUDA_PARTS * PMB_CUDA_HUGE;

typedef struct pinned_block {
  struct pinned_block *next;
  char *memory;
  size_t capacity;
  int taken;
  uint64_t released; /* when */
  uint32_t pinned;   /* the generation of CUDA's state in which it was registered; 0: not */
} pinned_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pinned_block *blocks;
static uint64_t clock_of_releases;
static size_t taken_bytes, recent_peak;
static int contexts, device_in_use = -1; /* of the last context, -1: there was none */

static int is_pinned(const pinned_block *block)
{
  return block->pinned != 0 && block->pinned == pmb_cuda_generation_of_all();
}

/* Frees a list of blocks that are in the pool no more; takes long, so without the lock. */
static void free_blocks(pinned_block *list)
{
  while (list) {
    pinned_block *next = list->next;
    if (list->pinned) { /* in an older generation too: on a GPU that was not lost it still is */
      cudaHostUnregister(list->memory);
      cudaGetLastError();
    }
    free(list->memory);
    free(list);
    list = next;
  }
}

/* Takes a block out of the pool, into a list. Called with the lock, as all below up to new_block. */
static void move_out(pinned_block **at, pinned_block **list)
{
  pinned_block *block = *at;
  *at = block->next;
  block->next = *list;
  *list = block;
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

/* The smallest free block that is not much too large. */
static pinned_block *find_free(size_t bytes)
{
  const size_t fresh = capacity_for(bytes);
  pinned_block *best = NULL;
  for (pinned_block *block = blocks; block; block = block->next) {
    if (!block->taken && block->capacity >= bytes && block->capacity / 2 <= fresh &&
      (!best || block->capacity < best->capacity)) {
      best = block;
    }
  }
  return best;
}

/* The free block that was released first, or NULL. */
static pinned_block **find_oldest(void)
{
  pinned_block **oldest = NULL;
  for (pinned_block **at = &blocks; *at; at = &(*at)->next) {
    if (!(*at)->taken && (!oldest || (*at)->released < (*oldest)->released)) {
      oldest = at;
    }
  }
  return oldest;
}

/* Before a block of `fresh` bytes is made, 0: a free one is taken. Returns the blocks that have to go, so that the pool, but
 * for rings, is at most half larger than what was in use lately. Else it would keep a mesh of every size that a growing
 * surface has had. */
static pinned_block *make_room(size_t fresh)
{
  pinned_block *list = NULL;
  size_t held = fresh;
  recent_peak -= recent_peak > taken_bytes ? (recent_peak - taken_bytes) / FADING : 0;
  recent_peak = taken_bytes + fresh > recent_peak ? taken_bytes + fresh : recent_peak;
  for (const pinned_block *block = blocks; block; block = block->next) {
    held += block->capacity;
  }
  for (pinned_block **at = find_oldest(); at && fresh > 0 && held > recent_peak + recent_peak / 2 + RINGS;
       at = find_oldest()) {
    held -= (*at)->capacity;
    move_out(at, &list);
  }
  return list;
}

static pinned_block *new_block(size_t bytes)
{
  pinned_block *block = (pinned_block *)calloc(1, sizeof(*block));
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
static cudaError_t pin(pinned_block *block)
{
  cudaError_t error = cudaSuccess;
  if (!is_pinned(block) && block->capacity >= WORTH_PINNING) {
    const uint32_t generation = pmb_cuda_generation_of_all();
    error = cudaHostRegister(block->memory, block->capacity, cudaHostRegisterPortable);
    cudaGetLastError();
    error = error == cudaErrorHostMemoryAlreadyRegistered ? cudaSuccess : error;
    block->pinned = error == cudaSuccess ? generation : 0;
  }
  return error;
}

static void trim(void)
{
  pinned_block *list = NULL;
  pthread_mutex_lock(&lock);
  for (pinned_block **at = find_oldest(); at; at = find_oldest()) {
    move_out(at, &list);
  }
  pthread_mutex_unlock(&lock);
  free_blocks(list);
}

void *pmb_cuda_pinned_take(size_t bytes)
{
  if (bytes == 0 || bytes > SIZE_MAX / 4) {
    return NULL;
  }
  pthread_mutex_lock(&lock);
  const int none = contexts == 0;
  pinned_block *block = none ? NULL : find_free(bytes);
  const int found = block != NULL;
  if (found) {
    block->taken = 1;
    taken_bytes += block->capacity;
  }
  pinned_block *surplus = none ? NULL : make_room(found ? 0 : capacity_for(bytes));
  pthread_mutex_unlock(&lock);
  free_blocks(surplus);
  if (none) {
    return NULL;
  }
  if (found) {
    pin(block); /* its second use, or a later one */
    return block->memory;
  }
  block = new_block(bytes);
  if (!block) {
    trim(); /* what is kept may be what is missing */
    block = new_block(bytes);
  }
  if (!block) {
    return NULL;
  }
  pthread_mutex_lock(&lock);
  block->taken = 1;
  taken_bytes += block->capacity;
  block->next = blocks;
  blocks = block;
  pthread_mutex_unlock(&lock);
  return block->memory;
}

void pmb_cuda_pinned_give(void *memory)
{
  pthread_mutex_lock(&lock);
  pinned_block *block = memory ? blocks : NULL;
  while (block && !(block->memory == memory && block->taken)) {
    block = block->next;
  }
  if (block) {
    block->taken = 0;
    block->released = ++clock_of_releases;
    taken_bytes -= block->capacity;
  }
  const int none = contexts == 0;
  pthread_mutex_unlock(&lock);
  if (none) {
    trim();
  }
}

/* A thread that has not called CUDA yet would wake the first GPU, where this process may not be at home. */
static void set_device_in_use(void)
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
  set_device_in_use();
  return pmb_cuda_pinned_take(bytes);
}

extern "C" void pmb_host_release(void *memory)
{
  if (!pmb_cuda_is_forked()) {
    set_device_in_use();
    pmb_cuda_pinned_give(memory);
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
  const int none = contexts == 0;
  pthread_mutex_unlock(&lock);
  if (none) {
    trim();
  }
}

/* The taken block that contains these bytes, or NULL. */
static pinned_block *block_of(const void *memory, size_t bytes)
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
  return found;
}

int pmb_cuda_is_pinned(const void *memory, size_t bytes)
{
  const pinned_block *block = block_of(memory, bytes);
  return block && is_pinned(block);
}

cudaError_t pmb_cuda_pin(void *memory, size_t bytes)
{
  pinned_block *block = block_of(memory, bytes);
  return block ? pin(block) : cudaErrorInvalidValue;
}
