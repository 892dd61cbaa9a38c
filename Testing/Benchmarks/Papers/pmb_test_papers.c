/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_papers.c - the systems of the papers against pmb_emit: the same triangles, whatever the type, size and content;
 * and memory that is refused. Built for the CPU's systems, for the GPU's (skipped without one) and for the GPU's on the
 * emulator. Environment: PMB_PAPERS, the one system to be tested; PMB_TEST_SHORT, fewer cases, for slow tools. */
#include <stdio.h>
#include <string.h>

#include "papers_compare.h"
#include "test_util.h"

#ifdef PAPERS_ON_GPU
static const papers_list *const list = &papers_gpu_list;
#else
static const papers_list *const list = &papers_cpu_list;
#endif

enum { WHY = 256, MOST_REQUESTS = 4000 };

static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_UINT16, PMB_FLOAT32 };

static int is_short(void)
{
  return getenv("PMB_TEST_SHORT") != NULL;
}

/* ---- memory that fails when it is told to, and counts ---- */

static struct {
  const papers_memory *memory;
  int64_t requests, refuse; /* so far; which one is refused, < 0: none */
  int64_t blocks;           /* in use */
  size_t most_asked;        /* in use with the request that was refused */
} hook;

static void *hook_allocate(size_t bytes)
{
  if (hook.requests++ == hook.refuse) {
    hook.most_asked = hook.memory->used[PAPERS_ACCELERATION] + hook.memory->used[PAPERS_OUTPUT] + bytes;
    return NULL;
  }
  void *block = list->place->allocate(bytes);
  hook.blocks += block != NULL;
  return block;
}

static void hook_release(void *block)
{
  hook.blocks--;
  list->place->release(block);
}

/* ---- a volume where the systems work, and PMB's mesh of it ---- */

typedef struct bench {
  papers_memory memory;
  papers_volume volume;
  pmb_context *context;
  void *samples; /* of the place */
} bench;

static int is_chosen(const papers_entry *entry)
{
  const char *one = getenv("PMB_PAPERS");
  return !one || !strcmp(one, entry->system->name);
}

static void bench_place(void)
{
  int chosen = 0;
  const char *missing = list->place->missing();
  if (missing) test_skip("%s: %s", list->place->name, missing);
  for (int n = 0; n < list->count; n++) chosen += is_chosen(list->entries + n);
  if (!chosen) test_skip("no system to test");
}

static void bench_new(bench *b, const test_volume *v)
{
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_CPU, .threads = 1 };
  const size_t bytes = (size_t)ref_samples(&v->view) * pmb_type_size(v->view.type);
  memset(b, 0, sizeof *b);
  b->memory = papers_memory_of(list->place);
  b->memory.allocate = hook_allocate;
  b->memory.release = hook_release;
  hook.memory = &b->memory;
  hook.refuse = -1;
  if (!CHECK(pmb_create(&options, &b->context) == PMB_OK, "%s", pmb_error(NULL))) exit(1);
  CHECK_STATUS(b->context, pmb_bind(b->context, &v->view), PMB_OK);
  b->samples = list->place->allocate(bytes);
  const char *error = b->samples ? list->place->upload(b->samples, v->view.samples, bytes) : "no memory";
  if (!CHECK(!error, "%s", error ? error : "")) exit(1);
  b->volume = (papers_volume){ b->samples, v->view.type, { v->view.dims[0], v->view.dims[1], v->view.dims[2] } };
}

static void bench_free(bench *b)
{
  pmb_destroy(b->context);
  list->place->release(b->samples);
}

/* Nothing may be left of a system. */
static void bench_is_empty(const bench *b, const char *name)
{
  CHECK(!b->memory.first && !b->memory.used[PAPERS_ACCELERATION] && !b->memory.used[PAPERS_OUTPUT] && !hook.blocks,
    "%s left %zu and %zu bytes, %lld blocks", name, b->memory.used[PAPERS_ACCELERATION],
    b->memory.used[PAPERS_OUTPUT], (long long)hook.blocks);
}

static int same_as_pmb(bench *b, const papers_entry *entry, double isovalue, const papers_mesh *mesh)
{
  char why[WHY] = "it cannot be copied";
  papers_mesh copy;
  test_mesh wanted;
  CHECK_STATUS(b->context, mesh_extract(b->context, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32, &wanted), PMB_OK);
  int same = papers_mesh_download(list->place, mesh, &copy);
  if (same) {
    same = papers_compare(&copy, entry->sharing, entry->central ? 1e-5 : -1, &wanted.view, &wanted.sizes, why);
    papers_mesh_free(&copy);
  }
  mesh_free(&wanted);
  return CHECK(same, "%s (%s), isovalue %.17g: %s", entry->system->name, list->place->name, isovalue, why);
}

