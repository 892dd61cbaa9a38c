/* SPDX-License-Identifier: BSD-3-Clause
 * Triangles of a brick's cells. The id on an edge is that of the first point in its row, plus the number of points before it
 * there. One loop goes over the cells of all rows, because the processor cannot predict where rows end. Without AVX2 ids come
 * from a table. */
#ifndef PMB_CPU_TRIANGLES_CELLS_H
#define PMB_CPU_TRIANGLES_CELLS_H

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_lanes.h"

/* From the address where an id is made to its place in the output, where it may be twice as wide. */
typedef struct id_way {
  uintptr_t offset;
  int wide;
} id_way;

PMB_INLINE id_way way_of_ids(const uint32_t *made, const void *out, int wide)
{
  return (id_way){ (uintptr_t)out - ((uintptr_t)made << wide), wide };
}

PMB_INLINE void prefetch_ids(id_way way, const uint32_t *made)
{
  prefetch_output((const void *)(((uintptr_t)made << way.wide) + way.offset), 64 << way.wide);
}

/* The points that a brick's cells use, by kind and row z * 5 + y: masks of columns 0 to 31 (rows 25 to 31: 0); the id of the
 * first; the id at column 32, in the next brick, where a cell has a corner there. */
typedef struct brick_points {
  uint32_t mask[PMB_KINDS][PMB_EDGE_ROWS], first[PMB_KINDS][PMB_EDGE_ROWS], beyond[PMB_KINDS][PMB_EDGE_ROWS];
} brick_points;

#if defined(__AVX2__)

/* The cells of a brick with triangles. Rows of cells are z * 4 + y; the eight lanes are the rows of edges of pmb_cpu_case. */
typedef struct brick_cells {
  uint16_t list[PMB_BRICK_X * PMB_BRICK_ROWS + 64]; /* row << 5 | x */
  uint8_t cases[PMB_BRICK_ROWS * PMB_BRICK_X];
  _Alignas(64) uint32_t mask[PMB_BRICK_ROWS][8];
  uint32_t first[PMB_BRICK_ROWS][8];
  uint32_t beyond[PMB_BRICK_ROWS][8]; /* ids at column 32, of rows with a cell in column 31 */
  /* Only where points are joined: points on the samples around, in the order of pmb_cpu_case. */
  uint8_t equal[PMB_BRICK_ROWS * PMB_BRICK_X];
  uint32_t sample_mask[PMB_BRICK_ROWS][8];
  uint32_t sample_first[PMB_BRICK_ROWS][8];
  uint32_t sample_beyond[PMB_BRICK_ROWS][4];
} brick_cells;

/* Transposes 8 x 8 bits in each of four words of 64. */
PMB_INLINE __m256i turn_bits(__m256i words)
{
  const __m256i one = _mm256_set1_epi64x(0x00aa00aa00aa00aall), two = _mm256_set1_epi64x(0x0000cccc0000ccccll);
  const __m256i four = _mm256_set1_epi64x(0x00000000f0f0f0f0ll);
  __m256i moved = _mm256_and_si256(_mm256_xor_si256(words, _mm256_srli_epi64(words, 7)), one);
  words = _mm256_xor_si256(words, _mm256_xor_si256(moved, _mm256_slli_epi64(moved, 7)));
  moved = _mm256_and_si256(_mm256_xor_si256(words, _mm256_srli_epi64(words, 14)), two);
  words = _mm256_xor_si256(words, _mm256_xor_si256(moved, _mm256_slli_epi64(moved, 14)));
  moved = _mm256_and_si256(_mm256_xor_si256(words, _mm256_srli_epi64(words, 28)), four);
  return _mm256_xor_si256(words, _mm256_xor_si256(moved, _mm256_slli_epi64(moved, 28)));
}

/* From eight words, a corner each, whose bit x is cell x's, to a byte for each of 32 cells: for eight cells a matrix of 8 x 8
 * bits. */
