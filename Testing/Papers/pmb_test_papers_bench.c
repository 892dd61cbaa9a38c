/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers_bench.c - the measurement of systems that fail, and volumes made of scans. */
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
  CASE(scans)
)
/* clang-format on */
