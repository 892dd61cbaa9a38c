/* SPDX-License-Identifier: BSD-3-Clause
 *
 * floats.h - instructions on floating-point numbers; their bits. */
#ifndef EMULATED_FLOATS_H
#define EMULATED_FLOATS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

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

#endif
