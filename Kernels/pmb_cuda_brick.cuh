/* SPDX-License-Identifier: BSD-3-Clause
 * The points of a brick, for pass vertices: each lane finds its point in the brick's masks, so that all lanes have one to
 * work on. */
#ifndef PMB_CUDA_BRICK_CUH
#define PMB_CUDA_BRICK_CUH

#include "pmb_cuda_point.cuh"

enum { FEW = 6 /* points that are stepped over one by one */ };

/* What a warp reads of a brick before it works on it, a word a lane: lanes 0-24 the record's words, then these. */
enum {
  COLUMN_LANE = PMB_CUDA_ROWS,
  EXACT_LANE,
  BRICK_LANE,
  END_LANE,    /* points before the next brick, their lower word */
  BEFORE_LANE, /* those before this one: two words */
  LAST_LANE = 31
};

/* Where a lane finds its word: at d_first + step * index of the brick. */
typedef struct head_source {
  const char *d_first;
  uint32_t step;
} head_source;

static __device__ __forceinline__ head_source source_of_lane(const pmb_cuda_job &job)
{
  const int lane = threadIdx.x & 31;
  const pmb_cuda_record *record = job.d_records;
  head_source source = { (const char *)(record->word + lane), sizeof(pmb_cuda_record) };
  if (lane == COLUMN_LANE) {
    source.d_first = (const char *)&record->column;
  } else if (lane == EXACT_LANE) {
    source.d_first = (const char *)&record->exact;
  } else if (lane == BRICK_LANE || lane == LAST_LANE) {
    source.d_first = (const char *)job.d_brick;
    source.step = sizeof(uint32_t);
  } else if (lane == END_LANE) {
    source.d_first = (const char *)&job.d_before[1].points;
    source.step = sizeof(pmb_cuda_before);
  } else if (lane >= BEFORE_LANE) {
    source.d_first = (const char *)((const uint32_t *)&job.d_before->points + (lane - BEFORE_LANE));
    source.step = sizeof(pmb_cuda_before);
  }
  return source;
}

static __device__ __forceinline__ uint32_t read_head(const head_source &source, uint32_t index, uint32_t active)
{
  return index < active ? *(const uint32_t *)(source.d_first + (uint64_t)source.step * index) : 0;
}

static __device__ __forceinline__ uint32_t head_at(uint32_t head, int lane)
{
  return __shfl_sync(UINT32_MAX, head, lane);
}

/* The masks of a lane's two runs of points: kind lane & 3 in rows lane / 4 and lane / 4 + 8. */
static __device__ __forceinline__ void masks_of_lane(
  const pmb_cuda_job &job, const pmb_cuda_box &box, int inside, uint32_t word, uint32_t exact, uint32_t *masks)
{
  const int lane = threadIdx.x & 31, kind = lane & 3, row = lane >> 2, r = (row >> 2) * 5 + (row & 3);
  const int other = r + (kind == PMB_EDGE_Y ? 1 : kind == PMB_EDGE_Z ? 5 : 0);
  if (exact != PMB_CUDA_PLAIN) {
    masks[0] = job.d_exact[exact].mask[kind][row];
    masks[1] = job.d_exact[exact].mask[kind][row + 8];
    return;
  }
  const uint32_t column = head_at(word, COLUMN_LANE);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t a = __shfl_sync(UINT32_MAX, word, r + 10 * half);
    const uint32_t b = __shfl_sync(UINT32_MAX, word, other + 10 * half);
    masks[half] = a ^ (kind == PMB_EDGE_X ? pmb_cuda_next(a, column >> (r + 10 * half) & 1) : b);
    if (!inside) {
      masks[half] &= pmb_cuda_row_columns(job, box, row & 3, (row >> 2) + 2 * half);
    }
  }
}

