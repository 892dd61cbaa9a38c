/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_order.c - the order contract, by cutting a volume between brick layers.
 *
 * With W the mesh of the whole volume, n a number of brick layers and z = 4 n:
 *  1. The volume's samples k <= z + 1 give a mesh that starts with the same points, normals and gradients: all those
 *     owned by samples k < z. (k <= z would do for the points; the gradient of sample z reads z + 1.) It starts with
 *     the same triangles as well, those of the cells k < z. Their ids are the same below the number of those points;
 *     the others mean points of sample layer z, which come later and have the same coordinates.
 *  2. Without non-finite samples and with remove_degenerate 0, the samples k >= z give the rest of W's points in the
 *     same order, so that both parts, each cut to what it owns, are W again; and the rest of the triangles, with ids
 *     that are smaller by the number of points cut off. */
#include <string.h>

#include "test_util.h"

enum { NX = 45, NY = 13, NZ = 23 };

static void cut(const test_volume *whole, int64_t k0, int64_t k1, test_volume *part)
{
  *part = *whole;
  part->memory = NULL;
  part->view.samples = ref_address(&whole->view, 0, 0, k0);
  part->view.dims[2] = k1 - k0;
  part->view.first[2] = k0;
}

/* Points that belong to samples k < z, told by coordinate (the data keeps points off the layer z itself). */
static int64_t points_below(const test_mesh *m, int64_t z)
{
  int64_t n = 0;
  double p[3];
  for (; n < m->sizes.points; n++) {
    mesh_point(m, n, p);
    if (p[2] >= (double)z) break;
  }
  return n;
}

static int64_t triangles_below(const test_mesh *m, int64_t z)
{
  int64_t n = 0;
  while (n < m->sizes.triangles && m->view.cells[n] < (NX - 1) * (NY - 1) * z) n++;
  return n;
}

/* None of the later points and triangles belongs to the first layers: bricks go by z last. */
static void check_split(const test_mesh *m, int64_t z, int64_t points, int64_t triangles)
{
  double p[3];
  for (int64_t n = points; n < m->sizes.points; n++) {
    mesh_point(m, n, p);
    if (!CHECK(p[2] >= (double)z, "point %lld lies below sample layer %lld", (long long)n, (long long)z)) break;
  }
  for (int64_t n = triangles; n < m->sizes.triangles; n++)
    if (!CHECK(m->view.cells[n] >= (NX - 1) * (NY - 1) * z, "triangle %lld: cell %lld", (long long)n,
          (long long)m->view.cells[n]))
      break;
}

static void same_start(const test_mesh *whole, const test_mesh *low, int64_t z)
{
  int64_t points = points_below(whole, z), triangles = triangles_below(whole, z);
  double p[3], q[3];
  check_split(whole, z, points, triangles);
  check_split(low, z, points, triangles);
  if (!CHECK(points_below(low, z) == points && triangles_below(low, z) == triangles,
        "%lld points, %lld triangles, not %lld, %lld", (long long)points_below(low, z),
        (long long)triangles_below(low, z), (long long)points, (long long)triangles))
    return;
  CHECK(points > 100 && points < whole->sizes.points, "%lld points: the test cuts nothing", (long long)points);
  CHECK(!memcmp(whole->view.points, low->view.points, (size_t)points * 24), "points differ");
  CHECK(!memcmp(whole->view.normals, low->view.normals, (size_t)points * 12), "normals differ");
  CHECK(!memcmp(whole->view.gradients, low->view.gradients, (size_t)points * 12), "gradients differ");
  CHECK(!memcmp(whole->view.cells, low->view.cells, (size_t)triangles * 8), "cells differ");
  for (int64_t n = 0; n < 3 * triangles; n++) {
    int64_t a = mesh_id(whole, n), b = mesh_id(low, n);
    mesh_point(whole, a, p);
    mesh_point(low, b, q);
    if (!CHECK(a < points || b < points ? a == b : !memcmp(p, q, sizeof p), "triangle %lld: ids %lld and %lld",
          (long long)n / 3, (long long)a, (long long)b))
      break;
  }
}

static void same_rest(const test_mesh *whole, const test_mesh *high, int64_t z)
{
  int64_t points = points_below(whole, z), triangles = triangles_below(whole, z);
  if (!CHECK(whole->sizes.points - points == high->sizes.points &&
          whole->sizes.triangles - triangles == high->sizes.triangles,
        "%lld points, %lld triangles in the upper part, %lld, %lld left of the whole", (long long)high->sizes.points,
        (long long)high->sizes.triangles, (long long)(whole->sizes.points - points),
        (long long)(whole->sizes.triangles - triangles)))
    return;
  CHECK(!memcmp((double *)whole->view.points + 3 * points, high->view.points, (size_t)high->sizes.points * 24),
    "points differ");
  for (int64_t n = 0; n < high->sizes.triangles; n++) {
    int64_t cell = whole->view.cells[triangles + n] - (NX - 1) * (NY - 1) * z;
    if (!CHECK(high->view.cells[n] == cell, "triangle %lld: cell %lld, not %lld", (long long)n,
          (long long)high->view.cells[n], (long long)cell))
      break;
  }
  for (int64_t n = 0; n < 3 * high->sizes.triangles; n++)
    if (!CHECK(mesh_id(high, n) + points == mesh_id(whole, 3 * triangles + n), "triangle %lld: id", (long long)n / 3))
      break;
}

