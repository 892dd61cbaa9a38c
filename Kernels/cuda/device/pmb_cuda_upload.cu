/* SPDX-License-Identifier: BSD-3-Clause
 * The way to the device, and the ring of pinned slots for this way and the way back.
 *
 * What is transferred is cut into parts, which go through the ring's slots in turn. Each host thread takes the next part,
 * waits until its slot is free, fills it, and sends all that is filled and next in order; so threads wait for nothing but
 * copies. */
#include <pthread.h>
#include <sched.h>

#include "cuda/pmb_cuda.cuh"

/* ---- the ring ---- */

/* A huge page is touched by one thread. */
static void touch_page(void *data, int, size_t i)
{
  const pmb_cuda_ring *ring = (const pmb_cuda_ring *)data;
  for (size_t at = i * PMB_CUDA_HUGE; at < ring->bytes && at < (i + 1) * PMB_CUDA_HUGE; at += 4096) {
    ring->memory[at] = 0;
  }
}

static void count_host_bytes(pmb_cuda *cuda, int64_t bytes)
{
  pmb_memory *memory = &cuda->context->memory;
  memory->bytes += bytes;
  memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
}

/* Twice as many slots as threads, so that copies are under way while all of them write. */
static int slots_for(const pmb_crew *crew, size_t parts)
{
  const int most = crew->workers < 4 ? 8 : crew->workers < PMB_CUDA_PARTS / 2 ? 2 * crew->workers : PMB_CUDA_PARTS;
  return parts < (size_t)most ? (int)parts : most;
}

/* A huge page, since several threads would clear the same one, or less of a small transfer. */
size_t pmb_cuda_part_of(size_t bytes)
{
  return bytes < (size_t)8 * PMB_CUDA_HUGE ? PMB_CUDA_HUGE / 8 : PMB_CUDA_HUGE;
}

void pmb_cuda_give_ring(pmb_cuda *cuda)
{
  if (cuda->ring.memory) {
    count_host_bytes(cuda, -(int64_t)cuda->ring.bytes);
    pmb_cuda_pinned_give(cuda->ring.memory);
    cuda->ring.memory = NULL;
  }
}

static pmb_status pin_ring(pmb_cuda *cuda)
{
  pmb_cuda_ring *ring = &cuda->ring;
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end;
  if (pmb_cuda_is_pinned(ring->memory, ring->bytes)) {
    return PMB_OK;
  }
  crew->fraction_end = crew->fraction_begin;
  const int finished = pmb_crew_loop(crew, (ring->bytes + PMB_CUDA_HUGE - 1) / PMB_CUDA_HUGE, touch_page, ring);
  crew->fraction_end = end;
  return finished
    ? pmb_cuda_check(cuda->context, pmb_cuda_pin(ring->memory, ring->bytes), "pinning a transfer's ring")
    : pmb_cuda_aborted(cuda);
}

pmb_status pmb_cuda_take_ring(pmb_cuda *cuda, size_t part, size_t parts)
{
  pmb_cuda_ring *ring = &cuda->ring;
  memset(ring, 0, sizeof(*ring));
  ring->part = part;
  ring->parts = parts;
  ring->slots = slots_for(&cuda->context->crew, parts);
  ring->bytes = (size_t)ring->slots * part;
  ring->memory = (char *)pmb_cuda_pinned_take(ring->bytes);
  if (!ring->memory) {
    return pmb_fail(cuda->context, PMB_OUT_OF_MEMORY, "no memory for a transfer's %zu bytes", ring->bytes);
  }
  count_host_bytes(cuda, (int64_t)ring->bytes);
  const pmb_status status = pin_ring(cuda);
  if (status != PMB_OK) {
    pmb_cuda_give_ring(cuda);
  }
  return status;
}

char *pmb_cuda_ring_slot(const pmb_cuda_ring *ring, size_t n)
{
  return ring->memory + n % (size_t)ring->slots * ring->part;
}

int pmb_cuda_ring_failed(const pmb_cuda_ring *ring)
{
  return __atomic_load_n(&ring->error, __ATOMIC_ACQUIRE) != cudaSuccess;
}

