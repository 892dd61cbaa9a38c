/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_welded.h - what a user of papers_scan.h's triangle soup has to do to get what PMB gives: the vertices that lie at one
 * place become one point, triangles become ids, and points get normals by central differences. Its steps, for the CPU and
 * the GPU.
 *
 * Passes, behind those of scan: insert (every vertex of the soup finds, or founds, the slot of its position in a hash table;
 * a slot keeps the least of its vertices), first (which vertex is the one that is kept), a prefix sum, number (ids, and a
 * list of the vertices that are kept), points (positions and normals of those). A hash table and not a sort: a sort of
 * keys of 96 bits takes a dozen passes over all vertices, each several times the traffic of one insertion; and what is
 * found in the table is near in memory, since the soup follows the rows of the volume.
 *
 * The order of the points is that of their first vertices in the soup, on every device and in every run. Vertices that
 * lie at one place for another reason than a common edge, at a sample equal to the isovalue, become one point as well;
 * triangles keep their positions, and the point has the normal of the first of them.
 *
 * The soup has no flat normals here, but says where each triangle is from, 8 bytes for it: central differences need the
 * edge, and the position does not tell it. Memory besides scan's, per triangle: 36 bytes of positions and those 8, 16 of the
 * table (4 slots for 3 vertices: all may differ), 12 of the prefix sum, and CUB's. */
#ifndef PAPERS_WELDED_H
#define PAPERS_WELDED_H

#include "papers_scan.h"

#define PAPERS_WELDED_EMPTY UINT32_MAX /* no vertex: scan refuses so many */

/* The arrays, which grow with the triangles. */
typedef struct papers_welded_buffer {
  void *data;
  size_t bytes;
} papers_welded_buffer;

typedef struct papers_welded {
  papers_scan scan;
  papers_welded_buffer soup, sources, table, before, sums; /* sums: GPU, CUB's */
  papers_welded_buffer positions, normals, ids;            /* the mesh */
  int64_t vertices, slots;                                 /* 3 per triangle; of the table */
  int64_t points;
  pmb_frame frame;
} papers_welded;

/* The passes on one device. */
typedef struct papers_welded_passes {
  const papers_scan_passes *scan;
  /* Bytes beside the arrays for a prefix sum over `count`. NULL: none. */
  papers_status (*sum_bytes)(papers_welded *welded, int64_t count, size_t *bytes);
  /* Passes insert to number; sets welded->points. */
  papers_status (*weld)(papers_welded *welded);
  /* Pass points; the mesh is complete then. */
  papers_status (*points)(papers_welded *welded);
} papers_welded_passes;

#ifdef __cplusplus
extern "C" {
#endif
/* The functions of papers_system, but for the passes. */
papers_status papers_welded_create(
  const papers_welded_passes *passes, papers_memory *memory, const papers_volume *volume, void **state);
papers_status papers_welded_extract(void *state, double isovalue, papers_mesh *mesh);
void papers_welded_destroy(void *state);
#define PAPERS_WELDED_SOURCE "PMB paper (EuroVis 2016), section 2: nvsdk's triangle soup, vertices welded afterwards"
#ifdef __cplusplus
}
#endif

/* ---- the steps ---- */

/* Bodies that are rarely needed stay out of the way. */
#if defined(__CUDACC__)
#define PAPERS_RARE static __device__ __noinline__
#else
#define PAPERS_RARE static __attribute__((noinline, unused))
#endif

/* Slots of the table, which other threads of a GPU may be changing: what is in one; its content before it became `vertex`
 * if it was empty; and the less of the two stays. */
PMB_INLINE uint32_t papers_welded_look(const uint32_t *slot)
{
#if defined(__CUDACC__)
  return __ldcg(slot);
#else
  return *slot;
#endif
}

PMB_INLINE uint32_t papers_welded_found(uint32_t *slot, uint32_t vertex)
{
#if defined(__CUDACC__)
  return atomicCAS(slot, PAPERS_WELDED_EMPTY, vertex);
#else
  const uint32_t old = *slot;
  *slot = old == PAPERS_WELDED_EMPTY ? vertex : old;
  return old;
#endif
}

PMB_INLINE void papers_welded_lower(uint32_t *slot, uint32_t vertex)
{
#if defined(__CUDACC__)
  atomicMin(slot, vertex);
#else
  *slot = *slot < vertex ? *slot : vertex;
#endif
}

/* Where to look for a position first; from its bits, of which no two stand for one place: none is -0 or NaN. */
PMB_INLINE uint32_t papers_welded_slot(const uint32_t bits[3], uint64_t slots)
{
  uint64_t hash = (bits[0] | (uint64_t)bits[1] << 32) * 0x9e3779b97f4a7c15u;
  hash = ((hash ^ hash >> 32) + bits[2]) * 0xd6e8feb86659fd93u;
  return (uint32_t)((hash >> 32) * slots >> 32);
}

