/* SPDX-License-Identifier: BSD-3-Clause
 * The points of a brick, for pass vertices. A warp lists them, so that each lane has one to make, and writes them through shared
 * memory. */
#ifndef PMB_CUDA_VERTICES_BRICK_CUH
#define PMB_CUDA_VERTICES_BRICK_CUH

#include "cuda/pmb_cuda_vertices_point.cuh"

enum { LISTED = 256 /* points listed at once */, ANY = -1 /* flags: as the kernel's argument says */ };

/* Shared memory of a warp; without `others` where points are floats. */
typedef struct vertex_scratch {
  uint16_t list[LISTED];  /* row << 7 | x << 2 | kind */
  double coordinates[96]; /* triples; if they are floats, the second half replaces `others` */
  float others[96];       /* triples */
} vertex_scratch;

typedef struct vertex_setting {
  const pmb_cuda_job &job;
  const pmb_cuda_output &output;
  int flags;
} vertex_setting;

template <class T> struct point_of {
  int low[3], kind; /* the edge's lower sample and axis */
  /* the place on the edge; the gradient in samples and in the world; the latter's squared length */
  typename pmb_cuda_real<T>::type t, index[3], world[3], length2;
};

/* ---- samples ---- */

/* A sample for differences: small integers as 1.5 * 2^23 + s, which needs no conversion and cancels exactly. */
template <class T> static __device__ __forceinline__ typename pmb_cuda_real<T>::type lifted(T s)
{
  typedef typename pmb_cuda_real<T>::type real;
  return sizeof(T) <= 2 ? (real)__int_as_float(0x4b400000 + (int)s) : (real)s;
}

/* The value of a lifted sample. */
template <class T>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type settled(typename pmb_cuda_real<T>::type sample)
{
  return sizeof(T) <= 2 ? sample - 12582912 : sample;
}

/* The samples at the ends of an edge, and the differences there along three axes. order: the axis that comes first, before the
 * others. */
template <class R> struct surrounding {
  R ends[2], low[3], high[3];
  int order;
};

/* Reads a brick's samples in the volume. (Other ways: pmb_cuda_vertices_columns.cu, pmb_cuda_vertices.cu.) OFFSET: the type of
 * distances in a brick. */
template <class T, class OFFSET> struct volume_samples {
  typedef T type;
  enum {
    ONE_ISOVALUE = 0,
    BLOCKS = sizeof(typename pmb_cuda_real<T>::type) == 8 ? 2 : 4 /* of a multiprocessor */
  };
  const T *d_origin; /* the brick's first */
  int inner;         /* the volume has all neighbours of its samples, and no point lies on a sample */
};

/* Reads where `inner` is set. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_inner(
  const T *d_low, int kind, OFFSET pitch, OFFSET slice, int gradient, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const real half = (real)0.5;
  const OFFSET along = kind == 0 ? 1 : kind == 1 ? pitch : slice;
  const OFFSET second = kind == 0 ? pitch : 1, third = kind == 2 ? pitch : slice;
  const T *d_high = d_low + along;
  s->ends[0] = lifted(d_low[0]);
  s->ends[1] = lifted(d_high[0]);
  s->order = kind; /* so that the same code reads all kinds of edges */
  if (gradient) {
    s->low[0] = pmb_difference(lifted(d_low[-along]), s->ends[1], half);
    s->high[0] = pmb_difference(s->ends[0], lifted(d_high[along]), half);
    s->low[1] = pmb_difference(lifted(d_low[-second]), lifted(d_low[second]), half);
    s->high[1] = pmb_difference(lifted(d_high[-second]), lifted(d_high[second]), half);
    s->low[2] = pmb_difference(lifted(d_low[-third]), lifted(d_low[third]), half);
    s->high[2] = pmb_difference(lifted(d_high[-third]), lifted(d_high[third]), half);
  }
}

