/* SPDX-License-Identifier: BSD-3-Clause
 * Pass sort: sorts the particles by cube, x fastest, then by their order in the input; finds where pieces of rows of cubes begin. */
#include <cub/device/device_radix_sort.cuh>

#include "particles/cuda/pmb_cuda_particles.cuh"

enum { THREADS = 256 };

static __device__ double read_or(const pmb_cuda_numbers &numbers, int64_t i, double other)
{
  return numbers.d_values ? pmb_cuda_number(numbers, i, 0) : other;
}

/* Length and reach of a particle's kernel in cells, see pmb_kernel_length and pmb_kernel_reach. */
static __device__ double length_of(const pmb_cuda_cloud &c, double radius)
{
  return pmb_kernel_length(c.kernel, c.smoothing, radius, c.spacing);
}
static __device__ double reach_of(const pmb_cuda_cloud &c, double length)
{
  return pmb_kernel_reach(c.kernel, length, c.depth);
}

/* The index of a cell in the grid along an axis. */
static __device__ __forceinline__ double cell_of(const pmb_cuda_cloud &c, int axis, double cell)
{
  return pmb_span_cell(c.d_spans[axis], c.span_count[axis], c.before, cell);
}

/* Writes the key of each particle's cube. Particles that do not fit into the grid come last. */
static __global__ void keys_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i >= c.given) {
    return;
  }
  int64_t cell[3];
  const double place[3] = { pmb_cuda_number(c.positions, i, 0), pmb_cuda_number(c.positions, i, 1),
    pmb_cuda_number(c.positions, i, 2) };
  const int fits = pmb_place_fits(place, c.spacing);
  for (int a = 0; a < 3; ++a) {
    cell[a] = fits ? (int64_t)cell_of(c, a, floor(place[a] / c.spacing)) : 0;
  }
  const float reach = c.grade_count > 1 ? (float)reach_of(c, length_of(c, pmb_cuda_number(c.radii, i, 0))) : 0;
  const pmb_particle_grade *grade = pmb_grade_of(c.grades, c.grade_count, reach);
  c.d_keys[i] = fits ? pmb_grade_key(grade, cell[0], cell[1], cell[2]) : (uint64_t)c.cubes;
  c.d_sorted[i] = (uint32_t)i;
}

/* Writes the sorted particles and finds the facts of grades. */
static __global__ void fill_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (c.varied && i < c.grade_count) {
    c.d_grade_facts[i].begin = pmb_cuda_lower_bound(c.d_keys, 0, (uint32_t)c.count, (uint64_t)c.grades[i].cube);
  }
  if (i >= c.count) {
    return;
  }
  const int64_t index = c.d_sorted[i];
  pmb_cuda_particle p;
  for (int a = 0; a < 3; ++a) {
    const double at = pmb_cuda_number(c.positions, index, a) / c.spacing, cell = floor(at);
    p.cell[a] = (int32_t)cell_of(c, a, cell);
    p.fraction[a] = (float)(at - cell);
  }
  const double radius = read_or(c.radii, index, c.radius), length = length_of(c, radius);
  const double unit = c.densities.d_values ? 1 : c.spacing;
  const double mass = read_or(c.masses, index, pmb_default_mass(c.varied, radius, unit));
  p.scale = (float)pmb_kernel_scale(c.kernel, length);
  p.mass = c.densities.d_values ? 1 : (float)mass;
  c.d_particles[i] = p;
  c.d_amounts[i] = pmb_kernel_amount(
    c.kernel, length, c.spacing, mass, read_or(c.densities, index, 0), read_or(c.weights, index, 1));
  if (c.varied) {
    const float reach = (float)reach_of(c, length);
    const uint32_t bits = __float_as_uint(reach);
    volatile uint32_t *widest = &c.d_grade_facts[pmb_grade_of(c.grades, c.grade_count, reach) - c.grades].widest;
    if (bits > *widest) { /* few particles are the widest so far */
      atomicMax((uint32_t *)widest, bits);
    }
    c.d_reach2[i] = pmb_particle_reach2(reach);
  }
}