void pmb_cuda_ring_note(pmb_cuda_ring *ring, cudaError_t error)
{
  error = pmb_cuda_result(error);
  if (error != cudaSuccess && !pmb_cuda_ring_failed(ring)) {
    __atomic_store_n(&ring->error, (int)error, __ATOMIC_RELEASE);
  }
}

void pmb_cuda_ring_sent(pmb_cuda *cuda, size_t n)
{
  const size_t slot = n % (size_t)cuda->ring.slots;
  pmb_cuda_ring_note(&cuda->ring, cudaEventRecord(cuda->done.part[slot], cuda->copy));
  __atomic_store_n(&cuda->ring.sent[slot], n + 1, __ATOMIC_RELEASE);
}

int pmb_cuda_ring_await(pmb_cuda *cuda, size_t n)
{
  pmb_cuda_ring *ring = &cuda->ring;
  const size_t slot = n % (size_t)ring->slots;
  while (__atomic_load_n(&ring->sent[slot], __ATOMIC_ACQUIRE) != n + 1) {
    if (pmb_cuda_ring_failed(ring)) {
      return 0; /* it may never be sent */
    }
    sched_yield();
  }
  cudaSetDevice(cuda->device); /* of this thread */
  pmb_cuda_ring_note(ring, cudaEventSynchronize(cuda->done.part[slot]));
  return !pmb_cuda_ring_failed(ring);
}

/* ---- up ---- */

/* A volume, packed into rows of `pitch` samples, or an array as it is. */
typedef struct feed {
  pmb_cuda *cuda;
  const pmb_volume *volume; /* NULL: an array */
  int64_t pitch;
  size_t size; /* of a sample */
  const char *from;
  char *d_to;
  size_t bytes;
  pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices); /* may be NULL */
  pmb_status status;                                     /* that it gave */
  pthread_mutex_t sending;
  size_t next;                   /* part to send */
  size_t filled[PMB_CUDA_PARTS]; /* 1 + the part filled last, by slot; atomic */
} feed;

static void copy_row(char *to, const char *from, int64_t n, int64_t stride, size_t size)
{
  if (stride == 1) {
    memcpy(to, from, (size_t)n * size);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    memcpy(to + (size_t)i * size, from + i * stride * (int64_t)size, size);
  }
}

/* Elements begin..end of the pitched volume; the last sample of a row fills it. */
static void pack(const feed *work, int64_t begin, int64_t end, char *to)
{
  const pmb_volume *v = work->volume;
  while (begin < end) {
    const int64_t row = begin / work->pitch, i = begin % work->pitch;
    const int64_t n = end - begin < work->pitch - i ? end - begin : work->pitch - i;
    const int64_t samples = i < v->dims[0] ? (v->dims[0] - i < n ? v->dims[0] - i : n) : 0;
    const char *from = (const char *)v->samples +
      (row % v->dims[1] * v->strides[1] + row / v->dims[1] * v->strides[2]) * (int64_t)work->size;
    copy_row(to, from + i * v->strides[0] * (int64_t)work->size, samples, v->strides[0], work->size);
    copy_row(to + (size_t)samples * work->size, from + (v->dims[0] - 1) * v->strides[0] * (int64_t)work->size,
      n - samples, 0, work->size);
    to += (size_t)n * work->size;
    begin += n;
  }
}

/* Whether the samples lie on the host as they will on the device. */
static int is_packed(const feed *work)
{
  const int64_t *dims = work->volume ? work->volume->dims : NULL, *strides = dims ? work->volume->strides : NULL;
  return !dims ||
    (strides[0] == 1 && work->pitch == dims[0] && strides[1] == dims[0] && strides[2] == dims[0] * dims[1]);
}

static size_t bytes_of_part(const feed *work, size_t n)
{
  const size_t at = n * work->cuda->ring.part;
  return work->bytes - at < work->cuda->ring.part ? work->bytes - at : work->cuda->ring.part;
}

