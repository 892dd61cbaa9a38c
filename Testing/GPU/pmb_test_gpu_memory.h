/* SPDX-License-Identifier: BSD-3-Clause
 * For tests: device memory of CUDA's runtime, and the emulator's OpenGL buffers. */
#ifndef PMB_TEST_GPU_MEMORY_H
#define PMB_TEST_GPU_MEMORY_H

#include "pmb_test_gpu_util.h"

#ifdef PMB_TEST_CUDA
extern int cudaMalloc(void **memory, size_t bytes);
extern int cudaFree(void *memory);
extern int cudaMallocHost(void **memory, size_t bytes);
extern int cudaFreeHost(void *memory);
extern int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
extern int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
extern int cudaStreamCreateWithFlags(void **stream, unsigned flags);
extern int cudaStreamDestroy(void *stream);
#else /* never called: there is no GPU */
#define cudaMalloc(memory, bytes) (*(memory) = NULL, (void)(bytes), 1)
#define cudaFree(memory) ((void)(memory))
#define cudaMallocHost(memory, bytes) (*(memory) = test_allocate(1, bytes), 1)
#define cudaFreeHost(memory)
#define cudaMemcpy(to, from, bytes, kind) ((void)(to), (void)(from), 1)
#define cudaMemcpyAsync(to, from, bytes, kind, stream) 1
#define cudaStreamCreateWithFlags(stream, flags) (*(stream) = NULL, 1)
#define cudaStreamDestroy(stream)
#endif

enum { TO_DEVICE = 1, TO_HOST = 2 };

/* Makes an OpenGL buffer, or deletes it if bytes is 0. Only the emulator has this function. */
#if defined(PMB_TEST_CUDA) && defined(__GNUC__)
extern void *emulator_gl_buffer(unsigned name, size_t bytes) __attribute__((weak));
#else
#define emulator_gl_buffer ((void *(*)(unsigned, size_t))NULL)
#endif

#endif
