/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of the CPU backend. Compiled once per instruction set, with PMB_CPU_PATH set to its name; the arithmetic
 * comes from pmb_cell.h, pmb_brick.h and pmb_point.h. */
#include <string.h>

#include "cpu/pmb_cpu.h"
#include "cpu/vector/pmb_cpu_bits.h"
#include "cpu/vector/pmb_cpu_compare.h"
#include "cpu/vector/pmb_cpu_lanes.h"

#define PMB_JOIN_(a, b) a##b
#define PMB_JOIN(a, b) PMB_JOIN_(a, b)
#define PMB_TEXT_(a) #a
#define PMB_TEXT(a) PMB_TEXT_(a)

/* Bytes ahead in a row that summarize asks for; 512 to 8192 were tried, see Docs/PERFORMANCE.md. */
enum { PMB_PREFETCH_DISTANCE = 2048 };

/* Before a short loop: gcc turns it into vector instructions only while it is a loop. */
#if defined(__GNUC__) && !defined(__clang__)
#define PMB_NOT_UNROLLED _Pragma("GCC unroll 1")
#define PMB_UNROLLED_5 _Pragma("GCC unroll 5")
#else
#define PMB_NOT_UNROLLED
#define PMB_UNROLLED_5
#endif

#include "cpu/pmb_cpu_classify_content.h"

static inline int64_t pmb_cpu_smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Samples of a brick along an axis, halo included, where `left` remain in the volume. */
static inline int pmb_cpu_extent(int64_t left, int size)
{
  return left > size ? size + 1 : (int)left;
}

/* Moves the coordinates of a brick on by so many bricks. */
static inline void pmb_cpu_advance(const pmb_cpu *cpu, int64_t *position, int64_t by)
{
  position[0] += by;
  while (position[0] >= cpu->bricks[0]) {
    position[0] -= cpu->bricks[0];
    if (++position[1] == cpu->bricks[1]) {
      position[1] = 0;
      ++position[2];
    }
  }
}

/* What of a tile is read, and where it lies in the volume: row (y,z) begins at element y[y + 1] + z[z + 1], for rows outside
 * the nearest. */
typedef struct tile_rows {
  int64_t stride, y[PMB_TILE_ROWS], z[PMB_TILE_ROWS];
  int offset;     /* tile column of the first sample that there is */
  int n;          /* samples of a row that there are */
  int begin, end; /* tile columns that are set */
} tile_rows;

/* Small types: handled as float. */
#define PMB_T int8_t
#define PMB_T_NAME(name) name##_int8
#define PMB_T_REAL float
#define PMB_T_THRESHOLD threshold_f32
#define PMB_T_EQUAL f32
#define PMB_T_COMPARE float
#define PMB_T_LOWEST INT8_MIN
#define PMB_T_HIGHEST INT8_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T uint8_t
#define PMB_T_NAME(name) name##_uint8
#define PMB_T_REAL float
#define PMB_T_THRESHOLD threshold_f32
#define PMB_T_EQUAL f32
#define PMB_T_COMPARE float
#define PMB_T_LOWEST 0
#define PMB_T_HIGHEST UINT8_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T int16_t
#define PMB_T_NAME(name) name##_int16
#define PMB_T_REAL float
#define PMB_T_THRESHOLD threshold_f32
#define PMB_T_EQUAL f32
#define PMB_T_COMPARE float
#define PMB_T_LOWEST INT16_MIN
#define PMB_T_HIGHEST INT16_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T uint16_t
#define PMB_T_NAME(name) name##_uint16
#define PMB_T_REAL float
#define PMB_T_THRESHOLD threshold_f32
#define PMB_T_EQUAL f32
#define PMB_T_COMPARE float
#define PMB_T_LOWEST 0
#define PMB_T_HIGHEST UINT16_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T float
#define PMB_T_NAME(name) name##_float32
#define PMB_T_REAL float
#define PMB_T_THRESHOLD threshold_f32
#define PMB_T_EQUAL f32
#define PMB_T_COMPARE float
#define PMB_T_LOWEST (-INFINITY)
#define PMB_T_HIGHEST INFINITY
#define PMB_T_IS_FLOAT 1
#include "cpu/pmb_cpu_typed_template.h"

