/* SPDX-License-Identifier: BSD-3-Clause
 * CUDA's runtime for the host: structs, constants, functions; kernels with their arguments. */
#ifndef EMULATED_RUNTIME_H
#define EMULATED_RUNTIME_H

#include <stddef.h>

#include <functional>

struct alignas(8) uint2 {
  unsigned x, y;
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct float3 {
  float x, y, z;
};
static inline float3 make_float3(float x, float y, float z)
{
  return { x, y, z };
}
struct alignas(16) float4 {
  float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w)
{
  return { x, y, z, w };
}
static inline uint2 make_uint2(unsigned x, unsigned y)
{
  return { x, y };
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
  return { x, y, z, w };
}

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz)
  {
  }
};

#define EMULATED_ERRORS(E)                 \
  E(Success, 0)                            \
  E(ErrorInvalidValue, 1)                  \
  E(ErrorMemoryAllocation, 2)              \
  E(ErrorInvalidConfiguration, 9)          \
  E(ErrorInsufficientDriver, 35)           \
  E(ErrorDevicesUnavailable, 46)           \
  E(ErrorInvalidDeviceFunction, 98)        \
  E(ErrorNoDevice, 100)                    \
  E(ErrorNoKernelImageForDevice, 209)      \
  E(ErrorECCUncorrectable, 214)            \
  E(ErrorInvalidPtx, 218)                  \
  E(ErrorPeerAccessUnsupported, 217)       \
  E(ErrorNvlinkUncorrectable, 220)         \
  E(ErrorJitCompilerNotFound, 221)         \
  E(ErrorJitCompilationDisabled, 223)      \
  E(ErrorInvalidResourceHandle, 400)       \
  E(ErrorIllegalAddress, 700)              \
  E(ErrorHostMemoryAlreadyRegistered, 712) \
  E(ErrorHostMemoryNotRegistered, 713)     \
  E(ErrorLaunchFailure, 719)               \
  E(ErrorCooperativeLaunchTooLarge, 720)   \
  E(ErrorUnknown, 999)

typedef enum cudaError {
#define E(name, number) cuda##name = number,
  EMULATED_ERRORS(E)
#undef E
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrMaxSharedMemoryPerBlockOptin
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaLaunchAttributeID { cudaLaunchAttributeCooperative, cudaLaunchAttributeProgrammaticStreamSerialization };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostRegisterPortable = 1 };

struct cudaFuncAttributes {
  int ptxVersion;
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
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *memory);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(
  void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream);
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);

/* OpenGL is current while a buffer exists. emulator_gl_buffer makes one on the current device, or with 0 bytes deletes it. */
void *emulator_gl_buffer(unsigned name, size_t bytes);
#define PMB_EMULATED_GL
enum cudaGLDeviceList { cudaGLDeviceListAll = 1 };
cudaError_t cudaGLGetDevices(unsigned *count, int *devices, unsigned most, cudaGLDeviceList which);
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, unsigned name, unsigned flags);
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t stream);
cudaError_t cudaGraphicsResourceGetMappedPointer(void **memory, size_t *bytes, cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t stream);
cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);
}

typedef void (*emulator_any)(void);
typedef std::function<void()> emulator_call; /* a kernel with its arguments, for any thread to run */
cudaError_t emulator_launch(const cudaLaunchConfig_t *config, emulator_any kernel, emulator_call call);
cudaError_t emulator_set_shared(emulator_any kernel, int bytes);
int emulator_occupancy(int threads, size_t shared_bytes);

template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t cudaLaunchKernelEx(
  const cudaLaunchConfig_t *config, void (*kernel)(PARAMETERS...), ARGUMENTS... arguments)
{
  return emulator_launch(config, (emulator_any)kernel, [=] { kernel(arguments...); });
}

template <class... PARAMETERS>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(PARAMETERS...), cudaFuncAttribute, int bytes)
{
  return emulator_set_shared((emulator_any)kernel, bytes);
}

/* Attributes of code for compute capability 9.0. */
template <class KERNEL> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, KERNEL)
{
  attributes->ptxVersion = 90;
  return cudaSuccess;
}

template <class KERNEL>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
  int *blocks, KERNEL, int threads, size_t shared_bytes)
{
  *blocks = emulator_occupancy(threads, shared_bytes);
  return cudaSuccess;
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
