/* SPDX-License-Identifier: BSD-3-Clause
 * The way between the host's arrays and the device: pinned arrays go at once, ordinary ones through a ring of pinned
 * slots that several host threads fill or empty while the copies run. */
#include "pmb_cuda.cuh"

/* Bytes that a thread handles at a time; where it may be the first to write to memory it has a huge page for itself, else
 * several threads would clear the same one. */
static const size_t PART = 256 * 1024, FRESH_PART = 2 * 1024 * 1024;
/* Bytes of a slot, up and down, and of a piece of a pinned array. */
static const size_t SLOT = 8 * 1024 * 1024, FRESH_SLOT = 32 * 1024 * 1024, PIECE = 128 * 1024 * 1024;

/* A slot's work on the host, in parts. */
typedef struct host_work {
  const pmb_volume *volume; /* packing, or NULL: a plain copy */
  int64_t pitch, begin;     /* packing: first element of the slot in the pitched volume */
  size_t size;
  const char *from;
  char *to;
  size_t bytes, part;
} host_work;

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
static void pack(const host_work *work, int64_t begin, int64_t end, char *to)
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

static void host_part(void *data, int worker, size_t i)
{
  const host_work *work = (const host_work *)data;
  const size_t at = i * work->part;
  const size_t bytes = work->bytes - at < work->part ? work->bytes - at : work->part;
  (void)worker;
  if (work->volume) {
    const int64_t begin = work->begin + (int64_t)(at / work->size);
    pack(work, begin, begin + (int64_t)(bytes / work->size), work->to + at);
  } else {
    memcpy(work->to + at, work->from + at, bytes);
  }
}

/* Does the work with all threads; `part` of the whole call is then done. */
static pmb_status run_host_work(
  pmb_cuda *cuda, host_work *work, void (*part)(void *, int, size_t), double begin, double end)
{
  pmb_crew *crew = &cuda->context->crew;
  const double all_begin = crew->fraction_begin, all_end = crew->fraction_end;
  crew->fraction_begin = all_begin + (all_end - all_begin) * begin;
  crew->fraction_end = all_begin + (all_end - all_begin) * end;
  const int finished =
    pmb_crew_loop(crew, &cuda->context->memory, (work->bytes + work->part - 1) / work->part, part, work);
  crew->fraction_begin = all_begin;
  crew->fraction_end = all_end;
  return finished ? PMB_OK : pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
}

static void touch_part(void *data, int, size_t i)
{
  const host_work *work = (const host_work *)data;
  for (size_t at = i * work->part; at < work->bytes && at < (i + 1) * work->part; at += 4096) {
    work->to[at] = 0;
  }
}

static void count_host_bytes(pmb_cuda *cuda, int64_t bytes)
{
  pmb_memory *memory = &cuda->context->memory;
  memory->bytes += bytes;
  memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
}

static void give_ring(pmb_cuda *cuda)
{
  if (cuda->ring) {
    count_host_bytes(cuda, -(int64_t)(PMB_CUDA_SLOTS * cuda->slot_bytes));
    pmb_cuda_host_give(cuda->ring);
    cuda->ring = NULL;
  }
}

/* Takes a ring for a transfer of `bytes`: small transfers take small ones. */
static pmb_status take_ring(pmb_cuda *cuda, size_t bytes, size_t largest)
{
  size_t slot = 64 * 1024;
  while (slot < largest && slot * PMB_CUDA_SLOTS < bytes) {
    slot *= 2;
  }
  cuda->slot_bytes = slot;
  cuda->ring = (char *)pmb_cuda_host_take(PMB_CUDA_SLOTS * slot);
  if (!cuda->ring) {
    return pmb_fail(cuda->context, PMB_OUT_OF_MEMORY, "no memory for a transfer's %zu bytes", PMB_CUDA_SLOTS * slot);
  }
  count_host_bytes(cuda, (int64_t)(PMB_CUDA_SLOTS * slot));
  if (!pmb_cuda_host_is_pinned(cuda->ring, PMB_CUDA_SLOTS * slot)) {
    host_work work = {};
    work.to = cuda->ring;
    work.bytes = PMB_CUDA_SLOTS * slot;
    work.part = FRESH_PART;
    pmb_status status = run_host_work(cuda, &work, touch_part, 0, 0);
    if (status == PMB_OK) {
      status = pmb_cuda_check(cuda->context, pmb_cuda_host_pin(cuda->ring, work.bytes), "pinning a transfer's ring");
    }
    if (status != PMB_OK) {
      give_ring(cuda);
      return status;
    }
  }
  return PMB_OK;
}

