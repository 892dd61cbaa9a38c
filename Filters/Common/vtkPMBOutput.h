// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the output's arrays, allocated at their final size for the core to fill, and what is made from them.
#ifndef vtkPMBOutput_h
#define vtkPMBOutput_h

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkIdList.h"
#include "vtkNew.h"
#include "vtkPMBInput.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkDoubleArray;
class vtkPMBContourFilter;
class vtkPolyData;
class vtkTable;

namespace vtkPMBContour
{
struct Context;
class Contexts;

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

// Allocates the triangles of a mesh, whose capacities are set, and tells the core. wide: with ids of 64 bits also where 32 would
// do. Throws std::bad_alloc.
void AllocateTriangles(vtkCellArray* cells, bool wide, OutputMemory* memory, bool onGPU, pmb_mesh& mesh);

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

// Stores the bounds, and the ranges of points and real point arrays, in VTK's objects: later queries need no pass over the mesh.
// points, normals: the ranges of pmb_mesh. skipped: an array whose range is stored already, or null.
pmb_status KeepRanges(pmb_context* context, const double points[8], const double normals[8],
  vtkDataArray* normalArray, vtkDataArray* skipped, vtkPolyData* output);

// Makes passed arrays active in the output (vectors, tensors, ...) as in the input, unless the output has its own.
void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to);

class Output
{
public:
  // Allocates all arrays. memory: that of the output before. onGPU: a GPU writes them. Throws std::bad_alloc.
  Output(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, const pmb_sizes& sizes,
    OutputMemory* memory, bool onGPU);

  // Where the core writes.
  const pmb_mesh& GetMesh() const { return this->Mesh; }

  // Calls vtkPMBContour::KeepRanges(). parts: of the mesh as it is now.
  pmb_status KeepRanges(pmb_context* context, const std::vector<pmb_sizes>& parts, vtkPolyData* output) const;

  // Counts memory that does not go to the output.
  int64_t GetExtraBytes() const;

  // Before the core writes: copies the point arrays that it cannot read in place. Throws std::bad_alloc.
  void CopyInputs(const Report& report);

  // After the core has split sheets: moves the point arrays to the parts' new places and adds the copies. Returns the new
  // sizes. Throws std::bad_alloc.
  pmb_sizes AddCopies(
    const std::vector<pmb_sizes>& before, const std::vector<pmb_sizes>& after, const int64_t* copied);

  // After the core has written: copies the cell arrays, on at most so many threads, and fills the output.
  void Finish(vtkPolyData* output, int threads, const Report& report);

private:
  void Prepare(vtkDataArray* array, const char* name, int components, vtkIdType n);
  vtkSmartPointer<vtkDataArray> NewReal(bool wide, const char* name, int components);
  void AllocatePointArrays(vtkPMBContourFilter* filter, vtkDataArray* contoured);
  void AllocateCellArrays(vtkPMBContourFilter* filter);
  void CopyCells(int threads, const Report& report);

  vtkImageData* Image;
  pmb_sizes Sizes;
  OutputMemory* Kept;
  bool OnGPU;
  pmb_mesh Mesh = {};
  double PointRanges[8], NormalRanges[8]; // that the core finds
  vtkSmartPointer<vtkDataArray> Points;
  vtkSmartPointer<vtkDataArray> Normals;
  vtkSmartPointer<vtkDataArray> Gradients;
  vtkSmartPointer<vtkDataArray> Scalars;
  vtkNew<vtkCellArray> Polys;
  struct Passed // another point array
  {
    vtkDataArray* From;
    vtkSmartPointer<vtkDataArray> To;
    vtkSmartPointer<vtkDataArray> Copy; // where the core cannot read it in place
  };
  std::vector<Passed> PassedArrays;
  std::vector<pmb_attribute> Attributes;                                        // of them
  std::vector<vtkSmartPointer<vtkAbstractArray>> CellArrays;                    // of the output
  std::vector<std::pair<vtkDataArray*, vtkDataArray*>> PlainCellArrays;         // in one piece of memory: from, to
  std::vector<std::pair<vtkAbstractArray*, vtkAbstractArray*>> OtherCellArrays; // texts, bits and other layouts
  vtkNew<vtkIdList> Cells; // of each triangle, if there are such arrays
};

// Makes isolines of an image with exactly one dimension of 1 by the rules of surfaces, one isovalue after another. range: of the
// finite, visible samples; low > high without any. Throws Failed.
void ContourSlice(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured,
  const std::vector<double>& isovalues, vtkPolyData* output, double range[2], const Report& report);

// Measures the mesh of each isovalue, without ghost triangles, and adds arrays with a tuple for each to the output's field
// data. Adds nothing on failure.
pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output);

// Finds isovalues to start with, the best first, and vtkPMBContourFilter::GetIsovalueCurve(), for the bound volume. Both are
// empty on failure.
pmb_status Explore(const Context& context, vtkDoubleArray* isovalues, vtkDoubleArray* curve);

// Fills the table of vtkPMBIsovalueHistogram for the bound volume; without rows if its range is empty. Leaves the table as it
// was on failure. Throws std::bad_alloc.
pmb_status FillHistogram(const Context& context, int bins, vtkTable* table);

// Notes in a mesh which count of which contexts it comes from, for vtkPMBContourFilter::EmitToOpenGL().
void NoteOrigin(const std::shared_ptr<Contexts>& contexts, vtkMTimeType count, int estimator, vtkPolyData* mesh);
}

VTK_ABI_NAMESPACE_END
#endif
