/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files that are compiled once per instruction set, with PMB_CPU_PATH set to its name: names and loops, a
 * brick where it lies in the volume, its samples as words of bits, and the passes that pmb_cpu_emit.c calls. */
#ifndef PMB_CPU_BRICK_H
#define PMB_CPU_BRICK_H

#include "cpu/pmb_cpu.h"

/* The name of a function or table of this instruction set. */
#define PMB_PATH_NAME(name) PMB_JOIN(name##_, PMB_CPU_PATH)

/* Before a loop: gcc turns it into vector instructions only while it is a loop, and unrolls a short one first. */
#if defined(__GNUC__) && !defined(__clang__)
#define PMB_NOT_UNROLLED _Pragma("GCC unroll 1")
#define PMB_UNROLLED_5 _Pragma("GCC unroll 5")
#else
#define PMB_NOT_UNROLLED
#define PMB_UNROLLED_5
#endif
#define PMB_EACH_LANE(l) PMB_NOT_UNROLLED for (int l = 0; l < 16; ++l)

/* Where a brick lies. */
typedef struct box {
  int64_t origin[3]; /* its first sample */
  int n[3];          /* its samples in the volume along each axis, halo included */
  int clean;         /* its samples from -1 to 32 are finite, and they and their cells are visible */
  int hides;         /* samples around may be hidden */
} box;

/* Flags of the brick that is so many bricks further; outside the volume none. */
static inline int flags_beside(const pmb_cpu *cpu, const pmb_cpu_record *record, int dx, int dy, int dz)
{
  const int64_t x = record->position[0] + dx, y = record->position[1] + dy, z = record->position[2] + dz;
  const int exists = x >= 0 && y >= 0 && z >= 0 && x < cpu->bricks[0] && y < cpu->bricks[1] && z < cpu->bricks[2];
  return exists ? ((const uint8_t *)cpu->flags.data)[x + cpu->bricks[0] * (y + cpu->bricks[1] * z)] : 0;
}

/* Like the others below written where it stays: a structure given back is copied in larger pieces than it was written in, and
 * waits for these to leave the processor's store queue. */
PMB_INLINE void find_box(const pmb_cpu *cpu, const pmb_cpu_record *record, box *b)
{
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  int clean = 1, hides = 0;
  for (int a = 0; a < 3; ++a) {
    b->origin[a] = record->position[a] * size[a];
    b->n[a] = pmb_cpu_extent(cpu->volume->dims[a] - b->origin[a], (int)size[a]);
  }
  /* The flags of the brick and of those below cover samples -1 to 32. */
  for (int d = 0; cpu->any_flags && d < 8; ++d) {
    clean &= !flags_beside(cpu, record, -(d & 1), -(d >> 1 & 1), -(d >> 2));
  }
  for (int d = 0; cpu->any_flags & PMB_BRICK_HIDES_SAMPLES && d < 27; ++d) {
    hides |= flags_beside(cpu, record, d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1) & PMB_BRICK_HIDES_SAMPLES;
  }
  b->clean = clean;
  b->hides = hides;
}

static inline int64_t clamp(int64_t i, int64_t n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Inside bits of a brick's 33 x 5 x 5 samples. Row z * 4 + y of `low` is (y,z), of `high` (y + 1,z), so that the rows of 16
 * cells are side by side in memory; the other two are the same of the samples one further in x. Rows and columns outside the
 * volume can be anything. */
typedef struct pmb_cpu_words {
  uint32_t low[20], high[20], low_next[20], high_next[20];
} pmb_cpu_words;

/* The first n of 32 columns. */
PMB_INLINE uint32_t first_bits(int n)
{
  return n >= 32 ? ~0u : (1u << n) - 1;
}

/* The four rows of samples around row i of cells, and the samples one further in x. */
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

/* The bits of a word, counted in each of its bytes; without an instruction of its own, so that vectors can be used. */
PMB_INLINE uint32_t count_in_bytes(uint32_t word)
{
  const uint32_t pairs = word - (word >> 1 & 0x55555555);
  const uint32_t fours = (pairs & 0x33333333) + (pairs >> 2 & 0x33333333);
  return (fours + (fours >> 4)) & 0x0f0f0f0f;
}

/* Sum of four bytes. */
PMB_INLINE uint32_t sum_bytes(uint32_t bytes)
{
  const uint32_t halves = (bytes & 0x00ff00ff) + (bytes >> 8 & 0x00ff00ff);
  return (halves + (halves >> 16)) & 0xffff;
}

/* Bit row: the word of that row is not 0. */
PMB_INLINE uint32_t rows_with_bits(const uint32_t *words)
{
  uint32_t rows = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    rows |= words[i] != 0 ? 1u << i : 0;
  }
  return rows;
}

/* Compares the samples of a brick whose samples are finite and visible, in their own type. Returns by which rules it goes on;
 * with PMB_RULES_JOINED `equal` has bits, with PMB_RULES_SPECIAL both are not set. */
#define pmb_cpu_compare_brick PMB_PATH_NAME(pmb_cpu_compare_brick)
int pmb_cpu_compare_brick(const pmb_cpu *cpu, const box *b, pmb_cpu_words *words, pmb_cpu_words *equal);

/* The row words of any brick, for rows from `from`, -1 or 0, to 4. */
#define pmb_cpu_read_rows PMB_PATH_NAME(pmb_cpu_read_rows)
void pmb_cpu_read_rows(const pmb_cpu *cpu, const box *b, int from, pmb_rows *rows);

/* Sets the inside and equal bits of the 3 x 3 x 3 samples around sample `place` of a brick, as far as they are within low and
 * high. */
#define pmb_cpu_compare_around PMB_PATH_NAME(pmb_cpu_compare_around)
void pmb_cpu_compare_around(const pmb_cpu *cpu, const box *b, const int place[3], const int *low, const int *high,
  uint32_t *inside, uint32_t *equal);

/* ---- what writes the mesh, one brick at a time; each looks at the next brick first, to ask for its memory ---- */

/* Asks for n bytes of an output array that will be written soon: the arrays take turns, so the hardware does not foresee
 * them. May be beyond its end. 512 to 2048 were tried, see Docs/PERFORMANCE.md. */
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
