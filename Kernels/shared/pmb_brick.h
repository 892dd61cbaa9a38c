/* SPDX-License-Identifier: BSD-3-Clause
 * The brick: a box of 32 x 4 x 4 samples. It defines the order of points and triangles in the mesh.
 *
 * A brick owns its samples, and with sample (i,j,k) the edges to (i+1,j,k), (i,j+1,k), (i,j,k+1), the cell whose
 * lowest corner it is, and the point at the sample itself if the sample equals the isovalue ("sample point").
 * Order: bricks by index, x fastest; in a brick rows of samples y, then z; in a row the points of the x edges, of the
 * y edges, of the z edges, the sample points, each by x. Triangles: same brick and row order, cells by x, then table
 * order. (Up to 3 vertices per voxel: PMB paper, section 4.3. The order is ours, see Docs/ALGORITHM.md.)
 *
 * Rows of bits hold the state of samples. Bit x + 1 of a row word is the brick's sample x, -1 <= x <= 33: the brick, one sample
 * below it, and its halo. Rows likewise run from -1 to 4 along y and z. */
#ifndef PMB_BRICK_H
#define PMB_BRICK_H

#include "shared/pmb_cell.h"

enum {
  PMB_BRICK_X = 32,
  PMB_BRICK_Y = 4,
  PMB_BRICK_Z = 4,
  PMB_BRICK_ROWS = PMB_BRICK_Y * PMB_BRICK_Z,
  PMB_BRICK_SAMPLES = PMB_BRICK_X * PMB_BRICK_ROWS,
  PMB_BRICK_MAX_POINTS = 4 * PMB_BRICK_X * PMB_BRICK_ROWS,
  PMB_BRICK_MAX_TRIANGLES = PMB_MAX_TRIANGLES * PMB_BRICK_X * PMB_BRICK_ROWS
};

/* Flags of a brick in the summary: it or its halo has samples that are not finite, or hidden; it has hidden cells. */
enum { PMB_BRICK_NONFINITE = 1, PMB_BRICK_HIDES_SAMPLES = 2, PMB_BRICK_HIDES_CELLS = 4 };

/* Whether sample or cell (i,j,k) of nx x ny x ... has one of the bits. flags: a byte each, or NULL. */
PMB_INLINE int pmb_is_flagged(
  const uint8_t *flags, unsigned bits, int64_t nx, int64_t ny, int64_t i, int64_t j, int64_t k)
{
  return flags && (flags[i + nx * (j + ny * k)] & bits);
}

/* Kinds of points in a row, in their order. */
enum { PMB_EDGE_X = 0, PMB_EDGE_Y = 1, PMB_EDGE_Z = 2, PMB_SAMPLE = 3, PMB_KINDS = 4 };

/* Row words of a brick and its surroundings, [z + 1][y + 1]. */
typedef struct pmb_rows {
  uint64_t inside[6][6]; /* sample >= isovalue */
  uint64_t equal[6][6];  /* sample equals the isovalue; 0 if such points are not joined */
  uint64_t valid[6][6];  /* the sample is in the volume, finite and not hidden */
  uint64_t hidden[5][5]; /* the cell with this lowest corner is hidden; as inside, but no rows at 4 */
} pmb_rows;

/* A brick's points and triangles. */
typedef struct pmb_content {
  uint32_t mask[PMB_KINDS][PMB_BRICK_ROWS]; /* bit x: this edge or sample of row z * 4 + y has a point */
  int triangles;
} pmb_content;

/* The bits of the brick's own 32 columns. */
PMB_INLINE uint32_t pmb_own_columns(uint64_t word)
{
  return (uint32_t)(word >> 1);
}

/* Cells of a row whose corners are neither all inside nor all outside; row00: the word of (y,z), row10: of (y+1,z), ... */
PMB_INLINE uint64_t pmb_mixed_cells(uint64_t row00, uint64_t row10, uint64_t row01, uint64_t row11)
{
  const uint64_t any = row00 | row10 | row01 | row11;
  const uint64_t all = row00 & row10 & row01 & row11;
  return (any | any >> 1) & ~(all & all >> 1);
}

/* Finds the edges of a row with points: crossed, without an end equal to the isovalue, and of at least one valid cell.
 * cells[z + 1][y + 1]: the valid cells. */
