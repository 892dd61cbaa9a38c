/* SPDX-License-Identifier: BSD-3-Clause
 * The way back to the host: pinned arrays at once, then, through the ring, ordinary ones and ids that are to become wide. There
 * a host thread takes the next part of an array, waits until it is in its slot, puts it into its place, and sends for the part
 * that comes into the slot next. */
#include <pthread.h>

#include "cuda/pmb_cuda.cuh"

enum { ARRAYS = 8 };

/* Bytes of a piece of a pinned array. */
static const size_t PIECE = 128 * 1024 * 1024;

static int goes_to_pinned(const pmb_cuda_copy *copy)
{
  return !copy->wide && pmb_cuda_is_pinned(copy->to, copy->bytes);
}

/* ---- pinned arrays ---- */

/* Pinned arrays on their way. */
typedef struct pieces {
  size_t sent;                                         /* pieces */
  size_t bytes_sent, bytes;                            /* of all pinned arrays */
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work); /* to be done yet, or NULL */
  void *work;
} pieces;

static pmb_status do_meanwhile(pmb_cuda *cuda, pieces *p)
{
  pmb_status (*const meanwhile)(pmb_cuda *, void *) = p->meanwhile;
  p->meanwhile = NULL;
  return meanwhile ? meanwhile(cuda, p->work) : PMB_OK;
}

static pmb_status finish_piece(pmb_cuda *cuda, const pieces *p, int slot)
{
  const pmb_crew *crew = &cuda->context->crew;
  PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(cuda->done.slot[slot]));
  const double done = (double)p->bytes_sent / (double)p->bytes;
  const double place = crew->fraction_begin + done * (crew->fraction_end - crew->fraction_begin);
  return pmb_crew_report(&cuda->context->crew, place)
    ? PMB_OK
    : pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
}

/* Sends a pinned array, all but the last pieces of which have then come. */
static pmb_status send_array(pmb_cuda *cuda, const pmb_cuda_copy *copy, pieces *p)
{
  PMB_CUDA_TRY(cuda->context, cudaStreamWaitEvent(cuda->copy, copy->ready, 0));
  pmb_status status = PMB_OK;
  for (size_t at = 0; at < copy->bytes && status == PMB_OK; at += PIECE) {
    const int slot = (int)(p->sent % PMB_CUDA_SLOTS);
    const size_t bytes = copy->bytes - at < PIECE ? copy->bytes - at : PIECE;
    if (p->sent >= PMB_CUDA_SLOTS) {
      status = do_meanwhile(cuda, p);
      status = status == PMB_OK ? finish_piece(cuda, p, slot) : status;
    }
    if (status == PMB_OK) {
      PMB_CUDA_TRY(cuda->context,
        cudaMemcpyAsync(
          (char *)copy->to + at, (const char *)copy->d_from + at, bytes, cudaMemcpyDeviceToHost, cuda->copy));
      PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->done.slot[slot], cuda->copy));
      p->bytes_sent += bytes;
      ++p->sent;
    }
  }
  return status;
}

/* Waits for what has been sent, and has the other work done. */
static pmb_status finish_pinned(pmb_cuda *cuda, pieces *p)
{
  pmb_status status = do_meanwhile(cuda, p);
  for (int i = 0; i < PMB_CUDA_SLOTS && (size_t)i < p->sent && status == PMB_OK; ++i) {
    status = finish_piece(cuda, p, i);
  }
  return status;
}

/* ---- other arrays ---- */

/* Parts of all arrays, in order. */
typedef struct drain {
  pmb_cuda *cuda;
  pmb_cuda_copy copies[ARRAYS];
  size_t first[ARRAYS]; /* part of each */
  int count;
  size_t bytes, part, parts;
  pthread_mutex_t sending;
  int awaited; /* arrays whose kernels the copies wait for */
} drain;

/* Where part n lies in its array; its bytes. */
static size_t find_part(const drain *d, size_t n, int *array, size_t *at)
{
  int i = d->count - 1;
  while (n < d->first[i]) {
    --i;
  }
  const size_t left = d->copies[i].bytes - (n - d->first[i]) * d->part;
  *array = i;
  *at = (n - d->first[i]) * d->part;
  return left < d->part ? left : d->part;
}

