/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_scan.h - marching cubes by prefix sums over all voxels: the sample of NVIDIA's CUDA SDK that the PMB paper compares
 * itself with ("nvsdk" there, sections 2 and 5). Its steps, for the CPU and the GPU.
 *
 * A voxel is a sample with the cell above it; those at the upper borders have none. Passes: classify (how many vertices
 * each voxel gives, and whether any), two exclusive prefix sums over all voxels, compact (a list of the occupied voxels),
 * triangles (of those, three vertices each, none shared, with the normal of their plane).
 *
 * Memory, as the paper counts it: five arrays of 32 bits per voxel, 20 bytes. With them, and apart from the paper's count,
 * comes what CUB needs for a prefix sum: some bytes for each of its tiles of a few thousand voxels.
 *
 * As in the sample: voxels and vertices are counted in 32 bits; one flat normal for each triangle, which the paper names as
 * the reason for the faceted look. Unlike there: sizes need not be powers of two; sums that do not fit are refused;
 * normals have length 1 (0 where there is no area); the count of vertices comes back once per isovalue, not each sum on
 * its own; a block writes its triangles as one piece. */
#ifndef PAPERS_SCAN_H
#define PAPERS_SCAN_H

#include "core/pmb_isovalue.h"
#include "papers.h"
#include "shared/pmb_cell.h"
#include "shared/pmb_point.h"

/* The samples and the isovalue, for the steps. */
typedef struct papers_scan_field {
  const void *samples;
  int32_t dims[3];
  float threshold, value, value_low; /* as in pmb_isovalue */
} papers_scan_field;

/* Where a triangle of the soup comes from: for a user of the soup that wants more than its positions. */
typedef struct papers_scan_source {
  uint32_t voxel, edges; /* of corner c: edges >> 4 * c & 15 */
} papers_scan_source;

enum {
  PAPERS_SCAN_VERTICES,
  PAPERS_SCAN_VERTICES_BEFORE,
  PAPERS_SCAN_OCCUPIED,
  PAPERS_SCAN_OCCUPIED_BEFORE,
  PAPERS_SCAN_LIST,
  PAPERS_SCAN_ARRAYS
};

/* What the 32 bits of the counts hold; one value is left over for "none" in a table of vertices. */
#define PAPERS_SCAN_MOST_VERTICES ((int64_t)UINT32_MAX - 1)

/* What is read back from a GPU. */
typedef struct papers_scan_totals {
  uint64_t vertices;
  uint32_t occupied, vertices_32; /* the latter as the prefix sum has them: modulo 2^32 */
} papers_scan_totals;

/* What the system keeps for a volume, on the CPU or on the GPU. */
typedef struct papers_scan {
  papers_memory *memory;
  papers_scan_field field;
  pmb_type type;
  int64_t voxels;
  uint32_t *array[PAPERS_SCAN_ARRAYS]; /* one value per voxel each */
  void *arrays;                        /* the block that all are in: when it is refused, that tells of all */
  /* GPU only. */
  void *d_sums; /* CUB's for a prefix sum */
  size_t sums_bytes;
  papers_scan_totals *d_totals, *totals; /* the other: pinned memory of the host */
  /* Of the last isovalue. */
  int64_t occupied, triangles;
} papers_scan;

/* The passes on one device. */
typedef struct papers_scan_passes {
  /* Beyond papers_scan_begin; where it fails, destroy is still called. NULL: nothing to do. */
  papers_status (*create)(papers_scan *scan);
  /* Passes classify to compact for the isovalue in scan->field; sets scan->occupied and scan->triangles. */
  papers_status (*count)(papers_scan *scan);
  /* Pass triangles, of the last count; normals and sources may be NULL. On the GPU it is enqueued only. */
  papers_status (*soup)(papers_scan *scan, float *positions, float *normals, papers_scan_source *sources);
  /* Waits until all is done. NULL: it is. */
  papers_status (*finish)(papers_scan *scan);
  void (*destroy)(papers_scan *scan); /* NULL: nothing to do */
} papers_scan_passes;

