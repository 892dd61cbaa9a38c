/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_stream.h"

#if defined(__SSE2__)
#include <immintrin.h>

/* How many of n values come before a multiple of 16 bytes. */
static int64_t before_aligned(const int64_t *out, int64_t n)
{
  return n > 0 && (uintptr_t)out % 16 != 0;
}

void pmb_stream_ids(const uint32_t *ids, int64_t n, int64_t base, int64_t *out)
{
  const __m128i from = _mm_set1_epi64x(base), zero = _mm_setzero_si128();
  int64_t i = 0;
  for (; i < before_aligned(out, n); ++i) {
    out[i] = base + ids[i];
  }
  for (; i + 4 <= n; i += 4) {
    const __m128i four = _mm_loadu_si128((const __m128i *)(ids + i));
    _mm_stream_si128((__m128i *)(out + i), _mm_add_epi64(from, _mm_unpacklo_epi32(four, zero)));
    _mm_stream_si128((__m128i *)(out + i + 2), _mm_add_epi64(from, _mm_unpackhi_epi32(four, zero)));
  }
  for (; i < n; ++i) {
    out[i] = base + ids[i];
  }
  _mm_sfence();
}

void pmb_stream_series(int64_t first, int64_t step, int64_t n, int64_t *out)
{
  int64_t i = 0;
  for (; i < before_aligned(out, n); ++i) {
    out[i] = first + i * step;
  }
  __m128i two = _mm_set_epi64x(first + (i + 1) * step, first + i * step);
  const __m128i steps = _mm_set1_epi64x(2 * step);
  for (; i + 2 <= n; i += 2) {
    _mm_stream_si128((__m128i *)(out + i), two);
    two = _mm_add_epi64(two, steps);
  }
  for (; i < n; ++i) {
    out[i] = first + i * step;
  }
  _mm_sfence();
}

#else

void pmb_stream_ids(const uint32_t *ids, int64_t n, int64_t base, int64_t *out)
{
  for (int64_t i = 0; i < n; ++i) {
    out[i] = base + ids[i];
  }
}

void pmb_stream_series(int64_t first, int64_t step, int64_t n, int64_t *out)
{
  for (int64_t i = 0; i < n; ++i) {
    out[i] = first + i * step;
  }
}

#endif
