/* SPDX-License-Identifier: BSD-3-Clause
 * What the passes of pmb_particles share.
 *
 * Count: prepare and sort (pmb_particle_sort.c), reach, densities, potential, classify (a file each). Emit: pmb_particle_emit.c,
 * pmb_particle_differences.c, pmb_particle_attributes.c. Sample: prepare, sort, densities, pmb_particle_sample.c. From densities on they are compiled once per
 * instruction set. Classify and the triangles are the CPU backend's.
 *
 * Cells and samples are counted from the grid's first sample, bricks from the first brick. */
#ifndef PMB_PARTICLE_JOB_H
#define PMB_PARTICLE_JOB_H

#include <string.h>

#include "cpu/pmb_cpu.h"
#include "particles/pmb_particles.h"
#include "shared/pmb_particle.h"

enum {
  PMB_PARTICLE_CHUNK = 4096,      /* particles in a unit of work of prepare and sort */
  PMB_PARTICLE_DENSITIES = 256,   /* of densities */
  PMB_PARTICLE_BRICKS = 8,        /* bricks, of the potential */
  PMB_PARTICLE_RECORDS_SHIFT = 4, /* records, of classify and emit, as a power of 2 */
  PMB_PARTICLE_GROUP = 4096,      /* least bricks whose samples are held at the same time */
  PMB_PARTICLE_NEAR = 4096,       /* particles that are taken together, a multiple of 512 */
  PMB_PARTICLE_ROOM = PMB_PARTICLE_NEAR + 64,
  PMB_PARTICLE_TAIL = 16,   /* zeros behind the sorted particles: loops take 16 at a time */
  PMB_PARTICLE_COLUMNS = 8, /* components of attributes that are interpolated together */
  PMB_PARTICLE_ROWS = 128,  /* more rows of cubes than are near a brick: a cube's edge is half of the reach or more */
  PMB_BRICK_SAMPLES = PMB_BRICK_X * PMB_BRICK_ROWS,
  PMB_TILE_ROW = PMB_BRICK_X + 4, /* floats from one row of a brick and its halo to the next */
  PMB_TILE_SAMPLES = 25 * PMB_TILE_ROW
};

/* What is known of the 32 tiles of 4 x 2 x 2 samples of a brick: bit x + 8 * (y + 2 * z). */
typedef struct pmb_particle_sides {
  uint32_t inside;  /* some samples are inside */
  uint32_t outside; /* some are not */
  uint32_t exact;   /* the samples are computed; those of the others are all on one side, and not set */
  uint32_t wanted;  /* not exact, and a sample is at an edge that the surface crosses */
  uint32_t mixed;   /* the samples of the brick or its halo may be on both sides */
} pmb_particle_sides;

/* Tiles that are not exact beside others: the surface is between tiles with one of these and `inside` ones there. */
static inline uint32_t pmb_particle_wanted(const pmb_particle_sides *s, uint32_t inside, uint32_t outside)
{
  return ((inside & s->outside) | (outside & s->inside)) & ~s->exact;
}

/* Particles near a box of samples. */
typedef struct pmb_particle_near {
  int n;
  int batch, ends; /* how many lists were before for the same box; this is the last one */
  int rows;        /* of cubes near the box, and what is left of them */
  int64_t row_begin[PMB_PARTICLE_ROWS], row_end[PMB_PARTICLE_ROWS];
  /* Cells are counted from the box's first sample. place: cell + fraction. Loops may go on to the next multiple of 16. */
  float cell[3][PMB_PARTICLE_ROOM], fraction[3][PMB_PARTICLE_ROOM], place[3][PMB_PARTICLE_ROOM];
  float scale[PMB_PARTICLE_ROOM], amount[PMB_PARTICLE_ROOM], reach2[PMB_PARTICLE_ROOM];
  uint32_t index[PMB_PARTICLE_ROOM]; /* places in the input, if the search asks for them */
} pmb_particle_near;

/* Those of them that reach a region of a brick. */
typedef struct pmb_particle_region {
  int n;
  uint16_t from[PMB_PARTICLE_ROOM]; /* their places in pmb_particle_near */
  float place[3][PMB_PARTICLE_ROOM], amount[PMB_PARTICLE_ROOM];
  float own_scale[PMB_PARTICLE_ROOM], own_reach2[PMB_PARTICLE_ROOM]; /* where radii differ */
  const float *scale, *reach2;
  int core;
  float core_place[3][PMB_PARTICLE_ROOM], core_scale[PMB_PARTICLE_ROOM], core_amount[PMB_PARTICLE_ROOM];
} pmb_particle_region;

