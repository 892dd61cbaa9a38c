/* SPDX-License-Identifier: BSD-3-Clause
 * The measures of a mesh: what the passes of pmb_measures.c and their loops in pmb_measures_loops.c share. */
#ifndef PMB_MEASURES_H
#define PMB_MEASURES_H

#include <stdatomic.h>

#include "core/pmb_memory.h"

enum { PMB_MEASURES_CHUNK = 4096 }; /* triangles, or points, per unit of parallel work */

/* What a chunk of triangles adds. */
typedef struct pmb_chunk_sums {
  double area, volume; /* 2 and 6 times */
  double largest;      /* coordinate, by magnitude; only for double points */
  int64_t triangles;
  int64_t lowest, highest; /* ids, counted from the part's first */
  uint64_t ranges;         /* that have records of its triangles: bit i stands for ranges i, i + 64, ... */
} pmb_chunk_sums;

/* What a worker has seen of a range. */
typedef struct pmb_range_use {
  int64_t records;
  int64_t first_chunk, end_chunk; /* of triangles with such records */
} pmb_range_use;

/* The work on one part. */
typedef struct pmb_measuring {
  const pmb_mesh *mesh;
  const uint8_t *flags; /* of the part's triangles, or NULL */
  uint8_t left_out;
  int workers;
  pmb_sizes before, size; /* of the parts before, and of this one */
  double scale, unit;     /* coordinates are multiplied by scale = 1 / unit, a power of two */
  pmb_buffer chunks;      /* of triangles: pmb_chunk_sums */
  /* By point: a lower point of the same component, or itself; -1 if no triangle uses it. As wide as ids; so are records. */
  pmb_buffer parents;
  int range_bits;
  int64_t range_count;
  pmb_buffer uses; /* pmb_range_use of each range: of each worker, then of worker 0 those of all */
  /* Of each worker: where in its records those of each point end, and the records: lower point << 1 | the triangle runs
   * from the lower point to the higher one. */
  pmb_buffer ends, records;
  int64_t record_capacity;
  atomic_llong edges, boundary_edges, nonmanifold_edges, unpaired_edges;
  atomic_llong points, components;
} pmb_measuring;

/* The loops; m: a pmb_measuring, i: of units of work. */
/* A chunk of points: no triangle uses them. */
void pmb_measures_forget(void *m, int worker, size_t i);
/* A chunk of triangles: its pmb_chunk_sums, its share of pmb_range_use, and which points are used. */
void pmb_measures_sum(void *m, int worker, size_t i);
/* A range of points: the edges down from them; joins components. */
void pmb_measures_match(void *m, int worker, size_t i);
/* A chunk of points: counts points and components. */
void pmb_measures_roots(void *m, int worker, size_t i);

static inline int64_t pmb_measures_chunks(int64_t n)
{
  return (n + PMB_MEASURES_CHUNK - 1) / PMB_MEASURES_CHUNK;
}

static inline int64_t pmb_least_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t pmb_greatest_of(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

#endif
