/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared/pmb_tables.h" /* the only thing shared with the core; judge_topology finds wrong cases */

enum { BRICK_X = 32, BRICK_Y = 4, BRICK_Z = 4 };
enum { UNUSED = -1, USED = -2 };

/* Lower and upper corner of a cell's edge, as the case table numbers them: x edges 0-3, y 4-7, z 8-11. Corner c lies at
 * (c & 1, c >> 1 & 1, c >> 2). */
static const int ref_edge_corners[12][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 0, 2 }, { 1, 3 }, { 4, 6 },
  { 5, 7 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };

static void *allocate(int64_t count, size_t size)
{
  void *p = calloc((size_t)(count > 0 ? count : 1), size);
  if (!p) {
    fprintf(stderr, "reference: out of memory\n");
    exit(3);
  }
  return p;
}

/* ---- samples ---- */

const void *ref_address(const pmb_volume *v, int64_t i, int64_t j, int64_t k)
{
  int64_t sx = v->strides[0], sy = v->strides[1], sz = v->strides[2];
  if (!sx && !sy && !sz) {
    sx = 1;
    sy = v->dims[0];
    sz = v->dims[0] * v->dims[1];
  }
  return (const char *)v->samples + (i * sx + j * sy + k * sz) * (int64_t)pmb_type_size(v->type);
}

double ref_load(pmb_type type, const void *p)
{
#define LOAD(name, c_type) \
  case name:               \
    return (double)*(const c_type *)p;
  switch (type) {
    REF_EACH_TYPE(LOAD)
  }
  abort();
}

double ref_sample(const pmb_volume *v, int64_t i, int64_t j, int64_t k)
{
  return ref_load(v->type, ref_address(v, i, j, k));
}

int ref_inside(const pmb_volume *v, int64_t i, int64_t j, int64_t k, double isovalue)
{
  const void *p = ref_address(v, i, j, k);
  if (v->type == PMB_INT64) { /* compares with the smallest integer >= isovalue */
    if (isovalue > 9223372036854774784.0) return 0;
    return isovalue <= -9223372036854775808.0 || *(const int64_t *)p >= (int64_t)ceil(isovalue);
  }
  if (v->type == PMB_UINT64) {
    if (isovalue > 18446744073709549568.0) return 0;
    return isovalue <= 0 || *(const uint64_t *)p >= (uint64_t)ceil(isovalue);
  }
  return ref_load(v->type, p) >= isovalue;
}

/* Types whose points are computed in float. */
static int in_float(pmb_type type)
{
  return pmb_type_size(type) <= 2 || type == PMB_FLOAT32;
}

static int equals_isovalue(const pmb_volume *v, const int64_t s[3], double isovalue)
{
  double value = ref_sample(v, s[0], s[1], s[2]);
  return in_float(v->type) ? (float)value == (float)isovalue : value == isovalue;
}

int64_t ref_samples(const pmb_volume *v)
{
  return v->dims[0] * v->dims[1] * v->dims[2];
}

int64_t ref_bricks(const pmb_volume *v)
{
  return (v->dims[0] + BRICK_X - 1) / BRICK_X * ((v->dims[1] + BRICK_Y - 1) / BRICK_Y) *
    ((v->dims[2] + BRICK_Z - 1) / BRICK_Z);
}

int ref_sample_valid(const pmb_volume *v, int64_t i, int64_t j, int64_t k)
{
  int64_t at = i + v->dims[0] * (j + v->dims[1] * k);
  if (v->sample_flags && (v->sample_flags[at] & v->hidden_sample_bits)) return 0;
  return isfinite(ref_sample(v, i, j, k));
}

int ref_cell_valid(const pmb_volume *v, int64_t i, int64_t j, int64_t k)
{
  if (i < 0 || j < 0 || k < 0 || i + 1 >= v->dims[0] || j + 1 >= v->dims[1] || k + 1 >= v->dims[2]) return 0;
  int64_t at = i + (v->dims[0] - 1) * (j + (v->dims[1] - 1) * k);
  if (v->cell_flags && (v->cell_flags[at] & v->hidden_cell_bits)) return 0;
  for (int c = 0; c < 8; c++)
    if (!ref_sample_valid(v, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))) return 0;
  return 1;
}

/* ---- order ---- */

typedef struct row {
  int64_t x0, x1, y, z;
} row;

