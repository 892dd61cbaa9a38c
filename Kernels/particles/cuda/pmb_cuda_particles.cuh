/* SPDX-License-Identifier: BSD-3-Clause
 * Surfaces of particles on a GPU: types and functions that the passes share.
 *
 * Count: prepare, sort, densities, shapes and potential (pmb_cuda_particle_potential.cu), reach, classify. Emit: vertices, attributes, and
 * pass triangles of volumes. Each pass is in pmb_cuda_particle_<pass>.cu. Sums and their order are those of Kernels/particles.
 *
 * No samples are stored, only the inside bits of each brick that a kernel reaches. Pass vertices computes the samples at the ends
 * of crossed edges again. */
#ifndef PMB_CUDA_PARTICLES_CUH
#define PMB_CUDA_PARTICLES_CUH

#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "particles/pmb_particle_job.h"
}

enum {
  PMB_CUDA_NEAR_ROWS = 232, /* bound of the rows of cubes near a brick: 7 * 7 of 4 cells, 6 * 6 of each larger size */
  PMB_CUDA_BRICK_STEP = 128,       /* distance of the numbers of active bricks, see pmb_cuda_particle_classify.cu */
  PMB_CUDA_PARTICLE_ROWS = 1 << 26 /* most rows of cubes, and of bricks; the CPU takes larger grids */
};

/* An array of the input, on the device. */
typedef struct pmb_cuda_numbers {
  const void *d_values; /* NULL: not given */
  pmb_type type;
  int64_t stride;
} pmb_cuda_numbers;

/* A sorted particle. */
typedef struct alignas(16) pmb_cuda_particle {
  int32_t cell[3];
  float mass; /* while densities are computed */
  float fraction[3];
  float scale;
} pmb_cuda_particle;

/* The pieces of a grade: its rows of cubes along x, y + cubes[1] * z, are cut into `count` pieces of 2^shift cubes. */
typedef struct pmb_cuda_pieces {
  int64_t count;
  int64_t first; /* the grade's first in d_pieces */
  int shift;
} pmb_cuda_pieces;

/* Of a grade, found by pass sort. */
typedef struct pmb_cuda_grade_facts {
  uint32_t begin;  /* its first particle */
  uint32_t widest; /* the bits of its greatest reach */
} pmb_cuda_grade_facts;

/* The shape of a particle, see pmb_particle.h. */
typedef struct pmb_cuda_shape {
  float element[6];
} pmb_cuda_shape;

/* Active bricks, points and triangles of a brick. After the scan: of all bricks before it. */
typedef struct pmb_cuda_particle_sizes {
  int64_t active, points, triangles;
} pmb_cuda_particle_sizes;

/* The argument of kernels. Members without a comment are as in pmb_particles. */
typedef struct pmb_cuda_cloud {
  int kernel, varied, normals; /* varied: radii are given */
  int only_grows;              /* a partial sum never exceeds the sum */
  double spacing, smoothing, radius;
  double depth;              /* isovalue of spheres, in cells */
  double shift[3], scale[3]; /* points are written as (x - shift) * scale */
  int64_t bricks[3];
  const pmb_particle_span *d_spans[3];
  int64_t span_count[3];
  double before;
  int64_t layer_begin, layer_end; /* layers of bricks; layer_end gives only the points in its first plane */
  int reach;                      /* rounded up */
  float background, reach2;
  pmb_isovalue isovalue;
  int64_t given, count; /* particles in the input; those at finite positions */
  pmb_cuda_numbers positions, radii, masses, densities, weights;
  uint64_t *d_keys;
  uint32_t *d_sorted; /* indices in the input */
  pmb_cuda_particle *d_particles;
  float *d_amounts, *d_reach2; /* per particle; d_reach2 only if varied, see pmb_particle_reach2 */
  /* Of PMB_KERNEL_SHAPED, per particle: before it is sorted again, with reach = d_reach2; its shape. */
  pmb_particle_moved *d_moved;
  pmb_cuda_shape *d_shapes;
  int grade_count;
  int64_t cubes;                       /* of all grades */
  pmb_cuda_grade_facts *d_grade_facts; /* only if varied */
  pmb_particle_grade grades[PMB_PARTICLE_GRADES];
  pmb_cuda_pieces pieces[PMB_PARTICLE_GRADES];
  uint32_t *d_pieces;               /* the first particle of each piece, row by row; one more for each grade */
  uint64_t *d_bricks;               /* keys of the bricks that a kernel reaches, in order */
  int64_t *d_brick_rows;            /* bricks before each row of bricks, without the last rows; one more at the end */
  uint32_t brick_count, below;      /* below: bricks before layer_end */
  uint32_t *d_words;                /* inside bits of the 16 rows of each brick */
  pmb_cuda_particle_sizes *d_sizes; /* per brick, and one more for the totals */
  pmb_cuda_record *d_records;       /* per active brick, like the next three */
  uint64_t *d_active;               /* keys */
  uint32_t *d_brick;
  pmb_sizes *d_before;           /* with one more for the totals */
  uint2 *d_map;                  /* four per active brick */
  uint32_t active, active_below; /* active_below: before layer_end */
} pmb_cuda_cloud;

