/* SPDX-License-Identifier: BSD-3-Clause
 * A ray through the volume: the one definition, over which the backends loop.
 *
 * Space is the space of sample indices. A place on a ray is a number of steps r from `origin`; samples are at whole numbers, and
 * where the ray enters and leaves. A ray goes from brick to brick, and looks only into those whose range says that they show
 * something. It finds a surface by the sign change between two samples, and then its place in the trilinear function. */
#ifndef PMB_RAY_H
#define PMB_RAY_H

#include <math.h>

#include "rays/pmb_rays.h"
#include "shared/pmb_brick.h"
#include "shared/pmb_point.h"

enum {
  PMB_RAY_REFINED = 32,   /* steps toward a surface, at most */
  PMB_RAY_STEPS = 1 << 20 /* samples of a ray: less, so that places are exact enough in float */
};

/* What rays need of the volume and the request: an argument of kernels. */
typedef struct pmb_ray_job {
  const void *samples;
  int64_t strides[3];
  int32_t dims[3], bricks[3];
  const void *low, *high; /* per brick, in the samples' type */
  const uint8_t *sample_flags, *cell_flags;
  uint8_t hidden_sample_bits, hidden_cell_bits;
  int mode, width, height;
  double clip_to_index[16], index_to_clip[16], index_to_world[12];
  double step;
  double box[6];
  int plane_count, light_count, isovalue_count, shade;
  double planes[PMB_RAY_PLANES][4]; /* of indices */
  pmb_ray_light lights[PMB_RAY_LIGHTS];
  pmb_ray_isovalue isovalues[PMB_RAY_ISOVALUES]; /* ascending */
  float ambient, diffuse, specular, specular_power;
  double normal[9];           /* from index gradients to world normals, of any length */
  const float *table;         /* with opacities of a step, in mode composite */
  const int32_t *table_shown; /* entries before this one that are not transparent; one more for the sum */
  int table_size;
  double table_low, table_per_unit;
} pmb_ray_job;

typedef struct pmb_pixel {
  float color[4], depth;
} pmb_pixel;

/* A pixel's ray. */
typedef struct pmb_ray {
  double near[3], along[3]; /* from the near plane to the far one */
  double first;             /* steps from the near plane to r = 0 */
  double per_step;          /* shares of `along` */
  float origin[3], step[3], enter, leave;
} pmb_ray;

PMB_INLINE void pmb_ray_transform(const double m[16], double x, double y, double z, double to[4])
{
  for (int i = 0; i < 4; ++i) {
    to[i] = m[4 * i] * x + m[4 * i + 1] * y + m[4 * i + 2] * z + m[4 * i + 3];
  }
}

/* Keeps the part of [enter, leave] where a + r * b >= 0. */
PMB_INLINE void pmb_ray_clip(double a, double b, double *enter, double *leave)
{
  const double r = -a / b;
  if (b == 0) {
    *leave = a < 0 ? *enter - 1 : *leave;
  } else if (b > 0) {
    *enter = r > *enter ? r : *enter;
  } else {
    *leave = r < *leave ? r : *leave;
  }
}

