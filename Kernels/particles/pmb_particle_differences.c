/* SPDX-License-Identifier: BSD-3-Clause
 * Gradients at the points of a brick by differences of the potential. It is computed around both ends of each edge. */
#include "particles/pmb_particle_near.h"

typedef struct around_sum {
  const pmb_particles *p;
  pmb_particle_scratch *scratch;
  int points;
} around_sum;

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

/* Adds the listed particles to 16 samples. */
PMB_INLINE void add_to_samples(const pmb_particle_near *near, const uint16_t *list, int n, const int kernel,
  float (*place)[PMB_LANES], float *sums)
{
  float sum[PMB_LANES];
  memcpy(sum, sums, sizeof(sum));
  for (int i = 0; i < n; ++i) {
    const int j = list[i];
    PMB_EACH_LANE (l) {
      const float x = pmb_particle_offset(place[0][l], 0, near->cell[0][j], near->fraction[0][j]);
      const float y = pmb_particle_offset(place[1][l], 0, near->cell[1][j], near->fraction[1][j]);
      const float z = pmb_particle_offset(place[2][l], 0, near->cell[2][j], near->fraction[2][j]);
      sum[l] =
        pmb_kernel_add(kernel, sum[l], near_distance2(near, j, kernel, x, y, z), near->scale[j], near->amount[j]);
    }
  }
  memcpy(sums, sum, sizeof(sum));
}

PMB_INLINE void add_around(around_sum *b, const int kernel)
{
  pmb_particle_scratch *s = b->scratch;
  for (int i = 0; i < b->points; i += PMB_LANES) {
    for (int k = 0; k < 2 * 27; ++k) {
      const float none[3][PMB_LANES] = { { 0 } };
      float place[3][PMB_LANES], weight[3];
      int offset[3];
      offset_of(k % 27, offset);
      if (pmb_difference_weights((int)b->p->request.normals, offset, weight)) {
        place_samples(s, i, k / 27, offset, place);
        const int n = list_near_points(s, b->p->surface.tables->places, (const float(*)[PMB_LANES])place, none);
        add_to_samples(&s->near, s->list, n, kernel, place, s->around[k / 27][k % 27] + i);
      }
    }
  }
}

PMB_BY_KERNEL(add_around)

void PMB_PATH_NAME(pmb_particle_differences)(
  const pmb_particles *p, pmb_particle_scratch *s, const pmb_cpu_record *record, int n)
{
  around_sum b = { p, s, n };
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
