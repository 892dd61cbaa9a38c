/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices in large float32 volumes of which most bricks are active, on devices that copy boxes of a volume on their own
 * (from 9.0): a block walks up through 2 x 4 columns of bricks, a warp a column. One more warp fetches what they read next.
 *
 * Such copies ask the device's cache for each 32 bytes, and its halves pass samples to each other: that bounds the pass. So it
 * matters how many samples are read twice: in columns half as many as in the tiles of pmb_cuda_tiles.cu, which small volumes
 * have, because columns take longer to begin. */
#include <stdlib.h>

#include "pmb_cuda_tiles.cuh"

#if CUDART_VERSION >= 12000

enum {
  WIDE = 2, /* columns of bricks of a block, along x and y */
  DEEP = 4,
  WORKERS = WIDE * DEEP,        /* warps with a column */
  THREADS = 32 * (WORKERS + 1), /* and the one that fetches */
  BLOCKS = 3,                   /* of a multiprocessor */
  LEAST_LAYERS = 4,             /* of bricks that a block walks through */
  MOST_LAYERS = 16,
  ROUNDS = 12 /* of blocks, at least */
};

/* ---- samples ---- */

/* Samples come in layers as thick as a brick, each from one sample below its bricks on along y and z. A row has whole pieces
 * of 32 bytes, which is what the device's cache is asked for, and begins with the bricks: the few points that need a sample
 * before read it from memory. A brick needs its layer and the next; one more is on its way. */
enum {
  WIDTH = WIDE * PMB_BRICK_X + 32 / sizeof(float),
  ROWS = DEEP * PMB_BRICK_Y + 3,
  SLICE = WIDTH * ROWS,
  LAYER = SLICE * PMB_BRICK_Z,
  LAYERS = 3,
  RING = LAYER * LAYERS
};

static_assert(LAYER * sizeof(float) % 128 == 0, "where a box may go");

/* Room of a block. */
typedef struct column_room {
  float ring[RING];
  uint64_t arrived[LAYERS]; /* barriers: the layer is there; */
  uint64_t left[LAYERS];    /* all are done with it */
  char scratch[WORKERS][scratch_bytes(PMB_CUDA_USUAL)];
} column_room;

#if PMB_CUDA_BOXES

/* What is outside the volume repeats its border. */
typedef struct ring_samples {
  enum { BY_EDGE = 0, ONE_ISOVALUE = 1 };
  const float *origin; /* the brick's first */
  int first;           /* 0: the ring has no samples before the brick's column 0; -1: it has */
  int wrap;            /* 0; or the next layer is at the ring's other end, so many samples before where it would be */
  int inner;           /* the samples around the brick are all in the volume */
} ring_samples;

/* From an edge's lower end to its upper, 12 bits for each kind. */
static __device__ __forceinline__ int step_of_kind(int kind)
{
  return (int)((1 | (uint64_t)WIDTH << 12 | (uint64_t)SLICE << 24) >> 12 * kind & 4095);
}

/* Along one axis, at an end of the edge: the difference of the next samples, the one before it and that `above` behind. */
static __device__ __forceinline__ float border_difference(
  const float *end, float below, int above, int place, int last)
{
  return difference(
    place > 0 ? below : end[0], end[place < last ? above : 0], place <= 0 || place >= last ? 1.0f : 0.5f);
}

/* The samples before the ends of an edge along x. x: its column in the brick. */
static __device__ __forceinline__ void read_before(const pmb_cuda_job &job, const ring_samples &samples, int x,
  const float *low, const float *high, const point_of<float> &p, float *before)
{
  before[0] = low[-1];
  before[1] = high[-1];
  if (x == samples.first && p.low[0] > 0) {
    const char *d_low = (const char *)job.d_samples + sizeof(float) * (uint32_t)(p.low[0] - 1) +
      job.row_bytes * (uint32_t)p.low[1] + job.slice_bytes * (uint32_t)p.low[2];
    before[0] = __ldg((const float *)d_low);
    if (p.kind != PMB_EDGE_X) {
      before[1] = __ldg((const float *)(d_low + (p.kind == PMB_EDGE_Y ? job.row_bytes : job.slice_bytes)));
    }
  }
}

