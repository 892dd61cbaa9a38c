/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_general.c - ways of pass vertices on a GPU that the other tests hardly come to, the general one and that of
 * large volumes, against the CPU: the same bytes. Needs a GPU (else skipped). PMB_TEST_SHORT in the environment: fewer cases. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/pmb_cuda.h"
#include "pmb_test_gpu_util.h"

/* One mesh from each of two bound contexts; returns the triangles compared. */
static int64_t same_meshes(pmb_context *cpu, pmb_context *gpu, pmb_gradient_estimator estimator,
  const double *isovalues, int64_t count, int remove_degenerate, int wide)
{
  const pmb_type real = wide ? PMB_FLOAT64 : PMB_FLOAT32, id = wide ? PMB_INT64 : PMB_INT32;
  test_mesh a, b;
  CHECK_STATUS(cpu, mesh_extract_by(cpu, estimator, isovalues, count, remove_degenerate, real, id, &a), PMB_OK);
  CHECK_STATUS(gpu, mesh_extract_by(gpu, estimator, isovalues, count, remove_degenerate, real, id, &b), PMB_OK);
  mesh_equal(&a, &b, "CPU and GPU");
  const int64_t triangles = a.sizes.triangles;
  mesh_free(&a);
  mesh_free(&b);
  return triangles;
}

