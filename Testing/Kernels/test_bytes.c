/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_bytes.c - the same bytes for any number of threads, instruction set and executor, for each of several isovalues, and for
 * pieces of a volume. */
#include <pthread.h>

#include "test_util.h"

enum { VOLUMES = 24, EXECUTORS = 3, STEP = TEST_SLOW ? 5 : 1 };

/* Makes volume n of a fixed series: each type twice, sizes near multiples of the brick's and others. Returns an isovalue. */
static double make_series(int n, test_volume *v)
{
  static const int64_t sizes[6][3] = { { 70, 45, 37 }, { 33, 5, 5 }, { 32, 4, 4 }, { 131, 17, 9 }, { 64, 64, 16 },
    { 3, 66, 30 } };
  test_rng rng = { 1000 + (uint64_t)n };
  if (n >= 20) { /* a sparse and a dense surface over many bricks */
    volume_sampled(v, n % 2 ? PMB_FLOAT32 : PMB_UINT16, 70, n < 22 ? cayley : gyroid);
    return n % 2 ? -0.012 : 0.5;
  }
  const int64_t *d = sizes[n % 6];
  volume_make(v, (pmb_type)(PMB_INT8 + n % 10), d[0], d[1], d[2], n % 5 == 4 ? LAYOUT_INTERLEAVED : LAYOUT_PACKED);
  volume_fill(v, n % 4, &rng);
  if (n % 3 == 0) volume_sprinkle(v, 50, &rng);
  volume_world(v, n % WORLDS, &rng);
  return volume_isovalue(v, &rng);
}

/* Extracts volume n of the series. remove_degenerate and the type of ids depend on n and the estimator. */
static void extract_series(pmb_context *context, int n, pmb_gradient_estimator estimator, test_mesh *m)
{
  const int remove_degenerate = (n + (int)estimator) % 2;
  const pmb_type id_type = (n / 2 + (int)estimator) % 2 ? PMB_INT32 : PMB_INT64;
  OWNED_VOLUME v;
  double isovalue = make_series(n, &v);
  test_about(
    "volume %d of the series, %s, estimator %d, isovalue %g", n, type_name(v.view.type), (int)estimator, isovalue);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(
    context, mesh_extract_by(context, estimator, &isovalue, 1, remove_degenerate, PMB_FLOAT32, id_type, m), PMB_OK);
  pmb_unbind(context);
}

/* Compares the contexts' meshes with those of one thread of plain C. Destroys the contexts. */
static void same_as_plain(pmb_context **contexts, const char *const *names, int count)
{
  OWNED_CONTEXT plain = context_new(1, "portable");
  int64_t triangles = 0;
  for (int n = 0; n < VOLUMES; n += STEP)
    for (int e = PMB_CENTRAL; e <= PMB_SOBEL; e++) {
      const pmb_gradient_estimator estimator = (pmb_gradient_estimator)e;
      test_mesh expected, got;
      extract_series(plain, n, estimator, &expected);
      triangles += expected.sizes.triangles;
      for (int c = 0; c < count; c++) {
        extract_series(contexts[c], n, estimator, &got);
        mesh_equal(&expected, &got, names[c]);
        mesh_free(&got);
      }
      mesh_free(&expected);
    }
  CHECK(triangles > (TEST_SLOW ? 20000 : 100000), "only %lld triangles compared", (long long)triangles);
  for (int c = 0; c < count; c++) pmb_destroy(contexts[c]);
}

static void threads(void)
{
  static const int counts[] = { 0, 1, 2, 3, 7, 64 };
  static const char *const names[] = { "all cores", "1 thread", "2 threads", "3 threads", "7 threads", "64 threads" };
  pmb_context *contexts[6];
  for (int c = 0; c < 6; c++) {
    pmb_info info = { .struct_size = sizeof info };
    contexts[c] = context_new(counts[c], NULL);
    CHECK_STATUS(contexts[c], pmb_get_info(contexts[c], &info), PMB_OK);
    CHECK(!counts[c] || info.threads == counts[c], "%d workers, not %d", info.threads, counts[c]);
  }
  same_as_plain(contexts, names, 6);
}

static void with_path(const char *path)
{
  pmb_info info = { .struct_size = sizeof info };
  pmb_context *context = context_new(2, path);
  CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
  CHECK(!strcmp(info.path, path), "path %s, not %s", info.path, path);
  same_as_plain(&context, &path, 1);
}

