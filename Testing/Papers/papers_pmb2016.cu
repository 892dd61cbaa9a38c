/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb2016: Parallel Marching Blocks as published (Liu, Clapworthy, Dong, Wu, EuroVis 2016, section 4).
 *
 * Once per volume: least and greatest sample of each block (4.1, papers_pmb2016.cuh). Per isovalue: the list of the blocks
 * that it crosses (4.2); for each, the points on up to 3 edges of each sample, placed in the block by a prefix sum and
 * in the mesh by one atomic addition, and the triangles (4.3). A thread block takes one block after another, and loads
 * the next one's samples while it works on one.
 *
 * The paper does not say how its output is allocated. Here a block that does not fit counts without writing; then memory of the
 * exact size is allocated and the blocks run again. So the first mesh, and each one larger than all before, runs them twice.
 *
 * A layer of a block, 8 x 4 samples, is a word: bit 8 * y + x. The threads of a layer are a warp. */
#include "papers_pmb2016.cuh"
#include "papers_pyramid.cuh"

enum {
  THREADS = SAMPLES,
  WARPS = THREADS / 32,
  COMPACT_EACH = 8,
  COMPACT = THREADS * COMPACT_EACH,
  MOST_POINTS = 7 * 4 * 4 + 8 * 3 * 4 + 8 * 4 * 3,
  MOST_TRIANGLES = 7 * 3 * 3 * PMB_MAX_TRIANGLES
};
/* Counters of the atomic operations. */
struct counters {
  unsigned long long made; /* points; from bit 32 on triangles: one addition for both */
  uint32_t too_many;       /* not 0: too many points for ids, or triangles for `made` */
  uint32_t active;
};

/* n / d = n * factor >> shift, for n < 2^31. */
struct divider {
  uint32_t factor, shift;
};

struct pmb2016_job {
  papers_field field;
  block_grid grid;
  divider by[2]; /* by the number of blocks along x and y */
  void *d_ranges;
  uint32_t *d_list; /* the blocks that the isovalue crosses */
  counters *d_counters;
  float *d_positions, *d_normals;
  int32_t *d_ids;
  uint32_t points_room, triangles_room;
};

/* ---- step 2: the active blocks ---- */

template <class T>
static __global__ void __launch_bounds__(THREADS) compact_kernel(const __grid_constant__ pmb2016_job job)
{
  __shared__ uint32_t counts[WARPS], base;
  typedef block_range<typename papers_values<T>::type> range_type;
  const range_type *d_ranges = (const range_type *)job.d_ranges;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int64_t first = (int64_t)blockIdx.x * COMPACT + threadIdx.x;
  uint32_t active[COMPACT_EACH], count = 0;
#pragma unroll
  for (int i = 0; i < COMPACT_EACH; ++i) {
    const int64_t n = first + i * THREADS;
    const range_type range = d_ranges[min(n, job.grid.total - 1)];
    const int crossed = (float)range.low < job.field.threshold && (float)range.high >= job.field.threshold;
    active[i] = __ballot_sync(UINT32_MAX, n < job.grid.total && crossed);
    count += (uint32_t)__popc(active[i]);
  }
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    count = 0;
    for (int w = 0; w < WARPS; ++w) {
      const uint32_t own = counts[w];
      counts[w] = count;
      count += own;
    }
    base = count ? atomicAdd(&job.d_counters->active, count) : 0;
  }
  __syncthreads();
  uint32_t *d_to = job.d_list + base + counts[warp];
#pragma unroll
  for (int i = 0; i < COMPACT_EACH; ++i) {
    if (active[i] >> lane & 1) d_to[__popc(active[i] & ((1u << lane) - 1))] = (uint32_t)(first + i * THREADS);
    d_to += __popc(active[i]);
  }
}

/* ---- step 3: points and triangles ---- */

/* Triangles by case, as in pmb_triangle_edges, with what neighbour_of says of each edge. */
struct case_table {
  uint8_t neighbours[256][16];
};

#pragma nv_diag_suppress 20091 /* the tables of cases are the device's; here only the compiler reads them */

static constexpr case_table make_cases()
{
  case_table cases = {};
  for (int c = 0; c < 256; ++c) {
    for (int i = 0; i < 3 * pmb_triangle_count[c]; ++i) {
      cases.neighbours[c][i] = (uint8_t)neighbour_of(pmb_triangle_edges[c][i]);
    }
  }
  return cases;
}

