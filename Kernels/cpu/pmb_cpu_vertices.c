/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: interpolates the points of a brick, and their gradients and normals.
 *
 * An "end" is a sample at an end of an edge with a point, or with a point on itself: a record of its index gradient and its value.
 * Ends are made 16 columns at a time, where there is one among these, from the samples where they lie; only where these are
 * not side by side, hidden, or outside the volume, they are copied to a tile first. */
#include <string.h>

#include "cpu/pmb_cpu_vertices_plan.h"

/* The part of a tile that is read, and where it lies in the volume: row (y,z) begins at element y[y + 1] + z[z + 1], for rows outside
 * the nearest. */
typedef struct tile_rows {
  int64_t stride, y[PMB_TILE_ROWS], z[PMB_TILE_ROWS];
  int offset;     /* tile column of the first sample that there is */
  int n;          /* samples of a row that there are */
  int begin, end; /* tile columns that are set */
} tile_rows;

/* from, to: columns of the brick, -1 to 33. */
static void find_tile_rows(const pmb_cpu *cpu, const box *b, int from, int to, tile_rows *rows)
{
  const pmb_volume *v = cpu->volume;
  const int64_t first = clamp(b->origin[0] + from, v->dims[0]), last = clamp(b->origin[0] + to, v->dims[0]);
  rows->stride = v->strides[0];
  rows->offset = (int)(first - (b->origin[0] - 1));
  rows->n = (int)(last - first) + 1;
  rows->begin = from + 1;
  rows->end = to + 2;
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    rows->y[i] = first * v->strides[0] + clamp(b->origin[1] + i - 1, v->dims[1]) * v->strides[1];
    rows->z[i] = clamp(b->origin[2] + i - 1, v->dims[2]) * v->strides[2];
  }
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
  void (*load)(const void *samples, const tile_rows *rows, uint64_t wanted, void *tile);
  void (*make)(const pmb_cpu *cpu, const box *b, const rows_view *v, const brick_plan *plan, void *out);
} end_functions;

#define PMB_ENDS(NAME, type, name, real) [PMB_##NAME] = { load_##name, make_ends_##name },
static const end_functions by_type[] = { PMB_SAMPLE_TYPES(PMB_ENDS) };

/* Hidden samples of a loaded row become NaN: what follows from them is then left out everywhere. */
static void hide_samples(const pmb_cpu *cpu, const box *b, int y, int z, void *row, const tile_rows *rows)
{
  const pmb_volume *v = cpu->volume;
  const int64_t j = clamp(b->origin[1] + y, v->dims[1]), k = clamp(b->origin[2] + z, v->dims[2]);
  for (int c = rows->begin; c < rows->end; ++c) {
    const int there = c < rows->offset ? rows->offset : c < rows->offset + rows->n ? c : rows->offset + rows->n - 1;
    if (pmb_hides_sample(v, b->origin[0] - 1 + there, j, k)) {
      pmb_type_is_wide(v->type) ? (((double *)row)[c] = NAN) : (((float *)row)[c] = NAN);
    }
  }
}

/* Loads the rows of a plan into the tile; columns outside the volume repeat its border. */
static void load_tile(const pmb_cpu *cpu, const box *b, const brick_plan *plan, void *tile)
{
  const size_t pitch = PMB_TILE_PITCH * (pmb_type_is_wide(cpu->volume->type) ? sizeof(double) : sizeof(float));
  tile_rows rows;
  find_tile_rows(cpu, b, plan->from, plan->to, &rows);
  by_type[cpu->volume->type].load(cpu->volume->samples, &rows, plan->rows, tile);
  for (uint64_t rest = b->hides ? plan->rows : 0; rest; rest &= rest - 1) {
    const int bit = pmb_lowest_bit(rest), y = bit % PMB_TILE_ROWS - 1, z = bit / PMB_TILE_ROWS - 1;
    hide_samples(cpu, b, y, z, (char *)tile + (size_t)bit * pitch, &rows);
  }
}

/* Factor of central differences at n samples from `first` on, of an axis with so many. */
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

