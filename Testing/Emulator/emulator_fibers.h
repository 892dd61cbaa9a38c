/* SPDX-License-Identifier: BSD-3-Clause
 *
 * emulator_fibers.h - the registers and the stack of a fiber: each thread of a block is one. */
#ifndef EMULATOR_FIBERS_H
#define EMULATOR_FIBERS_H

#include <stddef.h>

#if defined(__x86_64__)
typedef void *fiber_context; /* its stack's top, where its registers are */
#else
#include <ucontext.h>
typedef ucontext_t fiber_context;
#endif

namespace emulator
{

/* One that begins with `run`, which must not return. */
void make_context(fiber_context *context, char *stack, size_t bytes, void (*run)(void));

/* Comes back when somebody changes to `from`. */
void change_context(fiber_context *from, fiber_context *to);

} // namespace emulator

#endif
