/* SPDX-License-Identifier: BSD-3-Clause
 * A block from its first to its last instruction, and its shared memory: see emulator_block.h. */
#include "emulator_block.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Dynamic shared memory: the array that kernels declare by this name. */
alignas(128) thread_local unsigned char shared_memory[EMULATOR_SHARED];

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

using namespace emulator;

__thread worker *emulator::self;

namespace
{

/* What a fiber does. */
void run_lane(void)
{
  worker *w = self;
  lane *own = w->running;
#if EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
  w->work->call->run();
  warp *v = &w->warps[own->warp];
  v->ended |= own->bit;
  stop(w);
  for (uint32_t rest = v->waiting; rest; rest &= rest - 1) {
    const lane *other = &w->lanes[32 * own->warp + (unsigned)lowest(rest)];
    if (other->mask & own->bit) {
      fail(w, cudaErrorLaunchFailure, "ends, but lane %d waits for it at %s of mask 0x%08x", lowest(rest),
        kind_names[other->kind], other->mask);
    }
  }
  if (--w->alive == 0) {
    go_to(w, NULL);
  }
  if (w->at_barrier == w->alive) {
    open_barrier(w);
  }
  go_on(w, 1);
}

/* Finds the memory of this thread that the shared variables, which are thread-local, lie in. */
int find_shared(dl_phdr_info *info, size_t, void *data)
{
  worker *w = (worker *)data;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data) {
      char *begin = (char *)info->dlpi_tls_data, *end = begin + info->dlpi_phdr[i].p_memsz;
      if ((char *)shared_memory >= begin && (char *)shared_memory < end) {
        w->shared_begin = begin;
        w->shared_end = end;
        return 1;
      }
    }
  }
  return 0;
}

/* Only the emulator's code and kernels run on a worker, so all that is thread-local there is theirs. */
void poison_shared(worker *w)
{
  worker **own = &self;
  char *const after = (char *)shared_memory + sizeof(shared_memory);
  char *const used = (char *)shared_memory + w->work->shared_bytes;
#if EMULATOR_ASAN
  __asan_unpoison_memory_region(shared_memory, sizeof(shared_memory));
#endif
  memset(w->shared_begin, EMULATOR_POISON, (size_t)(used - w->shared_begin));
  memset(after, EMULATOR_POISON, (size_t)(w->shared_end - after));
#if EMULATOR_ASAN
  __asan_poison_memory_region(used, (size_t)(after - used));
#endif
  asm volatile("" : "+r"(own) : : "memory"); /* the compiler cannot know that it is overwritten */
  *own = w;
}

uint3 place_in(const dim3 &size, int64_t index)
{
  return { (unsigned)(index % size.x), (unsigned)(index / size.x % size.y), (unsigned)(index / size.x / size.y) };
}

void find_own_stack(worker *w)
{
  pthread_attr_t attributes;
  void *bottom = NULL;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &w->main_bytes);
  pthread_attr_destroy(&attributes);
  w->main_stack = (char *)bottom;
}

} // namespace

void emulator::prepare_worker(worker *w)
{
  self = w;
  find_own_stack(w);
  dl_iterate_phdr(find_shared, w);
  if (!w->shared_begin) {
    fprintf(stderr, "emulator: no thread-local storage found\n");
    abort();
  }
}

void emulator::run_block(worker *w, int64_t block, uint64_t launch)
{
  const emulator_work &work = *w->work;
  w->threads = w->alive = work.block.x * work.block.y * work.block.z;
  w->at_barrier = 0;
  w->runnable_warps = 0;
  w->random = emulator_seed() * 0x100000001b3ull + launch * 0x10001 + (uint64_t)block;
  memset(w->warps, 0, sizeof(w->warps));
  for (unsigned i = 0; i < w->threads; ++i) {
    lane *l = &w->lanes[i];
    l->place = place_in(work.block, i);
    l->warp = i / 32;
    l->bit = 1u << i % 32;
    l->kind = EMULATOR_SYNCTHREADS;
    /* Tops in different lines of the cache. */
    make_context(&l->context, l->stack, STACK - i % 60 * 64, run_lane);
    set_runnable(w, i / 32, l->bit);
  }
  poison_shared(w);
  blockIdx = place_in(work.grid, block);
  blockDim = { work.block.x, work.block.y, work.block.z };
  gridDim = { work.grid.x, work.grid.y, work.grid.z };
  w->running = NULL;
  go_to(w, &w->lanes[emulator_random(&w->random) % w->threads]);
#if EMULATOR_ASAN
  if (w->alive > 0) { /* fibers were left */
    __asan_unpoison_memory_region(w->stacks, EMULATOR_THREADS * (STACK + GUARD));
  }
#endif
}
