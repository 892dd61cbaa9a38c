/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers_scan.c - what pmb_test_papers.c does not ask of scan and welded: flat normals, the bytes that the PMB
 * paper counts, samples that are not finite, and that the CPU and the GPU give the same bytes in the same order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers_compare.h"
#include "test_util.h"

#ifdef PAPERS_ON_GPU
#define SYSTEM(name) &papers_##name##_gpu
static const papers_place *const here = &papers_device;
#else
#define SYSTEM(name) &papers_##name##_cpu
static const papers_place *const here = &papers_host;
#endif
static const papers_system *const scan = SYSTEM(scan), *const welded = SYSTEM(welded);

enum { WHY = 256 };

static void need_place(void)
{
  const char *missing = here->missing();
  if (missing) test_skip("%s: %s", here->name, missing);
}

/* A system's mesh of a volume, on this machine, for papers_mesh_free; memory: what it took. */
static papers_mesh extract(const papers_place *place, const papers_system *system, const test_volume *v,
  double isovalue, papers_memory *memory)
{
  const size_t bytes = (size_t)ref_samples(&v->view) * pmb_type_size(v->view.type);
  papers_mesh mesh, copy = { 0 };
  void *state = NULL, *samples = place->allocate(bytes);
  *memory = papers_memory_of(place);
  if (!CHECK(samples && !place->upload(samples, v->view.samples, bytes), "upload")) exit(1);
  const papers_volume volume = { samples, v->view.type, { v->view.dims[0], v->view.dims[1], v->view.dims[2] } };
  papers_status status = system->create(memory, &volume, &state);
  if (status == PAPERS_OK) status = system->extract(state, isovalue, &mesh);
  if (CHECK(status == PAPERS_OK, "%s: %s %s", system->name, papers_status_text(status), memory->message))
    CHECK(papers_mesh_download(place, &mesh, &copy), "download");
  system->destroy(state);
  place->release(samples);
  return copy;
}

static void sampled(test_volume *v, int64_t n, double (*f)(double, double, double))
{
  volume_sampled(v, PMB_FLOAT32, n, f);
  memset(v->view.index_to_world, 0, sizeof v->view.index_to_world);
}

