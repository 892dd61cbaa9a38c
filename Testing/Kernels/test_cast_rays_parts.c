/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_cast_rays_parts.c - which parts of a ray count: short chords, flat volumes, intervals of depth, cells beside hidden ones; and values
 * and gradients of any magnitude. */
#include <stdio.h>

#include "rays_shots.h"

static void cast(pmb_context *context, const test_volume *v, shot *s)
{
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, pmb_cast_rays(context, &s->r), PMB_OK);
}

/* The same value everywhere, of a color with this opacity. */
static void make_even(shot *s, test_volume *v, int64_t x, int64_t y, int64_t z, double opacity, test_rng *rng)
{
  volume_make(v, PMB_FLOAT32, x, y, z, LAYOUT_PACKED);
  for (int64_t n = 0; n < ref_samples(&v->view); n++) volume_put(v, n, 0.5);
  set_table(s, 2, 0, 1, 15, 1, rng);
  for (int n = 0; n < 2; n++) s->table[4 * n + 3] = (float)opacity;
}

/* A box of one value has exactly the opacity of each ray's length in it, also at its rims; with planes, a box, limits and jitter. Light
 * finds no normal in it: it has the color of ambient light. */
static void boxes(void)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  test_rng rng = { 31 };
  for (int round = 0; round < 32; round++) {
    static shot s;
    OWNED_VOLUME v;
    OWNED_SCENE scene;
    double worst = 0;
    shot_make(&s, PMB_RAY_COMPOSITE);
    make_even(&s, &v, 20, 20, 20, 0.9, &rng);
    if (round % 3 == 1) rr_place_volume(&v, 0, &rng);
    place_camera(&s, &v.view, round % CAMERAS, &rng);
    s.r.step = round % 4 ? 0.3 + 0.9 * (round % 4) : 0;
    s.r.preintegrate = round / 4 % 2;
    s.r.jitter = round / 8 % 2;
    s.r.shade = round % 5 == 4;
    if (round / 16 % 2) set_planes(&s, &v.view, 2, &rng);
    if (round / 16 % 2) set_box(&s, &v.view, &rng);
    if (round / 4 % 3 == 2) set_limits(&s, &rng);
    cast(context, &v, &s);
    rr_open(&scene, &v.view, &s.r);
    for (int n = 0; n < PIXELS; n++) {
      rr_ray ray;
      rr_ray_of(&scene, n % WIDE, n / WIDE, &ray);
      const double wanted = 1 - pow(0.1, rr_counted(&ray, ray.from, ray.to) / 15);
      for (int c = 0; c < 4; c++) {
        const double color =
          c < 3 ? (double)(s.table[c] + s.table[4 + c]) / 2 * (s.r.shade ? (double)s.r.ambient : 1) : 1;
        worst = fmax(worst, fabs(wanted * color - (double)s.colors[4 * n + c]));
      }
    }
    test_about("round %d", round);
    CHECK(worst < 0.3 / 255, "a color or an opacity is off by %g/255", 255 * worst);
  }
}