PATH_CASE(path_portable, with_path, "portable")
PATH_CASE(path_avx2, with_path, "avx2")
PATH_CASE(path_avx512, with_path, "avx512")
/* Plain C with the full rules for every brick, without the fast path for bricks inside the volume. */
PATH_CASE(path_reference, with_path, "reference")

/* ---- executors ---- */

static void run_backward(void *user, int workers, void (*task)(void *, int), void *arg)
{
  ++*(int *)user;
  for (int w = workers; w-- > 0;) task(arg, w);
}

/* Runs only worker 0, as if all others came too late. */
static void run_first(void *user, int workers, void (*task)(void *, int), void *arg)
{
  (void)workers;
  ++*(int *)user;
  task(arg, 0);
}

typedef struct job {
  void (*task)(void *, int);
  void *arg;
  int worker;
} job;

static void *run_job(void *p)
{
  job *j = p;
  j->task(j->arg, j->worker);
  return NULL;
}

/* Runs each worker in a new thread, none in the caller's. */
static void run_threads(void *user, int workers, void (*task)(void *, int), void *arg)
{
  pthread_t threads[64];
  job jobs[64];
  ++*(int *)user;
  for (int w = 0; w < workers; w++) {
    jobs[w] = (job){ task, arg, w };
    if (pthread_create(threads + w, NULL, run_job, jobs + w)) abort();
  }
  for (int w = 0; w < workers; w++) pthread_join(threads[w], NULL);
}

static void executors(void)
{
  static void (*const run[EXECUTORS])(
    void *, int, void (*)(void *, int), void *) = { run_backward, run_first, run_threads };
  static const char *const names[EXECUTORS] = { "executor, the last worker first", "executor, worker 0 alone",
    "executor, a thread per worker" };
  int calls[EXECUTORS] = { 0 };
  pmb_context *contexts[EXECUTORS] = { NULL };
  for (int c = 0; c < EXECUTORS; c++) {
    pmb_options options = { .struct_size = sizeof options, .threads = 5, .executor = { run[c], calls + c } };
    if (!CHECK_STATUS(NULL, pmb_create(&options, contexts + c), PMB_OK)) return;
  }
  same_as_plain(contexts, names, EXECUTORS);
  for (int c = 0; c < EXECUTORS; c++) CHECK(calls[c] > 0, "%s was called %d times", names[c], calls[c]);
}

/* ---- several isovalues ---- */

/* Compares `part`, the mesh of one isovalue, with the part of `whole` (64-bit ids) that begins at a point and a triangle. */
static void same_part(const test_mesh *whole, const test_mesh *part, int64_t point, int64_t triangle)
{
  size_t p = (size_t)point, n = (size_t)part->sizes.points, t = (size_t)triangle,
         count = (size_t)part->sizes.triangles;
  const pmb_mesh *w = &whole->view, *o = &part->view;
  CHECK(!memcmp((float *)w->points + 3 * p, o->points, 12 * n), "points differ");
  CHECK(!memcmp(w->normals + 3 * p, o->normals, 12 * n), "normals differ");
  CHECK(!memcmp(w->gradients + 3 * p, o->gradients, 12 * n), "gradients differ");
  CHECK(!memcmp((float *)w->scalars + p, o->scalars, 4 * n), "scalars differ");
  CHECK(!memcmp(w->cells + t, o->cells, 8 * count), "cells differ");
  for (int64_t i = 0; i < 3 * part->sizes.triangles; i++)
    if (!CHECK(mesh_id(whole, 3 * triangle + i) == point + mesh_id(part, i), "id %lld differs", (long long)i)) break;
  for (int64_t i = 0; i <= part->sizes.triangles; i++)
    if (!CHECK(((int64_t *)w->offsets)[triangle + i] == 3 * (triangle + i), "offset %lld", (long long)i)) break;
}

