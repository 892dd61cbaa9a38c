/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers_pyramid.c - what pmb_test_papers.c does not ask of the HistoPyramids: that their memory is what the papers
 * say, and their limits; normals by forward differences, samples that are not finite, volumes of several blocks. */
#include <math.h>
#include <string.h>

#include "papers_compare.h"
#include "papers_hp3d.h"
#include "papers_hpmc.h"
#include "test_util.h"

#ifdef PAPERS_ON_GPU
#define SYSTEM(name) &papers_##name##_gpu
static const papers_place *const here = &papers_device;
#else
#define SYSTEM(name) &papers_##name##_cpu
static const papers_place *const here = &papers_host;
#endif

enum { SYSTEMS = 3, WHY = 256 };
static const papers_system *const systems[SYSTEMS] = { SYSTEM(hpmc), SYSTEM(hpmc_indexed), SYSTEM(hp3d) };
static const papers_sharing sharing[SYSTEMS] = { PAPERS_SOUP, PAPERS_EDGES, PAPERS_SOUP };

static void need_place(void)
{
  const char *missing = here->missing();
  if (missing) test_skip("%s: %s", here->name, missing);
}

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

/* The meshes of a volume, with several isovalues on one state, against PMB's with forward differences. bytes: of the
 * acceleration, by system. */
static void compare(const test_volume *v, const double *isovalues, int count, double tolerance, const uint64_t *bytes)
{
  const size_t size = (size_t)ref_samples(&v->view) * pmb_type_size(v->view.type);
  pmb_context *context = context_new(1, NULL);
  void *samples = here->allocate(size);
  if (!CHECK(samples && !here->upload(samples, v->view.samples, size), "upload")) exit(1);
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  for (int s = 0; s < SYSTEMS; s++) {
    papers_memory memory = papers_memory_of(here);
    const papers_volume volume = { samples, v->view.type, { v->view.dims[0], v->view.dims[1], v->view.dims[2] } };
    void *state = NULL;
    const papers_status created = systems[s]->create(&memory, &volume, &state);
    CHECK(created == PAPERS_OK, "%s: %s", systems[s]->name, papers_status_text(created));
    for (int i = 0; created == PAPERS_OK && i < count; i++) {
      char why[WHY] = "no copy";
      papers_mesh mesh, copy;
      test_mesh wanted;
      CHECK_STATUS(
        context, mesh_extract_by(context, PMB_FORWARD, isovalues + i, 1, 0, PMB_FLOAT32, PMB_INT32, &wanted), PMB_OK);
      const papers_status status = systems[s]->extract(state, isovalues[i], &mesh);
      if (CHECK(status == PAPERS_OK, "%s: %s %s", systems[s]->name, papers_status_text(status), memory.message) &&
        CHECK(papers_mesh_download(here, &mesh, &copy), "download")) {
        CHECK(papers_compare(&copy, sharing[s], tolerance, &wanted.view, &wanted.sizes, why), "%s, isovalue %g: %s",
          systems[s]->name, isovalues[i], why);
        papers_mesh_free(&copy);
      }
      mesh_free(&wanted);
    }
    CHECK(memory.most[PAPERS_ACCELERATION] == bytes[s], "%s: %zu bytes, not %llu", systems[s]->name,
      memory.most[PAPERS_ACCELERATION], (unsigned long long)bytes[s]);
    systems[s]->destroy(state);
  }
  pmb_destroy(context);
  here->release(samples);
}

/* A volume of waves or, from noise, of both signs; every so many samples one that is not finite, 0: none. */
static void volume_of(test_volume *v, pmb_type type, const int64_t dims[3], int noise, int odd, test_rng *rng)
{
  static const double not_finite[3] = { NAN, INFINITY, -INFINITY };
  volume_make(v, type, dims[0], dims[1], dims[2], LAYOUT_PACKED);
  for (int64_t n = 0; n < dims[0] * dims[1] * dims[2]; n++) {
    const int64_t i = n % dims[0], j = n / dims[0] % dims[1], k = n / (dims[0] * dims[1]);
    const double wave = sin(0.21 * (double)i + 0.3) * cos(0.17 * (double)j) + sin(0.19 * (double)k - 0.4);
    const double value = noise ? (double)(rng_bits(rng) % 4096) / 64 : 60 + 25.3 * wave;
    volume_set(v, i, j, k, odd && rng_bits(rng) % (unsigned)odd == 0 ? not_finite[rng_bits(rng) % 3] : value);
  }
}

/* Sizes around those of several blocks, squares and cubes. Noise of integers has gradients of 0: no normals of those. What
 * is taken is what the formulas say. */
static void sizes_and_normals(void)
{
  static const int64_t sizes[][3] = { { 2, 2, 2 }, { 65, 3, 67 }, { 64, 64, 9 }, { 63, 62, 31 }, { 130, 40, 34 },
    { 33, 129, 5 } };
  static const double isovalues[] = { 60.3, 31, 2.5 };
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_UINT16, PMB_FLOAT32 };
  test_rng rng = { 11 };
  need_place();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int t = 0; t < 4; t++) {
      const uint64_t bytes[SYSTEMS] = { papers_hpmc_bytes(sizes[i], 0), papers_hpmc_bytes(sizes[i], 1),
        papers_hp3d_bytes(sizes[i]) };
      const int noise = (t + (int)i) % 2;
      test_volume v;
      volume_of(&v, types[t], sizes[i], noise, 0, &rng);
      test_about("%d x %d x %d, type %d%s", (int)sizes[i][0], (int)sizes[i][1], (int)sizes[i][2], (int)types[t],
        noise ? ", noise" : "");
      compare(&v, isovalues, 3, types[t] == PMB_FLOAT32 ? 1e-5 : -1, bytes);
      volume_free(&v);
    }
}

/* Cells with a sample that is not finite give nothing, and points that only they would use are not there. */
static void not_finite(void)
{
  static const int64_t sizes[][3] = { { 3, 4, 5 }, { 65, 65, 20 }, { 67, 66, 7 }, { 40, 35, 36 }, { 130, 9, 5 } };
  static const double isovalues[] = { 60.3, 31, 60.3 };
  test_rng rng = { 12 };
  need_place();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int noise = 0; noise < 2; noise++) {
      const uint64_t bytes[SYSTEMS] = { papers_hpmc_bytes(sizes[i], 0), papers_hpmc_bytes(sizes[i], 1),
        papers_hp3d_bytes(sizes[i]) };
      test_volume v;
      volume_of(&v, PMB_FLOAT32, sizes[i], noise, noise ? 40 : 500, &rng);
      test_about("%d x %d x %d%s", (int)sizes[i][0], (int)sizes[i][1], (int)sizes[i][2], noise ? ", noise" : "");
      compare(&v, isovalues, 3, -1, bytes);
      volume_free(&v);
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
  CASE(sizes_and_normals)
  CASE(not_finite)
  CASE(flat_layout)
  CASE(counts_end)
  CASE(bases_end)
  /* clang-format on */
)
