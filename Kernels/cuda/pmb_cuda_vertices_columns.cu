/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices in large float32 volumes with at least half of the bricks active, on devices with a copy engine for boxes (from
 * 9.0). A block walks up through 2 x 4 columns of bricks, one warp per column. One more warp fetches the next samples.
 *
 * The L2 cache limits the copies: each row of a box takes whole sectors of 32 bytes, and the cache's halves exchange samples. So
 * few samples may be read twice. Without columns dense volumes take 20 to 29% longer. Small volumes have too few layers. */
#include "cuda/pmb_cuda_boxes.cuh"
#include "cuda/pmb_cuda_vertices_brick.cuh"

#if CUDART_VERSION >= 12000

enum {
  WIDE = 2, /* columns of bricks of a block, along x and y */
  DEEP = 4,
  WORKERS = WIDE * DEEP,        /* warps with a column */
  THREADS = 32 * (WORKERS + 1), /* with the warp that fetches */
  BLOCKS = 3,                   /* of a multiprocessor */
  LEAST_LAYERS = 4,             /* of bricks that a block walks through */
  MOST_LAYERS = 16,
  LIMIT_LAYERS = 31, /* a lane for each, and one more */
  SLABS = 240,
  ROUNDS = 12 /* of blocks, at least */
};

/* ---- samples ---- */

/* Samples come in layers as thick as a brick, which begin one sample below the bricks along y and z. A row has whole sectors of 32
 * bytes and begins with the bricks. Samples before it are read from memory where points need them. A brick needs its layer and
 * the next; the ring has room for one more, in flight. */
enum {
  WIDTH = WIDE * PMB_BRICK_X + 32 / sizeof(float),
  ROWS = DEEP * PMB_BRICK_Y + 3,
  SLICE = WIDTH * ROWS,
  LAYER = SLICE * PMB_BRICK_Z,
  LAYERS = 3,
  RING = LAYER * LAYERS
};

static_assert(LAYER * sizeof(float) % 128 == 0, "alignment of boxes");

/* The volume's layers of bricks, cut into slabs as thick as a block's part: slab i is from begin[i] to begin[i + 1]. */
typedef struct column_slabs {
  uint16_t begin[SLABS + 1];
} column_slabs;

/* Shared memory of a block. */
typedef struct column_room {
  float ring[RING];
  uint64_t arrived[LAYERS]; /* barriers: the layer has arrived */
  uint64_t left[LAYERS];    /* barriers: all warps have finished with it */
  char scratch[WORKERS][offsetof(vertex_scratch, others)];
  float before[DEEP][PMB_CUDA_ROWS + 1]; /* samples before the bricks in the block's first column, by row */
} column_room;

#if PMB_CUDA_BOXES

/* Reads a brick's samples in the ring. Neighbours outside the volume repeat its border. */
typedef struct ring_samples {
  typedef float type;
  enum { ONE_ISOVALUE = 1 };
  const float *ring;
  uint32_t origin; /* the brick's first sample there, in bytes */
  int first;       /* -1: the ring has the samples before the brick's column 0; 0: `before` has them */
  float *before;
  float lane_before; /* the lane's part of `before`, from read_before */
  int wraps;         /* the next layer is at the ring's other end */
  int borders;       /* bit a: not all samples around the brick along axis a are in the volume */
} ring_samples;

/* Distances in bytes. */
enum {
  ALONG_X = sizeof(float),
  ALONG_Y = WIDTH * sizeof(float),
  ALONG_Z = SLICE * sizeof(float),
  AROUND = RING * sizeof(float)
};

/* ALONG_X, ALONG_Y or ALONG_Z, by a polynomial. */
static __device__ __forceinline__ uint32_t step_of_kind(int kind)
{
  const int second = (ALONG_Z - 2 * ALONG_Y + ALONG_X) / 2, first = ALONG_Y - ALONG_X - second;
  return (uint32_t)(kind * (kind * second + first) + ALONG_X);
}

/* A sample of the ring; place: in bytes. `wrapped` takes places up to twice the ring's size. */
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