/* Each ray that meets a volume shows it in every mode, whatever the step: also the rims, and volumes much thinner than a step. */
static void thin_volumes(void)
{
  static const struct {
    int64_t side, levels;
    double edge, height, step;
  } list[] = { { 20, 20, 1, 1, 0 }, { 20, 20, 1, 1, 7 }, { 20, 5, 1, 1e-5, 0 }, { 20, 5, 1, 1e-5, 0.5 },
    { 20, 5, 1, 1e-8, 0 }, { 20, 5, 1, 1e-8, 0.5 }, { 25, 5, 1e5, 2, 0 }, { 25, 2, 1e5, 1, 0 },
    { 25, 2, 1e5, 1, 5e4 }, { 25, 40, 1e5, 1, 5e4 } };
  OWNED_CONTEXT context = context_new(2, NULL);
  test_rng rng = { 32 };
  for (size_t n = 0; n < 6 * sizeof list / sizeof *list; n++) {
    static shot s;
    OWNED_VOLUME v;
    OWNED_SCENE scene;
    int met = 0, missing = 0;
    shot_make(&s, (pmb_ray_mode)(n % 6 ? n % 6 - (n % 6 == 5 ? 4 : 0) : 0));
    make_even(&s, &v, list[n / 6].side, list[n / 6].side, list[n / 6].levels, 1, &rng);
    for (int a = 0; a < 3; a++) v.view.index_to_world[5 * a] = a < 2 ? list[n / 6].edge : list[n / 6].height;
    if (s.r.mode == PMB_RAY_ISOSURFACE) /* a slope, seen from above: a surface in the middle */
      for (int64_t i = 0; i < ref_samples(&v.view); i++)
        volume_put(&v, i, (double)(i / (v.view.dims[0] * v.view.dims[1])) / (double)(v.view.dims[2] - 1) - 0.5);
    set_isovalues(&s, 1, 0, 0, 1);
    s.r.preintegrate = n % 6 == 5;
    s.r.table_unit = s.r.preintegrate ? list[n / 6].height : 15; /* its opacity of 1 is not that of short lengths */
    s.r.step = list[n / 6].step;
    const double wide = 0.7 * (double)list[n / 6].side * list[n / 6].edge, middle = wide / 1.4;
    const double eye[3] = { middle, middle - wide, 2 * wide }, forward[3] = { 0, 0.5, -1 };
    rr_look(s.r.world_to_clip, eye, forward, n % 2, n % 2 ? wide : 0.4, 4.0 / 3, wide / 2, 5 * wide);
    cast(context, &v, &s);
    rr_open(&scene, &v.view, &s.r);
    for (int i = 0; i < PIXELS; i++) {
      rr_ray ray;
      double p[3], world[3];
      rr_ray_of(&scene, i % WIDE, i / WIDE, &ray);
      const double t = (ray.from + ray.to) / 2;
      for (int c = 0; c < 3; c++) world[c] = ray.origin[c] + t * ray.direction[c];
      rr_to_index(&scene, world, 0, p);
      const int is_met = s.r.mode == PMB_RAY_ISOSURFACE
        ? n / 6 > 1 && fabs(p[0] - middle / list[n / 6].edge) < middle / list[n / 6].edge - 1.1 &&
          fabs(p[1] - middle / list[n / 6].edge) < middle / list[n / 6].edge - 1.1
        : ray.from < ray.to;
      met += is_met;
      missing += is_met && !(s.colors[4 * i + 3] > (s.r.preintegrate ? 0 : 0.99f));
    }
    test_about("volume %d, mode %d", (int)n / 6, (int)n % 6);
    CHECK((met > PIXELS / 5 || n % 6 == 0) && missing == 0, "%d of %d pixels are missing", missing, met);
  }
}

/* Puts a picture behind another. */
static void put_behind(float *front, const float *back)
{
  for (int n = 0; n < PIXELS; n++) {
    const float clear = 1 - front[4 * n + 3];
    for (int c = 0; c < 4; c++) front[4 * n + c] += clear * back[4 * n + c];
  }
}

/* Pictures of intervals of depth, one behind the other, are the picture of whole rays. */
static void intervals(void)
{
  enum { PARTS = 4 };
  OWNED_CONTEXT context = context_new(2, NULL);
  test_rng rng = { 33 };
  double shown = 0;
  for (int round = 0; round < 36; round++) {
    static shot whole, s;
    static float starts[PIXELS];
    OWNED_VOLUME v;
    double worst = 0;
    any_shot(&whole, &v, round, round % 3 ? PMB_RAY_COMPOSITE : PMB_RAY_ISOSURFACE, &rng);
    whole.r.preintegrate = round % 3 == 1;
    if (round % 3 == 0) set_isovalues(&whole, 3, type_middle(v.view.type), type_size(v.view.type), 0.4);
    if (round % 2) set_gradients(&whole, type_size(v.view.type) * 0.1, &rng);
    if (round % 3 == 1) whole.r.gradient_table = NULL;
    whole.r.step = round % 4 ? 0 : 1.7;
    cast(context, &v, &whole);
    shot_copy(&s, &whole);
    static float sum[4 * PIXELS];
    memset(sum, 0, sizeof sum);
    memset(starts, 0, sizeof starts);
    s.r.depth_limit = s.limits;
    s.r.depth_start = starts;
    for (int part = 0; part < PARTS; part++) {
      for (int n = 0; n < PIXELS; n++)
        s.limits[n] = part == PARTS - 1 ? 1 : starts[n] + (1 - starts[n]) * (float)rng_real(&rng, 0, 0.7);
      CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
      put_behind(sum, s.colors);
      memcpy(starts, s.limits, sizeof starts);
    }
    for (int n = 0; n < 4 * PIXELS; n++) {
      worst = fmax(worst, fabs((double)sum[n] - (double)whole.colors[n]));
      shown += whole.colors[n] > 0;
    }
    test_about("round %d, mode %d", round, (int)whole.r.mode);
    CHECK(worst < 0.8 / 255, "a color is off by %g/255", 255 * worst); /* whole rays end once 0.998 are opaque */
  }
  CHECK(shown > 4. * PIXELS * 10, "only %g numbers are above 0", shown);
}

