/* SPDX-License-Identifier: BSD-3-Clause
 * Which thread of a block goes on, where threads wait for each other: see emulator_block.h. */
#include "emulator_block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

namespace emulator
{

const char *const kind_names[EMULATOR_KINDS] = { "__syncthreads", "__syncthreads_count", "__syncwarp", "__shfl_sync",
  "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync", "__reduce_add_sync", "__reduce_and_sync",
  "__reduce_or_sync", "__reduce_xor_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync of int",
  "__reduce_max_sync of int", "__match_any_sync" };

namespace
{

/* One of the bits, from `turn` on upwards or downwards. */
int next_in_turn(uint32_t bits, unsigned turn, int backwards)
{
  const uint32_t turned = bits >> turn | bits << (-turn & 31);
  return (int)((unsigned)(backwards ? 31 - __builtin_clz(turned) : lowest(turned)) + turn) & 31;
}

} // namespace

void go_to(worker *w, lane *to)
{
  lane *from = w->running;
  if (from == to) {
    return;
  }
  w->running = to;
  if (to) {
    threadIdx = to->place;
  }
#if EMULATOR_ASAN
  void *fake = NULL;
  __sanitizer_start_switch_fiber(&fake, to ? to->stack : w->main_stack, to ? STACK : w->main_bytes);
#endif
  change_context(from ? &from->context : &w->main, to ? &to->context : &w->main);
#if EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

void fail(worker *w, cudaError_t error, const char *format, ...)
{
  const uint3 t = w->running->place, b = blockIdx;
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  fprintf(stderr, "emulator: block (%u,%u,%u), thread (%u,%u,%u): %s\n", b.x, b.y, b.z, t.x, t.y, t.z, text);
  set_error(error);
  go_to(w, NULL);
  abort();
}

namespace
{

/* All wait: says for what. */
[[noreturn]] void fail_waiting(worker *w)
{
  char text[300] = "";
  size_t n = 0;
  for (unsigned v = 0; v < WARPS && n < 200; ++v) {
    for (uint32_t rest = w->warps[v].waiting | w->warps[v].at_barrier; rest && n < 200; rest &= rest - 1) {
      const lane *l = &w->lanes[32 * v + (unsigned)lowest(rest)];
      const lane *before = l == w->lanes ? NULL : l - 1;
      if (!before || before->kind != l->kind || before->mask != l->mask) {
        n += (size_t)snprintf(
          text + n, sizeof(text) - n, "%s thread %d at %s", n ? "," : "", (int)(l - w->lanes), kind_names[l->kind]);
        if (l->kind > EMULATOR_SYNCTHREADS_COUNT) {
          n += (size_t)snprintf(text + n, sizeof(text) - n, " of mask 0x%08x", l->mask);
        }
      }
    }
  }
  fail(w, cudaErrorLaunchFailure, "all threads of the block wait for others:%s and those behind", text);
}

} // namespace

void go_on(worker *w, int stay)
{
  const unsigned current = w->running->warp;
  if (!w->runnable_warps) {
    fail_waiting(w);
  }
  unsigned next = current;
  if (!stay || !(w->runnable_warps >> current & 1)) {
    next = (unsigned)next_in_turn(w->runnable_warps, (unsigned)(emulator_random(&w->random) & 31), 0);
  }
  const warp &v = w->warps[next];
  go_to(w, &w->lanes[32 * next + (unsigned)next_in_turn(v.runnable, v.turn, v.backwards)]);
}

void set_runnable(worker *w, unsigned index, uint32_t lanes)
{
  warp *v = &w->warps[index];
  const uint64_t random = emulator_random(&w->random);
  v->runnable |= lanes;
  v->turn = (unsigned)(random & 31);
  v->backwards = (int)(random >> 5 & 1);
  w->runnable_warps |= 1u << index;
}

void stop(worker *w)
{
  warp *v = &w->warps[w->running->warp];
  v->runnable &= ~w->running->bit;
  if (!v->runnable) {
    w->runnable_warps &= ~(1u << w->running->warp);
  }
}

} // namespace emulator
