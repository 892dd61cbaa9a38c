/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles with ids of type PMB_ID; included by pmb_cpu_triangles.h. */

#define brick_edges PMB_ID_NAME(brick_edges)

/* The ids on the edges of a brick's cells, by axis and row z * 5 + y: of the first point with a column from 0 to 31 and, for
 * the y and z edges, of the one at column 32, which is the next brick's. */
typedef struct brick_edges {
  const uint32_t (*mask)[PMB_EDGE_ROWS];
  PMB_ID first[3][PMB_EDGE_ROWS], beyond[3][PMB_EDGE_ROWS];
} brick_edges;

/* Ids of the first x, y and z edge of n of a record's rows. */
PMB_INLINE void PMB_ID_NAME(firsts_of)(
  const pmb_cpu *cpu, const pmb_cpu_record *r, int row, const int n, int i, PMB_ID (*first)[PMB_EDGE_ROWS])
{
  const PMB_ID begin = (PMB_ID)first_point(cpu, r);
  for (int l = 0; l < n; ++l) {
    first[0][i + l] = begin + r->first[row + l];
    first[1][i + l] = first[0][i + l] + pmb_popcount(r->mask[PMB_EDGE_X][row + l]);
    first[2][i + l] = first[1][i + l] + pmb_popcount(r->mask[PMB_EDGE_Y][row + l]);
  }
}

/* Ids of the first x, y and z edge of each row that this brick of the family has; bricks not there leave them unset. */
static void PMB_ID_NAME(find_firsts)(
  const pmb_cpu *cpu, const brick_family *f, int dx, PMB_ID (*first)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *here = f->at[0][0][dx], *y = f->at[0][1][dx], *z = f->at[1][0][dx], *both = f->at[1][1][dx];
  for (int layer = 0; here && layer < PMB_BRICK_Z; ++layer) {
    PMB_ID_NAME(firsts_of)(cpu, here, PMB_BRICK_Y * layer, PMB_BRICK_Y, 5 * layer, first);
  }
  for (int layer = 0; y && layer < PMB_BRICK_Z; ++layer) {
    PMB_ID_NAME(firsts_of)(cpu, y, PMB_BRICK_Y * layer, 1, 5 * layer + 4, first);
  }
  if (z) {
    PMB_ID_NAME(firsts_of)(cpu, z, 0, PMB_BRICK_Y, 20, first);
  }
  if (both) {
    PMB_ID_NAME(firsts_of)(cpu, both, 0, 1, 24, first);
  }
}

/* The ids in a table, which the cells' triangles are taken from by place. */
static void PMB_ID_NAME(fill_ids)(const brick_edges *edges, PMB_ID *ids)
{
  for (int i = 0; i < 25; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      PMB_ID *out = ids + i * PMB_IDS_ROW + axis * PMB_IDS_PITCH;
      PMB_ID next = edges->first[axis][i];
      for (uint32_t rest = edges->mask[axis][i]; rest; rest &= rest - 1) {
        out[pmb_lowest_bit(rest)] = next++;
      }
      out[PMB_BRICK_X] = edges->beyond[axis][i];
    }
  }
}