/* Lists the runs that have points; begin: points before a lane's two runs, beyond all if they have none. */
static __device__ __forceinline__ void list_runs(const uint32_t *masks, vertex_scratch *scratch, uint32_t *begin)
{
  const int lane = threadIdx.x & 31;
  const uint32_t counts[2] = { (uint32_t)__popc(masks[0]), (uint32_t)__popc(masks[1]) };
  const uint32_t sums = pmb_cuda_inclusive_sum(counts[0] | counts[1] << 16);
  const uint32_t total = __shfl_sync(UINT32_MAX, sums, 31) & 0xffff, below = (1u << lane) - 1;
  const uint32_t filled = __ballot_sync(UINT32_MAX, masks[0] != 0),
                 filled1 = __ballot_sync(UINT32_MAX, masks[1] != 0);
  begin[0] = (sums & 0xffff) - counts[0];
  begin[1] = total + (sums >> 16) - counts[1];
  if (masks[0]) {
    scratch->runs[__popc(filled & below)] = make_uint2(masks[0], begin[0] | (uint32_t)lane << 16);
  }
  if (masks[1]) {
    scratch->runs[__popc(filled) + __popc(filled1 & below)] =
      make_uint2(masks[1], begin[1] | (uint32_t)(lane + 32) << 16);
  }
  begin[0] = masks[0] ? begin[0] : 1u << 30;
  begin[1] = masks[1] ? begin[1] : 1u << 30;
}

static __device__ __forceinline__ uint32_t or_of_warp(uint32_t bits)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(UINT32_MAX, bits);
#else
  for (int step = 16; step > 0; step >>= 1) {
    bits |= __shfl_xor_sync(UINT32_MAX, bits, step);
  }
  return bits;
#endif
}

/* 1 << n, 0 from n = 32 on. */
static __device__ __forceinline__ uint32_t bit_or_none(uint32_t n)
{
#if defined(__CUDA_ARCH__)
  uint32_t bit;
  asm("shl.b32 %0, 1, %1;" : "=r"(bit) : "r"(n));
  return bit;
#else
  return n < 32 ? 1u << n : 0;
#endif
}

/* Place of the n-th set bit of a word, counted from 0. A whole warp calls it. */
static __device__ __forceinline__ int select_bit(uint32_t word, int n)
{
  int place = 0;
  if (__any_sync(UINT32_MAX, n > FEW)) {
#pragma unroll
    for (int width = 16; width > 2; width >>= 1) {
      const int below = __popc(word & ((1u << width) - 1));
      if (n >= below) {
        n -= below;
        word >>= width;
        place += width;
      }
    }
  }
#pragma unroll 1
  for (; n > 0; --n) {
    word &= word - 1;
  }
  return place + __ffs((int)word) - 1;
}

/* Points to the brick's samples. inner: its neighbours are all in the volume, and no point lies on a sample. */
template <class T, class OFFSET>
static __device__ __forceinline__ void locate(
  const pmb_cuda_job &job, const pmb_cuda_box &box, int inner, volume_samples<T, OFFSET> *samples)
{
  samples->d_origin =
    (const T *)job.d_samples + (box.origin[0] + job.pitch * box.origin[1] + job.slice * box.origin[2]);
  samples->inner = inner;
}
template <class T, class OFFSET>
static __device__ __forceinline__ pmb_cuda_box box_of(
  const pmb_cuda_job &job, uint32_t brick, const volume_samples<T, OFFSET> &)
{
  return pmb_cuda_box_of(job, brick);
}

