// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourWorkers.h"

#include <algorithm>
#include <exception>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
Workers::~Workers()
{
  this->Limit(1);
}

void Workers::Limit(int count)
{
  if (static_cast<int>(this->Threads.size()) < count)
  {
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Most = count - 1;
  }
  this->Begin.notify_all();
  while (static_cast<int>(this->Threads.size()) > count - 1)
  {
    this->Threads.back().join();
    this->Threads.pop_back();
  }
}

void Workers::Start(int threads)
{
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Most = std::max(this->Most, threads);
  }
  try
  {
    while (static_cast<int>(this->Threads.size()) < threads)
    {
      const int worker = static_cast<int>(this->Threads.size()) + 1;
      const unsigned generation = this->Generation;
      this->Threads.emplace_back([this, worker, generation] { this->Work(worker, generation); });
    }
  }
  catch (const std::exception&)
  {
    // Those that there are do it all.
  }
}

void Workers::Work(int worker, unsigned generation)
{
  std::unique_lock<std::mutex> lock(this->Mutex);
  for (;;)
  {
    this->Begin.wait(lock, [&] { return worker > this->Most || this->Generation != generation; });
    if (worker > this->Most)
    {
      return;
    }
    generation = this->Generation;
    if (worker < this->Count)
    {
      lock.unlock();
      this->Current(this->Arg, worker);
      lock.lock();
      if (--this->Running == 0)
      {
        this->Done.notify_one();
      }
    }
  }
}

void Workers::Run(int count, Task task, void* arg)
{
  this->Start(count - 1);
  if (count > 1)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Current = task;
    this->Arg = arg;
    this->Count = count;
    this->Running = std::min(static_cast<int>(this->Threads.size()), count - 1); // nobody waits for the others
    ++this->Generation;
    this->Begin.notify_all();
  }
  task(arg, 0);
  for (int worker = static_cast<int>(this->Threads.size()) + 1; worker < count; ++worker)
  {
    task(arg, worker);
  }
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Done.wait(lock, [this] { return this->Running == 0; });
}

pmb_executor Workers::GetExecutor()
{
  pmb_executor executor = {};
  executor.run = [](void* user, int workers, void (*task)(void* arg, int worker), void* arg)
  { static_cast<Workers*>(user)->Run(workers, task, arg); };
  executor.user = this;
  return executor;
}
}
VTK_ABI_NAMESPACE_END
