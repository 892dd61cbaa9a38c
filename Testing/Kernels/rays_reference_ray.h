/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rays_reference_ray.h - for rays_reference.h: the volume and the request, a ray, its samples and the parts that count. */
#ifndef PMB_TEST_RAYS_REFERENCE_RAY_H
#define PMB_TEST_RAYS_REFERENCE_RAY_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rays/pmb_rays.h"
#include "reference.h"
#include "test_util.h"

/* A volume with a request, prepared for rays. */
typedef struct rr_scene {
  const pmb_ray_request *r;
  int64_t dims[3];
  double *samples, *others;             /* others: those of color_by */
  uint8_t *shown_samples, *shown_cells; /* 1: has a value */
  double to_world[12];                  /* from indices of this volume, including `first` */
  double place[9], unplace[9], at[3];   /* the placement: its 3 x 3 part, its inverse, and where it puts the origin */
  double to_index[9];                   /* inverse of the 3 x 3 part */
  double from_clip[16];
  double low[3], high[3]; /* the box, in samples of this volume */
  double step, edge;      /* edge: a cell's shortest */
} rr_scene;

/* A ray: world points origin + t * direction for t from `from` to `to`; empty if from > to. */
typedef struct rr_ray {
  double origin[3], direction[3], length; /* from the near to the far plane */
  double from, to;                        /* in the volume */
  double begin, end;                      /* between the depths */
  double view[3];                         /* toward the camera, in the space of the lights */
} rr_ray;

#define OWNED_SCENE OWNED_BY(rr_close) rr_scene

/* Inverts an n x n matrix. Returns 0 if it is singular. */
static inline int rr_invert(const double *m, int n, double *inverse)
{
  long double a[4][8];
  for (int r = 0; r < n; r++)
    for (int c = 0; c < 2 * n; c++) a[r][c] = c < n ? m[n * r + c] : c - n == r;
  for (int p = 0; p < n; p++) {
    int best = p;
    for (int r = p; r < n; r++)
      if (fabsl(a[r][p]) > fabsl(a[best][p])) best = r;
    if (a[best][p] == 0) return 0;
    for (int c = 0; c < 2 * n; c++) {
      const long double swap = a[p][c];
      a[p][c] = a[best][c];
      a[best][c] = swap;
    }
    for (int c = 2 * n - 1; c >= p; c--) a[p][c] /= a[p][p];
    for (int r = 0; r < n; r++)
      for (int c = 2 * n - 1; r != p && c >= p; c--) a[r][c] -= a[r][p] * a[p][c];
  }
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) inverse[n * r + c] = (double)a[r][n + c];
  return 1;
}

static inline double rr_dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Scales to length 1. Returns 0 if the vector has no direction. */
static inline int rr_unit(double a[3])
{
  const double length = sqrt(rr_dot(a, a));
  if (!(length > 0)) return 0;
  for (int c = 0; c < 3; c++) a[c] /= length;
  return 1;
}

/* ---- the volume ---- */

static inline void rr_copy_samples(rr_scene *s, const pmb_volume *v)
{
  const int64_t *d = v->dims;
  s->samples = test_allocate(ref_samples(v), sizeof *s->samples);
  s->others = test_allocate(ref_samples(v), sizeof *s->others);
  s->shown_samples = test_allocate(ref_samples(v), 1);
  s->shown_cells = test_allocate(ref_samples(v), 1);
  const pmb_attribute *by = s->r->color_by;
  pmb_volume other = { .strides = { 1, d[0], d[0] * d[1] } };
  if (by) {
    other.samples = by->samples;
    other.type = by->type;
  }
  for (int64_t n = 0; n < ref_samples(v); n++) {
    const int64_t i = n % d[0], j = n / d[0] % d[1], k = n / (d[0] * d[1]);
    s->samples[n] = ref_sample(v, i, j, k);
    s->others[n] = by ? ref_sample(&other, i, j, k) : 0;
    s->shown_samples[n] = (uint8_t)ref_sample_valid(v, i, j, k);
    s->shown_cells[n] = (uint8_t)ref_cell_valid(v, i, j, k);
  }
}

