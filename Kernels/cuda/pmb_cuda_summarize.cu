/* SPDX-License-Identifier: BSD-3-Clause
 * Pass summarize: minimum and maximum of every brick with its halo (PMB paper, section 4.1).
 *
 * A warp reads rows of 512 bytes, 16 bytes a lane, and walks along z, so that a slice that two bricks share is read once.
 * Small integers stay packed in words. */
#include "cuda/pmb_cuda_classify_words.cuh"
#include "cuda/pmb_cuda_common.cuh"

enum { LEAST_WARPS = 16 /* of a multiprocessor, if there are enough layers */ };

/* The smaller of two words, or NaN if one of them is NaN; the larger. */
template <class T> struct order_of {
  static __device__ __forceinline__ T smaller(T a, T b)
  {
    return b < a || b != b ? b : a;
  }
  static __device__ __forceinline__ T larger(T a, T b)
  {
    return b > a ? b : a;
  }
};
template <> struct order_of<float> {
  static __device__ __forceinline__ float smaller(float a, float b)
  {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    return a < b || a != a ? a : b;
#endif
  }
  static __device__ __forceinline__ float larger(float a, float b)
  {
    return fmaxf(a, b);
  }
};
/* The same for two 16-bit samples in each word. */
template <class T> struct order_of_pairs {
  static __device__ __forceinline__ uint32_t smaller(uint32_t a, uint32_t b)
  {
    return (T)-1 < 0 ? __vmins2(a, b) : __vminu2(a, b);
  }
  static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
  {
    return (T)-1 < 0 ? __vmaxs2(a, b) : __vmaxu2(a, b);
  }
};

/* Running minimum and maximum over words of samples. */
template <class T, class W, class ORDER> struct range_of_words {
  typedef W word;
  word low, high;
  __device__ __forceinline__ void reset(word w)
  {
    low = high = w;
  }
  __device__ __forceinline__ void add(word w)
  {
    low = ORDER::smaller(low, w);
    high = ORDER::larger(high, w);
  }
  __device__ __forceinline__ void merge(const range_of_words &o)
  {
    low = ORDER::smaller(low, o.low);
    high = ORDER::larger(high, o.high);
  }
  /* The range of the words' first samples. */
  __device__ __forceinline__ void first_sample(T *l, T *h) const
  {
    *l = (T)low, *h = (T)high;
  }
};

/* samples: the range of all samples of the words. */
template <class T> struct range_of : range_of_words<T, T, order_of<T>> {
  __device__ __forceinline__ void samples(T *l, T *h) const
  {
    this->first_sample(l, h);
  }
};

template <class T> struct range_of_pairs : range_of_words<T, uint32_t, order_of_pairs<T>> {
  __device__ __forceinline__ void samples(T *l, T *h) const
  {
    *l = min((T)this->low, (T)(this->low >> 16));
    *h = max((T)this->high, (T)(this->high >> 16));
  }
};
template <> struct range_of<int16_t> : range_of_pairs<int16_t> {
};
template <> struct range_of<uint16_t> : range_of_pairs<uint16_t> {
};

/* Four 8-bit samples in a word: compared as pairs of 16 bits whose upper byte decides, once as they are (samples 1 and
 * 3) and once shifted by a byte (samples 0 and 2). */
template <class T, class PAIR> struct range_of_bytes {
  typedef uint32_t word;
  range_of_pairs<PAIR> upper, lower;
  __device__ __forceinline__ void reset(word w)
  {
    upper.reset(w);
    lower.reset(w << 8);
  }
  __device__ __forceinline__ void add(word w)
  {
    upper.add(w);
    lower.add(w << 8);
  }
  __device__ __forceinline__ void merge(const range_of_bytes &o)
  {
    upper.merge(o.upper);
    lower.merge(o.lower);
  }
  __device__ __forceinline__ void first_sample(T *l, T *h) const
  {
    *l = (T)(lower.low >> 8);
    *h = (T)(lower.high >> 8);
  }
  __device__ __forceinline__ void samples(T *l, T *h) const
  {
    *l = min(min((T)(lower.low >> 8), (T)(lower.low >> 24)), min((T)(upper.low >> 8), (T)(upper.low >> 24)));
    *h = max(max((T)(lower.high >> 8), (T)(lower.high >> 24)), max((T)(upper.high >> 8), (T)(upper.high >> 24)));
  }
};
template <> struct range_of<int8_t> : range_of_bytes<int8_t, int16_t> {
};
template <> struct range_of<uint8_t> : range_of_bytes<uint8_t, uint16_t> {
};

