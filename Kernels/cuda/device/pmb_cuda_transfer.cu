/* SPDX-License-Identifier: BSD-3-Clause
 * Transfers between host and device.
 *
 * The parts of a transfer go through the slots of a pinned ring in turn. Each host thread takes the next part. In an upload it
 * waits until the slot is free, fills it, and enqueues the copy. In a download it waits for the copy, empties the slot, and
 * enqueues the next copy into it. Threads wait for copies only. Pinned arrays, of the pool or the caller's, are read and written
 * directly, in larger parts. */
#include <pthread.h>
#include <sched.h>

#include "cuda/pmb_cuda.cuh"

enum { ARRAYS = 8, PAGE = 4096 };

/* Bytes of a part of a pinned array. */
static const size_t DIRECT_PART = 8 * 1024 * 1024;

typedef struct transfer {
  pmb_cuda *cuda;
  const char *name; /* in error messages */
  cudaMemcpyKind kind;
  const pmb_volume *volume;     /* to pack into the first array, or NULL */
  const uint32_t *bricks;       /* those to pack, or NULL: all samples */
  pmb_cuda_copy copies[ARRAYS]; /* first those of pinned arrays */
  size_t first[ARRAYS];         /* part of each */
  int count, direct;            /* arrays; pinned arrays */
  int awaited;                  /* arrays for whose kernels the copy stream waits */
  pthread_mutex_t sending;
  char *ring;
  size_t bytes, part, parts;   /* bytes of the ring; bytes of a part there; number of parts */
  int slots;                   /* most parts in flight */
  int error;                   /* the first cudaError_t; atomic */
  size_t sent[PMB_CUDA_PARTS]; /* by slot: 1 + the part sent last; atomic */
} transfer;

/* The place of a part. */
typedef struct place {
  int array;
  size_t at, bytes; /* in the array */
} place;

static place place_of(const transfer *t, size_t n)
{
  place p = { t->count - 1, 0, 0 };
  while (n < t->first[p.array]) {
    --p.array;
  }
  const size_t part = p.array < t->direct ? DIRECT_PART : t->part;
  p.at = (n - t->first[p.array]) * part;
  const size_t left = t->copies[p.array].bytes - p.at;
  p.bytes = left < part ? left : part;
  return p;
}

static char *slot_of(const transfer *t, size_t n)
{
  return t->ring + n % (size_t)t->slots * t->part;
}

static int has_failed(const transfer *t)
{
  return __atomic_load_n(&t->error, __ATOMIC_ACQUIRE) != cudaSuccess;
}

/* Keeps the first error. */
static void note(transfer *t, cudaError_t error)
{
  error = pmb_cuda_result(error);
  if (error != cudaSuccess && !has_failed(t)) {
    __atomic_store_n(&t->error, (int)error, __ATOMIC_RELEASE);
  }
}

/* Enqueues the copy of part n. */
static void send(transfer *t, size_t n)
{
  const cudaStream_t stream = t->cuda->copy;
  const size_t slot = n % (size_t)t->slots;
  const place p = place_of(t, n);
  char *host = p.array < t->direct ? (char *)t->copies[p.array].host + p.at : slot_of(t, n);
  char *d_array = (char *)t->copies[p.array].d_array + p.at;
  const int up = t->kind == cudaMemcpyHostToDevice;
  pthread_mutex_lock(&t->sending);
  cudaSetDevice(t->cuda->device); /* of this thread */
  for (; t->awaited <= p.array; ++t->awaited) {
    if (t->copies[t->awaited].ready) {
      note(t, cudaStreamWaitEvent(stream, t->copies[t->awaited].ready, 0));
    }
  }
  note(t, cudaMemcpyAsync(up ? d_array : host, up ? host : d_array, p.bytes, t->kind, stream));
  note(t, cudaEventRecord(t->cuda->done.part[slot], stream));
  __atomic_store_n(&t->sent[slot], n + 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&t->sending);
}