/* All types, borders on both sides of bricks, dims of 2, samples that are not finite, limits of types, several isovalues. */
static void estimators(void)
{
  static const int64_t sizes[][3] = { { 2, 2, 2 }, { 33, 5, 5 }, { 34, 6, 7 }, { 65, 2, 9 }, { 32, 4, 4 },
    { 2, 9, 40 }, { 97, 13, 9 }, { 40, 33, 2 } };
  enum { SIZES = sizeof sizes / sizeof *sizes };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 44 };
  int64_t triangles = 0;
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int n = 0; n < (is_short() ? 5 : 5 * SIZES); n++) {
      const int s = (n + type) % SIZES, data = n % DATA_KINDS;
      double isovalues[3];
      test_volume v;
      volume_make(&v, (pmb_type)type, sizes[s][0], sizes[s][1], sizes[s][2], n % LAYOUTS);
      volume_fill(&v, data, &rng);
      if (n % 2) volume_sprinkle(&v, 60, &rng);
      volume_world(&v, (n + type) % WORLDS, &rng);
      CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
      CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
      for (int i = 0; i < 3; i++) isovalues[i] = volume_isovalue(&v, &rng);
      for (int turn = 0; turn < 6; turn++) {
        test_about("%s, size %d, data %d, turn %d", type_name((pmb_type)type), s, data, turn);
        triangles +=
          same_meshes(cpu, gpu, (pmb_gradient_estimator)(turn % 3), isovalues, 1 + n % 3, turn / 3, (n + turn) % 2);
      }
      volume_free(&v);
    }
  CHECK(triangles > (is_short() ? 100000 : 1000000), "only %lld triangles compared", (long long)triangles);
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* Bricks with more points than are listed at once, most of them active. */
static void full_bricks(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_FLOAT64 };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 45 };
  for (int n = 0; n < 3; n++) {
    const double isovalues[] = { n == 1 ? 127.5 : 0.5, 20 };
    test_volume v;
    volume_make(&v, types[n], 100, is_short() ? 20 : 90, 22, LAYOUT_PACKED);
    volume_fill(&v, DATA_NOISE, &rng);
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 4; turn++) {
      test_about("noise of %s, turn %d", type_name(types[n]), turn);
      const int64_t triangles =
        same_meshes(cpu, gpu, turn % 2 ? PMB_SOBEL : PMB_FORWARD, isovalues, 1 + turn / 2, turn % 2, 0);
      CHECK(triangles > 10000, "only %lld triangles", (long long)triangles);
    }
    volume_free(&v);
  }
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* More bricks with points on samples than there is room for at first, in turn with none: few bricks and more of them. */
static void many_on_samples(void)
{
  static const double isovalues[] = { 40, 40.5, 60 };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 61 };
  for (int n = 0; n < 2; n++) {
    const int64_t nx = 128, ny = 60, nz = n ? 150 : 90;
    test_volume v;
    volume_make(&v, PMB_UINT8, nx, ny, nz, LAYOUT_PACKED);
    for (int64_t i = 0; i < nx * ny * nz; i++)
      volume_set(&v, i % nx, i / nx % ny, i / nx / ny, i % 7 ? 0 : 20 * (double)rng_int(&rng, 0, 4));
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 3; turn++) {
      test_about("%lld slices, turn %d", (long long)nz, turn);
      const int64_t triangles = same_meshes(cpu, gpu, PMB_CENTRAL, &isovalues[turn], 1, 1, 0);
      CHECK(triangles > 10000, "only %lld triangles", (long long)triangles);
    }
    volume_free(&v);
  }
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* Noise that is faint beside the range: gradients that the direct way cannot take, also of the tuned ways (central). */
static void faint_samples(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_FLOAT64 };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 46 };
  for (int n = 0; n < 2 * WORLDS; n++) {
    const double faint = n % 2 ? 1e-110 : 1e-13;
    test_volume v;
    volume_make(&v, types[n % 2], 70, 14, 9, LAYOUT_PACKED);
    volume_world(&v, n / 2, &rng);
    for (int i = 0; i < 70 * 14 * 9; i++)
      volume_set(&v, i % 70, i / 70 % 14, i / 980, i == 500 ? 1 : faint * rng_real(&rng, 0, 2));
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 6; turn++) {
      test_about("%s, world %d, turn %d", type_name(types[n % 2]), n / 2, turn);
      const int64_t triangles =
        same_meshes(cpu, gpu, (pmb_gradient_estimator)(turn % 3), &faint, 1, turn / 3, turn % 2);
      CHECK(triangles > 10000, "only %lld triangles", (long long)triangles);
    }
    volume_free(&v);
  }
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* Points with normals, gradients or attributes alone: the same as all together. */
static void parts_of_the_output(void)
{
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_volume v;
  test_mesh want, got;
  const double isovalue = 0.1;
  volume_sampled(&v, PMB_FLOAT32, 40, gyroid);
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(cpu, mesh_extract_by(cpu, PMB_SOBEL, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
  CHECK(memcmp(want.view.normals, got.view.normals, 12 * (size_t)want.sizes.points) != 0, "the estimators agree");
  float *outputs[2] = { test_allocate(want.sizes.points, 4), test_allocate(want.sizes.points, 4) };
  pmb_attribute attribute = { v.memory, PMB_FLOAT32, 1, outputs[0], 0 };
  pmb_mesh m = want.view;
  m.attributes = &attribute;
  m.attribute_count = 1;
  CHECK_STATUS(cpu, pmb_emit(cpu, &m), PMB_OK);
  attribute.output = outputs[1];
  for (int part = 0; part < 3; part++) {
    m = got.view;
    m.gradient_estimator = PMB_SOBEL;
    m.points = part == 0 ? m.points : NULL;
    m.normals = part == 1 ? m.normals : NULL;
    m.gradients = part == 2 ? m.gradients : NULL;
    m.attributes = &attribute;
    m.attribute_count = part == 1;
    CHECK_STATUS(gpu, pmb_emit(gpu, &m), PMB_OK);
  }
  mesh_equal(&want, &got, "parts of the output");
  CHECK(memcmp(outputs[0], outputs[1], 4 * (size_t)want.sizes.points) == 0, "the attribute differs");
  for (int i = 0; i < 2; i++) free(outputs[i]);
  mesh_free(&want);
  mesh_free(&got);
  volume_free(&v);
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* Emits again, on the GPU, what the tuned ways make: points, normals and triangles alone, without the cells of triangles. */
static void emit_usual(pmb_context *gpu, const test_mesh *mesh)
{
  pmb_mesh m = mesh->view;
  m.gradients = NULL;
  m.cells = NULL;
  memset(m.points, 0xa5, 12 * (size_t)mesh->sizes.points);
  memset(m.normals, 0xa5, 12 * (size_t)mesh->sizes.points);
  memset(m.triangles, 0xa5, 12 * (size_t)mesh->sizes.triangles);
  CHECK_STATUS(gpu, pmb_emit(gpu, &m), PMB_OK);
}

/* What the library else finds best for the volume: see pmb_cuda.h. */
#ifdef PMB_TEST_CUDA
static void force_layers(int layers)
{
  pmb_cuda_test_layers = layers;
}
static void force_parts(int parts)
{
  pmb_cuda_test_parts = parts;
}
#else
static void force_layers(int layers)
{
  (void)layers;
}
static void force_parts(int parts)
{
  (void)parts;
}
#endif

/* The way of large volumes in small ones: sizes around those of its blocks, layers and rings. */
static void columns(void)
{
  static const int64_t sizes[3][6] = { { 128, 33, 65, 64, 66, 130 }, { 16, 17, 5, 33, 18, 64 },
    { 41, 9, 64, 17, 28, 5 } };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 47 };
  force_parts(-1);
  for (int n = 0; n < (is_short() ? 12 : 72); n++) {
    static const int layers[] = { 16, 1, 4, 2, 3, 7, 5 };
    const int64_t nx = sizes[0][n % 6], ny = sizes[1][n / 2 % 6], nz = sizes[2][n / 3 % 6];
    const double isovalue = n % 4 == 3 ? 0.5 : 0.1;
    test_volume v;
    force_layers(layers[n % 7]);
    volume_make(&v, PMB_FLOAT32, nx, ny, nz, n / 6 % LAYOUTS);
    for (int64_t i = 0; i < nx * ny * nz; i++) {
      const double x = 0.31 * (double)(i % nx), y = 0.37 * (double)(i / nx % ny), z = 0.34 * (double)(i / nx / ny);
      volume_set(&v, i % nx, i / nx % ny, i / nx / ny,
        n % 4 == 3 || (n % 4 == 2 && i / nx / ny < 4)
          ? rng_real(&rng, 0, 1) /* many points in all bricks, or in few */
          : sin(x) * cos(y) + sin(y) * cos(z) + sin(z) * cos(x));
    }
    if (n % 8 == 5) volume_sprinkle(&v, 3000, &rng);
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 2; turn++) {
      test_about(
        "%lld x %lld x %lld, %d layers, turn %d", (long long)nx, (long long)ny, (long long)nz, layers[n % 7], turn);
      test_mesh a, b;
      CHECK_STATUS(cpu, mesh_extract(cpu, &isovalue, 1, turn, PMB_FLOAT32, PMB_INT32, &a), PMB_OK);
      CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, turn, PMB_FLOAT32, PMB_INT32, &b), PMB_OK);
      emit_usual(gpu, &b); /* with gradients the list serves */
      mesh_equal(&a, &b, "CPU and GPU");
      CHECK(a.sizes.triangles > nx * ny * nz / 100, "only %lld triangles", (long long)a.sizes.triangles);
      mesh_free(&a);
      mesh_free(&b);
    }
    volume_free(&v);
  }
  force_layers(0);
  force_parts(0);
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* A smooth volume, noise, noise of few values (points on samples), and with what is not finite. */
static void fill_by_kind(test_volume *v, int64_t nx, int64_t ny, int64_t nz, int kind, test_rng *rng)
{
  for (int64_t i = 0; i < nx * ny * nz; i++) {
    const double x = 0.11 * (double)(i % nx), y = 0.17 * (double)(i / nx % ny), z = 0.14 * (double)(i / nx / ny);
    const double noise = rng_real(rng, 0, 100),
                 smooth = 50 + 15 * (sin(x) * cos(y) + sin(y) * cos(z) + sin(z) * cos(x));
    volume_set(v, i % nx, i / nx % ny, i / nx / ny, kind == 1 ? noise : kind == 2 ? floor(noise / 20) * 20 : smooth);
  }
  if (kind == 3 && v->view.type == PMB_FLOAT32) volume_sprinkle(v, 3000, rng);
}

