// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStock.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMatrix3x3.h"
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
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
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

// Refuses arrays that vtkContourFilter treats otherwise.
std::string RefuseArrays(vtkPMBContourFilter* filter, vtkImageData* image)
{
  vtkDataArray* contoured = FindContoured(filter, image);
  if (!contoured)
  {
    return "the input has no such array";
  }
  vtkPointData* data = image->GetPointData();
  const auto has = [&](const char* name) { return data->GetAbstractArray(name) != nullptr; };
  bool isPlain = true;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* numbers = data->GetArray(i);
    isPlain = isPlain && numbers &&
      (numbers == contoured ||
        (numbers->GetDataType() != VTK_BIT && numbers != data->GetGlobalIds() && numbers != data->GetPedigreeIds()));
  }
  return FirstOf({ { contoured->GetDataType() == VTK_BIT, "the array holds bits" },
    { filter->GetComputeNormals() && has("Normals"), "the image already has an array Normals" },
    { filter->GetComputeGradients() && has("Gradients"), "the image already has an array Gradients" },
    { !isPlain, "another point array holds text, bits or ids" } });
}

// Refuses flags: vtkContourFilter shows hidden points and cells, and passes on flags of a wrong size.
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
    ? "points or cells are hidden, which vtkContourFilter ignores"
    : "";
}
}

std::string CopySettings(vtkContourFilter* stock, vtkPMBContourFilter* filter)
{
  filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
  // GetInputArrayInformation() would make one.
  vtkInformationVector* arrays = stock->GetInformation()->Get(vtkAlgorithm::INPUT_ARRAYS_TO_PROCESS());
  if (vtkInformation* array = arrays ? arrays->GetInformationObject(0) : nullptr)
  {
    filter->SetInputArrayToProcess(0, array);
  }
  const bool isDouble = stock->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION;
  filter->SetOutputPointsPrecision(isDouble ? vtkAlgorithm::DOUBLE_PRECISION : vtkAlgorithm::SINGLE_PRECISION);
  const int count = static_cast<int>(stock->GetNumberOfContours());
  filter->SetNumberOfContours(count);
  for (int i = 0; i < count; ++i)
  {
    filter->SetValue(i, stock->GetValue(i));
  }
  filter->SetComputeNormals(stock->GetComputeNormals() != 0); // -1 is "on, unless the user says no"
  filter->SetComputeGradients(stock->GetComputeGradients());
  filter->SetComputeScalars(stock->GetComputeScalars());
  filter->SetArrayComponent(stock->GetArrayComponent());
  return stock->GetGenerateTriangles() ? "" : "GenerateTriangles is off";
}

std::string Refuse(vtkPMBContourFilter* filter, vtkDataObject* input, vtkInformation* inInfo)
{
  vtkImageData* image = vtkImageData::SafeDownCast(input);
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
    { vtkUniformGrid::SafeDownCast(image) != nullptr, "the input is vtkUniformGrid" },
    { !image->GetDirectionMatrix()->IsIdentity(),
      "the image has a direction matrix, which vtkContourFilter ignores" },
    { !IsAskedFor(image, inInfo), "only a part of the image was requested" } });
  reason = reason.empty() ? RefuseArrays(filter, image) : reason;
  using Types = vtkDataSetAttributes;
  reason =
    reason.empty() ? RefuseFlags(image->GetPointData(), image->GetNumberOfPoints(), Types::HIDDENPOINT) : reason;
  return reason.empty()
    ? RefuseFlags(image->GetCellData(), image->GetNumberOfCells(), Types::HIDDENCELL | Types::REFINEDCELL)
    : reason;
}

void HandOver(vtkPMBContourFilter* filter, vtkPolyData* output)
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
  if (own[0].Array && own[0].Array->GetDataType() != VTK_FLOAT) // vtkContourFilter makes floats
  {
    const auto scalars = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(VTK_FLOAT));
    scalars->DeepCopy(own[0].Array);
    own[0].Array = scalars;
  }
  for (const Own& one : own)
  {
    if (one.Array)
    {
      arrays->SetActiveAttribute(arrays->AddArray(one.Array), one.Attribute);
    }
  }
  output->SetPoints(mesh->GetPoints());
  output->SetPolys(mesh->GetPolys());
  output->GetPointData()->ShallowCopy(arrays);
  output->GetCellData()->ShallowCopy(mesh->GetCellData());
  // As vtkContourFilter does since then.
  if (VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 20240617) && output->GetCellGhostArray())
  {
    output->RemoveGhostCells();
    if (VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 6, 0)) // which stores fewer bits where there were no offsets
    {
      output->GetPolys()->ConvertTo64BitStorage();
    }
  }
}
}
VTK_ABI_NAMESPACE_END
