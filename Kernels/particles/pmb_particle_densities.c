/* SPDX-License-Identifier: BSD-3-Clause
 * Pass densities: the sum of kernels at the particles. */
#include "particles/pmb_particle_block.h"

static void add_densities(void *points)
{
  add_to_points(points, PMB_KERNEL_SPLINE, 1);
}

/* Sets the amounts of a block by its densities. */
static void density_of_block(
  pmb_particles *p, pmb_particle_scratch *scratch, const uint32_t *block, int n, int32_t at[3])
{
  const float *masses = p->has_masses ? p->masses.data : NULL;
  near_points b = { .scratch = scratch, .places = p->surface.tables->places };
  search_block(p, block, n, at, &b, masses, add_densities, &b);
  for (int l = 0; l < n; ++l) {
    ((float *)p->amounts.data)[block[l]] = (masses ? masses[block[l]] : 1) / b.sum[l];
  }
}

void PMB_PATH_NAME(pmb_particle_densities)(void *data, int worker, size_t chunk)
{
  each_block(data, worker, chunk, density_of_block);
}
