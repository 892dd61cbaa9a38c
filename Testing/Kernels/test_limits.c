/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_limits.c - empty input, very large output, and sizes beyond 32 bits. */
#include <float.h>
#include <math.h>

#include "test_util.h"

static void expect_empty(pmb_context *context, const double *isovalues, int64_t count, const char *what)
{
  for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++) {
    OWNED_MESH m;
    CHECK_STATUS(
      context, mesh_extract(context, isovalues, count, remove_degenerate, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
    CHECK(m.sizes.points == 0 && m.sizes.triangles == 0, "%s: %lld points, %lld triangles", what,
      (long long)m.sizes.points, (long long)m.sizes.triangles);
    CHECK(((int32_t *)m.view.offsets)[0] == 0, "%s: the first offset is not 0", what);
  }
}

/* No isovalues; isovalues outside the range, far outside, and outside the type's range; volumes without cells. */
static void nothing_to_do(void)
{
  static const double isovalues[] = { 1, 1.5, 2, 1e9, -1e9, 1e300, -1e300, 1e39, -1e39, 300, -300,
    18446744073709551616.0, 9223372036854775808.0, -9223372036854777856.0 };
  enum { COUNT = sizeof isovalues / sizeof *isovalues };
  test_rng rng = { 91 };
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int flat = 0; flat < 8; flat++) {
      OWNED_VOLUME v =
        volume_of((pmb_type)type, flat & 1 ? 1 : 70, flat & 2 ? 1 : 9, flat & 4 ? 1 : 10, LAYOUT_PACKED);
      volume_fill(&v, DATA_PLATEAU, &rng);
      test_about("%s, axes of one sample: %d", type_name((pmb_type)type), flat);
      CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
      expect_empty(context, NULL, 0, "NULL and 0 isovalues");
      expect_empty(context, isovalues, 0, "0 isovalues");
      expect_empty(context, isovalues + 3, COUNT - 3, "out of range");
      if (flat) expect_empty(context, isovalues, COUNT, "no cell");
    }
}

/* More than 2^31 / 3 triangles by repeating one isovalue: offsets do not fit 32 bits. The arrays of the refused call are tiny,
 * so it must fail before it writes. */
static void offsets_beyond_32_bits(void)
{
  enum { SIZE = 40, COUNT = 5200 };
  test_rng rng = { 93 };
  pmb_sizes total;
  int32_t tiny[8] = { 0 };
  OWNED double *isovalues = test_allocate(COUNT, sizeof *isovalues);
  pmb_request request = { sizeof request, isovalues, COUNT, 0 };
  OWNED_VOLUME v = volume_of(PMB_UINT8, SIZE, SIZE, SIZE, LAYOUT_PACKED);
  for (int64_t n = 0; n < SIZE * SIZE * SIZE; n++) volume_put(&v, n, (double)rng_int(&rng, 0, 1));
  for (int n = 0; n < COUNT; n++) isovalues[n] = 0.5;
  OWNED_CONTEXT context = bound_context(2, &v.view);
  CHECK_STATUS(context, pmb_count(context, &request, &total, NULL), PMB_OK);
  CHECK(3 * total.triangles > INT32_MAX && total.points < INT32_MAX, "%lld points, %lld triangles: another case",
    (long long)total.points, (long long)total.triangles);
  pmb_mesh m = { .struct_size = sizeof m,
    .point_capacity = total.points,
    .triangle_capacity = total.triangles,
    .offsets = tiny,
    .id_type = PMB_INT32 };
  CHECK_REFUSED(context, pmb_emit(context, &m), PMB_TOO_LARGE, "32");
  for (int n = 0; n < 8; n++) CHECK(tiny[n] == 0, "written by a refused emit");
  request.isovalue_count = 1;
  CHECK_STATUS(context, pmb_count(context, &request, &total, NULL), PMB_OK);
  m.offsets = NULL;
  CHECK_STATUS(context, pmb_emit(context, &m), PMB_OK);
}

/* 4096 x 4096 x 260 samples of one byte, 4096 of them in memory: a step between the samples x = 4094 and 4095 of
 * every row. One x edge per row, two triangles per square between rows; cell indices beyond 2^32. */
static void more_than_2_to_the_32_samples(void)
{
  enum { NX = 4096, NY = 4096, NZ = 260 };
  if (TEST_SLOW) test_skip("4.4 billion samples take too long under a sanitizer");
  uint8_t row[NX] = { 0 };
  double isovalue = 0.5;
  pmb_volume v = {
    .struct_size = sizeof v, .samples = row, .type = PMB_UINT8, .dims = { NX, NY, NZ }, .strides = { 1, 0, 0 }
  };
  pmb_sizes sizes = { 0, 0 };
  pmb_request request = { sizeof request, &isovalue, 1, 0 };
  int64_t points = (int64_t)NY * NZ, triangles = (int64_t)2 * (NY - 1) * (NZ - 1);
  OWNED_CONTEXT context = context_new(0, NULL);
  row[NX - 1] = 1;
  CHECK_STATUS(context, pmb_bind(context, &v), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  CHECK(sizes.points == points && sizes.triangles == triangles, "%lld points, %lld triangles, not %lld, %lld",
    (long long)sizes.points, (long long)sizes.triangles, (long long)points, (long long)triangles);
  OWNED int64_t *cells = test_allocate(sizes.triangles, sizeof *cells);
  OWNED float *xyz = test_allocate(3 * sizes.points, sizeof *xyz);
  pmb_mesh m = { .struct_size = sizeof m,
    .point_capacity = sizes.points,
    .triangle_capacity = sizes.triangles,
    .points = xyz,
    .point_type = PMB_FLOAT32,
    .cells = cells };
  CHECK_STATUS(context, pmb_emit(context, &m), PMB_OK);
  int64_t wrong = 0, sum = 0, last = NX - 2 + (int64_t)(NX - 1) * (NY - 2 + (int64_t)(NY - 1) * (NZ - 2));
  for (int64_t n = 0; n < sizes.triangles; n++) {
    wrong += cells[n] < 0 || cells[n] > last || cells[n] % (NX - 1) != NX - 2;
    sum += cells[n] / (NX - 1);
  }
  for (int64_t n = 0; n < sizes.points; n++) wrong += xyz[3 * n] != NX - 1.5f;
  CHECK(wrong == 0, "%lld wrong cells or points", (long long)wrong);
  int64_t rows = (int64_t)(NY - 1) * (NZ - 1);
  CHECK(sum == rows * (rows - 1), "each row's cell twice: sum %lld, not %lld", (long long)sum,
    (long long)(rows * (rows - 1)));
  CHECK(sizes.triangles && cells[sizes.triangles - 1] == last && last > UINT32_MAX, "the last cell is %lld, not %lld",
    (long long)cells[sizes.triangles - 1], (long long)last);
}

/* clang-format off */
TEST_MAIN(
  CASE(nothing_to_do)
  CASE(offsets_beyond_32_bits)
  CASE(more_than_2_to_the_32_samples)
)
