/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: place, gradient and normal of every point. A warp has a brick, from the list of the active ones
 * (pmb_cuda_vertices_list.cuh); where most are active, from shared memory (pmb_cuda_vertices_columns.cu). */
#include "cuda/pmb_cuda_vertices_brick.cuh"

/* Whether products with what is not on the diagonals change nothing: 0 + x is x unless both are -0. */
static int is_diagonal(const pmb_frame *frame)
{
  for (int i = 0; i < 9; ++i) {
    if (i % 4 != 0 && (frame->matrix_f32[i] != 0 || frame->matrix_f64[i] != 0)) {
      return 0;
    }
  }
  return frame->diagonal;
}

static int flags_of(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int points = output->point_type == PMB_FLOAT32 ? PMB_CUDA_AS_FLOAT : PMB_CUDA_AS_DOUBLE;
  return (output->d_points ? points : 0) | (output->d_normals ? PMB_CUDA_NORMALS : 0) |
    (output->d_gradients ? PMB_CUDA_GRADIENTS : 0) | (output->d_parameter ? PMB_CUDA_PARAMETERS : 0) |
    (is_diagonal(&cuda->job.frame) ? PMB_CUDA_DIAGONAL : 0);
}

/* Vertices and triangles together: active bricks of a multiprocessor, at most; warps that share a brick's points where there
 * are fewer bricks than that. */
enum { FEW = 32, FEWER = 8, FEWEST = 5 };

int pmb_cuda_test_parts;

/* Warps that share a brick's points; 0: the passes have launches of their own. */
static int parts_of(const pmb_cuda *cuda)
{
  const int64_t bricks = cuda->active, processors = cuda->processors;
  if (pmb_cuda_test_parts) {
    return max(pmb_cuda_test_parts, 0);
  }
  return bricks > FEW * processors ? 0 : bricks > FEWER * processors ? 1 : bricks > FEWEST * processors ? 2 : 4;
}

int pmb_cuda_emit_together(pmb_cuda *cuda, const pmb_cuda_output *output, cudaError_t *error)
{
  const int parts = parts_of(cuda);
  int as_double = 0;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, as_double = sizeof(typename pmb_cuda_real<T>::type) == 8);
  if (parts == 0 || as_double || flags_of(cuda, output) != PMB_CUDA_USUAL || pmb_cuda_needs_general(cuda, output) ||
    !output->d_triangles || output->d_cells || !fits_int(cuda->job)) {
    return 0;
  }
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, *error = pmb_cuda_emit_list_together<T>(cuda, output, parts));
  return 1;
}

pmb_status pmb_cuda_vertices(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int flags = flags_of(cuda, output);
  cudaError_t error = cudaSuccess;
  if (pmb_cuda_needs_general(cuda, output)) {
    error = pmb_cuda_vertices_general(cuda, output, flags);
  } else if (!pmb_cuda_vertices_columns(cuda, output, flags, &error)) {
    PMB_CUDA_BY_TYPE(cuda->context->volume.type, (error = pmb_cuda_vertices_list<T>(cuda, output, flags)));
  }
  return pmb_cuda_check(cuda->context, error, "launch of vertices");
}
