/* SPDX-License-Identifier: BSD-3-Clause
 * Bits of 32 samples that lie side by side in memory, compared in their own type: bit i is in[i] >= value, or in
 * equal_TYPE in[i] == value. */
#ifndef PMB_CPU_COMPARE_H
#define PMB_CPU_COMPARE_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>

/* lanes: of a vector; word: its bits that are set where v >= value, or where it is equal. */
#define PMB_COMPARED(name, type, vector, lanes, load, spread, word) \
  static inline uint32_t name(const type *in, type value)           \
  {                                                                 \
    const vector least = spread;                                    \
    uint32_t bits = 0;                                              \
    for (int i = 0; i < 32; i += lanes) {                           \
      const vector v = load;                                        \
      bits |= (uint32_t)word << i;                                  \
    }                                                               \
    return bits;                                                    \
  }
#define PMB_AT_LEAST(name, type, vector, lanes, load, spread, word) \
  PMB_COMPARED(at_least_##name, type, vector, lanes, load, spread, word)
#define PMB_EQUAL(name, type, vector, lanes, load, spread, word) \
  PMB_COMPARED(equal_##name, type, vector, lanes, load, spread, word)
#endif

#if defined(__AVX512F__)

#define PMB_LOAD_256 _mm256_loadu_si256((const __m256i *)(in + i))
#define PMB_LOAD_512 _mm512_loadu_si512(in + i)
PMB_AT_LEAST(int8, int8_t, __m256i, 32, PMB_LOAD_256, _mm256_set1_epi8(value), _mm256_cmpge_epi8_mask(v, least))
PMB_AT_LEAST(
  uint8, uint8_t, __m256i, 32, PMB_LOAD_256, _mm256_set1_epi8((char)value), _mm256_cmpge_epu8_mask(v, least))
PMB_AT_LEAST(int16, int16_t, __m512i, 32, PMB_LOAD_512, _mm512_set1_epi16(value), _mm512_cmpge_epi16_mask(v, least))
PMB_AT_LEAST(
  uint16, uint16_t, __m512i, 32, PMB_LOAD_512, _mm512_set1_epi16((short)value), _mm512_cmpge_epu16_mask(v, least))
PMB_AT_LEAST(int32, int32_t, __m512i, 16, PMB_LOAD_512, _mm512_set1_epi32(value), _mm512_cmpge_epi32_mask(v, least))
PMB_AT_LEAST(
  uint32, uint32_t, __m512i, 16, PMB_LOAD_512, _mm512_set1_epi32((int)value), _mm512_cmpge_epu32_mask(v, least))
PMB_AT_LEAST(int64, int64_t, __m512i, 8, PMB_LOAD_512, _mm512_set1_epi64(value), _mm512_cmpge_epi64_mask(v, least))
PMB_AT_LEAST(
  uint64, uint64_t, __m512i, 8, PMB_LOAD_512, _mm512_set1_epi64((long long)value), _mm512_cmpge_epu64_mask(v, least))
PMB_AT_LEAST(float32, float, __m512, 16, _mm512_loadu_ps(in + i), _mm512_set1_ps(value),
  _mm512_cmp_ps_mask(v, least, _CMP_GE_OQ))
PMB_AT_LEAST(float64, double, __m512d, 8, _mm512_loadu_pd(in + i), _mm512_set1_pd(value),
  _mm512_cmp_pd_mask(v, least, _CMP_GE_OQ))
PMB_EQUAL(int8, int8_t, __m256i, 32, PMB_LOAD_256, _mm256_set1_epi8(value), _mm256_cmpeq_epi8_mask(v, least))
PMB_EQUAL(uint8, uint8_t, __m256i, 32, PMB_LOAD_256, _mm256_set1_epi8((char)value), _mm256_cmpeq_epi8_mask(v, least))
PMB_EQUAL(int16, int16_t, __m512i, 32, PMB_LOAD_512, _mm512_set1_epi16(value), _mm512_cmpeq_epi16_mask(v, least))
PMB_EQUAL(
  uint16, uint16_t, __m512i, 32, PMB_LOAD_512, _mm512_set1_epi16((short)value), _mm512_cmpeq_epi16_mask(v, least))
PMB_EQUAL(int32, int32_t, __m512i, 16, PMB_LOAD_512, _mm512_set1_epi32(value), _mm512_cmpeq_epi32_mask(v, least))
PMB_EQUAL(
  uint32, uint32_t, __m512i, 16, PMB_LOAD_512, _mm512_set1_epi32((int)value), _mm512_cmpeq_epi32_mask(v, least))
PMB_EQUAL(int64, int64_t, __m512i, 8, PMB_LOAD_512, _mm512_set1_epi64(value), _mm512_cmpeq_epi64_mask(v, least))
PMB_EQUAL(
  uint64, uint64_t, __m512i, 8, PMB_LOAD_512, _mm512_set1_epi64((long long)value), _mm512_cmpeq_epi64_mask(v, least))
PMB_EQUAL(float32, float, __m512, 16, _mm512_loadu_ps(in + i), _mm512_set1_ps(value),
  _mm512_cmp_ps_mask(v, least, _CMP_EQ_OQ))
PMB_EQUAL(float64, double, __m512d, 8, _mm512_loadu_pd(in + i), _mm512_set1_pd(value),
  _mm512_cmp_pd_mask(v, least, _CMP_EQ_OQ))

#elif defined(__AVX2__)

/* Integers: AVX2 has "greater" for signed ones only, and an unsigned v is at least the value if it is the greater of the
 * two. */
static inline __m256i pmb_load(const void *in)
{
  return _mm256_loadu_si256((const __m256i *)in);
}

/* Bits of 16-bit lanes that are 0 or -1. */
static inline uint32_t pmb_bits_16(__m256i first, __m256i second)
{
  const __m256i packed = _mm256_packs_epi16(first, second);
  return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xd8));
}

