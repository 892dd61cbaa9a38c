/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_place.h - where a system works: this machine's memory, or a GPU's. Tests and benchmark are written once over it. */
#ifndef PAPERS_PLACE_H
#define PAPERS_PLACE_H

#include "papers.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct papers_place {
  const char *name;
  /* NULL, or why it cannot be used: a sentence that stays. */
  const char *(*missing)(void);
  /* For papers_memory. */
  void *(*allocate)(size_t bytes);
  void (*release)(void *block);
  /* Between this machine's memory and the place's; returns when done. NULL, or what went wrong. */
  const char *(*upload)(void *to, const void *from, size_t bytes);
  const char *(*download)(void *to, const void *from, size_t bytes);
  /* Waits for all work that was begun there. NULL, or what went wrong. */
  const char *(*wait)(void);
  /* Time from begin to end, in milliseconds, of work there and of what the host does between; < 0: it failed. Not nested. */
  void (*begin)(void);
  double (*end)(void);
  /* Bytes that can still be had; 0: not known. */
  size_t (*available)(void);
} papers_place;

extern const papers_place papers_host;
extern const papers_place papers_device; /* papers_device.cu: the GPU in use, CUDA's first */

/* Memory of a place with nothing taken, and no limit but its own. */
papers_memory papers_memory_of(const papers_place *place);

/* Copies a mesh to this machine; arrays for free(). 0: no memory, or the place failed; nothing to be freed then. */
int papers_mesh_download(const papers_place *place, const papers_mesh *mesh, papers_mesh *copy);
void papers_mesh_free(papers_mesh *copy);

/* A short name, static. */
const char *papers_status_text(papers_status status);

#ifdef __cplusplus
}
#endif

#endif
