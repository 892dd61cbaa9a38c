// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the output's arrays of vtkPMBContourFilter, allocated at their final size for the core to fill.
#ifndef vtkPMBContourOutput_h
#define vtkPMBContourOutput_h

#include "vtkCellData.h"
#include "vtkIdList.h"
#include "vtkPMBOutput.h"
#include "vtkPMBProgress.h"

#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkImageData;
class vtkPMBContourFilter;
class vtkPolyData;

namespace vtkPMB
{
// What the filter's settings mean for one contoured array.
bool WantsDoublePoints(vtkPMBContourFilter* filter, vtkDataArray* contoured);
bool WantsDoubleScalars(vtkDataArray* contoured);

// Lists the image's point arrays to interpolate: numeric, with a tuple for each point, chosen, neither ids nor ghost types,
// without a name of the output's own arrays. isSurface: these include the normals and gradients that the filter computes.
std::vector<vtkDataArray*> SelectPointArrays(
  vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, bool isSurface);

// Adds the image's cell arrays to pass on: the chosen ones, and the ghost types, which tell the piece of a triangle. Global ids
// would not be unique.
void SelectCellArrays(vtkPMBContourFilter* filter, vtkImageData* image, vtkCellData* selected);

class Output : public Surface
{
public:
  // Allocates all arrays. memory: that of the output before. onGPU: a GPU writes them. Throws std::bad_alloc.
  Output(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, const pmb_sizes& sizes,
    OutputMemory* memory, bool onGPU);

  // As that of Surface. parts: of the mesh as it is now.
  pmb_status KeepRanges(pmb_context* context, const std::vector<pmb_sizes>& parts, vtkPolyData* output) const;

  // Before the core writes: has it list the cell of each triangle. Throws std::bad_alloc.
  void ListCells();

  // Then: counts the triangles below a layer of bricks of the image.
  int64_t CountTrianglesBelow(int layer) const;

  // Counts memory that does not go to the output.
  int64_t GetExtraBytes() const;

  // Before the core writes: copies the point arrays that it cannot read in place. Throws std::bad_alloc.
  void CopyInputs(const Report& report);

  // After the core has split sheets: moves the point arrays to the parts' new places and adds the copies. Returns the new
  // sizes. Throws std::bad_alloc.
  pmb_sizes AddCopies(
    const std::vector<pmb_sizes>& before, const std::vector<pmb_sizes>& after, const int64_t* copied);

  // After the core has written: copies the cell arrays, on at most so many threads (0: leaves them), and fills the output.
  void Finish(vtkPolyData* output, int threads, const Report& report);

private:
  void AllocatePointArrays(vtkPMBContourFilter* filter, vtkDataArray* contoured);
  void AllocateCellArrays(vtkPMBContourFilter* filter);
  void CopyCells(int threads, const Report& report);

  vtkImageData* Image;
  vtkSmartPointer<vtkDataArray> Gradients, Scalars;
  std::vector<vtkSmartPointer<vtkAbstractArray>> CellArrays;                    // of the output
  std::vector<std::pair<vtkDataArray*, vtkDataArray*>> PlainCellArrays;         // in one piece of memory: from, to
  std::vector<std::pair<vtkAbstractArray*, vtkAbstractArray*>> OtherCellArrays; // texts, bits and other layouts
  vtkNew<vtkIdList> Cells; // of each triangle, if there are such arrays
};
}
VTK_ABI_NAMESPACE_END
#endif