/* The context's part: buffers of the particles last counted. */
typedef struct pmb_cuda_particle_memory {
  pmb_cuda_buffer positions, radii, masses, densities, weights, facts, spans; /* the input */
  pmb_cuda_buffer keys, indices, sorted_keys, sorted, grade_facts, cloud, amounts, reaches, pieces, moved, shapes;
  pmb_cuda_buffer brick_rows, bricks, words, sizes, workspace;
  pmb_cuda_buffer records, active, brick, before, map, counters;
  const pmb_particles *of; /* the particles that they hold; NULL: none */
  uint32_t life;           /* of the context's buffers then */
} pmb_cuda_particle_memory;

/* NULL: no memory; not after the call's first use. */
pmb_cuda_particle_memory *pmb_cuda_memory_of_particles(pmb_cuda *cuda);

/* Interpolates an array of the particles, a pmb_cuda_cloud, to the points of a mesh. */
pmb_status pmb_cuda_particle_attribute(
  pmb_cuda *cuda, const pmb_cuda_surface *surface, const pmb_attribute *attribute, const void *d_in, void *d_out);

/* Launchers and host parts of the passes; they enqueue on cuda->compute. Prepare, sort, reach and classify wait for results. */
pmb_status pmb_cuda_prepare_particles(pmb_cuda *cuda, pmb_particles *p, const pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_sort_particles(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_reach_bricks(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_find_densities(pmb_cuda *cuda, const pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_find_shapes(pmb_cuda *cuda, pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_sort_moved(pmb_cuda *cuda, pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_find_potential(pmb_cuda *cuda, const pmb_cuda_cloud *cloud);
pmb_status pmb_cuda_classify_particles(pmb_cuda *cuda, pmb_cuda_cloud *cloud, pmb_cuda_particle_sizes *total);
pmb_status pmb_cuda_particle_vertices(pmb_cuda *cuda, const pmb_cuda_cloud *cloud, const pmb_cuda_output *output);

/* The number of blocks for n threads. */
static inline unsigned pmb_cuda_blocks(int64_t n, int threads)
{
  return (unsigned)((n + threads - 1) / threads);
}

/* The index of a thread in a launch of one dimension. */
static __device__ __forceinline__ int64_t pmb_cuda_thread(void)
{
  return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* A component of particle i. */
static __device__ __forceinline__ double pmb_cuda_number(const pmb_cuda_numbers &numbers, int64_t i, int component)
{
  const int64_t at = i * numbers.stride + component;
  switch (numbers.type) {
#define PMB_READ(NAME, sample, name, real) \
  case PMB_##NAME:                         \
    return (double)((const sample *)numbers.d_values)[at];
    PMB_SAMPLE_TYPES(PMB_READ)
#undef PMB_READ
  }
  return 0;
}

/* The index of the first of the ascending keys from begin to end that is not less than `key`, or `end`. */
static __device__ __forceinline__ uint32_t pmb_cuda_lower_bound(
  const uint64_t *d_keys, uint32_t begin, uint32_t end, uint64_t key)
{
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (d_keys[middle] < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/* Reserves an array of the cloud and points to it. */
template <class T>
static inline pmb_status pmb_cuda_take(
  pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, const char *what, T **d_array)
{
  PMB_STEP(pmb_cuda_reserve(cuda, buffer, count, sizeof(T), what));
  *d_array = (T *)buffer->d_data;
  return PMB_OK;
}

#endif