/* Opens a scene. Replaces a step and a box of 0 by their defaults. */
static inline void rr_open(rr_scene *s, const pmb_volume *v, const pmb_ray_request *r)
{
  double square[9], first[3];
  int whole = 1;
  memset(s, 0, sizeof *s);
  s->r = r;
  s->edge = INFINITY;
  rr_copy_samples(s, v);
  for (int a = 0; a < 3; a++) {
    const double unit[3] = { a == 0, a == 1, a == 2 }, zero[3] = { 0, 0, 0 };
    double tip[3], base[3];
    ref_world(v, unit, tip);
    ref_world(v, zero, base);
    for (int c = 0; c < 3; c++) square[3 * c + a] = s->to_world[4 * c + a] = tip[c] - base[c];
    s->dims[a] = v->dims[a];
    first[a] = (double)v->first[a];
  }
  for (int a = 0; a < 3; a++) {
    double base[3];
    ref_world(v, first, base);
    s->to_world[4 * a + 3] = base[a];
    s->edge =
      fmin(s->edge, sqrt(square[a] * square[a] + square[3 + a] * square[3 + a] + square[6 + a] * square[6 + a]));
  }
  rr_invert(square, 3, s->to_index);
  rr_invert(r->world_to_clip, 4, s->from_clip);
  for (int n = 0; n < 6; n++) whole &= r->box[n] == 0;
  for (int a = 0; a < 3; a++) {
    s->low[a] = whole ? 0 : fmax(r->box[2 * a], 0);
    s->high[a] = (double)(v->dims[a] - 1);
    if (!whole) s->high[a] = fmin(s->high[a], r->box[2 * a + 1]);
  }
  s->step = r->step > 0 ? r->step : s->edge / 2;
  int placed = 0;
  for (int n = 0; n < 12; n++) placed |= r->placement[n] != 0;
  for (int n = 0; n < 9; n++) s->place[n] = placed ? r->placement[4 * (n / 3) + n % 3] : n % 4 == 0;
  for (int n = 0; n < 3; n++) s->at[n] = r->placement[4 * n + 3];
  rr_invert(s->place, 3, s->unplace);
}

static inline void rr_close(rr_scene *s)
{
  free(s->samples);
  free(s->others);
  free(s->shown_samples);
  free(s->shown_cells);
}

static inline void rr_to_index(const rr_scene *s, const double world[3], int is_vector, double index[3])
{
  double w[3];
  for (int c = 0; c < 3; c++) w[c] = world[c] - (is_vector ? 0 : s->to_world[4 * c + 3]);
  for (int c = 0; c < 3; c++) index[c] = rr_dot(s->to_index + 3 * c, w);
}

/* Finds the cell of a point of a ray and the weights of its corners. Returns 0 if the cell has no values. */
static inline int rr_cell(const rr_scene *s, const rr_ray *ray, double t, int64_t cell[3], double weights[8])
{
  double world[3], p[3];
  for (int c = 0; c < 3; c++) world[c] = ray->origin[c] + t * ray->direction[c];
  rr_to_index(s, world, 0, p);
  for (int a = 0; a < 3; a++) {
    cell[a] = p[a] <= 0 ? 0 : p[a] >= (double)(s->dims[a] - 2) ? s->dims[a] - 2 : (int64_t)floor(p[a]);
    p[a] = fmin(fmax(p[a] - (double)cell[a], 0), 1);
  }
  for (int c = 0; c < 8; c++)
    weights[c] = (c & 1 ? p[0] : 1 - p[0]) * (c & 2 ? p[1] : 1 - p[1]) * (c & 4 ? p[2] : 1 - p[2]);
  return s->shown_cells[cell[0] + s->dims[0] * (cell[1] + s->dims[1] * cell[2])];
}

static inline int64_t rr_corner(const rr_scene *s, const int64_t cell[3], int c)
{
  return cell[0] + (c & 1) + s->dims[0] * (cell[1] + (c >> 1 & 1) + s->dims[1] * (cell[2] + (c >> 2)));
}

/* Interpolated value at a point of a ray, minus `less`. NaN in a cell without values. */
static inline double rr_value(const rr_scene *s, const rr_ray *ray, double t, double less)
{
  int64_t cell[3];
  double weights[8], sum = 0;
  if (!rr_cell(s, ray, t, cell, weights)) return NAN;
  for (int c = 0; c < 8; c++) sum += weights[c] * (s->samples[rr_corner(s, cell, c)] - less);
  return sum;
}

