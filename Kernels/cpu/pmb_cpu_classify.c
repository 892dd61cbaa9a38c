/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify: finds the edges and samples of each active brick that have points, and counts its triangles. Nearly all
 * bricks take sums of bits. Cells around joined samples are looked up one by one. Bricks with samples that are hidden or not
 * finite take all rules of pmb_brick.h. */
#include "cpu/pmb_cpu_brick.h"

/* ---- all samples finite: sums of bits in place of loops over cells ---- */

/* A number of up to 4 bits for each of 32 cells: bit x of bits[i] is bit i of the number of cell x. */
typedef struct sliced {
  uint32_t bits[4];
} sliced;

/* A full adder: returns the low bits of the sums of a, b and c; *carry: the high bits. */
PMB_INLINE uint32_t add_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t *carry)
{
  const uint32_t half = a ^ b;
  *carry = (a & b) | (half & c);
  return half ^ c;
}

/* Finds the crossed edges of 32 cells, numbered as in pmb_cell.h. row, next: see words_around. */
PMB_INLINE void find_crossed(const uint32_t row[4], const uint32_t next[4], uint32_t edge[PMB_CELL_EDGES])
{
  for (int i = 0; i < 4; ++i) {
    edge[i] = row[i] ^ next[i];
  }
  for (int i = 0; i < 2; ++i) {
    const uint32_t *at = i == 0 ? row : next;
    edge[4 + i] = at[0] ^ at[1];
    edge[6 + i] = at[2] ^ at[3];
    edge[8 + i] = at[0] ^ at[2];
    edge[10 + i] = at[1] ^ at[3];
  }
}

/* The number of crossed edges of each cell. */
PMB_INLINE sliced count_crossed(const uint32_t edge[PMB_CELL_EDGES])
{
  uint32_t s[5], c[6], d[3];
  sliced n;
  for (int i = 0; i < 4; ++i) {
    s[i] = add_bits(edge[3 * i], edge[3 * i + 1], edge[3 * i + 2], &c[i]);
  }
  s[4] = add_bits(s[0], s[1], s[2], &c[4]);
  n.bits[0] = s[3] ^ s[4];
  c[5] = s[3] & s[4];
  const uint32_t low = add_bits(c[0], c[1], c[2], &d[0]), high = add_bits(c[3], c[4], c[5], &d[1]);
  n.bits[1] = low ^ high;
  d[2] = low & high;
  n.bits[2] = add_bits(d[0], d[1], d[2], &n.bits[3]);
  return n;
}

/* Cells that may have more than one loop: those with six or more crossed edges that also have an ambiguous face (three crossed
 * edges in a row on it, so all four) or a corner at lower z with three crossed edges. All 256 cases were tried: no other has
 * several loops. Smooth surfaces have few such cells. */
PMB_INLINE uint32_t find_looped(const uint32_t edge[PMB_CELL_EDGES], const sliced *count)
{
  const uint32_t *x = edge, *y = edge + 4, *z = edge + 8;
  const uint32_t faces = (x[0] & y[0] & y[1]) | (x[2] & y[2] & y[3]) | (x[0] & z[0] & z[1]) | (x[1] & z[2] & z[3]) |
    (y[0] & z[0] & z[2]) | (y[1] & z[1] & z[3]);
  const uint32_t corners = (x[0] & y[0] & z[0]) | (x[0] & y[1] & z[1]) | (x[1] & y[0] & z[2]) | (x[1] & y[1] & z[3]);
  return (faces | corners) & ((count->bits[1] & count->bits[2]) | count->bits[3]);
}

/* Loops of these cells of row i beyond the first of each. */
static inline uint32_t count_further_loops(
  const pmb_cpu_surface *surface, const pmb_cpu_words *words, int i, uint32_t cells)
{
  uint32_t loops = 0;
  for (; cells; cells &= cells - 1) {
    loops += surface->tables->further_loops[bits_of_cell(words, (uint32_t)i, pmb_lowest_bit(cells))];
  }
  return loops;
}

/* Removes edges that end at an equal sample, and moves cells around such samples from `here` to the result. */
PMB_INLINE uint32_t leave_joined(const pmb_cpu_words *equal, uint32_t i, uint32_t edges[3], uint32_t *here)
{
  uint32_t row[4], next[4], touched = 0;
  words_around(equal, i, row, next);
  edges[0] &= ~(row[0] | next[0]);
  edges[1] &= ~(row[0] | row[1]);
  edges[2] &= ~(row[0] | row[2]);
  for (int r = 0; r < 4; ++r) {
    touched |= row[r] | next[r];
  }
  touched &= *here;
  *here &= ~touched;
  return touched;
}

/* Sets mask, first, inside, points and triangles of the record. A cell has as many triangles as crossed edges, less two for each
 * loop of them. n: samples of the brick along each axis, halo included. With `join` it leaves out cells around equal samples,
 * which it puts into `joined` (bit x of row z * 4 + y), and sample points: mask[PMB_SAMPLE] is 0. */
