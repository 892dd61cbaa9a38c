/* SPDX-License-Identifier: BSD-3-Clause
 * Compares 32 samples that lie side by side in their own type: bit i is in[i] >= value (at_least_TYPE), or in[i] == value
 * (equal_TYPE). A loop that compilers vectorize makes bytes, which then become bits. */
#ifndef PMB_CPU_COMPARE_H
#define PMB_CPU_COMPARE_H

#include <string.h>

#include "core/pmb_isovalue.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* From 32 bytes of 0 or -1 to bits. */
static inline uint32_t bits_of_bytes(const int8_t bytes[32])
{
#if defined(__AVX2__)
  return (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)bytes));
#else
  uint32_t bits = 0;
  for (int i = 0; i < 32; i += 8) {
    uint64_t eight;
    memcpy(&eight, bytes + i, sizeof(eight));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    /* The factor's bit 56 - 7 j moves byte j to bit 56 + j. */
    bits |= (uint32_t)((eight & 0x0101010101010101u) * 0x0102040810204080u >> 56) << i;
  }
  return bits;
#endif
}

/* Wider samples skip the bytes: bits come from the lanes of vectors or, without AVX2, from masks. */
#if defined(__AVX512F__)
typedef __m512i vector;
enum { LANE_SIZE = 2 }; /* bytes of the smallest of these samples */
PMB_INLINE uint32_t bits_of_lanes(vector lanes, size_t size)
{
  return size == 2 ? _mm512_movepi16_mask(lanes)
    : size == 4    ? _mm512_movepi32_mask(lanes)
                   : _mm512_movepi64_mask(lanes);
}
#elif defined(__AVX2__)
typedef __m256i vector;
enum { LANE_SIZE = 4 };
PMB_INLINE uint32_t bits_of_lanes(vector lanes, size_t size)
{
  return (uint32_t)(size == 4 ? _mm256_movemask_ps(_mm256_castsi256_ps(lanes))
                              : _mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
}
#else
enum { LANE_SIZE = 4 };
static const uint32_t place_bits[32] = { 1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
  1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18,
  1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29,
  1u << 30, 1u << 31 };
#endif

#if defined(__AVX2__)
#define PMB_LANE_BITS(type, operator)                                                        \
  typedef type samples __attribute__((vector_size(sizeof(vector))));                         \
  for (size_t i = 0; i < 32; i += sizeof(vector) / sizeof(type)) {                           \
    samples some;                                                                            \
    memcpy(&some, in + i, sizeof(some));                                                     \
    bits |= bits_of_lanes((vector)(some operator(samples){ 0 } + value), sizeof(type)) << i; \
  }
#else
#define PMB_LANE_BITS(type, operator)                 \
  for (int i = 0; i < 32; ++i) {                      \
    bits |= in[i] operator value ? place_bits[i] : 0; \
  }
#endif

#define PMB_COMPARED(name, type, operator)                \
  static inline uint32_t name(const type *in, type value) \
  {                                                       \
    if (sizeof(type) >= LANE_SIZE) {                      \
      uint32_t bits = 0;                                  \
      PMB_LANE_BITS(type, operator)                       \
      return bits;                                        \
    }                                                     \
    int8_t bytes[32];                                     \
    for (int i = 0; i < 32; ++i) {                        \
      bytes[i] = (int8_t) - (in[i] operator value);       \
    }                                                     \
    return bits_of_bytes(bytes);                          \
  }
/* find_equal_TYPE: *equal: the only value of a sample that equals the isovalue. Returns 0 if none does, or for 64-bit integers,
 * of which several may. */
#define PMB_COMPARISONS(NAME, type, name, real)                                                   \
  PMB_COMPARED(at_least_##name, type, >=)                                                         \
  PMB_COMPARED(equal_##name, type, ==)                                                            \
  static inline int find_equal_##name(const pmb_isovalue *isovalue, type *equal)                  \
  {                                                                                               \
    const real value = pmb_equal_##name(isovalue);                                                \
    if ((type)0.5 == 0 &&                                                                         \
      (sizeof(type) == 8 || value < (real)PMB_LOWEST(type) || value > (real)PMB_HIGHEST(type))) { \
      return 0;                                                                                   \
    }                                                                                             \
    *equal = (type)value;                                                                         \
    return 1;                                                                                     \
  }
PMB_SAMPLE_TYPES(PMB_COMPARISONS)
#undef PMB_LANE_BITS
#undef PMB_COMPARED
#undef PMB_COMPARISONS

#endif
