// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: describes VTK's arrays and images to the core.
#ifndef vtkPMBInput_h
#define vtkPMBInput_h

#include "vtkDataSetAttributes.h"
#include "vtkPMBProgress.h"
#include "vtkSmartPointer.h"

#include "pmb.h"

#include <map>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAbstractArray;
class vtkDataArray;
class vtkDataObject;
class vtkImageData;
class vtkInformation;
class vtkUnsignedCharArray;

namespace vtkPMB
{
// The values of an array, if they lie tuple after tuple in one piece of memory.
struct Memory
{
  void* Samples = nullptr; // null: they do not
  pmb_type Type = PMB_FLOAT32;
};
Memory FindMemory(vtkDataArray* array);

// Copies one component, or all of them (-1), into one piece of memory. Bits become unsigned char. Throws std::bad_alloc.
vtkSmartPointer<vtkDataArray> CopyToMemory(vtkDataArray* array, int component, const Report& report);

int64_t CountBytes(vtkDataArray* array);

// Samples along x, y, z by the data object's own extent. Thick: how many of the three are above 1; 0 for an image without
// points.
struct Dimensions
{
  explicit Dimensions(vtkImageData* image);
  int64_t CountPoints() const; // saturates
  int Extent[6];
  int Size[3];
  int Thick = 0;
};

// Accepts other grids besides image data, for which RefuseInput() names a filter. Composite input still comes block by block.
void AcceptInput(vtkInformation* port);
std::string RefuseInput(vtkDataObject* input);

// Checks the array that the filter found for SetInputArrayToProcess(0, ...), null if none, and returns it. Throws Failed.
vtkDataArray* CheckArray(
  vtkAlgorithm* filter, vtkImageData* image, vtkAbstractArray* found, int association, int component);

// Sample index (as in the extent, which need not begin with 0) to world, row-major 3 x 4. With `invertible`, spacing and
// direction must have an inverse. Throws Failed.
void MakeIndexToWorld(vtkImageData* image, bool invertible, double matrix[12]);

// The bits of vtkGhostType that hide, as in vtkUniformGrid.
const int HidesPoint = vtkDataSetAttributes::HIDDENPOINT;
const int HidesCell = vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL;

// The image's arrays vtkGhostType: unsigned chars of one component, one for each point or cell. Null: no such array fits.
struct Ghosts
{
  explicit Ghosts(vtkImageData* image);
  vtkUnsignedCharArray* Points;
  vtkUnsignedCharArray* Cells;
  std::map<std::string, std::string> Warnings; // about arrays that do not fit, by fault
};

// Returns when the samples may last have changed: the latest MTime of the image and of what is upstream. ParaView's
// vtkPVPostFilter copies the image at each execution, also for another isovalue: behind it the time is that of its input.
vtkMTimeType LastChange(vtkAlgorithm* filter, vtkImageData* image);

// A volume for the core and its source. This neither keeps the array alive nor reads it once the volume is bound: addresses and
// MTimes, which are unique, tell whether two bindings describe the same. (A vtkWeakPointer would write into the array, which
// filters in other threads may share.)
class Binding
{
public:
  // Describes one component of the array without reading it. imageTime: see LastChange(). Throws Failed where the core cannot
  // take the volume.
  void Describe(vtkImageData* image, vtkMTimeType imageTime, vtkDataArray* array, int component);

  // Only some layers of bricks give points and triangles: see pmb_volume.
  void SetLayers(int first, int count)
  {
    this->Volume.first_layer = first;
    this->Volume.layer_count = count;
  }

  // Whether the other describes the same samples at the same place, unchanged since.
  bool Matches(const Binding& other) const;

  // Copies the component once if the array is not in one piece of memory. Throws std::bad_alloc.
  void CopyIfNeeded(vtkDataArray* array, const Report& report);

  // Drops the copy. The binding still tells the volume from others, but cannot be bound.
  void DropCopy() { this->Copy = nullptr; }

  const pmb_volume& GetVolume() const { return this->Volume; }

  // Whether the volume's samples are the array's own.
  bool IsInPlace() const { return this->Samples != nullptr; }

  // When the samples, or the flags that hide some, may last have changed.
  vtkMTimeType GetTime() const { return this->Time; }

  int64_t GetCopyBytes() const { return this->Copy ? CountBytes(this->Copy) : 0; }

private:
  pmb_volume Volume = {};
  const void* Samples = nullptr;       // in the array itself, null if a copy is needed
  const vtkDataArray* Array = nullptr; // may be gone
  vtkSmartPointer<vtkDataArray> Copy;
  vtkMTimeType Time = 0;
  int Component = 0;
};
}

VTK_ABI_NAMESPACE_END
#endif
