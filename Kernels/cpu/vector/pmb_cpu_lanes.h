/* SPDX-License-Identifier: BSD-3-Clause
 * Moves between arrays of 16 lanes and records in memory. The C loops are the reference; intrinsics make the same moves in
 * fewer instructions. */
#ifndef PMB_CPU_LANES_H
#define PMB_CPU_LANES_H

#include <string.h>

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_lanes_neon.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* lanes_interleave: from four arrays to 16 records of four. lanes_fetch: the reverse, for the records with 16 indices.
 * lanes_store3: from three arrays to 48 values x y z x y z ... lanes_beside: for each of 16 samples in a row the one before and
 * the one after it; below, above: before the first and after the last, which are not read from the row. */
#define PMB_INTERLEAVE_IN_C(name, real)                                             \
  PMB_INLINE void lanes_interleave_##name(const real(*from)[16], real(*records)[4]) \
  {                                                                                 \
    real *to = records[0];                                                          \
    PMB_NOT_UNROLLED                                                                \
    for (int l = 0; l < 16; ++l) { /* written so that gcc vectorizes it */          \
      to[4 * l] = from[0][l];                                                       \
      to[4 * l + 1] = from[1][l];                                                   \
      to[4 * l + 2] = from[2][l];                                                   \
      to[4 * l + 3] = from[3][l];                                                   \
    }                                                                               \
  }
#define PMB_FETCH_IN_C(name, real)                                                                  \
  PMB_INLINE void lanes_fetch_##name(const real(*records)[4], const uint16_t *index, real(*to)[16]) \
  {                                                                                                 \
    for (int l = 0; l < 16; ++l) {                                                                  \
      for (int c = 0; c < 4; ++c) {                                                                 \
        to[c][l] = records[index[l]][c];                                                            \
      }                                                                                             \
    }                                                                                               \
  }
#define PMB_BESIDE_IN_C(name, real)                                                               \
  PMB_INLINE void lanes_beside_##name(const real *row, real below, real above, real(*beside)[16]) \
  {                                                                                               \
    beside[0][0] = below;                                                                         \
    beside[1][15] = above;                                                                        \
    memcpy(beside[0] + 1, row, 15 * sizeof(real));                                                \
    memcpy(beside[1], row + 1, 15 * sizeof(real));                                                \
  }
#define PMB_STORE3_IN_C(name, real)                               \
  PMB_INLINE void lanes_store3_##name(real(*from)[16], real *out) \
  {                                                               \
    for (int l = 0; l < 16; ++l) {                                \
      for (int r = 0; r < 3; ++r) {                               \
        out[3 * l + r] = from[r][l];                              \
      }                                                           \
    }                                                             \
  }

PMB_INTERLEAVE_IN_C(u32, uint32_t)
PMB_INTERLEAVE_IN_C(f64, double)
PMB_STORE3_IN_C(f64, double)

#if defined(__AVX512F__)

PMB_INTERLEAVE_IN_C(f32, float)

/* Transposes 4 x 4 floats in each 128 bits. */
PMB_INLINE void lanes_turn_f32(const __m512 in[4], __m512 out[4])
{
  const __m512 a = _mm512_unpacklo_ps(in[0], in[1]), b = _mm512_unpackhi_ps(in[0], in[1]);
  const __m512 c = _mm512_unpacklo_ps(in[2], in[3]), d = _mm512_unpackhi_ps(in[2], in[3]);
  out[0] = _mm512_shuffle_ps(a, c, 0x44);
  out[1] = _mm512_shuffle_ps(a, c, 0xee);
  out[2] = _mm512_shuffle_ps(b, d, 0x44);
  out[3] = _mm512_shuffle_ps(b, d, 0xee);
}

/* Reads four floats from each of the 16 addresses address(l). */
#define LANES_FETCH(to, address)                                           \
  do {                                                                     \
    __m512 in[4], out[4];                                                  \
    for (int i = 0; i < 4; ++i) {                                          \
      in[i] = _mm512_castps128_ps512(_mm_loadu_ps(address(i)));            \
      in[i] = _mm512_insertf32x4(in[i], _mm_loadu_ps(address(i + 4)), 1);  \
      in[i] = _mm512_insertf32x4(in[i], _mm_loadu_ps(address(i + 8)), 2);  \
      in[i] = _mm512_insertf32x4(in[i], _mm_loadu_ps(address(i + 12)), 3); \
    }                                                                      \
    lanes_turn_f32(in, out);                                               \
    for (int c = 0; c < 4; ++c) {                                          \
      _mm512_storeu_ps(to[c], out[c]);                                     \
    }                                                                      \
  } while (0)

