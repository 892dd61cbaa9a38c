/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cuda_runtime.h - stands in for CUDA's header of this name, so that a C++ compiler makes host code of the kernels and the
 * tests of the GPU run on any machine. Only what Kernels/ uses is here; results are CUDA's, bit by bit, except where CUDA
 * leaves them open.
 *
 * Needed of the sources: kernels are launched by cudaLaunchKernelEx, not <<<>>>; PTX is inside #if defined(__CUDA_ARCH__)
 * with C++ beside it; dynamic shared memory is an array `shared_memory`. See emulator.h for what the emulator checks. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tuple>
#include <type_traits>
#include <utility>

#define CUDART_VERSION 13000

/* ---- the language: not where the emulator itself is compiled, since a C++ library may use such names ---- */

#if defined(__CUDACC__)

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
/* The threads of a block run on one thread of the host. */
#define __shared__ thread_local
#endif

/* ---- vector types ---- */

#define EMULATED_VECTORS(type, name, align2, align4)                   \
  struct alignas(align2) name##2                                       \
  {                                                                    \
    type x, y;                                                         \
  };                                                                   \
  struct name##3                                                       \
  {                                                                    \
    type x, y, z;                                                      \
  };                                                                   \
  struct alignas(align4) name##4                                       \
  {                                                                    \
    type x, y, z, w;                                                   \
  };                                                                   \
  static inline name##2 make_##name##2(type x, type y)                 \
  {                                                                    \
    return { x, y };                                                   \
  }                                                                    \
  static inline name##3 make_##name##3(type x, type y, type z)         \
  {                                                                    \
    return { x, y, z };                                                \
  }                                                                    \
  static inline name##4 make_##name##4(type x, type y, type z, type w) \
  {                                                                    \
    return { x, y, z, w };                                             \
  }

EMULATED_VECTORS(signed char, char, 2, 4)
EMULATED_VECTORS(unsigned char, uchar, 2, 4)
EMULATED_VECTORS(short, short, 4, 8)
EMULATED_VECTORS(unsigned short, ushort, 4, 8)
EMULATED_VECTORS(int, int, 8, 16)
EMULATED_VECTORS(unsigned, uint, 8, 16)
EMULATED_VECTORS(long long, longlong, 16, 16)
EMULATED_VECTORS(unsigned long long, ulonglong, 16, 16)
EMULATED_VECTORS(float, float, 8, 16)
EMULATED_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz)
  {
  }
};

/* ---- where a thread is ---- */

/* Of the running thread. */
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
enum { warpSize = 32 };

/* ---- what the threads of a warp or a block do together ---- */

enum emulator_kind {
  EMULATOR_SYNCTHREADS,
  EMULATOR_SYNCTHREADS_COUNT,
  EMULATOR_SYNCWARP,
  EMULATOR_SHFL,
  EMULATOR_SHFL_UP,
  EMULATOR_SHFL_DOWN,
  EMULATOR_SHFL_XOR,
  EMULATOR_BALLOT,
  EMULATOR_REDUCE_ADD,
  EMULATOR_REDUCE_AND,
  EMULATOR_REDUCE_OR,
  EMULATOR_REDUCE_XOR,
  EMULATOR_REDUCE_MIN,
  EMULATOR_REDUCE_MAX,
  EMULATOR_REDUCE_MIN_SIGNED,
  EMULATOR_REDUCE_MAX_SIGNED,
  EMULATOR_MATCH_ANY,
  EMULATOR_KINDS
};

/* Waits for the threads in the mask, which must all be at the same kind; the result is the calling thread's. */
uint64_t emulator_together(emulator_kind kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width);
uint64_t emulator_block_together(emulator_kind kind, uint64_t value);
/* Lets the GPU fail, as the instruction trap. */
void emulator_trap(void);