/* x, row: of the edge's lower end in its brick. WRAPS: the brick's slices may be on both sides of the ring's end. */
template <bool WRAPS>
static __device__ __forceinline__ void read_neighbours(
  const ring_samples &samples, int x, int row, int kind, float *ends, neighbours *n)
{
  const float *ring = samples.ring;
  const uint32_t low = samples.origin + (uint32_t)(ALONG_X * x + ALONG_Y * (row & 3) + ALONG_Z * (row >> 2));
  const uint32_t high = low + step_of_kind(kind), in_low = wrapped<WRAPS>(low), in_high = wrapped<WRAPS>(high);
  ends[0] = in_ring(ring, in_low);
  ends[1] = in_ring(ring, in_high);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const uint32_t step = a == 0 ? ALONG_X : a == 1 ? ALONG_Y : ALONG_Z;
    n->low_before[a] = in_ring(ring, a < 2 ? in_low - step : wrapped<WRAPS>(low - step));
    n->low_after[a] = in_ring(ring, a < 2 ? in_low + step : wrapped<WRAPS>(low + step));
    n->high_before[a] = in_ring(ring, a < 2 ? in_high - step : wrapped<WRAPS>(high - step));
    n->high_after[a] = in_ring(ring, a < 2 ? in_high + step : wrapped<WRAPS>(high + step));
  }
  if (x == samples.first) {
    const float *before = samples.before + (5 * (row >> 2) + (row & 3));
    n->low_before[0] = before[0];
    if (kind != PMB_EDGE_X) {
      n->high_before[0] = before[4 * kind - 3]; /* 1 along y, 5 along z */
    }
  }
}

static __device__ __forceinline__ float border_difference(float before, float end, float after, int place, int last)
{
  return pmb_difference(
    place > 0 ? before : end, place < last ? after : end, place <= 0 || place >= last ? 1.0f : 0.5f);
}

/* ANYWHERE: the brick's slices may be on both sides of the ring's end, and the brick at the volume's border. */
template <bool ANYWHERE>
static __device__ __forceinline__ void read_ring(const pmb_cuda_job &job, const ring_samples &samples, int x, int row,
  const point_of<float> &p, surrounding<float> *s)
{
  neighbours n;
  read_neighbours<ANYWHERE>(samples, x, row, p.kind, s->ends, &n);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    if (ANYWHERE && samples.borders >> a & 1) {
      const int last = job.dims[a] - 1, upper = p.low[a] + (p.kind == a);
      s->low[a] = border_difference(n.low_before[a], s->ends[0], n.low_after[a], p.low[a], last);
      s->high[a] = border_difference(n.high_before[a], s->ends[1], n.high_after[a], upper, last);
    } else {
      s->low[a] = pmb_difference(n.low_before[a], n.low_after[a], 0.5f);
      s->high[a] = pmb_difference(n.high_before[a], n.high_after[a], 0.5f);
    }
  }
}

static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting, const ring_samples &samples,
  int x, int row, const point_of<float> &p, surrounding<float> *s)
{
  if (samples.wraps | samples.borders) {
    read_ring<true>(setting.job, samples, x, row, p, s);
  } else {
    read_ring<false>(setting.job, samples, x, row, p, s);
  }
}

static __device__ __forceinline__ void put_samples(
  const pmb_cuda_job &, const pmb_cuda_box &, int, ring_samples *samples)
{
  if (samples->first == 0 && (threadIdx.x & 31) < PMB_CUDA_ROWS) {
    samples->before[threadIdx.x & 31] = samples->lane_before;
  }
}

/* ---- layers ---- */

/* A block's part of the volume: its first brick, counted in bricks, and its layers of bricks; it reads one layer more. */
typedef struct column_place {
  uint32_t x, y, z, layers;
} column_place;

/* Waits for the end of a phase; by a vote, so that the compiler knows that all lanes continue together. */
static __device__ __forceinline__ void await(uint64_t *barrier, uint32_t parity)
{
  while (!__all_sync(UINT32_MAX, is_over(barrier, parity))) {
  }
}

/* The last warp's part: fetches layer after layer, each when all warps have finished with the previous one in its slot. */
static __device__ __forceinline__ void fetch_layers(
  const CUtensorMap *map, const column_place &place, column_room *room)
{
  for (uint32_t layer = 0; layer <= place.layers; ++layer) {
    const uint32_t slot = layer % LAYERS;
    if (layer >= LAYERS) {
      await(&room->left[slot], (layer / LAYERS - 1) & 1);
    }
    if ((threadIdx.x & 31) == 0) {
      copy_box(map, (int)(PMB_BRICK_X * place.x), (int)(PMB_BRICK_Y * place.y) - 1,
        (int)(PMB_BRICK_Z * (place.z + layer)) - 1, LAYER * sizeof(float), room->ring + LAYER * slot,
        &room->arrived[slot]);
    }
  }
}

/* ---- columns ---- */

/* A warp's column. */
typedef struct column_of_warp {
  uint32_t x, y, z; /* the first brick, counted in bricks */
  uint32_t index;   /* of the brick in layer `lane` of the block; UINT32_MAX: not active */
  int borders;      /* as in ring_samples, along x and y */
  uint32_t origin;  /* in the ring, of the brick in its first layer, in bytes */
} column_of_warp;