/* Extracts, which must go well, and compares. */
static int extract_as_pmb(bench *b, const papers_entry *entry, void *state, double isovalue)
{
  papers_mesh mesh;
  const papers_status status = entry->system->extract(state, isovalue, &mesh);
  return CHECK(status == PAPERS_OK, "%s: %s %s, %zu bytes asked for", entry->system->name, papers_status_text(status),
           b->memory.message, b->memory.asked) &&
    same_as_pmb(b, entry, isovalue, &mesh);
}

/* Every system on a volume, with these isovalues in turn on one state. */
static void all_systems(const test_volume *v, const double *isovalues, int count)
{
  bench b;
  bench_new(&b, v);
  for (int n = 0; n < list->count; n++) {
    const papers_entry *entry = list->entries + n;
    void *state = NULL;
    if (!is_chosen(entry)) continue;
    const papers_status status = entry->system->create(&b.memory, &b.volume, &state);
    if (CHECK(status == PAPERS_OK, "%s: %s %s", entry->system->name, papers_status_text(status), b.memory.message))
      for (int i = 0; i < count; i++) extract_as_pmb(&b, entry, state, isovalues[i]);
    entry->system->destroy(state);
    bench_is_empty(&b, entry->system->name);
  }
  bench_free(&b);
}

/* ---- cases ---- */

static void fill_and_try(pmb_type type, const int64_t dims[3], int data, test_rng *rng)
{
  enum { ISOVALUES = 3 };
  double isovalues[ISOVALUES];
  test_volume v;
  volume_make(&v, type, dims[0], dims[1], dims[2], LAYOUT_PACKED);
  volume_fill(&v, data, rng);
  for (int n = 0; n < ISOVALUES; n++) isovalues[n] = volume_isovalue(&v, rng);
  test_about("%d x %d x %d %s, data %d", (int)dims[0], (int)dims[1], (int)dims[2], type_name(type), data);
  all_systems(&v, isovalues, ISOVALUES);
  volume_free(&v);
}

/* Around the sizes of blocks, tiles and pyramids, of all types and kinds of data. */
static void types_and_sizes(void)
{
  static const int64_t sizes[][3] = { { 2, 2, 2 }, { 3, 2, 5 }, { 33, 5, 5 }, { 5, 33, 9 }, { 4, 4, 4 }, { 9, 5, 5 },
    { 8, 8, 8 }, { 17, 16, 15 }, { 32, 4, 4 }, { 65, 3, 2 }, { 2, 2, 70 }, { 31, 33, 32 } };
  test_rng rng = { 1 };
  bench_place();
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      for (int data = 0; data < DATA_KINDS; data++)
        if ((n + t + (size_t)data) % (is_short() ? 5 : sizes[n][0] > 30 ? 2 : 1) == 0)
          fill_and_try(types[t], sizes[n], data, &rng);
}

/* Nothing to find: no cell, or the isovalue nowhere, also after something was found. */
static void empty(void)
{
  static const int64_t sizes[][3] = { { 1, 1, 1 }, { 1, 5, 5 }, { 33, 1, 5 }, { 6, 7, 1 }, { 9, 9, 9 } };
  static const double isovalues[] = { 300, 0.5, -1, 0, 1.5, 1e300, -1e300 };
  bench_place();
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      test_volume v;
      volume_make(&v, types[t], sizes[n][0], sizes[n][1], sizes[n][2], LAYOUT_PACKED);
      for (int64_t i = 0; i < ref_samples(&v.view); i++)
        volume_set(&v, i % sizes[n][0], i / sizes[n][0] % sizes[n][1], i / (sizes[n][0] * sizes[n][1]), i == 4);
      test_about("%d x %d x %d %s, one sample is 1", (int)sizes[n][0], (int)sizes[n][1], (int)sizes[n][2],
        type_name(types[t]));
      all_systems(&v, isovalues, (int)(sizeof isovalues / sizeof *isovalues));
      volume_free(&v);
    }
}

/* Many samples equal to the isovalue: triangles without area are there, and points that coincide. */
static void samples_on_the_isovalue(void)
{
  static const double isovalues[] = { 1, 2, 3, 0, 1.5 };
  test_rng rng = { 7 };
  bench_place();
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    test_volume v;
    volume_make(&v, types[t], 21, 13, 11, LAYOUT_PACKED);
    volume_fill(&v, DATA_PLATEAU, &rng);
    test_about("plateaus of 0 to 3, %s", type_name(types[t]));
    all_systems(&v, isovalues, (int)(sizeof isovalues / sizeof *isovalues));
    volume_free(&v);
  }
}

