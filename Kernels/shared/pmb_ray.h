/* SPDX-License-Identifier: BSD-3-Clause
 * A ray through the volume: the one definition that all backends loop over.
 *
 * Coordinates are sample indices. A place on a ray is a number of steps r from `origin`, where the ray enters the volume. The ray
 * is sampled there, at whole multiples of the step from the near plane, and where it leaves. A sample stands for the part of the
 * ray since the one before; if its cell has no value, for the part in the last cells before that have one. In mode composite the part
 * has the value of its middle. A ray goes from brick to brick and skips those whose range shows nothing. It finds a surface between two
 * samples on different sides of the isovalue, then refines its place in the trilinear function. */
#ifndef PMB_RAY_H
#define PMB_RAY_H

#include <math.h>
#include <string.h>

#include "shared/pmb_point.h"
#include "shared/pmb_ray_bricks.h"

enum {
  PMB_RAY_REFINED = 32,   /* most steps of the refinement */
  PMB_RAY_STEPS = 1 << 20 /* a ray has fewer samples, so that float places are accurate enough */
};

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

/* A pseudorandom number in [0, 1). */
PMB_INLINE double pmb_ray_noise(int x, int y)
{
  uint32_t bits = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u;
  bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
  bits = (bits ^ bits >> 12) * 0x297a2d39u;
  return (bits ^ bits >> 15) / 4294967296.0;
}

/* The cell at a coordinate, on an axis with this number of samples. */
PMB_INLINE int32_t pmb_ray_cell_at(float p, int32_t samples)
{
  const int32_t i = (int32_t)p; /* toward 0, also where rounding puts p below it */
  return i < samples - 2 ? i : samples - 2;
}

/* The part of the way from the near to the far plane at an OpenGL depth. near, far: 1 / w there. */
PMB_INLINE double pmb_ray_at_depth(float depth, double near, double far)
{
  const double d = depth > 0 ? (double)depth : 0;
  return d < 1 ? d * far / ((1 - d) * near + d * far) : 1;
}

/* Finds the part of the volume on the line from `from` along `along`, a part from 0 to 1 of it. */
PMB_INLINE void pmb_ray_cross(
  const pmb_ray_job *job, const double from[3], const double along[3], double *enter, double *leave)
{
  *enter = 0;
  *leave = 1;
  for (int a = 0; a < 3; ++a) {
    pmb_ray_clip(from[a] - job->box[2 * a], along[a], enter, leave);
    pmb_ray_clip(job->box[2 * a + 1] - from[a], -along[a], enter, leave);
  }
  for (int i = 0; i < job->plane_count; ++i) {
    const double *p = job->planes[i];
    pmb_ray_clip(p[0] * from[0] + p[1] * from[1] + p[2] * from[2] + p[3],
      p[0] * along[0] + p[1] * along[1] + p[2] * along[2], enter, leave);
  }
}

/* A direction in index space by the 3 x 3 part of a matrix. Returns the square of its length. */
PMB_INLINE double pmb_ray_direction(const double m[12], const double along[3], double to[3])
{
  double square = 0;
  for (int a = 0; a < 3; ++a) {
    to[a] = m[4 * a] * along[0] + m[4 * a + 1] * along[1] + m[4 * a + 2] * along[2];
    square += to[a] * to[a];
  }
  return square;
}

/* The place in a pixel of its ray i along an axis, 0 to 1: a lattice around the middle, which is ray 0. */
PMB_INLINE double pmb_ray_in_pixel(const pmb_ray_job *job, int i, int axis)
{
  const double place = 0.5 + i * (axis == 0 ? 1 : job->lattice) / (double)job->rays;
  return place - floor(place);
}

/* Makes ray i of a pixel; 0: through its middle. Returns 0 if it misses the volume. start, limit: OpenGL's depths where it begins and
 * ends. */