/* The normal of a triangle's plane, from its points. */
static void plane(const float *p, double n[3])
{
  double a[3], b[3];
  for (int i = 0; i < 3; i++) {
    a[i] = (double)p[3 + i] - p[i];
    b[i] = (double)p[6 + i] - p[i];
  }
  for (int i = 0; i < 3; i++) n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const float *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* One for the three vertices, upright on their plane, of length 1, away from what is inside. */
static void flat_normals(void)
{
  const double center = 16;
  int64_t thin = 0;
  papers_memory memory;
  test_volume v;
  need_place();
  volume_make(&v, PMB_FLOAT32, 33, 33, 33, LAYOUT_PACKED);
  for (int64_t n = 0; n < 33 * 33 * 33; n++) {
    const double p[3] = { n % 33 - center, n / 33 % 33 - center, n / (33 * 33) - center };
    volume_set(&v, n % 33, n / 33 % 33, n / (33 * 33), 100 - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
  }
  papers_mesh m = extract(here, scan, &v, 100 - 10.3, &memory);
  CHECK(m.triangles > 1000 && m.normals, "%lld triangles", (long long)m.triangles);
  for (int64_t t = 0; t < m.triangles && test_failures() < 5; t++) {
    const float *p = m.positions + 9 * t, *n = m.normals + 9 * t;
    const double outward[3] = { p[0] - center, p[1] - center, p[2] - center };
    double want[3];
    plane(p, want);
    const double length = sqrt(want[0] * want[0] + want[1] * want[1] + want[2] * want[2]);
    CHECK(!memcmp(n, n + 3, 12) && !memcmp(n, n + 6, 12), "triangle %lld has several normals", (long long)t);
    thin += length < 1e-3;
    if (length >= 1e-3) {
      CHECK(dot(want, n) > (1 - 1e-4) * length && fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-5,
        "triangle %lld: (%g %g %g)", (long long)t, n[0], n[1], n[2]);
      CHECK(dot(outward, n) > 0, "triangle %lld looks inside", (long long)t);
    }
  }
  CHECK(thin < m.triangles / 10, "%lld of %lld without an area", (long long)thin, (long long)m.triangles);
  papers_mesh_free(&m);
  volume_free(&v);
}

/* 20 bytes per voxel, and CUB's: less than 1 in 100 of that. The mesh: 24 bytes per vertex, and ids. */
static void bytes(void)
{
  papers_memory memory;
  test_volume v;
  need_place();
  sampled(&v, 61, gyroid);
  const size_t voxels = 61 * 61 * 61;
  papers_mesh m = extract(here, scan, &v, 0.1, &memory);
  size_t most = memory.most[PAPERS_ACCELERATION];
  CHECK(most >= 20 * voxels && most < 20 * voxels + voxels / 5 + 8192, "%zu bytes for %zu voxels", most, voxels);
  CHECK(memory.most[PAPERS_OUTPUT] == 72 * (size_t)m.triangles, "%zu bytes for %lld triangles",
    memory.most[PAPERS_OUTPUT], (long long)m.triangles);
  papers_mesh_free(&m);
  m = extract(here, welded, &v, 0.1, &memory);
  const size_t triangles = (size_t)m.triangles;
  most = memory.most[PAPERS_ACCELERATION];
  CHECK(memory.most[PAPERS_OUTPUT] == 24 * (size_t)m.points + 12 * triangles, "%zu bytes for %lld points",
    memory.most[PAPERS_OUTPUT], (long long)m.points);
  CHECK(most >= 20 * voxels + 72 * triangles && most < 20 * voxels + 72 * triangles + voxels / 5 + 16384,
    "%zu bytes for %zu voxels, %zu triangles", most, voxels, triangles);
  papers_mesh_free(&m);
  volume_free(&v);
}

/* What does not fit into 32 bits says what it would have asked for. */
static void too_many_voxels(void)
{
  need_place();
  for (int n = 0; n < 2; n++) {
    papers_memory memory = papers_memory_of(here);
    const papers_volume volume = { &memory, PMB_UINT8, { 2048, 2048, 2048 } };
    void *state = &memory;
    const papers_status status = (n ? welded : scan)->create(&memory, &volume, &state);
    CHECK(status == PAPERS_TOO_LARGE && !state && !memory.first, "%s", papers_status_text(status));
    CHECK(memory.asked == (size_t)20 << 33, "%zu bytes", memory.asked);
  }
}

/* Cells with a sample that is not finite have no triangles, as in PMB. */
static void not_finite(void)
{
  const double isovalue = 0.1;
  papers_memory memory;
  test_rng rng = { 3 };
  need_place();
  for (int every = 2; every < 2000; every *= 5) {
    test_volume v;
    test_mesh wanted;
    char why[WHY];
    volume_make(&v, PMB_FLOAT32, 37, 19, 18, LAYOUT_PACKED);
    volume_fill(&v, DATA_SMOOTH, &rng);
    volume_sprinkle(&v, every, &rng);
    pmb_context *context = context_new(1, NULL);
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32, &wanted), PMB_OK);
    test_about("one sample in %d is not finite, %lld triangles", every, (long long)wanted.sizes.triangles);
    for (int n = 0; n < 2; n++) {
      papers_mesh m = extract(here, n ? welded : scan, &v, isovalue, &memory);
      CHECK(papers_compare(&m, n ? PAPERS_WELDED : PAPERS_SOUP, n ? 1e-5 : -1, &wanted.view, &wanted.sizes, why),
        "%s: %s", n ? "welded" : "scan", why);
      papers_mesh_free(&m);
    }
    mesh_free(&wanted);
    pmb_destroy(context);
    volume_free(&v);
  }
}

/* The same bytes in the same order on the CPU and here, and in every run. */
static void same_everywhere(void)
{
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_UINT16, PMB_FLOAT32 };
  papers_memory memory;
  test_rng rng = { 5 };
  need_place();
  for (int n = 0; n < 8; n++) {
    const papers_system *const cpu = n & 1 ? &papers_welded_cpu : &papers_scan_cpu,
                               *const there = n & 1 ? welded : scan;
    test_volume v;
    volume_make(&v, types[n / 2], 45, 21, 38, LAYOUT_PACKED);
    volume_fill(&v, n & 1 ? DATA_PLATEAU : DATA_NOISE, &rng);
    const double isovalue = volume_isovalue(&v, &rng);
    papers_mesh a = extract(&papers_host, cpu, &v, isovalue, &memory);
    for (int again = 0; again < 2; again++) {
      papers_mesh b = extract(here, there, &v, isovalue, &memory);
      test_about("%s, %s, isovalue %.17g", there->name, type_name(types[n / 2]), isovalue);
      if (CHECK(a.points == b.points && a.triangles == b.triangles, "%lld triangles", (long long)b.triangles)) {
        const size_t size = 12 * (size_t)a.points;
        CHECK(size == 0 || !memcmp(a.positions, b.positions, size), "positions");
        CHECK(size == 0 || !memcmp(a.normals, b.normals, size), "normals");
        CHECK(!a.ids || (b.ids && !memcmp(a.ids, b.ids, 12 * (size_t)a.triangles)), "ids");
      }
      papers_mesh_free(&b);
    }
    papers_mesh_free(&a);
    volume_free(&v);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(flat_normals)
  CASE(bytes)
  CASE(too_many_voxels)
  CASE(not_finite)
  CASE(same_everywhere)
)
/* clang-format on */
