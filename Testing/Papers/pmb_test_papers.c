/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers.c - the systems of the papers: each gives pmb_emit's triangles for any type, size and content, takes as
 * much memory as its paper says. (A lack of memory: test_bench.sh.) Environment: PMB_TEST_SHORT, fewer cases, for slow tools. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers_bench.h"
#include "test_util.h"

enum { WHY = 256, TYPES = 4 };
static const pmb_type types[TYPES] = { PMB_UINT8, PMB_INT16, PMB_UINT16, PMB_FLOAT32 };

/* ---- comparison: the same triangles, bit by bit, in any order and with any points shared ---- */

/* A triangle, rotated so that its least corner is first; orientation counts. */
typedef struct triangle {
  uint32_t bits[9];
  float normals[9];
} triangle;

static int by_bits(const void *a, const void *b)
{
  const triangle *s = a, *t = b;
  for (int i = 0; i < 9; i++)
    if (s->bits[i] != t->bits[i]) return s->bits[i] < t->bits[i] ? -1 : 1;
  return 0;
}

static triangle *sorted(const papers_mesh *mesh)
{
  triangle *list = test_allocate(mesh->triangles + 1, sizeof *list);
  for (int64_t n = 0; n < mesh->triangles; n++)
    for (int first = 0; first < 3; first++) {
      triangle t;
      for (int c = 0; c < 3; c++) {
        const int64_t corner = 3 * n + (c + first) % 3, point = mesh->ids ? mesh->ids[corner] : corner;
        memcpy(t.bits + 3 * c, mesh->positions + 3 * point, 3 * sizeof(float));
        memcpy(t.normals + 3 * c, mesh->normals + 3 * point, 3 * sizeof(float));
      }
      if (first == 0 || by_bits(&t, list + n) < 0) list[n] = t;
    }
  qsort(list, (size_t)mesh->triangles, sizeof *list, by_bits);
  return list;
}

/* Ids are in range, each point is used, and there are as many as the system shares. */
static int check_points(const papers_mesh *mesh, papers_sharing sharing, int64_t wanted, char *why)
{
  const int64_t points = mesh->points, corners = 3 * mesh->triangles;
  const int right = sharing == PAPERS_SOUP ? points == corners
    : sharing == PAPERS_EDGES              ? points == wanted
    : sharing == PAPERS_WELDED             ? points <= wanted
                                           : points >= wanted && points <= corners;
  snprintf(why, WHY, "%lld points for %lld triangles, PMB has %lld; or ids", (long long)points,
    (long long)mesh->triangles, (long long)wanted);
  if (!right || (corners > 0 && (sharing == PAPERS_SOUP) != (mesh->ids == NULL))) return 0;
  unsigned char *used = test_allocate(points + 1, 1);
  int64_t seen = 0;
  int good = 1;
  for (int64_t n = 0; good && n < corners; n++) {
    const int64_t id = mesh->ids ? mesh->ids[n] : n;
    good = id >= 0 && id < points;
    seen += good && !used[id];
    if (good) used[id] = 1;
  }
  free(used);
  return good && seen == points;
}

static int near(const float *a, const float *b)
{
  return fabsf(a[0] - b[0]) <= 1e-5f && fabsf(a[1] - b[1]) <= 1e-5f && fabsf(a[2] - b[2]) <= 1e-5f;
}

/* The same normal at the three corners: of length 1, perpendicular to the triangle. */
static int check_flat(const triangle *t)
{
  float p[9];
  double a[3], b[3], n[3], length = 0, dot = 0;
  memcpy(p, t->bits, sizeof p);
  for (int i = 0; i < 3; i++) {
    a[i] = (double)p[3 + i] - p[i];
    b[i] = (double)p[6 + i] - p[i];
  }
  for (int i = 0; i < 3; i++) {
    n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    length += n[i] * n[i];
    dot += n[i] * t->normals[i];
  }
  return !memcmp(t->normals, t->normals + 3, 12) && !memcmp(t->normals, t->normals + 6, 12) &&
    (length < 1e-6 || fabs(dot / sqrt(length) - 1) < 1e-4);
}

