// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: what filters have to know of an array that they share.
#ifndef vtkPMBContourWatch_h
#define vtkPMBContourWatch_h

#include "vtkABINamespace.h"
#include "vtkType.h"

#include <cstdint>
#include <memory>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;

namespace vtkPMBContour
{
class ArrayWatcher
{
public:
  virtual ~ArrayWatcher() = default;

  // Called while the array is being deleted, on the thread that does so.
  virtual void OnArrayDeleted(const vtkDataArray* array) = 0;
};

// Tells the watcher when the array is deleted, if the watcher is still there then. May be called for the same pair again.
// From any thread; at most once in its life is an observer added to an array, and none is ever removed: VTK's lists of
// observers are not made for threads, and an array may be deleted by any of them.
void WatchArray(vtkDataArray* array, const std::shared_ptr<ArrayWatcher>& watcher);

// A number for the samples of a watched array that somebody is about to read who knows of no change after `changed`: the
// time, on VTK's clock, from which on they have been read under this number. Whoever knows of no later change may use what
// others have read under it.
uint64_t VersionToRead(vtkDataArray* array, vtkMTimeType changed);
}

VTK_ABI_NAMESPACE_END
#endif