/* Wide types: handled as double; 64-bit integers are compared as they are. */
#define PMB_T int32_t
#define PMB_T_NAME(name) name##_int32
#define PMB_T_REAL double
#define PMB_T_THRESHOLD threshold_f64
#define PMB_T_EQUAL f64
#define PMB_T_COMPARE double
#define PMB_T_LOWEST INT32_MIN
#define PMB_T_HIGHEST INT32_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T uint32_t
#define PMB_T_NAME(name) name##_uint32
#define PMB_T_REAL double
#define PMB_T_THRESHOLD threshold_f64
#define PMB_T_EQUAL f64
#define PMB_T_COMPARE double
#define PMB_T_LOWEST 0
#define PMB_T_HIGHEST UINT32_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T int64_t
#define PMB_T_NAME(name) name##_int64
#define PMB_T_REAL double
#define PMB_T_THRESHOLD threshold_i64
#define PMB_T_EQUAL f64
#define PMB_T_COMPARE int64_t
#define PMB_T_LOWEST INT64_MIN
#define PMB_T_HIGHEST INT64_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T uint64_t
#define PMB_T_NAME(name) name##_uint64
#define PMB_T_REAL double
#define PMB_T_THRESHOLD threshold_u64
#define PMB_T_EQUAL f64
#define PMB_T_COMPARE uint64_t
#define PMB_T_LOWEST 0
#define PMB_T_HIGHEST UINT64_MAX
#define PMB_T_IS_FLOAT 0
#include "cpu/pmb_cpu_typed_template.h"

#define PMB_T double
#define PMB_T_NAME(name) name##_float64
#define PMB_T_REAL double
#define PMB_T_THRESHOLD threshold_f64
#define PMB_T_EQUAL f64
#define PMB_T_COMPARE double
#define PMB_T_LOWEST (-(double)INFINITY)
#define PMB_T_HIGHEST ((double)INFINITY)
#define PMB_T_IS_FLOAT 1
#include "cpu/pmb_cpu_typed_template.h"

typedef struct typed_loops {
  void (*load)(const void *samples, const tile_rows *rows, uint64_t wanted, void *tile);
  uint64_t (*inside)(const void *source, int64_t stride, int n, const pmb_isovalue *isovalue);
  int (*words)(const void *first, int begins, const int64_t *strides, const int *n, const pmb_isovalue *isovalue,
    pmb_cpu_words *words, pmb_cpu_words *equal);
  void (*around)(const void *center, const int64_t *strides, const int *low, const int *high,
    const pmb_isovalue *isovalue, uint32_t *inside, uint32_t *equal);
  void (*summarize)(pmb_cpu *cpu, size_t i);
  void (*select_count)(pmb_cpu *cpu, size_t i);
  void (*select_write)(pmb_cpu *cpu, size_t i);
} typed_loops;

#define PMB_TYPED(name)                                                                             \
  {                                                                                                 \
    load_##name, inside_##name, words_##name, around_##name, summarize_##name, select_count_##name, \
      select_write_##name                                                                           \
  }

/* By pmb_type - 1. */
static const typed_loops typed[] = { PMB_TYPED(int8), PMB_TYPED(uint8), PMB_TYPED(int16), PMB_TYPED(uint16),
  PMB_TYPED(int32), PMB_TYPED(uint32), PMB_TYPED(int64), PMB_TYPED(uint64), PMB_TYPED(float32), PMB_TYPED(float64) };

static inline const typed_loops *loops_of(const pmb_cpu *cpu)
{
  return &typed[cpu->volume->type - 1];
}

/* Where a brick lies. */
typedef struct box {
  int64_t origin[3]; /* its first sample */
  int n[3];          /* its samples in the volume along each axis, halo included */
  int clean;         /* its samples from -1 to 32 are finite, and they and their cells are visible */
  int hides;         /* samples around may be hidden */
} box;

/* Flags of the brick that is so many bricks further; outside the volume none. */
static int flags_beside(const pmb_cpu *cpu, const pmb_cpu_record *record, int dx, int dy, int dz)
{
  const int64_t x = record->position[0] + dx, y = record->position[1] + dy, z = record->position[2] + dz;
  const int exists = x >= 0 && y >= 0 && z >= 0 && x < cpu->bricks[0] && y < cpu->bricks[1] && z < cpu->bricks[2];
  return exists ? ((const uint8_t *)cpu->flags.data)[x + cpu->bricks[0] * (y + cpu->bricks[1] * z)] : 0;
}

/* Like the others below written where it stays: a structure given back is copied in larger pieces than it was written in, and
 * waits for these to leave the processor's store queue. */