PMB_INLINE void lanes_store3_f32(float (*from)[16], float *out)
{
  static const int32_t xy[3][16] = { { 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5 },
    { 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26 },
    { 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0 } };
  static const int32_t z[3][16] = { { 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0 },
    { 0, 5, 0, 0, 6, 0, 0, 7, 0, 0, 8, 0, 0, 9, 0, 0 }, { 10, 0, 0, 11, 0, 0, 12, 0, 0, 13, 0, 0, 14, 0, 0, 15 } };
  static const __mmask16 is_z[3] = { 0x4924, 0x2492, 0x9249 };
  const __m512 vx = _mm512_loadu_ps(from[0]), vy = _mm512_loadu_ps(from[1]), vz = _mm512_loadu_ps(from[2]);
  for (int i = 0; i < 3; ++i) {
    const __m512 both = _mm512_permutex2var_ps(vx, _mm512_loadu_si512(xy[i]), vy);
    _mm512_storeu_ps(out + 16 * i, _mm512_mask_permutexvar_ps(both, is_z[i], _mm512_loadu_si512(z[i]), vz));
  }
}

PMB_INLINE void lanes_beside_f32(const float *row, float below, float above, float (*beside)[16])
{
  const __m512i here = _mm512_loadu_si512(row);
  const __m512i first = _mm512_castps_si512(_mm512_set1_ps(below)), last = _mm512_castps_si512(_mm512_set1_ps(above));
  _mm512_storeu_si512(beside[0], _mm512_alignr_epi32(here, first, 15));
  _mm512_storeu_si512(beside[1], _mm512_alignr_epi32(last, here, 1));
}

PMB_INLINE void lanes_beside_f64(const double *row, double below, double above, double (*beside)[16])
{
  const __m512i low = _mm512_loadu_si512(row), high = _mm512_loadu_si512(row + 8);
  const __m512i first = _mm512_castpd_si512(_mm512_set1_pd(below)), last = _mm512_castpd_si512(_mm512_set1_pd(above));
  _mm512_storeu_si512(beside[0], _mm512_alignr_epi64(low, first, 7));
  _mm512_storeu_si512(beside[0] + 8, _mm512_alignr_epi64(high, low, 7));
  _mm512_storeu_si512(beside[1], _mm512_alignr_epi64(high, low, 1));
  _mm512_storeu_si512(beside[1] + 8, _mm512_alignr_epi64(last, high, 1));
}

#elif defined(__AVX2__)

PMB_INLINE void lanes_turn_f32(const __m256 in[4], __m256 out[4])
{
  const __m256 a = _mm256_unpacklo_ps(in[0], in[1]), b = _mm256_unpackhi_ps(in[0], in[1]);
  const __m256 c = _mm256_unpacklo_ps(in[2], in[3]), d = _mm256_unpackhi_ps(in[2], in[3]);
  out[0] = _mm256_shuffle_ps(a, c, 0x44);
  out[1] = _mm256_shuffle_ps(a, c, 0xee);
  out[2] = _mm256_shuffle_ps(b, d, 0x44);
  out[3] = _mm256_shuffle_ps(b, d, 0xee);
}

PMB_INLINE void lanes_interleave_f32(const float (*from)[16], float (*records)[4])
{
  for (int half = 0; half < 16; half += 8) {
    __m256 in[4], out[4];
    for (int i = 0; i < 4; ++i) {
      in[i] = _mm256_loadu_ps(from[i] + half);
    }
    lanes_turn_f32(in, out);
    for (int i = 0; i < 4; ++i) {
      _mm_storeu_ps(records[half + i], _mm256_castps256_ps128(out[i]));
      _mm_storeu_ps(records[half + 4 + i], _mm256_extractf128_ps(out[i], 1));
    }
  }
}

#define LANES_FETCH(to, address)                                                   \
  for (int half = 0; half < 16; half += 8) {                                       \
    __m256 in[4], out[4];                                                          \
    for (int i = 0; i < 4; ++i) {                                                  \
      in[i] = _mm256_castps128_ps256(_mm_loadu_ps(address(half + i)));             \
      in[i] = _mm256_insertf128_ps(in[i], _mm_loadu_ps(address(half + 4 + i)), 1); \
    }                                                                              \
    lanes_turn_f32(in, out);                                                       \
    for (int c = 0; c < 4; ++c) {                                                  \
      _mm256_storeu_ps(to[c] + half, out[c]);                                      \
    }                                                                              \
  }

