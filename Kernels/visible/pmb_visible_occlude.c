/* SPDX-License-Identifier: BSD-3-Clause
 * Pass occlude on the CPU, compiled once per instruction set. Takes the triangles of a word of flags at a time. The compiler
 * vectorizes the loops over lanes. */
#include "cpu/pmb_cpu_brick.h"
#include "visible/pmb_visible_job.h"

enum { LANES = PMB_VISIBLE_WORD };

/* One corner of each of a word's triangles. */
typedef struct corner_lanes {
  float x[LANES], y[LANES], z[LANES], error[LANES], depth_error[LANES];
  int outside[LANES], in_depth[LANES];
} corner_lanes;

/* Projects corner k of each triangle. Lanes beyond the last triangle repeat it. */
static void project(const pmb_visible_view *v, const uint32_t *ids, int k, int last, corner_lanes *corner)
{
  const pmb_visible_view view = *v; /* a copy, which the stores below cannot alias */
  float places[3][LANES];
  for (int l = 0; l < LANES; ++l) {
    const float *place = view.points + 3 * (int64_t)ids[3 * (l < last ? l : last) + k];
    for (int a = 0; a < 3; ++a) {
      places[a][l] = place[a];
    }
  }
  for (int l = 0; l < LANES; ++l) {
    const float place[3] = { places[0][l], places[1][l], places[2][l] };
    const pmb_visible_corner c = pmb_visible_project(&view, place);
    corner->x[l] = c.x;
    corner->y[l] = c.y;
    corner->z[l] = c.z;
    corner->error[l] = c.error;
    corner->depth_error[l] = c.depth_error;
    corner->outside[l] = c.outside;
    corner->in_depth[l] = c.in_depth;
  }
}

static inline pmb_visible_corner corner_of(const corner_lanes *c, int l)
{
  const pmb_visible_corner corner = { c->x[l], c->y[l], c->z[l], c->error[l], c->depth_error[l], c->outside[l],
    c->in_depth[l] };
  return corner;
}

/* Runs pass occlude for up to LANES triangles. Returns flags of those that may be visible. */
static uint32_t occlude(const pmb_visible_view *view, const uint32_t *ids, int count, uint32_t *depths)
{
  corner_lanes c[3];
  pmb_visible_box boxes[LANES];
  const pmb_visible_view copy = *view; /* the stores below cannot alias it */
  uint32_t seen = 0;
  for (int k = 0; k < 3; ++k) {
    project(view, ids, k, count - 1, &c[k]);
  }
  for (int l = 0; l < LANES; ++l) {
    boxes[l] = pmb_visible_box_of(&copy, corner_of(&c[0], l), corner_of(&c[1], l), corner_of(&c[2], l));
  }
  for (int l = 0; l < count; ++l) {
    const float corners[3][2] = { { c[0].x[l], c[0].y[l] }, { c[1].x[l], c[1].y[l] }, { c[2].x[l], c[2].y[l] } };
    seen |= (uint32_t)pmb_visible_look(view, &boxes[l], corners, 1, depths) << l;
  }
  return seen;
}

void PMB_PATH_NAME(pmb_visible_occlude)(void *arg, int worker, size_t chunk)
{
  const pmb_visible_work *w = arg;
  const pmb_visible_view *view = &w->job->view;
  const int64_t place = (int64_t)(view->backwards ? w->chunks - 1 - chunk : chunk);
  (void)worker;
  for (int64_t word = place * PMB_VISIBLE_WORDS; word < (place + 1) * PMB_VISIBLE_WORDS; ++word) {
    const int64_t left = view->count - word * LANES;
    if (left <= 0) {
      return;
    }
    w->words[word] = occlude(view, view->triangles + 3 * LANES * word, left < LANES ? (int)left : LANES, w->depths);
  }
}
