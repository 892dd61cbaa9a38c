/* SPDX-License-Identifier: BSD-3-Clause
 * The way back to the host: pinned arrays at once, then, through the ring, ordinary ones and ids that are to become wide. There
 * a host thread takes the next part of an array, waits until it is in its slot, puts it into its place, and sends for the part
 * that comes into the slot next. */
#include <pthread.h>

#include "cuda/pmb_cuda.cuh"

enum { ARRAYS = 8 };

/* Bytes of a part of a pinned array. */
static const size_t PIECE = 128 * 1024 * 1024;

/* Arrays, cut into parts. */
typedef struct cut_arrays {
  pmb_cuda_copy copies[ARRAYS];
  size_t first[ARRAYS]; /* part of each */
  int count;
  size_t bytes, part, parts;
  int awaited; /* arrays whose kernels the copies wait for */
} cut_arrays;

static void cut(cut_arrays *arrays, size_t part)
{
  arrays->part = part;
  for (int i = 0; i < arrays->count; ++i) {
    arrays->first[i] = arrays->parts;
    arrays->parts += (arrays->copies[i].bytes + part - 1) / part;
  }
}

/* Where part n lies in its array; its bytes. */
static size_t find_part(const cut_arrays *arrays, size_t n, int *array, size_t *at)
{
  int i = arrays->count - 1;
  while (n < arrays->first[i]) {
    --i;
  }
  const size_t left = arrays->copies[i].bytes - (n - arrays->first[i]) * arrays->part;
  *array = i;
  *at = (n - arrays->first[i]) * arrays->part;
  return left < arrays->part ? left : arrays->part;
}

/* Enqueues the copy of part n; `to` NULL: into its place. */
static cudaError_t send_for(pmb_cuda *cuda, cut_arrays *arrays, size_t n, void *to)
{
  int array;
  size_t at;
  const size_t bytes = find_part(arrays, n, &array, &at);
  const pmb_cuda_copy *copy = &arrays->copies[array];
  cudaError_t error = cudaSuccess;
  for (; arrays->awaited <= array && error == cudaSuccess; ++arrays->awaited) {
    error = cudaStreamWaitEvent(cuda->copy, arrays->copies[arrays->awaited].ready, 0);
  }
  return error != cudaSuccess ? error
                              : cudaMemcpyAsync(to ? to : (char *)copy->to + at, (const char *)copy->d_from + at,
                                  bytes, cudaMemcpyDeviceToHost, cuda->copy);
}

/* ---- ordinary arrays ---- */

typedef struct drain {
  pmb_cuda *cuda;
  cut_arrays arrays;
  pthread_mutex_t sending;
} drain;

static void send_into_ring(drain *d, size_t n)
{
  pthread_mutex_lock(&d->sending);
  pmb_cuda_ring_note(&d->cuda->ring, send_for(d->cuda, &d->arrays, n, pmb_cuda_ring_slot(&d->cuda->ring, n)));
  pmb_cuda_ring_sent(d->cuda, n);
  pthread_mutex_unlock(&d->sending);
}

static void drain_part(void *data, int, size_t n)
{
  drain *d = (drain *)data;
  const size_t next = n + (size_t)d->cuda->ring.slots;
  const char *slot = pmb_cuda_ring_slot(&d->cuda->ring, n);
  int array;
  size_t at;
  const size_t bytes = find_part(&d->arrays, n, &array, &at);
  const pmb_cuda_copy *copy = &d->arrays.copies[array];
  if (!pmb_cuda_ring_await(d->cuda, n)) {
    return;
  }
  if (copy->wide) {
    pmb_stream_ids((const uint32_t *)slot, (int64_t)(bytes / 4), copy->base, (int64_t *)((char *)copy->to + 2 * at));
  } else {
    memcpy((char *)copy->to + at, slot, bytes);
  }
  if (next < d->arrays.parts) {
    send_into_ring(d, next);
  }
}

