/* SPDX-License-Identifier: BSD-3-Clause
 * Devices, their state, and errors of CUDA's runtime: see emulator_runtime.h. */
#include "emulator_runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

namespace emulator
{

std::recursive_mutex lock;
cudaError_t failure;
thread_local int current_device;

} // namespace emulator

using namespace emulator;

namespace
{

int dead; /* as drivers do it after a failure: this process cannot use it again */
thread_local cudaError_t last_error;

int device_count(void)
{
  static const int count = (int)emulator_setting("PMB_EMULATOR_GPUS", 1);
  return count;
}

} // namespace

cudaError_t emulator::report(cudaError_t error)
{
  if (error != cudaSuccess) {
    last_error = error;
  }
  return error;
}

cudaError_t emulator::state_of_device(void)
{
  return dead ? cudaErrorDevicesUnavailable : failure;
}

size_t emulator::limit_of_device(void)
{
  static const size_t limit = (size_t)emulator_setting("PMB_EMULATOR_MEMORY", (uint64_t)4 << 30);
  return limit;
}

/* ---- the environment, and what only tests of the emulator call ---- */

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
  forget_streams();
  forget_memory();
  dead |= failure != cudaSuccess;
  failure = cudaSuccess;
  return cudaSuccess;
}

/* ---- CUDA: errors ---- */

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
