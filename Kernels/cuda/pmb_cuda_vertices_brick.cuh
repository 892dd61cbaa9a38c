/* SPDX-License-Identifier: BSD-3-Clause
 * The points of a brick, for pass vertices: a warp lists them, so that every lane has one to work on, and stores what it makes
 * through shared memory. */
#ifndef PMB_CUDA_VERTICES_BRICK_CUH
#define PMB_CUDA_VERTICES_BRICK_CUH

#include "cuda/pmb_cuda_vertices_point.cuh"

enum {
  LISTED = 256, /* points listed at once */
  CAREFUL = 32,
  ANY = -1
};

/* Room of a warp. Where no point is a double, only what is before `others`. */
typedef struct vertex_scratch {
  uint16_t list[LISTED];     /* row << 7 | x << 2 | kind */
  double points[96];         /* triples; if they are floats, others take the second half */
  float others[96];          /* triples */
  uint32_t careful[CAREFUL]; /* active bricks with points that go the careful way */
} vertex_scratch;

typedef struct vertex_setting {
  const pmb_cuda_job &job;
  const pmb_cuda_output &output;
  int flags;
} vertex_setting;

/* A point: its edge's lower sample and kind, where on it, and its gradient in the samples' axes and in the world, with the
 * squared length of that. */
template <class T> struct point_of {
  int low[3], kind;
  int place[3]; /* of the lower sample, for place_point */
  typename pmb_cuda_real<T>::type t, index[3], world[3], length2;
};

/* ---- samples ---- */

/* Samples as they are subtracted: small integers as 1.5 * 2^23 + s, which costs no conversion and cancels exactly. */
template <class T> static __device__ __forceinline__ typename pmb_cuda_real<T>::type lifted(T s)
{
  typedef typename pmb_cuda_real<T>::type real;
  return sizeof(T) <= 2 ? (real)__int_as_float(0x4b400000 + (int)s) : (real)s;
}

/* The sample itself. */
template <class T>
static __device__ __forceinline__ typename pmb_cuda_real<T>::type settled(typename pmb_cuda_real<T>::type sample)
{
  return sizeof(T) <= 2 ? sample - 12582912 : sample;
}

/* The samples at the ends of an edge and the differences there along three axes: along the edge, then the two others
 * by number; so that all kinds of edges read alike. */
template <class R> struct surrounding {
  R ends[2], low[3], high[3];
};

/* Where a brick's samples are read: here in the volume; see also pmb_cuda_vertices_columns.cu. OFFSET: a type that holds distances in
 * a brick. */
template <class T, class OFFSET> struct volume_samples {
  enum { BY_EDGE = 1 /* the order of axes in a surrounding */, ONE_ISOVALUE = 0 };
  const T *d_origin; /* the brick's first */
  int inner;         /* its neighbours are all in the volume, and no point lies on a sample */
};

/* In a brick whose neighbours are all in the volume. OFFSET: a type that holds distances in a brick. */
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
  if (gradient) {
    s->low[0] = pmb_difference(lifted(d_low[-along]), s->ends[1], half);
    s->high[0] = pmb_difference(s->ends[0], lifted(d_high[along]), half);
    s->low[1] = pmb_difference(lifted(d_low[-second]), lifted(d_low[second]), half);
    s->high[1] = pmb_difference(lifted(d_high[-second]), lifted(d_high[second]), half);
    s->low[2] = pmb_difference(lifted(d_low[-third]), lifted(d_low[third]), half);
    s->high[2] = pmb_difference(lifted(d_high[-third]), lifted(d_high[third]), half);
  }
}

