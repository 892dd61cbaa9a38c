/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_measure: area, volume, edges and components of a mesh in host memory.
 *
 * Passes over a part of the mesh: sums (area and volume, by chunks of triangles), then edges and components, by ranges of
 * points. Every use of an edge by a triangle is a record in the bucket of the edge's higher point. There an edge finds all
 * its uses, and joins the components of its ends. Points near each other in space have ids near each other, so a range
 * looks at few chunks of triangles, and its buckets stay in the cache.
 *
 * Nothing depends on who does what: sums of reals have a fixed order, everything else is a whole number, and of the
 * components only the number counts. */
#include "measures/pmb_measures.h"
#include "core/pmb_backend.h"

enum {
  /* A range has a power of two of points: fewer than at most if there is not enough for all workers. */
  LEAST_RANGE_BITS = 12,
  MOST_RANGE_BITS = 17,
  RANGES_PER_WORKER = 4
};

/* Where the largest coordinate is between these nothing needs scaling: products neither vanish nor overflow. */
static const double LEAST_COORDINATE = 1e-70, LARGEST_COORDINATE = 1e70;
static const double LEAST_UNIT = 1e-300; /* its inverse is finite */

/* In the chunks' order: the same bits on every run. */
static pmb_chunk_sums reduce_sums(const pmb_measuring *m)
{
  const pmb_chunk_sums *chunks = m->chunks.data;
  pmb_chunk_sums total = { .lowest = INT64_MAX, .highest = -1 };
  for (int64_t i = 0; i < pmb_measures_chunks(m->size.triangles); ++i) {
    total.area += chunks[i].area;
    total.volume += chunks[i].volume;
    total.triangles += chunks[i].triangles;
    total.largest = chunks[i].largest > total.largest ? chunks[i].largest : total.largest;
    total.lowest = pmb_least_of(total.lowest, chunks[i].lowest);
    total.highest = pmb_greatest_of(total.highest, chunks[i].highest);
  }
  return total;
}

/* Runs a body for `count` chunks, which take this part of the part's share of the progress. */
static pmb_status run(
  pmb_context *context, pmb_measuring *m, void (*body)(void *, int, size_t), int64_t count, double share)
{
  pmb_crew *crew = &context->crew;
  crew->fraction_begin = crew->fraction_end;
  crew->fraction_end += share;
  return pmb_crew_loop(crew, (size_t)count, body, m) ? PMB_OK
                                                     : pmb_fail(context, PMB_ABORTED, "aborted by the progress hook");
}

static pmb_status reserve(pmb_context *context, pmb_buffer *buffer, int64_t count, size_t size)
{
  return pmb_buffer_reserve(&context->memory, buffer, (size_t)count, size)
    ? PMB_OK
    : pmb_fail(context, PMB_OUT_OF_MEMORY, "pmb_measure: no memory for %lld times %zu bytes", (long long)count, size);
}

/* The sums, after clearing what they gather by point and by range. */
static pmb_status run_sums(pmb_context *context, pmb_measuring *m, double share)
{
  pmb_range_use *uses = m->uses.data;
  for (int64_t i = 0; i < m->workers * m->range_count; ++i) {
    uses[i] = (pmb_range_use){ 0, INT64_MAX, 0 };
  }
  const pmb_status status = run(context, m, pmb_measures_forget, pmb_measures_chunks(m->size.points), share * 0.02);
  return status == PMB_OK ? run(context, m, pmb_measures_sum, pmb_measures_chunks(m->size.triangles), share * 0.98)
                          : status;
}

/* Area and volume; finds the points that are used. */
static pmb_status measure_sums(pmb_context *context, pmb_measuring *m, double share, pmb_measures *measures)
{
  pmb_status status = run_sums(context, m, share);
  if (status != PMB_OK) {
    return status;
  }
  pmb_chunk_sums total = reduce_sums(m);
  if (total.triangles > 0 && (total.lowest < 0 || total.highest >= m->size.points)) {
    return pmb_fail(context, PMB_INVALID,
      "pmb_measure: a triangle uses point %lld, but its part has %lld points from %lld on; are the parts those of this "
      "mesh?",
      (long long)((uint64_t)(total.lowest < 0 ? total.lowest : total.highest) + (uint64_t)m->before.points),
      (long long)m->size.points, (long long)m->before.points);
  }
  if (PMB_IS_FINITE(total.largest) &&
    (total.largest > LARGEST_COORDINATE || (total.largest < LEAST_COORDINATE && total.largest > 0))) {
    m->unit = pmb_power_of_two(total.largest > LEAST_UNIT ? total.largest : LEAST_UNIT);
    m->scale = 1 / m->unit;
    status = run_sums(context, m, 0);
    total = reduce_sums(m);
  }
  measures->area = total.area / 2 * m->unit * m->unit;
  measures->volume = total.volume / 6 * m->unit * m->unit * m->unit;
  measures->triangles = total.triangles;
  return status;
}