/* Sends for the first part of each slot; they come when the pinned arrays have. */
static pmb_status send_first(pmb_cuda *cuda, drain *d)
{
  if (d->arrays.parts > 0) {
    PMB_CUDA_STEP(pmb_cuda_take_ring(cuda, d->arrays.part, d->arrays.parts));
    for (size_t n = 0; n < (size_t)cuda->ring.slots && !pmb_cuda_ring_failed(&cuda->ring); ++n) {
      send_into_ring(d, n);
    }
  }
  return PMB_OK;
}

static pmb_status download_others(pmb_cuda *cuda, drain *d)
{
  if (d->arrays.parts == 0) {
    return PMB_OK;
  }
  const int finished = pmb_crew_loop(&cuda->context->crew, d->arrays.parts, drain_part, d);
  if (pmb_cuda_ring_failed(&cuda->ring)) {
    return pmb_cuda_failed(cuda->context, (cudaError_t)cuda->ring.error, "download");
  }
  return finished ? PMB_OK : pmb_cuda_aborted(cuda);
}

/* ---- pinned arrays, and all ---- */

/* Sends the pinned parts, PMB_CUDA_SLOTS of which are under way at a time, and then for the first ones of other arrays. The
 * host's own work is done before the first is waited for. */
static pmb_status download_pinned(
  pmb_cuda *cuda, cut_arrays *pinned, drain *d, pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pmb_crew *crew = &cuda->context->crew;
  const double begin = crew->fraction_begin, length = crew->fraction_end - begin;
  for (size_t n = 0; n <= pinned->parts + PMB_CUDA_SLOTS; ++n) {
    const cudaEvent_t slot = cuda->done.slot[n % PMB_CUDA_SLOTS];
    if (n == pinned->parts) {
      PMB_CUDA_STEP(send_first(cuda, d));
    }
    if (n == PMB_CUDA_SLOTS && meanwhile) {
      PMB_CUDA_STEP(meanwhile(cuda, work));
    }
    if (n >= PMB_CUDA_SLOTS && n < pinned->parts + PMB_CUDA_SLOTS) {
      const size_t come = n - PMB_CUDA_SLOTS + 1;
      PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(slot));
      if (!pmb_crew_report(crew, begin + length * (double)come / (double)pinned->parts)) {
        return pmb_cuda_aborted(cuda);
      }
    }
    if (n < pinned->parts) {
      PMB_CUDA_STEP(pmb_cuda_check(cuda->context, send_for(cuda, pinned, n, NULL), "download"));
      PMB_CUDA_TRY(cuda->context, cudaEventRecord(slot, cuda->copy));
    }
  }
  return PMB_OK;
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pmb_crew *crew = &cuda->context->crew;
  const double begin = crew->fraction_begin, end = crew->fraction_end;
  cut_arrays pinned = {};
  drain d = {};
  d.cuda = cuda;
  for (int i = 0; i < count; ++i) { /* asked for once: the answer changes when any GPU's state is lost */
    cut_arrays *to = !copies[i].wide && pmb_cuda_is_pinned(copies[i].to, copies[i].bytes) ? &pinned : &d.arrays;
    to->copies[to->count++] = copies[i];
    to->bytes += copies[i].bytes;
  }
  cut(&pinned, PIECE);
  cut(&d.arrays, pmb_cuda_part_of(d.arrays.bytes));
  pthread_mutex_init(&d.sending, NULL);
  if (d.arrays.bytes > 0) {
    crew->fraction_end = begin + (double)pinned.bytes / (double)(pinned.bytes + d.arrays.bytes) * (end - begin);
  }
  pmb_status status = download_pinned(cuda, &pinned, &d, meanwhile, work);
  crew->fraction_begin = crew->fraction_end;
  crew->fraction_end = end;
  if (status == PMB_OK) {
    status = download_others(cuda, &d);
  }
  const cudaError_t error = cudaStreamSynchronize(cuda->copy); /* nothing may write to ring or arrays any more */
  pmb_cuda_give_ring(cuda);
  pthread_mutex_destroy(&d.sending);
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, "download") : status;
}
