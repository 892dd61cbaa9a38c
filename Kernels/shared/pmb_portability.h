/* SPDX-License-Identifier: BSD-3-Clause
 * Differences between the compilers of the shared definition: gcc, clang, nvcc. */
#ifndef PMB_PORTABILITY_H
#define PMB_PORTABILITY_H

#include <stdint.h>

#if defined(__CUDACC__)
#define PMB_INLINE static __device__ __forceinline__
#define PMB_NEVER_INLINE static __device__ __noinline__
#define PMB_CONSTEXPR static __host__ __device__ __forceinline__ constexpr /* also for tables at compile time */
#define PMB_TABLE static __device__ constexpr
#else
#define PMB_INLINE static inline __attribute__((always_inline, unused))
#define PMB_NEVER_INLINE static __attribute__((noinline, unused))
#define PMB_CONSTEXPR PMB_INLINE
#define PMB_TABLE static const __attribute__((unused))
#endif

#if defined(__cplusplus)
#define PMB_ALIGNAS alignas
#else
#define PMB_ALIGNAS _Alignas
#endif

/* Sets bits of a word; on a GPU other threads may do so at the same time. */
PMB_INLINE void pmb_set_bits(uint32_t *word, uint32_t bits)
{
#if defined(__CUDA_ARCH__)
  atomicOr(word, bits);
#else
  *word |= bits;
#endif
}

PMB_INLINE int pmb_popcount(uint64_t bits)
{
#if defined(__CUDA_ARCH__)
  return __popcll(bits);
#else
  return __builtin_popcountll(bits);
#endif
}

/* Index of the lowest set bit; bits != 0. */
PMB_INLINE int pmb_lowest_bit(uint64_t bits)
{
#if defined(__CUDA_ARCH__)
  return __ffsll((long long)bits) - 1;
#else
  return __builtin_ctzll(bits);
#endif
}

#endif
