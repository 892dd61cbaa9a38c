// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the arrays of the output mesh, allocated once at their final size for the core to fill.
#ifndef vtkPMBContourOutput_h
#define vtkPMBContourOutput_h

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkIdList.h"
#include "vtkNew.h"
#include "vtkPMBContourInput.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataSetAttributes;
class vtkDoubleArray;
class vtkPMBContourFilter;
class vtkPolyData;
class vtkTable;

namespace vtkPMBContour
{
class Contexts;

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

// What the filter's settings mean for one contoured array.
bool WantsDoublePoints(vtkPMBContourFilter* filter, vtkDataArray* contoured);
bool WantsDoubleScalars(vtkDataArray* contoured);

// The image's point arrays to interpolate: numeric, with a tuple for each point, chosen, neither ids nor ghost types,
// without a name that the output itself gives. isSurface: it has normals and gradients if the filter shall compute them.
std::vector<vtkDataArray*> SelectPointArrays(
  vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, bool isSurface);

// Adds the image's cell arrays to pass on: those that are chosen, and the ghost types, which tell what piece
// a triangle belongs to. Global ids would not be unique.
void SelectCellArrays(vtkPMBContourFilter* filter, vtkImageData* image, vtkCellData* selected);

// Stores the ranges of the points and real point arrays, and the bounds, in VTK's objects: later queries need no pass over the
// mesh. points, normals: what pmb_mesh found. skipped: an array whose range is stored already, or null.
pmb_status KeepRanges(pmb_context* context, const double points[8], const double normals[8],
  vtkDataArray* normalArray, vtkDataArray* skipped, vtkPolyData* output);

// What is active in the input (vectors, tensors, ...) and has come along is active in the output too, unless the output
// has one of its own.
void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to);

class Output
{
public:
  // Allocates all arrays. memory: that of the output before. onGPU: a GPU writes them. Throws std::bad_alloc.
  Output(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, const pmb_sizes& sizes,
    OutputMemory* memory, bool onGPU);

  // Where the core writes.
  const pmb_mesh& GetMesh() const { return this->Mesh; }

  // vtkPMBContour::KeepRanges(). parts: of the mesh as it is now. A status as below.
  pmb_status KeepRanges(pmb_context* context, const std::vector<pmb_sizes>& parts, vtkPolyData* output) const;

  // What is held here and does not go to the output.
  int64_t GetExtraBytes() const;

  // Before the core writes: copies those of the image's point arrays that it cannot read in place.
  // Throws std::bad_alloc.
  void CopyInputs(const Report& report);

  // After the core has split sheets: moves what points have to where the parts now are, with the copies. Returns the new
  // sizes. Throws std::bad_alloc.
  pmb_sizes AddCopies(
    const std::vector<pmb_sizes>& before, const std::vector<pmb_sizes>& after, const int64_t* copied);

  // After the core has written: copies the cell arrays, on at most so many threads, and gives everything to the output.
  void Finish(vtkPolyData* output, int threads, const Report& report);

private:
  void Prepare(vtkDataArray* array, const char* name, int components, vtkIdType n);
  vtkSmartPointer<vtkDataArray> NewReal(bool wide, const char* name, int components);
  void AllocatePointArrays(vtkPMBContourFilter* filter, vtkDataArray* contoured);
  void AllocateCellArrays(vtkPMBContourFilter* filter);
  template <typename ArrayT>
  void AllocateTriangles(pmb_type type, bool plain);
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
  std::vector<pmb_attribute> Attributes;                                                   // of them
  std::vector<std::pair<vtkAbstractArray*, vtkSmartPointer<vtkAbstractArray>>> CellArrays; // theirs and ours
  vtkNew<vtkIdList> Cells; // of each triangle, if there are such arrays
};

// Isolines of an image with exactly one dimension of 1, at the isovalues, one after another, by the same rules as surfaces.
// VTK's filter, which makes them, reports only after each isovalue. range: of the finite, visible samples; from high to low
// if there is none. Throws Failed.
void ContourSlice(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured,
  const std::vector<double>& isovalues, vtkPolyData* output, double range[2], const Report& report);

// Measures the mesh in the output, where that of each isovalue is a part, without ghost triangles, and adds arrays with a
// tuple per isovalue to the output's field data. On failure nothing is added.
pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output);

// For the bound volume: isovalues to start with, the best first, and the curve of vtkPMBContourFilter::GetIsovalueCurve().
// On failure both are empty.
pmb_status Explore(pmb_context* context, vtkDoubleArray* isovalues, vtkDoubleArray* curve);

// Fills the table of vtkPMBIsovalueHistogram from the summary of the bound volume; without rows where there is no range to
// cut into bins. On failure the table is as it was. Throws std::bad_alloc.
pmb_status FillHistogram(pmb_context* context, int bins, vtkTable* table);

// Notes in a mesh which count of which contexts it comes from, for vtkPMBContourFilter::EmitToOpenGL().
void NoteOrigin(const std::shared_ptr<Contexts>& contexts, vtkMTimeType count, int estimator, vtkPolyData* mesh);
}

VTK_ABI_NAMESPACE_END
#endif
