// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: memory of the large arrays of a filter's output.
#ifndef vtkPMBContourMemory_h
#define vtkPMBContourMemory_h

#include "vtkABINamespace.h"

#include <cstddef>
#include <memory>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// When a filter executes again VTK first empties its output. New memory in place of that memory costs a fifth of the time of
// an isovalue change, because the system has to hand over, and to clear, every page. So what is let go of between Open()
// and Close() is kept, to be handed out again; at all other times arrays give their memory back to the system when they
// go, and none is held that a mesh does not need. Arrays that something else still uses are not let go of.
//
// Any thread may call. Arrays may outlive this object.
class OutputMemory
{
public:
  OutputMemory();
  ~OutputMemory();
  OutputMemory(const OutputMemory&) = delete;
  void operator=(const OutputMemory&) = delete;

  // The output is about to be emptied. May be called again before Close().
  void Open();

  // Gives back what has not been used again.
  void Close();

  // Memory for Release(): a kept piece that fits, if no more than a quarter of it would be idle, else a new one. Null if
  // memory fails. Throws std::bad_alloc.
  void* Allocate(size_t bytes);

  // Memory for Release() that a GPU writes directly, from the core's pool. Null: ordinary memory has to do.
  static void* AllocatePinned(size_t bytes);

  // For vtkDataArray::SetArrayFreeFunction(). VTK's arrays keep that function when they get new memory from malloc (vtkBuffer,
  // up to 9.2 at least): it frees that too.
  static void Release(void* memory);

  // Smaller pieces are not worth it.
  static constexpr size_t Least = size_t(256) << 10, LeastPinned = size_t(64) << 10;

private:
  struct Store;
  std::shared_ptr<Store> Own;
};

// Memory for free(). Large pieces ask for huge pages. Null if memory fails.
void* AllocateBytes(size_t bytes);
}
VTK_ABI_NAMESPACE_END
#endif
