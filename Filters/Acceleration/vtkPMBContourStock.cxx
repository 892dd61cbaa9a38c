// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStandIn.h"

#include "vtkCellData.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkFloatArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkMatrix3x3.h"
#include "vtkMergePoints.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkUniformGrid.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
template <typename FilterT>
void ReadCommon(FilterT* filter, StockSettings& settings)
{
  const double* values = filter->GetValues();
  settings.Isovalues.assign(values, values + filter->GetNumberOfContours());
  settings.Normals = filter->GetComputeNormals() != 0; // vtkContourFilter has -1 for "on, unless the user says no"
  settings.Gradients = filter->GetComputeGradients() != 0;
  settings.Scalars = filter->GetComputeScalars() != 0;
}

// Whether all of the data has been asked for. VTK's filters leave out what was not, even if it has come.
bool IsAskedFor(vtkImageData* image, vtkInformation* inInfo)
{
  const int* asked = inInfo->Get(vtkStreamingDemandDrivenPipeline::UPDATE_EXTENT());
  const int* extent = image->GetExtent();
  for (int axis = 0; asked && axis < 3; ++axis)
  {
    if (extent[2 * axis] < asked[2 * axis] || extent[2 * axis + 1] > asked[2 * axis + 1])
    {
      return false;
    }
  }
  return true;
}

// The isovalues of the points, in an array as the stock filter makes it: floats, or of the contoured array's kind.
vtkSmartPointer<vtkDataArray> ConvertScalars(vtkDataArray* scalars, vtkDataArray* kind)
{
  vtkDataArray* made = kind && kind->HasStandardMemoryLayout() ? kind->NewInstance()
    : kind                                                     ? vtkDataArray::CreateDataArray(kind->GetDataType())
                                                               : vtkFloatArray::New();
  const auto converted = vtkSmartPointer<vtkDataArray>::Take(made);
  if (typeid(*made) == typeid(*scalars))
  {
    return scalars;
  }
  converted->DeepCopy(scalars);
  return converted;
}
}

StockSettings ReadSettings(vtkAlgorithm* stock, int which)
{
  StockSettings settings;
  settings.Which = which;
  settings.Name = stock->GetClassName();
  // GetInputArrayInformation() would make one.
  vtkInformationVector* arrays = stock->GetInformation()->Get(vtkAlgorithm::INPUT_ARRAYS_TO_PROCESS());
  settings.Array = arrays ? arrays->GetInformationObject(0) : nullptr;
  if (auto* contour = vtkContourFilter::SafeDownCast(stock))
  {
    ReadCommon(contour, settings);
    settings.PointArrays = settings.CellArrays = true;
    settings.Component = contour->GetArrayComponent();
    if (contour->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION)
    {
      settings.Precision = vtkAlgorithm::DOUBLE_PRECISION;
    }
    settings.Refusal = contour->GetGenerateTriangles() ? "" : "GenerateTriangles is off";
  }
  else if (auto* edges = vtkFlyingEdges3D::SafeDownCast(stock))
  {
    ReadCommon(edges, settings);
    settings.PointArrays = edges->GetInterpolateAttributes() != 0;
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0)
    settings.CellArrays = settings.PointArrays; // before, it left them out
#endif
    if (edges->GetArrayComponent() != 0)
    {
      settings.Refusal = "ArrayComponent is not 0, of which vtkFlyingEdges3D knows nothing";
    }
    else if (settings.PointArrays && settings.Isovalues.size() > 1)
    {
      settings.Refusal = "vtkFlyingEdges3D passes other arrays only if the first of several isovalues has a surface";
    }
  }
  else if (auto* cubes = vtkMarchingCubes::SafeDownCast(stock))
  {
    ReadCommon(cubes, settings);
    vtkIncrementalPointLocator* locator = cubes->GetLocator();
    if (locator && typeid(*locator) != typeid(vtkMergePoints))
    {
      settings.Refusal = "it has a locator of its own";
    }
    else if (settings.Gradients)
    {
      settings.Refusal = "what vtkMarchingCubes gives as gradients are others";
    }
  }
  return settings;
}

vtkDataArray* FindContoured(const StockSettings& settings, vtkImageData* image)
{
  vtkPointData* arrays = image->GetPointData();
  if (!settings.Array)
  {
    return arrays->GetScalars();
  }
  const int association = settings.Array->Get(vtkDataObject::FIELD_ASSOCIATION());
  if (association != vtkDataObject::FIELD_ASSOCIATION_POINTS &&
    association != vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS)
  {
    return nullptr;
  }
  const char* name = settings.Array->Get(vtkDataObject::FIELD_NAME());
  return name ? arrays->GetArray(name)
              : arrays->GetAttribute(settings.Array->Get(vtkDataObject::FIELD_ATTRIBUTE_TYPE()));
}

