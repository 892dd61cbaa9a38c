/* SPDX-License-Identifier: BSD-3-Clause
 * The CUDA backend gives the CPU's bytes in every array, for all types, sizes and options. Skipped without a GPU. With
 * PMB_TEST_SHORT in the environment it runs fewer cases, for slow tools. */

#include "pmb_test_gpu_pair.h"

static void types_and_sizes(void)
{
  static const int64_t sizes[][3] = { { 1, 1, 1 }, { 2, 2, 2 }, { 2, 1, 9 }, { 3, 66, 30 }, { 31, 3, 5 },
    { 32, 4, 4 }, { 33, 5, 5 }, { 34, 6, 7 }, { 64, 64, 16 }, { 65, 8, 9 }, { 70, 45, 37 }, { 131, 17, 9 },
    { 257, 9, 5 }, { 600, 5, 6 }, { 5, 7, 150 } };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 7 };
  const int step = is_short() ? 4 : 1;
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int s = type % step; s < (int)(sizeof sizes / sizeof *sizes); s += step)
      for (int data = 0; data < DATA_KINDS; data += step) {
        OWNED_VOLUME v;
        volume_make(&v, (pmb_type)type, sizes[s][0], sizes[s][1], sizes[s][2], (s + data) % LAYOUTS);
        volume_fill(&v, data, &rng);
        volume_world(&v, (s + type) % WORLDS, &rng);
        test_about("%s, size %d, data %d", type_name((pmb_type)type), s, data);
        bind_both(&p, &v);
        for (int e = PMB_CENTRAL; e <= PMB_SOBEL; e++) {
          if (TEST_SLOW && e != (type + s + data) % 3) continue;
          p.estimator = (pmb_gradient_estimator)e;
          extract_all(&p, &v, 1, &rng);
        }
      }
  enough(&p, TEST_SLOW ? 30000 : 100000);
}

static void fuzz(void)
{
  OWNED_PAIR p = pair_new();
  test_rng rng = { 20 };
  const int cases = is_short() ? 40 : 1500;
  for (int n = 0; n < cases; n++) {
    OWNED_VOLUME v;
    const int64_t most = n % 3 ? 40 : 140;
    volume_random(&v, rng_int(&rng, 1, most), rng_int(&rng, 1, 40), rng_int(&rng, 1, 40), &rng);
    bind_both(&p, &v);
    p.estimator = (pmb_gradient_estimator)rng_int(&rng, PMB_CENTRAL, PMB_SOBEL);
    extract_all(&p, &v, 1 + n % 7 / 5, &rng);
  }
  enough(&p, is_short() ? 10000 : 5000000);
}

/* Many bricks: several tiles in every scan, bricks full of points, lists longer than one pass. */
static void large(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_UINT16, PMB_FLOAT64 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 3 };
  for (int n = 0; n < (is_short() ? 2 : 8); n++) {
    OWNED_VOLUME v;
    const double isovalue = n % 2 ? 0.1 : -0.012;
    volume_sampled(&v, types[n / 2 % 4], is_short() ? 100 : 260, n % 2 ? gyroid : cayley);
    test_about("%s of %s", n % 2 ? "gyroid" : "Cayley", type_name(v.view.type));
    bind_both(&p, &v);
    extract_plain(&p, &isovalue, 1, 0);
    extract_plain(&p, &isovalue, 1, 1);
    extract_all(&p, &v, 1, &rng);
  }
  for (int data = 0; data < 3; data++) {
    OWNED_VOLUME v;
    volume_make(&v, data == 1 ? PMB_UINT8 : PMB_FLOAT32, 200, 150, is_short() ? 10 : 130, LAYOUT_PACKED);
    volume_fill(&v, data == 2 ? DATA_PLATEAU : DATA_NOISE, &rng);
    test_about("large data %d", data);
    bind_both(&p, &v);
    extract_all(&p, &v, 1, &rng);
  }
}

