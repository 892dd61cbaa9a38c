/* SPDX-License-Identifier: BSD-3-Clause
 * Surfaces of particles: fluids, molecules, scans. After "GPU Marching Cubes from Point Clouds in WebGL" (miaumiau.cat).
 *
 * A kernel around each particle gives a potential. The mesh is the isosurface of the sum on a grid of cubic cells. The grid exists
 * only in bricks (pmb.h) that a kernel reaches, so memory does not grow with the box around the particles. The mesh is closed:
 * each edge has two triangles. Normals come from the gradient of the kernels or from differences. The bytes are the same for any
 * number of threads and any instruction set.
 *
 *     pmb_particles *particles = NULL;
 *     pmb_particles_create(context, &particles);                  // a context of pmb.h; it needs no volume
 *     pmb_particles_count(particles, &request, &sizes);           // once per time step
 *     pmb_particles_emit(particles, &mesh);                       // fills the caller's arrays; pmb_particles_emit_gl OpenGL's
 *     pmb_particles_sample(particles, &request, &image);          // or samples the potential on the caller's grid
 *     pmb_particles_destroy(particles);
 *
 * Parts of a cloud on several machines make one surface: each machine calls pmb_particles_find_bounds, sets request.whole to the
 * bounds of all parts together, and passes the particles near its own layers of bricks.
 *
 * pmb_error(context) explains a failure. Thread safety and struct_size: as in pmb.h. A context of a GPU computes on the GPU, with
 * the same bytes; the CPU takes grids of more than 2^26 rows of bricks. A GPU keeps the count of one object per context:
 * pmb_particles_emit fails with PMB_OUT_OF_MEMORY after the count of another object, or if memory ran short.
 *
 * Kernels, with q = distance / smoothing length:
 *     spline        max(1 - q/2, 0)^3 * 2 - max(1 - q, 0)^3, 1 at the particle; times volume / (pi * smoothing length^3)
 *     Gaussian      weight * (exp(-q^2) - exp(-9)), 0 beyond q = 3
 *     polynomial    weight * (1 - q^2 / 4)^3, 0 beyond q = 2
 *     spheres       the greatest of radius - distance
 *
 * Anisotropic kernels are splines of |S (x - m)|, times det(S), with a matrix S and a center m per particle.
 *
 * Sources: Monaghan, "Smoothed Particle Hydrodynamics", 1992 (the spline); Wyvill, McPheeters, Wyvill, "Data Structure for Soft
 * Objects", 1986 (a polynomial); Yu, Turk, "Reconstructing Surfaces of Particle-Based Fluids Using Anisotropic Kernels", 2013. */
#ifndef PMB_PARTICLES_H
#define PMB_PARTICLES_H

#include "pmb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pmb_particle_kernel {
  PMB_KERNEL_SPLINE = 0, /* SPH: the sum is about 1 within the fluid and about 1/2 at its border */
  PMB_KERNEL_GAUSSIAN = 1,
  PMB_KERNEL_POLYNOMIAL = 2, /* metaballs */
  PMB_KERNEL_SPHERES = 3     /* signed distance to the union of spheres, positive inside */
} pmb_particle_kernel;

enum { PMB_PARTICLE_TERMS = 64 };

/* The source of normals and gradients. Differences are those of the potential's samples at both ends of a point's edge,
 * interpolated to the point. The potential of spheres is clamped at isovalue - 1.75 * spacing, for differences too. */
typedef enum pmb_particle_normals {
  PMB_NORMALS_BY_KERNEL = 0,  /* the kernels' own gradient at the point */
  PMB_NORMALS_BY_CENTRAL = 1, /* as PMB_CENTRAL, PMB_FORWARD and PMB_SOBEL */
  PMB_NORMALS_BY_FORWARD = 2,
  PMB_NORMALS_BY_SOBEL = 3
} pmb_particle_normals;

/* An array of the particles, borrowed during pmb_particles_count. Component c of particle i is element i * stride + c. */
typedef struct pmb_particle_array {
  const void *values; /* NULL: not wanted */
  pmb_type type;
  int64_t count;  /* particles; the same in all arrays */
  int64_t stride; /* elements from one particle to the next; 0: packed */
} pmb_particle_array;

/* Cells with particles along an axis, between gaps that the grid leaves out. */
typedef struct pmb_particle_span {
  double low, high;
  int64_t at; /* set by pmb_particles_count */
} pmb_particle_span;

/* What every part of a cloud has to know about the whole. */
typedef struct pmb_particle_bounds {
  size_t struct_size;
  double low[3], high[3]; /* least and greatest floor(position / spacing); low > high: no particle */
  double radius;          /* the greatest */
  double reach;           /* the greatest reach of a kernel, in cells */
  double halo;            /* a part needs the particles within this many cells of z_begin and z_end */
  /* NULL: one from low to high. Else in any order, they may overlap; borrowed: of pmb_particles_find_bounds until the next call. */
  const pmb_particle_span *spans[3];
  int64_t span_count[3];
} pmb_particle_bounds;

