/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rays_reference.h - the picture that pmb_rays.h specifies, computed slowly and simply.
 *
 * Samples each pixel's ray from end to end in double precision. It shares no code with the core: cameras, clipping,
 * interpolation, surfaces, gradients, light and compositing are written again here.
 */
#ifndef PMB_TEST_RAYS_REFERENCE_H
#define PMB_TEST_RAYS_REFERENCE_H

#include "rays_reference_ray.h"

/* The sum along a ray so far, front to back. */
typedef struct rr_sum {
  double color[3], opacity, depth;
  int doubtful; /* a surface may lie in a cell without values, between two samples with values */
} rr_sum;

/* ---- light and colors ---- */

/* How much of a light at a place arrives. away: toward the light. */
static inline double rr_arrives(const pmb_ray_light *light, const double away[3])
{
  const float *dim = light->attenuation;
  const double axis[3] = { (double)light->direction[0], (double)light->direction[1], (double)light->direction[2] };
  const double d = sqrt(rr_dot(away, away)), dims = (double)dim[0] + (double)dim[1] * d + (double)dim[2] * d * d;
  const double dimmed = dims > 0 ? 1 / dims : 1;
  if (light->cone_cosine == 0) return dimmed;
  const double cosine = -rr_dot(away, axis) / d / sqrt(rr_dot(axis, axis));
  return cosine < (double)light->cone_cosine ? 0 : dimmed * pow(cosine, (double)light->exponent);
}

/* Shades a color by the request's lights, or by one at the camera if there are none. turn: 0: on both sides. brightest: the limit. */
static inline void rr_light(const rr_scene *s, const rr_ray *ray, double t, double turn, double brightest,
  const double normal[3], double color[3])
{
  const pmb_ray_request *r = s->r;
  double diffuse[3] = { 0, 0, 0 }, specular[3] = { 0, 0, 0 }, world[3];
  for (int c = 0; c < 3; c++) world[c] = ray->origin[c] + t * ray->direction[c];
  for (int n = 0; n < (r->light_count ? r->light_count : 1); n++) {
    const pmb_ray_light *light = r->light_count ? r->lights + n : NULL;
    double to_light[3], mirrored[3], arrives = 1;
    for (int c = 0; c < 3; c++) {
      to_light[c] = light ? light->position[c] : ray->view[c];
      if (light && light->position[3] != 0) to_light[c] -= rr_dot(s->place + 3 * c, world) + s->at[c];
    }
    if (light && light->position[3] != 0) arrives = rr_arrives(light, to_light);
    if (!rr_unit(to_light)) continue;
    double facing = rr_dot(normal, to_light);
    for (int c = 0; c < 3; c++) mirrored[c] = 2 * facing * normal[c] - to_light[c];
    if (turn == 0) facing = fabs(facing);
    if (facing <= 0) continue;
    const double shine = arrives * pow(fmax(rr_dot(mirrored, ray->view), 0), (double)r->specular_power);
    for (int c = 0; c < 3; c++) {
      diffuse[c] += arrives * facing * (light ? (double)light->color[c] : 1);
      specular[c] += shine * (light ? (double)light->color[c] : 1);
    }
  }
  for (int c = 0; c < 3; c++) {
    color[c] = color[c] * ((double)r->ambient + (double)r->diffuse * diffuse[c]) + (double)r->specular * specular[c];
    color[c] = fmin(fmax(color[c], 0), brightest);
  }
}

/* Adds a color behind the sum. Returns 1 if the ray may end. */
static inline int rr_add(rr_sum *sum, const double color[3], double opacity)
{
  for (int c = 0; c < 3; c++) sum->color[c] += (1 - sum->opacity) * opacity * color[c];
  sum->opacity += (1 - sum->opacity) * opacity;
  return sum->opacity >= 0.998;
}

/* The table's color of a value. */
static inline void rr_lookup(const pmb_ray_request *r, double value, double color[4])
{
  double place = (value / 4 - r->table_low / 4) / (r->table_high / 4 - r->table_low / 4) * (r->table_size - 1);
  place = fmin(fmax(place, 0), r->table_size - 1);
  const int n = place >= r->table_size - 2 ? r->table_size - 2 : (int)place;
  for (int c = 0; c < 4; c++)
    color[c] = (double)r->table[4 * n + c] * (n + 1 - place) + (double)r->table[4 * n + 4 + c] * (place - n);
}

/* Sets red, green and blue by color_by's value at a point, if it is finite. */
static inline void rr_color_by(const rr_scene *s, const rr_ray *ray, double t, double color[3])
{
  int64_t cell[3];
  double weights[8], value = 0, found[4];
  rr_cell(s, ray, t, cell, weights);
  for (int c = 0; c < 8; c++) value += weights[c] * s->others[rr_corner(s, cell, c)];
  if (!isfinite(value)) return;
  rr_lookup(s->r, value, found);
  memcpy(color, found, 3 * sizeof *color);
}

