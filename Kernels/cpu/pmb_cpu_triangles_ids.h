/* SPDX-License-Identifier: BSD-3-Clause
 * Ids of the triangles of a brick. They have 32 bits. Where the mesh has ids of 64 bits they
 * count from the brick's first point, and are made wide from the first cache. */
#ifndef PMB_CPU_TRIANGLES_IDS_H
#define PMB_CPU_TRIANGLES_IDS_H

#include <string.h>

#include "cpu/pmb_cpu_triangles_cells.h"

/* Id of a record's first point. */
static inline int64_t first_point(const pmb_cpu *cpu, const pmb_cpu_record *record)
{
  const int64_t index = record - (const pmb_cpu_record *)cpu->found.records.data;
  return cpu->base.points + ((const pmb_sizes *)cpu->found.chunks.data)[index >> cpu->found.chunk_shift].points +
    record->points_before;
}

/* In the place of bricks that are not there. */
static const pmb_cpu_record no_record;

static inline const pmb_cpu_record *record_or_none(const pmb_cpu_record *record)
{
  return record ? record : &no_record;
}

/* The masks of the points of these first kinds that the brick's cells use, by kind and row z * 5 + y, columns 0 to 31 (dx 0), or
 * that are the next bricks' (dx 1); of the rows from 25 to 31 none. */
PMB_INLINE void gather_masks(const brick_family *f, int dx, const int kinds, uint32_t (*mask)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *here = record_or_none(f->at[0][0][dx]), *y = record_or_none(f->at[0][1][dx]);
  const pmb_cpu_record *z = record_or_none(f->at[1][0][dx]), *both = record_or_none(f->at[1][1][dx]);
  for (int kind = 0; kind < kinds; ++kind) {
    for (int layer = 0; layer < PMB_BRICK_Z; ++layer) {
      memcpy(&mask[kind][layer * 5], &here->mask[kind][layer * PMB_BRICK_Y], 4 * sizeof(uint32_t));
      mask[kind][layer * 5 + 4] = y->mask[kind][layer * PMB_BRICK_Y];
    }
    memcpy(&mask[kind][20], z->mask[kind], 4 * sizeof(uint32_t));
    mask[kind][24] = both->mask[kind][0];
    memset(&mask[kind][25], 0, 7 * sizeof(uint32_t));
  }
}

/* How many points each of 32 rows has by these masks. */
static inline void count_points(const uint32_t *mask, uint32_t *points)
{
#if defined(__AVX2__)
  for (int i = 0; i < 32; i += 8) {
    const __m256i words = _mm256_loadu_si256((const __m256i *)(mask + i));
    _mm256_storeu_si256((__m256i *)(points + i), bits_in_words(words));
  }
#else
  PMB_NOT_UNROLLED
  for (int i = 0; i < 32; ++i) {
    points[i] = sum_bytes(count_in_bytes(mask[i]));
  }
#endif
}

/* Whether one of these cells is in column 31, and so has corners in the next brick. */
static inline int reaches_beyond(const uint32_t *cells)
{
  uint32_t any = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    any |= cells[i];
  }
  return any >> (PMB_BRICK_X - 1) != 0;
}

/* What the ids of a brick's triangles count from: for each column of bricks along x in its family, [z][y], the point that is
 * id 0, or, if far, id 2^30 * (2 * z + y). */
typedef struct id_base {
  int64_t point[2][2];
  int far;
} id_base;

/* Whether points of a brick and of those above it may have numbers that differ by 2^32. Where all rules are checked it is taken
 * to be so, that this case is tested. */
static inline int is_far(const pmb_cpu *cpu)
{
  const int64_t most = UINT32_MAX / PMB_BRICK_MAX_POINTS, rows = cpu->bricks[1] + 2;
  return cpu->full_rules_only || cpu->bricks[0] > most / rows;
}

PMB_INLINE void find_base(const pmb_cpu *cpu, const brick_family *f, id_base *base)
{
  const int wide = cpu->mesh->id_type == PMB_INT64;
  const int64_t here = wide ? first_point(cpu, f->at[0][0][0]) : 0;
  base->far = wide && is_far(cpu);
  for (int i = 0; i < 4; ++i) {
    const pmb_cpu_record *const *row = f->at[i >> 1][i & 1], *first = row[0] ? row[0] : row[1];
    base->point[i >> 1][i & 1] = base->far && first ? first_point(cpu, first) : here;
  }
}

/* From n ids to those of the mesh. */
static inline void widen_ids(const id_base *base, const uint32_t *ids, int64_t *restrict out, int64_t n)
{
  const int64_t here = base->point[0][0];
  if (base->far) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = base->point[ids[i] >> 31][ids[i] >> 30 & 1] + (ids[i] & ((1u << 30) - 1));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = here + ids[i];
  }
}

