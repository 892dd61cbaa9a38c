/* SPDX-License-Identifier: BSD-3-Clause
 * Triangles of a row of cells with AVX2 and AVX-512, without a table of ids: the ids of a cell's 12 edges at once, each that
 * of the first point in its row of edges plus the points before it there. The reference is the way in C in
 * pmb_cpu_triangles_template.h. */
#ifndef PMB_CPU_CELLS_H
#define PMB_CPU_CELLS_H

#include "pmb_cpu.h"

#if defined(__AVX512VBMI__) && defined(__GFNI__) && defined(__AVX512VPOPCNTDQ__)
#define PMB_FAST_CELLS 1
#include <immintrin.h>

/* A value for each of the 12 edges of a cell. */
typedef __m512i edge_values;

/* The cases of the cells of a row. */
typedef struct row_cases {
  uint8_t at[32];
} row_cases;

/* pmb_cell_bits of all 32 cells of row (y - 1, z - 1), from the words of inside or equal bits: eight words, for the lower
 * and the upper x of each of the four rows, are a matrix of 8 x 8 bits for eight cells, to be transposed. */
PMB_INLINE row_cases cases_of_row(const uint64_t (*words)[6], int y, int z)
{
  row_cases cases;
  const __m256i four = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)&words[z][y])),
    _mm_loadu_si128((const __m128i *)&words[z + 1][y]), 1);
  const __m256i lower = _mm256_srli_epi64(four, 1), upper = _mm256_slli_epi64(_mm256_srli_epi64(four, 2), 32);
  const __m256i eight = _mm256_blend_epi32(lower, upper, 0xaa);
  const __m256i bytes = _mm256_setr_epi8(28, 24, 20, 16, 12, 8, 4, 0, 29, 25, 21, 17, 13, 9, 5, 1, 30, 26, 22, 18, 14,
    10, 6, 2, 31, 27, 23, 19, 15, 11, 7, 3);
  const __m256i turned = _mm256_gf2p8affine_epi64_epi8(
    _mm256_set1_epi64x((long long)0x8040201008040201ull), _mm256_permutexvar_epi8(bytes, eight), 0);
  _mm256_storeu_si256((__m256i *)cases.at, turned);
  return cases;
}

PMB_INLINE unsigned case_at(const row_cases *cases, int x)
{
  return cases->at[x];
}

/* A value for each of the 12 edges of the cells of a row, in lanes 0 to 11, from values by axis and row of edges. */
PMB_INLINE edge_values values_of_edges(const int32_t *x, const int32_t *y, const int32_t *z)
{
  const __m512i xy = _mm512_setr_epi32(0, 1, 5, 6, 16, 16, 21, 21, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i xyz = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 16, 17, 17, 0, 0, 0, 0);
  return _mm512_permutex2var_epi32(
    _mm512_permutex2var_epi32(_mm512_loadu_si512(x), xy, _mm512_loadu_si512(y)), xyz, _mm512_loadu_si512(z));
}

/* Ids of the edges of the cell at column x: that of the first in its row, plus the points before it. */
PMB_INLINE edge_values ids_of_cell(edge_values first, edge_values mask, int x)
{
  const __m512i beside = _mm512_setr_epi32(0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0);
  const __m512i column = _mm512_add_epi32(beside, _mm512_set1_epi32(x));
  const __m512i before = _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), column), _mm512_set1_epi32(1));
  return _mm512_add_epi32(first, _mm512_popcnt_epi32(_mm512_and_si512(mask, before)));
}

/* Writes the triangles of a cell; returns where the next ones go. What is too much of 16 ids is overwritten later, but not
 * beyond `end`. */
PMB_INLINE int32_t *write_cell(int32_t *out, const int32_t *end, unsigned cell_case, edge_values ids, const int turn)
{
  __m512i edges = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)pmb_triangle_edges[cell_case]));
  if (turn) {
    edges = _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15), edges);
  }
  const __m512i corners = _mm512_permutexvar_epi32(edges, ids);
  if (end - out >= 16) {
    _mm512_storeu_si512(out, corners);
  } else {
    _mm512_mask_storeu_epi32(out, (__mmask16)((1u << (end - out)) - 1), corners);
  }
  return out + 3 * pmb_triangle_count[cell_case];
}

/* The ids of the last cell of a row: its upper y and z edges are the next brick's. */
PMB_INLINE edge_values last_ids(edge_values ids, edge_values next)
{
  return _mm512_mask_mov_epi32(ids, 0xaa0, next);
}

#elif defined(__AVX2__)
#define PMB_FAST_CELLS 1
#include <immintrin.h>

typedef struct edge_values {
  __m256i low, high; /* edges 0 to 7, 8 to 11 */
} edge_values;

typedef struct row_cases {
  uint64_t word[4];
} row_cases;

PMB_INLINE row_cases cases_of_row(const uint64_t (*words)[6], int y, int z)
{
  const row_cases cases = { { words[z][y], words[z][y + 1], words[z + 1][y], words[z + 1][y + 1] } };
  return cases;
}