PMB_INLINE void lanes_store3_f32(float (*from)[16], float *out)
{
  for (int half = 0; half < 16; half += 8, out += 24) {
    /* Permutes each of three vectors to its places, then blends them. */
    const __m256 x =
      _mm256_permutevar8x32_ps(_mm256_loadu_ps(from[0] + half), _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    const __m256 y =
      _mm256_permutevar8x32_ps(_mm256_loadu_ps(from[1] + half), _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2));
    const __m256 z =
      _mm256_permutevar8x32_ps(_mm256_loadu_ps(from[2] + half), _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
    _mm256_storeu_ps(out, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x92), z, 0x24));
    _mm256_storeu_ps(out + 8, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x24), z, 0x49));
    _mm256_storeu_ps(out + 16, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x49), z, 0x92));
  }
}

PMB_BESIDE_IN_C(f64, double)

/* Loads only whole stored vectors: `row` was often stored just before, and a load across two of them stalls. */
PMB_INLINE void lanes_beside_f32(const float *row, float below, float above, float (*beside)[16])
{
  const __m256i down = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6), up = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
  const __m256 low = _mm256_loadu_ps(row), high = _mm256_loadu_ps(row + 8);
  const __m256 low_down = _mm256_permutevar8x32_ps(low, down), high_up = _mm256_permutevar8x32_ps(high, up);
  _mm256_storeu_ps(beside[0], _mm256_blend_ps(low_down, _mm256_set1_ps(below), 0x01));
  _mm256_storeu_ps(beside[0] + 8, _mm256_blend_ps(_mm256_permutevar8x32_ps(high, down), low_down, 0x01));
  _mm256_storeu_ps(beside[1], _mm256_blend_ps(_mm256_permutevar8x32_ps(low, up), high_up, 0x80));
  _mm256_storeu_ps(beside[1] + 8, _mm256_blend_ps(high_up, _mm256_set1_ps(above), 0x80));
}

#else

PMB_BESIDE_IN_C(f32, float)
PMB_BESIDE_IN_C(f64, double)
PMB_FETCH_IN_C(f64, double)
#if !defined(__aarch64__)
PMB_INTERLEAVE_IN_C(f32, float)
PMB_FETCH_IN_C(f32, float)
PMB_STORE3_IN_C(f32, float)
#endif

#endif

#if defined(__AVX2__)

PMB_INLINE void lanes_fetch_f32(const float (*records)[4], const uint16_t *index, float (*to)[16])
{
#define LANES_RECORD(l) records[index[l]]
  LANES_FETCH(to, LANES_RECORD);
#undef LANES_RECORD
}

