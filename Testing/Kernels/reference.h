/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reference.h - the mesh that pmb.h specifies, computed slowly and simply.
 *
 * Brute force over all cells and edges, with an id slot for each grid edge and each sample. It shares only the case
 * table with the core: order, ids, the rule for non-finite samples and the merging of points on samples are written
 * again here.
 */
#ifndef PMB_TEST_REFERENCE_H
#define PMB_TEST_REFERENCE_H

#include "pmb.h"

/* The carrier of a point: the grid edge along x, y or z that starts at a sample, or the sample itself. */
enum { REF_X_EDGE = 0, REF_Y_EDGE = 1, REF_Z_EDGE = 2, REF_SAMPLE = 3 };

typedef struct ref_mesh {
  int64_t points, triangles;
  int64_t *keys;   /* per point: 4 * (index of its sample, x fastest) + carrier */
  double *t;       /* per point: place on its edge, 0 at the lower sample */
  double *t_slack; /* allowed error of t; 0: exact to the bit. Above 0 only with overflow or subnormal numbers */
  int64_t *ids;    /* 3 per triangle */
  int64_t *cells;
  /* Input, for the functions below. */
  pmb_volume volume;
  double isovalue;
} ref_mesh;

/* X(pmb_type, C type) for each sample type. */
#define REF_EACH_TYPE(X)  \
  X(PMB_INT8, int8_t)     \
  X(PMB_UINT8, uint8_t)   \
  X(PMB_INT16, int16_t)   \
  X(PMB_UINT16, uint16_t) \
  X(PMB_INT32, int32_t)   \
  X(PMB_UINT32, uint32_t) \
  X(PMB_INT64, int64_t)   \
  X(PMB_UINT64, uint64_t) \
  X(PMB_FLOAT32, float)   \
  X(PMB_FLOAT64, double)

/* The mesh of one isovalue. Ends the program when memory runs out. Free with ref_free. */
ref_mesh *ref_extract(const pmb_volume *volume, double isovalue, int remove_degenerate);
void ref_free(ref_mesh *mesh);

/* World position of index coordinates. */
void ref_world(const pmb_volume *volume, const double index[3], double world[3]);

/* World position of a point, before it is rounded to the output's type. */
void ref_position(const ref_mesh *mesh, int64_t point, double world[3]);

/* Central differences at a point in world units. slack[c] is the magnitude of the terms of g[c]: an error of a few epsilons
 * times slack[c] is rounding. Returns 1 if the gradient is exactly zero, not by underflow. */
int ref_gradient(const ref_mesh *mesh, int64_t point, double g[3], double slack[3]);

/* The same by any estimator, from all samples that it reads. slack is infinite or NaN where floats may overflow. Returns 0 if
 * one of the samples is hidden or not finite. */
int ref_estimate(const ref_mesh *mesh, int64_t point, pmb_gradient_estimator estimator, double g[3], double slack[3]);

/* The two samples of a point's edge (the same one twice for a sample point). */
void ref_ends(const ref_mesh *mesh, int64_t point, int64_t lower[3], int64_t upper[3]);

/* 1 if the sample is finite and not hidden. */
int ref_sample_valid(const pmb_volume *volume, int64_t i, int64_t j, int64_t k);

/* 1 if the cell exists, is not hidden, and all its samples are valid. */
int ref_cell_valid(const pmb_volume *volume, int64_t i, int64_t j, int64_t k);

/* sample >= isovalue without any rounding. */
int ref_inside(const pmb_volume *volume, int64_t i, int64_t j, int64_t k, double isovalue);

/* The sample as a double (64-bit integers are rounded). */
double ref_sample(const pmb_volume *volume, int64_t i, int64_t j, int64_t k);

/* Address of a sample. */
const void *ref_address(const pmb_volume *volume, int64_t i, int64_t j, int64_t k);

/* One element as a double. */
double ref_load(pmb_type type, const void *p);

/* Total number of samples, and of bricks of 32 x 4 x 4 samples. */
int64_t ref_samples(const pmb_volume *volume);
int64_t ref_bricks(const pmb_volume *volume);

#endif