/* Checks that the mesh of all isovalues holds the mesh of each alone, one after another. */
static void check_concatenated(
  pmb_context *context, const test_volume *v, const double *isovalues, int64_t count, int remove_degenerate)
{
  test_mesh whole, part;
  pmb_sizes total, at = { 0, 0 }, *each = test_allocate(count, sizeof *each);
  pmb_request request = { sizeof request, isovalues, count, remove_degenerate };
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &total, each), PMB_OK);
  mesh_make(&whole, total, PMB_FLOAT32, PMB_INT64);
  CHECK_STATUS(context, pmb_emit(context, &whole.view), PMB_OK);
  mesh_canaries_alive(&whole);
  for (int64_t i = 0; i < count; i++) {
    test_about("isovalue %lld of %lld: %.17g", (long long)i, (long long)count, isovalues[i]);
    CHECK_STATUS(
      context, mesh_extract(context, isovalues + i, 1, remove_degenerate, PMB_FLOAT32, PMB_INT32, &part), PMB_OK);
    if (CHECK(each[i].points == part.sizes.points && each[i].triangles == part.sizes.triangles,
          "per_isovalue says %lld, %lld, not %lld, %lld", (long long)each[i].points, (long long)each[i].triangles,
          (long long)part.sizes.points, (long long)part.sizes.triangles))
      same_part(&whole, &part, at.points, at.triangles);
    at.points += each[i].points;
    at.triangles += each[i].triangles;
    mesh_free(&part);
  }
  CHECK(at.points == total.points && at.triangles == total.triangles, "the totals are not the sums");
  mesh_free(&whole);
  free(each);
}

/* Several isovalues, some repeated, without a surface, or not in order. */
static void several_isovalues_are_concatenated(void)
{
  enum { COUNT = 9 };
  test_rng rng = { 22 };
  OWNED_CONTEXT context = context_new(3, NULL);
  for (int n = 0; n < VOLUMES; n += STEP) {
    OWNED_VOLUME v;
    double isovalues[COUNT];
    make_series(n, &v);
    for (int i = 0; i < COUNT; i++) isovalues[i] = volume_isovalue(&v, &rng);
    isovalues[3] = isovalues[1];
    isovalues[5] = 1e300;
    check_concatenated(context, &v, isovalues, COUNT, n % 2);
  }
}

/* More isovalues, each active in all 5,120 bricks, than the CPU keeps at once (16, and a limit of bytes), or a GPU takes in a launch. */
static void isovalues_are_too_many_to_keep(void)
{
  enum { COUNT = 40 };
  double isovalues[COUNT];
  const int64_t limit = (int64_t)1 << 24; /* PMB_CPU_KEPT_LEAST; half of the volume is smaller */
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_info info = { .struct_size = sizeof info };
  OWNED_VOLUME v = volume_of(PMB_UINT8, 160, 128, 128, LAYOUT_PACKED);
  for (int64_t k = 1; k < 128; k += 4)
    for (int64_t j = 1; j < 128; j += 4)
      for (int64_t i = 7; i < 160; i += 32) volume_set(&v, i, j, k, 200 - (double)(i % 3));
  for (int i = 0; i < COUNT; i++) isovalues[i] = 100 + 2.25 * i;
  check_concatenated(context, &v, isovalues, COUNT, 1);
  CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
  CHECK(info.active_bricks == 5120, "%lld bricks are active", (long long)info.active_bricks);
  CHECK(test_on_gpu() || info.peak_bytes < limit + limit / 4, "%lld bytes were held", (long long)info.peak_bytes);
}

/* ---- pieces ---- */

/* Makes a piece of a volume, from sample `from` on, that borrows the samples. */
static void cut(const test_volume *whole, const int64_t from[3], const int64_t dims[3], test_volume *part)
{
  *part = *whole;
  part->memory = NULL;
  part->view.samples = ref_address(&whole->view, from[0], from[1], from[2]);
  for (int a = 0; a < 3; a++) {
    part->view.first[a] = whole->view.first[a] + from[a];
    part->view.dims[a] = dims[a];
  }
}

/* Nine coordinates and nine components of normals; memcmp sorts them. */
typedef struct facet {
  double p[9];
  float n[9];
} facet;

static int compare_facets(const void *a, const void *b)
{
  return memcmp(a, b, sizeof(facet));
}