PMB_INLINE void sum_content(const pmb_cpu_surface *surface, const pmb_cpu_words *words, const pmb_cpu_words *equal,
  const int *n, const int join, uint32_t *joined, pmb_cpu_record *record)
{
  uint32_t looped[PMB_BRICK_ROWS], points[PMB_BRICK_ROWS], any_looped = 0, crossed = 0, loops = 0, before = 0;
  const uint32_t samples = first_bits(n[0]), cells = first_bits(n[0] - 1);
  for (uint32_t i = 0; i < PMB_BRICK_ROWS; ++i) {
    const int y = (int)i & 3, z = (int)i >> 2;
    uint32_t row[4], next[4], edge[PMB_CELL_EDGES];
    words_around(words, i, row, next);
    const uint32_t in_y = y < n[1] ? ~0u : 0, in_z = z < n[2] ? ~0u : 0;
    const uint32_t above_y = y + 1 < n[1] ? in_z : 0, above_z = z + 1 < n[2] ? in_y : 0;
    uint32_t own[3] = { (row[0] ^ next[0]) & cells & in_y & in_z, (row[0] ^ row[1]) & samples & above_y,
      (row[0] ^ row[2]) & samples & above_z };
    uint32_t here = cells & above_y & above_z;
    find_crossed(row, next, edge);
    const sliced edges = count_crossed(edge);
    const uint32_t mixed = edges.bits[0] | edges.bits[1] | edges.bits[2] | edges.bits[3];
    if (join) {
      joined[i] = leave_joined(equal, i, own, &here) & mixed;
    }
    for (int axis = 0; axis < 3; ++axis) {
      record->mask[axis][i] = own[axis];
    }
    record->mask[PMB_SAMPLE][i] = 0;
    points[i] = sum_bytes(count_in_bytes(own[0]) + count_in_bytes(own[1]) + count_in_bytes(own[2]));
    crossed += sum_bytes(count_in_bytes(edges.bits[0] & here) + 2 * count_in_bytes(edges.bits[1] & here) +
      4 * count_in_bytes(edges.bits[2] & here) + 8 * count_in_bytes(edges.bits[3] & here));
    loops += sum_bytes(count_in_bytes(mixed & here));
    looped[i] = find_looped(edge, &edges) & here;
    any_looped |= looped[i];
  }
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    record->first[i] = (uint16_t)before;
    before += points[i];
  }
  for (int i = 0; any_looped && i < PMB_BRICK_ROWS; ++i) {
    if (looped[i]) {
      loops += count_further_loops(surface, words, i, looped[i]);
    }
  }
  record->inside = words->low[0] & 1;
  record->points = before;
  record->triangles = crossed - 2 * loops;
}

/* ---- samples joined ---- */

/* Marks the samples that the joined cells of a brick use, row z * 5 + y; returns the triangles of these cells. */
static uint32_t look_up_joined(const pmb_cpu_tables *tables, const pmb_cpu_words *inside, const pmb_cpu_words *same,
  const uint32_t *joined, uint32_t marks[PMB_EDGE_ROWS])
{
  uint32_t triangles = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    for (uint32_t rest = joined[i]; rest; rest &= rest - 1) {
      const int x = pmb_lowest_bit(rest);
      const unsigned cell_case = bits_of_cell(inside, (uint32_t)i, x);
      const unsigned equal = bits_of_cell(same, (uint32_t)i, x);
      const uint32_t kept = tables->kept[tables->power[cell_case] + tables->power[equal]];
      triangles += kept >> 8;
      for (uint32_t used = kept & 0xff; used; used &= used - 1) {
        const int c = pmb_lowest_bit(used);
        marks[((i >> 2) + (c >> 2)) * 5 + (i & 3) + (c >> 1 & 1)] |= (1u << x) << (c & 1);
      }
    }
  }
  return triangles;
}

/* Bits of a cell from those of 3 x 3 x 3 samples; first: bit of its lowest corner. */
PMB_INLINE unsigned cell_of_27(uint32_t bits, int first)
{
  const uint32_t b = bits >> first;
  return (b & 3) | (b >> 1 & 0xc) | (b >> 5 & 0x30) | (b >> 6 & 0xc0);
}

/* Whether a cell of another brick uses the point on the joined sample (x,y,z) of a brick. */
static int is_used_below(const pmb_cpu_surface *surface, const box *b, int x, int y, int z)
{
  const pmb_cpu_tables *tables = surface->tables;
  const pmb_volume *v = surface->volume;
  const int place[3] = { x, y, z };
  int low[3], high[3]; /* offsets of its neighbours in the volume */
  uint32_t inside = 0, equal = 0;
  for (int a = 0; a < 3; ++a) {
    const int64_t i = b->origin[a] + place[a];
    low[a] = i > 0 ? -1 : 0;
    high[a] = i + 1 < v->dims[a] ? 1 : 0;
  }
  pmb_cpu_compare_around(surface, b, place, low, high, &inside, &equal);
  for (int d = 1; d < 8; ++d) { /* bit a: the cell below along this axis */
    int exists = 1, other = 0;
    for (int a = 0; a < 3; ++a) {
      const int below = d >> a & 1;
      exists &= below ? low[a] < 0 : high[a] > 0;
      other |= below && place[a] == 0;
    }
    if (exists && other) {
      const int first = !(d & 1) + 3 * !(d & 2) + 9 * !(d & 4);
      const unsigned cell_case = cell_of_27(inside, first), same = cell_of_27(equal, first);
      if (tables->kept[tables->power[cell_case] + tables->power[same]] >> d & 1) {
        return 1;
      }
    }
  }
  return 0;
}