static __device__ constexpr case_table constant_cases = make_cases();

/* Shared memory of a block. */
struct scratch {
  case_table cases;
  float samples[SAMPLES];
  uint32_t inside[BLOCK_Z + 1];   /* one more than there are layers, 0 */
  uint32_t totals[BLOCK_Z];       /* of a layer: points; from bit 16 on triangles */
  uint16_t words[SAMPLES];        /* see point_number */
  uint16_t points[MOST_POINTS];   /* sample; from bit 7 on axis */
  uint32_t cells[MOST_TRIANGLES]; /* of each triangle: sample; from bit 7 case; from bit 15 its number there */
  float staged[WARPS][2][96];     /* 32 positions, normals */
  unsigned long long base;        /* counters.made before this block */
};

/* A thread's share of a block. */
struct own_work {
  uint32_t edges, triangles; /* of its sample */
  uint32_t cell_case;
  uint32_t before; /* in the layer, as in totals */
};

static __device__ __forceinline__ block_box box_of(const pmb2016_job &job, uint32_t index)
{
  const uint32_t row = (uint32_t)((uint64_t)index * job.by[0].factor >> job.by[0].shift);
  const uint32_t z = (uint32_t)((uint64_t)row * job.by[1].factor >> job.by[1].shift);
  return make_box(job.grid.dims, index - row * job.grid.blocks[0], row - z * job.grid.blocks[1], z);
}

static __device__ __forceinline__ int64_t index_of(const pmb2016_job &job, const int *place)
{
  return place[0] + job.grid.dims[0] * (int64_t)(place[1] + job.grid.dims[1] * (int64_t)place[2]);
}

template <class T> static __device__ __forceinline__ float load_own(const pmb2016_job &job, const block_box &box)
{
  int place[3];
  sample_place(&box, (int)threadIdx.x, place);
  return (float)papers_load(papers_begin<T>(job.field) + index_of(job, place));
}

/* 4.3.1 and 4.3.2: counts for the thread's sample and cell, and their place in the layer, by votes. */
static __device__ __forceinline__ own_work classify(const block_box &box, scratch *s)
{
  const int lane = threadIdx.x & 31, z = threadIdx.x >> 5;
  const uint32_t below = (1u << lane) - 1, here = s->inside[z], above = s->inside[z + 1];
  const block_layer layer = make_layer(box.n, z, here, above);
  own_work own;
  own.cell_case = layer.cells >> lane & 1 ? cell_case_of(here, above, lane) : 0;
  own.triangles = pmb_triangle_count[own.cell_case];
  own.edges = (layer.edges[0] >> lane & 1) | (layer.edges[1] >> lane & 1) << 1 | (layer.edges[2] >> lane & 1) << 2;
  const int points = __popc(layer.edges[0] & below) + __popc(layer.edges[1] & below) + __popc(layer.edges[2] & below);
  const uint32_t ones = __ballot_sync(UINT32_MAX, own.triangles & 1);
  const uint32_t twos = __ballot_sync(UINT32_MAX, own.triangles & 2);
  const uint32_t fours = __ballot_sync(UINT32_MAX, own.triangles & 4);
  const int triangles = __popc(ones & below) + 2 * __popc(twos & below) + 4 * __popc(fours & below);
  own.before = (uint32_t)points | (uint32_t)triangles << 16;
  if (lane == 31) s->totals[z] = own.before + ((uint32_t)__popc(own.edges) | own.triangles << 16);
  return own;
}

/* Adds the thread's points and triangles to the block's lists. before: in the block, points; from bit 16 on triangles. */
static __device__ __forceinline__ void list_own(const own_work &own, uint32_t before, scratch *s)
{
  uint16_t *point = s->points + (before & 0xffff);
  s->words[threadIdx.x] = (uint16_t)((before & 0xffff) << 3 | own.edges);
#pragma unroll
  for (int axis = 0; axis < 3; ++axis)
    if (own.edges >> axis & 1) *point++ = (uint16_t)(threadIdx.x | axis * SAMPLES);
  uint32_t *cell = s->cells + (before >> 16);
  for (uint32_t i = 0; i < own.triangles; ++i) cell[i] = threadIdx.x | own.cell_case << 7 | i << 15;
}