PMB_INLINE int pmb_ray_make(const pmb_ray_job *job, int x, int y, int i, float start, float limit, pmb_ray *ray)
{
  const double u = (x + pmb_ray_in_pixel(job, i, 0)) / job->width * 2 - 1;
  const double v = (y + pmb_ray_in_pixel(job, i, 1)) / job->height * 2 - 1;
  double from[4], to[4], along[3], world[3], enter, leave;
  pmb_ray_transform(job->clip_to_index, u, v, -1, from);
  pmb_ray_transform(job->clip_to_index, u, v, 1, to);
  for (int a = 0; a < 3; ++a) {
    from[a] /= from[3];
    along[a] = to[a] / to[3] - from[a];
  }
  const double per_step = job->step / sqrt(pmb_ray_direction(job->index_to_world, along, world));
  double begin = pmb_ray_at_depth(start, from[3], to[3]), end = pmb_ray_at_depth(limit, from[3], to[3]);
  pmb_ray_cross(job, from, along, &enter, &leave);
  if (PMB_RAY_DOES(job->mode, PMB_RAY_REDUCES)) { /* its samples are those of the interval */
    enter = begin > enter ? begin : enter;
    leave = end < leave ? end : leave;
  }
  begin = begin > enter ? begin : enter;
  if (!(begin < (end < leave ? end : leave)) || !(per_step > 0) || !((leave - enter) / per_step < PMB_RAY_STEPS)) {
    return 0;
  }
  const double moved = job->jitter ? pmb_ray_noise(x, y) : 0, first = enter / per_step - moved;
  ray->shift = (float)(first - floor(first));
  ray->leave = (float)((leave - enter) / per_step);
  ray->begin = (float)((begin - enter) / per_step);
  ray->end = end < leave ? (float)((end - enter) / per_step) : INFINITY;
  const float last = ceilf(ray->end + ray->shift) - ray->shift; /* of the samples that the part before `end` needs */
  ray->leave = last < ray->leave ? last : ray->leave;
  const double light2 = pmb_ray_direction(job->index_to_light, along, world);
  for (int a = 0; a < 3; ++a) {
    ray->origin[a] = (float)(from[a] + along[a] * enter);
    ray->step[a] = (float)(along[a] * per_step);
    ray->view[a] = (float)(-world[a] / sqrt(light2));
  }
  return 1;
}

/* The place of sample k. */
PMB_INLINE float pmb_ray_place(float shift, float leave, int k)
{
  const float r = (float)k - shift, inside = r > 0 ? r : 0;
  return inside < leave ? inside : leave;
}

/* The length of the part from `low` to `high` that counts. */
PMB_INLINE float pmb_ray_counted(float begin, float stop, float low, float high)
{
  const float from = low > begin ? low : begin, to = high < stop ? high : stop, part = to - from;
  const float length = part > 0 ? part : 0;
  return (from == high - 1) & (to == high) ? 1 : length;
}

/* Where the part that counts stops. */
PMB_INLINE float pmb_ray_stop(const pmb_ray *ray)
{
  return ray->end < ray->leave ? ray->end : ray->leave;
}

/* Coordinates of a place on the ray in the space of the lights. */
PMB_INLINE void pmb_ray_world(const pmb_ray_job *job, const pmb_ray *ray, float r, double world[3])
{
  const double *m = job->index_to_light;
  for (int a = 0; a < 3; ++a) {
    world[a] = m[4 * a + 3];
    for (int b = 0; b < 3; ++b) {
      world[a] += m[4 * a + b] * (ray->origin[b] + (double)ray->step[b] * r);
    }
  }
}

/* OpenGL's depth of a place on the ray. */
PMB_INLINE float pmb_ray_depth(const pmb_ray_job *job, const pmb_ray *ray, float r)
{
  double p[3], clip[4];
  for (int a = 0; a < 3; ++a) {
    p[a] = ray->origin[a] + (double)ray->step[a] * r;
  }
  pmb_ray_transform(job->index_to_clip, p[0], p[1], p[2], clip);
  const float depth = (float)(clip[2] / clip[3] * 0.5 + 0.5);
  return depth < 0 ? 0 : depth; /* degenerate cameras */
}