static inline uint32_t at_least_int8(const int8_t *in, int8_t value)
{
  return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(value), pmb_load(in)));
}

static inline uint32_t at_least_uint8(const uint8_t *in, uint8_t value)
{
  const __m256i v = pmb_load(in);
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(v, _mm256_set1_epi8((char)value)), v));
}

static inline uint32_t at_least_int16(const int16_t *in, int16_t value)
{
  const __m256i least = _mm256_set1_epi16(value);
  return ~pmb_bits_16(_mm256_cmpgt_epi16(least, pmb_load(in)), _mm256_cmpgt_epi16(least, pmb_load(in + 16)));
}

static inline uint32_t at_least_uint16(const uint16_t *in, uint16_t value)
{
  const __m256i least = _mm256_set1_epi16((short)value), a = pmb_load(in), b = pmb_load(in + 16);
  return pmb_bits_16(
    _mm256_cmpeq_epi16(_mm256_max_epu16(a, least), a), _mm256_cmpeq_epi16(_mm256_max_epu16(b, least), b));
}

/* The same of 32-bit lanes. */
static inline uint32_t pmb_bits_32(__m256i a, __m256i b, __m256i c, __m256i d)
{
  const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  return (uint32_t)_mm256_movemask_epi8(
    _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

#define PMB_COMPARED_32(name, type, spread, compare)                                   \
  static inline uint32_t name(const type *in, type value)                              \
  {                                                                                    \
    const __m256i least = spread;                                                      \
    return pmb_bits_32(compare(pmb_load(in), least), compare(pmb_load(in + 8), least), \
      compare(pmb_load(in + 16), least), compare(pmb_load(in + 24), least));           \
  }
#define PMB_NOT_LESS_I(v, least) _mm256_cmpeq_epi32(_mm256_max_epi32(v, least), v)
#define PMB_NOT_LESS_U(v, least) _mm256_cmpeq_epi32(_mm256_max_epu32(v, least), v)
#define PMB_NOT_LESS_F(v, least) \
  _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(v), _mm256_castsi256_ps(least), _CMP_GE_OQ))
PMB_COMPARED_32(at_least_int32, int32_t, _mm256_set1_epi32(value), PMB_NOT_LESS_I)
PMB_COMPARED_32(at_least_uint32, uint32_t, _mm256_set1_epi32((int)value), PMB_NOT_LESS_U)
PMB_COMPARED_32(at_least_float32, float, _mm256_castps_si256(_mm256_set1_ps(value)), PMB_NOT_LESS_F)

#define PMB_BITS_64(lanes) _mm256_movemask_pd(_mm256_castsi256_pd(lanes))
#define PMB_FLIP(v) _mm256_xor_si256(v, _mm256_set1_epi64x(INT64_MIN))
PMB_AT_LEAST(int64, int64_t, __m256i, 4, pmb_load(in + i), _mm256_set1_epi64x(value),
  (PMB_BITS_64(_mm256_cmpgt_epi64(least, v)) ^ 0xf))
PMB_AT_LEAST(uint64, uint64_t, __m256i, 4, PMB_FLIP(pmb_load(in + i)), PMB_FLIP(_mm256_set1_epi64x((long long)value)),
  (PMB_BITS_64(_mm256_cmpgt_epi64(least, v)) ^ 0xf))
PMB_AT_LEAST(float64, double, __m256d, 4, _mm256_loadu_pd(in + i), _mm256_set1_pd(value),
  _mm256_movemask_pd(_mm256_cmp_pd(v, least, _CMP_GE_OQ)))

