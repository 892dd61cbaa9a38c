/* SPDX-License-Identifier: BSD-3-Clause
 * Particles on FakeGPU: the CPU computes, through the same calls, in a context that has no GPU for them meanwhile. */
#include <string.h>

#include "gl/pmb_gl_job.h"
#include "particles/pmb_particle_job.h"

pmb_status fake_begin_particles(pmb_context* context, int emits);

static pmb_backend without_particles(const pmb_context* context)
{
  pmb_backend backend = *context->backend;
  backend.particles = NULL;
  return backend;
}

static pmb_status count(pmb_context* context, pmb_particles* p)
{
  PMB_STEP(fake_begin_particles(context, 0));
  const pmb_backend *fake = context->backend, cpu = without_particles(context);
  const pmb_particle_request request = p->request;
  pmb_particle_sizes sizes = { .struct_size = sizeof(sizes) };
  context->backend = &cpu;
  const pmb_status status = pmb_particles_count(p, &request, &sizes);
  context->backend = fake;
  p->on_device = status == PMB_OK;
  return status;
}

static pmb_status emit(pmb_context* context, pmb_particles* p, const pmb_mesh* mesh)
{
  PMB_STEP(fake_begin_particles(context, 1));
  const pmb_backend *fake = context->backend, cpu = without_particles(context);
  pmb_mesh host = *mesh;
  host.on_device = 0;
  context->backend = &cpu;
  p->on_device = 0;
  const pmb_status status = pmb_particles_emit(p, &host);
  context->backend = fake;
  p->on_device = 1;
  if (status == PMB_OK && mesh->points && p->world_shift && p->world_scale)
    fake->gl->move(context, mesh->points, p->sizes.points, p->world_shift, p->world_scale);
  for (int i = 6; i < 8; ++i)
  { /* a GPU gives sums of squares, of which the caller takes the roots */
    if (mesh->point_ranges)
      mesh->point_ranges[i] *= mesh->point_ranges[i];
    if (mesh->normal_ranges)
      mesh->normal_ranges[i] *= mesh->normal_ranges[i];
  }
  return status;
}

static void drop(pmb_context* context, const pmb_particles* p)
{
  (void)context;
  (void)p;
}

const pmb_particle_functions fake_particles = { count, emit, drop };
