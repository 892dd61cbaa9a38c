/* SPDX-License-Identifier: BSD-3-Clause
 *
 * particles_reference.h - the potential summed over all particles, in double; for the tests of particles. */
#ifndef PMB_TEST_PARTICLES_REFERENCE_H
#define PMB_TEST_PARTICLES_REFERENCE_H

#include <math.h>
#include <string.h>

#include "particles/pmb_particles.h"

enum { MOST = 32 };

typedef struct scene {
  pmb_particle_request request;
  double position[MOST][3], radius[MOST], length[MOST], amount[MOST];
} scene;

static inline double kernel_of(pmb_particle_kernel kernel, double q)
{
  switch (kernel) {
    case PMB_KERNEL_SPLINE:
      return 2 * pow(fmax(1 - q / 2, 0), 3) - pow(fmax(1 - q, 0), 3);
    case PMB_KERNEL_GAUSSIAN:
      return fmax(exp(-q * q) - exp(-9), 0);
    default:
      return pow(fmax(1 - q * q / 4, 0), 3);
  }
}

static inline double distance_of(const double a[3], const double b[3])
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static inline double value_or(const pmb_particle_array *array, int64_t i, double other)
{
  return array->values ? ((const double *)array->values)[i] : other;
}

static inline void scene_make(scene *s, const pmb_particle_request *r)
{
  s->request = *r;
  for (int64_t i = 0; i < r->positions.count; i++) {
    memcpy(s->position[i], (const double *)r->positions.values + 3 * i, sizeof s->position[i]);
    s->radius[i] = value_or(&r->radii, i, r->radius);
    s->length[i] = (r->smoothing ? r->smoothing : 2) * s->radius[i];
    s->amount[i] = value_or(&r->weights, i, 1);
  }
  for (int64_t i = 0; r->kernel == PMB_KERNEL_SPLINE && i < r->positions.count; i++) {
    double density = 0;
    for (int64_t j = 0; j < r->positions.count; j++)
      density +=
        value_or(&r->masses, j, 1) * kernel_of(r->kernel, distance_of(s->position[i], s->position[j]) / s->length[i]);
    if (r->densities.values) density = value_or(&r->densities, i, 0) * 3.14159265358979323846 * pow(s->length[i], 3);
    s->amount[i] = value_or(&r->masses, i, 1) / density;
  }
}

static inline double potential(const scene *s, const double at[3])
{
  const pmb_particle_request *r = &s->request;
  double sum = r->kernel == PMB_KERNEL_SPHERES ? -1e30 : 0;
  for (int64_t i = 0; i < r->positions.count; i++) {
    const double distance = distance_of(s->position[i], at);
    if (r->kernel == PMB_KERNEL_SPHERES)
      sum = fmax(sum, s->radius[i] - distance);
    else
      sum += s->amount[i] * kernel_of(r->kernel, distance / s->length[i]);
  }
  return sum;
}

#endif