PMB_INLINE void find_box(const pmb_cpu *cpu, const pmb_cpu_record *record, box *b)
{
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  int clean = 1, hides = 0;
  for (int a = 0; a < 3; ++a) {
    b->origin[a] = record->position[a] * size[a];
    b->n[a] = pmb_cpu_extent(cpu->volume->dims[a] - b->origin[a], (int)size[a]);
  }
  /* The flags of the brick and of those below cover samples -1 to 32. */
  for (int d = 0; cpu->any_flags && d < 8; ++d) {
    clean &= !flags_beside(cpu, record, -(d & 1), -(d >> 1 & 1), -(d >> 2));
  }
  for (int d = 0; cpu->any_flags & PMB_BRICK_HIDES_SAMPLES && d < 27; ++d) {
    hides |= flags_beside(cpu, record, d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1) & PMB_BRICK_HIDES_SAMPLES;
  }
  b->clean = clean;
  b->hides = hides;
}

static inline int64_t clamp(int64_t i, int64_t n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* from, to: columns of the brick, -1 to 33. */
static void find_tile_rows(const pmb_cpu *cpu, const box *b, int from, int to, tile_rows *rows)
{
  const pmb_volume *v = cpu->volume;
  const int64_t first = clamp(b->origin[0] + from, v->dims[0]), last = clamp(b->origin[0] + to, v->dims[0]);
  rows->stride = v->strides[0];
  rows->offset = (int)(first - (b->origin[0] - 1));
  rows->n = (int)(last - first) + 1;
  rows->begin = from + 1;
  rows->end = to + 2;
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    rows->y[i] = first * v->strides[0] + clamp(b->origin[1] + i - 1, v->dims[1]) * v->strides[1];
    rows->z[i] = clamp(b->origin[2] + i - 1, v->dims[2]) * v->strides[2];
  }
}

/* The rows of a tile with y and z from `from` to 4, bit (z + 1) * 7 + (y + 1). */
static uint64_t rows_from(int from)
{
  uint64_t layer = 0, rows = 0;
  for (int i = from + 1; i <= PMB_BRICK_Y + 1; ++i) {
    layer |= 1ull << i;
  }
  for (int i = from + 1; i <= PMB_BRICK_Z + 1; ++i) {
    rows |= layer << (i * PMB_TILE_ROWS);
  }
  return rows;
}

/* Bits x + 1 of the hidden cells of row (y,z) of a brick. */
static uint64_t hidden_cells(const pmb_cpu *cpu, const box *b, int y, int z)
{
  uint64_t bits = 0;
  for (int x = -1; x < PMB_BRICK_X; ++x) {
    bits |= (uint64_t)pmb_hides_cell(cpu->volume, b->origin[0] + x, b->origin[1] + y, b->origin[2] + z) << (x + 1);
  }
  return bits;
}

/* Asks for the samples of the next brick while this one is worked on: rows are far apart, so the hardware does not
 * foresee them. */
static inline void prefetch_brick(const pmb_cpu *cpu, const pmb_cpu_record *record)
{
  const pmb_volume *v = cpu->volume;
  const int64_t bytes = (int64_t)pmb_type_size(v->type), *s = v->strides;
  const int64_t x = (int64_t)record->position[0] * PMB_BRICK_X;
  const int64_t y = (int64_t)record->position[1] * PMB_BRICK_Y, z = (int64_t)record->position[2] * PMB_BRICK_Z;
  const int ny = pmb_cpu_extent(v->dims[1] - y, PMB_BRICK_Y), nz = pmb_cpu_extent(v->dims[2] - z, PMB_BRICK_Z);
  const int64_t row = PMB_BRICK_X * bytes * (s[0] == 1);
  const char *layer = (const char *)v->samples + (x * s[0] + y * s[1] + z * s[2]) * bytes;
  for (int k = 0; k < nz; ++k, layer += s[2] * bytes) {
    const char *first = layer;
    for (int j = 0; j < ny; ++j, first += s[1] * bytes) {
      for (int64_t b = 0; b <= row; b += 64) {
        __builtin_prefetch(first + b);
      }
    }
  }
}

/* Asks for the memory of an output array that will be written soon, n bytes further on from what is written now: the arrays
 * take turns, so the hardware does not foresee them. May be beyond its end. 512 to 2048 were tried, see Docs/PERFORMANCE.md. */
enum { PMB_OUTPUT_AHEAD = 2048 };
PMB_INLINE void prefetch_output(const void *out, int n)
{
  for (int b = 0; b < n; b += 64) {
    __builtin_prefetch((const void *)((uintptr_t)out + PMB_OUTPUT_AHEAD + (uintptr_t)b), 1);
  }
}

