/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices: place, gradient and normal of each point. A warp takes a brick from the list of active ones
 * (pmb_cuda_vertices_list.cuh), or in large dense volumes reads samples from shared memory (pmb_cuda_vertices_columns.cu). This
 * file chooses between these, and has slower reads for hidden samples and for all estimators of gradients. */
#include "cuda/pmb_cuda_vertices_list.cuh"

/* Each type has a file of its own, see sources.cmake. */
#define PMB_VERTICES_LIST(NAME, sample, name, real)                                                     \
  extern template cudaError_t pmb_cuda_vertices_list<sample>(pmb_cuda *, const pmb_cuda_output *, int); \
  extern template cudaError_t pmb_cuda_emit_list_in_one_launch<sample>(pmb_cuda *, const pmb_cuda_output *, int);
PMB_SAMPLE_TYPES(PMB_VERTICES_LIST)

/* The index gradient at a sample. */
template <class T>
static __device__ __forceinline__ void gradient_at(
  const vertex_setting &setting, const int *place, typename pmb_cuda_real<T>::type *g)
{
  typedef typename pmb_cuda_real<T>::type real;
  const pmb_cuda_job &job = setting.job;
  const int estimator = setting.output.estimator;
  real s[27]; /* around the sample, [9 z + 3 y + x]; all 27 only for Sobel */
#pragma unroll
  for (int n = 0; n < 27; ++n) {
    const int x = n % 3 - 1, y = n / 3 % 3 - 1, z = n / 9 - 1;
    if (estimator == PMB_SOBEL || x * x + y * y + z * z <= 1) {
      s[n] = read_sample<T>(job, place[0] + x, place[1] + y, place[2] + z);
    }
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const int step = a == 0 ? 1 : a == 1 ? 3 : 9, first = a == 0 ? 3 : 1, second = a == 2 ? 3 : 9;
    const real *below = s + 13 - step, *above = s + 13 + step, factor = factor_at<real>(job, place, a);
    if (estimator == PMB_SOBEL) {
      real d[9];
#pragma unroll
      for (int n = 0; n < 9; ++n) {
        const int at = (n % 3 - 1) * first + (n / 3 - 1) * second;
        d[n] = pmb_difference(below[at], above[at], factor);
      }
      g[a] = pmb_sobel(d);
    } else {
      g[a] = estimator == PMB_FORWARD ? pmb_forward(*below, s[13], *above, place[a] >= job.dims[a] - 1)
                                      : pmb_difference(*below, *above, factor);
    }
  }
}

/* Reads samples one by one; hidden ones as NaN. */
template <class T> struct general_samples {
  typedef T type;
  enum { ONE_ISOVALUE = 0, BLOCKS = 2 };
};

template <class T>
static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting, const general_samples<T> &,
  int, int, const point_of<T> &p, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int gradient = setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS);
#pragma unroll 1
  for (int end = 0; end < 2; ++end) {
    real at_end[3] = {};
    const int place[3] = { p.low[0] + (end && p.kind == 0), p.low[1] + (end && p.kind == 1),
      p.low[2] + (end && p.kind == 2) };
    const real sample =
      lifted(((const T *)setting.job.d_samples)[pmb_cuda_place(setting.job, place[0], place[1], place[2])]);
    if (gradient) {
      gradient_at<T>(setting, place, at_end);
    }
    s->ends[0] = end ? s->ends[0] : sample;
    s->ends[1] = sample;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      s->low[a] = end ? s->low[a] : at_end[a];
      s->high[a] = at_end[a];
    }
  }
}

/* The points of any brick. */
template <int FLAGS, class T>
static __device__ __forceinline__ void emit_brick(const vertex_setting &setting, general_samples<T> samples,
  const brick_head &head, uint32_t, vertex_scratch *scratch)
{
  brick_work work;
  if (begin_brick(setting, head, &work)) {
    work.box = pmb_cuda_box_of(setting.job, head_at(head, BRICK_LANE));
    emit_portions<REPAIR>(setting, samples, head, work, scratch);
  }
}

/* ---- which kernel ---- */

/* Whether the output needs general_samples. */
static int needs_general(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  return cuda->job.d_slots ||
    ((output->estimator != PMB_CENTRAL || cuda->job.d_sample_flags) && (output->d_normals || output->d_gradients));
}

static int flags_of(const pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int points = output->point_type == PMB_FLOAT32 ? PMB_CUDA_AS_FLOAT : PMB_CUDA_AS_DOUBLE;
  return (output->d_points ? points : 0) | (output->d_normals ? PMB_CUDA_NORMALS : 0) |
    (output->d_gradients ? PMB_CUDA_GRADIENTS : 0) | (output->d_parameter ? PMB_CUDA_PARAMETERS : 0) |
    (cuda->job.frame.diagonal ? PMB_CUDA_DIAGONAL : 0);
}

int pmb_cuda_test_parts;

/* Warps that share a brick's points if both passes have one launch; 0: separate launches. */
static int parts_of(const pmb_cuda *cuda)
{
  const int64_t bricks = cuda->active / cuda->processors;
  if (pmb_cuda_test_parts) {
    return max(pmb_cuda_test_parts, 0);
  }
  return bricks >= 32 ? 0 : bricks >= 8 ? 1 : bricks >= 5 ? 2 : 4;
}

int pmb_cuda_emit_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, cudaError_t *error)
{
  const int parts = parts_of(cuda);
  const pmb_type type = cuda->context->volume.type;
  if (parts == 0 || flags_of(cuda, output) != PMB_CUDA_USUAL || needs_general(cuda, output) || !output->d_triangles ||
    output->d_cells || !fits_int(cuda->job)) {
    return 0;
  }
  *error = PMB_CUDA_BY_TYPE(type, pmb_cuda_emit_list_in_one_launch<T>(cuda, output, parts));
  return 1;
}

pmb_status pmb_cuda_vertices(pmb_cuda *cuda, const pmb_cuda_output *output)
{
  const int flags = flags_of(cuda, output);
  cudaError_t error = cudaSuccess;
  if (needs_general(cuda, output)) {
    error =
      PMB_CUDA_BY_TYPE(cuda->context->volume.type, (launch_vertices<general_samples<T>, ANY>(cuda, output, flags)));
  } else if (!pmb_cuda_vertices_columns(cuda, output, flags, &error)) {
    error = PMB_CUDA_BY_TYPE(cuda->context->volume.type, pmb_cuda_vertices_list<T>(cuda, output, flags));
  }
  return pmb_cuda_check(cuda->context, error, "launch of vertices");
}