/* A worker's memory. */
typedef struct pmb_particle_scratch {
  pmb_particle_near near;
  pmb_particle_region region;
  float samples[PMB_BRICK_SAMPLES]; /* of the tiles of a brick */
  float margin[PMB_PARTICLE_ROOM];  /* reach2 less the squared distance from a box */
  uint32_t words[PMB_PARTICLE_ROOM / 32];
  uint16_t list[PMB_PARTICLE_ROOM]; /* particles that reach the box */
  PMB_ALIGNAS(64) float tile[PMB_TILE_SAMPLES + 64];
  float place[3][2][PMB_BRICK_MAX_POINTS + 16];   /* points of a brick: whole number and part */
  float sum[3][PMB_BRICK_MAX_POINTS + 16];        /* their gradients */
  float deepest[PMB_BRICK_MAX_POINTS + 16];       /* of spheres */
  float around[2][27][PMB_BRICK_MAX_POINTS + 16]; /* the potential around the ends of the points' edges */
  uint8_t axis[PMB_BRICK_MAX_POINTS + 16];
  /* Of attributes; column 0 is 1 for each particle. */
  double value[PMB_PARTICLE_COLUMNS + 1][PMB_PARTICLE_NEAR];         /* of the particles near */
  double total[PMB_PARTICLE_COLUMNS + 1][PMB_BRICK_MAX_POINTS + 16]; /* of the points, with weights */
  float weight[PMB_PARTICLE_NEAR][16];                               /* of the list's particles at 16 points */
  pmb_cpu cpu;                                                       /* for a brick by itself */
  pmb_volume volume;
} pmb_particle_scratch;

struct pmb_particles {
  pmb_context *context;
  const pmb_cpu_loops *loops;
  pmb_particle_request request; /* with defaults filled in */
  int counted;
  int on_device; /* the GPU has counted */
  pmb_particle_sizes sizes;

  /* The grid. */
  int64_t first[3];  /* index of its first sample, which is at first * spacing */
  int64_t bricks[3]; /* a brick without a sample is at each upper end */
  int shift;         /* particles are sorted into cubes of 2^shift cells */
  int64_t cubes[3];
  int64_t layer_begin, layer_end; /* layers of bricks to emit; of the next one the points that they share with it */
  double reach;                   /* the greatest, in cells */
  float reach2;                   /* see pmb_particle_reach2 */
  pmb_isovalue isovalue;          /* of spheres in cells */
  float background;               /* of samples that no kernel reaches */
  float scale;                    /* where all particles have the same radius */

  /* The particles, sorted by cube, x fastest, then by their order in the input. */
  int64_t count;
  int all_add;      /* no weight is negative, and the kernel is added: a part of the sum is not more than the sum */
  pmb_buffer facts; /* per chunk; after prepare `kept` are those before the chunk */
  int prepared;     /* the grid is known */
  pmb_buffer keys[2], indices[2]; /* cube, uint64_t, and place in the input, uint32_t; twice for sorting */
  const uint32_t *sorted;         /* the one of `indices` with the result */
  pmb_buffer histograms;
  pmb_buffer cells[3];                 /* int32_t */
  pmb_buffer fractions[3];             /* float */
  pmb_buffer scales, amounts, reaches; /* float; scales and reaches only with radii */
  pmb_buffer masses;                   /* float, while densities are computed */
  pmb_buffer row_keys,
    row_begins; /* rows of cubes with particles: y + cubes[1] * z; their first particle, uint32_t */
  int64_t row_count;

  /* Bricks that a kernel reaches, in order: x + bricks[0] * (y + bricks[1] * z). */
  pmb_buffer layers, layer_begins; /* bricks of equal z: z, int64_t; first brick */
  int64_t layer_count;
  pmb_buffer bits; /* per worker */
  pmb_buffer bricks_reached;
  int64_t brick_count;

  /* Samples, of each brick those of its exact tiles, and sides of the bricks from window_begin on. */
  pmb_buffer samples, sides, unsure; /* unsure: places of bricks with half rows that are wanted */
  int64_t unsure_count;
  int64_t window_begin, window_end, potential_begin; /* those from potential_begin on are new */

