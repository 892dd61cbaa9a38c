/* SPDX-License-Identifier: BSD-3-Clause
 * The CUDA backend: the functions of the volume and of each feature. */
#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "gl/pmb_gl_job.h"
#include "particles/pmb_particle_job.h"
#include "rays/pmb_ray_tile.h"
#include "visible/pmb_visible_job.h"

extern const pmb_gl_functions pmb_cuda_gl;
extern const pmb_ray_functions pmb_cuda_rays;
extern const pmb_particle_functions pmb_cuda_particles;
extern const pmb_visible_functions pmb_cuda_visible;

extern const pmb_backend pmb_cuda_backend = { "cuda", pmb_cuda_create, pmb_cuda_destroy, pmb_cuda_bind,
  pmb_cuda_unbind, pmb_cuda_count, pmb_cuda_emit, pmb_cuda_refresh, pmb_cuda_summary, 1, pmb_cuda_fill_offsets,
  &pmb_cuda_gl, &pmb_cuda_rays, &pmb_cuda_particles, &pmb_cuda_visible };
}