PMB_EQUAL(int8, int8_t, __m256i, 32, pmb_load(in + i), _mm256_set1_epi8(value),
  (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, least)))

static inline uint32_t equal_uint8(const uint8_t *in, uint8_t value)
{
  return equal_int8((const int8_t *)in, (int8_t)value);
}

static inline uint32_t equal_int16(const int16_t *in, int16_t value)
{
  const __m256i same = _mm256_set1_epi16(value);
  return pmb_bits_16(_mm256_cmpeq_epi16(same, pmb_load(in)), _mm256_cmpeq_epi16(same, pmb_load(in + 16)));
}

static inline uint32_t equal_uint16(const uint16_t *in, uint16_t value)
{
  return equal_int16((const int16_t *)in, (int16_t)value);
}

#define PMB_SAME_F(v, same) \
  _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(v), _mm256_castsi256_ps(same), _CMP_EQ_OQ))
PMB_COMPARED_32(equal_int32, int32_t, _mm256_set1_epi32(value), _mm256_cmpeq_epi32)
PMB_COMPARED_32(equal_uint32, uint32_t, _mm256_set1_epi32((int)value), _mm256_cmpeq_epi32)
PMB_COMPARED_32(equal_float32, float, _mm256_castps_si256(_mm256_set1_ps(value)), PMB_SAME_F)
PMB_EQUAL(
  int64, int64_t, __m256i, 4, pmb_load(in + i), _mm256_set1_epi64x(value), PMB_BITS_64(_mm256_cmpeq_epi64(v, least)))
PMB_EQUAL(uint64, uint64_t, __m256i, 4, pmb_load(in + i), _mm256_set1_epi64x((long long)value),
  PMB_BITS_64(_mm256_cmpeq_epi64(v, least)))
PMB_EQUAL(float64, double, __m256d, 4, _mm256_loadu_pd(in + i), _mm256_set1_pd(value),
  _mm256_movemask_pd(_mm256_cmp_pd(v, least, _CMP_EQ_OQ)))

#else

/* Eight bytes of 0 or 1, from the first on, to the lowest bits. */
static inline uint32_t pmb_bits_of_bytes(const uint8_t *bytes)
{
  uint64_t eight;
  memcpy(&eight, bytes, sizeof(eight));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  eight = __builtin_bswap64(eight);
#endif
  /* Byte i is moved to bit 56 + i, by the factor's bit 56 - 7 i. */
  return (uint32_t)(eight * 0x0102040810204080u >> 56);
}

#define PMB_COMPARED(name, type, operator)                                                                      \
  static inline uint32_t name(const type *in, type value)                                                       \
  {                                                                                                             \
    uint8_t bytes[32];                                                                                          \
    for (int i = 0; i < 32; ++i) {                                                                              \
      bytes[i] = in[i] operator value;                                                                          \
    }                                                                                                           \
    return pmb_bits_of_bytes(bytes) | pmb_bits_of_bytes(bytes + 8) << 8 | pmb_bits_of_bytes(bytes + 16) << 16 | \
      pmb_bits_of_bytes(bytes + 24) << 24;                                                                      \
  }
#define PMB_COMPARISONS(name, type)       \
  PMB_COMPARED(at_least_##name, type, >=) \
  PMB_COMPARED(equal_##name, type, ==)
PMB_COMPARISONS(int8, int8_t)
PMB_COMPARISONS(uint8, uint8_t)
PMB_COMPARISONS(int16, int16_t)
PMB_COMPARISONS(uint16, uint16_t)
#undef PMB_COMPARED

static const uint32_t pmb_places[32] = { 1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
  1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18,
  1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29,
  1u << 30, 1u << 31 };

/* Of types as wide as the word a vector's lanes are masks for its bits, without a detour by bytes. */
#define PMB_COMPARED(name, type, operator)                \
  static inline uint32_t name(const type *in, type value) \
  {                                                       \
    uint32_t bits = 0;                                    \
    for (int i = 0; i < 32; ++i) {                        \
      bits |= in[i] operator value ? pmb_places[i] : 0;   \
    }                                                     \
    return bits;                                          \
  }
PMB_COMPARISONS(int32, int32_t)
PMB_COMPARISONS(uint32, uint32_t)
PMB_COMPARISONS(int64, int64_t)
PMB_COMPARISONS(uint64, uint64_t)
PMB_COMPARISONS(float32, float)
PMB_COMPARISONS(float64, double)

#endif

#undef PMB_AT_LEAST
#undef PMB_EQUAL
#undef PMB_COMPARED
#undef PMB_COMPARISONS

#endif
