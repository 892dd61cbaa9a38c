/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu.c - the CUDA backend against the CPU's: the same bytes in every array, for all types, sizes and options;
 * limits of memory, aborting, and what the context says of itself. Needs a GPU (else skipped). PMB_TEST_SHORT in the
 * environment: fewer cases, for slow tools. */
#include <stdio.h>
#include <string.h>

#include "test_util.h"

static int is_short(void)
{
  return getenv("PMB_TEST_SHORT") != NULL;
}

static pmb_context *gpu_new(int64_t limit)
{
  pmb_context *context = NULL;
  pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .device_memory_limit = limit };
  const pmb_status status = pmb_create(&options, &context);
  if (status == PMB_UNAVAILABLE) test_skip("%s", pmb_error(NULL));
  if (!CHECK(status == PMB_OK && context, "pmb_create: %s", pmb_error(NULL))) exit(1);
  return context;
}

static pmb_context *cpu_new(void)
{
  pmb_context *context = NULL;
  pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_CPU };
  if (!CHECK(pmb_create(&options, &context) == PMB_OK, "pmb_create: %s", pmb_error(NULL))) exit(1);
  return context;
}

/* Two contexts that must agree. */
typedef struct pair {
  pmb_context *cpu, *gpu;
  int64_t triangles; /* compared so far */
  pmb_gradient_estimator estimator;
} pair;

static pair pair_new(void)
{
  return (pair){ cpu_new(), gpu_new(0), 0, PMB_CENTRAL };
}

static void pair_free(pair *p)
{
  pmb_destroy(p->cpu);
  pmb_destroy(p->gpu);
}

static void same_info(const pair *p)
{
  pmb_info c = { .struct_size = sizeof c }, g = { .struct_size = sizeof g };
  pmb_get_info(p->cpu, &c);
  pmb_get_info(p->gpu, &g);
  CHECK(c.minimum == g.minimum && c.maximum == g.maximum, "range %g..%g on the CPU, %g..%g on the GPU", c.minimum,
    c.maximum, g.minimum, g.maximum);
  CHECK(c.bricks == g.bricks && c.nonfinite_bricks == g.nonfinite_bricks && c.active_bricks == g.active_bricks,
    "bricks, non-finite, active: %lld %lld %lld on the CPU, %lld %lld %lld on the GPU", (long long)c.bricks,
    (long long)c.nonfinite_bricks, (long long)c.active_bricks, (long long)g.bricks, (long long)g.nonfinite_bricks,
    (long long)g.active_bricks);
}

static void bind_both(pair *p, const test_volume *v)
{
  CHECK_STATUS(p->cpu, pmb_bind(p->cpu, &v->view), PMB_OK);
  CHECK_STATUS(p->gpu, pmb_bind(p->gpu, &v->view), PMB_OK);
}

static void extract_both(
  pair *p, const double *isovalues, int64_t count, int remove_degenerate, pmb_type real_type, pmb_type id_type)
{
  test_mesh a, b;
  CHECK_STATUS(p->cpu,
    mesh_extract_by(p->cpu, p->estimator, isovalues, count, remove_degenerate, real_type, id_type, &a), PMB_OK);
  CHECK_STATUS(p->gpu,
    mesh_extract_by(p->gpu, p->estimator, isovalues, count, remove_degenerate, real_type, id_type, &b), PMB_OK);
  if (CHECK(a.sizes.points == b.sizes.points && a.sizes.triangles == b.sizes.triangles,
        "%lld points, %lld triangles on the CPU, %lld and %lld on the GPU; isovalue %.17g, remove_degenerate %d",
        (long long)a.sizes.points, (long long)a.sizes.triangles, (long long)b.sizes.points,
        (long long)b.sizes.triangles, count ? isovalues[0] : 0, remove_degenerate)) {
    mesh_equal(&a, &b, "CPU and GPU");
  }
  if (count == 1) same_info(p);
  p->triangles += a.sizes.triangles;
  mesh_free(&a);
  mesh_free(&b);
}

