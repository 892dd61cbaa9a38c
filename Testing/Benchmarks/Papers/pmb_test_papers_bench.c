/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers_bench.c - what the benchmark of the papers' tables does with systems that fail, and its volumes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers_measure.h"
#include "papers_volumes.h"
#include "test_util.h"

/* ---- systems that are not what they should be, over PMB ---- */

static int extractions, off_by, too_large;

static papers_status fake_extract(void *state, double isovalue, papers_mesh *mesh)
{
  const papers_status status = papers_pmb_cpu.extract(state, isovalue, mesh);
  extractions++;
  mesh->triangles += off_by;
  return too_large ? PAPERS_TOO_LARGE : status;
}

static papers_samples cayley_samples(int64_t side)
{
  return (papers_samples){ PAPERS_CAYLEY, PMB_FLOAT32, { side, side, side }, 1, NULL };
}

/* The result of a system on a small volume, whose number of triangles is known. */
static papers_result measured(const papers_system *system, int repeats, size_t limit, int64_t *triangles)
{
  const papers_samples s = cayley_samples(20);
  void *samples = test_allocate((int64_t)papers_samples_bytes(&s), 1);
  const papers_volume volume = { samples, s.type, { s.dims[0], s.dims[1], s.dims[2] } };
  papers_task task = { &papers_host, &volume, papers_samples_isovalue(s.content, s.type), -1, 1, SIZE_MAX };
  CHECK(!papers_fill(&s, samples), "fill");
  *triangles = task.triangles = papers_measure(&task, &papers_pmb_cpu).triangles;
  task.repeats = repeats;
  task.limit = limit;
  const papers_result r = papers_measure(&task, system);
  free(samples);
  return r;
}

static void right_counts(void)
{
  int64_t triangles;
  const papers_result r = measured(&papers_pmb_cpu, 3, SIZE_MAX, &triangles);
  CHECK(r.outcome == PAPERS_MEASURED && r.first > 0 && r.change > 0, "%s, %g and %g ms",
    papers_outcome_text(r.outcome), r.first, r.change);
  CHECK(r.triangles == triangles && triangles > 500 && r.points > triangles / 3, "%lld triangles, %lld points",
    (long long)r.triangles, (long long)r.points);
  CHECK(r.output == (size_t)(24 * r.points + 12 * r.triangles) && r.acceleration > 0, "%zu and %zu bytes", r.output,
    r.acceleration);
}

static void wrong_counts(void)
{
  int64_t triangles;
  const papers_system fake = { "fake", "", papers_pmb_cpu.create, fake_extract, papers_pmb_cpu.destroy };
  extractions = 0;
  off_by = 1;
  const papers_result r = measured(&fake, 7, SIZE_MAX, &triangles);
  off_by = 0;
  CHECK(r.outcome == PAPERS_WRONG && r.triangles == triangles + 1, "%s", papers_outcome_text(r.outcome));
  CHECK(r.first == 0 && r.change == 0 && extractions == 1, "%g and %g ms in %d extractions", r.first, r.change,
    extractions);
}

static void no_memory(void)
{
  int64_t triangles;
  const papers_result r = measured(&papers_pmb_cpu, 2, 70000, &triangles);
  CHECK(r.outcome == PAPERS_FAILED && r.asked > 70000 && r.first == 0, "%s, %zu bytes asked for",
    papers_outcome_text(r.outcome), r.asked);
}

static void more_than_it_can_count(void)
{
  int64_t triangles;
  const papers_system fake = { "fake", "", papers_pmb_cpu.create, fake_extract, papers_pmb_cpu.destroy };
  too_large = 1;
  const papers_result r = measured(&fake, 2, SIZE_MAX, &triangles);
  too_large = 0;
  CHECK(r.outcome == PAPERS_REFUSED && r.asked == 0, "%s", papers_outcome_text(r.outcome));
}

/* A system that takes memory and does not give it back. */
static void *kept;

static papers_status keeping_create(papers_memory *memory, const papers_volume *volume, void **state)
{
  const papers_status status = papers_pmb_cpu.create(memory, volume, state);
  if (!kept) kept = papers_take(memory, PAPERS_ACCELERATION, 100);
  return status;
}

static void memory_not_given_back(void)
{
  int64_t triangles;
  const papers_system fake = { "fake", "", keeping_create, fake_extract, papers_pmb_cpu.destroy };
  kept = NULL;
  const papers_result r = measured(&fake, 2, SIZE_MAX, &triangles);
  CHECK(r.outcome == PAPERS_BROKEN && strstr(r.message, "given back"), "%s: %s", papers_outcome_text(r.outcome),
    r.message);
}

/* ---- volumes ---- */

/* The function of the test utilities, at the same places. */
static void cayley_is_cayley(void)
{
  const papers_samples s = { PAPERS_CAYLEY, PMB_FLOAT32, { 9, 7, 5 }, 1, NULL };
  float *samples = test_allocate(9 * 7 * 5, sizeof *samples);
  CHECK(!papers_fill(&s, samples), "fill");
  for (int n = 0; n < 9 * 7 * 5; n++) {
    const double x = -1 + 2.0 * (n % 9) / 8, y = -1 + 2.0 * (n / 9 % 7) / 6, z = -1 + 2.0 * (n / 63) / 4;
    CHECK(fabs(samples[n] - cayley(x, y, z)) < 1e-5, "%d: %g, not %g", n, samples[n], cayley(x, y, z));
  }
  free(samples);
}

