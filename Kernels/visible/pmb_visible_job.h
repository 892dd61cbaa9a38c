/* SPDX-License-Identifier: BSD-3-Clause
 * Private: a request for visible triangles, checked. */
#ifndef PMB_VISIBLE_JOB_H
#define PMB_VISIBLE_JOB_H

#include "shared/pmb_visible_triangle.h"
#include "visible/pmb_visible.h"

typedef struct pmb_visible_job {
  pmb_visible_view view;
  uint32_t *visible;
  int64_t capacity;
} pmb_visible_job;

#endif