/* Both settings of remove_degenerate, types of the output in turn. */
static void extract_all(pair *p, const test_volume *v, int64_t count, test_rng *rng)
{
  double isovalues[4];
  for (int i = 0; i < count; i++) isovalues[i] = volume_isovalue(v, rng);
  for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++) {
    const int other = (int)rng_int(rng, 0, 3);
    extract_both(p, isovalues, count, remove_degenerate, other & 1 ? PMB_FLOAT64 : PMB_FLOAT32,
      other & 2 ? PMB_INT64 : PMB_INT32);
  }
}

static void types_and_sizes(void)
{
  static const int64_t sizes[][3] = { { 1, 1, 1 }, { 2, 2, 2 }, { 2, 1, 9 }, { 3, 66, 30 }, { 31, 3, 5 },
    { 32, 4, 4 }, { 33, 5, 5 }, { 34, 6, 7 }, { 64, 64, 16 }, { 65, 8, 9 }, { 70, 45, 37 }, { 131, 17, 9 },
    { 257, 9, 5 }, { 600, 5, 6 }, { 5, 7, 150 } };
  pair p = pair_new();
  test_rng rng = { 7 };
  const int step = is_short() ? 4 : 1;
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int s = type % step; s < (int)(sizeof sizes / sizeof *sizes); s += step)
      for (int data = 0; data < DATA_KINDS; data += step) {
        test_volume v;
        volume_make(&v, (pmb_type)type, sizes[s][0], sizes[s][1], sizes[s][2], (s + data) % LAYOUTS);
        volume_fill(&v, data, &rng);
        volume_world(&v, (s + type) % WORLDS, &rng);
        test_about("%s, size %d, data %d", type_name((pmb_type)type), s, data);
        bind_both(&p, &v);
        extract_all(&p, &v, 1, &rng);
        volume_free(&v);
      }
  CHECK(p.triangles > 100000, "only %lld triangles compared", (long long)p.triangles);
  pair_free(&p);
}

static void fuzz(void)
{
  pair p = pair_new();
  test_rng rng = { 20 };
  const int cases = is_short() ? 40 : 1500;
  for (int n = 0; n < cases; n++) {
    test_volume v;
    const int64_t most = n % 3 ? 40 : 140;
    volume_random(&v, rng_int(&rng, 1, most), rng_int(&rng, 1, 40), rng_int(&rng, 1, 40), &rng);
    bind_both(&p, &v);
    p.estimator = (pmb_gradient_estimator)rng_int(&rng, PMB_CENTRAL, PMB_SOBEL);
    extract_all(&p, &v, 1 + n % 7 / 5, &rng);
    volume_free(&v);
  }
  CHECK(p.triangles > (is_short() ? 10000 : 5000000), "only %lld triangles compared", (long long)p.triangles);
  pair_free(&p);
}

/* Many bricks: several tiles in every scan, bricks full of points, lists longer than one pass. */
static void large(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_UINT16, PMB_FLOAT64 };
  pair p = pair_new();
  test_rng rng = { 3 };
  for (int n = 0; n < (is_short() ? 2 : 8); n++) {
    test_volume v;
    const double isovalue = n % 2 ? 0.1 : -0.012;
    volume_sampled(&v, types[n / 2 % 4], is_short() ? 100 : 260, n % 2 ? gyroid : cayley);
    test_about("%s of %s", n % 2 ? "gyroid" : "Cayley", type_name(v.view.type));
    bind_both(&p, &v);
    extract_both(&p, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32);
    extract_both(&p, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32);
    extract_all(&p, &v, 1, &rng);
    volume_free(&v);
  }
  for (int data = 0; data < 3; data++) {
    test_volume v;
    volume_make(&v, data == 1 ? PMB_UINT8 : PMB_FLOAT32, 200, 150, is_short() ? 10 : 130, LAYOUT_PACKED);
    volume_fill(&v, data == 2 ? DATA_PLATEAU : DATA_NOISE, &rng);
    test_about("large data %d", data);
    bind_both(&p, &v);
    extract_all(&p, &v, 1, &rng);
    volume_free(&v);
  }
  pair_free(&p);
}

/* Hidden samples and cells, few and many, of all types; several isovalues; a volume that is bound again with other flags. */
static void hidden(void)
{
  pair p = pair_new();
  test_rng rng = { 23 };
  for (int n = 0; n < (is_short() ? 10 : 120); n++) {
    test_volume v;
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
    volume_free(&v);
  }
  CHECK(p.triangles > (is_short() ? 1000 : 100000), "only %lld triangles compared", (long long)p.triangles);
  pair_free(&p);
}