/* Hidden samples and cells, few and many, of all types; several isovalues; a volume that is bound again with other flags. */
static void hidden(void)
{
  OWNED_PAIR p = pair_new();
  test_rng rng = { 23 };
  for (int n = 0; n < (is_short() ? 10 : 120); n++) {
    OWNED_VOLUME v;
    volume_make(&v, (pmb_type)(1 + n % 10), rng_int(&rng, 1, 140), rng_int(&rng, 1, 30), rng_int(&rng, 1, 30),
      n % 4 ? LAYOUT_PACKED : (int)rng_int(&rng, 0, LAYOUTS - 1));
    volume_fill(&v, (int)rng_int(&rng, 0, DATA_KINDS - 1), &rng);
    volume_hide(&v, n % 3 ? (int)rng_int(&rng, 2, 3000) : 0, n % 3 != 1 ? (int)rng_int(&rng, 2, 3000) : 0, &rng);
    if (n % 5 == 0) volume_sprinkle(&v, 300, &rng);
    volume_world(&v, n % WORLDS, &rng);
    v.view.version = 5;
    test_about("%d: %s", n, type_name(v.view.type));
    bind_both(&p, &v);
    extract_all(&p, &v, 1 + n % 4, &rng);
    v.view.sample_flags = NULL;
    bind_both(&p, &v);
    extract_all(&p, &v, 1, &rng);
  }
  enough(&p, is_short() ? 1000 : 100000);
}

/* More parts than a transfer has slots, with few and many host threads, and rows of 512 and 509 bytes. */
static void transfers(void)
{
  static const int threads[] = { 1, 2, 5, 40 };
  const int64_t ny = is_short() ? 64 : 512, nz = is_short() ? 160 : 310;
  const double isovalue = 50;
  OWNED_CONTEXT cpu = cpu_new();
  for (int n = 0; n < 8; n++) {
    const int64_t nx = n % 2 ? 509 : 512;
    OWNED_CONTEXT gpu = NULL;
    const pmb_options options = {
      .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .threads = threads[n / 2]
    };
    OWNED_VOLUME v;
    pair p = { .cpu = cpu };
    if (pmb_create(&options, &gpu) == PMB_UNAVAILABLE) test_skip("%s", pmb_error(NULL));
    p.gpu = gpu;
    volume_make(&v, PMB_UINT8, nx, ny, nz, LAYOUT_PACKED);
    for (int64_t k = 0; k < nz; k++)
      memset((char *)v.memory + k * nx * ny, k * 7 % 40 == 0 ? (int)(k % 90) : 0, (size_t)(nx * ny));
    test_about("%lld x %lld x %lld, %d threads", (long long)nx, (long long)ny, (long long)nz, threads[n / 2]);
    bind_both(&p, &v);
    extract_both(&p, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32);
    extract_both(&p, &isovalue, 1, 1, PMB_FLOAT64, PMB_INT64);
    enough(&p, 100000);
  }
}

/* A column of almost only zeros, with so many bricks that a warp of select needs several rounds. */
static void many_bricks(void)
{
  enum { STEP = 997 };
  const int64_t length = is_short() ? 1000000 : 17000000;
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_FLOAT32, PMB_FLOAT64 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 33 };
  for (int n = 0; n < (is_short() ? 1 : 4); n++) {
    const double isovalues[] = { 50, 90 };
    OWNED_VOLUME v;
    volume_make(&v, types[n], 2, 2, length, LAYOUT_PACKED);
    memset(v.memory, 0, (size_t)(4 * length) * pmb_type_size(types[n]));
    for (int64_t i = 0; i < 4 * length; i += STEP) {
      const int64_t value = rng_int(&rng, 0, 100);
      if (types[n] == PMB_UINT8) ((uint8_t *)v.memory)[i] = (uint8_t)value;
      if (types[n] == PMB_INT16) ((int16_t *)v.memory)[i] = (int16_t)value;
      if (types[n] == PMB_FLOAT32) ((float *)v.memory)[i] = (float)value;
      if (types[n] == PMB_FLOAT64) ((double *)v.memory)[i] = (double)value;
    }
    test_about("many bricks of %s", type_name(types[n]));
    bind_both(&p, &v);
    extract_both(&p, isovalues, 2, n & 1, PMB_FLOAT32, PMB_INT32);
  }
  CHECK(p.triangles > length / 1000, "only %lld triangles compared", (long long)p.triangles);
}

