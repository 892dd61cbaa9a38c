/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles with ids of type PMB_ID; included by pmb_cpu_triangles.h. */

/* Copies the ids of a row of a record into the table: row (y,z) of the 5 x 5, from column `column` on; `keep` selects
 * the row's samples. */
static void PMB_ID_NAME(fill_row)(const pmb_cpu *cpu, const pmb_cpu_record *record, int y, int z, int column,
  uint32_t keep, PMB_ID *ids, int64_t *sample_ids)
{
  const int row = (z & 3) * PMB_BRICK_Y + (y & 3);
  int64_t id = cpu->base.points + first_point(cpu, record) + record->first[row];
  PMB_ID *out = ids + (z * 5 + y) * PMB_IDS_ROW + column;
  for (int axis = 0; axis < 3; ++axis, out += PMB_IDS_PITCH) {
    const uint32_t mask = record->mask[axis][row];
    PMB_ID next = (PMB_ID)id;
    for (uint32_t rest = mask & keep; rest; rest &= rest - 1) {
      out[pmb_lowest_bit(rest)] = next++;
    }
    id += pmb_popcount(mask);
  }
  int64_t *samples = sample_ids + (z * 5 + y) * PMB_IDS_PITCH + column;
  for (uint32_t rest = record->mask[PMB_SAMPLE][row] & keep; rest; rest &= rest - 1) {
    samples[pmb_lowest_bit(rest)] = id++;
  }
}

/* The ids of all points on the edges of the brick's cells: its own, and those of the bricks above. */
static void PMB_ID_NAME(fill_ids)(const pmb_cpu *cpu, const pmb_cpu_record *record, PMB_ID *ids, int64_t *sample_ids)
{
  const pmb_cpu_record *bricks[2][2][2];
  for (int d = 0; d < 8; ++d) {
    bricks[d >> 2][d >> 1 & 1][d & 1] = d ? record_above(cpu, record, d & 1, d >> 1 & 1, d >> 2) : record;
  }
  for (int z = 0; z < 5; ++z) {
    for (int y = 0; y < 5; ++y) {
      const pmb_cpu_record *here = bricks[z >> 2][y >> 2][0], *next = bricks[z >> 2][y >> 2][1];
      if (here) {
        PMB_ID_NAME(fill_row)(cpu, here, y, z, 0, UINT32_MAX, ids, sample_ids);
      }
      if (next) {
        PMB_ID_NAME(fill_row)(cpu, next, y, z, PMB_BRICK_X, 1, ids, sample_ids);
      }
    }
  }
}

#define join_row PMB_ID_NAME(join_row)

/* Gives the crossed edges of a row that end at an equal sample that sample's id; upper_*: of the row of
 * the upper ends. */
static void join_row(uint64_t inside, uint64_t equal, uint64_t upper_inside, uint64_t upper_equal, PMB_ID *ids,
  const int64_t *lower_ids, const int64_t *upper_ids)
{
  for (uint64_t rest = (inside ^ upper_inside) & (equal | upper_equal) & 0x3fffffffeu; rest; rest &= rest - 1) {
    const int bit = pmb_lowest_bit(rest);
    ids[bit - 1] = (PMB_ID)(equal >> bit & 1 ? lower_ids[bit - 1] : upper_ids[bit - 1]);
  }
}

static void PMB_ID_NAME(join_ids)(const pmb_rows *rows, PMB_ID *ids, const int64_t *sample_ids)
{
  for (int z = 0; z < 5; ++z) {
    for (int y = 0; y < 5; ++y) {
      const uint64_t inside = rows->inside[z + 1][y + 1], equal = rows->equal[z + 1][y + 1];
      const int64_t *samples = sample_ids + (z * 5 + y) * PMB_IDS_PITCH;
      PMB_ID *row = ids + (z * 5 + y) * PMB_IDS_ROW;
      join_row(inside, equal, inside >> 1, equal >> 1, row, samples, samples + 1);
      if (y < 4) {
        join_row(inside, equal, rows->inside[z + 1][y + 2], rows->equal[z + 1][y + 2], row + PMB_IDS_PITCH, samples,
          samples + PMB_IDS_PITCH);
      }
      if (z < 4) {
        join_row(inside, equal, rows->inside[z + 2][y + 1], rows->equal[z + 2][y + 1], row + 2 * PMB_IDS_PITCH,
          samples, samples + 5 * PMB_IDS_PITCH);
      }
    }
  }
}

/* The triangles of a brick. turn: 1 to swap the second and third id. Writes 16 ids per cell where there is room for
 * them: what is too much is overwritten by the next cell, and the loop needs no count. */