/* Opacity factor for the gradient at a point. */
static inline double rr_gradient_opacity(const rr_scene *s, const rr_ray *ray, double t)
{
  const pmb_ray_request *r = s->r;
  double index[3], world[3];
  if (!rr_gradient(s, ray, t, index)) return 1;
  rr_to_world(s, index, world);
  const double place =
    fmin(sqrt(rr_dot(world, world)) / r->gradient_high * (r->gradient_size - 1), r->gradient_size - 1);
  const int n = place >= r->gradient_size - 2 ? r->gradient_size - 2 : (int)place;
  return (double)r->gradient_table[n] * (n + 1 - place) + (double)r->gradient_table[n + 1] * (place - n);
}

/* ---- modes ---- */

typedef struct rr_hit {
  double t, turn;
  int isovalue;
} rr_hit;

static inline int rr_nearer(const void *a, const void *b)
{
  const double s = ((const rr_hit *)a)->t, t = ((const rr_hit *)b)->t;
  return (s > t) - (s < t);
}

/* Bisects between two points of a ray, one inside and one outside. */
static inline double rr_bisect(
  const rr_scene *s, const rr_ray *ray, double a, double b, double isovalue, int *doubtful)
{
  const int inside = rr_value(s, ray, a, isovalue) >= 0;
  for (int n = 0; n < 60 && b - a > 1e-12 * s->edge; n++) {
    const double middle = a + (b - a) / 2, value = rr_value(s, ray, middle, isovalue);
    *doubtful |= isnan(value);
    if ((value >= 0) == inside || isnan(value))
      a = middle;
    else
      b = middle;
  }
  return a + (b - a) / 2;
}

static inline void rr_surfaces(const rr_scene *s, const rr_ray *ray, const double *t, int64_t count, rr_sum *sum)
{
  const pmb_ray_request *r = s->r;
  for (int64_t n = 1; n < count; n++) {
    rr_hit hits[PMB_RAY_ISOVALUES];
    size_t found = 0;
    double low, high;
    if (!rr_part(s, ray, t, n, 1, &low, &high)) continue;
    for (int i = 0; i < r->isovalue_count; i++) {
      const double isovalue = r->isovalues[i].value;
      const double a = rr_value(s, ray, low, isovalue), b = rr_value(s, ray, high, isovalue);
      if (isnan(a) || isnan(b) || (a >= 0) == (b >= 0)) continue;
      const double hit = rr_bisect(s, ray, low, high, isovalue, &sum->doubtful);
      if (hit >= ray->begin && hit <= ray->end) hits[found++] = (rr_hit){ hit, a < b ? -1 : 1, i };
    }
    qsort(hits, found, sizeof *hits, rr_nearer);
    for (size_t h = 0; h < found; h++) {
      const float *of = r->isovalues[hits[h].isovalue].color;
      double color[3] = { (double)of[0], (double)of[1], (double)of[2] }, normal[3];
      if (r->color_by) rr_color_by(s, ray, hits[h].t, color);
      if (rr_normal(s, ray, hits[h].t, hits[h].turn, normal))
        rr_light(s, ray, hits[h].t, hits[h].turn, 1 / (double)of[3], normal, color);
      sum->depth = fmin(sum->depth, rr_depth(s, ray, hits[h].t));
      if (rr_add(sum, color, (double)of[3])) return;
    }
  }
}

/* Shades a sample of a volume. Without a normal it has ambient light. */
static inline void rr_shade(const rr_scene *s, const rr_ray *ray, double t, double color[3])
{
  double normal[3];
  if (!rr_normal(s, ray, t, 1, normal)) memset(normal, 0, sizeof normal);
  if (s->r->shade) rr_light(s, ray, t, 0, 1, normal, color);
}

/* The opacity of a length that gradients weigh: a part of a step's. */
static inline double rr_opacity(const rr_scene *s, const rr_ray *ray, double t, double of_a_step, double length)
{
  const double factor = s->r->gradient_table ? rr_gradient_opacity(s, ray, t) : 1;
  return length > 0 ? 1 - pow(1 - factor * of_a_step, length / s->step) : 0;
}

/* The value in the middle stands for the part between two samples. */
static inline void rr_composite(const rr_scene *s, const rr_ray *ray, const double *t, int64_t count, rr_sum *sum)
{
  for (int64_t n = 1; n < count; n++) {
    double color[4], a = t[n - 1], b = t[n];
    if (isnan(rr_value(s, ray, (a + b) / 2, 0)) && !rr_narrow(s, ray, &a, &b)) continue;
    const double middle = (a + b) / 2;
    rr_lookup(s->r, rr_value(s, ray, middle, 0), color);
    rr_shade(s, ray, middle, color);
    const double of_a_step = 1 - pow(1 - color[3], s->step / s->r->table_unit);
    if (rr_add(sum, color, rr_opacity(s, ray, middle, of_a_step, rr_counted(ray, a, b)))) return;
  }
}

