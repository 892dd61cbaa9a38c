/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices in large float32 volumes of which most bricks are active, on devices that copy boxes of a volume on their own
 * (from 9.0): a block walks up through 2 x 4 columns of bricks, a warp a column. One more warp fetches what they read next.
 *
 * Such copies ask the device's cache for each 32 bytes, and its halves pass samples to each other: that bounds the pass. So it
 * matters how many samples are read twice. Without columns dense volumes take 20 to 29% longer; small ones have too few layers to
 * begin with. */
#include "cuda/pmb_cuda_boxes.cuh"
#include "cuda/pmb_cuda_vertices_brick.cuh"

#if CUDART_VERSION >= 12000

enum {
  WIDE = 2, /* columns of bricks of a block, along x and y */
  DEEP = 4,
  WORKERS = WIDE * DEEP,        /* warps with a column */
  THREADS = 32 * (WORKERS + 1), /* and the one that fetches */
  BLOCKS = 3,                   /* of a multiprocessor */
  LEAST_LAYERS = 4,             /* of bricks that a block walks through */
  MOST_LAYERS = 16,
  MOST_SLABS = 31, /* that are thinner than others */
  ROUNDS = 12      /* of blocks, at least */
};

/* ---- samples ---- */

/* Samples come in layers as thick as a brick, each from one sample below its bricks on along y and z. A row has whole pieces
 * of 32 bytes, which is what the device's cache is asked for, and begins with the bricks: of the samples before it only those
 * that points need are read, from memory. A brick needs its layer and the next; one more is on its way. */
enum {
  WIDTH = WIDE * PMB_BRICK_X + 32 / sizeof(float),
  ROWS = DEEP * PMB_BRICK_Y + 3,
  SLICE = WIDTH * ROWS,
  LAYER = SLICE * PMB_BRICK_Z,
  LAYERS = 3,
  RING = LAYER * LAYERS
};

static_assert(LAYER * sizeof(float) % 128 == 0, "where a box may go");
static_assert(MOST_LAYERS < 32, "a lane for each layer of a block, and one more");

/* The volume's layers of bricks in slabs, which are as thick as a block's part: `full` slabs of `layers`, then such as go from
 * end[i] to end[i + 1]. */
typedef struct column_slabs {
  uint32_t layers, full;
  uint32_t end[MOST_SLABS + 1];
} column_slabs;

/* Room of a block. */
typedef struct column_room {
  float ring[RING];
  uint64_t arrived[LAYERS]; /* barriers: the layer is there; */
  uint64_t left[LAYERS];    /* all are done with it */
  char scratch[WORKERS][offsetof(vertex_scratch, others)];
  float before[DEEP][PMB_CUDA_ROWS + 1]; /* samples before the bricks in the block's first column, by row */
} column_room;

#if PMB_CUDA_BOXES

/* What is outside the volume repeats its border. */
typedef struct ring_samples {
  enum { BY_EDGE = 0, ONE_ISOVALUE = 1 };
  const float *ring;
  uint32_t origin; /* the brick's first sample there, in bytes */
  int first;       /* 0: the ring has no samples before the brick's column 0, they are in `before`; -1: it has */
  const float *before;
  int wraps;   /* the next layer is at the ring's other end */
  int borders; /* bit a: not all samples around the brick along axis a are in the volume */
} ring_samples;

/* Distances in bytes. */
enum {
  ALONG_X = sizeof(float),
  ALONG_Y = WIDTH * sizeof(float),
  ALONG_Z = SLICE * sizeof(float),
  AROUND = RING * sizeof(float)
};

/* From an edge's lower end to its upper: one of the first three, by a polynomial. */
static __device__ __forceinline__ uint32_t step_of_kind(int kind)
{
  const int second = (ALONG_Z - 2 * ALONG_Y + ALONG_X) / 2, first = ALONG_Y - ALONG_X - second;
  return (uint32_t)(kind * (kind * second + first) + ALONG_X);
}