PMB_INLINE void PMB_ID_NAME(write_plain)(const pmb_cpu *cpu, const pmb_cpu_scratch *scratch,
  const pmb_cpu_record *record, const PMB_ID *ids, PMB_ID *out, int turn)
{
  const pmb_rows *rows = &scratch->rows;
  const PMB_ID *end = out + 3 * record->triangles;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int y = (row & 3) + 1, z = (row >> 2) + 1;
    const uint64_t a = rows->inside[z][y], b = rows->inside[z][y + 1];
    const uint64_t c = rows->inside[z + 1][y], d = rows->inside[z + 1][y + 1];
    const PMB_ID *row_ids = ids + ((z - 1) * 5 + (y - 1)) * PMB_IDS_ROW;
    for (uint64_t cells = cells_of_row(scratch, record, row); cells; cells &= cells - 1) {
      const int bit = pmb_lowest_bit(cells);
      const unsigned cell_case = pmb_cell_bits(a, b, c, d, bit);
      const int16_t *offsets = cpu->case_offsets[cell_case];
      const PMB_ID *cell_ids = row_ids + (bit - 1);
      const int n = 3 * pmb_triangle_count[cell_case];
      if (!turn && end - out >= 16) {
        for (int i = 0; i < 16; ++i) {
          out[i] = cell_ids[offsets[i]];
        }
      } else {
        for (int i = 0; i < n; i += 3) {
          out[i] = cell_ids[offsets[i]];
          out[i + 1 + turn] = cell_ids[offsets[i + 1]];
          out[i + 2 - turn] = cell_ids[offsets[i + 2]];
        }
      }
      out += n;
    }
  }
}

/* The same where points may be joined: triangles with two equal ids are left out. */
static void PMB_ID_NAME(write_joined)(const pmb_cpu *cpu, const pmb_cpu_scratch *scratch,
  const pmb_cpu_record *record, const PMB_ID *ids, PMB_ID *out, int turn)
{
  const pmb_rows *rows = &scratch->rows;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int y = (row & 3) + 1, z = (row >> 2) + 1;
    for (uint64_t cells = cells_of_row(scratch, record, row); cells; cells &= cells - 1) {
      const int bit = pmb_lowest_bit(cells);
      const unsigned cell_case = pmb_cell_bits(
        rows->inside[z][y], rows->inside[z][y + 1], rows->inside[z + 1][y], rows->inside[z + 1][y + 1], bit);
      const PMB_ID *cell_ids = ids + ((z - 1) * 5 + (y - 1)) * PMB_IDS_ROW + (bit - 1);
      for (int i = 0; i < 3 * pmb_triangle_count[cell_case]; i += 3) {
        const int16_t *offsets = cpu->case_offsets[cell_case] + i;
        const PMB_ID p = cell_ids[offsets[0]], q = cell_ids[offsets[1]], r = cell_ids[offsets[2]];
        if (p != q && q != r && r != p) {
          out[0] = p;
          out[1] = turn ? r : q;
          out[2] = turn ? q : r;
          out += 3;
        }
      }
    }
  }
}

/* first: of the brick's triangles in the output. */
static void PMB_ID_NAME(emit_ids)(
  pmb_cpu *cpu, pmb_cpu_scratch *scratch, PMB_ID *ids, const pmb_cpu_record *record, int64_t first)
{
  const pmb_mesh *mesh = cpu->mesh;
  const int turn = cpu->frame->mirrored;
  PMB_ID *out = (PMB_ID *)mesh->triangles + 3 * first;
  if (mesh->triangles) {
    const int joined = record->exact && cpu->isovalue->join;
    if (joined) {
      memset(scratch->sample_ids, 0xff, sizeof(scratch->sample_ids));
    }
    PMB_ID_NAME(fill_ids)(cpu, record, ids, scratch->sample_ids);
    if (joined) {
      PMB_ID_NAME(join_ids)(&scratch->rows, ids, scratch->sample_ids);
      PMB_ID_NAME(write_joined)(cpu, scratch, record, ids, out, turn);
    } else if (turn) {
      PMB_ID_NAME(write_plain)(cpu, scratch, record, ids, out, 1);
    } else {
      PMB_ID_NAME(write_plain)(cpu, scratch, record, ids, out, 0);
    }
  }
  if (mesh->offsets) {
    PMB_ID *offsets = (PMB_ID *)mesh->offsets + first;
    for (uint32_t i = 0; i < record->triangles; ++i) {
      offsets[i] = (PMB_ID)(3 * (first + i));
    }
  }
}

#undef join_row
#undef PMB_ID
#undef PMB_ID_NAME