PMB_INLINE __m256i turn_words(__m256i eight)
{
#if defined(__GFNI__) && defined(__AVX512VBMI__)
  const __m256i rows = _mm256_setr_epi8(28, 24, 20, 16, 12, 8, 4, 0, 29, 25, 21, 17, 13, 9, 5, 1, 30, 26, 22, 18, 14,
    10, 6, 2, 31, 27, 23, 19, 15, 11, 7, 3);
  const __m256i unit = _mm256_set1_epi64x((long long)0x8040201008040201ull);
  return _mm256_gf2p8affine_epi64_epi8(unit, _mm256_permutexvar_epi8(rows, eight), 0);
#else
  const __m256i bytes = _mm256_setr_epi8(
    0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return turn_bits(
    _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(eight, bytes), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
#endif
}

/* The bits of the corners of all 32 cells of row i. */
PMB_INLINE void bits_of_cells(const pmb_cpu_words *words, uint32_t i, uint8_t *bits)
{
  uint32_t row[4], next[4];
  words_around(words, i, row, next);
  const __m256i eight = _mm256_setr_epi32(
    (int)row[0], (int)next[0], (int)row[1], (int)next[1], (int)row[2], (int)next[2], (int)row[3], (int)next[3]);
  _mm256_storeu_si256((__m256i *)bits, turn_words(eight));
}

/* A value for each of the four rows of samples around row i = z * 5 + y of cells. */
PMB_INLINE __m128i values_of_samples(const uint32_t *values, int i)
{
  return _mm_unpacklo_epi64(
    _mm_loadl_epi64((const __m128i *)(values + i)), _mm_loadl_epi64((const __m128i *)(values + i + 5)));
}

/* Sets the samples around a row of cells. i: the row, z * 5 + y; word: the row's cells. In column 31 the samples at the upper x
 * are the next brick's. */
PMB_INLINE void set_samples(const brick_points *points, int row, int i, uint32_t word, brick_cells *cells)
{
  const __m128i masks = values_of_samples(points->mask[PMB_SAMPLE], i);
  const __m128i firsts = values_of_samples(points->first[PMB_SAMPLE], i);
  const __m256i lower = _mm256_castsi128_si256(_mm_slli_epi32(masks, 1));
  _mm256_storeu_si256((__m256i *)cells->sample_mask[row], _mm256_inserti128_si256(lower, masks, 1));
  _mm256_storeu_si256((__m256i *)cells->sample_first[row], _mm256_broadcastsi128_si256(firsts));
  if (word >> 31) {
    _mm_storeu_si128((__m128i *)cells->sample_beyond[row], values_of_samples(points->beyond[PMB_SAMPLE], i));
  }
}

/* A value for each of the eight rows of edges around row i = z * 5 + y of cells. */
PMB_INLINE __m256i values_of_rows(const uint32_t (*values)[PMB_EDGE_ROWS], int i)
{
  const uint32_t *x = values[0] + i, *y = values[1] + i, *z = values[2] + i;
  const __m128i along_x =
    _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)x), _mm_loadl_epi64((const __m128i *)(x + 5)));
  const __m128i along_y = _mm_insert_epi32(_mm_cvtsi32_si128(y[0]), y[5], 1);
  return _mm256_inserti128_si256(
    _mm256_castsi128_si256(along_x), _mm_unpacklo_epi64(along_y, _mm_loadl_epi64((const __m128i *)z)), 1);
}

/* Sets the edges around a row of cells; arguments as for set_samples. */
PMB_INLINE void set_row(const brick_points *points, int row, int i, uint32_t word, brick_cells *cells)
{
  const __m256i masks = values_of_rows(points->mask, i);
  /* Shifted by another 31 - x, the bits before column x remain. */
  _mm256_storeu_si256((__m256i *)cells->mask[row], _mm256_slli_epi32(masks, 1));
  _mm256_storeu_si256((__m256i *)cells->first[row], values_of_rows(points->first, i));
  if (word >> 31) {
    _mm256_storeu_si256((__m256i *)cells->beyond[row], values_of_rows(points->beyond, i));
  }
}

/* The number of bits in each of 8 words. */
PMB_INLINE __m256i bits_in_words(__m256i words)
{
#if defined(__AVX512VPOPCNTDQ__)
  return _mm256_popcnt_epi32(words);
#else
  const __m256i bits =
    _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i half = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(words, half));
  const __m256i high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi32(words, 4), half));
  const __m256i bytes = _mm256_add_epi8(low, high);
  return _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