// Where VTK's filters would do something else with the arrays than ours.
static std::string RefuseArrays(const StockSettings& settings, vtkImageData* image, vtkDataArray* contoured)
{
  if (!contoured)
  {
    return "there is no such array";
  }
  if (contoured->GetDataType() == VTK_BIT)
  {
    return "the array holds bits";
  }
  if (settings.Which == vtkPMBContourAcceleration::MARCHING_CUBES && contoured->GetNumberOfComponents() > 1)
  {
    return "the array has several components, which vtkMarchingCubes refuses";
  }
  vtkPointData* data = image->GetPointData();
  for (const std::string own : { settings.Normals ? "Normals" : "", settings.Gradients ? "Gradients" : "" })
  {
    vtkAbstractArray* array = own.empty() ? nullptr : data->GetAbstractArray(own.c_str());
    if (array && (array == contoured || settings.PointArrays))
    {
      return "the image has an array " + own + " already";
    }
  }
  for (int i = 0; settings.PointArrays && i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* numbers = data->GetArray(i);
    const bool plain = numbers && numbers->GetDataType() != VTK_BIT && numbers != data->GetGlobalIds() &&
      numbers != data->GetPedigreeIds();
    // By vtkFlyingEdges3D other arrays are chosen by their names.
    if (!(plain && (numbers->GetName() || settings.CellArrays)) && numbers != contoured)
    {
      return "beside the contoured array there is one of text, bits or ids, or without a name";
    }
    if (settings.Which == vtkPMBContourAcceleration::FLYING_EDGES && numbers != contoured &&
      numbers->GetDataType() != VTK_FLOAT && numbers->GetDataType() != VTK_DOUBLE)
    {
      return "beside the contoured array there is one of integers, of which vtkFlyingEdges3D makes floats";
    }
  }
  return std::string();
}

std::string Refuse(const StockSettings& settings, vtkDataObject* input, vtkInformation* inInfo)
{
  vtkImageData* image = vtkImageData::SafeDownCast(input);
  const bool isContour = settings.Which == vtkPMBContourAcceleration::CONTOUR_FILTER;
  const bool isCubes = settings.Which == vtkPMBContourAcceleration::MARCHING_CUBES;
  const auto& values = settings.Isovalues;
  if (!settings.Refusal.empty())
  {
    return settings.Refusal;
  }
  if (values.empty())
  {
    return "there is no isovalue";
  }
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
  {
    return "an isovalue is not a finite number";
  }
  if (!image)
  {
    return std::string("the input is ") + (input ? input->GetClassName() : "nothing");
  }
  if (image->GetDataDimension() != 3)
  {
    return "the image has not three dimensions";
  }
  if (isContour && vtkUniformGrid::SafeDownCast(image))
  {
    return "the input is vtkUniformGrid";
  }
  if (isContour && !image->GetDirectionMatrix()->IsIdentity())
  {
    return "the image has a direction matrix, which vtkContourFilter ignores";
  }
  if (!isCubes && !IsAskedFor(image, inInfo))
  {
    return "only a part of the image was asked for";
  }
  return RefuseArrays(settings, image, FindContoured(settings, image));
}

void HandOver(const StockSettings& settings, vtkDataArray* contoured, vtkPolyData* mesh, vtkPolyData* output)
{
  vtkPointData* made = mesh->GetPointData();
  const bool isEdges = settings.Which == vtkPMBContourAcceleration::FLYING_EDGES;
  struct Own
  {
    vtkSmartPointer<vtkDataArray> Array; // null: not wanted
    int Attribute;
  } own[] = { { settings.Scalars ? made->GetScalars() : nullptr, vtkDataSetAttributes::SCALARS },
    { settings.Gradients ? made->GetArray("Gradients") : nullptr, vtkDataSetAttributes::VECTORS },
    { settings.Normals ? made->GetNormals() : nullptr, vtkDataSetAttributes::NORMALS } };
  // The filter's own arrays come last. VTK's interpolation knows no ids.
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
    own[0].Array = ConvertScalars(own[0].Array, isEdges ? contoured : nullptr);
  }
  if (isEdges)
  {
    std::swap(own[1], own[2]);
  }
  for (const Own& one : own)
  {
    if (one.Array && settings.Which == vtkPMBContourAcceleration::MARCHING_CUBES)
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
  if (settings.CellArrays) // else there are no flags of cells either
  {
    output->GetCellData()->ShallowCopy(mesh->GetCellData());
  }
}
}
VTK_ABI_NAMESPACE_END
