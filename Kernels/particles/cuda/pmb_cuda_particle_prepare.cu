/* SPDX-License-Identifier: BSD-3-Clause
 * Pass prepare: finds the bounds of the grid and numbers that are not allowed; a block per chunk of particles. */
#include "particles/cuda/pmb_cuda_particles.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
  facts_kernel(const __grid_constant__ pmb_cuda_cloud c, pmb_particle_facts *d_facts)
{
  __shared__ pmb_particle_facts all[THREADS];
  const pmb_cuda_numbers *const arrays[PMB_PARTICLE_NUMBERS] = { &c.radii, &c.masses, &c.densities, &c.weights };
  const int64_t first = (int64_t)blockIdx.x * PMB_PARTICLE_CHUNK;
  const int64_t end = first + PMB_PARTICLE_CHUNK < c.given ? first + PMB_PARTICLE_CHUNK : c.given;
  pmb_particle_facts mine;
  pmb_begin_facts(&mine);
  for (int64_t i = first + threadIdx.x; i < end; i += THREADS) {
    const double place[3] = { pmb_cuda_number(c.positions, i, 0), pmb_cuda_number(c.positions, i, 1),
      pmb_cuda_number(c.positions, i, 2) };
    const int kept = pmb_add_place(&mine, place, c.spacing);
#pragma unroll
    for (int a = 0; kept && a < PMB_PARTICLE_NUMBERS; ++a) {
      if (arrays[a]->d_values) {
        const double number = pmb_cuda_number(*arrays[a], i, 0);
        pmb_add_number(&mine, a, number, i);
        if (a == PMB_RADII) {
          const double length = pmb_kernel_length(c.kernel, c.smoothing, number, c.spacing);
          mine.reached += pmb_samples_reached(pmb_kernel_reach(c.kernel, length, c.depth));
        }
      }
    }
  }
  all[threadIdx.x] = mine;
  for (unsigned n = THREADS / 2; n > 0; n /= 2) {
    __syncthreads();
    if (threadIdx.x < n) {
      pmb_merge_facts(&all[threadIdx.x], &all[threadIdx.x + n]);
    }
  }
  if (threadIdx.x == 0) {
    d_facts[blockIdx.x] = all[0];
  }
}

pmb_status pmb_cuda_prepare_particles(pmb_cuda *cuda, pmb_particles *p, const pmb_cuda_cloud *c)
{
  const unsigned chunks = pmb_cuda_blocks(c->given, PMB_PARTICLE_CHUNK);
  pmb_particle_facts *d_facts;
  PMB_STEP(pmb_reserve(p->context, &p->facts, chunks, sizeof(pmb_particle_facts), "chunks"));
  if (chunks > 0) {
    PMB_STEP(pmb_cuda_take(cuda, &pmb_cuda_memory_of_particles(cuda)->facts, chunks, "the particles", &d_facts));
    PMB_CUDA_TRY(cuda->context, pmb_cuda_launch(cuda, 0, facts_kernel, chunks, THREADS, 0, *c, d_facts));
    PMB_CUDA_TRY(cuda->context,
      cudaMemcpyAsync(p->facts.data, d_facts, chunks * sizeof(*d_facts), cudaMemcpyDeviceToHost, cuda->compute));
    PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "prepare of particles"));
  }
  return pmb_particles_find_grid(p);
}