PMB_INLINE void lanes_turn_f64(const __m256d in[4], __m256d out[4])
{
  const __m256d a = _mm256_unpacklo_pd(in[0], in[1]), b = _mm256_unpackhi_pd(in[0], in[1]);
  const __m256d c = _mm256_unpacklo_pd(in[2], in[3]), d = _mm256_unpackhi_pd(in[2], in[3]);
  out[0] = _mm256_permute2f128_pd(a, c, 0x20);
  out[1] = _mm256_permute2f128_pd(b, d, 0x20);
  out[2] = _mm256_permute2f128_pd(a, c, 0x31);
  out[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

PMB_INLINE void lanes_fetch_f64(const double (*records)[4], const uint16_t *index, double (*to)[16])
{
  for (int first = 0; first < 16; first += 4) {
    __m256d in[4], out[4];
    for (int i = 0; i < 4; ++i) {
      in[i] = _mm256_loadu_pd(records[index[first + i]]);
    }
    lanes_turn_f64(in, out);
    for (int c = 0; c < 4; ++c) {
      _mm256_storeu_pd(to[c] + first, out[c]);
    }
  }
}

#endif

/* lanes_convert: 16 samples, side by side, to the type in which they are handled. */
#if defined(__AVX2__)
enum { LANES_SMALL = 2 }; /* bytes that lanes_convert_small takes at most */
PMB_INLINE void lanes_convert_small(const void *in, const int size, const int is_signed, float *out)
{
#if defined(__AVX512F__)
  const __m512i lanes = size == 1
    ? (is_signed ? _mm512_cvtepi8_epi32(_mm_loadu_si128(in)) : _mm512_cvtepu8_epi32(_mm_loadu_si128(in)))
    : (is_signed ? _mm512_cvtepi16_epi32(_mm256_loadu_si256(in)) : _mm512_cvtepu16_epi32(_mm256_loadu_si256(in)));
  _mm512_storeu_ps(out, _mm512_cvtepi32_ps(lanes));
#else
  for (int half = 0; half < 16; half += 8) {
    const __m128i *from = (const __m128i *)(const void *)((const char *)in + half * size);
    const __m256i lanes = size == 1
      ? (is_signed ? _mm256_cvtepi8_epi32(_mm_loadl_epi64(from)) : _mm256_cvtepu8_epi32(_mm_loadl_epi64(from)))
      : (is_signed ? _mm256_cvtepi16_epi32(_mm_loadu_si128(from)) : _mm256_cvtepu16_epi32(_mm_loadu_si128(from)));
    _mm256_storeu_ps(out + half, _mm256_cvtepi32_ps(lanes));
  }
#endif
}
#else
enum { LANES_SMALL = 0 };
#define lanes_convert_small(in, size, is_signed, out)
#endif
#define PMB_CONVERT(NAME, type, name, real)                                            \
  PMB_INLINE void lanes_convert_##name(const type *in, real *out)                      \
  {                                                                                    \
    if (sizeof(type) <= LANES_SMALL) {                                                 \
      lanes_convert_small(in, sizeof(type), (type)-1 < (type)1, (float *)(void *)out); \
      return;                                                                          \
    }                                                                                  \
    PMB_EACH_LANE (l) {                                                                \
      out[l] = (real)in[l];                                                            \
    }                                                                                  \
  }
PMB_SAMPLE_TYPES(PMB_CONVERT)
#undef PMB_CONVERT

/* lanes_list_words: lists 32 * j + i for each bit i of word j, lowest first; returns how many. n: words, a multiple of 16; places:
 * see pmb_cpu_tables. May write up to 64 entries beyond the last. */
#if defined(__AVX512VBMI2__)

/* Lists code + i for each bit i of a mask. Returns how many. */
PMB_INLINE int lanes_list(uint64_t mask, unsigned code, uint16_t *list)
{
  static const uint8_t places[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
    50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63 };
  const __m512i set = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(places));
  const __m512i code_16 = _mm512_set1_epi16((short)code);
  const int n = pmb_popcount(mask);
  /* 16 are nearly always enough, and a smaller store rarely crosses a cache line. */
  const __m256i few = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(set));
  _mm256_storeu_si256((__m256i *)list, _mm256_add_epi16(few, _mm512_castsi512_si256(code_16)));
  if (n > 16) {
    const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(set));
    const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(set, 1));
    _mm512_storeu_si512(list, _mm512_add_epi16(low, code_16));
    _mm512_storeu_si512(list + 32, _mm512_add_epi16(high, code_16));
  }
  return n;
}

PMB_INLINE int lanes_list_words(const uint8_t (*places)[8], const uint32_t *words, const int n, uint16_t *list)
{
  uint32_t pairs = 0; /* that are not 0 */
  int count = 0;
  (void)places;
  for (int j = 0; j < n; j += 16) {
    const __m512i eight = _mm512_loadu_si512(words + j);
    pairs |= (uint32_t)_mm512_test_epi64_mask(eight, eight) << j / 2;
  }
  for (; pairs; pairs &= pairs - 1) {
    const unsigned j = 2 * (unsigned)pmb_lowest_bit(pairs);
    count += lanes_list(words[j] | (uint64_t)words[j + 1] << 32, 32 * j, list + count);
  }
  return count;
}

#elif defined(__AVX2__)

/* 8 bits at a time: the processor cannot predict where words end. */
PMB_INLINE int lanes_list_words(const uint8_t (*places)[8], const uint32_t *words, const int n, uint16_t *list)
{
  const uint8_t *bytes = (const uint8_t *)words;
  const __m256i zero = _mm256_setzero_si256();
  int count = 0;
  for (unsigned first = 0; first < 4 * (unsigned)n; first += 64) {
    const __m256i *both = (const __m256i *)(const void *)(bytes + first);
    const __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(both), zero);
    const __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(both + 1), zero);
    uint64_t rest = ~((uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low));
    for (; rest; rest &= rest - 1) {
      const unsigned j = first + (unsigned)pmb_lowest_bit(rest);
      const __m128i bits = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)places[bytes[j]]));
      _mm_storeu_si128((__m128i *)(list + count), _mm_add_epi16(bits, _mm_set1_epi16((short)(8 * j))));
      count += pmb_popcount(bytes[j]);
    }
  }
  return count;
}

#else

PMB_INLINE int lanes_list_words(const uint8_t (*places)[8], const uint32_t *words, const int n, uint16_t *list)
{
  int count = 0;
  (void)places;
  for (unsigned j = 0; j < (unsigned)n; ++j) {
    for (uint32_t rest = words[j]; rest; rest &= rest - 1) {
      list[count++] = (uint16_t)(32 * j + (unsigned)pmb_lowest_bit(rest));
    }
  }
  return count;
}

#endif

#endif
