/* SPDX-License-Identifier: BSD-3-Clause
 * The particles near a box of cells, in their sorted order. Included by files that are compiled once per instruction set. */
#ifndef PMB_PARTICLE_NEAR_H
#define PMB_PARTICLE_NEAR_H

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"
#include "cpu/vector/pmb_cpu_lanes.h"
#include "particles/pmb_particle_job.h"

/* Every sum over particles takes 16 places at a time. */
enum { PMB_LANES = 16 };

typedef struct near_search {
  const pmb_particles *p;
  const float *amounts; /* of each particle; NULL: all 1 */
  int32_t first[3], last[3];
  pmb_particle_near *near;
  void (*take)(
    void *arg); /* is called for `near` each time that it is full and at the end, with near->ends set then */
  void *arg;
  const uint32_t *indices; /* places in the input, for near->index; NULL: not wanted */
} near_search;

/* Begins a worker's list: what all particles have in common. */
static void begin_near(const pmb_particles *p, const float *amounts, pmb_particle_near *near)
{
  for (int i = 0; i < PMB_PARTICLE_NEAR; ++i) {
    near->scale[i] = p->scale;
    near->reach2[i] = p->reach2;
    near->amount[i] = amounts ? 0 : 1;
  }
}

/* Takes n particles from `begin` on. */
static inline void append(const near_search *s, int64_t begin, int n)
{
  const pmb_particles *p = s->p;
  pmb_particle_near *near = s->near;
  const int to = near->n;
  for (int a = 0; a < 3; ++a) {
    const int32_t *cells = (const int32_t *)p->cells[a].data + begin, first = s->first[a];
    const float *fractions = (const float *)p->fractions[a].data + begin;
    for (int i = 0; i < n; ++i) {
      near->cell[a][to + i] = (float)(cells[i] - first);
      near->fraction[a][to + i] = fractions[i];
    }
  }
  for (int i = 0; s->amounts && i < n; ++i) {
    near->amount[to + i] = s->amounts[begin + i];
  }
  for (int i = 0; s->indices && i < n; ++i) {
    near->index[to + i] = s->indices[begin + i];
  }
  for (int i = 0; p->request.radii.values && i < n; ++i) {
    near->scale[to + i] = ((const float *)p->scales.data)[begin + i];
    near->reach2[to + i] = pmb_particle_reach2(((const float *)p->reaches.data)[begin + i]);
  }
  near->n += n;
}