/* Adds up what the workers have seen of each range. Returns the most records of one. */
static int64_t reduce_uses(pmb_measuring *m)
{
  pmb_range_use *uses = m->uses.data;
  int64_t most = 0;
  for (int64_t i = 0; i < m->range_count; ++i) {
    for (int w = 1; w < m->workers; ++w) {
      const pmb_range_use use = uses[w * m->range_count + i];
      uses[i].records += use.records;
      uses[i].first_chunk = pmb_least_of(uses[i].first_chunk, use.first_chunk);
      uses[i].end_chunk = pmb_greatest_of(uses[i].end_chunk, use.end_chunk);
    }
    most = pmb_greatest_of(most, uses[i].records);
  }
  return most;
}

static pmb_status measure_edges(pmb_context *context, pmb_measuring *m, double share)
{
  const int64_t workers = pmb_least_of(m->workers, m->range_count);
  m->record_capacity = reduce_uses(m);
  pmb_status status = reserve(context, &m->ends, workers << m->range_bits, sizeof(int64_t));
  status = status == PMB_OK
    ? reserve(context, &m->records, workers * m->record_capacity, pmb_type_size(m->mesh->id_type))
    : status;
  return status == PMB_OK ? run(context, m, pmb_measures_match, m->range_count, share) : status;
}

/* Cuts the points into ranges. */
static void choose_ranges(pmb_measuring *m)
{
  m->range_bits = MOST_RANGE_BITS;
  while (m->range_bits > LEAST_RANGE_BITS &&
    m->size.points >> m->range_bits < (m->workers > 1 ? (int64_t)m->workers * RANGES_PER_WORKER : 1)) {
    --m->range_bits;
  }
  m->range_count = (m->size.points + ((int64_t)1 << m->range_bits) - 1) >> m->range_bits;
}

static pmb_status measure_part(pmb_context *context, pmb_measuring *m, double share, pmb_measures *measures)
{
  choose_ranges(m);
  pmb_status status = reserve(context, &m->chunks, pmb_measures_chunks(m->size.triangles), sizeof(pmb_chunk_sums));
  status = status == PMB_OK ? reserve(context, &m->uses, m->workers * m->range_count, sizeof(pmb_range_use)) : status;
  status = status == PMB_OK ? reserve(context, &m->parents, m->size.points, pmb_type_size(m->mesh->id_type)) : status;
  status = status == PMB_OK ? measure_sums(context, m, share * 0.4, measures) : status;
  status = status == PMB_OK ? measure_edges(context, m, share * 0.58) : status;
  status = status == PMB_OK ? run(context, m, pmb_measures_roots, pmb_measures_chunks(m->size.points), share * 0.02)
                            : status;
  measures->points = m->points;
  measures->components = m->components;
  measures->edges = m->edges;
  measures->boundary_edges = m->boundary_edges;
  measures->nonmanifold_edges = m->nonmanifold_edges;
  measures->euler = measures->points - measures->edges + measures->triangles;
  measures->closed = m->unpaired_edges == 0;
  return status;
}

