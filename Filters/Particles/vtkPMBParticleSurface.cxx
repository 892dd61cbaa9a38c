// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleSurface.h"

#include "vtkCommand.h"
#include "vtkExtentTranslator.h"
#include "vtkFloatArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkPMBParticleInternals.h"
#include "vtkPointData.h"
#include "vtkPointSet.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBParticleSurface);

using Pipeline = vtkStreamingDemandDrivenPipeline;

vtkPMBParticleSurface::vtkPMBParticleSurface()
  : Kept(new Internals)
{
  for (int i = 0; i < vtkPMB::Particles::NUMBERS; ++i)
  {
    this->SetInputArrayToProcess(i, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, ""); // none
  }
  this->SetNumberOfOutputPorts(2);
  this->AddObserver(vtkCommand::StartEvent, this, &vtkPMBParticleSurface::NoteStart);
  this->AddObserver(vtkCommand::EndEvent, this, &vtkPMBParticleSurface::NoteEnd);
}

vtkPMBParticleSurface::~vtkPMBParticleSurface() = default;

int vtkPMBParticleSurface::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkPointSet");
  return 1;
}

int vtkPMBParticleSurface::FillOutputPortInformation(int port, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == 0 ? "vtkPolyData" : "vtkImageData");
  return 1;
}

int vtkPMBParticleSurface::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  const int* last = this->ImageDimensions;
  vtkInformation* image = outputVector->GetInformationObject(1);
  const int extent[6] = { 0, this->ComputeImage ? last[0] - 1 : -1, 0, this->ComputeImage ? last[1] - 1 : -1, 0,
    this->ComputeImage ? last[2] - 1 : -1 };
  image->Set(Pipeline::WHOLE_EXTENT(), extent, 6);
  vtkDataObject::SetPointDataActiveScalarInfo(image, VTK_FLOAT, 1);
  return 1;
}

// Both outputs are made at the same time, for the same piece.
int vtkPMBParticleSurface::RequestUpdateExtent(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  const bool asksImage = request->Get(Pipeline::FROM_OUTPUT_PORT()) == 1;
  vtkInformation* from = outputVector->GetInformationObject(asksImage ? 1 : 0);
  vtkInformation* other = outputVector->GetInformationObject(asksImage ? 0 : 1);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (this->Kept->Depth == 0) // VTK sets the pieces of blocks
  {
    other->CopyEntry(from, Pipeline::UPDATE_PIECE_NUMBER());
    other->CopyEntry(from, Pipeline::UPDATE_NUMBER_OF_PIECES());
    other->CopyEntry(from, Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS());
    if (!asksImage && other->Has(Pipeline::WHOLE_EXTENT()))
    {
      other->Set(Pipeline::UPDATE_EXTENT(), other->Get(Pipeline::WHOLE_EXTENT()), 6);
    }
  }
  if (asksImage && input && input->Has(Pipeline::WHOLE_EXTENT())) // of a structured grid
  {
    input->Set(Pipeline::UPDATE_EXTENT(), input->Get(Pipeline::WHOLE_EXTENT()), 6);
  }
  return this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
}

vtkTypeBool vtkPMBParticleSurface::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  // The pipeline sends this right before it empties the output.
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA_NOT_GENERATED()))
  {
    this->Kept->Core.Memory.Open();
  }
  return this->Superclass::ProcessRequest(request, inputVector, outputVector);
}

int vtkPMBParticleSurface::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  vtkImageData* image = vtkImageData::GetData(outputVector, 1);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  vtkPMB::Ranks ranks(this->FindRanks(outInfo));
  std::string error;
  image->Initialize(); // VTK keeps the scalars of the execution before
  image->SetOrigin(0, 0, 0);
  image->SetSpacing(1, 1, 1);
  try
  {
    if (this->ComputeImage)
    {
      ranks.Together(
        [&] { this->SetImageExtent(ranks.Rank(), ranks.Count(), outputVector->GetInformationObject(1), image); });
    }
    this->Kept->Time = outInfo->Has(Pipeline::UPDATE_TIME_STEP()) ? outInfo->Get(Pipeline::UPDATE_TIME_STEP())
                                                                  : std::numeric_limits<double>::quiet_NaN();
    this->Kept->Run(this, ranks, inputVector, output, image);
    const bool fits = image->GetNumberOfPoints() <= this->SampleLimit * 1e6;
    if (this->ComputeImage && fits && !image->GetPointData()->GetScalars()) // there is no particle
    {
      vtkPMB::AddPotential(image)->FillValue(0.0f);
    }
  }
  catch (const vtkPMB::Failed& failed)
  {
    error = failed.Error;
  }
  catch (const vtkPMB::Aborted&)
  {
    output->Initialize(); // another rank may have been told to stop
    image->Initialize();
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the surface of the particles: raise CellSize.";
  }
  this->Kept->Core.Memory.Close();
  ++this->Kept->Block;
  if (!error.empty())
  {
    output->Initialize();
    image->Initialize();
    vtkErrorMacro(<< error);
  }
  if (this->ComputeImage) // else the pipeline would execute again for parts of other ranks, or refused ones
  {
    image->GetInformation()->Set(
      vtkDataObject::ALL_PIECES_EXTENT(), outputVector->GetInformationObject(1)->Get(Pipeline::WHOLE_EXTENT()), 6);
  }
  return 1; // also then: the output is valid, if empty, and VTK would only add a second message
}

