// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the arrays of the output mesh, allocated once at their final size for the core to fill.
#ifndef vtkPMBContourOutput_h
#define vtkPMBContourOutput_h

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkFloatArray.h"
#include "vtkIdList.h"
#include "vtkNew.h"
#include "vtkPMBContourArrays.h"
#include "vtkPMBContourCells.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArraySelection;
class vtkPolyData;

namespace vtkPMBContour
{
// Which arrays the mesh shall have.
struct OutputChoice
{
  bool Normals;
  bool Gradients;
  bool Scalars;
  bool OtherArrays;
  bool Wide;   // 64-bit ids even where 32 bits suffice
  bool Pinned; // a GPU computes
  int Precision;
  int Estimator;                      // of normals and gradients, a pmb_gradient_estimator
  vtkDataArraySelection* PointArrays; // of the other arrays; null: all
  vtkDataArraySelection* CellArrays;
  int Threads;        // for what is done here
  OutputMemory* Kept; // of the output before
};

// What the choice means for one contoured array.
bool WantsDoublePoints(int precision, vtkDataArray* contoured);
bool WantsDoubleScalars(vtkDataArray* contoured);

// The image's point arrays to interpolate: those that are chosen and whose names the output does not give itself.
std::vector<vtkDataArray*> SelectPointArrays(
  const OutputChoice& choice, vtkImageData* image, vtkDataArray* contoured);

// The image's cell arrays to hand on: those that are chosen, and the ghost types, which are needed to tell whose a
// triangle is.
void SelectCellArrays(const OutputChoice& choice, vtkImageData* image, vtkCellData* selected);

// What is active in the input (vectors, tensors, ...) and has come along is active in the output too, unless the output
// has one of its own.
void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to);

class Output
{
public:
  // Allocates all arrays. Throws std::bad_alloc.
  Output(const OutputChoice& choice, vtkImageData* image, vtkDataArray* contoured, const pmb_sizes& sizes);

  // Where the core writes.
  const pmb_mesh& GetMesh() const { return this->Mesh; }

  // What is held here and does not go to the output.
  int64_t GetExtraBytes() const;

  // Before the core writes: copies those of the image's point arrays that it cannot read in place. False: `goOn` said no.
  // Throws std::bad_alloc.
  bool CopyInputs(const GoOn& goOn);

  // After the core has split sheets: moves what points have to where the parts now are, with the copies. Returns the new sizes.
  // Throws std::bad_alloc.
  pmb_sizes AddCopies(
    const std::vector<pmb_sizes>& before, const std::vector<pmb_sizes>& after, const int64_t* copied);

  // After the core has written: copies the cell arrays and gives everything to the output. If `goOn` says no, the output
  // stays as it is and the result is false.
  bool Finish(vtkPolyData* output, const GoOn& goOn);

private:
  void AllocatePointArrays(const OutputChoice& choice, vtkDataArray* contoured);
  void AllocatePassedArrays(const OutputChoice& choice, vtkDataArray* contoured);
  void AllocateCellArrays();
  template <typename ArrayT>
  void AllocateTriangles(pmb_type type, bool plain);

  vtkImageData* Image;
  pmb_sizes Sizes;
  int Threads;
  bool Pinned; // arrays that the core fills
  OutputMemory* Kept;
  pmb_mesh Mesh = {};
  vtkSmartPointer<vtkDataArray> Points;
  vtkSmartPointer<vtkFloatArray> Normals;
  vtkSmartPointer<vtkFloatArray> Gradients;
  vtkSmartPointer<vtkDataArray> Scalars;
  vtkNew<vtkCellArray> Polys;
  std::vector<pmb_attribute> Attributes;
  std::vector<vtkSmartPointer<vtkDataArray>> PassedArrays;
  std::vector<vtkDataArray*> PassedInputs;           // theirs; as many as Attributes
  std::vector<vtkSmartPointer<vtkDataArray>> Copies; // of arrays that the core cannot read in place
  vtkNew<vtkCellData> SelectedCellArrays;            // of the image, to hand on
  CellArrayPairs CellArrays;                         // theirs and ours
  vtkNew<vtkIdList> Cells;                           // of each triangle, if there are such arrays
};
}

VTK_ABI_NAMESPACE_END
#endif
