/* SPDX-License-Identifier: BSD-3-Clause
 * What the CPU's and the GPU's share of papers_welded.h, and its loops on the CPU. */
#include "papers_welded.h"

#include <stdlib.h>
#include <string.h>

#include "core/pmb_frame.h"

/* ---- the loops ---- */

/* Passes insert to number. An array of ids holds each vertex's slot first, then its first vertex, then its point. */
static papers_status weld(papers_welded *w)
{
  uint32_t *table = w->table.data, *ids = w->ids.data, *before = w->before.data;
  memset(table, 0xff, (size_t)w->slots * sizeof(*table));
  for (int64_t v = 0; v < w->vertices; ++v) {
    ids[v] = papers_welded_insert(w->soup.data, (uint32_t)v, table, (uint64_t)w->slots);
  }
  uint32_t points = 0;
  for (int64_t v = 0; v < w->vertices; ++v) {
    ids[v] = table[ids[v]];
    before[v] = points;
    points += ids[v] == v;
  }
  for (int64_t v = 0; v < w->vertices; ++v) {
    if (ids[v] == v) {
      table[before[v]] = (uint32_t)v; /* no longer a table */
    }
    ids[v] = before[ids[v]];
  }
  w->points = points;
  return PAPERS_OK;
}

static papers_status points(papers_welded *w)
{
  const uint32_t *list = w->table.data;
  float *positions = w->positions.data, *normals = w->normals.data;
  for (int64_t p = 0; p < w->points; ++p) {
    const papers_scan_source *source = (const papers_scan_source *)w->sources.data + list[p] / 3;
    papers_welded_point(&w->scan.field, w->scan.type, &w->frame, source->voxel,
      source->edges >> 4 * (list[p] % 3) & 15, positions + 3 * p, normals + 3 * p);
  }
  return PAPERS_OK;
}

static const papers_welded_passes passes_cpu = { .scan = &papers_scan_passes_cpu, .weld = weld, .points = points };

/* ---- the system ---- */

typedef struct welded_state {
  const papers_welded_passes *passes;
  papers_welded welded;
} welded_state;

void papers_welded_destroy(void *state)
{
  welded_state *s = state;
  if (s) {
    papers_welded *w = &s->welded;
    papers_welded_buffer *const all[] = { &w->soup, &w->sources, &w->table, &w->before, &w->sums, &w->positions,
      &w->normals, &w->ids };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
      papers_give(w->scan.memory, all[i]->data);
    }
    papers_scan_end(s->passes->scan, &w->scan);
    free(s);
  }
}

papers_status papers_welded_create(
  const papers_welded_passes *passes, papers_memory *memory, const papers_volume *volume, void **state)
{
  static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
  welded_state *s = calloc(1, sizeof(*s));
  *state = NULL;
  if (!s) {
    return PAPERS_NO_MEMORY;
  }
  s->passes = passes;
  pmb_frame_make(identity, &s->welded.frame);
  pmb_frame_fit(&s->welded.frame, volume->type, 0, 0); /* the range is not known, and changes no bit of a normal */
  const papers_status status = papers_scan_begin(passes->scan, &s->welded.scan, memory, volume);
  if (status != PAPERS_OK) {
    papers_welded_destroy(s);
    return status;
  }
  *state = s;
  return PAPERS_OK;
}

static papers_status reserve(
  papers_welded *w, papers_use use, papers_welded_buffer *buffer, int64_t count, size_t size)
{
  return papers_reserve(w->scan.memory, use, &buffer->data, &buffer->bytes, (size_t)count * size);
}

/* Room for all whose size follows from the number of triangles. */
static papers_status reserve_for_soup(const papers_welded_passes *passes, papers_welded *w)
{
  size_t sum_bytes = 0;
  papers_status status = PAPERS_OK;
  if (passes->sum_bytes) {
    status = passes->sum_bytes(w, w->vertices + 1, &sum_bytes);
  }
  if (status == PAPERS_OK && sum_bytes) {
    status = reserve(w, PAPERS_ACCELERATION, &w->sums, (int64_t)sum_bytes, 1);
  }
  if (status == PAPERS_OK) {
    status = reserve(w, PAPERS_ACCELERATION, &w->soup, w->vertices, 3 * sizeof(float));
  }
  if (status == PAPERS_OK) {
    status = reserve(w, PAPERS_ACCELERATION, &w->sources, w->scan.triangles, sizeof(papers_scan_source));
  }
  if (status == PAPERS_OK) {
    status = reserve(w, PAPERS_ACCELERATION, &w->table, w->slots, sizeof(uint32_t));
  }
  if (status == PAPERS_OK) {
    status = reserve(w, PAPERS_ACCELERATION, &w->before, w->vertices + 1, sizeof(uint32_t));
  }
  return status == PAPERS_OK ? reserve(w, PAPERS_OUTPUT, &w->ids, w->vertices, sizeof(int32_t)) : status;
}

static papers_status extract_points(const papers_welded_passes *passes, papers_welded *w)
{
  papers_status status = passes->weld(w);
  if (status == PAPERS_OK && w->points > INT32_MAX) {
    status = PAPERS_TOO_LARGE;
  }
  if (status == PAPERS_OK) {
    status = reserve(w, PAPERS_OUTPUT, &w->positions, w->points, 3 * sizeof(float));
  }
  if (status == PAPERS_OK) {
    status = reserve(w, PAPERS_OUTPUT, &w->normals, w->points, 3 * sizeof(float));
  }
  return status == PAPERS_OK ? passes->points(w) : status;
}

papers_status papers_welded_extract(void *state, double isovalue, papers_mesh *mesh)
{
  welded_state *s = state;
  papers_welded *w = &s->welded;
  *mesh = (papers_mesh){ 0 };
  papers_status status = papers_scan_count(s->passes->scan, &w->scan, isovalue);
  if (status != PAPERS_OK || !w->scan.triangles) {
    return status;
  }
  const int64_t most = INT64_C(1) << 32; /* slots have 32 bits; there are more than vertices all the same */
  w->vertices = 3 * w->scan.triangles;
  w->slots = 4 * w->scan.triangles < most ? 4 * w->scan.triangles : most;
  status = reserve_for_soup(s->passes, w);
  if (status == PAPERS_OK) {
    status = s->passes->scan->soup(&w->scan, w->soup.data, NULL, w->sources.data);
  }
  if (status == PAPERS_OK) {
    status = extract_points(s->passes, w);
  }
  if (status == PAPERS_OK) {
    *mesh =
      (papers_mesh){ w->points, w->scan.triangles, w->positions.data, w->normals.data, (const int32_t *)w->ids.data };
  }
  return status;
}

static papers_status create_on_cpu(papers_memory *memory, const papers_volume *volume, void **state)
{
  return papers_welded_create(&passes_cpu, memory, volume, state);
}

const papers_system papers_welded_cpu = { "welded", PAPERS_WELDED_SOURCE, create_on_cpu, papers_welded_extract,
  papers_welded_destroy };