/* Smooth surfaces, larger than any block, and more triangles than a first guess has room for. */
static void surfaces(void)
{
  static const double isovalues[] = { -0.012, 0.3, -2, -0.012 }, high[] = { 0.1, 1.2, 0.1, -0.7 };
  test_volume v;
  bench_place();
  volume_sampled(&v, PMB_FLOAT32, is_short() ? 20 : 67, cayley);
  memset(v.view.index_to_world, 0, sizeof v.view.index_to_world);
  test_about("Cayley's surface");
  all_systems(&v, isovalues, 4);
  volume_free(&v);
  volume_sampled(&v, PMB_FLOAT32, is_short() ? 24 : 53, gyroid);
  memset(v.view.index_to_world, 0, sizeof v.view.index_to_world);
  test_about("gyroid");
  all_systems(&v, high, 4);
  volume_free(&v);
}

/* What a state has taken serves the next isovalue: the second round over the same isovalues takes nothing more. */
static void memory_is_kept(void)
{
  static const double isovalues[] = { 0.9, -0.4, 1.3, 0.1 };
  test_volume v;
  bench b;
  bench_place();
  volume_sampled(&v, PMB_FLOAT32, 19, gyroid);
  memset(v.view.index_to_world, 0, sizeof v.view.index_to_world);
  bench_new(&b, &v);
  for (int n = 0; n < list->count; n++) {
    const papers_entry *entry = list->entries + n;
    void *state = NULL;
    size_t most[PAPERS_USES] = { 0, 0 };
    if (!is_chosen(entry) || !CHECK(entry->system->create(&b.memory, &b.volume, &state) == PAPERS_OK, "create"))
      continue;
    for (int i = 0; i < 8; i++) {
      extract_as_pmb(&b, entry, state, isovalues[i % 4]);
      if (i == 3) memcpy(most, b.memory.most, sizeof most);
    }
    CHECK(!memcmp(most, b.memory.most, sizeof most), "%s: %zu and %zu bytes, then %zu and %zu", entry->system->name,
      most[0], most[1], b.memory.most[0], b.memory.most[1]);
    CHECK(most[PAPERS_OUTPUT] > 0, "%s: the mesh is not counted as output", entry->system->name);
    entry->system->destroy(state);
    bench_is_empty(&b, entry->system->name);
    memset(b.memory.most, 0, sizeof b.memory.most);
  }
  bench_free(&b);
  volume_free(&v);
}

/* One request is refused: what was asked is said, the state can be used again, nothing is lost. 0: none was refused. */
static int refuse(bench *b, const papers_entry *entry, int64_t request)
{
  const papers_system *system = entry->system;
  void *state = NULL;
  papers_mesh mesh;
  b->memory.asked = 0;
  hook.requests = 0;
  hook.refuse = request;
  hook.most_asked = 0;
  papers_status status = system->create(&b->memory, &b->volume, &state);
  const int created = status == PAPERS_OK;
  CHECK(created == (state != NULL), "%s: create gives %s and a state", system->name, papers_status_text(status));
  if (created) status = system->extract(state, 0.1, &mesh);
  const int refused = hook.requests > request;
  const int spare = status == PAPERS_OK && !strcmp(system->name, "pmb"); /* it can do without some of its memory */
  if (refused && !spare) {
    CHECK(status == PAPERS_NO_MEMORY, "%s: request %lld was refused, and that gives %s", system->name,
      (long long)request, papers_status_text(status));
    CHECK(b->memory.asked == hook.most_asked, "%s: %zu bytes are said to be asked for, not %zu", system->name,
      b->memory.asked, hook.most_asked);
  }
  hook.refuse = -1;
  if (created) {
    extract_as_pmb(b, entry, state, 0.3);
    extract_as_pmb(b, entry, state, 0.1);
  }
  system->destroy(state);
  bench_is_empty(b, system->name);
  return refused;
}

static void memory_refused(void)
{
  test_volume v;
  bench b;
  bench_place();
  volume_sampled(&v, PMB_FLOAT32, 17, gyroid);
  memset(v.view.index_to_world, 0, sizeof v.view.index_to_world);
  bench_new(&b, &v);
  for (int n = 0; n < list->count; n++) {
    int64_t request = 0;
    if (!is_chosen(list->entries + n)) continue;
    test_about("%s, memory refused", list->entries[n].system->name);
    while (refuse(&b, list->entries + n, request) && request < MOST_REQUESTS) request++;
    CHECK(request > 0 && request < MOST_REQUESTS, "%lld requests", (long long)request);
  }
  bench_free(&b);
  volume_free(&v);
}