/* Fills slots and sends them to d_to; work.bytes etc. are set per slot. arrived: after every slot; may be NULL. */
static pmb_status send_slots(
  pmb_cuda *cuda, host_work work, size_t bytes, char *d_to, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices))
{
  pmb_status status = PMB_OK;
  const char *from = work.from;
  size_t at = 0;
  for (int n = 0; at < bytes && status == PMB_OK; ++n) {
    const int slot = n % PMB_CUDA_SLOTS;
    if (n >= PMB_CUDA_SLOTS) {
      PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(cuda->slot_done[slot]));
    }
    work.bytes = bytes - at < cuda->slot_bytes ? bytes - at : cuda->slot_bytes;
    work.begin = (int64_t)(at / work.size);
    work.from = from ? from + at : NULL;
    work.to = cuda->ring + slot * cuda->slot_bytes;
    status =
      run_host_work(cuda, &work, host_part, (double)at / (double)bytes, (double)(at + work.bytes) / (double)bytes);
    if (status == PMB_OK) {
      PMB_CUDA_TRY(
        cuda->context, cudaMemcpyAsync(d_to + at, work.to, work.bytes, cudaMemcpyHostToDevice, cuda->copy));
      PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->slot_done[slot], cuda->copy));
      at += work.bytes;
      if (arrived) {
        PMB_CUDA_TRY(cuda->context, cudaStreamWaitEvent(cuda->compute, cuda->slot_done[slot], 0));
        status = arrived(cuda, (int64_t)(at / work.size) / cuda->job.slice);
      }
    }
  }
  return status;
}

static pmb_status send(
  pmb_cuda *cuda, const host_work &work, size_t bytes, char *d_to, pmb_status (*arrived)(pmb_cuda *, int64_t))
{
  pmb_status status = take_ring(cuda, bytes, SLOT);
  if (status == PMB_OK) {
    status = send_slots(cuda, work, bytes, d_to, arrived);
    /* The ring goes back to the pool: nothing may read it any more, whatever has happened. */
    const cudaError_t error = cudaStreamSynchronize(cuda->copy);
    status = status == PMB_OK ? pmb_cuda_check(cuda->context, error, "upload") : status;
    give_ring(cuda);
  }
  return status;
}

pmb_status pmb_cuda_upload(pmb_cuda *cuda, void *d_samples, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices))
{
  const pmb_volume *volume = &cuda->context->volume;
  host_work work = {};
  work.volume = volume;
  work.pitch = cuda->job.pitch;
  work.size = pmb_type_size(volume->type);
  work.part = PART;
  return send(cuda, work, (size_t)(cuda->job.slice * volume->dims[2]) * work.size, (char *)d_samples, arrived);
}

pmb_status pmb_cuda_upload_array(pmb_cuda *cuda, const void *array, size_t bytes, void *d_array)
{
  host_work work = {};
  work.size = 1;
  work.part = PART;
  work.from = (const char *)array;
  return send(cuda, work, bytes, (char *)d_array, NULL);
}

/* ---- back ---- */

/* A transfer of several arrays piece by piece, all but the last few of them done. */
typedef struct pieces {
  const pmb_cuda_copy *copies;
  int count;
  int direct;    /* which arrays: 1 the pinned ones, 0 the others */
  size_t length; /* of a piece */
  int copy;      /* the next piece to send */
  size_t at;
  size_t bytes_done, bytes;
} pieces;