/* All rows of samples: bricks with x fastest, in a brick the rows by y, then z. */
static row *rows_in_order(const int64_t dims[3], int64_t *count)
{
  int64_t n = 0;
  row *rows = allocate((dims[0] + BRICK_X - 1) / BRICK_X * dims[1] * dims[2], sizeof(row));
  for (int64_t bz = 0; bz < dims[2]; bz += BRICK_Z)
    for (int64_t by = 0; by < dims[1]; by += BRICK_Y)
      for (int64_t bx = 0; bx < dims[0]; bx += BRICK_X)
        for (int64_t z = bz; z < bz + BRICK_Z && z < dims[2]; z++)
          for (int64_t y = by; y < by + BRICK_Y && y < dims[1]; y++) {
            int64_t end = bx + BRICK_X < dims[0] ? bx + BRICK_X : dims[0];
            rows[n++] = (row){ bx, end, y, z };
          }
  *count = n;
  return rows;
}

/* ---- triangles ---- */

/* The slot of the point on edge e of cell (i,j,k). */
static int64_t slot_of(const ref_mesh *m, int64_t i, int64_t j, int64_t k, int e, int remove_degenerate)
{
  const int64_t *dims = m->volume.dims;
  int64_t slot[2];
  for (int end = 0; end < 2; end++) {
    int c = ref_edge_corners[e][end];
    int64_t s[3] = { i + (c & 1), j + (c >> 1 & 1), k + (c >> 2) };
    slot[end] = 4 * (s[0] + dims[0] * (s[1] + dims[1] * s[2]));
    if (remove_degenerate && equals_isovalue(&m->volume, s, m->isovalue)) return slot[end] + REF_SAMPLE;
  }
  return slot[0] + e / 4;
}

static void add_cell(ref_mesh *m, int64_t i, int64_t j, int64_t k, int remove_degenerate, int64_t *capacity)
{
  const int64_t *dims = m->volume.dims;
  int corners = 0;
  for (int c = 0; c < 8; c++)
    corners |= ref_inside(&m->volume, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2), m->isovalue) << c;
  for (int n = 0; n < pmb_triangle_count[corners]; n++) {
    int64_t slot[3];
    for (int c = 0; c < 3; c++)
      slot[c] = slot_of(m, i, j, k, pmb_triangle_edges[corners][3 * n + c], remove_degenerate);
    if (slot[0] == slot[1] || slot[1] == slot[2] || slot[2] == slot[0]) continue;
    if (m->triangles == *capacity) {
      *capacity = 2 * *capacity + 1000;
      m->ids = realloc(m->ids, (size_t)*capacity * 3 * sizeof(int64_t));
      m->cells = realloc(m->cells, (size_t)*capacity * sizeof(int64_t));
      if (!m->ids || !m->cells) exit(3);
    }
    m->cells[m->triangles] = i + (dims[0] - 1) * (j + (dims[1] - 1) * k);
    for (int c = 0; c < 3; c++) m->ids[3 * m->triangles + c] = slot[c];
    m->triangles++;
  }
}

static double determinant(const double m[12])
{
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
    m[2] * (m[4] * m[9] - m[5] * m[8]);
}

static void fill_identity(pmb_volume *v)
{
  for (int n = 0; n < 12; n++)
    if (v->index_to_world[n] != 0) return;
  v->index_to_world[0] = v->index_to_world[5] = v->index_to_world[10] = 1;
}

/* Whether x is 0, or so far from overflow and underflow that a few operations on it are exact up to rounding. */
static int is_safe(pmb_type type, double x)
{
  double size = fabs(x);
  return size == 0 ||
    (in_float(type) ? size >= 4 * FLT_MIN && size <= FLT_MAX / 4 : size >= 4 * DBL_MIN && size <= DBL_MAX / 4);
}

/* The place of the isovalue between two samples, in the arithmetic that pmb.h specifies. It leaves overflow and subnormal numbers
 * open: for these returns the true value and a slack. */
static double parameter(pmb_type type, double s0, double s1, double isovalue, double *slack)
{
  double t, high = in_float(type) ? (float)isovalue : isovalue, low = in_float(type) ? (float)(isovalue - high) : 0;
  double below = high - s0, step = s1 - s0;
  *slack = 0;
  if (is_safe(type, high) && is_safe(type, low) && is_safe(type, s0) && is_safe(type, s1) && is_safe(type, below) &&
    is_safe(type, step) && step != 0) {
    if (in_float(type))
      t = ((float)below + (float)low) / (float)step;
    else
      t = below / step;
  } else {
    long double size = fabsl((long double)s1 - s0);
    long double least = in_float(type) ? FLT_TRUE_MIN : DBL_TRUE_MIN,
                epsilon = in_float(type) ? FLT_EPSILON : DBL_EPSILON;
    *slack = size > 0 ? (double)(4 * least / size + 4 * epsilon) : 1;
    t = size > 0 ? (double)(((long double)isovalue - s0) / ((long double)s1 - s0)) : 0.5;
  }
  return t < 0 ? 0 : t > 1 ? 1 : t;
}

