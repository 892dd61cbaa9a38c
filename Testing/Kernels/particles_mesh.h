/* SPDX-License-Identifier: BSD-3-Clause
 *
 * particles_mesh.h - clouds of particles, and checks of their meshes, for the tests of particles. */
#ifndef PMB_TEST_PARTICLES_MESH_H
#define PMB_TEST_PARTICLES_MESH_H

#include <math.h>

#include "particles/pmb_particles.h"
#include "test_util.h"

#define OWNED_PARTICLES OWNED_BY(own_particles) test_particles
typedef pmb_particles *test_particles;
static inline void own_particles(pmb_particles **particles)
{
  pmb_particles_destroy(*particles);
}

static inline pmb_particles *particles_new(pmb_context *context)
{
  pmb_particles *particles;
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  return particles;
}

enum { ANISOTROPIC = PMB_KERNEL_SPHERES + 1, KERNELS };

/* kernel: a pmb_particle_kernel, or ANISOTROPIC for the anisotropic spline. */
static inline pmb_particle_request request_of(const double *positions, int64_t count, int kernel)
{
  return (pmb_particle_request){ .struct_size = sizeof(pmb_particle_request),
    .positions = { positions, PMB_FLOAT64, count, 0 },
    .spacing = 0.25,
    .isovalue = kernel == PMB_KERNEL_SPHERES ? 0 : 0.5,
    .kernel = kernel == ANISOTROPIC ? PMB_KERNEL_SPLINE : (pmb_particle_kernel)kernel,
    .radius = 0.5,
    .anisotropic = kernel == ANISOTROPIC };
}

/* Checks the ranges of a mesh against its arrays. */
static inline void check_ranges(pmb_context *context, const pmb_mesh *mesh, int64_t points)
{
  double want[2][8];
  if (points == 0) {
    CHECK(mesh->point_ranges[0] > mesh->point_ranges[1], "an empty mesh has a range");
    return;
  }
  CHECK_STATUS(context, pmb_find_ranges(context, mesh->points, mesh->point_type, 3, points, want[0]), PMB_OK);
  CHECK_STATUS(context, pmb_find_ranges(context, mesh->normals, PMB_FLOAT32, 3, points, want[1]), PMB_OK);
  CHECK(!memcmp(want[0], mesh->point_ranges, sizeof want[0]) && !memcmp(want[1], mesh->normal_ranges, sizeof want[1]),
    "ranges from %.17g to %.17g, %.17g to %.17g wanted", mesh->point_ranges[0], mesh->point_ranges[1], want[0][0],
    want[0][1]);
}

/* Counts and emits into a new mesh. Scalars and cells keep their canaries. */
static inline pmb_status extract(pmb_context *context, pmb_particles *particles, const pmb_particle_request *request,
  pmb_type real_type, pmb_type id_type, test_mesh *m)
{
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  pmb_status status = pmb_particles_count(particles, request, &sizes);
  mesh_make(m, (pmb_sizes){ sizes.points, sizes.triangles }, real_type, id_type);
  if (status != PMB_OK) return status;
  double ranges[2][8];
  pmb_mesh view = m->view;
  view.scalars = NULL;
  view.cells = NULL;
  view.point_ranges = ranges[0];
  view.normal_ranges = ranges[1];
  status = pmb_particles_emit(particles, &view);
  if (!CHECK_STATUS(context, status, PMB_OK)) return status;
  check_ranges(context, &view, sizes.points);
  CHECK(mesh_canaries_alive(m), "written past the end");
  for (int64_t i = 0; i <= sizes.triangles; i++) {
    const void *o = m->view.offsets;
    const int64_t offset = id_type == PMB_INT32 ? ((const int32_t *)o)[i] : ((const int64_t *)o)[i];
    if (!CHECK(offset == 3 * i, "offset %lld is %lld", (long long)i, (long long)offset)) break;
  }
  return status;
}

static inline pmb_measures measure(pmb_context *context, const test_mesh *m)
{
  pmb_measures got = { .struct_size = sizeof got };
  const pmb_measure_request request = {
    .struct_size = sizeof request, .mesh = &m->view, .parts = &m->sizes, .part_count = 1
  };
  CHECK_STATUS(context, pmb_measure(context, &request, &got), PMB_OK);
  return got;
}

/* Checks that each edge has two triangles in opposite directions, and each point a triangle. Returns the measures. */
static inline pmb_measures judge_closed(pmb_context *context, const test_mesh *m)
{
  const pmb_measures got = measure(context, m);
  CHECK(got.closed && got.boundary_edges == 0 && got.nonmanifold_edges == 0 && got.points == m->sizes.points,
    "closed %d, %lld open edges, %lld edges of more than two triangles, %lld of %lld points used", got.closed,
    (long long)got.boundary_edges, (long long)got.nonmanifold_edges, (long long)got.points,
    (long long)m->sizes.points);
  return got;
}

/* Extracts with a new object and checks that the mesh is closed, and on a GPU that one thread of plain C makes the same. */
static inline pmb_measures closed_mesh(pmb_context *context, const pmb_particle_request *request, test_mesh *m)
{
  OWNED_PARTICLES particles = particles_new(context);
  CHECK_STATUS(context, extract(context, particles, request, PMB_FLOAT64, PMB_INT32, m), PMB_OK);
  if (test_on_gpu()) {
    OWNED_MESH plain;
    OWNED_CONTEXT cpu = context_new(1, "portable");
    OWNED_PARTICLES by_cpu = particles_new(cpu);
    CHECK_STATUS(cpu, extract(cpu, by_cpu, request, PMB_FLOAT64, PMB_INT32, &plain), PMB_OK);
    if (CHECK(plain.sizes.points == m->sizes.points && plain.sizes.triangles == m->sizes.triangles,
          "%lld points and %lld triangles on the CPU, %lld and %lld on the GPU", (long long)plain.sizes.points,
          (long long)plain.sizes.triangles, (long long)m->sizes.points, (long long)m->sizes.triangles))
      mesh_equal(&plain, m, "the GPU");
  }
  return judge_closed(context, m);
}

static inline double *make_cloud(int64_t n, double size, uint64_t seed)
{
  test_rng rng = { seed };
  double *position = test_allocate(3 * n, sizeof *position);
  for (int64_t i = 0; i < 3 * n; i++) position[i] = rng_real(&rng, 0, size);
  return position;
}

#endif