/* Reads anywhere, also for points on samples. Neighbours outside the volume repeat its border. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_border(const T *d_low, const int *low, int kind, const pmb_cuda_job &job,
  int gradient, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const OFFSET pitch = (OFFSET)job.pitch, slice = (OFFSET)job.slice;
  const OFFSET up = kind == 0 ? 1 : kind == 1 ? pitch : kind == 2 ? slice : 0;
  s->ends[0] = lifted(d_low[0]);
  s->ends[1] = lifted(d_low[up]);
#pragma unroll
  for (int a = 0; a < 3 && gradient; ++a) {
    const int along = kind == a, last = job.dims[a] - 1, lower = low[a], upper = lower + along;
    const OFFSET step = a == 0 ? 1 : a == 1 ? pitch : slice;
    const OFFSET below = lower > 0 ? step : 0, above = lower < last ? step : 0, upper_above = upper < last ? step : 0;
    const real b = along ? s->ends[1] : lifted(d_low[above]), c = along ? s->ends[0] : lifted(d_low[up - below]);
    s->low[a] = pmb_difference(lifted(d_low[-below]), b, lower <= 0 || lower >= last ? (real)1 : (real)0.5);
    s->high[a] =
      pmb_difference(c, lifted(d_low[up + upper_above]), upper <= 0 || upper >= last ? (real)1 : (real)0.5);
  }
}

/* x, row: the edge's lower sample in its brick. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_surrounding(const vertex_setting &setting,
  const volume_samples<T, OFFSET> &samples, int x, int row, const point_of<T> &p,
  surrounding<typename pmb_cuda_real<T>::type> *s)
{
  const pmb_cuda_job &job = setting.job;
  const OFFSET pitch = (OFFSET)job.pitch, slice = (OFFSET)job.slice;
  const T *d_low = samples.d_origin + ((OFFSET)x + pitch * (OFFSET)(row & 3) + slice * (OFFSET)(row >> 2));
  const int gradient = setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS);
  if (samples.inner) {
    read_inner<T, OFFSET>(d_low, p.kind, pitch, slice, gradient, s);
  } else {
    read_border<T, OFFSET>(d_low, p.low, p.kind, job, gradient, s);
  }
}

/* ---- output ---- */

/* Stores a lane's triple in the warp's memory, its components in the order of the volume's own frame. */
template <class V> static __device__ __forceinline__ void put(const vertex_setting &setting, V *room, V x, V y, V z)
{
  V *mine = room + 3 * (threadIdx.x & 31);
  const int last = setting.job.reversed ? 0 : 2;
  mine[2 - last] = x;
  mine[1] = y;
  mine[last] = z;
}

/* Hides how a number was computed, so that the compiler keeps it instead of recomputing it at each use. */
static __device__ __forceinline__ int opaque(uint32_t number)
{
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(number));
#endif
  return (int)number;
}
static __device__ __forceinline__ int64_t opaque(int64_t number)
{
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(number));
#endif
  return number;
}
/* Writes the first n of the warp's 32 triples (all if n is more), by whole rows of memory. at: 3 * the first one's place in the
 * output + the lane. */
template <class V> static __device__ __forceinline__ void store(V *d_out, int64_t at, const V *room, int n)
{
  const int rest = 3 * n - (int)(threadIdx.x & 31);
  const V *mine = room + opaque(threadIdx.x & 31);
  const V values[3] = { mine[0], mine[32], mine[64] };
  d_out += opaque(at);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    if (rest > 32 * i) {
      d_out[32 * i] = values[i];
    }
  }
}

/* Finds a point's gradient and its squared length. */
template <class T>
static __device__ __forceinline__ void find_gradient(
  const vertex_setting &setting, const surrounding<typename pmb_cuda_real<T>::type> &s, point_of<T> *p)
{
  typename pmb_cuda_real<T>::type g[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    g[a] = pmb_lerp(s.low[a], s.high[a], p->t);
  }
  p->index[0] = s.order == 0 ? g[0] : g[1];
  p->index[1] = s.order == 1 ? g[0] : s.order == 0 ? g[1] : g[2];
  p->index[2] = s.order == 2 ? g[0] : g[2];
  turn_gradient(setting.job.frame, setting.flags, p->index, p->world);
  const int first = setting.job.reversed ? 2 : 0;
  p->length2 = pmb_length2(first ? p->world[2] : p->world[0], p->world[1], first ? p->world[0] : p->world[2]);
}