/* The point of a list entry; position, normal: the thread's, staged. */
template <class T, int FORWARD>
static __device__ __forceinline__ void make_point(
  const pmb2016_job &job, const int *origin, const scratch *s, int entry, float *position, float *normal)
{
  const int sample = entry & (SAMPLES - 1), axis = entry / SAMPLES;
  const int32_t place[3] = { origin[0] + (sample & 7), origin[1] + (sample >> 3 & 3), origin[2] + (sample >> 5) };
  if (FORWARD) {
    papers_edge_point<T>(job.field, place, axis, position, normal);
    return;
  }
  papers_end lower, upper;
  edge_star star;
  lower.center = s->samples[sample];
  upper.center = s->samples[sample + (axis == 0 ? 1 : axis == 1 ? BLOCK_X : LAYER)];
  const float t = pmb_edge_parameter(lower.center, upper.center, job.field.value, job.field.value_low);
  make_star(place, job.grid.dims, &star);
  const auto d_lower = papers_begin<T>(job.field) + index_of(job, place);
  const auto d_upper = d_lower + (axis == 0 ? star.above[0] : axis == 1 ? star.above[1] : star.above[2]);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    lower.below[a] = (float)papers_load(d_lower + star.below[a]);
    lower.above[a] = a == axis ? upper.center : (float)papers_load(d_lower + star.above[a]);
    lower.factor[a] = star.factor[a];
  }
  move_star_up(place, job.grid.dims, axis, &star);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    upper.below[a] = a == axis ? lower.center : (float)papers_load(d_upper + star.below[a]);
    upper.above[a] = (float)papers_load(d_upper + star.above[a]);
    upper.factor[a] = star.factor[a];
  }
  papers_position(place, axis, t, position);
  papers_central_normal(lower, upper, t, normal);
}

/* Whether a block's output fits. */
static __device__ __forceinline__ int fits(const pmb2016_job &job, unsigned long long base, uint32_t total)
{
  return (base & UINT32_MAX) + (total & 0xffff) <= job.points_room &&
    (base >> 32) + (total >> 16) <= job.triangles_room;
}

/* The points of a block, 32 a warp at a time. In the first round the block waits for `base` from thread 0. */
template <class T, int FORWARD>
static __device__ __forceinline__ void write_points(
  const pmb2016_job &job, uint32_t block, uint32_t total, unsigned long long base, scratch *s)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, points = (int)(total & 0xffff);
  float *position = s->staged[warp][0], *normal = s->staged[warp][1];
#pragma unroll 1
  for (int first = 32 * warp; first < THREADS || first < points; first += THREADS) {
    const int n = min(points - first, 32);
    if (lane < n && job.points_room > 0) {
      const block_box box = box_of(job, block);
      make_point<T, FORWARD>(job, box.origin, s, s->points[first + lane], position + 3 * lane, normal + 3 * lane);
    }
    if (first < THREADS) {
      if (threadIdx.x == 0) s->base = base;
      __syncthreads();
    } else {
      __syncwarp();
    }
    if (fits(job, s->base, total)) {
      const int64_t to = 3 * ((int64_t)(s->base & UINT32_MAX) + first);
#pragma unroll 1
      for (int i = lane; i < 3 * n; i += 32) {
        job.d_positions[to + i] = position[i];
        job.d_normals[to + i] = normal[i];
      }
    }
    __syncwarp();
  }
  if (points > THREADS) {
    __syncthreads(); /* the next block's samples must not come before the last round */
  }
}

static __device__ __forceinline__ void write_triangles(const pmb2016_job &job, uint32_t total, const scratch *s)
{
  const unsigned long long base = s->base;
  const int ids = 3 * (int)(total >> 16);
  int32_t *d_ids = job.d_ids + 3 * (int64_t)(base >> 32);
  if (!fits(job, base, total)) return;
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < ids; i += THREADS) {
    const uint32_t cell = s->cells[i / 3];
    const uint32_t neighbour = s->cases.neighbours[cell >> 7 & 255][3 * (cell >> 15) + i % 3];
    d_ids[i] = (int32_t)(base & UINT32_MAX) + point_number(s->words, (int)(cell & 127), neighbour);
  }
}

