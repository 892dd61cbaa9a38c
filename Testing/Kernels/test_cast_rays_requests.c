/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_cast_rays_requests.c - threads and paths, wrong requests. */
#include <stdio.h>

#include "rays_shots.h"

/* Any number of threads and any path give the same bytes. */
static void threads_and_paths(void)
{
  pmb_context *contexts[TEST_PATHS];
  for (int c = 0; c < TEST_PATHS; c++) contexts[c] = context_on_path(c);
  for (int round = 0; round < 50; round++) {
    test_rng rng = { 611 + (uint64_t)round };
    static shot first, s;
    OWNED_VOLUME v;
    any_shot(&s, &v, round, (pmb_ray_mode)(round % 5), &rng);
    s.r.preintegrate = round / 5 % 2;
    s.r.pixel_samples = round % 4;
    if (round % 4 == 1) set_planes(&s, &v.view, 2, &rng);
    if (round % 3 == 0) volume_hide(&v, 200, 200, &rng);
    if (round % 3 == 1) volume_sprinkle(&v, 200, &rng);
    for (int c = 0; c < TEST_PATHS; c++) {
      if (!contexts[c]) continue;
      memset(s.colors, c, sizeof s.colors);
      CHECK_STATUS(contexts[c], pmb_bind(contexts[c], &v.view), PMB_OK);
      CHECK_STATUS(contexts[c], pmb_cast_rays(contexts[c], &s.r), PMB_OK);
      if (c == 0) first = s;
      CHECK(!memcmp(first.colors, s.colors, sizeof s.colors) && !memcmp(first.depth, s.depth, sizeof s.depth),
        "round %d, path %d: another picture", round, c);
    }
  }
  for (int c = 0; c < TEST_PATHS; c++) pmb_destroy(contexts[c]);
}

/* ---- empty pictures and invalid requests ---- */

/* Boxes, planes and limits that leave nothing, and volumes without a cell. */
static void nothing_to_see(void)
{
  static const int64_t sizes[][3] = { { 1, 20, 20 }, { 20, 1, 20 }, { 20, 20, 1 }, { 1, 1, 1 }, { 20, 20, 20 },
    { 20, 20, 20 }, { 20, 20, 20 }, { 20, 20, 20 }, { 20, 20, 20 } };
  OWNED_CONTEXT context = context_new(2, NULL);
  test_rng rng = { 571 };
  for (int n = 0; n < 9 * 5; n++) {
    const int64_t *size = sizes[n / 5];
    static const double beyond[6] = { 40, 50, 0, 19, 0, 19 };
    static shot s;
    int seen = 0;
    OWNED_VOLUME v = volume_of(PMB_FLOAT32, size[0], size[1], size[2], LAYOUT_PACKED);
    fill_field(&v, FIELD_GYROID, 0, 1, &rng);
    shot_make(&s, (pmb_ray_mode)(n % 5));
    set_isovalues(&s, 3, 0, 1, 1);
    set_table(&s, TABLE, -1, 1, 1, 1, &rng);
    place_camera(&s, &v.view, CAMERA_PERSPECTIVE, &rng);
    if (n / 5 == 4) memcpy(s.r.box, beyond, sizeof beyond);
    s.r.plane_count = n / 5 == 5;
    s.planes[3] = -1; /* keeps nothing: 0 >= 1 */
    if (n / 5 == 6) s.r.depth_limit = s.limits;
    if (n / 5 == 7) s.r.world_to_clip[3] += 1000;
    for (int i = 0; i < ref_samples(&v.view) && n / 5 == 8; i++) volume_put(&v, i, NAN);
    test_about("part %d, mode %d", n / 5, n % 5);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    for (int i = 0; i < 4 * PIXELS; i++) seen += s.colors[i] != 0 || s.depth[i / 4] != 1;
    CHECK(seen == 0, "%d colors or depths are not empty", seen);
  }
}

/* Samples at the limits of their types, also with long steps over jumps whose height overflows: all colors, opacities and depths are from 0 to 1. */
static void extreme_samples(void)
{
  test_rng rng = { 651 };
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int round = 0; round < 100; round++) {
    static shot s;
    int bad = 0;
    OWNED_VOLUME v = volume_of((pmb_type)(1 + round % 10), 40, 9, 10, LAYOUT_PACKED);
    volume_fill(&v, round % 4 ? DATA_LIMITS : DATA_NOISE, &rng);
    if (round % 3 == 0) volume_sprinkle(&v, 10, &rng);
    shot_make(&s, (pmb_ray_mode)(round / 10 % 5));
    s.r.shade = round % 2;
    s.r.preintegrate = round / 50;
    s.r.step = round % 7 ? 0 : 5;
    set_isovalues(&s, 3, volume_isovalue(&v, &rng), 0.1, 0.5f);
    set_table(&s, TABLE, round % 3 ? -1 : -1e308, round % 3 ? 1 : 1e307, 5, 0.8, &rng);
    place_camera(&s, &v.view, round % CAMERAS, &rng);
    test_about("round %d, %s, mode %d", round, type_name(v.view.type), (int)s.r.mode);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    for (int n = 0; n < 4 * PIXELS; n++)
      bad += !(s.colors[n] >= 0 && s.colors[n] <= 1 && s.depth[n / 4] >= 0 && s.depth[n / 4] <= 1);
    CHECK(bad == 0, "%d numbers are not from 0 to 1", bad);
  }
}

