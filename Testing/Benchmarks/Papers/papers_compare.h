/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_compare.h - a mesh of a system against pmb_emit's: the same triangles, bit by bit, in whatever order and with
 * whatever points shared. */
#ifndef PAPERS_COMPARE_H
#define PAPERS_COMPARE_H

#include "papers_list.h"

/* `mesh`: in this machine's memory. `wanted`: floats and 32-bit ids, of the same samples and isovalue with
 * remove_degenerate = 0. Triangles are the same if their points have the same bits in the same order, with any of them
 * first: orientation counts. Normals are compared where both have them and tolerance >= 0 (the largest difference of a
 * component), but not of triangles that are there more than once. `sharing` is checked as well: ids in range, numbers of
 * points. 1: the same; 0: not, *why (of 256 bytes) says what differs; also if there is no memory to find out. */
int papers_compare(const papers_mesh *mesh, papers_sharing sharing, double tolerance, const pmb_mesh *wanted,
  const pmb_sizes *sizes, char *why);

#endif
