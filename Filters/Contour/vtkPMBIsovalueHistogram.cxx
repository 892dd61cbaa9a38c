// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBIsovalueHistogram.h"

#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContexts.h"
#include "vtkPMBMeasures.h"
#include "vtkTable.h"

#include <new>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBIsovalueHistogram);

namespace
{
// Throws Failed, Aborted, std::bad_alloc.
void Run(vtkPMBIsovalueHistogram* filter, vtkImageData* image, vtkDataArray* array, vtkTable* table)
{
  vtkPMB::Binding volume;
  volume.Describe(image, image->GetMTime(), array, filter->GetArrayComponent());
  vtkPMB::Progress steps(filter, vtkPMB::Progress::BIND);
  vtkPMB::Contexts contexts;
  vtkPMB::Context& context = contexts.Choose(volume, /*composite=*/false);
  // Uploading the volume to a GPU would take longer than the CPU takes.
  context.Ask({ vtkPMBContourFilter::CPU, -1, 0.0, filter->GetNumberOfThreads() }, volume);
  context.Prepare();
  steps.Begin(vtkPMB::Progress::COPY);
  volume.CopyIfNeeded(array, steps.GetReport());
  steps.Begin(vtkPMB::Progress::BIND);
  const vtkPMB::ProgressHook hook(context, vtkPMB::Progress::Hook, &steps);
  pmb_status status = context.Bind(volume, array);
  if (status == PMB_OK)
  {
    status = vtkPMB::FillHistogram(context, filter->GetNumberOfBins(), table);
  }
  if (status != PMB_OK && status != PMB_ABORTED)
  {
    throw vtkPMB::Failed{ pmb_error(context.Get()) };
  }
}
}

vtkPMBIsovalueHistogram::vtkPMBIsovalueHistogram()
{
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
}

int vtkPMBIsovalueHistogram::FillInputPortInformation(int, vtkInformation* info)
{
  vtkPMB::AcceptInput(info);
  return 1;
}

int vtkPMBIsovalueHistogram::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkImageData* image = vtkImageData::GetData(inputVector[0]);
  vtkTable* table = vtkTable::GetData(outputVector);
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0]);
  int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  std::string error;
  try
  {
    if (input && !image)
    {
      throw vtkPMB::Failed{ vtkPMB::RefuseInput(input) };
    }
    if (image && vtkPMB::Dimensions(image).Thick > 0)
    {
      vtkAbstractArray* found = this->GetInputAbstractArrayToProcess(0, inputVector, association);
      Run(this, image, vtkPMB::CheckArray(this, image, found, association, this->ArrayComponent), table);
    }
  }
  catch (const vtkPMB::Failed& failed)
  {
    error = failed.Error;
  }
  catch (const vtkPMB::Aborted&)
  {
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the summary of the volume: use a part of the volume (Extract Subset).";
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
