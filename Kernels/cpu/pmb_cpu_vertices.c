/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: interpolates the points of a brick, and their gradients and normals.
 *
 * An "end" is a sample at an end of an edge with a point, or with a point on itself: a record of its index gradient and its value.
 * Ends are made 16 columns at a time, where there is one among these, from the samples where they lie; only where these are
 * not side by side, hidden, or outside the volume, they are copied to a tile first. */
#include <string.h>

#include "cpu/pmb_cpu_vertices_plan.h"

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
  void (*load)(const pmb_cpu *cpu, const box *b, const brick_plan *plan, void *tile);
  void (*make)(const pmb_cpu *cpu, const box *b, const rows_view *v, const brick_plan *plan, void *out);
  pmb_stencil (*stencil)(const rows_view *v, int end);
} end_functions;

#define PMB_ENDS(NAME, type, name, real) [PMB_##NAME] = { load_##name, make_ends_##name, stencil_##name },
static const end_functions by_type[] = { PMB_SAMPLE_TYPES(PMB_ENDS) };

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
    by_type[v->type].load(cpu, b, plan, tile);
  }
}

#define PMB_REAL float
#define PMB_REAL_NAME(name) name##_f32
#define PMB_REAL_WIDE 0
#include "cpu/pmb_cpu_vertices_template.h"

#define PMB_REAL double
#define PMB_REAL_NAME(name) name##_f64
#define PMB_REAL_WIDE 1
#include "cpu/pmb_cpu_vertices_template.h"

void pmb_cpu_plan_points(const pmb_cpu *cpu, const pmb_cpu_record *record, brick_plan *plan)
{
  plan->rows = rows_around(cpu->mesh, find_ends(record, plan));
  find_columns(plan);
  prefetch_samples(cpu, record, plan->rows, plan->from, plan->to);
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
