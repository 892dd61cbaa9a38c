// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBMeasures.h"

#include "vtkCellData.h"
#include "vtkDoubleArray.h"
#include "vtkPolyData.h"
#include "vtkTable.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
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
  if (status == PMB_ABORTED)
  {
    return status;
  }
  if (status != PMB_OK)
  {
    throw Failed{ std::string("The surface could not be measured: ") + pmb_error(context) +
      ". Turn ComputeMeasures off to get the surface without measures." };
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

}
VTK_ABI_NAMESPACE_END
