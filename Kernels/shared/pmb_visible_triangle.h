/* SPDX-License-Identifier: BSD-3-Clause
 * Which samples of a picture a triangle covers, and at what depth; see visible/pmb_visible.h. */
#ifndef PMB_VISIBLE_TRIANGLE_H
#define PMB_VISIBLE_TRIANGLE_H

#include <math.h>
#include <string.h>

#include "shared/pmb_portability.h"

/* Most pixels in a triangle's box. Larger triangles count as visible and hide nothing. */
enum { PMB_VISIBLE_LARGE = 64 };

/* Triangles per word of flags. */
enum { PMB_VISIBLE_WORD = 32 };

/* A view and its mesh. */
typedef struct pmb_visible_view {
  float to_clip[16];
  float error[4]; /* bounds of the rounding errors of clip coordinates */
  float scale[2]; /* from clip coordinates to pixels: half the width and height */
  float half_pixels;
  int width, height, samples;
  int backwards;               /* 1: begin with the last triangles; in a contour they have the greatest z */
  float places[32];            /* x and y of each sample in a pixel */
  float least[2], greatest[2]; /* of places */
  const float *points;
  const uint32_t *triangles;
  int64_t count;
} pmb_visible_view;

/* A corner in pixels. */
typedef struct pmb_visible_corner {
  float x, y, z;            /* z: 0 to 1 */
  float error, depth_error; /* bounds of the error of x and y, and of z */
  int outside;              /* a bit per clip plane: left, right, bottom, top, near, far */
  int in_depth;             /* surely between near and far */
} pmb_visible_corner;

/* The pixels and depths where a triangle may be seen. */
typedef struct pmb_visible_box {
  float least, greatest; /* depth */
  float error, depth_error, sign;
  int left, right, bottom, top; /* pixels, inclusive */
  int kept;                     /* counts as visible without a test */
  int gone;                     /* surely not visible */
} pmb_visible_box;

PMB_INLINE float pmb_visible_row(const pmb_visible_view *v, int row, const float p[3])
{
  const float *m = v->to_clip + 4 * row;
  return m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
}

PMB_INLINE pmb_visible_corner pmb_visible_project(const pmb_visible_view *v, const float p[3])
{
  const float x = pmb_visible_row(v, 0, p), y = pmb_visible_row(v, 1, p), z = pmb_visible_row(v, 2, p);
  const float w = pmb_visible_row(v, 3, p), inverse = 1 / w;
  const float ex = v->error[0], ey = v->error[1], ez = v->error[2];
  pmb_visible_corner c;
  c.outside = (x < -w - ex) | (x > w + ex) << 1 | (y < -w - ey) << 2 | (y > w + ey) << 3 | (z < -w - ez) << 4 |
    (z > w + ez) << 5;
  c.in_depth = w > v->error[3] && z >= -w && z <= w;
  c.x = (x * inverse + 1) * v->scale[0];
  c.y = (y * inverse + 1) * v->scale[1];
  c.z = z * inverse * 0.5f + 0.5f;
  /* OpenGL rounds coordinates to 1/256 of a pixel or finer. */
  c.error = 1 / 128.0f + (ex > ey ? ex : ey) * inverse * v->half_pixels;
  c.depth_error = 2e-6f + ez * inverse;
  return c;
}

PMB_INLINE float pmb_visible_least(float a, float b)
{
  return a < b ? a : b;
}

PMB_INLINE float pmb_visible_greatest(float a, float b)
{
  return a > b ? a : b;
}

/* Clamps a place to 0 .. size - 1. NaN becomes 0. */
PMB_INLINE int pmb_visible_clamp(float place, int size)
{
  return !(place > 0) ? 0 : place < (float)(size - 1) ? (int)place : size - 1;
}

/* The pixels along an axis in which the triangle may cover a sample. Returns 1 if there are none. */
PMB_INLINE int pmb_visible_pixels(
  const pmb_visible_view *v, int axis, int size, float least, float greatest, int *first, int *last)
{
  const float begin = ceilf(least - v->greatest[axis]), end = floorf(greatest - v->least[axis]);
  *first = pmb_visible_clamp(begin, size);
  *last = pmb_visible_clamp(end, size);
  return (begin > end) | (end < 0) | (begin > (float)(size - 1));
}

PMB_INLINE float pmb_visible_least_of(float a, float b, float c)
{
  return pmb_visible_least(pmb_visible_least(a, b), c);
}

PMB_INLINE float pmb_visible_greatest_of(float a, float b, float c)
{
  return pmb_visible_greatest(pmb_visible_greatest(a, b), c);
}

