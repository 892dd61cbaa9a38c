/* SPDX-License-Identifier: BSD-3-Clause
 * Sums over the neighbours of particles, for passes densities and shapes. */
#ifndef PMB_PARTICLE_BLOCK_H
#define PMB_PARTICLE_BLOCK_H

#include "particles/pmb_particle_near.h"

/* How many of the n particles in `list` form its first block. They are close together, so they share neighbours. */
static inline int size_of_block(const pmb_particles *p, const uint32_t *list, int n)
{
  const int32_t *x = p->cells[0].data, *y = p->cells[1].data, *z = p->cells[2].data;
  const pmb_particle_grade *grade = pmb_grade_at(p->grades, p->grade_count, list[0]);
  const int s = grade->shift;
  const uint32_t i = list[0];
  int size = 1;
  while (size < n && size < PMB_LANES && list[size] < grade->end && y[list[size]] >> s == y[i] >> s &&
    z[list[size]] >> s == z[i] >> s && (x[list[size]] >> s) - (x[i] >> s) <= 16) {
    ++size;
  }
  return size;
}

/* Sets the n particles of a block as the points b, and takes the particles near them. at: reach of the previous box and its first
 * cell along y and z, or -1; becomes those of this one. */
static inline void search_block(const pmb_particles *p, const uint32_t *block, int n, int32_t at[3], near_points *b,
  const float *amounts, void (*take)(void *arg), void *arg)
{
  const pmb_particle_grade *grade = pmb_grade_at(p->grades, p->grade_count, block[0]);
  const int s = grade->shift;
  near_search search = { p, amounts, { 0 }, { 0 }, &b->scratch->near, take, arg, NULL, NULL, grade->reach };
  int same_rows = 1;
  for (int a = 0; a < 3; ++a) {
    const int32_t *cells = p->cells[a].data, first = cells[block[0]] >> s << s, now = a == 0 ? grade->reach : first;
    search.first[a] = first;
    search.last[a] = ((cells[block[n - 1]] >> s) + 1) * (1 << s) - 1;
    same_rows &= at[a] == now;
    at[a] = now;
    for (int l = 0; l < PMB_LANES; ++l) {
      const uint32_t i = block[l < n ? l : n - 1];
      b->whole[a][l] = (float)(cells[i] - first);
      b->part[a][l] = ((const float *)p->fractions[a].data)[i];
      b->scale[l] = p->request.radii.values ? ((const float *)p->scales.data)[i] : p->scale;
    }
  }
  search_near(&search, same_rows);
}

/* Calls `work` for the blocks of a chunk of particles, without those that have an earlier twin. at: for search_block. */
static inline void each_block(pmb_particles *p, int worker, size_t chunk,
  void (*work)(pmb_particles *p, pmb_particle_scratch *scratch, const uint32_t *block, int n, int32_t at[3]))
{
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_DENSITIES;
  const int64_t last = pmb_smaller(first + PMB_PARTICLE_DENSITIES, p->count);
  uint32_t list[PMB_PARTICLE_DENSITIES];
  int32_t at[3] = { -1, -1, -1 };
  int n = 0;
  for (int64_t i = first; i < last; ++i) {
    list[n] = (uint32_t)i;
    n += p->twins[i] == i;
  }
  for (int begin = 0, size; begin < n; begin += size) {
    size = size_of_block(p, list + begin, n - begin);
    work(p, pmb_particle_scratch_of(p, worker), list + begin, size, at);
  }
}

#endif
