/* SPDX-License-Identifier: BSD-3-Clause
 * The cell: the numbering of corners and edges, its case, and its triangles where points lie on samples.
 *
 * Corner c has the coordinates (c & 1, c >> 1 & 1, c >> 2). Edge e runs along axis e >> 2 from its lower corner.
 * Bit c of a case is inside(corner c). The triangles by case are in pmb_tables.h, made by generate_tables.py. */
#ifndef PMB_CELL_H
#define PMB_CELL_H

#include "shared/pmb_portability.h"
#include "shared/pmb_tables.h"

enum { PMB_CELL_EDGES = 12, PMB_MAX_TRIANGLES = 5 };

PMB_CONSTEXPR int pmb_edge_axis(int edge)
{
  return edge >> 2;
}

/* The corner at the lower end of an edge: the edge's two low bits, spread over the other two axes. */
PMB_CONSTEXPR int pmb_edge_lower(int edge)
{
  const int bits = edge & 3;
  const int axis = edge >> 2;
  return axis == 0 ? bits << 1 : axis == 1 ? (bits & 1) | (bits & 2) << 1 : bits;
}

PMB_INLINE int pmb_edge_upper(int edge)
{
  return pmb_edge_lower(edge) | 1 << pmb_edge_axis(edge);
}

/* Eight bits of a cell, from the words of its four rows of samples (y,z), (y+1,z), (y,z+1), (y+1,z+1); bit: of the lower corner.
 * With words of inside bits this is the cell's case. */
PMB_INLINE unsigned pmb_cell_bits(uint64_t row00, uint64_t row10, uint64_t row01, uint64_t row11, int bit)
{
  return (unsigned)((row00 >> bit & 3) | (row10 >> bit & 3) << 2 | (row01 >> bit & 3) << 4 | (row11 >> bit & 3) << 6);
}

/* The point of an edge: the number of an end (0-7) that equals the isovalue, the lower end first; else 8 + edge. */
PMB_INLINE int pmb_edge_point(int edge, unsigned equal)
{
  const int lower = pmb_edge_lower(edge);
  const int upper = pmb_edge_upper(edge);
  return equal >> lower & 1 ? lower : equal >> upper & 1 ? upper : 8 + edge;
}

/* The triangles of a cell that have three different points. */
typedef struct pmb_kept {
  unsigned triangles; /* bit i: triangle i of the case */
  unsigned used;      /* bit c: corner c is a point of one of them */
} pmb_kept;

/* equal: bit c: corner c equals the isovalue. */
PMB_INLINE pmb_kept pmb_cell_kept(unsigned cell_case, unsigned equal)
{
  pmb_kept kept = { 0, 0 };
  for (int i = 0; i < pmb_triangle_count[cell_case]; ++i) {
    const uint8_t *edges = pmb_triangle_edges[cell_case] + 3 * i;
    const int a = pmb_edge_point(edges[0], equal);
    const int b = pmb_edge_point(edges[1], equal);
    const int c = pmb_edge_point(edges[2], equal);
    if (a != b && b != c && c != a) {
      kept.triangles |= 1u << i;
      kept.used |= 1u << a | 1u << b | 1u << c;
    }
  }
  kept.used &= 0xff;
  return kept;
}

#endif
