/* SPDX-License-Identifier: BSD-3-Clause
 * Runs kernels. Threads of the host (workers) take the blocks of a launch in order. A worker runs a block with a fiber for each
 * of its threads (lanes). Fibers switch only where threads wait for each other: in shuffles, votes and barriers. */
#include "emulator.h"

#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATOR_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define EMULATOR_ASAN 0
#endif

/* Dynamic shared memory; kernels declare the array by this name. */
alignas(128) thread_local unsigned char shared_memory[EMULATOR_SHARED];

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

/* Pushes the callee-saved registers, stores the stack's top in *from, and continues on the stack with the top `to`. */
extern "C" void emulator_switch(void **from, void *to);
asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, @function
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulator_switch, . - emulator_switch
)");

namespace
{

enum { WARPS = EMULATOR_THREADS / 32 };
const size_t STACK = 128 * 1024, GUARD = 4096; /* bytes of a lane's stack, and of the inaccessible guard before it */

/* A thread of a block, with its own fiber. */
struct lane {
  void *top;   /* of its stack, which holds its registers while another runs */
  uint3 place; /* in the block */
  unsigned warp;
  uint32_t bit; /* in the masks of its warp */
  emulator_kind kind;
  uint32_t mask, argument;
  uint64_t value, result;
  char *stack;
};

/* The states of a warp's lanes: each that has begun and not ended is in one of the first three masks. */
struct warp {
  uint32_t runnable, waiting, at_barrier, ended;
  unsigned turn; /* the lane where the order begins */
  int backwards;
};

/* A thread of the host that runs blocks. */
struct worker {
  lane lanes[EMULATOR_THREADS];
  warp warps[WARPS];
  uint32_t runnable_warps;
  unsigned threads, alive, at_barrier;
  lane *running;
  void *main;       /* top of the worker's own stack, likewise */
  char *main_stack; /* its bounds, for AddressSanitizer */
  size_t main_bytes;
  char *stacks;
  uint64_t random;
  const emulator_work *work;
  char *shared_begin, *shared_end; /* memory of the kernels' shared variables */
};

__thread worker *self; /* of this thread of the host */

enum { WORKERS = EMULATOR_PROCESSORS * EMULATOR_BLOCKS, AT_ONCE = 2 };

/* The current launch, and its workers. */
struct launches {
  std::mutex one_at_a_time, lock;
  std::condition_variable begun, ended;
  worker *workers[WORKERS];
  int count;           /* of workers */
  uint64_t number;     /* of the launch */
  int wanted, working; /* workers still to join; workers that run blocks */
  emulator_work work;
  int64_t blocks, next_block;
  cudaError_t error;
};

launches &all = *new launches(); /* never destroyed: the workers wait until the program ends */

/* Fails the current launch: no further block begins. */
void set_error(cudaError_t error)
{
  const std::lock_guard<std::mutex> guard(all.lock);
  all.error = error;
}

/* ---- turns ---- */

const char *const kind_names[EMULATOR_KINDS] = { "__syncthreads", "__syncwarp", "__shfl_sync", "__shfl_up_sync",
  "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync", "__reduce_add_sync" };

int lowest(uint32_t bits)
{
  return __builtin_ctz(bits);
}

/* The first of the bits in cyclic order: from `turn` upwards, or from below it downwards. */
int next_in_turn(uint32_t bits, unsigned turn, int backwards)
{
  const uint32_t turned = bits >> turn | bits << (-turn & 31);
  return (int)((unsigned)(backwards ? 31 - __builtin_clz(turned) : lowest(turned)) + turn) & 31;
}

/* Switches to another fiber, or with NULL to the worker's own stack. Returns when another fiber switches back, which none does
 * once this one has ended. Not sanitized: poison around `fake` would stay on the stack for the next block's fiber. */
__attribute__((no_sanitize_address)) void switch_to(worker *w, lane *to)
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
  emulator_switch(from ? &from->top : &w->main, to ? to->top : w->main);
#if EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

/* Fails the launch and leaves the block's fibers as they are. Does not return. AddressSanitizer must not know that: it would call
 * functions on a stack with poison of earlier fibers. */
__attribute__((noipa, format(printf, 3, 4))) void fail(worker *w, cudaError_t error, const char *format, ...)
{
  const uint3 t = w->running->place, b = blockIdx;
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  fprintf(stderr, "emulator: block (%u,%u,%u), thread (%u,%u,%u): %s\n", b.x, b.y, b.z, t.x, t.y, t.z, text);
  set_error(error);
  switch_to(w, NULL);
  abort();
}

/* Switches to a runnable lane; stay: in this warp if possible. */
void switch_to_next(worker *w, int stay)
{
  const lane *own = w->running;
  if (!w->runnable_warps) {
    fail(w, cudaErrorLaunchFailure, "all threads of the block wait for others, this one at %s of mask 0x%08x",
      kind_names[own->kind], own->mask);
  }
  unsigned next = own->warp;
  if (!stay || !(w->runnable_warps >> next & 1)) {
    next = (unsigned)next_in_turn(w->runnable_warps, (unsigned)(emulator_random(&w->random) & 31), 0);
  }
  const warp &v = w->warps[next];
  switch_to(w, &w->lanes[32 * next + (unsigned)next_in_turn(v.runnable, v.turn, v.backwards)]);
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

/* Makes the running lane not runnable. */
void set_not_runnable(worker *w)
{
  warp *v = &w->warps[w->running->warp];
  v->runnable &= ~w->running->bit;
  if (!v->runnable) {
    w->runnable_warps &= ~(1u << w->running->warp);
  }
}

/* ---- threads of a warp together ---- */

/* The lane whose value a shuffle takes. */
unsigned source_of(emulator_kind kind, unsigned own, uint32_t argument)
{
  switch (kind) {
    case EMULATOR_SHFL:
      return argument & 31;
    case EMULATOR_SHFL_UP:
      return own < argument ? own : own - argument;
    case EMULATOR_SHFL_DOWN:
      return own + argument > 31 ? own : own + argument;
    default:
      return own ^ argument;
  }
}

void shuffle(lane *lanes, uint32_t mask)
{
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const unsigned own = (unsigned)lowest(rest);
    const unsigned source = source_of(lanes[own].kind, own, lanes[own].argument);
    /* CUDA does not define the value of a lane outside the mask. */
    lanes[own].result = mask >> source & 1 ? lanes[source].value : 0xa5a5a5a5a5a5a5a5ull;
  }
}

/* Gives all lanes of the mask their ballot or sum. */
void reduce(lane *lanes, uint32_t mask, emulator_kind kind)
{
  uint64_t result = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    result += lanes[lowest(rest)].value << (kind == EMULATOR_BALLOT ? lowest(rest) : 0);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    lanes[lowest(rest)].result = result;
  }
}

