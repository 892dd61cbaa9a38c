/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_reference.c - the core against the brute-force mesh of reference.c, on random volumes. */
#include "test_util.h"

/* Two isovalues of a volume, both ways to treat degenerate triangles, random output types. */
static void compare(pmb_context *context, const test_volume *v, test_rng *rng)
{
  if (!CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK)) return;
  for (int n = 0; n < 4; n++) {
    test_mesh m;
    double isovalue = volume_isovalue(v, rng);
    int remove_degenerate = n % 2;
    pmb_type real = rng_int(rng, 0, 1) ? PMB_FLOAT32 : PMB_FLOAT64, id = rng_int(rng, 0, 1) ? PMB_INT32 : PMB_INT64;
    pmb_status status = mesh_extract(context, &isovalue, 1, remove_degenerate, real, id, &m);
    if (CHECK_STATUS(context, status, PMB_OK)) {
      ref_mesh *r = ref_extract(&v->view, isovalue, remove_degenerate);
      int before = test_failures();
      judge_reference(&m, r);
      if (test_failures() == before) judge_topology(&m, r, remove_degenerate);
      CHECK(test_failures() == before, "isovalue %.17g, remove_degenerate %d, points %s", isovalue, remove_degenerate,
        type_name(real));
      ref_free(r);
    }
    mesh_free(&m);
  }
}

static void compare_random(pmb_context *context, int64_t nx, int64_t ny, int64_t nz, test_rng *rng)
{
  test_volume v;
  volume_random(&v, nx, ny, nz, rng);
  compare(context, &v, rng);
  volume_free(&v);
}

/* Every size from 2 to 70 along one axis, the others small: all residues of the brick on every axis. */
static void every_size(int axis)
{
  test_rng rng = { 100 + (uint64_t)axis };
  pmb_context *context = context_new(2, NULL);
  for (int64_t size = 2; size <= 70; size++)
    for (int turn = 0; turn < (TEST_SLOW ? 1 : 4); turn++) {
      int64_t d[3];
      for (int a = 0; a < 3; a++) d[a] = a == axis ? size : rng_int(&rng, 2, a ? 11 : 40);
      compare_random(context, d[0], d[1], d[2], &rng);
    }
  pmb_destroy(context);
}

static void every_size_along_x(void)
{
  every_size(0);
}

static void every_size_along_y(void)
{
  every_size(1);
}

static void every_size_along_z(void)
{
  every_size(2);
}

static void random_boxes_up_to_70(void)
{
  test_rng rng = { 7 };
  pmb_context *context = context_new(0, NULL);
  for (int n = 0; n < (TEST_SLOW ? 2 : 12); n++) {
    int64_t d[3];
    for (int a = 0; a < 3; a++) d[a] = rng_int(&rng, 2, 70);
    compare_random(context, d[0], d[1], d[2], &rng);
  }
  pmb_destroy(context);
}

static void compare_made(pmb_context *context, int type, int data, int layout, int world, int every, test_rng *rng)
{
  test_volume v;
  volume_make(&v, (pmb_type)type, rng_int(rng, 2, 69), rng_int(rng, 2, 14), rng_int(rng, 2, 10), layout);
  volume_fill(&v, data, rng);
  if (every) volume_sprinkle(&v, every, rng);
  volume_world(&v, world, rng);
  test_about("%d x %d x %d %s, data %d, layout %d, world %d, non-finite 1/%d", (int)v.view.dims[0],
    (int)v.view.dims[1], (int)v.view.dims[2], type_name((pmb_type)type), data, layout, world, every);
  compare(context, &v, rng);
  volume_free(&v);
}

static void every_type_and_data(void)
{
  test_rng rng = { 11 };
  pmb_context *context = context_new(1, NULL);
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int data = 0; data < DATA_KINDS; data++)
      for (int turn = 0; turn < (TEST_SLOW ? 1 : 4); turn++)
        compare_made(context, type, data, LAYOUT_PACKED, WORLD_IDENTITY, 0, &rng);
  pmb_destroy(context);
}

static void every_type_and_layout(void)
{
  test_rng rng = { 12 };
  pmb_context *context = context_new(3, NULL);
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int layout = 0; layout < LAYOUTS; layout++)
      for (int turn = 0; turn < (TEST_SLOW ? 1 : 3); turn++)
        compare_made(context, type, turn % 2 ? DATA_PLATEAU : DATA_SMOOTH, layout, WORLD_SPACING, 0, &rng);
  pmb_destroy(context);
}

