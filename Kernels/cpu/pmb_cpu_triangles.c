/* SPDX-License-Identifier: BSD-3-Clause
 * Pass triangles. In plain bricks it reads no sample: the inside bits and the ids of points follow from the masks of the brick
 * and of those above it. */
#include <string.h>

#include "cpu/pmb_cpu_triangles_cells.h"

void pmb_cpu_find_family(const pmb_cpu_surface *surface, const pmb_cpu_record *record, brick_family *f)
{
  const int64_t x = record->position[0], y = record->position[1], z = record->position[2];
  const int64_t along_y = surface->bricks[0], along_z = along_y * surface->bricks[1];
  const uint32_t *map = surface->map + x + along_y * y + along_z * z;
  const int outside =
    (x + 1 == surface->bricks[0]) | (y + 1 == surface->bricks[1]) << 1 | (z + 1 == surface->bricks[2]) << 2;
  f->at[0][0][0] = record;
  for (int d = 1; d < 8; ++d) {
    const uint32_t index = d & outside ? PMB_NO_RECORD : map[(d & 1) + (d >> 1 & 1) * along_y + (d >> 2) * along_z];
    const pmb_cpu_record *above = index == PMB_NO_RECORD ? NULL : surface->records + index;
    f->at[d >> 2][d >> 1 & 1][d & 1] = above;
    for (size_t b = 0; above && d > 1 && b < sizeof(*above); b += 64) {
      __builtin_prefetch((const char *)above + b);
    }
  }
}

/* Replaces bricks that do not exist. */
static const pmb_cpu_record no_record;

static inline const pmb_cpu_record *record_or_none(const pmb_cpu_record *record)
{
  return record ? record : &no_record;
}

/* Gathers the masks of the first `kinds` kinds of points for the brick's cells, see brick_points: dx 0: of the brick and those
 * above it; dx 1: of the next bricks along x. */
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

/* The inside words of a brick without joined points. Inside changes across each edge with a point. */
static void words_from_masks(const pmb_cpu_record *record, const brick_points *points, pmb_cpu_words *words)
{
  uint32_t first = points->mask[PMB_EDGE_X][0] << 1;
  for (int shift = 1; shift < 32; shift *= 2) {
    first ^= first << shift;
  }
  first ^= record->inside ? UINT32_MAX : 0;
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    uint32_t word = first;
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      set_words(words, y, z, word, word ^ points->mask[PMB_EDGE_X][5 * z + y]);
      word ^= points->mask[PMB_EDGE_Y][5 * z + y];
    }
    first ^= points->mask[PMB_EDGE_Z][5 * z];
  }
}

/* The same from rows of 64 bits. */
static void words_from_rows(uint64_t (*rows)[6], pmb_cpu_words *words)
{
  for (int i = 0; i < 25; ++i) {
    const uint64_t row = rows[i / 5 + 1][i % 5 + 1];
    set_words(words, i % 5, i / 5, (uint32_t)(row >> 1), (uint32_t)(row >> 2));
  }
}

/* Finds the cells of a brick whose corners are neither all inside nor all outside: bit x of cells[z * 4 + y]. */
static void find_cells(const pmb_cpu_words *words, const int *n, uint32_t *restrict cells)
{
  const uint32_t columns = first_bits(n[0] - 1);
  const int ny = n[1], nz = n[2];
  for (uint32_t i = 0; i < PMB_BRICK_ROWS; ++i) {
    const uint32_t in_y = ((int)i & 3) + 1 < ny ? columns : 0, in_z = ((int)i >> 2) + 1 < nz ? columns : 0;
    uint32_t row[4], next[4];
    words_around(words, i, row, next);
    const uint32_t any = row[0] | row[1] | row[2] | row[3] | next[0] | next[1] | next[2] | next[3];
    const uint32_t all = row[0] & row[1] & row[2] & row[3] & next[0] & next[1] & next[2] & next[3];
    cells[i] = any & ~all & in_y & in_z;
  }
}

