/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers_bench.c - the measurement of systems that fail, and the volumes of the papers' tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers_bench.h"
#include "test_util.h"

/* ---- faulty systems ---- */

static papers_status status_of_fake;

static papers_status fake_extract(papers_state *state)
{
  (void)state;
  return status_of_fake;
}

/* Results for a system that works, one with a wrong number of triangles, and ones that fail. */
static void outcomes(void)
{
  const papers_samples s = { PAPERS_CAYLEY, PMB_FLOAT32, { 20, 20, 20 }, 1, NULL };
  const struct {
    papers_status status; /* of a fake, unless PAPERS_OK */
    int64_t triangles_off;
    size_t limit;
    papers_outcome outcome;
  } rows[] = { { PAPERS_OK, 0, SIZE_MAX, PAPERS_MEASURED }, { PAPERS_OK, 1, SIZE_MAX, PAPERS_WRONG },
    { PAPERS_OK, 0, 70000, PAPERS_FAILED }, { PAPERS_NO_MEMORY, 0, SIZE_MAX, PAPERS_FAILED },
    { PAPERS_TOO_LARGE, 0, SIZE_MAX, PAPERS_REFUSED }, { PAPERS_DEVICE, 0, SIZE_MAX, PAPERS_BROKEN } };
  papers_memory memory = { .limit = SIZE_MAX };
  OWNED void *samples = test_allocate((int64_t)papers_samples_bytes(&s), 1);
  if (!papers_available()) test_skip("no GPU can be used");
  CHECK(!papers_fill(&s, samples), "fill");
  void *d_samples = papers_take(&memory, PAPERS_ACCELERATION, papers_samples_bytes(&s));
  CHECK(!papers_upload(d_samples, samples, papers_samples_bytes(&s)), "upload");
  const papers_volume volume = { d_samples, s.type, { 20, 20, 20 } };
  papers_task task = { &volume, papers_samples_isovalue(s.content, s.type), -1, 3, SIZE_MAX };
  const int64_t triangles = papers_measure(&task, papers_systems[0]).triangles;
  CHECK(triangles > 500, "%lld triangles", (long long)triangles);
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
    papers_system system = *papers_systems[0];
    status_of_fake = rows[n].status;
    if (status_of_fake != PAPERS_OK) system.extract = fake_extract;
    task.triangles = triangles + rows[n].triangles_off;
    task.limit = rows[n].limit;
    const papers_result r = papers_measure(&task, &system);
    CHECK(r.outcome == rows[n].outcome, "row %d: %s", (int)n, papers_outcome_texts[r.outcome]);
    CHECK((r.first > 0 && r.change > 0) == (r.outcome == PAPERS_MEASURED), "row %d: %g and %g ms", (int)n, r.first,
      r.change);
    CHECK((r.asked > 0) == (rows[n].limit < SIZE_MAX), "row %d: %zu bytes asked for", (int)n, r.asked);
  }
  papers_free_memory(&memory);
}

/* ---- volumes ---- */

/* The function of the test utilities, at the same places. */
static void cayley_is_cayley(void)
{
  const papers_samples s = { PAPERS_CAYLEY, PMB_FLOAT32, { 9, 7, 5 }, 1, NULL };
  OWNED float *samples = test_allocate(9 * 7 * 5, sizeof *samples);
  CHECK(!papers_fill(&s, samples), "fill");
  for (int n = 0; n < 9 * 7 * 5; n++) {
    const double x = -1 + 2.0 * (n % 9) / 8, y = -1 + 2.0 * (n / 9 % 7) / 6, z = -1 + 2.0 * (n / 63) / 4;
    CHECK(fabs(samples[n] - cayley(x, y, z)) < 1e-5, "%d: %g, not %g", n, samples[n], cayley(x, y, z));
  }
}

/* The surface is the same in all types. */
static void types_agree(void)
{
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_UINT16, PMB_FLOAT32 };
  enum { SIDE = 24 };
  for (int content = PAPERS_CAYLEY; content <= PAPERS_ROUGH; content++) {
    double active[4];
    for (int t = 0; t < 4; t++) {
      const papers_samples s = { (papers_content)content, types[t], { SIDE, SIDE, SIDE },
        content == PAPERS_CAYLEY ? 1 : 0.03, NULL };
      OWNED void *samples = test_allocate((int64_t)papers_samples_bytes(&s), 1);
      CHECK(!papers_fill(&s, samples), "fill");
      active[t] = papers_active_cells(&s, samples, papers_samples_isovalue(s.content, s.type));
    }
    CHECK(active[3] > 2 && fabs(active[0] / active[3] - 1) < 0.1, "u8: %g%%, f32: %g%%", active[0], active[3]);
    CHECK(fabs(active[1] / active[3] - 1) < 0.01 && fabs(active[2] / active[3] - 1) < 0.01,
      "i16: %g%%, u16: %g%%, f32: %g%%", active[1], active[2], active[3]);
  }
}

static void densities_are_reached(void)
{
  static const double wanted[] = { 9, 14, 25 };
  for (int n = 0; n < 3; n++) {
    papers_samples s = { n ? PAPERS_ROUGH : PAPERS_CAYLEY, PMB_FLOAT32, { 32, 32, 32 }, n ? 2.0 / 32 : 1, NULL };
    OWNED float *samples = test_allocate(32 * 32 * 32, sizeof *samples);
    papers_reach_density(&s, wanted[n]);
    CHECK(!papers_fill(&s, samples), "fill");
    const double isovalue = papers_samples_isovalue(s.content, s.type);
    const double got = papers_active_cells(&s, samples, isovalue);
    CHECK(fabs(got / wanted[n] - 1) < 0.15, "%g%%, not %g%%", got, wanted[n]);
  }
}

/* A scan of 3 x 2 x 2 samples, tiled and resampled. (Files of another size: test_bench.sh.) */
static void scans(void)
{
  static const uint8_t content[12] = { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110 };
  papers_scan_file scan = { "tiny", { 3, 2, 2 }, PMB_UINT8, 50, "pmb_test_papers_scan.raw" };
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
  remove(scan.path);
}

/* clang-format off */
TEST_MAIN(
  CASE(outcomes)
  CASE(cayley_is_cayley)
  CASE(types_agree)
  CASE(densities_are_reached)
  CASE(scans)
)
/* clang-format on */
