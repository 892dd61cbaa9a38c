// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: memory of arrays.
#ifndef vtkPMBMemory_h
#define vtkPMBMemory_h

#include "vtkDataArray.h"
#include "vtkSmartPointer.h"

#include <cstddef>
#include <map>
#include <mutex>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
// Guards what all filters of the process share. Hold it briefly and take no other mutex meanwhile. A fork waits until it is
// free, so that it is free in the child.
std::mutex& GlobalMutex();

// Keeps the memory of arrays that are deleted between Open() and Close() for new ones; at other times it returns to the system.
// VTK empties the output before a filter executes again, and new memory takes a fifth of the time of an isovalue change,
// because the system clears every page. Any thread may call this. Arrays may outlive it.
class OutputMemory
{
public:
  OutputMemory() = default;
  ~OutputMemory();
  OutputMemory(const OutputMemory&) = delete;
  void operator=(const OutputMemory&) = delete;

  // Call these before VTK empties the output, any number of times, and after the new output has its arrays. Close() frees
  // what was not used again.
  void Open();
  void Close();

  // Returns memory for Release(): a kept piece of which at most a quarter stays idle, else a new one; null if memory fails.
  // Throws std::bad_alloc.
  void* Allocate(size_t bytes);

  // Returns memory for Release() from the core's pool, which a GPU writes directly, or null.
  static void* AllocatePinned(size_t bytes);

  // For vtkDataArray::SetArrayFreeFunction(). VTK's arrays (vtkBuffer, up to 9.2 at least) keep that function when they get
  // new memory from malloc: it frees that too.
  static void Release(void* memory);

private:
  bool IsOpen = false;
  std::multimap<size_t, void*> Kept; // by size
};

// Makes an array of n tuples for values interpolated from `source`: same name, type and component names. Throws std::bad_alloc.
vtkSmartPointer<vtkDataArray> NewLike(vtkDataArray* source, vtkIdType n, OutputMemory* memory, bool pinned);

// Allocates n tuples without writing to them. Throws std::bad_alloc, where VTK itself may end the process. memory: keeps large
// ones; null: none. pinned: puts large ones into memory that a GPU writes directly, if the core has some.
void Allocate(vtkDataArray* array, vtkIdType n, OutputMemory* memory = nullptr, bool pinned = false);
}
VTK_ABI_NAMESPACE_END
#endif