/* From that order to x, y, z, and back. */
template <class R> static __device__ __forceinline__ void order_by_axis(int kind, R *g)
{
  const R along = g[0], second = g[1], third = g[2];
  g[0] = kind == 0 ? along : second;
  g[1] = kind == 1 ? along : kind == 0 ? second : third;
  g[2] = kind >= 2 ? along : third;
}
template <class R> static __device__ __forceinline__ void order_by_edge(int kind, R *g)
{
  const R x = g[0], y = g[1], z = g[2];
  g[0] = kind == 0 ? x : kind == 1 ? y : z;
  g[1] = kind == 0 ? y : x;
  g[2] = kind >= 2 ? y : z;
}

/* Along one axis, where neighbours outside the volume repeat the border. up: from the lower to the upper end; along:
 * whether this is the edge's axis. */
template <class T, class OFFSET>
static __device__ __forceinline__ void border_differences(const T *d_low, OFFSET up, OFFSET step, int along,
  int place, int dim, int axis, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  typedef typename pmb_cuda_real<T>::type real;
  const int upper = place + along;
  const OFFSET below = place > 0 ? step : 0, above = place < dim - 1 ? step : 0;
  const OFFSET upper_above = upper < dim - 1 ? step : 0;
  const real b = along ? s->ends[1] : lifted(d_low[above]), c = along ? s->ends[0] : lifted(d_low[up - below]);
  s->low[axis] = pmb_difference(lifted(d_low[-below]), b, place <= 0 || place >= dim - 1 ? (real)1 : (real)0.5);
  s->high[axis] =
    pmb_difference(c, lifted(d_low[up + upper_above]), upper <= 0 || upper >= dim - 1 ? (real)1 : (real)0.5);
}

/* Anywhere, and for points on samples. */
template <class T, class OFFSET>
static __device__ __forceinline__ void read_border(const T *d_low, const int *low, int kind, const pmb_cuda_job &job,
  int gradient, surrounding<typename pmb_cuda_real<T>::type> *s)
{
  const OFFSET pitch = (OFFSET)job.pitch, slice = (OFFSET)job.slice;
  const OFFSET up = kind == 0 ? 1 : kind == 1 ? pitch : kind == 2 ? slice : 0;
  s->ends[0] = lifted(d_low[0]);
  s->ends[1] = lifted(d_low[up]);
  if (gradient) {
    border_differences<T, OFFSET>(d_low, up, 1, kind == 0, low[0], job.dims[0], 0, s);
    border_differences<T, OFFSET>(d_low, up, pitch, kind == 1, low[1], job.dims[1], 1, s);
    border_differences<T, OFFSET>(d_low, up, slice, kind == 2, low[2], job.dims[2], 2, s);
    order_by_edge(kind, s->low);
    order_by_edge(kind, s->high);
  }
}

/* Both ways. x, row: of the sample in its brick. */
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

/* A lane's triple into the warp's room. */
template <class V> static __device__ __forceinline__ void put(V *room, V x, V y, V z)
{
  V *mine = room + 3 * (threadIdx.x & 31);
  mine[0] = x;
  mine[1] = y;
  mine[2] = z;
}

/* A number that the compiler does not make anew wherever it is used. */
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
static __device__ __forceinline__ const char *opaque(const char *d_memory)
{
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(d_memory));
  __builtin_assume(__isGlobal(d_memory));
#endif
  return d_memory;
}

/* The first n triples of the warp's room, all if it is more, as whole rows of memory; at: the output's place of the first,
 * times 3, plus the lane. */
template <class V> static __device__ __forceinline__ void store(V *d_out, int64_t at, const V *room, int n)
{
  const int rest = 3 * n - (int)(threadIdx.x & 31);
  const V *mine = room + opaque(threadIdx.x & 31);
  const V values[3] = { mine[0], mine[32], mine[64] };
  d_out += opaque(at);
  if (rest > 0) {
    d_out[0] = values[0];
  }
  if (rest > 32) {
    d_out[32] = values[1];
  }
  if (rest > 64) {
    d_out[64] = values[2];
  }
}

