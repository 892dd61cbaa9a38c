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
  double center[MOST][3], shape[MOST][3][3]; /* of the kernel */
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

/* Without masses, that of a cube of two radii where there are radii. */
static inline double mass_of(const scene *s, int64_t i)
{
  return value_or(&s->request.masses, i, s->request.radii.values ? pow(2 * s->radius[i], 3) : 1);
}

/* Finds the eigenvalues of a symmetric matrix, in its diagonal, and the eigenvectors, in rows, by Jacobi rotations. */
static inline void find_axes(double m[3][3], double axes[3][3])
{
  for (int i = 0; i < 9; i++) axes[i / 3][i % 3] = i % 4 == 0;
  for (int turn = 0; turn < 60; turn++) {
    int p = 0, q = 1;
    if (fabs(m[0][2]) > fabs(m[p][q])) q = 2;
    if (fabs(m[1][2]) > fabs(m[p][q])) p = 1, q = 2;
    const double angle = 0.5 * atan2(2 * m[p][q], m[q][q] - m[p][p]), c = cos(angle), s = sin(angle);
    for (int k = 0; k < 3; k++) {
      const double x = m[k][p], y = m[k][q], u = axes[p][k], v = axes[q][k];
      m[k][p] = c * x - s * y;
      m[k][q] = s * x + c * y;
      axes[p][k] = c * u - s * v;
      axes[q][k] = s * u + c * v;
    }
    for (int k = 0; k < 3; k++) {
      const double x = m[p][k], y = m[q][k];
      m[p][k] = c * x - s * y;
      m[q][k] = s * x + c * y;
    }
  }
}

/* Sets center and shape of particle i from all particles; multiplies its amount by the determinant. */
static inline void scene_shape(scene *s, int64_t i)
{
  const double h = s->length[i];
  double all = 0, determinant = 1, mean[3] = { 0 }, m[3][3] = { { 0 } }, axes[3][3];
  int neighbours = -1;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t j = 0; j < s->request.positions.count; j++) {
      const double weight = 1 - pow(distance_of(s->position[i], s->position[j]) / (2 * h), 3);
      if (weight <= 0) continue;
      neighbours += pass == 0;
      all += pass == 0 ? weight : 0;
      for (int a = 0; a < 3; a++) {
        mean[a] += pass == 0 ? weight * (s->position[j][a] - s->position[i][a]) : 0;
        for (int b = 0; b < 3 && pass == 1; b++)
          m[a][b] += weight / all / (h * h) * (s->position[j][a] - s->position[i][a] - mean[a] / all) *
            (s->position[j][b] - s->position[i][b] - mean[b] / all);
      }
    }
  find_axes(m, axes);
  memset(s->shape[i], 0, sizeof s->shape[i]);
  memcpy(s->center[i], s->position[i], sizeof s->center[i]);
  for (int k = 0; k < 3; k++) {
    const double stretch = neighbours < 6 ? 2 : 1 / fmin(fmax(m[k][k] / 0.5, 0.25), 1);
    s->amount[i] *= stretch;
    determinant *= stretch;
    for (int n = 0; n < 9; n++) s->shape[i][n / 3][n % 3] += stretch * axes[k][n / 3] * axes[k][n % 3];
  }
  for (int k = 0; k < 3; k++) s->center[i][k] += 0.9 * fmin(determinant - 1, 1) * mean[k] / all;
}

/* Distance from particle i, stretched by the shape of its kernel if that is anisotropic. */
static inline double scene_distance(const scene *s, int64_t i, const double at[3])
{
  double sum = 0;
  if (!s->request.anisotropic) return distance_of(s->position[i], at);
  for (int a = 0; a < 3; a++) {
    double along = 0;
    for (int b = 0; b < 3; b++) along += s->shape[i][a][b] * (at[b] - s->center[i][b]);
    sum += along * along;
  }
  return sqrt(sum);
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
      density += mass_of(s, j) * kernel_of(r->kernel, distance_of(s->position[i], s->position[j]) / s->length[i]);
    if (r->densities.values) density = value_or(&r->densities, i, 0) * 3.14159265358979323846 * pow(s->length[i], 3);
    s->amount[i] = mass_of(s, i) / density;
  }
  for (int64_t i = 0; r->anisotropic && i < r->positions.count; i++) scene_shape(s, i);
}

static inline double potential(const scene *s, const double at[3])
{
  const pmb_particle_request *r = &s->request;
  double sum = r->kernel == PMB_KERNEL_SPHERES ? -1e30 : 0;
  for (int64_t i = 0; i < r->positions.count; i++) {
    const double distance = scene_distance(s, i, at);
    if (r->kernel == PMB_KERNEL_SPHERES)
      sum = fmax(sum, s->radius[i] - distance);
    else
      sum += s->amount[i] * kernel_of(r->kernel, distance / s->length[i]);
  }
  return sum;
}

#endif
