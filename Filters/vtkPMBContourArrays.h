// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: VTK's arrays as the core sees them, a type and an address.
#ifndef vtkPMBContourArrays_h
#define vtkPMBContourArrays_h

#include "vtkSmartPointer.h"

#include "pmb.h"

#include <functional>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkImageData;

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

// Asked during long work, with how much of it is done, 0 to 1; says whether to go on.
using GoOn = std::function<bool(double fraction)>;

// A copy that does lie so: of one component, or of all if component is -1. Bits become unsigned char. Null if `goOn`, asked
// every few milliseconds, says no. Throws std::bad_alloc.
vtkSmartPointer<vtkDataArray> CopyToMemory(vtkDataArray* array, int component, const GoOn& goOn);

class OutputMemory;

// An array for n tuples to receive values interpolated from `source`: same name, kind of number and component names.
// Throws std::bad_alloc.
vtkSmartPointer<vtkDataArray> NewLike(vtkDataArray* source, vtkIdType n, OutputMemory* memory, bool pinned);

// Gives an array of tuples in one piece n of them, whatever it held before, without writing to them. Throws
// std::bad_alloc, where VTK's own way, depending on how it was built, may end the process. memory: where much of it comes
// from and goes to; null: the system. pinned: much of it is memory that a GPU writes directly, if there is some.
void Allocate(vtkDataArray* array, vtkIdType n, OutputMemory* memory = nullptr, bool pinned = false);

// Of all values.
int64_t CountBytes(vtkDataArray* array);

// The point arrays of the image that can be interpolated and whose names are free: numeric, a tuple for each point,
// neither global or pedigree ids nor ghost types, not `contoured`, and not named as an array of `taken`.
std::vector<vtkDataArray*> FindPassedArrays(
  vtkImageData* image, vtkDataArray* contoured, const std::vector<const char*>& taken);
}

VTK_ABI_NAMESPACE_END
#endif