static void bad_members(void)
{
  static const test_wrong list[] = {
    WRONG(pmb_ray_request, struct_size, sizeof(pmb_ray_request) - 1, "struct_size"),
    WRONG(pmb_ray_request, struct_size, 0, "struct_size"),
    WRONG(pmb_ray_request, mode, -1, "mode"),
    WRONG(pmb_ray_request, mode, 5, "mode"),
    WRONG(pmb_ray_request, width, 0, "pixels"),
    WRONG(pmb_ray_request, width, -1, "pixels"),
    WRONG(pmb_ray_request, height, 0, "pixels"),
    WRONG(pmb_ray_request, height, -7, "pixels"),
    WRONG(pmb_ray_request, pixel_samples, -1, "pixel_samples"),
    WRONG(pmb_ray_request, pixel_samples, PMB_RAY_PIXEL_SAMPLES + 1, "pixel_samples"),
    WRONG(pmb_ray_request, isovalues, 0, "isovalue"),
    WRONG(pmb_ray_request, isovalue_count, -1, "isovalue"),
    WRONG(pmb_ray_request, isovalue_count, PMB_RAY_ISOVALUES + 1, "isovalue"),
    WRONG(pmb_ray_request, lights, 0, "light"),
    WRONG(pmb_ray_request, light_count, -1, "light"),
    WRONG(pmb_ray_request, light_count, PMB_RAY_LIGHTS + 1, "light"),
    WRONG(pmb_ray_request, planes, 0, "plane"),
    WRONG(pmb_ray_request, plane_count, -1, "plane"),
    WRONG(pmb_ray_request, plane_count, PMB_RAY_PLANES + 1, "plane"),
    WRONG(pmb_ray_request, colors, 0, "colors"),
  };
  static const test_wrong of_tables[] = { WRONG(pmb_ray_request, table, 0, "table"),
    WRONG(pmb_ray_request, table_size, 1, "table"), WRONG(pmb_ray_request, table_size, -1, "table"),
    WRONG(pmb_ray_request, table_size, PMB_RAY_TABLE + 1, "table") };
  for (int mode = 0; mode < 5; mode++) {
    static shot s, good;
    OWNED_VOLUME v;
    OWNED_CONTEXT context = good_shot(&good, &v, (pmb_ray_mode)mode, 1);
    const size_t count = mode ? sizeof of_tables / sizeof *of_tables : sizeof list / sizeof *list;
    for (size_t n = 0; n < count; n++) {
      const test_wrong *wrong = mode ? of_tables + n : list + n;
      shot_copy(&s, &good);
      test_set_wrong(&s.r, wrong);
      test_about("mode %d, wrong member %d: %s", mode, (int)n, wrong->word);
      CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, wrong->word);
      CHECK(strstr(pmb_error(context), "pmb_cast_rays") || strstr(pmb_error(context), "pmb_ray_request"),
        "\"%s\" does not name the function", pmb_error(context));
    }
    CHECK_STATUS(context, pmb_cast_rays(context, NULL), PMB_INVALID);
    CHECK(pmb_cast_rays(NULL, &good.r) == PMB_INVALID, "no context");
    shot_copy(&s, &good);
    s.r.step = 1e-9; /* more samples than a ray may have */
    CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, "step");
    pmb_unbind(context);
    CHECK_REFUSED(context, pmb_cast_rays(context, &good.r), PMB_INVALID, "pmb_cast_rays");
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, pmb_cast_rays(context, &good.r), PMB_OK);
  }
}

/* A number in a shot: its offset and type, how many of bad_numbers' values it must refuse, and the modes that check it. */
typedef struct number {
  size_t at;
  int is_float, most, first_mode, last_mode;
} number;