template <class T> static __device__ __forceinline__ void put_normal(const point_of<T> &p, float *room)
{
  const typename pmb_cuda_real<T>::type factor = normal_factor(p.length2);
  put(room, (float)(p.world[0] * factor), (float)(p.world[1] * factor), (float)(p.world[2] * factor));
}

template <class T>
static __device__ __forceinline__ void put_gradient(const pmb_frame &frame, const point_of<T> &p, float *room)
{
  put(room, pmb_physical_gradient(&frame, (double)p.world[0], frame.range_scale),
    pmb_physical_gradient(&frame, (double)p.world[1], frame.range_scale),
    pmb_physical_gradient(&frame, (double)p.world[2], frame.range_scale));
}

/* The gradient of a point and its length. BY_EDGE: the order of axes. */
template <class T, int BY_EDGE>
static __device__ __forceinline__ void find_gradient(
  const vertex_setting &setting, const surrounding<typename pmb_cuda_real<T>::type> &s, point_of<T> *p)
{
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    p->index[a] = pmb_lerp(s.low[a], s.high[a], p->t);
  }
  if (BY_EDGE) {
    order_by_axis(p->kind, p->index);
  }
  turn_gradient(setting.job.frame, setting.flags, p->index, p->world);
  p->length2 = pmb_length2(p->world[0], p->world[1], p->world[2]);
}

/* Writes n points, one a lane; first: the output's place of the first; at: 3 * first + the lane. */
template <class T, int BY_EDGE>
static __device__ __forceinline__ void store_points(const vertex_setting &setting, vertex_scratch *scratch,
  const pmb_isovalue &iso, int64_t first, int64_t at, int n, const surrounding<typename pmb_cuda_real<T>::type> &s,
  point_of<T> *p)
{
  const pmb_cuda_output &output = setting.output;
  const int lane = threadIdx.x & 31;
  float *floats = (float *)scratch->points, *behind = floats + (setting.flags & PMB_CUDA_AS_DOUBLE ? 2 * 96 : 96);
  __syncwarp();
  if (setting.flags & (PMB_CUDA_AS_FLOAT | PMB_CUDA_AS_DOUBLE)) {
    double w[3];
    place_point(setting.job.frame, setting.flags, p->place, p->kind, (double)p->t, w);
    if (setting.flags & PMB_CUDA_AS_FLOAT) {
      put(floats, (float)w[0], (float)w[1], (float)w[2]);
    } else {
      put(scratch->points, w[0], w[1], w[2]);
    }
  }
  if ((setting.flags & PMB_CUDA_PARAMETERS) && lane < n) {
    output.d_parameter[first + lane] =
      pmb_edge_parameter((double)settled<T>(s.ends[0]), (double)settled<T>(s.ends[1]), iso.f64, 0.0);
    output.d_sample[first + lane] =
      (p->low[0] + setting.job.dims[0] * (p->low[1] + (int64_t)setting.job.dims[1] * p->low[2])) << 2 | p->kind;
  }
  if (setting.flags & (PMB_CUDA_NORMALS | PMB_CUDA_GRADIENTS)) {
    find_gradient<T, BY_EDGE>(setting, s, p);
  }
  if (setting.flags & PMB_CUDA_NORMALS) {
    put_normal<T>(*p, behind);
  }
  __syncwarp();
  if (setting.flags & PMB_CUDA_AS_FLOAT) {
    store((float *)output.d_points, at, floats, n);
  } else if (setting.flags & PMB_CUDA_AS_DOUBLE) {
    store((double *)output.d_points, at, scratch->points, n);
  }
  if (setting.flags & PMB_CUDA_NORMALS) {
    store(output.d_normals, at, behind, n);
  }
  if (setting.flags & PMB_CUDA_GRADIENTS) {
    __syncwarp();
    put_gradient<T>(setting.job.frame, *p, behind);
    __syncwarp();
    store(output.d_gradients, at, behind, n);
  }
}

/* Writes gradient and normal of a point that goes the careful way. */
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

