/* SPDX-License-Identifier: BSD-3-Clause
 *
 * emulator_block.h - a block of threads at work, which one thread of the host runs: its lanes, its warps, and who goes on.
 *
 * emulator_block.cxx begins and ends a block; emulator_turns.cxx changes from thread to thread; emulator_together.cxx is
 * what they do together: shuffles, votes, barriers. */
#ifndef EMULATOR_BLOCK_H
#define EMULATOR_BLOCK_H

#include "emulator.h"
#include "emulator_fibers.h"

#if defined(__SANITIZE_ADDRESS__)
#define EMULATOR_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define EMULATOR_ASAN 0
#endif

namespace emulator
{

enum { WARPS = EMULATOR_THREADS / 32 };
const size_t STACK = 128 * 1024, GUARD = 4096; /* bytes: of a lane's stack, and of what nobody may touch before it */

/* A thread of a block; in a fiber of its own. */
struct lane {
  fiber_context context;
  uint3 place; /* in the block */
  unsigned warp;
  uint32_t bit; /* in the masks of its warp */
  emulator_kind kind;
  uint32_t mask, argument, width;
  uint64_t value, result;
  char *stack;
  void *fake_stack; /* AddressSanitizer's */
};

/* Where the lanes of a warp are: each that has begun and not ended is in one of the first three masks. */
struct warp {
  uint32_t runnable, waiting, at_barrier, ended;
  unsigned turn; /* the lane that is next in order */
  int backwards;
};

/* A thread of the host that runs blocks. */
struct worker {
  lane lanes[EMULATOR_THREADS];
  warp warps[WARPS];
  uint32_t runnable_warps;
  unsigned threads, alive, at_barrier;
  lane *running;
  fiber_context main;
  char *main_stack; /* bounds, for AddressSanitizer */
  size_t main_bytes;
  char *stacks;
  uint64_t random;
  const emulator_work *work;
  char *shared_begin, *shared_end; /* what the kernels' shared variables lie in */
};

extern __thread worker *self; /* that this thread of the host is */

/* ---- emulator_block.cxx ---- */

/* Prepares what the thread of the host that calls it needs for any block: its bounds of stack and of shared variables. */
void prepare_worker(worker *w);
/* Runs a block of w->work. */
void run_block(worker *w, int64_t block, uint64_t launch);

/* ---- emulator_turns.cxx ---- */

extern const char *const kind_names[EMULATOR_KINDS];

inline int lowest(uint32_t bits)
{
  return __builtin_ctz(bits);
}

/* Goes to another fiber, or with NULL to the worker's own stack; comes back when somebody goes to this one. */
void go_to(worker *w, lane *to);

/* Goes on with a lane that can; the caller's may be it. */
void go_on(worker *w, int stay);

void set_runnable(worker *w, unsigned index, uint32_t lanes);

/* The running lane waits. */
void stop(worker *w);

/* Ends the launch with an error; the block's fibers are left as they are. */
[[noreturn]] void fail(worker *w, cudaError_t error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- emulator_together.cxx ---- */

/* Lets all go on that wait at the barrier. */
void open_barrier(worker *w);

/* ---- emulator_workers.cxx ---- */

/* Of the launch at work: no further block begins. */
void set_error(cudaError_t error);

} // namespace emulator

#endif