/* Writes n points, one per lane; first: the first one's place in the output; at: 3 * first + the lane. */
template <class T>
static __device__ __forceinline__ void store_points(const vertex_setting &setting, vertex_scratch *scratch,
  const pmb_isovalue &iso, int64_t first, int64_t at, int n, const surrounding<typename pmb_cuda_real<T>::type> &s,
  point_of<T> *p)
{
  const pmb_cuda_output &output = setting.output;
  const int lane = threadIdx.x & 31;
  float *floats = (float *)scratch->coordinates,
        *behind = floats + (setting.flags & PMB_CUDA_AS_DOUBLE ? 2 * 96 : 96);
  __syncwarp();
  if (setting.flags & (PMB_CUDA_AS_FLOAT | PMB_CUDA_AS_DOUBLE)) {
    double w[3];
    place_point(setting.job.frame, setting.flags, p->low, p->kind, (double)p->t, w);
    if (setting.flags & PMB_CUDA_AS_FLOAT) {
      put(setting, floats, (float)w[0], (float)w[1], (float)w[2]);
    } else {
      put(setting, scratch->coordinates, w[0], w[1], w[2]);
    }
  }
  if ((setting.flags & PMB_CUDA_PARAMETERS) && lane < n) {
    output.d_parameter[first + lane] =
      pmb_edge_parameter((double)settled<T>(s.ends[0]), (double)settled<T>(s.ends[1]), iso.value, 0.0);
    output.d_sample[first + lane] =
      (p->low[0] + setting.job.dims[0] * (p->low[1] + (int64_t)setting.job.dims[1] * p->low[2])) << 2 | p->kind;
  }
  if (setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS)) {
    find_gradient<T>(setting, s, p);
  }
  if (setting.flags & PMB_CUDA_NORMALS) {
    const typename pmb_cuda_real<T>::type factor = normal_factor(p->length2), *w = p->world;
    put(setting, behind, (float)(w[0] * factor), (float)(w[1] * factor), (float)(w[2] * factor));
  }
  __syncwarp();
  if (setting.flags & PMB_CUDA_AS_FLOAT) {
    store((float *)output.d_points, at, floats, n);
  } else if (setting.flags & PMB_CUDA_AS_DOUBLE) {
    store((double *)output.d_points, at, scratch->coordinates, n);
  }
  if (setting.flags & PMB_CUDA_NORMALS) {
    store(output.d_normals, at, behind, n);
  }
  if (setting.flags & PMB_CUDA_GRADIENTS) {
    __syncwarp();
    const pmb_frame &frame = setting.job.frame;
    put(setting, behind, pmb_physical_gradient(&frame, (double)p->world[0], frame.range_scale),
      pmb_physical_gradient(&frame, (double)p->world[1], frame.range_scale),
      pmb_physical_gradient(&frame, (double)p->world[2], frame.range_scale));
    __syncwarp();
    store(output.d_gradients, at, behind, n);
  }
}

/* Writes gradient and normal of a point by careful_point. */
template <class T>
static __device__ __forceinline__ void store_careful(const vertex_setting &setting, const point_of<T> &p, int64_t at)
{
  float gradient[3], normal[3];
  careful_point<T>(setting.job, p.low, p.kind, (double)p.t, p.index, gradient, normal);
  for (int a = 0; a < 3; ++a) {
    if (setting.output.d_normals) {
      setting.output.d_normals[3 * at + a] = normal[a];
    }
    if (setting.output.d_gradients) {
      setting.output.d_gradients[3 * at + a] = gradient[a];
    }
  }
}

/* ---- bricks ---- */

/* A brick's data that a warp reads ahead: the points before the lane's row, and a word per lane: lanes 0 to 24 have the record's
 * words, then come these. */
enum {
  COLUMN_LANE = offsetof(pmb_cuda_record, column) / sizeof(uint32_t),
  SPECIAL_LANE = offsetof(pmb_cuda_record, special) / sizeof(uint32_t),
  BRICK_LANE,
  BEFORE_LANE,                  /* two */
  AFTER_LANE = BEFORE_LANE + 2, /* the lower half */
};

typedef struct brick_head {
  uint32_t word, first;
} brick_head;

/* A lane's word of a brick is at d_first + step * the brick's index. */
typedef struct head_source {
  const char *d_first;
  uint32_t step;
} head_source;

