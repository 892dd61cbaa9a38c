// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourGlobalMutex.h"

#if !defined(_WIN32)
#include <pthread.h>
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
struct GlobalMutex::Forks
{
  std::mutex Mutex; // of the list
  GlobalMutex* First = nullptr;

  // Never destroyed: a process may fork while it ends.
  static Forks& Get()
  {
    static auto* forks = new Forks;
    return *forks;
  }

  Forks()
  {
#if !defined(_WIN32)
    pthread_atfork(Before, After, After);
#endif
  }

  static void Before()
  {
    Forks& forks = Get();
    forks.Mutex.lock();
    for (GlobalMutex* mutex = forks.First; mutex; mutex = mutex->Next)
    {
      mutex->lock();
    }
  }

  static void After()
  {
    Forks& forks = Get();
    for (GlobalMutex* mutex = forks.First; mutex; mutex = mutex->Next)
    {
      mutex->unlock();
    }
    forks.Mutex.unlock();
  }
};

GlobalMutex::GlobalMutex()
{
  Forks& forks = Forks::Get();
  const std::lock_guard<std::mutex> lock(forks.Mutex);
  this->Next = forks.First;
  forks.First = this;
}
}
VTK_ABI_NAMESPACE_END