/* Whether PMB has the normal at the corner. A welded point may have that of any of PMB's points at its position. */
static int check_normal(
  const papers_system *system, const triangle *have, const triangle *want, int c, const papers_mesh *all)
{
  const float *normal = have->normals + 3 * c;
  int found = near(normal, want->normals + 3 * c);
  for (int64_t n = 0; system->sharing == PAPERS_WELDED && n < all->points && !found; n++)
    found = !memcmp(all->positions + 3 * n, have->bits + 3 * c, 12) && near(normal, all->normals + 3 * n);
  return found;
}

static int64_t without_normal; /* corners of all meshes: where differences vanish or overflow */

static int same_lists(
  const papers_system *system, const triangle *a, const triangle *b, const papers_mesh *wanted, char *why)
{
  static const float none[3] = { 0, 0, 0 };
  for (int64_t n = 0; n < wanted->triangles; n++) {
    float p[9];
    memcpy(p, a[n].bits, sizeof p);
    snprintf(why, WHY, "triangle %lld of %lld, or a normal: (%.9g %.9g %.9g) (%.9g %.9g %.9g) (%.9g %.9g %.9g)",
      (long long)n, (long long)wanted->triangles, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]);
    if (by_bits(a + n, b + n)) return 0;
    if (system->normals == PAPERS_FLAT && !check_flat(a + n)) return 0;
    if (system->normals == PAPERS_FLAT || system->normals == PAPERS_WEBGL) continue;
    /* Normals of equal triangles, or of points at one position, cannot be assigned. */
    const int several = (n > 0 && !by_bits(b + n - 1, b + n)) ||
      (n + 1 < wanted->triangles && !by_bits(b + n, b + n + 1)) || !memcmp(p, p + 3, 12) ||
      !memcmp(p + 3, p + 6, 12) || !memcmp(p, p + 6, 12);
    for (int c = 0; c < 3 && !several; c++) {
      const int is_none = !memcmp(a[n].normals + 3 * c, none, sizeof none);
      without_normal += is_none;
      if (!is_none && !check_normal(system, a + n, b + n, c, wanted)) return 0;
    }
  }
  return 1;
}

static int is_same(const papers_system *system, const papers_mesh *mesh, const papers_mesh *wanted, char *why)
{
  snprintf(why, WHY, "%lld triangles instead of %lld", (long long)mesh->triangles, (long long)wanted->triangles);
  if (mesh->triangles != wanted->triangles || !check_points(mesh, system->sharing, wanted->points, why)) return 0;
  OWNED triangle *a = sorted(mesh), *b = sorted(wanted);
  const int same = same_lists(system, a, b, wanted, why);
  return same;
}

static papers_mesh view_of(const test_mesh *m)
{
  return (papers_mesh){ m->sizes.points, m->sizes.triangles, m->view.points, m->view.normals, m->view.triangles };
}

static void smooth(test_volume *v, int64_t n, double (*f)(double, double, double))
{
  volume_sampled(v, PMB_FLOAT32, n, f);
  memset(v->view.index_to_world, 0, sizeof v->view.index_to_world);
}

/* ---- a volume on the GPU, and PMB's mesh of it ---- */

typedef struct bench {
  papers_memory memory, input;
  papers_volume volume;
  pmb_context *context;
} bench;

static int is_short(void)
{
  return getenv("PMB_TEST_SHORT") != NULL;
}

static void need_gpu(void)
{
  if (!papers_available()) test_skip("no GPU can be used");
}

static void bench_new(bench *b, const test_volume *v)
{
  const size_t bytes = (size_t)ref_samples(&v->view) * pmb_type_size(v->view.type);
  *b = (bench){ .memory.limit = SIZE_MAX, .input.limit = SIZE_MAX, .context = context_new(1, NULL) };
  CHECK_STATUS(b->context, pmb_bind(b->context, &v->view), PMB_OK);
  void *d_samples = papers_take(&b->input, PAPERS_ACCELERATION, bytes);
  if (!CHECK(d_samples && !papers_upload(d_samples, v->view.samples, bytes), "upload")) exit(1);
  b->volume = (papers_volume){ d_samples, v->view.type, { v->view.dims[0], v->view.dims[1], v->view.dims[2] } };
}

