/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of pmb_measure. `wide`: ids have 64 bits, and so have parents and records. */
#include <math.h>
#include <string.h>

#include "measures/pmb_measures.h"

static const int64_t NOWHERE = -1; /* the parent of a point that no triangle uses */

static inline void add(atomic_llong *sum, int64_t term)
{
  atomic_fetch_add_explicit(sum, term, memory_order_relaxed);
}

/* Whole numbers from begin to end - 1. */
typedef struct span {
  int64_t begin, end;
} span;

/* Chunk i of n. */
static inline span chunk_of(int64_t n, int64_t i)
{
  return (span){ i * PMB_MEASURES_CHUNK, pmb_least_of((i + 1) * PMB_MEASURES_CHUNK, n) };
}

/* ---- triangles ---- */

/* Where the part's arrays are: a copy for each loop, so that the compiler knows that no store changes it. */
typedef struct part_view {
  const void *ids, *points; /* the part's first */
  const uint8_t *flags;
  uint8_t left_out;
  int64_t first; /* point of the part */
  double scale;
  void *parents;
} part_view;

static inline part_view view_of(const pmb_measuring *m)
{
  const pmb_mesh *mesh = m->mesh;
  const size_t id_size = pmb_type_size(mesh->id_type), real_size = pmb_type_size(mesh->point_type);
  return (part_view){ .ids = (const char *)mesh->triangles + 3 * id_size * (size_t)m->before.triangles,
    .points = (const char *)mesh->points + 3 * real_size * (size_t)m->before.points,
    .flags = m->flags,
    .left_out = m->left_out,
    .first = m->before.points,
    .scale = m->scale,
    .parents = m->parents.data };
}

static inline int is_left_out(const part_view *part, int64_t triangle)
{
  return part->flags && (part->flags[triangle] & part->left_out);
}

/* Ids of a triangle's points, counted from the part's first (unsigned: whatever is there, it does not overflow). */
static inline void load_ids(const part_view *part, int64_t triangle, int wide, int64_t ids[3])
{
  for (int c = 0; c < 3; ++c) {
    const int64_t id =
      wide ? ((const int64_t *)part->ids)[3 * triangle + c] : ((const int32_t *)part->ids)[3 * triangle + c];
    ids[c] = (int64_t)((uint64_t)id - (uint64_t)part->first);
  }
}

/* Returns whether an even number of swaps did it. */
static inline int sort_ids(int64_t ids[3])
{
  const int64_t a = ids[0], b = ids[1], c = ids[2];
  const int swaps = (a > b) + (b > c) + (a > c);
  const int64_t low = pmb_least_of(a, b), high = pmb_greatest_of(a, b);
  ids[0] = pmb_least_of(low, c);
  ids[1] = pmb_greatest_of(low, pmb_least_of(high, c));
  ids[2] = pmb_greatest_of(high, c);
  return !(swaps & 1);
}

/* ---- sums ---- */

static inline void load_point(const part_view *part, int64_t point, int wide, double p[3])
{
  for (int c = 0; c < 3; ++c) {
    p[c] = wide ? ((const double *)part->points)[3 * point + c] * part->scale
                : ((const float *)part->points)[3 * point + c];
  }
}

