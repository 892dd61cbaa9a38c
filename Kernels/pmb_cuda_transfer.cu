/* SPDX-License-Identifier: BSD-3-Clause
 * The way to the device: through a ring of pinned slots that several host threads fill while the copies run. */
#include "pmb_cuda.cuh"

/* Bytes that a thread handles at a time, and those of a slot. */
static const size_t PART = 256 * 1024, SLOT = 8 * 1024 * 1024;

/* A slot's work on the host, in parts. */
typedef struct host_work {
  const pmb_volume *volume; /* packing, or NULL: a plain copy */
  int64_t pitch, begin;     /* packing: first element of the slot in the pitched volume */
  size_t size;
  const char *from;
  char *to;
  size_t bytes;
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
  const size_t at = i * PART;
  const size_t bytes = work->bytes - at < PART ? work->bytes - at : PART;
  (void)worker;
  if (work->volume) {
    const int64_t begin = work->begin + (int64_t)(at / work->size);
    pack(work, begin, begin + (int64_t)(bytes / work->size), work->to + at);
  } else {
    memcpy(work->to + at, work->from + at, bytes);
  }
}

/* Fills a slot with all threads; `end` of the whole call is then done. */
static pmb_status fill_slot(pmb_cuda *cuda, host_work *work, double begin, double end)
{
  pmb_crew *crew = &cuda->context->crew;
  const double all_begin = crew->fraction_begin, all_end = crew->fraction_end;
  crew->fraction_begin = all_begin + (all_end - all_begin) * begin;
  crew->fraction_end = all_begin + (all_end - all_begin) * end;
  const int finished = pmb_crew_loop(crew, &cuda->context->memory, (work->bytes + PART - 1) / PART, host_part, work);
  crew->fraction_begin = all_begin;
  crew->fraction_end = all_end;
  return finished ? PMB_OK : pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
}

/* A huge page is touched by one thread. */
static void touch_page(void *data, int, size_t i)
{
  pmb_cuda *cuda = (pmb_cuda *)data;
  for (size_t at = i * PMB_CUDA_HUGE; at < cuda->ring_bytes && at < (i + 1) * PMB_CUDA_HUGE; at += 4096) {
    cuda->ring[at] = 0;
  }
}

static void count_host_bytes(pmb_cuda *cuda, int64_t bytes)
{
  pmb_memory *memory = &cuda->context->memory;
  memory->bytes += bytes;
  memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
}

void pmb_cuda_give_ring(pmb_cuda *cuda)
{
  if (cuda->ring) {
    count_host_bytes(cuda, -(int64_t)cuda->ring_bytes);
    pmb_cuda_host_give(cuda->ring);
    cuda->ring = NULL;
  }
}

pmb_status pmb_cuda_take_ring(pmb_cuda *cuda, size_t bytes)
{
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end;
  pmb_status status = PMB_OK;
  cuda->ring = (char *)pmb_cuda_host_take(bytes);
  if (!cuda->ring) {
    return pmb_fail(cuda->context, PMB_OUT_OF_MEMORY, "no memory for a transfer's %zu bytes", bytes);
  }
  cuda->ring_bytes = bytes;
  count_host_bytes(cuda, (int64_t)bytes);
  if (!pmb_cuda_host_is_pinned(cuda->ring, bytes)) {
    crew->fraction_end = crew->fraction_begin;
    if (!pmb_crew_loop(crew, &cuda->context->memory, (bytes + PMB_CUDA_HUGE - 1) / PMB_CUDA_HUGE, touch_page, cuda)) {
      status = pmb_fail(cuda->context, PMB_ABORTED, "aborted by the progress hook");
    }
    crew->fraction_end = end;
    if (status == PMB_OK) {
      status = pmb_cuda_check(cuda->context, pmb_cuda_host_pin(cuda->ring, bytes), "pinning a transfer's ring");
    }
  }
  if (status != PMB_OK) {
    pmb_cuda_give_ring(cuda);
  }
  return status;
}

/* Small transfers take small slots. */
static size_t slot_for(size_t bytes)
{
  size_t slot = 64 * 1024;
  while (slot < SLOT && slot * PMB_CUDA_SLOTS < bytes) {
    slot *= 2;
  }
  return slot;
}

/* Fills slots and sends them to d_to; work.bytes etc. are set per slot. arrived: after every slot; may be NULL. */
static pmb_status send_slots(
  pmb_cuda *cuda, host_work work, size_t bytes, char *d_to, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices))
{
  pmb_status status = PMB_OK;
  const char *from = work.from;
  const size_t slot_bytes = cuda->ring_bytes / PMB_CUDA_SLOTS;
  size_t at = 0;
  for (int n = 0; at < bytes && status == PMB_OK; ++n) {
    const int slot = n % PMB_CUDA_SLOTS;
    if (n >= PMB_CUDA_SLOTS) {
      PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(cuda->slot_done[slot]));
    }
    work.bytes = bytes - at < slot_bytes ? bytes - at : slot_bytes;
    work.begin = (int64_t)(at / work.size);
    work.from = from ? from + at : NULL;
    work.to = cuda->ring + slot * slot_bytes;
    status = fill_slot(cuda, &work, (double)at / (double)bytes, (double)(at + work.bytes) / (double)bytes);
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
  pmb_status status = pmb_cuda_take_ring(cuda, PMB_CUDA_SLOTS * slot_for(bytes));
  if (status == PMB_OK) {
    status = send_slots(cuda, work, bytes, d_to, arrived);
    /* The ring goes back to the pool: nothing may read it any more, whatever has happened. */
    const cudaError_t error = cudaStreamSynchronize(cuda->copy);
    status = status == PMB_OK ? pmb_cuda_check(cuda->context, error, "upload") : status;
    pmb_cuda_give_ring(cuda);
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
  return send(cuda, work, (size_t)(cuda->job.slice * volume->dims[2]) * work.size, (char *)d_samples, arrived);
}

pmb_status pmb_cuda_upload_array(pmb_cuda *cuda, const void *array, size_t bytes, void *d_array)
{
  host_work work = {};
  work.size = 1;
  work.from = (const char *)array;
  return send(cuda, work, bytes, (char *)d_array, NULL);
}
