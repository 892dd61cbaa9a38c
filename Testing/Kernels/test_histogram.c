/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_histogram.c - pmb_histogram against brute force and pmb_count; isovalues that pmb_suggest gives for volumes with known
 * surfaces. */
#include <float.h>
#include <math.h>

#include "test_util.h"

enum { BINS = 24 };

typedef struct curve {
  pmb_histogram_request request;
  int64_t crossed[BINS], touched[BINS];
} curve;

static void curve_make(curve *c, double low, double high)
{
  memset(c, 0, sizeof *c);
  memset(c->crossed, 0x55, sizeof c->crossed);
  memset(c->touched, 0x55, sizeof c->touched);
  c->request = (pmb_histogram_request){ .struct_size = sizeof c->request,
    .low = low,
    .high = high,
    .bins = BINS,
    .crossed = c->crossed,
    .touched = c->touched };
}

/* Finds whether a brick has a sample at or above a value, and one below it. */
static void compare_brick(const pmb_volume *v, const int64_t first[3], double value, int *above, int *below)
{
  const int64_t size[3] = { 33, 5, 5 };
  int64_t end[3];
  *above = *below = 0;
  for (int a = 0; a < 3; a++) end[a] = first[a] + size[a] < v->dims[a] ? first[a] + size[a] : v->dims[a];
  for (int64_t k = first[2]; k < end[2]; k++)
    for (int64_t j = first[1]; j < end[1]; j++)
      for (int64_t i = first[0]; i < end[0] && !(*above && *below); i++)
        if (ref_sample_valid(v, i, j, k)) *(ref_inside(v, i, j, k, value) ? above : below) = 1;
}

/* Counts the bricks of a bin from all samples. */
static void brute_force(
  const pmb_volume *v, const pmb_histogram_request *r, int bin, int64_t *crossed, int64_t *touched)
{
  const double center = pmb_histogram_isovalue(r, bin), width = r->high - r->low;
  const double from = r->low + width * ((double)bin / BINS), to = r->low + width * ((double)(bin + 1) / BINS);
  *crossed = *touched = 0;
  for (int64_t k = 0; k < v->dims[2]; k += 4)
    for (int64_t j = 0; j < v->dims[1]; j += 4)
      for (int64_t i = 0; i < v->dims[0]; i += 32) {
        const int64_t first[3] = { i, j, k };
        int above, below, reaches, starts, unused;
        compare_brick(v, first, center, &above, &below);
        *crossed += above && below;
        compare_brick(v, first, from, &reaches, &unused);
        compare_brick(v, first, bin < BINS - 1 ? to : nextafter(r->high, INFINITY), &unused, &starts);
        *touched += reaches && starts;
      }
}

/* Checks the curve against brute force, and its crossed bricks against pmb_count's active ones. */
static void check_curve(pmb_context *context, const pmb_volume *v, const curve *c)
{
  pmb_info info = { .struct_size = sizeof info };
  for (int bin = 0; bin < BINS; bin++) {
    const double isovalue = pmb_histogram_isovalue(&c->request, bin);
    const pmb_request request = { .struct_size = sizeof request, .isovalues = &isovalue, .isovalue_count = 1 };
    pmb_sizes sizes;
    int64_t crossed, touched;
    brute_force(v, &c->request, bin, &crossed, &touched);
    CHECK(c->crossed[bin] == crossed, "bin %d, isovalue %.17g: %d, not %d bricks crossed", bin, isovalue,
      (int)c->crossed[bin], (int)crossed);
    CHECK(c->touched[bin] == touched, "bin %d, isovalue %.17g: %d, not %d bricks touched", bin, isovalue,
      (int)c->touched[bin], (int)touched);
    CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
    pmb_get_info(context, &info);
    CHECK(c->crossed[bin] == info.active_bricks, "bin %d: %d crossed, %d active", bin, (int)c->crossed[bin],
      (int)info.active_bricks);
  }
}

/* A range for the histogram: the volume's, a part of it, or more. */
static void choose_range(const pmb_info *info, int turn, double *low, double *high)
{
  const double width = info->maximum - info->minimum;
  *low = info->minimum;
  *high = info->maximum;
  if (turn % 3 == 1) {
    *low += 0.3 * width;
    *high -= 0.2 * width;
  }
  if (turn % 3 == 2 && fabs(*low) < 1e300 && fabs(*high) < 1e300) {
    *low -= 0.1 * width + 1;
    *high += 0.2 * width + 1;
  }
}