/* Adds the integrals of color times extinction and of extinction over a part of the table between two knots. */
static inline void rr_add_part(const pmb_ray_request *r, double from, double to, double sum[4])
{
  const int pieces = 1 + 200 / r->table_size;
  for (int n = 0; n < pieces; n++) {
    const double place = (from + (to - from) * (n + 0.5) / pieces) / (r->table_size - 1);
    double color[4];
    rr_lookup(r, r->table_low + place * (r->table_high - r->table_low), color);
    const double extinction = -log1p(-color[3]) * (to - from) / pieces;
    for (int c = 0; c < 4; c++) sum[c] += c < 3 ? color[c] * extinction : extinction;
  }
}

/* Means of color times extinction, and of extinction, over the values from a to b. */
static inline void rr_means(const pmb_ray_request *r, double a, double b, double means[4])
{
  const double last = r->table_size - 1, scale = last / (r->table_high - r->table_low);
  double from = (fmin(a, b) - r->table_low) * scale;
  const double to = fmax((fmax(a, b) - r->table_low) * scale, from + 1e-9), length = to - from;
  memset(means, 0, 4 * sizeof *means);
  while (from < to) {
    const double knot = from < 0 ? 0 : from < last ? floor(from) + 1 : to, next = fmin(knot, to);
    rr_add_part(r, from, next, means);
    from = next;
  }
  for (int c = 0; c < 4; c++) means[c] /= length;
}

/* Pre-integrated: a color per segment between two samples. */
static inline void rr_segments(const rr_scene *s, const rr_ray *ray, const double *t, int64_t count, rr_sum *sum)
{
  for (int64_t n = 1; n < count; n++) {
    double means[4], from, to;
    if (!rr_part(s, ray, t, n, 1, &from, &to)) continue;
    for (int i = 1; i < 8; i++) sum->doubtful |= isnan(rr_value(s, ray, from + i / 8.0 * (to - from), 0));
    rr_means(s->r, rr_value(s, ray, from, 0), rr_value(s, ray, to, 0), means);
    if (!(means[3] > 0)) continue;
    for (int c = 0; c < 3; c++) means[c] /= means[3];
    rr_shade(s, ray, to, means);
    const double of_a_step = 1 - exp(-means[3] * s->step / s->r->table_unit), length = rr_counted(ray, from, to);
    const double whole = 1 - exp(-means[3] * length / s->r->table_unit);
    if (rr_add(sum, means, s->r->gradient_table ? rr_opacity(s, ray, to, of_a_step, length) : whole)) return;
  }
}

/* Maximum, minimum or average. */
static inline void rr_one_value(const rr_scene *s, const rr_ray *ray, const double *t, int64_t count, rr_sum *sum)
{
  double least = INFINITY, greatest = -INFINITY, total = 0, of = 0, color[4], a, b;
  for (int64_t n = 0; n < count; n++) {
    if (n == 0) /* the first sample stands for no length */
      a = b = t[0];
    else if (!rr_part(s, ray, t, n, 0, &a, &b))
      continue;
    const double value = rr_value(s, ray, b, 0);
    if (isnan(value)) continue;
    least = fmin(least, value);
    greatest = fmax(greatest, value);
    total += value / 1024 * ((b - a) / s->step + 1e-30);
    of += ((b - a) / s->step + 1e-30) / 1024;
  }
  if (of == 0) return;
  const int mode = s->r->mode;
  rr_lookup(s->r, mode == PMB_RAY_MAXIMUM ? greatest : mode == PMB_RAY_MINIMUM ? least : total / of, color);
  rr_add(sum, color, color[3]);
}

static inline rr_sum rr_pixel(const rr_scene *s, int x, int y)
{
  rr_sum sum = { { 0, 0, 0 }, 0, 1, 0 };
  rr_ray ray;
  int64_t count;
  rr_ray_of(s, x, y, &ray);
  if (s->dims[0] < 2 || s->dims[1] < 2 || s->dims[2] < 2 || !(ray.from <= ray.to)) return sum;
  double *t = rr_places(s, &ray, &count);
  if (s->r->mode == PMB_RAY_ISOSURFACE)
    rr_surfaces(s, &ray, t, count, &sum);
  else if (rr_is_preintegrated(s->r))
    rr_segments(s, &ray, t, count, &sum);
  else if (s->r->mode == PMB_RAY_COMPOSITE)
    rr_composite(s, &ray, t, count, &sum);
  else
    rr_one_value(s, &ray, t, count, &sum);
  free(t);
  return sum;
}

/* Error of a pixel's depth in cells, less the rounding of a float. */
static inline double rr_depth_error(const rr_scene *s, const rr_sum *wanted, float got, int x, int y)
{
  rr_ray ray;
  if (wanted->depth == 1 || got >= 1) return wanted->depth == 1 && got >= 1 ? 0 : INFINITY;
  rr_ray_of(s, x, y, &ray);
  const double there = rr_distance(s, &ray, x, y, wanted->depth);
  const double slack = fabs(rr_distance(s, &ray, x, y, wanted->depth + 6e-8) - there);
  return fmax(fabs(rr_distance(s, &ray, x, y, (double)got) - there) - slack, 0) / s->edge;
}

#endif
