/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_judge.c - checks a mesh against the reference, and its topology and geometry. */
#include <float.h>
#include <math.h>

#include "test_util.h"

/* ---- against the reference ---- */

/* Checks that a point whose t has a slack lies on that part of its edge. */
static int on_its_edge(const ref_mesh *r, int64_t point, const double p[3], double epsilon)
{
  int64_t a[3], b[3];
  double end[2][3];
  ref_ends(r, point, a, b);
  for (int side = 0; side < 2; side++) {
    double t = r->t[point] + (side ? 1 : -1) * r->t_slack[point], index[3];
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int c = 0; c < 3; c++) index[c] = (double)(a[c] + r->volume.first[c]) + t * (double)(b[c] - a[c]);
    ref_world(&r->volume, index, end[side]);
  }
  for (int c = 0; c < 3; c++) {
    const double *w = r->volume.index_to_world + 4 * c;
    const int64_t *first = r->volume.first;
    double size = fabs(w[0] * (double)(b[0] + first[0])) + fabs(w[1] * (double)(b[1] + first[1])) +
      fabs(w[2] * (double)(b[2] + first[2])) + fabs(w[3]);
    if (!(p[c] >= fmin(end[0][c], end[1][c]) - 4 * epsilon * size)) return 0;
    if (!(p[c] <= fmax(end[0][c], end[1][c]) + 4 * epsilon * size)) return 0;
  }
  return 1;
}

static void judge_points(const test_mesh *m, const ref_mesh *r)
{
  for (int64_t n = 0; n < r->points; n++) {
    double got[3], want[3];
    int64_t a[3], b[3];
    mesh_point(m, n, got);
    if (r->t_slack[n] > 0) {
      CHECK(on_its_edge(r, n, got, m->view.point_type == PMB_FLOAT32 ? FLT_EPSILON : DBL_EPSILON),
        "point %lld: (%.9g, %.9g, %.9g) is not on its edge near t = %g, carrier %d", (long long)n, got[0], got[1],
        got[2], r->t[n], (int)(r->keys[n] % 4));
      continue;
    }
    ref_position(r, n, want);
    for (int c = 0; c < 3; c++) {
      double rounded = m->view.point_type == PMB_FLOAT32 ? (float)want[c] : want[c];
      if (!CHECK(got[c] == rounded, "point %lld of %lld, coordinate %d: %.17g, not %.17g; carrier %d, t %.17g",
            (long long)n, (long long)r->points, c, got[c], rounded, (int)(r->keys[n] % 4), r->t[n])) {
        ref_ends(r, n, a, b);
        CHECK(0, "its samples: %.17g, %.17g; isovalue %.17g", ref_sample(&r->volume, a[0], a[1], a[2]),
          ref_sample(&r->volume, b[0], b[1], b[2]), r->isovalue);
        return;
      }
    }
  }
}

/* The world direction of a point's edge from its high to its low sample; 0 for a sample point. */
static void downhill(const ref_mesh *r, int64_t point, double d[3])
{
  int64_t a[3], b[3];
  ref_ends(r, point, a, b);
  const double *w = r->volume.index_to_world;
  int high_first = ref_inside(&r->volume, a[0], a[1], a[2], r->isovalue);
  for (int c = 0; c < 3; c++) {
    d[c] = 0;
    for (int axis = 0; axis < 3; axis++)
      d[c] += w[4 * c + axis] * (double)(b[axis] - a[axis]) * (high_first ? 1 : -1);
  }
}

static double length(const double v[3])
{
  double big = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
  if (!(big > 0 && big <= DBL_MAX)) return big;
  double x = v[0] / big, y = v[1] / big, z = v[2] / big;
  return big * sqrt(x * x + y * y + z * z);
}

static int is_near(const float *got, const double *want, double tolerance)
{
  return fabs(got[0] - want[0]) <= tolerance && fabs(got[1] - want[1]) <= tolerance &&
    fabs(got[2] - want[2]) <= tolerance;
}

