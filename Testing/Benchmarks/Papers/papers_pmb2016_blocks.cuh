/* SPDX-License-Identifier: BSD-3-Clause
 * Steps 2 and 3 of PMB as published on the GPU: the list of the active blocks, and their points and triangles (sections 4.2
 * and 4.3). A thread block takes one voxel block after another, and loads the next one's samples while it works on one. */
#ifndef PAPERS_PMB2016_BLOCKS_CUH
#define PAPERS_PMB2016_BLOCKS_CUH

#include <cuda_runtime.h>

#include "papers_pmb2016_ranges.cuh"

enum { THREADS = PMB2016_SAMPLES, WARPS = THREADS / 32, COMPACT_EACH = 8, COMPACT = THREADS * COMPACT_EACH };
enum : uint32_t { CAREFUL = 0x7fc0ca7e }; /* a NaN that no arithmetic makes, in place of a normal */
/* What the atomic operations count. */
typedef struct counters {
  unsigned long long made; /* points; from bit 32 on triangles: one addition for both */
  uint32_t careful;        /* points whose normal is still to be made */
  uint32_t too_many;       /* not 0: ids cannot say the number of points, or `made` that of triangles */
  uint32_t active, unused;
} counters;

/* n / d = n * factor >> shift, for n < 2^31. */
typedef struct divider {
  uint32_t factor, shift;
} divider;

typedef struct pmb2016_job {
  const void *d_samples;
  pmb2016_grid grid;
  divider by[2]; /* by the number of blocks along x and y */
  float threshold, iso, iso_low;
  const void *d_ranges;
  uint32_t *d_list; /* the blocks that the isovalue crosses */
  counters *d_counters;
  float *d_positions, *d_normals;
  int32_t *d_ids;
  uint32_t points_room, triangles_room;
} pmb2016_job;

/* ---- step 2: the active blocks ---- */

template <class T>
static __global__ void __launch_bounds__(THREADS) compact_kernel(const __grid_constant__ pmb2016_job job)
{
  __shared__ uint32_t counts[WARPS], base;
  const pmb2016_range<T> *d_ranges = (const pmb2016_range<T> *)job.d_ranges;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int64_t first = (int64_t)blockIdx.x * COMPACT + threadIdx.x;
  uint32_t active[COMPACT_EACH], count = 0;
#pragma unroll
  for (int i = 0; i < COMPACT_EACH; ++i) {
    const int64_t n = first + i * THREADS;
    const pmb2016_range<T> range = d_ranges[min(n, job.grid.total - 1)];
    const int is_active = pmb2016_is_active((float)range.low, (float)range.high, job.threshold);
    active[i] = __ballot_sync(UINT32_MAX, n < job.grid.total && is_active);
    count += (uint32_t)__popc(active[i]);
  }
  if (lane == 0) {
    counts[warp] = count;
  }
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
    if (active[i] >> lane & 1) {
      d_to[__popc(active[i] & ((1u << lane) - 1))] = (uint32_t)(first + i * THREADS);
    }
    d_to += __popc(active[i]);
  }
}

/* ---- step 3: points and triangles ---- */

/* Triangles by case, as in pmb_triangle_edges, with what pmb2016_neighbour says of each edge. */
typedef struct case_table {
  uint8_t neighbours[256][16];
} case_table;

#pragma nv_diag_suppress 20091 /* the tables of cases are the device's; here only the compiler reads them */

static constexpr case_table make_cases()
{
  case_table cases = {};
  for (int c = 0; c < 256; ++c) {
    for (int i = 0; i < 3 * pmb_triangle_count[c]; ++i) {
      cases.neighbours[c][i] = (uint8_t)pmb2016_neighbour(pmb_triangle_edges[c][i]);
    }
  }
  return cases;
}

static __device__ constexpr case_table constant_cases = make_cases();