/* Anywhere. A brick's slices are 1 to 4 of its layer and the next. */
static __device__ __forceinline__ void read_around(const vertex_setting &setting, const ring_samples &samples,
  const float *low, int x, int z, const point_of<float> &p, surrounding<float> *s)
{
  const int upward = p.kind == PMB_EDGE_Z, here = z == 3 ? samples.wrap : 0;
  const int below = SLICE - here, above = SLICE - (z == 2 ? samples.wrap : 0);
  const int above2 = SLICE - (z == 1 ? samples.wrap : 0);
  low -= here;
  const float *high = low + (upward ? above : step_of_kind(p.kind));
  const int low_above[3] = { 1, WIDTH, above }, high_above[3] = { 1, WIDTH, upward ? above2 : above };
  const float low_below[3] = { 0, low[-WIDTH], low[-below] };
  const float high_below[3] = { 0, high[-WIDTH], high[upward ? -above : -below] };
  float before[2];
  read_before(setting.job, samples, x, low, high, p, before);
  s->ends[0] = low[0];
  s->ends[1] = high[0];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const int last = setting.job.dims[a] - 1;
    s->low[a] = border_difference(low, a ? low_below[a] : before[0], low_above[a], p.low[a], last);
    s->high[a] =
      border_difference(high, a ? high_below[a] : before[1], high_above[a], p.low[a] + (p.kind == a), last);
  }
}

/* Where the volume goes on, distances are constants, and all of them where the ring does as well. */
template <bool WRAPS>
static __device__ __forceinline__ void read_within(const vertex_setting &setting, const ring_samples &samples,
  const float *low, int x, int z, const point_of<float> &p, surrounding<float> *s)
{
  const int wrap = WRAPS ? samples.wrap : 0, upward = WRAPS && p.kind == PMB_EDGE_Z;
  const int here = z == 3 ? wrap : 0, below = SLICE - here;
  const int above = SLICE - (z == 2 ? wrap : 0), above2 = SLICE - (z == 1 ? wrap : 0);
  low -= here;
  const float *high = low + (upward ? above : step_of_kind(p.kind));
  float before[2];
  read_before(setting.job, samples, x, low, high, p, before);
  s->ends[0] = low[0];
  s->ends[1] = high[0];
  s->low[0] = difference(before[0], low[1], 0.5f);
  s->high[0] = difference(before[1], high[1], 0.5f);
  s->low[1] = difference(low[-WIDTH], low[WIDTH], 0.5f);
  s->high[1] = difference(high[-WIDTH], high[WIDTH], 0.5f);
  s->low[2] = difference(low[-below], low[above], 0.5f);
  s->high[2] = difference(high[upward ? -above : -below], high[upward ? above2 : above], 0.5f);
}

static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting, const ring_samples &samples,
  int x, int row, const point_of<float> &p, surrounding<float> *s)
{
  const float *low = samples.origin + (x + WIDTH * (row & 3) + SLICE * (row >> 2));
  if (!samples.inner) {
    read_around(setting, samples, low, x, row >> 2, p, s);
  } else if (samples.wrap) {
    read_within<true>(setting, samples, low, x, row >> 2, p, s);
  } else {
    read_within<false>(setting, samples, low, x, row >> 2, p, s);
  }
}

/* ---- layers ---- */

/* A block's part of the volume: its first brick, counted in bricks, and its layers of bricks; samples are one layer more. */
typedef struct column_place {
  uint32_t x, y, z, layers;
} column_place;