/* A picture does not change if values, isovalues, table and gradients are multiplied by the same number. */
static void magnitudes(void)
{
  static const struct {
    pmb_type type;
    double size;
  } list[] = { { PMB_FLOAT32, 1e-36 }, { PMB_FLOAT32, 1e-37 }, { PMB_FLOAT32, 3e38 }, { PMB_FLOAT64, 1e-300 },
    { PMB_FLOAT64, 1e-40 }, { PMB_FLOAT64, 1e60 }, { PMB_FLOAT64, 1.5e308 } };
  OWNED_CONTEXT context = context_new(2, NULL);
  for (size_t n = 0; n < 7 * sizeof list / sizeof *list; n++) {
    static shot plain, s;
    OWNED_VOLUME v, scaled;
    test_rng rng = { 34 };
    const int kind = n % 7; /* a mode; 5: pre-integrated; 6: opacity by gradient */
    const double size = list[n / 7].size;
    double worst = 0, sum = 0;
    make_plain(&v, FIELD_GYROID, &rng);
    volume_make(&scaled, list[n / 7].type, 40, 20, 22, LAYOUT_PACKED);
    for (int64_t i = 0; i < ref_samples(&v.view); i++) volume_put(&scaled, i, size * volume_get(&v, i));
    shot_make(&plain, kind < 5 ? (pmb_ray_mode)kind : PMB_RAY_COMPOSITE);
    plain.r.preintegrate = kind == 5;
    plain.r.shade = 1;
    plain.r.ambient = 0;
    set_isovalues(&plain, 3, 0, 1, 0.7);
    set_table(&plain, TABLE, -1, 1, 4, 0.8, &rng);
    if (kind == 6) set_gradients(&plain, 0.1, &rng);
    for (int i = 0; i < KNOTS; i++) plain.gradients[i] = (float)i / (KNOTS - 1);
    place_camera(&plain, &v.view, CAMERA_PERSPECTIVE, &rng);
    shot_copy(&s, &plain);
    for (int i = 0; i < 3; i++) s.isovalues[i].value *= size;
    s.r.gradient_high *= size;
    s.r.table_low *= size;
    s.r.table_high *= size;
    cast(context, &v, &plain);
    cast(context, &scaled, &s);
    for (int i = 0; i < 4 * PIXELS; i++) {
      worst = fmax(worst, fabs((double)s.colors[i] - (double)plain.colors[i]));
      sum += (double)plain.colors[i];
    }
    test_about("size %g, kind %d", size, kind);
    CHECK(sum > PIXELS / 10. && worst < 1.0 / 255, "a color is off by %g/255; sum %g", 255 * worst, sum);
  }
}

/* A plane through cells beside hidden ones, or beside samples that are not finite: each ray that meets it in a cell with values shows
 * it. */
static void beside_hidden_cells(void)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  test_rng rng = { 35 };
  int hits = 0;
  for (int round = 0; round < 12; round++) {
    const double normal[3] = { 1, 0.3, -0.2 }, distance = 15.03;
    static shot s;
    OWNED_SCENE scene;
    int missing = 0, wrong = 0;
    OWNED_VOLUME v = volume_of(round % 2 ? PMB_FLOAT32 : PMB_FLOAT64, 30, 21, 22, LAYOUT_PACKED);
    for (int64_t n = 0; n < ref_samples(&v.view); n++)
      volume_put(&v, n, (double)(n % 30) + normal[1] * (double)(n / 30 % 21) + normal[2] * (double)(n / 630));
    if (round % 3)
      volume_hide(&v, round % 3 == 1 ? 250 : 0, round % 3 == 2 ? 900 : 0, &rng);
    else
      volume_sprinkle(&v, 250, &rng);
    shot_make(&s, PMB_RAY_ISOSURFACE);
    set_isovalues(&s, 1, distance, 0, 1);
    no_light(&s);
    place_camera(&s, &v.view, CAMERA_PARALLEL, &rng);
    s.r.step = round % 4 == 3 ? 1.4 : 0;
    cast(context, &v, &s);
    rr_open(&scene, &v.view, &s.r);
    for (int n = 0; n < PIXELS; n++) {
      rr_ray ray;
      double at[3], slope[3];
      rr_ray_of(&scene, n % WIDE, n / WIDE, &ray);
      rr_to_index(&scene, ray.origin, 0, at);
      rr_to_index(&scene, ray.direction, 1, slope);
      const double t = (distance - rr_dot(normal, at)) / rr_dot(normal, slope), slack = 5e-3;
      const int is_hit = s.colors[4 * n + 3] > 0;
      if (!(t > ray.from && t < ray.to) || isnan(rr_value(&scene, &ray, t, 0))) {
        wrong += is_hit;
        continue;
      }
      hits++;
      missing +=
        !is_hit && !isnan(rr_value(&scene, &ray, t - slack, 0)) && !isnan(rr_value(&scene, &ray, t + slack, 0));
    }
    test_about("round %d", round);
    CHECK(missing == 0 && wrong <= 3, "%d hits are missing, %d are wrong", missing, wrong);
  }
  CHECK(hits > 2 * PIXELS, "only %d hits", hits);
}