/* Non-finite and negative numbers where they mean nothing, and colors outside 0 to 1. */
static void bad_numbers(void)
{
  static const number list[] = { { offsetof(shot, r.world_to_clip[6]), 0, 3, 0, 4 },
    { offsetof(shot, r.step), 0, 4, 0, 4 }, { offsetof(shot, r.box[3]), 0, 3, 0, 4 },
    { offsetof(shot, planes[1]), 0, 3, 0, 4 }, { offsetof(shot, isovalues[1].value), 0, 3, 0, 0 },
    { offsetof(shot, isovalues[1].color[2]), 1, 5, 0, 0 }, { offsetof(shot, isovalues[2].color[3]), 1, 5, 0, 0 },
    { offsetof(shot, r.table_low), 0, 3, 1, 4 }, { offsetof(shot, r.table_high), 0, 4, 1, 4 },
    { offsetof(shot, r.table_unit), 0, 4, 1, 1 }, { offsetof(shot, table[9]), 1, 5, 1, 4 },
    { offsetof(shot, table[4 * TABLE - 1]), 1, 5, 1, 4 }, { offsetof(shot, lights[0].position[1]), 0, 3, 0, 1 },
    { offsetof(shot, lights[0].color[1]), 1, 3, 0, 1 }, { offsetof(shot, r.ambient), 1, 3, 0, 1 },
    { offsetof(shot, lights[0].direction[2]), 1, 3, 0, 1 }, { offsetof(shot, lights[0].cone_cosine), 1, 5, 0, 1 },
    { offsetof(shot, lights[0].exponent), 1, 4, 0, 1 }, { offsetof(shot, lights[0].attenuation[1]), 1, 4, 0, 1 },
    { offsetof(shot, r.placement[6]), 0, 4, 0, 1 }, { offsetof(shot, r.diffuse), 1, 3, 0, 1 },
    { offsetof(shot, r.specular), 1, 3, 0, 1 }, { offsetof(shot, r.specular_power), 1, 4, 0, 1 } };
  static const double wrong[] = { NAN, INFINITY, -INFINITY, -1, 1.5 };
  static shot good, s;
  for (int mode = 0; mode < 5; mode++) {
    OWNED_VOLUME v;
    OWNED_CONTEXT context = good_shot(&good, &v, (pmb_ray_mode)mode, 1);
    good.r.shade = 1;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
      for (int n = 0; n < list[i].most && mode >= list[i].first_mode && mode <= list[i].last_mode; n++) {
        shot_copy(&s, &good);
        if (list[i].is_float)
          *(float *)((char *)&s + list[i].at) = (float)wrong[n];
        else
          *(double *)((char *)&s + list[i].at) = wrong[n];
        test_about("mode %d, number %d is %g", mode, (int)i, wrong[n]);
        CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, "pmb_cast_rays");
      }
  }
}

/* Singular matrices are refused. Other degenerate ones may be; their pictures have only numbers from 0 to 1. */
static void degenerate_cameras(void)
{
  static shot s;
  OWNED_VOLUME v;
  OWNED_CONTEXT context = good_shot(&s, &v, PMB_RAY_ISOSURFACE, 2);
  double good[16];
  test_rng rng = { 591 };
  memcpy(good, s.r.world_to_clip, sizeof good);
  for (int n = 0; n < 8; n++) { /* singular */
    double *m = s.r.world_to_clip;
    memcpy(m, good, sizeof good);
    if (n < 4) memset(m + 4 * n, 0, 4 * sizeof *m);
    if (n == 4) memcpy(m + 8, m + 12, 4 * sizeof *m);
    for (int r = 0; r < 4 && n == 5; r++) m[4 * r + 1] = 0;
    if (n == 6) memset(m, 0, sizeof good);
    if (n == 7) memcpy(m, m + 4, 4 * sizeof *m);
    test_about("singular matrix %d", n);
    CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, "pmb_cast_rays");
  }
  for (int n = 0; n < 300; n++) {
    static const double numbers[] = { 0, 0, 1, -1, 2, 1e-300, 1e300, -1e300, 1e-12, 1e12, 3e-39, 1e308, 0.5 };
    const int changes = (int)rng_int(&rng, 1, 4);
    memcpy(s.r.world_to_clip, good, sizeof good);
    for (int c = 0; c < changes; c++) s.r.world_to_clip[rng_int(&rng, 0, 15)] = numbers[rng_int(&rng, 0, 12)];
    for (int i = 0; i < 16 && n % 5 == 0; i++) s.r.world_to_clip[i] = numbers[rng_int(&rng, 0, 12)];
    s.r.mode = (pmb_ray_mode)(n % 5);
    s.r.step = n % 7 ? 0 : 1;
    s.r.preintegrate = n / 5 % 2;
    const pmb_status status = pmb_cast_rays(context, &s.r);
    test_about("camera %d", n);
    CHECK(status == PMB_OK || status == PMB_INVALID, "%s: %s", pmb_status_text(status), pmb_error(context));
    int bad = 0;
    for (int i = 0; i < 4 * PIXELS && status == PMB_OK; i++)
      bad += !(s.colors[i] >= 0 && s.colors[i] <= 1 && s.depth[i / 4] >= 0 && s.depth[i / 4] <= 1);
    CHECK(bad == 0, "%d numbers of the picture are outside 0 to 1", bad);
  }
}

