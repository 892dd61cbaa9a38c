/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_find_ranges.c - pmb_find_ranges against a plain loop, for any number of threads; wrong calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test_util.h"

enum { MOST = 100000, COMPONENTS = 9 };

static double values[MOST * COMPONENTS];
static float floats[MOST * COMPONENTS];

static void expected_ranges(pmb_type type, int components, int64_t tuples, double *ranges)
{
  for (int c = 0; c <= components; c++) {
    ranges[2 * c] = INFINITY;
    ranges[2 * c + 1] = -INFINITY;
  }
  for (int64_t i = 0; i < tuples; i++) {
    double squares = 0;
    for (int c = 0; c <= components; c++) {
      const int64_t at = i * components + c;
      const double value = c == components ? squares : type == PMB_FLOAT32 ? (double)floats[at] : values[at];
      squares += value * value;
      ranges[2 * c] = fmin(ranges[2 * c], value);
      ranges[2 * c + 1] = fmax(ranges[2 * c + 1], value);
    }
  }
  ranges[2 * components] = sqrt(ranges[2 * components]);
  ranges[2 * components + 1] = sqrt(ranges[2 * components + 1]);
}

static void equal_to_a_plain_loop(void)
{
  static const int64_t sizes[] = { 1, 2, 16383, 16384, 16385, MOST };
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
    values[i] = (rand() - RAND_MAX / 2) * pow(10, rand() % 40 - 20);
    floats[i] = (float)values[i];
  }
  for (int threads = 1; threads <= 3; threads += 2) {
    OWNED_CONTEXT context = context_new(threads, NULL);
    for (int components = 1; components <= COMPONENTS; components++) {
      for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
        for (int wide = 0; wide < 2; wide++) {
          const pmb_type type = wide ? PMB_FLOAT64 : PMB_FLOAT32;
          double got[2 * COMPONENTS + 2], expected[2 * COMPONENTS + 2];
          expected_ranges(type, components, sizes[n], expected);
          CHECK_STATUS(context,
            pmb_find_ranges(context, wide ? (void *)values : floats, type, components, sizes[n], got), PMB_OK);
          CHECK(!memcmp(got, expected, (size_t)(2 * components + 2) * sizeof(double)), "%d components, %lld tuples",
            components, (long long)sizes[n]);
        }
      }
    }
  }
}

static void wrong_calls(void)
{
  double ranges[2 * COMPONENTS + 2];
  OWNED_CONTEXT context = context_new(1, NULL);
  CHECK(pmb_find_ranges(NULL, floats, PMB_FLOAT32, 1, 1, ranges) == PMB_INVALID, "without a context");
  CHECK_STATUS(context, pmb_find_ranges(context, NULL, PMB_FLOAT32, 1, 1, ranges), PMB_INVALID);
  CHECK_STATUS(context, pmb_find_ranges(context, floats, PMB_FLOAT32, 1, 1, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_find_ranges(context, floats, PMB_INT8, 1, 1, ranges), PMB_INVALID);
  CHECK_STATUS(context, pmb_find_ranges(context, floats, PMB_FLOAT32, 0, 1, ranges), PMB_INVALID);
  CHECK_STATUS(context, pmb_find_ranges(context, floats, PMB_FLOAT32, COMPONENTS + 1, 1, ranges), PMB_INVALID);
  CHECK_STATUS(context, pmb_find_ranges(context, floats, PMB_FLOAT32, 1, 0, ranges), PMB_INVALID);
  CHECK(strstr(pmb_error(context), "tuples 0") != NULL, "\"%s\"", pmb_error(context));
}

/* clang-format off */
TEST_MAIN(
  CASE(equal_to_a_plain_loop)
  CASE(wrong_calls)
)