/* g: the gradient, with rounding errors. zero: 1 if it is exactly 0. */
static void judge_normal(
  const test_mesh *m, const ref_mesh *r, int64_t n, const double g[3], int zero, double rounding)
{
  const float *normal = m->view.normals + 3 * n;
  const double unit[3] = { normal[0], normal[1], normal[2] }, size = length(g);
  double want[3], down[3];
  if (!CHECK(fabs(length(unit) - 1) < 1e-5, "normal %lld: (%g, %g, %g) has length %.9g", (long long)n, unit[0],
        unit[1], unit[2], length(unit)))
    return;
  if (size > 1e3 * rounding) {
    for (int c = 0; c < 3; c++) want[c] = -g[c] / size;
    CHECK(is_near(normal, want, 1e-5 + 4 * rounding / size), "normal %lld: (%g, %g, %g), not (%g, %g, %g)",
      (long long)n, unit[0], unit[1], unit[2], want[0], want[1], want[2]);
  } else if (zero) {
    downhill(r, n, down);
    CHECK(length(down) == 0 || unit[0] * down[0] + unit[1] * down[1] + unit[2] * down[2] > 0,
      "normal %lld of a zero gradient: (%g, %g, %g) does not point to the lower end", (long long)n, unit[0], unit[1],
      unit[2]);
  }
}

/* Checks gradients and normals. Central differences replace an estimator that reads a sample without a value, or may vanish. */
static void judge_gradients(const test_mesh *m, const ref_mesh *r)
{
  const pmb_gradient_estimator estimator = m->view.gradient_estimator;
  for (int64_t n = 0; n < r->points && test_failures() < 50; n++) {
    const float *got = m->view.gradients + 3 * n;
    double central[3], g[3], slack[3], more[3] = { 0, 0, 0 };
    CHECK(!isnan(got[0]) && !isnan(got[1]) && !isnan(got[2]), "gradient %lld: (%g, %g, %g)", (long long)n,
      (double)got[0], (double)got[1], (double)got[2]);
    const int zero = ref_gradient(r, n, central, slack) && r->t_slack[n] == 0;
    const int own = estimator != PMB_CENTRAL && ref_estimate(r, n, estimator, g, more);
    if (!own) memcpy(g, central, sizeof g);
    const double size = length(slack) + (own ? length(more) : 0), rounding = 2e-6 * size + FLT_MIN;
    if (r->t_slack[n] > 1e-12 || !(size < FLT_MAX / 8)) { /* checks only the normal's length */
      judge_normal(m, r, n, (const double[3]){ 0, 0, 1 }, 0, 1);
      continue;
    }
    CHECK(is_near(got, g, rounding) || (own && length(g) < 100 * rounding && is_near(got, central, rounding)),
      "gradient %lld by estimator %d: (%.9g, %.9g, %.9g), not (%.9g, %.9g, %.9g) (of %g)", (long long)n,
      (int)estimator, (double)got[0], (double)got[1], (double)got[2], g[0], g[1], g[2], size);
    judge_normal(m, r, n, g, zero && !own, rounding);
  }
}

static void judge_triangles(const test_mesh *m, const ref_mesh *r)
{
  for (int64_t n = 0; n < r->triangles; n++) {
    for (int c = 0; c < 3; c++)
      if (!CHECK(mesh_id(m, 3 * n + c) == r->ids[3 * n + c],
            "triangle %lld of %lld, corner %d: id %lld, not %lld (cell %lld, mirrored volumes swap 2 and 3)",
            (long long)n, (long long)r->triangles, c, (long long)mesh_id(m, 3 * n + c), (long long)r->ids[3 * n + c],
            (long long)r->cells[n]))
        return;
    if (!CHECK(m->view.cells[n] == r->cells[n], "cell of triangle %lld: %lld, not %lld", (long long)n,
          (long long)m->view.cells[n], (long long)r->cells[n]))
      return;
  }
}

static void judge_simple_arrays(const test_mesh *m, double isovalue)
{
  const pmb_mesh *v = &m->view;
  for (int64_t n = 0; n <= m->sizes.triangles; n++) {
    int64_t got = v->id_type == PMB_INT32 ? ((int32_t *)v->offsets)[n] : ((int64_t *)v->offsets)[n];
    if (!CHECK(got == 3 * n, "offset %lld is %lld", (long long)n, (long long)got)) break;
  }
  for (int64_t n = 0; n < m->sizes.points; n++) {
    int same = v->scalar_type == PMB_FLOAT32 ? ((float *)v->scalars)[n] == (float)isovalue
                                             : ((double *)v->scalars)[n] == isovalue;
    if (!CHECK(same, "scalar %lld is not the isovalue %.17g", (long long)n, isovalue)) break;
  }
}