/* All types, data and layouts; hidden and non-finite samples; the types' limits; several numbers of threads and paths. */
static void against_brute_force(void)
{
  test_rng rng = { 61 };
  pmb_context *contexts[] = { context_new(3, NULL), context_new(1, "portable"), context_new(7, "reference") };
  int64_t seen = 0;
  for (int n = 0; n < (TEST_SLOW ? 60 : 300); n++) {
    curve c;
    pmb_context *context = contexts[n % 3];
    pmb_info info = { .struct_size = sizeof info };
    double low, high;
    OWNED_VOLUME v = volume_of(
      (pmb_type)(1 + n % 10), rng_int(&rng, 2, 100), rng_int(&rng, 2, 14), rng_int(&rng, 2, 14), n / 10 % LAYOUTS);
    volume_fill(&v, n % DATA_KINDS, &rng);
    if (n % 3 == 0) volume_sprinkle(&v, n % 2 ? 2000 : 20, &rng);
    if (n % 4 == 0 && n / 10 % LAYOUTS == LAYOUT_PACKED) volume_hide(&v, 300, 500, &rng);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    pmb_get_info(context, &info);
    choose_range(&info, n, &low, &high);
    test_about("volume %d, %s, data %d, %g to %g", n, type_name(v.view.type), n % DATA_KINDS, low, high);
    if (low < high && isfinite(high - low)) {
      curve_make(&c, low, high);
      CHECK_STATUS(context, pmb_histogram(context, &c.request), PMB_OK);
      check_curve(context, &v.view, &c);
      for (int i = 0; i < BINS; i++) seen += c.crossed[i];
    }
  }
  CHECK(seen > 10000, "only %d bricks crossed in all", (int)seen);
  for (int c = 0; c < 3; c++) pmb_destroy(contexts[c]);
}

static void bad_arguments(void)
{
  static const double ranges[][2] = { { 1, 1 }, { 2, 1 }, { NAN, 1 }, { 0, NAN }, { -INFINITY, 1 }, { 0, INFINITY } };
  static const test_wrong list[] = {
    WRONG(pmb_histogram_request, bins, 0, "bins"),
    WRONG(pmb_histogram_request, bins, PMB_HISTOGRAM_MOST + 1, "bins"),
    WRONG(pmb_histogram_request, struct_size, sizeof(pmb_histogram_request) - 1, "struct_size"),
  };
  OWNED_CONTEXT context = context_new(1, NULL);
  curve c;
  double isovalue;
  int64_t count = 7;
  curve_make(&c, 0, 1);
  CHECK_STATUS(context, pmb_histogram(context, &c.request), PMB_INVALID); /* nothing is bound */
  CHECK_STATUS(context, pmb_suggest(context, 1, &isovalue, &count), PMB_INVALID);
  CHECK(count == 0, "%d suggestions", (int)count);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 20, cayley);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    curve_make(&c, ranges[i][0], ranges[i][1]);
    CHECK_REFUSED(context, pmb_histogram(context, &c.request), PMB_INVALID, "smaller one first");
  }
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    curve_make(&c, 0, 1);
    test_set_wrong(&c.request, list + i);
    CHECK_REFUSED(context, pmb_histogram(context, &c.request), PMB_INVALID, list[i].word);
  }
  CHECK_STATUS(context, pmb_histogram(context, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_suggest(context, 1, NULL, &count), PMB_INVALID);
  CHECK_STATUS(context, pmb_suggest(context, -1, &isovalue, &count), PMB_INVALID);
  CHECK_STATUS(context, pmb_suggest(context, 1, &isovalue, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_suggest(context, 0, NULL, &count), PMB_OK);
  CHECK(pmb_histogram(NULL, &c.request) == PMB_INVALID && pmb_suggest(NULL, 0, NULL, &count) == PMB_INVALID, "NULL");
  curve_make(&c, 0, 1); /* neither array is wanted */
  c.request.crossed = c.request.touched = NULL;
  CHECK_STATUS(context, pmb_histogram(context, &c.request), PMB_OK);
}

/* Volumes without a surface. */
static void nothing_to_cross(void)
{
  static const int64_t sizes[][3] = { { 40, 9, 9 }, { 40, 9, 9 }, { 40, 9, 1 }, { 1, 9, 9 } };
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int n = 0; n < 4; n++) {
    curve c;
    double isovalue;
    int64_t count = 7, crossed = 0, touched = 0;
    OWNED_VOLUME v = volume_of(PMB_FLOAT32, sizes[n][0], sizes[n][1], sizes[n][2], LAYOUT_PACKED);
    for (int64_t i = 0; i < ref_samples(&v.view); i++) {
      ((float *)v.memory)[i] = n == 0 ? 3 : n == 1 ? NAN : (float)(i % 7);
    }
    test_about("volume %d: constant, NaN, flat, flat", n);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    curve_make(&c, 0, 6);
    CHECK_STATUS(context, pmb_histogram(context, &c.request), PMB_OK);
    for (int i = 0; i < BINS; i++) {
      crossed += c.crossed[i];
      touched += c.touched[i];
    }
    CHECK(crossed == 0, "%d crossed", (int)crossed);
    CHECK(n > 1 || touched == (n == 0 ? ref_bricks(&v.view) : 0), "%d touched", (int)touched);
    CHECK_STATUS(context, pmb_suggest(context, 1, &isovalue, &count), PMB_OK);
    CHECK(count == 0, "%d suggestions", (int)count);
  }
}