#endif
}

/* The ids around the cell `code` of the list, from the masks and first ids of its row. */
PMB_INLINE __m256i ids_around(const uint32_t (*mask)[8], const uint32_t (*first)[8], size_t code)
{
  const __m256i after = _mm256_andnot_si256(_mm256_set1_epi32((int)code), _mm256_set1_epi32(31));
  const __m256i masks = _mm256_loadu_si256((const __m256i *)mask[code >> 5]);
  return _mm256_add_epi32(
    _mm256_loadu_si256((const __m256i *)first[code >> 5]), bits_in_words(_mm256_sllv_epi32(masks, after)));
}

/* The same for the points on samples. */
PMB_INLINE __m256i samples_around(const brick_cells *cells, size_t code)
{
  const __m256i ids = ids_around(cells->sample_mask, cells->sample_first, code);
  if ((code & 31) == 31) {
    return _mm256_inserti128_si256(ids, _mm_loadu_si128((const __m128i *)cells->sample_beyond[code >> 5]), 1);
  }
  return ids;
}

/* Writes up to 16 ids into the room; the next cell overwrites the surplus. In column 31 edges at the cell's upper x are the
 * next brick's. */
#if defined(__AVX512VPOPCNTDQ__)

PMB_INLINE void write_cell(
  const pmb_cpu_case *entry, const brick_cells *cells, size_t code, uint32_t *out, int64_t room, const int joined)
{
  const __m512i from = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)entry->corners));
  const __m256i lower = ids_around(cells->mask, cells->first, code);
  __m512i ids = _mm512_broadcast_i64x4(lower), after = _mm512_srli_epi32(from, 5);
  if ((code & 31) == 31) {
    ids = _mm512_inserti64x4(ids, _mm256_loadu_si256((const __m256i *)cells->beyond[code >> 5]), 1);
    after = _mm512_setzero_si512();
  }
  const __m512i chosen = joined
    ? _mm512_permutex2var_epi32(ids, from, _mm512_castsi256_si512(samples_around(cells, code)))
    : _mm512_permutexvar_epi32(from, ids);
  if (room >= 16) {
    _mm512_storeu_si512(out, _mm512_add_epi32(chosen, after));
  } else {
    _mm512_mask_storeu_epi32(out, (__mmask16)((1u << room) - 1), _mm512_add_epi32(chosen, after));
  }
}

#else

/* Replaces the ids of corners with this bit in `from`. */
PMB_INLINE __m256i replace_ids(__m256i ids, __m256i from, const int bit, __m256i others)
{
  const __m256 other = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(others, from));
  return _mm256_castps_si256(
    _mm256_blendv_ps(_mm256_castsi256_ps(ids), other, _mm256_castsi256_ps(_mm256_slli_epi32(from, 31 - bit))));
}

PMB_INLINE void write_cell(
  const pmb_cpu_case *entry, const brick_cells *cells, size_t code, uint32_t *out, int64_t room, const int joined)
{
  const __m256i ids = ids_around(cells->mask, cells->first, code), lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  __m256i from[2], chosen[2];
  for (int i = 0; i < 2; ++i) {
    from[i] = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(entry->corners + 8 * i)));
    chosen[i] = _mm256_add_epi32(_mm256_permutevar8x32_epi32(ids, from[i]), _mm256_srli_epi32(from[i], 5));
  }
  for (int i = 0; (code & 31) == 31 && i < 2; ++i) {
    const __m256i beyond = _mm256_loadu_si256((const __m256i *)cells->beyond[code >> 5]);
    chosen[i] = replace_ids(chosen[i], from[i], 3, beyond);
  }
  for (int i = 0; joined && i < 2; ++i) {
    chosen[i] = replace_ids(chosen[i], from[i], 4, samples_around(cells, code));
  }
  if (room >= 16) {
    _mm256_storeu_si256((__m256i *)out, chosen[0]);
    _mm256_storeu_si256((__m256i *)out + 1, chosen[1]);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    const __m256i left = _mm256_set1_epi32((int)room - 8 * i);
    _mm256_maskstore_epi32((int *)out + 8 * i, _mm256_cmpgt_epi32(left, lane), chosen[i]);
  }
}

#endif

