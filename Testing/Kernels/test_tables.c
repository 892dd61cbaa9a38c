/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_tables.c - the case table against the conditions for a mesh without holes.
 *
 * These tests do not use the face rule. A segment is a triangle edge that no other triangle of the cell uses in the opposite
 * direction. The mesh is closed if the segments of neighbours match, whatever the rule. */
#include "shared/pmb_tables.h"
#include "test_util.h"

enum { EDGES = 12, NO_FACE = -1 };

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

/* Whether an edge lies in the face axis = side. */
static int edge_in_face(int edge, int axis, int side)
{
  return (ref_edge_corners[edge][0] >> axis & 1) == side && (ref_edge_corners[edge][1] >> axis & 1) == side;
}

/* 2 * axis + side of the face that holds both edges (two different edges share at most one), or NO_FACE. */
static int common_face(int a, int b)
{
  for (int face = 0; face < 6; face++)
    if (edge_in_face(a, face / 2, face % 2) && edge_in_face(b, face / 2, face % 2)) return face;
  return NO_FACE;
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

/* Twice the middle of an edge. */
static void middle2(int edge, int p[3])
{
  for (int a = 0; a < 3; a++) p[a] = (ref_edge_corners[edge][0] >> a & 1) + (ref_edge_corners[edge][1] >> a & 1);
}

/* Segments lie in faces, with the inside on their right; diagonals do not. On a face with outward normal f, a triangle to the
 * left of a -> b has a normal along (b - a) x -f: away from the inside. */
static void segments_lie_in_faces_and_face_lower_values(void)
{
  for (int corners = 0; corners < 256; corners++) {
    int directed[EDGES][EDGES], p[3], q[3];
    directed_edges(corners, directed);
    for (int a = 0; a < EDGES; a++)
      for (int b = 0; b < EDGES; b++) {
        const int face = common_face(a, b), diagonal = directed[b][a];
        if (!directed[a][b]) continue;
        if (!CHECK((face == NO_FACE) == diagonal, "case %d: edge %d-%d, face %d", corners, a, b, face) || diagonal)
          continue;
        int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, outward = face % 2 ? 1 : -1;
        int normal[3] = { 0, 0, 0 };
        middle2(a, p);
        middle2(b, q);
        normal[u] = (q[v] - p[v]) * -outward;
        normal[v] = (q[u] - p[u]) * outward;
        for (int end = 0; end < 2; end++) {
          const int edge = end ? b : a, to_outside = corners >> ref_edge_corners[edge][0] & 1 ? 1 : -1;
          CHECK(normal[edge / 4] * to_outside > 0, "case %d: segment %d-%d has the inside on its wrong side", corners,
            a, b);
        }
      }
  }
}

/* The number that this edge of the cell has in the neighbour across the face axis = 1. */
static int same_edge_of_neighbour(int edge, int axis)
{
  int low = ref_edge_corners[edge][0] & ~(1 << axis), high = ref_edge_corners[edge][1] & ~(1 << axis);
  for (int e = 0; e < EDGES; e++)
    if (ref_edge_corners[e][0] == low && ref_edge_corners[e][1] == high) return e;
  return -1;
}

static int neighbours(int first, int second, int axis)
{
  for (int c = 0; c < 8; c++)
    if (c >> axis & 1 && (first >> c & 1) != (second >> (c & ~(1 << axis)) & 1)) return 0;
  return 1;
}

static void neighbours_share_their_face(void)
{
  int pairs = 0;
  for (int axis = 0; axis < 3; axis++)
    for (int first = 0; first < 256; first++)
      for (int second = 0; second < 256; second++) {
        int here[EDGES][EDGES], there[EDGES][EDGES];
        if (!neighbours(first, second, axis)) continue;
        pairs++;
        directed_edges(first, here);
        directed_edges(second, there);
        for (int a = 0; a < EDGES; a++)
          for (int b = 0; b < EDGES; b++) {
            if (a == b || !edge_in_face(a, axis, 1) || !edge_in_face(b, axis, 1)) continue;
            int x = same_edge_of_neighbour(a, axis), y = same_edge_of_neighbour(b, axis);
            CHECK(here[a][b] == there[y][x], "cases %d and %d along axis %d: %d segments %d-%d against %d back",
              first, second, axis, here[a][b], a, b, there[y][x]);
          }
      }
  CHECK(pairs == 3 * 256 * 16, "%d pairs", pairs);
}

/* clang-format off */
TEST_MAIN(
  CASE(fills_each_loop_with_a_disk)
  CASE(segments_lie_in_faces_and_face_lower_values)
  CASE(neighbours_share_their_face)
)
