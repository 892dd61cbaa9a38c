// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to these modules: says things once.
#ifndef vtkPMBOnce_h
#define vtkPMBOnce_h

#include "vtkABINamespace.h"

#include <set>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
class Once
{
public:
  // Returns whether this comes for the first time.
  bool operator()(const std::string& what) { return this->Said.insert(what).second; }

private:
  std::set<std::string> Said;
};
}
VTK_ABI_NAMESPACE_END
#endif
