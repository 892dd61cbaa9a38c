/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: interpolates the points of a brick, and their gradients and normals.
 *
 * An "end" is the record of a sample at an end of an edge with a point, or with a point on itself: its index gradient and its
 * value. Ends are made 16 columns at a time, where one of these is needed, from the samples in the volume. Rows with samples
 * that are hidden, outside the volume or not side by side are copied to a tile first. */
#include <string.h>

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"
#include "cpu/vector/pmb_cpu_lanes.h"

/* From bit z * 4 + y to bit z * 5 + y. */
static inline uint32_t rows_by_five(uint32_t rows)
{
  return (rows & 0xf) | (rows & 0xf0) << 1 | (rows & 0xf00) << 2 | (rows & 0xf000) << 3;
}

/* Finds the ends. Returns the rows (y,z) that have one, as bit (z + 1) * 7 + (y + 1). */
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

/* The rows to read for ends in these rows, bits as above. */
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

/* Finds the columns to read: all 16 of a half with an end, and the neighbours of ends. */
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

/* Lists the points of a brick in order, and repeats the last one to fill the last block. Returns how many there are. */
static __attribute__((noinline)) int list_points(
  const pmb_cpu_surface *surface, const pmb_cpu_record *record, uint16_t *list)
{
  uint32_t words[PMB_BRICK_ROWS][PMB_KINDS];
  lanes_interleave_u32(record->mask, words);
  const int n = lanes_list_words(surface->tables->places, words[0], PMB_KINDS * PMB_BRICK_ROWS, list);
  for (int i = 0; i < 16 && n > 0; ++i) {
    list[n + i] = list[n - 1];
  }
  return n;
}

/* The rows of samples around a brick: row (y,z) begins, with its column 0, at element y[y + 1] + z[z + 1] of `samples`. */
typedef struct rows_view {
  const void *samples;
  pmb_type type; /* of the samples there */
  int64_t y[PMB_TILE_ROWS], z[PMB_TILE_ROWS];
  float factor[3][PMB_TILE_COLUMNS + 15]; /* of central differences, by column, by row y, by row z */
} rows_view;

#define PMB_EACH_TYPE "cpu/pmb_cpu_vertices_ends_template.h"
#include "shared/pmb_each_type.h"

typedef struct end_functions {
  void (*load)(const pmb_cpu_surface *surface, const box *b, const brick_plan *plan, void *tile);
  void (*make)(const pmb_cpu_surface *surface, const box *b, const rows_view *v, const brick_plan *plan, void *out);
  pmb_stencil (*stencil)(const rows_view *v, int end);
} end_functions;

#define PMB_ENDS(NAME, type, name, real) [PMB_##NAME] = { load_##name, make_ends_##name, stencil_##name },
static const end_functions by_type[] = { PMB_SAMPLE_TYPES(PMB_ENDS) };

/* Fills the factors of central differences at n samples from `first` on; dims: of all samples along the axis. */
static inline void fill_factor(float *factor, int n, int64_t first, int64_t dims)
{
  for (int i = 0; i < n; ++i) {
    factor[i] = 0.5f;
  }
  if (first == 0) {
    factor[0] = 1;
  }
  if (dims - 1 - first < n) {
    factor[dims - 1 - first] = 1;
  }
}

/* Finds the rows of a plan in the volume, if their columns can be read there; else copies them to the tile. */
static void find_rows(
  const pmb_cpu_surface *surface, const box *b, const brick_plan *plan, void *tile, rows_view *view)
{
  const pmb_volume *v = surface->volume;
  const int wide = pmb_type_is_wide(v->type);
  const int in_place =
    v->strides[0] == 1 && !b->hides && b->origin[0] + plan->from >= 0 && b->origin[0] + plan->to < v->dims[0];
  fill_factor(view->factor[0], PMB_TILE_COLUMNS + 15, b->origin[0], v->dims[0]);
  fill_factor(view->factor[1], PMB_BRICK_Y + 1, b->origin[1], v->dims[1]);
  fill_factor(view->factor[2], PMB_BRICK_Z + 1, b->origin[2], v->dims[2]);
  view->type = in_place ? v->type : wide ? PMB_FLOAT64 : PMB_FLOAT32;
  view->samples = in_place ? (const char *)v->samples + b->origin[0] * (int64_t)pmb_type_size(v->type)
                           : (const char *)tile + pmb_type_size(view->type);
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    view->y[i] = in_place ? clamp(b->origin[1] + i - 1, v->dims[1]) * v->strides[1] : i * PMB_TILE_PITCH;
    view->z[i] =
      in_place ? clamp(b->origin[2] + i - 1, v->dims[2]) * v->strides[2] : i * PMB_TILE_ROWS * PMB_TILE_PITCH;
  }
  if (!in_place) {
    by_type[v->type].load(surface, b, plan, tile);
  }
}

#define PMB_REAL float
#define PMB_REAL_NAME(name) name##_f32
#include "cpu/pmb_cpu_vertices_template.h"

#define PMB_REAL double
#define PMB_REAL_NAME(name) name##_f64
#include "cpu/pmb_cpu_vertices_template.h"

void pmb_cpu_plan_points(const pmb_cpu_surface *surface, const pmb_cpu_record *record, brick_plan *plan)
{
  plan->rows = rows_around(surface->mesh, find_ends(record, plan));
  find_columns(plan);
  prefetch_samples(surface, record, plan->rows, plan->from, plan->to);
}

void pmb_cpu_emit_points(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const pmb_cpu_record *record,
  const brick_plan *plan, int64_t first)
{
  rows_view view;
  box b;
  find_box(surface, record, &b);
  find_rows(surface, &b, plan, scratch->tile, &view);
  by_type[view.type].make(surface, &b, &view, plan, scratch->ends);
  if (pmb_type_is_wide(surface->volume->type)) {
    emit_points_f64(surface, scratch, record, &b, &view, first);
  } else {
    emit_points_f32(surface, scratch, record, &b, &view, first);
  }
}