/* Inserts a vertex of the soup; returns its slot. What is in a slot changes only to another vertex at the same place. */
PMB_INLINE uint32_t papers_welded_insert(const uint32_t *soup, uint32_t vertex, uint32_t *table, uint64_t slots)
{
  const uint32_t bits[3] = { soup[3 * (uint64_t)vertex], soup[3 * (uint64_t)vertex + 1],
    soup[3 * (uint64_t)vertex + 2] };
  uint64_t slot = papers_welded_slot(bits, slots);
  for (;;) {
    uint32_t other = papers_welded_look(table + slot);
    if (other == PAPERS_WELDED_EMPTY) {
      other = papers_welded_found(table + slot, vertex);
      if (other == PAPERS_WELDED_EMPTY) {
        return (uint32_t)slot;
      }
    }
    const uint32_t *there = soup + 3 * (uint64_t)other;
    if (there[0] == bits[0] && there[1] == bits[1] && there[2] == bits[2]) {
      if (vertex < other) {
        papers_welded_lower(table + slot, vertex);
      }
      return (uint32_t)slot;
    }
    slot = slot + 1 < slots ? slot + 1 : 0;
  }
}

/* The samples beside one, along an axis; where the volume ends, itself. Returns the factor of their difference. */
PMB_INLINE float papers_welded_beside(
  const papers_scan_field *field, pmb_type type, const int32_t place[3], int axis, float *below, float *above)
{
  const int64_t nx = field->dims[0], ny = field->dims[1];
  const int64_t index = place[0] + nx * (place[1] + ny * place[2]);
  const int64_t step = axis == 0 ? 1 : axis == 1 ? nx : nx * ny;
  const int first = place[axis] <= 0, last = place[axis] >= field->dims[axis] - 1;
  *below = papers_scan_sample(field->samples, type, index - (first ? 0 : step));
  *above = papers_scan_sample(field->samples, type, index + (last ? 0 : step));
  return first || last ? 1.0f : 0.5f;
}

PMB_INLINE pmb_stencil papers_welded_stencil(
  const papers_scan_field *field, pmb_type type, const int32_t place[3], float center)
{
  pmb_stencil stencil;
  stencil.center = (double)center;
  for (int a = 0; a < 3; ++a) {
    float below, above;
    stencil.factor[a] = (double)papers_welded_beside(field, type, place, a, &below, &above);
    stencil.below[a] = (double)below;
    stencil.above[a] = (double)above;
  }
  return stencil;
}

/* The normal where gradients vanish or are too large, as PMB has it. `samples`: of the edge's ends. */
PAPERS_RARE void papers_welded_careful(const papers_scan_field *field, pmb_type type, const pmb_frame *frame,
  const int32_t low[3], int axis, const float samples[2], float t, const float gradient[3], float normal[3])
{
  const int32_t high[3] = { low[0] + (axis == 0), low[1] + (axis == 1), low[2] + (axis == 2) };
  float unused[3];
  if (!pmb_scaled_point_f32(frame, gradient, unused, normal)) {
    const pmb_stencil lower = papers_welded_stencil(field, type, low, samples[0]);
    const pmb_stencil upper = papers_welded_stencil(field, type, high, samples[1]);
    pmb_careful_point(frame, &lower, &upper, axis, (double)t, unused, normal);
  }
}

/* Position and normal of the point on an edge of a voxel's cell: the bits of PMB's. */
PMB_INLINE void papers_welded_point(const papers_scan_field *field, pmb_type type, const pmb_frame *frame,
  uint32_t voxel, int edge, float point[3], float normal[3])
{
  const int corner = pmb_edge_lower(edge), axis = pmb_edge_axis(edge);
  int32_t place[3];
  papers_scan_place(field, voxel, place);
  const int32_t low[3] = { place[0] + (corner & 1), place[1] + (corner >> 1 & 1), place[2] + (corner >> 2) };
  const int32_t high[3] = { low[0] + (axis == 0), low[1] + (axis == 1), low[2] + (axis == 2) };
  const float samples[2] = {
    papers_scan_sample(field->samples, type, voxel + papers_scan_step(field, corner)),
    papers_scan_sample(field->samples, type, voxel + papers_scan_step(field, pmb_edge_upper(edge))),
  };
  const float t = pmb_edge_parameter_f32(samples[0], samples[1], field->value, field->value_low);
  float gradient[3], world[3];
  papers_scan_point(field, place, edge, samples[0], samples[1], point);
  for (int a = 0; a < 3; ++a) {
    float below, above;
    const float factor = papers_welded_beside(field, type, low, a, &below, &above);
    const float at_low = pmb_difference_f32(below, above, factor);
    const float upper_factor = papers_welded_beside(field, type, high, a, &below, &above);
    gradient[a] = pmb_lerp_f32(at_low, pmb_difference_f32(below, above, upper_factor), t);
  }
  for (int r = 0; r < 3; ++r) {
    world[r] = pmb_world_gradient_f32(frame->matrix_f32, r, gradient[0], gradient[1], gradient[2]);
  }
  const float length2 = pmb_length2_f32(world[0], world[1], world[2]);
  if (pmb_length2_good_f32(length2)) {
    const float factor = pmb_normal_factor_f32(length2);
    for (int r = 0; r < 3; ++r) {
      normal[r] = world[r] * factor;
    }
  } else {
    papers_welded_careful(field, type, frame, low, axis, samples, t, gradient, normal);
  }
}

#endif
