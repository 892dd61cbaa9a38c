/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the triangles of a mesh that a picture shows. Drawing only these gives the same picture.
 *
 * A triangle is left out if it is outside the view, if it covers no sample of a pixel, or if others hide it at all samples that
 * it covers. In doubt it stays: coordinates and depths have margins for OpenGL's rounding.
 *
 *     pmb_visible_request request = { .struct_size = sizeof request, .points = points, .triangles = triangles, ... };
 *     pmb_find_visible(context, &request, &count);   // draw the first `count` triangles of request.visible
 *
 * Two passes, after Greene, Kass, Miller, "Hierarchical Z-buffer visibility", SIGGRAPH 1993, without the hierarchy: `occlude` finds
 * the least depth at which triangles surely cover each sample, `select` keeps the triangles that are no deeper at some sample. */
#ifndef PMB_VISIBLE_H
#define PMB_VISIBLE_H

#include "pmb.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PMB_VISIBLE_SAMPLES = 16,
  PMB_VISIBLE_PIXELS = 16384
}; /* most samples of a pixel; most pixels along a side of the picture */

typedef struct pmb_visible_request {
  size_t struct_size;
  const float *points;       /* 3 per point */
  const uint32_t *triangles; /* 3 indices of points each; not checked */
  int64_t triangle_count;    /* less than 2^32 / 3 */
  double bounds[6];          /* of the points: least x, greatest x, then y and z */
  /* From the points' space to OpenGL's clip space, row-major 4 x 4. */
  double to_clip[16];
  int width, height; /* of the viewport, in pixels */
  /* The samples of a pixel and their places in it: x and y, 0 to 1. Without multisampling: one sample at (0.5, 0.5). */
  int samples;
  float places[2 * PMB_VISIBLE_SAMPLES];
  uint32_t *visible;        /* 3 indices each, in the mesh's order */
  int64_t visible_capacity; /* triangles that `visible` has room for */
  int on_device; /* 1: the arrays are in the context's GPU, which does the work. 0: host memory and the CPU */
} pmb_visible_request;

/* Finds the visible triangles. *count: how many. If it exceeds visible_capacity, nothing is written to `visible`. The context needs
 * no volume. It keeps working memory: 4 bytes per sample, one bit per triangle. Not thread-safe for one context. PMB_INVALID for an
 * invalid request, PMB_OUT_OF_MEMORY, PMB_ABORTED. */
PMB_API pmb_status pmb_find_visible(pmb_context *context, const pmb_visible_request *request, int64_t *count);

/* The same with buffers of pmb_register_gl: `mesh` has points and triangles, `visible` has a buffer in place of the triangles.
 * Ignores the request's arrays and visible_capacity. Fails also as pmb_emit_gl does. */
PMB_API pmb_status pmb_find_visible_gl(pmb_context *context, pmb_gl_buffers *mesh, pmb_gl_buffers *visible,
  const pmb_visible_request *request, int64_t *count);

#ifdef __cplusplus
}
#endif

#endif
