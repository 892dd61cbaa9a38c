// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the threads of a filter, which all its contexts use in turn.
#ifndef vtkPMBContourWorkers_h
#define vtkPMBContourWorkers_h

#include "vtkABINamespace.h"

#include "pmb.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// Started when they are first needed, kept until the end or until fewer are wanted. One call at a time. It works as the core's
// own threads do (pmb_threads.c).
class Workers
{
public:
  using Task = void (*)(void* arg, int worker);

  Workers();
  ~Workers();
  Workers(const Workers&) = delete;
  void operator=(const Workers&) = delete;

  // Calls task(arg, worker) for worker 0 on this thread, and at the same time for those of the workers 1 to count - 1 that
  // come before worker 0 has returned; returns when all these have. So a task has to take its work, piece by piece, from what
  // is left for all.
  void Run(int count, Task task, void* arg);

  // Ends the threads of workers from this number on.
  void Limit(int count);

  // The same as Run() for the core.
  pmb_executor GetExecutor();

private:
  struct Member;

  bool Start();
  void Work(Member& member);
  std::uint64_t AwaitCall(Member& member, std::uint64_t seen);
  bool IsCalled(const Member& member, std::uint64_t seen, std::uint64_t& job) const;
  bool Join(std::uint64_t job);
  void Leave();
  void AwaitThreads();

  std::vector<std::unique_ptr<Member>> Members; // workers 1, 2, ...
  // The job: its number << 32 | its workers << 16 | Open | threads that are in it. It is open until worker 0 finds nothing left to
  // do in it; a thread that comes later is not waited for.
  static constexpr std::uint64_t Open = 1 << 15, Running = Open - 1;
  static constexpr int WorkersShift = 16, NumberShift = 32;
  std::atomic<std::uint64_t> Job{ 0 };
  std::atomic<bool> Exhausted{ false }; // a thread has found nothing left in the job
  std::atomic<bool> CallerAsleep{ false };
  std::mutex Mutex;
  std::condition_variable Done;
  Task Current = nullptr;
  void* Arg = nullptr;
};
}

VTK_ABI_NAMESPACE_END
#endif
