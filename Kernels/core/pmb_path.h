/* SPDX-License-Identifier: BSD-3-Clause
 * Instruction sets. Files of loops are compiled once for each, and PMB_PATH_NAME of cpu/pmb_cpu_brick.h names their functions.
 * CMake defines PMB_AVX2 and PMB_AVX512 where these are compiled. */
#ifndef PMB_PATH_H
#define PMB_PATH_H

#include "core/pmb_threads.h"

typedef enum pmb_path { PMB_PATH_PORTABLE, PMB_PATH_AVX2, PMB_PATH_AVX512 } pmb_path;

#if defined(PMB_AVX2)
#define PMB_IF_AVX2(...) __VA_ARGS__
#else
#define PMB_IF_AVX2(...)
#endif
#if defined(PMB_AVX512)
#define PMB_IF_AVX512(...) __VA_ARGS__
#else
#define PMB_IF_AVX512(...)
#endif

/* Declares a loop of all instruction sets. */
#define PMB_DECLARE_LOOP(name) pmb_body name##_portable PMB_IF_AVX2(, name##_avx2) PMB_IF_AVX512(, name##_avx512)

/* The loop of a context's instruction set. */
#define PMB_LOOP(context, name)                                 \
  (((pmb_body *const[]){ [PMB_PATH_PORTABLE] = name##_portable, \
    PMB_IF_AVX2([PMB_PATH_AVX2] = name##_avx2, )                \
      PMB_IF_AVX512([PMB_PATH_AVX512] = name##_avx512) })[(context)->path])

/* Sets context->path and its name, to that of `name`. NULL: the one that PMB_CPU_PATH names, else the fastest of this machine. */
pmb_status pmb_choose_path(pmb_context *context, const char *name);

/* The fastest of this machine. */
pmb_path pmb_best_path(void);

#endif
