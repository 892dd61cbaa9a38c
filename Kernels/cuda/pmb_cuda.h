/* SPDX-License-Identifier: BSD-3-Clause
 * What the rest of the core knows of the CUDA backend. */
#ifndef PMB_CUDA_H
#define PMB_CUDA_H

/* Whether a GPU can be used: NULL if so, else what is missing; valid until the next call on this thread. */
const char *pmb_cuda_missing(void);

#endif
