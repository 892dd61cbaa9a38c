/* SPDX-License-Identifier: BSD-3-Clause
 * A brick by the full rules of pmb_brick.h, its rows spread over the lanes of a warp; a part of pass classify. */
#ifndef PMB_CUDA_CLASSIFY_EXACT_CUH
#define PMB_CUDA_CLASSIFY_EXACT_CUH

#include "cuda/pmb_cuda_common.cuh"

/* Room of a warp for the full rules. */
typedef struct exact_scratch {
  pmb_rows rows;
  pmb_content content;
} exact_scratch;

/* The rows of valid cells take the place of those of hidden cells: a block has no more than 48 KB. */
static __device__ __forceinline__ uint64_t (*cells_of(exact_scratch *scratch))[5]
{
  return scratch->rows.hidden;
}

/* Fills the row words of a brick and its surroundings. */
template <class T> static __device__ void read_rows(const pmb_cuda_job &job, const pmb_cuda_box &box, pmb_rows *rows)
{
  const T *d_samples = (const T *)job.d_samples;
  const pmb_isovalue &isovalue = job.isovalues[box.isovalue];
  const int lane = threadIdx.x & 31;
  for (int r = 0; r < 36; ++r) {
    const int j = box.origin[1] + r % 6 - 1, k = box.origin[2] + r / 6 - 1;
    const int row_exists = j >= 0 && j < job.dims[1] && k >= 0 && k < job.dims[2];
    uint64_t inside = 0, equal = 0, valid = 0;
    for (int part = 0; part < 2; ++part) {
      const int i = box.origin[0] - 1 + part * 32 + lane;
      const T s = d_samples[pmb_cuda_index(job, pmb_cuda_clamp(i, job.dims[0]), j, k)];
      const int exists = row_exists && i >= 0 && i < job.dims[0] && (part == 0 || lane < 3) && PMB_IS_FINITE(s) &&
        !pmb_cuda_hides_sample(job, i, j, k);
      inside |= (uint64_t)__ballot_sync(UINT32_MAX, pmb_cuda_inside(isovalue, s) && (part == 0 || lane < 3))
        << part * 32;
      equal |= (uint64_t)__ballot_sync(UINT32_MAX, exists && pmb_cuda_equal(isovalue, s)) << part * 32;
      valid |= (uint64_t)__ballot_sync(UINT32_MAX, exists) << part * 32;
    }
    if (lane == 0) {
      rows->inside[r / 6][r % 6] = inside;
      rows->equal[r / 6][r % 6] = isovalue.join ? equal : 0;
      rows->valid[r / 6][r % 6] = valid;
    }
  }
  for (int r = 0; r < 25; ++r) {
    const int i = box.origin[0] - 1 + lane, j = box.origin[1] + r % 5 - 1, k = box.origin[2] + r / 5 - 1;
    const uint32_t lower = __ballot_sync(UINT32_MAX, pmb_cuda_hides_cell(job, i, j, k));
    if (lane == 0) {
      rows->hidden[r / 5][r % 5] = lower | (uint64_t)pmb_cuda_hides_cell(job, i + 32, j, k) << 32;
    }
  }
  __syncwarp();
}

/* Takes an exact record and fills it; the lane's row is lane. Returns its index, PMB_CUDA_PLAIN - 1 if there is no room. */
static __device__ uint32_t store_exact(const pmb_cuda_job &job, exact_scratch *scratch)
{
  const int lane = threadIdx.x & 31;
  uint32_t index = 0;
  if (lane == 0) {
    index = atomicAdd(&job.d_counters->exact, 1);
  }
  index = __shfl_sync(UINT32_MAX, index, 0);
  const int r = min(lane, PMB_CUDA_ROWS - 1);
  const uint64_t equal = scratch->rows.equal[r / 5 + 1][r % 5 + 1];
  const uint32_t equal_column = __ballot_sync(UINT32_MAX, lane < PMB_CUDA_ROWS && (equal >> 33 & 1));
  if (index >= job.exact_capacity) {
    return PMB_CUDA_PLAIN - 1;
  }
  pmb_cuda_exact *exact = job.d_exact + index;
  for (int i = lane; i < PMB_KINDS * PMB_BRICK_ROWS; i += 32) {
    exact->mask[i / PMB_BRICK_ROWS][i % PMB_BRICK_ROWS] =
      scratch->content.mask[i / PMB_BRICK_ROWS][i % PMB_BRICK_ROWS];
  }
  if (lane < PMB_CUDA_ROWS) {
    exact->equal[lane] = pmb_own_columns(equal);
  }
  if (lane < PMB_BRICK_ROWS) {
    exact->cells[lane] = pmb_own_columns(cells_of(scratch)[(lane >> 2) + 1][(lane & 3) + 1]);
  }
  if (lane == 0) {
    exact->equal_column = equal_column;
  }
  return index;
}

/* What becomes of a brick by the full rules; handed over by value, as all that is not in memory anyway: what has an
 * address lies in local memory, and writing that for each brick costs more than the brick's record. */
typedef struct exact_result {
  uint32_t counts, word, index;
} exact_result;

/* Any brick, by the full rules of pmb_brick.h, its rows spread over the lanes. */
template <class T>
static __device__ __noinline__ exact_result exact_brick(
  const pmb_cuda_job &job, const pmb_cuda_box box, exact_scratch *scratch, pmb_cuda_record *record)
{
  const int lane = threadIdx.x & 31;
  read_rows<T>(job, box, &scratch->rows);
  if (lane < 25) {
    cells_of(scratch)[lane / 5][lane % 5] = pmb_valid_cells(&scratch->rows, lane % 5, lane / 5);
  }
  __syncwarp();
  if (lane < PMB_BRICK_ROWS) {
    pmb_exact_edges(&scratch->rows, cells_of(scratch), lane, &scratch->content);
  }
  __syncwarp();
  uint32_t triangles = 0, points = 0, in[PMB_KINDS] = {};
  if (lane < 25) {
    triangles =
      pmb_exact_cells(&scratch->rows, cells_of(scratch)[lane / 5][lane % 5], lane % 5, lane / 5, &scratch->content);
  }
  __syncwarp();
  if (lane < PMB_BRICK_ROWS) {
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      in[kind] = __popc(scratch->content.mask[kind][lane]);
      points += in[kind];
    }
  }
  const uint32_t sum = pmb_cuda_inclusive_sum(points | triangles << 16);
  if (lane < PMB_BRICK_ROWS) {
    record->first[lane] = pmb_cuda_pack_first((sum & 0xffff) - points, in[0], in[1], in[2]);
  }
  exact_result result;
  const int row = min(lane, PMB_CUDA_ROWS - 1);
  result.index = store_exact(job, scratch);
  result.word = pmb_own_columns(scratch->rows.inside[row / 5 + 1][row % 5 + 1]);
  result.counts = __shfl_sync(UINT32_MAX, sum, 31);
  return result;
}

#endif
