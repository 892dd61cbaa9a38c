/* SPDX-License-Identifier: BSD-3-Clause
 * What the CPU's and the GPU's share of papers_scan.h, and its loops on the CPU. */
#include "papers_scan.h"

#include <stdlib.h>

/* ---- what both devices share ---- */

/* Bytes of one of the arrays: each begins at a multiple of 256. */
static size_t array_bytes(int64_t voxels)
{
  return ((size_t)voxels * sizeof(uint32_t) + 255) / 256 * 256;
}

/* The volume, judged. What is too large says all the same how much memory its arrays would have been, where 64 bits hold
 * that. */
static papers_status describe(papers_scan *scan, const papers_volume *volume)
{
  const pmb_type type = volume->type;
  const int64_t most = INT64_C(1) << 32; /* a voxel's number has 32 bits */
  int small = 1;
  scan->type = type;
  scan->field.samples = volume->samples;
  scan->voxels = 1;
  if (type != PMB_UINT8 && type != PMB_INT16 && type != PMB_UINT16 && type != PMB_FLOAT32) {
    return PAPERS_BAD_TYPE;
  }
  for (int a = 0; a < 3; ++a) {
    const int64_t n = volume->dims[a] > 0 ? volume->dims[a] : 0;
    if (n && scan->voxels > INT64_MAX / 64 / n) {
      return PAPERS_TOO_LARGE;
    }
    scan->voxels *= n;
    scan->field.dims[a] = (int32_t)n;
    small = small && n <= INT32_MAX / 2; /* and a place along an axis, with a step beyond, 31 */
  }
  if (!small || scan->voxels > most) {
    scan->memory->asked = PAPERS_SCAN_ARRAYS * array_bytes(scan->voxels) + scan->memory->used[PAPERS_ACCELERATION] +
      scan->memory->used[PAPERS_OUTPUT];
    return PAPERS_TOO_LARGE;
  }
  return PAPERS_OK;
}

papers_status papers_scan_begin(
  const papers_scan_passes *passes, papers_scan *scan, papers_memory *memory, const papers_volume *volume)
{
  scan->memory = memory;
  const papers_status status = describe(scan, volume);
  if (status != PAPERS_OK) {
    return status;
  }
  const size_t bytes = array_bytes(scan->voxels);
  scan->arrays = papers_take(memory, PAPERS_ACCELERATION, PAPERS_SCAN_ARRAYS * bytes);
  if (!scan->arrays) {
    return PAPERS_NO_MEMORY;
  }
  for (int i = 0; i < PAPERS_SCAN_ARRAYS; ++i) {
    scan->array[i] = (uint32_t *)((char *)scan->arrays + (size_t)i * bytes);
  }
  return passes->create ? passes->create(scan) : PAPERS_OK;
}

papers_status papers_scan_count(const papers_scan_passes *passes, papers_scan *scan, double isovalue)
{
  const pmb_isovalue made = pmb_isovalue_make(isovalue, scan->type, 0);
  scan->field.threshold = made.threshold_f32;
  scan->field.value = made.f32;
  scan->field.value_low = made.f32_low;
  scan->occupied = scan->triangles = 0;
  return scan->voxels ? passes->count(scan) : PAPERS_OK;
}

void papers_scan_end(const papers_scan_passes *passes, papers_scan *scan)
{
  if (passes->destroy) {
    passes->destroy(scan);
  }
  papers_give(scan->memory, scan->arrays);
}

/* ---- the loops ---- */

/* The corners of a voxel's cell. */
static void corners(const papers_scan *scan, int64_t voxel, float samples[8])
{
  for (int c = 0; c < 8; ++c) {
    samples[c] = papers_scan_sample(scan->field.samples, scan->type, voxel + papers_scan_step(&scan->field, c));
  }
}

static unsigned cell_case(const papers_scan *scan, const float samples[8])
{
  unsigned inside = 0, odd = 0;
  for (int c = 0; c < 8; ++c) {
    const unsigned judged = papers_scan_judge(&scan->field, scan->type, samples[c]);
    inside |= (judged & 1) << c;
    odd |= (judged >> 1) << c;
  }
  return papers_scan_case(inside, odd);
}

/* Pass classify. */
static void classify(papers_scan *scan)
{
  const int32_t *dims = scan->field.dims;
  int64_t voxel = 0;
  for (int32_t z = 0; z < dims[2]; ++z) {
    for (int32_t y = 0; y < dims[1]; ++y) {
      for (int32_t x = 0; x < dims[0]; ++x, ++voxel) {
        uint32_t vertices = 0;
        if (x + 1 < dims[0] && y + 1 < dims[1] && z + 1 < dims[2]) {
          float samples[8];
          corners(scan, voxel, samples);
          vertices = papers_scan_vertices(cell_case(scan, samples));
        }
        scan->array[PAPERS_SCAN_VERTICES][voxel] = vertices;
        scan->array[PAPERS_SCAN_OCCUPIED][voxel] = vertices > 0;
      }
    }
  }
}

/* Exclusive prefix sum; returns the sum of all. */
static int64_t sum(const uint32_t *values, int64_t count, uint32_t *before)
{
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    before[i] = (uint32_t)total;
    total += values[i];
  }
  return total;
}

