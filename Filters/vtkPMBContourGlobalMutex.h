// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: a mutex of what all filters of the process have in common.
#ifndef vtkPMBContourGlobalMutex_h
#define vtkPMBContourGlobalMutex_h

#include "vtkABINamespace.h"

#include <mutex>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// A forked process finds it free and what it guards whole, whatever other threads were at: a fork waits until it is free. So it
// is held for moments only, and whoever holds it takes no other one and calls nothing that may fork. Never destroyed.
class GlobalMutex
{
public:
  GlobalMutex();
  GlobalMutex(const GlobalMutex&) = delete;
  void operator=(const GlobalMutex&) = delete;

  void lock() { this->Own.lock(); }
  void unlock() { this->Own.unlock(); }

private:
  struct Forks; // the handlers

  std::mutex Own;
  GlobalMutex* Next;
};
}

VTK_ABI_NAMESPACE_END
#endif
