/* SPDX-License-Identifier: BSD-3-Clause
 * What the threads of a warp or of a block do together - shuffles, votes, reductions, barriers: see emulator_block.h. */
#include "emulator_block.h"

using namespace emulator;

/* ---- of a warp ---- */

namespace
{

/* Lane that a shuffle takes the value from. */
unsigned source_of(emulator_kind kind, unsigned own, uint32_t argument, uint32_t width)
{
  const unsigned first = own & ~(width - 1), last = first + width - 1;
  switch (kind) {
    case EMULATOR_SHFL:
      return first + (argument & (width - 1));
    case EMULATOR_SHFL_UP:
      return own < first + argument ? own : own - argument;
    case EMULATOR_SHFL_DOWN:
      return own + argument > last ? own : own + argument;
    default:
      return (own ^ argument) > last ? own : own ^ argument;
  }
}

uint64_t combined(emulator_kind kind, uint64_t a, uint64_t b)
{
  switch (kind) {
    case EMULATOR_REDUCE_ADD:
      return a + b;
    case EMULATOR_REDUCE_AND:
      return a & b;
    case EMULATOR_REDUCE_OR:
      return a | b;
    case EMULATOR_REDUCE_XOR:
      return a ^ b;
    case EMULATOR_REDUCE_MIN:
      return a < b ? a : b;
    case EMULATOR_REDUCE_MAX:
      return a > b ? a : b;
    case EMULATOR_REDUCE_MIN_SIGNED:
      return (int32_t)a < (int32_t)b ? a : b;
    default:
      return (int32_t)a > (int32_t)b ? a : b;
  }
}

void shuffle(lane *lanes, uint32_t mask)
{
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const unsigned own = (unsigned)lowest(rest);
    lane *l = &lanes[own];
    const unsigned source = source_of(l->kind, own, l->argument, l->width);
    /* CUDA does not say what comes from a lane that does not take part. */
    l->result = mask >> source & 1 ? lanes[source].value : 0xa5a5a5a5a5a5a5a5ull;
  }
}

void match(lane *lanes, uint32_t mask)
{
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    lane *l = &lanes[lowest(rest)];
    l->result = 0;
    for (uint32_t others = mask; others; others &= others - 1) {
      l->result |= lanes[lowest(others)].value == l->value ? others & -others : 0;
    }
  }
}

/* One value for all lanes. */
void reduce(lane *lanes, uint32_t mask, emulator_kind kind)
{
  uint64_t result = kind == EMULATOR_BALLOT ? 0 : lanes[lowest(mask)].value;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t value = lanes[lowest(rest)].value;
    if (kind == EMULATOR_BALLOT) {
      result |= value << lowest(rest);
    } else if (rest != mask) {
      result = combined(kind, result, value);
    }
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    lanes[lowest(rest)].result = result;
  }
}

/* Whether all lanes of the mask wait for each other; fails if they never will. */
int all_are_there(worker *w, const lane *own)
{
  const warp &v = w->warps[own->warp];
  const lane *lanes = &w->lanes[32 * own->warp];
  if (own->mask & v.ended) {
    fail(w, cudaErrorLaunchFailure, "%s of mask 0x%08x, but lane %d has ended", kind_names[own->kind], own->mask,
      lowest(own->mask & v.ended));
  }
  if ((v.waiting & own->mask) != own->mask) {
    return 0;
  }
  for (uint32_t rest = own->mask; rest; rest &= rest - 1) {
    const lane &other = lanes[lowest(rest)];
    if (other.mask != own->mask) {
      return 0;
    }
    if (other.kind != own->kind) {
      fail(w, cudaErrorLaunchFailure, "the lanes of mask 0x%08x are not together: at %s, lane %d at %s", own->mask,
        kind_names[own->kind], lowest(rest), kind_names[other.kind]);
    }
  }
  return 1;
}

} // namespace

uint64_t emulator_together(emulator_kind kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width)
{
  worker *w = self;
  lane *own = w->running, *lanes = &w->lanes[32 * own->warp];
  warp *v = &w->warps[own->warp];
  own->kind = kind;
  own->mask = mask;
  own->value = value;
  own->argument = argument;
  own->width = width;
  if (!(mask & own->bit)) {
    fail(w, cudaErrorLaunchFailure, "%s of mask 0x%08x by lane %d, which is not in it", kind_names[kind], mask,
      lowest(own->bit));
  }
  v->waiting |= own->bit;
  stop(w);
  if (!all_are_there(w, own)) {
    go_on(w, 1);
    return own->result;
  }
  if (kind >= EMULATOR_SHFL && kind <= EMULATOR_SHFL_XOR) {
    shuffle(lanes, mask);
  } else if (kind == EMULATOR_MATCH_ANY) {
    match(lanes, mask);
  } else if (kind != EMULATOR_SYNCWARP) {
    reduce(lanes, mask, kind);
  }
  v->waiting &= ~mask;
  set_runnable(w, own->warp, mask);
  go_on(w, emulator_random(&w->random) % 8 != 0);
  return own->result;
}

/* ---- of a block ---- */

void emulator::open_barrier(worker *w)
{
  emulator_kind kind = EMULATOR_KINDS;
  uint64_t sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (unsigned i = 0; i < w->threads; ++i) {
      lane *l = &w->lanes[i];
      if (!(w->warps[l->warp].at_barrier & l->bit)) {
        continue;
      }
      if (kind != EMULATOR_KINDS && l->kind != kind) {
        fail(
          w, cudaErrorLaunchFailure, "threads of the block are at %s and %s", kind_names[kind], kind_names[l->kind]);
      }
      kind = l->kind;
      sum += pass == 0 ? l->value : 0;
      l->result = sum;
    }
  }
  for (unsigned v = 0; v < WARPS; ++v) {
    if (w->warps[v].at_barrier) {
      set_runnable(w, v, w->warps[v].at_barrier);
      w->warps[v].at_barrier = 0;
    }
  }
  w->at_barrier = 0;
}

uint64_t emulator_block_together(emulator_kind kind, uint64_t value)
{
  worker *w = self;
  lane *own = w->running;
  own->kind = kind;
  own->mask = 0;
  own->value = value;
  w->warps[own->warp].at_barrier |= own->bit;
  stop(w);
  if (++w->at_barrier == w->alive) {
    open_barrier(w);
  }
  go_on(w, 0);
  return own->result;
}

void emulator_trap(void)
{
#if EMULATOR_ASAN
  /* Fibers before left frames on this stack, and what AddressSanitizer calls before a function that does not return uses it. */
  char *stack = (char *)self->running->stack;
  __asan_unpoison_memory_region(stack, (size_t)((char *)__builtin_frame_address(0) - stack));
#endif
  fail(self, cudaErrorLaunchFailure, "trap");
}
