/* SPDX-License-Identifier: BSD-3-Clause
 * Meshes and pictures in OpenGL's buffers: pmb_register_gl, pmb_emit_gl, pmb_particles_emit_gl, pmb_cast_rays_gl,
 * pmb_find_visible_gl. */
#include <stdlib.h>

#include "gl/pmb_gl_job.h"
#include "particles/pmb_particle_job.h"
#include "rays/pmb_rays.h"
#include "visible/pmb_visible.h"

pmb_status pmb_register_gl(
  pmb_context *context, unsigned points, unsigned normals, unsigned triangles, pmb_gl_buffers **buffers)
{
  PMB_FAIL_IF(
    !context || !buffers, context, PMB_INVALID, "pmb_register_gl: %s is NULL", context ? "buffers" : "context");
  *buffers = NULL;
  context->error[0] = '\0';
  PMB_FAIL_IF(!context->backend->gl, context, PMB_UNAVAILABLE,
    "pmb_register_gl: this context works on the CPU; use host memory");
  pmb_gl_buffers *made = calloc(1, sizeof(*made));
  PMB_FAIL_IF(!made, context, PMB_OUT_OF_MEMORY, "pmb_register_gl: no memory (%zu bytes)", sizeof(*made));
  made->backend = context->backend;
  made->names[PMB_GL_POINTS] = points;
  made->names[PMB_GL_NORMALS] = normals;
  made->names[PMB_GL_TRIANGLES] = triangles;
  const pmb_status status = context->backend->gl->register_all(context, made);
  if (status == PMB_OK) {
    *buffers = made;
  } else {
    free(made);
  }
  return status;
}

void pmb_unregister_gl(pmb_gl_buffers *buffers)
{
  if (buffers) {
    buffers->backend->gl->unregister_all(buffers);
    free(buffers);
  }
}

static pmb_status map(pmb_context *context, pmb_gl_buffers *buffers, const char *call, void *memory[PMB_GL_BUFFERS],
  size_t bytes[PMB_GL_BUFFERS])
{
  PMB_FAIL_IF(!buffers || buffers->backend != context->backend, context, PMB_INVALID,
    "%s: the buffers are NULL, or a GPU's while the context works on the CPU; call pmb_register_gl", call);
  return context->backend->gl->map(context, buffers, memory, bytes);
}

/* Unmaps the buffers. Returns the first failure: `status`, of the work on them, or that of unmapping. */
static pmb_status unmap(pmb_context *context, pmb_gl_buffers *buffers, pmb_status status)
{
  const pmb_status end = context->backend->gl->unmap(context, buffers);
  return status == PMB_OK ? end : status;
}

/* The count to emit: that of the volume or of particles. */
typedef struct counted {
  const char *call, *count; /* names of the functions, for messages */
  pmb_particles *particles; /* NULL: the volume's */
  pmb_sizes sizes;
} counted;

/* Emits into mapped buffers. */
static pmb_status emit_mapped(pmb_context *context, const counted *from, const pmb_gl_mesh *gl,
  void *memory[PMB_GL_BUFFERS], const size_t bytes[PMB_GL_BUFFERS])
{
  const int64_t counts[PMB_GL_BUFFERS] = { from->sizes.points, from->sizes.points, from->sizes.triangles };
  for (int i = 0; i < PMB_GL_BUFFERS; ++i) {
    PMB_FAIL_IF(memory[i] && bytes[i] / 12 < (uint64_t)counts[i], context, PMB_INVALID,
      "%s: buffer %d of 3 has %zu bytes; the mesh needs 12 times %lld", from->call, i, bytes[i],
      (long long)counts[i]);
  }
  const pmb_mesh mesh = { .struct_size = sizeof(mesh),
    .point_capacity = from->sizes.points,
    .triangle_capacity = from->sizes.triangles,
    .points = memory[PMB_GL_POINTS],
    .point_type = PMB_FLOAT32,
    .normals = memory[PMB_GL_NORMALS],
    .triangles = memory[PMB_GL_TRIANGLES],
    .id_type = PMB_INT32,
    .gradient_estimator = gl->gradient_estimator,
    .on_device = 1 };
  if (from->particles) {
    from->particles->world_shift = gl->scale ? gl->shift : NULL; /* the pass itself moves the points */
    from->particles->world_scale = gl->scale;
    const pmb_status status = pmb_particles_emit(from->particles, &mesh);
    from->particles->world_shift = from->particles->world_scale = NULL;
    return status;
  }
  const pmb_status status = pmb_emit(context, &mesh);
  return status == PMB_OK && mesh.points && gl->shift && gl->scale
    ? context->backend->gl->move(context, mesh.points, from->sizes.points, gl->shift, gl->scale)
    : status;
}

static pmb_status emit(
  pmb_context *context, const counted *from, int is_counted, pmb_gl_buffers *buffers, const pmb_gl_mesh *mesh)
{
  void *memory[PMB_GL_BUFFERS] = { NULL, NULL, NULL };
  size_t bytes[PMB_GL_BUFFERS] = { 0, 0, 0 };
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_gl_mesh, scale, mesh);
  PMB_FAIL_IF(!is_counted, context, PMB_INVALID, "%s: nothing is counted; call %s first", from->call, from->count);
  PMB_STEP(map(context, buffers, from->call, memory, bytes));
  return unmap(context, buffers, emit_mapped(context, from, mesh, memory, bytes));
}