/* The points of a brick; returns whether any need the careful way. AGAIN: only those, by that way. */
template <class T, bool AGAIN, class SAMPLES>
static __device__ __forceinline__ int emit_brick(
  const vertex_setting &setting, uint32_t head, vertex_scratch *scratch, SAMPLES samples)
{
  const pmb_cuda_job &job = setting.job;
  const int lane = threadIdx.x & 31, points = (int)(head_at(head, END_LANE) - head_at(head, BEFORE_LANE));
  const int64_t first = (int64_t)((uint64_t)head_at(head, BEFORE_LANE + 1) << 32 | head_at(head, BEFORE_LANE));
  if (points == 0 || first + points > setting.output.point_room) {
    return 0;
  }
  const pmb_cuda_box box = box_of(job, head_at(head, BRICK_LANE), samples);
  const int inside = box.origin[0] > 0 && box.origin[1] > 0 && box.origin[2] > 0 &&
    box.origin[0] + PMB_BRICK_X + 1 < job.dims[0] && box.origin[1] + PMB_BRICK_Y + 1 < job.dims[1] &&
    box.origin[2] + PMB_BRICK_Z + 1 < job.dims[2];
  const uint32_t exact = head_at(head, EXACT_LANE);
  const int gradient = setting.flags & (NORMALS | GRADIENTS);
  uint32_t masks[2], begin[2];
  int before = -1, careful = 0;
  locate(job, box, !AGAIN && inside && exact == PMB_CUDA_PLAIN, &samples);
  masks_of_lane(job, box, inside, head, exact, masks);
  __syncwarp();
  list_runs(masks, scratch, begin);
  __syncwarp();
  for (int n = 0; n < points; n += 32) {
    point_of<T> p;
    surrounding<typename pmb_cuda_real<T>::type> s = {};
    const uint32_t begins = or_of_warp(bit_or_none(begin[0] - n) | bit_or_none(begin[1] - n));
    const uint2 run = scratch->runs[before + __popc(begins & (UINT32_MAX >> (31 - lane)))];
    const int x = select_bit(run.x, min(n + lane, points - 1) - (int)(run.y & 0xffff)), row = run.y >> 18;
    before += __popc(begins);
    p.kind = run.y >> 16 & 3;
    p.low[0] = box.origin[0] + x;
    p.low[1] = box.origin[1] + (row & 3);
    p.low[2] = box.origin[2] + (row >> 2);
    read_surrounding(setting, samples, x, row, p, &s);
    p.t = edge_parameter(
      job.isovalues[SAMPLES::ONE_ISOVALUE ? 0 : box.isovalue], settled<T>(s.ends[0]), settled<T>(s.ends[1]));
    if (!AGAIN) {
      store_points<T, SAMPLES::BY_EDGE>(setting, scratch, first + n, min(points - n, 32), s, &p);
      careful |= gradient && !is_good(p.length2);
    } else {
      turn_gradient<T, SAMPLES::BY_EDGE>(setting, s, &p);
      if (n + lane < points && !is_good(p.length2)) {
        careful_point<T>(setting, p, first + n + lane);
      }
    }
  }
  return __any_sync(UINT32_MAX, careful);
}

/* Emits again, the careful way, the listed bricks of a warp. */
template <class T>
static __device__ __noinline__ void emit_again(const pmb_cuda_job &job, const pmb_cuda_output &output, int flags,
  uint32_t active, vertex_scratch *scratch, int bricks)
{
  const vertex_setting setting = { job, output, flags };
  const head_source source = source_of_lane(job);
  for (int n = 0; n < bricks; ++n) {
    emit_brick<T, true>(
      setting, read_head(source, scratch->careful[n], active), scratch, volume_samples<T, int64_t>());
  }
}

/* Calls it by address, so that the compiler keeps no registers for what is rare. */
template <class T>
static __device__ __forceinline__ void call_again(
  const vertex_setting &setting, uint32_t active, vertex_scratch *scratch, int bricks)
{
  if (bricks > 0) {
    void (*again)(const pmb_cuda_job &, const pmb_cuda_output &, int, uint32_t, vertex_scratch *, int) =
      emit_again<T>;
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+l"(again));
#endif
    again(setting.job, setting.output, setting.flags, active, scratch, bricks);
  }
}

/* pmb_cuda_tiles.cu: launches vertices for groups of bricks if that pays: most are active, and the device can. flags: what is
 * wanted of all bricks. 0: it does not. */
int pmb_cuda_vertices_of_groups(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error);

#endif
