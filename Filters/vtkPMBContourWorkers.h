// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the threads of a filter, which all its contexts use in turn.
#ifndef vtkPMBContourWorkers_h
#define vtkPMBContourWorkers_h

#include "vtkABINamespace.h"

#include "pmb.h"

#include <memory>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// Started when they are first needed, kept until the end or until fewer are wanted. One call at a time. It works as the core's
// own threads do (pmb_threads.c). In a forked process there are new ones.
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
  // is left for all. Returns false in a process that was forked meanwhile, by the task: threads that were at work are missing
  // there.
  bool Run(int count, Task task, void* arg);

  // Ends the threads of workers from this number on.
  void Limit(int count);

  // The same as Run() for the core.
  pmb_executor GetExecutor();

private:
  class Team;

  void LeaveBehind();

  std::unique_ptr<Team> Own;
};
}

VTK_ABI_NAMESPACE_END
#endif