/* A limit that is a byte too low says so without an attempt, and what it would have taken. */
static void limit(void)
{
  test_volume v;
  bench b;
  bench_place();
  volume_sampled(&v, PMB_FLOAT32, 17, gyroid);
  memset(v.view.index_to_world, 0, sizeof v.view.index_to_world);
  bench_new(&b, &v);
  for (int n = 0; n < list->count; n++) {
    const papers_system *system = list->entries[n].system;
    if (!is_chosen(list->entries + n)) continue;
    size_t needed = 1;
    papers_status status = PAPERS_NO_MEMORY;
    test_about("%s, limited memory", system->name);
    for (int round = 0; round < 100 && status == PAPERS_NO_MEMORY; round++) {
      void *state = NULL;
      papers_mesh mesh;
      b.memory.limit = needed - 1;
      b.memory.asked = 0;
      status = system->create(&b.memory, &b.volume, &state);
      if (status == PAPERS_OK) status = system->extract(state, 0.1, &mesh);
      CHECK(status == PAPERS_OK || b.memory.asked >= needed, "%zu asked for, limit %zu: %s", b.memory.asked,
        b.memory.limit, papers_status_text(status));
      if (status == PAPERS_OK) same_as_pmb(&b, list->entries + n, 0.1, &mesh);
      system->destroy(state);
      bench_is_empty(&b, system->name);
      needed = b.memory.asked + 1; /* exactly that is enough for this request */
    }
    CHECK(status == PAPERS_OK, "%s", papers_status_text(status));
    b.memory.limit = SIZE_MAX;
  }
  bench_free(&b);
  volume_free(&v);
}

/* Types that the systems are not for. */
static void wrong_types(void)
{
  bench_place();
  for (int n = 0; n < list->count; n++)
    for (pmb_type type = PMB_INT8; type <= PMB_FLOAT64; type++) {
      papers_memory memory = papers_memory_of(list->place);
      const papers_volume volume = { &memory, type, { 2, 2, 2 } };
      void *state = &memory;
      if (type == PMB_UINT8 || type == PMB_INT16 || type == PMB_UINT16 || type == PMB_FLOAT32) continue;
      if (!is_chosen(list->entries + n)) continue;
      const papers_status status = list->entries[n].system->create(&memory, &volume, &state);
      CHECK(status == PAPERS_BAD_TYPE && !state && !memory.first, "%s, %s: %s", list->entries[n].system->name,
        type_name(type), papers_status_text(status));
    }
}

/* More samples than there can be: refused before any is read. */
static void too_large(void)
{
  static const int64_t sizes[][3] = { { 1 << 20, 1 << 20, 1 << 20 }, { 3000000, 3000000, 3000000 },
    { 1 << 12, 1 << 12, 1 << 12 }, { INT64_C(1) << 40, 2, 2 }, { 2, 2, INT64_C(1) << 40 } };
  bench_place();
  for (int n = 0; n < list->count; n++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      const papers_system *system = list->entries[n].system;
      papers_memory memory = papers_memory_of(list->place);
      const papers_volume volume = { &memory, PMB_UINT8, { sizes[i][0], sizes[i][1], sizes[i][2] } };
      void *state = NULL;
      papers_mesh mesh;
      if (!is_chosen(list->entries + n) || !strcmp(system->name, "pmb")) continue; /* PMB trusts its caller */
      memory.limit = 1 << 20;
      papers_status status = system->create(&memory, &volume, &state);
      if (status == PAPERS_OK) status = system->extract(state, 0.5, &mesh);
      CHECK(status == PAPERS_TOO_LARGE || (status == PAPERS_NO_MEMORY && memory.asked > memory.limit),
        "%s: %s, %zu bytes asked for", system->name, papers_status_text(status), memory.asked);
      system->destroy(state);
      CHECK(!memory.first, "%s left memory", system->name);
    }
}

/* ---- the judge itself: a mesh of PMB, made wrong ---- */

typedef struct soup {
  test_mesh wanted;
  papers_mesh mesh;
  float *positions, *normals;
} soup;