/* Writes the triangles of n cells; room: of ids at `out`. */
PMB_INLINE void write_cells(const pmb_cpu_surface *surface, const brick_cells *cells, int n, uint32_t *out,
  int64_t room, id_way way, const int joined)
{
  const pmb_cpu_tables *tables = surface->tables;
  for (int i = 0; i < n; ++i) {
    const size_t code = cells->list[i];
    pmb_cpu_case made;
    const pmb_cpu_case *entry = find_case(tables, cells->cases[code], joined ? cells->equal[code] : 0, joined, &made);
    const int ids = entry->ids;
    write_cell(entry, cells, code, out, room, joined);
    prefetch_ids(way, out);
    out += ids;
    room -= ids;
  }
}

/* Writes the triangles of a brick, from the words and cells in `scratch` and its points. room: of ids at `out`. */
PMB_INLINE void write_brick(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const brick_points *points,
  uint32_t *out, int64_t room, id_way way, const int kinds)
{
  const uint32_t *words = scratch->cells;
  brick_cells cells;
  for (uint32_t rest = rows_with_bits(words); rest; rest &= rest - 1) {
    const int row = pmb_lowest_bit(rest), y = row & 3, z = row >> 2;
    bits_of_cells(&scratch->inside, (uint32_t)row, cells.cases + row * PMB_BRICK_X);
    set_row(points, row, z * 5 + y, words[row], &cells);
    if (kinds == PMB_KINDS) {
      bits_of_cells(&scratch->equal, (uint32_t)row, cells.equal + row * PMB_BRICK_X);
      set_samples(points, row, z * 5 + y, words[row], &cells);
    }
  }
  const int n = lanes_list_words(surface->tables->places, words, PMB_BRICK_ROWS, cells.list);
  write_cells(surface, &cells, n, out, room, way, kinds == PMB_KINDS);
}

#else

/* Fills the table of ids, see PMB_IDS_ROW. */
PMB_INLINE void fill_ids(const brick_points *points, uint32_t *ids, const int kinds)
{
  for (int row = 0; row < 25; ++row) {
    for (int kind = 0; kind < kinds; ++kind) {
      uint32_t *out = ids + row * PMB_IDS_ROW + kind * PMB_IDS_KIND, next = points->first[kind][row];
      for (uint32_t rest = points->mask[kind][row]; rest; rest &= rest - 1) {
        out[pmb_lowest_bit(rest)] = next++;
      }
      out[PMB_BRICK_X] = points->beyond[kind][row];
    }
  }
}

PMB_INLINE void write_brick(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const brick_points *points,
  uint32_t *out, int64_t room, id_way way, const int kinds)
{
  const pmb_cpu_tables *tables = surface->tables;
  const int joined = kinds == PMB_KINDS;
  const uint32_t *end = out + room;
  fill_ids(points, scratch->ids, kinds);
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const uint32_t *row_ids = scratch->ids + ((row >> 2) * 5 + (row & 3)) * PMB_IDS_ROW;
    uint64_t inside[4], equal[4];
    rows_of_cells(&scratch->inside, (uint32_t)row, inside);
    rows_of_cells(&scratch->equal, (uint32_t)row, equal);
    for (uint32_t rest = scratch->cells[row]; rest; rest &= rest - 1) {
      const int x = pmb_lowest_bit(rest);
      const uint32_t *cell_ids = row_ids + x;
      pmb_cpu_case made;
      const unsigned cell_case = pmb_cell_bits(inside[0], inside[1], inside[2], inside[3], x);
      const unsigned same = pmb_cell_bits(equal[0], equal[1], equal[2], equal[3], x);
      const pmb_cpu_case *entry = find_case(tables, cell_case, same, joined, &made);
      if (!joined && end - out >= 16) {
        for (int i = 0; i < 16; ++i) { /* the next cell overwrites the surplus; a fixed length is predicted */
          out[i] = cell_ids[tables->offsets[cell_case][i]];
        }
      } else {
        for (int i = 0; i < entry->ids; ++i) {
          out[i] = cell_ids[pmb_cpu_offset_of_corner(entry->corners[i])];
        }
      }
      prefetch_ids(way, out);
      out += entry->ids;
    }
  }
}

#endif

#endif
