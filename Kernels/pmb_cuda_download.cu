/* SPDX-License-Identifier: BSD-3-Clause
 * The way back to the host: pinned arrays at once, ordinary ones through a ring of pinned slots. There a host thread takes
 * the next part of an array, waits until it is in its slot, puts it into its place, and sends for the part that comes into
 * the slot next. So threads wait for nothing but copies, while those that are the first to write to memory take long. */
#include <pthread.h>
#include <sched.h>

#include "pmb_cuda.cuh"

enum { ARRAYS = 8 };

/* Bytes of a piece of a pinned array. */
static const size_t PIECE = 128 * 1024 * 1024;
/* Bytes of a slot: a huge page, since several threads would clear the same one, or less of small meshes. */
static const size_t PART = PMB_CUDA_HUGE, SMALL_PART = 256 * 1024, SMALL = 16 * 1024 * 1024;

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
    status = is_pinned(&copies[i]) ? send_array(cuda, &copies[i], p) : PMB_OK;
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

/* Parts of all arrays, in order; part n goes through slot n modulo `slots`. */
typedef struct drain {
  pmb_cuda *cuda;
  pmb_cuda_copy copies[ARRAYS];
  size_t first[ARRAYS]; /* part of each */
  int count, slots;
  size_t part, parts;
  pthread_mutex_t sending;
  int awaited;                 /* arrays whose kernels the copies wait for */
  size_t sent[PMB_CUDA_PARTS]; /* 1 + the part that was sent for last, by slot; atomic */
  int error;                   /* cudaError_t; atomic */
} drain;

static int failed(const drain *d)
{
  return __atomic_load_n(&d->error, __ATOMIC_ACQUIRE) != cudaSuccess;
}

static void note_error(drain *d, cudaError_t error)
{
  error = pmb_cuda_faulty(error);
  if (error != cudaSuccess && !failed(d)) {
    __atomic_store_n(&d->error, (int)error, __ATOMIC_RELEASE);
  }
}

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

static char *slot_of(const drain *d, size_t n)
{
  return d->cuda->ring + n % (size_t)d->slots * d->part;
}

static void send_for(drain *d, size_t n)
{
  const int slot = (int)(n % (size_t)d->slots);
  int array;
  size_t at;
  const size_t bytes = find_part(d, n, &array, &at);
  const pmb_cuda_copy *copy = &d->copies[array];
  pthread_mutex_lock(&d->sending);
  for (; d->awaited <= array; ++d->awaited) {
    note_error(d, cudaStreamWaitEvent(d->cuda->copy, d->copies[d->awaited].ready, 0));
  }
  note_error(
    d, cudaMemcpyAsync(slot_of(d, n), (const char *)copy->d_from + at, bytes, cudaMemcpyDeviceToHost, d->cuda->copy));
  note_error(d, cudaEventRecord(d->cuda->part_done[slot], d->cuda->copy));
  pthread_mutex_unlock(&d->sending);
  __atomic_store_n(&d->sent[slot], n + 1, __ATOMIC_RELEASE);
}

static void drain_part(void *data, int, size_t n)
{
  drain *d = (drain *)data;
  const int slot = (int)(n % (size_t)d->slots);
  int array;
  size_t at;
  const size_t bytes = find_part(d, n, &array, &at);
  cudaSetDevice(d->cuda->device); /* of this thread */
  while (__atomic_load_n(&d->sent[slot], __ATOMIC_ACQUIRE) != n + 1) {
    if (failed(d)) {
      return; /* whoever had the slot before may not have sent for this part */
    }
    sched_yield();
  }
  note_error(d, cudaEventSynchronize(d->cuda->part_done[slot]));
  if (!failed(d)) {
    memcpy((char *)d->copies[array].to + at, slot_of(d, n), bytes);
    if (n + (size_t)d->slots < d->parts) {
      send_for(d, n + (size_t)d->slots);
    }
  }
}

/* Twice as many slots as threads, so that copies are under way while all of them write. */
static int slots_for(const pmb_crew *crew, size_t parts)
{
  const int most = crew->workers < 4 ? 8 : crew->workers < PMB_CUDA_PARTS / 2 ? 2 * crew->workers : PMB_CUDA_PARTS;
  return parts < (size_t)most ? (int)parts : most;
}

static pmb_status bring_ordinary(pmb_cuda *cuda, drain *d)
{
  pmb_crew *crew = &cuda->context->crew;
  d->slots = slots_for(crew, d->parts);
  pmb_status status = pmb_cuda_take_ring(cuda, (size_t)d->slots * d->part);
  if (status != PMB_OK) {
    return status;
  }
  pthread_mutex_init(&d->sending, NULL);
  for (size_t n = 0; n < (size_t)d->slots && !failed(d); ++n) {
    send_for(d, n);
  }
  const int finished = pmb_crew_loop(crew, &cuda->context->memory, d->parts, drain_part, d);
  pthread_mutex_destroy(&d->sending);
  if (failed(d)) {
    status = pmb_cuda_failed(cuda->context, (cudaError_t)d->error, "download");
  } else if (!finished) {
    status = pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
  }
  return status;
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end;
  size_t all = 0, ordinary = 0;
  drain d = {};
  d.cuda = cuda;
  for (int i = 0; i < count; ++i) {
    all += copies[i].bytes;
    if (!is_pinned(&copies[i])) {
      ordinary += copies[i].bytes;
      d.copies[d.count++] = copies[i];
    }
  }
  d.part = ordinary < SMALL ? SMALL_PART : PART;
  for (int i = 0; i < d.count; ++i) {
    d.first[i] = d.parts;
    d.parts += (d.copies[i].bytes + d.part - 1) / d.part;
  }
  if (ordinary > 0) {
    crew->fraction_end = crew->fraction_begin + (double)(all - ordinary) / (double)all * (end - crew->fraction_begin);
  }
  pieces p = { 0, 0, all - ordinary, meanwhile, work };
  pmb_status status = bring_pinned(cuda, copies, count, &p);
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