void vtkPMBParticleSurface::SetImageExtent(int piece, int pieces, vtkInformation* outInfo, vtkImageData* image)
{
  int own[6], more[6], *whole = outInfo->Get(Pipeline::WHOLE_EXTENT());
  const int ghosts = pieces > 1 ? outInfo->Get(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS()) : 0;
  vtkNew<vtkExtentTranslator> translator;
  translator->PieceToExtentThreadSafe(piece, pieces, 0, whole, own, vtkExtentTranslator::Z_SLAB_MODE, 0);
  translator->PieceToExtentThreadSafe(piece, pieces, ghosts, whole, more, vtkExtentTranslator::Z_SLAB_MODE, 0);
  image->SetExtent(more);
  if (ghosts > 0)
  {
    image->GenerateGhostArray(own);
  }
}

vtkMultiProcessController* vtkPMBParticleSurface::FindRanks(vtkInformation* outInfo)
{
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  const bool together = controller && controller->GetNumberOfProcesses() > 1 && this->Kept->Depth <= 1 &&
    outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()) == controller->GetNumberOfProcesses() &&
    outInfo->Get(Pipeline::UPDATE_PIECE_NUMBER()) == controller->GetLocalProcessId();
  return together ? controller : nullptr;
}

void vtkPMBParticleSurface::SetImageDimensions(int x, int y, int z)
{
  const int dimensions[3] = { std::max(x, 1), std::max(y, 1), std::max(z, 1) };
  if (!std::equal(dimensions, dimensions + 3, this->ImageDimensions))
  {
    std::copy_n(dimensions, 3, this->ImageDimensions);
    this->Modified();
  }
}

bool vtkPMBParticleSurface::HasImageBounds() const
{
  const double* b = this->ImageBounds;
  return b[0] <= b[1] && b[2] <= b[3] && b[4] <= b[5];
}

void vtkPMBParticleSurface::NoteStart()
{
  if (this->Kept->Depth++ == 0)
  {
    this->Kept->Block = 0;
    this->Kept->Piece->CopyEntry(this->GetOutputInformation(0), Pipeline::UPDATE_PIECE_NUMBER());
    this->Kept->Piece->CopyEntry(this->GetOutputInformation(0), Pipeline::UPDATE_NUMBER_OF_PIECES());
  }
}

// VTK forgets the piece of an image while it executes block by block, and would execute again for it.
void vtkPMBParticleSurface::NoteEnd()
{
  const bool ends = --this->Kept->Depth == 0;
  for (int port = 0; ends && port < 2; ++port)
  {
    this->GetOutputInformation(port)->CopyEntry(this->Kept->Piece, Pipeline::UPDATE_PIECE_NUMBER());
    this->GetOutputInformation(port)->CopyEntry(this->Kept->Piece, Pipeline::UPDATE_NUMBER_OF_PIECES());
  }
}

void vtkPMBParticleSurface::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const std::pair<const char*, double> numbers[] = { { "Kernel", this->Kernel }, { "Radius", this->Radius },
    { "Smoothing Length", this->SmoothingLength }, { "Cell Size", this->CellSize }, { "Isovalue", this->Isovalue },
    { "Offset", this->Offset }, { "Output Points Precision", this->OutputPointsPrecision },
    { "Normal Estimator", this->NormalEstimator }, { "Sample Limit", this->SampleLimit }, { "Device", this->Device },
    { "Device Index", this->DeviceIndex }, { "Device Memory Limit", this->DeviceMemoryLimit },
    { "Number Of Threads", this->NumberOfThreads }, { "Used Device", this->UsedDevice },
    { "Used Radius", this->UsedRadius } };
  const std::pair<const char*, vtkTypeBool> switches[] = { { "Keep Radius", this->KeepRadius },
    { "Anisotropic", this->Anisotropic }, { "Compute Normals", this->ComputeNormals },
    { "Use 64 Bit Ids", this->Use64BitIds }, { "Compute Measures", this->ComputeMeasures },
    { "Pass Point Arrays", this->PassPointArrays }, { "Compute Image", this->ComputeImage } };
  for (const auto& each : numbers)
  {
    os << indent << each.first << ": " << each.second << "\n";
  }
  for (const auto& each : switches)
  {
    os << indent << each.first << ": " << (each.second ? "On" : "Off") << "\n";
  }
  os << indent << "Image Dimensions: " << this->ImageDimensions[0] << ", " << this->ImageDimensions[1] << ", "
     << this->ImageDimensions[2] << "\n";
  os << indent << "Image Bounds: ";
  std::copy_n(this->ImageBounds, 6, std::ostream_iterator<double>(os, " "));
  os << "\n";
}
VTK_ABI_NAMESPACE_END
