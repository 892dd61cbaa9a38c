// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourFilter.h"

#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVariantKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourInternals.h"
#include "vtkPMBMeshOrigin.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBContourFilter);
vtkInformationKeyMacro(vtkPMBContourFilter, TRIANGLES_OF_ALL_POINTS, Variant);
vtkInformationKeyMacro(vtkPMBContourFilter, STANDS_IN_FOR, ObjectBase);
vtkInformationKeyMacro(vtkPMBContourFilter, ORIGIN_ON_GPU, ObjectBase);

vtkPMBContourFilter::vtkPMBContourFilter()
  : Internals(new vtkInternals(this))
{
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
}

vtkPMBContourFilter::~vtkPMBContourFilter() = default;

vtkMTimeType vtkPMBContourFilter::GetMTime()
{
  return std::max({ this->Superclass::GetMTime(), this->ContourValues->GetMTime(),
    this->PointArraySelection->GetMTime(), this->CellArraySelection->GetMTime() });
}

void vtkPMBContourFilter::SetAbortExecute(vtkTypeBool abort)
{
  if (abort)
  {
    this->AbortExecute = abort;
  }
  else
  {
    this->Superclass::SetAbortExecute(abort);
  }
}

void vtkPMBContourFilter::SetDeviceMemoryLimit(double limit)
{
  if (!(limit >= 0.0))
  {
    vtkErrorMacro("DeviceMemoryLimit (in ParaView: GPU Memory Limit) cannot be "
      << limit << ": set a number of GiB, or 0 for no limit. It stays " << this->DeviceMemoryLimit << ".");
    return;
  }
  if (this->DeviceMemoryLimit != limit)
  {
    this->DeviceMemoryLimit = limit;
    this->Modified();
  }
}

void vtkPMBContourFilter::SetNumberOfThreads(int threads)
{
  const int used = std::min(std::max(threads, 0), 1024);
  if (used != threads)
  {
    vtkWarningMacro("NumberOfThreads (in ParaView: CPU Threads) cannot be "
      << threads << ": set 1 to 1024, or 0 for one thread per core. " << used << " is used.");
  }
  if (this->NumberOfThreads != used)
  {
    this->NumberOfThreads = used;
    this->Modified();
  }
}

void vtkPMBContourFilter::ReleaseDeviceMemory()
{
  this->Internals->Contexts->GetUsage(/*release=*/true);
}

vtkIdType vtkPMBContourFilter::GetNumberOfUploads()
{
  return this->Internals->Contexts->GetUsage().Uploads;
}

vtkTypeInt64 vtkPMBContourFilter::GetDeviceBytes()
{
  return this->Internals->Contexts->GetUsage().Bytes;
}

int vtkPMBContourFilter::FillInputPortInformation(int, vtkInformation* info)
{
  vtkPMB::AcceptInput(info);
  return 1;
}

int vtkPMBContourFilter::RequestUpdateExtent(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  // Gradients at a piece's border need the samples beyond it.
  const int more = outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()) > 1;
  inInfo->CopyEntry(outInfo, Pipeline::UPDATE_PIECE_NUMBER());
  inInfo->CopyEntry(outInfo, Pipeline::UPDATE_NUMBER_OF_PIECES());
  inInfo->Set(
    Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), outInfo->Get(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS()) + more);
  if (this->MemoryLimit > 0 && !more)
  {
    vtkPMB::Slabs::AskForFirst(inInfo);
  }
  return 1;
}

vtkTypeBool vtkPMBContourFilter::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  // The pipeline sends this right before it empties the output.
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA_NOT_GENERATED()))
  {
    this->Internals->Memory.Open();
  }
  return this->Superclass::ProcessRequest(request, inputVector, outputVector);
}

int vtkPMBContourFilter::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  this->Internals->Execute(inputVector, vtkPolyData::GetData(outputVector));
  // Also after an error: the output is valid, if empty, and VTK would add a second message.
  return 1;
}

void vtkPMBContourFilter::GetIsovalueHistogram(int numberOfBins, vtkTable* table)
{
  if (table)
  {
    this->Internals->FillHistogram(std::min<int>(std::max(numberOfBins, 1), PMB_HISTOGRAM_MOST), table);
  }
}

bool vtkPMBContourFilter::EmitToOpenGL(
  vtkPolyData* surface, OpenGLBuffers* buffers, const double* shift, const double* scale)
{
  return vtkPMB::EmitToOpenGL(surface, buffers, shift, scale);
}

void vtkPMBContourFilter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Contour Values:\n";
  this->ContourValues->PrintSelf(os, indent.GetNextIndent());
  os << indent << "Compute Normals: " << (this->ComputeNormals ? "On\n" : "Off\n");
  const char* const estimators[] = { "Central Differences", "Forward Differences", "Sobel 3x3x3" };
  os << indent << "Normal Estimator: " << estimators[this->NormalEstimator] << "\n";
  os << indent << "Compute Gradients: " << (this->ComputeGradients ? "On\n" : "Off\n");
  os << indent << "Compute Scalars: " << (this->ComputeScalars ? "On\n" : "Off\n");
  os << indent << "Interpolate Attributes: " << (this->InterpolateAttributes ? "On\n" : "Off\n");
  os << indent << "Choose Arrays: " << (this->ChooseArrays ? "On\n" : "Off\n");
  os << indent << "Point Array Selection:\n";
  this->PointArraySelection->PrintSelf(os, indent.GetNextIndent());
  os << indent << "Cell Array Selection:\n";
  this->CellArraySelection->PrintSelf(os, indent.GetNextIndent());
  const char* const removal[] = { "Off\n", "On\n", "On, one point per sheet\n" };
  os << indent << "Remove Degenerate Triangles: " << removal[this->RemoveDegenerateTriangles];
  os << indent << "Use 64 Bit Ids: " << (this->Use64BitIds ? "On\n" : "Off\n");
  os << indent << "Compute Measures: " << (this->ComputeMeasures ? "On\n" : "Off\n");
  os << indent << "Use Suggested Isovalue: " << (this->UseSuggestedIsovalue ? "On\n" : "Off\n");
  os << indent << "Suggested Isovalues: " << this->SuggestionSummary << "\n";
  os << indent << "Output Points Precision: " << this->OutputPointsPrecision << "\n";
  os << indent << "Array Component: " << this->ArrayComponent << "\n";
  const char* const devices[] = { "Automatic", "CPU", "GPU" };
  os << indent << "Device: " << devices[this->Device] << "\n";
  os << indent << "Device Index: " << this->DeviceIndex << "\n";
  os << indent << "Device Memory Limit: " << this->DeviceMemoryLimit << "\n";
  os << indent << "Memory Limit: " << this->MemoryLimit << "\n";
  os << indent << "Pieces File Name: " << this->PiecesFileName << "\n";
  os << indent << "Number Of Threads: " << this->NumberOfThreads << "\n";
  os << indent << "Number Of Binds: " << this->NumberOfBinds << "\n";
  os << indent << "Number Of Uploads: " << this->GetNumberOfUploads() << "\n";
  os << indent << "Device Bytes: " << this->GetDeviceBytes() << "\n";
  os << indent << "Peak Extra Bytes: " << this->PeakExtraBytes << "\n";
  os << indent << "Last Run Summary: " << this->LastRunSummary << "\n";
}
VTK_ABI_NAMESPACE_END
