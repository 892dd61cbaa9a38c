/* SPDX-License-Identifier: BSD-3-Clause
 * Runs a launch: threads of the host take its blocks in turn. See emulator.h. */
#include "emulator_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace emulator;

namespace
{

enum { WORKERS = EMULATOR_PROCESSORS * EMULATOR_BLOCKS, AT_ONCE = 2 };

/* The launch at work, and who works on it. */
struct launches {
  std::mutex one_at_a_time, lock;
  std::condition_variable begun, ended;
  worker *workers[WORKERS];
  int count;           /* of workers that there are */
  uint64_t number;     /* of the launch */
  int wanted, working; /* workers that have yet to take part; that do */
  emulator_work work;
  int64_t blocks, next_block;
  cudaError_t error;
};

launches &all = *new launches(); /* never destroyed: the workers wait until the program ends */

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

/* The next block of the launch; -1: there is none. */
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

/* Called with the lock. */
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

void emulator::set_error(cudaError_t error)
{
  const std::lock_guard<std::mutex> guard(all.lock);
  all.error = error;
}

cudaError_t emulator_run(const emulator_work *work)
{
  static const uint64_t seconds = emulator_setting("PMB_EMULATOR_SECONDS", 1200);
  const std::lock_guard<std::mutex> one(all.one_at_a_time);
  std::unique_lock<std::mutex> guard(all.lock);
  all.work = *work;
  all.blocks = (int64_t)work->grid.x * work->grid.y * work->grid.z;
  all.next_block = 0;
  all.error = cudaSuccess;
  ++all.number;
  const int count = (int)(work->together || all.blocks < AT_ONCE ? all.blocks : (int64_t)AT_ONCE);
  make_workers(count);
  all.wanted = count;
  all.begun.notify_all();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (all.wanted > 0 || all.working > 0) {
    if (all.ended.wait_until(guard, until) == std::cv_status::timeout) {
      fprintf(stderr,
        "emulator: a kernel with %lld blocks of %u threads has not ended after %llu s: a thread waits in a loop for "
        "what no other thread does; PMB_EMULATOR_SECONDS gives it more time\n",
        (long long)all.blocks, work->block.x * work->block.y * work->block.z, (unsigned long long)seconds);
      abort();
    }
  }
  return all.error;
}