/* The same for ids of triangles, from where they are made to where they go, twice as wide or not. */
typedef struct id_way {
  uintptr_t offset;
  int wide;
} id_way;

PMB_INLINE id_way way_of_ids(const uint32_t *made, const void *out, int wide)
{
  return (id_way){ (uintptr_t)out - ((uintptr_t)made << wide), wide };
}

PMB_INLINE void prefetch_ids(id_way way, const uint32_t *made)
{
  prefetch_output((const void *)(((uintptr_t)made << way.wide) + way.offset), 64 << way.wide);
}

/* The bits of a brick's samples; returns by which rules. */
static int compare_brick(const pmb_cpu *cpu, const box *b, pmb_cpu_words *words, pmb_cpu_words *equal)
{
  const pmb_volume *v = cpu->volume;
  const int64_t *o = b->origin, *s = v->strides;
  const int64_t element = o[0] * s[0] + o[1] * s[1] + o[2] * s[2];
  const void *first = (const char *)v->samples + element * (int64_t)pmb_type_size(v->type);
  return loops_of(cpu)->words(first, o[0] == 0, s, b->n, cpu->isovalue, words, equal);
}

/* Index in a tile of sample (x,y,z) of a brick. */
static inline int tile_index(int x, int y, int z)
{
  return ((z + 1) * PMB_TILE_ROWS + (y + 1)) * PMB_TILE_PITCH + x + 1;
}

#include "cpu/pmb_cpu_vertices_plan.h"

#define PMB_REAL float
#define PMB_REAL_NAME(name) name##_f32
#define PMB_REAL_WIDE 0
#include "cpu/pmb_cpu_classify_template.h"
/* which the other one needs */
#include "cpu/pmb_cpu_vertices_ends_template.h"

#define PMB_T int8_t
#define PMB_T_NAME(name) name##_int8
#include "cpu/pmb_cpu_vertices_direct_template.h"

#define PMB_T uint8_t
#define PMB_T_NAME(name) name##_uint8
#include "cpu/pmb_cpu_vertices_direct_template.h"

#define PMB_T int16_t
#define PMB_T_NAME(name) name##_int16
#include "cpu/pmb_cpu_vertices_direct_template.h"

#define PMB_T uint16_t
#define PMB_T_NAME(name) name##_uint16
#include "cpu/pmb_cpu_vertices_direct_template.h"

/* By pmb_type - 1. */
static void (*const own_ends[])(const rows_view_f32 *v, const brick_plan *plan, float (*ends)[4]) = { make_ends_int8,
  make_ends_uint8, make_ends_int16, make_ends_uint16 };

#include "cpu/pmb_cpu_vertices_template.h"

#define PMB_REAL double
#define PMB_REAL_NAME(name) name##_f64
#define PMB_REAL_WIDE 1
#include "cpu/pmb_cpu_classify_template.h"
/* which the other one needs */
#include "cpu/pmb_cpu_vertices_ends_template.h"

#include "cpu/pmb_cpu_vertices_template.h"

#include "cpu/pmb_cpu_triangles_cells.h"

#include "cpu/pmb_cpu_classify_joined.h"

#include "cpu/pmb_cpu_triangles.h"

/* Pass classify, one brick, for what nearly all bricks are. Returns 0 if the full rules are needed. */
static int classify_by_bits(const pmb_cpu *cpu, const box *b, pmb_cpu_record *record)
{
  pmb_cpu_words words, equal;
  int rules = PMB_RULES_FULL;
  if (b->clean && !cpu->always_exact) {
    rules = compare_brick(cpu, b, &words, &equal);
  }
  if (rules == PMB_RULES_PLAIN) {
    plain_content(cpu, &words, b->n, record);
  } else if (rules == PMB_RULES_JOINED) {
    joined_content(cpu, b, &words, &equal, record);
  }
  record->rules = (uint16_t)rules;
  return rules != PMB_RULES_FULL;
}

/* Bricks from the one in work to the one whose samples classify asks for; 1 to 6 were tried, see Docs/PERFORMANCE.md. */
enum { PMB_BRICKS_AHEAD = 3 };

