/* SPDX-License-Identifier: BSD-3-Clause
 * OpenGL's buffers, and what a backend does with them. */
#ifndef PMB_GL_JOB_H
#define PMB_GL_JOB_H

#include "core/pmb_backend.h"

/* The slots of pmb_register_gl. Pictures by rays have uses of their own for them. */
enum {
  PMB_GL_POINTS = 0,
  PMB_GL_NORMALS = 1,
  PMB_GL_TRIANGLES = 2,
  PMB_GL_BUFFERS = 3,
  PMB_GL_COLORS = PMB_GL_POINTS,
  PMB_GL_DEPTH = PMB_GL_NORMALS,
  PMB_GL_DEPTH_LIMITS = PMB_GL_TRIANGLES
};

struct pmb_gl_buffers {
  const pmb_backend *backend;
  unsigned names[PMB_GL_BUFFERS]; /* 0: none */
  int count;                      /* of the names that are not 0, and of resources */
  void *resources[PMB_GL_BUFFERS];
  int device;
};

/* map gives the device memory of buffers that have a name, and its bytes, until unmap, which follows a success. move writes points
 * as (x - shift) * scale. */
typedef struct pmb_gl_functions {
  pmb_status (*register_all)(pmb_context *context, pmb_gl_buffers *buffers);
  void (*unregister_all)(pmb_gl_buffers *buffers);
  pmb_status (*map)(
    pmb_context *context, pmb_gl_buffers *buffers, void *memory[PMB_GL_BUFFERS], size_t bytes[PMB_GL_BUFFERS]);
  pmb_status (*move)(pmb_context *context, float *points, int64_t count, const double *shift, const double *scale);
  pmb_status (*unmap)(pmb_context *context, pmb_gl_buffers *buffers);
} pmb_gl_functions;

#endif