/* From the least to the greatest double: the width of the range overflows. */
static void widest_range(void)
{
  test_rng rng = { 62 };
  curve c;
  OWNED_VOLUME v = volume_of(PMB_FLOAT64, 40, 12, 12, LAYOUT_PACKED);
  for (int64_t i = 0; i < ref_samples(&v.view); i++) ((double *)v.memory)[i] = rng_real(&rng, -1, 1) * DBL_MAX;
  OWNED_CONTEXT context = bound_context(1, &v.view);
  curve_make(&c, -DBL_MAX, DBL_MAX);
  CHECK_STATUS(context, pmb_histogram(context, &c.request), PMB_OK);
  for (int i = 1; i < BINS - 1; i++) CHECK(c.crossed[i] > 0, "bin %d is 0", i);
  for (int i = 1; i < BINS; i++)
    CHECK(pmb_histogram_isovalue(&c.request, i - 1) < pmb_histogram_isovalue(&c.request, i), "bin %d", i);
}

/* ---- suggestions ---- */

enum { SIDE = 96 };

/* Normally distributed noise. */
static double noise(test_rng *rng, double deviation)
{
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += rng_real(rng, 0, 1);
  return sum * deviation;
}

/* Makes balls around the middle: value `inner` up to radius a, `middle` up to b, 0 outside, over two samples each; adds noise. */
static void make_balls(
  test_volume *v, pmb_type type, double inner, double a, double middle, double b, double deviation)
{
  test_rng rng = { 63 };
  volume_make(v, type, SIDE, SIDE, SIDE, LAYOUT_PACKED);
  for (int64_t n = 0; n < SIDE * SIDE * SIDE; n++) {
    const double x = (double)(n % SIDE) - 47.7, y = (double)(n / SIDE % SIDE) - 47.4,
                 z = (double)(n / SIDE / SIDE) - 47.6, r = sqrt(x * x + y * y + z * z);
    const double in_a = fmin(fmax((a - r) / 2, 0), 1), in_b = fmin(fmax((b - r) / 2, 0), 1);
    volume_put(v, n, in_b * middle + in_a * (inner - middle) + noise(&rng, deviation));
  }
}

static int64_t suggest(const test_volume *v, double *isovalues, int64_t most)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  int64_t count = -1;
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, pmb_suggest(context, most, isovalues, &count), PMB_OK);
  return count;
}

/* Checks that the best suggestion lies between two values. */
static void suggests_between(const test_volume *v, double low, double high)
{
  double isovalue = NAN;
  const int64_t count = suggest(v, &isovalue, 1);
  CHECK(count == 1 && isovalue > low && isovalue < high, "%d suggestions, %g, not between %g and %g", (int)count,
    isovalue, low, high);
}

