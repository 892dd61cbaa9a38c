/* SPDX-License-Identifier: BSD-3-Clause
 * Samples and cells that a volume hides (VTK's blanking). */
#ifndef PMB_HIDDEN_H
#define PMB_HIDDEN_H

#include "core/pmb_backend.h"
#include "shared/pmb_brick.h"

/* Whether a sample of the volume is hidden. */
PMB_INLINE int pmb_hides_sample(const pmb_volume *volume, int64_t i, int64_t j, int64_t k)
{
  return pmb_is_flagged(volume->sample_flags, volume->hidden_sample_bits, volume->dims[0], volume->dims[1], i, j, k);
}

/* Whether a cell is hidden; false for one outside the volume. */
PMB_INLINE int pmb_hides_cell(const pmb_volume *volume, int64_t i, int64_t j, int64_t k)
{
  const int64_t nx = volume->dims[0] - 1, ny = volume->dims[1] - 1, nz = volume->dims[2] - 1;
  return i >= 0 && j >= 0 && k >= 0 && i < nx && j < ny && k < nz &&
    pmb_is_flagged(volume->cell_flags, volume->hidden_cell_bits, nx, ny, i, j, k);
}

/* Whether any of the n[0] x n[1] x n[2] samples from `first` on is hidden. */
int pmb_hides_any_sample(const pmb_volume *volume, const int64_t first[3], const int n[3]);

/* Whether any cell of a brick with these samples, halo included, is hidden. */
int pmb_hides_any_cell(const pmb_volume *volume, const int64_t first[3], const int n[3]);

/* Sets flags of the context's volume to NULL if they hide nothing, like those of ghost cells. PMB_OK or PMB_ABORTED. */
pmb_status pmb_hidden_find(pmb_context *context);

#endif
