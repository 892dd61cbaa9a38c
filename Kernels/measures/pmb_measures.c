/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_measure: area, volume, edges and components of a mesh in host memory.
 *
 * The first pass over a part of the mesh sums area and volume, by chunks of triangles. The second finds edges and components, by
 * ranges of points. Each use of an edge by a triangle is a record in the bucket of the edge's higher point. The bucket has all
 * uses of an edge, which then joins the components of its ends. Points near each other in space have ids near each other, so a
 * range looks at few chunks of triangles, and its buckets stay in the cache.
 *
 * No result depends on the number of threads: sums of reals have a fixed order, and all else is whole numbers.
 *
 * `wide`: ids, parents and records have 64 bits. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/pmb_backend.h"

enum {
  CHUNK = 4096, /* triangles, or points, per unit of parallel work */
  /* Points of a range, as powers of two; smaller ranges where workers would get too few. */
  LEAST_RANGE_BITS = 12,
  MOST_RANGE_BITS = 17,
  RANGES_PER_WORKER = 4,
  FEW_RECORDS = 256 /* that are sorted by insertion */
};

static const int64_t NOWHERE = -1; /* the parent of a point that no triangle uses */

/* Sums over a chunk of triangles. */
typedef struct chunk_sums {
  double area, volume; /* 2 and 6 times */
  int64_t triangles;
  int64_t lowest, highest; /* ids, counted from the part's first */
  uint64_t ranges;         /* that have records of its triangles: bit i is for ranges i, i + 64, ... */
} chunk_sums;

/* A part's arrays. Each loop copies it, so that the compiler knows that no store changes it. */
typedef struct part_view {
  const void *ids, *points; /* the part's first */
  const uint8_t *flags;     /* of the part's triangles, or NULL */
  uint8_t left_out;
  int64_t first; /* point of the part */
  void *parents; /* by point: a lower point of its component, or itself, or NOWHERE; as wide as ids */
} part_view;

enum { POINTS, LINKS, EDGES, BOUNDARY_EDGES, NONMANIFOLD_EDGES, UNPAIRED_EDGES, COUNTS };

/* The work on one part. */
typedef struct measuring {
  pmb_context *context;
  const pmb_mesh *mesh;
  pmb_sizes before, size; /* of the parts before, and of this one */
  part_view part;
  pmb_buffer chunks; /* of triangles: chunk_sums */
  pmb_buffer parents;
  int range_bits;
  int64_t range_count;
  pmb_buffer uses;          /* int64_t, of each worker: records of each range */
  pmb_buffer ends, records; /* of each worker's buckets */
  int64_t record_capacity;
  atomic_llong counts[COUNTS];
} measuring;