static void compare_cuts(int remove_degenerate, int sprinkle)
{
  test_rng rng = { 31 };
  test_volume whole, part;
  test_mesh w, p;
  double isovalue = remove_degenerate ? 100 : 100.5;
  volume_make(&whole, sprinkle ? PMB_FLOAT32 : PMB_UINT8, NX, NY, NZ, LAYOUT_PACKED);
  for (int64_t n = 0; n < NX * NY * NZ; n++)
    volume_set(&whole, n % NX, n / NX % NY, n / (NX * NY), (double)rng_int(&rng, 90, 110));
  if (sprinkle) volume_sprinkle(&whole, 60, &rng);
  mesh_of_volume(&whole.view, isovalue, remove_degenerate, &w);
  for (int64_t z = 4; z < NZ - 2; z += 4) {
    test_about("cut at sample layer %d, remove_degenerate %d", (int)z, remove_degenerate);
    cut(&whole, 0, z + 2, &part);
    mesh_of_volume(&part.view, isovalue, remove_degenerate, &p);
    same_start(&w, &p, z);
    mesh_free(&p);
    if (remove_degenerate || sprinkle) continue;
    cut(&whole, z, NZ, &part);
    mesh_of_volume(&part.view, isovalue, 0, &p);
    same_rest(&w, &p, z);
    mesh_free(&p);
  }
  mesh_free(&w);
  volume_free(&whole);
}

static void cut_between_brick_layers(void)
{
  compare_cuts(0, 0);
}

static void cut_with_points_on_samples(void)
{
  compare_cuts(1, 0);
}

static void cut_with_non_finite_samples(void)
{
  compare_cuts(0, 1);
  compare_cuts(1, 1);
}

/* Sorts facets: nine coordinates and nine components of normals each. */
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
    int64_t begin[3], end[3], from[3];
    volume_make(&whole, types[n % 4], NX, NY, NZ, LAYOUT_EXPLICIT);
    volume_fill(&whole, n % 3 ? DATA_SMOOTH : DATA_NOISE, &rng);
    volume_world(&whole, n % WORLDS, &rng);
    double isovalue = volume_isovalue(&whole, &rng);
    part = whole;
    for (int a = 0; a < 3; a++) {
      begin[a] = rng_int(&rng, 0, whole.view.dims[a] - 2);
      end[a] = rng_int(&rng, begin[a] + 1, whole.view.dims[a] - 1);
      from[a] = begin[a] > 0 ? begin[a] - 1 : 0;
      part.view.dims[a] = (end[a] + 2 < whole.view.dims[a] ? end[a] + 2 : whole.view.dims[a]) - from[a];
      part.view.first[a] = whole.view.first[a] + from[a];
      begin[a] += whole.view.first[a];
      end[a] += whole.view.first[a];
    }
    part.view.samples = ref_address(&whole.view, from[0], from[1], from[2]);
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

/* The order of points within a brick, read off the coordinates of one full brick of noise. */
static void rows_x_then_y_then_z_edges(void)
{
  test_rng rng = { 32 };
  test_volume v;
  test_mesh m;
  volume_make(&v, PMB_UINT8, 32, 4, 4, LAYOUT_PACKED);
  for (int64_t n = 0; n < 512; n++) volume_set(&v, n % 32, n / 32 % 4, n / 128, (double)rng_int(&rng, 0, 1));
  mesh_of_volume(&v.view, 0.5, 0, &m); /* all points in the middle of their edges */
  int64_t last = -1;
  for (int64_t n = 0; n < m.sizes.points; n++) {
    double p[3];
    mesh_point(&m, n, p);
    int64_t i = (int64_t)p[0], j = (int64_t)p[1], k = (int64_t)p[2];
    int64_t axis = p[0] > (double)i ? 0 : p[1] > (double)j ? 1 : 2;
    int64_t place = ((k * 4 + j) * 3 + axis) * 32 + i;
    if (!CHECK(place > last, "point %lld at (%g, %g, %g) comes too late", (long long)n, p[0], p[1], p[2])) break;
    last = place;
  }
  for (int64_t n = 1; n < m.sizes.triangles; n++)
    if (!CHECK(m.view.cells[n] >= m.view.cells[n - 1], "triangle %lld: cell %lld after %lld", (long long)n,
          (long long)m.view.cells[n], (long long)m.view.cells[n - 1]))
      break;
  mesh_free(&m);
  volume_free(&v);
}

/* clang-format off */
TEST_MAIN(
  CASE(rows_x_then_y_then_z_edges)
  CASE(cut_between_brick_layers)
  CASE(cut_with_points_on_samples)
  CASE(cut_with_non_finite_samples)
  CASE(pieces_with_a_ghost_level)
)
