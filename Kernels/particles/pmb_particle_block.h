/* SPDX-License-Identifier: BSD-3-Clause
 * Sums over the neighbours of particles, for passes densities and shapes. */
#ifndef PMB_PARTICLE_BLOCK_H
#define PMB_PARTICLE_BLOCK_H

#include "particles/pmb_particle_near.h"

/* The end of the block that begins with particle i. Its particles are close together, so they share neighbours. */
static inline int64_t end_of_block(const pmb_particles *p, int64_t i, int64_t end)
{
  const int32_t *x = p->cells[0].data, *y = p->cells[1].data, *z = p->cells[2].data;
  const pmb_particle_grade *grade = pmb_grade_at(p->grades, p->grade_count, i);
  const int s = grade->shift;
  int64_t j = i + 1;
  while (j < end && j < grade->end && j < i + PMB_LANES && y[j] >> s == y[i] >> s && z[j] >> s == z[i] >> s &&
    (x[j] >> s) - (x[i] >> s) <= 16) {
    ++j;
  }
  return j;
}

/* Sets the particles of a block as the points b, and takes the particles near them. at: reach of the previous box and its first
 * cell along y and z, or -1; becomes those of this one. */
static inline void search_block(const pmb_particles *p, int64_t begin, int64_t end, int32_t at[3], near_points *b,
  const float *amounts, void (*take)(void *arg), void *arg)
{
  const pmb_particle_grade *grade = pmb_grade_at(p->grades, p->grade_count, begin);
  const int s = grade->shift;
  near_search search = { p, amounts, { 0 }, { 0 }, &b->scratch->near, take, arg, NULL, NULL, grade->reach };
  int same_rows = 1;
  for (int a = 0; a < 3; ++a) {
    const int32_t *cells = p->cells[a].data, first = cells[begin] >> s << s, now = a == 0 ? grade->reach : first;
    search.first[a] = first;
    search.last[a] = ((cells[end - 1] >> s) + 1) * (1 << s) - 1;
    same_rows &= at[a] == now;
    at[a] = now;
    for (int l = 0; l < PMB_LANES; ++l) {
      const int64_t i = begin + l < end ? begin + l : end - 1;
      b->whole[a][l] = (float)(cells[i] - first);
      b->part[a][l] = ((const float *)p->fractions[a].data)[i];
      b->scale[l] = p->request.radii.values ? ((const float *)p->scales.data)[i] : p->scale;
    }
  }
  search_near(&search, same_rows);
}

/* Calls `work` for the blocks of a chunk of particles. at: for search_block. */
static inline void each_block(pmb_particles *p, int worker, size_t chunk,
  void (*work)(pmb_particles *p, pmb_particle_scratch *scratch, int64_t begin, int64_t end, int32_t at[3]))
{
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_DENSITIES;
  const int64_t last = pmb_smaller(first + PMB_PARTICLE_DENSITIES, p->count);
  int32_t at[3] = { -1, -1, -1 };
  for (int64_t begin = first, end; begin < last; begin = end) {
    end = end_of_block(p, begin, last);
    work(p, pmb_particle_scratch_of(p, worker), begin, end, at);
  }
}

#endif
