/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles of the CPU backend; included by pmb_cpu_loops.c. No sample is read: the ids of the points on the
 * edges of a brick's cells go into a small table, from the masks of the brick and of the bricks above it. */

/* The record of the brick (dx,dy,dz) above; NULL if it is outside the volume or not active. */
static const pmb_cpu_record *record_above(const pmb_cpu *cpu, const pmb_cpu_record *record, int dx, int dy, int dz)
{
  const int64_t x = record->position[0] + dx, y = record->position[1] + dy, z = record->position[2] + dz;
  if (x >= cpu->bricks[0] || y >= cpu->bricks[1] || z >= cpu->bricks[2]) {
    return NULL;
  }
  const uint32_t index = ((const uint32_t *)cpu->map.data)[x + cpu->bricks[0] * (y + cpu->bricks[1] * z)];
  return index == PMB_NO_RECORD ? NULL : (const pmb_cpu_record *)cpu->records.data + index;
}

/* Id of a record's first point, before the base of the mesh. */
static int64_t first_point(const pmb_cpu *cpu, const pmb_cpu_record *record)
{
  const int64_t index = record - (const pmb_cpu_record *)cpu->records.data;
  return ((const pmb_sizes *)cpu->chunks.data)[index / PMB_CPU_CHUNK].points + record->points_before;
}

/* The cells of a brick's row that give triangles, as bits x + 1. */
static inline uint64_t cells_of_row(const pmb_cpu_scratch *scratch, const pmb_cpu_record *record, int row)
{
  const pmb_rows *rows = &scratch->rows;
  const int y = (row & 3) + 1, z = (row >> 2) + 1;
  const uint64_t mixed =
    pmb_mixed_cells(rows->inside[z][y], rows->inside[z][y + 1], rows->inside[z + 1][y], rows->inside[z + 1][y + 1]);
  if (record->exact) {
    return mixed & 0x1fffffffeu & pmb_valid_cells(rows, y, z);
  }
  return y < scratch->n[1] && z < scratch->n[2] ? mixed & pmb_first_columns(scratch->n[0] - 1) : 0;
}

#define PMB_ID int32_t
#define PMB_ID_NAME(name) name##_i32
#include "pmb_cpu_triangles_template.h"

#define PMB_ID int64_t
#define PMB_ID_NAME(name) name##_i64
#include "pmb_cpu_triangles_template.h"

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
static void emit_cells(const pmb_cpu *cpu, const pmb_cpu_scratch *scratch, const pmb_cpu_record *record, int64_t *out)
{
  const pmb_rows *rows = &scratch->rows;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int y = (row & 3) + 1, z = (row >> 2) + 1;
    for (uint64_t cells = cells_of_row(scratch, record, row); cells; cells &= cells - 1) {
      const int bit = pmb_lowest_bit(cells);
      const unsigned cell_case = pmb_cell_bits(
        rows->inside[z][y], rows->inside[z][y + 1], rows->inside[z + 1][y], rows->inside[z + 1][y + 1], bit);
      const unsigned equal = record->exact ? pmb_cell_bits(rows->equal[z][y], rows->equal[z][y + 1],
                                               rows->equal[z + 1][y], rows->equal[z + 1][y + 1], bit)
                                           : 0;
      const int count = pmb_cell_kept(cell_case, equal).triangles;
      fill_cells(cpu, record, out, row, bit - 1, count);
      out += count;
    }
  }
}

static void emit_triangles(pmb_cpu *cpu, pmb_cpu_scratch *scratch, const pmb_cpu_record *record, int64_t first)
{
  const pmb_mesh *mesh = cpu->mesh;
  if (mesh->id_type == PMB_INT32) {
    emit_ids_i32(cpu, scratch, scratch->ids.i32, record, first);
  } else {
    emit_ids_i64(cpu, scratch, scratch->ids.i64, record, first);
  }
  if (mesh->cells) {
    emit_cells(cpu, scratch, record, mesh->cells + first);
  }
}
