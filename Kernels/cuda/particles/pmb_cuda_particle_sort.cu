/* SPDX-License-Identifier: BSD-3-Clause
 * Pass sort: sorts the particles by cube, x fastest, then by their order in the input; finds where pieces of rows of cubes begin. */
#include <cub/device/device_radix_sort.cuh>

#include "cuda/particles/pmb_cuda_particles.cuh"

enum { THREADS = 256 };

static __device__ double read_or(const pmb_cuda_numbers &numbers, int64_t i, double other)
{
  return numbers.d_values ? pmb_cuda_number(numbers, i, 0) : other;
}

/* Writes the key of each particle's cube. Particles at positions that are not finite come last. */
static __global__ void keys_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i >= c.given) {
    return;
  }
  uint64_t cube[3];
  int finite = 1;
  for (int a = 0; a < 3; ++a) {
    const double place = pmb_cuda_number(c.positions, i, a);
    finite &= PMB_IS_FINITE(place);
    cube[a] = finite ? (uint64_t)(((int64_t)floor(place / c.spacing) - c.first[a]) >> c.shift) : 0;
  }
  const uint64_t along_y = (uint64_t)c.cubes[0], along_z = along_y * (uint64_t)c.cubes[1];
  c.d_keys[i] = finite ? cube[0] + along_y * cube[1] + along_z * cube[2] : along_z * (uint64_t)c.cubes[2];
  c.d_sorted[i] = (uint32_t)i;
}

/* Writes the sorted particles. */
static __global__ void fill_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread();
  if (i >= c.count) {
    return;
  }
  const int64_t index = c.d_sorted[i];
  pmb_cuda_particle p;
  for (int a = 0; a < 3; ++a) {
    const double at = pmb_cuda_number(c.positions, index, a) / c.spacing, cell = floor(at);
    p.cell[a] = (int32_t)((int64_t)cell - c.first[a]);
    p.fraction[a] = (float)(at - cell);
  }
  const double length = pmb_kernel_length(c.kernel, c.smoothing, read_or(c.radii, index, c.radius), c.spacing);
  const double mass = read_or(c.masses, index, 1);
  p.scale = (float)pmb_kernel_scale(c.kernel, length);
  p.mass = c.densities.d_values ? 1 : (float)mass;
  c.d_particles[i] = p;
  c.d_amounts[i] = pmb_kernel_amount(
    c.kernel, length, c.spacing, mass, read_or(c.densities, index, 0), read_or(c.weights, index, 1));
  if (c.varied) {
    c.d_reach2[i] = pmb_particle_reach2((float)pmb_kernel_reach(c.kernel, length, c.depth));
  }
}

/* Finds the first particle of each piece. */
static __global__ void pieces_kernel(const __grid_constant__ pmb_cuda_cloud c)
{
  const int64_t i = pmb_cuda_thread(), row = i / c.pieces, x = (i - row * c.pieces) << c.piece_shift;
  if (i <= c.cubes[1] * c.cubes[2] * c.pieces) {
    const uint64_t key = (uint64_t)row * (uint64_t)c.cubes[0] + (uint64_t)(x < c.cubes[0] ? x : c.cubes[0]);
    c.d_pieces[i] = pmb_cuda_lower_bound(c.d_keys, 0, (uint32_t)c.count, key);
  }
}

/* Cuts the rows into short pieces, but not into more than four per particle. Returns the number of all pieces, and one more. */
static int64_t cut_rows(pmb_cuda_cloud *c)
{
  const int64_t rows = c->cubes[1] * c->cubes[2];
  while (c->cubes[0] >> c->piece_shift > 0 && rows * ((c->cubes[0] >> c->piece_shift) + 1) > 4 * c->count) {
    ++c->piece_shift;
  }
  c->pieces = (c->cubes[0] >> c->piece_shift) + 1;
  return rows * c->pieces + 1;
}

/* Sorts keys and indices and sets the cloud's pointers to the sorted ones. */
static pmb_status sort_keys(pmb_cuda *cuda, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_buffers *b = &cuda->particles;
  uint64_t *d_keys = NULL;
  uint32_t *d_sorted = NULL;
  size_t bytes = 0;
  int bits = 1;
  while ((uint64_t)c->cubes[0] * (uint64_t)c->cubes[1] * (uint64_t)c->cubes[2] >> bits) {
    ++bits;
  }
  PMB_STEP(pmb_cuda_take(cuda, &b->sorted_keys, c->given, "the sorted particles", &d_keys));
  PMB_STEP(pmb_cuda_take(cuda, &b->sorted, c->given, "the sorted particles", &d_sorted));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceRadixSort::SortPairs(
      NULL, bytes, c->d_keys, d_keys, c->d_sorted, d_sorted, c->given, 0, bits, cuda->compute));
  PMB_STEP(pmb_cuda_reserve(cuda, &b->workspace, (int64_t)bytes, 1, "the sort"));
  PMB_CUDA_TRY(cuda->context,
    cub::DeviceRadixSort::SortPairs(
      b->workspace.d_data, bytes, c->d_keys, d_keys, c->d_sorted, d_sorted, c->given, 0, bits, cuda->compute));
  c->d_keys = d_keys;
  c->d_sorted = d_sorted;
  return PMB_OK;
}

pmb_status pmb_cuda_sort_particles(pmb_cuda *cuda, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_buffers *b = &cuda->particles;
  const char *what = "the sorted particles";
  const int64_t pieces = cut_rows(c);
  PMB_STEP(pmb_cuda_take(cuda, &b->keys, c->given, what, &c->d_keys));
  PMB_STEP(pmb_cuda_take(cuda, &b->indices, c->given, what, &c->d_sorted));
  PMB_STEP(pmb_cuda_take(cuda, &b->cloud, c->count, what, &c->d_particles));
  PMB_STEP(pmb_cuda_take(cuda, &b->amounts, c->count, what, &c->d_amounts));
  PMB_STEP(pmb_cuda_take(cuda, &b->reaches, c->varied ? c->count : 0, what, &c->d_reach2));
  PMB_STEP(pmb_cuda_take(cuda, &b->pieces, pieces, "rows of particles", &c->d_pieces));
  PMB_CUDA_TRY(
    cuda->context, pmb_cuda_launch(cuda, 0, keys_kernel, pmb_cuda_blocks(c->given, THREADS), THREADS, 0, *c));
  PMB_STEP(sort_keys(cuda, c));
  PMB_CUDA_TRY(
    cuda->context, pmb_cuda_launch(cuda, 0, fill_kernel, pmb_cuda_blocks(c->count, THREADS), THREADS, 0, *c));
  return pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, pieces_kernel, pmb_cuda_blocks(pieces, THREADS), THREADS, 0, *c), "sort of particles");
}