/* Full and thin bricks, points on samples, samples that are not finite, mirrored worlds, several isovalues. */
static void kinds_of_bricks(void)
{
  static const int64_t sizes[3][5] = { { 128, 33, 65, 31, 70 }, { 16, 17, 5, 33, 9 }, { 41, 9, 64, 6, 28 } };
  static const double isovalues[3] = { 52, 40, 61 };
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_INT16, PMB_INT8, PMB_UINT16, PMB_FLOAT64 };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 53 };
  for (int n = 0; n < (is_short() ? 16 : 80); n++) {
    const int64_t nx = sizes[0][n % 5], ny = sizes[1][n / 2 % 5], nz = sizes[2][n / 3 % 5];
    test_volume v;
    volume_make(&v, types[n / 2 % 6], nx, ny, nz, n / 4 % LAYOUT_CONSTANT);
    fill_by_kind(&v, nx, ny, nz, n % 4, &rng);
    volume_world(&v, n % 8 >= 4 ? WORLD_MIRRORED : WORLD_SPACING, &rng);
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < 4; turn++) {
      test_about("%lld x %lld x %lld, %d, turn %d", (long long)nx, (long long)ny, (long long)nz, n, turn);
      test_mesh a, b;
      const int64_t count = turn < 2 ? 1 : 3;
      CHECK_STATUS(cpu, mesh_extract(cpu, isovalues, count, turn & 1, PMB_FLOAT32, PMB_INT32, &a), PMB_OK);
      CHECK_STATUS(gpu, mesh_extract(gpu, isovalues, count, turn & 1, PMB_FLOAT32, PMB_INT32, &b), PMB_OK);
      mesh_equal(&a, &b, "CPU and GPU");
      CHECK(a.sizes.triangles > 0, "no triangles");
      mesh_free(&a);
      mesh_free(&b);
    }
    volume_free(&v);
  }
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* Vertices and triangles in one launch and in two, any number of warps to a brick: bricks that are full, thin, have points on
 * samples or such that go the careful way. */