static void bench_free(bench *b)
{
  pmb_destroy(b->context);
  papers_free_memory(&b->input);
}

static void bench_end_of(bench *b, papers_state *state)
{
  papers_destroy(state);
  papers_free_memory(&b->memory);
  memset(b->memory.most, 0, sizeof b->memory.most);
}

static void *download(const void *d_from, size_t bytes)
{
  void *copy = d_from ? test_allocate((int64_t)bytes + 1, 1) : NULL;
  if (copy && bytes) CHECK(!papers_download(copy, d_from, bytes), "download");
  return copy;
}

/* Arrays for copy_free. */
static papers_mesh copy_of(const papers_mesh *m)
{
  const size_t point_bytes = 12 * (size_t)m->points;
  return (papers_mesh){ m->points, m->triangles, download(m->positions, point_bytes),
    download(m->normals, point_bytes), download(m->ids, 12 * (size_t)m->triangles) };
}

static void copy_free(papers_mesh *m)
{
  free((void *)(uintptr_t)m->positions);
  free((void *)(uintptr_t)m->normals);
  free((void *)(uintptr_t)m->ids);
}

/* Extracts, which must succeed, and compares. */
static void extract_as_pmb(bench *b, const papers_system *system, papers_state *state, double isovalue)
{
  char why[WHY];
  papers_mesh mesh;
  test_mesh m;
  const papers_status status = papers_extract(state, isovalue, &mesh);
  if (!CHECK(status == PAPERS_OK, "%s: status %d %s, %zu bytes asked for", system->name, (int)status,
        b->memory.message, b->memory.asked))
    return;
  const pmb_gradient_estimator estimator = system->normals == PAPERS_FORWARD ? PMB_FORWARD : PMB_CENTRAL;
  CHECK_STATUS(
    b->context, mesh_extract_by(b->context, estimator, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  papers_mesh copy = copy_of(&mesh);
  const papers_mesh wanted = view_of(&m);
  CHECK(is_same(system, &copy, &wanted, why), "%s, isovalue %.17g: %s", system->name, isovalue, why);
  copy_free(&copy);
  mesh_free(&m);
}

/* Runs every system on a volume, with these isovalues in turn on one state. */
static void all_systems(const test_volume *v, const double *isovalues, int count)
{
  OWNED_BY(bench_free) bench b;
  bench_new(&b, v);
  for (int n = 0; n < PAPERS_SYSTEMS; n++) {
    papers_state *state = NULL;
    const papers_status status = papers_create(papers_systems[n], &b.memory, &b.volume, &state);
    if (CHECK(status == PAPERS_OK, "%s: status %d %s", papers_systems[n]->name, (int)status, b.memory.message))
      for (int i = 0; i < count; i++) extract_as_pmb(&b, papers_systems[n], state, isovalues[i]);
    bench_end_of(&b, state);
  }
}

/* ---- meshes ---- */

/* Plateaus have many samples equal to the isovalue: triangles without area, and points that coincide. */
static void fill_and_try(pmb_type type, const int64_t dims[3], int data, test_rng *rng)
{
  double isovalues[3];
  OWNED_VOLUME v = volume_of(type, dims[0], dims[1], dims[2], LAYOUT_PACKED);
  volume_fill(&v, data, rng);
  for (int n = 0; n < 3; n++) isovalues[n] = data == DATA_PLATEAU ? 1 + n * 0.5 : volume_isovalue(&v, rng);
  test_about("%d x %d x %d %s, data %d", (int)dims[0], (int)dims[1], (int)dims[2], type_name(type), data);
  all_systems(&v, isovalues, is_short() && ref_samples(&v.view) > 9000 ? 1 : 3);
}

/* Around the sizes of blocks, tiles, squares, cubes and pyramids, of all types and kinds of data. */
static void types_and_sizes(void)
{
  static const int64_t sizes[][3] = { { 2, 2, 2 }, { 3, 2, 5 }, { 33, 5, 5 }, { 5, 33, 9 }, { 4, 4, 4 }, { 9, 5, 5 },
    { 8, 8, 8 }, { 17, 16, 15 }, { 32, 4, 4 }, { 65, 3, 2 }, { 2, 2, 70 }, { 31, 33, 32 }, { 65, 3, 67 },
    { 64, 64, 9 }, { 63, 62, 31 }, { 130, 40, 34 }, { 33, 129, 5 }, { 66, 3, 40 }, { 200, 65, 7 }, { 3, 130, 20 } };
  test_rng rng = { 1 };
  need_gpu();
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
    const int64_t samples = sizes[n][0] * sizes[n][1] * sizes[n][2];
    const size_t every = is_short() ? (samples > 9000 ? 20 : 5) : samples > 9000 ? 3 : 1;
    for (size_t t = 0; t < TYPES; t++)
      for (size_t data = 0; data < DATA_KINDS; data++)
        if ((n + t + TYPES * data) % every == 0) fill_and_try(types[t], sizes[n], (int)data, &rng);
  }
}

/* No surface: no cell, or an isovalue outside the range, also after one with a surface. */
static void empty(void)
{
  static const int64_t sizes[][3] = { { 1, 1, 1 }, { 1, 5, 5 }, { 33, 1, 5 }, { 6, 7, 1 }, { 9, 9, 9 } };
  static const double isovalues[] = { 300, 0.5, -1, 0, 1.5, 1e300, -1e300 };
  need_gpu();
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
    for (size_t t = 0; t < TYPES; t++) {
      OWNED_VOLUME v = volume_of(types[t], sizes[n][0], sizes[n][1], sizes[n][2], LAYOUT_PACKED);
      for (int64_t i = 0; i < ref_samples(&v.view); i++)
        volume_set(&v, i % sizes[n][0], i / sizes[n][0] % sizes[n][1], i / (sizes[n][0] * sizes[n][1]), i == 4);
      test_about("size %d, %s, one sample is 1", (int)n, type_name(types[t]));
      all_systems(&v, isovalues, (int)(sizeof isovalues / sizeof *isovalues));
    }
}

/* Samples that are evaluated give the mesh of the same samples, stored; other sizes and types are refused. */
static void evaluated(void)
{
  static const int64_t sizes[][3] = { { 32, 16, 8 }, { 64, 8, 64 }, { 16, 64, 33 }, { 128, 8, 16 } };
  need_gpu();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int64_t *n = sizes[i];
    const float step[3] = { 2 / (float)(n[0] - 1), 2 / (float)(n[1] - 1), 2 / (float)(n[2] - 1) };
    OWNED_BY(bench_free) bench b;
    OWNED_VOLUME v = volume_of(PMB_FLOAT32, n[0], n[1], n[2], LAYOUT_PACKED);
    for (int64_t s = 0; s < ref_samples(&v.view); s++) {
      const int64_t x = s % n[0], y = s / n[0] % n[1], z = s / (n[0] * n[1]);
      volume_set(&v, x, y, z, papers_cayley_value(step, (int32_t)x, (int32_t)y, (int32_t)z));
    }
    bench_new(&b, &v);
    const size_t bytes = 4 * (size_t)ref_samples(&v.view);
    void *d_stored = papers_take(&b.memory, PAPERS_ACCELERATION, bytes);
    b.volume.samples = NULL;
    CHECK(d_stored && !papers_evaluate(&b.volume, d_stored), "evaluate");
    float *stored = download(d_stored, bytes);
    CHECK(!memcmp(stored, v.view.samples, bytes), "other samples");
    free(stored);
    papers_free_memory(&b.memory);
    for (int s = 0; s < PAPERS_SYSTEMS; s++) {
      papers_state *state = NULL;
      CHECK(
        papers_create(papers_systems[s], &b.memory, &b.volume, &state) == PAPERS_OK, "%s", papers_systems[s]->name);
      for (int k = 0; state && k < 2; k++) extract_as_pmb(&b, papers_systems[s], state, k ? -0.5 : -0.012);
      bench_end_of(&b, state);
    }
  }
}