static void soup_make(soup *s, pmb_context *context, double isovalue)
{
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32, &s->wanted), PMB_OK);
  const int64_t corners = 3 * s->wanted.sizes.triangles;
  const float *points = s->wanted.view.points;
  s->positions = test_allocate(3 * corners, sizeof(float));
  s->normals = test_allocate(3 * corners, sizeof(float));
  /* The last triangle first, and each with another point first. */
  for (int64_t n = 0; n < corners; n++) {
    const int64_t from = corners - 3 - n / 3 * 3 + (n % 3 + n / 3) % 3, id = mesh_id(&s->wanted, from);
    memcpy(s->positions + 3 * n, points + 3 * id, 3 * sizeof(float));
    memcpy(s->normals + 3 * n, s->wanted.view.normals + 3 * id, 3 * sizeof(float));
  }
  s->mesh = (papers_mesh){ corners, corners / 3, s->positions, s->normals, NULL };
}

static int soup_same(const soup *s)
{
  char why[WHY];
  return papers_compare(&s->mesh, PAPERS_SOUP, 1e-5, &s->wanted.view, &s->wanted.sizes, why);
}

static void swap_floats(float *a, float *b, int count)
{
  for (int i = 0; i < count; i++) {
    const float keep = a[i];
    a[i] = b[i];
    b[i] = keep;
  }
}

static void judge_finds_faults(void)
{
  test_volume v;
  soup s;
  uint32_t bits;
  volume_sampled(&v, PMB_FLOAT32, 17, gyroid);
  memset(v.view.index_to_world, 0, sizeof v.view.index_to_world);
  pmb_context *context = context_new(1, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  soup_make(&s, context, 0.1);
  float *one = s.positions + 9 * 100, *normal = s.normals + 9 * 100;
  CHECK(soup_same(&s), "another order is no fault");
  swap_floats(one, one + 3, 3);
  swap_floats(normal, normal + 3, 3);
  CHECK(!soup_same(&s), "one triangle is turned over");
  swap_floats(one, one + 3, 3);
  CHECK(!soup_same(&s), "two normals are swapped");
  swap_floats(normal, normal + 3, 3);
  memcpy(&bits, one + 4, sizeof bits);
  bits ^= 1;
  memcpy(one + 4, &bits, sizeof bits);
  CHECK(!soup_same(&s), "a position differs in its last bit");
  bits ^= 1;
  memcpy(one + 4, &bits, sizeof bits);
  CHECK(soup_same(&s), "as it was");
  memcpy(one, one + 9, 9 * sizeof(float));
  CHECK(!soup_same(&s), "one triangle is there twice, another not");
  s.mesh.triangles--;
  s.mesh.points -= 3;
  CHECK(!soup_same(&s), "one is missing");
  free(s.positions);
  free(s.normals);
  mesh_free(&s.wanted);
  pmb_destroy(context);
  volume_free(&v);
}

/* Ids: out of range, and points that nothing uses. */
static void judge_finds_ids(void)
{
  const double isovalue = 0.1;
  test_volume v;
  test_mesh m;
  char why[WHY];
  volume_sampled(&v, PMB_FLOAT32, 9, gyroid);
  mesh_of_volume(&v.view, isovalue, 0, &m);
  mesh_free(&m);
  pmb_context *context = context_new(1, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  int32_t *ids = test_allocate(3 * m.sizes.triangles, sizeof *ids);
  memcpy(ids, m.view.triangles, 12 * (size_t)m.sizes.triangles);
  papers_mesh mesh = { m.sizes.points, m.sizes.triangles, m.view.points, NULL, ids };
  CHECK(papers_compare(&mesh, PAPERS_EDGES, -1, &m.view, &m.sizes, why), "%s", why);
  ids[5] += (int32_t)m.sizes.points;
  CHECK(!papers_compare(&mesh, PAPERS_EDGES, -1, &m.view, &m.sizes, why), "an id is out of range");
  ids[5] -= (int32_t)m.sizes.points;
  mesh.points--;
  CHECK(!papers_compare(&mesh, PAPERS_EDGES, -1, &m.view, &m.sizes, why), "a point is missing");
  mesh.points += 2;
  CHECK(!papers_compare(&mesh, PAPERS_SEAMS, -1, &m.view, &m.sizes, why), "a point is not used");
  free(ids);
  mesh_free(&m);
  pmb_destroy(context);
  volume_free(&v);
}

/* clang-format off */
TEST_MAIN(
  CASE(judge_finds_faults)
  CASE(judge_finds_ids)
  CASE(types_and_sizes)
  CASE(empty)
  CASE(samples_on_the_isovalue)
  CASE(surfaces)
  CASE(memory_is_kept)
  CASE(memory_refused)
  CASE(limit)
  CASE(wrong_types)
  CASE(too_large)
)
/* clang-format on */
