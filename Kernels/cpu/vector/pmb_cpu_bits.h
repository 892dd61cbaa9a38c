/* SPDX-License-Identifier: BSD-3-Clause
 * Comparisons of a tile row to a word of bits, one bit per sample. The C loops are the reference. */
#ifndef PMB_CPU_BITS_H
#define PMB_CPU_BITS_H

#include "cpu/pmb_cpu.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define PMB_ROW_BITS ((1ull << PMB_TILE_COLUMNS) - 1)

#if defined(__AVX512F__)

static inline uint64_t bits_at_least_f32(const float *row, float value)
{
  const __m512 v = _mm512_set1_ps(value);
  const uint64_t a = _mm512_cmp_ps_mask(_mm512_loadu_ps(row), v, _CMP_GE_OQ);
  const uint64_t b = _mm512_cmp_ps_mask(_mm512_loadu_ps(row + 16), v, _CMP_GE_OQ);
  const uint64_t c = _mm512_cmp_ps_mask(_mm512_loadu_ps(row + 32), v, _CMP_GE_OQ);
  return (a | b << 16 | c << 32) & PMB_ROW_BITS;
}

static inline uint64_t bits_equal_f32(const float *row, float value)
{
  const __m512 v = _mm512_set1_ps(value);
  const uint64_t a = _mm512_cmp_ps_mask(_mm512_loadu_ps(row), v, _CMP_EQ_OQ);
  const uint64_t b = _mm512_cmp_ps_mask(_mm512_loadu_ps(row + 16), v, _CMP_EQ_OQ);
  const uint64_t c = _mm512_cmp_ps_mask(_mm512_loadu_ps(row + 32), v, _CMP_EQ_OQ);
  return (a | b << 16 | c << 32) & PMB_ROW_BITS;
}

static inline uint64_t bits_at_least_f64(const double *row, double value)
{
  const __m512d v = _mm512_set1_pd(value);
  uint64_t bits = 0;
  for (int i = 0; i < 40; i += 8) {
    bits |= (uint64_t)_mm512_cmp_pd_mask(_mm512_loadu_pd(row + i), v, _CMP_GE_OQ) << i;
  }
  return bits & PMB_ROW_BITS;
}

static inline uint64_t bits_equal_f64(const double *row, double value)
{
  const __m512d v = _mm512_set1_pd(value);
  uint64_t bits = 0;
  for (int i = 0; i < 40; i += 8) {
    bits |= (uint64_t)_mm512_cmp_pd_mask(_mm512_loadu_pd(row + i), v, _CMP_EQ_OQ) << i;
  }
  return bits & PMB_ROW_BITS;
}

#elif defined(__AVX2__)

static inline uint64_t bits_at_least_f32(const float *row, float value)
{
  const __m256 v = _mm256_set1_ps(value);
  uint64_t bits = 0;
  for (int i = 0; i < 40; i += 8) {
    bits |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(row + i), v, _CMP_GE_OQ)) << i;
  }
  return bits & PMB_ROW_BITS;
}

static inline uint64_t bits_equal_f32(const float *row, float value)
{
  const __m256 v = _mm256_set1_ps(value);
  uint64_t bits = 0;
  for (int i = 0; i < 40; i += 8) {
    bits |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(row + i), v, _CMP_EQ_OQ)) << i;
  }
  return bits & PMB_ROW_BITS;
}

static inline uint64_t bits_at_least_f64(const double *row, double value)
{
  const __m256d v = _mm256_set1_pd(value);
  uint64_t bits = 0;
  for (int i = 0; i < 36; i += 4) {
    bits |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(row + i), v, _CMP_GE_OQ)) << i;
  }
  return bits & PMB_ROW_BITS;
}

static inline uint64_t bits_equal_f64(const double *row, double value)
{
  const __m256d v = _mm256_set1_pd(value);
  uint64_t bits = 0;
  for (int i = 0; i < 36; i += 4) {
    bits |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(row + i), v, _CMP_EQ_OQ)) << i;
  }
  return bits & PMB_ROW_BITS;
}

#else

#define PMB_BITS(name, type, operator)                     \
  static inline uint64_t name(const type *row, type value) \
  {                                                        \
    uint64_t bits = 0;                                     \
    for (int i = 0; i < PMB_TILE_COLUMNS; ++i) {           \
      bits |= (uint64_t)(row[i] operator value) << i;      \
    }                                                      \
    return bits;                                           \
  }
PMB_BITS(bits_at_least_f32, float, >=)
PMB_BITS(bits_equal_f32, float, ==)
PMB_BITS(bits_at_least_f64, double, >=)
PMB_BITS(bits_equal_f64, double, ==)

#endif

static inline uint64_t bits_finite_f32(const float *row)
{
  uint64_t bits = 0;
  for (int i = 0; i < PMB_TILE_COLUMNS; ++i) {
    bits |= (uint64_t)PMB_IS_FINITE(row[i]) << i;
  }
  return bits;
}

static inline uint64_t bits_finite_f64(const double *row)
{
  uint64_t bits = 0;
  for (int i = 0; i < PMB_TILE_COLUMNS; ++i) {
    bits |= (uint64_t)PMB_IS_FINITE(row[i]) << i;
  }
  return bits;
}

#endif
