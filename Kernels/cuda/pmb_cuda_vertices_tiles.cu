/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices where most bricks are active, in float32 volumes on devices that copy boxes of a volume on their own (from
 * 9.0): a block has a group of 2 x 2 x 2 bricks with their samples in a tile of shared memory, a warp each. */
#include "cuda/pmb_cuda_vertices_tiles.cuh"

#if CUDART_VERSION >= 12000

/* Blocks of a multiprocessor: the more there are, the less they wait for tiles together. One more fits where points are
 * floats. */
enum { USUAL_BLOCKS = 5, BLOCKS = 4 };

/* ---- samples ---- */

/* A tile: the samples of 2 x 2 x 2 bricks with one sample below and two above, its rows of whole 16 bytes. */
template <class T> struct tile_of {
  enum {
    BRICKS = 2, /* along each axis */
    SIDE = BRICKS * PMB_BRICK_Y + 3,
    PAD = 16 / sizeof(T),
    WIDTH = BRICKS * PMB_BRICK_X + 2 * PAD,
    SLICE = WIDTH * SIDE,
    SAMPLES = SLICE * SIDE
  };
};

#if PMB_CUDA_BOXES

/* What lies outside the volume repeats its border. */
template <class T> struct tile_samples {
  enum { BY_EDGE = 0, ONE_ISOVALUE = 1 };
  const T *origin;
  int inner;
};

/* A warp's place in the block's group, by axis. */
static __device__ __forceinline__ int place_in_group(int axis)
{
  return (int)(threadIdx.x >> (5 + axis) & 1);
}

/* The first brick of the block's group, counted in bricks. */
static __device__ __forceinline__ uint3 place_of_group(void)
{
  return make_uint3(2 * blockIdx.x, 2 * blockIdx.y, 2 * blockIdx.z);
}

/* The warp's brick, and whether its neighbours are all in the volume. */
static __device__ __forceinline__ pmb_cuda_box box_in_group(const pmb_cuda_job &job, const uint3 &group, int *inner)
{
  const pmb_cuda_box box =
    pmb_cuda_box_at(0, group.x + place_in_group(0), group.y + place_in_group(1), group.z + place_in_group(2));
  *inner = pmb_cuda_is_surrounded(job, box);
  return box;
}

/* From an edge's lower end to its upper, 10 bits for each kind; 0 for points on samples. */
template <class T> static __device__ __forceinline__ uint32_t step_of_kind(void)
{
  return 1 | (uint32_t)tile_of<T>::WIDTH << 10 | (uint32_t)tile_of<T>::SLICE << 20;
}

/* From a tile: what lies outside the volume is there, only the factors differ at its border. */
template <class T>
static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting, const tile_samples<T> &samples,
  int x, int row, const point_of<T> &p, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int steps[3] = { 1, tile_of<T>::WIDTH, tile_of<T>::SLICE };
  const T *low = samples.origin + (x + steps[1] * (row & 3) + steps[2] * (row >> 2));
  const T *high = low + (step_of_kind<T>() >> 10 * p.kind & 1023);
  s->ends[0] = lifted(low[0]);
  s->ends[1] = lifted(high[0]);
  if (samples.inner) {
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      s->low[a] = difference(lifted(low[-steps[a]]), lifted(low[steps[a]]), (real)0.5);
      s->high[a] = difference(lifted(high[-steps[a]]), lifted(high[steps[a]]), (real)0.5);
    }
    return;
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const int place = p.low[a], upper = place + (p.kind == a), last = setting.job.dims[a] - 1;
    const real low_factor = place <= 0 || place >= last ? (real)1 : (real)0.5;
    const real high_factor = upper <= 0 || upper >= last ? (real)1 : (real)0.5;
    s->low[a] = difference(lifted(low[-steps[a]]), lifted(low[steps[a]]), low_factor);
    s->high[a] = difference(lifted(high[-steps[a]]), lifted(high[steps[a]]), high_factor);
  }
}

/* ---- tiles ---- */

