/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the particles near a box of cells, in their sorted order. For files that are compiled once per instruction set. */
#ifndef PMB_PARTICLE_NEAR_H
#define PMB_PARTICLE_NEAR_H

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"
#include "cpu/vector/pmb_cpu_lanes.h"
#include "particles/pmb_particle_job.h"
#include "particles/pmb_particle_pack.h"

/* Sums over particles are computed for 16 places at a time. */
enum { PMB_LANES = 16 };

typedef struct near_search {
  const pmb_particles *p;
  const float *amounts; /* of each particle; NULL: all 1 */
  int32_t first[3], last[3];
  pmb_particle_near *near;
  void (*take)(
    void *arg); /* called whenever `near` is full, and at the end if it is not empty, then with near->ends = 1 */
  void *arg;
  const uint32_t *indices;  /* indices in the input, for near->index; NULL: not wanted */
  const float (*shapes)[6]; /* of each particle, for near->shape; NULL: not wanted */
  int reach; /* of all particles, in cells; 0: their own. For densities, where the summing particle's reach counts */
} near_search;

/* The shapes of the particles, or NULL. */
static inline const float (*shapes_of(const pmb_particles *p))[6]
{
  return p->kernel == PMB_KERNEL_SHAPED ? p->shapes.data : NULL;
}

/* Keeps those of the n <= 16 particles from `from` on that reach the box, and moves them together. Returns how many. */
static inline int keep_reaching(const near_search *s, int from, int n)
{
  pmb_particle_near *near = s->near;
  float margin[32];
  PMB_EACH_LANE (l) {
    float gap2 = 0;
    for (int a = 0; a < 3; ++a) {
      const float below = -near->place[a][from + l];
      const float above = near->place[a][from + l] - (float)(s->last[a] - s->first[a]);
      const float gap = pmb_positive(below > above ? below : above);
      gap2 += gap * gap;
    }
    margin[l] = near->reach2[from + l] - gap2;
    margin[16 + l] = -1;
  }
  const uint32_t bits = at_least_float32(margin, 0) & ((1u << n) - 1);
  float *arrays[] = { near->cell[0], near->cell[1], near->cell[2], near->fraction[0], near->fraction[1],
    near->fraction[2], near->place[0], near->place[1], near->place[2], near->scale, near->amount, near->reach2 };
  for (size_t i = 0; bits && i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
    lanes_pack_f32(arrays[i] + from, bits, arrays[i] + from);
  }
  int to = from;
  for (int i = 0; (s->indices || s->shapes) && i < n; ++i) {
    near->index[to] = near->index[from + i];
    memcpy(near->shape[to], near->shape[from + i], sizeof(near->shape[0]));
    to += bits >> i & 1;
  }
  return pmb_popcount(bits);
}

/* Appends n particles from `begin` on, 16 at a time. May write past the end of the list; the next call overwrites that. */
static inline void append(const near_search *s, int64_t begin, int n)
{
  const pmb_particles *p = s->p;
  pmb_particle_near *near = s->near;
  const int varied = p->request.radii.values != NULL && s->reach == 0;
  const float reach2 = s->reach > 0 ? pmb_particle_reach2((float)s->reach) : p->reach2;
  for (int i = 0; i < n; i += PMB_LANES) {
    const int to = near->n, some = n - i < PMB_LANES ? n - i : PMB_LANES;
    for (int a = 0; a < 3; ++a) {
      const int32_t *cells = (const int32_t *)p->cells[a].data + begin + i, first = s->first[a];
      const float *fractions = (const float *)p->fractions[a].data + begin + i;
      PMB_EACH_LANE (l) {
        near->cell[a][to + l] = (float)(cells[l] - first);
        near->fraction[a][to + l] = fractions[l];
        near->place[a][to + l] = near->cell[a][to + l] + near->fraction[a][to + l];
      }
    }
    PMB_EACH_LANE (l) {
      near->scale[to + l] = p->scale;
      near->reach2[to + l] = reach2;
    }
    if (varied) {
      const float *scales = (const float *)p->scales.data + begin + i;
      const float *reaches = (const float *)p->reaches.data + begin + i;
      PMB_EACH_LANE (l) {
        near->scale[to + l] = scales[l];
        near->reach2[to + l] = pmb_particle_reach2(reaches[l]);
      }
    }
    PMB_EACH_LANE (l) {
      near->amount[to + l] = 1;
    }
    if (s->amounts) {
      memcpy(near->amount + to, s->amounts + begin + i, PMB_LANES * sizeof(float));
    }
    if (s->indices) {
      memcpy(near->index + to, s->indices + begin + i, PMB_LANES * sizeof(uint32_t));
    }
    if (s->shapes) {
      memcpy(near->shape[to], s->shapes + begin + i, PMB_LANES * sizeof(near->shape[0]));
    }
    near->n += varied ? keep_reaching(s, to, some) : some;
  }
}

