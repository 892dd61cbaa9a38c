/* SPDX-License-Identifier: BSD-3-Clause
 * Pass shapes: the shapes and places of anisotropic kernels, see pmb_particle.h. */
#include "particles/pmb_particle_block.h"

/* Sums of 16 particles. */
typedef struct shape_block {
  near_points points;
  float sum[PMB_SHAPE_SUMS][PMB_LANES];
} shape_block;

/* Adds the particles near to the sums. */
static void add_neighbours(void *arg)
{
  shape_block *b = arg;
  near_points *points = &b->points;
  float sum[PMB_SHAPE_SUMS][PMB_LANES];
  const int n = list_near_points(points);
  memcpy(sum, b->sum, sizeof(sum));
  for (int i = 0; i < n; ++i) {
    const int j = points->scratch->list[i];
    PMB_EACH_LANE (l) {
      float way[3], to[PMB_SHAPE_SUMS];
      near_offset(points, j, l, way);
      for (int k = 0; k < PMB_SHAPE_SUMS; ++k) {
        to[k] = sum[k][l];
      }
      pmb_shape_add(way, points->scale[l], to);
      for (int k = 0; k < PMB_SHAPE_SUMS; ++k) {
        sum[k][l] = to[k];
      }
    }
  }
  memcpy(b->sum, sum, sizeof(sum));
}

/* Moves the particles of a block and sets their shapes. */
static void shape_of_block(
  pmb_particles *p, pmb_particle_scratch *scratch, const uint32_t *block, int n, int32_t at[3])
{
  const int varied = p->request.radii.values != NULL;
  shape_block b = { .points = { .scratch = scratch, .places = p->surface.tables->places } };
  search_block(p, block, n, at, &b.points, NULL, add_neighbours, &b);
  for (int l = 0; l < n; ++l) {
    const int64_t i = block[l];
    pmb_particle_moved *to = (pmb_particle_moved *)p->moved.data + i;
    float sum[PMB_SHAPE_SUMS];
    for (int k = 0; k < PMB_SHAPE_SUMS; ++k) {
      sum[k] = b.sum[k][l];
    }
    to->scale = b.points.scale[l];
    to->reach = varied ? ((const float *)p->reaches.data)[i] : 0;
    const float determinant = pmb_shape_find(sum, to->shape);
    to->amount = ((const float *)p->amounts.data)[i] * determinant;
    to->index = p->sorted[i];
    for (int a = 0; a < 3; ++a) {
      to->cell[a] = ((const int32_t *)p->cells[a].data)[i];
      to->fraction[a] = ((const float *)p->fractions[a].data)[i];
      pmb_shape_move(sum[1 + a], sum[0], determinant, to->scale, &to->cell[a], &to->fraction[a]);
    }
  }
}

void PMB_PATH_NAME(pmb_particle_shapes)(void *data, int worker, size_t chunk)
{
  each_block(data, worker, chunk, shape_of_block);
}
