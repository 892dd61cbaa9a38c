/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_report.h - what the benchmark prints, and its file of comma-separated values. */
#ifndef PAPERS_REPORT_H
#define PAPERS_REPORT_H

#include <stdio.h>

#include "papers_measure.h"
#include "papers_tables.h"

/* A new table. */
void papers_report_title(papers_table table);

/* The volume of the lines that follow; density: percent of active cells, or 0. */
void papers_report_row(const papers_row *row, double density);

/* A row that could not be measured at all. */
void papers_report_left_out(const papers_row *row, const char *why);

/* A system's line; `pmb`: PMB's on the same volume. csv: NULL, or the file to write it to as well. */
void papers_report_result(const papers_row *row, double density, const papers_result *result,
  const papers_result *pmb, const char *device, FILE *csv);

/* After the rows of a table: where a baseline came nearest to PMB. */
void papers_report_end(void);

/* The first line of the file. */
void papers_report_header(FILE *csv);

/* The OpenCL paper's table 3: its formulas, and what the programs here take. */
void papers_report_memory(FILE *csv);

#endif
