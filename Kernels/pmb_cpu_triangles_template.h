/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles with ids of type PMB_ID; included by pmb_cpu_triangles.h. */

#define brick_edges PMB_ID_NAME(brick_edges)

/* The ids of the points of a brick's cells, by kind and row z * 5 + y: of the first point with a column from 0 to 31 and, but
 * for the x edges, of the one at column 32, which is the next brick's. Points on samples only where they are joined. */
typedef struct brick_edges {
  const uint32_t (*mask)[PMB_EDGE_ROWS];
  PMB_ID first[PMB_KINDS][PMB_EDGE_ROWS], beyond[PMB_KINDS][PMB_EDGE_ROWS];
} brick_edges;

/* Ids of the first x, y and z edge, and with all kinds the first sample, of n of a record's rows. */
PMB_INLINE void PMB_ID_NAME(firsts_of)(const pmb_cpu *cpu, const pmb_cpu_record *r, int row, const int n, int i,
  const int kinds, PMB_ID (*first)[PMB_EDGE_ROWS])
{
  const PMB_ID begin = (PMB_ID)first_point(cpu, r);
  for (int l = 0; l < n; ++l) {
    first[0][i + l] = begin + r->first[row + l];
    first[1][i + l] = first[0][i + l] + pmb_popcount(r->mask[PMB_EDGE_X][row + l]);
    first[2][i + l] = first[1][i + l] + pmb_popcount(r->mask[PMB_EDGE_Y][row + l]);
    if (kinds == PMB_KINDS) {
      first[3][i + l] = first[2][i + l] + pmb_popcount(r->mask[PMB_EDGE_Z][row + l]);
    }
  }
}

/* The same for each row that this brick of the family has; bricks not there leave them unset. */
PMB_INLINE void PMB_ID_NAME(firsts_of_kinds)(
  const pmb_cpu *cpu, const brick_family *f, int dx, const int kinds, PMB_ID (*first)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *here = f->at[0][0][dx], *y = f->at[0][1][dx], *z = f->at[1][0][dx], *both = f->at[1][1][dx];
  for (int layer = 0; here && layer < PMB_BRICK_Z; ++layer) {
    PMB_ID_NAME(firsts_of)(cpu, here, PMB_BRICK_Y * layer, PMB_BRICK_Y, 5 * layer, kinds, first);
  }
  for (int layer = 0; y && layer < PMB_BRICK_Z; ++layer) {
    PMB_ID_NAME(firsts_of)(cpu, y, PMB_BRICK_Y * layer, 1, 5 * layer + 4, kinds, first);
  }
  if (z) {
    PMB_ID_NAME(firsts_of)(cpu, z, 0, PMB_BRICK_Y, 20, kinds, first);
  }
  if (both) {
    PMB_ID_NAME(firsts_of)(cpu, both, 0, 1, 24, kinds, first);
  }
}

static void PMB_ID_NAME(find_firsts)(
  const pmb_cpu *cpu, const brick_family *f, int dx, PMB_ID (*first)[PMB_EDGE_ROWS])
{
  PMB_ID_NAME(firsts_of_kinds)(cpu, f, dx, PMB_SAMPLE, first);
}

static void PMB_ID_NAME(find_joined_firsts)(
  const pmb_cpu *cpu, const brick_family *f, int dx, PMB_ID (*first)[PMB_EDGE_ROWS])
{
  PMB_ID_NAME(firsts_of_kinds)(cpu, f, dx, PMB_KINDS, first);
}

