/* SPDX-License-Identifier: BSD-3-Clause
 * What the masks of a brick say about its points; included by pmb_cpu_loops.c. */

/* The samples that are ends: columns[z * 5 + y] has bit x. Returns the rows that have one, bit (z + 1) * 7 + (y + 1). */
static uint64_t find_ends(const pmb_cpu_record *record, uint64_t columns[25])
{
  uint64_t rows = 0;
  memset(columns, 0, 25 * sizeof(columns[0]));
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const uint64_t along_x = record->mask[PMB_EDGE_X][row], along_y = record->mask[PMB_EDGE_Y][row];
    const uint64_t along_z = record->mask[PMB_EDGE_Z][row];
    uint64_t *here = columns + (row >> 2) * 5 + (row & 3);
    here[0] |= along_x | along_x << 1 | along_y | along_z | record->mask[PMB_SAMPLE][row];
    here[1] |= along_y;
    here[5] |= along_z;
  }
  for (int i = 0; i < 25; ++i) {
    rows |= (uint64_t)(columns[i] != 0) << ((i / 5 + 1) * PMB_TILE_ROWS + i % 5 + 1);
  }
  return rows;
}

static int wants_points(const pmb_mesh *mesh)
{
  return mesh->points || mesh->normals || mesh->gradients || mesh->scalars || mesh->attribute_count;
}

/* The rows that have to be read to interpolate from these, bits as above. */
static uint64_t rows_around(const pmb_mesh *mesh, uint64_t rows)
{
  const uint64_t beside = rows << 1 | rows >> 1;
  if (!mesh->normals && !mesh->gradients) {
    return rows;
  }
  if (mesh->gradient_estimator == PMB_SOBEL) {
    const uint64_t layer = rows | beside;
    return layer | layer << PMB_TILE_ROWS | layer >> PMB_TILE_ROWS;
  }
  return rows | beside | rows << PMB_TILE_ROWS | rows >> PMB_TILE_ROWS;
}

/* The points of a brick in their order; returns how many, and repeats the last one to fill the last block. */
static int list_points(const pmb_cpu_record *record, uint16_t *list)
{
  int n = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      n += lanes_list(record->mask[kind][row], (unsigned)kind << 9 | (unsigned)row << 5, list + n);
    }
  }
  for (int i = 0; i < 16 && n > 0; ++i) {
    list[n + i] = list[n - 1];
  }
  return n;
}