/* A sample of the ring; place: in bytes, less than twice around. */
static __device__ __forceinline__ float in_ring(const float *ring, uint32_t place)
{
  return *(const float *)((const char *)ring + place);
}
template <bool WRAPS> static __device__ __forceinline__ uint32_t wrapped(uint32_t place)
{
  return WRAPS ? min(place, place - AROUND) : place;
}

/* The samples before and after the ends of an edge, along three axes. */
typedef struct neighbours {
  float low_before[3], low_after[3], high_before[3], high_after[3];
} neighbours;

/* x, row: of the edge's lower end in its brick. WRAPS: the brick's slices may lie on both sides of the ring's end. */
template <bool WRAPS>
static __device__ __forceinline__ void read_neighbours(
  const ring_samples &samples, int x, int row, int kind, float *ends, neighbours *n)
{
  const float *ring = samples.ring;
  const uint32_t low = samples.origin + (uint32_t)(ALONG_X * x + ALONG_Y * (row & 3) + ALONG_Z * (row >> 2));
  const uint32_t high = low + step_of_kind(kind), in_low = wrapped<WRAPS>(low), in_high = wrapped<WRAPS>(high);
  ends[0] = in_ring(ring, in_low);
  ends[1] = in_ring(ring, in_high);
  n->low_before[0] = in_ring(ring, in_low - ALONG_X);
  n->low_after[0] = in_ring(ring, in_low + ALONG_X);
  n->high_before[0] = in_ring(ring, in_high - ALONG_X);
  n->high_after[0] = in_ring(ring, in_high + ALONG_X);
  n->low_before[1] = in_ring(ring, in_low - ALONG_Y);
  n->low_after[1] = in_ring(ring, in_low + ALONG_Y);
  n->high_before[1] = in_ring(ring, in_high - ALONG_Y);
  n->high_after[1] = in_ring(ring, in_high + ALONG_Y);
  n->low_before[2] = in_ring(ring, wrapped<WRAPS>(low - ALONG_Z));
  n->low_after[2] = in_ring(ring, wrapped<WRAPS>(low + ALONG_Z));
  n->high_before[2] = in_ring(ring, wrapped<WRAPS>(high - ALONG_Z));
  n->high_after[2] = in_ring(ring, wrapped<WRAPS>(high + ALONG_Z));
  if (x == samples.first) {
    const float *before = samples.before + (5 * (row >> 2) + (row & 3));
    n->low_before[0] = before[0];
    if (kind != PMB_EDGE_X) {
      n->high_before[0] = before[4 * kind - 3]; /* 1 along y, 5 along z */
    }
  }
}

/* The differences at the ends of an edge, along axis a. */
static __device__ __forceinline__ void differ_within(const neighbours &n, int a, surrounding<float> *s)
{
  s->low[a] = pmb_difference(n.low_before[a], n.low_after[a], 0.5f);
  s->high[a] = pmb_difference(n.high_before[a], n.high_after[a], 0.5f);
}

static __device__ __forceinline__ float border_difference(float before, float end, float after, int place, int last)
{
  return pmb_difference(
    place > 0 ? before : end, place < last ? after : end, place <= 0 || place >= last ? 1.0f : 0.5f);
}

/* Likewise, in a brick at the volume's border there. */
static __device__ __forceinline__ void differ_at_border(
  const neighbours &n, int a, int last, const point_of<float> &p, surrounding<float> *s)
{
  s->low[a] = border_difference(n.low_before[a], s->ends[0], n.low_after[a], p.low[a], last);
  s->high[a] = border_difference(n.high_before[a], s->ends[1], n.high_after[a], p.low[a] + (p.kind == a), last);
}