/* A ball of value 100 in noise: the isovalue is at least 3.5 deviations from both values. */
static void ball_in_noise(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_FLOAT64, PMB_INT16, PMB_UINT8, PMB_INT64 };
  static const double deviations[] = { 2, 6, 10 };
  for (int n = 0; n < 15; n++) {
    const double deviation = deviations[n / 5];
    OWNED_VOLUME v;
    test_about("%s, deviation %g", type_name(types[n % 5]), deviation);
    make_balls(&v, types[n % 5], 100, 25, 100, 25, deviation);
    suggests_between(&v, 3.5 * deviation, 100 - 3.5 * deviation);
  }
}

/* A core in a shell in air, as a head in CT: suggests both boundaries first. Soft tissue with few bones: suggests the skin first,
 * and a third isovalue above it. */
static void three_surfaces(void)
{
  for (int bones = 0; bones < 2; bones++) {
    double got[4] = { NAN, NAN, NAN, NAN };
    OWNED_VOLUME v;
    make_balls(&v, PMB_INT16, bones ? 1200 : 1000, bones ? 12 : 30, 300, bones ? 42 : 45, 12);
    const int64_t count = suggest(&v, got, 4);
    test_about("bones %d: %d suggestions, %g, %g, %g", bones, (int)count, got[0], got[1], got[2]);
    CHECK(count == 3 && fabs(got[1] - got[2]) > 40, "not three isovalues");
    const double low = fmin(got[0], got[1]), high = fmax(got[0], got[1]);
    CHECK(low > 40 && low < 260 && (!bones || low == got[0]), "the skin is at %g", low);
    CHECK(high > 345 - 300 * bones && high < (bones ? 1250 : 955), "the inner boundary is at %g", high);
    CHECK(!bones || (got[2] > low && got[2] < 1250), "the third isovalue is %g", got[2]);
    suggests_between(&v, got[0] - 1e-9, got[0] + 1e-9);
  }
}

/* All isovalues of a mask give the same surface: one suggestion. */
static void one_surface(void)
{
  double isovalues[4];
  OWNED_VOLUME v;
  make_balls(&v, PMB_UINT8, 1, 30, 1, 30, 0);
  const int64_t count = suggest(&v, isovalues, 4);
  test_about("%d suggestions, %g", (int)count, isovalues[0]);
  CHECK(count == 1 && isovalues[0] > 0 && isovalues[0] <= 1, "not one isovalue");
}

/* A mask of an object so thin that no brick lies inside it, and its inverse: suggests halfway between the two values. */
static void thin_mask(void)
{
  for (int inside = 0; inside < 2; inside++) {
    OWNED_VOLUME v;
    make_balls(&v, PMB_UINT8, 0, 0, 1, 16, 0);
    for (int64_t i = 0; i < ref_samples(&v.view); i++) volume_put(&v, i, (volume_get(&v, i) > 0) == inside);
    suggests_between(&v, 0.4, 0.6);
  }
}

/* One extreme sample above all others, then also one below, must not hide the surface. */
static void one_wild_sample(void)
{
  OWNED_VOLUME v;
  make_balls(&v, PMB_FLOAT32, 100, 25, 100, 25, 5);
  volume_set(&v, 3, 3, 3, 1e30);
  suggests_between(&v, 17, 83);
  volume_set(&v, 90, 90, 90, -1e20);
  suggests_between(&v, 17, 83);
}

/* Sets the samples of a region: a border, a corner, the outside of a cylinder, 1% or 60% at random. */
static void fill_region(test_volume *v, int region, double value)
{
  test_rng rng = { 67 };
  for (int64_t n = 0; n < ref_samples(&v->view); n++) {
    const int i = (int)(n % SIDE), j = (int)(n / SIDE % SIDE), k = (int)(n / SIDE / SIDE),
              chance = rng_int(&rng, 0, 99);
    const int inside[] = { i < 3 || k > SIDE - 3,
      i < 40 && j < 30 && k<30, (i - 48) * (i - 48) + (j - 48) * (j - 48)> 46 * 46, chance < 1, chance < 60 };
    if (inside[region]) volume_put(v, n, value);
  }
}

/* Makes air, a body and its core, with noise as in CT, or a smooth field. */
static void make_scene(test_volume *v, pmb_type type, int scene)
{
  test_rng rng = { 68 };
  make_balls(v, type, scene == 1 ? 1000 : 300, 20, 300, 36, 0);
  for (int64_t n = 0; n < ref_samples(&v->view); n++) {
    const int64_t i = n % SIDE, j = n / SIDE % SIDE, k = n / SIDE / SIDE;
    const double s = volume_get(v, n);
    const double air = scene == 0 || s < 300 ? -1000 + s * 1300 / 300 : s;
    volume_put(v, n, scene == 2 ? 100 * cayley(i / 48. - 1, j / 48. - 1, k / 48. - 1) : air + noise(&rng, 30));
  }
}