/* More parts than a transfer has slots, with few and many host threads, of packed and padded rows. */
static void transfers(void)
{
  static const int threads[] = { 1, 2, 5, 40 };
  const int64_t ny = is_short() ? 64 : 512, nz = is_short() ? 160 : 310;
  const double isovalue = 50;
  pmb_context *cpu = cpu_new();
  for (int n = 0; n < 8; n++) {
    const int64_t nx = n % 2 ? 509 : 512;
    pmb_context *gpu = NULL;
    const pmb_options options = {
      .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .threads = threads[n / 2]
    };
    test_volume v;
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
    CHECK(p.triangles > 100000, "only %lld triangles", (long long)p.triangles);
    volume_free(&v);
    pmb_destroy(gpu);
  }
  pmb_destroy(cpu);
}

/* So many bricks that select goes another way: a column of samples, nearly all 0. */
static void many_bricks(void)
{
  enum { LENGTH = 17000000, STEP = 997 };
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_FLOAT32, PMB_FLOAT64 };
  pair p = pair_new();
  test_rng rng = { 33 };
  for (int n = 0; n < (is_short() ? 1 : 4); n++) {
    const double isovalues[] = { 50, 90 };
    test_volume v;
    volume_make(&v, types[n], 2, 2, LENGTH, LAYOUT_PACKED);
    memset(v.memory, 0, (size_t)4 * LENGTH * pmb_type_size(types[n]));
    for (int64_t i = 0; i < 4 * (int64_t)LENGTH; i += STEP) {
      const int64_t value = rng_int(&rng, 0, 100);
      if (types[n] == PMB_UINT8) ((uint8_t *)v.memory)[i] = (uint8_t)value;
      if (types[n] == PMB_INT16) ((int16_t *)v.memory)[i] = (int16_t)value;
      if (types[n] == PMB_FLOAT32) ((float *)v.memory)[i] = (float)value;
      if (types[n] == PMB_FLOAT64) ((double *)v.memory)[i] = (double)value;
    }
    test_about("many bricks of %s", type_name(types[n]));
    bind_both(&p, &v);
    extract_both(&p, isovalues, 2, n & 1, PMB_FLOAT32, PMB_INT32);
    volume_free(&v);
  }
  CHECK(p.triangles > 10000, "only %lld triangles compared", (long long)p.triangles);
  pair_free(&p);
}

static void isovalues_in_turn(void)
{
  pair p = pair_new();
  test_rng rng = { 11 };
  test_volume v;
  volume_make(&v, PMB_UINT8, 90, 50, 40, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  bind_both(&p, &v);
  test_about("three isovalues at once, then many counts in turn");
  extract_all(&p, &v, 4, &rng);
  extract_both(&p, NULL, 0, 1, PMB_FLOAT32, PMB_INT32);
  for (int i = 0; i < (is_short() ? 20 : 300); i++) {
    const double isovalue = i * 0.9;
    extract_both(&p, &isovalue, 1, i & 1, PMB_FLOAT32, PMB_INT32);
  }
  volume_free(&v);
  pair_free(&p);
}

/* Isovalues for a volume: some twice, some that the samples are equal to, some beyond their range. */
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

/* Sizes of each isovalue, and each isovalue's part of the mesh, as on the CPU. */
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
  extract_both(p, &isovalues[n / 2], 1, remove_degenerate, PMB_FLOAT32, PMB_INT32);
}

