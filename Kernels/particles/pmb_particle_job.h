/* SPDX-License-Identifier: BSD-3-Clause
 * Types and functions that the passes of pmb_particles share.
 *
 * Count: prepare, sort, densities, shapes, reach, potential, classify (a file each). Emit:
 * pmb_particle_emit.c, pmb_particle_differences.c, pmb_particle_attributes.c. Sample: prepare, sort, densities, shapes,
 * pmb_particle_sample.c. All but prepare, sort and reach are compiled once per instruction set. Classify and triangles call the
 * CPU backend's passes.
 *
 * Indices of cells and samples count from the grid's first sample, those of bricks from the first brick. */
#ifndef PMB_PARTICLE_JOB_H
#define PMB_PARTICLE_JOB_H

#include <string.h>

#include "cpu/pmb_cpu.h"
#include "particles/pmb_particles.h"
#include "shared/pmb_particle.h"

enum {
  PMB_PARTICLE_CHUNK = 4096,      /* particles per chunk of prepare and sort */
  PMB_PARTICLE_DENSITIES = 256,   /* particles per chunk of densities */
  PMB_PARTICLE_BRICKS = 8,        /* bricks per chunk of potential */
  PMB_PARTICLE_RECORDS_SHIFT = 4, /* records per chunk of classify and emit, as a power of 2 */
  PMB_PARTICLE_GROUP = 4096,      /* most bricks of a group of layers, unless one layer has more */
  PMB_PARTICLE_NEAR = 4096,       /* most particles in pmb_particle_near, a multiple of 512 */
  PMB_PARTICLE_ROOM = PMB_PARTICLE_NEAR + 64,
  PMB_PARTICLE_TAIL = 16,         /* zeros after the sorted particles: loops read 16 at a time */
  PMB_PARTICLE_COLUMNS = 8,       /* components of attributes that are interpolated together */
  PMB_PARTICLE_ROWS = 256,        /* most rows of cubes in pmb_particle_near, more than are near a brick */
  PMB_TILE_ROW = PMB_BRICK_X + 4, /* stride of the rows of a brick and its halo */
  PMB_TILE_SAMPLES = 25 * PMB_TILE_ROW
};

/* The state of a brick's 32 tiles of 4 x 2 x 2 samples: bit x + 8 * (y + 2 * z). */
typedef struct pmb_particle_sides {
  uint32_t inside;  /* some sample of the tile is inside */
  uint32_t outside; /* some sample of the tile is outside */
  uint32_t exact;   /* the samples are computed; those of any other tile are all on one side and not stored */
  uint32_t wanted;  /* not exact, but one of its samples ends an edge that the surface crosses */
  uint32_t mixed;   /* not a bit per tile: the samples of the brick and its halo may be on both sides */
} pmb_particle_sides;

/* The tiles to compute: those that are not exact and on the other side of a neighbour. inside, outside: the neighbours' sides. */
static inline uint32_t pmb_particle_wanted(const pmb_particle_sides *s, uint32_t inside, uint32_t outside)
{
  return ((inside & s->outside) | (outside & s->inside)) & ~s->exact;
}

/* Particles near a box of samples. */
typedef struct pmb_particle_near {
  int n;
  int batch, ends; /* batch: number of earlier lists of the same box; ends: 1 for the last list */
  int rows;        /* rows of cubes near the box, their grades, and the particles left in each */
  const pmb_particle_grade *row_grade[PMB_PARTICLE_ROWS];
  int64_t row_begin[PMB_PARTICLE_ROWS], row_end[PMB_PARTICLE_ROWS];
  int all_rows; /* 1: there was room for all */
  /* Cells count from the box's first sample. place: cell + fraction. Loops may read on to the next multiple of 16. */
  float cell[3][PMB_PARTICLE_ROOM], fraction[3][PMB_PARTICLE_ROOM], place[3][PMB_PARTICLE_ROOM];
  float scale[PMB_PARTICLE_ROOM], amount[PMB_PARTICLE_ROOM], reach2[PMB_PARTICLE_ROOM];
  float shape[PMB_PARTICLE_ROOM][6]; /* of PMB_KERNEL_SHAPED */
  uint32_t index[PMB_PARTICLE_ROOM]; /* indices in the input, if the search asks for them */
} pmb_particle_near;

/* The particles near that reach a region of a brick. */
typedef struct pmb_particle_region {
  int n;
  uint16_t from[PMB_PARTICLE_ROOM]; /* their indices in pmb_particle_near */
  float place[3][PMB_PARTICLE_ROOM], amount[PMB_PARTICLE_ROOM];
  float own_scale[PMB_PARTICLE_ROOM], own_reach2[PMB_PARTICLE_ROOM]; /* used if radii differ */
  const float *scale, *reach2;
  int core; /* particles close to the region, see take_core */
  float core_place[3][PMB_PARTICLE_ROOM], core_scale[PMB_PARTICLE_ROOM], core_amount[PMB_PARTICLE_ROOM];
  float core_shape[6][PMB_PARTICLE_ROOM];
} pmb_particle_region;

