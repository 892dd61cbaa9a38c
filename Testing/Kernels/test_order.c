/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_order.c - the order contract, by pieces of a volume: test_reference.c checks the order itself.
 *
 * With n a number of brick layers and z = 4 n, the samples k <= z + 1 give a mesh that starts with the points, normals and
 * gradients of the whole mesh that samples k < z own, and with the triangles of the cells k < z. (k <= z would do for the
 * points; the gradient of sample z reads z + 1.) Their ids are the same below the number of those points; the others mean
 * points of layer z, which come later and have the same coordinates. Without points on samples, the samples k >= z give the
 * rest of the points in the same order, and the rest of the triangles, with ids smaller by the number of points cut off. */
#include "test_util.h"

enum { NX = 45, NY = 13, NZ = 23, LAYER = (NX - 1) * (NY - 1) };

/* A piece of a volume from sample `from` on; borrows the samples. */
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

/* Points of samples k < z, told by coordinate (no point lies on layer z itself, but as its own), and triangles of cells k < z.
 * All of them come before the others. */
static pmb_sizes below(const test_mesh *m, int64_t z)
{
  pmb_sizes n = { 0, 0 };
  double p[3];
  for (int64_t i = 0; i < m->sizes.points; i++) {
    mesh_point(m, i, p);
    if (p[2] < (double)z) CHECK(n.points++ == i, "point %lld lies below layer %lld", (long long)i, (long long)z);
  }
  for (int64_t i = 0; i < m->sizes.triangles; i++)
    if (m->view.cells[i] < LAYER * z) CHECK(n.triangles++ == i, "triangle %lld is in a lower cell", (long long)i);
  return n;
}

static void same_start(const test_mesh *whole, const test_mesh *low, int64_t z)
{
  const pmb_sizes n = below(whole, z), part = below(low, z);
  double p[3], q[3];
  CHECK(n.points > 100 && n.points < whole->sizes.points, "%lld points: the test cuts nothing", (long long)n.points);
  if (!CHECK(n.points == part.points && n.triangles == part.triangles, "%lld points, %lld triangles, not %lld, %lld",
        (long long)part.points, (long long)part.triangles, (long long)n.points, (long long)n.triangles))
    return;
  CHECK(!memcmp(whole->view.points, low->view.points, (size_t)n.points * 24), "points differ");
  CHECK(!memcmp(whole->view.normals, low->view.normals, (size_t)n.points * 12), "normals differ");
  CHECK(!memcmp(whole->view.gradients, low->view.gradients, (size_t)n.points * 12), "gradients differ");
  CHECK(!memcmp(whole->view.cells, low->view.cells, (size_t)n.triangles * 8), "cells differ");
  for (int64_t i = 0; i < 3 * n.triangles; i++) {
    const int64_t a = mesh_id(whole, i), b = mesh_id(low, i);
    mesh_point(whole, a, p);
    mesh_point(low, b, q);
    if (!CHECK(a < n.points || b < n.points ? a == b : !memcmp(p, q, sizeof p), "triangle %lld: ids %lld and %lld",
          (long long)i / 3, (long long)a, (long long)b))
      break;
  }
}

static void same_rest(const test_mesh *whole, const test_mesh *high, int64_t z)
{
  const pmb_sizes n = below(whole, z), rest = high->sizes;
  if (!CHECK(whole->sizes.points == n.points + rest.points && whole->sizes.triangles == n.triangles + rest.triangles,
        "%lld points, %lld triangles in the upper part", (long long)rest.points, (long long)rest.triangles))
    return;
  const double *points = whole->view.points;
  CHECK(!memcmp(points + 3 * n.points, high->view.points, (size_t)rest.points * 24), "points differ");
  int64_t wrong = 0;
  for (int64_t i = 0; i < rest.triangles; i++)
    wrong += high->view.cells[i] + LAYER * z != whole->view.cells[n.triangles + i];
  for (int64_t i = 0; i < 3 * rest.triangles; i++)
    wrong += mesh_id(high, i) + n.points != mesh_id(whole, 3 * n.triangles + i);
  CHECK(!wrong, "%lld cells or ids", (long long)wrong);
}

/* Points between samples, points on them, samples that are not finite. */
static void cut_between_brick_layers(void)
{
  for (int kind = 0; kind < 4; kind++) {
    const int remove_degenerate = kind % 2, sprinkle = kind / 2;
    const double isovalue = remove_degenerate ? 100 : 100.5;
    test_rng rng = { 31 };
    test_volume whole, part;
    test_mesh w, p;
    volume_make(&whole, sprinkle ? PMB_FLOAT32 : PMB_UINT8, NX, NY, NZ, LAYOUT_PACKED);
    for (int64_t n = 0; n < NX * NY * NZ; n++) volume_put(&whole, n, (double)rng_int(&rng, 90, 110));
    if (sprinkle) volume_sprinkle(&whole, 60, &rng);
    mesh_of_volume(&whole.view, isovalue, remove_degenerate, &w);
    for (int64_t z = 4; z < NZ - 2; z += 4) {
      test_about("cut at sample layer %d, kind %d", (int)z, kind);
      cut(&whole, (const int64_t[3]){ 0, 0, 0 }, (const int64_t[3]){ NX, NY, z + 2 }, &part);
      mesh_of_volume(&part.view, isovalue, remove_degenerate, &p);
      same_start(&w, &p, z);
      mesh_free(&p);
      if (kind > 0) continue;
      cut(&whole, (const int64_t[3]){ 0, 0, z }, (const int64_t[3]){ NX, NY, NZ - z }, &part);
      mesh_of_volume(&part.view, isovalue, 0, &p);
      same_rest(&w, &p, z);
      mesh_free(&p);
    }
    mesh_free(&w);
    volume_free(&whole);
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
/* The facets of the cells [begin, end) of a part, as they are in the world. */
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

/* Boxes anywhere in a volume, with a sample more around them: the facets of their cells have the bytes of the whole's. */
static void pieces_with_a_ghost_level(void)
{
  test_rng rng = { 33 };
  for (int n = 0; n < (TEST_SLOW ? 10 : 60); n++) {
    test_volume whole, part;
    test_mesh w, p;
    const pmb_type types[] = { PMB_FLOAT32, PMB_FLOAT64, PMB_INT16, PMB_INT64 };
    int64_t begin[3], end[3], from[3], dims[3];
    volume_make(&whole, types[n % 4], NX, NY, NZ, LAYOUT_EXPLICIT);
    volume_fill(&whole, n % 3 ? DATA_SMOOTH : DATA_NOISE, &rng);
    volume_world(&whole, n % WORLDS, &rng);
    double isovalue = volume_isovalue(&whole, &rng);
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
    mesh_of_volume(&whole.view, isovalue, n / 2 % 2, &w);
    mesh_of_volume(&part.view, isovalue, n / 2 % 2, &p);
    facet *a = test_allocate(w.sizes.triangles, sizeof *a), *b = test_allocate(p.sizes.triangles, sizeof *b);
    int64_t in_whole = collect(&w, &whole.view, begin, end, a), in_part = collect(&p, &part.view, begin, end, b);
    if (CHECK(in_whole == in_part, "%d and %d facets", (int)in_whole, (int)in_part))
      CHECK(!memcmp(a, b, (size_t)in_whole * sizeof *a), "facets differ");
    free(a);
    free(b);
    mesh_free(&w);
    mesh_free(&p);
    volume_free(&whole);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(cut_between_brick_layers)
  CASE(pieces_with_a_ghost_level)
)