/* Central differences in index space at sample n, from samples that have values. */
static inline void rr_differences(const rr_scene *s, int64_t n, double d[3])
{
  const int64_t at[3] = { n % s->dims[0], n / s->dims[0] % s->dims[1], n / (s->dims[0] * s->dims[1]) };
  const int64_t strides[3] = { 1, s->dims[0], s->dims[0] * s->dims[1] };
  for (int a = 0; a < 3; a++) {
    const int below = at[a] > 0 && s->shown_samples[n - strides[a]];
    const int above = at[a] + 1 < s->dims[a] && s->shown_samples[n + strides[a]];
    const double low = s->samples[below ? n - strides[a] : n], high = s->samples[above ? n + strides[a] : n];
    d[a] = below + above ? high / (below + above) - low / (below + above) : 0;
  }
}

/* Interpolates the gradient in index space at a point of a ray. Returns 0 in a cell without values. */
static inline int rr_gradient(const rr_scene *s, const rr_ray *ray, double t, double index[3])
{
  int64_t cell[3];
  double weights[8];
  if (!rr_cell(s, ray, t, cell, weights)) return 0;
  memset(index, 0, 3 * sizeof *index);
  for (int c = 0; c < 8; c++) {
    double d[3];
    rr_differences(s, rr_corner(s, cell, c), d);
    for (int a = 0; a < 3; a++) index[a] += weights[c] * d[a];
  }
  return 1;
}

static inline void rr_to_world(const rr_scene *s, const double index[3], double world[3])
{
  for (int c = 0; c < 3; c++) {
    world[c] = 0;
    for (int a = 0; a < 3; a++) world[c] += s->to_index[3 * a + c] * index[a];
  }
}

/* Finds the unit normal at a point of a ray, in the space of the lights: the gradient times turn. Returns 0 if the gradient is 0 or
 * unknown. */
static inline int rr_normal(const rr_scene *s, const rr_ray *ray, double t, double turn, double normal[3])
{
  double index[3], world[3];
  if (!rr_gradient(s, ray, t, index)) return 0;
  if (!rr_unit(index)) return 0; /* so that its square neither overflows nor underflows */
  rr_to_world(s, index, world);
  for (int c = 0; c < 3; c++) {
    normal[c] = 0;
    for (int a = 0; a < 3; a++) normal[c] += turn * s->unplace[3 * a + c] * world[a];
  }
  return rr_unit(normal);
}

/* ---- rays ---- */

/* The world point of a pixel at a depth of -1 to 1. */
static inline void rr_unproject(const rr_scene *s, int x, int y, double z, double world[3])
{
  const double clip[4] = { 2 * (x + 0.5) / s->r->width - 1, 2 * (y + 0.5) / s->r->height - 1, z, 1 };
  double p[4] = { 0, 0, 0, 0 };
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) p[r] += s->from_clip[4 * r + c] * clip[c];
  for (int c = 0; c < 3; c++) world[c] = p[c] / p[3];
}

/* The distance of a depth of 0 to 1 from the near plane. */
static inline double rr_distance(const rr_scene *s, const rr_ray *ray, int x, int y, double depth)
{
  double world[3], offset[3];
  rr_unproject(s, x, y, 2 * depth - 1, world);
  for (int c = 0; c < 3; c++) offset[c] = world[c] - ray->origin[c];
  return rr_dot(offset, ray->direction);
}

/* OpenGL's depth of a point of a ray. */
static inline double rr_depth(const rr_scene *s, const rr_ray *ray, double t)
{
  const double *m = s->r->world_to_clip;
  double world[3];
  for (int c = 0; c < 3; c++) world[c] = ray->origin[c] + t * ray->direction[c];
  return 0.5 + 0.5 * (rr_dot(m + 8, world) + m[11]) / (rr_dot(m + 12, world) + m[15]);
}

/* Clips a ray to the part where at + t * slope >= 0. */
static inline void rr_clip(rr_ray *ray, double at, double slope)
{
  if (slope > 0) ray->from = fmax(ray->from, -at / slope);
  if (slope < 0) ray->to = fmin(ray->to, -at / slope);
  if (slope == 0 && at < 0) ray->to = -INFINITY;
}