/* Makes the ray of a pixel. Returns 0 if it does not meet the volume. limit: OpenGL's depth where it ends. */
PMB_INLINE int pmb_ray_make(const pmb_ray_job *job, int x, int y, float limit, pmb_ray *ray)
{
  const double u = (x + 0.5) / job->width * 2 - 1, v = (y + 0.5) / job->height * 2 - 1;
  const double *m = job->index_to_world;
  double from[4], to[4], world2 = 0, enter = 0, leave = 1;
  pmb_ray_transform(job->clip_to_index, u, v, -1, from);
  pmb_ray_transform(job->clip_to_index, u, v, limit < 1 ? 2.0 * limit - 1 : 1, to);
  for (int a = 0; a < 3; ++a) {
    ray->near[a] = from[a] / from[3];
    ray->along[a] = to[a] / to[3] - ray->near[a];
  }
  for (int a = 0; a < 3; ++a) {
    const double w = m[4 * a] * ray->along[0] + m[4 * a + 1] * ray->along[1] + m[4 * a + 2] * ray->along[2];
    world2 += w * w;
    pmb_ray_clip(ray->near[a] - job->box[2 * a], ray->along[a], &enter, &leave);
    pmb_ray_clip(job->box[2 * a + 1] - ray->near[a], -ray->along[a], &enter, &leave);
  }
  for (int i = 0; i < job->plane_count; ++i) {
    const double *p = job->planes[i];
    pmb_ray_clip(p[0] * ray->near[0] + p[1] * ray->near[1] + p[2] * ray->near[2] + p[3],
      p[0] * ray->along[0] + p[1] * ray->along[1] + p[2] * ray->along[2], &enter, &leave);
  }
  ray->per_step = job->step / sqrt(world2);
  if (!(enter < leave) || !(ray->per_step > 0) || !((leave - enter) / ray->per_step < PMB_RAY_STEPS)) {
    return 0;
  }
  ray->first = floor(enter / ray->per_step);
  ray->enter = (float)(enter / ray->per_step - ray->first);
  ray->leave = (float)(leave / ray->per_step - ray->first);
  for (int a = 0; a < 3; ++a) {
    ray->origin[a] = (float)(ray->near[a] + ray->along[a] * (ray->first * ray->per_step));
    ray->step[a] = (float)(ray->along[a] * ray->per_step);
  }
  return 1;
}

/* OpenGL's depth of a place on the ray; *world: where that is. */
PMB_INLINE float pmb_ray_place(const pmb_ray_job *job, const pmb_ray *ray, float r, double world[3])
{
  const double s = (ray->first + r) * ray->per_step, *m = job->index_to_world;
  double p[3], clip[4];
  for (int a = 0; a < 3; ++a) {
    p[a] = ray->near[a] + ray->along[a] * s;
  }
  for (int a = 0; a < 3; ++a) {
    world[a] = m[4 * a] * p[0] + m[4 * a + 1] * p[1] + m[4 * a + 2] * p[2] + m[4 * a + 3];
  }
  pmb_ray_transform(job->index_to_clip, p[0], p[1], p[2], clip);
  return (float)(clip[2] / clip[3] * 0.5 + 0.5);
}

/* Steps that rounding may be wrong by at r. */
#define PMB_RAY_MARGIN(r) (1e-3f + 5e-7f * (r))

/* A brick on a ray: its number, and where the ray leaves it. */
typedef struct pmb_ray_brick {
  int64_t number;
  float leave;
} pmb_ray_brick;

/* The brick behind r. The ray is in it for at least the margin, so that rounding does not stop it. */
PMB_INLINE pmb_ray_brick pmb_ray_brick_at(const pmb_ray_job *job, const pmb_ray *ray, float r)
{
  const float inside = r + PMB_RAY_MARGIN(r);
  pmb_ray_brick brick = { 0, ray->leave };
  int32_t at[3];
  for (int a = 0; a < 3; ++a) {
    const int32_t size = a == 0 ? PMB_BRICK_X : a == 1 ? PMB_BRICK_Y : PMB_BRICK_Z, last = job->bricks[a] - 1;
    const float p = ray->origin[a] + ray->step[a] * inside;
    const int32_t i = p > 0 ? (int32_t)p / size : 0;
    at[a] = i < last ? i : last;
    const float border = (float)((at[a] + (ray->step[a] > 0)) * size);
    const float leave = ray->step[a] != 0 ? (border - ray->origin[a]) / ray->step[a] : ray->leave;
    brick.leave = leave < brick.leave ? leave : brick.leave;
  }
  brick.leave = brick.leave > inside ? brick.leave : inside;
  brick.number = at[0] + job->bricks[0] * (at[1] + (int64_t)job->bricks[1] * at[2]);
  return brick;
}

/* The color at a place of the table, with opacity. */
PMB_INLINE void pmb_ray_color(const pmb_ray_job *job, float at, float color[4])
{
  const float last = (float)(job->table_size - 1), place = at > 0 ? (at < last ? at : last) : 0;
  const int i = place < last ? (int)place : job->table_size - 2;
  const float t = place - (float)i, *entry = job->table + 4 * i;
  for (int c = 0; c < 4; ++c) {
    color[c] = entry[c] + t * (entry[4 + c] - entry[c]);
  }
}