/* In averages, the length of a part whose length is 0. */
#define PMB_RAY_LEAST 1e-30

/* Bound of the rounding error at r, in steps. */
#define PMB_RAY_MARGIN(r) (1e-3f + 5e-7f * (r))

/* The table's entry at or before a place. *behind: distance from the entry to the place. */
PMB_INLINE int pmb_ray_find_color(int table_size, float at, float *behind)
{
  const float last = (float)(table_size - 1), place = at > 0 ? (at < last ? at : last) : 0;
  const int i = place < last ? (int)place : table_size - 2;
  *behind = place - (float)i;
  return i;
}

/* The color at a place of the table. */
PMB_INLINE pmb_ray_entry pmb_ray_color(const pmb_ray_job *job, float at)
{
  float behind;
  const int i = pmb_ray_find_color(job->table_size, at, &behind);
  const pmb_ray_entry low = job->table[i], high = job->table[i + 1];
  pmb_ray_entry entry;
  for (int c = 0; c < 4; ++c) {
    entry.color[c] = PMB_NAME_F32(pmb_lerp)(low.color[c], high.color[c], behind);
  }
  return entry;
}

/* Whether the table has a visible color between two places. */
PMB_INLINE int pmb_ray_shows(const pmb_ray_job *job, float low, float high)
{
  const float last = (float)(job->table_size - 1), from = floorf(low), to = ceilf(high);
  const int begin = from > 0 ? (int)(from < last ? from : last) : 0, end = to > 0 ? (int)(to < last ? to : last) : 0;
  return job->table_shown[end + 1] > job->table_shown[begin];
}

/* The values of a segment in the table of extinctions. Entry i has the mean extinction between colors i - 1 and i, for a step, as
 * opacity, and as color the product with the mean color. The first and the last entry go on for ever. Between colors i - 1 and i
 * places go from i to i + 1. */
typedef struct pmb_ray_span {
  int low, high;         /* entries of its ends */
  int from, to;          /* sums[to] - sums[from]: the entries between */
  float at_low, at_high; /* lengths in the ends' entries */
  float per_unit;        /* 1 / length */
} pmb_ray_span;

PMB_INLINE float pmb_ray_bound(float place)
{
  return place > -1e9f ? (place < 1e9f ? place : 1e9f) : -1e9f;
}

PMB_INLINE int pmb_ray_entry_at(int table_size, float place)
{
  const float last = (float)(table_size - 1);
  return (int)(place > 0 ? (place < last ? place : last) : 0);
}

PMB_INLINE pmb_ray_span pmb_ray_find_span(int table_size, float front, float back)
{
  const float a = pmb_ray_bound(front), b = pmb_ray_bound(back), low = a < b ? a : b, high = a < b ? b : a;
  const int i = pmb_ray_entry_at(table_size, low), j = pmb_ray_entry_at(table_size, high), is_one = i == j;
  const pmb_ray_span span = { i, j, i, is_one ? i : j - 1, is_one ? 1 : (float)(i + 1) - low,
    is_one ? 0 : high - (float)j, is_one ? 1 : 1 / (high - low) };
  return span;
}

/* The mean of one number of the table over a span. */
PMB_INLINE float pmb_ray_span_mean(
  const pmb_ray_span *span, float low, float high, int32_t from, int32_t to, float sum_unit)
{
  return (span->at_low * low + span->at_high * high + (float)(to - from) * sum_unit) * span->per_unit;
}

PMB_INLINE float pmb_ray_dot(const float a[3], const float b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Scales a vector by a power of two to a largest component from 1 to 2, or below if it is tiny. */
PMB_INLINE void pmb_ray_scale(float v[3])
{
  const float x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]), xy = x > y ? x : y, largest = xy > z ? xy : z;
  uint32_t bits;
  float factor;
  memcpy(&bits, &largest, sizeof(bits));
  const int32_t opposite = (254 << 23) - (int32_t)(bits & 0x7f800000); /* 2^-e for a number from 2^e to 2^(e + 1) */
  const int32_t normal = opposite > 1 << 23 ? opposite : 1 << 23;
  memcpy(&factor, &normal, sizeof(factor));
  for (int a = 0; a < 3; ++a) {
    v[a] *= factor;
  }
}