/* Where the rows are that a plan needs: in the volume, if their columns can be read there, else in the tile. */
static void find_rows(const pmb_cpu *cpu, const box *b, const brick_plan *plan, void *tile, rows_view *view)
{
  const pmb_volume *v = cpu->volume;
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
    load_tile(cpu, b, plan, tile);
  }
}

/* A sample as the careful path needs it. */
static double sample_at(const rows_view *v, int64_t x, int64_t y, int64_t z)
{
  const int64_t i = v->y[y + 1] + v->z[z + 1] + x;
  switch (v->type) {
#define PMB_SAMPLE_AT(NAME, type, name, real) \
  case PMB_##NAME:                            \
    return (double)((const type *)v->samples)[i];
    PMB_SAMPLE_TYPES(PMB_SAMPLE_AT)
#undef PMB_SAMPLE_AT
  }
  return 0;
}

/* The neighbourhood of the sample of an end. */
static pmb_stencil stencil(const rows_view *v, int end)
{
  const int place[3] = { end % PMB_ENDS_PITCH, end / PMB_ENDS_PITCH % 5, end / PMB_ENDS_PITCH / 5 };
  pmb_stencil s;
  s.center = sample_at(v, place[0], place[1], place[2]);
  for (int a = 0; a < 3; ++a) {
    const int x = a == 0, y = a == 1, z = a == 2;
    s.below[a] = sample_at(v, place[0] - x, place[1] - y, place[2] - z);
    s.above[a] = sample_at(v, place[0] + x, place[1] + y, place[2] + z);
    s.factor[a] = (double)v->factor[a][place[a]];
  }
  return s;
}

#define PMB_REAL float
#define PMB_REAL_NAME(name) name##_f32
#define PMB_REAL_WIDE 0
#include "cpu/pmb_cpu_vertices_template.h"

#define PMB_REAL double
#define PMB_REAL_NAME(name) name##_f64
#define PMB_REAL_WIDE 1
#include "cpu/pmb_cpu_vertices_template.h"

/* The rows of a brick are far apart, so the hardware does not foresee them. */
void pmb_cpu_plan_points(const pmb_cpu *cpu, const pmb_cpu_record *record, brick_plan *plan)
{
  const pmb_volume *v = cpu->volume;
  const int64_t bytes = (int64_t)pmb_type_size(v->type), origin = (int64_t)record->position[0] * PMB_BRICK_X;
  int64_t row[PMB_TILE_ROWS];
  plan->rows = rows_around(cpu->mesh, find_ends(record, plan));
  find_columns(plan);
  if (!plan->rows || v->strides[0] != 1 || cpu->is_cached) {
    return;
  }
  const int64_t from = clamp(origin + plan->from, v->dims[0]) * bytes;
  const int64_t further = clamp(origin + plan->to, v->dims[0]) * bytes - from;
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    row[i] = clamp((int64_t)record->position[1] * PMB_BRICK_Y + i - 1, v->dims[1]) * v->strides[1] * bytes + from;
  }
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    const int64_t z = clamp((int64_t)record->position[2] * PMB_BRICK_Z + i - 1, v->dims[2]);
    const char *layer = (const char *)v->samples + z * v->strides[2] * bytes;
    for (uint32_t rest = (uint32_t)(plan->rows >> i * PMB_TILE_ROWS) & 0x7f; rest; rest &= rest - 1) {
      const char *samples = layer + row[pmb_lowest_bit(rest)];
      for (int64_t b = 0; b < further; b += 64) {
        __builtin_prefetch(samples + b);
      }
      __builtin_prefetch(samples + further);
    }
  }
}

void pmb_cpu_emit_points(
  const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const pmb_cpu_record *record, const brick_plan *plan, int64_t first)
{
  rows_view view;
  box b;
  find_box(cpu, record, &b);
  find_rows(cpu, &b, plan, &scratch->tile, &view);
  by_type[view.type].make(cpu, &b, &view, plan, &scratch->ends);
  if (pmb_type_is_wide(cpu->volume->type)) {
    emit_points_f64(cpu, scratch, record, &b, &view, first);
  } else {
    emit_points_f32(cpu, scratch, record, &b, &view, first);
  }
}