/* A lane's part of a brick: of the first word of its 16 bytes (in a brick's first lane it has the halo column of the brick
 * before), and of the others. */
template <class T> struct lane_range {
  range_of<T> head, rest;
};

/* 16 bytes as words. */
template <class W> union vector_of {
  uint4 raw;
  W word[16 / sizeof(W)];
};

/* Adds one slice: 5 rows of 16 bytes; row: where they begin, in 16 bytes. first: the range is empty before. */
template <class T>
static __device__ __forceinline__ void add_slice(
  const uint4 *d_slice, const uint32_t *row, int first, lane_range<T> *range)
{
  typedef typename range_of<T>::word word;
  vector_of<word> v[5];
#pragma unroll
  for (int y = 0; y < 5; ++y) {
    v[y].raw = __ldg(d_slice + row[y]);
  }
#pragma unroll
  for (int y = 0; y < 5; ++y) {
    if (first && y == 0) {
      range->head.reset(v[0].word[0]);
      range->rest.reset(v[0].word[1]);
    } else {
      range->head.add(v[y].word[0]);
      range->rest.add(v[y].word[1]);
    }
#pragma unroll
    for (int w = 2; w < (int)(16 / sizeof(word)); ++w) {
      range->rest.add(v[y].word[w]);
    }
  }
}

/* The range of the column right of a warp's samples in a layer of bricks: 25 samples, one a lane. */
template <class T>
static __device__ __forceinline__ int outer_column(const pmb_cuda_job &job, int i, int j, int k, T *low, T *high)
{
  const int r = min((int)(threadIdx.x & 31), PMB_CUDA_ROWS - 1);
  const T s = ((const T *)job.d_samples)[pmb_cuda_index(job, min(i, job.dims[0] - 1), j + r % 5, k + r / 5)];
  *low = *high = s;
  pmb_cuda_reduce(32, low, high);
  return __any_sync(UINT32_MAX, !PMB_IS_FINITE(s));
}

/* The range of the finite samples of the brick at (i,j,k), by a whole warp; low > high if there are none. VISIBLE: only of visible
 * samples, which takes registers from the caller. */
template <class T, bool VISIBLE>
static __device__ __noinline__ void finite_range(const pmb_cuda_job &job, int i, int j, int k, T *low, T *high)
{
  T l = PMB_MOST(T), h = PMB_LEAST(T);
  for (int n = threadIdx.x & 31; n < 33 * PMB_CUDA_ROWS; n += 32) {
    const int r = n / 33, x = min(i + n % 33, job.dims[0] - 1);
    const int y = min(j + r % 5, job.dims[1] - 1), z = min(k + r / 5, job.dims[2] - 1);
    const T s = ((const T *)job.d_samples)[pmb_cuda_index(job, x, y, z)];
    if (PMB_IS_FINITE(s) && !(VISIBLE && pmb_cuda_hides_sample(job, x, y, z))) {
      l = s < l ? s : l;
      h = s > h ? s : h;
    }
  }
  pmb_cuda_reduce(32, &l, &h);
  *low = l;
  *high = h;
}

/* Replaces the ranges of bricks with non-finite samples; `nonfinite` is the same for all lanes of a brick. */
template <class T>
static __device__ __forceinline__ void fix_nonfinite(
  const pmb_cuda_job &job, int i, int j, int k, int lanes, int nonfinite, T *low, T *high)
{
  for (uint32_t rest = __ballot_sync(UINT32_MAX, nonfinite && threadIdx.x % lanes == 0); rest; rest &= rest - 1) {
    const int lane = __ffs((int)rest) - 1;
    T l, h;
    finite_range<T, false>(job, i + lane / lanes * PMB_BRICK_X, j, k, &l, &h);
    if ((int)(threadIdx.x & 31) / lanes == lane / lanes) {
      *low = l;
      *high = h;
    }
  }
}

/* A warp's part of the volume. */
typedef struct warp_place {
  int i, j; /* first sample */
  uint32_t brick_x, brick_y;
  int64_t layer, layer_end;
} warp_place;

