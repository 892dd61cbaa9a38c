/* SPDX-License-Identifier: BSD-3-Clause
 * Packs selected ones of 16 floats. */
#ifndef PMB_PARTICLE_PACK_H
#define PMB_PARTICLE_PACK_H

#include <stdint.h>

#include "shared/pmb_portability.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* Copies the floats whose bits are set, in order. Up to 16 floats after them may change. `to` may be `from` or before it. */
PMB_INLINE void lanes_pack_f32(const float *from, uint32_t bits, float *to)
{
#if defined(__AVX512F__)
  _mm512_storeu_ps(to, _mm512_maskz_compress_ps((__mmask16)bits, _mm512_loadu_ps(from)));
#else
  for (; bits; bits &= bits - 1) {
    *to++ = from[pmb_lowest_bit(bits)];
  }
#endif
}

#endif
