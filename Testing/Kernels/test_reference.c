/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_reference.c - the core against the brute-force mesh of reference.c, on random volumes. */
#include "test_util.h"

/* Number of bricks with a non-finite sample, halo included. */
static int64_t bricks_not_finite(const pmb_volume *v)
{
  const int64_t *d = v->dims;
  int64_t count = 0;
  for (int64_t n = 0; n < ref_bricks(v); n++) {
    const int64_t nx = (d[0] + 31) / 32, ny = (d[1] + 3) / 4;
    const int64_t x = n % nx * 32, y = n / nx % ny * 4, z = n / nx / ny * 4;
    int found = 0;
    for (int64_t k = z; k <= z + 4 && k < d[2]; k++)
      for (int64_t j = y; j <= y + 4 && j < d[1]; j++)
        for (int64_t i = x; i <= x + 32 && i < d[0]; i++) found |= !ref_sample_valid(v, i, j, k);
    count += found;
  }
  return count;
}

/* Checks range and bricks of the bound volume. */
static void judge_info(pmb_context *context, const test_volume *v)
{
  pmb_info info = { .struct_size = sizeof info };
  const int64_t *d = v->view.dims;
  double low = 0, high = -1;
  for (int64_t n = 0; n < ref_samples(&v->view); n++) {
    const double value = volume_get(v, n);
    if (!ref_sample_valid(&v->view, n % d[0], n / d[0] % d[1], n / (d[0] * d[1]))) continue;
    if (low > high) low = high = value;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
  CHECK(low > high ? info.minimum > info.maximum : info.minimum == low && info.maximum == high,
    "range [%.17g, %.17g], not [%.17g, %.17g]", info.minimum, info.maximum, low, high);
  if (d[0] < 2 || d[1] < 2 || d[2] < 2 || v->view.sample_flags) return;
  CHECK(info.bricks == ref_bricks(&v->view), "%lld bricks", (long long)info.bricks);
  CHECK(info.nonfinite_bricks == bricks_not_finite(&v->view), "%lld bricks are not finite, not %lld",
    (long long)info.nonfinite_bricks, (long long)bricks_not_finite(&v->view));
}

enum { ISOVALUES = TEST_SLOW == 2 ? 1 : 4 };

/* Compares some isovalues of a volume, bound once, with and without degenerate triangles, for all types of output. */
static void compare(pmb_context *context, const test_volume *v, test_rng *rng)
{
  if (!CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK)) return;
  judge_info(context, v);
  for (int n = 0; n < ISOVALUES; n++)
    judge_isovalue(context, v, volume_isovalue(v, rng), n % 2, (int)rng_int(rng, 0, 11));
}

static void compare_random(pmb_context *context, int64_t nx, int64_t ny, int64_t nz, test_rng *rng)
{
  OWNED_VOLUME v;
  volume_random(&v, nx, ny, nz, rng);
  compare(context, &v, rng);
}

/* Every size from 1 to 70 along each axis, the others small: all residues of the brick on every axis. */
static void every_size(void)
{
  test_rng rng = { 100 };
  OWNED_CONTEXT context = context_new(1, NULL);
  for (int n = 0; n < (TEST_SLOW ? 70 : 2 * 210); n++) {
    int64_t d[3];
    for (int a = 0; a < 3; a++) d[a] = a == n % 3 ? 1 + (TEST_SLOW ? n : n / 3) % 70 : rng_int(&rng, 2, a ? 11 : 40);
    compare_random(context, d[0], d[1], d[2], &rng);
  }
}

/* The counts have no common divisor: each kind of data meets each layout and each world. */
static void every_type_data_layout_and_world(void)
{
  test_rng rng = { 11 };
  OWNED_CONTEXT context = context_new(3, NULL);
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int n = 0; n < (TEST_SLOW == 2 ? 2 : TEST_SLOW ? 7 : 45); n++) {
      OWNED_VOLUME v =
        volume_of((pmb_type)type, rng_int(&rng, 2, 69), rng_int(&rng, 2, 14), rng_int(&rng, 2, 10), n % LAYOUTS);
      volume_fill(&v, n % DATA_KINDS, &rng);
      volume_world(&v, n / 2 % WORLDS, &rng);
      test_about("%s, volume %d", type_name((pmb_type)type), n);
      compare(context, &v, &rng);
    }
}