static void classify_chunk(pmb_cpu *cpu, int worker, size_t i)
{
  pmb_cpu_scratch *scratch = pmb_cpu_scratch_of(cpu, worker);
  pmb_cpu_record *records = cpu->found.records.data;
  const int64_t begin = (int64_t)i << cpu->found.chunk_shift;
  const int64_t end = pmb_cpu_smaller(begin + ((int64_t)1 << cpu->found.chunk_shift), cpu->found.record_count);
  uint32_t points = 0, triangles = 0;
  for (int64_t r = begin - PMB_BRICKS_AHEAD; r < end; ++r) {
    if (r + PMB_BRICKS_AHEAD < end && !cpu->is_cached) {
      prefetch_brick(cpu, &records[r + PMB_BRICKS_AHEAD]);
      for (size_t b = 0; b < sizeof(*records); b += 64) {
        __builtin_prefetch((const char *)&records[r + PMB_BRICKS_AHEAD] + b, 1);
      }
    }
    if (r < begin) {
      continue;
    }
    pmb_cpu_record *record = &records[r];
    box b;
    find_box(cpu, record, &b);
    if (classify_by_bits(cpu, &b, record)) {
      /* done */
    } else if (pmb_type_is_wide(cpu->volume->type)) {
      classify_f64(cpu, &b, scratch, record);
    } else {
      classify_f32(cpu, &b, scratch, record);
    }
    record->points_before = points;
    record->triangles_before = triangles;
    points += record->points;
    triangles += record->triangles;
  }
  ((pmb_sizes *)cpu->found.chunks.data)[i] = (pmb_sizes){ points, triangles };
}

/* What follows from the numbers of points and triangles alone, for a chunk at once; last: its last record. */
static void fill_chunk(const pmb_cpu *cpu, const pmb_sizes *before, const pmb_cpu_record *last)
{
  const pmb_mesh *mesh = cpu->mesh;
  const int64_t point = cpu->base.points + before->points, triangle = cpu->base.triangles + before->triangles;
  const int64_t triangles = (int64_t)last->triangles_before + last->triangles;
  if (mesh->scalars) {
    fill_scalars(cpu, point, (int64_t)last->points_before + last->points);
  }
  if (mesh->offsets) {
    fill_offsets(mesh, triangle, triangles);
  }
}

static void emit_chunk(pmb_cpu *cpu, int worker, size_t i)
{
  pmb_cpu_scratch *scratch = pmb_cpu_scratch_of(cpu, worker);
  const pmb_cpu_record *records = cpu->found.records.data;
  const pmb_sizes before = ((const pmb_sizes *)cpu->found.chunks.data)[i];
  const int64_t begin = (int64_t)i << cpu->found.chunk_shift;
  const int64_t end = pmb_cpu_smaller(begin + ((int64_t)1 << cpu->found.chunk_shift), cpu->found.record_count);
  const int wide = pmb_type_is_wide(cpu->volume->type);
  const int points = wants_points(cpu->mesh), triangles = wants_triangles(cpu->mesh);
  const int64_t last_triangle =
    cpu->base.triangles + before.triangles + records[end - 1].triangles_before + records[end - 1].triangles;
  brick_plan plans[2];
  brick_family families[2];
  for (int64_t r = begin - 1; r < end; ++r) {
    if (r + 1 < end && points) {
      plan_points(cpu, &records[r + 1], &plans[(r + 1) & 1]);
    }
    if (r + 1 < end && triangles) {
      find_family(cpu, &records[r + 1], &families[(r + 1) & 1]);
    }
    if (r < begin || (records[r].points == 0 && records[r].triangles == 0)) {
      continue;
    }
    const int64_t point = cpu->base.points + before.points + records[r].points_before;
    if (points && wide) {
      emit_points_f64(cpu, scratch, &records[r], &plans[r & 1], point);
    } else if (points) {
      emit_points_f32(cpu, scratch, &records[r], &plans[r & 1], point);
    }
    if (triangles && records[r].triangles) {
      const int64_t triangle = cpu->base.triangles + before.triangles + records[r].triangles_before;
      emit_triangles(cpu, scratch, &families[r & 1], triangle, last_triangle - triangle);
    }
  }
  fill_chunk(cpu, &before, &records[end - 1]);
}

static void summarize_block(pmb_cpu *cpu, size_t i)
{
  loops_of(cpu)->summarize(cpu, i);
}

static void select_count_chunk(pmb_cpu *cpu, size_t i)
{
  loops_of(cpu)->select_count(cpu, i);
}

static void select_write_chunk(pmb_cpu *cpu, size_t i)
{
  loops_of(cpu)->select_write(cpu, i);
}

const pmb_cpu_loops PMB_JOIN(pmb_cpu_loops_, PMB_CPU_PATH) = { PMB_TEXT(PMB_CPU_PATH), summarize_block,
  select_count_chunk, select_write_chunk, classify_chunk, emit_chunk };