/* The ids in a table, which the cells' triangles are taken from by place. */
PMB_INLINE void PMB_ID_NAME(fill_ids)(const brick_edges *edges, const int kinds, PMB_ID *ids)
{
  for (int i = 0; i < 25; ++i) {
    for (int kind = 0; kind < kinds; ++kind) {
      PMB_ID *out = ids + i * PMB_IDS_ROW + kind * PMB_IDS_PITCH;
      PMB_ID next = edges->first[kind][i];
      for (uint32_t rest = edges->mask[kind][i]; rest; rest &= rest - 1) {
        out[pmb_lowest_bit(rest)] = next++;
      }
      out[PMB_BRICK_X] = edges->beyond[kind][i];
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

/* The same where points are joined. */
PMB_INLINE void PMB_ID_NAME(write_joined)(
  const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const PMB_ID *ids, PMB_ID *out, int turn)
{
  const pmb_cpu_joined *table = pmb_cpu_joined_cases();
  const pmb_rows *rows = &scratch->rows;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const PMB_ID *row_ids = ids + ((row >> 2) * 5 + (row & 3)) * PMB_IDS_ROW;
    for (uint32_t cells = scratch->cells[row]; cells; cells &= cells - 1) {
      const int x = pmb_lowest_bit(cells);
      pmb_cpu_case made;
      const pmb_cpu_case *entry = case_of_cell(table, rows, row, x, &made);
      for (int i = 0; i < entry->ids; i += 3) {
        out[i] = row_ids[x + cpu->corner_offsets[entry->corners[i] & 31]];
        out[i + 1 + turn] = row_ids[x + cpu->corner_offsets[entry->corners[i + 1] & 31]];
        out[i + 2 - turn] = row_ids[x + cpu->corner_offsets[entry->corners[i + 2] & 31]];
      }
      prefetch_output(out, 64);
      out += entry->ids;
    }
  }
}

/* The triangles of a brick. */
PMB_INLINE void PMB_ID_NAME(write_ids)(const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const brick_edges *edges,
  PMB_ID *ids, PMB_ID *out, int64_t room, const int kinds)
{
#if PMB_FAST_CELLS && PMB_ID_32
  (void)ids;
  write_brick(cpu, edges->mask, (const int32_t(*)[PMB_EDGE_ROWS])edges->first,
    (const int32_t(*)[PMB_EDGE_ROWS])edges->beyond, &scratch->rows, scratch->cells, out, room, kinds);
#else
  PMB_ID_NAME(fill_ids)(edges, kinds, ids);
  if (kinds == PMB_KINDS && cpu->frame->mirrored) {
    PMB_ID_NAME(write_joined)(cpu, scratch, ids, out, 1);
  } else if (kinds == PMB_KINDS) {
    PMB_ID_NAME(write_joined)(cpu, scratch, ids, out, 0);
  } else if (cpu->frame->mirrored) {
    PMB_ID_NAME(write_plain)(cpu, scratch, ids, out, room, 1);
  } else {
    PMB_ID_NAME(write_plain)(cpu, scratch, ids, out, room, 0);
  }
#endif
}

/* The family's brick whose points are joined; mask: of all kinds; first, room: see emit_triangles. */
static __attribute__((noinline)) void PMB_ID_NAME(emit_joined_ids)(pmb_cpu *cpu, pmb_cpu_scratch *scratch,
  PMB_ID *ids, const brick_family *family, const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  brick_edges edges;
  edges.mask = mask;
  PMB_ID_NAME(find_joined_firsts)(cpu, family, 0, edges.first);
  PMB_ID_NAME(find_joined_firsts)(cpu, family, 1, edges.beyond);
  PMB_ID_NAME(write_ids)(cpu, scratch, &edges, ids, (PMB_ID *)cpu->mesh->triangles + 3 * first, 3 * room, PMB_KINDS);
}

/* Another one; mask: of edges. */
static void PMB_ID_NAME(emit_ids)(pmb_cpu *cpu, pmb_cpu_scratch *scratch, PMB_ID *ids, const brick_family *family,
  const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  brick_edges edges;
  edges.mask = mask;
  PMB_ID_NAME(find_firsts)(cpu, family, 0, edges.first);
  PMB_ID_NAME(find_firsts)(cpu, family, 1, edges.beyond);
  PMB_ID_NAME(write_ids)(cpu, scratch, &edges, ids, (PMB_ID *)cpu->mesh->triangles + 3 * first, 3 * room, PMB_SAMPLE);
}

/* Where each of n triangles begins among the ids. */
static void PMB_ID_NAME(fill_offsets)(PMB_ID *offsets, int64_t first, int64_t n)
{
  const PMB_ID begin = (PMB_ID)(3 * first);
  for (int64_t i = 0; i < n; ++i) {
    offsets[first + i] = begin + 3 * (PMB_ID)i;
  }
}

#undef brick_edges
#undef PMB_ID
#undef PMB_ID_NAME
#undef PMB_ID_32
