// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkDoubleArray.h"
#include "vtkTable.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
const int64_t MostSuggestions = 8; // the core makes fewer

// Over the range of the samples.
pmb_histogram_request MakeRequest(pmb_context* context, int bins)
{
  pmb_info info = {};
  info.struct_size = sizeof(info);
  pmb_get_info(context, &info);
  pmb_histogram_request request = {};
  request.struct_size = sizeof(request);
  request.low = info.minimum;
  request.high = info.maximum;
  request.bins = info.minimum < info.maximum ? bins : 0;
  return request;
}
}

pmb_status Explore(pmb_context* context, vtkDoubleArray* isovalues, vtkDoubleArray* curve)
{
  const int bins = 64;
  int64_t touched[bins], count = 0;
  double suggestions[MostSuggestions];
  pmb_histogram_request request = MakeRequest(context, bins);
  request.touched = touched;
  pmb_status status = pmb_suggest(context, MostSuggestions, suggestions, &count);
  if (status == PMB_OK && request.bins > 0)
  {
    status = pmb_histogram(context, &request);
  }
  const bool isKnown = status == PMB_OK && request.bins > 0;
  isovalues->SetNumberOfValues(isKnown ? count : 0);
  curve->SetNumberOfValues(isKnown ? bins + 2 : 0);
  if (isKnown)
  {
    std::copy_n(suggestions, count, isovalues->GetPointer(0));
    curve->SetValue(0, request.low);
    curve->SetValue(1, request.high);
    std::copy_n(touched, bins, curve->GetPointer(2));
  }
  curve->Modified();
  return status;
}

pmb_status FillHistogram(pmb_context* context, int bins, vtkTable* table)
{
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
  double suggestions[MostSuggestions];
  int64_t count = 0;
  pmb_status status = rows > 0 ? pmb_histogram(context, &request) : PMB_OK;
  if (status == PMB_OK && rows > 0)
  {
    status = pmb_suggest(context, MostSuggestions, suggestions, &count);
  }
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
    suggested->SetValue(row, std::any_of(suggestions, suggestions + count, isHere) ? crossed->GetValue(row) : 0);
  }
  for (const auto& column : columns)
  {
    table->AddColumn(column.first);
  }
  return PMB_OK;
}
}
VTK_ABI_NAMESPACE_END