/* What a warp reads of a brick before it works on it: a word a lane, lanes 0-24 the record's words, then these; and the
 * points before the lane's row. */
enum {
  COLUMN_LANE = PMB_CUDA_ROWS,
  SPECIAL_LANE,
  BRICK_LANE,
  BEFORE_LANE,                  /* two */
  AFTER_LANE = BEFORE_LANE + 2, /* the lower half */
};

typedef struct brick_head {
  uint32_t word, first;
} brick_head;

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
  } else if (lane == SPECIAL_LANE) {
    source.d_first = (const char *)&record->special;
  } else if (lane == BRICK_LANE) {
    source.d_first = (const char *)job.d_brick;
    source.step = sizeof(uint32_t);
  } else if (lane >= BEFORE_LANE) {
    const int next = lane >= AFTER_LANE;
    source.d_first = (const char *)((const uint32_t *)&job.d_before[next].points + (lane - BEFORE_LANE - 2 * next));
    source.step = sizeof(pmb_cuda_before);
  }
  return source;
}

/* index: below the number of active bricks, or the head is not used. */
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

/* A brick under way. */
typedef struct brick_work {
  pmb_cuda_box box;
  int place[3]; /* of the box, counted from the frame's first sample */
  int points;
  int64_t first; /* of them in the output */
  int64_t at;    /* 3 * first + the lane */
} brick_work;

/* How points are made: as usual, without the slow way of the division; with it; and so that those that need it go the
 * careful way. */
enum { FAST_DIVIDE, EXACT_DIVIDE, REPAIR };

/* Points n to n + 31 of the list, which begins with point `begin`; returns whether any of the lane's are not good yet. */
template <class T, int WAY, class SAMPLES>
static __device__ __forceinline__ int emit_points(const vertex_setting &setting, const SAMPLES &samples,
  const brick_work &work, int begin, int n, vertex_scratch *scratch)
{
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
    p.place[a] = work.place[a] + in_brick[a];
  }
  read_surrounding(setting, samples, x, row, p, &s);
  const pmb_isovalue &iso = job.isovalues[SAMPLES::ONE_ISOVALUE ? 0 : work.box.isovalue];
  const typename pmb_cuda_real<T>::type lower = settled<T>(s.ends[0]), upper = settled<T>(s.ends[1]);
  p.t = WAY == FAST_DIVIDE ? fast_parameter(iso, lower, upper, &good) : edge_parameter(iso, lower, upper);
  const int64_t first = work.first + begin + n;
  store_points<T, SAMPLES::BY_EDGE>(setting, scratch, iso, first, work.at + 3 * (begin + n), left, s, &p);
  good = good && (!gradient || pmb_length2_good(p.length2));
  if (WAY == REPAIR) {
    __syncwarp();
    if (lane < left && !good) {
      store_careful<T>(setting, p, first + lane);
    }
  }
  return !good;
}

/* The first entry of a lane's row. */
static __device__ __forceinline__ uint32_t entry_of_lane(void)
{
  return (threadIdx.x & 15) << 7;
}

/* How many points there are and where they go; 0 if there are none, or the output has no room for them. */
static __device__ __forceinline__ int begin_brick(
  const vertex_setting &setting, const brick_head &head, brick_work *work)
{
  const uint32_t before = head_at(head, BEFORE_LANE);
  work->first = (int64_t)((uint64_t)head_at(head, BEFORE_LANE + 1) << 32 | before);
  work->points = (int)(head_at(head, AFTER_LANE) - before);
  work->at = opaque(3 * work->first + (threadIdx.x & 31));
  return work->points > 0 && work->first + work->points <= setting.output.point_room;
}

static __device__ __forceinline__ void put_box(const pmb_cuda_job &job, const pmb_cuda_box &box, brick_work *work)
{
  work->box = box;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    work->place[a] = opaque((uint32_t)(box.origin[a] + (int)job.frame.first[a]));
  }
}

