/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_degenerate.c - points that fall on samples: no triangle without area, no point twice, no hole. */
#include <math.h>

#include "test_util.h"

/* A 5 x 5 x 5 volume of one value; the tests change a few samples of it. */
static void start(test_volume *v, pmb_type type, double value)
{
  volume_make(v, type, 5, 5, 5, LAYOUT_PACKED);
  for (int64_t n = 0; n < 125; n++) volume_set(v, n % 5, n / 5 % 5, n / 25, value);
}

/* Both meshes of a volume against the reference, and what must hold of the one without degenerates. Returns the
 * sizes with and without. */
static void both(test_volume *v, double isovalue, pmb_sizes sizes[2])
{
  for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++) {
    test_mesh m;
    ref_mesh *r = ref_extract(&v->view, isovalue, remove_degenerate);
    mesh_of_volume(&v->view, isovalue, remove_degenerate, &m);
    judge_reference(&m, r);
    judge_topology(&m, r, remove_degenerate);
    if (remove_degenerate) judge_no_degenerates(&m);
    sizes[remove_degenerate] = m.sizes;
    mesh_free(&m);
    ref_free(r);
  }
}

static void expect(
  test_volume *v, double isovalue, int64_t points, int64_t triangles, int64_t kept_points, int64_t kept_triangles)
{
  pmb_sizes s[2];
  both(v, isovalue, s);
  CHECK(s[0].points == points && s[0].triangles == triangles, "all: %lld points, %lld triangles, not %lld, %lld",
    (long long)s[0].points, (long long)s[0].triangles, (long long)points, (long long)triangles);
  CHECK(s[1].points == kept_points && s[1].triangles == kept_triangles,
    "kept: %lld points, %lld triangles, not %lld, %lld", (long long)s[1].points, (long long)s[1].triangles,
    (long long)kept_points, (long long)kept_triangles);
  volume_free(v);
}

/* An octahedron whose six points all fall on the peak: nothing is left. */
static void isolated_peak_leaves_nothing(void)
{
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++) {
    test_volume v;
    test_about("%s", type_name((pmb_type)type));
    start(&v, (pmb_type)type, 0);
    volume_set(&v, 2, 2, 2, 10);
    expect(&v, 10, 6, 8, 0, 0);
    start(&v, (pmb_type)type, 0);
    volume_set(&v, 2, 2, 2, 11);
    expect(&v, 10, 6, 8, 6, 8);
  }
}

/* A pit at the isovalue is inside: nothing is crossed. A pit below, between samples at the isovalue, is not. */
static void pits(void)
{
  test_volume v;
  start(&v, PMB_UINT8, 20);
  volume_set(&v, 2, 2, 2, 10);
  expect(&v, 10, 0, 0, 0, 0);
  start(&v, PMB_UINT8, 10);
  volume_set(&v, 2, 2, 2, 0);
  expect(&v, 10, 6, 8, 6, 8); /* the six neighbours carry the points */
}

static void whole_volume_at_the_isovalue(void)
{
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++) {
    test_volume v;
    start(&v, (pmb_type)type, 3);
    expect(&v, 3, 0, 0, 0, 0);
  }
}

/* A plate one sample thick across the volume: two sheets, back to back, on the same points. */
static void plate_one_sample_thick(void)
{
  for (int axis = 0; axis < 3; axis++) {
    test_volume v;
    start(&v, PMB_INT16, 0);
    for (int64_t n = 0; n < 25; n++) {
      int64_t s[3] = { n % 5, n % 5, n % 5 };
      s[axis] = 2;
      s[(axis + 1) % 3] = n % 5;
      s[(axis + 2) % 3] = n / 5;
      volume_set(&v, s[0], s[1], s[2], 7);
    }
    test_about("plate across axis %d", axis);
    expect(&v, 7, 50, 64, 25, 64);
  }
}

/* A square patch of a plate: its rim closes up, the two sheets share all points. */
static void patch_one_sample_thick(void)
{
  test_volume v;
  pmb_sizes s[2];
  start(&v, PMB_FLOAT32, 0);
  for (int64_t n = 0; n < 9; n++) volume_set(&v, 1 + n % 3, 1 + n / 3, 2, 7);
  both(&v, 7, s);
  CHECK(s[1].points == 9 && s[1].triangles == 16, "%lld points, %lld triangles", (long long)s[1].points,
    (long long)s[1].triangles);
  volume_free(&v);
}