/* Leaves out empty grades, see pmb_particles_set_grades. */
static pmb_status find_grades(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *c)
{
  pmb_cuda_grade_facts facts[PMB_PARTICLE_GRADES];
  float widest[PMB_PARTICLE_GRADES];
  const size_t bytes = (size_t)c->grade_count * sizeof(*facts);
  PMB_CUDA_TRY(cuda->context, cudaMemcpyAsync(facts, c->d_grade_facts, bytes, cudaMemcpyDeviceToHost, cuda->compute));
  PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "sort of particles"));
  for (int g = 0; g < c->grade_count; ++g) {
    p->grades[g].begin = facts[g].begin;
    p->grades[g].end = g + 1 < c->grade_count ? facts[g + 1].begin : c->count;
    memcpy(widest + g, &facts[g].widest, sizeof(*widest));
  }
  pmb_particles_set_grades(p, widest);
  memcpy(c->grades, p->grades, sizeof(c->grades));
  c->grade_count = p->grade_count;
  return PMB_OK;
}

/* Finds the first particle of each piece. */
static __global__ void pieces_kernel(const __grid_constant__ pmb_cuda_cloud c, int64_t pieces)
{
  const int64_t i = pmb_cuda_thread();
  int g = 0;
  while (g + 1 < c.grade_count && i >= c.pieces[g + 1].first) {
    ++g;
  }
  const pmb_particle_grade &grade = c.grades[g];
  const int64_t at = i - c.pieces[g].first, row = at / c.pieces[g].count;
  const int64_t x = (at - row * c.pieces[g].count) << c.pieces[g].shift, along = grade.cubes[0];
  if (i < pieces) {
    const int64_t key = grade.cube + row * along + (x < along ? x : along);
    c.d_pieces[i] = pmb_cuda_lower_bound(c.d_keys, (uint32_t)grade.begin, (uint32_t)grade.end, (uint64_t)key);
  }
}

/* Cuts the rows into short pieces, but not into more than four per particle, and finds their first particles. */
static pmb_status cut_rows(pmb_cuda *cuda, pmb_cuda_cloud *c)
{
  int64_t all = 0;
  for (int g = 0; g < c->grade_count; ++g) {
    const pmb_particle_grade *grade = c->grades + g;
    const int64_t rows = grade->cubes[1] * grade->cubes[2], most = 4 * (grade->end - grade->begin);
    int shift = 0;
    while (grade->cubes[0] >> shift > 0 && rows * ((grade->cubes[0] >> shift) + 1) > most) {
      ++shift;
    }
    c->pieces[g] = { (grade->cubes[0] >> shift) + 1, all, shift };
    all += rows * c->pieces[g].count + 1;
  }
  PMB_STEP(pmb_cuda_take(cuda, &pmb_cuda_memory_of_particles(cuda)->pieces, all, "rows of particles", &c->d_pieces));
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, pieces_kernel, pmb_cuda_blocks(all, THREADS), THREADS, 0, *c, all), "sort of particles");
}

/* Sorts n keys and indices and sets the cloud's pointers to the sorted ones. */
static pmb_status sort_keys(pmb_cuda *cuda, pmb_cuda_cloud *c, int64_t n)
{
  pmb_cuda_particle_memory *b = pmb_cuda_memory_of_particles(cuda);
  uint64_t *d_keys = NULL;
  uint32_t *d_sorted = NULL;
  size_t bytes = 0;
  int bits = 1;
  while (c->cubes >> bits) {
    ++bits;
  }
  PMB_STEP(pmb_cuda_take(cuda, &b->sorted_keys, n, "the sorted particles", &d_keys));
  PMB_STEP(pmb_cuda_take(cuda, &b->sorted, n, "the sorted particles", &d_sorted));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceRadixSort::SortPairs(
      NULL, bytes, c->d_keys, d_keys, c->d_sorted, d_sorted, n, 0, bits, cuda->compute));
  PMB_STEP(pmb_cuda_reserve(cuda, &b->workspace, (int64_t)bytes, 1, "the sort"));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceRadixSort::SortPairs(
      b->workspace.d_data, bytes, c->d_keys, d_keys, c->d_sorted, d_sorted, n, 0, bits, cuda->compute));
  c->d_keys = d_keys;
  c->d_sorted = d_sorted;
  return PMB_OK;
}

