/* SPDX-License-Identifier: BSD-3-Clause
 * Pass densities: the sum of kernels at the particles. */
#include "particles/pmb_particle_near.h"

static void add_densities(void *points)
{
  add_to_points(points, PMB_KERNEL_SPLINE, 1);
}

/* The end of the block that begins with particle i. Its particles are close together, so they share neighbours. */
static int64_t end_of_block(const pmb_particles *p, int64_t i, int64_t end)
{
  const int32_t *x = p->cells[0].data, *y = p->cells[1].data, *z = p->cells[2].data;
  const int s = p->shift;
  int64_t j = i + 1;
  while (j < end && j < i + PMB_LANES && y[j] >> s == y[i] >> s && z[j] >> s == z[i] >> s &&
    (x[j] >> s) - (x[i] >> s) <= 16) {
    ++j;
  }
  return j;
}

/* Sets the amounts of a block by its densities. at: first cell of the previous box or (-1,-1,-1); becomes that of this one. */
static void density_of_block(
  pmb_particles *p, pmb_particle_scratch *scratch, int64_t begin, int64_t end, int32_t at[3])
{
  const float *masses = p->request.masses.values ? p->masses.data : NULL;
  near_points b = { .scratch = scratch, .places = p->cpu.tables->places };
  near_search search = { p, masses, { 0 }, { 0 }, &scratch->near, add_densities, &b, NULL, 1 };
  int same_rows = 1;
  for (int a = 0; a < 3; ++a) {
    const int32_t *cells = p->cells[a].data, first = cells[begin] >> p->shift << p->shift;
    search.first[a] = first;
    search.last[a] = ((cells[end - 1] >> p->shift) + 1) * (1 << p->shift) - 1;
    same_rows &= a == 0 || at[a] == first;
    at[a] = first;
    for (int l = 0; l < PMB_LANES; ++l) {
      const int64_t i = begin + l < end ? begin + l : end - 1;
      b.whole[a][l] = (float)(cells[i] - first);
      b.part[a][l] = ((const float *)p->fractions[a].data)[i];
      b.scale[l] = p->request.radii.values ? ((const float *)p->scales.data)[i] : p->scale;
    }
  }
  search_near(&search, same_rows);
  for (int64_t i = begin; i < end; ++i) {
    ((float *)p->amounts.data)[i] = (masses ? masses[i] : 1) / b.sum[i - begin];
  }
}

void PMB_PATH_NAME(pmb_particle_densities)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_DENSITIES;
  const int64_t last = pmb_smaller(first + PMB_PARTICLE_DENSITIES, p->count);
  int32_t at[3] = { -1, -1, -1 };
  for (int64_t begin = first, end; begin < last; begin = end) {
    end = end_of_block(p, begin, last);
    density_of_block(p, pmb_particle_scratch_of(p, worker), begin, end, at);
  }
}