/* Pass compact. */
static void compact(papers_scan *scan)
{
  for (int64_t voxel = 0; voxel < scan->voxels; ++voxel) {
    if (scan->array[PAPERS_SCAN_OCCUPIED][voxel]) {
      scan->array[PAPERS_SCAN_LIST][scan->array[PAPERS_SCAN_OCCUPIED_BEFORE][voxel]] = (uint32_t)voxel;
    }
  }
}

static papers_status count(papers_scan *scan)
{
  classify(scan);
  const int64_t vertices =
    sum(scan->array[PAPERS_SCAN_VERTICES], scan->voxels, scan->array[PAPERS_SCAN_VERTICES_BEFORE]);
  scan->occupied = sum(scan->array[PAPERS_SCAN_OCCUPIED], scan->voxels, scan->array[PAPERS_SCAN_OCCUPIED_BEFORE]);
  if (vertices > PAPERS_SCAN_MOST_VERTICES) {
    return PAPERS_TOO_LARGE;
  }
  scan->triangles = vertices / 3;
  compact(scan);
  return PAPERS_OK;
}

/* Pass triangles. */
static papers_status soup(papers_scan *scan, float *positions, float *normals, papers_scan_source *sources)
{
  for (int64_t i = 0; i < scan->occupied; ++i) {
    const uint32_t voxel = scan->array[PAPERS_SCAN_LIST][i];
    int64_t triangle = scan->array[PAPERS_SCAN_VERTICES_BEFORE][voxel] / 3;
    int32_t place[3];
    float samples[8];
    papers_scan_place(&scan->field, voxel, place);
    corners(scan, voxel, samples);
    const unsigned number = cell_case(scan, samples);
    for (int t = 0; t < pmb_triangle_count[number]; ++t, ++triangle) {
      const uint8_t *edges = pmb_triangle_edges[number] + 3 * t;
      for (int c = 0; c < 3; ++c) {
        papers_scan_point(&scan->field, place, edges[c], samples[pmb_edge_lower(edges[c])],
          samples[pmb_edge_upper(edges[c])], positions + 9 * triangle + 3 * c);
      }
      for (int c = 0; normals && c < 3; ++c) {
        papers_scan_normal(positions + 9 * triangle, normals + 9 * triangle + 3 * c);
      }
      if (sources) {
        sources[triangle] = (papers_scan_source){ voxel, papers_scan_edges(edges) };
      }
    }
  }
  return PAPERS_OK;
}

const papers_scan_passes papers_scan_passes_cpu = { .count = count, .soup = soup };

/* ---- the system ---- */

typedef struct scan_state {
  const papers_scan_passes *passes;
  papers_scan scan;
  void *positions, *normals;
  size_t positions_bytes, normals_bytes;
} scan_state;

void papers_scan_destroy(void *state)
{
  scan_state *s = state;
  if (s) {
    papers_give(s->scan.memory, s->positions);
    papers_give(s->scan.memory, s->normals);
    papers_scan_end(s->passes, &s->scan);
    free(s);
  }
}

papers_status papers_scan_create(
  const papers_scan_passes *passes, papers_memory *memory, const papers_volume *volume, void **state)
{
  scan_state *s = calloc(1, sizeof(*s));
  *state = NULL;
  if (!s) {
    return PAPERS_NO_MEMORY;
  }
  s->passes = passes;
  const papers_status status = papers_scan_begin(passes, &s->scan, memory, volume);
  if (status != PAPERS_OK) {
    papers_scan_destroy(s);
    return status;
  }
  *state = s;
  return PAPERS_OK;
}

papers_status papers_scan_extract(void *state, double isovalue, papers_mesh *mesh)
{
  scan_state *s = state;
  papers_memory *memory = s->scan.memory;
  *mesh = (papers_mesh){ 0 };
  papers_status status = papers_scan_count(s->passes, &s->scan, isovalue);
  const size_t bytes = (size_t)s->scan.triangles * 9 * sizeof(float);
  if (status != PAPERS_OK || !s->scan.triangles) {
    return status;
  }
  status = papers_reserve(memory, PAPERS_OUTPUT, &s->positions, &s->positions_bytes, bytes);
  if (status == PAPERS_OK) {
    status = papers_reserve(memory, PAPERS_OUTPUT, &s->normals, &s->normals_bytes, bytes);
  }
  if (status == PAPERS_OK) {
    status = s->passes->soup(&s->scan, s->positions, s->normals, NULL);
  }
  if (status == PAPERS_OK && s->passes->finish) {
    status = s->passes->finish(&s->scan);
  }
  if (status == PAPERS_OK) {
    *mesh = (papers_mesh){ 3 * s->scan.triangles, s->scan.triangles, s->positions, s->normals, NULL };
  }
  return status;
}

static papers_status create_on_cpu(papers_memory *memory, const papers_volume *volume, void **state)
{
  return papers_scan_create(&papers_scan_passes_cpu, memory, volume, state);
}

const papers_system papers_scan_cpu = { "scan", PAPERS_SCAN_SOURCE, create_on_cpu, papers_scan_extract,
  papers_scan_destroy };
