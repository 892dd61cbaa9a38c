/* SPDX-License-Identifier: BSD-3-Clause
 * Memory of the device and of the host, copies: see emulator_runtime.h. */
#include "emulator_runtime.h"

#include <stdlib.h>

#include <map>

using namespace emulator;

namespace
{

/* References, so that they are still there when the program ends. Memory is with its size. */
std::map<char *, size_t> &device_memory = *new std::map<char *, size_t>();
std::map<char *, size_t> &pinned_memory = *new std::map<char *, size_t>();
std::map<char *, size_t> &registered_memory = *new std::map<char *, size_t>();
size_t device_bytes;

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

void emulator::forget_memory(void)
{
  free_all(&device_memory);
  free_all(&pinned_memory);
  registered_memory.clear();
  device_bytes = 0;
}

/* ---- CUDA: allocations ---- */

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

/* ---- CUDA: copies ---- */

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
    run_stream(stream);
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