/* Ids of the first points of n of a record's rows; begin: id of its first point. */
PMB_INLINE void firsts_of(const pmb_cpu_record *r, uint32_t begin, int row, const int n, uint32_t *ids)
{
  for (int l = 0; l < n; ++l) {
    ids[l] = begin + r->first[row + l];
  }
}

/* Ids of the first point of each of these first kinds, in each row that this brick of the family has, if it is there. mask: see
 * gather_masks. */
PMB_INLINE void find_firsts(const pmb_cpu *cpu, const brick_family *f, const id_base *base, int dx, const int kinds,
  const uint32_t (*mask)[PMB_EDGE_ROWS], uint32_t (*restrict first)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *r[4];
  uint32_t begin[4];
  for (int i = 0; i < 4; ++i) {
    const pmb_cpu_record *there = f->at[i >> 1][i & 1][dx];
    r[i] = record_or_none(there);
    begin[i] = there ? (uint32_t)(first_point(cpu, there) - base->point[i >> 1][i & 1]) : 0;
    begin[i] += base->far ? (uint32_t)i << 30 : 0;
  }
  for (int z = 0; z < PMB_BRICK_Z; ++z) {
    firsts_of(r[0], begin[0], PMB_BRICK_Y * z, PMB_BRICK_Y, first[0] + 5 * z);
    firsts_of(r[1], begin[1], PMB_BRICK_Y * z, 1, first[0] + 5 * z + 4);
  }
  firsts_of(r[2], begin[2], 0, PMB_BRICK_Y, first[0] + 20);
  firsts_of(r[3], begin[3], 0, 1, first[0] + 24);
  memset(first[0] + 25, 0, 7 * sizeof(uint32_t));
  for (int kind = 1; kind < kinds; ++kind) {
    uint32_t points[32];
    count_points(mask[kind - 1], points);
    PMB_NOT_UNROLLED
    for (int i = 0; i < 32; ++i) {
      first[kind][i] = first[kind - 1][i] + points[i];
    }
  }
}

/* The ids of a brick's triangles. mask: of the first kinds of its points; first, room: see pmb_cpu_emit_triangles. */
PMB_INLINE void emit_kinds(const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const brick_family *family, const int kinds,
  const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  uint32_t firsts[PMB_KINDS][PMB_EDGE_ROWS], beyond[PMB_KINDS][PMB_EDGE_ROWS] = { { 0 } };
  const uint32_t(*const_firsts)[PMB_EDGE_ROWS] = (const uint32_t(*)[PMB_EDGE_ROWS])firsts;
  const uint32_t(*const_beyond)[PMB_EDGE_ROWS] = (const uint32_t(*)[PMB_EDGE_ROWS])beyond;
  id_base base;
  find_base(cpu, family, &base);
  find_firsts(cpu, family, &base, 0, kinds, mask, firsts);
  if (reaches_beyond(scratch->cells)) {
    uint32_t next[PMB_KINDS][PMB_EDGE_ROWS];
    gather_masks(family, 1, kinds, next);
    find_firsts(cpu, family, &base, 1, kinds, (const uint32_t(*)[PMB_EDGE_ROWS])next, beyond);
  }
  if (cpu->mesh->id_type == PMB_INT32) {
    uint32_t *out = (uint32_t *)cpu->mesh->triangles + 3 * first;
    write_brick(cpu, scratch, mask, const_firsts, const_beyond, out, 3 * room, way_of_ids(out, out, 0), kinds);
  } else {
    uint32_t *ids = scratch->brick_ids;
    int64_t *out = (int64_t *)cpu->mesh->triangles + 3 * first;
    write_brick(cpu, scratch, mask, const_firsts, const_beyond, ids, PMB_BRICK_IDS, way_of_ids(ids, out, 1), kinds);
    widen_ids(&base, ids, out, 3 * family->at[0][0][0]->triangles);
  }
}

/* Of a brick whose points are joined; apart, so that the other is as fast as without. */
static __attribute__((noinline)) void emit_joined_ids(const pmb_cpu *cpu, pmb_cpu_scratch *scratch,
  const brick_family *family, const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  emit_kinds(cpu, scratch, family, PMB_KINDS, mask, first, room);
}

/* Of another one. */
static inline void emit_ids(const pmb_cpu *cpu, pmb_cpu_scratch *scratch, const brick_family *family,
  const uint32_t (*mask)[PMB_EDGE_ROWS], int64_t first, int64_t room)
{
  emit_kinds(cpu, scratch, family, PMB_SAMPLE, mask, first, room);
}

#endif