/* Moves to the next array that is to be sent; 0: there is none. */
static int next_array(pieces *p)
{
  while (p->copy < p->count) {
    const pmb_cuda_copy *c = &p->copies[p->copy];
    if (p->at < c->bytes && pmb_cuda_host_is_pinned(c->to, c->bytes) == p->direct) {
      return 1;
    }
    ++p->copy;
    p->at = 0;
  }
  return 0;
}

/* Sends the next piece; `work` says where it is to go from its slot. */
static pmb_status send_piece(pmb_cuda *cuda, pieces *p, int slot, host_work *work)
{
  const pmb_cuda_copy *c = &p->copies[p->copy];
  work->bytes = c->bytes - p->at < p->length ? c->bytes - p->at : p->length;
  work->size = 1;
  work->part = FRESH_PART;
  work->from = cuda->ring + slot * cuda->slot_bytes;
  work->to = (char *)c->to + p->at;
  if (p->at == 0) {
    PMB_CUDA_TRY(cuda->context, cudaStreamWaitEvent(cuda->copy, c->ready, 0));
  }
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(p->direct ? work->to : (void *)work->from, (const char *)c->d_from + p->at, work->bytes,
      cudaMemcpyDeviceToHost, cuda->copy));
  PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->slot_done[slot], cuda->copy));
  p->at += work->bytes;
  return PMB_OK;
}

/* Ends a piece: waits for it, and takes it out of its slot. */
static pmb_status finish_piece(pmb_cuda *cuda, pieces *p, int slot, host_work *work)
{
  PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(cuda->slot_done[slot]));
  const double begin = (double)p->bytes_done / (double)p->bytes;
  p->bytes_done += work->bytes;
  const double end = (double)p->bytes_done / (double)p->bytes;
  if (!p->direct) {
    return run_host_work(cuda, work, host_part, begin, end);
  }
  const pmb_crew *crew = &cuda->context->crew;
  const double place = crew->fraction_begin + end * (crew->fraction_end - crew->fraction_begin);
  return pmb_crew_report(&cuda->context->crew, place)
    ? PMB_OK
    : pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
}

/* All slots but one are in flight while the host empties one. */
static pmb_status bring_pieces(
  pmb_cuda *cuda, pieces *p, pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *own_work)
{
  host_work work[PMB_CUDA_SLOTS] = {};
  pmb_status status = PMB_OK;
  for (size_t sent = 0, done = 0; status == PMB_OK;) {
    while (status == PMB_OK && sent < done + PMB_CUDA_SLOTS && next_array(p)) {
      status = send_piece(cuda, p, (int)(sent % PMB_CUDA_SLOTS), &work[sent % PMB_CUDA_SLOTS]);
      ++sent;
    }
    if (meanwhile && status == PMB_OK) {
      status = meanwhile(cuda, own_work);
      meanwhile = NULL;
    }
    if (done == sent) {
      break;
    }
    if (status == PMB_OK) {
      status = finish_piece(cuda, p, (int)(done % PMB_CUDA_SLOTS), &work[done % PMB_CUDA_SLOTS]);
      ++done;
    }
  }
  const cudaError_t error = cudaStreamSynchronize(cuda->copy); /* nothing may write to the arrays any more */
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, "download") : status;
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work)
{
  pieces p = {};
  size_t ordinary = 0;
  p.copies = copies;
  p.count = count;
  for (int i = 0; i < count; ++i) {
    p.bytes += copies[i].bytes;
    ordinary += pmb_cuda_host_is_pinned(copies[i].to, copies[i].bytes) ? 0 : copies[i].bytes;
  }
  p.direct = 1;
  p.length = PIECE;
  pmb_status status = bring_pieces(cuda, &p, meanwhile, work);
  if (status == PMB_OK && ordinary > 0) {
    status = take_ring(cuda, ordinary, FRESH_SLOT);
    if (status == PMB_OK) {
      p.direct = 0;
      p.length = cuda->slot_bytes;
      p.copy = 0;
      p.at = 0;
      status = bring_pieces(cuda, &p, NULL, NULL);
      give_ring(cuda);
    }
  }
  return status;
}
