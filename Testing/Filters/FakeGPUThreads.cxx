// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: arrays are deleted by one thread while filters run, come and go in others, and a third asks and
// releases.
#include "FakeGPUTests.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

using namespace fakegputests;
using namespace pmbtest;

namespace
{
// What the threads share, under the mutex.
struct Shared
{
  std::mutex Mutex;
  std::condition_variable News;
  std::deque<vtkSmartPointer<vtkImageData>> ForDeletion;
  std::vector<vtkPMBContourFilter*> Alive;
  bool Done = false;
};

void Delete(Shared& shared)
{
  std::unique_lock<std::mutex> lock(shared.Mutex);
  while (!shared.Done || !shared.ForDeletion.empty())
  {
    shared.News.wait(lock, [&]() { return shared.Done || !shared.ForDeletion.empty(); });
    while (!shared.ForDeletion.empty())
    {
      vtkSmartPointer<vtkImageData> image = shared.ForDeletion.front();
      shared.ForDeletion.pop_front();
      lock.unlock();
      image = nullptr;
      lock.lock();
    }
  }
}

void AskAndRelease(Shared& shared)
{
  std::unique_lock<std::mutex> lock(shared.Mutex);
  for (int i = 0; !shared.Done; ++i)
  {
    for (vtkPMBContourFilter* filter : shared.Alive) // none goes while the lock is held
    {
      filter->GetDeviceBytes();
      filter->GetNumberOfUploads();
      if (i % 8 == 0)
      {
        filter->ReleaseDeviceMemory();
      }
    }
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

// One volume after another; each is left to the thread that deletes.
void RunSome(vtkPMBContourFilter* filter, double period, Shared& shared)
{
  for (int i = 0; i < 6; ++i)
  {
    auto image = MakeImage(33, 20, 10, VTK_FLOAT, Gyroid(period + 0.1 * i));
    filter->SetInputData(image);
    filter->Update();
    if (filter->GetOutput()->GetNumberOfPolys() < 100)
    {
      Fail(__FILE__, __LINE__, std::string("too few triangles: ") + filter->GetLastRunSummary());
    }
    filter->SetInputData(nullptr);
    const std::lock_guard<std::mutex> lock(shared.Mutex);
    shared.ForDeletion.push_back(image);
    image = nullptr;
    shared.News.notify_one();
  }
}

// Four filters, one after another.
void Work(int seed, Shared& shared)
{
  for (int life = 0; life < 4; ++life)
  {
    auto filter = vtkSmartPointer<vtkPMBContourFilter>::New();
    filter->SetNumberOfThreads(1);
    filter->SetValue(0, 0.1);
    {
      const std::lock_guard<std::mutex> lock(shared.Mutex);
      shared.Alive.push_back(filter);
    }
    RunSome(filter, 5.0 + seed, shared);
    const std::lock_guard<std::mutex> lock(shared.Mutex);
    shared.Alive.erase(std::find(shared.Alive.begin(), shared.Alive.end(), filter.Get()));
  }
}
}

void fakegputests::TestThreads()
{
  fakegpu::Reset();
  const int before = fakegpu::PiecesHeld();
  Shared shared;
  std::thread deleter(Delete, std::ref(shared)), asker(AskAndRelease, std::ref(shared));
  std::vector<std::thread> workers;
  for (int seed = 0; seed < 3; ++seed)
  {
    workers.emplace_back(Work, seed, std::ref(shared));
  }
  for (std::thread& worker : workers)
  {
    worker.join();
  }
  {
    const std::lock_guard<std::mutex> lock(shared.Mutex);
    shared.Done = true;
  }
  shared.News.notify_one();
  deleter.join();
  asker.join();
  PMB_EQUAL(fakegpu::BytesHeld() + fakegpu::Contexts(), 0, "left on the GPU");
  PMB_EQUAL(fakegpu::PiecesHeld(), before, "host memory not given back");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}
