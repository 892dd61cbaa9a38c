/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_histogram.c - histograms and suggestions of a volume on a GPU against the CPU's: the same numbers. Needs a GPU
 * (else skipped). PMB_TEST_SHORT in the environment: fewer cases. */
#include <math.h>
#include <string.h>

#include "pmb_test_gpu_util.h"

enum { BINS = 50 };

static void same_curve(pmb_context *cpu, pmb_context *gpu, double low, double high)
{
  int64_t counts[2][2][BINS];
  for (int n = 0; n < 2; n++) {
    const pmb_histogram_request request = { .struct_size = sizeof request,
      .low = low,
      .high = high,
      .bins = BINS,
      .crossed = counts[n][0],
      .touched = counts[n][1] };
    CHECK_STATUS(n ? gpu : cpu, pmb_histogram(n ? gpu : cpu, &request), PMB_OK);
  }
  for (int i = 0; i < BINS; i++) {
    CHECK(
      counts[0][0][i] == counts[1][0][i], "bin %d: %d and %d crossed", i, (int)counts[0][0][i], (int)counts[1][0][i]);
    CHECK(
      counts[0][1][i] == counts[1][1][i], "bin %d: %d and %d touched", i, (int)counts[0][1][i], (int)counts[1][1][i]);
  }
}

static void same_suggestions(pmb_context *cpu, pmb_context *gpu)
{
  double a[4] = { 0 }, b[4] = { 0 };
  int64_t count_a = -1, count_b = -1;
  CHECK_STATUS(cpu, pmb_suggest(cpu, 4, a, &count_a), PMB_OK);
  CHECK_STATUS(gpu, pmb_suggest(gpu, 4, b, &count_b), PMB_OK);
  CHECK(count_a == count_b && memcmp(a, b, sizeof a) == 0, "%d: %g ..., %d: %g ...", (int)count_a, a[0], (int)count_b,
    b[0]);
}

/* All types and data, sizes that end within a brick, hidden and non-finite samples. */
static void as_on_the_cpu(void)
{
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 65 };
  int compared = 0;
  for (int n = 0; n < (is_short() ? 60 : 400); n++) {
    test_volume v;
    volume_make(&v, (pmb_type)(1 + n % 10), rng_int(&rng, 2, 130), rng_int(&rng, 2, 20), rng_int(&rng, 2, 40),
      n / 10 % LAYOUTS);
    volume_fill(&v, n % DATA_KINDS, &rng);
    for (int64_t i = 0; n % 5 == 1 && i < 400; i++)
      volume_set(&v, i / 80 % 2, i % 2, i % v.view.dims[2], -1e30); /* fill */
    if (n % 3 == 0) volume_sprinkle(&v, n % 2 ? 2000 : 20, &rng);
    if (n % 4 == 0 && n / 10 % LAYOUTS == LAYOUT_PACKED) volume_hide(&v, 300, 500, &rng);
    test_about("volume %d, %s, data %d", n, type_name(v.view.type), n % DATA_KINDS);
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    const pmb_info info = info_of(cpu);
    if (info.minimum < info.maximum) {
      same_curve(cpu, gpu, info.minimum, info.maximum);
      same_suggestions(cpu, gpu);
      compared++;
    }
    volume_free(&v);
  }
  CHECK(compared > 40, "only %d volumes compared", compared);
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* Before, between and after isovalues; the volume is brought once, and what is counted stays. */
static void beside_isovalues(void)
{
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_volume v;
  test_mesh want;
  volume_sampled(&v, PMB_FLOAT32, 70, gyroid);
  cpu_mesh(&v, 0.1, &want);
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  for (int n = 0; n < 3; n++) {
    const int64_t before = info_of(gpu).bytes;
    same_curve(cpu, gpu, -1.5, 1.5);
    same_suggestions(cpu, gpu);
    CHECK(info_of(gpu).bytes == before, "host memory grew from %d to %d bytes", (int)before, (int)info_of(gpu).bytes);
    gives(gpu, 0.1, &want, "after a histogram");
  }
  CHECK(info_of(gpu).uploads == 1, "%d uploads", (int)info_of(gpu).uploads);
  mesh_free(&want);
  volume_free(&v);
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* clang-format off */
TEST_MAIN(
  CASE(as_on_the_cpu)
  CASE(beside_isovalues)
)
