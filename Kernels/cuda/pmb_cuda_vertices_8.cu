/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices for samples of 8 bits. */
#include "cuda/pmb_cuda_vertices.cuh"

template cudaError_t pmb_cuda_vertices_of_list<int8_t>(pmb_cuda *, const pmb_cuda_output *, int);
template cudaError_t pmb_cuda_vertices_of_list<uint8_t>(pmb_cuda *, const pmb_cuda_output *, int);
