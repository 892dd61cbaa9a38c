// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBOutput.h"

#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkInformationVariantKey.h"
#include "vtkInformationVector.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBInput.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"
#include "vtkVariant.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <limits>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
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

Surface::Surface(const pmb_sizes& sizes, OutputMemory* memory, bool onGPU)
  : Sizes(sizes)
  , Kept(memory)
  , OnGPU(onGPU)
{
  this->Mesh.struct_size = sizeof(pmb_mesh);
  this->Mesh.point_capacity = sizes.points;
  this->Mesh.triangle_capacity = sizes.triangles;
}

vtkSmartPointer<vtkDataArray> Surface::NewReal(bool wide, const char* name, int components)
{
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(wide ? VTK_DOUBLE : VTK_FLOAT));
  array->SetName(name);
  array->SetNumberOfComponents(components);
  // With a GPU also those few that the core fills on the CPU: the pool has its pages already, new memory does not.
  Allocate(array, this->Sizes.points, this->Kept, this->OnGPU);
  return array;
}

void Surface::AddPoints(bool wide)
{
  this->Points = this->NewReal(wide, "Points", 3);
  this->Mesh.points = this->Points->GetVoidPointer(0);
  this->Mesh.point_type = wide ? PMB_FLOAT64 : PMB_FLOAT32;
  this->Mesh.point_ranges = this->PointRanges;
}

void Surface::AddNormals()
{
  this->Normals = this->NewReal(false, "Normals", 3);
  this->Mesh.normals = static_cast<float*>(this->Normals->GetVoidPointer(0));
  this->Mesh.normal_ranges = this->NormalRanges;
}

template <typename Ids>
void Surface::AddTrianglesOf()
{
  vtkNew<Ids> ids;
  Allocate(ids, 3 * this->Sizes.triangles, this->Kept, this->OnGPU);
  ids->GetInformation()->Set(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS(), 1);
  this->Mesh.triangles = ids->GetPointer(0);
  this->Mesh.id_type = sizeof(*ids->GetPointer(0)) == 4 ? PMB_INT32 : PMB_INT64;
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  vtkNew<Ids> offsets;
  Allocate(offsets, this->Sizes.triangles + 1, this->Kept, this->OnGPU);
  offsets->SetValue(0, 0); // the core does not write an empty mesh
  this->Mesh.offsets = offsets->GetPointer(0);
  this->Polys->SetData(offsets.Get(), ids.Get()); // of these types: VTK inspects other arrays first
#else
  this->Polys->SetData(3, ids); // without offsets in memory
#endif
}

void Surface::AddTriangles(bool wide)
{
  const int64_t narrow = std::numeric_limits<vtkTypeInt32>::max();
  wide = wide || this->Sizes.triangles > narrow / 3 || this->Sizes.points > narrow;
  wide ? this->AddTrianglesOf<vtkTypeInt64Array>() : this->AddTrianglesOf<vtkTypeInt32Array>();
}

void Surface::Pass(vtkDataArray* from, vtkMTimeType version)
{
  const Memory memory = FindMemory(from);
  this->PassedArrays.push_back({ from, NewLike(from, this->Sizes.points, this->Kept, this->OnGPU), nullptr });
  pmb_attribute attribute = {};
  attribute.samples = memory.Samples; // null: a copy follows
  attribute.type = memory.Type;
  attribute.components = from->GetNumberOfComponents();
  attribute.version = memory.Samples ? version : 0; // 0: of a copy that lives no longer than this
  attribute.output = FindMemory(this->PassedArrays.back().To).Samples;
  this->Attributes.push_back(attribute);
  this->Mesh.attributes = this->Attributes.data();
  this->Mesh.attribute_count = this->Sizes.points > 0 ? static_cast<int64_t>(this->Attributes.size()) : 0;
}

void Surface::Finish(vtkPolyData* output) const
{
  vtkNew<vtkPoints> points;
  points->SetData(this->Points);
  output->SetPoints(points);
  output->SetPolys(this->Polys);
}

void Surface::AddPassed(vtkDataSetAttributes* output) const
{
  for (const Passed& passed : this->PassedArrays)
  {
    output->AddArray(passed.To);
  }
}

pmb_status Surface::KeepRanges(pmb_context* context, vtkDataArray* skipped, vtkPolyData* output) const
{
  if (output->GetNumberOfPoints() == 0)
  {
    return PMB_OK;
  }
  Keep(output->GetPoints()->GetData(), this->PointRanges);
  if (vtkPMBPrivateMembers::Has("point-bounds"))
  {
    vtkPMBPrivateMembers::PointBounds<vtkPoints>::Set(output->GetPoints(), this->PointRanges);
  }
  pmb_status status = PMB_OK;
  vtkPointData* arrays = output->GetPointData();
  for (int i = 0; i < arrays->GetNumberOfArrays() && status == PMB_OK; ++i)
  {
    vtkDataArray* array = arrays->GetArray(i);
    const bool real = array && (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
    if (real && array == this->Normals)
    {
      Keep(array, this->NormalRanges);
    }
    else if (real && array != skipped && array->GetNumberOfComponents() <= MostComponents)
    {
      status = FindAndKeepRange(context, array, array);
    }
  }
  if (vtkPMBPrivateMembers::Has("array-ranges"))
  {
    vtkPMBPrivateMembers::ArrayRanges<vtkFieldData>::Set(arrays);
  }
  if (vtkPMBPrivateMembers::Has("cell-bounds")) // cells use all points
  {
    vtkPMBPrivateMembers::CellBounds<vtkPolyData>::Set(output);
  }
  return status;
}
}
VTK_ABI_NAMESPACE_END
