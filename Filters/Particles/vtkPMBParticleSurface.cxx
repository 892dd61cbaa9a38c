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
#include "vtkPMBParticleCore.h"
#include "vtkPMBParticleRadius.h"
#include "vtkPointSet.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <new>
#include <sstream>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBParticleSurface);

using vtkPMBContour::Failed;
using vtkPMBContour::Particles;
using vtkPMBContour::Ranks;
using Pipeline = vtkStreamingDemandDrivenPipeline;
using Steps = vtkPMBContour::Progress;

namespace
{
// Throws Failed if a number is not above 0 where it has to be.
void CheckSettings(vtkPMBParticleSurface* filter)
{
  const bool spheres = filter->GetKernel() == vtkPMBParticleSurface::SPHERES;
  const double radius = filter->GetRadius(), cell = filter->GetCellSize();
  const double smoothing = spheres ? 1.0 : filter->GetSmoothingLength(),
               isovalue = spheres ? 1.0 : filter->GetIsovalue();
  if (!(radius >= 0) || !(cell > 0) || !(smoothing > 0) || !(isovalue > 0))
  {
    std::ostringstream text;
    text << "Radius is " << radius << ", CellSize " << cell << ", SmoothingLength " << filter->GetSmoothingLength()
         << " and Isovalue " << filter->GetIsovalue() << ": use numbers above 0, or 0 for a radius from the points.";
    throw Failed{ text.str() };
  }
}

void Warn(vtkPMBParticleSurface* filter, const std::string& text)
{
  if (!text.empty())
  {
    vtkWarningWithObjectMacro(filter, << text);
  }
}

// A warning if points far from the origin have too few digits for a surface of this spacing in single precision, or nothing.
std::string DescribePrecision(vtkPolyData* surface, double spacing)
{
  double b[6], away = 0.0;
  std::ostringstream text;
  surface->GetBounds(b);
  for (int a = 0; a < 6 && surface->GetNumberOfPoints() > 0; a += 2)
  {
    away = b[a] * b[a + 1] > 0 ? std::max(away, std::min(std::abs(b[a]), std::abs(b[a + 1]))) : away;
  }
  if (away * 0x1p-23 > spacing / 16)
  {
    text << "In single precision, points at " << away << " from the origin are about " << away * 0x1p-23
         << " apart, and cells have a size of " << spacing << ": set Output Points Precision to Double.";
  }
  return text.str();
}

// Whether a kernel uses an array of numbers.
bool Uses(int kernel, int number)
{
  const bool isSpline = kernel == vtkPMBParticleSurface::SPLINE, isSpheres = kernel == vtkPMBParticleSurface::SPHERES;
  return number == Particles::RADIUS || (number == Particles::WEIGHT ? !isSpline && !isSpheres : isSpline);
}

// Sets the request's arrays.
void SetArrays(const Particles& particles, pmb_particle_request& request)
{
  request.positions = vtkPMBContour::ToCore(particles.Positions);
  request.radii = vtkPMBContour::ToCore(particles.Numbers[Particles::RADIUS]);
  request.masses = vtkPMBContour::ToCore(particles.Numbers[Particles::MASS]);
  request.densities = vtkPMBContour::ToCore(particles.Numbers[Particles::DENSITY]);
  request.weights = vtkPMBContour::ToCore(particles.Numbers[Particles::WEIGHT]);
}
}

class vtkPMBParticleSurface::Internals
{
public:
  // Makes this rank's part of the surface and, if it is wanted, of the image, whose extent is set. Throws Failed, Aborted,
  // std::bad_alloc.
  void Run(vtkPMBParticleSurface* filter, Ranks& ranks, vtkInformationVector** inputVector, vtkPolyData* output,
    vtkImageData* image);

  vtkPMBContour::ParticleCore Core;
  vtkNew<vtkInformation> Piece; // that is asked for
  std::atomic<int> Depth{ 0 };  // executions that have started and not ended: of all blocks, and of one

private:
  // Reads the points and the arrays to process.
  static void Read(vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, Particles& particles);
  // Makes the core's objects, and reads all. False: no rank has a point.
  bool Prepare(vtkPMBParticleSurface* filter, Ranks& ranks, vtkInformationVector** inputVector, Particles& particles);
  // The radius of the request, which stays from one time to the next. 0: none can be found.
  double ChooseRadius(vtkPMBParticleSurface* filter, Ranks& ranks, vtkPointSet* input, const Particles& particles);
  // Checks the settings and makes the request without `whole`.
  pmb_particle_request MakeRequest(vtkPMBParticleSurface* filter, const Particles& particles, double radius);
  // Throws for every status but PMB_OK.
  void Check(vtkPMBParticleSurface* filter, pmb_status status);
  // Finds the bounds of the particles of all ranks.
  void FindWhole(vtkPMBParticleSurface* filter, Ranks& ranks, const pmb_particle_request& request);
  void FillImage(vtkPMBParticleSurface* filter, Ranks& ranks, Steps& steps, Particles particles,
    pmb_particle_request request, vtkImageData* image);