static __device__ __forceinline__ void make_barriers(column_room *room)
{
#if defined(__CUDA_ARCH__)
  if (threadIdx.x == 0) {
    for (int i = 0; i < LAYERS; ++i) {
      make_barrier(&room->arrived[i], 1);
      make_barrier(&room->left[i], WORKERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
#else
  (void)room;
#endif
  __syncthreads();
}

#if defined(__CUDA_ARCH__)
/* A vote, so that the compiler knows that all lanes go on together. */
static __device__ __forceinline__ void await(uint64_t *barrier, uint32_t parity)
{
  while (!__all_sync(UINT32_MAX, is_over(barrier, parity))) {
  }
}
#endif

/* The last warp's part: it fetches layer after layer, each when all are done with the one that was in its place. In the
 * emulator, which has no such barriers, all warps come to the block's own once for each layer of bricks. */
static __device__ __forceinline__ void fetch_layers(
  const CUtensorMap *map, const column_place &place, column_room *room)
{
  for (uint32_t layer = 0; layer <= place.layers; ++layer) {
    const uint32_t slot = layer % LAYERS;
#if defined(__CUDA_ARCH__)
    if (layer >= LAYERS) {
      await(&room->left[slot], (layer / LAYERS - 1) & 1);
    }
#else
    if (layer >= LAYERS - 1) {
      __syncthreads();
    }
#endif
    if ((threadIdx.x & 31) == 0) {
      copy_box(map, (int)(PMB_BRICK_X * place.x), (int)(PMB_BRICK_Y * place.y) - 1,
        (int)(PMB_BRICK_Z * (place.z + layer)) - 1, LAYER * sizeof(float), room->ring + LAYER * slot,
        &room->arrived[slot]);
    }
  }
#if !defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

/* Waits until the layers in both slots are there, the first of which it has waited for unless it is the block's first. */
static __device__ __forceinline__ void await_layers(column_room *room, int first, uint32_t slot, uint32_t parity)
{
#if defined(__CUDA_ARCH__)
  if (first) {
    await(&room->arrived[0], 0);
  }
  await(&room->arrived[slot], parity);
#else
  (void)room;
  (void)first;
  (void)slot;
  (void)parity;
  __syncthreads();
#endif
}

/* Tells that the warp is done with a layer. */
static __device__ __forceinline__ void leave_layer(column_room *room, uint32_t slot)
{
  __syncwarp();
#if defined(__CUDA_ARCH__)
  if ((threadIdx.x & 31) == 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&room->left[slot])) : "memory");
  }
#else
  (void)room;
  (void)slot;
#endif
}

/* ---- columns ---- */

/* The word of the map for a brick. */
static __device__ __forceinline__ uint2 read_map(const pmb_cuda_job &job, uint32_t brick, int there)
{
  return there ? job.d_map[brick >> 5] : make_uint2(0, 0);
}

/* Its index; UINT32_MAX if it is not active. */
static __device__ __forceinline__ uint32_t index_in_map(const uint2 &map, uint32_t brick)
{
  const uint32_t bit = brick & 31;
  return map.x >> bit & 1 ? map.y + __popc(map.x & ((1u << bit) - 1)) : UINT32_MAX;
}

/* Layers, as bits, in which a warp's brick goes another way, all of it (rare) or some points of it; it does so after the
 * others, so that the compiler keeps no registers for it. */
typedef struct other_bricks {
  uint32_t rare, again;
} other_bricks;

/* The points of a brick; layer: of the block. MANY: they need not fit the list. */
template <bool MANY>
static __device__ __forceinline__ void emit_from_ring(const vertex_setting &setting, const brick_head &head,
  const pmb_cuda_box &box, const float *origin, int first, int wrap, uint32_t layer, vertex_scratch *scratch,
  other_bricks *others)
{
  brick_work work;
  if (!begin_brick(setting, head, &work)) {
    return;
  }
  if (is_rare(head, work, MANY ? INT32_MAX : LISTED)) {
    others->rare |= 1u << layer;
    return;
  }
  put_box(setting.job, box, &work);
  const ring_samples samples = { origin, first, wrap, pmb_cuda_is_surrounded(setting.job, box) };
  if (MANY ? emit_plain_portions<float>(setting, samples, head, work, scratch)
           : emit_plain<float>(setting, samples, head, work, scratch)) {
    others->again |= 1u << layer;
  }
}

/* brick: the warp's first; step: to the next. */
static __device__ __forceinline__ void emit_others(
  const vertex_setting &setting, const other_bricks &others, uint32_t brick, uint32_t step, vertex_scratch *scratch)
{
#pragma unroll 1
  for (uint32_t bits = others.rare | others.again; bits; bits &= bits - 1) {
    const uint32_t layer = (uint32_t)__ffs((int)bits) - 1, number = brick + step * layer;
    const uint32_t index = index_in_map(read_map(setting.job, number, 1), number);
    if (others.again >> layer & 1 || call_any<float, EXACT>(setting, index, scratch)) {
      __syncwarp();
      call_any<float, AGAIN>(setting, index, scratch);
    }
  }
}

/* The other warps' part: each walks up its column. What it reads of a brick besides samples is on its way while it works
 * on the one before. */
template <bool MANY>
static __device__ __forceinline__ void emit_column(
  const vertex_setting &setting, const column_place &place, uint32_t warp, column_room *room)
{
  const pmb_cuda_job &job = setting.job;
  const uint32_t active = min(job.d_counters->active, job.record_capacity);
  const uint32_t x = place.x + warp % WIDE, y = place.y + warp / WIDE;
  const uint32_t first = x + job.bricks[0] * (y + job.bricks[1] * place.z), step = job.bricks[0] * job.bricks[1];
  const int there = x < job.bricks[0] && y < job.bricks[1];
  const float *origin = room->ring + SLICE + WIDTH * (1 + PMB_BRICK_Y * (warp / WIDE)) + PMB_BRICK_X * (warp % WIDE);
  vertex_scratch *scratch = (vertex_scratch *)room->scratch[warp];
  const tile_source source = source_of_tile(job);
  uint32_t brick = first, slot = 0, parity = 0;
  brick_head next = read_head_of_tile(source, index_in_map(read_map(job, brick, there), brick), active);
  uint2 map = read_map(job, brick + step, there && place.layers > 1);
  other_bricks others = { 0, 0 };
#pragma unroll 1
  for (uint32_t layer = 0; layer < place.layers; ++layer) {
    const brick_head head = next;
    const uint32_t above = slot + 1 < LAYERS ? slot + 1 : 0;
    brick += step;
    next = read_head_of_tile(source, index_in_map(map, brick), active);
    map = read_map(job, brick + step, there && layer + 2 < place.layers);
    parity ^= above == 0;
    await_layers(room, layer == 0, above, parity);
    emit_from_ring<MANY>(setting, head, pmb_cuda_box_at(0, x, y, place.z + layer), origin + LAYER * slot,
      warp % WIDE ? -1 : 0, above == 0 ? (int)RING : 0, layer, scratch, &others);
    leave_layer(room, slot);
    slot = above;
  }
  emit_others(setting, others, first, step, scratch);
}

#endif

/* layers: of bricks, for a block. MANY: where many bricks have more points than fit the list. */
template <bool MANY>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
  column_vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ CUtensorMap map, const __grid_constant__ uint32_t layers)
{
#if PMB_CUDA_BOXES
  extern __shared__ __align__(128) uint4 shared_memory[];
  column_room *room = (column_room *)shared_memory;
  const vertex_setting setting = { job, output, PMB_CUDA_USUAL };
  const column_place place = { WIDE * blockIdx.x, DEEP * blockIdx.y, layers * blockIdx.z,
    min(layers, job.bricks[2] - layers * blockIdx.z) };
  /* a shuffle, so that the compiler knows that all lanes have the same */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0);
  make_barriers(room);
  if (warp == WORKERS) {
    fetch_layers(&map, place, room); /* the samples have been there for long */
    return;
  }
  pmb_cuda_await_passes();
  emit_column<MANY>(setting, place, warp, room);