/* What the threads of a block share. */
typedef struct scratch {
  case_table cases;
  float samples[PMB2016_SAMPLES];
  uint32_t inside[PMB2016_Z + 1];       /* one more than there are layers, 0 */
  uint32_t totals[PMB2016_Z];           /* of a layer: points; from bit 16 on triangles */
  uint16_t words[PMB2016_SAMPLES];      /* pmb2016_sample_word */
  uint16_t points[PMB2016_MOST_POINTS]; /* pmb2016_entry */
  uint32_t
    cells[PMB2016_MOST_TRIANGLES]; /* of each triangle: sample; from bit 7 case; from bit 15 its number there */
  float staged[WARPS][2][96];      /* 32 positions, normals */
  unsigned long long base;         /* what counters.made was before this block */
} scratch;

/* A thread's share of a block. */
typedef struct own_work {
  uint32_t edges, triangles; /* of its sample */
  uint32_t cell_case;
  uint32_t before; /* in the layer, as in totals */
} own_work;

static __device__ __forceinline__ pmb2016_box box_of(const pmb2016_job &job, uint32_t index)
{
  const uint32_t row = (uint32_t)((uint64_t)index * job.by[0].factor >> job.by[0].shift);
  const uint32_t z = (uint32_t)((uint64_t)row * job.by[1].factor >> job.by[1].shift);
  return pmb2016_box_of(job.grid.dims, index - row * job.grid.blocks[0], row - z * job.grid.blocks[1], z);
}

static __device__ __forceinline__ int64_t index_of(const pmb2016_job &job, const int *place)
{
  return place[0] + job.grid.dims[0] * (int64_t)(place[1] + job.grid.dims[1] * (int64_t)place[2]);
}

template <class T> static __device__ __forceinline__ float load_own(const pmb2016_job &job, const pmb2016_box &box)
{
  int place[3];
  pmb2016_place(&box, (int)threadIdx.x, place);
  return (float)__ldg((const T *)job.d_samples + index_of(job, place));
}

/* 4.3.1 and 4.3.2: what the thread's sample and cell make, and where that is within its layer, from votes. */
static __device__ __forceinline__ own_work classify(const pmb2016_box &box, scratch *s)
{
  const int lane = threadIdx.x & 31, z = threadIdx.x >> 5;
  const uint32_t below = (1u << lane) - 1, here = s->inside[z], above = s->inside[z + 1];
  const pmb2016_layer layer = pmb2016_layer_of(box.n, z, here, above);
  own_work own;
  own.cell_case = layer.cells >> lane & 1 ? pmb2016_case(here, above, lane) : 0;
  own.triangles = pmb_triangle_count[own.cell_case];
  own.edges = (layer.edges[0] >> lane & 1) | (layer.edges[1] >> lane & 1) << 1 | (layer.edges[2] >> lane & 1) << 2;
  const int points = __popc(layer.edges[0] & below) + __popc(layer.edges[1] & below) + __popc(layer.edges[2] & below);
  const uint32_t ones = __ballot_sync(UINT32_MAX, own.triangles & 1);
  const uint32_t twos = __ballot_sync(UINT32_MAX, own.triangles & 2);
  const uint32_t fours = __ballot_sync(UINT32_MAX, own.triangles & 4);
  const int triangles = __popc(ones & below) + 2 * __popc(twos & below) + 4 * __popc(fours & below);
  own.before = (uint32_t)points | (uint32_t)triangles << 16;
  if (lane == 31) {
    s->totals[z] = own.before + ((uint32_t)__popc(own.edges) | own.triangles << 16);
  }
  return own;
}

/* Writes what the thread has into the block's lists. before: in the block, points; from bit 16 on triangles. */
static __device__ __forceinline__ void list_own(const own_work &own, uint32_t before, scratch *s)
{
  uint16_t *point = s->points + (before & 0xffff);
  s->words[threadIdx.x] = pmb2016_sample_word((int)(before & 0xffff), own.edges);
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    if (own.edges >> axis & 1) {
      *point++ = pmb2016_entry((int)threadIdx.x, axis);
    }
  }
  uint32_t *cell = s->cells + (before >> 16);
  for (uint32_t i = 0; i < own.triangles; ++i) {
    cell[i] = threadIdx.x | own.cell_case << 7 | i << 15;
  }
}