static inline void __syncthreads(void)
{
  emulator_block_together(EMULATOR_SYNCTHREADS, 0);
}
static inline int __syncthreads_count(int predicate)
{
  return (int)emulator_block_together(EMULATOR_SYNCTHREADS_COUNT, predicate != 0);
}
static inline int __syncthreads_or(int predicate)
{
  return __syncthreads_count(predicate) != 0;
}
static inline int __syncthreads_and(int predicate)
{
  return __syncthreads_count(!predicate) == 0;
}
static inline void __syncwarp(uint32_t mask = UINT32_MAX)
{
  emulator_together(EMULATOR_SYNCWARP, mask, 0, 0, 32);
}
static inline unsigned __ballot_sync(uint32_t mask, int predicate)
{
  return (unsigned)emulator_together(EMULATOR_BALLOT, mask, predicate != 0, 0, 32);
}
static inline int __any_sync(uint32_t mask, int predicate)
{
  return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(uint32_t mask, int predicate)
{
  return __ballot_sync(mask, !predicate) == 0;
}

template <class T>
static inline T emulated_shuffle(emulator_kind kind, uint32_t mask, T value, int argument, int width)
{
  static_assert(sizeof(T) <= sizeof(uint64_t), "shuffles move at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = emulator_together(kind, mask, bits, (uint32_t)argument, (uint32_t)width);
  memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T> static inline T __shfl_sync(uint32_t mask, T value, int lane, int width = 32)
{
  return emulated_shuffle(EMULATOR_SHFL, mask, value, lane, width);
}
template <class T> static inline T __shfl_up_sync(uint32_t mask, T value, unsigned step, int width = 32)
{
  return emulated_shuffle(EMULATOR_SHFL_UP, mask, value, (int)step, width);
}
template <class T> static inline T __shfl_down_sync(uint32_t mask, T value, unsigned step, int width = 32)
{
  return emulated_shuffle(EMULATOR_SHFL_DOWN, mask, value, (int)step, width);
}
template <class T> static inline T __shfl_xor_sync(uint32_t mask, T value, int step, int width = 32)
{
  return emulated_shuffle(EMULATOR_SHFL_XOR, mask, value, step, width);
}

#define EMULATED_REDUCTION(name, type, kind)                                      \
  static inline type __reduce_##name##_sync(uint32_t mask, type value)            \
  {                                                                               \
    return (type)(uint32_t)emulator_together(kind, mask, (uint32_t)value, 0, 32); \
  }
EMULATED_REDUCTION(add, unsigned, EMULATOR_REDUCE_ADD)
EMULATED_REDUCTION(add, int, EMULATOR_REDUCE_ADD)
EMULATED_REDUCTION(and, unsigned, EMULATOR_REDUCE_AND)
EMULATED_REDUCTION(or, unsigned, EMULATOR_REDUCE_OR)
EMULATED_REDUCTION(xor, unsigned, EMULATOR_REDUCE_XOR)
EMULATED_REDUCTION(min, unsigned, EMULATOR_REDUCE_MIN)
EMULATED_REDUCTION(max, unsigned, EMULATOR_REDUCE_MAX)
EMULATED_REDUCTION(min, int, EMULATOR_REDUCE_MIN_SIGNED)
EMULATED_REDUCTION(max, int, EMULATOR_REDUCE_MAX_SIGNED)

template <class T> static inline unsigned __match_any_sync(uint32_t mask, T value)
{
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return (unsigned)emulator_together(EMULATOR_MATCH_ANY, mask, bits, 0, 32);
}

static inline void __trap(void)
{
  emulator_trap();
}

/* ---- memory ---- */

template <class T> static inline T __ldg(const T *place)
{
  return *place;
}
template <class T> static inline T __ldcg(const T *place)
{
  return *(const volatile T *)place;
}
template <class T> static inline T __ldcs(const T *place)
{
  return *place;
}
template <class T> static inline void __stcs(T *place, T value)
{
  *place = value;
}
template <class T> static inline void __stcg(T *place, T value)
{
  *place = value;
}

static inline void __threadfence(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_block(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_system(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __nanosleep(unsigned)
{
}

/* The value's type is the place's, as in CUDA's overloads. */
template <class T> struct emulated_same {
  typedef T type;
};
#define EMULATED_ATOMIC(name, builtin)                                                             \
  template <class T> static inline T atomic##name(T *place, typename emulated_same<T>::type value) \
  {                                                                                                \
    return builtin(place, value, __ATOMIC_SEQ_CST);                                                \
  }
EMULATED_ATOMIC(Add, __atomic_fetch_add)
EMULATED_ATOMIC(Sub, __atomic_fetch_sub)
EMULATED_ATOMIC(And, __atomic_fetch_and)
EMULATED_ATOMIC(Or, __atomic_fetch_or)
EMULATED_ATOMIC(Xor, __atomic_fetch_xor)
EMULATED_ATOMIC(Exch, __atomic_exchange_n)

template <class T>
static inline T atomicCAS(T *place, typename emulated_same<T>::type expected, typename emulated_same<T>::type value)
{
  __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
template <class T> static inline T atomicMin(T *place, typename emulated_same<T>::type value)
{
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (value < old && !__atomic_compare_exchange_n(place, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}
template <class T> static inline T atomicMax(T *place, typename emulated_same<T>::type value)
{
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (value > old && !__atomic_compare_exchange_n(place, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

/* ---- integers ---- */

static inline int __popc(unsigned bits)
{
  return __builtin_popcount(bits);
}
static inline int __popcll(unsigned long long bits)
{
  return __builtin_popcountll(bits);
}
static inline int __ffs(int bits)
{
  return __builtin_ffs(bits);
}
static inline int __ffsll(long long bits)
{
  return __builtin_ffsll(bits);
}
static inline int __clz(int bits)
{
  return bits ? __builtin_clz((unsigned)bits) : 32;
}
static inline int __clzll(long long bits)
{
  return bits ? __builtin_clzll((unsigned long long)bits) : 64;
}
static inline unsigned __brev(unsigned bits)
{
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) {
    reversed |= (bits >> i & 1) << (31 - i);
  }
  return reversed;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
  return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
  const uint64_t bytes = (uint64_t)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned select = selector >> 4 * i & 15, byte = (unsigned)(bytes >> 8 * (select & 7)) & 255;
    result |= (select & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return result;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
  for (int i = 0; i < 32; i += 8) {
    sum += (a >> i & 255) * (b >> i & 255);
  }
  return sum;
}
static inline int __dp4a(int a, int b, int sum)
{
  for (int i = 0; i < 32; i += 8) {
    sum += (int8_t)(a >> i) * (int8_t)(b >> i);
  }
  return sum;
}

/* Instructions on the 2 or 4 parts of a word; `part` is a part's type. */
template <class PART, class OPERATION>
static inline unsigned emulated_parts(unsigned a, unsigned b, OPERATION operation)
{
  const int bits = 8 * (int)sizeof(PART);
  unsigned result = 0;
  for (int i = 0; i < 32; i += bits) {
    const PART part = (PART)operation((PART)(a >> i), (PART)(b >> i));
    result |= (unsigned)(typename std::conditional<sizeof(PART) == 1, uint8_t, uint16_t>::type) part << i;
  }
  return result;
}
#define EMULATED_PARTS(name, part, expression)                                      \
  static inline unsigned name(unsigned a, unsigned b)                               \
  {                                                                                 \
    return emulated_parts<part>(a, b, [](part x, part y) { return (expression); }); \
  }
EMULATED_PARTS(__vmins2, int16_t, x < y ? x : y)
EMULATED_PARTS(__vmaxs2, int16_t, x > y ? x : y)
EMULATED_PARTS(__vminu2, uint16_t, x < y ? x : y)
EMULATED_PARTS(__vmaxu2, uint16_t, x > y ? x : y)
EMULATED_PARTS(__vmins4, int8_t, x < y ? x : y)
EMULATED_PARTS(__vmaxs4, int8_t, x > y ? x : y)
EMULATED_PARTS(__vminu4, uint8_t, x < y ? x : y)
EMULATED_PARTS(__vmaxu4, uint8_t, x > y ? x : y)
EMULATED_PARTS(__vcmpeq2, uint16_t, x == y ? -1 : 0)
EMULATED_PARTS(__vcmpeq4, uint8_t, x == y ? -1 : 0)
EMULATED_PARTS(__vcmpgeu2, uint16_t, x >= y ? -1 : 0)
EMULATED_PARTS(__vcmpges2, int16_t, x >= y ? -1 : 0)
EMULATED_PARTS(__vcmpgeu4, uint8_t, x >= y ? -1 : 0)
EMULATED_PARTS(__vcmpges4, int8_t, x >= y ? -1 : 0)
EMULATED_PARTS(__vadd2, uint16_t, x + y)
EMULATED_PARTS(__vsub2, uint16_t, x - y)

/* CUDA's overloads, also of types that are not alike. */
#define EMULATED_MIN_MAX(a, b, result)         \
  static inline result min(a x, b y)           \
  {                                            \
    const result p = (result)x, q = (result)y; \
    return p < q ? p : q;                      \
  }                                            \
  static inline result max(a x, b y)           \
  {                                            \
    const result p = (result)x, q = (result)y; \
    return p > q ? p : q;                      \
  }
#define EMULATED_MIN_MAX_SIGNS(type)                            \
  EMULATED_MIN_MAX(type, type, type)                            \
  EMULATED_MIN_MAX(unsigned type, unsigned type, unsigned type) \
  EMULATED_MIN_MAX(type, unsigned type, unsigned type)          \
  EMULATED_MIN_MAX(unsigned type, type, unsigned type)
EMULATED_MIN_MAX_SIGNS(int)
EMULATED_MIN_MAX_SIGNS(long)
EMULATED_MIN_MAX_SIGNS(long long)
static inline float min(float x, float y)
{
  return fminf(x, y);
}
static inline float max(float x, float y)
{
  return fmaxf(x, y);
}
static inline double min(double x, double y)
{
  return fmin(x, y);
}
static inline double max(double x, double y)
{
  return fmax(x, y);
}

/* ---- floating point ---- */

template <class TO, class FROM> static inline TO emulated_bits(FROM from)
{
  TO to;
  static_assert(sizeof(to) == sizeof(from), "the same bits");
  memcpy(&to, &from, sizeof(to));
  return to;
}
static inline unsigned __float_as_uint(float x)
{
  return emulated_bits<unsigned>(x);
}
static inline int __float_as_int(float x)
{
  return emulated_bits<int>(x);
}
static inline float __uint_as_float(unsigned x)
{
  return emulated_bits<float>(x);
}
static inline float __int_as_float(int x)
{
  return emulated_bits<float>(x);
}
static inline long long __double_as_longlong(double x)
{
  return emulated_bits<long long>(x);
}
static inline double __longlong_as_double(long long x)
{
  return emulated_bits<double>(x);
}
static inline double __hiloint2double(int high, int low)
{
  return emulated_bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}
static inline int __double2hiint(double x)
{
  return (int)(emulated_bits<uint64_t>(x) >> 32);
}
static inline int __double2loint(double x)
{
  return (int)emulated_bits<uint64_t>(x);
}
static inline float __fmaf_rn(float x, float y, float z)
{
  return fmaf(x, y, z);
}
static inline double __fma_rn(double x, double y, double z)
{
  return fma(x, y, z);
}
#define EMULATED_ROUNDED(name, type, expression) \
  static inline type name(type x, type y)        \
  {                                              \
    return expression;                           \
  }
EMULATED_ROUNDED(__fadd_rn, float, x + y)
EMULATED_ROUNDED(__fsub_rn, float, x - y)
EMULATED_ROUNDED(__fmul_rn, float, x *y)
EMULATED_ROUNDED(__fdiv_rn, float, x / y)
EMULATED_ROUNDED(__dadd_rn, double, x + y)
EMULATED_ROUNDED(__dsub_rn, double, x - y)
EMULATED_ROUNDED(__dmul_rn, double, x *y)
EMULATED_ROUNDED(__ddiv_rn, double, x / y)
static inline float __fsqrt_rn(float x)
{
  return sqrtf(x);
}
static inline double __dsqrt_rn(double x)
{
  return sqrt(x);
}

/* ---- the runtime ---- */

#define EMULATED_ERRORS(E)                                                                                \
  E(Success, 0, "no error")                                                                               \
  E(ErrorInvalidValue, 1, "invalid argument")                                                             \
  E(ErrorMemoryAllocation, 2, "out of memory")                                                            \
  E(ErrorInvalidConfiguration, 9, "invalid configuration argument")                                       \
  E(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")          \
  E(ErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                     \
  E(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                             \
  E(ErrorInvalidDevice, 101, "invalid device ordinal")                                                    \
  E(ErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                    \
  E(ErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")            \
  E(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                           \
  E(ErrorNotReady, 600, "device not ready")                                                               \
  E(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                                 \
  E(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                            \
  E(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                   \
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

/* ---- kernels ---- */

typedef void (*emulator_any)(void);
cudaError_t emulator_set_attribute(emulator_any kernel, cudaFuncAttribute attribute, int value);
int emulator_occupancy(int threads, size_t shared_bytes);

/* A kernel with its arguments, for any thread to run. */
struct emulator_call {
  virtual ~emulator_call()
  {
  }
  virtual void run() const = 0;
};
/* Takes the call over. */
cudaError_t emulator_launch(const cudaLaunchConfig_t *config, emulator_any kernel, const emulator_call *call);

template <class... PARAMETERS> struct emulated_call : emulator_call {
  void (*kernel)(PARAMETERS...);
  std::tuple<PARAMETERS...> arguments;
  emulated_call(void (*k)(PARAMETERS...), const PARAMETERS &...a) : kernel(k), arguments(a...)
  {
  }
  void run() const override
  {
    run_with(std::index_sequence_for<PARAMETERS...>());
  }
  template <size_t... PLACES> void run_with(std::index_sequence<PLACES...>) const
  {
    kernel(std::get<PLACES>(arguments)...);
  }
};

template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t cudaLaunchKernelEx(
  const cudaLaunchConfig_t *config, void (*kernel)(PARAMETERS...), ARGUMENTS &&...arguments)
{
  return emulator_launch(config, (emulator_any)kernel, new emulated_call<PARAMETERS...>(kernel, arguments...));
}

template <class... PARAMETERS>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(PARAMETERS...), cudaFuncAttribute attribute, int value)
{
  return emulator_set_attribute((emulator_any)kernel, attribute, value);
}

/* Of code for a device of 9.0. */
template <class KERNEL> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, KERNEL)
{
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}

template <class KERNEL>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
  int *blocks, KERNEL, int threads, size_t shared_bytes)
{
  *blocks = emulator_occupancy(threads, shared_bytes);
  return cudaSuccess;
}

#endif