/* Isovalues for a volume: some twice, some equal to samples, some outside the range. */
static void mixed_isovalues(const test_volume *v, int64_t n, test_rng *rng, double *isovalues)
{
  for (int64_t i = 0; i < n; i++) {
    const int64_t kind = rng_int(rng, 0, 9);
    isovalues[i] = kind == 0 && i > 0 ? isovalues[rng_int(rng, 0, i - 1)]
      : kind == 1                     ? -1e6
      : kind == 2                     ? 1e7
                                      : volume_isovalue(v, rng);
  }
}

/* Each isovalue has the CPU's sizes, and the mesh has the CPU's bytes; so have the meshes of no isovalue and of one. */
static void several_both(pair *p, const double *isovalues, int64_t n, int remove_degenerate)
{
  enum { MOST = 64 };
  pmb_sizes c[MOST], g[MOST], sizes;
  const pmb_request request = { sizeof request, isovalues, n, remove_degenerate };
  CHECK_STATUS(p->cpu, pmb_count(p->cpu, &request, &sizes, c), PMB_OK);
  CHECK_STATUS(p->gpu, pmb_count(p->gpu, &request, &sizes, g), PMB_OK);
  for (int64_t i = 0; i < n; i++)
    CHECK(c[i].points == g[i].points && c[i].triangles == g[i].triangles,
      "isovalue %lld: %lld points, %lld on the GPU", (long long)i, (long long)c[i].points, (long long)g[i].points);
  same_info(p);
  extract_both(p, isovalues, n, remove_degenerate, n & 1 ? PMB_FLOAT32 : PMB_FLOAT64, n & 2 ? PMB_INT32 : PMB_INT64);
  extract_plain(p, NULL, 0, remove_degenerate);
  extract_plain(p, &isovalues[n / 2], 1, remove_degenerate);
}

/* Fewer isovalues than one launch takes, as many, and more, of all types. */
static void several_isovalues(void)
{
  static const int64_t sizes[][3] = { { 2, 1, 9 }, { 33, 5, 5 }, { 70, 45, 37 }, { 131, 60, 90 } };
  static const int64_t counts[] = { 2, 3, 16, 17, 40 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 31 };
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int s = 0; s < (is_short() ? 2 : 4); s++)
      for (int data = s % 2; data < DATA_KINDS; data += is_short() ? 4 : 2) {
        const int64_t n = counts[rng_int(&rng, 0, 4)];
        double isovalues[40];
        OWNED_VOLUME v;
        volume_make(&v, (pmb_type)type, sizes[s][0], sizes[s][1], sizes[s][2], (s + data) % LAYOUTS);
        volume_fill(&v, data, &rng);
        volume_world(&v, (s + type) % WORLDS, &rng);
        test_about("%s, size %d, data %d, %lld isovalues", type_name((pmb_type)type), s, data, (long long)n);
        bind_both(&p, &v);
        mixed_isovalues(&v, n, &rng, isovalues);
        several_both(&p, isovalues, n, 0);
        several_both(&p, isovalues, n, 1);
      }
  enough(&p, is_short() ? 1000 : 100000);
}

