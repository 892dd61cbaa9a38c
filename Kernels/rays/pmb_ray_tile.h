/* SPDX-License-Identifier: BSD-3-Clause
 * A picture on the CPU. It is cast in tiles, the units of parallel work. */
#ifndef PMB_RAY_TILE_H
#define PMB_RAY_TILE_H

#include "core/pmb_backend.h"
#include "shared/pmb_ray.h"

/* Pixels along a side of a tile: 16, or 4 if rays have more than PMB_RAY_LONG samples, so that workers ask the progress hook in
 * time. */
enum { PMB_RAY_TILE = 16, PMB_RAY_TILE_LEAST = 4, PMB_RAY_LONG = 8000 };

/* A cube that no ray has met yet. One whose bricks happen to have these bits is looked at each time. */
#define PMB_RAY_CUBE_UNKNOWN UINT64_C(0x8000000000000001)

/* What a pass over the tiles does. */
enum { PMB_RAY_CAST, PMB_RAY_FIND_EDGES, PMB_RAY_REFINE };

typedef struct pmb_ray_picture {
  const pmb_ray_job *job;
  const pmb_ray_request *request;
  pmb_type type;
  int side, tiles; /* of a tile; tiles along x */
  int pass;
  float *edges;    /* per pixel, see pmb_ray_find_edge */
  uint64_t *shown; /* as in the job, found when a ray first meets the cube. NULL: it depends on the ray */
} pmb_ray_picture;

/* pmb_ray_request.c. PMB_OK or PMB_INVALID. */
pmb_status pmb_ray_check(pmb_context *context, const pmb_ray_request *request);

/* Casts a tile; arg: the pmb_ray_picture. */
PMB_DECLARE_LOOP(pmb_ray_tile);

/* A GPU's. cast: fills the arrays of the request; the job lacks the volume's place. */
typedef struct pmb_ray_functions {
  pmb_status (*cast)(pmb_context *context, const pmb_ray_request *request, const pmb_ray_job *job);
} pmb_ray_functions;

#endif
