/* SPDX-License-Identifier: BSD-3-Clause
 * Reads samples of the volume for 16 rays. */
#ifndef PMB_RAY_QUADS_H
#define PMB_RAY_QUADS_H

#include "cpu/vector/pmb_cpu_lanes.h"

/* lanes_quads, lanes_pairs: read four or two successive samples at each of 16 places and convert them. to[c]: sample c of each
 * place. */
#if defined(__AVX2__)
PMB_INLINE void lanes_quads_f32(const float *from, const int64_t *offset, float (*to)[16])
{
#define LANES_QUAD(l) (from + offset[l])
  LANES_FETCH(to, LANES_QUAD);
#undef LANES_QUAD
}

PMB_INLINE __m128 lanes_two_pairs_f32(const float *from, const int64_t *offset)
{
  const __m128 low = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(from + offset[0])));
  return _mm_loadh_pi(low, (const __m64 *)(const void *)(from + offset[1]));
}

PMB_INLINE void lanes_pairs_f32(const float *from, const int64_t *offset, float (*to)[16])
{
  for (int l = 0; l < 16; l += 8) {
    const __m256 a =
      _mm256_set_m128(lanes_two_pairs_f32(from, offset + l + 4), lanes_two_pairs_f32(from, offset + l));
    const __m256 b =
      _mm256_set_m128(lanes_two_pairs_f32(from, offset + l + 6), lanes_two_pairs_f32(from, offset + l + 2));
    _mm256_storeu_ps(to[0] + l, _mm256_shuffle_ps(a, b, 0x88));
    _mm256_storeu_ps(to[1] + l, _mm256_shuffle_ps(a, b, 0xdd));
  }
}
#else
#define lanes_quads_f32(from, offset, to)
#define lanes_pairs_f32(from, offset, to)
#endif
#define PMB_SUCCESSIVE(function, count, type, name, real)                                         \
  PMB_INLINE void function##_##name(const type *from, const int64_t *offset, real(*to)[16])       \
  {                                                                                               \
    if (LANES_SMALL && sizeof(type) == 4 && (type)0.5 != 0) {                                     \
      function##_f32((const float *)(const void *)from, offset, (float(*)[16])(void *)to);        \
      return;                                                                                     \
    }                                                                                             \
    const int bits = 8 * (int)sizeof(type), bytes = (count) * (int)sizeof(type);                  \
    if (sizeof(type) <= 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) { /* as parts of words */ \
      uint32_t words[2][16];                                                                      \
      for (int l = 0; l < 16; ++l) {                                                              \
        for (int at = 0; at < bytes; at += 4) {                                                   \
          uint16_t half;                                                                          \
          if (bytes == 2) {                                                                       \
            memcpy(&half, from + offset[l], 2);                                                   \
            words[0][l] = half;                                                                   \
          } else {                                                                                \
            memcpy(&words[at / 4][l], (const char *)(from + offset[l]) + at, 4);                  \
          }                                                                                       \
        }                                                                                         \
      }                                                                                           \
      for (int c = 0; c < (count); ++c) {                                                         \
        const uint32_t *word = words[c * bits / 32];                                              \
        const int up = (32 - bits - c * bits % 32) & 31, down = (32 - bits) & 31;                 \
        PMB_EACH_LANE (l) {                                                                       \
          const uint32_t top = word[l] << up;                                                     \
          to[c][l] = (real)((type)-1 < (type)1 ? (int32_t)top >> down : (int32_t)(top >> down));  \
        }                                                                                         \
      }                                                                                           \
      return;                                                                                     \
    }                                                                                             \
    type samples[16][count];                                                                      \
    for (int l = 0; l < 16; ++l) {                                                                \
      memcpy(samples[l], from + offset[l], sizeof(samples[l]));                                   \
    }                                                                                             \
    for (int c = 0; c < (count); ++c) {                                                           \
      PMB_EACH_LANE (l) {                                                                         \
        to[c][l] = (real)samples[l][c];                                                           \
      }                                                                                           \
    }                                                                                             \
  }
#define PMB_QUADS_AND_PAIRS(NAME, type, name, real) \
  PMB_SUCCESSIVE(lanes_quads, 4, type, name, real)  \
  PMB_SUCCESSIVE(lanes_pairs, 2, type, name, real)
PMB_SAMPLE_TYPES(PMB_QUADS_AND_PAIRS)
#undef PMB_QUADS_AND_PAIRS
#undef PMB_SUCCESSIVE

#endif