/* Writes the ranges of the warp's bricks in a layer. */
template <class T>
static __device__ __forceinline__ void store_layer(
  const pmb_cuda_job &job, const warp_place &p, int64_t layer, const lane_range<T> &range)
{
  const int lanes = PMB_BRICK_X * (int)sizeof(T) / 16, lane = threadIdx.x & 31;
  const int k = (int)layer * PMB_BRICK_Z;
  range_of<T> all = range.head;
  T low, high, next_low, next_high, outer_low, outer_high;
  all.merge(range.rest);
  all.samples(&low, &high);
  range.head.first_sample(&next_low, &next_high);
  int nonfinite = !PMB_IS_FINITE(low) || !PMB_IS_FINITE(high);
  int next_nonfinite = !PMB_IS_FINITE(next_low) || !PMB_IS_FINITE(next_high);
  next_low = __shfl_down_sync(UINT32_MAX, next_low, 1);
  next_high = __shfl_down_sync(UINT32_MAX, next_high, 1);
  next_nonfinite = __shfl_down_sync(UINT32_MAX, next_nonfinite, 1);
  const int outer_nonfinite = outer_column<T>(job, p.i + 512 / (int)sizeof(T), p.j, k, &outer_low, &outer_high);
  next_low = lane == 31 ? outer_low : next_low;
  next_high = lane == 31 ? outer_high : next_high;
  next_nonfinite = lane == 31 ? outer_nonfinite : next_nonfinite;
  /* Beyond the volume its border is repeated, which the lane has itself. */
  if (lane % lanes == lanes - 1 && p.brick_x + lane / lanes + 1 < job.bricks[0]) {
    low = next_low < low ? next_low : low;
    high = next_high > high ? next_high : high;
    nonfinite |= next_nonfinite;
  }
  pmb_cuda_reduce(lanes, &low, &high);
  if ((T)0.5 != 0 && job.d_flags) { /* integers are finite */
    const uint32_t group = lanes == 32 ? UINT32_MAX : ((1u << lanes) - 1) << lane / lanes * lanes;
    nonfinite = (__ballot_sync(UINT32_MAX, nonfinite) & group) != 0;
    if (__any_sync(UINT32_MAX, nonfinite)) {
      fix_nonfinite<T>(job, p.i, p.j, k, lanes, nonfinite, &low, &high);
    }
  }
  const uint32_t x = p.brick_x + lane / lanes;
  if (lane % lanes == 0 && x < job.bricks[0]) {
    const int64_t brick = x + (int64_t)job.bricks[0] * (p.brick_y + (int64_t)job.bricks[1] * layer);
    ((T *)job.d_low)[brick] = low;
    ((T *)job.d_high)[brick] = high;
    if (job.d_flags) {
      job.d_flags[brick] = (uint8_t)nonfinite;
    }
  }
}

/* Walks a warp through its layers. */
template <class T>
static __device__ __forceinline__ void summarize_column(const pmb_cuda_job &job, const warp_place &p)
{
  const int lane = threadIdx.x & 31, per_lane = 16 / (int)sizeof(T);
  const int64_t column = min((int64_t)p.i + lane * per_lane, job.pitch - per_lane), pieces = job.pitch / per_lane;
  const uint4 *d_column = (const uint4 *)((const T *)job.d_samples + (column + job.pitch * p.j));
  const int64_t slice = job.slice / per_lane;
  uint32_t row[5]; /* from the first: 4 rows are fewer than 2^32 pieces of 16 bytes */
  for (int y = 0; y < 5; ++y) {
    row[y] = (uint32_t)pieces * (uint32_t)(min(p.j + y, job.dims[1] - 1) - p.j);
  }
  lane_range<T> range;
  add_slice<T>(d_column + slice * (p.layer * PMB_BRICK_Z), row, 1, &range);
  for (int64_t layer = p.layer; layer < p.layer_end; ++layer) {
    const int64_t k = layer * PMB_BRICK_Z, last = job.dims[2] - 1;
#pragma unroll
    for (int z = 1; z < 4; ++z) {
      add_slice<T>(d_column + slice * min(k + z, last), row, 0, &range);
    }
    lane_range<T> shared_slice;
    add_slice<T>(d_column + slice * min(k + 4, last), row, 1, &shared_slice);
    range.head.merge(shared_slice.head);
    range.rest.merge(shared_slice.rest);
    store_layer<T>(job, p, layer, range);
    range = shared_slice;
  }
}