static __device__ __forceinline__ head_source source_of_lane(const pmb_cuda_job &job)
{
  const int lane = threadIdx.x & 31;
  head_source source = { (const char *)((const uint32_t *)job.d_records + lane), sizeof(pmb_cuda_record) };
  if (lane == BRICK_LANE) {
    source.d_first = (const char *)job.d_brick;
    source.step = sizeof(uint32_t);
  } else if (lane >= BEFORE_LANE) {
    const int next = lane >= AFTER_LANE;
    source.d_first = (const char *)((const uint32_t *)&job.d_before[next].points + (lane - BEFORE_LANE - 2 * next));
    source.step = sizeof(pmb_sizes);
  }
  return source;
}

/* The head of an active brick; zeros if index is not below `active`. */
static __device__ __forceinline__ brick_head read_head(
  const pmb_cuda_job &job, const head_source &source, uint32_t index, uint32_t active)
{
  brick_head head = {};
  if (index < active) {
    head.word = *(const uint32_t *)(source.d_first + (uint64_t)source.step * index);
    head.first = job.d_records[index].first[threadIdx.x & 15];
  }
  return head;
}

static __device__ __forceinline__ uint32_t head_at(const brick_head &head, int lane)
{
  return __shfl_sync(UINT32_MAX, head.word, lane);
}

typedef struct brick_work {
  pmb_cuda_box box;
  int points;
  int64_t first; /* point of the brick in the output */
  int64_t at;    /* 3 * first + the lane */
} brick_work;

/* Ways to make points. PLAIN: of a plain brick that fits the list; ANY_BRICK: also on samples; REPAIR: with the slow path of the
 * division, which the others lack, and by careful_point where necessary. */
enum { PLAIN, ANY_BRICK, REPAIR };

/* Makes points n to n + 31 of the list, which begins with point `begin` of the brick. Returns whether the lane's needs REPAIR. */
template <int WAY, class SAMPLES>
static __device__ __forceinline__ int emit_points(const vertex_setting &setting, const SAMPLES &samples,
  const brick_work &work, int begin, int n, vertex_scratch *scratch)
{
  typedef typename SAMPLES::type T;
  const pmb_cuda_job &job = setting.job;
  const int lane = threadIdx.x & 31, points = work.points - begin, left = points - n;
  const int gradient = setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS);
  const uint32_t entry = scratch->list[min(n + lane, points - 1)];
  const int x = (int)(entry >> 2 & 31), row = (int)(entry >> 7);
  surrounding<typename pmb_cuda_real<T>::type> s = {};
  point_of<T> p;
  int good = 1;
  p.kind = (int)(entry & 3);
  const int in_brick[3] = { x, row & 3, row >> 2 };
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    p.low[a] = work.box.origin[a] + in_brick[a];
  }
  read_surrounding(setting, samples, x, row, p, &s);
  const pmb_isovalue &iso = job.isovalues[SAMPLES::ONE_ISOVALUE ? 0 : work.box.isovalue];
  const typename pmb_cuda_real<T>::type lower = settled<T>(s.ends[0]), upper = settled<T>(s.ends[1]);
  p.t = WAY == REPAIR ? edge_parameter(iso, lower, upper) : fast_parameter(iso, lower, upper, &good);
  good |= WAY == ANY_BRICK && p.kind == PMB_SAMPLE; /* both ends are the sample: any t gives the same */
  const int64_t first = work.first + begin + n;
  store_points<T>(setting, scratch, iso, first, work.at + 3 * (begin + n), left, s, &p);
  good = good && (!gradient || pmb_length2_good(p.length2));
  if (WAY == REPAIR) {
    __syncwarp();
    if (lane < left && !good) {
      store_careful<T>(setting, p, first + lane);
    }
  }
  return !good;
}

/* Sets all but the box. Returns 0 if the brick has no points, or the output no room for them. */
static __device__ __forceinline__ int begin_brick(
  const vertex_setting &setting, const brick_head &head, brick_work *work)
{
  const uint32_t before = head_at(head, BEFORE_LANE);
  work->first = (int64_t)((uint64_t)head_at(head, BEFORE_LANE + 1) << 32 | before);
  work->points = (int)(head_at(head, AFTER_LANE) - before);
  work->at = opaque(3 * work->first + (threadIdx.x & 31));
  return work->points > 0 && work->first + work->points <= setting.output.point_room;
}

/* Whether distances in a brick fit an int. */
static __host__ __device__ __forceinline__ int fits_int(const pmb_cuda_job &job)
{
  return job.slice < INT32_MAX / 8;
}

