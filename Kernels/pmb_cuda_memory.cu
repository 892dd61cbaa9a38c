/* SPDX-License-Identifier: BSD-3-Clause
 * Device memory, and the way between the host's ordinary arrays and the device: through a ring of pinned buffers that
 * several host threads fill or empty while the copies run. */
#include "pmb_cuda.cuh"

/* Bytes that a thread handles at a time, and of a pinned buffer. */
static const size_t PART = 256 * 1024, SLOT = 8 * 1024 * 1024;

pmb_status pmb_cuda_check(pmb_context *context, cudaError_t error, const char *what)
{
  if (error == cudaSuccess) {
    return PMB_OK;
  }
  cudaGetLastError(); /* an error that can be overcome is forgotten by this */
  if (error == cudaErrorMemoryAllocation) {
    return pmb_fail(context, PMB_OUT_OF_MEMORY, "no memory on the GPU or pinned for it: %.120s", what);
  }
  return pmb_fail(
    context, PMB_INTERNAL, "CUDA: %s (%s) at %.160s", cudaGetErrorString(error), cudaGetErrorName(error), what);
}

void pmb_cuda_release(pmb_cuda *cuda, pmb_cuda_buffer *buffer)
{
  if (buffer->d_data) {
    cudaFree(buffer->d_data);
    cuda->device_bytes -= (int64_t)buffer->capacity;
  }
  buffer->d_data = NULL;
  buffer->capacity = 0;
}

pmb_status pmb_cuda_reserve(pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, size_t size, const char *what)
{
  const size_t bytes = ((size_t)count * size + 255) / 256 * 256 + 256;
  if (buffer->d_data && bytes <= buffer->capacity) {
    return PMB_OK;
  }
  pmb_cuda_release(cuda, buffer);
  cudaError_t error = cudaErrorMemoryAllocation;
  if (count <= (int64_t)(SIZE_MAX / 4 / size) &&
    (!cuda->device_limit || cuda->device_bytes + (int64_t)bytes <= cuda->device_limit)) {
    error = cudaMalloc(&buffer->d_data, bytes);
  }
  if (error != cudaSuccess) {
    buffer->d_data = NULL;
    if (error != cudaErrorMemoryAllocation) {
      return pmb_cuda_check(cuda->context, error, what);
    }
    cudaGetLastError();
    return pmb_fail(cuda->context, PMB_OUT_OF_MEMORY,
      "no memory on the GPU for %s: %lld of %zu bytes (%lld bytes in use, limit %lld)", what, (long long)count, size,
      (long long)cuda->device_bytes, (long long)cuda->device_limit);
  }
  buffer->capacity = bytes;
  cuda->device_bytes += (int64_t)bytes;
  cuda->device_peak = cuda->device_bytes > cuda->device_peak ? cuda->device_bytes : cuda->device_peak;
  return PMB_OK;
}

void pmb_cuda_free_slots(pmb_cuda *cuda)
{
  for (int i = 0; i < PMB_CUDA_SLOTS; ++i) {
    if (cuda->slot[i]) {
      cudaFreeHost(cuda->slot[i]);
      cuda->context->memory.bytes -= (int64_t)cuda->slot_bytes;
      cuda->slot[i] = NULL;
    }
  }
}

/* Pinned buffers for a transfer of `bytes`: small transfers take small ones. */
static pmb_status make_slots(pmb_cuda *cuda, size_t bytes)
{
  size_t wanted = 64 * 1024;
  while (wanted < SLOT && wanted * PMB_CUDA_SLOTS < bytes) {
    wanted *= 2;
  }
  if (cuda->slot[0] && cuda->slot_bytes >= wanted) {
    return PMB_OK;
  }
  pmb_cuda_free_slots(cuda);
  cuda->slot_bytes = wanted;
  pmb_memory *memory = &cuda->context->memory;
  for (int i = 0; i < PMB_CUDA_SLOTS; ++i) {
    const cudaError_t error = cudaMallocHost((void **)&cuda->slot[i], wanted);
    if (error != cudaSuccess) {
      cuda->slot[i] = NULL;
      pmb_cuda_free_slots(cuda);
      return pmb_cuda_check(cuda->context, error, "pinned buffers");
    }
    memory->bytes += (int64_t)wanted;
    memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
  }
  return PMB_OK;
}

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

/* Does the work with all threads; `part` of the whole call is then done. */
static pmb_status run_host_work(pmb_cuda *cuda, host_work *work, double begin, double end)
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

/* Fills slots and sends them to d_to; work->bytes etc. are set per slot. arrived: after every slot, with the elements
 * that are there by then; may be NULL. */
static pmb_status send(
  pmb_cuda *cuda, host_work work, size_t bytes, char *d_to, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices))
{
  pmb_status status = make_slots(cuda, bytes);
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
    work.to = cuda->slot[slot];
    status = run_host_work(cuda, &work, (double)at / (double)bytes, (double)(at + work.bytes) / (double)bytes);
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
  const cudaError_t error = cudaStreamSynchronize(cuda->copy);
  return status != PMB_OK ? status : pmb_cuda_check(cuda->context, error, "upload");
}

pmb_status pmb_cuda_upload(pmb_cuda *cuda, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices))
{
  const pmb_volume *volume = &cuda->context->volume;
  host_work work = {};
  work.volume = volume;
  work.pitch = cuda->job.pitch;
  work.size = pmb_type_size(volume->type);
  return send(
    cuda, work, (size_t)(cuda->job.slice * volume->dims[2]) * work.size, (char *)cuda->samples.d_data, arrived);
}

pmb_status pmb_cuda_upload_array(pmb_cuda *cuda, const void *array, size_t bytes, void *d_array)
{
  host_work work = {};
  work.size = 1;
  work.from = (const char *)array;
  return send(cuda, work, bytes, (char *)d_array, NULL);
}

pmb_status pmb_cuda_download(pmb_cuda *cuda, cudaEvent_t ready, const void *d_array, void *array, size_t bytes)
{
  pmb_status status = make_slots(cuda, bytes);
  host_work work = {};
  const size_t step = cuda->slot_bytes;
  const size_t slots = status == PMB_OK ? (bytes + step - 1) / step : 0;
  if (status == PMB_OK) {
    PMB_CUDA_TRY(cuda->context, cudaStreamWaitEvent(cuda->copy, ready, 0));
  }
  /* All slots but one are in flight while the host empties one. */
  for (size_t n = 0, done = 0; done < slots && status == PMB_OK;) {
    for (; n < slots && n < done + PMB_CUDA_SLOTS; ++n) {
      const size_t length = bytes - n * step < step ? bytes - n * step : step;
      PMB_CUDA_TRY(cuda->context,
        cudaMemcpyAsync(cuda->slot[n % PMB_CUDA_SLOTS], (const char *)d_array + n * step, length,
          cudaMemcpyDeviceToHost, cuda->copy));
      PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->slot_done[n % PMB_CUDA_SLOTS], cuda->copy));
    }
    PMB_CUDA_TRY(cuda->context, cudaEventSynchronize(cuda->slot_done[done % PMB_CUDA_SLOTS]));
    work.bytes = bytes - done * step < step ? bytes - done * step : step;
    work.from = cuda->slot[done % PMB_CUDA_SLOTS];
    work.to = (char *)array + done * step;
    status = run_host_work(cuda, &work, (double)done / (double)slots, (double)(done + 1) / (double)slots);
    ++done;
  }
  if (status != PMB_OK) {
    cudaStreamSynchronize(cuda->copy);
  }
  return status;
}
