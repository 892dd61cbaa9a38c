/* SPDX-License-Identifier: BSD-3-Clause
 * Pass densities: the sum of kernels at the particles. */
#include "particles/pmb_particle_block.h"

static void add_densities(void *points)
{
  add_to_points(points, PMB_KERNEL_SPLINE, 1);
}

/* Sets the amounts of a block by its densities. */
static void density_of_block(
  pmb_particles *p, pmb_particle_scratch *scratch, int64_t begin, int64_t end, int32_t at[3])
{
  const float *masses = p->request.masses.values ? p->masses.data : NULL;
  near_points b = { .scratch = scratch, .places = p->cpu.tables->places };
  search_block(p, begin, end, at, &b, masses, add_densities, &b);
  for (int64_t i = begin; i < end; ++i) {
    ((float *)p->amounts.data)[i] = (masses ? masses[i] : 1) / b.sum[i - begin];
  }
}

void PMB_PATH_NAME(pmb_particle_densities)(void *data, int worker, size_t chunk)
{
  each_block(data, worker, chunk, density_of_block);
}
