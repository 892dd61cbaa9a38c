/* SPDX-License-Identifier: BSD-3-Clause
 * Tables by the case of a cell, for the loops of the CPU backend. */
#include "cpu/pmb_cpu.h"

#include <pthread.h>
#include <string.h>

static pmb_cpu_tables made[2]; /* by pmb_frame.mirrored */

/* From a point's number of pmb_edge_point to that of pmb_cpu_case. */
static unsigned corner_of_point(int point, unsigned cell_case, unsigned equal)
{
  if (point < 8) {
    return PMB_CORNER_SAMPLE | (unsigned)point >> 1 | ((unsigned)point & 1) << 2;
  }
  const int edge = point - 8, axis = pmb_edge_axis(edge), corner = pmb_edge_lower(edge);
  const unsigned row = (unsigned)(axis == 0 ? corner >> 1 : axis == 1 ? 4 + (corner >> 2) : 6 + (corner >> 1));
  if (axis == 0 || !(corner & 1)) {
    return row;
  }
  const int before = edge - 1; /* the same edge at the cell's lower x */
  const unsigned ends = 1u << pmb_edge_lower(before) | 1u << pmb_edge_upper(before);
  const int crossed = (cell_case & ends) != 0 && (cell_case & ends) != ends;
  return row | PMB_CORNER_UPPER | (crossed && !(equal & ends) ? PMB_CORNER_AFTER : 0);
}

void pmb_cpu_make_case(pmb_cpu_case *c, unsigned cell_case, unsigned equal, int mirrored)
{
  memset(c, 0, sizeof(*c));
  for (int i = 0; i < 3 * pmb_triangle_count[cell_case]; i += 3) {
    int point[3];
    for (int l = 0; l < 3; ++l) {
      point[l] = pmb_edge_point(pmb_triangle_edges[cell_case][i + (mirrored && l > 0 ? 3 - l : l)], equal);
    }
    for (int l = 0; l < 3 && point[0] != point[1] && point[1] != point[2] && point[2] != point[0]; ++l) {
      c->corners[c->ids++] = (uint8_t)corner_of_point(point[l], cell_case, equal);
    }
  }
}

static void make_joined(pmb_cpu_tables *tables)
{
  for (int c = 0, power = 1; c < 8; ++c, power *= 3) {
    for (int i = 0; i < 256; ++i) {
      tables->power[i] = (uint16_t)(tables->power[i] + (i >> c & 1) * power);
    }
  }
  for (unsigned i = 0; i < 256; ++i) {
    for (unsigned equal = i;; equal = (equal - 1) & i) {
      const int index = tables->power[i] + tables->power[equal];
      pmb_cpu_make_case(&tables->joined[index], i, equal, tables->mirrored);
      const pmb_kept kept = pmb_cell_kept(i, equal);
      tables->kept[index] = (uint16_t)((unsigned)pmb_popcount(kept.triangles) << 8 | kept.used);
      if (equal == 0) {
        break;
      }
    }
  }
}

/* Loops of a cell's crossed edges. A loop of n edges has n - 2 triangles. */
static int count_loops(unsigned cell_case)
{
  /* Edges join corners that are 1, 2 or 4 apart. */
  const unsigned edges = ((cell_case ^ cell_case >> 1) & 0x55) | ((cell_case ^ cell_case >> 2) & 0x33) << 8 |
    ((cell_case ^ cell_case >> 4) & 0x0f) << 16;
  return (pmb_popcount(edges) - pmb_triangle_count[cell_case]) / 2;
}

static void make_tables(int mirrored)
{
  pmb_cpu_tables *tables = &made[mirrored];
  tables->mirrored = mirrored;
  for (unsigned i = 0; i < 256; ++i) {
    const int loops = count_loops(i);
    tables->further_loops[i] = (uint8_t)(loops > 1 ? loops - 1 : 0);
    pmb_cpu_make_case(&tables->plain[i], i, 0, mirrored);
    for (int l = 0; l < tables->plain[i].ids; ++l) {
      tables->offsets[i][l] = (int16_t)pmb_cpu_offset_of_corner(tables->plain[i].corners[l]);
    }
    for (int bit = 0, n = 0; bit < 8; ++bit) {
      if (i >> bit & 1) {
        tables->places[i][n++] = (uint8_t)bit;
      }
    }
  }
  make_joined(tables);
}

static void make_both(void)
{
  make_tables(0);
  make_tables(1);
}

const pmb_cpu_tables *pmb_cpu_tables_for(int mirrored)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_both);
  return &made[mirrored];
}