/* The mean of the rays of FINE x FINE times as many pixels. */
static void cast_finely(pmb_context *context, const shot *of, float *colors)
{
  enum { FINE = 8 };
  pmb_ray_request fine = of->r;
  OWNED float *many = test_allocate(4 * FINE * FINE * PIXELS, sizeof *many);
  fine.width *= FINE;
  fine.height *= FINE;
  fine.colors = many;
  fine.depth = NULL;
  fine.pixel_samples = 0;
  CHECK_STATUS(context, pmb_cast_rays(context, &fine), PMB_OK);
  memset(colors, 0, 4 * PIXELS * sizeof *colors);
  for (int n = 0; n < 4 * FINE * FINE * PIXELS; n++) {
    const int x = n / 4 % fine.width / FINE, y = n / 4 / fine.width / FINE;
    colors[4 * (x + WIDE * y) + n % 4] += many[n] / (FINE * FINE);
  }
}

/* More rays at edges: pictures come close to those of 64 rays for each pixel, for surfaces, and for composites and maxima with hard
 * edges and cuts; the gyroid has gaps narrower than a pixel, which no first ray meets. Where a surface is seen there is a depth. */
static void edges(void)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int round = 0; round < 20; round++) {
    static shot s;
    static float fine[4 * PIXELS], jagged[4 * PIXELS];
    OWNED_VOLUME v;
    test_rng rng = { 36 };
    double worst[2] = { 0, 0 }, sum[2] = { 0, 0 };
    int lost = 0;
    make_plain(&v, round % 2 ? FIELD_GYROID : FIELD_BALL, &rng);
    shot_make(&s, round / 2 % 5 == 4 ? PMB_RAY_MAXIMUM : round / 2 % 5 < 2 ? PMB_RAY_ISOSURFACE : PMB_RAY_COMPOSITE);
    set_isovalues(&s, 1, 0, 1, round / 2 % 5 ? 0.5 : 1);
    set_table(&s, TABLE, -1, 1, 1, 1, &rng);
    for (int n = 0; n < TABLE; n++) s.table[4 * n + 3] = (float)(n > 500 ? 0.9 : 0);
    place_camera(&s, &v.view, CAMERA_PERSPECTIVE, &rng);
    s.r.shade = 1;
    s.r.preintegrate = round / 2 % 5 == 3;
    s.r.step = s.r.preintegrate ? 0 : 0.1;
    if (round / 2 % 5 > 1) set_planes(&s, &v.view, 1, &rng);
    cast(context, &v, &s);
    memcpy(jagged, s.colors, sizeof jagged);
    s.r.pixel_samples = round < 10 ? 8 : PMB_RAY_PIXEL_SAMPLES;
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    cast_finely(context, &s, fine);
    for (int n = 0; n < 4 * PIXELS; n++) {
      const float *colors[2] = { jagged, s.colors };
      for (int i = 0; i < 2; i++) {
        const double off = fabs((double)colors[i][n] - (double)fine[n]);
        worst[i] = fmax(worst[i], off);
        sum[i] += off;
      }
      lost += n % 4 == 3 && s.r.mode == PMB_RAY_ISOSURFACE && (s.colors[n] > 0) != (s.depth[n / 4] < 1);
    }
    test_about("round %d, mode %d", round, (int)s.r.mode);
    CHECK(worst[0] > 60 / 255. && worst[1] < (round % 2 ? 112 : 40) / 255. && sum[1] < sum[0] / 3 && lost == 0,
      "worst %g/255 to %g/255, mean %g/255 to %g/255, %d depths lost", 255 * worst[0], 255 * worst[1],
      255 * sum[0] / 4 / PIXELS, 255 * sum[1] / 4 / PIXELS, lost);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(boxes)
  CASE(thin_volumes)
  CASE(intervals)
  CASE(magnitudes)
  CASE(beside_hidden_cells)
  CASE(edges)
)