/* A particle after pass shapes, before it is sorted again. */
typedef struct pmb_particle_moved {
  int32_t cell[3];
  float fraction[3], shape[6], amount, scale, reach;
  uint32_t index; /* in the input */
} pmb_particle_moved;

/* Memory of a worker. */
typedef struct pmb_particle_scratch {
  pmb_particle_near near;
  pmb_particle_region region;
  float samples[PMB_BRICK_SAMPLES]; /* of the tiles of a brick */
  float margin[PMB_PARTICLE_ROOM];  /* reach2 minus the squared distance from a box */
  uint32_t words[PMB_PARTICLE_ROOM / 32];
  uint16_t list[PMB_PARTICLE_ROOM]; /* particles that reach the box */
  PMB_ALIGNAS(64) float tile[PMB_TILE_SAMPLES + 64];
  float place[3][2][PMB_BRICK_MAX_POINTS + 16];   /* points of a brick: whole number and fraction */
  float sum[3][PMB_BRICK_MAX_POINTS + 16];        /* their gradients */
  float deepest[PMB_BRICK_MAX_POINTS + 16];       /* their greatest depth in a sphere so far */
  float around[2][27][PMB_BRICK_MAX_POINTS + 16]; /* the potential around the ends of the points' edges */
  uint8_t axis[PMB_BRICK_MAX_POINTS + 16];
  /* For attributes; column 0 is 1 for each particle. */
  double value[PMB_PARTICLE_COLUMNS + 1][PMB_PARTICLE_NEAR];         /* of the particles near */
  double total[PMB_PARTICLE_COLUMNS + 1][PMB_BRICK_MAX_POINTS + 16]; /* weighted sums at the points */
  float weight[PMB_PARTICLE_NEAR][16];                               /* of the listed particles at 16 points */
} pmb_particle_scratch;

struct pmb_particles {
  pmb_context *context;
  pmb_particle_request request; /* with defaults filled in */
  pmb_particle_bounds whole;    /* of the request */
  int kernel;                   /* the request's, or PMB_KERNEL_SHAPED */
  int counted;
  int on_device; /* the GPU has counted */
  pmb_particle_sizes sizes;

  /* The grid. */
  pmb_buffer spans[3];            /* of cells with particles along each axis, see pmb_particles_set_spans */
  int64_t span_count[3];          /* usually 1: from the least to the greatest cell */
  double before;                  /* cells of the grid before a span */
  int64_t grid[3];                /* its samples along each axis */
  int64_t bricks[3];              /* with one brick without samples at each upper end */
  int64_t layer_begin, layer_end; /* layers of bricks to emit; of layer_end only the points in its first plane */
  double reach;                   /* the greatest, in cells */
  double reached;                 /* samples that the particles reach, each by itself, with radii */
  float reach2;                   /* see pmb_particle_reach2 */
  pmb_isovalue isovalue;          /* for spheres in cells */
  float background;               /* value of samples that no kernel reaches */
  float scale;                    /* of the greatest radius, or of all if they are equal */

  /* The particles, sorted by grade, by cube, x fastest, then by their order in the input. */
  int64_t count;
  int grade_count; /* after pass sort those with particles */
  pmb_particle_grade grades[PMB_PARTICLE_GRADES];
  int all_add;      /* kernels are summed and no weight is negative: a partial sum never exceeds the sum */
  pmb_buffer facts; /* per chunk; after prepare `kept` counts the particles before the chunk */
  int prepared;     /* the grid is known */
  pmb_buffer keys[2], indices[2]; /* cube (uint64_t) and index in the input (uint32_t); two of each for sorting */
  const uint32_t *sorted;         /* the sorted one of `indices` */
  const uint64_t *sorted_keys;
  uint64_t *parts; /* pmb_twin_part of each sorted particle, in the other one of `keys` */
  uint32_t *twins; /* its first twin, or itself: in the other one of `indices` */
  int has_twins;
  pmb_buffer histograms;
  pmb_buffer cells[3];                 /* int32_t */
  pmb_buffer fractions[3];             /* float */
  pmb_buffer scales, amounts, reaches; /* float; scales and reaches only with radii */
  pmb_buffer masses;                   /* float, while densities are computed */
  int has_masses;                      /* 1: they differ */
  pmb_buffer shapes, moved;            /* of PMB_KERNEL_SHAPED: float[6]; pmb_particle_moved */
  pmb_buffer row_keys,
    row_begins; /* rows of cubes with particles: grade.row + y + cubes[1] * z; their first particle, uint32_t */
  int64_t row_count;

  /* Keys of the bricks that a kernel reaches, ascending: x + bricks[0] * (y + bricks[1] * z). */
  pmb_buffer layers, layer_begins; /* layers of bricks: their z and their first brick, int64_t */
  int64_t layer_count;
  pmb_buffer bits; /* per worker */
  pmb_buffer bricks_reached;
  int64_t brick_count;

