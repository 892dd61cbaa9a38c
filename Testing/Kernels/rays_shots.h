/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rays_shots.h - volumes, cameras and requests (shots) for tests of rays, and checks of their pictures. */
#ifndef PMB_TEST_RAYS_SHOTS_H
#define PMB_TEST_RAYS_SHOTS_H

#include "rays_reference.h"

enum { WIDE = 60, HIGH = 45, PIXELS = WIDE * HIGH, KNOTS = 9, TABLE = 1025 };
static const double COLOR_SLACK = 1.5 / 255, DEPTH_SLACK = 2e-3, WRONG_PIXELS = 0.003;

/* A request with memory for its parts. */
typedef struct shot {
  pmb_ray_request r;
  pmb_ray_isovalue isovalues[PMB_RAY_ISOVALUES];
  pmb_ray_light lights[PMB_RAY_LIGHTS];
  double planes[4 * PMB_RAY_PLANES];
  float table[4 * TABLE], gradients[KNOTS], limits[PIXELS], colors[4 * PIXELS], depth[PIXELS];
  test_volume other; /* of color_by */
  pmb_attribute color_by;
} shot;

/* ---- places of volumes and cameras ---- */

/* Sets the index-to-world matrix: rotated, with unequal spacings, and mirrored along one axis if `mirrored`. */
static inline void rr_place_volume(test_volume *v, int mirrored, test_rng *rng)
{
  double q[4], *m = v->view.index_to_world, length = 0;
  for (int n = 0; n < 4; n++) {
    q[n] = rng_real(rng, -1, 1);
    length += q[n] * q[n];
  }
  for (int n = 0; n < 4; n++) q[n] /= sqrt(length);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      const int other = 3 - r - c, sign = (c - r + 3) % 3 == 1 ? -1 : 1;
      m[4 * r + c] = r == c ? 1 - 2 * (1 - q[0] * q[0] - q[1 + r] * q[1 + r])
                            : 2 * (q[1 + r] * q[1 + c] + sign * q[0] * q[1 + other]);
    }
  for (int c = 0; c < 3; c++) {
    const double spacing = rng_real(rng, 0.5, 2) * (mirrored && c == 1 ? -1 : 1);
    for (int r = 0; r < 3; r++) m[4 * r + c] *= spacing;
    m[4 * c + 3] = rng_real(rng, -20, 20);
  }
}

/* Finds the center of a volume in the world. Returns the radius of its bounding sphere. */
static inline double rr_bounds(const pmb_volume *v, double center[3])
{
  double far[3], index[3];
  for (int a = 0; a < 3; a++) index[a] = (double)v->first[a] + 0.5 * (double)(v->dims[a] - 1);
  ref_world(v, index, center);
  double radius = 0;
  for (int c = 0; c < 8; c++) {
    for (int a = 0; a < 3; a++) index[a] = (double)v->first[a] + (c >> a & 1 ? (double)(v->dims[a] - 1) : 0);
    ref_world(v, index, far);
    for (int a = 0; a < 3; a++) far[a] -= center[a];
    radius = fmax(radius, sqrt(rr_dot(far, far)));
  }
  return radius > 0 ? radius : 1;
}