/* The first particle of a row, from `begin` to `end`, in the cube along x that begins with cell `least`, or in a later one. Fast
 * if it is close to `begin`. */
static inline int64_t find_in_row(const pmb_particles *p, int64_t begin, int64_t end, int64_t least)
{
  const int32_t *cells = p->cells[0].data;
  const int32_t below = (int32_t)(least < INT32_MAX ? least : INT32_MAX),
                left = (int32_t)pmb_smaller(end - begin, PMB_LANES);
  int before = 0; /* particles before the cube among the next 16 */
  PMB_EACH_LANE (l) {
    before += (cells[begin + l] < below) & (l < left);
  }
  if (before < PMB_LANES) {
    return begin + before;
  }
  begin += PMB_LANES;
  for (int64_t step = PMB_LANES; begin + step < end && cells[begin + step] < least; step *= 2) {
    begin += step;
  }
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (cells[middle] < least) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/* A place in the list of all rows of cubes near a box. */
typedef struct near_rows {
  int grade;
  int64_t layer; /* of cubes along z, counted from the first near one */
  int64_t row;   /* in p->row_keys, at or before the next near one */
} near_rows;

/* Lists the next rows of cubes near the box as far as there is room. Returns 0 at the end. Boxes with the same y and z share them. */
static int find_near_rows(const near_search *s, near_rows *at)
{
  const pmb_particles *p = s->p;
  pmb_particle_near *near = s->near;
  const uint64_t *row_keys = p->row_keys.data;
  const uint32_t *begins = p->row_begins.data;
  near->rows = 0;
  for (; at->grade < p->grade_count; ++at->grade, at->layer = 0) {
    const pmb_particle_grade *grade = p->grades + at->grade;
    const int reach = s->reach > 0 ? s->reach : grade->reach;
    const int64_t y0 = pmb_first_cube(grade, reach, s->first[1]), y1 = pmb_end_cube(grade, reach, 1, s->last[1]);
    const int64_t z0 = pmb_first_cube(grade, reach, s->first[2]), z1 = pmb_end_cube(grade, reach, 2, s->last[2]);
    for (; z0 + at->layer < z1; ++at->layer) {
      const int64_t along = grade->row + grade->cubes[1] * (z0 + at->layer);
      at->row = pmb_find_key(row_keys, p->row_count, (uint64_t)(along + y0), at->row);
      for (; at->row < p->row_count && row_keys[at->row] < (uint64_t)(along + y1); ++at->row) {
        if (near->rows == PMB_PARTICLE_ROWS) {
          return 1;
        }
        near->row_grade[near->rows] = grade;
        near->row_begin[near->rows] = begins[at->row];
        near->row_end[near->rows++] = begins[at->row + 1];
      }
    }
  }
  return 0;
}

/* Appends the particles near the box in the listed rows, and sets where the next box continues. */
static void search_rows(const near_search *s)
{
  const pmb_particles *p = s->p;
  pmb_particle_near *near = s->near;
  const pmb_particle_grade *grade = NULL;
  int64_t low = 0, high = 0; /* first cell of the first near cube, and of the one after the last */
  for (int r = 0; r < near->rows; ++r) {
    if (near->row_grade[r] != grade) {
      grade = near->row_grade[r];
      const int reach = s->reach > 0 ? s->reach : grade->reach;
      low = pmb_first_cube(grade, reach, s->first[0]) << grade->shift;
      high = pmb_end_cube(grade, reach, 0, s->last[0]) << grade->shift;
    }
    int64_t begin = find_in_row(p, near->row_begin[r], near->row_end[r], low);
    const int64_t end = find_in_row(p, begin, near->row_end[r], high);
    near->row_begin[r] = begin;
    while (begin < end) {
      const int64_t room = PMB_PARTICLE_NEAR - near->n;
      const int n = (int)pmb_smaller(end - begin, room);
      if (n == 0) {
        s->take(s->arg);
        ++near->batch;
        near->n = 0;
      } else {
        append(s, begin, n);
        begin += n;
      }
    }
  }
}

/* Finds the particles near the box. same_rows: y and z are those of the last box, and x is not less; resumes from there. */
static void search_near(const near_search *s, int same_rows)
{
  pmb_particle_near *near = s->near;
  near_rows at = { 0, 0, 0 };
  int more = 0;
  near->n = near->ends = near->batch = 0;
  if (!same_rows || !near->all_rows) {
    more = find_near_rows(s, &at);
    near->all_rows = !more;
  }
  search_rows(s);
  while (more) {
    more = find_near_rows(s, &at);
    search_rows(s);
  }
  near->ends = 1;
  if (near->n > 0) {
    s->take(s->arg);
  }
}

/* Sets the margins of n particles: `part` times their squared reach, minus the squared distance from a box. */
static inline void find_margins(pmb_particle_scratch *s, int n, const float (*place)[PMB_PARTICLE_ROOM],
  const float *reach2, float part, const float low[3], const float high[3])
{
  for (int i = 0; i < n; i += PMB_LANES) {
    PMB_EACH_LANE (l) {
      float gap2 = 0;
      for (int a = 0; a < 3; ++a) {
        const float below = low[a] - place[a][i + l], above = place[a][i + l] - high[a];
        const float gap = pmb_positive(below > above ? below : above);
        gap2 += gap * gap;
      }
      s->margin[i + l] = reach2[i + l] * part - gap2;
    }
  }
}

/* Lists those of n particles whose margin is at least 0. Returns how many. */
static inline int list_margins(pmb_particle_scratch *s, int n, const uint8_t (*places)[8])
{
#if defined(__AVX512VBMI2__)
  int count = 0;
  (void)places;
  for (int j = 0; j < n; j += 32) {
    const uint32_t all = n - j < 32 ? (1u << (n - j)) - 1 : UINT32_MAX;
    s->words[j / 32] = at_least_float32(s->margin + j, 0) & all;
    count += lanes_list(s->words[j / 32], (unsigned)j, s->list + count);
  }
  return count;
#else
  const int words = (n + 31) / 32, all = (words + 15) / 16 * 16;
  for (int w = 0; w < words; ++w) {
    s->words[w] = at_least_float32(s->margin + 32 * w, 0);
  }
  s->words[n / 32] &= (1u << n % 32) - 1; /* clears a word past those set if n is a multiple of 32 */
  for (int w = words; w < all; ++w) {
    s->words[w] = 0;
  }
  return lanes_list_words(places, s->words, all, s->list);
#endif
}

/* Copies those of n numbers that list_margins listed. */
static inline void copy_listed(const pmb_particle_scratch *s, int n, const float *from, float *to)
{
#if defined(__AVX512F__)
  for (int j = 0; j < n; j += 16) {
    const uint32_t bits = s->words[j / 32] >> j % 32 & 0xffff;
    lanes_pack_f32(from + j, bits, to);
    to += pmb_popcount(bits);
  }
#else
  int listed = 0;
  for (int j = 0; j < n; j += 32) {
    listed += pmb_popcount(s->words[j / 32]);
  }
  for (int i = 0; i < listed; ++i) {
    to[i] = from[s->list[i]];
  }
#endif
}

/* 16 points: coordinates in cells from the first cell of the search, and the sums of the kernels there. */
typedef struct near_points {
  pmb_particle_scratch *scratch;
  const uint8_t (*places)[8]; /* of pmb_cpu_tables */
  float whole[3][PMB_LANES], part[3][PMB_LANES], sum[PMB_LANES];
  float scale[PMB_LANES]; /* for densities: of the kernels around the points */
} near_points;

/* Lists the particles near that reach the bounding box of the points. Returns how many. */
static inline int list_near_points(near_points *b)
{
  pmb_particle_scratch *s = b->scratch;
  float low[3], high[3];
  for (int a = 0; a < 3; ++a) {
    low[a] = INFINITY;
    high[a] = -INFINITY;
    for (int l = 0; l < PMB_LANES; ++l) {
      const float at = b->whole[a][l] + b->part[a][l];
      low[a] = at < low[a] ? at : low[a];
      high[a] = at > high[a] ? at : high[a];
    }
  }
  find_margins(s, s->near.n, (const float(*)[PMB_PARTICLE_ROOM])s->near.place, s->near.reach2, 1, low, high);
  return list_margins(s, s->near.n, b->places);
}

/* Sets the points to the 16 of s->place from i on, and lists the particles near them. Returns how many. */
static inline int take_points(const pmb_particles *p, pmb_particle_scratch *s, int i, near_points *b)
{
  b->scratch = s;
  b->places = p->surface.tables->places;
  for (int a = 0; a < 3; ++a) {
    memcpy(b->whole[a], s->place[a][0] + i, sizeof(b->whole[a]));
    memcpy(b->part[a], s->place[a][1] + i, sizeof(b->part[a]));
  }
  return list_near_points(b);
}

/* The offset of point l from particle j. Without a loop: gcc at -O2 does not unroll it, and then vectorizes none around it. */
PMB_INLINE void near_offset(const near_points *b, int j, int l, float way[3])
{
  const pmb_particle_near *near = &b->scratch->near;
  way[0] = pmb_particle_offset(b->whole[0][l], b->part[0][l], near->cell[0][j], near->fraction[0][j]);
  way[1] = pmb_particle_offset(b->whole[1][l], b->part[1][l], near->cell[1][j], near->fraction[1][j]);
  way[2] = pmb_particle_offset(b->whole[2][l], b->part[2][l], near->cell[2][j], near->fraction[2][j]);
}

/* Multiplies an offset from particle j by the particle's shape. */
PMB_INLINE void near_apply_shape(const pmb_particle_near *near, int j, const int kernel, float way[3])
{
  if (kernel == PMB_KERNEL_SHAPED) {
    pmb_shape_apply(near->shape[j], way);
  }
}

/* The squared distance that counts for the kernel of particle j at an offset from it. */
PMB_INLINE float near_distance2(const pmb_particle_near *near, int j, const int kernel, float x, float y, float z)
{
  float way[3] = { x, y, z };
  near_apply_shape(near, j, kernel, way);
  return way[0] * way[0] + (way[1] * way[1] + way[2] * way[2]);
}

/* Adds the particles near to the sums. by_point: 1 uses the scales of the points, 0 those of the particles. */
PMB_INLINE void add_to_points(near_points *b, const int kernel, const int by_point)
{
  const pmb_particle_near *near = &b->scratch->near;
  const int n = list_near_points(b);
  for (int i = 0; i < n; ++i) {
    const int j = b->scratch->list[i];
    PMB_EACH_LANE (l) {
      float way[3];
      near_offset(b, j, l, way);
      const float distance2 = near_distance2(near, j, kernel, way[0], way[1], way[2]);
      b->sum[l] =
        pmb_kernel_add(kernel, b->sum[l], distance2, by_point ? b->scale[l] : near->scale[j], near->amount[j]);
    }
  }
}

/* Defines by_kernel[kernel](arg), which calls work(arg, kernel) with a constant kernel. */
#define PMB_DEFINE_BY(name, work)  \
  static void by_##name(void *arg) \
  {                                \
    work(arg, PMB_KERNEL_##name);  \
  }
#define PMB_INDEX(n) [n]
#define PMB_AT_KERNEL(name, prefix) PMB_INDEX(PMB_KERNEL_##name) = prefix##name,
#define PMB_BY_KERNEL(work)            \
  PMB_EACH_KERNEL(PMB_DEFINE_BY, work) \
  static void (*const by_kernel[])(void *) = { PMB_EACH_KERNEL(PMB_AT_KERNEL, by_) };

/* The points of a brick, at s->place, and what sums kernels there. */
typedef struct point_sum {
  const pmb_particles *p;
  pmb_particle_scratch *scratch;
  int points;
} point_sum;

/* Takes the particles near a brick's n points, or near places up to `more` cells from them. Resets s->deepest. */
static inline void search_brick(const pmb_particles *p, const pmb_cpu_record *record, pmb_particle_scratch *s, int n,
  int more, void (*take)(void *arg), void *arg, const uint32_t *indices)
{
  const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  near_search search = { p, p->amounts.data, { 0 }, { 0 }, &s->near, take, arg, indices, shapes_of(p), 0 };
  for (int a = 0; a < 3; ++a) {
    search.first[a] = record->position[a] * size[a] - more;
    search.last[a] = search.first[a] + size[a] + 2 * more;
  }
  for (int i = 0; i < n + PMB_LANES; ++i) {
    s->deepest[i] = -INFINITY;
  }
  search_near(&search, 0);
}

/* pmb_particle_attributes.c: interpolates the mesh's attributes to the n points of a brick. first: its first point in the mesh.
 * Changes s->place. */
void PMB_PATH_NAME(pmb_particle_interpolate)(const pmb_particles *p, pmb_particle_scratch *s,
  const pmb_cpu_record *record, const float *parameters, int n, int64_t first);

/* pmb_particle_differences.c: sets s->sum for the n points of a brick. */
void PMB_PATH_NAME(pmb_particle_differences)(
  const pmb_particles *p, pmb_particle_scratch *s, const pmb_cpu_record *record, int n);

#endif
