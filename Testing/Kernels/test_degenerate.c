/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_degenerate.c - points that fall on samples: no triangle without area, no point twice, no hole. Random
 * volumes of a few values: test_reference.c. */
#include "test_util.h"

/* A 5 x 5 x 5 volume of one value; the tests change a few samples of it. */
static void start(test_volume *v, pmb_type type, double value)
{
  volume_make(v, type, 5, 5, 5, LAYOUT_PACKED);
  for (int64_t n = 0; n < 125; n++) volume_put(v, n, value);
}

/* Judges a volume's meshes with and without degenerate triangles; returns their sizes. */
static void both(const test_volume *v, double isovalue, pmb_sizes sizes[2])
{
  pmb_context *context = context_new(1, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  for (int n = 0; n < 2; n++) sizes[n] = judge_isovalue(context, v, isovalue, n, 3);
  pmb_destroy(context);
}

/* A box of samples of a value in a volume of another, and the sizes of both meshes. */
typedef struct shape {
  const char *name;
  double around, inside, isovalue;
  int64_t low[3], high[3];
  pmb_sizes all, kept;
} shape;

static void shapes(void)
{
  static const shape list[] = {
    { "peak at the isovalue: nothing is left", 0, 10, 10, { 2, 2, 2 }, { 2, 2, 2 }, { 6, 8 }, { 0, 0 } },
    { "peak above", 0, 11, 10, { 2, 2, 2 }, { 2, 2, 2 }, { 6, 8 }, { 6, 8 } },
    { "pit at the isovalue: nothing is crossed", 20, 10, 10, { 2, 2, 2 }, { 2, 2, 2 }, { 0, 0 }, { 0, 0 } },
    { "pit below, points on its neighbours", 10, 0, 10, { 2, 2, 2 }, { 2, 2, 2 }, { 6, 8 }, { 6, 8 } },
    { "all at the isovalue", 3, 3, 3, { 2, 2, 2 }, { 2, 2, 2 }, { 0, 0 }, { 0, 0 } },
    { "plate across x: two sheets on the same points", 0, 7, 7, { 2, 0, 0 }, { 2, 4, 4 }, { 50, 64 }, { 25, 64 } },
    { "plate across y", 0, 7, 7, { 0, 2, 0 }, { 4, 2, 4 }, { 50, 64 }, { 25, 64 } },
    { "plate across z", 0, 7, 7, { 0, 0, 2 }, { 4, 4, 2 }, { 50, 64 }, { 25, 64 } },
    { "patch of a plate, closed at its rim", 0, 7, 7, { 1, 1, 2 }, { 3, 3, 2 }, { 30, 56 }, { 9, 16 } },
  };
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
      const shape *s = list + n;
      test_volume v;
      pmb_sizes got[2];
      start(&v, (pmb_type)type, s->around);
      for (int64_t k = s->low[2]; k <= s->high[2]; k++)
        for (int64_t j = s->low[1]; j <= s->high[1]; j++)
          for (int64_t i = s->low[0]; i <= s->high[0]; i++) volume_set(&v, i, j, k, s->inside);
      test_about("%s: %s", type_name((pmb_type)type), s->name);
      both(&v, s->isovalue, got);
      CHECK(got[0].points == s->all.points && got[0].triangles == s->all.triangles,
        "all: %lld points, %lld triangles", (long long)got[0].points, (long long)got[0].triangles);
      CHECK(got[1].points == s->kept.points && got[1].triangles == s->kept.triangles,
        "kept: %lld points, %lld triangles", (long long)got[1].points, (long long)got[1].triangles);
      volume_free(&v);
    }
}

/* clang-format off */
TEST_MAIN(
  CASE(shapes)
)