/* Fewer, as many and more isovalues than go together, of all types. */
static void several_isovalues(void)
{
  static const int64_t sizes[][3] = { { 2, 1, 9 }, { 33, 5, 5 }, { 70, 45, 37 }, { 131, 60, 90 } };
  static const int64_t counts[] = { 2, 3, 16, 17, 40 };
  pair p = pair_new();
  test_rng rng = { 31 };
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int s = 0; s < (is_short() ? 2 : 4); s++)
      for (int data = s % 2; data < DATA_KINDS; data += is_short() ? 4 : 2) {
        const int64_t n = counts[rng_int(&rng, 0, 4)];
        double isovalues[40];
        test_volume v;
        volume_make(&v, (pmb_type)type, sizes[s][0], sizes[s][1], sizes[s][2], (s + data) % LAYOUTS);
        volume_fill(&v, data, &rng);
        volume_world(&v, (s + type) % WORLDS, &rng);
        test_about("%s, size %d, data %d, %lld isovalues", type_name((pmb_type)type), s, data, (long long)n);
        bind_both(&p, &v);
        mixed_isovalues(&v, n, &rng, isovalues);
        several_both(&p, isovalues, n, 0);
        several_both(&p, isovalues, n, 1);
        volume_free(&v);
      }
  CHECK(p.triangles > (is_short() ? 1000 : 100000), "only %lld triangles compared", (long long)p.triangles);
  pair_free(&p);
}

/* The scan's marks come round after 16,384 counts. */
static void counts_come_round(void)
{
  pair p = pair_new();
  test_rng rng = { 12 };
  test_volume v;
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
  volume_free(&v);
  pair_free(&p);
}

static void attributes(void)
{
  enum { TYPES = 10, N = 40 };
  pair p = pair_new();
  test_rng rng = { 5 };
  test_volume v, arrays[TYPES];
  pmb_attribute a[TYPES], b[TYPES];
  const double isovalues[] = { 0.1, 0.3, 0.1 };
  const pmb_request request = { sizeof request, isovalues, 3, 1 };
  pmb_sizes sizes;
  volume_make(&v, PMB_FLOAT32, N, N, N, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  bind_both(&p, &v);
  CHECK_STATUS(p.cpu, pmb_count(p.cpu, &request, &sizes, NULL), PMB_OK);
  CHECK_STATUS(p.gpu, pmb_count(p.gpu, &request, &sizes, NULL), PMB_OK);
  CHECK(sizes.points > 100, "only %lld points", (long long)sizes.points);
  for (int n = 0; n < TYPES; n++) {
    const int components = 1 + n % 3;
    const pmb_type type = (pmb_type)(PMB_INT8 + n);
    volume_make(&arrays[n], type, (int64_t)N * components, N, N, LAYOUT_PACKED);
    volume_fill(&arrays[n], n % 2 ? DATA_LIMITS : DATA_NOISE, &rng);
    a[n] = (pmb_attribute){ arrays[n].memory, type, components,
      test_allocate(sizes.points * components, pmb_type_size(type)), 0 };
    b[n] = a[n];
    b[n].output = test_allocate(sizes.points * components, pmb_type_size(type));
  }
  pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = sizes.points,
    .triangle_capacity = sizes.triangles,
    .attributes = a,
    .attribute_count = TYPES };
  CHECK_STATUS(p.cpu, pmb_emit(p.cpu, &mesh), PMB_OK);
  mesh.attributes = b;
  CHECK_STATUS(p.gpu, pmb_emit(p.gpu, &mesh), PMB_OK);
  for (int n = 0; n < TYPES; n++) {
    const size_t bytes = (size_t)sizes.points * a[n].components * pmb_type_size(a[n].type);
    CHECK(memcmp(a[n].output, b[n].output, bytes) == 0, "attribute of %s differs", type_name(a[n].type));
    free(a[n].output);
    free(b[n].output);
    volume_free(&arrays[n]);
  }
  volume_free(&v);
  pair_free(&p);
}

/* What has a version stays on the GPU from isovalue to isovalue, if there is room: a change that the version does not tell
 * of is not seen. What has none is brought each time. */