static void together(void)
{
  static const int parts[] = { 0, 1, 2, 4, -1, 3 };
  static const int64_t sizes[3][5] = { { 128, 33, 65, 31, 70 }, { 16, 17, 5, 33, 9 }, { 41, 9, 64, 6, 28 } };
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_INT16, PMB_INT8, PMB_UINT16, PMB_FLOAT64 };
  pmb_context *cpu = cpu_new(), *gpu = gpu_new(0);
  test_rng rng = { 59 };
  for (int n = 0; n < (is_short() ? 12 : 180); n++) {
    const int64_t nx = sizes[0][n % 5], ny = sizes[1][n / 2 % 5], nz = sizes[2][n / 3 % 5];
    const int faint = n % 10 == 9;
    const double isovalues[3] = { faint ? 1e-13 : 52, 40, 61 };
    test_volume v;
    volume_make(&v, faint ? PMB_FLOAT32 : types[n / 2 % 6], nx, ny, nz, n / 4 % LAYOUT_CONSTANT);
    fill_by_kind(&v, nx, ny, nz, n % 4, &rng);
    for (int64_t i = 0; faint && i < nx * ny * nz; i++)
      volume_set(&v, i % nx, i / nx % ny, i / nx / ny, i == 500 ? 1 : 1e-13 * rng_real(&rng, 0, 2));
    volume_world(&v, n % 8 >= 4 ? WORLD_MIRRORED : WORLD_SPACING, &rng);
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    for (int turn = 0; turn < (is_short() ? 4 : 8); turn++) {
      const int warps = parts[(n + turn) % 6];
      test_about("%lld x %lld x %lld, %s, %d, turn %d, %d warps", (long long)nx, (long long)ny, (long long)nz,
        type_name(v.view.type), n, turn, warps);
      force_parts(warps);
      test_mesh a, b;
      const int64_t count = turn % 4 < 3 ? 1 : 3;
      CHECK_STATUS(cpu, mesh_extract(cpu, isovalues, count, turn & 1, PMB_FLOAT32, PMB_INT32, &a), PMB_OK);
      CHECK_STATUS(gpu, mesh_extract(gpu, isovalues, count, turn & 1, PMB_FLOAT32, PMB_INT32, &b), PMB_OK);
      emit_usual(gpu, &b);
      mesh_equal(&a, &b, "CPU and GPU");
      CHECK(a.sizes.triangles > 0, "no triangles");
      mesh_free(&a);
      mesh_free(&b);
    }
    volume_free(&v);
  }
  force_parts(0);
  pmb_destroy(cpu);
  pmb_destroy(gpu);
}

/* clang-format off */
TEST_MAIN(
  CASE(columns)
  CASE(estimators)
  CASE(full_bricks)
  CASE(faint_samples)
  CASE(kinds_of_bricks)
  CASE(many_on_samples)
  CASE(parts_of_the_output)
  CASE(together)
)