/* Waits for the copy of part n. Returns 0 if the transfer has failed. */
static int await(transfer *t, size_t n)
{
  const size_t slot = n % (size_t)t->slots;
  while (__atomic_load_n(&t->sent[slot], __ATOMIC_ACQUIRE) != n + 1) {
    if (has_failed(t)) {
      return 0; /* it may never be sent */
    }
    sched_yield();
  }
  cudaSetDevice(t->cuda->device); /* of this thread */
  note(t, cudaEventSynchronize(t->cuda->done.part[slot]));
  return !has_failed(t);
}

/* ---- the host's side of a part ---- */

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

/* Packs samples begin to end - 1 of the volume, in rows of `pitch`; repeats the last sample of a row up to there. */
static void pack(const pmb_volume *v, int64_t pitch, int64_t begin, int64_t end, char *to)
{
  const size_t size = pmb_type_size(v->type);
  while (begin < end) {
    const int64_t row = begin / pitch, i = begin % pitch;
    const int64_t n = end - begin < pitch - i ? end - begin : pitch - i;
    const int64_t samples = i < v->dims[0] ? (v->dims[0] - i < n ? v->dims[0] - i : n) : 0;
    const char *from = (const char *)v->samples +
      (row % v->dims[1] * v->strides[1] + row / v->dims[1] * v->strides[2]) * (int64_t)size;
    copy_row(to, from + i * v->strides[0] * (int64_t)size, samples, v->strides[0], size);
    copy_row(
      to + (size_t)samples * size, from + (v->dims[0] - 1) * v->strides[0] * (int64_t)size, n - samples, 0, size);
    to += (size_t)n * size;
    begin += n;
  }
}

/* Packs bricks begin to end - 1 of a list, brick after brick; samples beyond the volume repeat its border. */
static void pack_bricks(const transfer *t, int64_t begin, int64_t end, char *to)
{
  const pmb_volume *v = t->volume;
  const int64_t size = (int64_t)pmb_type_size(v->type);
  const uint32_t *bricks = t->cuda->job.bricks;
  for (int64_t n = begin; n < end; ++n) {
    const uint32_t b = t->bricks[n], row = b / bricks[0];
    const int64_t x = (int64_t)(b % bricks[0]) * PMB_BRICK_X, y = (int64_t)(row % bricks[1]) * PMB_BRICK_Y;
    const int64_t z = (int64_t)(row / bricks[1]) * PMB_BRICK_Z, columns = pmb_smaller(v->dims[0] - x, PMB_BRICK_X);
    for (int r = 0; r < PMB_BRICK_ROWS; ++r) {
      const int64_t j = pmb_smaller(y + r % PMB_BRICK_Y, v->dims[1] - 1);
      const int64_t k = pmb_smaller(z + r / PMB_BRICK_Y, v->dims[2] - 1);
      const char *from =
        (const char *)v->samples + (x * v->strides[0] + j * v->strides[1] + k * v->strides[2]) * size;
      copy_row(to, from, columns, v->strides[0], (size_t)size);
      copy_row(
        to + columns * size, from + (columns - 1) * v->strides[0] * size, PMB_BRICK_X - columns, 0, (size_t)size);
      to += PMB_BRICK_X * size;
    }
  }
}

/* Whether the samples have the device's layout on the host. */
static int is_packed(const pmb_volume *v, int64_t pitch)
{
  return v->strides[0] == 1 && pitch == v->dims[0] && v->strides[1] == pitch && v->strides[2] == pitch * v->dims[1];
}

static void fill_slot(const transfer *t, size_t n)
{
  const place p = place_of(t, n);
  if (p.array == 0 && t->volume) {
    const size_t size = pmb_type_size(t->volume->type), of_brick = size * PMB_BRICK_SAMPLES;
    if (t->bricks) {
      pack_bricks(t, (int64_t)(p.at / of_brick), (int64_t)((p.at + p.bytes) / of_brick), slot_of(t, n));
      return;
    }
    pack(t->volume, t->cuda->job.pitch, (int64_t)(p.at / size), (int64_t)((p.at + p.bytes) / size), slot_of(t, n));
  } else {
    memcpy(slot_of(t, n), (const char *)t->copies[p.array].host + p.at, p.bytes);
  }
}