static void attributes_stay(void)
{
  enum { N = 48, COUNT = 20 };
  const int64_t limits[] = { 0, 0, (int64_t)6 << 20, (int64_t)2 << 20, 0 };
  pmb_context *cpu = cpu_new();
  test_rng rng = { 6 };
  test_volume v, array;
  volume_make(&v, PMB_FLOAT32, N, N, N, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  volume_make(&array, PMB_FLOAT64, N, N, N + 1, LAYOUT_PACKED); /* COUNT arrays that overlap */
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  for (int n = 0; n < 5; n++) {
    const uint64_t version = n < 4 ? 7 : 0;
    pmb_context *gpu = gpu_new(limits[n]);
    test_about("limit %lld, version %d", (long long)limits[n], (int)version);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 4; turn++) {
      const double isovalue = 0.1 + 0.05 * turn;
      const pmb_request request = { sizeof request, &isovalue, 1, 1 };
      pmb_sizes sizes;
      double *out[2];
      pmb_attribute a[COUNT];
      volume_fill(&array, DATA_NOISE, &rng); /* turns 0, 2 and 3 tell of it */
      pmb_context *contexts[] = { cpu, gpu };
      for (int c = 0; c < 2; c++) {
        CHECK_STATUS(contexts[c], pmb_count(contexts[c], &request, &sizes, NULL), PMB_OK);
        out[c] = test_allocate(sizes.points, 8);
        for (int i = 0; i < COUNT; i++)
          a[i] = (pmb_attribute){ .samples = (double *)array.memory + (COUNT - 1 - i),
            .type = PMB_FLOAT64,
            .components = 1,
            .output = out[c],
            .version = version ? version + (uint64_t)(turn / 2 * turn) : 0 };
        const pmb_mesh mesh = { .struct_size = sizeof mesh,
          .point_capacity = sizes.points,
          .triangle_capacity = sizes.triangles,
          .attributes = n == 1 ? a : a + COUNT - 1, /* too many for all to stay */
          .attribute_count = n == 1 ? COUNT : 1 };
        CHECK_STATUS(contexts[c], pmb_emit(contexts[c], &mesh), PMB_OK);
      }
      const int same = memcmp(out[0], out[1], (size_t)sizes.points * 8) == 0;
      CHECK(sizes.points > 100, "only %lld points", (long long)sizes.points);
      if (turn != 1 || !version) {
        CHECK(same, "turn %d: differs", turn);
      } else if (n == 0 || n == 2) {
        CHECK(!same, "turn 1: was brought again");
      }
      free(out[0]);
      free(out[1]);
    }
    pmb_destroy(gpu);
  }
  volume_free(&array);
  volume_free(&v);
  pmb_destroy(cpu);
}

/* Each output alone gives the same as all together. */
static void single_outputs(void)
{
  pmb_context *gpu = gpu_new(0);
  test_volume v;
  test_mesh all, one;
  const double isovalue = 0.1;
  volume_sampled(&v, PMB_FLOAT32, 50, gyroid);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &all), PMB_OK);
  mesh_make(&one, all.sizes, PMB_FLOAT32, PMB_INT32);
  for (int n = 0; n < 7; n++) {
    pmb_mesh m = one.view;
    m.points = n == 0 ? m.points : NULL;
    m.normals = n == 1 ? m.normals : NULL;
    m.gradients = n == 2 ? m.gradients : NULL;
    m.scalars = n == 3 ? m.scalars : NULL;
    m.triangles = n == 4 ? m.triangles : NULL;
    m.offsets = n == 5 ? m.offsets : NULL;
    m.cells = n == 6 ? m.cells : NULL;
    CHECK_STATUS(gpu, pmb_emit(gpu, &m), PMB_OK);
  }
  mesh_equal(&all, &one, "outputs one by one");
  mesh_free(&all);
  mesh_free(&one);
  volume_free(&v);
  pmb_destroy(gpu);
}

/* Extracts under a limit of memory; the mesh must be the one wanted if there is enough. */
static pmb_status extract_limited(
  const test_volume *v, int64_t limit, const double *isovalues, int64_t count, const test_mesh *want)
{
  pmb_context *gpu = gpu_new(limit);
  pmb_info info = { .struct_size = sizeof info };
  pmb_status status = pmb_bind(gpu, &v->view);
  if (status == PMB_OK) {
    test_mesh got;
    status = mesh_extract(gpu, isovalues, count, 1, PMB_FLOAT32, PMB_INT32, &got);
    if (status == PMB_OK) mesh_equal(want, &got, "under a limit");
    mesh_free(&got);
  }
  CHECK(status == PMB_OK || status == PMB_OUT_OF_MEMORY, "limit %lld: %s", (long long)limit, pmb_error(gpu));
  CHECK_STATUS(gpu, pmb_get_info(gpu, &info), PMB_OK);
  CHECK(info.device_peak_bytes <= limit && info.device_bytes <= info.device_peak_bytes, "%lld bytes, limit %lld",
    (long long)info.device_peak_bytes, (long long)limit);
  pmb_unbind(gpu);
  CHECK_STATUS(gpu, pmb_get_info(gpu, &info), PMB_OK);
  CHECK(info.device_bytes < 4096, "%lld bytes on the GPU with nothing bound", (long long)info.device_bytes);
  pmb_destroy(gpu);
  return status;
}

