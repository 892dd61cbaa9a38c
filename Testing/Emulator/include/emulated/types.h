/* SPDX-License-Identifier: BSD-3-Clause
 *
 * types.h - CUDA's vector types. */
#ifndef EMULATED_TYPES_H
#define EMULATED_TYPES_H

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

#endif
