// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourHistogram.h"

#include "vtkDoubleArray.h"
#include "vtkNew.h"
#include "vtkPMBContourInternals.h"
#include "vtkTable.h"
#include "vtkTypeInt64Array.h"
#include "vtkVariant.h"

#include <algorithm>
#include <sstream>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
pmb_status FillHistogram(pmb_context* context, int bins, vtkTable* table)
{
  pmb_info info = {};
  info.struct_size = sizeof(info);
  pmb_get_info(context, &info);
  const vtkIdType rows = info.minimum < info.maximum ? bins : 0;
  vtkNew<vtkDoubleArray> isovalues;
  vtkNew<vtkTypeInt64Array> crossed, touched, suggested;
  const std::pair<vtkDataArray*, const char*> columns[] = { { isovalues, "bin_extents" }, { crossed, "Bricks" },
    { touched, "Bricks In Range" }, { suggested, "Suggested" } };
  for (const auto& column : columns)
  {
    column.first->SetName(column.second);
    column.first->SetNumberOfTuples(rows);
  }
  pmb_histogram_request request = {};
  request.struct_size = sizeof(request);
  request.low = info.minimum;
  request.high = info.maximum;
  request.bins = rows;
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

pmb_status vtkPMBContourFilter::vtkInternals::Suggest(vtkPMBContour::Context& context, vtkPMBContourFilter* filter,
  bool wanted, bool alone, std::vector<double>& isovalues)
{
  this->Suggested.Context = alone && !this->IsComposite() ? &context : nullptr;
  this->Suggested.Note.clear();
  if (!wanted)
  {
    return PMB_OK;
  }
  const pmb_status status = this->Suggested.Context ? this->UpdateSuggestions(filter) : PMB_OK;
  if (!this->Suggested.Context)
  {
    this->Suggested.Note = "; no isovalue is suggested for several blocks or pieces: those set are used";
  }
  else if (this->Suggested.Isovalues.empty())
  {
    this->Suggested.Note = "; no isovalue can be suggested for this volume: those set are used";
  }
  else
  {
    isovalues.assign(1, this->Suggested.Isovalues.front());
    std::ostringstream text;
    text << "; the isovalue " << isovalues.front() << " was suggested";
    this->Suggested.Note = text.str();
  }
  if (isovalues.empty())
  {
    isovalues.push_back(0.0);
  }
  return status;
}

// Asks the core, once for each volume that was read.
pmb_status vtkPMBContourFilter::vtkInternals::UpdateSuggestions(vtkPMBContourFilter* filter)
{
  if (this->Suggested.Bind == filter->NumberOfBinds)
  {
    return PMB_OK;
  }
  int64_t count = 0;
  this->Suggested.Isovalues.resize(vtkPMBContour::MostSuggestions);
  pmb_context* context = this->Suggested.Context->Get();
  const pmb_status status = context
    ? pmb_suggest(context, vtkPMBContour::MostSuggestions, this->Suggested.Isovalues.data(), &count)
    : PMB_UNAVAILABLE;
  this->Suggested.Isovalues.resize(static_cast<size_t>(status == PMB_OK ? count : 0));
  this->Suggested.Bind = status == PMB_OK ? filter->NumberOfBinds : 0;
  return status;
}

const std::vector<double>& vtkPMBContourFilter::vtkInternals::GetSuggestions(vtkPMBContourFilter* filter)
{
  if (this->Depth > 0) // the context is at work
  {
    return this->Suggested.Isovalues;
  }
  if (this->Suggested.Context)
  {
    const vtkPMBContour::Contexts::Use use(this->Contexts);
    if (this->UpdateSuggestions(filter) == PMB_INTERNAL) // the GPU: the next execution says so, or goes well
    {
      this->Suggested.Context->Discard();
    }
  }
  else
  {
    this->Suggested.Isovalues.clear();
    this->Suggested.Bind = 0;
  }
  return this->Suggested.Isovalues;
}

vtkDoubleArray* vtkPMBContourFilter::GetSuggestedIsovalues()
{
  const std::vector<double>& isovalues = this->Internals->GetSuggestions(this);
  this->SuggestedIsovalues->SetNumberOfValues(static_cast<vtkIdType>(isovalues.size()));
  std::copy(isovalues.begin(), isovalues.end(), this->SuggestedIsovalues->GetPointer(0));
  return this->SuggestedIsovalues;
}

void vtkPMBContourFilter::vtkInternals::FillHistogram(int bins, vtkTable* table)
{
  table->Initialize();
  if (this->Depth > 0 || !this->Suggested.Context)
  {
    return;
  }
  const vtkPMBContour::Contexts::Use use(this->Contexts);
  pmb_context* context = this->Suggested.Context->Get();
  if (context && vtkPMBContour::FillHistogram(context, bins, table) == PMB_INTERNAL)
  {
    this->Suggested.Context->Discard();
  }
}

void vtkPMBContourFilter::GetIsovalueHistogram(int numberOfBins, vtkTable* table)
{
  if (table)
  {
    this->Internals->FillHistogram(std::min<int>(std::max(numberOfBins, 1), PMB_HISTOGRAM_MOST), table);
  }
}

bool vtkPMBContourFilter::vtkInternals::HasCurve(vtkIdType bind) const
{
  return this->Depth > 0 || (this->Suggested.Context && this->Suggested.CurveBind == bind);
}

vtkDoubleArray* vtkPMBContourFilter::GetIsovalueCurve()
{
  if (this->Internals->HasCurve(this->NumberOfBinds))
  {
    return this->IsovalueCurve;
  }
  const int bins = 64;
  vtkNew<vtkTable> table;
  this->GetIsovalueHistogram(bins, table);
  this->IsovalueCurve->SetNumberOfValues(table->GetNumberOfRows() == bins ? bins + 2 : 0);
  this->Internals->SetCurve(0);
  if (this->IsovalueCurve->GetNumberOfValues() > 0)
  {
    this->Internals->SetCurve(this->NumberOfBinds);
    const double first = table->GetValue(0, 0).ToDouble(), last = table->GetValue(bins - 1, 0).ToDouble();
    const double half = (last - first) / (bins - 1) / 2.0; // the values are those of the bins' middles
    this->IsovalueCurve->SetValue(0, first - half);
    this->IsovalueCurve->SetValue(1, last + half);
    for (int i = 0; i < bins; ++i)
    {
      this->IsovalueCurve->SetValue(i + 2, table->GetValue(i, 2).ToDouble());
    }
  }
  this->IsovalueCurve->Modified();
  return this->IsovalueCurve;
}

const char* vtkPMBContourFilter::GetSuggestionSummary()
{
  std::ostringstream text;
  text.precision(4);
  for (double isovalue : this->Internals->GetSuggestions(this))
  {
    text << (text.tellp() > 0 ? ", " : "") << isovalue;
  }
  this->SuggestionSummary = text.tellp() > 0 ? text.str() : "none";
  return this->SuggestionSummary.c_str();
}
VTK_ABI_NAMESPACE_END
