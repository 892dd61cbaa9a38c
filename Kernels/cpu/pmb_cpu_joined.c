/* SPDX-License-Identifier: BSD-3-Clause
 * The triangles of cells with joined corners by case, for the loops of the CPU backend. */
#include "cpu/pmb_cpu.h"

#include <pthread.h>
#include <string.h>

static pmb_cpu_joined joined;
static pthread_once_t made = PTHREAD_ONCE_INIT;

/* The number of a point as pmb_cpu_case has it, from that of pmb_edge_point. */
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

void pmb_cpu_make_case(pmb_cpu_case *c, unsigned cell_case, unsigned equal)
{
  memset(c, 0, sizeof(*c));
  for (int i = 0; i < 3 * pmb_triangle_count[cell_case]; i += 3) {
    int point[3];
    for (int l = 0; l < 3; ++l) {
      point[l] = pmb_edge_point(pmb_triangle_edges[cell_case][i + l], equal);
    }
    for (int l = 0; l < 3 && point[0] != point[1] && point[1] != point[2] && point[2] != point[0]; ++l) {
      c->corners[c->ids++] = (uint8_t)corner_of_point(point[l], cell_case, equal);
    }
  }
}

/* See pmb_cpu_joined. */
static uint16_t kept_of_case(const pmb_cpu_case *c)
{
  unsigned used = 0;
  for (int l = 0; l < c->ids; ++l) {
    const unsigned corner = (c->corners[l] & 3u) << 1 | (c->corners[l] >> 2 & 1u);
    used |= c->corners[l] & PMB_CORNER_SAMPLE ? 1u << corner : 0;
  }
  return (uint16_t)(c->ids / 3u << 8 | used);
}

static void make_joined(void)
{
  for (int i = 1; i < 256; ++i) {
    const int corner = pmb_lowest_bit((uint64_t)i);
    joined.power[i] = (uint16_t)(i & (i - 1) ? joined.power[i & (i - 1)] + joined.power[i & -i]
        : corner == 0                        ? 1
                                             : 3 * joined.power[i >> 1]);
  }
  for (unsigned i = 0; i < 256; ++i) {
    for (unsigned equal = i;; equal = (equal - 1) & i) {
      const int index = joined.power[i] + joined.power[equal];
      pmb_cpu_make_case(&joined.cases[index], i, equal);
      joined.kept[index] = kept_of_case(&joined.cases[index]);
      if (equal == 0) {
        break;
      }
    }
  }
}

const pmb_cpu_joined *pmb_cpu_joined_cases(void)
{
  pthread_once(&made, make_joined);
  return &joined;
}