pmb_status pmb_cuda_sort_particles(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_memory *b = pmb_cuda_memory_of_particles(cuda);
  const char *what = "the sorted particles";
  PMB_STEP(pmb_cuda_take(cuda, &b->keys, c->given, what, &c->d_keys));
  PMB_STEP(pmb_cuda_take(cuda, &b->indices, c->given, what, &c->d_sorted));
  PMB_STEP(pmb_cuda_take(cuda, &b->cloud, c->count, what, &c->d_particles));
  PMB_STEP(pmb_cuda_take(cuda, &b->amounts, c->count, what, &c->d_amounts));
  PMB_STEP(pmb_cuda_take(cuda, &b->reaches, c->varied ? c->count : 0, what, &c->d_reach2));
  if (c->varied) {
    PMB_STEP(pmb_cuda_take(cuda, &b->grade_facts, PMB_PARTICLE_GRADES, what, &c->d_grade_facts));
    PMB_CUDA_TRY(cuda->context,
      cudaMemsetAsync(c->d_grade_facts, 0, PMB_PARTICLE_GRADES * sizeof(*c->d_grade_facts), cuda->compute));
  }
  PMB_CUDA_TRY(
    cuda->context, pmb_cuda_launch(cuda, 0, keys_kernel, pmb_cuda_blocks(c->given, THREADS), THREADS, 0, *c));
  PMB_STEP(sort_keys(cuda, c, c->given));
  PMB_CUDA_TRY(
    cuda->context, pmb_cuda_launch(cuda, 0, fill_kernel, pmb_cuda_blocks(c->count, THREADS), THREADS, 0, *c));
  if (c->varied) {
    PMB_STEP(find_grades(cuda, p, c));
  }
  return cut_rows(cuda, c);
}

/* ---- sort again after pass shapes ---- */

static __global__ void moved_keys_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i < c.count) {
    const int32_t *cell = c.d_moved[i].cell;
    c.d_keys[i] = pmb_grade_key(pmb_grade_at(c.grades, c.grade_count, i), cell[0], cell[1], cell[2]);
    c.d_sorted[i] = (uint32_t)i;
  }
}

/* Writes the sorted particles. c.d_sorted: where each was before; becomes its index in the input. */
static __global__ void fill_moved_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i < c.count) {
    const pmb_particle_moved from = c.d_moved[c.d_sorted[i]];
    c.d_particles[i] = { { from.cell[0], from.cell[1], from.cell[2] }, 1,
      { from.fraction[0], from.fraction[1], from.fraction[2] }, from.scale };
    for (int k = 0; k < 6; ++k) {
      c.d_shapes[i].element[k] = from.shape[k];
    }
    c.d_amounts[i] = from.amount;
    if (c.varied) {
      c.d_reach2[i] = from.reach;
    }
    c.d_sorted[i] = from.index;
  }
}

pmb_status pmb_cuda_sort_moved(pmb_cuda *cuda, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_memory *b = pmb_cuda_memory_of_particles(cuda);
  const unsigned blocks = pmb_cuda_blocks(c->count, THREADS);
  PMB_STEP(pmb_cuda_take(cuda, &b->shapes, c->count, "the particles' shapes", &c->d_shapes));
  c->d_keys = (uint64_t *)b->keys.d_data;
  c->d_sorted = (uint32_t *)b->indices.d_data;
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, moved_keys_kernel, blocks, THREADS, 0, *c));
  PMB_STEP(sort_keys(cuda, c, c->count));
  PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, fill_moved_kernel, blocks, THREADS, 0, *c));
  return cut_rows(cuda, c);
}