PMB_INLINE float pmb_ray_inverse_root(float square)
{
#if defined(__CUDA_ARCH__) /* the square root and the quotient of IEEE take 20 instructions more */
  return rsqrtf(square);
#else
  return 1 / sqrtf(square);
#endif
}

/* Scales a vector to length 1. A zero vector becomes NaN. */
PMB_INLINE void pmb_ray_normalize(float v[3])
{
  pmb_ray_scale(v);
  const float factor = pmb_ray_inverse_root(pmb_ray_dot(v, v));
  for (int a = 0; a < 3; ++a) {
    v[a] *= factor;
  }
}

/* 2^exponent, to 1e-6. By series, so that compilers vectorize it; on a GPU by the device's function. */
PMB_INLINE float pmb_ray_exp2(float exponent)
{
#if defined(__CUDA_ARCH__)
  return exp2f(exponent);
#else
  const float y =
    exponent > -100 ? (exponent < 126 ? exponent : 126) : -100; /* no denormal products: they are slow */
  const float round = 12582912, nearest = (y + round) - round, x = 0.693147181f * (y - nearest); /* 1.5 * 2^23 */
  const float e = 1 + x * (1 + x * (0.5f + x * (1 / 6.0f + x * (1 / 24.0f + x * (1 / 120.0f + x * (1 / 720.0f))))));
  const uint32_t bits = (uint32_t)((int32_t)nearest + 127) << 23;
  float whole;
  memcpy(&whole, &bits, sizeof(whole));
  return e * whole;
#endif
}

/* pow(base, exponent) for base > 0 and exponent >= 0, exact enough for highlights: to 1e-6 unless the result is small; on a GPU to 1e-4
 * for exponents up to 1000. */
PMB_INLINE float pmb_ray_power(float base, float exponent)
{
#if defined(__CUDA_ARCH__)
  return __powf(base, exponent);
#else
  uint32_t bits;
  memcpy(&bits, &base, sizeof(bits));
  const int32_t whole =
    (int32_t)(bits - 0x3f3504f3u) >> 23; /* base = 2^whole times a number from sqrt(1/2) to sqrt(2) */
  bits -= (uint32_t)whole << 23;
  float part;
  memcpy(&part, &bits, sizeof(part));
  const float q = (part - 1) / (part + 1), q2 = q * q; /* log(part) = 2 (q + q^3 / 3 + q^5 / 5 + ...) */
  const float log2_base = (float)whole + 2.88539008f * q * (1 + q2 * (1 / 3.0f + q2 * (0.2f + q2 * (1 / 7.0f))));
  return pmb_ray_exp2(log2_base * exponent);
#endif
}

/* The opacity of a part of a step. */
PMB_INLINE float pmb_ray_part(float opacity, float length)
{
  const float clear = 1 - opacity, part = 1 - pmb_ray_power(clear, length);
  return length == 1 ? opacity : clear > 0 ? part : length > 0 ? 1 : 0;
}

/* How much a number of a color counts for an edge: 0 to 1. before, after: the neighbours' along an axis. */
PMB_INLINE float pmb_ray_edge(float color, float before, float after)
{
  const float off = fabsf(color - 0.5f * (before + after));
  const float part = (off - PMB_RAY_EVEN) * (1 / (PMB_RAY_EDGE - PMB_RAY_EVEN));
  return part > 0 ? (part < 1 ? part : 1) : 0;
}

/* How much the colors of all rays of a pixel count for it: 0 to 1; the rest is that of its ray through the middle. */
PMB_INLINE float pmb_ray_find_edge(const float *colors, int width, int height, int x, int y)
{
  const size_t row = 4 * (size_t)width;
  const float *at = colors + (size_t)y * row + 4 * (size_t)x;
  const float *left = x > 0 ? at - 4 : at, *right = x < width - 1 ? at + 4 : at;
  const float *below = y > 0 ? at - row : at, *above = y < height - 1 ? at + row : at;
  float edge = 0;
  for (int c = 0; c < 4; ++c) {
    const float across = pmb_ray_edge(at[c], left[c], right[c]);
    const float up = pmb_ray_edge(at[c], below[c], above[c]);
    edge = across > edge ? across : edge;
    edge = up > edge ? up : edge;
  }
  return edge;
}