/* The one atomic addition of a block; 4.3.2. */
static __device__ __forceinline__ unsigned long long add_to_mesh(const pmb2016_job &job, uint32_t total)
{
  const unsigned long long points = total & 0xffff, triangles = total >> 16;
  const unsigned long long base = atomicAdd(&job.d_counters->made, triangles << 32 | points);
  /* The first block that does not fit reports it, before a carry can change other counts. */
  if ((base & UINT32_MAX) + points > INT32_MAX || (base >> 32) + triangles > UINT32_MAX) {
    atomicExch(&job.d_counters->too_many, 1);
  }
  return base;
}

/* Blocks of a multiprocessor: 48 registers per thread suffice. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = 8 };
#else
enum { RESIDENT = 10 };
#endif

template <class T, int FORWARD>
static __global__ void __launch_bounds__(THREADS, RESIDENT) generate_kernel(const __grid_constant__ pmb2016_job job)
{
  __shared__ scratch s;
  const uint32_t active = job.d_counters->active, warp = threadIdx.x >> 5;
  if (blockIdx.x >= active) return;
  for (int i = (int)threadIdx.x; i < 256 * 4; i += THREADS) {
    ((uint32_t *)&s.cases)[i] = ((const uint32_t *)&constant_cases)[i];
  }
  if (threadIdx.x == 0) s.inside[BLOCK_Z] = 0;
  uint32_t block = job.d_list[blockIdx.x];
  float sample = load_own<T>(job, box_of(job, block));
  uint32_t next = job.d_list[min(blockIdx.x + gridDim.x, active - 1)];
#pragma unroll 1
  for (uint32_t n = blockIdx.x; n < active; n += gridDim.x) {
    const uint32_t inside = __ballot_sync(UINT32_MAX, sample >= job.field.threshold);
    s.samples[threadIdx.x] = sample;
    if ((threadIdx.x & 31) == 0) s.inside[warp] = inside;
    __syncthreads();
    sample = load_own<T>(job, box_of(job, next)); /* of the next block, or again of the last one */
    const uint32_t after = job.d_list[(uint32_t)min((uint64_t)n + 2 * (uint64_t)gridDim.x, (uint64_t)active - 1)];
    const own_work own = classify(box_of(job, block), &s);
    __syncthreads();
    uint32_t before = own.before, total = 0;
#pragma unroll
    for (uint32_t w = 0; w < WARPS; ++w) {
      before += w < warp ? s.totals[w] : 0;
      total += s.totals[w];
    }
    const unsigned long long base = threadIdx.x == 0 ? add_to_mesh(job, total) : 0;
    list_own(own, before, &s);
    __syncthreads();
    write_points<T, FORWARD>(job, block, total, base, &s);
    write_triangles(job, total, &s);
    block = next;
    next = after;
  }
}

/* ---- the system ---- */

struct pmb2016_state : papers_state {
  pmb2016_job job;
  unsigned resident; /* blocks of generate_kernel that fit on the device together */
};

/* pmb2016_forward: with the normals of the HistoPyramids, to compare the rest. */
static int is_forward(const papers_state *state)
{
  return state->system->normals == PAPERS_FORWARD;
}

static divider divider_of(uint32_t d)
{
  uint32_t bits = 0;
  while (((uint64_t)1 << bits) < d) ++bits;
  const divider by = { (uint32_t)((((uint64_t)1 << (31 + bits)) + d - 1) / d), 31 + bits };
  return by;
}

template <class T> static cudaError_t compact(const pmb2016_job &job)
{
  return papers_launch(compact_kernel<T>, papers_blocks(job.grid.total, COMPACT), THREADS, job);
}

template <class T> static cudaError_t generate(const pmb2016_job &job, unsigned blocks, int forward)
{
  return papers_launch(forward ? generate_kernel<T, 1> : generate_kernel<T, 0>, blocks, THREADS, job);
}

template <class T> static cudaError_t count_resident(int *blocks, int forward)
{
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks, forward ? generate_kernel<T, 1> : generate_kernel<T, 0>, THREADS, 0);
}

/* Runs step 3, after step 2 if `all`, and reads the counts. */
static papers_status run(pmb2016_state *s, int all)
{
  const pmb2016_job &job = s->job;
  const size_t bytes = all ? sizeof(counters) : offsetof(counters, active);
  PAPERS_TRY(s->memory, cudaMemsetAsync(job.d_counters, 0, bytes, NULL));
  if (all) PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, compact, job));
  PAPERS_TRY(s->memory, PAPERS_BY_TYPE(s->type, generate, job, s->resident, is_forward(s)));
  PAPERS_TRY(s->memory, cudaMemcpyAsync(s->pinned, job.d_counters, sizeof(counters), cudaMemcpyDeviceToHost, NULL));
  PAPERS_TRY(s->memory, cudaStreamSynchronize(NULL));
  return ((const counters *)s->pinned)->too_many ? PAPERS_TOO_LARGE : PAPERS_OK;
}