static void every_type_and_world(void)
{
  test_rng rng = { 13 };
  pmb_context *context = context_new(1, NULL);
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int world = 0; world < WORLDS; world++)
      for (int turn = 0; turn < (TEST_SLOW ? 1 : 3); turn++)
        compare_made(context, type, turn % 2 ? DATA_NOISE : DATA_SMOOTH, LAYOUT_PACKED, world, 0, &rng);
  pmb_destroy(context);
}

/* From a lone NaN to hardly a finite sample. */
static void non_finite_samples(void)
{
  static const int every[] = { 1, 2, 3, 5, 9, 20, 60, 200, 1000, 4000 };
  test_rng rng = { 14 };
  pmb_context *context = context_new(2, NULL);
  for (int type = PMB_FLOAT32; type <= PMB_FLOAT64; type++)
    for (size_t n = 0; n < sizeof every / sizeof *every; n++)
      for (int data = 0; data < DATA_KINDS; data++)
        for (int turn = 0; turn < (TEST_SLOW ? 1 : 3); turn++)
          compare_made(context, type, data, turn ? LAYOUT_PACKED : LAYOUT_PADDED, turn, every[n], &rng);
  pmb_destroy(context);
}

/* All 256 cases of a single cell, all 65,536 bit patterns' worth of neighbours by random 3 x 2 x 2 volumes. */
static void every_case_of_a_cell(void)
{
  test_rng rng = { 15 };
  pmb_context *context = context_new(1, NULL);
  for (int n = 0; n < 256 + 500; n++) {
    test_volume v;
    int single = n < 256;
    volume_make(&v, PMB_UINT8, single ? 2 : 3, 2, 2, LAYOUT_PACKED);
    for (int s = 0; s < (single ? 8 : 12); s++)
      volume_set(&v, single ? s & 1 : s % 3, single ? s >> 1 & 1 : s / 3 % 2, single ? s >> 2 : s / 6,
        single ? (double)(n >> s & 1) : (double)rng_int(&rng, 0, 2));
    test_about("volume %d of a few samples", n);
    for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++)
      for (int half = 1; half <= 4; half++) {
        test_mesh m;
        double isovalue = half / 2.0;
        ref_mesh *r = ref_extract(&v.view, isovalue, remove_degenerate);
        CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
        CHECK_STATUS(
          context, mesh_extract(context, &isovalue, 1, remove_degenerate, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
        judge_reference(&m, r);
        judge_topology(&m, r, remove_degenerate);
        mesh_free(&m);
        ref_free(r);
      }
    volume_free(&v);
  }
  pmb_destroy(context);
}

static void facts_of_the_volume(void)
{
  test_rng rng = { 16 };
  pmb_context *context = context_new(2, NULL);
  for (int n = 0; n < 60; n++) {
    test_volume v;
    pmb_info info = { .struct_size = sizeof info };
    double low = 0, high = -1;
    volume_random(&v, rng_int(&rng, 1, 70), rng_int(&rng, 1, 12), rng_int(&rng, 1, 12), &rng);
    const int64_t *d = v.view.dims;
    for (int64_t s = 0; s < ref_samples(&v.view); s++) {
      double value = ref_sample(&v.view, s % d[0], s / d[0] % d[1], s / (d[0] * d[1]));
      if (!(value - value == 0)) continue;
      if (low > high) low = high = value;
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
    if (low > high)
      CHECK(info.minimum > info.maximum, "range [%g, %g] of no finite sample", info.minimum, info.maximum);
    else
      CHECK(info.minimum == low && info.maximum == high, "range [%.17g, %.17g], not [%.17g, %.17g]", info.minimum,
        info.maximum, low, high);
    if (d[0] > 1 && d[1] > 1 && d[2] > 1)
      CHECK(info.bricks == ref_bricks(&v.view), "%lld bricks, not %lld", (long long)info.bricks,
        (long long)ref_bricks(&v.view));
    volume_free(&v);
  }
  pmb_destroy(context);
}

/* clang-format off */
TEST_MAIN(
  CASE(every_case_of_a_cell)
  CASE(every_size_along_x)
  CASE(every_size_along_y)
  CASE(every_size_along_z)
  CASE(random_boxes_up_to_70)
  CASE(every_type_and_data)
  CASE(every_type_and_layout)
  CASE(every_type_and_world)
  CASE(non_finite_samples)
  CASE(facts_of_the_volume)
)