/* Points and normals in float32 and nothing else, as the benchmark has them. */
static void points_and_normals(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_INT16, PMB_FLOAT64 };
  pair p = pair_new();
  for (int n = 0; n < 16; n++) {
    test_volume v;
    test_mesh all, two;
    const double isovalue = n & 1 ? 0.1 : -0.012;
    volume_sampled(&v, types[n / 4], n & 2 ? 133 : 64, n & 1 ? gyroid : cayley);
    test_about("%s of %s", n & 1 ? "gyroid" : "Cayley", type_name(v.view.type));
    bind_both(&p, &v);
    CHECK_STATUS(p.cpu, mesh_extract(p.cpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &all), PMB_OK);
    CHECK_STATUS(p.gpu, mesh_extract(p.gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &two), PMB_OK);
    memset(two.view.points, 0xff, 12 * (size_t)two.sizes.points);
    memset(two.view.normals, 0xff, 12 * (size_t)two.sizes.points);
    pmb_mesh m = two.view;
    m.gradients = NULL;
    m.scalars = m.triangles = m.offsets = NULL;
    m.cells = NULL;
    CHECK_STATUS(p.gpu, pmb_emit(p.gpu, &m), PMB_OK);
    mesh_equal(&all, &two, "points and normals");
    mesh_free(&all);
    mesh_free(&two);
    volume_free(&v);
  }
  pair_free(&p);
}

/* With every limit from nothing to enough: out of memory says so, leaves nothing, and the context goes on. Several
 * isovalues need no more than one. */
