/* SPDX-License-Identifier: BSD-3-Clause
 * The ten types of samples. X(NAME, type, name, real): the name in pmb_type, the C type, the name in functions, and the type in
 * which its samples are handled. */
#ifndef PMB_TYPES_H
#define PMB_TYPES_H

#include <math.h>
#include <stdint.h>

#define PMB_INTEGER_TYPES(X)          \
  X(INT8, int8_t, int8, float)        \
  X(UINT8, uint8_t, uint8, float)     \
  X(INT16, int16_t, int16, float)     \
  X(UINT16, uint16_t, uint16, float)  \
  X(INT32, int32_t, int32, double)    \
  X(UINT32, uint32_t, uint32, double) \
  X(INT64, int64_t, int64, double)    \
  X(UINT64, uint64_t, uint64, double)
#define PMB_FLOAT_TYPES(X)          \
  X(FLOAT32, float, float32, float) \
  X(FLOAT64, double, float64, double)
#define PMB_SAMPLE_TYPES(X) PMB_INTEGER_TYPES(X) PMB_FLOAT_TYPES(X)

/* The least and the greatest value of an integer type. */
#define PMB_LOWEST(type) ((type)((type)-1 < (type)1 ? (uint64_t)1 << (8 * sizeof(type) - 1) : 0))
#define PMB_HIGHEST(type) ((type) ~(uint64_t)PMB_LOWEST(type))

/* The same of any type. */
#define PMB_LEAST(type) ((type)0.5 != 0 ? (type)-INFINITY : PMB_LOWEST(type))
#define PMB_MOST(type) ((type)0.5 != 0 ? (type)INFINITY : PMB_HIGHEST(type))

/* In a template, which pmb_each_type.h includes once per type with PMB_TYPE set to the type's name: the type; the type in which
 * its samples are handled; whether it is floating point; and names of the template's own, per type. */
#define PMB_JOIN_(a, b) a##b
#define PMB_JOIN(a, b) PMB_JOIN_(a, b)
#define PMB_T_NAME(name) PMB_JOIN(name##_, PMB_TYPE)
#define PMB_T PMB_T_NAME(pmb_sample)
#define PMB_T_REAL PMB_T_NAME(pmb_real)
#define PMB_T_IS_FLOAT ((PMB_T)0.5 != 0)

#define PMB_TYPE_NAMES(NAME, type, name, real) \
  typedef type pmb_sample_##name;              \
  typedef real pmb_real_##name;
PMB_SAMPLE_TYPES(PMB_TYPE_NAMES)
#undef PMB_TYPE_NAMES

#endif
