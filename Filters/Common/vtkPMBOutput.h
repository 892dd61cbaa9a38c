// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: what the outputs of all filters need.
#ifndef vtkPMBOutput_h
#define vtkPMBOutput_h

#include "vtkPMBMemory.h"

#include "pmb.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkCellArray;
class vtkDataSetAttributes;
class vtkPolyData;

namespace vtkPMB
{
// Allocates the triangles of a mesh, whose capacities are set, and tells the core. wide: with ids of 64 bits also where 32 would
// do. Throws std::bad_alloc.
void AllocateTriangles(vtkCellArray* cells, bool wide, OutputMemory* memory, bool onGPU, pmb_mesh& mesh);

// Finds the ranges of `values` and stores them in the array.
pmb_status FindAndKeepRange(pmb_context* context, vtkDataArray* values, vtkDataArray* array);

// Stores the bounds, and the ranges of points and real point arrays, in VTK's objects: later queries need no pass over the mesh.
// points, normals: the ranges of pmb_mesh. skipped: an array whose range is stored already, or null.
pmb_status KeepRanges(pmb_context* context, const double points[8], const double normals[8],
  vtkDataArray* normalArray, vtkDataArray* skipped, vtkPolyData* output);

// Makes passed arrays active in the output (vectors, tensors, ...) as in the input, unless the output has its own.
void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to);
}
VTK_ABI_NAMESPACE_END
#endif