/* Differences that are 0 in double, isovalues beyond 2^53, and both ends of the type next to each other. */
static void integers_of_64_bits_near_their_ends(void)
{
  static const int64_t dims[3] = { 70, 11, 10 };
  static const int runs[] = { 1, 3, 40 };
  test_rng rng = { 17 };
  for (int n = 0; n < 3 * WIDE_VOLUMES; n += TEST_SLOW ? 5 * TEST_SLOW : 1) {
    OWNED_VOLUME v;
    double isovalues[WIDE_ISOVALUES];
    int64_t triangles = 0;
    OWNED_CONTEXT context = context_new(2, n / WIDE_VOLUMES % 2 ? "portable" : NULL);
    volume_wide(&v, n % WIDE_VOLUMES, runs[n / WIDE_VOLUMES], dims, &rng, isovalues);
    volume_world(&v, n % WORLDS, &rng);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    judge_info(context, &v);
    for (int i = 0; i < 4 * WIDE_ISOVALUES; i++)
      triangles += judge_isovalue(context, &v, isovalues[i / 4], i % 2, n + i / 2 % 2).triangles;
    CHECK(triangles > 500, "only %lld triangles", (long long)triangles);
  }
}

/* From a single NaN to hardly any finite sample; from one hidden sample or cell to all. */
static void non_finite_and_hidden(void)
{
  static const int every[] = { 0, 1, 2, 3, 5, 9, 20, 60, 200, 1000, 4000 };
  test_rng rng = { 14 };
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int n = 0; n < (TEST_SLOW == 2 ? 22 : TEST_SLOW ? 60 : 400); n++) {
    const int non_finite = every[n % 11], samples = n % 3 ? every[n / 3 % 11] : 0,
              cells = n % 3 != 1 ? every[n / 5 % 11] : 0;
    OWNED_VOLUME v = volume_of((pmb_type)(n % 2 ? PMB_FLOAT32 + n / 2 % 2 : PMB_INT8 + n / 2 % 10),
      rng_int(&rng, 1, 70), rng_int(&rng, 1, 14), rng_int(&rng, 1, 11), n % 7 ? LAYOUT_PACKED : LAYOUT_NEGATIVE);
    volume_fill(&v, n % DATA_KINDS, &rng);
    if (non_finite) volume_sprinkle(&v, non_finite, &rng);
    volume_hide(&v, samples, cells, &rng);
    volume_world(&v, n / 2 % (WORLD_SHEARED + 1), &rng);
    test_about("volume %d, %s, non-finite 1/%d, hidden samples 1/%d, cells 1/%d", n, type_name(v.view.type),
      non_finite, samples, cells);
    compare(context, &v, &rng);
  }
}

/* All 256 cases of a cell, and random pairs of cells. */
static void every_case_of_a_cell(void)
{
  test_rng rng = { 15 };
  OWNED_CONTEXT context = context_new(1, NULL);
  for (int n = 0; n < 256 + 500; n++) {
    OWNED_VOLUME v = volume_of(PMB_UINT8, n < 256 ? 2 : 3, 2, 2, LAYOUT_PACKED);
    for (int s = 0; s < (n < 256 ? 8 : 12); s++)
      volume_put(&v, s, (double)(n < 256 ? n >> s & 1 : rng_int(&rng, 0, 2)));
    test_about("volume %d of a few samples", n);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    for (int m = 0; m < 8; m++) judge_isovalue(context, &v, (m / 2 + 1) / 2.0, m % 2, n);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(every_case_of_a_cell)
  CASE(every_size)
  CASE(every_type_data_layout_and_world)
  CASE(integers_of_64_bits_near_their_ends)
  CASE(non_finite_and_hidden)
)
