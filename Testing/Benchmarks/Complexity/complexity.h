/* SPDX-License-Identifier: BSD-3-Clause
 *
 * complexity.h - how time grows with the volume, the surface, the isovalues and the arrays: what pmb_bench_complexity.c, which
 * has the sweeps, shares with the volumes, the measuring and the fits. */
#ifndef COMPLEXITY_H
#define COMPLEXITY_H

#include <stddef.h>
#include <stdint.h>

#include "pmb.h"

enum { MOST_ROWS = 64, MOST_ISOVALUES = 32, MOST_ARRAYS = 8 };

/* ---- volumes (complexity_volumes.c) ---- */

/* side^3 samples of float32. The first one is SPIKE, far above all others: an isovalue of LEAST has one triangle, in one
 * brick, so that its time is that of selection, and of everything that each call costs. */
typedef struct cube {
  int64_t side;
  float *samples;
} cube;

#define SPIKE 1000.0f
#define LEAST 500.0

/* 0, with one line on stderr, if so much memory is not free. `what`: it is for. */
int memory_is_free(double bytes, const char *what);

/* 0 if there is no memory. */
int cube_new(cube *c, int64_t side);
void cube_free(cube *c);

/* One sphere in the middle: radius - distance, so that the isovalue 0 is the sphere. */
void cube_sphere(cube *c, double radius);

/* The first `count` of spheres of a radius of 12 samples, 32 apart: (side / 32)^3 have room. Isovalue 0. */
void cube_spheres(cube *c, int64_t count);

/* sin x cos y + sin y cos z + sin z cos x with so many periods along each side. */
void cube_gyroid(cube *c, int periods);

/* Points and triangles of an isovalue by a look at every edge and cell, one by one: to judge what PMB counts. */
pmb_sizes cube_count(const cube *c, double isovalue);

/* ---- measuring (complexity_measure.c) ---- */

typedef enum quantity {
  BIND,   /* the volume's summary: pmb_bind; on the GPU the kernel summarize */
  SELECT, /* an isovalue change to LEAST */
  COUNT,  /* pmb_count; on the GPU select and classify */
  EMIT,   /* pmb_emit; on the GPU vertices and triangles; with arrays: pmb_emit there as well */
  CHANGE, /* an isovalue change: COUNT and EMIT; on the GPU in one run, counts read back */
  QUANTITIES
} quantity;

extern const char *const quantity_names[QUANTITIES];

typedef struct row {
  const char *sweep;
  int64_t side, samples, bricks, active;
  int64_t steps; /* spheres, periods; 0: has none */
  int isovalues, arrays;
  pmb_sizes sizes;
  double ms[QUANTITIES]; /* the least of several; < 0: not measured */
  int agrees;            /* the counts with cube_count */
} row;

typedef struct settings {
  pmb_device device;
  int threads, quick;
  int cpu_time; /* time is that of the processor, all threads together, in place of the clock on the wall */
  int64_t most; /* side of the largest volume */
  const char *out, *sweep;
} settings;

/* Fills the row: counts, and times for these isovalues and row->arrays arrays of the cube's size. 0, with one line on
 * stderr, if something fails. */
int measure(const settings *s, const cube *c, const double *isovalues, row *r);

/* What is in use: "cpu avx2, 4 threads" or the GPU's name. 0, with one line on stderr, if it cannot be used. */
int describe_device(const settings *s, char *text, size_t size);

/* ---- fits (complexity_fit.c) ---- */

/* A power law through some rows: y = c x^exponent, by least squares of the logarithms. */
typedef struct fit {
  const char *quantity, *against, *expected;
  double x[MOST_ROWS], y[MOST_ROWS];
  int used[MOST_ROWS]; /* the rows that take part: those where x and y are at least this */
  double x_floor, floor;
  int rows, count; /* all; that take part */
  double exponent; /* NaN if fewer than three take part, or all are at one place */
} fit;

void fit_add(fit *f, double x, double y);
void fit_finish(fit *f);

/* CHANGE - SELECT = a * active + b * triangles over rows, by least squares of the relative error: a, b in nanoseconds, and the
 * largest relative error. 0 if there is no such fit. */
int fit_two(const row *rows, int count, double *a, double *b, double *worst);

#endif
