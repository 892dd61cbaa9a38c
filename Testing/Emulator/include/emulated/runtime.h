/* SPDX-License-Identifier: BSD-3-Clause
 *
 * runtime.h - CUDA's runtime as the host has it: its records, constants and functions. */
#ifndef EMULATED_RUNTIME_H
#define EMULATED_RUNTIME_H

#include <stddef.h>

#include "emulated/types.h"

#define EMULATED_ERRORS(E)                                                                                \
  E(Success, 0, "no error")                                                                               \
  E(ErrorInvalidValue, 1, "invalid argument")                                                             \
  E(ErrorMemoryAllocation, 2, "out of memory")                                                            \
  E(ErrorInvalidConfiguration, 9, "invalid configuration argument")                                       \
  E(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")          \
  E(ErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                     \
  E(ErrorInvalidDeviceFunction, 98, "invalid device function")                                            \
  E(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                             \
  E(ErrorInvalidDevice, 101, "invalid device ordinal")                                                    \
  E(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")         \
  E(ErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                    \
  E(ErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                 \
  E(ErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")            \
  E(ErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                                  \
  E(ErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")      \
  E(ErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled")                                 \
  E(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                           \
  E(ErrorNotReady, 600, "device not ready")                                                               \
  E(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                                 \
  E(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                            \
  E(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                   \
  E(ErrorContextIsDestroyed, 709, "context is destroyed")                                                 \
  E(ErrorAssert, 710, "device-side assert triggered")                                                     \
  E(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  E(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")       \
  E(ErrorHardwareStackError, 714, "hardware stack error")                                                 \
  E(ErrorIllegalInstruction, 715, "an illegal instruction was encountered")                               \
  E(ErrorMisalignedAddress, 716, "misaligned address")                                                    \
  E(ErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")              \
  E(ErrorInvalidPc, 718, "invalid program counter")                                                       \
  E(ErrorLaunchFailure, 719, "unspecified launch failure")                                                \
  E(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                         \
  E(ErrorUnknown, 999, "unknown error")

typedef enum cudaError {
#define E(name, number, text) cuda##name = number,
  EMULATED_ERRORS(E)
#undef E
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
} cudaMemcpyKind;
typedef enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
} cudaDeviceAttr;
typedef enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
} cudaFuncAttribute;
typedef enum cudaLaunchAttributeID {
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6
} cudaLaunchAttributeID;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventDisableTiming = 2 };
enum {
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostAllocPortable = 1,
  cudaHostAllocDefault = 0
};

struct cudaFuncAttributes {
  int ptxVersion, binaryVersion;
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlockOptin;
  int major, minor, multiProcessorCount;
};
typedef struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  union {
    int cooperative, programmaticStreamSerializationAllowed;
  } val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;

extern "C" {
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *memory);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);
}

template <class T> static inline cudaError_t cudaMalloc(T **memory, size_t bytes)
{
  return cudaMalloc((void **)memory, bytes);
}
template <class T> static inline cudaError_t cudaMallocHost(T **memory, size_t bytes)
{
  return cudaMallocHost((void **)memory, bytes);
}

#endif