typedef struct pmb_particle_request {
  size_t struct_size;
  /* 3 components. Particles at positions that are not finite or beyond cell 2^51 are left out and counted; their numbers in the
   * other arrays may be any. */
  pmb_particle_array positions;
  double spacing;  /* edge of a cell, world length. Samples lie at its multiples */
  double isovalue; /* above 0. For spheres any depth below their surface; from the radius on there is no mesh */
  pmb_particle_kernel kernel;
  double radius;            /* of each particle, if radii is not set */
  pmb_particle_array radii; /* above 0 */
  double smoothing;         /* smoothing length as a multiple of the radius; 0: 2. Spheres ignore it */
  /* For the spline only. A particle's volume is mass / density. Without densities the same kernel computes them; then only the
   * ratios of masses matter. */
  pmb_particle_array masses;    /* above 0; not set: (2 radius)^3 with radii, else 1 */
  pmb_particle_array densities; /* above 0 */
  pmb_particle_array weights;   /* for Gaussian and polynomial only; not set: all 1 */
  /* Most bricks with samples; 0: 2^26. Beyond it a count fails and suggests a spacing. It fails, too, if the particles reach more than
   * PMB_PARTICLE_TERMS times as many samples, each particle by itself: that would take minutes. */
  int64_t brick_limit;
  /* 1: the arrays are device memory of the context's GPU. The count waits for the work in `stream`, as pmb_bind does. Grids of
   * more than 2^26 rows of bricks need host memory: the CPU computes them. Far particles (pmb_particles_are_far) need it too. */
  int on_device;
  void *stream;
  /* NULL: the request has all particles. Else it has a part of a cloud with these bounds, borrowed during the call. The mesh then
   * has the triangles of the layers of bricks whose first sample has an index along z from z_begin to z_end - 1. Pass the
   * particles whose floor(z / spacing) is from z_begin - halo to z_end + halo, in the order of the whole: the triangles have the
   * same bytes as in the whole mesh. Adjoining parts both have the points on their common border. */
  const pmb_particle_bounds *whole;
  int64_t z_begin, z_end;
  pmb_particle_normals normals;
  /* For the spline only. 1: each particle moves towards its neighbours, and its kernel gets the shape of their distribution: flat
   * surfaces are flatter, sheets and edges thinner (Yu and Turk). */
  int anisotropic;
} pmb_particle_request;

/* A dense grid to fill, x fastest. Sample (i, j, k) lies at origin + (first + (i, j, k)) * spacing. */
typedef struct pmb_particle_image {
  size_t struct_size;
  double origin[3], spacing[3];
  int64_t dims[3]; /* 1 or more */
  int64_t first[3];
  float *values;
} pmb_particle_image;

typedef struct pmb_particle_sizes {
  size_t struct_size;
  int64_t points, triangles;
  int64_t left_out;      /* particles at positions that are not finite or beyond cell 2^51 */
  int64_t bricks;        /* bricks that a kernel reaches */
  int64_t active_bricks; /* bricks that the surface crosses; for a part those in its layers */
  int on_device;         /* 1: the GPU has counted */
} pmb_particle_sizes;

typedef struct pmb_particles pmb_particles;

/* Makes an object that keeps its memory between counts. It uses the memory, threads and progress hook of the context, which must
 * outlive it. Sets *particles to NULL on failure. */
PMB_API pmb_status pmb_particles_create(pmb_context *context, pmb_particles **particles);

/* NULL is allowed. */
PMB_API void pmb_particles_destroy(pmb_particles *particles);

/* Finds the bounds of the request's particles. Set bounds->struct_size. The isovalue matters; z_begin and z_end are ignored.
 * For several parts together take the least `low` and the greatest of each other member. If these are far, call it again with them
 * as `whole`, and take the spans of all parts. Discards the last count. */
PMB_API pmb_status pmb_particles_find_bounds(
  pmb_particles *particles, const pmb_particle_request *request, pmb_particle_bounds *bounds);

/* 1: the grid has room at a position; 0: particles there are left out. */
PMB_API int pmb_particles_take(const double place[3], double spacing);

/* 1: the grid has to leave out cells between particles that are far apart, and needs the bounds' spans. */
PMB_API int pmb_particles_are_far(const pmb_particle_bounds *bounds);

/* Sorts the particles, computes the potential and finds the size of the mesh. Set sizes->struct_size; on failure the other members
 * are 0. PMB_TOO_LARGE if the grid has more bricks than brick_limit, or more than 2^28 samples along an axis. */
PMB_API pmb_status pmb_particles_count(
  pmb_particles *particles, const pmb_particle_request *request, pmb_particle_sizes *sizes);

/* Fills points, normals, gradients, attributes, triangles and offsets of the mesh of the last successful count, as pmb_emit does.
 *
 * Attributes: component c of particle i is element i * components + c of `samples`, in the order of the request's positions,
 * with the particles that are left out. A point gets the mean of the particles that reach it, weighted by amount times kernel (a
 * negative weight counts as positive). For spheres it gets the value of the sphere in which it is deepest. */
PMB_API pmb_status pmb_particles_emit(pmb_particles *particles, const pmb_mesh *mesh);

/* Fills buffers of pmb_register_gl for the last successful count, as pmb_emit_gl does. PMB_INVALID if the CPU counted. */
PMB_API pmb_status pmb_particles_emit_gl(pmb_particles *particles, pmb_gl_buffers *buffers, const pmb_gl_mesh *mesh);

/* Fills the image with the potential: the sum of the kernels; for spheres the depth below their surface as a length, at least
 * isovalue - 1.75 * request.spacing. The surface is where the potential equals the isovalue. With `whole` the particles within
 * halo of the image give the values of the whole; z_begin and z_end are ignored. Runs on the CPU. Discards the last count. */
PMB_API pmb_status pmb_particles_sample(
  pmb_particles *particles, const pmb_particle_request *request, const pmb_particle_image *image);

#ifdef __cplusplus
}
#endif

#endif
