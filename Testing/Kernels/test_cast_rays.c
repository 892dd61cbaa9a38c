/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_cast_rays.c - pictures by rays against a reference in double precision. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "rays_shots.h"

/* ---- volumes and requests that random ones rarely have ---- */

/* Large samples with small differences, which are lost in float. */
static void large_samples_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  static const pmb_type types[] = { PMB_INT32, PMB_UINT32, PMB_INT64, PMB_UINT64, PMB_FLOAT64 };
  const double size = types[round % 5] == PMB_FLOAT64 ? 0.01 : 1000;
  volume_make(v, types[round % 5], 33, 20, 20, LAYOUT_PACKED);
  fill_field(v, round % FIELDS, 1.9e9, size, rng);
  shot_make(s, PMB_RAY_ISOSURFACE);
  set_isovalues(s, 1, 1.9e9, size, 1);
  place_camera(s, &v->view, round % 2, rng);
}
ROUNDS(large_samples, 2, 10, 2)

/* A few small objects in many empty bricks. */
static void empty_space_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  volume_make(v, round % 2 ? PMB_FLOAT32 : PMB_UINT8, 130, 60, 50, LAYOUT_PACKED);
  for (int64_t n = 0; n < ref_samples(&v->view); n++) volume_put(v, n, 20);
  for (int n = 0; n < 40; n++) {
    const int64_t i = rng_int(rng, 2, 127), j = rng_int(rng, 2, 57), k = rng_int(rng, 2, 47);
    for (int c = 0; c < 27; c++)
      volume_set(v, i + c % 3 - 1, j + c / 3 % 3 - 1, k + c / 9 - 1, n % 2 ? 100 - 10 * (c != 13) : 1);
  }
  shot_make(s, (pmb_ray_mode)(round % 5));
  s->r.preintegrate = round / 10;
  set_isovalues(s, 2, 60.3, 50, 0.6);
  set_table(s, TABLE, 0, 90, 1, 0.9, rng);
  for (int n = 15 * TABLE / 90; n < 60 * TABLE / 90 && round % 2; n++) s->table[4 * n + 3] = 0; /* the empty bricks */
  place_camera(s, &v->view, round % CAMERAS, rng);
}
ROUNDS(empty_space, 10, 25, 2)

/* Integers as samples and isovalues: the surface lies where a ray first reaches the isovalue. */
static void plateaus_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  volume_make(v, (pmb_type)(1 + round % 10), 40, 17, 18, LAYOUT_PACKED);
  fill_field(v, round % FIELDS, 1.4, 1.2, rng);
  for (int64_t n = 0; n < ref_samples(&v->view); n++) { /* 0 on the border */
    const int64_t i = n % 40, j = n / 40 % 17, k = n / 680;
    volume_put(v, n, i % 39 && j % 16 && k % 17 ? floor(volume_get(v, n) + 0.5) : 0);
  }
  shot_make(s, PMB_RAY_ISOSURFACE);
  set_isovalues(s, 1, 1 + round % 2, 0, round % 3 ? 1 : 0.5);
  place_camera(s, &v->view, round % CAMERAS, rng);
}
ROUNDS(plateaus, 11, 20, 5)

/* Parallel rays along the axes, on the faces of cells and bricks. */
static void along_the_axes_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  const int axis = round % 3, finer = 1 + round % 2;
  double forward[3] = { 0, 0, 0 }, eye[3];
  make_plain(v, round % FIELDS, rng);
  shot_make(s, (pmb_ray_mode)(round % 5));
  set_isovalues(s, 1, 0, 1, 1);
  set_table(s, TABLE, -1, 1, 5, 0.8, rng);
  forward[axis] = round / 3 % 2 ? 1 : -1;
  for (int c = 0; c < 3; c++) eye[c] = 10 - 60 * forward[c];
  rr_look(s->r.world_to_clip, eye, forward, 1, 1, 1, 1, 120);
  for (int c = 0; c < 4; c++) /* one or two pixels per sample; the center of the first lies beside a sample */
    for (int r = 0; r < 2; r++) {
      const double scale = 2. * finer / (r ? HIGH : WIDE), middle = 10.25 + (r ? 0.25 : 0) * (finer > 1);
      s->r.world_to_clip[4 * r + c] = c == 3 ? -scale * middle : c == (axis + 1 + r) % 3 ? scale : 0;
    }
}
ROUNDS(along_the_axes, 12, 60, 5)

