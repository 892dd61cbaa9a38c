/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_particles_shapes.c - anisotropic kernels: flat surfaces, sheets, disorder.
 * test_particles.c compares random clouds with the potential of all pairs. */
#include "particles_mesh.h"

/* Points of a lattice, each moved by up to `jitter` along each axis. */
static double *make_lattice(int64_t nx, int64_t ny, int64_t nz, double jitter)
{
  test_rng rng = { 4401 };
  double *position = test_allocate(3 * nx * ny * nz, sizeof *position);
  for (int64_t i = 0; i < nx * ny * nz; i++) {
    position[3 * i] = (double)(i % nx);
    position[3 * i + 1] = (double)(i / nx % ny);
    position[3 * i + 2] = (double)(i / nx / ny);
    for (int a = 0; a < 3; a++) position[3 * i + a] += rng_real(&rng, -jitter, jitter);
  }
  return position;
}

/* Mean and standard deviation of the heights of a surface's upper side within 6 of x = y = 12. */
static void find_heights(const test_mesh *m, double *mean, double *rough)
{
  double sum[3] = { 0, 0, 0 };
  for (int64_t n = 0; n < m->sizes.points; n++) {
    double p[3];
    mesh_point(m, n, p);
    const double height[3] = { 1, p[2], p[2] * p[2] };
    const int counts = fabs(p[0] - 12) < 6 && fabs(p[1] - 12) < 6 && m->view.normals[3 * n + 2] > 0;
    for (int k = 0; k < 3 && counts; k++) sum[k] += height[k];
  }
  *mean = sum[1] / sum[0];
  *rough = sqrt(sum[2] / sum[0] - *mean * *mean);
}

/* The upper side of jittered layers is at least a fifth less rough than with round kernels. One layer is less than half as
 * thick. */
static void flat_surfaces(void)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  for (int thick = 1; thick <= (TEST_SLOW ? 1 : 8); thick += 7) {
    double *position = make_lattice(25, 25, thick, 0.2), mean[2], rough[2];
    test_about("%d layers", thick);
    for (int i = 0; i < 2; i++) {
      pmb_particle_request r = request_of(position, 25 * 25 * thick, i ? ANISOTROPIC : PMB_KERNEL_SPLINE);
      OWNED_MESH m;
      r.isovalue = 0.6;
      r.smoothing = 3;
      r.spacing = 0.125;
      const pmb_measures got = closed_mesh(context, &r, &m);
      CHECK(got.components == 1 && got.euler == 2, "%lld components", (long long)got.components);
      find_heights(&m, &mean[i], &rough[i]);
    }
    CHECK(rough[1] < 0.8 * rough[0], "roughness %g, with round kernels %g", rough[1], rough[0]);
    CHECK(mean[1] < (thick == 1 ? mean[0] / 2 : mean[0]), "height %g, with round kernels %g", mean[1], mean[0]);
    free(position);
  }
}

/* A disordered fluid is one body with at most one bubble: particles in its middle stay in their places. (Moved, they leave 8.) */
static void disordered_fluid(void)
{
  enum { SIDE = 16 };
  OWNED double *position = make_lattice(SIDE, SIDE, SIDE, 0.3);
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED_MESH m;
  pmb_particle_request r = request_of(position, SIDE * SIDE * SIDE, ANISOTROPIC);
  r.isovalue = 0.6;
  r.radius = 0.559; /* as the plugin finds it */
  const pmb_measures got = closed_mesh(context, &r, &m);
  CHECK(got.components <= 2, "%lld components", (long long)got.components);
}

/* clang-format off */
TEST_MAIN(
  CASE(flat_surfaces)
  CASE(disordered_fluid)
)
