/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_volumes.h - the volumes of the papers' tables: an analytic surface, scans from raw files, and synthetic volumes
 * in the place of scans that cannot be had. Filled in threads. */
#ifndef PAPERS_VOLUMES_H
#define PAPERS_VOLUMES_H

#include <stddef.h>
#include <stdint.h>

#include "pmb.h"

typedef enum papers_content {
  /* 1 - 16 x y z - 4 (x^2 + y^2 + z^2) on [-1,1]^3; with `scale` > 1 on [-scale,scale]^3, mirrored at +-1, +-3, ..., so that
   * its surface is there scale^3 times, in as many times smaller pieces. u8: around its isovalue at 127.5. */
  PAPERS_CAYLEY,
  /* Gyroids of three sizes, summed: a surface with waves on it. `scale`: periods of the largest for each sample. */
  PAPERS_ROUGH,
  PAPERS_SCAN,     /* as it is */
  PAPERS_TILED,    /* a scan again and again, every second one mirrored */
  PAPERS_RESAMPLED /* a scan at more samples, interpolated linearly */
} papers_content;

typedef struct papers_scan {
  char name[32];
  int64_t dims[3];
  pmb_type type;
  double isovalue;
  char path[4096];
} papers_scan;

typedef struct papers_samples {
  papers_content content;
  pmb_type type; /* PMB_UINT8, PMB_INT16, PMB_UINT16 or PMB_FLOAT32; of a scan: the scan's */
  int64_t dims[3];
  double scale;
  const papers_scan *scan;
} papers_samples;

enum { PAPERS_SCANS_MOST = 16 };

/* Bytes of the samples. */
size_t papers_samples_bytes(const papers_samples *s);

/* The isovalue at which PAPERS_CAYLEY and PAPERS_ROUGH are to be contoured, in samples of the type. */
double papers_samples_isovalue(papers_content content, pmb_type type);

/* Fills `samples`, x fastest, without gaps. NULL, or what went wrong with the scan's file; valid until the next call. */
const char *papers_fill(const papers_samples *s, void *samples);

/* Cells with corners on both sides of the isovalue, of a filled volume; threads as in papers_fill. */
int64_t papers_active_cells(const papers_samples *s, const void *samples, double isovalue);

/* Sets the scale of an analytic volume such that about so many percent of its cells are active; a density can be out of reach,
 * because that does not grow evenly. Looked for in a smaller one of the same shape. */
void papers_reach_density(papers_samples *s, double density);

/* Reads FOLDER/scans.txt, a line for each scan: name nx ny nz type isovalue file, the file's samples as in memory, its name
 * relative to the folder. NULL, or what is wrong, with the line's number; valid until the next call. */
const char *papers_read_scans(const char *folder, papers_scan scans[PAPERS_SCANS_MOST], int *count);

/* "u8", "i16", "u16", "f32"; 0 and NULL for others. */
const char *papers_type_name(pmb_type type);
pmb_type papers_type_of(const char *name);

#endif
