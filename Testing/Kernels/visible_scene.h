/* SPDX-License-Identifier: BSD-3-Clause
 * For tests of pmb_find_visible: random meshes and views, from inside, from outside and from far away. */
#ifndef VISIBLE_SCENE_H
#define VISIBLE_SCENE_H

#include <math.h>

#include "test_util.h"
#include "visible/pmb_visible.h"

enum { VS_TRIANGLES = 6000, VS_POINTS = 3 * VS_TRIANGLES };

typedef struct visible_scene {
  pmb_visible_request request;
  float points[3 * VS_POINTS];
  uint32_t triangles[3 * VS_TRIANGLES], visible[3 * VS_TRIANGLES];
} visible_scene;

/* A camera that looks at the origin from a distance, rotated by two angles. near > 0. */
static void vs_look(double turn, double tilt, double away, double near, double far, int perspective, double to[16])
{
  const double a = turn, b = tilt, s = perspective ? 2 : 0.8;
  const double turned[16] = { cos(a), 0, sin(a), 0, sin(b) * sin(a), cos(b), -sin(b) * cos(a), 0, -cos(b) * sin(a),
    sin(b), cos(b) * cos(a), -away, 0, 0, 0, 1 };
  const double view[16] = { s, 0, 0, 0, 0, s, 0, 0, 0, 0, (far + near) / (near - far), 2 * far * near / (near - far),
    0, 0, -1, 0 };
  const double parallel[16] = { s, 0, 0, 0, 0, s, 0, 0, 0, 0, 2 / (near - far), (near + far) / (near - far), 0, 0, 0,
    1 };
  test_multiply(perspective ? view : parallel, turned, to);
}

static void vs_set_bounds(visible_scene *s, int points)
{
  for (int a = 0; a < 3; a++) {
    s->request.bounds[2 * a] = s->request.bounds[2 * a + 1] = (double)s->points[a];
    for (int n = 0; n < points; n++) {
      s->request.bounds[2 * a] = fmin(s->request.bounds[2 * a], (double)s->points[3 * n + a]);
      s->request.bounds[2 * a + 1] = fmax(s->request.bounds[2 * a + 1], (double)s->points[3 * n + a]);
    }
  }
}

/* A request for a picture of one or more samples per pixel. */
static void vs_begin(visible_scene *s, int width, int height, int samples)
{
  memset(s, 0, sizeof *s);
  s->request = (pmb_visible_request){ .struct_size = sizeof s->request,
    .points = s->points,
    .triangles = s->triangles,
    .width = width,
    .height = height,
    .samples = samples,
    .places = { 0.5f, 0.5f },
    .visible = s->visible,
    .visible_capacity = VS_TRIANGLES };
  for (int i = 0; samples > 1 && i < samples; i++) {
    s->request.places[2 * i] = ((float)i + 0.5f) / (float)samples;
    s->request.places[2 * i + 1] = ((float)(i * 3 % samples) + 0.5f) / (float)samples;
  }
}

/* Random triangles that share no points, of one size in each scene: from a hundredth of the picture to all of it. */
static void vs_random(visible_scene *s, test_rng *rng)
{
  const double size = pow(10, rng_real(rng, -2, 0)), away = rng_int(rng, 0, 3) ? rng_real(rng, 1.5, 5) : 0.2;
  vs_begin(s, (int)rng_int(rng, 1, 60), (int)rng_int(rng, 1, 60), rng_int(rng, 0, 2) ? 1 : 4);
  s->request.triangle_count = rng_int(rng, 1, VS_TRIANGLES);
  for (int t = 0; t < s->request.triangle_count; t++) {
    float middle[3];
    for (int a = 0; a < 3; a++) middle[a] = (float)rng_real(rng, -1, 1);
    for (int c = 0; c < 3; c++) {
      s->triangles[3 * t + c] = (uint32_t)(3 * t + c);
      for (int a = 0; a < 3; a++) s->points[9 * t + 3 * c + a] = middle[a] + (float)rng_real(rng, -size, size);
    }
  }
  vs_set_bounds(s, 3 * (int)s->request.triangle_count);
  vs_look(rng_real(rng, 0, 6.28), rng_real(rng, -1.5, 1.5), away, fmax(0.01, away - 2.5), away + 3,
    (int)rng_int(rng, 0, 1), s->request.to_clip);
}

#endif
