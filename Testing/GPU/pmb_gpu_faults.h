/* SPDX-License-Identifier: BSD-3-Clause
 * GPU faults for tests. */
#ifndef PMB_GPU_FAULTS_H
#define PMB_GPU_FAULTS_H

/* "n:code": the n-th CUDA call from now on that the library checks reports that error of cudaError_t; "n": illegal address;
 * "n:trap": the GPU really fails there. "0": none. */
void pmb_gpu_set_fault(const char *text);

#endif