static void empty_slot(const transfer *t, size_t n)
{
  const place p = place_of(t, n);
  const pmb_cuda_copy *copy = &t->copies[p.array];
  if (copy->wide) {
    pmb_stream_ids((const uint32_t *)slot_of(t, n), (int64_t)(p.bytes / 4), copy->base,
      (int64_t *)((char *)copy->host + 2 * p.at));
  } else if (p.array >= t->direct) {
    memcpy((char *)copy->host + p.at, slot_of(t, n), p.bytes);
  }
}

static void move_part(void *data, int, size_t n)
{
  transfer *t = (transfer *)data;
  const size_t slots = (size_t)t->slots;
  if (t->kind == cudaMemcpyHostToDevice) {
    if (n < slots || await(t, n - slots)) {
      if (place_of(t, n).array >= t->direct) {
        fill_slot(t, n);
      }
      send(t, n);
    }
  } else if (await(t, n)) {
    empty_slot(t, n);
    if (n + slots < t->parts) {
      send(t, n + slots);
    }
  }
}

/* ---- the ring ---- */

static void count_host_bytes(pmb_cuda *cuda, int64_t bytes)
{
  pmb_memory *memory = &cuda->context->memory;
  memory->bytes += bytes;
  memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
}

/* Writes to each page of a slot. */
static void touch_slot(void *data, int, size_t n)
{
  const transfer *t = (const transfer *)data;
  for (size_t at = 0; at < t->part; at += PAGE) {
    slot_of(t, n)[at] = 0;
  }
}

pmb_status pmb_cuda_loop_silently(pmb_cuda *cuda, int64_t count, pmb_body *body, void *arg)
{
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end;
  crew->fraction_end = crew->fraction_begin;
  const pmb_status status = pmb_loop(cuda->context, count, body, arg);
  crew->fraction_end = end;
  return status;
}

/* Cuts the arrays into parts and takes a ring for them. A part is a huge page, so that no two threads clear the same one, or less
 * in small transfers. There are twice as many slots as threads, so that copies run while all threads write. */
static pmb_status take_ring(transfer *t)
{
  const int workers = t->cuda->context->crew.workers;
  size_t bytes = 0;
  for (int i = t->direct; i < t->count; ++i) {
    bytes += t->copies[i].bytes;
  }
  t->part = bytes < (size_t)8 * PMB_CUDA_HUGE ? PMB_CUDA_HUGE / 8 : PMB_CUDA_HUGE;
  for (int i = 0; i < t->count; ++i) {
    const size_t part = i < t->direct ? DIRECT_PART : t->part;
    t->first[i] = t->parts;
    t->parts += (t->copies[i].bytes + part - 1) / part;
  }
  t->slots = workers < 4 ? 8 : workers < PMB_CUDA_PARTS / 2 ? 2 * workers : PMB_CUDA_PARTS;
  t->slots = t->parts < (size_t)t->slots ? (int)t->parts : t->slots;
  t->bytes = bytes > 0 ? (size_t)t->slots * t->part : 0;
  if (bytes == 0) {
    return PMB_OK;
  }
  t->ring = (char *)pmb_host_allocate(t->bytes);
  PMB_FAIL_IF(!t->ring, t->cuda->context, PMB_OUT_OF_MEMORY, "no memory for a transfer (%zu bytes)", t->bytes);
  count_host_bytes(t->cuda, (int64_t)t->bytes);
  /* All threads clear fresh pages, since pinning them would do that in one. */
  PMB_STEP(pmb_cuda_loop_silently(t->cuda, t->slots, touch_slot, t));
  return pmb_cuda_check(t->cuda->context, pmb_cuda_pin(t->ring, t->bytes), "pinning a transfer's ring");
}

/* ---- a transfer ---- */

/* Moves all parts. The host does its own work while the first copies run. Without a ring one thread is enough to wait. */
static pmb_status move_parts(transfer *t, pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pmb_crew *crew = &t->cuda->context->crew;
  PMB_STEP(take_ring(t));
  for (size_t n = 0; t->kind == cudaMemcpyDeviceToHost && n < (size_t)t->slots; ++n) {
    send(t, n);
  }
  if (meanwhile) {
    PMB_STEP(meanwhile(t->cuda, work));
  }
  const int finished =
    t->ring ? pmb_crew_loop(crew, t->parts, move_part, t) : pmb_crew_loop_apart(crew, 1, t->parts, move_part, t);
  if (has_failed(t)) {
    return pmb_cuda_failed(t->cuda->context, (cudaError_t)t->error, t->name);
  }
  return finished ? PMB_OK : pmb_aborted(t->cuda->context);
}

