/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices for samples of floating point. */
#include "cuda/pmb_cuda_vertices.cuh"

template cudaError_t pmb_cuda_vertices_of_list<float>(pmb_cuda *, const pmb_cuda_output *, int);
template cudaError_t pmb_cuda_vertices_of_list<double>(pmb_cuda *, const pmb_cuda_output *, int);
