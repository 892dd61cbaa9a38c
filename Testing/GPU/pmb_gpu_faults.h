/* SPDX-License-Identifier: BSD-3-Clause
 * GPU faults for tests. */
#ifndef PMB_GPU_FAULTS_H
#define PMB_GPU_FAULTS_H

/* "n:code": the n-th CUDA call that the library checks from now on reports the cudaError_t `code`. "n": illegal address.
 * "n:trap": the GPU really faults there. "0": no fault. */
void pmb_gpu_set_fault(const char *text);

/* Lets the process use GPUs again of which an error was reported. */
void pmb_gpu_restore(void);

#endif
