/* SPDX-License-Identifier: BSD-3-Clause
 * Cells of a row with AVX-512: their cases, 32 at once, and their triangles without a table of ids. The reference is the
 * way in C in pmb_cpu_triangles_template.h. */
#ifndef PMB_CPU_CELLS_AVX512_H
#define PMB_CPU_CELLS_AVX512_H

#include "pmb_cpu.h"

#if defined(__AVX512VBMI__) && defined(__GFNI__) && defined(__AVX512VPOPCNTDQ__)
#define PMB_CELLS_AVX512 1
#include <immintrin.h>

/* pmb_cell_bits of all 32 cells of row (y - 1, z - 1), from the words of inside or equal bits: eight words, for the lower
 * and the upper x of each of the four rows, are a matrix of 8 x 8 bits for eight cells, to be transposed. */
PMB_INLINE __m256i cases_of_row(const uint64_t (*words)[6], int y, int z)
{
  const __m256i four = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)&words[z][y])),
    _mm_loadu_si128((const __m128i *)&words[z + 1][y]), 1);
  const __m256i lower = _mm256_srli_epi64(four, 1), upper = _mm256_slli_epi64(_mm256_srli_epi64(four, 2), 32);
  const __m256i eight = _mm256_blend_epi32(lower, upper, 0xaa);
  const __m256i bytes = _mm256_setr_epi8(28, 24, 20, 16, 12, 8, 4, 0, 29, 25, 21, 17, 13, 9, 5, 1, 30, 26, 22, 18, 14,
    10, 6, 2, 31, 27, 23, 19, 15, 11, 7, 3);
  return _mm256_gf2p8affine_epi64_epi8(
    _mm256_set1_epi64x((long long)0x8040201008040201ull), _mm256_permutexvar_epi8(bytes, eight), 0);
}

/* A value for each of the 12 edges of the cells of a row, in lanes 0 to 11, from values by axis and row of edges. */
PMB_INLINE __m512i values_of_edges(const void *x, const void *y, const void *z)
{
  const __m512i xy = _mm512_setr_epi32(0, 1, 5, 6, 16, 16, 21, 21, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i xyz = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 16, 17, 17, 0, 0, 0, 0);
  return _mm512_permutex2var_epi32(
    _mm512_permutex2var_epi32(_mm512_loadu_si512(x), xy, _mm512_loadu_si512(y)), xyz, _mm512_loadu_si512(z));
}

/* Ids of the edges of the cell at column x: that of the first in its row, plus the points before it. */
PMB_INLINE __m512i ids_of_cell(__m512i first, __m512i mask, int x)
{
  const __m512i beside = _mm512_setr_epi32(0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0);
  const __m512i column = _mm512_add_epi32(beside, _mm512_set1_epi32(x));
  const __m512i before = _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), column), _mm512_set1_epi32(1));
  return _mm512_add_epi32(first, _mm512_popcnt_epi32(_mm512_and_si512(mask, before)));
}

/* Writes the triangles of a cell; returns where the next ones go. What is too much of 16 ids is overwritten later, but not
 * beyond `end`. */
PMB_INLINE int32_t *write_cell(int32_t *out, const int32_t *end, unsigned cell_case, __m512i ids, const int turn)
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

/* mask, first, beyond: see brick_edges; cells: those of row (y - 1, z - 1) with triangles, as bits x + 1. */
PMB_INLINE int32_t *write_row(const uint32_t (*mask)[PMB_EDGE_ROWS], const int32_t (*first)[PMB_EDGE_ROWS],
  const int32_t (*beyond)[PMB_EDGE_ROWS], const pmb_rows *rows, int y, int z, uint64_t cells, int32_t *out,
  const int32_t *end, const int turn)
{
  const int i = (z - 1) * 5 + (y - 1);
  uint8_t cases[32];
  const __m512i masks = values_of_edges(mask[0] + i, mask[1] + i, mask[2] + i);
  const __m512i firsts = values_of_edges(first[0] + i, first[1] + i, first[2] + i);
  _mm256_storeu_si256((__m256i *)cases, cases_of_row(rows->inside, y, z));
  for (uint64_t rest = cells & 0xffffffffu; rest; rest &= rest - 1) {
    const int x = pmb_lowest_bit(rest) - 1;
    out = write_cell(out, end, cases[x], ids_of_cell(firsts, masks, x), turn);
  }
  if (cells >> 32 & 1) { /* its upper y and z edges are the next brick's */
    const __m512i next = values_of_edges(beyond[0] + i, beyond[1] + i, beyond[2] + i);
    out = write_cell(out, end, cases[31], _mm512_mask_mov_epi32(ids_of_cell(firsts, masks, 31), 0xaa0, next), turn);
  }
  return out;
}

#endif

#endif