PMB_INLINE void pmb_special_edges(const pmb_rows *rows, uint64_t cells[5][5], int row, pmb_content *content)
{
  const int y = (row & 3) + 1;
  const int z = (row >> 2) + 1;
  const uint64_t inside = rows->inside[z][y], equal = rows->equal[z][y];
  const uint64_t here = cells[z][y], below_y = cells[z][y - 1], below_z = cells[z - 1][y];
  const uint64_t used_x = here | below_y | below_z | cells[z - 1][y - 1];
  const uint64_t used_y = here | below_z;
  const uint64_t used_z = here | below_y;
  content->mask[PMB_EDGE_X][row] = pmb_own_columns((inside ^ inside >> 1) & ~(equal | equal >> 1) & used_x);
  content->mask[PMB_EDGE_Y][row] =
    pmb_own_columns((inside ^ rows->inside[z][y + 1]) & ~(equal | rows->equal[z][y + 1]) & (used_y | used_y << 1));
  content->mask[PMB_EDGE_Z][row] =
    pmb_own_columns((inside ^ rows->inside[z + 1][y]) & ~(equal | rows->equal[z + 1][y]) & (used_z | used_z << 1));
  content->mask[PMB_SAMPLE][row] = 0;
}

/* Marks the brick's own samples among the used corners of cell (x,y,z), which begin at -1. */
PMB_INLINE void pmb_mark_samples(pmb_content *content, unsigned used, int x, int y, int z)
{
  for (; used; used &= used - 1) {
    const int corner = pmb_lowest_bit(used);
    const int sx = x + (corner & 1), sy = y + (corner >> 1 & 1), sz = z + (corner >> 2);
    if (sx >= 0 && sx < PMB_BRICK_X && sy >= 0 && sy < PMB_BRICK_Y && sz >= 0 && sz < PMB_BRICK_Z) {
      pmb_set_bits(&content->mask[PMB_SAMPLE][sz * PMB_BRICK_Y + sy], 1u << sx);
    }
  }
}

/* The valid cells of row (y - 1, z - 1) of a brick. */
PMB_INLINE uint64_t pmb_valid_cells(const pmb_rows *rows, int y, int z)
{
  const uint64_t all = rows->valid[z][y] & rows->valid[z][y + 1] & rows->valid[z + 1][y] & rows->valid[z + 1][y + 1];
  return ~rows->hidden[z][y] & all & all >> 1;
}

/* Marks the sample points that the valid cells of row (y - 1, z - 1) use; returns the triangles of the brick's own. */
PMB_INLINE int pmb_special_cells(const pmb_rows *rows, uint64_t valid, int y, int z, pmb_content *content)
{
  const uint64_t a = rows->inside[z][y], b = rows->inside[z][y + 1];
  const uint64_t c = rows->inside[z + 1][y], d = rows->inside[z + 1][y + 1];
  const uint64_t ea = rows->equal[z][y], eb = rows->equal[z][y + 1];
  const uint64_t ec = rows->equal[z + 1][y], ed = rows->equal[z + 1][y + 1];
  const uint64_t equal = ea | eb | ec | ed;
  const uint64_t joined = equal | equal >> 1;
  const uint64_t own = y > 0 && z > 0 ? 0x1fffffffeu : 0;
  const uint64_t mixed = valid & pmb_mixed_cells(a, b, c, d) & 0x1ffffffffu;
  int triangles = 0;
  for (uint64_t rest = mixed & ~joined & own; rest; rest &= rest - 1) {
    triangles += pmb_triangle_count[pmb_cell_bits(a, b, c, d, pmb_lowest_bit(rest))];
  }
  /* Cells below the brick matter here too: they may use its sample points. */
  for (uint64_t rest = mixed & joined; rest; rest &= rest - 1) {
    const int bit = pmb_lowest_bit(rest);
    const pmb_kept kept = pmb_cell_kept(pmb_cell_bits(a, b, c, d, bit), pmb_cell_bits(ea, eb, ec, ed, bit));
    pmb_mark_samples(content, kept.used, bit - 1, y - 1, z - 1);
    triangles += own >> bit & 1 ? pmb_popcount(kept.triangles) : 0;
  }
  return triangles;
}

/* The content of any brick, also with samples that are not finite or hidden, hidden cells, points on samples. */
PMB_INLINE void pmb_special_content(const pmb_rows *rows, pmb_content *content)
{
  uint64_t cells[5][5];
  for (int i = 0; i < 25; ++i) {
    cells[i / 5][i % 5] = pmb_valid_cells(rows, i % 5, i / 5);
  }
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    pmb_special_edges(rows, cells, row, content);
  }
  content->triangles = 0;
  for (int i = 0; i < 25; ++i) {
    content->triangles += pmb_special_cells(rows, cells[i / 5][i % 5], i % 5, i / 5, content);
  }
}

#endif
