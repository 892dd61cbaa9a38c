/* SPDX-License-Identifier: BSD-3-Clause
 * Output that follows from other output alone. What is larger than the caches is written past them where the processor can. */
#ifndef PMB_STREAM_H
#define PMB_STREAM_H

#include "core/pmb_isovalue.h"

/* out[i] = base + ids[i]. */
void pmb_stream_ids(const uint32_t *ids, int64_t n, int64_t base, int64_t *out);

/* The isovalue for n points, and where each of n triangles begins among the ids, from `first` on; where the mesh wants them. */
void pmb_fill_scalars(const pmb_mesh *mesh, const pmb_isovalue *isovalue, int64_t first, int64_t n);
void pmb_fill_offsets(const pmb_mesh *mesh, int64_t first, int64_t n);

#endif
