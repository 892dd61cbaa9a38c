/* SPDX-License-Identifier: BSD-3-Clause
 * A picture's job and its rays, as all backends take them. See pmb_ray.h. */
#ifndef PMB_RAY_JOB_H
#define PMB_RAY_JOB_H

#include "rays/pmb_rays.h"
#include "shared/pmb_portability.h"
#include "shared/pmb_types.h"

/* A mode of jobs beside those of requests: composite, pre-integrated. */
enum { PMB_RAY_SEGMENTS = PMB_RAY_AVERAGE + 1 };

/* What modes do: sets of modes. PMB_RAY_DOES is a constant where the mode is one. */
#define PMB_RAY_DOES(mode, trait) ((trait) >> (mode)&1)
enum {
  PMB_RAY_BLENDS = 1 << PMB_RAY_COMPOSITE | 1 << PMB_RAY_SEGMENTS, /* colors of the table, front to back */
  PMB_RAY_PAIRS = 1 << PMB_RAY_ISOSURFACE | 1 << PMB_RAY_SEGMENTS, /* looks at pairs of successive samples */
  PMB_RAY_SKIPS = PMB_RAY_BLENDS | PMB_RAY_PAIRS, /* skips bricks that show nothing, for any ray, and cubes of them */
  PMB_RAY_REDUCES = 1 << PMB_RAY_MAXIMUM | 1 << PMB_RAY_MINIMUM | 1 << PMB_RAY_AVERAGE /* to one value of the ray */
};

/* A color with opacity. */
typedef struct __attribute__((aligned(16))) pmb_ray_entry {
  float color[4];
} pmb_ray_entry;

/* Sums of a table's entries, in units of the job's sum_unit: differences are exact. */
typedef struct __attribute__((aligned(16))) pmb_ray_sum {
  int32_t color[4];
} pmb_ray_sum;

/* On a GPU samples are contiguous along x. */
#if defined(__CUDACC__)
#define PMB_RAY_STRIDE_X(job) ((int64_t)1)
#else
#define PMB_RAY_STRIDE_X(job) ((job)->strides[0])
#endif

/* The volume and the request, as kernels take them. */
typedef struct pmb_ray_job {
  const void *samples;
  int64_t strides[3];
  int32_t dims[3], bricks[3];
  const void *low, *high; /* per brick, in the samples' type */
  const uint64_t *shown;  /* on a GPU, in modes that skip: per cube its bricks that show something, at bit y + 8 z */
  int32_t cubes[3];
  const uint8_t *sample_flags, *cell_flags;
  uint8_t hidden_sample_bits, hidden_cell_bits;
  int mode, width, height;
  int rays, lattice; /* rays of a pixel at an edge, see pmb_ray_in_pixel */
  double clip_to_index[16], index_to_clip[16], index_to_world[12], index_to_light[12];
  double step, longest; /* longest: the most samples of a ray */
  int jitter;
  double box[6];
  int plane_count, light_count, isovalue_count, shade;
  double planes[PMB_RAY_PLANES][4]; /* of indices */
  pmb_ray_light lights[PMB_RAY_LIGHTS];
  float toward[PMB_RAY_LIGHTS][3]; /* unit vectors toward lights without a place; of others the cones' axes */
  pmb_ray_isovalue isovalues[PMB_RAY_ISOVALUES]; /* ascending */
  float ambient, diffuse, specular, specular_power;
  float normal[9];            /* from index gradients to normals in the space of the lights */
  double gradient_unit;       /* gradients of float64 samples are in multiples of it, so that they fit a float */
  const pmb_ray_entry *table; /* mode composite: with opacities per step; segments: see pmb_ray_span */
  const pmb_ray_sum *sums;    /* segments: of the table's entries from 1 to each */
  float sum_unit;
  const int32_t *table_shown; /* number of visible entries before each one; the last is the total */
  int table_size, gradient_size;
  double table_scale, table_low, table_per_unit; /* the place of a value is (value * scale - low) * per_unit */
  uint64_t table_version;                        /* of both tables: changes with them */
  const float *gradient_table;                   /* NULL: none */
  float steepness[9];                            /* from index gradients times steepness_scale to places in it */
  float steepness_scale; /* a power of two: numbers of the product neither overflow nor underflow */
  const void *color_by;  /* NULL: none */
  pmb_type color_by_type;
} pmb_ray_job;

typedef struct pmb_pixel {
  float color[4], depth;
} pmb_pixel;

/* Pixels whose neighbours' mean differs by the first number or less keep their one ray; from the second number on they are the mean
 * of all their rays. In between their color goes from one to the other, so that it hardly depends on rounding. */
#define PMB_RAY_EVEN 0.08f
#define PMB_RAY_EDGE 0.16f

/* A pixel's ray, from where it enters the volume. */
typedef struct pmb_ray {
  float origin[3], step[3];
  float shift;      /* sample k is at k - shift, but not before 0 or behind `leave` */
  float leave;      /* the last sample */
  float begin, end; /* the part that counts: begin <= r < end */
  float view[3];    /* unit vector toward the camera, in the space of the lights */
} pmb_ray;

PMB_INLINE float pmb_ray_at(float origin, float step, float r)
{
  return origin + step * r;
}

/* The place of the value of a part from `low` to `high`. */
PMB_INLINE float pmb_ray_value_at(int mode, float low, float high)
{
  return mode == PMB_RAY_COMPOSITE ? 0.5f * (low + high) : high;
}

#endif
