// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the mutex of a registry that all filters of the process share.
#ifndef vtkPMBContourGlobalMutex_h
#define vtkPMBContourGlobalMutex_h

#include "vtkABINamespace.h"

#include <mutex>

#if !defined(_WIN32)
#include <pthread.h>
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// The member Mutex of a Registry with a static Get(). A fork waits until it is free, so that the child finds it free and the
// registry whole. Hold it for moments only, and take no other one meanwhile. Never destroyed.
template <typename Registry>
class GlobalMutex : public std::mutex
{
public:
#if !defined(_WIN32)
  GlobalMutex()
  {
    pthread_atfork(Lock, Unlock, Unlock);
  }

private:
  static void Lock()
  {
    Registry::Get().Mutex.lock();
  }
  static void Unlock()
  {
    Registry::Get().Mutex.unlock();
  }
#endif
};
}

VTK_ABI_NAMESPACE_END
#endif
