/* SPDX-License-Identifier: BSD-3-Clause
 * CUDA's runtime, on the CPU: see emulator.h. As many devices as PMB_EMULATOR_GPUS says, else one; they share memory and
 * fail together. Everything is under one lock. */
#include "emulator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

typedef std::function<cudaError_t()> operation;

struct CUstream_st {
  std::deque<operation> waiting;
  uint64_t enqueued, done; /* operations */
  int device;
};

struct CUevent_st {
  CUstream_st *stream; /* that it was last recorded in */
  uint64_t place;      /* done once the stream has done so many operations */
  std::chrono::steady_clock::time_point time;
};

namespace
{

std::recursive_mutex lock;
typedef std::lock_guard<std::recursive_mutex> locked;

/* References, so that they are still there when the program ends. Memory is with its size. */
std::map<char *, size_t> &device_memory = *new std::map<char *, size_t>();
std::map<char *, size_t> &pinned_memory = *new std::map<char *, size_t>();
std::map<char *, size_t> &registered_memory = *new std::map<char *, size_t>();
size_t device_bytes;
std::set<CUstream_st *> &streams = *new std::set<CUstream_st *>();
std::set<CUevent_st *> &events = *new std::set<CUevent_st *>();
/* Dynamic, of kernels that have asked for more than usual. */
std::map<emulator_any, int> &allowed_shared = *new std::map<emulator_any, int>();
cudaError_t failure; /* of the device: all calls report it until it is reset */
int dead;            /* as drivers do it after a failure: this process cannot use it again */
thread_local cudaError_t last_error;
thread_local int current_device;

cudaError_t report(cudaError_t error)
{
  if (error != cudaSuccess) {
    last_error = error;
  }
  return error;
}

cudaError_t state_of_device(void)
{
  return dead ? cudaErrorDevicesUnavailable : failure;
}

size_t limit_of_device(void)
{
  static const size_t limit = (size_t)emulator_setting("PMB_EMULATOR_MEMORY", (uint64_t)4 << 30);
  return limit;
}

int device_count(void)
{
  static const int count = (int)emulator_setting("PMB_EMULATOR_GPUS", 1);
  return count;
}

/* ---- what the emulator knows of streams ---- */

int is_known(cudaStream_t stream)
{
  return streams.count(stream) != 0;
}

/* NULL is the stream that is always there. */
cudaStream_t stream_of(cudaStream_t stream)
{
  static CUstream_st *const usual = new CUstream_st();
  if (!stream) {
    streams.insert(usual);
  }
  return stream ? stream : usual;
}

/* Does what is in a stream up to a place. Every wait in CUDA comes down to this. */
void run_until(CUstream_st *stream, uint64_t place)
{
  while (stream->done < place && !stream->waiting.empty()) {
    const operation next = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    const cudaError_t error = failure == cudaSuccess ? next() : failure;
    ++stream->done;
    failure = error == cudaSuccess ? failure : error;
  }
}

void run_all_streams(void)
{
  for (CUstream_st *stream : streams) {
    run_until(stream, stream->enqueued);
  }
}

/* Puts work into a stream; it may be done at once, or as late as the program allows. */
cudaError_t enqueue(cudaStream_t given, operation work)
{
  static uint64_t random = emulator_seed();
  CUstream_st *const stream = stream_of(given);
  if (state_of_device() != cudaSuccess) {
    return state_of_device();
  }
  if (!is_known(stream) || (given && given->device != current_device)) {
    return cudaErrorInvalidResourceHandle;
  }
  stream->waiting.push_back(std::move(work));
  ++stream->enqueued;
  if (emulator_random(&random) % 4 == 0) {
    run_until(stream, stream->enqueued);
  }
  return failure;
}

/* ---- what it knows of memory ---- */

/* Whether all bytes lie in one piece. */
int lies_in(const std::map<char *, size_t> &pieces, const void *memory, size_t bytes)
{
  char *const begin = (char *)memory;
  auto piece = pieces.upper_bound(begin);
  if (piece == pieces.begin()) {
    return 0;
  }
  --piece;
  return begin + bytes <= piece->first + piece->second;
}

int is_pinned(const void *memory, size_t bytes)
{
  return lies_in(pinned_memory, memory, bytes) || lies_in(registered_memory, memory, bytes);
}

/* Whether copies of this kind may go between these. */
int is_right(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  const int to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const int from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return kind == cudaMemcpyDefault ||
    (lies_in(device_memory, to, bytes) == to_device && lies_in(device_memory, from, bytes) == from_device);
}

cudaError_t allocate(std::map<char *, size_t> *pieces, void **memory, size_t bytes)
{
  void *piece = NULL;
  if (posix_memalign(&piece, 256, bytes) != 0) {
    return cudaErrorMemoryAllocation;
  }
  memset(piece, EMULATOR_POISON, bytes);
  (*pieces)[(char *)piece] = bytes;
  *memory = piece;
  return cudaSuccess;
}

void free_all(std::map<char *, size_t> *pieces)
{
  for (const auto &piece : *pieces) {
    free(piece.first);
  }
  pieces->clear();
}

} // namespace