/* Smooth surfaces, larger than any block; some with more triangles than the one before. */
static void surfaces(void)
{
  static const double isovalues[] = { -0.012, 0.3, -2, -0.012 }, high[] = { 0.1, 1.2, 0.1, -0.7 };
  OWNED_VOLUME v;
  need_gpu();
  without_normal = 0;
  smooth(&v, is_short() ? 20 : 67, cayley);
  all_systems(&v, isovalues, 4);
  volume_free(&v);
  smooth(&v, is_short() ? 24 : 53, gyroid);
  all_systems(&v, high, 4);
  CHECK(without_normal < 10, "%lld corners have no normal", (long long)without_normal);
}

/* The benchmark times neither another number of triangles nor a lack of memory. */
static void wrong_is_not_timed(void)
{
  OWNED_VOLUME v;
  OWNED_BY(bench_free) bench b;
  need_gpu();
  smooth(&v, 20, cayley);
  bench_new(&b, &v);
  papers_task task = { &b.volume, -0.012, -1, 3, SIZE_MAX };
  const int64_t triangles = papers_measure(&task, papers_systems[0]).triangles;
  for (int n = 0; n < 3; n++) {
    static const papers_outcome outcomes[] = { PAPERS_MEASURED, PAPERS_WRONG, PAPERS_FAILED };
    task.triangles = triangles + (n == 1);
    task.limit = n == 2 ? 70000 : SIZE_MAX;
    const papers_result r = papers_measure(&task, papers_systems[0]);
    CHECK(r.outcome == outcomes[n] && (r.first > 0 && r.change > 0) == (n == 0) && (r.asked > 0) == (n == 2),
      "%s: %g and %g ms, %zu bytes asked for", papers_outcome_texts[r.outcome], r.first, r.change, r.asked);
  }
}

