/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_tables.h - the rows of the papers' tables. */
#ifndef PAPERS_TABLES_H
#define PAPERS_TABLES_H

#include "papers_volumes.h"

typedef enum papers_table {
  PAPERS_TABLE_CAYLEY,    /* PMB, table 2 */
  PAPERS_TABLE_SCANS,     /* PMB, table 3 */
  PAPERS_TABLE_DENSITIES, /* HistoPyramids, table 1 */
  PAPERS_TABLE_SIZES,     /* OpenCL, table 1 */
  PAPERS_TABLE_MEMORY,    /* OpenCL, table 3; has no rows here */
  PAPERS_TABLES
} papers_table;

typedef struct papers_row {
  papers_table table;
  char name[48];    /* of the data set */
  const char *kind; /* "analytic", "synthetic", "scan", "tiled scan", "resampled scan" */
  papers_samples samples;
  double isovalue;
  /* Percent of the cells that the surface is to cross, for which samples.scale is to be found; 0: whatever it is. Where sides
   * are divided it grows as much. */
  double density;
  double paper_triangles; /* in the paper; 0: not said, or not to be reached */
} papers_row;

typedef struct papers_rows {
  papers_row row[160];
  int count;
} papers_rows;

/* For the command line, and for people; static. */
const char *papers_table_name(papers_table table);
const char *papers_table_title(papers_table table);

/* The rows of a table. Sides are divided by 2^reduce. Cayley's surface is in floats, in bytes where these were more than
 * `room` bytes. */
void papers_table_rows(
  papers_table table, int reduce, size_t room, const papers_scan *scans, int scan_count, papers_rows *rows);

#endif
