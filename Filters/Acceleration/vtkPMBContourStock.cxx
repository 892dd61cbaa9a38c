// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStock.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkMatrix3x3.h"
#include "vtkMergePoints.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourFilter.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStructuredExtent.h"
#include "vtkUniformGrid.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <typeinfo>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
using Acceleration = vtkPMBContourAcceleration;

namespace vtkPMBContourStock
{
namespace
{
// Returns the text of the first reason that applies, or nothing.
std::string FirstOf(std::initializer_list<std::pair<bool, std::string>> reasons)
{
  const auto found = std::find_if(reasons.begin(), reasons.end(), [](const auto& reason) { return reason.first; });
  return found == reasons.end() ? std::string() : found->second;
}

template <typename FilterT>
void CopyCommon(FilterT* stock, vtkPMBContourFilter* filter)
{
  const int count = static_cast<int>(stock->GetNumberOfContours());
  filter->SetNumberOfContours(count);
  for (int i = 0; i < count; ++i)
  {
    filter->SetValue(i, stock->GetValue(i));
  }
  filter->SetComputeNormals(stock->GetComputeNormals() != 0); // vtkContourFilter: -1 is "on, unless the user says no"
  filter->SetComputeGradients(stock->GetComputeGradients() != 0);
  filter->SetComputeScalars(stock->GetComputeScalars() != 0);
}

// Whether the stock filter copies cell arrays to its triangles. vtkFlyingEdges3D does so since VTK 9.3.
bool PassesCells(vtkPMBContourFilter* filter, int which)
{
  return which == Acceleration::CONTOUR_FILTER ||
    (VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0) && filter->GetInterpolateAttributes());
}

// Returns the point array that the filter contours, or null. The filter itself refuses arrays of cells.
vtkDataArray* FindContoured(vtkPMBContourFilter* filter, vtkImageData* image)
{
  vtkPointData* arrays = image->GetPointData();
  vtkInformation* asked = filter->GetInputArrayInformation(0);
  const char* name = asked->Get(vtkDataObject::FIELD_NAME());
  return name ? arrays->GetArray(name) : arrays->GetAttribute(asked->Get(vtkDataObject::FIELD_ATTRIBUTE_TYPE()));
}

// Whether the request is for all of the image. VTK's filters leave out the rest.
bool IsAskedFor(vtkImageData* image, vtkInformation* inInfo)
{
  const int* asked = inInfo->Get(vtkStreamingDemandDrivenPipeline::UPDATE_EXTENT());
  return !asked || vtkStructuredExtent::Smaller(image->GetExtent(), asked);
}

// Refuses arrays that VTK's filters treat otherwise.
std::string RefuseArrays(vtkPMBContourFilter* filter, int which, vtkImageData* image)
{
  vtkDataArray* contoured = FindContoured(filter, image);
  if (!contoured)
  {
    return "the input has no such array";
  }
  vtkPointData* data = image->GetPointData();
  const bool passes = filter->GetInterpolateAttributes() != 0;
  const auto has = [&](const char* name)
  {
    vtkAbstractArray* array = data->GetAbstractArray(name);
    return array && (array == contoured || passes);
  };
  std::string reason = FirstOf({ { contoured->GetDataType() == VTK_BIT, "the array holds bits" },
    { which == Acceleration::MARCHING_CUBES && contoured->GetNumberOfComponents() > 1,
      "the array has several components, which vtkMarchingCubes refuses" },
    { filter->GetComputeNormals() && has("Normals"), "the image already has an array Normals" },
    { filter->GetComputeGradients() && has("Gradients"), "the image already has an array Gradients" } });
  for (int i = 0; passes && reason.empty() && i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* numbers = data->GetArray(i);
    const bool isOther = numbers != contoured;
    const bool isReal = numbers && (numbers->GetDataType() == VTK_FLOAT || numbers->GetDataType() == VTK_DOUBLE);
    const bool isPlain = numbers && numbers->GetDataType() != VTK_BIT && numbers != data->GetGlobalIds() &&
      numbers != data->GetPedigreeIds();
    // vtkFlyingEdges3D finds other arrays by their names.
    const bool isFound = isPlain && (numbers->GetName() || PassesCells(filter, which));
    reason = FirstOf({ { isOther && !isFound, "another point array holds text, bits or ids, or has no name" },
      { isOther && which == Acceleration::FLYING_EDGES && !isReal,
        "another point array holds integers, which vtkFlyingEdges3D converts to floats" } });
  }
  return reason;
}

// Refuses flags: VTK's filters show hidden points and cells, and pass on flags of a wrong size.
std::string RefuseFlags(vtkDataSetAttributes* data, vtkIdType count, int hidingBits)
{
  vtkAbstractArray* array = data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName());
  auto* flags = vtkUnsignedCharArray::SafeDownCast(array);
  if (array && !(flags && flags->GetNumberOfComponents() == 1 && flags->GetNumberOfTuples() == count))
  {
    return "an array vtkGhostType does not fit the image";
  }
  const auto hides = [=](unsigned char flag) { return (flag & hidingBits) != 0; };
  return flags && std::any_of(flags->GetPointer(0), flags->GetPointer(count), hides)
    ? "points or cells are hidden, which VTK's filters ignore"
    : "";
}
}

