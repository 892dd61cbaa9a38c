// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: from a vtkImageData and one of its arrays to the core's volume.
#ifndef vtkPMBContourInput_h
#define vtkPMBContourInput_h

#include "vtkPMBContourArrays.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAbstractArray;
class vtkAlgorithm;
class vtkDataObject;
class vtkImageData;
class vtkInformation;
class vtkInformationIdTypeKey;
class vtkUnsignedCharArray;

namespace vtkPMBContour
{
// Samples along x, y, z, by the data object's own extent, and how many of the three are above 1. Thick is 0 for an
// image without any point.
struct Dimensions
{
  explicit Dimensions(vtkImageData* image);
  int64_t CountPoints() const; // at most the greatest number
  int Extent[6];
  int Size[3];
  int Thick = 0;
};

// Lets other grids in beside image data: RefuseInput() then says in one sentence what else contours them, where VTK prints
// three messages that do not. Composite input still comes block by block.
void AcceptInput(vtkInformation* port);
std::string RefuseInput(vtkDataObject* input);

// Checks the array to contour, which the filter found, with its association, for SetInputArrayToProcess(0, ...); null if it
// found none. Returns it, or null, and `error` says what is wrong, with values, and what to do.
vtkDataArray* CheckArray(vtkAlgorithm* filter, vtkImageData* image, vtkAbstractArray* found, int association,
  int component, std::string& error);

// Sample index (as in the extent, which need not begin with 0) to world, row-major 3 x 4. With `invertible`, spacing and
// direction must have an inverse. False: `error` says why not.
bool MakeIndexToWorld(vtkImageData* image, bool invertible, double matrix[12], std::string& error);

// The bits of vtkGhostType that hide, as in vtkUniformGrid.
enum HidingBits
{
  HidesPoint = 2,    // vtkDataSetAttributes::HIDDENPOINT
  HidesCell = 32 | 8 // HIDDENCELL, REFINEDCELL
};

// The image's arrays vtkGhostType: unsigned chars of one component, one for each point or cell. Null: the image has none
// that fits.
struct Ghosts
{
  explicit Ghosts(vtkImageData* image);
  vtkUnsignedCharArray* Points;
  vtkUnsignedCharArray* Cells;
};

// What is wrong with those that do not fit. told: what was said before is not said again.
std::vector<std::string> ExplainGhosts(vtkImageData* image, std::set<std::string>& told);

// When the samples may last have changed, by everything that a user or a filter marks: the array, the image, or an
// algorithm upstream. All are marks of the same clock, so the latest counts. The image that this filter gets says nothing
// behind ParaView's vtkPVPostFilter, which makes a new copy of it with each execution, also for another isovalue: there
// the time is that of the post filter's input.
vtkMTimeType LastChange(vtkAlgorithm* filter, vtkImageData* image);

// In the information of the input of vtkPMBContourFilter: that time, where another filter in the pipeline stands for it and
// knows. Without it LastChange() of vtkPMBContourFilter is used.
vtkInformationIdTypeKey* ImageTime();

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

  // Where the described array is not in one piece of memory, copies the component, once. False: `goOn` said no. Throws
  // std::bad_alloc.
  bool CopyIfNeeded(vtkDataArray* array, const GoOn& goOn);

  // What is left still tells the volume from others, but cannot be bound.
  void DropCopy() { this->Copy = nullptr; }

  const pmb_volume& GetVolume() const { return this->Volume; }

  // Whether the volume's samples are the array's own.
  bool IsInPlace() const { return this->Samples != nullptr; }

  // When the samples, or the flags that hide some, may last have changed.
  vtkMTimeType GetTime() const { return std::max({ this->ArrayTime, this->ImageTime, this->GhostTime }); }

  int64_t GetCopyBytes() const { return this->Copy ? CountBytes(this->Copy) : 0; }

private:
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