  /* Active bricks: records of the CPU backend, their keys, and where their points are on the edges, negative where the upper
   * sample is inside. */
  pmb_buffer active, parameters, candidates;
  int64_t record_count, group_begin; /* the group's first record */
  int64_t group_end;                 /* after the group's last brick */
  int64_t parameter_count;
  const pmb_particle_image *image; /* to fill */
  pmb_cpu cpu;                     /* records and chunks for pass triangles */
  pmb_volume volume;
  pmb_buffer scratch, cpu_scratch; /* per worker */
  pmb_buffer cloud;                /* pmb_cuda_cloud */
};

static inline pmb_particle_scratch *pmb_particle_scratch_of(pmb_particles *p, int worker)
{
  return (pmb_particle_scratch *)p->scratch.data + worker;
}

/* The first of `count` ascending keys from `from` on that is not less than `key`; quick if it is near. */
static inline int64_t pmb_find_key(const uint64_t *keys, int64_t count, uint64_t key, int64_t from)
{
  int64_t step = 1;
  if (from >= count || keys[from] >= key) {
    return from;
  }
  for (; from + step < count && keys[from + step] < key; step *= 2) {
    from += step;
  }
  int64_t end = from + step < count ? from + step : count;
  while (end - from > 1) {
    const int64_t middle = from + (end - from) / 2;
    *(keys[middle] < key ? &from : &end) = middle;
  }
  return end;
}

/* Cubes along an axis that reach samples low to high: from low to high - 1 of what this returns in *end. */
static inline int64_t pmb_first_cube(const pmb_particles *p, int64_t low)
{
  const int64_t first = low - (int64_t)ceil(p->reach);
  return first < 0 ? 0 : first >> p->shift;
}
static inline int64_t pmb_end_cube(const pmb_particles *p, int axis, int64_t high)
{
  const int64_t end = ((high + (int64_t)ceil(p->reach)) >> p->shift) + 1;
  return end < p->cubes[axis] ? end : p->cubes[axis];
}

/* Places of a reached brick and of those above it, or -1: bit 0 of d is one further in x, bit 1 in y, bit 2 in z. */
static inline void pmb_find_upper(
  const pmb_particles *p, const uint64_t *keys, int64_t count, int64_t at, int64_t upper[8])
{
  const uint64_t along_y = (uint64_t)p->bricks[0], along_z = along_y * (uint64_t)p->bricks[1];
  const uint64_t key = keys[at];
  for (int d = 0; d < 8; ++d) {
    const uint64_t wanted = key + (uint64_t)(d & 1) + (d & 2 ? along_y : 0) + (d & 4 ? along_z : 0);
    at = pmb_find_key(keys, count, wanted, at);
    upper[d] = at < count && keys[at] == wanted ? at : -1;
  }
}

/* pmb_particle_request.c: the request with its defaults; PMB_OK or PMB_INVALID. */
pmb_status pmb_particles_check(pmb_particles *p, const pmb_particle_request *request);

/* Checks the numbers of the particles; finds their bounds, p->count and p->reach. */
pmb_status pmb_particles_bounds(pmb_particles *p, pmb_particle_bounds *bounds);

/* The passes of count, in their order. Prepare fills the facts and finds the grid from them; a GPU does the former. */
pmb_status pmb_particles_prepare(pmb_particles *p);
pmb_status pmb_particles_reserve_facts(pmb_particles *p);
pmb_status pmb_particles_find_grid(pmb_particles *p);
pmb_status pmb_particles_sort(pmb_particles *p);
pmb_status pmb_particles_reach(pmb_particles *p);

/* Element i * stride + c for c < components of n particles from `first` on, or of one, as doubles. */
void pmb_particles_read(const pmb_particle_array *array, int components, int64_t first, int64_t n, double *out);

/* Fails if the limit allows fewer bricks than this. PMB_OK or PMB_TOO_LARGE. */
pmb_status pmb_particles_check_bricks(pmb_particles *p, double bricks);

/* Runs a loop over chunks that covers [begin, end) of the call. PMB_OK or PMB_ABORTED. */
pmb_status pmb_particles_run(pmb_particles *p, int64_t chunks, pmb_body *loop, double begin, double end);

/* Reserves memory for the call; PMB_OK or PMB_OUT_OF_MEMORY. */
pmb_status pmb_particles_reserve(pmb_particles *p, pmb_buffer *buffer, int64_t count, size_t size, const char *what);

#endif