/* A point's edge. */
typedef struct edge_place {
  int place[3], axis; /* of its lower sample, which is in the volume */
  pmb2016_end lower, upper;
  float t;
} edge_place;

/* Reads what is around an edge; `place`, `axis` and both centers are known. */
template <class T> static __device__ __forceinline__ void read_edge(const pmb2016_job &job, edge_place *edge)
{
  const int axis = edge->axis;
  pmb2016_star star;
  edge->t = pmb_edge_parameter_f32(edge->lower.center, edge->upper.center, job.iso, job.iso_low);
  pmb2016_star_of(edge->place, job.grid.dims, &star);
  const T *d_lower = (const T *)job.d_samples + index_of(job, edge->place);
  const T *d_upper = d_lower + (axis == 0 ? star.above[0] : axis == 1 ? star.above[1] : star.above[2]);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    edge->lower.below[a] = (float)__ldg(d_lower + star.below[a]);
    edge->lower.above[a] = a == axis ? edge->upper.center : (float)__ldg(d_lower + star.above[a]);
    edge->lower.factor[a] = star.factor[a];
  }
  pmb2016_star_up(edge->place, job.grid.dims, axis, &star);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    edge->upper.below[a] = a == axis ? edge->lower.center : (float)__ldg(d_upper + star.below[a]);
    edge->upper.above[a] = (float)__ldg(d_upper + star.above[a]);
    edge->upper.factor[a] = star.factor[a];
  }
}

/* Makes the point of a list entry; position, normal: the thread's, staged. Where the direct way gives no normal, it leaves
 * word of where the point is, for mend_kernel: that way is long, rare, and would take registers from this one. */
template <class T>
static __device__ __forceinline__ void make_point(
  const pmb2016_job &job, const int *origin, const scratch *s, int entry, float *position, float *normal)
{
  const int sample = entry & (PMB2016_SAMPLES - 1);
  edge_place edge;
  float made[3];
  edge.lower.center = s->samples[sample];
  edge.upper.center = s->samples[sample + pmb2016_step(entry / PMB2016_SAMPLES)];
  edge.axis = entry / PMB2016_SAMPLES;
  edge.place[0] = origin[0] + (sample & 7);
  edge.place[1] = origin[1] + (sample >> 3 & 3);
  edge.place[2] = origin[2] + (sample >> 5);
  read_edge<T>(job, &edge);
  pmb2016_position(edge.place, edge.axis, edge.t, made);
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    position[a] = made[a];
  }
  if (!pmb2016_normal(&edge.lower, &edge.upper, edge.t, made)) {
    const int64_t index = index_of(job, edge.place);
    made[0] = __uint_as_float(CAREFUL);
    made[1] = __uint_as_float((uint32_t)index);
    made[2] = __uint_as_float((uint32_t)(index >> 32) | (uint32_t)edge.axis << 30);
    atomicAdd(&job.d_counters->careful, 1);
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    normal[a] = made[a];
  }
}

/* Whether what a block makes has room. */
static __device__ __forceinline__ int fits(const pmb2016_job &job, unsigned long long base, uint32_t total)
{
  return (base & UINT32_MAX) + (total & 0xffff) <= job.points_room &&
    (base >> 32) + (total >> 16) <= job.triangles_room;
}

/* The points of a block, 32 a warp at a time. In the first round the block waits for thread 0, which brings `base`. */
template <class T>
static __device__ __forceinline__ void write_points(
  const pmb2016_job &job, uint32_t block, uint32_t total, unsigned long long base, scratch *s)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, points = (int)(total & 0xffff);
  float *position = s->staged[warp][0], *normal = s->staged[warp][1];
#pragma unroll 1
  for (int first = 32 * warp; first < THREADS || first < points; first += THREADS) {
    const int n = min(points - first, 32);
    if (lane < n && job.points_room > 0) {
      const pmb2016_box box = box_of(job, block);
      make_point<T>(job, box.origin, s, s->points[first + lane], position + 3 * lane, normal + 3 * lane);
    }
    if (first < THREADS) {
      if (threadIdx.x == 0) {
        s->base = base;
      }
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
  if (!fits(job, base, total)) {
    return;
  }
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < ids; i += THREADS) {
    const uint32_t cell = s->cells[i / 3];
    const uint32_t neighbour = s->cases.neighbours[cell >> 7 & 255][3 * (cell >> 15) + i % 3];
    d_ids[i] = (int32_t)(base & UINT32_MAX) + pmb2016_point_number(s->words, (int)(cell & 127), neighbour);
  }
}