static pmb_status check_arrays(pmb_context *context, const pmb_mesh *mesh, pmb_sizes total)
{
  if (total.points > mesh->point_capacity || total.triangles > mesh->triangle_capacity) {
    return pmb_fail(context, PMB_INVALID,
      "pmb_measure: parts of %lld points and %lld triangles in all, but the mesh has room for %lld and %lld",
      (long long)total.points, (long long)total.triangles, (long long)mesh->point_capacity,
      (long long)mesh->triangle_capacity);
  }
  if ((!mesh->points && total.points > 0) || (!mesh->triangles && total.triangles > 0)) {
    return pmb_fail(context, PMB_INVALID, "pmb_measure: the mesh's %s are NULL; both points and triangles are needed",
      mesh->points ? "triangles" : "points");
  }
  if (total.points > 0 && mesh->point_type != PMB_FLOAT32 && mesh->point_type != PMB_FLOAT64) {
    return pmb_fail(context, PMB_INVALID,
      "pmb_measure: point_type is %d; it must be PMB_FLOAT32 (%d) or PMB_FLOAT64 (%d)", (int)mesh->point_type,
      (int)PMB_FLOAT32, (int)PMB_FLOAT64);
  }
  if (total.points + total.triangles > 0 && mesh->id_type != PMB_INT32 && mesh->id_type != PMB_INT64) {
    return pmb_fail(context, PMB_INVALID, "pmb_measure: id_type is %d; it must be PMB_INT32 (%d) or PMB_INT64 (%d)",
      (int)mesh->id_type, (int)PMB_INT32, (int)PMB_INT64);
  }
  return PMB_OK;
}

static pmb_status check_request(
  pmb_context *context, const pmb_measure_request *request, const pmb_measures *measures)
{
  pmb_sizes total = { 0, 0 };
  const pmb_mesh *mesh = request ? request->mesh : NULL;
  if (pmb_check_size(context, "pmb_measure_request", request ? request->struct_size : 0, sizeof(*request)) !=
      PMB_OK ||
    pmb_check_size(context, "pmb_mesh", mesh ? mesh->struct_size : 0, sizeof(*mesh)) != PMB_OK) {
    return PMB_INVALID;
  }
  if (request->part_count < 0 || (request->part_count > 0 && (!request->parts || !measures))) {
    return pmb_fail(context, PMB_INVALID, "pmb_measure: part_count is %lld, parts is %s and measures %s",
      (long long)request->part_count, request->parts ? "set" : "NULL", measures ? "set" : "NULL");
  }
  for (int64_t i = 0; i < request->part_count; ++i) {
    const pmb_sizes part = request->parts[i];
    if (pmb_check_size(context, "pmb_measures", measures[i].struct_size, sizeof(*measures)) != PMB_OK) {
      return PMB_INVALID;
    }
    if (part.points < 0 || part.triangles < 0 || part.points > INT64_MAX / 8 - total.points ||
      part.triangles > INT64_MAX / 8 - total.triangles) {
      return pmb_fail(context, PMB_INVALID, "pmb_measure: part %lld has %lld points and %lld triangles", (long long)i,
        (long long)part.points, (long long)part.triangles);
    }
    total.points += part.points;
    total.triangles += part.triangles;
  }
  return check_arrays(context, mesh, total);
}

static void clear_measures(pmb_measures *measures, int64_t count)
{
  for (int64_t i = 0; i < count; ++i) {
    measures[i] = (pmb_measures){ .struct_size = sizeof(*measures) };
  }
}

pmb_status pmb_measure(pmb_context *context, const pmb_measure_request *request, pmb_measures *measures)
{
  if (!context) {
    return PMB_INVALID;
  }
  context->error[0] = '\0';
  pmb_status status = check_request(context, request, measures);
  if (status != PMB_OK) {
    return status;
  }
  const int64_t count = request->part_count;
  pmb_measuring m = { .mesh = request->mesh, .left_out = request->left_out, .workers = context->crew.workers };
  clear_measures(measures, count);
  context->crew.highest = context->crew.fraction_begin = context->crew.fraction_end = 0;
  for (int64_t i = 0; i < count && status == PMB_OK; ++i) {
    m.size = request->parts[i];
    m.flags = request->flags ? request->flags + m.before.triangles : NULL;
    m.scale = m.unit = 1;
    m.edges = m.boundary_edges = m.nonmanifold_edges = m.unpaired_edges = m.points = m.components = 0;
    context->crew.fraction_end = (double)i / (double)count;
    status = measure_part(context, &m, 1 / (double)count, &measures[i]);
    m.before.points += m.size.points;
    m.before.triangles += m.size.triangles;
  }
  pmb_buffer *buffers[] = { &m.chunks, &m.parents, &m.uses, &m.ends, &m.records };
  for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); ++i) {
    pmb_buffer_free(&context->memory, buffers[i]);
  }
  if (status != PMB_OK) {
    clear_measures(measures, count);
  }
  return status;
}