/* A number of a pixel's color: from that of its ray through the middle to the mean of all, of which `sum` is the sum. */
PMB_INLINE float pmb_ray_mean(float middle, float sum, int rays, float edge)
{
  return middle + edge * (sum / (float)rays - middle);
}

/* The color of a segment with these means, of a length in steps. */
PMB_INLINE pmb_ray_entry pmb_ray_segment_color(const float mean[4], float length)
{
  pmb_ray_entry entry;
  for (int c = 0; c < 3; ++c) {
    const float color = mean[c] / mean[3];
    entry.color[c] = color < 1 ? color : 1; /* 1 also for 0 / 0 */
  }
  entry.color[3] = 1 - pmb_ray_exp2(-1.44269504f * mean[3] * length);
  return entry;
}

/* The color of a segment between two places of the table. */
PMB_INLINE pmb_ray_entry pmb_ray_segment(const pmb_ray_job *job, float front, float back, float length)
{
  const pmb_ray_span span = pmb_ray_find_span(job->table_size, front, back);
  const pmb_ray_entry low = job->table[span.low], high = job->table[span.high];
  const pmb_ray_sum from = job->sums[span.from], to = job->sums[span.to];
  float mean[4];
  for (int c = 0; c < 4; ++c) {
    mean[c] = pmb_ray_span_mean(&span, low.color[c], high.color[c], from.color[c], to.color[c], job->sum_unit);
  }
  return pmb_ray_segment_color(mean, length);
}

/* Cosine of the angle between the view and the mirrored light, or 0 if negative. cosine: between normal and light. */
PMB_INLINE float pmb_ray_mirror(float cosine, const float normal[3], const float view[3], const float to[3])
{
  const float mirror = 2 * cosine * pmb_ray_dot(normal, view) - pmb_ray_dot(to, view);
  return mirror > 0 ? mirror : 0;
}

/* Adds a light to `sum`, to be multiplied by the surface's color, and to `shine`, not to be. power: mirror to specular_power.
 * cosine: between normal and light. */
PMB_INLINE void pmb_ray_add_light(float diffuse, float specular, float cosine, float mirror, float power,
  const float light[3], float sum[3], float shine[3])
{
  const float all = diffuse * cosine, most = specular * power;
  const float dull = cosine > 0 ? all : 0, glint = (cosine > 0) & (mirror > 0) ? most : 0;
  for (int c = 0; c < 3; ++c) {
    sum[c] += dull * light[c];
    shine[c] += glint * light[c];
  }
}

/* Adds the light that a surface with this normal reflects toward the view. two_sided: it may come from behind. */
PMB_INLINE void pmb_ray_reflect(const pmb_ray_job *job, int two_sided, const float normal[3], const float view[3],
  const float to[3], const float light[3], float sum[3], float shine[3])
{
  const float cosine = pmb_ray_dot(normal, to), mirror = pmb_ray_mirror(cosine, normal, view, to);
  const float power = job->specular != 0 ? pmb_ray_power(mirror, job->specular_power) : 0;
  pmb_ray_add_light(
    job->diffuse, job->specular, two_sided ? fabsf(cosine) : cosine, mirror, power, light, sum, shine);
}

/* The direction from a place on the ray toward light i. Returns how much of the light arrives, as VTK's meshes get it. In double,
 * so that all backends see the same border of a cone. */