static inline int64_t greater_of(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Threads share parents. */
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

/* Loads the ids of a triangle's points, counted from the part's first. Subtracts without overflow, since ids may be invalid.
 * Returns 0 if the triangle is left out. */
static inline int load_triangle(const part_view *part, int64_t triangle, int wide, int64_t ids[3])
{
  for (int c = 0; c < 3; ++c) {
    ids[c] = (int64_t)((uint64_t)pmb_load_id(part->ids, 3 * triangle + c, wide) - (uint64_t)part->first);
  }
  return !part->flags || !(part->flags[triangle] & part->left_out);
}

/* Returns 1 if the number of swaps was even. */
static inline int sort_ids(int64_t ids[3])
{
  const int64_t a = ids[0], b = ids[1], c = ids[2];
  const int swaps = (a > b) + (b > c) + (a > c);
  const int64_t low = pmb_smaller(a, b), high = greater_of(a, b);
  ids[0] = pmb_smaller(low, c);
  ids[1] = greater_of(low, pmb_smaller(high, c));
  ids[2] = greater_of(high, c);
  return !(swaps & 1);
}

static inline void load_point(const part_view *part, int64_t point, int wide, double p[3])
{
  for (int c = 0; c < 3; ++c) {
    p[c] = wide ? ((const double *)part->points)[3 * point + c] : ((const float *)part->points)[3 * point + c];
  }
}

static inline void add_facet(chunk_sums *sums, const double a[3], const double b[3], const double c[3])
{
  const double u[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
  const double v[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
  const double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0] };
  sums->area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  sums->volume += a[0] * n[0] + a[1] * n[1] + a[2] * n[2];
}

static inline void sum_chunk(measuring *m, int worker, int64_t chunk, int wide, int wide_points)
{
  const int64_t begin = chunk * CHUNK, end = pmb_smaller(begin + CHUNK, m->size.triangles);
  const part_view part = m->part;
  const int64_t points = m->size.points;
  const int range_bits = m->range_bits;
  int64_t *uses = (int64_t *)m->uses.data + worker * m->range_count;
  chunk_sums sums = { .lowest = INT64_MAX, .highest = -1 };
  for (int64_t t = begin; t < end; ++t) {
    int64_t ids[3];
    double p[3][3];
    if (!load_triangle(&part, t, wide, ids)) {
      continue;
    }
    ++sums.triangles;
    sums.lowest = pmb_smaller(sums.lowest, pmb_smaller(ids[0], pmb_smaller(ids[1], ids[2])));
    sums.highest = greater_of(sums.highest, greater_of(ids[0], greater_of(ids[1], ids[2])));
    if (sums.lowest < 0 || sums.highest >= points) {
      break; /* invalid: measure_sums reports it */
    }
    for (int c = 0; c < 3; ++c) {
      if (load_parent(&part, ids[c], wide) == NOWHERE) { /* begins as a component of its own */
        store_parent(&part, ids[c], ids[c], wide);
      }
      load_point(&part, ids[c], wide_points, p[c]);
    }
    add_facet(&sums, p[0], p[1], p[2]);
    sort_ids(ids);
    for (int c = 1; c < 3; ++c) { /* one record with the middle point, two with the highest */
      uses[ids[c] >> range_bits] += c;
      sums.ranges |= (uint64_t)1 << (ids[c] >> range_bits & 63);
    }
  }
  ((chunk_sums *)m->chunks.data)[chunk] = sums;
}

/* For a chunk of triangles: its sums, the worker's `uses`, and which points are used. */
static void sum_body(void *data, int worker, size_t i)
{
  measuring *m = data;
  const int wide = m->mesh->id_type == PMB_INT64, wide_points = m->mesh->point_type == PMB_FLOAT64;
  wide ? sum_chunk(m, worker, (int64_t)i, 1, wide_points) : sum_chunk(m, worker, (int64_t)i, 0, wide_points);
}

/* Marks a chunk of points as unused. */
static void forget_body(void *data, int worker, size_t i)
{
  measuring *m = data;
  const int64_t begin = (int64_t)i * CHUNK, count = pmb_smaller(CHUNK, m->size.points - begin);
  const size_t size = pmb_type_size(m->mesh->id_type);
  (void)worker;
  memset((char *)m->parents.data + (size_t)begin * size, 0xff, (size_t)count * size); /* NOWHERE */
}

/* A worker's buckets, for a range of points. */
typedef struct buckets {
  int64_t begin, end; /* points */
  int64_t *ends; /* by point, counted from begin: number of records; then place of the next one; then their end */
  void *records; /* lower point << 1 | the triangle runs from the lower point to the higher one */
} buckets;

/* Counts the records of a chunk of triangles in each bucket, or writes them. */
static inline void record_chunk(const measuring *m, int64_t chunk, const buckets *b, int write, int wide)
{
  const part_view part = m->part;
  const int64_t begin = chunk * CHUNK, end = pmb_smaller(begin + CHUNK, m->size.triangles);
  const uint64_t points = (uint64_t)(b->end - b->begin);
  for (int64_t t = begin; t < end; ++t) {
    int64_t ids[3];
    if (!load_triangle(&part, t, wide, ids)) {
      continue;
    }
    const int even = sort_ids(ids);
    const int64_t middle = ids[1] - b->begin, highest = ids[2] - b->begin;
    if ((uint64_t)middle < points) {
      const int64_t place = b->ends[middle]++;
      if (write) {
        pmb_store_id(b->records, place, ids[0] << 1 | even, wide);
      }
    }
    if ((uint64_t)highest < points) {
      const int64_t place = b->ends[highest];
      b->ends[highest] += 2;
      if (write) {
        pmb_store_id(b->records, place, ids[1] << 1 | even, wide);
        pmb_store_id(b->records, place + 1, ids[0] << 1 | !even, wide);
      }
    }
  }
}

/* The same for all chunks with records in the range. */
static inline void record_range(const measuring *m, int64_t range, const buckets *b, int write, int wide)
{
  const chunk_sums *chunks = m->chunks.data;
  for (int64_t i = 0; i < pmb_chunks(m->size.triangles, CHUNK); ++i) {
    if (chunks[i].ranges >> (range & 63) & 1 && chunks[i].lowest < b->end && chunks[i].highest >= b->begin) {
      record_chunk(m, i, b, write, wide);
    }
  }
}

static int compare_wide(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int compare_narrow(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts by insertion, since a point of a mesh from pmb_emit has few edges. Thousands of equal triangles have many. */
static inline void sort_records(const buckets *b, int64_t begin, int64_t end, int wide)
{
  if (end - begin > FEW_RECORDS) {
    qsort((char *)b->records + begin * (wide ? 8 : 4), (size_t)(end - begin), wide ? 8 : 4,
      wide ? compare_wide : compare_narrow);
    return;
  }
  for (int64_t i = begin + 1; i < end; ++i) {
    const int64_t record = pmb_load_id(b->records, i, wide);
    int64_t at = i;
    for (; at > begin && pmb_load_id(b->records, at - 1, wide) > record; --at) {
      pmb_store_id(b->records, at, pmb_load_id(b->records, at - 1, wide), wide);
    }
    pmb_store_id(b->records, at, record, wide);
  }
}

/* The lowest known point of a point's component; halves the path to it. A shortcut may overwrite another, but never a link,
 * since only roots are linked. */
static inline int64_t find_root(const part_view *part, int64_t point, int wide)
{
  int64_t parent;
  while ((parent = load_parent(part, point, wide)) != point) {
    const int64_t next = load_parent(part, parent, wide);
    if (next != parent) {
      store_parent(part, point, next, wide);
    }
    point = next;
  }
  return point;
}

/* Links a root to a lower point. Returns 0 if it no longer is a root. */
static inline int link_root(const part_view *part, int64_t root, int64_t lower, int wide)
{
  if (wide) {
    return atomic_compare_exchange_strong_explicit(
      (_Atomic int64_t *)part->parents + root, &(int64_t){ root }, lower, memory_order_relaxed, memory_order_relaxed);
  }
  return atomic_compare_exchange_strong_explicit((_Atomic int32_t *)part->parents + root, &(int32_t){ (int32_t)root },
    (int32_t)lower, memory_order_relaxed, memory_order_relaxed);
}

/* Joins the components of two points. Returns 0 if they were one already. */
static inline int join(const part_view *part, int64_t a, int64_t b, int wide)
{
  while ((a = find_root(part, a, wide)) != (b = find_root(part, b, wide))) {
    if (link_root(part, greater_of(a, b), pmb_smaller(a, b), wide)) {
      return 1;
    }
  }
  return 0;
}

/* Counts the edges from a point to lower ones, which have the records begin to end - 1. */
static inline void match_point(const part_view *part, int64_t point, const buckets *b, int64_t begin, int64_t end,
  int64_t counts[COUNTS], int wide)
{
  sort_records(b, begin, end, wide);
  for (int64_t i = begin; i < end;) {
    const int64_t edge = pmb_load_id(b->records, i, wide) >> 1;
    int64_t uses = 0, forward = 0, record = 0;
    for (; i < end && (record = pmb_load_id(b->records, i, wide)) >> 1 == edge; ++i) {
      ++uses;
      forward += record & 1;
    }
    ++counts[EDGES];
    counts[BOUNDARY_EDGES] += uses == 1;
    counts[NONMANIFOLD_EDGES] += uses > 2;
    counts[UNPAIRED_EDGES] += 2 * forward != uses;
    counts[LINKS] += join(part, point, edge & (wide ? INT64_MAX : INT32_MAX), wide);
  }
}

static inline void match_range(measuring *m, int worker, int64_t range, int wide)
{
  const part_view part = m->part;
  const buckets b = { range << m->range_bits, pmb_smaller((range + 1) << m->range_bits, m->size.points),
    (int64_t *)m->ends.data + ((int64_t)worker << m->range_bits),
    (char *)m->records.data + (size_t)(worker * m->record_capacity) * (wide ? 8 : 4) };
  const int64_t points = b.end - b.begin;
  int64_t counts[COUNTS] = { 0 };
  memset(b.ends, 0, (size_t)points * sizeof(*b.ends));
  record_range(m, range, &b, 0, wide);
  pmb_sum_before(b.ends, points);
  record_range(m, range, &b, 1, wide);
  for (int64_t p = 0; p < points; ++p) {
    counts[POINTS] += load_parent(&part, b.begin + p, wide) != NOWHERE;
    match_point(&part, b.begin + p, &b, p > 0 ? b.ends[p - 1] : 0, b.ends[p], counts, wide);
  }
  for (int c = 0; c < COUNTS; ++c) {
    atomic_fetch_add_explicit(&m->counts[c], counts[c], memory_order_relaxed);
  }
}

/* For a range of points: counts the edges to lower points, and joins components. */
static void match_body(void *data, int worker, size_t i)
{
  measuring *m = data;
  m->mesh->id_type == PMB_INT64 ? match_range(m, worker, (int64_t)i, 1) : match_range(m, worker, (int64_t)i, 0);
}

/* Adds in the chunks' order, so that each run gives the same bits. */
static chunk_sums reduce_sums(const measuring *m)
{
  const chunk_sums *chunks = m->chunks.data;
  chunk_sums total = { .lowest = INT64_MAX, .highest = -1 };
  for (int64_t i = 0; i < pmb_chunks(m->size.triangles, CHUNK); ++i) {
    total.area += chunks[i].area;
    total.volume += chunks[i].volume;
    total.triangles += chunks[i].triangles;
    total.lowest = pmb_smaller(total.lowest, chunks[i].lowest);
    total.highest = greater_of(total.highest, chunks[i].highest);
  }
  return total;
}

/* Runs a body for `count` units of work, as this share of the call's progress. */
static pmb_status run(measuring *m, pmb_body *body, int64_t count, double share)
{
  pmb_crew *crew = &m->context->crew;
  crew->fraction_begin = crew->fraction_end;
  crew->fraction_end += share;
  return pmb_loop(m->context, count, body, m);
}

/* Measures area and volume; finds the points that are used. */
static pmb_status measure_sums(measuring *m, double share, pmb_measures *measures)
{
  memset(m->uses.data, 0, (size_t)(m->context->crew.workers * m->range_count) * sizeof(int64_t));
  PMB_STEP(run(m, forget_body, pmb_chunks(m->size.points, CHUNK), share * 0.02));
  PMB_STEP(run(m, sum_body, pmb_chunks(m->size.triangles, CHUNK), share * 0.98));
  const chunk_sums total = reduce_sums(m);
  PMB_FAIL_IF(total.triangles > 0 && (total.lowest < 0 || total.highest >= m->size.points), m->context, PMB_INVALID,
    "pmb_measure: a triangle uses point %lld, but its part has %lld points from %lld on; pass the parts of this "
    "mesh",
    (long long)((uint64_t)(total.lowest < 0 ? total.lowest : total.highest) + (uint64_t)m->before.points),
    (long long)m->size.points, (long long)m->before.points);
  measures->area = total.area / 2;
  measures->volume = total.volume / 6;
  measures->triangles = total.triangles;
  return PMB_OK;
}

/* The most records of a range. */
static int64_t most_records(const measuring *m)
{
  const int64_t *uses = m->uses.data;
  int64_t most = 0;
  for (int64_t i = 0; i < m->range_count; ++i) {
    int64_t records = 0;
    for (int w = 0; w < m->context->crew.workers; ++w) {
      records += uses[w * m->range_count + i];
    }
    most = greater_of(most, records);
  }
  return most;
}

static pmb_status measure_part(measuring *m, double share, pmb_measures *measures)
{
  const size_t id_size = pmb_type_size(m->mesh->id_type);
  pmb_context *context = m->context;
  const int workers = context->crew.workers;
  m->range_bits = MOST_RANGE_BITS;
  while (m->range_bits > LEAST_RANGE_BITS &&
    m->size.points >> m->range_bits < (workers > 1 ? (int64_t)workers * RANGES_PER_WORKER : 1)) {
    --m->range_bits;
  }
  m->range_count = (m->size.points + ((int64_t)1 << m->range_bits) - 1) >> m->range_bits;
  const int64_t at_once = pmb_smaller(workers, m->range_count);
  PMB_STEP(
    pmb_reserve(context, &m->chunks, pmb_chunks(m->size.triangles, CHUNK), sizeof(chunk_sums), "the measures"));
  PMB_STEP(pmb_reserve(context, &m->uses, workers * m->range_count, sizeof(int64_t), "the measures"));
  PMB_STEP(pmb_reserve(context, &m->parents, m->size.points, id_size, "the measures"));
  PMB_STEP(pmb_reserve(context, &m->ends, at_once << m->range_bits, sizeof(int64_t), "the measures"));
  m->part.parents = m->parents.data;
  PMB_STEP(measure_sums(m, share * 0.4, measures));
  m->record_capacity = most_records(m);
  PMB_STEP(pmb_reserve(context, &m->records, at_once * m->record_capacity, id_size, "the measures"));
  PMB_STEP(run(m, match_body, m->range_count, share * 0.6));
  measures->points = m->counts[POINTS];
  measures->components = m->counts[POINTS] - m->counts[LINKS];
  measures->edges = m->counts[EDGES];
  measures->boundary_edges = m->counts[BOUNDARY_EDGES];
  measures->nonmanifold_edges = m->counts[NONMANIFOLD_EDGES];
  measures->euler = measures->points - measures->edges + measures->triangles;
  measures->closed = m->counts[UNPAIRED_EDGES] == 0;
  return PMB_OK;
}

/* Result i of the caller's, whose structs may be smaller. */
static void *result_of(pmb_measures *measures, int64_t i)
{
  return (char *)measures + (size_t)i * measures->struct_size;
}

static pmb_status check_request(
  pmb_context *context, const pmb_measure_request *request, const pmb_mesh *mesh, pmb_measures *measures)
{
  pmb_sizes total = { 0, 0 };
  PMB_FAIL_IF(request->part_count < 0 || (request->part_count > 0 && (!request->parts || !measures)), context,
    PMB_INVALID, "pmb_measure: part_count is %lld, parts is %s and measures %s", (long long)request->part_count,
    request->parts ? "set" : "NULL", measures ? "set" : "NULL");
  for (int64_t i = 0; i < request->part_count; ++i) {
    const pmb_sizes part = request->parts[i];
    PMB_STEP(pmb_take(context, "pmb_measures", result_of(measures, i), PMB_FIRST_SIZE(pmb_measures, closed), NULL,
      sizeof(*measures)));
    PMB_FAIL_IF(part.points < 0 || part.triangles < 0 || part.points > INT64_MAX / 8 - total.points ||
        part.triangles > INT64_MAX / 8 - total.triangles,
      context, PMB_INVALID, "pmb_measure: part %lld has %lld points and %lld triangles", (long long)i,
      (long long)part.points, (long long)part.triangles);
    total.points += part.points;
    total.triangles += part.triangles;
  }
  return pmb_check_filled(context, "pmb_measure", mesh, total);
}

pmb_status pmb_measure(pmb_context *context, const pmb_measure_request *request, pmb_measures *measures)
{
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_measure_request, left_out, request);
  const pmb_mesh *mesh = request->mesh;
  PMB_TAKE(context, pmb_mesh, normal_ranges, mesh);
  PMB_STEP(check_request(context, request, mesh, measures));
  const int64_t count = request->part_count;
  const size_t id_size = pmb_type_size(mesh->id_type), real_size = pmb_type_size(mesh->point_type);
  measuring m = { .context = context, .mesh = mesh };
  pmb_status status = PMB_OK;
  for (int64_t i = 0; i < count && status == PMB_OK; ++i) {
    m.size = request->parts[i];
    m.part = (part_view){ .ids = (const char *)mesh->triangles + 3 * id_size * (size_t)m.before.triangles,
      .points = (const char *)mesh->points + 3 * real_size * (size_t)m.before.points,
      .flags = request->flags ? request->flags + m.before.triangles : NULL,
      .left_out = request->left_out,
      .first = m.before.points };
    memset(m.counts, 0, sizeof(m.counts));
    context->crew.fraction_end = (double)i / (double)count;
    pmb_measures found = { 0 };
    status = measure_part(&m, 1 / (double)count, &found);
    pmb_give(&found, result_of(measures, i));
    m.before.points += m.size.points;
    m.before.triangles += m.size.triangles;
  }
  pmb_free_buffers(context, (pmb_buffer *[]){ &m.chunks, &m.parents, &m.uses, &m.ends, &m.records, NULL });
  for (int64_t i = 0; i < count && status != PMB_OK; ++i) {
    pmb_give(&(pmb_measures){ 0 }, result_of(measures, i));
  }
  return status;
}