/* Sets the mesh and its capacity for the kernels. */
static papers_status reserve(pmb2016_state *s, int64_t points, int64_t triangles)
{
  PAPERS_TRY(s->memory, papers_reserve_mesh(s, points, triangles, 1));
  const size_t point_bytes = s->positions.bytes < s->normals.bytes ? s->positions.bytes : s->normals.bytes;
  s->job.points_room = (uint32_t)(point_bytes / (3 * sizeof(float)));
  s->job.triangles_room = (uint32_t)(s->ids.bytes / (3 * sizeof(int32_t)));
  s->job.d_positions = (float *)s->positions.d_data;
  s->job.d_normals = (float *)s->normals.d_data;
  s->job.d_ids = (int32_t *)s->ids.d_data;
  return PAPERS_OK;
}

static papers_status extract(papers_state *state)
{
  pmb2016_state *s = (pmb2016_state *)state;
  const counters *counted = (const counters *)s->pinned;
  s->job.field = s->field;
  PAPERS_TRY(s->memory, run(s, 1));
  const int64_t points = (int64_t)(counted->made & UINT32_MAX), triangles = (int64_t)(counted->made >> 32);
  const int fits = points <= s->job.points_room && triangles <= s->job.triangles_room;
  PAPERS_TRY(s->memory, reserve(s, points, triangles));
  return fits ? PAPERS_OK : run(s, 0);
}

/* Indices of samples in a slice, and numbers of blocks, have 31 bits. */
static papers_status make_grid(const papers_field &field, block_grid *grid)
{
  const int cells[3] = { BLOCK_X - 1, BLOCK_Y - 1, BLOCK_Z - 1 };
  if (field.slice > INT32_MAX) return PAPERS_TOO_LARGE;
  grid->total = 1;
  for (int a = 0; a < 3; ++a) {
    grid->dims[a] = field.dims[a];
    grid->blocks[a] = (uint32_t)papers_blocks(field.dims[a] - 1, cells[a]);
    grid->total *= grid->blocks[a];
  }
  return grid->total <= INT32_MAX ? PAPERS_OK : PAPERS_TOO_LARGE;
}

static papers_status create(papers_state *state)
{
  pmb2016_state *s = (pmb2016_state *)state;
  pmb2016_job *job = &s->job;
  papers_memory *memory = s->memory;
  int device = 0, processors = 0, each = 0;
  PAPERS_TRY(memory, make_grid(s->field, &job->grid));
  const size_t blocks = (size_t)job->grid.total;
  const size_t sample = s->type == PAPERS_EVALUATED ? sizeof(float) : pmb_type_size((pmb_type)s->type);
  job->d_ranges = papers_take(memory, PAPERS_ACCELERATION, 2 * sample * blocks);
  job->d_list = job->d_ranges ? (uint32_t *)papers_take(memory, PAPERS_ACCELERATION, 4 * blocks) : NULL;
  job->d_counters = job->d_list ? (counters *)papers_take(memory, PAPERS_ACCELERATION, sizeof(counters)) : NULL;
  if (!job->d_counters) return PAPERS_NO_MEMORY;
  PAPERS_TRY(memory, cudaGetDevice(&device));
  PAPERS_TRY(memory, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  PAPERS_TRY(memory, PAPERS_BY_TYPE(s->type, count_resident, &each, is_forward(s)));
  s->resident = (unsigned)(processors * each);
  for (int a = 0; a < 2; ++a) job->by[a] = divider_of(job->grid.blocks[a]);
  PAPERS_TRY(memory, PAPERS_BY_TYPE(s->type, find_ranges, s->field, job->grid, job->d_ranges));
  return PAPERS_OK;
}

extern "C" const papers_system papers_pmb2016 = { "pmb2016", PAPERS_SEAMS, PAPERS_CENTRAL, sizeof(pmb2016_state),
  create, extract };
extern "C" const papers_system papers_pmb2016_forward = { "pmb2016_forward", PAPERS_SEAMS, PAPERS_FORWARD,
  sizeof(pmb2016_state), create, extract };