/* Makes the histogram of a volume over its range. Returns the number of bricks in the fullest bin. */
static int64_t most_crossed(const test_volume *v, curve *c)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_info info = { .struct_size = sizeof info };
  int64_t most = 0;
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  pmb_get_info(context, &info);
  curve_make(c, info.minimum, info.maximum);
  CHECK_STATUS(context, pmb_histogram(context, &c->request), PMB_OK);
  for (int i = 0; i < BINS; i++) most = c->crossed[i] > most ? c->crossed[i] : most;
  return most;
}

/* Whether an isovalue shows a surface of the volume without fill values. In scenes 0 and 1 it lies four deviations (of 30)
 * from air, body and core; in scene 2 its bin has at least 0.9 of the fullest bin's bricks. Scattered fill values hide one end
 * of a brick's range: then two deviations and 0.25 suffice. */
static int is_good(const test_volume *clean, int scene, int scattered, double isovalue)
{
  curve c;
  if (scene < 2) {
    const double away = scattered ? 60 : 120;
    return (isovalue > -1000 + away && isovalue < 300 - away) ||
      (scene == 1 && isovalue > 300 + away && isovalue < 1000 - away);
  }
  const int64_t most = most_crossed(clean, &c);
  const int bin = (int)((isovalue - c.request.low) / (c.request.high - c.request.low) * BINS);
  return bin >= 0 && bin < BINS && (double)c.crossed[bin] > (scattered ? 0.25 : 0.9) * (double)most;
}

/* A fill value in a region, or in 1% or 60% of the samples, does not hide the data's surfaces. */
static void fill_values(void)
{
  static const double values[] = { -1e30, 1e20, FLT_MAX, -32768, -9999, -3024, -2000 };
  for (int scene = 0; scene < 3; scene++)
    for (int n = -1; n < 7 * 5; n++) { /* -1: no fill value */
      const double value = n < 0 ? NAN : values[n / 5];
      double got[4] = { NAN };
      const int integers = value > -40000 && value < 0 && n % 2, region = n % 5;
      test_volume v, clean;
      if (n >= 0 && (n / 5 + n % 5 + scene) % 3) continue;    /* a third of the combinations suffices */
      if (scene == 2 && value > -4000 && value < 0) continue; /* a field has no air */
      make_scene(&v, integers ? PMB_INT16 : PMB_FLOAT32, scene);
      make_scene(&clean, integers ? PMB_INT16 : PMB_FLOAT32, scene);
      if (n >= 0) fill_region(&v, region, value);
      const int64_t count = suggest(&v, got, 4);
      test_about("scene %d, %g, region %d: %d suggestions, %g", scene, value, region, (int)count, got[0]);
      CHECK(count >= 1 && is_good(&clean, scene, region > 2, got[0]), "no surface of the data");
      volume_free(&v);
      volume_free(&clean);
    }
}

/* A constant background around a body with noise is no fill value: the surface lies between the two. */
static void background_is_no_fill(void)
{
  static const double bodies[] = { 300, 30000 };
  for (int n = 0; n < 4; n++) {
    const double body = bodies[n % 2], sign = n < 2 ? 1 : -1;
    test_rng rng = { 69 };
    OWNED_VOLUME v;
    make_balls(&v, PMB_FLOAT32, 0, 0, 1, 30, 0);
    for (int64_t i = 0; i < ref_samples(&v.view); i++) {
      float *s = (float *)v.memory + i;
      *s = (float)(*s < 0.5f ? 0 : sign * (body + noise(&rng, 10)));
    }
    suggests_between(&v, sign > 0 ? 0.1 * body : 40 - body, sign > 0 ? body - 40 : -0.1 * body);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(against_brute_force)
  CASE(bad_arguments)
  CASE(nothing_to_cross)
  CASE(widest_range)
  CASE(ball_in_noise)
  CASE(three_surfaces)
  CASE(one_surface)
  CASE(thin_mask)
  CASE(one_wild_sample)
  CASE(fill_values)
  CASE(background_is_no_fill)
)
