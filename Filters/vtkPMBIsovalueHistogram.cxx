// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBIsovalueHistogram.h"

#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourInput.h"
#include "vtkTable.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"

#include "pmb.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBIsovalueHistogram);

namespace
{
const int64_t MostSuggestions = 8;

struct Destroy
{
  void operator()(pmb_context* context) const { pmb_destroy(context); }
};

struct Curve
{
  pmb_histogram_request Request = {};
  std::vector<int64_t> Crossed, Touched;
  std::vector<double> Suggestions;
};

int OnProgress(void* user, double fraction)
{
  auto* filter = static_cast<vtkPMBIsovalueHistogram*>(user);
  filter->UpdateProgress(fraction);
  return filter->GetAbortExecute() != 0 ? 1 : 0;
}

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
  const auto isovalues = AddColumn<vtkDoubleArray>(table, "Isovalue", rows);
  const auto crossed = AddColumn<vtkTypeInt64Array>(table, "Bricks", rows);
  const auto touched = AddColumn<vtkTypeInt64Array>(table, "Bricks In Range", rows);
  const auto suggested = AddColumn<vtkUnsignedCharArray>(table, "Suggested", rows);
  const double width = rows > 0 ? curve.Request.high / rows - curve.Request.low / rows : 0.0;
  for (size_t i = 0; i < rows; ++i)
  {
    const auto row = static_cast<vtkIdType>(i);
    const double isovalue = pmb_histogram_isovalue(&curve.Request, static_cast<int64_t>(i));
    const auto isHere = [=](double s) { return s >= isovalue - width / 2 && s < isovalue + width / 2; };
    isovalues->SetValue(row, isovalue);
    crossed->SetValue(row, curve.Crossed[i]);
    touched->SetValue(row, curve.Touched[i]);
    suggested->SetValue(row, std::any_of(curve.Suggestions.begin(), curve.Suggestions.end(), isHere) ? 1 : 0);
  }
}

// Returns what is wrong, for the user, or nothing. Throws std::bad_alloc.
std::string Run(vtkPMBIsovalueHistogram* filter, vtkImageData* image, vtkDataArray* array, vtkTable* table)
{
  std::string error;
  vtkPMBContour::Binding volume;
  if (!volume.Describe(image, image->GetMTime(), array, filter->GetArrayComponent(), error))
  {
    return error;
  }
  volume.CopyIfNeeded(array);
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_CPU; // to bring the volume to a GPU takes longer than this
  options.threads = filter->GetNumberOfThreads();
  pmb_context* made = nullptr;
  if (pmb_create(&options, &made) != PMB_OK)
  {
    return pmb_error(nullptr);
  }
  const std::unique_ptr<pmb_context, Destroy> context(made);
  pmb_set_progress(made, OnProgress, filter);
  Curve curve;
  pmb_status status = pmb_bind(made, &volume.GetVolume());
  pmb_set_progress(made, nullptr, nullptr);
  if (status == PMB_OK)
  {
    status = MakeCurve(made, filter->GetNumberOfBins(), curve);
  }
  if (status == PMB_OK)
  {
    FillTable(curve, table);
  }
  return status == PMB_OK || status == PMB_ABORTED ? std::string() : pmb_error(made);
}
}

vtkPMBIsovalueHistogram::vtkPMBIsovalueHistogram()
  : NumberOfBins(256)
  , ArrayComponent(0)
  , NumberOfThreads(0)
{
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
}

int vtkPMBIsovalueHistogram::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkImageData");
  return 1;
}

int vtkPMBIsovalueHistogram::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkImageData* image = vtkImageData::GetData(inputVector[0]);
  vtkTable* table = vtkTable::GetData(outputVector);
  if (!image || vtkPMBContour::Dimensions(image).Thick == 0)
  {
    return 1;
  }
  vtkPMBContour::ArrayChoice choice = {};
  choice.Association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  choice.Array = this->GetInputAbstractArrayToProcess(0, inputVector, choice.Association);
  choice.Component = this->ArrayComponent;
  vtkInformation* asked = this->GetInputArrayInformation(0);
  const char* name = asked->Has(vtkDataObject::FIELD_NAME()) ? asked->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  choice.Name = name ? name : "";
  std::string error;
  try
  {
    if (vtkDataArray* array = vtkPMBContour::CheckArray(image, choice, error))
    {
      error = Run(this, image, array, table);
    }
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the summary of the volume: take a part of it (Extract Subset).";
  }
  if (!error.empty())
  {
    table->Initialize();
    vtkErrorMacro(<< error);
  }
  return 1; // also then: the output is valid, if empty, and VTK would only add a second message
}

void vtkPMBIsovalueHistogram::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Number Of Bins: " << this->NumberOfBins << "\n";
  os << indent << "Array Component: " << this->ArrayComponent << "\n";
  os << indent << "Number Of Threads: " << this->NumberOfThreads << "\n";
}
VTK_ABI_NAMESPACE_END
