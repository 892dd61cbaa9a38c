/* SPDX-License-Identifier: BSD-3-Clause
 * The ten types of samples. X(NAME, type, name, real): of pmb_type, in C, in names of functions; and the type in which its
 * samples are handled. */
#ifndef PMB_TYPES_H
#define PMB_TYPES_H

#define PMB_SAMPLE_TYPES(X)           \
  X(INT8, int8_t, int8, float)        \
  X(UINT8, uint8_t, uint8, float)     \
  X(INT16, int16_t, int16, float)     \
  X(UINT16, uint16_t, uint16, float)  \
  X(INT32, int32_t, int32, double)    \
  X(UINT32, uint32_t, uint32, double) \
  X(INT64, int64_t, int64, double)    \
  X(UINT64, uint64_t, uint64, double) \
  X(FLOAT32, float, float32, float)   \
  X(FLOAT64, double, float64, double)

#endif