/* Looks from `eye` along `forward`. `wide`: half the picture's width (parallel) or the tangent of half its view angle. */
static inline void rr_look(double m[16], const double eye[3], const double forward[3], int parallel, double wide,
  double aspect, double near, double far)
{
  double axes[3][3], helper[3] = { 0.2, 0.9, 0.4 };
  for (int c = 0; c < 3; c++) axes[2][c] = forward[c];
  rr_unit(axes[2]);
  if (fabs(rr_dot(axes[2], helper)) > 0.9) helper[0] = 5;
  for (int n = 0; n < 2; n++) { /* right, then up */
    const double *a = n ? axes[0] : axes[2], *b = n ? axes[2] : helper;
    for (int c = 0; c < 3; c++) axes[n][c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
    rr_unit(axes[n]);
  }
  memset(m, 0, 16 * sizeof *m);
  for (int r = 0; r < 2; r++) {
    const double scale = (r ? aspect : 1) / wide;
    for (int c = 0; c < 3; c++) m[4 * r + c] = scale * axes[r][c];
    m[4 * r + 3] = -scale * rr_dot(axes[r], eye);
  }
  const double slope = parallel ? 2 / (far - near) : (far + near) / (far - near);
  const double at = parallel ? -(far + near) / (far - near) : -2 * far * near / (far - near);
  const double away = -rr_dot(axes[2], eye);
  for (int c = 0; c < 3; c++) {
    m[8 + c] = slope * axes[2][c];
    m[12 + c] = parallel ? 0 : axes[2][c];
  }
  m[11] = slope * away + at;
  m[15] = parallel ? 1 : away;
}

/* ---- volumes ---- */

enum { FIELD_BALL, FIELD_GYROID, FIELD_RANDOM, FIELDS };

/* Fills a volume with middle + size * a field of about -1 to 1. */
static inline void fill_field(const test_volume *v, int field, double middle, double size, test_rng *rng)
{
  const int64_t *d = v->view.dims;
  double wave[12];
  for (int n = 0; n < 12; n++) wave[n] = rng_real(rng, -6, 6);
  for (int64_t n = 0; n < ref_samples(&v->view); n++) {
    const int64_t at[3] = { n % d[0], n / d[0] % d[1], n / (d[0] * d[1]) };
    double x[3], sum = 0;
    for (int a = 0; a < 3; a++) x[a] = d[a] > 1 ? (double)at[a] / (double)(d[a] - 1) - 0.5 : 0;
    for (int w = 0; w < 4; w++) sum += sin(rr_dot(wave + 3 * w, x) + w) / 3;
    if (field == FIELD_BALL) sum = 1 - 2.2 * sqrt(rr_dot(x, x));
    if (field == FIELD_GYROID) sum = 0.6 * gyroid(0.6 * x[0], 0.6 * x[1], 0.6 * x[2]);
    volume_put(v, n, middle + size * sum);
  }
}

/* Middle and size of the fields of a type. */
static inline double type_middle(pmb_type type)
{
  return type == PMB_INT8 ? 5.3 : type == PMB_UINT8 ? 127.3 : type == PMB_FLOAT32 ? 0.1 : 20000.3;
}
static inline double type_size(pmb_type type)
{
  return type <= PMB_UINT8 ? 80 : type == PMB_FLOAT32 ? 0.7 : 9000;
}

/* A field in a volume of any layout and place. */
static inline void make_volume(test_volume *v, pmb_type type, int round, test_rng *rng)
{
  static const int layouts[] = { LAYOUT_PACKED, LAYOUT_INTERLEAVED, LAYOUT_NEGATIVE, LAYOUT_PADDED, LAYOUT_SWAPPED };
  volume_make(v, type, rng_int(rng, 20, 40), rng_int(rng, 15, 33), rng_int(rng, 15, 33), layouts[round % 5]);
  fill_field(v, round % FIELDS, type_middle(type), type_size(type), rng);
  if (round % 4) rr_place_volume(v, round % 3 == 1, rng);
  for (int a = 0; a < 3 && round % 2; a++) v->view.first[a] = rng_int(rng, -3000, 3000);
}

/* A field of -1 to 1 in packed floats. */
static inline void make_plain(test_volume *v, int field, test_rng *rng)
{
  volume_make(v, PMB_FLOAT32, 40, 20, 22, LAYOUT_PACKED);
  fill_field(v, field, 0, 1, rng);
}

/* ---- requests ---- */

static inline void shot_make(shot *s, pmb_ray_mode mode)
{
  memset(s, 0, sizeof *s);
  memset(s->colors, 0x55, sizeof s->colors);
  memset(s->depth, 0x55, sizeof s->depth);
  s->r = (pmb_ray_request){ .struct_size = sizeof s->r,
    .mode = mode,
    .width = WIDE,
    .height = HIGH,
    .isovalues = s->isovalues,
    .ambient = 0.2f,
    .diffuse = 0.7f,
    .specular = 0.3f,
    .specular_power = 12,
    .colors = s->colors,
    .depth = s->depth,
    .lights = s->lights,
    .planes = s->planes,
    .table = s->table };
}

/* A copy that owns its parts. */
static inline void shot_copy(shot *to, const shot *from)
{
  *to = *from;
  to->r.isovalues = to->isovalues;
  to->r.lights = to->lights;
  to->r.planes = to->planes;
  to->r.table = to->table;
  to->r.gradient_table = from->r.gradient_table ? to->gradients : NULL;
  to->r.color_by = from->r.color_by ? &to->color_by : NULL;
  to->r.colors = to->colors;
  to->r.depth = from->r.depth ? to->depth : NULL;
}

enum { CAMERA_PERSPECTIVE, CAMERA_PARALLEL, CAMERA_INSIDE, CAMERAS };

/* A camera that sees most of a volume, or one inside it. */
static inline void place_camera(shot *s, const pmb_volume *v, int camera, test_rng *rng)
{
  double center[3], eye[3], forward[3], off[3] = { 0, 0, 0 };
  const double radius = rr_bounds(v, center), aspect = (double)s->r.width / s->r.height;
  while (!(rr_dot(off, off) > 0.1))
    for (int c = 0; c < 3; c++) off[c] = rng_real(rng, -1, 1);
  rr_unit(off);
  const double away = camera == CAMERA_INSIDE ? 0.1 * radius : camera == CAMERA_PARALLEL ? 1.2 * radius : 2 * radius;
  for (int c = 0; c < 3; c++) {
    eye[c] = center[c] + away * off[c];
    forward[c] = -off[c] + (camera == CAMERA_INSIDE ? rng_real(rng, -0.5, 0.5) : rng_real(rng, -0.05, 0.05));
  }
  const double wide = camera == CAMERA_PARALLEL ? 0.7 * radius : 0.5;
  const double near = camera == CAMERA_INSIDE ? 0.03 * radius : fmax(away - radius, 0.1 * radius);
  rr_look(s->r.world_to_clip, eye, forward, camera == CAMERA_PARALLEL, wide, aspect, near, near + 2.4 * radius);
}

/* Isovalues around the middle of a field. */
static inline void set_isovalues(shot *s, int count, double middle, double size, double opacity)
{
  static const float colors[][3] = { { 0.9f, 0.4f, 0.2f }, { 0.2f, 0.8f, 0.5f }, { 0.4f, 0.5f, 1 } };
  s->r.isovalue_count = count;
  for (int n = 0; n < count; n++) {
    s->isovalues[n].value = middle + size * (0.011 + 0.27 * (count > 1 ? n - 1 : 0));
    memcpy(s->isovalues[n].color, colors[n % 3], sizeof colors[0]);
    s->isovalues[n].color[3] = (float)opacity;
  }
}

/* A table that interpolates a few random colors. In half of the calls about half of the colors are invisible. */
static inline void set_table(shot *s, int size, double low, double high, double unit, double opacity, test_rng *rng)
{
  const int knots = size < KNOTS ? size : KNOTS, gaps = (int)rng_int(rng, 0, 1);
  double colors[4 * KNOTS];
  for (int n = 0; n < 4 * KNOTS; n++) colors[n] = rng_real(rng, 0, n % 4 == 3 ? opacity : 1);
  for (int n = 0; n < KNOTS && gaps; n++) colors[4 * n + 3] *= (double)rng_int(rng, 0, 1);
  for (int n = 0; n < size; n++)
    for (int c = 0; c < 4; c++) {
      const int at = n < size - 1 ? n * (knots - 1) / (size - 1) : knots - 2;
      const double part = (double)n * (knots - 1) / (size - 1) - at;
      s->table[4 * n + c] = (float)(colors[4 * at + c] * (1 - part) + colors[4 * at + 4 + c] * part);
    }
  s->r.table_size = size;
  s->r.table_low = low;
  s->r.table_high = high;
  s->r.table_unit = unit;
}

/* Sets random opacity factors by gradient. In half of the calls about half of them are 0. */
static inline void set_gradients(shot *s, double high, test_rng *rng)
{
  const int gaps = (int)rng_int(rng, 0, 1);
  for (int n = 0; n < KNOTS; n++) s->gradients[n] = gaps && rng_int(rng, 0, 1) ? 0 : (float)rng_real(rng, 0.1, 1);
  s->r.gradient_table = s->gradients;
  s->r.gradient_size = KNOTS;
  s->r.gradient_high = high;
}

/* Sets color_by to another array, with a few non-finite samples if its type allows. Fits the range of set_table's table to it. */
static inline void set_color_by(shot *s, const pmb_volume *v, pmb_type type, test_rng *rng)
{
  const double middle = type_middle(type), size = type_size(type);
  volume_make(&s->other, type, v->dims[0], v->dims[1], v->dims[2], LAYOUT_PACKED);
  fill_field(&s->other, FIELD_RANDOM, middle, size, rng);
  volume_sprinkle(&s->other, 500, rng);
  s->color_by = (pmb_attribute){ .samples = s->other.view.samples, .type = type, .components = 1 };
  s->r.color_by = &s->color_by;
  s->r.table_low = middle - 0.6 * size;
  s->r.table_high = middle + 0.5 * size;
}

/* Puts the volume into a space of lights where it is sheared and scaled unevenly. */
static inline void set_placement(shot *s, test_rng *rng)
{
  for (int n = 0; n < 12; n++) s->r.placement[n] = n % 4 == 3 ? rng_real(rng, -30, 30) : rng_real(rng, -0.5, 0.5);
  for (int a = 0; a < 3; a++) s->r.placement[5 * a] = (a == 1 ? -1 : 1) * rng_real(rng, 1, 4);
}

/* Adds a light; at a place, it may have a cone toward the volume's center, and grow dim. */
static inline void set_light(shot *s, const pmb_volume *v, int at_a_place, test_rng *rng)
{
  double center[3], placed[3], toward = 0;
  const double radius = rr_bounds(v, center), *p = s->r.placement;
  pmb_ray_light *light = s->lights + s->r.light_count++;
  for (int c = 0; c < 3; c++) placed[c] = p[0] != 0 ? rr_dot(p + 4 * c, center) + p[4 * c + 3] : center[c];
  for (int c = 0; c < 3; c++) {
    const double off = rng_real(rng, -3, 3) * radius;
    light->position[c] = off + (at_a_place ? placed[c] : 0);
    light->color[c] = (float)rng_real(rng, 0.2, 2);
    light->direction[c] = (float)-off;
    toward += off * off;
  }
  light->position[3] = at_a_place;
  if (rng_int(rng, 0, 1)) light->cone_cosine = (float)rng_real(rng, 0.8, 0.99);
  if (rng_int(rng, 0, 1)) light->exponent = (float)rng_real(rng, 0, 20);
  if (rng_int(rng, 0, 1)) { /* dims the light to a third or less at the center */
    const double away[3] = { 1, 1 / sqrt(toward), 1 / toward };
    for (int c = 0; c < 3; c++) light->attenuation[c] = (float)(rng_real(rng, 0, 1) * away[c]);
  }
}

static inline void no_light(shot *s)
{
  s->r.ambient = 1;
  s->r.diffuse = s->r.specular = 0;
}

static inline void set_box(shot *s, const pmb_volume *v, test_rng *rng)
{
  for (int a = 0; a < 3; a++) {
    s->r.box[2 * a] = rng_real(rng, -0.2, 0.4) * (double)(v->dims[a] - 1);
    s->r.box[2 * a + 1] = rng_real(rng, 0.6, 1.2) * (double)(v->dims[a] - 1);
  }
}

/* Planes that pass near the middle of the volume and keep most of it. */
static inline void set_planes(shot *s, const pmb_volume *v, int count, test_rng *rng)
{
  double center[3];
  const double radius = rr_bounds(v, center);
  s->r.plane_count = count;
  for (int n = 0; n < count; n++) {
    double *plane = s->planes + 4 * n;
    for (int c = 0; c < 3; c++) plane[c] = rng_real(rng, -2, 2);
    plane[3] = rng_real(rng, 0.1, 0.4) * radius * sqrt(rr_dot(plane, plane)) - rr_dot(plane, center);
  }
}

static inline void set_limits(shot *s, test_rng *rng)
{
  for (int n = 0; n < PIXELS; n++) s->limits[n] = rng_int(rng, 0, 2) ? (float)rng_real(rng, 0.1, 0.999) : 1;
  s->r.depth_limit = s->limits;
}

/* Any volume and camera, with colors for the mode. */
static inline void any_shot(shot *s, test_volume *v, int round, pmb_ray_mode mode, test_rng *rng)
{
  const pmb_type type = (pmb_type)(1 + round % 10);
  const double middle = type_middle(type), size = type_size(type);
  make_volume(v, type, round + round / 10, rng);
  shot_make(s, mode);
  set_isovalues(s, round % 4 < 2 ? 3 : 1, middle, size, round % 5 == 0 ? 1 : 0.6);
  set_table(s, TABLE, middle - 0.8 * size, middle + 0.7 * size, 4, round % 2 ? 0.3 : 0.9, rng);
  s->r.shade = round / 3 % 2;
  place_camera(s, &v->view, (round + round / 15) % CAMERAS, rng);
}

/* A random camera and request for a volume whose samples lie around `middle`, by about `size`. */
static inline void any_request(shot *s, const test_volume *v, double middle, double size, test_rng *rng)
{
  shot_make(s, (pmb_ray_mode)rng_int(rng, 0, 4));
  s->r.width = (int)rng_int(rng, 20, WIDE);
  s->r.height = (int)rng_int(rng, 20, HIGH);
  const int isovalues = (int)rng_int(rng, 1, rng_int(rng, 0, 5) ? 3 : PMB_RAY_ISOVALUES);
  set_isovalues(s, isovalues, middle, size * rng_real(rng, 0.3, 2), rng_int(rng, 0, 3) ? rng_real(rng, 0.2, 1) : 1);
  const int table = rng_int(rng, 0, 1) && s->r.mode > PMB_RAY_COMPOSITE ? (int)rng_int(rng, 2, 30) : TABLE;
  set_table(s, table, middle - 0.9 * size, middle + 0.6 * size, rng_real(rng, 1, 20), 0.9, rng);
  place_camera(s, &v->view, (int)rng_int(rng, 0, CAMERAS - 1), rng);
  s->r.shade = (int)rng_int(rng, 0, 1);
  s->r.preintegrate = (int)rng_int(rng, 0, 1);
  s->r.ambient = (float)rng_real(rng, 0, 0.5);
  s->r.specular_power = (float)rng_real(rng, 1, 40);
  if (rng_int(rng, 0, 2) == 0) set_placement(s, rng);
  for (int64_t n = rng_int(rng, 0, PMB_RAY_LIGHTS); n > 4; n--) set_light(s, &v->view, (int)(n & 1), rng);
  if (rng_int(rng, 0, 3) == 0) set_planes(s, &v->view, (int)rng_int(rng, 1, PMB_RAY_PLANES), rng);
  if (rng_int(rng, 0, 3) == 0) set_box(s, &v->view, rng);
  if (rng_int(rng, 0, 3) == 0) set_limits(s, rng);
  if (rng_int(rng, 0, 2) == 0) s->r.step = rng_real(rng, 0.1, 1);
  if (rng_int(rng, 0, 4) == 0) s->r.depth = NULL;
  if (rng_int(rng, 0, 3) == 0) set_gradients(s, size * rng_real(rng, 0.02, 0.3), rng);
  if (rng_int(rng, 0, 3) == 0 && s->r.mode == PMB_RAY_ISOSURFACE)
    set_color_by(s, &v->view, (pmb_type)rng_int(rng, 1, 10), rng);
}

/* ---- judges ---- */

/* Compares the picture with the reference. Returns the number of pixels that show something. */
static inline int judge(const shot *s, const pmb_volume *v)
{
  OWNED_SCENE scene;
  int hit = 0, wrong = 0, doubtful = 0, worst = 0;
  double most = -1, color = 0, depth = 0;
  rr_sum wanted = { { 0, 0, 0 }, 0, 1, 0 };
  rr_open(&scene, v, &s->r);
  for (int n = 0; n < s->r.width * s->r.height; n++) {
    const rr_sum sum = rr_pixel(&scene, n % s->r.width, n / s->r.width);
    const float *got = s->colors + 4 * n;
    double off = fabs(sum.opacity - (double)got[3]), deep = 0;
    for (int c = 0; c < 3; c++) off = fmax(off, fabs(sum.color[c] - (double)got[c]));
    if (s->r.depth) deep = rr_depth_error(&scene, &sum, s->depth[n], n % s->r.width, n / s->r.width);
    hit += sum.opacity > 0.01;
    doubtful += sum.doubtful;
    if (sum.doubtful || (off <= COLOR_SLACK && deep <= DEPTH_SLACK)) continue; /* NaN counts as wrong */
    wrong++;
    const double badness = fmin(off / COLOR_SLACK, 1000) + fmin(deep / DEPTH_SLACK, 1000);
    if (badness <= most) continue;
    most = badness;
    worst = n;
    color = off;
    depth = deep;
    wanted = sum;
  }
  const float *got = s->colors + 4 * worst;
  CHECK(wrong <= WRONG_PIXELS * s->r.width * s->r.height,
    "%d wrong of %d pixels that show something; the worst, (%d, %d), is off by %g/255 and %g cells: not %g %g %g %g "
    "at %.8g, but %g %g %g %g at %.8g",
    wrong, hit, worst % s->r.width, worst / s->r.width, 255 * color, depth, wanted.color[0], wanted.color[1],
    wanted.color[2], wanted.opacity, wanted.depth, (double)got[0], (double)got[1], (double)got[2], (double)got[3],
    s->r.depth ? (double)s->depth[worst] : 0);
  CHECK(doubtful <= 0.1 * s->r.width * s->r.height, "%d pixels were not judged", doubtful);
  return hit;
}

/* Casts and checks the pictures of many rounds. Pixels that show something must add up to at least `pictures` whole pictures. */
static inline void judge_rounds(
  void make(shot *s, test_volume *v, int round, test_rng *rng), uint64_t seed, int rounds, double pictures)
{
  pmb_context *contexts[] = { context_new(2, NULL), context_new(1, NULL) };
  static shot s;
  double seen = 0;
  test_rng rng = { seed };
  for (int round = 0; round < rounds; round += TEST_SLOW ? 3 : 1) {
    pmb_context *context = contexts[round % 2];
    test_volume v;
    make(&s, &v, round, &rng);
    test_about("seed %llu, round %d: %s, %d x %d x %d, mode %d, shade %d, %d lights, step %g",
      (unsigned long long)seed, round, type_name(v.view.type), (int)v.view.dims[0], (int)v.view.dims[1],
      (int)v.view.dims[2], (int)s.r.mode, s.r.shade, s.r.light_count, s.r.step);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    if (CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK)) seen += judge(&s, &v.view);
    volume_free(&v);
    if (s.r.color_by) volume_free(&s.other);
  }
  CHECK(seen / PIXELS >= pictures / (TEST_SLOW ? 5 : 1), "only %g visible pictures", seen / PIXELS);
  for (int c = 0; c < 2; c++) pmb_destroy(contexts[c]);
}

/* Makes a valid request. Returns a context with its volume bound. */
static inline pmb_context *good_shot(shot *s, test_volume *v, pmb_ray_mode mode, int threads)
{
  pmb_context *context = context_new(threads, NULL);
  test_rng rng = { 581 };
  volume_make(v, PMB_FLOAT32, 40, 21, 22, LAYOUT_PACKED);
  fill_field(v, FIELD_GYROID, 0, 1, &rng);
  shot_make(s, mode);
  set_isovalues(s, 3, 0, 1, 0.7f);
  set_table(s, TABLE, -1, 1, 3, 0.7, &rng);
  place_camera(s, &v->view, CAMERA_PERSPECTIVE, &rng);
  set_light(s, &v->view, 1, &rng);
  set_planes(s, &v->view, 1, &rng);
  set_box(s, &v->view, &rng);
  s->r.pixel_samples = 4;
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, pmb_cast_rays(context, &s->r), PMB_OK);
  return context;
}

/* Defines a case whose rounds are made by <name>_round. */
#define ROUNDS(name, seed, rounds, pictures)            \
  static void name(void)                                \
  {                                                     \
    judge_rounds(name##_round, seed, rounds, pictures); \
  }

#endif