/* ---- memory ---- */

/* Bytes of the acceleration structure as the papers count them; *spare: most that CUB adds. */
static size_t paper_bytes(const papers_system *system, const papers_volume *v, int64_t triangles, size_t *spare)
{
  const int64_t *n = v->dims;
  const size_t voxels = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
  *spare = 0;
  if (!strncmp(system->name, "hpmc", 4))
    return papers_hpmc_bytes(n, !strcmp(system->name, "hpmc_indexed"), !strcmp(system->name, "hpmc_chunks"));
  if (!strcmp(system->name, "hp3d")) return papers_hp3d_bytes(n);
  if (!strncmp(system->name, "pmb2016", 7)) { /* two samples and a number per block */
    *spare = 64;
    const int64_t blocks = (n[0] + 5) / 7 * ((n[1] + 1) / 3) * ((n[2] + 1) / 3);
    return (size_t)blocks * (2 * pmb_type_size(v->type) + 4);
  }
  *spare = voxels / 5 + 16384;
  return 20 * voxels + (system->sharing == PAPERS_WELDED ? 72 * (size_t)triangles : 0);
}

/* A state uses as much memory as its paper says, 24 bytes per point and 12 per triangle with ids. A second round over the same
 * isovalues uses no more. */
static void memory_is_kept(void)
{
  static const double isovalues[] = { 0.1, 0.9, -0.4, 1.3 };
  OWNED_VOLUME v;
  OWNED_BY(bench_free) bench b;
  need_gpu();
  smooth(&v, is_short() ? 25 : 61, gyroid);
  bench_new(&b, &v);
  for (int n = 0; n < PAPERS_SYSTEMS; n++) {
    const papers_system *system = papers_systems[n];
    papers_state *state = NULL;
    papers_mesh mesh = { 0 };
    size_t most[PAPERS_USES], spare;
    if (!CHECK(papers_create(system, &b.memory, &b.volume, &state) == PAPERS_OK, "create")) continue;
    CHECK(papers_extract(state, isovalues[0], &mesh) == PAPERS_OK, "extract");
    memcpy(most, b.memory.most, sizeof most);
    const size_t bytes = paper_bytes(system, &b.volume, mesh.triangles, &spare);
    CHECK(most[PAPERS_ACCELERATION] >= bytes && most[PAPERS_ACCELERATION] <= bytes + spare, "%s: %zu bytes, not %zu",
      system->name, most[PAPERS_ACCELERATION], bytes);
    CHECK(most[PAPERS_OUTPUT] == 24 * (size_t)mesh.points + (mesh.ids ? 12 * (size_t)mesh.triangles : 0),
      "%s: %zu bytes for the mesh", system->name, most[PAPERS_OUTPUT]);
    for (int i = 1; i < 8; i++) {
      extract_as_pmb(&b, system, state, isovalues[i % 4]);
      if (i == 3) memcpy(most, b.memory.most, sizeof most);
    }
    CHECK(!memcmp(most, b.memory.most, sizeof most), "%s: %zu and %zu bytes, then %zu and %zu", system->name, most[0],
      most[1], b.memory.most[0], b.memory.most[1]);
    bench_end_of(&b, state);
  }
}

