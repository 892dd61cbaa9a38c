/* SPDX-License-Identifier: BSD-3-Clause
 * Reads samples of the volume for 16 rays. */
#ifndef PMB_RAY_QUADS_H
#define PMB_RAY_QUADS_H

#include "cpu/vector/pmb_cpu_lanes.h"

/* lanes_quads: reads four successive samples at each of 16 places and converts them. to[c]: sample c of each place. */
#if defined(__AVX2__)
PMB_INLINE void lanes_quads_f32(const float *from, const int64_t *offset, float (*to)[16])
{
#define LANES_QUAD(l) (from + offset[l])
  LANES_FETCH(to, LANES_QUAD);
#undef LANES_QUAD
}
#else
#define lanes_quads_f32(from, offset, to)
#endif
#define PMB_QUADS(NAME, type, name, real)                                                         \
  PMB_INLINE void lanes_quads_##name(const type *from, const int64_t *offset, real(*to)[16])      \
  {                                                                                               \
    if (LANES_SMALL && sizeof(type) == 4 && (type)0.5 != 0) {                                     \
      lanes_quads_f32((const float *)(const void *)from, offset, (float(*)[16])(void *)to);       \
      return;                                                                                     \
    }                                                                                             \
    const int bits = 8 * (int)sizeof(type);                                                       \
    if (sizeof(type) <= 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) { /* as parts of words */ \
      uint32_t words[2][16];                                                                      \
      for (int l = 0; l < 16; ++l) {                                                              \
        for (int w = 0; w < (int)sizeof(type); ++w) {                                             \
          memcpy(&words[w][l], (const char *)(from + offset[l]) + 4 * w, 4);                      \
        }                                                                                         \
      }                                                                                           \
      for (int c = 0; c < 4; ++c) {                                                               \
        const uint32_t *word = words[c * bits / 32];                                              \
        const int up = (32 - bits - c * bits % 32) & 31, down = (32 - bits) & 31;                 \
        PMB_EACH_LANE (l) {                                                                       \
          const uint32_t top = word[l] << up;                                                     \
          to[c][l] = (real)((type)-1 < (type)1 ? (int32_t)top >> down : (int32_t)(top >> down));  \
        }                                                                                         \
      }                                                                                           \
      return;                                                                                     \
    }                                                                                             \
    type quads[16][4];                                                                            \
    for (int l = 0; l < 16; ++l) {                                                                \
      memcpy(quads[l], from + offset[l], sizeof(quads[l]));                                       \
    }                                                                                             \
    for (int c = 0; c < 4; ++c) {                                                                 \
      PMB_EACH_LANE (l) {                                                                         \
        to[c][l] = (real)quads[l][c];                                                             \
      }                                                                                           \
    }                                                                                             \
  }
PMB_SAMPLE_TYPES(PMB_QUADS)
#undef PMB_QUADS

#endif