PMB_INLINE float pmb_ray_toward(const pmb_ray_job *job, const pmb_ray *ray, float r, int i, float to[3])
{
  const pmb_ray_light *light = &job->lights[i];
  const float *axis = job->toward[i], *dim = light->attenuation;
  double world[3], away[3], along = 0;
  for (int a = 0; a < 3; ++a) {
    to[a] = axis[a];
  }
  if (light->position[3] == 0) {
    return 1;
  }
  pmb_ray_world(job, ray, r, world);
  for (int a = 0; a < 3; ++a) {
    away[a] = light->position[a] - light->position[3] * world[a];
    along -= away[a] * (double)axis[a];
    to[a] = (float)away[a];
  }
  pmb_ray_normalize(to);
  const double length = sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2]);
  const float distance = (float)(length / fabs(light->position[3]));
  const float dims = dim[0] + distance * (dim[1] + distance * dim[2]), cosine = (float)(along / length);
  float arrives = dim[0] + dim[1] + dim[2] > 0 ? 1 / (dims > 1e-30f ? dims : 1e-30f) : 1;
  if (light->cone_cosine > 0) {
    /* Where the light is, along and length are 0, and cosine NaN. */
    arrives *= along > (double)light->cone_cosine * length ? pmb_ray_power(cosine, light->exponent) : 0;
  }
  return arrives;
}

/* The normal in the space of the lights from an index-space gradient, times turn, 1 or -1. NaN for a zero gradient. */
PMB_INLINE void pmb_ray_normal(const float matrix[9], float turn, float gradient[3], float normal[3])
{
  pmb_ray_scale(gradient);
  for (int a = 0; a < 3; ++a) {
    normal[a] = PMB_NAME_F32(pmb_world_gradient)(matrix, a, gradient[0], gradient[1], gradient[2]);
  }
  const float factor = turn * pmb_ray_inverse_root(pmb_ray_dot(normal, normal));
  for (int a = 0; a < 3; ++a) {
    normal[a] *= factor;
  }
}

/* A color under the sum of all lights, at most 1: a surface's after the opacity, as that of a mesh in OpenGL's framebuffer, a
 * sample's before. Without a normal (NaN) a surface stays unlit, and a sample has ambient light, as in VTK's mappers. */
PMB_INLINE float pmb_ray_lit(int is_surface, float normal, float color, float opacity, float sum, float shine)
{
  const float lit = color * sum + shine, brightest = is_surface ? 1 / (opacity + 1e-9f) : 1;
  const float limited = lit < brightest ? (lit > 0 ? lit : 0) : brightest;
  return !is_surface | PMB_IS_FINITE(normal) ? limited : color;
}

/* The factor of the opacity for an index-space gradient. */
PMB_INLINE float pmb_ray_gradient_opacity(const pmb_ray_job *job, const float gradient[3])
{
  const float scale = job->steepness_scale;
  float steep[3], behind;
  for (int a = 0; a < 3; ++a) {
    steep[a] = PMB_NAME_F32(pmb_world_gradient)(
      job->steepness, a, gradient[0] * scale, gradient[1] * scale, gradient[2] * scale);
  }
  const float *entry =
    job->gradient_table + pmb_ray_find_color(job->gradient_size, sqrtf(pmb_ray_dot(steep, steep)), &behind);
  return PMB_NAME_F32(pmb_lerp)(entry[0], entry[1], behind);
}

/* Colors a surface by the value of color_by at a place in a cell, if that is finite. */
PMB_NEVER_INLINE void pmb_ray_color_by(
  const pmb_ray_job *job, const int32_t at[3], const double t[3], pmb_ray_entry *entry)
{
  const int64_t row = job->dims[0], layer = row * job->dims[1], first = at[0] + at[1] * row + at[2] * layer;
  double values[8] = { 0 };
  switch (job->color_by_type) {
#define PMB_RAY_READ(NAME, type, name, real)                                                                      \
  case PMB_##NAME:                                                                                                \
    for (int c = 0; c < 8; ++c) {                                                                                 \
      values[c] = (double)((const type *)job->color_by)[first + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * layer]; \
    }                                                                                                             \
    break;
    PMB_SAMPLE_TYPES(PMB_RAY_READ)
#undef PMB_RAY_READ
  }
  for (int a = 0; a < 3; ++a) {
    for (int i = 0; i < 4 >> a; ++i) {
      values[i] = PMB_NAME_F64(pmb_lerp)(values[2 * i], values[2 * i + 1], t[a]);
    }
  }
  if (PMB_IS_FINITE(values[0])) {
    const pmb_ray_entry found =
      pmb_ray_color(job, (float)((values[0] * job->table_scale - job->table_low) * job->table_per_unit));
    for (int c = 0; c < 3; ++c) {
      entry->color[c] = found.color[c];
    }
  }
}

