/* SPDX-License-Identifier: BSD-3-Clause
 * The way of a ray from brick to brick, and past cubes of bricks that show nothing. */
#ifndef PMB_RAY_BRICKS_H
#define PMB_RAY_BRICKS_H

#include <math.h>

#include "shared/pmb_brick.h"
#include "shared/pmb_ray_job.h"

/* Samples along a side of a cube, which has 1 x 8 x 8 bricks. */
enum { PMB_RAY_CUBE = 32, PMB_RAY_CUBE_BRICKS = 8 };

/* The brick that a ray is in. border: coordinates where the ray leaves it; infinite along an axis that it does not move along. */
typedef struct pmb_ray_brick {
  int32_t at[3];
  float border[3], per_unit[3]; /* per_unit: steps per index */
} pmb_ray_brick;

PMB_INLINE int32_t pmb_ray_brick_size(int axis)
{
  return axis == 0 ? PMB_BRICK_X : axis == 1 ? PMB_BRICK_Y : PMB_BRICK_Z;
}

PMB_INLINE void pmb_ray_find_border(const pmb_ray *ray, int axis, pmb_ray_brick *brick)
{
  const float border = (float)((brick->at[axis] + (ray->step[axis] > 0)) * pmb_ray_brick_size(axis));
  brick->border[axis] = ray->step[axis] != 0 ? border : INFINITY;
}

/* Where the ray's first sample is. */
PMB_INLINE float pmb_ray_first(const pmb_ray *ray)
{
  const float first = floorf(ray->begin + ray->shift) - ray->shift;
  return first > 0 ? first : 0;
}

/* The brick of the ray's first sample. */
PMB_INLINE pmb_ray_brick pmb_ray_first_brick(const pmb_ray_job *job, const pmb_ray *ray)
{
  const float enter = pmb_ray_first(ray);
  pmb_ray_brick brick;
  for (int a = 0; a < 3; ++a) {
    const int32_t last = job->bricks[a] - 1;
    const float p = ray->origin[a] + ray->step[a] * enter;
    const int32_t i = p > 0 ? (int32_t)p / pmb_ray_brick_size(a) : 0;
    brick.at[a] = i < last ? i : last;
    brick.per_unit[a] = ray->step[a] != 0 ? 1 / ray->step[a] : 1;
    pmb_ray_find_border(ray, a, &brick);
  }
  return brick;
}

/* Where the ray passes the first of three borders. *axis: whose; 3: the ray ends before. */
PMB_INLINE float pmb_ray_leaves(const pmb_ray *ray, const pmb_ray_brick *brick, const float border[3], int *axis)
{
  float leave = ray->leave;
  *axis = 3;
  for (int a = 0; a < 3; ++a) {
    const float until = (border[a] - ray->origin[a]) * brick->per_unit[a];
    *axis = until < leave ? a : *axis;
    leave = until < leave ? until : leave;
  }
  return leave;
}

PMB_INLINE int64_t pmb_ray_brick_number(const pmb_ray_job *job, const int32_t at[3])
{
  return at[0] + job->bricks[0] * (at[1] + (int64_t)job->bricks[1] * at[2]);
}

/* Moves on to the next brick along an axis. Returns 0 if it is outside the volume. On a GPU the ray's steps are in local memory, since
 * the compiler reads them by `axis` here. In registers, which are scarce, mode composite takes 3 to 9% longer. */
PMB_INLINE int pmb_ray_next_brick(const pmb_ray_job *job, const pmb_ray *ray, int axis, pmb_ray_brick *brick)
{
  int inside = 1;
  for (int a = 0; a < 3; ++a) {
    const float size = (float)pmb_ray_brick_size(a);
    brick->at[a] += a != axis ? 0 : ray->step[a] > 0 ? 1 : -1;
    brick->border[a] += a != axis ? 0 : ray->step[a] > 0 ? size : -size;
    inside &= (uint32_t)brick->at[a] < (uint32_t)job->bricks[a];
  }
  return inside;
}

/* The number of a brick's cube. */
PMB_INLINE int64_t pmb_ray_cube_number(const pmb_ray_job *job, const int32_t at[3])
{
  const uint32_t y = (uint32_t)at[1] / PMB_RAY_CUBE_BRICKS, z = (uint32_t)at[2] / PMB_RAY_CUBE_BRICKS;
  return at[0] + job->cubes[0] * (y + (int64_t)job->cubes[1] * z);
}

/* The brick's bit among those of its cube. */
PMB_INLINE int pmb_ray_cube_bit(const pmb_ray_brick *brick)
{
  const uint32_t y = (uint32_t)brick->at[1] % PMB_RAY_CUBE_BRICKS, z = (uint32_t)brick->at[2] % PMB_RAY_CUBE_BRICKS;
  return (int)(y + z * PMB_RAY_CUBE_BRICKS);
}

/* Moves past the cube around the brick. Returns where the ray leaves it. *inside: 0 if the next one is outside the volume. */
PMB_INLINE float pmb_ray_leave_cube(const pmb_ray_job *job, const pmb_ray *ray, pmb_ray_brick *brick, int *inside)
{
  int axis;
  float border[3];
  int32_t first[3];
  for (int a = 0; a < 3; ++a) {
    const uint32_t each = PMB_RAY_CUBE / (uint32_t)pmb_ray_brick_size(a), at = (uint32_t)brick->at[a];
    first[a] = (int32_t)(at - at % each);
    border[a] = (float)(first[a] * pmb_ray_brick_size(a) + (ray->step[a] > 0 ? PMB_RAY_CUBE : 0));
    border[a] = ray->step[a] != 0 ? border[a] : INFINITY;
  }
  const float leave = pmb_ray_leaves(ray, brick, border, &axis);
  *inside = 1;
  for (int a = 0; a < 3; ++a) {
    const int32_t last = first[a] + PMB_RAY_CUBE / pmb_ray_brick_size(a) - 1;
    const float p = pmb_ray_at(ray->origin[a], ray->step[a], leave);
    const int32_t i = (int32_t)((uint32_t)(p > 0 ? (int32_t)p : 0) / (uint32_t)pmb_ray_brick_size(a));
    const int32_t here = i < first[a] ? first[a] : i < last ? i : last;
    brick->at[a] = a != axis ? here : ray->step[a] > 0 ? last + 1 : first[a] - 1;
    *inside &= (uint32_t)brick->at[a] < (uint32_t)job->bricks[a];
    pmb_ray_find_border(ray, a, brick);
  }
  return leave;
}

#endif