/* In most bricks; and anywhere. */
static __device__ __forceinline__ void read_inner(
  const ring_samples &samples, int x, int row, const point_of<float> &p, surrounding<float> *s)
{
  neighbours n;
  read_neighbours<false>(samples, x, row, p.kind, s->ends, &n);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    differ_within(n, a, s);
  }
}
static __device__ __forceinline__ void read_anywhere(const pmb_cuda_job &job, const ring_samples &samples, int x,
  int row, const point_of<float> &p, surrounding<float> *s)
{
  neighbours n;
  read_neighbours<true>(samples, x, row, p.kind, s->ends, &n);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    if (samples.borders >> a & 1) {
      differ_at_border(n, a, job.dims[a] - 1, p, s);
    } else {
      differ_within(n, a, s);
    }
  }
}

/* Tells that the warp is done with a layer. */
static __device__ __forceinline__ void leave_layer(uint64_t *left)
{
  __syncwarp();
#if defined(__CUDA_ARCH__)
  if ((threadIdx.x & 31) == 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(left)) : "memory");
  }
#else
  (void)left;
#endif
}

static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting, const ring_samples &samples,
  int x, int row, const point_of<float> &p, surrounding<float> *s)
{
  if (samples.wraps | samples.borders) {
    read_anywhere(setting.job, samples, x, row, p, s);
  } else {
    read_inner(samples, x, row, p, s);
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

/* Waits until the block's first layer is there. */
static __device__ __forceinline__ void await_first_layer(column_room *room)
{
#if defined(__CUDA_ARCH__)
  await(&room->arrived[0], 0);
#else
  (void)room;
#endif
}

/* Waits until the layer in a slot is there. */
static __device__ __forceinline__ void await_layer(column_room *room, uint32_t slot, uint32_t parity)
{
#if defined(__CUDA_ARCH__)
  await(&room->arrived[slot], parity);
#else
  (void)room;
  (void)slot;
  (void)parity;
  __syncthreads();
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

/* Where a lane finds its word of a head, and its points before the row: so many bytes behind for each brick. */
typedef struct column_source {
  const char *d_word, *d_first;
  uint32_t step;
} column_source;

static __device__ __forceinline__ column_source source_of_column(const pmb_cuda_job &job)
{
  const uint32_t lane = threadIdx.x & 31, before = lane >= BEFORE_LANE;
  /* column and special follow the words; the next brick's points follow the triangles */
  const uint32_t word = (before ? lane - BEFORE_LANE : lane) + 2 * (lane == AFTER_LANE);
  const char *d_from = before ? (const char *)job.d_before : (const char *)job.d_records;
  const column_source source = { opaque(d_from + word * sizeof(uint32_t)),
    opaque((const char *)(job.d_records->first + (lane & 15))),
    (uint32_t)opaque((uint32_t)(before ? sizeof(pmb_cuda_before) : sizeof(pmb_cuda_record))) };
  return source;
}

/* As read_head, but without the brick's number, and without branches between the lanes. */
static __device__ __forceinline__ brick_head read_head_of_column(
  const column_source &source, uint32_t index, uint32_t active)
{
  brick_head head = {};
  if (index < active) {
    head.word = *(const uint32_t *)(source.d_word + (uint64_t)source.step * index);
    head.first = *(const uint32_t *)(source.d_first + (uint64_t)sizeof(pmb_cuda_record) * index);
  }
  return head;
}

/* What a warp knows of its column from the start. */
typedef struct column_of_warp {
  uint32_t x, y, z;   /* the first brick, counted in bricks */
  uint32_t index;     /* of the brick in layer `lane` of the block; UINT32_MAX: it is not active */
  int borders;        /* as in ring_samples, along x and y */
  uint32_t z_borders; /* layers that are at the border along z */
  uint32_t origin;    /* in the ring, of the brick in its first layer, in bytes */
} column_of_warp;

/* Layers, as bits, in which a warp's brick goes another way, all of it (rare) or some points of it; it does so after the
 * others, so that the compiler keeps no registers for it. */
typedef struct other_bricks {
  uint32_t rare, again;
} other_bricks;

/* Whether samples around bricks, one below and two above, are not all in the volume. */
static __device__ __forceinline__ int is_border(int origin, int size, int dim)
{
  return origin <= 0 || origin + size + 1 >= dim;
}

static __device__ __forceinline__ column_of_warp find_column(
  const pmb_cuda_job &job, const column_place &place, uint32_t warp)
{
  const uint32_t lane = threadIdx.x & 31;
  column_of_warp column = {};
  column.x = place.x + warp % WIDE;
  column.y = place.y + warp / WIDE;
  column.z = place.z;
  const uint32_t brick = column.x + job.bricks[0] * (column.y + job.bricks[1] * (column.z + lane));
  column.index = index_in_map(
    read_map(job, brick, column.x < job.bricks[0] && column.y < job.bricks[1] && lane < place.layers), brick);
  column.borders = is_border((int)(PMB_BRICK_X * column.x), PMB_BRICK_X, job.dims[0]) |
    is_border((int)(PMB_BRICK_Y * column.y), PMB_BRICK_Y, job.dims[1]) << 1;
  column.z_borders =
    __ballot_sync(UINT32_MAX, is_border((int)(PMB_BRICK_Z * (column.z + lane)), PMB_BRICK_Z, job.dims[2]));
  column.origin = ALONG_Z + ALONG_Y * (1 + PMB_BRICK_Y * (warp / WIDE)) + ALONG_X * PMB_BRICK_X * (warp % WIDE);
  return column;
}

/* The sample before the lane's row of the brick in a layer of the block, if a point needs it and it is not in the ring. */
static __device__ __forceinline__ float read_before(
  const pmb_cuda_job &job, const column_of_warp &column, uint32_t layer, const brick_head &head)
{
  enum { OWN = 0xf | 0xf << 5 | 0xf << 10 | 0xf << 15 }; /* rows that begin edges */
  if (column.x % WIDE || column.x == 0) {
    return 0;
  }
  const uint32_t lane = threadIdx.x & 31;
  const uint32_t first = __ballot_sync(UINT32_MAX, head.word & 1), second = __ballot_sync(UINT32_MAX, head.word & 2);
  const uint32_t along_y = (first ^ first >> 1) & OWN, along_z = (first ^ first >> 5) & OWN;
  const uint32_t rows = ((first ^ second) & OWN) | along_y | along_y << 1 | along_z | along_z << 5;
  if (!(rows >> lane & 1)) {
    return 0;
  }
  const uint32_t y = min(PMB_BRICK_Y * column.y + lane % 5, (uint32_t)job.dims[1] - 1);
  const uint32_t z = min(PMB_BRICK_Z * (column.z + layer) + lane / 5, (uint32_t)job.dims[2] - 1);
  return __ldg((const float *)((const char *)job.d_samples +
    (sizeof(float) * PMB_BRICK_X * column.x - sizeof(float)) + job.row_bytes * y + job.slice_bytes * z));
}

/* The points of a brick; lane_before: of read_before; layer: of the block; slot: of the ring. */
static __device__ __forceinline__ void emit_from_ring(const vertex_setting &setting, const brick_head &head,
  float lane_before, const column_of_warp &column, column_room *room, uint32_t warp, uint32_t layer, uint32_t slot,
  other_bricks *others)
{
  vertex_scratch *scratch = (vertex_scratch *)room->scratch[warp];
  float *before = room->before[warp / WIDE];
  brick_work work;
  const int any = begin_brick(setting, head, &work);
  if (!any || is_rare(head, work)) {
    others->rare |= (uint32_t)any << layer;
    return;
  }
  put_box(setting.job, pmb_cuda_box_at(0, column.x, column.y, column.z + layer), &work);
  const ring_samples samples = { room->ring, column.origin + (uint32_t)(LAYER * sizeof(float)) * slot,
    warp % WIDE ? -1 : 0, before, slot + 1 == LAYERS, column.borders | (int)(column.z_borders >> layer & 1) << 2 };
  __syncwarp();
  list_plain(setting.job, work.box, head, scratch);
  if (warp % WIDE == 0 && (threadIdx.x & 31) < PMB_CUDA_ROWS) {
    before[threadIdx.x & 31] = lane_before; /* it has come while the points were listed */
  }
  __syncwarp();
  if (emit_listed<float>(setting, samples, work, scratch)) {
    others->again |= 1u << layer;
  }
}

/* index: as in column_of_warp. */
static __device__ __forceinline__ void emit_others(
  const vertex_setting &setting, const other_bricks &others, uint32_t index, vertex_scratch *scratch)
{
#pragma unroll 1
  for (uint32_t bits = others.rare | others.again; bits; bits &= bits - 1) {
    const int layer = __ffs((int)bits) - 1;
    const uint32_t brick = __shfl_sync(UINT32_MAX, index, layer);
    if (others.again >> layer & 1 || call_any<float, EXACT_DIVIDE>(setting, brick, scratch)) {
      __syncwarp();
      call_any<float, REPAIR>(setting, brick, scratch);
    }
  }
}

/* The other warps' part: each walks up its column. What it reads of a brick besides samples is on its way while it works
 * on the one before. */
static __device__ __forceinline__ void emit_column(
  const vertex_setting &setting, const column_place &place, uint32_t warp, column_room *room)
{
  const uint32_t active = min(setting.job.d_counters->active, setting.job.record_capacity);
  const column_of_warp column = find_column(setting.job, place, warp);
  const column_source source = source_of_column(setting.job);
  uint32_t slot = 0, parity = 0;
  brick_head next = read_head_of_column(source, __shfl_sync(UINT32_MAX, column.index, 0), active);
  other_bricks others = { 0, 0 };
  await_first_layer(room);
#pragma unroll 1
  for (uint32_t layer = 0; layer < place.layers; ++layer) {
    const brick_head head = next;
    const uint32_t above = slot + 1 < LAYERS ? slot + 1 : 0;
    next = read_head_of_column(source, __shfl_sync(UINT32_MAX, column.index, (int)layer + 1), active);
    parity ^= above == 0;
    const float before = read_before(setting.job, column, layer, head);
    await_layer(room, above, parity);
    emit_from_ring(setting, head, before, column, room, warp, layer, slot, &others);
    leave_layer(&room->left[slot]);
    slot = above;
  }
  emit_others(setting, others, column.index, (vertex_scratch *)room->scratch[warp]);
}

#endif

static __global__ void __launch_bounds__(THREADS, BLOCKS)
  column_vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ CUtensorMap map, const __grid_constant__ column_slabs slabs)
{
#if PMB_CUDA_BOXES
  extern __shared__ __align__(128) uint4 shared_memory[];
  column_room *room = (column_room *)shared_memory;
  const vertex_setting setting = { job, output, PMB_CUDA_USUAL };
  const uint32_t n = blockIdx.z, z = n < slabs.full ? slabs.layers * n : slabs.end[n - slabs.full];
  const uint32_t end = n < slabs.full ? z + slabs.layers : slabs.end[n - slabs.full + 1];
  const column_place place = { WIDE * blockIdx.x, DEEP * blockIdx.y, z, end - z };
  /* a shuffle, so that the compiler knows that all lanes have the same */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0);
  make_barriers(room);
  if (warp == WORKERS) {
    fetch_layers(&map, place, room); /* the samples have been there for long */
    return;
  }
  pmb_cuda_await_passes();
  emit_column(setting, place, warp, room);
#endif
}

/* ---- launching ---- */

int pmb_cuda_test_layers;

/* Layers of bricks for a block: many, since each block reads one layer more than it has; but so few that the multiprocessors
 * end together, and that neighbours do not drift apart: what both read is to be in the device's cache. 0: the volume is
 * too small. */
static uint32_t layers_of_block(const pmb_cuda *cuda, uint32_t columns)
{
  if (pmb_cuda_test_layers) {
    return (uint32_t)min(max(pmb_cuda_test_layers, 0), (int)MOST_LAYERS);
  }
  const int64_t layers = (int64_t)columns * cuda->job.bricks[2] / ((int64_t)ROUNDS * BLOCKS * cuda->processors);
  return layers < LEAST_LAYERS ? 0 : (uint32_t)(layers < MOST_LAYERS ? layers : (int64_t)MOST_LAYERS);
}

/* Cuts the volume into slabs; columns: blocks of a slab. At the end a slab has no more layers than are left for each block
 * that there is room for: so that the multiprocessors end together. Returns how many slabs. */
static uint32_t cut_slabs(const pmb_cuda *cuda, uint32_t layers, uint32_t columns, column_slabs *slabs)
{
  const uint64_t blocks = pmb_cuda_test_layers ? 2 * columns : (uint64_t)BLOCKS * cuda->processors;
  uint32_t rest = cuda->job.bricks[2], count = 0;
  slabs->layers = layers;
  for (slabs->full = 0; rest >= layers && ((uint64_t)rest * columns >= layers * blocks || rest > MOST_SLABS * layers);
       ++slabs->full) {
    rest -= layers;
  }
  while (rest > 0) {
    const uint32_t left = (uint32_t)(((uint64_t)rest * columns + blocks / 2) / blocks);
    const uint32_t least = (rest + MOST_SLABS - count - 1) / (MOST_SLABS - count); /* or there would be too many */
    slabs->end[count++] = cuda->job.bricks[2] - rest;
    rest -= min(rest, min(max(left, least), layers));
  }
  slabs->end[count] = cuda->job.bricks[2];
  return slabs->full + count;
}

/* Whether a multiprocessor has room for as many blocks as hide each other's waiting. */
static int has_room(const pmb_cuda *cuda)
{
  int bytes = 0;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, cuda->device) == cudaSuccess &&
    (size_t)bytes >= BLOCKS * (sizeof(column_room) + 1024 /* CUDA's own */);
}

