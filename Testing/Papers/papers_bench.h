/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_bench.h - parts of the benchmark: volumes, the rows of the papers' tables, and the measurement of a system on a
 * volume. */
#ifndef PAPERS_BENCH_H
#define PAPERS_BENCH_H

#include <stdio.h>

#include "papers.h"
#include "particles/pmb_particles.h"

/* ---- volumes (papers_volumes.c): an analytic surface, scans from raw files, and synthetic stand-ins for scans ---- */

typedef enum papers_content {
  /* 1 - 16 x y z - 4 (x^2 + y^2 + z^2) on [-1,1]^3; with `scale` > 1 on [-scale,scale]^3, mirrored at +-1, +-3, ...: scale^3
   * copies of the surface, each smaller by `scale`. u8: around its isovalue at 127.5. */
  PAPERS_CAYLEY,
  /* Gyroids of three sizes, summed: a surface with waves on it. `scale`: periods of the largest for each sample. */
  PAPERS_ROUGH,
  PAPERS_SCAN,     /* as it is */
  PAPERS_TILED,    /* copies of a scan, every second one mirrored */
  PAPERS_RESAMPLED /* a scan at more samples, interpolated linearly */
} papers_content;

enum { PAPERS_SCANS_MOST = 16, PAPERS_SIDE_MOST = 4096 };

typedef struct papers_scan_file {
  char name[32];
  int64_t dims[3];
  pmb_type type;
  double isovalue;
  char path[4096];
} papers_scan_file;

typedef struct papers_samples {
  papers_content content;
  pmb_type type;   /* PMB_UINT8, PMB_INT16, PMB_UINT16 or PMB_FLOAT32; of a scan: the scan's */
  int64_t dims[3]; /* up to PAPERS_SIDE_MOST */
  double scale;
  const papers_scan_file *scan;
} papers_samples;

size_t papers_samples_bytes(const papers_samples *s);

/* The isovalue for PAPERS_CAYLEY and PAPERS_ROUGH, in samples of the type. */
double papers_samples_isovalue(papers_content content, pmb_type type);

/* Fills `samples`, x fastest, without gaps. Returns NULL, or the error of the scan's file, valid until the next call. */
const char *papers_fill(const papers_samples *s, void *samples);

/* Percentage of active cells of a filled volume. */
double papers_active_cells(const papers_samples *s, const void *samples, double isovalue);

/* Sets the scale of an analytic volume so that about `density` percent of its cells are active, if
 * possible. Tries volumes of the same shape with sides up to 256. */
void papers_reach_density(papers_samples *s, double density);

/* Reads FOLDER/scans.txt, a line per scan: name nx ny nz type isovalue file, the file's samples as in memory, its name
 * relative to the folder. Returns NULL, or the error with the line's number, valid until the next call. */
const char *papers_read_scans(const char *folder, papers_scan_file scans[PAPERS_SCANS_MOST], int *count);

/* "u8", "i16", "u16", "f32". */
const char *papers_type_name(pmb_type type);

/* ---- rows (papers_tables.c) ---- */

typedef enum papers_table {
  PAPERS_TABLE_CAYLEY,    /* PMB, table 2 */
  PAPERS_TABLE_SCANS,     /* PMB, table 3 */
  PAPERS_TABLE_DENSITIES, /* HistoPyramids, table 1 */
  PAPERS_TABLE_SIZES,     /* OpenCL, table 1 */
  PAPERS_TABLE_MEMORY,    /* OpenCL, table 3; has no rows here */
  PAPERS_TABLE_LIMITS,    /* PMB, section 5.2; has no rows here */
  PAPERS_TABLE_CLOUDS,    /* the WebGL page; has no rows here */
  PAPERS_TABLES
} papers_table;

typedef struct papers_row {
  papers_table table;
  char name[48];    /* of the data set */
  const char *kind; /* "analytic", "synthetic", "scan", "tiled scan", "resampled scan" */
  papers_samples samples;
  double isovalue;
  /* Percentage of active cells that samples.scale should give; 0: any. Grows as sides are divided. */
  double density;
  double paper_triangles; /* in the paper; 0: not given or not reachable */
} papers_row;

typedef struct papers_rows {
  papers_row row[160];
  int count;
} papers_rows;

typedef struct papers_table_names {
  const char *name, *title; /* for the command line, and for display */
} papers_table_names;
extern const papers_table_names papers_tables[PAPERS_TABLES];

/* The rows of a table. Sides are divided by 2^reduce. Cayley's surface is in floats, in bytes where these took more than
 * `room` bytes. */
void papers_table_rows(
  papers_table table, int reduce, size_t room, const papers_scan_file *scans, int scan_count, papers_rows *rows);

/* ---- measurement (papers_measure.c) ---- */

enum { PAPERS_REPEATS_MOST = 100 };

typedef enum papers_outcome {
  PAPERS_MEASURED,
  PAPERS_FAILED,  /* no memory; `asked`: bytes needed */
  PAPERS_REFUSED, /* too large for its integers */
  PAPERS_WRONG,   /* another number of triangles than PMB: not timed */
  PAPERS_BROKEN   /* the device reports an error: ends the benchmark */
} papers_outcome;

typedef struct papers_result {
  const char *system;
  papers_outcome outcome;
  double first, change;        /* ms of a new volume and of a new isovalue; medians, with memory allocated before */
  size_t acceleration, output; /* peaks in bytes */
  size_t asked;
  int64_t points, triangles;
  char message[160];
} papers_result;

typedef struct papers_task {
  const papers_volume *volume; /* on the GPU */
  double isovalue;
  int64_t triangles; /* expected; < 0: unknown */
  int repeats;
  size_t limit; /* bytes for acceleration and output together */
} papers_task;

extern const char *const papers_outcome_texts[]; /* "ok", "fail", "too large", "WRONG", "error" */

papers_result papers_measure(const papers_task *task, const papers_system *system);

/* PMB itself, by pmb_measure_gpu, of samples in this machine's memory; points on samples are not joined. */
papers_result papers_measure_pmb(const papers_volume *host_volume, double isovalue, int repeats);

/* ---- clouds of particles (papers_clouds.c) ---- */

/* Systems: PMB with normals of the kernel, forward and Sobel, and the WebGL page's pipeline, forward and Sobel. */
enum { PAPERS_CLOUDS = 5, PAPERS_CLOUD_ISOVALUE = 1 };

/* The particles at a step, in a box of side^3 cells, with waves on top. Returns their number; places: 3 of each, or NULL. */
int64_t papers_cloud(int side, int step, float *places);
pmb_particle_request papers_cloud_request(const float *places, int64_t count, int on_device);

/* Medians of the steps of an animation, particles and meshes on the GPU. `first`: the whole step; `change`: without the potential,
 * which PMB makes together with its cells. Returns 0 if a step failed. */
int papers_measure_cloud(int side, int repeats, papers_result results[PAPERS_CLOUDS]);

#endif
