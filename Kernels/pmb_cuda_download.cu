/* SPDX-License-Identifier: BSD-3-Clause
 * The way back to the host: pinned arrays at once, ordinary ones through the ring. There a host thread takes the next part
 * of an array, waits until it is in its slot, puts it into its place, and sends for the part that comes into the slot
 * next. */
#include <pthread.h>

#include "pmb_cuda.cuh"

enum { ARRAYS = 8 };

/* Bytes of a piece of a pinned array. */
static const size_t PIECE = 128 * 1024 * 1024;

static int is_pinned(const pmb_cuda_copy *copy)
{
  return pmb_cuda_host_is_pinned(copy->to, copy->bytes);
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
  PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(cuda->slot_done[slot]));
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
      PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->slot_done[slot], cuda->copy));
      p->bytes_sent += bytes;
      ++p->sent;
    }
  }
  return status;
}

static pmb_status bring_pinned(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count, pieces *p)
{
  pmb_status status = PMB_OK;
  for (int i = 0; i < count && status == PMB_OK; ++i) {
    status = send_array(cuda, &copies[i], p);
  }
  if (status == PMB_OK) {
    status = do_meanwhile(cuda, p);
  }
  for (int i = 0; i < PMB_CUDA_SLOTS && (size_t)i < p->sent && status == PMB_OK; ++i) {
    status = finish_piece(cuda, p, i);
  }
  return status;
}

/* ---- ordinary arrays ---- */

/* Parts of all arrays, in order. */
typedef struct drain {
  pmb_cuda *cuda;
  pmb_cuda_copy copies[ARRAYS];
  size_t first[ARRAYS]; /* part of each */
  int count;
  size_t part, parts;
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

static void drain_part(void *data, int, size_t n)
{
  drain *d = (drain *)data;
  const size_t next = n + (size_t)d->cuda->ring.slots;
  int array;
  size_t at;
  const size_t bytes = find_part(d, n, &array, &at);
  if (pmb_cuda_ring_await(d->cuda, n)) {
    memcpy((char *)d->copies[array].to + at, pmb_cuda_ring_slot(&d->cuda->ring, n), bytes);
    if (next < d->parts) {
      send_for(d, next);
    }
  }
}

static pmb_status bring_ordinary(pmb_cuda *cuda, drain *d)
{
  pmb_status status = pmb_cuda_take_ring(cuda, d->part, d->parts);
  if (status != PMB_OK) {
    return status;
  }
  pthread_mutex_init(&d->sending, NULL);
  for (size_t n = 0; n < (size_t)cuda->ring.slots && !pmb_cuda_ring_failed(&cuda->ring); ++n) {
    send_for(d, n);
  }
  const int finished = pmb_crew_loop(&cuda->context->crew, &cuda->context->memory, d->parts, drain_part, d);
  pthread_mutex_destroy(&d->sending);
  if (pmb_cuda_ring_failed(&cuda->ring)) {
    return pmb_cuda_failed(cuda->context, (cudaError_t)cuda->ring.error, "download");
  }
  return finished ? PMB_OK : pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end;
  size_t all = 0, ordinary = 0;
  drain d = {};
  pmb_cuda_copy pinned[ARRAYS];
  int pinned_count = 0;
  d.cuda = cuda;
  for (int i = 0; i < count; ++i) {
    all += copies[i].bytes;
    if (is_pinned(&copies[i])) { /* asked for once: the answer changes when any GPU's state is lost */
      pinned[pinned_count++] = copies[i];
    } else {
      ordinary += copies[i].bytes;
      d.copies[d.count++] = copies[i];
    }
  }
  d.part = pmb_cuda_part_of(ordinary);
  for (int i = 0; i < d.count; ++i) {
    d.first[i] = d.parts;
    d.parts += (d.copies[i].bytes + d.part - 1) / d.part;
  }
  if (ordinary > 0) {
    crew->fraction_end = crew->fraction_begin + (double)(all - ordinary) / (double)all * (end - crew->fraction_begin);
  }
  pieces p = { 0, 0, all - ordinary, meanwhile, work };
  pmb_status status = bring_pinned(cuda, pinned, pinned_count, &p);
  if (ordinary > 0) {
    crew->fraction_begin = crew->fraction_end;
    crew->fraction_end = end;
  }
  if (status == PMB_OK && ordinary > 0) {
    status = bring_ordinary(cuda, &d);
  }
  const cudaError_t error = cudaStreamSynchronize(cuda->copy); /* nothing may write to ring or arrays any more */
  pmb_cuda_give_ring(cuda);
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, "download") : status;
}