/* The cell of each triangle, in the order of the triangles. */
static void emit_cells(const pmb_cpu_surface *surface, const pmb_cpu_scratch *scratch, const pmb_cpu_record *record,
  int joined, int64_t *out)
{
  const int64_t *dims = surface->volume->dims;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int64_t j = (int64_t)record->position[1] * PMB_BRICK_Y + (row & 3);
    const int64_t k = (int64_t)record->position[2] * PMB_BRICK_Z + (row >> 2);
    const int64_t first = (int64_t)record->position[0] * PMB_BRICK_X + (dims[0] - 1) * (j + (dims[1] - 1) * k);
    for (uint32_t cells = scratch->cells[row]; cells; cells &= cells - 1) {
      const int x = pmb_lowest_bit(cells);
      pmb_cpu_case made;
      const unsigned cell_case = bits_of_cell(&scratch->inside, (uint32_t)row, x);
      const unsigned equal = joined ? bits_of_cell(&scratch->equal, (uint32_t)row, x) : 0;
      for (int ids = find_case(surface->tables, cell_case, equal, joined, &made)->ids; ids > 0; ids -= 3) {
        *out++ = first + x;
      }
    }
  }
}

/* Finds the masks of a brick's points, the words of its samples, and its cells with triangles. Returns how many kinds of
 * points it has. */
static int find_triangles(
  const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const brick_family *family, brick_points *points)
{
  const pmb_cpu_record *record = family->at[0][0][0];
  box b;
  find_box(surface, record, &b);
  if (record->rules == PMB_RULES_PLAIN) {
    gather_masks(family, 0, PMB_SAMPLE, points->mask);
    words_from_masks(record, points, &scratch->inside);
    find_cells(&scratch->inside, b.n, scratch->cells);
    return PMB_SAMPLE;
  }
  gather_masks(family, 0, PMB_KINDS, points->mask);
  if (record->rules == PMB_RULES_JOINED) {
    pmb_cpu_compare_brick(surface, &b, &scratch->inside, &scratch->equal);
  } else {
    pmb_cpu_read_rows(surface, &b, 0, &scratch->rows);
    words_from_rows(scratch->rows.inside, &scratch->inside);
    words_from_rows(scratch->rows.equal, &scratch->equal);
  }
  find_cells(&scratch->inside, b.n, scratch->cells);
  for (int row = 0; record->rules == PMB_RULES_SPECIAL && row < PMB_BRICK_ROWS; ++row) {
    scratch->cells[row] &= pmb_own_columns(pmb_valid_cells(&scratch->rows, (row & 3) + 1, (row >> 2) + 1));
  }
  return surface->isovalue->join ? PMB_KINDS : PMB_SAMPLE;
}

/* ---- ids are made with 32 bits; those for 64 count from the brick's first point and are widened in the cache ---- */

/* Id of a record's first point. */
static inline int64_t first_point(const pmb_cpu_surface *surface, const pmb_cpu_record *record)
{
  const int64_t index = record - surface->records;
  return surface->base.points + surface->chunks[index >> surface->chunk_shift].points + record->points_before;
}

/* The bases of 32-bit ids, for each row of bricks along x in the family, [z][y]: the point with id 0, or, if far, with id 2^30 *
 * (2 * z + y). */
typedef struct id_base {
  int64_t point[2][2];
  int far;
} id_base;

/* Whether ids of points in a family may differ by 2^32. Always 1 on the "reference" path, for tests. */
static inline int is_far(const pmb_cpu_surface *surface)
{
  const int64_t most = UINT32_MAX / PMB_BRICK_MAX_POINTS, rows = surface->bricks[1] + 2;
  return surface->full_rules_only || surface->bricks[0] > most / rows;
}

PMB_INLINE void find_base(const pmb_cpu_surface *surface, const brick_family *f, id_base *base)
{
  const int wide = surface->mesh->id_type == PMB_INT64;
  const int64_t here = wide ? first_point(surface, f->at[0][0][0]) : 0;
  base->far = wide && is_far(surface);
  for (int i = 0; i < 4; ++i) {
    const pmb_cpu_record *const *row = f->at[i >> 1][i & 1], *first = row[0] ? row[0] : row[1];
    base->point[i >> 1][i & 1] = base->far && first ? first_point(surface, first) : here;
  }
}

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

