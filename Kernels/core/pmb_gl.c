/* SPDX-License-Identifier: BSD-3-Clause
 * Meshes in OpenGL's buffers: pmb_register_gl, pmb_emit_gl. */
#include <stdlib.h>

#include "core/pmb_backend.h"

pmb_status pmb_register_gl(
  pmb_context *context, unsigned points, unsigned normals, unsigned triangles, pmb_gl_buffers **buffers)
{
  if (!context || !buffers) {
    return pmb_fail(context, PMB_INVALID, "pmb_register_gl: %s is NULL", context ? "buffers" : "context");
  }
  *buffers = NULL;
  context->error[0] = '\0';
  if (!context->backend->register_gl) {
    return pmb_fail(context, PMB_UNAVAILABLE, "pmb_register_gl: this context works on the CPU; use pmb_emit");
  }
  pmb_gl_buffers *made = calloc(1, sizeof(*made));
  if (!made) {
    return pmb_fail(context, PMB_OUT_OF_MEMORY, "pmb_register_gl: no memory (%zu bytes)", sizeof(*made));
  }
  made->backend = context->backend;
  made->names[0] = points;
  made->names[1] = normals;
  made->names[2] = triangles;
  const pmb_status status = context->backend->register_gl(context, made);
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
    buffers->backend->unregister_gl(buffers);
    free(buffers);
  }
}

/* Emits to mapped buffers. */
static pmb_status emit_mapped(
  pmb_context *context, const pmb_gl_mesh *gl, void *memory[PMB_GL_BUFFERS], const size_t bytes[PMB_GL_BUFFERS])
{
  const int64_t counts[PMB_GL_BUFFERS] = { context->total.points, context->total.points, context->total.triangles };
  for (int i = 0; i < PMB_GL_BUFFERS; ++i) {
    if (memory[i] && bytes[i] / 12 < (uint64_t)counts[i]) {
      return pmb_fail(context, PMB_INVALID, "pmb_emit_gl: buffer %d of 3 has %zu bytes; the mesh needs 12 times %lld",
        i, bytes[i], (long long)counts[i]);
    }
  }
  const pmb_mesh mesh = { .struct_size = sizeof(mesh),
    .point_capacity = context->total.points,
    .triangle_capacity = context->total.triangles,
    .points = memory[0],
    .point_type = PMB_FLOAT32,
    .normals = memory[1],
    .triangles = memory[2],
    .id_type = PMB_INT32,
    .gradient_estimator = gl->gradient_estimator,
    .on_device = 1 };
  const pmb_status status = pmb_emit(context, &mesh);
  return status == PMB_OK && memory[0] && gl->shift && gl->scale
    ? context->backend->move_gl(context, memory[0], gl->shift, gl->scale)
    : status;
}

pmb_status pmb_emit_gl(pmb_context *context, pmb_gl_buffers *buffers, const pmb_gl_mesh *mesh)
{
  void *memory[PMB_GL_BUFFERS] = { NULL, NULL, NULL };
  size_t bytes[PMB_GL_BUFFERS] = { 0, 0, 0 };
  if (!context) {
    return PMB_INVALID;
  }
  context->error[0] = '\0';
  if (pmb_check_size(context, "pmb_gl_mesh", mesh ? mesh->struct_size : 0, sizeof(*mesh)) != PMB_OK) {
    return PMB_INVALID;
  }
  if (!context->counted) {
    return pmb_fail(context, PMB_INVALID, "pmb_emit_gl: nothing is counted; call pmb_count first");
  }
  if (!buffers || buffers->backend != context->backend) {
    return pmb_fail(context, PMB_INVALID,
      "pmb_emit_gl: the buffers are NULL, or a GPU's while the context works on the CPU; call pmb_register_gl");
  }
  pmb_status status = context->backend->map_gl(context, buffers, memory, bytes);
  if (status == PMB_OK) {
    status = emit_mapped(context, mesh, memory, bytes);
    const pmb_status end = context->backend->unmap_gl(context, buffers);
    status = status == PMB_OK ? end : status;
  }
  return status;
}
