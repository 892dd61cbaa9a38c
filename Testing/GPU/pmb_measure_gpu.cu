/* SPDX-License-Identifier: BSD-3-Clause
 * Times the GPU's passes, with the library's private headers. */
#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "pmb_measure_gpu.h"
}

enum { MARKS = 4, REPEATS = 100 };

/* Runs select and classify for the next count. */
static pmb_status run_count(pmb_cuda *cuda)
{
  cuda->job.epoch = ++cuda->epoch;
  return pmb_cuda_classify(cuda);
}

/* Runs vertices and triangles and waits. between: event to record between the two, or NULL. end: event to record after both. */
static pmb_status run_emit(
  pmb_context *context, pmb_cuda *cuda, const pmb_cuda_surface *surface, cudaEvent_t between, cudaEvent_t end)
{
  if (between) {
    PMB_STEP(pmb_cuda_vertices(cuda, &surface->out));
    PMB_CUDA_TRY(context, cudaEventRecord(between, cuda->compute));
    PMB_STEP(pmb_cuda_triangles(cuda, surface->job, &surface->out));
  } else {
    PMB_STEP(pmb_cuda_enqueue_emit(cuda, surface));
  }
  PMB_CUDA_TRY(context, cudaEventRecord(end, cuda->compute));
  return pmb_cuda_check(context, cudaStreamSynchronize(cuda->compute), "measuring");
}

static double between(cudaEvent_t begin, cudaEvent_t end)
{
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms;
}

/* Times the passes of an isovalue together, then with an event after each. */
static pmb_status measure_passes(pmb_context *context, pmb_cuda *cuda, const pmb_cuda_surface *surface,
  cudaEvent_t *marks, int repeats, pmb_gpu_times *times)
{
  double all[REPEATS] = {}, part[3][REPEATS] = {};
  for (int i = -3; i < repeats; ++i) {
    const int n = i < 0 ? 0 : i;
    PMB_CUDA_TRY(context, cudaEventRecord(marks[0], cuda->compute));
    PMB_STEP(run_count(cuda));
    PMB_STEP(run_emit(context, cuda, surface, NULL, marks[3]));
    all[n] = between(marks[0], marks[3]);
    PMB_CUDA_TRY(context, cudaEventRecord(marks[0], cuda->compute));
    PMB_STEP(run_count(cuda));
    PMB_CUDA_TRY(context, cudaEventRecord(marks[1], cuda->compute));
    PMB_STEP(run_emit(context, cuda, surface, marks[2], marks[3]));
    for (int p = 0; p < 3; ++p) {
      part[p][n] = between(marks[p], marks[p + 1]);
    }
  }
  times->isovalues = pmb_median(all, repeats);
  times->classify = pmb_median(part[0], repeats);
  times->vertices = pmb_median(part[1], repeats);
  times->triangles = pmb_median(part[2], repeats);
  return PMB_OK;
}

/* Times summarize alone, then with all passes after it. */
static pmb_status measure_first(pmb_context *context, pmb_cuda *cuda, const pmb_cuda_surface *surface,
  cudaEvent_t *marks, int repeats, pmb_gpu_times *times)
{
  double alone[REPEATS] = {}, all[REPEATS] = {};
  for (int i = -3; i < repeats; ++i) {
    const int n = i < 0 ? 0 : i;
    PMB_CUDA_TRY(context, cudaEventRecord(marks[0], cuda->compute));
    PMB_STEP(pmb_cuda_summarize(cuda));
    PMB_CUDA_TRY(context, cudaEventRecord(marks[1], cuda->compute));
    PMB_CUDA_TRY(context, cudaStreamSynchronize(cuda->compute));
    alone[n] = between(marks[0], marks[1]);
    PMB_CUDA_TRY(context, cudaEventRecord(marks[0], cuda->compute));
    PMB_STEP(pmb_cuda_summarize(cuda));
    PMB_STEP(run_count(cuda));
    PMB_STEP(run_emit(context, cuda, surface, NULL, marks[3]));
    all[n] = between(marks[0], marks[3]);
  }
  times->summarize = pmb_median(alone, repeats);
  times->first = pmb_median(all, repeats);
  return PMB_OK;
}