/* Numbers the used slots in order: replaces USED by the point's id. */
static void number_points(ref_mesh *m, int64_t *slots, const row *rows, int64_t row_count)
{
  const int64_t *dims = m->volume.dims;
  for (int64_t r = 0; r < row_count; r++)
    for (int carrier = REF_X_EDGE; carrier <= REF_SAMPLE; carrier++)
      for (int64_t x = rows[r].x0; x < rows[r].x1; x++) {
        int64_t key = 4 * (x + dims[0] * (rows[r].y + dims[1] * rows[r].z)) + carrier;
        if (slots[key] != USED) continue;
        slots[key] = m->points;
        m->keys[m->points++] = key;
      }
}

ref_mesh *ref_extract(const pmb_volume *volume, double isovalue, int remove_degenerate)
{
  ref_mesh *m = allocate(1, sizeof *m);
  int64_t row_count, capacity = 0;
  m->volume = *volume;
  m->isovalue = isovalue;
  fill_identity(&m->volume);
  row *rows = rows_in_order(volume->dims, &row_count);
  for (int64_t r = 0; r < row_count; r++)
    for (int64_t x = rows[r].x0; x < rows[r].x1; x++)
      if (ref_cell_valid(volume, x, rows[r].y, rows[r].z))
        add_cell(m, x, rows[r].y, rows[r].z, remove_degenerate, &capacity);

  int64_t slot_count = 4 * ref_samples(volume);
  int64_t *slots = allocate(slot_count, sizeof *slots);
  for (int64_t s = 0; s < slot_count; s++) slots[s] = UNUSED;
  for (int64_t n = 0; n < 3 * m->triangles; n++) slots[m->ids[n]] = USED;
  m->keys = allocate(3 * m->triangles, sizeof *m->keys);
  number_points(m, slots, rows, row_count);

  int mirrored = determinant(m->volume.index_to_world) < 0;
  for (int64_t n = 0; n < m->triangles; n++) {
    int64_t *id = m->ids + 3 * n;
    for (int c = 0; c < 3; c++) id[c] = slots[id[c]];
    if (mirrored) {
      int64_t swap = id[1];
      id[1] = id[2];
      id[2] = swap;
    }
  }
  m->t = allocate(m->points, sizeof *m->t);
  m->t_slack = allocate(m->points, sizeof *m->t_slack);
  for (int64_t p = 0; p < m->points; p++) {
    int64_t a[3], b[3];
    ref_ends(m, p, a, b);
    if (m->keys[p] % 4 != REF_SAMPLE)
      m->t[p] = parameter(volume->type, ref_sample(volume, a[0], a[1], a[2]), ref_sample(volume, b[0], b[1], b[2]),
        isovalue, m->t_slack + p);
  }
  free(slots);
  free(rows);
  return m;
}

void ref_free(ref_mesh *m)
{
  if (!m) return;
  free(m->keys);
  free(m->t);
  free(m->t_slack);
  free(m->ids);
  free(m->cells);
  free(m);
}

/* ---- points ---- */

void ref_ends(const ref_mesh *m, int64_t point, int64_t lower[3], int64_t upper[3])
{
  int64_t sample = m->keys[point] / 4;
  int carrier = (int)(m->keys[point] % 4);
  lower[0] = sample % m->volume.dims[0];
  lower[1] = sample / m->volume.dims[0] % m->volume.dims[1];
  lower[2] = sample / (m->volume.dims[0] * m->volume.dims[1]);
  for (int a = 0; a < 3; a++) upper[a] = lower[a] + (a == carrier);
}

void ref_world(const pmb_volume *volume, const double index[3], double world[3])
{
  pmb_volume v = *volume;
  fill_identity(&v);
  for (int r = 0; r < 3; r++) {
    const double *m = v.index_to_world + 4 * r;
    world[r] = m[0] * index[0] + m[1] * index[1] + m[2] * index[2] + m[3];
  }
}

void ref_position(const ref_mesh *m, int64_t point, double world[3])
{
  int64_t a[3], b[3];
  double index[3];
  ref_ends(m, point, a, b);
  for (int c = 0; c < 3; c++) index[c] = (double)(a[c] + m->volume.first[c]) + (b[c] > a[c] ? m->t[point] : 0);
  ref_world(&m->volume, index, world);
}

