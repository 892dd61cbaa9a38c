/* SPDX-License-Identifier: BSD-3-Clause
 * What the masks of a brick say about its points: which samples they need, and their list. */
#ifndef PMB_CPU_VERTICES_PLAN_H
#define PMB_CPU_VERTICES_PLAN_H

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"
#include "cpu/vector/pmb_cpu_lanes.h"

/* From bits z * 4 + y to bits z * 5 + y. */
static inline uint32_t rows_by_five(uint32_t rows)
{
  return (rows & 0xf) | (rows & 0xf0) << 1 | (rows & 0xf00) << 2 | (rows & 0xf000) << 3;
}

/* The samples that are ends. Returns the rows that have one, bit (z + 1) * 7 + (y + 1). */
static inline uint64_t find_ends(const pmb_cpu_record *record, brick_plan *plan)
{
  const uint32_t *x = (const uint32_t *)record->mask, *y = x + PMB_BRICK_ROWS, *z = y + PMB_BRICK_ROWS;
  const uint32_t *samples = z + PMB_BRICK_ROWS;
  uint32_t own[PMB_BRICK_ROWS], low[32];
  uint64_t rows = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    const uint32_t below_y = i % PMB_BRICK_Y ? y[i - 1] : 0, below_z = i >= PMB_BRICK_Y ? z[i - PMB_BRICK_Y] : 0;
    own[i] = x[i] | x[i] << 1 | y[i] | z[i] | samples[i] | below_y | below_z;
  }
  for (int i = 0; i < PMB_BRICK_Z; ++i) {
    memcpy(plan->ends + 5 * i, own + PMB_BRICK_Y * i, PMB_BRICK_Y * sizeof(*own));
    plan->ends[5 * i + 4] = y[PMB_BRICK_Y * i + 3];
  }
  memcpy(plan->ends + 20, z + 12, PMB_BRICK_Y * sizeof(*z));
  memset(plan->ends + 24, 0, 8 * sizeof(*z));
  for (int i = 0; i < 32; ++i) {
    low[i] = plan->ends[i] << 16;
  }
  plan->low = at_least_uint32(low, 1);
  plan->high = at_least_uint32(plan->ends, 1 << 16);
  plan->beyond = rows_by_five(at_least_uint32(x, 1u << 31));
  for (int i = 0; i < 5; ++i) {
    rows |= (uint64_t)((plan->low | plan->high) >> 5 * i & 31) << ((i + 1) * PMB_TILE_ROWS + 1);
  }
  return rows;
}

static inline int wants_gradients(const pmb_mesh *mesh)
{
  return mesh->normals || mesh->gradients;
}

/* Whether gradients are central differences, as they nearly always are. */
static inline int is_central(const pmb_mesh *mesh)
{
  return wants_gradients(mesh) && mesh->gradient_estimator == PMB_CENTRAL;
}

/* The rows that have to be read to interpolate from these, bits as above. */
static inline uint64_t rows_around(const pmb_mesh *mesh, uint64_t rows)
{
  const uint64_t beside = rows << 1 | rows >> 1;
  if (!wants_gradients(mesh)) {
    return rows;
  }
  if (mesh->gradient_estimator == PMB_SOBEL) {
    const uint64_t layer = rows | beside;
    return layer | layer << PMB_TILE_ROWS | layer >> PMB_TILE_ROWS;
  }
  return rows | beside | rows << PMB_TILE_ROWS | rows >> PMB_TILE_ROWS;
}

/* Columns that are read of a brick's rows: those of the ends and beside them, and all of 16 where there is one end. */
static inline void find_columns(brick_plan *plan)
{
  uint32_t own = 0;
  for (int i = 0; i < 32; ++i) {
    own |= plan->ends[i];
  }
  const uint64_t columns = (uint64_t)(plan->beyond != 0) << PMB_BRICK_X | own;
  const int first = columns ? pmb_lowest_bit(columns) : 0, last = columns ? 63 - __builtin_clzll(columns) : 0;
  plan->from = first % 16 ? first / 16 * 16 : first - 1;
  plan->to = last == PMB_BRICK_X || last % 16 == 15 ? last + 1 : last | 15;
}

/* The points of a brick in their order; returns how many, and repeats the last one to fill the last block. */
static __attribute__((noinline)) int list_points(const pmb_cpu *cpu, const pmb_cpu_record *record, uint16_t *list)
{
  uint32_t words[PMB_BRICK_ROWS][PMB_KINDS];
  lanes_interleave_u32(record->mask, words);
  const int n = lanes_list_words(cpu->tables->places, words[0], PMB_KINDS * PMB_BRICK_ROWS, list);
  for (int i = 0; i < 16 && n > 0; ++i) {
    list[n + i] = list[n - 1];
  }
  return n;
}

#endif