/* Ids of the points on samples, [z * 5 + y][x]; of others -1. */
static void PMB_ID_NAME(fill_sample_ids)(const pmb_cpu *cpu, const brick_family *f, int64_t *sample_ids)
{
  for (int i = 0; i < 25 * PMB_IDS_PITCH; ++i) {
    sample_ids[i] = -1;
  }
  for (int i = 0; i < 50; ++i) {
    const int y = i / 2 % 5, z = i / 2 / 5, row = (z & 3) * PMB_BRICK_Y + (y & 3);
    const pmb_cpu_record *r = f->at[z >> 2][y >> 2][i & 1];
    if (r) {
      int64_t id = first_point(cpu, r) + r->first[row] + pmb_popcount(r->mask[PMB_EDGE_X][row]) +
        pmb_popcount(r->mask[PMB_EDGE_Y][row]) + pmb_popcount(r->mask[PMB_EDGE_Z][row]);
      int64_t *out = sample_ids + (i / 2) * PMB_IDS_PITCH + (i & 1 ? PMB_BRICK_X : 0);
      for (uint32_t rest = r->mask[PMB_SAMPLE][row] & (i & 1 ? 1 : UINT32_MAX); rest; rest &= rest - 1) {
        out[pmb_lowest_bit(rest)] = id++;
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
PMB_INLINE void PMB_ID_NAME(write_plain)(
  const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const PMB_ID *ids, PMB_ID *out, int64_t room, int turn)
{
  const pmb_rows *rows = &scratch->rows;
  const PMB_ID *end = out + room;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int y = (row & 3) + 1, z = (row >> 2) + 1;
    const uint64_t a = rows->inside[z][y], b = rows->inside[z][y + 1];
    const uint64_t c = rows->inside[z + 1][y], d = rows->inside[z + 1][y + 1];
    const PMB_ID *row_ids = ids + ((z - 1) * 5 + (y - 1)) * PMB_IDS_ROW;
    for (uint32_t cells = scratch->cells[row]; cells; cells &= cells - 1) {
      const int bit = pmb_lowest_bit(cells) + 1;
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
      prefetch_output(out, 64);
      out += n;
    }
  }
}

/* The same where points may be joined: triangles with two equal ids are left out. */
static void PMB_ID_NAME(write_joined)(
  const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const PMB_ID *ids, PMB_ID *out, int turn)
{
  const pmb_rows *rows = &scratch->rows;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int y = (row & 3) + 1, z = (row >> 2) + 1;
    for (uint32_t cells = scratch->cells[row]; cells; cells &= cells - 1) {
      const int bit = pmb_lowest_bit(cells) + 1;
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

/* The triangles of a brick whose points are not joined. */
static void PMB_ID_NAME(emit_plain)(const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const brick_edges *edges,
  PMB_ID *ids, PMB_ID *out, int64_t room)
{
#if PMB_FAST_CELLS && PMB_ID_32
  (void)ids;
  write_brick(cpu, edges->mask, (const int32_t(*)[PMB_EDGE_ROWS])edges->first,
    (const int32_t(*)[PMB_EDGE_ROWS])edges->beyond, &scratch->rows, scratch->cells, out, room);
#else
  PMB_ID_NAME(fill_ids)(edges, ids);
  if (cpu->frame->mirrored) {
    PMB_ID_NAME(write_plain)(cpu, scratch, ids, out, room, 1);
  } else {
    PMB_ID_NAME(write_plain)(cpu, scratch, ids, out, room, 0);
  }
#endif
}

/* The family's brick; first, room: see emit_triangles. */
static void PMB_ID_NAME(emit_ids)(pmb_cpu *cpu, pmb_cpu_scratch *scratch, PMB_ID *ids, const brick_family *family,
  const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  const pmb_mesh *mesh = cpu->mesh;
  const pmb_cpu_record *record = family->at[0][0][0];
  if (mesh->triangles) {
    PMB_ID *out = (PMB_ID *)mesh->triangles + 3 * first;
    brick_edges edges;
    edges.mask = mask;
    PMB_ID_NAME(find_firsts)(cpu, family, 0, edges.first);
    PMB_ID_NAME(find_firsts)(cpu, family, 1, edges.beyond);
    if (record->exact && cpu->isovalue->join) {
      PMB_ID_NAME(fill_ids)(&edges, ids);
      PMB_ID_NAME(fill_sample_ids)(cpu, family, scratch->sample_ids);
      PMB_ID_NAME(join_ids)(&scratch->rows, ids, scratch->sample_ids);
      PMB_ID_NAME(write_joined)(cpu, scratch, ids, out, cpu->frame->mirrored);
    } else {
      PMB_ID_NAME(emit_plain)(cpu, scratch, &edges, ids, out, 3 * room);
    }
  }
}

/* Where each of n triangles begins among the ids. */
static void PMB_ID_NAME(fill_offsets)(PMB_ID *offsets, int64_t first, int64_t n)
{
  const PMB_ID begin = (PMB_ID)(3 * first);
  for (int64_t i = 0; i < n; ++i) {
    offsets[first + i] = begin + 3 * (PMB_ID)i;
  }
}

#undef join_row
#undef brick_edges
#undef PMB_ID
#undef PMB_ID_NAME
#undef PMB_ID_32