/* Differences at a sample along the axes, in long doubles, which do not underflow here. size: magnitude of the operands. */
static void differences(const pmb_volume *v, const int64_t s[3], long double d[3], double size[3])
{
  double here = ref_sample(v, s[0], s[1], s[2]);
  for (int a = 0; a < 3; a++) {
    double value[2] = { here, here };
    int steps = 0;
    for (int side = 0; side < 2; side++) {
      int64_t n[3] = { s[0], s[1], s[2] };
      n[a] += side ? 1 : -1;
      if (n[a] < 0 || n[a] >= v->dims[a]) continue;
      if (!ref_sample_valid(v, n[0], n[1], n[2])) continue;
      value[side] = ref_sample(v, n[0], n[1], n[2]);
      steps++;
    }
    d[a] = steps ? ((long double)value[1] - value[0]) / steps : 0;
    size[a] = fabs(value[0]) + fabs(value[1]);
  }
}

/* Transforms a gradient from index to world space by the inverse transpose: the matrix's cofactors over its determinant. size has
 * 1e6 of the least floats added: the judge allows 2e-6 of the slack, which covers the rounding of denormals. */
static void to_world(
  const ref_mesh *m, const long double index[3], const double size[3], double g[3], double slack[3])
{
  const double *w = m->volume.index_to_world, det = determinant(w);
  for (int r = 0; r < 3; r++) {
    g[r] = slack[r] = 0;
    for (int c = 0; c < 3; c++) {
      int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      double p = w[4 * r1 + c1] * w[4 * r2 + c2], q = w[4 * r1 + c2] * w[4 * r2 + c1];
      g[r] += (p - q) / det * (double)index[c];
      slack[r] += (fabs(p) + fabs(q)) / fabs(det) * (size[c] + 1e6 * (double)FLT_TRUE_MIN);
    }
  }
}

int ref_gradient(const ref_mesh *m, int64_t point, double g[3], double slack[3])
{
  int64_t a[3], b[3];
  long double da[3], db[3], index[3];
  double size_a[3], size_b[3], size[3];
  ref_ends(m, point, a, b);
  differences(&m->volume, a, da, size_a);
  differences(&m->volume, b, db, size_b);
  for (int c = 0; c < 3; c++) {
    index[c] = da[c] + m->t[point] * (db[c] - da[c]);
    /* Rounding is negligible when samples of up to 32 bits are subtracted. */
    size[c] = (double)(fabsl(da[c]) + fabsl(db[c])) + 1e-9 * (size_a[c] + size_b[c]);
  }
  to_world(m, index, size, g, slack);
  return index[0] == 0 && index[1] == 0 && index[2] == 0;
}

/* A sample beside s, clamped to the volume. NaN if it is hidden. */
static double sample_beside(const pmb_volume *v, const int64_t s[3], const int64_t step[3])
{
  int64_t p[3];
  for (int a = 0; a < 3; a++) {
    p[a] = s[a] + step[a];
    p[a] = p[a] < 0 ? 0 : p[a] >= v->dims[a] ? v->dims[a] - 1 : p[a];
  }
  return ref_sample_valid(v, p[0], p[1], p[2]) ? ref_sample(v, p[0], p[1], p[2]) : (double)NAN;
}

/* Adds the estimate at a sample times `weight` to d, and the magnitudes of its terms to `size`. */
static void add_estimate(const pmb_volume *v, const int64_t s[3], pmb_gradient_estimator estimator, double weight,
  long double d[3], double size[3])
{
  const int reach = estimator == PMB_SOBEL;
  for (int a = 0; a < 3; a++) {
    const int first = s[a] == 0, last = s[a] == v->dims[a] - 1, back = estimator == PMB_FORWARD ? last : !first;
    for (int n = 0; n < (reach ? 9 : 1); n++) {
      const int j = reach ? n % 3 - 1 : 0, k = reach ? n / 3 - 1 : 0;
      const double share = reach ? (2 - abs(j)) * (2 - abs(k)) / 16.0 : 1;
      int64_t step[3];
      step[(a + 1) % 3] = j;
      step[(a + 2) % 3] = k;
      step[a] = -back;
      const double low = sample_beside(v, s, step);
      step[a] = !last;
      const double high = sample_beside(v, s, step);
      d[a] += weight * share * ((long double)high - low) / (back + !last);
      size[a] += share * (fabs(low) + fabs(high));
    }
  }
}

int ref_estimate(const ref_mesh *m, int64_t point, pmb_gradient_estimator estimator, double g[3], double slack[3])
{
  int64_t a[3], b[3];
  long double index[3] = { 0, 0, 0 };
  double size[3] = { 0, 0, 0 };
  ref_ends(m, point, a, b);
  add_estimate(&m->volume, a, estimator, 1 - m->t[point], index, size);
  add_estimate(&m->volume, b, estimator, m->t[point], index, size);
  for (int c = 0; c < 3; c++) /* a difference or a sum with the least weight, 1/16, may overflow */
    if (size[c] > FLT_MAX / 16) size[c] = INFINITY;
  to_world(m, index, size, g, slack);
  return !isnan(size[0] + size[1] + size[2]);
}
