/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cuda_runtime.h - stands in for CUDA's header of this name, so that a C++ compiler makes host code of the kernels and the
 * tests of the GPU run on any machine. Only what Kernels/ uses is here; results are CUDA's, bit by bit, except where CUDA
 * leaves them open.
 *
 * Needed of the sources: kernels are launched by cudaLaunchKernelEx, not <<<>>>; PTX is inside #if defined(__CUDA_ARCH__)
 * with C++ beside it; dynamic shared memory is an array `shared_memory`. See emulator.h for what the emulator checks. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#define CUDART_VERSION 13000

#include "emulated/floats.h"
#include "emulated/integers.h"
#include "emulated/launch.h"
#include "emulated/memory.h"
#include "emulated/runtime.h"
#include "emulated/together.h"
#include "emulated/types.h"

/* The language: after all headers of the C++ library, which may use such names, and not for the emulator itself. */
#if defined(__CUDACC__)
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
/* The threads of a block run on one thread of the host. */
#define __shared__ thread_local
#endif

#endif
