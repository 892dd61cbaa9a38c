/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles with ids of type PMB_ID; included by pmb_cpu_triangles.h. */

#define brick_edges PMB_ID_NAME(brick_edges)

/* The ids of the points of a brick's cells, by kind and row z * 5 + y: of the first point with a column from 0 to 31 and, but
 * for the x edges, of the one at column 32, which is the next brick's, where a cell has that column. Points on samples only where
 * they are joined. */
typedef struct brick_edges {
  const uint32_t (*mask)[PMB_EDGE_ROWS];
  PMB_ID first[PMB_KINDS][PMB_EDGE_ROWS], beyond[PMB_KINDS][PMB_EDGE_ROWS];
} brick_edges;

/* Ids of the first points of n of a record's rows; begin: id of its first point. */
PMB_INLINE void PMB_ID_NAME(firsts_of)(const pmb_cpu_record *r, PMB_ID begin, int row, const int n, PMB_ID *ids)
{
  for (int l = 0; l < n; ++l) {
    ids[l] = begin + r->first[row + l];
  }
}

/* Ids of the first point of each of these first kinds, in each row that this brick of the family has, if it is there. mask: see
 * gather_masks. */
PMB_INLINE void PMB_ID_NAME(find_firsts)(const pmb_cpu *cpu, const brick_family *f, int dx, const int kinds,
  const uint32_t (*mask)[PMB_EDGE_ROWS], PMB_ID (*restrict first)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *r[4];
  PMB_ID begin[4];
  for (int i = 0; i < 4; ++i) {
    const pmb_cpu_record *there = f->at[i >> 1][i & 1][dx];
    r[i] = record_or_none(there);
    begin[i] = there ? (PMB_ID)first_point(cpu, there) : 0;
  }
  for (int z = 0; z < PMB_BRICK_Z; ++z) {
    PMB_ID_NAME(firsts_of)(r[0], begin[0], PMB_BRICK_Y * z, PMB_BRICK_Y, first[0] + 5 * z);
    PMB_ID_NAME(firsts_of)(r[1], begin[1], PMB_BRICK_Y * z, 1, first[0] + 5 * z + 4);
  }
  PMB_ID_NAME(firsts_of)(r[2], begin[2], 0, PMB_BRICK_Y, first[0] + 20);
  PMB_ID_NAME(firsts_of)(r[3], begin[3], 0, 1, first[0] + 24);
  memset(first[0] + 25, 0, 7 * sizeof(PMB_ID));
  for (int kind = 1; kind < kinds; ++kind) {
    uint32_t points[32];
    count_points(mask[kind - 1], points);
    PMB_LANE_LOOP
    for (int i = 0; i < 32; ++i) {
      first[kind][i] = first[kind - 1][i] + (PMB_ID)points[i];
    }
  }
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

/* The ids of a brick's triangles. mask: of the first kinds of its points; first, room: see emit_triangles. */
PMB_INLINE void PMB_ID_NAME(emit_kinds)(pmb_cpu *cpu, pmb_cpu_scratch *scratch, PMB_ID *ids,
  const brick_family *family, const int kinds, const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  brick_edges edges;
  edges.mask = mask;
  PMB_ID_NAME(find_firsts)(cpu, family, 0, kinds, mask, edges.first);
  if (reaches_beyond(scratch->cells)) {
    uint32_t next[PMB_KINDS][PMB_EDGE_ROWS];
    gather_masks(family, 1, kinds, next);
    PMB_ID_NAME(find_firsts)(cpu, family, 1, kinds, (const uint32_t(*)[PMB_EDGE_ROWS])next, edges.beyond);
  } else {
    memset(edges.beyond, 0, sizeof(edges.beyond));
  }
  PMB_ID_NAME(write_ids)(cpu, scratch, &edges, ids, (PMB_ID *)cpu->mesh->triangles + 3 * first, 3 * room, kinds);
}

/* Of a brick whose points are joined; apart, so that the other is as fast as without. */
static __attribute__((noinline)) void PMB_ID_NAME(emit_joined_ids)(pmb_cpu *cpu, pmb_cpu_scratch *scratch,
  PMB_ID *ids, const brick_family *family, const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  PMB_ID_NAME(emit_kinds)(cpu, scratch, ids, family, PMB_KINDS, mask, first, room);
}

/* Of another one. */
static void PMB_ID_NAME(emit_ids)(pmb_cpu *cpu, pmb_cpu_scratch *scratch, PMB_ID *ids, const brick_family *family,
  const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  PMB_ID_NAME(emit_kinds)(cpu, scratch, ids, family, PMB_SAMPLE, mask, first, room);
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
