/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files that are compiled once per instruction set, with PMB_CPU_PATH set to its name: names, loops, a brick's
 * box in the volume, its samples as words of bits, and the passes that pmb_cpu_emit.c calls. */
#ifndef PMB_CPU_BRICK_H
#define PMB_CPU_BRICK_H

#include "cpu/pmb_cpu.h"

/* The name of a function or table of this instruction set. */
#define PMB_PATH_NAME(name) PMB_JOIN(name##_, PMB_CPU_PATH)

/* Before a loop. gcc unrolls short loops first and then vectorizes only those that are still loops. */
#if defined(__GNUC__) && !defined(__clang__)
#define PMB_NOT_UNROLLED _Pragma("GCC unroll 1")
#define PMB_UNROLLED_5 _Pragma("GCC unroll 5")
#else
#define PMB_NOT_UNROLLED
#define PMB_UNROLLED_5
#endif
#define PMB_EACH_LANE(l) PMB_NOT_UNROLLED for (int l = 0; l < 16; ++l)

/* A brick's place in the volume. */
typedef struct box {
  int64_t origin[3]; /* its first sample */
  int n[3];          /* its samples in the volume along each axis, halo included */
  int clean;         /* its samples, one before them and the halo are finite; they and their cells are visible */
  int hides;         /* the brick or a neighbour has hidden samples */
} box;

/* Flags of the brick at this distance in bricks; outside the volume none. */
static inline int flags_beside(const pmb_cpu_surface *surface, const pmb_cpu_record *record, int dx, int dy, int dz)
{
  const int64_t x = record->position[0] + dx, y = record->position[1] + dy, z = record->position[2] + dz;
  const int exists =
    x >= 0 && y >= 0 && z >= 0 && x < surface->bricks[0] && y < surface->bricks[1] && z < surface->bricks[2];
  return exists ? surface->flags[x + surface->bricks[0] * (y + surface->bricks[1] * z)] : 0;
}

/* Fills *b in place, like functions below: a returned structure is copied by loads wider than the stores that wrote it, which
 * stalls. */
PMB_INLINE void find_box(const pmb_cpu_surface *surface, const pmb_cpu_record *record, box *b)
{
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  int clean = 1, hides = 0;
  for (int a = 0; a < 3; ++a) {
    b->origin[a] = record->position[a] * size[a];
    b->n[a] = pmb_cpu_extent(surface->volume->dims[a] - b->origin[a], (int)size[a]);
  }
  /* The flags of the brick and of those below cover samples -1 to 32. */
  for (int d = 0; surface->any_flags && d < 8; ++d) {
    clean &= !flags_beside(surface, record, -(d & 1), -(d >> 1 & 1), -(d >> 2));
  }
  for (int d = 0; surface->any_flags & PMB_BRICK_HIDES_SAMPLES && d < 27; ++d) {
    hides |= flags_beside(surface, record, d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1) & PMB_BRICK_HIDES_SAMPLES;
  }
  b->clean = clean;
  b->hides = hides;
}

static inline int64_t clamp(int64_t i, int64_t n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Prefetches columns `from` to `to` of the rows (y,z) of a brick whose bit (z + 1) * 7 + (y + 1) is set. The hardware does not,
 * because rows are far apart. */
PMB_INLINE void prefetch_samples(
  const pmb_cpu_surface *surface, const pmb_cpu_record *record, uint64_t rows, int from, int to)
{
  const pmb_volume *v = surface->volume;
  const int64_t bytes = (int64_t)pmb_type_size(v->type), origin = (int64_t)record->position[0] * PMB_BRICK_X;
  const int64_t first = clamp(origin + from, v->dims[0]) * bytes, last = clamp(origin + to, v->dims[0]) * bytes;
  int64_t row[PMB_TILE_ROWS];
  if (!rows || v->strides[0] != 1 || surface->is_cached) {
    return;
  }
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    row[i] = clamp((int64_t)record->position[1] * PMB_BRICK_Y + i - 1, v->dims[1]) * v->strides[1] * bytes;
  }
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    const int64_t z = clamp((int64_t)record->position[2] * PMB_BRICK_Z + i - 1, v->dims[2]);
    const char *layer = (const char *)v->samples + z * v->strides[2] * bytes;
    for (uint32_t rest = (uint32_t)(rows >> i * PMB_TILE_ROWS) & 0x7f; rest; rest &= rest - 1) {
      const char *samples = layer + row[pmb_lowest_bit(rest)];
      for (int64_t b = first; b < last; b += 64) {
        __builtin_prefetch(samples + b);
      }
      __builtin_prefetch(samples + last);
    }
  }
}

/* The first n of 32 columns. */
PMB_INLINE uint32_t first_bits(int n)
{
  return n >= 32 ? ~0u : (1u << n) - 1;
}

/* The four rows of samples around row i of cells; next: of the samples one further in x. */
PMB_INLINE void words_around(const pmb_cpu_words *words, uint32_t i, uint32_t row[4], uint32_t next[4])
{
  row[0] = words->low[i];
  row[1] = words->high[i];
  row[2] = words->low[i + 4];
  row[3] = words->high[i + 4];
  next[0] = words->low_next[i];
  next[1] = words->high_next[i];
  next[2] = words->low_next[i + 4];
  next[3] = words->high_next[i + 4];
}

/* Sets the bits of row (y,z) of samples; next: of the samples one further in x. */
PMB_INLINE void set_words(pmb_cpu_words *words, int y, int z, uint32_t word, uint32_t next)
{
  const int low = z * PMB_BRICK_Y + y, high = low - 1;
  if (y < PMB_BRICK_Y) {
    words->low[low] = word;
    words->low_next[low] = next;
  }
  if (y > 0) {
    words->high[high] = word;
    words->high_next[high] = next;
  }
}

