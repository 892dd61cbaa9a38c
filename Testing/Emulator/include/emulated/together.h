/* SPDX-License-Identifier: BSD-3-Clause
 *
 * together.h - where a thread is, and what the threads of a warp or a block do together. */
#ifndef EMULATED_TOGETHER_H
#define EMULATED_TOGETHER_H

#include <stdint.h>
#include <string.h>

#include "emulated/types.h"

/* Of the running thread. */
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
enum { warpSize = 32 };

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

#endif