static pmb_status run(transfer *t, pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pthread_mutex_init(&t->sending, NULL);
  const pmb_status status = move_parts(t, meanwhile, work);
  const cudaError_t error = cudaStreamSynchronize(t->cuda->copy); /* copies no longer use the ring or the arrays */
  pthread_mutex_destroy(&t->sending);
  if (t->ring) {
    count_host_bytes(t->cuda, -(int64_t)t->bytes);
    pmb_host_release(t->ring);
  }
  return status == PMB_OK ? pmb_cuda_check(t->cuda->context, error, t->name) : status;
}

/* Adds the arrays, first the pinned ones if `direct`. */
static void add_arrays(transfer *t, const pmb_cuda_copy *copies, int count, int direct)
{
  int pinned[ARRAYS] = {};
  for (int i = 0; i < count && direct; ++i) {
    pinned[i] = !copies[i].wide && pmb_cuda_is_pinned(copies[i].host, copies[i].bytes);
    t->direct += pinned[i];
  }
  for (int is_first = 1; is_first >= 0; --is_first) {
    for (int i = 0; i < count; ++i) {
      if (pinned[i] == is_first) {
        t->copies[t->count++] = copies[i];
      }
    }
  }
}

pmb_status pmb_cuda_upload(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count, const pmb_volume *volume)
{
  transfer t = {};
  t.cuda = cuda;
  t.name = "upload";
  t.kind = cudaMemcpyHostToDevice;
  t.volume = volume && !is_packed(volume, cuda->job.pitch) ? volume : NULL;
  add_arrays(&t, copies, count, !t.volume);
  return run(&t, NULL, NULL);
}

pmb_status pmb_cuda_upload_bricks(pmb_cuda *cuda, const uint32_t *bricks, int64_t count, void *d_to)
{
  transfer t = {};
  t.cuda = cuda;
  t.name = "upload of bricks";
  t.kind = cudaMemcpyHostToDevice;
  t.volume = &cuda->context->volume;
  t.bricks = bricks;
  t.count = 1;
  t.copies[0].d_array = d_to;
  t.copies[0].bytes = (size_t)count * PMB_BRICK_SAMPLES * pmb_type_size(t.volume->type);
  return run(&t, NULL, NULL);
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  transfer t = {};
  t.cuda = cuda;
  t.name = "download";
  t.kind = cudaMemcpyDeviceToHost;
  add_arrays(&t, copies, count, 1);
  return run(&t, meanwhile, work);
}

/* The peer's stream reads this GPU's memory: what another GPU may write to need not be open to this one, as OpenGL's buffers. */
static cudaError_t enqueue_at_peer(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count)
{
  const pmb_cuda *peer = cuda->peer;
  cudaError_t error = cudaSetDevice(peer->device);
  cudaDeviceEnablePeerAccess(cuda->device, 0); /* where there is no link, or it is open: CUDA knows the way */
  cudaGetLastError();
  for (int i = 0; i < count && error == cudaSuccess; ++i) {
    error = cudaStreamWaitEvent(peer->copy, copies[i].ready, 0);
    if (error == cudaSuccess) {
      error = cudaMemcpyPeerAsync(
        copies[i].host, peer->device, copies[i].d_array, cuda->device, copies[i].bytes, peer->copy);
    }
  }
  return error;
}

pmb_status pmb_cuda_copy_to_peer(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count)
{
  const cudaError_t enqueued = enqueue_at_peer(cuda, copies, count);
  const cudaError_t waited = cudaStreamSynchronize(cuda->peer->copy); /* it no longer uses the arrays */
  const pmb_status status =
    pmb_cuda_check(cuda->context, enqueued == cudaSuccess ? waited : enqueued, "copy to another GPU");
  const cudaError_t error = cudaSetDevice(cuda->device);
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, "cudaSetDevice") : status;
}