uint64_t emulator_setting(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);
  char *end = NULL;
  if (!text || !*text) {
    return otherwise;
  }
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno || *end || *text == '-') {
    fprintf(stderr, "emulator: %s is '%s'; set a number from 0 on\n", name, text);
    exit(1);
  }
  return value;
}

uint64_t emulator_seed(void)
{
  static const uint64_t seed = emulator_setting("PMB_EMULATOR_SEED", 1);
  return seed;
}

void emulator_revive(void)
{
  const locked guard(lock);
  dead = 0;
}

/* ---- CUDA: the device ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
  const locked guard(lock);
  *count = device_count();
  return report(state_of_device());
}

cudaError_t cudaGetDevice(int *device)
{
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
  const locked guard(lock);
  if (device < 0 || device >= device_count()) {
    return report(cudaErrorInvalidDevice);
  }
  current_device = device;
  return report(state_of_device());
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
  if (device < 0 || device >= device_count()) {
    return report(cudaErrorInvalidDevice);
  }
  switch (attribute) {
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = EMULATOR_SHARED_USUAL;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = EMULATOR_PROCESSORS;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = EMULATOR_SHARED + 1024;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = EMULATOR_SHARED;
      break;
    default:
      return report(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
  if (device < 0 || device >= device_count()) {
    return report(cudaErrorInvalidDevice);
  }
  memset(properties, 0, sizeof(*properties));
  snprintf(properties->name, sizeof(properties->name), "emulated GPU");
  properties->totalGlobalMem = limit_of_device();
  properties->sharedMemPerBlockOptin = EMULATOR_SHARED;
  properties->major = 9;
  properties->multiProcessorCount = EMULATOR_PROCESSORS;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
  const locked guard(lock);
  run_all_streams();
  return report(state_of_device());
}

cudaError_t cudaDeviceReset(void)
{
  const locked guard(lock);
  run_all_streams();
  for (CUstream_st *stream : streams) {
    if (stream != stream_of(NULL)) {
      delete stream;
    }
  }
  for (CUevent_st *event : events) {
    delete event;
  }
  streams.clear();
  events.clear();
  free_all(&device_memory);
  free_all(&pinned_memory);
  registered_memory.clear();
  device_bytes = 0;
  dead |= failure != cudaSuccess;
  failure = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void)
{
  const locked guard(lock);
  return failure != cudaSuccess ? failure : last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
  switch (error) {
#define E(name, number, text) \
  case cuda##name:            \
    return "cuda" #name;
    EMULATED_ERRORS(E)
#undef E
  }
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
  switch (error) {
#define E(name, number, text) \
  case cuda##name:            \
    return text;
    EMULATED_ERRORS(E)
#undef E
  }
  return "unrecognized error code";
}

/* ---- CUDA: memory ---- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
  const locked guard(lock);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (bytes > limit_of_device() - device_bytes) {
    return report(cudaErrorMemoryAllocation);
  }
  const cudaError_t error = allocate(&device_memory, memory, bytes);
  device_bytes += error == cudaSuccess ? bytes : 0;
  return report(error);
}

cudaError_t cudaFree(void *memory)
{
  const locked guard(lock);
  if (!memory || state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  const auto piece = device_memory.find((char *)memory);
  if (piece == device_memory.end()) {
    return report(cudaErrorInvalidValue);
  }
  run_all_streams();
  device_bytes -= piece->second;
  device_memory.erase(piece);
  free(memory);
  return report(failure);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
  const locked guard(lock);
  return report(state_of_device() == cudaSuccess ? allocate(&pinned_memory, memory, bytes) : state_of_device());
}

cudaError_t cudaFreeHost(void *memory)
{
  const locked guard(lock);
  if (!memory || state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  run_all_streams();
  if (pinned_memory.erase((char *)memory) == 0) {
    return report(cudaErrorInvalidValue);
  }
  free(memory);
  return report(failure);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned)
{
  const locked guard(lock);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (lies_in(registered_memory, memory, 1)) {
    return report(cudaErrorHostMemoryAlreadyRegistered);
  }
  registered_memory[(char *)memory] = bytes;
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory)
{
  const locked guard(lock);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  run_all_streams();
  return report(registered_memory.erase((char *)memory) ? failure : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  const locked guard(lock);
  *available = limit_of_device() - device_bytes;
  *total = limit_of_device();
  return report(state_of_device());
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  const locked guard(lock);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (!is_right(to, from, bytes, kind)) {
    return report(cudaErrorInvalidValue);
  }
  memcpy(to, from, bytes);
  return cudaSuccess;
}

/* Ordinary memory is copied when the call returns, pinned memory later. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  const locked guard(lock);
  if (!is_right(to, from, bytes, kind)) {
    return report(state_of_device() == cudaSuccess ? cudaErrorInvalidValue : state_of_device());
  }
  const cudaError_t error = enqueue(stream, [=] {
    memcpy(to, from, bytes);
    return cudaSuccess;
  });
  const void *host = kind == cudaMemcpyHostToDevice ? from : to;
  if (error == cudaSuccess && kind != cudaMemcpyDeviceToDevice && !is_pinned(host, bytes)) {
    run_until(stream_of(stream), stream_of(stream)->enqueued);
  }
  return report(error == cudaSuccess ? failure : error);
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
  const locked guard(lock);
  if (!lies_in(device_memory, memory, bytes)) {
    return report(state_of_device() == cudaSuccess ? cudaErrorInvalidValue : state_of_device());
  }
  memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
  const locked guard(lock);
  if (!lies_in(device_memory, memory, bytes)) {
    return report(state_of_device() == cudaSuccess ? cudaErrorInvalidValue : state_of_device());
  }
  return report(enqueue(stream, [=] {
    memset(memory, value, bytes);
    return cudaSuccess;
  }));
}

/* ---- CUDA: streams and events ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  const locked guard(lock);
  if (state_of_device() == cudaSuccess) {
    *stream = new CUstream_st();
    (*stream)->device = current_device;
    streams.insert(*stream);
  }
  return report(state_of_device());
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  const locked guard(lock);
  if (!is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  run_until(stream, stream->enqueued);
  for (CUevent_st *event : events) {
    event->stream = event->stream == stream ? NULL : event->stream;
  }
  streams.erase(stream);
  delete stream;
  return report(failure);
}

cudaError_t cudaStreamSynchronize(cudaStream_t given)
{
  const locked guard(lock);
  CUstream_st *const stream = stream_of(given);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (!is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  run_until(stream, stream->enqueued);
  return report(failure);
}

cudaError_t cudaStreamQuery(cudaStream_t given)
{
  const locked guard(lock);
  CUstream_st *const stream = stream_of(given);
  if (!is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  run_until(stream, stream->done + 1);
  return report(failure != cudaSuccess ? failure : stream->done < stream->enqueued ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  const locked guard(lock);
  if (events.count(event) == 0) {
    return report(state_of_device() == cudaSuccess ? cudaErrorInvalidResourceHandle : state_of_device());
  }
  CUstream_st *const other = event->stream;
  const uint64_t place = event->place;
  return report(enqueue(stream, [=] {
    if (is_known(other)) {
      run_until(other, place);
    }
    return failure;
  }));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  const locked guard(lock);
  if (state_of_device() == cudaSuccess) {
    *event = new CUevent_st();
    events.insert(*event);
  }
  return report(state_of_device());
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  const locked guard(lock);
  if (events.erase(event) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  delete event;
  return report(failure);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t given)
{
  const locked guard(lock);
  CUstream_st *const stream = stream_of(given);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (events.count(event) == 0 || !is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  event->stream = stream;
  event->place = stream->enqueued + 1;
  return report(enqueue(stream, [=] {
    if (events.count(event) != 0) {
      event->time = std::chrono::steady_clock::now();
    }
    return cudaSuccess;
  }));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  const locked guard(lock);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (events.count(event) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  if (event->stream) {
    run_until(event->stream, event->place);
  }
  return report(failure);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
  const locked guard(lock);
  if (events.count(event) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  if (!event->stream || event->stream->done >= event->place) {
    return report(state_of_device());
  }
  run_until(event->stream, event->stream->done + 1);
  return report(failure == cudaSuccess ? cudaErrorNotReady : failure);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  const locked guard(lock);
  if (events.count(begin) == 0 || events.count(end) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return report(failure);
}

/* ---- CUDA: kernels ---- */

