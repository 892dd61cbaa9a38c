/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers.h - what the systems of the papers, written again as baselines, have in common.
 *
 * Each system exists twice, for the CPU in C (papers_NAME.c) and for the GPU in CUDA C (papers_NAME.cu); its steps stand
 * once, in papers_NAME.h, over the cell, the tables and the arithmetic of Kernels/. The CPU's is there to be tested without
 * a GPU. What is compared and timed is the GPU's. None of this is in the library or the plugin. */
#ifndef PAPERS_H
#define PAPERS_H

#include <stddef.h>
#include <stdint.h>

#include "pmb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum papers_status {
  PAPERS_OK,
  PAPERS_NO_MEMORY, /* papers_memory says how much was asked for */
  PAPERS_TOO_LARGE, /* more samples or triangles than the system's integers can count */
  PAPERS_BAD_TYPE,  /* samples of a type that the system was not written for */
  PAPERS_DEVICE     /* CUDA reported an error; papers_memory.message has its text */
} papers_status;

/* What memory is for: the system's own structures, or the mesh. The input counts to neither. */
typedef enum papers_use { PAPERS_ACCELERATION, PAPERS_OUTPUT, PAPERS_USES } papers_use;

/* Memory of one device, counted. One thread at a time. A taken block begins with no particular content. */
typedef struct papers_memory {
  void *(*allocate)(size_t bytes); /* malloc, or memory of the GPU; NULL where there is none */
  void (*release)(void *block);
  size_t limit;             /* most bytes in use at a time; more are refused without an attempt */
  size_t used[PAPERS_USES]; /* bytes in use now */
  size_t most[PAPERS_USES]; /* the most there were */
  size_t asked;             /* what the last refused request would have made of both together, 0: none was refused */
  char message[160];        /* of the last PAPERS_DEVICE */
  struct papers_block *first; /* the blocks in use */
} papers_memory;

/* NULL, with `asked` set, where the limit or the device does not allow it. */
void *papers_take(papers_memory *memory, papers_use use, size_t bytes);

/* A block of papers_take, or NULL. */
void papers_give(papers_memory *memory, void *block);

/* Whatever is still taken. */
void papers_give_all(papers_memory *memory);

/* Grows *block to at least `bytes`, without keeping its content; no call where it is large enough. *capacity: of the
 * block, in bytes; begin with NULL and 0. */
papers_status papers_reserve(papers_memory *memory, papers_use use, void **block, size_t *capacity, size_t bytes);

/* Samples, x fastest, without gaps, in the memory of the device; spacing 1, first sample at (0,0,0). */
typedef struct papers_volume {
  const void *samples;
  pmb_type type; /* PMB_UINT8, PMB_INT16, PMB_UINT16 or PMB_FLOAT32 */
  int64_t dims[3];
} papers_volume;

/* A mesh in the memory of the device; the state's until the next extract or destroy. */
typedef struct papers_mesh {
  int64_t points, triangles;
  const float *positions; /* points x 3 */
  const float *normals;   /* points x 3, or NULL where the system has none */
  const int32_t *ids;     /* triangles x 3; NULL: a soup, points 3 t to 3 t + 2 are those of triangle t */
} papers_mesh;

/* A system on one device. Degenerate triangles are kept, as with remove_degenerate = 0 in pmb_request: the triangles are
 * those, and their points have the bits, of pmb_emit; only their order and what points they share differ. */
typedef struct papers_system {
  const char *name;
  const char *source; /* paper and section */
  /* What the system does once per volume; nothing for most. *state is NULL on failure. */
  papers_status (*create)(papers_memory *memory, const papers_volume *volume, void **state);
  /* All that an isovalue needs, counts read back; returns when the mesh is complete. Memory taken before is kept. */
  papers_status (*extract)(void *state, double isovalue, papers_mesh *mesh);
  void (*destroy)(void *state); /* NULL is fine */
} papers_system;

extern const papers_system papers_scan_cpu, papers_welded_cpu, papers_hpmc_cpu, papers_hpmc_indexed_cpu,
  papers_hp3d_cpu, papers_pmb2016_cpu;
extern const papers_system papers_scan_gpu, papers_welded_gpu, papers_hpmc_gpu, papers_hpmc_indexed_gpu,
  papers_hp3d_gpu, papers_pmb2016_gpu;

#ifdef __cplusplus
}
#endif

#endif