/* Whether all lanes of the mask have arrived. Fails the launch if they never will. */
int all_have_arrived(worker *w, const lane *own)
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

/* ---- blocks ---- */

/* Makes all lanes runnable that wait at the barrier. */
void open_barrier(worker *w)
{
  for (unsigned v = 0; v < WARPS; ++v) {
    if (w->warps[v].at_barrier) {
      set_runnable(w, v, w->warps[v].at_barrier);
      w->warps[v].at_barrier = 0;
    }
  }
  w->at_barrier = 0;
}

/* A fiber's function. */
void run_lane(void)
{
  worker *w = self;
  lane *own = w->running;
#if EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
  w->work->run();
  warp *v = &w->warps[own->warp];
  v->ended |= own->bit;
  set_not_runnable(w);
  for (uint32_t rest = v->waiting; rest; rest &= rest - 1) {
    const lane *other = &w->lanes[32 * own->warp + (unsigned)lowest(rest)];
    if (other->mask & own->bit) {
      fail(w, cudaErrorLaunchFailure, "ends, but lane %d waits for it at %s of mask 0x%08x", lowest(rest),
        kind_names[other->kind], other->mask);
    }
  }
  if (--w->alive == 0) {
    switch_to(w, NULL);
  }
  if (w->at_barrier == w->alive) {
    open_barrier(w);
  }
  switch_to_next(w, 1);
}

/* Finds the memory of the kernels' shared variables, which are variables of this thread. */
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

/* Fills shared variables with poison: all thread-local ones of the worker, which runs only the emulator and kernels. */
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
  asm volatile("" : "+r"(own) : : "memory"); /* hides from the compiler that `self` is overwritten */
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

void prepare_worker(worker *w)
{
  self = w;
  find_own_stack(w);
  dl_iterate_phdr(find_shared, w);
  if (!w->shared_begin) {
    fprintf(stderr, "emulator: no thread-local storage found\n");
    abort();
  }
}

