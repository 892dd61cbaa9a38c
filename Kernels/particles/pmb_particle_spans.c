/* SPDX-License-Identifier: BSD-3-Clause
 * The grid of a cloud with a few particles far from all others: along each axis it has room for the spans of cells with particles,
 * and leaves out the cells between. */
#include <stdlib.h>

#include "particles/pmb_particle_job.h"

/* Joins n spans of an axis where no gap is between them. */
static void join_spans(pmb_particles *p, int axis, int64_t n)
{
  const double least_gap = 2 * ceil(p->reach) + 4 * PMB_BRICK_X; /* fewer cells are not worth leaving out */
  pmb_particle_span *spans = p->spans[axis].data;
  int64_t to = 0;
  qsort(spans, (size_t)n, sizeof(*spans), pmb_compare_doubles);
  for (int64_t i = 1; i < n; ++i) {
    if (spans[i].low - spans[to].high < least_gap) {
      spans[to].high = fmax(spans[to].high, spans[i].high);
    } else {
      spans[++to] = spans[i];
    }
  }
  p->span_count[axis] = to + 1;
}

pmb_status pmb_particles_find_spans(pmb_particles *p)
{
  const pmb_particle_request *r = &p->request;
  for (int a = 0; a < 3; ++a) {
    PMB_STEP(pmb_reserve(p->context, &p->spans[a], p->count, sizeof(pmb_particle_span), "particles far apart"));
    p->span_count[a] = 0;
  }
  for (int64_t i = 0; i < r->positions.count; ++i) {
    double place[3];
    pmb_particles_read(&r->positions, 3, i, 1, place);
    for (int a = 0; a < 3 && pmb_place_fits(place, r->spacing); ++a) {
      const double cell = floor(place[a] / r->spacing);
      ((pmb_particle_span *)p->spans[a].data)[p->span_count[a]++] = (pmb_particle_span){ cell, cell, 0 };
    }
  }
  for (int a = 0; a < 3 && p->count > 0; ++a) {
    join_spans(p, a, p->span_count[a]);
  }
  return PMB_OK;
}

pmb_status pmb_particles_set_spans(pmb_particles *p, const pmb_particle_bounds *bounds)
{
  p->before = ceil(p->reach) + 2;
  for (int a = 0; a < 3; ++a) {
    const pmb_particle_span one = { bounds->low[a], bounds->high[a], 0 };
    const int64_t n = bounds->spans[a] ? bounds->span_count[a] : 1;
    const pmb_particle_span *from = bounds->spans[a] ? bounds->spans[a] : &one;
    if (from != p->spans[a].data) {
      PMB_STEP(pmb_reserve(p->context, &p->spans[a], n, sizeof(pmb_particle_span), "particles far apart"));
      memcpy(p->spans[a].data, from, (size_t)n * sizeof(*from));
      join_spans(p, a, n);
    }
    pmb_particle_span *spans = p->spans[a].data;
    for (int64_t i = 0, at = 0; i < p->span_count[a]; ++i) {
      spans[i].at = at;
      at += (int64_t)(spans[i].high - spans[i].low + 2 * p->before) + 1;
      p->grid[a] = at;
      at = (at / PMB_BRICK_X + 2) * PMB_BRICK_X;
    }
  }
  return PMB_OK;
}

int pmb_particles_fit(const double samples[3])
{
  const double most = 0x1p28;
  return samples[0] <= most && samples[1] <= most && samples[2] <= most &&
    (samples[0] / PMB_BRICK_X + 2) * (samples[1] / PMB_BRICK_Y + 2) * (samples[2] / PMB_BRICK_Z + 2) <= 0x1p59;
}

int pmb_particles_take(const double place[3], double spacing)
{
  return pmb_place_fits(place, spacing);
}

int pmb_particles_are_far(const pmb_particle_bounds *bounds)
{
  double samples[3];
  for (int a = 0; a < 3; ++a) {
    samples[a] = bounds->high[a] - bounds->low[a] + 2 * ceil(bounds->reach) + 8;
  }
  return bounds->low[0] <= bounds->high[0] && !pmb_particles_fit(samples);
}