void judge_reference(const test_mesh *m, const ref_mesh *r)
{
  if (!CHECK(m->sizes.points == r->points && m->sizes.triangles == r->triangles,
        "%lld points, %lld triangles, not %lld, %lld; isovalue %.17g", (long long)m->sizes.points,
        (long long)m->sizes.triangles, (long long)r->points, (long long)r->triangles, r->isovalue))
    return;
  judge_triangles(m, r);
  judge_points(m, r);
  judge_gradients(m, r);
  judge_simple_arrays(m, r->isovalue);
}

/* ---- topology ---- */

typedef struct half_edge {
  int64_t low, high; /* ids of its points, low < high */
  int forward;       /* used from low to high */
} half_edge;

/* Counting sort by lower id. The half edges of an id begin at first[id]. */
static half_edge *sorted_half_edges(const test_mesh *m, int64_t *first)
{
  int64_t total = 3 * m->sizes.triangles;
  half_edge *edges = test_allocate(total, sizeof *edges);
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t n = 0; n < total; n++) {
      int64_t a = mesh_id(m, n), b = mesh_id(m, n - n % 3 + (n + 1) % 3), low = a < b ? a : b;
      if (pass)
        edges[first[low]++] = (half_edge){ low, a < b ? b : a, a < b };
      else
        first[low + 1]++;
    }
    if (!pass)
      for (int64_t id = 0; id < m->sizes.points; id++) first[id + 1] += first[id];
  }
  memmove(first + 1, first, (size_t)m->sizes.points * sizeof *first); /* the second pass moved each by one bucket */
  first[0] = 0;
  return edges;
}

/* Whether a mesh edge may be open: a cell that could hold its other triangle is invalid or outside the volume. */
static int may_be_open(const ref_mesh *r, int64_t a, int64_t b)
{
  int64_t end[2][2][3], low[3], high[3];
  if (!r) return 0;
  ref_ends(r, a, end[0][0], end[0][1]);
  ref_ends(r, b, end[1][0], end[1][1]);
  for (int c = 0; c < 3; c++) {
    low[c] = end[0][0][c] < end[1][0][c] ? end[0][0][c] : end[1][0][c];
    high[c] = end[0][1][c] > end[1][1][c] ? end[0][1][c] : end[1][1][c];
  }
  for (int64_t k = high[2] - 1; k <= low[2]; k++)
    for (int64_t j = high[1] - 1; j <= low[1]; j++)
      for (int64_t i = high[0] - 1; i <= low[0]; i++)
        if (!ref_cell_valid(&r->volume, i, j, k)) return 1;
  return 0;
}

static int judge_ids(const test_mesh *m)
{
  OWNED char *used = test_allocate(m->sizes.points, 1);
  int good = 1;
  for (int64_t n = 0; n < 3 * m->sizes.triangles && good; n++) {
    int64_t id = mesh_id(m, n);
    good =
      CHECK(id >= 0 && id < m->sizes.points, "id %lld of %lld points", (long long)id, (long long)m->sizes.points);
    if (good) used[id] = 1;
  }
  for (int64_t p = 0; p < m->sizes.points && good; p++) good = CHECK(used[p], "point %lld is unused", (long long)p);
  return good;
}

static int merged(const ref_mesh *r, int64_t point)
{
  return r && r->keys[point] % 4 == REF_SAMPLE;
}

void judge_topology(const test_mesh *m, const ref_mesh *r, int remove_degenerate)
{
  if (!judge_ids(m)) return;
  OWNED int64_t *first = test_allocate(m->sizes.points + 2, sizeof *first);
  OWNED half_edge *edges = sorted_half_edges(m, first);
  for (int64_t id = 0; id < m->sizes.points; id++)
    for (int64_t n = first[id]; n < first[id + 1]; n++) {
      int uses[2] = { 0, 0 };
      int64_t high = edges[n].high;
      if (high < 0) continue; /* counted already */
      for (int64_t o = n; o < first[id + 1]; o++)
        if (edges[o].high == high) {
          uses[edges[o].forward]++;
          edges[o].high = -1;
        }
      CHECK(high != id, "triangle with the point %lld twice", (long long)id);
      CHECK((uses[0] <= 1 && uses[1] <= 1) || (remove_degenerate && (!r || merged(r, id) || merged(r, high))),
        "edge %lld-%lld is used %d and %d times", (long long)id, (long long)high, uses[1], uses[0]);
      CHECK(uses[0] == uses[1] || may_be_open(r, id, high), "open edge %lld-%lld: used %d times there, %d back",
        (long long)id, (long long)high, uses[1], uses[0]);
    }
}

