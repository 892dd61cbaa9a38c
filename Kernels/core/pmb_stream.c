/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_stream.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Streams pairs of ids to multiples of 16 bytes; writes the rest, or all without SSE2, by ordinary stores. */
void pmb_stream_ids(const uint32_t *ids, int64_t n, int64_t base, int64_t *out)
{
  int64_t i = 0;
#if defined(__SSE2__)
  const __m128i from = _mm_set1_epi64x(base), zero = _mm_setzero_si128();
  if (n > 0 && (uintptr_t)out % 16 != 0) {
    out[i++] = base + ids[0];
  }
  for (; i + 4 <= n; i += 4) {
    const __m128i four = _mm_loadu_si128((const __m128i *)(ids + i));
    _mm_stream_si128((__m128i *)(out + i), _mm_add_epi64(from, _mm_unpacklo_epi32(four, zero)));
    _mm_stream_si128((__m128i *)(out + i + 2), _mm_add_epi64(from, _mm_unpackhi_epi32(four, zero)));
  }
  _mm_sfence();
#endif
  for (; i < n; ++i) {
    out[i] = base + ids[i];
  }
}

void pmb_fill_scalars(const pmb_mesh *mesh, const pmb_isovalue *isovalue, int64_t first, int64_t n)
{
  for (int64_t i = first; mesh->scalars && i < first + n; ++i) {
    if (mesh->scalar_type == PMB_FLOAT32) {
      ((float *)mesh->scalars)[i] = isovalue->f32;
    } else {
      ((double *)mesh->scalars)[i] = isovalue->value;
    }
  }
}

void pmb_fill_offsets(const pmb_mesh *mesh, int64_t first, int64_t n)
{
  int32_t *narrow = mesh->offsets;
  int64_t *wide = mesh->offsets, i = first, end = wide && mesh->id_type == PMB_INT64 ? first + n : first;
  for (int64_t t = first; narrow && mesh->id_type == PMB_INT32 && t < first + n; ++t) {
    narrow[t] = (int32_t)(3 * t);
  }
#if defined(__SSE2__)
  if (i < end && (uintptr_t)(wide + i) % 16 != 0) {
    wide[i] = 3 * i;
    ++i;
  }
  for (; i + 2 <= end; i += 2) {
    _mm_stream_si128((__m128i *)(wide + i), _mm_set_epi64x(3 * (i + 1), 3 * i));
  }
  _mm_sfence();
#endif
  for (; i < end; ++i) {
    wide[i] = 3 * i;
  }
}