/* The four rows of 33 samples around row i of cells, as pmb_cell_bits takes them. */
PMB_INLINE void rows_of_cells(const pmb_cpu_words *words, uint32_t i, uint64_t rows[4])
{
  uint32_t row[4], next[4];
  words_around(words, i, row, next);
  for (int r = 0; r < 4; ++r) {
    rows[r] = row[r] | (uint64_t)(next[r] >> 31) << 32;
  }
}

/* The bits of the eight corners of cell x of row i. */
PMB_INLINE unsigned bits_of_cell(const pmb_cpu_words *words, uint32_t i, int x)
{
  uint64_t rows[4];
  rows_of_cells(words, i, rows);
  return pmb_cell_bits(rows[0], rows[1], rows[2], rows[3], x);
}

/* The number of bits in each byte of a word; without popcnt, so that compilers can vectorize it. */
PMB_INLINE uint32_t count_in_bytes(uint32_t word)
{
  const uint32_t pairs = word - (word >> 1 & 0x55555555);
  const uint32_t fours = (pairs & 0x33333333) + (pairs >> 2 & 0x33333333);
  return (fours + (fours >> 4)) & 0x0f0f0f0f;
}

PMB_INLINE uint32_t sum_bytes(uint32_t bytes)
{
  const uint32_t halves = (bytes & 0x00ff00ff) + (bytes >> 8 & 0x00ff00ff);
  return (halves + (halves >> 16)) & 0xffff;
}

/* Bit i: words[i] is not 0. */
PMB_INLINE uint32_t rows_with_bits(const uint32_t *words)
{
  uint32_t rows = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    rows |= words[i] != 0 ? 1u << i : 0;
  }
  return rows;
}

/* Compares the samples of a brick, all finite and visible, in their own type. Returns the brick's rules. Only
 * PMB_RULES_JOINED sets `equal`; PMB_RULES_SPECIAL sets neither. */
#define pmb_cpu_compare_brick PMB_PATH_NAME(pmb_cpu_compare_brick)
int pmb_cpu_compare_brick(const pmb_cpu_surface *surface, const box *b, pmb_cpu_words *words, pmb_cpu_words *equal);

/* The row words of any brick, for rows from `from`, -1 or 0, to 4. */
#define pmb_cpu_read_rows PMB_PATH_NAME(pmb_cpu_read_rows)
void pmb_cpu_read_rows(const pmb_cpu_surface *surface, const box *b, int from, pmb_rows *rows);

/* Sets inside and equal bits of the 3 x 3 x 3 samples around sample `place` of a brick, for offsets from `low` to `high`. */
#define pmb_cpu_compare_around PMB_PATH_NAME(pmb_cpu_compare_around)
void pmb_cpu_compare_around(const pmb_cpu_surface *surface, const box *b, const int place[3], const int *low,
  const int *high, uint32_t *inside, uint32_t *equal);

/* pmb_cpu_classify.c: pass classify, one brick. */
#define pmb_cpu_classify_brick PMB_PATH_NAME(pmb_cpu_classify_brick)
void pmb_cpu_classify_brick(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, pmb_cpu_record *record);

/* ---- writing the mesh brick by brick, with the next brick's memory prefetched ---- */

/* Prefetches n bytes of an output array that come soon, or lie beyond its end. The hardware does not, because writes alternate
 * between arrays. For other distances see Docs/PERFORMANCE.md. */
enum { PMB_OUTPUT_AHEAD = 2048 };
PMB_INLINE void prefetch_output(const void *out, int n)
{
  for (int b = 0; b < n; b += 64) {
    __builtin_prefetch((const void *)((uintptr_t)out + PMB_OUTPUT_AHEAD + (uintptr_t)b), 1);
  }
}

/* The samples that the points of a brick need. Bit z * 5 + y of a word of rows is row (y,z). */
typedef struct brick_plan {
  uint32_t ends[32];  /* row z * 5 + y, bit x: the sample is an end; the last ones 0 */
  uint32_t low, high; /* rows with ends in columns 0 to 15, 16 to 31 */
  uint32_t beyond;    /* rows with one in column 32 */
  uint64_t rows;      /* to read, see rows_around */
  int from, to;       /* columns to read */
} brick_plan;

/* pmb_cpu_vertices.c: finds the samples that the points of a brick need, and prefetches them. */
#define pmb_cpu_plan_points PMB_PATH_NAME(pmb_cpu_plan_points)
void pmb_cpu_plan_points(const pmb_cpu_surface *surface, const pmb_cpu_record *record, brick_plan *plan);

/* Pass vertices, one brick. first: of the brick's points in the output. */
#define pmb_cpu_emit_points PMB_PATH_NAME(pmb_cpu_emit_points)
void pmb_cpu_emit_points(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const pmb_cpu_record *record,
  const brick_plan *plan, int64_t first);

/* A brick and those above it, [z][y][x]; NULL: outside the volume, or not active. */
typedef struct brick_family {
  const pmb_cpu_record *at[2][2][2];
} brick_family;

/* pmb_cpu_triangles.c: finds the family of a brick, and prefetches its records. */
#define pmb_cpu_find_family PMB_PATH_NAME(pmb_cpu_find_family)
void pmb_cpu_find_family(const pmb_cpu_surface *surface, const pmb_cpu_record *record, brick_family *f);

/* Pass triangles, one brick. first: of the brick's triangles in the output; room: triangles from there to the end of the
 * chunk's; surplus ids may overwrite those after the brick's own. */
#define pmb_cpu_emit_triangles PMB_PATH_NAME(pmb_cpu_emit_triangles)
void pmb_cpu_emit_triangles(
  const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, const brick_family *family, int64_t first, int64_t room);

#endif