/* Finds the id of the first point of each row and kind, for the first `kinds` kinds. dx, mask: see gather_masks. */
PMB_INLINE void find_firsts(const pmb_cpu_surface *surface, const brick_family *f, const id_base *base, int dx,
  const int kinds, uint32_t (*mask)[PMB_EDGE_ROWS], uint32_t (*restrict first)[PMB_EDGE_ROWS])
{
  const pmb_cpu_record *r[4];
  uint32_t begin[4];
  for (int i = 0; i < 4; ++i) {
    const pmb_cpu_record *there = f->at[i >> 1][i & 1][dx];
    r[i] = record_or_none(there);
    begin[i] = there ? (uint32_t)(first_point(surface, there) - base->point[i >> 1][i & 1]) : 0;
    begin[i] += base->far ? (uint32_t)i << 30 : 0;
  }
  PMB_UNROLLED_5
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    PMB_UNROLLED_5
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      const int i = (z == PMB_BRICK_Z) << 1 | (y == PMB_BRICK_Y);
      first[0][5 * z + y] = begin[i] + r[i]->first[z % PMB_BRICK_Z * PMB_BRICK_Y + y % PMB_BRICK_Y];
    }
  }
  memset(first[0] + 25, 0, 7 * sizeof(uint32_t));
  for (int kind = 1; kind < kinds; ++kind) {
    PMB_NOT_UNROLLED
    for (int i = 0; i < 32; ++i) {
      first[kind][i] = first[kind - 1][i] + sum_bytes(count_in_bytes(mask[kind - 1][i]));
    }
  }
}

/* Writes the ids of a brick's triangles. points: with masks; first, room: see pmb_cpu_emit_triangles. */
PMB_INLINE void emit_ids(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const brick_family *family,
  const int kinds, brick_points *points, int64_t first, int64_t room)
{
  id_base base;
  uint32_t cells = 0;
  find_base(surface, family, &base);
  find_firsts(surface, family, &base, 0, kinds, points->mask, points->first);
  memset(points->beyond, 0, sizeof(points->beyond));
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    cells |= scratch->cells[i];
  }
  if (cells >> 31) { /* cells in column 31 have corners in the next brick */
    uint32_t next[PMB_KINDS][PMB_EDGE_ROWS];
    gather_masks(family, 1, kinds, next);
    find_firsts(surface, family, &base, 1, kinds, next, points->beyond);
  }
  if (surface->mesh->id_type == PMB_INT32) {
    uint32_t *out = (uint32_t *)surface->mesh->triangles + 3 * first;
    write_brick(surface, scratch, points, out, 3 * room, way_of_ids(out, out, 0), kinds);
  } else {
    uint32_t *ids = scratch->brick_ids;
    int64_t *out = (int64_t *)surface->mesh->triangles + 3 * first;
    write_brick(surface, scratch, points, ids, PMB_BRICK_IDS, way_of_ids(ids, out, 1), kinds);
    widen_ids(&base, ids, out, 3 * family->at[0][0][0]->triangles);
  }
}

void pmb_cpu_emit_triangles(
  const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const brick_family *family, int64_t first, int64_t room)
{
  const pmb_mesh *mesh = surface->mesh;
  brick_points points;
  const int kinds = find_triangles(surface, scratch, family, &points);
  if (mesh->triangles && kinds == PMB_KINDS) {
    emit_ids(surface, scratch, family, PMB_KINDS, &points, first, room);
  } else if (mesh->triangles) {
    emit_ids(surface, scratch, family, PMB_SAMPLE, &points, first, room);
  }
  if (mesh->cells) {
    emit_cells(surface, scratch, family->at[0][0][0], kinds == PMB_KINDS, mesh->cells + first);
  }
}
