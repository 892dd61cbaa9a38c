/* SPDX-License-Identifier: BSD-3-Clause
 * Replaces CUDA's header of this name: a C++ compiler compiles the kernels for the host, and the GPU's tests run on any machine.
 * It has the functions that Kernels/ and the papers' systems use. Results are CUDA's, bit by bit, where CUDA defines them.
 *
 * Rules for the sources: kernels are launched by cudaLaunchKernelEx, not <<<>>>; PTX is inside #if defined(__CUDA_ARCH__)
 * with C++ beside it; dynamic shared memory is an array `shared_memory`. See emulator.h for what the emulator checks. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#define CUDART_VERSION 13000

#include "emulated/arithmetic.h"
#include "emulated/runtime.h"
#include "emulated/together.h"

/* CUDA's keywords: after the C++ library's headers, which may use such names, and not for the emulator itself. */
#if defined(__CUDACC__)
#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
/* The threads of a block run on one thread of the host. */
#define __shared__ thread_local
#endif

#endif