/* Whether the table has an opaque color between two places. */
PMB_INLINE int pmb_ray_shows(const pmb_ray_job *job, float low, float high)
{
  const float last = (float)(job->table_size - 1), from = floorf(low), to = ceilf(high);
  const int begin = from > 0 ? (int)(from < last ? from : last) : 0, end = to > 0 ? (int)(to < last ? to : last) : 0;
  return job->table_shown[end + 1] > job->table_shown[begin];
}

/* Makes a vector of length 1. Its length may be beyond float's range. */
PMB_INLINE void pmb_ray_normalize(const double v[3], float to[3])
{
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int a = 0; a < 3; ++a) {
    to[a] = (float)(v[a] / length);
  }
}

PMB_INLINE float pmb_ray_dot(const float a[3], const float b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Adds a light to what a surface with this normal reflects toward the view. */
PMB_INLINE void pmb_ray_reflect(const pmb_ray_job *job, const float normal[3], const float view[3], const float to[3],
  const float light[3], float sum[3], float shine[3])
{
  const float cosine = pmb_ray_dot(normal, to);
  const float mirror = 2 * cosine * pmb_ray_dot(normal, view) - pmb_ray_dot(to, view);
  const float glint = cosine > 0 && mirror > 0 ? powf(mirror, job->specular_power) * job->specular : 0;
  for (int c = 0; c < 3 && cosine > 0; ++c) {
    sum[c] += job->diffuse * cosine * light[c];
    shine[c] += glint * light[c];
  }
}

/* Lights a color. gradient: of the index space; without a direction the color stays as it is. */
PMB_INLINE void pmb_ray_light_color(
  const pmb_ray_job *job, const pmb_ray *ray, const double world[3], const float gradient[3], float color[4])
{
  const double *m = job->index_to_world;
  const float white[3] = { 1, 1, 1 };
  float normal[3], view[3], to[3], sum[3] = { job->ambient, job->ambient, job->ambient }, shine[3] = { 0, 0, 0 };
  double n[3], v[3];
  for (int a = 0; a < 3; ++a) {
    n[a] = PMB_NAME_F64(pmb_world_gradient)(job->normal, a, gradient[0], gradient[1], gradient[2]);
    v[a] = -(m[4 * a] * ray->along[0] + m[4 * a + 1] * ray->along[1] + m[4 * a + 2] * ray->along[2]);
  }
  pmb_ray_normalize(n, normal);
  pmb_ray_normalize(v, view);
  if (!(normal[0] - normal[0] == 0)) {
    return;
  }
  const float side = pmb_ray_dot(normal, view) < 0 ? -1.f : 1.f;
  for (int a = 0; a < 3; ++a) {
    normal[a] *= side;
  }
  if (job->light_count == 0) {
    pmb_ray_reflect(job, normal, view, view, white, sum, shine);
  }
  for (int i = 0; i < job->light_count; ++i) {
    const double *p = job->lights[i].position;
    const double d[3] = { p[0] - p[3] * world[0], p[1] - p[3] * world[1], p[2] - p[3] * world[2] };
    pmb_ray_normalize(d, to);
    pmb_ray_reflect(job, normal, view, to, job->lights[i].color, sum, shine);
  }
  for (int c = 0; c < 3; ++c) {
    const float lit = color[c] * sum[c] + shine[c];
    color[c] = lit < 1 ? (lit > 0 ? lit : 0) : 1;
  }
}

/* Puts a color behind the pixel's. Returns 0 when what is behind it can no longer be seen. */
PMB_INLINE int pmb_ray_behind(pmb_pixel *pixel, const float color[4])
{
  const float share = (1 - pixel->color[3]) * color[3];
  for (int c = 0; c < 3; ++c) {
    pixel->color[c] += share * color[c];
  }
  pixel->color[3] += share;
  return pixel->color[3] < 0.998f; /* half a step of 255 */
}

#endif