/* Whether distances in a brick are below 2^31. */
static __host__ __device__ __forceinline__ int fits_int(const pmb_cuda_job &job)
{
  return job.slice < INT32_MAX / 8;
}

template <class T, class OFFSET>
static __device__ __forceinline__ volume_samples<T, OFFSET> samples_of(
  const pmb_cuda_job &job, const pmb_cuda_box &box, int plain)
{
  const int *origin = box.origin;
  const volume_samples<T, OFFSET> samples = { (const T *)job.d_samples +
      (origin[0] + job.pitch * origin[1] + job.slice * origin[2]),
    plain && pmb_cuda_is_surrounded(job, box) };
  return samples;
}

/* What a lane lists. */
static __device__ __forceinline__ lane_runs runs_of_head(
  const pmb_cuda_job &job, const pmb_cuda_box &box, const brick_head &head, uint32_t special)
{
  const int r = word_of_lane();
  const uint32_t words[3] = { head_at(head, r), head_at(head, r + 1), head_at(head, r + 5) };
  return runs_of(job, box, words, head_at(head, COLUMN_LANE), special, head.first);
}

/* The points of a brick in portions that fit the list; returns whether any need the careful way. */
template <class T, int WAY, class SAMPLES>
static __device__ __forceinline__ int emit_portions(const vertex_setting &setting, const SAMPLES &samples,
  const brick_head &head, const brick_work &work, vertex_scratch *scratch)
{
  const lane_runs runs = runs_of_head(setting.job, work.box, head, head_at(head, SPECIAL_LANE));
  int careful = 0;
  for (int begin = 0; begin < work.points; begin += LISTED) {
    __syncwarp();
    list_part<PMB_KINDS>(runs, begin, LISTED, scratch->list, 1, entry_of_lane(), 1 << 2);
    __syncwarp();
    for (int n = 0; n < min(work.points - begin, (int)LISTED); n += 32) {
      careful |= emit_points<T, WAY>(setting, samples, work, begin, n, scratch);
    }
  }
  return __any_sync(UINT32_MAX, careful);
}

/* The points of any brick; returns whether any need the careful way. */
template <class T, int WAY>
static __device__ __noinline__ int emit_any(
  const pmb_cuda_job &job, const pmb_cuda_output &output, int flags, uint32_t index, vertex_scratch *scratch)
{
  const brick_head head = read_head(job, source_of_lane(job), index, index + 1);
  const int plain = head_at(head, SPECIAL_LANE) == PMB_CUDA_PLAIN;
  const vertex_setting setting = { job, output, flags };
  brick_work work;
  if (!begin_brick(setting, head, &work)) {
    return 0;
  }
  put_box(job, pmb_cuda_box_of(job, head_at(head, BRICK_LANE)), &work);
  if (WAY == EXACT_DIVIDE && plain && flags == PMB_CUDA_USUAL &&
    fits_int(job)) { /* it has only more points than others */
    const vertex_setting usual = { job, output, PMB_CUDA_USUAL };
    return emit_portions<T, FAST_DIVIDE>(usual, samples_of<T, int32_t>(job, work.box, 1), head, work, scratch);
  }
  return emit_portions<T, WAY>(setting, samples_of<T, int64_t>(job, work.box, plain), head, work, scratch);
}

/* Calls it by address, so that the compiler keeps no registers for what is rare. */
template <class T, int WAY>
static __device__ __forceinline__ int call_any(const vertex_setting &setting, uint32_t index, vertex_scratch *scratch)
{
  int (*call)(const pmb_cuda_job &, const pmb_cuda_output &, int, uint32_t, vertex_scratch *) = emit_any<T, WAY>;
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(call));
#endif
  return call(setting.job, setting.output, setting.flags, index, scratch);
}