/* Collects and sorts the facets of the cells [begin, end), in indices of the whole volume. Returns their number. */
static int64_t collect(
  const test_mesh *m, const pmb_volume *v, const int64_t begin[3], const int64_t end[3], facet *to)
{
  int64_t count = 0;
  for (int64_t t = 0; t < m->sizes.triangles; t++) {
    int64_t cell = m->view.cells[t], nx = v->dims[0] - 1, ny = v->dims[1] - 1;
    int64_t at[3] = { cell % nx, cell / nx % ny, cell / nx / ny };
    int own = 1;
    for (int a = 0; a < 3; a++) own &= at[a] + v->first[a] >= begin[a] && at[a] + v->first[a] < end[a];
    if (!own) continue;
    facet *f = &to[count++];
    memset(f, 0, sizeof *f);
    for (int c = 0; c < 3; c++) {
      mesh_point(m, mesh_id(m, 3 * t + c), f->p + 3 * c);
      memcpy(f->n + 3 * c, m->view.normals + 3 * mesh_id(m, 3 * t + c), 3 * sizeof(float));
    }
  }
  qsort(to, (size_t)count, sizeof *to, compare_facets);
  return count;
}

/* Small noise, and far away a sample that makes the range large. Returns an isovalue. */
static double fill_faint(const test_volume *v, test_rng *rng)
{
  const double faint = v->view.type == PMB_FLOAT32 ? 1e-13 : 1e-110;
  for (int64_t n = 0; n < ref_samples(&v->view); n++) volume_put(v, n, faint * rng_real(rng, 0.3, 1.7));
  volume_put(v, ref_samples(&v->view) - 1, 1);
  return faint;
}

/* Facets in boxes of a volume have the same bytes if only the box and one more layer of samples are bound, even if the range of
 * the samples differs. */
static void pieces_with_a_ghost_level(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_FLOAT64, PMB_INT16, PMB_INT64 };
  test_rng rng = { 33 };
  int64_t compared = 0;
  for (int n = 0; n < (TEST_SLOW ? 10 : 120); n++) {
    const int remove_degenerate = n / 2 % 2;
    test_volume whole, part;
    test_mesh meshes[2];
    facet *facets[2];
    int64_t begin[3], end[3], from[3], dims[3], count[2];
    volume_make(&whole, types[n % 4], 45, 13, 23, LAYOUT_EXPLICIT);
    volume_fill(&whole, n % 3 ? DATA_SMOOTH : DATA_NOISE, &rng);
    volume_world(&whole, n % WORLDS, &rng);
    const double isovalue = n % 4 < 2 && n % 5 == 0 ? fill_faint(&whole, &rng) : volume_isovalue(&whole, &rng);
    for (int a = 0; a < 3; a++) {
      begin[a] = rng_int(&rng, 0, whole.view.dims[a] - 2);
      end[a] = rng_int(&rng, begin[a] + 1, whole.view.dims[a] - 1);
      from[a] = begin[a] > 0 ? begin[a] - 1 : 0;
      dims[a] = (end[a] + 2 < whole.view.dims[a] ? end[a] + 2 : whole.view.dims[a]) - from[a];
      begin[a] += whole.view.first[a];
      end[a] += whole.view.first[a];
    }
    cut(&whole, from, dims, &part);
    test_about("%d: cells %d..%d, %d..%d, %d..%d of %s", n, (int)begin[0], (int)end[0], (int)begin[1], (int)end[1],
      (int)begin[2], (int)end[2], type_name(whole.view.type));
    for (int i = 0; i < 2; i++) {
      const pmb_volume *v = i ? &part.view : &whole.view;
      OWNED_CONTEXT context = context_new(2, NULL);
      CHECK_STATUS(context, pmb_bind(context, v), PMB_OK);
      CHECK_STATUS(context,
        mesh_extract_by(context, (pmb_gradient_estimator)(n / 4 % 3), &isovalue, 1, remove_degenerate, PMB_FLOAT64,
          PMB_INT64, &meshes[i]),
        PMB_OK);
      facets[i] = test_allocate(meshes[i].sizes.triangles, sizeof(facet));
      count[i] = collect(&meshes[i], v, begin, end, facets[i]);
    }
    if (CHECK(count[0] == count[1], "%d and %d facets", (int)count[0], (int)count[1]))
      CHECK(!memcmp(facets[0], facets[1], (size_t)count[0] * sizeof(facet)), "facets differ");
    compared += count[0];
    for (int i = 0; i < 2; i++) {
      free(facets[i]);
      mesh_free(&meshes[i]);
    }
    volume_free(&whole);
  }
  CHECK(compared > (TEST_SLOW ? 4000 : 25000), "only %lld facets compared", (long long)compared);
}

