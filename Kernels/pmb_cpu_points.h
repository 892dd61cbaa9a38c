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

/* What emit finds out about a brick ahead of its turn, so that its memory can be asked for. */
typedef struct brick_plan {
  uint64_t columns[25]; /* see find_ends */
  uint64_t rows;        /* that are read, see rows_around */
} brick_plan;

/* Asks for the samples that the points of a brick need: its rows are far apart, so the hardware does not foresee them. */
static void plan_points(const pmb_cpu *cpu, const pmb_cpu_record *record, brick_plan *plan)
{
  const pmb_volume *v = cpu->volume;
  const int64_t bytes = (int64_t)pmb_type_size(v->type), origin = (int64_t)record->position[0] * PMB_BRICK_X;
  uint64_t columns = 0;
  int64_t layer[PMB_TILE_ROWS], row[PMB_TILE_ROWS];
  plan->rows = rows_around(cpu->mesh, find_ends(record, plan->columns));
  if (!plan->rows || v->strides[0] != 1) {
    return;
  }
  for (int i = 0; i < 25; ++i) {
    columns |= plan->columns[i];
  }
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    row[i] = clamp((int64_t)record->position[1] * PMB_BRICK_Y + i - 1, v->dims[1]) * v->strides[1];
    layer[i] = clamp((int64_t)record->position[2] * PMB_BRICK_Z + i - 1, v->dims[2]) * v->strides[2];
  }
  const int64_t from = clamp(origin + pmb_lowest_bit(columns) - 1, v->dims[0]);
  const int64_t to = clamp(origin + 64 - __builtin_clzll(columns), v->dims[0]);
  for (uint64_t rest = plan->rows; rest; rest &= rest - 1) {
    const int bit = pmb_lowest_bit(rest);
    const char *samples = (const char *)v->samples + (row[bit % PMB_TILE_ROWS] + layer[bit / PMB_TILE_ROWS]) * bytes;
    for (int64_t b = from * bytes; b < to * bytes; b += 64) {
      __builtin_prefetch(samples + b);
    }
    __builtin_prefetch(samples + to * bytes);
  }
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