/* Whether the volume lacks some of the samples around a brick, one below and two above. */
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
  const uint32_t brick = column.x + job.bricks[0] * (column.y + job.bricks[1] * (column.z + lane)), bit = brick & 31;
  const int there = column.x < job.bricks[0] && column.y < job.bricks[1] && lane < place.layers;
  const uint2 map = there ? job.d_map[brick >> 5] : make_uint2(0, 0);
  column.index = map.x >> bit & 1 ? map.y + __popc(map.x & ((1u << bit) - 1)) : UINT32_MAX;
  column.borders = is_border((int)(PMB_BRICK_X * column.x), PMB_BRICK_X, job.dims[0]) |
    is_border((int)(PMB_BRICK_Y * column.y), PMB_BRICK_Y, job.dims[1]) << 1;
  column.origin = ALONG_Z + ALONG_Y * (1 + PMB_BRICK_Y * (warp / WIDE)) + ALONG_X * PMB_BRICK_X * (warp % WIDE);
  return column;
}

/* The sample before the lane's row of the brick in a layer of the block, if a point needs it and the ring lacks it. */
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

/* The other warps' part: each walks up its column, and reads a brick's head while it works on the previous brick. */
template <int FLAGS>
static __device__ __forceinline__ void emit_column(
  const vertex_setting &setting, const column_place &place, uint32_t warp, column_room *room)
{
  const uint32_t active = min(setting.job.d_counters->active, setting.job.record_capacity);
  const column_of_warp column = find_column(setting.job, place, warp);
  const head_source source = source_of_lane(setting.job);
  uint32_t slot = 0, parity = 0, index = __shfl_sync(UINT32_MAX, column.index, 0);
  uint32_t rare = 0,
           again = 0; /* layers, as bits, for the end, so that the compiler reserves no registers for them */
  brick_head next = read_head(setting.job, source, index, active);
  await(&room->arrived[0], 0);
#pragma unroll 1
  for (uint32_t layer = 0; layer < place.layers; ++layer) {
    const brick_head head = next;
    const uint32_t above = slot + 1 < LAYERS ? slot + 1 : 0;
    index = __shfl_sync(UINT32_MAX, column.index, (int)layer + 1);
    next = read_head(setting.job, source, index, active);
    parity ^= above == 0;
    const ring_samples samples = { room->ring, column.origin + (uint32_t)(LAYER * sizeof(float)) * slot,
      warp % WIDE ? -1 : 0, room->before[warp / WIDE], read_before(setting.job, column, layer, head),
      slot + 1 == LAYERS,
      column.borders | is_border((int)(PMB_BRICK_Z * (column.z + layer)), PMB_BRICK_Z, setting.job.dims[2]) << 2 };
    await(&room->arrived[above], parity);
    const int left = emit_plain(setting, samples, head, pmb_cuda_box_at(0, column.x, column.y, column.z + layer),
      (vertex_scratch *)room->scratch[warp]);
    rare |= (uint32_t)(left == RARE) << layer;
    again |= (uint32_t)(left == AGAIN) << layer;
    __syncwarp();
    if ((threadIdx.x & 31) == 0) {
      arrive(&room->left[slot]);
    }
    slot = above;
  }
#pragma unroll 1
  for (uint32_t bits = rare | again; bits; bits &= bits - 1) {
    const int layer = __ffs((int)bits) - 1;
    call_any<volume_samples<float, int64_t>, FLAGS>(setting, __shfl_sync(UINT32_MAX, column.index, layer),
      (int)(again >> layer & 1), (vertex_scratch *)room->scratch[warp]);
  }
}

#endif

template <int FLAGS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
  column_vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ CUtensorMap map, const __grid_constant__ column_slabs slabs)
{
#if PMB_CUDA_BOXES
  extern __shared__ __align__(128) uint4 shared_memory[];
  column_room *room = (column_room *)shared_memory;
  const vertex_setting setting = { job, output, FLAGS };
  const uint32_t z = slabs.begin[blockIdx.z];
  const column_place place = { WIDE * blockIdx.x, DEEP * blockIdx.y, z, slabs.begin[blockIdx.z + 1] - z };
  /* a shuffle tells the compiler that all lanes have the same value */
  const uint32_t warp = __shfl_sync(UINT32_MAX, threadIdx.x >> 5, 0);
  if (threadIdx.x == 0) {
    make_barriers(room->arrived, LAYERS, 1);
    make_barriers(room->left, LAYERS, WORKERS);
  }
  __syncthreads();
  if (warp == WORKERS) {
    fetch_layers(&map, place, room); /* needs no other pass of this count */
    return;
  }
  pmb_cuda_await_passes();
  emit_column<FLAGS>(setting, place, warp, room);
#endif
}