/* Lights a color at a place on the ray. gradient: in index space. turn: 1 or -1, toward the side that the ray sees; 0: both sides,
 * as VTK lights the samples of volumes. */
PMB_INLINE void pmb_ray_light_color(
  const pmb_ray_job *job, const pmb_ray *ray, float r, float turn, float gradient[3], float color[4])
{
  const float white[3] = { 1, 1, 1 };
  float normal[3], to[3], sum[3] = { job->ambient, job->ambient, job->ambient }, shine[3] = { 0, 0, 0 };
  pmb_ray_normal(job->normal, turn < 0 ? -1 : 1, gradient, normal);
  if (job->light_count == 0) {
    pmb_ray_reflect(job, turn == 0, normal, ray->view, ray->view, white, sum, shine);
  }
  for (int i = 0; i < job->light_count; ++i) {
    const float arrives = pmb_ray_toward(job, ray, r, i, to), *all = job->lights[i].color;
    const float light[3] = { arrives * all[0], arrives * all[1], arrives * all[2] };
    pmb_ray_reflect(job, turn == 0, normal, ray->view, to, light, sum, shine);
  }
  for (int c = 0; c < 3; ++c) {
    color[c] = pmb_ray_lit(turn != 0, normal[0], color[c], color[3], sum[c], shine[c]);
  }
}

/* The value of the thread whose number differs in this bit, among the threads that share a ray. */
PMB_INLINE float pmb_ray_of_neighbour(float value, int lanes, int bit)
{
#if defined(__CUDACC__)
  const unsigned lane = threadIdx.x & 31, group = lane & ~(unsigned)(lanes - 1);
  return __shfl_xor_sync((UINT32_MAX >> (32 - lanes)) << group, value, bit);
#else
  (void)lanes;
  (void)bit;
  return value;
#endif
}

/* The value of one of the threads that share a ray. */
PMB_INLINE float pmb_ray_of_lane(float value, int lanes, int lane)
{
#if defined(__CUDACC__)
  const unsigned group = (threadIdx.x & 31) & ~(unsigned)(lanes - 1);
  return __shfl_sync((UINT32_MAX >> (32 - lanes)) << group, value, (int)group + lane);
#else
  (void)lanes;
  (void)lane;
  return value;
#endif
}

/* Composites the colors of all threads that share a ray behind the pixel. Each thread has a part of the color, all have the whole
 * opacity. Returns 0 once the pixel is nearly opaque. */
PMB_INLINE int pmb_ray_behind(pmb_pixel *pixel, const float color[4], int lane, int lanes)
{
  float through = 1 - pixel->color[3],
        all = 1 - color[3]; /* transmittance of the colors before this one, and of all */
  for (int bit = 1; bit < lanes; bit *= 2) {
    const float others = pmb_ray_of_neighbour(all, lanes, bit);
    through *= lane & bit ? others : 1;
    all *= others;
  }
  for (int c = 0; c < 3; ++c) {
    pixel->color[c] += through * color[3] * color[c];
  }
  pixel->color[3] = 1 - (1 - pixel->color[3]) * all;
  return pixel->color[3] < 0.998f; /* half a step of 255 */
}

/* Sums the threads' parts of the color. */
PMB_INLINE void pmb_ray_join(pmb_pixel *pixel, int lanes)
{
  for (int bit = 1; bit < lanes; bit *= 2) {
    for (int c = 0; c < 3; ++c) {
      pixel->color[c] += pmb_ray_of_neighbour(pixel->color[c], lanes, bit);
    }
  }
}

#endif