#endif
}

/* ---- launching ---- */

/* Layers of bricks for a block: many, since each block reads one layer more than it has; but so few that the multiprocessors
 * end together, and that neighbours do not drift apart: what both read is to be in the device's cache. 0: the volume is
 * too small. For tests: the environment variable PMB_TEST_COLUMNS sets it for all sizes. */
static uint32_t layers_of_block(const pmb_cuda *cuda, uint32_t columns)
{
  const char *text = getenv("PMB_TEST_COLUMNS");
  if (text && *text) {
    return (uint32_t)min(max(atoi(text), 0), (int)MOST_LAYERS);
  }
  const int64_t layers = (int64_t)columns * cuda->job.bricks[2] / ((int64_t)ROUNDS * BLOCKS * cuda->processors);
  return layers < LEAST_LAYERS ? 0 : (uint32_t)(layers < MOST_LAYERS ? layers : (int64_t)MOST_LAYERS);
}

/* The kernel for the volume: with more points of a brick than this, on average, many bricks have more than fit the list. */
enum { FEW = 192 };
typedef void (*column_kernel)(pmb_cuda_job, pmb_cuda_output, CUtensorMap, uint32_t);

static column_kernel choose_kernel(const pmb_cuda *cuda)
{
  return cuda->sizes.points > FEW * cuda->context->active_bricks ? column_vertices_kernel<true>
                                                                 : column_vertices_kernel<false>;
}

/* Whether a multiprocessor has room for as many blocks as hide each other's waiting. */
static int has_room(const pmb_cuda *cuda)
{
  int bytes = 0;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, cuda->device) == cudaSuccess &&
    (size_t)bytes >= BLOCKS * (sizeof(column_room) + 1024 /* CUDA's own */);
}

int pmb_cuda_vertices_of_columns(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error)
{
  const pmb_cuda_job *job = &cuda->job;
  const uint32_t along_x = (job->bricks[0] + WIDE - 1) / WIDE, along_y = (job->bricks[1] + DEEP - 1) / DEEP;
  const uint32_t layers = layers_of_block(cuda, along_x * along_y);
  const column_kernel kernel = choose_kernel(cuda);
  cudaFuncAttributes of_kernel;
  CUtensorMap map;
  if (layers == 0 || flags != PMB_CUDA_USUAL || !are_boxes_worth_it(cuda) || job->bricks[1] > 100000 ||
    job->bricks[2] > 60000 || cudaFuncGetAttributes(&of_kernel, kernel) != cudaSuccess || of_kernel.ptxVersion < 90 ||
    !has_room(cuda) || !describe_volume<float>(job, WIDTH, ROWS, PMB_BRICK_Z, &map)) {
    cudaGetLastError();
    return 0;
  }
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(along_x, along_y, (job->bricks[2] + layers - 1) / layers);
  config.blockDim = dim3(THREADS);
  config.dynamicSmemBytes = sizeof(column_room);
  config.stream = cuda->compute;
  config.attrs = &attribute;
  pmb_cuda_begin_early(cuda, &config);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)config.dynamicSmemBytes);
  *error = cudaLaunchKernelEx(&config, kernel, *job, *output, map, layers);
  return 1;
}

#else

int pmb_cuda_vertices_of_columns(pmb_cuda *, const pmb_cuda_output *, int, cudaError_t *)
{
  return 0;
}

#endif
