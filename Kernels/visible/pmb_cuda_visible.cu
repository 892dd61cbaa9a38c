/* SPDX-License-Identifier: BSD-3-Clause
 * The visible triangles of a mesh: passes occlude and select, a thread per triangle and a warp per word of flags; see
 * visible/pmb_visible.h. */
#include <cub/device/device_scan.cuh>

#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "visible/pmb_visible_job.h"
}

enum { THREADS = 256, WORDS = THREADS / PMB_VISIBLE_WORD };

/* Device memory. d_before: visible triangles before each word's; the last entry is the total. */
typedef struct working {
  uint32_t *d_depths, *d_words, *d_before;
  unsigned blocks;
  int64_t words; /* also those of the last block that have no triangle */
} working;

template <int OCCLUDE> static __device__ int look(const pmb_visible_view &view, int64_t triangle, uint32_t *d_depths)
{
  const uint32_t *ids = view.triangles + 3 * triangle;
  const pmb_visible_corner a = pmb_visible_project(&view, view.points + 3 * (int64_t)ids[0]),
                           b = pmb_visible_project(&view, view.points + 3 * (int64_t)ids[1]),
                           c = pmb_visible_project(&view, view.points + 3 * (int64_t)ids[2]);
  const pmb_visible_box box = pmb_visible_box_of(&view, a, b, c);
  const float corners[3][2] = { { a.x, a.y }, { b.x, b.y }, { c.x, c.y } };
  return pmb_visible_look(&view, &box, corners, OCCLUDE, d_depths);
}

/* OCCLUDE: looks at all triangles; else at those that the words have flags of. */
template <int OCCLUDE>
static __global__ void __launch_bounds__(THREADS)
  look_kernel(const __grid_constant__ pmb_visible_view view, const __grid_constant__ working w)
{
  const unsigned block = view.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int64_t triangle = block * (int64_t)THREADS + threadIdx.x, word = triangle / PMB_VISIBLE_WORD;
  const int bit = threadIdx.x % PMB_VISIBLE_WORD;
  const int among = OCCLUDE ? triangle < view.count : w.d_words[word] >> bit & 1;
  const uint32_t seen = __ballot_sync(UINT32_MAX, among && look<OCCLUDE>(view, triangle, w.d_depths));
  if (bit == 0) {
    w.d_words[word] = seen;
    w.d_before[word] = (uint32_t)pmb_popcount(seen);
  }
}

static __global__ void write_kernel(
  const __grid_constant__ pmb_visible_view view, const __grid_constant__ working w, uint32_t *d_visible)
{
  const int64_t triangle = blockIdx.x * (int64_t)THREADS + threadIdx.x, word = triangle / PMB_VISIBLE_WORD;
  const uint32_t bit = 1u << threadIdx.x % PMB_VISIBLE_WORD, seen = w.d_words[word];
  if (seen & bit) {
    const int64_t to = w.d_before[word] + (int64_t)pmb_popcount(seen & (bit - 1));
    for (int i = 0; i < 3; ++i) {
      d_visible[3 * to + i] = view.triangles[3 * triangle + i];
    }
  }
}

/* The context's part. */
typedef struct visible_memory {
  pmb_cuda_buffer depths, words, before, workspace;
} visible_memory;

static const pmb_part_kind part_kind = { sizeof(visible_memory), 0, 0 };

static pmb_status reserve(pmb_cuda *cuda, visible_memory *b, const pmb_visible_view *view, working *w, size_t *scan)
{
  const int64_t samples = (int64_t)view->width * view->height * view->samples;
  w->blocks = (unsigned)((view->count + THREADS - 1) / THREADS);
  w->words = (int64_t)w->blocks * WORDS;
  PMB_STEP(pmb_cuda_reserve(cuda, &b->depths, samples, sizeof(uint32_t), "the picture's depths"));
  PMB_STEP(pmb_cuda_reserve(cuda, &b->words, w->words, sizeof(uint32_t), "flags of triangles"));
  PMB_STEP(pmb_cuda_reserve(cuda, &b->before, w->words + 1, sizeof(uint32_t), "flags of triangles"));
  w->d_depths = (uint32_t *)b->depths.d_data;
  w->d_words = (uint32_t *)b->words.d_data;
  w->d_before = (uint32_t *)b->before.d_data;
  PMB_CUDA_TRY(
    cuda->context, cub::DeviceScan::ExclusiveSum(NULL, *scan, w->d_before, w->d_before, w->words + 1, cuda->compute));
  PMB_STEP(pmb_cuda_reserve(cuda, &b->workspace, (int64_t)*scan, 1, "the scan"));
  PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(w->d_depths, 0xff, (size_t)samples * sizeof(uint32_t), cuda->compute));
  return pmb_cuda_check(
    cuda->context, cudaMemsetAsync(w->d_before + w->words, 0, sizeof(uint32_t), cuda->compute), "cudaMemsetAsync");
}

static pmb_status find(pmb_cuda *cuda, visible_memory *memory, const pmb_visible_job *job, int64_t *count)
{
  working w = {};
  size_t scan = 0;
  uint32_t total = 0;
  PMB_STEP(pmb_cuda_check_array(cuda, 1, job->view.points, "pmb_find_visible", "points"));
  PMB_STEP(pmb_cuda_check_array(cuda, 1, job->view.triangles, "pmb_find_visible", "triangles"));
  PMB_STEP(pmb_cuda_check_array(cuda, 1, job->visible, "pmb_find_visible", "visible"));
  PMB_STEP(reserve(cuda, memory, &job->view, &w, &scan));
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, look_kernel<1>, w.blocks, THREADS, 0, job->view, w));
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, look_kernel<0>, w.blocks, THREADS, 0, job->view, w));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceScan::ExclusiveSum(
      memory->workspace.d_data, scan, w.d_before, w.d_before, w.words + 1, cuda->compute));
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(&total, w.d_before + w.words, sizeof(total), cudaMemcpyDeviceToHost, cuda->compute));
  PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "visible triangles"));
  *count = total;
  if (total > job->capacity) {
    return PMB_OK;
  }
  PMB_CUDA_TRY(
    cuda->context, pmb_cuda_launch(cuda, 0, write_kernel, w.blocks, THREADS, 0, job->view, w, job->visible));
  return pmb_cuda_wait(cuda, PMB_OK, "visible triangles");
}

static pmb_status find_visible(pmb_context *context, const pmb_visible_job *job, int64_t *count)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  visible_memory *memory = (visible_memory *)pmb_part_of(context, &part_kind, "pmb_find_visible");
  if (!memory) {
    return PMB_OUT_OF_MEMORY;
  }
  PMB_STEP(pmb_cuda_begin_call(cuda));
  return pmb_cuda_end(cuda, find(cuda, memory, job, count));
}

extern "C" const pmb_visible_functions pmb_cuda_visible = { find_visible };
