/* SPDX-License-Identifier: BSD-3-Clause
 *
 * integers.h - instructions on integers and on the parts of a word. */
#ifndef EMULATED_INTEGERS_H
#define EMULATED_INTEGERS_H

#include <stdint.h>

#include <type_traits>

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

#endif