/* The surface is the same in all types: integers lie around their isovalue as the floats do. */
static void types_agree(void)
{
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_UINT16, PMB_FLOAT32 };
  enum { SIDE = 24 };
  for (int content = PAPERS_CAYLEY; content <= PAPERS_ROUGH; content++) {
    int64_t active[4];
    for (int t = 0; t < 4; t++) {
      const papers_samples s = { (papers_content)content, types[t], { SIDE, SIDE, SIDE },
        content == PAPERS_CAYLEY ? 1 : 0.03, NULL };
      void *samples = test_allocate((int64_t)papers_samples_bytes(&s), 1);
      CHECK(!papers_fill(&s, samples), "fill");
      active[t] = papers_active_cells(&s, samples, papers_samples_isovalue(s.content, s.type));
      free(samples);
    }
    /* Bytes are coarse. */
    CHECK(active[3] > 300 && llabs(active[0] - active[3]) * 10 < active[3], "u8: %lld, f32: %lld",
      (long long)active[0], (long long)active[3]);
    CHECK(llabs(active[1] - active[3]) * 100 < active[3] && llabs(active[2] - active[3]) * 100 < active[3],
      "i16: %lld, u16: %lld, f32: %lld", (long long)active[1], (long long)active[2], (long long)active[3]);
  }
}

static void densities_are_reached(void)
{
  static const double wanted[] = { 9, 14, 25 };
  for (int n = 0; n < 3; n++) {
    papers_samples s = { n ? PAPERS_ROUGH : PAPERS_CAYLEY, PMB_FLOAT32, { 32, 32, 32 }, n ? 2.0 / 32 : 1, NULL };
    float *samples = test_allocate(32 * 32 * 32, sizeof *samples);
    papers_reach_density(&s, wanted[n]);
    CHECK(!papers_fill(&s, samples), "fill");
    const double isovalue = papers_samples_isovalue(s.content, s.type);
    const double got = 100 * (double)papers_active_cells(&s, samples, isovalue) / (31 * 31 * 31);
    CHECK(fabs(got / wanted[n] - 1) < 0.15, "%g%%, not %g%%", got, wanted[n]);
    free(samples);
  }
}

/* A scan of 3 x 2 x 2 samples, tiled and resampled. */
static void scans(void)
{
  static const uint8_t content[12] = { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110 };
  papers_scan scan = { "tiny", { 3, 2, 2 }, PMB_UINT8, 50, "pmb_test_papers_scan.raw" };
  uint8_t got[8 * 3 * 3];
  FILE *file = fopen(scan.path, "wb");
  if (!CHECK(file && fwrite(content, 1, sizeof content, file) == sizeof content && !fclose(file), "write")) return;
  const papers_samples tiled = { PAPERS_TILED, PMB_UINT8, { 8, 3, 3 }, 0, &scan };
  CHECK(!papers_fill(&tiled, got), "fill");
  for (int n = 0; n < 8 * 3 * 3; n++) {
    static const int x_of[] = { 0, 1, 2, 2, 1, 0, 0, 1 }, up_of[] = { 0, 1, 1 };
    const int want = content[x_of[n % 8] + 3 * (up_of[n / 8 % 3] + 2 * up_of[n / 24])];
    CHECK(got[n] == want, "tiled, %d: %d, not %d", n, got[n], want);
  }
  const papers_samples finer = { PAPERS_RESAMPLED, PMB_UINT8, { 5, 3, 3 }, 0, &scan };
  CHECK(!papers_fill(&finer, got), "fill");
  for (int n = 0; n < 5 * 3 * 3; n++) {
    const int want = 5 * (n % 5) + 15 * (n / 5 % 3) + 30 * (n / 15); /* it is linear */
    CHECK(got[n] == want, "resampled, %d: %d, not %d", n, got[n], want);
  }
  scan.dims[2] = 3;
  const papers_samples larger = { PAPERS_SCAN, PMB_UINT8, { 3, 2, 3 }, 0, &scan };
  const char *error = papers_fill(&larger, got);
  CHECK(error && strstr(error, "has less than the 18 bytes"), "%s", error ? error : "no error");
  scan.dims[2] = 1;
  const papers_samples smaller = { PAPERS_SCAN, PMB_UINT8, { 3, 2, 1 }, 0, &scan };
  error = papers_fill(&smaller, got);
  CHECK(error && strstr(error, "has more than the 6 bytes"), "%s", error ? error : "no error");
  remove(scan.path);
}

/* clang-format off */
TEST_MAIN(
  CASE(right_counts)
  CASE(wrong_counts)
  CASE(no_memory)
  CASE(more_than_it_can_count)
  CASE(memory_not_given_back)
  CASE(cayley_is_cayley)
  CASE(types_agree)
  CASE(densities_are_reached)
  CASE(scans)
)
/* clang-format on */