static inline void rr_ray_of(const rr_scene *s, int x, int y, rr_ray *ray)
{
  double at[3], slope[3];
  rr_unproject(s, x, y, -1, ray->origin);
  rr_unproject(s, x, y, 1, ray->direction);
  for (int c = 0; c < 3; c++) ray->direction[c] -= ray->origin[c];
  ray->length = sqrt(rr_dot(ray->direction, ray->direction));
  rr_unit(ray->direction);
  ray->from = ray->begin = 0;
  ray->to = ray->length;
  ray->end = INFINITY;
  const float *limit = s->r->depth_limit, *start = s->r->depth_start;
  const int64_t pixel = x + (int64_t)s->r->width * y;
  if (limit && limit[pixel] < 1) ray->end = rr_distance(s, ray, x, y, (double)limit[pixel]);
  if (start && start[pixel] > 0) ray->begin = rr_distance(s, ray, x, y, (double)start[pixel]);
  for (int c = 0; c < 3; c++) ray->view[c] = -rr_dot(s->place + 3 * c, ray->direction);
  rr_unit(ray->view);
  rr_to_index(s, ray->origin, 0, at);
  rr_to_index(s, ray->direction, 1, slope);
  for (int a = 0; a < 3; a++) {
    rr_clip(ray, at[a] - s->low[a], slope[a]);
    rr_clip(ray, s->high[a] - at[a], -slope[a]);
  }
  for (int n = 0; n < s->r->plane_count; n++) {
    const double *plane = s->r->planes + 4 * n;
    rr_clip(ray, rr_dot(plane, ray->origin) + plane[3], rr_dot(plane, ray->direction));
  }
  if (s->r->mode >= PMB_RAY_MAXIMUM) {
    ray->from = fmax(ray->from, ray->begin);
    ray->to = fmin(ray->to, ray->end);
  }
}

static inline int rr_is_preintegrated(const pmb_ray_request *r)
{
  return r->mode == PMB_RAY_COMPOSITE && r->preintegrate;
}

/* Places of a ray's samples: its ends, and the multiples of the step between them. The caller frees them. */
static inline double *rr_places(const rr_scene *s, const rr_ray *ray, int64_t *count)
{
  const int64_t first = (int64_t)ceil(ray->from / s->step), last = (int64_t)floor(ray->to / s->step);
  double *t = test_allocate(last - first + 3 > 2 ? last - first + 3 : 2, sizeof *t);
  *count = 0;
  t[(*count)++] = ray->from;
  for (int64_t n = first; n <= last; n++) t[(*count)++] = (double)n * s->step;
  t[(*count)++] = ray->to;
  return t;
}

/* Bisects to the border between a place that has a value and one that has none. */
static inline double rr_border(const rr_scene *s, const rr_ray *ray, double with, double without)
{
  for (int n = 0; n < 50; n++) {
    const double middle = with + (without - with) / 2;
    *(isnan(rr_value(s, ray, middle, 0)) ? &without : &with) = middle;
  }
  return with;
}

/* Narrows the part from *a to *b, at whose ends there may be no values, to the last part that has some. Returns 0 if there is none. */
static inline int rr_narrow(const rr_scene *s, const rr_ray *ray, double *a, double *b)
{
  enum { LOOKS = 100 };
  const double low = *a, high = *b;
  int found = 0;
  for (int n = 0; n <= LOOKS; n++) {
    const double t = high - (high - low) * n / LOOKS, last = high - (high - low) * (n - 1) / LOOKS;
    const int is_valid = !isnan(rr_value(s, ray, t, 0));
    if (is_valid && !found) {
      found = 1;
      *b = n ? rr_border(s, ray, t, last) : high;
    } else if (!is_valid && found) {
      *a = rr_border(s, ray, last, t);
      break;
    }
  }
  return found && *a < *b;
}

/* The part that sample n stands for, which is at *b. Returns 0 if nothing in it has a value. */
static inline int rr_part(
  const rr_scene *s, const rr_ray *ray, const double *t, int64_t n, int both, double *a, double *b)
{
  *a = t[n - 1];
  *b = t[n];
  if (!isnan(rr_value(s, ray, *b, 0)) && !(both && isnan(rr_value(s, ray, *a, 0)))) return 1;
  return rr_narrow(s, ray, a, b);
}

/* The length of a part between the depths. */
static inline double rr_counted(const rr_ray *ray, double a, double b)
{
  return fmax(fmin(b, ray->end) - fmax(a, ray->begin), 0);
}

#endif