static inline double larger_magnitude(double largest, const double p[3])
{
  for (int c = 0; c < 3; ++c) {
    const double magnitude = fabs(p[c]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

static inline void add_facet(pmb_chunk_sums *sums, const double a[3], const double b[3], const double c[3])
{
  const double u[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
  const double v[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
  const double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0] };
  sums->area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  sums->volume += a[0] * n[0] + a[1] * n[1] + a[2] * n[2];
}

static inline int64_t load_parent(const part_view *part, int64_t point, int wide)
{
  return wide ? atomic_load_explicit((_Atomic int64_t *)part->parents + point, memory_order_relaxed)
              : atomic_load_explicit((_Atomic int32_t *)part->parents + point, memory_order_relaxed);
}

static inline void store_parent(const part_view *part, int64_t point, int64_t parent, int wide)
{
  if (wide) {
    atomic_store_explicit((_Atomic int64_t *)part->parents + point, parent, memory_order_relaxed);
  } else {
    atomic_store_explicit((_Atomic int32_t *)part->parents + point, (int32_t)parent, memory_order_relaxed);
  }
}

/* A point that a triangle uses is a component of its own, to begin with. */
static inline void mark_used(const part_view *part, int64_t point, int wide)
{
  if (load_parent(part, point, wide) == NOWHERE) {
    store_parent(part, point, point, wide);
  }
}

/* A triangle has one record with its middle point and two with its highest. */
static inline void note_records(
  int range_bits, int64_t point, int64_t n, size_t chunk, pmb_chunk_sums *sums, pmb_range_use *uses)
{
  const int64_t range = point >> range_bits;
  pmb_range_use *use = &uses[range];
  use->records += n;
  if (use->end_chunk != (int64_t)chunk + 1) { /* the first of this chunk */
    use->first_chunk = pmb_least_of(use->first_chunk, (int64_t)chunk);
    use->end_chunk = pmb_greatest_of(use->end_chunk, (int64_t)chunk + 1);
    sums->ranges |= (uint64_t)1 << (range & 63);
  }
}

static inline void sum_chunk(pmb_measuring *m, int worker, size_t chunk, int wide, int wide_points)
{
  const span r = chunk_of(m->size.triangles, (int64_t)chunk);
  const part_view part = view_of(m);
  const int64_t points = m->size.points;
  const int range_bits = m->range_bits;
  pmb_range_use *uses = (pmb_range_use *)m->uses.data + worker * m->range_count;
  pmb_chunk_sums sums = { .lowest = INT64_MAX, .highest = -1 };
  for (int64_t t = r.begin; t < r.end; ++t) {
    int64_t ids[3];
    double p[3][3];
    if (is_left_out(&part, t)) {
      continue;
    }
    load_ids(&part, t, wide, ids);
    ++sums.triangles;
    sums.lowest = pmb_least_of(sums.lowest, pmb_least_of(ids[0], pmb_least_of(ids[1], ids[2])));
    sums.highest = pmb_greatest_of(sums.highest, pmb_greatest_of(ids[0], pmb_greatest_of(ids[1], ids[2])));
    if (sums.lowest < 0 || sums.highest >= points) {
      break; /* not this mesh's: reduce_sums will see it */
    }
    for (int c = 0; c < 3; ++c) {
      mark_used(&part, ids[c], wide);
      load_point(&part, ids[c], wide_points, p[c]);
      sums.largest = wide_points ? larger_magnitude(sums.largest, p[c]) : 0;
    }
    add_facet(&sums, p[0], p[1], p[2]);
    sort_ids(ids);
    note_records(range_bits, ids[1], 1, chunk, &sums, uses);
    note_records(range_bits, ids[2], 2, chunk, &sums, uses);
  }
  ((pmb_chunk_sums *)m->chunks.data)[chunk] = sums;
}

void pmb_measures_sum(void *data, int worker, size_t i)
{
  pmb_measuring *m = data;
  const int wide = m->mesh->id_type == PMB_INT64, wide_points = m->mesh->point_type == PMB_FLOAT64;
  if (wide) {
    wide_points ? sum_chunk(m, worker, i, 1, 1) : sum_chunk(m, worker, i, 1, 0);
  } else {
    wide_points ? sum_chunk(m, worker, i, 0, 1) : sum_chunk(m, worker, i, 0, 0);
  }
}

void pmb_measures_forget(void *data, int worker, size_t i)
{
  pmb_measuring *m = data;
  const span r = chunk_of(m->size.points, (int64_t)i);
  const size_t size = pmb_type_size(m->mesh->id_type);
  (void)worker;
  memset((char *)m->parents.data + (size_t)r.begin * size, 0xff, (size_t)(r.end - r.begin) * size); /* NOWHERE */
}

/* ---- records ---- */

/* A worker's buckets: those of a range of points. */
typedef struct buckets {
  span points;
  int64_t *ends; /* by point, counted from points.begin: how many records, where the next goes, or where they end */
  void *records;
} buckets;

static inline buckets buckets_of(const pmb_measuring *m, int worker, int64_t range)
{
  buckets b;
  b.points.begin = range << m->range_bits;
  b.points.end = pmb_least_of((range + 1) << m->range_bits, m->size.points);
  b.ends = (int64_t *)m->ends.data + ((int64_t)worker << m->range_bits);
  b.records = (char *)m->records.data + (size_t)(worker * m->record_capacity) * pmb_type_size(m->mesh->id_type);
  return b;
}

static inline uint64_t load_record(const buckets *b, int64_t place, int wide)
{
  return wide ? ((const uint64_t *)b->records)[place] : ((const uint32_t *)b->records)[place];
}

static inline void store_record(const buckets *b, int64_t place, uint64_t record, int wide)
{
  if (wide) {
    ((uint64_t *)b->records)[place] = record;
  } else {
    ((uint32_t *)b->records)[place] = (uint32_t)record;
  }
}

static inline uint64_t make_record(int64_t lower, int forward)
{
  return (uint64_t)lower << 1 | (uint64_t)forward;
}

/* Counts the records of a chunk of triangles in each bucket, or writes them. */
static inline void record_chunk(const pmb_measuring *m, int64_t chunk, const buckets *b, int write, int wide)
{
  const part_view part = view_of(m);
  const span r = chunk_of(m->size.triangles, chunk);
  const uint64_t points = (uint64_t)(b->points.end - b->points.begin);
  for (int64_t t = r.begin; t < r.end; ++t) {
    int64_t ids[3];
    if (is_left_out(&part, t)) {
      continue;
    }
    load_ids(&part, t, wide, ids);
    const int even = sort_ids(ids);
    const int64_t middle = ids[1] - b->points.begin, highest = ids[2] - b->points.begin;
    if ((uint64_t)middle < points) {
      const int64_t place = b->ends[middle]++;
      if (write) {
        store_record(b, place, make_record(ids[0], even), wide);
      }
    }
    if ((uint64_t)highest < points) {
      const int64_t place = b->ends[highest];
      b->ends[highest] += 2;
      if (write) {
        store_record(b, place, make_record(ids[1], even), wide);
        store_record(b, place + 1, make_record(ids[0], !even), wide);
      }
    }
  }
}

/* The same for all triangles with records in the range. */
static inline void record_range(const pmb_measuring *m, int64_t range, const buckets *b, int write, int wide)
{
  const pmb_range_use *use = (const pmb_range_use *)m->uses.data + range;
  const pmb_chunk_sums *chunks = m->chunks.data;
  for (int64_t i = use->first_chunk; i < use->end_chunk; ++i) {
    if (chunks[i].ranges >> (range & 63) & 1) {
      record_chunk(m, i, b, write, wide);
    }
  }
}

/* By insertion: a point of a mesh that pmb_emit made has few edges. */
static inline void sort_records(const buckets *b, span bucket, int wide)
{
  for (int64_t i = bucket.begin + 1; i < bucket.end; ++i) {
    const uint64_t record = load_record(b, i, wide);
    int64_t at = i;
    for (; at > bucket.begin && load_record(b, at - 1, wide) > record; --at) {
      store_record(b, at, load_record(b, at - 1, wide), wide);
    }
    store_record(b, at, record, wide);
  }
}

/* ---- edges and components ---- */

/* The lowest known point of a point's component; halves the way there. */
static inline int64_t find_root(const part_view *part, int64_t point, int wide)
{
  for (;;) {
    const int64_t parent = load_parent(part, point, wide);
    if (parent == point) {
      return point;
    }
    const int64_t next = load_parent(part, parent, wide);
    if (next == parent) {
      return parent;
    }
    /* Only roots are linked, so nothing but another shortcut can be lost here. */
    store_parent(part, point, next, wide);
    point = next;
  }
}

/* Links a root to a lower point; 0 if it is no root any more. */
static inline int link_root(const part_view *part, int64_t root, int64_t lower, int wide)
{
  if (wide) {
    return atomic_compare_exchange_strong_explicit(
      (_Atomic int64_t *)part->parents + root, &(int64_t){ root }, lower, memory_order_relaxed, memory_order_relaxed);
  }
  return atomic_compare_exchange_strong_explicit((_Atomic int32_t *)part->parents + root, &(int32_t){ (int32_t)root },
    (int32_t)lower, memory_order_relaxed, memory_order_relaxed);
}

static inline void join(const part_view *part, int64_t a, int64_t b, int wide)
{
  for (;;) {
    a = find_root(part, a, wide);
    b = find_root(part, b, wide);
    if (a == b || link_root(part, a > b ? a : b, a > b ? b : a, wide)) {
      return;
    }
  }
}

typedef struct edge_counts {
  int64_t edges, boundary, nonmanifold, unpaired;
} edge_counts;

/* The edges down from a point. */
static inline void match_point(
  const part_view *part, int64_t point, const buckets *b, span bucket, edge_counts *counts, int wide)
{
  sort_records(b, bucket, wide);
  for (int64_t i = bucket.begin; i < bucket.end;) {
    const uint64_t lower = load_record(b, i, wide) >> 1;
    int64_t uses = 0, forward = 0;
    for (; i < bucket.end && load_record(b, i, wide) >> 1 == lower; ++i) {
      ++uses;
      forward += (int64_t)(load_record(b, i, wide) & 1);
    }
    ++counts->edges;
    counts->boundary += uses == 1;
    counts->nonmanifold += uses > 2;
    counts->unpaired += 2 * forward != uses;
    join(part, point, (int64_t)lower, wide);
  }
}

static inline void match_range(pmb_measuring *m, int worker, int64_t range, int wide)
{
  const part_view part = view_of(m);
  const buckets b = buckets_of(m, worker, range);
  const int64_t points = b.points.end - b.points.begin;
  edge_counts counts = { 0, 0, 0, 0 };
  int64_t before = 0;
  memset(b.ends, 0, (size_t)points * sizeof(*b.ends));
  record_range(m, range, &b, 0, wide);
  for (int64_t p = 0; p < points; ++p) {
    const int64_t here = b.ends[p];
    b.ends[p] = before;
    before += here;
  }
  record_range(m, range, &b, 1, wide);
  for (int64_t p = 0; p < points; ++p) {
    match_point(&part, b.points.begin + p, &b, (span){ p > 0 ? b.ends[p - 1] : 0, b.ends[p] }, &counts, wide);
  }
  add(&m->edges, counts.edges);
  add(&m->boundary_edges, counts.boundary);
  add(&m->nonmanifold_edges, counts.nonmanifold);
  add(&m->unpaired_edges, counts.unpaired);
}

void pmb_measures_match(void *data, int worker, size_t i)
{
  pmb_measuring *m = data;
  m->mesh->id_type == PMB_INT64 ? match_range(m, worker, (int64_t)i, 1) : match_range(m, worker, (int64_t)i, 0);
}

void pmb_measures_roots(void *data, int worker, size_t i)
{
  pmb_measuring *m = data;
  const int wide = m->mesh->id_type == PMB_INT64;
  const part_view part = view_of(m);
  const span r = chunk_of(m->size.points, (int64_t)i);
  int64_t points = 0, components = 0;
  (void)worker;
  for (int64_t p = r.begin; p < r.end; ++p) {
    const int64_t parent = load_parent(&part, p, wide);
    points += parent != NOWHERE;
    components += parent == p;
  }
  add(&m->points, points);
  add(&m->components, components);
}
