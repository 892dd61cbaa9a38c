/* SPDX-License-Identifier: BSD-3-Clause
 * Output that a GPU leaves to the host's threads, written past the caches where the processor can: it is larger than they are. */
#ifndef PMB_STREAM_H
#define PMB_STREAM_H

#include <stdint.h>

/* out[i] = base + ids[i]. */
void pmb_stream_ids(const uint32_t *ids, int64_t n, int64_t base, int64_t *out);

/* out[i] = first + i * step. */
void pmb_stream_series(int64_t first, int64_t step, int64_t n, int64_t *out);

#endif
