/* SPDX-License-Identifier: BSD-3-Clause
 * A picture on the CPU. It is cast in tiles, the units of parallel work. */
#ifndef PMB_RAY_TILE_H
#define PMB_RAY_TILE_H

#include "shared/pmb_ray.h"

/* Pixels along a side of a tile: 16, or 4 if rays have more than PMB_RAY_LONG samples, so that workers ask the progress hook in
 * time. */
enum { PMB_RAY_TILE = 16, PMB_RAY_TILE_LEAST = 4, PMB_RAY_LONG = 8000 };

/* A cube of 32 samples a side: 1 x 8 x 8 bricks. */
enum { PMB_RAY_CUBE = 32, PMB_RAY_CUBE_SHOWS = 1, PMB_RAY_CUBE_EMPTY = 2 };

typedef struct pmb_ray_picture {
  const pmb_ray_job *job;
  const pmb_ray_request *request;
  pmb_type type;
  int side, tiles;       /* of a tile; tiles along x */
  uint8_t *cubes;        /* whether each shows something; 0: not known yet. NULL: it depends on the ray */
  int32_t cube_count[3]; /* along each axis */
} pmb_ray_picture;

#endif
