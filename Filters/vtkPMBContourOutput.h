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

#include <string>
#include <utility>
#include <vector>

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

// The image's point arrays to interpolate: numeric, with a tuple for each point, chosen, neither ids nor ghost types, and not of
// a name that the output itself gives.
std::vector<vtkDataArray*> SelectPointArrays(
  const OutputChoice& choice, vtkImageData* image, vtkDataArray* contoured);

// The image's cell arrays to hand on: those that are chosen, and the ghost types, which are needed to tell whose a
// triangle is.
void SelectCellArrays(const OutputChoice& choice, vtkImageData* image, vtkCellData* selected);

// What is active in the input (vectors, tensors, ...) and has come along is active in the output too, unless the output
// has one of its own.
void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to);

// Pairs of an array with a tuple for each cell, and one with a tuple for each triangle.
using CellArrayPairs = std::vector<std::pair<vtkAbstractArray*, vtkSmartPointer<vtkAbstractArray>>>;

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

// Isolines of one component of the array of an image with exactly one dimension of 1, at the isovalues, one after
// another. The same rules as for surfaces: the image's direction matrix is honoured, a cell with a sample that is not
// finite gives no line, and other arrays come along. Once `goOn` says no the rest is left out; VTK's filter, which takes
// a part of the time, asks only after each isovalue. range: of the finite, visible samples; from high to low if there is none. False: `error`.
bool ContourSlice(vtkImageData* image, vtkDataArray* contoured, int component, const std::vector<double>& isovalues,
  const OutputChoice& choice, vtkPolyData* output, double range[2], std::string& error, const GoOn& goOn);

// Measures the mesh that is in the output, where that of each isovalue is a part, and adds arrays with a tuple per isovalue
// to the output's field data. Triangles that the cells' vtkGhostType says are not to be shown are left out. If the status
// is not PMB_OK, the context knows why, and nothing is added.
pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output);

// Finds the ranges of the output's points and point arrays and its bounds, and gives them to VTK to keep: who asks for them
// later gets them without a pass over the mesh. A status as above.
pmb_status KeepRanges(pmb_context* context, vtkPolyData* output);
}

VTK_ABI_NAMESPACE_END
#endif
