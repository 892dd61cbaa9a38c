/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_list.h - the systems that there are, and what their meshes are to be like. */
#ifndef PAPERS_LIST_H
#define PAPERS_LIST_H

#include "papers_place.h"

/* How a system's points relate to PMB's, which has one for each crossed edge. */
typedef enum papers_sharing {
  PAPERS_SOUP,   /* three for each triangle, no ids */
  PAPERS_EDGES,  /* as PMB */
  PAPERS_WELDED, /* those at one place are one: at most as many as PMB's */
  PAPERS_SEAMS   /* those of an edge between blocks are there several times */
} papers_sharing;

typedef struct papers_entry {
  const papers_system *system;
  papers_sharing sharing;
  int central; /* its normals are PMB's, central differences */
} papers_entry;

/* PMB itself as a system, on the CPU. */
extern const papers_system papers_pmb_cpu;

/* The systems of a program, and where they work. */
typedef struct papers_list {
  const papers_place *place;
  const papers_entry *entries;
  int count;
} papers_list;

extern const papers_list papers_cpu_list;
extern const papers_list papers_gpu_list; /* in the library of the GPU's systems */

#endif