  pmb_particle_bounds Whole = {}; // of the particles of all ranks
  std::vector<pmb_particle_span> Spans[3];
  vtkIdType AllPoints = 0; // of all ranks
  bool HasDoubles = false; // some of them are doubles
  // The radius that was found last, for what, and in how many points.
  struct FoundRadius
  {
    void* Input;
    std::string Array;
    vtkMTimeType Data;
    double Time, Radius;
    vtkIdType Points;
  };
  std::vector<FoundRadius> Found; // for each block

public:
  double Time = 0.0; // that is asked for; NaN: none
  size_t Block = 0;  // of this execution
};

void vtkPMBParticleSurface::Internals::Read(
  vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, Particles& particles)
{
  vtkDataArray* numbers[Particles::NUMBERS];
  for (int i = 0; i < Particles::NUMBERS; ++i)
  {
    int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
    numbers[i] = Uses(filter->Kernel, i) ? filter->GetInputArrayToProcess(i, inputVector, association) : nullptr;
    const char* name = filter->GetInputArrayInformation(i)->Get(vtkDataObject::FIELD_NAME());
    const bool isNamed = name && *name && name != std::string("None"); // what ParaView calls none
    if (Uses(filter->Kernel, i) && !numbers[i] && isNamed)
    {
      Warn(filter,
        "There is no numeric array '" + std::string(name) + "' for the " + Particles::Names[i] +
          ": choose another array, or None.");
    }
    if (numbers[i] &&
      (numbers[i]->GetNumberOfComponents() != 1 || association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
    {
      throw Failed{ std::string("The array of ") + Particles::Names[i] +
        " must be a point array with one component: choose another array, or None." };
    }
  }
  particles.Read(vtkPointSet::GetData(inputVector[0]), numbers);
}

double vtkPMBParticleSurface::Internals::ChooseRadius(
  vtkPMBParticleSurface* filter, Ranks& ranks, vtkPointSet* input, const Particles& particles)
{
  vtkDataArray* radii = particles.Numbers[Particles::RADIUS];
  FoundRadius now = { filter->GetInputConnection(0, 0), radii && radii->GetName() ? radii->GetName() : "", 0,
    this->Time, filter->Radius, this->AllPoints };
  vtkDataArray* given = input && !now.Array.empty() ? input->GetPointData()->GetArray(now.Array.c_str()) : nullptr;
  now.Data =
    std::max<vtkMTimeType>(particles.Count() > 0 ? input->GetPoints()->GetMTime() : 0, given ? given->GetMTime() : 0);
  CheckSettings(filter);
  if (now.Radius != 0)
  {
    return now.Radius;
  }
  this->Found.resize(std::max(this->Found.size(), this->Block + 1));
  FoundRadius& last = this->Found[this->Block];
  const bool isSame = last.Input == now.Input && last.Array == now.Array &&
    (last.Data == now.Data || std::abs(last.Time - now.Time) > 0); // not NaN
  bool stays = filter->KeepRadius && last.Points >= 100;
  for (const std::vector<vtkIdType>& same : ranks.Share<vtkIdType>({ isSame }))
  {
    stays &= same[0] != 0;
  }
  if (stays)
  {
    now.Radius = last.Radius;
  }
  else if (radii)
  {
    now.Radius = vtkPMBContour::FindMean(ranks, radii);
    now.Radius = now.Radius > 0 ? now.Radius : 1.0; // the core says which radius is wrong
  }
  else
  {
    now.Radius = vtkPMBContour::FindRadius(ranks, particles.Positions, this->Core.GetThreads());
  }
  now.Points = stays ? last.Points : now.Points;
  last = now;
  return now.Radius;
}

pmb_particle_request vtkPMBParticleSurface::Internals::MakeRequest(
  vtkPMBParticleSurface* filter, const Particles& particles, double radius)
{
  filter->UsedRadius = radius;
  pmb_particle_request request = {};
  request.struct_size = sizeof(request);
  request.spacing = filter->CellSize * radius;
  request.kernel = static_cast<pmb_particle_kernel>(filter->Kernel);
  request.normals = static_cast<pmb_particle_normals>(filter->NormalEstimator);
  request.isovalue = filter->Kernel == SPHERES ? -filter->Offset : filter->Isovalue;
  request.radius = radius;
  request.smoothing = filter->SmoothingLength;
  request.anisotropic = filter->Anisotropic && filter->Kernel == SPLINE;
  request.brick_limit = static_cast<int64_t>(filter->SampleLimit) * 1000000 / 512;
  SetArrays(particles, request);
  return request;
}

void vtkPMBParticleSurface::Internals::Check(vtkPMBParticleSurface* filter, pmb_status status)
{
  const std::string error = pmb_error(this->Core.GetContext());
  if (status == PMB_ABORTED)
  {
    throw vtkPMBContour::Aborted();
  }
  if (status == PMB_TOO_LARGE)
  {
    std::ostringstream text;
    text << error << ". The spacing is CellSize times the radius of " << filter->UsedRadius
         << ": raise CellSize or SampleLimit.";
    throw Failed{ text.str() };
  }
  if (status != PMB_OK)
  {
    throw Failed{ error };
  }
}

void vtkPMBParticleSurface::Internals::FindWhole(
  vtkPMBParticleSurface* filter, Ranks& ranks, const pmb_particle_request& request)
{
  pmb_particle_bounds& whole = this->Whole;
  whole = {};
  whole.struct_size = sizeof(whole);
  ranks.Together(
    [&] { this->Check(filter, pmb_particles_find_bounds(this->Core.GetParticles(), &request, &whole)); });
  const double* low = whole.low;
  const double* high = whole.high;
  for (const std::vector<double>& other :
    ranks.Share<double>({ low[0], low[1], low[2], high[0], high[1], high[2], whole.radius, whole.reach, whole.halo }))
  {
    for (int a = 0; a < 3; ++a)
    {
      whole.low[a] = std::min(whole.low[a], other[a]);
      whole.high[a] = std::max(whole.high[a], other[3 + a]);
    }
    whole.radius = std::max(whole.radius, other[6]);
    whole.reach = std::max(whole.reach, other[7]);
    whole.halo = std::max(whole.halo, other[8]);
  }
  if (!pmb_particles_are_far(&whole))
  {
    return;
  }
  pmb_particle_request again = request;
  pmb_particle_bounds mine = { sizeof(mine) };
  again.whole = &whole;
  ranks.Together([&] { this->Check(filter, pmb_particles_find_bounds(this->Core.GetParticles(), &again, &mine)); });
  for (int a = 0; a < 3; ++a)
  {
    std::vector<double> ends;
    for (int64_t i = 0; i < mine.span_count[a]; ++i)
    {
      ends.insert(ends.end(), { mine.spans[a][i].low, mine.spans[a][i].high });
    }
    this->Spans[a].clear();
    for (const std::vector<double>& part : ranks.Share(ends))
    {
      for (size_t i = 0; i < part.size(); i += 2)
      {
        this->Spans[a].push_back({ part[i], part[i + 1], 0 });
      }
    }
    whole.spans[a] = this->Spans[a].data();
    whole.span_count[a] = static_cast<int64_t>(this->Spans[a].size());
  }
}

void vtkPMBParticleSurface::Internals::FillImage(vtkPMBParticleSurface* filter, Ranks& ranks, Steps& steps,
  Particles particles, pmb_particle_request request, vtkImageData* image)
{
  const double samples = 1.0 * filter->ImageDimensions[0] * filter->ImageDimensions[1] * filter->ImageDimensions[2];
  if (samples > filter->SampleLimit * 1e6)
  {
    std::ostringstream text;
    text << "The image has " << samples << " samples, and SampleLimit allows " << filter->SampleLimit
         << " million: lower ImageDimensions, or raise SampleLimit.";
    throw Failed{ text.str() };
  }
  pmb_particle_image grid = {};
  grid.struct_size = sizeof(grid);
  const int* extent = image->GetExtent();
  for (int a = 0; a < 3; ++a)
  {
    const int last = filter->ImageDimensions[a] - 1;
    // Beyond the kernels' reach, so that contours of the image are closed.
    double low = (this->Whole.low[a] - this->Whole.reach - 1) * request.spacing;
    double high = (this->Whole.high[a] + this->Whole.reach + 2) * request.spacing;
    if (filter->HasImageBounds())
    {
      low = filter->ImageBounds[2 * a];
      high = filter->ImageBounds[2 * a + 1];
    }
    grid.origin[a] = last > 0 ? low : (low + high) / 2;
    grid.spacing[a] = last > 0 && low < high ? (high - low) / last : request.spacing;
    grid.first[a] = extent[2 * a];
    grid.dims[a] = extent[2 * a + 1] - extent[2 * a] + 1;
  }
  const bool isEmpty = grid.dims[0] < 1 || grid.dims[1] < 1 || grid.dims[2] < 1;
  const double cell = grid.spacing[2] / request.spacing,
               first = grid.origin[2] / request.spacing + grid.first[2] * cell;
  if (ranks.Count() > 1)
  {
    const double none = std::numeric_limits<double>::infinity(), halo = this->Whole.halo;
    vtkPMBContour::Distribute(ranks, particles, request.spacing, isEmpty ? none : std::floor(first) - halo,
      isEmpty ? -none : first + (grid.dims[2] - 1) * cell + halo);
    SetArrays(particles, request);
  }
  ranks.Together(
    [&]
    {
      vtkNew<vtkFloatArray> values;
      values->SetName("Potential");
      vtkPMBContour::Allocate(values, isEmpty ? 0 : grid.dims[0] * grid.dims[1] * grid.dims[2]);
      grid.values = values->GetPointer(0);
      image->SetOrigin(grid.origin);
      image->SetSpacing(grid.spacing);
      image->GetPointData()->SetScalars(values);
      request.whole = &this->Whole;
      const vtkPMBContour::CoreProgress progress(this->Core.GetContext(), steps);
      steps.Begin(Steps::COPY);
      this->Check(filter, isEmpty ? PMB_OK : pmb_particles_sample(this->Core.GetParticles(), &request, &grid));
    });
}

bool vtkPMBParticleSurface::Internals::Prepare(
  vtkPMBParticleSurface* filter, Ranks& ranks, vtkInformationVector** inputVector, Particles& particles)
{
  vtkPointSet* input = vtkPointSet::GetData(inputVector[0]);
  const vtkIdType points = input ? input->GetNumberOfPoints() : 0;
  ranks.Together(
    [&]
    {
      this->Core.Make({ filter->Device, filter->DeviceIndex, filter->DeviceMemoryLimit, filter->NumberOfThreads });
      if (points > 0)
      {
        Read(filter, inputVector, particles);
      }
      if (points > 0 && filter->PassPointArrays)
      {
        particles.ReadPassed(input, filter->ComputeNormals ? "Normals" : "");
      }
    });
  const bool doubles = points > 0 && particles.Positions->GetDataType() == VTK_DOUBLE;
  this->AllPoints = 0;
  this->HasDoubles = false;
  for (const std::vector<vtkIdType>& count : ranks.Share<vtkIdType>({ points, doubles }))
  {
    this->AllPoints += count[0];
    this->HasDoubles |= count[1] != 0;
  }
  if (this->AllPoints > 0 && ranks.Count() > 1)
  {
    vtkPMBContour::MatchArrays(ranks, particles);
  }
  return this->AllPoints > 0;
}

void vtkPMBParticleSurface::Internals::Run(vtkPMBParticleSurface* filter, Ranks& ranks,
  vtkInformationVector** inputVector, vtkPolyData* output, vtkImageData* image)
{
  const auto close = [filter](vtkPMBContour::ParticleCore* core)
  {
    core->Close();
    Warn(filter, core->Warning);
  };
  Particles particles;
  this->Core.Open();
  const std::unique_ptr<vtkPMBContour::ParticleCore, decltype(close)> opened(&this->Core, close);
  if (!this->Prepare(filter, ranks, inputVector, particles))
  {
    return;
  }
  const double radius = this->ChooseRadius(filter, ranks, vtkPointSet::GetData(inputVector[0]), particles);
  const bool several = ranks.Count() > 1;
  const double spacing = radius > 0 ? filter->CellSize * radius : 1.0;
  std::string warning = several || radius == 0 ? particles.DescribeLeftOut(spacing) : "";
  if (radius == 0)
  {
    warning = !warning.empty() || particles.Count() == 0
      ? warning
      : "No radius can be found from the points, because all of them are at the same place: set Radius.";
    return Warn(filter, warning);
  }
  pmb_particle_request request = this->MakeRequest(filter, particles, radius);
  Steps steps(filter, filter->ComputeMeasures ? Steps::MEASURE : Steps::EMIT);
  if (several || filter->ComputeImage)
  {
    this->FindWhole(filter, ranks, request);
  }
  if (filter->ComputeImage && this->Whole.low[0] <= this->Whole.high[0])
  {
    this->FillImage(filter, ranks, steps, particles.WithoutPassed(), request, image);
  }
  if (several)
  {
    request.whole = &this->Whole;
    vtkPMBContour::CutSlabs(ranks, particles, request);
    vtkPMBContour::Distribute(ranks, particles, request.spacing,
      static_cast<double>(request.z_begin) - this->Whole.halo, static_cast<double>(request.z_end) + this->Whole.halo);
    SetArrays(particles, request);
  }
  const int precision = filter->OutputPointsPrecision;
  const bool wide = precision == DOUBLE_PRECISION || (precision == DEFAULT_PRECISION && this->HasDoubles);
  vtkPMBContour::ParticleJob job = { steps, request, filter->ComputeNormals, filter->Use64BitIds, wide,
    filter->ComputeMeasures, particles, output, {} };
  ranks.Together([&] { this->Check(filter, this->Core.MakeSurface(job)); });
  filter->UsedDevice = job.Sizes.on_device ? vtkPMBContourFilter::GPU : vtkPMBContourFilter::CPU;
  Warn(filter, wide ? "" : DescribePrecision(output, spacing));
  Warn(filter, job.Sizes.left_out > 0 ? particles.DescribeLeftOut(spacing) : warning);
}

vtkPMBParticleSurface::vtkPMBParticleSurface()
  : Kept(new Internals)
{
  for (int i = 0; i < Particles::NUMBERS; ++i)
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
  Ranks ranks(this->FindRanks(outInfo));
  std::string error;
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
  }
  catch (const Failed& failed)
  {
    error = failed.Error;
  }
  catch (const vtkPMBContour::Aborted&)
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
  os << indent << "Kernel: " << this->Kernel << "\n";
  os << indent << "Radius: " << this->Radius << "\n";
  os << indent << "Keep Radius: " << (this->KeepRadius ? "On" : "Off") << "\n";
  os << indent << "Smoothing Length: " << this->SmoothingLength << "\n";
  os << indent << "Anisotropic: " << (this->Anisotropic ? "On" : "Off") << "\n";
  os << indent << "Cell Size: " << this->CellSize << "\n";
  os << indent << "Isovalue: " << this->Isovalue << "\n";
  os << indent << "Offset: " << this->Offset << "\n";
  os << indent << "Compute Normals: " << (this->ComputeNormals ? "On" : "Off") << "\n";
  os << indent << "Use 64 Bit Ids: " << (this->Use64BitIds ? "On" : "Off") << "\n";
  os << indent << "Output Points Precision: " << this->OutputPointsPrecision << "\n";
  os << indent << "Compute Measures: " << (this->ComputeMeasures ? "On" : "Off") << "\n";
  os << indent << "Normal Estimator: " << this->NormalEstimator << "\n";
  os << indent << "Pass Point Arrays: " << (this->PassPointArrays ? "On" : "Off") << "\n";
  os << indent << "Sample Limit: " << this->SampleLimit << "\n";
  os << indent << "Device: " << this->Device << "\n";
  os << indent << "Device Index: " << this->DeviceIndex << "\n";
  os << indent << "Device Memory Limit: " << this->DeviceMemoryLimit << "\n";
  os << indent << "Used Device: " << this->UsedDevice << "\n";
  os << indent << "Number Of Threads: " << this->NumberOfThreads << "\n";
  os << indent << "Compute Image: " << (this->ComputeImage ? "On" : "Off") << "\n";
  os << indent << "Image Dimensions: " << this->ImageDimensions[0] << ", " << this->ImageDimensions[1] << ", "
     << this->ImageDimensions[2] << "\n";
  os << indent << "Image Bounds: ";
  std::copy_n(this->ImageBounds, 6, std::ostream_iterator<double>(os, " "));
  os << "\n" << indent << "Used Radius: " << this->UsedRadius << "\n";
}
VTK_ABI_NAMESPACE_END