static void send_for(drain *d, size_t n)
{
  pmb_cuda *cuda = d->cuda;
  int array;
  size_t at;
  const size_t bytes = find_part(d, n, &array, &at);
  const char *d_from = (const char *)d->copies[array].d_from + at;
  pthread_mutex_lock(&d->sending);
  for (; d->awaited <= array; ++d->awaited) {
    pmb_cuda_ring_note(&cuda->ring, cudaStreamWaitEvent(cuda->copy, d->copies[d->awaited].ready, 0));
  }
  pmb_cuda_ring_note(&cuda->ring,
    cudaMemcpyAsync(pmb_cuda_ring_slot(&cuda->ring, n), d_from, bytes, cudaMemcpyDeviceToHost, cuda->copy));
  pmb_cuda_ring_sent(cuda, n);
  pthread_mutex_unlock(&d->sending);
}

/* Puts a part that has come into its place. */
static void put_part(const pmb_cuda_copy *copy, const char *from, size_t at, size_t bytes)
{
  if (copy->wide) {
    pmb_stream_ids((const uint32_t *)from, (int64_t)(bytes / 4), copy->base, (int64_t *)((char *)copy->to + 2 * at));
  } else {
    memcpy((char *)copy->to + at, from, bytes);
  }
}

static void drain_part(void *data, int, size_t n)
{
  drain *d = (drain *)data;
  const size_t next = n + (size_t)d->cuda->ring.slots;
  int array;
  size_t at;
  const size_t bytes = find_part(d, n, &array, &at);
  if (pmb_cuda_ring_await(d->cuda, n)) {
    put_part(&d->copies[array], pmb_cuda_ring_slot(&d->cuda->ring, n), at, bytes);
    if (next < d->parts) {
      send_for(d, next);
    }
  }
}

/* Sends for the first part of each slot; they come when the pinned arrays have. */
static pmb_status send_first(pmb_cuda *cuda, drain *d)
{
  const pmb_status status = pmb_cuda_take_ring(cuda, d->part, d->parts);
  for (size_t n = 0; status == PMB_OK && n < (size_t)cuda->ring.slots && !pmb_cuda_ring_failed(&cuda->ring); ++n) {
    send_for(d, n);
  }
  return status;
}

static pmb_status bring_others(pmb_cuda *cuda, drain *d)
{
  const int finished = pmb_crew_loop(&cuda->context->crew, d->parts, drain_part, d);
  if (pmb_cuda_ring_failed(&cuda->ring)) {
    return pmb_cuda_failed(cuda->context, (cudaError_t)cuda->ring.error, "download");
  }
  return finished ? PMB_OK : pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
}

/* Sorts the arrays into those that come at once and the others. Returns how many come at once. */
static int sort_copies(const pmb_cuda_copy *copies, int count, pmb_cuda_copy *pinned, pieces *p, drain *d)
{
  size_t ordinary = 0;
  int n = 0;
  for (int i = 0; i < count; ++i) {
    if (goes_to_pinned(&copies[i])) { /* asked for once: the answer changes when any GPU's state is lost */
      p->bytes += copies[i].bytes;
      pinned[n++] = copies[i];
    } else {
      ordinary += copies[i].bytes;
      d->copies[d->count++] = copies[i];
    }
  }
  d->part = pmb_cuda_part_of(ordinary);
  d->bytes = ordinary;
  for (int i = 0; i < d->count; ++i) {
    d->first[i] = d->parts;
    d->parts += (d->copies[i].bytes + d->part - 1) / d->part;
  }
  return n;
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pmb_crew *crew = &cuda->context->crew;
  const double begin = crew->fraction_begin, end = crew->fraction_end;
  pmb_cuda_copy pinned[ARRAYS];
  pieces p = { 0, 0, 0, meanwhile, work };
  drain d = {};
  d.cuda = cuda;
  const int pinned_count = sort_copies(copies, count, pinned, &p, &d);
  pmb_status status = PMB_OK;
  pthread_mutex_init(&d.sending, NULL);
  if (d.bytes > 0) {
    crew->fraction_end = begin + (double)p.bytes / (double)(p.bytes + d.bytes) * (end - begin);
  }
  for (int i = 0; i < pinned_count && status == PMB_OK; ++i) {
    status = send_array(cuda, &pinned[i], &p);
  }
  if (status == PMB_OK && d.bytes > 0) {
    status = send_first(cuda, &d);
  }
  if (status == PMB_OK) {
    status = finish_pinned(cuda, &p);
  }
  if (d.bytes > 0) {
    crew->fraction_begin = crew->fraction_end;
    crew->fraction_end = end;
  }
  if (status == PMB_OK && d.bytes > 0) {
    status = bring_others(cuda, &d);
  }
  const cudaError_t error = cudaStreamSynchronize(cuda->copy); /* nothing may write to ring or arrays any more */
  pmb_cuda_give_ring(cuda);
  pthread_mutex_destroy(&d.sending);
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, "download") : status;
}