cudaError_t emulator_set_attribute(emulator_any kernel, cudaFuncAttribute attribute, int value)
{
  const locked guard(lock);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > EMULATOR_SHARED) {
      return report(cudaErrorInvalidValue);
    }
    allowed_shared[kernel] = value;
  }
  return report(state_of_device());
}

int emulator_occupancy(int threads, size_t shared_bytes)
{
  const size_t blocks = EMULATOR_SHARED / (shared_bytes + 1), most = emulator_seed() % 2 ? 1 : EMULATOR_BLOCKS;
  if (threads < 1 || threads > EMULATOR_THREADS || blocks < 1) {
    return 0;
  }
  return (int)(blocks < most ? blocks : most);
}

cudaError_t emulator_launch(const cudaLaunchConfig_t *config, emulator_any kernel, const emulator_call *call)
{
  const std::shared_ptr<const emulator_call> kept(call);
  const locked guard(lock);
  emulator_work work = { call, config->gridDim, config->blockDim, config->dynamicSmemBytes, 0 };
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    work.together |= config->attrs[i].id == cudaLaunchAttributeCooperative && config->attrs[i].val.cooperative;
  }
  const uint64_t blocks = (uint64_t)work.grid.x * work.grid.y * work.grid.z;
  const uint64_t threads = (uint64_t)work.block.x * work.block.y * work.block.z;
  const auto allowed = allowed_shared.find(kernel);
  if (blocks < 1 || threads < 1 || threads > EMULATOR_THREADS || work.grid.x > INT32_MAX || work.grid.y > 65535 ||
    work.grid.z > 65535 || work.block.z > 64) {
    return report(cudaErrorInvalidConfiguration);
  }
  if (work.shared_bytes > (size_t)(allowed == allowed_shared.end() ? EMULATOR_SHARED_USUAL : allowed->second)) {
    return report(cudaErrorInvalidValue);
  }
  if (work.together &&
    blocks > (uint64_t)(EMULATOR_PROCESSORS * emulator_occupancy((int)threads, work.shared_bytes))) {
    return report(cudaErrorCooperativeLaunchTooLarge);
  }
  return report(enqueue(config->stream, [=] {
    (void)kept;
    return emulator_run(&work);
  }));
}