std::string CopySettings(vtkAlgorithm* stock, int which, vtkPMBContourFilter* filter)
{
  filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
  // GetInputArrayInformation() would make one.
  vtkInformationVector* arrays = stock->GetInformation()->Get(vtkAlgorithm::INPUT_ARRAYS_TO_PROCESS());
  if (vtkInformation* array = arrays ? arrays->GetInformationObject(0) : nullptr)
  {
    filter->SetInputArrayToProcess(0, array);
  }
  filter->SetRemoveDegenerateTriangles(which != Acceleration::FLYING_EDGES);
  auto* contour = vtkContourFilter::SafeDownCast(stock);
  const bool isDouble = contour && contour->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION;
  filter->SetOutputPointsPrecision(isDouble ? vtkAlgorithm::DOUBLE_PRECISION : vtkAlgorithm::SINGLE_PRECISION);
  if (contour)
  {
    CopyCommon(contour, filter);
    filter->SetArrayComponent(contour->GetArrayComponent());
    return contour->GetGenerateTriangles() ? "" : "GenerateTriangles is off";
  }
  if (auto* edges = vtkFlyingEdges3D::SafeDownCast(stock))
  {
    CopyCommon(edges, filter);
    filter->SetInterpolateAttributes(edges->GetInterpolateAttributes());
    return FirstOf({ { edges->GetArrayComponent() != 0, "ArrayComponent is not 0, which vtkFlyingEdges3D ignores" },
      { edges->GetInterpolateAttributes() && edges->GetNumberOfContours() > 1,
        "vtkFlyingEdges3D passes other arrays only if the first of several isovalues has a surface" } });
  }
  auto* cubes = static_cast<vtkMarchingCubes*>(stock);
  CopyCommon(cubes, filter);
  filter->SetInterpolateAttributes(0);
  vtkIncrementalPointLocator* locator = cubes->GetLocator();
  return FirstOf({ { locator && typeid(*locator) != typeid(vtkMergePoints), "it has a custom locator" },
    { cubes->GetComputeGradients() != 0, "vtkMarchingCubes computes different gradients" } });
}

