/* SPDX-License-Identifier: BSD-3-Clause
 * CUDA's runtime on the CPU; see emulator.h. All devices share a limit on memory and fail together. */
#include "emulator_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <mutex>

using namespace emulator;

cudaError_t emulator::failure;
thread_local int emulator::current_device;

namespace
{

std::recursive_mutex lock; /* of all variables */
int dead;                  /* this process cannot use the device again, as with a driver after a failure */
thread_local cudaError_t last_error;

struct piece {
  size_t bytes;
  int device; /* its reset frees the piece */
};
typedef std::map<char *, piece> pieces_by_address;

/* References, so that they stay until the program ends: allocations, and the dynamic shared memory that kernels requested
 * beyond the usual size. */
pieces_by_address &device_memory = *new pieces_by_address();
pieces_by_address &pinned_memory = *new pieces_by_address();
pieces_by_address &registered_memory = *new pieces_by_address();
std::map<emulator_any, int> &allowed_shared = *new std::map<emulator_any, int>();
size_t device_bytes;

int device_count(void)
{
  static const int count = (int)emulator_setting("PMB_EMULATOR_GPUS", 1);
  return count;
}

/* ---- memory ---- */

/* The allocation that has all of these bytes, or NULL. */
const piece *piece_of(const pieces_by_address &pieces, const void *memory, size_t bytes)
{
  char *const begin = (char *)memory;
  const auto next = pieces.upper_bound(begin);
  const int is_in = next != pieces.begin() && begin + bytes <= std::prev(next)->first + std::prev(next)->second.bytes;
  return is_in ? &std::prev(next)->second : NULL;
}

int lies_in(const pieces_by_address &pieces, const void *memory, size_t bytes)
{
  return piece_of(pieces, memory, bytes) != NULL;
}

int is_on(int device, const void *memory, size_t bytes)
{
  const piece *found = piece_of(device_memory, memory, bytes);
  return found && found->device == device;
}

/* Whether a copy of this kind is valid. */
int is_valid_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  return lies_in(device_memory, to, bytes) == (kind != cudaMemcpyDeviceToHost) &&
    lies_in(device_memory, from, bytes) == (kind != cudaMemcpyHostToDevice);
}

cudaError_t allocate(pieces_by_address *pieces, void **memory, size_t bytes)
{
  void *piece = NULL;
  if (posix_memalign(&piece, 256, bytes) != 0) {
    return cudaErrorMemoryAllocation;
  }
  memset(piece, EMULATOR_POISON, bytes);
  (*pieces)[(char *)piece] = { bytes, current_device };
  *memory = piece;
  return cudaSuccess;
}

cudaError_t release(pieces_by_address *pieces, void *memory)
{
  const auto piece = pieces->find((char *)memory);
  if (!memory || piece == pieces->end()) {
    return memory ? cudaErrorInvalidValue : cudaSuccess;
  }
  run_all_streams();
  device_bytes -= pieces == &device_memory ? piece->second.bytes : 0;
  pieces->erase(piece);
  free(memory);
  return cudaSuccess;
}

/* Frees what belongs to the current device. */
void free_all(pieces_by_address *pieces, int is_owner)
{
  for (auto at = pieces->begin(); at != pieces->end();) {
    const int own = at->second.device == current_device;
    device_bytes -= own && pieces == &device_memory ? at->second.bytes : 0;
    if (own && is_owner) {
      free(at->first);
    }
    at = own ? pieces->erase(at) : std::next(at);
  }
}

size_t limit_of_device(void)
{
  static const size_t limit = (size_t)emulator_setting("PMB_EMULATOR_MEMORY", (uint64_t)4 << 30);
  return limit;
}

} // namespace

cudaError_t emulator::call(const operation &work)
{
  const std::lock_guard<std::recursive_mutex> guard(lock);
  cudaError_t error = dead ? cudaErrorDevicesUnavailable : failure;
  if (error == cudaSuccess) {
    error = work();
  }
  error = error == cudaSuccess ? failure : error;
  last_error = error == cudaSuccess ? last_error : error;
  return error;
}