static void bad_color_by_and_gradients(void)
{
  static const pmb_attribute attributes[] = { { .type = PMB_FLOAT32, .components = 1 },
    { .samples = "", .type = (pmb_type)0, .components = 1 }, { .samples = "", .type = (pmb_type)11, .components = 1 },
    { .samples = "", .type = PMB_UINT8, .components = 3 } };
  static const double highs[] = { 0, -1, NAN, INFINITY };
  static const int sizes[] = { 1, -1, PMB_RAY_TABLE + 1 };
  static const float factors[] = { NAN, -0.1f, 1.1f };
  static shot s;
  OWNED_VOLUME v;
  test_rng rng = { 582 };
  OWNED_CONTEXT context = good_shot(&s, &v, PMB_RAY_ISOSURFACE, 1);
  for (size_t n = 0; n < sizeof attributes / sizeof *attributes; n++) {
    s.r.color_by = &attributes[n];
    CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, "color_by");
  }
  set_color_by(&s, &v.view, PMB_UINT8, &rng);
  s.r.table_size = 1;
  CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, "table");
  s.r.table_size = TABLE;
  CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
  s.r.mode = PMB_RAY_COMPOSITE;
  for (int n = 0; n < 11; n++) {
    set_gradients(&s, n < 4 ? highs[n] : 1, &rng);
    s.r.gradient_size = n >= 4 && n < 7 ? sizes[n - 4] : KNOTS;
    s.gradients[KNOTS - 1] = n >= 7 && n < 10 ? factors[n - 7] : 1;
    test_about("gradient table %d", n);
    if (n < 10) CHECK_REFUSED(context, pmb_cast_rays(context, &s.r), PMB_INVALID, "gradient_table");
  }
  CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
  volume_free(&s.other);
}

/* A context keeps the tables of its last picture. After any change its picture equals that of a new context. */
static void changed_tables(void)
{
  static shot s, fresh;
  OWNED_VOLUME v;
  test_rng rng = { 583 };
  OWNED_CONTEXT context = good_shot(&s, &v, PMB_RAY_COMPOSITE, 1);
  set_color_by(&s, &v.view, PMB_INT16, &rng);
  set_gradients(&s, 0.3, &rng);
  s.r.table_low = -1;
  s.r.table_high = 1;
  for (int n = 0; n < 60; n++) {
    switch (n < 11 ? n : rng_int(&rng, 0, 10)) {
      case 0:
        break;
      case 1:
        s.table[rng_int(&rng, 0, 4 * TABLE - 1)] = (float)rng_real(&rng, 0, 1);
        break;
      case 2:
        s.gradients[rng_int(&rng, 0, KNOTS - 1)] = (float)rng_real(&rng, 0, 1);
        break;
      case 3:
        s.r.table_unit = rng_real(&rng, 1, 5);
        break;
      case 4:
        s.r.step = rng_real(&rng, 0.3, 1);
        break;
      case 5:
        s.r.mode = (pmb_ray_mode)rng_int(&rng, 0, 4);
        break;
      case 6:
        s.r.mode = PMB_RAY_COMPOSITE;
        break;
      case 7:
        s.r.table_size = (int)rng_int(&rng, 2, TABLE);
        break;
      case 8:
        s.r.gradient_size = (int)rng_int(&rng, 2, KNOTS);
        break;
      case 9:
        s.r.gradient_table = s.r.gradient_table ? NULL : s.gradients;
        break;
      case 10:
        s.r.preintegrate = !s.r.preintegrate;
        break;
    }
    shot_copy(&fresh, &s);
    OWNED_CONTEXT other = bound_context(1, &v.view);
    CHECK_STATUS(other, pmb_cast_rays(other, &fresh.r), PMB_OK);
    CHECK_STATUS(context, pmb_cast_rays(context, &s.r), PMB_OK);
    CHECK(!memcmp(s.colors, fresh.colors, sizeof s.colors), "change %d: the picture differs", n);
  }
  volume_free(&s.other);
}

/* clang-format off */
TEST_MAIN(
  CASE(threads_and_paths)
  CASE(nothing_to_see)
  CASE(extreme_samples)
  CASE(bad_members)
  CASE(bad_numbers)
  CASE(bad_color_by_and_gradients)
  CASE(changed_tables)
  CASE(degenerate_cameras)
)