#ifdef __cplusplus
extern "C" {
#endif
extern const papers_scan_passes papers_scan_passes_cpu, papers_scan_passes_gpu;

/* For systems that begin with this one. *scan: all 0. Judges the volume, takes the five arrays. */
papers_status papers_scan_begin(
  const papers_scan_passes *passes, papers_scan *scan, papers_memory *memory, const papers_volume *volume);
papers_status papers_scan_count(const papers_scan_passes *passes, papers_scan *scan, double isovalue);
void papers_scan_end(const papers_scan_passes *passes, papers_scan *scan);

/* The functions of papers_system, but for the passes. */
papers_status papers_scan_create(
  const papers_scan_passes *passes, papers_memory *memory, const papers_volume *volume, void **state);
papers_status papers_scan_extract(void *state, double isovalue, papers_mesh *mesh);
void papers_scan_destroy(void *state);
#define PAPERS_SCAN_SOURCE "PMB paper (EuroVis 2016), sections 2 and 5: nvsdk, the marching cubes of the CUDA SDK"
#ifdef __cplusplus
}
#endif

/* ---- the steps ---- */

PMB_INLINE float papers_scan_sample(const void *samples, pmb_type type, int64_t index)
{
  switch (type) {
    case PMB_UINT8:
      return (float)((const uint8_t *)samples)[index];
    case PMB_INT16:
      return (float)((const int16_t *)samples)[index];
    case PMB_UINT16:
      return (float)((const uint16_t *)samples)[index];
    default:
      return ((const float *)samples)[index];
  }
}

/* Bit 0: the sample is inside. Bit 1: it is not finite; PMB gives no triangles to its cells. */
PMB_INLINE unsigned papers_scan_judge(const papers_scan_field *field, pmb_type type, float sample)
{
  const unsigned odd = type == PMB_FLOAT32 && !PMB_IS_FINITE(sample);
  return (unsigned)(sample >= field->threshold) | odd << 1;
}

/* The case of a cell, from what was judged of its corners, eight bits each. */
PMB_INLINE unsigned papers_scan_case(unsigned inside, unsigned odd)
{
  return odd ? 0 : inside;
}

PMB_INLINE uint32_t papers_scan_vertices(unsigned cell_case)
{
  return 3u * pmb_triangle_count[cell_case];
}

PMB_INLINE void papers_scan_place(const papers_scan_field *field, uint32_t voxel, int32_t place[3])
{
  const uint32_t nx = (uint32_t)field->dims[0], ny = (uint32_t)field->dims[1];
  const uint32_t row = voxel / nx;
  place[0] = (int32_t)(voxel - row * nx);
  place[1] = (int32_t)(row % ny);
  place[2] = (int32_t)(row / ny);
}

/* From a voxel to the sample that is a corner of its cell. */
PMB_INLINE int64_t papers_scan_step(const papers_scan_field *field, int corner)
{
  return (corner & 1) + field->dims[0] * ((corner >> 1 & 1) + (int64_t)field->dims[1] * (corner >> 2));
}

/* The point on an edge of the cell at `place`, whose corners have these samples. Its bits are PMB's: a sum in double,
 * then rounded. */
PMB_INLINE void papers_scan_point(
  const papers_scan_field *field, const int32_t place[3], int edge, float lower, float upper, float point[3])
{
  const double t = (double)pmb_edge_parameter_f32(lower, upper, field->value, field->value_low);
  const int axis = pmb_edge_axis(edge), corner = pmb_edge_lower(edge);
  for (int a = 0; a < 3; ++a) {
    point[a] = (float)((double)(place[a] + (corner >> a & 1)) + (axis == a ? t : 0.0));
  }
}

/* Three edges, for papers_scan_source. */
PMB_INLINE uint32_t papers_scan_edges(const uint8_t edges[3])
{
  return edges[0] | (uint32_t)edges[1] << 4 | (uint32_t)edges[2] << 8;
}

/* The normal of a triangle's plane, on the side of the samples below the isovalue; 0 without an area. */
PMB_INLINE void papers_scan_normal(const float points[9], float normal[3])
{
  const float *p = points, *q = points + 3, *r = points + 6;
  const float a[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] };
  const float b[3] = { r[0] - p[0], r[1] - p[1], r[2] - p[2] };
  const float n[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
  const float length2 = pmb_length2_f32(n[0], n[1], n[2]);
  const float factor = length2 > 0 ? 1 / sqrtf(length2) : 0;
  for (int i = 0; i < 3; ++i) {
    normal[i] = n[i] * factor;
  }
}

#endif