/* The one atomic addition of a block; 4.3.2. */
static __device__ __forceinline__ unsigned long long add_to_mesh(const pmb2016_job &job, uint32_t total)
{
  const unsigned long long points = total & 0xffff, triangles = total >> 16;
  const unsigned long long base = atomicAdd(&job.d_counters->made, triangles << 32 | points);
  /* Told by the first block that does not fit, before a carry can spoil anything. */
  if ((base & UINT32_MAX) + points > INT32_MAX || (base >> 32) + triangles > UINT32_MAX) {
    atomicExch(&job.d_counters->too_many, 1);
  }
  return base;
}

/* Blocks of a multiprocessor: 48 registers a thread, which is all it needs. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = 8 };
#else
enum { RESIDENT = 10 };
#endif

template <class T>
static __global__ void __launch_bounds__(THREADS, RESIDENT) generate_kernel(const __grid_constant__ pmb2016_job job)
{
  __shared__ scratch s;
  const uint32_t active = job.d_counters->active, warp = threadIdx.x >> 5;
  if (blockIdx.x >= active) {
    return;
  }
  for (int i = (int)threadIdx.x; i < 256 * 4; i += THREADS) {
    ((uint32_t *)&s.cases)[i] = ((const uint32_t *)&constant_cases)[i];
  }
  if (threadIdx.x == 0) {
    s.inside[PMB2016_Z] = 0;
  }
  uint32_t block = job.d_list[blockIdx.x];
  float sample = load_own<T>(job, box_of(job, block));
  uint32_t next = job.d_list[min(blockIdx.x + gridDim.x, active - 1)];
#pragma unroll 1
  for (uint32_t n = blockIdx.x; n < active; n += gridDim.x) {
    const uint32_t inside = __ballot_sync(UINT32_MAX, sample >= job.threshold);
    s.samples[threadIdx.x] = sample;
    if ((threadIdx.x & 31) == 0) {
      s.inside[warp] = inside;
    }
    __syncthreads();
    sample = load_own<T>(job, box_of(job, next)); /* of the next block; of the last one again when there is none */
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
    write_points<T>(job, block, total, base, &s);
    write_triangles(job, total, &s);
    block = next;
    next = after;
  }
}

/* ---- the normals that generate_kernel left ---- */

template <class T>
static __global__ void __launch_bounds__(THREADS) mend_kernel(const __grid_constant__ pmb2016_job job, int64_t points)
{
  for (int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x; n < points; n += (int64_t)gridDim.x * THREADS) {
    float *d_normal = job.d_normals + 3 * n;
    if (__float_as_uint(d_normal[0]) == CAREFUL) {
      const uint32_t high = __float_as_uint(d_normal[2]);
      const int64_t index = (int64_t)(high & 0x3fffffff) << 32 | __float_as_uint(d_normal[1]);
      const int64_t row = index / job.grid.dims[0];
      edge_place edge;
      float normal[3];
      edge.axis = (int)(high >> 30);
      edge.place[0] = (int)(index % job.grid.dims[0]);
      edge.place[1] = (int)(row % job.grid.dims[1]);
      edge.place[2] = (int)(row / job.grid.dims[1]);
      const int next[3] = { edge.place[0] + (edge.axis == 0), edge.place[1] + (edge.axis == 1),
        edge.place[2] + (edge.axis == 2) };
      edge.lower.center = (float)((const T *)job.d_samples)[index];
      edge.upper.center = (float)((const T *)job.d_samples)[index_of(job, next)];
      read_edge<T>(job, &edge);
      pmb2016_careful_normal(&edge.lower, &edge.upper, edge.t, edge.axis, normal);
      for (int a = 0; a < 3; ++a) {
        d_normal[a] = normal[a];
      }
    }
  }
}

#endif
