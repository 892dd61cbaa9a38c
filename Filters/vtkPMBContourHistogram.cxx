// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourHistogram.h"

#include "vtkDoubleArray.h"
#include "vtkSmartPointer.h"
#include "vtkTable.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
struct Curve
{
  pmb_histogram_request Request = {};
  std::vector<int64_t> Crossed, Touched;
  std::vector<double> Suggestions;
};

// Of the bound volume. No bins: there is nothing to cut into bins.
pmb_status MakeCurve(pmb_context* context, int bins, Curve& curve)
{
  pmb_info info = {};
  info.struct_size = sizeof(info);
  pmb_get_info(context, &info);
  if (!(info.minimum < info.maximum))
  {
    return PMB_OK;
  }
  curve.Crossed.resize(static_cast<size_t>(bins));
  curve.Touched.resize(static_cast<size_t>(bins));
  curve.Request.struct_size = sizeof(curve.Request);
  curve.Request.low = info.minimum;
  curve.Request.high = info.maximum;
  curve.Request.bins = bins;
  curve.Request.crossed = curve.Crossed.data();
  curve.Request.touched = curve.Touched.data();
  pmb_status status = pmb_histogram(context, &curve.Request);
  int64_t count = 0;
  curve.Suggestions.resize(MostSuggestions);
  if (status == PMB_OK)
  {
    status = pmb_suggest(context, MostSuggestions, curve.Suggestions.data(), &count);
  }
  curve.Suggestions.resize(static_cast<size_t>(count));
  return status;
}

template <typename ArrayT>
vtkSmartPointer<ArrayT> AddColumn(vtkTable* table, const char* name, size_t rows)
{
  auto column = vtkSmartPointer<ArrayT>::New();
  column->SetName(name);
  column->SetNumberOfValues(static_cast<vtkIdType>(rows));
  table->AddColumn(column);
  return column;
}

void FillTable(const Curve& curve, vtkTable* table)
{
  const size_t rows = curve.Crossed.size();
  const auto isovalues = AddColumn<vtkDoubleArray>(table, "bin_extents", rows);
  const auto crossed = AddColumn<vtkTypeInt64Array>(table, "Bricks", rows);
  const auto touched = AddColumn<vtkTypeInt64Array>(table, "Bricks In Range", rows);
  const auto suggested = AddColumn<vtkTypeInt64Array>(table, "Suggested", rows);
  const double width = rows > 0 ? curve.Request.high / rows - curve.Request.low / rows : 0.0;
  for (size_t i = 0; i < rows; ++i)
  {
    const auto row = static_cast<vtkIdType>(i);
    const double isovalue = pmb_histogram_isovalue(&curve.Request, static_cast<int64_t>(i));
    const auto isHere = [=](double s) { return s >= isovalue - width / 2 && s < isovalue + width / 2; };
    isovalues->SetValue(row, isovalue);
    crossed->SetValue(row, curve.Crossed[i]);
    touched->SetValue(row, curve.Touched[i]);
    suggested->SetValue(
      row, std::any_of(curve.Suggestions.begin(), curve.Suggestions.end(), isHere) ? curve.Crossed[i] : 0);
  }
}

}

pmb_status FillHistogram(pmb_context* context, int bins, vtkTable* table)
{
  Curve curve;
  const pmb_status status = MakeCurve(context, bins, curve);
  if (status == PMB_OK)
  {
    FillTable(curve, table);
  }
  return status;
}
}
VTK_ABI_NAMESPACE_END