pmb_status pmb_emit_gl(pmb_context *context, pmb_gl_buffers *buffers, const pmb_gl_mesh *mesh)
{
  if (!context) {
    return PMB_INVALID;
  }
  const counted from = { "pmb_emit_gl", "pmb_count", NULL, context->total };
  return emit(context, &from, context->counted, buffers, mesh);
}

pmb_status pmb_particles_emit_gl(pmb_particles *p, pmb_gl_buffers *buffers, const pmb_gl_mesh *mesh)
{
  if (!p) {
    return PMB_INVALID;
  }
  const counted from = { "pmb_particles_emit_gl", "pmb_particles_count", p, { p->sizes.points, p->sizes.triangles } };
  return emit(p->context, &from, p->counted, buffers, mesh);
}

/* Casts into mapped buffers. */
static pmb_status cast_mapped(pmb_context *context, const pmb_ray_request *request, void *memory[PMB_GL_BUFFERS],
  const size_t bytes[PMB_GL_BUFFERS])
{
  const uint64_t pixels = (uint64_t)request->width * (uint64_t)request->height;
  for (int i = 0; i < PMB_GL_BUFFERS; ++i) {
    const uint64_t of_a_pixel = sizeof(float) *
      (i == PMB_GL_COLORS                                    ? 4
          : i == PMB_GL_DEPTH_LIMITS && request->depth_start ? 2
                                                             : 1);
    PMB_FAIL_IF(memory[i] && bytes[i] / of_a_pixel < pixels, context, PMB_INVALID,
      "pmb_cast_rays_gl: buffer %d of 3 has %zu bytes; %d x %d pixels need %llu", i, bytes[i], request->width,
      request->height, (unsigned long long)(of_a_pixel * pixels));
  }
  pmb_ray_request mapped = *request;
  const float *limits = memory[PMB_GL_DEPTH_LIMITS];
  mapped.colors = memory[PMB_GL_COLORS];
  mapped.depth = memory[PMB_GL_DEPTH];
  mapped.depth_limit = request->depth_limit ? limits : NULL;
  mapped.depth_start = request->depth_start && limits ? limits + pixels : NULL;
  mapped.on_device = 1;
  return pmb_cast_rays(context, &mapped);
}

pmb_status pmb_cast_rays_gl(pmb_context *context, pmb_gl_buffers *buffers, const pmb_ray_request *request)
{
  void *memory[PMB_GL_BUFFERS] = { NULL, NULL, NULL };
  size_t bytes[PMB_GL_BUFFERS] = { 0, 0, 0 };
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_ray_request, on_device, request);
  PMB_STEP(map(context, buffers, "pmb_cast_rays_gl", memory, bytes));
  return unmap(context, buffers, cast_mapped(context, request, memory, bytes));
}

/* Finds the visible triangles of a mesh in mapped buffers and writes them to another. */
static pmb_status find_mapped(pmb_context *context, const pmb_visible_request *request, void *const mesh[],
  const size_t mesh_bytes[], void *visible, size_t visible_bytes, int64_t *count)
{
  PMB_FAIL_IF(request->triangle_count > 0 && mesh_bytes[PMB_GL_TRIANGLES] / 12 < (uint64_t)request->triangle_count,
    context, PMB_INVALID,
    "pmb_find_visible_gl: the buffer of the triangles has %zu bytes; the mesh needs 12 times %lld",
    mesh_bytes[PMB_GL_TRIANGLES], (long long)request->triangle_count);
  pmb_visible_request mapped = *request;
  mapped.points = mesh[PMB_GL_POINTS];
  mapped.triangles = mesh[PMB_GL_TRIANGLES];
  mapped.visible = visible;
  mapped.visible_capacity = (int64_t)(visible_bytes / 12);
  mapped.on_device = 1;
  return pmb_find_visible(context, &mapped, count);
}

pmb_status pmb_find_visible_gl(pmb_context *context, pmb_gl_buffers *mesh, pmb_gl_buffers *visible,
  const pmb_visible_request *request, int64_t *count)
{
  static const char call[] = "pmb_find_visible_gl";
  void *memory[PMB_GL_BUFFERS] = { NULL }, *to[PMB_GL_BUFFERS] = { NULL };
  size_t bytes[PMB_GL_BUFFERS] = { 0 }, to_bytes[PMB_GL_BUFFERS] = { 0 };
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_visible_request, on_device, request);
  PMB_STEP(map(context, mesh, call, memory, bytes));
  pmb_status status = map(context, visible, call, to, to_bytes);
  if (status == PMB_OK) {
    status = unmap(context, visible,
      find_mapped(context, request, memory, bytes, to[PMB_GL_TRIANGLES], to_bytes[PMB_GL_TRIANGLES], count));
  }
  return unmap(context, mesh, status);
}
