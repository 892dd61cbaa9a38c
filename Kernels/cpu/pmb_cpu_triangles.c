/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles. Where no full rules are needed it reads no sample: the masks of the brick and of those above it say which
 * samples are inside, and the ids of the points. */
#include <string.h>

#include "cpu/pmb_cpu_triangles_ids.h"

void pmb_cpu_find_family(const pmb_cpu *cpu, const pmb_cpu_record *record, brick_family *f)
{
  const int64_t x = record->position[0], y = record->position[1], z = record->position[2];
  const int64_t along_y = cpu->bricks[0], along_z = along_y * cpu->bricks[1];
  const uint32_t *map = (const uint32_t *)cpu->found.map.data + x + along_y * y + along_z * z;
  const int outside = (x + 1 == cpu->bricks[0]) | (y + 1 == cpu->bricks[1]) << 1 | (z + 1 == cpu->bricks[2]) << 2;
  f->at[0][0][0] = record;
  for (int d = 1; d < 8; ++d) {
    const uint32_t index = d & outside ? PMB_NO_RECORD : map[(d & 1) + (d >> 1 & 1) * along_y + (d >> 2) * along_z];
    const pmb_cpu_record *above =
      index == PMB_NO_RECORD ? NULL : (const pmb_cpu_record *)cpu->found.records.data + index;
    f->at[d >> 2][d >> 1 & 1][d & 1] = above;
    for (size_t b = 0; above && d > 1 && b < sizeof(*above); b += 64) {
      __builtin_prefetch((const char *)above + b);
    }
  }
}

/* The inside words of a brick without joined points: from the first sample on, each edge with a point is a change. */
static void words_from_masks(const pmb_cpu_record *record, const uint32_t (*mask)[PMB_EDGE_ROWS], pmb_rows *rows)
{
  uint32_t first = mask[PMB_EDGE_X][0] << 1;
  for (int shift = 1; shift < 32; shift *= 2) {
    first ^= first << shift;
  }
  first ^= record->inside ? UINT32_MAX : 0;
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    const uint32_t *x_edges = mask[PMB_EDGE_X] + 5 * z, *y_edges = mask[PMB_EDGE_Y] + 5 * z;
    uint32_t word = first;
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      const uint64_t last = (word ^ x_edges[y]) >> 31;
      rows->inside[z + 1][y + 1] = (last << 32 | word) << 1;
      word ^= y_edges[y];
    }
    first ^= mask[PMB_EDGE_Z][5 * z];
  }
}

/* From the words of classify to rows of 64 bits, from (0,0) on. */
PMB_INLINE void words_to_rows(const pmb_cpu_words *words, uint64_t (*rows)[6])
{
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    const int last = 4 * z + 3;
    for (int y = 0; y < PMB_BRICK_Y; ++y) {
      const int low = 4 * z + y;
      rows[z + 1][y + 1] = (uint64_t)words->low[low] << 1 | (uint64_t)(words->low_next[low] >> 31) << 33;
    }
    rows[z + 1][5] = (uint64_t)words->high[last] << 1 | (uint64_t)(words->high_next[last] >> 31) << 33;
  }
}

/* The inside and equal words of a brick with joined samples, and its cells whose corners are not alike, bit x of
 * cells[z * 4 + y]. Apart, for in its caller gcc makes it slower. */
static __attribute__((noinline)) void compare_joined(
  const pmb_cpu *cpu, const pmb_cpu_record *record, pmb_rows *rows, uint32_t cells[PMB_BRICK_ROWS])
{
  pmb_cpu_words words, equal;
  box b;
  find_box(cpu, record, &b);
  pmb_cpu_compare_brick(cpu, &b, &words, &equal);
  const uint32_t columns = first_bits(b.n[0] - 1);
  for (uint32_t i = 0; i < PMB_BRICK_ROWS; ++i) {
    const int y = (int)i & 3, z = (int)i >> 2;
    uint32_t row[4], next[4];
    words_around(&words, i, row, next);
    const uint32_t any = row[0] | row[1] | row[2] | row[3] | next[0] | next[1] | next[2] | next[3];
    const uint32_t all = row[0] & row[1] & row[2] & row[3] & next[0] & next[1] & next[2] & next[3];
    cells[i] = y + 1 < b.n[1] && z + 1 < b.n[2] ? any & ~all & columns : 0;
  }
  words_to_rows(&words, rows->inside);
  words_to_rows(&equal, rows->equal);
}

/* The cells of a brick's rows that give triangles, bit x of cells[z * 4 + y], by the full rules. */
static void find_cells_by_full_rules(const pmb_rows *rows, uint32_t cells[PMB_BRICK_ROWS])
{
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int y = (row & 3) + 1, z = (row >> 2) + 1;
    const uint64_t mixed =
      pmb_mixed_cells(rows->inside[z][y], rows->inside[z][y + 1], rows->inside[z + 1][y], rows->inside[z + 1][y + 1]);
    cells[row] = pmb_own_columns(mixed & pmb_valid_cells(rows, y, z));
  }
}

