/* SPDX-License-Identifier: BSD-3-Clause
 * For files that are compiled once per instruction set, with PMB_CPU_PATH set to its name. */
#ifndef PMB_CPU_PATH_H
#define PMB_CPU_PATH_H

#include "shared/pmb_types.h"

#if !defined(PMB_CPU_PATH)
#error "PMB_CPU_PATH: set it to the name of the instruction set, portable where there is no other"
#endif

/* The name of a function or table of this instruction set. */
#define PMB_PATH_NAME(name) PMB_JOIN(name##_, PMB_CPU_PATH)

/* Before a loop: gcc turns it into vector instructions only while it is a loop, and unrolls a short one first. */
#if defined(__GNUC__) && !defined(__clang__)
#define PMB_NOT_UNROLLED _Pragma("GCC unroll 1")
#define PMB_UNROLLED_5 _Pragma("GCC unroll 5")
#else
#define PMB_NOT_UNROLLED
#define PMB_UNROLLED_5
#endif

#endif
