/* SPDX-License-Identifier: BSD-3-Clause
 *
 * particles_cloud.h - random clouds of particles with all arrays that a request may have, and their meshes with attributes. */
#ifndef PMB_TEST_PARTICLES_CLOUD_H
#define PMB_TEST_PARTICLES_CLOUD_H

#include "particles_mesh.h"

enum { MOST = 4000, COMPONENTS = 3 };

typedef struct cloud {
  int64_t count;
  double position[3 * MOST], radius[MOST], mass[MOST], density[MOST], weight[MOST];
  float attribute[COMPONENTS * MOST];
} cloud;

/* Makes a cloud of 200 to MOST particles, some of them at one place, and one without a place. has_large: radii differ by up to 20. */
static inline void fill_cloud(cloud *c, test_rng *rng, double size, int has_large)
{
  c->count = rng_int(rng, 200, TEST_SLOW ? 600 : MOST);
  for (int64_t i = 0; i < c->count; i++) {
    for (int a = 0; a < 3; a++) {
      const double place = rng_real(rng, -size, size);
      c->position[3 * i + a] = i % 9 == 8 ? c->position[3 * (i - 7) + a] : a == 2 ? 2 * place : place;
      c->attribute[COMPONENTS * i + a] = (float)rng_real(rng, -1, 1);
    }
    c->radius[i] = i % 50 || !has_large ? rng_real(rng, has_large ? 0.06 : 0.3, 0.5) : 1.2;
    c->mass[i] = rng_real(rng, 0.5, 2);
    c->density[i] = rng_real(rng, 0.5, 2);
    c->weight[i] = rng_real(rng, -0.3, 1);
  }
  c->position[7] = NAN;
}

/* A request for a cloud. The bits of `with` choose among the arrays that its kernel takes. */
static inline pmb_particle_request request_for(const cloud *c, int kernel, int with)
{
  const int64_t n = c->count;
  pmb_particle_request r = request_of(c->position, n, kernel);
  r.normals = (pmb_particle_normals)(with % 4);
  if (with & 1) r.radii = (pmb_particle_array){ c->radius, PMB_FLOAT64, n, 0 };
  if (with & 2 && r.kernel == PMB_KERNEL_SPLINE) r.masses = (pmb_particle_array){ c->mass, PMB_FLOAT64, n, 0 };
  if (with & 4 && r.kernel == PMB_KERNEL_SPLINE) r.densities = (pmb_particle_array){ c->density, PMB_FLOAT64, n, 0 };
  if (with & 2 && (kernel == PMB_KERNEL_GAUSSIAN || kernel == PMB_KERNEL_POLYNOMIAL))
    r.weights = (pmb_particle_array){ c->weight, PMB_FLOAT64, n, 0 };
  return r;
}

/* A mesh with the cloud's attribute. */
#define OWNED_CLOUD_MESH OWNED_BY(cloud_mesh_free) cloud_mesh
typedef struct cloud_mesh {
  test_mesh mesh;
  float *values;
} cloud_mesh;

static inline void cloud_mesh_free(cloud_mesh *m)
{
  mesh_free(&m->mesh);
  free(m->values);
}

static inline int cloud_mesh_equal(const cloud_mesh *a, const cloud_mesh *b, const char *what)
{
  return mesh_equal(&a->mesh, &b->mesh, what) &&
    CHECK(!memcmp(a->values, b->values, (size_t)a->mesh.sizes.points * COMPONENTS * sizeof *a->values),
      "%s: attributes differ", what);
}

/* Counts and emits into a new mesh. Scalars and cells keep their canaries. */
static inline void cloud_extract(pmb_context *context, pmb_particles *particles, const pmb_particle_request *request,
  const cloud *c, pmb_type real_type, pmb_type id_type, cloud_mesh *m)
{
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  double ranges[2][8];
  CHECK_STATUS(context, pmb_particles_count(particles, request, &sizes), PMB_OK);
  mesh_make(&m->mesh, (pmb_sizes){ sizes.points, sizes.triangles }, real_type, id_type);
  m->values = test_allocate(COMPONENTS * sizes.points + 1, sizeof *m->values);
  const pmb_attribute attribute = { c->attribute, PMB_FLOAT32, COMPONENTS, m->values, 0 };
  pmb_mesh view = m->mesh.view;
  view.scalars = NULL;
  view.cells = NULL;
  view.point_ranges = ranges[0];
  view.normal_ranges = ranges[1];
  view.attributes = &attribute;
  view.attribute_count = sizes.points > 0;
  CHECK_STATUS(context, pmb_particles_emit(particles, &view), PMB_OK);
  check_ranges(context, &view, sizes.points);
  CHECK(mesh_canaries_alive(&m->mesh), "written past the end");
}

#endif