int pmb_cuda_vertices_columns(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error)
{
  const pmb_cuda_job *job = &cuda->job;
  const uint32_t along_x = (job->bricks[0] + WIDE - 1) / WIDE, along_y = (job->bricks[1] + DEEP - 1) / DEEP;
  const uint32_t layers = layers_of_block(cuda, along_x * along_y);
  cudaFuncAttributes of_kernel;
  CUtensorMap map;
  if (layers == 0 || flags != PMB_CUDA_USUAL || cuda->context->volume.type != PMB_FLOAT32 ||
    job->isovalue_count > 1 || cuda->context->active_bricks < job->brick_count / 2 || job->bricks[1] > 100000 ||
    job->bricks[2] > 60000 || cudaFuncGetAttributes(&of_kernel, column_vertices_kernel) != cudaSuccess ||
    of_kernel.ptxVersion < 90 || !has_room(cuda) || !describe_volume(job, WIDTH, ROWS, PMB_BRICK_Z, &map)) {
    cudaGetLastError();
    return 0;
  }
  column_slabs slabs;
  const dim3 blocks(along_x, along_y, cut_slabs(cuda, layers, along_x * along_y, &slabs));
  cudaFuncSetAttribute(column_vertices_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(column_room));
  *error = pmb_cuda_launch(
    cuda, PMB_CUDA_EARLY, column_vertices_kernel, blocks, THREADS, sizeof(column_room), *job, *output, map, slabs);
  return 1;
}

#else

int pmb_cuda_vertices_columns(pmb_cuda *, const pmb_cuda_output *, int, cudaError_t *)
{
  return 0;
}

#endif
