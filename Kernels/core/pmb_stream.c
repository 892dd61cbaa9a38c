/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_stream.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Streams pairs to multiples of 16 bytes. Ordinary stores write the rest, and everything without SSE2. */
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

void pmb_stream_series(int64_t first, int64_t step, int64_t n, int64_t *out)
{
  int64_t i = 0;
#if defined(__SSE2__)
  if (n > 0 && (uintptr_t)out % 16 != 0) {
    out[i++] = first;
  }
  for (; i + 2 <= n; i += 2) {
    _mm_stream_si128((__m128i *)(out + i), _mm_set_epi64x(first + (i + 1) * step, first + i * step));
  }
  _mm_sfence();
#endif
  for (; i < n; ++i) {
    out[i] = first + i * step;
  }
}