/* Lists the points of a run: those of the columns in `bits`, from place `begin` on. */
static __device__ __forceinline__ void list_run(
  uint32_t bits, uint32_t begin, uint32_t entry, vertex_scratch *scratch)
{
  uint16_t *end = scratch->list + begin + __popc(bits); /* behind the last */
#pragma unroll 1
  while (bits) {
    const uint32_t x = 31 - (uint32_t)__clz((int)bits);
    bits ^= 1u << x;
    *--end = (uint16_t)(entry + 4 * x);
  }
}

/* Lists the points of a brick that is plain. A lane has half a row of x edges, and a whole row of y or of z edges: so the
 * longest of the warp's runs are shortest. */
static __device__ __forceinline__ void list_plain(
  const pmb_cuda_job &job, const pmb_cuda_box &box, const brick_head &head, vertex_scratch *scratch)
{
  const int row = threadIdx.x & 15, r = word_of_lane(), upper = threadIdx.x & 16;
  const uint32_t word = head_at(head, r), other = head_at(head, r + (upper ? 5 : 1));
  const uint32_t column = head_at(head, COLUMN_LANE);
  uint32_t along_x = word ^ pmb_cuda_next(word, column >> r & 1), beside = word ^ other;
  if (column >> PMB_CUDA_ROWS) {
    const uint32_t columns = pmb_cuda_row_columns(job, box, row & 3, row >> 2);
    along_x &= columns;
    beside &= columns;
  }
  const uint32_t before = upper ? __popc(along_x & 0xffff) : 0;
  list_run(along_x & (upper ? 0xffff0000u : 0xffff), pmb_cuda_row_first(head.first, PMB_EDGE_X) + before,
    entry_of_lane(), scratch);
  list_run(beside, pmb_cuda_row_first(head.first, upper ? PMB_EDGE_Z : PMB_EDGE_Y),
    entry_of_lane() + (upper ? PMB_EDGE_Z : PMB_EDGE_Y), scratch);
}

/* The points of a brick, all of which are listed, or of several warps' a warp's part of them; returns whether any need to be
 * made again. */
template <class T, class SAMPLES>
static __device__ __forceinline__ int emit_listed(const vertex_setting &setting, const SAMPLES &samples,
  const brick_work &work, vertex_scratch *scratch, int part = 0, int parts = 1)
{
  int careful = 0;
  for (int n = 32 * part; n < work.points; n += 32 * parts) {
    careful |= emit_points<T, FAST_DIVIDE>(setting, samples, work, 0, n, scratch);
  }
  return __any_sync(UINT32_MAX, careful);
}

/* The points of a brick that is plain and fits the list; returns whether any need to be made again. */
template <class T, class SAMPLES>
static __device__ __forceinline__ int emit_plain(const vertex_setting &setting, const SAMPLES &samples,
  const brick_head &head, const brick_work &work, vertex_scratch *scratch, int part, int parts)
{
  __syncwarp();
  list_plain(setting.job, work.box, head, scratch);
  __syncwarp();
  return emit_listed<T>(setting, samples, work, scratch, part, parts);
}

/* Whether a brick needs more than that. */
static __device__ __forceinline__ int is_rare(const brick_head &head, const brick_work &work)
{
  return (work.points > LISTED) | (head_at(head, SPECIAL_LANE) != PMB_CUDA_PLAIN);
}

/* pmb_cuda_vertices_list.cuh: launches vertices for the list of bricks. flags: what is wanted of all bricks. */
template <class T> cudaError_t pmb_cuda_vertices_list(pmb_cuda *cuda, const pmb_cuda_output *output, int flags);
/* Vertices and triangles, for a short list. parts: warps that share a brick's
 * points. Not for types that are handled as double. */
template <class T>
cudaError_t pmb_cuda_emit_list_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, int parts);

/* pmb_cuda_vertices_columns.cu: likewise for columns of bricks if that pays: most are active, and the device can. 0: it does not. */
int pmb_cuda_vertices_columns(pmb_cuda *cuda, const pmb_cuda_output *output, int flags, cudaError_t *error);

#endif