/* Volumes at the limits of the systems' integers need too much memory; unsupported types are refused. */
static void volumes_refused(void)
{
  enum { ALL = -1, SCAN = 0, HPMC = 1, HP3D = 3, PMB2016 = 4, WELDED = 5 };
  static const struct {
    int64_t dims[3];
    int system;
    papers_status status;
    int64_t mib; /* < 0: any */
    pmb_type type;
  } rows[] = {
    { { 2048, 2048, 4096 }, HPMC, PAPERS_NO_MEMORY, 87381, PMB_UINT8 },
    { { 4096, 4096, 4096 }, HPMC, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { 4096, 4096, 4096 }, HP3D, PAPERS_NO_MEMORY, 76073, PMB_UINT8 },
    { { 4097, 2, 2 }, HP3D, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { 2048, 2048, 2048 }, SCAN, PAPERS_TOO_LARGE, 163840, PMB_UINT8 },
    { { 2048, 2048, 2048 }, WELDED, PAPERS_TOO_LARGE, 163840, PMB_UINT8 },
    { { 32768, 65537, 2 }, PMB2016, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { 1 << 20, 1 << 20, 1 << 20 }, ALL, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { 3000000, 3000000, 3000000 }, ALL, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { INT64_C(1) << 40, 2, 2 }, ALL, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { 2, 2, INT64_C(1) << 40 }, ALL, PAPERS_TOO_LARGE, -1, PMB_UINT8 },
    { { 2, 2, 2 }, ALL, PAPERS_BAD_TYPE, -1, PMB_INT8 },
    { { 2, 2, 2 }, ALL, PAPERS_BAD_TYPE, -1, PMB_INT32 },
    { { 2, 2, 2 }, ALL, PAPERS_BAD_TYPE, -1, PMB_FLOAT64 },
  };
  need_gpu();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int n = 0; n < PAPERS_SYSTEMS; n++) {
      papers_memory memory = { .limit = 1 };
      papers_state *state = NULL;
      if (rows[i].system != ALL && rows[i].system != n) continue;
      const papers_volume volume = { &memory, rows[i].type, { rows[i].dims[0], rows[i].dims[1], rows[i].dims[2] } };
      const papers_status status = papers_create(papers_systems[n], &memory, &volume, &state);
      CHECK(status == rows[i].status && !state && (rows[i].mib < 0 || (int64_t)(memory.asked >> 20) == rows[i].mib),
        "row %d, %s: status %d, %zu bytes", (int)i, papers_systems[n]->name, (int)status, memory.asked);
    }
}

/* Sums of 32 bits saturate. */
static void sums_saturate(void)
{
  CHECK(papers_sum(UINT32_MAX - 1, 0) == UINT32_MAX - 1 && papers_sum(1u << 31, 1u << 31) == UINT32_MAX, "a sum");
  CHECK(papers_sum(UINT32_MAX, 0) == UINT32_MAX && papers_sum(UINT32_MAX, 5) == UINT32_MAX, "the sum above");
}

/* Moves the points of a mesh to the middles of their edges: those of particles keep away from the samples. */
static void move_to_edges(const papers_mesh *mesh)
{
  float *p = (float *)(uintptr_t)mesh->positions;
  for (int64_t i = 0; i < 3 * mesh->points; i++)
    if (p[i] != floorf(p[i])) p[i] = floorf(p[i]) + 0.5f;
}

