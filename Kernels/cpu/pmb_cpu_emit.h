/* SPDX-License-Identifier: BSD-3-Clause
 * The passes that write the mesh, one brick at a time: vertices and triangles. Each looks at the next brick first, to ask for the
 * memory that this one needs. */
#ifndef PMB_CPU_EMIT_H
#define PMB_CPU_EMIT_H

#include "cpu/pmb_cpu_brick.h"

/* Asks for the memory of an output array that will be written soon, n bytes further on from what is written now: the arrays
 * take turns, so the hardware does not foresee them. May be beyond its end. 512 to 2048 were tried, see Docs/PERFORMANCE.md. */
enum { PMB_OUTPUT_AHEAD = 2048 };
PMB_INLINE void prefetch_output(const void *out, int n)
{
  for (int b = 0; b < n; b += 64) {
    __builtin_prefetch((const void *)((uintptr_t)out + PMB_OUTPUT_AHEAD + (uintptr_t)b), 1);
  }
}

/* The samples that the points of a brick need. Bit z * 5 + y of a word of rows
 * is row (y,z). */
typedef struct brick_plan {
  uint32_t ends[32];  /* row z * 5 + y, bit x: the sample is an end; the last ones 0 */
  uint32_t low, high; /* rows with ends in columns 0 to 15, 16 to 31 */
  uint32_t beyond;    /* rows with one in column 32 */
  uint64_t rows;      /* that are read, see rows_around */
  int from, to;       /* columns that are read of them */
} brick_plan;

/* pmb_cpu_vertices.c: finds what the points of a brick need, and asks for it. */
#define pmb_cpu_plan_points PMB_PATH_NAME(pmb_cpu_plan_points)
void pmb_cpu_plan_points(const pmb_cpu *cpu, const pmb_cpu_record *record, brick_plan *plan);

/* Pass vertices, one brick. first: of the brick's points in the output. */
#define pmb_cpu_emit_points PMB_PATH_NAME(pmb_cpu_emit_points)
void pmb_cpu_emit_points(
  const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const pmb_cpu_record *record, const brick_plan *plan, int64_t first);

/* A brick and those above it, [z][y][x]; NULL: outside the volume, or not active. */
typedef struct brick_family {
  const pmb_cpu_record *at[2][2][2];
} brick_family;

/* pmb_cpu_triangles.c: finds the family of a brick, and asks for its records. */
#define pmb_cpu_find_family PMB_PATH_NAME(pmb_cpu_find_family)
void pmb_cpu_find_family(const pmb_cpu *cpu, const pmb_cpu_record *record, brick_family *f);

/* Pass triangles, one brick. first: of the brick's triangles in the output; room: for so many from there on, of which those
 * that are not the brick's may be overwritten. */
#define pmb_cpu_emit_triangles PMB_PATH_NAME(pmb_cpu_emit_triangles)
void pmb_cpu_emit_triangles(
  const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const brick_family *family, int64_t first, int64_t room);

#endif
