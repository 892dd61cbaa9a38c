// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourFilter.h"

#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourInternals.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBContourFilter);
vtkInformationKeyMacro(vtkPMBContourFilter, TRIANGLES_OF_ALL_POINTS, Integer);
vtkInformationKeyMacro(vtkPMBContourFilter, STANDS_IN_FOR, ObjectBase);

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
  vtkPMBContour::AcceptInput(info);
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
  os << indent << "Number Of Threads: " << this->NumberOfThreads << "\n";
  os << indent << "Number Of Binds: " << this->NumberOfBinds << "\n";
  os << indent << "Number Of Uploads: " << this->GetNumberOfUploads() << "\n";
  os << indent << "Device Bytes: " << this->GetDeviceBytes() << "\n";
  os << indent << "Peak Extra Bytes: " << this->PeakExtraBytes << "\n";
  os << indent << "Last Run Summary: " << this->LastRunSummary << "\n";
}

// LastRunSummary after an execution that contoured something.
std::string vtkPMBContourFilter::vtkInternals::Summarize() const
{
  const Totals& sum = this->Sum;
  const bool isAlone = sum.Blocks == 1;
  std::ostringstream text;
  text.precision(3);
  for (const std::string& device : sum.Devices)
  {
    text << (text.tellp() > 0 ? "; " : "") << device;
  }
  text << ": ";
  isAlone ? text << sum.Reading : text << sum.Contoured << " of " << sum.Blocks << " blocks, ";
  if (!isAlone || !sum.HasSlice)
  {
    text << sum.Triangles << " triangles" << (sum.Lines > 0 ? ", " : "");
  }
  if (isAlone ? sum.HasSlice : sum.Lines > 0)
  {
    text << sum.Lines << " lines";
  }
  text << " and " << sum.Points << " points in " << sum.Seconds << " s";
  if (sum.Lacking > 0)
  {
    text << "; without the array: " << sum.Lacking;
  }
  if (sum.Others > 0)
  {
    text << "; no image data: " << sum.Others;
  }
  text << (sum.Error.empty() ? "" : "; failed: ") << sum.Error << sum.Note;
  return text.str();
}

void vtkPMBContourFilter::vtkInternals::WarnAtEnd()
{
  const Totals& sum = this->Sum;
  std::string kinds;
  for (const std::string& kind : sum.Kinds)
  {
    if (this->Told.insert(kind).second)
    {
      kinds += (kinds.empty() ? "" : ", ") + kind;
    }
  }
  if (!kinds.empty())
  {
    vtkWarningWithObjectMacro(this->Filter, << sum.Others << " of " << sum.Blocks << " blocks are not image data ("
                                            << kinds
                                            << ") and give no surface: contour them with vtkContourFilter (in "
                                               "ParaView: Contour), or resample them to image "
                                               "data first. This warning appears once.");
  }
  if (!sum.NotFinite.empty())
  {
    vtkWarningWithObjectMacro(this->Filter,
      << "Isovalues that are not finite are ignored: " << sum.NotFinite << ". "
      << (sum.Replaced ? "No other is set: the suggested isovalue is used. " : "") << "Set finite numbers.");
  }
  const auto isInside = [&sum](double isovalue) { return isovalue >= sum.Minimum && isovalue <= sum.Maximum; };
  if (sum.Ranges > 0 && !sum.Several && !sum.Isovalues.empty() &&
    std::none_of(sum.Isovalues.begin(), sum.Isovalues.end(), isInside))
  {
    std::ostringstream text;
    text << "No isovalue lies in the range of the array '" << sum.ArrayName << "', " << sum.Minimum << " to "
         << sum.Maximum;
    const bool isEmpty = sum.Minimum > sum.Maximum;
    this->Warn(
      (isEmpty ? "The array '" + sum.ArrayName + "' has no finite sample" : text.str()) + ": the output is empty.");
  }
}
VTK_ABI_NAMESPACE_END
