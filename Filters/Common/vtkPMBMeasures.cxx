// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns the core's results on a volume and a surface into VTK's arrays and tables.
#include "vtkPMBContexts.h"
#include "vtkPMBOutput.h"

#include "vtkDoubleArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkInformationVector.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkTable.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
// Triangles that another piece or a finer level shows.
const int NotShown =
  vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::HIDDENCELL;

// value: a member of the items, or a function of them.
template <typename ArrayT, typename T, typename ValueT>
void AddArray(vtkFieldData* fields, const char* name, const std::vector<T>& items, ValueT value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  for (const T& item : items)
  {
    array->InsertNextValue(std::invoke(value, item));
  }
  fields->AddArray(array);
}

const int64_t MostSuggestions = 8; // the core makes fewer

// A request over the range of the samples; without bins if that is empty.
pmb_histogram_request MakeRequest(const Context& context, int bins)
{
  const pmb_info info = context.GetInfo();
  pmb_histogram_request request = {};
  request.struct_size = sizeof(request);
  request.low = info.minimum;
  request.high = info.maximum;
  request.bins = info.minimum < info.maximum ? bins : 0;
  return request;
}

// Fills the request's arrays and finds isovalues to start with, the best first; without bins neither.
pmb_status Find(const Context& context, const pmb_histogram_request& request, std::vector<double>& suggestions)
{
  int64_t count = 0;
  suggestions.resize(MostSuggestions);
  pmb_status status =
    request.bins > 0 ? pmb_suggest(context.Get(), MostSuggestions, suggestions.data(), &count) : PMB_OK;
  suggestions.resize(count);
  return status == PMB_OK && request.bins > 0 ? pmb_histogram(context.Get(), &request) : status;
}

const int MostComponents = 9; // pmb_find_ranges takes no more

// VTK caches the bounds of points without a function to set them.
struct KeptBounds : vtkPoints
{
  static void Set(vtkPoints* points, const double bounds[6])
  {
    std::copy(bounds, bounds + 6, points->*(&KeptBounds::Bounds));
    (points->*(&KeptBounds::ComputeTime)).Modified();
  }
};

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

// Finds the ranges of `values` and stores them in the array.
pmb_status FindAndKeep(pmb_context* context, vtkDataArray* values, vtkDataArray* array)
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
}

pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output)
{
  std::vector<pmb_measures> measures(parts.size());
  for (pmb_measures& m : measures)
  {
    m.struct_size = sizeof(m);
  }
  pmb_measure_request request = {};
  request.struct_size = sizeof(request);
  request.mesh = &mesh;
  request.parts = parts.data();
  request.part_count = static_cast<int64_t>(parts.size());
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(
    output->GetCellData()->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  if (ghosts && ghosts->GetNumberOfComponents() == 1)
  {
    request.flags = ghosts->GetPointer(0);
    request.left_out = NotShown;
  }
  const pmb_status status = pmb_measure(context, &request, measures.data());
  if (status != PMB_OK)
  {
    return status;
  }
  vtkFieldData* fields = output->GetFieldData();
  AddArray<vtkDoubleArray>(fields, "Isovalue", isovalues, [](double isovalue) { return isovalue; });
  AddArray<vtkDoubleArray>(fields, "Area", measures, &pmb_measures::area);
  AddArray<vtkDoubleArray>(fields, "Volume", measures, &pmb_measures::volume);
  AddArray<vtkTypeInt64Array>(fields, "Closed", measures, &pmb_measures::closed);
  AddArray<vtkTypeInt64Array>(fields, "EulerNumber", measures, &pmb_measures::euler);
  AddArray<vtkTypeInt64Array>(fields, "Components", measures, &pmb_measures::components);
  AddArray<vtkTypeInt64Array>(fields, "BoundaryEdges", measures, &pmb_measures::boundary_edges);
  AddArray<vtkTypeInt64Array>(fields, "NonManifoldEdges", measures, &pmb_measures::nonmanifold_edges);
  return PMB_OK;
}

pmb_status Explore(const Context& context, vtkDoubleArray* isovalues, vtkDoubleArray* curve)
{
  const int bins = 64;
  int64_t touched[bins];
  std::vector<double> suggestions;
  pmb_histogram_request request = MakeRequest(context, bins);
  request.touched = touched;
  const pmb_status status = Find(context, request, suggestions);
  const bool isKnown = status == PMB_OK && request.bins > 0;
  isovalues->SetNumberOfValues(isKnown ? static_cast<vtkIdType>(suggestions.size()) : 0);
  curve->SetNumberOfValues(isKnown ? bins + 2 : 0);
  if (isKnown)
  {
    std::copy(suggestions.begin(), suggestions.end(), isovalues->GetPointer(0));
    curve->SetValue(0, request.low);
    curve->SetValue(1, request.high);
    std::copy_n(touched, bins, curve->GetPointer(2));
  }
  curve->Modified();
  return status;
}

pmb_status FillHistogram(const Context& context, int bins, vtkTable* table)
{
  std::vector<double> suggestions;
  pmb_histogram_request request = MakeRequest(context, bins);
  const vtkIdType rows = request.bins;
  vtkNew<vtkDoubleArray> isovalues;
  vtkNew<vtkTypeInt64Array> crossed, touched, suggested;
  const std::pair<vtkDataArray*, const char*> columns[] = { { isovalues, "bin_extents" }, { crossed, "Bricks" },
    { touched, "Bricks In Range" }, { suggested, "Suggested" } };
  for (const auto& column : columns)
  {
    column.first->SetName(column.second);
    column.first->SetNumberOfTuples(rows);
  }
  request.crossed = reinterpret_cast<int64_t*>(crossed->GetPointer(0));
  request.touched = reinterpret_cast<int64_t*>(touched->GetPointer(0));
  const pmb_status status = Find(context, request, suggestions);
  if (status != PMB_OK)
  {
    return status;
  }
  const double width = rows > 0 ? request.high / rows - request.low / rows : 0.0;
  for (vtkIdType row = 0; row < rows; ++row)
  {
    const double isovalue = pmb_histogram_isovalue(&request, row);
    const auto isHere = [=](double s) { return s >= isovalue - width / 2 && s < isovalue + width / 2; };
    isovalues->SetValue(row, isovalue);
    suggested->SetValue(
      row, std::any_of(suggestions.begin(), suggestions.end(), isHere) ? crossed->GetValue(row) : 0);
  }
  for (const auto& column : columns)
  {
    table->AddColumn(column.first);
  }
  return PMB_OK;
}

pmb_status KeepRanges(pmb_context* context, const double points[8], const double normals[8],
  vtkDataArray* normalArray, vtkDataArray* skipped, vtkPolyData* output)
{
  if (output->GetNumberOfPoints() == 0)
  {
    return PMB_OK;
  }
  Keep(output->GetPoints()->GetData(), points);
  KeptBounds::Set(output->GetPoints(), points);
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
      status = FindAndKeep(context, array, array);
    }
  }
  return status;
}

pmb_status Output::KeepRanges(pmb_context* context, const std::vector<pmb_sizes>& parts, vtkPolyData* output) const
{
  pmb_status status = PMB_OK;
  if (this->Scalars && output->GetNumberOfPoints() > 0) // a value per part
  {
    const auto values = vtkSmartPointer<vtkDataArray>::Take(this->Scalars->NewInstance());
    vtkIdType point = 0;
    for (const pmb_sizes& part : parts)
    {
      if (part.points > 0)
      {
        values->InsertNextTuple(point, this->Scalars);
      }
      point += part.points;
    }
    status = FindAndKeep(context, values, this->Scalars);
  }
  return status == PMB_OK
    ? vtkPMBContour::KeepRanges(context, this->PointRanges, this->NormalRanges, this->Normals, this->Scalars, output)
    : status;
}
}
VTK_ABI_NAMESPACE_END