static pmb_status measure_copy(pmb_context *context, pmb_cuda *cuda, cudaEvent_t *marks, pmb_gpu_times *times)
{
  const size_t bytes = (size_t)1 << 30;
  pmb_cuda_buffer from = {}, to = {};
  double all[10] = {};
  pmb_status status = pmb_cuda_reserve(cuda, &from, (int64_t)bytes, 1, "the copy");
  status = status == PMB_OK ? pmb_cuda_reserve(cuda, &to, (int64_t)bytes, 1, "the copy") : status;
  for (int i = -2; i < 10 && status == PMB_OK; ++i) {
    cudaEventRecord(marks[0], cuda->compute);
    cudaMemcpyAsync(to.d_data, from.d_data, bytes, cudaMemcpyDeviceToDevice, cuda->compute);
    cudaEventRecord(marks[1], cuda->compute);
    status = pmb_cuda_check(context, cudaStreamSynchronize(cuda->compute), "copy");
    all[i < 0 ? 0 : i] = between(marks[0], marks[1]);
  }
  pmb_cuda_release(&from);
  pmb_cuda_release(&to);
  times->copy_rate = status == PMB_OK ? 2 * (double)bytes / (1e-3 * pmb_median(all, 10)) : 0;
  return status;
}

static int64_t acceleration_bytes(const pmb_cuda *cuda)
{
  const int64_t active = cuda->totals->active;
  return (int64_t)(cuda->volume->summary.capacity + cuda->volume->flags.capacity + cuda->map.capacity +
           cuda->sums.capacity) +
    active * (int64_t)(sizeof(pmb_cuda_record) + sizeof(pmb_sizes) + sizeof(uint32_t));
}

static pmb_status measure(pmb_context *context, pmb_cuda *cuda, cudaEvent_t *marks, int repeats, pmb_gpu_times *times)
{
  float dummy = 0;
  pmb_mesh mesh = {};
  const pmb_group group = {};
  pmb_cuda_surface surface = {};
  mesh.struct_size = sizeof(mesh);
  mesh.points = mesh.triangles = mesh.normals = &dummy; /* not NULL: wanted */
  mesh.point_type = PMB_FLOAT32;
  mesh.id_type = PMB_INT32;
  surface.job = &cuda->job;
  surface.group = &group;
  surface.mesh = &mesh;
  surface.sizes = cuda->sizes;
  pmb_status status = pmb_cuda_make_output(cuda, &surface);
  status = status == PMB_OK ? measure_passes(context, cuda, &surface, marks, repeats, times) : status;
  status = status == PMB_OK ? measure_first(context, cuda, &surface, marks, repeats, times) : status;
  status = status == PMB_OK ? measure_copy(context, cuda, marks, times) : status;
  times->points = cuda->totals->sizes.points;
  times->triangle_count = cuda->totals->sizes.triangles;
  times->bytes_read = cuda->job.slice * cuda->job.dims[2] * (int64_t)pmb_type_size(context->volume.type);
  times->acceleration_bytes = acceleration_bytes(cuda);
  return status;
}

extern "C" pmb_status pmb_measure_gpu(pmb_context *context, const double *isovalues, int64_t isovalue_count,
  int remove_degenerate, int repeats, pmb_gpu_times *times)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  cudaEvent_t marks[MARKS];
  pmb_sizes sizes;
  pmb_request request = { sizeof(request), isovalues, isovalue_count, remove_degenerate };
  memset(times, 0, sizeof(*times));
  if (context->backend != &pmb_cuda_backend || repeats < 1 || repeats > REPEATS ||
    isovalue_count > context->at_once) {
    return pmb_fail(context, PMB_INVALID,
      "pmb_measure_gpu: not a context on the GPU, too many isovalues, or not 1 to %d repeats", REPEATS);
  }
  pmb_status status = pmb_count(context, &request, &sizes, NULL);
  if (status != PMB_OK || context->classified_end - context->classified_begin != isovalue_count) {
    return status; /* PMB_OK and times of 0: memory is too small for all isovalues at once */
  }
  for (int i = 0; i < MARKS; ++i) {
    PMB_CUDA_TRY(context, cudaEventCreate(&marks[i]));
  }
  cuda->epoch = 1; /* the counts below do not wrap it around */
  PMB_CUDA_TRY(context, cudaMemsetAsync(cuda->sums.d_data, 0, cuda->sums.capacity, cuda->compute));
  status = measure(context, cuda, marks, repeats, times);
  cudaStreamSynchronize(cuda->compute); /* what was enqueued before a failure */
  for (int i = 0; i < MARKS; ++i) {
    cudaEventDestroy(marks[i]);
  }
  context->counted = 0;
  context->classified_begin = context->classified_end = 0;
  return status;
}