/* The same of other bricks: a cell's corners are alike unless one of seven edges that join them all has a point. */
static void find_cells_by_masks(
  const pmb_cpu *cpu, const pmb_cpu_record *record, const uint32_t (*mask)[PMB_EDGE_ROWS], uint32_t *restrict cells)
{
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  int n[3];
  for (int a = 0; a < 3; ++a) {
    n[a] = (int)pmb_cpu_smaller(cpu->volume->dims[a] - 1 - record->position[a] * size[a], size[a]);
  }
  const uint32_t columns = (uint32_t)(pmb_first_columns(n[0]) >> 1);
  uint32_t rows[PMB_BRICK_Y];
  for (int i = 0; i < PMB_BRICK_Y; ++i) {
    rows[i] = i < n[1] ? columns : 0;
  }
  for (int z = 0; z < PMB_BRICK_Z; ++z) {
    const uint32_t *x = mask[PMB_EDGE_X] + 5 * z, *y = mask[PMB_EDGE_Y] + 5 * z, *next = mask[PMB_EDGE_Z] + 5 * z;
    const uint32_t layer = z < n[2] ? ~0u : 0;
    PMB_NOT_UNROLLED
    for (int i = 0; i < PMB_BRICK_Y; ++i) {
      const uint32_t mixed = x[i] | x[i + 1] | x[i + 5] | x[i + 6] | y[i] | y[i + 5] | next[i];
      cells[PMB_BRICK_Y * z + i] = mixed & rows[i] & layer;
    }
  }
}

static void fill_cells(const pmb_cpu *cpu, const pmb_cpu_record *record, int64_t *out, int row, int x, int count)
{
  const int64_t *dims = cpu->volume->dims;
  const int64_t i = (int64_t)record->position[0] * PMB_BRICK_X + x;
  const int64_t j = (int64_t)record->position[1] * PMB_BRICK_Y + (row & 3);
  const int64_t k = (int64_t)record->position[2] * PMB_BRICK_Z + (row >> 2);
  for (int t = 0; t < count; ++t) {
    out[t] = i + (dims[0] - 1) * (j + (dims[1] - 1) * k);
  }
}

/* The cell of each triangle, in the order of the triangles. */
static void emit_cells(
  const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const pmb_cpu_record *record, int joined, int64_t *out)
{
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const words_of_row words = find_words_of_row(&scratch->rows, row);
    for (uint32_t cells = scratch->cells[row]; cells; cells &= cells - 1) {
      const int x = pmb_lowest_bit(cells);
      pmb_cpu_case made;
      const int count = case_of_cell(cpu->tables, &words, x + 1, joined, &made)->ids / 3;
      fill_cells(cpu, record, out, row, x, count);
      out += count;
    }
  }
}

/* What the triangles of a brick are made from: masks of its points, words of its samples and its cells. Returns how many kinds of
 * points there are. */
static int find_triangles(
  const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const brick_family *family, uint32_t (*mask)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *record = family->at[0][0][0];
  box b;
  if (record->rules == PMB_RULES_PLAIN) {
    gather_masks(family, 0, PMB_SAMPLE, mask);
    words_from_masks(record, (const uint32_t(*)[PMB_EDGE_ROWS])mask, &scratch->rows);
    find_cells_by_masks(cpu, record, (const uint32_t(*)[PMB_EDGE_ROWS])mask, scratch->cells);
    return PMB_SAMPLE;
  }
  gather_masks(family, 0, PMB_KINDS, mask);
  if (record->rules == PMB_RULES_JOINED) {
    compare_joined(cpu, record, &scratch->rows, scratch->cells);
    return PMB_KINDS;
  }
  find_box(cpu, record, &b);
  pmb_cpu_read_rows(cpu, &b, 0, &scratch->rows);
  find_cells_by_full_rules(&scratch->rows, scratch->cells);
  return cpu->isovalue->join ? PMB_KINDS : PMB_SAMPLE;
}

void pmb_cpu_emit_triangles(
  const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const brick_family *family, int64_t first, int64_t room)
{
  const pmb_mesh *mesh = cpu->mesh;
  uint32_t mask[PMB_KINDS][PMB_EDGE_ROWS];
  const int kinds = find_triangles(cpu, scratch, family, mask);
  const uint32_t(*masks)[PMB_EDGE_ROWS] = (const uint32_t(*)[PMB_EDGE_ROWS])mask;
  const int joined = kinds == PMB_KINDS;
  if (mesh->triangles) {
    (joined ? emit_joined_ids : emit_ids)(cpu, scratch, family, masks, first, room);
  }
  if (mesh->cells) {
    emit_cells(cpu, scratch, family->at[0][0][0], joined, mesh->cells + first);
  }
}
