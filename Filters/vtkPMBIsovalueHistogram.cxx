// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBIsovalueHistogram.h"

#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourContexts.h"
#include "vtkPMBContourOutput.h"
#include "vtkPMBContourProgress.h"
#include "vtkTable.h"

#include "pmb.h"

#include <new>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBIsovalueHistogram);

namespace
{
// Returns what is wrong, for the user, or nothing. Throws std::bad_alloc.
std::string Run(vtkPMBIsovalueHistogram* filter, vtkImageData* image, vtkDataArray* array, vtkTable* table)
{
  std::string error;
  vtkPMBContour::Binding volume;
  if (!volume.Describe(image, image->GetMTime(), array, filter->GetArrayComponent(), error))
  {
    return error;
  }
  vtkPMBContour::Progress steps(filter, vtkPMBContour::Progress::BIND);
  if (!steps.Begin(vtkPMBContour::Progress::COPY) ||
    !volume.CopyIfNeeded(array, [&steps](double fraction) { return steps.Report(fraction); }) ||
    !steps.Begin(vtkPMBContour::Progress::BIND))
  {
    return std::string();
  }
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_CPU; // to bring the volume to a GPU takes longer than this
  options.threads = filter->GetNumberOfThreads();
  pmb_context* made = nullptr;
  if (pmb_create(&options, &made) != PMB_OK)
  {
    return pmb_error(nullptr);
  }
  const vtkPMBContour::CoreContext context(made);
  pmb_set_progress(made, vtkPMBContour::Progress::Hook, &steps);
  pmb_status status = pmb_bind(made, &volume.GetVolume());
  pmb_set_progress(made, nullptr, nullptr);
  if (status == PMB_OK)
  {
    status = vtkPMBContour::FillHistogram(made, filter->GetNumberOfBins(), table);
  }
  return status == PMB_OK || status == PMB_ABORTED ? std::string() : pmb_error(made);
}
}

vtkPMBIsovalueHistogram::vtkPMBIsovalueHistogram()
{
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
}

int vtkPMBIsovalueHistogram::FillInputPortInformation(int, vtkInformation* info)
{
  vtkPMBContour::AcceptInput(info);
  return 1;
}

int vtkPMBIsovalueHistogram::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkImageData* image = vtkImageData::GetData(inputVector[0]);
  vtkTable* table = vtkTable::GetData(outputVector);
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0]);
  if (input && !image)
  {
    table->Initialize();
    vtkErrorMacro(<< vtkPMBContour::RefuseInput(input));
    return 1;
  }
  if (!image || vtkPMBContour::Dimensions(image).Thick == 0)
  {
    return 1;
  }
  int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  vtkAbstractArray* found = this->GetInputAbstractArrayToProcess(0, inputVector, association);
  std::string error;
  try
  {
    if (vtkDataArray* array = vtkPMBContour::CheckArray(this, image, found, association, this->ArrayComponent, error))
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
