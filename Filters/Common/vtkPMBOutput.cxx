// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBOutput.h"

#include "vtkCellArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkInformationIntegerKey.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBInput.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <limits>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
template <typename Ids>
void AllocateTriangles(vtkCellArray* cells, OutputMemory* memory, bool onGPU, pmb_mesh& mesh)
{
  vtkNew<Ids> ids;
  Allocate(ids, 3 * mesh.triangle_capacity, memory, onGPU);
  ids->GetInformation()->Set(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS(), 1);
  mesh.triangles = ids->GetPointer(0);
  mesh.id_type = sizeof(*ids->GetPointer(0)) == 4 ? PMB_INT32 : PMB_INT64;
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  vtkNew<Ids> offsets;
  Allocate(offsets, mesh.triangle_capacity + 1, memory, onGPU);
  offsets->SetValue(0, 0); // the core does not write an empty mesh
  mesh.offsets = offsets->GetPointer(0);
  cells->SetData(offsets.Get(), ids.Get()); // of these types: VTK inspects other arrays first
#else
  cells->SetData(3, ids); // without offsets in memory
#endif
}

const int MostComponents = 9; // pmb_find_ranges takes no more

// Stores ranges where vtkDataArray::GetRange() and GetFiniteRange() cache theirs. The two differ if one is not finite: VTK then
// finds them on demand.
void Keep(vtkDataArray* array, const double* ranges)
{
  const int components = array->GetNumberOfComponents();
  if (!std::all_of(ranges, ranges + 2 * (components + 1), [](double x) { return std::isfinite(x); }))
  {
    return;
  }
  vtkInformation* info = array->GetInformation();
  for (auto* key : { vtkAbstractArray::PER_COMPONENT(), vtkAbstractArray::PER_FINITE_COMPONENT() })
  {
    vtkNew<vtkInformationVector> each;
    each->SetNumberOfInformationObjects(components);
    for (int i = 0; i < components; ++i)
    {
      each->GetInformationObject(i)->Set(vtkDataArray::COMPONENT_RANGE(), ranges + 2 * i, 2);
    }
    info->Set(key, each);
  }
  info->Set(vtkDataArray::L2_NORM_RANGE(), ranges + 2 * components, 2);
  info->Set(vtkDataArray::L2_NORM_FINITE_RANGE(), ranges + 2 * components, 2);
}
}

void AllocateTriangles(vtkCellArray* cells, bool wide, OutputMemory* memory, bool onGPU, pmb_mesh& mesh)
{
  const int64_t narrow = std::numeric_limits<vtkTypeInt32>::max();
  if (wide || mesh.triangle_capacity > narrow / 3 || mesh.point_capacity > narrow)
  {
    AllocateTriangles<vtkTypeInt64Array>(cells, memory, onGPU, mesh);
  }
  else
  {
    AllocateTriangles<vtkTypeInt32Array>(cells, memory, onGPU, mesh);
  }
}

void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to)
{
  for (int type = 0; type < vtkDataSetAttributes::NUM_ATTRIBUTES; ++type)
  {
    vtkAbstractArray* active = from->GetAbstractAttribute(type);
    vtkAbstractArray* copy = active && active->GetName() ? to->GetAbstractArray(active->GetName()) : nullptr;
    // An array of the output's own may have taken the name; VTK complains where its width does not fit.
    const bool fits = copy && copy->GetNumberOfComponents() == active->GetNumberOfComponents() &&
      copy->IsNumeric() == active->IsNumeric();
    if (fits && !to->GetAbstractAttribute(type))
    {
      to->SetActiveAttribute(active->GetName(), type);
    }
  }
}

pmb_status FindAndKeepRange(pmb_context* context, vtkDataArray* values, vtkDataArray* array)
{
  double ranges[2 * (MostComponents + 1)];
  const Memory memory = FindMemory(values);
  const pmb_status status = pmb_find_ranges(
    context, memory.Samples, memory.Type, values->GetNumberOfComponents(), values->GetNumberOfTuples(), ranges);
  if (status == PMB_OK)
  {
    Keep(array, ranges);
  }
  return status;
}

pmb_status KeepRanges(pmb_context* context, const double points[8], const double normals[8],
  vtkDataArray* normalArray, vtkDataArray* skipped, vtkPolyData* output)
{
  if (output->GetNumberOfPoints() == 0)
  {
    return PMB_OK;
  }
  Keep(output->GetPoints()->GetData(), points);
  if (vtkPMBPrivateMembers::Has("point-bounds"))
  {
    vtkPMBPrivateMembers::PointBounds<vtkPoints>::Set(output->GetPoints(), points);
  }
  pmb_status status = PMB_OK;
  vtkPointData* arrays = output->GetPointData();
  for (int i = 0; i < arrays->GetNumberOfArrays() && status == PMB_OK; ++i)
  {
    vtkDataArray* array = arrays->GetArray(i);
    const bool real = array && (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
    if (real && array == normalArray)
    {
      Keep(array, normals);
    }
    else if (real && array != skipped && array->GetNumberOfComponents() <= MostComponents)
    {
      status = FindAndKeepRange(context, array, array);
    }
  }
  return status;
}
}
VTK_ABI_NAMESPACE_END
