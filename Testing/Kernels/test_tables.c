/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_tables.c - the case table: its triangles fill the loops of a cell. That neighbours match, and that triangles face lower
 * values: test_reference.c and test_measures.c, on meshes.
 *
 * A segment is a triangle edge that no other triangle of the cell uses in the opposite direction; segments form loops. */
#include "shared/pmb_tables.h"
#include "test_util.h"

enum { EDGES = 12 };

/* directed[a][b]: triangle edges from a to b. */
static void directed_edges(int corners, int directed[EDGES][EDGES])
{
  memset(directed, 0, EDGES * EDGES * sizeof(int));
  for (int n = 0; n < pmb_triangle_count[corners]; n++) {
    const uint8_t *t = pmb_triangle_edges[corners] + 3 * n;
    for (int c = 0; c < 3; c++) directed[t[c]][t[(c + 1) % 3]]++;
  }
}

static int crossed(int corners, int edge)
{
  return (corners >> ref_edge_corners[edge][0] & 1) != (corners >> ref_edge_corners[edge][1] & 1);
}

/* Follows the segments of a case and returns the number of loops. */
static int count_loops(int directed[EDGES][EDGES])
{
  int loops = 0, next[EDGES], seen[EDGES] = { 0 };
  for (int a = 0; a < EDGES; a++) {
    next[a] = -1;
    for (int b = 0; b < EDGES; b++)
      if (directed[a][b] && !directed[b][a]) next[a] = b;
  }
  for (int start = 0; start < EDGES; start++) {
    loops += next[start] >= 0 && !seen[start];
    for (int e = start; e >= 0 && !seen[e]; e = next[e]) seen[e] = 1;
  }
  return loops;
}

/* The triangles use exactly the crossed edges, and no directed edge twice. Their number is that of crossed edges minus two per
 * loop. So V - E + F is the number of loops, and each loop is filled by a disk. */
static void fills_each_loop_with_a_disk(void)
{
  static const int expected[5] = { 2, 162, 82, 8, 2 }; /* Lorensen's cases under a rule that treats all faces alike */
  int with_loops[5] = { 0 };
  for (int corners = 0; corners < 256; corners++) {
    int directed[EDGES][EDGES], crossings = 0;
    const int triangles = pmb_triangle_count[corners];
    directed_edges(corners, directed);
    for (int a = 0; a < EDGES; a++) {
      int used = 0;
      for (int b = 0; b < EDGES; b++) {
        used |= directed[a][b];
        CHECK(directed[a][b] <= 1, "case %d: edge %d-%d used %d times", corners, a, b, directed[a][b]);
      }
      CHECK(used == crossed(corners, a), "case %d, edge %d: used %d", corners, a, used);
      crossings += crossed(corners, a);
    }
    const int loops = count_loops(directed);
    CHECK(triangles == crossings - 2 * loops, "case %d: %d triangles, %d crossings, %d loops", corners, triangles,
      crossings, loops);
    if (CHECK(loops <= 4, "case %d: %d loops", corners, loops)) with_loops[loops]++;
  }
  for (int loops = 0; loops < 5; loops++)
    CHECK(with_loops[loops] == expected[loops], "%d cases with %d loops", with_loops[loops], loops);
}

/* clang-format off */
TEST_MAIN(
  CASE(fills_each_loop_with_a_disk)
)
