/* SPDX-License-Identifier: BSD-3-Clause
 * What the rest of the core knows of the CUDA backend. */
#ifndef PMB_CUDA_H
#define PMB_CUDA_H

/* Whether a GPU can be used: NULL if so, else what is missing; valid until the next call on this thread. */
const char *pmb_cuda_missing(void);

/* For tests, which set them; NULL and 0 in use. What a checked CUDA call is to have returned in place of its error; layers of
 * bricks of a block in pmb_cuda_vertices_columns.cu; warps that share a brick's points in pmb_cuda_vertices_list.cuh, -1: the
 * passes have launches of their own. */
extern int (*pmb_cuda_test_fault)(int error);
extern int pmb_cuda_test_layers, pmb_cuda_test_parts;

#endif