void run_block(worker *w, int64_t block, uint64_t launch)
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
    /* Tops lie in different cache lines. */
    void **top = (void **)(l->stack + STACK - i % 60 * 64);
    *--top = NULL; /* the return address of run_lane, never used */
    *--top = (void *)run_lane;
    l->top = memset(top - 6, 0, 6 * sizeof(*top)); /* registers */
    set_runnable(w, i / 32, l->bit);
  }
  poison_shared(w);
  blockIdx = place_in(work.grid, block);
  blockDim = { work.block.x, work.block.y, work.block.z };
  gridDim = { work.grid.x, work.grid.y, work.grid.z };
  w->running = NULL;
  switch_to(w, &w->lanes[emulator_random(&w->random) % w->threads]);
#if EMULATOR_ASAN
  if (w->alive > 0) { /* the launch failed */
    __asan_unpoison_memory_region(w->stacks, EMULATOR_THREADS * (STACK + GUARD));
  }
#endif
}

/* ---- launches ---- */

void make_stacks(worker *w)
{
  const size_t bytes = EMULATOR_THREADS * (STACK + GUARD);
  w->stacks = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (w->stacks == MAP_FAILED) {
    perror("emulator: stacks");
    abort();
  }
  for (int i = 0; i < EMULATOR_THREADS; ++i) {
    char *guard = w->stacks + (size_t)i * (STACK + GUARD);
    mprotect(guard, GUARD, PROT_NONE);
    w->lanes[i].stack = guard + GUARD;
  }
}

/* The next block of the launch, or -1. */
int64_t take_block(void)
{
  const std::lock_guard<std::mutex> guard(all.lock);
  return all.error == cudaSuccess && all.next_block < all.blocks ? all.next_block++ : -1;
}

void work_forever(worker *w)
{
  prepare_worker(w);
  std::unique_lock<std::mutex> guard(all.lock);
  for (;;) {
    all.begun.wait(guard, [] { return all.wanted > 0; });
    --all.wanted;
    ++all.working;
    w->work = &all.work;
    const uint64_t launch = all.number;
    guard.unlock();
    for (int64_t block = take_block(); block >= 0; block = take_block()) {
      run_block(w, block, launch);
    }
    guard.lock();
    --all.working;
    all.ended.notify_all();
  }
}

/* The caller holds the lock. */
void make_workers(int count)
{
  for (; all.count < count; ++all.count) {
    worker *w = new worker();
    make_stacks(w);
    all.workers[all.count] = w;
    std::thread(work_forever, w).detach();
  }
}

} // namespace

cudaError_t emulator_run(const emulator_work *work)
{
  const std::lock_guard<std::mutex> one(all.one_at_a_time);
  std::unique_lock<std::mutex> guard(all.lock);
  all.work = *work;
  all.blocks = (int64_t)work->grid.x * work->grid.y * work->grid.z;
  all.next_block = 0;
  all.error = cudaSuccess;
  ++all.number;
  const int count = (int)(work->is_cooperative || all.blocks < AT_ONCE ? all.blocks : (int64_t)AT_ONCE);
  make_workers(count);
  all.wanted = count;
  all.begun.notify_all();
  all.ended.wait(guard, [] { return all.wanted == 0 && all.working == 0; });
  return all.error;
}

/* ---- functions for kernels ---- */

uint64_t emulator_together(emulator_kind kind, uint32_t mask, uint64_t value, uint32_t argument)
{
  worker *w = self;
  lane *own = w->running, *lanes = &w->lanes[32 * own->warp];
  warp *v = &w->warps[own->warp];
  own->kind = kind;
  own->mask = mask;
  own->value = value;
  own->argument = argument;
  if (!(mask & own->bit)) {
    fail(w, cudaErrorLaunchFailure, "%s of mask 0x%08x by lane %d, which is not in it", kind_names[kind], mask,
      lowest(own->bit));
  }
  v->waiting |= own->bit;
  set_not_runnable(w);
  if (!all_have_arrived(w, own)) {
    switch_to_next(w, 1);
    return own->result;
  }
  if (kind >= EMULATOR_SHFL && kind <= EMULATOR_SHFL_XOR) {
    shuffle(lanes, mask);
  } else if (kind != EMULATOR_SYNCWARP) {
    reduce(lanes, mask, kind);
  }
  v->waiting &= ~mask;
  set_runnable(w, own->warp, mask);
  switch_to_next(w, emulator_random(&w->random) % 8 != 0);
  return own->result;
}

void __syncthreads(void)
{
  worker *w = self;
  lane *own = w->running;
  own->kind = EMULATOR_SYNCTHREADS;
  own->mask = 0;
  w->warps[own->warp].at_barrier |= own->bit;
  set_not_runnable(w);
  if (++w->at_barrier == w->alive) {
    open_barrier(w);
  }
  switch_to_next(w, 0);
}

void __trap(void)
{
  fail(self, cudaErrorLaunchFailure, "trap");
}
