/* SPDX-License-Identifier: BSD-3-Clause
 * OpenGL's buffers: the functions of pmb_backend. */
#ifndef PMB_CUDA_GL_CUH
#define PMB_CUDA_GL_CUH

#include "cuda/pmb_cuda.cuh"

pmb_status pmb_cuda_register_gl(pmb_context *context, pmb_gl_buffers *buffers);
void pmb_cuda_unregister_gl(pmb_gl_buffers *buffers);
pmb_status pmb_cuda_map_gl(
  pmb_context *context, pmb_gl_buffers *buffers, void *memory[PMB_GL_BUFFERS], size_t bytes[PMB_GL_BUFFERS]);
pmb_status pmb_cuda_move_gl(
  pmb_context *context, float *points, int64_t count, const double *shift, const double *scale);
pmb_status pmb_cuda_unmap_gl(pmb_context *context, pmb_gl_buffers *buffers);

#endif