/* A system makes pmb_emit's triangles, to the bit, and on the same edges those of a surface of particles; its normals are near. */
static void check_cloud(bench *b, const papers_system *system, const papers_mesh *wanted)
{
  char why[WHY];
  papers_state *state = NULL;
  papers_mesh mesh = { 0 };
  double sum = 0;
  const int good = papers_create(system, &b->memory, &b->volume, &state) == PAPERS_OK;
  extract_as_pmb(b, system, state, PAPERS_CLOUD_ISOVALUE);
  CHECK(good && papers_extract(state, PAPERS_CLOUD_ISOVALUE, &mesh) == PAPERS_OK, "%s", system->name);
  papers_mesh copy = copy_of(&mesh);
  move_to_edges(&copy);
  CHECK(is_same(system, &copy, wanted, why), "%s: %s", system->name, why);
  OWNED triangle *a = sorted(&copy), *w = sorted(wanted);
  for (int64_t n = 0; n < 9 * wanted->triangles && n < 9 * copy.triangles; n++)
    sum += a[n / 9].normals[n % 9] * w[n / 9].normals[n % 9] / (3.0 * (double)wanted->triangles);
  CHECK(sum > 0.98, "%s: normals are off, cosine %g", system->name, sum);
  copy_free(&copy);
  bench_end_of(b, state);
}

/* The potential by atomic additions is that of pmb_particles_sample, rounded; and the WebGL page's pipeline from it. */
static void clouds(void)
{
  enum { SIDE = 24, SAMPLES = SIDE * SIDE * SIDE };
  static float places[SAMPLES / 4], summed[SAMPLES];
  const int64_t count = papers_cloud(SIDE, 1, places);
  const pmb_particle_request request = papers_cloud_request(places, count, 0);
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  pmb_particles *particles = NULL;
  test_mesh m;
  need_gpu();
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, SIDE, SIDE, SIDE, LAYOUT_PACKED);
  const pmb_particle_image image = { sizeof image, { 0 }, { 1, 1, 1 }, { SIDE, SIDE, SIDE }, { 0 }, v.memory };
  pmb_context *context = context_new(1, NULL);
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  CHECK_STATUS(context, pmb_particles_sample(particles, &request, &image), PMB_OK);
  CHECK_STATUS(context, pmb_particles_count(particles, &request, &sizes), PMB_OK);
  mesh_make(&m, (pmb_sizes){ sizes.points, sizes.triangles }, PMB_FLOAT32, PMB_INT32);
  m.view.scalars = NULL;
  m.view.cells = NULL;
  CHECK_STATUS(context, pmb_particles_emit(particles, &m.view), PMB_OK);
  OWNED_BY(bench_free) bench b;
  bench_new(&b, &v);
  void *d_places = papers_take(&b.input, PAPERS_ACCELERATION, sizeof places);
  const papers_volume sums = { papers_take(&b.input, PAPERS_ACCELERATION, sizeof summed), PMB_FLOAT32,
    { SIDE, SIDE, SIDE } };
  const char *error = papers_upload(d_places, places, sizeof places);
  if (!error) error = papers_splat(d_places, count, (float)request.smoothing, &sums);
  CHECK(!error && !papers_download(summed, sums.samples, sizeof summed), "%s", error);
  double worst = 0;
  for (int64_t n = 0; n < SAMPLES; n++) worst = fmax(worst, fabs(summed[n] - volume_get(&v, n)));
  CHECK(worst < 1e-5, "the potential is off by %g", worst);
  const papers_mesh wanted = view_of(&m);
  move_to_edges(&wanted);
  check_cloud(&b, &papers_webgl, &wanted);
  check_cloud(&b, &papers_webgl_sobel, &wanted);
  mesh_free(&m);
  pmb_particles_destroy(particles);
  pmb_destroy(context);
}

/* clang-format off */
TEST_MAIN(
  CASE(types_and_sizes)
  CASE(empty)
  CASE(surfaces)
  CASE(evaluated)
  CASE(wrong_is_not_timed)
  CASE(memory_is_kept)
  CASE(volumes_refused)
  CASE(sums_saturate)
  CASE(clouds)
)
/* clang-format on */
