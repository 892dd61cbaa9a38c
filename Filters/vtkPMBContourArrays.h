// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: VTK's arrays as the core sees them, a type and an address.
#ifndef vtkPMBContourArrays_h
#define vtkPMBContourArrays_h

#include "vtkSmartPointer.h"

#include "vtkABINamespace.h"

#include "pmb.h"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;

namespace vtkPMBContour
{
// The values of an array, tuple after tuple. Samples is null for an array that does not keep them so.
struct Memory
{
  void* Samples = nullptr;
  pmb_type Type = PMB_FLOAT32;
};

// Where the values are, if they lie tuple after tuple in one piece of memory.
Memory FindMemory(vtkDataArray* array);

// These end the work on a block, as std::bad_alloc does.
struct Aborted // the filter was told to stop
{
};
struct Failed // the user is told
{
  std::string Error;
};

// Called every few milliseconds during long work, with how much of it is done, 0 to 1. Throws Aborted.
using Report = std::function<void(double fraction)>;

// The same for work that is part of the whole, from one fraction to another.
Report PartOf(const Report& report, double from, double to);

// A copy in one piece: of one component, or of all if component is -1. Bits become unsigned char. Throws std::bad_alloc.
vtkSmartPointer<vtkDataArray> CopyToMemory(vtkDataArray* array, int component, const Report& report);

// Guards what all filters of the process share. Hold it for moments, and take no other one meanwhile. A fork waits until
// it is free, so that the child finds it free.
std::mutex& GlobalMutex();

// When a filter executes again VTK first empties its output. New memory costs a fifth of the time of an isovalue change,
// because the system has to clear every page. So the memory of arrays that die between Open() and Close() is kept for new
// ones. At all other times it goes back to the system. Any thread may call. Arrays may outlive this object.
class OutputMemory
{
public:
  OutputMemory() = default;
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

  // For vtkDataArray::SetArrayFreeFunction(). VTK's arrays (vtkBuffer, up to 9.2 at least) keep that function when they get
  // new memory from malloc: it frees that too.
  static void Release(void* memory);

private:
  bool IsOpen = false;
  std::multimap<size_t, void*> Kept; // by size
};

// An array for n tuples to receive values interpolated from `source`: same name, kind of number and component names.
// Throws std::bad_alloc.
vtkSmartPointer<vtkDataArray> NewLike(vtkDataArray* source, vtkIdType n, OutputMemory* memory, bool pinned);

// Gives an array of tuples in one piece n new ones, without writing to them. Throws std::bad_alloc, where VTK itself may
// end the process. memory: where large ones come from and go to; null: the system. pinned: large ones are in memory that a
// GPU writes directly, if the core has some.
void Allocate(vtkDataArray* array, vtkIdType n, OutputMemory* memory = nullptr, bool pinned = false);

// Of all values.
int64_t CountBytes(vtkDataArray* array);
}

VTK_ABI_NAMESPACE_END
#endif
