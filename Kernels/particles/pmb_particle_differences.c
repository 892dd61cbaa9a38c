/* SPDX-License-Identifier: BSD-3-Clause
 * Gradients at the points of a brick by differences of the potential. It is computed around both ends of each edge. */
#include "particles/pmb_particle_near.h"

/* The offset of sample k of the 3 x 3 x 3 around a sample. */
static void offset_of(int k, int offset[3])
{
  offset[0] = k % 3 - 1;
  offset[1] = k / 3 % 3 - 1;
  offset[2] = k / 9 - 1;
}

/* Sets the coordinates of the 16 samples at an offset from the lower (end 0) or upper ends of edges, in cells of the search. */
static void place_samples(
  const pmb_particle_scratch *s, int i, int end, const int offset[3], float (*place)[PMB_LANES])
{
  for (int a = 0; a < 3; ++a) {
    for (int l = 0; l < PMB_LANES; ++l) {
      place[a][l] = s->place[a][0][i + l] + (float)(1 + offset[a] + (end && s->axis[i + l] == a));
    }
  }
}

PMB_INLINE void add_around(const point_sum *b, const int kernel)
{
  pmb_particle_scratch *s = b->scratch;
  near_points at = { .scratch = s, .places = b->p->surface.tables->places }; /* whole numbers of cells */
  for (int i = 0; i < b->points; i += PMB_LANES) {
    for (int k = 0; k < 2 * 27; ++k) {
      float weight[3], *sums = s->around[k / 27][k % 27] + i;
      int offset[3];
      offset_of(k % 27, offset);
      if (pmb_difference_weights((int)b->p->request.normals, offset, weight)) {
        place_samples(s, i, k / 27, offset, at.whole);
        memcpy(at.sum, sums, sizeof(at.sum));
        add_to_points(&at, kernel, 0);
        memcpy(sums, at.sum, sizeof(at.sum));
      }
    }
  }
}

PMB_BY_KERNEL(add_around)

void PMB_PATH_NAME(pmb_particle_differences)(
  const pmb_particles *p, pmb_particle_scratch *s, const pmb_cpu_record *record, int n)
{
  point_sum b = { p, s, n };
  for (int k = 0; k < 2 * 27; ++k) {
    for (int i = 0; i < n + PMB_LANES; ++i) {
      s->around[k / 27][k % 27][i] = p->background;
    }
  }
  search_brick(p, record, s, n, 1, by_kernel[p->kernel], &b, NULL);
  for (int i = 0; i < n; ++i) {
    float at_end[2][3] = { { 0 } };
    for (int k = 0; k < 2 * 27; ++k) {
      float weight[3];
      int offset[3];
      offset_of(k % 27, offset);
      pmb_difference_weights((int)p->request.normals, offset, weight);
      for (int a = 0; a < 3; ++a) {
        at_end[k / 27][a] += weight[a] * s->around[k / 27][k % 27][i];
      }
    }
    for (int a = 0; a < 3; ++a) {
      s->sum[a][i] = pmb_difference_between(at_end[0][a], at_end[1][a], s->place[s->axis[i]][1][i]);
    }
  }
}