/* LAYERS: of bricks, that a warp walks through; 0: as the argument says. */
template <class T, int LAYERS>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS, 4)
  summarize_kernel(const __grid_constant__ pmb_cuda_job job, uint32_t groups, int64_t warps, int layers)
{
  const int64_t id = (int64_t)blockIdx.x * PMB_CUDA_WARPS + (threadIdx.x >> 5);
  if (id < warps) {
    warp_place p;
    p.brick_x = (uint32_t)(id % groups) * (16 / (uint32_t)sizeof(T));
    p.brick_y = (uint32_t)(id / groups % job.bricks[1]);
    p.layer = id / groups / job.bricks[1] * (LAYERS ? LAYERS : layers);
    p.layer_end = min(p.layer + (LAYERS ? LAYERS : layers), (int64_t)job.bricks[2]);
    p.i = (int)p.brick_x * PMB_BRICK_X;
    p.j = (int)p.brick_y * PMB_BRICK_Y;
    summarize_column<T>(job, p);
  }
  pmb_cuda_let_next_begin(); /* at the beginning it costs 2% */
}

/* ---- the host's side ---- */

/* Warps walk through columns of bricks: fewer layers each in small volumes, so that all multiprocessors have work. */
template <class T> static cudaError_t launch(pmb_cuda *cuda)
{
  const uint32_t per_warp = 16 / (uint32_t)sizeof(T); /* bricks along x */
  const uint32_t groups = (cuda->job.bricks[0] + per_warp - 1) / per_warp, layers_of_volume = cuda->job.bricks[2];
  uint32_t layers = 2 * PMB_CUDA_LAYERS;
  int64_t warps;
  do {
    layers /= 2;
    warps = (int64_t)groups * cuda->job.bricks[1] * ((layers_of_volume + layers - 1) / layers);
  } while (layers > 1 && warps < (int64_t)LEAST_WARPS * cuda->processors);
  const int64_t blocks = (warps + PMB_CUDA_WARPS - 1) / PMB_CUDA_WARPS;
  return pmb_cuda_launch(cuda, 0,
    layers == PMB_CUDA_LAYERS ? summarize_kernel<T, PMB_CUDA_LAYERS> : summarize_kernel<T, 0>, blocks,
    PMB_CUDA_THREADS, 0, cuda->job, groups, warps, (int)layers);
}

/* ---- hidden samples and cells ---- */

/* The flags of a brick for hidden samples and cells. */
static __device__ __forceinline__ int find_hidden(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  const int lane = threadIdx.x & 31;
  int samples = 0, cells = 0;
  for (int n = lane; job.d_sample_flags && n < 33 * PMB_CUDA_ROWS; n += 32) {
    const int r = n / 33, x = box.origin[0] + n % 33, y = box.origin[1] + r % 5, z = box.origin[2] + r / 5;
    samples |= x < job.dims[0] && y < job.dims[1] && z < job.dims[2] && pmb_cuda_hides_sample(job, x, y, z);
  }
  for (int row = 0; job.d_cell_flags && row < PMB_BRICK_ROWS; ++row) {
    cells |= pmb_cuda_hides_cell(job, box.origin[0] + lane, box.origin[1] + (row & 3), box.origin[2] + (row >> 2));
  }
  return (__any_sync(UINT32_MAX, samples) ? PMB_BRICK_HIDES_SAMPLES : 0) |
    (__any_sync(UINT32_MAX, cells) ? PMB_BRICK_HIDES_CELLS : 0);
}

template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS) hide_kernel(const __grid_constant__ pmb_cuda_job job)
{
  const uint32_t step = gridDim.x * PMB_CUDA_WARPS;
  for (uint32_t b = blockIdx.x * PMB_CUDA_WARPS + (threadIdx.x >> 5); b < job.brick_count; b += step) {
    const pmb_cuda_box box = pmb_cuda_box_of(job, b);
    const int hidden = find_hidden(job, box);
    if (hidden & PMB_BRICK_HIDES_SAMPLES) {
      T low, high;
      finite_range<T, true>(job, box.origin[0], box.origin[1], box.origin[2], &low, &high);
      if ((threadIdx.x & 31) == 0) {
        ((T *)job.d_low)[b] = low;
        ((T *)job.d_high)[b] = high;
      }
    }
    if (hidden && (threadIdx.x & 31) == 0) {
      job.d_flags[b] = (uint8_t)(job.d_flags[b] | hidden);
    }
  }
}

