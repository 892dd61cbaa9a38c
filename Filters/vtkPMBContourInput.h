// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: from a vtkImageData and one of its arrays to the core's volume.
#ifndef vtkPMBContourInput_h
#define vtkPMBContourInput_h

#include "vtkPMBContourArrays.h"

#include <algorithm>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAbstractArray;
class vtkAlgorithm;
class vtkDataObject;
class vtkInformation;
class vtkUnsignedCharArray;

namespace vtkPMBContour
{
// Samples along x, y, z, by the data object's own extent, and how many of the three are above 1. Thick is 0 for an
// image without any point.
struct Dimensions
{
  explicit Dimensions(vtkImageData* image);
  int64_t CountPoints() const; // the greatest number for more than that
  int Extent[6];
  int Size[3];
  int Thick;
};

// What the user has chosen, before anything is known about it.
struct ArrayChoice
{
  // As set by SetInputArrayToProcess(0, ...); array and association: what the filter finds for it.
  ArrayChoice(vtkAlgorithm* filter, vtkAbstractArray* array, int association, int component);

  vtkAbstractArray* Array; // null: there is none of the name asked for
  int Association;         // vtkDataObject::FIELD_ASSOCIATION_...
  int Component;
  std::string Name; // as asked for; empty: the active scalars
};

// The array to contour, checked. Null: `error` says what is wrong, with values, and what to do.
vtkDataArray* CheckArray(vtkImageData* image, const ArrayChoice& choice, std::string& error);

// Sample index (as in the extent, which need not begin with 0) to world, row-major 3 x 4. With `invertible`, spacing and
// direction must have an inverse. False: `error` says why not.
bool MakeIndexToWorld(vtkImageData* image, bool invertible, double matrix[12], std::string& error);

// The image's arrays vtkGhostType: unsigned chars of one component, one for each point or cell. Null: there is none that
// is so.
struct Ghosts
{
  vtkUnsignedCharArray* Points = nullptr;
  vtkUnsignedCharArray* Cells = nullptr;
};

// The bits of these that hide, as in vtkUniformGrid.
// Lets other grids in beside image data: RefuseInput() then says in one sentence what else does it, where VTK prints three
// messages that do not. Composite input still comes block by block.
void AcceptInput(vtkInformation* port);
std::string RefuseInput(vtkDataObject* input);

enum HidingBits
{
  HidesPoint = 2,    // vtkDataSetAttributes::HIDDENPOINT
  HidesCell = 32 | 8 // HIDDENCELL, REFINEDCELL
};

Ghosts FindGhosts(vtkImageData* image);

// What is wrong with those that FindGhosts() leaves out. told: what was said before is not said again; starts with 0.
std::vector<std::string> ExplainGhosts(vtkImageData* image, unsigned& told);

// A volume as the core is to have it or has it bound, and what it is made from. The array is not kept alive by this,
// and not looked at again once the volume is bound: two bindings tell by address and time of change alone whether they
// describe the same. (No two states of any two VTK objects have the same time. A vtkWeakPointer would be no help: it
// writes into the array, which filters in other threads may share.)
class Binding
{
public:
  // Describes one component of the array, without reading it. imageTime: when the image as a whole was modified, 0 if
  // that says nothing about the samples. False: `error` says why the core cannot take the volume.
  bool Describe(vtkImageData* image, vtkMTimeType imageTime, vtkDataArray* array, int component, std::string& error);

  // Whether the other describes the same samples at the same place, unchanged since.
  bool Matches(const Binding& other) const;

  // Whether the other is made from the same array, whatever has changed since.
  bool IsOfArrayOf(const Binding& other) const { return this->Array && this->Array == other.Array; }

  // Where the described array is not in one piece of memory, copies the component, once. False: `goOn` said no. Throws
  // std::bad_alloc.
  bool CopyIfNeeded(vtkDataArray* array, const GoOn& goOn);

  // What is left still tells the volume from others, but cannot be bound.
  void DropCopy() { this->Copy = nullptr; }

  const pmb_volume& GetVolume() const { return this->Volume; }

  // Whether the volume's samples are the array's own.
  bool IsInPlace() const { return this->Samples != nullptr; }

  // When they, or what of them is hidden, may last have changed.
  vtkMTimeType GetTime() const { return std::max({ this->ArrayTime, this->ImageTime, this->GhostTime }); }

  // Of the copy, if there is one.
  int64_t GetCopyBytes() const;

private:
  void DescribeHidden(vtkImageData* image);

  pmb_volume Volume = {};
  const void* Samples = nullptr;       // in the array itself, null if a copy is needed
  const vtkDataArray* Array = nullptr; // may be gone
  vtkSmartPointer<vtkDataArray> Copy;
  vtkMTimeType ArrayTime = 0;
  vtkMTimeType ImageTime = 0;
  vtkMTimeType GhostTime = 0;
  int Component = 0;
};
}

VTK_ABI_NAMESPACE_END
#endif