/* ---- launching ---- */

int pmb_cuda_test_layers;

/* Layers of bricks for a block; 0: the volume is too small. Many, since each block reads one layer more than it has; not too many,
 * so that the multiprocessors end together, and that neighbours find common samples in the L2 cache. */
static uint32_t layers_of_block(const pmb_cuda *cuda, uint32_t columns)
{
  if (pmb_cuda_test_layers) {
    return (uint32_t)min(max(pmb_cuda_test_layers, 0), (int)MOST_LAYERS);
  }
  const int64_t layers = (int64_t)columns * cuda->job.bricks[2] / ((int64_t)ROUNDS * BLOCKS * cuda->processors);
  return layers < LEAST_LAYERS ? 0 : (uint32_t)(layers < MOST_LAYERS ? layers : (int64_t)MOST_LAYERS);
}

/* Cuts the volume into slabs of `layers`; columns: blocks of a slab. The last slabs are thinner, so that the multiprocessors end
 * together: none has more layers than remain per resident block. Returns the number of slabs. */
static uint32_t cut_slabs(const pmb_cuda *cuda, uint32_t layers, uint32_t columns, column_slabs *slabs)
{
  const uint64_t blocks = pmb_cuda_test_layers ? 2 * columns : (uint64_t)BLOCKS * cuda->processors;
  const uint32_t all = cuda->job.bricks[2];
  uint32_t count = 0;
  for (uint32_t z = 0; z < all; ++count) {
    const uint32_t left = (uint32_t)(((uint64_t)(all - z) * columns + blocks / 2) / blocks);
    const uint32_t least = (all - z + SLABS - count - 1) / (SLABS - count); /* else there would be too many slabs */
    slabs->begin[count] = (uint16_t)z;
    z += min(all - z, max(min(left, layers), least));
  }
  slabs->begin[count] = (uint16_t)all;
  return count;
}

/* Whether a multiprocessor has shared memory for BLOCKS blocks, which hide each other's waits. */
static int has_room(const pmb_cuda *cuda)
{
  int bytes = 0;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, cuda->device) == cudaSuccess &&
    (size_t)bytes >= BLOCKS * (sizeof(column_room) + 1024 /* CUDA's own */);
}

template <int FLAGS> static int launch_columns(pmb_cuda *cuda, const pmb_cuda_output *output, cudaError_t *error)
{
  const auto kernel = column_vertices_kernel<FLAGS>;
  const pmb_cuda_job *job = &cuda->job;
  const uint32_t along_x = (job->bricks[0] + WIDE - 1) / WIDE, along_y = (job->bricks[1] + DEEP - 1) / DEEP;
  const uint32_t layers = layers_of_block(cuda, along_x * along_y);
  cudaFuncAttributes of_kernel;
  CUtensorMap map;
  if (layers == 0 || cuda->context->volume.type != PMB_FLOAT32 || job->isovalue_count > 1 ||
    cuda->context->info.active_bricks < job->brick_count / 2 || job->bricks[1] > 100000 ||
    job->bricks[2] > SLABS * LIMIT_LAYERS || cudaFuncGetAttributes(&of_kernel, kernel) != cudaSuccess ||
    of_kernel.ptxVersion < 90 || !has_room(cuda) || !describe_volume(job, WIDTH, ROWS, PMB_BRICK_Z, &map)) {
    cudaGetLastError();
    return 0;
  }
  column_slabs slabs;
  const dim3 blocks(along_x, along_y, cut_slabs(cuda, layers, along_x * along_y, &slabs));
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(column_room));
  *error =
    pmb_cuda_launch(cuda, PMB_CUDA_EARLY, kernel, blocks, THREADS, sizeof(column_room), *job, *output, map, slabs);
  return 1;
}

int pmb_cuda_vertices_columns(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error)
{
  enum { WITHOUT_NORMALS = PMB_CUDA_USUAL & ~PMB_CUDA_NORMALS };
  return flags == PMB_CUDA_USUAL ? launch_columns<PMB_CUDA_USUAL>(cuda, output, error)
    : flags == WITHOUT_NORMALS   ? launch_columns<WITHOUT_NORMALS>(cuda, output, error)
                                 : 0;
}

#else

int pmb_cuda_vertices_columns(pmb_cuda *, const pmb_cuda_output *, int, cudaError_t *)
{
  return 0;
}

#endif