static void out_of_memory(void)
{
  enum { SEVERAL = 7 };
  test_volume v;
  test_mesh want, want_several;
  const double isovalues[SEVERAL] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
  int refused = 0, done = 0;
  volume_sampled(&v, PMB_FLOAT32, 64, gyroid);
  pmb_context *cpu = cpu_new();
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  CHECK_STATUS(cpu, mesh_extract(cpu, isovalues, 1, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
  CHECK_STATUS(cpu, mesh_extract(cpu, isovalues, SEVERAL, 1, PMB_FLOAT32, PMB_INT32, &want_several), PMB_OK);
  for (int64_t limit = 16384; limit < 64 << 20; limit += limit / (is_short() ? 2 : 16)) {
    const pmb_status status = extract_limited(&v, limit, isovalues, 1, &want);
    const pmb_status several = extract_limited(&v, limit, isovalues, SEVERAL, &want_several);
    CHECK(status == several, "limit %lld: one isovalue %s, several %s", (long long)limit, pmb_status_text(status),
      pmb_status_text(several));
    refused += status != PMB_OK;
    done += status == PMB_OK;
  }
  CHECK(refused > 3 && done > 0, "%d refused, %d done", refused, done);
  mesh_free(&want);
  mesh_free(&want_several);
  pmb_destroy(cpu);
  volume_free(&v);
}

/* Says stop at the n-th call. */
static int stop_at(void *user, double fraction)
{
  CHECK(fraction >= 0 && fraction <= 1, "fraction %g", fraction);
  return --*(int *)user < 0;
}

static void aborting(void)
{
  pmb_context *gpu = gpu_new(0);
  test_volume v;
  test_mesh want, got;
  const double isovalues[] = { 0.1, -0.4, 0.1 };
  int aborted = 0, calls = 0;
  volume_sampled(&v, PMB_FLOAT32, 100, gyroid);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, mesh_extract(gpu, isovalues, 3, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
  for (int n = 0; n < 40; n++) {
    calls = n;
    pmb_set_progress(gpu, stop_at, &calls);
    pmb_status status = pmb_bind(gpu, &v.view);
    if (status == PMB_OK) {
      status = mesh_extract(gpu, isovalues, 3, 1, PMB_FLOAT32, PMB_INT32, &got);
      mesh_free(&got);
    }
    CHECK(status == PMB_OK || status == PMB_ABORTED, "status %s", pmb_status_text(status));
    aborted += status == PMB_ABORTED;
    pmb_set_progress(gpu, NULL, NULL);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, mesh_extract(gpu, isovalues, 3, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
    mesh_equal(&want, &got, "after an abort");
    mesh_free(&got);
  }
  CHECK(aborted >= 3 && aborted < 40, "%d of 40 aborted", aborted);
  mesh_free(&want);
  volume_free(&v);
  pmb_destroy(gpu);
}

static void says_what_it_is(void)
{
  pmb_context *gpu = gpu_new(0), *automatic = NULL;
  pmb_info info = { .struct_size = sizeof info };
  CHECK_STATUS(gpu, pmb_get_info(gpu, &info), PMB_OK);
  CHECK(info.device == PMB_DEVICE_GPU && !info.device_note && !strcmp(info.path, "cuda"), "device %d, path %s",
    (int)info.device, info.path);
  CHECK_STATUS(NULL, pmb_create(NULL, &automatic), PMB_OK);
  CHECK_STATUS(automatic, pmb_get_info(automatic, &info), PMB_OK);
  CHECK(info.device == PMB_DEVICE_GPU, "automatic took device %d", (int)info.device);
  const pmb_options far = { .struct_size = sizeof far, .device = PMB_DEVICE_GPU, .device_number = 1001 };
  pmb_context *none = NULL;
  CHECK_STATUS(NULL, pmb_create(&far, &none), PMB_UNAVAILABLE);
  CHECK(!none && strstr(pmb_error(NULL), "1000"), "error text: %s", pmb_error(NULL));
  pmb_destroy(automatic);
  pmb_destroy(gpu);
}

/* Rows so long that a column beyond the last has no number of 32 bits. */
static void too_long(void)
{
  pmb_context *gpu = gpu_new(0);
  const uint8_t samples[2] = { 0, 1 };
  pmb_volume v = { .struct_size = sizeof v, .samples = samples, .type = PMB_UINT8 };
  v.dims[0] = INT32_MAX - 500;
  v.dims[1] = v.dims[2] = v.strides[1] = v.strides[2] = 1;
  CHECK_STATUS(gpu, pmb_bind(gpu, &v), PMB_TOO_LARGE);
  CHECK(strstr(pmb_error(gpu), "2147483147"), "error text: %s", pmb_error(gpu));
  pmb_destroy(gpu);
}

/* Where no GPU can be used: asking for one says why, and the default goes to the CPU and tells. */
static void without_a_gpu(void)
{
  pmb_context *gpu = NULL, *automatic = NULL;
  pmb_info info = { .struct_size = sizeof info };
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU };
  const pmb_status status = pmb_create(&options, &gpu);
  if (status == PMB_OK) {
    pmb_destroy(gpu);
    test_skip("this machine has a GPU");
  }
  CHECK(status == PMB_UNAVAILABLE && !gpu, "status %s", pmb_status_text(status));
  CHECK(strstr(pmb_error(NULL), "no GPU can be used: "), "error text: %s", pmb_error(NULL));
  CHECK_STATUS(NULL, pmb_create(NULL, &automatic), PMB_OK);
  CHECK_STATUS(automatic, pmb_get_info(automatic, &info), PMB_OK);
  CHECK(info.device == PMB_DEVICE_CPU && info.device_note && *info.device_note && info.device_bytes == 0,
    "device %d, note %s", (int)info.device, info.device_note ? info.device_note : "none");
  pmb_destroy(automatic);
}

/* clang-format off */
TEST_MAIN(
  CASE(types_and_sizes)
  CASE(isovalues_in_turn)
  CASE(several_isovalues)
  CASE(attributes)
  CASE(attributes_stay)
  CASE(single_outputs)
  CASE(points_and_normals)
  CASE(out_of_memory)
  CASE(aborting)
  CASE(says_what_it_is)
  CASE(too_long)
  CASE(without_a_gpu)
  CASE(hidden)
  CASE(large)
  CASE(transfers)
  CASE(many_bricks)
  CASE(fuzz)
  CASE(counts_come_round)
)
