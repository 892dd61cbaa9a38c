/* SPDX-License-Identifier: BSD-3-Clause
 * CUDA's instructions on numbers, bits and parts of a word. */
#ifndef EMULATED_ARITHMETIC_H
#define EMULATED_ARITHMETIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

/* Of integers, also of different types, which CUDA converts as C++ does. */
template <class A, class B> static inline typename std::common_type<A, B>::type min(A a, B b)
{
  typedef typename std::common_type<A, B>::type result;
  static_assert(std::is_integral<result>::value, "CUDA's minimum of floats ignores NaN");
  return (result)a < (result)b ? (result)a : (result)b;
}
template <class A, class B> static inline typename std::common_type<A, B>::type max(A a, B b)
{
  typedef typename std::common_type<A, B>::type result;
  static_assert(std::is_integral<result>::value, "CUDA's maximum of floats ignores NaN");
  return (result)a > (result)b ? (result)a : (result)b;
}

template <class TO, class FROM> static inline TO emulated_bits(FROM from)
{
  TO to;
  static_assert(sizeof(to) == sizeof(from), "as many bits");
  memcpy(&to, &from, sizeof(to));
  return to;
}
#define __float_as_uint emulated_bits<unsigned, float>
#define __uint_as_float emulated_bits<float, unsigned>
#define __int_as_float emulated_bits<float, int>
#define __fmaf_rn fmaf
#define rsqrtf(x) (1 / sqrtf(x))
#define __popc __builtin_popcount
#define __popcll __builtin_popcountll
#define __ffs __builtin_ffs
#define __ffsll __builtin_ffsll

static inline int __clz(int bits)
{
  return bits ? __builtin_clz((unsigned)bits) : 32;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
/* For selectors below 8. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
  const uint64_t bytes = (uint64_t)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= ((unsigned)(bytes >> 8 * (selector >> 4 * i & 7)) & 255) << 8 * i;
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

/* Defines an operation on both halves of a word. */
#define EMULATED_HALVES(name, half, operation)                           \
  static inline unsigned name(unsigned a, unsigned b)                    \
  {                                                                      \
    return (uint16_t)operation((half)a, (half)b) |                       \
      (unsigned)(uint16_t)operation(half(a >> 16), half(b >> 16)) << 16; \
  }
EMULATED_HALVES(__vmins2, int16_t, min)
EMULATED_HALVES(__vmaxs2, int16_t, max)
EMULATED_HALVES(__vminu2, uint16_t, min)
EMULATED_HALVES(__vmaxu2, uint16_t, max)

#endif
