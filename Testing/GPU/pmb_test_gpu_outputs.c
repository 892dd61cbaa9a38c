/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_outputs.c - what a GPU writes is asked for in parts: interpolated arrays, each output alone, points and normals
 * only. Against the CPU's bytes. Needs a GPU (else skipped). */
#include <string.h>

#include "pmb_test_gpu_pair.h"

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

/* One of a few values, zeros of both signs among them. */
static float few_values(test_rng *rng)
{
  static const float values[] = { -1, -0.0f, 0, 1, 2 };
  return values[rng_int(rng, 0, 4)];
}

/* Zeros of both signs, in samples and in an array, and points on samples, from above and from below: a parameter of -0 in
 * place of 0 would show. */
static void signed_zeros(void)
{
  enum { N = 40, SAMPLES = N * N * N };
  pair p = pair_new();
  test_rng rng = { 67 };
  test_volume v;
  float *array = test_allocate(SAMPLES, sizeof(float));
  volume_make(&v, PMB_FLOAT32, N, N, N, LAYOUT_PACKED);
  for (int i = 0; i < SAMPLES; i++) {
    ((float *)v.memory)[i] = few_values(&rng);
    array[i] = few_values(&rng);
  }
  bind_both(&p, &v);
  for (int n = 0; n < 3; n++) {
    const double isovalue = n % 3;
    const pmb_request request = { sizeof request, &isovalue, 1, 0 };
    pmb_attribute of[2];
    pmb_sizes sizes;
    test_about("isovalue %g, turn %d", isovalue, n);
    for (int i = 0; i < 2; i++) {
      pmb_context *context = i ? p.gpu : p.cpu;
      CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
      of[i] = (pmb_attribute){ array, PMB_FLOAT32, 1, test_allocate(sizes.points, sizeof(float)), 0 };
      const pmb_mesh mesh = { .struct_size = sizeof mesh,
        .point_capacity = sizes.points,
        .triangle_capacity = sizes.triangles,
        .attributes = &of[i],
        .attribute_count = 1 };
      CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
    }
    CHECK(sizes.points > 10000, "only %lld points", (long long)sizes.points);
    CHECK(memcmp(of[0].output, of[1].output, (size_t)sizes.points * sizeof(float)) == 0, "the array differs");
    free(of[0].output);
    free(of[1].output);
    extract_both(&p, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32);
  }
  free(array);
  volume_free(&v);
  pair_free(&p);
}

enum { STAY_SIDE = 48, STAY_COUNT = 20 };

/* Interpolates arrays that overlap, each beginning one sample before the one before it: all STAY_COUNT, or only the last.
 * Returns the last one's values, which the caller frees. */
static double *interpolate(
  pmb_context *context, const test_volume *array, double isovalue, uint64_t version, int all, pmb_sizes *sizes)
{
  const pmb_request request = { sizeof request, &isovalue, 1, 1 };
  pmb_attribute a[STAY_COUNT];
  CHECK_STATUS(context, pmb_count(context, &request, sizes, NULL), PMB_OK);
  double *out = test_allocate(sizes->points, 8);
  for (int i = 0; i < STAY_COUNT; i++)
    a[i] = (pmb_attribute){ .samples = (double *)array->memory + (STAY_COUNT - 1 - i),
      .type = PMB_FLOAT64,
      .components = 1,
      .output = out,
      .version = version };
  const pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = sizes->points,
    .triangle_capacity = sizes->triangles,
    .attributes = all ? a : a + STAY_COUNT - 1,
    .attribute_count = all ? STAY_COUNT : 1 };
  CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
  return out;
}

/* What has a version stays on the GPU from isovalue to isovalue, if there is room: a change that the version does not tell
 * of is not seen. What has none is brought each time. */
static void attributes_stay(void)
{
  const int64_t limits[] = { 0, 0, (int64_t)6 << 20, (int64_t)2 << 20, 0 };
  pmb_context *cpu = cpu_new();
  test_rng rng = { 6 };
  test_volume v, array;
  volume_make(&v, PMB_FLOAT32, STAY_SIDE, STAY_SIDE, STAY_SIDE, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  volume_make(&array, PMB_FLOAT64, STAY_SIDE, STAY_SIDE, STAY_SIDE + 1, LAYOUT_PACKED);
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  for (int n = 0; n < 5; n++) {
    const int versions = n < 4, all = n == 1; /* too many for all to stay */
    pmb_context *gpu = gpu_new(limits[n]);
    test_about("limit %lld, version %d", (long long)limits[n], versions ? 7 : 0);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 4; turn++) {
      const double isovalue = 0.1 + 0.05 * turn;
      const uint64_t version = versions ? 7 + (uint64_t)(turn / 2 * turn) : 0;
      pmb_sizes sizes;
      volume_fill(&array, DATA_NOISE, &rng); /* turns 0, 2 and 3 tell of it */
      double *want = interpolate(cpu, &array, isovalue, version, all, &sizes);
      double *got = interpolate(gpu, &array, isovalue, version, all, &sizes);
      const int same = memcmp(want, got, (size_t)sizes.points * 8) == 0;
      CHECK(sizes.points > 100, "only %lld points", (long long)sizes.points);
      if (turn != 1 || !versions) {
        CHECK(same, "turn %d: differs", turn);
      } else if (n == 0 || n == 2) {
        CHECK(!same, "turn 1: was brought again");
      }
      free(want);
      free(got);
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

/* Numbers so small that half of one need not be one, and some that are not. */
static void denormals(void)
{
  for (int wide = 0; wide < 2; wide++) {
    pair p = pair_new();
    test_rng rng = { 27 };
    test_volume v;
    const double least = wide ? 0x1p-1074 : 0x1p-149, isovalues[] = { 101 * least, -7 * least, 0 };
    volume_make(&v, wide ? PMB_FLOAT64 : PMB_FLOAT32, 41, 12, 11, LAYOUT_PACKED);
    for (int64_t i = 0; i < 41 * 12 * 11; i++) {
      const double size = i % 5 ? 300 * least : i % 3 ? 0x1p-100 : i % 2 ? 1 : 3e38;
      volume_set(&v, i % 41, i / 41 % 12, i / 492, rng_real(&rng, -size, size));
    }
    bind_both(&p, &v);
    extract_both(&p, isovalues, 3, 1, PMB_FLOAT32, PMB_INT32);
    extract_both(&p, isovalues, 3, 0, PMB_FLOAT64, PMB_INT64);
    CHECK(p.triangles > 1000, "only %lld triangles", (long long)p.triangles);
    volume_free(&v);
    pair_free(&p);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(attributes)
  CASE(attributes_stay)
  CASE(single_outputs)
  CASE(points_and_normals)
  CASE(signed_zeros)
  CASE(denormals)
)
