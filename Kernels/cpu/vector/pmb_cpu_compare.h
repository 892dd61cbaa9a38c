/* SPDX-License-Identifier: BSD-3-Clause
 * Comparisons of 32 samples that lie side by side in memory, in their own type: bit i is in[i] >= value (at_least_TYPE), or
 * in[i] == value (equal_TYPE). Loops to bytes, which compilers turn into vector instructions, then from bytes to bits. */
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
    /* Byte j is moved to bit 56 + j, by the factor's bit 56 - 7 j. */
    bits |= (uint32_t)((eight & 0x0101010101010101u) * 0x0102040810204080u >> 56) << i;
  }
  return bits;
#endif
}

#define PMB_COMPARED(name, type, operator)                \
  static inline uint32_t name(const type *in, type value) \
  {                                                       \
    int8_t bytes[32];                                     \
    for (int i = 0; i < 32; ++i) {                        \
      bytes[i] = (int8_t) - (in[i] operator value);       \
    }                                                     \
    return bits_of_bytes(bytes);                          \
  }
/* find_equal_TYPE: whether samples can equal the isovalue, all those alike that do, and the value that they have then. (Several
 * 64-bit integers may equal it.) */
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
#undef PMB_COMPARED
#undef PMB_COMPARISONS

#endif