/* The first particle from `begin` to `end`, of one row, that is in this cube along x or in one further; quick if it is near. */
static inline int64_t find_in_row(const pmb_particles *p, int64_t begin, int64_t end, int64_t cube)
{
  const int32_t *cells = p->cells[0].data;
  const int64_t least = cube << p->shift;
  for (int64_t step = 8; begin + step < end && cells[begin + step] < least; step *= 2) {
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

/* Finds the rows of cubes near the box. Boxes with the same y and z share them. */
static void find_near_rows(const near_search *s)
{
  const pmb_particles *p = s->p;
  pmb_particle_near *near = s->near;
  const uint64_t *row_keys = p->row_keys.data;
  const uint32_t *begins = p->row_begins.data;
  const int64_t y0 = pmb_first_cube(p, s->first[1]), y1 = pmb_end_cube(p, 1, s->last[1]);
  const int64_t z0 = pmb_first_cube(p, s->first[2]), z1 = pmb_end_cube(p, 2, s->last[2]);
  near->rows = 0;
  for (int64_t z = z0, row = 0; z < z1; ++z) {
    row = pmb_find_key(row_keys, p->row_count, (uint64_t)(y0 + p->cubes[1] * z), row);
    for (; row < p->row_count && row_keys[row] < (uint64_t)(y1 + p->cubes[1] * z); ++row) {
      near->row_begin[near->rows] = begins[row];
      near->row_end[near->rows++] = begins[row + 1];
    }
  }
}

/* The particles near the box. The next box with the same y and z is further along x: the search goes on from there. */
static void search_near(const near_search *s, int same_rows)
{
  const pmb_particles *p = s->p;
  pmb_particle_near *near = s->near;
  const int64_t x0 = pmb_first_cube(p, s->first[0]), x1 = pmb_end_cube(p, 0, s->last[0]);
  near->n = near->ends = 0;
  near->batch = 0;
  if (!same_rows) {
    find_near_rows(s);
  }
  for (int r = 0; r < near->rows; ++r) {
    int64_t begin = find_in_row(p, near->row_begin[r], near->row_end[r], x0);
    const int64_t end = find_in_row(p, begin, near->row_end[r], x1);
    near->row_begin[r] = begin;
    while (begin < end) {
      const int64_t room = PMB_PARTICLE_NEAR - near->n;
      const int n = (int)pmb_cpu_smaller(end - begin, room);
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
  near->ends = 1;
  if (near->n > 0) {
    s->take(s->arg);
  }
}

/* Lists the particles near whose margin is 0 or more; returns how many. */
static inline int list_margins(pmb_particle_scratch *s, const uint8_t (*places)[8])
{
  const int n = s->near.n, words = (n + 31) / 32, all = (words + 15) / 16 * 16;
  for (int j = n; j < 32 * words; ++j) {
    s->margin[j] = -1;
  }
  for (int w = 0; w < words; ++w) {
    s->words[w] = at_least_float32(s->margin + 32 * w, 0);
  }
  for (int w = words; w < all; ++w) {
    s->words[w] = 0;
  }
  return lanes_list_words(places, s->words, all, s->list);
}

/* Lists the particles near that reach the box of 16 points. */
static inline int list_near_points(pmb_particle_scratch *s, const uint8_t (*places)[8],
  const float (*whole)[PMB_LANES], const float (*part)[PMB_LANES])
{
  const pmb_particle_near *near = &s->near;
  for (int j = 0; j < near->n; ++j) {
    s->margin[j] = near->reach2[j];
  }
  for (int a = 0; a < 3; ++a) {
    float low = INFINITY, high = -INFINITY;
    for (int l = 0; l < PMB_LANES; ++l) {
      const float at = whole[a][l] + part[a][l];
      low = at < low ? at : low;
      high = at > high ? at : high;
    }
    for (int j = 0; j < near->n; ++j) {
      const float x = near->cell[a][j] + near->fraction[a][j];
      const float gap = pmb_positive(low - x > x - high ? low - x : x - high);
      s->margin[j] -= gap * gap;
    }
  }
  return list_margins(s, places);
}

/* by_kernel[kernel](arg) calls work(arg, kernel): one function for each kernel. */
#define PMB_BY_KERNEL(work)            \
  static void by_spline(void *arg)     \
  {                                    \
    work(arg, PMB_KERNEL_SPLINE);      \
  }                                    \
  static void by_gaussian(void *arg)   \
  {                                    \
    work(arg, PMB_KERNEL_GAUSSIAN);    \
  }                                    \
  static void by_polynomial(void *arg) \
  {                                    \
    work(arg, PMB_KERNEL_POLYNOMIAL);  \
  }                                    \
  static void by_spheres(void *arg)    \
  {                                    \
    work(arg, PMB_KERNEL_SPHERES);     \
  }                                    \
  static void (*const by_kernel[])(void *) = { by_spline, by_gaussian, by_polynomial, by_spheres };

/* Takes the particles near the points of a brick, of which there are n. Begins their s->deepest. */
static inline void search_brick(const pmb_particles *p, const pmb_cpu_record *record, pmb_particle_scratch *s, int n,
  void (*take)(void *arg), void *arg, const uint32_t *indices)
{
  const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  near_search search = { p, p->amounts.data, { 0 }, { 0 }, &s->near, take, arg, indices };
  for (int a = 0; a < 3; ++a) {
    search.first[a] = record->position[a] * size[a];
    search.last[a] = search.first[a] + size[a];
  }
  for (int i = 0; i < n + PMB_LANES; ++i) {
    s->deepest[i] = -INFINITY;
  }
  begin_near(p, p->amounts.data, &s->near);
  search_near(&search, 0);
}

/* pmb_particle_attributes.c: interpolates the mesh's attributes to the n points of a brick, of which the first is `first`. Changes
 * s->place. */
void PMB_PATH_NAME(pmb_particle_interpolate)(const pmb_particles *p, pmb_particle_scratch *s,
  const pmb_cpu_record *record, const float *parameters, int n, int64_t first);

#endif