std::string Refuse(vtkPMBContourFilter* filter, int which, vtkDataObject* input, vtkInformation* inInfo)
{
  vtkImageData* image = vtkImageData::SafeDownCast(input);
  const bool isContour = which == Acceleration::CONTOUR_FILTER;
  const double* values = filter->GetValues();
  const vtkIdType count = filter->GetNumberOfContours();
  const bool isFinite = std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
  std::string reason =
    FirstOf({ { count == 0, "there is no isovalue" }, { !isFinite, "an isovalue is not a finite number" },
      { !image, std::string("the input is ") + (input ? input->GetClassName() : "nothing") } });
  if (!reason.empty())
  {
    return reason;
  }
  reason = FirstOf({ { image->GetDataDimension() != 3, "the image is not three-dimensional" },
    { isContour && vtkUniformGrid::SafeDownCast(image), "the input is vtkUniformGrid" },
    { isContour && !image->GetDirectionMatrix()->IsIdentity(),
      "the image has a direction matrix, which vtkContourFilter ignores" },
    { which != Acceleration::MARCHING_CUBES && !IsAskedFor(image, inInfo),
      "only a part of the image was requested" } });
  reason = reason.empty() ? RefuseArrays(filter, which, image) : reason;
  using Types = vtkDataSetAttributes;
  reason =
    reason.empty() ? RefuseFlags(image->GetPointData(), image->GetNumberOfPoints(), Types::HIDDENPOINT) : reason;
  return reason.empty()
    ? RefuseFlags(image->GetCellData(), image->GetNumberOfCells(), Types::HIDDENCELL | Types::REFINEDCELL)
    : reason;
}

void HandOver(vtkPMBContourFilter* filter, int which, vtkImageData* image, vtkPolyData* output)
{
  vtkPolyData* mesh = filter->GetOutput();
  vtkPointData* made = mesh->GetPointData();
  struct Own
  {
    vtkSmartPointer<vtkDataArray> Array; // null: not wanted
    int Attribute;
  } own[] = { { filter->GetComputeScalars() ? made->GetScalars() : nullptr, vtkDataSetAttributes::SCALARS },
    { filter->GetComputeGradients() ? made->GetArray("Gradients") : nullptr, vtkDataSetAttributes::VECTORS },
    { filter->GetComputeNormals() ? made->GetNormals() : nullptr, vtkDataSetAttributes::NORMALS } };
  // The filter's own arrays come last. VTK's interpolation leaves out arrays of ids.
  vtkNew<vtkPointData> arrays;
  arrays->ShallowCopy(made);
  for (int i = arrays->GetNumberOfArrays(); i-- > 0;)
  {
    vtkAbstractArray* array = arrays->GetAbstractArray(i);
    if (array->GetDataType() == VTK_ID_TYPE ||
      std::any_of(own, own + 3, [=](const Own& one) { return one.Array == array; }))
    {
      arrays->RemoveArray(i);
    }
  }
  if (own[0].Array)
  {
    // vtkFlyingEdges3D makes scalars of the contoured array's type, the others make floats.
    const int type = which == Acceleration::FLYING_EDGES ? FindContoured(filter, image)->GetDataType() : VTK_FLOAT;
    const auto scalars = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
    if (type != own[0].Array->GetDataType())
    {
      scalars->DeepCopy(own[0].Array);
      own[0].Array = scalars;
    }
  }
  if (which == Acceleration::FLYING_EDGES)
  {
    std::swap(own[1], own[2]);
  }
  for (const Own& one : own)
  {
    if (one.Array && which == Acceleration::MARCHING_CUBES)
    {
      one.Array->SetName(nullptr);
    }
    if (one.Array)
    {
      arrays->SetActiveAttribute(arrays->AddArray(one.Array), one.Attribute);
    }
  }
  output->SetPoints(mesh->GetPoints());
  output->SetPolys(mesh->GetPolys());
  output->GetPointData()->ShallowCopy(arrays);
  if (PassesCells(filter, which)) // else there are no flags of cells either
  {
    output->GetCellData()->ShallowCopy(mesh->GetCellData());
  }
  // As vtkContourFilter does since then.
  if (VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 20240617) && which == Acceleration::CONTOUR_FILTER &&
    output->GetCellGhostArray())
  {
    output->RemoveGhostCells();
    output->GetPolys()->ConvertTo64BitStorage(); // VTK 9.6 stores fewer bits where there were no offsets
  }
}
}
VTK_ABI_NAMESPACE_END