/* Corners, edges and faces of the volume at the isovalue. */
static void border_samples_at_the_isovalue(void)
{
  for (int which = 0; which < 27; which++) {
    int64_t low[3], high[3];
    test_volume v;
    pmb_sizes s[2];
    for (int a = 0, w = which; a < 3; a++, w /= 3) {
      low[a] = w % 3 == 1 ? 4 : 0; /* 0: the low border, 1: the high border, 2: the whole axis */
      high[a] = w % 3 == 0 ? 0 : 4;
    }
    test_about("samples (%d..%d, %d..%d, %d..%d) at the isovalue", (int)low[0], (int)high[0], (int)low[1],
      (int)high[1], (int)low[2], (int)high[2]);
    for (int below = 0; below < 2; below++) {
      start(&v, PMB_FLOAT64, below ? 0 : 9);
      for (int64_t k = low[2]; k <= high[2]; k++)
        for (int64_t j = low[1]; j <= high[1]; j++)
          for (int64_t i = low[0]; i <= high[0]; i++) volume_set(&v, i, j, k, 5);
      both(&v, 5, s);
      if (!below) CHECK(s[0].points == 0, "%lld points where nothing is crossed", (long long)s[0].points);
      volume_free(&v);
    }
  }
}

/* Float samples that hold 0.1f, 0.7f: equal to 0.1, 0.7 as floats, though one is inside and the other is not. */
static void decimal_isovalues_of_float_volumes(void)
{
  static const double isovalues[] = { 0.1, 0.7, 0.3, 1.1, 1e-3, 0.1f, 0.7f };
  test_rng rng = { 3 };
  for (size_t n = 0; n < sizeof isovalues / sizeof *isovalues; n++)
    for (int turn = 0; turn < 5; turn++) {
      test_volume v;
      pmb_sizes s[2];
      test_about("isovalue %.17g, turn %d", isovalues[n], turn);
      volume_make(&v, PMB_FLOAT32, 9, 7, 6, LAYOUT_PACKED);
      for (int64_t i = 0; i < 9 * 7 * 6; i++) {
        int pick = (int)rng_int(&rng, 0, 2);
        volume_set(&v, i % 9, i / 9 % 7, i / 63, pick == 0 ? -0.5 : pick == 1 ? (float)isovalues[n] : 2.0);
      }
      both(&v, isovalues[n], s);
      CHECK(s[1].triangles < s[0].triangles, "%lld triangles kept of %lld", (long long)s[1].triangles,
        (long long)s[0].triangles);
      volume_free(&v);
    }
}

/* Small integers: most points fall on samples, and coordinates are exact enough to be compared. */
static void random_plateaus(void)
{
  test_rng rng = { 4 };
  for (int turn = 0; turn < (TEST_SLOW ? 40 : 200); turn++) {
    test_volume v;
    pmb_sizes s[2];
    int type = (int)rng_int(&rng, PMB_INT8, PMB_FLOAT64);
    volume_make(&v, (pmb_type)type, rng_int(&rng, 2, 37), rng_int(&rng, 2, 9), rng_int(&rng, 2, 9), LAYOUT_PACKED);
    volume_fill(&v, DATA_PLATEAU, &rng);
    test_about("turn %d, %s", turn, type_name((pmb_type)type));
    for (int iso = 1; iso <= 3; iso++) {
      both(&v, iso, s);
      both(&v, iso - 0.5, s);
      CHECK(s[0].points == s[1].points && s[0].triangles == s[1].triangles,
        "no sample is at the isovalue, yet %lld triangles became %lld", (long long)s[0].triangles,
        (long long)s[1].triangles);
    }
    volume_free(&v);
  }
}

/* 64-bit integers closer together than a double can tell: both ends of an edge are at the isovalue. */
static void edges_with_two_equal_ends(void)
{
  test_rng rng = { 5 };
  for (int turn = 0; turn < 60; turn++) {
    test_volume v;
    int64_t big = (int64_t)1 << 60;
    volume_make(&v, PMB_INT64, 7, 6, 5, LAYOUT_PACKED);
    for (int64_t n = 0; n < 210; n++) {
      int64_t pick = rng_int(&rng, -2, 2);
      ((int64_t *)v.memory)[n] = pick == -2 ? 0 : big + pick;
    }
    for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++) {
      test_mesh m;
      ref_mesh *r = ref_extract(&v.view, (double)big, remove_degenerate);
      test_about("turn %d, remove_degenerate %d", turn, remove_degenerate);
      mesh_of_volume(&v.view, (double)big, remove_degenerate, &m);
      judge_reference(&m, r);
      judge_topology(&m, r, remove_degenerate);
      mesh_free(&m);
      ref_free(r);
    }
    volume_free(&v);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(isolated_peak_leaves_nothing)
  CASE(pits)
  CASE(whole_volume_at_the_isovalue)
  CASE(plate_one_sample_thick)
  CASE(patch_one_sample_thick)
  CASE(border_samples_at_the_isovalue)
  CASE(decimal_isovalues_of_float_volumes)
  CASE(random_plateaus)
  CASE(edges_with_two_equal_ends)
)