template <class T> static cudaError_t launch_hide(pmb_cuda *cuda)
{
  pmb_cuda_job job = cuda->job;
  job.isovalue_count = 1; /* the volume's own bricks */
  return pmb_cuda_launch(
    cuda, 0, hide_kernel<T>, pmb_cuda_all_blocks(cuda, hide_kernel<T>, PMB_CUDA_THREADS), PMB_CUDA_THREADS, 0, job);
}

/* ---- the range of the volume ---- */

/* Each block finds the range of some bricks; a thread reads 16 bytes at a time. */
template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS)
  range_kernel(const __grid_constant__ pmb_cuda_job job, pmb_cuda_range_part *pinned)
{
  enum { SAMPLES = row_shape<T>::SAMPLES };
  __shared__ struct {
    T low, high;
    uint32_t nonfinite;
  } of_warps[PMB_CUDA_WARPS];
  T low = PMB_MOST(T), high = PMB_LEAST(T);
  uint32_t nonfinite = 0;
  const int64_t step = (int64_t)gridDim.x * PMB_CUDA_THREADS * SAMPLES;
  for (int64_t b = ((int64_t)blockIdx.x * PMB_CUDA_THREADS + threadIdx.x) * SAMPLES; b < job.brick_count; b += step) {
    row_vector<T> l, h; /* both halves of the summary end at 16 bytes */
    l.raw = __ldg((const uint4 *)((const T *)job.d_low + b));
    h.raw = __ldg((const uint4 *)((const T *)job.d_high + b));
#pragma unroll
    for (int n = 0; n < SAMPLES; ++n) {
      if (b + n < job.brick_count && l.sample[n] <= h.sample[n]) { /* else none was finite */
        low = l.sample[n] < low ? l.sample[n] : low;
        high = h.sample[n] > high ? h.sample[n] : high;
      }
      nonfinite += job.d_flags && b + n >= job.first_brick && b + n < job.end_brick &&
        (job.d_flags[b + n] & PMB_BRICK_NONFINITE);
    }
  }
  pmb_cuda_reduce(32, &low, &high);
  of_warps[threadIdx.x / 32] = { low, high, pmb_cuda_word_sum(nonfinite) }; /* all lanes write the same */
  __syncthreads();
  low = of_warps[threadIdx.x % PMB_CUDA_WARPS].low;
  high = of_warps[threadIdx.x % PMB_CUDA_WARPS].high;
  nonfinite = pmb_cuda_word_sum(threadIdx.x < PMB_CUDA_WARPS ? of_warps[threadIdx.x].nonfinite : 0);
  pmb_cuda_reduce(PMB_CUDA_WARPS, &low, &high);
  if (threadIdx.x == 0) {
    pinned[blockIdx.x] = low <= high ? pmb_cuda_range_part{ (double)low, (double)high, nonfinite }
                                     : pmb_cuda_range_part{ INFINITY, -INFINITY, nonfinite };
  }
}

template <class T> static cudaError_t launch_all(pmb_cuda *cuda)
{
  const int hidden = cuda->job.d_sample_flags || cuda->job.d_cell_flags;
  cudaError_t error = launch<T>(cuda);
  error = error || !hidden ? error : launch_hide<T>(cuda);
  return error ? error
               : pmb_cuda_launch(
                   cuda, 0, range_kernel<T>, PMB_CUDA_RANGES, PMB_CUDA_THREADS, 0, cuda->job, cuda->totals->ranges);
}

pmb_status pmb_cuda_summarize(pmb_cuda *cuda)
{
  return pmb_cuda_check(
    cuda->context, PMB_CUDA_BY_TYPE(cuda->context->volume.type, launch_all<T>(cuda)), "launch of summarize");
}

void pmb_cuda_take_range(const pmb_cuda *cuda, pmb_cuda_volume *volume)
{
  const pmb_cuda_range_part *parts = cuda->totals->ranges;
  volume->minimum = INFINITY;
  volume->maximum = -INFINITY;
  volume->nonfinite_bricks = 0;
  for (int i = 0; i < PMB_CUDA_RANGES; ++i) {
    volume->minimum = parts[i].low < volume->minimum ? parts[i].low : volume->minimum;
    volume->maximum = parts[i].high > volume->maximum ? parts[i].high : volume->maximum;
    volume->nonfinite_bricks += parts[i].nonfinite;
  }
}