/* On a GPU: the mesh has the bytes of one thread of plain C. */
static void judge_bytes(const pmb_volume *v, double isovalue, int remove_degenerate, const test_mesh *m)
{
  OWNED_MESH plain;
  OWNED_CONTEXT cpu = context_new(1, "portable");
  CHECK_STATUS(cpu, pmb_bind(cpu, v), PMB_OK);
  CHECK_STATUS(cpu,
    mesh_extract_by(
      cpu, m->view.gradient_estimator, &isovalue, 1, remove_degenerate, m->view.point_type, m->view.id_type, &plain),
    PMB_OK);
  if (CHECK(plain.sizes.points == m->sizes.points && plain.sizes.triangles == m->sizes.triangles,
        "%lld points and %lld triangles on the CPU", (long long)plain.sizes.points, (long long)plain.sizes.triangles))
    mesh_equal(&plain, m, "the GPU");
}

pmb_sizes judge_isovalue(
  pmb_context *context, const test_volume *v, double isovalue, int remove_degenerate, int variant)
{
  const pmb_type real = variant & 1 ? PMB_FLOAT64 : PMB_FLOAT32, id = variant & 2 ? PMB_INT64 : PMB_INT32;
  const pmb_gradient_estimator estimator = (pmb_gradient_estimator)(variant / 4 % 3);
  const int before = test_failures();
  OWNED_MESH m;
  const pmb_status status = mesh_extract_by(context, estimator, &isovalue, 1, remove_degenerate, real, id, &m);
  const pmb_sizes sizes = m.sizes;
  if (CHECK_STATUS(context, status, PMB_OK)) {
    OWNED_REFERENCE r = ref_extract(&v->view, isovalue, remove_degenerate);
    judge_reference(&m, r);
    if (test_failures() == before) judge_topology(&m, r, remove_degenerate);
    if (test_on_gpu()) judge_bytes(&v->view, isovalue, remove_degenerate, &m);
    if (remove_degenerate && real == PMB_FLOAT64 && v->view.type < PMB_INT32) judge_no_degenerates(&m);
    CHECK(test_failures() == before, "isovalue %.17g, remove_degenerate %d, points %s, estimator %d", isovalue,
      remove_degenerate, type_name(real), (int)estimator);
  }
  return sizes;
}

/* ---- geometry ---- */

static void facet(const test_mesh *m, int64_t n, double a[3], double cross[3])
{
  double b[3], c[3];
  mesh_point(m, mesh_id(m, 3 * n), a);
  mesh_point(m, mesh_id(m, 3 * n + 1), b);
  mesh_point(m, mesh_id(m, 3 * n + 2), c);
  for (int x = 0; x < 3; x++) {
    int y = (x + 1) % 3, z = (x + 2) % 3;
    cross[x] = (b[y] - a[y]) * (c[z] - a[z]) - (b[z] - a[z]) * (c[y] - a[y]);
  }
}

void mesh_sums(const test_mesh *m, double *area, double *volume)
{
  double a[3], cross[3];
  *area = *volume = 0;
  for (int64_t n = 0; n < m->sizes.triangles; n++) {
    facet(m, n, a, cross);
    *area += length(cross) / 2;
    *volume += (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6;
  }
}

static int compare_points(const void *a, const void *b)
{
  const double *p = a, *q = b;
  for (int c = 0; c < 3; c++)
    if (p[c] != q[c]) return p[c] < q[c] ? -1 : 1;
  return 0;
}

void judge_no_degenerates(const test_mesh *m)
{
  double a[3], cross[3], *points = test_allocate(3 * m->sizes.points, sizeof *points);
  for (int64_t n = 0; n < m->sizes.triangles; n++) {
    facet(m, n, a, cross);
    CHECK(length(cross) > 0, "triangle %lld has no area", (long long)n);
  }
  for (int64_t n = 0; n < m->sizes.points; n++) mesh_point(m, n, points + 3 * n);
  qsort(points, (size_t)m->sizes.points, 3 * sizeof *points, compare_points);
  for (int64_t n = 1; n < m->sizes.points; n++)
    CHECK(compare_points(points + 3 * n - 3, points + 3 * n), "two points at (%.9g, %.9g, %.9g)", points[3 * n],
      points[3 * n + 1], points[3 * n + 2]);
  free(points);
}