template <class T, class OFFSET>
static __device__ __forceinline__ void put_samples(
  const pmb_cuda_job &job, const pmb_cuda_box &box, int plain, volume_samples<T, OFFSET> *samples)
{
  const int *origin = box.origin;
  samples->d_origin = (const T *)job.d_samples + (origin[0] + job.pitch * origin[1] + job.slice * origin[2]);
  samples->inner = plain && pmb_cuda_is_surrounded(job, box);
}

/* Lists the points of a run, with the columns in `bits`, from place `begin` on. ALL_FIT: all places are in the list. */
template <bool ALL_FIT>
static __device__ __forceinline__ void list_run(uint32_t bits, int begin, uint32_t entry, vertex_scratch *scratch)
{
  uint16_t *end = scratch->list + begin + __popc(bits); /* behind the last */
#pragma unroll 1
  while (bits) {
    const uint32_t x = 31 - (uint32_t)__clz((int)bits);
    bits ^= 1u << x;
    --end;
    if (ALL_FIT || (end >= scratch->list && end < scratch->list + LISTED)) {
      *end = (uint16_t)(entry + 4 * x);
    }
  }
}

/* Lists the points of a brick from its `begin`-th on. A lane has half a row of x edges and of sample points, and a whole row of y or
 * of z edges, which keeps the warp's longest run short. */
template <int WAY>
static __device__ __forceinline__ void list_points(
  const pmb_cuda_job &job, const pmb_cuda_box &box, const brick_head &head, int begin, vertex_scratch *scratch)
{
  const int row = threadIdx.x & 15, r = (row >> 2) * 5 + (row & 3), upper = threadIdx.x & 16;
  const uint32_t word = head_at(head, r), other = head_at(head, r + (upper ? 5 : 1));
  const uint32_t column = head_at(head, COLUMN_LANE), half = upper ? 0xffff0000u : 0xffff, lower = upper ? 0xffff : 0;
  const uint32_t special = WAY == PLAIN ? PMB_CUDA_PLAIN : head_at(head, SPECIAL_LANE), entry = row << 7;
  const int kind = upper ? PMB_EDGE_Z : PMB_EDGE_Y;
  uint32_t along_x = word ^ pmb_cuda_next(word, column >> r & 1), beside = word ^ other;
  if (column >> PMB_CUDA_ROWS) {
    const uint32_t columns = pmb_cuda_row_columns(job, box, row & 3, row >> 2);
    along_x &= columns;
    beside &= columns;
  }
  if (special != PMB_CUDA_PLAIN) {
    const pmb_cuda_special &masks = job.d_special[special];
    const uint32_t samples = masks.mask[PMB_SAMPLE][row];
    along_x = masks.mask[PMB_EDGE_X][row];
    beside = masks.mask[kind][row];
    list_run<false>(samples & half, (int)pmb_cuda_row_first(head.first, PMB_SAMPLE) + __popc(samples & lower) - begin,
      entry + PMB_SAMPLE, scratch);
  }
  list_run<WAY == PLAIN>(along_x & half,
    (int)pmb_cuda_row_first(head.first, PMB_EDGE_X) + __popc(along_x & lower) - begin, entry, scratch);
  list_run<WAY == PLAIN>(beside, (int)pmb_cuda_row_first(head.first, kind) - begin, entry + kind, scratch);
}

/* Makes the listed points, which begin with point `begin` of the brick, or a warp's part of them. Returns whether any needs
 * REPAIR. */
template <int WAY, class SAMPLES>
static __device__ __forceinline__ int emit_listed(const vertex_setting &setting, const SAMPLES &samples,
  const brick_work &work, int begin, int listed, vertex_scratch *scratch, int part = 0, int parts = 1)
{
  int again = 0;
  for (int n = 32 * part; n < listed; n += 32 * parts) {
    again |= emit_points<WAY>(setting, samples, work, begin, n, scratch);
  }
  return __any_sync(UINT32_MAX, again);
}

