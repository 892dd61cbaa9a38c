/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers.h - the systems of the papers, reimplemented as baselines: their common interface, for benchmark and tests.
 *
 * Each system is CUDA C (papers_NAME.cu) over the cell, the tables and the arithmetic of Kernels/. Without a GPU the same
 * files run on the emulator (Testing/Emulator). None of this is in the library or the plugin. */
#ifndef PAPERS_H
#define PAPERS_H

#include <stddef.h>
#include <stdint.h>

#include "pmb.h"
#include "shared/pmb_portability.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum papers_status {
  PAPERS_OK,
  PAPERS_NO_MEMORY, /* papers_memory.asked is the size of the request */
  PAPERS_TOO_LARGE, /* more samples or triangles than the system's integers can count */
  PAPERS_BAD_TYPE,  /* samples of a type that the system does not support */
  PAPERS_DEVICE     /* CUDA reported an error; papers_memory.message has its text */
} papers_status;

/* Uses of memory: the system's own structures, or the mesh. Samples count to neither. */
typedef enum papers_use { PAPERS_ACCELERATION, PAPERS_OUTPUT, PAPERS_USES } papers_use;

/* Counted GPU memory of one state at a time, on one thread. Initialize with zeros and a limit. A released block serves the next
 * request of its size, so that no allocation is timed. */
typedef struct papers_memory {
  size_t limit;             /* most bytes in use at a time; more are refused without an attempt */
  size_t used[PAPERS_USES]; /* bytes in use now */
  size_t most[PAPERS_USES]; /* largest values of `used` */
  size_t asked;      /* bytes in use, of both kinds, had the last refused request been granted; 0: none was refused */
  char message[160]; /* of the last PAPERS_DEVICE */
  struct papers_block *first;
} papers_memory;

/* Returns a block with unspecified content, or NULL, with `asked` set, if the limit or the GPU does not allow it. */
void *papers_take(papers_memory *memory, papers_use use, size_t bytes);
void papers_free_memory(papers_memory *memory);

/* Samples on the GPU, x fastest, without gaps; spacing 1, first sample at (0,0,0). Each of dims is at least 1. */
typedef struct papers_volume {
  const void
    *samples;    /* NULL: papers_cayley_value of each place, by its index, is evaluated wherever a sample is read */
  pmb_type type; /* PMB_UINT8, PMB_INT16, PMB_UINT16 or PMB_FLOAT32 */
  int64_t dims[3];
} papers_volume;

/* Cayley's surface at the sample (x,y,z), as PMB's authors evaluated it; step[a]: 2 / (dims[a] - 1). Volumes that are evaluated have
 * floats, and powers of two as dims, so that an index gives its place by shifts. */
PMB_INLINE float papers_cayley_value(const float step[3], int32_t x, int32_t y, int32_t z)
{
  const float u = (float)x * step[0] - 1, v = (float)y * step[1] - 1, w = (float)z * step[2] - 1;
  return 1 - 16 * u * v * w - 4 * (u * u + v * v + w * w);
}

/* A mesh on the GPU, or a copy in this machine's memory. */
typedef struct papers_mesh {
  int64_t points, triangles;
  const float *positions; /* points x 3 */
  const float *normals;   /* points x 3 */
  const int32_t *ids;     /* triangles x 3; NULL: a soup, points 3 t to 3 t + 2 are those of triangle t */
} papers_mesh;

/* How a system's points relate to PMB's, which has one per crossed edge. */
typedef enum papers_sharing {
  PAPERS_SOUP,   /* three per triangle, no ids */
  PAPERS_EDGES,  /* as PMB */
  PAPERS_WELDED, /* one per position: at most as many as PMB's */
  PAPERS_SEAMS   /* several on an edge between blocks */
} papers_sharing;

/* One normal per triangle, or of the gradient by forward or central differences, or as papers_webgl.cuh has them. */
typedef enum papers_normals { PAPERS_FLAT, PAPERS_FORWARD, PAPERS_CENTRAL, PAPERS_WEBGL } papers_normals;

typedef struct papers_state papers_state; /* of a system for a volume */

/* A system. Degenerate triangles are kept, as with remove_degenerate = 0 in pmb_request: the triangles are pmb_emit's, to
 * the bits of their points; only their order and the sharing of points differ. */
typedef struct papers_system {
  const char *name;
  papers_sharing sharing;
  papers_normals normals;
  size_t state_bytes;
  /* Prepares a volume that has cells, once. */
  papers_status (*create)(papers_state *state);
  /* Extracts one isovalue: reads counts back, enqueues the rest. Sets the state's mesh, which is empty before. */
  papers_status (*extract)(papers_state *state);
} papers_system;

enum { PAPERS_SYSTEMS = 9 };
extern const papers_system *const papers_systems[PAPERS_SYSTEMS];
/* The pipeline of the WebGL page, for particles alone: not in the list. */
extern const papers_system papers_webgl, papers_webgl_sobel;

/* *state is NULL on failure. The state alone uses `memory` until papers_destroy. */
papers_status papers_create(
  const papers_system *system, papers_memory *memory, const papers_volume *volume, papers_state **state);
/* Returns when the mesh is complete. The state owns it until the next call, and keeps its memory. */
papers_status papers_extract(papers_state *state, double isovalue, papers_mesh *mesh);
void papers_destroy(papers_state *state); /* NULL is fine */

/* Bytes of the pyramids for a number of samples. */
uint64_t papers_hpmc_bytes(const int64_t dims[3], int indexed, int chunks);
uint64_t papers_hp3d_bytes(const int64_t dims[3]);

/* The GPU in use, CUDA's first. Texts: NULL, or the error. */
const char *papers_upload(void *d_to, const void *from, size_t bytes);
const char *papers_download(void *to, const void *d_from, size_t bytes);
/* Stores the samples of a volume that would be evaluated. */
const char *papers_evaluate(const papers_volume *volume, void *d_to);
/* Fills a volume with the potential of particles: the sum of (1 - q^2 / 4)^3. Positions and smoothing length in cells. */
const char *papers_splat(const float *d_positions, int64_t count, float smoothing, const papers_volume *volume);
/* Milliseconds from start to stop, for work on the GPU and the host; < 0: failed. Do not nest. */
void papers_start_clock(void);
double papers_stop_clock(void);
/* Bytes left to allocate; 0: unknown. */
size_t papers_available(void);

/* Sum of two counts of a pyramid; saturates at UINT32_MAX. */
PMB_CONSTEXPR uint32_t papers_sum(uint32_t a, uint32_t b)
{
  return a + b < a ? UINT32_MAX : a + b;
}

#ifdef __cplusplus
}
#endif

#endif