PMB_INLINE unsigned case_at(const row_cases *cases, int x)
{
  return pmb_cell_bits(cases->word[0], cases->word[1], cases->word[2], cases->word[3], x + 1);
}

PMB_INLINE edge_values values_of_edges(const int32_t *x, const int32_t *y, const int32_t *z)
{
  const edge_values v = { _mm256_setr_epi32(x[0], x[1], x[5], x[6], y[0], y[0], y[5], y[5]),
    _mm256_setr_epi32(z[0], z[0], z[1], z[1], 0, 0, 0, 0) };
  return v;
}

/* Bits set in each of 8 words. */
PMB_INLINE __m256i bits_in_words(__m256i words)
{
  const __m256i bits =
    _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i half = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(words, half));
  const __m256i high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi32(words, 4), half));
  const __m256i bytes = _mm256_add_epi8(low, high);
  return _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
}

PMB_INLINE edge_values ids_of_cell(edge_values first, edge_values mask, int x)
{
  const __m256i column = _mm256_set1_epi32(x), one = _mm256_set1_epi32(1);
  const __m256i low = _mm256_add_epi32(column, _mm256_setr_epi32(0, 0, 0, 0, 0, 1, 0, 1));
  const __m256i high = _mm256_add_epi32(column, _mm256_setr_epi32(0, 1, 0, 1, 0, 0, 0, 0));
  const __m256i before_low = _mm256_sub_epi32(_mm256_sllv_epi32(one, low), one);
  const __m256i before_high = _mm256_sub_epi32(_mm256_sllv_epi32(one, high), one);
  const edge_values ids = { _mm256_add_epi32(first.low, bits_in_words(_mm256_and_si256(mask.low, before_low))),
    _mm256_add_epi32(first.high, bits_in_words(_mm256_and_si256(mask.high, before_high))) };
  return ids;
}

PMB_INLINE __m256i corners_of(edge_values ids, const uint8_t *triangle_edges)
{
  const __m256i edges = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)triangle_edges));
  const __m256 low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(ids.low, edges));
  const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(ids.high, edges));
  return _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(edges, 28))));
}

/* As above. */
PMB_INLINE int32_t *write_cell(int32_t *out, const int32_t *end, unsigned cell_case, edge_values ids, const int turn)
{
  const __m256i low = corners_of(ids, pmb_triangle_edges[cell_case]);
  const __m256i high = corners_of(ids, pmb_triangle_edges[cell_case] + 8);
  const int n = 3 * pmb_triangle_count[cell_case];
  if (!turn && end - out >= 16) {
    _mm256_storeu_si256((__m256i *)out, low);
    _mm256_storeu_si256((__m256i *)(out + 8), high);
  } else {
    int32_t all[16];
    _mm256_storeu_si256((__m256i *)all, low);
    _mm256_storeu_si256((__m256i *)(all + 8), high);
    for (int i = 0; i < n; i += 3) {
      out[i] = all[i];
      out[i + 1] = all[i + 1 + turn];
      out[i + 2] = all[i + 2 - turn];
    }
  }
  return out + n;
}

PMB_INLINE edge_values last_ids(edge_values ids, edge_values next)
{
  const edge_values last = { _mm256_blend_epi32(ids.low, next.low, 0xa0),
    _mm256_blend_epi32(ids.high, next.high, 0x0a) };
  return last;
}

#endif

#if PMB_FAST_CELLS

/* mask, first, beyond: see brick_edges; cells: those of row (y - 1, z - 1) with triangles, as bits x. */
PMB_INLINE int32_t *write_row(const uint32_t (*mask)[PMB_EDGE_ROWS], const int32_t (*first)[PMB_EDGE_ROWS],
  const int32_t (*beyond)[PMB_EDGE_ROWS], const pmb_rows *rows, int y, int z, uint32_t cells, int32_t *out,
  const int32_t *end, const int turn)
{
  const int i = (z - 1) * 5 + (y - 1);
  const int32_t(*m)[PMB_EDGE_ROWS] = (const int32_t(*)[PMB_EDGE_ROWS])mask;
  const row_cases cases = cases_of_row(rows->inside, y, z);
  const edge_values masks = values_of_edges(m[0] + i, m[1] + i, m[2] + i);
  const edge_values firsts = values_of_edges(first[0] + i, first[1] + i, first[2] + i);
  for (uint32_t rest = cells & 0x7fffffffu; rest; rest &= rest - 1) {
    const int x = pmb_lowest_bit(rest);
    out = write_cell(out, end, case_at(&cases, x), ids_of_cell(firsts, masks, x), turn);
  }
  if (cells >> 31) {
    const edge_values next = values_of_edges(beyond[0] + i, beyond[1] + i, beyond[2] + i);
    out = write_cell(out, end, case_at(&cases, 31), last_ids(ids_of_cell(firsts, masks, 31), next), turn);
  }
  return out;
}

#endif

#endif