  /* Sides, and samples of the exact tiles, of the bricks from window_begin to window_end. */
  pmb_buffer samples, sides, unsure; /* unsure: the bricks with wanted tiles */
  int64_t unsure_count;
  int64_t window_begin, window_end, potential_begin; /* bricks from potential_begin on are new */

  /* Active bricks: records of the CPU backend, their keys, and the edge parameters of their points (pmb_particle_parameter),
   * negative if the upper sample is inside. */
  pmb_buffer active, parameters, candidates;
  int64_t record_count, group_begin; /* the group's first record */
  int64_t group_end;                 /* after the group's last brick */
  int64_t parameter_count;
  const pmb_particle_image *image;         /* to fill */
  pmb_buffer records, chunks;              /* of the surface */
  pmb_cpu_surface surface;                 /* for pass triangles */
  pmb_volume volume;                       /* of its dims and type, without samples */
  pmb_buffer scratch, cpu_scratch;         /* per worker */
  pmb_buffer cloud;                        /* pmb_cuda_cloud */
  const double *world_shift, *world_scale; /* a GPU writes points as (x - shift) * scale; NULL: as they are */
};

/* A GPU's. count: sets on_device of the particles if it has counted them; else it leaves them to the CPU. drop: frees what count
 * has kept for emit. */
typedef struct pmb_particle_functions {
  pmb_status (*count)(pmb_context *context, pmb_particles *particles);
  pmb_status (*emit)(pmb_context *context, pmb_particles *particles, const pmb_mesh *mesh);
  void (*drop)(pmb_context *context, const pmb_particles *particles);
} pmb_particle_functions;

static inline pmb_particle_scratch *pmb_particle_scratch_of(pmb_particles *p, int worker)
{
  return (pmb_particle_scratch *)p->scratch.data + worker;
}

/* Index of the first of `count` ascending keys, from `from` on, that is not less than `key`. Fast if it is close to `from`. */
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

/* Indices of a brick and its upper neighbours among the keys, or -1. Bit 0 of d: the next along x, bit 1 along y, bit 2 along z. */
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

/* Length and reach of a kernel in cells, see pmb_kernel_length and pmb_kernel_reach. */
PMB_INLINE double pmb_particles_length(const pmb_particles *p, double radius)
{
  return pmb_kernel_length((int)p->request.kernel, p->request.smoothing, radius, p->request.spacing);
}
PMB_INLINE double pmb_particles_reach_of(const pmb_particles *p, double length)
{
  return pmb_kernel_reach((int)p->request.kernel, length, p->request.isovalue / p->request.spacing);
}

/* The index of a cell in the grid along an axis. */
PMB_INLINE double pmb_particles_cell(const pmb_particles *p, int axis, double cell)
{
  return pmb_span_cell((const pmb_particle_span *)p->spans[axis].data, p->span_count[axis], p->before, cell);
}

/* pmb_particle_request.c: checks the request and sets p->request, with defaults filled in. PMB_OK or PMB_INVALID. */
pmb_status pmb_particles_check(pmb_particles *p, const pmb_particle_request *request);

/* Fills p->spans from the positions of the request, in host memory. */
pmb_status pmb_particles_find_spans(pmb_particles *p);

/* Sets p->before and p->grid, and where each span of the bounds lies in the grid. */
pmb_status pmb_particles_set_spans(pmb_particles *p, const pmb_particle_bounds *bounds);

/* Whether bricks of a grid with so many samples along each axis can have numbers. */
int pmb_particles_fit(const double samples[3]);

/* Checks the numbers of the particles; finds their bounds, p->count and p->reach. */
pmb_status pmb_particles_bounds(pmb_particles *p, pmb_particle_bounds *bounds);

/* The passes of count, in their order. Prepare fills the facts, then finds the grid from them; a GPU fills them itself. */
pmb_status pmb_particles_prepare(pmb_particles *p);
pmb_status pmb_particles_find_grid(pmb_particles *p);
pmb_status pmb_particles_sort(pmb_particles *p);
pmb_status pmb_particles_find_twins(pmb_particles *p);
pmb_status pmb_particles_sort_moved(pmb_particles *p);
/* Leaves out empty grades and sets the reach of the others. widest: the greatest reach of each grade. */
void pmb_particles_set_grades(pmb_particles *p, const float *widest);
pmb_status pmb_particles_reach(pmb_particles *p);

/* Reads `components` components of n particles from `first` on, as doubles. */
void pmb_particles_read(const pmb_particle_array *array, int components, int64_t first, int64_t n, double *out);

/* Fails for `bricks` or more, and suggests a spacing. */
pmb_status pmb_particles_too_many(pmb_particles *p, double bricks, double spacing);

/* PMB_OK, or PMB_TOO_LARGE if `bricks`, or the terms of their sums, exceed the limit. */
pmb_status pmb_particles_check_bricks(pmb_particles *p, double bricks);

#endif
