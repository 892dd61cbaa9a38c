/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers_pyramid.c - the memory of the HistoPyramids is what the papers say, and so are their limits; for the mesh
 * see pmb_test_papers.c. */
#include <string.h>

#include "papers_hp3d.h"
#include "papers_hpmc.h"
#include "papers_place.h"
#include "test_util.h"

/* Table 3 of Smistad et al.: N, M, and the sizes of both pyramids in MiB, as printed there; 0: less than 1. */
static void table_3(void)
{
  static const struct {
    int64_t n;
    uint64_t m, hpmc, hp3d;
  } rows[] = { { 2048, 65536, 87381, 9509 }, { 1024, 16384, 5461, 1188 }, { 512, 8192, 1365, 148 },
    { 256, 2048, 85, 18 }, { 128, 1024, 21, 2 }, { 64, 256, 1, 0 } };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const int64_t n = rows[i].n, dims[3] = { n, n, n };
    const uint64_t hpmc = papers_hpmc_bytes(dims, 0), hp3d = papers_hp3d_bytes(dims);
    test_about("N = %d", (int)n);
    CHECK(papers_hpmc_side(dims, 0) == rows[i].m, "M = %llu", (unsigned long long)papers_hpmc_side(dims, 0));
    CHECK(hpmc >> 20 == rows[i].hpmc, "%llu bytes, not %llu MiB", (unsigned long long)hpmc,
      (unsigned long long)rows[i].hpmc);
    CHECK(hp3d >> 20 == rows[i].hp3d, "%llu bytes, not %llu MiB", (unsigned long long)hp3d,
      (unsigned long long)rows[i].hp3d);
  }
}

/* What a system takes is what the formula says. */
static void formula_is_what_is_taken(void)
{
  static const int64_t sizes[][3] = { { 2, 2, 2 }, { 65, 3, 130 }, { 64, 64, 64 }, { 129, 40, 9 } };
  const papers_system *systems[3] = { &papers_hpmc_cpu, &papers_hpmc_indexed_cpu, &papers_hp3d_cpu };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const uint64_t bytes[3] = { papers_hpmc_bytes(sizes[i], 0), papers_hpmc_bytes(sizes[i], 1),
      papers_hp3d_bytes(sizes[i]) };
    uint8_t *samples = test_allocate(sizes[i][0] * sizes[i][1] * sizes[i][2], 1);
    for (int s = 0; s < 3; s++) {
      papers_memory memory = papers_memory_of(&papers_host);
      const papers_volume volume = { samples, PMB_UINT8, { sizes[i][0], sizes[i][1], sizes[i][2] } };
      void *state = NULL;
      papers_mesh mesh;
      test_about("%s, %d x %d x %d", systems[s]->name, (int)sizes[i][0], (int)sizes[i][1], (int)sizes[i][2]);
      if (CHECK(systems[s]->create(&memory, &volume, &state) == PAPERS_OK, "create") &&
        CHECK(systems[s]->extract(state, 0.5, &mesh) == PAPERS_OK, "extract"))
        CHECK(memory.most[PAPERS_ACCELERATION] == bytes[s], "%zu bytes, not %llu", memory.most[PAPERS_ACCELERATION],
          (unsigned long long)bytes[s]);
      systems[s]->destroy(state);
    }
    free(samples);
  }
}

/* The place of each entry in the base of the flat layout, and back; no two share one. */
static void flat_layout(void)
{
  static const int64_t sizes[][3] = { { 2, 2, 2 }, { 66, 3, 40 }, { 200, 65, 7 }, { 3, 130, 20 } };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const uint64_t side = papers_hpmc_side(sizes[i], 1);
    uint8_t *used = test_allocate((int64_t)(4 * side * side), 1);
    hpmc_job job;
    test_about("%d x %d x %d", (int)sizes[i][0], (int)sizes[i][1], (int)sizes[i][2]);
    papers_hpmc_layout(&job, sizes[i], 1, NULL);
    for (int32_t z = 0; z < sizes[i][2]; z++)
      for (int32_t y = 0; y < sizes[i][1]; y++)
        for (int32_t x = 0; x < sizes[i][0]; x++) {
          uint32_t n;
          int32_t back[3];
          const uint64_t texel = hpmc_place(&job.layout, x, y, z, &n);
          if (!CHECK(texel < side * side && n < 4 && !used[4 * texel + n], "(%d,%d,%d) is at %llu", x, y, z,
                (unsigned long long)(4 * texel + n)))
            return free(used);
          used[4 * texel + n] = 1;
          hpmc_cell(&job.layout, (uint32_t)texel, n, back);
          CHECK(back[0] == x && back[1] == y && back[2] == z, "(%d,%d,%d) becomes (%d,%d,%d)", x, y, z, back[0],
            back[1], back[2]);
        }
    free(used);
  }
}

/* Counts of 32 bits end where they do, and say so. */
static void counts_end(void)
{
  const hpmc_texel most = { UINT32_MAX - 4, 1, 1, 1 }, more = { UINT32_MAX - 3, 1, 1, 1 };
  const hpmc_texel over = { 1u << 31, 1u << 31, 0, 0 };
  int64_t count = 0;
  CHECK(hpmc_texel_sum(most) == UINT32_MAX - 1, "%u", hpmc_texel_sum(most));
  CHECK(hpmc_texel_sum(over) == UINT32_MAX, "%u", hpmc_texel_sum(over));
  CHECK(papers_hpmc_total(&most, UINT32_MAX - 1, &count) == PAPERS_OK && count == UINT32_MAX - 1, "%lld",
    (long long)count);
  CHECK(papers_hpmc_total(&more, UINT32_MAX - 1, &count) == PAPERS_TOO_LARGE, "%lld", (long long)count);
  CHECK(papers_hpmc_total(&over, UINT32_MAX - 1, &count) == PAPERS_TOO_LARGE, "%lld", (long long)count);
  CHECK(papers_sum(UINT32_MAX, 0) == UINT32_MAX && papers_sum(UINT32_MAX, 5) == UINT32_MAX, "the sum above");
}

/* Bases whose elements are numbered in more bits than there are. */
static void bases_end(void)
{
  static const int64_t large[3] = { 4096, 4096, 4096 }, larger[3] = { 4097, 2, 2 };
  static const int64_t flat[3] = { 2048, 2048, 4096 }, flatter[3] = { 4096, 4096, 4096 };
  uint64_t bytes = 0;
  papers_volume volume = { &bytes, PMB_UINT8, { large[0], large[1], large[2] } };
  CHECK(papers_hp3d_check(&volume, &bytes) == PAPERS_OK && bytes >> 30 == 74, "%llu", (unsigned long long)bytes);
  memcpy(volume.dims, larger, sizeof larger);
  CHECK(papers_hp3d_check(&volume, &bytes) == PAPERS_TOO_LARGE, "%llu", (unsigned long long)bytes);
  memcpy(volume.dims, flat, sizeof flat);
  CHECK(papers_hpmc_check(&volume, 0, &bytes) == PAPERS_OK && bytes >> 30 == 85, "%llu", (unsigned long long)bytes);
  memcpy(volume.dims, flatter, sizeof flatter);
  CHECK(papers_hpmc_check(&volume, 0, &bytes) == PAPERS_TOO_LARGE, "%llu", (unsigned long long)bytes);
}

TEST_MAIN(
  /* clang-format off */
  CASE(table_3)
  CASE(formula_is_what_is_taken)
  CASE(flat_layout)
  CASE(counts_end)
  CASE(bases_end)
  /* clang-format on */
)