/* The box of the triangle with these corners. Has no branches, so that compilers can vectorize it. */
PMB_INLINE pmb_visible_box pmb_visible_box_of(
  const pmb_visible_view *v, pmb_visible_corner a, pmb_visible_corner b, pmb_visible_corner c)
{
  pmb_visible_box t;
  t.least = pmb_visible_least_of(a.z, b.z, c.z);
  t.greatest = pmb_visible_greatest_of(a.z, b.z, c.z);
  t.error = pmb_visible_greatest_of(a.error, b.error, c.error);
  t.depth_error = pmb_visible_greatest_of(a.depth_error, b.depth_error, c.depth_error);
  t.sign = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y) < 0 ? -1.0f : 1.0f;
  const float x0 = pmb_visible_least_of(a.x, b.x, c.x), x1 = pmb_visible_greatest_of(a.x, b.x, c.x);
  const float y0 = pmb_visible_least_of(a.y, b.y, c.y), y1 = pmb_visible_greatest_of(a.y, b.y, c.y);
  const float widest = (float)(2 * PMB_VISIBLE_LARGE);
  const int known = a.in_depth & b.in_depth & c.in_depth;
  const int off = pmb_visible_pixels(v, 0, v->width, x0 - t.error, x1 + t.error, &t.left, &t.right) |
    pmb_visible_pixels(v, 1, v->height, y0 - t.error, y1 + t.error, &t.bottom, &t.top);
  const float pixels = (float)(t.right - t.left + 1) * (float)(t.top - t.bottom + 1);
  t.gone = ((a.outside & b.outside & c.outside) != 0) | (known & off);
  /* negated comparisons are true for NaN too */
  t.kept = !known | !(pixels <= PMB_VISIBLE_LARGE) | !(x1 - x0 < widest) | !(y1 - y0 < widest);
  return t;
}

/* Whether a triangle covers a place: 2 surely, 1 perhaps, 0 surely not. corners: x and y of each. */
PMB_INLINE int pmb_visible_covers(const pmb_visible_box *t, const float corners[3][2], float x, float y)
{
  int covers = 2;
  for (int i = 0; i < 3; ++i) {
    const int j = i < 2 ? i + 1 : 0;
    const float dx = corners[j][0] - corners[i][0], dy = corners[j][1] - corners[i][1];
    const float margin = (fabsf(dx) + fabsf(dy)) * t->error;
    const float inside = t->sign * (dx * (y - corners[i][1]) - dy * (x - corners[i][0]));
    const int here = inside >= margin ? 2 : inside >= -margin ? 1 : 0;
    covers = here < covers ? here : covers;
  }
  return covers;
}

/* Maps a depth to an integer that compares in the same order. */
PMB_INLINE uint32_t pmb_visible_depth(float z)
{
  const float depth = z < 0 ? 0 : z;
  uint32_t bits;
  memcpy(&bits, &depth, sizeof(bits));
  return bits;
}

/* Reads a depth that other threads may lower at the same time. */
PMB_INLINE uint32_t pmb_visible_read(const uint32_t *depth)
{
#if defined(__CUDACC__)
  return *depth;
#else
  return __atomic_load_n(depth, __ATOMIC_RELAXED);
#endif
}

/* Lowers a depth that other threads may lower at the same time. */
PMB_INLINE void pmb_visible_lower(uint32_t *depth, uint32_t to)
{
#if defined(__CUDACC__)
  atomicMin(depth, to);
#else
  uint32_t now = pmb_visible_read(depth);
  while (to < now && !__atomic_compare_exchange_n(depth, &now, to, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/* Whether the triangle may be seen. depths: per sample, the least depth so far of triangles that surely cover it. occludes: 1
 * lowers them where this triangle surely covers a sample. */
PMB_INLINE int pmb_visible_look(
  const pmb_visible_view *v, const pmb_visible_box *t, const float corners[3][2], int occludes, uint32_t *depths)
{
  if (t->gone || t->kept) {
    return !t->gone;
  }
  const uint32_t least = pmb_visible_depth(t->least - t->depth_error), greatest = pmb_visible_depth(t->greatest);
  int seen = 0;
  for (int y = t->bottom; y <= t->top; ++y) {
    for (int x = t->left; x <= t->right; ++x) {
      uint32_t *depth = depths + ((int64_t)y * v->width + x) * v->samples;
      for (int s = 0; s < v->samples; ++s) {
        const uint32_t now = pmb_visible_read(&depth[s]);
        const int covers = least <= now
          ? pmb_visible_covers(t, corners, (float)x + v->places[2 * s], (float)y + v->places[2 * s + 1])
          : 0;
        if (covers && !occludes) {
          return 1;
        }
        seen |= covers > 0;
        if (covers == 2 && greatest < now) {
          pmb_visible_lower(&depth[s], greatest);
        }
      }
    }
  }
  return seen;
}

#endif
