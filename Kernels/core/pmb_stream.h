/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that need no samples: widened ids, scalars, offsets. Those of 64-bit ids bypass the caches where they can. */
#ifndef PMB_STREAM_H
#define PMB_STREAM_H

#include "core/pmb_isovalue.h"

/* out[i] = base + ids[i]. */
void pmb_stream_ids(const uint32_t *ids, int64_t n, int64_t base, int64_t *out);

/* Fill the mesh's scalars with the isovalue, and its offsets, for n points or triangles from `first` on; NULL: nothing. */
void pmb_fill_scalars(const pmb_mesh *mesh, const pmb_isovalue *isovalue, int64_t first, int64_t n);
void pmb_fill_offsets(const pmb_mesh *mesh, int64_t first, int64_t n);

#endif
