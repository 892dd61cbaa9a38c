/* SPDX-License-Identifier: BSD-3-Clause */
#include "papers_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY = 256 };

/* The bits of three positions, turned so that no other turn is less, and the points. */
typedef struct triangle {
  uint32_t bits[9];
  int64_t points[3];
} triangle;

static int by_bits(const void *a, const void *b)
{
  const triangle *s = a, *t = b;
  for (int i = 0; i < 9; i++)
    if (s->bits[i] != t->bits[i]) return s->bits[i] < t->bits[i] ? -1 : 1;
  return 0;
}

static triangle turn(const float *positions, const int64_t points[3], int first)
{
  triangle t;
  for (int c = 0; c < 3; c++) {
    t.points[c] = points[(c + first) % 3];
    memcpy(t.bits + 3 * c, positions + 3 * t.points[c], 3 * sizeof(float));
  }
  return t;
}

static triangle turned(const float *positions, const int64_t points[3])
{
  triangle least = turn(positions, points, 0);
  for (int first = 1; first < 3; first++) {
    const triangle t = turn(positions, points, first);
    if (by_bits(&t, &least) < 0) least = t;
  }
  return least;
}

/* Sorted, for free(); NULL without memory. ids == NULL: a soup. */
static triangle *sorted(const float *positions, const int32_t *ids, int64_t count)
{
  triangle *list = malloc(((size_t)count + 1) * sizeof *list);
  for (int64_t n = 0; list && n < count; n++) {
    int64_t points[3];
    for (int c = 0; c < 3; c++) points[c] = ids ? ids[3 * n + c] : 3 * n + c;
    list[n] = turned(positions, points);
  }
  if (list) qsort(list, (size_t)count, sizeof *list, by_bits);
  return list;
}

static void say_triangle(char *why, const char *what, const triangle *t, int64_t n, int64_t count)
{
  float p[9];
  memcpy(p, t->bits, sizeof p);
  snprintf(why, WHY, "%s: %lld of %lld, (%.9g %.9g %.9g) (%.9g %.9g %.9g) (%.9g %.9g %.9g)", what, (long long)n,
    (long long)count, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]);
}

/* Counts of points and ids that are points. Every point must be used: none is made for nothing. */
static int check_points(const papers_mesh *mesh, papers_sharing sharing, const pmb_sizes *sizes, char *why)
{
  const int64_t points = mesh->points, corners = 3 * mesh->triangles;
  const int right = sharing == PAPERS_SOUP ? points == corners
    : sharing == PAPERS_EDGES              ? points == sizes->points
    : sharing == PAPERS_WELDED             ? points <= sizes->points
                                           : points >= sizes->points && points <= corners;
  if (!right || (sharing == PAPERS_SOUP) != (mesh->ids == NULL)) {
    snprintf(why, WHY, "%lld points for %lld triangles, %s ids; PMB has %lld", (long long)points,
      (long long)mesh->triangles, mesh->ids ? "with" : "without", (long long)sizes->points);
    return corners == 0 && points == 0; /* arrays of nothing may be there or not */
  }
  unsigned char *used = calloc((size_t)points + 1, 1);
  int64_t seen = 0;
  for (int64_t n = 0; used && mesh->ids && n < corners; n++) {
    const int64_t id = mesh->ids[n];
    if (id < 0 || id >= points) {
      snprintf(
        why, WHY, "id %lld of triangle %lld, of %lld points", (long long)id, (long long)(n / 3), (long long)points);
      free(used);
      return 0;
    }
    seen += !used[id];
    used[id] = 1;
  }
  const int good = used && (!mesh->ids || seen == points);
  if (!good) snprintf(why, WHY, "%lld of %lld points are used", (long long)seen, (long long)points);
  free(used);
  return good;
}

static int same_normals(
  const triangle *a, const float *have, const triangle *b, const float *want, double tolerance, char *why)
{
  for (int c = 0; c < 3; c++)
    for (int axis = 0; axis < 3; axis++) {
      const double x = have[3 * a->points[c] + axis], y = want[3 * b->points[c] + axis];
      if (!(fabs(x - y) <= tolerance)) {
        float p[3];
        memcpy(p, a->bits + 3 * c, sizeof p);
        snprintf(
          why, WHY, "component %d of the normal at (%.9g %.9g %.9g) is %.9g, not %.9g", axis, p[0], p[1], p[2], x, y);
        return 0;
      }
    }
  return 1;
}

static int same_lists(const triangle *a, const triangle *b, int64_t count, const papers_mesh *mesh, double tolerance,
  const float *normals, char *why)
{
  for (int64_t n = 0; n < count; n++) {
    const int order = by_bits(a + n, b + n);
    if (order) {
      say_triangle(why, order < 0 ? "a triangle that PMB has not" : "a triangle that is missing",
        order < 0 ? a + n : b + n, n, count);
      return 0;
    }
  }
  if (!mesh->normals || !normals || tolerance < 0) return 1;
  for (int64_t n = 0; n < count; n++) {
    const int several = (n > 0 && !by_bits(a + n - 1, a + n)) || (n + 1 < count && !by_bits(a + n, a + n + 1));
    /* Which of two points at one place is meant cannot be told. */
    const int flat = !memcmp(a[n].bits, a[n].bits + 3, 12) || !memcmp(a[n].bits + 3, a[n].bits + 6, 12) ||
      !memcmp(a[n].bits, a[n].bits + 6, 12);
    if (!several && !flat && !same_normals(a + n, mesh->normals, b + n, normals, tolerance, why)) return 0;
  }
  return 1;
}

int papers_compare(const papers_mesh *mesh, papers_sharing sharing, double tolerance, const pmb_mesh *wanted,
  const pmb_sizes *sizes, char *why)
{
  snprintf(why, WHY, "no memory to compare");
  if (mesh->triangles != sizes->triangles) {
    snprintf(why, WHY, "%lld triangles instead of %lld", (long long)mesh->triangles, (long long)sizes->triangles);
    return 0;
  }
  if (!check_points(mesh, sharing, sizes, why)) return 0;
  triangle *a = sorted(mesh->positions, mesh->ids, mesh->triangles);
  triangle *b = sorted(wanted->points, wanted->triangles, sizes->triangles);
  const int same = a && b && same_lists(a, b, sizes->triangles, mesh, tolerance, wanted->normals, why);
  free(a);
  free(b);
  return same;
}