/* Begins to fill a tile; coordinates of its first sample. One warp calls it. */
static __device__ __forceinline__ void start_tile(
  const CUtensorMap *map, int x, int y, int z, uint32_t bytes, void *tile, uint64_t *arrived)
{
#if defined(__CUDA_ARCH__)
  if (threadIdx.x == 0) {
    make_barrier(arrived, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp(); /* for compute-sanitizer, which takes the instruction above for another lane's */
#endif
  if (threadIdx.x == 0) {
    copy_box(map, x, y, z, bytes, tile, arrived);
  }
}

/* The thread that has started it calls this. */
static __device__ __forceinline__ void wait_for_tile(uint64_t *arrived)
{
#if defined(__CUDA_ARCH__)
  while (!is_over(arrived, 0)) {
  }
#else
  (void)arrived;
#endif
}

/* Repeats the volume's border along an axis of the tile, which has first as its first own sample there. step: from
 * sample to sample; n, inner, outer: how many there are across, and their steps. */
template <class T>
static __device__ __forceinline__ void repeat_border(
  T *tile, int first, int own, int dim, int at, int step, int inner_count, int inner, int outer_count, int outer)
{
  const int above = dim - first; /* the first sample outside */
  if (first > 0 && above > own + 1) {
    return;
  }
  /* Unrolled, nvcc 13.0 adds a step too much to the addresses from the second sample on. */
#pragma unroll 1
  for (int i = threadIdx.x; i < inner_count * outer_count; i += PMB_CUDA_THREADS) {
    T *row = tile + at + inner * (i % inner_count) + outer * (i / inner_count);
    if (first == 0) {
      row[-step] = row[0];
    }
    if (above <= own + 1) {
      row[above * step] = row[(above - 1) * step];
    }
  }
  __syncthreads();
}

/* Index of the warp's active brick in the block's group; UINT32_MAX if there is none. */
static __device__ __forceinline__ uint32_t index_in_group(const pmb_cuda_job &job, const uint3 &group)
{
  const uint32_t x = group.x + place_in_group(0), y = group.y + place_in_group(1), z = group.z + place_in_group(2);
  const uint32_t brick = x + job.bricks[0] * (y + job.bricks[1] * z);
  if (x >= job.bricks[0] || y >= job.bricks[1] || z >= job.bricks[2]) {
    return UINT32_MAX;
  }
  const uint2 map = job.d_map[brick >> 5];
  const uint32_t bit = brick & 31;
  return map.x >> bit & 1 ? map.y + __popc(map.x & ((1u << bit) - 1)) : UINT32_MAX;
}

/* The points of the warp's brick, whose samples are in the tile. */
template <class T>
static __device__ __forceinline__ void emit_from_tile(const vertex_setting &setting, const brick_head &head,
  uint32_t index, const uint3 &group, const T *tile, vertex_scratch *scratch)
{
  typedef tile_of<T> shape;
  brick_work work;
  if (!begin_brick(setting, head, &work)) {
    return;
  }
  tile_samples<T> samples;
  put_box(setting.job, box_in_group(setting.job, group, &samples.inner), &work);
  samples.origin = tile + shape::PAD + PMB_BRICK_X * place_in_group(0) +
    shape::WIDTH * (1 + PMB_BRICK_Y * place_in_group(1)) + shape::SLICE * (1 + PMB_BRICK_Z * place_in_group(2));
  const int again = is_rare(head, work) ? call_any<T, EXACT>(setting, index, scratch)
                                        : emit_plain<T>(setting, samples, head, work, scratch);
  if (again) {
    __syncwarp();
    call_any<T, AGAIN>(setting, index, scratch);
  }
}

/* The bricks of a block's group of 2 x 2 x 2, with their samples in a tile. */
template <class T>
static __device__ __forceinline__ void emit_group(
  const vertex_setting &setting, const CUtensorMap *map, T *tile, vertex_scratch *scratch, uint64_t *arrived)
{
  enum { SIDE = tile_of<T>::SIDE, PAD = tile_of<T>::PAD, WIDTH = tile_of<T>::WIDTH, SLICE = tile_of<T>::SLICE };
  const pmb_cuda_job &job = setting.job;
  const uint3 group = place_of_group();
  const int x = PMB_BRICK_X * group.x, y = PMB_BRICK_Y * group.y, z = PMB_BRICK_Z * group.z;
  if (threadIdx.x < 32) {
    start_tile(map, x - PAD, y - 1, z - 1, sizeof(T) * tile_of<T>::SAMPLES, tile, arrived);
  }
  pmb_cuda_await_passes(); /* the samples have been there for long */
  const uint32_t active = min(job.d_counters->active, job.record_capacity), index = index_in_group(job, group);
  const brick_head head = read_head_of_tile(source_of_tile(job), index, active);
  if (threadIdx.x == 0) {
    wait_for_tile(arrived);
  }
  __syncthreads();
  repeat_border<T>(tile, x, 2 * PMB_BRICK_X, job.dims[0], PAD, 1, SIDE, WIDTH, SIDE, SLICE);
  repeat_border<T>(tile, y, 2 * PMB_BRICK_Y, job.dims[1], WIDTH, WIDTH, WIDTH, 1, SIDE, SLICE);
  repeat_border<T>(tile, z, 2 * PMB_BRICK_Z, job.dims[2], SLICE, SLICE, WIDTH, 1, SIDE, WIDTH);
  emit_from_tile<T>(setting, head, index, group, tile, scratch);
}

#endif

template <class T> static __host__ __device__ constexpr size_t tile_bytes()
{
  return (sizeof(T) * tile_of<T>::SAMPLES + 127) / 128 * 128;
}

/* For volumes with many active bricks, on devices that copy boxes on their own. */
template <class T, int FLAGS>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS, FLAGS == PMB_CUDA_USUAL ? USUAL_BLOCKS : BLOCKS)
  grouped_vertices_kernel(const __grid_constant__ pmb_cuda_job job, const __grid_constant__ pmb_cuda_output output,
    const __grid_constant__ CUtensorMap map, const __grid_constant__ int flags)
{
#if PMB_CUDA_BOXES
  extern __shared__ __align__(128) uint4 shared_memory[];
  char *room = (char *)shared_memory;
  const vertex_setting setting = { job, output, FLAGS == ANY ? flags : FLAGS };
  char *scratch = room + tile_bytes<T>();
  emit_group<T>(setting, &map, (T *)room, (vertex_scratch *)(scratch + (threadIdx.x >> 5) * scratch_bytes(FLAGS)),
    (uint64_t *)(scratch + PMB_CUDA_WARPS * scratch_bytes(FLAGS)));
#endif
}

/* ---- launching ---- */

typedef struct group_count {
  uint32_t along[3];
} group_count;

static group_count groups_of(const pmb_cuda_job *job)
{
  group_count count;
  for (int a = 0; a < 3; ++a) {
    count.along[a] = (job->bricks[a] + 1) / 2;
  }
  return count;
}

template <class T, int FLAGS>
static cudaError_t launch_groups(pmb_cuda *cuda, const pmb_cuda_output *output, const CUtensorMap &map, int flags)
{
  const group_count groups = groups_of(&cuda->job);
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(groups.along[0], groups.along[1], groups.along[2]);
  config.blockDim = dim3(PMB_CUDA_THREADS);
  config.dynamicSmemBytes = tile_bytes<T>() + PMB_CUDA_WARPS * scratch_bytes(FLAGS) + sizeof(uint64_t);
  config.stream = cuda->compute;
  config.attrs = &attribute;
  pmb_cuda_begin_early(cuda, &config);
  cudaFuncSetAttribute(
    grouped_vertices_kernel<T, FLAGS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)config.dynamicSmemBytes);
  return cudaLaunchKernelEx(&config, grouped_vertices_kernel<T, FLAGS>, cuda->job, *output, map, flags);
}

int pmb_cuda_vertices_of_groups(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error)
{
  const pmb_cuda_job *job = &cuda->job;
  cudaFuncAttributes attributes;
  CUtensorMap map;
  if (!are_boxes_worth_it(cuda) || job->bricks[1] > 100000 || job->bricks[2] > 100000 ||
    cudaFuncGetAttributes(&attributes, grouped_vertices_kernel<float, ANY>) != cudaSuccess ||
    attributes.ptxVersion < 90 ||
    !describe_volume<float>(job, tile_of<float>::WIDTH, tile_of<float>::SIDE, tile_of<float>::SIDE, &map)) {
    cudaGetLastError();
    return 0;
  }
  *error = flags == PMB_CUDA_USUAL ? launch_groups<float, PMB_CUDA_USUAL>(cuda, output, map, flags)
                                   : launch_groups<float, ANY>(cuda, output, map, flags);
  return 1;
}

#else

int pmb_cuda_vertices_of_groups(pmb_cuda *, const pmb_cuda_output *, int, cudaError_t *)
{
  return 0;
}

#endif