/* ---- slabs ---- */

/* Compares the meshes of slabs of some layers of bricks, one after another, with that of the whole. */
static void check_slabs(
  pmb_context *context, const test_volume *v, const double *isovalues, int n, int64_t thick, const test_mesh *whole)
{
  const int64_t *d = v->view.dims, slice = (d[0] - 1) * (d[1] - 1), layers = (d[2] + 3) / 4;
  pmb_sizes at = { 0, 0 };
  for (int64_t first = 0; first < layers; first += thick) {
    const int64_t end = first + thick < layers ? first + thick : layers, from = first > 0 ? 4 * first - 4 : 0;
    const int64_t stop = 4 * end + 5 < d[2] ? 4 * end + 5 : d[2];
    test_volume slab;
    test_mesh part;
    cut(v, (int64_t[3]){ 0, 0, from }, (int64_t[3]){ d[0], d[1], stop - from }, &slab);
    slab.view.sample_flags = v->sample_flags ? v->sample_flags + d[0] * d[1] * from : NULL;
    slab.view.cell_flags = v->cell_flags ? v->cell_flags + slice * from : NULL;
    slab.view.first_layer = first - from / 4;
    slab.view.layer_count = end - first;
    check_concatenated(context, &slab, isovalues, 3, n % 2);
    CHECK_STATUS(context,
      mesh_extract_by(context, (pmb_gradient_estimator)(n % 3), isovalues, 1, n % 2, PMB_FLOAT32, PMB_INT32, &part),
      PMB_OK);
    test_about(
      "volume %d, %s, slabs of %d layers, the one from layer %d", n, type_name(v->view.type), (int)thick, (int)first);
    for (int64_t t = 0; t < part.sizes.triangles; t++) part.view.cells[t] += slice * from;
    if (CHECK(at.points + part.sizes.points <= whole->sizes.points &&
            at.triangles + part.sizes.triangles <= whole->sizes.triangles,
          "more than the whole"))
      same_part(whole, &part, at.points, at.triangles);
    at.points += part.sizes.points;
    at.triangles += part.sizes.triangles;
    mesh_free(&part);
  }
  CHECK(!memcmp(&at, &whole->sizes, sizeof at), "slabs of %d layers: less than the whole", (int)thick);
}

/* Slabs with 4 samples below and 5 above give the bytes of the whole, on all instruction sets. */
static void slabs(void)
{
  test_rng rng = { 45 };
  OWNED_CONTEXT plain = context_new(1, "portable");
  int64_t triangles = 0;
  for (int n = 0; n < (TEST_SLOW ? 6 : 60); n++) {
    double isovalues[3];
    test_mesh whole;
    OWNED_VOLUME v;
    OWNED_CONTEXT context = context_on_path(n / 2 % TEST_PATHS);
    volume_random(&v, rng_int(&rng, 2, 70), rng_int(&rng, 2, 12), rng_int(&rng, 1, 30), &rng);
    for (int i = 0; i < 3; i++) isovalues[i] = volume_isovalue(&v, &rng);
    CHECK_STATUS(plain, pmb_bind(plain, &v.view), PMB_OK);
    CHECK_STATUS(plain,
      mesh_extract_by(plain, (pmb_gradient_estimator)(n % 3), isovalues, 1, n % 2, PMB_FLOAT32, PMB_INT64, &whole),
      PMB_OK);
    triangles += whole.sizes.triangles;
    for (int64_t thick = 1; thick < 4 && context; thick++) check_slabs(context, &v, isovalues, n, thick, &whole);
    mesh_free(&whole);
  }
  CHECK(triangles > (TEST_SLOW ? 2000 : 50000), "only %lld triangles compared", (long long)triangles);
}

/* clang-format off */
TEST_MAIN(
  CASE(threads)
  CASE(path_portable)
  CASE(path_avx2)
  CASE(path_avx512)
  CASE(path_reference)
  CASE(executors)
  CASE(several_isovalues_are_concatenated)
  CASE(isovalues_are_too_many_to_keep)
  CASE(pieces_with_a_ghost_level)
  CASE(slabs)
)
