/* SPDX-License-Identifier: BSD-3-Clause
 * What a brick gives to the mesh when all its samples are finite and none is joined, a point for every crossed edge: for 16
 * rows at a time, with sums of bits in place of loops over cells; and what of that holds where some are joined. */
#ifndef PMB_CPU_CLASSIFY_CONTENT_H
#define PMB_CPU_CLASSIFY_CONTENT_H

#include "cpu/pmb_cpu_brick.h"

/* Numbers of up to 4 bits for 32 cells: bit x of bits[i] is bit i of the number of cell x. */
typedef struct sliced {
  uint32_t bits[4];
} sliced;

/* Full adder: a, b and c are replaced by their sum's low bit, returned, and its high bit, *carry. */
PMB_INLINE uint32_t add_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t *carry)
{
  const uint32_t half = a ^ b;
  *carry = (a & b) | (half & c);
  return half ^ c;
}

/* Crossed edges of 32 cells, by pmb_cell.h's numbers. Words of the cells' four rows of samples, and of the samples one further
 * in x. */
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

/* How many of the edges of each cell are crossed. */
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

/* Cells that may have more than one loop: they have six or more crossed edges, and an ambiguous face (three crossed edges in
 * a row on it, so all four) or, among the four corners below, one with three crossed edges. Others have none: tried for all
 * cases, and smooth surfaces have few such cells. */
PMB_INLINE uint32_t find_looped(const uint32_t edge[PMB_CELL_EDGES], const sliced *count)
{
  const uint32_t *x = edge, *y = edge + 4, *z = edge + 8;
  const uint32_t faces = (x[0] & y[0] & y[1]) | (x[2] & y[2] & y[3]) | (x[0] & z[0] & z[1]) | (x[1] & z[2] & z[3]) |
    (y[0] & z[0] & z[2]) | (y[1] & z[1] & z[3]);
  const uint32_t corners = (x[0] & y[0] & z[0]) | (x[0] & y[1] & z[1]) | (x[1] & y[0] & z[2]) | (x[1] & y[1] & z[3]);
  return (faces | corners) & ((count->bits[1] & count->bits[2]) | count->bits[3]);
}

/* Loops of some of row i's cells, but for the first of each. */
static inline uint32_t count_further_loops(const pmb_cpu *cpu, const pmb_cpu_words *words, int i, uint32_t cells)
{
  uint32_t loops = 0;
  for (; cells; cells &= cells - 1) {
    loops += cpu->tables->further_loops[bits_of_cell(words, (uint32_t)i, pmb_lowest_bit(cells))];
  }
  return loops;
}

/* Takes the edges of a row that end at an equal sample away, and from `here` the cells around such samples; returns these. */
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

/* n: samples of the brick along each axis, halo included. Sets mask, first, inside, points and triangles of the record. A cell
 * has as many triangles as crossed edges, less two for each loop that these make. With `join` cells around equal samples are left
 * to `joined`, bits x of row z * 4 + y, and mask[PMB_SAMPLE], which is 0, and what follows from it to the caller. */
PMB_INLINE void sum_content(const pmb_cpu *cpu, const pmb_cpu_words *words, const pmb_cpu_words *equal, const int *n,
  const int join, uint32_t *joined, pmb_cpu_record *record)
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
      loops += count_further_loops(cpu, words, i, looped[i]);
    }
  }
  record->inside = words->low[0] & 1;
  record->points = before;
  record->triangles = crossed - 2 * loops;
}

#endif