static void joined_content(const pmb_cpu_surface *surface, const box *b, const pmb_cpu_words *words,
  const pmb_cpu_words *equal, pmb_cpu_record *record)
{
  uint32_t joined[PMB_BRICK_ROWS], marks[PMB_EDGE_ROWS] = { 0 }, points = 0;
  sum_content(surface, words, equal, b->n, 1, joined, record);
  record->triangles += look_up_joined(surface->tables, words, equal, joined, marks);
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    const int y = i & 3, z = i >> 2;
    const uint32_t own = y < b->n[1] && z < b->n[2] ? first_bits(b->n[0]) : 0, face = y == 0 || z == 0 ? ~0u : 1;
    uint32_t mark = marks[z * 5 + y];
    /* Cells of other bricks may use samples on the brick's lower faces. */
    for (uint32_t rest = equal->low[i] & ~mark & face & own; rest; rest &= rest - 1) {
      const int x = pmb_lowest_bit(rest);
      mark |= (uint32_t)is_used_below(surface, b, x, y, z) << x;
    }
    record->mask[PMB_SAMPLE][i] = mark;
    record->first[i] = (uint16_t)(record->first[i] + points);
    points += (uint32_t)pmb_popcount(mark);
  }
  record->points += points;
}

/* Pass classify, one brick, by the full rules. */
static void classify_by_full_rules(
  const pmb_cpu_surface *surface, const box *b, pmb_rows *rows, pmb_cpu_record *record)
{
  pmb_content content;
  pmb_cpu_read_rows(surface, b, -1, rows);
  pmb_special_content(rows, &content);
  uint16_t first = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    record->first[row] = first;
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      record->mask[kind][row] = content.mask[kind][row];
      first = (uint16_t)(first + pmb_popcount(content.mask[kind][row]));
    }
  }
  record->points = first;
  record->triangles = (uint32_t)content.triangles;
}

/* Pass classify, one brick. Returns 0 if it needs the full rules. */
static int classify_by_bits(const pmb_cpu_surface *surface, const box *b, pmb_cpu_record *record)
{
  pmb_cpu_words words, equal;
  int rules = PMB_RULES_SPECIAL;
  if (b->clean && !surface->full_rules_only) {
    rules = pmb_cpu_compare_brick(surface, b, &words, &equal);
  }
  if (rules == PMB_RULES_PLAIN) {
    sum_content(surface, &words, NULL, b->n, 0, NULL, record);
  } else if (rules == PMB_RULES_JOINED) {
    joined_content(surface, b, &words, &equal, record);
  }
  record->rules = (uint16_t)rules;
  return rules != PMB_RULES_SPECIAL;
}

void pmb_cpu_classify_brick(const pmb_cpu_surface *surface, pmb_cpu_scratch *scratch, pmb_cpu_record *record)
{
  box b;
  find_box(surface, record, &b);
  if (!classify_by_bits(surface, &b, record)) {
    classify_by_full_rules(surface, &b, &scratch->rows, record);
  }
}

/* Prefetch distance; for others see Docs/PERFORMANCE.md. */
enum { BRICKS_AHEAD = 3 };

/* The brick's rows, halo included, for prefetch_samples. */
#define ROWS_OF_BRICK 0x1f3e7cf9f00u

void PMB_PATH_NAME(pmb_cpu_classify)(void *data, int worker, size_t i)
{
  const pmb_cpu_surface *surface = data;
  pmb_cpu_scratch *scratch = pmb_cpu_scratch_of(surface, worker);
  pmb_cpu_record *records = surface->records;
  const int64_t begin = (int64_t)i << surface->chunk_shift;
  const int64_t end = pmb_smaller(begin + ((int64_t)1 << surface->chunk_shift), surface->record_count);
  uint32_t points = 0, triangles = 0;
  for (int64_t r = begin - BRICKS_AHEAD; r < end; ++r) {
    if (r + BRICKS_AHEAD < end && !surface->is_cached) {
      prefetch_samples(surface, &records[r + BRICKS_AHEAD], ROWS_OF_BRICK, 0, PMB_BRICK_X);
      for (size_t b = 0; b < sizeof(*records); b += 64) {
        __builtin_prefetch((const char *)&records[r + BRICKS_AHEAD] + b, 1);
      }
    }
    if (r < begin) {
      continue;
    }
    pmb_cpu_record *record = &records[r];
    pmb_cpu_classify_brick(surface, scratch, record);
    record->points_before = points;
    record->triangles_before = triangles;
    points += record->points;
    triangles += record->triangles;
  }
  surface->chunks[i] = (pmb_sizes){ points, triangles };
}
