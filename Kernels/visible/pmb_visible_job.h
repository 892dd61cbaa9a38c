/* SPDX-License-Identifier: BSD-3-Clause
 * Private: a checked request for visible triangles, and types that the CPU's loops share. */
#ifndef PMB_VISIBLE_JOB_H
#define PMB_VISIBLE_JOB_H

#include "core/pmb_backend.h"
#include "shared/pmb_visible_triangle.h"
#include "visible/pmb_visible.h"

typedef struct pmb_visible_job {
  pmb_visible_view view;
  uint32_t *visible;
  int64_t capacity;
} pmb_visible_job;

/* Words of flags per chunk. */
enum { PMB_VISIBLE_WORDS = 128 };

typedef struct pmb_visible_work {
  const pmb_visible_job *job;
  uint32_t *depths, *words;
  int64_t *before; /* per chunk: visible triangles before it */
  size_t chunks;
} pmb_visible_work;

/* Pass occlude: a chunk of words; arg: the pmb_visible_work. */
PMB_DECLARE_LOOP(pmb_visible_occlude);

/* A GPU's, for a mesh in its memory. */
typedef struct pmb_visible_functions {
  pmb_status (*find)(pmb_context *context, const pmb_visible_job *job, int64_t *count);
} pmb_visible_functions;

#endif
