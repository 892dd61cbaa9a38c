// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: what the outputs of all filters need.
#ifndef vtkPMBOutput_h
#define vtkPMBOutput_h

#include "vtkCellArray.h"
#include "vtkNew.h"
#include "vtkPMBMemory.h"

#include "pmb.h"

#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataSetAttributes;
class vtkPolyData;

namespace vtkPMB
{
// Finds the ranges of `values` and stores them in the array.
pmb_status FindAndKeepRange(pmb_context* context, vtkDataArray* values, vtkDataArray* array);

// Makes passed arrays active in the output (vectors, tensors, ...) as in the input, unless the output has its own.
void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to);

// The arrays of a mesh that the core writes in place.
class Surface
{
public:
  // memory: that of the output before. onGPU: a GPU writes the arrays.
  Surface(const pmb_sizes& sizes, OutputMemory* memory, bool onGPU);

  // Allocate arrays and tell the core. wide: doubles, or ids of 64 bits also where 32 would do. Throw std::bad_alloc.
  void AddPoints(bool wide);
  void AddNormals();
  void AddTriangles(bool wide);

  // Allocates an array for values interpolated from another one, which has the version of a pmb_attribute. Throws std::bad_alloc.
  void Pass(vtkDataArray* from, vtkMTimeType version);

  // Where the core writes.
  const pmb_mesh& GetMesh() const { return this->Mesh; }
  vtkDataArray* GetNormals() const { return this->Normals; }

  // After the core has written: gives points and triangles, and the passed arrays, to the output.
  void Finish(vtkPolyData* output) const;
  void AddPassed(vtkDataSetAttributes* output) const;

  // Stores the bounds, and the ranges of points and real point arrays, in VTK's objects: later queries need no pass over the mesh.
  // skipped: an array whose range is stored already, or null.
  pmb_status KeepRanges(pmb_context* context, vtkDataArray* skipped, vtkPolyData* output) const;

protected:
  vtkSmartPointer<vtkDataArray> NewReal(bool wide, const char* name, int components);
  template <typename Ids>
  void AddTrianglesOf();

  pmb_sizes Sizes;
  OutputMemory* Kept;
  bool OnGPU;
  pmb_mesh Mesh = {};
  double PointRanges[8], NormalRanges[8]; // that the core finds
  vtkSmartPointer<vtkDataArray> Points, Normals;
  vtkNew<vtkCellArray> Polys;
  struct Passed
  {
    vtkDataArray* From;
    vtkSmartPointer<vtkDataArray> To;
    vtkSmartPointer<vtkDataArray> Copy; // where the core cannot read it in place
  };
  std::vector<Passed> PassedArrays;
  std::vector<pmb_attribute> Attributes; // of them
};
}
VTK_ABI_NAMESPACE_END
#endif