/* The scan's epochs wrap around after 16,384 counts. */
static void scan_epochs_wrap_around(void)
{
  OWNED_PAIR p = pair_new();
  test_rng rng = { 12 };
  OWNED_VOLUME v;
  pmb_sizes first, sizes;
  const double isovalue = 0.3;
  const pmb_request request = { sizeof request, &isovalue, 1, 1 };
  volume_make(&v, PMB_FLOAT32, 40, 40, 40, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  bind_both(&p, &v);
  CHECK_STATUS(p.cpu, pmb_count(p.cpu, &request, &first, NULL), PMB_OK);
  for (int i = 0; i < (is_short() ? 10 : 33000) && !test_failures(); i++) {
    CHECK_STATUS(p.gpu, pmb_count(p.gpu, &request, &sizes, NULL), PMB_OK);
    CHECK(sizes.points == first.points && sizes.triangles == first.triangles, "count %d: %lld points, not %lld", i,
      (long long)sizes.points, (long long)first.points);
  }
}

enum { BINS = 50 };

/* Checks that both backends give the same histogram over a range, and the same suggestions. */
static void same_numbers(const pair *p, double low, double high)
{
  int64_t counts[2][2][BINS], found[2] = { -1, -1 };
  double values[2][4] = { { 0 } };
  for (int n = 0; n < 2; n++) {
    pmb_context *context = n ? p->gpu : p->cpu;
    const pmb_histogram_request request = { .struct_size = sizeof request,
      .low = low,
      .high = high,
      .bins = BINS,
      .crossed = counts[n][0],
      .touched = counts[n][1] };
    CHECK_STATUS(context, pmb_histogram(context, &request), PMB_OK);
    CHECK_STATUS(context, pmb_suggest(context, 4, values[n], &found[n]), PMB_OK);
  }
  CHECK(!memcmp(counts[0], counts[1], sizeof counts[0]), "the histograms differ");
  CHECK(found[0] == found[1] && !memcmp(values[0], values[1], sizeof values[0]), "%d suggestions: %g ..., %d: %g ...",
    (int)found[0], values[0][0], (int)found[1], values[1][0]);
}

/* All types and data, sizes that end within a brick, hidden and non-finite samples. */
static void histogram(void)
{
  OWNED_PAIR p = pair_new();
  test_rng rng = { 65 };
  int compared = 0;
  for (int n = 0; n < (is_short() ? 60 : 400); n++) {
    OWNED_VOLUME v;
    volume_make(&v, (pmb_type)(1 + n % 10), rng_int(&rng, 2, 130), rng_int(&rng, 2, 20), rng_int(&rng, 2, 40),
      n / 10 % LAYOUTS);
    volume_fill(&v, n % DATA_KINDS, &rng);
    for (int64_t i = 0; n % 5 == 1 && i < 400; i++)
      volume_set(&v, i / 80 % 2, i % 2, i % v.view.dims[2], -1e30); /* fill value */
    if (n % 3 == 0) volume_sprinkle(&v, n % 2 ? 2000 : 20, &rng);
    if (n % 4 == 0 && n / 10 % LAYOUTS == LAYOUT_PACKED) volume_hide(&v, 300, 500, &rng);
    test_about("volume %d, %s, data %d", n, type_name(v.view.type), n % DATA_KINDS);
    bind_both(&p, &v);
    const pmb_info info = info_of(p.cpu);
    if (info.minimum < info.maximum) {
      same_numbers(&p, info.minimum, info.maximum);
      compared++;
    }
  }
  CHECK(compared > 40, "only %d volumes compared", compared);
}

/* Histograms between meshes: the volume is uploaded once, and the meshes are right. */
static void histogram_beside_isovalues(void)
{
  OWNED_PAIR p = pair_new();
  OWNED_SUBJECTS s;
  subjects_make(&s, 70);
  bind_both(&p, &s.volume[0]);
  for (int n = 0; n < 3; n++) {
    const int64_t before = info_of(p.gpu).bytes;
    same_numbers(&p, -1.5, 1.5);
    CHECK(
      info_of(p.gpu).bytes == before, "host memory grew from %d to %d bytes", (int)before, (int)info_of(p.gpu).bytes);
    gives_subject(p.gpu, &s, 0, "after a histogram");
  }
  CHECK(info_of(p.gpu).uploads == 1, "%d uploads", (int)info_of(p.gpu).uploads);
}

/* clang-format off */
TEST_MAIN(
  CASE(types_and_sizes)
  CASE(several_isovalues)
  CASE(hidden)
  CASE(large)
  CASE(transfers)
  CASE(many_bricks)
  CASE(fuzz)
  CASE(scan_epochs_wrap_around)
  CASE(histogram)
  CASE(histogram_beside_isovalues)
)
