// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the threads of a filter, which all its contexts use in turn.
#ifndef vtkPMBContourWorkers_h
#define vtkPMBContourWorkers_h

#include "vtkABINamespace.h"

#include "pmb.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// Started when they are first needed, kept until the end or until fewer are wanted. One call at a time.
class Workers
{
public:
  using Task = void (*)(void* arg, int worker);

  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  void operator=(const Workers&) = delete;

  // Calls task(arg, worker) once for every worker from 0 to count - 1, number 0 on this thread, and returns when all
  // have returned. Where a thread cannot be started this one does its work too.
  void Run(int count, Task task, void* arg);

  // Ends the threads of workers from this number on: idle ones would be woken by every call.
  void Limit(int count);

  // The same as Run() for the core.
  pmb_executor GetExecutor();

private:
  void Start(int threads);
  void Work(int worker, unsigned generation);

  std::mutex Mutex;
  std::condition_variable Begin;
  std::condition_variable Done;
  std::vector<std::thread> Threads; // workers 1, 2, ...
  unsigned Generation = 0;          // counts the calls
  int Count = 0;                    // workers of the current call
  int Running = 0;                  // threads of these still in it
  int Most = 0;                     // threads that are to be there
  Task Current = nullptr;
  void* Arg = nullptr;
};
}

VTK_ABI_NAMESPACE_END
#endif