uint64_t emulator_setting(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t emulator_seed(void)
{
  static const uint64_t seed = emulator_setting("PMB_EMULATOR_SEED", 1);
  return seed;
}

void emulator_map(void *memory, size_t bytes)
{
  const std::lock_guard<std::recursive_mutex> guard(lock);
  device_memory[(char *)memory] = { bytes, current_device };
  device_bytes += bytes;
}

void emulator_unmap(void *memory)
{
  const std::lock_guard<std::recursive_mutex> guard(lock);
  run_all_streams();
  device_bytes -= device_memory[(char *)memory].bytes;
  device_memory.erase((char *)memory);
}

void emulator_revive(void)
{
  const std::lock_guard<std::recursive_mutex> guard(lock);
  dead = 0;
}

/* ---- CUDA: the device ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
  *count = device_count();
  return call([] { return cudaSuccess; });
}

cudaError_t cudaGetDevice(int *device)
{
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
  current_device = device;
  return call([=] { return device < device_count() ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
  static const int values[] = { EMULATOR_PROCESSORS, 9, 0, EMULATOR_SHARED + 1024, EMULATOR_SHARED };
  *value = values[attribute];
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
  *properties = { "emulated GPU", limit_of_device(), EMULATOR_SHARED, 9, 0, EMULATOR_PROCESSORS };
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
  return call([] {
    run_all_streams();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset(void)
{
  const std::lock_guard<std::recursive_mutex> guard(lock);
  run_all_streams();
  free_streams_and_events();
  free_all(&device_memory, 1);
  free_all(&pinned_memory, 1);
  free_all(&registered_memory, 0);
  dead |= failure != cudaSuccess;
  failure = cudaSuccess;
  return cudaSuccess;
}

/* ---- CUDA: errors ---- */

cudaError_t cudaGetLastError(void)
{
  const std::lock_guard<std::recursive_mutex> guard(lock);
  const cudaError_t error = failure != cudaSuccess ? failure : last_error;
  last_error = cudaSuccess;
  return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
  switch (error) {
#define E(name, number) \
  case cuda##name:      \
    return "cuda" #name;
    EMULATED_ERRORS(E)
#undef E
  }
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
  return cudaGetErrorName(error);
}

/* ---- CUDA: launches ---- */

cudaError_t emulator_set_shared(emulator_any kernel, int bytes)
{
  return call([=] {
    allowed_shared[kernel] = bytes;
    return bytes <= EMULATOR_SHARED ? cudaSuccess : cudaErrorInvalidValue;
  });
}

int emulator_occupancy(int threads, size_t shared_bytes)
{
  const size_t blocks = EMULATOR_SHARED / (shared_bytes + 1), most = emulator_seed() % 2 ? 1 : EMULATOR_BLOCKS;
  return threads > EMULATOR_THREADS ? 0 : (int)(blocks < most ? blocks : most);
}

cudaError_t emulator_launch(const cudaLaunchConfig_t *config, emulator_any kernel, emulator_call run)
{
  emulator_work work = { run, config->gridDim, config->blockDim, config->dynamicSmemBytes, 0 };
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    work.is_cooperative |= config->attrs[i].id == cudaLaunchAttributeCooperative && config->attrs[i].val.cooperative;
  }
  const uint64_t blocks = (uint64_t)work.grid.x * work.grid.y * work.grid.z;
  const uint64_t threads = (uint64_t)work.block.x * work.block.y * work.block.z;
  return call([=] {
    const auto allowed = allowed_shared.find(kernel);
    if (blocks < 1 || threads < 1 || threads > EMULATOR_THREADS || work.grid.x > INT32_MAX || work.grid.y > 65535 ||
      work.grid.z > 65535 || work.block.z > 64) {
      return cudaErrorInvalidConfiguration;
    }
    if (work.shared_bytes > (size_t)(allowed == allowed_shared.end() ? EMULATOR_SHARED_USUAL : allowed->second)) {
      return cudaErrorInvalidValue;
    }
    if (work.is_cooperative &&
      blocks > (uint64_t)(EMULATOR_PROCESSORS * emulator_occupancy((int)threads, work.shared_bytes))) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
    return enqueue(config->stream, [=] { return emulator_run(&work); });
  });
}

/* ---- CUDA: allocations ---- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
  return call([=] {
    const int fits = bytes <= limit_of_device() - device_bytes;
    const cudaError_t error = fits ? allocate(&device_memory, memory, bytes) : cudaErrorMemoryAllocation;
    device_bytes += error == cudaSuccess ? bytes : 0;
    return error;
  });
}

cudaError_t cudaFree(void *memory)
{
  return call([=] { return release(&device_memory, memory); });
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
  return call([=] { return allocate(&pinned_memory, memory, bytes); });
}

cudaError_t cudaFreeHost(void *memory)
{
  return call([=] { return release(&pinned_memory, memory); });
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned)
{
  return call([=] {
    const int fresh = !lies_in(registered_memory, memory, 1);
    registered_memory.emplace((char *)memory, piece{ bytes, current_device });
    return fresh ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void *memory)
{
  return call([=] {
    run_all_streams();
    return registered_memory.erase((char *)memory) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  return call([=] {
    *available = limit_of_device() - device_bytes;
    *total = limit_of_device();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
  return call([=] {
    const piece *found = piece_of(device_memory, memory, 1);
    attributes->type = found                                                       ? cudaMemoryTypeDevice
      : lies_in(pinned_memory, memory, 1) || lies_in(registered_memory, memory, 1) ? cudaMemoryTypeHost
                                                                                   : cudaMemoryTypeUnregistered;
    attributes->device = found ? found->device : current_device;
    return cudaSuccess;
  });
}

/* ---- CUDA: copies ---- */

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  return call([=] {
    if (!is_valid_copy(to, from, bytes, kind)) {
      return cudaErrorInvalidValue;
    }
    memcpy(to, from, bytes);
    return cudaSuccess;
  });
}

/* Ordinary memory is copied before the call returns, pinned memory maybe later. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  return call([=] {
    if (!is_valid_copy(to, from, bytes, kind)) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t error = enqueue(stream, [=] {
      memcpy(to, from, bytes);
      return cudaSuccess;
    });
    const void *host = kind == cudaMemcpyHostToDevice ? from : to;
    if (error == cudaSuccess && kind != cudaMemcpyDeviceToDevice && !lies_in(pinned_memory, host, bytes) &&
      !lies_in(registered_memory, host, bytes)) {
      run_stream(stream);
    }
    return error;
  });
}

/* GPUs have no link here: CUDA copies over the host. */
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
  return call([] { return cudaErrorPeerAccessUnsupported; });
}

cudaError_t cudaMemcpyPeerAsync(
  void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream)
{
  return call([=] {
    if (!is_on(to_device, to, bytes) || !is_on(from_device, from, bytes)) {
      return cudaErrorInvalidValue;
    }
    return enqueue(stream, [=] {
      memcpy(to, from, bytes);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
  return call([=] {
    if (!lies_in(device_memory, memory, bytes)) {
      return cudaErrorInvalidValue;
    }
    return enqueue(stream, [=] {
      memset(memory, value, bytes);
      return cudaSuccess;
    });
  });
}
