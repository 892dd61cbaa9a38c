/* SPDX-License-Identifier: BSD-3-Clause
 * The interface of the CUDA backend for tests. */
#ifndef PMB_CUDA_H
#define PMB_CUDA_H

/* For tests; else NULL and 0. fault: replaces the error of a checked CUDA call. layers: of bricks per block in
 * pmb_cuda_vertices_columns.cu. parts: warps that share a brick's points in pmb_cuda_vertices_list.cuh; -1: separate launches
 * of vertices and triangles. */
extern int (*pmb_cuda_test_fault)(int error);
extern int pmb_cuda_test_layers, pmb_cuda_test_parts;

#endif