/* Tiny, huge and sheared worlds, with cameras that fit them. */
static void worlds_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  double center[3];
  make_plain(v, round % FIELDS, rng);
  volume_world(v, round % WORLDS, rng);
  shot_make(s, (pmb_ray_mode)(round / WORLDS % 5));
  set_isovalues(s, 3, 0, 1, 0.8);
  set_table(s, TABLE, -1, 1, rr_bounds(&v->view, center) / 5, 0.8, rng);
  place_camera(s, &v->view, round % 2, rng);
}
ROUNDS(worlds, 13, 5 * WORLDS, 5)

/* Cameras far away, because steps count from the near plane; long volumes. */
static void far_away_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  const int64_t length = round % 3 ? 40 : 2000;
  const double away = pow(10, 1 + round / 4), forward[3] = { -1, rng_real(rng, -1, 1), 0.8 };
  double eye[3];
  volume_make(v, PMB_FLOAT32, length, 9, 9, LAYOUT_PACKED);
  for (int64_t n = 0; n < ref_samples(&v->view); n++)
    volume_put(v, n, sin(0.7 * (double)(n % length)) + 0.9 * cos((double)(n / length % 9)));
  shot_make(s, (pmb_ray_mode)(round % 5));
  set_isovalues(s, 1, 0.4, 1, 0.7);
  set_table(s, TABLE, -2, 2, 5, 0.8, rng);
  for (int c = 0; c < 3; c++) eye[c] = (c ? 4 : (double)length - 9) - away * forward[c];
  rr_look(s->r.world_to_clip, eye, forward, 1, 6, 1, 0.1, 2 * away + 20);
}
ROUNDS(far_away, 15, 24, 3)

/* Volumes so long that the index of a sample leaves a float few digits for the fraction. */
static void long_volumes_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  const int64_t length = round < 4 ? 20000 : 100000;
  const double forward[3] = { -1, 0.8, -0.9 };
  double eye[3];
  volume_make(v, PMB_FLOAT32, length, 5, 5, LAYOUT_PACKED);
  for (int64_t n = 0; n < ref_samples(&v->view); n++)
    volume_put(v, n, sin(0.2 * (double)(n % length) + 0.3) + 0.2 * (double)(n / length % 5));
  shot_make(s, round % 2 ? PMB_RAY_COMPOSITE : PMB_RAY_ISOSURFACE);
  s->r.depth = NULL; /* only as exact as a float index */
  set_isovalues(s, 1, 0.4, 1, 0.7);
  set_table(s, TABLE, -3, 3, 5, 0.7, rng);
  for (int c = 0; c < 3; c++) eye[c] = (c ? 2 : (double)length - 10) - 20 * forward[c];
  rr_look(s->r.world_to_clip, eye, forward, 0, 0.2, 4.0 / 3, 5, 60);
}
ROUNDS(long_volumes, 17, 6, 0.5)

/* Steps much smaller than a cell. An alarm ends a picture that hangs. */
static void small_steps_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  alarm(20);
  make_plain(v, FIELD_GYROID, rng);
  shot_make(s, (pmb_ray_mode)(round % 3));
  set_isovalues(s, 3, 0, 1, 0.6);
  set_table(s, TABLE, -1, 1, 5, 0.8, rng);
  place_camera(s, &v->view, CAMERA_PERSPECTIVE, rng);
  s->r.width = s->r.height = 2;
  s->r.step = pow(10, -1 - round / 12.0);
  printf("step %g\n", s->r.step);
  fflush(stdout);
}

static void small_steps(void)
{
  judge_rounds(small_steps_round, 16, 36, 0.01);
  alarm(0);
}

/* Jitter keeps surfaces. It changes a composite with long steps, but hardly its mean. */
static void jitter(void)
{
  static shot plain, moved;
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int mode = PMB_RAY_ISOSURFACE; mode <= PMB_RAY_COMPOSITE; mode++) {
    OWNED_VOLUME v;
    test_rng rng = { 18 };
    double sums[2] = { 0, 0 };
    int differ = 0, apart = 0;
    make_plain(&v, FIELD_BALL, &rng);
    shot_make(&plain, (pmb_ray_mode)mode);
    set_isovalues(&plain, 1, 0.2, 0, 1);
    set_table(&plain, TABLE, -1, 1, 8, 0.8, &rng);
    place_camera(&plain, &v.view, CAMERA_PARALLEL, &rng);
    plain.r.step = mode == PMB_RAY_COMPOSITE ? 3 : 0.5;
    shot_copy(&moved, &plain);
    moved.r.jitter = 1;
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, pmb_cast_rays(context, &plain.r), PMB_OK);
    CHECK_STATUS(context, pmb_cast_rays(context, &moved.r), PMB_OK);
    for (int n = 0; n < 4 * PIXELS; n++) {
      sums[0] += plain.colors[n];
      sums[1] += moved.colors[n];
      differ += fabs(plain.colors[n] - moved.colors[n]) > 1 / 255.0;
      apart += n < PIXELS && !(fabs(plain.depth[n] - moved.depth[n]) < 1e-4);
    }
    CHECK(sums[0] > 100 && fabs(sums[1] / sums[0] - 1) < 0.02, "mode %d: sums %g and %g", mode, sums[0], sums[1]);
    CHECK(mode == PMB_RAY_COMPOSITE ? differ > PIXELS / 4 : differ + apart < PIXELS / 100,
      "mode %d: %d colors differ, %d depths", mode, differ, apart);
  }
}

