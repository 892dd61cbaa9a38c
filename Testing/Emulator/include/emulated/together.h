/* SPDX-License-Identifier: BSD-3-Clause
 * The indices of a thread, collective functions of a warp and a block, and access to memory. */
#ifndef EMULATED_TOGETHER_H
#define EMULATED_TOGETHER_H

#include <stdint.h>
#include <string.h>

#include "emulated/runtime.h"

/* Indices and sizes of the running thread. */
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;

enum emulator_kind {
  EMULATOR_SYNCTHREADS,
  EMULATOR_SYNCWARP,
  EMULATOR_SHFL,
  EMULATOR_SHFL_UP,
  EMULATOR_SHFL_DOWN,
  EMULATOR_SHFL_XOR,
  EMULATOR_BALLOT,
  EMULATOR_REDUCE_ADD,
  EMULATOR_KINDS
};

/* Waits for the threads in the mask, which must all call with the same kind. Returns the calling thread's result. */
uint64_t emulator_together(emulator_kind kind, uint32_t mask, uint64_t value, uint32_t argument);
void __syncthreads(void);
/* Makes the GPU fail, like the instruction trap. */
void __trap(void);

static inline void __syncwarp(uint32_t mask = UINT32_MAX)
{
  emulator_together(EMULATOR_SYNCWARP, mask, 0, 0);
}
static inline unsigned __ballot_sync(uint32_t mask, int predicate)
{
  return (unsigned)emulator_together(EMULATOR_BALLOT, mask, predicate != 0, 0);
}
static inline int __any_sync(uint32_t mask, int predicate)
{
  return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(uint32_t mask, int predicate)
{
  return __ballot_sync(mask, !predicate) == 0;
}

static inline unsigned __reduce_add_sync(uint32_t mask, unsigned value)
{
  return (unsigned)emulator_together(EMULATOR_REDUCE_ADD, mask, value, 0);
}

#define EMULATED_SHUFFLE(name, kind)                                               \
  template <class T> static inline T name(uint32_t mask, T value, int argument)    \
  {                                                                                \
    static_assert(sizeof(T) <= sizeof(uint64_t), "shuffles move at most 8 bytes"); \
    uint64_t bits = 0;                                                             \
    memcpy(&bits, &value, sizeof(T));                                              \
    bits = emulator_together(kind, mask, bits, (uint32_t)argument);                \
    memcpy(&value, &bits, sizeof(T));                                              \
    return value;                                                                  \
  }
EMULATED_SHUFFLE(__shfl_sync, EMULATOR_SHFL)
EMULATED_SHUFFLE(__shfl_up_sync, EMULATOR_SHFL_UP)
EMULATED_SHUFFLE(__shfl_down_sync, EMULATOR_SHFL_DOWN)
EMULATED_SHUFFLE(__shfl_xor_sync, EMULATOR_SHFL_XOR)

/* ---- memory ---- */

template <class T> static inline T __ldg(const T *place)
{
  return *place;
}
template <class T> static inline T __ldcg(const T *place)
{
  return *(const volatile T *)place;
}
template <class T> static inline void __stcs(T *place, T value)
{
  *place = value;
}
static inline void __threadfence(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The value has the type of the memory, as in CUDA's overloads. */
template <class T> struct emulated_same {
  typedef T type;
};
#define EMULATED_ATOMIC(name, builtin)                                                             \
  template <class T> static inline T atomic##name(T *place, typename emulated_same<T>::type value) \
  {                                                                                                \
    return builtin(place, value, __ATOMIC_SEQ_CST);                                                \
  }
EMULATED_ATOMIC(Add, __atomic_fetch_add)
EMULATED_ATOMIC(Or, __atomic_fetch_or)
EMULATED_ATOMIC(Exch, __atomic_exchange_n)

template <class T>
static inline T atomicCAS(T *place, typename emulated_same<T>::type expected, typename emulated_same<T>::type value)
{
  __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
template <class T> static inline T atomicMax(T *place, typename emulated_same<T>::type value)
{
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (value > old && !__atomic_compare_exchange_n(place, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}
template <class T> static inline T atomicMin(T *place, typename emulated_same<T>::type value)
{
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (value < old && !__atomic_compare_exchange_n(place, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

#endif
