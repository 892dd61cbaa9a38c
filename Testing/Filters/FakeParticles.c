/* SPDX-License-Identifier: BSD-3-Clause
 * Particles on FakeGPU: the CPU computes, through the same calls, in a context that has no GPU for them meanwhile. */
#include <string.h>

#include "particles/pmb_particle_job.h"

pmb_status fake_count_particles(pmb_particles* particles);
pmb_status fake_emit_particles(pmb_particles* particles, const pmb_mesh* mesh);

static pmb_backend without_particles(const pmb_context* context)
{
  pmb_backend backend = *context->backend;
  backend.count_particles = NULL;
  return backend;
}

pmb_status fake_count_particles(pmb_particles* p)
{
  pmb_context* context = p->context;
  const pmb_backend *fake = context->backend, cpu = without_particles(context);
  const pmb_particle_request request = p->request;
  pmb_particle_sizes sizes = { .struct_size = sizeof(sizes) };
  context->backend = &cpu;
  const pmb_status status = pmb_particles_count(p, &request, &sizes);
  context->backend = fake;
  p->on_device = status == PMB_OK;
  return status;
}

pmb_status fake_emit_particles(pmb_particles* p, const pmb_mesh* mesh)
{
  pmb_context* context = p->context;
  const pmb_backend *fake = context->backend, cpu = without_particles(context);
  pmb_mesh host = *mesh;
  host.on_device = 0;
  context->backend = &cpu;
  p->on_device = 0;
  const pmb_status status = pmb_particles_emit(p, &host);
  context->backend = fake;
  p->on_device = 1;
  if (status == PMB_OK && mesh->points && p->gl && p->gl->shift && p->gl->scale)
    fake->move_gl(context, mesh->points, p->sizes.points, p->gl->shift, p->gl->scale);
  for (int i = 6; i < 8; ++i)
  { /* a GPU gives sums of squares, of which the caller takes the roots */
    if (mesh->point_ranges)
      mesh->point_ranges[i] *= mesh->point_ranges[i];
    if (mesh->normal_ranges)
      mesh->normal_ranges[i] *= mesh->normal_ranges[i];
  }
  return status;
}