/* An opacity of 1 in one interval of the table: pixels whose rays reach it are opaque, in its color, even with steps of 1. */
static void opaque_values(void)
{
  enum { FIRST = 640 };
  static shot s;
  OWNED_VOLUME v;
  test_rng rng = { 21 };
  OWNED_SCENE scene;
  int seen = 0, wrong = 0;
  make_plain(&v, FIELD_BALL, &rng);
  shot_make(&s, PMB_RAY_COMPOSITE);
  set_table(&s, TABLE, -1, 1, 1, 0, &rng);
  for (int n = 0; n < TABLE; n++) memcpy(s.table + 4 * n, (float[]){ 0.2f, 0.7f, 0.4f, 0 }, 4 * sizeof(float));
  s.table[4 * FIRST + 3] = s.table[4 * FIRST + 7] = 1;
  place_camera(&s, &v.view, CAMERA_PERSPECTIVE, &rng);
  s.r.step = s.r.preintegrate = 1;
  OWNED_CONTEXT context = bound_context(2, &v.view);
  CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
  rr_open(&scene, &v.view, &s.r);
  for (int n = 0; n < PIXELS; n++) {
    rr_ray ray;
    double most = -1;
    rr_ray_of(&scene, n % WIDE, n / WIDE, &ray);
    for (double t = ray.from; t <= ray.to; t += 1 / 16.0) most = fmax(most, rr_value(&scene, &ray, t, 0));
    const float *got = s.colors + 4 * n;
    if (most < 2.0 * (FIRST + 30) / (TABLE - 1) - 1) continue;
    seen++;
    wrong += !(got[3] > 0.99f && fabsf(got[1] - 0.7f * got[3]) < 1e-3f && fabsf(got[2] - 0.4f * got[3]) < 1e-3f);
  }
  CHECK(seen > PIXELS / 20 && wrong == 0, "%d wrong of %d pixels", wrong, seen);
}

/* Environment: PMB_TEST_ROUNDS, the number of rounds; PMB_TEST_SEED, the seed of the first. Each round has its own seed. */
static uint64_t first_seed = 7000;

static void anything_round(shot *s, test_volume *v, int round, test_rng *rng)
{
  *rng = (test_rng){ first_seed + (uint64_t)round };
  const pmb_type type = (pmb_type)rng_int(rng, 1, 10);
  const int layout = rng_int(rng, 0, 1) ? LAYOUT_PACKED : (int)rng_int(rng, 0, LAYOUTS - 2);
  volume_make(v, type, rng_int(rng, 2, 70), rng_int(rng, 2, 30), rng_int(rng, 2, 30), layout);
  fill_field(v, (int)rng_int(rng, 0, 2), type_middle(type), type_size(type), rng);
  if (rng_int(rng, 0, 3)) rr_place_volume(v, (int)rng_int(rng, 0, 1), rng);
  for (int a = 0; a < 3; a++) v->view.first[a] = rng_int(rng, -1, 1) * rng_int(rng, 0, 100000000);
  any_request(s, v, type_middle(type), type_size(type), rng);
  if (rng_int(rng, 0, 1)) {
    volume_hide(v, (int)rng_int(rng, 0, 2) * 400, (int)rng_int(rng, 0, 2) * 200, rng);
    volume_sprinkle(v, 1500, rng);
    if (rng_int(rng, 0, 1)) no_light(s);
  }
}

static void anything(void)
{
  const char *rounds = getenv("PMB_TEST_ROUNDS"), *seed = getenv("PMB_TEST_SEED");
  if (seed) first_seed = strtoull(seed, NULL, 10);
  judge_rounds(anything_round, first_seed, rounds ? atoi(rounds) : 700, rounds ? 0 : 70);
}

/* clang-format off */
TEST_MAIN(
  CASE(anything)
  CASE(large_samples)
  CASE(empty_space)
  CASE(plateaus)
  CASE(along_the_axes)
  CASE(worlds)
  CASE(far_away)
  CASE(long_volumes)
  CASE(small_steps)
  CASE(jitter)
  CASE(opaque_values)
)