/* Sends a part, and starts the work on the slices that it completes. */
static void send_part(feed *work, size_t n)
{
  pmb_cuda *cuda = work->cuda;
  const size_t at = n * cuda->ring.part, bytes = bytes_of_part(work, n);
  pmb_cuda_ring_note(&cuda->ring,
    cudaMemcpyAsync(work->d_to + at, pmb_cuda_ring_slot(&cuda->ring, n), bytes, cudaMemcpyHostToDevice, cuda->copy));
  pmb_cuda_ring_sent(cuda, n);
  if (work->arrived && !pmb_cuda_ring_failed(&cuda->ring)) {
    const size_t slot = n % (size_t)cuda->ring.slots;
    pmb_cuda_ring_note(&cuda->ring, cudaStreamWaitEvent(cuda->compute, cuda->done.part[slot], 0));
    work->status = work->arrived(cuda, (int64_t)((at + bytes) / work->size) / cuda->job.slice);
    if (work->status != PMB_OK) {
      work->arrived = NULL;
      __atomic_store_n(&cuda->ring.error, (int)cudaErrorUnknown, __ATOMIC_RELEASE); /* stops the others */
    }
  }
}

static void feed_part(void *data, int, size_t n)
{
  feed *work = (feed *)data;
  pmb_cuda_ring *ring = &work->cuda->ring;
  const size_t at = n * ring->part, bytes = bytes_of_part(work, n), slots = (size_t)ring->slots;
  char *slot = pmb_cuda_ring_slot(ring, n);
  if (n >= slots && !pmb_cuda_ring_await(work->cuda, n - slots)) {
    return;
  }
  if (is_packed(work)) {
    memcpy(slot, work->from + at, bytes);
  } else {
    pack(work, (int64_t)(at / work->size), (int64_t)((at + bytes) / work->size), slot);
  }
  pthread_mutex_lock(&work->sending);
  work->filled[n % slots] = n + 1;
  while (
    work->next < ring->parts && work->filled[work->next % slots] == work->next + 1 && !pmb_cuda_ring_failed(ring)) {
    cudaSetDevice(work->cuda->device); /* of this thread */
    send_part(work, work->next++);
  }
  pthread_mutex_unlock(&work->sending);
}

static pmb_status send(feed *work)
{
  pmb_cuda *cuda = work->cuda;
  pmb_crew *crew = &cuda->context->crew;
  const size_t part = pmb_cuda_part_of(work->bytes), parts = (work->bytes + part - 1) / part;
  PMB_CUDA_STEP(pmb_cuda_take_ring(cuda, part, parts));
  pthread_mutex_init(&work->sending, NULL);
  const int finished = pmb_crew_loop(crew, parts, feed_part, work);
  pthread_mutex_destroy(&work->sending);
  pmb_status status = work->status;
  if (status == PMB_OK && pmb_cuda_ring_failed(&cuda->ring)) {
    status = pmb_cuda_failed(cuda->context, (cudaError_t)cuda->ring.error, "upload");
  } else if (status == PMB_OK && !finished) {
    status = pmb_cuda_aborted(cuda);
  }
  /* The ring goes back to the pool: nothing may read it any more, whatever has happened. */
  const cudaError_t error = cudaStreamSynchronize(cuda->copy);
  pmb_cuda_give_ring(cuda);
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, "upload") : status;
}

pmb_status pmb_cuda_upload(pmb_cuda *cuda, void *d_samples, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices))
{
  const pmb_volume *volume = &cuda->context->volume;
  feed work = {};
  work.cuda = cuda;
  work.volume = volume;
  work.pitch = cuda->job.pitch;
  work.size = pmb_type_size(volume->type);
  work.from = (const char *)volume->samples;
  work.d_to = (char *)d_samples;
  work.bytes = (size_t)(cuda->job.slice * volume->dims[2]) * work.size;
  work.arrived = arrived;
  return send(&work);
}

pmb_status pmb_cuda_upload_array(pmb_cuda *cuda, const void *array, size_t bytes, void *d_array)
{
  feed work = {};
  work.cuda = cuda;
  work.size = 1;
  work.from = (const char *)array;
  work.d_to = (char *)d_array;
  work.bytes = bytes;
  return send(&work);
}