/* Makes the points of a brick in portions that fit the list. Returns whether any needs REPAIR. */
template <int WAY, class SAMPLES>
static __device__ __forceinline__ int emit_portions(const vertex_setting &setting, const SAMPLES &samples,
  const brick_head &head, const brick_work &work, vertex_scratch *scratch)
{
  int again = 0;
  for (int begin = 0; begin < work.points; begin += LISTED) {
    __syncwarp();
    list_points<WAY>(setting.job, work.box, head, begin, scratch);
    __syncwarp();
    again |= emit_listed<WAY>(setting, samples, work, begin, min(work.points - begin, (int)LISTED), scratch);
  }
  return again;
}

/* Makes the points of any brick. */
template <class SAMPLES, int FLAGS>
static __device__ __noinline__ void emit_any(const pmb_cuda_job &job, const pmb_cuda_output &output, int flags,
  uint32_t index, int repair, vertex_scratch *scratch)
{
  const brick_head head = read_head(job, source_of_lane(job), index, index + 1);
  const vertex_setting setting = { job, output, FLAGS == ANY ? flags : FLAGS };
  brick_work work;
  SAMPLES samples;
  begin_brick(setting, head, &work);
  work.box = pmb_cuda_box_of(job, head_at(head, BRICK_LANE));
  put_samples(job, work.box, head_at(head, SPECIAL_LANE) == PMB_CUDA_PLAIN, &samples);
  if (repair || emit_portions<ANY_BRICK>(setting, samples, head, work, scratch)) {
    emit_portions<REPAIR>(setting, samples, head, work, scratch);
  }
}

/* Calls emit_any by address, so that the compiler reserves no registers for this rare call. repair: other points are done. */
template <class SAMPLES, int FLAGS>
static __device__ __forceinline__ void call_any(
  const vertex_setting &setting, uint32_t index, int repair, vertex_scratch *scratch)
{
  void (*call)(const pmb_cuda_job &, const pmb_cuda_output &, int, uint32_t, int, vertex_scratch *) =
    emit_any<SAMPLES, FLAGS>;
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(call));
#endif
  call(setting.job, setting.output, setting.flags, index, repair, scratch);
}

/* The rest of a brick's work: none, all of it, or the points that need REPAIR. */
enum { DONE, RARE, AGAIN };

/* Makes the points of a brick, or a warp's part, unless it is rare: not plain, or with more points than fit the list. */
template <class SAMPLES>
static __device__ __forceinline__ int emit_plain(const vertex_setting &setting, SAMPLES samples,
  const brick_head &head, const pmb_cuda_box &box, vertex_scratch *scratch, int part = 0, int parts = 1)
{
  brick_work work;
  if (!begin_brick(setting, head, &work)) {
    return DONE;
  }
  if ((work.points > LISTED) | (head_at(head, SPECIAL_LANE) != PMB_CUDA_PLAIN)) {
    return RARE;
  }
  work.box = box;
  __syncwarp();
  list_points<PLAIN>(setting.job, work.box, head, 0, scratch);
  put_samples(setting.job, work.box, 1, &samples);
  __syncwarp();
  return emit_listed<PLAIN>(setting, samples, work, 0, work.points, scratch, part, parts) ? AGAIN : DONE;
}

/* Makes the points of any brick, or a warp's part of them. */
template <int FLAGS, class SAMPLES>
static __device__ __forceinline__ void emit_brick(const vertex_setting &setting, SAMPLES samples,
  const brick_head &head, uint32_t index, vertex_scratch *scratch, int part = 0, int parts = 1)
{
  const pmb_cuda_box box = pmb_cuda_box_of(setting.job, head_at(head, BRICK_LANE));
  const int left = emit_plain(setting, samples, head, box, scratch, part, parts);
  if (left == RARE ? part == 0 : left == AGAIN) { /* other warps that repair the brick write the same */
    call_any<SAMPLES, FLAGS>(setting, index, left == AGAIN, scratch);
  }
}

/* pmb_cuda_vertices_list.cuh: launches vertices for the list of active bricks. flags: PMB_CUDA_AS_FLOAT, ... */
template <class T> cudaError_t pmb_cuda_vertices_list(pmb_cuda *cuda, const pmb_cuda_output *output, int flags);
/* Vertices and triangles in one launch, for short lists. parts: warps that share a brick's points. */
template <class T>
cudaError_t pmb_cuda_emit_list_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, int parts);

/* pmb_cuda_vertices_columns.cu: vertices for columns of bricks. Returns 0 if too few are active, or the device cannot. */
int pmb_cuda_vertices_columns(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error);

#endif
